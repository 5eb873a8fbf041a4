//! The per-file queries: a source to its chunks, a card to its parts.

use std::sync::Arc;

use crate::Db;
use crate::chunk::{self, ChunkError, Chunker, Chunks, DocumentView};
use crate::commit::hash::{self, Digest};
use crate::documents::{Derived, LoadError};
use crate::input::{CardFile, FileStatus, SourceFile};
use crate::parse::card::{Citation, ParsedCard, parse as parse_card};
use crate::parse::document::{Document, Format, Notice, bidi_controls};
use crate::parse::manifest::ChunkRecord;
use crate::parse::problem::Spanned;
use crate::system::{Fingerprint, ReadFailure};
use crate::text::veil::{self, Veiled};

/// What a source gives, without its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceDerivation {
    /// Its chunks, in order.
    pub chunks: Chunks,
    /// How it was read.
    pub format: Format,
    /// Number of pages; 1 where the format has none.
    pub page_count: u32,
    /// Whether page numbers mean something to a reader.
    pub paged: bool,
    /// Encoding of the file.
    pub encoding: &'static str,
    /// What the extractor wants to be known.
    pub notices: Box<[Notice]>,
    /// Per chunk, how the next one follows it: the distance of their starts and the text between
    /// them, which belongs to neither. Only of chunks that are slices.
    pub joints: Box<[Fingerprint]>,
    /// Per chunk, what of it the document does not say; empty if it says everything. It may hang on
    /// a mark outside the chunk.
    pub veils: Box<[Fingerprint]>,
}

/// Why a source gives no chunks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceFailure {
    /// No document.
    Load(LoadError),
    /// A document, but no chunks.
    Chunk(ChunkError),
}

/// The document behind a source as of this revision. Not a query: see [`crate::documents`].
pub fn load_document(db: &dyn Db, file: SourceFile) -> Result<Arc<Document>, LoadError> {
    match file.status(db) {
        FileStatus::Failed(failure) => Err(LoadError::Read(failure.clone())),
        FileStatus::Present(fingerprint) => {
            db.documents()
                .load(db.system(), file.path(db), *fingerprint, file.recipe(db))
        }
    }
}

/// The chunks of a source. Compared by value, so that a touched file wakes nobody.
#[salsa::tracked(returns(ref))]
pub fn source(db: &dyn Db, file: SourceFile) -> Result<Arc<SourceDerivation>, SourceFailure> {
    let (fingerprint, recipe) = match file.status(db) {
        FileStatus::Failed(failure) => {
            return Err(SourceFailure::Load(LoadError::Read(failure.clone())));
        }
        FileStatus::Present(fingerprint) => (*fingerprint, file.recipe(db)),
    };
    let derivation = match &recipe.given {
        Some(given) => given.clone(),
        None => {
            let document = db
                .documents()
                .load(db.system(), file.path(db), fingerprint, recipe)
                .map_err(SourceFailure::Load)?;
            Arc::new(derive_source(&document, &recipe.chunker).map_err(SourceFailure::Chunk)?)
        }
    };
    db.documents().note_derived(
        file.path(db),
        Derived {
            fingerprint,
            recipe: recipe.clone(),
            derivation: derivation.clone(),
        },
    );
    Ok(derivation)
}

/// What a chunker sees of a document.
pub fn view(document: &Document) -> DocumentView<'_> {
    DocumentView {
        text: &document.text,
        pages: &document.pages,
        blocks: &document.blocks,
        paged: document.is_paged(),
    }
}

/// What a source gives whose chunks are those of a manifest.
///
/// # Errors
/// See [`Chunks::given`].
pub fn given_source(records: &[&ChunkRecord]) -> Result<SourceDerivation, String> {
    let chunks = Chunks::given(records)?;
    let page_count = chunks.list.iter().map(|chunk| chunk.end_page).max();
    Ok(SourceDerivation {
        chunks,
        joints: Box::default(),
        veils: Box::default(),
        format: Format::Text,
        page_count: page_count.unwrap_or(1),
        paged: true,
        encoding: "utf-8",
        notices: Box::default(),
    })
}

/// A document's derivation, outside the graph.
pub fn derive_source(
    document: &Document,
    chunker: &Chunker,
) -> Result<SourceDerivation, ChunkError> {
    let chunks = chunk::chunk_document(view(document), chunker)?;
    Ok(SourceDerivation {
        joints: joints(&chunks, &document.text),
        veils: veils(&chunks, &document.veiled),
        chunks,
        format: document.format,
        page_count: u32::try_from(document.pages.len().max(1)).unwrap_or(u32::MAX),
        paged: document.is_paged(),
        encoding: document.encoding,
        notices: document.notices.clone(),
    })
}

fn joints(chunks: &Chunks, text: &str) -> Box<[Fingerprint]> {
    if !chunks.list.iter().all(chunk::Chunk::is_slice) {
        return Box::default();
    }
    chunks
        .list
        .windows(2)
        .filter_map(|pair| match pair {
            [chunk, next] => {
                let distance = next.range.start.saturating_sub(chunk.range.start) as u64;
                let between = text
                    .get(chunk.range.end..next.range.start)
                    .unwrap_or_default();
                Some(Fingerprint::combine(
                    "kbc joint",
                    [&distance.to_le_bytes()[..], between.as_bytes()],
                ))
            }
            _ => None,
        })
        .collect()
}

fn veils(chunks: &Chunks, veiled: &[Veiled]) -> Box<[Fingerprint]> {
    if veiled.is_empty() {
        return Box::default();
    }
    chunks
        .list
        .iter()
        .map(|chunk| {
            let parts: Vec<String> = veil::within(veiled, &chunk.range)
                .iter()
                .map(|stretch| {
                    // Clipped, so that what is outside the chunk changes nothing.
                    let start = stretch.range.start.saturating_sub(chunk.range.start);
                    let end = stretch.range.end.min(chunk.range.end) - chunk.range.start;
                    format!("{start} {end} {:?}", stretch.veil)
                })
                .collect();
            Fingerprint::combine("kbc veils", parts.iter().map(String::as_bytes))
        })
        .collect()
}

/// What a quote runs into that goes on after its chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Following {
    /// Hash of the next chunk.
    pub hash: Digest,
    /// How it follows: see [`SourceDerivation::joints`].
    pub joint: Fingerprint,
    /// See [`SourceDerivation::veils`].
    pub veils: Option<Fingerprint>,
}

/// Says that a query looks at all of a source: text between chunks, and places in the file, which
/// move without any chunk changing. Without this, its findings would show old places.
pub fn depend_on_file(db: &dyn Db, file: SourceFile) {
    let _ = file.status(db);
    let _ = file.recipe(db);
}

/// A cited chunk, and the one after it into which a quote may run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CitedChunk {
    /// Position in the chunk list.
    pub index: usize,
    /// Hash of the chunk.
    pub hash: Digest,
    /// First page.
    pub start_page: u32,
    /// Last page.
    pub end_page: u32,
    /// Pages of the source; 1 where the format has none.
    pub page_count: u32,
    /// See [`SourceDerivation::veils`].
    pub veils: Option<Fingerprint>,
    /// The next chunk of the document, where a quote may run into it.
    pub next: Option<Following>,
}

/// The chunk with an ordinal and first page, or `None`. A firewall: an edit elsewhere in the
/// source leaves its value, and so everything behind it, alone.
#[salsa::tracked(returns(ref))]
pub fn cited_chunk(
    db: &dyn Db,
    file: SourceFile,
    start_page: u32,
    ordinal: u32,
) -> Result<Option<CitedChunk>, SourceFailure> {
    let derivation = source(db, file).as_ref().map_err(Clone::clone)?;
    let list = &derivation.chunks.list;
    // Chunks are ordered by ordinal. The ordinal is the index only of chunks that were cut here:
    // from a given manifest, retracted ones are missing.
    let index =
        list.partition_point(|chunk| (chunk.ordinal, chunk.start_page) < (ordinal, start_page));
    Ok(list
        .get(index)
        .filter(|chunk| (chunk.ordinal, chunk.start_page) == (ordinal, start_page))
        .map(|chunk| CitedChunk {
            index,
            hash: chunk.hash,
            start_page: chunk.start_page,
            end_page: chunk.end_page,
            page_count: derivation.page_count,
            veils: derivation.veils.get(index).copied(),
            next: list
                .get(index + 1)
                .filter(|next| Some(next.ordinal) == ordinal.checked_add(1))
                .zip(derivation.joints.get(index))
                .map(|(next, joint)| Following {
                    hash: next.hash,
                    joint: *joint,
                    veils: derivation.veils.get(index + 1).copied(),
                }),
        }))
}

/// A card's text, read through the one door.
pub fn card_text(db: &dyn Db, file: CardFile) -> Result<Arc<str>, ReadFailure> {
    match file.status(db) {
        FileStatus::Failed(failure) => Err(failure.clone()),
        FileStatus::Present(fingerprint) => {
            let bytes =
                db.documents()
                    .read(db.system(), file.path(db), *fingerprint, crate::CARD_LIMIT)?;
            match std::str::from_utf8(&bytes) {
                Ok(text) => Ok(text.into()),
                Err(error) => Err(ReadFailure::Other(format!(
                    "it is not UTF-8 text: byte {} is wrong",
                    error.valid_up_to()
                ))),
            }
        }
    }
}

/// A parsed card and its recomputed hash, without its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardDerivation {
    /// Its parts.
    pub parsed: ParsedCard,
    /// `card_hash` as it should be, hex; only of a card with nothing wrong in its frontmatter.
    pub hash: Option<Box<str>>,
    /// First character of the file that changes the direction of writing.
    pub bidi_control: Option<usize>,
}

/// Derives a card from its text, outside the graph.
pub fn derive_card(text: &str) -> CardDerivation {
    let parsed = parse_card(text);
    let hash = parsed.complete().map(|model| {
        let body = parsed.body_text(text);
        hash::card_hash(&model.frontmatter_value(), body)
            .to_string()
            .into()
    });
    let bidi_control = bidi_controls(text).next();
    CardDerivation {
        parsed,
        hash,
        bidi_control,
    }
}

/// A card's parts. A bounded number of them is kept; parsing one again is cheap, and what others
/// need of it they keep themselves.
#[salsa::tracked(returns(ref), lru = 1024)]
pub fn card(db: &dyn Db, file: CardFile) -> Result<CardDerivation, ReadFailure> {
    card_text(db, file).map(|text| derive_card(&text))
}

/// One citation of a card, with spans relative to its start. A firewall: editing the card above
/// or below the citation re-checks no quote.
#[salsa::tracked(returns(ref))]
pub fn citation(db: &dyn Db, file: CardFile, index: u32) -> Option<Citation> {
    let derivation = card(db, file).as_ref().ok()?;
    derivation
        .parsed
        .citations
        .get(index as usize)
        .map(|citation| {
            let mut citation = citation.clone();
            rebase(&mut citation);
            citation
        })
}

fn rebase(citation: &mut Citation) {
    fn shift<T>(field: &mut Option<Spanned<T>>, base: usize) {
        if let Some(field) = field {
            field.span = field.span.start.saturating_sub(base)..field.span.end.saturating_sub(base);
        }
    }
    let base = citation.span.start;
    shift(&mut citation.source_id, base);
    shift(&mut citation.chunk_id, base);
    shift(&mut citation.chunk_hash, base);
    shift(&mut citation.page_range, base);
    shift(&mut citation.quote, base);
    shift(&mut citation.prefix, base);
    shift(&mut citation.suffix, base);
    if let Some(Some(place)) = &mut citation.unpinned {
        place.at = place.at.saturating_sub(base);
    }
    citation.span = 0..citation.span.end.saturating_sub(base);
}

/// The reading a card counts under: its folder's, where the settings give one, else its own.
#[salsa::tracked(returns(ref))]
pub fn reading(db: &dyn Db, file: CardFile) -> Option<Arc<str>> {
    if let Some(reading) = file.folder_reading(db) {
        return Some(reading.clone());
    }
    let derivation = card(db, file).as_ref().ok()?;
    derivation
        .parsed
        .reading_id
        .as_ref()
        .map(|reading| (*reading.value).into())
}
