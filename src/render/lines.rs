//! Lines of a text by byte offset, for edits, whose ends carry no line number of their own.

/// Where the lines of a text begin.
pub(super) struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    /// Looks at the text once.
    pub(super) fn new(text: &'a str) -> Self {
        let breaks = text
            .bytes()
            .enumerate()
            .filter(|(_, byte)| *byte == b'\n')
            .map(|(at, _)| at + 1);
        Lines {
            text,
            starts: std::iter::once(0).chain(breaks).collect(),
        }
    }

    /// Line and column of a byte, both from 1, the column in characters; `None` outside the text or
    /// inside a character.
    pub(super) fn position(&self, offset: usize) -> Option<(usize, usize)> {
        let line = self.starts.partition_point(|start| *start <= offset);
        let start = *self.starts.get(line.checked_sub(1)?)?;
        Some((line, self.text.get(start..offset)?.chars().count() + 1))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;

    #[test]
    fn positions() {
        let lines = Lines::new("aé\r\n日b\n");
        let table = [
            (0, Some((1, 1))),
            (1, Some((1, 2))),
            (2, None),
            (3, Some((1, 3))),
            (5, Some((2, 1))),
            (8, Some((2, 2))),
            (10, Some((3, 1))),
            (11, None),
        ];
        for (offset, position) in table {
            assert_eq!(lines.position(offset), position, "{offset}");
        }
        assert_eq!(Lines::new("").position(0), Some((1, 1)));
    }
}
