//! Okapi BM25 over small texts in memory (contract §5.4): hints for a quote that was not found, and
//! the search without a sidecar.
//!
//! `k1` is 1.5 and `b` 0.75; `idf = ln(N − df + 0.5) − ln(df + 0.5)` (Robertson and Zaragoza, The
//! Probabilistic Relevance Framework, 2009). That idf is negative for a term in more than half of
//! the texts. The contract puts a quarter of the mean idf in its place, which itself is negative in
//! a tiny corpus: more matching words then rank lower. [`Idf::Floored`] never does that.
//!
//! Ranking proposes; it decides nothing. Whether a quote stands in a text is
//! [`crate::text::quote`]'s.

use std::collections::HashMap;

use serde::Serialize;

use crate::text::normalize::normalize;

/// How soon more of the same term stops to count.
const K1: f64 = 1.5;
/// How much the length of a text counts.
const B: f64 = 0.75;
/// The factor of what stands in for a negative idf.
const EPSILON: f64 = 0.25;
/// Most hints about one quote.
pub const MOST_HINTS: usize = 3;
/// Length of a preview, in code points.
const PREVIEW: usize = 120;

/// What a term that is in most texts is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Idf {
    /// A quarter of the mean over all terms, of whatever sign, as the contract has it.
    Contract,
    /// Never less than `ln(1 + odds) / 4`, with `odds` the argument of the other logarithm: it is
    /// positive, falls with the number of texts, and for rare terms is the contract's value.
    #[default]
    Floored,
}

/// The words of a text as they are looked up: normal form, full case folding, cut at spaces.
pub fn tokens(text: &str) -> Vec<String> {
    let folded = fold_case(&normalize(text));
    let words = folded.split(' ').filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}

/// Full Unicode case folding, up to the choice of the form that stands for a class.
///
/// Lower, upper and lower case in turn give texts that are equal exactly when their foldings are;
/// the dotless i, which folds to itself, is the one exception.
fn fold_case(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let mut folded = String::with_capacity(text.len());
    for character in text.chars() {
        if character == 'ı' {
            folded.push(character);
            continue;
        }
        let upper = character.to_lowercase().flat_map(char::to_uppercase);
        folded.extend(upper.flat_map(char::to_lowercase));
    }
    folded
}

/// `score` rounded to 6 decimals, as scores are published.
pub fn rounded(score: f64) -> f64 {
    format!("{score:.6}").parse().unwrap_or(0.0)
}

/// A text that a term occurs in, and how often.
#[derive(Clone, Copy, Debug)]
struct Posting {
    text: usize,
    count: f64,
}

/// Texts that are ranked against each other.
#[derive(Clone, Debug, Default)]
pub struct Corpus {
    terms: HashMap<String, usize>,
    postings: Vec<Vec<Posting>>,
    idf: Vec<f64>,
    /// `k1 · (1 − b + b · length / mean length)` of each text.
    damping: Vec<f64>,
}

impl Corpus {
    /// Takes in texts; they are numbered in order.
    pub fn new<'t>(texts: impl IntoIterator<Item = &'t str>, idf: Idf) -> Self {
        let mut terms: HashMap<String, usize> = HashMap::new();
        let mut postings: Vec<Vec<Posting>> = Vec::new();
        let mut lengths: Vec<f64> = Vec::new();
        for (text, content) in texts.into_iter().enumerate() {
            let mut length = 0.0;
            for word in tokens(content) {
                length += 1.0;
                let next = postings.len();
                let term = *terms.entry(word).or_insert(next);
                if term == next {
                    postings.push(Vec::new());
                }
                let Some(list) = postings.get_mut(term) else {
                    continue;
                };
                match list.last_mut() {
                    Some(last) if last.text == text => last.count += 1.0,
                    _ => list.push(Posting { text, count: 1.0 }),
                }
            }
            lengths.push(length);
        }
        let count = lengths.len() as f64;
        let total: f64 = lengths.iter().sum();
        // Without a single word nothing is ever scored, and the mean is of no consequence.
        let mean = if total > 0.0 { total / count } else { 1.0 };
        Corpus {
            idf: weights(&postings, count, idf),
            damping: lengths
                .iter()
                .map(|length| K1 * (1.0 - B + B * length / mean))
                .collect(),
            terms,
            postings,
        }
    }

    /// Number of texts.
    pub fn len(&self) -> usize {
        self.damping.len()
    }

    /// Whether there is no text.
    pub fn is_empty(&self) -> bool {
        self.damping.is_empty()
    }

    /// The score of every text for a query. A word counts as often as the query has it. The second
    /// value says whether the text has any of the words.
    pub fn scores(&self, query: &str) -> Vec<(f64, bool)> {
        let mut scores = vec![(0.0, false); self.len()];
        for word in tokens(query) {
            let Some(&term) = self.terms.get(&word) else {
                continue;
            };
            let (Some(list), Some(idf)) = (self.postings.get(term), self.idf.get(term)) else {
                continue;
            };
            for posting in list {
                if let (Some(score), Some(damping)) =
                    (scores.get_mut(posting.text), self.damping.get(posting.text))
                {
                    score.0 += idf * (posting.count * (K1 + 1.0) / (posting.count + damping));
                    score.1 = true;
                }
            }
        }
        scores
    }
}

/// The idf of every term, in the order of first occurrence.
fn weights(postings: &[Vec<Posting>], count: f64, policy: Idf) -> Vec<f64> {
    let plain = |list: &Vec<Posting>| {
        let having = list.len() as f64;
        (count - having + 0.5).ln() - (having + 0.5).ln()
    };
    let mut idf: Vec<f64> = postings.iter().map(plain).collect();
    match policy {
        Idf::Contract => {
            let sum: f64 = idf.iter().sum();
            let instead = EPSILON * sum / idf.len() as f64;
            for value in &mut idf {
                if *value < 0.0 {
                    *value = instead;
                }
            }
        }
        Idf::Floored => {
            for value in &mut idf {
                *value = value.max(EPSILON * value.exp().ln_1p());
            }
        }
    }
    idf
}

/// A chunk that might be meant, for a quote that is not in the one it cites.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hint {
    /// The chunk.
    pub chunk_id: String,
    /// Always true: a hint is no verdict.
    pub hint_only: bool,
    /// BM25 score, rounded to 6 decimals.
    pub score: f64,
    /// The first 120 code points of the chunk's text.
    pub text_preview: String,
}

/// The chunks of one source, ready to be asked about many quotes.
#[derive(Clone, Debug)]
pub struct Hints<'c> {
    corpus: Corpus,
    chunks: Vec<(&'c str, &'c str)>,
}

impl<'c> Hints<'c> {
    /// Takes in the active chunks of a source: id and text, in the source's order.
    pub fn new(chunks: impl IntoIterator<Item = (&'c str, &'c str)>, idf: Idf) -> Self {
        let chunks: Vec<(&str, &str)> = chunks.into_iter().collect();
        Hints {
            corpus: Corpus::new(chunks.iter().map(|(_, text)| *text), idf),
            chunks,
        }
    }

    /// The chunks most like a quote, best first, at most [`MOST_HINTS`]; also those that share no
    /// word with it.
    pub fn of(&self, quote: &str) -> Vec<Hint> {
        let mut scored: Vec<(f64, &(&str, &str))> = self
            .corpus
            .scores(quote)
            .into_iter()
            .map(|(score, _)| score)
            .zip(&self.chunks)
            .collect();
        // The sort is stable: equal scores stay in the order of the chunks.
        scored.sort_by(|a, b| b.0.total_cmp(&a.0));
        scored
            .into_iter()
            .take(MOST_HINTS)
            .map(|(score, (id, text))| Hint {
                chunk_id: (*id).to_owned(),
                hint_only: true,
                score: rounded(score),
                text_preview: text.chars().take(PREVIEW).collect(),
            })
            .collect()
    }
}

/// The hints about one quote. Whoever has several about one source keeps a [`Hints`].
pub fn hints<'c>(
    chunks_of_source: impl IntoIterator<Item = (&'c str, &'c str)>,
    quote: &str,
    idf: Idf,
) -> Vec<Hint> {
    Hints::new(chunks_of_source, idf).of(quote)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use proptest::prelude::*;

    use super::*;
    use crate::parse::manifest::read_chunks;

    const CHUNKS: &[u8] = include_bytes!(
        "../../../fixtures/cacg/tests/parity_corpus/out_python/chunks_manifest.json"
    );
    /// `kb verify` of the semantic fixture card.
    const STDERR: &str = include_str!(
        "../../../fixtures/cacg/tests/parity_corpus/out_python/parity_rows/kb_verify_semantic_parity_golden/py-out/card.stderr"
    );
    const CARD: &str = include_str!("../../../fixtures/cacg/tests/parity_corpus/semantic/card.md");

    fn golden_hints(idf: Idf) -> Vec<Hint> {
        let manifest = read_chunks(CHUNKS).unwrap();
        let parsed = crate::parse::card::parse(CARD);
        let quote = parsed.complete().unwrap().citations[0].quote.clone();
        let chunks = manifest
            .chunks
            .iter()
            .map(|chunk| (&*chunk.chunk_id, &*chunk.text));
        hints(chunks, &quote, idf)
    }

    #[test]
    fn the_contract_s_hints_are_those_of_the_golden() {
        let expected: Vec<&str> = STDERR
            .lines()
            .filter_map(|line| line.trim().strip_prefix("hint chunk_id="))
            .collect();
        let found: Vec<String> = golden_hints(Idf::Contract)
            .iter()
            .map(|hint| {
                let score = crate::commit::canonical::to_string(&serde_json::json!(hint.score));
                format!("{} score={score}", hint.chunk_id)
            })
            .collect();
        assert!(!found.is_empty());
        assert_eq!(found, expected);
    }

    #[test]
    fn the_floored_idf_puts_the_chunk_with_more_of_the_words_first() {
        let found = golden_hints(Idf::Floored);
        assert!(found.iter().all(|hint| hint.hint_only && hint.score > 0.0));
        assert_ne!(
            found.first().map(|hint| &hint.chunk_id),
            golden_hints(Idf::Contract)
                .first()
                .map(|hint| &hint.chunk_id)
        );
    }

    #[test]
    fn folding_is_the_full_one() {
        for (a, b) in [
            ("STRASSE", "straße"),
            ("ẞ", "SS"),
            ("ΣΑΣ", "σας"),
            ("ſ", "s"),
            ("µ", "μ"),
            ("İ", "i\u{307}"),
        ] {
            assert_eq!(fold_case(a), fold_case(b), "{a} {b}");
        }
        assert_ne!(fold_case("ı"), fold_case("i"));
        assert_eq!(tokens("  A\u{a0}b-\n C\n"), ["a", "bc"]);
    }

    #[test]
    fn nothing_is_scored_among_nothing() {
        for idf in [Idf::Contract, Idf::Floored] {
            assert!(Corpus::new([], idf).scores("a").is_empty());
            assert_eq!(Corpus::new(["", " "], idf).scores("a"), [(0.0, false); 2]);
            assert_eq!(Corpus::new(["a"], idf).scores(""), [(0.0, false)]);
            assert!(hints([], "a", idf).is_empty());
        }
    }

    #[test]
    fn rare_terms_weigh_what_the_contract_says() {
        let texts: Vec<String> = (0..20).map(|number| format!("word{number} all")).collect();
        let texts = || texts.iter().map(String::as_str);
        let contract = Corpus::new(texts(), Idf::Contract).scores("word3");
        let floored = Corpus::new(texts(), Idf::Floored).scores("word3");
        assert_eq!(contract, floored);
        assert!(contract.iter().filter(|score| score.1).count() == 1);
    }

    fn words() -> impl Strategy<Value = String> {
        prop::collection::vec(prop::sample::select(vec!["a", "b", "c", "d", "e"]), 1..8)
            .prop_map(|words| words.join(" "))
    }

    proptest! {
        #[test]
        fn floored_scores_are_finite_and_grow_with_every_matching_word(
            texts in prop::collection::vec(words(), 1..6),
            query in words(),
            more in prop::sample::select(vec!["a", "b", "c", "d", "e", "z"]),
        ) {
            let corpus = Corpus::new(texts.iter().map(String::as_str), Idf::Floored);
            let before = corpus.scores(&query);
            let after = corpus.scores(&format!("{query} {more}"));
            for ((before, after), text) in before.iter().zip(&after).zip(&texts) {
                prop_assert!(before.0.is_finite() && before.0 >= 0.0);
                if text.split(' ').any(|word| word == more) {
                    prop_assert!(after.0 > before.0);
                } else {
                    prop_assert_eq!(after, before);
                }
            }
        }

        #[test]
        fn contract_scores_are_finite(
            texts in prop::collection::vec(words(), 1..6),
            query in any::<String>(),
        ) {
            let corpus = Corpus::new(texts.iter().map(String::as_str), Idf::Contract);
            prop_assert!(corpus.scores(&query).iter().all(|score| score.0.is_finite()));
        }

        #[test]
        fn a_score_is_the_formula_s(texts in prop::collection::vec(words(), 1..6), query in words()) {
            let corpus = Corpus::new(texts.iter().map(String::as_str), Idf::Floored);
            let split: Vec<Vec<&str>> = texts.iter().map(|text| text.split(' ').collect()).collect();
            let count = split.len() as f64;
            let mean = split.iter().map(Vec::len).sum::<usize>() as f64 / count;
            for (text, (found, _)) in split.iter().zip(corpus.scores(&query)) {
                let mut expected = 0.0;
                for word in query.split(' ') {
                    let having = split.iter().filter(|text| text.contains(&word)).count() as f64;
                    let odds = (count - having + 0.5) / (having + 0.5);
                    let idf = odds.ln().max(0.25 * (1.0 + odds).ln());
                    let times = text.iter().filter(|other| **other == word).count() as f64;
                    let length = text.len() as f64 / mean;
                    if times > 0.0 {
                        expected += idf * times * 2.5 / (times + 1.5 * (0.25 + 0.75 * length));
                    }
                }
                prop_assert!((found - expected).abs() < 1e-9, "{} {}", found, expected);
            }
        }
    }
}
