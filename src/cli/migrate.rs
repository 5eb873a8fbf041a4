//! `kb migrate-summaries`: give the entries of an old `summaries.json` the `source_ids` that newer
//! readers ask for (contract §4, SUM-007).

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::PathBuf;

use clap::Args;

use kbc_queries::commit::canonical;
use kbc_queries::diagnostic::registry::{CLI_001, INGEST_003, MAN_001, SUM_008};
use kbc_queries::parse::manifest::{Summaries, read_summaries};
use kbc_queries::system::ReadFailure;

use crate::ingest::Refusal;
use crate::ingest::deck::{self, DeckCard};
use crate::ingest::publish::{Folder, stage};
use crate::workspace::Project;

use super::ingest::{out_folder, read, refuse, remark};
use super::{CommandResult, Failure, Outcome, World};

/// Fill in the `source_ids` that entries of an old summaries.json lack, from the cards
///
/// All of them or none: if one cannot be filled in, nothing is written and SUM-008 names it.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  kb migrate-summaries --strict\n  kb migrate-summaries cards --auto-heuristic --out out"
)]
pub struct Arguments {
    /// The folder of the cards [default: the project's cards, or cards]
    cards_dir: Option<PathBuf>,
    /// Take what the cards manifest or a card of the same id says, though the card was edited since
    #[arg(long, required_unless_present = "strict", conflicts_with = "strict")]
    auto_heuristic: bool,
    /// Take it only from a card that is still the one the entry is about, by its hash
    #[arg(long)]
    strict: bool,
    /// The folder of summaries.json [default: the project's out/]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

const NAME: &str = "summaries.json";

/// Largest summaries file that is read, in bytes.
const LIMIT: u64 = 1 << 30;

/// Runs the command.
pub fn run(world: &World, arguments: &Arguments) -> CommandResult {
    match migrate(world, arguments)? {
        Ok(Done::Filled(text)) => {
            super::write_out(&text)?;
            Ok(Outcome::Fine)
        }
        Ok(Done::Lacking(lines)) => {
            let _ = io::stderr().write_all(lines.as_bytes());
            Ok(Outcome::Findings)
        }
        Err(refusal) => refuse(&refusal),
    }
}

enum Done {
    /// The file is whole; what to print.
    Filled(String),
    /// These entries could not be filled in; what to print.
    Lacking(String),
}

fn migrate(world: &World, arguments: &Arguments) -> Result<Result<Done, Refusal>, Failure> {
    let project = world.project()?;
    let (out, shown_out) = out_folder(world, &project, arguments.out.as_deref());
    let shown = shown_out.join(NAME).display().to_string();
    Ok((|| {
        if !out.is_dir() {
            return Err(Refusal::new(
                CLI_001,
                format!(
                    "there is no folder {}; give the folder of {NAME} with --out",
                    shown_out.display()
                ),
            ));
        }
        let folder = Folder::take(&out, &shown_out.display().to_string(), || {
            remark("waiting for another kb");
        })?;
        if folder.repaired {
            remark("an interrupted run's work was finished first");
        }
        let bytes = read(world, &out.join(NAME), LIMIT).map_err(|failure| match failure {
            ReadFailure::Absent => Refusal::new(
                CLI_001,
                format!("{shown} is not there; there is nothing to migrate"),
            ),
            failure => Refusal::new(MAN_001, format!("{shown} cannot be read: {failure}")),
        })?;
        let mut summaries: Summaries = serde_json::from_slice(&bytes).map_err(|error| {
            Refusal::new(
                MAN_001,
                format!(
                    "{shown}:{}:{}: {error}; write the file anew with `kb build`",
                    error.line(),
                    error.column()
                ),
            )
        })?;
        let entries = summaries.summaries.len();
        let lacking = summaries
            .summaries
            .iter()
            .filter(|entry| entry.source_ids.is_none())
            .count();
        let report = |filled: usize| {
            format!(
                "{:<18}{shown}\n{:<18}{}\n{:<18}{filled}",
                "summaries:", "entries:", entries, "filled in:"
            )
        };
        if lacking == 0 {
            remark("every entry has its `source_ids`; nothing was written");
            return Ok(Done::Filled(report(0)));
        }
        let known = Known::new(world, &project, arguments, &out)?;
        let mut lines = String::new();
        for entry in &mut summaries.summaries {
            if entry.source_ids.is_some() {
                continue;
            }
            match known.source_ids(&entry.id, &entry.card_hash) {
                Ok(ids) => entry.source_ids = Some(ids),
                Err(why) => {
                    let line = format!(
                        "{shown}: {SUM_008} the entry `{}` cannot be filled in: {why}",
                        entry.id
                    );
                    let _ = writeln!(lines, "{}", crate::render::visible::line(&line));
                }
            }
        }
        if !lines.is_empty() {
            return Ok(Done::Lacking(lines));
        }
        let failed = |why: &dyn std::fmt::Display| {
            Refusal::new(INGEST_003, format!("{shown} was not written: {why}"))
        };
        let after = canonical::to_vec(&summaries).map_err(|error| failed(&error))?;
        read_summaries(&after).map_err(|problem| failed(&problem.message))?;
        stage(&out, &shown_out.display().to_string(), &[(NAME, after)])
            .map_err(|error| failed(&error))?;
        Ok(Done::Filled(report(lacking)))
    })())
}

/// What the cards say.
struct Known {
    strict: bool,
    /// Cards by id; `None`: two cards have it.
    cards: HashMap<String, Option<DeckCard>>,
    /// What the cards manifest has, by id.
    recorded: HashMap<String, Vec<String>>,
}

impl Known {
    fn new(
        world: &World,
        project: &Project,
        arguments: &Arguments,
        out: &std::path::Path,
    ) -> Result<Self, Refusal> {
        let given = arguments.cards_dir.as_ref().map(|given| {
            let at = crate::workspace::plain(&world.current.join(given));
            (at, given.display().to_string())
        });
        let given = given.as_ref().map(|(at, shown)| (&**at, &**shown));
        let mut cards: HashMap<String, Option<DeckCard>> = HashMap::new();
        for path in deck::all(project, given)? {
            // A card that cannot be read has no id either: the entry that needs it says so.
            if let Ok(card) = deck::read(project, &path)
                && let Some(id) = card.id().map(str::to_owned)
            {
                cards
                    .entry(id)
                    .and_modify(|known| *known = None)
                    .or_insert(Some(card));
            }
        }
        let manifest = match arguments.strict {
            true => None,
            false => deck::manifest(&out.join("cards_manifest.json"), "cards_manifest.json")?,
        };
        let recorded = manifest
            .map(|manifest| manifest.cards)
            .unwrap_or_default()
            .into_iter()
            .map(|card| (card.id, card.source_ids))
            .collect();
        Ok(Known {
            strict: arguments.strict,
            cards,
            recorded,
        })
    }

    fn source_ids(&self, id: &str, hash: &str) -> Result<Vec<String>, String> {
        if let Some(ids) = self.recorded.get(id) {
            return Ok(ids.clone());
        }
        let card = match self.cards.get(id) {
            None => return Err("no card has this id".to_owned()),
            Some(None) => return Err("two cards have this id; give one of them another".to_owned()),
            Some(Some(card)) => card,
        };
        if !self.strict {
            return match card.source_ids() {
                ids if ids.is_empty() => Err(format!("{} names no source", card.path)),
                ids => Ok(ids),
            };
        }
        match card.parsed.card_hash(&card.text) {
            Some(now) if now.to_string() == hash => Ok(card.source_ids()),
            Some(_) => Err(format!(
                "{} was edited since; index again, or take it as it is with --auto-heuristic",
                card.path
            )),
            None => Err(format!(
                "{} is no valid card; `kb check` says why",
                card.path
            )),
        }
    }
}
