//! `kb search`: find cards by words.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use clap::Args;

use kbc_queries::commit::canonical;
use kbc_queries::commit::hash::sha256;
use kbc_queries::deck::search::{Hit, Policy, search};
use kbc_queries::diagnostic::registry;
use kbc_queries::parse::manifest::{Summary, read_summaries};

use crate::deck::place::SUMMARIES;
use crate::deck::sidecar::Sidecar;
use crate::deck::{Place, Refusal, state};
use crate::publish;
use crate::render::visible;
use crate::workspace::door;

use super::index::refuse;
use super::{CommandResult, Failure, Outcome, World};

/// Find cards by words of their titles, summaries and tags
///
/// Retracted cards, cards that depend on something retracted, and cards that the source matrix does
/// not authorise are left out before the best are chosen. The search sidecar that `kb index` builds
/// is used if it belongs to the summaries, row by row; else they are ranked in memory. A score ranks
/// and proves nothing.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  kb search \"tree hashing\" --source-matrix source_matrix.json\n  kb search merkle --source-matrix source_matrix.json --json --top-k 3"
)]
pub struct Arguments {
    /// The words
    query: String,
    /// Print a JSON array
    #[arg(long)]
    json: bool,
    /// The matrix that says which reading may cite which source [default: the project's]
    #[arg(long, value_name = "PATH")]
    source_matrix: Option<PathBuf>,
    /// The summaries [default: out/summaries.json]
    #[arg(long, value_name = "PATH")]
    summaries: Option<PathBuf>,
    /// Most cards to print
    #[arg(
        long,
        value_name = "N",
        default_value_t = 10,
        allow_negative_numbers = true
    )]
    top_k: i64,
}

/// A deck of so many cards is ranked in memory, unless the contract rules: that takes no time.
const SMALL: usize = 1000;

/// Runs the command.
pub fn run(world: &World, arguments: &Arguments) -> CommandResult {
    let project = world.project()?;
    let place = Place::beside(&project, &world.current, arguments.summaries.as_deref());
    require_matrix(&place, arguments.source_matrix.as_deref())?;
    match find(world, &place, arguments) {
        Ok(text) => {
            super::write_out(&text)?;
            Ok(Outcome::Fine)
        }
        Err(refusal) => refuse(&[refusal]),
    }
}

/// Without a matrix nothing is authorised, and outside a project there is none to take.
pub fn require_matrix(place: &Place, given: Option<&Path>) -> Result<(), Failure> {
    match given.is_some() || place.has_matrix() {
        true => Ok(()),
        false => Err(Failure(
            "--source-matrix PATH is required where there is no kb.toml".to_owned(),
        )),
    }
}

/// The summaries' file, as it is read and as people read it.
fn file(world: &World, place: &Place, given: Option<&PathBuf>) -> (PathBuf, String) {
    match given {
        Some(given) => {
            let name = given.file_name().unwrap_or_default().to_string_lossy();
            let at = world.current.join(given);
            let staged = publish::current(&place.out, &name);
            let path = if staged.exists() { staged } else { at };
            (path, given.display().to_string())
        }
        None => (
            publish::current(&place.out, SUMMARIES),
            place.shown(SUMMARIES),
        ),
    }
}

fn find(world: &World, place: &Place, arguments: &Arguments) -> Result<String, Refusal> {
    let (path, shown) = file(world, place, arguments.summaries.as_ref());
    if !path.is_file() {
        let next = "make it with `kb index`, or name another with --summaries";
        return Err(Refusal::missing("summaries", Path::new(&shown), next));
    }
    let matrix = place.matrix(arguments.source_matrix.as_deref())?;
    let manifest = place.cards()?;
    let bytes = door::read(&path, publish::LIMIT).map_err(|failure| {
        let message = format!("{shown} cannot be read: {failure}");
        Refusal::new(registry::CLI_001, message)
    })?;
    let summaries =
        read_summaries(&bytes).map_err(|problem| Refusal::of_manifest(&shown, &problem))?;
    let entries = &summaries.summaries;
    if manifest.is_none() {
        let folders: BTreeSet<PathBuf> = entries
            .iter()
            .filter_map(|entry| Some(place.locate(&entry.path).parent()?.to_path_buf()))
            .collect();
        let histories = folders
            .iter()
            .flat_map(|folder| state::histories_in(folder));
        if let Some(missing) = state::tombstones_without_manifest(place, histories) {
            return Err(missing.into());
        }
    }
    let policy = Policy::new(&matrix, manifest.as_ref());
    let top_k = usize::try_from(arguments.top_k).unwrap_or(0);
    let sidecar = publish::current(
        &place.out,
        &Path::new(path.file_name().unwrap_or_default())
            .with_extension("sqlite")
            .to_string_lossy(),
    );
    let mut found = by_sidecar(&sidecar, &bytes, entries, &policy, &arguments.query, top_k);
    // Its rows were compared, its word lists cannot be: that they know nothing is not believed.
    if matches!(&found, Ok(Some(hits)) if hits.is_empty())
        && !search(entries, &arguments.query, &policy, place.idf(), top_k).is_empty()
    {
        found = Err("it does not find what the summaries hold".to_owned());
    }
    let hits = match found {
        // In a small deck FTS5 gives every common word next to nothing, and scores say little.
        Ok(Some(hits)) if place.contract || entries.len() > SMALL => hits,
        other => {
            if let Err(reason) = other {
                super::to_stderr(&format!(
                    "{}: the search sidecar {} was not used: {reason}; the summaries were searched \
                     in memory; `kb index` builds it anew",
                    registry::FTS_001,
                    Path::new(&place.shown)
                        .join(sidecar.file_name().unwrap_or_default())
                        .display()
                ));
            }
            search(entries, &arguments.query, &policy, place.idf(), top_k)
        }
    };
    Ok(match arguments.json {
        true => canonical::to_vec(&hits)
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .map_err(|error| Refusal::new(registry::MAN_001, error.to_string()))?,
        false if hits.is_empty() => "(no matches)".to_owned(),
        false => {
            let line = |hit: &Hit<'_>| visible::line(&hit.line()).into_owned();
            hits.iter().map(line).collect::<Vec<_>>().join("\n")
        }
    })
}

/// `None`: there is no sidecar.
fn by_sidecar<'a>(
    path: &Path,
    bytes: &[u8],
    entries: &'a [Summary],
    policy: &Policy<'_>,
    query: &str,
    top_k: usize,
) -> Result<Option<Vec<Hit<'a>>>, String> {
    let Some(sidecar) = Sidecar::open(path, sha256(bytes), entries)? else {
        return Ok(None);
    };
    let by_id: HashMap<&str, &Summary> = entries
        .iter()
        .map(|entry| (entry.id.as_str(), entry))
        .collect();
    let mut hits = Vec::new();
    for (id, score) in sidecar.search(query)? {
        let entry = by_id
            .get(id.as_str())
            .ok_or_else(|| "it names a card that the summaries do not have".to_owned())?;
        if hits.len() < top_k && policy.admits(entry) {
            hits.push(Hit::new(entry, score));
        }
    }
    Ok(Some(hits))
}
