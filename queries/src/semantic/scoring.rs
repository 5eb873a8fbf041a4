//! Opinions made of vectors: how near a claim is to what a chunk says.
//!
//! A score is the contract's `(cosine + 1) / 2`. Under the contract's scale the claim is compared
//! with the whole chunk and passes from 0.5 on, which is a cosine of zero: the score hardly fails
//! anything. [`Scale::sentences`] compares it with up to three sentences on end, has a band in which
//! it abstains, and takes a claim that is almost the passage's words, and yet not found, for a
//! misquotation and not for a paraphrase. Under both, a claim for which the
//! [`guard`] names a difference never passes.

use super::guard;
use super::{Score, Verdict};
use crate::embed::{EmbedError, Embedder, cosine};
use crate::text::sentences::sentences;

/// What a score is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale {
    /// From here on a claim passes.
    pub pass: Score,
    /// Below this it fails; between the two the evaluator abstains.
    pub fail: Score,
    /// From here on a claim is no paraphrase any more but the same words, put differently.
    pub verbatim: Score,
    /// Whether the score is that of the chunk as a whole, and not that of the nearest passage.
    pub whole: bool,
    /// Whether a difference that weighs keeps a claim from passing.
    pub guarded: bool,
}

impl Scale {
    /// The contract's.
    pub fn contract() -> Self {
        let half = Score::from_millionths(500_000).unwrap_or_default();
        Scale {
            pass: half,
            fail: half,
            verbatim: Score::ABOVE,
            whole: true,
            guarded: true,
        }
    }

    /// Measured with the table that is built in; see `docs/semantic.md` for the numbers. Another
    /// model has other scores.
    pub fn sentences() -> Self {
        Scale {
            pass: Score::from_millionths(PASS).unwrap_or_default(),
            fail: Score::from_millionths(FAIL).unwrap_or_default(),
            verbatim: Score::from_millionths(VERBATIM).unwrap_or_default(),
            whole: false,
            guarded: true,
        }
    }
}

/// See [`Scale::sentences`].
const PASS: u32 = 860_000;
/// See [`Scale::sentences`].
const FAIL: u32 = 700_000;
/// See [`Scale::sentences`].
const VERBATIM: u32 = 965_000;

/// Most sentences on end that are taken together.
const ON_END: usize = 3;

/// A chunk, ready to be compared with claims.
pub struct Passages<'t> {
    chunk: &'t str,
    /// The vector of the chunk.
    whole: Vec<f32>,
    /// Each with whether it is a single sentence.
    texts: Vec<(&'t str, bool)>,
    vectors: Vec<Vec<f32>>,
}

impl<'t> Passages<'t> {
    /// The passages of a chunk with their vectors.
    ///
    /// # Errors
    /// What the embedder has to say.
    pub fn new(embedder: &dyn Embedder, chunk: &'t str) -> Result<Self, EmbedError> {
        let mut texts = Vec::new();
        let ranges = sentences(chunk);
        for (at, first) in ranges.iter().enumerate() {
            for (more, last) in ranges.iter().skip(at).take(ON_END).enumerate() {
                texts.extend(
                    chunk
                        .get(first.start..last.end)
                        .map(|text| (text, more == 0)),
                );
            }
        }
        if texts.is_empty() {
            texts.push((chunk, true));
        }
        let mut plain: Vec<&str> = texts.iter().map(|(text, _)| *text).collect();
        plain.push(chunk);
        let mut vectors = embedder.embed_documents(&plain)?;
        let whole = vectors.pop().unwrap_or_default();
        Ok(Passages {
            chunk,
            whole,
            texts,
            vectors,
        })
    }

    /// The opinion about a claim: its score, and `pass` only if neither it nor
    /// the nearest sentence differs in anything that weighs.
    ///
    /// # Errors
    /// What the embedder has to say.
    pub fn assess(
        &self,
        embedder: &dyn Embedder,
        scale: &Scale,
        claim: &str,
    ) -> Result<(Verdict, Score), EmbedError> {
        let vector = embedder.embed_query(claim)?;
        // The nearest of all, and the nearest single sentence: a window of several sentences may
        // hold words of one that the claim is not about, and a single sentence too few.
        let mut best = (Score::default(), self.chunk);
        let mut sentence = best;
        for ((text, single), passage) in self.texts.iter().zip(&self.vectors) {
            let score = Score::from_cosine(cosine(&vector, passage));
            if score > best.0 {
                best = (score, text);
            }
            if *single && score > sentence.0 {
                sentence = (score, text);
            }
        }
        let differs = |passage: &str| {
            scale.guarded && guard::difference(claim, passage, self.chunk).is_some()
        };
        let score = if scale.whole {
            Score::from_cosine(cosine(&vector, &self.whole))
        } else {
            best.0
        };
        let near = score >= scale.pass && score < scale.verbatim;
        let verdict = if near && !differs(best.1) && !differs(sentence.1) {
            Verdict::Pass
        } else if score < scale.fail {
            Verdict::Fail
        } else {
            Verdict::Abstain
        };
        Ok((verdict, score))
    }
}
