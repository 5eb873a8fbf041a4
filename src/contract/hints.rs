//! Which chunks might be meant by a quote that is not in the one it cites.
//!
//! Hints rank; they decide nothing. They are made only for cards that are going to be shown.

use std::collections::BTreeMap;
use std::sync::Arc;

use kbc_queries::deck::bm25::{Hints, Idf};
use kbc_queries::input::Profile;
use kbc_queries::parse::card;

use crate::session::Session;

use super::view::CardView;

/// A quote that wants hints: its card, its line there, its words.
type Wanted = (Arc<str>, usize, String);

/// Puts hints under the lines about quotes that do not stand. A source is taken apart once.
pub fn add(session: &mut Session, views: &mut BTreeMap<Arc<str>, CardView>) {
    for (source, wanted) in wanted(session, views) {
        let Some(chunks) = session.active_chunks(&source) else {
            continue;
        };
        let idf = match session.project.profile() {
            Profile::Cacg => Idf::Contract,
            Profile::Strict => Idf::Floored,
        };
        let texts = chunks.iter().map(|(id, text)| (&**id, &**text));
        let hints = Hints::new(texts, idf);
        for (path, line, quote) in wanted {
            let line = views
                .get_mut(&path)
                .and_then(|view| view.lines.get_mut(line));
            if let Some(line) = line {
                let found = hints.of(&quote);
                line.hints = found
                    .iter()
                    .filter_map(|hint| serde_json::to_value(hint).ok())
                    .collect();
            }
        }
    }
}

fn wanted(
    session: &Session,
    views: &BTreeMap<Arc<str>, CardView>,
) -> BTreeMap<String, Vec<Wanted>> {
    let mut wanted: BTreeMap<String, Vec<Wanted>> = BTreeMap::new();
    for (path, view) in views.iter().filter(|(_, view)| !view.absent.is_empty()) {
        let Some(text) = session.card_text(path) else {
            continue;
        };
        let parsed = card::parse(&text);
        for absent in &view.absent {
            let citation = parsed.citations.get(absent.citation);
            if let Some(citation) = citation
                && let (Some(source), Some(quote)) = (&citation.source_id, &citation.quote)
            {
                let quote = quote.value.to_string();
                wanted.entry(source.value.to_string()).or_default().push((
                    path.clone(),
                    absent.line,
                    quote,
                ));
            }
        }
    }
    wanted
}
