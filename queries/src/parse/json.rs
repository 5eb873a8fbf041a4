//! JSON to a tree that knows where everything stands, for small files whose problems are shown.
//!
//! `serde_json` decides what is JSON; this walk over the accepted text only adds the places. Large
//! files are read by `serde_json` alone.

use std::ops::Range;

/// Deepest nesting; nothing that is read this way nests deeper than four.
const MAX_DEPTH: usize = 64;

/// A value and its place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub(crate) value: Value,
    /// Byte range, quotes and brackets included.
    pub(crate) span: Range<usize>,
}

/// Kinds of value. Numbers, booleans and null are not looked into.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    String(String),
    Array(Vec<Node>),
    /// In file order, duplicates included.
    Object(Vec<Member>),
    Other,
}

/// A member of an object.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Member {
    pub(crate) key: String,
    pub(crate) key_span: Range<usize>,
    pub(crate) value: Node,
}

/// Why a text is no JSON, and where.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Error {
    pub(crate) message: String,
    pub(crate) span: Range<usize>,
}

/// Parses a whole text.
pub(crate) fn parse(text: &str) -> Result<Node, Error> {
    // `Value` and not `IgnoredAny`: it limits the depth and looks at the escapes of every string.
    serde_json::from_str::<serde_json::Value>(text).map_err(|error| error_at(text, &error))?;
    let mut walker = Walker { text, at: 0 };
    walker.value(0).ok_or_else(|| Error {
        message: "nested too deeply".to_owned(),
        span: walker.at.min(text.len())..walker.at.min(text.len()),
    })
}

/// The place and sentence of a `serde_json` error.
pub(crate) fn error_at(text: &str, error: &serde_json::Error) -> Error {
    let line = error.line().max(1);
    let line_start = match line {
        1 => 0,
        _ => memchr::memchr_iter(b'\n', text.as_bytes())
            .nth(line - 2)
            .map_or(text.len(), |at| at + 1),
    };
    // The column counts bytes, 1-based, and names the last one read.
    let mut at = (line_start + error.column().saturating_sub(1)).min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    let end = text
        .get(at..)
        .and_then(|rest| rest.chars().next())
        .map_or(at, |c| at + c.len_utf8());
    let full = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    let message = full.strip_suffix(&position).unwrap_or(&full).to_owned();
    // The reader stops behind a name that it does not know: the mark is to be the whole name.
    let name = message.split('`').nth(1).unwrap_or_default();
    let quoted = format!("\"{name}\"");
    let start = match text.get(..end) {
        Some(read) if read.ends_with(&quoted) => end - quoted.len(),
        _ => at,
    };
    Error {
        message,
        span: start..end,
    }
}

struct Walker<'t> {
    text: &'t str,
    at: usize,
}

impl Walker<'_> {
    fn peek(&mut self) -> Option<u8> {
        let rest = self.text.as_bytes().get(self.at..)?;
        let space = rest
            .iter()
            .take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
        self.at += space.count();
        self.text.as_bytes().get(self.at).copied()
    }

    fn value(&mut self, depth: usize) -> Option<Node> {
        if depth > MAX_DEPTH {
            return None;
        }
        let first = self.peek()?;
        let start = self.at;
        let value = match first {
            b'"' => Value::String(self.string()?.0),
            b'[' => {
                self.at += 1;
                let mut items = Vec::new();
                while self.peek()? != b']' {
                    items.push(self.value(depth + 1)?);
                    if self.peek()? == b',' {
                        self.at += 1;
                    }
                }
                self.at += 1;
                Value::Array(items)
            }
            b'{' => {
                self.at += 1;
                let mut members = Vec::new();
                while self.peek()? != b'}' {
                    let (key, key_span) = self.string()?;
                    if self.peek()? == b':' {
                        self.at += 1;
                    }
                    let value = self.value(depth + 1)?;
                    members.push(Member {
                        key,
                        key_span,
                        value,
                    });
                    if self.peek()? == b',' {
                        self.at += 1;
                    }
                }
                self.at += 1;
                Value::Object(members)
            }
            _ => {
                let rest = self.text.as_bytes().get(start..)?;
                let word = rest.iter().take_while(|byte| {
                    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.')
                });
                let length = word.count();
                if length == 0 {
                    return None;
                }
                self.at += length;
                Value::Other
            }
        };
        Some(Node {
            value,
            span: start..self.at,
        })
    }

    fn string(&mut self) -> Option<(String, Range<usize>)> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let mut end = start + 1;
        loop {
            match bytes.get(end)? {
                b'\\' => end += 2,
                b'"' => break,
                _ => end += 1,
            }
        }
        self.at = end + 1;
        let span = start..self.at;
        let value = serde_json::from_str(self.text.get(span.clone())?).ok()?;
        Some((value, span))
    }
}
