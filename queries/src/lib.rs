//! The derivation graph of `kbc`: pure functions from bytes to chunks, commitments and
//! diagnostics. No file, clock, network or environment is read here; the world comes in through
//! the [`system::System`] on the database.
//!
//! ```text
//! SourceFile ── source ── cited_chunk ──┐
//! CardFile ──── card ──── citation ─────┼── citation_report ──┐
//! SourceName ── which file, retracted? ─┤                     ├── the session's report of a card
//! ReadingName ─ allowed sources ────────┘   card_report ──────┘
//! ```
//!
//! - Bytes in: [`input`] (what is known of files and names), [`system`] (the door),
//!   [`documents`] (text, outside the graph and evictable).
//! - [`parse`]: bytes to documents, cards, matrix, settings, manifests.
//! - [`chunk`] and [`commit`]: documents to chunks, hashes, Merkle trees.
//! - [`text`]: normal forms and the quote matcher.
//! - [`mod@derive`]: the per-file queries. [`resolve`]: names to sources.
//! - [`check`]: the rules. [`emit`]: what is published. [`record`]: journals and histories.
//!   [`diagnostic`]: what is said.
//!
//! What is *absent*: no query reads a whole-corpus value on behalf of one card, and nothing here
//! knows about terminals, processes or databases on disk.

// Tests measure time; what they test must not.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

use salsa::Database;

pub mod check;
pub mod chunk;
pub mod commit;
pub mod deck;
pub mod derive;
pub mod diagnostic;
pub mod documents;
pub mod embed;
pub mod emit;
pub mod input;
pub mod parse;
pub mod record;
pub mod resolve;
pub mod round;
pub mod semantic;
pub mod system;
pub mod text;

/// Largest card file that is read, in bytes. A card is a page of Markdown; what is larger than
/// this is something else.
pub const CARD_LIMIT: u64 = 4 << 20;

/// What the queries need of the database they run on.
#[salsa::db]
pub trait Db: Database {
    /// The door to the world.
    fn system(&self) -> &dyn system::System;
    /// Extracted documents.
    fn documents(&self) -> &documents::Documents;
    /// Names to inputs.
    fn names(&self) -> &input::Names;
}
