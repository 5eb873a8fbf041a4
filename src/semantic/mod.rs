//! Asking evaluators of meaning: the effects around [`kbc_queries::semantic`].
//!
//! An [`Oracle`] answers [`Request`]s, from a cache file or over the network; [`project`] collects the
//! requests of a session's report and puts the answers in; [`build`] makes a cache. Nothing is asked
//! unless a command was told to, and an answer decides no exit status but under the policy that says
//! so.

use std::path::Path;

use kbc_queries::diagnostic::{Diagnostic, registry};
use kbc_queries::semantic::cache::Cache;
use kbc_queries::semantic::{Answer, Request};

use crate::workspace::{door, place_problems};

pub mod build;
pub mod embedder;
pub mod judge;
pub mod project;

/// Largest cache file that is read, in bytes: about two million opinions.
const CACHE_LIMIT: u64 = 512 << 20;

/// Who is asked.
pub enum Oracle {
    /// A cache of earlier opinions.
    Cache(Cache),
    /// A language model.
    Judge(judge::Judge),
}

impl Oracle {
    /// One answer per request, in their order.
    pub fn consult(&self, requests: &[Request]) -> Vec<Answer> {
        match self {
            Oracle::Cache(cache) => requests
                .iter()
                .map(|request| Ok(cache.opinion(request)))
                .collect(),
            Oracle::Judge(judge) => judge.consult(requests),
        }
    }
}

/// Reads a semantic cache; `shown` is its path in messages.
///
/// # Errors
/// `MAN-001`.
pub fn read_cache(path: &Path, shown: &str) -> Result<Cache, Box<Diagnostic>> {
    let unreadable = |reason: String| {
        let message = format!("the semantic cache cannot be read: {reason}");
        Box::new(
            Diagnostic::new(registry::MAN_001, message)
                .in_file(shown)
                .help("give a file that `kb semantic build` wrote"),
        )
    };
    let bytes =
        door::read_named(path, CACHE_LIMIT).map_err(|failure| unreadable(failure.to_string()))?;
    let text =
        String::from_utf8(bytes).map_err(|_| unreadable("it is not UTF-8 text".to_owned()))?;
    Cache::parse(&text).map_err(|problem| {
        let diagnostics = place_problems(shown, &text, &[*problem]);
        match diagnostics.into_iter().next() {
            Some(diagnostic) => Box::new(diagnostic),
            None => unreadable("it is invalid".to_owned()),
        }
    })
}
