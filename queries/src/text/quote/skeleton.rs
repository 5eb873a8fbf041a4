//! The letters and digits of a folded text, in lower case: where in it a quote may stand.
//!
//! Everything that two texts may write differently is left out, so a quote that stands in a source
//! has its letters in the source's letters, one after the other. Whether it really stands there is for
//! [`super::walk`] to say: `f` and `s` look alike here, and so do `10^2` and `102`.

use memchr::memmem;

use super::fold::{Folded, Item, Kind};

/// The letters and digits of a folded text.
#[derive(Clone, Debug, Default)]
pub(super) struct Skeleton {
    /// UTF-8, in lower case.
    pub text: Vec<u8>,
    /// Some bytes of `text` with the elements that they come from, in order.
    posts: Vec<(u32, u32)>,
    /// The bytes of `text` before which an optional group begins, in order.
    breaks: Vec<u32>,
    /// Whether the groups were left out.
    skips_groups: bool,
}

/// How many letters and digits of a quote the search looks for where a source has optional groups.
const HEAD: usize = 16;

/// How many bytes lie between two posts at least.
const BETWEEN_POSTS: usize = 64;

/// A number of bytes or elements; texts beyond 4 GiB are not folded.
fn small(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

impl Skeleton {
    /// The skeleton of `folded`, without its optional groups when `skips_groups`.
    pub fn new(folded: &Folded<'_>, skips_groups: bool) -> Self {
        let mut skeleton = Skeleton {
            text: Vec::with_capacity(folded.items.len()),
            skips_groups,
            ..Skeleton::default()
        };
        let mut from = 0;
        for group in &folded.groups {
            skeleton.extend(folded, from, group.items.start);
            skeleton.breaks.push(small(skeleton.text.len()));
            from = if skips_groups {
                group.items.end.max(from)
            } else {
                group.items.start.max(from)
            };
        }
        skeleton.extend(folded, from, folded.items.len());
        skeleton
    }

    fn extend(&mut self, folded: &Folded<'_>, from: usize, to: usize) {
        let items = folded.items.get(from..to).unwrap_or(&[]);
        let mut next_post = self
            .posts
            .last()
            .map_or(0, |&(at, _)| at as usize + BETWEEN_POSTS);
        // After a group the elements do not go on one by one.
        if self.skips_groups {
            next_post = self.text.len();
        }
        for (index, item) in items.iter().enumerate() {
            let before = self.text.len();
            if push(&mut self.text, item) && before >= next_post {
                self.posts.push((small(before), small(from + index)));
                next_post = before + BETWEEN_POSTS;
            }
        }
    }

    /// The element that byte `at` comes from.
    fn item_of(&self, folded: &Folded<'_>, at: usize) -> Option<usize> {
        let after = self.posts.partition_point(|&(post, _)| post as usize <= at);
        let &(post, item) = self.posts.get(after.checked_sub(1)?)?;
        let (mut reached, mut letter) = (post as usize, Vec::new());
        let items = folded.items.get(item as usize..)?;
        for (index, item_here) in items.iter().enumerate() {
            letter.clear();
            push(&mut letter, item_here);
            reached += letter.len();
            if reached > at {
                return Some(item as usize + index);
            }
        }
        None
    }

    /// The elements at which `needle` begins; no more than `budget` allows to compare with.
    pub fn find(&self, folded: &Folded<'_>, needle: &[u8], budget: usize) -> Vec<usize> {
        let finder = memmem::Finder::new(needle);
        let (mut found, mut from) = (Vec::new(), 0);
        let most = budget / needle.len().max(1) + 1;
        while found.len() < most
            && let Some(rest) = self.text.get(from..)
            && let Some(at) = finder.find(rest)
        {
            found.extend(self.item_of(folded, from + at));
            from += at + 1;
        }
        found
    }

    /// The elements at which the first letters of `needle` begin, and the others follow at least up to the
    /// second optional group from there. With both skeletons looked through this misses none: a quote that
    /// has one such group and leaves out the next agrees with one of them up to the second.
    pub fn find_around_groups(
        &self,
        folded: &Folded<'_>,
        needle: &[u8],
        budget: usize,
    ) -> Vec<usize> {
        let finder = memmem::Finder::new(head(needle));
        let (mut found, mut from, mut next_break) = (Vec::new(), 0, 0);
        let mut left = budget;
        while left > 0
            && let Some(rest) = self.text.get(from..)
            && let Some(offset) = finder.find(rest)
        {
            let at = from + offset;
            from = at + 1;
            while self
                .breaks
                .get(next_break)
                .is_some_and(|&place| (place as usize) < at)
            {
                next_break += 1;
            }
            let letters_to = |number: usize| {
                let place = self.breaks.get(number).map(|&place| place as usize);
                place.map_or(needle.len(), |place| needle.len().min(place - at))
            };
            // With two groups among the first letters those may have been found by chance.
            let reach = match letters_to(next_break + 1) {
                second if second <= HEAD => letters_to(next_break),
                second => second,
            };
            let wanted = needle.get(..reach).unwrap_or(needle);
            left = left.saturating_sub(reach / 64 + 4);
            if self.text.get(at..at + reach) == Some(wanted) {
                found.extend(self.item_of(folded, at));
                left = left.saturating_sub(reach);
            }
        }
        found
    }
}

/// The first letters of `needle`, whole characters.
fn head(needle: &[u8]) -> &[u8] {
    let is_start = |&at: &usize| needle.get(at).is_none_or(|byte| byte & 0xc0 != 0x80);
    let len = (1..=HEAD.min(needle.len())).rev().find(is_start);
    needle.get(..len.unwrap_or(0)).unwrap_or(needle)
}

/// How an ASCII letter or digit is written here.
pub(super) fn ascii(byte: u8) -> u8 {
    match byte {
        // U+FB05 is both, and the comparison tells them apart.
        b'f' | b'F' => b's',
        _ => byte.to_ascii_lowercase(),
    }
}

/// The letters that stand in a source, one after the other, wherever `quote` stands. Empty for a quote
/// that cannot be looked for.
pub(super) fn needle(quote: &Folded<'_>) -> Vec<u8> {
    // What follows a bracketed group may or may not follow at once in the source.
    let sure = quote
        .groups
        .first()
        .map_or(quote.items.len(), |group| group.items.start);
    let mut letters = Vec::new();
    for item in quote.items.get(..sure).unwrap_or(&[]) {
        push(&mut letters, item);
    }
    letters
}

/// Writes the letter or digit of `item`, if it is one.
fn push(text: &mut Vec<u8>, item: &Item) -> bool {
    if let Some(byte) = item.ascii() {
        let is_letter = byte.is_ascii_alphanumeric();
        if is_letter {
            text.push(ascii(byte));
        }
        return is_letter;
    }
    let Some(c) = item.char().filter(|c| c.is_alphanumeric()) else {
        return false;
    };
    if item.kind() == Kind::LongS || matches!(c, 'f' | 'F') {
        text.push(b's');
        return true;
    }
    let mut buffer = [0; 4];
    for lower in c.to_lowercase() {
        text.extend_from_slice(lower.encode_utf8(&mut buffer).as_bytes());
    }
    true
}
