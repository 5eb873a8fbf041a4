//! Where the frontmatter begins and ends (contract §1.1).
//!
//! The rule is the regular expression `\A---\s*\n(.*?)\n---\s*\n(.*)\z`, dot matching newlines,
//! found here by hand in linear time, byte for byte as a backtracking engine finds it.

use std::ops::Range;

use super::is_space;

/// The parts of a card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Parts {
    /// The opening `---`.
    pub(super) fence: Range<usize>,
    /// Between the fences.
    pub(super) frontmatter: Range<usize>,
    /// After the closing fence.
    pub(super) body: Range<usize>,
}

/// Why a text has no frontmatter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Missing {
    /// It does not begin with a `---` line.
    Opening,
    /// No `---` line follows the opening one.
    Closing {
        /// The opening fence.
        fence: Range<usize>,
    },
    /// The text ends within the closing line, without a line break.
    LineBreak {
        /// The parts if there were a line break.
        parts: Parts,
        /// The closing fence.
        closing: Range<usize>,
    },
}

/// Finds the parts of `text[from..]`; offsets are in `text`.
pub(super) fn split(text: &str, from: usize) -> Result<Parts, Missing> {
    let rest = text.get(from..).unwrap_or_default();
    let Some(after) = rest.strip_prefix("---") else {
        return Err(Missing::Opening);
    };
    let fence = from..from + 3;
    // The longest run of white space that ends with a line break belongs to the fence.
    let run = &after[..after.len() - after.trim_start_matches(is_space).len()];
    let Some(last) = run.rfind('\n') else {
        return Err(Missing::Opening);
    };
    let base = fence.end;
    let opened = base + last + 1;
    if let Some(closing) = closing_fence(text, opened) {
        return Ok(Parts {
            fence,
            frontmatter: opened..closing.line_break,
            body: closing.end..text.len(),
        });
    }
    // Giving back one line break helps only if the closing fence stands right behind the run.
    if let Some(previous) = run[..last].rfind('\n')
        && let Some(closing) = closing_fence(text, base + last)
        && closing.line_break == base + last
    {
        return Ok(Parts {
            fence,
            frontmatter: base + previous + 1..base + last,
            body: closing.end..text.len(),
        });
    }
    let end = text.trim_end_matches(is_space).len();
    if text[..end].ends_with("\n---") && end >= opened + 4 {
        let closing = end - 3..end;
        let parts = Parts {
            fence,
            frontmatter: opened..end - 4,
            body: text.len()..text.len(),
        };
        return Err(Missing::LineBreak { parts, closing });
    }
    Err(Missing::Closing { fence })
}

struct Closing {
    /// The line break before the fence.
    line_break: usize,
    /// Where the body begins.
    end: usize,
}

/// The first `\n---\s*\n` at or after `from`.
fn closing_fence(text: &str, from: usize) -> Option<Closing> {
    let bytes = text.as_bytes();
    let mut at = from;
    loop {
        let line_break = at + memchr::memmem::find(bytes.get(at..)?, b"\n---")?;
        let after = text.get(line_break + 4..)?;
        let run = &after[..after.len() - after.trim_start_matches(is_space).len()];
        if let Some(last) = run.rfind('\n') {
            return Some(Closing {
                line_break,
                end: line_break + 4 + last + 1,
            });
        }
        at = line_break + 4;
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;
    use proptest::prelude::*;
    use regex::Regex;

    /// The contract's expression. `regex` finds what a backtracking engine finds.
    fn by_expression(text: &str) -> Option<(Range<usize>, Range<usize>)> {
        let expression =
            Regex::new(r"(?s)\A---[\s\x1C-\x1F]*\n(.*?)\n---[\s\x1C-\x1F]*\n(.*)\z").unwrap();
        let captures = expression.captures(text)?;
        Some((captures.get(1)?.range(), captures.get(2)?.range()))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn splits_as_the_expression_does(pieces in prop::collection::vec(
            prop::sample::select(vec!["---", "\n", "\r\n", " ", "a", "-", "\n---", "\n---\n", "\u{1D}", "é", "\u{FEFF}"]), 0..14))
        {
            for text in [pieces.concat(), format!("---\n{}", pieces.concat())] {
                let found = split(&text, 0).ok().map(|parts| (parts.frontmatter, parts.body));
                prop_assert_eq!(found, by_expression(&text), "{:?}", text);
            }
        }
    }
}
