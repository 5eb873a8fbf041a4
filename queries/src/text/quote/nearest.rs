//! For a quote that does not stand in a passage: the place that resembles it most, and what differs.
//!
//! Rare words that both share vote for a place; there the two are aligned token by token. Both steps
//! are bounded. If less than half of the quote's words stand there, nothing is said at all, because
//! a difference to an unrelated sentence explains nothing.

use std::borrow::Cow;
use std::ops::Range;

use super::fold::Folded;
use super::survey::{Survey, vote};
use super::tokens::{Sort, Token, tokens};
use super::verdict::Nearest;
use super::{Matcher, chars, damage, lexicon};

/// Most tokens of the quote that are aligned.
const MOST_TOKENS: usize = 300;
/// How many tokens of the passage around the voted place are looked at besides the quote's own number.
const SLACK: usize = 24;

/// A quote laid on the place that resembles it most.
pub(super) struct Alignment {
    pub quote: Vec<Token>,
    pub source: Vec<Token>,
    /// Differences, in order: tokens of the quote, tokens of the source.
    pub edits: Vec<Edit>,
    /// Tokens of the source that the quote covers.
    pub cover: Range<usize>,
}

/// Aligns `quote` with the place of the passage that resembles it most, if one does; also, the passage
/// as it was folded for that, the whole or the part around the place.
pub(super) fn align<'m, 't>(
    matcher: &'m Matcher<'t>,
    quote: &Folded<'_>,
) -> Option<(Cow<'m, Folded<'t>>, Alignment)> {
    let quote_tokens: Vec<Token> = tokens(quote, 0).take(MOST_TOKENS).collect();
    let survey = Survey::new(matcher, &quote_tokens);
    let start = vote(&quote_tokens, &survey.places)?;
    let first = (start - SLACK as i64).max(survey.from as i64) as usize;
    let last = usize::try_from(start + (quote_tokens.len() + SLACK) as i64).ok()?;
    let (source, window) = survey.window(matcher, first..last);
    let pairs = common(&quote_tokens, &window);
    let words = |token: &&Token| token.sort != Sort::Sign;
    let all = quote_tokens.iter().filter(words).count();
    let shared = pairs
        .iter()
        .filter(|(left, _)| {
            quote_tokens
                .get(*left)
                .is_some_and(|token| token.sort != Sort::Sign)
        })
        .count();
    if shared == 0 || shared * 2 < all {
        return None;
    }
    let (edits, cover) = edits(&pairs, &quote_tokens, &window);
    let alignment = Alignment {
        quote: quote_tokens,
        source: window,
        edits,
        cover,
    };
    Some((source, alignment))
}

/// Pairs of equal tokens, in order: as many as possible, and close together rather than far apart. What
/// the source has before the first pair and after the last one costs nothing.
///
/// A semi-global alignment with a linear gap penalty (Needleman and Wunsch 1970, free end gaps in the
/// source): a lone equal word far away is worth less than the tokens that would lie between.
fn common(left: &[Token], right: &[Token]) -> Vec<(usize, usize)> {
    // Words count more than signs, so that a comma does not pull words apart.
    let worth = |token: &Token| if token.sort == Sort::Sign { 2 } else { 8 };
    let width = right.len() + 1;
    let mut table = vec![0i32; (left.len() + 1) * width];
    let get = |table: &[i32], row: usize, column: usize| {
        table.get(row * width + column).copied().unwrap_or(0)
    };
    for (row, token) in left.iter().enumerate().rev() {
        for column in (0..width).rev() {
            // Without a source there is nothing but the rest of the quote to skip.
            let skip = get(&table, row + 1, column) - 1;
            let value = match right.get(column) {
                None => skip,
                Some(other) => {
                    let best = skip.max(get(&table, row, column + 1) - 1);
                    if token.loose == other.loose {
                        best.max(get(&table, row + 1, column + 1) + worth(token))
                    } else {
                        best
                    }
                }
            };
            if let Some(cell) = table.get_mut(row * width + column) {
                *cell = value;
            }
        }
    }
    let mut column = 0;
    for at in 1..width {
        if get(&table, 0, at) > get(&table, 0, column) {
            column = at;
        }
    }
    let (mut row, mut pairs) = (0, Vec::new());
    while let (Some(token), Some(other)) = (left.get(row), right.get(column)) {
        let value = get(&table, row, column);
        let pair = get(&table, row + 1, column + 1) + worth(token);
        if token.loose == other.loose && value == pair {
            pairs.push((row, column));
            row += 1;
            column += 1;
        } else if value == get(&table, row + 1, column) - 1 {
            row += 1;
        } else {
            column += 1;
        }
    }
    tighten(&mut pairs, left, right);
    pairs
}

/// Moves each pair as close to the next one as equal tokens allow. The pairs above are the earliest
/// possible, and a quote that begins with "A" would begin at the first "a" there is.
fn tighten(pairs: &mut [(usize, usize)], left: &[Token], right: &[Token]) {
    let mut next = None;
    for (row, column) in pairs.iter_mut().rev() {
        if let (Some(next), Some(token)) = (next, left.get(*row))
            && let Some(between) = right.get(*column..next)
            && let Some(latest) = between.iter().rposition(|it| it.loose == token.loose)
        {
            *column += latest;
        }
        next = Some(*column);
    }
}

/// Tokens of the quote and those of the source in their place.
pub(super) type Edit = (Range<usize>, Range<usize>);

/// The gaps between the pairs and the pairs that differ in case, and what the quote covers.
fn edits(pairs: &[(usize, usize)], quote: &[Token], source: &[Token]) -> (Vec<Edit>, Range<usize>) {
    let (Some(&(first_quote, first_source)), Some(&(last_quote, last_source))) =
        (pairs.first(), pairs.last())
    else {
        return (Vec::new(), 0..0);
    };
    let start = first_source.saturating_sub(first_quote);
    let end = (last_source + quote.len() - last_quote).min(source.len());
    let mut edits: Vec<Edit> = Vec::new();
    let mut next = (
        0,
        if first_quote == 0 {
            first_source
        } else {
            start
        },
    );
    for &(left, right) in pairs {
        if next.0 < left || next.1 < right {
            edits.push((next.0..left, next.1..right));
        }
        if quote.get(left).map(|token| token.hash) != source.get(right).map(|token| token.hash) {
            edits.push((left..left + 1, right..right + 1));
        }
        next = (left + 1, right + 1);
    }
    if next.0 < quote.len() {
        edits.push((next.0..quote.len(), next.1..end));
    }
    (edits, start..end)
}

/// The place that resembles `quote` most, and what decides that it is not the quote.
pub(super) fn nearest(matcher: &Matcher<'_>, quote: &Folded<'_>) -> Option<Nearest> {
    let (source, alignment) = align(matcher, quote)?;
    of_alignment(source.as_ref(), quote, &alignment)
}

/// The same of a quote that was laid on its place already.
pub(super) fn of_alignment(
    source: &Folded<'_>,
    quote: &Folded<'_>,
    alignment: &Alignment,
) -> Option<Nearest> {
    let cover = alignment.source.get(alignment.cover.clone())?;
    let start = cover.first()?.span(source).start;
    let end = cover.last()?.span(source).end;
    let differences = differences(source, quote, alignment);
    Some(Nearest {
        span: start..end,
        decides: describe(&differences),
        close: is_close(&differences, &alignment.quote),
    })
}

/// One difference, ready to be described.
struct Difference<'a> {
    quote: Vec<(&'a Token, String)>,
    source: Vec<(&'a Token, String)>,
}

/// The differences of an alignment with their words.
fn differences<'a>(
    source: &Folded<'_>,
    quote: &Folded<'_>,
    alignment: &'a Alignment,
) -> Vec<Difference<'a>> {
    let texts =
        |folded: &Folded<'_>, tokens: &'_ [Token], range: &Range<usize>| -> Vec<(usize, String)> {
            range
                .clone()
                .filter_map(|at| tokens.get(at).map(|token| (at, token.text(folded))))
                .collect()
        };
    alignment
        .edits
        .iter()
        .map(|(left, right)| Difference {
            quote: texts(quote, &alignment.quote, left)
                .into_iter()
                .filter_map(|(at, text)| Some((alignment.quote.get(at)?, text)))
                .collect(),
            source: texts(source, &alignment.source, right)
                .into_iter()
                .filter_map(|(at, text)| Some((alignment.source.get(at)?, text)))
                .collect(),
        })
        .collect()
}

/// Of the words of a quote, at most one in this many may differ from a passage that is the same
/// sentence; one always may.
const CLOSE: usize = 5;

/// See [`Nearest::close`].
fn is_close(differences: &[Difference<'_>], quote: &[Token]) -> bool {
    let protected = negation(differences).is_some()
        || number(differences).is_some()
        || sign(differences).is_some();
    // Two sentences that differ in a name are about two things. Scripts without case do not show
    // what is a name.
    let name = |side: &[(&Token, String)]| {
        side.iter()
            .flat_map(|(_, text)| text.chars())
            .any(|c| c.is_alphabetic() && !c.is_lowercase())
    };
    let named = differences.iter().any(|difference| {
        !is_case(difference) && (name(&difference.quote) || name(&difference.source))
    });
    let words = |side: &[(&Token, String)]| {
        side.iter()
            .filter(|(token, _)| token.sort != Sort::Sign)
            .count()
    };
    let changed: usize = differences
        .iter()
        .filter(|difference| !is_case(difference))
        .map(|difference| words(&difference.quote).max(words(&difference.source)))
        .sum();
    let all = quote
        .iter()
        .filter(|token| token.sort != Sort::Sign)
        .count();
    !protected && !named && all >= 3 && changed <= (all / CLOSE).max(1)
}

/// Says what differs, the weightiest kind first.
fn describe(differences: &[Difference<'_>]) -> String {
    if differences.is_empty() {
        return "differs in white space or markup".to_owned();
    }
    damage(differences)
        .or_else(|| negation(differences))
        .or_else(|| number(differences))
        .or_else(|| sign(differences))
        .or_else(|| case(differences))
        .or_else(|| word(differences))
        .unwrap_or_else(|| punctuation(differences))
}

/// Only if all differences in words are of that kind: otherwise something else decides.
fn damage(differences: &[Difference<'_>]) -> Option<String> {
    let mut first = None;
    for difference in differences {
        let word = match difference.quote.as_slice() {
            [(token, word)] if token.sort == Sort::Word => word,
            _ => return None,
        };
        let pieces: Vec<damage::Piece<'_>> = difference
            .source
            .iter()
            .map(|(token, text)| damage::Piece {
                text,
                items: &token.items,
            })
            .collect();
        if !damage::is_damaged(word, &pieces) {
            return None;
        }
        first.get_or_insert((word, joined(&difference.source)));
    }
    let (word, there) = first?;
    Some(format!(
        "meets damaged text in the source: \"{there}\" where the quote has \"{word}\""
    ))
}

fn negation(differences: &[Difference<'_>]) -> Option<String> {
    let is_negation = |text: &str| !lexicon::negations(text).is_empty();
    for difference in differences {
        let here = difference.quote.iter().find(|(_, text)| is_negation(text));
        let there = difference.source.iter().find(|(_, text)| is_negation(text));
        match (here, there) {
            (None, Some((_, text))) => return Some(format!("leaves out the negation \"{text}\"")),
            (Some((_, text)), None) => return Some(format!("brings in the negation \"{text}\"")),
            _ => {}
        }
    }
    None
}

fn number(differences: &[Difference<'_>]) -> Option<String> {
    for difference in differences {
        let find = |side: &[(&Token, String)]| {
            side.iter()
                .find(|(token, text)| {
                    token.sort == Sort::Number || text.contains(|c: char| chars::is_digit(c))
                })
                .map(|(_, text)| text.clone())
        };
        match (find(&difference.quote), find(&difference.source)) {
            (Some(here), Some(there)) => {
                return Some(format!("differs in a protected number: {here} ≠ {there}"));
            }
            (None, Some(there)) => return Some(format!("leaves out the number {there}")),
            (Some(here), None) => {
                return Some(format!(
                    "has the number {here}, which the source does not have here"
                ));
            }
            (None, None) => {}
        }
    }
    None
}

fn sign(differences: &[Difference<'_>]) -> Option<String> {
    let weighs = |c: char| {
        chars::is_comparison(c)
            || chars::is_currency(c)
            || chars::follows_number(c)
            || matches!(c, '+' | '=')
    };
    for difference in differences {
        let find = |side: &[(&Token, String)]| {
            side.iter()
                .find(|(_, text)| text.chars().all(weighs))
                .map(|(_, text)| text.clone())
        };
        match (find(&difference.quote), find(&difference.source)) {
            (Some(here), Some(there)) if here != there => {
                return Some(format!("differs in a sign: {here} ≠ {there}"));
            }
            (None, Some(there)) => return Some(format!("leaves out the sign {there}")),
            (Some(here), None) => return Some(format!("brings in the sign {here}")),
            _ => {}
        }
    }
    None
}

fn joined(side: &[(&Token, String)]) -> String {
    let mut text = String::new();
    for (token, word) in side.iter().take(12) {
        if !text.is_empty() && token.sort != Sort::Sign {
            text.push(' ');
        }
        text.push_str(word);
    }
    if side.len() > 12 {
        text.push_str(" …");
    }
    text
}

fn has_word(side: &[(&Token, String)]) -> bool {
    side.iter().any(|(token, _)| token.sort != Sort::Sign)
}

fn is_case(difference: &Difference<'_>) -> bool {
    joined(&difference.quote).to_lowercase() == joined(&difference.source).to_lowercase()
}

/// Only if all differences are of that kind: otherwise the case is not what decides.
fn case(differences: &[Difference<'_>]) -> Option<String> {
    if !differences.iter().all(is_case) {
        return None;
    }
    // The first letter of a quote may differ, so a later word decides if there is one.
    let decisive = differences.get(1).or(differences.first())?;
    Some(format!(
        "differs in case: \"{}\" ≠ \"{}\"",
        joined(&decisive.quote),
        joined(&decisive.source)
    ))
}

fn word(differences: &[Difference<'_>]) -> Option<String> {
    let wordy: Vec<&Difference<'_>> = differences
        .iter()
        .filter(|difference| has_word(&difference.quote) || has_word(&difference.source))
        .filter(|difference| !is_case(difference))
        .collect();
    let first = wordy.first()?;
    let (here, there) = (joined(&first.quote), joined(&first.source));
    let more = match wordy.len() {
        1 => String::new(),
        count => format!(
            ", and in {} more {}",
            count - 1,
            if count == 2 { "place" } else { "places" }
        ),
    };
    Some(match (has_word(&first.quote), has_word(&first.source)) {
        (true, true) => format!("differs in words: \"{here}\" ≠ \"{there}\"{more}"),
        (false, _) => format!("leaves out \"{there}\"{more}"),
        (true, false) => format!("has \"{here}\", which the source does not have here{more}"),
    })
}

fn punctuation(differences: &[Difference<'_>]) -> String {
    let Some(first) = differences.first() else {
        return "differs in punctuation".to_owned();
    };
    let (here, there) = (joined(&first.quote), joined(&first.source));
    match (here.is_empty(), there.is_empty()) {
        (false, false) => format!("differs in punctuation: \"{here}\" ≠ \"{there}\""),
        (true, _) => format!("leaves out the punctuation \"{there}\""),
        (false, true) => {
            format!("has the punctuation \"{here}\", which the source does not have here")
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use crate::text::quote::{Options, Passage, Quote, check_quote};

    #[test]
    fn only_a_slip_is_close() {
        let source = "The committee met in Geneva and approved the 247 pages of the draft.";
        for (quote, close) in [
            (
                "the committee met in Geneva and approve the 247 pages of the draft",
                true,
            ),
            (
                "The committee met in Geneva; and approved the 247 pages of the draft",
                true,
            ),
            (
                "The committee met in geneva and approved the 247 pages of the draft",
                true,
            ),
            (
                "The committee met in Geneva and approved the 248 pages of the draft",
                false,
            ),
            (
                "The committee met in Vienna and approved the 247 pages of the draft",
                false,
            ),
            (
                "The committee met in Geneva and not approved the 247 pages",
                false,
            ),
            (
                "The council sat in Geneva and accepted the 247 pages of the text",
                false,
            ),
            ("committee not", false),
        ] {
            let verdict = check_quote(
                &Passage::whole(source),
                &Quote::new(quote),
                Options::default(),
            );
            let nearest = verdict.nearest();
            assert_eq!(
                nearest.is_some_and(|nearest| nearest.close),
                close,
                "{quote}: {nearest:?}"
            );
        }
    }

    /// The passage that is shown for a quote that is absent, and what decides.
    fn shown<'a>(text: &'a str, quote: &str) -> (&'a str, String) {
        let passage = Passage::whole(text);
        let quote = Quote {
            text: quote,
            prefix: None,
            suffix: None,
        };
        let verdict = check_quote(&passage, &quote, Options::default());
        let nearest = verdict.nearest().unwrap();
        (&text[nearest.span.clone()], nearest.decides.clone())
    }

    #[test]
    fn a_lone_equal_word_far_away_pulls_nothing_apart() {
        let text = "The river rose by 5% in the first week. It fell after that.";
        let (passage, decides) = shown(text, "It rose after that.");
        assert_eq!(passage, "It fell after that.");
        assert_eq!(decides, "differs in words: \"rose\" ≠ \"fell\"");
    }

    #[test]
    fn the_passage_shown_begins_where_the_quote_does() {
        let text = "# How a citation is checked\n\nA card quotes its sources word for word.\n";
        let (passage, decides) = shown(text, "A card quotes its sources line for line.");
        assert_eq!(passage, "A card quotes its sources word for word.");
        assert!(!decides.contains("citation"), "{decides}");
        let (passage, _) = shown(text, "A card quotes most of its sources word for word.");
        assert_eq!(passage, "A card quotes its sources word for word.");
    }
}
