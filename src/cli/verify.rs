//! `kb verify`: both layers of the card-graph contract, for cards and for round summaries.

use std::path::PathBuf;

use clap::Args;

use crate::contract::view::{Look, Verb};

use super::contract::{self, Deck, Inputs, Run};
use super::{CommandResult, World, round};

/// Verify the citations of a card, of all cards, or of the cards that a round summary names
///
/// A card that verifies is passed in silence; of a round summary every card has a line. Exit
/// status 0: all verified. 1: something is not. 2: usage, or a round summary without its section.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  kb verify cards/tls/versions.md --source-matrix out/source_matrix.json\n  kb verify --round-summary round-7.md --source-matrix out/source_matrix.json\n  kb verify --all"
)]
#[command(group(clap::ArgGroup::new("what").required(true).args(["card", "round_summary", "all"])))]
pub struct Arguments {
    /// The card
    card: Option<PathBuf>,
    /// A Markdown report with a section `## Knowledge Consulted`
    #[arg(long, value_name = "FILE")]
    round_summary: Option<PathBuf>,
    /// All cards below the cards folder
    #[arg(long)]
    all: bool,
    /// The cards folder of --all [default: the project's cards, or `cards`]
    #[arg(long, value_name = "DIR")]
    cards_dir: Option<PathBuf>,
    /// A retracted card is a warning
    #[arg(long)]
    allow_retracted: bool,
    /// Accept small edits outside protected words, as `fuzzy`
    #[arg(long)]
    fuzzy: bool,
    /// Look at the quotes of a card whose stored hash is stale
    #[arg(long, alias = "skip-lint")]
    unsafe_skip_lint: bool,
    /// A round summary may name cards outside the project
    #[arg(long)]
    allow_outside: bool,
    /// No cards are a success
    #[arg(long)]
    allow_empty: bool,
    #[command(flatten)]
    inputs: Inputs,
}

/// Runs the command.
pub fn run(world: &World, arguments: &Arguments) -> CommandResult {
    let mut run = Run {
        look: Look {
            verb: Verb::Verify,
            skip_lint: arguments.unsafe_skip_lint,
            fuzzy: arguments.fuzzy,
        },
        orphans: false,
        allow_retracted: arguments.allow_retracted,
        allow_empty: arguments.allow_empty,
    };
    if let Some(summary) = &arguments.round_summary {
        // Layer 1 always runs for a round summary.
        run.look.skip_lint = false;
        return round::run(
            world,
            &arguments.inputs,
            summary,
            arguments.allow_outside,
            &run,
        );
    }
    let deck = match &arguments.card {
        Some(card) => Deck::Card(card),
        None => Deck::All(arguments.cards_dir.as_deref()),
    };
    contract::run(world, &arguments.inputs, deck, &run)
}
