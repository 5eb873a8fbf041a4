//! `kb show`: one card, without its body.

use std::path::PathBuf;

use clap::Args;

use kbc_queries::diagnostic::registry;
use kbc_queries::parse::manifest::read_cards;

use crate::deck::place::CARDS;
use crate::deck::show::{Request, check_path, show};
use crate::deck::{Place, Refusal};
use crate::publish;
use crate::workspace::door;

use super::index::refuse;
use super::search::require_matrix;
use super::{CommandResult, Outcome, World};

/// Show a card of the cards manifest: title, summary, hash and citations
///
/// A card that the source matrix does not authorise is not shown, and a retracted one, or one that
/// depends on something retracted, only with --allow-retracted.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  kb show tree-hashing --source-matrix source_matrix.json\n  kb show tree-hashing --source-matrix source_matrix.json --allow-retracted"
)]
pub struct Arguments {
    /// The card's id
    card_id: String,
    /// Show it although it was retracted
    #[arg(long)]
    allow_retracted: bool,
    /// The cards manifest [default: out/cards_manifest.json]
    #[arg(long, value_name = "PATH")]
    cards_manifest: Option<PathBuf>,
    /// The card's file, instead of the one that the manifest names; below the current folder
    #[arg(long, value_name = "PATH")]
    path: Option<String>,
    /// The matrix that says which reading may cite which source [default: the project's]
    #[arg(long, value_name = "PATH")]
    source_matrix: Option<PathBuf>,
}

/// Runs the command.
pub fn run(world: &World, arguments: &Arguments) -> CommandResult {
    let project = world.project()?;
    let place = Place::beside(
        &project,
        &world.current,
        arguments.cards_manifest.as_deref(),
    );
    require_matrix(&place, arguments.source_matrix.as_deref())?;
    match run_in(world, &place, arguments) {
        Ok(()) => Ok(Outcome::Fine),
        Err(refusal) => refuse(&[refusal]),
    }
}

fn run_in(world: &World, place: &Place, arguments: &Arguments) -> Result<(), Refusal> {
    if let Some(path) = &arguments.path {
        check_path(path)?;
    }
    let (path, shown) = match &arguments.cards_manifest {
        Some(given) => (world.current.join(given), given.display().to_string()),
        None => (publish::current(&place.out, CARDS), place.shown(CARDS)),
    };
    let bytes = door::read(&path, publish::LIMIT).map_err(|failure| {
        let message =
            format!("the cards manifest {shown} cannot be read (`kb index` makes it): {failure}");
        Refusal::new(registry::MAN_001, message)
    })?;
    let manifest = read_cards(&bytes).map_err(|problem| Refusal::of_manifest(&shown, &problem))?;
    let matrix = place.matrix(arguments.source_matrix.as_deref())?;
    let request = Request {
        id: &arguments.card_id,
        allow_retracted: arguments.allow_retracted,
        path: arguments.path.as_deref(),
    };
    let found = show(place, &manifest, &matrix, &request, &shown)?;
    for note in &found.notes {
        super::to_stderr(note);
    }
    super::write_out(found.view.strip_suffix('\n').unwrap_or(&found.view))
        .map_err(|failure| Refusal::new(registry::CLI_001, failure.0))
}
