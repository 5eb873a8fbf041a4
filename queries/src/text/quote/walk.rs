//! Comparing two folded texts from a given place on, and finding the places worth comparing.
//!
//! The comparison never goes back: wherever a source can be read in two ways, the next element of the
//! quote decides which. Candidates come from a search for the letters and digits that begin the quote;
//! all comparisons of one quote together may look at a bounded number of elements, so a hostile pair
//! of texts costs linear time and is then simply not found.

use std::ops::Range;

use super::Passage;
use super::chars;
use super::fold::{Folded, Item, Kind};
use super::lexicon;
use super::skeleton::{self, Skeleton};
use super::verdict::{Folding, Foldings};

/// A place where a quote stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hit {
    /// Elements of the source.
    pub items: Range<usize>,
    /// Bytes of the source.
    pub span: Range<usize>,
    pub foldings: Foldings,
    /// Words that the quote inserts in brackets.
    pub inserted: Vec<String>,
}

/// A folded source with its skeletons, ready for many quotes.
#[derive(Clone, Debug)]
pub(super) struct Source<'a> {
    pub folded: Folded<'a>,
    skipping: Skeleton,
    /// The same without leaving anything out, where that differs.
    literal: Option<Skeleton>,
}

/// How many elements all comparisons of one quote may look at together.
///
/// The places at which an honest quote stands do not overlap, so that the length of both would do; small
/// sources get more, and none so much that a hostile one takes long.
fn budget(source: usize, quote: usize) -> usize {
    let both = source + quote;
    (64 * both + 4096).min(both + 4_000_000)
}

impl<'a> Source<'a> {
    pub fn new(passage: &Passage<'a>) -> Self {
        let mut folded = Folded::source(passage.text, passage.veiled);
        folded.set_groups(super::groups::find(&folded, passage.page_starts));
        let skipping = Skeleton::new(&folded, true);
        let literal = (!folded.groups.is_empty()).then(|| Skeleton::new(&folded, false));
        Source {
            folded,
            skipping,
            literal,
        }
    }

    /// All places where `quote` stands, in order, whatever their boundaries.
    pub fn find(&self, quote: &Folded<'_>) -> Vec<Hit> {
        let Some(first) = quote
            .items
            .iter()
            .position(|item| item.char().is_some_and(char::is_alphanumeric))
        else {
            return Vec::new();
        };
        let needle = skeleton::needle(quote);
        if needle.is_empty() {
            return Vec::new();
        }
        let mut budget = budget(self.folded.items.len(), quote.items.len());
        let mut hits: Vec<Hit> = Vec::new();
        for at in self.candidates(&needle, budget) {
            let mut walk = Walk::new(&self.folded, quote);
            let hit = walk.from(at, first);
            budget = budget.saturating_sub(walk.steps + 1);
            if let Some(hit) = hit
                && hits.last() != Some(&hit)
            {
                hits.push(hit);
            }
            if budget == 0 {
                break;
            }
        }
        hits
    }

    /// The elements of the source from which on the letters and digits of `needle` may stand: in order,
    /// and none is missing but those for which `budget` does not suffice.
    fn candidates(&self, needle: &[u8], budget: usize) -> Vec<usize> {
        let Some(literal) = &self.literal else {
            return self.skipping.find(&self.folded, needle, budget);
        };
        let mut found = self
            .skipping
            .find_around_groups(&self.folded, needle, budget);
        found.extend(literal.find_around_groups(&self.folded, needle, budget));
        found.sort_unstable();
        found.dedup();
        found
    }
}

struct Walk<'a> {
    source: &'a Folded<'a>,
    quote: &'a Folded<'a>,
    steps: usize,
    foldings: Foldings,
    inserted: Vec<String>,
    /// Elements of the source that were really matched.
    first: usize,
    last: usize,
}

impl<'a> Walk<'a> {
    fn new(source: &'a Folded<'a>, quote: &'a Folded<'a>) -> Self {
        Walk {
            source,
            quote,
            steps: 0,
            foldings: Foldings::NONE,
            inserted: quote.dropped.iter().cloned().collect(),
            first: 0,
            last: 0,
        }
    }

    /// Compares with element `first` of the quote laid on element `at` of the source.
    fn from(&mut self, at: usize, first: usize) -> Option<Hit> {
        self.first = self.lead(at, first)?;
        let end = self.forward(at, first)?;
        let start = self.source.items.get(self.first)?.start as usize;
        let finish = self.source.items.get(self.last)?.end as usize;
        Some(Hit {
            items: self.first..end,
            span: start..finish.max(start),
            foldings: self.foldings,
            inserted: std::mem::take(&mut self.inserted),
        })
    }

    /// Matches what stands in the quote before its first letter, backwards; the element it begins with.
    fn lead(&mut self, at: usize, first: usize) -> Option<usize> {
        let mut at = at;
        for index in (0..first).rev() {
            let wanted = self.quote.items.get(index)?;
            if wanted.may_vanish() && wanted.char().is_none() {
                self.foldings = self.foldings.and(wanted.folds);
                continue;
            }
            let mut before = at.checked_sub(1)?;
            let mut item = self.source.items.get(before)?;
            while item.may_vanish() && item.kind() != wanted.kind() {
                self.foldings = self.foldings.and(item.folds);
                before = before.checked_sub(1)?;
                item = self.source.items.get(before)?;
            }
            self.steps += 1;
            self.same(item, wanted)?;
            at = before;
        }
        Some(at)
    }

    /// Whether two elements say the same; notes what was folded.
    fn same(&mut self, item: &Item, wanted: &Item) -> Option<()> {
        let equal = match (item.kind(), wanted.kind()) {
            (Kind::Char, Kind::Char) => {
                item.ch() == wanted.ch()
                    || wanted.any_case() && item.ch().to_lowercase().eq(wanted.ch().to_lowercase())
            }
            (Kind::LongS, Kind::Char) => matches!(wanted.ch(), 's' | 'f'),
            (Kind::Char, Kind::LongS) => matches!(item.ch(), 's' | 'f'),
            // A bar of the quote needs one in the source.
            (Kind::Space | Kind::SoftSpace, Kind::Space | Kind::SoftSpace) => {
                item.bar() || !wanted.bar()
            }
            (left, right) => left == right,
        };
        equal.then(|| self.note(item, wanted))
    }

    fn note(&mut self, item: &Item, wanted: &Item) {
        if item.folds == Foldings::NONE && wanted.folds == Foldings::NONE {
            return;
        }
        if self.source.text.get(item.range()) != self.quote.text.get(wanted.range())
            || wanted.any_case()
        {
            self.foldings = self.foldings.and(item.folds).and(wanted.folds);
        }
    }

    fn forward(&mut self, at: usize, first: usize) -> Option<usize> {
        let (mut at, mut index) = (at, first);
        self.last = at;
        while let Some(wanted) = self.quote.items.get(index) {
            self.steps += 1;
            if at > self.first
                && let Some(group) = self.source.group_at(at)
                && !self.stands_literally(group.items.clone(), index)
            {
                at = group.items.end;
                self.foldings = self.foldings.with(group.folding.unwrap_or(Folding::Marker));
                continue;
            }
            if let Some(group) = self.quote.group_at(index)
                && !self.inserted_literally(at, group.items.clone())
            {
                index = group.items.end;
                self.inserted.push(group.words.clone());
                continue;
            }
            let item = self.source.items.get(at)?;
            if index > 0 {
                self.foldings = self.foldings.and(wanted.before);
            }
            if at > self.first {
                self.foldings = self.foldings.and(item.before);
            }
            let (taken, used) = self.step(at, item, index, wanted, index == first)?;
            if taken > 0 && used > 0 {
                self.last = at + taken - 1;
            }
            at += taken;
            index += used;
        }
        Some(self.last + 1)
    }

    /// How many elements of the source and of the quote are accounted for next.
    fn step(
        &mut self,
        at: usize,
        item: &Item,
        index: usize,
        wanted: &Item,
        first: bool,
    ) -> Option<(usize, usize)> {
        if item.kind() != wanted.kind() {
            match (item.kind(), wanted.kind()) {
                (Kind::SoftHyphen, _) => {
                    if let Some(used) = kept_hyphen(item, self.quote, index) {
                        self.foldings = self.foldings.and(item.folds);
                        return Some((1, used));
                    }
                }
                (_, Kind::SoftHyphen) => {
                    if let Some(taken) = kept_hyphen(wanted, self.source, at) {
                        self.foldings = self.foldings.and(wanted.folds);
                        return Some((taken, 1));
                    }
                }
                (Kind::Superscript, Kind::Char) if wanted.ch() == '^' => {
                    self.foldings = self.foldings.and(item.folds);
                    return Some((1, 1));
                }
                (Kind::Char, Kind::Superscript) if item.ch() == '^' => {
                    self.foldings = self.foldings.and(wanted.folds);
                    return Some((1, 1));
                }
                // A superscript is not a subscript.
                (Kind::Superscript, Kind::Subscript) | (Kind::Subscript, Kind::Superscript) => {
                    return None;
                }
                _ => {}
            }
            if self.same(item, wanted).is_some() {
                return Some((1, 1));
            }
            if item.may_vanish() {
                self.foldings = self.foldings.and(item.folds);
                return Some((1, 0));
            }
            if wanted.may_vanish() {
                self.foldings = self.foldings.and(wanted.folds);
                return Some((0, 1));
            }
            return None;
        }
        if self.same(item, wanted).is_some() {
            return Some((1, 1));
        }
        if first && self.differs_in_initial(item, index, wanted) {
            self.foldings = self.foldings.with(Folding::Initial);
            return Some((1, 1));
        }
        None
    }

    fn differs_in_initial(&self, item: &Item, index: usize, wanted: &Item) -> bool {
        if item.kind() != Kind::Char || !item.ch().to_lowercase().eq(wanted.ch().to_lowercase()) {
            return false;
        }
        let word: String = self
            .quote
            .items
            .get(index..)
            .unwrap_or(&[])
            .iter()
            .map_while(|item| item.char().filter(|&c| chars::is_wordish(c)))
            .take(64)
            .collect();
        lexicon::initial_may_differ(&word)
    }

    /// Whether the quote goes on with an optional group of the source, to the group's end or its own.
    fn stands_literally(&mut self, group: Range<usize>, index: usize) -> bool {
        let group = self.source.items.get(group).unwrap_or(&[]);
        let quote = self.quote.items.get(index..).unwrap_or(&[]);
        self.steps += group.len();
        literally(group, quote)
    }

    /// Whether the source goes on with a bracketed group of the quote.
    fn inserted_literally(&mut self, at: usize, group: Range<usize>) -> bool {
        let group = self.quote.items.get(group).unwrap_or(&[]);
        let source = self.source.items.get(at..).unwrap_or(&[]);
        self.steps += group.len();
        source.len() >= group.len() && literally(group, source)
    }
}

/// Whether `other` begins with `group`, or is a beginning of it.
fn literally(group: &[Item], other: &[Item]) -> bool {
    let solid = |items: &'_ [Item]| -> Vec<char> {
        items
            .iter()
            .filter(|item| !item.may_vanish())
            .take(group.len())
            .map(|item| item.ch())
            .collect()
    };
    let (group, other) = (solid(group), solid(other));
    !other.is_empty() && group.iter().zip(&other).all(|(left, right)| left == right)
}

/// Reads a hyphen that one side has at a line end as the other side writes it: `-`, and the white space
/// that the line break leaves. How many elements of `other` that takes.
fn kept_hyphen(hyphen: &Item, other: &Folded<'_>, at: usize) -> Option<usize> {
    let is_space = |index: usize| {
        other
            .items
            .get(index)
            .is_some_and(|item| item.kind() == Kind::Space)
    };
    let mut used = 0;
    if hyphen.space_before() && is_space(at) {
        used += 1;
    }
    if other.char(at + used) != Some('-') {
        return None;
    }
    used += 1;
    if hyphen.space_after() && is_space(at + used) {
        used += 1;
    }
    Some(used)
}
