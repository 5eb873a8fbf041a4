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
//! - Histories and `card_hash:` lines are written *before* it. A run of `index` that dies there has
//!   only done a part of what the next one finds still to do, and an event whose hash is already
//!   the last one of its history is not written again.
//! - A card is retracted if either the manifest or the last event of its history says so. A
//!   `retract` that dies between the two is completed by the next run, which puts the id on the
//!   list. An `unretract` that dies there has not happened: the list still has the card, and the
//!   next run says so in the history again.
//!
//! On any failure that is no death, what was written is taken back.

pub mod cache;
pub mod gather;
pub mod group;
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
