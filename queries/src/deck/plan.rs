//! What an index run publishes: cards manifest, summaries and `INDEX.md` of a deck (contract §6.3,
//! §6.4), retractions kept and their cascade derived anew.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::cascade::{EdgeTo, Reason, Supports, Withdrawn, cascade};
use crate::check::card::{CardSummary, summarize};
use crate::derive::CardDerivation;
use crate::emit::index_page::index_page;
use crate::emit::records::{card_record, summary};
use crate::parse::card::{EdgeType, ParsedCard};
use crate::parse::manifest::{CardsManifest, Summaries, Version};

/// A card as the deck needs it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeckCard {
    /// What is published of it.
    pub summary: CardSummary,
    /// The hash that the file holds; `None`: it holds none.
    pub stored_hash: Option<Arc<str>>,
    /// What it rests on.
    pub supports: Supports,
}

impl DeckCard {
    /// The deck's view of a card; `reading` is the reading that the project gives it, if it does.
    /// `None`: something is wrong with the card.
    pub fn of(card: &CardDerivation, reading: Option<&str>) -> Option<Self> {
        let stored = card.parsed.card_hash.as_ref();
        Some(DeckCard {
            summary: summarize(&card.parsed, card.hash.as_deref(), reading)?,
            stored_hash: stored.map(|hash| Arc::from(&*hash.value)),
            supports: supports(&card.parsed),
        })
    }

    /// Whether the file holds the card's hash.
    pub fn is_stamped(&self) -> bool {
        self.stored_hash.as_ref() == Some(&self.summary.card_hash)
    }
}

/// What a card rests on, as far as it can be read: also of a card with problems.
pub fn supports(card: &ParsedCard) -> Supports {
    let mut sources: BTreeSet<Arc<str>> = BTreeSet::new();
    let mut chunks: BTreeSet<Arc<str>> = BTreeSet::new();
    for citation in &card.citations {
        sources.extend(citation.source_id.as_ref().map(|id| Arc::from(&*id.value)));
        chunks.extend(citation.chunk_id.as_ref().map(|id| Arc::from(&*id.value)));
    }
    Supports {
        sources: sources.into_iter().collect(),
        chunks: chunks.into_iter().collect(),
        edges: card
            .edges
            .iter()
            .map(|edge| EdgeTo {
                target: Arc::from(&*edge.target.value),
                extends: edge.edge_type == EdgeType::Extends,
            })
            .collect(),
    }
}

/// Two files with one card id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Duplicate<'a> {
    /// The id.
    pub id: &'a str,
    /// The first file with it.
    pub first: &'a str,
    /// The second.
    pub second: &'a str,
}

/// The ids that several files have; `cards` by path, in order.
pub fn duplicates<'a>(
    cards: impl IntoIterator<Item = (&'a str, &'a DeckCard)>,
) -> Vec<Duplicate<'a>> {
    let mut seen: HashMap<&str, &str> = HashMap::new();
    let mut found = Vec::new();
    for (path, card) in cards {
        let id = &*card.summary.id;
        match seen.get(id) {
            Some(first) => found.push(Duplicate {
                id,
                first,
                second: path,
            }),
            None => {
                seen.insert(id, path);
            }
        }
    }
    found
}

/// What is to be published.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// `cards_manifest.json`.
    pub manifest: CardsManifest,
    /// `summaries.json`.
    pub summaries: Summaries,
    /// `INDEX.md`.
    pub page: String,
    /// Why cards are withdrawn that nobody retracted, by id.
    pub reasons: BTreeMap<String, BTreeSet<Reason>>,
}

/// Plans the publication of `cards` (path and card, ids unique).
///
/// `kept` are dependency-retracted cards to keep whatever the cascade gives: those of the manifest
/// in place, when nobody knows which sources and chunks were retracted.
pub fn plan<'c>(
    cards: impl IntoIterator<Item = (&'c str, &'c DeckCard)>,
    withdrawn: &Withdrawn,
    kept: &BTreeSet<String>,
) -> Plan {
    let mut active: Vec<(&str, &DeckCard)> = cards
        .into_iter()
        .filter(|(_, card)| !withdrawn.cards.contains(&*card.summary.id))
        .collect();
    active.sort_by(|(_, a), (_, b)| {
        let (a, b) = (&a.summary, &b.summary);
        (&a.reading_id, &a.id).cmp(&(&b.reading_id, &b.id))
    });
    let reasons = cascade(
        active
            .iter()
            .map(|(_, card)| (&*card.summary.id, &card.supports)),
        withdrawn,
    );
    let mut dependent: BTreeSet<&str> = reasons.keys().map(String::as_str).collect();
    if !kept.is_empty() {
        let ids = active.iter().map(|(_, card)| &*card.summary.id);
        dependent.extend(ids.filter(|id| kept.contains(*id)));
    }
    let manifest = CardsManifest {
        cards: active
            .iter()
            .map(|(path, card)| card_record(path, &card.summary))
            .collect(),
        dependency_retracted_cards: dependent.into_iter().map(str::to_owned).collect(),
        retracted_cards: withdrawn.cards.iter().cloned().collect(),
        schema_version: Version,
    };
    Plan {
        page: index_page(&manifest.cards),
        summaries: Summaries {
            schema_version: Version,
            summaries: active
                .iter()
                .map(|(path, card)| summary(path, &card.summary))
                .collect(),
        },
        manifest,
        reasons,
    }
}
