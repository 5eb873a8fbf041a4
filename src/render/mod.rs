//! Diagnostics to text: for people, for programs, for CI.
//!
//! A renderer shows what a [`Report`] holds and decides nothing: severities, order of checks and
//! verdicts are made before. It opens no file either; the texts behind the diagnostics come from a
//! [`SourceProvider`]. Every renderer shows the diagnostics by path, then position, whatever order
//! they came in.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;

use kbc_queries::diagnostic::fingerprint::fingerprints;
use kbc_queries::diagnostic::{Diagnostic, Ledger};

pub mod explain;
mod full;
mod github;
mod json;
mod junit;
mod lines;
mod sarif;
mod short;
mod snippet;
pub mod visible;

/// How a report is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// For people: the source line beside the card line.
    Full,
    /// For people and editors: one line per diagnostic.
    Short,
    /// For programs: one JSON object per line (`docs/diagnostic.schema.json`).
    Json,
    /// For code scanning: SARIF 2.1.0.
    Sarif,
    /// For GitHub Actions: workflow annotations.
    Github,
    /// For CI servers: JUnit XML.
    Junit,
}

pub use crate::session::Report;

/// What the terminal can do. Only `Full` and `Short` look at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RenderOptions {
    /// Whether to use ANSI colours.
    pub color: bool,
    /// Whether box-drawing characters can be shown; otherwise ASCII.
    pub unicode: bool,
    /// Columns of the terminal. Longer source lines are clipped around the place that matters.
    pub width: usize,
}

impl Default for RenderOptions {
    fn default() -> Self {
        RenderOptions {
            color: false,
            unicode: true,
            width: 120,
        }
    }
}

/// Where the texts behind the diagnostics come from.
pub trait SourceProvider {
    /// The text of a file, by the path that diagnostics give it; `None` where it has none.
    ///
    /// Asked only for files that have diagnostics with a span, and once for each.
    fn text(&self, file: &str) -> Option<Arc<str>>;
}

/// Texts held in memory.
impl SourceProvider for BTreeMap<String, Arc<str>> {
    fn text(&self, file: &str) -> Option<Arc<str>> {
        self.get(file).cloned()
    }
}

/// A value as one line of JSON, without its end. What a terminal would obey is escaped, which JSON
/// allows in its strings.
pub fn json_line(value: &serde_json::Value) -> String {
    json::line(value)
}

/// Writes a report. A reader that went away (broken pipe) is not an error.
pub fn render(
    report: &Report,
    format: Format,
    options: &RenderOptions,
    sources: &dyn SourceProvider,
    out: &mut dyn Write,
) -> io::Result<()> {
    let findings = Findings::new(report, sources);
    let mut out = io::BufWriter::new(out);
    let written = match format {
        Format::Full => full::write(&findings, options, &mut out),
        Format::Short => short::write(&findings, options, &mut out),
        Format::Json => json::write(&findings, &mut out),
        Format::Sarif => sarif::write(&findings, &mut out),
        Format::Github => github::write(&findings, &mut out),
        Format::Junit => junit::write(&findings, &mut out),
    };
    match written.and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
            // Dropping the writer would try to write the rest once more.
            let _ = out.into_parts();
            Ok(())
        }
        other => other,
    }
}

/// Puts a report into the order in which it is shown, and gives the fingerprints of its diagnostics.
pub fn identify(report: &mut Report, sources: &dyn SourceProvider) -> Vec<String> {
    report
        .diagnostics
        .sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
    Findings::new(report, sources).fingerprints()
}

/// A report in the order in which it is shown, one group per file.
struct Findings<'a> {
    files: Vec<FileFindings<'a>>,
    ledger: Ledger,
}

/// The findings of one file.
struct FileFindings<'a> {
    /// `None`: the project as a whole.
    file: Option<&'a str>,
    diagnostics: Vec<&'a Diagnostic>,
    /// The text of the file, where a diagnostic has a span in it.
    text: Option<Arc<str>>,
}

impl<'a> Findings<'a> {
    fn new(report: &'a Report, sources: &dyn SourceProvider) -> Self {
        let mut sorted: Vec<&Diagnostic> = report.diagnostics.iter().collect();
        sorted.sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
        let mut files: Vec<FileFindings<'a>> = Vec::new();
        for diagnostic in sorted {
            let file = diagnostic.file.as_deref();
            match files.last_mut() {
                Some(last) if last.file == file => last.diagnostics.push(diagnostic),
                _ => files.push(FileFindings {
                    file,
                    diagnostics: vec![diagnostic],
                    text: None,
                }),
            }
        }
        for group in &mut files {
            if let Some(file) = group.file
                && group
                    .diagnostics
                    .iter()
                    .any(|diagnostic| diagnostic.span.is_some())
            {
                group.text = sources.text(file);
            }
        }
        Findings {
            files,
            ledger: report.ledger,
        }
    }

    /// Every diagnostic with the text of its file.
    fn all(&self) -> impl Iterator<Item = (&'a Diagnostic, Option<&Arc<str>>)> {
        self.files.iter().flat_map(|group| {
            group
                .diagnostics
                .iter()
                .map(|diagnostic| (*diagnostic, group.text.as_ref()))
        })
    }

    /// The fingerprints of the diagnostics, in the order of [`Findings::all`].
    fn fingerprints(&self) -> Vec<String> {
        let mut texts = self.all().map(|(_, text)| text);
        fingerprints(self.all().map(|(diagnostic, _)| diagnostic), |diagnostic| {
            let text = texts.next().flatten()?;
            let span = diagnostic.span?;
            text.get(span.start..span.end).map(str::to_owned)
        })
    }
}

#[cfg(test)]
mod tests;
