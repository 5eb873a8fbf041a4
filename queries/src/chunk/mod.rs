//! A document to its chunks: the pieces that citations pin.
//!
//! Three chunkers. `cacg` reproduces the card-graph contract byte for byte; its chunks are text
//! in the contract's normal form. `window` cuts running text into overlapping pieces of bounded
//! length along the document's structure, `unit` keeps authored units (a row, a section, a rule)
//! whole; their chunks are exact slices of the committed text. No chunk of these two begins or
//! ends inside a grapheme, a word or a number, and every character that is not white space is in
//! at least one chunk.
//!
//! Not here: which chunker a file gets (settings), and what a chunk is stored as (manifests).

mod atoms;
mod cacg;
mod given;
mod id;
mod pack;
mod unit;
mod view;
mod window;
mod words;

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use crate::commit::hash::PageSpan;
use crate::commit::hash::{Digest, chunk_hash};
pub use id::{ChunkIdParts, chunk_id, has_chunk_id_shape, parse_chunk_id};
pub use view::DocumentView;

/// How to cut a document into chunks.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Chunker {
    /// The card-graph contract's chunker.
    Cacg(CacgParams),
    /// Overlapping pieces of bounded length along the structure of running text.
    Window(WindowParams),
    /// One chunk per authored unit.
    Unit(UnitParams),
}

/// Parameters of [`Chunker::Cacg`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CacgParams {
    /// A chunk is closed before it would hold more tokens (words between white space) than this;
    /// a paragraph longer than this is a chunk of its own. More than 0.
    pub target_tokens: u32,
    /// At most so many tokens of whole paragraphs are repeated in the next chunk. Less than the
    /// target.
    pub overlap_tokens: u32,
    /// Most pages that a chunk may touch. More than 0.
    pub max_pages_per_chunk: u32,
}

impl Default for CacgParams {
    fn default() -> Self {
        Self {
            target_tokens: 350,
            overlap_tokens: 50,
            max_pages_per_chunk: 2,
        }
    }
}

/// Parameters of [`Chunker::Window`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct WindowParams {
    /// Most tokens (words) of a chunk, overlap included. More than 0.
    pub tokens: u32,
    /// At most so many tokens at the end of a chunk are repeated in the next. Less than `tokens`.
    pub overlap: u32,
}

impl Default for WindowParams {
    fn default() -> Self {
        Self {
            tokens: 512,
            overlap: 75,
        }
    }
}

/// Parameters of [`Chunker::Unit`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct UnitParams {
    /// A section of more tokens (words) than this is split at paragraphs. More than 0.
    pub max_tokens: u32,
    /// Finer units inside a document.
    pub patterns: Vec<UnitPattern>,
}

impl Default for UnitParams {
    fn default() -> Self {
        Self {
            max_tokens: 800,
            patterns: Vec::new(),
        }
    }
}

/// A kind of unit that begins at a line of its own.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct UnitPattern {
    /// Becomes the chunk's source type.
    pub kind: String,
    /// Regular expression over one line; a match at the line's start begins a unit, and its first
    /// group, if it has one, is the unit's id.
    pub pattern: String,
}

/// Where a chunk's text is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum TextRef {
    /// [`Chunk::range`] of the document's text.
    Slice,
    /// A byte range of [`Chunks::normalized`].
    Normalized(Range<usize>),
}

/// One chunk.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Chunk {
    /// Place among the document's chunks, from 0.
    pub ordinal: u32,
    /// First page, from 1; 1 for a document without pages.
    pub start_page: u32,
    /// Last page.
    pub end_page: u32,
    /// Where each page begins in the chunk, in code points.
    pub page_spans: Box<[PageSpan]>,
    /// Tokens: words between white space for `cacg`, words of UAX #29 otherwise.
    pub token_count: u32,
    /// Byte range of the document's text: the chunk itself for `window` and `unit`, the
    /// stretch it was made of for `cacg`.
    pub range: Range<usize>,
    /// The contract's `chunk_hash`.
    pub hash: Digest,
    /// `cacg`, `window`, `section`, `page`, `file`, `registry_row`, or the kind of a
    /// [`UnitPattern`].
    pub source_type: Arc<str>,
    /// Primary key of a row, or what the first group of a [`UnitPattern`] matched.
    pub unit_id: Option<Box<str>>,
    /// Titles of the headings that the chunk stands under, outermost first.
    pub heading_path: Arc<[Box<str>]>,
    /// Where its text is.
    pub text: TextRef,
}

impl Chunk {
    /// Whether the chunk is a slice of the document's text.
    #[must_use]
    pub fn is_slice(&self) -> bool {
        matches!(self.text, TextRef::Slice)
    }
}

/// The chunks of one document, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chunks {
    /// The chunks by ordinal. A chunk's index is its ordinal, unless a manifest gives the chunks:
    /// then retracted ones are missing.
    pub list: Box<[Chunk]>,
    /// Texts of the chunks one after another, for `cacg` and for given ones; otherwise empty.
    pub normalized: Box<str>,
}

impl Chunks {
    /// Text of the chunk at `index`; `doc_text` is the text of the document it was cut from.
    /// Empty when there is no such chunk, or when `doc_text` is another document's.
    #[must_use]
    pub fn text<'a>(&'a self, doc_text: &'a str, index: usize) -> &'a str {
        self.list
            .get(index)
            .map_or("", |chunk| self.text_of(doc_text, chunk))
    }

    /// Text of one of these chunks; see [`Chunks::text`].
    #[must_use]
    pub fn text_of<'a>(&'a self, doc_text: &'a str, chunk: &Chunk) -> &'a str {
        match &chunk.text {
            TextRef::Slice => doc_text.get(chunk.range.clone()),
            TextRef::Normalized(range) => self.normalized.get(range.clone()),
        }
        .unwrap_or("")
    }
}

/// Why a document has no chunks.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChunkError {
    /// The target is 0 tokens.
    NoTarget,
    /// The overlap is not less than the target.
    OverlapTooLarge {
        /// Overlap in tokens.
        overlap: u32,
        /// Target in tokens.
        target: u32,
    },
    /// A chunk may touch no page.
    NoPages,
    /// A pattern is not a regular expression, or too large a one.
    Pattern {
        /// Its source type.
        kind: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Ranges of pages or blocks are out of order or cut a character. A fault of the extractor,
    /// not of the source.
    Inconsistent(&'static str),
    /// The document is too large to be counted in 32 bits.
    TooLarge,
}

impl fmt::Display for ChunkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoTarget => f.write_str("the target must be more than 0 tokens"),
            Self::OverlapTooLarge { overlap, target } => write!(
                f,
                "the overlap of {overlap} tokens must be less than the target of {target}"
            ),
            Self::NoPages => f.write_str("a chunk must be allowed at least 1 page"),
            Self::Pattern { kind, reason } => {
                write!(f, "the pattern of unit `{kind}` is not usable: {reason}")
            }
            Self::Inconsistent(what) => write!(f, "inconsistent document: {what}"),
            Self::TooLarge => f.write_str("the document is larger than 4 GiB"),
        }
    }
}

impl std::error::Error for ChunkError {}

impl Chunker {
    /// Checks the parameters without a document.
    ///
    /// # Errors
    /// Every [`ChunkError`] that is the settings' fault.
    pub fn validate(&self) -> Result<(), ChunkError> {
        let (target, overlap) = match self {
            Self::Cacg(params) => (params.target_tokens, params.overlap_tokens),
            Self::Window(params) => (params.tokens, params.overlap),
            Self::Unit(params) => (params.max_tokens, 0),
        };
        if target == 0 {
            return Err(ChunkError::NoTarget);
        }
        if overlap >= target {
            return Err(ChunkError::OverlapTooLarge { overlap, target });
        }
        match self {
            Self::Cacg(params) if params.max_pages_per_chunk == 0 => Err(ChunkError::NoPages),
            Self::Unit(params) => unit::compile(&params.patterns).map(drop),
            _ => Ok(()),
        }
    }
}

/// Version of a chunker's output: a number kept by hand, part of every derivation's key. It goes
/// up whenever the chunks of any document could change.
#[must_use]
pub const fn chunker_version(chunker: &Chunker) -> u32 {
    match chunker {
        Chunker::Cacg(_) => 1,
        Chunker::Window(_) => 1,
        Chunker::Unit(_) => 1,
    }
}

/// Cuts a document into chunks.
///
/// The result depends on nothing but the arguments. A document without any character that is not
/// white space has no chunks.
///
/// # Errors
/// [`ChunkError`] for unusable parameters, and for views whose ranges do not fit their text.
pub fn chunk_document(document: DocumentView<'_>, chunker: &Chunker) -> Result<Chunks, ChunkError> {
    chunker.validate()?;
    document.validate()?;
    match chunker {
        Chunker::Cacg(params) => Ok(cacg::chunk(&document, params)),
        Chunker::Window(params) => Ok(window::chunk(&document, params)),
        Chunker::Unit(params) => unit::chunk(&document, params),
    }
}

/// Cuts a document whose pages are utterances: as [`Chunker::Cacg`] does, but no page is brought to
/// the normal form before it is split into paragraphs (contract §2.7).
///
/// # Errors
/// As [`chunk_document`].
pub fn chunk_utterances(
    document: DocumentView<'_>,
    params: &CacgParams,
) -> Result<Chunks, ChunkError> {
    Chunker::Cacg(*params).validate()?;
    document.validate()?;
    Ok(cacg::chunk_as_given(&document, params))
}

/// A chunk that is a slice of the text, before it has a place in the list.
struct Slice {
    range: Range<usize>,
    token_count: u32,
    source_type: Arc<str>,
    unit_id: Option<Box<str>>,
    heading_path: Arc<[Box<str>]>,
}

/// Numbers and hashes slices in the order given.
fn finish_slices(document: &DocumentView<'_>, slices: Vec<Slice>) -> Chunks {
    let list = (0u32..)
        .zip(slices)
        .map(|(ordinal, slice)| {
            let text = document.text.get(slice.range.clone()).unwrap_or("");
            let page_spans = document.page_spans(&slice.range);
            let start_page = page_spans.first().map_or(1, |span| span.page);
            let end_page = page_spans.last().map_or(1, |span| span.page);
            Chunk {
                ordinal,
                start_page,
                end_page,
                token_count: slice.token_count,
                hash: chunk_hash(text, start_page, end_page, &page_spans),
                page_spans,
                range: slice.range,
                source_type: slice.source_type,
                unit_id: slice.unit_id,
                heading_path: slice.heading_path,
                text: TextRef::Slice,
            }
        })
        .collect();
    Chunks {
        list,
        normalized: Box::default(),
    }
}

#[cfg(test)]
mod golden;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
