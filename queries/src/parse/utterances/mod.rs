//! Utterances: what people said, one JSON object per line (contract §2.7).
//!
//! The first line is a header, every other line one utterance. A stream is taken as a whole or not
//! at all: [`parse`] collects what is wrong with it, each with its bytes. To the chunker an
//! utterance is a page; who said it is kept beside the chunks, in the locator map ([`locator`]).

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

use super::json::{self, Member, Node, Value};
use super::problem::{Problem, nearest, shown};
use crate::diagnostic::registry::INGEST_001;

pub mod locator;

/// The only schema version there is.
pub const SCHEMA_VERSION: &str = "cacg.utterances.v1";
/// The reader's name in `sources_manifest.json`.
pub const PARSER_NAME: &str = "cacg-utterances";
/// Its version: a number kept by hand, raised when the text of any stream could change.
pub const PARSER_VERSION: &str = "1";
/// Problems after which no more are looked for: a stream with more is another kind of file.
pub const MOST_PROBLEMS: usize = 100;

/// One utterance.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Utterance {
    /// Place in the stream, from 1; the page number.
    pub ordinal: u32,
    /// Its id, unique in the stream.
    pub utterance_id: Box<str>,
    /// Who said it.
    pub speaker: Box<str>,
    /// Whether the speaker is the one the stream is about.
    pub is_author: bool,
    /// When, as the stream says it.
    pub authored_at: Option<Box<str>>,
    /// Names of it elsewhere.
    pub refs: BTreeMap<String, String>,
    /// Byte range in [`Stream::text`].
    pub text: Range<usize>,
}

/// A whole stream.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Stream {
    /// What kind of source it says it is.
    pub source_kind: Box<str>,
    /// The utterances, by ordinal.
    pub utterances: Vec<Utterance>,
    /// Their texts, one after another, a line break between two.
    pub text: String,
}

impl Stream {
    /// The pages of the text: one per utterance.
    pub fn pages(&self) -> Vec<Range<usize>> {
        self.utterances
            .iter()
            .map(|utterance| utterance.text.clone())
            .collect()
    }
}

/// Reads a stream.
///
/// # Errors
/// What is wrong with it, in file order, as INGEST-001; at most [`MOST_PROBLEMS`].
pub fn parse(bytes: &[u8]) -> Result<Stream, Vec<Problem>> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        let end = at + error.error_len().unwrap_or(bytes.len() - at);
        vec![Problem::new(INGEST_001, at..end, "the stream is not UTF-8")]
    })?;
    let mut reader = Reader {
        text,
        problems: Vec::new(),
        stream: Stream {
            source_kind: Box::default(),
            utterances: Vec::new(),
            text: String::new(),
        },
        ids: HashSet::new(),
        expected: 1,
    };
    reader.lines();
    if reader.problems.is_empty() {
        Ok(reader.stream)
    } else {
        reader
            .problems
            .sort_by_key(|problem| (problem.span.start, problem.span.end));
        reader.problems.truncate(MOST_PROBLEMS);
        Err(reader.problems)
    }
}

struct Reader<'t> {
    text: &'t str,
    problems: Vec<Problem>,
    stream: Stream,
    ids: HashSet<String>,
    /// The ordinal of the next utterance.
    expected: u32,
}

/// Characters that a text must not hold: controls besides line feed and tab, and what stands where
/// a character was lost.
fn is_forbidden(character: char) -> bool {
    (character.is_control() && !matches!(character, '\n' | '\t'))
        || matches!(character, '\u{FFFD}' | '\u{FFFE}')
}

impl Reader<'_> {
    fn problem(&mut self, span: Range<usize>, message: impl Into<String>) {
        self.problems.push(Problem::new(INGEST_001, span, message));
    }

    fn lines(&mut self) {
        let mut start = 0;
        let mut header = false;
        for line in self.text.split_inclusive('\n') {
            let range = start..start + line.len();
            start = range.end;
            if line.trim().is_empty() {
                continue;
            }
            if self.problems.len() >= MOST_PROBLEMS {
                return;
            }
            let Some(node) = self.json(range) else {
                // Without a header the rest means nothing.
                if !header {
                    return;
                }
                // One ordinal is used up, whatever it was.
                self.expected = self.expected.saturating_add(1);
                continue;
            };
            if header {
                self.utterance(&node);
            } else {
                header = true;
                if !self.header(&node) {
                    return;
                }
            }
        }
        if self.problems.is_empty() && self.stream.utterances.is_empty() {
            let what = match header {
                true => "the stream has a header and no utterance",
                false => "the stream is empty",
            };
            self.problem(0..0, what);
        }
    }

    /// One line as JSON whose places are those of the file.
    fn json(&mut self, range: Range<usize>) -> Option<Node> {
        let line = self.text.get(range.clone())?;
        match json::parse(line) {
            Ok(mut node) => {
                shift(&mut node, range.start);
                Some(node)
            }
            Err(error) => {
                let span = range.start + error.span.start..range.start + error.span.end;
                self.problem(
                    span,
                    format!("the line is not valid JSON: {}", error.message),
                );
                None
            }
        }
    }

    /// The members of an object with these keys and no others; `required` come first.
    fn members<'n>(
        &mut self,
        node: &'n Node,
        what: &str,
        keys: &[&str],
        required: usize,
    ) -> Option<BTreeMap<&'n str, &'n Member>> {
        let Value::Object(members) = &node.value else {
            self.problem(node.span.clone(), format!("{what} is a JSON object"));
            return None;
        };
        let mut known: BTreeMap<&str, &Member> = BTreeMap::new();
        for member in members {
            let name = shown(&member.key);
            if !keys.contains(&member.key.as_str()) {
                let near = nearest(&member.key, keys.iter().copied());
                let hint = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
                self.problem(
                    member.key_span.clone(),
                    format!("{what} has no field `{name}`{hint}"),
                );
            } else if known.insert(&member.key, member).is_some() {
                self.problem(
                    member.key_span.clone(),
                    format!("the field `{name}` is given twice"),
                );
            }
        }
        for key in keys.iter().take(required) {
            if !known.contains_key(key) {
                let at = node.span.start..node.span.start + 1;
                self.problem(at, format!("{what} has no `{key}`"));
            }
        }
        Some(known)
    }

    /// Whether the lines that follow can be taken for utterances.
    fn header(&mut self, node: &Node) -> bool {
        let keys = ["schema_version", "source_kind", "metadata"];
        let Some(members) = self.members(node, "the header", &keys, 2) else {
            return false;
        };
        if let Some(member) = members.get("source_kind")
            && let Some(kind) = self.filled(&member.value, "source_kind")
        {
            self.stream.source_kind = kind.into();
        }
        if let Some(member) = members.get("metadata")
            && !matches!(member.value.value, Value::Object(_))
            && self.slice(&member.value) != "null"
        {
            self.problem(member.value.span.clone(), "`metadata` is a JSON object");
        }
        let Some(member) = members.get("schema_version") else {
            return false;
        };
        let fits = matches!(&member.value.value, Value::String(text) if text == SCHEMA_VERSION);
        if !fits {
            self.problem(
                member.value.span.clone(),
                format!("`schema_version` is not \"{SCHEMA_VERSION}\""),
            );
        }
        fits
    }

    fn utterance(&mut self, node: &Node) {
        let keys = [
            "ordinal",
            "utterance_id",
            "speaker",
            "is_author",
            "text",
            "authored_at",
            "refs",
        ];
        let expected = self.expected;
        self.expected = self.expected.saturating_add(1);
        let Some(members) = self.members(node, "an utterance", &keys, 5) else {
            return;
        };
        let value = |key: &str| members.get(key).map(|member| &member.value);
        if let Some(node) = value("ordinal") {
            self.ordinal(node, expected);
        }
        let id = value("utterance_id").and_then(|node| {
            let id = self.filled(node, "utterance_id")?;
            if !self.ids.insert(id.to_owned()) {
                let message = format!("the utterance id `{}` is used before", shown(id));
                self.problem(node.span.clone(), message);
            }
            Some(id)
        });
        let speaker = value("speaker").and_then(|node| self.filled(node, "speaker"));
        let is_author = value("is_author").and_then(|node| match self.slice(node) {
            "true" => Some(true),
            "false" => Some(false),
            _ => {
                self.problem(node.span.clone(), "`is_author` is true or false");
                None
            }
        });
        let authored_at = value("authored_at")
            .filter(|node| self.slice(node) != "null")
            .and_then(|node| self.string(node, "authored_at"));
        let refs = value("refs").map_or(Some(BTreeMap::new()), |node| self.refs(node));
        let text = value("text").and_then(|node| self.filled(node, "text"));
        if let (Some(id), Some(speaker), Some(is_author), Some(refs), Some(text)) =
            (id, speaker, is_author, refs, text)
        {
            // A stream with a problem is not kept, so neither is its text.
            if !self.problems.is_empty() {
                return;
            }
            let stream = &mut self.stream;
            if !stream.text.is_empty() {
                stream.text.push('\n');
            }
            let start = stream.text.len();
            stream.text.push_str(text);
            stream.utterances.push(Utterance {
                ordinal: expected,
                utterance_id: id.into(),
                speaker: speaker.into(),
                is_author,
                authored_at: authored_at.map(Into::into),
                refs,
                text: start..stream.text.len(),
            });
        }
    }

    /// Ordinals count from 1 without a gap. After one that is wrong the count goes on from it, so
    /// that a line that was left out is one problem and not one per line.
    fn ordinal(&mut self, node: &Node, expected: u32) {
        let found: Option<u32> = match node.value {
            Value::Other => self.slice(node).parse().ok(),
            _ => None,
        };
        match found {
            Some(found) if found == expected => {}
            Some(found) => {
                let message = format!("`ordinal` is {found} where {expected} comes next");
                self.problem(node.span.clone(), message);
                self.expected = found.saturating_add(1);
            }
            None => self.problem(
                node.span.clone(),
                format!("`ordinal` is a whole number; {expected} comes next"),
            ),
        }
    }

    fn refs(&mut self, node: &Node) -> Option<BTreeMap<String, String>> {
        if self.slice(node) == "null" {
            self.problem(node.span.clone(), "`refs` is an object of strings");
            return None;
        }
        let Value::Object(members) = &node.value else {
            self.problem(node.span.clone(), "`refs` is an object of strings");
            return None;
        };
        let mut refs = BTreeMap::new();
        for member in members {
            let text = self.string(&member.value, "each of `refs`")?;
            if member.key.chars().any(is_forbidden)
                || refs.insert(member.key.clone(), text.to_owned()).is_some()
            {
                self.problem(
                    member.key_span.clone(),
                    format!(
                        "the key `{}` of `refs` is given twice or holds a control character",
                        shown(&member.key)
                    ),
                );
                return None;
            }
        }
        Some(refs)
    }

    fn slice(&self, node: &Node) -> &str {
        self.text.get(node.span.clone()).unwrap_or_default()
    }

    /// A string without forbidden characters.
    fn string<'n>(&mut self, node: &'n Node, what: &str) -> Option<&'n str> {
        let Value::String(text) = &node.value else {
            self.problem(node.span.clone(), format!("`{what}` is a string"));
            return None;
        };
        if let Some(character) = text.chars().find(|character| is_forbidden(*character)) {
            let point = u32::from(character);
            self.problem(
                node.span.clone(),
                format!("`{what}` holds the character U+{point:04X}, which no text has: a control, or the trace of a lost character"),
            );
            return None;
        }
        Some(text)
    }

    /// The same, and not blank.
    fn filled<'n>(&mut self, node: &'n Node, what: &str) -> Option<&'n str> {
        let text = self.string(node, what)?;
        if text.trim().is_empty() {
            self.problem(node.span.clone(), format!("`{what}` is blank"));
            return None;
        }
        Some(text)
    }
}

/// Moves the places of a tree.
fn shift(node: &mut Node, by: usize) {
    let moved = |span: &Range<usize>| span.start + by..span.end + by;
    node.span = moved(&node.span);
    match &mut node.value {
        Value::Array(items) => items.iter_mut().for_each(|item| shift(item, by)),
        Value::Object(members) => {
            for member in members {
                member.key_span = moved(&member.key_span);
                shift(&mut member.value, by);
            }
        }
        Value::String(_) | Value::Other => {}
    }
}

#[cfg(test)]
mod tests;
