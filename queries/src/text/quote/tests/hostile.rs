//! What is done to be quick decides nothing: large plain texts are judged as all others are, and hostile
//! ones cost little.

use proptest::prelude::*;

use super::super::*;

/// What a verdict decides. The passage that it shows as near may be another, or missing, where a large
/// text was cut within it: parts have a few words in tests, and the quotes are longer than a part.
type Decided = (
    (MatchClass, bool, Foldings),
    Vec<Range<usize>>,
    (bool, Vec<Flag>),
);

fn decided(verdict: &Verdict) -> Decided {
    (
        (verdict.class(), verdict.verified(), verdict.foldings()),
        verdict.spans().to_vec(),
        (verdict.crosses(), verdict.flags().to_vec()),
    )
}

/// The verdict with every short cut, and the one of a passage that was folded as a whole before.
fn both(passage: &Passage<'_>, quote: &Quote<'_>, options: Options) -> (Decided, Decided) {
    let quick = Matcher::new(passage.clone()).check(quote, options);
    let matcher = Matcher::new(passage.clone());
    matcher.source();
    (decided(&quick), decided(&matcher.check(quote, options)))
}

/// Pieces of plain texts, and now and then one that is not plain.
const PIECES: &[&str] = &[
    "the old mill stands ",
    "beside the river, and ",
    "its wheel turned ",
    "aaaaaaaa",
    "a a a ",
    "\n",
    "-- ",
    "well-",
    "known\n",
    "office staff ",
    "1,000 ",
    "-4.2% ",
    ">5 mg ",
    "word12 ",
    "not ",
    "(in 1984) ",
    "\"so\" ",
    "don't ",
    "U.S. ",
    "naïve ",
    "*new* ",
    "[1] ",
    "\n\n",
    "The End. ",
];

/// Mostly the plain ones, so that the short cuts are taken.
fn text(most: usize) -> impl Strategy<Value = String> {
    let piece = prop_oneof![60 => 0..19usize, 1 => 19..PIECES.len()];
    prop::collection::vec(piece, 1..most).prop_map(|pieces| {
        let pieces = pieces.iter().filter_map(|&piece| PIECES.get(piece));
        pieces.copied().collect()
    })
}

/// A quote of the text with perhaps another end, or another text.
fn quote(text: &str, from: usize, len: usize, edit: usize) -> String {
    let from = text.floor_char_boundary(from % text.len().max(1));
    let to = text.floor_char_boundary((from + len).min(text.len()));
    let mut quote = text.get(from..to).unwrap_or("").to_owned();
    match edit {
        1 => quote.push_str("turns"),
        2 => quote = quote.replace(' ', "\n"),
        3 => quote = quote.replacen("the", "a", 1),
        4 => quote = quote.replacen("stands", "stans", 1),
        5 => quote.push_str(" ... the old mill stands"),
        6 => quote = format!("[so] {quote} [and it] {quote}"),
        7 => quote = quote.to_uppercase(),
        _ => {}
    }
    quote
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn short_cuts_decide_nothing(
        text in text(60),
        from in 0..1000usize,
        len in 1..400usize,
        edit in 0..9usize,
        cited in (0..400usize, 0..400usize),
        fuzzy: bool,
        cacg: bool,
    ) {
        let quote = quote(&text, from, len, edit);
        let mut passage = Passage::whole(&text);
        if cited.1 % 3 == 0 {
            let start = text.floor_char_boundary(cited.0.min(text.len()));
            let end = text.floor_char_boundary((start + cited.1).min(text.len()));
            passage.cited = start..end;
        }
        let profile = if cacg { Profile::Cacg } else { Profile::Strict };
        let (quick, whole) = both(&passage, &Quote::new(&quote), Options { profile, fuzzy });
        prop_assert_eq!(quick, whole, "{:?} in {:?}", quote, text);
    }

    /// Repeated near-matches, repeated letters, and what lies at the end of them.
    #[test]
    fn hostile_repetition_decides_nothing(
        unit in text(4),
        times in 1..60usize,
        tail in text(3),
        from in 0..1000usize,
        len in 1..900usize,
        edit in 0..9usize,
    ) {
        let text = unit.repeat(times) + &tail;
        let quote = quote(&text, from, len, edit);
        let (quick, whole) =
            both(&Passage::whole(&text), &Quote::new(&quote), Options::default());
        prop_assert_eq!(quick, whole, "{:?} in {:?}", quote, text);
    }
}

#[test]
fn a_quote_behind_a_megabyte_of_near_matches_is_found() {
    let near = "the old mill stands beside the river and its wheel turned ".repeat(18_000);
    for (tail, quote) in [
        (
            "the old mill stands beside\nthe river and its wheel turns.",
            "beside the river and its wheel turns",
        ),
        (
            "the old mill[1] stands beside the river and its wheel turns.",
            "the old mill stands beside the river and its wheel turns",
        ),
    ] {
        let text = format!("{near}{tail}");
        let verdict = check_quote(
            &Passage::whole(&text),
            &Quote::new(quote),
            Options::default(),
        );
        assert!(verdict.verified(), "{quote}: {verdict:?}");
        assert!(verdict.spans()[0].start >= near.len());
    }
}

#[test]
fn the_nearest_passage_of_a_megabyte_is_found() {
    let filler = |from: usize| -> String {
        let words = [
            "stone", "garden", "winter", "letter", "engine", "coffee", "bridge",
        ];
        (from..from + 80_000)
            .map(|at| format!("{} ", words[at * at % 7]))
            .collect()
    };
    let sentence = "The committee approved a budget of 247 million for the northern harbour. ";
    let quote = "The committee approved a budget of 248 million for the northern harbour.";
    let (before, after) = (filler(0), filler(3));
    // A passage without markup and one that is folded as a whole.
    for mark in ["", "*so* "] {
        let text = format!("{before}{mark}{sentence}{after}");
        assert!(text.len() > 1_000_000);
        let verdict = check_quote(
            &Passage::whole(&text),
            &Quote::new(quote),
            Options::default(),
        );
        assert_eq!(verdict.class(), MatchClass::Absent);
        let nearest = verdict.nearest().unwrap();
        assert_eq!(&text[nearest.span.clone()], sentence.trim_end());
        assert!(nearest.decides.contains("247"), "{}", nearest.decides);
    }
}
