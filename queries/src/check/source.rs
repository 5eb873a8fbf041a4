//! What is said about a source itself: it cannot be used, or its reader should know something.

use std::ops::Range;
use std::sync::Arc;

use crate::Db;
use crate::check::citation::failure_reason;
use crate::derive::{SourceDerivation, SourceFailure};
use crate::diagnostic::{Code, Diagnostic, Span, registry};
use crate::documents::LoadError;
use crate::input::{FileStatus, SourceFile};
use crate::parse::document::{DocumentError, Format, Notice, bidi_controls};
use crate::system::{Fingerprint, ReadFailure};

/// The diagnostics of one source, in the database's state of it.
pub fn source_diagnostics(
    db: &dyn Db,
    file: SourceFile,
    derivation: &Result<Arc<SourceDerivation>, SourceFailure>,
) -> Vec<Diagnostic> {
    let path = file.path(db);
    let derivation = match derivation {
        Err(failure) => return vec![failed(path, failure)],
        Ok(derivation) => derivation,
    };
    if derivation.notices.is_empty() {
        return Vec::new();
    }
    let bytes = match file.status(db) {
        // Lines of what was derived, or none.
        FileStatus::Present(fingerprint) if derivation.encoding == "UTF-8" => db
            .system()
            .read(path, u64::MAX)
            .ok()
            .filter(|bytes| Fingerprint::of(bytes) == *fingerprint),
        _ => None,
    };
    derivation
        .notices
        .iter()
        .map(|notice| {
            let span = bytes
                .as_deref()
                .and_then(|bytes| place(notice, derivation.format, bytes));
            let diagnostic = noticed(path, notice);
            match span {
                Some(span) => diagnostic.at(span),
                None => diagnostic,
            }
        })
        .collect()
}

/// Where the file has what a notice is about.
fn place(notice: &Notice, format: Format, bytes: &[u8]) -> Option<Span> {
    let (line, is_bidi) = match (notice, format) {
        (Notice::BidiControls { line, .. }, Format::Markdown | Format::Text) => (*line, true),
        (
            Notice::RaggedRow { line, .. }
            | Notice::DuplicateKey { line, .. }
            | Notice::MissingKey { line }
            | Notice::UnclosedQuote { line },
            Format::Csv,
        ) => (*line, false),
        // Lines of the committed text, which are not those of the file, or none at all.
        _ => return None,
    };
    let whole = line_of(bytes, line)?;
    let text = std::str::from_utf8(bytes.get(whole.clone())?).ok()?;
    let marked = if is_bidi {
        let at = bidi_controls(text).next()?;
        // Each of these characters has three bytes.
        at..at + 3
    } else {
        0..text.len()
    };
    let column = |at: usize| {
        let before = text.get(..at).map_or(0, |text| text.chars().count());
        u32::try_from(before + 1).unwrap_or(u32::MAX)
    };
    (!marked.is_empty()).then(|| Span {
        start: whole.start + marked.start,
        end: whole.start + marked.end,
        line,
        column: column(marked.start),
        end_line: line,
        end_column: column(marked.end),
    })
}

/// The bytes of a line (from 1) of a UTF-8 file, without a byte order mark and its line end: LF, CRLF
/// or CR.
fn line_of(bytes: &[u8], line: u32) -> Option<Range<usize>> {
    let mut start = if bytes.starts_with(b"\xef\xbb\xbf") {
        3
    } else {
        0
    };
    for _ in 1..line {
        let rest = bytes.get(start..)?;
        let end = memchr::memchr2(b'\n', b'\r', rest)?;
        let crlf = rest.get(end..end + 2) == Some(b"\r\n");
        start += end + 1 + usize::from(crlf);
    }
    let rest = bytes.get(start..)?;
    let length = memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
    Some(start..start + length)
}

fn failed(path: &Arc<str>, failure: &SourceFailure) -> Diagnostic {
    let reason = failure_reason(failure);
    let (code, help): (Code, &str) = match failure {
        SourceFailure::Load(LoadError::Read(failure)) => match failure {
            ReadFailure::TooLarge { .. } => (
                registry::SRC_005,
                "split the file, or raise `limits.bytes` in kb.toml",
            ),
            ReadFailure::Changed => (registry::SRC_012, "run again when the file is at rest"),
            ReadFailure::Absent | ReadFailure::NotAFile | ReadFailure::Other(_) => (
                registry::SRC_001,
                "make the file readable, or exclude it in kb.toml",
            ),
        },
        SourceFailure::Load(LoadError::Extract(error)) => match error {
            DocumentError::Empty => (
                registry::SRC_002,
                "restore the file's content, or exclude it in kb.toml",
            ),
            DocumentError::TooLarge { .. } | DocumentError::TooManyPages { .. } => (
                registry::SRC_005,
                "split the file, or raise the limit in `[limits]` of kb.toml",
            ),
            DocumentError::Encrypted => (
                registry::SRC_004,
                "replace it by a copy that opens without a password",
            ),
            DocumentError::UnknownKind => (
                registry::SRC_006,
                "say what it is with `format` in `[source.\"…\"]` of kb.toml, or exclude it",
            ),
            DocumentError::Damaged(_) => (
                registry::SRC_003,
                "replace it by a sound copy, or exclude it in kb.toml",
            ),
            DocumentError::UndecodableText { .. } => (
                registry::SRC_003,
                "say its `encoding` in `[source.\"…\"]` of kb.toml, or convert it to UTF-8",
            ),
            DocumentError::UnknownEncoding { .. } => (
                registry::SRC_003,
                "use a name of the WHATWG encoding standard, like `windows-1252`",
            ),
            DocumentError::NoSuchColumn { .. } => (
                registry::SRC_010,
                "name one of the columns as `primary_key`",
            ),
        },
        SourceFailure::Chunk(_) => (
            registry::SRC_003,
            "change the collection's chunker in kb.toml",
        ),
    };
    Diagnostic::new(code, format!("this source cannot be used: {reason}"))
        .in_file(path.clone())
        .help(help)
}

fn noticed(path: &Arc<str>, notice: &Notice) -> Diagnostic {
    let diagnostic = match notice {
        Notice::EncodingGuessed { label } => Diagnostic::new(
            registry::SRC_008,
            format!("nothing says the encoding of this file; it was read as {label}"),
        )
        .help(format!("if that is right, say `encoding = \"{label}\"` for it in kb.toml")),
        Notice::UnmappedGlyphs { page, percent } => Diagnostic::new(
            registry::SRC_007,
            format!("page {page}: {percent} % of the glyphs have no character, so its text is incomplete"),
        )
        .help("quotes of that page may be reported as absent; use another copy of the document")
        .data("page", *page),
        Notice::PageTree { announced, found } => Diagnostic::new(
            registry::SRC_007,
            match announced {
                Some(announced) => format!(
                    "the file announces {announced} pages, but only {found} could be found"
                ),
                None => format!("the list of pages is damaged; {found} pages could be found"),
            },
        )
        .help("page numbers may be wrong; use another copy of the document"),
        Notice::BidiControls { line, count } => Diagnostic::new(
            registry::SRC_011,
            match count {
                1 => format!("line {line}: a character changes the direction of writing"),
                _ => format!(
                    "line {line}: {count} characters from here on change the direction of writing"
                ),
            },
        )
        .help("what is seen may not be what is there; take them out unless the text needs them")
        .data("line", *line),
        Notice::RaggedRow { line, expected, found } => Diagnostic::new(
            registry::SRC_010,
            format!("line {line}: the row has {found} cells, the header {expected}"),
        )
        .help("give every row a cell for every column")
        .data("line", *line),
        Notice::DuplicateKey { line, key } => Diagnostic::new(
            registry::SRC_010,
            format!("line {line}: the primary key `{key}` is already taken by an earlier row"),
        )
        .help("primary keys are unique")
        .data("line", *line),
        Notice::MissingKey { line } => Diagnostic::new(
            registry::SRC_010,
            format!("line {line}: the row has no primary key"),
        )
        .help("give every row a key")
        .data("line", *line),
        Notice::UnclosedQuote { line } => Diagnostic::new(
            registry::SRC_010,
            format!("line {line}: a quoted cell is never closed and swallows the rest of the file"),
        )
        .help("close the quote")
        .data("line", *line),
    };
    diagnostic.in_file(path.clone())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;

    #[test]
    fn lines_end_in_any_way() {
        let bytes = b"\xef\xbb\xbfone\r\ntwo\rthree\n\nfive";
        let line = |line| line_of(bytes, line).map(|range| &bytes[range]);
        assert_eq!(line(1), Some(&b"one"[..]));
        assert_eq!(line(2), Some(&b"two"[..]));
        assert_eq!(line(3), Some(&b"three"[..]));
        assert_eq!(line(4), Some(&b""[..]));
        assert_eq!(line(5), Some(&b"five"[..]));
        assert_eq!(line(6), None);
    }

    #[test]
    fn the_character_itself_is_marked() {
        let text = "a\r\n\u{e9} b\u{202e}c\n";
        let notice = Notice::BidiControls { line: 2, count: 1 };
        let span = place(&notice, Format::Text, text.as_bytes()).unwrap();
        assert_eq!(&text[span.start..span.end], "\u{202e}");
        assert_eq!((span.line, span.column, span.end_column), (2, 4, 5));
        assert!(place(&notice, Format::Html, text.as_bytes()).is_none());
        let row = Notice::MissingKey { line: 2 };
        let span = place(&row, Format::Csv, text.as_bytes()).unwrap();
        assert_eq!(&text[span.start..span.end], "\u{e9} b\u{202e}c");
    }
}
