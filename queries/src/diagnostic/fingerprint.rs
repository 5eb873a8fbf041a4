//! Fingerprints: the identity of a finding across edits that move it up and down in its file.
//!
//! A baseline and SARIF's `partialFingerprints` are keyed by them. A fingerprint is the first 32 hex
//! digits of SHA-256 over the code, the file and the finding's **context**, each with its length in
//! front so that no two lists of fields give the same bytes. The context is the first of these that
//! the diagnostic has:
//!
//! 1. the entries of its `data` that name what it is about, and not where that stands
//!    ([`IDENTIFYING_KEYS`]);
//! 2. the text under its span, with runs of white space made one space;
//! 3. its message, with runs of digits made one `0`.
//!
//! Lines, columns, offsets, list indexes, severities and wording in messages (in the first two cases)
//! do not count. A renamed file and an edited quote give another fingerprint: they are another finding.
//! Findings of one run that are alike get `-2`, `-3`, … in the order in which they are shown.

use std::collections::HashMap;
use std::fmt::Write as _;

use sha2::{Digest, Sha256};

use super::Diagnostic;

/// Keys of [`Diagnostic::data`] that say what a finding is about, whatever line it stands on.
pub const IDENTIFYING_KEYS: [&str; 12] = [
    "card",
    "chunk_id",
    "collection",
    "field",
    "id",
    "key",
    "path",
    "quote",
    "reading_id",
    "source_id",
    "tag",
    "target",
];

/// The fingerprint of one diagnostic; `marked` is the text under its span.
pub fn fingerprint(diagnostic: &Diagnostic, marked: Option<&str>) -> String {
    let mut hash = Sha256::new();
    let mut field = |kind: u8, bytes: &[u8]| {
        hash.update([kind]);
        hash.update(u64::try_from(bytes.len()).unwrap_or(u64::MAX).to_be_bytes());
        hash.update(bytes);
    };
    field(b'c', diagnostic.code.as_str().as_bytes());
    field(b'f', diagnostic.file.as_deref().unwrap_or("").as_bytes());
    let mut identified = false;
    for (key, value) in &diagnostic.data {
        if IDENTIFYING_KEYS.contains(&key.as_str()) {
            identified = true;
            field(b'k', key.as_bytes());
            field(b'v', value.to_string().as_bytes());
        }
    }
    if !identified {
        match marked {
            Some(text) if !text.trim().is_empty() => {
                field(b't', with_single_spaces(text).as_bytes())
            }
            _ => field(b'm', without_numbers(&diagnostic.message).as_bytes()),
        }
    }
    let mut hex = String::with_capacity(32);
    for byte in hash.finalize().iter().take(16) {
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}

/// The fingerprints of the diagnostics of one run, in their order, no two alike.
///
/// `marked` gives the text under a diagnostic's span, where that can be had.
pub fn fingerprints<'a>(
    diagnostics: impl IntoIterator<Item = &'a Diagnostic>,
    mut marked: impl FnMut(&'a Diagnostic) -> Option<String>,
) -> Vec<String> {
    let mut seen: HashMap<String, u64> = HashMap::new();
    diagnostics
        .into_iter()
        .map(|diagnostic| {
            let mut print = fingerprint(diagnostic, marked(diagnostic).as_deref());
            let count = seen.entry(print.clone()).or_insert(0);
            *count += 1;
            if *count > 1 {
                let _ = write!(print, "-{count}");
            }
            print
        })
        .collect()
}

/// The text with every run of white space made one space, and none at the ends.
fn with_single_spaces(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !result.is_empty() {
            result.push(' ');
        }
        result.push_str(word);
    }
    result
}

/// The text with every run of ASCII digits made one `0`.
fn without_numbers(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut in_number = false;
    for character in text.chars() {
        let digit = character.is_ascii_digit();
        if !digit {
            result.push(character);
        } else if !in_number {
            result.push('0');
        }
        in_number = digit;
    }
    result
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;
    use crate::diagnostic::registry::{CFG_007, HASH_001, VERIFY_001};
    use crate::diagnostic::{Severity, Span};
    use proptest::prelude::*;

    fn at_line(line: u32) -> Diagnostic {
        let start = line as usize * 10;
        Diagnostic::new(VERIFY_001, format!("quote of line {line} not found"))
            .in_file("cards/a.md")
            .at(Span {
                start,
                end: start + 5,
                line,
                column: 3,
                end_line: line,
                end_column: 8,
            })
    }

    #[test]
    fn what_a_fingerprint_depends_on() {
        let base = at_line(3);
        let print = fingerprint(&base, Some("the quote"));
        assert_eq!(print.len(), 32);
        assert!(print.bytes().all(|byte| byte.is_ascii_hexdigit()));
        // Position, wording and white space do not count …
        assert_eq!(fingerprint(&at_line(40), Some("the quote")), print);
        assert_eq!(fingerprint(&at_line(3), Some(" the\r\n  quote ")), print);
        let mut other = at_line(3);
        other.severity = Severity::Info;
        other.message = "in other words".into();
        assert_eq!(fingerprint(&other, Some("the quote")), print);
        // … code, file and text do.
        let mut other = at_line(3);
        other.code = HASH_001;
        assert_ne!(fingerprint(&other, Some("the quote")), print);
        assert_ne!(
            fingerprint(&at_line(3).in_file("cards/b.md"), Some("the quote")),
            print
        );
        assert_ne!(fingerprint(&at_line(3), Some("the Quote")), print);
    }

    #[test]
    fn data_that_identifies_wins_over_the_text() {
        let with = |key: &str, value: &str| at_line(3).data("citation", 4).data(key, value);
        let print = fingerprint(&with("quote", "abc"), Some("x"));
        assert_eq!(fingerprint(&with("quote", "abc"), Some("y")), print);
        assert_ne!(fingerprint(&with("quote", "abd"), Some("x")), print);
        assert_ne!(fingerprint(&with("chunk_id", "abc"), Some("x")), print);
        // The index of a citation is a position.
        assert_eq!(
            fingerprint(
                &at_line(3).data("citation", 5).data("quote", "abc"),
                Some("x")
            ),
            print
        );
    }

    #[test]
    fn without_file_and_text_the_message_counts_without_its_numbers() {
        let about = |message: &str| fingerprint(&Diagnostic::new(CFG_007, message), None);
        assert_eq!(
            about("collection a matches 0 of 12 files"),
            about("collection a matches 0 of 345 files")
        );
        assert_ne!(
            about("collection a matches nothing"),
            about("collection b matches nothing")
        );
    }

    #[test]
    fn a_field_cannot_spill_into_its_neighbour() {
        let one = Diagnostic::new(CFG_007, "m")
            .data("id", "a")
            .data("key", "b");
        let two = Diagnostic::new(CFG_007, "m").data("id", "a\"k\"b");
        assert_ne!(fingerprint(&one, None), fingerprint(&two, None));
    }

    #[test]
    fn the_algorithm_is_pinned() {
        // Baselines hold these: a change here orphans every baseline there is.
        assert_eq!(
            fingerprint(&at_line(3), Some("the quote")),
            "2d7a70ea59ba00423a740e9b53b7f78a"
        );
    }

    proptest! {
        #[test]
        fn no_two_of_a_run_are_alike(texts in prop::collection::vec("[ab]{0,2}", 0..20)) {
            let diagnostics: Vec<_> = texts.iter().map(|_| at_line(1)).collect();
            let mut next = texts.iter();
            let prints = fingerprints(&diagnostics, |_| next.next().cloned());
            let unique: std::collections::BTreeSet<_> = prints.iter().collect();
            prop_assert_eq!(unique.len(), prints.len());
        }
    }
}
