//! Paths in list items, and whether a report speaks of cards at all.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::Cited;
use super::lines::Line;
use super::mask::Mask;

/// What is searched for is fixed, and a test compiles it.
#[allow(clippy::expect_used)]
static CARDS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?:cards|\.claude[/\\]knowledge)[/\\]").expect("a pattern that compiles")
});

/// An address on the web: nothing in it is a path in this tree. `file:` is one.
#[allow(clippy::expect_used)]
static ADDRESS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?i)\b(?:[a-z][a-z0-9+.-]*://|www\.)[^\s<>"`]*"#)
        .expect("a pattern that compiles")
});

/// Whether a report speaks of cards: in prose, code or lists, but not within a web address.
pub(super) fn speaks_of_cards(text: &str) -> bool {
    let mut from = 0;
    for address in ADDRESS.find_iter(text) {
        if address.as_str().to_ascii_lowercase().starts_with("file:") {
            continue;
        }
        if CARDS.is_match(&text[from..address.start()]) {
            return true;
        }
        from = address.end();
    }
    CARDS.is_match(&text[from..])
}

/// Separators between a path and a remark, in the order in which they are looked for.
const SEPARATORS: [&str; 4] = [" -- ", " — ", " - ", " ("];

/// The cards that a list item cites: the one it begins with and, where it begins with a link or a
/// code span, others of the same form before the remark.
pub(super) fn bullet(line: &Line<'_>, mask: &Mask) -> Vec<Cited> {
    let Some((at, text)) = item(line, mask) else {
        return Vec::new();
    };
    let range = at..at + text.len();
    let remark = SEPARATORS
        .iter()
        .filter_map(|separator| text.find(separator))
        .min()
        .unwrap_or(text.len());
    let others = at + 1..at + remark;
    let is_card = |path: &str| CARDS.is_match(path) && !ADDRESS.is_match(path);
    let link = mask
        .links_in(at..at + 1)
        .map(|(_, target)| target)
        .find(|target| !target.is_empty());
    if let Some(target) = link {
        let more = mask.links_in(others).map(|(_, target)| target);
        return std::iter::once(target)
            .chain(more.filter(|target| is_card(target)))
            .map(|target| cited(target, true, &range))
            .collect();
    }
    let first = cited(written(text), false, &range);
    let codes = mask.codes_in(others).map(|(_, code)| code);
    let more = codes.filter(|code| text.starts_with('`') && is_card(code));
    std::iter::once(first)
        .chain(more.map(|code| cited(code, false, &range)))
        .collect()
}

/// Where the text of a list item starts, and that text: without comments, and without the box of a
/// task.
fn item<'a>(line: &Line<'a>, mask: &Mask) -> Option<(usize, &'a str)> {
    let indent = line.text.len() - line.text.trim_start().len();
    let item = line.text.trim_start().strip_prefix(['-', '*'])?;
    if !item.starts_with(char::is_whitespace) {
        return None;
    }
    let mut text = item.trim_start();
    let mut at = line.range.start + indent + 1 + (item.len() - text.len());
    while let Some(end) = mask.comment_at(at) {
        let rest = line.text.get(end.saturating_sub(line.range.start)..)?;
        text = rest.trim_start();
        at = end + (rest.len() - text.len());
    }
    for task in ["[ ]", "[x]", "[X]"] {
        if let Some(rest) = text.strip_prefix(task)
            && rest.starts_with(char::is_whitespace)
        {
            at += text.len() - rest.trim_start().len();
            text = rest.trim_start();
        }
    }
    let text = text.trim_end();
    (!text.is_empty()).then_some((at, text))
}

fn cited(path: &str, linked: bool, range: &Range<usize>) -> Cited {
    let mut readings = Vec::new();
    if linked {
        let target = path.split_once('#').map_or(path, |(path, _)| path);
        readings.push(target.to_owned());
        readings.push(unescaped(target));
    }
    readings.push(path.replace('\\', "/"));
    readings.dedup();
    readings.retain(|reading| !reading.is_empty() && *reading != path);
    Cited {
        path: path.to_owned(),
        readings,
        range: range.clone(),
    }
}

/// The path at the start of an item's text.
fn written(text: &str) -> &str {
    if let Some(rest) = text.strip_prefix('`')
        && let Some((span, _)) = rest.split_once('`')
        && !span.is_empty()
    {
        return span;
    }
    for separator in SEPARATORS {
        if let Some((path, _)) = text.split_once(separator) {
            return path.trim();
        }
    }
    text.split_whitespace().next().unwrap_or(text)
}

/// A link's destination without percent escapes (RFC 3986, 2.1). One that is no text stays.
fn unescaped(target: &str) -> String {
    let mut bytes = Vec::with_capacity(target.len());
    let mut rest = target.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let escape = match (first, after) {
            (b'%', [high, low, ..]) => hex(*high).zip(hex(*low)),
            _ => None,
        };
        if let Some((high, low)) = escape {
            bytes.push(high << 4 | low);
            rest = after.get(2..).unwrap_or_default();
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| target.to_owned())
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit)
        .to_digit(16)
        .and_then(|value| u8::try_from(value).ok())
}
