//! The one door to the world.
//!
//! Queries never open a file. What they need of a file's bytes they ask of the [`System`] on the
//! database: the disk in a command, memory in a test, editor buffers over the disk in an editor.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::parse::document::{Document, DocumentError, ExtractOptions};

/// BLAKE3 of a file's bytes. It detects change inside the build and never leaves `.kb/`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(pub [u8; 32]);

/// Written as one run of bytes: caches hold tens of thousands of them.
impl Serialize for Fingerprint {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Fingerprint {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <&[u8]>::deserialize(deserializer)?
            .try_into()
            .map(Fingerprint)
            .map_err(|_| serde::de::Error::custom("a fingerprint has 32 bytes"))
    }
}

impl Fingerprint {
    /// The fingerprint of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Fingerprint(*blake3::hash(bytes).as_bytes())
    }

    /// A fingerprint of a serialisable value under a domain, by way of its canonical JSON.
    pub fn of_value<T: Serialize + ?Sized>(domain: &str, value: &T) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key(domain);
        // A value that cannot be serialised has no map with non-string keys in this code base;
        // should one appear, its error text still tells two different values apart from success.
        if let Err(error) = serde_json::to_writer(&mut hasher, value) {
            hasher.update(error.to_string().as_bytes());
        }
        Fingerprint(*hasher.finalize().as_bytes())
    }

    /// Combines parts that are themselves fingerprints or short byte strings, unambiguously.
    pub fn combine<'a>(domain: &str, parts: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key(domain);
        for part in parts {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        Fingerprint(*hasher.finalize().as_bytes())
    }
}

/// A fingerprint of bytes that come in pieces.
#[derive(Default)]
pub struct FingerprintHasher(blake3::Hasher);

impl FingerprintHasher {
    /// The next piece.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The fingerprint of all pieces.
    pub fn finish(&self) -> Fingerprint {
        Fingerprint(*self.0.finalize().as_bytes())
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for byte in &self.0[..6] {
            write!(f, "{byte:02x}")?;
        }
        f.write_str("…")
    }
}

/// Why a file could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ReadFailure {
    /// There is no such file.
    Absent,
    /// It is a directory, a socket or something else without bytes.
    NotAFile,
    /// It is larger than the limit in force; sizes in bytes.
    TooLarge {
        /// Size of the file.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// Its bytes are no longer those of the fingerprint that the run started from.
    Changed,
    /// What the operating system said.
    Other(String),
}

impl fmt::Display for ReadFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadFailure::Absent => f.write_str("there is no such file"),
            ReadFailure::NotAFile => f.write_str("it is not a regular file"),
            ReadFailure::TooLarge { bytes, limit } => {
                write!(f, "it has {bytes} bytes, more than the limit of {limit}")
            }
            ReadFailure::Changed => f.write_str("it changed while it was being read"),
            ReadFailure::Other(reason) => f.write_str(reason),
        }
    }
}

/// Reads files by their path relative to the project root, written with `/`.
pub trait System: Send + Sync {
    /// The bytes of a file of at most `limit` bytes.
    fn read(&self, path: &str, limit: u64) -> Result<Arc<[u8]>, ReadFailure>;

    /// Reads a PDF apart from this process, where the system can: the reader of that format has no
    /// bound of its own on memory. `None`: it is read here.
    fn read_apart(
        &self,
        bytes: &[u8],
        options: &ExtractOptions,
    ) -> Option<Result<Document, DocumentError>> {
        let _ = (bytes, options);
        None
    }
}
