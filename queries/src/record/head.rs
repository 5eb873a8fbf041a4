//! Heads: what proves, kept elsewhere, that a record was neither cut off nor written anew.
//!
//! A chain of checksums without a key convinces nobody of its length: who can write the file can
//! shorten it, or compute it anew. A [`Head`] is the count of events and a digest of everything up
//! to there, short enough to be put into a commit message, a ticket or a signed tag. A record that
//! has grown since still proves an old head, because the head of every prefix can be computed.
//!
//! A [`HeadFile`] is the copy that lies beside a journal. It makes accidents visible, and tells an
//! append where the end has to be. It does not stop somebody who writes both files.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::Kind;
use super::chain::Link;
use crate::commit::canonical;
use crate::commit::hash::{Digest, sha256_of};

/// `kb-journal-head-v1:<events>:<digest>`: a record up to some event.
///
/// The digest is `SHA-256(domain ‖ 0x00 ‖ events, eight bytes big-endian ‖ checksum of the last
/// event ‖ digest of the carried head)`, where the domain is the text before the first colon and
/// absent digests are thirty-two zero bytes. `events` counts those of files that were rotated away too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Head {
    /// Which kind of record.
    pub kind: Kind,
    /// Events from the very first one to here.
    pub events: u64,
    /// What they are bound by.
    pub digest: Digest,
}

impl Head {
    /// The head of a file that stands at `last`, whose predecessor by rotation ended with `carried`.
    ///
    /// Rotation changes no head: a file without events has the head that it carries.
    #[must_use]
    pub fn of(kind: Kind, carried: Option<&Head>, last: Option<Link>) -> Self {
        if let (Some(carried), None) = (carried, last) {
            return *carried;
        }
        let before = carried.map_or(0, |head| head.events);
        let events = before.saturating_add(Link::count(last));
        let checksum = last.map_or(Digest::ZERO, |link| link.checksum);
        let carried = carried.map_or(Digest::ZERO, |head| head.digest);
        let digest = sha256_of(&[
            kind.head_domain().as_bytes(),
            &[0],
            &events.to_be_bytes(),
            &checksum.0,
            &carried.0,
        ]);
        Head {
            kind,
            events,
            digest,
        }
    }
}

impl fmt::Display for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}:{}:{}",
            self.kind.head_domain(),
            self.events,
            self.digest
        )
    }
}

/// A text is no head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeadShape(String);

impl fmt::Display for HeadShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for HeadShape {}

impl FromStr for Head {
    type Err = HeadShape;

    fn from_str(text: &str) -> Result<Self, HeadShape> {
        let mut parts = text.splitn(3, ':');
        let domain = parts.next().unwrap_or_default();
        let kind = [Kind::Journal, Kind::History]
            .into_iter()
            .find(|kind| kind.head_domain() == domain)
            .ok_or_else(|| {
                HeadShape(format!(
                    "a head begins with `{}:` or `{}:`",
                    Kind::Journal.head_domain(),
                    Kind::History.head_domain()
                ))
            })?;
        let count = parts.next().unwrap_or_default();
        // One spelling per number, so that equal heads are equal texts.
        let events = count
            .parse::<u64>()
            .ok()
            .filter(|events| events.to_string() == count)
            .ok_or_else(|| {
                HeadShape("after the first colon of a head comes the number of events".to_owned())
            })?;
        let digest = parts
            .next()
            .unwrap_or_default()
            .parse()
            .map_err(|shape| HeadShape(format!("the digest of the head is {shape}")))?;
        Ok(Head {
            kind,
            events,
            digest,
        })
    }
}

impl Serialize for Head {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Head {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// The value of `schema_version` in a head file.
pub const HEAD_FILE_VERSION: &str = "kb.journal-head.v1";

/// Where a journal stands, as it is kept beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HeadFile {
    /// Length of the journal, in bytes.
    pub bytes: u64,
    /// Head of the file that was rotated away before this one began.
    pub carried: Option<Head>,
    /// The last event of the journal; none while it is empty.
    pub last: Option<Link>,
}

/// A head file as it is written, members in sorted order.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    bytes: u64,
    carried: Option<Head>,
    events: u64,
    head: Head,
    last_checksum: Option<Digest>,
    schema_version: String,
}

impl HeadFile {
    /// The head.
    #[must_use]
    pub fn head(&self) -> Head {
        Head::of(Kind::Journal, self.carried.as_ref(), self.last)
    }

    /// Canonical JSON and a line end.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let written = Written {
            bytes: self.bytes,
            carried: self.carried,
            events: Link::count(self.last),
            head: self.head(),
            last_checksum: self.last.map(|link| link.checksum),
            schema_version: HEAD_FILE_VERSION.to_owned(),
        };
        // Strings and whole numbers always have a canonical form.
        let mut bytes = canonical::to_vec(&written).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }

    /// Reads what [`HeadFile::to_bytes`] wrote.
    ///
    /// # Errors
    /// A sentence: it is not such a file, or its members do not fit together.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        let written: Written =
            serde_json::from_slice(bytes).map_err(|error| format!("it is invalid: {error}"))?;
        if written.schema_version != HEAD_FILE_VERSION {
            return Err(format!("`schema_version` is not \"{HEAD_FILE_VERSION}\""));
        }
        let last = match (written.events.checked_sub(1), written.last_checksum) {
            (None, None) => None,
            (Some(seq), Some(checksum)) => Some(Link { seq, checksum }),
            _ => return Err("`events` and `last_checksum` do not fit together".to_owned()),
        };
        let head = HeadFile {
            bytes: written.bytes,
            carried: written.carried,
            last,
        };
        let carries_a_journal = head
            .carried
            .is_none_or(|carried| carried.kind == Kind::Journal);
        if !carries_a_journal || head.head() != written.head {
            return Err("`head` is not the head of its other members".to_owned());
        }
        Ok(head)
    }
}
