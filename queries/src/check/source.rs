//! What is said about a source itself: it cannot be used, or its reader should know something.

use std::sync::Arc;

use crate::check::citation::failure_reason;
use crate::derive::{SourceDerivation, SourceFailure};
use crate::diagnostic::{Code, Diagnostic, registry};
use crate::documents::LoadError;
use crate::parse::document::{DocumentError, Notice};
use crate::system::ReadFailure;

/// The diagnostics of one source.
pub fn source_diagnostics(
    path: &Arc<str>,
    derivation: &Result<Arc<SourceDerivation>, SourceFailure>,
) -> Vec<Diagnostic> {
    match derivation {
        Err(failure) => vec![failed(path, failure)],
        Ok(derivation) => derivation
            .notices
            .iter()
            .map(|notice| noticed(path, notice))
            .collect(),
    }
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
