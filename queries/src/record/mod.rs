//! Records that only grow: the journal of checks and the histories of cards (contract §6.1, §6.2).
//!
//! Both are files of one canonical JSON event per line, chained by checksums. [`chain`] is what they
//! share, [`journal`] and [`history`] are their events, [`head`] is what proves from outside that
//! nothing was cut off or written anew.
//!
//! Not here: files, locks, clocks. The program's `record` room appends and reads.

use crate::diagnostic::{Code, registry};

pub mod chain;
pub mod head;
pub mod history;
pub mod journal;

#[cfg(test)]
mod tests;

/// Which of the two kinds of record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `lint_journal.jsonl`: one event per visit of a card by `lint` or `verify`.
    Journal,
    /// `<card>.history.jsonl`: one event per version of a card.
    History,
}

impl Kind {
    /// The code of what is wrong with a record of this kind.
    #[must_use]
    pub fn code(self) -> Code {
        match self {
            Kind::Journal => registry::JNL_001,
            Kind::History => registry::HIST_001,
        }
    }

    /// What it is called in a sentence.
    #[must_use]
    pub const fn noun(self) -> &'static str {
        match self {
            Kind::Journal => "journal",
            Kind::History => "history",
        }
    }

    /// What a head of this kind begins with, and what its digest is bound to.
    #[must_use]
    pub const fn head_domain(self) -> &'static str {
        match self {
            Kind::Journal => "kb-journal-head-v1",
            Kind::History => "kb-history-head-v1",
        }
    }
}
