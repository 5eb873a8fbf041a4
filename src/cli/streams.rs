//! What a command says: results on stdout, notes on stderr.
//!
//! A reader that went away ends the writing quietly, and the command ends with its own verdict. A
//! write that fails in another way is a failure of the command: whoever asked did not get the
//! answer. Closed streams are none: the system's runtime has put `/dev/null` in their place.

use std::io::{self, Write};

use crate::render::visible::{self, Layout};

use super::Failure;

/// What a failed write to stdout comes to; a reader that went away is none.
pub(super) fn written(result: io::Result<()>) -> Result<(), Failure> {
    match result {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure(format!("cannot write to stdout: {error}")))
        }
        _ => Ok(()),
    }
}

/// Writes bytes for programs to stdout, as they are.
pub(super) fn write_bytes(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    written(out.write_all(bytes).and_then(|()| out.flush()))
}

/// Writes a text for programs and a line end to stdout, as it is.
pub(super) fn write_out(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    written(writeln!(out, "{text}").and_then(|()| out.flush()))
}

/// Writes a text for people and a line end to stdout. What a terminal would obey, in a file's name
/// for instance, is written out.
pub(super) fn say(text: &str) -> Result<(), Failure> {
    write_out(&visible::text(text, Layout::Lines))
}

/// Says on stderr what was done, on one line. There is nobody to tell if that fails.
pub(super) fn tell(words: &str) {
    let _ = writeln!(io::stderr(), "{}", visible::line(words));
}

/// Says on stderr what is amiss, on one line.
pub(super) fn note(words: &str) {
    tell(&format!("kb: {words}"));
}
