//! What the whole project has decided: the matrix, what was retracted, what was recorded.
//!
//! Read from tracked files, not from derived state: what people decided survives every build.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use kbc_queries::diagnostic::Diagnostic;
use kbc_queries::input::Profile;
use kbc_queries::system::Fingerprint;

use super::ids::Recorded;

/// Rows of the source matrix.
pub type Rows = BTreeMap<Arc<str>, Row>;

/// The sources a reading may cite, sorted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Their ids.
    pub allowed: Arc<[Box<str>]>,
    /// Fingerprint of the reading and the ids: thousands of cards ask for it.
    pub key: Fingerprint,
}

/// The decisions in force.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Context {
    /// Which rules decide a verdict.
    pub profile: Profile,
    /// The matrix's rows, each sorted; `None`: there is no usable matrix.
    pub matrix: Option<Rows>,
    /// What the published manifests record.
    pub published: Published,
    /// The ids in `published.sources`.
    pub recorded: HashSet<Arc<str>>,
    /// What is wrong with these files.
    pub diagnostics: Vec<Diagnostic>,
}

/// What the record of retractions calls retracted: ids.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decided {
    /// Of sources.
    pub sources: BTreeSet<String>,
    /// Of chunks.
    pub chunks: BTreeSet<String>,
    /// Of cards.
    pub cards: BTreeSet<String>,
}

/// What the published manifests record.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Published {
    /// What the record of retractions says. It is part of the lists below.
    pub decided: Decided,
    /// Sources, by path.
    pub sources: Vec<Recorded>,
    /// The ways in which they were cut into chunks, in the order of the sources.
    pub cuts: Vec<Arc<str>>,
    /// Retracted sources.
    pub retracted_sources: BTreeSet<Arc<str>>,
    /// Retracted chunks, by source.
    pub retracted_chunks: BTreeMap<Arc<str>, Vec<Box<str>>>,
    /// Retracted cards.
    pub retracted_cards: BTreeSet<String>,
    /// Cards withdrawn because of what they cite.
    pub dependency_retracted_cards: BTreeSet<String>,
}

impl Published {
    /// How a source was cut.
    pub fn cut(&self, record: &Recorded) -> Option<&str> {
        let cut = self.cuts.get(usize::try_from(record.cut?).ok()?)?;
        Some(cut)
    }

    /// Records how sources were cut; `cut` gives it by the source's id.
    pub fn record_cuts<'a>(&mut self, mut cut: impl FnMut(&str) -> Option<&'a str>) {
        let mut known: HashMap<&'a str, u32> = HashMap::new();
        self.cuts.clear();
        for record in &mut self.sources {
            record.cut = cut(&record.id).map(|cut| {
                *known.entry(cut).or_insert_with(|| {
                    self.cuts.push(cut.into());
                    u32::try_from(self.cuts.len() - 1).unwrap_or(u32::MAX)
                })
            });
        }
    }

    /// Puts these retractions (ids of sources and of chunks, sorted) in the place of all others.
    pub fn retract(&mut self, source_ids: Vec<String>, chunk_ids: Vec<String>) {
        self.retracted_sources = source_ids.into_iter().map(Arc::from).collect();
        self.retracted_chunks.clear();
        for id in chunk_ids {
            let source = id.split(':').next().unwrap_or_default();
            self.retracted_chunks
                .entry(source.into())
                .or_default()
                .push(id.into());
        }
    }
}

impl Published {
    /// Puts what the record of retractions says into the lists: one that was lost or edited by
    /// hand gives nothing back.
    pub fn hold_to_record(&mut self) {
        let decided = &self.decided;
        self.retracted_cards.extend(decided.cards.iter().cloned());
        self.retracted_sources
            .extend(decided.sources.iter().map(|id| Arc::from(&**id)));
        for id in &decided.chunks {
            let source = id.split(':').next().unwrap_or_default();
            let chunks = self.retracted_chunks.entry(source.into()).or_default();
            if let Err(at) = chunks.binary_search_by(|chunk| (**chunk).cmp(id)) {
                chunks.insert(at, id.as_str().into());
            }
        }
    }
}

impl Context {
    /// Whether there is a matrix to authorise by.
    pub fn matrix_usable(&self) -> bool {
        self.matrix.is_some()
    }

    /// The sources a reading may cite.
    pub fn allowed(&self, reading: &str) -> Option<&Arc<[Box<str>]>> {
        self.row(reading).map(|row| &row.allowed)
    }

    /// A reading's row of the matrix.
    pub fn row(&self, reading: &str) -> Option<&Row> {
        self.matrix.as_ref()?.get(reading)
    }

    /// Whether an id is recorded, whether it is retracted, and which of its chunks are.
    pub fn marks(&self, id: &str) -> (bool, bool, Arc<[Box<str>]>) {
        let published = &self.published;
        (
            self.recorded.contains(id),
            published.retracted_sources.contains(id),
            published
                .retracted_chunks
                .get(id)
                .map_or_else(|| Arc::from([]), |chunks| Arc::from(chunks.as_slice())),
        )
    }

    /// The ids with a mark.
    pub fn marked_ids(&self) -> BTreeSet<Arc<str>> {
        let published = &self.published;
        published
            .sources
            .iter()
            .map(|record| record.id.clone())
            .chain(published.retracted_sources.iter().cloned())
            .chain(published.retracted_chunks.keys().cloned())
            .collect()
    }
}
