//! `kb completions` and the man pages, generated from the command line's definition.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

use super::{CommandResult, Failure, Outcome, definition};

/// Print a completion script for a shell
#[derive(Args)]
#[command(
    after_help = "Example:\n  kb completions bash > ~/.local/share/bash-completion/completions/kb"
)]
pub struct Arguments {
    /// The shell
    shell: Shell,
}

/// Write man pages into a folder
#[derive(Args)]
pub struct ManArguments {
    /// The folder
    folder: PathBuf,
}

/// Runs `kb completions`.
pub fn run(arguments: &Arguments) -> CommandResult {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut definition(), "kb", &mut script);
    super::write_bytes(&script)?;
    Ok(Outcome::Fine)
}

/// Runs `kb man`.
pub fn man(arguments: &ManArguments) -> CommandResult {
    std::fs::create_dir_all(&arguments.folder)?;
    clap_mangen::generate_to(definition(), &arguments.folder)
        .map_err(|error| Failure(format!("cannot write man pages: {error}")))?;
    Ok(Outcome::Fine)
}
