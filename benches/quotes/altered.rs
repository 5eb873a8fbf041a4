//! Honest and altered quotes of chunks of the usual size, by kind: quotes a second, and wrong verdicts.

use std::time::{Duration, Instant};

use kbc_queries::text::quote::{Options, Passage, Quote, check_quote};

use crate::target;
use crate::vocabulary::{Random, Vocabulary};

/// Quotes of each kind.
const QUOTES: u64 = 2_000;
/// Bytes of a chunk.
const CHUNK: usize = 3_000;

/// The words of the quoted sentence, as the source and the quote have them.
struct Case {
    source: Vec<String>,
    quote: Vec<String>,
    random: Random,
}

impl Case {
    /// A long word of small letters, not at an end.
    fn word(&mut self) -> Option<usize> {
        let fit =
            |word: &String| word.len() > 6 && word.bytes().all(|byte| byte.is_ascii_lowercase());
        let inner = 1..self.quote.len().saturating_sub(1);
        let places: Vec<usize> = inner.filter(|&at| fit(&self.quote[at])).collect();
        let drawn = self.random.below(places.len());
        places.get(drawn).copied()
    }

    /// The word at `from` in `list` rewritten.
    fn rewrite(list: &mut [String], from: &str, to: &str) -> Option<()> {
        let word = list.iter_mut().find(|word| word.contains(from))?;
        *word = word.replace(from, to);
        Some(())
    }
}

/// A way to write or to alter; `None` where the sentence does not allow for it.
type Alter = fn(&mut Case) -> Option<()>;

const HONEST: &[(&str, Alter)] = &[
    ("verbatim", |_| Some(())),
    ("line breaks", |case| {
        let at = case.word()?;
        case.source[at].insert(0, '\n');
        Some(())
    }),
    ("hyphenated", |case| {
        let at = case.word()?;
        case.source[at].insert_str(3, "-\n");
        Some(())
    }),
    ("soft hyphen", |case| {
        let at = case.word()?;
        case.source[at].insert(3, '\u{ad}');
        Some(())
    }),
    ("emphasis", |case| {
        let at = case.word()?;
        case.source[at] = format!("**{}**", case.source[at]);
        Some(())
    }),
    ("link", |case| {
        let at = case.word()?;
        case.source[at] = format!("[{}](https://example.org/a)", case.source[at]);
        Some(())
    }),
    ("entity", |case| {
        Case::rewrite(&mut case.source, "≥", "&ge;")
    }),
    ("ligature", |case| {
        Case::rewrite(&mut case.source, "fi", "\u{fb01}")
    }),
    ("typographic quotes", |case| {
        Case::rewrite(&mut case.source, "\"so\"", "“so”")
    }),
    ("decomposed", |case| {
        Case::rewrite(&mut case.source, "é", "e\u{301}")
    }),
    ("citation marker", |case| {
        let at = case.word()?;
        // What stands in brackets after this word is a value.
        if case.source[at] == "between" {
            return None;
        }
        case.source[at].push_str(" [13]");
        Some(())
    }),
    ("running header", |case| {
        let at = case.source.len() / 2;
        let plain = |word: &String| word.bytes().all(|byte| byte.is_ascii_lowercase());
        if !plain(&case.source[at]) || !plain(&case.source[at - 1]) {
            return None;
        }
        case.source[at].insert_str(0, "\n\nJournal of Things 117\n\n");
        Some(())
    }),
    ("elision", |case| {
        let from = case.quote.len() / 2;
        if case.quote.len() < 14 || case.quote[from..from + 3].iter().any(|word| word == "not") {
            return None;
        }
        case.quote.splice(from..from + 3, ["[...]".to_owned()]);
        Some(())
    }),
];

const ALTERED: &[(&str, Alter)] = &[
    ("digit changed", |case| {
        Case::rewrite(&mut case.quote, "1,247", "1,248")
    }),
    ("separator changed", |case| {
        Case::rewrite(&mut case.quote, "1,247", "1.247")
    }),
    ("comparison lost", |case| {
        Case::rewrite(&mut case.quote, "≥", "")
    }),
    ("unit changed", |case| {
        Case::rewrite(&mut case.quote, "mg", "kg")
    }),
    ("diacritic lost", |case| {
        Case::rewrite(&mut case.quote, "é", "e")
    }),
    ("\"not\" brought in", |case| {
        let at = case.word()?;
        case.quote.insert(at, "not".to_owned());
        Some(())
    }),
    ("word left out", |case| {
        let at = case.word()?;
        case.quote.remove(at);
        Some(())
    }),
    ("word brought in", |case| {
        let at = case.word()?;
        case.quote.insert(at, "rather".to_owned());
        Some(())
    }),
    ("words swapped", |case| {
        let at = case.word()?;
        case.quote.swap(at, at + 1);
        (case.quote != case.source).then_some(())
    }),
    ("letter changed", |case| {
        let at = case.word()?;
        let other = if case.quote[at].as_bytes()[2] == b'z' {
            "y"
        } else {
            "z"
        };
        case.quote[at].replace_range(2..3, other);
        Some(())
    }),
    ("letter lost", |case| {
        let at = case.word()?;
        case.quote[at].pop();
        Some(())
    }),
    ("case changed", |case| {
        let at = case.word()?;
        case.quote[at] = case.quote[at].to_uppercase();
        Some(())
    }),
];

/// What one kind came to.
#[derive(Default)]
struct Count {
    quotes: usize,
    wrong: usize,
    time: Duration,
}

fn measure(number: u64, alter: Alter, honest: bool, fuzzy: bool) -> Count {
    let vocabulary = Vocabulary::new();
    let options = Options {
        fuzzy,
        ..Options::default()
    };
    let mut count = Count::default();
    for index in 0..QUOTES {
        let mut random = Random::new(number, index);
        let mut text = String::new();
        let around = |random: &mut Random, text: &mut String, until: usize| {
            while text.len() < until {
                vocabulary.sentence(random, false, text);
                text.push(' ');
            }
        };
        let mut sentence = String::new();
        vocabulary.sentence(&mut random, false, &mut sentence);
        let mut words: Vec<String> = sentence.split(' ').map(str::to_owned).collect();
        let extra = ["≥4.2", "1,247", "mg", "\"so\"", "café", "fifth"];
        let at = 2 + random.below(words.len() - 3);
        words.splice(at..at, extra.map(str::to_owned));
        let mut case = Case {
            source: words.clone(),
            quote: words,
            random,
        };
        if alter(&mut case).is_none() {
            continue;
        }
        let place = case.random.below(CHUNK);
        around(&mut case.random, &mut text, place);
        text.push_str(&case.source.join(" "));
        text.push(' ');
        around(&mut case.random, &mut text, CHUNK);
        let quote = case.quote.join(" ");
        let start = Instant::now();
        let verdict = check_quote(&Passage::whole(&text), &Quote::new(&quote), options);
        count.time += start.elapsed();
        count.quotes += 1;
        count.wrong += usize::from(verdict.verified() != honest);
    }
    count
}

pub fn run() {
    println!(
        "| {:<26} | {:>7} | {:>6} | {:>9} |",
        "", "quotes", "wrong", "quotes/s"
    );
    println!("|{:-<28}|{:->9}|{:->8}|{:->11}|", "", ":", ":", ":");
    let (mut all, mut number) = (Count::default(), 0);
    let mut row = |name: &str, alter: Alter, honest: bool, fuzzy: bool| {
        number += 1;
        let count = measure(number, alter, honest, fuzzy);
        println!(
            "| {name:<26} | {:>7} | {:>6} | {:>9.0} |",
            count.quotes,
            count.wrong,
            count.quotes as f64 / count.time.as_secs_f64().max(1e-9)
        );
        all.quotes += count.quotes;
        all.wrong += count.wrong;
        all.time += count.time;
    };
    for (name, alter) in HONEST {
        row(&format!("honest: {name}"), *alter, true, false);
    }
    for (name, alter) in ALTERED {
        row(&format!("altered: {name}"), *alter, false, false);
    }
    // What is protected stays so when small edits are allowed.
    for (name, alter) in ALTERED
        .iter()
        .filter(|(name, _)| !name.starts_with("letter"))
    {
        row(&format!("fuzzy: {name}"), *alter, false, true);
    }
    println!();
    let text = format!(
        "{} wrong verdicts of {}, none allowed ({:.0} quotes a second)",
        all.wrong,
        all.quotes,
        all.quotes as f64 / all.time.as_secs_f64().max(1e-9)
    );
    target(&text, all.wrong == 0);
}
