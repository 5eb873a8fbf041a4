//! YAML 1.2 (core schema) to a tree that knows where everything stands.
//!
//! For frontmatter and small configuration files that somebody else wrote: anchors, aliases, merge
//! keys and application tags are problems, duplicate keys are problems, depth and size are bounded.
//! Scalars keep their text and style, so that `title: 2024` can be told from `title: "2024"`.
//! It is not a general loader: nothing is converted, nothing is resolved across nodes.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use granit_parser::{Event, Parser, ScalarStyle, Span, StructureStyle, Tag};

use super::problem::{Problem, shown};
use crate::diagnostic::registry::{FM_005, FM_006};

/// Deepest nesting of block collections, and of flow collections.
pub const MAX_DEPTH: usize = 32;
/// Most nodes of one document.
pub const MAX_NODES: usize = 200_000;

/// A value and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node<'t> {
    /// What it is.
    pub value: Value<'t>,
    /// Byte range. Quotes and brackets are inside, the indicator of a block scalar (`|`) and the
    /// first dash of a block list are not. Empty for a value that is not written (`title:` and
    /// nothing after it).
    pub span: Range<usize>,
}

/// Kinds of node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value<'t> {
    /// A scalar.
    Scalar(Scalar<'t>),
    /// A list.
    Sequence(Vec<Node<'t>>),
    /// A mapping, in file order, duplicates included.
    Mapping {
        /// The entries.
        entries: Vec<Entry<'t>>,
        /// Whether it is written with braces.
        flow: bool,
    },
    /// An alias or a node with an application tag: already reported, its meaning is unknown.
    Opaque,
}

/// A key with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry<'t> {
    /// The key.
    pub key: Node<'t>,
    /// The value.
    pub value: Node<'t>,
}

impl Entry<'_> {
    /// Where to point when something is wrong with the value: at it, or at the key when no value
    /// is written.
    pub fn value_span(&self) -> Range<usize> {
        if self.value.span.is_empty() {
            self.key.span.clone()
        } else {
            self.value.span.clone()
        }
    }
}

/// The text of a scalar after escapes, and how it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scalar<'t> {
    /// Text, escapes processed and lines folded.
    pub text: Cow<'t, str>,
    /// What the core schema makes of it.
    pub kind: ScalarKind,
}

/// Type of a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScalarKind {
    /// Quoted, block or unambiguous plain text.
    String,
    /// Nothing, `~` or `null`.
    Null,
    /// `true` or `false`.
    Bool,
    /// A whole number that fits.
    Integer(i64),
    /// A whole number that does not fit into 64 bits.
    HugeInteger,
    /// A number with a fraction or an exponent, infinity or not-a-number.
    Float,
    /// A calendar date or time stamp, which YAML 1.1 readers turn into a date.
    Date,
}

impl ScalarKind {
    /// How a message names it, with its article.
    pub fn name(self) -> &'static str {
        match self {
            ScalarKind::String => "a string",
            ScalarKind::Null => "null",
            ScalarKind::Bool => "a boolean",
            ScalarKind::Integer(_) | ScalarKind::HugeInteger => "an integer",
            ScalarKind::Float => "a floating-point number",
            ScalarKind::Date => "a date",
        }
    }
}

impl<'t> Node<'t> {
    /// The text, if it is a string.
    pub fn as_str(&self) -> Option<&str> {
        match &self.value {
            Value::Scalar(Scalar {
                text,
                kind: ScalarKind::String,
            }) => Some(text),
            _ => None,
        }
    }

    /// Whether it is null, written or not.
    pub fn is_null(&self) -> bool {
        matches!(
            self.value,
            Value::Scalar(Scalar {
                kind: ScalarKind::Null,
                ..
            })
        )
    }

    /// How a message names its type, with its article.
    pub fn kind_name(&self) -> &'static str {
        match &self.value {
            Value::Scalar(scalar) => scalar.kind.name(),
            Value::Sequence(_) => "a list",
            Value::Mapping { .. } => "a mapping",
            Value::Opaque => "something unknown",
        }
    }
}

/// A parsed document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree<'t> {
    /// The root. `None`: nothing is written, or a syntax error (then `problems` is not empty).
    pub root: Option<Node<'t>>,
    /// Forbidden constructs and syntax errors, in file order.
    pub problems: Vec<Problem>,
    /// Duplicate keys, at the later one, in file order.
    pub duplicates: Vec<Problem>,
}

/// Parses `text[range]`; all spans are offsets in `text`. A range that is none gives an empty tree.
pub fn parse(text: &str, range: Range<usize>) -> Tree<'_> {
    let base = range.start;
    let Some(slice) = text.get(range) else {
        return Tree {
            root: None,
            problems: Vec::new(),
            duplicates: Vec::new(),
        };
    };
    let mut options = granit_parser::options! {
        emit_unresolved_aliases: true,
        emit_anchor_events: true,
        flow_nesting_limit: MAX_DEPTH,
        block_nesting_limit: MAX_DEPTH,
    };
    options.set_emit_comments(false);
    let mut builder = Builder {
        text: slice,
        base,
        frames: Vec::new(),
        root: None,
        documents: 0,
        nodes: 0,
        problems: Vec::new(),
        duplicates: Vec::new(),
    };
    for step in Parser::new_from_str_with_options(slice, options) {
        let going_on = match step {
            Ok((event, span)) => builder.event(event, span),
            Err(error) => {
                let at = error.marker().byte_offset().unwrap_or(slice.len());
                builder.syntax(at, &error.info());
                false
            }
        };
        if !going_on {
            builder.root = None;
            break;
        }
    }
    builder.duplicates.sort_by_key(|problem| problem.span.start);
    Tree {
        root: builder.root,
        problems: builder.problems,
        duplicates: builder.duplicates,
    }
}

/// A collection that is not closed yet.
enum Frame<'t> {
    Sequence {
        items: Vec<Node<'t>>,
        start: Range<usize>,
        flow: bool,
        opaque: bool,
    },
    Mapping {
        entries: Vec<Entry<'t>>,
        key: Option<Node<'t>>,
        start: Range<usize>,
        flow: bool,
        opaque: bool,
    },
}

struct Builder<'t> {
    text: &'t str,
    base: usize,
    frames: Vec<Frame<'t>>,
    root: Option<Node<'t>>,
    documents: usize,
    nodes: usize,
    problems: Vec<Problem>,
    duplicates: Vec<Problem>,
}

impl<'t> Builder<'t> {
    /// Takes one event; `false` stops.
    fn event(&mut self, event: Event<'t>, span: Span) -> bool {
        let range = span.byte_range().unwrap_or(0..0);
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 {
                    self.syntax(range.start, "a second document starts here");
                    return false;
                }
            }
            Event::Anchor(_, name) => self.forbidden(range, "anchor", &name),
            Event::Alias(_) | Event::UnresolvedAlias(_) => {
                let name = self.text.get(range.clone()).unwrap_or_default();
                let name = name.strip_prefix('*').unwrap_or(name).to_owned();
                self.forbidden(range.clone(), "alias", &name);
                return self.node(Node {
                    value: Value::Opaque,
                    span: self.absolute(range),
                });
            }
            Event::Scalar(text, style, _, tag) => {
                let value = match self.tag(tag.as_deref(), &span) {
                    TagMeaning::Application => Value::Opaque,
                    TagMeaning::String => Value::Scalar(Scalar {
                        text,
                        kind: ScalarKind::String,
                    }),
                    TagMeaning::None => {
                        let kind = match style {
                            ScalarStyle::Plain if range.is_empty() => ScalarKind::Null,
                            ScalarStyle::Plain => classify(&text),
                            _ => ScalarKind::String,
                        };
                        Value::Scalar(Scalar { text, kind })
                    }
                };
                let span = self.absolute(self.trimmed(range));
                return self.node(Node { value, span });
            }
            Event::SequenceStart(style, _, tag) => {
                let opaque = self.tag(tag.as_deref(), &span) == TagMeaning::Application;
                self.frames.push(Frame::Sequence {
                    items: Vec::new(),
                    start: range,
                    flow: style == StructureStyle::Flow,
                    opaque,
                });
            }
            Event::MappingStart(style, _, tag) => {
                let opaque = self.tag(tag.as_deref(), &span) == TagMeaning::Application;
                self.frames.push(Frame::Mapping {
                    entries: Vec::new(),
                    key: None,
                    start: range,
                    flow: style == StructureStyle::Flow,
                    opaque,
                });
            }
            Event::SequenceEnd | Event::MappingEnd => return self.close(range),
            _ => {}
        }
        true
    }

    /// Ends the innermost collection, whose closing event stands at `end`.
    fn close(&mut self, end: Range<usize>) -> bool {
        let node = match self.frames.pop() {
            Some(Frame::Sequence {
                items,
                start,
                flow,
                opaque,
            }) => {
                let ends = items.first().zip(items.last());
                let span = ends.map(|(first, last)| first.span.start..last.span.end);
                let span = self.collection_span(start, end, flow, span);
                let value = if opaque {
                    Value::Opaque
                } else {
                    Value::Sequence(items)
                };
                Node { value, span }
            }
            Some(Frame::Mapping {
                entries,
                start,
                flow,
                opaque,
                ..
            }) => {
                self.find_duplicates(&entries);
                let ends = entries.first().zip(entries.last());
                let span = ends.map(|(first, last)| {
                    first.key.span.start..last.value.span.end.max(last.key.span.end)
                });
                let span = self.collection_span(start, end, flow, span);
                let value = if opaque {
                    Value::Opaque
                } else {
                    Value::Mapping { entries, flow }
                };
                Node { value, span }
            }
            None => return true,
        };
        self.node(node)
    }

    /// Brackets included for a flow collection; from the first child to the last for a block.
    fn collection_span(
        &self,
        start: Range<usize>,
        end: Range<usize>,
        flow: bool,
        children: Option<Range<usize>>,
    ) -> Range<usize> {
        match children {
            Some(children) if !flow => children,
            _ => self.absolute(start.start..end.end.max(start.end)),
        }
    }

    /// Puts a finished node where it belongs.
    fn node(&mut self, node: Node<'t>) -> bool {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            let at = node.span.start.saturating_sub(self.base);
            self.syntax(at, &format!("more than {MAX_NODES} values"));
            return false;
        }
        match self.frames.last_mut() {
            None => self.root = Some(node),
            Some(Frame::Sequence { items, .. }) => items.push(node),
            Some(Frame::Mapping { entries, key, .. }) => match key.take() {
                None => *key = Some(node),
                Some(key) => {
                    // Two bytes long: the plain one; `"<<"` is an ordinary key.
                    let merge = key.span.len() == 2
                        && matches!(&key.value, Value::Scalar(scalar) if scalar.text == "<<");
                    if merge {
                        self.problems.push(
                            Problem::new(
                                FM_005,
                                key.span.clone(),
                                "merge keys (`<<`) are not allowed: a card must say what it means in place",
                            )
                            .contract("forbidden YAML construct: merge key")
                            .label("merge key"),
                        );
                    } else {
                        entries.push(Entry { key, value: node });
                    }
                }
            },
        }
        true
    }

    fn tag(&mut self, tag: Option<&Tag>, span: &Span) -> TagMeaning {
        let Some(tag) = tag else {
            return TagMeaning::None;
        };
        match tag.core_suffix() {
            Some("str") => TagMeaning::String,
            Some("null" | "bool" | "int" | "float" | "seq" | "map") => TagMeaning::None,
            _ => {
                let range = span
                    .tag_span()
                    .and_then(|span| span.byte_range())
                    .or_else(|| span.byte_range())
                    .unwrap_or(0..0);
                let name = self.text.get(range.clone()).unwrap_or_default().to_owned();
                self.forbidden(range, "tag", &name);
                TagMeaning::Application
            }
        }
    }

    fn forbidden(&mut self, range: Range<usize>, what: &str, name: &str) {
        let plural = if what == "alias" {
            "aliases"
        } else {
            &format!("{what}s")
        };
        self.problems.push(
            Problem::new(
                FM_005,
                self.absolute(range),
                format!("YAML {plural} are not allowed: `{}`", shown(name)),
            )
            .contract(format!("forbidden YAML construct: {what} {}", shown(name)))
            .label(format!("YAML {what}"))
            .help("write the value out; a value that starts with &, * or ! needs quotes"),
        );
    }

    /// A syntax error at `at`; the span is the word there, or the last one before it.
    fn syntax(&mut self, at: usize, what: &str) {
        let text = self.text;
        let mut start = at.min(text.len());
        while !text.is_char_boundary(start) {
            start -= 1;
        }
        let (before, after) = text.split_at(start);
        let word = after.find(char::is_whitespace).unwrap_or(after.len());
        let range = if word > 0 {
            start..start + word
        } else {
            let end = before.trim_end().len();
            let begin = before
                .trim_end()
                .rfind(char::is_whitespace)
                .map_or(0, |space| {
                    space + before[space..].chars().next().map_or(1, char::len_utf8)
                });
            begin.min(end)..end
        };
        self.problems.push(
            Problem::new(
                FM_006,
                self.absolute(range),
                format!("this is not valid YAML: {what}"),
            )
            .contract(format!("YAML parse error: {what}"))
            .label("not valid YAML")
            .help("put values that hold `: `, ` #` or quotes into double quotes"),
        );
    }

    fn find_duplicates(&mut self, entries: &[Entry<'t>]) {
        let mut seen: HashSet<&str> = HashSet::new();
        for (index, entry) in entries.iter().enumerate() {
            let Value::Scalar(Scalar { text, .. }) = &entry.key.value else {
                continue;
            };
            // Most mappings are tiny, and looking through them beats hashing.
            let before = entries.get(..index).unwrap_or_default();
            let duplicate = if entries.len() <= 16 {
                before.iter().any(
                    |other| matches!(&other.key.value, Value::Scalar(other) if other.text == *text),
                )
            } else {
                !seen.insert(text)
            };
            if duplicate {
                let name = shown(text);
                self.duplicates.push(
                    Problem::new(
                        FM_006,
                        entry.key.span.clone(),
                        format!("the key `{name}` is given twice"),
                    )
                    .contract(format!("duplicate YAML key: {name}"))
                    .label("given before"),
                );
            }
        }
    }

    /// Block scalars run to the next token; what follows their last line is not theirs.
    fn trimmed(&self, range: Range<usize>) -> Range<usize> {
        let text = self.text.get(range.clone()).unwrap_or_default();
        range.start..range.start + text.trim_end().len()
    }

    fn absolute(&self, range: Range<usize>) -> Range<usize> {
        range.start + self.base..range.end.max(range.start) + self.base
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum TagMeaning {
    None,
    String,
    Application,
}

/// What YAML's core schema (1.2, §10.3.2) makes of a plain scalar, and dates besides.
fn classify(text: &str) -> ScalarKind {
    let bytes = text.as_bytes();
    let Some(&first) = bytes.first() else {
        return ScalarKind::Null;
    };
    // Most plain scalars are words: only these first bytes can begin anything else.
    if !matches!(
        first,
        b'0'..=b'9' | b'+' | b'-' | b'.' | b'~' | b'n' | b'N' | b't' | b'T' | b'f' | b'F'
    ) {
        return ScalarKind::String;
    }
    match text {
        "~" | "null" | "Null" | "NULL" => return ScalarKind::Null,
        "true" | "True" | "TRUE" | "false" | "False" | "FALSE" => return ScalarKind::Bool,
        ".nan" | ".NaN" | ".NAN" => return ScalarKind::Float,
        _ => {}
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") {
        return ScalarKind::Float;
    }
    if !unsigned.is_empty() && unsigned.bytes().all(|byte| byte.is_ascii_digit()) {
        return text
            .parse()
            .map_or(ScalarKind::HugeInteger, ScalarKind::Integer);
    }
    for (prefix, radix) in [("0x", 16), ("0o", 8)] {
        if let Some(digits) = text.strip_prefix(prefix)
            && !digits.is_empty()
            && digits.chars().all(|digit| digit.is_digit(radix))
        {
            return i64::from_str_radix(digits, radix)
                .map_or(ScalarKind::HugeInteger, ScalarKind::Integer);
        }
    }
    if is_float(unsigned) {
        return ScalarKind::Float;
    }
    if is_date(bytes) {
        ScalarKind::Date
    } else {
        ScalarKind::String
    }
}

/// `( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?`
fn is_float(unsigned: &str) -> bool {
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mantissa_holds =
        digits(whole) && digits(fraction) && !(whole.is_empty() && fraction.is_empty());
    let exponent_holds = exponent.is_none_or(|exponent| {
        let unsigned = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        !unsigned.is_empty() && digits(unsigned)
    });
    mantissa_holds && exponent_holds
}

/// `YYYY-MM-DD`, alone or followed by a time (YAML 1.1 `timestamp`).
fn is_date(bytes: &[u8]) -> bool {
    let Some((date, rest)) = bytes.split_at_checked(10) else {
        return false;
    };
    let shape = date.iter().enumerate().all(|(index, byte)| match index {
        4 | 7 => *byte == b'-',
        _ => byte.is_ascii_digit(),
    });
    shape && matches!(rest.first(), None | Some(b'T' | b't' | b' '))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;
    use proptest::prelude::*;

    fn seen(text: &str) -> Vec<String> {
        let tree = parse(text, 0..text.len());
        tree.problems
            .iter()
            .chain(&tree.duplicates)
            .map(|problem| format!("{} @ {}", problem.code, &text[problem.span.clone()]))
            .collect()
    }

    #[test]
    fn plain_scalars_have_the_core_schemas_types() {
        let cases = [
            ("", ScalarKind::Null),
            ("~", ScalarKind::Null),
            ("NULL", ScalarKind::Null),
            ("nULL", ScalarKind::String),
            ("True", ScalarKind::Bool),
            ("yes", ScalarKind::String),
            ("-12", ScalarKind::Integer(-12)),
            ("+012", ScalarKind::Integer(12)),
            ("0x1F", ScalarKind::Integer(31)),
            ("0o17", ScalarKind::Integer(15)),
            ("0x", ScalarKind::String),
            ("9223372036854775808", ScalarKind::HugeInteger),
            ("1.", ScalarKind::Float),
            (".5", ScalarKind::Float),
            (".", ScalarKind::String),
            ("-", ScalarKind::String),
            ("1e5", ScalarKind::Float),
            ("1e", ScalarKind::String),
            ("-.INF", ScalarKind::Float),
            (".nan", ScalarKind::Float),
            ("1.2.3", ScalarKind::String),
            ("12:30", ScalarKind::String),
            ("2024-01-31", ScalarKind::Date),
            ("2024-01-31T10:00:00Z", ScalarKind::Date),
            ("2024-01-31x", ScalarKind::String),
            ("2024-1-31", ScalarKind::String),
            ("1694a259", ScalarKind::String),
            ("16943e259", ScalarKind::Float),
        ];
        for (text, kind) in cases {
            assert_eq!(classify(text), kind, "{text}");
        }
    }

    #[test]
    fn bombs_are_bounded() {
        let lines: String = (0..40)
            .map(|depth| format!("{}- \n", " ".repeat(depth)))
            .collect();
        let braces = "[".repeat(5000);
        let laughs = "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n";
        assert_eq!(seen(laughs).len(), 6);
        let many = format!("[{}]", "a,".repeat(MAX_NODES + 1));
        for (text, what) in [(lines, "block"), (braces, "flow"), (many, "values")] {
            let tree = parse(&text, 0..text.len());
            assert!(tree.root.is_none(), "{what}");
            assert_eq!(tree.problems.last().unwrap().code, FM_006, "{what}");
        }
    }

    #[test]
    fn spans_cover_what_is_written() {
        let text = "a: 'x y' # c\nb: plain words  \nc: |\n  two\n  lines\nd: [1, {e: 2}]\nf:\n- g\n- h: i\n  j: k\n";
        let tree = parse(text, 0..text.len());
        let Value::Mapping { entries, .. } = tree.root.unwrap().value else {
            panic!()
        };
        let spans: Vec<_> = entries
            .iter()
            .map(|entry| &text[entry.value.span.clone()])
            .collect();
        assert_eq!(
            spans,
            [
                "'x y'",
                "plain words",
                "two\n  lines",
                "[1, {e: 2}]",
                "g\n- h: i\n  j: k"
            ]
        );
    }

    #[test]
    fn duplicates_are_found_in_small_and_large_mappings() {
        assert_eq!(
            seen("a: 1\nb: {c: 1, 'c': 2}\na: 2\n"),
            ["CACG-FM-006 @ 'c'", "CACG-FM-006 @ a"]
        );
        let keys: String = (0..40).map(|key| format!("k{key}: 1\n")).collect();
        assert_eq!(seen(&format!("{keys}k7: 2\n")), ["CACG-FM-006 @ k7"]);
    }

    #[test]
    fn long_values_are_no_keys() {
        let text = format!("- \"{}\"\n- {}\n", "word ".repeat(900), "word ".repeat(900));
        assert_eq!(seen(&text), [""; 0]);
    }

    proptest! {
        #[test]
        fn anything_ends_in_a_state(text in "[-a:\\[\\]{},\"'&*!|>#%?\n\t \u{85}\u{2028}\u{FEFF}é0.~]{0,60}") {
            let tree = parse(&text, 0..text.len());
            for problem in tree.problems.iter().chain(&tree.duplicates) {
                prop_assert!(text.get(problem.span.clone()).is_some());
            }
        }
    }
}
