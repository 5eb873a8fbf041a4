//! Lines and columns.

use std::ops::Range;

use crate::diagnostic::Span;

/// Where the lines of a text begin. A line ends with `\n`; a `\r` before it belongs to the line end.
///
/// Looking up a position costs a binary search and a count over that one line.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LineIndex {
    /// Byte offset of the first byte of each line; the first is 0.
    starts: Box<[usize]>,
    /// Length of the text in bytes.
    len: usize,
}

impl LineIndex {
    /// Indexes `text`.
    pub fn new(text: &str) -> Self {
        let starts = std::iter::once(0)
            .chain(memchr::memchr_iter(b'\n', text.as_bytes()).map(|offset| offset + 1))
            .collect();
        LineIndex {
            starts,
            len: text.len(),
        }
    }

    /// How many lines there are; an empty text has one, and a final line break begins another.
    pub fn line_count(&self) -> u32 {
        u32::try_from(self.starts.len()).unwrap_or(u32::MAX)
    }

    /// The bytes of a line, 1-based, without its `\n`. A line that does not exist is empty, at the end.
    pub fn line_range(&self, line: u32) -> Range<usize> {
        let index = (line as usize).wrapping_sub(1);
        let Some(&start) = self.starts.get(index) else {
            return self.len..self.len;
        };
        let end = self.starts.get(index + 1).map_or(self.len, |next| next - 1);
        start..end
    }

    /// The 1-based line that holds byte `offset`. An offset beyond the end is in the last line.
    pub fn line_of(&self, offset: usize) -> u32 {
        let after = self.starts.partition_point(|&start| start <= offset);
        u32::try_from(after).unwrap_or(u32::MAX).max(1)
    }

    /// The 1-based line and column (in Unicode scalar values) of byte `offset` of `text`.
    ///
    /// `text` is the text that was indexed. An offset inside a character counts as its start.
    pub fn position(&self, text: &str, offset: usize) -> (u32, u32) {
        let offset = text.floor_char_boundary(offset.min(self.len));
        let line = self.line_of(offset);
        let start = self.line_range(line).start;
        let column = text
            .get(start..offset)
            .map_or(0, |before| before.chars().count());
        (
            line,
            u32::try_from(column).unwrap_or(u32::MAX).saturating_add(1),
        )
    }

    /// The span of the bytes `range` of `text`, which is the text that was indexed.
    pub fn span(&self, text: &str, range: Range<usize>) -> Span {
        let start = range.start.min(self.len);
        let end = range.end.clamp(start, self.len);
        let (line, column) = self.position(text, start);
        let (end_line, end_column) = self.position(text, end);
        Span {
            start,
            end,
            line,
            column,
            end_line,
            end_column,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lines_and_columns_count_from_one_and_in_characters() {
        let text = "één\ntwo\r\n\nfour";
        let index = LineIndex::new(text);
        assert_eq!(index.line_count(), 4);
        assert_eq!(index.line_range(1), 0..5);
        assert_eq!(&text[index.line_range(2)], "two\r");
        assert_eq!(&text[index.line_range(3)], "");
        assert_eq!(&text[index.line_range(4)], "four");
        assert_eq!(index.line_range(5), text.len()..text.len());
        assert_eq!(index.line_range(0), text.len()..text.len());
        let span = index.span(text, 2..7);
        assert_eq!(
            (span.line, span.column, span.end_line, span.end_column),
            (1, 2, 2, 2)
        );
        assert_eq!(index.position(text, 999), (4, 5));
        assert_eq!(LineIndex::new("").line_count(), 1);
        assert_eq!(LineIndex::new("a\n").line_count(), 2);
    }

    proptest! {
        #[test]
        fn positions_agree_with_counting(text in "(?s)[a\n\r é]{0,40}", at in 0usize..60) {
            let index = LineIndex::new(&text);
            let at = text.floor_char_boundary(at.min(text.len()));
            let before = &text[..at];
            let line = before.matches('\n').count() + 1;
            let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
            prop_assert_eq!(index.position(&text, at), (line as u32, column as u32));
        }
    }
}
