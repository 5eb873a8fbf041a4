//! Canonical JSON, chunk and card hashes, Merkle trees and proofs.
