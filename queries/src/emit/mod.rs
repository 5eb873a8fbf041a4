//! What is published, as pure functions: manifests of the card-graph contract (§2.5, §2.6, §6.3,
//! §6.4), document commitments, and the index manifest with its input hashes (`contracts/rag.md`
//! §7 in our reading), and cards made of the records of other tools. Nothing here writes a file.

pub mod import;
pub mod index_manifest;
pub mod index_page;
pub mod records;
