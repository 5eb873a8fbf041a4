//! The published set: what is in it, from what the session knows.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{Read, Seek, SeekFrom, Write};
use std::sync::Arc;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use kbc_queries::check::card::CardSummary;
use kbc_queries::commit::canonical;
use kbc_queries::commit::hash::Digest;
use kbc_queries::derive;
use kbc_queries::emit::index_manifest::{
    CardInput, CardsInput, CollectionInput, DocumentInput, IndexManifest, SCHEMA_VERSION,
};
use kbc_queries::emit::index_page::index_page;
use kbc_queries::emit::records::{
    DocumentCommitment, card_record, chunk_records, commit, corpus_leaf, leaves, summary,
};
use kbc_queries::input::SourceFile;
use kbc_queries::parse::document::extractor;
use kbc_queries::parse::manifest::{
    CardsManifest, SourceRecord, SourcesManifest, Summaries, Version,
};
use kbc_queries::system::Fingerprint;

use crate::cache::{decode, encode};
use crate::session::Session;
use crate::workspace::context::Published;
use crate::workspace::door;
use crate::workspace::ids::Recorded;

use super::{LAST, PublishError, Staging};

/// Version of what is published. It grows whenever the bytes of a published file could change.
pub const EMIT_VERSION: u32 = 1;

/// The published files.
pub const NAMES: [&str; 6] = [
    "sources_manifest.json",
    "chunks_manifest.json",
    "cards_manifest.json",
    "summaries.json",
    "INDEX.md",
    LAST,
];

/// Sources whose records are held in memory at once.
const BATCH: usize = 64;

/// The time that manifests carry unless `SOURCE_DATE_EPOCH` says another.
const FROZEN_TIME: &str = "1970-01-01T00:00:00Z";

/// A source's part of the chunks manifest, as it was written last.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Fragment {
    key: Fingerprint,
    offset: u64,
    length: u64,
    digest: Fingerprint,
    commitment: DocumentCommitment,
}

/// What is published of a source besides its chunks.
struct SourcePart {
    path: Arc<str>,
    id: Arc<str>,
    key: Fingerprint,
    /// `None`: the source gives no chunks.
    input: Option<SourceFile>,
}

/// Puts the set together in `staging`.
pub fn assemble(session: &mut Session, staging: &mut Staging) -> Result<(), PublishError> {
    session.ensure_sha256();
    if let Some(path) = session.without_sha256() {
        return Err(changed_meanwhile(path));
    }
    let parts = parts(session);
    let (chunks, commitments) = write_chunks(session, &parts, staging)?;
    if let Some(path) = session.take_torn() {
        return Err(changed_meanwhile(&path));
    }
    let mut outputs = BTreeMap::from([("chunks_manifest.json".to_owned(), chunks)]);
    let mut put = |staging: &mut Staging, name: &str, bytes: &[u8]| -> Result<(), PublishError> {
        let hash = staging.put(name, bytes)?;
        outputs.insert(name.to_owned(), hash);
        Ok(())
    };

    put(
        staging,
        "sources_manifest.json",
        &json(&sources_manifest(session))?,
    )?;
    let (cards, summaries) = cards(session);
    put(staging, "INDEX.md", index_page(&cards.cards).as_bytes())?;
    put(staging, "cards_manifest.json", &json(&cards)?)?;
    put(staging, "summaries.json", &json(&summaries)?)?;

    let mut manifest = inputs(session, &|path| commitments.get(path).copied());
    manifest.corpus = corpus(
        parts
            .iter()
            .filter_map(|part| Some((&*part.id, commitments.get(&*part.path)?.commitment))),
    );
    manifest.outputs = outputs;
    staging.put(LAST, &json(&manifest)?)?;
    Ok(())
}

/// A set that mixes two states of a file is the set of neither.
fn changed_meanwhile(path: &str) -> PublishError {
    PublishError {
        doing: path.to_owned(),
        error: std::io::Error::other("it changed while it was being published; build again"),
    }
}

fn json<T: Serialize>(value: &T) -> Result<Vec<u8>, PublishError> {
    canonical::to_vec(value).map_err(|error| PublishError {
        doing: "cannot write a manifest".to_owned(),
        error: std::io::Error::other(error.to_string()),
    })
}

/// The commitment over all documents, given in any order.
pub fn corpus<'a>(documents: impl Iterator<Item = (&'a str, Digest)>) -> DocumentCommitment {
    let sorted: BTreeMap<&str, Digest> = documents.collect();
    let leaves: Vec<Digest> = sorted
        .iter()
        .map(|(id, commitment)| corpus_leaf(id, commitment))
        .collect();
    commit(&leaves)
}

/// The sources in the order of their ids.
fn parts(session: &mut Session) -> Vec<SourcePart> {
    session.bind_all();
    let published = &session.context.published;
    let mut parts: Vec<SourcePart> = session
        .sources
        .iter()
        .filter(|(_, state)| state.recipe.is_some())
        .map(|(path, state)| {
            let report_key = state
                .report
                .as_ref()
                .map_or(Fingerprint([0; 32]), |report| report.key);
            let retracted = published.retracted_sources.contains(&state.id);
            let chunks = published.retracted_chunks.get(&state.id);
            let mut key: Vec<Vec<u8>> = vec![
                EMIT_VERSION.to_le_bytes().to_vec(),
                report_key.0.to_vec(),
                state.id.as_bytes().to_vec(),
                vec![u8::from(retracted)],
            ];
            key.extend(
                chunks
                    .into_iter()
                    .flatten()
                    .map(|id| id.as_bytes().to_vec()),
            );
            let failed = state.report.as_ref().is_none_or(|report| report.failed);
            SourcePart {
                path: path.clone(),
                id: state.id.clone(),
                key: Fingerprint::combine("kbc fragment", key.iter().map(Vec::as_slice)),
                input: if failed { None } else { state.input },
            }
        })
        .collect();
    parts.sort_by(|a, b| a.id.cmp(&b.id));
    parts
}

/// Writes the chunks manifest, taking over from the one in place what is still right.
fn write_chunks(
    session: &mut Session,
    parts: &[SourcePart],
    staging: &mut Staging,
) -> Result<(Digest, HashMap<Arc<str>, DocumentCommitment>), PublishError> {
    let name = "chunks_manifest.json";
    let wrong = |error: std::io::Error| PublishError {
        doing: format!("cannot write {name}"),
        error,
    };
    let known: HashMap<Arc<str>, Fragment> = session
        .cache
        .as_ref()
        .and_then(|cache| cache.value("fragments"))
        .and_then(|bytes| decode(&bytes))
        .unwrap_or_default();
    let published = session.context.published.clone();
    let previous = session.project.out().join(name);
    let mut file = staging.file(name)?;
    let mut fragments: BTreeMap<Arc<str>, Fragment> = BTreeMap::new();
    let mut commitments = HashMap::new();
    let mut first = true;
    file.write_all(b"{\"chunks\":[").map_err(wrong)?;
    for batch in parts.chunks(BATCH) {
        let written: Vec<Option<(Vec<u8>, DocumentCommitment)>> = batch
            .par_iter()
            .map_with(session.db.clone(), |db, part| {
                let input = part.input?;
                known
                    .get(&part.path)
                    .filter(|fragment| fragment.key == part.key)
                    .and_then(|fragment| {
                        Some((read_fragment(&previous, fragment)?, fragment.commitment))
                    })
                    .or_else(|| fragment(db, input, part, &published))
            })
            .collect();
        for (part, written) in batch.iter().zip(written) {
            let Some((bytes, commitment)) = written else {
                continue;
            };
            commitments.insert(part.path.clone(), commitment);
            if !bytes.is_empty() && !first {
                file.write_all(b",").map_err(wrong)?;
            }
            first &= bytes.is_empty();
            let offset = file.written();
            file.write_all(&bytes).map_err(wrong)?;
            fragments.insert(
                part.path.clone(),
                Fragment {
                    key: part.key,
                    offset,
                    length: bytes.len() as u64,
                    digest: Fingerprint::of(&bytes),
                    commitment,
                },
            );
        }
    }
    let chunk_ids: BTreeSet<&str> = published
        .retracted_chunks
        .values()
        .flatten()
        .map(|id| &**id)
        .collect();
    let tail = serde_json::json!({
        "retracted_chunk_ids": chunk_ids,
        "retracted_source_ids": published.retracted_sources,
        "schema_version": "cacg.v0",
    });
    let tail = canonical::to_string(&tail);
    file.write_all(b"],").map_err(wrong)?;
    file.write_all(tail.trim_start_matches('{').as_bytes())
        .map_err(wrong)?;
    let hash = staging.finish(file)?;
    if let Some(bytes) = encode(&fragments) {
        session.values.push(("fragments", bytes));
    }
    Ok((hash, commitments))
}

/// A fragment of the manifest in place, if its bytes are still those that were written.
fn read_fragment(path: &std::path::Path, fragment: &Fragment) -> Option<Vec<u8>> {
    let mut file = door::open(path, door::STREAM_LIMIT).ok()?;
    file.seek(SeekFrom::Start(fragment.offset)).ok()?;
    let mut bytes = Vec::new();
    file.take(fragment.length).read_to_end(&mut bytes).ok()?;
    (Fingerprint::of(&bytes) == fragment.digest).then_some(bytes)
}

fn fragment(
    db: &crate::session::Database,
    input: SourceFile,
    part: &SourcePart,
    published: &Published,
) -> Option<(Vec<u8>, DocumentCommitment)> {
    let derivation = derive::source(db, input).as_ref().ok()?;
    let document = derive::load_document(db, input).ok()?;
    let commitment = commit(&leaves(derivation, &document.text));
    if published.retracted_sources.contains(&part.id) {
        return Some((Vec::new(), commitment));
    }
    let retracted: BTreeSet<&str> = published
        .retracted_chunks
        .get(&part.id)
        .into_iter()
        .flatten()
        .map(|id| &**id)
        .collect();
    let bytes = chunk_records(&part.id, derivation, &document.text, &retracted).ok()?;
    Some((bytes, commitment))
}

fn extracted_at() -> String {
    std::env::var("SOURCE_DATE_EPOCH")
        .ok()
        .and_then(|text| text.trim().parse::<i64>().ok())
        .and_then(timestamp)
        .unwrap_or_else(|| FROZEN_TIME.to_owned())
}

/// `YYYY-MM-DDTHH:MM:SSZ` of seconds since 1970, for years 1970 to 9999.
///
/// Days to date by the method of H. Hinnant, "chrono-compatible low-level date algorithms".
pub fn timestamp(seconds: i64) -> Option<String> {
    if !(0..253_402_300_800).contains(&seconds) {
        return None;
    }
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let day_of_era = shifted % 146_097;
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_index = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_index + 2) / 5 + 1;
    let month = if month_index < 10 {
        month_index + 3
    } else {
        month_index - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    Some(format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z",
        rest / 3600,
        rest / 60 % 60,
        rest % 60
    ))
}

fn sources_manifest(session: &Session) -> SourcesManifest {
    let extracted_at = extracted_at();
    let mut sources: Vec<SourceRecord> = session
        .sources
        .iter()
        .filter_map(|(path, state)| {
            let recipe = state.recipe.as_ref()?;
            let extractor = extractor(recipe.extract.format);
            // A file that cannot be read is recorded by what was known of it, if anything, so that
            // its id is not lost.
            let sha256 = match state.file.sha256 {
                Some(digest) => Digest(digest).to_string(),
                None => {
                    let recorded = &session.context.published.sources;
                    recorded
                        .iter()
                        .find(|record| record.path == *path)?
                        .sha256
                        .to_string()
                }
            };
            Some(SourceRecord {
                extracted_at: extracted_at.clone(),
                page_count: u64::from(
                    state
                        .report
                        .as_ref()
                        .map_or(1, |report| report.page_count)
                        .max(1),
                ),
                parser_name: extractor.name.to_owned(),
                parser_version: extractor.version.to_owned(),
                schema_version: Version,
                source_id: state.id.to_string(),
                source_path: path.to_string(),
                source_sha256: sha256,
            })
        })
        .collect();
    sources.sort_by(|a, b| a.source_id.cmp(&b.source_id));
    SourcesManifest {
        schema_version: Version,
        sources,
    }
}

/// The cards that are sound enough to be listed: parsed without a problem, the first of their id.
/// Sorted by reading and id.
fn listed(session: &Session) -> Vec<(&Arc<str>, CardSummary)> {
    let mut seen = BTreeSet::new();
    let mut cards: Vec<(&Arc<str>, CardSummary)> = session
        .cards
        .iter()
        .filter_map(|(path, state)| Some((path, state.entry.as_ref()?.details.unpack()?.summary?)))
        .filter(|(_, card)| seen.insert(card.id.clone()))
        .collect();
    cards.sort_by(|(_, a), (_, b)| (&a.reading_id, &a.id).cmp(&(&b.reading_id, &b.id)));
    cards
}

fn cards(session: &Session) -> (CardsManifest, Summaries) {
    let published = &session.context.published;
    let mut records = Vec::new();
    let mut summaries = Vec::new();
    for (path, card) in listed(session) {
        if published.retracted_cards.contains(&*card.id) {
            continue;
        }
        records.push(card_record(path, &card));
        summaries.push(summary(path, &card));
    }
    let active: BTreeSet<&str> = records.iter().map(|record| record.id.as_str()).collect();
    let manifest = CardsManifest {
        // Derived anew: a card that was put right is withdrawn no longer.
        dependency_retracted_cards: session
            .withdrawn()
            .into_iter()
            .filter(|id| active.contains(id.as_str()))
            .collect(),
        cards: records,
        retracted_cards: published.retracted_cards.iter().cloned().collect(),
        schema_version: Version,
    };
    (
        manifest,
        Summaries {
            schema_version: Version,
            summaries,
        },
    )
}

/// What a look would find recorded once the set is published.
pub fn published(session: &Session) -> Published {
    let recorded = |source: SourceRecord| Recorded {
        id: source.source_id.into(),
        path: source.source_path.into(),
        sha256: source.source_sha256.into(),
        extractor: (source.parser_name.into(), source.parser_version.into()),
        cut: None,
    };
    let sources = sources_manifest(session).sources;
    let dependency_retracted_cards = cards(session).0.dependency_retracted_cards;
    let mut published = Published {
        sources: sources.into_iter().map(recorded).collect(),
        dependency_retracted_cards: dependency_retracted_cards.into_iter().collect(),
        ..session.context.published.clone()
    };
    let cuts: HashMap<&str, String> = session
        .sources
        .values()
        .filter_map(|state| Some((&*state.id, session.cut_of(state)?)))
        .collect();
    published.record_cuts(|id| cuts.get(id).map(String::as_str));
    published
}

/// The index manifest of what is on disk now, without outputs and corpus. `commitment` gives a
/// source's commitment by its path.
pub fn inputs(
    session: &Session,
    commitment: &dyn Fn(&str) -> Option<DocumentCommitment>,
) -> IndexManifest {
    let settings = &session.project.settings;
    let collections = settings
        .collections
        .iter()
        .enumerate()
        .map(|(index, collection)| {
            let globs = session.authorities(index);
            let documents = session
                .sources
                .iter()
                .filter(|(_, state)| state.collection == index && state.recipe.is_some())
                .map(|(path, state)| {
                    let commitment = commitment(path);
                    DocumentInput {
                        authority: globs.of(path).to_string(),
                        chunk_count: commitment.map_or(0, |commitment| commitment.leaf_count),
                        commitment: commitment.map(|commitment| commitment.commitment),
                        content_hash: state.file.sha256.map(Digest),
                        derivation: state.recipe.as_ref().map_or_else(String::new, |recipe| {
                            crate::session::derivation_name(recipe)
                        }),
                        path: path.to_string(),
                        source_id: state.id.to_string(),
                    }
                })
                .collect();
            CollectionInput {
                advisory: collection.advisory,
                chunk_count: 0,
                chunk_params: crate::session::chunk_params(collection),
                document_count: 0,
                documents,
                embedding_model_version: None,
                input_hash: Digest::ZERO,
                name: collection.name.to_string(),
                scope: collection.scope.as_str().to_owned(),
            }
            .seal()
        })
        .collect();
    let cards = session
        .cards
        .iter()
        .map(|(path, state)| CardInput {
            content_hash: state.file.sha256.map_or(Digest::ZERO, Digest),
            path: path.to_string(),
        })
        .collect();
    IndexManifest {
        cards: CardsInput::new(cards),
        collections,
        corpus: commit(&[]),
        matrix_hash: super::hash_file(&session.project.root.join(&*settings.matrix)),
        outputs: BTreeMap::new(),
        schema_version: SCHEMA_VERSION.to_owned(),
        settings_hash: settings_hash(session),
    }
}

/// The hash of the settings that decide what is compiled and how. Severities, for instance, do not.
fn settings_hash(session: &Session) -> Digest {
    let settings = &session.project.settings;
    let value = serde_json::json!({
        "cards": settings.cards,
        "collections": settings.collections,
        "limits": settings.limits,
        "profile": settings.profile,
        "readings": settings.readings,
        "sources": settings.sources,
    });
    kbc_queries::commit::hash::sha256(canonical::to_string(&value).as_bytes())
}
