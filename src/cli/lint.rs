//! `kb lint`: layer 1 of the card-graph contract.

use std::path::PathBuf;

use clap::Args;

use crate::contract::view::{Look, Verb};

use super::contract::{self, Deck, Inputs, Run};
use super::{CommandResult, World};

/// Check cards without looking for their quotes: shape, hashes, pages, authorisation
///
/// Silent when nothing is wrong. `kb verify` also checks the quotes; `kb check` does both for a
/// whole project. Exit status 0: nothing is wrong. 1: something is. 2: usage.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  kb lint cards/tls/versions.md --source-matrix out/source_matrix.json\n  kb lint --all-readings --check-orphans --source-matrix out/source_matrix.json"
)]
#[command(group(clap::ArgGroup::new("what").required(true).args(["card", "all_readings"])))]
pub struct Arguments {
    /// The card
    card: Option<PathBuf>,
    /// All cards below the cards folder
    #[arg(long)]
    all_readings: bool,
    /// The cards folder [default: the project's cards, or `cards`]
    #[arg(long, value_name = "DIR")]
    cards_dir: Option<PathBuf>,
    /// Report cards that no other card and no role map points at
    #[arg(long)]
    check_orphans: bool,
    /// No cards are a success
    #[arg(long)]
    allow_empty: bool,
    #[command(flatten)]
    inputs: Inputs,
}

/// Runs the command.
pub fn run(world: &World, arguments: &Arguments) -> CommandResult {
    let deck = match &arguments.card {
        Some(card) => Deck::Card(card),
        None => Deck::All(arguments.cards_dir.as_deref()),
    };
    let run = Run {
        look: Look {
            verb: Verb::Lint,
            skip_lint: false,
            fuzzy: false,
        },
        orphans: arguments.check_orphans,
        allow_retracted: false,
        allow_empty: arguments.allow_empty,
    };
    contract::run(world, &arguments.inputs, deck, &run)
}
