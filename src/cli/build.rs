//! `kb build`: compile everything and publish it.

use std::fs;
use std::io;

use clap::Args;

use kbc_queries::diagnostic::{Diagnostic, Severity, registry};

use crate::publish::{self, Lock, PublishError, Staging, set};
use crate::session::{Options, Report, Session};

use super::check::RunArguments;
use super::output::{self, FormatArguments};
use super::{CommandResult, Failure, Outcome, World};

/// Compile everything: verify all cards and publish manifests, summaries and commitments in out/
///
/// Findings do not stop it: what is sound is published, and the exit status is 1. Files whose
/// bytes would not change are left alone.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  kb build\n  kb build --locked        # in CI: fail when out/ is not what the inputs give"
)]
pub struct Arguments {
    /// Write nothing; fail when out/ is not what the inputs give
    #[arg(long)]
    locked: bool,
    /// Publish also when there is nothing to compile
    #[arg(long)]
    allow_empty: bool,
    #[command(flatten)]
    format: FormatArguments,
    #[command(flatten)]
    run: RunArguments,
}

/// What publishing came to.
enum Published {
    /// These files changed.
    Changed(Vec<String>),
    /// Everything was as it should be.
    Unchanged,
    /// Nothing was written, and this is why.
    Not(Box<Diagnostic>),
}

impl From<Diagnostic> for Published {
    fn from(reason: Diagnostic) -> Self {
        Published::Not(Box::new(reason))
    }
}

/// Runs the command.
pub fn run(world: &World, arguments: &Arguments) -> CommandResult {
    let project = world.project_as_it_is()?;
    if project.is_misconfigured() {
        return Err(output::refuse(world, &project, arguments.format.format()));
    }
    let out = project.out();
    let shown = project.settings.out.to_string();
    let mut extra = Vec::new();
    let lock = match Lock::take(&project.root, || {
        super::note("waiting for another kb in this project");
    }) {
        Ok(lock) => Some(lock),
        Err(error) => {
            extra.push(cannot(&shown, &format!("cannot lock .kb/: {error}")));
            None
        }
    };
    // Without a kb.toml the verbs of the deck know the folder alone, and lock that.
    let _folder = match project.settings_text.is_none() && !arguments.locked && out.is_dir() {
        true => Lock::of(&out, || super::note("waiting for another kb")).ok(),
        false => None,
    };
    if lock.is_some() && !arguments.locked {
        match publish::recover(&out) {
            Ok(false) => {}
            // No part of the report: a build that repairs gives what a clean one gives.
            Ok(true) => super::note(&format!(
                "{}: an earlier build was interrupted while it replaced {shown}/; its work is finished now, nothing to do",
                registry::BUILD_003
            )),
            Err(error) => extra.push(cannot(
                &shown,
                &format!("cannot finish an interrupted build: {error}"),
            )),
        }
    }
    let options = Options {
        no_cache: arguments.run.no_cache,
        paranoid: arguments.run.paranoid,
        sha256: true,
        ..world.options()
    };
    let mut session = Session::open(project, options);
    let empty = session.stats.sources == 0 && session.stats.cards == 0;
    if empty && session.is_new() && !arguments.allow_empty {
        // An empty set published by mistake would be taken for a small one.
        return Err(Failure(
            "there is nothing to compile: no file matches the collections or the cards of the \
             project; look at `kb config`, start with `kb init`, or pass --allow-empty"
                .to_owned(),
        ));
    }
    let mut report = session.report();
    let blocked = extra
        .iter()
        .any(|diagnostic| diagnostic.severity == Severity::Error);
    let published = if blocked {
        None
    } else {
        Some(publish_set(
            &mut session,
            &report,
            arguments.locked,
            &out,
            &shown,
        ))
    };
    session.record();
    drop(lock);
    super::note_repairs(&session);
    let mut note = None;
    match published {
        Some(Published::Not(diagnostic)) => extra.push(*diagnostic),
        Some(Published::Changed(names)) => {
            note = Some(format!("wrote {shown}/: {}", names.join(", ")))
        }
        Some(Published::Unchanged) => note = Some(format!("{shown}/ is up to date")),
        None => {}
    }
    for diagnostic in extra {
        report.ledger.count(diagnostic.severity);
        report.diagnostics.push(diagnostic);
    }
    report
        .diagnostics
        .sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
    output::print(world, &session, &report, arguments.format.format())?;
    if let Some(note) = note.filter(|_| arguments.format.is_for_people()) {
        super::tell(&note);
    }
    if arguments.run.stats {
        output::print_stats(&session, &session.stats);
    }
    session.leave();
    Ok(if report.fails(false) {
        Outcome::Findings
    } else {
        Outcome::Fine
    })
}

fn cannot(shown: &str, reason: &str) -> Diagnostic {
    Diagnostic::new(
        registry::BUILD_002,
        format!("{shown}/ was not published: {reason}"),
    )
    .in_file(shown)
    .help("mend that and build again; what was published before is unchanged")
}

fn publish_set(
    session: &mut Session,
    report: &Report,
    locked: bool,
    out: &std::path::Path,
    shown: &str,
) -> Published {
    if session.is_incomplete() {
        return Published::from(cannot(
            shown,
            "part of the project could not be read, and what is missing may not be gone",
        ));
    }
    let records_unusable = report.diagnostics.iter().any(|diagnostic| {
        diagnostic.code == registry::MAN_001
            && diagnostic.severity == Severity::Error
            && diagnostic
                .file
                .as_deref()
                .is_some_and(|file| file.starts_with(shown))
    });
    if records_unusable {
        return Published::from(cannot(
            shown,
            "a manifest in it cannot be read, and with it ids and retractions would be lost",
        ));
    }
    if session.is_published(out) {
        return Published::Unchanged;
    }
    let result = if locked {
        compare_locked(session, shown, out)
    } else {
        stage(session, out, shown)
            .and_then(|staging| staging.commit())
            .map(|names| {
                if names.is_empty() {
                    Published::Unchanged
                } else {
                    Published::Changed(names)
                }
            })
    };
    match result {
        Ok(published) => {
            if !matches!(published, Published::Not(_)) {
                session.note_published(out);
            }
            published
        }
        Err(error) => Published::from(cannot(shown, &error.to_string())),
    }
}

fn stage(
    session: &mut Session,
    out: &std::path::Path,
    shown: &str,
) -> Result<Staging, PublishError> {
    let mut staging = Staging::begin(out, shown)?;
    match set::assemble(session, &mut staging) {
        Ok(()) => Ok(staging),
        Err(error) => {
            staging.discard();
            Err(error)
        }
    }
}

/// Assembles the set outside `out/` and compares.
fn compare_locked(
    session: &mut Session,
    shown: &str,
    out: &std::path::Path,
) -> Result<Published, PublishError> {
    let wrong = |error: io::Error| PublishError {
        doing: "cannot compare".to_owned(),
        error,
    };
    let folder = tempfile::tempdir().map_err(wrong)?;
    let mut staging = Staging::begin(folder.path(), shown)?;
    set::assemble(session, &mut staging)?;
    let differing = staging.differing_from(out);
    staging.discard();
    fs::remove_dir_all(folder.path()).map_err(wrong)?;
    if differing.is_empty() {
        return Ok(Published::Unchanged);
    }
    Ok(Published::from(
        Diagnostic::new(
            registry::BUILD_001,
            format!(
                "{shown}/ is not what the inputs give: {} would change",
                differing.join(", ")
            ),
        )
        .in_file(shown)
        .help("run `kb build` and commit what it writes")
        .data("files", differing),
    ))
}
