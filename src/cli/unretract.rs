//! `kb unretract`: give back what was retracted.

use std::path::PathBuf;

use clap::Args;

use crate::deck::Place;
use crate::deck::log::Kind;
use crate::deck::unretract::{Request, unretract};
use crate::record::clock::Clock;

use super::index::{cards_dir, refuse};
use super::{CommandResult, Outcome, World};

/// Give back a retracted card, source or chunk, deliberately and with a reason
///
/// A card comes back with its file: it is indexed again and its history says so. The chunks of a
/// source come back when the manifest is made anew: with `kb build` in a project, else with `kb
/// ingest`. The reason is recorded in out/retractions.jsonl.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  kb unretract tree-hashing --reason \"the erratum was wrong\"\n  kb unretract handbook --kind source --reason \"second edition\" && kb build"
)]
pub struct Arguments {
    /// The id of the card, source or chunk
    id: String,
    /// Why
    #[arg(long, value_name = "TEXT")]
    reason: String,
    /// Which of them, where one id is several
    #[arg(long, value_name = "KIND")]
    kind: Option<Kind>,
    /// The folder of cards [default: cards]
    #[arg(long, value_name = "DIR")]
    cards_dir: Option<PathBuf>,
    /// The folder of what is published [default: out]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Runs the command.
pub fn run(world: &World, arguments: &Arguments) -> CommandResult {
    if arguments.reason.trim().is_empty() {
        return Err("--reason must say why; it is what the record keeps"
            .to_owned()
            .into());
    }
    let project = world.project()?;
    let place = Place::new(&project, &world.current, arguments.out.as_deref());
    let cards = cards_dir(&place, arguments.cards_dir.as_ref());
    let request = Request {
        id: &arguments.id,
        kind: arguments.kind,
        reason: arguments.reason.trim(),
        cards: &cards,
    };
    match unretract(&place, &request, Clock::from_environment(), &|_| {}) {
        Ok((kind, done)) => {
            let status = match done.known {
                true => "not retracted; nothing to do",
                false => "given back",
            };
            super::retract::tell(&place, kind, status, &done)?;
            if kind != Kind::Card && !done.known {
                super::to_stderr(match place.is_projects {
                    true => {
                        "kb: its text was deleted from the chunks manifest; `kb build` puts it back"
                    }
                    false => {
                        "kb: its text was deleted from the chunks manifest; ingest the source again \
                         with `kb ingest`, or restore the manifest's records from version control"
                    }
                });
            }
            Ok(Outcome::Fine)
        }
        Err(refusals) => refuse(&refusals),
    }
}
