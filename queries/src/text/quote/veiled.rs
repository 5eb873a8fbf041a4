//! Quotes of what a text holds and does not say: comments, hidden elements, struck-out words.
//!
//! The comparison passes over them, and a place within them is no place. Only when a quote stands
//! nowhere else is it looked for there, to say so.

use std::ops::Range;

use super::verdict::{Flag, MatchClass, Nearest, Verdict};
use super::{Matcher, Options, Passage, Profile, Quote, check};
use crate::text::veil::{self, Veil};

/// Whether characters at `span` are taken from what is not said. A quote that holds the whole target
/// of a link has copied the link.
pub(super) fn takes_from(passage: &Passage<'_>, span: &Range<usize>) -> bool {
    first(passage, span).is_some()
}

/// Why a part of `span` is not said.
fn first(passage: &Passage<'_>, span: &Range<usize>) -> Option<Veil> {
    veil::within(passage.veiled, span)
        .iter()
        .find(|veiled| {
            let copied = span.start <= veiled.range.start && veiled.range.end <= span.end;
            veiled.veil != Veil::Target || !copied
        })
        .map(|veiled| veiled.veil)
}

/// Whether a folded match begins or ends within what is not said; what it passes over is no part of it.
pub(super) fn ends_within(passage: &Passage<'_>, span: &Range<usize>) -> bool {
    veil::within(passage.veiled, span)
        .iter()
        .any(|veiled| veiled.range.start < span.start || span.end < veiled.range.end)
}

/// What to say of a quote that was not found elsewhere, if it stands in what is not said.
pub(super) fn verdict(
    matcher: &Matcher<'_>,
    quote: &Quote<'_>,
    options: Options,
) -> Option<Verdict> {
    let passage = matcher.passage();
    if passage.veiled.is_empty() {
        return None;
    }
    let bare = Matcher::new(Passage {
        veiled: &[],
        ..passage.clone()
    });
    let found = check::check(&bare, quote, options);
    if matches!(found.class(), MatchClass::Absent | MatchClass::OutsidePages) {
        return None;
    }
    let veil = found.spans().iter().find_map(|span| first(passage, span))?;
    // What no reader sees is not there, whatever else the contract lets pass.
    if options.profile == Profile::Strict && veil != Veil::Struck {
        return Some(Verdict::absent(
            Vec::new(),
            Some(Nearest {
                span: found.cover()?,
                decides: "stands only where no reader sees it".to_owned(),
                close: false,
            }),
        ));
    }
    Some(found.flagged(Flag::Veiled { veil }, options.profile == Profile::Strict))
}
