//! `kb prove` and `kb verify-proof`: that a chunk's text is part of a published corpus.

use std::path::PathBuf;

use clap::Args;
use serde::{Deserialize, Serialize};

use kbc_queries::chunk::chunk_id;
use kbc_queries::commit::canonical;
use kbc_queries::commit::hash::Digest;
use kbc_queries::commit::merkle::{self, Proof, Sibling};
use kbc_queries::emit::records::corpus_leaf;

use crate::publish::set;
use crate::session::Session;

use super::{CommandResult, Failure, Outcome, World};

/// Version of the proof file.
const VERSION: &str = "kbc.proof.v1";

/// Print a proof that a chunk's text is part of its source and of the corpus
#[derive(Args)]
#[command(
    after_help = "Example:\n  kb prove handbook handbook:p001:0000 > p.json\n  kb verify-proof p.json"
)]
pub struct Arguments {
    /// The source's id or path
    source: String,
    /// The chunk's id
    chunk: String,
}

/// Verify a proof; needs nothing but the file
#[derive(Args)]
#[command(
    after_help = "Examples:\n  kb verify-proof p.json\n  kb verify-proof p.json --corpus 3f0c…   # and that it is of this corpus\n  kb prove a a:p001:0000 | kb verify-proof -"
)]
pub struct VerifyArguments {
    /// The proof, or - for stdin
    proof: PathBuf,
    /// The corpus commitment that it has to lead to
    #[arg(long, value_name = "HEX")]
    corpus: Option<String>,
}

/// A proof as it is written to a file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProofFile {
    version: String,
    source_id: String,
    chunk_id: String,
    chunk_hash: Digest,
    text: String,
    leaf: Digest,
    leaf_index: u64,
    leaf_count: u64,
    siblings: Vec<Sibling>,
    document_root: Digest,
    commitment: Digest,
    corpus: CorpusProof,
}

/// The document's place in the corpus.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CorpusProof {
    leaf_index: u64,
    leaf_count: u64,
    siblings: Vec<Sibling>,
    root: Digest,
    commitment: Digest,
}

/// Runs `kb prove`.
pub fn run(world: &World, arguments: &Arguments) -> CommandResult {
    let project = world.project()?;
    let mut session = Session::look_only(project, world.options());
    let id = session.source_named(&arguments.source).map_err(Failure)?;
    let commitments = session.commitments(None);
    session.record();
    super::note_repairs(&session);
    if let Some(progress) = &session.options().progress {
        progress.finish();
    }
    let (texts, hashes) = session.chunk_texts(&id).map_err(Failure)?;
    let wanted = texts
        .iter()
        .position(|(page, ordinal, _)| chunk_id(&id, *page, *ordinal) == arguments.chunk);
    let Some(index) = wanted else {
        return Err(Failure(format!(
            "the source `{id}` has no chunk `{}`; it has {}, the first is `{}`",
            arguments.chunk,
            super::counted(texts.len(), "chunk"),
            texts
                .first()
                .map(|(page, ordinal, _)| chunk_id(&id, *page, *ordinal))
                .unwrap_or_default()
        )));
    };
    let leaves: Vec<Digest> = texts
        .iter()
        .map(|(_, _, text)| merkle::leaf(text.as_bytes()))
        .collect();
    let root = merkle::root(&leaves);
    let count = leaves.len() as u64;
    let commitment = merkle::commitment(count, &root);
    let nothing = || Failure("the source gives no chunks".to_owned());
    let proof = merkle::prove(&leaves, index).ok_or_else(nothing)?;

    let mut documents: Vec<(&str, Digest)> = commitments
        .iter()
        .map(|(id, commitment)| (&**id, commitment.commitment))
        .collect();
    documents.sort_unstable_by_key(|(id, _)| *id);
    let place = documents
        .iter()
        .position(|(other, _)| *other == &*id)
        .ok_or_else(nothing)?;
    let corpus_leaves: Vec<Digest> = documents
        .iter()
        .map(|(id, commitment)| corpus_leaf(id, commitment))
        .collect();
    let corpus_proof = merkle::prove(&corpus_leaves, place).ok_or_else(nothing)?;
    let corpus = set::corpus(documents.iter().copied());

    let file = ProofFile {
        version: VERSION.to_owned(),
        source_id: id.to_string(),
        chunk_id: arguments.chunk.clone(),
        chunk_hash: hashes.get(index).copied().ok_or_else(nothing)?,
        text: texts
            .into_iter()
            .nth(index)
            .map(|(_, _, text)| text)
            .unwrap_or_default(),
        leaf: proof.leaf,
        leaf_index: proof.leaf_index,
        leaf_count: proof.leaf_count,
        siblings: proof.siblings,
        document_root: root,
        commitment,
        corpus: CorpusProof {
            leaf_index: corpus_proof.leaf_index,
            leaf_count: corpus_proof.leaf_count,
            siblings: corpus_proof.siblings,
            root: corpus.root,
            commitment: corpus.commitment,
        },
    };
    let bytes = canonical::to_vec(&file).map_err(|error| Failure(error.to_string()))?;
    super::write_out(&String::from_utf8_lossy(&bytes))?;
    Ok(Outcome::Fine)
}

/// Runs `kb verify-proof`.
pub fn verify(world: &World, arguments: &VerifyArguments) -> CommandResult {
    let text = world.text_of(&arguments.proof)?;
    let shown = arguments.proof.display();
    // A file that is no proof is a wrong argument; a proof that does not hold is a finding.
    let file: ProofFile = serde_json::from_str(&text)
        .map_err(|error| Failure(format!("{shown} is no proof: {error}")))?;
    if file.version != VERSION {
        return Err(Failure(format!(
            "{shown} is a proof of version `{}`; this program knows `{VERSION}`",
            file.version
        )));
    }
    match holds(&file, arguments.corpus.as_deref()) {
        Ok(()) => {
            super::say(&format!(
                "valid: {} is leaf {} of {} in `{}`, which is document {} of {} in the corpus {}",
                file.chunk_id,
                file.leaf_index,
                file.leaf_count,
                file.source_id,
                file.corpus.leaf_index,
                file.corpus.leaf_count,
                file.corpus.commitment
            ))?;
            Ok(Outcome::Fine)
        }
        Err(reason) => {
            super::say(&format!(
                "CACG-PROOF-001: the proof does not hold: {reason}"
            ))?;
            Ok(Outcome::Findings)
        }
    }
}

fn holds(file: &ProofFile, corpus: Option<&str>) -> Result<(), String> {
    if merkle::leaf(file.text.as_bytes()) != file.leaf {
        return Err("the text is not the one that the leaf commits to".to_owned());
    }
    let parts = kbc_queries::chunk::parse_chunk_id(&file.chunk_id)
        .filter(|parts| parts.source_id == file.source_id)
        .ok_or("the chunk id is not one of the source")?;
    if u64::from(parts.ordinal) != file.leaf_index {
        return Err("the chunk id names another leaf".to_owned());
    }
    let document = Proof {
        leaf: file.leaf,
        leaf_index: file.leaf_index,
        leaf_count: file.leaf_count,
        siblings: file.siblings.clone(),
    };
    document
        .verify(&file.document_root)
        .map_err(|error| format!("in the document: {error}"))?;
    if merkle::commitment(file.leaf_count, &file.document_root) != file.commitment {
        return Err("the document's commitment does not bind its root and leaf count".to_owned());
    }
    let whole = Proof {
        leaf: corpus_leaf(&file.source_id, &file.commitment),
        leaf_index: file.corpus.leaf_index,
        leaf_count: file.corpus.leaf_count,
        siblings: file.corpus.siblings.clone(),
    };
    whole
        .verify(&file.corpus.root)
        .map_err(|error| format!("in the corpus: {error}"))?;
    if merkle::commitment(file.corpus.leaf_count, &file.corpus.root) != file.corpus.commitment {
        return Err("the corpus commitment does not bind its root and leaf count".to_owned());
    }
    match corpus {
        Some(corpus) if corpus != file.corpus.commitment.to_string() => Err(format!(
            "it is of the corpus {}, not of {corpus}",
            file.corpus.commitment
        )),
        _ => Ok(()),
    }
}
