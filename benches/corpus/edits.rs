//! Edits: to files on disk between two runs of the program, and in a session that stays open.

use std::error::Error;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use kbc::session::{Options, Session};
use kbc::workspace::Project;

/// A file that was changed and is put back as it was.
pub struct Edited {
    path: PathBuf,
    original: Vec<u8>,
}

impl Edited {
    /// Replaces a word near the middle of a text file by another one.
    pub fn word(path: PathBuf) -> io::Result<Self> {
        let original = fs::read(&path)?;
        let is_letter = |byte: &u8| byte.is_ascii_lowercase();
        let middle = original.len() / 2;
        let tail = original.get(middle..).unwrap_or(&[]);
        let word = tail
            .split(|byte| !is_letter(byte))
            // The first piece may be half a word.
            .skip(1)
            .find(|word| word.len() >= 4)
            .unwrap_or(&[]);
        let start = word.as_ptr() as usize - original.as_ptr() as usize;
        let mut edited = Vec::with_capacity(original.len() + 16);
        if word.is_empty() {
            edited.extend_from_slice(&original);
            edited.extend_from_slice(b"\nrevised\n");
        } else {
            edited.extend_from_slice(original.get(..start).unwrap_or(&[]));
            edited.extend_from_slice(b"revised");
            edited.extend_from_slice(original.get(start + word.len()..).unwrap_or(&[]));
        }
        fs::write(&path, edited)?;
        Ok(Edited { path, original })
    }

    /// Appends a sentence.
    pub fn appended(path: PathBuf) -> io::Result<Self> {
        let original = fs::read(&path)?;
        let mut edited = original.clone();
        edited.extend_from_slice(b"\nThis was looked at again.\n");
        fs::write(&path, edited)?;
        Ok(Edited { path, original })
    }

    /// Puts the file back.
    pub fn undo(self) -> io::Result<()> {
        fs::write(&self.path, &self.original)
    }
}

/// The regular files below a folder of the corpus, relative to its root, sorted.
pub fn files_below(root: &Path, folder: &str) -> Vec<String> {
    walkdir::WalkDir::new(root.join(folder))
        .sort_by_file_name()
        .into_iter()
        .flatten()
        .filter(|entry| entry.file_type().is_file())
        .filter_map(|entry| kbc::workspace::discover::relative(root, entry.path()))
        .collect()
}

/// The `number`-th file of a walk that spreads over all of them.
pub fn pick(files: &[String], number: usize) -> Option<&String> {
    files.get((number * 97 + 13) % files.len().max(1))
}

/// Opens a session on the corpus, edits `count` sources and then `count` cards, and prints a line
/// for each: kind, microseconds from the edit until the findings of all changed cards are known,
/// number of those cards. Runs in a process of its own.
pub fn in_process(root: &Path, count: usize) -> Result<(), Box<dyn Error>> {
    let project = Project::open(root.to_path_buf()).map_err(|error| error.to_string())?;
    let mut session = Session::open(project, Options::default());
    session.keep();
    session.record();
    let sources = files_below(root, "sources");
    let cards = files_below(root, "cards");
    let edit = |path: PathBuf, kind: &str| match kind {
        "source" => Edited::word(path),
        _ => Edited::appended(path),
    };
    for (kind, files) in [("source", &sources), ("card", &cards)] {
        // The first edits pay for what later ones find ready; an editor is open for hours.
        for number in 0..count + 5 {
            let Some(path) = pick(files, number) else {
                break;
            };
            let edited = edit(root.join(path), kind)?;
            let (time, told) = take_in(&mut session, path);
            if number >= 5 {
                println!("{kind} {} {told}", time.as_micros());
            }
            edited.undo()?;
            take_in(&mut session, path);
        }
    }
    Ok(())
}

/// Tells the session of a change; the time until all findings that it made new are at hand.
fn take_in(session: &mut Session, path: &str) -> (Duration, usize) {
    let paths = [path.to_owned()];
    let started = Instant::now();
    let told: Vec<Arc<str>> = session.update(&paths);
    let mut findings = 0;
    for card in &told {
        findings += session.card_diagnostics(card).len();
    }
    std::hint::black_box(findings);
    (started.elapsed(), told.len())
}
