//! Chunks that a manifest gives, instead of a chunker.
//!
//! Nothing is cut and nothing is trusted here: the hashes are those that the manifest states, and
//! whoever relies on a chunk recomputes its hash from its text first.

use std::sync::Arc;

use super::{Chunk, Chunks, PageSpan, TextRef, chunk_id};
use crate::commit::hash::Digest;
use crate::parse::manifest::ChunkRecord;

impl Chunks {
    /// The chunks of one source as a chunks manifest records them, in the order of their ordinals.
    /// Ordinals may have gaps: retracted chunks are no longer listed.
    ///
    /// # Errors
    /// A sentence, when a record cannot be found by its own id, or does not fit into 32 bits.
    pub fn given(records: &[&ChunkRecord]) -> Result<Self, String> {
        let mut records: Vec<&ChunkRecord> = records.to_vec();
        records.sort_by_key(|record| (record.ordinal, record.start_page));
        let source_type: Arc<str> = "cacg".into();
        let heading_path: Arc<[Box<str>]> = Arc::from([]);
        let mut normalized = String::with_capacity(records.iter().map(|r| r.text.len()).sum());
        let mut list = Vec::with_capacity(records.len());
        for record in records {
            let name = chunk_id(&record.source_id, record.start_page, record.ordinal);
            if name != record.chunk_id {
                return Err(format!(
                    "the chunk `{}` is not named after its source, page and ordinal, which give `{name}`",
                    record.chunk_id
                ));
            }
            let unfit =
                |what: &str| format!("chunk `{}`: the {what} is too large", record.chunk_id);
            let mut page_spans = Vec::with_capacity(record.page_spans.len());
            for span in &record.page_spans {
                page_spans.push(PageSpan {
                    page: span.page,
                    offset: u32::try_from(span.byte_offset_in_chunk)
                        .map_err(|_| unfit("offset of a page"))?,
                });
            }
            let start = normalized.len();
            normalized.push_str(&record.text);
            let range = start..normalized.len();
            list.push(Chunk {
                ordinal: record.ordinal,
                start_page: record.start_page,
                end_page: record.end_page,
                page_spans: page_spans.into(),
                token_count: u32::try_from(record.token_count).map_err(|_| unfit("token count"))?,
                range: range.clone(),
                hash: record
                    .chunk_hash
                    .parse::<Digest>()
                    .map_err(|_| format!("chunk `{}`: its hash is no hash", record.chunk_id))?,
                source_type: source_type.clone(),
                unit_id: None,
                heading_path: heading_path.clone(),
                text: TextRef::Normalized(range),
            });
        }
        Ok(Chunks {
            list: list.into(),
            normalized: normalized.into(),
        })
    }
}
