//! Bytes to values: documents, cards, the source matrix, settings. Spans are kept.

pub mod card;
pub mod document;
pub(crate) mod json;
pub mod manifest;
pub mod matrix;
pub mod problem;
pub mod role_map;
pub mod settings;
pub mod skill;
pub mod utterances;
pub mod yaml;
