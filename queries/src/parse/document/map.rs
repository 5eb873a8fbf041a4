//! From offsets in the committed text back to offsets in the file on disk.
//!
//! A map is a short list of layers, one for each step that moved bytes: decoding, line ends, the
//! format itself (HTML, CSV), NFC. A step that moved nothing adds no layer, so the map of an
//! ordinary UTF-8 file is empty. It says nothing about PDF, whose bytes have no order of reading.

use std::ops::Range;

/// A stretch of text made of `count` units, each `text_unit` bytes long and made from `source_unit`
/// bytes. One byte to one byte is the common case; UTF-16 letters are one byte to two; an entity or
/// a composed letter is a single unit of its own size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    text: u32,
    source: u32,
    count: u32,
    text_unit: u32,
    source_unit: u32,
}

impl Run {
    fn text_end(&self) -> usize {
        self.text as usize + self.count as usize * self.text_unit as usize
    }

    fn source_end(&self) -> usize {
        self.source as usize + self.count as usize * self.source_unit as usize
    }

    /// Source offset of the start of the unit that holds text offset `at`.
    fn floor(&self, at: usize) -> usize {
        let into = at.saturating_sub(self.text as usize);
        let unit = (into / (self.text_unit as usize).max(1)).min(self.count as usize);
        self.source as usize + unit * self.source_unit as usize
    }

    /// Source offset of the end of the unit that text offset `at` cuts or closes.
    fn ceil(&self, at: usize) -> usize {
        let into = at.saturating_sub(self.text as usize);
        let unit = into
            .div_ceil((self.text_unit as usize).max(1))
            .min(self.count as usize);
        self.source as usize + unit * self.source_unit as usize
    }
}

/// One step's map: monotone runs. Text between two runs was inserted, source between two runs was
/// dropped.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(crate) struct Layer {
    runs: Vec<Run>,
}

impl Layer {
    /// An empty layer to push runs to.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Appends `count` units. Units of the same sizes that continue the last run extend it.
    pub(crate) fn push(
        &mut self,
        text: usize,
        source: usize,
        count: usize,
        text_unit: usize,
        source_unit: usize,
    ) {
        if count == 0 || text_unit == 0 {
            return;
        }
        let numbers = (
            u32::try_from(text),
            u32::try_from(source),
            u32::try_from(count),
            u32::try_from(text_unit),
            u32::try_from(source_unit),
        );
        let (Ok(text32), Ok(source32), Ok(count32), Ok(text_unit32), Ok(source_unit32)) = numbers
        else {
            // Past 4 GiB, which no limit lets through: the document is refused afterwards.
            return;
        };
        if let Some(last) = self.runs.last_mut()
            && last.text_unit == text_unit32
            && last.source_unit == source_unit32
            && last.text_end() == text
            && last.source_end() == source
            && let Some(sum) = last.count.checked_add(count32)
        {
            last.count = sum;
            return;
        }
        self.runs.push(Run {
            text: text32,
            source: source32,
            count: count32,
            text_unit: text_unit32,
            source_unit: source_unit32,
        });
    }

    /// Appends `length` bytes that were taken over as they are.
    pub(crate) fn push_same(&mut self, text: usize, source: usize, length: usize) {
        self.push(text, source, length, 1, 1);
    }

    /// Source range of a text range. Every byte of the text range comes from inside the result.
    fn to_source(&self, range: Range<usize>) -> Range<usize> {
        let start = self.start(range.start, range.end);
        if range.end <= range.start {
            return start..start;
        }
        let end = match self.run_at(range.end - 1) {
            Some(run) => run.ceil(range.end),
            None => start,
        };
        start..end.max(start)
    }

    /// Text range of a source range whose ends are ends of units, as the ends of blocks are.
    pub(crate) fn to_text(&self, range: Range<usize>) -> Range<usize> {
        let at = |source: usize| {
            let next = self
                .runs
                .partition_point(|run| (run.source as usize) <= source);
            let Some(run) = next.checked_sub(1).and_then(|index| self.runs.get(index)) else {
                return 0;
            };
            let into = source.saturating_sub(run.source as usize);
            let unit = (into / (run.source_unit as usize).max(1)).min(run.count as usize);
            run.text as usize + unit * run.text_unit as usize
        };
        at(range.start)..at(range.end)
    }

    fn start(&self, at: usize, end: usize) -> usize {
        let next = self.runs.partition_point(|run| (run.text as usize) <= at);
        let current = next.checked_sub(1).and_then(|index| self.runs.get(index));
        match (current, self.runs.get(next)) {
            (Some(run), _) if at < run.text_end() => run.floor(at),
            // Inserted text: what follows it, if the range reaches that far.
            (_, Some(after)) if (after.text as usize) < end => after.source as usize,
            (Some(run), _) => run.source_end(),
            (None, Some(after)) => after.source as usize,
            (None, None) => 0,
        }
    }

    /// Last run that starts at or before a text offset.
    fn run_at(&self, at: usize) -> Option<&Run> {
        let next = self.runs.partition_point(|run| (run.text as usize) <= at);
        next.checked_sub(1).and_then(|index| self.runs.get(index))
    }

    fn is_identity(&self) -> bool {
        match self.runs.as_slice() {
            [] => true,
            [run] => run.text == run.source && run.text_unit == 1 && run.source_unit == 1,
            _ => false,
        }
    }
}

/// Byte ranges of the committed text to byte ranges of the file as stored on disk.
///
/// Lookups cost O(log runs) for each step that changed something, and nothing for a plain UTF-8
/// file. Ranges that cut a unit (an entity, a composed letter) widen to the whole unit.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct FileMap {
    /// From the text towards the file.
    layers: Vec<Layer>,
}

impl FileMap {
    /// The map of a file whose bytes are the committed text.
    pub fn identity() -> Self {
        Self::default()
    }

    /// Whether text offsets are file offsets.
    pub fn is_identity(&self) -> bool {
        self.layers.is_empty()
    }

    /// Adds a step that happened after (nearer to the text than) all steps so far.
    pub(crate) fn push(&mut self, layer: Layer) {
        if !layer.is_identity() {
            self.layers.insert(0, layer);
        }
    }

    /// File bytes that a range of the committed text was made from. The result lies inside the
    /// file when the range lies inside the text; a range of inserted text alone is empty.
    pub fn to_file(&self, range: Range<usize>) -> Range<usize> {
        self.layers
            .iter()
            .fold(range, |range, layer| layer.to_source(range))
    }

    /// Number of stored runs, for memory accounting and tests of compactness.
    pub fn run_count(&self) -> usize {
        self.layers.iter().map(|layer| layer.runs.len()).sum()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn identity_needs_no_runs() {
        let mut map = FileMap::identity();
        let mut layer = Layer::new();
        layer.push_same(0, 0, 10);
        layer.push_same(10, 10, 5);
        map.push(layer);
        assert!(map.is_identity());
        assert_eq!(map.to_file(3..7), 3..7);
    }

    #[test]
    fn insertions_and_drops() {
        // Text "ab\n\ncd" from source "<p>ab<p>cd".
        let mut layer = Layer::new();
        layer.push_same(0, 3, 2);
        layer.push_same(4, 8, 2);
        assert_eq!(layer.to_source(0..6), 3..10);
        assert_eq!(layer.to_source(0..3), 3..5);
        assert_eq!(layer.to_source(2..5), 8..9);
        assert_eq!(layer.to_source(2..3), 5..5);
        assert_eq!(layer.to_source(4..4), 8..8);
        assert_eq!(layer.to_source(6..6), 10..10);
    }

    #[test]
    fn a_cut_unit_widens() {
        // Text "é" (two bytes) from "&eacute;".
        let mut layer = Layer::new();
        layer.push_same(0, 0, 1);
        layer.push(1, 1, 1, 2, 8);
        layer.push_same(3, 9, 1);
        assert_eq!(layer.to_source(1..3), 1..9);
        assert_eq!(layer.to_source(0..4), 0..10);
        assert_eq!(layer.to_source(2..3), 1..9);
    }

    proptest! {
        /// Random segments: kept, replaced, inserted, dropped. Each segment's text maps to its source.
        #[test]
        fn segments_map_to_their_source(
            segments in proptest::collection::vec((0u8..4, 1usize..9, 1usize..9), 1..40)
        ) {
            let mut layer = Layer::new();
            let (mut text, mut source) = (0, 0);
            let mut expected = Vec::new();
            for (kind, a, b) in segments {
                match kind {
                    0 => {
                        layer.push_same(text, source, a);
                        expected.push((text..text + a, source..source + a));
                        text += a;
                        source += a;
                    }
                    1 => {
                        layer.push(text, source, 1, a, b);
                        expected.push((text..text + a, source..source + b));
                        text += a;
                        source += b;
                    }
                    2 => text += a,
                    _ => source += a,
                }
            }
            for (range, from) in &expected {
                prop_assert_eq!(layer.to_source(range.clone()), from.clone());
            }
            let mut last = 0;
            for at in 0..=text {
                let mapped = layer.to_source(at..text).start;
                prop_assert!(mapped >= last && mapped <= source);
                last = mapped;
            }
        }
    }
}
