//! One source into the manifests of an output folder, as the card-graph contract has it (§2.2 to
//! §2.7): read, cut, merge with what is there, publish as one set.
//!
//! A door to the same engine that `kb build` uses: extraction, chunker, hashes and publishing are
//! those of the project. What a command prints is `cli::ingest`'s.

use std::fmt;

use kbc_queries::chunk::CacgParams;
use kbc_queries::diagnostic::{Code, registry};
use kbc_queries::parse::manifest::{ChunkRecord, Version};
use kbc_queries::parse::problem::Problem;
use kbc_queries::text::lines::LineIndex;

pub mod config;
pub mod deck;
pub mod merge;
pub mod publish;
pub mod single;
pub mod source;

/// How a source is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// By its kind: what name and first bytes tell; a PDF where they tell nothing.
    Any,
    /// As a PDF, whatever it is called.
    Pdf,
    /// As a stream of utterances.
    Utterances,
}

/// A source on its way into the manifests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ingest {
    /// Its id.
    pub source_id: String,
    /// Its path as it is recorded.
    pub source_path: String,
    /// SHA-256 of its bytes, hex.
    pub sha256: String,
    /// Number of pages, at least 1.
    pub page_count: u64,
    /// Name of what read it.
    pub parser_name: &'static str,
    /// Version of that.
    pub parser_version: &'static str,
    /// Its chunks, in order.
    pub chunks: Vec<ChunkRecord>,
    /// The utterances, if it is a stream of them.
    pub utterances: Option<Vec<kbc_queries::parse::utterances::Utterance>>,
    /// What its reader should know, one sentence each.
    pub notices: Vec<String>,
}

impl Ingest {
    /// Its record in the sources manifest.
    pub fn record(&self, extracted_at: String) -> kbc_queries::parse::manifest::SourceRecord {
        kbc_queries::parse::manifest::SourceRecord {
            extracted_at,
            page_count: self.page_count,
            parser_name: self.parser_name.to_owned(),
            parser_version: self.parser_version.to_owned(),
            schema_version: Version,
            source_id: self.source_id.clone(),
            source_path: self.source_path.clone(),
            source_sha256: self.sha256.clone(),
        }
    }
}

/// Why a verb of the contract refused: a code, and what to do. Nothing was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The code.
    pub code: Code,
    /// What is wrong, where, and what to do next.
    pub message: String,
}

impl Refusal {
    /// A refusal.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Refusal {
            code,
            message: message.into(),
        }
    }

    /// The first of some problems of a file, with its place, and how many more there are.
    pub fn of_problems(code: Code, shown: &str, text: &str, problems: &[Problem]) -> Self {
        let Some(first) = problems.first() else {
            return Refusal::new(code, format!("{shown} cannot be used"));
        };
        let mut message = format!("{}: {}", place(shown, text, first), first.message);
        if let Some(help) = &first.help {
            message.push_str("; ");
            message.push_str(help);
        }
        match problems.len() {
            1 => {}
            2 => message.push_str(" (and 1 more problem)"),
            more => message.push_str(&format!(" (and {} more problems)", more - 1)),
        }
        Refusal::new(code, message)
    }

    /// Whether the call itself was wrong, so that the exit status is 2 (contract §0).
    pub fn is_misuse(&self) -> bool {
        self.code == registry::CLI_003 || self.code == registry::CLI_004
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

/// `file:line:column` of a problem.
fn place(shown: &str, text: &str, problem: &Problem) -> String {
    if problem.span == (0..0) {
        return shown.to_owned();
    }
    let (line, column) = LineIndex::new(text).position(text, problem.span.start);
    format!("{shown}:{line}:{column}")
}

/// Whether a text may be a source id: `^[a-z0-9][a-z0-9_]*$`.
pub fn is_source_id(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    text.bytes().next().is_some_and(plain) && text.bytes().all(|byte| plain(byte) || byte == b'_')
}

/// The id that a file gives its source (contract §4): its stem in lower case, every run of
/// anything but ASCII letters and digits one `_`, none at the ends; `source` if nothing is left.
pub fn default_source_id(path: &std::path::Path) -> String {
    let stem = path
        .file_stem()
        .map(|stem| stem.to_string_lossy().to_lowercase());
    let mut id = String::new();
    for character in stem.unwrap_or_default().chars() {
        if character.is_ascii_lowercase() || character.is_ascii_digit() {
            id.push(character);
        } else if !id.is_empty() && !id.ends_with('_') {
            id.push('_');
        }
    }
    let id = id.trim_end_matches('_');
    if id.is_empty() { "source" } else { id }.to_owned()
}

/// How a source is cut unless a configuration says otherwise.
pub fn default_chunking() -> CacgParams {
    CacgParams::default()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;
    use std::path::Path;

    #[test]
    fn ids_come_from_the_files_stem() {
        for (path, id) in [
            ("a/Hand Book-2.pdf", "hand_book_2"),
            ("__x__.pdf", "x"),
            ("Überblick.pdf", "berblick"),
            ("三国.pdf", "source"),
            ("a.tar.gz", "a_tar"),
            (".hidden", "hidden"),
            ("2024.pdf", "2024"),
        ] {
            assert_eq!(default_source_id(Path::new(path)), id, "{path}");
            assert!(is_source_id(id));
        }
        for bad in ["", "_a", "A", "a-b", "a b", "é", "a\n"] {
            assert!(!is_source_id(bad), "{bad:?}");
        }
    }
}
