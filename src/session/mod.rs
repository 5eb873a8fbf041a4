//! One look at a project, kept up to date.
//!
//! A session knows every file, what was derived from it and by which inputs. A command makes one,
//! asks once and drops it; an editor or a watch keeps it and tells it what changed. Both take the
//! same road: find out what differs, ask the trace store, derive only what is left, fold.
//!
//! What is *absent*: nothing here decides a verdict (that is `queries/`), and nothing here writes
//! into the user's files (that is `publish/`).

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kbc_queries::diagnostic::Diagnostic;
use kbc_queries::input::{CardFile, FileStatus, Recipe, SourceFile};
use kbc_queries::system::{Fingerprint, ReadFailure};

use crate::cache::entries::{ByName, CardEntry, FileRecord, NameKey, SourceReport};
use crate::cache::{Cache, Trace};
use crate::workspace::Project;
use crate::workspace::context::Context;
use crate::workspace::disk::Disk;

mod answers;
mod bind;
mod cite;
mod citing;
pub mod coverage;
pub mod database;
mod decisions;
mod derive;
mod given;
mod guides;
mod hashing;
mod keys;
pub(crate) mod migration;
mod naming;
mod recipes;
mod refresh;
mod report;
mod stale;
mod store;
mod torn;
mod update;

pub use self::answers::Authorities;
pub use self::cite::Cited;
pub(crate) use self::citing::Citing;
pub use self::database::{Database, Observer};
pub use self::guides::Guides;
pub use self::keys::{chunk_params, derivation_name};
pub use self::report::{CardFindings, Report};

/// Told how far long work is.
pub trait Progress: Send + Sync {
    /// A stage begins; it has `total` steps.
    fn begin(&self, stage: &'static str, total: u64);
    /// A step is done.
    fn advance(&self);
    /// All is done.
    fn finish(&self);
}

/// How a session is to work.
#[derive(Clone, Default)]
pub struct Options {
    /// Do without the cache, reading and writing.
    pub no_cache: bool,
    /// Trust no stamp: hash every file.
    pub paranoid: bool,
    /// Accept small edits outside protected words.
    pub fuzzy: bool,
    /// Report cards that no other card points at.
    pub orphans: bool,
    /// A retracted card is a warning.
    pub allow_retracted: bool,
    /// Resolve against this chunks manifest instead of the sources.
    pub chunks_manifest: Option<PathBuf>,
    /// Authorise by this matrix instead of the project's.
    pub source_matrix: Option<PathBuf>,
    /// Also take the SHA-256 of every file that is hashed; a build needs them.
    pub sha256: bool,
    /// The program that reads PDFs apart from this process; `None`: they are read here.
    pub reader: Option<PathBuf>,
    /// Told how far long work is.
    pub progress: Option<Arc<dyn Progress>>,
    /// Where a run outside any project may keep verdicts; `None`: nowhere.
    pub user_cache: Option<PathBuf>,
    /// Only these cards (paths relative to the root).
    pub only: Option<BTreeSet<String>>,
    /// The cards in `only` are all there are, so that an edge to any other leads nowhere.
    pub whole_deck: bool,
    /// Hears the name of every executed query.
    pub observer: Option<Observer>,
}

/// What a run did, for `--stats`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Sources of the project.
    pub sources: u64,
    /// Cards of the project.
    pub cards: u64,
    /// Files whose bytes were hashed because their stamp said nothing.
    pub hashed: u64,
    /// Sources cut into chunks.
    pub sources_derived: u64,
    /// Cards parsed.
    pub cards_derived: u64,
    /// Citations looked up and matched.
    pub citations_checked: u64,
    /// Citations whose verdict was known.
    pub citations_reused: u64,
    /// Verdicts found by content, though the last state did not have them.
    pub trace_hits: u64,
    /// Time by phase, in order.
    pub phases: Vec<(&'static str, Duration)>,
}

impl Stats {
    /// Derivations run.
    pub fn derived(&self) -> u64 {
        self.sources_derived + self.cards_derived + self.citations_checked
    }

    fn phase(&mut self, name: &'static str, since: Instant) {
        self.phases.push((name, since.elapsed()));
    }
}

/// A source as the session knows it.
pub(crate) struct SourceState {
    pub(crate) file: FileRecord,
    pub(crate) collection: usize,
    pub(crate) id: Arc<str>,
    pub(crate) recipe: Option<Arc<Recipe>>,
    pub(crate) recipe_key: Fingerprint,
    pub(crate) title: Option<Arc<str>>,
    pub(crate) report: Option<Arc<SourceReport>>,
    pub(crate) input: Option<SourceFile>,
    pub(crate) dirty: bool,
}

/// A card as the session knows it.
pub(crate) struct CardState {
    pub(crate) file: FileRecord,
    pub(crate) folder_reading: Option<Arc<str>>,
    pub(crate) entry: Option<Arc<CardEntry>>,
    pub(crate) input: Option<CardFile>,
    pub(crate) dirty: bool,
}

/// Another file the project depends on.
pub(crate) struct OtherState {
    pub(crate) file: FileRecord,
    pub(crate) dirty: bool,
}

/// Files that changed, and the cards that depend on them.
#[derive(Default)]
pub(crate) struct Touched {
    pub(crate) cards: BTreeSet<Arc<str>>,
    pub(crate) sources: BTreeSet<Arc<str>>,
}

/// How far a run on an explicit chunks manifest has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Given {
    /// There is none, or it cannot be used.
    #[default]
    None,
    /// It was read; verdicts are kept under this fingerprint of it and the matrix.
    Read(Fingerprint),
    /// All verdicts are known from an earlier run on the same bytes, so that it was not read.
    Known,
}

/// What the graph's inputs have not been told yet.
pub(crate) enum Pending {
    /// Anything.
    All,
    /// Only these files, whose names and owners are as they were.
    Some {
        /// Paths of sources.
        sources: Vec<Arc<str>>,
        /// Paths of cards.
        cards: Vec<Arc<str>>,
    },
}

impl Default for Pending {
    fn default() -> Self {
        Pending::Some {
            sources: Vec::new(),
            cards: Vec::new(),
        }
    }
}

/// A look at a project. See the module's documentation.
pub struct Session {
    /// The project.
    pub project: Project,
    pub(crate) options: Options,
    pub(crate) disk: Arc<Disk>,
    pub(crate) db: Database,
    pub(crate) cache: Option<Cache>,
    pub(crate) sources: BTreeMap<Arc<str>, SourceState>,
    pub(crate) cards: BTreeMap<Arc<str>, CardState>,
    pub(crate) others: BTreeMap<Arc<str>, OtherState>,
    pub(crate) context: Context,
    /// Source id → fingerprint of what it leads to. Ids that are not here lead nowhere.
    pub(crate) bindings: ByName<Fingerprint>,
    /// The same by the id's key.
    pub(crate) by_name: ByName<Arc<str>>,
    /// Source id → its file.
    pub(crate) by_id: HashMap<Arc<str>, Arc<str>>,
    /// A recorded source's file is gone, so that its id is free for a file with its bytes.
    pub(crate) lost_sources: bool,
    /// Source id → cards that cite it.
    /// Made when it is first asked for: a command that asks once and ends needs none.
    pub(crate) citing: Option<Citing>,
    /// New traces of this run.
    pub(crate) traces: Vec<(Fingerprint, Trace)>,
    /// New named values of this run.
    pub(crate) values: Vec<(&'static str, Vec<u8>)>,
    /// Buckets that lost a file since they were stored.
    pub(crate) lost: BTreeSet<(u32, u32)>,
    /// Routers, by path.
    pub(crate) routers: Vec<Arc<str>>,
    /// What the look at the tree has to say.
    pub(crate) discovered: Vec<Diagnostic>,
    /// What opening the cache has to say; shown, but no part of any published result.
    pub(crate) cache_notice: Option<Diagnostic>,
    /// A directory could not be read, or a collection's root is gone.
    pub(crate) incomplete: bool,
    pub(crate) pending: Pending,
    /// Of a run on an explicit chunks manifest: what it and the matrix say, once that is known.
    pub(crate) given: Given,
    /// Inputs of files that are gone: a path keeps its input for ever.
    pub(crate) gone_sources: HashMap<Arc<str>, SourceFile>,
    pub(crate) gone_cards: HashMap<Arc<str>, CardFile>,
    /// What was done.
    pub stats: Stats,
}

impl Session {
    /// Whether something could not be read, so that what is missing may not be gone.
    pub fn is_incomplete(&self) -> bool {
        let changing = FileStatus::Failed(ReadFailure::Changed);
        self.incomplete
            || self
                .sources
                .values()
                .any(|state| state.file.status == changing)
            || self
                .cards
                .values()
                .any(|state| state.file.status == changing)
    }

    /// The bytes read from source and card files so far, and the files opened for it.
    pub fn reads(&self) -> (u64, u64) {
        (self.disk.bytes_read(), self.disk.files_opened())
    }

    /// The cards that cite a source.
    pub fn cited_by(&mut self, source_id: &str) -> Vec<Arc<str>> {
        self.citing().of(NameKey::of(source_id)).cloned().collect()
    }
}

/// The bytes of a present file.
pub(crate) fn present(file: &FileRecord) -> Option<Fingerprint> {
    match file.status {
        FileStatus::Present(fingerprint) => Some(fingerprint),
        FileStatus::Failed(_) => None,
    }
}
