//! A source into manifests that may hold others already. Values in, values out; no file is touched.
//!
//! What is decided in the manifests stays: retractions, and the chunks that cards cite. So a source
//! that is there already is either the same, or it is refused.

use std::collections::{BTreeSet, HashMap};

use kbc_queries::diagnostic::registry::{HASH_003, INGEST_003};
use kbc_queries::parse::manifest::{ChunkRecord, ChunksManifest, SourceRecord, SourcesManifest};
use kbc_queries::parse::utterances::locator::{Locator, LocatorMap, locator};

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
        let missing = same(&held, record, ingest)?;
        if missing.is_empty() {
            return Ok(Merged::Unchanged {
                sources: held.sources,
                chunks: held.chunks,
            });
        }
        let added = missing.len();
        let mut chunks = held.chunks;
        chunks.chunks.extend(missing);
        return Ok(changed(held.sources, chunks, added));
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
    same_speakers(map, &before, ingest)?;
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

/// Who said what is published stays who said it.
fn same_speakers(
    map: &LocatorMap,
    published: &BTreeSet<&str>,
    ingest: &Ingest,
) -> Result<(), Refusal> {
    let said: HashMap<u32, Locator> = ingest
        .utterances
        .iter()
        .flatten()
        .map(|utterance| (utterance.ordinal, locator(utterance)))
        .collect();
    for (chunk, locators) in &map.locators {
        if !published.contains(&**chunk) {
            continue;
        }
        for before in locators {
            let same = said.get(&before.ordinal) == Some(before);
            if !same {
                return Err(refuse(format!(
                    "append rejected: utterance {} is published in {chunk} as said by {} under the id {}, and is described otherwise now; only utterances after the last ones may be added",
                    before.ordinal, before.speaker, before.utterance_id
                )));
            }
        }
    }
    Ok(())
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

/// The chunks that a source lacks, though it is there with the same bytes: a retraction took them
/// out, and was taken back.
fn same(held: &Held, record: &SourceRecord, ingest: &Ingest) -> Result<Vec<ChunkRecord>, Refusal> {
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
    let there: HashMap<&str, &ChunkRecord> = held
        .chunks
        .chunks
        .iter()
        .filter(|chunk| chunk.source_id == *id)
        .map(|chunk| (&*chunk.chunk_id, chunk))
        .collect();
    let (known, missing): (Vec<ChunkRecord>, Vec<ChunkRecord>) = active(held, ingest)
        .into_iter()
        .partition(|chunk| there.contains_key(&*chunk.chunk_id));
    let unchanged = |chunk: &ChunkRecord| there.get(&*chunk.chunk_id) == Some(&chunk);
    if known.len() == there.len() && known.iter().all(unchanged) {
        return Ok(missing);
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;
    use crate::ingest::Kind;
    use crate::ingest::source::{Request, read};
    use kbc_queries::chunk::CacgParams;
    use kbc_queries::commit::hash::sha256;
    use kbc_queries::parse::document::Limits;
    use kbc_queries::parse::manifest::read_chunks;
    use kbc_queries::parse::utterances::locator;
    use proptest::prelude::*;

    const NOW: &str = "1970-01-01T00:00:00Z";

    fn request(id: &'static str, kind: Kind, params: CacgParams) -> Request<'static> {
        Request {
            source_id: id,
            source_path: id,
            shown: match kind {
                Kind::Utterances => "talk.jsonl",
                _ => "text.txt",
            },
            kind,
            params,
            limits: Limits::default(),
            reader: None,
        }
    }

    fn stream(texts: &[String]) -> Ingest {
        let mut lines =
            String::from("{\"schema_version\":\"cacg.utterances.v1\",\"source_kind\":\"c\"}\n");
        for (text, ordinal) in texts.iter().zip(1..) {
            let value = serde_json::json!({
                "ordinal": ordinal, "utterance_id": ordinal.to_string(), "speaker": "a",
                "is_author": false, "text": text,
            });
            lines.push_str(&format!("{value}\n"));
        }
        let params = CacgParams {
            max_pages_per_chunk: 1,
            overlap_tokens: 0,
            ..CacgParams::default()
        };
        read(lines.as_bytes(), &request("talk", Kind::Utterances, params)).unwrap()
    }

    fn text(id: &'static str, words: &str) -> Ingest {
        read(
            words.as_bytes(),
            &request(id, Kind::Any, CacgParams::default()),
        )
        .unwrap()
    }

    fn taken(held: Held, ingest: &Ingest, append_it: bool) -> Held {
        let before = held.clone();
        let merged = match append_it {
            true => append(held, ingest, NOW).unwrap(),
            false => add(held, ingest, NOW).unwrap(),
        };
        let (sources, chunks) = match merged {
            Merged::Unchanged { sources, chunks } => {
                assert_eq!((&sources, &chunks), (&before.sources, &before.chunks));
                (sources, chunks)
            }
            Merged::Changed {
                sources, chunks, ..
            } => (sources, chunks),
        };
        let bytes = kbc_queries::commit::canonical::to_vec(&chunks).unwrap();
        assert_eq!(read_chunks(&bytes).unwrap(), chunks);
        let locators = match &ingest.utterances {
            None => before.locators,
            Some(utterances) => {
                let own: Vec<ChunkRecord> = chunks
                    .chunks
                    .iter()
                    .filter(|chunk| chunk.source_id == ingest.source_id)
                    .cloned()
                    .collect();
                let bytes = locator::sealed("talk", &ingest.sha256, utterances, &own).unwrap();
                Some(locator::read(&bytes).unwrap())
            }
        };
        Held {
            sources,
            chunks,
            locators,
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn a_stream_that_grew_is_the_stream_that_was_long_from_the_start(
            texts in prop::collection::vec("[A-Za-zé三][a-z .!?\n-]{0,60}", 2..8),
            cut in 1usize..7,
            retract in any::<bool>(),
        ) {
            let cut = cut.min(texts.len() - 1);
            let mut grown = taken(Held::default(), &stream(&texts[..cut]), false);
            let mut whole = Held::default();
            if retract {
                let id = grown.chunks.chunks.remove(0).chunk_id;
                for held in [&mut grown, &mut whole] {
                    held.chunks.retracted_chunk_ids = vec![id.clone()];
                }
            }
            let longer = stream(&texts);
            let grown = taken(grown, &longer, true);
            prop_assert_eq!(&grown, &taken(whole, &longer, false));
            // And it is there now.
            prop_assert_eq!(&taken(grown.clone(), &longer, false), &grown);
            prop_assert!(append(grown, &longer, NOW).is_err());
        }

        #[test]
        fn the_order_of_sources_does_not_matter(words in prop::collection::vec("[a-z]{1,9}", 3)) {
            let all = [text("c", &words[0]), text("a", &words[1]), text("b", &words[2])];
            let of = |order: [usize; 3]| {
                order.iter().fold(Held::default(), |held, index| taken(held, &all[*index], false))
            };
            let first = of([0, 1, 2]);
            for order in [[0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
                prop_assert_eq!(&of(order), &first);
            }
            let ids: Vec<&str> =
                first.sources.sources.iter().map(|source| source.source_id.as_str()).collect();
            prop_assert_eq!(ids, ["a", "b", "c"]);
        }
    }

    #[test]
    fn what_is_recorded_is_not_replaced() {
        let held = taken(Held::default(), &text("a", "some words"), false);
        assert!(add(held.clone(), &text("a", "other words"), NOW).is_err());
        let mut renamed = text("a", "some words");
        renamed.parser_version = "2";
        // Another version of the reader that gives the same chunks changes nothing.
        assert_eq!(taken(held.clone(), &renamed, false), held);
        renamed.chunks[0].chunk_hash = sha256(b"").to_string();
        let refusal = add(held.clone(), &renamed, NOW).unwrap_err();
        assert!(refusal.message.contains("kbc-text 2"), "{refusal}");
        // Half a set is not completed by guessing.
        let half = Held {
            sources: SourcesManifest::default(),
            ..held
        };
        assert!(add(half, &text("a", "some words"), NOW).is_err());
    }
}
