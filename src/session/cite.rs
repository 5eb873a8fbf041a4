//! Finding the chunk that holds given words.

use std::ops::Range;
use std::sync::Arc;

use kbc_queries::check::passage::SourceText;
use kbc_queries::chunk::chunk_id;
use kbc_queries::derive;
use kbc_queries::text::quote::{Matcher, Options, Quote, find_all_exact_or_normalized};

use super::{Given, Session};

/// A citation, ready to be put into a card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cited {
    /// The source.
    pub source_id: Arc<str>,
    /// The chunk that holds the words.
    pub chunk_id: String,
    /// Its hash, hex.
    pub chunk_hash: String,
    /// First and last page of the words.
    pub pages: (u32, u32),
    /// The words as they were given.
    pub quote: String,
}

impl Session {
    /// The citation of `quote` in a source.
    ///
    /// # Errors
    /// A sentence that says why there is none: the words are not there, or stand there in several
    /// places.
    pub fn cite(&mut self, id: &str, quote: &str) -> Result<Cited, String> {
        self.bind_all();
        let input = self
            .by_id
            .get(id)
            .and_then(|path| self.sources.get(path))
            .and_then(|state| state.input)
            .ok_or_else(|| format!("no source is called `{id}`"))?;
        derive::source(&self.db, input)
            .as_ref()
            .map_err(|failure| {
                let reason = kbc_queries::check::citation::failure_reason(failure);
                format!("the source `{id}` gives no chunks: {reason}")
            })?;
        let text = SourceText::load(&self.db, input).map_err(|error| {
            let reason = kbc_queries::check::citation::load_reason(&error);
            format!("the source `{id}` gives no text: {reason}")
        })?;
        let wanted = Quote::new(quote);
        let (index, range) = place(&text, &wanted, id)?;
        let chunk = text.chunk(index).ok_or("the source has no chunks")?;
        let mut pages = text.pages_of(index, range.clone());
        if range.end > text.chunk_text(index).len()
            && let Some(document) = text.document()
            && let Some(there) = text.in_document(index, range)
        {
            // It runs on into the next chunk, and may end on a later page.
            pages.1 = document.page_of(there.end.saturating_sub(1)).max(pages.0);
        }
        Ok(Cited {
            source_id: id.into(),
            chunk_id: chunk_id(id, chunk.start_page, chunk.ordinal),
            chunk_hash: chunk.hash.to_string(),
            pages,
            quote: quote.to_owned(),
        })
    }
}

impl Session {
    /// The ids and texts of a source's chunks that are not retracted. `None`: there is no such
    /// source, or it gives no text.
    pub fn active_chunks(&mut self, id: &str) -> Option<Vec<(String, String)>> {
        if self.given == Given::Known {
            // No verdict needed the manifest; its text does.
            self.read_given();
            self.assign_ids();
        }
        self.bind_all();
        let input = self.sources.get(self.by_id.get(id)?)?.input?;
        derive::source(&self.db, input).as_ref().ok()?;
        let text = SourceText::load(&self.db, input).ok()?;
        let (_, retracted, chunks) = self.context.marks(id);
        if retracted {
            return None;
        }
        let ids = text
            .chunks()
            .iter()
            .map(|chunk| chunk_id(id, chunk.start_page, chunk.ordinal));
        let all = ids.enumerate();
        Some(
            all.filter(|(_, id)| !chunks.iter().any(|retracted| **retracted == **id))
                .map(|(index, id)| (id, text.chunk_text(index).to_owned()))
                .collect(),
        )
    }
}

/// The chunk that holds the quote and the quote's place in the chunk's text. A chunk that holds it
/// whole comes before one that it runs out of.
fn place(text: &SourceText, quote: &Quote<'_>, id: &str) -> Result<(usize, Range<usize>), String> {
    if let Some(whole) = text.whole() {
        let places = find_all_exact_or_normalized(&whole.passage(None), quote);
        match places.as_slice() {
            [only] => {
                if let Some(index) = text.chunk_over(only)
                    && let Some(found) = verified(text, quote, index)
                {
                    return Ok((index, found));
                }
            }
            [] => {}
            several => {
                return Err(format!(
                    "the words stand in {} places of `{id}`; quote a few more words",
                    several.len()
                ));
            }
        }
    }
    let found: Vec<(usize, Range<usize>)> = (0..text.chunks().len())
        .filter_map(|index| Some((index, verified(text, quote, index)?)))
        .collect();
    let found = if found.is_empty() {
        (0..text.chunks().len())
            .filter_map(|index| Some((index, running_on(text, quote, index)?)))
            .collect()
    } else {
        found
    };
    match found.as_slice() {
        [] => Err(absent(text, quote, id)),
        // Neighbours overlap; a place in the overlap is one place.
        [first, rest @ ..] => {
            let here = text.in_document(first.0, first.1.clone());
            let same = |(index, range): &(usize, Range<usize>)| {
                here.is_some() && text.in_document(*index, range.clone()) == here
            };
            if rest.iter().all(same) {
                Ok(first.clone())
            } else {
                Err(format!(
                    "the words stand in several chunks of `{id}`; quote a few more words"
                ))
            }
        }
    }
}

fn verified(text: &SourceText, quote: &Quote<'_>, index: usize) -> Option<Range<usize>> {
    let window = text.chunk_window(index)?;
    let verdict = Matcher::new(window.passage(None)).check(quote, Options::default());
    if verdict.verified() {
        verdict.cover()
    } else {
        None
    }
}

/// The place of a quote that starts in a chunk and ends in the next one.
fn running_on(text: &SourceText, quote: &Quote<'_>, index: usize) -> Option<Range<usize>> {
    let first = text.chunk(index)?.start_page;
    let last = text.chunk(index + 1)?.end_page;
    let window = text.window(index, [u64::from(first), u64::from(last)])?;
    let verdict = Matcher::new(window.passage(None)).check(quote, Options::default());
    if verdict.verified() {
        verdict.cover()
    } else {
        None
    }
}

fn absent(text: &SourceText, quote: &Quote<'_>, id: &str) -> String {
    let whole = text.whole();
    let nearest = whole.as_ref().and_then(|whole| {
        let matcher = Matcher::new(whole.passage(None));
        let nearest = matcher.check(quote, Options::default()).nearest().cloned();
        nearest.map(|nearest| (whole.text, nearest))
    });
    match nearest {
        Some((whole, nearest)) => format!(
            "the words do not stand in `{id}`; nearest: \"{}\"; {}",
            whole.get(nearest.span.clone()).unwrap_or_default(),
            nearest.decides
        ),
        None => format!("the words do not stand in `{id}`"),
    }
}
