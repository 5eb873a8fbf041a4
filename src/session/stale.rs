//! What no longer holds: the last state and the trace store are asked before anything is derived.

use std::collections::BTreeSet;
use std::sync::Arc;

use kbc_queries::system::Fingerprint;

use crate::cache::decode;
use crate::cache::entries::{ByName, CardDetails, CardEntry, NameKey, SourceReport};
use crate::workspace::context::Context;

use super::{Session, SourceState, keys};

/// What verdicts depend on besides their cards: where names lead, and the matrix.
pub(super) struct Circumstances<'a> {
    pub(super) bindings: &'a ByName<Fingerprint>,
    pub(super) context: &'a Context,
}

impl Circumstances<'_> {
    pub(super) fn reading_key(&self, reading: Option<&str>) -> Fingerprint {
        keys::reading(reading, self.context)
    }

    pub(super) fn binding(&self, name: NameKey) -> Fingerprint {
        self.bindings.get(&name).copied().unwrap_or(keys::UNBOUND)
    }

    pub(super) fn citation_key(
        &self,
        source: Option<NameKey>,
        other: Option<NameKey>,
    ) -> Fingerprint {
        keys::citation(
            source.map_or(keys::UNBOUND, |name| self.binding(name)),
            other.map(|name| self.binding(name)),
        )
    }

    /// Whether everything the entry depends on, besides the card itself, is as it was.
    pub(super) fn still_hold_for(&self, entry: &CardEntry) -> bool {
        self.seal(entry.reading.as_deref(), &entry.names) == entry.seal
    }

    /// One fingerprint of the reading's row and of what all these names lead to.
    pub(super) fn seal(
        &self,
        reading: Option<&str>,
        names: &[(Option<NameKey>, Option<NameKey>)],
    ) -> Fingerprint {
        keys::seal(
            self.reading_key(reading),
            names
                .iter()
                .map(|(source, other)| self.citation_key(*source, *other)),
        )
    }
}

impl Session {
    /// The cards without a valid entry, after asking the trace store: path, key, and what the last
    /// verdict under other circumstances left to take over.
    pub(super) fn stale_cards(
        &mut self,
        among: Option<&BTreeSet<Arc<str>>>,
        policy: Fingerprint,
    ) -> Vec<(Arc<str>, Fingerprint, Option<CardDetails>)> {
        let paths: Vec<Arc<str>> = match (among, &self.options.only) {
            (Some(among), _) => among.iter().cloned().collect(),
            (None, Some(only)) => self
                .cards
                .keys()
                .filter(|path| only.contains(&***path))
                .cloned()
                .collect(),
            (None, None) => Vec::new(),
        };
        let mut stale = Vec::new();
        let mut hits = Vec::new();
        let has_traces = self
            .cache
            .as_ref()
            .is_some_and(crate::cache::Cache::has_traces);
        let mut reused = 0;
        let mut look = |path: &Arc<str>, state: &super::CardState| {
            let own_key = keys::card(path, state, policy);
            let last = state
                .entry
                .as_ref()
                .filter(|entry| entry.own_key == own_key);
            if let Some(entry) = last
                && self.still_holds(entry)
            {
                reused += entry.names.len() as u64;
                return;
            }
            let mut base = last.cloned();
            if has_traces {
                let variants = self.variants(own_key);
                if let Some(hit) = variants.iter().find(|entry| self.still_holds(entry)) {
                    reused += hit.names.len() as u64;
                    hits.push((path.clone(), hit.clone()));
                    return;
                }
                base = base.or_else(|| variants.into_iter().next());
            }
            let base = base.and_then(|base| base.details.unpack());
            stale.push((path.clone(), own_key, base));
        };
        if among.is_some() || self.options.only.is_some() {
            for path in &paths {
                if let Some(state) = self.cards.get(path) {
                    look(path, state);
                }
            }
        } else {
            for (path, state) in &self.cards {
                look(path, state);
            }
        }
        self.stats.citations_reused += reused;
        for (path, hit) in hits {
            self.stats.trace_hits += 1;
            self.replace_entry(&path, hit);
        }
        stale
    }

    /// What verdicts depend on besides their cards.
    pub(super) fn circumstances(&self) -> Circumstances<'_> {
        Circumstances {
            bindings: &self.bindings,
            context: &self.context,
        }
    }

    pub(super) fn still_holds(&self, entry: &CardEntry) -> bool {
        self.circumstances().still_hold_for(entry)
    }

    pub(super) fn variants(&self, own_key: Fingerprint) -> Vec<Arc<CardEntry>> {
        self.cache
            .as_ref()
            .and_then(|cache| cache.trace(own_key))
            .and_then(|bytes| decode::<Vec<Arc<CardEntry>>>(&bytes))
            .unwrap_or_default()
            .into_iter()
            .filter(|entry| entry.own_key == own_key)
            .collect()
    }

    pub(super) fn stale_sources(
        &mut self,
        among: Option<&BTreeSet<Arc<str>>>,
    ) -> Vec<(Arc<str>, Fingerprint)> {
        let mut stale = Vec::new();
        let mut hits = Vec::new();
        // A look at some cards says nothing about sources; their citations say what matters.
        if self.options.only.is_some() {
            return stale;
        }
        let has_traces = self
            .cache
            .as_ref()
            .is_some_and(crate::cache::Cache::has_traces);
        let mut look = |path: &Arc<str>, state: &SourceState| {
            if state.recipe.is_none() {
                return;
            }
            let key = keys::source(path, state);
            if state
                .report
                .as_ref()
                .is_some_and(|report| report.key == key)
            {
                return;
            }
            let stored = if has_traces {
                self.cache
                    .as_ref()
                    .and_then(|cache| cache.trace(key))
                    .and_then(|bytes| decode::<SourceReport>(&bytes))
                    .filter(|report| report.key == key)
            } else {
                None
            };
            match stored {
                Some(report) => hits.push((path.clone(), report)),
                None => stale.push((path.clone(), key)),
            }
        };
        match among {
            Some(among) => {
                for path in among {
                    if let Some(state) = self.sources.get(path) {
                        look(path, state);
                    }
                }
            }
            None => {
                for (path, state) in &self.sources {
                    look(path, state);
                }
            }
        }
        for (path, report) in hits {
            self.stats.trace_hits += 1;
            if let Some(state) = self.sources.get_mut(&path) {
                state.report = Some(Arc::new(report));
                state.dirty = true;
            }
        }
        stale
    }
}
