//! `kb explain`: what a code means and how to fix it.

use clap::{Args, ValueEnum};

use kbc_queries::diagnostic::registry;

use crate::render::explain;

use super::{CommandResult, Failure, Outcome};

/// Explain a diagnostic code, with an example and how to fix it
#[derive(Args)]
#[command(after_help = "Examples:\n  kb explain CACG-VERIFY-001\n  kb explain hash-001\n  kb explain          (lists all codes)")]
pub struct Arguments {
    /// The code, full or short; all codes when none is given
    code: Option<String>,
    /// How to print it
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Markdown,
    Json,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> CommandResult {
    let format = if arguments.json { Format::Json } else { arguments.format };
    let text = match (&arguments.code, format) {
        (None, Format::Text) => explain::list(),
        (None, Format::Markdown) => {
            registry::all().iter().map(explain::markdown).collect::<Vec<_>>().join("\n")
        }
        (None, Format::Json) => registry::all()
            .iter()
            .map(|entry| explain::json(entry).to_string())
            .collect::<Vec<_>>()
            .join("\n"),
        (Some(code), format) => {
            let entry =
                registry::find(code).ok_or_else(|| Failure(explain::unknown(code)))?;
            match format {
                Format::Text => explain::text(entry),
                Format::Markdown => explain::markdown(entry),
                Format::Json => explain::json(entry).to_string(),
            }
        }
    };
    super::write_out(text.trim_end())?;
    Ok(Outcome::Fine)
}
