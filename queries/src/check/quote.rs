//! The quote of a citation against the text it cites, and what became of it when the text changed.

use std::ops::Range;

use crate::Db;
use crate::check::citation::{Fields, page_words, unverifiable};
use crate::check::finding::{Finding, RelativeEdit, RelativeFix};
use crate::check::passage::SourceText;
use crate::check::rewrite;
use crate::chunk::chunk_id;
use crate::derive::{self, CitedChunk};
use crate::diagnostic::{Applicability, Related, Severity, registry};
use crate::input::{Profile, SourceFile, accepts_fuzzy, profile};
use crate::text::quote::{
    Flag, MatchClass, Options, Quote, Verdict, check_quote, find_all_exact_or_normalized,
};
use crate::text::veil::Veil;

/// How a citation's quote stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It stands in the cited chunk.
    Verified(MatchClass),
    /// It does not, or not in a way that counts.
    Failed,
    /// It could not be told.
    Unverifiable,
    /// Something before made looking pointless.
    NotChecked,
}

/// Another place in the source where the quote stands.
pub(crate) struct Elsewhere {
    pub(crate) related: Option<Related>,
    pub(crate) fix: RelativeFix,
    pub(crate) chunk_id: String,
}

/// A fix that replaces values of the citation.
pub(crate) fn pin_fix(title: &str, edits: Vec<(Range<usize>, String)>) -> RelativeFix {
    RelativeFix {
        title: title.to_owned(),
        applicability: Applicability::Safe,
        edits: edits
            .into_iter()
            .map(|(range, text)| RelativeEdit { range, text })
            .collect(),
    }
}

pub(crate) fn options(db: &dyn Db) -> Options {
    Options {
        profile: profile(db).into(),
        fuzzy: accepts_fuzzy(db),
    }
}

/// Looks for a quote in a chunk, on these pages.
pub(crate) fn look(
    db: &dyn Db,
    file: SourceFile,
    quote: &Quote<'_>,
    pages: [u64; 2],
    text: &SourceText,
    index: usize,
) -> Option<Verdict> {
    let window = text.window(index, pages)?;
    let passage = window.passage(file.title(db).as_deref());
    Some(check_quote(&passage, quote, options(db)))
}

/// Layer 2 for a citation whose chunk is the one that was cited.
pub(crate) fn check_standing(
    db: &dyn Db,
    file: SourceFile,
    fields: &Fields<'_>,
    text: &SourceText,
    chunk: &CitedChunk,
    findings: &mut Vec<Finding>,
) -> Standing {
    let Some(verdict) = look(db, file, &fields.quote, fields.pages, text, chunk.index) else {
        findings.push(unverifiable(
            fields,
            "the cited chunk has no text".to_owned(),
            "rebuild the chunks manifest from its sources",
        ));
        return Standing::Unverifiable;
    };
    match verdict.class() {
        MatchClass::Absent => {
            absent(db, file, fields, text, chunk, &verdict, findings);
            Standing::Failed
        }
        MatchClass::OutsidePages => {
            findings.push(outside_pages(db, file, fields, text, chunk, &verdict));
            Standing::Failed
        }
        class => {
            flags(fields, &verdict, findings);
            if counts(&verdict) {
                findings.extend(beyond_the_source(fields, text, chunk, verdict.crosses()));
                Standing::Verified(class)
            } else {
                Standing::Failed
            }
        }
    }
}

/// A page range that goes on after the source's last page says less than it seems to. What a manifest
/// gives may be a part of its source, whose last page nobody knows.
fn beyond_the_source(
    fields: &Fields<'_>,
    text: &SourceText,
    chunk: &CitedChunk,
    crosses: bool,
) -> Option<Finding> {
    let [start, end] = fields.pages;
    if text.document().is_none() || end <= u64::from(chunk.page_count) {
        return None;
    }
    let last = text
        .chunk(chunk.index + 1)
        .filter(|_| crosses)
        .map_or(chunk.end_page, |next| next.end_page);
    let pages = match chunk.page_count {
        1 => "1 page".to_owned(),
        count => format!("{count} pages"),
    };
    Some(
        Finding::new(
            registry::CITE_005,
            fields.at.pages.clone(),
            format!("page_range [{start}, {end}] goes beyond the source, which has {pages}"),
        )
        .severity(Severity::Warning)
        .label(format!(
            "the words are on {}",
            page_words(chunk.start_page, last)
        ))
        .fix(Some(pin_fix(
            "set the pages of the chunk",
            vec![(
                fields.at.pages.clone(),
                format!("[{}, {last}]", chunk.start_page),
            )],
        )))
        .help("`kb fix` sets the pages of the chunk"),
    )
}

/// Whether the quote stands there in a way that verifies it. A place without the context that the
/// citation gives is another place than the one it means, even if it is the only one left.
pub(crate) fn counts(verdict: &Verdict) -> bool {
    verdict.verified() && !verdict.flags().contains(&Flag::ContextDiffers)
}

/// The place of a range of the passage, for people.
fn place(
    db: &dyn Db,
    file: SourceFile,
    text: &SourceText,
    chunk: usize,
    range: Range<usize>,
    label: String,
) -> Option<Related> {
    // Showing a place is a fact about the whole file: its lines move when others do, even those
    // that give no text.
    derive::depend_on_file(db, file);
    let range = text.in_document(chunk, range)?;
    text.related(db, range, label)
}

fn flags(fields: &Fields<'_>, verdict: &Verdict, findings: &mut Vec<Finding>) {
    let verified = counts(verdict);
    let before = findings.len();
    for flag in verdict.flags() {
        let at = fields.at.quote.clone();
        let refused = if verified {
            Severity::Warning
        } else {
            Severity::Error
        };
        let finding = match flag {
            Flag::TooShort => Finding::new(
                registry::QUOTE_001,
                at,
                if verified {
                    "the quote is short: a few words prove little"
                } else {
                    "the quote is too short to be evidence, and stands there more than once"
                },
            )
            .severity(refused)
            .label("too short")
            .help("quote at least three words, or twelve letters"),
            Flag::InsideWord { word } => Finding::new(
                registry::QUOTE_002,
                at,
                format!("the quote begins or ends inside a word of the source: `{word}`"),
            )
            .severity(refused)
            .label("cuts a word")
            .help("quote whole words"),
            Flag::Ambiguous { count } => Finding::new(
                registry::QUOTE_003,
                at,
                format!("the quote stands {count} times in the cited chunk"),
            )
            .severity(refused)
            .label("which of them?")
            .help("quote a few more words, or tell the places apart by `prefix` or `suffix`"),
            Flag::OmittedNegation { words } => Finding::new(
                registry::QUOTE_004,
                at,
                format!(
                    "the words left out hold a negation or exception: {}",
                    words.join(", ")
                ),
            )
            .severity(refused)
            .label("leaves out what may turn the meaning")
            .help("quote the whole sentence"),
            Flag::Cue { cue, .. } => Finding::new(
                registry::QUOTE_005,
                at,
                format!("in the source, `{cue}` outside the quote governs what it says"),
            )
            .severity(Severity::Warning)
            .label("the sentence says more than this")
            .help("quote the whole sentence"),
            Flag::OnlyTitle => Finding::new(
                registry::QUOTE_006,
                at,
                "the quote is only the title of the source",
            )
            .severity(Severity::Warning)
            .label("a title proves nothing")
            .help("quote a sentence of the text"),
            Flag::Fuzzy { edits } => {
                let edits: Vec<String> = edits
                    .iter()
                    .map(|(quote, source)| format!("`{quote}` for `{source}`"))
                    .collect();
                Finding::new(
                    registry::QUOTE_007,
                    at,
                    format!("accepted as fuzzy: {}", edits.join(", ")),
                )
                .severity(Severity::Warning)
                .label("not the source's exact words")
                .help("quote the source's exact words")
            }
            Flag::Veiled { veil } => {
                let (message, label) = match veil {
                    Veil::Struck => (
                        "the quote stands in words that the source has struck out",
                        "taken back by the source",
                    ),
                    Veil::Hidden | Veil::Target => (
                        "the quote stands where no reader of the source sees it: in a comment, \
                         a hidden element or the target of a link",
                        "not to be seen in the source",
                    ),
                };
                Finding::new(registry::QUOTE_008, at, message)
                    .severity(refused)
                    .label(label)
                    .help("quote what the source says to its readers")
            }
            // Reported with the class; by themselves they ask for nothing.
            Flag::Editorial { .. } => continue,
            Flag::ContextDiffers => Finding::new(
                registry::QUOTE_003,
                at,
                "the quote stands there, but not beside the `prefix` or `suffix` that the citation gives",
            )
            .severity(Severity::Error)
            .label("another place than the one that is meant")
            .help("give the words that stand directly before and after the quote in this chunk"),
        };
        findings.push(finding.data("chunk_id", fields.chunk_id));
    }
    let explained = findings[before..]
        .iter()
        .any(|finding| finding.severity == Severity::Error);
    if !verified && !explained {
        // Whatever the reason, a match that does not count is an error, and says so.
        findings.push(not_found(fields).label("does not count as evidence"));
    }
}

fn not_found(fields: &Fields<'_>) -> Finding {
    Finding::new(
        registry::VERIFY_001,
        fields.at.quote.clone(),
        "quote not found in the cited chunk",
    )
    .contract(format!(
        "citations[{}]: quote not found in pinned chunk {} (fuzzy=False)",
        fields.index, fields.chunk_id
    ))
    .data("chunk_id", fields.chunk_id)
    .data("quote", fields.quote.text)
}

fn absent(
    db: &dyn Db,
    file: SourceFile,
    fields: &Fields<'_>,
    text: &SourceText,
    chunk: &CitedChunk,
    verdict: &Verdict,
    findings: &mut Vec<Finding>,
) {
    derive::depend_on_file(db, file);
    if let Some(found) = relocation_fix(db, fields, text) {
        findings.push(
            Finding::new(
                registry::VERIFY_004,
                fields.at.quote.clone(),
                format!(
                    "the quote stands in `{}`, not in the cited chunk",
                    found.chunk_id
                ),
            )
            .contract(format!(
                "citations[{}]: quote not found in pinned chunk {} (fuzzy=False)",
                fields.index, fields.chunk_id
            ))
            .label(format!("these words are not in {}", fields.chunk_id))
            .related(found.related)
            .fix(Some(found.fix))
            .data("chunk_id", fields.chunk_id)
            .data("found_in", found.chunk_id)
            .data("quote", fields.quote.text)
            .help("`kb fix` points the citation at the chunk that holds the words"),
        );
        return;
    }
    let related = verdict.nearest().and_then(|nearest| {
        place(
            db,
            file,
            text,
            chunk.index,
            nearest.span.clone(),
            format!("nearest passage; {}", nearest.decides),
        )
    });
    let mut finding = not_found(fields)
        .label(format!("these words are not in {}", fields.chunk_id))
        .related(related)
        .fix(rewrite::fix(db, file, fields, text, chunk, verdict, None))
        .help("quote the source's exact words, or cite the chunk that says this");
    if let Some(nearest) = verdict.nearest() {
        finding = finding.data("decides", nearest.decides.as_str());
    }
    if verdict.flags().contains(&Flag::TooShort) {
        finding = finding.help("quote at least three whole words of the source");
    }
    findings.push(finding);
}

fn outside_pages(
    db: &dyn Db,
    file: SourceFile,
    fields: &Fields<'_>,
    text: &SourceText,
    chunk: &CitedChunk,
    verdict: &Verdict,
) -> Finding {
    let [start, end] = fields.pages;
    let stands = verdict.cover().and_then(|range| {
        place(
            db,
            file,
            text,
            chunk.index,
            range,
            "the words stand here".to_owned(),
        )
    });
    let pages = verdict
        .cover()
        .map(|range| text.pages_of(chunk.index, range))
        .unwrap_or((chunk.start_page, chunk.end_page));
    Finding::new(
        registry::VERIFY_003,
        fields.at.pages.clone(),
        format!(
            "the quote stands in the chunk on {}, outside the cited page_range [{start}, {end}]",
            page_words(pages.0, pages.1)
        ),
    )
    .contract(format!(
        "citations[{}]: quote is in pinned chunk {} but outside page_range [{start}, {end}] (fuzzy=False)",
        fields.index, fields.chunk_id
    ))
    .label(format!("the words are on {}", page_words(pages.0, pages.1)))
    .related(stands)
    .fix(Some(pin_fix(
        "set the pages the quote stands on",
        vec![(fields.at.pages.clone(), format!("[{}, {}]", pages.0, pages.1))],
    )))
    .data("chunk_id", fields.chunk_id)
    .help("`kb fix` sets the pages the quote stands on")
}

/// Where else in the source the quote stands, if in exactly one place.
///
/// The caller depends on the whole file.
pub(crate) fn relocation_fix(
    db: &dyn Db,
    fields: &Fields<'_>,
    text: &SourceText,
) -> Option<Elsewhere> {
    let (index, range) = sole_place(fields, text)?;
    let chunk = text.chunk(index)?;
    let id = chunk_id(fields.source_id, chunk.start_page, chunk.ordinal);
    if id == fields.chunk_id {
        return None;
    }
    let mut edits = vec![
        (fields.at.chunk_id.clone(), format!("\"{id}\"")),
        (fields.at.chunk_hash.clone(), format!("\"{}\"", chunk.hash)),
    ];
    let pages = [u64::from(chunk.start_page), u64::from(chunk.end_page)];
    let still = fields.pages[0] <= pages[0] && pages[1] <= fields.pages[1];
    if !still || fields.pages[1] - fields.pages[0] > pages[1] - pages[0] {
        edits.push((
            fields.at.pages.clone(),
            format!("[{}, {}]", pages[0], pages[1]),
        ));
    }
    Some(Elsewhere {
        related: range
            .and_then(|range| text.related(db, range, format!("the words stand here, in {id}"))),
        fix: pin_fix(
            "point the citation at the chunk that holds the words",
            edits,
        ),
        chunk_id: id,
    })
}

/// The one chunk that holds the quote, with its place in the document. `None` if there are none
/// or several places.
fn sole_place(fields: &Fields<'_>, text: &SourceText) -> Option<(usize, Option<Range<usize>>)> {
    let quote = fields.quote;
    if let Some(whole) = text.whole() {
        let places = find_all_exact_or_normalized(&whole.passage(None), &quote);
        if let [only] = places.as_slice() {
            let index = text.chunk_over(only)?;
            return Some((index, Some(only.clone())));
        }
        if text.chunks().iter().all(crate::chunk::Chunk::is_slice) {
            return None;
        }
    }
    // Normalised chunks, and chunks that a manifest gives, hold their own text.
    let mut found = None;
    for index in 0..text.chunks().len() {
        let Some(window) = text.chunk_window(index) else {
            continue;
        };
        match find_all_exact_or_normalized(&window.passage(None), &quote).as_slice() {
            [] => {}
            [only] => {
                let place = text.in_document(index, only.clone());
                match &found {
                    None => found = Some((index, place)),
                    // The overlap of two chunks shows the same place twice.
                    Some((_, before)) if place.is_some() && *before == place => {}
                    Some(_) => return None,
                }
            }
            _ => return None,
        }
    }
    found
}

/// The cited chunk's hash is not the one in the card: `HASH-001` with what became of the quote.
pub(crate) fn changed(
    db: &dyn Db,
    file: SourceFile,
    fields: &Fields<'_>,
    text: &SourceText,
    chunk: &CitedChunk,
    hash: &str,
) -> Finding {
    let finding = |message: String| {
        Finding::new(registry::HASH_001, fields.at.chunk_hash.clone(), message)
            .contract(format!(
                "citations[{}]: chunk_hash does not match manifest for {}",
                fields.index, fields.chunk_id
            ))
            .data("chunk_id", fields.chunk_id)
            .data("quote", fields.quote.text)
    };
    let verdict = look(db, file, &fields.quote, fields.pages, text, chunk.index);
    if verdict.as_ref().is_some_and(counts) {
        return finding(format!(
            "the text of `{}` changed since it was cited; the quote still stands in it",
            fields.chunk_id
        ))
        .label("hash of the text as it was")
        .data("state", "intact")
        .fix(Some(pin_fix(
            "record the hash of the chunk as it is",
            vec![(fields.at.chunk_hash.clone(), format!("\"{hash}\""))],
        )))
        .help("read the passage again; `kb fix` records the new hash");
    }
    // From here on it is about all of the source.
    derive::depend_on_file(db, file);
    if let Some(found) = relocation_fix(db, fields, text) {
        return finding(format!(
            "the text of `{}` changed since it was cited; the quote now stands in `{}`",
            fields.chunk_id, found.chunk_id
        ))
        .label("hash of the text as it was")
        .related(found.related)
        .fix(Some(found.fix))
        .data("state", "relocated")
        .data("found_in", found.chunk_id)
        .help("`kb fix` points the citation at the chunk that holds the words");
    }
    let nearest = verdict
        .as_ref()
        .and_then(|verdict| verdict.nearest().cloned());
    match nearest {
        Some(nearest) => {
            finding(format!(
                "the text of `{}` changed since it was cited; the quote no longer stands in it",
                fields.chunk_id
            ))
            .label("hash of the text as it was")
            .related(place(
                db,
                file,
                text,
                chunk.index,
                nearest.span.clone(),
                format!("nearest passage now; {}", nearest.decides),
            ))
            .fix(verdict.as_ref().and_then(|verdict| {
                rewrite::fix(db, file, fields, text, chunk, verdict, Some(hash))
            }))
            .data("state", "differs")
            .data("decides", nearest.decides)
            .help("read the passage again and quote it as it is now")
        }
        None => finding(format!(
            "the text of `{}` changed since it was cited, and the quote is gone",
            fields.chunk_id
        ))
        .label("hash of the text as it was")
        .data("state", "orphaned")
        .help("find what the source says now, or take the citation out"),
    }
}

impl From<Profile> for crate::text::quote::Profile {
    fn from(profile: Profile) -> Self {
        match profile {
            Profile::Strict => crate::text::quote::Profile::Strict,
            Profile::Cacg => crate::text::quote::Profile::Cacg,
        }
    }
}
