//! One chunk per authored unit.
//!
//! - A row of a registry is a chunk, whatever its length; its primary key is its unit id.
//! - A section under a heading of level 1 to 4 is a chunk, and so is the text before the first
//!   heading of level 2 to 4, a title included. A heading with nothing of its own under it joins
//!   the section after it. A document without such headings is one chunk. What exceeds the bound is
//!   split at paragraphs, without overlap; each part has the heading path as metadata.
//! - A line that a [`UnitPattern`] matches from its start begins a unit. It runs to the next match, or to the next heading
//!   that is not below the unit's own heading (the line itself, if it is one; otherwise the one it
//!   stands under). It is never merged, and never split up to four times the bound, because a rule
//!   must not be severed from its exceptions.
//! - A unit ends with its page.

use std::ops::Range;
use std::sync::Arc;

use regex::{Regex, RegexBuilder};

use super::atoms::{Kind, Outline, Part, parts_of_page};
use super::pack::{Packed, Size, pack};
use super::{
    ChunkError, Chunks, DocumentView, Slice, UnitParams, UnitPattern, finish_slices, words,
};

/// A unit of a pattern is split only over this many times the bound of a section.
const PATTERN_FACTOR: u32 = 4;

/// Deepest heading that begins a section.
const DEEPEST_SECTION: u8 = 4;

/// Largest compiled pattern, in bytes.
const PATTERN_SIZE: usize = 1 << 20;

/// Compiles patterns, each anchored at the start of a line.
pub(super) fn compile(patterns: &[UnitPattern]) -> Result<Vec<Regex>, ChunkError> {
    let fault = |pattern: &UnitPattern, reason: String| ChunkError::Pattern {
        kind: pattern.kind.clone(),
        reason,
    };
    patterns
        .iter()
        .map(|pattern| {
            // Alone first, so that a stray parenthesis cannot close the anchor's group, and so that
            // the message shows the pattern as it was written.
            let build = |text: &str| {
                RegexBuilder::new(text)
                    .size_limit(PATTERN_SIZE)
                    .build()
                    .map_err(|error| fault(pattern, error.to_string()))
            };
            build(&pattern.pattern)?;
            let anchored = build(&format!("^(?:{})", pattern.pattern))?;
            if anchored.is_match("") {
                return Err(fault(pattern, "it matches an empty line".to_owned()));
            }
            Ok(anchored)
        })
        .collect()
}

/// Where a unit of a pattern begins.
struct Start {
    at: usize,
    pattern: usize,
    id: Option<Box<str>>,
}

/// A unit before it is split.
struct Unit {
    parts: Vec<Part>,
    source_type: Arc<str>,
    id: Option<Box<str>>,
    /// Whether it came from a pattern.
    atomic: bool,
    /// Whether it holds anything but headings.
    has_body: bool,
}

pub(super) fn chunk(
    document: &DocumentView<'_>,
    params: &UnitParams,
) -> Result<Chunks, ChunkError> {
    let patterns = compile(&params.patterns)?;
    let starts = find_starts(document.text, &patterns);
    let parts = split_at_starts(document, all_parts(document), &starts);
    let units = gather(document, parts, &starts, &params.patterns);
    let mut slices = Vec::with_capacity(units.len());
    for unit in units {
        push_unit(document.text, unit, params.max_tokens, &mut slices);
    }
    Ok(finish_slices(document, slices))
}

fn all_parts(document: &DocumentView<'_>) -> Vec<Part> {
    let mut outline = Outline::new();
    let mut next_block = 0;
    (0..document.page_count())
        .flat_map(|index| {
            parts_of_page(
                document,
                &document.page(index),
                &mut next_block,
                &mut outline,
            )
        })
        .collect()
}

/// Every line that begins a unit, in order; of two patterns that match a line the first counts.
/// A pattern sees one line at a time, so that no pattern reads the rest of the text at each line.
fn find_starts(text: &str, patterns: &[Regex]) -> Vec<Start> {
    let mut starts = Vec::new();
    if patterns.is_empty() {
        return starts;
    }
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let body = line.strip_suffix('\n').unwrap_or(line);
        let found = patterns
            .iter()
            .enumerate()
            .find(|(_, regex)| !body.is_empty() && regex.is_match(body));
        if let Some((pattern, regex)) = found {
            let id = regex
                .captures(body)
                .and_then(|captures| captures.get(1))
                .map(|id| id.as_str().trim())
                .filter(|id| !id.is_empty())
                .map(Box::from);
            starts.push(Start { at, pattern, id });
        }
        at += line.len();
    }
    starts
}

/// Cuts the parts in which a unit begins at a later line.
fn split_at_starts(document: &DocumentView<'_>, parts: Vec<Part>, starts: &[Start]) -> Vec<Part> {
    if starts.is_empty() {
        return parts;
    }
    let text = document.text;
    let mut result = Vec::with_capacity(parts.len() + starts.len());
    let mut starts = starts.iter().map(|start| start.at).peekable();
    for part in parts {
        while starts.next_if(|&at| at <= part.range.start).is_some() {}
        let mut rest = part.range.clone();
        while let Some(at) = starts.next_if(|&at| at < part.range.end) {
            push_piece(text, &part, rest.start..at, &mut result);
            rest.start = at;
        }
        if rest == part.range {
            result.push(part);
        } else {
            push_piece(text, &part, rest, &mut result);
        }
    }
    result
}

fn push_piece(text: &str, part: &Part, range: Range<usize>, result: &mut Vec<Part>) {
    let range = words::trim(text, range);
    if range.is_empty() {
        return;
    }
    result.push(Part {
        tokens: text.get(range.clone()).map_or(0, words::count),
        range,
        kind: part.kind.clone(),
        path: Arc::clone(&part.path),
    });
}

/// Puts parts together into units.
fn gather(
    document: &DocumentView<'_>,
    parts: Vec<Part>,
    starts: &[Start],
    patterns: &[UnitPattern],
) -> Vec<Unit> {
    let kinds: Vec<Arc<str>> = patterns
        .iter()
        .map(|pattern| Arc::from(pattern.kind.as_str()))
        .collect();
    let [section, page_type, file, row]: [Arc<str>; 4] =
        ["section", "page", "file", "registry_row"].map(Arc::from);
    let has_sections = parts.iter().any(|part| {
        matches!(
            part.kind,
            Kind::Heading {
                level: 2..=DEEPEST_SECTION
            }
        )
    });
    let plain = match (document.paged, has_sections) {
        (_, true) => &section,
        (true, false) => &page_type,
        (false, false) => &file,
    };

    let mut units: Vec<Unit> = Vec::new();
    let mut starts = starts.iter().peekable();
    // Level of the heading that the text stands under, and of the heading that ends the unit of a
    // pattern.
    let mut level = 0u8;
    let mut unit_level = 0u8;
    let mut any_heading = false;
    let mut last_page = None;
    for part in parts {
        let page = document.page_at(part.range.start);
        let turns = last_page.replace(page).is_some_and(|last| last != page);
        let heading = match part.kind {
            Kind::Heading { level } => Some(level),
            _ => None,
        };
        // A start at or before the part's first character, behind the end of the part before: the
        // line may begin with white space or markup that the part does not hold.
        let mut begun = None;
        while let Some(start) = starts.next_if(|start| start.at <= part.range.start) {
            begun = Some(start);
        }
        level = heading.unwrap_or(level);
        if let Kind::Row { key } = &part.kind {
            let id = Some(key.clone()).filter(|key| !key.is_empty());
            units.push(Unit {
                source_type: Arc::clone(&row),
                id,
                atomic: true,
                has_body: true,
                parts: vec![part],
            });
            continue;
        }
        if let Some(start) = begun {
            any_heading |= heading.is_some();
            unit_level = match heading {
                Some(own) => own,
                // Text under a title or under nothing ends where the first section begins.
                None if level <= 1 => DEEPEST_SECTION,
                None => level,
            };
            units.push(Unit {
                source_type: kinds
                    .get(start.pattern)
                    .map_or_else(|| Arc::clone(plain), Arc::clone),
                id: start.id.clone(),
                atomic: true,
                has_body: true,
                parts: vec![part],
            });
            continue;
        }
        let new_unit = match units.last() {
            None => true,
            Some(unit) if unit.source_type == row => true,
            Some(_) if turns => true,
            Some(unit) if unit.atomic => heading.is_some_and(|level| level <= unit_level),
            Some(unit) => match heading {
                // A title goes on in the text before it.
                Some(1) if !any_heading => false,
                Some(1..=DEEPEST_SECTION) => unit.has_body,
                _ => false,
            },
        };
        any_heading |= heading.is_some();
        if new_unit {
            units.push(Unit {
                parts: vec![part],
                source_type: Arc::clone(plain),
                id: None,
                atomic: false,
                has_body: heading.is_none(),
            });
        } else if let Some(unit) = units.last_mut() {
            unit.has_body |= heading.is_none();
            unit.parts.push(part);
        }
    }
    units
}

fn push_unit(text: &str, unit: Unit, max_tokens: u32, slices: &mut Vec<Slice>) {
    let target = if unit.source_type.as_ref() == "registry_row" {
        u32::MAX
    } else if unit.atomic {
        max_tokens.saturating_mul(PATTERN_FACTOR)
    } else {
        max_tokens
    };
    let size = Size { target, overlap: 0 };
    let mut packed: Vec<Packed> = Vec::new();
    pack(text, 0, &unit.parts, size, &mut packed);
    slices.extend(packed.into_iter().map(|chunk| {
        Slice {
            range: chunk.range,
            token_count: chunk.tokens,
            source_type: Arc::clone(&unit.source_type),
            unit_id: unit.id.clone(),
            heading_path: unit
                .parts
                .get(chunk.part)
                .map_or_else(|| Arc::from([]), |part| Arc::clone(&part.path)),
        }
    }));
}
