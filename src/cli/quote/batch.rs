//! Many questions, one JSON object per line, in blocks: a batch of any length needs the memory of
//! one block and of the documents that are asked about most recently.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

use kbc_queries::parse::document::{Document, ExtractOptions, Format, markdown_veils};
use kbc_queries::text::quote::Quote;
use kbc_queries::text::veil::Veil;

use crate::render::json_line;
use crate::workspace::door;

use super::super::streams::written;
use super::super::{CommandResult, Failure, Outcome, World, note};
use super::{Answer, Question, Rules, answer, check_all, document_of, unverifiable};

/// Lines of one block.
const BLOCK_LINES: usize = 4_096;
/// Bytes of one block; a longer line is a block of its own.
const BLOCK_BYTES: usize = 8 << 20;
/// Longest line.
const LONGEST_LINE: u64 = 256 << 20;
/// Bytes of text of the documents that are kept for later blocks.
const KEPT_BYTES: usize = 128 << 20;
/// Bad lines that are named on stderr; the rest are counted.
const NAMED: usize = 20;

/// One question.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    #[serde(default)]
    id: Value,
    source: Option<String>,
    source_path: Option<PathBuf>,
    quote: Option<String>,
    quotes: Option<Vec<String>>,
    prefix: Option<String>,
    suffix: Option<String>,
    page: Option<u32>,
}

/// A line of the batch: its number from 1, and its bytes or why they are unusable.
struct Line {
    number: usize,
    bytes: Result<Vec<u8>, String>,
}

type Documents = BTreeMap<PathBuf, Result<Arc<Document>, String>>;

/// What came of one line.
struct Given {
    text: String,
    verified: bool,
    bad: Option<String>,
}

/// Runs a batch.
pub(super) fn run(world: &World, batch: &Path, rules: Rules) -> CommandResult {
    let input: Box<dyn Read> = if batch.as_os_str() == "-" {
        Box::new(io::stdin())
    } else {
        let file = door::open_named(&world.current.join(batch));
        let unreadable =
            |failure| Failure(format!("{} cannot be read: {failure}", batch.display()));
        Box::new(file.map_err(unreadable)?)
    };
    let mut lines = Lines {
        input: BufReader::with_capacity(1 << 16, input),
        number: 0,
    };
    let mut documents = Documents::new();
    let mut out = io::BufWriter::new(io::stdout());
    let (mut all, mut bad) = (true, 0usize);
    loop {
        let block = lines
            .block()
            .map_err(|error| Failure(format!("{} cannot be read: {error}", batch.display())))?;
        if block.is_empty() {
            break;
        }
        let mut result = Ok(());
        for given in answers(world, &block, rules, &mut documents) {
            all &= given.verified;
            if let Some(reason) = given.bad {
                bad += 1;
                if bad <= NAMED {
                    note(&format!("{}, {reason}", batch.display()));
                }
            }
            result = result.and_then(|()| writeln!(out, "{}", given.text));
        }
        if let Err(error) = result.and_then(|()| out.flush()) {
            // Dropping the writer would try to write the rest once more.
            let _ = out.into_parts();
            written(Err(error))?;
            // A reader that went away wants no more answers; the lines that got none are not
            // verified.
            return Ok(Outcome::Findings);
        }
        forget(&mut documents);
    }
    finish(batch, all, bad)
}

fn finish(batch: &Path, all: bool, bad: usize) -> CommandResult {
    if bad > 0 {
        let lines = super::super::counted(bad, "line");
        return Err(Failure(format!(
            "{}: {lines} could not be used",
            batch.display()
        )));
    }
    Ok(if all {
        Outcome::Fine
    } else {
        Outcome::Findings
    })
}

/// Keeps the documents only while they are few.
fn forget(documents: &mut Documents) {
    let kept: usize = documents
        .values()
        .map(|document| document.as_ref().map_or(0, |document| document.text.len()))
        .sum();
    if kept > KEPT_BYTES || documents.len() > 100_000 {
        documents.clear();
    }
}

/// The lines of a batch.
struct Lines<R> {
    input: BufReader<R>,
    number: usize,
}

impl<R: Read> Lines<R> {
    /// The next lines that hold something; none at the end.
    fn block(&mut self) -> io::Result<Vec<Line>> {
        let (mut block, mut bytes) = (Vec::new(), 0);
        while block.len() < BLOCK_LINES && bytes < BLOCK_BYTES {
            let mut line = Vec::new();
            let read = (&mut self.input)
                .take(LONGEST_LINE)
                .read_until(b'\n', &mut line)?;
            if read == 0 {
                break;
            }
            self.number += 1;
            if self.number == 1 && line.starts_with(b"\xef\xbb\xbf") {
                line.drain(..3);
            }
            if line.trim_ascii().is_empty() {
                continue;
            }
            let cut = read as u64 == LONGEST_LINE && !line.ends_with(b"\n");
            let mut line = Ok(line);
            if cut && !self.skip_rest()? {
                line = Err(format!("it is longer than {} MiB", LONGEST_LINE >> 20));
            }
            bytes += read;
            block.push(Line {
                number: self.number,
                bytes: line,
            });
        }
        Ok(block)
    }

    /// Skips to the end of the line; whether there was nothing to skip.
    fn skip_rest(&mut self) -> io::Result<bool> {
        let mut skipped = 0;
        loop {
            let mut rest = Vec::new();
            let read = (&mut self.input)
                .take(1 << 20)
                .read_until(b'\n', &mut rest)?;
            skipped += read;
            if read < 1 << 20 {
                return Ok(skipped == 0);
            }
        }
    }
}

/// The answers to a block, in order.
fn answers(world: &World, block: &[Line], rules: Rules, documents: &mut Documents) -> Vec<Given> {
    let cases: Vec<Result<Case, String>> = block.par_iter().map(parse).collect();
    // A file that many lines name is read once.
    let mut missing: Vec<&PathBuf> = cases
        .iter()
        .flatten()
        .filter_map(|case| case.source_path.as_ref())
        .filter(|path| !documents.contains_key(*path))
        .collect();
    missing.sort();
    missing.dedup();
    let read: Vec<_> = missing
        .par_iter()
        .map(|path| {
            let document = read_named(world, path);
            ((*path).clone(), document)
        })
        .collect();
    documents.extend(read);
    cases
        .par_iter()
        .zip(block)
        .map(|(case, line)| match case {
            Ok(case) => answer(case, documents, rules),
            Err(reason) => {
                let reason = format!("line {}: {reason}", line.number);
                let mut value = unverifiable(&Value::Null, &reason);
                value["line"] = json!(line.number);
                Given {
                    text: json_line(&value),
                    verified: false,
                    bad: Some(reason),
                }
            }
        })
        .collect()
}

fn read_named(world: &World, path: &Path) -> Result<Arc<Document>, String> {
    if path.as_os_str() == "-" {
        return Err("stdin is no `source_path`; give the text as `source`".to_owned());
    }
    // Who wrote the batch need not be who runs it: what it names is no pipe to wait at.
    let limit = ExtractOptions::new(Format::Text).limits.bytes;
    document_of(path, door::read(&world.current.join(path), limit))
        .map(Arc::new)
        .map_err(|failure| failure.0)
}

fn parse(line: &Line) -> Result<Case, String> {
    let bytes = line.bytes.as_ref().map_err(Clone::clone)?;
    let text = std::str::from_utf8(bytes)
        .map_err(|error| format!("it is not UTF-8 from byte {} on", error.valid_up_to() + 1))?;
    let case: Case = serde_json::from_str(text).map_err(|error| {
        // The parser counts lines within what it is given, which is one.
        let words = error
            .to_string()
            .replace(" at line 1 column ", " at column ");
        // Other writers of JSON let a half of a surrogate pair through, which is no text.
        if words.contains("surrogate") || words.contains("end of hex escape") {
            format!("a \\u escape names half a character ({words})")
        } else {
            words
        }
    })?;
    match (&case.source, &case.source_path) {
        (Some(_), None) | (None, Some(_)) => {}
        _ => return Err("give either `source` or `source_path`".to_owned()),
    }
    match (&case.quote, &case.quotes) {
        (Some(_), None) => Ok(case),
        (None, None) => Err("missing field `quote` or `quotes`".to_owned()),
        (Some(_), Some(_)) => Err("give either `quote` or `quotes`".to_owned()),
        (None, Some(quotes)) if quotes.is_empty() => Err("`quotes` is empty".to_owned()),
        (None, Some(_)) if case.prefix.is_some() || case.suffix.is_some() => {
            Err("`prefix` and `suffix` stand beside one `quote`, not beside `quotes`".to_owned())
        }
        (None, Some(_)) => Ok(case),
    }
}

/// A text that comes without a file is taken as it is. It may be Markdown: comments and struck-out
/// words look like nothing else. What would be links may be anything.
fn as_it_is(text: &str) -> Document {
    let mut veiled = markdown_veils(text).into_vec();
    veiled.retain(|stretch| {
        stretch.veil != Veil::Target
            && text
                .get(stretch.range.clone())
                .is_some_and(|words| words.starts_with(['<', '~']))
    });
    Document {
        veiled: veiled.into_boxed_slice(),
        ..Document::from_text(Format::Text, text, Vec::new())
    }
}

fn answer(case: &Case, documents: &Documents, rules: Rules) -> Given {
    let texts: Vec<&str> = match (&case.quote, &case.quotes) {
        (Some(quote), _) => vec![quote],
        (None, Some(quotes)) => quotes.iter().map(String::as_str).collect(),
        (None, None) => Vec::new(),
    };
    let quotes: Vec<Quote<'_>> = texts
        .iter()
        .map(|text| Quote {
            text,
            prefix: case.prefix.as_deref(),
            suffix: case.suffix.as_deref(),
        })
        .collect();
    let answered = document(case, documents).and_then(|document| {
        let answers = check_all(&document, &quotes, case.page, rules)?;
        Ok((document, answers))
    });
    let (values, verified) = match &answered {
        Ok((document, answers)) => {
            let values = quotes.iter().zip(answers).map(|(quote, answer)| {
                let question = Question {
                    quote: *quote,
                    page: case.page,
                };
                answer::to_json(&case.id, document, &question, answer)
            });
            let verified = !answers.is_empty() && answers.iter().all(Answer::verified);
            (values.collect::<Vec<Value>>(), verified)
        }
        Err(reason) => {
            let values = quotes.iter().map(|_| unverifiable(&case.id, reason));
            (values.collect(), false)
        }
    };
    let value = if case.quotes.is_some() {
        several(&case.id, verified, values)
    } else {
        values.into_iter().next().unwrap_or_default()
    };
    Given {
        text: json_line(&value),
        verified,
        bad: None,
    }
}

/// The answers to several quotes as one. They share the line's `id`.
fn several(id: &Value, verified: bool, mut answers: Vec<Value>) -> Value {
    for answer in &mut answers {
        if let Value::Object(fields) = answer {
            fields.remove("id");
        }
    }
    json!({ "id": id, "verified": verified, "quotes": answers })
}

/// What a line asks about.
fn document(case: &Case, documents: &Documents) -> Result<Arc<Document>, String> {
    match (&case.source, &case.source_path) {
        (Some(text), _) => Ok(Arc::new(as_it_is(text))),
        (None, Some(path)) => match documents.get(path) {
            Some(document) => document.clone(),
            None => Err("the file was not read".to_owned()),
        },
        (None, None) => Err("there is no text".to_owned()),
    }
}
