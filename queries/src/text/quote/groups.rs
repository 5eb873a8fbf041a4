//! What a source has inside a sentence that a quote may leave out: citation markers, and the running
//! headers, footers and page numbers between two pages.
//!
//! Every rule here errs towards keeping: a number in brackets after "range" or "interval" is a value,
//! a paragraph that holds a negation is text.

use std::ops::Range;

use super::chars;
use super::fold::{Folded, Group, Item, Kind};
use super::lexicon;
use super::verdict::Folding;

/// Finds the optional groups of a source. `page_starts` are byte offsets at which a new page begins,
/// where anything is known about pages.
pub(super) fn find(folded: &Folded<'_>, page_starts: Option<&[usize]>) -> Vec<Group> {
    let feeds = memchr::memchr_iter(0x0c, folded.text.as_bytes()).map(|at| at + 1);
    let known = page_starts.unwrap_or_default();
    let mut starts: Vec<usize> = known.iter().copied().chain(feeds).collect();
    starts.sort_unstable();
    let mut furniture = paragraphs(folded, &starts, page_starts.is_none());
    furniture.extend(page_edges(folded, &starts));
    furniture.sort_by_key(|group| group.items.start);
    let mut groups = Vec::new();
    let mut end = 0;
    for group in furniture {
        if group.items.start >= end && !group.items.is_empty() {
            end = group.items.end;
            groups.push(group);
        }
    }
    let mut merged: Vec<Group> = Vec::new();
    let mut furniture = groups.into_iter().peekable();
    for marker in markers(folded) {
        while let Some(group) = furniture.next_if(|group| group.items.start <= marker.items.start) {
            merged.push(group);
        }
        let clear = merged
            .last()
            .is_none_or(|last| last.items.end <= marker.items.start)
            && furniture
                .peek()
                .is_none_or(|next| marker.items.end <= next.items.start);
        if clear {
            merged.push(marker);
        }
    }
    merged.extend(furniture);
    merged
}

/// Longest marker looked at, in elements.
const LONGEST_MARKER: usize = 60;

fn markers(folded: &Folded<'_>) -> Vec<Group> {
    let mut found: Vec<Group> = Vec::new();
    let mut at = 1;
    while let Some(item) = folded.items.get(at) {
        let items = match item.ascii() {
            Some(b'[') => bracketed(folded, at, found.last()),
            Some(b'1'..=b'9') => glued(folded, at),
            None if item.kind() == Kind::Superscript => superscript(folded, at),
            _ => None,
        };
        let Some(items) = items else {
            at += 1;
            continue;
        };
        at = items.end;
        // `[12], [13]` is one marker.
        if let Some(last) = found.last_mut()
            && items.start > last.items.end
            && items.start - last.items.end <= 1
            && folded.char(last.items.end) == Some(',')
        {
            last.items.end = items.end;
            continue;
        }
        found.push(Group {
            items,
            folding: Some(Folding::Marker),
            words: String::new(),
        });
    }
    found
}

/// `[13]`, `[13, 14–16]`, `[^1]`, `[@key]`, `[Smith et al., 2020]`, with the white space before it.
fn bracketed(folded: &Folded<'_>, at: usize, last: Option<&Group>) -> Option<Range<usize>> {
    let window = folded.items.get(at + 1..)?;
    let close = window
        .iter()
        .take(LONGEST_MARKER)
        .position(|item| matches!(item.char(), Some(']' | '[')))
        .filter(|&close| window.get(close).and_then(Item::char) == Some(']'))?;
    let inner: String = window.iter().take(close).map(|item| item.ch()).collect();
    if !is_marker_text(&inner) {
        return None;
    }
    let mut start = at;
    let mut before = at.checked_sub(1)?;
    if folded
        .items
        .get(before)
        .is_some_and(|item| item.kind() == Kind::Superscript)
    {
        start = before;
        before = before.checked_sub(1)?;
    }
    let item = folded.items.get(before)?;
    if last.is_some_and(|group| group.items.end == start) {
        // A chain of markers.
    } else if item.kind() == Kind::Space {
        start = before;
        if lexicon::introduces_value(&word_before(folded, before)) {
            return None;
        }
    } else if item.ch().is_alphabetic() {
        // `values[3]` may be an element of an array, but a short name surely is.
        if !chars::is_spaceless(item.ch()) && word_before(folded, start).chars().count() < 3 {
            return None;
        }
    } else if !matches!(
        item.ch(),
        '.' | ',' | ';' | ':' | ')' | '"' | '\'' | '!' | '?' | '。' | '，' | '、'
    ) {
        return None;
    }
    let mut end = at + close + 2;
    if folded
        .items
        .get(end)
        .is_some_and(|item| item.kind() == Kind::ScriptEnd)
    {
        end += 1;
    }
    // A marker glued to what follows is an index or a part of a name.
    if folded
        .char(end)
        .is_some_and(|c| chars::is_wordish(c) && !chars::is_spaceless(c))
    {
        return None;
    }
    Some(start..end)
}

fn is_marker_text(inner: &str) -> bool {
    let inner = inner.trim();
    if let Some(label) = inner.strip_prefix('^') {
        return !label.is_empty()
            && label
                .chars()
                .all(|c| c.is_alphanumeric() || c == '-' || c == '_');
    }
    if inner.starts_with('@') || inner.starts_with("-@") {
        return inner.len() > 1 && !inner.contains('[');
    }
    if inner.contains(|c: char| c.is_ascii_digit())
        && inner
            .split([',', ';', '-'])
            .all(|part| is_reference_number(part.trim()))
    {
        return true;
    }
    inner.split(';').all(|part| is_author_year(part.trim()))
}

fn is_reference_number(part: &str) -> bool {
    let digits = part.trim_end_matches(|c: char| c.is_ascii_lowercase());
    (1..=3).contains(&digits.len())
        && part.len() - digits.len() <= 1
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && !digits.starts_with('0')
}

fn is_author_year(part: &str) -> bool {
    let year = part.trim_end_matches(|c: char| c.is_ascii_lowercase());
    let names = year.trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = year.get(names.len()..).unwrap_or("");
    digits.len() == 4
        && matches!(digits.get(..2), Some("18" | "19" | "20"))
        && names.chars().next().is_some_and(char::is_uppercase)
        && names.ends_with([' ', ','])
        && names
            .chars()
            .all(|c| c.is_alphabetic() || matches!(c, ' ' | '.' | ',' | '&' | '-' | '\''))
        && names.split_whitespace().count() <= 6
}

/// A superscript number after a word or a sentence mark, never after a unit or a digit.
fn superscript(folded: &Folded<'_>, at: usize) -> Option<Range<usize>> {
    let run = folded.items.get(at + 1..)?;
    let len = run
        .iter()
        .take(LONGEST_MARKER)
        .take_while(|item| item.kind() == Kind::Char && item.folds.contains(Folding::Script))
        .count();
    let inner: String = run.iter().take(len).map(|item| item.ch()).collect();
    if inner.is_empty()
        || !inner
            .split([',', '-'])
            .all(|part| is_reference_number(part) && part.len() <= 3)
    {
        return None;
    }
    // The white space before it goes with it.
    let mut before = at.checked_sub(1)?;
    let spaced = folded.items.get(before).is_some_and(is_gap);
    if spaced {
        before = before.checked_sub(1)?;
    }
    let last = folded.char(before)?;
    let end = at
        + 1
        + len
        + usize::from(
            run.get(len)
                .is_some_and(|item| item.kind() == Kind::ScriptEnd),
        );
    let after_word = last.is_lowercase() && {
        let word = word_before(folded, before + 1);
        word.chars().count() >= 4
            && word.chars().all(char::is_alphabetic)
            && !lexicon::takes_exponent(&word)
    };
    let after_mark = matches!(last, '.' | ',' | ';' | ')' | '"' | '!' | '?')
        // `1.²` and `(x)²` are numbers.
        && before.checked_sub(1).and_then(|index| folded.char(index)).is_some_and(|c| c.is_lowercase())
        && last != ')';
    let apart = folded.char(end).is_none_or(|c| !chars::is_wordish(c));
    ((after_word || after_mark) && apart).then_some(at - usize::from(spaced)..end)
}

/// A bare number glued to the end of a lower-case word: `affected12 in`.
fn glued(folded: &Folded<'_>, at: usize) -> Option<Range<usize>> {
    let before = at.checked_sub(1)?;
    if !folded.char(before)?.is_lowercase() {
        return None;
    }
    let digits = folded
        .items
        .get(at..)?
        .iter()
        .take(4)
        .take_while(|item| item.kind() == Kind::Char && item.ch().is_ascii_digit())
        .count();
    let end = at + digits;
    let apart = match folded.items.get(end) {
        None => true,
        Some(item) => {
            item.kind() == Kind::Space
                || matches!(item.ch(), '.' | ',' | ';' | ')')
                    && folded
                        .items
                        .get(end + 1)
                        .is_none_or(|next| next.kind() == Kind::Space)
        }
    };
    let word = word_before(folded, at);
    let ordinary = word.chars().count() >= 4
        && word.chars().all(char::is_lowercase)
        && !lexicon::takes_number(&word)
        && !lexicon::is_unit(&word);
    (apart && digits <= 3 && ordinary).then_some(at..end)
}

/// The run of word characters that ends before element `index`, as it stands. At most 40 characters.
fn word_before(folded: &Folded<'_>, index: usize) -> String {
    let Some(items) = folded.items.get(..index) else {
        return String::new();
    };
    let letters: Vec<char> = items
        .iter()
        .rev()
        // A hyphen at a line end is inside the word.
        .filter(|item| {
            !(item.may_vanish() && item.char().is_none() && item.kind() != Kind::SoftSpace)
        })
        .take(40)
        .map_while(|item| {
            item.char()
                .filter(|&c| chars::is_wordish(c) || matches!(c, '=' | '∈' | '≈'))
        })
        .collect();
    letters.into_iter().rev().collect()
}

/// Longest running header, in bytes.
const MOST_BYTES: usize = 400;
/// Most words of a running header.
const MOST_WORDS: usize = 12;
/// Most pieces of furniture in a row: a footer, a page number, a header.
const MOST_PARAGRAPHS: usize = 3;

/// Short paragraphs that stand between two parts of a sentence, where a page ends. In a text of which
/// nobody knows whether it has pages (`guess`), a header with words shows one; a bare number may be a value.
fn paragraphs(folded: &Folded<'_>, starts: &[usize], guess: bool) -> Vec<Group> {
    if starts.is_empty() && !guess {
        return Vec::new();
    }
    let text = folded.text;
    let ranges = split_paragraphs(text);
    let mut found = Vec::new();
    let mut index = 1;
    while index + 1 < ranges.len() {
        let run = ranges
            .get(index..)
            .unwrap_or(&[])
            .iter()
            .take(MOST_PARAGRAPHS + 1)
            .take_while(|range| text.get((*range).clone()).is_some_and(is_furniture))
            .count();
        if run == 0 || run > MOST_PARAGRAPHS {
            index += run.max(1);
            continue;
        }
        if let (Some(before), Some(after), Some(first), Some(last)) = (
            ranges.get(index - 1),
            ranges.get(index + run),
            ranges.get(index),
            ranges.get(index + run - 1),
        ) && (is_page_end(starts, before.end..after.start)
            || guess && text.get(first.start..last.end).is_some_and(shows_a_page))
            && interrupts(
                folded,
                before,
                after,
                text.get(first.start..last.end)
                    .is_some_and(|inner| inner.contains(|c: char| c.is_numeric())),
            )
        {
            found.push(cover(folded, first.start..last.end));
        }
        index += run;
    }
    found
}

/// The group of the elements in the bytes `range` and the white space before them.
fn cover(folded: &Folded<'_>, range: Range<usize>) -> Group {
    let start = folded.index_of(range.start);
    let end = folded.index_of(range.end);
    let spaced = start
        .checked_sub(1)
        .and_then(|before| folded.items.get(before))
        .is_some_and(is_gap);
    Group {
        items: start - usize::from(spaced)..end.max(start),
        folding: Some(Folding::Furniture),
        words: String::new(),
    }
}

fn is_gap(item: &Item) -> bool {
    matches!(item.kind(), Kind::Space | Kind::SoftSpace)
}

/// Byte ranges of the paragraphs of `text`, without the white space around them.
fn split_paragraphs(text: &str) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    let mut open: Option<Range<usize>> = None;
    let mut at = 0;
    for line in text.split_inclusive(['\n', '\u{c}']) {
        let trimmed = line.trim();
        if trimmed.is_empty() {
            ranges.extend(open.take());
        } else {
            let start = at + (line.len() - line.trim_start().len());
            let end = start + trimmed.len();
            open = Some(open.map_or(start, |range| range.start)..end);
            if line.ends_with('\u{c}') {
                ranges.extend(open.take());
            }
        }
        at += line.len();
    }
    ranges.extend(open);
    ranges
}

/// Whether a paragraph or line can be a running header, footer or page number.
fn is_furniture(text: &str) -> bool {
    if text.len() > MOST_BYTES
        || text.contains(['|', '\t'])
        || text.ends_with([':', '?', '!', ';', ','])
    {
        return false;
    }
    let words = text.split_whitespace().count();
    let wide = text.chars().filter(|&c| chars::is_spaceless(c)).count();
    if words > MOST_WORDS || wide > 2 * MOST_WORDS {
        return false;
    }
    if text.ends_with(['.', '。']) && words > 4 {
        return false;
    }
    let Some(first) = text.chars().find(|&c| chars::is_wordish(c)) else {
        return false;
    };
    let bullet =
        text.starts_with(['-', '*', '+', '•', '>', '(', '"', '“']) && !text.starts_with("- ");
    let page_number = text.starts_with("- ") && text.ends_with(" -");
    let list = text.starts_with("- ") && !page_number;
    !first.is_lowercase() && !bullet && !list && lexicon::negations(text).is_empty()
}

/// Whether `before` breaks off within a sentence that `after` goes on with.
///
/// A list of short items is text ("sugar", "Salt", "flour"); what is `numbered` is less likely to be one.
fn interrupts(
    folded: &Folded<'_>,
    before: &Range<usize>,
    after: &Range<usize>,
    numbered: bool,
) -> bool {
    let least = if numbered { 2 } else { 4 };
    let long = |range: &Range<usize>| {
        folded.text.get(range.clone()).is_some_and(|text| {
            text.split_whitespace().take(least).count() >= least
                || text.chars().any(chars::is_spaceless)
        })
    };
    is_mid_sentence(folded, before.end, after.start) && long(before) && long(after)
}

/// Whether what ends at byte `before` goes on at byte `after`: no full stop there, no capital here.
fn is_mid_sentence(folded: &Folded<'_>, before: usize, after: usize) -> bool {
    let earlier = folded.items.get(..folded.index_of(before)).unwrap_or(&[]);
    let ends = earlier
        .iter()
        .rev()
        .find(|item| !is_gap(item))
        .and_then(Item::char)
        .is_some_and(|c| chars::is_wordish(c) || matches!(c, ',' | ']'));
    let later = folded.items.get(folded.index_of(after)..).unwrap_or(&[]);
    let goes_on = later
        .iter()
        .find(|item| !is_gap(item))
        .and_then(Item::char)
        .is_some_and(|c| c.is_alphabetic() && !c.is_uppercase());
    ends && goes_on
}

/// Whether furniture shows by itself that it is some: it has words, or is set as `- 12 -`.
fn shows_a_page(text: &str) -> bool {
    text.contains(char::is_alphabetic) || text.starts_with("- ") && text.ends_with(" -")
}

/// Whether a page begins in the bytes between two paragraphs. `starts` ascend.
fn is_page_end(starts: &[usize], between: Range<usize>) -> bool {
    let next = starts.partition_point(|&start| start < between.start);
    starts.get(next).is_some_and(|&start| start <= between.end)
}

/// The last line of a page and the first one of the next, where they read as furniture. `starts`
/// ascend.
fn page_edges(folded: &Folded<'_>, starts: &[usize]) -> Vec<Group> {
    let text = folded.text;
    let mut found = Vec::new();
    let mut reached = 0;
    for &start in starts {
        // Empty pages are one page break.
        if start < reached || !text.is_char_boundary(start) {
            continue;
        }
        let header_start = start
            + text
                .get(start..)
                .map_or(0, |rest| rest.len() - rest.trim_start().len());
        reached = header_start;
        let footer_end = text
            .get(..start)
            .map_or(0, |before| before.trim_end().len());
        let reach = text.floor_char_boundary(footer_end.saturating_sub(MOST_BYTES));
        let footer_start = text
            .get(reach..footer_end)
            .and_then(|line| line.rfind('\n'))
            .map(|at| reach + at + 1);
        let limit = text.floor_char_boundary((header_start + MOST_BYTES).min(text.len()));
        let header_end = text
            .get(header_start..limit)
            .and_then(|rest| rest.find('\n'))
            .map(|len| header_start + len);
        let line = |start: Option<usize>, end: Option<usize>| {
            let range = start?..end?;
            text.get(range.clone())
                .is_some_and(|line| is_page_line(line.trim()))
                .then_some(range)
        };
        let footer = line(footer_start, Some(footer_end));
        let header = line(Some(header_start), header_end);
        let before = footer.as_ref().map_or(footer_end, |line| line.start);
        let after = header.as_ref().map_or(header_start, |line| line.end);
        if is_mid_sentence(folded, before, after) {
            found.extend(
                footer
                    .into_iter()
                    .chain(header)
                    .map(|range| cover(folded, range)),
            );
        }
    }
    found
}

/// Furniture that is not set off by blank lines must also look like a title or a page number.
fn is_page_line(line: &str) -> bool {
    let titled = line.split_whitespace().all(|word| {
        let letters = word.chars().filter(|c| c.is_alphabetic()).count();
        letters < 5
            || word
                .chars()
                .find(|c| c.is_alphabetic())
                .is_some_and(|c| !c.is_lowercase())
    });
    let numbered = line.chars().next().is_some_and(|c| c.is_ascii_digit())
        || line
            .chars()
            .next_back()
            .is_some_and(|c| c.is_ascii_digit() || c == '-');
    let capitals = !line.chars().any(char::is_lowercase);
    is_furniture(line) && titled && (numbered || capitals)
}
