//! The card-graph contract's way to run: its layers, its lines, its journal.
//!
//! `lint` and `verify` are doors to the session that `check` uses. What this room adds is a view:
//! which of the session's findings the contract counts as layer 1 and layer 2, which of them it
//! shows, and in which words. No rule is decided here.

pub mod hints;
pub mod round;
pub mod view;
pub mod visit;
