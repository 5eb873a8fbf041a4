//! The journal: one event per visit of a card, appended at a cost that does not grow with it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kbc_queries::record::Kind;
use kbc_queries::record::head::Head;
use kbc_queries::record::journal::JournalEvent;

use super::error::{Context, RecordError};
use super::files::{self, Lock, head_path};
use super::log;
use super::standing::{self, Depth, Standing};

/// Name of the journal beside the chunks manifest.
pub const NAME: &str = "lint_journal.jsonl";

/// A journal. Nothing is read or locked until it is asked for.
#[derive(Clone, Debug)]
pub struct Journal {
    pub(super) path: PathBuf,
    pub(super) context: Context,
}

/// What an append put right. Nothing that anybody was told is recorded was lost by it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Repair {
    /// The journal had no head file: it was checked from its first event, and has one now.
    Adopted {
        /// Events found.
        events: u64,
    },
    /// Events that follow from the head were not in it yet: their writer died, or knows no heads.
    Advanced {
        /// How many.
        events: u64,
    },
    /// The beginning of a line that was never finished was cut off.
    CutOff {
        /// Its length.
        bytes: u64,
    },
    /// A rotation died after the old file was moved; it was finished.
    RotationFinished,
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Repair::Adopted { events } => write!(
                f,
                "it had no head file; all of it was checked, and it has one now: events {events}"
            ),
            Repair::Advanced { events } => write!(
                f,
                "events that follow from the head were taken into it: {events}"
            ),
            Repair::CutOff { bytes } => write!(
                f,
                "the beginning of a line that its writer never finished was cut off: {bytes} bytes"
            ),
            Repair::RotationFinished => f.write_str("an interrupted rotation was finished"),
        }
    }
}

/// What an append gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Appended {
    /// The head now.
    pub head: Head,
    /// What was put right before.
    pub repairs: Vec<Repair>,
    /// Bytes of the journal that were read to find its end.
    pub bytes_read: u64,
}

impl Journal {
    /// The journal at a path, which messages call `shown`.
    pub fn open(path: impl Into<PathBuf>, shown: impl Into<Arc<str>>) -> Self {
        Journal {
            path: path.into(),
            context: Context {
                kind: Kind::Journal,
                file: shown.into(),
            },
        }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends events in one write under one lock; durable when this returns. Only the end of the
    /// journal is looked at, unless it does not fit its head file or has none.
    ///
    /// # Errors
    /// The journal cannot be trusted, and nothing was appended; or the system refuses. After an
    /// error about the head file the events are recorded, and the next append names them in it.
    pub fn append(&self, events: &[JournalEvent]) -> Result<Appended, RecordError> {
        let _lock = Lock::exclusive(&self.path, &self.context)?;
        let mut standing = self.stand()?;
        let appended = if events.is_empty() && !standing.ragged {
            None
        } else {
            Some(log::append(
                &self.path,
                standing.end,
                events,
                &self.context,
            )?)
        };
        if let Some(appended) = appended {
            standing.head.last = appended.last;
            standing.head.bytes = appended.offset + appended.bytes.len() as u64;
        }
        self.write_head(&standing)?;
        Ok(Appended {
            head: standing.head.head(),
            repairs: standing.repairs,
            bytes_read: standing.bytes_read,
        })
    }

    /// The head of the journal as it is, and whether its head file says the same. Only the end is
    /// looked at: the checksum of the last event stands for all of them.
    ///
    /// # Errors
    /// The journal cannot be trusted.
    pub fn head(&self) -> Result<Head, RecordError> {
        let _lock = Lock::shared(&self.path);
        Ok(self.stand()?.head.head())
    }

    /// Whether there is anything: a journal, or the head of one.
    ///
    /// # Errors
    /// The system refuses, or something else than a file has its name.
    pub fn exists(&self) -> Result<bool, RecordError> {
        Ok(files::regular(&self.path, &self.context)?
            || files::regular(&head_path(&self.path), &self.context)?)
    }

    pub(super) fn stand(&self) -> Result<Standing, RecordError> {
        let known = standing::read_head(&self.path, &self.context)?;
        standing::look(&self.path, known, Depth::End, &self.context, |_| {})
    }

    /// Writes the head file where it does not say so already.
    pub(super) fn write_head(&self, standing: &Standing) -> Result<(), RecordError> {
        let empty = standing.known.is_none() && standing.head.head().events == 0;
        if standing.known == Some(standing.head) || empty {
            return Ok(());
        }
        files::replace(
            &head_path(&self.path),
            &standing.head.to_bytes(),
            &self.context,
        )
    }
}
