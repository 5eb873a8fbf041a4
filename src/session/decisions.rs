//! What people decided, read from tracked files: the matrix, and what `out/` records.

use std::collections::{BTreeSet, HashMap};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use kbc_queries::diagnostic::{Diagnostic, Severity, registry};
use kbc_queries::input::{FileStatus, Profile};
use kbc_queries::parse::problem::Problem;
use kbc_queries::parse::{manifest, matrix};
use kbc_queries::system::{Fingerprint, FingerprintHasher, ReadFailure, System};

use crate::cache::entries::FileRecord;
use crate::cache::{Trace, decode, encode};
use crate::deck::{Place, log, state};
use crate::publish;
use crate::workspace::context::{Context, Published, Row};
use crate::workspace::disk::failure;
use crate::workspace::door;
use crate::workspace::ids::Recorded;
use crate::workspace::stamp::Stamp;
use crate::workspace::{MATRIX_LIMIT, place_problems};

use super::migration::cut;
use super::{OtherState, Session, keys};

/// How a lost list of retracted cards comes back.
const RESTORE: &str = "restore the manifest from version control, or make it anew with `kb index --restore-retractions`";

/// Version of what is cached of the published manifests.
const PUBLISHED_VERSION: u32 = 3;

impl Session {
    /// A tracked file that is no source and no card: its status, hashed only if its stamp moved.
    pub(super) fn other(
        &mut self,
        path: &str,
        at: &std::path::Path,
        looked_at: SystemTime,
    ) -> FileStatus {
        let stamp = match std::fs::metadata(at) {
            Ok(metadata) if metadata.is_file() => Some(Stamp::of(&metadata)),
            Ok(_) => {
                return FileStatus::Failed(ReadFailure::NotAFile);
            }
            Err(error) => return FileStatus::Failed(failure(&error)),
        };
        if let Some(known) = self.others.get(path)
            && !self.options.paranoid
            && known.file.stamp.is_some()
            && known.file.stamp == stamp
        {
            return known.file.status.clone();
        }
        let status = match fingerprint_file(at) {
            Ok(fingerprint) => FileStatus::Present(fingerprint),
            Err(failure) => FileStatus::Failed(failure),
        };
        let file = FileRecord {
            stamp: stamp.filter(|stamp| !stamp.is_racy(looked_at)),
            status: status.clone(),
            sha256: None,
        };
        self.others
            .insert(path.into(), OtherState { file, dirty: true });
        status
    }

    /// Reads the matrix and what the published manifests record.
    pub(super) fn read_context(&mut self, looked_at: SystemTime) {
        let mut context = Context {
            profile: self.project.profile(),
            ..Context::default()
        };
        self.read_matrix(&mut context);
        self.read_published(&mut context, looked_at);
        context.recorded = context
            .published
            .sources
            .iter()
            .map(|record| record.id.clone())
            .collect();
        self.context = context;
    }

    fn read_matrix(&self, context: &mut Context) {
        let given = self.options.source_matrix.as_deref();
        let path = &*match given {
            Some(path) => self.shown(path),
            None => self.project.settings.matrix.to_string(),
        };
        // An absolute path stays what it is: a matrix that is named may lie anywhere.
        let bytes = match self.disk.read(path, MATRIX_LIMIT) {
            Ok(bytes) => bytes,
            Err(ReadFailure::Absent) if self.cards.is_empty() && given.is_none() => return,
            Err(failure) => {
                context.diagnostics.push(
                    Diagnostic::new(
                        registry::AUTH_000,
                        format!(
                            "the source matrix cannot be read: {failure}; no citation is authorised"
                        ),
                    )
                    .in_file(path)
                    .help("write a source matrix that lists, per reading, the sources it may cite"),
                );
                return;
            }
        };
        let text = String::from_utf8_lossy(&bytes);
        match matrix::parse(&bytes) {
            Ok(matrix) => {
                context
                    .diagnostics
                    .extend(place_problems(path, &text, &matrix.duplicates));
                // A reading that is listed twice may use either list; which was meant, nobody
                // knows. The contract takes the last one.
                if !matrix.duplicates.is_empty() && context.profile == Profile::Strict {
                    return;
                }
                context.matrix = Some(
                    matrix
                        .readings()
                        .map(|(reading, sources)| {
                            let mut sources: Vec<Box<str>> =
                                sources.iter().map(|id| id.as_str().into()).collect();
                            sources.sort();
                            let key = keys::row(reading, &sources);
                            let allowed = Arc::from(sources);
                            (Arc::from(reading), Row { allowed, key })
                        })
                        .collect(),
                );
            }
            Err(problems) => {
                context
                    .diagnostics
                    .extend(place_problems(path, &text, &problems));
            }
        }
    }

    /// What `out/` records, by way of a trace: a chunks manifest is large, and parsing it on every
    /// run for a few retracted ids would be the greater part of the run.
    fn read_published(&mut self, context: &mut Context, looked_at: SystemTime) {
        let out = self.project.out();
        let names = [
            "sources_manifest.json",
            "chunks_manifest.json",
            "cards_manifest.json",
            publish::LAST,
            log::NAME,
        ];
        let mut parts: Vec<Vec<u8>> = vec![PUBLISHED_VERSION.to_le_bytes().to_vec()];
        let mut files = Vec::new();
        // Of an explicit chunks manifest the cards manifest beside it belongs to it.
        let beside = self
            .options
            .chunks_manifest
            .as_ref()
            .and_then(|path| path.parent());
        let beside = beside.map(std::path::Path::to_path_buf);
        for name in names {
            let (at, shown) = match &beside {
                Some(folder) => (folder.join(name), self.shown(&folder.join(name))),
                None => (
                    publish::current(&out, name),
                    format!("{}/{name}", self.project.settings.out),
                ),
            };
            let status = self.other(&shown, &at, looked_at);
            parts.push(keys::status(&status).0.to_vec());
            files.push((shown, at, status));
        }
        let key = Fingerprint::combine("kbc published", parts.iter().map(Vec::as_slice));
        if let Some(published) = self
            .cache
            .as_ref()
            .and_then(|cache| cache.trace(key))
            .and_then(|bytes| decode::<Published>(&bytes))
        {
            context.published = published;
            self.miss_retractions(context, &files);
            return;
        }
        let before = context.diagnostics.len();
        for (index, (shown, at, status)) in files.iter().enumerate() {
            // An explicit chunks manifest takes the place of what the project published of sources.
            if self.has_given_chunks() && ![2, 4].contains(&index) {
                continue;
            }
            let bytes = match status {
                FileStatus::Failed(ReadFailure::Absent) => continue,
                FileStatus::Failed(failure) => {
                    context
                        .diagnostics
                        .push(unusable(shown, &failure.to_string()));
                    continue;
                }
                FileStatus::Present(_) if index == 1 && scan_published(at, context) => continue,
                FileStatus::Present(_) => match door::read(at, publish::LIMIT) {
                    Ok(bytes) => bytes,
                    Err(failure) => {
                        let reason = failure.to_string();
                        context.diagnostics.push(unusable(shown, &reason));
                        continue;
                    }
                },
            };
            if let Err(problem) = take_published(index, &bytes, &mut context.published) {
                let text = String::from_utf8_lossy(&bytes);
                context
                    .diagnostics
                    .extend(place_problems(shown, &text, &[*problem]));
            }
        }
        context.published.hold_to_record();
        if context.diagnostics.len() == before
            && let Some(bytes) = encode(&context.published)
        {
            self.traces.push((key, Trace::Bytes(bytes)));
        }
        self.miss_retractions(context, &files);
    }

    /// Says that a manifest is missing although cards, sources or chunks were retracted. They stay
    /// retracted; but a lost list is not to be passed over.
    fn miss_retractions(&self, context: &mut Context, files: &[(String, PathBuf, FileStatus)]) {
        let missing = |index: usize| {
            files
                .get(index)
                .filter(|(_, _, status)| *status == FileStatus::Failed(ReadFailure::Absent))
        };
        let decided = &context.published.decided;
        let mut found = Vec::new();
        let lost = |shown: &str, what: &str, id: &str| {
            let message = format!(
                "the manifest is missing, and `{}` says that the {what} `{id}` was retracted",
                log::NAME
            );
            Diagnostic::new(registry::MAN_001, message).in_file(shown)
        };
        if let Some((shown, at, _)) = missing(2) {
            if let Some(id) = decided.cards.first() {
                found.push(lost(shown, "card", id).help(RESTORE));
            } else {
                let tombstone = self.tombstones(at);
                found.extend(
                    tombstone.map(|found| match found.code == registry::MAN_001 {
                        true => found.in_file(&**shown),
                        false => found,
                    }),
                );
            }
        }
        let withdrawn = decided.sources.first().map(|id| ("source", id));
        let withdrawn = withdrawn.or_else(|| decided.chunks.first().map(|id| ("chunk", id)));
        if !self.has_given_chunks()
            && let Some((shown, _, _)) = missing(1)
            && let Some((what, id)) = withdrawn
        {
            let mut lost = lost(shown, what, id).help("the next `kb build` lists it again");
            lost.severity = Severity::Warning;
            found.push(lost);
        }
        context.diagnostics.extend(found);
    }

    /// The histories beside the cards, where no cards manifest tells which cards were retracted.
    fn tombstones(&self, manifest: &Path) -> Option<Diagnostic> {
        let folders: BTreeSet<&str> = self
            .cards
            .keys()
            .map(|path| path.rsplit_once('/').map_or("", |(folder, _)| folder))
            .collect();
        let histories = folders
            .into_iter()
            .flat_map(|folder| state::histories_in(&self.project.root.join(folder)));
        let place = Place::new(&self.project, &self.project.root, manifest.parent());
        state::tombstones_without_manifest(&place, histories)
    }

    /// Takes in what `out/` records, after it was written.
    pub(super) fn reread_published(&mut self) {
        self.context.published = publish::set::published(self);
        self.context.recorded = self
            .context
            .published
            .sources
            .iter()
            .map(|record| record.id.clone())
            .collect();
    }
}

/// The fingerprint of a file that may be larger than memory should be asked for.
pub(super) fn fingerprint_file(path: &std::path::Path) -> Result<Fingerprint, ReadFailure> {
    let mut file = door::open(path, door::STREAM_LIMIT)?;
    let mut hasher = FingerprintHasher::default();
    let mut buffer = vec![0; 1 << 18];
    loop {
        match file.read(&mut buffer).map_err(|error| failure(&error))? {
            0 => return Ok(hasher.finish()),
            count => hasher.update(buffer.get(..count).unwrap_or_default()),
        }
    }
}

fn unusable(path: &str, reason: &str) -> Diagnostic {
    Diagnostic::new(
        registry::MAN_001,
        format!("the published manifest cannot be used: {reason}"),
    )
    .in_file(path)
    .help("restore the file from version control: it records ids and retractions")
}

/// Takes the retractions of a valid chunks manifest without holding it in memory.
fn scan_published(at: &std::path::Path, context: &mut Context) -> bool {
    let Ok(file) = door::open(at, door::STREAM_LIMIT) else {
        return false;
    };
    let reader = std::io::BufReader::with_capacity(1 << 20, file);
    let Some(found) = manifest::scan_retractions(reader) else {
        return false;
    };
    context.published.retract(found.source_ids, found.chunk_ids);
    true
}

fn take_published(
    index: usize,
    bytes: &[u8],
    published: &mut Published,
) -> Result<(), Box<kbc_queries::parse::problem::Problem>> {
    match index {
        0 => {
            let manifest = manifest::read_sources(bytes)?;
            published.sources = manifest
                .sources
                .into_iter()
                .map(|source| Recorded {
                    id: source.source_id.into(),
                    path: source.source_path.into(),
                    sha256: source.source_sha256.into(),
                    extractor: (source.parser_name.into(), source.parser_version.into()),
                    cut: None,
                })
                .collect();
        }
        1 => {
            let retractions = manifest::read_retractions(bytes)?;
            published.retract(retractions.source_ids, retractions.chunk_ids);
        }
        2 => {
            let cards = manifest::read_cards(bytes)?;
            published.retracted_cards = cards.retracted_cards.into_iter().collect();
            published.dependency_retracted_cards =
                cards.dependency_retracted_cards.into_iter().collect();
        }
        3 => take_cuts(bytes, published),
        _ => {
            published.decided = log::standing(bytes).map_err(|reason| {
                let message = format!("the record of retractions is damaged at {reason}");
                let help = "restore it from version control";
                Box::new(Problem::new(registry::HIST_001, 0..0, message).help(help))
            })?;
        }
    }
    Ok(())
}

/// Takes how sources were cut from an index manifest. One that cannot be read is the freshness
/// gate's to report; without it nothing is known of the cuts.
fn take_cuts(bytes: &[u8], published: &mut Published) {
    #[derive(serde::Deserialize)]
    struct Index {
        collections: Vec<Collection>,
    }
    #[derive(serde::Deserialize)]
    struct Collection {
        chunk_params: String,
        documents: Vec<Document>,
    }
    #[derive(serde::Deserialize)]
    struct Document {
        derivation: String,
        source_id: String,
    }
    let Ok(index) = serde_json::from_slice::<Index>(bytes) else {
        return;
    };
    let cuts: HashMap<&str, String> = index
        .collections
        .iter()
        .flat_map(|collection| {
            collection.documents.iter().map(|document| {
                let cut = cut(&document.derivation, &collection.chunk_params);
                (&*document.source_id, cut)
            })
        })
        .collect();
    published.record_cuts(|id| cuts.get(id).map(String::as_str));
}
