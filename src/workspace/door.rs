//! The one door through which files are opened for reading.
//!
//! A name in a project may belong to a pipe, a socket or a device: opening a pipe waits for a
//! writer who may never come, and some devices never end. So what is no regular file is refused,
//! by a look before it is opened and by another at what was opened, and no file is read beyond a
//! limit. What is *absent*: confinement to the project, which is the walk's, and `File::open`
//! anywhere else; a lint sees to that.
#![expect(clippy::disallowed_methods, reason = "this is the door")]

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::path::Path;

use kbc_queries::system::ReadFailure;

use super::disk::failure;

/// Largest file that is only streamed through, to be hashed or scanned, in bytes.
pub const STREAM_LIMIT: u64 = 16 << 30;

/// Opens a regular file of at most `limit` bytes.
///
/// # Errors
/// It is none, is too large, or the system refuses.
pub fn open(path: &Path, limit: u64) -> Result<File, ReadFailure> {
    is_regular(&std::fs::metadata(path).map_err(|error| failure(&error))?)?;
    let file = match reading().open(path) {
        // Somebody holds a lease on the file, which the attempt has asked back.
        Err(error) if error.kind() == ErrorKind::WouldBlock => File::open(path),
        opened => opened,
    };
    let file = file.map_err(|error| failure(&error))?;
    let metadata = file.metadata().map_err(|error| failure(&error))?;
    is_regular(&metadata)?;
    let bytes = metadata.len();
    if bytes > limit {
        return Err(ReadFailure::TooLarge { bytes, limit });
    }
    Ok(file)
}

/// Reads a regular file of at most `limit` bytes.
///
/// # Errors
/// As [`open`].
pub fn read(path: &Path, limit: u64) -> Result<Vec<u8>, ReadFailure> {
    let file = open(path, limit)?;
    let length = file.metadata().map_or(0, |metadata| metadata.len());
    drain(file, usize::try_from(length).unwrap_or(0), limit)
}

/// Opens what a person named on the command line. That may be a pipe, as `<(command)` is one:
/// whoever names it wants it to be waited for.
///
/// # Errors
/// It is a folder, or the system refuses.
pub fn open_named(path: &Path) -> Result<File, ReadFailure> {
    let file = File::open(path).map_err(|error| failure(&error))?;
    let metadata = file.metadata().map_err(|error| failure(&error))?;
    if metadata.is_dir() {
        return Err(ReadFailure::NotAFile);
    }
    Ok(file)
}

/// Reads what a person named on the command line.
///
/// # Errors
/// As [`open_named`], and what is longer than `limit` bytes.
pub fn read_named(path: &Path, limit: u64) -> Result<Vec<u8>, ReadFailure> {
    drain(open_named(path)?, 0, limit)
}

/// Reads stdin.
///
/// # Errors
/// It is longer than `limit` bytes, or the system refuses.
pub fn read_stdin(limit: u64) -> Result<Vec<u8>, ReadFailure> {
    drain(io::stdin().lock(), 0, limit)
}

/// Opens a file of ours to hold a lock on it, making it if it is not there.
///
/// # Errors
/// It is no regular file, or the system refuses.
pub fn lockable(path: &Path) -> io::Result<File> {
    let file = without_waiting(OpenOptions::new().create(true).truncate(false).write(true))
        .open(path)
        .map_err(|error| match std::fs::metadata(path) {
            Ok(metadata) if !metadata.is_file() => not_a_file(),
            _ => error,
        })?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(not_a_file())
    }
}

/// Opens a record of ours to read it and to append to it, making it if it is not there.
///
/// # Errors
/// It is a link or no regular file, or the system refuses.
pub fn appendable(path: &Path) -> io::Result<File> {
    match std::fs::symlink_metadata(path) {
        Ok(found) if !found.is_file() => return Err(not_a_file()),
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut options = OpenOptions::new();
    options.create(true).read(true).append(true);
    let file = unfollowed(&mut options).open(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(not_a_file())
    }
}

/// Makes the names in a folder durable, where the system can.
///
/// # Errors
/// It is no folder, or the system refuses.
pub fn sync_folder(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        let mut options = OpenOptions::new();
        options.read(true).custom_flags(libc::O_DIRECTORY);
        options.open(path)?.sync_all()?;
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

/// What a reading says, for whoever speaks of errors of the system.
pub fn as_error(failure: ReadFailure) -> io::Error {
    match failure {
        ReadFailure::Absent => ErrorKind::NotFound.into(),
        failure => io::Error::other(failure.to_string()),
    }
}

fn not_a_file() -> io::Error {
    io::Error::other(ReadFailure::NotAFile.to_string())
}

fn is_regular(metadata: &Metadata) -> Result<(), ReadFailure> {
    if metadata.is_file() {
        Ok(())
    } else {
        Err(ReadFailure::NotAFile)
    }
}

fn reading() -> OpenOptions {
    let mut options = OpenOptions::new();
    without_waiting(options.read(true)).clone()
}

/// What a pipe is opened with if one takes the place of the file between two looks: no waiting.
#[cfg(unix)]
fn without_waiting(options: &mut OpenOptions) -> &mut OpenOptions {
    use std::os::unix::fs::OpenOptionsExt;
    options.custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY)
}

#[cfg(not(unix))]
fn without_waiting(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

/// The same for what is not to be followed if it is a link.
#[cfg(unix)]
fn unfollowed(options: &mut OpenOptions) -> &mut OpenOptions {
    use std::os::unix::fs::OpenOptionsExt;
    options.custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY | libc::O_NOFOLLOW)
}

#[cfg(not(unix))]
fn unfollowed(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

/// Reads to the end, or to one byte beyond the limit: a file may grow while it is read.
fn drain(input: impl Read, expected: usize, limit: u64) -> Result<Vec<u8>, ReadFailure> {
    let mut bytes = Vec::with_capacity(expected.saturating_add(1));
    input
        .take(limit.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|error| failure(&error))?;
    let read = bytes.len() as u64;
    if read > limit {
        return Err(ReadFailure::TooLarge { bytes: read, limit });
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;

    #[test]
    fn only_regular_files_within_the_limit() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("a"), "four").unwrap();
        assert_eq!(read(&at("a"), 4), Ok(b"four".to_vec()));
        assert_eq!(
            read(&at("a"), 3),
            Err(ReadFailure::TooLarge { bytes: 4, limit: 3 })
        );
        assert_eq!(read(&at("b"), 4), Err(ReadFailure::Absent));
        assert_eq!(read(folder.path(), 4), Err(ReadFailure::NotAFile));
        assert_eq!(open_named(folder.path()).err(), Some(ReadFailure::NotAFile));
        assert!(lockable(folder.path()).is_err());
        assert!(lockable(&at("lock")).is_ok());
        assert!(appendable(folder.path()).is_err());
        assert!(appendable(&at("record")).is_ok());
        assert!(sync_folder(folder.path()).is_ok());
        assert!(sync_folder(&at("a")).is_err());
        assert_eq!(as_error(ReadFailure::Absent).kind(), ErrorKind::NotFound);
    }

    #[cfg(unix)]
    #[test]
    fn pipes_sockets_and_devices_are_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        let socket = folder.path().join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        for path in [&pipe, &socket, Path::new("/dev/zero")] {
            assert_eq!(read(path, 10), Err(ReadFailure::NotAFile), "{path:?}");
        }
        assert!(lockable(&pipe).is_err());
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(folder.path().join("file"), &link).unwrap();
        for path in [&pipe, &socket, &link] {
            assert!(appendable(path).is_err(), "{path:?}");
        }
        assert!(!folder.path().join("file").exists());
        // As if the pipe had come after the look: opening it does not wait either.
        assert!(reading().open(&pipe).is_ok());
        // What a person names is read, but not for ever.
        let zeros = read_named(Path::new("/dev/zero"), 10);
        assert!(matches!(zeros, Err(ReadFailure::TooLarge { .. })));
    }
}
