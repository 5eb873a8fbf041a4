//! Reading a PDF in a process of its own, so that a hostile file cannot take the run with it.
//!
//! The reader has no bound on what it decompresses, and recursion in it could end the process.
//! The child is this program itself; it limits its own memory and processor time before it looks
//! at the file.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use kbc_queries::parse::document::apart::{Answer, Request};
use kbc_queries::parse::document::{Document, DocumentError, ExtractOptions};

/// The hidden command that the child runs.
pub const COMMAND: &str = "read-apart";

/// Memory of the child, in bytes.
const MEMORY: u64 = 2 << 30;

/// Processor time of the child, in seconds.
const SECONDS: u64 = 60;

/// Reads a PDF with the program `program`. `None`: there is no child to be had.
pub fn read(
    program: &Path,
    bytes: &[u8],
    options: &ExtractOptions,
) -> Option<Result<Document, DocumentError>> {
    let mut child = Command::new(program)
        .arg(COMMAND)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let request = postcard::to_stdvec(&Request::new(options)).ok()?;
    let mut stdin = child.stdin.take()?;
    let mut stdout = child.stdout.take()?;
    // The child reads all of its input before it answers, so the two pipes never wait for each
    // other. It may end early instead; then writing fails and its silence says the rest.
    let length = u64::try_from(request.len()).ok()?.to_le_bytes();
    let sent = stdin
        .write_all(&length)
        .and_then(|()| stdin.write_all(&request))
        .and_then(|()| stdin.write_all(bytes));
    drop(stdin);
    let mut answer = Vec::new();
    let received = stdout.read_to_end(&mut answer);
    let status = child.wait();
    let whole = sent.is_ok() && received.is_ok() && status.is_ok_and(|status| status.success());
    let answer = if whole {
        postcard::from_bytes::<Answer>(&answer).ok()
    } else {
        None
    };
    Some(match answer {
        Some(answer) => answer.into_result(),
        None => Err(DocumentError::Damaged(
            "reading it takes more memory or time than any document needs".to_owned(),
        )),
    })
}

/// The child's side: one request on stdin, one answer on stdout.
///
/// # Errors
/// What the system said about the pipes.
pub fn serve() -> std::io::Result<()> {
    limit();
    let mut input = Vec::new();
    std::io::stdin().lock().read_to_end(&mut input)?;
    let wrong = || std::io::Error::from(std::io::ErrorKind::InvalidData);
    let (length, rest) = input.split_first_chunk::<8>().ok_or_else(wrong)?;
    let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| wrong())?;
    let (request, bytes) = rest.split_at_checked(length).ok_or_else(wrong)?;
    let request: Request = postcard::from_bytes(request).map_err(|_| wrong())?;
    let answer = postcard::to_stdvec(&request.read(bytes)).map_err(|_| wrong())?;
    std::io::stdout().lock().write_all(&answer)
}

#[cfg(unix)]
fn limit() {
    // Where a limit cannot be set, the file is still read apart from the run.
    let _ = rlimit::setrlimit(rlimit::Resource::AS, MEMORY, MEMORY);
    let _ = rlimit::setrlimit(rlimit::Resource::CPU, SECONDS, SECONDS);
    let _ = rlimit::setrlimit(rlimit::Resource::CORE, 0, 0);
}

#[cfg(not(unix))]
fn limit() {
    let _ = (MEMORY, SECONDS);
}
