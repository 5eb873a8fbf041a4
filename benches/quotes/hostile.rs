//! Texts of 10 MB that come near the quote as often as they can, and the time one quote takes there,
//! with the search for the nearest passage.

use std::time::{Duration, Instant};

use kbc_queries::text::quote::{Options, Passage, Quote, check_quote};

use crate::target;

const BYTES: usize = 10_000_000;
/// For one quote against a text of that size.
const GOAL: Duration = Duration::from_millis(200);
/// For a fuzzy quote against a chunk of 2 KB.
const FUZZY_GOAL: Duration = Duration::from_millis(5);

const NEAR: &str = "the old mill stands beside the river and its wheel turned ";
const QUOTE: &str = "the old mill stands beside the river and its wheel turns";

fn repeated(unit: &str, bytes: usize) -> String {
    unit.repeat(bytes / unit.len() + 1)
}

/// The least of five runs, because what else runs on the machine only adds to it.
fn measure(text: &str, quote: &str, fuzzy: bool) -> (Duration, bool) {
    let options = Options {
        fuzzy,
        ..Options::default()
    };
    let mut times = [Duration::ZERO; 5];
    let mut verified = false;
    for time in &mut times {
        let start = Instant::now();
        let verdict = check_quote(&Passage::whole(text), &Quote::new(quote), options);
        *time = start.elapsed();
        verified = verdict.verified();
    }
    times.sort_unstable();
    (times[0], verified)
}

struct Row {
    name: &'static str,
    text: String,
    quote: String,
    fuzzy: bool,
    goal: Option<Duration>,
}

impl Row {
    fn new(name: &'static str, unit: &str, quote: &str) -> Self {
        Row {
            name,
            text: repeated(unit, BYTES),
            quote: quote.to_owned(),
            fuzzy: false,
            goal: Some(GOAL),
        }
    }

    /// A kind that is measured beside the goal, which is for a repeated near-match.
    fn beside(self) -> Self {
        Row { goal: None, ..self }
    }

    fn fuzzy(self) -> Self {
        Row {
            fuzzy: true,
            ..self
        }
    }
}

pub fn run() {
    let letters = format!("{}b", "a".repeat(1_000));
    let long = repeated(NEAR, 1_000_000) + "x";
    let marked = "the old mill stands beside[1] the river and its wheel turned ";
    let mixed = "the old “mill” stands be-\nside the *river*, é and its wheel[1] turned\n\n";
    let mut chunk = Row::new(
        "fuzzy, a chunk of 2 KB",
        NEAR,
        &QUOTE.replace("stands", "stads"),
    );
    chunk.text = format!("{}{QUOTE}.", repeated(NEAR, 2_000));
    chunk.goal = Some(FUZZY_GOAL);
    let rows = [
        Row::new("repeated near-match", NEAR, QUOTE),
        Row::new("repeated letter", "a", &letters),
        Row::new("a quote of 1 MB", NEAR, &long),
        Row::new("fuzzy, repeated near-match", NEAR, QUOTE).fuzzy(),
        Row::new("fuzzy, repeated letter", "a", &letters).fuzzy(),
        chunk.fuzzy(),
        Row::new("near-match with markers", marked, QUOTE).beside(),
        Row::new("near-match in every writing", mixed, QUOTE).beside(),
        Row::new(
            "near-match in Greek",
            "ο παλιός μύλος στέκει δίπλα στο ποτάμι και ο τροχός του ",
            "ο παλιός μύλος στέκει δίπλα στο ποτάμι και ο τροχός μου",
        )
        .beside(),
        Row::new(
            "words with numbers",
            "word12 ",
            "word12 word12 word12 word13",
        )
        .beside(),
        Row::new("page breaks", "Page 1\n\u{c}Title 2\nlower ", QUOTE).beside(),
        Row::new("open brackets", "[a](b ", QUOTE).beside(),
    ];
    println!(
        "| {:<28} | {:>9} | {:>9} | {:>8} |",
        "", "ms", "MB/s", "verified"
    );
    println!("|{:-<30}|{:->11}|{:->11}|{:->10}|", "", ":", ":", ":");
    let mut targets = Vec::new();
    for row in rows {
        let (time, verified) = measure(&row.text, &row.quote, row.fuzzy);
        let seconds = time.as_secs_f64();
        println!(
            "| {:<28} | {:>9.2} | {:>9.1} | {:>8} |",
            row.name,
            seconds * 1e3,
            row.text.len() as f64 / 1e6 / seconds,
            if verified { "yes" } else { "no" }
        );
        if let Some(goal) = row.goal {
            let text = format!(
                "{}: {:.2} ms, at most {} ms",
                row.name,
                seconds * 1e3,
                goal.as_millis()
            );
            targets.push((text, time <= goal));
        }
    }
    println!();
    for (text, met) in targets {
        target(&text, met);
    }
}
