//! The semantic cache of the card-graph contract (§5.5): opinions by the hashes of what they are about.
//!
//! The format is closed. A key that occurs twice, anywhere, and a pair of hashes that occurs twice
//! are refused, because "the last one wins" would let one line hide another.

use std::collections::BTreeMap;
use std::ops::Range;

use serde_json::{Value, json};

use super::{Mode, Opinion, Request, Score, Verdict};
use crate::commit::canonical;
use crate::commit::hash::Digest;
use crate::commit::strict;
use crate::diagnostic::registry;
use crate::parse::problem::{Problem, shown};

/// The literal in every file of the contract.
const SCHEMA_VERSION: &str = "cacg.v0";

/// Opinions by chunk and claim.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cache {
    entries: BTreeMap<(Digest, Digest), (Verdict, Score)>,
}

impl Cache {
    /// Reads a cache.
    ///
    /// # Errors
    /// `MAN-001` with the first thing that is wrong.
    pub fn parse(text: &str) -> Result<Self, Box<Problem>> {
        let value = strict::parse(text).map_err(|error| {
            let at = text.floor_char_boundary(error.offset);
            let end = text.ceil_char_boundary((at + 1).min(text.len()));
            problem(at..end, &error.to_string())
        })?;
        read(&value).map_err(|reason| problem(0..text.ceil_char_boundary(1), &reason))
    }

    /// What the cache says; of a pair that it does not have, that it abstains.
    pub fn opinion(&self, request: &Request) -> Opinion {
        let (verdict, score) = self
            .entries
            .get(&(request.chunk_hash, request.claim_window_hash))
            .copied()
            .unwrap_or((Verdict::Abstain, Score::default()));
        Opinion {
            verdict,
            score,
            mode: Mode::EmbeddingCache,
            reasoning: None,
        }
    }

    /// Records an opinion; one about the same pair is replaced.
    pub fn insert(&mut self, chunk_hash: Digest, claim: Digest, verdict: Verdict, score: Score) {
        self.entries.insert((chunk_hash, claim), (verdict, score));
    }

    /// How many opinions there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// How many opinions have this verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.entries
            .values()
            .filter(|(found, _)| *found == verdict)
            .count()
    }

    /// The file: canonical JSON, sorted by the hashes, without a line end.
    pub fn to_json(&self) -> String {
        let entries: Vec<Value> = self
            .entries
            .iter()
            .map(|((chunk, claim), (verdict, score))| {
                json!({
                    "chunk_hash": chunk,
                    "claim_window_hash": claim,
                    "score": score.value(),
                    "verdict": verdict,
                })
            })
            .collect();
        canonical::to_string(&json!({ "entries": entries, "schema_version": SCHEMA_VERSION }))
    }
}

fn problem(span: Range<usize>, reason: &str) -> Box<Problem> {
    let message = format!("the semantic cache is invalid: {reason}");
    Box::new(
        Problem::new(registry::MAN_001, span, message)
            .label("not a semantic cache")
            .help("make it anew with `kb semantic build`"),
    )
}

fn read(value: &Value) -> Result<Cache, String> {
    let root = value.as_object().ok_or("it is no JSON object")?;
    for key in root.keys() {
        if !matches!(key.as_str(), "schema_version" | "entries") {
            return Err(format!("unknown field `{}`", shown(key)));
        }
    }
    match root.get("schema_version") {
        None => return Err("`schema_version` is missing".to_owned()),
        Some(Value::String(version)) if version == SCHEMA_VERSION => {}
        Some(_) => return Err(format!("`schema_version` is not \"{SCHEMA_VERSION}\"")),
    }
    let mut cache = Cache::default();
    let Some(entries) = root.get("entries") else {
        return Ok(cache);
    };
    let entries = entries.as_array().ok_or("`entries` is no list")?;
    for (index, entry) in entries.iter().enumerate() {
        let (key, opinion) =
            read_entry(entry).map_err(|reason| format!("entries[{index}]: {reason}"))?;
        if cache.entries.insert(key, opinion).is_some() {
            return Err(format!(
                "entries[{index}]: there is another entry for this chunk_hash and claim_window_hash"
            ));
        }
    }
    Ok(cache)
}

type Entry = ((Digest, Digest), (Verdict, Score));

fn read_entry(value: &Value) -> Result<Entry, String> {
    let entry = value.as_object().ok_or("it is no JSON object")?;
    for key in entry.keys() {
        if !matches!(
            key.as_str(),
            "chunk_hash" | "claim_window_hash" | "verdict" | "score"
        ) {
            return Err(format!("unknown field `{}`", shown(key)));
        }
    }
    let field = |key: &str| entry.get(key).ok_or_else(|| format!("`{key}` is missing"));
    let digest = |key: &str| {
        field(key)?
            .as_str()
            .and_then(|text| text.parse::<Digest>().ok())
            .ok_or_else(|| format!("`{key}` is not 64 lower-case hexadecimal digits"))
    };
    let verdict = field("verdict")?
        .as_str()
        .and_then(Verdict::parse)
        .ok_or("`verdict` is not pass, fail or abstain")?;
    let score = field("score")?
        .as_f64()
        .and_then(Score::from_number)
        .ok_or("`score` is not a number from 0 to 1")?;
    Ok((
        (digest("chunk_hash")?, digest("claim_window_hash")?),
        (verdict, score),
    ))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;
    use proptest::prelude::*;

    fn request(chunk: u8, claim: u8) -> Request {
        Request {
            chunk_hash: Digest([chunk; 32]),
            claim_window_hash: Digest([claim; 32]),
            chunk_text: String::new(),
            quote: String::new(),
        }
    }

    #[test]
    fn the_contract_s_fixture() {
        let text =
            include_str!("../../../fixtures/cacg/tests/parity_corpus/semantic/semantic_cache.json");
        let cache = Cache::parse(text).unwrap();
        let quote = "this exact phrase is intentionally not a substring of the pinned chunk";
        let opinion = cache.opinion(&Request {
            chunk_hash: "1694a2598d8402ee06f8c0be6a1defd8a3f85b2d7f896c25fa67b8c671a37895"
                .parse()
                .unwrap(),
            claim_window_hash: crate::commit::hash::claim_window_hash(quote),
            chunk_text: String::new(),
            quote: quote.to_owned(),
        });
        assert_eq!(
            (opinion.verdict, opinion.score.to_string().as_str()),
            (Verdict::Fail, "0.123456")
        );
    }

    #[test]
    fn a_miss_abstains_with_nothing() {
        let empty = Cache::parse(r#"{"schema_version":"cacg.v0"}"#).unwrap();
        let opinion = empty.opinion(&request(1, 2));
        assert_eq!(
            (opinion.verdict, opinion.score, opinion.mode),
            (Verdict::Abstain, Score::default(), Mode::EmbeddingCache)
        );
    }

    #[test]
    fn kinds_of_faults() {
        let hash = "0".repeat(64);
        let entry = |verdict: &str, score: &str| {
            format!(
                r#"{{"chunk_hash":"{hash}","claim_window_hash":"{hash}","verdict":{verdict},"score":{score}}}"#
            )
        };
        let good = entry("\"pass\"", "0.5");
        let with =
            |entries: &str| format!(r#"{{"schema_version":"cacg.v0","entries":[{entries}]}}"#);
        assert_eq!(Cache::parse(&with(&good)).unwrap().len(), 1);
        assert_eq!(
            Cache::parse(&with(&entry("\"fail\"", "1"))).unwrap().len(),
            1
        );
        let table = [
            (String::new(), "expected a value"),
            ("[]".to_owned(), "no JSON object"),
            (
                r#"{"entries":[]}"#.to_owned(),
                "`schema_version` is missing",
            ),
            (
                r#"{"schema_version":"cacg.v1"}"#.to_owned(),
                "is not \"cacg.v0\"",
            ),
            (
                r#"{"schema_version":"cacg.v0","model":"x"}"#.to_owned(),
                "unknown field `model`",
            ),
            (
                r#"{"schema_version":"cacg.v0","schema_version":"cacg.v0"}"#.to_owned(),
                "occurs twice",
            ),
            (
                r#"{"schema_version":"cacg.v0","entries":null}"#.to_owned(),
                "no list",
            ),
            (
                r#"{"schema_version":"cacg.v0","entries":{}}"#.to_owned(),
                "no list",
            ),
            (with("1"), "entries[0]: it is no JSON object"),
            (
                with(&format!("{good},{good}")),
                "entries[1]: there is another entry",
            ),
            (with(&entry("\"PASS\"", "0.5")), "`verdict` is not"),
            (with(&entry("true", "0.5")), "`verdict` is not"),
            (with(&entry("\"pass\"", "1.5")), "from 0 to 1"),
            (with(&entry("\"pass\"", "-0.5")), "from 0 to 1"),
            (with(&entry("\"pass\"", "\"0.5\"")), "from 0 to 1"),
            (with(&entry("\"pass\"", "true")), "from 0 to 1"),
            (with(&entry("\"pass\"", "NaN")), "not finite"),
            (
                with(&good.replace("score", "Score")),
                "unknown field `Score`",
            ),
            (
                with(&good.replace(r#","score":0.5"#, "")),
                "`score` is missing",
            ),
            (
                with(&good.replacen(&hash, &"A".repeat(64), 1)),
                "`chunk_hash` is not 64",
            ),
            (with(&good.replacen(&hash, "", 1)), "`chunk_hash` is not 64"),
            (
                with(&good.replace(r#""score":0.5"#, r#""score":0.5,"score":0.5"#)),
                "occurs twice",
            ),
        ];
        for (text, words) in table {
            let problem = Cache::parse(&text).expect_err(&text);
            assert_eq!(problem.code, registry::MAN_001);
            assert!(
                problem.message.contains(words),
                "{text}: {}",
                problem.message
            );
            assert!(text.get(problem.span.clone()).is_some(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(entries in prop::collection::btree_map((any::<u8>(), any::<u8>()), (0u32..=1_000_000, 0usize..3), 0..20)) {
            let mut cache = Cache::default();
            for ((chunk, claim), (score, verdict)) in &entries {
                let verdict = [Verdict::Pass, Verdict::Fail, Verdict::Abstain][*verdict];
                cache.insert(Digest([*chunk; 32]), Digest([*claim; 32]), verdict, Score::from_millionths(*score).unwrap());
            }
            let text = cache.to_json();
            prop_assert_eq!(&Cache::parse(&text).unwrap(), &cache);
            prop_assert_eq!(cache.len(), entries.len());
        }

        #[test]
        fn any_text_is_read_or_refused(text in ".{0,200}") {
            let _ = Cache::parse(&text);
        }
    }
}
