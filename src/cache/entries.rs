//! What is stored of each file.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use kbc_queries::check::Outcome;
use kbc_queries::check::card::{CardSummary, EdgeSummary, IdSummary};
use kbc_queries::diagnostic::{Diagnostic, Ledger};
use kbc_queries::input::FileStatus;
use kbc_queries::system::Fingerprint;
use kbc_queries::text::quote::MatchClass;

use crate::workspace::stamp::Stamp;

/// A source id as stored: the first half of its BLAKE3. Ids are compared far more often than shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
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

/// A map by [`NameKey`]. The key is a hash already, so eight bytes of it place it.
pub type ByName<V> = HashMap<NameKey, V, BuildHasherDefault<NameHasher>>;

/// See [`ByName`].
#[derive(Clone, Copy, Debug, Default)]
pub struct NameHasher(u64);

impl Hasher for NameHasher {
    fn write(&mut self, bytes: &[u8]) {
        // The array's bytes come in one piece; a length, if one comes too, changes nothing.
        if let Some(bytes) = bytes.first_chunk::<8>() {
            self.0 ^= u64::from_le_bytes(*bytes);
        }
    }

    fn write_usize(&mut self, _length: usize) {}

    fn finish(&self) -> u64 {
        self.0
    }
}

impl Serialize for NameKey {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for NameKey {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <&[u8]>::deserialize(deserializer)?
            .try_into()
            .map(NameKey)
            .map_err(|_| serde::de::Error::custom("a name's key has 16 bytes"))
    }
}

/// A value that is stored with its owner but read only when asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packed<T> {
    bytes: Box<[u8]>,
    of: std::marker::PhantomData<fn() -> T>,
}

impl<T> Serialize for Packed<T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.bytes)
    }
}

impl<'de, T> Deserialize<'de> for Packed<T> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Packed {
            bytes: <&[u8]>::deserialize(deserializer)?.into(),
            of: std::marker::PhantomData,
        })
    }
}

impl<T: Serialize + serde::de::DeserializeOwned> Packed<T> {
    /// Packs a value. One that cannot be written (there is none among those we store) unpacks to
    /// nothing, which its reader treats as damage.
    pub fn pack(value: &T) -> Self {
        Packed {
            bytes: super::encode(value).unwrap_or_default().into(),
            of: std::marker::PhantomData,
        }
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
    /// Fingerprint of what those names led to.
    pub binding: Fingerprint,
    /// The verdict.
    pub outcome: Outcome,
    /// What is wrong or noteworthy, placed in the card.
    #[serde(with = "as_json")]
    pub diagnostics: Vec<Diagnostic>,
}

/// What was established about one card: what every run needs of it, and the rest packed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CardEntry {
    /// Fingerprint of the card's bytes, folder and the project's policy: what its own findings
    /// and its citations' text depend on.
    pub own_key: Fingerprint,
    /// Fingerprint of everything else it depends on: the reading's row, and where names lead.
    pub seal: Fingerprint,
    /// The reading it counts under.
    pub reading: Option<Arc<str>>,
    /// The names that its citations mention: per citation the source, and the other source that
    /// its chunk id spells, if it does. Together with the reading's row they give the seal.
    pub names: Vec<(Option<NameKey>, Option<NameKey>)>,
    /// Its id.
    pub id: Option<IdSummary>,
    /// Its edges.
    pub edges: Vec<EdgeSummary>,
    /// What it adds to the ledger.
    pub counts: Counts,
    /// Whether there is anything to be said about it.
    pub speaks: bool,
    /// The rest.
    pub details: Packed<CardDetails>,
}

/// What a card's citations came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Verified, by class.
    pub exact: u32,
    /// See [`Counts::exact`].
    pub normalized: u32,
    /// See [`Counts::exact`].
    pub elided: u32,
    /// See [`Counts::exact`].
    pub fuzzy: u32,
    /// Not verified.
    pub failed: u32,
    /// Could not be told.
    pub unverifiable: u32,
    /// Not looked at.
    pub skipped: u32,
}

impl Counts {
    /// Adds one outcome.
    pub fn add(&mut self, outcome: Outcome) {
        let class = match outcome {
            Outcome::Verified(MatchClass::Exact) => &mut self.exact,
            Outcome::Verified(MatchClass::Normalized) => &mut self.normalized,
            Outcome::Verified(MatchClass::Elided) => &mut self.elided,
            Outcome::Verified(MatchClass::Fuzzy) => &mut self.fuzzy,
            // Neither of these is a place where the words stand.
            Outcome::Verified(MatchClass::OutsidePages | MatchClass::Absent) | Outcome::Failed => {
                &mut self.failed
            }
            Outcome::Unverifiable => &mut self.unverifiable,
            Outcome::Skipped => &mut self.skipped,
        };
        *class += 1;
    }

    /// Adds them, and the card, to a ledger.
    pub fn count(&self, ledger: &mut Ledger) {
        ledger.cards += 1;
        for (all, own) in [
            (&mut ledger.exact, self.exact),
            (&mut ledger.normalized, self.normalized),
            (&mut ledger.elided, self.elided),
            (&mut ledger.fuzzy, self.fuzzy),
            (&mut ledger.failed, self.failed),
            (&mut ledger.unverifiable, self.unverifiable),
            (&mut ledger.skipped, self.skipped),
        ] {
            *all += u64::from(own);
            ledger.citations += u64::from(own);
        }
    }
}

/// What only some runs need of a card.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CardDetails {
    /// Fingerprint of the reading's row in the matrix.
    pub reading_key: Fingerprint,
    /// What is wrong with the card itself.
    #[serde(with = "as_json")]
    pub diagnostics: Vec<Diagnostic>,
    /// Its citations, in order.
    pub citations: Vec<CitationEntry>,
    /// The hash that the card says it has.
    pub stored_hash: Option<Arc<str>>,
    /// What manifests need.
    pub summary: Option<CardSummary>,
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
