//! A source into manifests that may hold others already. Values in, values out; no file is touched.
//!
//! What is decided in the manifests stays: retractions, and the chunks that cards cite. So a source
//! that is there already is either the same, or it is refused.

use std::collections::{BTreeSet, HashMap};

use kbc_queries::diagnostic::registry::{HASH_003, INGEST_003};
use kbc_queries::parse::manifest::{ChunkRecord, ChunksManifest, SourceRecord, SourcesManifest};
use kbc_queries::parse::utterances::locator::LocatorMap;

use super::{Ingest, Refusal};

/// What an output folder holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// Its sources.
    pub sources: SourcesManifest,
    /// Its chunks.
    pub chunks: ChunksManifest,
    /// Its locator map, if it has one.
    pub locators: Option<LocatorMap>,
}

/// What becomes of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Merged {
    /// Nothing: the source is there, byte for byte.
    Unchanged {
        /// The sources, as they are.
        sources: SourcesManifest,
        /// The chunks, as they are.
        chunks: ChunksManifest,
    },
    /// This.
    Changed {
        /// The sources, by id.
        sources: SourcesManifest,
        /// The chunks, by source and ordinal.
        chunks: ChunksManifest,
        /// How many chunks were not there before.
        added: usize,
    },
}

fn refuse(message: String) -> Refusal {
    Refusal::new(INGEST_003, message)
}

/// Puts a source beside the ones that are there.
///
/// # Errors
/// INGEST-003: the source is retracted, or is there with other bytes or in other chunks, or the
/// one locator map of the folder belongs to another stream.
pub fn add(held: Held, ingest: &Ingest, extracted_at: &str) -> Result<Merged, Refusal> {
    let id = &ingest.source_id;
    not_retracted(&held, id)?;
    if let Some(record) = held.sources.sources.iter().find(|s| s.source_id == *id) {
        same(&held, record, ingest)?;
        return Ok(Merged::Unchanged {
            sources: held.sources,
            chunks: held.chunks,
        });
    }
    if held
        .chunks
        .chunks
        .iter()
        .any(|chunk| chunk.source_id == *id)
    {
        return Err(refuse(format!(
            "chunks_manifest.json has chunks of `{id}`, and sources_manifest.json does not know it; restore the two from version control"
        )));
    }
    if ingest.utterances.is_some()
        && let Some(map) = held.locators.as_ref().filter(|map| map.source_id != *id)
    {
        return Err(refuse(format!(
            "locator_map.json belongs to the stream `{}`, and holds one stream only; give another --out",
            map.source_id
        )));
    }
    let active = active(&held, ingest);
    let added = active.len();
    let mut sources = held.sources;
    sources.sources.push(ingest.record(extracted_at.to_owned()));
    let mut chunks = held.chunks;
    chunks.chunks.extend(active);
    Ok(changed(sources, chunks, added))
}

/// Puts a longer version of a stream in the place of the one that is there.
///
/// # Errors
/// INGEST-003: there is none, it is retracted, a chunk of it would change, or nothing is new.
pub fn append(held: Held, ingest: &Ingest, extracted_at: &str) -> Result<Merged, Refusal> {
    let id = &ingest.source_id;
    not_retracted(&held, id)?;
    let Some(map) = &held.locators else {
        return Err(refuse(
            "--append needs the locator_map.json of the stream".to_owned(),
        ));
    };
    let known = held.sources.sources.iter().any(|s| s.source_id == *id);
    if map.source_id != *id || !known {
        return Err(refuse(format!(
            "append rejected: what is there is the stream `{}`, not `{id}`; --append takes a longer version of the same stream",
            map.source_id
        )));
    }
    let derived: HashMap<&str, &ChunkRecord> = ingest
        .chunks
        .iter()
        .map(|chunk| (chunk.chunk_id.as_str(), chunk))
        .collect();
    let mut before: BTreeSet<&str> = BTreeSet::new();
    for chunk in held.chunks.chunks.iter().filter(|c| c.source_id == *id) {
        before.insert(&chunk.chunk_id);
        match derived.get(chunk.chunk_id.as_str()) {
            Some(now) if now.chunk_hash == chunk.chunk_hash => {}
            found => {
                let how = match found {
                    Some(_) => "would have other text",
                    None => "would be gone",
                };
                return Err(refuse(format!(
                    "append rejected: the published chunk {} {how}; only utterances after the last ones may be added, and a chunk must be full before it is published: cut with `max_pages_per_chunk: 1` and `overlap_tokens: 0` to be able to append",
                    chunk.chunk_id
                )));
            }
        }
    }
    let active = active(&held, ingest);
    let added = active
        .iter()
        .filter(|chunk| !before.contains(chunk.chunk_id.as_str()))
        .count();
    if added == 0 {
        return Err(refuse(format!(
            "append rejected: there is no new chunk in it; `{id}` is up to date"
        )));
    }
    let mut sources = held.sources.clone();
    sources.sources.retain(|source| source.source_id != *id);
    sources.sources.push(ingest.record(extracted_at.to_owned()));
    let mut chunks = held.chunks;
    chunks.chunks.retain(|chunk| chunk.source_id != *id);
    chunks.chunks.extend(active);
    Ok(changed(sources, chunks, added))
}

fn not_retracted(held: &Held, id: &str) -> Result<(), Refusal> {
    if held.chunks.retractions().has_source(id) {
        return Err(refuse(format!(
            "the source `{id}` is retracted; what was withdrawn does not come back by itself. Give the file another --source-id, or take the id off `retracted_source_ids` deliberately"
        )));
    }
    Ok(())
}

/// A source's chunks without those that are retracted.
fn active(held: &Held, ingest: &Ingest) -> Vec<ChunkRecord> {
    let retractions = held.chunks.retractions();
    ingest
        .chunks
        .iter()
        .filter(|chunk| !retractions.has_chunk(&chunk.chunk_id))
        .cloned()
        .collect()
}

fn same(held: &Held, record: &SourceRecord, ingest: &Ingest) -> Result<(), Refusal> {
    let id = &ingest.source_id;
    if record.source_sha256 != ingest.sha256 {
        let longer = match ingest.utterances {
            Some(_) => "Add what was said since with --append, or give the new version",
            None => "Give the new version",
        };
        return Err(refuse(format!(
            "the source `{id}` is there with other bytes ({}); cards cite its chunks, so it is not replaced. {longer} another --source-id, or another --out",
            record.source_path
        )));
    }
    let active = active(held, ingest);
    let there = held.chunks.chunks.iter().filter(|c| c.source_id == *id);
    if there.eq(active.iter()) {
        return Ok(());
    }
    Err(refuse(format!(
        "the source `{id}` is there with the same bytes, but in other chunks: it was read by {} {} (now {} {}), or cut by another --config. Cards cite the chunks that are there; give another --source-id, or another --out",
        record.parser_name, record.parser_version, ingest.parser_name, ingest.parser_version
    )))
}

fn changed(mut sources: SourcesManifest, mut chunks: ChunksManifest, added: usize) -> Merged {
    sources
        .sources
        .sort_by(|a, b| a.source_id.cmp(&b.source_id));
    chunks
        .chunks
        .sort_by(|a, b| (&a.source_id, a.ordinal).cmp(&(&b.source_id, b.ordinal)));
    Merged::Changed {
        sources,
        chunks,
        added,
    }
}

/// Why a locator map that is there cannot be used.
pub fn bad_locators(error: &kbc_queries::parse::utterances::locator::LocatorError) -> Refusal {
    use kbc_queries::diagnostic::registry::INGEST_001;
    use kbc_queries::parse::utterances::locator::LocatorError;
    match error {
        LocatorError::SealBroken => Refusal::new(
            HASH_003,
            "the seal of locator_map.json is not that of its content: it was edited. Nothing is added to it; restore it from version control",
        ),
        LocatorError::Unreadable(why) => Refusal::new(
            INGEST_001,
            format!("locator_map.json cannot be read: {why}; restore it from version control"),
        ),
    }
}
