//! `out/retractions.jsonl`: what was retracted and given back, when and why.
//!
//! Manifests and histories are closed formats of the contract and have no room for a reason. This
//! record is chained as they are; it is written in the same group as the lists that it explains.
//! Where it and a list disagree, what either of them calls retracted is retracted: a list that was
//! lost or edited gives nothing back.

use serde::{Deserialize, Serialize};

use kbc_queries::diagnostic::registry;
use kbc_queries::record;
use kbc_queries::record::chain::{Event, Link, seal, verify};

use crate::record::clock::Clock;

use crate::workspace::context::Decided;

use super::group::Group;
use super::{Place, Refusal};

/// Its name in `out/`.
pub const NAME: &str = "retractions.jsonl";

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// Taken back.
    Retract,
    /// Given back.
    Unretract,
}

/// What it was done to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A card.
    Card,
    /// A source.
    Source,
    /// A chunk.
    Chunk,
}

impl Kind {
    /// In a sentence.
    pub fn noun(self) -> &'static str {
        match self {
            Kind::Card => "card",
            Kind::Source => "source",
            Kind::Chunk => "chunk",
        }
    }
}

/// One decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// What was done.
    pub action: Action,
    /// To what.
    pub id: String,
    /// To what kind of thing.
    pub kind: Kind,
    /// Where a card's file was.
    pub path: Option<String>,
    /// Why.
    pub reason: Option<String>,
    /// When, UTC, `YYYY-MM-DDTHH:MM:SSZ`.
    pub timestamp: String,
}

impl Entry {
    /// A decision without time, reason and path.
    pub fn new(action: Action, kind: Kind, id: &str) -> Self {
        Entry {
            action,
            id: id.to_owned(),
            kind,
            path: None,
            reason: None,
            timestamp: String::new(),
        }
    }

    /// Adds the reason.
    pub fn reason(mut self, reason: Option<&str>) -> Self {
        self.reason = reason.map(str::to_owned);
        self
    }

    /// Adds the path of a card's file.
    pub fn path(mut self, path: Option<&str>) -> Self {
        self.path = path.map(str::to_owned);
        self
    }
}

impl Event for Entry {
    const KIND: record::Kind = record::Kind::History;
    const KEYS: &'static [&'static str] = &["action", "id", "kind", "path", "reason", "timestamp"];

    fn check(&self) -> Result<(), String> {
        match self.id.is_empty() {
            true => Err("`id` is empty".to_owned()),
            false => Ok(()),
        }
    }
}

/// The record's bytes and where its chain stands. All of it is hashed anew.
fn read(place: &Place) -> Result<(Vec<u8>, Option<Link>), Refusal> {
    let bytes = place.read(NAME)?.unwrap_or_default();
    let last = verify::<Entry>(&bytes, |_| {}).map_err(|bad| {
        Refusal::new(
            registry::HIST_001,
            format!(
                "the record of retractions {} is damaged at {bad}; restore it from version control",
                place.shown(NAME)
            ),
        )
    })?;
    Ok((bytes, last))
}

/// What a record of retractions leaves retracted, in the end.
///
/// # Errors
/// Where its chain is broken.
pub fn standing(bytes: &[u8]) -> Result<Decided, String> {
    let mut decided = Decided::default();
    verify::<Entry>(bytes, |entry| {
        let entry = &entry.event;
        let ids = match entry.kind {
            Kind::Card => &mut decided.cards,
            Kind::Source => &mut decided.sources,
            Kind::Chunk => &mut decided.chunks,
        };
        match entry.action {
            Action::Retract => ids.insert(entry.id.clone()),
            Action::Unretract => ids.remove(&entry.id),
        };
    })
    .map_err(|bad| bad.to_string())?;
    Ok(decided)
}

/// Adds decisions to a group.
pub fn put(
    group: &mut Group<'_>,
    place: &Place,
    entries: &[Entry],
    clock: Clock,
) -> Result<(), Refusal> {
    let (mut bytes, mut last) = read(place)?;
    for entry in entries {
        let entry = Entry {
            timestamp: clock.now(),
            ..entry.clone()
        };
        let sealed = seal(&mut bytes, &entry, last).map_err(|reason| {
            let message = format!("{} cannot be written: {reason}", place.shown(NAME));
            Refusal::new(registry::IDX_004, message)
        })?;
        last = Some(sealed);
    }
    group.put(NAME, &bytes).map(|_| ())
}
