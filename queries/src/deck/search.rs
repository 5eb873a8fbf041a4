//! Searching summaries: who may see which card, and the ranking in memory (contract §6.6).
//!
//! Retraction and the matrix decide before the best are chosen, whichever back-end ranks, so that
//! a card nobody may see takes no other card's place.

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use super::bm25::{Corpus, Idf, rounded};
use crate::parse::manifest::{CardsManifest, Summary};
use crate::parse::matrix::Matrix;

/// Which cards may be found.
#[derive(Clone, Debug)]
pub struct Policy<'a> {
    hidden: HashSet<&'a str>,
    allowed: HashMap<&'a str, HashSet<&'a str>>,
}

impl<'a> Policy<'a> {
    /// By a matrix and the manifest's two lists of retracted cards. No manifest: none is.
    pub fn new(matrix: &'a Matrix, manifest: Option<&'a CardsManifest>) -> Self {
        let lists = manifest.into_iter().flat_map(|manifest| {
            let dependent = &manifest.dependency_retracted_cards;
            manifest.retracted_cards.iter().chain(dependent)
        });
        Policy {
            hidden: lists.map(String::as_str).collect(),
            allowed: matrix
                .readings()
                .map(|(reading, sources)| (reading, sources.iter().map(String::as_str).collect()))
                .collect(),
        }
    }

    /// Whether a card may be found: not retracted, its reading known, every source allowed.
    pub fn admits(&self, entry: &Summary) -> bool {
        let sources = entry.source_ids.as_deref().unwrap_or_default();
        !self.hidden.contains(entry.id.as_str())
            && !sources.is_empty()
            && self
                .allowed
                .get(entry.reading_id.as_str())
                .is_some_and(|allowed| sources.iter().all(|id| allowed.contains(id.as_str())))
    }
}

/// A card that was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hit<'a> {
    /// The card's hash.
    pub card_hash: &'a str,
    /// Its id.
    pub card_id: &'a str,
    /// Where it is.
    pub path: &'a str,
    /// Its reading.
    pub reading_id: &'a str,
    /// The score, rounded to 6 decimals.
    pub score: f64,
    /// Its summary.
    pub summary: &'a str,
    /// Its tags.
    pub tags: &'a [String],
    /// Its title.
    pub title: &'a str,
}

impl<'a> Hit<'a> {
    /// A card with its raw score.
    pub fn new(entry: &'a Summary, score: f64) -> Self {
        Hit {
            card_hash: &entry.card_hash,
            card_id: &entry.id,
            path: &entry.path,
            reading_id: &entry.reading_id,
            score: rounded(score),
            summary: &entry.summary,
            tags: &entry.tags,
            title: &entry.title,
        }
    }

    /// The line for people.
    pub fn line(&self) -> String {
        format!(
            "{:8.4}  {}  [{}]  {}  -> {}",
            self.score, self.card_id, self.reading_id, self.title, self.path
        )
    }
}

/// Ranks in memory: over title, summary and tags of all entries, those that may not be seen
/// included, so that nobody's score depends on who asks.
pub fn search<'a>(
    entries: &'a [Summary],
    query: &str,
    policy: &Policy<'_>,
    idf: Idf,
    top_k: usize,
) -> Vec<Hit<'a>> {
    if top_k == 0 {
        return Vec::new();
    }
    let texts: Vec<String> = entries
        .iter()
        .map(|entry| format!("{} {} {}", entry.title, entry.summary, entry.tags.join(" ")))
        .collect();
    let corpus = Corpus::new(texts.iter().map(String::as_str), idf);
    let mut found: Vec<(f64, &Summary)> = corpus
        .scores(query)
        .into_iter()
        .zip(entries)
        .filter(|((_, shares), entry)| *shares && policy.admits(entry))
        .map(|((score, _), entry)| (score, entry))
        .collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.id.cmp(&b.1.id)));
    found.truncate(top_k);
    let hit = |(score, entry)| Hit::new(entry, score);
    found.into_iter().map(hit).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;
    use crate::parse::manifest::{Version, read_summaries};
    use crate::parse::matrix;

    const SUMMARIES: &[u8] =
        include_bytes!("../../../fixtures/cacg/tests/parity_corpus/out_python/summaries.json");
    const MATRIX: &[u8] =
        include_bytes!("../../../fixtures/cacg/tests/parity_corpus/out_python/source_matrix.json");
    const ORACLE: &str =
        include_str!("../../../fixtures/cacg/tests/parity_corpus/kb_search/oracle.json");

    #[test]
    fn the_oracle_s_lines() {
        let summaries = read_summaries(SUMMARIES).unwrap();
        let matrix = matrix::parse(MATRIX).unwrap();
        let policy = Policy::new(&matrix, None);
        let oracle: serde_json::Value = serde_json::from_str(ORACLE).unwrap();
        let mut cases = 0;
        for case in oracle["cases"].as_array().unwrap() {
            let top_k = case["top_k"].as_i64().unwrap_or(10);
            let hits = search(
                &summaries.summaries,
                case["query"].as_str().unwrap(),
                &policy,
                Idf::Contract,
                usize::try_from(top_k).unwrap_or(0),
            );
            let mut shown: String = hits.iter().map(|hit| hit.line() + "\n").collect();
            if hits.is_empty() {
                shown = "(no matches)\n".to_owned();
            }
            assert_eq!(shown, case["expected_stdout"].as_str().unwrap());
            cases += 1;
        }
        assert_eq!(cases, 4);
    }

    #[test]
    fn the_hidden_take_no_place_among_the_best() {
        let summaries = read_summaries(SUMMARIES).unwrap().summaries;
        let matrix = matrix::parse(MATRIX).unwrap();
        let ids = |manifest: Option<&CardsManifest>, matrix: &Matrix, top_k| -> Vec<String> {
            let policy = Policy::new(matrix, manifest);
            search(&summaries, "synthetic card", &policy, Idf::Floored, top_k)
                .iter()
                .map(|hit| hit.card_id.to_owned())
                .collect()
        };
        let manifest = CardsManifest {
            retracted_cards: vec!["synthetic-card-01".to_owned()],
            dependency_retracted_cards: vec!["synthetic-card-02".to_owned()],
            schema_version: Version,
            cards: Vec::new(),
        };
        assert_eq!(ids(None, &matrix, 1), ["synthetic-card-01"]);
        assert_eq!(ids(Some(&manifest), &matrix, 1), ["synthetic-card-03"]);
        for (reading, source) in [("reading_01", "other"), ("reading_02", "sample")] {
            let matrix = Matrix::from_lists([(reading.to_owned(), vec![source.to_owned()])]);
            assert!(ids(None, &matrix, 9).is_empty());
        }
    }

    #[test]
    fn an_entry_without_sources_is_nobody_s_to_see() {
        let mut summaries = read_summaries(SUMMARIES).unwrap().summaries;
        summaries[0].source_ids = Some(Vec::new());
        summaries[1].source_ids = None;
        let matrix = matrix::parse(MATRIX).unwrap();
        let policy = Policy::new(&matrix, None);
        let seen = summaries.iter().filter(|entry| policy.admits(entry));
        assert_eq!(seen.count(), summaries.len() - 2);
    }
}
