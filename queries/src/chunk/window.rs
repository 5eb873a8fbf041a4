//! Overlapping pieces of bounded length, along the structure of running text.
//!
//! - A chunk never crosses a page.
//! - A heading begins a new chunk and ends the overlap, so an edit in one section moves no
//!   boundary in the next. The exception keeps crumbs together: while the stretch since the last
//!   such restart holds fewer than an eighth of the target, or nothing but headings, a heading of
//!   the same or a lower level goes on in it. Every section of an eighth of the target or more
//!   therefore shields all that follows it.
//! - A section that fits is one chunk. A longer one is cut between blocks, and only blocks that do
//!   not fit by themselves at sentences, lines, white space, words, in this order.
//! - The overlap is whole sentences of the chunk before where one fits, otherwise whole words.

use std::sync::Arc;

use super::atoms::{Kind, Outline, Part, parts_of_page};
use super::pack::{Packed, Size, pack};
use super::{Chunks, DocumentView, Slice, WindowParams, finish_slices};

pub(super) fn chunk(document: &DocumentView<'_>, params: &WindowParams) -> Chunks {
    let size = Size {
        target: params.tokens,
        overlap: params.overlap,
    };
    let source_type: Arc<str> = Arc::from("window");
    let mut outline = Outline::new();
    let mut next_block = 0;
    let mut slices = Vec::new();
    for index in 0..document.page_count() {
        let page = document.page(index);
        let parts = parts_of_page(document, &page, &mut next_block, &mut outline);
        let mut packed: Vec<Packed> = Vec::new();
        let mut from = 0;
        for to in restarts(&parts, params.tokens / 8) {
            let section = parts.get(from..to).unwrap_or(&[]);
            pack(document.text, from, section, size, &mut packed);
            from = to;
        }
        slices.extend(packed.into_iter().map(|chunk| {
            Slice {
                range: chunk.range,
                token_count: chunk.tokens,
                source_type: Arc::clone(&source_type),
                unit_id: None,
                heading_path: parts
                    .get(chunk.part)
                    .map_or_else(|| Arc::from([]), |part| Arc::clone(&part.path)),
            }
        }));
    }
    finish_slices(document, slices)
}

/// Ends of the sections into which a page's parts fall.
fn restarts(parts: &[Part], crumb: u32) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut tokens = 0u32;
    let mut has_body = false;
    let mut level_of_section: Option<u8> = None;
    for (index, part) in parts.iter().enumerate() {
        if let Kind::Heading { level } = part.kind {
            let rises = level_of_section.is_some_and(|first| level < first);
            if has_body && (tokens >= crumb || rises) {
                ends.push(index);
                tokens = 0;
                has_body = false;
                level_of_section = None;
            }
            level_of_section.get_or_insert(level);
        } else {
            has_body = true;
        }
        tokens = tokens.saturating_add(part.tokens);
    }
    ends.push(parts.len());
    ends
}
