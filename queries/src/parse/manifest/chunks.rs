//! `chunks_manifest.json` and the light reader that only wants to know what was retracted.

use std::collections::HashSet;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use super::super::problem::{Problem, shown};
use super::{Version, broken, filled, hash, read, sorted_ids};

const WHAT: &str = "chunks manifest";

/// All active chunks and what was retracted.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChunksManifest {
    /// Active chunks.
    pub chunks: Vec<ChunkRecord>,
    /// Ids of retracted chunks, sorted.
    #[serde(default)]
    pub retracted_chunk_ids: Vec<String>,
    /// Ids of retracted sources, sorted.
    #[serde(default)]
    pub retracted_source_ids: Vec<String>,
    /// Schema version.
    pub schema_version: Version,
}

/// One chunk.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChunkRecord {
    /// SHA-256 over text and pages, 64 hex digits.
    pub chunk_hash: String,
    /// `<source_id>:p<page>:<ordinal>`.
    pub chunk_id: String,
    /// Last page.
    pub end_page: u32,
    /// Place among the chunks of its source, from 0.
    pub ordinal: u32,
    /// Where each page begins.
    pub page_spans: Vec<PageSpan>,
    /// Schema version.
    pub schema_version: Version,
    /// The source.
    pub source_id: String,
    /// First page.
    pub start_page: u32,
    /// The text.
    pub text: String,
    /// The first 120 code points of the text.
    pub text_preview: String,
    /// Number of tokens, at least 1.
    pub token_count: u64,
}

/// Where a page begins in a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageSpan {
    /// Offset in code points, whatever the name says.
    pub byte_offset_in_chunk: u64,
    /// Page, from 1.
    pub page: u32,
}

/// What was retracted, sorted.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Retractions {
    /// Sources.
    pub source_ids: Vec<String>,
    /// Chunks.
    pub chunk_ids: Vec<String>,
}

impl Retractions {
    /// Whether a source was retracted.
    pub fn has_source(&self, id: &str) -> bool {
        self.source_ids
            .binary_search_by(|other| other.as_str().cmp(id))
            .is_ok()
    }

    /// Whether a chunk was retracted.
    pub fn has_chunk(&self, id: &str) -> bool {
        self.chunk_ids
            .binary_search_by(|other| other.as_str().cmp(id))
            .is_ok()
    }

    fn check(&self) -> Result<(), String> {
        sorted_ids(&self.source_ids, "retracted_source_ids")?;
        sorted_ids(&self.chunk_ids, "retracted_chunk_ids")
    }
}

/// Reads a chunks manifest and checks its invariants (contract §2.6), except that the hashes are
/// those of the texts: that is checked for cited chunks only.
///
/// # Errors
/// MAN-001 with the first reason.
pub fn read_chunks(bytes: &[u8]) -> Result<ChunksManifest, Box<Problem>> {
    let manifest: ChunksManifest = read(bytes, WHAT)?;
    check(&manifest).map_err(|reason| broken(WHAT, reason))?;
    Ok(manifest)
}

/// Reads only the retraction lists; the chunks are skipped, not kept and not checked.
///
/// # Errors
/// MAN-001 with the first reason.
pub fn read_retractions(bytes: &[u8]) -> Result<Retractions, Box<Problem>> {
    let light: Light = read(bytes, WHAT)?;
    light.retractions()
}

/// The same from a reader, for a manifest that is larger than memory should be asked for.
/// `None`: it is not valid; reading all of it with [`read_retractions`] says why.
pub fn scan_retractions(reader: impl std::io::Read) -> Option<Retractions> {
    let light: Light = serde_json::from_reader(reader).ok()?;
    light.retractions().ok()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Light {
    #[serde(rename = "schema_version")]
    _schema_version: Version,
    #[serde(rename = "chunks")]
    _chunks: IgnoredAny,
    #[serde(default)]
    retracted_source_ids: Vec<String>,
    #[serde(default)]
    retracted_chunk_ids: Vec<String>,
}
impl Light {
    fn retractions(self) -> Result<Retractions, Box<Problem>> {
        let found = Retractions {
            source_ids: self.retracted_source_ids,
            chunk_ids: self.retracted_chunk_ids,
        };
        found.check().map_err(|reason| broken(WHAT, reason))?;
        Ok(found)
    }
}

impl ChunksManifest {
    /// The retraction lists.
    pub fn retractions(&self) -> Retractions {
        Retractions {
            source_ids: self.retracted_source_ids.clone(),
            chunk_ids: self.retracted_chunk_ids.clone(),
        }
    }
}

/// The invariants; a verb that rewrites the manifest checks its own work with it.
pub(crate) fn check(manifest: &ChunksManifest) -> Result<(), String> {
    let retractions = manifest.retractions();
    retractions.check()?;
    let mut seen: HashSet<&str> = HashSet::with_capacity(manifest.chunks.len());
    for chunk in &manifest.chunks {
        check_record(chunk)?;
        let id = shown(&chunk.chunk_id);
        if !seen.insert(&chunk.chunk_id) {
            return Err(format!("the chunk `{id}` is listed twice"));
        }
        if retractions.has_chunk(&chunk.chunk_id) {
            return Err(format!("the chunk `{id}` is both active and retracted"));
        }
        if retractions.has_source(&chunk.source_id) {
            let source = shown(&chunk.source_id);
            return Err(format!(
                "the chunk `{id}` is active, and its source `{source}` retracted"
            ));
        }
    }
    Ok(())
}

fn check_record(chunk: &ChunkRecord) -> Result<(), String> {
    let record = format!("chunk `{}`", shown(&chunk.chunk_id));
    filled(
        &record,
        &[
            ("chunk_id", &chunk.chunk_id),
            ("source_id", &chunk.source_id),
            ("text", &chunk.text),
        ],
    )?;
    hash(&chunk.chunk_hash, &record, "chunk_hash")?;
    if chunk.token_count == 0 {
        return Err(format!("{record}: `token_count` is 0"));
    }
    let (start, end) = (chunk.start_page, chunk.end_page);
    if start == 0 || end < start {
        return Err(format!(
            "{record}: pages {start} to {end} are no page range"
        ));
    }
    if chunk.page_spans.is_empty() {
        return Err(format!("{record}: `page_spans` is empty"));
    }
    let length = u64::try_from(chunk.text.chars().count()).unwrap_or(u64::MAX);
    let mut before = None;
    let mut pages: HashSet<u32> = HashSet::new();
    for span in &chunk.page_spans {
        let (page, offset) = (span.page, span.byte_offset_in_chunk);
        if !(start..=end).contains(&page) {
            return Err(format!(
                "{record}: page {page} is outside its pages {start} to {end}"
            ));
        }
        if !pages.insert(page) {
            return Err(format!("{record}: page {page} begins twice"));
        }
        if before.is_some_and(|before| offset <= before) {
            return Err(format!(
                "{record}: the offset {offset} of page {page} does not increase"
            ));
        }
        if offset > length {
            return Err(format!(
                "{record}: page {page} begins at {offset}, beyond the text's end"
            ));
        }
        before = Some(offset);
    }
    Ok(())
}
