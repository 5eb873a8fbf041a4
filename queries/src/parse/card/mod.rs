//! Cards: Markdown files with the frontmatter schema `cacg.v0` (contract §1) or `kb.v1`, which is the
//! same with `prefix` and `suffix` in citations.
//!
//! [`parse`] collects every problem of a card, each with the bytes it is about, in the order in
//! which the contract would find them. What is sound stays usable: a citation whose own fields are
//! fine can be resolved although another one is broken. Nothing here looks at another file.

use std::ops::Range;

pub use self::model::{Card, CardCitation, CardEdge, CitationEdge, EdgeType, PageRange, Schema};
pub use self::place::{PinPlace, ScalarStyle};
pub use self::read::parse;
pub use self::shape::citation_shape_problem;
pub use self::write::{canonical_text, card_hash_edit};
use crate::commit::hash::{self, Digest};
use crate::diagnostic::registry::FM_001;
use crate::parse::problem::{Problem, Spanned};

mod fence;
mod model;
mod place;
mod read;
mod shape;
mod write;

/// The schema version of the contract: of manifests, and of cards without fields of our own.
pub const SCHEMA_VERSION: &str = "cacg.v0";
/// Least length of a summary, in code points.
pub const SUMMARY_MIN: usize = 80;
/// Greatest length of a summary, in code points.
pub const SUMMARY_MAX: usize = 400;
/// Most tags of a card.
pub const TAGS_MAX: usize = 10;
/// Least length of a tag, in code points.
pub const TAG_MIN: usize = 2;
/// Greatest length of a tag, in code points.
pub const TAG_MAX: usize = 40;

/// What could be read of a card. A field is `Some` only if its value obeys its rules.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct ParsedCard {
    /// The YAML between the fences.
    pub frontmatter: Option<Range<usize>>,
    /// The opening fence: where a problem points that has no better place.
    pub fence: Range<usize>,
    /// The Markdown after the closing fence.
    pub body: Range<usize>,
    /// `schema_version`.
    pub schema_version: Option<Spanned<Box<str>>>,
    /// `id`.
    pub id: Option<Spanned<Box<str>>>,
    /// `title`.
    pub title: Option<Spanned<Box<str>>>,
    /// `reading_id`.
    pub reading_id: Option<Spanned<Box<str>>>,
    /// `summary`.
    pub summary: Option<Spanned<Box<str>>>,
    /// The sound ones of `tags`.
    pub tags: Vec<Spanned<Box<str>>>,
    /// The sound ones of `card_edges`.
    pub edges: Vec<Edge>,
    /// Every item of `citations` that is a mapping.
    pub citations: Vec<Citation>,
    /// `card_hash`: 64 hex digits. `None` also when it is absent or null.
    pub card_hash: Option<Spanned<Box<str>>>,
    /// Everything that is wrong. The first is the one the contract prints.
    pub problems: Vec<Problem>,
}

/// One item of `card_edges`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Edge {
    /// The other card's id.
    pub target: Spanned<Box<str>>,
    /// What the edge means.
    pub edge_type: EdgeType,
    /// The whole item.
    pub span: Range<usize>,
}

/// One item of `citations`. A field is `Some` only if its value obeys its rules.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Citation {
    /// Place in the list, from 0.
    pub index: usize,
    /// `source_id`.
    pub source_id: Option<Spanned<Box<str>>>,
    /// `chunk_id`; its shape is checked by [`citation_shape_problem`].
    pub chunk_id: Option<Spanned<Box<str>>>,
    /// `chunk_hash`: 64 lower-case hex digits.
    pub chunk_hash: Option<Spanned<Box<str>>>,
    /// `page_range`.
    pub page_range: Option<Spanned<PageRange>>,
    /// `quote`, escapes processed.
    pub quote: Option<Spanned<Box<str>>>,
    /// How `quote` is written.
    pub quote_style: ScalarStyle,
    /// `prefix`: what stands directly before the quote. Only under [`Schema::Kb`].
    pub prefix: Option<Spanned<Box<str>>>,
    /// `suffix`: what stands directly after the quote. Only under [`Schema::Kb`].
    pub suffix: Option<Spanned<Box<str>>>,
    /// Of a citation that names its source and quote but neither chunk, hash nor pages: where they
    /// can be put. `None` within: nowhere that is clear.
    pub unpinned: Option<Option<PinPlace>>,
    /// `edge_type`, or its default where it is absent or unknown.
    pub edge_type: CitationEdge,
    /// The whole item.
    pub span: Range<usize>,
    /// Whether nothing is wrong with it, unknown fields and bad edge types included.
    pub sound: bool,
}

impl Citation {
    /// The span-free value, if every field is there.
    pub fn complete(&self) -> Option<CardCitation> {
        Some(CardCitation {
            source_id: self.source_id.as_ref()?.value.clone(),
            chunk_id: self.chunk_id.as_ref()?.value.clone(),
            chunk_hash: self.chunk_hash.as_ref()?.value.clone(),
            page_range: self.page_range.as_ref()?.value,
            quote: self.quote.as_ref()?.value.clone(),
            prefix: self.prefix.as_ref().map(|text| text.value.clone()),
            suffix: self.suffix.as_ref().map(|text| text.value.clone()),
            edge_type: self.edge_type,
        })
    }
}

impl ParsedCard {
    /// The body's text, given the text that was parsed.
    pub fn body_text<'t>(&self, text: &'t str) -> &'t str {
        text.get(self.body.clone()).unwrap_or_default()
    }

    /// The hash of the card (contract §2.4), if nothing at all is wrong with it; `text` is the text
    /// that was parsed.
    pub fn card_hash(&self, text: &str) -> Option<Digest> {
        let frontmatter = self.complete()?.frontmatter_value();
        Some(hash::card_hash(&frontmatter, self.body_text(text)))
    }

    /// The problems without those that only say that a citation is not pinned yet: the fields that
    /// `kb fix` adds are missing, and nothing else.
    pub fn problems_besides_pins(&self) -> impl Iterator<Item = &Problem> {
        // A missing field of a citation is reported at the whole citation, and of one that is not
        // pinned exactly the three fields of a pin are missing.
        self.problems.iter().filter(|problem| {
            problem.code != FM_001
                || !self
                    .citations
                    .iter()
                    .any(|citation| citation.unpinned.is_some() && citation.span == problem.span)
        })
    }

    /// The model with its defaults filled in, if nothing at all is wrong with the card.
    pub fn complete(&self) -> Option<Card> {
        if !self.problems.is_empty() {
            return None;
        }
        Some(Card {
            schema: Schema::parse(&self.schema_version.as_ref()?.value)?,
            id: self.id.as_ref()?.value.clone(),
            title: self.title.as_ref()?.value.clone(),
            reading_id: self.reading_id.as_ref()?.value.clone(),
            summary: self.summary.as_ref()?.value.clone(),
            tags: self.tags.iter().map(|tag| tag.value.clone()).collect(),
            edges: self
                .edges
                .iter()
                .map(|edge| CardEdge {
                    target: edge.target.value.clone(),
                    edge_type: edge.edge_type,
                })
                .collect(),
            citations: self
                .citations
                .iter()
                .map(Citation::complete)
                .collect::<Option<_>>()?,
            card_hash: self.card_hash.as_ref().map(|hash| hash.value.clone()),
        })
    }
}

/// Whether `text` is 64 lower-case hexadecimal digits.
pub fn is_hex64(text: &str) -> bool {
    text.len() == 64
        && text
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// The frontmatter of a text between `---` lines, for files that are no cards. A last line without
/// a line break will do.
pub(crate) fn frontmatter(text: &str) -> Option<Range<usize>> {
    match fence::split(text, 0) {
        Ok(parts) | Err(fence::Missing::LineBreak { parts, .. }) => Some(parts.frontmatter),
        Err(fence::Missing::Opening | fence::Missing::Closing { .. }) => None,
    }
}

/// White space as the contract's regular expressions mean it: Unicode `White_Space` and
/// U+001C to U+001F.
pub(crate) fn is_space(character: char) -> bool {
    character.is_whitespace() || matches!(character, '\u{1C}'..='\u{1F}')
}

#[cfg(test)]
mod tests;
