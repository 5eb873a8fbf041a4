//! Which passages of the sources are cited by whom, which are not, and which sentences of the cards
//! stand near no quote. For information: nothing here is a verdict.
//!
//! A passage is **cited** when a citation that counts as verified names its chunk, and **quoted**
//! where the words of such a citation stand. Text in the overlap of two chunks may be quoted in a
//! chunk that nobody cites.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use kbc_queries::check::Outcome;
use kbc_queries::check::citation::{failure_reason, load_reason};
use kbc_queries::check::passage::SourceText;
use kbc_queries::chunk::chunk_id;
use kbc_queries::derive::{self, derive_card};
use kbc_queries::parse::document::{Document, FilePosition};
use kbc_queries::system::System;
use kbc_queries::text::lines::LineIndex;
use kbc_queries::text::quote::{MatchClass, Matcher, Options, Quote};
use kbc_queries::text::sentences::{Ties, sentences};

use crate::cache::entries::CardEntry;
use crate::workspace::disk::Disk;

use super::{Database, Session};

/// Where a stretch of a source is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// Lines of the file, from 1, inclusive.
    Lines(u32, u32),
    /// Pages, from 1, inclusive.
    Pages(u32, u32),
}

/// A citation that quotes a chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quoted {
    /// The card's path.
    pub card: Arc<str>,
    /// Which of the card's citations, from 0.
    pub index: usize,
    /// How its quote stands there.
    pub class: MatchClass,
    /// Where the quoted words stand: bytes of the document's text, and the place in the file.
    pub spans: Vec<(Range<usize>, Place)>,
}

/// A chunk of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkCoverage {
    /// Its id.
    pub chunk_id: String,
    /// Its slice or cover in the document's text.
    pub range: Range<usize>,
    /// Where it is.
    pub place: Place,
    /// How it begins, on one line.
    pub beginning: String,
    /// The citations that name it, by card and index.
    pub quoted_by: Vec<Quoted>,
}

/// A source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceCoverage {
    /// Its id.
    pub id: Arc<str>,
    /// Its path.
    pub path: Arc<str>,
    /// Its chunks, or why there are none.
    pub chunks: Result<Vec<ChunkCoverage>, String>,
    /// Bytes of text in its chunks, and how many of them are quoted.
    pub bytes: (u64, u64),
    /// Lines of the file that hold text, with the number of citations that quote them; only of files
    /// that are text.
    pub lines: BTreeMap<u32, u32>,
}

/// A card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardCoverage {
    /// Its path.
    pub path: Arc<str>,
    /// Sentences of its body.
    pub sentences: usize,
    /// Those of them that stand near no verified quote: line of the file, and the sentence.
    pub bare: Vec<(u32, String)>,
}

/// The coverage of a project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Sources by path.
    pub sources: Vec<SourceCoverage>,
    /// Cards by path.
    pub cards: Vec<CardCoverage>,
}

/// A citation as its card has it.
struct Cite {
    card: Arc<str>,
    index: usize,
    class: MatchClass,
    chunk_id: Box<str>,
    pages: [u64; 2],
    quote: Box<str>,
    prefix: Option<Box<str>>,
    suffix: Option<Box<str>>,
}

impl Session {
    /// What is cited and what is not, of all sources and cards, or of these sources and the cards
    /// that cite them.
    pub fn coverage(&mut self, only: Option<&BTreeSet<Arc<str>>>) -> Coverage {
        self.bind_all();
        let entries: Vec<(&Arc<str>, &CardEntry)> = self
            .cards
            .iter()
            .filter_map(|(path, state)| Some((path, &**state.entry.as_ref()?)))
            .collect();
        let disk = &*self.disk;
        let read: Vec<_> = entries
            .into_par_iter()
            .map(|(path, entry)| card_coverage(disk, path, entry))
            .collect();
        let mut by_source: BTreeMap<Box<str>, Vec<Cite>> = BTreeMap::new();
        let mut cards = Vec::new();
        for (card, cites) in read.into_iter().flatten() {
            let wanted =
                only.is_none_or(|only| cites.iter().any(|(source, _)| only.contains(&**source)));
            for (source, cite) in cites {
                by_source.entry(source).or_default().push(cite);
            }
            if wanted {
                cards.push(card);
            }
        }
        let sources: Vec<_> = self
            .sources
            .iter()
            .filter(|(_, state)| only.is_none_or(|only| only.contains(&state.id)))
            .filter_map(|(path, state)| Some((path.clone(), state.id.clone(), state.input?)))
            .collect();
        let sources = sources
            .par_iter()
            .map_with(self.db.clone(), |db, (path, id, input)| {
                let cites = by_source.get(&**id).map_or(&[][..], Vec::as_slice);
                let mut coverage = SourceCoverage {
                    id: id.clone(),
                    path: path.clone(),
                    chunks: Ok(Vec::new()),
                    bytes: (0, 0),
                    lines: BTreeMap::new(),
                };
                let text = match derive::source(db, *input) {
                    Err(failure) => Err(failure_reason(failure)),
                    Ok(_) => SourceText::load(db, *input).map_err(|error| load_reason(&error)),
                };
                match text {
                    Ok(text) => fill(&mut coverage, db, &text, cites),
                    Err(reason) => coverage.chunks = Err(reason),
                }
                coverage
            })
            .collect();
        Coverage { sources, cards }
    }
}

/// A citation that counts, with the id of the source it cites.
type CiteOf = (Box<str>, Cite);

/// A card's sentences, and its citations that count, by source.
fn card_coverage(
    disk: &Disk,
    path: &Arc<str>,
    entry: &CardEntry,
) -> Option<(CardCoverage, Vec<CiteOf>)> {
    let bytes = disk.read(path, kbc_queries::CARD_LIMIT).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let parsed = derive_card(&text).parsed;
    let mut cites = Vec::new();
    let known = entry.details.unpack()?.citations;
    for (citation, known) in parsed.citations.iter().zip(&known) {
        let (Outcome::Verified(class), Some(complete)) = (known.outcome, citation.complete())
        else {
            continue;
        };
        cites.push((
            complete.source_id,
            Cite {
                card: path.clone(),
                index: citation.index,
                class,
                chunk_id: complete.chunk_id,
                pages: [complete.page_range.start, complete.page_range.end],
                quote: complete.quote,
                prefix: complete.prefix,
                suffix: complete.suffix,
            },
        ));
    }
    let ties = Ties::of(cites.iter().map(|(_, cite)| &*cite.quote));
    let lines = LineIndex::new(&text);
    let body = parsed.body_text(&text);
    let all = sentences(body);
    let bare = all
        .iter()
        .filter_map(|range| Some((range, body.get(range.clone())?)))
        .filter(|(_, sentence)| !ties.reach(sentence))
        .map(|(range, sentence)| {
            let line = lines.line_of(parsed.body.start + range.start);
            (line, one_line(sentence, usize::MAX))
        })
        .collect();
    let card = CardCoverage {
        path: path.clone(),
        sentences: all.len(),
        bare,
    };
    Some((card, cites))
}

/// The first `most` characters of a text, on one line.
fn one_line(text: &str, most: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().take(most).collect();
    let line = words.join(" ");
    match line.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", line.get(..at).unwrap_or_default()),
        None => line,
    }
}

fn fill(coverage: &mut SourceCoverage, db: &Database, text: &SourceText, cites: &[Cite]) {
    // With a manifest's chunks there is no document; those are not asked about here.
    let Some(document) = text.document() else {
        return;
    };
    let places = Places::new(db, &coverage.path, document);
    let mut chunks: Vec<ChunkCoverage> = text
        .chunks()
        .iter()
        .enumerate()
        .map(|(index, chunk)| ChunkCoverage {
            chunk_id: chunk_id(&coverage.id, chunk.start_page, chunk.ordinal),
            range: chunk.range.clone(),
            place: places.of(&trimmed(document, chunk.range.clone())),
            beginning: one_line(text.chunk_text(index), 60),
            quoted_by: Vec::new(),
        })
        .collect();
    let by_id: BTreeMap<String, usize> = chunks
        .iter()
        .enumerate()
        .map(|(index, chunk)| (chunk.chunk_id.clone(), index))
        .collect();
    let mut quoted: Vec<Range<usize>> = Vec::new();
    for cite in cites {
        let Some(&index) = by_id.get(&*cite.chunk_id) else {
            continue;
        };
        let ranges = where_it_stands(text, index, cite);
        quoted.extend(ranges.iter().cloned());
        if let Some(chunk) = chunks.get_mut(index) {
            chunk.quoted_by.push(Quoted {
                card: cite.card.clone(),
                index: cite.index,
                class: cite.class,
                spans: ranges
                    .into_iter()
                    .map(|range| (range.clone(), places.of(&range)))
                    .collect(),
            });
        }
    }
    let covers = chunks.iter().map(|chunk| chunk.range.clone()).collect();
    coverage.bytes = (total(merged(covers)), total(merged(quoted)));
    coverage.lines = lines(document, &places, &chunks);
    coverage.chunks = Ok(chunks);
}

/// The ranges of the document's text that a citation quotes.
fn where_it_stands(text: &SourceText, index: usize, cite: &Cite) -> Vec<Range<usize>> {
    let Some(window) = text.window(index, cite.pages) else {
        return Vec::new();
    };
    let options = Options {
        fuzzy: cite.class == MatchClass::Fuzzy,
        ..Options::default()
    };
    let quote = Quote {
        text: &cite.quote,
        prefix: cite.prefix.as_deref(),
        suffix: cite.suffix.as_deref(),
    };
    Matcher::new(window.passage(None))
        .check(&quote, options)
        .spans()
        .iter()
        .filter_map(|span| text.in_document(index, span.clone()))
        .collect()
}

/// Ranges in order, those that touch made one.
fn merged(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_by_key(|range| (range.start, range.end));
    let mut merged: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

fn total(ranges: Vec<Range<usize>>) -> u64 {
    ranges
        .into_iter()
        .map(|range| (range.end - range.start) as u64)
        .sum()
}

/// The range without white space at its ends.
fn trimmed(document: &Document, range: Range<usize>) -> Range<usize> {
    let text = document.text.get(range.clone()).unwrap_or_default();
    let start = range.start + text.len() - text.trim_start().len();
    start..start + text.trim().len()
}

/// The lines of the file that hold text of a chunk, with the citations that quote them.
fn lines(document: &Document, places: &Places<'_>, chunks: &[ChunkCoverage]) -> BTreeMap<u32, u32> {
    let mut lines: BTreeMap<u32, u32> = BTreeMap::new();
    if document.is_paged() {
        return lines;
    }
    for range in merged(chunks.iter().map(|chunk| chunk.range.clone()).collect()) {
        let text = document.text.get(range.clone()).unwrap_or_default();
        let mut at = range.start;
        for line in text.split_inclusive('\n') {
            if !line.trim().is_empty()
                && let Place::Lines(first, last) =
                    places.of(&trimmed(document, at..at + line.len()))
            {
                for line in first..=last {
                    lines.entry(line).or_default();
                }
            }
            at += line.len();
        }
    }
    for quoted in chunks.iter().flat_map(|chunk| &chunk.quoted_by) {
        let mut hit = BTreeSet::new();
        for (_, place) in &quoted.spans {
            if let Place::Lines(first, last) = place {
                hit.extend(*first..=*last);
            }
        }
        for line in hit {
            if let Some(count) = lines.get_mut(&line) {
                *count += 1;
            }
        }
    }
    lines
}

/// From the document's text to lines of the file, or pages.
struct Places<'a> {
    document: &'a Document,
    /// Bytes of the file at which a line begins.
    starts: Vec<usize>,
}

impl<'a> Places<'a> {
    fn new(db: &Database, path: &str, document: &'a Document) -> Self {
        use kbc_queries::Db;
        let mut starts = vec![0];
        if !document.is_paged()
            && let Ok(bytes) = db.system().read(path, u64::MAX)
        {
            let mut next = bytes.iter().skip(1);
            for (at, byte) in bytes.iter().enumerate() {
                let following = next.next();
                if *byte == b'\n' || *byte == b'\r' && following != Some(&b'\n') {
                    starts.push(at + 1);
                }
            }
        }
        Places { document, starts }
    }

    fn of(&self, range: &Range<usize>) -> Place {
        let document = self.document;
        match document.file_position(range.clone()) {
            FilePosition::Bytes(bytes) => {
                let last = bytes.end.saturating_sub(1).max(bytes.start);
                Place::Lines(self.line(bytes.start), self.line(last))
            }
            FilePosition::Page { page, .. } => {
                let last = document.page_of(range.end.saturating_sub(1).max(range.start));
                Place::Pages(page, last.max(page))
            }
        }
    }

    fn line(&self, offset: usize) -> u32 {
        let line = self.starts.partition_point(|start| *start <= offset);
        u32::try_from(line).unwrap_or(u32::MAX)
    }
}
