//! What an editor and a watch do: take in a change to a few files at a cost that does not grow
//! with the corpus.

use std::collections::BTreeSet;
use std::ops::Bound;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use kbc_queries::input::FileStatus;
use kbc_queries::system::ReadFailure;

use crate::cache::entries::NameKey;
use crate::workspace::SETTINGS_FILE;
use crate::workspace::discover::Matcher;

use super::{Pending, Session, Stats, Touched, keys};

impl Session {
    /// Takes in changes to these files (paths relative to the root) and derives what they made
    /// stale. Returns the cards whose findings may be new.
    ///
    /// Known files that are still there cost only what depends on them. Anything else (a file that
    /// came or went, the settings, the matrix, what is published) is a look at the whole tree.
    pub fn update(&mut self, paths: &[String]) -> Vec<Arc<str>> {
        self.stats = Stats::default();
        if paths.iter().any(|path| path == SETTINGS_FILE) {
            return self.rescan();
        }
        match self.touched(paths) {
            Some(touched) if touched.cards.is_empty() && touched.sources.is_empty() => Vec::new(),
            Some(touched) => self.take_in(touched),
            None => self.rescan(),
        }
    }

    /// The known files among `paths`. `None`: the tree has to be looked at as a whole.
    fn touched(&self, paths: &[String]) -> Option<Touched> {
        let matcher = Matcher::new(&self.project.settings);
        let out = format!("{}/", self.project.settings.out);
        let mut touched = Touched::default();
        for path in paths {
            let is_file =
                || std::fs::symlink_metadata(self.disk.locate(path)).is_ok_and(|m| m.is_file());
            if let Some((path, _)) = self.sources.get_key_value(path.as_str()) {
                if !is_file() {
                    return None;
                }
                touched.sources.insert(path.clone());
            } else if let Some((path, _)) = self.cards.get_key_value(path.as_str()) {
                if !is_file() {
                    return None;
                }
                touched.cards.insert(path.clone());
            } else {
                let decides = self.is_folder_of_files(path)
                    || *path == *self.project.settings.matrix
                    || path.starts_with(&out)
                    || path.ends_with(".gitignore")
                    || path.ends_with(".toml")
                    || self.disk.locate(path).is_dir()
                    || matcher.role(path).0.is_some()
                    || matcher.is_router(path);
                if decides {
                    return None;
                }
            }
        }
        Some(touched)
    }

    /// Whether known files lie below the path: a folder that was moved away is one name to a watch.
    fn is_folder_of_files(&self, path: &str) -> bool {
        let below = format!("{path}/");
        let from = (Bound::Included(below.as_str()), Bound::Unbounded);
        let first_source = self.sources.range::<str, _>(from).next();
        let first_card = self.cards.range::<str, _>(from).next();
        first_source.is_some_and(|(path, _)| path.starts_with(&below))
            || first_card.is_some_and(|(path, _)| path.starts_with(&below))
    }

    /// Whether new bytes may give this source another id: it has none of its own, and a recorded
    /// source is missing whose id goes to whoever has its bytes.
    fn id_follows_content(&self, path: &str) -> bool {
        let published = &self.context.published.sources;
        self.lost_sources
            && self
                .project
                .settings
                .sources
                .get(path)
                .is_none_or(|own| own.id.is_none())
            && published.iter().all(|record| *record.path != *path)
    }

    fn take_in(&mut self, mut touched: Touched) -> Vec<Arc<str>> {
        let started = Instant::now();
        let looked_at = SystemTime::now();
        let before: Vec<(Arc<str>, FileStatus)> = touched
            .sources
            .iter()
            .filter_map(|path| Some((path.clone(), self.sources.get(path)?.file.status.clone())))
            .collect();
        let sources: Vec<Arc<str>> = touched.sources.iter().cloned().collect();
        let cards: Vec<Arc<str>> = touched.cards.iter().cloned().collect();
        let limit = self.project.settings.limits.bytes;
        self.hash_paths(&sources, &cards, limit, looked_at);
        let vanished = sources
            .iter()
            .filter_map(|path| self.sources.get(path))
            .any(|state| state.file.status == FileStatus::Failed(ReadFailure::Absent));
        let renamed = before.iter().any(|(path, status)| {
            self.sources
                .get(path)
                .is_some_and(|state| state.file.status != *status)
                && self.id_follows_content(path)
        });
        if vanished || renamed {
            return self.rescan();
        }
        let mut changed: BTreeSet<Arc<str>> = BTreeSet::new();
        for (path, status) in before {
            let Some(state) = self.sources.get(&path) else {
                continue;
            };
            if state.file.status == status {
                continue;
            }
            let id = state.id.clone();
            let binding = keys::binding(&path, Some(state), &id, &self.context);
            let name = NameKey::of(&id);
            touched.cards.extend(self.citing().of(name).cloned());
            self.bindings.insert(name, binding);
            changed.insert(path);
        }
        touched.sources = changed;
        if let Pending::Some {
            sources,
            cards: pending,
        } = &mut self.pending
        {
            sources.extend(touched.sources.iter().cloned());
            pending.extend(cards);
        }
        self.stats.phase("take in", started);
        self.derive(Some(&touched))
    }
}
