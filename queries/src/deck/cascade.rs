//! Which cards a retraction takes with it, and why.
//!
//! A card depends on what it cites and on the cards it depends on or extends. Whatever depends on
//! something retracted is withdrawn with it, over any number of steps. The cards themselves are
//! not judged: a withdrawn card may be right, but what it rests on was taken back.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::chunk::parse_chunk_id;

/// What people took back.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Withdrawn {
    /// Ids of sources.
    pub sources: BTreeSet<String>,
    /// Ids of chunks.
    pub chunks: BTreeSet<String>,
    /// Ids of cards.
    pub cards: BTreeSet<String>,
}

/// What a card rests on.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Supports {
    /// Ids of the cited sources.
    pub sources: Vec<Arc<str>>,
    /// Ids of the cited chunks.
    pub chunks: Vec<Arc<str>>,
    /// The cards that it needs or continues.
    pub edges: Vec<EdgeTo>,
}

/// An edge to another card.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EdgeTo {
    /// The other card's id.
    pub target: Arc<str>,
    /// It is continued, not only needed.
    pub extends: bool,
}

/// Why a card is withdrawn though nobody retracted it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// It cites a retracted source.
    Source(String),
    /// It cites a retracted chunk.
    Chunk(String),
    /// It has an edge to a card that is retracted or withdrawn itself.
    Card {
        /// The other card's id.
        id: String,
        /// The edge continues the other card.
        extends: bool,
        /// The other card was retracted itself; else it is withdrawn for a reason of its own.
        retracted: bool,
    },
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Source(id) => write!(f, "it cites the source {id}, which is retracted"),
            Reason::Chunk(id) => write!(f, "it cites the chunk {id}, which is retracted"),
            Reason::Card {
                id,
                extends,
                retracted,
            } => write!(
                f,
                "it {} the card {id}, which is {}",
                if *extends { "extends" } else { "depends on" },
                if *retracted {
                    "retracted"
                } else {
                    "withdrawn itself"
                }
            ),
        }
    }
}

impl Withdrawn {
    /// What a card cites of what was taken back, sorted.
    pub fn cited_by(&self, supports: &Supports) -> BTreeSet<Reason> {
        let mut reasons = BTreeSet::new();
        let of_chunks = supports
            .chunks
            .iter()
            .filter_map(|id| parse_chunk_id(id))
            .map(|parts| parts.source_id);
        let sources = supports.sources.iter().map(|id| &**id).chain(of_chunks);
        reasons.extend(
            sources
                .filter(|id| self.sources.contains(*id))
                .map(|id| Reason::Source(id.to_owned())),
        );
        reasons.extend(
            supports
                .chunks
                .iter()
                .filter(|id| self.chunks.contains(&***id))
                .map(|id| Reason::Chunk(id.to_string())),
        );
        reasons
    }
}

/// The cards that are withdrawn with what was retracted, with all their reasons, by id. `cards`
/// are all cards; those that are retracted themselves are not in the result.
pub fn cascade<'c>(
    cards: impl IntoIterator<Item = (&'c str, &'c Supports)>,
    withdrawn: &Withdrawn,
) -> BTreeMap<String, BTreeSet<Reason>> {
    let cards: Vec<(&str, &Supports)> = cards
        .into_iter()
        .filter(|(id, _)| !withdrawn.cards.contains(*id))
        .collect();
    let mut dependents: HashMap<&str, Vec<(&str, bool)>> = HashMap::new();
    let mut found: BTreeMap<String, BTreeSet<Reason>> = BTreeMap::new();
    let mut open: VecDeque<&str> = VecDeque::new();
    for (id, supports) in &cards {
        for edge in &supports.edges {
            let list = dependents.entry(&edge.target).or_default();
            list.push((id, edge.extends));
        }
        let reasons = withdrawn.cited_by(supports);
        if !reasons.is_empty() {
            found.insert((*id).to_owned(), reasons);
            open.push_back(id);
        }
    }
    open.extend(withdrawn.cards.iter().map(String::as_str));
    // Every card is opened once, when it gets its first reason.
    while let Some(id) = open.pop_front() {
        for (dependent, extends) in dependents.get(id).into_iter().flatten() {
            if *dependent == id {
                continue;
            }
            let reasons = found.entry((*dependent).to_owned()).or_default();
            if reasons.is_empty() {
                open.push_back(dependent);
            }
            reasons.insert(Reason::Card {
                id: id.to_owned(),
                extends: *extends,
                retracted: withdrawn.cards.contains(id),
            });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use proptest::prelude::*;

    use super::*;

    fn supports(sources: &[&str], chunks: &[&str], edges: &[&str]) -> Supports {
        let arcs = |list: &[&str]| list.iter().map(|id| Arc::from(*id)).collect();
        Supports {
            sources: arcs(sources),
            chunks: arcs(chunks),
            edges: edges
                .iter()
                .map(|target| EdgeTo {
                    target: (*target).into(),
                    extends: false,
                })
                .collect(),
        }
    }

    fn withdrawn(sources: &[&str], chunks: &[&str], cards: &[&str]) -> Withdrawn {
        let set = |list: &[&str]| list.iter().map(|id| (*id).to_owned()).collect();
        Withdrawn {
            sources: set(sources),
            chunks: set(chunks),
            cards: set(cards),
        }
    }

    fn run(cards: &[(&str, Supports)], withdrawn: &Withdrawn) -> Vec<String> {
        cascade(cards.iter().map(|(id, card)| (*id, card)), withdrawn)
            .iter()
            .flat_map(|(id, reasons)| reasons.iter().map(move |reason| format!("{id}: {reason}")))
            .collect()
    }

    #[test]
    fn three_kinds_of_retraction_compose_and_every_reason_is_named() {
        let cards = [
            ("a", supports(&["s"], &["s:p001:0000"], &[])),
            ("b", supports(&["t"], &["t:p001:0000"], &["a"])),
            ("c", supports(&["t"], &["t:p001:0001"], &["b", "r"])),
            ("d", supports(&["t"], &["t:p001:0000"], &[])),
            ("r", supports(&["s"], &[], &["a"])),
        ];
        assert_eq!(
            run(&cards, &withdrawn(&["s"], &["t:p001:0001"], &["r"])),
            [
                "a: it cites the source s, which is retracted",
                "b: it depends on the card a, which is withdrawn itself",
                "c: it cites the chunk t:p001:0001, which is retracted",
                "c: it depends on the card b, which is withdrawn itself",
                "c: it depends on the card r, which is retracted",
            ]
        );
        assert!(run(&cards, &Withdrawn::default()).is_empty());
    }

    #[test]
    fn circles_end_and_stand_unless_something_takes_them() {
        let cards = [
            ("a", supports(&[], &[], &["b"])),
            ("b", supports(&[], &[], &["a", "b"])),
            ("c", supports(&["s"], &[], &["b"])),
        ];
        assert!(run(&cards, &withdrawn(&["x"], &[], &["y"])).is_empty());
        assert_eq!(
            run(&cards, &withdrawn(&[], &[], &["a"])),
            [
                "b: it depends on the card a, which is retracted",
                "c: it depends on the card b, which is withdrawn itself"
            ]
        );
    }

    #[test]
    fn a_chunk_of_a_retracted_source_counts_whatever_source_is_named() {
        let cards = [("a", supports(&["other"], &["s:p001:0000"], &[]))];
        assert_eq!(
            run(&cards, &withdrawn(&["s"], &[], &[])),
            ["a: it cites the source s, which is retracted"]
        );
    }

    proptest! {
        /// The smallest set that holds every card with a reason, found by repeating until nothing
        /// is added.
        #[test]
        fn equals_the_smallest_closed_set(
            edges in prop::collection::vec(prop::collection::vec(0usize..8, 0..3), 8),
            cites in prop::collection::vec(0usize..4, 8),
            sources in prop::collection::btree_set(0usize..4, 0..2),
            retracted in prop::collection::btree_set(0usize..8, 0..2),
        ) {
            let names: Vec<String> = (0..8).map(|number| format!("card{number}")).collect();
            let cards: Vec<(&str, Supports)> = (0..8).map(|card| {
                let source = format!("s{}", cites[card]);
                let targets: Vec<&str> = edges[card].iter().map(|to| names[*to].as_str()).collect();
                (names[card].as_str(), supports(&[&source], &[], &targets))
            }).collect();
            let withdrawn = Withdrawn {
                sources: sources.iter().map(|number| format!("s{number}")).collect(),
                chunks: BTreeSet::new(),
                cards: retracted.iter().map(|card| names[*card].clone()).collect(),
            };
            let mut expected: BTreeSet<usize> = retracted.clone();
            loop {
                let before = expected.len();
                for card in 0..8 {
                    if sources.contains(&cites[card]) || edges[card].iter().any(|to| expected.contains(to) && *to != card) {
                        expected.insert(card);
                    }
                }
                if expected.len() == before { break; }
            }
            let found = cascade(cards.iter().map(|(id, card)| (*id, card)), &withdrawn);
            let found: BTreeSet<String> = found.keys().cloned().collect();
            let expected: BTreeSet<String> =
                expected.difference(&retracted).map(|card| names[*card].clone()).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
