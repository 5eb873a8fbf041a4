//! What a chunker sees of a document.

use std::ops::Range;

use super::{ChunkError, PageSpan};
use crate::parse::document::Block;

/// The parts of a document that decide its chunks.
#[derive(Clone, Copy, Debug)]
pub struct DocumentView<'a> {
    /// Committed text.
    pub text: &'a str,
    /// Byte ranges of the pages in `text`, in order; one range for a document without pages.
    pub pages: &'a [Range<usize>],
    /// Blocks of the text, in order.
    pub blocks: &'a [Block],
    /// Whether `pages` are real pages.
    pub paged: bool,
}

impl<'a> DocumentView<'a> {
    /// Checks that all ranges lie in the text, in order, on character boundaries.
    pub(super) fn validate(&self) -> Result<(), ChunkError> {
        if u32::try_from(self.text.len()).is_err() {
            return Err(ChunkError::TooLarge);
        }
        if !self.fits(self.pages.iter()) {
            return Err(ChunkError::Inconsistent("page ranges"));
        }
        if !self.fits(self.blocks.iter().map(|block| &block.range)) {
            return Err(ChunkError::Inconsistent("block ranges"));
        }
        Ok(())
    }

    /// Whether ranges follow one another and cut no character.
    fn fits<'r>(&self, ranges: impl Iterator<Item = &'r Range<usize>>) -> bool {
        let mut last = 0;
        for range in ranges {
            if range.start < last || self.text.get(range.clone()).is_none() {
                return false;
            }
            last = range.end;
        }
        true
    }

    /// Number of pages; a text without pages is one.
    pub(super) fn page_count(&self) -> usize {
        self.pages.len().max(1)
    }

    /// The part of the text that counts as the page at `index`, from 0. The parts tile the text:
    /// what stands between two pages belongs to the first of them, what stands before all pages
    /// to the first page.
    pub(super) fn page(&self, index: usize) -> Range<usize> {
        let start = match index {
            0 => 0,
            _ => self
                .pages
                .get(index)
                .map_or(self.text.len(), |page| page.start),
        };
        let end = self
            .pages
            .get(index + 1)
            .map_or(self.text.len(), |next| next.start);
        start..end
    }

    /// Text of the page at `index` without what stands between pages.
    pub(super) fn page_text(&self, index: usize) -> (usize, &'a str) {
        let range = self.pages.get(index).cloned().unwrap_or(0..self.text.len());
        (range.start, self.text.get(range).unwrap_or(""))
    }

    /// Index of the page that an offset belongs to.
    pub(super) fn page_at(&self, offset: usize) -> usize {
        self.pages
            .partition_point(|page| page.start <= offset)
            .saturating_sub(1)
    }

    /// Where each page begins in a slice of the text. Pages without any character in the slice
    /// that is not white space are left out.
    pub(super) fn page_spans(&self, range: &Range<usize>) -> Box<[PageSpan]> {
        let first = self.page_at(range.start);
        let last = self.page_at(range.end.saturating_sub(1).max(range.start));
        let mut spans = Vec::with_capacity(1);
        let mut counted = range.start;
        let mut offset = 0usize;
        for index in first..=last {
            let page = self.page(index);
            let from = page.start.max(range.start);
            let to = page.end.min(range.end);
            let inside = self.text.get(from..to).unwrap_or("");
            let lead = inside.len() - inside.trim_start().len();
            if index > first && lead == inside.len() {
                continue;
            }
            let begin = if index == first { from } else { from + lead };
            offset += self
                .text
                .get(counted..begin)
                .map_or(0, |text| text.chars().count());
            counted = begin;
            spans.push(PageSpan {
                page: u32::try_from(index + 1).unwrap_or(u32::MAX),
                // The text was checked to be shorter than 4 GiB.
                offset: u32::try_from(offset).unwrap_or(u32::MAX),
            });
        }
        spans.into()
    }
}
