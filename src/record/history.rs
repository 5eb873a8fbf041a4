//! The history of one card, beside it: `cards/a.md` has `cards/a.history.jsonl`.
//!
//! There is no head file per card; what a history is held against is the card's own `card_hash`, and
//! a head that somebody keeps ([`Head`], as for journals).

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kbc_queries::commit::hash::Digest;
use kbc_queries::parse::card::Card;
use kbc_queries::record::Kind;
use kbc_queries::record::chain::{BadLine, Chained, Fault, Link, read_line};
use kbc_queries::record::head::Head;
use kbc_queries::record::history::{Change, HistoryEvent};

use crate::workspace::door;

use super::clock::Clock;
use super::error::{Context, RecordError, Trouble};
use super::files::{self, Lock};
use super::lines;
use super::log::{self, End, Rest, Scan};

/// What a history's name ends with, in place of the card's `.md`.
const SUFFIX: &str = ".history.jsonl";

/// A card's history. Nothing is read or locked until it is asked for.
#[derive(Clone, Debug)]
pub struct History {
    path: PathBuf,
    context: Context,
}

/// An event that was appended, so that it can be taken back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    offset: u64,
    bytes: Vec<u8>,
    /// Where the history stands with it.
    pub link: Link,
    /// Whether the file was not there before.
    began: bool,
}

/// A new version of a card.
#[derive(Clone, Copy, Debug)]
pub struct Version<'a> {
    /// The card as it is now.
    pub card: &'a Card,
    /// Its hash.
    pub hash: Digest,
    /// The hash that it carried before, where it carried one.
    pub carried: Option<Digest>,
    /// Why there is an event.
    pub change: Change,
}

impl History {
    /// The history of the card at a path, which messages call `shown`. A path that is a history's
    /// already is taken as it is.
    pub fn of_card(card: &Path, shown: &str) -> Self {
        let path = history_path(card);
        let file: Arc<str> = history_path(Path::new(shown)).to_string_lossy().into();
        Self::at(path, file)
    }

    fn at(path: PathBuf, file: Arc<str>) -> Self {
        History {
            path,
            context: Context {
                kind: Kind::History,
                file,
            },
        }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// As messages call it.
    #[must_use]
    pub fn shown(&self) -> &str {
        &self.context.file
    }

    /// Hands every event to `each`, the oldest first, and tells where the history stands. All of it
    /// is hashed anew. An event whose writer died before its line end counts; half of one does not.
    ///
    /// # Errors
    /// HIST-001: the first bad line. The events before it were handed on.
    pub fn read(
        &self,
        mut each: impl FnMut(Chained<HistoryEvent>),
    ) -> Result<Option<Link>, RecordError> {
        let _lock = Lock::shared(&self.path);
        let Some(mut file) = files::open(&self.path, &self.context)? else {
            return Ok(None);
        };
        let scan = log::scan(&mut file, 0, None, &self.context, &mut each)?;
        let end = End::of(&scan, log::rest::<HistoryEvent>(&scan, &self.context)?);
        if end.last != scan.last
            && let Ok(event) = read_line(&scan.rest)
        {
            each(event);
        }
        Ok(end.last)
    }

    /// Hashes all of it anew.
    ///
    /// # Errors
    /// HIST-001: the first bad line.
    pub fn validate(&self) -> Result<Option<Link>, RecordError> {
        self.read(|_| {})
    }

    /// The head of a history that stands at `last`.
    #[must_use]
    pub fn head(last: Option<Link>) -> Head {
        Head::of(Kind::History, None, last)
    }

    /// The last event. Only the end of the file is read, and only its line is hashed.
    ///
    /// # Errors
    /// HIST-001: the end of the file is no event.
    pub fn last(&self) -> Result<Option<Chained<HistoryEvent>>, RecordError> {
        let _lock = Lock::shared(&self.path);
        Ok(self.end()?.map(|(event, _)| event))
    }

    /// Whether the last event says that the card is retracted.
    ///
    /// # Errors
    /// HIST-001: the end of the file is no event, so nobody knows.
    pub fn is_tombstoned(&self) -> Result<bool, RecordError> {
        Ok(self.last()?.is_some_and(|last| last.event.is_retracted))
    }

    /// Appends the event of a new version; durable when this returns. `None`: the history says so
    /// already. The end of the history is looked at; [`History::validate`] looks at all of it.
    ///
    /// # Errors
    /// HIST-001: the history cannot be trusted, or the system refuses. Nothing was appended.
    pub fn append(
        &self,
        version: &Version<'_>,
        clock: Clock,
    ) -> Result<Option<Written>, RecordError> {
        let _lock = Lock::exclusive(&self.path, &self.context)?;
        let began = !files::regular(&self.path, &self.context)?;
        let found = self.end()?;
        let last = found.as_ref().map(|(event, _)| &event.event);
        let known = match (version.change, last) {
            (Change::Content, Some(last)) => last.new_card_hash == version.hash,
            (Change::Retract, last) => last.is_some_and(|last| last.is_retracted),
            (Change::Unretract, last) => !last.is_some_and(|last| last.is_retracted),
            (Change::Content, None) => false,
        };
        if known {
            return Ok(None);
        }
        let event = HistoryEvent::next(
            last,
            version.card,
            version.hash,
            version.carried,
            version.change,
            clock.now(),
        );
        let end = match &found {
            Some((_, end)) => *end,
            None => self.beginning()?,
        };
        let appended = log::append(&self.path, end, &[event], &self.context)?;
        if began {
            files::sync_folder(&self.path, &self.context)?;
        }
        Ok(appended.last.map(|link| Written {
            offset: appended.offset,
            bytes: appended.bytes,
            link,
            began,
        }))
    }

    /// Takes an event back, if the file still ends with exactly its bytes.
    ///
    /// # Errors
    /// Something was appended since, or the system refuses; the file is as it was.
    pub fn rollback(&self, written: &Written) -> Result<(), RecordError> {
        let _lock = Lock::exclusive(&self.path, &self.context)?;
        let not_ours = || self.context.trouble(Trouble::NotOurs);
        if !files::regular(&self.path, &self.context)? {
            return Err(not_ours());
        }
        let file = door::appendable(&self.path);
        let mut file = self.context.doing("open", file)?;
        let length = self.context.doing("read", file.metadata())?.len();
        if length != written.offset + written.bytes.len() as u64 {
            return Err(not_ours());
        }
        let mut tail = Vec::new();
        let read = file
            .seek(SeekFrom::Start(written.offset))
            .and_then(|_| file.read_to_end(&mut tail));
        self.context.doing("read", read)?;
        if tail != written.bytes {
            return Err(not_ours());
        }
        let undone = if written.began && written.offset == 0 {
            fs::remove_file(&self.path)
        } else {
            file.set_len(written.offset).and_then(|()| file.sync_data())
        };
        self.context.doing("take back the last event of", undone)
    }

    /// The last event and where the next one goes. `None`: there is no event.
    fn end(&self) -> Result<Option<(Chained<HistoryEvent>, End)>, RecordError> {
        let Some(mut file) = files::open(&self.path, &self.context)? else {
            return Ok(None);
        };
        let length = self.context.doing("read", file.metadata())?.len();
        let whole = self
            .context
            .doing("read", lines::whole(&mut file, length))?;
        let found = self.context.doing("read", lines::last(&mut file, whole))?;
        let last = match found {
            None => None,
            Some((at, line)) => match read_line::<HistoryEvent>(&line) {
                Ok(event) => Some(event),
                Err(fault) => return Err(self.bad(&mut file, at, fault)?),
            },
        };
        let mut rest = Vec::new();
        let read = file
            .seek(SeekFrom::Start(whole))
            .and_then(|_| file.read_to_end(&mut rest));
        self.context.doing("read", read)?;
        let scan = Scan {
            last: last.as_ref().map(|event| event.link),
            whole,
            rest,
            rest_line: 0,
        };
        let kind = match log::rest::<HistoryEvent>(&scan, &self.context) {
            Ok(kind) => kind,
            // The number of the line is known only to whoever reads all of them.
            Err(_) => return Err(self.bad(&mut file, whole, Fault::Unterminated)?),
        };
        let end = End::of(&scan, kind);
        let last = match kind {
            Rest::Event(_) => read_line(&scan.rest).ok(),
            Rest::Nothing | Rest::Torn => last,
        };
        Ok(last.map(|event| (event, end)))
    }

    /// Where the first event goes: over half of one, or blank lines.
    fn beginning(&self) -> Result<End, RecordError> {
        let Some(mut file) = files::open(&self.path, &self.context)? else {
            return Ok(End {
                last: None,
                keep: 0,
                looked: 0,
                line_end: false,
            });
        };
        let scan = log::scan::<HistoryEvent, _>(&mut file, 0, None, &self.context, |_| {})?;
        let rest = log::rest::<HistoryEvent>(&scan, &self.context)?;
        Ok(End::of(&scan, rest))
    }

    fn bad(&self, file: &mut File, at: u64, fault: Fault) -> Result<RecordError, RecordError> {
        let before = log::lines_before(file, at, true);
        let line = self.context.doing("read", before)? + 1;
        Ok(self.context.trouble(Trouble::Line(BadLine { line, fault })))
    }
}

/// Where the history of a card is. A history's own path is given back.
#[must_use]
pub fn history_path(card: &Path) -> PathBuf {
    let name = card.file_name().unwrap_or_default().to_string_lossy();
    if name.ends_with(SUFFIX) {
        return card.to_path_buf();
    }
    let mut history = match card.extension() {
        Some(extension) if extension == "md" => card.file_stem().unwrap_or_default(),
        _ => card.file_name().unwrap_or_default(),
    }
    .to_owned();
    history.push(SUFFIX);
    card.with_file_name(history)
}

/// The card of a history. A card's own path is given back.
#[must_use]
pub fn card_path(history: &Path) -> PathBuf {
    let name = history.file_name().unwrap_or_default().to_string_lossy();
    match name.strip_suffix(SUFFIX) {
        Some(stem) => history.with_file_name(format!("{stem}.md")),
        None => history.to_path_buf(),
    }
}
