//! Source text that an extractor damaged: letters lost or replaced where a font's map is broken.
//!
//! Recognised only to name the cause of a difference. What is damaged never verifies: which letters
//! stood there is a guess, and the guess would be the quote's.

use std::ops::Range;

/// A token of the source: its text and its elements, by which tokens that touch are told.
pub(super) struct Piece<'a> {
    pub text: &'a str,
    pub items: &'a Range<usize>,
}

/// Letters that ligatures hide, which are those that get lost.
const LIGATURE_LETTERS: &str = "fijlt";

/// Whether `pieces` of the source are what a broken font map leaves of `word`.
pub(super) fn is_damaged(word: &str, pieces: &[Piece<'_>]) -> bool {
    let letters = word.chars().all(char::is_alphabetic) && word.chars().count() >= 4;
    if !letters || pieces.is_empty() {
        return false;
    }
    let touching = pieces.windows(2).all(|pair| match pair {
        [left, right] => left.items.end == right.items.start,
        _ => true,
    });
    let whole: String = pieces.iter().map(|piece| piece.text).collect();
    if whole.chars().any(is_no_letter_of_any_text) {
        return fits(word, &whole, is_no_letter_of_any_text);
    }
    if touching && pieces.len() <= 3 {
        // A capital or a sign within a word, in the place of several letters.
        let stranger = |c: char| c.is_uppercase() || "\"!#$%&()*+<=>?@[]^_{|}~".contains(c);
        let inner = |c: char| stranger(c) && !word.contains(c);
        let lower = word.chars().skip(1).all(char::is_lowercase);
        if lower && whole.chars().filter(|c| inner(*c)).count() == 1 {
            let kept = whole.chars().filter(|c| !inner(*c)).count();
            return kept + 1 < word.chars().count() && fits(word, &whole, inner);
        }
        return false;
    }
    // Pieces of one word, apart; letters that are lost are those of ligatures.
    let words = pieces
        .iter()
        .all(|piece| piece.text.chars().all(char::is_alphabetic));
    let Some(lost) = lost_letters(word, &whole) else {
        return false;
    };
    let few = lost.chars().count() <= 3 && lost.chars().all(|c| LIGATURE_LETTERS.contains(c));
    words && few && (pieces.len() >= 3 || !lost.is_empty())
}

/// Replacement character, private use, control: what stands in for a glyph that has no character.
fn is_no_letter_of_any_text(c: char) -> bool {
    c == '\u{fffd}'
        || c.is_control()
        || matches!(c, '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..='\u{10ffff}')
}

/// Whether `word` begins and ends as `whole` does around its strangers, and has what is between them.
fn fits(word: &str, whole: &str, stranger: impl Fn(char) -> bool) -> bool {
    let parts: Vec<&str> = whole.split(stranger).collect();
    let (Some(first), Some(last)) = (parts.first(), parts.last()) else {
        return false;
    };
    if first.is_empty() && last.is_empty() {
        return false;
    }
    let mut rest = word;
    for (at, part) in parts.iter().enumerate() {
        let found = if at == 0 {
            rest.starts_with(part).then_some(0)
        } else {
            rest.find(part)
        };
        match found.and_then(|at| rest.get(at + part.len()..)) {
            Some(tail) => rest = tail,
            None => return false,
        }
    }
    word.ends_with(last)
}

/// What `word` has and `kept` has not, when the letters of `kept` stand in `word` in order.
fn lost_letters(word: &str, kept: &str) -> Option<String> {
    let mut lost = String::new();
    let mut kept = kept.chars().peekable();
    for c in word.chars() {
        if kept.next_if_eq(&c).is_none() {
            lost.push(c);
        }
    }
    kept.next().is_none().then_some(lost)
}
