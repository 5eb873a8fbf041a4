//! Why a record cannot be trusted, or cannot be appended to.

use std::fmt;
use std::io;
use std::sync::Arc;

use kbc_queries::diagnostic::Diagnostic;
use kbc_queries::record::Kind;
use kbc_queries::record::chain::BadLine;
use kbc_queries::record::head::Head;

/// Something is wrong with a record.
#[derive(Debug)]
pub struct RecordError {
    /// Which kind of record.
    pub kind: Kind,
    /// The file, as people are to read it.
    pub file: Arc<str>,
    /// What is wrong.
    pub trouble: Trouble,
}

/// What is wrong with a record.
#[derive(Debug)]
#[non_exhaustive]
pub enum Trouble {
    /// A line is bad.
    Line(BadLine),
    /// The file is gone, and its head names events.
    Missing {
        /// The head that knows better.
        head: Head,
    },
    /// The end of the file is gone.
    Truncated {
        /// The head that knows better.
        head: Head,
        /// Events that are left, those of rotated files included.
        found: u64,
    },
    /// The chain holds, and is not the one of the head.
    Rewritten {
        /// The head that knows better.
        head: Head,
    },
    /// The head file is damaged.
    HeadFile(String),
    /// The head file is gone, and files that were rotated away are there.
    HeadFileMissing {
        /// One of them.
        rotated: String,
    },
    /// A file that was rotated away is not where its successor expects it.
    RotatedMissing {
        /// Where it is expected.
        rotated: String,
    },
    /// A file that was rotated away does not end with the head that its successor carries.
    RotatedDiffers {
        /// The file.
        rotated: String,
    },
    /// A file that would be written over is there already.
    Exists(String),
    /// It is a folder, a link or a device.
    NotAFile(String),
    /// An event that was to be appended has a value it cannot have.
    Event(String),
    /// The end of the file is not what was appended last.
    NotOurs,
    /// The system refused.
    Io {
        /// What was being done.
        doing: String,
        /// What it said.
        error: io::Error,
    },
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let noun = self.kind.noun();
        match &self.trouble {
            Trouble::Line(bad) => write!(f, "the {noun} is damaged at {bad}"),
            Trouble::Missing { head } => write!(
                f,
                "the {noun} is gone: the head says {}, and there is no file",
                events(head.events)
            ),
            Trouble::Truncated { head, found } => write!(
                f,
                "the {noun} is truncated: the head says {}, the file has {found}",
                events(head.events)
            ),
            Trouble::Rewritten { head } => write!(
                f,
                "the {noun} was written anew: its chain holds, but event {} is not the one that the head names",
                head.events.saturating_sub(1)
            ),
            Trouble::HeadFile(reason) => {
                write!(f, "the head file {}.head is damaged: {reason}", self.file)
            }
            Trouble::HeadFileMissing { rotated } => write!(
                f,
                "the head file {}.head is gone, though the {noun} goes on from {rotated}",
                self.file
            ),
            Trouble::RotatedMissing { rotated } => write!(
                f,
                "the {noun} goes on from {rotated}, which is not there with its head file"
            ),
            Trouble::RotatedDiffers { rotated } => write!(
                f,
                "{rotated} does not end with the head that the {noun} after it carries"
            ),
            Trouble::Exists(path) => write!(f, "{path} is there already, and is not written over"),
            Trouble::NotAFile(path) => write!(f, "{path} is not a regular file"),
            Trouble::Event(reason) => write!(f, "the event cannot be recorded: {reason}"),
            Trouble::NotOurs => write!(
                f,
                "the {noun} has grown since, so its last event is not taken back"
            ),
            Trouble::Io { doing, error } => write!(f, "{doing}: {error}"),
        }
    }
}

impl std::error::Error for RecordError {}

fn events(count: u64) -> String {
    match count {
        1 => "1 event".to_owned(),
        count => format!("{count} events"),
    }
}

impl RecordError {
    /// The first bad line, from 1, where a line is what is wrong.
    #[must_use]
    pub fn line(&self) -> Option<u64> {
        match &self.trouble {
            Trouble::Line(bad) => Some(bad.line),
            _ => None,
        }
    }

    /// What to do next.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        let restore = format!("restore {} from version control or a backup", self.file);
        let anew = "`kb journal rotate --abandon` sets it aside and starts a new one";
        match (&self.trouble, self.kind) {
            (Trouble::Io { .. } | Trouble::Event(_) | Trouble::NotOurs, _) => None,
            (Trouble::Exists(path), _) => Some(format!("move {path} elsewhere")),
            (Trouble::NotAFile(path), Kind::Journal) => Some(format!(
                "move {path} elsewhere, or name another journal with --journal"
            )),
            (Trouble::NotAFile(path), Kind::History) => Some(format!("move {path} elsewhere")),
            (_, Kind::History) => Some(restore),
            (Trouble::RotatedMissing { rotated }, Kind::Journal) => Some(format!(
                "put {rotated} back, or check this file alone with `kb journal verify --since-rotation`"
            )),
            (_, Kind::Journal) => Some(format!("{restore} together with its head file; {anew}")),
        }
    }

    /// As a finding: JNL-001 or HIST-001.
    #[must_use]
    pub fn diagnostic(&self) -> Diagnostic {
        let mut diagnostic =
            Diagnostic::new(self.kind.code(), self.to_string()).in_file(Arc::clone(&self.file));
        diagnostic.help = self.help();
        match self.line() {
            Some(line) => diagnostic.data("line", line),
            None => diagnostic,
        }
    }

    /// As the contract prints errors of a command: `CACG-JNL-001: …`.
    #[must_use]
    pub fn contract_line(&self) -> String {
        format!("{}: {}: {self}", self.kind.code(), self.file)
    }
}

/// What a room knows of the record it works on, so that an error can be made in few words.
#[derive(Clone, Debug)]
pub(super) struct Context {
    pub(super) kind: Kind,
    pub(super) file: Arc<str>,
}

impl Context {
    pub(super) fn trouble(&self, trouble: Trouble) -> RecordError {
        RecordError {
            kind: self.kind,
            file: Arc::clone(&self.file),
            trouble,
        }
    }

    /// Turns an error of the system into ours.
    pub(super) fn doing<T>(&self, what: &str, result: io::Result<T>) -> Result<T, RecordError> {
        result.map_err(|error| {
            self.trouble(Trouble::Io {
                doing: format!("cannot {what} {}", self.file),
                error,
            })
        })
    }
}
