//! Writing `out/`: all of a set or none of it.
//!
//! Everything is staged in a folder beside the targets and synced; an intent file then names the
//! set; renames follow, the index manifest last. A crash before the intent leaves rubbish that the
//! next build removes; a crash after it leaves a set that the next build finishes and that readers
//! read through. Files whose bytes would not change are not touched, so that `make` sees nothing.

pub mod set;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use kbc_queries::commit::hash::Digest;

use crate::workspace::{Project, door, plain};

/// The folder of staged files, inside `out/`.
const STAGING: &str = ".kb-publish";
/// Names the staged set once it is complete.
const INTENT: &str = "intent.json";
/// The file that a reader compares the others with; it moves last.
pub const LAST: &str = "index_manifest.json";
/// Largest published file that is read as a whole, in bytes; larger ones are streamed.
pub const LIMIT: u64 = 2 << 30;
/// Largest intent: six names and hashes, with room to spare.
const INTENT_LIMIT: u64 = 1 << 20;

/// The names and hashes of a set that is about to be published.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Intent {
    /// File name → SHA-256 of its bytes, hex. Only files that change.
    files: BTreeMap<String, String>,
}

/// Why a set could not be published. Nothing was changed, or the next build finishes it.
#[derive(Debug)]
pub struct PublishError {
    /// What was being done.
    pub doing: String,
    /// What the system said.
    pub error: io::Error,
}

impl std::fmt::Display for PublishError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.doing, self.error)
    }
}

fn doing<T>(what: impl FnOnce() -> String, result: io::Result<T>) -> Result<T, PublishError> {
    result.map_err(|error| PublishError {
        doing: what(),
        error,
    })
}

/// A set of files on its way into `out/`.
pub struct Staging {
    out: PathBuf,
    shown: String,
    folder: PathBuf,
    files: BTreeMap<String, String>,
}

/// A file that is being staged: bytes in, hash out.
pub struct StagedFile {
    name: String,
    writer: BufWriter<File>,
    hasher: Sha256,
    written: u64,
}

impl Write for StagedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.writer.write(bytes)?;
        self.hasher.update(&bytes[..count]);
        self.written += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

impl StagedFile {
    /// Bytes written so far.
    pub fn written(&self) -> u64 {
        self.written
    }
}

impl Staging {
    /// Starts a set. Whoever calls this holds the project's lock.
    pub fn begin(out: &Path, shown: &str) -> Result<Self, PublishError> {
        let folder = out.join(STAGING);
        doing(|| format!("cannot make {shown}/"), fs::create_dir_all(out))?;
        let leftovers = doing(|| format!("{shown}/{STAGING}"), has_leftovers(&folder))?;
        if leftovers {
            doing(
                || format!("cannot clear {shown}/{STAGING}"),
                fs::remove_dir_all(&folder),
            )?;
        }
        doing(
            || format!("cannot write into {shown}/"),
            fs::create_dir(&folder),
        )?;
        Ok(Staging {
            out: out.to_path_buf(),
            shown: shown.to_owned(),
            folder,
            files: BTreeMap::new(),
        })
    }

    /// Opens a file of the set.
    pub fn file(&self, name: &str) -> Result<StagedFile, PublishError> {
        let file = doing(
            || format!("cannot write {}/{name}", self.shown),
            File::create(self.folder.join(name)),
        )?;
        Ok(StagedFile {
            name: name.to_owned(),
            writer: BufWriter::with_capacity(1 << 18, file),
            hasher: Sha256::new(),
            written: 0,
        })
    }

    /// A place for work on the way to a file of the set; it is cleared with the set.
    pub fn scratch(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Closes a file of the set and makes it durable. Returns its hash.
    pub fn finish(&mut self, file: StagedFile) -> Result<Digest, PublishError> {
        let name = file.name;
        let shown = format!("cannot write {}/{name}", self.shown);
        let inner = file.writer.into_inner().map_err(|error| PublishError {
            doing: shown.clone(),
            error: error.into_error(),
        })?;
        doing(|| shown, inner.sync_all())?;
        let hash = Digest(file.hasher.finalize().into());
        self.files.insert(name, hash.to_string());
        Ok(hash)
    }

    /// Adds a whole file to the set. Returns its hash.
    pub fn put(&mut self, name: &str, bytes: &[u8]) -> Result<Digest, PublishError> {
        let mut file = self.file(name)?;
        doing(
            || format!("cannot write {}/{name}", self.shown),
            file.write_all(bytes),
        )?;
        self.finish(file)
    }

    /// The files of the set whose bytes differ from what `out/` has, with the hashes of the new
    /// bytes.
    pub fn differing(&self) -> Vec<String> {
        self.differing_from(&self.out)
    }

    /// The files of the set whose bytes differ from what the folder `out` has.
    pub fn differing_from(&self, out: &Path) -> Vec<String> {
        self.files
            .iter()
            .filter(|(name, hash)| {
                hash_file(&out.join(name))
                    .map(|found| found.to_string())
                    .as_ref()
                    != Some(hash)
            })
            .map(|(name, _)| name.clone())
            .collect()
    }

    /// Throws the set away.
    pub fn discard(self) {
        // What is left behind is removed by the next build.
        let _ = fs::remove_dir_all(&self.folder);
    }

    /// Puts the set in its place. Returns the names of the files that changed.
    pub fn commit(self) -> Result<Vec<String>, PublishError> {
        let differing = self.differing();
        let result = self.commit_these(&differing);
        if result.is_err() && !self.folder.join(INTENT).exists() {
            let _ = fs::remove_dir_all(&self.folder);
        }
        result.map(|()| differing)
    }

    fn commit_these(&self, names: &[String]) -> Result<(), PublishError> {
        for name in names {
            // A folder cannot be replaced by a file; a pipe, a socket or a device is somebody's.
            let target = fs::symlink_metadata(self.out.join(name));
            if let Ok(found) = target
                && !found.is_file()
                && !found.is_symlink()
            {
                return Err(PublishError {
                    doing: format!("cannot replace {}/{name}", self.shown),
                    error: io::Error::other("it is not a regular file"),
                });
            }
        }
        if !names.is_empty() {
            let intent = Intent {
                files: self
                    .files
                    .iter()
                    .filter(|(name, _)| names.contains(name))
                    .map(|(name, hash)| (name.clone(), hash.clone()))
                    .collect(),
            };
            doing(
                || format!("cannot write into {}/{STAGING}", self.shown),
                write_intent(&self.folder, &intent),
            )?;
            doing(
                || format!("cannot replace files in {}/", self.shown),
                apply(&self.out, &intent),
            )?;
        }
        doing(
            || format!("cannot clear {}/{STAGING}", self.shown),
            fs::remove_dir_all(&self.folder).and_then(|()| door::sync_folder(&self.out)),
        )
    }
}

fn write_intent(folder: &Path, intent: &Intent) -> io::Result<()> {
    let temporary = folder.join("intent.tmp");
    let mut file = File::create(&temporary)?;
    file.write_all(&serde_json::to_vec(intent)?)?;
    file.sync_all()?;
    fs::rename(&temporary, folder.join(INTENT))?;
    door::sync_folder(folder)
}

/// Moves the files that are still staged; the last one last.
fn apply(out: &Path, intent: &Intent) -> io::Result<()> {
    let folder = out.join(STAGING);
    let mut names: Vec<&String> = intent.files.keys().collect();
    names.sort_by_key(|name| *name == LAST);
    for name in names {
        let staged = folder.join(name);
        if staged.exists() {
            fs::rename(&staged, out.join(name))?;
        }
    }
    door::sync_folder(out)
}

/// SHA-256 of a file's bytes.
pub fn hash_file(path: &Path) -> Option<Digest> {
    let mut file = door::open(path, door::STREAM_LIMIT).ok()?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        let count = file.read(&mut buffer).ok()?;
        if count == 0 {
            return Some(Digest(hasher.finalize().into()));
        }
        hasher.update(buffer.get(..count)?);
    }
}

fn read_intent(out: &Path) -> Option<Intent> {
    let bytes = door::read(&out.join(STAGING).join(INTENT), INTENT_LIMIT).ok()?;
    let intent: Intent = serde_json::from_slice(&bytes).ok()?;
    // It may be somebody else's file: a name that leads elsewhere is none of ours.
    let ours = |name: &String| {
        let mut parts = Path::new(name).components();
        matches!(parts.next(), Some(Component::Normal(_))) && parts.next().is_none()
    };
    intent.files.keys().all(ours).then_some(intent)
}

/// Whether the files that are still staged are those that the intent names.
fn is_whole(folder: &Path, intent: &Intent) -> bool {
    intent.files.iter().all(|(name, hash)| {
        let staged = folder.join(name);
        match fs::symlink_metadata(&staged) {
            Ok(metadata) if metadata.is_file() => {
                hash_file(&staged).is_some_and(|found| found.to_string() == *hash)
            }
            Ok(_) => false,
            Err(_) => true,
        }
    })
}

/// Whether there is a folder of staged files. Anything else of that name is nobody's leftovers.
fn has_leftovers(folder: &Path) -> io::Result<bool> {
    match fs::symlink_metadata(folder) {
        Ok(metadata) if metadata.is_dir() => Ok(true),
        Ok(_) => Err(io::Error::other(format!(
            "{STAGING} is not a folder; it is in the way, move it elsewhere"
        ))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Finishes or clears what an interrupted build left. Returns whether there was anything to
/// finish. Whoever calls this holds the project's lock.
pub fn recover(out: &Path) -> io::Result<bool> {
    let folder = out.join(STAGING);
    if !has_leftovers(&folder)? {
        return Ok(false);
    }
    let finished = match read_intent(out).filter(|intent| is_whole(&folder, intent)) {
        None => false,
        Some(intent) => {
            apply(out, &intent)?;
            true
        }
    };
    fs::remove_dir_all(&folder)?;
    door::sync_folder(out)?;
    Ok(finished)
}

/// Where the current bytes of a published file are: staged, while a set that names it is being
/// put in place, else in `out/`. A reader that goes by this sees the new set or the old one.
pub fn current(out: &Path, name: &str) -> PathBuf {
    if let Some(intent) = read_intent(out)
        && intent.files.contains_key(name)
    {
        let staged = out.join(STAGING).join(name);
        if staged.exists() {
            return staged;
        }
    }
    out.join(name)
}

/// An exclusive hold on a project; dropped, it is free again, also when the process dies.
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock below `.kb/`, waiting for another holder. `waiting` is called once if it has to.
    pub fn take(root: &Path, waiting: impl FnOnce()) -> io::Result<Self> {
        crate::cache::prepare_directory(root)?;
        Self::take_file(&crate::cache::directory(root).join("lock"), waiting)
    }

    /// Takes the one lock of an output folder, whoever asks: that of the project whose `out` it is,
    /// else its own. The folder is made if it is not there.
    pub fn of(out: &Path, waiting: impl FnOnce()) -> io::Result<Self> {
        let owner = out
            .parent()
            .filter(|parent| parent.is_dir())
            .and_then(|parent| Project::find(None, parent).ok())
            .filter(|project| project.settings_text.is_some())
            .filter(|project| plain(&project.out()) == plain(out));
        match owner {
            Some(project) => Self::take(&project.root, waiting),
            None => Self::take_folder(out, waiting),
        }
    }

    /// Takes the lock of a folder that is no project's, which is made if it is not there.
    pub fn take_folder(out: &Path, waiting: impl FnOnce()) -> io::Result<Self> {
        fs::create_dir_all(out)?;
        Self::take_file(&out.join(".kb-lock"), waiting)
    }

    fn take_file(path: &Path, waiting: impl FnOnce()) -> io::Result<Self> {
        let file = door::lockable(path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => {
                waiting();
                file.lock()?;
            }
            Err(fs::TryLockError::Error(error)) => return Err(error),
        }
        Ok(Lock { _file: file })
    }
}

/// A name that is shared between threads.
pub type Name = Arc<str>;
