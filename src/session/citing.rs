//! The reverse index: source to the cards that cite it.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::cache::entries::{ByName, CardEntry, NameKey};

use super::{Pending, Session};

/// Source id to cards.
#[derive(Default)]
pub(crate) struct Citing(ByName<BTreeSet<Arc<str>>>);

impl Citing {
    /// Adds a card's citations.
    fn remember(&mut self, path: &Arc<str>, entry: &CardEntry) {
        for (source, other) in &entry.names {
            for name in source.iter().chain(other) {
                self.0.entry(*name).or_default().insert(path.clone());
            }
        }
    }

    /// Takes a card's citations out.
    fn forget(&mut self, path: &Arc<str>, entry: &CardEntry) {
        for (source, other) in &entry.names {
            for name in source.iter().chain(other) {
                if let Some(cards) = self.0.get_mut(name) {
                    cards.remove(path);
                }
            }
        }
    }

    /// The cards that cite a source.
    pub(crate) fn of(&self, name: NameKey) -> impl Iterator<Item = &Arc<str>> {
        self.0.get(&name).into_iter().flatten()
    }
}

impl Session {
    /// The reverse index, made on first use and kept from then on.
    pub(crate) fn citing(&mut self) -> &Citing {
        let cards = &self.cards;
        self.citing.get_or_insert_with(|| {
            let mut citing = Citing::default();
            for (path, state) in cards {
                if let Some(entry) = &state.entry {
                    citing.remember(path, entry);
                }
            }
            citing
        })
    }

    /// Makes ready for [`Session::update`]: whoever keeps a session calls this once, so that the
    /// first change costs no more than the next.
    pub fn keep(&mut self) {
        self.citing();
        if matches!(self.pending, Pending::All) {
            self.bind();
        }
    }

    /// Ends a session that has answered. Everything in it goes with the process anyway; only the
    /// cache is closed.
    pub fn leave(mut self) {
        drop(self.cache.take());
        std::mem::forget(self);
    }

    /// Puts an entry in its place.
    pub(crate) fn replace_entry(&mut self, path: &Arc<str>, entry: Arc<CardEntry>) {
        let Some(state) = self.cards.get_mut(path) else {
            return;
        };
        let old = state.entry.replace(entry.clone());
        state.dirty = true;
        if let Some(citing) = &mut self.citing {
            if let Some(old) = old {
                citing.forget(path, &old);
            }
            citing.remember(path, &entry);
        }
    }
}
