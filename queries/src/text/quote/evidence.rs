//! How much a quote can prove.

use super::chars;

/// What a quote consists of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Evidence {
    /// Runs of word characters.
    pub words: usize,
    /// Letters and digits.
    pub letters: usize,
    /// Those of scripts without spaces.
    pub wide: usize,
}

impl Evidence {
    /// Counts `text`.
    pub fn of(text: &str) -> Self {
        let mut evidence = Evidence::default();
        let mut within = false;
        for c in text.chars() {
            if c.is_ascii_alphanumeric() {
                evidence.words += usize::from(!within);
                evidence.letters += 1;
                within = true;
                continue;
            }
            if c == ' ' {
                within = false;
                continue;
            }
            let wordish = chars::is_wordish(c);
            // An apostrophe, hyphen or invisible character within a word does not make two of it.
            if wordish && !within {
                evidence.words += 1;
            }
            if !(within && (matches!(c, '\'' | '’' | '\u{ad}') || chars::is_invisible(c))) {
                within = wordish;
            }
            if c.is_alphanumeric() {
                evidence.letters += 1;
                evidence.wide += usize::from(chars::is_spaceless(c));
            }
        }
        evidence
    }

    /// Whether there is nothing to prove: no letter and no digit.
    pub fn is_empty(self) -> bool {
        self.letters == 0
    }

    /// At least three words or twelve letters, or six characters of a script without spaces.
    pub fn is_enough(self) -> bool {
        let spaced_words = if self.wide > 0 { 0 } else { self.words };
        spaced_words >= 3 || self.letters >= 12 || self.wide >= 6
    }

    /// Whether it can be one segment of an elided quote: three words, or six wide characters.
    pub fn is_segment(self) -> bool {
        if self.wide > 0 {
            self.wide >= 6 || self.words >= 3
        } else {
            self.words >= 3
        }
    }
}
