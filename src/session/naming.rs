//! Names to files: which source has which id, and whether what is missing may be gone.

use std::collections::BTreeSet;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use kbc_queries::diagnostic::{Diagnostic, registry};
use kbc_queries::input::FileStatus;
use kbc_queries::system::{Fingerprint, System};

use crate::cache::entries::NameKey;
use crate::workspace::ids::{Candidate, Recorded, assign};

use super::hashing::is_unknown;
use super::{Session, keys};

impl Session {
    /// Gives every source its id.
    pub(super) fn assign_ids(&mut self) {
        if self.has_given_chunks() {
            return self.bind_ids();
        }
        let candidates: Vec<Candidate<'_>> = self
            .sources
            .keys()
            .map(|path| Candidate {
                path,
                explicit: self
                    .project
                    .settings
                    .sources
                    .get(&**path)
                    .and_then(|source| source.id.as_deref()),
            })
            .collect();
        let mut digests: Vec<(Arc<str>, [u8; 32])> = Vec::new();
        let recorded: &[Recorded] = &self.context.published.sources;
        let lost_sources = recorded
            .iter()
            .any(|record| !self.sources.contains_key(&*record.path));
        let (ids, mut diagnostics) = assign(&candidates, recorded, |path| {
            let state = self.sources.get(path)?;
            let digest = match state.file.sha256 {
                Some(digest) if !is_unknown(&state.file) => digest,
                // The record may be that of other bytes.
                _ => {
                    let bytes = self
                        .disk
                        .read(path, self.project.settings.limits.bytes)
                        .ok()?;
                    let digest: [u8; 32] = Sha256::digest(&bytes).into();
                    if state.file.status == FileStatus::Present(Fingerprint::of(&bytes)) {
                        digests.push((path.into(), digest));
                    }
                    digest
                }
            };
            Some(kbc_queries::commit::hash::Digest(digest).to_string())
        });
        self.lost_sources = lost_sources;
        self.discovered
            .retain(|diagnostic| diagnostic.code != registry::CFG_008);
        self.discovered.append(&mut diagnostics);
        for (path, digest) in digests {
            if let Some(state) = self.sources.get_mut(&path) {
                state.file.sha256 = Some(digest);
                state.dirty = true;
            }
        }
        for (state, id) in self.sources.values_mut().zip(ids) {
            state.id = id;
        }
        self.bind_ids();
    }

    /// Ids to files, and what each id leads to.
    pub(super) fn bind_ids(&mut self) {
        self.by_id.clear();
        self.by_name.clear();
        for (path, state) in &self.sources {
            // A file that nobody can read as a document has an id, but no chunks to cite.
            if state.recipe.is_some() {
                self.by_name.insert(NameKey::of(&state.id), path.clone());
                self.by_id.insert(state.id.clone(), path.clone());
            }
        }
        self.bindings.clear();
        let marked = self.context.marked_ids();
        for id in self.by_id.keys().chain(&marked) {
            let path = self.by_id.get(id);
            let state = path.and_then(|path| self.sources.get(path));
            let path = path.map_or("", |path| path);
            self.bindings.insert(
                NameKey::of(id),
                keys::binding(path, state, id, &self.context),
            );
        }
    }

    /// A collection's folder that is gone, though sources below it are recorded, is more likely a
    /// disk that is not mounted than a wish to delete everything.
    pub(super) fn check_roots(&mut self) {
        let mut missing: BTreeSet<String> = BTreeSet::new();
        for collection in &self.project.settings.collections {
            for pattern in &collection.include {
                let prefix = crate::workspace::discover::literal_prefix(pattern);
                // A link is not followed, so what lies behind it is as good as gone.
                let is_there = std::fs::symlink_metadata(self.project.root.join(&prefix))
                    .is_ok_and(|metadata| metadata.is_dir());
                if prefix.is_empty() || is_there {
                    continue;
                }
                let below = format!("{prefix}/");
                let was_there = self
                    .context
                    .published
                    .sources
                    .iter()
                    .any(|r| r.path.starts_with(&below));
                if was_there {
                    missing.insert(prefix);
                }
            }
        }
        for prefix in missing {
            self.incomplete = true;
            self.discovered.push(
                Diagnostic::new(
                    registry::SRC_013,
                    format!("the folder {prefix}/ is gone or no folder, though published sources lie in it"),
                )
                .in_file(prefix)
                .help("bring it back; to delete its sources, empty the folder but keep it, or take it out of kb.toml"),
            );
        }
    }
}
