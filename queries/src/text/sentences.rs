//! The sentences of a card's body, and whether a quote stands near one. For information only.
//!
//! **Near** means: the sentence and one of the quotes share a number, or a word of five letters or
//! more that is not one of the common ones. Case does not count, inflection does. The rule is made
//! to be foreseen, not to be clever: it says where a reader finds no source at a glance, not that a
//! sentence has none. Headings, code, quoted blocks' marks and lines without letters are no sentences.

use std::collections::BTreeSet;
use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

/// Letters that a word must have to tie a sentence to a quote.
const LETTERS: usize = 5;

/// Words of that length that tie nothing together.
const COMMON: &[&str] = &[
    "about",
    "above",
    "after",
    "again",
    "against",
    "almost",
    "along",
    "already",
    "although",
    "always",
    "among",
    "another",
    "because",
    "become",
    "before",
    "being",
    "below",
    "between",
    "cannot",
    "could",
    "during",
    "either",
    "every",
    "first",
    "found",
    "given",
    "however",
    "itself",
    "might",
    "never",
    "often",
    "other",
    "others",
    "rather",
    "several",
    "should",
    "since",
    "still",
    "their",
    "themselves",
    "there",
    "therefore",
    "these",
    "thing",
    "things",
    "those",
    "though",
    "through",
    "under",
    "until",
    "using",
    "where",
    "whether",
    "which",
    "while",
    "within",
    "without",
    "would",
];

/// The sentences of a Markdown body, as byte ranges in order.
pub fn sentences(body: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut paragraph: Option<Range<usize>> = None;
    let mut fenced = false;
    let mut at = 0;
    for line in body.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let text = line.trim();
        let fence = text.starts_with("```") || text.starts_with("~~~");
        let heading = text.starts_with('#') || text.starts_with("===") || text.starts_with("---");
        if fence || fenced || text.is_empty() || heading {
            fenced ^= fence;
            found.extend(paragraph.take().map(|range| split(body, range)));
            continue;
        }
        let marker = marker_len(line);
        match &mut paragraph {
            // An item of a list begins a paragraph.
            Some(range) if marker == 0 => range.end = at,
            _ => {
                found.extend(paragraph.take().map(|range| split(body, range)));
                paragraph = Some(start + marker..at);
            }
        }
    }
    found.extend(paragraph.map(|range| split(body, range)));
    found.into_iter().flatten().collect()
}

/// The length of what marks a list item at the start of a line, with the space before it.
fn marker_len(line: &str) -> usize {
    let indent = line.len() - line.trim_start().len();
    let rest = line.trim_start();
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let after = rest.get(digits..).unwrap_or_default();
    let marker = if digits > 0 && digits <= 9 {
        after.starts_with(". ") || after.starts_with(") ")
    } else {
        digits == 0 && (rest.starts_with("- ") || rest.starts_with("* ") || rest.starts_with("+ "))
    };
    if marker { indent + digits + 2 } else { 0 }
}

fn split(body: &str, range: Range<usize>) -> Vec<Range<usize>> {
    // Within a paragraph a line's end is a space; the rule of UAX #29 would end the sentence there.
    let text = body
        .get(range.clone())
        .unwrap_or_default()
        .replace(['\n', '\r'], " ");
    text.split_sentence_bound_indices()
        .filter(|(_, sentence)| sentence.chars().any(char::is_alphabetic))
        .map(|(at, sentence)| {
            let lead = sentence.len() - sentence.trim_start().len();
            let start = range.start + at + lead;
            start..start + sentence.trim().len()
        })
        .collect()
}

/// What the quotes of one card tie sentences to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ties(BTreeSet<String>);

impl Ties {
    /// The words and numbers of these quotes.
    pub fn of<'a>(quotes: impl IntoIterator<Item = &'a str>) -> Self {
        Ties(quotes.into_iter().flat_map(words).collect())
    }

    /// Whether one of the quotes stands near this sentence.
    pub fn reach(&self, sentence: &str) -> bool {
        words(sentence).any(|word| self.0.contains(&word))
    }
}

fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.unicode_words()
        .filter(|word| {
            word.chars().any(char::is_numeric) || word.chars().count() >= LETTERS
            // Scripts without spaces have no longer words.
            || word.chars().any(|c| c >= '\u{2e80}')
        })
        .map(str::to_lowercase)
        .filter(|word| COMMON.binary_search(&word.as_str()).is_err())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;
    use proptest::prelude::*;

    fn texts(body: &str) -> Vec<&str> {
        sentences(body)
            .into_iter()
            .map(|range| &body[range])
            .collect()
    }

    #[test]
    fn what_is_a_sentence() {
        let table: &[(&str, &[&str])] = &[
            ("", &[]),
            (
                "# Heading\n\nOne here. Two\nthere!\n",
                &["One here.", "Two\nthere!"],
            ),
            (
                "- first item\n- second item\n  goes on\n",
                &["first item", "second item\n  goes on"],
            ),
            ("1. one\n2) two\n", &["one", "two"]),
            ("```\nlet code = 1;\n```\nAfter it.\n", &["After it."]),
            ("Title\n=====\n\n---\n\n***\n", &["Title"]),
            (
                "It rose by 1.5 to 2.5. Then it fell.",
                &["It rose by 1.5 to 2.5.", "Then it fell."],
            ),
        ];
        for (body, expected) in table {
            assert_eq!(texts(body), *expected, "{body:?}");
        }
    }

    #[test]
    fn what_is_near() {
        let ties = Ties::of(["The river rose by 5% in the first week.", "水位上升"]);
        for near in ["A River is wide.", "It was 5 at most.", "上升"] {
            assert!(ties.reach(near), "{near}");
        }
        for far in [
            "It is wide.",
            "The first of these.",
            "Rivers flood.",
            "6 of them",
        ] {
            assert!(!ties.reach(far), "{far}");
        }
        assert!(!Ties::default().reach("Anything whatsoever 5"));
    }

    #[test]
    fn the_common_words_are_sorted() {
        assert!(COMMON.is_sorted());
        assert!(COMMON.iter().all(|word| word.len() >= LETTERS));
    }

    proptest! {
        #[test]
        fn sentences_are_apart_and_in_order(body in "[a-c1 .!?\n#`*\\-é中]{0,60}") {
            let mut end = 0;
            for range in sentences(&body) {
                prop_assert!(range.start >= end && range.start < range.end);
                prop_assert!(body.get(range.clone()).is_some());
                end = range.end;
            }
        }
    }
}
