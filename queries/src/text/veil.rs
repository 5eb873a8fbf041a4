//! Stretches of a text that stand in it and are not said by it: hidden from readers, or struck out.
//!
//! Which they are is the format's to know; what a quote of them is worth is the matcher's.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// Why a stretch is not said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Veil {
    /// Readers do not see it: a comment, a hidden element, the definition of a link.
    Hidden,
    /// Its author struck it out.
    Struck,
    /// The target and title of a link, which a quote that copies the whole link has too.
    Target,
}

/// A stretch that is not said.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Veiled {
    /// Byte range of the text.
    pub range: Range<usize>,
    /// Why.
    pub veil: Veil,
}

impl Veiled {
    /// A stretch.
    pub fn new(range: Range<usize>, veil: Veil) -> Self {
        Veiled { range, veil }
    }
}

/// Puts stretches in order and apart: within another one a stretch adds nothing.
pub fn settle(mut veils: Vec<Veiled>) -> Box<[Veiled]> {
    veils.sort_by_key(|veiled| (veiled.range.start, std::cmp::Reverse(veiled.range.end)));
    let mut end = 0;
    veils.retain_mut(|veiled| {
        veiled.range.start = veiled.range.start.max(end);
        let keep = !veiled.range.is_empty();
        end = end.max(veiled.range.end);
        keep
    });
    veils.into_boxed_slice()
}

/// Those of `veils` (in order and apart) that share bytes with `range`.
pub fn within<'a>(veils: &'a [Veiled], range: &Range<usize>) -> &'a [Veiled] {
    let from = veils.partition_point(|veiled| veiled.range.end <= range.start);
    let to = veils.partition_point(|veiled| veiled.range.start < range.end);
    veils.get(from..to.max(from)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;

    #[test]
    fn stretches_are_put_in_order_and_found() {
        let veiled = |range, veil| Veiled::new(range, veil);
        let settled = settle(vec![
            veiled(20..30, Veil::Struck),
            veiled(5..9, Veil::Target),
            veiled(4..12, Veil::Hidden),
            veiled(10..15, Veil::Struck),
            veiled(16..16, Veil::Hidden),
        ]);
        let expected = [
            veiled(4..12, Veil::Hidden),
            veiled(12..15, Veil::Struck),
            veiled(20..30, Veil::Struck),
        ];
        assert_eq!(*settled, expected);
        assert_eq!(within(&settled, &(0..4)), []);
        assert_eq!(within(&settled, &(11..13)), &expected[..2]);
        assert_eq!(within(&settled, &(15..20)), []);
        assert_eq!(within(&settled, &(29..90)), &expected[2..]);
    }
}
