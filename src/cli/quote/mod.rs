//! `kb quote`: does this quote stand in this text? One, or many.

use std::ops::Range;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use kbc_queries::parse::document::{self, Document, ExtractOptions, Format};
use kbc_queries::system::ReadFailure;
use kbc_queries::text::khms;
use kbc_queries::text::quote::{Matcher, Options, Passage, Profile, Quote, Verdict};

use crate::render::json_line;
use crate::workspace::door;

use super::{CommandResult, Failure, Outcome, World};

mod answer;
mod batch;
mod diff;
mod words;

/// Say whether a quote stands in a text, and how
///
/// The text may be Markdown, plain text, HTML, CSV or PDF. Exit status 0: verified. 1: not.
/// 2: the text or the question could not be read.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  kb quote notes.md \"the exact words\"\n  kb quote paper.pdf \"the exact words\" --page 3 --explain\n  pbpaste | kb quote - \"the exact words\"\n  kb quote --batch cases.jsonl > verdicts.jsonl\n\nA line of a batch: {\"id\": 1, \"source\": \"some text\", \"quote\": \"some\"}, or `source_path` instead of\n`source`; `prefix`, `suffix` and `page` may be added. Every line gives one line, in order.\n`quotes`: [\"…\", \"…\"] instead of `quote` asks for several quotes of one source in the order in\nwhich they stand there, which settles what is ambiguous alone. The line's `verified` is that of all\nof them, and its `quotes` holds the answer to each."
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
    #[arg(long, value_name = "N", conflicts_with = "batch")]
    page: Option<u32>,
    /// What stands directly before the quote
    #[arg(
        long,
        value_name = "WORDS",
        allow_hyphen_values = true,
        conflicts_with = "batch"
    )]
    prefix: Option<String>,
    /// What stands directly after it
    #[arg(
        long,
        value_name = "WORDS",
        allow_hyphen_values = true,
        conflicts_with = "batch"
    )]
    suffix: Option<String>,
    /// Check one JSON object per line of this file; - for stdin
    #[arg(long, value_name = "FILE", conflicts_with = "explain")]
    batch: Option<PathBuf>,
    /// How strict to be
    #[arg(long, value_name = "PROFILE", default_value = "strict")]
    profile: ProfileName,
    /// Accept small edits outside protected words, as `fuzzy`
    ///
    /// One letter more, less, other or swapped in a long word is accepted, at most one for every 50
    /// characters of the quote, and so is a word that such a letter makes another: `sulfite` for
    /// `sulfate`. Numbers, signs, short words, negations, letters with a diacritic, names and words
    /// that the text has elsewhere are protected.
    #[arg(long)]
    fuzzy: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Show where it stands, or what is nearest and what differs, word by word
    #[arg(long)]
    explain: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ProfileName {
    /// What may mislead does not count
    Strict,
    /// What the card graph accepts counts, with warnings
    Cacg,
    /// The classes of reviewed memory: EXACT, WRAPPED, ELIDED, ABSENT
    Khms,
}

/// The rules that decide.
#[derive(Clone, Copy)]
enum Rules {
    /// The project's own classes.
    Own(Options),
    /// Those of reviewed memory.
    Khms,
}

impl Rules {
    fn of(arguments: &Arguments) -> Result<Self, Failure> {
        let profile = match arguments.profile {
            ProfileName::Strict => Profile::Strict,
            ProfileName::Cacg => Profile::Cacg,
            ProfileName::Khms if arguments.fuzzy => {
                return Err(Failure("the profile khms knows no --fuzzy".to_owned()));
            }
            ProfileName::Khms => return Ok(Rules::Khms),
        };
        Ok(Rules::Own(Options {
            profile,
            fuzzy: arguments.fuzzy,
        }))
    }
}

/// What is asked.
struct Question<'a> {
    quote: Quote<'a>,
    page: Option<u32>,
}

/// What came of it, under the rules asked for.
enum Answer {
    /// By the project's own classes.
    Own(Verdict),
    /// By those of reviewed memory.
    Khms(khms::Answer),
}

impl Answer {
    fn verified(&self) -> bool {
        match self {
            Answer::Own(verdict) => verdict.verified(),
            Answer::Khms(answer) => answer.verified(),
        }
    }

    fn spans(&self) -> &[Range<usize>] {
        match self {
            Answer::Own(verdict) => verdict.spans(),
            Answer::Khms(answer) => &answer.spans,
        }
    }
}

/// Runs the command.
pub fn run(world: &World, arguments: &Arguments) -> CommandResult {
    let rules = Rules::of(arguments)?;
    if let Some(batch) = &arguments.batch {
        return batch::run(world, batch, rules);
    }
    let (Some(path), Some(text)) = (&arguments.text, &arguments.quote) else {
        return Err(Failure("give a text and a quote, or --batch".to_owned()));
    };
    let document = read(world, path)?;
    let question = Question {
        quote: Quote {
            text,
            prefix: arguments.prefix.as_deref(),
            suffix: arguments.suffix.as_deref(),
        },
        page: arguments.page,
    };
    let answer = check(&document, &question, rules).map_err(Failure)?;
    if arguments.json {
        let value = answer::to_json(&Value::Null, &document, &question, &answer);
        super::write_out(&json_line(&value))?;
    } else {
        let words = words::of(&document, &question, &answer, arguments.explain);
        super::say(&words)?;
    }
    Ok(if answer.verified() {
        Outcome::Fine
    } else {
        Outcome::Findings
    })
}

/// The document in a file, or on stdin.
fn read(world: &World, path: &Path) -> Result<Document, Failure> {
    let limit = ExtractOptions::new(Format::Text).limits.bytes;
    let bytes = match path.as_os_str() == "-" {
        true => door::read_stdin(limit),
        false => door::read_named(&world.current.join(path), limit),
    };
    document_of(path, bytes)
}

/// The document in the bytes of a file.
fn document_of(path: &Path, bytes: Result<Vec<u8>, ReadFailure>) -> Result<Document, Failure> {
    let shown = path.display();
    let bytes = bytes.map_err(|failure| Failure(format!("{shown} cannot be read: {failure}")))?;
    let name = path.to_string_lossy();
    let format = Format::from_path(&name, &bytes).unwrap_or(Format::Text);
    let mut options = ExtractOptions::new(format);
    options.registry = document::RegistryOptions::for_path(&name);
    let apart = (format == Format::Pdf)
        .then(std::env::current_exe)
        .and_then(Result::ok);
    let document = apart
        .and_then(|program| crate::workspace::apart::read(&program, &bytes, &options))
        .unwrap_or_else(|| document::extract(&bytes, &options));
    document.map_err(|error| Failure(format!("{shown} cannot be used: {error}")))
}

/// Puts a question to a document.
///
/// # Errors
/// Why it has no answer: a page that the document does not have, or context where none counts.
fn check(document: &Document, question: &Question<'_>, rules: Rules) -> Result<Answer, String> {
    let mut answers = check_all(document, &[question.quote], question.page, rules)?;
    answers.pop().ok_or_else(|| "there is no quote".to_owned())
}

/// Puts several quotes of one document to it, which stand there in this order.
///
/// # Errors
/// As [`check`].
fn check_all(
    document: &Document,
    quotes: &[Quote<'_>],
    page: Option<u32>,
    rules: Rules,
) -> Result<Vec<Answer>, String> {
    let window = match page {
        None => 0..document.text.len(),
        Some(page) => usize::try_from(page)
            .ok()
            .and_then(|page| page.checked_sub(1))
            .and_then(|index| document.pages.get(index))
            .cloned()
            .ok_or_else(|| {
                let pages = super::counted(document.pages.len(), "page");
                format!("there is no page {page}: the text has {pages}")
            })?,
    };
    let options = match rules {
        Rules::Own(options) => options,
        Rules::Khms => {
            let text = document.text.get(window.clone()).unwrap_or_default();
            let one = |quote: &Quote<'_>| {
                if quote.prefix.is_some() || quote.suffix.is_some() {
                    return Err("the profile khms knows no prefix and no suffix".to_owned());
                }
                let mut answer = khms::check(text, quote.text);
                for span in &mut answer.spans {
                    *span = span.start + window.start..span.end + window.start;
                }
                Ok(Answer::Khms(answer))
            };
            return quotes.iter().map(one).collect();
        }
    };
    let page_starts: Vec<usize> = document
        .pages
        .iter()
        .skip(1)
        .map(|page| page.start)
        .collect();
    let mut passage = Passage::whole(&document.text);
    // Plain text may have been taken from pages, and may be a part of anything.
    passage.page_starts = (document.format != Format::Text).then_some(&page_starts);
    passage.veiled = &document.veiled;
    passage.title = document.title.as_deref();
    passage.window = window;
    let verdicts = Matcher::new(passage).check_all(quotes, options);
    Ok(verdicts.into_iter().map(Answer::Own).collect())
}

/// An answer to a question that could not be put.
fn unverifiable(id: &Value, reason: &str) -> Value {
    json!({
        "id": id, "class": "unverifiable", "verified": false, "foldings": [],
        "spans": [], "found": [], "warnings": [reason],
    })
}
