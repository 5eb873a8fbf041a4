//! How a value of a card is written, so that an edit can be written the same way.
//!
//! Everything here is decided from the text around one entry; whether an edit is wanted is decided
//! elsewhere.

use super::write::quoted;
use crate::parse::yaml::{self, Entry, Value};

/// Where the missing fields of a citation are inserted, and how.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PinPlace {
    /// Byte offset: behind `source_id` and its comment.
    pub at: usize,
    /// What stands before each field: a line break with the indentation, or a comma.
    lead: Box<str>,
    /// Keys are written in double quotes, as in JSON.
    quoted_keys: bool,
}

impl PinPlace {
    /// The place behind `entry`, which is the `source_id` of a citation. `None`: it is written so
    /// that a line behind it would not clearly be part of the same citation.
    pub(super) fn after(text: &str, entry: &Entry<'_>, flow: bool) -> Option<Self> {
        let key = entry.key.span.clone();
        let end = entry.value.span.end;
        if text.get(key.start..end)?.contains('\n') {
            return None;
        }
        if flow {
            return Some(PinPlace {
                at: end,
                lead: ", ".into(),
                quoted_keys: text.get(key)?.starts_with('"'),
            });
        }
        let line_start = text.get(..key.start)?.rfind('\n').map_or(0, |at| at + 1);
        let before = text.get(line_start..key.start)?;
        if !before.bytes().all(|byte| matches!(byte, b' ' | b'-')) {
            return None;
        }
        let line = text.get(end..)?.split('\n').next()?;
        let (rest, newline) = match line.strip_suffix('\r') {
            Some(rest) => (rest, "\r\n"),
            None => (line, "\n"),
        };
        let comment = rest.trim_start_matches([' ', '\t']);
        if !(comment.is_empty() || comment.starts_with('#') && comment.len() < rest.len()) {
            return None;
        }
        Some(PinPlace {
            at: end + rest.len(),
            lead: format!("{newline}{}", " ".repeat(before.len())).into(),
            quoted_keys: text.get(key)?.starts_with('"'),
        })
    }

    /// The text to insert. `id` and `hash` hold no character that would have to be escaped.
    pub fn fields(&self, id: &str, hash: &str, pages: (u32, u32)) -> String {
        let lead = &self.lead;
        let mark = if self.quoted_keys { "\"" } else { "" };
        format!(
            "{lead}{mark}chunk_id{mark}: \"{id}\"\
             {lead}{mark}chunk_hash{mark}: \"{hash}\"\
             {lead}{mark}page_range{mark}: [{}, {}]",
            pages.0, pages.1
        )
    }
}

/// How a string is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum ScalarStyle {
    /// Without quotes.
    Plain,
    /// In single quotes.
    Single,
    /// In double quotes.
    #[default]
    Double,
    /// On lines of its own, behind `|` or `>`; its span begins at its first character.
    Block,
}

impl ScalarStyle {
    /// The style of the value of `entry`.
    pub(super) fn of(text: &str, entry: &Entry<'_>) -> Self {
        let between = text
            .get(entry.key.span.end..entry.value.span.start)
            .unwrap_or_default();
        let header = between.lines().next().unwrap_or_default();
        let is_block = header
            .split([' ', '\t', ':'])
            .take_while(|word| !word.starts_with('#'))
            .any(|word| word.starts_with(['|', '>']));
        if is_block && between.contains('\n') {
            return ScalarStyle::Block;
        }
        match text.as_bytes().get(entry.value.span.start) {
            Some(b'\'') => ScalarStyle::Single,
            Some(b'"') => ScalarStyle::Double,
            _ => ScalarStyle::Plain,
        }
    }

    /// `value`, a text of one line, in this style, or in double quotes where this style cannot hold
    /// it. `None`: it cannot be put into the place of a value of this style at all.
    pub fn write(self, value: &str) -> Option<String> {
        let printable = !value.chars().any(char::is_control);
        match self {
            ScalarStyle::Block => {
                let fits = printable && !value.is_empty() && value.trim() == value;
                return fits.then(|| value.to_owned());
            }
            ScalarStyle::Plain if printable && reads_back(value) => return Some(value.to_owned()),
            ScalarStyle::Single if printable => {
                return Some(format!("'{}'", value.replace('\'', "''")));
            }
            _ => {}
        }
        let mut out = String::with_capacity(value.len() + 2);
        quoted(&mut out, value);
        Some(out)
    }
}

/// Whether a plain scalar means its own characters, in braces and outside.
fn reads_back(value: &str) -> bool {
    [format!("a: {value}\n"), format!("{{a: {value}, b: c}}\n")]
        .iter()
        .all(|text| {
            let tree = yaml::parse(text, 0..text.len());
            tree.problems.is_empty()
                && matches!(
                    tree.root.map(|root| root.value),
                    Some(Value::Mapping { entries, .. })
                        if entries.first().and_then(|entry| entry.value.as_str()) == Some(value)
                            && entries.iter().all(|entry| {
                                matches!(entry.key.as_str(), Some("a" | "b"))
                            })
                )
        })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use proptest::prelude::*;

    use super::ScalarStyle;
    use crate::parse::card::{ParsedCard, parse};

    fn card(citation: &str, newline: &str) -> String {
        let text = format!(
            "---\nschema_version: \"kb.v1\"\nid: a\ntitle: b\nreading_id: r\nsummary: \"{}\"\ncitations:\n{citation}\n---\nBody.\n",
            "s".repeat(90)
        );
        text.replace('\n', newline)
    }

    fn pinned(text: &str) -> Option<ParsedCard> {
        let card = parse(text);
        let [citation] = card.citations.as_slice() else {
            return None;
        };
        let place = citation.unpinned.as_ref().unwrap().as_ref()?;
        let mut text = text.to_owned();
        let fields = place.fields("spec:p001:0000", &"ab".repeat(32), (2, 3));
        text.insert_str(place.at, &fields);
        Some(parse(&text))
    }

    #[test]
    fn a_citation_of_any_style_can_be_pinned() {
        let citations = [
            "  - source_id: spec\n    quote: some words",
            "- source_id: \"spec\" # the spec\n  quote: some words",
            "  - quote: some words\n    source_id: spec   ",
            "  -\n    quote: >-\n      some\n      words\n    source_id: 'spec'\n    edge_type: defines",
            "  -   source_id: spec\n      quote: some words",
            "  - {source_id: spec, quote: some words}",
            "  - { quote: some words, source_id: spec }",
            "  - {\n      \"source_id\": \"spec\",\n      \"quote\": \"some words\"\n    }",
            "  - \"source_id\": spec\n    quote: some words\n    prefix: of",
        ];
        for newline in ["\n", "\r\n"] {
            for citation in citations {
                let text = card(citation, newline);
                assert_eq!(parse(&text).problems_besides_pins().count(), 0, "{text}");
                assert_eq!(parse(&text).problems.len(), 3, "{text}");
                let after = pinned(&text).unwrap();
                assert_eq!(after.problems, [], "{text}");
                let citation = after.citations.first().unwrap();
                assert!(citation.unpinned.is_none());
                let value = citation.complete().unwrap();
                assert_eq!(&*value.chunk_id, "spec:p001:0000");
                assert_eq!(value.page_range.to_string(), "[2, 3]");
                assert_eq!(&*value.quote, "some words");
            }
        }
    }

    #[test]
    fn what_is_not_clear_is_not_pinned() {
        for citation in [
            "  - source_id:\n      spec\n    quote: some words",
            "  - source_id: |-\n      spec\n    quote: some words",
            "  - ? source_id\n    : spec\n    quote: some words",
        ] {
            assert!(pinned(&card(citation, "\n")).is_none(), "{citation}");
        }
        // A part of a pin is a mistake, not a citation that is still to be pinned.
        let partly = card(
            "  - source_id: spec\n    chunk_id: spec:p001:0000\n    quote: some words",
            "\n",
        );
        let partly = parse(&partly);
        assert!(partly.citations.first().unwrap().unpinned.is_none());
        assert_eq!(partly.problems_besides_pins().count(), 2);
    }

    #[test]
    fn styles_are_told_apart() {
        for (written, style) in [
            ("some words", ScalarStyle::Plain),
            ("'some words'", ScalarStyle::Single),
            ("\"some words\"", ScalarStyle::Double),
            ("|\n      some words", ScalarStyle::Block),
            (">- # folded\n      some words", ScalarStyle::Block),
            ("\n      some words", ScalarStyle::Plain),
            ("|\n      \"some words\"", ScalarStyle::Block),
        ] {
            let text = card(&format!("  - source_id: spec\n    quote: {written}"), "\n");
            assert_eq!(
                parse(&text).citations.first().unwrap().quote_style,
                style,
                "{written}"
            );
        }
    }

    proptest! {
        #[test]
        fn what_is_written_in_a_style_reads_back(
            value in "[ -~äé“”\u{a0}\n\t#:'\"\\\\]{1,40}",
            style in prop::sample::select(vec![
                ("x y", ScalarStyle::Plain),
                ("'x y'", ScalarStyle::Single),
                ("\"x y\"", ScalarStyle::Double),
                (">-\n      x y", ScalarStyle::Block),
                ("|-\n      x\n      y", ScalarStyle::Block),
            ]),
        ) {
            let text = card(&format!("  - source_id: spec\n    quote: {}\n    suffix: z", style.0), "\n");
            let before = parse(&text);
            let citation = before.citations.first().unwrap();
            prop_assert_eq!(citation.quote_style, style.1);
            if let Some(written) = style.1.write(&value) {
                let mut text = text.clone();
                text.replace_range(citation.quote.as_ref().unwrap().span.clone(), &written);
                let after = parse(&text);
                let quote = after.citations.first().unwrap().quote.clone();
                // A quote without words is refused, but as what it is.
                if !value.trim().is_empty() && quote.is_some() {
                    prop_assert_eq!(&*quote.unwrap().value, value.as_str());
                }
            }
        }
    }
}
