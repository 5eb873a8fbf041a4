//! Where a verb of the deck works: what paths are relative to, where `out/` is, whose rules hold.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use globset::{Glob, GlobMatcher};

use kbc_queries::deck::bm25::Idf;
use kbc_queries::diagnostic::registry;
use kbc_queries::input::Profile;
use kbc_queries::parse::manifest::{self, CardsManifest};
use kbc_queries::parse::matrix::{self, Matrix};
use kbc_queries::system::ReadFailure;

use crate::publish::{self, Lock};
use crate::workspace::{MATRIX_LIMIT, Project, door, plain};

use super::Refusal;

/// The manifest of cards.
pub const CARDS: &str = "cards_manifest.json";
/// What is searched.
pub const SUMMARIES: &str = "summaries.json";
/// The deck for people.
pub const PAGE: &str = "INDEX.md";
/// The manifest of chunks.
pub const CHUNKS: &str = "chunks_manifest.json";
/// The search sidecar.
pub const SIDECAR: &str = "summaries.sqlite";

/// Where a verb works.
pub struct Place {
    /// The folder that recorded paths are relative to: the project's root, or the current folder
    /// where there is no project.
    pub base: PathBuf,
    /// The current folder.
    pub current: PathBuf,
    /// The folder of what is published, absolute.
    pub out: PathBuf,
    /// The same as it was given.
    pub shown: String,
    /// Whether the contract decides where this program does better: there is no kb.toml, or it
    /// says `profile = "cacg"`.
    pub contract: bool,
    /// Whether `out` is what `kb build` of a project writes.
    pub is_projects: bool,
    readings: Vec<(GlobMatcher, Arc<str>)>,
    matrix: Option<String>,
}

/// Holds on whatever a verb writes into; dropped, they are free.
pub struct Hold {
    _lock: Lock,
}

impl Place {
    /// The place for a call from `current` within `project`; `out` is as given, `None`: the default.
    pub fn new(project: &Project, current: &Path, out: Option<&Path>) -> Self {
        let in_project = project.settings_text.is_some();
        let base = match in_project {
            true => project.root.clone(),
            false => current.to_path_buf(),
        };
        let own = project.out();
        let (path, shown) = match out {
            Some(out) => (plain(&current.join(out)), out.display().to_string()),
            None if in_project => (plain(&own), project.settings.out.to_string()),
            None => (current.join("out"), "out".to_owned()),
        };
        let readings = project.settings.readings.iter();
        Place {
            contract: !in_project || project.profile() == Profile::Cacg,
            is_projects: in_project && path == plain(&own),
            readings: readings
                .filter_map(|(glob, reading)| {
                    let glob = Glob::new(glob).ok()?;
                    Some((glob.compile_matcher(), Arc::from(&**reading)))
                })
                .collect(),
            matrix: in_project.then(|| project.settings.matrix.to_string()),
            base,
            current: current.to_path_buf(),
            out: path,
            shown,
        }
    }

    /// The place of a manifest that was named: its folder is where its siblings are.
    pub fn beside(project: &Project, current: &Path, file: Option<&Path>) -> Self {
        let folder = file.map(|file| file.parent().unwrap_or(Path::new("")));
        Self::new(project, current, folder)
    }

    /// How search scores terms.
    pub fn idf(&self) -> Idf {
        match self.contract {
            true => Idf::Contract,
            false => Idf::Floored,
        }
    }

    /// The reading that the project gives a card, if it gives one.
    pub fn reading(&self, recorded: &str) -> Option<&Arc<str>> {
        let mut readings = self.readings.iter().rev();
        readings
            .find(|(glob, _)| glob.is_match(recorded))
            .map(|(_, reading)| reading)
    }

    /// Where a recorded path leads.
    pub fn locate(&self, recorded: &str) -> PathBuf {
        self.base.join(recorded)
    }

    /// Whether a path that a manifest records may be read: in a project those below its root. A
    /// manifest is somebody else's input, and names what it likes.
    pub fn may_read(&self, recorded: &str) -> bool {
        !self.has_matrix() || plain(&self.locate(recorded)).starts_with(plain(&self.base))
    }

    /// A name in `out`, as people read it.
    pub fn shown(&self, name: &str) -> String {
        Path::new(&self.shown).join(name).display().to_string()
    }

    /// Takes the lock on `out` and finishes what an interrupted run left there. `told` hears what
    /// there is to say.
    pub fn hold(&self, told: &mut dyn FnMut(String)) -> Result<Hold, Refusal> {
        let wrong = |error: io::Error| {
            let doing = format!("cannot lock {}/", self.shown);
            Refusal::io(registry::IDX_004, &doing, &error)
        };
        let waiting = || {
            use std::io::Write;
            let _ = writeln!(io::stderr(), "kb: waiting for another kb");
        };
        let lock = Lock::of(&self.out, waiting).map_err(wrong)?;
        match publish::recover(&self.out) {
            Ok(false) => {}
            Ok(true) => told(format!(
                "an earlier run was interrupted while it replaced files in {}/; its work is finished now",
                self.shown
            )),
            Err(error) => {
                let doing = format!("cannot finish an interrupted run in {}/", self.shown);
                return Err(Refusal::io(registry::IDX_004, &doing, &error));
            }
        }
        Ok(Hold { _lock: lock })
    }

    /// The bytes of a published file. `None`: it is not there.
    pub fn read(&self, name: &str) -> Result<Option<Vec<u8>>, Refusal> {
        let path = publish::current(&self.out, name);
        match door::read(&path, publish::LIMIT) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(ReadFailure::Absent) => Ok(None),
            Err(failure) => Err(Refusal::new(
                registry::MAN_001,
                format!("{} cannot be read: {failure}", self.shown(name)),
            )),
        }
    }

    /// The manifest of cards. `None`: it is not there.
    pub fn cards(&self) -> Result<Option<CardsManifest>, Refusal> {
        let Some(bytes) = self.read(CARDS)? else {
            return Ok(None);
        };
        manifest::read_cards(&bytes)
            .map(Some)
            .map_err(|problem| Refusal::of_manifest(&self.shown(CARDS), &problem))
    }

    /// The source matrix: the one given, else the project's.
    pub fn matrix(&self, given: Option<&Path>) -> Result<Matrix, Refusal> {
        let (path, shown) = match (given, &self.matrix) {
            (Some(path), _) => (self.current.join(path), path.display().to_string()),
            (None, Some(own)) => (self.base.join(own), own.clone()),
            (None, None) => {
                return Err(Refusal::new(
                    registry::AUTH_000,
                    "no source matrix; name one with --source-matrix",
                ));
            }
        };
        let next = "name a matrix that lists, per reading, the sources it may cite";
        let bytes = match given {
            Some(_) => door::read_named(&path, MATRIX_LIMIT),
            None => door::read(&path, MATRIX_LIMIT),
        };
        let bytes = bytes.map_err(|reason| {
            Refusal::new(
                registry::AUTH_000,
                format!("the source matrix {shown} cannot be read: {reason}; {next}"),
            )
        })?;
        matrix::parse(&bytes).map_err(|problems| {
            let first = problems.into_iter().next();
            let message = first.map_or_else(String::new, |problem| problem.message);
            Refusal::new(registry::AUTH_000, format!("{shown}: {message}; {next}"))
        })
    }

    /// Whether a source matrix is at hand without being named.
    pub fn has_matrix(&self) -> bool {
        self.matrix.is_some()
    }
}
