//! Tests of the matcher: tables per kind of fault, and properties.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![allow(clippy::single_range_in_vec_init)] // A match has one span more often than not.

mod field_reports;
mod foldings;
mod hostile;
mod pages;
mod pairs;
mod properties;
mod veiled;
mod verdicts;

use super::*;

fn strict(source: &str, quote: &str) -> Verdict {
    check_quote(
        &Passage::whole(source),
        &Quote::new(quote),
        Options::default(),
    )
}

fn lenient(source: &str, quote: &str) -> Verdict {
    let options = Options {
        profile: Profile::Cacg,
        fuzzy: false,
    };
    check_quote(&Passage::whole(source), &Quote::new(quote), options)
}
