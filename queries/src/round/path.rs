//! Paths in list items, and whether a report speaks of cards at all.

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

/// The card that a list item cites.
pub(super) fn bullet(line: &Line<'_>, mask: &Mask) -> Option<Cited> {
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
    let text = text.trim_end();
    if text.is_empty() {
        return None;
    }
    let linked = mask.link_at(at).filter(|target| !target.is_empty());
    let path = match linked {
        Some(target) => target.to_owned(),
        None => written(text).to_owned(),
    };
    let mut readings = Vec::new();
    if linked.is_some() {
        let target = path.split_once('#').map_or(&*path, |(path, _)| path);
        readings.push(target.to_owned());
        readings.push(unescaped(target));
    }
    readings.push(path.replace('\\', "/"));
    readings.dedup();
    readings.retain(|reading| !reading.is_empty() && *reading != path);
    Some(Cited {
        path,
        readings,
        range: at..at + text.len(),
    })
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
