//! Setting a journal aside: rotated, with its head carried on, or abandoned.

use std::fs;
use std::path::{Path, PathBuf};

use kbc_queries::record::head::{Head, HeadFile};

use super::check::Question;
use super::error::{RecordError, Trouble};
use super::files::{self, Lock, head_path};
use super::journal::Journal;
use super::standing::{renamed, rotated_path};

/// What became of a rotated journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rotated {
    /// Where its file is now.
    pub to: PathBuf,
    /// The head that the new one carries. It is the old one's: rotation adds no event.
    pub head: Head,
}

impl Journal {
    /// Moves a sound journal to `<stem>.<events>.<extension>` and begins a new one that carries its
    /// head, so that heads from elsewhere keep holding. `None`: it has no event to move.
    ///
    /// # Errors
    /// The journal is not sound, the other name is taken, or the system refuses.
    pub fn rotate(&self) -> Result<Option<Rotated>, RecordError> {
        // An interrupted append or rotation is put right first, and the head file written.
        self.append(&[])?;
        let question = Question {
            since_rotation: true,
            ..Question::default()
        };
        self.verify(&question)?;
        let _lock = Lock::exclusive(&self.path, &self.context)?;
        let standing = self.stand()?;
        self.write_head(&standing)?;
        if standing.head.last.is_none() {
            return Ok(None);
        }
        let head = standing.head.head();
        let to = rotated_path(&self.path, head.events);
        let bytes = standing.head.to_bytes();
        // A rotation that died before it moved the file left exactly this head file.
        let head_is_there = files::read_small(&head_path(&to), &self.context)?;
        if head_is_there.as_ref().is_some_and(|found| *found != bytes) {
            return Err(self.taken(&head_path(&to)));
        }
        if fs::symlink_metadata(&to).is_ok() {
            return Err(self.taken(&to));
        }
        files::replace(&head_path(&to), &bytes, &self.context)?;
        self.context.doing("rotate", fs::rename(&self.path, &to))?;
        self.begin(Some(head))?;
        Ok(Some(Rotated { to, head }))
    }

    /// Moves a journal that cannot be trusted, with its head file, to `<stem>.abandoned-<n>` and
    /// begins a new one that carries nothing: heads from elsewhere hold no more. Returns where the
    /// files went.
    ///
    /// # Errors
    /// The system refuses.
    pub fn abandon(&self) -> Result<Vec<PathBuf>, RecordError> {
        let _lock = Lock::exclusive(&self.path, &self.context)?;
        let from = [self.path.clone(), head_path(&self.path)];
        let mut number = 1u32;
        let free = loop {
            let to = renamed(&self.path, &format!("abandoned-{number}"));
            let to = [head_path(&to), to];
            if to.iter().all(|to| fs::symlink_metadata(to).is_err()) {
                let [head, journal] = to;
                break [journal, head];
            }
            number += 1;
        };
        let mut moved = Vec::new();
        for (from, to) in from.iter().zip(free) {
            if fs::symlink_metadata(from).is_ok() {
                self.context.doing("set aside", fs::rename(from, &to))?;
                moved.push(to);
            }
        }
        self.begin(None)?;
        Ok(moved)
    }

    /// The head file of a journal without events.
    fn begin(&self, carried: Option<Head>) -> Result<(), RecordError> {
        let head = HeadFile {
            bytes: 0,
            carried,
            last: None,
        };
        files::replace(&head_path(&self.path), &head.to_bytes(), &self.context)?;
        files::sync_folder(&self.path, &self.context)
    }

    fn taken(&self, path: &Path) -> RecordError {
        self.context
            .trouble(Trouble::Exists(path.display().to_string()))
    }
}
