//! A diagnostic before it has a place in a file.
//!
//! Rules work on values without text, so what they say carries byte ranges relative to the
//! citation (or the card); [`Finding::place`] makes a [`Diagnostic`] of it once the card's text is
//! at hand. That is why a verdict survives edits elsewhere in its card.

use std::ops::Range;
use std::sync::Arc;

use serde_json::Value;

use crate::diagnostic::{Applicability, Code, Diagnostic, Edit, Fix, Related, Severity, registry};
use crate::text::lines::LineIndex;

/// Replace the bytes of `range` (relative, as the finding's own) by `text`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelativeEdit {
    /// What is replaced.
    pub range: Range<usize>,
    /// By what.
    pub text: String,
}

/// A fix inside the card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelativeFix {
    /// What it does, in the imperative.
    pub title: String,
    /// Whether it may be applied unasked.
    pub applicability: Applicability,
    /// Its edits.
    pub edits: Vec<RelativeEdit>,
}

/// What a rule found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Which kind.
    pub code: Code,
    /// How bad, before the project's overrides.
    pub severity: Severity,
    /// One sentence that stands alone.
    pub message: String,
    /// Where, relative to the base of the rule that found it.
    pub range: Range<usize>,
    /// What is to be seen there.
    pub label: Option<String>,
    /// Other places.
    pub related: Vec<Related>,
    /// What to do next.
    pub help: Option<String>,
    /// Ready edits.
    pub fixes: Vec<RelativeFix>,
    /// Machine-readable details.
    pub data: Vec<(&'static str, Value)>,
    /// The contract's words, where they differ.
    pub contract_message: Option<String>,
}

impl Finding {
    /// A finding with nothing but a message and a place.
    pub fn new(code: Code, range: Range<usize>, message: impl Into<String>) -> Self {
        Finding {
            code,
            severity: registry::entry(code).severity,
            message: message.into(),
            range,
            label: None,
            related: Vec::new(),
            help: None,
            fixes: Vec::new(),
            data: Vec::new(),
            contract_message: None,
        }
    }

    /// Sets the severity, for rules whose weight depends on the profile.
    pub fn severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }

    /// Sets the label under the place.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    /// Sets the help.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Sets the contract's words.
    pub fn contract(mut self, message: impl Into<String>) -> Self {
        self.contract_message = Some(message.into());
        self
    }

    /// Adds a machine-readable detail.
    pub fn data(mut self, key: &'static str, value: impl Into<Value>) -> Self {
        self.data.push((key, value.into()));
        self
    }

    /// Adds another place.
    pub fn related(mut self, related: Option<Related>) -> Self {
        self.related.extend(related);
        self
    }

    /// Adds a fix, if it has edits.
    pub fn fix(mut self, fix: Option<RelativeFix>) -> Self {
        self.fixes.extend(fix.filter(|fix| !fix.edits.is_empty()));
        self
    }

    /// Gives the finding its place: `base` is added to every relative range.
    pub fn place(self, file: &Arc<str>, base: usize, lines: &LineIndex, text: &str) -> Diagnostic {
        let shift = |range: Range<usize>| range.start + base..range.end + base;
        let mut diagnostic = Diagnostic::new(self.code, self.message).in_file(file.clone());
        // In a file without text, or one that could not be read, there is nothing to point at.
        if !text.is_empty() {
            diagnostic = diagnostic.at(lines.span(text, shift(self.range)));
        }
        diagnostic.severity = self.severity;
        diagnostic.label = self.label;
        diagnostic.related = self.related;
        diagnostic.help = self.help;
        diagnostic.contract_message = self.contract_message;
        diagnostic.fixes = self
            .fixes
            .into_iter()
            .map(|fix| Fix {
                title: fix.title,
                applicability: fix.applicability,
                edits: fix
                    .edits
                    .into_iter()
                    .map(|edit| {
                        let range = shift(edit.range);
                        Edit {
                            file: file.clone(),
                            start: range.start,
                            end: range.end,
                            text: edit.text,
                        }
                    })
                    .collect(),
            })
            .collect();
        for (key, value) in self.data {
            diagnostic = diagnostic.data(key, value);
        }
        diagnostic
    }
}
