//! Records of the manifests.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::check::card::CardSummary;
use crate::chunk::{Chunk, chunk_id};
use crate::commit::canonical::{self, CanonicalError};
use crate::commit::hash::Digest;
use crate::commit::merkle;
use crate::derive::SourceDerivation;
use crate::parse::manifest::{CardRecord, ChunkRecord, PageSpan, Summary, Version};

/// Length of a chunk's preview, in code points.
const PREVIEW: usize = 120;

/// What a document commits to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct DocumentCommitment {
    /// Number of leaves.
    pub leaf_count: u64,
    /// Merkle root over the chunks' texts.
    pub root: Digest,
    /// The root bound to the count.
    pub commitment: Digest,
}

/// The leaves of a document: one per chunk, over its text.
pub fn leaves(derivation: &SourceDerivation, doc_text: &str) -> Vec<Digest> {
    let chunks = &derivation.chunks;
    chunks
        .list
        .iter()
        .map(|chunk| merkle::leaf(chunks.text_of(doc_text, chunk).as_bytes()))
        .collect()
}

/// The commitment of a list of leaves.
pub fn commit(leaves: &[Digest]) -> DocumentCommitment {
    let root = merkle::root(leaves);
    let leaf_count = leaves.len() as u64;
    DocumentCommitment {
        leaf_count,
        root,
        commitment: merkle::commitment(leaf_count, &root),
    }
}

/// The leaf of a document in the corpus tree: over the canonical JSON of its id and commitment.
pub fn corpus_leaf(source_id: &str, commitment: &Digest) -> Digest {
    let value = serde_json::json!({ "commitment": commitment, "source_id": source_id });
    merkle::leaf(canonical::to_string(&value).as_bytes())
}

/// The canonical JSON of a source's active chunk records, separated by commas.
pub fn chunk_records(
    source_id: &str,
    derivation: &SourceDerivation,
    doc_text: &str,
    retracted: &BTreeSet<&str>,
) -> Result<Vec<u8>, CanonicalError> {
    let mut out = Vec::with_capacity(doc_text.len() + doc_text.len() / 2);
    for chunk in &derivation.chunks.list {
        let id = chunk_id(source_id, chunk.start_page, chunk.ordinal);
        if retracted.contains(id.as_str()) {
            continue;
        }
        let text = derivation.chunks.text_of(doc_text, chunk);
        let record = chunk_record(source_id, id, chunk, text);
        if !out.is_empty() {
            out.push(b',');
        }
        canonical::append(&mut out, &record)?;
    }
    Ok(out)
}

/// A chunk's record in the chunks manifest.
pub fn chunk_record(source_id: &str, id: String, chunk: &Chunk, text: &str) -> ChunkRecord {
    ChunkRecord {
        chunk_hash: chunk.hash.to_string(),
        chunk_id: id,
        end_page: chunk.end_page,
        ordinal: chunk.ordinal,
        page_spans: chunk
            .page_spans
            .iter()
            .map(|span| PageSpan {
                byte_offset_in_chunk: u64::from(span.offset),
                page: span.page,
            })
            .collect(),
        schema_version: Version,
        source_id: source_id.to_owned(),
        start_page: chunk.start_page,
        text: text.to_owned(),
        text_preview: text.chars().take(PREVIEW).collect(),
        token_count: u64::from(chunk.token_count),
    }
}

/// A card's record in the cards manifest.
pub fn card_record(path: &str, card: &CardSummary) -> CardRecord {
    CardRecord {
        card_hash: card.card_hash.to_string(),
        citation_count: u64::from(card.citation_count),
        id: card.id.to_string(),
        path: path.to_owned(),
        reading_id: card.reading_id.to_string(),
        schema_version: Version,
        source_ids: strings(&card.source_ids),
        summary: card.summary.to_string(),
        title: card.title.to_string(),
    }
}

/// A card's record in the summaries.
pub fn summary(path: &str, card: &CardSummary) -> Summary {
    Summary {
        card_hash: card.card_hash.to_string(),
        id: card.id.to_string(),
        path: path.to_owned(),
        reading_id: card.reading_id.to_string(),
        schema_version: Version,
        source_ids: Some(strings(&card.source_ids)),
        summary: card.summary.to_string(),
        tags: strings(&card.tags),
        title: card.title.to_string(),
    }
}

fn strings(list: &[Arc<str>]) -> Vec<String> {
    list.iter().map(|item| item.to_string()).collect()
}
