//! The text that a citation points at, and places in it for people.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use crate::Db;
use crate::chunk::Chunk;
use crate::derive::{CitedChunk, SourceDerivation};
use crate::diagnostic::{Excerpt, Related, Span};
use crate::documents::LoadError;
use crate::input::SourceFile;
use crate::parse::document::{Document, FilePosition, Format};
use crate::system::ReadFailure;
use crate::text::normalize::normalize_mapped;
use crate::text::quote::Passage;
use crate::text::veil::{self, Veiled};

/// A source's chunks and, unless a manifest gives the chunks, its document.
pub struct SourceText {
    path: Arc<str>,
    derivation: Arc<SourceDerivation>,
    document: Option<Arc<Document>>,
}

/// A stretch of text in which a quote is looked for.
pub struct Window<'a> {
    /// The chunk's text, with what follows it where a quote may run on.
    pub text: &'a str,
    /// The cited chunk within it: a match starts here.
    pub cited: Range<usize>,
    /// The cited pages within it: a match lies here.
    pub pages: Range<usize>,
    /// Where a new page begins in it.
    pub page_starts: Vec<usize>,
    /// What stands in it and is not said by it.
    pub veiled: Cow<'a, [Veiled]>,
}

impl Window<'_> {
    /// The window as the matcher takes it.
    pub fn passage<'a>(&'a self, title: Option<&'a str>) -> Passage<'a> {
        Passage {
            text: self.text,
            cited: self.cited.clone(),
            window: self.pages.clone(),
            page_starts: Some(&self.page_starts),
            veiled: &self.veiled,
            title,
        }
    }
}

impl SourceText {
    /// The text behind a chunk that the graph has just resolved. Adds no dependency: what is
    /// loaded must have the chunk's hash, which the caller depends on.
    pub fn of_chunk(db: &dyn Db, file: SourceFile, chunk: &CitedChunk) -> Result<Self, LoadError> {
        let text = Self::load(db, file)?;
        match text.chunk(chunk.index) {
            Some(found) if found.hash == chunk.hash => Ok(text),
            _ => Err(LoadError::Read(ReadFailure::Changed)),
        }
    }

    /// The text of a whole source. The caller has derived it, and depends on the file if it looks
    /// beyond its chunk ([`crate::derive::depend_on_file`]).
    pub fn load(db: &dyn Db, file: SourceFile) -> Result<Self, LoadError> {
        let path = file.path(db);
        let derived = db
            .documents()
            .derived(path)
            .ok_or(LoadError::Read(ReadFailure::Absent))?;
        let document = match derived.recipe.given {
            Some(_) => None,
            None => Some(db.documents().load(
                db.system(),
                path,
                derived.fingerprint,
                &derived.recipe,
            )?),
        };
        Ok(SourceText {
            path: path.clone(),
            derivation: derived.derivation,
            document,
        })
    }

    /// The chunk at `index`.
    pub fn chunk(&self, index: usize) -> Option<&Chunk> {
        self.derivation.chunks.list.get(index)
    }

    /// All chunks.
    pub fn chunks(&self) -> &[Chunk] {
        &self.derivation.chunks.list
    }

    /// The text of the chunk at `index`.
    pub fn chunk_text(&self, index: usize) -> &str {
        let document = self.document.as_ref().map_or("", |document| &document.text);
        self.derivation.chunks.text(document, index)
    }

    /// How the source is read.
    pub fn format(&self) -> Format {
        self.derivation.format
    }

    /// First and last page of a range of the text of chunk `index`.
    pub fn pages_of(&self, index: usize, range: Range<usize>) -> (u32, u32) {
        let Some(chunk) = self.chunk(index) else {
            return (1, 1);
        };
        let text = self.chunk_text(index);
        let page_at = |offset: usize| {
            chunk
                .page_spans
                .iter()
                .rev()
                .find(|span| byte_of_char(text, span.offset) <= offset)
                .map_or(chunk.start_page, |span| span.page)
        };
        (
            page_at(range.start),
            page_at(range.end.saturating_sub(1).max(range.start)),
        )
    }

    /// The document, unless a manifest gave the chunks.
    pub fn document(&self) -> Option<&Document> {
        self.document.as_deref()
    }

    /// Whether chunk texts are slices of the document.
    fn sliced(&self, index: usize) -> bool {
        self.document.is_some() && self.chunk(index).is_some_and(Chunk::is_slice)
    }

    /// Where to look for a quote that cites chunk `index` and these pages (1-based, inclusive).
    pub fn window(&self, index: usize, pages: [u64; 2]) -> Option<Window<'_>> {
        let chunk = self.chunk(index)?;
        let own = self.chunk_text(index);
        let cited_page = |page: u32| (pages[0]..=pages[1]).contains(&u64::from(page));
        let in_pages = page_window(own, chunk, cited_page);
        let next = self.chunk(index + 1).filter(|next| {
            self.sliced(index)
                && self.sliced(index + 1)
                && cited_page(chunk.end_page)
                && cited_page(next.start_page)
                && cited_page(next.end_page)
                && next.range.end > chunk.range.end
        });
        let (Some(next), Some(document)) = (next, &self.document) else {
            return Some(Window {
                pages: in_pages,
                ..self.chunk_window(index)?
            });
        };
        let text = document.text.get(chunk.range.start..next.range.end)?;
        // Slices never run over a page's end, but what follows may stand on the next page.
        let page_starts = document
            .pages
            .iter()
            .filter(|page| chunk.range.start < page.start && page.start < next.range.end)
            .map(|page| page.start - chunk.range.start)
            .collect();
        let pages = in_pages.start..text.len();
        let range = chunk.range.start..next.range.end;
        Some(Window {
            veiled: Cow::Owned(shifted(&document.veiled, &range)),
            text,
            cited: 0..own.len(),
            pages,
            page_starts,
        })
    }

    /// The text of chunk `index` and nothing beyond it, whatever its pages.
    pub fn chunk_window(&self, index: usize) -> Option<Window<'_>> {
        let chunk = self.chunk(index)?;
        let text = self.chunk_text(index);
        Some(Window {
            text,
            cited: 0..text.len(),
            pages: 0..text.len(),
            page_starts: page_starts(text, chunk),
            veiled: Cow::Owned(self.veils_of(index)),
        })
    }

    /// The whole text of the document. `None` where a manifest gave the chunks.
    pub fn whole(&self) -> Option<Window<'_>> {
        let document = self.document.as_ref()?;
        let text = &*document.text;
        Some(Window {
            text,
            cited: 0..text.len(),
            pages: 0..text.len(),
            page_starts: document
                .pages
                .iter()
                .skip(1)
                .map(|page| page.start)
                .collect(),
            veiled: Cow::Borrowed(&document.veiled),
        })
    }

    /// What stands in the text of chunk `index` and is not said by it.
    fn veils_of(&self, index: usize) -> Vec<Veiled> {
        let (Some(document), Some(chunk)) = (&self.document, self.chunk(index)) else {
            return Vec::new();
        };
        let veils = shifted(&document.veiled, &chunk.range);
        if chunk.is_slice() || veils.is_empty() {
            return veils;
        }
        let Some(cover) = document.text.get(chunk.range.clone()) else {
            return Vec::new();
        };
        let own = self.chunk_text(index);
        let (normalized, map) = normalize_mapped(cover);
        let Some(shift) = normalized.find(own) else {
            return Vec::new();
        };
        // The first byte of the chunk's text that was made of what is at or after `offset`.
        let place = |offset: usize| {
            let (mut low, mut high) = (0, own.len());
            while low < high {
                let middle = low.midpoint(high);
                if map.to_source(middle + shift..middle + shift + 1).start < offset {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            own.ceil_char_boundary(low)
        };
        veils
            .into_iter()
            .map(|veiled| {
                Veiled::new(
                    place(veiled.range.start)..place(veiled.range.end),
                    veiled.veil,
                )
            })
            .filter(|veiled| !veiled.range.is_empty())
            .collect()
    }

    /// Turns a range of the text of chunk `index` into one of the document's text.
    pub fn in_document(&self, index: usize, range: Range<usize>) -> Option<Range<usize>> {
        let document = self.document.as_ref()?;
        let chunk = self.chunk(index)?;
        if chunk.is_slice() {
            return Some(chunk.range.start + range.start..chunk.range.start + range.end);
        }
        // A normalised chunk is its cover, normalised: the map of that leads back.
        let cover = document.text.get(chunk.range.clone())?;
        let (normalized, map) = normalize_mapped(cover);
        let own = self.chunk_text(index);
        let shift = normalized.find(own)?;
        let found = map.to_source(range.start + shift..range.end + shift);
        Some(chunk.range.start + found.start..chunk.range.start + found.end)
    }

    /// The first chunk whose slice or cover holds all of `range` of the document's text.
    pub fn chunk_over(&self, range: &Range<usize>) -> Option<usize> {
        let list = self.chunks();
        // Chunks are ordered by start; their ends ascend too, so the first that reaches far
        // enough is the only candidate besides its successors.
        let first = list.partition_point(|chunk| chunk.range.end < range.end);
        list.get(first)
            .filter(|chunk| chunk.range.start <= range.start)
            .map(|_| first)
    }

    /// A related place: `range` of the document's text, for people.
    pub fn related(
        &self,
        db: &dyn Db,
        range: Range<usize>,
        label: impl Into<String>,
    ) -> Option<Related> {
        let document = self.document.as_ref()?;
        let (page, span) = match document.file_position(range.clone()) {
            FilePosition::Page { page, .. } => (Some(page), None),
            FilePosition::Bytes(bytes) => (None, self.file_span(db, document, &range, bytes)),
        };
        let first_line = match (&span, keeps_lines(document)) {
            (Some(span), true) => span.line,
            _ => 0,
        };
        Some(Related {
            file: self.path.clone(),
            page,
            span,
            excerpt: Some(excerpt(&document.text, range, first_line)),
            label: label.into(),
        })
    }

    /// Lines and columns of a byte range of the file as stored.
    fn file_span(
        &self,
        db: &dyn Db,
        document: &Document,
        range: &Range<usize>,
        bytes: Range<usize>,
    ) -> Option<Span> {
        let (start, end) = if keeps_lines(document) {
            (
                position(document.text.as_bytes(), range.start),
                position(document.text.as_bytes(), range.end),
            )
        } else {
            let file = db.system().read(&self.path, u64::MAX).ok()?;
            (position(&file, bytes.start), position(&file, bytes.end))
        };
        Some(Span {
            start: bytes.start,
            end: bytes.end,
            line: start.0,
            column: start.1,
            end_line: end.0,
            end_column: end.1,
        })
    }
}

/// Whether the lines of the committed text are those of the file.
fn keeps_lines(document: &Document) -> bool {
    matches!(document.format, Format::Markdown | Format::Text)
}

/// 1-based line and column (in characters) of a byte offset.
fn position(bytes: &[u8], offset: usize) -> (u32, u32) {
    let before = &bytes[..offset.min(bytes.len())];
    let line = memchr::memchr_iter(b'\n', before).count() + 1;
    let start = memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1);
    // Continuation bytes of UTF-8 do not start a character.
    let column = before[start..]
        .iter()
        .filter(|byte| (**byte & 0xC0) != 0x80)
        .count()
        + 1;
    (
        u32::try_from(line).unwrap_or(u32::MAX),
        u32::try_from(column).unwrap_or(u32::MAX),
    )
}

/// The part of a chunk's text that lies on the cited pages, by the contract's rule: from the first
/// cited page span to the span after the last cited one.
fn page_window(text: &str, chunk: &Chunk, cited: impl Fn(u32) -> bool) -> Range<usize> {
    let spans = &chunk.page_spans;
    let Some(first) = spans.iter().position(|span| cited(span.page)) else {
        return 0..0;
    };
    let last = spans
        .iter()
        .rposition(|span| cited(span.page))
        .unwrap_or(first);
    let start = if first == 0 {
        0
    } else {
        byte_of_char(text, spans[first].offset)
    };
    let end = spans
        .get(last + 1)
        .map_or(text.len(), |after| byte_of_char(text, after.offset));
    start.min(end)..end
}

/// The part of `veils` that lies in `range`, from its start.
fn shifted(veils: &[Veiled], range: &Range<usize>) -> Vec<Veiled> {
    let inside = |at: usize| at.clamp(range.start, range.end) - range.start;
    veil::within(veils, range)
        .iter()
        .map(|veiled| {
            let place = inside(veiled.range.start)..inside(veiled.range.end);
            Veiled::new(place, veiled.veil)
        })
        .collect()
}

/// Where pages begin within a chunk.
fn page_starts(text: &str, chunk: &Chunk) -> Vec<usize> {
    chunk
        .page_spans
        .iter()
        .skip(1)
        .map(|span| byte_of_char(text, span.offset))
        .collect()
}

/// The byte offset of the `count`-th code point, or the text's end.
fn byte_of_char(text: &str, count: u32) -> usize {
    text.char_indices()
        .nth(count as usize)
        .map_or(text.len(), |(offset, _)| offset)
}

/// Longest context shown on each side of a marked range, in bytes.
const CONTEXT: usize = 240;

/// The lines around `range`, clipped where lines are long.
fn excerpt(text: &str, range: Range<usize>, first_line: u32) -> Excerpt {
    let line_start = memchr::memrchr(b'\n', &text.as_bytes()[..range.start]).map_or(0, |at| at + 1);
    let line_end = memchr::memchr(b'\n', &text.as_bytes()[range.end..])
        .map_or(text.len(), |at| range.end + at);
    let start = text.ceil_char_boundary(line_start.max(range.start.saturating_sub(CONTEXT)));
    let end = text.floor_char_boundary(line_end.min(range.end + CONTEXT).max(range.end));
    Excerpt {
        text: text[start..end].to_owned(),
        first_line,
        start: range.start - start,
        end: range.end - start,
    }
}
