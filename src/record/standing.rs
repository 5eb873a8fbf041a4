//! Where a journal stands: its head file, its end, and what has to be put right before an append.

use std::fs;
use std::path::{Path, PathBuf};

use kbc_queries::record::chain::{Link, read_line};
use kbc_queries::record::head::HeadFile;
use kbc_queries::record::journal::JournalEvent;

use super::error::{Context, RecordError, Trouble};
use super::files::{self, head_path};
use super::journal::Repair;
use super::lines::{self, Counting};
use super::log::{self, End, Rest};

/// A journal that can be appended to.
#[derive(Debug)]
pub(super) struct Standing {
    /// What its head file says; none where there is none, or it has to be written whatever it says.
    pub known: Option<HeadFile>,
    /// What its head file is to say once everything below is done.
    pub head: HeadFile,
    /// Where the next event goes.
    pub end: End,
    /// The file has something behind its end that is to be cut off or completed.
    pub ragged: bool,
    /// Number of the line that is incomplete, where one is.
    pub rest_line: u64,
    /// What there is to put right.
    pub repairs: Vec<Repair>,
    /// Events that the head file does not name yet.
    pub unnamed: u64,
    /// Bytes of the journal that were read.
    pub bytes_read: u64,
}

/// Reads the head file.
pub(super) fn read_head(path: &Path, context: &Context) -> Result<Option<HeadFile>, RecordError> {
    let Some(bytes) = files::read_small(&head_path(path), context)? else {
        return Ok(None);
    };
    HeadFile::parse(&bytes)
        .map(Some)
        .map_err(|reason| context.trouble(Trouble::HeadFile(reason)))
}

/// How much is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Depth {
    /// The last event that the head file names, and what follows it.
    End,
    /// Everything.
    Whole,
}

/// Looks at a journal whose head file says `known`. Writes nothing. `each` is handed every event
/// that is read on the way forward, from the first one under [`Depth::Whole`].
pub(super) fn look(
    path: &Path,
    known: Option<HeadFile>,
    depth: Depth,
    context: &Context,
    mut each: impl FnMut(Link),
) -> Result<Standing, RecordError> {
    if known.is_none() {
        no_rotated(path, context)?;
    }
    let Some(file) = files::open(path, context)? else {
        return without_file(path, known, context);
    };
    let length = context.doing("read", file.metadata())?.len();
    let mut reader = Counting::new(file);
    let mut from = (0, None);
    if let (Some(known), Depth::End) = (&known, depth)
        && known.bytes <= length
        && context.doing("read", ends_with(&mut reader, known))?
    {
        from = (known.bytes, known.last);
    }
    let (offset, after) = from;
    // Read from the front, the file has to hold the event that the head names.
    let named = known.and_then(|known| known.last);
    let mut found = after;
    let scan = log::scan::<JournalEvent, _>(&mut reader, offset, after, context, |event| {
        if named.is_some_and(|named| named.seq == event.link.seq) {
            found = Some(event.link);
        }
        each(event.link);
    })?;
    if let (Some(known), Some(named)) = (&known, named)
        && found != Some(named)
    {
        let head = known.head();
        let before = known.carried.map_or(0, |carried| carried.events);
        return Err(context.trouble(match found {
            None => Trouble::Truncated {
                head,
                found: before + Link::count(scan.last),
            },
            Some(_) => Trouble::Rewritten { head },
        }));
    }
    let rest = log::rest::<JournalEvent>(&scan, context)?;
    let end = End::of(&scan, rest);
    let unnamed = Link::count(end.last) - Link::count(named);
    let mut repairs = Vec::new();
    match &known {
        None if unnamed > 0 => repairs.push(Repair::Adopted { events: unnamed }),
        Some(_) if unnamed > 0 => repairs.push(Repair::Advanced { events: unnamed }),
        _ => {}
    }
    if rest == Rest::Torn {
        let bytes = scan.rest.len() as u64;
        repairs.push(Repair::CutOff { bytes });
    }
    Ok(Standing {
        known,
        head: HeadFile {
            bytes: end.length(),
            carried: known.and_then(|known| known.carried),
            last: end.last,
        },
        end,
        ragged: rest != Rest::Nothing,
        rest_line: scan.rest_line,
        repairs,
        unnamed,
        bytes_read: reader.bytes_read(),
    })
}

fn ends_with<R: std::io::Read + std::io::Seek>(
    reader: &mut R,
    known: &HeadFile,
) -> std::io::Result<bool> {
    if known.last.is_none() {
        return Ok(true);
    }
    let line = lines::last(reader, known.bytes)?;
    let link = line.and_then(|(_, line)| read_line::<JournalEvent>(&line).ok());
    Ok(link.map(|event| event.link) == known.last)
}

fn without_file(
    path: &Path,
    known: Option<HeadFile>,
    context: &Context,
) -> Result<Standing, RecordError> {
    let begin = |known, carried, repairs| Standing {
        known,
        head: HeadFile {
            bytes: 0,
            carried,
            last: None,
        },
        end: End {
            last: None,
            keep: 0,
            looked: 0,
            line_end: false,
        },
        ragged: false,
        rest_line: 1,
        repairs,
        unnamed: 0,
        bytes_read: 0,
    };
    let Some(head) = known else {
        return Ok(begin(known, None, Vec::new()));
    };
    if head.last.is_none() {
        return Ok(begin(known, head.carried, Vec::new()));
    }
    // A rotation that died after the file was moved left its head in both places.
    let rotated = rotated_path(path, head.head().events);
    let moved = files::regular(&rotated, context)?
        && files::read_small(&head_path(&rotated), context)? == Some(head.to_bytes());
    if moved {
        return Ok(begin(
            known,
            Some(head.head()),
            vec![Repair::RotationFinished],
        ));
    }
    Err(context.trouble(Trouble::Missing { head: head.head() }))
}

/// `lint_journal.jsonl` with 12 events is rotated to `lint_journal.12.jsonl`.
pub(super) fn rotated_path(path: &Path, events: u64) -> PathBuf {
    renamed(path, &events.to_string())
}

/// A journal's path with something between its stem and its extension.
pub(super) fn renamed(path: &Path, between: &str) -> PathBuf {
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(".");
    name.push(between);
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

/// A journal without head file begins one, and that must not hide that an older one goes before it.
fn no_rotated(path: &Path, context: &Context) -> Result<(), RecordError> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    // A folder that cannot be listed cannot be written into with more success.
    let Ok(entries) = fs::read_dir(folder) else {
        return Ok(());
    };
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let extension = path.extension().map_or_else(String::new, |extension| {
        format!(".{}", extension.to_string_lossy())
    });
    let rotated = entries.flatten().find_map(|entry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        let between = name
            .strip_prefix(&*stem)?
            .strip_prefix('.')?
            .strip_suffix(&extension)?;
        (!between.is_empty() && between.bytes().all(|byte| byte.is_ascii_digit())).then_some(name)
    });
    match rotated {
        Some(rotated) => Err(context.trouble(Trouble::HeadFileMissing { rotated })),
        None => Ok(()),
    }
}
