//! What stands in a Markdown text and is not said by it: comments, hidden HTML elements and
//! definitions of links, struck-out words, targets and titles of links.
//!
//! What an image shows instead of itself, front matter and code are text like any other.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::super::html::elements::{hides, strikes_or_hides};
use super::front_matter;
use crate::text::veil::{Veil, Veiled};

/// The stretches of `text` that are not said, in no order.
pub(in super::super) fn veils(text: &str) -> Vec<Veiled> {
    let bytes = text.as_bytes();
    if memchr::memchr3(b'<', b'~', b']', bytes).is_none() {
        return Vec::new();
    }
    let base = front_matter(text);
    let body = text.get(base..).unwrap_or_default();
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_HEADING_ATTRIBUTES
        | Options::ENABLE_STRIKETHROUGH;
    let parser = Parser::new_ext(body, options);
    let mut veils: Vec<Veiled> = parser
        .reference_definitions()
        .iter()
        .map(|(_, definition)| Veiled::new(definition.span.clone(), Veil::Hidden))
        .collect();
    let mut links = Links::default();
    let mut html = Html {
        text: body,
        open: None,
        veils: Vec::new(),
    };
    for (event, range) in parser.into_offset_iter() {
        match &event {
            Event::Start(Tag::Strikethrough)
                if body
                    .get(range.clone())
                    .is_some_and(|words| words.starts_with("~~")) =>
            {
                veils.push(Veiled::new(range.clone(), Veil::Struck));
            }
            Event::Start(Tag::HtmlBlock) => html.piece(range.clone(), false),
            Event::InlineHtml(_) => html.piece(range.clone(), true),
            Event::End(TagEnd::Paragraph | TagEnd::Heading(_) | TagEnd::TableCell) => {
                html.end_block(range.end);
            }
            _ => {}
        }
        match event {
            Event::Start(Tag::Link { .. } | Tag::Image { .. }) => links.open(&range),
            Event::End(TagEnd::Link | TagEnd::Image) => {
                veils.extend(links.close(body, &range));
            }
            Event::End(_) | Event::Start(_) => {}
            _ => links.reach(range.end),
        }
        if let Event::End(_) = event {
            links.reach(range.end);
        }
    }
    html.end_block(body.len());
    veils.extend(html.close(body.len()));
    veils.extend(html.veils);
    for veiled in &mut veils {
        veiled.range.start += base;
        veiled.range.end += base;
    }
    veils
}

/// Links and images that are open, each with where its words end as far as they are known.
#[derive(Default)]
struct Links(Vec<usize>);

impl Links {
    fn open(&mut self, range: &Range<usize>) {
        self.0.push(range.start);
    }

    fn reach(&mut self, end: usize) {
        if let Some(last) = self.0.last_mut() {
            *last = end.max(*last);
        }
    }

    /// What follows the words of a link: its target and title, or the label of its definition.
    fn close(&mut self, text: &str, range: &Range<usize>) -> Option<Veiled> {
        let from = self.0.pop()?;
        let tail = from..range.end;
        let rest = text.get(tail.clone())?;
        (rest.starts_with("](") || rest.starts_with("][")).then(|| Veiled::new(tail, Veil::Target))
    }
}

/// An element whose content is not said.
struct Open {
    name: String,
    /// Open elements of that name.
    count: usize,
    start: usize,
    veil: Veil,
    /// Whether it began within a paragraph, whose end is its end too.
    inline: bool,
}

impl Open {
    fn is_raw(&self) -> bool {
        matches!(self.name.as_str(), "script" | "style")
    }
}

/// The HTML of a Markdown text, piece by piece.
struct Html<'t> {
    text: &'t str,
    open: Option<Open>,
    veils: Vec<Veiled>,
}

impl Html<'_> {
    /// Looks at the tags and comments of a piece of HTML.
    fn piece(&mut self, range: Range<usize>, inline: bool) {
        let end = range.end;
        let mut at = range.start;
        while let Some(rest) = self.text.get(at..end)
            && let Some(next) = memchr::memchr(b'<', rest.as_bytes())
        {
            let start = at + next;
            let rest = rest.get(next..).unwrap_or_default();
            // In a script nothing is a tag but its end.
            if self.open.as_ref().is_some_and(|open| open.is_raw()) && !rest.starts_with("</") {
                at = start + 1;
                continue;
            }
            if rest.starts_with("<!--") {
                at = memchr::memmem::find(rest.as_bytes(), b"-->")
                    .map_or(end, |length| start + length + 3);
                self.veils.push(Veiled::new(start..at, Veil::Hidden));
                continue;
            }
            let Some(found) = HtmlTag::read(rest) else {
                at = start + 1;
                continue;
            };
            at = start + found.length;
            self.tag(&found, start, at, inline);
        }
    }

    fn tag(&mut self, tag: &HtmlTag, start: usize, end: usize, inline: bool) {
        match &mut self.open {
            Some(open) if open.name == tag.name => {
                if tag.closes {
                    open.count -= 1;
                } else {
                    open.count += 1;
                }
                if open.count == 0 {
                    let closed = self.close(end);
                    self.veils.extend(closed);
                }
            }
            Some(_) => {}
            None if tag.closes => {}
            None => {
                self.open = strikes_or_hides(tag.name.as_bytes(), tag.hidden).map(|veil| Open {
                    name: tag.name.clone(),
                    count: 1,
                    start,
                    veil,
                    inline,
                });
            }
        }
    }

    /// A paragraph ends, and with it the elements that began in it.
    fn end_block(&mut self, end: usize) {
        if self.open.as_ref().is_some_and(|open| open.inline) {
            let closed = self.close(end);
            self.veils.extend(closed);
        }
    }

    fn close(&mut self, end: usize) -> Option<Veiled> {
        let open = self.open.take()?;
        Some(Veiled::new(open.start..end, open.veil))
    }
}

/// A start or end tag.
struct HtmlTag {
    name: String,
    closes: bool,
    hidden: bool,
    length: usize,
}

impl HtmlTag {
    /// Reads the tag at the start of `text`.
    fn read(text: &str) -> Option<Self> {
        let closes = text.starts_with("</");
        let from = if closes { 2 } else { 1 };
        let rest = text.get(from..)?;
        let length = rest
            .find(|c: char| c.is_ascii_whitespace() || matches!(c, '/' | '>'))
            .filter(|_| rest.starts_with(|c: char| c.is_ascii_alphabetic()))?;
        let name = rest.get(..length)?.to_ascii_lowercase();
        let mut hidden = false;
        let mut at = from + length;
        loop {
            let rest = text.get(at..)?;
            let trimmed = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '/');
            at += rest.len() - trimmed.len();
            if trimmed.starts_with('>') {
                let length = at + 1;
                return Some(HtmlTag {
                    name,
                    closes,
                    hidden,
                    length,
                });
            }
            let (attribute, value, length) = attribute(trimmed)?;
            hidden |= hides(attribute.to_ascii_lowercase().as_bytes(), value.as_bytes());
            at += length;
        }
    }
}

/// The name and value of the attribute at the start of `text`, and how many bytes they take.
fn attribute(text: &str) -> Option<(&str, &str, usize)> {
    let length = text
        .find(|c: char| c.is_ascii_whitespace() || matches!(c, '/' | '>' | '='))
        .filter(|&length| length > 0)?;
    let name = text.get(..length)?;
    let rest = text.get(length..)?.trim_start();
    let Some(rest) = rest.strip_prefix('=') else {
        return Some((name, "", length));
    };
    let rest = rest.trim_start();
    let (value, rest) = match rest.chars().next()? {
        quote @ ('"' | '\'') => rest.get(1..)?.split_once(quote)?,
        _ => rest.split_at(rest.find(|c: char| c.is_ascii_whitespace() || c == '>')?),
    };
    Some((name, value, text.len() - rest.len()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;
    use crate::text::veil::settle;
    use proptest::prelude::*;

    /// The text with what is not said put in braces, after a letter that says why.
    fn shown(text: &str) -> String {
        let mut shown = String::new();
        let mut at = 0;
        for veiled in settle(veils(text)) {
            let letter = match veiled.veil {
                Veil::Hidden => 'h',
                Veil::Struck => 's',
                Veil::Target => 't',
            };
            shown.push_str(&text[at..veiled.range.start]);
            shown.push_str(&format!("{letter}{{{}}}", &text[veiled.range.clone()]));
            at = veiled.range.end;
        }
        shown + &text[at..]
    }

    #[test]
    fn kinds_of_what_is_not_said() {
        for (text, expected) in [
            ("a <!-- b --> c", "a h{<!-- b -->} c"),
            ("a\n\n<!-- b\n\nc -->\n\nd", "a\n\nh{<!-- b\n\nc -->}\n\nd"),
            ("> a <!-- b --> c", "> a h{<!-- b -->} c"),
            (
                "`<!-- b -->` and\n\n    <!-- c -->",
                "`<!-- b -->` and\n\n    <!-- c -->",
            ),
            ("a\n\n<!-- b", "a\n\nh{<!-- b}"),
            ("a ~~b c~~ d", "a s{~~b c~~} d"),
            ("a ~b c~ d, ~5 and ~6", "a ~b c~ d, ~5 and ~6"),
            ("`~~a~~` \\~~b~~", "`~~a~~` \\~~b~~"),
            (
                "a <del>b</del> <ins>c</ins>",
                "a s{<del>b</del>} <ins>c</ins>",
            ),
            ("a <s>b <s>c</s> d</s> e", "a s{<s>b <s>c</s> d</s>} e"),
            ("a <strike>b", "a s{<strike>b}"),
            ("a <del>b\n\nc", "a s{<del>b\n}\nc"),
            ("<del>\n\na\n\n</del>\n\nb", "s{<del>\n\na\n\n</del>}\n\nb"),
            (
                "<div hidden>\n\na\n\n</div>\n\nb",
                "h{<div hidden>\n\na\n\n</div>}\n\nb",
            ),
            (
                "<p style='color: red; Display : NONE'>a</p>\n\nb",
                "h{<p style='color: red; Display : NONE'>a</p>}\n\nb",
            ),
            (
                "a <span style=\"visibility:hidden !important\">b</span> c",
                "a h{<span style=\"visibility:hidden !important\">b</span>} c",
            ),
            (
                "a <span class=hidden data-hidden>b</span>",
                "a <span class=hidden data-hidden>b</span>",
            ),
            (
                "a <span aria-hidden=\"true\">b</span>",
                "a <span aria-hidden=\"true\">b</span>",
            ),
            (
                "a <input hidden> b <br hidden/> c",
                "a <input hidden> b <br hidden/> c",
            ),
            (
                "<script>\na <b\n</script>\n\nb",
                "h{<script>\na <b\n</script>}\n\nb",
            ),
            (
                "a <template>b</template> c",
                "a h{<template>b</template>} c",
            ),
            ("[a](b \"c d\") e", "[at{](b \"c d\")} e"),
            ("[`a`](<b> 'c') e", "[`a`t{](<b> 'c')} e"),
            (
                "![a](b \"c\") [![d](e)](f)",
                "![at{](b \"c\")} [![dt{](e)}t{](f)}",
            ),
            (
                "[a][B] c [d]\n\n[b]: x \"y z\"\n[d]: <z>\n",
                "[at{][B]} c [d]\n\nh{[b]: x \"y z\"}\nh{[d]: <z>}\n",
            ),
            (
                "---\ntitle: <!-- a -->\n---\nb <!-- c -->",
                "---\ntitle: <!-- a -->\n---\nb h{<!-- c -->}",
            ),
            ("1 < 2 and [3] and 4 > 2", "1 < 2 and [3] and 4 > 2"),
        ] {
            assert_eq!(shown(text), expected, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn every_stretch_is_a_slice(text in r"([\[\]()<>!~`a-zé \n'=:-]|<!--|-->|~~|<del>|</del>|<p hidden>|</p>|\]\(){0,60}") {
            for veiled in veils(&text) {
                prop_assert!(text.get(veiled.range).is_some());
            }
        }
    }
}
