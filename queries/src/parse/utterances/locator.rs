//! `locator_map.json`: whose words each chunk of a stream holds (contract §2.7).
//!
//! The map is sealed: a hash of its canonical JSON, taken before the hash itself is in it. A seal
//! is no signature; it tells an edited map from one that was written as a whole.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::Utterance;
use crate::commit::canonical::{self, CanonicalError};
use crate::commit::hash::sha256;
use crate::commit::strict;
use crate::parse::manifest::ChunkRecord;

/// The only schema version there is.
pub const SCHEMA_VERSION: &str = "cacg.locator_map.v1";
/// The file's name in `out/`.
pub const FILE_NAME: &str = "locator_map.json";

/// One utterance that a chunk holds words of. Fields are in the order of their names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Locator {
    /// When it was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authored_at: Option<String>,
    /// Whether the speaker is the one the stream is about.
    pub is_author: bool,
    /// Place in the stream, from 1.
    pub ordinal: u32,
    /// Names of it elsewhere.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub refs: BTreeMap<String, String>,
    /// Who said it.
    pub speaker: String,
    /// Its id.
    pub utterance_id: String,
}

/// A whole map. Fields are in the order of their names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LocatorMap {
    /// Chunk id to utterances, by ordinal.
    pub locators: BTreeMap<String, Vec<Locator>>,
    /// Schema version.
    pub schema_version: String,
    /// SHA-256 of the canonical JSON of the rest.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub seal: String,
    /// The source.
    pub source_id: String,
    /// SHA-256 of the stream's bytes.
    pub utterances_sha256: String,
}

/// Why a map cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LocatorError {
    /// It is no locator map.
    Unreadable(String),
    /// Its seal is missing, or is that of another content.
    SealBroken,
}

impl fmt::Display for LocatorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LocatorError::Unreadable(why) => f.write_str(why),
            LocatorError::SealBroken => f.write_str("its seal is not that of its content"),
        }
    }
}

impl std::error::Error for LocatorError {}

/// The sealed map of a stream's chunks, as it is written.
///
/// # Errors
/// None that a map of strings can have.
pub fn sealed(
    source_id: &str,
    utterances_sha256: &str,
    utterances: &[Utterance],
    chunks: &[ChunkRecord],
) -> Result<Vec<u8>, CanonicalError> {
    let locators = chunks
        .iter()
        .map(|chunk| {
            let held = utterances
                .iter()
                .skip(usize::try_from(chunk.start_page.saturating_sub(1)).unwrap_or(usize::MAX))
                .take_while(|utterance| utterance.ordinal <= chunk.end_page)
                .map(locator);
            (chunk.chunk_id.clone(), held.collect())
        })
        .collect();
    let mut map = LocatorMap {
        locators,
        schema_version: SCHEMA_VERSION.to_owned(),
        seal: String::new(),
        source_id: source_id.to_owned(),
        utterances_sha256: utterances_sha256.to_owned(),
    };
    map.seal = sha256(&canonical::to_vec(&map)?).to_string();
    canonical::to_vec(&map)
}

/// What a map says of an utterance.
pub fn locator(utterance: &Utterance) -> Locator {
    Locator {
        authored_at: utterance.authored_at.as_deref().map(str::to_owned),
        is_author: utterance.is_author,
        ordinal: utterance.ordinal,
        refs: utterance.refs.clone(),
        speaker: utterance.speaker.to_string(),
        utterance_id: utterance.utterance_id.to_string(),
    }
}

/// Reads a map and checks its seal, which comes first: what an edited map says is of no interest.
///
/// # Errors
/// [`LocatorError`].
pub fn read(bytes: &[u8]) -> Result<LocatorMap, LocatorError> {
    let unreadable = |why: String| LocatorError::Unreadable(why);
    let text = std::str::from_utf8(bytes).map_err(|_| unreadable("it is not UTF-8".to_owned()))?;
    let mut value = strict::parse(text).map_err(|error| unreadable(error.to_string()))?;
    let seal = value.as_object_mut().and_then(|map| map.remove("seal"));
    let rest = sha256(canonical::to_string(&value).as_bytes()).to_string();
    if seal.as_ref().and_then(serde_json::Value::as_str) != Some(rest.as_str()) {
        return Err(LocatorError::SealBroken);
    }
    let mut map: LocatorMap =
        serde_json::from_value(value).map_err(|error| unreadable(error.to_string()))?;
    if map.schema_version != SCHEMA_VERSION {
        return Err(unreadable(format!(
            "its `schema_version` is not \"{SCHEMA_VERSION}\""
        )));
    }
    map.seal = rest;
    Ok(map)
}
