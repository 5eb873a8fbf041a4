//! `kb clean`: forget derived state.

use std::fs;

use clap::Args;

use super::{CommandResult, Failure, Outcome, World};

/// Delete the derived state in .kb/; costs time on the next run, never a result
#[derive(Args)]
#[command(after_help = "Example:\n  kb clean")]
pub struct Arguments {}

/// Runs the command.
pub fn run(world: &World, _arguments: &Arguments) -> CommandResult {
    let project = world.project_as_it_is()?;
    let directory = crate::cache::directory(&project.root);
    if !directory.exists() {
        super::say("nothing to clean")?;
        return Ok(Outcome::Fine);
    }
    // Somebody may be building; what they hold is not torn from under them.
    let lock = crate::publish::Lock::take(&project.root, || {
        super::note("waiting for another kb in this project");
    })
    .map_err(|error| Failure(format!("cannot lock .kb/: {error}")))?;
    let result = fs::remove_dir_all(&directory);
    drop(lock);
    result.map_err(|error| Failure(format!("cannot delete .kb/: {error}")))?;
    super::say("deleted .kb/")?;
    Ok(Outcome::Fine)
}
