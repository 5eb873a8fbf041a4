//! Cards as files, for verbs that make something out of what cards say: scaffolds and migrations.
//! No verdict is made here.

use std::path::{Path, PathBuf};

use kbc_queries::CARD_LIMIT;
use kbc_queries::diagnostic::registry::{CLI_001, MAN_001};
use kbc_queries::parse::card::{self, ParsedCard};
use kbc_queries::parse::manifest::{CardsManifest, read_cards};
use kbc_queries::parse::skill;
use kbc_queries::system::{ReadFailure, System};

use crate::workspace::Project;
use crate::workspace::discover::{Matcher, Role, discover, glob, relative};
use crate::workspace::disk::Disk;

use super::Refusal;

/// Largest cards manifest that is read, in bytes.
const MANIFEST_LIMIT: u64 = 1 << 30;

/// A card as its file has it.
pub struct DeckCard {
    /// Path for messages, and relative to the project's folder where it lies in it.
    pub path: String,
    /// Its text.
    pub text: String,
    /// What the text says.
    pub parsed: ParsedCard,
    /// The reading it counts under: the folder's, where kb.toml gives folders one, else its own.
    pub reading: Option<String>,
}

impl DeckCard {
    /// Its id.
    pub fn id(&self) -> Option<&str> {
        self.parsed.id.as_ref().map(|id| &*id.value)
    }

    /// The sources it cites, sorted, without repetition.
    pub fn source_ids(&self) -> Vec<String> {
        let mut ids: Vec<String> = self
            .parsed
            .citations
            .iter()
            .filter_map(|citation| Some(citation.source_id.as_ref()?.value.to_string()))
            .collect();
        ids.sort();
        ids.dedup();
        ids
    }
}

/// Reads a card.
///
/// # Errors
/// Why it cannot be read, in words.
pub fn read(project: &Project, path: &Path) -> Result<DeckCard, String> {
    let at = path.to_str().ok_or("its name is not UTF-8")?;
    let bytes = Disk::new(&project.root, None)
        .read(at, CARD_LIMIT)
        .map_err(|failure| failure.to_string())?;
    let text = String::from_utf8(bytes.to_vec()).map_err(|_| "it is not UTF-8 text")?;
    let parsed = card::parse(&text);
    let path = relative(&project.root, path).unwrap_or_else(|| at.to_owned());
    let folder = project.settings.readings.iter().rev().find(|(pattern, _)| {
        glob(pattern).is_ok_and(|glob| glob.compile_matcher().is_match(&*path))
    });
    let own = || parsed.reading_id.as_ref().map(|id| id.value.to_string());
    let reading = folder.map(|(_, reading)| reading.to_string()).or_else(own);
    Ok(DeckCard {
        path,
        text,
        parsed,
        reading,
    })
}

/// The Markdown files below a folder, by path. Links are not followed, routers are no cards.
///
/// # Errors
/// CLI-001 if there is no such folder, or a part of it cannot be read.
pub fn walk(folder: &Path, shown: &str) -> Result<Vec<PathBuf>, Refusal> {
    if !folder.is_dir() {
        return Err(Refusal::new(
            CLI_001,
            format!("there is no folder {shown}; give the folder of the cards"),
        ));
    }
    let mut files = Vec::new();
    for entry in walkdir::WalkDir::new(folder) {
        let entry = entry.map_err(|error| {
            Refusal::new(
                CLI_001,
                format!("{shown} cannot be read as a whole: {error}"),
            )
        })?;
        let is_card = entry.file_type().is_file()
            && entry.path().extension().is_some_and(|kind| kind == "md")
            && entry.file_name() != skill::FILE_NAME;
        if is_card {
            files.push(entry.into_path());
        }
    }
    files.sort();
    Ok(files)
}

/// The cards of a project, by path, as its settings have them.
pub fn of_project(project: &Project) -> Vec<PathBuf> {
    let matcher = Matcher::new(&project.settings);
    discover(&project.root, &project.settings, &matcher)
        .files
        .into_iter()
        .filter(|found| found.role == Role::Card)
        .map(|found| project.root.join(&*found.path))
        .collect()
}

/// The cards below a folder; where none is given, those of the project, or without a kb.toml those
/// below `cards`.
///
/// # Errors
/// As [`walk`].
pub fn all(project: &Project, given: Option<(&Path, &str)>) -> Result<Vec<PathBuf>, Refusal> {
    match given {
        Some((folder, shown)) => walk(folder, shown),
        None if project.settings_text.is_some() => Ok(of_project(project)),
        None => walk(&project.root.join("cards"), "cards"),
    }
}

/// Reads a cards manifest. `None`: there is none.
///
/// # Errors
/// MAN-001.
pub fn manifest(at: &Path, shown: &str) -> Result<Option<CardsManifest>, Refusal> {
    let cannot = |why: String| Refusal::new(MAN_001, format!("{shown} cannot be read: {why}"));
    let (Some(folder), Some(name)) = (at.parent(), at.file_name().and_then(|name| name.to_str()))
    else {
        return Err(cannot("it is not the name of a file".to_owned()));
    };
    // While a set is being put in place, its new files are still elsewhere.
    let current = crate::publish::current(folder, name);
    let bytes = match Disk::new(folder, None).read(&current.to_string_lossy(), MANIFEST_LIMIT) {
        Ok(bytes) => bytes,
        Err(ReadFailure::Absent) => return Ok(None),
        Err(failure) => return Err(cannot(failure.to_string())),
    };
    match read_cards(&bytes) {
        Ok(manifest) => Ok(Some(manifest)),
        Err(problem) => {
            let text = String::from_utf8_lossy(&bytes);
            Err(Refusal::of_problems(MAN_001, shown, &text, &[*problem]))
        }
    }
}

/// Whether a path leads out of a folder, links followed. A path that leads nowhere does not.
pub fn escapes(folder: &Path, path: &Path) -> bool {
    let plain = crate::workspace::plain;
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| plain(path));
    !real(path).starts_with(real(folder))
}
