//! The manifests in `out/`: what was compiled, as canonical JSON (contract §2.5, §2.6, §6.3, §6.4).
//!
//! Reading is strict: unknown fields, wrong types and broken invariants are MAN-001 with a reason
//! that names the record. Fields are declared in the order of their names, so that what serde
//! writes has the key order of canonical JSON. Publishing is somebody else's.

use std::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub use self::chunks::{
    ChunkRecord, ChunksManifest, PageSpan, Retractions, read_chunks, read_retractions,
    scan_retractions,
};
pub use self::lists::{
    CardRecord, CardsManifest, SourceRecord, SourcesManifest, Summaries, Summary, read_cards,
    read_sources, read_summaries,
};
use super::card::{SCHEMA_VERSION, is_hex64};
use super::json;
use super::problem::Problem;
use crate::diagnostic::registry::MAN_001;

mod chunks;
mod lists;

/// The value of every `schema_version`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Version;

impl Serialize for Version {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(SCHEMA_VERSION)
    }
}

impl<'de> Deserialize<'de> for Version {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl serde::de::Visitor<'_> for Visitor {
            type Value = Version;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "schema_version \"{SCHEMA_VERSION}\"")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Version, E> {
                if text == SCHEMA_VERSION {
                    Ok(Version)
                } else {
                    Err(E::invalid_value(serde::de::Unexpected::Str(text), &self))
                }
            }
        }
        deserializer.deserialize_str(Visitor)
    }
}

/// Reads JSON into a type; `what` names the file in the message.
fn read<T: DeserializeOwned>(bytes: &[u8], what: &str) -> Result<T, Box<Problem>> {
    serde_json::from_slice(bytes).map_err(|error| {
        let text = String::from_utf8_lossy(bytes);
        let found = json::error_at(&text, &error);
        let (line, column) = (error.line(), error.column());
        let message = format!(
            "the {what} is invalid: {} (line {line}, column {column})",
            found.message
        );
        // Offsets in repaired text are not offsets in the file.
        let span = if matches!(text, std::borrow::Cow::Borrowed(_)) {
            found.span
        } else {
            0..0
        };
        Box::new(Problem::new(MAN_001, span, message))
    })
}

/// A broken invariant of a record.
fn broken(what: &str, reason: impl fmt::Display) -> Box<Problem> {
    let message = format!("the {what} is invalid: {reason}");
    Box::new(Problem::new(MAN_001, 0..0, message))
}

fn hash(value: &str, record: &dyn fmt::Display, field: &str) -> Result<(), String> {
    if is_hex64(value) {
        Ok(())
    } else {
        Err(format!(
            "{record}: `{field}` is not 64 lower-case hexadecimal digits"
        ))
    }
}

fn filled(record: &dyn fmt::Display, fields: &[(&str, &str)]) -> Result<(), String> {
    match fields.iter().find(|(_, value)| value.is_empty()) {
        Some((field, _)) => Err(format!("{record}: `{field}` is empty")),
        None => Ok(()),
    }
}

/// A list of ids must be free of empty ones, sorted by code point and without duplicates.
fn sorted_ids(ids: &[String], name: &str) -> Result<(), String> {
    if ids.iter().any(String::is_empty) {
        return Err(format!("`{name}` holds an empty id"));
    }
    for pair in ids.windows(2) {
        if let [before, after] = pair {
            if before == after {
                return Err(format!("`{name}` holds `{after}` twice"));
            }
            if before > after {
                return Err(format!(
                    "`{name}` is not sorted: `{after}` comes after `{before}`"
                ));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
