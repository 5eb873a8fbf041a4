//! `kb matrix explain`: may a reading cite a source, and what says so.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use kbc_queries::diagnostic::registry::AUTH_000;
use kbc_queries::parse::matrix;
use kbc_queries::parse::problem::nearest;
use kbc_queries::parse::settings::{Origin, Profile};
use kbc_queries::text::lines::LineIndex;

use crate::ingest::Refusal;
use crate::ingest::deck;
use crate::workspace::{MATRIX_LIMIT, Project, SETTINGS_FILE};

use super::ingest::{read, refuse};
use super::{CommandResult, Outcome, World, counted};

/// Ask the source matrix
#[derive(Args)]
#[command(after_help = "Example:\n  kb matrix explain reading_01 spec")]
pub struct Arguments {
    #[command(subcommand)]
    command: Question,
}

#[derive(Subcommand)]
enum Question {
    Explain(ExplainArguments),
}

/// Say whether a reading may cite a source, which line says so, and which of its cards do
///
/// The exit status is 0 if it may, 1 if not.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  kb matrix explain reading_01 spec\n  kb matrix explain reading_01 spec --json"
)]
struct ExplainArguments {
    /// The reading
    reading: String,
    /// The source's id
    source: String,
    /// The matrix [default: the project's]
    #[arg(long, value_name = "FILE")]
    source_matrix: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// An answer.
struct Answer {
    allowed: bool,
    /// One sentence.
    why: String,
    /// Where the matrix says so: line and column.
    at: Option<(u32, u32)>,
}

/// Runs the command.
pub fn run(world: &World, arguments: &Arguments) -> CommandResult {
    let Question::Explain(arguments) = &arguments.command;
    let project = world.project()?;
    let (path, shown) = match &arguments.source_matrix {
        Some(given) => (given.clone(), given.display().to_string()),
        None => {
            let default = project.settings.matrix.to_string();
            // Without a kb.toml, the contract's layout has it among the published files.
            let published = format!("{}/source_matrix.json", project.settings.out);
            let elsewhere = project.settings_text.is_none()
                && !project.root.join(&default).exists()
                && project.root.join(&published).exists();
            let name = if elsewhere { published } else { default };
            (project.root.join(&name), name)
        }
    };
    let text = match read(world, &path, MATRIX_LIMIT) {
        Ok(bytes) => bytes,
        Err(failure) => {
            return refuse(&Refusal::new(
                AUTH_000,
                format!(
                    "{shown} cannot be read: {failure}, so no reading may cite anything; `kb scaffold-matrix` writes a first one"
                ),
            ));
        }
    };
    let parsed = match matrix::parse(&text) {
        Ok(parsed) => parsed,
        Err(problems) => {
            let text = String::from_utf8_lossy(&text);
            return refuse(&Refusal::of_problems(AUTH_000, &shown, &text, &problems));
        }
    };
    let text = String::from_utf8_lossy(&text);
    let strict = project.settings.profile == Profile::Strict;
    if let (Some(_), true) = (parsed.duplicates.first(), strict) {
        return refuse(&Refusal::of_problems(
            AUTH_000,
            &shown,
            &text,
            &parsed.duplicates,
        ));
    }
    let answer = answer(&text, &parsed, &arguments.reading, &arguments.source);
    let cards = citing(&project, &arguments.reading, &arguments.source);
    if arguments.json {
        let cards: Vec<_> = cards
            .iter()
            .map(|(path, count)| serde_json::json!({"citations": count, "path": path}))
            .collect();
        let value = serde_json::json!({
            "allowed": answer.allowed, "cards": cards, "column": answer.at.map(|at| at.1),
            "line": answer.at.map(|at| at.0), "matrix": shown, "reading_id": arguments.reading,
            "source_id": arguments.source, "why": answer.why,
        });
        super::write_out(&value.to_string())?;
    } else {
        print(&project, arguments, &shown, &answer, &cards)?;
    }
    Ok(match answer.allowed {
        true => Outcome::Fine,
        false => Outcome::Findings,
    })
}

fn answer(text: &str, parsed: &matrix::Matrix, reading: &str, source: &str) -> Answer {
    let place = matrix::locate(text, reading, source);
    let lines = LineIndex::new(text);
    let at = |range: Option<std::ops::Range<usize>>| {
        range.map(|range| lines.position(text, range.start))
    };
    match parsed.allowed(reading) {
        None => {
            let hint = nearest(reading, parsed.readings().map(|(name, _)| name))
                .map_or(String::new(), |near| format!("; did you mean `{near}`?"));
            Answer {
                allowed: false,
                why: format!("the matrix has no reading `{reading}`{hint}"),
                at: None,
            }
        }
        Some(sources) if sources.iter().any(|id| id == source) => Answer {
            allowed: true,
            why: format!("the matrix lists `{source}` for the reading `{reading}`"),
            at: at(place.source),
        },
        Some(sources) => {
            let hint = nearest(source, sources.iter().map(String::as_str))
                .map_or(String::new(), |near| format!("; did you mean `{near}`?"));
            Answer {
                allowed: false,
                why: format!(
                    "`{source}` is not among the {} of the reading `{reading}`{hint}",
                    counted(sources.len(), "source")
                ),
                at: at(place.reading),
            }
        }
    }
}

fn print(
    project: &Project,
    arguments: &ExplainArguments,
    shown: &str,
    answer: &Answer,
    cards: &[(String, usize)],
) -> Result<(), super::Failure> {
    let verdict = match answer.allowed {
        true => "allowed",
        false => "not allowed",
    };
    let place = match answer.at {
        Some((line, column)) => format!("{shown}:{line}:{column}"),
        None => shown.to_owned(),
    };
    let mut lines = vec![
        format!("{verdict}: {}", answer.why),
        format!("  at {place}"),
    ];
    if arguments.source_matrix.is_none() {
        lines.push(match project.origins.of("matrix") {
            Origin::Line(line) => {
                format!("  the matrix is named by `matrix` in {SETTINGS_FILE}:{line}")
            }
            Origin::Default => format!(
                "  the matrix is the default one; `matrix` in {SETTINGS_FILE} names another"
            ),
        });
    }
    let (reading, source) = (&arguments.reading, &arguments.source);
    lines.push(match cards.len() {
        0 => format!("no card of `{reading}` cites `{source}`"),
        count => format!(
            "{} of `{reading}` {} `{source}`:",
            counted(count, "card"),
            if count == 1 { "cites" } else { "cite" }
        ),
    });
    for (path, count) in cards {
        lines.push(format!("  {path}  ({})", counted(*count, "citation")));
    }
    super::write_out(&lines.join("\n"))
}

/// The cards of a reading that cite a source, by path, and how often each does.
fn citing(project: &Project, reading: &str, source: &str) -> Vec<(String, usize)> {
    deck::of_project(project)
        .iter()
        .filter_map(|path| {
            let card = deck::read(project, path).ok()?;
            if card.reading.as_deref() != Some(reading) {
                return None;
            }
            let count = card
                .parsed
                .citations
                .iter()
                .filter(|citation| {
                    let id = citation.source_id.as_ref();
                    id.is_some_and(|id| *id.value == *source)
                })
                .count();
            (count > 0).then_some((card.path, count))
        })
        .collect()
}
