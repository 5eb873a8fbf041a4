//! What a command asks a session besides the report.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use globset::GlobMatcher;
use rayon::prelude::*;
use sha2::{Digest as _, Sha256};

use kbc_queries::CARD_LIMIT;
use kbc_queries::commit::hash::Digest;
use kbc_queries::derive;
use kbc_queries::diagnostic::{Diagnostic, registry};
use kbc_queries::emit::records::{DocumentCommitment, commit, leaves};
use kbc_queries::parse::settings::Tier;
use kbc_queries::system::{Fingerprint, System};

use crate::cache::entries::{CardEntry, NameKey};
use crate::cache::{Trace, decode, encode};
use crate::workspace::Project;
use crate::workspace::discover::glob;
use crate::workspace::stamp::Stamp;

use super::{Given, Options, Session, keys, present};

/// The authority tiers of a collection's files.
pub struct Authorities {
    default: Tier,
    globs: Vec<(GlobMatcher, Tier)>,
}

impl Authorities {
    /// The tier of a file; later globs win.
    pub fn of(&self, path: &str) -> Tier {
        self.globs
            .iter()
            .rev()
            .find(|(glob, _)| glob.is_match(path))
            .map_or(self.default, |(_, tier)| *tier)
    }
}

impl Session {
    /// The tiers of the collection at `index`.
    pub fn authorities(&self, index: usize) -> Authorities {
        let collection = self.project.settings.collections.get(index);
        Authorities {
            default: collection
                .map(|collection| collection.authority)
                .unwrap_or_default(),
            globs: collection
                .into_iter()
                .flat_map(|collection| &collection.authority_for)
                .filter_map(|entry| Some((glob(&entry.glob).ok()?.compile_matcher(), entry.tier)))
                .collect(),
        }
    }

    /// The text of any file of the project, for pictures. Not a verdict's input.
    pub fn text_of(&self, path: &str) -> Option<Arc<str>> {
        if path == crate::workspace::SETTINGS_FILE {
            return self.project.settings_text.clone();
        }
        self.card_text(path)
    }

    /// What opening the cache has to say.
    pub fn notice(&self) -> Option<Diagnostic> {
        self.cache_notice.clone()
    }

    /// Takes the SHA-256 of every file that has none yet.
    pub fn ensure_sha256(&mut self) {
        let limit = self.project.settings.limits.bytes;
        let wanted = |file: &crate::cache::entries::FileRecord| {
            (file.sha256.is_none()).then(|| present(file)).flatten()
        };
        let sources: Vec<(Arc<str>, Fingerprint)> = self
            .sources
            .iter()
            .filter_map(|(path, state)| Some((path.clone(), wanted(&state.file)?)))
            .collect();
        let cards: Vec<(Arc<str>, Fingerprint)> = self
            .cards
            .iter()
            .filter_map(|(path, state)| Some((path.clone(), wanted(&state.file)?)))
            .collect();
        let disk = &self.disk;
        let hash = |path: &Arc<str>, fingerprint: &Fingerprint, limit: u64| -> Option<[u8; 32]> {
            let bytes = disk.read(path, limit).ok()?;
            // A file that changed since it was looked at is left to the next look.
            (Fingerprint::of(&bytes) == *fingerprint).then(|| Sha256::digest(&bytes).into())
        };
        let source_hashes: Vec<Option<[u8; 32]>> = sources
            .par_iter()
            .map(|(path, print)| hash(path, print, limit))
            .collect();
        let card_hashes: Vec<Option<[u8; 32]>> = cards
            .par_iter()
            .map(|(path, print)| hash(path, print, CARD_LIMIT))
            .collect();
        for ((path, _), digest) in sources.iter().zip(source_hashes) {
            if let Some(state) = self.sources.get_mut(path) {
                state.file.sha256 = digest;
                state.dirty |= digest.is_some();
            }
        }
        for ((path, _), digest) in cards.iter().zip(card_hashes) {
            if let Some(state) = self.cards.get_mut(path) {
                state.file.sha256 = digest;
                state.dirty |= digest.is_some();
            }
        }
    }

    /// A file that has bytes but, because they changed since the look at it, no SHA-256 of them.
    pub(crate) fn without_sha256(&self) -> Option<&str> {
        let sources = self.sources.iter().map(|(path, state)| (path, &state.file));
        let cards = self.cards.iter().map(|(path, state)| (path, &state.file));
        sources
            .chain(cards)
            .find(|(_, file)| file.sha256.is_none() && present(file).is_some())
            .map(|(path, _)| &**path)
    }

    /// A file that changed since the look at it, if any did; the session forgets what it made of
    /// such files.
    pub(crate) fn take_torn(&mut self) -> Option<Arc<str>> {
        let traces = self.traces.len();
        self.forget_torn(traces, &[])
    }

    /// Makes sure that the graph knows every file as it is: verdicts found by their content are
    /// taken over without telling it.
    pub(crate) fn bind_all(&mut self) {
        if self.given == Given::Known {
            // No verdict needed the manifest; its text is asked for now.
            self.read_given();
            self.assign_ids();
        }
        self.bind();
    }

    /// The commitments of all documents, or of one, by source id.
    pub fn commitments(&mut self, only: Option<&str>) -> BTreeMap<Arc<str>, DocumentCommitment> {
        let mut known = BTreeMap::new();
        let mut missing = Vec::new();
        for (path, state) in &self.sources {
            if state.recipe.is_none() || only.is_some_and(|only| *only != *state.id) {
                continue;
            }
            let key = Fingerprint::combine("kbc commitment", [&keys::source(path, state).0[..]]);
            let stored = self
                .cache
                .as_ref()
                .and_then(|cache| cache.trace(key))
                .and_then(|bytes| decode::<DocumentCommitment>(&bytes));
            match stored {
                Some(commitment) => {
                    known.insert(state.id.clone(), commitment);
                }
                None => missing.push((state.id.clone(), path.clone(), key)),
            }
        }
        if missing.is_empty() {
            return known;
        }
        self.bind_all();
        let inputs: Vec<_> = missing
            .into_iter()
            .filter_map(|(id, path, key)| Some((id, self.sources.get(&path)?.input?, key)))
            .collect();
        let made: Vec<_> = inputs
            .par_iter()
            .map_with(self.db.clone(), |db, (_, input, _)| {
                let derivation = derive::source(db, *input).as_ref().ok()?;
                let document = derive::load_document(db, *input).ok()?;
                Some(commit(&leaves(derivation, &document.text)))
            })
            .collect();
        for ((id, _, key), commitment) in inputs.into_iter().zip(made) {
            let Some(commitment) = commitment else {
                continue;
            };
            if let Some(bytes) = encode(&commitment) {
                self.traces.push((key, Trace::Bytes(bytes)));
            }
            known.insert(id, commitment);
        }
        known
    }

    /// Why a card has to be checked again: the first thing that differs from the last run.
    pub fn why(project: Project, options: Options, card: &str) -> Result<String, String> {
        let (_, last, _) = super::store::open(&project.root);
        let before = last.cards.get(card).cloned();
        let mut session = Session::look_only(project, options);
        let Some(state) = session.cards.get(card) else {
            return Err(format!("{card} is no card of this project"));
        };
        let Some(stored) = before else {
            return Ok("it was never checked before".to_owned());
        };
        let Some(entry) = &stored.entry else {
            return Ok("its last check was not recorded".to_owned());
        };
        if state.file.status != stored.file.status {
            return Ok("the card itself changed".to_owned());
        }
        let policy = keys::policy(
            session.context.profile,
            session.context.matrix_usable(),
            &session.options,
        );
        if keys::card(card, state, policy) != entry.own_key {
            return Ok(
                "the rules in force changed (profile, options, folder's reading, or this program)"
                    .to_owned(),
            );
        }
        let difference = session.first_difference(entry);
        session.stats.phases.clear();
        Ok(difference.unwrap_or_else(|| "nothing differs; its last verdict holds".to_owned()))
    }

    fn first_difference(&self, entry: &CardEntry) -> Option<String> {
        let Some(details) = entry.details.unpack() else {
            return Some("what was recorded of its last check cannot be read".to_owned());
        };
        if keys::reading(entry.reading.as_deref(), &self.context) != details.reading_key {
            return Some(format!(
                "the source matrix has another row for its reading `{}`",
                entry.reading.as_deref().unwrap_or_default()
            ));
        }
        for (citation, (source, other)) in details.citations.iter().zip(&entry.names) {
            let binding =
                |name: &NameKey| self.bindings.get(name).copied().unwrap_or(keys::UNBOUND);
            let Some(source) = source else { continue };
            let now = keys::citation(binding(source), other.as_ref().map(binding));
            if now != citation.binding {
                return Some(match self.by_name.get(source) {
                    Some(path) => format!("the source {path} is not what it was"),
                    None => "a source that it cites has no file".to_owned(),
                });
            }
        }
        None
    }

    /// Whether nothing was ever published here, nothing is wrong with the tree, and so an empty
    /// project is one that is not where it was looked for.
    pub fn is_new(&self) -> bool {
        self.context.published.sources.is_empty() && !self.incomplete && self.discovered.is_empty()
    }

    /// How the session works.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The file of a source id.
    pub fn path_of(&self, id: &str) -> Option<&str> {
        self.by_id.get(id).map(|path| &**path)
    }

    /// The id of the source with this id or path.
    ///
    /// # Errors
    /// A sentence that says what there is instead.
    pub fn source_named(&self, name: &str) -> Result<Arc<str>, String> {
        if let Some((id, _)) = self.by_id.get_key_value(name) {
            return Ok(id.clone());
        }
        if let Some(state) = self.sources.get(name) {
            return Ok(state.id.clone());
        }
        let mut ids: Vec<&str> = self.by_id.keys().map(|id| &**id).collect();
        ids.sort_unstable();
        let near = kbc_queries::parse::problem::nearest(name, ids.iter().copied());
        Err(match near {
            Some(near) => format!("no source is called `{name}`; did you mean `{near}`?"),
            None => format!(
                "no source is called `{name}`; `kb root` lists the project's sources ({})",
                ids.len()
            ),
        })
    }

    /// The chunks of a source, as page, ordinal and text, and their hashes.
    ///
    /// # Errors
    /// Why the source gives none.
    #[allow(clippy::type_complexity, reason = "three plain values per chunk")]
    pub fn chunk_texts(
        &mut self,
        id: &str,
    ) -> Result<(Vec<(u32, u32, String)>, Vec<Digest>), String> {
        self.bind_all();
        let input = self
            .by_id
            .get(id)
            .and_then(|path| self.sources.get(path))
            .and_then(|state| state.input)
            .ok_or_else(|| format!("no source is called `{id}`"))?;
        let reason = |failure: &derive::SourceFailure| {
            let reason = kbc_queries::check::citation::failure_reason(failure);
            format!("the source `{id}` gives no chunks: {reason}")
        };
        let derivation = derive::source(&self.db, input).as_ref().map_err(reason)?;
        let document = derive::load_document(&self.db, input)
            .map_err(|error| reason(&derive::SourceFailure::Load(error)))?;
        let chunks = &derivation.chunks;
        let texts = chunks
            .list
            .iter()
            .map(|chunk| {
                let text = chunks.text_of(&document.text, chunk).to_owned();
                (chunk.start_page, chunk.ordinal, text)
            })
            .collect();
        Ok((texts, chunks.list.iter().map(|chunk| chunk.hash).collect()))
    }

    /// What the look at the tree has to say that makes any comparison of inputs doubtful.
    pub fn findings_of_look(&self) -> Vec<Diagnostic> {
        self.project
            .diagnostics
            .iter()
            .chain(
                self.discovered
                    .iter()
                    .filter(|d| d.code == registry::SRC_013),
            )
            .cloned()
            .collect()
    }

    /// Everything that decides the bytes of the published set, in one fingerprint.
    fn published_key(&self) -> Fingerprint {
        let mut parts: Vec<Vec<u8>> = Vec::new();
        parts.push(crate::publish::set::EMIT_VERSION.to_le_bytes().to_vec());
        parts.push(
            std::env::var("SOURCE_DATE_EPOCH")
                .unwrap_or_default()
                .into_bytes(),
        );
        parts.push(
            Fingerprint::of_value("kbc settings", &self.project.settings)
                .0
                .to_vec(),
        );
        let matrix =
            crate::publish::hash_file(&self.project.root.join(&*self.project.settings.matrix));
        parts.push(matrix.map_or_else(Vec::new, |hash| hash.0.to_vec()));
        parts.push(
            Fingerprint::of_value("kbc published", &self.context.published)
                .0
                .to_vec(),
        );
        for (path, state) in &self.sources {
            parts.push(path.as_bytes().to_vec());
            parts.push(state.id.as_bytes().to_vec());
            parts.push(keys::source(path, state).0.to_vec());
        }
        for (path, state) in &self.cards {
            parts.push(path.as_bytes().to_vec());
            parts.push(keys::status(&state.file.status).0.to_vec());
        }
        Fingerprint::combine("kbc published set", parts.iter().map(Vec::as_slice))
    }

    fn output_stamps(out: &Path) -> Vec<Option<Stamp>> {
        crate::publish::set::NAMES
            .iter()
            .map(|name| {
                std::fs::metadata(out.join(name))
                    .ok()
                    .map(|metadata| Stamp::of(&metadata))
            })
            .collect()
    }

    /// Whether the files in `out/` are known to be what the inputs give, by the last run that
    /// compared them and their stamps since.
    pub fn is_published(&self, out: &Path) -> bool {
        if self.options.paranoid {
            return false;
        }
        let stored: Option<(Fingerprint, Vec<Option<Stamp>>)> = self
            .cache
            .as_ref()
            .and_then(|cache| cache.value("published"))
            .and_then(|bytes| decode(&bytes));
        stored.is_some_and(|(key, stamps)| {
            stamps.iter().all(Option::is_some)
                && stamps == Self::output_stamps(out)
                && key == self.published_key()
        })
    }

    /// Remembers that `out/` is what the inputs give.
    pub fn note_published(&mut self, out: &Path) {
        let looked_at = SystemTime::now();
        // A stamp as young as this could hide a later write; then the next run compares again.
        let stamps: Vec<Option<Stamp>> = Self::output_stamps(out)
            .into_iter()
            .map(|stamp| stamp.filter(|stamp| !stamp.is_racy(looked_at)))
            .collect();
        // What was just published is what the next look will find recorded.
        self.reread_published();
        let key = self.published_key();
        if let Some(bytes) = encode(&(key, stamps)) {
            self.values.push(("published", bytes));
        }
    }
}
