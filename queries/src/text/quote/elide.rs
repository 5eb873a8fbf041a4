//! Quotes that mark omissions: `… ... [...] […] (...) (…)`.
//!
//! The segments must stand in order, each long enough to prove something, with short gaps within one
//! section. Of several ways to lay them the one with the tightest gaps is taken: it leaves out least.

use std::ops::Range;

use super::evidence::Evidence;
use super::fold::Folded;
use super::places;
use super::variants;
use super::verdict::{Flag, Foldings, MatchClass, Verdict};
use super::walk::Hit;
use super::{Matcher, Options, Profile, Quote, chars, lexicon};

/// Longest gap, in Unicode scalar values.
const LONGEST_GAP: usize = 400;
/// Most segments looked for; each costs a pass over the passage.
const MOST_SEGMENTS: usize = 32;

/// The segments between the marks of `text`; `None` when it has no mark.
fn segments(text: &str) -> Option<Vec<&str>> {
    let mut segments = Vec::new();
    let mut start = 0;
    let mut at = 0;
    let mut marked = false;
    while let Some(rest) = text.get(at..)
        && let Some(first) = rest.chars().next()
    {
        let Some(len) = mark_len(rest) else {
            at += first.len_utf8();
            continue;
        };
        marked = true;
        segments.extend(text.get(start..at));
        at += len;
        start = at;
    }
    segments.extend(text.get(start..));
    let segments: Vec<&str> = segments
        .into_iter()
        .map(|segment| segment.trim_matches(|c| chars::is_space(c) || chars::is_invisible(c)))
        .filter(|segment| segment.chars().any(char::is_alphanumeric))
        .collect();
    marked.then_some(segments)
}

/// The length of the omission mark that begins `rest`.
fn mark_len(rest: &str) -> Option<usize> {
    let first = rest.chars().next()?;
    if matches!(first, '[' | '(') {
        let close = if first == '[' { ']' } else { ')' };
        let inner_len = rest.bytes().take(12).position(|byte| byte == close as u8)?;
        let inner: String = rest
            .get(1..inner_len)?
            .chars()
            .filter(|&c| !chars::is_space(c))
            .collect();
        let dots = inner == "…" || inner.len() >= 2 && inner.bytes().all(|byte| byte == b'.');
        return dots.then_some(inner_len + 1);
    }
    if first == '…' {
        let run = rest.find(|c| c != '…' && c != '.').unwrap_or(rest.len());
        return Some(run);
    }
    if rest.starts_with(". . .") {
        return Some(5);
    }
    let dots = rest.bytes().take_while(|&byte| byte == b'.').count();
    (dots >= 3).then_some(dots)
}

/// A place for a segment and the place of the segment before it in the best chain so far.
struct Link<'a> {
    hit: &'a Hit,
    before: Option<usize>,
}

/// What looking for an elided quote came to.
pub(super) enum Elided {
    /// It stands there, or outside the cited pages.
    Verdict(Verdict),
    /// It marks omissions, but a segment proves too little.
    SegmentTooShort,
    /// All segments stand there, but not so that they make one quote.
    Refused {
        /// From the first segment on.
        span: Range<usize>,
        /// What decides.
        decides: &'static str,
    },
    /// A segment does not stand there.
    Missing {
        /// Its words.
        segment: String,
    },
    /// It is not an elided quote.
    No,
}

pub(super) fn check(
    matcher: &Matcher<'_>,
    quote: &Quote<'_>,
    text: &str,
    options: Options,
) -> Elided {
    let Some(segments) = segments(text) else {
        return Elided::No;
    };
    if segments.is_empty() || segments.len() > MOST_SEGMENTS {
        return Elided::No;
    }
    if !segments
        .iter()
        .all(|segment| Evidence::of(segment).is_segment())
    {
        return Elided::SegmentTooShort;
    }
    let passage = matcher.passage();
    let mut found = Vec::with_capacity(segments.len());
    for segment in &segments {
        let hits = locate(matcher, segment);
        if hits.is_empty() {
            return Elided::Missing {
                segment: (*segment).to_owned(),
            };
        }
        found.push(hits);
    }
    let on_pages = Limits {
        pages: true,
        gaps: true,
    };
    let chains = chains(matcher, &found, on_pages);
    if !chains.is_empty() {
        return Elided::Verdict(settle(matcher, quote, options, chains));
    }
    let spans_of = |limits: Limits| -> Option<Vec<Range<usize>>> {
        let chain = self::chains(matcher, &found, limits).into_iter().next()?;
        Some(chain.into_iter().map(|hit| hit.span).collect())
    };
    if let Some(spans) = spans_of(Limits {
        pages: false,
        gaps: true,
    }) {
        let class = MatchClass::OutsidePages;
        return Elided::Verdict(Verdict::found(
            class,
            Foldings::NONE,
            spans,
            false,
            Vec::new(),
            true,
        ));
    }
    let first = found
        .first()
        .and_then(|hits| hits.first())
        .map_or(0..0, |hit| hit.span.clone());
    match spans_of(Limits {
        pages: false,
        gaps: false,
    }) {
        Some(spans) => {
            let end = spans.last().map_or(first.end, |span| span.end);
            let start = spans.first().map_or(first.start, |span| span.start);
            let long = spans.windows(2).any(|pair| match pair {
                [left, right] => is_long(passage.text.get(left.end..right.start).unwrap_or("")),
                _ => false,
            });
            let decides = if long {
                "leaves out more than 400 characters between two segments"
            } else {
                "leaves out the heading of another section"
            };
            Elided::Refused {
                span: start..end,
                decides,
            }
        }
        None => Elided::Refused {
            span: first,
            decides: "has all its segments in the source, but not in this order within the cited chunk",
        },
    }
}

/// All places of one segment, as it stands or without the comma at its end.
fn locate(matcher: &Matcher<'_>, segment: &str) -> Vec<Hit> {
    let found = |text: &str| -> Vec<Hit> {
        let mut hits = places::exact_hits(matcher, text);
        if hits.is_empty() {
            hits = places::normalized_hits(matcher, &Folded::new(text, true));
        }
        if hits.is_empty()
            && let Some(edited) = variants::with_insertions(Folded::new(text, true))
        {
            hits = places::normalized_hits(matcher, &edited);
        }
        hits
    };
    let hits = found(segment);
    if !hits.is_empty() {
        return hits;
    }
    // The punctuation beside an omission is the writer's.
    let trimmed = segment
        .trim_end_matches([',', ';', ':', '.'])
        .trim_start_matches([',', ';', ':'])
        .trim();
    if trimmed == segment || trimmed.is_empty() {
        hits
    } else {
        found(trimmed)
    }
}

/// What a chain must keep to.
#[derive(Clone, Copy)]
struct Limits {
    /// All segments lie on the cited pages.
    pages: bool,
    /// Gaps are short and within a section.
    gaps: bool,
}

/// One chain for each place at which the last segment can end a valid one.
fn chains(matcher: &Matcher<'_>, found: &[Vec<Hit>], limits: Limits) -> Vec<Vec<Hit>> {
    let passage = matcher.passage();
    let window = &passage.window;
    let mut rows: Vec<Vec<Link<'_>>> = Vec::with_capacity(found.len());
    for hits in found {
        let hits = hits.iter().filter(|hit| {
            !limits.pages || window.start <= hit.span.start && hit.span.end <= window.end
        });
        let mut row = Vec::new();
        match rows.last() {
            None => {
                let begins = |hit: &&Hit| passage.cited.contains(&hit.span.start);
                row.extend(hits.filter(begins).map(|hit| Link { hit, before: None }));
            }
            Some(previous) => {
                let mut next = 0;
                for hit in hits {
                    while previous
                        .get(next)
                        .is_some_and(|link| link.hit.span.end <= hit.span.start)
                    {
                        next += 1;
                    }
                    let Some(before) = next.checked_sub(1) else {
                        continue;
                    };
                    let gap = previous
                        .get(before)
                        .map(|link| link.hit.span.end..hit.span.start);
                    if !limits.gaps || gap.is_some_and(|gap| is_valid_gap(passage.text, gap)) {
                        row.push(Link {
                            hit,
                            before: Some(before),
                        });
                    }
                }
            }
        }
        if row.is_empty() {
            return Vec::new();
        }
        rows.push(row);
    }
    let ends = rows.last().map_or(0, Vec::len);
    let follow = |end: usize| -> Vec<Hit> {
        let mut chain = Vec::with_capacity(rows.len());
        let mut index = Some(end);
        for row in rows.iter().rev() {
            if let Some(link) = index.and_then(|index| row.get(index)) {
                chain.push(link.hit.clone());
                index = link.before;
            }
        }
        chain.reverse();
        chain
    };
    // Reading each chain costs its length; more than a handful only says "ambiguous".
    (0..ends.min(64)).map(follow).collect()
}

fn is_valid_gap(text: &str, gap: Range<usize>) -> bool {
    text.get(gap)
        .is_some_and(|gap| !is_long(gap) && !crosses_heading(gap))
}

fn is_long(gap: &str) -> bool {
    gap.len() > LONGEST_GAP * 4 || gap.chars().count() > LONGEST_GAP
}

/// Whether a new section begins within the gap.
fn crosses_heading(gap: &str) -> bool {
    let mut lines = gap.split('\n');
    lines.next();
    lines.any(|line| {
        let line = line.trim();
        let hashes = line.bytes().take_while(|&byte| byte == b'#').count();
        let atx = (1..=6).contains(&hashes)
            && line.get(hashes..).is_some_and(|rest| rest.starts_with(' '));
        let setext = line.len() >= 3 && line.bytes().all(|byte| byte == b'=')
            || line.len() >= 3 && line.bytes().all(|byte| byte == b'-');
        atx || setext
    }) || ["<h1", "<h2", "<h3", "<h4", "<h5", "<h6"]
        .iter()
        .any(|tag| gap.contains(tag))
}

fn settle(
    matcher: &Matcher<'_>,
    quote: &Quote<'_>,
    options: Options,
    mut chains: Vec<Vec<Hit>>,
) -> Verdict {
    let passage = matcher.passage();
    let mut flags = Vec::new();
    // Context decides between chains: a prefix stands before the first segment, a suffix behind the last.
    let ends: Vec<Hit> = chains
        .iter()
        .filter_map(|chain| {
            let (first, last) = (chain.first()?, chain.last()?);
            Some(Hit {
                span: first.span.start..last.span.end,
                ..last.clone()
            })
        })
        .collect();
    let beside = places::in_context(matcher, quote, &ends);
    if beside.iter().any(|&beside| beside) {
        let mut beside = beside.into_iter();
        chains.retain(|_| beside.next().unwrap_or(false));
    } else {
        flags.push(Flag::ContextDiffers);
    }
    let count = chains.len();
    let chain = chains.into_iter().next().unwrap_or_default();
    let foldings = chain
        .iter()
        .fold(Foldings::NONE, |all, hit| all.and(hit.foldings));
    let inserted: Vec<String> = chain.iter().flat_map(|hit| hit.inserted.clone()).collect();
    let spans: Vec<Range<usize>> = chain.into_iter().map(|hit| hit.span).collect();
    let omitted: Vec<String> = spans
        .windows(2)
        .filter_map(|pair| match pair {
            [left, right] => passage.text.get(left.end..right.start),
            _ => None,
        })
        .flat_map(lexicon::negations)
        .collect();
    let strict = options.profile == Profile::Strict;
    let mut refused = false;
    if count > 1 {
        flags.push(Flag::Ambiguous { count });
        refused |= strict;
    }
    if !omitted.is_empty() {
        flags.push(Flag::OmittedNegation { words: omitted });
        refused |= strict;
    }
    if !inserted.is_empty() {
        flags.push(Flag::Editorial { inserted });
    }
    let crosses = spans
        .last()
        .is_some_and(|span| span.end > passage.cited.end);
    Verdict::found(MatchClass::Elided, foldings, spans, crosses, flags, refused)
}
