//! `index_manifest.json`: what the published set was made of, and the gate that compares.
//!
//! Each collection's input hash covers what the collection was compiled from; comparing it with
//! the one that today's files give says whether the index is the one these sources make. The
//! manifest also holds the hashes of the other published files, so that a reader can tell a whole
//! set from a torn one.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::commit::canonical;
use crate::commit::hash::{Digest, sha256};
use crate::emit::records::DocumentCommitment;

/// Schema of the manifest.
pub const SCHEMA_VERSION: &str = "kbc.index.v1";

/// The manifest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IndexManifest {
    /// The cards.
    pub cards: CardsInput,
    /// The collections, in the order of the settings.
    pub collections: Vec<CollectionInput>,
    /// Commitment over all documents, in the order of their ids.
    pub corpus: DocumentCommitment,
    /// SHA-256 of the source matrix; absent when there is none.
    pub matrix_hash: Option<Digest>,
    /// SHA-256 of every other published file.
    pub outputs: BTreeMap<String, Digest>,
    /// [`SCHEMA_VERSION`].
    pub schema_version: String,
    /// SHA-256 of the settings that decide what is compiled and how.
    pub settings_hash: Digest,
}

/// The cards as input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CardsInput {
    /// Card files, by path.
    pub documents: Vec<CardInput>,
    /// SHA-256 of the canonical JSON of `documents`.
    pub input_hash: Digest,
}

/// A card as input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CardInput {
    /// SHA-256 of the file's bytes.
    pub content_hash: Digest,
    /// Path.
    pub path: String,
}

/// A collection as input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CollectionInput {
    /// Whether its staleness is only advice.
    pub advisory: bool,
    /// Chunks of all documents.
    pub chunk_count: u64,
    /// How documents are cut, with every parameter.
    pub chunk_params: String,
    /// Number of documents.
    pub document_count: u64,
    /// Its documents, by path.
    pub documents: Vec<DocumentInput>,
    /// Model of the vectors; absent without vectors.
    pub embedding_model_version: Option<String>,
    /// SHA-256 over what the collection was compiled from: for canon the content hashes, for
    /// substrate the ids, chunk counts, model and content hashes.
    pub input_hash: Digest,
    /// Name.
    pub name: String,
    /// `canon` or `substrate`.
    pub scope: String,
}

/// A document as input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DocumentInput {
    /// Authority tier, as a decimal number.
    pub authority: String,
    /// Chunks.
    pub chunk_count: u64,
    /// Commitment of the document; absent for a file that gives no chunks.
    pub commitment: Option<Digest>,
    /// SHA-256 of the file's bytes; absent for a file that cannot be read.
    pub content_hash: Option<Digest>,
    /// How the file is read and cut: extractor, chunker and their versions.
    pub derivation: String,
    /// Path.
    pub path: String,
    /// Id.
    pub source_id: String,
}

impl CardsInput {
    /// The input made of `documents`, which are sorted by path.
    pub fn new(documents: Vec<CardInput>) -> Self {
        let input_hash = hash(&documents);
        CardsInput { documents, input_hash }
    }
}

impl CollectionInput {
    /// Sets the counts and the input hash that follow from the documents.
    pub fn seal(mut self) -> Self {
        self.document_count = self.documents.len() as u64;
        self.chunk_count = self.documents.iter().map(|document| document.chunk_count).sum();
        self.input_hash = if self.scope == "canon" {
            hash(
                &self
                    .documents
                    .iter()
                    .map(|document| {
                        serde_json::json!({
                            "authority": document.authority,
                            "content_hash": document.content_hash,
                            "derivation": document.derivation,
                            "source_id": document.source_id,
                        })
                    })
                    .collect::<Vec<_>>(),
            )
        } else {
            hash(
                &self
                    .documents
                    .iter()
                    .map(|document| {
                        serde_json::json!({
                            "authority": document.authority,
                            "chunk_count": document.chunk_count,
                            "content_hash": document.content_hash,
                            "derivation": document.derivation,
                            "embedding_model_version": self.embedding_model_version,
                            "source_id": document.source_id,
                        })
                    })
                    .collect::<Vec<_>>(),
            )
        };
        self
    }
}

fn hash<T: Serialize>(value: &T) -> Digest {
    match canonical::to_vec(value) {
        Ok(bytes) => sha256(&bytes),
        // The values hashed here have string keys only, so this does not happen; should it, the
        // zero hash equals no hash and the gate is red.
        Err(_) => Digest::ZERO,
    }
}

/// One way in which today's files differ from what the published set was made of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Drift {
    /// `added`, `removed`, `changed` or `moved`.
    pub change: &'static str,
    /// The collection's name, `cards`, `matrix` or `settings`.
    pub part: String,
    /// The file, where it is about one.
    pub path: Option<String>,
    /// What about it, in words.
    pub detail: String,
    /// Whether it is only advice.
    pub advisory: bool,
}

/// Compares the published manifest with the inputs of today. Empty: fresh.
///
/// `today` has no `outputs`, and for documents whose inputs are unchanged the published chunk
/// count and commitment, since equal inputs give equal chunks.
pub fn compare(published: &IndexManifest, today: &IndexManifest) -> Vec<Drift> {
    let mut drift = Vec::new();
    if published.settings_hash != today.settings_hash {
        drift.push(Drift {
            change: "changed",
            part: "settings".to_owned(),
            path: Some("kb.toml".to_owned()),
            detail: "the settings that decide what is compiled changed".to_owned(),
            advisory: false,
        });
    }
    if published.matrix_hash != today.matrix_hash {
        drift.push(Drift {
            change: "changed",
            part: "matrix".to_owned(),
            path: None,
            detail: "the source matrix changed".to_owned(),
            advisory: false,
        });
    }
    let old: BTreeMap<&str, &CollectionInput> =
        published.collections.iter().map(|part| (part.name.as_str(), part)).collect();
    let new: BTreeMap<&str, &CollectionInput> =
        today.collections.iter().map(|part| (part.name.as_str(), part)).collect();
    for (name, part) in &new {
        match old.get(name) {
            None => drift.push(Drift {
                change: "added",
                part: (*name).to_owned(),
                path: None,
                detail: "the collection is new".to_owned(),
                advisory: part.advisory,
            }),
            Some(old) => compare_documents(old, part, &mut drift),
        }
    }
    for (name, part) in &old {
        if !new.contains_key(name) {
            drift.push(Drift {
                change: "removed",
                part: (*name).to_owned(),
                path: None,
                detail: "the collection is gone".to_owned(),
                advisory: part.advisory,
            });
        }
    }
    compare_cards(&published.cards, &today.cards, &mut drift);
    drift.sort_by(|a, b| (&a.path, &a.part, a.change).cmp(&(&b.path, &b.part, b.change)));
    drift
}

fn compare_documents(old: &CollectionInput, new: &CollectionInput, drift: &mut Vec<Drift>) {
    if old.chunk_params != new.chunk_params || old.scope != new.scope {
        drift.push(Drift {
            change: "changed",
            part: new.name.clone(),
            path: None,
            detail: "the collection is cut or kept in another way".to_owned(),
            advisory: new.advisory,
        });
    }
    if old.embedding_model_version != new.embedding_model_version {
        drift.push(Drift {
            change: "changed",
            part: new.name.clone(),
            path: None,
            detail: "the embedding model changed".to_owned(),
            advisory: new.advisory,
        });
    }
    let known: BTreeMap<&str, &DocumentInput> =
        old.documents.iter().map(|document| (document.source_id.as_str(), document)).collect();
    let mut push = |change, path: &str, detail: String| {
        drift.push(Drift {
            change,
            part: new.name.clone(),
            path: Some(path.to_owned()),
            detail,
            advisory: new.advisory,
        });
    };
    for document in &new.documents {
        match known.get(document.source_id.as_str()) {
            None => push("added", &document.path, "the source is new".to_owned()),
            Some(old) if old.content_hash != document.content_hash => {
                push("changed", &document.path, "the source's bytes changed".to_owned());
            }
            Some(old) if old.path != document.path => {
                push("moved", &document.path, format!("the source was at {}", old.path));
            }
            Some(old) if old.derivation != document.derivation => {
                push("changed", &document.path, "the source is read or cut in another way".to_owned());
            }
            Some(old) if old.authority != document.authority => {
                push("changed", &document.path, "the source has another authority".to_owned());
            }
            Some(_) => {}
        }
    }
    let now: std::collections::BTreeSet<&str> =
        new.documents.iter().map(|document| document.source_id.as_str()).collect();
    for document in &old.documents {
        if !now.contains(document.source_id.as_str()) {
            push("removed", &document.path, "the source is gone".to_owned());
        }
    }
}

fn compare_cards(old: &CardsInput, new: &CardsInput, drift: &mut Vec<Drift>) {
    if old.input_hash == new.input_hash {
        return;
    }
    let known: BTreeMap<&str, Digest> =
        old.documents.iter().map(|card| (card.path.as_str(), card.content_hash)).collect();
    let now: BTreeMap<&str, Digest> =
        new.documents.iter().map(|card| (card.path.as_str(), card.content_hash)).collect();
    let mut push = |change, path: &str, detail: &str| {
        drift.push(Drift {
            change,
            part: "cards".to_owned(),
            path: Some(path.to_owned()),
            detail: detail.to_owned(),
            advisory: false,
        });
    };
    for (path, hash) in &now {
        match known.get(path) {
            None => push("added", path, "the card is new"),
            Some(old) if old != hash => push("changed", path, "the card's bytes changed"),
            Some(_) => {}
        }
    }
    for path in known.keys() {
        if !now.contains_key(path) {
            push("removed", path, "the card is gone");
        }
    }
}
