//! A card as `kb show` prints it (contract §4), and values quoted as the contract quotes them.

use std::fmt::Write;
use std::sync::LazyLock;

use regex::Regex;

use crate::parse::card::Card;

/// What is to be said of a card before it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It was retracted.
    Retracted,
    /// It is withdrawn because of what it rests on.
    DependencyRetracted,
}

impl Status {
    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Status::Retracted => "RETRACTED",
            Status::DependencyRetracted => "DEPENDENCY-RETRACTED",
        }
    }
}

/// The view of a card: everything but its body. `card_hash` is the hash that the manifest records.
/// `line` makes other people's text safe to show on one line.
pub fn view(
    card: &Card,
    card_hash: &str,
    status: Option<Status>,
    line: impl Fn(&str) -> String,
) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    if let Some(status) = status {
        let _ = writeln!(out, "STATUS: {}", status.as_str());
    }
    let _ = write!(
        out,
        "# {}\n**{}**\nid: {}\nreading_id: {}\nschema_version: {}\ncard_hash: {}\n",
        line(&card.title),
        line(&card.summary),
        line(&card.id),
        line(&card.reading_id),
        card.schema.as_str(),
        card_hash
    );
    for citation in &card.citations {
        let _ = writeln!(
            out,
            "- citation source_id={} chunk_id={} pages={}-{} chunk_hash={} edge_type={} quote={}",
            line(&citation.source_id),
            line(&citation.chunk_id),
            citation.page_range.start,
            citation.page_range.end,
            citation.chunk_hash,
            citation.edge_type.as_str(),
            repr(&citation.quote)
        );
    }
    out
}

/// A text as Python's `repr` writes it: in single quotes unless it holds one and no double quote;
/// backslashes, the quote and whatever cannot be printed are escaped.
pub fn repr(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') {
        '"'
    } else {
        '\''
    };
    let mut out = String::with_capacity(text.len() + 2);
    out.push(quote);
    for character in text.chars() {
        match character {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            _ if character == quote => {
                out.push('\\');
                out.push(character);
            }
            ' '..='~' => out.push(character),
            _ if is_printable(character) => out.push(character),
            _ => {
                let code = u32::from(character);
                let _ = match code {
                    0..=0xff => write!(out, "\\x{code:02x}"),
                    0x100..=0xffff => write!(out, "\\u{code:04x}"),
                    _ => write!(out, "\\U{code:08x}"),
                };
            }
        }
    }
    out.push(quote);
    out
}

/// Python's `str.isprintable`: neither "other" nor a separator, the space excepted.
fn is_printable(character: char) -> bool {
    static UNPRINTABLE: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"^[\p{C}\p{Z}]$").ok());
    let mut buffer = [0; 4];
    let text: &str = character.encode_utf8(&mut buffer);
    UNPRINTABLE
        .as_ref()
        .is_some_and(|expression| !expression.is_match(text))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;

    #[test]
    fn values_are_quoted_as_python_does() {
        // Each pair is what Python 3 prints.
        for (text, expected) in [
            ("plain", "'plain'"),
            ("it's", "\"it's\""),
            ("it's \"so\"", "'it\\'s \"so\"'"),
            ("say \"so\"", "'say \"so\"'"),
            ("a\\b\nc\td\r", "'a\\\\b\\nc\\td\\r'"),
            ("\u{1b}[0m\u{7f}", "'\\x1b[0m\\x7f'"),
            ("nb\u{a0}sp soft\u{ad}", "'nb\\xa0sp soft\\xad'"),
            ("\u{200b}\u{2028}\u{feff}", "'\\u200b\\u2028\\ufeff'"),
            ("\u{e0001}\u{10ffff}", "'\\U000e0001\\U0010ffff'"),
            ("é ‘漢’ 🎉 e\u{301}", "'é ‘漢’ 🎉 e\u{301}'"),
        ] {
            assert_eq!(repr(text), expected);
        }
    }
}
