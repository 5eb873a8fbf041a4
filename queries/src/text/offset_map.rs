//! From offsets in a derived text back to the bytes it came from.

use std::ops::Range;

/// A monotone map from byte offsets of a derived text to byte offsets of its source.
///
/// It is a list of runs, so a text that was mostly copied costs a few entries. A *copied* run maps
/// byte to byte; a *replaced* run maps as a whole (the two bytes `fi` to the three of `ﬁ`). Source
/// bytes that left nothing behind lie between runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct OffsetMap {
    runs: Vec<Run>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Run {
    /// Where the run begins in the derived text.
    derived: usize,
    /// Its length there.
    derived_len: usize,
    /// Where it begins in the source.
    source: usize,
    /// Its length there; for a copied run equal to `derived_len`.
    source_len: usize,
    copied: bool,
}

impl OffsetMap {
    /// The map of a text of `len` bytes onto itself.
    pub fn identity(len: usize) -> Self {
        let mut map = OffsetMap::default();
        map.push_copied(0, len);
        map
    }

    /// The length of the derived text so far.
    pub fn derived_len(&self) -> usize {
        self.runs
            .last()
            .map_or(0, |run| run.derived + run.derived_len)
    }

    /// Appends `len` bytes that were copied from `source`.
    pub fn push_copied(&mut self, source: usize, len: usize) {
        if len == 0 {
            return;
        }
        let derived = self.derived_len();
        if let Some(last) = self.runs.last_mut()
            && last.copied
            && last.source + last.source_len == source
        {
            last.derived_len += len;
            last.source_len += len;
            return;
        }
        self.runs.push(Run {
            derived,
            derived_len: len,
            source,
            source_len: len,
            copied: true,
        });
    }

    /// Appends `derived_len` bytes that stand as a whole for the source bytes `source`.
    pub fn push_replaced(&mut self, source: Range<usize>, derived_len: usize) {
        if derived_len == 0 {
            return;
        }
        let derived = self.derived_len();
        self.runs.push(Run {
            derived,
            derived_len,
            source: source.start,
            source_len: source.len(),
            copied: false,
        });
    }

    /// The source bytes behind the derived bytes `range`.
    ///
    /// A range that cuts a replaced run takes the whole of its source. Offsets beyond the end are
    /// taken as the end; an empty range maps to an empty one.
    pub fn to_source(&self, range: Range<usize>) -> Range<usize> {
        let end = range.end.min(self.derived_len());
        let start = range.start.min(end);
        let begin = self.source_start(start);
        if start == end {
            return begin..begin;
        }
        let last = self.run_at(end - 1);
        let finish = match last {
            Some(run) if run.copied => run.source + (end - run.derived),
            Some(run) => run.source + run.source_len,
            None => begin,
        };
        begin..finish.max(begin)
    }

    fn source_start(&self, offset: usize) -> usize {
        match self.run_at(offset) {
            Some(run) if run.copied => run.source + (offset - run.derived).min(run.source_len),
            Some(run) if offset >= run.derived + run.derived_len => run.source + run.source_len,
            Some(run) => run.source,
            None => 0,
        }
    }

    /// The last run that begins at or before `offset`.
    fn run_at(&self, offset: usize) -> Option<&Run> {
        let after = self.runs.partition_point(|run| run.derived <= offset);
        after.checked_sub(1).and_then(|index| self.runs.get(index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copied_bytes_map_one_to_one_and_replaced_runs_as_a_whole() {
        let mut map = OffsetMap::default();
        map.push_copied(2, 3); // derived 0..3
        map.push_replaced(5..8, 2); // derived 3..5
        map.push_copied(10, 4); // derived 5..9, source 8..10 left nothing behind
        assert_eq!(map.to_source(0..3), 2..5);
        assert_eq!(map.to_source(1..2), 3..4);
        assert_eq!(
            map.to_source(3..4),
            5..8,
            "half a ligature is the whole ligature"
        );
        assert_eq!(map.to_source(2..6), 4..11);
        assert_eq!(map.to_source(5..9), 10..14);
        assert_eq!(map.to_source(4..4), 5..5);
        assert_eq!(map.to_source(9..9), 14..14);
        assert_eq!(map.to_source(8..400), 13..14, "beyond the end is the end");
        assert_eq!(OffsetMap::default().to_source(3..9), 0..0);
    }

    #[test]
    fn neighbouring_copies_share_a_run() {
        let mut map = OffsetMap::default();
        for offset in 0..100 {
            map.push_copied(offset, 1);
        }
        assert_eq!(map, OffsetMap::identity(100));
    }
}
