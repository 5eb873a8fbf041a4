//! Files that change between the look at them and their use: what was made of them is true of no
//! state of theirs, so it is dropped, and the files are looked at again.

use std::sync::Arc;
use std::time::SystemTime;

use kbc_queries::Db;
use kbc_queries::input::{FileStatus, set_card_status, set_source_status};
use kbc_queries::system::{Fingerprint, ReadFailure};

use super::{Pending, Session, Touched};

/// How often a file that changes under the run is looked at again.
const ATTEMPTS: usize = 3;

impl Session {
    /// Derives whatever is stale, or stale among the files given. Returns the cards whose entry is
    /// new.
    ///
    /// A file that changes between the look at it and its use is looked at again, a few times;
    /// after that, its findings say so, and nothing about it is kept.
    pub(crate) fn derive(&mut self, among: Option<&Touched>) -> Vec<Arc<str>> {
        let traces = self.traces.len();
        let mut changed = self.derive_once(among);
        for _ in 0..ATTEMPTS {
            if self.forget_torn(traces, &changed).is_none() {
                return changed;
            }
            self.look_at_torn();
            let more = self.derive_once(None);
            changed.extend(more);
            changed.sort();
            changed.dedup();
        }
        self.forget_torn(traces, &changed);
        changed
    }

    /// Drops what was derived from files that changed under the run: it is true of no state of
    /// theirs. Returns the first of them.
    pub(crate) fn forget_torn(&mut self, traces: usize, cards: &[Arc<str>]) -> Option<Arc<str>> {
        let torn = self.db.documents().take_torn();
        let first = torn.first()?.clone();
        self.traces.truncate(traces);
        let never = Fingerprint([0; 32]);
        for path in torn.iter().chain(cards) {
            if let Some(state) = self.cards.get_mut(path)
                && let Some(entry) = &mut state.entry
            {
                Arc::make_mut(entry).own_key = never;
                state.dirty = true;
            }
        }
        // The graph must not think that it knows these bytes: they may come back.
        let failed = FileStatus::Failed(ReadFailure::Changed);
        for path in &torn {
            if let Some(state) = self.sources.get_mut(path) {
                if let Some(report) = &mut state.report {
                    Arc::make_mut(report).key = never;
                }
                state.file.status = failed.clone();
                state.file.stamp = None;
                state.dirty = true;
                if let Some(input) = state.input {
                    set_source_status(&mut self.db, input, failed.clone());
                }
            }
            if let Some(state) = self.cards.get_mut(path) {
                state.file.status = failed.clone();
                state.file.stamp = None;
                if let Some(input) = state.input {
                    set_card_status(&mut self.db, input, failed.clone());
                }
            }
        }
        self.pending = Pending::All;
        Some(first)
    }

    /// Looks again at the files that changed while they were used.
    fn look_at_torn(&mut self) {
        let torn = FileStatus::Failed(ReadFailure::Changed);
        let sources: Vec<Arc<str>> = (self.sources.iter())
            .filter(|(_, state)| state.file.status == torn)
            .map(|(path, _)| path.clone())
            .collect();
        let cards: Vec<Arc<str>> = (self.cards.iter())
            .filter(|(_, state)| state.file.status == torn)
            .map(|(path, _)| path.clone())
            .collect();
        let limit = self.project.settings.limits.bytes;
        self.hash_paths(&sources, &cards, limit, SystemTime::now());
        // One that is gone by now is for the next look at the tree.
        let gone = FileStatus::Failed(ReadFailure::Absent);
        self.incomplete |= (sources.iter().filter_map(|path| self.sources.get(path)))
            .any(|state| state.file.status == gone)
            || (cards.iter().filter_map(|path| self.cards.get(path)))
                .any(|state| state.file.status == gone);
        self.assign_ids();
    }
}
