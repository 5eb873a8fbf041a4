//! The event of a card's history (contract §6.2): what a version changed, and a snapshot of it.
//!
//! A history holds the frontmatter and not the body. Whether a card is retracted is what its last
//! event says: a later version of a retracted card is retracted too, until an event takes it back.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Kind;
use super::chain::Event;
use crate::commit::hash::Digest;
use crate::parse::card::Card;

/// The only member of `frontmatter_field_changes` of the event that retracts a card.
pub const RETRACTED: &str = "__cacg_retracted__";
/// The same of the event that takes a retraction back. The contract has no such verb.
pub const UNRETRACTED: &str = "__cacg_unretracted__";

/// Chunks that a version cites and its predecessor did not, and the other way round. Sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Delta {
    /// Newly cited.
    pub added: Vec<String>,
    /// No longer cited.
    pub removed: Vec<String>,
}

/// One version of a card, without its place in the chain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HistoryEvent {
    /// Ids of the cited chunks, sorted, each once.
    pub cited_chunk_ids_snapshot: Vec<String>,
    /// How they differ from those of the event before.
    pub cited_chunk_set_delta: Delta,
    /// Members of the frontmatter that differ from those of the event before, sorted; or
    /// [`RETRACTED`] or [`UNRETRACTED`] alone.
    pub frontmatter_field_changes: Vec<String>,
    /// The frontmatter, defaults filled in, without `card_hash`.
    pub frontmatter_snapshot: Value,
    /// Whether the card is retracted from here on.
    pub is_retracted: bool,
    /// The card's hash from here on.
    pub new_card_hash: Digest,
    /// The hash that the card carried before; none where it carried none.
    pub prev_card_hash: Option<Digest>,
    /// When, UTC, `YYYY-MM-DDTHH:MM:SSZ`.
    pub timestamp: String,
}

/// Why there is a new event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// The card has other contents.
    Content,
    /// The card is retracted.
    Retract,
    /// Its retraction is taken back.
    Unretract,
}

impl HistoryEvent {
    /// The event that follows `last` (none: the first one) when the card becomes `card`, whose hash
    /// is `hash` and which carried `carried` before.
    #[must_use]
    pub fn next(
        last: Option<&HistoryEvent>,
        card: &Card,
        hash: Digest,
        carried: Option<Digest>,
        change: Change,
        timestamp: String,
    ) -> Self {
        let snapshot = card.frontmatter_value();
        let cited: BTreeSet<&str> = card.citations.iter().map(|c| &*c.chunk_id).collect();
        let before: BTreeSet<&str> = last
            .into_iter()
            .flat_map(|event| &event.cited_chunk_ids_snapshot)
            .map(String::as_str)
            .collect();
        let owned = |ids: &mut dyn Iterator<Item = &&str>| -> Vec<String> {
            ids.map(|id| (*id).to_owned()).collect()
        };
        let changes = match change {
            Change::Retract => vec![RETRACTED.to_owned()],
            Change::Unretract => vec![UNRETRACTED.to_owned()],
            Change::Content => changed_members(last.map(|e| &e.frontmatter_snapshot), &snapshot),
        };
        let is_retracted = match change {
            Change::Retract => true,
            Change::Unretract => false,
            Change::Content => last.is_some_and(|event| event.is_retracted),
        };
        HistoryEvent {
            cited_chunk_set_delta: Delta {
                added: owned(&mut cited.difference(&before)),
                removed: owned(&mut before.difference(&cited)),
            },
            cited_chunk_ids_snapshot: owned(&mut cited.iter()),
            frontmatter_field_changes: changes,
            frontmatter_snapshot: snapshot,
            is_retracted,
            new_card_hash: hash,
            prev_card_hash: carried,
            timestamp,
        }
    }
}

/// Names of the members that differ, sorted. Absent and empty are the same for the lists that a
/// card may leave out.
fn changed_members(before: Option<&Value>, after: &Value) -> Vec<String> {
    let none = serde_json::Map::new();
    let before = before.and_then(Value::as_object).unwrap_or(&none);
    let after = after.as_object().unwrap_or(&none);
    let keys: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    keys.into_iter()
        .filter(|key| key.as_str() != "card_hash")
        .filter(|key| {
            let may_be_absent = matches!(key.as_str(), "tags" | "card_edges");
            let value = |map: &serde_json::Map<String, Value>| {
                map.get(*key)
                    .filter(|value| !(may_be_absent && value.as_array().is_some_and(Vec::is_empty)))
                    .cloned()
            };
            value(before) != value(after)
        })
        .cloned()
        .collect()
}

fn sorted(list: &[String], name: &str) -> Result<(), String> {
    match list.windows(2).find(|pair| pair.first() >= pair.last()) {
        Some(pair) => Err(format!(
            "`{name}` is not sorted, or holds {:?} twice",
            pair.last().map_or("", String::as_str)
        )),
        None => Ok(()),
    }
}

impl Event for HistoryEvent {
    const KIND: Kind = Kind::History;
    const KEYS: &'static [&'static str] = &[
        "cited_chunk_ids_snapshot",
        "cited_chunk_set_delta",
        "frontmatter_field_changes",
        "frontmatter_snapshot",
        "is_retracted",
        "new_card_hash",
        "prev_card_hash",
        "timestamp",
    ];

    fn check(&self) -> Result<(), String> {
        sorted(&self.cited_chunk_ids_snapshot, "cited_chunk_ids_snapshot")?;
        sorted(&self.cited_chunk_set_delta.added, "added")?;
        sorted(&self.cited_chunk_set_delta.removed, "removed")?;
        sorted(&self.frontmatter_field_changes, "frontmatter_field_changes")?;
        if !self.frontmatter_snapshot.is_object() {
            return Err("`frontmatter_snapshot` is not an object".to_owned());
        }
        let retracts = self
            .frontmatter_field_changes
            .iter()
            .any(|c| c == RETRACTED);
        if retracts && !self.is_retracted {
            return Err(format!("`{RETRACTED}` without `is_retracted`"));
        }
        Ok(())
    }
}
