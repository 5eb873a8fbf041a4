//! Finding out what is on disk, reading as little of it as possible.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::io::Read;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use rayon::prelude::*;
use sha2::{Digest as _, Sha256};

use kbc_queries::CARD_LIMIT;
use kbc_queries::chunk::parse_chunk_id;
use kbc_queries::derive::derive_card;
use kbc_queries::diagnostic::{Diagnostic, registry};
use kbc_queries::input::{FileStatus, Recipe};
use kbc_queries::parse::document::extractor;
use kbc_queries::parse::settings::parse_sidecar;
use kbc_queries::parse::{manifest, matrix};
use kbc_queries::system::{Fingerprint, FingerprintHasher, ReadFailure, System};

use crate::cache::entries::{FileRecord, NameKey};
use crate::cache::{Table, bucket_of, decode, encode};
use crate::publish;
use crate::workspace::context::{Context, Published, Row};
use crate::workspace::discover::{Discovery, Matcher, Role, discover, glob};
use crate::workspace::disk::Disk;
use crate::workspace::ids::{Candidate, Recorded, assign};
use crate::workspace::stamp::Stamp;
use crate::workspace::{MATRIX_LIMIT, Project, place_problems};

use super::given;
use super::store::{self, LastState};
use super::{CardState, Database, Options, OtherState, Pending, Session, SourceState, Stats, keys};

/// Version of what is cached of the published manifests.
const PUBLISHED_VERSION: u32 = 1;

impl Session {
    /// Looks at a project and derives what is stale.
    pub fn open(project: Project, options: Options) -> Self {
        let mut session = Self::look_only(project, options);
        session.derive(None);
        if let Some(progress) = &session.options.progress {
            progress.finish();
        }
        session
    }

    /// Looks at a project and derives nothing yet.
    pub fn look_only(project: Project, options: Options) -> Self {
        let started = Instant::now();
        let looked_at = SystemTime::now();
        let without_cache = options.no_cache || options.chunks_manifest.is_some();
        let disk = Arc::new(Disk::new(&project.root, options.reader.clone()));
        // Neither of the two needs the other, and both mostly wait for the system.
        let ((cache, last, cache_notice), discovery) = rayon::join(
            || {
                if without_cache {
                    (None, LastState::default(), None)
                } else {
                    store::open(&project.root)
                }
            },
            || walk(&project, &options, &disk),
        );
        let db = Database::new(disk.clone(), options.observer.clone());
        let mut session = Session {
            project,
            options,
            disk,
            db,
            cache,
            sources: BTreeMap::new(),
            cards: BTreeMap::new(),
            others: BTreeMap::new(),
            context: Context::default(),
            bindings: HashMap::new(),
            by_id: HashMap::new(),
            lost_sources: false,
            citing: None,
            by_name: HashMap::new(),
            traces: Vec::new(),
            values: Vec::new(),
            lost: BTreeSet::new(),
            discovered: Vec::new(),
            cache_notice,
            incomplete: false,
            pending: Pending::All,
            gone_sources: HashMap::new(),
            gone_cards: HashMap::new(),
            stats: Stats::default(),
        };
        session.stats.phase("walk", started);
        session.look(last, discovery, looked_at);
        session
    }

    /// Looks at the whole tree again, the settings included, and derives what is stale. Returns
    /// the cards whose entry is new.
    pub fn rescan(&mut self) -> Vec<Arc<str>> {
        self.stats = Stats::default();
        self.project.reread();
        let looked_at = SystemTime::now();
        let discovery = walk(&self.project, &self.options, &self.disk);
        let last = self.take_state();
        self.look(last, discovery, looked_at);
        self.derive(None)
    }

    /// The state as a cache would give it back, without stamps being taken for granted twice.
    fn take_state(&mut self) -> LastState {
        use crate::cache::entries::{StoredCard, StoredOther, StoredSource};
        let mut last = LastState::default();
        for (path, state) in std::mem::take(&mut self.sources) {
            if let Some(input) = state.input {
                last.source_inputs.insert(path.clone(), input);
            }
            last.sources.insert(
                path.clone(),
                StoredSource {
                    path,
                    file: state.file,
                    report: state.report,
                },
            );
        }
        for (path, state) in std::mem::take(&mut self.cards) {
            if let Some(input) = state.input {
                last.card_inputs.insert(path.clone(), input);
            }
            last.cards.insert(
                path.clone(),
                StoredCard {
                    path,
                    file: state.file,
                    entry: state.entry,
                },
            );
        }
        for (path, state) in std::mem::take(&mut self.others) {
            last.others.insert(
                path.clone(),
                StoredOther {
                    path,
                    file: state.file,
                },
            );
        }
        self.citing = None;
        self.pending = Pending::All;
        last
    }

    fn look(&mut self, last: LastState, discovery: Discovery, looked_at: SystemTime) {
        let started = Instant::now();
        self.take_files(discovery, last);
        self.read_context(looked_at);
        self.hash_stale(looked_at);
        self.stats.phase("hash", started);

        let started = Instant::now();
        self.assign_ids();
        self.check_roots();
        self.stats.sources = self.sources.len() as u64;
        self.stats.cards = self.cards.len() as u64;
        self.stats.phase("names", started);
    }

    /// Puts what was found beside what was known.
    fn take_files(&mut self, mut discovery: Discovery, mut last: LastState) {
        self.incomplete = discovery.incomplete;
        self.discovered = std::mem::take(&mut discovery.diagnostics);
        self.take_sidecars(&mut discovery);
        let readings: Vec<(globset::GlobMatcher, Arc<str>)> = self
            .project
            .settings
            .readings
            .iter()
            .filter_map(|(pattern, reading)| {
                Some((glob(pattern).ok()?.compile_matcher(), Arc::from(&**reading)))
            })
            .collect();
        let mut recipes = Recipes::default();
        let paranoid = self.options.paranoid;
        let mut sources = Vec::new();
        let mut cards = Vec::new();
        let others: BTreeMap<Arc<str>, OtherState> = last
            .others
            .into_iter()
            .map(|(path, stored)| {
                let file = stored.file;
                (path, OtherState { file, dirty: false })
            })
            .collect();
        for found in discovery.files {
            match found.role {
                Role::Source(collection) => {
                    let stored = last.sources.remove(&found.path);
                    let (file, dirty) =
                        known(found.stamp, stored.as_ref().map(|s| &s.file), paranoid);
                    let (recipe, recipe_key) = recipes.get(&self.project, collection, &found.path);
                    let title = self
                        .project
                        .settings
                        .sources
                        .get(&*found.path)
                        .and_then(|source| source.title.as_deref())
                        .map(Arc::from);
                    let input = last.source_inputs.remove(&found.path);
                    sources.push((
                        found.path,
                        SourceState {
                            file,
                            collection,
                            id: Arc::from(""),
                            recipe,
                            recipe_key,
                            title,
                            report: stored.and_then(|stored| stored.report),
                            input,
                            dirty,
                        },
                    ));
                }
                Role::Card => {
                    let stored = last.cards.remove(&found.path);
                    let (file, dirty) =
                        known(found.stamp, stored.as_ref().map(|s| &s.file), paranoid);
                    let folder_reading = readings
                        .iter()
                        .rev()
                        .find(|(glob, _)| glob.is_match(&*found.path))
                        .map(|(_, reading)| reading.clone());
                    let entry = stored.and_then(|stored| stored.entry);
                    let input = last.card_inputs.remove(&found.path);
                    cards.push((
                        found.path,
                        CardState {
                            file,
                            folder_reading,
                            entry,
                            input,
                            dirty,
                        },
                    ));
                }
            }
        }
        let sources_left = last.sources.keys().map(|path| (0, bucket_of(path)));
        let cards_left = last.cards.keys().map(|path| (1, bucket_of(path)));
        self.lost.extend(sources_left.chain(cards_left));
        // A file that is gone keeps its input in the graph, which must hear that it is gone.
        self.gone_sources.extend(last.source_inputs);
        for (path, state) in &mut sources {
            if state.input.is_none() {
                state.input = self.gone_sources.remove(path);
            }
        }
        self.gone_cards.extend(last.card_inputs);
        for (path, state) in &mut cards {
            if state.input.is_none() {
                state.input = self.gone_cards.remove(path);
            }
        }
        for (path, state) in &sources {
            if state.recipe.is_none() {
                self.discovered.push(
                    Diagnostic::new(
                        registry::SRC_006,
                        "nothing tells what kind of file this is; it was skipped",
                    )
                    .in_file(path.clone())
                    .help("give it a known ending, say its `format` in kb.toml, or exclude it"),
                );
            }
        }
        self.sources = sources.into_iter().collect();
        self.cards = cards.into_iter().collect();
        self.others = others;
        self.empty_collections(&discovery.shared);
    }

    /// A file `handbook.pdf.toml` beside a source `handbook.pdf` says of it what a table of kb.toml
    /// could say, and is no source itself.
    fn take_sidecars(&mut self, discovery: &mut Discovery) {
        let is_sidecar = |path: &str| path.ends_with(".toml");
        let mut sidecars = Vec::new();
        if discovery.files.iter().any(|found| is_sidecar(&found.path)) {
            let sources: HashSet<Arc<str>> = discovery
                .files
                .iter()
                .filter(|found| matches!(found.role, Role::Source(_)))
                .map(|found| found.path.clone())
                .collect();
            discovery.files.retain(|found| {
                let Some(source) = found.path.strip_suffix(".toml") else {
                    return true;
                };
                if !sources.contains(source) {
                    return true;
                }
                sidecars.push((found.path.clone(), Box::from(source)));
                false
            });
        }
        let mut parsed = Vec::new();
        for (path, source) in sidecars {
            let read = self
                .disk
                .read(&path, CARD_LIMIT)
                .map(|bytes| bytes.to_vec());
            let text = match read.map(String::from_utf8) {
                Ok(Ok(text)) => text,
                Ok(Err(_)) | Err(_) => {
                    self.discovered.push(
                        Diagnostic::new(registry::CFG_004, "this sidecar cannot be read as text")
                            .in_file(path)
                            .help("a sidecar is a TOML file that says `id`, `title`, `encoding`, `format` or `fields` of the source beside it"),
                    );
                    continue;
                }
            };
            let (settings, problems) = parse_sidecar(&text);
            self.discovered
                .extend(place_problems(&path, &text, &problems));
            parsed.push((source, settings));
        }
        self.project.take_sidecars(parsed);
    }

    /// Collections whose globs match nothing; `shared` are those whose files went to another.
    fn empty_collections(&mut self, shared: &BTreeSet<usize>) {
        let mut used = shared.clone();
        used.extend(self.sources.values().map(|state| state.collection));
        // The default list is nobody's wish; an empty one of one's own is likely a slip.
        if self.project.settings_text.is_none() || self.has_given_chunks() {
            return;
        }
        for (index, collection) in self.project.settings.collections.iter().enumerate() {
            if !used.contains(&index) {
                self.discovered.push(
                    Diagnostic::new(
                        registry::CFG_007,
                        format!("the collection `{}` includes no file", collection.name),
                    )
                    .in_file(crate::workspace::SETTINGS_FILE)
                    .help("check its `include` globs; they are relative to the project's folder"),
                );
            }
        }
    }

    /// Hashes the files whose stamp says nothing: all, or those that the asked-for cards need.
    fn hash_stale(&mut self, looked_at: SystemTime) {
        let limit = self.project.settings.limits.bytes;
        if let Some(only) = self.options.only.clone() {
            let cards = self.stale_paths(|path| only.contains(path), |_| false);
            self.hash_paths(&[], &cards, limit, looked_at);
            self.assign_ids();
            let wanted = self.sources_of_cards(&only);
            let (sources, _) = self.stale_both(|_| false, |path| wanted.contains(path));
            self.hash_paths(&sources, &[], limit, looked_at);
            return;
        }
        let (sources, cards) = self.stale_both(|_| true, |_| true);
        self.hash_paths(&sources, &cards, limit, looked_at);
    }

    fn stale_paths(
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

    fn stale_both(
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
    fn sources_of_cards(&self, cards: &BTreeSet<String>) -> HashSet<Arc<str>> {
        let mut wanted = HashSet::new();
        for path in cards {
            let Some(text) = self.card_text(path) else {
                continue;
            };
            let parsed = derive_card(&text).parsed;
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

    /// A tracked file that is no source and no card: its status, hashed only if its stamp moved.
    fn other(&mut self, path: &str, at: &std::path::Path, looked_at: SystemTime) -> FileStatus {
        let stamp = match std::fs::metadata(at) {
            Ok(metadata) if metadata.is_file() => Some(Stamp::of(&metadata)),
            Ok(_) => {
                return FileStatus::Failed(ReadFailure::NotAFile);
            }
            Err(error) => return FileStatus::Failed(crate::workspace::disk::failure(&error)),
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
            Err(error) => FileStatus::Failed(crate::workspace::disk::failure(&error)),
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
    fn read_context(&mut self, looked_at: SystemTime) {
        let mut context = Context {
            profile: self.project.profile(),
            ..Context::default()
        };
        self.read_matrix(&mut context);
        self.read_published(&mut context, looked_at);
        self.take_given(&mut context);
        context.recorded = context
            .published
            .sources
            .iter()
            .map(|record| record.id.clone())
            .collect();
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
        ];
        let mut parts: Vec<Vec<u8>> = vec![PUBLISHED_VERSION.to_le_bytes().to_vec()];
        let mut files = Vec::new();
        for name in names {
            let at = publish::current(&out, name);
            let shown = format!("{}/{name}", self.project.settings.out);
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
            return;
        }
        let before = context.diagnostics.len();
        for (index, (shown, at, status)) in files.iter().enumerate() {
            // An explicit chunks manifest takes the place of what the project published of sources.
            if self.has_given_chunks() && index < 2 {
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
                FileStatus::Present(_) => match std::fs::read(at) {
                    Ok(bytes) => bytes,
                    Err(error) => {
                        let reason = crate::workspace::disk::failure(&error).to_string();
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
        if context.diagnostics.len() == before
            && let Some(bytes) = encode(&context.published)
        {
            self.traces.push((key, bytes));
        }
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
        self.changed_extractors();
        self.bind_ids();
    }

    /// Ids to files, and what each id leads to.
    fn bind_ids(&mut self) {
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

    /// Sources whose text was published by another extractor than the one in force.
    fn changed_extractors(&mut self) {
        self.discovered
            .retain(|diagnostic| diagnostic.code != registry::SRC_009);
        for record in &self.context.published.sources {
            let Some(recipe) = self
                .sources
                .get(&record.path)
                .and_then(|state| state.recipe.as_ref())
            else {
                continue;
            };
            let now = extractor(recipe.extract.format);
            let (name, version) = &record.extractor;
            if **name == *now.name && **version == *now.version {
                continue;
            }
            self.discovered.push(
                Diagnostic::new(
                    registry::SRC_009,
                    format!(
                        "the text of this source was published by {name} {version}; {} {} reads it now, and may read it differently",
                        now.name, now.version
                    ),
                )
                .in_file(record.path.clone())
                .help("look at the findings about its citations, then run `kb build`"),
            );
        }
    }

    /// A collection's folder that is gone, though sources below it are recorded, is more likely a
    /// disk that is not mounted than a wish to delete everything.
    fn check_roots(&mut self) {
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

    /// Which table's bucket a path is in, for tests of the store.
    pub fn bucket(table: Table, path: &str) -> (Table, u32) {
        (table, bucket_of(path))
    }
}

/// The fingerprint of a file that may be larger than memory should be asked for.
fn fingerprint_file(path: &std::path::Path) -> std::io::Result<Fingerprint> {
    let mut file = std::fs::File::open(path)?;
    let mut hasher = FingerprintHasher::default();
    let mut buffer = vec![0; 1 << 18];
    loop {
        match file.read(&mut buffer)? {
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
    let Ok(file) = std::fs::File::open(at) else {
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
                })
                .collect();
        }
        1 => {
            let retractions = manifest::read_retractions(bytes)?;
            published.retract(retractions.source_ids, retractions.chunk_ids);
        }
        _ => {
            let cards = manifest::read_cards(bytes)?;
            published.retracted_cards = cards.retracted_cards.into_iter().collect();
            published.dependency_retracted_cards =
                cards.dependency_retracted_cards.into_iter().collect();
        }
    }
    Ok(())
}

/// The files of the project.
fn walk(project: &Project, options: &Options, disk: &Disk) -> Discovery {
    if given::has_listed_cards(project, options) {
        return given::listed_cards(options, disk);
    }
    let mut settings = Cow::Borrowed(&project.settings);
    if options.chunks_manifest.is_some() {
        // Files that nothing is taken from are not looked for, nor complained about.
        settings.to_mut().collections.clear();
    }
    let matcher = Matcher::new(&settings);
    discover(&project.root, &settings, &matcher)
}

/// What is known of a file with this stamp, and whether the record is news.
fn known(stamp: Option<Stamp>, stored: Option<&FileRecord>, paranoid: bool) -> (FileRecord, bool) {
    let Some(stamp) = stamp else {
        let file = FileRecord {
            stamp: None,
            status: FileStatus::Failed(ReadFailure::NotAFile),
            sha256: None,
        };
        return (file.clone(), stored != Some(&file));
    };
    match stored {
        Some(stored) if !paranoid && stored.stamp == Some(stamp) => (stored.clone(), false),
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
fn is_unknown(file: &FileRecord) -> bool {
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
fn keep_sha(record: FileRecord, before: &FileRecord) -> FileRecord {
    if record.status == before.status {
        FileRecord {
            sha256: record.sha256.or(before.sha256),
            ..record
        }
    } else {
        record
    }
}

/// Recipes, shared by the sources of a collection that are read alike.
#[derive(Default)]
struct Recipes {
    known: HashMap<(usize, String), (Arc<Recipe>, Fingerprint)>,
}

impl Recipes {
    fn get(
        &mut self,
        project: &Project,
        collection: usize,
        path: &str,
    ) -> (Option<Arc<Recipe>>, Fingerprint) {
        let none = || (None, Fingerprint::combine("kbc recipe none", []));
        let Some(settings) = project.settings.collections.get(collection) else {
            return none();
        };
        let own = project.settings.sources.contains_key(path);
        let extension = path
            .rsplit('/')
            .next()
            .and_then(|name| name.rsplit_once('.'));
        let extension = extension
            .map_or("", |(_, extension)| extension)
            .to_ascii_lowercase();
        // A registry's recipe holds its name, and a source with settings of its own is its own kind.
        let alone = own || matches!(extension.as_str(), "csv" | "tsv" | "tab");
        let key = (
            collection,
            if alone { format!("/{path}") } else { extension },
        );
        if let Some((recipe, fingerprint)) = self.known.get(&key) {
            return (Some(recipe.clone()), *fingerprint);
        }
        let Some(recipe) = project.recipe(settings, path) else {
            return none();
        };
        let fingerprint = keys::recipe(&recipe);
        let recipe = Arc::new(recipe);
        self.known.insert(key, (recipe.clone(), fingerprint));
        (Some(recipe), fingerprint)
    }
}
