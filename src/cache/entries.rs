//! What is stored of each file.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use kbc_queries::check::Outcome;
use kbc_queries::check::card::{CardSummary, EdgeSummary, IdSummary};
use kbc_queries::diagnostic::Diagnostic;
use kbc_queries::input::FileStatus;
use kbc_queries::system::Fingerprint;

use crate::workspace::stamp::Stamp;

/// A source id as stored: the first half of its BLAKE3. Ids are compared far more often than shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct NameKey([u8; 16]);

impl NameKey {
    /// The key of an id.
    pub fn of(id: &str) -> Self {
        let hash = Fingerprint::of(id.as_bytes()).0;
        let mut half = [0; 16];
        half.copy_from_slice(&hash[..16]);
        NameKey(half)
    }
}

/// A value that is stored with its owner but read only when asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Packed<T> {
    bytes: Vec<u8>,
    of: std::marker::PhantomData<fn() -> T>,
}

impl<T: Serialize + serde::de::DeserializeOwned> Packed<T> {
    /// Packs a value.
    pub fn pack(value: &T) -> Option<Self> {
        let bytes = super::encode(value)?;
        Some(Packed {
            bytes,
            of: std::marker::PhantomData,
        })
    }

    /// The value. `None` only if the cache is damaged in a way that nothing else noticed.
    pub fn unpack(&self) -> Option<T> {
        super::decode(&self.bytes)
    }
}

/// What the last look at a file found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRecord {
    /// Its stamp, unless it was racy or there is no file.
    pub stamp: Option<Stamp>,
    /// Its bytes or what was wrong.
    pub status: FileStatus,
    /// SHA-256 of its bytes, once somebody asked for it.
    pub sha256: Option<[u8; 32]>,
}

/// What was derived from a source, besides its chunks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceReport {
    /// Fingerprint of everything it was derived from.
    pub key: Fingerprint,
    /// What is wrong or noteworthy about it.
    #[serde(with = "as_json")]
    pub diagnostics: Vec<Diagnostic>,
    /// Whether it gives no chunks.
    pub failed: bool,
    /// Pages.
    pub page_count: u32,
    /// Chunks.
    pub chunk_count: u32,
}

/// What was established about one citation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CitationEntry {
    /// The source it names.
    pub source: Option<NameKey>,
    /// The source its chunk id spells, if that is another one.
    pub other: Option<NameKey>,
    /// Fingerprint of what those names led to.
    pub binding: Fingerprint,
    /// The verdict.
    pub outcome: Outcome,
    /// What is wrong or noteworthy, placed in the card.
    #[serde(with = "as_json")]
    pub diagnostics: Vec<Diagnostic>,
}

/// What was established about one card.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CardEntry {
    /// Fingerprint of everything it was derived from.
    pub key: Fingerprint,
    /// Fingerprint of the card's bytes, folder and the project's policy: what its own findings
    /// and its citations' text depend on.
    pub own_key: Fingerprint,
    /// Fingerprint of the reading's row in the matrix.
    pub reading_key: Fingerprint,
    /// The reading it counts under.
    pub reading: Option<Arc<str>>,
    /// Its id.
    pub id: Option<IdSummary>,
    /// Its edges.
    pub edges: Vec<EdgeSummary>,
    /// What manifests need.
    pub summary: Option<Packed<CardSummary>>,
    /// What is wrong with the card itself.
    #[serde(with = "as_json")]
    pub diagnostics: Vec<Diagnostic>,
    /// Its citations, in order.
    pub citations: Vec<CitationEntry>,
}

/// A file of a bucket of sources.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredSource {
    /// Its path.
    pub path: Arc<str>,
    /// The file.
    pub file: FileRecord,
    /// What was derived.
    pub report: Option<Arc<SourceReport>>,
}

/// A file of a bucket of cards.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredCard {
    /// Its path.
    pub path: Arc<str>,
    /// The file.
    pub file: FileRecord,
    /// What was derived.
    pub entry: Option<Arc<CardEntry>>,
}

/// A file of a bucket of other tracked files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredOther {
    /// Its path.
    pub path: Arc<str>,
    /// The file.
    pub file: FileRecord,
}

/// Diagnostics hold values of any shape, which the compact format cannot read back by itself.
mod as_json {
    use serde::de::Error as _;
    use serde::ser::Error as _;
    use serde::{Deserialize, Deserializer, Serializer};

    use kbc_queries::diagnostic::Diagnostic;

    pub fn serialize<S: Serializer>(
        diagnostics: &[Diagnostic],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        if diagnostics.is_empty() {
            return serializer.serialize_str("");
        }
        let text = serde_json::to_string(diagnostics).map_err(S::Error::custom)?;
        serializer.serialize_str(&text)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<Diagnostic>, D::Error> {
        let text = <&str>::deserialize(deserializer)?;
        if text.is_empty() {
            return Ok(Vec::new());
        }
        serde_json::from_str(text).map_err(D::Error::custom)
    }
}
