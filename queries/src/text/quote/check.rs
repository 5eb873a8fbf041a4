//! The order in which a quote is looked for, and what is made of what is found.

use std::ops::Range;

use super::evidence::Evidence;
use super::fold::{Folded, Group, Kind};
use super::verdict::{Flag, Folding, Foldings, MatchClass, Verdict};
use super::walk::Hit;
use super::{Matcher, Options, Passage, Profile, Quote, boundary, chars, elide, lexicon};

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

/// What was found less well than needed, kept until nothing better turns up.
#[derive(Default)]
struct Fallback {
    outside: Option<(Hit, MatchClass)>,
    cut: Option<(Hit, MatchClass)>,
}

impl Fallback {
    fn keep(&mut self, found: Found, class: MatchClass) {
        if self.outside.is_none() {
            self.outside = found.outside.into_iter().next().map(|hit| (hit, class));
        }
        if self.cut.is_none() {
            self.cut = found.cut.into_iter().next().map(|hit| (hit, class));
        }
    }
}

pub(super) fn check(matcher: &Matcher<'_>, quote: &Quote<'_>, options: Options) -> Verdict {
    let passage = matcher.passage();
    let text = quote
        .text
        .trim_matches(|c| chars::is_space(c) || chars::is_invisible(c));
    let evidence = Evidence::of(text);
    if evidence.is_empty() {
        return Verdict::absent(vec![Flag::TooShort], None);
    }
    let mut fallback = Fallback::default();

    let found = exact(matcher, text);
    if !found.good.is_empty() {
        return settle(
            matcher,
            quote,
            evidence,
            options,
            found.good,
            MatchClass::Exact,
        );
    }
    fallback.keep(found, MatchClass::Exact);

    let folded = Folded::new(text, true);
    let found = normalized(matcher, &folded);
    if !found.good.is_empty() {
        return settle(
            matcher,
            quote,
            evidence,
            options,
            found.good,
            MatchClass::Normalized,
        );
    }
    fallback.keep(found, MatchClass::Normalized);

    if text.contains(['*', '_', '`', '\\', '<', '&']) {
        let found = normalized(matcher, &Folded::literal_quote(text));
        if !found.good.is_empty() {
            return settle(
                matcher,
                quote,
                evidence,
                options,
                found.good,
                MatchClass::Normalized,
            );
        }
    }

    // Quotation marks around the whole quote belong to the card.
    let bare = unquoted(text);
    let folded = match bare {
        Some(bare) => {
            let folded = Folded::new(bare, true);
            let mut found = normalized(matcher, &folded);
            if !found.good.is_empty() {
                for hit in &mut found.good {
                    hit.foldings = hit.foldings.with(Folding::Quotes);
                }
                return settle(
                    matcher,
                    quote,
                    evidence,
                    options,
                    found.good,
                    MatchClass::Normalized,
                );
            }
            fallback.keep(found, MatchClass::Normalized);
            folded
        }
        None => folded,
    };

    if let Some(edited) = with_insertions(folded) {
        let found = normalized(matcher, &edited);
        if !found.good.is_empty() {
            return settle(
                matcher,
                quote,
                evidence,
                options,
                found.good,
                MatchClass::Normalized,
            );
        }
        fallback.keep(found, MatchClass::Normalized);
    }

    let elided = elide::check(matcher, quote, bare.unwrap_or(text), options);
    if let elide::Elided::Verdict(verdict) = elided {
        return verdict;
    }

    if let Some((hit, _)) = fallback.outside {
        return Verdict::found(
            MatchClass::OutsidePages,
            hit.foldings,
            vec![hit.span],
            false,
            Vec::new(),
            true,
        );
    }
    if let Some((hit, class)) = fallback.cut {
        let word = boundary::cut_word(&matcher.source().folded, &hit.items);
        let refused = options.profile == Profile::Strict;
        let flags = vec![Flag::InsideWord { word }];
        return Verdict::found(
            class,
            hit.foldings,
            vec![hit.span.clone()],
            crosses(passage, &hit.span),
            flags,
            refused,
        );
    }
    let short = matches!(elided, elide::Elided::SegmentTooShort);
    Verdict::absent(
        if short {
            vec![Flag::TooShort]
        } else {
            Vec::new()
        },
        None,
    )
}

pub(super) fn find_all(matcher: &Matcher<'_>, quote: &Quote<'_>) -> Vec<Range<usize>> {
    let text = quote
        .text
        .trim_matches(|c| chars::is_space(c) || chars::is_invisible(c));
    if Evidence::of(text).is_empty() {
        return Vec::new();
    }
    let mut hits = exact(matcher, text).good;
    if hits.is_empty() {
        hits = normalized(matcher, &Folded::new(text, true)).good;
    }
    let beside = in_context(matcher, quote, &hits);
    hits.into_iter()
        .zip(beside)
        .filter(|(_, beside)| *beside)
        .map(|(hit, _)| hit.span)
        .collect()
}

fn crosses(passage: &Passage<'_>, span: &Range<usize>) -> bool {
    span.end > passage.cited.end
}

/// The places where the very characters of `text` stand.
fn exact(matcher: &Matcher<'_>, text: &str) -> Found {
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
        .map(|at| {
            let span = start + at..start + at + text.len();
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
                    .is_some_and(|item| item.kind == Kind::Char);
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
    let starts = first.is_ascii_alphabetic()
        && matches!(before.chars().next_back(), None | Some(' ' | '\n' | '('));
    let mut after = after.chars();
    let next = after.next();
    let gap = |c: Option<char>| matches!(c, None | Some(' ' | '\n'));
    let ends = if last.is_ascii_alphabetic() {
        gap(next) || matches!(next, Some('.' | ',' | ';' | ')')) && gap(after.next())
    } else {
        matches!(last, '.' | ',' | ';' | '!' | '?' | ')') && gap(next)
    };
    starts && ends
}

/// The places where the folded quote stands.
fn normalized(matcher: &Matcher<'_>, quote: &Folded<'_>) -> Found {
    let source = matcher.source();
    let hits = source.find(quote).into_iter().map(|hit| {
        let whole = boundary::is_whole(&source.folded, &hit.items);
        (hit, whole)
    });
    Found::sort(matcher.passage(), hits.collect())
}

/// Those of them that cut no word, wherever they begin.
pub(super) fn normalized_hits(matcher: &Matcher<'_>, quote: &Folded<'_>) -> Vec<Hit> {
    let source = matcher.source();
    let mut hits = source.find(quote);
    hits.retain(|hit| boundary::is_whole(&source.folded, &hit.items));
    hits
}

/// The quote without the quotation marks around it, if it has some.
fn unquoted(text: &str) -> Option<&str> {
    const PAIRS: &[(char, char)] = &[
        ('"', '"'),
        ('\'', '\''),
        ('“', '”'),
        ('„', '“'),
        ('„', '”'),
        ('‘', '’'),
        ('‚', '‘'),
        ('«', '»'),
        ('»', '«'),
        ('「', '」'),
    ];
    let (open, close) = (text.chars().next()?, text.chars().next_back()?);
    if !PAIRS.contains(&(open, close)) {
        return None;
    }
    let bare = text
        .get(open.len_utf8()..text.len().checked_sub(close.len_utf8())?)?
        .trim();
    (!bare.is_empty()).then_some(bare)
}

/// Longest insertion in brackets.
const MOST_INSERTED_CHARS: usize = 40;
const MOST_INSERTED_WORDS: usize = 5;

/// The quote with its harmless bracketed words made optional; `None` if it has none.
pub(super) fn with_insertions(mut folded: Folded<'_>) -> Option<Folded<'_>> {
    let mut groups = Vec::new();
    let mut at = 0;
    while let Some(item) = folded.items.get(at) {
        if item.char() != Some('[') {
            at += 1;
            continue;
        }
        let rest = folded.items.get(at + 1..).unwrap_or(&[]);
        let close = rest
            .iter()
            .take(MOST_INSERTED_CHARS + 1)
            .position(|item| matches!(item.char(), Some(']' | '[')))
            .filter(|&close| rest.get(close).and_then(|item| item.char()) == Some(']'));
        let Some(close) = close else {
            at += 1;
            continue;
        };
        let words: String = rest.iter().take(close).map(|item| item.ch).collect();
        let harmless = words.split_whitespace().count() <= MOST_INSERTED_WORDS
            && words.chars().any(char::is_alphabetic)
            && lexicon::words(&words).all(|word| !lexicon::weighs(word));
        let gap = |index: usize| {
            folded
                .items
                .get(index)
                .is_some_and(|item| item.kind == Kind::Space)
        };
        let (mut start, mut end) = (at, at + close + 2);
        let before = start.checked_sub(1);
        // With the white space on one side; glued to a word it is a part of that word.
        let apart = match before {
            None => gap(end),
            Some(before) => gap(before) && folded.char(end).is_none_or(|c| !chars::is_wordish(c)),
        };
        if harmless && apart {
            match before {
                Some(before) => start = before,
                None => end += 1,
            }
            groups.push(Group {
                items: start..end,
                folding: None,
                words,
            });
        }
        at += close + 2;
    }
    if groups.is_empty() {
        return None;
    }
    folded.groups = groups;
    Some(folded)
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

/// Makes a verdict of the places where the quote stands.
fn settle(
    matcher: &Matcher<'_>,
    quote: &Quote<'_>,
    evidence: Evidence,
    options: Options,
    hits: Vec<Hit>,
    class: MatchClass,
) -> Verdict {
    let passage = matcher.passage();
    let mut flags = Vec::new();
    let mut refused = false;
    let beside = in_context(matcher, quote, &hits);
    let fitting = beside.iter().filter(|&&beside| beside).count();
    let mut hits = hits;
    if fitting > 0 {
        let mut beside = beside.into_iter();
        hits.retain(|_| beside.next().unwrap_or(false));
    } else {
        flags.push(Flag::ContextDiffers);
    }
    let count = hits.len();
    let Some(hit) = hits.into_iter().next() else {
        return Verdict::absent(flags, None);
    };
    let has_context = (quote.prefix.is_some() || quote.suffix.is_some()) && fitting > 0;
    if !evidence.is_enough() && !has_context {
        flags.push(Flag::TooShort);
        refused |= count > 1 && options.profile == Profile::Strict;
    }
    if count > 1 {
        flags.push(Flag::Ambiguous { count });
        refused |= options.profile == Profile::Strict;
    }
    if !hit.inserted.is_empty() {
        flags.push(Flag::Editorial {
            inserted: hit.inserted.clone(),
        });
    }
    let crosses = crosses(passage, &hit.span);
    Verdict::found(class, hit.foldings, vec![hit.span], crosses, flags, refused)
}
