//! Atoms to chunks of bounded length.
//!
//! A cut is chosen by content, not by counting: among the boundaries that make the new part of a
//! chunk half full at least, the strongest wins, and among equals the one whose following text has
//! the smallest hash. Two runs over texts that differ in one place choose the same boundaries again
//! as soon as one of them falls into both their choices, so an edit moves few boundaries after it.

use std::ops::Range;

use super::atoms::{Atom, Bound, Kind, Part, Strength, refine, tail_start};

/// Tokens of a chunk.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    /// Most tokens, overlap included.
    pub(super) target: u32,
    /// Most tokens that are repeated from the chunk before.
    pub(super) overlap: u32,
}

/// A chunk put together from parts.
pub(super) struct Packed {
    /// In the text, overlap included.
    pub(super) range: Range<usize>,
    pub(super) tokens: u32,
    /// Index of the part that decides its heading path: the first of its new text that is no
    /// heading.
    pub(super) part: usize,
}

/// Packs neighbouring parts into chunks; `first` is the index of the first of them.
pub(super) fn pack(text: &str, first: usize, parts: &[Part], size: Size, chunks: &mut Vec<Packed>) {
    let (Some(start), Some(end)) = (parts.first(), parts.last()) else {
        return;
    };
    let whole = start.range.start..end.range.end;
    let tokens = parts
        .iter()
        .fold(0u32, |sum, part| sum.saturating_add(part.tokens));
    if Bound::of_tokens(size.target).holds(tokens, whole.len()) {
        chunks.push(Packed {
            range: whole,
            tokens,
            part: first + body_of(parts),
        });
        return;
    }

    let fresh = Bound::of_tokens(size.target.saturating_sub(size.overlap).max(1));
    let mut atoms: Vec<Atom> = Vec::with_capacity(parts.len());
    let mut before = Strength::Block;
    for (index, part) in parts.iter().enumerate() {
        let is_heading = matches!(part.kind, Kind::Heading { .. });
        if is_heading {
            before = Strength::Heading;
        }
        refine(text, index, part, before, fresh, &mut atoms);
        before = if is_heading {
            Strength::AfterHeading
        } else {
            Strength::Block
        };
    }

    let mut from = 0;
    let mut last_from = 0;
    while from < atoms.len() {
        let to = choose_cut(text, &atoms, from, fresh);
        let Some((fresh_atoms, [first_atom, ..], last_atom)) = atoms
            .get(from..to)
            .and_then(|taken| Some((taken, taken, taken.last()?)))
        else {
            return;
        };
        let mut tokens = fresh_atoms
            .iter()
            .fold(0u32, |sum, atom| sum.saturating_add(atom.tokens));
        let mut start = first_atom.range.start;
        // An atom that could not be split may leave less room.
        let room = size.target.saturating_sub(tokens);
        let overlap = Bound::of_tokens(size.overlap.min(room));
        if from > 0 && first_atom.before != Strength::Heading && overlap.tokens > 0 {
            let earlier = atoms.get(last_from..from).unwrap_or(&[]);
            if let Some((at, more)) = overlap_of(text, earlier, parts, overlap) {
                start = at;
                tokens = tokens.saturating_add(more);
            }
        }
        let part = fresh_atoms
            .iter()
            .map(|atom| atom.part)
            .find(|&part| !is_heading(parts, part))
            .unwrap_or(last_atom.part);
        chunks.push(Packed {
            range: start..last_atom.range.end,
            tokens,
            part: first + part,
        });
        last_from = from;
        from = to;
    }
}

fn is_heading(parts: &[Part], part: usize) -> bool {
    parts
        .get(part)
        .is_some_and(|part| matches!(part.kind, Kind::Heading { .. }))
}

/// Index of the first part that is no heading, or of the last one.
fn body_of(parts: &[Part]) -> usize {
    (0..parts.len())
        .find(|&part| !is_heading(parts, part))
        .unwrap_or(parts.len().saturating_sub(1))
}

/// Index of the atom before which the chunk that begins with `from` ends; more than `from`.
fn choose_cut(text: &str, atoms: &[Atom], from: usize, fresh: Bound) -> usize {
    let start = atoms.get(from).map_or(0, |atom| atom.range.start);
    let mut tokens = 0u32;
    let mut best: Option<(Strength, std::cmp::Reverse<u64>, usize)> = None;
    let mut last = from;
    for (index, atom) in atoms.iter().enumerate().skip(from) {
        let bytes = last_end(atoms, index).saturating_sub(start);
        let half_full = tokens >= fresh.tokens.div_ceil(2) || bytes >= fresh.bytes / 2;
        if index > from && half_full && atom.before != Strength::AfterHeading {
            let candidate = (
                atom.before,
                std::cmp::Reverse(content_hash(text, atom)),
                index,
            );
            best = best.max(Some(candidate));
        }
        tokens = tokens.saturating_add(atom.tokens);
        if index > from && !fresh.holds(tokens, atom.range.end.saturating_sub(start)) {
            // A heading is not left behind by its text.
            let before_heading = index.saturating_sub(1);
            let fallback = if atom.before == Strength::AfterHeading && before_heading > from {
                before_heading
            } else {
                index
            };
            return best.map_or(fallback, |(_, _, cut)| cut);
        }
        last = index + 1;
    }
    last
}

/// Where the atom before `index` ends.
fn last_end(atoms: &[Atom], index: usize) -> usize {
    index
        .checked_sub(1)
        .and_then(|before| atoms.get(before))
        .map_or(0, |atom| atom.range.end)
}

/// FNV-1a of the first bytes of an atom. It only has to spread, and to stay as it is: chunks
/// depend on it.
fn content_hash(text: &str, atom: &Atom) -> u64 {
    let end = atom.range.end.min(atom.range.start.saturating_add(48));
    text.as_bytes()
        .get(atom.range.start..end)
        .unwrap_or(&[])
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        })
}

/// Where the overlap begins that follows the atoms of the chunk before, and its tokens.
fn overlap_of(text: &str, earlier: &[Atom], parts: &[Part], bound: Bound) -> Option<(usize, u32)> {
    let end = earlier.last()?.range.end;
    let mut found: Option<(usize, u32)> = None;
    for (index, atom) in earlier.iter().enumerate().rev() {
        let tokens = found.map_or(0, |(_, tokens)| tokens);
        let all = tokens.saturating_add(atom.tokens);
        if bound.holds(all, end - atom.range.start) {
            // A chunk that repeats all of the one before would make that one useless.
            if index == 0 {
                break;
            }
            found = Some((atom.range.start, all));
            continue;
        }
        // Of the atom that does not fit, only whole sentences join what does; a part of a sentence
        // is taken only when nothing else is.
        let code = parts
            .get(atom.part)
            .is_some_and(|part| part.kind == Kind::Code);
        if found.is_none() {
            found = tail_start(text, &atom.range, code, bound);
        }
        break;
    }
    found
}
