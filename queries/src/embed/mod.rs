//! Texts to vectors.
//!
//! An [`Embedder`] is the one thing that retrieval and the semantic layer know about models.
//! `static_table::StaticTable` is the one that needs no network and no process: a table of one
//! vector per token, in the layout of model2vec, of which one is built into the program
//! (`builtin`). Nothing here reads a file: a model's bytes are given.
//!
//! What is *absent*: search, ranking, thresholds and verdicts. A vector says how alike two texts
//! sound, never that one follows from the other.

use std::fmt;

#[cfg(feature = "embed")]
mod static_table;

#[cfg(feature = "embed")]
pub use static_table::{BUILTIN_VERSION, StaticTable, builtin};

/// Gives texts vectors. All vectors of one embedder have one length and compare by [`cosine`].
pub trait Embedder: Send + Sync {
    /// Names the model and its exact bytes. Vectors of different versions must never be compared.
    fn model_version(&self) -> &str;

    /// The number of components of every vector.
    fn dimension(&self) -> usize;

    /// The vectors of texts that are looked for, in their order.
    ///
    /// # Errors
    /// The model refused a text or could not be asked.
    fn embed_documents(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError>;

    /// The vector of what is asked for. Some models treat it unlike a document.
    ///
    /// # Errors
    /// The model refused the text or could not be asked.
    fn embed_query(&self, text: &str) -> Result<Vec<f32>, EmbedError>;
}

/// Why there is no embedder, or no vector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EmbedError {
    /// The model's files are not what they should be.
    Model(String),
    /// The model could not do its work.
    Run(String),
}

impl fmt::Display for EmbedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EmbedError::Model(reason) => write!(f, "the embedding model cannot be used: {reason}"),
            EmbedError::Run(reason) => write!(f, "the embedding model failed: {reason}"),
        }
    }
}

impl std::error::Error for EmbedError {}

/// The cosine of the angle between two vectors, from -1 to 1; 0 where one of them is nothing, or
/// their lengths differ. Summed in order with doubles, so that it is the same on every machine.
pub fn cosine(left: &[f32], right: &[f32]) -> f64 {
    if left.len() != right.len() {
        return 0.0;
    }
    let (mut dot, mut lefts, mut rights) = (0.0f64, 0.0f64, 0.0f64);
    for (a, b) in left.iter().zip(right) {
        let (a, b) = (f64::from(*a), f64::from(*b));
        dot += a * b;
        lefts += a * a;
        rights += b * b;
    }
    let norm = lefts.sqrt() * rights.sqrt();
    if norm > 0.0 && norm.is_finite() {
        (dot / norm).clamp(-1.0, 1.0)
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn cosine_of_the_plain_cases() {
        let table: &[(&[f32], &[f32], f64)] = &[
            (&[1.0, 0.0], &[2.0, 0.0], 1.0),
            (&[1.0, 0.0], &[0.0, 3.0], 0.0),
            (&[1.0, 1.0], &[-1.0, -1.0], -1.0),
            (&[0.0, 0.0], &[1.0, 0.0], 0.0),
            (&[1.0], &[1.0, 0.0], 0.0),
            (&[f32::NAN], &[1.0], 0.0),
            (&[f32::INFINITY], &[1.0], 0.0),
        ];
        for (left, right, expected) in table {
            let found = cosine(left, right);
            assert!(
                (found - expected).abs() < 1e-9,
                "{left:?} {right:?} {found}"
            );
        }
    }

    proptest! {
        #[test]
        fn cosine_is_symmetric_and_bounded(pairs in prop::collection::vec((-1e6f32..1e6, -1e6f32..1e6), 0..40)) {
            let (left, right): (Vec<f32>, Vec<f32>) = pairs.into_iter().unzip();
            let found = cosine(&left, &right);
            prop_assert!((-1.0..=1.0).contains(&found));
            prop_assert_eq!(found, cosine(&right, &left));
        }
    }
}
