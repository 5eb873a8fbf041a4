//! The normal form that the card-graph contract defines for chunk texts, quotes and card bodies.
//!
//! In this order: NFC; the ligatures U+FB00 to U+FB06 spelled out (U+FB05 as `ft`, as the contract
//! has it); every ASCII hyphen followed by white space that holds a line feed is deleted together
//! with that white space; each run of white space becomes one space; both ends are trimmed. White
//! space is that of Python's `re`: Unicode `White_Space` and U+001C to U+001F.
//!
//! Hashes depend on it byte for byte, so its oddities stay (it is not idempotent: a hyphen removed
//! between a letter and a combining mark leaves them uncomposed). It is not the matcher's folding,
//! which lives in [`crate::text::quote`] and never joins two numbers.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;

use super::OffsetMap;
use super::canonical;

/// White space as Python's `re` module sees it in a `str`.
pub fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

/// The contract's normal form. Borrows when `text` already is in it.
pub fn normalize(text: &str) -> Cow<'_, str> {
    if is_settled(text) {
        return Cow::Borrowed(text);
    }
    let mut result = String::with_capacity(text.len());
    normalize_into(text, &mut result);
    Cow::Owned(result)
}

/// Appends the contract's normal form of `text` to `result`.
pub fn normalize_into(text: &str, result: &mut String) {
    run(text, result, &mut ());
}

/// The contract's normal form, with a map from its bytes back to those of `text`.
pub fn normalize_mapped(text: &str) -> (String, OffsetMap) {
    let mut result = String::with_capacity(text.len());
    let mut map = OffsetMap::default();
    run(text, &mut result, &mut map);
    (result, map)
}

/// A cheap sufficient condition for `text` being its own normal form.
fn is_settled(text: &str) -> bool {
    let mut previous = ' ';
    for c in text.chars() {
        // A hyphen is only deleted before white space with a line feed, which is unsettled anyway.
        let settled = if c == ' ' {
            previous != ' '
        } else {
            !is_space(c) && !is_ligature(c) && canonical::starts_piece(c)
        };
        if !settled {
            return false;
        }
        previous = c;
    }
    text.is_empty() || previous != ' '
}

fn is_ligature(c: char) -> bool {
    ('\u{fb00}'..='\u{fb06}').contains(&c)
}

fn spelled(c: char) -> Option<&'static str> {
    Some(match c {
        '\u{fb00}' => "ff",
        '\u{fb01}' => "fi",
        '\u{fb02}' => "fl",
        '\u{fb03}' => "ffi",
        '\u{fb04}' => "ffl",
        '\u{fb05}' => "ft",
        '\u{fb06}' => "st",
        _ => return None,
    })
}

/// What [`run`] tells about where its output came from.
trait Origin {
    fn copied(&mut self, source: usize, len: usize);
    fn replaced(&mut self, source: std::ops::Range<usize>, derived_len: usize);
}

impl Origin for () {
    fn copied(&mut self, _: usize, _: usize) {}
    fn replaced(&mut self, _: std::ops::Range<usize>, _: usize) {}
}

impl Origin for OffsetMap {
    fn copied(&mut self, source: usize, len: usize) {
        self.push_copied(source, len);
    }
    fn replaced(&mut self, source: std::ops::Range<usize>, derived_len: usize) {
        self.push_replaced(source, derived_len);
    }
}

/// The one pass behind all three functions: NFC piece by piece, the rest character by character.
fn run(text: &str, result: &mut String, origin: &mut impl Origin) {
    let begin = result.len();
    // A run of white space is written when something follows it.
    let mut space: Option<std::ops::Range<usize>> = None;
    let mut at = 0;
    while let Some(rest) = text.get(at..)
        && let Some(first) = rest.chars().next()
    {
        if is_space(first) {
            let end = at + space_len(rest);
            space = Some(space.map_or(at, |run| run.start)..end);
            at = end;
            continue;
        }
        if first == '-' {
            let gap = rest.get(1..).map_or(0, space_len);
            if rest.get(1..1 + gap).is_some_and(|gap| gap.contains('\n')) {
                at += 1 + gap;
                continue;
            }
        }
        if let Some(run) = space.take()
            && result.len() > begin
        {
            result.push(' ');
            if text.get(run.clone()) == Some(" ") {
                origin.copied(run.start, 1);
            } else {
                origin.replaced(run, 1);
            }
        }
        let (len, unsettled) = canonical::piece(rest);
        let source = at..at + len;
        at = source.end;
        let piece = rest.get(..len).unwrap_or(rest);
        if !unsettled && !is_ligature(first) {
            result.push_str(piece);
            origin.copied(source.start, len);
            continue;
        }
        let before = result.len();
        for c in piece.nfc() {
            match spelled(c) {
                Some(letters) => result.push_str(letters),
                None => result.push(c),
            }
        }
        if result.get(before..) == Some(piece) {
            origin.copied(source.start, len);
        } else {
            origin.replaced(source, result.len() - before);
        }
    }
}

/// Length in bytes of the white space that begins `text`.
fn space_len(text: &str) -> usize {
    text.find(|c| !is_space(c)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;
    use proptest::prelude::*;

    /// The contract's steps one after the other, as it words them.
    fn reference(text: &str) -> String {
        let text: String = text.nfc().collect();
        let text = text
            .replace('\u{fb00}', "ff")
            .replace('\u{fb01}', "fi")
            .replace('\u{fb02}', "fl")
            .replace('\u{fb03}', "ffi")
            .replace('\u{fb04}', "ffl")
            .replace('\u{fb05}', "ft")
            .replace('\u{fb06}', "st");
        let hyphen = regex::Regex::new(r"-[\s\x1c-\x1f]*\n[\s\x1c-\x1f]*").unwrap();
        let text = hyphen.replace_all(&text, "");
        let space = regex::Regex::new(r"[\s\x1c-\x1f]+").unwrap();
        space.replace_all(&text, " ").trim_matches(' ').to_owned()
    }

    #[test]
    fn the_contracts_oddities_are_kept() {
        for (text, expected) in [
            ("", ""),
            ("  \n ", ""),
            ("a\u{a0}\u{1c}b", "a b"),
            ("well-\nknown", "wellknown"),
            ("a - \n\t b", "a b"),
            ("--\n-\nx", "-x"),
            ("e-\n\u{301}", "e\u{301}"),
            ("\u{fb05} \u{fb06} \u{fb03}", "ft st ffi"),
            ("e\u{301}", "é"),
            ("\u{ad}\u{200b}\u{feff}“x”–", "\u{ad}\u{200b}\u{feff}“x”–"),
            ("a\u{2010}\nb", "a\u{2010} b"),
            ("end-\n", "end"),
        ] {
            assert_eq!(normalize(text), expected, "{text:?}");
            assert_eq!(reference(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_text_in_normal_form_is_borrowed() {
        for text in ["", "plain words, one-two", "é – “quoted” 中文"] {
            assert!(matches!(normalize(text), Cow::Borrowed(_)), "{text:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn agrees_with_the_contract_step_by_step(
            text in "[ab\\-\n\r\t \u{a0}\u{1c}\u{85}\u{2000}\u{301}\u{323}\u{338}<e\u{e9}\u{fb00}\u{fb05}\u{1100}\u{1161}\u{11a8}\u{212b}\u{9c7}\u{9be}\u{340}\u{2028}]{0,24}"
        ) {
            prop_assert_eq!(normalize(&text).into_owned(), reference(&text));
        }

        #[test]
        fn the_map_leads_back_to_the_bytes_that_made_each_piece(
            text in "[ab\\-\n \u{301}e\u{e9}\u{fb01}\u{212b}x]{0,24}", from in 0usize..30, len in 1usize..10
        ) {
            let (normal, map) = normalize_mapped(&text);
            let plain = normalize(&text).into_owned();
            prop_assert_eq!(&normal, &plain);
            prop_assert_eq!(map.derived_len(), normal.len());
            let from = normal.floor_char_boundary(from.min(normal.len()));
            let to = normal.floor_char_boundary((from + len).min(normal.len()));
            let source = map.to_source(from..to);
            let found = text.get(source);
            prop_assert!(found.is_some(), "the source range falls between characters");
            let piece = &normal[from..to];
            let again = normalize(found.unwrap());
            // A cut through composed marks may be composed differently alone.
            let holds = again.contains(piece.trim()) || piece.contains('\u{301}');
            prop_assert!(holds, "the source of a piece holds that piece");
        }
    }
}
