//! The deck on disk: indexing cards, searching and showing them, retracting and giving back.
//!
//! What is to be published, found or withdrawn is decided in `kbc_queries::deck`; this room finds
//! the files, keeps the order of writing, and takes everything back when a step fails.
//!
//! # What holds after a crash
//!
//! Whatever is published goes into `out/` as one group: manifests, `INDEX.md` and the search
//! sidecar change together or not at all (`crate::publish`). That group is the **commit point** of
//! every verb here.
//!
//! - `index` appends histories and writes `card_hash:` lines *before* it: a run that dies there has
//!   only done a part of what the next one finds still to do, and an event whose hash is already
//!   the last one of its history is not written again.
//! - `retract` and `unretract` append to a card's history *after* it. A retraction is what either
//!   the manifest or the last event of a history says, so a kill in between leaves the card
//!   retracted in both cases; the next run completes the history or the list.

pub mod cache;
pub mod gather;
pub mod group;
pub mod history;
pub mod index;
pub mod log;
pub mod place;
pub mod refusal;
pub mod retract;
pub mod rewrite;
pub mod show;
pub mod sidecar;
pub mod state;
pub mod unretract;

pub use self::place::Place;
pub use self::refusal::Refusal;

/// Told of every writing step before it is made, by a word that names it. Tests die in it.
pub type Watch<'a> = &'a (dyn Fn(&str) + Sync);
