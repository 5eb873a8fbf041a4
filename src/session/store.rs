//! Between the session and the cache: the last state in, what changed out.

use std::collections::HashMap;
use std::sync::Arc;

use kbc_queries::diagnostic::{Diagnostic, registry};

use kbc_queries::input::{CardFile, SourceFile};

use crate::cache::entries::{StoredCard, StoredOther, StoredSource};
use crate::cache::{BUCKETS, Cache, Changes, Opened, Table, bucket_of, decode, encode};

use super::Session;

/// The last state of every file.
#[derive(Default)]
pub(crate) struct LastState {
    pub(crate) sources: HashMap<Arc<str>, StoredSource>,
    pub(crate) cards: HashMap<Arc<str>, StoredCard>,
    pub(crate) others: HashMap<Arc<str>, StoredOther>,
    /// Inputs of the graph, when the state comes from a session and not from the cache.
    pub(crate) source_inputs: HashMap<Arc<str>, SourceFile>,
    pub(crate) card_inputs: HashMap<Arc<str>, CardFile>,
}

/// Opens the cache and reads the last state. A part that cannot be read is as good as absent.
pub(crate) fn open(root: &std::path::Path) -> (Option<Cache>, LastState, Option<Diagnostic>) {
    let mut notice = None;
    let cache = match Cache::open(root) {
        Opened::Ready(cache) => Some(cache),
        Opened::Rebuilt(cache, reason) => {
            notice = Some(rebuilt(&reason));
            Some(cache)
        }
        // A read-only checkout is no reason to complain; the run is only slower.
        Opened::Unavailable(_) => None,
    };
    let Some(cache) = cache else {
        return (None, LastState::default(), notice);
    };
    match read_state(&cache) {
        Ok((state, false)) => (Some(cache), state, notice),
        // What can be read is used; what cannot is derived and recorded again.
        Ok((state, true)) => {
            let part = || {
                Diagnostic::new(
                    registry::CACHE_001,
                    "part of the cache was damaged and is rebuilt",
                )
                .help("nothing to do; only time was lost")
            };
            (Some(cache), state, notice.or_else(|| Some(part())))
        }
        Err(reason) => match cache.rebuild(root, reason) {
            Opened::Ready(cache) => (Some(cache), LastState::default(), notice),
            Opened::Rebuilt(cache, reason) => {
                (Some(cache), LastState::default(), Some(rebuilt(&reason)))
            }
            Opened::Unavailable(_) => (None, LastState::default(), notice),
        },
    }
}

/// Opens the cache without reading the last state, for a run that has none.
pub(crate) fn open_traces(root: &std::path::Path) -> Option<Cache> {
    match Cache::open(root) {
        Opened::Ready(cache) | Opened::Rebuilt(cache, _) => Some(cache),
        Opened::Unavailable(_) => None,
    }
}

fn rebuilt(reason: &str) -> Diagnostic {
    Diagnostic::new(
        registry::CACHE_001,
        format!("the cache was not usable and has been rebuilt: {reason}"),
    )
    .help("nothing to do; only time was lost")
}

/// The last state, and whether a part of it was damaged. An error: the store itself is.
fn read_state(cache: &Cache) -> Result<(LastState, bool), String> {
    let mut state = LastState::default();
    let mut damaged = false;
    load(
        cache,
        Table::Sources,
        &mut damaged,
        |entry: StoredSource| {
            state.sources.insert(entry.path.clone(), entry);
        },
    )?;
    load(cache, Table::Cards, &mut damaged, |entry: StoredCard| {
        state.cards.insert(entry.path.clone(), entry);
    })?;
    load(cache, Table::Others, &mut damaged, |entry: StoredOther| {
        state.others.insert(entry.path.clone(), entry);
    })?;
    Ok((state, damaged))
}

fn load<T: serde::de::DeserializeOwned>(
    cache: &Cache,
    table: Table,
    damaged: &mut bool,
    mut take: impl FnMut(T),
) -> Result<(), String> {
    cache.buckets(table, |bytes| match decode::<Vec<T>>(bytes) {
        Some(entries) => entries.into_iter().for_each(&mut take),
        None => *damaged = true,
    })
}

impl Session {
    /// Records what changed since the last state was read. Failing to is no failure of the run.
    pub fn record(&mut self) {
        let Some(mut cache) = self.cache.take() else {
            return;
        };
        let changes = self.changes();
        // Another process may hold the lock for longer than we are willing to wait, or the disk
        // may be full: then the next run derives again what this one could not write down.
        match cache.record(changes) {
            Ok(()) => self.settle(),
            Err(why) if why.damaged => {
                // The next run makes a new one; nothing of this run is lost but time.
                drop(cache);
                let folder = super::given::cache_folder(&self.project, &self.options)
                    .unwrap_or_else(|| self.project.root.clone());
                crate::cache::remove(&crate::cache::file(&folder));
                return;
            }
            Err(_) => {}
        }
        self.cache = Some(cache);
    }

    fn changes(&mut self) -> Changes {
        let mut changes = Changes {
            traces: std::mem::take(&mut self.traces),
            values: std::mem::take(&mut self.values),
            files: (self.sources.len() + self.cards.len()) as u64,
            ..Changes::default()
        };
        if self.has_given_chunks() {
            // The state is that of the project's own files.
            return changes;
        }
        let mut dirty = [[false; BUCKETS as usize]; 3];
        let mut mark = |table: usize, path: &str| {
            if let Some(slot) = dirty[table].get_mut(bucket_of(path) as usize) {
                *slot = true;
            }
        };
        for (path, _) in self.sources.iter().filter(|(_, state)| state.dirty) {
            mark(0, path);
        }
        for (path, _) in self.cards.iter().filter(|(_, state)| state.dirty) {
            mark(1, path);
        }
        for (path, _) in self.others.iter().filter(|(_, state)| state.dirty) {
            mark(2, path);
        }
        for (table, bucket) in &self.lost {
            if let Some(slot) = dirty
                .get_mut(*table as usize)
                .and_then(|row| row.get_mut(*bucket as usize))
            {
                *slot = true;
            }
        }
        let is_dirty = |table: usize, path: &str| dirty[table][bucket_of(path) as usize];

        let sources = self
            .sources
            .iter()
            .filter(|(path, _)| is_dirty(0, path))
            .map(|(path, state)| StoredSource {
                path: path.clone(),
                file: state.file.clone(),
                report: state.report.clone(),
            });
        put(&mut changes, Table::Sources, &dirty[0], sources, |entry| {
            &entry.path
        });
        let cards = self
            .cards
            .iter()
            .filter(|(path, _)| is_dirty(1, path))
            .map(|(path, state)| StoredCard {
                path: path.clone(),
                file: state.file.clone(),
                entry: state.entry.clone(),
            });
        put(&mut changes, Table::Cards, &dirty[1], cards, |entry| {
            &entry.path
        });
        let others = self
            .others
            .iter()
            .filter(|(path, _)| is_dirty(2, path))
            .map(|(path, state)| StoredOther {
                path: path.clone(),
                file: state.file.clone(),
            });
        put(&mut changes, Table::Others, &dirty[2], others, |entry| {
            &entry.path
        });
        changes
    }

    fn settle(&mut self) {
        for state in self.sources.values_mut() {
            state.dirty = false;
        }
        for state in self.cards.values_mut() {
            state.dirty = false;
        }
        for state in self.others.values_mut() {
            state.dirty = false;
        }
        self.lost.clear();
    }
}

fn put<T: serde::Serialize>(
    changes: &mut Changes,
    table: Table,
    dirty: &[bool],
    entries: impl Iterator<Item = T>,
    path: impl Fn(&T) -> &str,
) {
    let mut buckets: HashMap<u32, Vec<T>> = HashMap::new();
    for entry in entries {
        let bucket = bucket_of(path(&entry));
        buckets.entry(bucket).or_default().push(entry);
    }
    for (bucket, dirty) in (0u32..).zip(dirty) {
        if !dirty {
            continue;
        }
        let entries = buckets.remove(&bucket).unwrap_or_default();
        if let Some(bytes) = encode(&entries) {
            changes.buckets.push((table, bucket, bytes));
        }
    }
}
