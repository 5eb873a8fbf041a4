//! Merkle trees over digests, inclusion proofs, and commitments bound to the leaf count.
//!
//! The tree is arborist's: leaf `SHA-256(0x00 ‖ content)`, node `SHA-256(0x03 ‖ left ‖ right)`, the
//! last node of an odd layer is combined with itself, no leaves give thirty-two zero bytes. Under
//! that rule two lists of different length can share a root (three leaves, and the same three with
//! the last one twice), so a bare root proves nothing about the list. A [`commitment`] binds the
//! count to the root, and [`Proof::verify_commitment`] is the check to publish against.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::hash::{Digest, sha256_of};

/// Root of a tree without leaves.
pub const EMPTY_ROOT: Digest = Digest::ZERO;

/// Digest of a leaf's content: `SHA-256(0x00 ‖ content)`.
#[must_use]
pub fn leaf(content: &[u8]) -> Digest {
    sha256_of(&[&[0x00], content])
}

/// Digest of an inner node: `SHA-256(0x03 ‖ left ‖ right)`.
#[must_use]
pub fn node(left: &Digest, right: &Digest) -> Digest {
    sha256_of(&[&[0x03], &left.0, &right.0])
}

/// What is published of a tree: `SHA-256(0x04 ‖ count, eight bytes big-endian ‖ root)`.
#[must_use]
pub fn commitment(count: u64, root: &Digest) -> Digest {
    sha256_of(&[&[0x04], &count.to_be_bytes(), &root.0])
}

/// Root of the tree over `leaves`, which are digests already.
#[must_use]
pub fn root(leaves: &[Digest]) -> Digest {
    let mut layer = leaves.to_vec();
    while layer.len() > 1 {
        layer = layer_above(&layer);
    }
    layer.first().copied().unwrap_or(EMPTY_ROOT)
}

fn layer_above(layer: &[Digest]) -> Vec<Digest> {
    layer
        .chunks(2)
        .map(|pair| match pair {
            [left, right] => node(left, right),
            [alone] => node(alone, alone),
            // `chunks(2)` yields one or two elements.
            _ => EMPTY_ROOT,
        })
        .collect()
}

/// Number of layers above the leaves: ⌈log₂ count⌉, and 0 for no leaf or one.
#[must_use]
pub const fn depth(count: u64) -> u32 {
    if count <= 1 {
        0
    } else {
        u64::BITS - (count - 1).leading_zeros()
    }
}

/// A neighbour on the way from a leaf to the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sibling {
    /// Digest of the neighbouring node.
    pub hash: Digest,
    /// Whether the neighbour stands to the left of the node that is being proved.
    pub is_left: bool,
}

/// Evidence that a leaf stands at an index of a list of known length.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proof {
    /// Digest of the leaf.
    pub leaf: Digest,
    /// Place of the leaf, from 0.
    pub leaf_index: u64,
    /// Number of leaves of the tree.
    pub leaf_count: u64,
    /// From the leaf's neighbour up to the two nodes under the root.
    pub siblings: Vec<Sibling>,
}

/// Why a proof proves nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProofError {
    /// The index is not below the count.
    IndexOutOfRange {
        /// Index that the proof names.
        leaf_index: u64,
        /// Count that the proof names.
        leaf_count: u64,
    },
    /// A tree of that many leaves has another depth.
    WrongLength {
        /// Siblings that the count asks for.
        expected: u32,
        /// Siblings that the proof has.
        found: usize,
    },
    /// A sibling stands on a side that the index does not allow.
    WrongSide {
        /// Layer of the sibling, 0 at the leaves.
        layer: u32,
    },
    /// The last node of an odd layer must have itself as its sibling.
    NotItsOwnSibling {
        /// Layer of the sibling, 0 at the leaves.
        layer: u32,
    },
    /// The path ends in another root, or the root and count in another commitment.
    OtherRoot,
}

impl fmt::Display for ProofError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::IndexOutOfRange {
                leaf_index,
                leaf_count,
            } => write!(f, "leaf {leaf_index} of a tree of {leaf_count} leaves"),
            Self::WrongLength { expected, found } => write!(
                f,
                "{found} siblings where the leaf count asks for {expected}"
            ),
            Self::WrongSide { layer } => write!(
                f,
                "the sibling at layer {layer} is on the side that the leaf index excludes"
            ),
            Self::NotItsOwnSibling { layer } => write!(
                f,
                "the node at layer {layer} is the last of an odd layer but is not its own sibling"
            ),
            Self::OtherRoot => f.write_str("the path leads to another root"),
        }
    }
}

impl std::error::Error for ProofError {}

/// The proof of one leaf, or nothing when there is no leaf at that index.
#[must_use]
pub fn prove(leaves: &[Digest], index: usize) -> Option<Proof> {
    let leaf = *leaves.get(index)?;
    let mut siblings = Vec::new();
    let mut layer = leaves.to_vec();
    let mut at = index;
    while layer.len() > 1 {
        let is_left = at % 2 == 1;
        let beside = if is_left { at - 1 } else { at + 1 };
        let hash = *layer.get(beside).or_else(|| layer.get(at))?;
        siblings.push(Sibling { hash, is_left });
        layer = layer_above(&layer);
        at /= 2;
    }
    Some(Proof {
        leaf,
        leaf_index: index as u64,
        leaf_count: leaves.len() as u64,
        siblings,
    })
}

impl Proof {
    /// Checks that the leaf stands at its index under `root`.
    ///
    /// The index must agree with the side of every sibling, the number of siblings with the leaf
    /// count, and the last node of an odd layer must be its own sibling. A count that leaves all
    /// of these as they are is not noticed here: only the commitment knows it.
    ///
    /// # Errors
    /// The first [`ProofError`] from the leaf upward.
    pub fn verify(&self, root: &Digest) -> Result<(), ProofError> {
        if self.fold()? == *root {
            Ok(())
        } else {
            Err(ProofError::OtherRoot)
        }
    }

    /// Checks that the leaf stands at its index in the list that was committed to, length
    /// included.
    ///
    /// # Errors
    /// The first [`ProofError`] from the leaf upward.
    pub fn verify_commitment(&self, expected: &Digest) -> Result<(), ProofError> {
        if commitment(self.leaf_count, &self.fold()?) == *expected {
            Ok(())
        } else {
            Err(ProofError::OtherRoot)
        }
    }

    /// The root that the path leads to.
    fn fold(&self) -> Result<Digest, ProofError> {
        if self.leaf_index >= self.leaf_count {
            return Err(ProofError::IndexOutOfRange {
                leaf_index: self.leaf_index,
                leaf_count: self.leaf_count,
            });
        }
        let expected = depth(self.leaf_count);
        if self.siblings.len() != expected as usize {
            return Err(ProofError::WrongLength {
                expected,
                found: self.siblings.len(),
            });
        }
        let mut current = self.leaf;
        let mut at = self.leaf_index;
        let mut width = self.leaf_count;
        for (layer, sibling) in (0u32..).zip(&self.siblings) {
            if sibling.is_left != (at % 2 == 1) {
                return Err(ProofError::WrongSide { layer });
            }
            if !sibling.is_left && at + 1 == width && sibling.hash != current {
                return Err(ProofError::NotItsOwnSibling { layer });
            }
            current = if sibling.is_left {
                node(&sibling.hash, &current)
            } else {
                node(&current, &sibling.hash)
            };
            at /= 2;
            width = width.div_ceil(2);
        }
        Ok(current)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    const VECTORS: &str = include_str!("../../../fixtures/arborist/merkle-vectors.json");

    fn leaves_of(chunks: &Value) -> Vec<Digest> {
        chunks
            .as_array()
            .unwrap()
            .iter()
            .map(|chunk| leaf(chunk.as_str().unwrap().as_bytes()))
            .collect()
    }

    fn digest(value: &Value) -> Digest {
        value.as_str().unwrap().parse().unwrap()
    }

    fn some_leaves(count: usize) -> Vec<Digest> {
        (0..count)
            .map(|index| leaf(format!("chunk-{index}").as_bytes()))
            .collect()
    }

    #[test]
    fn every_vector() {
        let vectors: Value = serde_json::from_str(VECTORS).unwrap();
        let cases = vectors["cases"].as_array().unwrap();
        assert_eq!(cases.len(), 9);
        for case in cases {
            let leaves = leaves_of(&case["chunks"]);
            let expected: Vec<Digest> = case["leaves"]
                .as_array()
                .unwrap()
                .iter()
                .map(digest)
                .collect();
            assert_eq!(leaves, expected);
            let top = digest(&case["root"]);
            assert_eq!(root(&leaves), top);
            let proofs = case["proofs"].as_array().unwrap();
            assert_eq!(proofs.len(), leaves.len());
            for (index, stored) in proofs.iter().enumerate() {
                let proof = prove(&leaves, index).unwrap();
                assert_eq!(stored["leaf_index"].as_u64(), Some(proof.leaf_index));
                assert_eq!(
                    serde_json::to_value(&proof.siblings).unwrap(),
                    stored["siblings"]
                );
                proof.verify(&top).unwrap();
            }
        }
    }

    #[test]
    fn lists_that_share_a_root_have_different_commitments() {
        let vectors: Value = serde_json::from_str(VECTORS).unwrap();
        let pairs = vectors["known_ambiguities"].as_array().unwrap();
        assert_eq!(pairs.len(), 3);
        for pair in pairs {
            let (a, b) = (leaves_of(&pair["a"]), leaves_of(&pair["b"]));
            assert_eq!(root(&a), root(&b));
            assert_eq!(root(&a), digest(&pair["same_root"]));
            let bound = commitment(a.len() as u64, &root(&a));
            assert_ne!(bound, commitment(b.len() as u64, &root(&b)));
            // The leaf that the longer list has and the shorter one lacks cannot be proved.
            let extra = prove(&b, b.len() - 1).unwrap();
            assert!(extra.verify(&root(&a)).is_ok());
            assert!(extra.verify_commitment(&bound).is_err());
        }
    }

    #[test]
    fn nothing_is_not_a_leaf() {
        assert_eq!(root(&[]), EMPTY_ROOT);
        assert_eq!(prove(&[], 0), None);
        assert_eq!(prove(&some_leaves(3), 3), None);
        // An empty list and a list whose one leaf is the zero digest share a root only.
        assert_eq!(root(&[Digest::ZERO]), root(&[]));
        assert_ne!(commitment(1, &Digest::ZERO), commitment(0, &Digest::ZERO));
    }

    #[test]
    fn depth_is_the_rounded_up_logarithm() {
        let depths: Vec<u32> = (0..=9).map(depth).collect();
        assert_eq!(depths, [0, 0, 1, 2, 2, 3, 3, 3, 3, 4]);
        assert_eq!(depth(u64::MAX), 64);
    }

    #[test]
    fn proofs_of_all_sizes() {
        for count in 1..=70 {
            let leaves = some_leaves(count);
            let top = root(&leaves);
            let bound = commitment(count as u64, &top);
            for index in 0..count {
                let proof = prove(&leaves, index).unwrap();
                assert_eq!(proof.verify(&top), Ok(()));
                assert_eq!(proof.verify_commitment(&bound), Ok(()));
            }
        }
    }

    #[test]
    fn every_flipped_bit_is_noticed() {
        for count in [1, 2, 3, 5, 8, 13] {
            let leaves = some_leaves(count);
            let top = root(&leaves);
            for index in 0..count {
                let proof = prove(&leaves, index).unwrap();
                for bit in 0..256 {
                    let flip = |digest: &mut Digest| digest.0[bit / 8] ^= 1 << (bit % 8);
                    let mut other_root = top;
                    flip(&mut other_root);
                    assert!(proof.verify(&other_root).is_err());
                    let mut tampered = proof.clone();
                    flip(&mut tampered.leaf);
                    assert!(tampered.verify(&top).is_err());
                    for layer in 0..proof.siblings.len() {
                        let mut tampered = proof.clone();
                        flip(&mut tampered.siblings[layer].hash);
                        assert!(tampered.verify(&top).is_err());
                    }
                }
                for layer in 0..proof.siblings.len() {
                    let mut tampered = proof.clone();
                    tampered.siblings[layer].is_left ^= true;
                    assert!(tampered.verify(&top).is_err());
                }
            }
        }
    }

    proptest! {
        #[test]
        fn another_index_count_or_length_is_noticed(
            count in 1usize..=70,
            pick in any::<prop::sample::Index>(),
            other_index in any::<u64>(),
            other_count in any::<u64>(),
            extra in any::<([u8; 32], bool)>(),
        ) {
            let leaves = some_leaves(count);
            let bound = commitment(count as u64, &root(&leaves));
            let proof = prove(&leaves, pick.index(count)).unwrap();

            for wrong in [other_index, other_index % 71] {
                if wrong != proof.leaf_index {
                    let tampered = Proof { leaf_index: wrong, ..proof.clone() };
                    prop_assert!(tampered.verify(&root(&leaves)).is_err());
                    prop_assert!(tampered.verify_commitment(&bound).is_err());
                }
            }
            for wrong in [other_count, other_count % 71] {
                if wrong != proof.leaf_count {
                    let tampered = Proof { leaf_count: wrong, ..proof.clone() };
                    prop_assert!(tampered.verify_commitment(&bound).is_err());
                }
            }
            let mut longer = proof.clone();
            longer.siblings.push(Sibling { hash: Digest(extra.0), is_left: extra.1 });
            prop_assert!(longer.verify_commitment(&bound).is_err());
            if !proof.siblings.is_empty() {
                let mut shorter = proof.clone();
                shorter.siblings.pop();
                prop_assert!(shorter.verify_commitment(&bound).is_err());
                let mut beheaded = proof.clone();
                beheaded.siblings.remove(0);
                prop_assert!(beheaded.verify_commitment(&bound).is_err());
            }
        }

        #[test]
        fn proofs_survive_json(count in 1usize..=70, pick in any::<prop::sample::Index>()) {
            let proof = prove(&some_leaves(count), pick.index(count)).unwrap();
            let json = serde_json::to_string(&proof).unwrap();
            prop_assert_eq!(serde_json::from_str::<Proof>(&json).unwrap(), proof);
        }
    }
}
