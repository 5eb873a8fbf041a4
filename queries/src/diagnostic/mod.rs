//! What `kb` has to say about a knowledge base: the diagnostic type and the registry of codes.
//!
//! A [`Diagnostic`] is a plain value that compares, so that it can be a salsa query's result and
//! a row of the trace store. It is not a renderer: those live at the program's edge, in `src/render`.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub mod fingerprint;
pub mod ledger;
pub mod registry;

pub use ledger::Ledger;

/// How bad it is. Errors make a check fail, warnings and infos do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Something is wrong; exit status 1.
    Error,
    /// Something deserves a look.
    Warning,
    /// Something worth knowing.
    Info,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "info",
        })
    }
}

/// A diagnostic code, for instance `CACG-HASH-001`: an index into the [`registry`].
///
/// Only the registry makes one, so a code without an explanation cannot be emitted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code(pub(in crate::diagnostic) &'static str);

impl Code {
    /// The full code, `CACG-<FAMILY>-<NNN>`.
    pub fn as_str(self) -> &'static str {
        self.0
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl Serialize for Code {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0)
    }
}

impl<'de> Deserialize<'de> for Code {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        match registry::find(&text) {
            Some(entry) => Ok(entry.code),
            None => Err(serde::de::Error::custom(format!(
                "unknown diagnostic code `{text}`"
            ))),
        }
    }
}

/// A half-open byte range of a file, with the positions a person counts by.
///
/// Lines and columns are 1-based; columns count Unicode scalar values, not bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
    /// Line of `start`.
    pub line: u32,
    /// Column of `start`.
    pub column: u32,
    /// Line of `end`.
    pub end_line: u32,
    /// Column of `end`.
    pub end_column: u32,
}

/// A place in another file (often a source document) that explains the diagnostic.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Related {
    /// Path relative to the project root, with `/`.
    pub file: Arc<str>,
    /// Page, 1-based, where the file has pages (PDF).
    pub page: Option<u32>,
    /// Byte range in the file, where the file is text.
    pub span: Option<Span>,
    /// The text around the place, so that no renderer has to open the source again.
    pub excerpt: Option<Excerpt>,
    /// What is to be seen there.
    pub label: String,
}

/// A few lines of text with a marked range.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Excerpt {
    /// The text, whole lines where the source has lines.
    pub text: String,
    /// Line number of the first line of `text`; 0 where lines mean nothing.
    pub first_line: u32,
    /// Marked byte range within `text`.
    pub start: usize,
    /// End of the marked byte range within `text`.
    pub end: usize,
}

/// Whether a machine may apply a fix without asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Applicability {
    /// `kb fix` applies it.
    Safe,
    /// A person has to look at it first.
    Review,
}

/// Replace the bytes `start..end` of `file` by `text`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Edit {
    /// Path relative to the project root.
    pub file: Arc<str>,
    /// First byte replaced.
    pub start: usize,
    /// One past the last byte replaced.
    pub end: usize,
    /// The new text.
    pub text: String,
}

/// One way to make a diagnostic go away.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Fix {
    /// What the fix does, in the imperative.
    pub title: String,
    /// Whether it may be applied unasked.
    pub applicability: Applicability,
    /// Its edits, not overlapping.
    pub edits: Vec<Edit>,
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Diagnostic {
    /// Which kind of finding.
    pub code: Code,
    /// How bad, after the project's overrides.
    pub severity: Severity,
    /// One sentence that stands alone.
    pub message: String,
    /// The file it is about, relative to the project root, with `/`. `None`: the whole project.
    pub file: Option<Arc<str>>,
    /// The offending bytes in that file, where there are any.
    pub span: Option<Span>,
    /// What is to be seen under the span, shorter than the message.
    pub label: Option<String>,
    /// Other places that matter.
    pub related: Vec<Related>,
    /// What to do next.
    pub help: Option<String>,
    /// Ready edits.
    pub fixes: Vec<Fix>,
    /// Machine-readable details, sorted by key.
    pub data: Vec<(String, serde_json::Value)>,
    /// What the card-graph contract prints as message, where it differs from `message`.
    pub contract_message: Option<String>,
}

impl Diagnostic {
    /// A diagnostic of `code` with its default severity and nothing but a message.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Diagnostic {
            code,
            severity: registry::entry(code).severity,
            message: message.into(),
            file: None,
            span: None,
            label: None,
            related: Vec::new(),
            help: None,
            fixes: Vec::new(),
            data: Vec::new(),
            contract_message: None,
        }
    }

    /// Sets the file.
    pub fn in_file(mut self, file: impl Into<Arc<str>>) -> Self {
        self.file = Some(file.into());
        self
    }

    /// Sets the span.
    pub fn at(mut self, span: Span) -> Self {
        self.span = Some(span);
        self
    }

    /// Sets the label under the span.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    /// Sets the help.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds a machine-readable detail.
    pub fn data(mut self, key: &str, value: impl Into<serde_json::Value>) -> Self {
        self.data.push((key.to_owned(), value.into()));
        self.data.sort_by(|a, b| a.0.cmp(&b.0));
        self
    }

    /// The order in which diagnostics are shown: path, position, code, message.
    pub fn sort_key(&self) -> impl Ord + '_ {
        (
            self.file.as_deref(),
            self.span.map(|span| (span.start, span.end)),
            self.code,
            self.message.as_str(),
        )
    }
}
