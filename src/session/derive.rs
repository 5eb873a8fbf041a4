//! Deriving what is stale, in parallel, and nothing else.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Instant;

use rayon::prelude::*;
use salsa::Setter;

use kbc_queries::Db;
use kbc_queries::check::card::{CardReport, card_report};
use kbc_queries::check::citation::{CitationReport, citation_report};
use kbc_queries::check::finding::Finding;
use kbc_queries::check::source::source_diagnostics;
use kbc_queries::chunk::parse_chunk_id;
use kbc_queries::derive;
use kbc_queries::diagnostic::Diagnostic;
use kbc_queries::input::{
    CardFile, Policy, SourceBinding, SourceFile, bind_reading, bind_source, set_card_status,
    set_source_status,
};
use kbc_queries::system::Fingerprint;
use kbc_queries::text::lines::LineIndex;

use crate::cache::entries::{CardEntry, CitationEntry, NameKey, Packed, SourceReport};
use crate::cache::{decode, encode};
use crate::workspace::context::Context;

use super::{CardState, Database, Pending, Session, SourceState, Touched, keys};

/// Variants of a card's verdict that one trace keeps.
const VARIANTS: usize = 3;

/// A card to be derived.
struct Job {
    path: Arc<str>,
    input: CardFile,
    own_key: Fingerprint,
    /// A verdict about the same card under other circumstances, to take over what still holds.
    base: Option<Arc<CardEntry>>,
    /// Whether the base's citations were authorised by another row of the matrix.
    reading_changed: bool,
}

/// A source whose report is stale.
struct SourceJob {
    path: Arc<str>,
    input: SourceFile,
    key: Fingerprint,
}

/// A citation's place in the card, and the names it mentions: the source, and the one that the
/// chunk id begins with if that is another.
type Mention = (usize, Option<NameKey>, Option<NameKey>);

/// What a job found out in its first pass.
struct Parsed {
    report: CardReport,
    /// Per citation.
    citations: Vec<Mention>,
    /// Citations that have to be checked.
    stale: Vec<u32>,
}

impl Session {
    pub(super) fn derive_once(&mut self, among: Option<&Touched>) -> Vec<Arc<str>> {
        let started = Instant::now();
        let policy = keys::policy(
            self.context.profile,
            self.context.matrix_usable(),
            &self.options,
        );
        let stale_cards = self.stale_cards(among.map(|touched| &touched.cards), policy);
        let stale_sources = self.stale_sources(among.map(|touched| &touched.sources));
        self.stats.phase("compare", started);
        if stale_cards.is_empty() && stale_sources.is_empty() {
            return Vec::new();
        }
        let started = Instant::now();
        self.bind();
        let jobs: Vec<Job> = stale_cards
            .into_iter()
            .filter_map(|(path, own_key, base, reading_changed)| {
                let input = self.cards.get(&path)?.input?;
                Some(Job {
                    path,
                    input,
                    own_key,
                    base,
                    reading_changed,
                })
            })
            .collect();
        let source_jobs: Vec<SourceJob> = stale_sources
            .into_iter()
            .filter_map(|(path, key)| {
                let input = self.sources.get(&path)?.input?;
                Some(SourceJob { path, input, key })
            })
            .collect();
        self.stats.phase("bind", started);

        let started = Instant::now();
        let parsed = self.parse_cards(&jobs);
        self.stats.phase("cards", started);

        let started = Instant::now();
        let reports = self.check_by_source(&jobs, &parsed, &source_jobs);
        self.stats.phase("check", started);

        let started = Instant::now();
        let entries = self.assemble(&jobs, &parsed);
        self.stats.phase("assemble", started);

        self.stats.sources_derived += reports.len() as u64;
        for (job, report) in source_jobs.iter().zip(reports) {
            self.keep_source(&job.path, report);
        }
        self.stats.cards_derived += jobs.len() as u64;
        let mut changed = Vec::with_capacity(jobs.len());
        for (job, entry) in jobs.iter().zip(entries) {
            self.keep_card(&job.path, Arc::new(entry));
            changed.push(job.path.clone());
        }
        changed
    }

    /// The cards without a valid entry, after asking the trace store.
    #[allow(
        clippy::type_complexity,
        reason = "a list of the parts of a job before it has an input"
    )]
    fn stale_cards(
        &mut self,
        among: Option<&BTreeSet<Arc<str>>>,
        policy: Fingerprint,
    ) -> Vec<(Arc<str>, Fingerprint, Option<Arc<CardEntry>>, bool)> {
        let paths: Vec<Arc<str>> = match (among, &self.options.only) {
            (Some(among), _) => among.iter().cloned().collect(),
            (None, Some(only)) => self
                .cards
                .keys()
                .filter(|path| only.contains(&***path))
                .cloned()
                .collect(),
            (None, None) => Vec::new(),
        };
        let mut stale = Vec::new();
        let mut hits = Vec::new();
        let has_traces = self
            .cache
            .as_ref()
            .is_some_and(crate::cache::Cache::has_traces);
        let mut reused = 0;
        let mut look = |path: &Arc<str>, state: &super::CardState| {
            let own_key = keys::card(path, state, policy);
            let last = state
                .entry
                .as_ref()
                .filter(|entry| entry.own_key == own_key);
            if let Some(entry) = last
                && self.still_holds(entry)
            {
                reused += entry.citations.len() as u64;
                return;
            }
            let mut base = last.cloned();
            if has_traces {
                let variants = self.variants(own_key);
                if let Some(hit) = variants.iter().find(|entry| self.still_holds(entry)) {
                    reused += hit.citations.len() as u64;
                    hits.push((path.clone(), hit.clone()));
                    return;
                }
                base = base.or_else(|| variants.into_iter().next());
            }
            let reading_changed = base.as_ref().is_some_and(|base| {
                self.circumstances().reading_key(base.reading.as_deref()) != base.reading_key
            });
            stale.push((path.clone(), own_key, base, reading_changed));
        };
        if among.is_some() || self.options.only.is_some() {
            for path in &paths {
                if let Some(state) = self.cards.get(path) {
                    look(path, state);
                }
            }
        } else {
            for (path, state) in &self.cards {
                look(path, state);
            }
        }
        self.stats.citations_reused += reused;
        for (path, hit) in hits {
            self.stats.trace_hits += 1;
            self.replace_entry(&path, hit);
        }
        stale
    }

    /// What verdicts depend on besides their cards.
    fn circumstances(&self) -> Circumstances<'_> {
        Circumstances {
            bindings: &self.bindings,
            context: &self.context,
        }
    }

    fn still_holds(&self, entry: &CardEntry) -> bool {
        self.circumstances().still_hold_for(entry)
    }

    fn variants(&self, own_key: Fingerprint) -> Vec<Arc<CardEntry>> {
        self.cache
            .as_ref()
            .and_then(|cache| cache.trace(own_key))
            .and_then(|bytes| decode::<Vec<Arc<CardEntry>>>(&bytes))
            .unwrap_or_default()
            .into_iter()
            .filter(|entry| entry.own_key == own_key)
            .collect()
    }

    fn stale_sources(
        &mut self,
        among: Option<&BTreeSet<Arc<str>>>,
    ) -> Vec<(Arc<str>, Fingerprint)> {
        let mut stale = Vec::new();
        let mut hits = Vec::new();
        // A look at some cards says nothing about sources; their citations say what matters.
        if self.options.only.is_some() {
            return stale;
        }
        let has_traces = self
            .cache
            .as_ref()
            .is_some_and(crate::cache::Cache::has_traces);
        let mut look = |path: &Arc<str>, state: &SourceState| {
            if state.recipe.is_none() {
                return;
            }
            let key = keys::source(path, state);
            if state
                .report
                .as_ref()
                .is_some_and(|report| report.key == key)
            {
                return;
            }
            let stored = if has_traces {
                self.cache
                    .as_ref()
                    .and_then(|cache| cache.trace(key))
                    .and_then(|bytes| decode::<SourceReport>(&bytes))
                    .filter(|report| report.key == key)
            } else {
                None
            };
            match stored {
                Some(report) => hits.push((path.clone(), report)),
                None => stale.push((path.clone(), key)),
            }
        };
        match among {
            Some(among) => {
                for path in among {
                    if let Some(state) = self.sources.get(path) {
                        look(path, state);
                    }
                }
            }
            None => {
                for (path, state) in &self.sources {
                    look(path, state);
                }
            }
        }
        for (path, report) in hits {
            self.stats.trace_hits += 1;
            if let Some(state) = self.sources.get_mut(&path) {
                state.report = Some(Arc::new(report));
                state.dirty = true;
            }
        }
        stale
    }

    /// Makes the graph's inputs say what the session knows, touching only what differs.
    pub(super) fn bind(&mut self) {
        let pending = std::mem::take(&mut self.pending);
        let db = &mut self.db;
        let usable = self.context.matrix_usable();
        match Policy::try_get(db) {
            None => {
                Policy::new(db, self.context.profile, usable, self.options.fuzzy);
            }
            Some(policy) => {
                if policy.profile(db) != self.context.profile {
                    policy.set_profile(db).to(self.context.profile);
                }
                if policy.matrix_usable(db) != usable {
                    policy.set_matrix_usable(db).to(usable);
                }
            }
        }
        match pending {
            Pending::All => {
                for (path, state) in &mut self.sources {
                    bind_source_file(db, path, state);
                }
                for (path, state) in &mut self.cards {
                    bind_card_file(db, path, state);
                }
                let ids = self.names_to_bind();
                for id in ids {
                    self.bind_name(&id);
                }
                self.bind_readings();
            }
            Pending::Some { sources, cards } => {
                let mut ids = Vec::new();
                for path in sources {
                    if let Some(state) = self.sources.get_mut(&path) {
                        bind_source_file(db, &path, state);
                        ids.push(state.id.clone());
                    }
                }
                for path in cards {
                    if let Some(state) = self.cards.get_mut(&path) {
                        bind_card_file(db, &path, state);
                    }
                }
                for id in ids {
                    self.bind_name(&id);
                }
            }
        }
    }

    fn bind_name(&mut self, id: &Arc<str>) {
        let file = self
            .by_id
            .get(id)
            .and_then(|path| self.sources.get(path))
            .and_then(|state| state.input);
        let (recorded, retracted, chunks) = self.context.marks(id);
        let binding = SourceBinding {
            file,
            recorded,
            retracted,
            retracted_chunks: chunks,
        };
        let name = self.db.names().source(&self.db, id);
        bind_source(&mut self.db, name, binding);
    }

    fn bind_readings(&mut self) {
        let mut ids: BTreeSet<Arc<str>> = self.db.names().reading_ids().into_iter().collect();
        ids.extend(
            self.context
                .matrix
                .iter()
                .flat_map(|rows| rows.keys().cloned()),
        );
        for id in ids {
            let allowed = self.context.allowed(&id).cloned();
            let name = self.db.names().reading(&self.db, &id);
            bind_reading(&mut self.db, name, allowed);
        }
    }

    fn names_to_bind(&self) -> Vec<Arc<str>> {
        let mut ids: BTreeSet<Arc<str>> = self.by_id.keys().cloned().collect();
        ids.extend(self.context.marked_ids());
        // An id that lost its file, or its mark, must be told so too.
        ids.extend(self.db.names().source_ids());
        ids.into_iter().collect()
    }

    fn parse_cards(&self, jobs: &[Job]) -> Vec<Parsed> {
        let circumstances = self.circumstances();
        jobs.par_iter()
            .map_with(self.db.clone(), |db, job| {
                let db: &Database = db;
                let report = card_report(db, job.input).clone();
                let mut citations = Vec::new();
                if let Ok(card) = derive::card(db, job.input) {
                    for citation in &card.parsed.citations {
                        let source_id = citation.source_id.as_ref().map(|id| &*id.value);
                        let other = citation
                            .chunk_id
                            .as_ref()
                            .and_then(|id| parse_chunk_id(&id.value))
                            .map(|parts| parts.source_id)
                            .filter(|other| source_id != Some(*other))
                            .map(NameKey::of);
                        let source = source_id.map(NameKey::of);
                        citations.push((citation.span.start, source, other));
                    }
                }
                let stale = circumstances.stale_citations(job, &citations);
                Parsed {
                    report,
                    citations,
                    stale,
                }
            })
            .collect()
    }

    /// Checks stale citations grouped by the source they cite, so that a source's text is at hand
    /// once and then no more; and derives stale sources on the way.
    fn check_by_source(
        &mut self,
        jobs: &[Job],
        parsed: &[Parsed],
        source_jobs: &[SourceJob],
    ) -> Vec<SourceReport> {
        struct Group<'a> {
            source: Option<&'a SourceJob>,
            place: usize,
            citations: Vec<(CardFile, u32)>,
        }
        let mut groups: BTreeMap<&str, Group<'_>> = BTreeMap::new();
        for (place, job) in source_jobs.iter().enumerate() {
            groups.insert(
                &job.path,
                Group {
                    source: Some(job),
                    place,
                    citations: Vec::new(),
                },
            );
        }
        let mut checked = 0;
        let mut kept = 0;
        for (job, parsed) in jobs.iter().zip(parsed) {
            checked += parsed.stale.len() as u64;
            kept += (parsed.citations.len() - parsed.stale.len()) as u64;
            for &index in &parsed.stale {
                let path = parsed
                    .citations
                    .get(index as usize)
                    .and_then(|(_, source, _)| source.as_ref())
                    .and_then(|name| self.by_name.get(name))
                    .map_or("", |path| path);
                groups
                    .entry(path)
                    .or_insert_with(|| Group {
                        source: None,
                        place: usize::MAX,
                        citations: Vec::new(),
                    })
                    .citations
                    .push((job.input, index));
            }
        }
        let groups: Vec<Group<'_>> = groups.into_values().collect();
        let progress = self.options.progress.clone();
        if let Some(progress) = &progress {
            progress.begin("checking", groups.len() as u64);
        }
        let mut reports: Vec<(usize, SourceReport)> = groups
            .par_iter()
            .with_max_len(1)
            .map_with(self.db.clone(), |db, group| {
                let db: &Database = db;
                let report = group
                    .source
                    .map(|job| (group.place, source_report(db, job)));
                for (card, index) in &group.citations {
                    citation_report(db, *card, *index);
                }
                if let Some(progress) = &progress {
                    progress.advance();
                }
                report
            })
            .flatten()
            .collect();
        reports.sort_by_key(|(place, _)| *place);
        self.stats.citations_checked += checked;
        self.stats.citations_reused += kept;
        reports.into_iter().map(|(_, report)| report).collect()
    }

    fn assemble(&self, jobs: &[Job], parsed: &[Parsed]) -> Vec<CardEntry> {
        let circumstances = self.circumstances();
        jobs.par_iter()
            .zip(parsed)
            .map_with(self.db.clone(), |db, (job, parsed)| {
                circumstances.assemble_one(db, job, parsed)
            })
            .collect()
    }

    fn keep_source(&mut self, path: &Arc<str>, report: SourceReport) {
        if let Some(bytes) = encode(&report) {
            self.traces.push((report.key, bytes));
        }
        if let Some(state) = self.sources.get_mut(path) {
            state.report = Some(Arc::new(report));
            state.dirty = true;
        }
    }

    fn keep_card(&mut self, path: &Arc<str>, entry: Arc<CardEntry>) {
        if self.cache.is_some() {
            let mut variants = vec![entry.clone()];
            variants.extend(
                self.variants(entry.own_key)
                    .into_iter()
                    .filter(|other| other.key != entry.key),
            );
            variants.truncate(VARIANTS);
            if let Some(bytes) = encode(&variants) {
                self.traces.push((entry.own_key, bytes));
            }
        }
        self.replace_entry(path, entry);
    }
}

fn bind_source_file(db: &mut Database, path: &Arc<str>, state: &mut SourceState) {
    let Some(recipe) = &state.recipe else { return };
    let Some(input) = state.input else {
        state.input = Some(
            SourceFile::builder(
                path.clone(),
                state.file.status.clone(),
                recipe.clone(),
                state.title.clone(),
            )
            .path_durability(salsa::Durability::NEVER_CHANGE)
            .new(db),
        );
        return;
    };
    set_source_status(db, input, state.file.status.clone());
    if input.recipe(db) != recipe {
        input.set_recipe(db).to(recipe.clone());
    }
    if *input.title(db) != state.title {
        input.set_title(db).to(state.title.clone());
    }
}

fn bind_card_file(db: &mut Database, path: &Arc<str>, state: &mut CardState) {
    let Some(input) = state.input else {
        state.input = Some(
            CardFile::builder(
                path.clone(),
                state.file.status.clone(),
                state.folder_reading.clone(),
            )
            .path_durability(salsa::Durability::NEVER_CHANGE)
            .new(db),
        );
        return;
    };
    set_card_status(db, input, state.file.status.clone());
    if *input.folder_reading(db) != state.folder_reading {
        input
            .set_folder_reading(db)
            .to(state.folder_reading.clone());
    }
}

/// What verdicts depend on besides their cards: where names lead, and the matrix.
struct Circumstances<'a> {
    bindings: &'a std::collections::HashMap<NameKey, Fingerprint>,
    context: &'a Context,
}

impl Circumstances<'_> {
    fn reading_key(&self, reading: Option<&str>) -> Fingerprint {
        keys::reading(reading, self.context)
    }

    fn binding(&self, name: NameKey) -> Fingerprint {
        self.bindings.get(&name).copied().unwrap_or(keys::UNBOUND)
    }

    fn citation_key(&self, source: Option<NameKey>, other: Option<NameKey>) -> Fingerprint {
        keys::citation(
            source.map_or(keys::UNBOUND, |name| self.binding(name)),
            other.map(|name| self.binding(name)),
        )
    }

    /// Whether everything the entry depends on, besides the card itself, is as it was.
    fn still_hold_for(&self, entry: &CardEntry) -> bool {
        entry
            .citations
            .iter()
            .all(|citation| self.citation_key(citation.source, citation.other) == citation.binding)
            && self.reading_key(entry.reading.as_deref()) == entry.reading_key
    }

    fn stale_citations(&self, job: &Job, citations: &[Mention]) -> Vec<u32> {
        (0u32..)
            .zip(citations)
            .filter(|(index, (_, source, other))| {
                let Some(base) = &job.base else { return true };
                let known = base.citations.get(*index as usize);
                job.reading_changed
                    || known.is_none_or(|known| known.binding != self.citation_key(*source, *other))
            })
            .map(|(index, _)| index)
            .collect()
    }

    fn assemble_one(&self, db: &Database, job: &Job, parsed: &Parsed) -> CardEntry {
        let mut citations = Vec::with_capacity(parsed.citations.len());
        let fresh: Vec<Option<&CitationReport>> = (0u32..)
            .zip(&parsed.citations)
            .map(|(index, _)| {
                if parsed.stale.binary_search(&index).is_ok() {
                    citation_report(db, job.input, index).as_ref()
                } else {
                    None
                }
            })
            .collect();
        let speaks = !parsed.report.findings.is_empty()
            || fresh
                .iter()
                .flatten()
                .any(|report| !report.findings.is_empty());
        // Line numbers need the text; a card with nothing to say is not read for it.
        let text = if speaks {
            derive::card_text(db, job.input).ok()
        } else {
            None
        };
        let text = text.as_deref().unwrap_or_default();
        let lines = LineIndex::new(text);
        let place = |findings: &[Finding], base: usize| -> Vec<Diagnostic> {
            findings
                .iter()
                .map(|finding| finding.clone().place(&job.path, base, &lines, text))
                .collect()
        };
        for (index, ((start, source, other), report)) in
            parsed.citations.iter().zip(&fresh).enumerate()
        {
            let binding = self.citation_key(*source, *other);
            let kept = job.base.as_ref().and_then(|base| base.citations.get(index));
            citations.push(match (report, kept) {
                (Some(report), _) => CitationEntry {
                    source: *source,
                    other: *other,
                    binding,
                    outcome: report.outcome,
                    diagnostics: place(&report.findings, *start),
                },
                (None, Some(kept)) => kept.clone(),
                // No report and nothing kept: fail closed.
                (None, None) => CitationEntry {
                    source: *source,
                    other: *other,
                    binding,
                    outcome: kbc_queries::check::Outcome::Failed,
                    diagnostics: Vec::new(),
                },
            });
        }
        let report = &parsed.report;
        let reading_key = self.reading_key(report.reading.as_deref());
        CardEntry {
            key: keys::entry(
                job.own_key,
                reading_key,
                citations.iter().map(|citation| citation.binding),
            ),
            own_key: job.own_key,
            reading_key,
            reading: report.reading.clone(),
            id: report.id.clone(),
            edges: report.edges.clone(),
            summary: report.summary.as_ref().and_then(Packed::pack),
            diagnostics: place(&report.findings, 0),
            citations,
        }
    }
}

fn source_report(db: &Database, job: &SourceJob) -> SourceReport {
    let derivation = derive::source(db, job.input);
    let (page_count, chunk_count) = match derivation {
        Ok(derivation) => (
            derivation.page_count,
            u32::try_from(derivation.chunks.list.len()).unwrap_or(u32::MAX),
        ),
        Err(_) => (0, 0),
    };
    SourceReport {
        key: job.key,
        diagnostics: source_diagnostics(&job.path, derivation),
        failed: derivation.is_err(),
        page_count,
        chunk_count,
    }
}
