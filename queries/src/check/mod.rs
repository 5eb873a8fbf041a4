//! The rules, one file per family. Each is a pure function or a query; none looks at more than it
//! was asked about. Whole-corpus rules ([`graph`]) work on per-card summaries.

pub mod advice;
pub mod card;
pub mod citation;
pub mod finding;
pub mod graph;
pub mod passage;
mod permission;
pub mod pin;
pub mod quote;
mod rewrite;
pub mod role;
pub mod skill;
pub mod source;

use serde::{Deserialize, Serialize};

use crate::text::quote::MatchClass;

/// What a check established about one citation. Only a match that was found, in a citation
/// without an error, becomes [`Outcome::Verified`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Outcome {
    /// The quote stands there, and nothing else is wrong with the citation.
    Verified(MatchClass),
    /// Something is wrong with it.
    Failed,
    /// It could not be told.
    Unverifiable,
    /// It was not looked at.
    Skipped,
}
