//! Several quotes of one citation stand in the order in which they are given.

use std::ops::Range;

use super::verdict::{Flag, Verdict};
use super::{Matcher, Options, Quote, check};

/// Checks all quotes; one that is ambiguous alone is settled where its neighbours leave only one place.
pub(super) fn check_all(
    matcher: &Matcher<'_>,
    quotes: &[Quote<'_>],
    options: Options,
) -> Vec<Verdict> {
    let mut verdicts: Vec<Verdict> = quotes
        .iter()
        .map(|quote| check::check(matcher, quote, options))
        .collect();
    let is_ambiguous = |verdict: &Verdict| {
        verdict
            .flags()
            .iter()
            .any(|flag| matches!(flag, Flag::Ambiguous { .. }))
    };
    if quotes.len() < 2 || !verdicts.iter().any(is_ambiguous) {
        return verdicts;
    }
    // A quote that does not stand there takes no place.
    let places: Vec<Vec<Range<usize>>> = quotes
        .iter()
        .zip(&verdicts)
        .map(|(quote, verdict)| {
            if is_ambiguous(verdict) && verdict.spans().len() == 1 {
                matcher.find_all(quote)
            } else if verdict.verified() {
                verdict.cover().into_iter().collect()
            } else {
                Vec::new()
            }
        })
        .collect();
    let (Some(earliest), Some(latest)) = (earliest(&places), latest(&places)) else {
        return verdicts;
    };
    for ((verdict, first), last) in verdicts.iter_mut().zip(earliest).zip(latest) {
        if let (Some(first), Some(last)) = (first, last)
            && first == last
            && is_ambiguous(verdict)
        {
            verdict.settle_at(first);
        }
    }
    verdicts
}

type Laid = Vec<Option<Range<usize>>>;

/// The first place for each quote after the one before; `None` if they cannot all be laid in order.
fn earliest(places: &[Vec<Range<usize>>]) -> Option<Laid> {
    let mut from = 0;
    places
        .iter()
        .map(|list| {
            if list.is_empty() {
                return Some(None);
            }
            let at = list.partition_point(|span| span.start < from);
            let span = list.get(at)?;
            from = span.end;
            Some(Some(span.clone()))
        })
        .collect()
}

/// The last place for each quote before the one after.
fn latest(places: &[Vec<Range<usize>>]) -> Option<Laid> {
    let mut until = usize::MAX;
    let mut laid: Laid = places
        .iter()
        .rev()
        .map(|list| {
            if list.is_empty() {
                return Some(None);
            }
            let after = list.partition_point(|span| span.end <= until);
            let span = list.get(after.checked_sub(1)?)?;
            until = span.start;
            Some(Some(span.clone()))
        })
        .collect::<Option<Laid>>()?;
    laid.reverse();
    Some(laid)
}
