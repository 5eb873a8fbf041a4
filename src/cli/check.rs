//! `kb check`: verify everything, change nothing.

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use kbc_queries::parse::settings::Profile;

use crate::session::{Options, Report, Session};
use crate::workspace::discover::{Matcher, Role, relative};

use super::baseline::{self, Baseline};
use super::output::{self, FormatArguments};
use super::semantic::{Asked, SemanticArguments};
use super::{CommandResult, Failure, Outcome, World};

/// Verify every citation of every card, or of the cards given
///
/// Changes no file of yours; derived state goes to `.kb/`, which is always safe to delete.
/// Exit status 0: nothing is wrong. 1: there are errors. 2: nothing was checked, or the command
/// could not do its work.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  kb check\n  kb check cards/tls/protocol-versions.md --format short\n  kb check --format sarif > kb.sarif\n  kb check --deny warnings --stats"
)]
pub struct Arguments {
    /// Cards, or folders of cards, relative to the current folder; everything when none is given
    paths: Vec<PathBuf>,
    #[command(flatten)]
    format: FormatArguments,
    /// Let these fail the check too
    #[arg(long, value_name = "WHAT")]
    deny: Option<Deny>,
    /// An empty check is a success
    #[arg(long)]
    allow_empty: bool,
    /// Report cards that no other card points at
    #[arg(long)]
    check_orphans: bool,
    /// A retracted card is a warning
    #[arg(long)]
    allow_retracted: bool,
    /// Accept small edits outside protected words, as `fuzzy`
    ///
    /// One letter more, less, other or swapped in a long word is accepted, at most one for every 50
    /// characters of the quote, and so is a word that such a letter makes another: `sulfite` for
    /// `sulfate`. Numbers, signs, short words, negations, letters with a diacritic, names and words
    /// that the passage has elsewhere are protected. Each is reported as QUOTE-007 and counted as
    /// fuzzy.
    #[arg(long)]
    fuzzy: bool,
    /// Hide the findings that this file lists; they verify nothing
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// List all findings of today in this file, for --baseline
    #[arg(long, value_name = "FILE", conflicts_with_all = ["baseline", "paths"])]
    write_baseline: Option<PathBuf>,
    /// Resolve against this chunks manifest instead of the project's sources
    ///
    /// A manifest does not say what stands between two chunks, so a quote has to stand in the cited
    /// one as a whole.
    #[arg(long, value_name = "FILE")]
    chunks_manifest: Option<PathBuf>,
    /// Authorise by this source matrix instead of the project's
    #[arg(long, value_name = "FILE")]
    source_matrix: Option<PathBuf>,
    #[command(flatten)]
    semantic: SemanticArguments,
    #[command(flatten)]
    run: RunArguments,
    /// Say why this card has to be checked again: the first thing that differs
    #[arg(long, value_name = "CARD")]
    why: Option<PathBuf>,
}

/// How a run treats derived state.
#[derive(Args)]
pub struct RunArguments {
    /// Print what was derived, what was reused, and where the time went
    #[arg(long)]
    pub stats: bool,
    /// Read and write no cache
    #[arg(long)]
    pub no_cache: bool,
    /// Trust no time stamp: hash every file
    #[arg(long)]
    pub paranoid: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Deny {
    Warnings,
}

/// Runs the command.
pub fn run(world: &World, arguments: &Arguments) -> CommandResult {
    let mut project = world.project_as_it_is()?;
    if project.is_misconfigured() {
        return Err(output::refuse(world, &project, arguments.format.format()));
    }
    let baseline = match &arguments.baseline {
        Some(path) => Some(Baseline::read(&world.current.join(path), path)?),
        None => None,
    };
    // Without a project around them, explicit manifests are the card-graph contract's way to run.
    let alone = project.settings_text.is_none() && arguments.chunks_manifest.is_some();
    if alone {
        project.settings.profile = Profile::Cacg;
    }
    let matcher = Matcher::new(&project.settings);
    let mut paths = Vec::new();
    for path in &arguments.paths {
        let relative = match world.in_project(&project, path) {
            Err(_) if alone => world.current.join(path).display().to_string(),
            relative => relative?,
        };
        if !project.root.join(&relative).exists() {
            return Err(world.no_file(path));
        }
        paths.push(relative);
    }
    let mut options = Options {
        no_cache: arguments.run.no_cache,
        paranoid: arguments.run.paranoid,
        fuzzy: arguments.fuzzy,
        orphans: arguments.check_orphans,
        allow_retracted: arguments.allow_retracted,
        ..world.options()
    };
    if let Some(manifest) = &arguments.chunks_manifest {
        options.chunks_manifest = Some(world.current.join(manifest));
    }
    if let Some(matrix) = &arguments.source_matrix {
        options.source_matrix = Some(world.current.join(matrix));
    }
    if !paths.is_empty() {
        options.only = Some(select(&project.root, &matcher, &paths, alone)?);
    }
    if let Some(card) = &arguments.why {
        let card = world.in_project(&project, card)?;
        let why = Session::why(project, options, &card).map_err(Failure)?;
        super::say(&format!("{card}: {why}"))?;
        return Ok(Outcome::Fine);
    }
    let asked = arguments.semantic.oracle(world, &project)?;
    let cacg = project.profile() == kbc_queries::input::Profile::Cacg;
    let mut session = Session::open(project, options);
    let mut report = session.report();
    match asked {
        Asked::Nobody => {}
        Asked::Oracle(oracle, policy) => {
            crate::semantic::project::consult(&mut session, &mut report, &oracle, policy);
        }
        Asked::Invalid(diagnostic) => {
            report.ledger.count(diagnostic.severity);
            report.diagnostics.insert(0, *diagnostic);
        }
    }
    session.record();
    if let Some(path) = &arguments.write_baseline {
        baseline::write(world, &session, &mut report, path)?;
    }
    if let Some(baseline) = &baseline {
        baseline.hide(&session, &mut report);
    }
    super::note_repairs(&session);
    let empty = Session::is_vacuous(&report);
    output::print(world, &session, &report, arguments.format.format())?;
    if arguments.run.stats {
        output::print_stats(&session, &session.stats);
    }
    session.leave();
    if arguments.write_baseline.is_some() {
        // What was found is what was asked for.
        return Ok(Outcome::Fine);
    }
    conclude(
        &report,
        empty,
        arguments.allow_empty || cacg,
        arguments.deny.is_some(),
    )
}

fn conclude(report: &Report, empty: bool, allow_empty: bool, deny_warnings: bool) -> CommandResult {
    if report.fails(deny_warnings) {
        return Ok(Outcome::Findings);
    }
    if empty && !allow_empty {
        return Err(Failure(
            "nothing was checked: the project has no cards; \
             look at `cards.include` in kb.toml, or pass --allow-empty"
                .to_owned(),
        ));
    }
    Ok(Outcome::Fine)
}

/// The cards that the paths name: themselves, or what lies below them.
pub(super) fn select(
    root: &std::path::Path,
    matcher: &Matcher,
    paths: &[String],
    alone: bool,
) -> Result<BTreeSet<String>, Failure> {
    // Where no project says what a card is, every Markdown file that is named is one.
    let is_card = |path: &str, named: bool| match alone {
        true => named || (path.ends_with(".md") && !path.ends_with("/SKILL.md")),
        false => matcher.role(path).0 == Some(Role::Card),
    };
    let mut selected = BTreeSet::new();
    for path in paths {
        let at = root.join(path);
        if at.is_dir() {
            for entry in walkdir::WalkDir::new(&at)
                .sort_by_file_name()
                .into_iter()
                .flatten()
            {
                let found = match relative(root, entry.path()) {
                    Some(found) => found,
                    None if alone => entry.path().display().to_string(),
                    None => continue,
                };
                if entry.file_type().is_file() && is_card(&found, false) {
                    selected.insert(found);
                }
            }
        } else if is_card(path, true) {
            selected.insert(path.clone());
        } else {
            return Err(Failure(format!(
                "{path} is no card: no glob in `cards.include` of kb.toml matches it"
            )));
        }
    }
    if selected.is_empty() {
        return Err(Failure(
            "there are no cards below the paths given".to_owned(),
        ));
    }
    Ok(selected)
}
