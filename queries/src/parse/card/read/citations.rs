//! The citations of a card.

use super::{
    CITATION_FIELDS, CITATION_REQUIRED, KB_CITATION_FIELDS, Owner, RULES, Reader, TYPES,
    hash_label, rule, type_step,
};
use crate::diagnostic::registry::{CITE_002, CITE_003, FM_001, FM_008};
use crate::diagnostic::{Applicability, Code};
use crate::parse::card::{
    Citation, CitationEdge, PageRange, PinPlace, ScalarStyle, Schema, is_hex64, is_space,
};
use crate::parse::problem::{Problem, Replacement, Spanned};
use crate::parse::yaml::{Entry, Scalar, ScalarKind, Value};
use std::ops::Range;

/// The fields that pin a citation to a chunk.
const PIN_FIELDS: [&str; 3] = ["chunk_id", "chunk_hash", "page_range"];

impl<'t> Reader<'t> {
    pub(super) fn citations(&mut self, entry: &Entry<'t>) {
        let Some(items) = self.mappings(entry, "citations") else {
            return;
        };
        if matches!(&entry.value.value, Value::Sequence(items) if items.is_empty()) {
            self.problem(
                (RULES, rule::CITATIONS, 0, 0),
                Problem::new(
                    FM_008,
                    entry.value_span(),
                    "a card needs at least one citation",
                )
                .contract("citations: must have at least 1 item")
                .label("no citation")
                .help("`kb cite` finds a passage and writes the citation"),
            );
        }
        for (index, item, entries) in items {
            let before = self.problems.len();
            let mut citation = Citation {
                index,
                span: item.span.clone(),
                ..Citation::default()
            };
            let mut seen = [false; KB_CITATION_FIELDS.len()];
            let known: &[&'static str] = match self.schema {
                Schema::Cacg => &CITATION_FIELDS,
                Schema::Kb => &KB_CITATION_FIELDS,
            };
            for entry in entries {
                if let Some(field) = self.known(entry, known, &mut seen, Owner::Citation(index)) {
                    self.citation_field(&mut citation, entry, field);
                }
            }
            let owner = Owner::Citation(index);
            let (span, end) = (item.span.clone(), item.span.end);
            self.missing(known, &CITATION_REQUIRED, &seen, owner, span, end);
            citation.sound = self.problems.len() == before;
            let pinned = known
                .iter()
                .zip(&seen)
                .any(|(field, seen)| *seen && PIN_FIELDS.contains(field));
            if !pinned && citation.source_id.is_some() && citation.quote.is_some() {
                let flow = matches!(item.value, Value::Mapping { flow: true, .. });
                let place = entries
                    .iter()
                    .find(|entry| entry.key.as_str() == Some("source_id"))
                    .and_then(|entry| PinPlace::after(self.text, entry, flow));
                citation.unpinned = Some(place);
            }
            self.card.citations.push(citation);
        }
    }

    fn citation_field(&mut self, citation: &mut Citation, entry: &Entry<'t>, field: &'static str) {
        let index = citation.index;
        let owner = Owner::Citation(index);
        let types = type_step("citations");
        if field == "page_range" {
            citation.page_range = self.page_range(entry, index);
            return;
        }
        // The contract's type scan takes the strings in this order, and `page_range` after them.
        let detail = match field {
            "source_id" => 0,
            "chunk_id" => 1,
            "chunk_hash" => 2,
            "quote" => 3,
            "edge_type" => 4,
            "prefix" => 6,
            _ => 7,
        };
        let rank = (TYPES, types, index + 1, detail);
        let Some((text, span)) = self.string(entry, field, owner, rank) else {
            return;
        };
        // Its rules take them in another: hash, pages, source, chunk, quote.
        match field {
            "edge_type" => match CitationEdge::parse(text) {
                Some(edge_type) => citation.edge_type = edge_type,
                None => self.unknown_edge_type(entry, span, text, owner, CitationEdge::NAMES),
            },
            "chunk_hash" if !is_hex64(text) => {
                let mut problem = Problem::new(
                    CITE_002,
                    span,
                    format!(
                        "{} must be 64 lower-case hexadecimal digits",
                        owner.field(field)
                    ),
                )
                .contract(format!(
                    "citations.{index}.chunk_hash: chunk_hash must be 64-hex SHA256 \
                     (Value error, chunk_hash must be 64-hex SHA256)"
                ))
                .label(hash_label(text))
                .help("copy it from the chunks manifest, or let `kb cite` write the citation");
                let lower = text.to_ascii_lowercase();
                let written = self.text.get(entry.value.span.clone()).unwrap_or_default();
                if is_hex64(&lower)
                    && let Some(at) = written.find(text)
                {
                    let start = entry.value.span.start + at;
                    problem = problem.fix(Replacement {
                        title: "write the hash in lower case".to_owned(),
                        applicability: Applicability::Safe,
                        range: start..start + text.len(),
                        text: lower,
                    });
                }
                self.problem((RULES, rule::CITATIONS, index, 0), problem);
            }
            "source_id" | "chunk_id" if text.is_empty() => {
                let detail = if field == "source_id" { 2 } else { 3 };
                self.empty((RULES, rule::CITATIONS, index, detail), span, owner, field);
            }
            "quote" | "prefix" | "suffix" if text.is_empty() => {
                self.empty((RULES, rule::CITATIONS, index, 4), span, owner, field);
            }
            "quote" | "prefix" | "suffix" if is_blank(text) => {
                self.problem(
                    (RULES, rule::CITATIONS, index, 5),
                    Problem::new(FM_008, span, format!("{} has no words", owner.field(field)))
                        .contract(format!("{}: blank after normalization", owner.path(field)))
                        .label("blank"),
                );
            }
            _ => {
                let value = Some(Spanned::new(text.into(), span));
                match field {
                    "source_id" => citation.source_id = value,
                    "chunk_id" => citation.chunk_id = value,
                    "chunk_hash" => citation.chunk_hash = value,
                    "prefix" => citation.prefix = value,
                    "suffix" => citation.suffix = value,
                    _ => {
                        citation.quote = value;
                        citation.quote_style = ScalarStyle::of(self.text, entry);
                    }
                }
            }
        }
    }

    fn page_range(&mut self, entry: &Entry<'t>, index: usize) -> Option<Spanned<PageRange>> {
        const ORDER: &str = "page_range must be ascending start<=end";
        let owner = Owner::Citation(index);
        let name = owner.field("page_range");
        let path = owner.path("page_range");
        let types = (TYPES, type_step("citations"), index + 1, 5);
        let rules = (RULES, rule::CITATIONS, index, 1);
        let whole = entry.value_span();
        let problem = |code: Code, span: Range<usize>, what: String, label: String| {
            Problem::new(code, span, format!("{name} {what}"))
                .contract(format!("{path}: {what}"))
                .label(label)
                .help("two page numbers, for instance `[3, 4]`")
        };
        let items = match &entry.value.value {
            Value::Sequence(items) => items,
            Value::Opaque => return None,
            _ => {
                let what = format!(
                    "must be a list of two pages, and is {}",
                    entry.value.kind_name()
                );
                self.problem(
                    types,
                    problem(CITE_003, whole, what, "not a list".to_owned()),
                );
                return None;
            }
        };
        let [first, last] = items.as_slice() else {
            let code = if items.len() == 1 { FM_001 } else { CITE_003 };
            let count = items.len();
            let what = format!("must hold exactly two pages, and holds {count}");
            let label = if count == 1 {
                "no end page".to_owned()
            } else {
                format!("{count} values")
            };
            self.problem(types, problem(code, whole, what, label));
            return None;
        };
        let mut pages = [0_i64; 2];
        let mut whole_numbers = true;
        for (place, (page, item)) in pages.iter_mut().zip([first, last]).enumerate() {
            let span = if item.span.is_empty() {
                whole.clone()
            } else {
                item.span.clone()
            };
            match &item.value {
                Value::Scalar(Scalar {
                    kind: ScalarKind::Integer(value),
                    text,
                }) if is_strict_integer(text) => {
                    *page = *value;
                    continue;
                }
                Value::Opaque => {}
                Value::Scalar(Scalar {
                    kind: ScalarKind::HugeInteger,
                    ..
                }) => {
                    let what = "holds a number that is no page".to_owned();
                    self.problem(types, problem(CITE_003, span, what, "too large".to_owned()));
                }
                _ => {
                    let label = if place == 0 { "start page" } else { "end page" };
                    let what = format!("must hold whole numbers, and holds {}", item.kind_name());
                    self.problem(types, problem(CITE_003, span, what, label.to_owned()));
                }
            }
            whole_numbers = false;
        }
        if !whole_numbers {
            return None;
        }
        for (page, item) in pages.iter().zip([first, last]) {
            if *page < 1 {
                let what = format!("holds the page {page}, and pages count from 1");
                let found = problem(CITE_003, item.span.clone(), what, "below 1".to_owned())
                    .contract(format!(
                        "{path}: {ORDER} (Value error, page_range entries must be >= 1)"
                    ));
                self.problem(rules, found);
                return None;
            }
        }
        let [start, end] = pages;
        if start > end {
            let what = format!("ends on page {end}, before it starts on page {start}");
            let mut found =
                problem(CITE_003, whole, what, "reversed".to_owned()).contract(format!(
                    "{path}: {ORDER} (Value error, page_range must be ascending (start <= end))"
                ));
            if self
                .text
                .get(entry.value.span.clone())
                .is_some_and(|text| text.starts_with('['))
            {
                found = found.fix(Replacement {
                    title: "swap the pages".to_owned(),
                    applicability: Applicability::Review,
                    range: entry.value.span.clone(),
                    text: format!("[{end}, {start}]"),
                });
            }
            self.problem(rules, found);
            return None;
        }
        let range = PageRange {
            start: start.unsigned_abs(),
            end: end.unsigned_abs(),
        };
        Some(Spanned::new(range, whole))
    }
}

/// A page is written in decimal: `010` is 8 to some readers of YAML and 10 to others.
fn is_strict_integer(text: &str) -> bool {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    digits.bytes().all(|byte| byte.is_ascii_digit())
        && (digits.len() == 1 || !digits.starts_with('0'))
}

/// Whether nothing is left of a text after the contract's normalisation (§2.1), which deletes white
/// space at the ends and hyphens at line ends.
fn is_blank(text: &str) -> bool {
    let mut rest = text.trim_start_matches(is_space);
    while let Some(after) = rest.strip_prefix('-') {
        let next = after.trim_start_matches(is_space);
        let gap = &after[..after.len() - next.len()];
        if !gap.contains('\n') {
            return false;
        }
        rest = next;
    }
    rest.is_empty()
}
