//! Making a semantic cache from the project's embedder.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use kbc_queries::commit::canonical;
use kbc_queries::commit::hash::{Digest, sha256};
use kbc_queries::embed::{EmbedError, Embedder};
use kbc_queries::semantic::cache::Cache;
use kbc_queries::semantic::scoring::{Passages, Scale};
use serde_json::json;

use super::project::Claim;

/// The opinions about these claims.
///
/// # Errors
/// What the embedder has to say.
pub fn build(
    embedder: &dyn Embedder,
    scale: &Scale,
    claims: &[Claim],
) -> Result<Cache, EmbedError> {
    // By chunk, so that each is embedded once; a claim that is made twice has one opinion.
    let mut by_chunk: BTreeMap<Digest, BTreeMap<Digest, &Claim>> = BTreeMap::new();
    for claim in claims {
        by_chunk
            .entry(claim.request.chunk_hash)
            .or_default()
            .insert(claim.request.claim_window_hash, claim);
    }
    let mut cache = Cache::default();
    for (chunk_hash, claims) in by_chunk {
        let Some(first) = claims.values().next() else {
            continue;
        };
        let passages = Passages::new(embedder, &first.request.chunk_text)?;
        for (claim_hash, claim) in claims {
            let (verdict, score) = passages.assess(embedder, scale, &claim.request.quote)?;
            cache.insert(chunk_hash, claim_hash, verdict, score);
        }
    }
    Ok(cache)
}

/// What the closed format of a cache has no room for: which model made it, on which scale.
pub fn sidecar(embedder: &dyn Embedder, scale: &Scale, cache: &str) -> String {
    canonical::to_string(&json!({
        "cache_sha256": sha256(cache.as_bytes()),
        "dimension": embedder.dimension(),
        "embedding_model_version": embedder.model_version(),
        "fail_below": scale.fail.value(),
        "guarded": scale.guarded,
        "pass_from": scale.pass.value(),
        "scored": if scale.whole { "chunk" } else { "passage" },
    }))
}

/// The path of a cache's sidecar.
pub fn sidecar_path(cache: &Path) -> PathBuf {
    let mut name = cache.as_os_str().to_owned();
    name.push(".model.json");
    PathBuf::from(name)
}

/// Puts a file in place at once, whole or not at all.
///
/// # Errors
/// Whatever the file system says.
pub fn write(path: &Path, text: &str) -> io::Result<()> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let mut builder = tempfile::Builder::new();
    // Those of an ordinary file, less what the user's mask takes away.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}
