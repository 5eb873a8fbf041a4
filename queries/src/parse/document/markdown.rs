//! CommonMark (with tables and footnotes): the committed text is the file; blocks say where its
//! headings, paragraphs, code and front matter stand.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

pub(super) mod veils;

use super::{Block, BlockKind, Document, DocumentError, ExtractOptions, trim_end};

/// Reads a Markdown file.
pub(super) fn read(bytes: &[u8], options: &ExtractOptions) -> Result<Document, DocumentError> {
    super::verbatim(bytes, options, blocks)
}

/// Length of the YAML front matter with its fences, zero without.
fn front_matter(text: &str) -> usize {
    let Some(first) = text.find('\n') else {
        return 0;
    };
    if text.get(..first).map(str::trim_end) != Some("---") {
        return 0;
    }
    let mut start = first + 1;
    while let Some(rest) = text.get(start..).filter(|rest| !rest.is_empty()) {
        let length = memchr::memchr(b'\n', rest.as_bytes()).map_or(rest.len(), |at| at + 1);
        let line = rest.get(..length).unwrap_or_default().trim_end();
        start += length;
        if line == "---" || line == "..." {
            return start;
        }
    }
    0
}

/// Headings count only outside lists and quotations: inside them they structure an item, not the
/// document. Everything in a list item up to its first nested block belongs to the item's block, so
/// that its marker stays with its words.
struct Collector<'t> {
    text: &'t str,
    base: usize,
    blocks: Vec<Block>,
    /// Start of containers that have begun and have no block yet.
    pending: Option<usize>,
    /// Open lists, items, quotations and footnotes.
    containers: usize,
    /// Open list item whose text stands in no paragraph of its own.
    loose_text: Option<Range<usize>>,
}

impl Collector<'_> {
    fn emit(&mut self, range: Range<usize>, kind: BlockKind) {
        self.flush_loose_text();
        let start = self.pending.take().unwrap_or(range.start);
        self.push(start.min(range.start)..range.end, kind);
    }

    fn push(&mut self, range: Range<usize>, kind: BlockKind) {
        let floor = self.blocks.last().map_or(0, |block| block.range.end);
        let range = trim_end(
            self.text,
            (range.start + self.base).max(floor)..range.end + self.base,
        );
        if !range.is_empty() {
            self.blocks.push(Block { range, kind });
        }
    }

    fn flush_loose_text(&mut self) {
        if let Some(range) = self.loose_text.take() {
            let start = self.pending.take().unwrap_or(range.start);
            self.push(start.min(range.start)..range.end, BlockKind::Paragraph);
        }
    }
}

/// The blocks of a Markdown text.
pub(super) fn blocks(text: &str) -> Vec<Block> {
    let base = front_matter(text);
    let body = text.get(base..).unwrap_or_default();
    let mut collector = Collector {
        text,
        base: 0,
        blocks: Vec::new(),
        pending: None,
        containers: 0,
        loose_text: None,
    };
    if base > 0 {
        collector.push(0..base, BlockKind::Paragraph);
    }
    collector.base = base;
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES | Options::ENABLE_HEADING_ATTRIBUTES;
    // Inside a leaf nothing but a heading's words matters; `leaf` counts its open tags.
    let mut leaf = 0usize;
    let mut heading: Option<(u8, Range<usize>, String)> = None;
    for (event, range) in Parser::new_ext(body, options).into_offset_iter() {
        if leaf > 0 {
            match event {
                Event::Start(_) => leaf += 1,
                Event::End(_) => {
                    leaf -= 1;
                    if leaf == 0
                        && let Some((level, range, title)) = heading.take()
                    {
                        let title = title.trim().into();
                        collector.emit(range, BlockKind::Heading { level, title });
                    }
                }
                Event::Text(words) | Event::Code(words) => {
                    if let Some((_, _, title)) = &mut heading {
                        title.push_str(&words);
                    }
                }
                Event::SoftBreak | Event::HardBreak => {
                    if let Some((_, _, title)) = &mut heading {
                        title.push(' ');
                    }
                }
                _ => {}
            }
            continue;
        }
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                leaf = 1;
                if collector.containers == 0 {
                    heading = Some((level as u8, range, String::new()));
                } else {
                    collector.emit(range, BlockKind::Paragraph);
                }
            }
            Event::Start(Tag::Paragraph | Tag::Table(_) | Tag::HtmlBlock) => {
                leaf = 1;
                collector.emit(range, BlockKind::Paragraph);
            }
            Event::Start(Tag::CodeBlock(_)) => {
                leaf = 1;
                collector.emit(range, BlockKind::Code);
            }
            Event::Start(
                Tag::List(_) | Tag::Item | Tag::BlockQuote(_) | Tag::FootnoteDefinition(_),
            ) => {
                collector.flush_loose_text();
                collector.containers += 1;
                collector.pending.get_or_insert(range.start);
            }
            Event::End(
                TagEnd::List(_) | TagEnd::Item | TagEnd::BlockQuote(_) | TagEnd::FootnoteDefinition,
            ) => {
                collector.flush_loose_text();
                collector.containers = collector.containers.saturating_sub(1);
                collector.pending = None;
            }
            Event::Rule => collector.flush_loose_text(),
            // What is left are words straight inside a tight list item.
            Event::End(_) => {}
            _ => {
                let open = collector.loose_text.get_or_insert(range.clone());
                open.end = open.end.max(range.end);
            }
        }
    }
    collector.flush_loose_text();
    collector.blocks
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;
    use proptest::prelude::*;

    /// One line per block: kind, then the text with its line ends shown.
    fn shown(text: &str) -> Vec<String> {
        blocks(text)
            .into_iter()
            .map(|block| {
                let slice = text[block.range].replace('\n', "⏎");
                match block.kind {
                    BlockKind::Heading { level, title } => format!("h{level} {title} | {slice}"),
                    BlockKind::Paragraph => format!("p {slice}"),
                    BlockKind::Code => format!("code {slice}"),
                    BlockKind::Row { .. } => unreachable!(),
                }
            })
            .collect()
    }

    #[test]
    fn kinds_of_blocks() {
        let table: &[(&str, &[&str])] = &[
            ("# One\n\ntext\nmore\n", &["h1 One | # One", "p text⏎more"]),
            (
                "One *two*\n===\n\nThree\n---\n",
                &["h1 One two | One *two*⏎===", "h2 Three | Three⏎---"],
            ),
            (
                "###### Six ######\n####### not\n",
                &["h6 Six | ###### Six ######", "p ####### not"],
            ),
            (
                "## A `b` [c](d) {#id}\n",
                &["h2 A b c | ## A `b` [c](d) {#id}"],
            ),
            (
                "---\ntitle: x\n# no\n---\n\n# H\n",
                &["p ---⏎title: x⏎# no⏎---", "h1 H | # H"],
            ),
            ("---\nno end\n", &["p no end"]),
            ("a\n\n---\n\nb\n", &["p a", "p b"]),
            (
                "```sh\n# not a heading\n\n```\nafter\n",
                &["code ```sh⏎# not a heading⏎⏎```", "p after"],
            ),
            (
                "- one\n- two\n  more\n  - inner\n\nafter\n",
                &["p - one", "p - two⏎  more", "p - inner", "p after"],
            ),
            ("1. one\n\n2. two\n", &["p 1. one", "p 2. two"]),
            (
                "- item\n\n  ```\n  code\n  ```\n",
                &["p - item", "code ```⏎  code⏎  ```"],
            ),
            ("> # quoted\n> words\n", &["p > # quoted", "p words"]),
            (
                "| a | b |\n|---|---|\n| 1 | 2 |\n",
                &["p | a | b |⏎|---|---|⏎| 1 | 2 |"],
            ),
            ("<div>\nx\n</div>\n\ny\n", &["p <div>⏎x⏎</div>", "p y"]),
            ("- [x](y) *z*\n- `c`\n", &["p - [x](y) *z*", "p - `c`"]),
        ];
        for (text, expected) in table {
            assert_eq!(&shown(text), expected, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn blocks_are_ordered_and_inside(text in r"([#>\-*`|~ \n\t=+0-9.a-zé]|```|\[x\]|<div>|- ){0,80}") {
            let mut end = 0;
            for block in blocks(&text) {
                prop_assert!(block.range.start >= end);
                prop_assert!(!text[block.range.clone()].trim().is_empty());
                end = block.range.end;
            }
        }

        /// No word of the text is in no block: only fences, rules and link targets may be outside.
        #[test]
        fn every_word_is_in_a_block(words in proptest::collection::vec(
            (prop_oneof![Just(""), Just("- "), Just("# "), Just("> "), Just("  "), Just("1. ")], "[a-z]{1,6}",
             prop_oneof![Just("\n"), Just("\n\n")]), 1..30)) {
            let text: String = words.iter().map(|(a, b, c)| format!("{a}{b}{c}")).collect();
            let blocks = blocks(&text);
            for (at, _) in text.char_indices().filter(|(_, c)| c.is_ascii_lowercase()) {
                prop_assert!(blocks.iter().any(|block| block.range.contains(&at)), "{at} in {text:?}");
            }
        }
    }
}
