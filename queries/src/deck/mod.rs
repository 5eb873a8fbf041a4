//! The deck: all cards of a knowledge base as one searchable, publishable thing.
//!
//! Ranking, the retraction cascade, the plan of an index run and the view of a card, as values.
//! What one card means is [`crate::parse::card`]; whether it is right is [`crate::check`]; files
//! are read and written by whoever calls this.

pub mod agreement;
pub mod bm25;
pub mod cascade;
pub mod plan;
pub mod search;
pub mod view;
