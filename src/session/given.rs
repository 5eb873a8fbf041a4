//! Sources that a chunks manifest stands for: nothing is discovered, read or cut.
//!
//! The manifest is trusted only as far as its hashes hold; that is checked per cited chunk, by the
//! rules. No cache is kept of such a run: its sources are nobody's files, and the next run of the
//! project would have to forget them again.
//!
//! A quote that runs over the edge of such a chunk does not verify. The manifest holds texts,
//! pages and ordinals, but neither offsets nor the chunker: what stands between two chunks is
//! unknown, and where two texts seem to overlap the words may as well stand there twice. So nothing
//! here says that two chunks are adjacent slices, and the check fails closed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use kbc_queries::chunk::{CacgParams, Chunker};
use kbc_queries::derive::given_source;
use kbc_queries::diagnostic::{Diagnostic, registry};
use kbc_queries::input::{FileStatus, Recipe};
use kbc_queries::parse::document::{ExtractOptions, Format};
use kbc_queries::parse::manifest::{self, ChunkRecord};
use kbc_queries::parse::problem::Problem;
use kbc_queries::parse::skill::FILE_NAME;
use kbc_queries::system::Fingerprint;

use crate::cache::entries::FileRecord;
use crate::publish;
use crate::workspace::context::{Context, Published};
use crate::workspace::discover::{Discovery, Found, Role, relative};
use crate::workspace::disk::Disk;
use crate::workspace::stamp::Stamp;
use crate::workspace::{Project, door, place_problems};

use super::{Options, Session, SourceState};

impl Session {
    /// Whether the chunks come from an explicit manifest.
    pub(super) fn has_given_chunks(&self) -> bool {
        self.options.chunks_manifest.is_some()
    }

    /// A path given on the command line as diagnostics show it: relative to the root where it can be.
    pub(super) fn shown(&self, path: &Path) -> String {
        relative(&self.project.root, path).unwrap_or_else(|| path.display().to_string())
    }

    /// Puts the sources of the explicit manifest, if there is one, in the place of discovered ones.
    pub(super) fn take_given(&mut self, context: &mut Context) {
        let Some(path) = self.options.chunks_manifest.clone() else {
            return;
        };
        let shown = self.shown(&path);
        let unusable = |problem: Problem, text: &str| {
            let help = "give a chunks manifest that `kb build` or `kb ingest` wrote, or restore it";
            let problem = problem.help(format!("nothing was checked; {help}"));
            place_problems(&shown, text, &[problem])
        };
        let taken = match door::read_named(&path, publish::LIMIT) {
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
            }
            Err(diagnostics) => {
                // One sentence about the manifest says it all; as many as there are citations do not.
                self.cards.clear();
                self.sources.clear();
                context.published = Published::default();
                context.diagnostics.extend(diagnostics);
            }
        }
    }
}

/// Whether there is no project around the cards: then they are exactly those that were named.
pub(super) fn has_listed_cards(project: &Project, options: &Options) -> bool {
    options.chunks_manifest.is_some() && project.settings_text.is_none() && options.only.is_some()
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
