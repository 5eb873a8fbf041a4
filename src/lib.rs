//! The program `kb`: everything of it that touches the world, over the pure crate `kbc-queries`.
//!
//! - [`cli`]: one file per command; a command is a short story told with the rooms below.
//! - [`workspace`]: the project, its settings and files. [`session`]: the graph kept up to date.
//! - [`cache`]: derived values across runs. [`publish`]: writing `out/`.
//! - [`render`]: diagnostics for people and machines. [`semantic`]: opinions about meaning, asked for.

pub mod cache;
pub mod cli;
pub mod publish;
pub mod render;
pub mod semantic;
pub mod session;
pub mod workspace;
