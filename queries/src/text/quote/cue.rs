//! Words outside a quote that govern it: "it is false that", "allegedly", "did not".
//!
//! A cue never decides. It is shown with its sentence, because whether it governs the quote is for a
//! reader to say.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::LazyLock;

use super::chars;
use super::lexicon;
use super::verdict::Flag;

/// How far a sentence is looked for on either side, in bytes.
const REACH: usize = 600;
/// How many words before the quote a bare negation may stand.
const NEGATION_REACH: usize = 4;

/// Single words that attribute or deny, wherever they stand in the sentence before the quote.
const WORDS: &[&str] = &[
    "allegedly",
    "alleged",
    "alleges",
    "allege",
    "purportedly",
    "purported",
    "supposedly",
    "supposed",
    "reportedly",
    "falsely",
    "false",
    "untrue",
    "wrongly",
    "mistakenly",
    "myth",
    "misconception",
    "hypothesis",
    "hypothesised",
    "hypothesized",
    "hypothetically",
    "hyp",
    "claims",
    "claimed",
    "claim",
    "claiming",
    "believed",
    "believes",
    "assumed",
    "assumes",
    "assume",
    "speculated",
    "denies",
    "denied",
    "deny",
    "denying",
    "refuted",
    "refutes",
    "disputed",
    "disputes",
    "rejected",
    "rejects",
    "doubts",
    "doubted",
    "retracted",
    "accused",
    "rumoured",
    "rumored",
    "pretended",
    "whether",
    "angeblich",
    "vermeintlich",
    "fälschlich",
    "prétendument",
    "supuestamente",
];

/// Words after the quote that deny it.
const AFTER: &[&str] = &[
    "false",
    "untrue",
    "wrong",
    "refuted",
    "disproved",
    "disproven",
    "retracted",
    "denied",
    "mistaken",
    "incorrect",
    "myth",
];

/// The cue that governs the match at `span` of `text`, if there is one.
pub(super) fn find(text: &str, span: &Range<usize>) -> Option<Flag> {
    let sentence = sentence_around(text, span);
    let before = text.get(sentence.start..span.start)?;
    let after = text.get(span.end..sentence.end)?;
    let cue = before_cue(before).or_else(|| after_cue(after))?;
    Some(Flag::Cue { sentence, cue })
}

static WORD_SET: LazyLock<HashSet<&str>> = LazyLock::new(|| WORDS.iter().copied().collect());

fn before_cue(before: &str) -> Option<String> {
    let mut buffer = String::new();
    if let Some(word) =
        lexicon::words(before).find(|word| WORD_SET.contains(lexicon::lower(word, &mut buffer)))
    {
        return Some(word.to_owned());
    }
    // A bare negation governs only what follows it in the same clause.
    let clause = before
        .rsplit([',', ';', ':', '—', '(', ')'])
        .next()
        .unwrap_or(before);
    let words: Vec<&str> = lexicon::words(clause).collect();
    let near = words
        .get(words.len().saturating_sub(NEGATION_REACH)..)
        .unwrap_or(&[]);
    let negation = near.iter().copied().find(|word| {
        let lower = lexicon::lower(word, &mut buffer);
        lexicon::is_negation(lower) && lower != "only"
    });
    negation.map(str::to_owned)
}

fn after_cue(after: &str) -> Option<String> {
    let mut buffer = String::new();
    lexicon::words(after)
        .find(|word| AFTER.contains(&lexicon::lower(word, &mut buffer)))
        .map(str::to_owned)
}

/// The sentence that holds `span`, within reach.
fn sentence_around(text: &str, span: &Range<usize>) -> Range<usize> {
    let from = text.floor_char_boundary(span.start.saturating_sub(REACH));
    let to = text.floor_char_boundary((span.end + REACH).min(text.len()));
    let before = text.get(from..span.start).unwrap_or("");
    let after = text.get(span.end..to).unwrap_or("");
    let mut start = span.start;
    let mut later: Option<char> = None;
    for (at, c) in before.char_indices().rev() {
        let ends = matches!(c, '.' | '!' | '?') && later.is_none_or(chars::is_space)
            || matches!(c, '。' | '！' | '？')
            || c == '\n' && later == Some('\n');
        if ends {
            break;
        }
        start = from + at;
        later = Some(c);
    }
    start += text
        .get(start..span.start)
        .map_or(0, |lead| lead.len() - lead.trim_start().len());
    let ended = text
        .get(..span.end)
        .is_some_and(|text| text.ends_with(['.', '!', '?', '。', '！', '？']));
    let mut end = span.end;
    if !ended {
        let mut chars = after.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            let next = chars.peek().map(|&(_, c)| c);
            if c == '\n' && matches!(next, Some('\n' | '\r')) {
                break;
            }
            end = span.end + at + c.len_utf8();
            if matches!(c, '.' | '!' | '?') && next.is_none_or(chars::is_space)
                || matches!(c, '。' | '！' | '？')
            {
                break;
            }
        }
    }
    start..end
}
