//! Large texts that say what they say plainly: ASCII words, one paragraph, no markup, no citation markers.
//!
//! Of such a text it is known without folding it which letters and digits it has, one after the other,
//! and that it can be folded a part at a time. So a quote whose letters do not stand in it is ruled out
//! after two passes over its bytes, whatever comes near the quote how often. All other texts are folded
//! as a whole; what is not plain here may still be honest prose.

use std::ops::Range;

use memchr::memmem;

use super::skeleton;

/// Smaller texts are folded at once. Tests have much smaller ones and few large ones.
const LARGE: usize = if cfg!(test) { 64 } else { 1 << 17 };
/// Bytes of a part, or a little more.
const PART: usize = if cfg!(test) { 24 } else { 1 << 16 };

/// The letters and digits of a plain text.
#[derive(Clone, Debug)]
pub(super) struct Plain {
    skeleton: Vec<u8>,
}

impl Plain {
    /// Reads `text`; `None` if it is small or not plain.
    pub fn new(text: &str) -> Option<Self> {
        if text.len() < LARGE {
            return None;
        }
        let mut letters = Vec::with_capacity(text.len());
        let mut last = b' ';
        for &byte in text.as_bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0' => letters.push(skeleton::ascii(byte)),
                // Behind a word it may be a citation marker.
                b'1'..=b'9' if !last.is_ascii_lowercase() => letters.push(byte),
                // An empty line may set off a running header.
                b' ' | b'\n' if last != b'\n' => {}
                b'!' | b'"' | b'#' | b'$' | b'%' | b'\'' | b'(' | b')' | b'+' | b',' | b'-'
                | b'.' | b'/' | b':' | b';' | b'=' | b'?' | b'@' => {}
                _ => return None,
            }
            last = byte;
        }
        Some(Plain { skeleton: letters })
    }

    /// Whether these letters and digits stand in the text, one after the other.
    pub fn has(&self, letters: &[u8]) -> bool {
        !letters.is_empty() && memmem::find(&self.skeleton, letters).is_some()
    }
}

/// Cuts a plain text into parts that can be folded apart: between two words, with nothing beside the
/// white space that could make it more than white space.
pub(super) fn parts(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut from = 0;
    std::iter::from_fn(move || {
        if from >= text.len() {
            return None;
        }
        let start = from;
        let bytes = text.as_bytes();
        let mut near = (start + PART).min(bytes.len());
        let end = loop {
            let Some(gap) = bytes
                .get(near..)
                .and_then(|rest| memchr::memchr2(b' ', b'\n', rest))
                .map(|gap| near + gap)
            else {
                break bytes.len();
            };
            let beside = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_alphanumeric);
            if beside(gap.wrapping_sub(1)) && beside(gap + 1) {
                break gap;
            }
            near = gap + 1;
        };
        from = end;
        Some(start..end)
    })
}
