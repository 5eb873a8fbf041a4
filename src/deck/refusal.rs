//! Why a verb of the deck did nothing, as one line.

use std::fmt;
use std::io;
use std::path::Path;

use kbc_queries::diagnostic::{Code, Diagnostic, registry};
use kbc_queries::parse::problem::Problem;

use crate::publish::PublishError;
use crate::render::visible;

/// A code and a sentence: what is wrong, where, and what to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The code.
    pub code: Code,
    /// The file it is about, where the line is to begin with it.
    pub file: Option<String>,
    /// The sentence.
    pub message: String,
}

impl Refusal {
    /// A refusal about the call or the deck as a whole.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Refusal {
            code,
            file: None,
            message: message.into(),
        }
    }

    /// What is wrong with a card, in the contract's words.
    pub fn of_card(file: &str, problem: &Problem) -> Self {
        Refusal {
            code: problem.code,
            file: Some(file.to_owned()),
            message: problem.contract_message.clone(),
        }
    }

    /// A manifest that cannot be used.
    pub fn of_manifest(file: &str, problem: &Problem) -> Self {
        let help = problem
            .help
            .as_deref()
            .unwrap_or("restore it from version control: it records what people decided");
        Refusal::new(problem.code, format!("{file}: {}; {help}", problem.message))
    }

    /// The system refused.
    pub fn io(code: Code, doing: &str, error: &io::Error) -> Self {
        let reason = crate::workspace::disk::failure(error);
        Refusal::new(code, format!("{doing}: {reason}"))
    }

    /// A file is missing or of the wrong kind.
    pub fn missing(what: &str, path: &Path, next: &str) -> Self {
        Refusal::new(
            registry::CLI_001,
            format!(
                "{what} not found or not a regular file: {}; {next}",
                path.display()
            ),
        )
    }
}

impl From<PublishError> for Refusal {
    fn from(error: PublishError) -> Self {
        Refusal::new(
            registry::IDX_004,
            format!("{error}; what was published before is unchanged"),
        )
    }
}

impl From<Diagnostic> for Refusal {
    fn from(diagnostic: Diagnostic) -> Self {
        let file = diagnostic.file.as_deref();
        let message = match file {
            Some(file) => format!("{file}: {}", diagnostic.message),
            None => diagnostic.message.to_string(),
        };
        Refusal::new(
            diagnostic.code,
            match &diagnostic.help {
                Some(help) => format!("{message}; {help}"),
                None => message,
            },
        )
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let message = visible::line(&self.message);
        match &self.file {
            Some(file) => write!(f, "{}: {} {message}", visible::line(file), self.code),
            None => write!(f, "{}: {message}", self.code),
        }
    }
}
