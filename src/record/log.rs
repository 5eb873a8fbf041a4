//! What journals and histories share: reading a stretch of a chain, and one write at its end.

use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use kbc_queries::commit::strict;
use kbc_queries::record::chain::{BadLine, Chained, Event, Fault, Link, Verifier};
use kbc_queries::record::chain::{follows, read_line, seal};

use crate::workspace::door;

use super::error::{Context, RecordError, Trouble};
use super::lines::{self, Ending};

/// What a stretch of a record holds.
#[derive(Debug)]
pub(super) struct Scan {
    /// Where the chain stands behind its last whole line.
    pub last: Option<Link>,
    /// Offset behind the last line end.
    pub whole: u64,
    /// What follows the last line end.
    pub rest: Vec<u8>,
    /// Number of the line that `rest` would be, from 1.
    pub rest_line: u64,
}

/// Reads from an offset to the end. The offset is 0, or known to be behind the event `after`.
pub(super) fn scan<E: Event, R: Read + Seek>(
    reader: &mut R,
    from: u64,
    after: Option<Link>,
    context: &Context,
    mut each: impl FnMut(Chained<E>),
) -> Result<Scan, RecordError> {
    let mut verifier = Verifier::<E>::after(after);
    let read = lines::forward(reader, from, |line| {
        if let Some(event) = verifier.line(line)? {
            each(event);
        }
        Ok::<(), BadLine>(())
    });
    let bad = match context.doing("read", read)? {
        Ok(Ending::Rest { whole, rest }) => {
            let lines = context.doing("read", lines_before(reader, from, !rest.is_empty()))?;
            return Ok(Scan {
                last: verifier.last(),
                whole: from + whole,
                rest,
                rest_line: lines + verifier.lines() + 1,
            });
        }
        Ok(Ending::TooLong) => verifier.broken_off(Fault::TooLong),
        Err(bad) => bad,
    };
    let lines = context.doing("read", lines_before(reader, from, true))?;
    Err(context.trouble(Trouble::Line(BadLine {
        line: lines + bad.line,
        fault: bad.fault,
    })))
}

/// Line ends before an offset, counted only where somebody is going to be told.
pub(super) fn lines_before<R: Read + Seek>(
    reader: &mut R,
    end: u64,
    needed: bool,
) -> io::Result<u64> {
    if !needed || end == 0 {
        return Ok(0);
    }
    reader.seek(SeekFrom::Start(0))?;
    let mut reader = reader.take(end);
    let mut buffer = vec![0; 1 << 16];
    let mut count = 0;
    loop {
        let read = reader.read(&mut buffer)?;
        if read == 0 {
            return Ok(count);
        }
        let ends = buffer
            .iter()
            .take(read)
            .filter(|byte| **byte == b'\n')
            .count();
        count += ends as u64;
    }
}

/// What stands behind the last line end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rest {
    /// Nothing.
    Nothing,
    /// A whole event that follows; only its line end was not written.
    Event(Link),
    /// The beginning of an event: its writer died, and was never told that it is recorded.
    Torn,
}

/// Tells an interrupted append from anything else.
pub(super) fn rest<E: Event>(scan: &Scan, context: &Context) -> Result<Rest, RecordError> {
    let rest = scan.rest.as_slice();
    if rest.is_empty() {
        return Ok(Rest::Nothing);
    }
    let sound =
        read_line::<E>(rest).and_then(|event| follows(&event, scan.last).map(|()| event.link));
    if let Ok(link) = sound {
        return Ok(Rest::Event(link));
    }
    // The first key of an event is the first of its own: those of the chain come later.
    let beginning = format!("{{\"{}\":", E::KEYS.first().unwrap_or(&""));
    let begins = rest.starts_with(beginning.as_bytes()) || beginning.as_bytes().starts_with(rest);
    // Part of an object is never JSON. And a file system may have kept the length and lost the bytes.
    let broken = std::str::from_utf8(rest).is_ok_and(|text| strict::parse(text).is_err())
        || std::str::from_utf8(rest).is_err();
    if (begins && broken) || rest.iter().all(|byte| *byte == 0) {
        return Ok(Rest::Torn);
    }
    Err(context.trouble(Trouble::Line(BadLine {
        line: scan.rest_line,
        fault: Fault::Unterminated,
    })))
}

/// Where the next event goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    /// Where the chain stands, a whole event without line end counted.
    pub last: Option<Link>,
    /// Length up to which the file is kept.
    pub keep: u64,
    /// Length of the file when it was looked at.
    pub looked: u64,
    /// Whether a line end has to be written before anything else.
    pub line_end: bool,
}

impl End {
    /// The end of a scanned record.
    pub(super) fn of(scan: &Scan, rest: Rest) -> Self {
        let looked = scan.whole + scan.rest.len() as u64;
        match rest {
            Rest::Event(link) => End {
                last: Some(link),
                keep: looked,
                looked,
                line_end: true,
            },
            Rest::Nothing | Rest::Torn => End {
                last: scan.last,
                keep: scan.whole,
                looked,
                line_end: false,
            },
        }
    }

    /// Length of the file once the line end is written.
    pub(super) fn length(&self) -> u64 {
        self.keep + u64::from(self.line_end)
    }
}

/// Events that were appended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Appended {
    /// Where the chain stands now.
    pub last: Option<Link>,
    /// Where the first of their lines begins.
    pub offset: u64,
    /// The lines.
    pub bytes: Vec<u8>,
}

/// Appends in one write, durable when this returns. Whoever calls holds the lock and has looked at
/// the end. On error the file is as long as before, if the system lets it be.
pub(super) fn append<E: Event>(
    path: &Path,
    end: End,
    events: &[E],
    context: &Context,
) -> Result<Appended, RecordError> {
    let mut bytes = Vec::new();
    if end.line_end {
        bytes.push(b'\n');
    }
    let begin = bytes.len();
    let mut last = end.last;
    for event in events {
        let link = seal(&mut bytes, event, last)
            .map_err(|reason| context.trouble(Trouble::Event(reason)))?;
        last = Some(link);
    }
    let write = || -> io::Result<()> {
        let mut file = door::appendable(path)?;
        // Somebody who takes no lock may have written: what is not known is not cut off.
        if file.metadata()?.len() != end.looked {
            return Err(io::Error::other("it changed meanwhile, without its lock"));
        }
        if end.looked > end.keep {
            file.set_len(end.keep)?;
        }
        let written = file.write_all(&bytes).and_then(|()| file.sync_data());
        if written.is_err() {
            // Half a line is cut off by the next append anyway.
            let _ = file.set_len(end.keep);
        }
        written
    };
    context.doing("append to", write())?;
    bytes.drain(..begin);
    Ok(Appended {
        last,
        offset: end.length(),
        bytes,
    })
}
