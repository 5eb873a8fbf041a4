//! `kb retract`, `kb retract-source`, `kb retract-chunk`: take something back, and with it whatever
//! rests on it.

use std::path::PathBuf;

use clap::Args;

use crate::deck::log::Kind;
use crate::deck::place::{CARDS, CHUNKS};
use crate::deck::retract::{Done, Request, retract};
use crate::deck::{Place, Refusal};
use crate::record::clock::Clock;
use crate::render::visible;

use super::index::refuse;
use super::{CommandResult, Failure, Outcome, World};

/// Retract a card: it is no longer searched, shown or verified; its file stays
///
/// Its history ends with the retraction, its id moves to the retracted ones, and cards that depend
/// on it or extend it are withdrawn with it. Doing it again changes nothing. `kb unretract` gives
/// it back.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  kb retract cards/reading_01/tree-hashing.md\n  kb retract tree-hashing --reason \"superseded by tree-proofs\""
)]
pub struct CardArguments {
    /// The card's file, or its id
    card: String,
    /// Why; recorded in out/retractions.jsonl
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// The folder of what is published [default: out]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Retract a source: all of its chunks leave the chunks manifest, and cards that cite it fail
///
/// With --cards-dir (in a project always) the cards that cite it, and the cards that depend on
/// those, are withdrawn from search and show. Doing it again only finds these cards anew.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  kb retract-source handbook --cards-dir cards\n  kb retract-source handbook --cards-dir cards --reason \"withdrawn by its publisher\""
)]
pub struct SourceArguments {
    /// The source's id
    source_id: String,
    #[command(flatten)]
    common: Common,
}

/// Retract a chunk: it leaves the chunks manifest, and cards that cite it fail
///
/// With --cards-dir (in a project always) the cards that cite it, and the cards that depend on
/// those, are withdrawn from search and show. Doing it again only finds these cards anew.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  kb retract-chunk handbook:p012:0031 --cards-dir cards\n  kb retract-chunk handbook:p012:0031 --out out --reason \"misprint\""
)]
pub struct ChunkArguments {
    /// The chunk's id
    chunk_id: String,
    #[command(flatten)]
    common: Common,
}

#[derive(Args)]
struct Common {
    /// The folder whose cards are looked at for what depends on it
    #[arg(long, value_name = "DIR")]
    cards_dir: Option<PathBuf>,
    /// Why; recorded in out/retractions.jsonl
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// The folder of what is published [default: out]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Runs `kb retract`.
pub fn card(world: &World, arguments: &CardArguments) -> CommandResult {
    let request = Request {
        kind: Kind::Card,
        id: &arguments.card,
        reason: arguments.reason.as_deref(),
        cards: None,
    };
    run(world, &request, arguments.out.as_ref())
}

/// Runs `kb retract-source`.
pub fn source(world: &World, arguments: &SourceArguments) -> CommandResult {
    common(world, Kind::Source, &arguments.source_id, &arguments.common)
}

/// Runs `kb retract-chunk`.
pub fn chunk(world: &World, arguments: &ChunkArguments) -> CommandResult {
    common(world, Kind::Chunk, &arguments.chunk_id, &arguments.common)
}

fn common(world: &World, kind: Kind, id: &str, common: &Common) -> CommandResult {
    let request = Request {
        kind,
        id,
        reason: common.reason.as_deref(),
        cards: common.cards_dir.as_deref(),
    };
    run(world, &request, common.out.as_ref())
}

fn run(world: &World, request: &Request<'_>, out: Option<&PathBuf>) -> CommandResult {
    let project = world.project()?;
    let place = Place::new(&project, &world.current, out.map(PathBuf::as_path));
    match retract(&place, request, Clock::from_environment(), &|_| {}) {
        Ok(done) => {
            let status = match done.known {
                true => "already retracted",
                false => "retracted",
            };
            tell(&place, request.kind, status, &done)?;
            Ok(Outcome::Fine)
        }
        Err(refusal) => refuse(&[refusal]),
    }
}

/// Prints what was done, one labelled line each.
pub fn tell(place: &Place, kind: Kind, status: &str, done: &Done) -> Result<(), Failure> {
    let mut lines = vec![
        labelled(&format!("{}_id", kind.noun()), &visible::line(&done.id)),
        labelled("status", status),
    ];
    if let Some(count) = done.chunks {
        lines.push(labelled("chunks_manifest", &place.shown(CHUNKS)));
        lines.push(labelled("chunks_count", &count.to_string()));
    }
    if let Some(count) = done.cards {
        lines.push(labelled("cards_manifest", &place.shown(CARDS)));
        lines.push(labelled("cards_count", &count.to_string()));
    }
    if let Some(withdrawn) = &done.withdrawn {
        lines.push(labelled("withdrawn_cards", &withdrawn.len().to_string()));
        for (id, reasons) in withdrawn {
            let line = format!("  {id}: {}", reasons.join("; "));
            lines.push(visible::line(&line).into_owned());
        }
    }
    super::write_out(&lines.join("\n"))?;
    for note in &done.notes {
        super::to_stderr(&format!("kb: {note}"));
    }
    if let Some(refusal) = &done.sidecar {
        super::to_stderr(&Refusal::to_string(refusal));
    }
    Ok(())
}

/// A label and a value that begins in column 18.
fn labelled(label: &str, value: &str) -> String {
    format!("{:<17}{value}", format!("{label}:"))
}
