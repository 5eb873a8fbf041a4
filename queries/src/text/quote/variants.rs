//! Other ways to read a quote: without the quotation marks around it, without bracketed words.

use super::fold::{Folded, Group, Kind};
use super::{chars, lexicon};

/// The quote without the quotation marks around it, if it has some.
pub(super) fn unquoted(text: &str) -> Option<&str> {
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
        let words: String = rest.iter().take(close).map(|item| item.ch()).collect();
        let harmless = words.split_whitespace().count() <= MOST_INSERTED_WORDS
            && words.chars().any(char::is_alphabetic)
            && lexicon::words(&words).all(|word| !lexicon::weighs(word));
        let gap = |index: usize| {
            folded
                .items
                .get(index)
                .is_some_and(|item| item.kind() == Kind::Space)
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
    // At the beginning of a quote there is nothing to compare before it.
    if groups.first().is_some_and(|group| group.items.start == 0) {
        let lead = groups.remove(0);
        let taken = lead.items.end.min(folded.items.len());
        folded.items.drain(..taken);
        for group in &mut groups {
            group.items =
                group.items.start.saturating_sub(taken)..group.items.end.saturating_sub(taken);
        }
        folded.dropped = Some(lead.words);
    }
    folded.set_groups(groups);
    Some(folded)
}
