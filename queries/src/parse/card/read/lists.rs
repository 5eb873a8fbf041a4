//! The lists of a card: tags, edges, and what lists of mappings have in common.

use std::collections::HashSet;

use super::{EDGE_FIELDS, EDGE_REQUIRED, LOAD, Owner, RULES, Reader, TYPES, rule, type_step};
use crate::diagnostic::registry::{FM_008, SUM_003, SUM_004};
use crate::parse::card::{Edge, EdgeType, TAG_MAX, TAG_MIN, TAGS_MAX};
use crate::parse::problem::{Problem, Spanned, nearest, shown};
use crate::parse::yaml::{Entry, Node, Value};
use std::ops::Range;

impl<'t> Reader<'t> {
    pub(super) fn tags(&mut self, entry: &Entry<'t>) {
        let step = type_step("tags");
        let items = match &entry.value.value {
            Value::Sequence(items) => items,
            Value::Opaque => return,
            _ => {
                let what = entry.value.kind_name();
                self.problem(
                    (TYPES, step, 0, 0),
                    Problem::new(
                        SUM_003,
                        entry.value_span(),
                        format!("`tags` must be a list, and is {what}"),
                    )
                    .contract(format!("tags: must be a list (got {what})"))
                    .label("not a list")
                    .help("for instance `tags: [\"hashing\", \"trees\"]`"),
                );
                return;
            }
        };
        if items.len() > TAGS_MAX {
            let first_too_many = items
                .get(TAGS_MAX)
                .map_or_else(|| entry.value_span(), |item| item.span.clone());
            self.problem(
                (RULES, rule::TAGS_COUNT, 0, 0),
                Problem::new(
                    SUM_004,
                    first_too_many,
                    format!(
                        "a card has at most {TAGS_MAX} tags, and this one has {}",
                        items.len()
                    ),
                )
                .contract(format!("tags: at most {TAGS_MAX} entries"))
                .label(format!("the first beyond {TAGS_MAX}")),
            );
        }
        let mut seen: HashSet<&str> = HashSet::new();
        for (index, item) in items.iter().enumerate() {
            let Some(tag) = item.as_str() else {
                if item.value != Value::Opaque {
                    let span = if item.span.is_empty() {
                        entry.key.span.clone()
                    } else {
                        item.span.clone()
                    };
                    let name = format!("tag {}", index + 1);
                    let path = format!("tags.{index}");
                    let problem = self.not_a_string(SUM_003, item, span, &name, &path);
                    self.problem((TYPES, step, index + 1, 0), problem);
                }
                continue;
            };
            let length = tag.chars().count();
            let (message, label, help) = if !(TAG_MIN..=TAG_MAX).contains(&length) {
                (
                    format!(
                        "a tag has {TAG_MIN} to {TAG_MAX} characters, and `{}` has {length}",
                        shown(tag)
                    ),
                    format!("{length} characters"),
                    "choose a word by which somebody would look for the card",
                )
            } else if !is_slug(tag) {
                (
                    format!(
                        "the tag `{}` must be made of a-z, 0-9, `_` and `-`, and begin with a letter or digit",
                        shown(tag)
                    ),
                    "not a slug".to_owned(),
                    "write it like `hash-trees`",
                )
            } else if !seen.insert(tag) {
                (
                    format!("the tag `{}` is given twice", shown(tag)),
                    "given before".to_owned(),
                    "keep one of the two",
                )
            } else {
                self.card
                    .tags
                    .push(Spanned::new(tag.into(), item.span.clone()));
                continue;
            };
            self.problem(
                (RULES, rule::TAGS, index, 0),
                Problem::new(SUM_003, item.span.clone(), message.clone())
                    .contract(format!("tags.{index}: {message}"))
                    .label(label)
                    .help(help),
            );
        }
    }

    /// The items of a list of mappings; reports a list or items that are none.
    pub(super) fn mappings<'n>(
        &mut self,
        entry: &'n Entry<'t>,
        field: &'static str,
    ) -> Option<Vec<(usize, &'n Node<'t>, &'n [Entry<'t>])>> {
        let step = type_step(field);
        let items = match &entry.value.value {
            Value::Sequence(items) => items,
            Value::Opaque => return None,
            _ => {
                let what = entry.value.kind_name();
                self.problem(
                    (TYPES, step, 0, 0),
                    Problem::new(
                        FM_008,
                        entry.value_span(),
                        format!("`{field}` must be a list, and is {what}"),
                    )
                    .contract(format!("{field}: must be a list (got {what})"))
                    .label("not a list"),
                );
                return None;
            }
        };
        let mut found = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            match &item.value {
                Value::Mapping { entries, .. } => found.push((index, item, entries.as_slice())),
                Value::Opaque => {}
                _ => {
                    let what = item.kind_name();
                    let span = if item.span.is_empty() {
                        entry.key.span.clone()
                    } else {
                        item.span.clone()
                    };
                    self.problem(
                        (TYPES, step, index + 1, 0),
                        Problem::new(
                            FM_008,
                            span,
                            format!(
                                "item {} of `{field}` must be a mapping, and is {what}",
                                index + 1
                            ),
                        )
                        .contract(format!("{field}.{index}: must be a mapping (got {what})"))
                        .label("not a mapping"),
                    );
                }
            }
        }
        Some(found)
    }

    pub(super) fn edges(&mut self, entry: &Entry<'t>) {
        let Some(items) = self.mappings(entry, "card_edges") else {
            return;
        };
        let mut pairs: HashSet<(Box<str>, EdgeType)> = HashSet::new();
        for (index, item, entries) in items {
            let owner = Owner::Edge(index);
            let mut seen = [false; EDGE_FIELDS.len()];
            let mut target: Option<Spanned<Box<str>>> = None;
            let mut edge_type = Some(EdgeType::default());
            for entry in entries {
                let Some(field) = self.known(entry, &EDGE_FIELDS, &mut seen, owner) else {
                    continue;
                };
                let detail = usize::from(field != "target");
                let rank = (TYPES, type_step("card_edges"), index + 1, detail);
                let value = self.string(entry, field, owner, rank);
                match (field, value) {
                    ("target", Some(("", span))) => {
                        self.empty((RULES, rule::EDGES, index, 0), span, owner, field);
                    }
                    ("target", Some((text, span))) => {
                        target = Some(Spanned::new(text.into(), span))
                    }
                    ("target", None) => {}
                    (_, Some((text, span))) => {
                        edge_type = EdgeType::parse(text);
                        if edge_type.is_none() {
                            self.unknown_edge_type(entry, span, text, owner, EdgeType::NAMES);
                        }
                    }
                    (_, None) => edge_type = None,
                }
            }
            self.missing(
                &EDGE_FIELDS,
                &EDGE_REQUIRED,
                &seen,
                owner,
                item.span.clone(),
                item.span.end,
            );
            let (Some(target), Some(edge_type)) = (target, edge_type) else {
                continue;
            };
            if pairs.insert((target.value.clone(), edge_type)) {
                self.card.edges.push(Edge {
                    target,
                    edge_type,
                    span: item.span.clone(),
                });
            } else {
                let (name, kind) = (shown(&target.value), edge_type.as_str());
                self.problem(
                    (RULES, rule::EDGES, index, 1),
                    Problem::new(
                        FM_008,
                        item.span.clone(),
                        format!("the edge `{kind}` to `{name}` is given twice"),
                    )
                    .contract(format!(
                        "card_edges: duplicate entry target={name} edge_type={kind}"
                    ))
                    .label("given before"),
                );
            }
        }
    }

    pub(super) fn unknown_edge_type(
        &mut self,
        entry: &Entry<'t>,
        span: Range<usize>,
        text: &str,
        owner: Owner,
        names: &'static [&'static str],
    ) {
        let known = names.join(", ");
        let help = match nearest(text, names.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("one of: {known}"),
        };
        self.problem(
            (LOAD, entry.value.span.start, 1, 0),
            Problem::new(
                FM_008,
                span,
                format!("`{}` is no edge type of {}", shown(text), owner.name()),
            )
            .contract(format!(
                "{}: must be one of {known}",
                owner.path("edge_type")
            ))
            .label("unknown edge type")
            .help(help),
        );
    }
}

/// `^[a-z0-9][a-z0-9_-]*$`
fn is_slug(text: &str) -> bool {
    !text.starts_with(['_', '-'])
        && !text.is_empty()
        && text
            .bytes()
            .all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-'))
}
