//! What a vector cannot see: numbers, negations, names, and words with an opposite.
//!
//! Two sentences that differ in one of these sound almost alike and say different things. The guard
//! compares a claim with a passage word by word and names the first such difference; with one, a
//! claim never passes, whatever its score. The guard is not the matcher: a paraphrase has other
//! words and another order, so all it can ask is whether what weighs is there at all. It errs towards
//! naming a difference. What it cannot see is who does what to whom.

use std::collections::BTreeSet;

use crate::text::quote::{is_unit_word, negations_in};

/// Groups of words that exclude each other, by how the words begin. A claim with a word of one side
/// differs from a passage that has none of that side, but one of the other.
const OPPOSITES: &[(&[&str], &[&str])] = &[
    (
        &[
            "must", "shall", "requir", "mandator", "need", "has to", "have to",
        ],
        &[
            "may", "might", "can", "could", "optional", "allow", "permit",
        ],
    ),
    (
        &[
            "all", "every", "always", "each", "entire", "complete", "whatever", "any",
        ],
        &[
            "some",
            "sometimes",
            "most",
            "often",
            "usual",
            "normal",
            "few",
            "partly",
            "certain",
        ],
    ),
    (
        &["increas", "rais", "grow", "rise", "rises", "rose"],
        &[
            "decreas", "reduc", "lower", "shrink", "fall", "fell", "drop",
        ],
    ),
    (
        &["more", "most", "greater", "larger", "bigger", "higher"],
        &["less", "least", "fewer", "smaller", "lower"],
    ),
    (
        &["maxim", "at most", "upper"],
        &["minim", "at least", "lower"],
    ),
    (
        &["before", "prior", "earlier", "until"],
        &["after", "later", "since", "afterwards"],
    ),
    (&["fast", "faster", "quick"], &["slow", "slower"]),
    (
        &["enabl", "activat", "on by"],
        &["disabl", "deactivat", "off by"],
    ),
    (
        &["allow", "permit", "accept", "grant"],
        &[
            "den",
            "forbid",
            "forbidden",
            "reject",
            "refus",
            "prohibit",
            "prevent",
        ],
    ),
    (
        &["add", "adds", "added", "insert", "attach"],
        &["remov", "delet", "drop", "strip"],
    ),
    (&["open", "opens", "opened"], &["clos", "shut"]),
    (
        &["start", "begin", "began"],
        &["stop", "end", "ends", "ended", "finish"],
    ),
    (&["success", "succeed"], &["fail", "error"]),
    (
        &["same", "equal", "identical"],
        &["differ", "another", "other", "distinct", "unequal"],
    ),
    (&["true"], &["false"]),
    (&["valid"], &["invalid"]),
    (
        &["secure", "secured", "safe"],
        &["insecure", "unsafe", "unsecured"],
    ),
    (&["public"], &["private", "secret"]),
    (&["encrypt"], &["decrypt"]),
    (&["authenticat"], &["authoriz", "authoris"]),
    (
        &["fresh", "new", "latest", "newest"],
        &["stale", "old", "oldest"],
    ),
    (&["static"], &["dynamic"]),
    (&["short", "shorter"], &["long", "longer"]),
    (&["first"], &["last", "second"]),
    (
        &["easy", "simple", "easily"],
        &["hard", "difficult", "infeasib", "impractic", "impossib"],
    ),
    (&["possib"], &["impossib"]),
    (&["parent"], &["child"]),
    (&["reliab"], &["unreliab"]),
    (&["visib"], &["invisib", "hidden"]),
    (&["fixed"], &["variable"]),
    (&["important"], &["unimportant"]),
    (
        &["inside", "within", "underneath", "below"],
        &["outside", "above", "beyond"],
    ),
    (&["input", "inputs"], &["output", "outputs"]),
    (&["read", "reads"], &["write", "writes", "written"]),
    (&["send", "sends", "sent"], &["receiv"]),
    (&["left"], &["right"]),
    (&["positive"], &["negative"]),
    (&["success"], &["failur"]),
    (&["local"], &["remote"]),
    (&["internal"], &["external"]),
    (&["required"], &["optional"]),
];

/// Numbers that are written as words.
const NUMBERS: &[(&str, &str)] = &[
    ("zero", "0"),
    ("one", "1"),
    ("two", "2"),
    ("three", "3"),
    ("four", "4"),
    ("five", "5"),
    ("six", "6"),
    ("seven", "7"),
    ("eight", "8"),
    ("nine", "9"),
    ("ten", "10"),
    ("eleven", "11"),
    ("twelve", "12"),
];

/// The first thing that weighs and in which `claim` differs from `passage`, as the end of a sentence.
/// `around` is a wider text that may name what the passage only refers to: its names count too.
pub fn difference(claim: &str, passage: &str, around: &str) -> Option<String> {
    numbers(claim, passage)
        .or_else(|| negation(claim, passage))
        .or_else(|| opposites(claim, passage))
        .or_else(|| names(claim, around))
}

/// A number with its unit, if it has one.
type Amount = (String, Option<String>);

fn numbers(claim: &str, passage: &str) -> Option<String> {
    let there: BTreeSet<Amount> = amounts(passage).into_iter().collect();
    let here = amounts(claim);
    let (number, unit) = here.into_iter().find(|amount| !there.contains(amount))?;
    Some(match unit {
        Some(unit) => format!("the passage does not have the number {number} {unit}"),
        None => format!("the passage does not have the number {number}"),
    })
}

/// The numbers of a text. "1,000" is 1000; "one" is 1 only where another text says 1, so words are
/// written as digits on both sides, except "one", which is mostly a pronoun.
fn amounts(text: &str) -> Vec<Amount> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let next = words.get(at + 1).map(|next| unit_of(next));
        let bare = word
            .trim_matches(|c: char| !c.is_alphanumeric())
            .to_lowercase();
        if let Some((name, digits)) = NUMBERS.iter().find(|(name, _)| *name == bare) {
            if *name != "one" {
                found.push(((*digits).to_owned(), next.flatten()));
            }
            continue;
        }
        if !word.contains(|c: char| c.is_numeric()) {
            continue;
        }
        // A name with digits in it, such as `sha256`, is compared as a name.
        let core = word.trim_matches(|c: char| !c.is_alphanumeric() && !is_sign(c));
        if core.starts_with(char::is_alphabetic) {
            continue;
        }
        let end = core
            .char_indices()
            .rfind(|(_, c)| c.is_numeric())
            .map_or(0, |(at, c)| at + c.len_utf8());
        let (number, suffix) = core.split_at_checked(end).unwrap_or((core, ""));
        let number = number.replace(',', "");
        let unit = if suffix.is_empty() {
            next.flatten()
        } else {
            Some(suffix.to_owned())
        };
        found.push((number, unit));
    }
    found
}

/// Signs that belong to the number they stand beside.
fn is_sign(c: char) -> bool {
    matches!(
        c,
        '+' | '-' | '−' | '<' | '>' | '≤' | '≥' | '±' | '~' | '%' | '°' | '$' | '€' | '£'
    )
}

/// The word as a unit: long ones without their plural, short ones as they are, because `mW` is not
/// `MW`.
fn unit_of(word: &str) -> Option<String> {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '%' | '°' | 'µ'));
    if word == "%" || word.starts_with('°') {
        return Some(word.to_owned());
    }
    if word.eq_ignore_ascii_case("percent") {
        return Some("%".to_owned());
    }
    if !is_unit_word(word) {
        return None;
    }
    if word.chars().count() <= 3 {
        return Some(word.to_owned());
    }
    Some(word.to_lowercase().trim_end_matches('s').to_owned())
}

/// A negation or exception and the beginnings of the words it stands before.
struct Negation {
    word: String,
    before: BTreeSet<String>,
}

/// How many words after a negation are looked at.
const REACH: usize = 5;

/// How many letters of a word are compared: enough to tell words apart, few enough for inflection.
const STEM: usize = 5;

fn negation(claim: &str, passage: &str) -> Option<String> {
    let here = negations(claim);
    let there = negations(passage);
    match (here.first(), there.first()) {
        (None, None) => return None,
        (Some(one), None) => {
            return Some(format!("the claim brings in the negation \"{}\"", one.word));
        }
        (None, Some(one)) => {
            return Some(format!(
                "the claim leaves out the negation \"{}\"",
                one.word
            ));
        }
        (Some(_), Some(_)) => {}
    }
    // An even number of negations is not the same as none, but nearer to it than to one.
    if here.len() % 2 != there.len() % 2 {
        return Some("the claim and the passage negate differently".to_owned());
    }
    let stray = here.iter().find(|negation| {
        !negation.before.is_empty()
            && there
                .iter()
                .all(|other| other.before.is_disjoint(&negation.before))
    })?;
    Some(format!(
        "the passage negates something else than the claim's \"{}\"",
        stray.word
    ))
}

/// The negations of a text, with those that are built into a word. "Not only" and "no longer than"
/// count as well; that errs on the safe side.
fn negations(text: &str) -> Vec<Negation> {
    const BUILT_IN: &[&str] = &["impossib", "unable", "infeasib", "impractic", "lack"];
    let words: Vec<String> = words(text).collect();
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let built_in = BUILT_IN.iter().any(|start| word.starts_with(start));
        if !built_in && negations_in(word).is_empty() {
            continue;
        }
        let before = words
            .iter()
            .skip(at + 1)
            .take(REACH)
            .filter(|word| word.chars().count() >= 4)
            .map(|word| word.chars().take(STEM).collect())
            .collect();
        found.push(Negation {
            word: word.clone(),
            before,
        });
    }
    found
}

fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| !c.is_alphanumeric() && c != '\'')
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}

fn opposites(claim: &str, passage: &str) -> Option<String> {
    let here: Vec<String> = words(claim).collect();
    let there: Vec<String> = words(passage).collect();
    OPPOSITES.iter().find_map(|(one, other)| {
        crossed(&here, &there, one, other).or_else(|| crossed(&here, &there, other, one))
    })
}

/// A word of the claim on one side, where the passage has only words of the other side.
fn crossed(here: &[String], there: &[String], own: &[&str], other: &[&str]) -> Option<String> {
    let claimed = find(here, own)?;
    if find(there, own).is_some() {
        return None;
    }
    let found = find(there, other)?;
    Some(format!(
        "the claim has \"{claimed}\" where the passage has \"{found}\""
    ))
}

/// The first word that begins like one of these. Short beginnings must be the whole word.
fn find<'a>(words: &'a [String], starts: &[&str]) -> Option<&'a str> {
    words
        .iter()
        .find(|word| {
            starts.iter().any(|start| {
                *word == start
                    || (start.len() >= 4 && word.starts_with(start))
                    || (start.len() == 3
                        && *start == "den"
                        && ["deny", "denies", "denied", "denial"].contains(&word.as_str()))
            })
        })
        .map(String::as_str)
}

/// Names that the claim has and the text has not: words with a capital inside a sentence, with
/// digits, or with signs that only identifiers have.
fn names(claim: &str, around: &str) -> Option<String> {
    let there: BTreeSet<String> = name_words(around).map(|word| word.to_lowercase()).collect();
    let mut first = true;
    for word in name_words(claim) {
        let begins = std::mem::take(&mut first);
        let inner = word.chars().skip(1).any(|c| {
            c.is_uppercase() || c.is_numeric() || matches!(c, '_' | '/' | '.' | '-' | ':')
        });
        let initial = word.chars().next().is_some_and(char::is_uppercase);
        let hyphened = inner
            && word
                .chars()
                .all(|c| c.is_lowercase() || c == '-' || c == '/');
        let named = (inner && !hyphened && !word.starts_with(|c: char| c.is_numeric()))
            || (initial && !begins && word != "I");
        if named && !there.contains(&word.to_lowercase()) {
            return Some(format!("the passage does not mention \"{word}\""));
        }
    }
    None
}

fn name_words(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace()
        .map(|word| {
            word.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '/' | '-' | '_'))
                .trim_end_matches("'s")
                .trim_end_matches("’s")
        })
        .filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;
    use proptest::prelude::*;

    #[test]
    fn differences_that_weigh() {
        let table = [
            ("It waits 5 seconds.", "It waits 50 seconds.", "number 5"),
            ("It waits 5 ms.", "It waits 5 minutes.", "number 5 ms"),
            ("It draws 3 mW.", "It draws 3 MW.", "number 3 mW"),
            (
                "Use at least two workers.",
                "Use at least three workers.",
                "number 2",
            ),
            ("About 1,000 rows.", "About 10000 rows.", "number 1000"),
            ("The value is -5.", "The value is 5.", "number -5"),
            ("It grows by 5%.", "It grows by 5 points.", "number 5"),
            (
                "It is not logged.",
                "It is logged.",
                "brings in the negation",
            ),
            (
                "It is logged.",
                "It is never logged.",
                "leaves out the negation",
            ),
            (
                "Requests in progress are not terminated.",
                "Requests in progress are terminated, and no further ones are served.",
                "negates something else",
            ),
            (
                "It isn't logged.",
                "It is logged.",
                "brings in the negation",
            ),
            (
                "The load increases.",
                "The load decreases.",
                "\"increases\"",
            ),
            (
                "The server must log it.",
                "The server may log it.",
                "\"must\"",
            ),
            (
                "The server may log it.",
                "The server must log it.",
                "\"may\"",
            ),
            (
                "Requests are denied.",
                "Requests are accepted.",
                "\"denied\"",
            ),
            (
                "All requests are logged.",
                "Some requests are logged.",
                "\"all\"",
            ),
            (
                "The CustomLog directive sets it.",
                "The ErrorLog directive sets it.",
                "CustomLog",
            ),
            (
                "The file is read by Nginx.",
                "The file is read by Apache.",
                "Nginx",
            ),
            ("See mod_ssl for it.", "See mod_md for it.", "mod_ssl"),
            ("It uses sha512 here.", "It uses sha256 here.", "sha512"),
        ];
        for (claim, passage, words) in table {
            let found = difference(claim, passage, passage).unwrap_or_default();
            assert!(found.contains(words), "{claim:?} / {passage:?}: {found:?}");
        }
    }

    #[test]
    fn differences_that_do_not() {
        let table = [
            ("It waits for two seconds.", "It waits 2 seconds."),
            ("It waits 5 seconds.", "A wait of 5 second intervals."),
            ("It takes 1000 rows.", "It takes 1,000 rows at once, or 5."),
            (
                "The server logs every request.",
                "Each request is logged by the server.",
            ),
            ("It is never logged.", "It is not logged."),
            (
                "The error log is set there.",
                "The ErrorLog directive sets the error log.",
            ),
            ("One should look there first.", "Look there first."),
        ];
        for (claim, passage) in table {
            assert_eq!(
                difference(claim, passage, passage),
                None,
                "{claim:?} / {passage:?}"
            );
        }
    }

    proptest! {
        #[test]
        fn a_text_does_not_differ_from_itself(text in "[A-Za-z0-9 .,'%-]{0,80}") {
            prop_assert_eq!(difference(&text, &text, &text), None);
        }

        #[test]
        fn another_number_is_always_named(number in 2u32..100_000, other in 2u32..100_000) {
            prop_assume!(number != other);
            let claim = format!("the limit is {number} requests");
            let passage = format!("the limit is {other} requests");
            prop_assert!(difference(&claim, &passage, &passage).is_some());
        }

        #[test]
        fn any_texts_are_compared(claim in ".{0,60}", passage in ".{0,60}") {
            let _ = difference(&claim, &passage, &passage);
        }
    }
}
