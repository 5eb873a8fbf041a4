//! What each derivation depends on, as fingerprints. A key names everything that was read,
//! including what was absent, and never a time or an absolute path.

use kbc_queries::chunk::{Chunker, chunker_version};
use kbc_queries::input::{FileStatus, Profile, Recipe};
use kbc_queries::parse::document::extractor;
use kbc_queries::parse::settings::Collection;
use kbc_queries::system::{Fingerprint, FingerprintHasher};

use crate::workspace::context::Context;

use super::{CardState, Options, SourceState};

/// Version of the rules about cards and citations. It grows whenever a verdict or a message could
/// change; a golden test fails when they do and it did not.
pub const RULES_VERSION: u32 = 5;

/// Version of what is said about a source.
pub const SOURCE_RULES_VERSION: u32 = 3;

/// The binding of an id that nobody has. No fingerprint of anything is this.
pub const UNBOUND: Fingerprint = Fingerprint([1; 32]);

/// A file's status.
pub fn status(status: &FileStatus) -> Fingerprint {
    match status {
        FileStatus::Present(fingerprint) => *fingerprint,
        FileStatus::Failed(failure) => {
            Fingerprint::combine("kbc file failed", [failure.to_string().as_bytes()])
        }
    }
}

/// How a source is read and cut.
pub fn recipe(recipe: &Recipe) -> Fingerprint {
    let extract = &recipe.extract;
    let version = extractor(extract.format);
    // `Debug` of these plain values spells every field.
    let text = format!(
        "{extract:?} {} {} {:?} {}",
        version.name,
        version.version,
        recipe.chunker,
        chunker_version(&recipe.chunker)
    );
    Fingerprint::combine("kbc recipe", [text.as_bytes()])
}

/// How a source is read and cut, in words, for the published record.
pub fn derivation_name(recipe: &Recipe) -> String {
    let extractor = extractor(recipe.extract.format);
    let chunker = match &recipe.chunker {
        Chunker::Cacg(_) => "cacg",
        Chunker::Window(_) => "window",
        Chunker::Unit(_) => "unit",
    };
    format!(
        "{}/{} {chunker}/{}",
        extractor.name,
        extractor.version,
        chunker_version(&recipe.chunker)
    )
}

/// A collection's chunk parameters, in words, for the published record.
pub fn chunk_params(collection: &Collection) -> String {
    let sizes = collection.sizes(collection.chunker);
    let mut words = format!(
        "{} tokens={} overlap={} pages={}",
        collection.chunker.as_str(),
        sizes.tokens,
        sizes.overlap,
        sizes.max_pages
    );
    for unit in &collection.units {
        words.push_str(&format!(" unit:{}={}", unit.kind, unit.pattern));
    }
    words
}

/// What is said about a source.
pub fn source(path: &str, state: &SourceState) -> Fingerprint {
    Fingerprint::combine(
        "kbc source report",
        [
            &SOURCE_RULES_VERSION.to_le_bytes()[..],
            path.as_bytes(),
            &status(&state.file.status).0,
            &state.recipe_key.0,
        ],
    )
}

/// What a source id leads to.
pub fn binding(
    path: &str,
    state: Option<&SourceState>,
    id: &str,
    context: &Context,
) -> Fingerprint {
    let (recorded, retracted, chunks) = context.marks(id);
    let mut parts: Vec<Vec<u8>> = vec![vec![u8::from(recorded), u8::from(retracted)]];
    parts.extend(chunks.iter().map(|chunk| chunk.as_bytes().to_vec()));
    if let Some(state) = state {
        parts.push(path.as_bytes().to_vec());
        parts.push(status(&state.file.status).0.to_vec());
        parts.push(state.recipe_key.0.to_vec());
        parts.push(
            state
                .title
                .as_deref()
                .unwrap_or_default()
                .as_bytes()
                .to_vec(),
        );
    }
    Fingerprint::combine("kbc binding", parts.iter().map(Vec::as_slice))
}

/// What the whole project has decided about checking.
pub fn policy(profile: Profile, matrix_usable: bool, options: &Options) -> Fingerprint {
    Fingerprint::combine(
        "kbc policy",
        [
            &RULES_VERSION.to_le_bytes()[..],
            &[
                match profile {
                    Profile::Strict => 0,
                    Profile::Cacg => 1,
                },
                u8::from(matrix_usable),
                u8::from(options.fuzzy),
            ],
        ],
    )
}

/// A card by itself.
pub fn card(path: &str, state: &CardState, policy: Fingerprint) -> Fingerprint {
    Fingerprint::combine(
        "kbc card",
        [
            path.as_bytes(),
            &status(&state.file.status).0,
            state
                .folder_reading
                .as_deref()
                .unwrap_or("\u{0}")
                .as_bytes(),
            &policy.0,
        ],
    )
}

/// A row of the matrix.
pub fn row(reading: &str, allowed: &[Box<str>]) -> Fingerprint {
    Fingerprint::combine(
        "kbc reading",
        std::iter::once(reading.as_bytes()).chain(allowed.iter().map(|id| id.as_bytes())),
    )
}

/// What the matrix says of a reading.
pub fn reading(reading: Option<&str>, context: &Context) -> Fingerprint {
    let Some(reading) = reading else {
        return Fingerprint::combine("kbc reading none", []);
    };
    match context.row(reading) {
        Some(row) => row.key,
        None => Fingerprint::combine("kbc reading absent", [reading.as_bytes()]),
    }
}

/// Everything a card's verdict depends on besides the card.
pub fn seal(reading: Fingerprint, bindings: impl Iterator<Item = Fingerprint>) -> Fingerprint {
    let mut hasher = FingerprintHasher::default();
    // All parts have one length, so their order alone tells them apart.
    hasher.update(&reading.0);
    for binding in bindings {
        hasher.update(&binding.0);
    }
    hasher.finish()
}

/// What the names of one citation lead to.
pub fn citation(source: Fingerprint, other: Option<Fingerprint>) -> Fingerprint {
    match other {
        None => source,
        Some(other) => Fingerprint::combine("kbc citation", [&source.0[..], &other.0[..]]),
    }
}
