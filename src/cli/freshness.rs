//! `kb freshness`: is what was published what today's inputs give?

use clap::Args;

use kbc_queries::diagnostic::{Diagnostic, Severity, registry};
use kbc_queries::emit::index_manifest::{IndexManifest, SCHEMA_VERSION, compare};

use crate::publish::{self, Lock, set};
use crate::session::{Options, Report, Session};
use crate::workspace::door;

use super::check::RunArguments;
use super::output::{self, FormatArguments};
use super::{CommandResult, Outcome, World};

/// Say whether the published set is the one today's inputs give, and which inputs changed
///
/// Exit status 0: green. 1: red.
#[derive(Args)]
#[command(after_help = "Example:\n  kb freshness || kb build")]
pub struct Arguments {
    #[command(flatten)]
    format: FormatArguments,
    #[command(flatten)]
    run: RunArguments,
}

/// Runs the command.
pub fn run(world: &World, arguments: &Arguments) -> CommandResult {
    let project = world.project_as_it_is()?;
    if project.is_misconfigured() {
        return Err(output::refuse(world, &project, arguments.format.format()));
    }
    let options = Options {
        no_cache: arguments.run.no_cache,
        paranoid: arguments.run.paranoid,
        sha256: true,
        ..world.options()
    };
    let root = project.root.clone();
    let mut session = Session::look_only(project, options.clone());
    session.ensure_sha256();
    let mut diagnostics = judge(&session);
    let mixed = |diagnostic: &Diagnostic| diagnostic.code == registry::FRESH_003;
    if diagnostics.iter().any(mixed) {
        // A build may have replaced the set between two reads: look again once it is done. Where
        // there can be no lock, nobody writes.
        let _lock = Lock::take(&root, || {});
        session = Session::look_only(world.project()?, options);
        session.ensure_sha256();
        diagnostics = judge(&session);
    }
    session.record();
    super::note_repairs(&session);
    let mut report = Report {
        diagnostics,
        ..Report::default()
    };
    for diagnostic in &report.diagnostics {
        report.ledger.count(diagnostic.severity);
    }
    let red = report
        .diagnostics
        .iter()
        .any(|diagnostic| diagnostic.severity == Severity::Error);
    if arguments.format.is_for_people() {
        output::print_findings(world, &session, &report, arguments.format.format())?;
        let missing = report
            .diagnostics
            .iter()
            .any(|diagnostic| diagnostic.code == registry::FRESH_002);
        super::say(match (red, missing) {
            (true, true) => "RED: nothing usable is published yet, build required (kb build)",
            (true, false) => "RED: index stale, rebuild required (kb build)",
            (false, _) => "GREEN: the published set is the one these inputs give",
        })?;
    } else {
        output::print(world, &session, &report, arguments.format.format())?;
    }
    if arguments.run.stats {
        output::print_stats(&session, &session.stats);
    }
    session.leave();
    Ok(if red {
        Outcome::Findings
    } else {
        Outcome::Fine
    })
}

fn judge(session: &Session) -> Vec<Diagnostic> {
    let out = session.project.out();
    let shown = format!("{}/{}", session.project.settings.out, publish::LAST);
    let mut diagnostics = session.findings_of_look();
    let bytes = match door::read(&publish::current(&out, publish::LAST), publish::LIMIT) {
        Ok(bytes) => bytes,
        Err(failure) => {
            diagnostics.push(
                Diagnostic::new(
                    registry::FRESH_002,
                    format!("there is no index manifest to compare with: {failure}"),
                )
                .in_file(shown)
                .help("run `kb build`"),
            );
            return diagnostics;
        }
    };
    let published: IndexManifest = match serde_json::from_slice(&bytes) {
        Ok(manifest) => manifest,
        Err(error) => {
            diagnostics.push(
                Diagnostic::new(
                    registry::FRESH_002,
                    format!("the index manifest cannot be understood: {error}"),
                )
                .in_file(shown)
                .help(format!(
                    "run `kb build`; this program writes `{SCHEMA_VERSION}`"
                )),
            );
            return diagnostics;
        }
    };
    for (name, hash) in &published.outputs {
        let found = publish::hash_file(&publish::current(&out, name));
        if found.as_ref() != Some(hash) {
            diagnostics.push(
                Diagnostic::new(
                    registry::FRESH_003,
                    if found.is_none() {
                        "the file is missing, and the index manifest lists it"
                    } else {
                        "the file is not the one that the index manifest lists"
                    },
                )
                .in_file(format!("{}/{name}", session.project.settings.out))
                .help("run `kb build`, or restore the file"),
            );
        }
    }
    let counts: std::collections::HashMap<String, _> = published
        .collections
        .iter()
        .flat_map(|collection| &collection.documents)
        .filter_map(|document| {
            Some((
                document.path.clone(),
                (document.chunk_count, document.commitment?),
            ))
        })
        .collect();
    let today = set::inputs(session, &|path| {
        let (leaf_count, commitment) = counts.get(path).copied()?;
        Some(kbc_queries::emit::records::DocumentCommitment {
            leaf_count,
            root: commitment,
            commitment,
        })
    });
    for drift in compare(&published, &today) {
        let severity = if drift.advisory {
            Severity::Warning
        } else {
            Severity::Error
        };
        let mut diagnostic = Diagnostic::new(
            registry::FRESH_001,
            format!(
                "{} since the set was published: {}",
                drift.change, drift.detail
            ),
        )
        .help(if drift.advisory {
            "advice only: rebuild when it suits"
        } else {
            "run `kb build`"
        })
        .data("change", drift.change)
        .data("part", drift.part);
        diagnostic.severity = severity;
        if let Some(path) = drift.path {
            diagnostic = diagnostic.in_file(path);
        }
        diagnostics.push(diagnostic);
    }
    diagnostics.sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
    diagnostics
}
