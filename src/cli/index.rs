//! `kb index`: publish the deck.

use std::path::PathBuf;

use clap::Args;

use crate::deck::index::{Done, Request, index};
use crate::deck::place::{CARDS, SUMMARIES};
use crate::deck::{Place, Refusal};
use crate::record::clock::Clock;

use super::{CommandResult, Failure, Outcome, World, counted};

/// Publish the cards: cards manifest, summaries, INDEX.md, search sidecar; record their hashes
///
/// The hash of every card that changed is written into its `card_hash:` line, and its history is
/// continued. This verifies nothing: a recorded hash says which text it is of, not that a quote
/// stands in its source. `kb check` and `kb verify` do that. What was retracted stays retracted, and
/// which cards that takes with it is found out anew. On any failure everything is taken back.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  kb index\n  kb index cards --out out\n  kb index && kb check      # index, then verify"
)]
pub struct Arguments {
    /// The folder of cards [default: cards]
    cards_dir: Option<PathBuf>,
    /// The folder to publish into [default: out]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Publish an empty deck although cards were published before
    #[arg(long)]
    allow_empty: bool,
    /// When the cards manifest is gone: take from the histories which cards are retracted
    #[arg(long)]
    restore_retractions: bool,
}

/// Runs the command.
pub fn run(world: &World, arguments: &Arguments) -> CommandResult {
    let project = world.project()?;
    let place = Place::new(&project, &world.current, arguments.out.as_deref());
    let cards = cards_dir(&place, arguments.cards_dir.as_ref());
    let request = Request {
        cards: &cards,
        allow_empty: arguments.allow_empty,
        restore: arguments.restore_retractions,
        give_back: None,
    };
    match index(&place, &request, Clock::from_environment(), &|_| {}) {
        Ok(done) => {
            tell(&place, &done);
            Ok(Outcome::Fine)
        }
        Err(refusals) => refuse(&refusals),
    }
}

/// The folder of cards that was given, else the usual one.
pub fn cards_dir(place: &Place, given: Option<&PathBuf>) -> PathBuf {
    match given {
        Some(given) => given.clone(),
        // In a project the usual folder is the project's, wherever the call comes from.
        None if place.base != place.current => place.base.join("cards"),
        None => PathBuf::from("cards"),
    }
}

fn tell(place: &Place, done: &Done) {
    super::to_stderr(&format!(
        "kb index: published {} and {}",
        place.shown(CARDS),
        place.shown(SUMMARIES)
    ));
    if done.stamped > 0 {
        super::to_stderr(&format!(
            "kb index: recorded the hash of {}",
            counted(done.stamped, "card")
        ));
    }
    for (id, reasons) in &done.withdrawn {
        super::to_stderr(&format!(
            "kb index: {id} is withdrawn: {}",
            reasons.join("; ")
        ));
    }
    for note in &done.notes {
        super::to_stderr(&format!("kb index: {note}"));
    }
    if let Some(refusal) = &done.sidecar {
        super::to_stderr(&refusal.to_string());
    }
}

/// Prints why nothing was done.
pub fn refuse(refusals: &[Refusal]) -> Result<Outcome, Failure> {
    for refusal in refusals {
        super::to_stderr(&refusal.to_string());
    }
    Ok(Outcome::Findings)
}
