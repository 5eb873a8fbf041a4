//! What the graph is fed.
//!
//! Text stays out: a file is a path, a status with a fingerprint, and the rules by which it is
//! read. Names resolve outside salsa, in [`Names`]: a name always leads to the same input, and a
//! name that nobody has yet is an input that says so, so that giving it a file later wakes
//! exactly the queries that asked.

#![allow(
    missing_docs,
    reason = "salsa makes functions that cannot carry documentation"
)]

use std::sync::Arc;

use dashmap::DashMap;
use salsa::{Durability, Setter};
use serde::{Deserialize, Serialize};

use crate::Db;
use crate::chunk::Chunker;
use crate::derive::SourceDerivation;
use crate::parse::document::ExtractOptions;
use crate::system::{Fingerprint, ReadFailure};

/// A file as the last look at the disk found it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum FileStatus {
    /// It has these bytes.
    Present(Fingerprint),
    /// It cannot be used.
    Failed(ReadFailure),
}

/// How a source becomes chunks: everything besides its bytes that decides them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipe {
    /// Bytes to document.
    pub extract: ExtractOptions,
    /// Document to chunks.
    pub chunker: Chunker,
    /// Chunks that a manifest gives instead; then nothing is read or cut.
    pub given: Option<Arc<SourceDerivation>>,
}

/// Which rules decide a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, Default)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// Ours: what may mislead is an error.
    #[default]
    Strict,
    /// The card-graph contract's accepts stay accepted, with warnings.
    Cacg,
}

/// A source document.
#[salsa::input(debug)]
pub struct SourceFile {
    /// Relative to the project root.
    #[returns(ref)]
    pub path: Arc<str>,
    /// As last seen.
    #[returns(ref)]
    pub status: FileStatus,
    /// How it is read and cut.
    #[returns(ref)]
    pub recipe: Arc<Recipe>,
    /// Its title from the settings, for the rule that a quote be more than the title.
    #[returns(ref)]
    pub title: Option<Arc<str>>,
}

/// A source id, whether or not a file has it.
#[salsa::input(debug)]
pub struct SourceName {
    /// The id.
    #[returns(ref)]
    pub id: Arc<str>,
    /// The file that has it now.
    #[returns(copy)]
    pub file: Option<SourceFile>,
    /// Whether the published manifests know the id (its file may be gone).
    #[returns(copy)]
    pub recorded: bool,
    /// Whether the whole source is retracted.
    #[returns(copy)]
    pub retracted: bool,
    /// Ids of its retracted chunks, sorted.
    #[returns(ref)]
    pub retracted_chunks: Arc<[Box<str>]>,
}

/// A reading, whether or not the matrix has it.
#[salsa::input(debug)]
pub struct ReadingName {
    /// The reading's id.
    #[returns(ref)]
    pub id: Arc<str>,
    /// The sources it may cite, sorted; `None`: the matrix does not name the reading.
    #[returns(ref)]
    pub allowed: Option<Arc<[Box<str>]>>,
}

/// A card.
#[salsa::input(debug)]
pub struct CardFile {
    /// Relative to the project root.
    #[returns(ref)]
    pub path: Arc<str>,
    /// As last seen.
    #[returns(ref)]
    pub status: FileStatus,
    /// The reading that the settings give to the card's folder.
    #[returns(ref)]
    pub folder_reading: Option<Arc<str>>,
}

/// What the whole project has decided about checking.
#[salsa::input(singleton, debug)]
pub struct Policy {
    /// The rules in force.
    #[returns(copy)]
    pub profile: Profile,
    /// Whether there is a source matrix to authorise by.
    #[returns(copy)]
    pub matrix_usable: bool,
    /// Accept small edits outside protected words.
    #[returns(copy)]
    pub fuzzy: bool,
}

/// The rules in force. A database that nobody has told anything fails closed: everything is
/// strict, and nothing is authorised. One function for each decision, so that a query depends on
/// no other.
pub fn profile(db: &dyn Db) -> Profile {
    Policy::try_get(db).map_or(Profile::Strict, |policy| policy.profile(db))
}

/// Whether there is a source matrix to authorise by; see [`profile`].
pub fn matrix_usable(db: &dyn Db) -> bool {
    Policy::try_get(db).is_some_and(|policy| policy.matrix_usable(db))
}

/// Whether small edits outside protected words are accepted; see [`profile`].
pub fn accepts_fuzzy(db: &dyn Db) -> bool {
    Policy::try_get(db).is_some_and(|policy| policy.fuzzy(db))
}

/// Names to inputs. It only grows: a name never changes its input.
#[derive(Default)]
pub struct Names {
    sources: DashMap<Arc<str>, SourceName>,
    readings: DashMap<Arc<str>, ReadingName>,
}

impl Names {
    /// The input of a source id, made on first mention.
    pub fn source(&self, db: &dyn Db, id: &str) -> SourceName {
        if let Some(found) = self.sources.get(id) {
            return *found;
        }
        let id: Arc<str> = id.into();
        *self.sources.entry(id.clone()).or_insert_with(|| {
            SourceName::builder(id, None, false, false, Arc::from([]))
                .id_durability(Durability::NEVER_CHANGE)
                .new(db)
        })
    }

    /// Every source id that was mentioned, in no order.
    pub fn source_ids(&self) -> Vec<Arc<str>> {
        self.sources
            .iter()
            .map(|entry| entry.key().clone())
            .collect()
    }

    /// Every reading that was mentioned, in no order.
    pub fn reading_ids(&self) -> Vec<Arc<str>> {
        self.readings
            .iter()
            .map(|entry| entry.key().clone())
            .collect()
    }

    /// The input of a reading, made on first mention.
    pub fn reading(&self, db: &dyn Db, id: &str) -> ReadingName {
        if let Some(found) = self.readings.get(id) {
            return *found;
        }
        let id: Arc<str> = id.into();
        *self.readings.entry(id.clone()).or_insert_with(|| {
            ReadingName::builder(id, None)
                .id_durability(Durability::NEVER_CHANGE)
                .new(db)
        })
    }
}

/// What is known of a source id; the session sets it, comparing first, since salsa takes every
/// set for a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceBinding {
    /// The file that has the id.
    pub file: Option<SourceFile>,
    /// Known to the published manifests.
    pub recorded: bool,
    /// Retracted as a whole.
    pub retracted: bool,
    /// Its retracted chunks.
    pub retracted_chunks: Arc<[Box<str>]>,
}

/// Gives `name` the binding, touching only what differs. Returns whether anything did.
pub fn bind_source<D: Db>(db: &mut D, name: SourceName, binding: SourceBinding) -> bool {
    let mut changed = false;
    if name.file(db) != binding.file {
        name.set_file(db).to(binding.file);
        changed = true;
    }
    if name.recorded(db) != binding.recorded {
        name.set_recorded(db).to(binding.recorded);
        changed = true;
    }
    if name.retracted(db) != binding.retracted {
        name.set_retracted(db).to(binding.retracted);
        changed = true;
    }
    if *name.retracted_chunks(db) != binding.retracted_chunks {
        name.set_retracted_chunks(db).to(binding.retracted_chunks);
        changed = true;
    }
    changed
}

/// Gives `reading` its row of the matrix. Returns whether that changed anything.
pub fn bind_reading<D: Db>(
    db: &mut D,
    reading: ReadingName,
    allowed: Option<Arc<[Box<str>]>>,
) -> bool {
    if *reading.allowed(db) == allowed {
        return false;
    }
    reading.set_allowed(db).to(allowed);
    true
}

/// Sets a source's status. Returns whether that changed anything.
pub fn set_source_status<D: Db>(db: &mut D, file: SourceFile, status: FileStatus) -> bool {
    if *file.status(db) == status {
        return false;
    }
    file.set_status(db).to(status);
    true
}

/// Sets a card's status. Returns whether that changed anything.
pub fn set_card_status<D: Db>(db: &mut D, card: CardFile, status: FileStatus) -> bool {
    if *card.status(db) == status {
        return false;
    }
    card.set_status(db).to(status);
    true
}
