//! The disk as the queries' [`System`], confined to the project's root.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use kbc_queries::parse::document::{Document, DocumentError, ExtractOptions};
use kbc_queries::system::{ReadFailure, System};

/// Reads below a root.
pub struct Disk {
    root: PathBuf,
    reader: Option<PathBuf>,
    bytes_read: AtomicU64,
    files_opened: AtomicU64,
}

impl Disk {
    /// A disk that reads below `root`.
    ///
    /// `reader` is the program that reads PDFs apart from this process.
    pub fn new(root: impl Into<PathBuf>, reader: Option<PathBuf>) -> Self {
        Disk {
            root: root.into(),
            reader,
            bytes_read: AtomicU64::new(0),
            files_opened: AtomicU64::new(0),
        }
    }

    /// Bytes read so far.
    pub fn bytes_read(&self) -> u64 {
        self.bytes_read.load(Ordering::Relaxed)
    }

    /// Files opened so far.
    pub fn files_opened(&self) -> u64 {
        self.files_opened.load(Ordering::Relaxed)
    }

    /// Where a path relative to the root is.
    pub fn locate(&self, path: &str) -> PathBuf {
        self.root.join(Path::new(path))
    }
}

impl System for Disk {
    fn read(&self, path: &str, limit: u64) -> Result<Arc<[u8]>, ReadFailure> {
        let bytes = super::door::read(&self.locate(path), limit)?;
        self.files_opened.fetch_add(1, Ordering::Relaxed);
        self.bytes_read
            .fetch_add(bytes.len() as u64, Ordering::Relaxed);
        Ok(bytes.into())
    }

    fn read_apart(
        &self,
        bytes: &[u8],
        options: &ExtractOptions,
    ) -> Option<Result<Document, DocumentError>> {
        super::apart::read(self.reader.as_deref()?, bytes, options)
    }
}

/// An error of the operating system as a read failure.
pub fn failure(error: &std::io::Error) -> ReadFailure {
    match error.kind() {
        ErrorKind::NotFound => ReadFailure::Absent,
        ErrorKind::IsADirectory => ReadFailure::NotAFile,
        // The text of the system's message, without its number, is the same on every run.
        ErrorKind::PermissionDenied => ReadFailure::Other("permission denied".to_owned()),
        _ => ReadFailure::Other(error.to_string()),
    }
}
