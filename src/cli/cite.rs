//! `kb cite`: a ready citation for words that stand in a source.

use std::path::PathBuf;

use clap::Args;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::render::json_line;
use crate::session::{Cited, Session};

use super::{CommandResult, Failure, Outcome, World};

/// Print a ready citation for words that stand in a source
///
/// Exit status 0: the words stand there, in one place. 1: they do not, or in several.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  kb cite handbook \"the exact words\"\n  kb cite handbook \"the exact words\" --json\n  kb cite --batch wanted.jsonl      # lines of {\"source\": \"handbook\", \"quote\": \"…\"}"
)]
pub struct Arguments {
    /// The source's id or path
    #[arg(required_unless_present = "batch", conflicts_with = "batch")]
    source: Option<String>,
    /// The words
    #[arg(
        required_unless_present = "batch",
        conflicts_with = "batch",
        allow_hyphen_values = true
    )]
    quote: Option<String>,
    /// Print JSON instead of YAML for a card's frontmatter
    #[arg(long)]
    json: bool,
    /// One JSON object per line of this file; - for stdin
    #[arg(long, value_name = "FILE")]
    batch: Option<PathBuf>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    #[serde(default)]
    id: Value,
    source: String,
    quote: String,
}

/// Runs the command.
pub fn run(world: &World, arguments: &Arguments) -> CommandResult {
    let mut session = Session::look_only(world.project()?, world.options());
    super::note_repairs(&session);
    if let Some(progress) = &session.options().progress {
        progress.finish();
    }
    if let Some(batch) = &arguments.batch {
        return run_batch(world, &mut session, batch);
    }
    let (Some(source), Some(quote)) = (&arguments.source, &arguments.quote) else {
        return Err(Failure("give a source and a quote, or --batch".to_owned()));
    };
    let id = session.source_named(source).map_err(Failure)?;
    match session.cite(&id, quote) {
        Ok(cited) if arguments.json => super::write_out(&json_line(&to_json(&cited)))?,
        Ok(cited) => super::write_out(&to_yaml(&cited))?,
        Err(reason) => {
            super::note(&reason);
            session.record();
            return Ok(Outcome::Findings);
        }
    }
    session.record();
    Ok(Outcome::Fine)
}

fn run_batch(world: &World, session: &mut Session, batch: &std::path::Path) -> CommandResult {
    let text = world.text_of(batch)?;
    let mut all = true;
    let mut answers = String::new();
    for (number, line) in text
        .trim_start_matches('\u{feff}')
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
    {
        let wanted: Wanted = serde_json::from_str(line).map_err(|error| {
            Failure(format!("{}, line {}: {error}", batch.display(), number + 1))
        })?;
        let cited = session
            .source_named(&wanted.source)
            .and_then(|id| session.cite(&id, &wanted.quote));
        let mut answer = match cited {
            Ok(cited) => to_json(&cited),
            Err(reason) => {
                all = false;
                json!({ "error": reason })
            }
        };
        answer["id"] = wanted.id;
        answers.push_str(&json_line(&answer));
        answers.push('\n');
    }
    super::write_out(answers.trim_end())?;
    session.record();
    Ok(if all {
        Outcome::Fine
    } else {
        Outcome::Findings
    })
}

fn to_json(cited: &Cited) -> Value {
    json!({
        "source_id": cited.source_id,
        "chunk_id": cited.chunk_id,
        "chunk_hash": cited.chunk_hash,
        "page_range": [cited.pages.0, cited.pages.1],
        "quote": cited.quote,
    })
}

/// A text as a double-quoted YAML scalar. JSON's escapes are YAML's too, but YAML wants more escaped:
/// characters that do not print.
fn yaml_string(text: &str) -> String {
    let json = kbc_queries::commit::canonical::to_string(&Value::String(text.to_owned()));
    let mut yaml = String::with_capacity(json.len());
    for c in json.chars() {
        let unprintable = c.is_control()
            || crate::render::visible::is_hazard(c)
            || matches!(
                c,
                '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}'
            );
        if !unprintable {
            yaml.push(c);
        } else if u32::from(c) <= 0xffff {
            yaml.push_str(&format!("\\u{:04x}", u32::from(c)));
        } else {
            yaml.push_str(&format!("\\U{:08x}", u32::from(c)));
        }
    }
    yaml
}

fn to_yaml(cited: &Cited) -> String {
    let quoted = yaml_string;
    format!(
        "  - source_id: {}\n    chunk_id: {}\n    chunk_hash: {}\n    page_range: [{}, {}]\n    quote: {}",
        quoted(&cited.source_id),
        quoted(&cited.chunk_id),
        quoted(&cited.chunk_hash),
        cited.pages.0,
        cited.pages.1,
        quoted(&cited.quote)
    )
}
