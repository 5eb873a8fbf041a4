//! The part of YAML that cards are written in, read by hand.
//!
//! Block mappings and lists of one-line values: quoted text, plain words and numbers, `[a, b]`.
//! No comments, no folding, no empty values, no tabs. Wherever the text steps outside, [`parse`]
//! gives up and says nothing: [`events`](super::events) decides then. Within it the two agree on
//! every value and every span, which a property test holds them to.

use std::borrow::Cow;
use std::ops::Range;

use super::scalar::classify;
use super::{Entry, Node, Scalar, ScalarKind, Tree, Value, find_duplicates};
use crate::parse::problem::Problem;

/// Longest text tried; longer ones are not the everyday case, and need the bounds of the parser.
const MAX_BYTES: usize = 64 << 10;
/// Deepest nesting tried.
const MAX_DEPTH: usize = 6;

/// Parses a text; spans are moved by `base`. `None`: not certain.
pub(super) fn parse(text: &str, base: usize) -> Option<Tree<'_>> {
    if text.len() > MAX_BYTES || !is_ordinary(text) {
        return None;
    }
    let mut reader = Reader {
        text,
        base,
        line: None,
        next: 0,
        duplicates: Vec::new(),
    };
    reader.advance();
    let indent = reader.line?.indent;
    let root = reader.mapping(indent, 0)?;
    // Something is left when a line is indented less than the first one.
    if reader.line.is_some() {
        return None;
    }
    let mut duplicates = reader.duplicates;
    duplicates.sort_by_key(|problem| problem.span.start);
    Some(Tree {
        root: Some(root),
        problems: Vec::new(),
        duplicates,
    })
}

/// No control characters except line feeds and the carriage returns before them, and none of the
/// characters that YAML breaks lines at or forbids.
fn is_ordinary(text: &str) -> bool {
    let bytes = text.as_bytes();
    let plain = bytes.iter().enumerate().all(|(at, byte)| match byte {
        b'\n' | 0x20..=0x7E | 0x80.. => true,
        b'\r' => matches!(bytes.get(at + 1), None | Some(b'\n')),
        _ => false,
    });
    plain
        && (text.is_ascii()
            || !text.chars().any(|character| {
                matches!(
                    character,
                    '\u{80}'
                        ..='\u{9F}'
                            | '\u{2028}'
                            | '\u{2029}'
                            | '\u{FEFF}'
                            | '\u{FFFE}'
                            | '\u{FFFF}'
                )
            }))
}

/// A line, or what is left of it behind the dash of a list item.
#[derive(Clone, Copy)]
struct Line {
    /// Column of `start`.
    indent: usize,
    /// First character that is no space.
    start: usize,
    /// Behind the last character that is no space.
    end: usize,
}

struct Reader<'t> {
    text: &'t str,
    base: usize,
    /// The line that is to be read; `None` at the end.
    line: Option<Line>,
    /// Where the line after it begins.
    next: usize,
    duplicates: Vec<Problem>,
}

impl<'t> Reader<'t> {
    /// Goes to the next line that is not blank.
    fn advance(&mut self) {
        self.line = None;
        while let Some(rest) = self.text.get(self.next..).filter(|rest| !rest.is_empty()) {
            let length = memchr::memchr(b'\n', rest.as_bytes());
            let begin = self.next;
            let line = rest.get(..length.unwrap_or(rest.len())).unwrap_or_default();
            self.next = begin + length.map_or(rest.len(), |length| length + 1);
            let line = line
                .strip_suffix('\r')
                .unwrap_or(line)
                .trim_end_matches(' ');
            let content = line.trim_start_matches(' ');
            if !content.is_empty() {
                let indent = line.len() - content.len();
                self.line = Some(Line {
                    indent,
                    start: begin + indent,
                    end: begin + line.len(),
                });
                return;
            }
        }
    }

    fn slice(&self, range: Range<usize>) -> Option<&'t str> {
        self.text.get(range)
    }

    /// A block mapping whose keys stand at column `indent`.
    fn mapping(&mut self, indent: usize, depth: usize) -> Option<Node<'t>> {
        if depth > MAX_DEPTH {
            return None;
        }
        let mut entries: Vec<Entry<'t>> = Vec::new();
        while let Some(line) = self.line.filter(|line| line.indent >= indent) {
            if line.indent > indent {
                return None;
            }
            let (name, after) = self.key(line)?;
            let span = line.start..line.start + name.len();
            let key = self.scalar(Cow::Borrowed(name), classify(name), span);
            let content = self.slice(after..line.end)?.trim_start_matches(' ');
            let value = if content.is_empty() {
                self.advance();
                let next = self.line?;
                let item = self.is_item(next);
                if next.indent > indent && !item {
                    self.mapping(next.indent, depth + 1)?
                } else if next.indent >= indent && item {
                    self.sequence(next.indent, depth + 1)?
                } else {
                    return None;
                }
            } else {
                // `key:value` is one word, not a key with a value.
                if content.len() == line.end - after {
                    return None;
                }
                let value = self.inline(line.end - content.len()..line.end)?;
                self.advance();
                value
            };
            entries.push(Entry { key, value });
        }
        find_duplicates(&entries, &mut self.duplicates);
        let span = entries.first()?.key.span.start..entries.last()?.value.span.end;
        Some(Node {
            value: Value::Mapping {
                entries,
                flow: false,
            },
            span,
        })
    }

    /// A block list whose dashes stand at column `indent`.
    fn sequence(&mut self, indent: usize, depth: usize) -> Option<Node<'t>> {
        if depth > MAX_DEPTH {
            return None;
        }
        let mut items: Vec<Node<'t>> = Vec::new();
        while let Some(line) = self.line.filter(|line| line.indent >= indent) {
            if line.indent > indent {
                return None;
            }
            if !self.is_item(line) {
                break;
            }
            let content = self
                .slice(line.start + 1..line.end)?
                .trim_start_matches(' ');
            let start = line.end - content.len();
            let inner = Line {
                indent: indent + (start - line.start),
                start,
                end: line.end,
            };
            let item = if self.key(inner).is_some() {
                self.line = Some(inner);
                self.mapping(inner.indent, depth + 1)?
            } else {
                let item = self.inline(start..line.end)?;
                self.advance();
                item
            };
            items.push(item);
        }
        let span = items.first()?.span.start..items.last()?.span.end;
        Some(Node {
            value: Value::Sequence(items),
            span,
        })
    }

    fn is_item(&self, line: Line) -> bool {
        self.slice(line.start..line.end)
            .is_some_and(|text| text.starts_with("- "))
    }

    /// A key made of letters, digits, `_` and `-`, with a colon that ends the line or is followed
    /// by a space. Returns the key and where its colon ends.
    fn key(&self, line: Line) -> Option<(&'t str, usize)> {
        let text = self.slice(line.start..line.end)?;
        if !text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_') {
            return None;
        }
        let inside = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let length = text.bytes().take_while(inside).count();
        let (name, rest) = text.split_at_checked(length)?;
        let rest = rest.strip_prefix(':')?;
        // Longer keys meet the parser's own bound.
        let ends = rest.is_empty() || rest.starts_with(' ');
        (ends && length <= 100).then_some((name, line.start + length + 1))
    }

    fn scalar(&self, text: Cow<'t, str>, kind: ScalarKind, span: Range<usize>) -> Node<'t> {
        let span = self.base + span.start..self.base + span.end;
        Node {
            value: Value::Scalar(Scalar { text, kind }),
            span,
        }
    }

    /// A value that fills a range of one line.
    fn inline(&self, range: Range<usize>) -> Option<Node<'t>> {
        let text = self.slice(range.clone())?;
        match text.as_bytes().first()? {
            b'"' => {
                let (value, end) = quoted(text)?;
                (end == text.len()).then(|| self.scalar(value, ScalarKind::String, range))
            }
            b'[' => {
                let inside = text.strip_prefix('[')?.strip_suffix(']')?;
                self.flow(inside, range)
            }
            _ => {
                let bytes = text.as_bytes();
                let harmless = is_word(text)
                    && bytes.windows(2).all(|pair| !matches!(pair, [b':', b' ']))
                    && !text.ends_with(':');
                harmless.then(|| self.scalar(Cow::Borrowed(text), classify(text), range))
            }
        }
    }

    /// A list in brackets: quoted texts and words without colons.
    fn flow(&self, inside: &'t str, whole: Range<usize>) -> Option<Node<'t>> {
        let mut items = Vec::new();
        let mut at = whole.start + 1;
        let mut rest = inside;
        loop {
            let trimmed = rest.trim_start_matches(' ');
            at += rest.len() - trimmed.len();
            rest = trimmed;
            if rest.is_empty() {
                // `[]`, but not `[a, ]`.
                if items.is_empty() {
                    break;
                }
                return None;
            }
            let length = if rest.starts_with('"') {
                let (value, end) = quoted(rest)?;
                items.push(self.scalar(value, ScalarKind::String, at..at + end));
                end
            } else {
                let length = memchr::memchr(b',', rest.as_bytes()).unwrap_or(rest.len());
                let word = rest.get(..length)?.trim_end_matches(' ');
                if !is_word(word) || word.contains(':') {
                    return None;
                }
                items.push(self.scalar(Cow::Borrowed(word), classify(word), at..at + word.len()));
                word.len()
            };
            let after = rest.get(length..)?;
            let next = after.trim_start_matches(' ');
            if next.is_empty() {
                break;
            }
            let next = next.strip_prefix(',')?;
            at += rest.len() - next.len();
            rest = next;
            if rest.trim_start_matches(' ').is_empty() {
                return None;
            }
        }
        let span = self.base + whole.start..self.base + whole.end;
        Some(Node {
            value: Value::Sequence(items),
            span,
        })
    }
}

/// The double-quoted text that `text` begins with, and where it ends. Only the escapes that the
/// canonical writer uses.
fn quoted(text: &str) -> Option<(Cow<'_, str>, usize)> {
    let mut decoded: Option<String> = None;
    let mut from = 1;
    loop {
        let at = from + memchr::memchr2(b'"', b'\\', text.as_bytes().get(from..)?)?;
        let piece = text.get(from..at)?;
        if text.as_bytes().get(at) == Some(&b'"') {
            let value = match decoded {
                None => Cow::Borrowed(piece),
                Some(before) => Cow::Owned(before + piece),
            };
            return Some((value, at + 1));
        }
        let decoded = decoded.get_or_insert_with(String::new);
        decoded.push_str(piece);
        decoded.push(match text.as_bytes().get(at + 1)? {
            b'"' => '"',
            b'\\' => '\\',
            b'n' => '\n',
            _ => return None,
        });
        from = at + 2;
    }
}

/// A plain scalar without any character that could mean something, wherever it stands.
fn is_word(text: &str) -> bool {
    let inside = |byte: u8| {
        byte.is_ascii_alphanumeric()
            || byte >= 0x80
            || matches!(
                byte,
                b'_' | b'-' | b'.' | b'/' | b' ' | b':' | b'(' | b')' | b'+' | b';'
            )
    };
    text.starts_with(|first: char| first.is_alphanumeric() || first == '_')
        && text.bytes().all(inside)
        && !text.ends_with(char::is_whitespace)
}
