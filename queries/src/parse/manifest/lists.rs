//! `sources_manifest.json`, `cards_manifest.json` and `summaries.json`.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::super::problem::{Problem, shown};
use super::{Version, broken, filled, hash, read, sorted_ids};
use crate::diagnostic::registry::SUM_007;

/// All sources.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourcesManifest {
    /// Schema version.
    pub schema_version: Version,
    /// The sources.
    pub sources: Vec<SourceRecord>,
}

/// One source.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceRecord {
    /// When it was extracted, `YYYY-MM-DDTHH:MM:SSZ`.
    pub extracted_at: String,
    /// Pages, at least 1.
    pub page_count: u64,
    /// Name of the extractor.
    pub parser_name: String,
    /// Version of the extractor.
    pub parser_version: String,
    /// Schema version.
    pub schema_version: Version,
    /// Id.
    pub source_id: String,
    /// Path relative to the project root, with `/`.
    pub source_path: String,
    /// SHA-256 of the file's bytes, 64 hex digits.
    pub source_sha256: String,
}

/// Reads a sources manifest and checks it.
///
/// # Errors
/// MAN-001 with the first reason.
pub fn read_sources(bytes: &[u8]) -> Result<SourcesManifest, Box<Problem>> {
    const WHAT: &str = "sources manifest";
    let manifest: SourcesManifest = read(bytes, WHAT)?;
    let mut seen: HashSet<&str> = HashSet::new();
    for source in &manifest.sources {
        let record = format!("source `{}`", shown(&source.source_id));
        filled(
            &record,
            &[
                ("source_id", &source.source_id),
                ("source_path", &source.source_path),
                ("parser_name", &source.parser_name),
                ("parser_version", &source.parser_version),
                ("extracted_at", &source.extracted_at),
            ],
        )
        .and_then(|()| hash(&source.source_sha256, &record, "source_sha256"))
        .map_err(|reason| broken(WHAT, reason))?;
        if source.page_count == 0 {
            return Err(broken(WHAT, format!("{record}: `page_count` is 0")));
        }
        if !seen.insert(&source.source_id) {
            return Err(broken(WHAT, format!("the {record} is listed twice")));
        }
    }
    Ok(manifest)
}

/// All active cards and what was retracted.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CardsManifest {
    /// Active cards, sorted by reading and id.
    pub cards: Vec<CardRecord>,
    /// Ids of active cards that cite something retracted, sorted.
    #[serde(default)]
    pub dependency_retracted_cards: Vec<String>,
    /// Ids of retracted cards, sorted.
    #[serde(default)]
    pub retracted_cards: Vec<String>,
    /// Schema version.
    pub schema_version: Version,
}

/// One card.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CardRecord {
    /// SHA-256 of the card, 64 hex digits.
    pub card_hash: String,
    /// Number of citations.
    pub citation_count: u64,
    /// Id.
    pub id: String,
    /// Path relative to the project root, with `/`.
    pub path: String,
    /// Reading.
    pub reading_id: String,
    /// Schema version.
    pub schema_version: Version,
    /// Ids of the cited sources, sorted.
    pub source_ids: Vec<String>,
    /// Summary.
    pub summary: String,
    /// Title.
    pub title: String,
}

/// Reads a cards manifest and checks it.
///
/// # Errors
/// MAN-001 with the first reason.
pub fn read_cards(bytes: &[u8]) -> Result<CardsManifest, Box<Problem>> {
    const WHAT: &str = "cards manifest";
    let manifest: CardsManifest = read(bytes, WHAT)?;
    check_cards(&manifest).map_err(|reason| broken(WHAT, reason))?;
    Ok(manifest)
}

/// The invariants of contract §6.3.
pub(crate) fn check_cards(manifest: &CardsManifest) -> Result<(), String> {
    let mut active: HashSet<&str> = HashSet::with_capacity(manifest.cards.len());
    for card in &manifest.cards {
        let record = format!("card `{}`", shown(&card.id));
        filled(
            &record,
            &[
                ("id", &card.id),
                ("path", &card.path),
                ("title", &card.title),
                ("reading_id", &card.reading_id),
                ("summary", &card.summary),
            ],
        )?;
        hash(&card.card_hash, &record, "card_hash")?;
        sorted_ids(&card.source_ids, "source_ids")
            .map_err(|reason| format!("{record}: {reason}"))?;
        if !active.insert(&card.id) {
            return Err(format!("the {record} is listed twice"));
        }
    }
    let retracted = &manifest.retracted_cards;
    let dependent = &manifest.dependency_retracted_cards;
    sorted_ids(retracted, "retracted_cards")?;
    sorted_ids(dependent, "dependency_retracted_cards")?;
    if let Some(id) = retracted.iter().find(|id| active.contains(id.as_str())) {
        return Err(format!(
            "the card `{}` is both active and retracted",
            shown(id)
        ));
    }
    for id in dependent {
        let name = shown(id);
        if retracted.binary_search(id).is_ok() {
            return Err(format!(
                "the card `{name}` is in both lists of retracted cards"
            ));
        }
        if !active.contains(id.as_str()) {
            return Err(format!(
                "the card `{name}` is dependency-retracted but not active"
            ));
        }
    }
    Ok(())
}

/// What `kb search` searches.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Summaries {
    /// Schema version.
    pub schema_version: Version,
    /// One entry per active card, sorted by reading and id.
    pub summaries: Vec<Summary>,
}

/// One card as it is searched.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    /// SHA-256 of the card, 64 hex digits.
    pub card_hash: String,
    /// Id.
    pub id: String,
    /// Path relative to the project root, with `/`.
    pub path: String,
    /// Reading.
    pub reading_id: String,
    /// Schema version.
    pub schema_version: Version,
    /// Ids of the cited sources, sorted. Never `None` after [`read_summaries`]: older files lack
    /// it, and that has a code of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_ids: Option<Vec<String>>,
    /// Summary.
    pub summary: String,
    /// Tags.
    pub tags: Vec<String>,
    /// Title.
    pub title: String,
}

/// Reads summaries and checks them.
///
/// # Errors
/// SUM-007 if an entry has no `source_ids`, else MAN-001 with the first reason.
pub fn read_summaries(bytes: &[u8]) -> Result<Summaries, Box<Problem>> {
    const WHAT: &str = "summaries file";
    let summaries: Summaries = read(bytes, WHAT)?;
    let mut seen: HashSet<&str> = HashSet::new();
    for summary in &summaries.summaries {
        let record = format!("entry `{}`", shown(&summary.id));
        let Some(source_ids) = &summary.source_ids else {
            let message = format!("the {record} of the summaries has no `source_ids`");
            let help = "`kb index` writes the file anew";
            return Err(Box::new(Problem::new(SUM_007, 0..0, message).help(help)));
        };
        filled(
            &record,
            &[
                ("id", &summary.id),
                ("path", &summary.path),
                ("title", &summary.title),
                ("reading_id", &summary.reading_id),
                ("summary", &summary.summary),
            ],
        )
        .and_then(|()| hash(&summary.card_hash, &record, "card_hash"))
        .and_then(|()| {
            sorted_ids(source_ids, "source_ids").map_err(|reason| format!("{record}: {reason}"))
        })
        .map_err(|reason| broken(WHAT, reason))?;
        if !seen.insert(&summary.id) {
            return Err(broken(WHAT, format!("the {record} is listed twice")));
        }
    }
    Ok(summaries)
}
