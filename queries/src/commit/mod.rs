//! What leaves the build as proof: canonical JSON, SHA-256 commitments, Merkle trees.
//!
//! Every published hash of the card-graph contract is SHA-256 over canonical JSON or over text in
//! the contract's normal form. Change detection inside the build uses BLAKE3 fingerprints and is
//! not found here.

pub mod canonical;
mod canonical_key;
mod canonical_writer;
pub mod hash;
pub mod merkle;
pub mod strict;

#[cfg(test)]
mod canonical_tests;
