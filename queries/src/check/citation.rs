//! Layers 1 and 2 for one citation: shape, presence, source, hash, pages, authorisation,
//! retraction, and whether the quote stands there.
//!
//! All problems are collected, in the contract's order, so that a door that shows only the first
//! shows the one the contract would.

use std::ops::Range;
use std::sync::Arc;

use crate::Db;
use crate::check::Outcome;
use crate::check::card::from_problem;
use crate::check::finding::Finding;
use crate::check::passage::SourceText;
use crate::check::permission::{authorisation, retraction};
use crate::check::pin;
use crate::check::quote::{Standing, check_standing, pin_fix, relocation_fix};
use crate::derive::{self, CitedChunk, SourceFailure};
use crate::diagnostic::{Severity, registry};
use crate::documents::LoadError;
use crate::input::{CardFile, SourceFile, matrix_usable};
use crate::parse::card::{self, Citation, PinPlace, ScalarStyle};
use crate::resolve::{Resolution, resolve};
use crate::text::quote::Quote;

/// Everything that was established about one citation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CitationReport {
    /// The verdict that the ledger counts.
    pub outcome: Outcome,
    /// The source it names, if it names one.
    pub source_id: Option<Arc<str>>,
    /// The chunk it names, if it names one.
    pub chunk_id: Option<Arc<str>>,
    /// What is wrong or noteworthy; ranges are relative to the citation.
    pub findings: Vec<Finding>,
}

/// The citation's fields, once all of them are there.
pub(crate) struct Fields<'a> {
    pub(crate) index: u32,
    pub(crate) source_id: &'a str,
    pub(crate) chunk_id: &'a str,
    pub(crate) chunk_hash: &'a str,
    pub(crate) pages: [u64; 2],
    pub(crate) quote: Quote<'a>,
    /// How the quote is written in the card.
    pub(crate) style: ScalarStyle,
    pub(crate) at: Places,
}

/// Where the fields stand, relative to the citation.
#[derive(Clone)]
pub(crate) struct Places {
    pub(crate) source_id: Range<usize>,
    pub(crate) chunk_id: Range<usize>,
    pub(crate) chunk_hash: Range<usize>,
    pub(crate) pages: Range<usize>,
    pub(crate) quote: Range<usize>,
}

/// Checks one citation of a card. `None`: the card has no such citation.
#[salsa::tracked(returns(ref))]
pub fn citation_report(db: &dyn Db, file: CardFile, index: u32) -> Option<CitationReport> {
    let citation = derive::citation(db, file, index).as_ref()?;
    Some(check(db, file, index, citation))
}

fn check(db: &dyn Db, file: CardFile, index: u32, citation: &Citation) -> CitationReport {
    let mut report = CitationReport {
        outcome: Outcome::Failed,
        source_id: citation.source_id.as_ref().map(|id| (*id.value).into()),
        chunk_id: citation.chunk_id.as_ref().map(|id| (*id.value).into()),
        findings: Vec::new(),
    };
    // The parser has already said what is wrong with a citation that lacks a field.
    let Some(fields) = fields(index, citation) else {
        if let Some(place) = &citation.unpinned {
            report.outcome = unpinned(db, file, index, citation, place, &mut report.findings);
        }
        return report;
    };
    let before = report.findings.len();
    report.findings.extend(shape(citation));
    if report.findings.len() > before {
        // A name of the wrong shape, or a placeholder's hash, leads nowhere.
        report.findings.extend(authorisation(db, file, &fields));
        return report;
    }

    let retracted = retraction(db, &fields);
    let is_retracted = !retracted.is_empty();
    report.findings.extend(retracted);
    let standing = if is_retracted {
        Standing::NotChecked
    } else {
        presence(db, &fields, &mut report.findings)
    };
    // Authorisation comes before the quote in the contract, but needs nothing of the source.
    let auth = authorisation(db, file, &fields);
    let quote_at = report
        .findings
        .iter()
        .position(is_layer_two)
        .unwrap_or(report.findings.len());
    report.findings.splice(quote_at..quote_at, auth);

    let failed = report
        .findings
        .iter()
        .any(|finding| finding.severity == Severity::Error);
    report.outcome = match standing {
        // Without a matrix nothing says that the reading may use the source.
        Standing::Verified(_) if !failed && !matrix_usable(db) => Outcome::Unverifiable,
        Standing::Verified(class) if !failed && citation.sound => Outcome::Verified(class),
        Standing::Unverifiable => Outcome::Unverifiable,
        _ => Outcome::Failed,
    };
    report
}

fn is_layer_two(finding: &Finding) -> bool {
    let code = finding.code.as_str();
    code.starts_with("CACG-VERIFY-") || code.starts_with("CACG-QUOTE-")
}

fn fields(index: u32, citation: &Citation) -> Option<Fields<'_>> {
    let source_id = citation.source_id.as_ref()?;
    let chunk_id = citation.chunk_id.as_ref()?;
    let chunk_hash = citation.chunk_hash.as_ref()?;
    let pages = citation.page_range.as_ref()?;
    let quote = citation.quote.as_ref()?;
    Some(Fields {
        index,
        source_id: &source_id.value,
        chunk_id: &chunk_id.value,
        chunk_hash: &chunk_hash.value,
        pages: [pages.value.start, pages.value.end],
        quote: quote_of(citation)?,
        style: citation.quote_style,
        at: Places {
            source_id: source_id.span.clone(),
            chunk_id: chunk_id.span.clone(),
            chunk_hash: chunk_hash.span.clone(),
            pages: pages.span.clone(),
            quote: quote.span.clone(),
        },
    })
}

/// The quoted words with what stands beside them.
pub(crate) fn quote_of(citation: &Citation) -> Option<Quote<'_>> {
    Some(Quote {
        text: &citation.quote.as_ref()?.value,
        prefix: citation.prefix.as_ref().map(|text| &*text.value),
        suffix: citation.suffix.as_ref().map(|text| &*text.value),
    })
}

/// A citation that names its source and quote only. Its outcome is never a verified one.
fn unpinned(
    db: &dyn Db,
    file: CardFile,
    index: u32,
    citation: &Citation,
    place: &Option<PinPlace>,
    findings: &mut Vec<Finding>,
) -> Outcome {
    let (Some(source_id), Some(quote), Some(at)) = (
        &citation.source_id,
        quote_of(citation),
        citation.quote.as_ref().map(|quote| quote.span.clone()),
    ) else {
        return Outcome::Failed;
    };
    // What is asked about the source alone needs no more than its name.
    let nowhere = source_id.span.clone();
    let fields = Fields {
        index,
        source_id: &source_id.value,
        chunk_id: "",
        chunk_hash: "",
        pages: [1, u64::MAX],
        quote,
        style: citation.quote_style,
        at: Places {
            source_id: source_id.span.clone(),
            chunk_id: nowhere.clone(),
            chunk_hash: nowhere.clone(),
            pages: nowhere,
            quote: at,
        },
    };
    let retracted = retraction(db, &fields);
    if !retracted.is_empty() {
        findings.extend(retracted);
        return Outcome::Failed;
    }
    findings.extend(authorisation(db, file, &fields));
    let name = db.names().source(db, fields.source_id);
    let (finding, outcome) = match resolve(db, fields.source_id, "") {
        Resolution::UnknownSource => (unknown_source(db, &fields), Outcome::Failed),
        Resolution::LostSource => (lost_source(&fields), Outcome::Unverifiable),
        Resolution::Broken { file, failure } => (
            broken_source(db, &fields, file, failure),
            Outcome::Unverifiable,
        ),
        Resolution::NoSuchChunk { file } | Resolution::Chunk { file, .. } => (
            pin::unpinned(db, file, &fields, place.as_ref(), name.retracted_chunks(db)),
            Outcome::Failed,
        ),
    };
    findings.push(finding);
    outcome
}

fn shape(citation: &Citation) -> Option<Finding> {
    let problem = card::citation_shape_problem(citation)?;
    Some(from_problem(&problem))
}

/// Presence, source, hash, pages, then the quote.
fn presence(db: &dyn Db, fields: &Fields<'_>, findings: &mut Vec<Finding>) -> Standing {
    match resolve(db, fields.source_id, fields.chunk_id) {
        Resolution::UnknownSource => {
            findings.push(unknown_source(db, fields));
            Standing::Failed
        }
        Resolution::LostSource => {
            findings.push(lost_source(fields));
            Standing::Unverifiable
        }
        Resolution::Broken { file, failure } => {
            findings.push(broken_source(db, fields, file, failure));
            Standing::Unverifiable
        }
        Resolution::NoSuchChunk { file } => no_such_chunk(db, fields, file, findings),
        Resolution::Chunk { file, chunk } => cited_chunk(db, fields, file, chunk, findings),
    }
}

fn lost_source(fields: &Fields<'_>) -> Finding {
    unverifiable(
        fields,
        format!("the file of the source `{}` is missing", fields.source_id),
        "bring the file back; if it was renamed, build once so that its new place is recorded",
    )
}

fn broken_source(
    db: &dyn Db,
    fields: &Fields<'_>,
    file: SourceFile,
    failure: &SourceFailure,
) -> Finding {
    unverifiable(
        fields,
        format!(
            "the source `{}` ({}) gives no text: {}",
            fields.source_id,
            file.path(db),
            failure_reason(failure)
        ),
        "repair or replace the source file",
    )
}

fn unknown_source(db: &dyn Db, fields: &Fields<'_>) -> Finding {
    // The chunk id may still lead somewhere: then the two fields disagree.
    let other = fields.chunk_id.split(':').next().unwrap_or_default();
    if other != fields.source_id
        && let Some(finding) = wrong_source(db, fields, other)
    {
        return finding;
    }
    Finding::new(
        registry::CITE_004,
        fields.at.source_id.clone(),
        format!("no source has the id `{}`", fields.source_id),
    )
    .contract(format!(
        "citations[{}]: chunk_id {} is not in the chunks manifest",
        fields.index, fields.chunk_id
    ))
    .label("unknown source")
    .help("`kb root` lists the sources and their ids")
}

fn wrong_source(db: &dyn Db, fields: &Fields<'_>, other: &str) -> Option<Finding> {
    match resolve(db, other, fields.chunk_id) {
        Resolution::Chunk { .. } => Some(
            Finding::new(
                registry::CITE_006,
                fields.at.source_id.clone(),
                format!(
                    "the chunk `{}` belongs to the source `{other}`, not to `{}`",
                    fields.chunk_id, fields.source_id
                ),
            )
            .contract(format!(
                "citations[{}]: source_id {} does not match chunk source {other}",
                fields.index, fields.source_id
            ))
            .label(format!("the chunk is of `{other}`"))
            .help("make `source_id` and `chunk_id` name the same source"),
        ),
        _ => None,
    }
}

fn no_such_chunk(
    db: &dyn Db,
    fields: &Fields<'_>,
    file: SourceFile,
    findings: &mut Vec<Finding>,
) -> Standing {
    let other = fields.chunk_id.split(':').next().unwrap_or_default();
    if other != fields.source_id
        && let Some(finding) = wrong_source(db, fields, other)
    {
        findings.push(finding);
        return Standing::Failed;
    }
    let finding = Finding::new(
        registry::CITE_004,
        fields.at.chunk_id.clone(),
        format!(
            "the source `{}` has no chunk `{}`",
            fields.source_id, fields.chunk_id
        ),
    )
    .contract(format!(
        "citations[{}]: chunk_id {} is not in the chunks manifest",
        fields.index, fields.chunk_id
    ))
    .label("no such chunk");
    // Where else the quote stands, and in which line, is a fact about the whole file.
    derive::depend_on_file(db, file);
    let elsewhere = match derive::source(db, file) {
        Ok(_) => SourceText::load(db, file)
            .ok()
            .and_then(|text| relocation_fix(db, fields, &text)),
        Err(_) => None,
    };
    findings.push(match elsewhere {
        Some(found) => finding
            .related(found.related)
            .fix(Some(found.fix))
            .help("the quote stands elsewhere in the source; `kb fix` points the citation there")
            .data("state", "relocated"),
        None => finding
            .help("cite a chunk that `kb root` or the chunks manifest lists")
            .data("state", "orphaned"),
    });
    Standing::Failed
}

fn cited_chunk(
    db: &dyn Db,
    fields: &Fields<'_>,
    file: SourceFile,
    chunk: &CitedChunk,
    findings: &mut Vec<Finding>,
) -> Standing {
    let hash = chunk.hash.to_string();
    let text = match SourceText::of_chunk(db, file, chunk) {
        Ok(text) => text,
        Err(error) => {
            findings.push(unverifiable(
                fields,
                format!(
                    "the source `{}` ({}) gives no text: {}",
                    fields.source_id,
                    file.path(db),
                    load_reason(&error)
                ),
                "run again; if it goes on, repair the source file",
            ));
            return Standing::Unverifiable;
        }
    };
    let changed = hash != fields.chunk_hash;
    if let Some(broken) = manifest_integrity(&text, fields, chunk) {
        if changed {
            // Before the text is looked at, and nothing is said of a text that cannot be trusted.
            findings.push(other_hash(fields));
        }
        findings.push(broken);
        return Standing::Failed;
    }
    if let Some(finding) = pages(&text, fields, chunk) {
        if changed {
            findings.push(crate::check::quote::changed(
                db, file, fields, &text, chunk, &hash,
            ));
        }
        findings.push(finding);
        return Standing::Failed;
    }
    if changed {
        findings.push(crate::check::quote::changed(
            db, file, fields, &text, chunk, &hash,
        ));
        return Standing::Failed;
    }
    check_standing(db, file, fields, &text, chunk, findings)
}

fn other_hash(fields: &Fields<'_>) -> Finding {
    Finding::new(
        registry::HASH_001,
        fields.at.chunk_hash.clone(),
        format!("the manifest has another hash for `{}`", fields.chunk_id),
    )
    .contract(format!(
        "citations[{}]: chunk_hash does not match manifest for {}",
        fields.index, fields.chunk_id
    ))
    .label("not the hash in the manifest")
}

/// A manifest's chunk must hash to what the manifest says. Derived chunks do by construction.
fn manifest_integrity(
    text: &SourceText,
    fields: &Fields<'_>,
    chunk: &CitedChunk,
) -> Option<Finding> {
    if text.document().is_some() {
        return None;
    }
    let record = text.chunk(chunk.index)?;
    let recomputed = crate::commit::hash::chunk_hash(
        text.chunk_text(chunk.index),
        record.start_page,
        record.end_page,
        &record.page_spans,
    );
    if recomputed == chunk.hash {
        return None;
    }
    Some(
        Finding::new(
            registry::HASH_003,
            fields.at.chunk_id.clone(),
            format!(
                "the manifest's chunk `{}` does not hash to its stored value: the manifest was altered",
                fields.chunk_id
            ),
        )
        .contract(format!(
            "citations[{}]: manifest chunk {} does not hash to its stored chunk_hash",
            fields.index, fields.chunk_id
        ))
        .label("this chunk cannot be trusted")
        .help("rebuild the chunks manifest from its sources"),
    )
}

fn pages(text: &SourceText, fields: &Fields<'_>, chunk: &CitedChunk) -> Option<Finding> {
    let [start, end] = fields.pages;
    let record = text.chunk(chunk.index)?;
    let on_page = record
        .page_spans
        .iter()
        .any(|span| (start..=end).contains(&u64::from(span.page)));
    if on_page {
        return None;
    }
    let own: Vec<String> = record
        .page_spans
        .iter()
        .map(|span| span.page.to_string())
        .collect();
    let contract = format!(
        "citations[{}]: page_range [{start}, {end}] is disjoint from chunk pages [{}]",
        fields.index,
        own.join(", ")
    );
    Some(
        Finding::new(
            registry::CITE_005,
            fields.at.pages.clone(),
            format!(
                "page_range [{start}, {end}] shares no page with the cited chunk, which is on {}",
                page_words(chunk.start_page, chunk.end_page)
            ),
        )
        .contract(contract)
        .label(format!(
            "the chunk is on {}",
            page_words(chunk.start_page, chunk.end_page)
        ))
        .fix(Some(pin_fix(
            "set the pages of the chunk",
            vec![(
                fields.at.pages.clone(),
                format!("[{}, {}]", chunk.start_page, chunk.end_page),
            )],
        )))
        .help("give the pages that the quote stands on"),
    )
}

pub(crate) fn page_words(start: u32, end: u32) -> String {
    if start == end {
        format!("page {start}")
    } else {
        format!("pages {start} to {end}")
    }
}

pub(crate) fn unverifiable(fields: &Fields<'_>, reason: String, help: &'static str) -> Finding {
    Finding::new(
        registry::VERIFY_005,
        fields.at.source_id.clone(),
        format!("the citation cannot be verified: {reason}"),
    )
    .contract(format!(
        "citations[{}]: unverifiable: {reason}",
        fields.index
    ))
    .label("not verified")
    .help(help)
}

/// Why a source gives no chunks, in words.
pub fn failure_reason(failure: &SourceFailure) -> String {
    match failure {
        SourceFailure::Load(error) => load_reason(error),
        SourceFailure::Chunk(error) => error.to_string(),
    }
}

/// Why a document could not be had, in words.
pub fn load_reason(error: &LoadError) -> String {
    match error {
        LoadError::Read(failure) => failure.to_string(),
        LoadError::Extract(error) => error.to_string(),
    }
}
