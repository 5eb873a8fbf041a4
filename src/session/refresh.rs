//! Finding out what is on disk, reading as little of it as possible.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use kbc_queries::CARD_LIMIT;
use kbc_queries::diagnostic::{Diagnostic, registry};
use kbc_queries::parse::settings::parse_sidecar;
use kbc_queries::system::System;

use crate::cache::entries::ByName;
use crate::cache::{Table, bucket_of};
use crate::workspace::context::Context;
use crate::workspace::discover::{Discovery, Matcher, Role, discover, glob};
use crate::workspace::disk::Disk;
use crate::workspace::{Project, place_problems};

use super::given;
use super::hashing::known;
use super::recipes::Recipes;
use super::store::{self, LastState};
use super::{
    CardState, Database, Given, Options, OtherState, Pending, Session, SourceState, Stats,
};

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
        let without_state = options.chunks_manifest.is_some();
        let given = given::cache_folder(&project, &options);
        let disk = Arc::new(Disk::new(&project.root, options.reader.clone()));
        // Neither of the two needs the other, and both mostly wait for the system. The state is
        // read on this thread: what it allocates lives as long as the run.
        let ((cache, last, cache_notice), discovery) = std::thread::scope(|scope| {
            let walking = scope.spawn(|| walk(&project, &options, &disk));
            let cache = if options.no_cache {
                (None, LastState::default(), None)
            } else if let Some(folder) = &given {
                (store::open_traces(folder), LastState::default(), None)
            } else if without_state {
                (None, LastState::default(), None)
            } else {
                store::open(&project.root)
            };
            let discovery = match walking.join() {
                Ok(discovery) => discovery,
                Err(panic) => std::panic::resume_unwind(panic),
            };
            (cache, discovery)
        });
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
            bindings: ByName::default(),
            by_id: HashMap::new(),
            lost_sources: false,
            citing: None,
            by_name: ByName::default(),
            traces: Vec::new(),
            values: Vec::new(),
            lost: BTreeSet::new(),
            routers: Vec::new(),
            discovered: Vec::new(),
            cache_notice,
            incomplete: false,
            pending: Pending::All,
            given: Given::None,
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
        self.look_at_given();
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
        self.routers = std::mem::take(&mut discovery.routers);
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
        let limit = self.project.settings.limits.bytes;
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
                    let (file, dirty) = known(
                        found.stamp,
                        stored.as_ref().map(|s| &s.file),
                        paranoid,
                        limit,
                    );
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
                    let (file, dirty) = known(
                        found.stamp,
                        stored.as_ref().map(|s| &s.file),
                        paranoid,
                        CARD_LIMIT,
                    );
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

    /// Which table's bucket a path is in, for tests of the store.
    pub fn bucket(table: Table, path: &str) -> (Table, u32) {
        (table, bucket_of(path))
    }
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
