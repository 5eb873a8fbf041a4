//! YAML 1.2 (core schema) to a tree that knows where everything stands.
//!
//! For frontmatter and small configuration files that somebody else wrote: anchors, aliases, merge
//! keys and application tags are problems, duplicate keys are problems, depth and size are bounded.
//! Scalars keep their text and style, so that `title: 2024` can be told from `title: "2024"`.
//! It is not a general loader: nothing is converted, nothing is resolved across nodes.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use crate::diagnostic::registry::FM_006;
use crate::parse::problem::{Problem, shown};

mod events;
mod everyday;
mod scalar;

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
    // Nearly every card is written in a small part of YAML, and reading that part by hand takes a
    // tenth of the time. What is not clearly within it goes to the real parser.
    everyday::parse(slice, base).unwrap_or_else(|| events::parse(slice, base))
}

/// Reports keys that an earlier entry of the same mapping has.
fn find_duplicates(entries: &[Entry<'_>], problems: &mut Vec<Problem>) {
    let mut seen: HashSet<&str> = HashSet::new();
    for (index, entry) in entries.iter().enumerate() {
        let Value::Scalar(Scalar { text, .. }) = &entry.key.value else {
            continue;
        };
        // Most mappings are tiny, and looking through them beats hashing.
        let before = entries.get(..index).unwrap_or_default();
        let same = |other: &Entry<'_>| matches!(&other.key.value, Value::Scalar(other) if other.text == *text);
        let duplicate = if entries.len() <= 16 {
            before.iter().any(same)
        } else {
            !seen.insert(text)
        };
        if duplicate {
            let name = shown(text);
            problems.push(
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

#[cfg(test)]
mod tests;
