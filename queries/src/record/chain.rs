//! The chain of events: sequence numbers, checksums, and what can be wrong with a line.
//!
//! An event's checksum is taken over its canonical JSON and so over its predecessor's checksum.
//! Whoever knows the last checksum therefore knows every byte before it. The reader is stricter
//! than the contract in one point: a line has to be canonical JSON, since white space or another
//! spelling of a number would be a change that no checksum sees. Every writer writes it so.

use std::fmt;
use std::marker::PhantomData;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::Kind;
use crate::commit::canonical;
use crate::commit::hash::{Digest, sha256};
use crate::commit::strict::{self, StrictError};
use crate::parse::card::SCHEMA_VERSION;

/// Longest line that is read, in bytes, the line end not counted.
pub const LINE_LIMIT: u64 = 64 << 20;

/// The members that the chain adds to an event, sorted.
const CHAIN_KEYS: [&str; 4] = ["event_checksum", "prev_checksum", "schema_version", "seq"];

/// What an event says besides its place in the chain.
pub trait Event: Serialize + DeserializeOwned {
    /// Which record it belongs to.
    const KIND: Kind;
    /// All of its members, those of the chain not among them, sorted.
    const KEYS: &'static [&'static str];

    /// What the types alone do not say.
    ///
    /// # Errors
    /// A sentence that names the member and its rule.
    fn check(&self) -> Result<(), String>;
}

/// Where a chain stands after an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Link {
    /// Number of the event in its file, from 0.
    pub seq: u64,
    /// Its checksum.
    pub checksum: Digest,
}

impl Link {
    /// Events up to here: 0 where there is no link.
    #[must_use]
    pub fn count(link: Option<Self>) -> u64 {
        link.map_or(0, |link| link.seq.saturating_add(1))
    }
}

/// An event in its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Chained<E> {
    /// Its number and checksum.
    pub link: Link,
    /// Checksum of the event before it; none for the first.
    pub prev_checksum: Option<Digest>,
    /// What it says.
    pub event: E,
}

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// Bytes that are no UTF-8, from this offset of the line on.
    NotUtf8(usize),
    /// It is not JSON, or names a key twice.
    Json(StrictError),
    /// It is JSON and no object.
    NotAnObject,
    /// A member that events of this kind do not have.
    UnknownKey(String),
    /// A member is absent.
    MissingKey(&'static str),
    /// A member has a value it cannot have.
    Value(String),
    /// The value is fine and its spelling is not: the first byte, from 0, that differs from
    /// canonical JSON.
    NotCanonical(usize),
    /// The checksum is not that of the line.
    Checksum {
        /// What the line says.
        stored: Digest,
        /// What it should say.
        computed: Digest,
    },
    /// Events are missing, doubled or in another order.
    Gap {
        /// The number that comes next.
        expected: u64,
        /// The number found.
        found: u64,
    },
    /// The event was made to follow another one.
    Chain {
        /// Checksum of the event before it in the file.
        expected: Option<Digest>,
        /// The one it names.
        found: Option<Digest>,
    },
    /// The last line has no line end: its writer was interrupted, or its end was cut off.
    Unterminated,
    /// The line is longer than [`LINE_LIMIT`].
    TooLong,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = |digest: &Option<Digest>| match digest {
            Some(digest) => digest.to_string(),
            None => "null".to_owned(),
        };
        match self {
            Fault::NotUtf8(at) => write!(f, "the line is not UTF-8 at byte {at}"),
            Fault::Json(error) => write!(f, "the line is not valid JSON: {error}"),
            Fault::NotAnObject => f.write_str("the line is not a JSON object"),
            Fault::UnknownKey(key) => write!(f, "the event has an unknown member {key:?}"),
            Fault::MissingKey(key) => write!(f, "the event lacks its member `{key}`"),
            Fault::Value(reason) => write!(f, "the event is invalid: {reason}"),
            Fault::NotCanonical(at) => {
                write!(f, "the line is not canonical JSON at byte {at}")
            }
            Fault::Checksum { stored, computed } => write!(
                f,
                "the event was changed: its checksum is {stored}, its bytes give {computed}"
            ),
            Fault::Gap { expected, found } => write!(
                f,
                "event {expected} was expected and event {found} found: events are missing, doubled or out of order"
            ),
            Fault::Chain { expected, found } => write!(
                f,
                "the event does not follow from the one before it: `prev_checksum` is {}, not {}",
                named(found),
                named(expected)
            ),
            Fault::Unterminated => f.write_str("the last line is incomplete: it has no line end"),
            Fault::TooLong => write!(f, "the line is longer than {LINE_LIMIT} bytes"),
        }
    }
}

/// The first bad line of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLine {
    /// Its number, from 1, blank lines counted.
    pub line: u64,
    /// What is wrong with it.
    pub fault: Fault,
}

impl fmt::Display for BadLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.fault)
    }
}

fn blank(line: &[u8]) -> bool {
    line.iter().all(u8::is_ascii_whitespace)
}

fn digest(map: &Map<String, Value>, key: &'static str) -> Result<Option<Digest>, Fault> {
    let wrong = || Fault::Value(format!("`{key}` is not 64 lower-case hexadecimal digits"));
    match map.get(key) {
        None => Err(Fault::MissingKey(key)),
        Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => text.parse().map(Some).map_err(|_| wrong()),
        Some(_) => Err(wrong()),
    }
}

fn check_keys<E: Event>(map: &Map<String, Value>) -> Result<(), Fault> {
    let known =
        |key: &str| CHAIN_KEYS.binary_search(&key).is_ok() || E::KEYS.binary_search(&key).is_ok();
    if let Some(key) = map.keys().find(|key| !known(key)) {
        return Err(Fault::UnknownKey(key.clone()));
    }
    match CHAIN_KEYS
        .iter()
        .chain(E::KEYS)
        .find(|key| !map.contains_key(**key))
    {
        Some(key) => Err(Fault::MissingKey(key)),
        None => Ok(()),
    }
}

/// Reads a line by itself: everything but whether it follows from the line before it.
///
/// # Errors
/// The first [`Fault`], never [`Fault::Gap`] or [`Fault::Chain`].
pub fn read_line<E: Event>(line: &[u8]) -> Result<Chained<E>, Fault> {
    let text = std::str::from_utf8(line).map_err(|error| Fault::NotUtf8(error.valid_up_to()))?;
    let Value::Object(mut map) = strict::parse(text).map_err(Fault::Json)? else {
        return Err(Fault::NotAnObject);
    };
    check_keys::<E>(&map)?;
    let stored = digest(&map, "event_checksum")?
        .ok_or_else(|| Fault::Value("`event_checksum` is null".to_owned()))?;
    let prev_checksum = digest(&map, "prev_checksum")?;
    let stored_value = map.remove("event_checksum").unwrap_or_default();
    let value = Value::Object(map);
    let computed = sha256(canonical::to_string(&value).as_bytes());
    if stored != computed {
        return Err(Fault::Checksum { stored, computed });
    }
    let Value::Object(mut map) = value else {
        return Err(Fault::NotAnObject);
    };
    map.insert("event_checksum".to_owned(), stored_value);
    let value = Value::Object(map);
    let spelt = canonical::to_string(&value);
    if spelt.as_bytes() != line {
        let same = spelt.bytes().zip(line).take_while(|(a, b)| a == *b).count();
        return Err(Fault::NotCanonical(same));
    }
    let Value::Object(mut map) = value else {
        return Err(Fault::NotAnObject);
    };
    if map.get("schema_version").and_then(Value::as_str) != Some(SCHEMA_VERSION) {
        return Err(Fault::Value(format!(
            "`schema_version` is not \"{SCHEMA_VERSION}\""
        )));
    }
    let seq = map
        .get("seq")
        .and_then(Value::as_u64)
        .ok_or_else(|| Fault::Value("`seq` is not a number from 0".to_owned()))?;
    for key in CHAIN_KEYS {
        map.remove(key);
    }
    let event: E = serde_json::from_value(Value::Object(map))
        .map_err(|error| Fault::Value(error.to_string()))?;
    event.check().map_err(Fault::Value)?;
    let link = Link {
        seq,
        checksum: stored,
    };
    Ok(Chained {
        link,
        prev_checksum,
        event,
    })
}

/// Whether an event follows a link, or begins a file where there is none.
///
/// # Errors
/// [`Fault::Gap`] or [`Fault::Chain`].
pub fn follows<E>(event: &Chained<E>, before: Option<Link>) -> Result<(), Fault> {
    let expected = Link::count(before);
    if event.link.seq != expected {
        return Err(Fault::Gap {
            expected,
            found: event.link.seq,
        });
    }
    let expected = before.map(|link| link.checksum);
    if event.prev_checksum != expected {
        return Err(Fault::Chain {
            expected,
            found: event.prev_checksum,
        });
    }
    Ok(())
}

/// Appends an event's line, line end included, to `out`. Returns where the chain then stands.
///
/// # Errors
/// A sentence: a member has a value that it cannot have, and reading the line would refuse it.
pub fn seal<E: Event>(out: &mut Vec<u8>, event: &E, before: Option<Link>) -> Result<Link, String> {
    event.check()?;
    let Value::Object(mut map) = serde_json::to_value(event).map_err(|error| error.to_string())?
    else {
        return Err("an event is an object".to_owned());
    };
    let seq = Link::count(before);
    let previous = before.map_or(Value::Null, |link| Value::from(link.checksum.to_string()));
    map.insert("schema_version".to_owned(), Value::from(SCHEMA_VERSION));
    map.insert("seq".to_owned(), Value::from(seq));
    map.insert("prev_checksum".to_owned(), previous);
    let value = Value::Object(map);
    let checksum = sha256(canonical::to_string(&value).as_bytes());
    let Value::Object(mut map) = value else {
        return Err("an event is an object".to_owned());
    };
    map.insert(
        "event_checksum".to_owned(),
        Value::from(checksum.to_string()),
    );
    out.extend_from_slice(canonical::to_string(&Value::Object(map)).as_bytes());
    out.push(b'\n');
    Ok(Link { seq, checksum })
}

/// Reads lines one after the other, each against its predecessor.
#[derive(Clone, Debug)]
pub struct Verifier<E> {
    last: Option<Link>,
    line: u64,
    event: PhantomData<E>,
}

impl<E: Event> Verifier<E> {
    /// At the beginning of a file.
    #[must_use]
    pub fn new() -> Self {
        Self::after(None)
    }

    /// Behind an event that is known to be sound. Lines are counted from there.
    #[must_use]
    pub fn after(last: Option<Link>) -> Self {
        Verifier {
            last,
            line: 0,
            event: PhantomData,
        }
    }

    /// Where the chain stands.
    #[must_use]
    pub fn last(&self) -> Option<Link> {
        self.last
    }

    /// Lines read so far, blank ones counted.
    #[must_use]
    pub fn lines(&self) -> u64 {
        self.line
    }

    /// The next line, without its line end. `None`: it is blank.
    ///
    /// # Errors
    /// The line is bad; the chain stays where it stood.
    pub fn line(&mut self, line: &[u8]) -> Result<Option<Chained<E>>, BadLine> {
        self.line += 1;
        if blank(line) {
            return Ok(None);
        }
        let event = read_line::<E>(line)
            .and_then(|event| follows(&event, self.last).map(|()| event))
            .map_err(|fault| BadLine {
                line: self.line,
                fault,
            })?;
        self.last = Some(event.link);
        Ok(Some(event))
    }

    /// The fault of a line that follows and has no line end, or is too long to be read.
    #[must_use]
    pub fn broken_off(&self, fault: Fault) -> BadLine {
        BadLine {
            line: self.line + 1,
            fault,
        }
    }
}

impl<E: Event> Default for Verifier<E> {
    fn default() -> Self {
        Self::new()
    }
}

/// Reads a whole file, handing every event to `each`. Returns where its chain stands.
///
/// # Errors
/// The first bad line.
pub fn verify<E: Event>(
    bytes: &[u8],
    mut each: impl FnMut(Chained<E>),
) -> Result<Option<Link>, BadLine> {
    let mut verifier = Verifier::<E>::new();
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let Some(line) = line.strip_suffix(b"\n") else {
            return Err(verifier.broken_off(Fault::Unterminated));
        };
        if let Some(event) = verifier.line(line)? {
            each(event);
        }
    }
    Ok(verifier.last())
}
