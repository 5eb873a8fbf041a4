//! `kb coverage`: which passages are cited by whom, and which are not.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use crate::render::visible;
use crate::session::Session;
use crate::session::coverage::{CardCoverage, ChunkCoverage, Coverage, Place, SourceCoverage};

use super::{CommandResult, Failure, Outcome, World, counted};

/// List which passages of the sources are cited by whom, and which are not
///
/// Only citations that verify count. For the cards it lists the sentences of the body that share no
/// number and no longer word with any verified quote of the card; that is a hint for readers, not a
/// finding. `lcov` has the lines of text sources; a PDF has none and is left out of it.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  kb coverage\n  kb coverage handbook --format json\n  kb coverage --format lcov > sources.info"
)]
pub struct Arguments {
    /// Ids or paths of sources; all when none is given
    sources: Vec<String>,
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
    /// One JSON object per source and per card, then the totals
    Json,
    /// lcov tracefile: lines of sources, counted by the citations that quote them
    Lcov,
}

/// Runs the command.
pub fn run(world: &World, arguments: &Arguments) -> CommandResult {
    let mut session = Session::open(world.project()?, world.options());
    super::note_repairs(&session);
    let only = if arguments.sources.is_empty() {
        None
    } else {
        let named = arguments
            .sources
            .iter()
            .map(|name| session.source_named(name));
        Some(named.collect::<Result<BTreeSet<_>, _>>().map_err(Failure)?)
    };
    let coverage = session.coverage(only.as_ref());
    session.record();
    let text = match arguments.format {
        _ if arguments.json => to_json(&coverage),
        FormatName::Full => to_words(&coverage),
        FormatName::Json => to_json(&coverage),
        FormatName::Lcov => to_lcov(&coverage),
    };
    if !text.is_empty() {
        super::write_out(text.trim_end())?;
    }
    session.leave();
    Ok(Outcome::Fine)
}

/// Chunks, and those of them that somebody cites.
fn counts(source: &SourceCoverage) -> (usize, usize) {
    let chunks = source.chunks.as_deref().unwrap_or_default();
    let cited = chunks.iter().filter(|chunk| !chunk.quoted_by.is_empty());
    (chunks.len(), cited.count())
}

/// Whole percent, rounded down, so that only all of it is 100.
fn percent((all, part): (u64, u64)) -> u64 {
    (part.saturating_mul(100)).checked_div(all).unwrap_or(0)
}

fn in_words(place: &Place) -> String {
    let (noun, first, last) = match place {
        Place::Lines(first, last) => ("line", first, last),
        Place::Pages(first, last) => ("page", first, last),
    };
    if first == last {
        format!("{noun} {first}")
    } else {
        format!("{noun}s {first} to {last}")
    }
}

fn to_words(coverage: &Coverage) -> String {
    let mut text = String::new();
    for source in &coverage.sources {
        let _ = write!(text, "{} ({}): ", visible::line(&source.path), source.id);
        let chunks = match &source.chunks {
            Ok(chunks) => chunks,
            Err(reason) => {
                let _ = writeln!(text, "gives no text: {}", visible::line(reason));
                continue;
            }
        };
        let (all, cited) = counts(source);
        let _ = writeln!(
            text,
            "{cited} of {} cited, {} % of the text quoted",
            counted(all, "chunk"),
            percent(source.bytes)
        );
        for chunk in chunks {
            words_of_chunk(&mut text, chunk);
        }
    }
    for card in &coverage.cards {
        let near = card.sentences - card.bare.len();
        let _ = writeln!(
            text,
            "{}: {near} of {} near a quote",
            visible::line(&card.path),
            counted(card.sentences, "sentence")
        );
        for (line, sentence) in &card.bare {
            let _ = writeln!(text, "  line {line}: {}", visible::line(sentence));
        }
    }
    let totals = Totals::of(coverage);
    let _ = writeln!(
        text,
        "{}: {} of {} cited, {} % of the text quoted; {} of {} of the cards near no quote",
        counted(coverage.sources.len(), "source"),
        totals.cited,
        counted(totals.chunks, "chunk"),
        percent(totals.bytes),
        totals.bare,
        counted(totals.sentences, "sentence"),
    );
    text
}

fn words_of_chunk(text: &mut String, chunk: &ChunkCoverage) {
    let head = format!("  {}  {}", chunk.chunk_id, in_words(&chunk.place));
    if chunk.quoted_by.is_empty() {
        let _ = writeln!(
            text,
            "{head}  not cited: {}",
            visible::line(&chunk.beginning)
        );
        return;
    }
    let _ = writeln!(text, "{head}");
    for quoted in &chunk.quoted_by {
        let places: Vec<String> = quoted
            .spans
            .iter()
            .map(|(_, place)| in_words(place))
            .collect();
        let _ = writeln!(
            text,
            "    {}  citations[{}]  {}",
            visible::line(&quoted.card),
            quoted.index,
            places.join(", ")
        );
    }
}

struct Totals {
    chunks: usize,
    cited: usize,
    bytes: (u64, u64),
    sentences: usize,
    bare: usize,
}

impl Totals {
    fn of(coverage: &Coverage) -> Self {
        let mut totals = Totals {
            chunks: 0,
            cited: 0,
            bytes: (0, 0),
            sentences: 0,
            bare: 0,
        };
        for source in &coverage.sources {
            let (chunks, cited) = counts(source);
            totals.chunks += chunks;
            totals.cited += cited;
            totals.bytes.0 += source.bytes.0;
            totals.bytes.1 += source.bytes.1;
        }
        for card in &coverage.cards {
            totals.sentences += card.sentences;
            totals.bare += card.bare.len();
        }
        totals
    }
}

fn place_to_json(value: &mut Value, place: &Place) {
    match place {
        Place::Lines(first, last) => value["lines"] = json!([first, last]),
        Place::Pages(first, last) => value["pages"] = json!([first, last]),
    }
}

fn source_to_json(source: &SourceCoverage) -> Value {
    let (all, cited) = counts(source);
    let mut value = json!({
        "source_id": source.id, "path": source.path, "chunk_count": all, "cited_chunks": cited,
        "bytes": source.bytes.0, "quoted_bytes": source.bytes.1,
    });
    match &source.chunks {
        Ok(chunks) => value["chunks"] = chunks.iter().map(chunk_to_json).collect(),
        Err(reason) => {
            value["chunks"] = json!([]);
            value["reason"] = json!(reason);
        }
    }
    value
}

fn chunk_to_json(chunk: &ChunkCoverage) -> Value {
    let mut value = json!({
        "chunk_id": chunk.chunk_id, "start": chunk.range.start, "end": chunk.range.end,
        "cited": !chunk.quoted_by.is_empty(),
    });
    place_to_json(&mut value, &chunk.place);
    value["cited_by"] = chunk
        .quoted_by
        .iter()
        .map(|quoted| {
            let spans: Vec<Value> = quoted
                .spans
                .iter()
                .map(|(range, place)| {
                    let mut span = json!({ "start": range.start, "end": range.end });
                    place_to_json(&mut span, place);
                    span
                })
                .collect();
            json!({
                "card": quoted.card, "citation": quoted.index, "class": quoted.class,
                "spans": spans,
            })
        })
        .collect();
    value
}

fn card_to_json(card: &CardCoverage) -> Value {
    let bare: Vec<Value> = card
        .bare
        .iter()
        .map(|(line, text)| json!({ "line": line, "text": text }))
        .collect();
    json!({ "card": card.path, "sentences": card.sentences, "without_citation": bare })
}

fn to_json(coverage: &Coverage) -> String {
    let mut text = String::new();
    let lines = coverage
        .sources
        .iter()
        .map(source_to_json)
        .chain(coverage.cards.iter().map(card_to_json));
    for line in lines {
        text.push_str(&line.to_string());
        text.push('\n');
    }
    let totals = Totals::of(coverage);
    let last = json!({ "coverage": {
        "sources": coverage.sources.len(), "chunks": totals.chunks, "cited_chunks": totals.cited,
        "bytes": totals.bytes.0, "quoted_bytes": totals.bytes.1,
        "cards": coverage.cards.len(), "sentences": totals.sentences,
        "without_citation": totals.bare,
    }});
    text.push_str(&last.to_string());
    text
}

fn to_lcov(coverage: &Coverage) -> String {
    let mut text = String::new();
    for source in &coverage.sources {
        if source.lines.is_empty() {
            continue;
        }
        // A line break in a path would begin another record.
        let _ = writeln!(text, "TN:\nSF:{}", visible::line(&source.path));
        for (line, count) in &source.lines {
            let _ = writeln!(text, "DA:{line},{count}");
        }
        let hit = source.lines.values().filter(|count| **count > 0).count();
        let _ = writeln!(text, "LF:{}\nLH:{hit}\nend_of_record", source.lines.len());
    }
    text
}
