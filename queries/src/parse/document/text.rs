//! Text without markup: paragraphs are what stands between blank lines.
//!
//! The committed text is the file; a form feed stays a character of it and makes no page.

use super::{Block, BlockKind, Document, DocumentError, ExtractOptions};

/// Reads a plain text file.
pub(super) fn read(bytes: &[u8], options: &ExtractOptions) -> Result<Document, DocumentError> {
    super::verbatim(bytes, options, paragraphs)
}

/// Maximal runs of lines that are not blank.
pub(super) fn paragraphs(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<usize> = None;
    let mut end = 0;
    let mut start = 0;
    while start < text.len() {
        let rest = text.get(start..).unwrap_or_default();
        let length = memchr::memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len());
        let line = rest.get(..length).unwrap_or_default();
        let kept = line.trim_end().len();
        if kept == 0 {
            if let Some(from) = open.take() {
                blocks.push(paragraph(from, end));
            }
        } else {
            open.get_or_insert(start);
            end = start + kept;
        }
        start += length + 1;
    }
    if let Some(from) = open {
        blocks.push(paragraph(from, end));
    }
    blocks
}

fn paragraph(start: usize, end: usize) -> Block {
    Block {
        range: start..end,
        kind: BlockKind::Paragraph,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;

    #[test]
    fn blank_lines_separate() {
        let table: &[(&str, &[&str])] = &[
            ("one", &["one"]),
            ("one\ntwo\n\nthree\n", &["one\ntwo", "three"]),
            ("\n\n  indented  \n \t \nnext", &["  indented", "next"]),
            ("a\u{c}\nb", &["a\u{c}\nb"]),
            ("\n \n", &[]),
        ];
        for (text, expected) in table {
            let found: Vec<&str> = paragraphs(text)
                .iter()
                .map(|block| &text[block.range.clone()])
                .collect();
            assert_eq!(&found, expected, "{text:?}");
        }
    }
}
