//! `kb config`: the settings in force and where each comes from.

use std::fmt::Write as _;

use clap::Args;

use kbc_queries::parse::settings::{self, Origin};

use crate::render::{Format, json_line, visible};
use crate::session::{Options, Report, Session};

use super::{CommandResult, Failure, Outcome, World};

/// Print the settings in force and where each comes from
#[derive(Args)]
#[command(
    after_help = "Examples:\n  kb config\n  kb config --json\n  kb config --schema > kb.schema.json"
)]
pub struct Arguments {
    /// Print a JSON Schema of kb.toml
    #[arg(long, conflicts_with = "json")]
    schema: bool,
    /// Print one JSON object per setting
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(world: &World, arguments: &Arguments) -> CommandResult {
    if arguments.schema {
        super::write_out(&format!("{:#}", settings::json_schema()))?;
        return Ok(Outcome::Fine);
    }
    let project = world.project_as_it_is()?;
    let entries = project.settings.entries(&project.origins);
    let mut text = String::new();
    if arguments.json {
        for entry in &entries {
            let origin = match entry.origin {
                Origin::Default => serde_json::json!({ "kind": "default" }),
                Origin::Line(line) => {
                    serde_json::json!({ "kind": "file", "file": "kb.toml", "line": line })
                }
            };
            let line =
                serde_json::json!({ "key": entry.key, "value": entry.value, "origin": origin });
            let _ = writeln!(text, "{}", json_line(&line));
        }
    } else {
        let root = project.root.display().to_string();
        let _ = writeln!(text, "# project: {}", visible::line(&root));
        let width = entries
            .iter()
            .map(|e| e.key.len() + e.value.len() + 3)
            .filter(|w| *w < 64)
            .max();
        for entry in &entries {
            let origin = match entry.origin {
                Origin::Default => "default".to_owned(),
                Origin::Line(line) => format!("kb.toml:{line}"),
            };
            let setting = format!("{} = {}", entry.key, entry.value);
            let setting = visible::line(&setting);
            let _ = writeln!(text, "{setting:<0$}  # {origin}", width.unwrap_or(0));
        }
    }
    super::write_out(text.trim_end())?;
    if project.diagnostics.is_empty() {
        return Ok(Outcome::Fine);
    }
    let report = Report {
        diagnostics: project.diagnostics.clone(),
        ..Report::default()
    };
    let misconfigured = project.is_misconfigured();
    let session = Session::look_only(
        project,
        Options {
            no_cache: true,
            ..Options::default()
        },
    );
    super::output::print_findings(world, &session, &report, Format::Full)?;
    if misconfigured {
        return Err(Failure("kb.toml has errors".to_owned()));
    }
    Ok(Outcome::Fine)
}
