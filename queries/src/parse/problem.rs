//! What a parser has to say about a file: a code, a sentence and the bytes it is about.
//!
//! A problem knows offsets only. The path, lines and columns are added where a
//! [`Diagnostic`](crate::diagnostic::Diagnostic) is made of it.

use std::ops::Range;

use crate::diagnostic::{Applicability, Code};

/// A value and the bytes of the file it was read from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Spanned<T> {
    /// What was read.
    pub value: T,
    /// Byte range in the file.
    pub span: Range<usize>,
}

impl<T> Spanned<T> {
    /// Puts a value and its place together.
    pub fn new(value: T, span: Range<usize>) -> Self {
        Spanned { value, span }
    }
}

/// Something wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Problem {
    /// Which kind of finding.
    pub code: Code,
    /// One sentence for a person.
    pub message: String,
    /// The message the card-graph contract prints. Where the contract leaves the wording open it
    /// is the location (`citations.0.quote`) followed by the message.
    pub contract_message: String,
    /// The bytes it is about. Empty only where nothing is there to point at.
    pub span: Range<usize>,
    /// What is to be seen under the span, shorter than the message. May be empty.
    pub label: String,
    /// What to do next.
    pub help: Option<String>,
    /// A ready edit, where there is only one sensible one.
    pub fix: Option<Replacement>,
}

/// An edit of one range of the file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Replacement {
    /// What it does, in the imperative.
    pub title: String,
    /// Whether it may be applied unasked.
    pub applicability: Applicability,
    /// Bytes replaced.
    pub range: Range<usize>,
    /// What takes their place.
    pub text: String,
}

impl Problem {
    /// A problem with nothing but a message; the contract's message is the same.
    pub fn new(code: Code, span: Range<usize>, message: impl Into<String>) -> Self {
        let message = message.into();
        Problem {
            code,
            contract_message: message.clone(),
            message,
            span,
            label: String::new(),
            help: None,
            fix: None,
        }
    }

    /// Sets the contract's message.
    pub fn contract(mut self, message: impl Into<String>) -> Self {
        self.contract_message = message.into();
        self
    }

    /// Sets the label.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// Sets the help.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Sets the edit.
    pub fn fix(mut self, fix: Replacement) -> Self {
        self.fix = Some(fix);
        self
    }
}

/// The known name closest to `name`, when it is close enough to be a slip of the keyboard.
///
/// Damerau-Levenshtein distance, at most a third of the longer name's characters and at least one.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // The distance is quadratic in the lengths, and no known name is longer than this.
    if name.len() > 64 {
        return None;
    }
    let length = name.chars().count();
    known
        .into_iter()
        .filter_map(|candidate| {
            let distance = strsim::damerau_levenshtein(&name.to_lowercase(), candidate);
            let bound = (length.max(candidate.chars().count()) / 3).max(1);
            (distance <= bound).then_some((distance, candidate))
        })
        .min()
        .map(|(_, candidate)| candidate)
}

/// `text` shortened to fit into a message, its control characters escaped.
pub(crate) fn shown(text: &str) -> String {
    const MOST: usize = 40;
    let mut out = String::new();
    for (count, character) in text.chars().enumerate() {
        if count == MOST {
            out.push('…');
            break;
        }
        if character.is_control() {
            out.extend(character.escape_default());
        } else {
            out.push(character);
        }
    }
    out
}
