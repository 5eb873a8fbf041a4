//! Where in a passage the words of a quote stand, and which place most of them vote for.
//!
//! One pass over the tokens of the passage, of which only the words of the quote are kept, and of these
//! only the first few places; so it is linear in the passage and small whatever the passage repeats.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Range;

use super::fold::Folded;
use super::tokens::{Sort, Token, tokens};
use super::{Matcher, plain};

/// A word that stands in the passage more often than this does not vote.
const RARE: usize = 16;

/// Where the words of a quote stand in a passage, by their numbers among its tokens.
pub(super) struct Survey {
    /// The first few places of each word of the quote; one more than [`RARE`] for a common word.
    pub places: HashMap<u64, Vec<usize>, BuildHasherDefault<Hashed>>,
    /// The first token that counts.
    pub from: usize,
    /// The tokens looked at so far.
    count: usize,
    /// Some tokens, by number, and where they begin: elements of a passage folded as a whole, bytes of one
    /// folded in parts. To keep all tokens would cost more than to cut a few of them again.
    posts: Vec<(usize, usize)>,
}

/// How many tokens lie between two posts.
const BETWEEN_POSTS: usize = 1024;

impl Survey {
    /// Looks through the tokens of a passage that begin in the cited chunk.
    pub fn new(matcher: &Matcher<'_>, quote: &[Token]) -> Self {
        let wanted = quote.iter().filter(|token| token.sort != Sort::Sign);
        let mut survey = Survey {
            places: wanted.map(|token| (token.loose, Vec::new())).collect(),
            from: 0,
            count: 0,
            posts: Vec::new(),
        };
        let passage = matcher.passage();
        if matcher.plain().is_none() {
            survey.look(&matcher.source().folded, &passage.cited, true);
            return survey;
        }
        for part in plain::parts(passage.text) {
            if part.start >= passage.cited.end {
                survey.posts.push((usize::MAX, part.start));
                continue;
            }
            survey.posts.push((survey.count, part.start));
            survey.look(&Folded::part(passage.text, part), &passage.cited, false);
        }
        survey
    }

    fn look(&mut self, source: &Folded<'_>, within: &Range<usize>, posts: bool) {
        let (first, end) = (source.index_of(within.start), source.index_of(within.end));
        for token in tokens(source, 0) {
            if token.items.start >= end {
                break;
            }
            let at = self.count;
            self.count += 1;
            if posts && at.is_multiple_of(BETWEEN_POSTS) {
                self.posts.push((at, token.items.start));
            }
            if token.items.start < first {
                self.from = at + 1;
            } else if token.sort != Sort::Sign
                && let Some(list) = self.places.get_mut(&token.loose)
                && list.len() <= RARE
            {
                list.push(at);
            }
        }
    }

    /// The tokens with these numbers, and the text they are cut from; some of them may lie behind those
    /// that count.
    pub fn window<'m, 't>(
        &self,
        matcher: &'m Matcher<'t>,
        numbers: Range<usize>,
    ) -> (Cow<'m, Folded<'t>>, Vec<Token>) {
        let after = |number: usize| self.posts.partition_point(|&(count, _)| count <= number);
        let post = |at: usize| self.posts.get(at).copied();
        let cut = |source: &Folded<'_>, (number, element): (usize, usize)| -> Vec<Token> {
            tokens(source, element)
                .skip(numbers.start.saturating_sub(number))
                .take(numbers.len())
                .collect()
        };
        if matcher.plain().is_none() {
            let source = &matcher.source().folded;
            let from = post(after(numbers.start).saturating_sub(1)).unwrap_or((0, 0));
            return (Cow::Borrowed(source), cut(source, from));
        }
        // With a part before and one behind, so that what stands beside the place is known.
        let text = matcher.passage().text;
        let (number, start) = post(after(numbers.start).saturating_sub(2)).unwrap_or((0, 0));
        let end = post(after(numbers.end) + 1).map_or(text.len(), |(_, end)| end);
        let source = Folded::part(text, start..end);
        let window = cut(&source, (number, 0));
        (Cow::Owned(source), window)
    }
}

/// Hashes what is a hash already.
#[derive(Default)]
pub(super) struct Hashed(u64);

impl Hasher for Hashed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }

    fn write_u64(&mut self, hash: u64) {
        // The table looks at the highest bits, which say least about a short word.
        self.0 = hash ^ hash.rotate_left(32);
    }
}

/// The token of the passage on which the first token of the quote would lie.
pub(super) fn vote(
    quote: &[Token],
    places: &HashMap<u64, Vec<usize>, BuildHasherDefault<Hashed>>,
) -> Option<i64> {
    let mut votes: Vec<(i64, u32)> = Vec::new();
    for (at, token) in quote.iter().enumerate() {
        if let Some(list) = places.get(&token.loose)
            && (1..=RARE).contains(&list.len())
        {
            // A rarer word weighs more.
            let weight = (2 * RARE / list.len()) as u32;
            votes.extend(list.iter().map(|&place| (place as i64 - at as i64, weight)));
        }
    }
    votes.sort_unstable();
    let width = (quote.len() as i64 / 4).max(4);
    let (mut low, mut sum, mut best, mut center) = (0, 0u64, 0u64, None);
    for high in 0..votes.len() {
        let (place, weight) = *votes.get(high)?;
        sum += u64::from(weight);
        while let Some(&(early, weight)) = votes.get(low)
            && place - early > width
        {
            sum -= u64::from(weight);
            low += 1;
        }
        if sum > best {
            best = sum;
            center = votes.get(low + (high - low) / 2).map(|&(place, _)| place);
        }
    }
    center
}
