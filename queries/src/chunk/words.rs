//! Words: the tokens of the `window` and `unit` chunkers, and where a text may be cut.
//!
//! A token is a word of Unicode Standard Annex #29 that holds a letter or digit; in scripts that
//! are written without spaces (Han, kana, Thai, Lao, Khmer, Myanmar) it is a word of ICU's
//! dictionary. Most text is counted without consulting either: a stretch between ASCII white space
//! that holds only ASCII, Latin, Greek or Cyrillic letters and the common marks is scanned by a
//! table with the rules of the annex, which property tests hold equal to a full implementation.
//!
//! ASCII white space always stands between two words, so each stretch is judged on its own.

use std::ops::Range;
use std::sync::LazyLock;

use icu_segmenter::options::WordBreakInvariantOptions;
use icu_segmenter::{WordSegmenter, WordSegmenterBorrowed};
use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation as _};

/// Number of tokens of a text.
pub(super) fn count(text: &str) -> u32 {
    let mut count = 0u32;
    for_each(text, |_| count = count.saturating_add(1));
    count
}

/// Word-break classes of the annex, as far as the table scan knows them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    /// ASCII white space.
    Space,
    /// `ALetter`.
    Letter,
    /// `Numeric`.
    Digit,
    /// `ExtendNumLet`: the low line.
    Joiner,
    /// `MidLetter`: the colon.
    MidLetter,
    /// `MidNumLet` and `Single_Quote`.
    MidBoth,
    /// `MidNum`.
    MidNumber,
    /// No part of any word and no influence on its neighbours.
    Other,
    /// Not known here: the stretch needs the full rules.
    Unknown,
}

const ASCII: [Class; 128] = ascii_classes();

const fn ascii_classes() -> [Class; 128] {
    let mut table = [Class::Other; 128];
    let mut byte = 0u8;
    while byte < 128 {
        table[byte as usize] = match byte {
            b'\t'..=b'\r' | b' ' => Class::Space,
            b'a'..=b'z' | b'A'..=b'Z' => Class::Letter,
            b'0'..=b'9' => Class::Digit,
            b'_' => Class::Joiner,
            b':' => Class::MidLetter,
            b'.' | b'\'' => Class::MidBoth,
            b',' | b';' => Class::MidNumber,
            _ => Class::Other,
        };
        byte += 1;
    }
    table
}

/// Class and length in bytes of the character at `at`.
#[inline]
fn class_at(bytes: &[u8], at: usize) -> (Class, usize) {
    let Some(&first) = bytes.get(at) else {
        return (Class::Space, 1);
    };
    if let Some(class) = ASCII.get(usize::from(first)) {
        return (*class, 1);
    }
    let continuation = |index: usize| {
        bytes
            .get(at + index)
            .map_or(0, |byte| u32::from(byte & 0x3f))
    };
    match first {
        0xc2..=0xdf => {
            let code = u32::from(first & 0x1f) << 6 | continuation(1);
            (class_of_two_bytes(code), 2)
        }
        0xe2 => {
            let code = 0x2000 | continuation(1) << 6 | continuation(2);
            let class = match code {
                0x2018 | 0x2019 => Class::MidBoth,
                0x2010..=0x2016 | 0x201a..=0x2023 | 0x2025 | 0x2026 | 0x2030..=0x203a => {
                    Class::Other
                }
                _ => Class::Unknown,
            };
            (class, 3)
        }
        _ => (Class::Unknown, 1),
    }
}

const fn class_of_two_bytes(code: u32) -> Class {
    match code {
        0xa0..=0xa8 | 0xab | 0xac | 0xbb | 0xbf | 0xd7 | 0xf7 => Class::Other,
        0xc0..=0x24f
        | 0x388..=0x38a
        | 0x38c
        | 0x38e..=0x3a1
        | 0x3a3..=0x3f5
        | 0x3f7..=0x481
        | 0x48a..=0x52f => Class::Letter,
        _ => Class::Unknown,
    }
}

/// Calls `found` with the byte range of every token, in order.
pub(super) fn for_each(text: &str, mut found: impl FnMut(Range<usize>)) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let (class, width) = class_at(bytes, at);
        if class == Class::Space {
            at += width;
            continue;
        }
        let start = at;
        let mut known = true;
        loop {
            let (class, width) = class_at(bytes, at);
            match class {
                Class::Space => break,
                Class::Unknown => {
                    known = false;
                    at = stretch_end(bytes, at);
                    break;
                }
                _ => at += width,
            }
        }
        if known {
            scan(bytes, start, at, &mut found);
        } else if let Some(stretch) = text.get(start..at) {
            segments(stretch, |range, is_word| {
                if is_word {
                    found(start + range.start..start + range.end);
                }
            });
        }
    }
}

/// Where the stretch without ASCII white space ends that holds `at`.
fn stretch_end(bytes: &[u8], at: usize) -> usize {
    bytes
        .get(at..)
        .and_then(|rest| {
            rest.iter()
                .position(|byte| matches!(byte, b'\t'..=b'\r' | b' '))
        })
        .map_or(bytes.len(), |length| at + length)
}

/// The words of a stretch whose classes are all known.
#[inline]
fn scan(bytes: &[u8], start: usize, end: usize, found: &mut impl FnMut(Range<usize>)) {
    let mut at = start;
    while at < end {
        let (class, width) = class_at(bytes, at);
        if !matches!(class, Class::Letter | Class::Digit | Class::Joiner) {
            at += width;
            continue;
        }
        let word = at;
        let mut counts = false;
        let mut last = class;
        while at < end {
            let (class, width) = class_at(bytes, at);
            match class {
                Class::Letter | Class::Digit => counts = true,
                Class::Joiner => {}
                Class::MidLetter | Class::MidBoth | Class::MidNumber => {
                    // A mark inside a word stands between two letters or between two digits.
                    let next = if at + width < end {
                        class_at(bytes, at + width).0
                    } else {
                        Class::Space
                    };
                    let joins = match last {
                        Class::Letter => class != Class::MidNumber && next == Class::Letter,
                        Class::Digit => class != Class::MidLetter && next == Class::Digit,
                        _ => false,
                    };
                    if !joins {
                        break;
                    }
                }
                _ => break,
            }
            last = class;
            at += width;
        }
        if counts {
            found(word..at);
        }
    }
}

static DICTIONARY: LazyLock<WordSegmenterBorrowed<'static>> =
    LazyLock::new(|| WordSegmenter::new_dictionary(WordBreakInvariantOptions::default()));

/// Whether a character belongs to a script that is written without spaces. Digits do not.
const fn is_unspaced(c: char) -> bool {
    matches!(c as u32,
        0x0e01..=0x0e4e | 0x0e81..=0x0ecf | 0x0edc..=0x0edf
        | 0x1000..=0x103f | 0x104a..=0x108f | 0x109a..=0x109f
        | 0x1780..=0x17d3 | 0x17d7 | 0x17dc..=0x17dd
        | 0x2e80..=0x2fdf | 0x3005 | 0x3007 | 0x3021..=0x3029 | 0x3038..=0x303b
        | 0x3041..=0x309f | 0x30a1..=0x30fa | 0x30fc..=0x30ff | 0x31f0..=0x31ff
        | 0x3400..=0x4dbf | 0x4e00..=0x9fff
        | 0xa9e0..=0xa9ef | 0xa9fa..=0xa9fe | 0xaa60..=0xaa7f
        | 0xf900..=0xfaff | 0xff66..=0xff9f
        | 0x1aff0..=0x1b16f | 0x20000..=0x3ffff)
}

fn holds_word(segment: &str) -> bool {
    segment.chars().any(char::is_alphanumeric)
}

/// Calls `found` with every segment of a text, words and what stands between them, by the full
/// rules.
fn segments(text: &str, mut found: impl FnMut(Range<usize>, bool)) {
    let mut unspaced: Option<Range<usize>> = None;
    for (start, segment) in text.split_word_bound_indices() {
        let end = start + segment.len();
        if segment.starts_with(is_unspaced) {
            // Neighbours are joined, because a dictionary needs the run to find its words.
            unspaced = Some(unspaced.map_or(start, |run| run.start)..end);
            continue;
        }
        if let Some(run) = unspaced.take() {
            dictionary_segments(text, run, &mut found);
        }
        found(start..end, holds_word(segment));
    }
    if let Some(run) = unspaced {
        dictionary_segments(text, run, &mut found);
    }
}

fn dictionary_segments(text: &str, run: Range<usize>, found: &mut impl FnMut(Range<usize>, bool)) {
    let Some(part) = text.get(run.clone()) else {
        return;
    };
    let mut last = 0;
    for at in DICTIONARY.segment_str(part) {
        if at > last {
            let is_word = part.get(last..at).is_some_and(holds_word);
            found(run.start + last..run.start + at, is_word);
            last = at;
        }
    }
}

/// Where a text without white space may be cut: at starts of segments that are starts of graphemes
/// too, not beside a number's sign or unit mark, not before closing and after opening punctuation.
pub(super) fn cuts(text: &str) -> Vec<usize> {
    let mut result = Vec::new();
    let mut graphemes = text.grapheme_indices(true).map(|(at, _)| at).peekable();
    let mut left: Option<char> = None;
    segments(text, |range, _| {
        while graphemes.next_if(|&at| at < range.start).is_some() {}
        let segment = text.get(range.clone()).unwrap_or("");
        if let (Some(left), Some(right)) = (left, segment.chars().next())
            && graphemes.peek() == Some(&range.start)
            && may_part(left, right)
        {
            result.push(range.start);
        }
        left = segment.chars().next_back().or(left);
    });
    result
}

fn may_part(left: char, right: char) -> bool {
    let opens = |c| "([{<«‹“‘「『（【《〈〔［｛¿¡".contains(c);
    if opens(left) {
        return opens(right);
    }
    match (left.is_alphanumeric(), right.is_alphanumeric()) {
        (true, true) => true,
        (false, true) => !right.is_numeric(),
        (true, false) => opens(right) && !left.is_numeric(),
        (false, false) => true,
    }
}

/// Whether a byte offset stands between two graphemes of the text.
pub(super) fn is_grapheme_boundary(text: &str, at: usize) -> bool {
    let bytes = text.as_bytes();
    if let (Some(before), Some(after)) =
        (at.checked_sub(1).and_then(|i| bytes.get(i)), bytes.get(at))
        && before.is_ascii()
        && after.is_ascii()
    {
        return !(*before == b'\r' && *after == b'\n');
    }
    GraphemeCursor::new(at, text.len(), true)
        .is_boundary(text, 0)
        .unwrap_or(false)
}

/// A range without the white space at its ends, as far as that cuts no grapheme: a mark may stand
/// on a space.
pub(super) fn trim(text: &str, range: Range<usize>) -> Range<usize> {
    let Some(part) = text.get(range.clone()) else {
        return range.start..range.start;
    };
    let lead = part.len() - part.trim_start().len();
    let tail = part.len() - part.trim_end().len();
    if lead == part.len() {
        return range.start..range.start;
    }
    let mut start = range.start + lead;
    let mut end = range.end - tail;
    if lead > 0 && !is_grapheme_boundary(text, start) {
        let before = text
            .get(..start)
            .and_then(|before| before.chars().next_back());
        start -= before.map_or(0, char::len_utf8);
    }
    if tail > 0 && !is_grapheme_boundary(text, end) {
        let after = text.get(end..).and_then(|after| after.chars().next());
        end += after.map_or(0, char::len_utf8);
    }
    start..end
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use proptest::prelude::*;

    use super::*;

    fn ours(text: &str) -> Vec<&str> {
        let mut words = Vec::new();
        for_each(text, |range| words.push(&text[range]));
        words
    }

    #[test]
    fn kinds_of_tokens() {
        let cases: &[(&str, &[&str])] = &[
            ("", &[]),
            (" \n\t", &[]),
            ("can't stop.", &["can't", "stop"]),
            ("3.14 1,000;2 e.g. a:b", &["3.14", "1,000;2", "e.g", "a:b"]),
            ("_ __ _a a_1", &["_a", "a_1"]),
            ("a,b 1:2 x.1 1.x", &["a", "b", "1", "2", "x", "1", "1", "x"]),
            ("-5 $7 50% #9", &["5", "7", "50", "9"]),
            ("naïve l’été — “quoted”…", &["naïve", "l’été", "quoted"]),
            ("κόσμος Жизнь", &["κόσμος", "Жизнь"]),
            ("हिन्दी भाषा", &["हिन्दी", "भाषा"]),
            ("שָׁלוֹם עולם", &["שָׁלוֹם", "עולם"]),
            ("こんにちは世界", &["こんにちは", "世界"]),
            ("ทุกสองสัปดาห์", &["ทุก", "สอง", "สัปดาห์"]),
            ("東京は3.5km離れた", &["東京", "は", "3.5km", "離れ", "た"]),
            ("👩‍👩‍👧‍👦 🇨🇭🇩🇪", &[]),
        ];
        for (text, expected) in cases {
            assert_eq!(ours(text), *expected, "{text:?}");
        }
    }

    #[test]
    fn every_known_character_is_classed_as_the_annex_classes_it() {
        for c in (0..0x3000).filter_map(char::from_u32) {
            for text in [
                format!("a{c}a"),
                format!("1{c}1"),
                format!("a{c}1"),
                format!("_{c}_"),
                format!("a{c}{c}a"),
                format!("{c}"),
                format!("a {c}b"),
                format!("א{c}א"),
            ] {
                if text.chars().any(is_unspaced) {
                    continue;
                }
                let full: Vec<&str> = text.unicode_words().collect();
                let trimmed: Vec<&str> = full
                    .iter()
                    .map(|word| word.trim_start_matches(' '))
                    .collect();
                assert_eq!(ours(&text), trimmed, "{c:?} in {text:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn ascii_agrees_with_the_full_rules(text in "[a-c0-2_.,:;' \"\\-\n\t(/$]{0,60}") {
            prop_assert_eq!(ours(&text), text.unicode_words().collect::<Vec<_>>());
        }

        #[test]
        fn all_ascii_agrees(text in "[\\x00-\\x7f]{0,80}") {
            prop_assert_eq!(ours(&text), text.unicode_words().collect::<Vec<_>>());
        }

        #[test]
        fn mixed_text_agrees(text in "[a1_.:'’é×Ωж\u{301}\u{200d}“—א \n\u{a0}\u{ad}😀🇨]{0,40}") {
            prop_assert_eq!(ours(&text).len(), text.unicode_words().count());
        }

        #[test]
        fn cuts_are_boundaries_of_graphemes(text in "[a1-中文はไทย\u{e33}\u{301}\u{200d}😀🇨。「」é]{0,40}") {
            let boundaries: Vec<usize> = text.grapheme_indices(true).map(|(at, _)| at).collect();
            for cut in cuts(&text) {
                prop_assert!(boundaries.contains(&cut));
            }
        }

        #[test]
        fn trimming_cuts_no_grapheme(text in "[ \na\u{301}\u{600}\u{200d}😀\r]{0,12}") {
            let range = trim(&text, 0..text.len());
            prop_assert!(is_grapheme_boundary(&text, range.start));
            prop_assert!(is_grapheme_boundary(&text, range.end));
            prop_assert_eq!(text[range].trim(), text.trim());
        }
    }
}
