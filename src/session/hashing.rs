//! Bytes to fingerprints: only of files whose stamp says nothing, all at once.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use std::time::SystemTime;

use rayon::prelude::*;
use sha2::{Digest as _, Sha256};

use kbc_queries::CARD_LIMIT;
use kbc_queries::chunk::parse_chunk_id;
use kbc_queries::input::FileStatus;
use kbc_queries::parse::card;
use kbc_queries::system::{Fingerprint, ReadFailure, System};

use crate::cache::entries::FileRecord;
use crate::workspace::disk::Disk;
use crate::workspace::stamp::Stamp;

use super::Session;

impl Session {
    /// Hashes the files whose stamp says nothing: all, or those that the asked-for cards need.
    pub(super) fn hash_stale(&mut self, looked_at: SystemTime) {
        let limit = self.project.settings.limits.bytes;
        if let Some(only) = self.options.only.clone() {
            let cards = self.stale_paths(|path| only.contains(path), |_| false);
            self.hash_paths(&[], &cards, limit, looked_at);
            if self.has_given_chunks() {
                return;
            }
            // Which sources the cards need is told by reading the cards. Where nothing changed
            // there is nothing to choose from.
            let (stale, _) = self.stale_both(|_| false, |_| true);
            if stale.is_empty() {
                return;
            }
            self.assign_ids();
            let wanted = self.sources_of_cards(&only);
            let (sources, _) = self.stale_both(|_| false, |path| wanted.contains(path));
            self.hash_paths(&sources, &[], limit, looked_at);
            return;
        }
        let (sources, cards) = self.stale_both(|_| true, |_| true);
        self.hash_paths(&sources, &cards, limit, looked_at);
    }

    pub(super) fn stale_paths(
        &self,
        card: impl Fn(&str) -> bool,
        _source: impl Fn(&str) -> bool,
    ) -> Vec<Arc<str>> {
        self.cards
            .iter()
            .filter(|(path, state)| is_unknown(&state.file) && card(path))
            .map(|(path, _)| path.clone())
            .collect()
    }

    pub(super) fn stale_both(
        &self,
        card: impl Fn(&str) -> bool,
        source: impl Fn(&str) -> bool,
    ) -> (Vec<Arc<str>>, Vec<Arc<str>>) {
        let sources = self
            .sources
            .iter()
            .filter(|(path, state)| {
                let given = state.recipe.as_ref().is_some_and(|r| r.given.is_some());
                !given && is_unknown(&state.file) && source(path)
            })
            .map(|(path, _)| path.clone())
            .collect();
        (sources, self.stale_paths(card, |_| false))
    }

    pub(super) fn hash_paths(
        &mut self,
        sources: &[Arc<str>],
        cards: &[Arc<str>],
        limit: u64,
        looked_at: SystemTime,
    ) {
        self.stats.hashed += (sources.len() + cards.len()) as u64;
        let disk = &*self.disk;
        let sha256 = self.options.sha256;
        let progress = self.options.progress.as_deref();
        if let Some(progress) = progress {
            progress.begin("reading", (sources.len() + cards.len()) as u64);
        }
        let look = |path: &Arc<str>, limit: u64| {
            let record = look_at(disk, path, limit, looked_at, sha256);
            if let Some(progress) = progress {
                progress.advance();
            }
            record
        };
        let source_records: Vec<FileRecord> =
            sources.par_iter().map(|path| look(path, limit)).collect();
        let card_records: Vec<FileRecord> = cards
            .par_iter()
            .map(|path| look(path, CARD_LIMIT))
            .collect();
        for (path, record) in sources.iter().zip(source_records) {
            if let Some(state) = self.sources.get_mut(path) {
                state.file = keep_sha(record, &state.file);
                state.dirty = true;
            }
        }
        for (path, record) in cards.iter().zip(card_records) {
            if let Some(state) = self.cards.get_mut(path) {
                state.file = keep_sha(record, &state.file);
                state.dirty = true;
            }
        }
    }

    /// The files of the sources that these cards name.
    pub(super) fn sources_of_cards(&self, cards: &BTreeSet<String>) -> HashSet<Arc<str>> {
        let mut wanted = HashSet::new();
        for path in cards {
            let Some(text) = self.card_text(path) else {
                continue;
            };
            let parsed = card::parse(&text);
            for citation in &parsed.citations {
                let source = citation.source_id.as_ref().map(|id| &*id.value);
                let other = citation
                    .chunk_id
                    .as_ref()
                    .and_then(|id| parse_chunk_id(&id.value))
                    .map(|parts| parts.source_id);
                for id in source.into_iter().chain(other) {
                    if let Some(path) = self.by_id.get(id) {
                        wanted.insert(path.clone());
                    }
                }
            }
        }
        wanted
    }
}

/// What is known of a file with this stamp, and whether the record is news.
pub(super) fn known(
    stamp: Option<Stamp>,
    stored: Option<&FileRecord>,
    paranoid: bool,
    limit: u64,
) -> (FileRecord, bool) {
    let Some(stamp) = stamp else {
        let file = FileRecord {
            stamp: None,
            status: FileStatus::Failed(ReadFailure::NotAFile),
            sha256: None,
        };
        return (file.clone(), stored != Some(&file));
    };
    match stored {
        // Whether a file is too large depends on the limit of today, not on that of the last look.
        Some(stored)
            if !paranoid
                && stored.stamp == Some(stamp)
                && stamp.size <= limit
                && !matches!(
                    stored.status,
                    FileStatus::Failed(ReadFailure::TooLarge { .. })
                ) =>
        {
            (stored.clone(), false)
        }
        // Its last status is kept as a guess until it is hashed; `stamp: None` says so.
        Some(stored) => (
            FileRecord {
                stamp: None,
                ..stored.clone()
            },
            false,
        ),
        None => (
            FileRecord {
                stamp: None,
                status: FileStatus::Failed(ReadFailure::Absent),
                sha256: None,
            },
            false,
        ),
    }
}

/// Whether a file has to be hashed before anything can be said of it.
pub(super) fn is_unknown(file: &FileRecord) -> bool {
    file.stamp.is_none() && file.status != FileStatus::Failed(ReadFailure::NotAFile)
}

/// Reads and hashes a file.
pub(super) fn look_at(
    disk: &Disk,
    path: &str,
    limit: u64,
    looked_at: SystemTime,
    sha256: bool,
) -> FileRecord {
    let metadata = std::fs::symlink_metadata(disk.locate(path));
    let stamp = metadata
        .ok()
        .filter(std::fs::Metadata::is_file)
        .map(|metadata| Stamp::of(&metadata))
        .filter(|stamp| !stamp.is_racy(looked_at));
    match disk.read(path, limit) {
        Ok(bytes) => FileRecord {
            stamp,
            status: FileStatus::Present(Fingerprint::of(&bytes)),
            sha256: sha256.then(|| Sha256::digest(&bytes).into()),
        },
        Err(failure) => FileRecord {
            stamp,
            status: FileStatus::Failed(failure),
            sha256: None,
        },
    }
}

/// A SHA-256 stays true as long as the fingerprint does.
pub(super) fn keep_sha(record: FileRecord, before: &FileRecord) -> FileRecord {
    if record.status == before.status {
        FileRecord {
            sha256: record.sha256.or(before.sha256),
            ..record
        }
    } else {
        record
    }
}
