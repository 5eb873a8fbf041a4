//! SHA-256 commitments of the card-graph contract (§2.4).
//!
//! These are the hashes that files, proofs and other tools see. Nothing here reads a clock or
//! keeps a key: a commitment says that a value is the same, not who made it.

use std::fmt;
use std::str::FromStr;

use serde::de::{self, Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};
use sha2::{Digest as _, Sha256};

use super::canonical;
use crate::text::normalize::normalize;

/// A SHA-256 digest. Shown, parsed and stored in JSON as 64 lower-case hexadecimal digits; stored
/// as 32 bytes in binary formats.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(pub [u8; 32]);

impl Digest {
    /// Thirty-two zero bytes: the root of an empty tree, the hash a card template carries, and
    /// the predecessor of a journal's first event.
    pub const ZERO: Self = Self([0; 32]);

    /// The bytes of the digest.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for byte in self.0 {
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

/// A text is not 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DigestShape;

impl fmt::Display for DigestShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not 64 lower-case hexadecimal digits")
    }
}

impl std::error::Error for DigestShape {}

impl FromStr for Digest {
    type Err = DigestShape;

    fn from_str(text: &str) -> Result<Self, DigestShape> {
        const fn nibble(digit: u8) -> Option<u8> {
            match digit {
                b'0'..=b'9' => Some(digit - b'0'),
                b'a'..=b'f' => Some(digit - b'a' + 10),
                _ => None,
            }
        }
        let mut bytes = [0; 32];
        let (pairs, odd) = text.as_bytes().as_chunks::<2>();
        if pairs.len() != bytes.len() || !odd.is_empty() {
            return Err(DigestShape);
        }
        for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
            match (nibble(*high), nibble(*low)) {
                (Some(high), Some(low)) => *byte = high << 4 | low,
                _ => return Err(DigestShape),
            }
        }
        Ok(Self(bytes))
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.collect_str(self)
        } else {
            self.0.serialize(serializer)
        }
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Hex;
        impl de::Visitor<'_> for Hex {
            type Value = Digest;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("64 lower-case hexadecimal digits")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Digest, E> {
                text.parse().map_err(E::custom)
            }
        }
        if deserializer.is_human_readable() {
            deserializer.deserialize_str(Hex)
        } else {
            <[u8; 32]>::deserialize(deserializer).map(Self)
        }
    }
}

/// SHA-256 of some bytes.
#[must_use]
pub fn sha256(bytes: &[u8]) -> Digest {
    Digest(Sha256::digest(bytes).into())
}

/// SHA-256 of several pieces as if they were one.
pub(crate) fn sha256_of(pieces: &[&[u8]]) -> Digest {
    let mut hasher = Sha256::new();
    for piece in pieces {
        hasher.update(piece);
    }
    Digest(hasher.finalize().into())
}

/// Where a page begins inside a chunk.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
pub struct PageSpan {
    /// Page, from 1.
    pub page: u32,
    /// Code points from the chunk's start to the page's first character. The contract's own name
    /// for it, `byte_offset_in_chunk`, is wrong about the unit.
    pub offset: u32,
}

/// The contract's `chunk_hash`: SHA-256 of the canonical JSON of
/// `{end_page, page_spans:[{byte_offset_in_chunk,page}], start_page, text}`.
///
/// The JSON is fed to the hash piece by piece; the text is not copied.
#[must_use]
pub fn chunk_hash(text: &str, start_page: u32, end_page: u32, page_spans: &[PageSpan]) -> Digest {
    let mut head = format!("{{\"end_page\":{end_page},\"page_spans\":[");
    for (index, span) in page_spans.iter().enumerate() {
        if index > 0 {
            head.push(',');
        }
        head.push_str(&format!(
            "{{\"byte_offset_in_chunk\":{},\"page\":{}}}",
            span.offset, span.page
        ));
    }
    head.push_str(&format!("],\"start_page\":{start_page},\"text\":\""));
    let mut hasher = Sha256::new();
    hasher.update(head.as_bytes());
    canonical::escape(text, |piece| hasher.update(piece.as_bytes()));
    hasher.update(b"\"}");
    Digest(hasher.finalize().into())
}

/// The contract's `card_hash`: SHA-256 of the canonical JSON of the frontmatter without
/// `card_hash`, the line `--BODY--`, and the body in normal form.
///
/// `frontmatter` is the defaulted model: absent `tags`, `card_edges` and `edge_type` must be
/// filled in before, or the hash is another one.
#[must_use]
pub fn card_hash(frontmatter: &serde_json::Value, raw_body: &str) -> Digest {
    let canonical = without(frontmatter, "card_hash");
    sha256_of(&[
        canonical.as_bytes(),
        b"\n--BODY--\n",
        normalize(raw_body).as_bytes(),
    ])
}

/// The contract's `claim_window_hash`: SHA-256 of a quote in normal form.
#[must_use]
pub fn claim_window_hash(quote: &str) -> Digest {
    sha256(normalize(quote).as_bytes())
}

/// The contract's `event_checksum`: SHA-256 of the canonical JSON of a journal or history event
/// without its `event_checksum`.
#[must_use]
pub fn event_checksum(event: &serde_json::Value) -> Digest {
    sha256(without(event, "event_checksum").as_bytes())
}

/// Canonical JSON of a value, one member of the outermost object left out.
fn without(value: &serde_json::Value, member: &str) -> String {
    match value {
        serde_json::Value::Object(map) if map.contains_key(member) => {
            let mut map = map.clone();
            map.remove(member);
            canonical::to_string(&serde_json::Value::Object(map))
        }
        other => canonical::to_string(other),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    const CHUNKS: &str =
        include_str!("../../../fixtures/cacg/tests/parity_corpus/out_python/chunks_manifest.json");
    const ORACLES: &str = include_str!(
        "../../../fixtures/cacg/tests/parity_corpus/out_python/hash_oracles.subset.json"
    );
    const EVENTS: [&str; 4] = [
        include_str!(
            "../../../fixtures/cacg/tests/parity_corpus/out_python/parity_rows/kb_index_parity_corpus_stale_hash_reading_01/py-corpus/cards_stale_hash/reading_01/01-content-addressable-identity.history.jsonl"
        ),
        include_str!(
            "../../../fixtures/cacg/tests/parity_corpus/out_python/parity_rows/kb_lint_parity_adversarial/py-out/01-malformed-hash.lint_journal.jsonl"
        ),
        include_str!(
            "../../../fixtures/cacg/tests/parity_corpus/out_python/parity_rows/kb_verify_round_summary_parity_golden/py-out/08_missing_card.lint_journal.jsonl"
        ),
        include_str!(
            "../../../fixtures/cacg/tests/parity_corpus/out_python/parity_rows/kb_verify_semantic_miss_parity_golden/py-out/card.lint_journal.jsonl"
        ),
    ];

    #[test]
    fn chunk_hashes_of_the_golden_manifest() {
        let manifest: Value = serde_json::from_str(CHUNKS).unwrap();
        let chunks = manifest["chunks"].as_array().unwrap();
        assert_eq!(chunks.len(), 2);
        for chunk in chunks {
            let number = |value: &Value| u32::try_from(value.as_u64().unwrap()).unwrap();
            let spans: Vec<PageSpan> = chunk["page_spans"]
                .as_array()
                .unwrap()
                .iter()
                .map(|span| PageSpan {
                    page: number(&span["page"]),
                    offset: number(&span["byte_offset_in_chunk"]),
                })
                .collect();
            let hash = chunk_hash(
                chunk["text"].as_str().unwrap(),
                number(&chunk["start_page"]),
                number(&chunk["end_page"]),
                &spans,
            );
            assert_eq!(hash.to_string(), chunk["chunk_hash"].as_str().unwrap());
        }
    }

    #[test]
    fn card_hashes_of_the_oracles() {
        let oracles: Value = serde_json::from_str(ORACLES).unwrap();
        let entries = oracles["card_hash"].as_array().unwrap();
        assert!(entries.len() >= 9);
        for entry in entries {
            let hash = card_hash(&entry["frontmatter"], entry["raw_body"].as_str().unwrap());
            assert_eq!(
                hash.to_string(),
                entry["expected"].as_str().unwrap(),
                "{}",
                entry["card_path"]
            );
            // The stored hash does not take part, every other field does.
            let mut stored = entry["frontmatter"].clone();
            stored["card_hash"] = json!("0".repeat(64));
            assert_eq!(
                card_hash(&stored, entry["raw_body"].as_str().unwrap()),
                hash
            );
            stored["tags"] = json!(["other"]);
            assert_ne!(
                card_hash(&stored, entry["raw_body"].as_str().unwrap()),
                hash
            );
        }
    }

    #[test]
    fn events_are_canonical_and_carry_their_checksum() {
        let mut seen = 0;
        for line in EVENTS.iter().flat_map(|file| file.lines()) {
            let event: Value = serde_json::from_str(line).unwrap();
            assert_eq!(canonical::to_string(&event), line);
            assert_eq!(
                event_checksum(&event).to_string(),
                event["event_checksum"].as_str().unwrap()
            );
            seen += 1;
        }
        assert!(seen >= 4);
    }

    #[test]
    fn digests_are_lower_case_hex_only() {
        let good = "0123456789abcdef".repeat(4);
        assert_eq!(good.parse::<Digest>().unwrap().to_string(), good);
        for bad in [
            good.to_uppercase(),
            good[1..].to_owned(),
            format!("{good}0"),
            good.replace('0', "g"),
            good.replace("01", "é"),
            String::new(),
        ] {
            assert_eq!(bad.parse::<Digest>(), Err(DigestShape), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn streaming_equals_hashing_the_whole_json(
            text in any::<String>(),
            start in any::<u32>(),
            end in any::<u32>(),
            spans in prop::collection::vec((any::<u32>(), any::<u32>()), 0..4),
        ) {
            let spans: Vec<PageSpan> =
                spans.into_iter().map(|(page, offset)| PageSpan { page, offset }).collect();
            let value = json!({
                "text": text,
                "start_page": start,
                "end_page": end,
                "page_spans": spans.iter().map(|span| json!({
                    "page": span.page, "byte_offset_in_chunk": span.offset,
                })).collect::<Vec<_>>(),
            });
            prop_assert_eq!(
                chunk_hash(&text, start, end, &spans),
                sha256(canonical::to_string(&value).as_bytes())
            );
        }

        #[test]
        fn digest_survives_json(bytes in any::<[u8; 32]>()) {
            let digest = Digest(bytes);
            let json = serde_json::to_string(&digest).unwrap();
            prop_assert_eq!(json.len(), 66);
            prop_assert_eq!(serde_json::from_str::<Digest>(&json).unwrap(), digest);
        }
    }
}
