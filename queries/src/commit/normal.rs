//! The one door through which commitments and the `cacg` chunker reach the contract's normal form.

use std::borrow::Cow;

/// `text` in the contract's normal form (§2.1).
pub(crate) fn normalize(text: &str) -> Cow<'_, str> {
    provisional(text)
}

/// Stands in for `text::normalize::normalize` until that is there; then this function goes.
fn provisional(text: &str) -> Cow<'_, str> {
    use unicode_normalization::UnicodeNormalization as _;
    let composed: String = text.nfc().collect();
    let mut out = String::with_capacity(composed.len());
    let mut pending_space = false;
    let mut rest = composed.as_str();
    while let Some(first) = rest.chars().next() {
        let after = rest.get(first.len_utf8()..).unwrap_or("");
        if first == '-' {
            let beyond = after.trim_start_matches(is_space);
            let gap = after.get(..after.len() - beyond.len()).unwrap_or("");
            if gap.contains('\n') {
                rest = beyond;
                continue;
            }
        }
        rest = after;
        if is_space(first) {
            pending_space = true;
            continue;
        }
        if pending_space && !out.is_empty() {
            out.push(' ');
        }
        pending_space = false;
        match first {
            '\u{fb00}' => out.push_str("ff"),
            '\u{fb01}' => out.push_str("fi"),
            '\u{fb02}' => out.push_str("fl"),
            '\u{fb03}' => out.push_str("ffi"),
            '\u{fb04}' => out.push_str("ffl"),
            '\u{fb05}' => out.push_str("ft"),
            '\u{fb06}' => out.push_str("st"),
            other => out.push(other),
        }
    }
    Cow::Owned(out)
}

/// White space as the contract counts it: Unicode's plus the four information separators.
pub(crate) const fn is_space(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1f}')
}
