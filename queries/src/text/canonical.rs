//! Cutting a text into pieces whose NFC forms are independent of each other.
//!
//! Composition never reaches across a character that has combining class 0 and is certain to stay as
//! it is under NFC (the "stream-safe" boundary of UAX #15), so a text can be composed piece by piece
//! while the place of each piece is known.

use unicode_normalization::char::canonical_combining_class;
use unicode_normalization::{IsNormalized, is_nfc_quick};

/// Whether NFC can never change `c` nor join it to what stands before it.
pub(crate) fn starts_piece(c: char) -> bool {
    // Below U+0300 there are neither combining marks nor characters that NFC changes.
    c < '\u{300}'
        || (canonical_combining_class(c) == 0
            && is_nfc_quick(std::iter::once(c)) == IsNormalized::Yes)
}

/// The length in bytes of the piece that begins `text`, and whether it may differ from its NFC form.
///
/// `text` is not empty; for an empty text the length is 0.
pub(crate) fn piece(text: &str) -> (usize, bool) {
    let mut chars = text.char_indices();
    let Some((_, first)) = chars.next() else {
        return (0, false);
    };
    let unsettled = !starts_piece(first);
    for (offset, c) in chars {
        // Two spaces, U+2000 and U+2001, change under NFC but never join what stands before them.
        if starts_piece(c) || c.is_whitespace() {
            return (offset, unsettled || offset > first.len_utf8());
        }
    }
    (text.len(), unsettled || text.len() > first.len_utf8())
}
