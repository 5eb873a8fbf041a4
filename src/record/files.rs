//! Locks, and the files beside a record: its lock and its head.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use crate::workspace::door;

use super::error::{Context, RecordError, Trouble};
use super::paths::beside;

/// A head file is a few hundred bytes.
const HEAD_LIMIT: u64 = 1 << 16;

/// A hold on a record, on the file `<record>.lock`, which stays behind (contract §6.1). Dropped, it
/// is free again, also when the process dies.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Waits until nobody else holds it, and takes it.
    pub(super) fn exclusive(path: &Path, context: &Context) -> Result<Self, RecordError> {
        let path = lock_path(path);
        regular(&path, context)?;
        let file = door::lockable(&path).and_then(|file| file.lock().map(|()| file));
        Ok(Lock {
            _file: context.doing("lock", file)?,
        })
    }

    /// Waits until nobody writes. Makes no file: where nobody ever wrote, or the file cannot be
    /// opened, there is nothing to wait for.
    pub(super) fn shared(path: &Path) -> Option<Self> {
        let path = lock_path(path);
        if !fs::symlink_metadata(&path).is_ok_and(|found| found.is_file()) {
            return None;
        }
        let file = door::open(&path, door::STREAM_LIMIT).ok()?;
        file.lock_shared().ok()?;
        Some(Lock { _file: file })
    }
}

/// The lock file of a record.
#[must_use]
pub fn lock_path(path: &Path) -> PathBuf {
    beside(path, ".lock")
}

/// The head file of a journal.
#[must_use]
pub fn head_path(path: &Path) -> PathBuf {
    beside(path, ".head")
}

/// Whether there is a regular file. A link could lead out of the project, and a pipe would make
/// whoever opens it wait.
pub(super) fn regular(path: &Path, context: &Context) -> Result<bool, RecordError> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_file() => Ok(true),
        Ok(_) => Err(context.trouble(Trouble::NotAFile(path.display().to_string()))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => context.doing("look at", Err(error)),
    }
}

/// Opens a record for reading, where there is one.
pub(super) fn open(path: &Path, context: &Context) -> Result<Option<File>, RecordError> {
    if !regular(path, context)? {
        return Ok(None);
    }
    let file = door::open(path, door::STREAM_LIMIT).map_err(door::as_error);
    context.doing("read", file).map(Some)
}

/// The bytes of a head file, where there is one.
pub(super) fn read_small(path: &Path, context: &Context) -> Result<Option<Vec<u8>>, RecordError> {
    let Some(file) = open(path, context)? else {
        return Ok(None);
    };
    let mut bytes = Vec::new();
    let read = file.take(HEAD_LIMIT).read_to_end(&mut bytes);
    context.doing("read the head file of", read)?;
    Ok(Some(bytes))
}

/// Puts a small file in place of another, all of it or nothing. Whoever calls holds the lock.
pub(super) fn replace(path: &Path, bytes: &[u8], context: &Context) -> Result<(), RecordError> {
    regular(path, context)?;
    let temporary = beside(path, ".tmp");
    let write = || -> io::Result<()> {
        match fs::remove_file(&temporary) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file = File::create_new(&temporary)?;
        file.write_all(bytes)?;
        // A rename that reaches the disk before the bytes would leave an empty file.
        file.sync_data()?;
        fs::rename(&temporary, path)
    };
    let result = write();
    if result.is_err() {
        // What is left is removed by the next one that writes.
        let _ = fs::remove_file(&temporary);
    }
    context.doing("write the head file of", result)
}

/// Makes names in the folder of a file durable.
pub(super) fn sync_folder(path: &Path, context: &Context) -> Result<(), RecordError> {
    let folder = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    context.doing("make durable", door::sync_folder(folder))
}
