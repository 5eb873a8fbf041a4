//! Where a quote stands: exactly, or after folding, and which of these places count.

use super::fold::{Folded, Kind};
use super::verdict::Foldings;
use super::walk::Hit;
use super::{Matcher, Passage, Quote, boundary, chars, skeleton, veiled};
use std::ops::Range;

/// The places found by one way of looking.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// At word boundaries, beginning in the chunk and lying on the cited pages.
    pub good: Vec<Hit>,
    /// At word boundaries, beginning in the chunk, not on the cited pages.
    pub outside: Vec<Hit>,
    /// On the cited pages, but cutting a word.
    pub cut: Vec<Hit>,
}

impl Found {
    /// Sorts hits, each with whether it cuts no word.
    pub fn sort(passage: &Passage<'_>, hits: Vec<(Hit, bool)>) -> Self {
        let mut found = Found::default();
        for (hit, whole) in hits {
            // A match that begins before the chunk belongs to another one.
            if !passage.cited.contains(&hit.span.start) {
                continue;
            }
            let inside =
                passage.window.start <= hit.span.start && hit.span.end <= passage.window.end;
            match (whole, inside) {
                (true, true) => found.good.push(hit),
                (true, false) => found.outside.push(hit),
                (false, true) => found.cut.push(hit),
                (false, false) => {}
            }
        }
        found
    }
}

/// The places where the very characters of `text` stand.
pub(super) fn exact(matcher: &Matcher<'_>, text: &str) -> Found {
    Found::sort(matcher.passage(), exact_all(matcher, text))
}

/// Those of them that cut no word, wherever they begin.
pub(super) fn exact_hits(matcher: &Matcher<'_>, text: &str) -> Vec<Hit> {
    exact_all(matcher, text)
        .into_iter()
        .filter(|(_, whole)| *whole)
        .map(|(hit, _)| hit)
        .collect()
}

fn exact_all(matcher: &Matcher<'_>, text: &str) -> Vec<(Hit, bool)> {
    let passage = matcher.passage();
    let start = passage.cited.start;
    let Some(haystack) = passage.text.get(start..) else {
        return Vec::new();
    };
    memchr::memmem::find_iter(haystack.as_bytes(), text.as_bytes())
        .map(|at| start + at..start + at + text.len())
        .filter(|span| !veiled::takes_from(passage, span))
        .map(|span| {
            // Which elements a match covers is only worth knowing where its neighbours leave a doubt.
            if stands_clear(passage.text, &span) {
                let hit = Hit {
                    items: 0..0,
                    span,
                    foldings: Foldings::NONE,
                    inserted: Vec::new(),
                };
                return (hit, true);
            }
            let folded = &matcher.source().folded;
            let items = folded.index_of(span.start)..folded.index_of(span.end);
            // A marker glued to the last word is looked through by the folded comparison only.
            let glued = folded
                .group_at(items.end)
                .and_then(|group| folded.char(group.items.start))
                .is_some_and(|c| c != '[')
                && folded
                    .items
                    .get(items.end)
                    .is_some_and(|item| item.kind() == Kind::Char);
            let whole = !items.is_empty() && !glued && boundary::is_whole(folded, &items);
            (
                Hit {
                    items,
                    span,
                    foldings: Foldings::NONE,
                    inserted: Vec::new(),
                },
                whole,
            )
        })
        .collect()
}

/// A cheap sufficient condition for a match that cuts nothing: words with plain space around them.
fn stands_clear(text: &str, span: &Range<usize>) -> bool {
    let (Some(before), Some(inside), Some(after)) = (
        text.get(..span.start),
        text.get(span.clone()),
        text.get(span.end..),
    ) else {
        return false;
    };
    let (Some(first), Some(last)) = (inside.chars().next(), inside.chars().next_back()) else {
        return false;
    };
    // A hyphen at the end of the line before breaks a word.
    let hyphen = |c: char| matches!(c, '-' | '\u{2010}' | '\u{ad}');
    let mut earlier = before
        .chars()
        .rev()
        .take(64)
        .skip_while(|&c| chars::is_space(c));
    if !before.is_empty() && earlier.next().is_none_or(hyphen) {
        return false;
    }
    let mut before = before.chars().rev();
    let letter = first.is_alphabetic() && !chars::is_spaceless(first) && !chars::is_mark(first);
    let starts = match before.next() {
        None => letter || first.is_ascii_digit(),
        Some('(') => letter,
        // What stands before a number may be a comparison.
        Some(' ' | '\n') => {
            letter
                || first.is_ascii_digit()
                    && before.next().is_none_or(|c| {
                        c.is_ascii_alphanumeric() || matches!(c, ',' | '.' | ':' | ')')
                    })
        }
        Some(_) => false,
    };
    let mut after = after.chars();
    let next = after.next();
    let gap = |c: Option<char>| matches!(c, None | Some(' ' | '\n'));
    let ends = if last.is_ascii_digit() {
        // What stands after a number may be its percent sign.
        next.is_none()
            || gap(next)
                && after
                    .next()
                    .is_none_or(|c| c.is_ascii_alphanumeric() || c == '(')
            || matches!(next, Some('.' | ',' | ';' | ')')) && gap(after.next())
    } else if last.is_alphabetic() {
        gap(next) || matches!(next, Some('.' | ',' | ';' | ')')) && gap(after.next())
    } else {
        matches!(last, '.' | ',' | ';' | '!' | '?' | ')') && gap(next)
    };
    starts && ends
}

/// Whether the quote stands nowhere in the passage, known without folding the passage.
fn is_ruled_out(matcher: &Matcher<'_>, quote: &Folded<'_>) -> bool {
    matcher
        .plain()
        .is_some_and(|plain| !plain.has(&skeleton::needle(quote)))
}

/// The places where the folded quote stands.
pub(super) fn normalized(matcher: &Matcher<'_>, quote: &Folded<'_>) -> Found {
    if is_ruled_out(matcher, quote) {
        return Found::default();
    }
    let source = matcher.source();
    let passage = matcher.passage();
    let hits = source
        .find(quote)
        .into_iter()
        .filter(|hit| !veiled::ends_within(passage, &hit.span))
        .map(|hit| {
            let whole = boundary::is_whole(&source.folded, &hit.items);
            (hit, whole)
        });
    Found::sort(matcher.passage(), hits.collect())
}

/// Those of them that cut no word, wherever they begin.
pub(super) fn normalized_hits(matcher: &Matcher<'_>, quote: &Folded<'_>) -> Vec<Hit> {
    if is_ruled_out(matcher, quote) {
        return Vec::new();
    }
    let source = matcher.source();
    let mut hits = source.find(quote);
    let passage = matcher.passage();
    hits.retain(|hit| {
        !veiled::ends_within(passage, &hit.span) && boundary::is_whole(&source.folded, &hit.items)
    });
    hits
}

/// Which of `hits` have the quote's prefix and suffix beside them.
pub(super) fn in_context(matcher: &Matcher<'_>, quote: &Quote<'_>, hits: &[Hit]) -> Vec<bool> {
    let context = |text: Option<&str>| -> Option<Vec<char>> {
        let text = text?;
        let solid: Vec<char> = Folded::new(text, false)
            .items
            .iter()
            .filter_map(|item| item.char())
            .collect();
        (!solid.is_empty()).then_some(solid)
    };
    let (prefix, suffix) = (context(quote.prefix), context(quote.suffix));
    if prefix.is_none() && suffix.is_none() {
        return vec![true; hits.len()];
    }
    let folded = &matcher.source().folded;
    hits.iter()
        .map(|hit| {
            let start = folded.index_of(hit.span.start);
            let end = folded.index_of(hit.span.end);
            let before = folded
                .items
                .get(..start)
                .unwrap_or(&[])
                .iter()
                .rev()
                .filter_map(|item| item.char());
            let after = folded
                .items
                .get(end..)
                .unwrap_or(&[])
                .iter()
                .filter_map(|item| item.char());
            let fits = |wanted: &Option<Vec<char>>, reverse: bool| match wanted {
                None => true,
                Some(wanted) if reverse => before
                    .clone()
                    .take(wanted.len())
                    .eq(wanted.iter().rev().copied()),
                Some(wanted) => after.clone().take(wanted.len()).eq(wanted.iter().copied()),
            };
            fits(&prefix, true) && fits(&suffix, false)
        })
        .collect()
}
