//! Extracted documents, outside the graph and evictable.
//!
//! Memory follows the work at hand: the graph keeps chunk lists, never text. Whoever needs a
//! document's text asks here; the store keeps the most recently used documents within a budget of
//! bytes and extracts the others again. That is sound without a dependency edge: a document is
//! handed out only for the fingerprint asked for, or as the one the graph derived last, and who
//! relies on the latter compares chunk hashes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use dashmap::DashMap;

use crate::derive::SourceDerivation;
use crate::input::Recipe;
use crate::parse::document::{self, Document, DocumentError, ExtractOptions, Format};
use crate::system::{Fingerprint, ReadFailure, System};

/// Why there is no document.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum LoadError {
    /// The bytes could not be had.
    Read(ReadFailure),
    /// The bytes are not a document.
    Extract(DocumentError),
}

/// A bounded store of extracted documents.
pub struct Documents {
    budget: usize,
    held: Mutex<Held>,
    derived: DashMap<Arc<str>, Derived>,
}

/// What the graph derived last from a path.
#[derive(Clone)]
pub(crate) struct Derived {
    pub(crate) fingerprint: Fingerprint,
    pub(crate) recipe: Arc<Recipe>,
    pub(crate) derivation: Arc<SourceDerivation>,
}

#[derive(Default)]
struct Held {
    entries: HashMap<Arc<str>, Entry>,
    bytes: usize,
    clock: u64,
}

struct Entry {
    fingerprint: Fingerprint,
    recipe: Arc<Recipe>,
    document: Arc<Document>,
    cost: usize,
    used: u64,
}

impl Documents {
    /// A store that keeps about `budget` bytes of documents.
    pub fn new(budget: usize) -> Self {
        Documents {
            budget,
            held: Mutex::default(),
            derived: DashMap::new(),
        }
    }

    /// The document of `path` at `fingerprint`, extracted by `recipe`.
    pub fn load(
        &self,
        system: &dyn System,
        path: &Arc<str>,
        fingerprint: Fingerprint,
        recipe: &Arc<Recipe>,
    ) -> Result<Arc<Document>, LoadError> {
        if let Some(document) = self.held(path, fingerprint, recipe) {
            return Ok(document);
        }
        let bytes = system
            .read(path, recipe.extract.limits.bytes)
            .map_err(LoadError::Read)?;
        if Fingerprint::of(&bytes) != fingerprint {
            return Err(LoadError::Read(ReadFailure::Changed));
        }
        let document =
            Arc::new(extract(system, &bytes, &recipe.extract).map_err(LoadError::Extract)?);
        self.keep(path, fingerprint, recipe, &document);
        Ok(document)
    }

    /// Records what the graph derived last from `path`.
    pub(crate) fn note_derived(&self, path: &Arc<str>, derived: Derived) {
        self.derived.insert(path.clone(), derived);
    }

    /// What the graph derived last from `path`, without a dependency on the file.
    pub(crate) fn derived(&self, path: &str) -> Option<Derived> {
        self.derived.get(path).map(|entry| entry.value().clone())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Held> {
        // A panic while the lock was held cannot leave the map half-changed.
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn held(
        &self,
        path: &str,
        fingerprint: Fingerprint,
        recipe: &Arc<Recipe>,
    ) -> Option<Arc<Document>> {
        let mut held = self.lock();
        held.clock += 1;
        let now = held.clock;
        let entry = held.entries.get_mut(path)?;
        let same_recipe =
            Arc::ptr_eq(&entry.recipe, recipe) || entry.recipe.extract == recipe.extract;
        if entry.fingerprint != fingerprint || !same_recipe {
            return None;
        }
        entry.used = now;
        Some(entry.document.clone())
    }

    fn keep(
        &self,
        path: &Arc<str>,
        fingerprint: Fingerprint,
        recipe: &Arc<Recipe>,
        document: &Arc<Document>,
    ) {
        let cost = document.text.len() + document.blocks.len() * 64;
        if cost > self.budget {
            return;
        }
        let mut held = self.lock();
        held.clock += 1;
        let entry = Entry {
            fingerprint,
            recipe: recipe.clone(),
            document: document.clone(),
            cost,
            used: held.clock,
        };
        held.bytes += cost;
        if let Some(old) = held.entries.insert(path.clone(), entry) {
            held.bytes -= old.cost;
        }
        if held.bytes > self.budget {
            evict(&mut held, self.budget / 2);
        }
    }
}

fn extract(
    system: &dyn System,
    bytes: &[u8],
    options: &ExtractOptions,
) -> Result<Document, DocumentError> {
    if options.format == Format::Pdf
        && let Some(result) = system.read_apart(bytes, options)
    {
        return result;
    }
    document::extract(bytes, options)
}

/// Drops the least recently used documents until at most `target` bytes are held. Going down to
/// half of the budget at once keeps the cost of sorting at a constant per document.
fn evict(held: &mut Held, target: usize) {
    let mut order: Vec<(u64, Arc<str>)> = held
        .entries
        .iter()
        .map(|(path, entry)| (entry.used, path.clone()))
        .collect();
    order.sort_unstable();
    for (_, path) in order {
        if held.bytes <= target {
            break;
        }
        if let Some(entry) = held.entries.remove(&path) {
            held.bytes -= entry.cost;
        }
    }
}
