//! Words to write made-up documents with: about two thousand of them, drawn as often as words are
//! drawn in real text (the word of rank r about 1/r of the time). The generator is small and its
//! own, so that a seed gives the same corpus on every machine and with every version of every crate.
//!
//! No word here denies, excepts or attributes anything: a quote cut from these sentences has
//! nothing around it that a checker would have to warn about.

/// SplitMix64 (Steele, Lea, Flood 2014): one addition and three mixes a number.
pub struct Random(u64);

impl Random {
    /// The stream number `stream` of a seed. Streams do not depend on each other, so that files
    /// can be made in any order.
    pub fn new(seed: u64, stream: u64) -> Self {
        let mut random = Random(seed ^ stream.wrapping_mul(0xd134_2543_de82_ef95));
        random.next();
        random
    }

    /// The next 64 bits.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, or 0 when there is none. The bias of the remainder is far below
    /// what a corpus could show.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % (bound.max(1) as u64)) as usize
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high.saturating_sub(low) + 1)
    }

    /// True `percent` times of a hundred.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

const COMMON: &str = "the of and to in a is that for it was on are as with be at this from by have or an which \
    one had were all there been their has when more will if about out up so what some into them can other than then \
    now over such our most also after first any where much may these two before through must each made between \
    under both because while three every many those during again another against upon often around later since \
    until second several toward almost within always across early four half near above once still early large small \
    great high long new old own same whole common general local public certain clear given known open true full \
    better next late main usual plain level single simple special natural northern southern eastern western \
    here ever rather quite thus hence however therefore indeed perhaps together apart along below beside beyond \
    five six seven eight nine ten twelve twenty thirty hundred thousand";

const STEMS: &str = "accent account acid act adapt adjust align anchor annex arch arm assist attach audit back balance \
    band bank bark barn barter basin beam bear bend bill bind blend block board boat bolt bond book border bound bow \
    box branch brand breed brick bridge broad brush build bulk burn burrow button calm camp canal canvas card cargo \
    carpet cast chain chalk channel charm chart check chill claw clay clean cliff climb cloth cloud coast coat coin \
    collect color column comb comfort command compact concert conduct confirm connect consult contact content contour \
    contract convert cook corn corner cotton council counter court craft crest crop cross crown current curtain custom \
    damp dawn deck deliver depth design detail develop differ discover display dock draft drain drift drum dust earn \
    echo edit effect elect embark enter equip escort estimate exhibit expand export extend fabric factor farm fast fathom \
    field file filter find finish fish fit flag flank flash float flood floor flow fold follow ford forest form fort \
    forward foster fountain frame front fruit fuel furnish garden gather glow grain grant grass ground group grow guard \
    guest guild gulf habit hammer harbor harvest heat herd hill hold hollow hook host hunt import inhabit insist install \
    invent invest island join journey kernel lamp land lantern launch layer lead leaf learn lend light limit link list \
    load lock lumber mantle march margin mark market marsh mason master matter meadow measur melt mend merchant metal \
    mill miner mirror model monitor moor morning motor mount native navigat neighbor nest north notch number object \
    observ offer orbit order organ paint pack panel park part pass pattern pay perform perish pilot pitch plank plant \
    plow point port post pour powder present press print process produc profit project proof protect quarter quest rail \
    rain ramp ranch range reach record reef reform region remain render repair report resist rest return river road \
    rock roof root round row sail salt sand scout seal season seed select settl shadow sheet shelter shift ship shore \
    signal silver sketch slant slope smelt soil sort sound span spark spell spill spring stack staff stamp start station \
    steam stem stock storm strand stream stretch strip suggest supply support surround survey sustain system tail task \
    temper tend term test thread tide timber toll tower trace track trade trail transit travel treat trench trust tunnel \
    turn unit valley vault vent vessel village visit wagon walk wander warm watch water weather weav wheel wind winter \
    wonder work yard yield";

const ENDINGS: [&str; 5] = ["", "ed", "ing", "er", "ment"];

/// A stem with an ending; an e at the end of the stem gives way to a vowel.
fn joined(stem: &str, ending: &str) -> String {
    let stem = match stem.strip_suffix('e') {
        Some(shorter) if ending.starts_with(['e', 'i']) => shorter,
        _ => stem,
    };
    format!("{stem}{ending}")
}

/// The words and how often each is drawn.
pub struct Vocabulary {
    words: Vec<String>,
    /// Sums of the weights up to and with each word.
    sums: Vec<u64>,
}

impl Vocabulary {
    /// The built-in words.
    pub fn new() -> Self {
        let mut rare: Vec<String> = STEMS
            .split_whitespace()
            .flat_map(|stem| ENDINGS.iter().map(move |ending| joined(stem, ending)))
            .collect();
        // Forms of one word do not follow each other in rank.
        let mut random = Random::new(0x6b62, 0);
        for place in (1..rare.len()).rev() {
            rare.swap(place, random.below(place + 1));
        }
        let mut words: Vec<String> = COMMON.split_whitespace().map(str::to_owned).collect();
        words.extend(rare);
        let mut seen = std::collections::HashSet::new();
        words.retain(|word| seen.insert(word.clone()));
        words.truncate(2_000);
        let mut sum = 0;
        let sums = (0..words.len() as u64)
            .map(|rank| {
                // Zipf's law with Mandelbrot's shift, in whole numbers: the same on every machine.
                sum += 10_000_000_000 / (10 * rank + 27);
                sum
            })
            .collect();
        Vocabulary { words, sums }
    }

    /// One word.
    pub fn word(&self, random: &mut Random) -> &str {
        let total = self.sums.last().copied().unwrap_or(1);
        let drawn = random.next() % total;
        let place = self.sums.partition_point(|sum| *sum <= drawn);
        self.words.get(place).map_or("word", String::as_str)
    }

    /// Appends `count` words with commas now and then, the first one capitalised.
    pub fn phrase(&self, random: &mut Random, count: usize, text: &mut String) {
        for place in 0..count {
            let word = self.word(random);
            if place == 0 {
                let mut chars = word.chars();
                text.extend(chars.next().map(|first| first.to_ascii_uppercase()));
                text.push_str(chars.as_str());
                continue;
            }
            text.push_str(if place > 2 && place + 2 < count && random.chance(8) {
                ", "
            } else {
                " "
            });
            if random.chance(3) {
                text.push_str(&random.between(2, 1_999).to_string());
            } else {
                text.push_str(word);
            }
        }
    }

    /// Appends a sentence. `curly`: with quotation marks and dashes as typesetters set them.
    pub fn sentence(&self, random: &mut Random, curly: bool, text: &mut String) {
        let count = random.between(9, 28);
        let split = random.between(4, count - 4);
        self.phrase(random, split, text);
        if curly && random.chance(50) {
            text.push_str(" — ");
            text.push_str(self.word(random));
            text.push_str(" “");
            text.push_str(self.word(random));
            text.push(' ');
            text.push_str(self.word(random));
            text.push('”');
        }
        for _ in split..count {
            text.push(' ');
            text.push_str(self.word(random));
            if curly && random.chance(6) {
                text.push_str("’s");
            }
        }
        text.push('.');
    }
}
