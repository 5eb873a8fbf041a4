//! Sources that a chunks manifest stands for: nothing is discovered, read or cut.
//!
//! The manifest is trusted only as far as its hashes hold; that is checked per cited chunk, by the
//! rules. No state is kept of such a run: its sources are nobody's files, and the next run of the
//! project would have to forget them again. Verdicts are kept, under everything that they depend
//! on: the bytes of the card and of the manifest, the matrix, the policy. A run that finds all of
//! its verdicts does not parse the manifest, and does not even read it if its stamp is known.
//!
//! A quote that runs over the edge of such a chunk does not verify. The manifest holds texts,
//! pages and ordinals, but neither offsets nor the chunker: what stands between two chunks is
//! unknown, and where two texts seem to overlap the words may as well stand there twice. So nothing
//! here says that two chunks are adjacent slices, and the check fails closed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use kbc_queries::chunk::{CacgParams, Chunker};
use kbc_queries::derive::given_source;
use kbc_queries::diagnostic::{Diagnostic, registry};
use kbc_queries::input::{FileStatus, Recipe};
use kbc_queries::parse::document::{ExtractOptions, Format};
use kbc_queries::parse::manifest::{self, ChunkRecord};
use kbc_queries::parse::problem::Problem;
use kbc_queries::parse::skill::FILE_NAME;
use kbc_queries::system::{Fingerprint, ReadFailure};

use crate::cache::entries::{CardEntry, FileRecord};
use crate::cache::{Trace, decode, encode};
use crate::publish;
use crate::workspace::context::{Context, Published};
use crate::workspace::discover::{Discovery, Found, Role, relative};
use crate::workspace::disk::Disk;
use crate::workspace::stamp::Stamp;
use crate::workspace::{Project, door, place_problems};

use super::decisions::fingerprint_file;
use super::{Given, Options, Session, SourceState, keys};

impl Session {
    /// Whether the chunks come from an explicit manifest.
    pub(super) fn has_given_chunks(&self) -> bool {
        self.options.chunks_manifest.is_some()
    }

    /// A path given on the command line as diagnostics show it: relative to the root where it can be.
    pub(super) fn shown(&self, path: &Path) -> String {
        relative(&self.project.root, path).unwrap_or_else(|| path.display().to_string())
    }

    /// Finds the verdicts of an earlier run on the same manifest, or takes the manifest in.
    pub(super) fn look_at_given(&mut self) {
        let Some(path) = self.options.chunks_manifest.clone() else {
            return;
        };
        if self.cache.is_some()
            && self.context.diagnostics.is_empty()
            && let Ok(manifest) = self.fingerprint_given(&path)
            && let Some(entries) = self.known_verdicts(self.given_key(manifest))
        {
            self.stats.trace_hits += entries.len() as u64;
            for (path, entry) in entries {
                self.stats.citations_reused += entry.names.len() as u64;
                self.replace_entry(&path, entry);
            }
            self.given = Given::Known;
            return;
        }
        self.read_given();
    }

    /// The fingerprint of the manifest's bytes: of today's, or those it had under the same stamp.
    fn fingerprint_given(&mut self, path: &Path) -> Result<Fingerprint, ReadFailure> {
        // Before the file is looked at: what is written later has to have another stamp.
        let looked_at = SystemTime::now();
        let key = std::fs::metadata(path)
            .ok()
            .filter(std::fs::Metadata::is_file)
            .map(|metadata| Stamp::of(&metadata))
            .filter(|stamp| !stamp.is_racy(looked_at))
            .map(|stamp| stamp_key(path, &stamp));
        let cache = self.cache.as_ref();
        let known = key.and_then(|key| decode(&cache?.trace(key)?));
        if let Some(bytes) = known {
            return Ok(Fingerprint(bytes));
        }
        let fingerprint = fingerprint_file(path)?;
        if let Some(key) = key
            && let Some(bytes) = encode(&fingerprint.0)
        {
            self.traces.push((key, Trace::Bytes(bytes)));
        }
        Ok(fingerprint)
    }

    /// Takes the manifest in, if there is one and that was not needed until now.
    pub(super) fn read_given(&mut self) {
        let Some(path) = self.options.chunks_manifest.clone() else {
            return;
        };
        let mut context = std::mem::take(&mut self.context);
        let before = context.diagnostics.len();
        let manifest = self.take_given(&path, &mut context);
        let usable = context.diagnostics.len() == before;
        self.context = context;
        self.given = match manifest {
            Some(manifest) if usable => Given::Read(self.given_key(manifest)),
            _ => Given::None,
        };
    }

    /// What a verdict depends on besides the card and the policy.
    fn given_key(&self, manifest: Fingerprint) -> Fingerprint {
        let rows = self.context.matrix.iter().flatten();
        let rows: Vec<Fingerprint> = rows.map(|(_, row)| row.key).collect();
        let decided = &self.context.published.decided;
        let ids = decided.sources.iter().chain(&decided.chunks);
        let decided = Fingerprint::combine("kbc decided", ids.map(|id| id.as_bytes()));
        let parts = [&manifest, &decided].into_iter().chain(&rows);
        Fingerprint::combine("kbc given deck", parts.map(|part| &part.0[..]))
    }

    fn verdict_key(own_key: Fingerprint, deck: Fingerprint) -> Fingerprint {
        Fingerprint::combine("kbc given verdict", [&own_key.0[..], &deck.0[..]])
    }

    /// The verdicts about all cards, if all are known.
    fn known_verdicts(&self, deck: Fingerprint) -> Option<Vec<(Arc<str>, Arc<CardEntry>)>> {
        let cache = self.cache.as_ref()?;
        let only = self.options.only.as_ref();
        let policy = keys::policy(
            self.context.profile,
            self.context.matrix_usable(),
            &self.options,
        );
        let wanted = self
            .cards
            .iter()
            .filter(|(path, _)| only.is_none_or(|only| only.contains(&***path)));
        wanted
            .map(|(path, state)| {
                super::present(&state.file)?;
                let own_key = keys::card(path, state, policy);
                let bytes = cache.trace(Self::verdict_key(own_key, deck))?;
                let entry: CardEntry = decode(&bytes)?;
                (entry.own_key == own_key).then(|| (path.clone(), Arc::new(entry)))
            })
            .collect()
    }

    /// Keeps a verdict for the next run on the same manifest.
    pub(super) fn keep_given(&mut self, path: &Arc<str>, entry: &CardEntry) {
        let is_present = self
            .cards
            .get(path)
            .is_some_and(|state| super::present(&state.file).is_some());
        if let Given::Read(deck) = self.given
            && is_present
            && self.cache.is_some()
            && let Some(bytes) = encode(entry)
        {
            let key = Self::verdict_key(entry.own_key, deck);
            self.traces.push((key, Trace::Bytes(bytes)));
        }
    }

    /// Puts the sources of the explicit manifest in the place of discovered ones. Returns the
    /// fingerprint of the bytes that were read.
    fn take_given(&mut self, path: &Path, context: &mut Context) -> Option<Fingerprint> {
        let shown = self.shown(path);
        let mut read = None;
        let unusable = |problem: Problem, text: &str| {
            let help = "give a chunks manifest that `kb build` or `kb ingest` wrote, or restore it";
            let problem = problem.help(format!("nothing was checked; {help}"));
            place_problems(&shown, text, &[problem])
        };
        // It may be the usual one, which nobody named: no waiting at a pipe.
        let taken = match door::read(path, publish::LIMIT) {
            Err(reason) => {
                let message = format!("the chunks manifest cannot be read: {reason}");
                let diagnostic = Diagnostic::new(registry::MAN_001, message)
                    .in_file(&*shown)
                    .help("nothing was checked; give the path of a chunks manifest");
                Err(vec![diagnostic])
            }
            Ok(bytes) => match manifest::read_chunks(&bytes) {
                Err(problem) => Err(unusable(*problem, &String::from_utf8_lossy(&bytes))),
                Ok(manifest) => {
                    read = Some(Fingerprint::of(&bytes));
                    let retractions = manifest.retractions();
                    given_sources(&manifest.chunks)
                        .map(|sources| (sources, retractions))
                        .map_err(|reason| {
                            let message = format!("the chunks manifest is invalid: {reason}");
                            let problem = Problem::new(registry::MAN_001, 0..0, message);
                            unusable(problem, &String::from_utf8_lossy(&bytes))
                        })
                }
            },
        };
        match taken {
            Ok((sources, retractions)) => {
                self.sources = sources;
                let published = &mut context.published;
                published.sources.clear();
                published.retract(retractions.source_ids, retractions.chunk_ids);
                published.hold_to_record();
            }
            Err(diagnostics) => {
                // One sentence about the manifest says it all; as many as there are citations do not.
                self.cards.clear();
                self.sources.clear();
                context.published = Published::default();
                context.diagnostics.extend(diagnostics);
            }
        }
        // Nothing is recorded of sources that nobody's files stand for.
        context.recorded.clear();
        read
    }
}

/// Under what the fingerprint of a manifest with this stamp is kept.
fn stamp_key(path: &Path, stamp: &Stamp) -> Fingerprint {
    Fingerprint::combine(
        "kbc given stamp",
        [
            path.as_os_str().as_encoded_bytes(),
            &stamp.size.to_le_bytes(),
            &stamp.modified.to_le_bytes(),
            &stamp.changed.to_le_bytes(),
            &stamp.inode.to_le_bytes(),
        ],
    )
}

/// Whether there is no project around the cards: then they are exactly those that were named.
pub(super) fn has_listed_cards(project: &Project, options: &Options) -> bool {
    options.chunks_manifest.is_some() && project.settings_text.is_none() && options.only.is_some()
}

/// The folder whose cache keeps verdicts about an explicit manifest. Without a project around it
/// nothing is left behind in the tree.
pub(super) fn cache_folder(project: &Project, options: &Options) -> Option<PathBuf> {
    options.chunks_manifest.as_ref()?;
    match project.settings_text {
        Some(_) => Some(project.root.clone()),
        None => options.user_cache.clone(),
    }
}

/// The cards that were named, as if a walk had found them.
pub(super) fn listed_cards(options: &Options, disk: &Disk) -> Discovery {
    let files = options.only.iter().flatten().filter_map(|path| {
        let metadata = std::fs::metadata(disk.locate(path)).ok()?;
        Some(Found {
            path: path.as_str().into(),
            role: Role::Card,
            stamp: metadata.is_file().then(|| Stamp::of(&metadata)),
        })
    });
    let files: Vec<Found> = files.collect();
    // The routers of their readings stand beside them.
    let folders: BTreeSet<&str> = files
        .iter()
        .map(|found| found.path.rsplit_once('/').map_or("", |(folder, _)| folder))
        .collect();
    let routers = folders
        .into_iter()
        .map(|folder| match folder {
            "" => FILE_NAME.to_owned(),
            folder => format!("{folder}/{FILE_NAME}"),
        })
        .filter(|path| {
            std::fs::symlink_metadata(disk.locate(path)).is_ok_and(|metadata| metadata.is_file())
        })
        .map(Arc::from)
        .collect();
    Discovery {
        files,
        routers,
        ..Discovery::default()
    }
}

/// One source per source id.
fn given_sources(chunks: &[ChunkRecord]) -> Result<BTreeMap<Arc<str>, SourceState>, String> {
    let mut by_source: BTreeMap<&str, Vec<&ChunkRecord>> = BTreeMap::new();
    for chunk in chunks {
        by_source.entry(&chunk.source_id).or_default().push(chunk);
    }
    let mut sources = BTreeMap::new();
    for (id, records) in by_source {
        let derivation = given_source(&records)?;
        let fingerprint = Fingerprint::of_value("kbc given chunks", &derivation.chunks);
        let recipe = Recipe {
            // Neither is used: there is nothing to extract and nothing to cut.
            extract: ExtractOptions::new(Format::Text),
            chunker: Chunker::Cacg(CacgParams::default()),
            given: Some(Arc::new(derivation)),
        };
        let state = SourceState {
            file: FileRecord {
                stamp: None,
                status: FileStatus::Present(fingerprint),
                sha256: None,
            },
            collection: 0,
            id: id.into(),
            recipe: Some(Arc::new(recipe)),
            recipe_key: Fingerprint::combine("kbc recipe given", []),
            title: None,
            report: None,
            input: None,
            dirty: false,
        };
        sources.insert(format!("given:{id}").into(), state);
    }
    Ok(sources)
}
