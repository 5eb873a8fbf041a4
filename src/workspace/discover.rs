//! Which files belong to the project, and what the file system says of them.
//!
//! One walk over the tree below the root. `.gitignore` files inside the project count, also
//! outside a git repository; what the user ignores everywhere does not, so that two people see the
//! same project. Symbolic links are not followed: a link that leads out of the project would make
//! its verdicts depend on somebody's home directory.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use globset::{Candidate, Glob, GlobBuilder, GlobSet, GlobSetBuilder};
use ignore::{DirEntry, WalkBuilder};

use kbc_queries::diagnostic::{Diagnostic, registry};
use kbc_queries::parse::settings::Settings;
use kbc_queries::parse::skill::FILE_NAME;
use kbc_queries::system::ReadFailure;

use super::stamp::Stamp;

/// The name of files that say which others are no part of the project.
const RULES: &str = ".gitignore";

/// Largest such file, in bytes.
const RULES_LIMIT: u64 = 4 << 20;

/// What a file is to the project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A source of the collection with this index.
    Source(usize),
    /// A card.
    Card,
}

/// A file of the project.
#[derive(Clone, Debug)]
pub struct Found {
    /// Relative to the root, with `/`.
    pub path: Arc<str>,
    /// What it is.
    pub role: Role,
    /// `None`: it is no regular file.
    pub stamp: Option<Stamp>,
}

/// The files of the project, sorted by path, and what went wrong on the way.
#[derive(Debug, Default)]
pub struct Discovery {
    /// Sources and cards.
    pub files: Vec<Found>,
    /// Routers: files `SKILL.md` where cards are.
    pub routers: Vec<Arc<str>>,
    /// Directories that could not be read, links that were not followed, overlaps.
    pub diagnostics: Vec<Diagnostic>,
    /// Collections that want files which an earlier one has.
    pub shared: BTreeSet<usize>,
    /// A directory could not be read: nothing that lies below it may be taken for deleted.
    pub incomplete: bool,
}

/// The globs of a project, compiled.
pub struct Matcher {
    collections: Vec<Selection>,
    cards: Selection,
    /// Literal directory prefixes below which something can match.
    prefixes: Vec<String>,
}

/// Which files belong to one thing: a collection, or the cards.
#[derive(Clone, Default)]
struct Selection {
    /// Directories that the include globs begin with. Comparing them first spares most files of
    /// the other collections a regular expression.
    prefixes: Vec<String>,
    include: GlobSet,
    exclude: GlobSet,
}

impl Selection {
    fn new(include: &[Box<str>], exclude: &[Box<str>]) -> Self {
        let mut prefixes: Vec<String> = include.iter().map(|glob| literal_prefix(glob)).collect();
        prefixes.sort();
        prefixes.dedup();
        Selection {
            prefixes,
            include: set(include),
            exclude: set(exclude),
        }
    }

    fn has(&self, path: &str, candidate: &Candidate<'_>) -> bool {
        self.prefixes
            .iter()
            .any(|prefix| prefix.is_empty() || is_within(path, prefix))
            && self.include.is_match_candidate(candidate)
            && !self.exclude.is_match_candidate(candidate)
    }
}

/// Compiles a glob the way all of the project's globs are read: `*` stays within a directory.
pub fn glob(pattern: &str) -> Result<Glob, globset::Error> {
    GlobBuilder::new(pattern).literal_separator(true).build()
}

fn set(patterns: &[Box<str>]) -> GlobSet {
    let mut builder = GlobSetBuilder::new();
    for pattern in patterns {
        // The settings' parser has reported a bad glob; here it matches nothing.
        if let Ok(glob) = glob(pattern) {
            builder.add(glob);
        }
    }
    builder.build().unwrap_or_else(|_| GlobSet::empty())
}

/// The directories that a pattern names before its first wildcard.
pub fn literal_prefix(pattern: &str) -> String {
    let mut prefix = Vec::new();
    let parts: Vec<&str> = pattern.split('/').collect();
    for part in &parts[..parts.len().saturating_sub(1)] {
        if part.contains(['*', '?', '[', '{', '\\']) {
            break;
        }
        prefix.push(*part);
    }
    prefix.join("/")
}

impl Matcher {
    /// The matcher of `settings`.
    pub fn new(settings: &Settings) -> Self {
        let mut prefixes: Vec<String> = settings
            .collections
            .iter()
            .flat_map(|collection| &collection.include)
            .chain(&settings.cards.include)
            .map(|pattern| literal_prefix(pattern))
            .collect();
        prefixes.sort();
        prefixes.dedup();
        Matcher {
            collections: settings
                .collections
                .iter()
                .map(|collection| Selection::new(&collection.include, &collection.exclude))
                .collect(),
            cards: Selection::new(&settings.cards.include, &settings.cards.exclude),
            prefixes,
        }
    }

    /// What `path` is to the project, with the other collections that want it too.
    pub fn role(&self, path: &str) -> (Option<Role>, Vec<usize>) {
        let candidate = Candidate::new(path);
        let mut wanted = Vec::new();
        for (index, collection) in self.collections.iter().enumerate() {
            if collection.has(path, &candidate) {
                wanted.push(index);
            }
        }
        if self.cards.has(path, &candidate) {
            // `SKILL.md` files route to cards and are none (contract §1.5).
            if path.rsplit('/').next() == Some(FILE_NAME) {
                return (None, wanted);
            }
            return (Some(Role::Card), wanted);
        }
        if wanted.is_empty() {
            return (None, wanted);
        }
        let first = wanted.remove(0);
        (Some(Role::Source(first)), wanted)
    }

    /// Whether `path` is a router: it lies where cards do, and is none.
    pub fn is_router(&self, path: &str) -> bool {
        path.rsplit('/').next() == Some(FILE_NAME) && self.cards.has(path, &Candidate::new(path))
    }

    /// Whether `path` is a directory that some pattern names, or one above it.
    fn is_on_the_way(&self, path: &str) -> bool {
        self.prefixes.iter().any(|prefix| is_within(prefix, path))
    }

    /// Whether anything below the directory can match.
    fn may_hold(&self, directory: &str) -> bool {
        self.prefixes.iter().any(|prefix| {
            prefix.is_empty() || is_within(prefix, directory) || is_within(directory, prefix)
        })
    }
}

/// Whether `path` is `directory` or below it.
fn is_within(path: &str, directory: &str) -> bool {
    path == directory
        || path
            .strip_prefix(directory)
            .is_some_and(|rest| rest.starts_with('/'))
}

/// A path relative to `root`, with `/`. `None` for names that are not UTF-8.
pub fn relative(root: &Path, path: &Path) -> Option<String> {
    // The walk hands out paths that begin with the root as it was given: comparing bytes spares
    // taking both apart. Anything else goes the long way.
    if std::path::MAIN_SEPARATOR == '/'
        && let (Some(root), Some(path)) = (root.to_str(), path.to_str())
        && let Some(rest) = path.strip_prefix(root)
    {
        if rest.is_empty() {
            return Some(String::new());
        }
        let rest = match rest.strip_prefix('/') {
            Some(rest) => Some(rest),
            None if root.ends_with('/') => Some(rest),
            None => None,
        };
        if let Some(rest) = rest.filter(|rest| is_plain(rest)) {
            return Some(rest.to_owned());
        }
    }
    let relative = path.strip_prefix(root).ok()?.to_str()?;
    if std::path::MAIN_SEPARATOR == '/' {
        return Some(relative.to_owned());
    }
    Some(relative.replace(std::path::MAIN_SEPARATOR, "/"))
}

/// Whether a path is spelt in the only way there is: no `.`, no `..`, no empty part.
fn is_plain(path: &str) -> bool {
    path.split('/')
        .all(|part| !part.is_empty() && part != "." && part != "..")
}

/// Walks the project.
pub fn discover(root: &Path, settings: &Settings, matcher: &Matcher) -> Discovery {
    let mut discovery = Discovery::default();
    if let Some(failure) = bad_rules(root) {
        discovery.incomplete = true;
        discovery
            .diagnostics
            .push(without_rules(RULES.to_owned(), &failure));
        return discovery;
    }
    let out = settings.out.trim_end_matches('/').to_owned();
    let walk_root = root.to_path_buf();
    // The filter must own what it looks at.
    let prefixes = Matcher {
        collections: Vec::new(),
        cards: Selection::default(),
        prefixes: matcher.prefixes.clone(),
    };
    // Folders whose rules cannot be read, and why. The walk opens such a file whatever it is, so
    // it has to be kept away from the folder.
    let shut: Arc<Mutex<Vec<(String, String)>>> = Arc::default();
    let shuts = shut.clone();
    let filter = move |entry: &DirEntry| {
        if !entry.file_type().is_some_and(|kind| kind.is_dir()) {
            return true;
        }
        let path = relative(&walk_root, entry.path());
        let wanted = match &path {
            Some(path) if path.is_empty() => true,
            Some(path) => *path != out && path != ".kb" && prefixes.may_hold(path),
            None => true,
        };
        if wanted && let Some(failure) = bad_rules(entry.path()) {
            let path = path.unwrap_or_else(|| entry.path().to_string_lossy().into_owned());
            let mut shuts = shuts.lock().unwrap_or_else(PoisonError::into_inner);
            shuts.push((format!("{path}/{RULES}"), failure));
            return false;
        }
        wanted
    };
    let walk = WalkBuilder::new(root)
        .standard_filters(false)
        .hidden(true)
        .git_ignore(true)
        .require_git(false)
        .follow_links(false)
        .filter_entry(filter)
        .build();
    for entry in walk {
        match entry {
            Ok(entry) => {
                // Rules that are there and cannot be read: whom they concern is unknown.
                if let Some(error) = entry.error().filter(|error| error.io_error().is_some()) {
                    let path = relative(root, &entry.path().join(RULES));
                    discovery.incomplete = true;
                    discovery.diagnostics.push(unreadable(path, error));
                }
                visit(root, matcher, &entry, &mut discovery);
            }
            Err(error) => {
                let path = error_path(&error).and_then(|path| relative(root, path));
                discovery.incomplete = true;
                discovery.diagnostics.push(unreadable(path, &error));
            }
        }
    }
    for (path, failure) in shut
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .drain(..)
    {
        discovery.incomplete = true;
        discovery.diagnostics.push(without_rules(path, &failure));
    }
    discovery.files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    discovery.routers.sort_unstable();
    discovery
        .diagnostics
        .sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
    discovery
}

fn visit(root: &Path, matcher: &Matcher, entry: &DirEntry, discovery: &mut Discovery) {
    let Some(kind) = entry.file_type() else {
        return;
    };
    if kind.is_dir() {
        return;
    }
    let Some(path) = relative(root, entry.path()) else {
        let shown = entry
            .path()
            .strip_prefix(root)
            .unwrap_or(entry.path())
            .to_string_lossy();
        if matcher.role(&shown).0.is_some() {
            let message = match matcher.role(&shown).0 {
                Some(Role::Card) => {
                    "the card's name is not UTF-8, so nothing can name it; it was not checked"
                }
                _ => "the file's name is not UTF-8, so nothing can cite it",
            };
            discovery.diagnostics.push(
                Diagnostic::new(registry::SRC_001, message)
                    .in_file(shown.as_ref())
                    .help("rename the file"),
            );
        }
        return;
    };
    if kind.is_file() && matcher.is_router(&path) {
        discovery.routers.push(path.as_str().into());
    }
    let (role, also) = matcher.role(&path);
    // A link in a folder's place hides all that is behind it, which must be said too.
    if role.is_none() && !(kind.is_symlink() && matcher.is_on_the_way(&path)) {
        return;
    }
    let path: Arc<str> = path.into();
    if kind.is_symlink() {
        discovery.diagnostics.push(
            Diagnostic::new(
                registry::SRC_001,
                "symbolic links are not followed; this one was skipped",
            )
            .in_file(path)
            .help("put the files themselves into the project, or exclude the link in kb.toml"),
        );
        return;
    }
    let Some(role) = role else { return };
    if let (Role::Source(_), false) = (role, also.is_empty()) {
        discovery.shared.extend(&also);
        discovery.diagnostics.push(
            Diagnostic::new(
                registry::CFG_005,
                "more than one collection includes this file; the first one has it",
            )
            .in_file(path.clone())
            .help("exclude it from the other collections"),
        );
    }
    let stamp = if kind.is_file() {
        match entry.metadata() {
            Ok(metadata) => Some(Stamp::of(&metadata)),
            // It vanished between the listing and the look: it is not there.
            Err(_) => return,
        }
    } else {
        None
    };
    discovery.files.push(Found { path, role, stamp });
}

/// Why the rules of a folder must not be opened, if they must not. Git does not follow links to
/// them either.
fn bad_rules(folder: &Path) -> Option<String> {
    let found = std::fs::symlink_metadata(folder.join(RULES)).ok()?;
    let bytes = found.len();
    if found.is_symlink() {
        Some("symbolic links are not followed".to_owned())
    } else if !found.is_file() {
        Some(ReadFailure::NotAFile.to_string())
    } else if bytes > RULES_LIMIT {
        let limit = RULES_LIMIT;
        Some(ReadFailure::TooLarge { bytes, limit }.to_string())
    } else {
        None
    }
}

fn without_rules(path: String, failure: &str) -> Diagnostic {
    Diagnostic::new(
        registry::SRC_013,
        format!("what this folder ignores cannot be read: {failure}"),
    )
    .in_file(path)
    .help("put a plain text file in its place, or remove it; the folder was left as it was, not taken for empty")
}

fn error_path(error: &ignore::Error) -> Option<&Path> {
    match error {
        ignore::Error::WithPath { path, .. } => Some(path),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => {
            error_path(err)
        }
        ignore::Error::Loop { child, .. } => Some(child),
        _ => None,
    }
}

fn unreadable(path: Option<String>, error: &ignore::Error) -> Diagnostic {
    let reason = match error.io_error() {
        Some(error) => super::disk::failure(error).to_string(),
        None => error.to_string(),
    };
    let diagnostic = Diagnostic::new(
        registry::SRC_013,
        format!("a directory cannot be read: {reason}"),
    )
    .help("make it readable; what lies below it was left as it was, not taken for deleted");
    match path {
        Some(path) => diagnostic.in_file(path),
        None => diagnostic,
    }
}
