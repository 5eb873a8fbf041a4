//! A source's bytes to its chunks, by the project's own extractors and the contract's chunker.

use std::path::Path;

use kbc_queries::chunk::{CacgParams, Chunker, Chunks, DocumentView, chunk_id, chunk_utterances};
use kbc_queries::commit::hash::sha256;
use kbc_queries::derive;
use kbc_queries::diagnostic::registry::{INGEST_001, INGEST_002};
use kbc_queries::emit::records::chunk_record;
use kbc_queries::parse::document::{
    self, Document, DocumentError, ExtractOptions, Format, Limits, Notice, RegistryOptions,
    extractor,
};
use kbc_queries::parse::manifest::ChunkRecord;
use kbc_queries::parse::utterances;

use super::{Ingest, Kind, Refusal};

/// What a source is and how it is to be read.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Its id.
    pub source_id: &'a str,
    /// Its path as it is recorded.
    pub source_path: &'a str,
    /// Its path as it was given, for messages.
    pub shown: &'a str,
    /// How it is read.
    pub kind: Kind,
    /// How it is cut.
    pub params: CacgParams,
    /// Bounds on the work.
    pub limits: Limits,
    /// The program that reads PDFs apart from this process; `None`: they are read here.
    pub reader: Option<&'a Path>,
}

/// Reads and cuts a source.
///
/// # Errors
/// INGEST-001 if it cannot be read, INGEST-002 if there is nothing in it to cite.
pub fn read(bytes: &[u8], request: &Request<'_>) -> Result<Ingest, Refusal> {
    let ingest = match request.kind {
        Kind::Utterances => stream(bytes, request)?,
        Kind::Pdf => document(bytes, Format::Pdf, request)?,
        Kind::Any => {
            let known = Format::from_path(request.shown, bytes);
            if known.is_none() && looks_like_utterances(bytes) {
                return Err(Refusal::new(
                    INGEST_001,
                    format!(
                        "{} is no PDF; it looks like a stream of utterances: give --format utterances",
                        request.shown
                    ),
                ));
            }
            document(bytes, known.unwrap_or(Format::Pdf), request)?
        }
    };
    if ingest.chunks.is_empty() {
        return Err(nothing_to_cite(request.shown));
    }
    Ok(ingest)
}

fn looks_like_utterances(bytes: &[u8]) -> bool {
    let head = bytes.get(..bytes.len().min(1024)).unwrap_or_default();
    head.trim_ascii_start().starts_with(b"{")
        && String::from_utf8_lossy(head).contains(utterances::SCHEMA_VERSION)
}

fn nothing_to_cite(shown: &str) -> Refusal {
    Refusal::new(
        INGEST_002,
        format!(
            "no chunks: {shown} was read and holds no text; if it is a scan, run text recognition over it first"
        ),
    )
}

fn document(bytes: &[u8], format: Format, request: &Request<'_>) -> Result<Ingest, Refusal> {
    let shown = request.shown;
    let cannot = |why: &dyn std::fmt::Display| {
        Refusal::new(INGEST_001, format!("{shown} cannot be read: {why}"))
    };
    if bytes.is_empty() {
        return Err(cannot(&"the file is empty"));
    }
    let mut options = ExtractOptions::new(format);
    options.limits = request.limits;
    options.registry = RegistryOptions::for_path(shown);
    let apart = match (format, request.reader) {
        (Format::Pdf, Some(program)) => crate::workspace::apart::read(program, bytes, &options),
        _ => None,
    };
    let read = apart.unwrap_or_else(|| document::extract(bytes, &options));
    let document = match read {
        Ok(document) => document,
        Err(DocumentError::Empty) => return Err(nothing_to_cite(shown)),
        Err(error) => return Err(cannot(&error)),
    };
    let derivation = derive::derive_source(&document, &Chunker::Cacg(request.params))
        .map_err(|error| cannot(&error))?;
    let extractor = extractor(format);
    Ok(Ingest {
        source_id: request.source_id.to_owned(),
        source_path: request.source_path.to_owned(),
        sha256: sha256(bytes).to_string(),
        page_count: u64::from(derivation.page_count.max(1)),
        parser_name: extractor.name,
        parser_version: extractor.version,
        chunks: records(request.source_id, &derivation.chunks, &document.text),
        utterances: None,
        notices: notices(&document),
    })
}

fn stream(bytes: &[u8], request: &Request<'_>) -> Result<Ingest, Refusal> {
    let stream = utterances::parse(bytes).map_err(|problems| {
        let text = String::from_utf8_lossy(bytes);
        Refusal::of_problems(INGEST_001, request.shown, &text, &problems)
    })?;
    let pages = stream.pages();
    let view = DocumentView {
        text: &stream.text,
        pages: &pages,
        blocks: &[],
        paged: true,
    };
    let chunks = chunk_utterances(view, &request.params).map_err(|error| {
        let message = format!("{} cannot be cut: {error}", request.shown);
        Refusal::new(INGEST_001, message)
    })?;
    Ok(Ingest {
        source_id: request.source_id.to_owned(),
        source_path: request.source_path.to_owned(),
        sha256: sha256(bytes).to_string(),
        page_count: (pages.len() as u64).max(1),
        parser_name: utterances::PARSER_NAME,
        parser_version: utterances::PARSER_VERSION,
        chunks: records(request.source_id, &chunks, &stream.text),
        utterances: Some(stream.utterances),
        notices: Vec::new(),
    })
}

fn records(source_id: &str, chunks: &Chunks, text: &str) -> Vec<ChunkRecord> {
    chunks
        .list
        .iter()
        .map(|chunk| {
            let id = chunk_id(source_id, chunk.start_page, chunk.ordinal);
            chunk_record(source_id, id, chunk, chunks.text_of(text, chunk))
        })
        .collect()
}

/// What makes a text less than the file that people see.
fn notices(document: &Document) -> Vec<String> {
    let mut notices = Vec::new();
    for notice in &document.notices {
        notices.push(match notice {
            Notice::UnmappedGlyphs { page, percent } => format!(
                "page {page}: {percent} % of the glyphs have no character, so its text is incomplete"
            ),
            Notice::PageTree {
                announced: Some(announced),
                found,
            } => format!("the file announces {announced} pages and has {found}"),
            Notice::PageTree { found, .. } => {
                format!("the page tree is damaged; {found} pages were found")
            }
            Notice::BidiControls { line, count } => format!(
                "line {line}: the text changes its direction of writing {count} times, so what is seen may not be what is there"
            ),
            Notice::EncodingGuessed { label } => {
                format!("nothing says the file's encoding; it was read as {label}")
            }
            Notice::RaggedRow { line, .. }
            | Notice::MissingKey { line }
            | Notice::UnclosedQuote { line }
            | Notice::DuplicateKey { line, .. } => {
                format!("line {line}: the row does not fit the header; `kb check` says how")
            }
        });
    }
    notices
}
