//! The tree from the events of a complete YAML parser.

use std::ops::Range;

use granit_parser::{Event, Parser, ScalarStyle, Span, StructureStyle, Tag};

use super::scalar::classify;
use super::{Entry, MAX_DEPTH, MAX_NODES, Node, Scalar, ScalarKind, Tree, Value, find_duplicates};
use crate::diagnostic::registry::{FM_005, FM_006};
use crate::parse::problem::{Problem, shown};

/// Parses a text; spans are moved by `base`.
pub(super) fn parse(slice: &str, base: usize) -> Tree<'_> {
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
                find_duplicates(&entries, &mut self.duplicates);
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
            .help(if what.contains("unclosed") {
                "end the value with the sign that it begins with"
            } else {
                "put values that hold `: `, ` #` or quotes into double quotes"
            }),
        );
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
