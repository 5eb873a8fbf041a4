//! What became of the citations of a source that is read or cut in another way than when it was
//! published: a new version of an extractor or a chunker, or other parameters in kb.toml.
//!
//! Only counts what the checks found; it decides no verdict and mends nothing.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use kbc_queries::check::Outcome;
use kbc_queries::diagnostic::{Diagnostic, registry};
use kbc_queries::parse::document::extractor;
use kbc_queries::system::Fingerprint;

use crate::cache::entries::{CitationEntry, NameKey};

use super::{Session, SourceState, keys};

/// The citations of one source, by what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Migration {
    /// The quote stands in the cited chunk.
    kept: u32,
    /// It stands in another one.
    relocated: u32,
    /// Something close to it stands there.
    changed: u32,
    /// It is not found, or it cannot be told.
    lost: u32,
}

impl Migration {
    fn add(&mut self, citation: &CitationEntry) {
        let state = citation
            .diagnostics
            .iter()
            .flat_map(|diagnostic| &diagnostic.data)
            .find(|(key, _)| key == "state")
            .and_then(|(_, value)| value.as_str());
        let found_elsewhere = citation
            .diagnostics
            .iter()
            .any(|diagnostic| diagnostic.code == registry::VERIFY_004);
        let count = match (citation.outcome, state) {
            (Outcome::Verified(_), _) | (_, Some("intact")) => &mut self.kept,
            (_, Some("relocated")) => &mut self.relocated,
            _ if found_elsewhere => &mut self.relocated,
            (_, Some("differs")) => &mut self.changed,
            _ => &mut self.lost,
        };
        *count += 1;
    }

    fn all(&self) -> u32 {
        self.kept + self.relocated + self.changed + self.lost
    }
}

impl fmt::Display for Migration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.all() {
            1 => f.write_str("of its 1 citation")?,
            all => write!(f, "of its {all} citations")?,
        }
        write!(
            f,
            ", {} kept, {} relocated, {} changed, {} lost",
            self.kept, self.relocated, self.changed, self.lost
        )
    }
}

impl Session {
    /// How a source is cut, as `out/` records it.
    pub(crate) fn cut_of(&self, state: &SourceState) -> Option<String> {
        let collection = self.project.settings.collections.get(state.collection)?;
        Some(cut(
            &keys::derivation_name(state.recipe.as_ref()?),
            &keys::chunk_params(collection),
        ))
    }

    /// A finding about each source that was published by other means than those in force.
    pub(super) fn migrations(&self) -> Vec<Diagnostic> {
        if self.has_given_chunks() {
            return Vec::new();
        }
        let mut found: Vec<(Arc<str>, NameKey, String, bool)> = Vec::new();
        // Few ways of cutting serve all sources.
        let mut cuts: HashMap<(Fingerprint, usize), Option<String>> = HashMap::new();
        let published = &self.context.published;
        for record in &published.sources {
            let Some((path, state)) = self
                .by_id
                .get(&record.id)
                .and_then(|path| self.sources.get_key_value(path))
            else {
                continue;
            };
            let Some(recipe) = &state.recipe else {
                continue;
            };
            let now = extractor(recipe.extract.format);
            let (name, version) = &record.extractor;
            if **name != *now.name || **version != *now.version {
                let message = format!(
                    "the text of this source was published by {name} {version}; {} {} reads it now, and may read it differently",
                    now.name, now.version
                );
                found.push((path.clone(), NameKey::of(&record.id), message, true));
                continue;
            }
            let cut = cuts
                .entry((state.recipe_key, state.collection))
                .or_insert_with(|| self.cut_of(state));
            if let (Some(before), Some(cut)) = (published.cut(record), cut)
                && before != cut
            {
                let message = format!(
                    "this source was published in chunks of `{before}`, and is now cut by `{cut}`"
                );
                found.push((path.clone(), NameKey::of(&record.id), message, false));
            }
        }
        if found.is_empty() {
            return Vec::new();
        }
        let mut migrations: HashMap<NameKey, Migration> = found
            .iter()
            .map(|(_, name, ..)| (*name, Migration::default()))
            .collect();
        self.count_citations(&mut migrations);
        found
            .into_iter()
            .filter_map(|(path, name, message, read_anew)| {
                let migration = migrations.get(&name).copied().unwrap_or_default();
                let message = match migration.all() {
                    // Another cut of what no one cites concerns no one.
                    0 if !read_anew => return None,
                    0 => message,
                    _ => format!("{message}; {migration}"),
                };
                Some(
                    Diagnostic::new(registry::SRC_009, message)
                        .in_file(path)
                        .help("look at the findings about its citations, then run `kb build`")
                        .data("kept", migration.kept)
                        .data("relocated", migration.relocated)
                        .data("changed", migration.changed)
                        .data("lost", migration.lost),
                )
            })
            .collect()
    }

    /// Counts the citations of these sources.
    fn count_citations(&self, migrations: &mut HashMap<NameKey, Migration>) {
        let entries = self.cards.values().filter_map(|state| state.entry.as_ref());
        for entry in entries {
            let concerns = |source: &Option<NameKey>| {
                source.is_some_and(|source| migrations.contains_key(&source))
            };
            if !entry.names.iter().any(|(source, _)| concerns(source)) {
                continue;
            }
            let details = entry.details.unpack();
            for (index, (source, _)) in entry.names.iter().enumerate() {
                let Some(migration) = source.and_then(|source| migrations.get_mut(&source)) else {
                    continue;
                };
                let citation = details
                    .as_ref()
                    .and_then(|details| details.citations.get(index));
                match citation {
                    Some(citation) => migration.add(citation),
                    None => migration.lost += 1,
                }
            }
        }
    }
}

/// How a source is cut, of the words that `out/` records: `derivation` names extractor and chunker,
/// `params` the collection's parameters.
pub(crate) fn cut(derivation: &str, params: &str) -> String {
    let chunker = derivation
        .split_once(' ')
        .map_or(derivation, |(_, chunker)| chunker);
    format!("{chunker} {params}")
}
