//! `kb verify --round-summary`: the cards that a report of an agent's work rests on.

use std::io::{self, Write};
use std::path::Path;

use kbc_queries::diagnostic::{Severity, registry};
use kbc_queries::round::{Judgement, parse};

use crate::contract::round::{Place, Search};
use crate::contract::view::{CardView, Line};
use crate::workspace::door;

use super::contract::{self, Inputs, Run, Visit};
use super::semantic::SemanticArguments;
use super::{CommandResult, Outcome, World};

/// Largest report that is read, in bytes.
const LIMIT: u64 = 16 << 20;

/// What is said of one cited path.
enum Said {
    /// Its card is to be looked at.
    Card(Visit),
    /// There is no such file.
    Missing(Visit),
    /// It is not read.
    Outside,
}

/// What is asked of a round summary.
pub struct Ask<'a> {
    /// The report.
    pub summary: &'a Path,
    /// Cards may lie outside the project.
    pub allow_outside: bool,
    /// Whose opinion is asked for.
    pub semantic: &'a SemanticArguments,
}

/// Runs the command.
pub fn run(world: &World, inputs: &Inputs, ask: &Ask<'_>, run: &Run) -> CommandResult {
    let ground = inputs.ground(world, run)?;
    let summary = ask.summary;
    let at = world.current.join(summary);
    let text = match read(&at) {
        Ok(text) => text,
        Err(reason) => {
            return contract::at_the_door(&Line::error(
                registry::CLI_001,
                format!("the round summary {} {reason}", summary.display()),
            ));
        }
    };
    let round = parse(&text);
    let mut failed = false;
    let mut notes = String::new();
    match round.judgement() {
        Judgement::SectionMissing => {
            let words = "## Knowledge Consulted section missing on KB-relevant work";
            writeln!(io::stderr(), "{}: {words}", registry::RS_001)?;
            return Ok(Outcome::Refused);
        }
        Judgement::NotRelevant => {
            return super::write_out("(no Knowledge Consulted section; round not KB-relevant)")
                .map(|()| Outcome::Fine);
        }
        Judgement::Acknowledged => {
            return super::write_out("N/A acknowledged").map(|()| Outcome::Fine);
        }
        Judgement::Nothing => return Ok(Outcome::Fine),
        Judgement::SentinelOnRelevant => {
            return stale_section(registry::RS_003, "N/A sentinel on KB-relevant work");
        }
        Judgement::EmptyOnRelevant => {
            return stale_section(
                registry::RS_004,
                "empty Knowledge Consulted section on KB-relevant work",
            );
        }
        Judgement::Cards => {}
        Judgement::CardsAndSentinel => {
            failed = true;
            stale_section(registry::RS_002, "N/A sentinel together with cited cards")?;
        }
    }
    let beside = at.parent().unwrap_or(&world.current);
    let root = ground.project.root.clone();
    let mut search = Search::new(beside, &world.current, &root, ask.allow_outside);
    let cited = round
        .section
        .map(|section| section.cited)
        .unwrap_or_default();
    let said: Vec<(String, Said)> = cited
        .iter()
        .map(|cited| {
            let said = match search.place(cited) {
                Place::Found(path) => Said::Card(ground.visit(world, &path)),
                Place::Missing(path) => Said::Missing(ground.visit(world, &path)),
                Place::Outside(_) => Said::Outside,
            };
            (cited.path.clone(), said)
        })
        .collect();
    let visits: Vec<Visit> = said
        .iter()
        .filter_map(|(_, said)| match said {
            Said::Card(visit) => Some(visit.clone()),
            _ => None,
        })
        .collect();
    let opinions = match contract::opinions(world, &ground, Some(ask.semantic))? {
        Ok(opinions) => opinions,
        Err(line) => return contract::at_the_door(&line),
    };
    let seen = ground.look(&visits, run, false, &opinions);
    let mut verified = String::new();
    let mut events: Vec<(&str, CardView)> = Vec::new();
    if let Some(line) = crate::contract::view::broken_cards_manifest(&seen.session) {
        return contract::at_the_door(&line);
    }
    for (path, said) in &said {
        let shown = crate::render::visible::line(path);
        match said {
            Said::Card(visit) => {
                let view = seen.view(visit);
                let passes = view.passes(run.look.verb);
                let rescued = view.rescued();
                let first = view
                    .lines
                    .iter()
                    .find(|line| line.severity == Severity::Error)
                    .map_or(registry::VERIFY_005, |line| line.code);
                events.push((&visit.recorded, view));
                if passes && rescued > 0 {
                    let citations = super::counted(rescued, "citation");
                    verified.push_str(&format!("{shown}: SEMANTIC ({citations} by opinion)\n"));
                    continue;
                }
                if passes {
                    verified.push_str(&format!("{shown}: VERIFIED\n"));
                    continue;
                }
                notes.push_str(&format!("{shown}: STALE (verify failed: {first})\n"));
            }
            Said::Missing(visit) => {
                let message = format!("file not found: {}", visit.recorded);
                let view = CardView::failed(Line::error(registry::CLI_001, message));
                events.push((&visit.recorded, view));
                notes.push_str(&format!("{shown}: MISSING (file not found)\n"));
            }
            Said::Outside => notes.push_str(&format!(
                "{shown}: STALE ({}: outside the project; --allow-outside reads it)\n",
                registry::RS_005
            )),
        }
        failed = true;
    }
    let events: Vec<(&str, &CardView)> = events.iter().map(|(path, view)| (*path, view)).collect();
    failed |= !seen.record(run.look.verb, &events)?;
    io::stderr().write_all(notes.as_bytes())?;
    if !verified.is_empty() {
        super::write_out(verified.trim_end())?;
    }
    seen.session.leave();
    Ok(match failed {
        true => Outcome::Findings,
        false => Outcome::Fine,
    })
}

fn stale_section(code: kbc_queries::diagnostic::Code, words: &str) -> CommandResult {
    writeln!(io::stderr(), "(section): STALE ({code}: {words})")?;
    Ok(Outcome::Findings)
}

fn read(path: &Path) -> Result<String, String> {
    let bytes = door::read(path, LIMIT).map_err(|failure| format!("cannot be read: {failure}"))?;
    String::from_utf8(bytes).map_err(|_| "is not UTF-8 text".to_owned())
}
