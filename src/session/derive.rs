//! Deriving what is stale, in parallel, and nothing else.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use rayon::prelude::*;

use kbc_queries::check::card::{CardReport, card_report};
use kbc_queries::check::citation::{CitationReport, citation_report};
use kbc_queries::check::finding::Finding;
use kbc_queries::check::source::source_diagnostics;
use kbc_queries::chunk::parse_chunk_id;
use kbc_queries::derive;
use kbc_queries::diagnostic::Diagnostic;
use kbc_queries::input::{CardFile, SourceFile};
use kbc_queries::system::Fingerprint;
use kbc_queries::text::lines::LineIndex;

use crate::cache::entries::{
    CardDetails, CardEntry, CitationEntry, Counts, NameKey, Packed, SourceReport,
};
use crate::cache::{Trace, encode};

use super::stale::Circumstances;
use super::{Database, Given, Session, Touched, keys};

/// Variants of a card's verdict that one trace keeps.
const VARIANTS: usize = 3;

/// A card to be derived.
struct Job {
    path: Arc<str>,
    input: CardFile,
    own_key: Fingerprint,
    /// A verdict about the same card under other circumstances, to take over what still holds.
    base: Option<CardDetails>,
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
        if self.given == Given::Known {
            return Vec::new();
        }
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
            .filter_map(|(path, own_key, base)| {
                let input = self.cards.get(&path)?.input?;
                Some(Job {
                    path,
                    input,
                    own_key,
                    base,
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
        // What is left of the cards in the graph are their citations and reports.
        salsa::Database::trigger_lru_eviction(&mut self.db);
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
                let stale =
                    circumstances.stale_citations(job, report.reading.as_deref(), &citations);
                for index in &stale {
                    // Asked for now, while the parsed card is at hand.
                    derive::citation(db, job.input, *index);
                }
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
        if !self.has_given_chunks()
            && let Some(bytes) = encode(&report)
        {
            self.traces.push((report.key, Trace::Bytes(bytes)));
        }
        if let Some(state) = self.sources.get_mut(path) {
            state.report = Some(Arc::new(report));
            state.dirty = true;
        }
    }

    fn keep_card(&mut self, path: &Arc<str>, entry: Arc<CardEntry>) {
        if self.has_given_chunks() {
            self.keep_given(path, &entry);
        } else if self.cache.is_some() {
            let mut variants = vec![entry.clone()];
            variants.extend(
                self.variants(entry.own_key)
                    .into_iter()
                    .filter(|other| other.seal != entry.seal),
            );
            variants.truncate(VARIANTS);
            self.traces.push((entry.own_key, Trace::Cards(variants)));
        }
        self.replace_entry(path, entry);
    }
}

impl Circumstances<'_> {
    fn stale_citations(&self, job: &Job, reading: Option<&str>, citations: &[Mention]) -> Vec<u32> {
        let reading_key = self.reading_key(reading);
        (0u32..)
            .zip(citations)
            .filter(|(index, (_, source, other))| {
                let Some(base) = &job.base else { return true };
                let known = base.citations.get(*index as usize);
                reading_key != base.reading_key
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
        let mut counts = Counts::default();
        for (index, ((start, source, other), report)) in
            parsed.citations.iter().zip(&fresh).enumerate()
        {
            let binding = self.citation_key(*source, *other);
            let kept = job.base.as_ref().and_then(|base| base.citations.get(index));
            let entry = match (report, kept) {
                (Some(report), _) => CitationEntry {
                    binding,
                    outcome: report.outcome,
                    diagnostics: place(&report.findings, *start),
                },
                (None, Some(kept)) => kept.clone(),
                // No report and nothing kept: fail closed.
                (None, None) => CitationEntry {
                    binding,
                    outcome: kbc_queries::check::Outcome::Failed,
                    diagnostics: Vec::new(),
                },
            };
            counts.add(entry.outcome);
            citations.push(entry);
        }
        let report = &parsed.report;
        let reading = report.reading.as_deref();
        let names: Vec<_> = (parsed.citations.iter())
            .map(|(_, source, other)| (*source, *other))
            .collect();
        let diagnostics = place(&report.findings, 0);
        let speaks =
            !diagnostics.is_empty() || citations.iter().any(|entry| !entry.diagnostics.is_empty());
        CardEntry {
            own_key: job.own_key,
            seal: self.seal(reading, &names),
            reading: report.reading.clone(),
            names,
            id: report.id.clone(),
            edges: report.edges.clone(),
            counts,
            speaks,
            details: Packed::pack(&CardDetails {
                reading_key: self.reading_key(reading),
                diagnostics,
                citations,
                stored_hash: report.stored_hash.clone(),
                summary: report.summary.clone(),
            }),
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
        diagnostics: source_diagnostics(db, job.input, derivation),
        failed: derivation.is_err(),
        page_count,
        chunk_count,
    }
}
