//! The manifests of an output folder: read under its lock, published as one set.
//!
//! The set is staged, named by an intent and renamed into place as every published set is
//! ([`crate::publish`]), so a run that dies leaves the old set or the new one, and the next run
//! finishes or clears what it left.

use std::path::{Path, PathBuf};

use kbc_queries::commit::canonical;
use kbc_queries::diagnostic::registry::{HIST_001, INGEST_003, MAN_001, MAN_002, MAN_003};
use kbc_queries::parse::manifest::{ChunkRecord, ChunksManifest, read_chunks, read_sources};
use kbc_queries::parse::problem::Problem;
use kbc_queries::parse::utterances::locator;
use kbc_queries::system::{ReadFailure, System};

use crate::deck::log;
use crate::publish::{self, LAST, Lock, Staging};
use crate::record::clock::Clock;
use crate::workspace::disk::Disk;

use super::merge::{self, Held, Merged};
use super::{Ingest, Refusal};

/// Largest manifest that is read, in bytes.
const MANIFEST_LIMIT: u64 = 8 << 30;

const SOURCES: &str = "sources_manifest.json";
const CHUNKS: &str = "chunks_manifest.json";

/// What a publication came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Published {
    /// The source was there already; nothing was written.
    pub unchanged: bool,
    /// Active chunks of the source.
    pub chunks: usize,
    /// Chunks that were not there before.
    pub added: usize,
    /// A set that an earlier run left half in place was finished first.
    pub repaired: bool,
}

/// An output folder, locked for one run.
pub struct Folder {
    out: PathBuf,
    shown: String,
    /// A set that an earlier run left half in place was finished.
    pub repaired: bool,
    _lock: Lock,
}

impl Folder {
    /// Takes the folder: its lock first, then what an interrupted run left. `waiting` is called
    /// once if another run holds it.
    ///
    /// # Errors
    /// INGEST-003: it cannot be locked, or what was left cannot be finished.
    pub fn take(out: &Path, shown: &str, waiting: impl FnOnce()) -> Result<Self, Refusal> {
        let cannot = |doing: &str, error: &std::io::Error| {
            Refusal::new(
                INGEST_003,
                format!("{shown}/ was not published: {doing}: {error}"),
            )
        };
        let parent = out.parent().unwrap_or(out);
        std::fs::create_dir_all(parent)
            .map_err(|error| cannot("cannot make the folder it is in", &error))?;
        let lock =
            Lock::of(out, waiting).map_err(|error| cannot("cannot lock the folder", &error))?;
        let repaired = publish::recover(out)
            .map_err(|error| cannot("cannot finish an interrupted run", &error))?;
        Ok(Folder {
            out: out.to_path_buf(),
            shown: shown.to_owned(),
            repaired,
            _lock: lock,
        })
    }

    /// Publishes a source; with `append`, as a longer version of a stream that is there.
    ///
    /// # Errors
    /// MAN-001 for manifests that cannot be read, MAN-002 and MAN-003 for files that are in the
    /// way, HASH-003 for a broken seal, INGEST-003 for everything else. Nothing was changed then,
    /// or the next run finishes it.
    pub fn publish(&self, ingest: &Ingest, append: bool) -> Result<Published, Refusal> {
        let mut names = vec![SOURCES, CHUNKS];
        if ingest.utterances.is_some() {
            names.push(locator::FILE_NAME);
        }
        if append {
            self.has_prior()?;
        }
        let mut held = self.held(ingest.utterances.is_some())?;
        self.hold_to_record(&mut held.chunks)?;
        self.no_sidecars(&names)?;
        if self.out.join(LAST).exists() {
            return Err(Refusal::new(
                INGEST_003,
                format!(
                    "{}/ is what `kb build` publishes, and the next build would drop a source that no collection of kb.toml includes; put the file into a collection and run `kb build`, or give another --out",
                    self.shown
                ),
            ));
        }
        let now = Clock::from_environment().now();
        let has_map = held.locators.is_some();
        let merged = if append {
            merge::append(held, ingest, &now)?
        } else {
            merge::add(held, ingest, &now)?
        };
        let (sources, chunks, added) = match merged {
            Merged::Changed {
                sources,
                chunks,
                added,
            } => (sources, chunks, added),
            Merged::Unchanged { sources, chunks } => {
                // A stream whose locator map went missing gets it back.
                if ingest.utterances.is_none() || has_map {
                    return Ok(Published {
                        unchanged: true,
                        chunks: own_chunks(&chunks, ingest).len(),
                        added: 0,
                        repaired: self.repaired,
                    });
                }
                (sources, chunks, 0)
            }
        };
        let own = own_chunks(&chunks, ingest);
        let failed = |why: &dyn std::fmt::Display| {
            Refusal::new(
                INGEST_003,
                format!("{}/ was not published: {why}", self.shown),
            )
        };
        let mut files: Vec<(&str, Vec<u8>)> = vec![
            (
                SOURCES,
                canonical::to_vec(&sources).map_err(|e| failed(&e))?,
            ),
            (CHUNKS, canonical::to_vec(&chunks).map_err(|e| failed(&e))?),
        ];
        // What is published has to be readable: the rules of a load are kept by every write.
        if let Some((_, bytes)) = files.first() {
            read_sources(bytes).map_err(|problem| failed(&problem.message))?;
        }
        if let Some((_, bytes)) = files.get(1) {
            read_chunks(bytes).map_err(|problem| failed(&problem.message))?;
        }
        if let Some(utterances) = &ingest.utterances {
            let bytes = locator::sealed(&ingest.source_id, &ingest.sha256, utterances, &own)
                .map_err(|error| failed(&error))?;
            files.push((locator::FILE_NAME, bytes));
        }
        stage(&self.out, &self.shown, &files).map_err(|error| failed(&error))?;
        Ok(Published {
            unchanged: false,
            chunks: own.len(),
            added,
            repaired: self.repaired,
        })
    }

    /// Puts what the record of retractions says into the manifest's lists: one that was lost or
    /// restored from before gives nothing back.
    fn hold_to_record(&self, chunks: &mut ChunksManifest) -> Result<(), Refusal> {
        let Some(bytes) = self.read(log::NAME)? else {
            return Ok(());
        };
        let decided = log::standing(&bytes).map_err(|reason| {
            Refusal::new(
                HIST_001,
                format!(
                    "the record of retractions {}/{} is damaged at {reason}; restore it from version control",
                    self.shown,
                    log::NAME
                ),
            )
        })?;
        for (list, ids) in [
            (&mut chunks.retracted_source_ids, decided.sources),
            (&mut chunks.retracted_chunk_ids, decided.chunks),
        ] {
            list.extend(ids);
            list.sort();
            list.dedup();
        }
        let retractions = chunks.retractions();
        chunks.chunks.retain(|chunk| {
            !retractions.has_source(&chunk.source_id) && !retractions.has_chunk(&chunk.chunk_id)
        });
        Ok(())
    }

    fn has_prior(&self) -> Result<(), Refusal> {
        let there = |name: &str| self.out.join(name).is_file();
        if there(CHUNKS) && there(SOURCES) && there(locator::FILE_NAME) {
            return Ok(());
        }
        Err(Refusal::new(
            INGEST_003,
            format!(
                "--append needs the manifests and the locator map of an earlier version in {}/; ingest without --append first",
                self.shown
            ),
        ))
    }

    /// What the folder holds.
    fn held(&self, with_locators: bool) -> Result<Held, Refusal> {
        let mut held = Held::default();
        let sources = self.read(SOURCES)?;
        let chunks = self.read(CHUNKS)?;
        let (here, missing) = match (&sources, &chunks) {
            (Some(_), None) => (SOURCES, CHUNKS),
            (None, Some(_)) => (CHUNKS, SOURCES),
            _ => ("", ""),
        };
        if !missing.is_empty() {
            return Err(Refusal::new(
                INGEST_003,
                format!(
                    "{0}/ has a {here} and no {missing}; one without the other is half a set. Restore it from version control, or give another --out",
                    self.shown
                ),
            ));
        }
        if let Some(bytes) = sources {
            held.sources = read_sources(&bytes).map_err(|p| self.invalid(SOURCES, &bytes, *p))?;
        }
        if let Some(bytes) = chunks {
            held.chunks = read_chunks(&bytes).map_err(|p| self.invalid(CHUNKS, &bytes, *p))?;
        }
        if with_locators && let Some(bytes) = self.read(locator::FILE_NAME)? {
            let map = locator::read(&bytes).map_err(|error| merge::bad_locators(&error))?;
            held.locators = Some(map);
        }
        Ok(held)
    }

    fn invalid(&self, name: &str, bytes: &[u8], problem: Problem) -> Refusal {
        let text = String::from_utf8_lossy(bytes);
        let shown = format!("{}/{name}", self.shown);
        Refusal::of_problems(MAN_001, &shown, &text, &[problem])
    }

    fn read(&self, name: &str) -> Result<Option<Vec<u8>>, Refusal> {
        match Disk::new(&self.out, None).read(name, MANIFEST_LIMIT) {
            Ok(bytes) => Ok(Some(bytes.to_vec())),
            Err(ReadFailure::Absent) => Ok(None),
            Err(ReadFailure::NotAFile) => Err(self.not_a_file(name)),
            Err(failure) => Err(Refusal::new(
                MAN_001,
                format!("{}/{name} cannot be read: {failure}", self.shown),
            )),
        }
    }

    fn not_a_file(&self, name: &str) -> Refusal {
        Refusal::new(
            MAN_003,
            format!(
                "{}/{name} is not a regular file and is not written through; move it away",
                self.shown
            ),
        )
    }

    /// Refuses what the contract's own publisher would leave behind, and what cannot be replaced.
    fn no_sidecars(&self, names: &[&str]) -> Result<(), Refusal> {
        let there = |name: &str| std::fs::symlink_metadata(self.out.join(name)).ok();
        let sidecars: Vec<String> = names
            .iter()
            .flat_map(|name| [format!("{name}.tmp"), format!("{name}.bak")])
            .filter(|name| there(name).is_some())
            .map(|name| format!("{}/{name}", self.shown))
            .collect();
        if !sidecars.is_empty() {
            return Err(Refusal::new(
                MAN_002,
                format!(
                    "{} {} not ours: another program is at work, or was interrupted. Compare the files, keep the right ones and delete the rest",
                    sidecars.join(", "),
                    if sidecars.len() == 1 { "is" } else { "are" }
                ),
            ));
        }
        match names
            .iter()
            .find(|name| there(name).is_some_and(|metadata| !metadata.is_file()))
        {
            Some(name) => Err(self.not_a_file(name)),
            None => Ok(()),
        }
    }
}

/// The active chunks of a source.
fn own_chunks(chunks: &ChunksManifest, ingest: &Ingest) -> Vec<ChunkRecord> {
    chunks
        .chunks
        .iter()
        .filter(|chunk| chunk.source_id == ingest.source_id)
        .cloned()
        .collect()
}

/// Puts files in their place as one set.
///
/// # Errors
/// [`publish::PublishError`].
pub fn stage(
    out: &Path,
    shown: &str,
    files: &[(&str, Vec<u8>)],
) -> Result<Vec<String>, publish::PublishError> {
    let mut staging = Staging::begin(out, shown)?;
    for (name, bytes) in files {
        if let Err(error) = staging.put(name, bytes) {
            staging.discard();
            return Err(error);
        }
    }
    staging.commit()
}
