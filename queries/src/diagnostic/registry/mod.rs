//! Every diagnostic code there is: what it means, how bad it is, an example and its correction.
//!
//! A code's constant and its row in the table are one declaration (the macro `codes!`), so neither
//! exists without the other. From the table come `kb explain`, the documentation pages and the rule
//! metadata of SARIF. It is not the place that decides when a code is emitted: that is the checks'.

use std::sync::LazyLock;

use super::{Code, Severity};

/// Whether a code's finding bears on what was verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Weight {
    /// While the finding stands, something is *not verified*: no setting may lower its severity.
    Verdict,
    /// Something to be put right that leaves the verdicts alone: its severity is the project's to choose.
    Finding,
}

/// Whether a code can be met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// It is emitted.
    Active,
    /// It is not; the reason is given.
    Reserved(&'static str),
}

/// One row of the registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Entry {
    /// The code.
    pub code: Code,
    /// A few words, without a full stop.
    pub title: &'static str,
    /// Severity before the profile's and the project's overrides.
    pub severity: Severity,
    /// Whether it says "not verified".
    pub weight: Weight,
    /// Whether it is emitted.
    pub status: Status,
    /// What it means, why it matters and how to fix it, in Markdown.
    pub explanation: &'static str,
    /// Language of the two examples, as after a Markdown fence.
    pub language: &'static str,
    /// A short text that makes it fire.
    pub failing: &'static str,
    /// The same text put right.
    pub corrected: &'static str,
}

impl Entry {
    /// Whether the finding says that something is not verified, so that its severity may not be lowered.
    pub fn verdict(&self) -> bool {
        self.weight == Weight::Verdict
    }

    /// Whether a project may give the finding this severity: any, unless the finding says "not
    /// verified"; then none below its own.
    pub fn allows(&self, severity: Severity) -> bool {
        // The order of severities begins with the worst.
        !self.verdict() || severity <= self.severity
    }

    /// Whether the code is not emitted.
    pub fn is_reserved(&self) -> bool {
        matches!(self.status, Status::Reserved(_))
    }

    /// The code without the leading `CACG-`, for instance `HASH-001`.
    pub fn short(&self) -> &'static str {
        short(self.code.as_str())
    }

    /// The family, for instance `HASH` or `IDX-CACHE`.
    pub fn family(&self) -> &'static str {
        self.short()
            .rsplit_once('-')
            .map_or("", |(family, _)| family)
    }
}

/// Declares codes: for each one the constant and the row of the module's table.
macro_rules! codes {
    ($(
        $name:ident = $code:literal, $severity:ident, $weight:ident, $status:expr_2021 => {
            title: $title:literal,
            explanation: $explanation:literal,
            language: $language:literal,
            failing: $failing:literal,
            corrected: $corrected:literal,
        }
    )*) => {
        use super::{Entry, Status::*, Weight};
        use crate::diagnostic::{Code, Severity};

        $(
            #[doc = concat!("`", $code, "`: ", $title, ".")]
            pub const $name: Code = Code($code);
        )*

        /// The rows of this file.
        pub(super) const ROWS: &[Entry] = &[$(
            Entry {
                code: $name,
                title: $title,
                severity: Severity::$severity,
                weight: Weight::$weight,
                status: $status,
                explanation: $explanation,
                language: $language,
                failing: $failing,
                corrected: $corrected,
            },
        )*];
    };
}

mod citation;
mod command;
mod frontmatter;
mod graph;
mod project;
mod quote;
mod source;
mod store;

pub use citation::*;
pub use command::*;
pub use frontmatter::*;
pub use graph::*;
pub use project::*;
pub use quote::*;
pub use source::*;
pub use store::*;

/// The tables of the files, in no particular order.
const FILES: [&[Entry]; 8] = [
    citation::ROWS,
    command::ROWS,
    frontmatter::ROWS,
    graph::ROWS,
    project::ROWS,
    quote::ROWS,
    source::ROWS,
    store::ROWS,
];

/// All rows, sorted by code.
static TABLE: LazyLock<Vec<Entry>> = LazyLock::new(|| {
    let mut table: Vec<Entry> = FILES.concat();
    table.sort_unstable_by_key(|entry| entry.code);
    table
});

/// What [`entry`] gives for a code without a row; only this module's tests could make one.
static UNLISTED: Entry = Entry {
    code: Code(""),
    title: "unlisted code",
    severity: Severity::Error,
    weight: Weight::Verdict,
    status: Status::Reserved("not in the registry"),
    explanation: "",
    language: "",
    failing: "",
    corrected: "",
};

/// All rows, sorted by code.
pub fn all() -> &'static [Entry] {
    &TABLE
}

/// The row of a code.
pub fn entry(code: Code) -> &'static Entry {
    TABLE
        .binary_search_by_key(&code, |entry| entry.code)
        .ok()
        .and_then(|index| TABLE.get(index))
        .unwrap_or(&UNLISTED)
}

/// The row of a code written in full (`CACG-HASH-001`) or short (`HASH-001`), in any case.
pub fn find(text: &str) -> Option<&'static Entry> {
    let wanted = short(text.trim());
    TABLE
        .binary_search_by(|entry| {
            let have = entry.short().bytes();
            have.cmp(wanted.bytes().map(|byte| byte.to_ascii_uppercase()))
        })
        .ok()
        .and_then(|index| TABLE.get(index))
}

/// The codes whose name is nearest to a misspelt one, best first, at most `limit`.
///
/// Nearness is the Damerau-Levenshtein distance of the short forms; codes more than three edits
/// away are no suggestion.
pub fn nearest(text: &str, limit: usize) -> Vec<&'static Entry> {
    // The longest code has 13 characters: a longer text cannot be near, and must not cost time.
    let wanted: String = short(text.trim())
        .chars()
        .take(24)
        .collect::<String>()
        .to_ascii_uppercase();
    let mut near: Vec<(usize, &Entry)> = TABLE
        .iter()
        .map(|entry| (strsim::osa_distance(&wanted, entry.short()), entry))
        .filter(|(distance, _)| *distance <= 3)
        .collect();
    near.sort_by_key(|(distance, entry)| (*distance, entry.code));
    near.into_iter()
        .take(limit)
        .map(|(_, entry)| entry)
        .collect()
}

/// Whether a text has the shape of a code: `CACG-[A-Z]+(-[A-Z]+)*-\d{3}`.
pub fn is_code_shape(text: &str) -> bool {
    let Some((families, number)) = text
        .strip_prefix("CACG-")
        .and_then(|rest| rest.rsplit_once('-'))
    else {
        return false;
    };
    number.len() == 3
        && number.bytes().all(|byte| byte.is_ascii_digit())
        && families
            .split('-')
            .all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_uppercase()))
}

/// A code without its leading `CACG-`, in whatever case that is written.
fn short(text: &str) -> &str {
    match text.split_at_checked(5) {
        Some((prefix, rest)) if prefix.eq_ignore_ascii_case("CACG-") => rest,
        _ => text,
    }
}

#[cfg(test)]
mod tests;
