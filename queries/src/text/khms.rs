//! The quote classes of reviewed memory (`contracts/khms.md` §8), for bases that record them.
//!
//! The class is computed as the contract describes it, including what is known to be weak in it: it
//! folds `10²` to `102`, cuts words and puts no limit on a gap. So a class alone vouches for nothing
//! here. [`check`] also says which of the stricter rules the contract's analysis asks for forbid
//! calling the quote verified; [`Answer::verified`] follows those. Card-level rules (labels, sources,
//! specifics) are not here.

use std::fmt;
use std::ops::Range;

use serde::{Deserialize, Serialize};
use unicode_normalization::char::canonical_combining_class;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

use super::quote;

/// Shortest segment of an elided quote, in characters of the normal form.
const SHORTEST_SEGMENT: usize = 4;
/// Least that all segments of an elided quote hold together.
const LEAST_TOTAL: usize = 24;
/// Longer bracket groups are text of the source, not marks.
const LONGEST_MARK: usize = 20;
/// Quotes below this many characters are too short to vouch for anything.
const SHORTEST_QUOTE: usize = 8;
/// Longest gap between segments that still counts as one passage (`matching.md`).
const LONGEST_GAP: usize = 400;
/// Most places of one quote that are looked at for one that nothing speaks against.
const MOST_PLACES: usize = 64;

/// How a quote stands in a text, by the contract's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Class {
    /// Its characters stand there.
    Exact,
    /// Its normal form stands in the normal form of the text.
    Wrapped,
    /// It marks omissions and its segments stand there in order.
    Elided,
    /// None of these.
    Absent,
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Class::Exact => "EXACT",
            Class::Wrapped => "WRAPPED",
            Class::Elided => "ELIDED",
            Class::Absent => "ABSENT",
        })
    }
}

/// What is known of a quote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The contract's class.
    pub class: Class,
    /// The contract's detail; empty where it has none.
    pub detail: String,
    /// Where it stands: bytes of the text, one range per segment.
    pub spans: Vec<Range<usize>>,
    /// Why it does not count although it has a class, as sentences without a full stop.
    pub refusals: Vec<String>,
    /// What a reader should know besides.
    pub notes: Vec<String>,
    /// Whether the normal form is too short to vouch for anything; the contract only warns.
    pub short: bool,
}

impl Answer {
    fn absent(detail: &str, short: bool) -> Self {
        Answer {
            class: Class::Absent,
            detail: detail.to_owned(),
            spans: Vec::new(),
            refusals: Vec::new(),
            notes: Vec::new(),
            short,
        }
    }

    /// Whether the quote counts: it has a class, and nothing speaks against it.
    pub fn verified(&self) -> bool {
        self.class != Class::Absent && self.refusals.is_empty()
    }
}

/// A text in the contract's normal form, with the bytes that each character came from.
struct Normal {
    text: String,
    /// For each byte of `text`, the range of the original that its character came from.
    origins: Vec<(usize, usize)>,
}

impl Normal {
    fn of(text: &str) -> Self {
        let folded = steps_on_characters(text);
        let folded = without_markup(folded);
        let folded = with_single_spaces(folded);
        // Lower case as a whole: a final sigma depends on its neighbours.
        let whole: String = folded
            .iter()
            .map(|(c, _)| *c)
            .collect::<String>()
            .to_lowercase();
        let mut lowered = whole.chars();
        let mut normal = Normal {
            text: String::with_capacity(whole.len()),
            origins: Vec::with_capacity(whole.len()),
        };
        for (c, origin) in folded {
            for c in lowered.by_ref().take(c.to_lowercase().count()) {
                normal.text.push(c);
                normal
                    .origins
                    .resize(normal.origins.len() + c.len_utf8(), origin);
            }
        }
        normal
    }

    /// The original bytes behind a range of the normal form.
    fn origin(&self, range: Range<usize>) -> Range<usize> {
        let start = self.origins.get(range.start).map_or(0, |(start, _)| *start);
        let last = range.end.checked_sub(1).and_then(|at| self.origins.get(at));
        start..last.map_or(start, |(_, end)| (*end).max(start))
    }

    fn find(&self, needle: &str, from: usize) -> Option<Range<usize>> {
        let rest = self.text.as_bytes().get(from..)?;
        let at = from + memchr::memmem::find(rest, needle.as_bytes())?;
        Some(at..at + needle.len())
    }
}

/// A character with the bytes it came from.
type Mapped = (char, (usize, usize));

/// Steps 1 to 3: NFKC, the closed list of marks, the comma between digits.
fn steps_on_characters(text: &str) -> Vec<Mapped> {
    let mut mapped: Vec<Mapped> = Vec::with_capacity(text.len());
    let mut flush = |run: Range<usize>| {
        let origin = (run.start, run.end);
        let characters = text.get(run).unwrap_or_default().nfkc();
        mapped.extend(characters.map(|c| (mark(c), origin)));
    };
    let mut start = 0;
    for (at, c) in text.char_indices() {
        if at > start && begins_run(c) {
            flush(start..at);
            start = at;
        }
    }
    flush(start..text.len());
    for at in 1..mapped.len().saturating_sub(1) {
        let digit = |at: usize| mapped.get(at).is_some_and(|(c, _)| is_decimal(*c));
        if mapped.get(at).is_some_and(|(c, _)| *c == ',')
            && digit(at - 1)
            && digit(at + 1)
            && let Some(comma) = mapped.get_mut(at)
        {
            comma.0 = '.';
        }
    }
    mapped
}

/// Whether no composition reaches over the place before `c`.
fn begins_run(c: char) -> bool {
    if c.is_ascii() {
        return true;
    }
    let starter = |c: char| {
        canonical_combining_class(c) == 0
            && is_nfkc_quick(std::iter::once(c)) != IsNormalized::Maybe
    };
    starter(c) && std::iter::once(c).nfkd().next().is_none_or(starter)
}

/// Whether `c` is a decimal digit; NFKC has made the other forms of ASCII digits these.
fn is_decimal(c: char) -> bool {
    c.is_ascii_digit()
        || !c.is_ascii()
            && matches!(c, '\u{660}'..='\u{669}' | '\u{6f0}'..='\u{6f9}' | '\u{7c0}'..='\u{7c9}'
                | '\u{966}'..='\u{96f}' | '\u{9e6}'..='\u{9ef}' | '\u{a66}'..='\u{a6f}'
                | '\u{ae6}'..='\u{aef}' | '\u{b66}'..='\u{b6f}' | '\u{be6}'..='\u{bef}'
                | '\u{c66}'..='\u{c6f}' | '\u{ce6}'..='\u{cef}' | '\u{d66}'..='\u{d6f}'
                | '\u{e50}'..='\u{e59}' | '\u{ed0}'..='\u{ed9}' | '\u{f20}'..='\u{f29}'
                | '\u{1040}'..='\u{1049}' | '\u{17e0}'..='\u{17e9}' | '\u{1810}'..='\u{1819}')
}

fn mark(c: char) -> char {
    match c {
        '\u{2018}' | '\u{2019}' => '\'',
        '\u{201c}' | '\u{201d}' | '\u{201e}' => '"',
        '\u{2013}' | '\u{2014}' => '-',
        '\u{a0}' => ' ',
        other => other,
    }
}

/// Steps 4 and 5: no `**`, no backtick, one `-` for a run of them.
fn without_markup(mapped: Vec<Mapped>) -> Vec<Mapped> {
    let mut kept: Vec<Mapped> = Vec::with_capacity(mapped.len());
    let mut rest = mapped.into_iter().peekable();
    while let Some(item) = rest.next() {
        match item.0 {
            '`' => {}
            '*' if rest.next_if(|(c, _)| *c == '*').is_some() => {}
            '-' if kept.last().is_some_and(|(c, _)| *c == '-') => {
                if let Some(last) = kept.last_mut() {
                    last.1.1 = item.1.1;
                }
            }
            _ => kept.push(item),
        }
    }
    kept
}

/// Step 6 without the lower case: one space for a run of white space, none at the ends.
fn with_single_spaces(mapped: Vec<Mapped>) -> Vec<Mapped> {
    let mut kept: Vec<Mapped> = Vec::with_capacity(mapped.len());
    for (c, origin) in mapped {
        if !is_space(c) {
            kept.push((c, origin));
        } else if let Some(last) = kept.last_mut() {
            if last.0 == ' ' {
                last.1.1 = origin.1;
            } else {
                kept.push((' ', origin));
            }
        }
    }
    if kept.last().is_some_and(|(c, _)| *c == ' ') {
        kept.pop();
    }
    kept
}

fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

/// What stands in the place of a mark, or between two of them.
struct Split<'a> {
    segments: Vec<&'a str>,
    /// What the marks say in brackets.
    inserted: Vec<&'a str>,
    marks: usize,
}

/// Step 4 of the classes: the segments between the marks of a normal form.
fn split(text: &str) -> Split<'_> {
    let mut split = Split {
        segments: Vec::new(),
        inserted: Vec::new(),
        marks: 0,
    };
    let (mut start, mut at) = (0, 0);
    let bytes = text.as_bytes();
    while let Some(next) = memchr::memchr3(b'.', b'[', 0xe2, bytes.get(at..).unwrap_or_default()) {
        at += next;
        let rest = text.get(at..).unwrap_or_default();
        let Some(group) = group(rest) else {
            at += 1;
            while !text.is_char_boundary(at) {
                at += 1;
            }
            continue;
        };
        if group.is_mark {
            split.segments.extend(text.get(start..at));
            split.inserted.extend(group.inner);
            split.marks += 1;
            start = at + group.len;
        }
        at += group.len;
    }
    split.segments.extend(text.get(start..));
    split.segments = split
        .segments
        .iter()
        .map(|segment| segment.trim_matches(|c| " \t\"'/,;:|-.()[]{}<>*→«»".contains(c)))
        .filter(|segment| !segment.is_empty())
        .collect();
    split
}

struct Group<'a> {
    len: usize,
    is_mark: bool,
    inner: Option<&'a str>,
}

/// The mark or bracket group that begins `rest`.
fn group(rest: &str) -> Option<Group<'_>> {
    let mark = |len: usize| {
        Some(Group {
            len,
            is_mark: true,
            inner: None,
        })
    };
    if rest.starts_with('…') {
        return mark('…'.len_utf8());
    }
    let dots = rest.bytes().take_while(|byte| *byte == b'.').count();
    if dots >= 3 {
        return mark(dots);
    }
    let inner = rest.strip_prefix('[')?;
    let end = inner.find(['[', ']'])?;
    let inner = inner
        .get(..end)
        .filter(|_| rest.as_bytes().get(end + 1) == Some(&b']'))?;
    let content = inner.trim();
    let only_dots = !content.is_empty() && content.chars().all(|c| matches!(c, '.' | '…'));
    Some(Group {
        len: end + 2,
        is_mark: only_dots || content.chars().count() <= LONGEST_MARK,
        inner: (!only_dots && !content.is_empty()).then_some(content),
    })
}

/// Says how `quote` stands in `source`, and what speaks against it.
pub fn check(source: &str, quote: &str) -> Answer {
    let quote = quote.trim_matches(is_space);
    if quote.is_empty() {
        return Answer::absent("empty quote", true);
    }
    let wanted = Normal::of(quote).text;
    let short = wanted.chars().count() < SHORTEST_QUOTE;
    let exact = memchr::memmem::find_iter(source.as_bytes(), quote.as_bytes())
        .map(|at| at..at + quote.len());
    if let Some((span, refusals)) = best(source, quote, exact) {
        return Answer {
            class: Class::Exact,
            detail: String::new(),
            spans: vec![span],
            refusals,
            notes: Vec::new(),
            short,
        };
    }
    let wanted = wanted.trim_matches([' ', '"', '\'']);
    if wanted.is_empty() {
        return Answer::absent("empty quote", true);
    }
    let normal = Normal::of(source);
    let wrapped = memchr::memmem::find_iter(normal.text.as_bytes(), wanted.as_bytes())
        .map(|at| normal.origin(at..at + wanted.len()));
    if let Some((span, refusals)) = best(source, quote, wrapped) {
        return Answer {
            class: Class::Wrapped,
            detail: String::new(),
            spans: vec![span],
            refusals,
            notes: Vec::new(),
            short,
        };
    }
    elided(source, &normal, quote, wanted, short)
}

/// The first place that nothing speaks against, or else the first one with what does.
fn best(
    source: &str,
    quote: &str,
    places: impl Iterator<Item = Range<usize>>,
) -> Option<(Range<usize>, Vec<String>)> {
    let mut first = None;
    for span in places.take(MOST_PLACES) {
        let mut refusals = against(source, &span);
        refusals.extend(other_numbers(
            &numbers(quote),
            &numbers(source.get(span.clone()).unwrap_or_default()),
        ));
        if refusals.is_empty() {
            return Some((span, refusals));
        }
        first.get_or_insert((span, refusals));
    }
    first
}

fn elided(source: &str, normal: &Normal, quote: &str, wanted: &str, short: bool) -> Answer {
    let split = split(wanted);
    if split.marks == 0 || split.segments.is_empty() {
        return Answer::absent("", short);
    }
    let lengths = || split.segments.iter().map(|segment| segment.chars().count());
    if lengths().min().unwrap_or(0) < SHORTEST_SEGMENT || lengths().sum::<usize>() < LEAST_TOTAL {
        return Answer::absent("elided segments too short to carry evidence", short);
    }
    let mut found: Vec<Range<usize>> = Vec::new();
    for segment in &split.segments {
        // Leftmost after the segment before: if any start works, the earliest does.
        let from = found.last().map_or(0, |range| range.end);
        match normal.find(segment, from) {
            Some(range) => found.push(range),
            None => return Answer::absent("", short),
        }
    }
    let gaps = || {
        found
            .iter()
            .zip(found.iter().skip(1))
            .map(|(left, right)| left.end..right.start)
    };
    let longest = gaps()
        .map(|gap| normal.text.get(gap).unwrap_or_default().chars().count())
        .max()
        .unwrap_or(0);
    let spans: Vec<Range<usize>> = found
        .iter()
        .map(|range| normal.origin(range.clone()))
        .collect();
    let mut refusals: Vec<String> = spans
        .iter()
        .flat_map(|span| against(source, span))
        .collect();
    let mut notes = Vec::new();
    if longest > LONGEST_GAP {
        refusals.push(format!(
            "it leaves out {longest} characters; more than {LONGEST_GAP} weld two passages together"
        ));
    }
    for (left, right) in spans.iter().zip(spans.iter().skip(1)) {
        let omitted = source.get(left.end..right.start).unwrap_or_default();
        let negations = quote::negations_in(omitted);
        if !negations.is_empty() {
            notes.push(format!(
                "the omitted words hold \"{}\"",
                negations.join("\", \"")
            ));
        }
        if omitted
            .lines()
            .skip(1)
            .any(|line| line.starts_with("MARK["))
        {
            refusals.push("its segments stand in different records".to_owned());
        }
    }
    for inserted in &split.inserted {
        if quote::changes_what_is_said(inserted) {
            refusals.push(format!(
                "the words in brackets change what is said: [{inserted}]"
            ));
        }
    }
    let told: Vec<String> = numbers(&without_short_brackets(quote));
    let there: Vec<String> = spans
        .iter()
        .flat_map(|span| numbers(source.get(span.clone()).unwrap_or_default()))
        .collect();
    refusals.extend(other_numbers(&told, &there));
    refusals.dedup();
    let count = split.segments.len();
    let plural = if count == 1 { "" } else { "s" };
    Answer {
        class: Class::Elided,
        detail: format!("{count} segment{plural}, max gap {longest} chars"),
        spans,
        refusals,
        notes,
        short,
    }
}

/// The quote without the bracket groups that are marks.
fn without_short_brackets(quote: &str) -> String {
    let mut text = String::with_capacity(quote.len());
    let mut rest = quote;
    while let Some(at) = rest.find('[') {
        let (before, from) = rest.split_at(at);
        text.push_str(before);
        let len = match group(from) {
            Some(group) if group.is_mark => group.len,
            _ => {
                text.push('[');
                1
            }
        };
        rest = from.get(len..).unwrap_or_default();
    }
    text.push_str(rest);
    text
}

/// What speaks against a place: it cuts a word or number, or something else governs it.
fn against(source: &str, span: &Range<usize>) -> Vec<String> {
    let mut refusals = Vec::new();
    let before = source.get(..span.start).unwrap_or_default();
    let after = source.get(span.end..).unwrap_or_default();
    let within = source.get(span.clone()).unwrap_or_default();
    let wordy = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let cut = |outer: Option<char>, next: Option<char>, inner: Option<char>| {
        let digit = |c: Option<char>| c.is_some_and(is_decimal);
        let number = digit(inner) && digit(next) && matches!(outer, Some('.' | ','));
        wordy(inner) && wordy(outer) || number
    };
    let mut back = before.chars().rev();
    let mut ahead = after.chars();
    if cut(back.next(), back.next(), within.chars().next()) {
        refusals.push("it begins inside a word or number".to_owned());
    }
    if cut(ahead.next(), ahead.next(), within.chars().next_back()) {
        refusals.push("it ends inside a word or number".to_owned());
    }
    let line = before.rsplit('\n').next().unwrap_or_default();
    if line.starts_with("MARK[hyp]") {
        refusals.push("it stands in a record of a hypothesis".to_owned());
    } else if let Some(cue) = governing_cue(source, span) {
        refusals.push(format!("\"{cue}\" outside the quote governs what it says"));
    }
    refusals
}

/// What governs the span from within its own statement; a semicolon begins another one.
fn governing_cue(source: &str, span: &Range<usize>) -> Option<String> {
    let before = source.get(..span.start)?;
    let reach = before.floor_char_boundary(before.len().saturating_sub(1_000));
    let statement = before
        .get(reach..)?
        .rfind(';')
        .map_or(reach, |at| reach + at + 1);
    let text = source.get(statement..)?;
    quote::governing_cue(text, &(span.start - statement..span.end - statement))
}

/// The numbers of a text as they are written; full-width digits are digits, a superscript is not.
fn numbers(text: &str) -> Vec<String> {
    let mut numbers = Vec::new();
    let mut current = String::new();
    for c in text.chars() {
        let c = match c {
            '０'..='９' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
            other => other,
        };
        if c.is_numeric() || (matches!(c, '.' | ',') && !current.is_empty()) {
            current.push(c);
        } else {
            push_number(&mut numbers, &mut current);
        }
    }
    push_number(&mut numbers, &mut current);
    numbers
}

fn push_number(numbers: &mut Vec<String>, current: &mut String) {
    let number = current.trim_end_matches(['.', ',']);
    if !number.is_empty() {
        numbers.push(number.to_owned());
    }
    current.clear();
}

fn other_numbers(quote: &[String], source: &[String]) -> Option<String> {
    if quote == source {
        return None;
    }
    let differing = quote.iter().zip(source).find(|(here, there)| here != there);
    Some(match differing {
        Some((here, there)) => format!("it differs in a number: {here} ≠ {there}"),
        None => "it differs in its numbers".to_owned(),
    })
}

#[cfg(test)]
mod tests;
