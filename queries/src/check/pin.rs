//! A citation that names only its source and its quote: where it can be pinned.

use std::ops::Range;

use crate::Db;
use crate::check::citation::{Fields, load_reason, unverifiable};
use crate::check::finding::{Finding, RelativeEdit, RelativeFix};
use crate::check::passage::SourceText;
use crate::check::quote::{counts, look, options};
use crate::chunk::chunk_id;
use crate::derive;
use crate::diagnostic::{Applicability, registry};
use crate::input::SourceFile;
use crate::parse::card::PinPlace;
use crate::text::quote::{Flag, MatchClass, Matcher, Passage, Quote};

/// Why a quote cannot be pinned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unclear {
    /// It does not stand in the source in a way that counts.
    Nowhere,
    /// It stands in several places.
    Several(usize),
}

/// The chunk that holds a quote, and the pages on which it stands there.
struct Pin {
    index: usize,
    pages: (u32, u32),
}

/// `CITE-008`, with the pin as a fix when the quote stands in exactly one place.
pub(crate) fn unpinned(
    db: &dyn Db,
    file: SourceFile,
    fields: &Fields<'_>,
    place: Option<&PinPlace>,
    retracted: &[Box<str>],
) -> Finding {
    // Where the quote stands is a fact about the whole source.
    derive::depend_on_file(db, file);
    let text = match derive::source(db, file) {
        Ok(_) => SourceText::load(db, file),
        // The caller resolved the source; it gives chunks.
        Err(_) => return finding(fields, "the citation is not pinned yet".to_owned()),
    };
    let text = match text {
        Ok(text) => text,
        Err(error) => {
            let reason = format!(
                "the source `{}` ({}) gives no text: {}",
                fields.source_id,
                file.path(db),
                load_reason(&error)
            );
            return unverifiable(
                fields,
                reason,
                "run again; if it goes on, repair the source file",
            );
        }
    };
    let pin = match find(db, file, &fields.quote, &text) {
        Ok(pin) => pin,
        Err(Unclear::Several(count)) => {
            return finding(
                fields,
                format!(
                    "the citation is not pinned yet, and its quote stands in {count} places of `{}`",
                    fields.source_id
                ),
            )
            .label("which of them?")
            .help("quote a few more words, or tell the places apart by `prefix` or `suffix`");
        }
        Err(Unclear::Nowhere) => return nowhere(db, fields, &text),
    };
    let Some(chunk) = text.chunk(pin.index) else {
        return finding(fields, "the citation is not pinned yet".to_owned());
    };
    let id = chunk_id(fields.source_id, chunk.start_page, chunk.ordinal);
    if retracted
        .binary_search_by(|other| (**other).cmp(&id))
        .is_ok()
    {
        return finding(
            fields,
            format!(
                "the citation is not pinned yet, and its quote stands in `{id}`, which is retracted"
            ),
        )
        .label("stands in a retracted chunk")
        .help("cite a passage that still stands");
    }
    let finding = finding(fields, "the citation is not pinned yet".to_owned())
        .label(format!("stands in {id}"))
        .data("found_in", id.as_str());
    match place {
        Some(place) => finding
            .fix(Some(RelativeFix {
                title: "pin the citation to the chunk that holds the words".to_owned(),
                applicability: Applicability::Safe,
                edits: vec![RelativeEdit {
                    range: place.at..place.at,
                    text: place.fields(&id, &chunk.hash.to_string(), pin.pages),
                }],
            }))
            .help("`kb fix` adds the chunk, its hash and the pages"),
        None => finding.help("`kb cite` with the source and the quote prints the whole citation"),
    }
}

fn finding(fields: &Fields<'_>, message: String) -> Finding {
    Finding::new(registry::CITE_008, fields.at.quote.clone(), message)
        .label("no chunk")
        .help("`kb cite` with the source and the quote prints the whole citation")
        .data("quote", fields.quote.text)
}

/// The finding about a quote that no chunk holds in a way that counts.
fn nowhere(db: &dyn Db, fields: &Fields<'_>, text: &SourceText) -> Finding {
    let whole = text.whole();
    let passage = whole
        .as_ref()
        .map_or(Passage::whole(""), |whole| whole.passage(None));
    let verdict = Matcher::new(passage).check(&fields.quote, options(db));
    for flag in verdict.flags() {
        let (what, help) = match flag {
            Flag::InsideWord { word } => (
                format!(
                    "begins or ends inside a word of `{}`: `{word}`",
                    fields.source_id
                ),
                "quote whole words",
            ),
            Flag::OmittedNegation { words } => (
                format!("leaves out a negation or exception: {}", words.join(", ")),
                "quote the whole sentence",
            ),
            Flag::ContextDiffers => (
                format!(
                    "stands in `{}`, but not beside its `prefix` or `suffix`",
                    fields.source_id
                ),
                "give the words that stand directly before and after the quote",
            ),
            Flag::TooShort => (
                "is too short to be evidence".to_owned(),
                "quote at least three whole words of the source",
            ),
            _ => continue,
        };
        return finding(
            fields,
            format!("the citation is not pinned yet, and its quote {what}"),
        )
        .help(help);
    }
    let finding = finding(
        fields,
        format!(
            "the citation is not pinned yet, and its quote does not stand in `{}`",
            fields.source_id
        ),
    )
    .label("these words are not in the source")
    .help("quote the source's exact words");
    let Some(nearest) = verdict.nearest() else {
        return finding;
    };
    finding
        .related(text.related(
            db,
            nearest.span.clone(),
            format!("nearest passage; {}", nearest.decides),
        ))
        .data("decides", nearest.decides.as_str())
}

/// The one place of a quote in a source.
fn find(
    db: &dyn Db,
    file: SourceFile,
    quote: &Quote<'_>,
    text: &SourceText,
) -> Result<Pin, Unclear> {
    if let Some(whole) = text.whole() {
        let places = Matcher::new(whole.passage(None)).find_all(quote);
        match places.as_slice() {
            [] => {}
            [only] => {
                // A quote that no chunk holds whole is cited from the chunk it begins in.
                let first = text
                    .chunks()
                    .iter()
                    .rposition(|chunk| chunk.range.contains(&only.start));
                for index in text.chunk_over(only).into_iter().chain(first) {
                    if let Some((pin, _)) = pin_at(db, file, quote, text, index)? {
                        return Ok(pin);
                    }
                }
            }
            several => return Err(Unclear::Several(several.len())),
        }
    }
    // Normalised chunks, chunks of a manifest, and quotes that mark omissions.
    let mut found: Vec<(Pin, Option<Range<usize>>)> = Vec::new();
    for index in 0..text.chunks().len() {
        let Some((pin, cover)) = pin_at(db, file, quote, text, index)? else {
            continue;
        };
        let here = text.in_document(index, cover);
        // Neighbours overlap; a place in the overlap is one place.
        let known = found
            .iter()
            .any(|(_, before)| here.is_some() && *before == here);
        if !known {
            found.push((pin, here));
        }
    }
    match found.len() {
        0 => Err(Unclear::Nowhere),
        1 => found.pop().map(|(pin, _)| pin).ok_or(Unclear::Nowhere),
        several => Err(Unclear::Several(several)),
    }
}

/// The pin of a quote to the chunk at `index`, if it verifies there, and its place in the chunk.
fn pin_at(
    db: &dyn Db,
    file: SourceFile,
    quote: &Quote<'_>,
    text: &SourceText,
    index: usize,
) -> Result<Option<(Pin, Range<usize>)>, Unclear> {
    let stands = |pages: [u64; 2]| {
        look(db, file, quote, pages, text, index)
            .filter(|verdict| counts(verdict) && verdict.class() != MatchClass::Fuzzy)
    };
    let Some(verdict) = look(db, file, quote, [1, u64::MAX], text, index) else {
        return Ok(None);
    };
    for flag in verdict.flags() {
        if let Flag::Ambiguous { count } = flag {
            return Err(Unclear::Several(*count));
        }
    }
    if !counts(&verdict) {
        return Ok(None);
    }
    let Some(cover) = verdict.cover() else {
        return Ok(None);
    };
    let pages = if verdict.crosses() {
        let end = text.chunk_text(index).len();
        let (first, _) = text.pages_of(index, cover.start.min(end)..end);
        let last = text.chunk(index + 1).map_or(first, |next| next.end_page);
        (first, last)
    } else {
        text.pages_of(index, cover.clone())
    };
    // The pages decide what is looked at, so the pin is tried before it is offered.
    Ok(stands([pages.0.into(), pages.1.into()]).map(|_| (Pin { index, pages }, cover)))
}
