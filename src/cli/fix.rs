//! `kb fix`: apply the fixes that a machine may apply.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;

use clap::Args;
use similar::TextDiff;

use kbc_queries::diagnostic::{Applicability, Diagnostic, Edit};

use crate::session::Session;

use super::{CommandResult, Failure, Outcome, World};

/// Apply the fixes that need no judgement: new hash after an intact change, relocated chunk, pages
///
/// Only the bytes of an edit change; comments, key order and formatting of the card stay. Quotes
/// are never rewritten. Ends with what is left to be done by hand.
#[derive(Args)]
#[command(after_help = "Examples:\n  kb fix --dry-run\n  kb fix")]
pub struct Arguments {
    /// Show what would change, as a unified diff, and write nothing
    #[arg(long)]
    dry_run: bool,
}

/// One fix may make room for the next (a chunk id, then its pages); more rounds than this would be
/// two fixes undoing each other.
const ROUNDS: usize = 4;

/// Runs the command.
pub fn run(world: &World, arguments: &Arguments) -> CommandResult {
    let mut files = 0;
    let mut applied = 0;
    for _ in 0..ROUNDS {
        let project = world.project()?;
        let options = world.options();
        let mut session = Session::open(project, options);
        let report = session.report();
        session.record();
        let edits = safe_edits(&report.diagnostics);
        if edits.is_empty() {
            break;
        }
        for (file, edits) in &edits {
            let text = session
                .text_of(file)
                .ok_or_else(|| Failure(format!("{file} cannot be read")))?;
            let (fixed, count) = apply(&text, edits);
            if arguments.dry_run {
                let diff = TextDiff::from_lines(&*text, fixed.as_str());
                let shown = diff
                    .unified_diff()
                    .header(&format!("a/{file}"), &format!("b/{file}"))
                    .to_string();
                super::write_out(shown.trim_end())?;
            } else {
                replace(&session.project.root.join(file), &text, &fixed)
                    .map_err(|reason| Failure(format!("{file} was not changed: {reason}")))?;
            }
            files += 1;
            applied += count;
        }
        if arguments.dry_run {
            super::write_out(&format!(
                "{} in {} would be made",
                super::counted(applied, "edit"),
                super::counted(files, "file")
            ))?;
            return Ok(Outcome::Fine);
        }
    }
    let mut session = Session::open(world.project()?, world.options());
    let report = session.report();
    session.record();
    super::write_out(&format!(
        "{} made; {} and {} are left{}",
        super::counted(applied, "edit"),
        super::counted(report.ledger.errors, "error"),
        super::counted(report.ledger.warnings, "warning"),
        if report.ledger.errors > 0 {
            "; `kb check` shows them"
        } else {
            ""
        }
    ))?;
    Ok(if report.fails(false) {
        Outcome::Findings
    } else {
        Outcome::Fine
    })
}

/// The edits of safe fixes, by file. Of several fixes of a diagnostic, the first.
fn safe_edits(diagnostics: &[Diagnostic]) -> BTreeMap<String, Vec<Vec<Edit>>> {
    let mut edits: BTreeMap<String, Vec<Vec<Edit>>> = BTreeMap::new();
    for diagnostic in diagnostics {
        let safe = diagnostic
            .fixes
            .iter()
            .find(|fix| fix.applicability == Applicability::Safe && !fix.edits.is_empty());
        let Some(fix) = safe else { continue };
        let Some(file) = fix.edits.first().map(|edit| edit.file.to_string()) else {
            continue;
        };
        edits.entry(file).or_default().push(fix.edits.clone());
    }
    edits
}

/// Applies the fixes that do not overlap an earlier one. Returns the text and the number of edits.
fn apply(text: &str, fixes: &[Vec<Edit>]) -> (String, usize) {
    let mut chosen: Vec<&Edit> = Vec::new();
    for fix in fixes {
        let fits = fix.iter().all(|edit| {
            text.get(edit.start..edit.end).is_some()
                && chosen
                    .iter()
                    .all(|other| edit.end <= other.start || other.end <= edit.start)
        });
        if fits {
            chosen.extend(fix);
        }
    }
    chosen.sort_by_key(|edit| edit.start);
    let mut fixed = String::with_capacity(text.len());
    let mut at = 0;
    for edit in &chosen {
        fixed.push_str(text.get(at..edit.start).unwrap_or_default());
        fixed.push_str(&edit.text);
        at = edit.end;
    }
    fixed.push_str(text.get(at..).unwrap_or_default());
    (fixed, chosen.len())
}

/// Replaces a file at once, unless somebody changed it since it was read.
fn replace(path: &Path, before: &str, after: &str) -> Result<(), String> {
    let wrong = |error: std::io::Error| crate::workspace::disk::failure(&error).to_string();
    if fs::read(path).map_err(wrong)? != before.as_bytes() {
        return Err("it changed in the meantime; run `kb fix` again".to_owned());
    }
    let folder = path.parent().ok_or("it has no folder")?;
    let mut temporary = tempfile::NamedTempFile::new_in(folder).map_err(wrong)?;
    temporary.write_all(after.as_bytes()).map_err(wrong)?;
    if let Ok(metadata) = fs::metadata(path) {
        temporary
            .as_file()
            .set_permissions(metadata.permissions())
            .map_err(wrong)?;
    }
    temporary.as_file().sync_all().map_err(wrong)?;
    temporary
        .persist(path)
        .map_err(|error| wrong(error.error))?;
    Ok(())
}
