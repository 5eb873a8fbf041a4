//! `kb scaffold-matrix` and `kb scaffold-role-map`: first versions of files that people then keep
//! (contract §4, §8, §1.7), made of what the cards cite.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use clap::Args;

use kbc_queries::commit::canonical;
use kbc_queries::diagnostic::registry::{CLI_001, CLI_003, CLI_005, MAN_001};
use kbc_queries::parse::manifest::{Version, read_chunks};
use kbc_queries::parse::matrix::Matrix;
use kbc_queries::parse::problem::nearest;
use kbc_queries::parse::role_map::{Anchor, Relevance, Role, RoleMap, Stance};
use kbc_queries::system::ReadFailure;

use crate::ingest::Refusal;
use crate::ingest::deck::{self, DeckCard};
use crate::ingest::single::{self, NotWritten};
use crate::workspace::Project;

use super::ingest::{named, out_folder, read, refuse, remark};
use super::{CommandResult, Failure, Outcome, World, counted};

/// Largest chunks manifest that is read, in bytes.
const CHUNKS_LIMIT: u64 = 8 << 30;

/// Write a source matrix that allows every reading what its cards cite now
///
/// It is a start: go through it and take out what a reading should not cite.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  kb scaffold-matrix\n  kb scaffold-matrix --cards-dir notes --out notes_matrix.json"
)]
pub struct MatrixArguments {
    #[command(flatten)]
    cards: CardsArguments,
    /// The chunks that may be cited, to name sources that are not among them
    /// [default: out/chunks_manifest.json]
    #[arg(long, value_name = "FILE")]
    chunks_manifest: Option<PathBuf>,
    /// Where to write it [default: the matrix of kb.toml; without one out/source_matrix.json]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Overwrite a matrix that is there
    #[arg(long)]
    force: bool,
}

/// Write a role map of a reading: per card, the source it mainly rests on
///
/// It is a start: every card is a supporting one and of the core. `kb check` says when the map and
/// the cards no longer fit.
#[derive(Args)]
#[command(after_help = "Example:\n  kb scaffold-role-map --reading reading_01")]
pub struct RoleMapArguments {
    /// The reading
    #[arg(long, value_name = "ID")]
    reading: String,
    #[command(flatten)]
    cards: CardsArguments,
    /// Overwrite a map that is there
    #[arg(long)]
    force: bool,
    /// Where to write it [default: out/role_maps/READING.json]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Which cards there are.
#[derive(Args)]
struct CardsArguments {
    /// The folder of the cards [default: the project's cards, or cards]
    #[arg(long, value_name = "DIR")]
    cards_dir: Option<PathBuf>,
    /// The list of active cards [default: out/cards_manifest.json; without one all cards]
    #[arg(long, value_name = "FILE")]
    cards_manifest: Option<PathBuf>,
}

/// Runs `kb scaffold-matrix`.
pub fn matrix(world: &World, arguments: &MatrixArguments) -> CommandResult {
    finish(write_matrix(world, arguments)?)
}

/// Runs `kb scaffold-role-map`.
pub fn role_map(world: &World, arguments: &RoleMapArguments) -> CommandResult {
    finish(write_role_map(world, arguments)?)
}

fn finish(result: Result<String, Refusal>) -> CommandResult {
    match result {
        Ok(text) => {
            super::write_out(&text)?;
            Ok(Outcome::Fine)
        }
        Err(refusal) => refuse(&refusal),
    }
}

/// What to do with a card whose file lies outside the folder of the cards.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outside {
    /// Refuse.
    Refuse,
    /// Leave it out and say so.
    Skip,
}

impl CardsArguments {
    /// The active cards. Ones that cannot be read are left out, and named.
    fn deck(
        &self,
        world: &World,
        project: &Project,
        outside: Outside,
    ) -> Result<Vec<DeckCard>, Refusal> {
        // Without a folder that is given, the cards of a project may lie anywhere in it.
        let default = match project.settings_text {
            Some(_) => "",
            None => "cards",
        };
        let (folder, shown) = named(world, project, self.cards_dir.as_deref(), default);
        let shown = match shown.as_os_str().is_empty() {
            true => "the project".to_owned(),
            false => shown.display().to_string(),
        };
        let given = self.cards_dir.as_ref().map(|_| (&*folder, &*shown));
        let paths = match self.listed(world, project)? {
            None => deck::all(project, given)?,
            Some(paths) => {
                let mut inside = Vec::with_capacity(paths.len());
                for path in paths {
                    let at = crate::workspace::plain(&project.root.join(&path));
                    if !deck::escapes(&folder, &at) {
                        inside.push(at);
                        continue;
                    }
                    let message = format!("the card {path} lies outside {shown}");
                    if outside == Outside::Refuse {
                        return Err(Refusal::new(
                            CLI_003,
                            format!("{message}; give the folder of all cards with --cards-dir"),
                        ));
                    }
                    remark(&format!("{message} and was left out"));
                }
                inside
            }
        };
        let mut cards = Vec::with_capacity(paths.len());
        for path in paths {
            match deck::read(project, &path) {
                Ok(card) => cards.push(card),
                Err(why) => remark(&format!(
                    "{} was left out: {why}",
                    path.strip_prefix(&project.root).unwrap_or(&path).display()
                )),
            }
        }
        Ok(cards)
    }

    /// The paths of the active cards, as a manifest has them. `None`: there is no manifest.
    fn listed(&self, world: &World, project: &Project) -> Result<Option<Vec<String>>, Refusal> {
        let (at, shown) = match &self.cards_manifest {
            Some(given) => (world.current.join(given), given.clone()),
            None => {
                let (out, shown) = out_folder(world, project, None);
                let name = "cards_manifest.json";
                (out.join(name), shown.join(name))
            }
        };
        let shown = shown.display().to_string();
        match deck::manifest(&at, &shown)? {
            Some(manifest) => Ok(Some(
                manifest.cards.into_iter().map(|card| card.path).collect(),
            )),
            None if self.cards_manifest.is_some() => Err(Refusal::new(
                MAN_001,
                format!("{shown} is not there; give the cards manifest, or leave the option out"),
            )),
            None => Ok(None),
        }
    }
}

fn write_matrix(
    world: &World,
    arguments: &MatrixArguments,
) -> Result<Result<String, Refusal>, Failure> {
    let project = world.project()?;
    let (out, shown_out) = out_folder(world, &project, None);
    let name = "source_matrix.json";
    let (at, shown) = match &arguments.out {
        Some(given) => (world.current.join(given), given.display().to_string()),
        None if project.settings_text.is_some() => {
            let matrix = project.settings.matrix.to_string();
            (project.root.join(&matrix), matrix)
        }
        None => (out.join(name), shown_out.join(name).display().to_string()),
    };
    Ok((|| {
        let cards = arguments.cards.deck(world, &project, Outside::Refuse)?;
        let mut lists: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for card in &cards {
            let Some(reading) = &card.reading else {
                remark(&format!("{} was left out: it has no reading", card.path));
                continue;
            };
            lists
                .entry(reading.clone())
                .or_default()
                .extend(card.source_ids());
        }
        if lists.is_empty() {
            return Err(Refusal::new(
                CLI_001,
                "no card was found, so there is nothing to allow; give the folder of the cards with --cards-dir",
            ));
        }
        if let Some(known) = known_sources(world, &project, arguments)? {
            let cited: BTreeSet<&String> = lists.values().flatten().collect();
            for id in cited.into_iter().filter(|id| !known.contains(*id)) {
                remark(&format!(
                    "the cited source `{id}` has no chunk; it is allowed, and citing it still fails"
                ));
            }
        }
        let sources = lists.values().map(BTreeSet::len).sum::<usize>();
        let readings = lists.len();
        let lists = lists
            .into_iter()
            .map(|(reading, ids)| (reading, ids.into_iter().collect()));
        let text = canonical::to_string(&Matrix::from_lists(lists).to_value());
        put(&at, &shown, text.as_bytes(), arguments.force)?;
        Ok(format!(
            "{:<18}{shown}\n{:<18}{readings}\n{:<18}{sources}",
            "source_matrix:", "readings:", "allowed:"
        ))
    })())
}

/// The sources that have chunks. `None`: nobody says which.
fn known_sources(
    world: &World,
    project: &Project,
    arguments: &MatrixArguments,
) -> Result<Option<BTreeSet<String>>, Refusal> {
    let (path, shown) = match &arguments.chunks_manifest {
        Some(given) => (given.clone(), given.display().to_string()),
        None => {
            let (out, shown) = out_folder(world, project, None);
            let name = "chunks_manifest.json";
            (
                crate::publish::current(&out, name),
                shown.join(name).display().to_string(),
            )
        }
    };
    let bytes = match read(world, &path, CHUNKS_LIMIT) {
        Ok(bytes) => bytes,
        Err(ReadFailure::Absent) if arguments.chunks_manifest.is_none() => return Ok(None),
        Err(failure) => {
            return Err(Refusal::new(
                MAN_001,
                format!("{shown} cannot be read: {failure}"),
            ));
        }
    };
    let manifest = read_chunks(&bytes).map_err(|problem| {
        let text = String::from_utf8_lossy(&bytes);
        Refusal::of_problems(MAN_001, &shown, &text, &[*problem])
    })?;
    let ids = manifest.chunks.into_iter().map(|chunk| chunk.source_id);
    Ok(Some(ids.collect()))
}

fn write_role_map(
    world: &World,
    arguments: &RoleMapArguments,
) -> Result<Result<String, Refusal>, Failure> {
    let project = world.project()?;
    let reading = &arguments.reading;
    let (at, shown) = match &arguments.out {
        Some(given) => (world.current.join(given), given.display().to_string()),
        None => {
            // The name of the file is the reading's, so that must be the name of a file.
            let name = format!("{reading}.json");
            if reading.is_empty() || reading.starts_with('.') || reading.contains(['/', '\\', '\0'])
            {
                return Ok(Err(Refusal::new(
                    CLI_003,
                    format!("the reading `{reading}` cannot name a file; give one with --out"),
                )));
            }
            let (out, shown) = out_folder(world, &project, None);
            let below = Path::new("role_maps").join(name);
            (out.join(&below), shown.join(&below).display().to_string())
        }
    };
    Ok((|| {
        let cards = arguments.cards.deck(world, &project, Outside::Skip)?;
        let mut entries: BTreeMap<&str, Role> = BTreeMap::new();
        for card in cards.iter().filter(|c| c.reading.as_ref() == Some(reading)) {
            match role(card) {
                Some(role) => {
                    entries.entry(card.id().unwrap_or_default()).or_insert(role);
                }
                None => remark(&format!(
                    "{} was left out: it has no id, or no citation with pages",
                    card.path
                )),
            }
        }
        if entries.is_empty() {
            let readings: BTreeSet<&str> = cards
                .iter()
                .filter_map(|card| card.reading.as_deref())
                .collect();
            let hint = match nearest(reading, readings.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!(
                    "the readings are: {}",
                    readings.into_iter().collect::<Vec<_>>().join(", ")
                ),
            };
            return Err(Refusal::new(
                CLI_003,
                format!("no active card of the reading `{reading}` was found; {hint}"),
            ));
        }
        let count = entries.len();
        let map = RoleMap {
            entries: entries.into_values().collect(),
            reading_id: reading.as_str().into(),
            schema_version: Version,
        };
        let bytes = canonical::to_vec(&map).map_err(|error| {
            Refusal::new(CLI_001, format!("{shown} cannot be written: {error}"))
        })?;
        put(&at, &shown, &bytes, arguments.force)?;
        Ok(format!(
            "{:<18}{shown}\n{:<18}{reading}\n{:<18}{}",
            "role_map:",
            "reading_id:",
            "entries:",
            counted(count, "card")
        ))
    })())
}

/// A card's entry: the source it cites most (of several the one it cites first) is the primary one.
fn role(card: &DeckCard) -> Option<Role> {
    struct Cited<'a> {
        id: &'a str,
        times: usize,
        first: u64,
        last: u64,
    }
    let mut cited: Vec<Cited<'_>> = Vec::new();
    for citation in &card.parsed.citations {
        let (Some(source), Some(pages)) = (&citation.source_id, &citation.page_range) else {
            continue;
        };
        let (first, last) = (pages.value.start, pages.value.end);
        match cited.iter_mut().find(|known| *known.id == *source.value) {
            Some(known) => {
                known.times += 1;
                known.first = known.first.min(first);
                known.last = known.last.max(last);
            }
            None => cited.push(Cited {
                id: &source.value,
                times: 1,
                first,
                last,
            }),
        }
    }
    // Stable: of sources that are cited alike the first stays the first.
    cited.sort_by_key(|known| std::cmp::Reverse(known.times));
    let mut anchors = cited.into_iter().map(|known| Anchor {
        page_span: (known.first, known.last),
        source_id: known.id.into(),
    });
    Some(Role {
        card_id: card.id()?.into(),
        primary: anchors.next()?,
        relevance: Relevance::Core,
        stance: Stance::Supporting,
        supporting: anchors.collect(),
    })
}

/// Writes a file that people keep.
fn put(at: &Path, shown: &str, bytes: &[u8], force: bool) -> Result<(), Refusal> {
    match single::write(at, bytes, force) {
        Ok(()) => Ok(()),
        Err(NotWritten::Exists) => Err(Refusal::new(
            CLI_005,
            format!(
                "{shown} is there already, and people may have edited it; overwrite it with --force, or give another --out"
            ),
        )),
        Err(NotWritten::Failed(error)) => Err(Refusal::new(
            CLI_001,
            format!("{shown} cannot be written: {error}"),
        )),
    }
}
