//! What a verb publishes, as one group: all of it or nothing.

use std::fs;
use std::io;

use serde::Serialize;

use kbc_queries::commit::canonical;
use kbc_queries::commit::hash::{Digest, sha256};
use kbc_queries::diagnostic::{Code, registry};
use kbc_queries::emit::index_manifest::IndexManifest;
use kbc_queries::parse::manifest::Summaries;

use crate::publish::{self, Staging};
use crate::record::paths::beside;
use crate::workspace::door;

use super::place::{CHUNKS, SIDECAR, SUMMARIES};
use super::{Place, Refusal, Watch, sidecar};

/// A group on its way into `out/`. Whoever makes one holds the place.
pub struct Group<'p> {
    place: &'p Place,
    staging: Option<Staging>,
    hashes: Vec<(String, Digest)>,
}

/// Refuses targets that are no regular files, and files beside them that are not this program's.
fn targets(place: &Place, names: &[&str]) -> Result<(), Refusal> {
    for name in names {
        let (sidecar, kind): (Code, Code) = match *name {
            CHUNKS => (registry::MAN_002, registry::MAN_003),
            _ => (registry::IDX_007, registry::IDX_008),
        };
        let target = place.out.join(name);
        if fs::symlink_metadata(&target).is_ok_and(|found| !found.is_file()) {
            return Err(Refusal::new(
                kind,
                format!(
                    "{} is not a regular file, so nothing was published; move it away",
                    place.shown(name)
                ),
            ));
        }
        for suffix in [".tmp", ".bak"] {
            if fs::symlink_metadata(beside(&target, suffix)).is_ok() {
                return Err(Refusal::new(
                    sidecar,
                    format!(
                        "{}{suffix} lies beside the target and is not this program's, so nothing \
                         was published; compare the two, keep the right one and move the other away",
                        place.shown(name)
                    ),
                ));
            }
        }
    }
    Ok(())
}

impl Drop for Group<'_> {
    /// A group that is not put in place leaves nothing behind.
    fn drop(&mut self) {
        if let Some(staging) = self.staging.take() {
            staging.discard();
        }
    }
}

impl<'p> Group<'p> {
    /// Begins a group of files with these names.
    pub fn begin(place: &'p Place, names: &[&str]) -> Result<Self, Refusal> {
        targets(place, names)?;
        Ok(Group {
            place,
            staging: None,
            hashes: Vec::new(),
        })
    }

    fn staging(&mut self) -> Result<&mut Staging, Refusal> {
        let staging = match self.staging.take() {
            Some(staging) => staging,
            None => Staging::begin(&self.place.out, &self.place.shown)?,
        };
        Ok(self.staging.insert(staging))
    }

    /// Adds a file. One whose bytes are in place already is left alone. Returns whether it differs.
    pub fn put(&mut self, name: &str, bytes: &[u8]) -> Result<bool, Refusal> {
        let before = door::read(&self.place.out.join(name), bytes.len() as u64);
        if before.is_ok_and(|before| before == bytes) {
            return Ok(false);
        }
        let hash = self.staging()?.put(name, bytes)?;
        self.hashes.push((name.to_owned(), hash));
        Ok(true)
    }

    /// Adds a value as canonical JSON.
    pub fn put_json<T: Serialize>(&mut self, name: &str, value: &T) -> Result<bool, Refusal> {
        let bytes = canonical::to_vec(value).map_err(|error| {
            let doing = format!("cannot write {}", self.place.shown(name));
            Refusal::io(
                registry::IDX_004,
                &doing,
                &io::Error::other(error.to_string()),
            )
        })?;
        self.put(name, &bytes)
    }

    /// Adds the summaries and the search sidecar made of them. What is wrong with the sidecar is
    /// returned: it is dispensable.
    pub fn put_summaries(&mut self, summaries: &Summaries) -> Result<Option<Refusal>, Refusal> {
        let bytes = canonical::to_vec(summaries).map_err(|error| {
            let doing = format!("cannot write {}", self.place.shown(SUMMARIES));
            Refusal::io(
                registry::IDX_004,
                &doing,
                &io::Error::other(error.to_string()),
            )
        })?;
        let changed = self.put(SUMMARIES, &bytes)?;
        let hash = sha256(&bytes);
        let target = self.place.out.join(SIDECAR);
        if !changed && sidecar::belongs(&target, hash) {
            return Ok(None);
        }
        let place = self.place;
        let not_built = |reason: &str| {
            Refusal::new(
                registry::FTS_002,
                format!(
                    "the search sidecar {} was not built: {reason}; search works without it",
                    place.shown(SIDECAR)
                ),
            )
        };
        if fs::symlink_metadata(&target).is_ok_and(|found| !found.is_file()) {
            return Ok(Some(not_built("it is not a regular file, move it away")));
        }
        if fs::symlink_metadata(beside(&target, ".tmp")).is_ok() {
            let reason = "a file of its name with .tmp lies beside it, move it away";
            return Ok(Some(not_built(reason)));
        }
        let staging = self.staging()?;
        let scratch = staging.scratch("scratch.sqlite");
        let built = sidecar::build(&scratch, hash, &summaries.summaries)
            .map_err(|error| error.to_string())
            .and_then(|()| {
                door::read(&scratch, publish::LIMIT).map_err(|failure| failure.to_string())
            });
        let _ = fs::remove_file(&scratch);
        match built {
            Ok(bytes) => self.put(SIDECAR, &bytes).map(|_| None),
            Err(reason) => Ok(Some(not_built(&reason))),
        }
    }

    /// Puts the group in place; this is the commit point. Returns the names of what changed.
    pub fn commit(mut self, watch: Watch<'_>) -> Result<Vec<String>, Refusal> {
        self.tell_index_manifest()?;
        let Some(staging) = self.staging.take() else {
            return Ok(Vec::new());
        };
        watch("commit");
        Ok(staging.commit()?)
    }

    /// A project's index manifest holds the hashes of the others; a set that does not fit it is
    /// read as torn.
    fn tell_index_manifest(&mut self) -> Result<(), Refusal> {
        if self.hashes.is_empty() {
            return Ok(());
        }
        let last = self.place.out.join(publish::LAST);
        let bytes = door::read(&last, publish::LIMIT).unwrap_or_default();
        let Ok(mut manifest) = serde_json::from_slice::<IndexManifest>(&bytes) else {
            return Ok(());
        };
        for (name, hash) in &self.hashes {
            if let Some(known) = manifest.outputs.get_mut(name) {
                *known = *hash;
            }
        }
        self.put_json(publish::LAST, &manifest).map(|_| ())
    }
}
