//! `kb root`: what the corpus and its documents commit to.

use std::fmt::Write as _;

use clap::Args;

use crate::publish::set;
use crate::render::{json_line, visible};
use crate::session::Session;

use super::{CommandResult, Failure, Outcome, World};

/// Print the Merkle commitment of the corpus, or of one source
#[derive(Args)]
#[command(after_help = "Examples:\n  kb root\n  kb root handbook\n  kb root --json")]
pub struct Arguments {
    /// A source's id or path
    source: Option<String>,
    /// One JSON object per line
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(world: &World, arguments: &Arguments) -> CommandResult {
    let project = world.project()?;
    let mut session = Session::look_only(project, world.options());
    let only = match &arguments.source {
        None => None,
        Some(name) => Some(session.source_named(name).map_err(Failure)?),
    };
    let commitments = session.commitments(only.as_deref());
    session.record();
    super::note_repairs(&session);
    if let Some(progress) = &session.options().progress {
        progress.finish();
    }
    if let Some(id) = &only
        && commitments.is_empty()
    {
        return Err(Failure(format!(
            "the source `{id}` gives no chunks, so it commits to nothing; `kb check` says why"
        )));
    }
    let mut text = String::new();
    for (id, commitment) in &commitments {
        let path = session.path_of(id).unwrap_or_default();
        if arguments.json {
            let line = serde_json::json!({
                "source_id": id, "path": path, "leaf_count": commitment.leaf_count,
                "root": commitment.root, "commitment": commitment.commitment,
            });
            let _ = writeln!(text, "{}", json_line(&line));
        } else {
            let _ = writeln!(
                text,
                "{}  {}  {}  {}",
                commitment.commitment,
                visible::line(id),
                super::counted(commitment.leaf_count, "chunk"),
                visible::line(path)
            );
        }
    }
    if only.is_none() {
        let corpus = set::corpus(commitments.iter().map(|(id, c)| (&**id, c.commitment)));
        if arguments.json {
            let line = serde_json::json!({ "corpus": corpus });
            let _ = writeln!(text, "{}", json_line(&line));
        } else {
            let _ = writeln!(
                text,
                "{}  corpus of {}",
                corpus.commitment,
                super::counted(corpus.leaf_count, "source")
            );
        }
    }
    super::write_out(text.trim_end())?;
    Ok(Outcome::Fine)
}
