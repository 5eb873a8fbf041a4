//! The one matcher: does this quote stand in that passage, and how?
//!
//! [`check_quote`] is what everything else calls. It looks for the quote's characters first, which is
//! nearly always enough; only when they are not there does it fold both texts ([`Folding`]) and compare
//! element by element, each of which knows the bytes it came from. It is linear in the passage and
//! never searches in rendered text.
//!
//! It decides by the kind of a difference, never by a similarity score, and it knows nothing about
//! cards, pages or severities: pages come in as ranges, and what a [`Flag`] is worth is the caller's.

use std::cell::OnceCell;
use std::ops::Range;

use serde::{Deserialize, Serialize};

mod assign;
mod boundary;
mod chars;
mod check;
mod cue;
mod damage;
mod elide;
mod evidence;
mod fold;
mod fuzzy;
mod groups;
mod item;
mod lexicon;
mod markup;
mod nearest;
mod places;
mod plain;
mod script;
mod skeleton;
mod survey;
mod tags;
mod tokens;
mod variants;
mod veiled;
mod verdict;
mod walk;

use crate::text::veil::Veiled;

pub use verdict::{Flag, Folding, Foldings, MatchClass, Nearest, Verdict};

/// The text in which a quote is looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage<'a> {
    /// The text; it may go on beyond the cited chunk into the next one.
    pub text: &'a str,
    /// The bytes of `text` in which a match must begin: the cited chunk.
    pub cited: Range<usize>,
    /// The bytes of `text` in which a match must lie to be verified: what is on the cited pages.
    pub window: Range<usize>,
    /// Byte offsets in `text` at which a new page begins, in order: none in a source without pages.
    /// `None`: nobody knows whether the text comes from pages. Running headers, footers and page
    /// numbers are looked for where a page begins, and nowhere else if that is known.
    pub page_starts: Option<&'a [usize]>,
    /// What stands in `text` and is not said by it, in order and apart. A quote may pass over it
    /// and may not be taken from it.
    pub veiled: &'a [Veiled],
    /// The title of the source, if it has one.
    pub title: Option<&'a str>,
}

impl<'a> Passage<'a> {
    /// A passage that is cited as a whole, of which nothing else is known.
    pub fn whole(text: &'a str) -> Self {
        Passage {
            text,
            cited: 0..text.len(),
            window: 0..text.len(),
            page_starts: None,
            veiled: &[],
            title: None,
        }
    }
}

/// What is claimed to stand in a passage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quote<'a> {
    /// The quoted words.
    pub text: &'a str,
    /// What stands directly before them, to tell two places apart.
    pub prefix: Option<&'a str>,
    /// What stands directly after them.
    pub suffix: Option<&'a str>,
}

impl<'a> Quote<'a> {
    /// A quote without context.
    pub fn new(text: &'a str) -> Self {
        Quote {
            text,
            prefix: None,
            suffix: None,
        }
    }
}

/// How strict a verdict is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// A match inside a word, an ambiguous one and one that leaves out a negation are not verified.
    #[default]
    Strict,
    /// What the card-graph contract accepts is verified; the flags say what `Strict` would refuse.
    Cacg,
}

/// What a caller wants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Options {
    /// How strict the verdict is.
    pub profile: Profile,
    /// Whether a match with a small harmless edit is looked for when there is no better one.
    pub fuzzy: bool,
}

/// Says how `quote` stands in `passage`.
pub fn check_quote(passage: &Passage<'_>, quote: &Quote<'_>, options: Options) -> Verdict {
    Matcher::new(passage.clone()).check(quote, options)
}

/// A passage that is folded at most once for many quotes.
#[derive(Clone, Debug)]
pub struct Matcher<'a> {
    passage: Passage<'a>,
    source: OnceCell<walk::Source<'a>>,
    plain: OnceCell<Option<plain::Plain>>,
}

impl<'a> Matcher<'a> {
    /// A matcher for `passage`. Costs nothing yet.
    pub fn new(passage: Passage<'a>) -> Self {
        Matcher {
            passage,
            source: OnceCell::new(),
            plain: OnceCell::new(),
        }
    }

    /// The passage.
    pub fn passage(&self) -> &Passage<'a> {
        &self.passage
    }

    /// Says how `quote` stands in the passage.
    pub fn check(&self, quote: &Quote<'_>, options: Options) -> Verdict {
        check::check(self, quote, options)
    }

    /// Says how several quotes of one citation stand in the passage, in the order in which they are
    /// given: one that is ambiguous alone is settled where its neighbours leave only one place for it.
    pub fn check_all(&self, quotes: &[Quote<'_>], options: Options) -> Vec<Verdict> {
        assign::check_all(self, quotes, options)
    }

    /// All places where `quote` stands exactly or normalized, at word boundaries and with its context,
    /// in order, that begin in the cited chunk and lie on the cited pages. For a caller who wants to know whether it stands uniquely elsewhere in a document.
    pub fn find_all(&self, quote: &Quote<'_>) -> Vec<Range<usize>> {
        check::find_all(self, quote)
    }

    /// The passage as a plain text, if it is one and was not folded yet.
    fn plain(&self) -> Option<&plain::Plain> {
        let has_pages = self
            .passage
            .page_starts
            .is_some_and(|starts| !starts.is_empty());
        if self.source.get().is_some() || has_pages || !self.passage.veiled.is_empty() {
            return None;
        }
        self.plain
            .get_or_init(|| plain::Plain::new(self.passage.text))
            .as_ref()
    }

    fn source(&self) -> &walk::Source<'a> {
        self.source.get_or_init(|| walk::Source::new(&self.passage))
    }
}

/// All places in `passage` where `quote` stands exactly or normalized; see [`Matcher::find_all`].
pub fn find_all_exact_or_normalized(passage: &Passage<'_>, quote: &Quote<'_>) -> Vec<Range<usize>> {
    Matcher::new(passage.clone()).find_all(quote)
}

/// The word outside `span` that negates or attributes what stands there, within its sentence.
pub(crate) fn governing_cue(text: &str, span: &Range<usize>) -> Option<String> {
    match cue::find(text, span)? {
        Flag::Cue { cue, .. } => Some(cue),
        _ => None,
    }
}

/// The negations and exceptions of a text, in order.
pub(crate) fn negations_in(text: &str) -> Vec<String> {
    lexicon::negations(text)
}

/// Whether a word is a unit of measurement.
pub(crate) fn is_unit_word(word: &str) -> bool {
    lexicon::is_unit(word)
}

/// Whether inserting these words would change what is said: negations, numbers, modals, amounts.
pub(crate) fn changes_what_is_said(words: &str) -> bool {
    lexicon::words(words).any(lexicon::weighs)
}

#[cfg(test)]
mod tests;
