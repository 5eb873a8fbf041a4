//! The table of diagnostic codes.

use super::{Code, Severity};

/// One row of the registry.
#[derive(Debug)]
pub struct Entry {
    /// The code.
    pub code: Code,
    /// A few words.
    pub title: &'static str,
    /// Severity before any override.
    pub severity: Severity,
}

/// All codes, sorted.
pub fn all() -> &'static [Entry] {
    &[]
}

/// The row of `code`, which every [`Code`] has.
pub fn entry(code: Code) -> &'static Entry {
    find(code.as_str()).unwrap_or_else(|| unreachable!())
}

/// The row of a code given as text.
pub fn find(code: &str) -> Option<&'static Entry> {
    all().iter().find(|entry| entry.code.as_str() == code)
}
