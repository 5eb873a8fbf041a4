//! Cards back to text: the canonical form of a new card (contract §1.4) and the one line that
//! `kb index` changes in an existing one.

use std::fmt::Write as _;
use std::ops::Range;

use super::{Card, fence};
use crate::parse::yaml::{self, Entry, Value};

/// A card as the contract's writer writes it.
///
/// One thing is added to the contract: characters that YAML does not allow or folds away within
/// double quotes (controls, U+0085, U+2028, U+2029, U+FEFF) are escaped, because the text could
/// not be read back otherwise.
pub fn canonical_text(card: &Card, body: &str) -> String {
    let mut out = String::with_capacity(512 + body.len() + 400 * card.citations.len());
    out.push_str("---\n");
    field(&mut out, "", "schema_version", card.schema.as_str());
    field(&mut out, "", "id", &card.id);
    field(&mut out, "", "title", &card.title);
    field(&mut out, "", "reading_id", &card.reading_id);
    field(&mut out, "", "summary", &card.summary);
    if !card.tags.is_empty() {
        out.push_str("tags: [");
        for (index, tag) in card.tags.iter().enumerate() {
            if index > 0 {
                out.push_str(", ");
            }
            quoted(&mut out, tag);
        }
        out.push_str("]\n");
    }
    if !card.edges.is_empty() {
        out.push_str("card_edges:\n");
        for edge in &card.edges {
            field(&mut out, "  - ", "target", &edge.target);
            field(&mut out, "    ", "edge_type", edge.edge_type.as_str());
        }
    }
    out.push_str("citations:\n");
    for citation in &card.citations {
        field(&mut out, "  - ", "source_id", &citation.source_id);
        field(&mut out, "    ", "chunk_id", &citation.chunk_id);
        field(&mut out, "    ", "chunk_hash", &citation.chunk_hash);
        // Writing to a string cannot fail.
        let _ = writeln!(out, "    page_range: {}", citation.page_range);
        field(&mut out, "    ", "quote", &citation.quote);
        for (name, text) in [("prefix", &citation.prefix), ("suffix", &citation.suffix)] {
            if let Some(text) = text {
                field(&mut out, "    ", name, text);
            }
        }
        field(&mut out, "    ", "edge_type", citation.edge_type.as_str());
    }
    if let Some(hash) = &card.card_hash {
        field(&mut out, "", "card_hash", hash);
    }
    out.push_str("---\n");
    out.push_str(body);
    out
}

fn field(out: &mut String, indent: &str, name: &str, value: &str) {
    out.push_str(indent);
    out.push_str(name);
    out.push_str(": ");
    quoted(out, value);
    out.push('\n');
}

/// A double-quoted YAML scalar on one line.
pub(super) fn quoted(out: &mut String, text: &str) {
    out.push('"');
    for character in text.chars() {
        match character {
            '\\' => out.push_str("\\\\"),
            '"' => out.push_str("\\\""),
            '\n' => out.push_str("\\n"),
            '\t' => out.push('\t'),
            '\u{2028}' | '\u{2029}' | '\u{FEFF}' | '\u{FFFE}' | '\u{FFFF}' => {
                let _ = write!(out, "\\u{:04X}", u32::from(character));
            }
            control if control.is_control() => {
                let _ = write!(out, "\\x{:02X}", u32::from(control));
            }
            other => out.push(other),
        }
    }
    out.push('"');
}

/// The edit that records `new_hash` in a card: which bytes to replace, and by what.
///
/// Only the `card_hash` entry changes, or a line before the closing fence is added; everything else
/// stays byte for byte. `None` if the text has no frontmatter that is a mapping.
pub fn card_hash_edit(text: &str, new_hash: &str) -> Option<(Range<usize>, String)> {
    let parts = fence::split(text, 0).ok()?;
    let tree = yaml::parse(text, parts.frontmatter.clone());
    let root = tree.root?;
    let Value::Mapping { entries, flow } = &root.value else {
        return None;
    };
    let line = format!("card_hash: \"{new_hash}\"");
    let is_hash = |entry: &&Entry<'_>| entry.key.as_str() == Some("card_hash");
    if let Some(entry) = entries.iter().find(is_hash) {
        let key_end = entry.key.span.end;
        let colon = key_end + text.get(key_end..)?.find(':')? + 1;
        let start = entry.key.span.start;
        return Some((start..entry.value.span.end.max(colon), line));
    }
    let last = entries.last()?;
    if *flow {
        let end = last.value.span.end.max(last.key.span.end);
        return Some((end..end, format!(", {line}")));
    }
    let first = entries.first()?.key.span.start;
    let line_start = text.get(..first)?.rfind('\n').map_or(0, |at| at + 1);
    let indent = text
        .get(line_start..first)
        .filter(|indent| indent.trim().is_empty());
    // The frontmatter ends before the line break of its last line, but after its carriage return.
    let at = parts.frontmatter.end;
    let carriage_return = if text.get(..at)?.ends_with('\r') {
        "\r"
    } else {
        ""
    };
    let indent = indent.unwrap_or_default();
    Some((at..at, format!("\n{indent}{line}{carriage_return}")))
}
