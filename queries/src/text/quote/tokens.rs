//! Folded texts as words, numbers and signs, for saying how two of them differ.

use std::ops::Range;

use super::chars;
use super::fold::Folded;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    /// Letters, perhaps with digits and apostrophes within.
    Word,
    /// A number with its sign, comparison, currency, separators and percent.
    Number,
    /// One other character.
    Sign,
}

/// A word, number or sign of a folded text.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub sort: Sort,
    /// Elements of the folded text.
    pub items: Range<usize>,
    /// Hash of the folded characters; equal tokens have equal hashes.
    pub hash: u64,
    /// The same without regard to case.
    pub loose: u64,
}

impl Token {
    /// The folded characters.
    pub fn text(&self, folded: &Folded<'_>) -> String {
        folded
            .items
            .get(self.items.clone())
            .unwrap_or(&[])
            .iter()
            .filter_map(|item| item.char())
            .collect()
    }

    /// The bytes of the text.
    pub fn span(&self, folded: &Folded<'_>) -> Range<usize> {
        let items = folded.items.get(self.items.clone()).unwrap_or(&[]);
        let start = items.first().map_or(0, |item| item.start as usize);
        start..items.last().map_or(start, |item| item.end as usize)
    }
}

/// The offset basis of FNV-1a with 64 bits.
const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;

/// One step of FNV-1a, over characters instead of bytes.
fn mix(hash: u64, c: char) -> u64 {
    (hash ^ u64::from(u32::from(c))).wrapping_mul(0x0000_0100_0000_01b3)
}

/// The tokens of a folded text from one of its elements on.
///
/// Where a token ends depends on what stands around it alone, so a text can be cut again from the
/// beginning of any of its tokens.
pub(super) struct Tokens<'a, 't> {
    folded: &'a Folded<'t>,
    /// The next element.
    pub at: usize,
}

/// Cuts a folded text into tokens, beginning with element `at`.
pub(super) fn tokens<'a, 't>(folded: &'a Folded<'t>, at: usize) -> Tokens<'a, 't> {
    Tokens { folded, at }
}

impl Iterator for Tokens<'_, '_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        let folded = self.folded;
        let first = loop {
            match folded.items.get(self.at)?.char() {
                Some(c) => break c,
                None => self.at += 1,
            }
        };
        let start = self.at;
        let (end, sort) = token_end(folded, start, first);
        self.at = end;
        let (mut exact, mut loose) = (FNV_OFFSET, FNV_OFFSET);
        for item in folded.items.get(start..end).unwrap_or(&[]) {
            if let Some(byte) = item.ascii() {
                exact = mix(exact, char::from(byte));
                loose = mix(loose, char::from(byte.to_ascii_lowercase()));
            } else if let Some(c) = item.char() {
                exact = mix(exact, c);
                loose = c.to_lowercase().fold(loose, mix);
            }
        }
        Some(Token {
            sort,
            items: start..end,
            hash: exact,
            loose,
        })
    }
}

fn token_end(folded: &Folded<'_>, start: usize, first: char) -> (usize, Sort) {
    let digit_at = |index: usize| folded.char(index).is_some_and(chars::is_digit);
    let leads =
        |c: char| chars::is_comparison(c) || chars::is_currency(c) || matches!(c, '+' | '-');
    let behind_word = start
        .checked_sub(1)
        .and_then(|index| folded.char(index))
        .is_some_and(chars::is_wordish);
    if leads(first) && digit_at(start + 1) && !behind_word {
        return (number_end(folded, start + 1), Sort::Number);
    }
    if chars::is_digit(first) {
        return (number_end(folded, start), Sort::Number);
    }
    if !chars::is_wordish(first) {
        return (start + 1, Sort::Sign);
    }
    if chars::is_spaceless(first) {
        return (start + 1, Sort::Word);
    }
    let mut end = start + 1;
    while let Some(item) = folded.items.get(end) {
        match item.ascii() {
            Some(byte) if byte.is_ascii_alphanumeric() || byte == b'_' => {
                end += 1;
                continue;
            }
            Some(b' '..=b'&' | b'('..=b'/') => break,
            _ => {}
        }
        let soft = item.may_vanish() && item.char().is_none();
        let apostrophe =
            item.char() == Some('\'') && folded.char(end + 1).is_some_and(char::is_alphabetic);
        let goes_on = item
            .char()
            .is_some_and(|c| chars::is_wordish(c) && !chars::is_spaceless(c));
        let inside = soft && folded.char(end + 1).is_some_and(chars::is_wordish);
        if !(goes_on || apostrophe || inside) {
            break;
        }
        end += 1;
    }
    (end, Sort::Word)
}

fn number_end(folded: &Folded<'_>, start: usize) -> usize {
    let digit_at = |index: usize| folded.char(index).is_some_and(chars::is_digit);
    let mut end = start;
    while let Some(item) = folded.items.get(end) {
        let Some(c) = item.char() else {
            // An exponent begins or ends.
            if item.kind() == super::fold::Kind::Space
                || item.kind() == super::fold::Kind::SoftSpace
            {
                break;
            }
            end += 1;
            continue;
        };
        let separator =
            matches!(c, '.' | ',' | ':' | '/' | '-' | '^' | '×' | '*') && digit_at(end + 1);
        let goes_on = chars::is_wordish(c) && !chars::is_spaceless(c)
            || chars::follows_number(c)
            || chars::is_currency(c);
        if !separator && !goes_on {
            break;
        }
        end += 1;
    }
    end.max(start + 1)
}
