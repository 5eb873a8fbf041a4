//! A quote and the passage nearest to it, word by word.

use serde::Serialize;
use similar::{Algorithm, ChangeTag, capture_diff_slices};

/// Most words of either side that are compared; what is longer is no near miss.
const MOST_WORDS: usize = 600;

/// A run of words that stand on both sides or on one.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Run {
    /// On both sides.
    Same(String),
    /// In the quote only.
    Quote(String),
    /// In the source only.
    Source(String),
}

/// The runs of words of a quote and of a passage, in order.
pub(super) fn of(quote: &str, source: &str) -> Vec<Run> {
    let words = |text: &str| -> Vec<String> {
        let mut words: Vec<String> = text
            .split_whitespace()
            .take(MOST_WORDS)
            .map(str::to_owned)
            .collect();
        if text.split_whitespace().nth(MOST_WORDS).is_some() {
            words.push("…".to_owned());
        }
        words
    };
    let (quote, source) = (words(quote), words(source));
    let mut runs: Vec<Run> = Vec::new();
    for operation in capture_diff_slices(Algorithm::Myers, &quote, &source) {
        for (tag, slice) in operation.iter_slices(&quote, &source) {
            let text = slice.join(" ");
            runs.push(match tag {
                ChangeTag::Equal => Run::Same(text),
                ChangeTag::Delete => Run::Quote(text),
                ChangeTag::Insert => Run::Source(text),
            });
        }
    }
    runs
}

/// The runs on one line: `[-quote-]`, `{+source+}`.
pub(super) fn marked(runs: &[Run]) -> String {
    let parts: Vec<String> = runs
        .iter()
        .map(|run| match run {
            Run::Same(text) => text.clone(),
            Run::Quote(text) => format!("[-{text}-]"),
            Run::Source(text) => format!("{{+{text}+}}"),
        })
        .collect();
    parts.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_marked_by_side() {
        let table = [
            (
                "the river rose by 6%",
                "the river rose\nby 5%",
                "the river rose by [-6%-] {+5%+}",
            ),
            (
                "it is permitted",
                "it is not permitted",
                "it is {+not+} permitted",
            ),
            ("a very wet day", "a wet day", "a [-very-] wet day"),
            ("same", "same", "same"),
            ("", "alone", "{+alone+}"),
        ];
        for (quote, source, line) in table {
            assert_eq!(marked(&of(quote, source)), line);
        }
    }

    #[test]
    fn a_huge_quote_costs_little() {
        let quote = "no such words ".repeat(200_000);
        let runs = of(&quote, "a short passage");
        assert!(marked(&runs).len() < 10_000);
    }
}
