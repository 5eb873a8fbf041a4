//! All of a journal, hashed anew, from the first event of the first file that was rotated away.

use std::path::PathBuf;
use std::sync::Arc;

use kbc_queries::record::chain::{BadLine, Fault, Link};
use kbc_queries::record::head::{Head, HeadFile};

use super::error::{Context, RecordError, Trouble};
use super::files::{self, Lock};
use super::journal::Journal;
use super::standing::{self, Depth, read_head, rotated_path};

/// A journal that is sound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sound {
    /// Its head.
    pub head: Head,
    /// Its files and how many events each holds, the oldest first.
    pub files: Vec<(Arc<str>, u64)>,
    /// Events that the head file beside it does not name yet; the next append sees to it.
    pub unnamed: u64,
    /// Whether it has no head file, so that nothing but a head from elsewhere could tell that its
    /// end is missing.
    pub without_head_file: bool,
}

/// What is asked of a journal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Question {
    /// A head from elsewhere: the journal has to be its events, or those and later ones.
    pub head: Option<Head>,
    /// Whether files that were rotated away are taken for what their successor carries of them,
    /// unless the head that is asked for is older.
    pub since_rotation: bool,
}

/// One file of a journal.
struct Part {
    path: PathBuf,
    context: Context,
    known: Option<HeadFile>,
}

/// Looks for the head that was asked for on the way.
struct Wanted {
    head: Option<Head>,
    found: bool,
}

impl Wanted {
    /// Whether the head is the one after this event of a file.
    fn see(&mut self, carried: Option<&Head>, link: Link) {
        let Some(head) = self.head else { return };
        let before = carried.map_or(0, |carried| carried.events);
        if before + link.seq + 1 == head.events {
            self.found = Head::of(head.kind, carried, Some(link)) == head;
        }
    }
}

impl Journal {
    /// Hashes everything anew. Writes nothing.
    ///
    /// # Errors
    /// The first bad line, or what else cannot be trusted.
    pub fn verify(&self, question: &Question) -> Result<Sound, RecordError> {
        let _lock = Lock::shared(&self.path);
        let known = read_head(&self.path, &self.context)?;
        let carried = known.and_then(|known| known.carried);
        // A head from before the rotation can be found only in a file that was rotated away.
        let reaches_back = question
            .head
            .zip(carried)
            .is_some_and(|(asked, carried)| asked.events < carried.events);
        let rotated = if question.since_rotation && !reaches_back {
            Vec::new()
        } else {
            self.rotated(carried)?
        };
        let mut wanted = Wanted {
            head: question.head,
            found: false,
        };
        let begin = match rotated.first() {
            Some(first) => first.known.and_then(|known| known.carried),
            None => carried,
        };
        // The head of nothing, or what the first file that is looked at carries.
        let before = Head::of(self.context.kind, begin.as_ref(), None);
        wanted.found = question.head == Some(before);
        let mut files = Vec::new();
        for part in &rotated {
            let head = part.check(&mut wanted)?;
            let carried = part.known.and_then(|known| known.carried);
            let count = head.events - carried.map_or(0, |carried| carried.events);
            files.push((Arc::clone(&part.context.file), count));
        }
        let standing = standing::look(&self.path, known, Depth::Whole, &self.context, |link| {
            wanted.see(carried.as_ref(), link);
        })?;
        if standing.ragged {
            return Err(self.context.trouble(Trouble::Line(BadLine {
                line: standing.rest_line,
                fault: Fault::Unterminated,
            })));
        }
        let head = standing.head.head();
        files.push((
            Arc::clone(&self.context.file),
            Link::count(standing.head.last),
        ));
        if let Some(asked) = question.head
            && !wanted.found
        {
            return Err(self.context.trouble(if head.events < asked.events {
                let found = head.events;
                if found == 0 && !files::regular(&self.path, &self.context)? {
                    Trouble::Missing { head: asked }
                } else {
                    Trouble::Truncated { head: asked, found }
                }
            } else {
                Trouble::Rewritten { head: asked }
            }));
        }
        Ok(Sound {
            head,
            files,
            unnamed: standing.unnamed,
            without_head_file: standing.known.is_none(),
        })
    }

    /// The files that were rotated away, the oldest first.
    fn rotated(&self, carried: Option<Head>) -> Result<Vec<Part>, RecordError> {
        let mut parts = Vec::new();
        let mut next = carried;
        while let Some(head) = next {
            let path = rotated_path(&self.path, head.events);
            let shown = rotated_path(std::path::Path::new(&*self.context.file), head.events)
                .to_string_lossy()
                .into_owned();
            let context = Context {
                kind: self.context.kind,
                file: shown.as_str().into(),
            };
            let known = read_head(&path, &context)?;
            let Some(known) = known.filter(|_| path.exists()) else {
                let rotated = shown;
                return Err(self.context.trouble(Trouble::RotatedMissing { rotated }));
            };
            // A file without events would carry its own head, and lead here again.
            if known.head() != head || known.last.is_none() {
                let rotated = shown;
                return Err(self.context.trouble(Trouble::RotatedDiffers { rotated }));
            }
            next = known.carried;
            parts.push(Part {
                path,
                context,
                known: Some(known),
            });
        }
        parts.reverse();
        Ok(parts)
    }
}

impl Part {
    /// A file that was rotated away ends where its head says, and grows no more.
    fn check(&self, wanted: &mut Wanted) -> Result<Head, RecordError> {
        let carried = self.known.and_then(|known| known.carried);
        let standing = standing::look(
            &self.path,
            self.known,
            Depth::Whole,
            &self.context,
            |link| wanted.see(carried.as_ref(), link),
        )?;
        if standing.unnamed > 0 || standing.ragged {
            return Err(self.context.trouble(Trouble::RotatedDiffers {
                rotated: self.context.file.to_string(),
            }));
        }
        Ok(standing.head.head())
    }
}
