//! Findings that a project knows of and does not want to hear again.
//!
//! A baseline lists findings by their fingerprints, which no line number goes into. It hides: a
//! citation that failed stays failed in the ledger, and what is hidden is counted there. It is a
//! tracked file of the user's, canonical JSON, sorted, so that two branches merge and a diff reads.

use std::collections::BTreeSet;
use std::io::{self, Write as _};
use std::path::Path;

use serde::{Deserialize, Serialize};

use kbc_queries::commit::canonical;
use kbc_queries::diagnostic::Severity;

use crate::render::identify;
use crate::session::{Report, Session};
use crate::workspace::door;

use super::output::Texts;
use super::{Failure, World, counted};

/// What the file says it is.
const VERSION: &str = "kb.baseline.v1";
/// A baseline larger than this is none.
const LIMIT: u64 = 256 << 20;

/// A known finding. The order is that of the file: by path, then code.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    /// The file it is about; `None`: the project.
    file: Option<String>,
    code: String,
    fingerprint: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    schema_version: String,
    findings: BTreeSet<Entry>,
}

/// Only what tells one version from another.
#[derive(Deserialize)]
struct Version {
    schema_version: Option<String>,
}

/// Known findings.
pub(super) struct Baseline {
    findings: BTreeSet<Entry>,
}

impl Baseline {
    /// Reads a baseline; `shown` is the path as it was given.
    ///
    /// # Errors
    /// It cannot be read, is no baseline, or one of another version.
    pub(super) fn read(path: &Path, shown: &Path) -> Result<Self, Failure> {
        let shown = shown.display();
        let bytes = door::read_named(path, LIMIT)
            .map_err(|reason| Failure(format!("the baseline {shown} cannot be read: {reason}")))?;
        let no_baseline =
            |error: serde_json::Error| Failure(format!("{shown} is no baseline: {error}"));
        let version: Version = serde_json::from_slice(&bytes).map_err(no_baseline)?;
        match version.schema_version.as_deref() {
            Some(VERSION) => {}
            Some(other) => {
                return Err(Failure(format!(
                    "the baseline {shown} has version `{other}`; this program reads `{VERSION}`"
                )));
            }
            None => {
                return Err(Failure(format!(
                    "{shown} is no baseline: it has no `schema_version`"
                )));
            }
        }
        let file: File = serde_json::from_slice(&bytes).map_err(no_baseline)?;
        Ok(Baseline {
            findings: file.findings,
        })
    }

    /// Takes the known findings out of a report, counts them there, and says on stderr how many
    /// entries no longer occur.
    pub(super) fn hide(&self, session: &Session, report: &mut Report) {
        let prints = identify(report, &Texts::new(session));
        let known: BTreeSet<&str> = self
            .findings
            .iter()
            .map(|entry| entry.fingerprint.as_str())
            .collect();
        let mut met: BTreeSet<&str> = BTreeSet::new();
        let mut prints = prints.iter();
        let ledger = &mut report.ledger;
        report.diagnostics.retain(|diagnostic| {
            let known = prints.next().and_then(|print| known.get(print.as_str()));
            let Some(print) = known else {
                return true;
            };
            met.insert(print);
            ledger.hidden += 1;
            match diagnostic.severity {
                Severity::Error => ledger.errors = ledger.errors.saturating_sub(1),
                Severity::Warning => ledger.warnings = ledger.warnings.saturating_sub(1),
                Severity::Info => {}
            }
            false
        });
        // A check of some cards says nothing about the findings of others.
        let only = session.options().only.as_ref();
        let gone = self
            .findings
            .iter()
            .filter(|entry| match (only, &entry.file) {
                (None, _) => true,
                (Some(only), Some(file)) => only.contains(file),
                (Some(_), None) => false,
            })
            .filter(|entry| !met.contains(entry.fingerprint.as_str()))
            .count();
        if gone > 0 {
            let verb = if gone == 1 { "occurs" } else { "occur" };
            super::note(&format!(
                "{} of the baseline no longer {verb}; `kb check --write-baseline` leaves out what is gone",
                counted(gone, "finding")
            ));
        }
    }
}

/// Writes the findings of a report as a baseline, and says so on stderr. A file that already says
/// the same is not touched.
///
/// # Errors
/// Something of the project could not be read, so that what is missing may not be gone; or the file
/// cannot be written.
pub(super) fn write(
    world: &World,
    session: &Session,
    report: &mut Report,
    path: &Path,
) -> Result<(), Failure> {
    if session.is_incomplete() {
        return Err(Failure(
            "a part of the project could not be read; no baseline was written".to_owned(),
        ));
    }
    let prints = identify(report, &Texts::new(session));
    let findings: BTreeSet<Entry> = report
        .diagnostics
        .iter()
        .zip(prints)
        .map(|(diagnostic, fingerprint)| Entry {
            file: diagnostic.file.as_deref().map(str::to_owned),
            code: diagnostic.code.as_str().to_owned(),
            fingerprint,
        })
        .collect();
    let count = findings.len();
    let value = serde_json::to_value(File {
        schema_version: VERSION.to_owned(),
        findings,
    })
    .map_err(|error| Failure(format!("cannot write the baseline: {error}")))?;
    let mut text = canonical::to_string(&value);
    text.push('\n');
    let shown = path.display();
    let target = world.current.join(path);
    if door::read(&target, LIMIT).ok().as_deref() != Some(text.as_bytes()) {
        replace(&target, text.as_bytes())
            .map_err(|error| Failure(format!("{shown} cannot be written: {error}")))?;
    }
    super::note(&format!("{shown} lists {}", counted(count, "finding")));
    Ok(())
}

/// Writes a file beside its place and moves it there.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let mut file = tempfile::Builder::new()
        .prefix(".kb-baseline")
        .tempfile_in(folder.unwrap_or(Path::new(".")))?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}
