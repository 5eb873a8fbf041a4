//! Opinions made of vectors: how near a claim is to what a chunk says.
//!
//! A score is the contract's `(cosine + 1) / 2`. Under the contract's scale the claim is compared
//! with the whole chunk and passes from 0.5 on, which is a cosine of zero: hardly anything fails.
//! [`Scale::sentences`] compares it with up to three sentences on end, has a band in which it
//! abstains, and lets nothing pass that the [`guard`](super::guard) names a difference for.

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
    /// Whether the claim is compared with the chunk as a whole only.
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
            whole: false,
            guarded: true,
        }
    }
}

/// See [`Scale::sentences`].
const PASS: u32 = 800_000;
/// See [`Scale::sentences`].
const FAIL: u32 = 600_000;

/// Most sentences on end that are taken together.
const ON_END: usize = 3;

/// A chunk, ready to be compared with claims.
pub struct Passages<'t> {
    chunk: &'t str,
    texts: Vec<&'t str>,
    vectors: Vec<Vec<f32>>,
}

impl<'t> Passages<'t> {
    /// The passages of a chunk with their vectors.
    ///
    /// # Errors
    /// What the embedder has to say.
    pub fn new(
        embedder: &dyn Embedder,
        scale: &Scale,
        chunk: &'t str,
    ) -> Result<Self, EmbedError> {
        let mut texts = Vec::new();
        if !scale.whole {
            let ranges = sentences(chunk);
            for (at, first) in ranges.iter().enumerate() {
                for last in ranges.iter().skip(at).take(ON_END) {
                    texts.extend(chunk.get(first.start..last.end));
                }
            }
        }
        if texts.is_empty() {
            texts.push(chunk);
        }
        let vectors = embedder.embed_documents(&texts)?;
        Ok(Passages {
            chunk,
            texts,
            vectors,
        })
    }

    /// The opinion about a claim: the score of the nearest passage, and `pass` only if some passage
    /// that is near enough does not differ in anything that weighs.
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
        let mut best = Score::default();
        let mut passes = false;
        for (text, passage) in self.texts.iter().zip(&self.vectors) {
            let score = Score::from_cosine(cosine(&vector, passage));
            best = best.max(score);
            passes |= score >= scale.pass
                && (!scale.guarded || guard::difference(claim, text, self.chunk).is_none());
        }
        let verdict = if passes {
            Verdict::Pass
        } else if best < scale.fail {
            Verdict::Fail
        } else {
            Verdict::Abstain
        };
        Ok((verdict, best))
    }
}
