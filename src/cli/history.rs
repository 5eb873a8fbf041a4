//! `kb history`: the versions of a card.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde_json::json;

use kbc_queries::CARD_LIMIT;
use kbc_queries::commit::hash::Digest;
use kbc_queries::parse::card;
use kbc_queries::record::Kind;
use kbc_queries::record::chain::{Chained, Link, seal};
use kbc_queries::record::head::Head;
use kbc_queries::record::history::{HistoryEvent, RETRACTED, UNRETRACTED};

use crate::record::RecordError;
use crate::record::Trouble;
use crate::record::history::{History, card_path};
use crate::record::paths::recorded;
use crate::render::visible;
use crate::workspace::door;

use super::{CommandResult, Outcome, World, counted};

/// Print the history of a card: what each version changed
///
/// The history lies beside the card, as NAME.history.jsonl. Every event is hashed anew; where the
/// chain breaks, the first bad line is named and the exit status is 1.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  kb history cards/reading_01/first.md\n  kb history cards/reading_01/first.md --validate\n  kb history cards/reading_01/first.md --format json"
)]
pub struct Arguments {
    /// The card's file
    card: PathBuf,
    /// Say also what the chain is worth: its head, and whether the card is that of its last event
    #[arg(long)]
    validate: bool,
    /// A head that was kept elsewhere: the history has to be its events, or those and later ones
    #[arg(long, value_name = "HEAD", value_parser = history_head)]
    head: Option<Head>,
    /// How to print it
    #[arg(long, value_name = "FORMAT", default_value = "full")]
    format: FormatName,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FormatName {
    /// For people
    Full,
    /// The events, one JSON object per line
    Json,
}

fn history_head(text: &str) -> Result<Head, String> {
    super::journal::head_of(text, Kind::History)
}

/// Runs the command.
pub fn run(world: &World, arguments: &Arguments) -> CommandResult {
    let project = world.project()?;
    let as_json = arguments.json || arguments.format == FormatName::Json;
    let path = world.current.join(&arguments.card);
    let shown = recorded(&path, &project.root, &world.current);
    let history = History::of_card(&path, &shown);
    let mut events: Vec<Chained<HistoryEvent>> = Vec::new();
    let mut read = history.read(|event| events.push(event));
    if let (Ok(_), Some(asked)) = (&read, &arguments.head) {
        // Only somebody who knows a head can tell that the end of a history is gone.
        if let Some(trouble) = missing(asked, &events) {
            read = Err(RecordError {
                kind: Kind::History,
                file: history.shown().into(),
                trouble,
            });
        }
    }
    let card = card_path(&path);
    if events.is_empty() && read.is_ok() && !card.is_file() {
        super::write_out(&format!(
            "CACG-CLI-001: file not found: {}",
            visible::line(&shown)
        ))?;
        return Ok(Outcome::Findings);
    }
    let mut lines: Vec<String> = events.iter().map(|event| line(event, as_json)).collect();
    let last = events.last();
    if read.is_ok() {
        if events.is_empty() && !as_json {
            lines.push(format!(
                "{} has no history; `kb index` begins one",
                visible::line(&shown)
            ));
        }
        if arguments.validate || arguments.head.is_some() {
            lines.push(verdict(&card, last, as_json));
        }
    }
    if !lines.is_empty() {
        super::write_out(&lines.join("\n"))?;
    }
    match read {
        Ok(_) => Ok(Outcome::Fine),
        Err(error) => super::journal::report(&error, as_json),
    }
}

fn missing(asked: &Head, events: &[Chained<HistoryEvent>]) -> Option<Trouble> {
    if *asked == History::head(None) {
        return None;
    }
    let link = asked
        .events
        .checked_sub(1)
        .and_then(|seq| usize::try_from(seq).ok())
        .and_then(|seq| events.get(seq))
        .map(|event| event.link);
    match link {
        Some(link) if History::head(Some(link)) == *asked => None,
        Some(_) => Some(Trouble::Rewritten { head: *asked }),
        None if events.is_empty() => Some(Trouble::Missing { head: *asked }),
        None => Some(Trouble::Truncated {
            head: *asked,
            found: events.len() as u64,
        }),
    }
}

/// An event as a line: as it stands in the file, or in words.
fn line(event: &Chained<HistoryEvent>, as_json: bool) -> String {
    if as_json {
        in_file(event)
    } else {
        in_words(event)
    }
}

fn in_file(event: &Chained<HistoryEvent>) -> String {
    let before = event
        .link
        .seq
        .checked_sub(1)
        .zip(event.prev_checksum)
        .map(|(seq, checksum)| Link { seq, checksum });
    let mut bytes = Vec::new();
    // It was read, so it can be written.
    let _ = seal(&mut bytes, &event.event, before);
    String::from_utf8_lossy(&bytes).trim_end().to_owned()
}

fn in_words(event: &Chained<HistoryEvent>) -> String {
    let Chained { link, event, .. } = event;
    let changes: Vec<&str> = event
        .frontmatter_field_changes
        .iter()
        .map(String::as_str)
        .collect();
    let mut said = match changes.as_slice() {
        [RETRACTED] => "retracted".to_owned(),
        [UNRETRACTED] => "retraction taken back".to_owned(),
        _ if link.seq == 0 => "first event".to_owned(),
        [] => "the body changed".to_owned(),
        changes => format!("changed {}", changes.join(", ")),
    };
    if event.is_retracted && changes != [RETRACTED] {
        said.push_str(", still retracted");
    }
    let delta = &event.cited_chunk_set_delta;
    let cites: Vec<String> = delta
        .added
        .iter()
        .map(|id| format!("+{id}"))
        .chain(delta.removed.iter().map(|id| format!("-{id}")))
        .collect();
    if !cites.is_empty() {
        said.push_str("; cites ");
        said.push_str(&cites.join(" "));
    }
    let hash = event.new_card_hash.to_string();
    format!(
        "{:>3}  {}  {}…  {}",
        link.seq,
        visible::line(&event.timestamp),
        hash.get(..12).unwrap_or_default(),
        visible::line(&said)
    )
}

/// What a sound chain is worth.
fn verdict(card: &Path, last: Option<&Chained<HistoryEvent>>, as_json: bool) -> String {
    let head = History::head(last.map(|event| event.link));
    let current = hash_of(card);
    let same = match (current, last) {
        (Some(current), Some(last)) => Some(current == last.event.new_card_hash),
        _ => None,
    };
    let retracted = last.is_some_and(|last| last.event.is_retracted);
    if as_json {
        return json!({
            "ok": true,
            "events": head.events,
            "head": head,
            "retracted": retracted,
            "card_is_last_event": same,
        })
        .to_string();
    }
    let state = match same {
        Some(true) => "the card is that of the last event",
        Some(false) => {
            "the card is another than that of the last event: it was changed since, or the end of the history is gone"
        }
        None => "there is no sound card to compare with the last event",
    };
    format!(
        "ok: {}{}\nhead: {head}\n{state}",
        counted(head.events, "event"),
        if retracted { ", retracted" } else { "" },
    )
}

fn hash_of(card: &Path) -> Option<Digest> {
    let text = String::from_utf8(door::read(card, CARD_LIMIT).ok()?).ok()?;
    card::parse(&text).card_hash(&text)
}
