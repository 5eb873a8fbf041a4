//! The program `kb`: everything of it that touches the world, over the pure crate `kbc-queries`.
//!
//! - [`cli`]: one file per command; a command is a short story told with the rooms below.
//! - [`workspace`]: the project, its settings and files. [`session`]: the graph kept up to date.
//! - [`cache`]: derived values across runs. [`publish`]: writing `out/`.
//! - [`deck`]: indexing, searching, showing and retracting cards.
//! - [`record`]: journals and histories. [`render`]: diagnostics for people and machines.
//! - [`ingest`]: one source into the manifests of a folder, as the card-graph contract has it.
//! - [`semantic`]: opinions about meaning, asked for.

#![warn(clippy::disallowed_methods)]

pub mod cache;
pub mod cli;
pub mod contract;
pub mod deck;
pub mod ingest;
pub mod publish;
pub mod record;
pub mod render;
pub mod semantic;
pub mod session;
pub mod workspace;
