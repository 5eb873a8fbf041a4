//! Whether a match begins and ends where words do.
//!
//! The base is UAX #29: letters, digits and marks run on, and so does an apostrophe, full stop or comma
//! between them. Stricter: a number keeps its sign, comparison, currency, separators, exponent, percent
//! and the unit's denominator; `non-` keeps what it negates. In scripts without spaces a grapheme
//! boundary is enough. Judged on the folded text, so that `un**able**` and a soft hyphen cut no word.

use unicode_segmentation::GraphemeCursor;

use super::chars::{self, is_digit, is_wordish};
use super::fold::{Folded, Kind};
use super::lexicon;
use std::ops::Range;

/// Whether a match of the elements `items` begins and ends at a boundary.
pub(super) fn is_whole(folded: &Folded<'_>, items: &Range<usize>) -> bool {
    begins_whole(folded, items.start) && ends_whole(folded, items.end)
}

/// The whole word, number or compound around the edges that a match cuts, for a message.
pub(super) fn cut_word(folded: &Folded<'_>, items: &Range<usize>) -> String {
    let at = if begins_whole(folded, items.start) {
        items.end
    } else {
        items.start
    };
    let offset = folded
        .items
        .get(at)
        .map_or(folded.text.len(), |item| item.start as usize);
    let (before, after) = folded
        .text
        .split_at(folded.text.floor_char_boundary(offset));
    let gap = |c: char| chars::is_space(c);
    let start = before
        .char_indices()
        .rev()
        .take(40)
        .take_while(|&(_, c)| !gap(c))
        .last()
        .map_or(offset, |(at, _)| at);
    let end = after
        .char_indices()
        .take(40)
        .take_while(|&(_, c)| !gap(c))
        .last()
        .map_or(offset, |(at, c)| offset + at + c.len_utf8());
    let word = folded.text.get(start..end).unwrap_or("");
    word.trim_end_matches(['.', ',', ';', ':', '!', '?'])
        .to_owned()
}

fn is_grapheme_boundary(text: &str, offset: usize) -> bool {
    GraphemeCursor::new(offset, text.len(), true)
        .is_boundary(text, 0)
        .unwrap_or(true)
}

/// Whether the `>` at `index` begins a block quote: it is the first of its paragraph.
fn opens_block_quote(folded: &Folded<'_>, index: usize) -> bool {
    if folded.char(index) != Some('>') {
        return false;
    }
    match index
        .checked_sub(1)
        .and_then(|before| folded.items.get(before))
    {
        None => true,
        Some(item) => folded
            .text
            .get(item.range())
            .is_some_and(|gap| gap.trim().is_empty() && gap.matches('\n').count() > 1),
    }
}

/// A dash that separates clauses, which is no sign of a number.
fn is_clause_dash(folded: &Folded<'_>, index: usize) -> bool {
    folded
        .items
        .get(index)
        .and_then(|item| folded.text.get(item.range()))
        .is_some_and(|raw| raw == "—" || raw == "―" || raw.len() > 1 && raw.starts_with("--"))
}

/// The letters directly before element `index`, and the index of the first of them.
fn word_before(folded: &Folded<'_>, index: usize) -> (String, usize) {
    let mut start = index;
    let mut word = Vec::new();
    while let Some(before) = start.checked_sub(1)
        && let Some(c) = folded.char(before).filter(|c| c.is_alphabetic())
        && word.len() < 40
    {
        word.push(c);
        start = before;
    }
    (word.into_iter().rev().collect(), start)
}

fn word_after(folded: &Folded<'_>, index: usize) -> String {
    (index..index + 40)
        .map_while(|at| folded.char(at).filter(|c| c.is_alphabetic()))
        .collect()
}

/// Whether a separator between two characters holds them together.
fn joins(separator: char, before: char, after: char) -> bool {
    if is_digit(before) && is_digit(after) {
        return matches!(
            separator,
            '.' | ',' | ':' | '/' | '\'' | '×' | '*' | '·' | '^' | '-' | '−' | '٫' | '٬'
        );
    }
    before.is_alphabetic() && after.is_alphabetic() && matches!(separator, '\'' | '.' | '·' | '‧')
}

fn begins_whole(folded: &Folded<'_>, start: usize) -> bool {
    let Some(first) = folded.items.get(start) else {
        return false;
    };
    if !is_grapheme_boundary(folded.text, first.start as usize) {
        return false;
    }
    let Some(before) = start.checked_sub(1) else {
        return true;
    };
    let Some(item) = folded.items.get(before) else {
        return true;
    };
    // A ligature or an entity is not cut in half.
    if item.start < item.end && item.end > first.start {
        return false;
    }
    let current = first.ch();
    let numeric = is_digit(current)
        || matches!(current, '.' | '-' | '+' | '±') && folded.char(start + 1).is_some_and(is_digit)
        || chars::is_currency(current);
    match item.kind() {
        Kind::SoftHyphen | Kind::Superscript | Kind::Subscript | Kind::ScriptEnd => false,
        Kind::SoftSpace => true,
        Kind::Space => {
            let compared = before.checked_sub(1).is_some_and(|index| {
                folded.char(index).is_some_and(chars::is_comparison)
                    && !opens_block_quote(folded, index)
            });
            !(numeric && compared)
        }
        Kind::Char | Kind::LongS => {
            let last = item.ch();
            if is_wordish(last) && is_wordish(current) {
                return chars::is_spaceless(last) || chars::is_spaceless(current);
            }
            let earlier = before.checked_sub(1).and_then(|index| folded.char(index));
            if is_wordish(current) {
                if let Some(earlier) = earlier
                    && joins(last, earlier, current)
                    && !is_clause_dash(folded, before)
                {
                    return false;
                }
                if is_digit(current) {
                    let signed = matches!(last, '+' | '^' | '-')
                        || chars::is_comparison(last)
                        || chars::is_currency(last)
                        || last == '.' && !earlier.is_some_and(is_wordish);
                    return !signed || is_clause_dash(folded, before);
                }
                return !(last == '-'
                    && lexicon::is_reversing_prefix(&word_before(folded, before).0));
            }
            // The quote begins with a sign.
            let Some(next) = folded.char(start + 1) else {
                return true;
            };
            if is_clause_dash(folded, start) {
                return true;
            }
            let continues = joins(current, last, next)
                || is_digit(last) && chars::follows_number(current)
                || is_digit(last) && matches!(current, '+' | '-') && is_digit(next)
                || numeric && (chars::is_comparison(last) || matches!(last, '-' | '+'));
            !continues
        }
    }
}

fn ends_whole(folded: &Folded<'_>, end: usize) -> bool {
    let Some(before) = end.checked_sub(1) else {
        return false;
    };
    let (Some(item), Some(next)) = (folded.items.get(before), folded.items.get(end)) else {
        return true;
    };
    if next.start < next.end && item.end > next.start {
        return false;
    }
    if !is_grapheme_boundary(folded.text, item.end as usize) {
        return false;
    }
    // A marker glued to the word is not a part of it.
    if folded.group_at(end).is_some() {
        return true;
    }
    let Some(last) = item.char() else {
        return true;
    };
    match next.kind() {
        Kind::SoftHyphen | Kind::Superscript | Kind::Subscript | Kind::ScriptEnd => false,
        Kind::SoftSpace => true,
        Kind::Space => {
            let percent = folded.char(end + 1).is_some_and(chars::follows_number);
            let dangling = chars::is_comparison(last) && folded.char(end + 1).is_some_and(is_digit);
            !(is_digit(last) && percent || dangling)
        }
        Kind::Char | Kind::LongS => {
            let current = next.ch();
            if is_wordish(last) && is_wordish(current) {
                return chars::is_spaceless(last) || chars::is_spaceless(current);
            }
            let after = folded.char(end + 1);
            if !is_wordish(last) {
                // The quote ends with a sign.
                let earlier = before.checked_sub(1).and_then(|index| folded.char(index));
                let signed = chars::is_comparison(last)
                    || chars::is_currency(last)
                    || matches!(last, '+' | '-' | '^');
                let bound = is_digit(current) && signed
                    || earlier.is_some_and(|earlier| joins(last, earlier, current));
                return !bound || is_clause_dash(folded, before);
            }
            if let Some(after) = after
                && joins(current, last, after)
                && !is_clause_dash(folded, end)
            {
                return false;
            }
            if is_digit(last) {
                return !(chars::follows_number(current)
                    || chars::is_currency(current)
                    || matches!(current, '^' | '+')
                    || matches!(current, '\'' | '"')
                        && folded
                            .items
                            .get(end)
                            .and_then(|item| folded.text.get(item.range()))
                            .is_some_and(|raw| raw == "′" || raw == "″"));
            }
            match current {
                '\'' => !ends_possessive(folded, end),
                '/' => !is_rate(folded, end),
                '-' => !lexicon::is_reversing_suffix(&word_after(folded, end + 1)),
                _ => true,
            }
        }
    }
}

/// Whether the apostrophe at `index` makes a possessive of a word in `s`: `patients’ cells`.
fn ends_possessive(folded: &Folded<'_>, index: usize) -> bool {
    let after_s = index
        .checked_sub(1)
        .and_then(|before| folded.char(before))
        .is_some_and(|c| matches!(c, 's' | 'S'));
    let goes_on = folded
        .items
        .get(index + 1)
        .is_some_and(|item| item.kind() == Kind::Space)
        && folded.char(index + 2).is_some_and(is_wordish);
    if !after_s || !goes_on {
        return false;
    }
    // A closing quotation mark has its opening one within reach.
    let reach = folded
        .items
        .get(index.saturating_sub(300)..index)
        .unwrap_or(&[]);
    let opened = reach.iter().enumerate().rev().any(|(at, item)| {
        item.char() == Some('\'')
            && at
                .checked_sub(1)
                .and_then(|before| reach.get(before))
                .is_none_or(|before| before.char().is_none_or(|c| !is_wordish(c)))
    });
    !opened
}

/// Whether the slash at `index` belongs to a unit behind a number: `5 mg/kg`.
fn is_rate(folded: &Folded<'_>, index: usize) -> bool {
    if !folded.char(index + 1).is_some_and(|c| c.is_alphanumeric()) {
        return false;
    }
    let (_, start) = word_before(folded, index);
    let Some(mut before) = start.checked_sub(1) else {
        return false;
    };
    if folded
        .items
        .get(before)
        .is_some_and(|item| item.kind() == Kind::Space)
    {
        let Some(earlier) = before.checked_sub(1) else {
            return false;
        };
        before = earlier;
    }
    folded.char(before).is_some_and(is_digit)
}
