//! Lines by every line end that Unicode knows.

use std::ops::Range;

/// A line without its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line<'a> {
    /// Its text.
    pub(super) text: &'a str,
    /// Its place in the whole text (bytes).
    pub(super) range: Range<usize>,
}

/// The lines from `start` on. Line ends are those of Unicode (UAX #14: LF, VT, FF, CR, CR LF, NEL,
/// LS, PS) and the three information separators that Python's `splitlines` adds.
pub(super) fn lines(text: &str, start: usize) -> impl Iterator<Item = Line<'_>> {
    let mut rest = start;
    std::iter::from_fn(move || {
        let remaining = text.get(rest..).filter(|text| !text.is_empty())?;
        let begin = rest;
        let end = remaining.find(is_line_end).unwrap_or(remaining.len());
        let after = &remaining[end..];
        let width = match after.strip_prefix("\r\n") {
            Some(_) => 2,
            None => after.chars().next().map_or(0, char::len_utf8),
        };
        rest = begin + end + width;
        Some(Line {
            text: &remaining[..end],
            range: begin..begin + end,
        })
    })
}

fn is_line_end(letter: char) -> bool {
    matches!(
        letter,
        '\n' | '\u{B}' | '\u{C}' | '\r' | '\u{1C}'..='\u{1E}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}
