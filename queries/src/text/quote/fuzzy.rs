//! Matches that differ by a small harmless edit, for callers who ask for them.
//!
//! An edit is one letter changed, added, lost or swapped within one long word of letters. Everything
//! else (numbers, signs, short words, negations, case, the first letter, punctuation, a word that the
//! passage has elsewhere and so is a word of its own) is protected. So is every capitalised word: it
//! may be a name, also at the beginning of a sentence, and Jonson is not Johnson. What is left is a
//! risk that whoever asks for this takes: one letter makes `sulfite` of `sulfate`, and no list of
//! words tells a misprint from another substance.

use super::fold::Folded;
use super::nearest::Alignment;
use super::places;
use super::tokens::{Sort, Token};
use super::verdict::{Flag, Foldings, MatchClass, Verdict};
use super::{Matcher, boundary, lexicon};

/// Letters a word must exceed to be edited.
const SHORT_WORD: usize = 4;
/// One edit per so many characters of the quote (2 percent).
const CHARS_PER_EDIT: usize = 50;

/// The verdict for a quote that stands in the passage but for a small edit.
pub(super) fn check(
    matcher: &Matcher<'_>,
    quote: &Folded<'_>,
    source: &Folded<'_>,
    alignment: &Alignment,
) -> Option<Verdict> {
    let passage = matcher.passage();
    let allowed = quote.text.chars().count() / CHARS_PER_EDIT;
    if alignment.edits.is_empty() || alignment.edits.len() > allowed {
        return None;
    }
    let mut edits = Vec::new();
    for (left, right) in &alignment.edits {
        let ([word], [other]) = (
            alignment.quote.get(left.clone())?,
            alignment.source.get(right.clone())?,
        ) else {
            return None;
        };
        edits.push(harmless(source, quote, word, other)?);
    }
    if !is_whole_quote(quote, alignment) || !spaced_alike(source, quote, alignment) {
        return None;
    }
    let cover = alignment.source.get(alignment.cover.clone())?;
    let items = cover.first()?.items.start..cover.last()?.items.end;
    let span = cover.first()?.span(source).start..cover.last()?.span(source).end;
    let inside = passage.cited.contains(&span.start)
        && passage.window.start <= span.start
        && span.end <= passage.window.end;
    if !inside || !boundary::is_whole(source, &items) {
        return None;
    }
    // A word that the passage uses elsewhere is another word, not a misprint.
    let elsewhere = edits
        .iter()
        .any(|(word, _)| !places::exact_hits(matcher, word).is_empty());
    if elsewhere {
        return None;
    }
    let crosses = span.end > passage.cited.end;
    Some(Verdict::found(
        MatchClass::Fuzzy,
        Foldings::NONE,
        vec![span],
        crosses,
        vec![Flag::Fuzzy { edits }],
        false,
    ))
}

/// Whether alignment saw the whole quote; very long ones are cut.
fn is_whole_quote(quote: &Folded<'_>, alignment: &Alignment) -> bool {
    alignment
        .quote
        .last()
        .is_some_and(|token| token.items.end >= quote.items.len())
}

/// Whether white space separates the same tokens on both sides.
fn spaced_alike(source: &Folded<'_>, quote: &Folded<'_>, alignment: &Alignment) -> bool {
    let gaps = |tokens: &[Token]| -> Vec<bool> {
        tokens
            .windows(2)
            .map(|pair| match pair {
                [left, right] => left.items.end < right.items.start,
                _ => false,
            })
            .collect()
    };
    let cover = alignment.source.get(alignment.cover.clone()).unwrap_or(&[]);
    !source.items.is_empty() && !quote.items.is_empty() && gaps(cover) == gaps(&alignment.quote)
}

/// The two words, when one letter makes the difference and nothing protected does.
fn harmless(
    source: &Folded<'_>,
    quote: &Folded<'_>,
    word: &Token,
    other: &Token,
) -> Option<(String, String)> {
    let (word, other, sorts) = (
        word.text(quote),
        other.text(source),
        (word.sort, other.sort),
    );
    let ordinary = |text: &str| {
        text.chars().count() > SHORT_WORD
            && text.chars().all(char::is_alphabetic)
            && text.chars().all(|c| !c.is_uppercase())
            && lexicon::negations(text).is_empty()
    };
    // A letter with a diacritic is protected: to lose or change one is no slip of the pen.
    let marked = |text: &str| text.chars().filter(|c| !c.is_ascii()).collect::<String>();
    let fine = sorts == (Sort::Word, Sort::Word)
        && ordinary(&word)
        && ordinary(&other)
        && word.chars().next() == other.chars().next()
        && marked(&word) == marked(&other)
        && strsim::osa_distance(&word, &other) == 1;
    fine.then_some((word, other))
}
