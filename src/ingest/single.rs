//! One whole file, written at once: what scaffolds and migrations give.

use std::io::{self, Write};
use std::path::Path;

/// Why a file was not written. Whatever was there is unchanged.
#[derive(Debug)]
pub enum NotWritten {
    /// Something is there, and may not be overwritten.
    Exists,
    /// What the system said.
    Failed(io::Error),
}

impl From<io::Error> for NotWritten {
    fn from(error: io::Error) -> Self {
        NotWritten::Failed(error)
    }
}

/// Writes a file beside its place, makes it durable and moves it there. Only with `replace` may
/// something be there; without it even a file that appears in the meantime stays.
///
/// # Errors
/// [`NotWritten`].
pub fn write(path: &Path, bytes: &[u8], replace: bool) -> Result<(), NotWritten> {
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    match std::fs::symlink_metadata(path) {
        Ok(_) if !replace => return Err(NotWritten::Exists),
        Ok(metadata) if !metadata.is_file() => {
            return Err(NotWritten::Failed(io::Error::other(
                "what is there is not a regular file",
            )));
        }
        _ => {}
    }
    let mut temporary = beside(folder)?;
    temporary.write_all(bytes)?;
    temporary.as_file().sync_all()?;
    let moved = match replace {
        true => temporary.persist(path).map_err(|error| error.error),
        false => temporary
            .persist_noclobber(path)
            .map_err(|error| error.error),
    };
    match moved {
        Ok(_) => Ok(()),
        Err(error) if !replace && error.kind() == io::ErrorKind::AlreadyExists => {
            Err(NotWritten::Exists)
        }
        Err(error) => Err(NotWritten::Failed(error)),
    }
}

/// A temporary file is its owner's alone; what is written for others is not.
#[cfg(unix)]
fn beside(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    use std::os::unix::fs::PermissionsExt as _;
    tempfile::Builder::new()
        .permissions(std::fs::Permissions::from_mode(0o666))
        .tempfile_in(folder)
}

#[cfg(not(unix))]
fn beside(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    tempfile::NamedTempFile::new_in(folder)
}
