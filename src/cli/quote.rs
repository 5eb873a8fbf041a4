//! `kb quote`: does this quote stand in this text? One, or many.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};
use rayon::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

use kbc_queries::parse::document::{self, Document, ExtractOptions, FilePosition, Format};
use kbc_queries::text::quote::{
    Flag, MatchClass, Matcher, Options, Passage, Profile, Quote, Verdict,
};

use crate::render::visible;

use super::{CommandResult, Failure, Outcome, World};

/// Say whether a quote stands in a text, and how
///
/// The text may be Markdown, plain text, HTML, CSV or PDF. Exit status 0: verified. 1: not.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  kb quote notes.md \"the exact words\"\n  kb quote paper.pdf \"the exact words\" --page 3 --explain\n  pbpaste | kb quote - \"the exact words\"\n  kb quote --batch cases.jsonl > verdicts.jsonl\n\nA line of a batch: {\"id\": 1, \"source\": \"some text\", \"quote\": \"some\"}, or `source_path` instead of\n`source`; `prefix`, `suffix` and `page` may be added."
)]
pub struct Arguments {
    /// The text; - for stdin
    #[arg(required_unless_present = "batch", conflicts_with = "batch")]
    text: Option<PathBuf>,
    /// The quote
    #[arg(
        required_unless_present = "batch",
        conflicts_with = "batch",
        allow_hyphen_values = true
    )]
    quote: Option<String>,
    /// Only on this page, from 1
    #[arg(long, value_name = "N")]
    page: Option<u32>,
    /// What stands directly before the quote
    #[arg(long, value_name = "WORDS", allow_hyphen_values = true)]
    prefix: Option<String>,
    /// What stands directly after it
    #[arg(long, value_name = "WORDS", allow_hyphen_values = true)]
    suffix: Option<String>,
    /// Check one JSON object per line of this file; - for stdin
    #[arg(long, value_name = "FILE")]
    batch: Option<PathBuf>,
    /// How strict to be
    #[arg(long, value_name = "PROFILE", default_value = "strict")]
    profile: ProfileName,
    /// Accept small edits outside protected words, as `fuzzy`
    #[arg(long)]
    fuzzy: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Show where it stands, or what is nearest and what differs
    #[arg(long)]
    explain: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ProfileName {
    Strict,
    Cacg,
}

/// One question.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    #[serde(default)]
    id: Value,
    source: Option<String>,
    source_path: Option<PathBuf>,
    quote: String,
    prefix: Option<String>,
    suffix: Option<String>,
    page: Option<u32>,
}

/// Runs the command.
pub fn run(world: &World, arguments: &Arguments) -> CommandResult {
    let options = Options {
        profile: match arguments.profile {
            ProfileName::Strict => Profile::Strict,
            ProfileName::Cacg => Profile::Cacg,
        },
        fuzzy: arguments.fuzzy,
    };
    if let Some(batch) = &arguments.batch {
        return run_batch(world, batch, options);
    }
    let (Some(path), Some(words)) = (&arguments.text, &arguments.quote) else {
        return Err(Failure("give a text and a quote, or --batch".to_owned()));
    };
    let document = read(world, path)?;
    let quote = Quote {
        text: words,
        prefix: arguments.prefix.as_deref(),
        suffix: arguments.suffix.as_deref(),
    };
    let verdict = check(&document, &quote, arguments.page, options).map_err(Failure)?;
    if arguments.json {
        super::write_out(&to_json(&Value::Null, &document, &verdict).to_string())?;
    } else {
        super::write_out(&in_words(&document, &verdict, arguments.explain))?;
    }
    Ok(if verdict.verified() {
        Outcome::Fine
    } else {
        Outcome::Findings
    })
}

fn run_batch(world: &World, batch: &Path, options: Options) -> CommandResult {
    let mut text = String::new();
    if batch.as_os_str() == "-" {
        io::stdin().read_to_string(&mut text)?;
    } else {
        text = std::fs::read_to_string(world.current.join(batch))
            .map_err(|error| Failure(format!("{} cannot be read: {error}", batch.display())))?;
    }
    let lines: Vec<(usize, &str)> = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
        .collect();
    let cases: Vec<Case> = lines
        .iter()
        .map(|(number, line)| {
            serde_json::from_str(line).map_err(|error| {
                Failure(format!("{}, line {}: {error}", batch.display(), number + 1))
            })
        })
        .collect::<Result<_, _>>()?;
    // A file that many lines name is read once.
    let mut paths: Vec<&PathBuf> = cases
        .iter()
        .filter_map(|case| case.source_path.as_ref())
        .collect();
    paths.sort();
    paths.dedup();
    let documents: BTreeMap<&PathBuf, Result<Arc<Document>, String>> = paths
        .par_iter()
        .map(|path| {
            (
                *path,
                read(world, path).map(Arc::new).map_err(|failure| failure.0),
            )
        })
        .collect();
    let answers: Vec<(bool, String)> = cases
        .par_iter()
        .map(|case| answer(case, &documents, options))
        .collect();
    let mut out = io::BufWriter::new(io::stdout().lock());
    for (_, answer) in &answers {
        match writeln!(out, "{answer}") {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => break,
            result => result?,
        }
    }
    out.flush()?;
    let all = answers.iter().all(|(verified, _)| *verified);
    Ok(if all {
        Outcome::Fine
    } else {
        Outcome::Findings
    })
}

fn answer(
    case: &Case,
    documents: &BTreeMap<&PathBuf, Result<Arc<Document>, String>>,
    options: Options,
) -> (bool, String) {
    let unverifiable = |reason: &str| {
        let value = json!({
            "id": case.id, "class": "unverifiable", "verified": false, "foldings": [],
            "spans": [], "found": [], "warnings": [reason],
        });
        (false, value.to_string())
    };
    let document = match (&case.source, &case.source_path) {
        (Some(text), None) => Arc::new(plain(text)),
        (None, Some(path)) => match documents.get(path) {
            Some(Ok(document)) => document.clone(),
            Some(Err(reason)) => return unverifiable(reason),
            None => return unverifiable("the file was not read"),
        },
        _ => return unverifiable("give either `source` or `source_path`"),
    };
    let quote = Quote {
        text: &case.quote,
        prefix: case.prefix.as_deref(),
        suffix: case.suffix.as_deref(),
    };
    match check(&document, &quote, case.page, options) {
        Ok(verdict) => (
            verdict.verified(),
            to_json(&case.id, &document, &verdict).to_string(),
        ),
        Err(reason) => unverifiable(&reason),
    }
}

/// A text that comes without a file: taken as it is.
fn plain(text: &str) -> Document {
    Document::from_text(Format::Text, text, Vec::new())
}

fn read(world: &World, path: &Path) -> Result<Document, Failure> {
    let shown = path.display();
    let mut bytes = Vec::new();
    if path.as_os_str() == "-" {
        io::stdin().read_to_end(&mut bytes)?;
    } else {
        bytes = std::fs::read(world.current.join(path)).map_err(|error| {
            Failure(format!(
                "{shown} cannot be read: {}",
                crate::workspace::disk::failure(&error)
            ))
        })?;
    }
    let name = path.to_string_lossy();
    let format = Format::from_path(&name, &bytes).unwrap_or(Format::Text);
    let mut options = ExtractOptions::new(format);
    options.registry = kbc_queries::parse::document::RegistryOptions::for_path(&name);
    let apart = (format == Format::Pdf)
        .then(std::env::current_exe)
        .and_then(Result::ok);
    let document = apart
        .and_then(|program| crate::workspace::apart::read(&program, &bytes, &options))
        .unwrap_or_else(|| document::extract(&bytes, &options));
    document.map_err(|error| Failure(format!("{shown} cannot be used: {error}")))
}

fn check(
    document: &Document,
    quote: &Quote<'_>,
    page: Option<u32>,
    options: Options,
) -> Result<Verdict, String> {
    let page_starts: Vec<usize> = document
        .pages
        .iter()
        .skip(1)
        .map(|page| page.start)
        .collect();
    let mut passage = Passage::whole(&document.text);
    passage.page_starts = &page_starts;
    passage.title = document.title.as_deref();
    if let Some(page) = page {
        let range = usize::try_from(page)
            .ok()
            .and_then(|page| page.checked_sub(1))
            .and_then(|index| document.pages.get(index))
            .ok_or_else(|| {
                format!(
                    "there is no page {page}: the text has {} page(s)",
                    document.pages.len()
                )
            })?;
        passage.window = range.clone();
    }
    Ok(Matcher::new(passage).check(quote, options))
}

fn place(document: &Document, range: &Range<usize>) -> Value {
    let mut value = json!({ "start": range.start, "end": range.end });
    match document.file_position(range.clone()) {
        FilePosition::Bytes(bytes) => {
            value["file"] = json!({ "start": bytes.start, "end": bytes.end });
        }
        FilePosition::Page { page, chars } => {
            value["page"] = json!(page);
            value["page_chars"] = json!({ "start": chars.start, "end": chars.end });
        }
    }
    value
}

fn to_json(id: &Value, document: &Document, verdict: &Verdict) -> Value {
    let found: Vec<&str> = verdict
        .spans()
        .iter()
        .filter_map(|span| document.text.get(span.clone()))
        .collect();
    let mut value = json!({
        "id": id,
        "class": verdict.class(),
        "verified": verdict.verified(),
        "foldings": verdict.foldings(),
        "spans": verdict.spans().iter().map(|span| place(document, span)).collect::<Vec<_>>(),
        "found": found,
        "warnings": verdict.flags().iter().map(warning).collect::<Vec<_>>(),
    });
    if let Some(nearest) = verdict.nearest() {
        value["nearest"] = json!({
            "text": document.text.get(nearest.span.clone()),
            "span": place(document, &nearest.span),
            "decides": nearest.decides,
        });
    }
    value
}

/// A flag in words.
pub(super) fn warning(flag: &Flag) -> String {
    match flag {
        Flag::TooShort => "too short to be evidence".to_owned(),
        Flag::InsideWord { word } => format!("begins or ends inside a word: {word}"),
        Flag::Ambiguous { count } => format!("stands there {count} times"),
        Flag::OmittedNegation { words } => {
            format!("leaves out a negation or exception: {}", words.join(", "))
        }
        Flag::Cue { cue, .. } => format!("`{cue}` outside the quote governs what it says"),
        Flag::OnlyTitle => "only the title of the source".to_owned(),
        Flag::Fuzzy { edits } => {
            let edits: Vec<String> = edits
                .iter()
                .map(|(quote, source)| format!("{quote} for {source}"))
                .collect();
            format!("accepted as fuzzy: {}", edits.join(", "))
        }
        Flag::Editorial { inserted } => {
            format!(
                "words in brackets that the source does not have: {}",
                inserted.join(", ")
            )
        }
        Flag::ContextDiffers => "prefix or suffix does not stand beside it".to_owned(),
    }
}

fn in_words(document: &Document, verdict: &Verdict, explain: bool) -> String {
    let mut words = if verdict.verified() {
        format!("verified: {}", verdict.class())
    } else if matches!(
        verdict.class(),
        MatchClass::Absent | MatchClass::OutsidePages
    ) {
        format!("not verified: {}", verdict.class())
    } else {
        format!(
            "not verified: found as {}, but it does not count",
            verdict.class()
        )
    };
    let foldings: Vec<&str> = verdict
        .foldings()
        .iter()
        .map(|folding| folding.as_str())
        .collect();
    if !foldings.is_empty() {
        words.push_str(&format!(" (folded: {})", foldings.join(", ")));
    }
    for flag in verdict.flags() {
        words.push_str(&format!("\n  note: {}", visible::line(&warning(flag))));
    }
    if explain {
        for span in verdict.spans() {
            words.push_str(&format!(
                "\n  {}: {}",
                where_it_is(document, span),
                shown(document, span)
            ));
        }
    }
    if let Some(nearest) = verdict.nearest() {
        words.push_str(&format!("\n  nearest: {}", visible::line(&nearest.decides)));
        if explain {
            let span = &nearest.span;
            words.push_str(&format!(
                "\n  {}: {}",
                where_it_is(document, span),
                shown(document, span)
            ));
        }
    }
    words
}

fn where_it_is(document: &Document, range: &Range<usize>) -> String {
    match document.file_position(range.clone()) {
        FilePosition::Page { page, .. } => format!("page {page}"),
        FilePosition::Bytes(bytes) => format!("bytes {} to {}", bytes.start, bytes.end),
    }
}

fn shown(document: &Document, range: &Range<usize>) -> String {
    let text = document.text.get(range.clone()).unwrap_or_default();
    visible::line(&text.split_whitespace().collect::<Vec<_>>().join(" ")).into_owned()
}
