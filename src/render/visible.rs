//! Text of other people made safe to show: what a terminal would obey or hide is written out.
//!
//! A source document or a file name may hold escape sequences, bidirectional overrides or invisible
//! characters that make a terminal, or a reader, see something else than what is there. They are
//! shown as `\u{…}`. Letters of every script, combining marks, joiners and emoji stay as they are.

use std::borrow::Cow;

/// What is to become of line breaks and tabs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// The text is one line: breaks become a space, so that nothing can pass for a line of its own.
    OneLine,
    /// Line feeds and tabs stay.
    Lines,
}

/// Whether a character is shown as `\u{…}` rather than as itself.
pub fn is_hazard(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        // Controls: C0, DEL, C1.
        _ if character.is_control() => true,
        // Soft hyphen; Arabic letter mark; Hangul and Khmer fillers that look like nothing.
        '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180e}' => {
            true
        }
        // Zero-width space; left-to-right and right-to-left marks; but not the joiners between them.
        '\u{200b}' | '\u{200e}' | '\u{200f}' => true,
        // Line and paragraph separators; embeddings and overrides; word joiner and invisible
        // operators; isolates.
        '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => true,
        // Fillers, byte order mark, interlinear annotations, tags, noncharacters.
        '\u{3164}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}' => true,
        _ => {
            u32::from(character) & 0xfffe == 0xfffe
                || ('\u{fdd0}'..='\u{fdef}').contains(&character)
        }
    }
}

/// Appends one character as it is to be shown.
pub fn push(result: &mut String, character: char) {
    if is_hazard(character) {
        result.extend(character.escape_unicode());
    } else {
        result.push(character);
    }
}

/// The text as it is to be shown.
pub fn text(text: &str, layout: Layout) -> Cow<'_, str> {
    let breaks = |character: char| layout == Layout::OneLine && matches!(character, '\n' | '\t');
    if !text
        .chars()
        .any(|character| is_hazard(character) || breaks(character))
    {
        return Cow::Borrowed(text);
    }
    let mut result = String::with_capacity(text.len() + 16);
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            // A Windows line end is one break, not an escape and a break.
            '\r' if characters.peek() == Some(&'\n') => {}
            _ if breaks(character) => result.push(' '),
            _ => push(&mut result, character),
        }
    }
    Cow::Owned(result)
}

/// A text on one line, as it is to be shown.
pub fn line(text: &str) -> Cow<'_, str> {
    self::text(text, Layout::OneLine)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_written_out() {
        let table = [
            ("plain", "plain"),
            (
                "\u{1b}[31mred\u{1b}]8;;x\u{7}",
                r"\u{1b}[31mred\u{1b}]8;;x\u{7}",
            ),
            ("a\u{202e}b", r"a\u{202e}b"),
            ("a\u{200b}b\u{feff}", r"a\u{200b}b\u{feff}"),
            ("\u{9b}31m", r"\u{9b}31m"),
            ("back\u{8}space", r"back\u{8}space"),
            ("lone\rreturn", r"lone\u{d}return"),
            ("\u{ffff}\u{1fffe}", r"\u{ffff}\u{1fffe}"),
        ];
        for (text, shown) in table {
            assert_eq!(line(text), shown);
        }
    }

    #[test]
    fn what_stays() {
        for text in [
            "über",
            "שלום",
            "مرحبا",
            "日本語",
            "👩\u{200d}👩\u{200d}👧",
            "e\u{301}",
            "क्\u{200d}ष",
            "می\u{200c}خواهم",
        ] {
            assert!(matches!(line(text), Cow::Borrowed(same) if same == text));
        }
    }

    #[test]
    fn breaks_become_spaces_only_on_one_line() {
        assert_eq!(line("a\r\nb\nc\td"), "a b c d");
        assert_eq!(text("a\r\nb\nc\td", Layout::Lines), "a\nb\nc\td");
    }

    proptest! {
        #[test]
        fn nothing_hazardous_survives(text: String) {
            let shown = line(&text);
            prop_assert!(!shown.chars().any(|c| is_hazard(c) || c == '\n' || c == '\t'));
            prop_assert_eq!(line(&shown), shown.clone());
        }
    }
}
