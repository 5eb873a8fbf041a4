//! Small corpora that live on disk, random edits to them, and what a project gives at a moment:
//! its findings and its published files, as bytes.
//!
//! Everything random comes from a seed, so that a failure can be had again.

#![allow(
    dead_code,
    reason = "every test program uses its own part of this file"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kbc::publish::{self, Staging, set};
use kbc::render::{Format, RenderOptions, SourceProvider, render};
use kbc::session::{Options, Report, Session};
use kbc::workspace::Project;
use kbc_queries::chunk::chunk_id;
use kbc_queries::commit::hash::sha256;
use kbc_queries::diagnostic::registry;
use tempfile::TempDir;

/// SplitMix64 (G. Steele, D. Lea, C. Flood, 2014): one multiply-xorshift per number.
pub struct Random(u64);

impl Random {
    /// A sequence that depends on nothing but the seed.
    pub fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x6a09_e667_f3bc_c908)
    }

    /// The next number.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`; 0 for a bound of 0.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % (bound.max(1) as u64)) as usize
    }

    /// True once in `n` times.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// One of the items.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        items.get(self.below(items.len()))
    }
}

/// A folder of its own, in memory where there is such a place, since scripts sync a lot.
pub fn folder() -> TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir()
        && let Ok(folder) = tempfile::tempdir_in(memory)
    {
        return folder;
    }
    tempfile::tempdir().expect("a temporary folder")
}

/// Writes a file and the folders it lies in.
pub fn write(root: &Path, path: &str, bytes: impl AsRef<[u8]>) {
    let at = root.join(path);
    if let Some(parent) = at.parent() {
        fs::create_dir_all(parent).expect("a folder");
    }
    fs::write(at, bytes).expect("a file");
}

/// The files below `below`, relative to the root, sorted.
pub fn files_below(root: &Path, below: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![root.join(below)];
    while let Some(folder) = open.pop() {
        let Ok(entries) = fs::read_dir(&folder) else {
            continue;
        };
        for entry in entries.flatten() {
            let path = entry.path();
            if path.is_dir() && !path.is_symlink() {
                open.push(path);
            } else if let Ok(relative) = path.strip_prefix(root) {
                found.push(relative.to_string_lossy().into_owned());
            }
        }
    }
    found.sort();
    found
}

/// A session's project as text for pictures.
struct Texts<'a>(&'a Session);

impl SourceProvider for Texts<'_> {
    fn text(&self, file: &str) -> Option<Arc<str>> {
        self.0.text_of(file)
    }
}

/// The report as `kb check --format json` prints it.
pub fn json(session: &Session, report: &Report) -> String {
    let mut bytes = Vec::new();
    let options = RenderOptions {
        color: false,
        unicode: true,
        width: 100,
    };
    render(report, Format::Json, &options, &Texts(session), &mut bytes)
        .expect("a report in memory");
    String::from_utf8(bytes).expect("a report is text")
}

/// How sessions of these tests work: as `kb build` does.
pub fn options(no_cache: bool) -> Options {
    Options {
        no_cache,
        sha256: true,
        ..Options::default()
    }
}

/// Opens the project at `root`.
pub fn open(root: &Path, no_cache: bool) -> Session {
    let project = Project::open(root.to_path_buf()).expect("settings that can be read");
    Session::open(project, options(no_cache))
}

/// What a project gives.
#[derive(Clone, PartialEq, Eq)]
pub struct Given {
    /// Findings and ledger.
    pub report: String,
    /// The published files, by name.
    pub files: BTreeMap<String, Vec<u8>>,
}

impl Given {
    /// By a session, published into a folder that is thrown away.
    pub fn by(session: &mut Session) -> Self {
        let report = session.report();
        let report = json(session, &report);
        let folder = folder();
        let mut staging = Staging::begin(folder.path(), "out").expect("staging");
        set::assemble(session, &mut staging).expect("a set");
        staging.commit().expect("a commit");
        Given {
            report,
            files: published(folder.path()),
        }
    }

    /// Where two answers part, in words.
    pub fn difference(&self, other: &Given) -> Option<String> {
        if self.report != other.report {
            let mut lines = String::new();
            let (ours, theirs): (Vec<&str>, Vec<&str>) = (
                self.report.lines().collect(),
                other.report.lines().collect(),
            );
            for line in &ours {
                if !theirs.contains(line) {
                    lines.push_str(&format!("  - {line}\n"));
                }
            }
            for line in &theirs {
                if !ours.contains(line) {
                    lines.push_str(&format!("  + {line}\n"));
                }
            }
            return Some(format!("the findings differ:\n{lines}"));
        }
        if self.files.keys().ne(other.files.keys()) {
            return Some("other files are published".to_owned());
        }
        self.files.iter().find_map(|(name, bytes)| {
            let theirs = other.files.get(name)?;
            (bytes != theirs).then(|| {
                format!(
                    "{name} differs:\n  - {}\n  + {}",
                    String::from_utf8_lossy(bytes),
                    String::from_utf8_lossy(theirs)
                )
            })
        })
    }
}

/// The published files of a folder.
pub fn published(out: &Path) -> BTreeMap<String, Vec<u8>> {
    set::NAMES
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), fs::read(out.join(name)).ok()?)))
        .collect()
}

/// Whether `kb build` would publish from this session.
pub fn is_publishable(session: &Session, report: &Report) -> bool {
    !session.is_incomplete()
        && !session.project.is_misconfigured()
        && !report
            .diagnostics
            .iter()
            .any(|diagnostic| diagnostic.code == registry::MAN_001)
}

/// How far a publication gets before it is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Death {
    /// Not at all.
    None,
    /// Files are staged, the last of them half-written; nothing names them.
    Staged,
    /// The intent is written but not yet in its place.
    BeforeIntent,
    /// The intent is there and so many files have moved.
    Moved(usize),
    /// Everything moved, the folder still there.
    BeforeClearing,
}

/// Publishes as `kb build` does, or dies on the way. Returns whether the set was put in place.
pub fn publish(session: &mut Session, death: Death) -> bool {
    let out = session.project.out();
    publish::recover(&out).expect("recovery");
    let report = session.report();
    if !is_publishable(session, &report) || session.is_published(&out) {
        return false;
    }
    let mut staging = Staging::begin(&out, "out").expect("staging");
    set::assemble(session, &mut staging).expect("a set");
    if death == Death::None {
        staging.commit().expect("a commit");
        session.note_published(&out);
        return true;
    }
    let differing = staging.differing();
    drop(staging);
    die(&out, &differing, death);
    false
}

/// Leaves in `out` what a build leaves that is killed while it publishes these staged files.
fn die(out: &Path, differing: &[String], death: Death) {
    let staged = out.join(".kb-publish");
    if death == Death::Staged {
        if let Some(name) = differing.last()
            && let Ok(bytes) = fs::read(staged.join(name))
        {
            fs::write(staged.join(name), &bytes[..bytes.len() / 2]).expect("a torn file");
        }
        return;
    }
    let files: BTreeMap<&String, String> = differing
        .iter()
        .map(|name| {
            let bytes = fs::read(staged.join(name)).expect("a staged file");
            (name, sha256(&bytes).to_string())
        })
        .collect();
    let intent = serde_json::json!({ "files": files }).to_string();
    if death == Death::BeforeIntent {
        fs::write(staged.join("intent.tmp"), &intent[..intent.len() / 2]).expect("a torn intent");
        return;
    }
    fs::write(staged.join("intent.json"), intent).expect("an intent");
    let mut order: Vec<&String> = differing.iter().collect();
    order.sort_by_key(|name| *name == publish::LAST);
    let moved = match death {
        Death::Moved(count) => count,
        _ => order.len(),
    };
    for name in order.into_iter().take(moved) {
        fs::rename(staged.join(name), out.join(name)).expect("a rename");
    }
}

const WORDS: &[&str] = &[
    "tide", "ledger", "harbour", "pilot", "signal", "must", "not", "never", "beacon", "rule",
    "fog", "vessel", "may", "seven", "twelve", "keeper", "lamp", "north", "chart", "depth",
    "anchor", "except", "master", "watch", "bell", "channel", "buoy", "storm", "1,024", "hour",
];

/// A sentence of the corpus's small language.
pub fn sentence(random: &mut Random) -> String {
    let count = 6 + random.below(8);
    let mut words: Vec<&str> = Vec::with_capacity(count);
    for _ in 0..count {
        words.push(random.pick(WORDS).copied().unwrap_or("tide"));
    }
    let mut text = words.join(" ");
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    text.push('.');
    text
}

/// Paragraphs of sentences.
pub fn paragraphs(random: &mut Random, count: usize) -> Vec<String> {
    (0..count)
        .map(|_| {
            let sentences: Vec<String> =
                (0..1 + random.below(3)).map(|_| sentence(random)).collect();
            sentences.join(" ")
        })
        .collect()
}

/// The text of a new source of the kind its name says.
pub fn source_text(random: &mut Random, path: &str) -> String {
    let count = 2 + random.below(6);
    let parts = paragraphs(random, count);
    if path.ends_with(".html") {
        let body: Vec<String> = parts.iter().map(|part| format!("<p>{part}</p>")).collect();
        return format!(
            "<!doctype html>\n<html><head><title>{}</title></head>\n<body>\n<h1>{}</h1>\n{}\n</body></html>\n",
            "A page",
            "A page",
            body.join("\n")
        );
    }
    if path.ends_with(".csv") {
        let mut text = "id,name,text\n".to_owned();
        for (number, part) in parts.iter().enumerate() {
            text.push_str(&format!("r{number},row {number},\"{part}\"\n"));
        }
        return text;
    }
    if path.ends_with(".md") {
        return format!("# A heading\n\n{}\n", parts.join("\n\n"));
    }
    format!("{}\n", parts.join("\n\n"))
}

/// A chunk that a card can cite.
#[derive(Clone)]
pub struct Citable {
    /// Its source.
    pub source_id: String,
    /// Its id.
    pub chunk_id: String,
    /// Its hash.
    pub hash: String,
    /// Its first page.
    pub page: u32,
    /// Its text.
    pub text: String,
}

/// What can be cited in a project.
pub fn citable(root: &Path) -> Vec<Citable> {
    let mut session = open(root, true);
    let mut all = Vec::new();
    let mut ids: Vec<String> = files_below(root, "sources")
        .iter()
        .filter_map(|path| session.source_named(path).ok())
        .map(|id| id.to_string())
        .collect();
    ids.sort();
    for id in ids {
        let Ok((texts, hashes)) = session.chunk_texts(&id) else {
            continue;
        };
        for ((page, ordinal, text), hash) in texts.into_iter().zip(hashes) {
            all.push(Citable {
                source_id: id.clone(),
                chunk_id: chunk_id(&id, page, ordinal),
                hash: hash.to_string(),
                page,
                text,
            });
        }
    }
    all
}

/// One citation in a card's YAML.
pub fn citation(chunk: &Citable, quote: &str) -> String {
    format!(
        "  - source_id: \"{}\"\n    chunk_id: \"{}\"\n    chunk_hash: \"{}\"\n    page_range: [{}, {}]\n    quote: {}\n    edge_type: \"supports\"\n",
        chunk.source_id,
        chunk.chunk_id,
        chunk.hash,
        chunk.page,
        chunk.page,
        serde_json::to_string(quote).expect("a string"),
    )
}

/// A card with these citations.
pub fn card(id: &str, reading: &str, title: &str, citations: &[String], body: &str) -> String {
    format!(
        "---\nschema_version: \"cacg.v0\"\nid: \"{id}\"\ntitle: \"{title}\"\nreading_id: \"{reading}\"\nsummary: \"A summary of the card that says what it says in some words, and then goes on for long enough to count.\"\ntags: [\"sea\"]\ncitations:\n{}---\n\n# {title}\n\n{body}\n",
        citations.concat()
    )
}

/// Some words of a text that stand side by side.
pub fn quote_from(random: &mut Random, text: &str) -> String {
    let words: Vec<&str> = text.split(' ').collect();
    let length = (4 + random.below(7)).min(words.len());
    let start = random.below(words.len() - length + 1);
    words[start..start + length].join(" ")
}

/// A random card.
pub fn random_card(random: &mut Random, id: &str, chunks: &[Citable]) -> String {
    let mut citations = Vec::new();
    for _ in 0..1 + random.below(3) {
        let Some(chunk) = random.pick(chunks).cloned() else {
            continue;
        };
        let mut quote = quote_from(random, &chunk.text);
        let mut cited = chunk;
        match random.below(10) {
            0 => quote = sentence(random),
            1 => cited.hash = "1".repeat(64),
            2 => {
                if let Some(other) = random.pick(chunks) {
                    cited.source_id.clone_from(&other.source_id);
                }
            }
            3 => cited.chunk_id = format!("{}:p001:0007", cited.source_id),
            4 => {
                // The words of another chunk: they stand elsewhere.
                if let Some(other) = random.pick(chunks) {
                    quote = quote_from(random, &other.text);
                }
            }
            _ => {}
        }
        citations.push(citation(&cited, &quote));
    }
    let reading = ["north", "south", "nowhere"][random.below(9).min(2) % 3];
    let mut text = card(
        id,
        reading,
        "What the watch keeps",
        &citations,
        &sentence(random),
    );
    if random.one_in(3) {
        let edge = format!(
            "card_edges:\n  - target: \"card-{}\"\n    edge_type: \"extends\"\ncitations:\n",
            random.below(6)
        );
        text = text.replacen("citations:\n", &edge, 1);
    }
    text
}

/// Settings that a script changes to and fro.
pub const SETTINGS: &[&str] = &[
    "[[collection]]\nname = \"sources\"\ninclude = [\"sources/**\"]\nchunk = { tokens = 24, overlap = 4 }\n",
    "[[collection]]\nname = \"sources\"\ninclude = [\"sources/**\"]\nchunk = { tokens = 24, overlap = 4 }\n\n[diagnostics]\n\"CACG-QUOTE-005\" = \"error\"\n",
    "profile = \"cacg\"\n\n[[collection]]\nname = \"sources\"\ninclude = [\"sources/**\"]\nchunk = { tokens = 24, overlap = 4 }\n",
    "[[collection]]\nname = \"sources\"\ninclude = [\"sources/**\"]\nchunker = \"cacg\"\nchunk = { tokens = 30, overlap = 5 }\n",
    "[[collection]]\nname = \"canon\"\nscope = \"canon\"\ninclude = [\"sources/sub/**\"]\nchunker = \"unit\"\n\n[[collection]]\nname = \"rest\"\ninclude = [\"sources/*\"]\nchunk = { tokens = 24, overlap = 4 }\n\n[source.\"sources/b.md\"]\nid = \"bee\"\ntitle = \"A heading\"\n",
    "[[collection]]\nname = \"sources\"\ninclude = [\"sources/**\"]\nexclude = [\"sources/**/*.txt\"]\nchunk = { tokens = 24, overlap = 4 }\n\n[readings]\n\"cards/sub/**\" = \"south\"\n",
    "profil = \"cacg\"\n[[collection]]\nname = \"sources\"\ninclude = [\"sources/**\"]\nchunk = { tokens = 24, overlap = 4 }\n",
    "",
];

/// Matrices that a script changes to and fro.
const MATRICES: &[&str] = &[
    r#"{"schema_version":"cacg.v0","allowed":{"north":["a","b","bee","c","d","e","f","sub_a"],"south":["a","b","c","d","e","f"]}}"#,
    r#"{"schema_version":"cacg.v0","allowed":{"north":["a","b","bee","c","d","e","f","sub_a"],"south":["b"]}}"#,
    r#"{"schema_version":"cacg.v0","allowed":{"north":["c"],"south":["a","b","c","d","e","f"]}}"#,
    r#"{"schema_version":"cacg.v0","allowed":{"south":["a","b","c","d","e","f"]}}"#,
    r#"{"schema_version":"cacg.v0","allowed":"#,
];

const SOURCES: &[&str] = &[
    "sources/a.md",
    "sources/b.md",
    "sources/c.html",
    "sources/d.csv",
    "sources/e.txt",
    "sources/sub/f.md",
    "sources/sub/a.txt",
    "sources/g.html",
];

/// A corpus on disk.
pub struct Corpus {
    folder: TempDir,
    next_card: usize,
}

impl Corpus {
    /// A small random corpus.
    pub fn random(random: &mut Random) -> Self {
        let folder = folder();
        let root = folder.path();
        write(root, "kb.toml", SETTINGS[0]);
        write(root, "source_matrix.json", MATRICES[0]);
        for path in &SOURCES[..3 + random.below(SOURCES.len() - 2)] {
            write(root, path, source_text(random, path));
        }
        let mut corpus = Corpus {
            folder,
            next_card: 0,
        };
        let chunks = citable(corpus.root());
        for _ in 0..4 + random.below(5) {
            corpus.write_card(random, &chunks);
        }
        corpus
    }

    /// The project's root.
    pub fn root(&self) -> &Path {
        self.folder.path()
    }

    fn at(&self, path: &str) -> PathBuf {
        self.root().join(path)
    }

    fn add_card(&mut self, random: &mut Random) -> String {
        let chunks = citable(self.root());
        self.write_card(random, &chunks)
    }

    fn write_card(&mut self, random: &mut Random, chunks: &[Citable]) -> String {
        let number = self.next_card;
        self.next_card += 1;
        let path = if random.one_in(3) {
            format!("cards/sub/card-{number}.md")
        } else {
            format!("cards/card-{number}.md")
        };
        // Two cards of one id are a finding.
        let id = if random.one_in(12) { 0 } else { number };
        let text = random_card(random, &format!("card-{id}"), chunks);
        write(self.root(), &path, text);
        path
    }

    fn files(&self) -> Vec<String> {
        let mut files = files_below(self.root(), "sources");
        files.extend(files_below(self.root(), "cards"));
        files
    }

    /// Changes something; returns a word for it and the paths that a watch would name.
    pub fn edit(&mut self, random: &mut Random) -> (String, Vec<String>) {
        let files = self.files();
        let Some(path) = random.pick(&files).cloned() else {
            let path = SOURCES[random.below(SOURCES.len())];
            write(self.root(), path, source_text(random, path));
            return ("add".to_owned(), vec![path.to_owned()]);
        };
        let (word, paths) = match random.below(20) {
            0..=3 => self.edit_text(random, path),
            4 => self.edit_hidden(random, path),
            5 => {
                fs::remove_file(self.at(&path)).expect("a file to delete");
                ("delete", vec![path])
            }
            6 => {
                let new = SOURCES[random.below(SOURCES.len())];
                write(self.root(), new, source_text(random, new));
                ("add a source", vec![new.to_owned()])
            }
            7 => ("add a card", vec![self.add_card(random)]),
            8 => self.rename(random, path),
            9 => self.copy(random, path),
            10 => self.move_and_copy_back(random, path),
            11 => {
                let bytes = fs::read(self.at(&path)).expect("a file");
                fs::write(self.at(&path), bytes).expect("the same file");
                ("touch", vec![path])
            }
            12 => {
                #[cfg(unix)]
                {
                    use std::os::unix::fs::PermissionsExt;
                    let mode = if random.one_in(2) { 0o600 } else { 0o644 };
                    fs::set_permissions(self.at(&path), fs::Permissions::from_mode(mode))
                        .expect("a mode");
                }
                ("chmod", vec![path])
            }
            13 => {
                let text = SETTINGS[random.below(SETTINGS.len())];
                if text.is_empty() {
                    let _ = fs::remove_file(self.at("kb.toml"));
                } else {
                    write(self.root(), "kb.toml", text);
                }
                ("settings", vec!["kb.toml".to_owned()])
            }
            14 => {
                let choice = random.below(MATRICES.len() + 1);
                match MATRICES.get(choice) {
                    Some(text) => write(self.root(), "source_matrix.json", text),
                    None => {
                        let _ = fs::remove_file(self.at("source_matrix.json"));
                    }
                }
                ("matrix", vec!["source_matrix.json".to_owned()])
            }
            15 => self.retract(random),
            16 => {
                let text = fs::read_to_string(self.at(&path)).unwrap_or_default();
                let text = if text.contains("\r\n") {
                    text.replace("\r\n", "\n")
                } else {
                    text.replace('\n', "\r\n")
                };
                write(self.root(), &path, text);
                ("line ends", vec![path])
            }
            17 => self.rename_folder(random),
            18 => self.swap(random, path),
            _ => {
                let ignored = self.at("sources/.gitignore");
                if ignored.exists() {
                    fs::remove_file(ignored).expect("a file to delete");
                } else {
                    fs::write(ignored, "e.txt\nsub/f.md\n").unwrap_or_default();
                }
                ("ignore", vec!["sources/.gitignore".to_owned()])
            }
        };
        (format!("{word} {}", paths.join(" ")), paths)
    }

    fn edit_text(&self, random: &mut Random, path: String) -> (&'static str, Vec<String>) {
        let text = fs::read_to_string(self.at(&path)).unwrap_or_default();
        let mut lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
        let at = random.below(lines.len());
        let word = match random.below(6) {
            0 => {
                lines.insert(at, String::new());
                "insert an empty line in"
            }
            1 => {
                lines.insert(at, sentence(random));
                "insert a line in"
            }
            2 => {
                lines.remove(at);
                "remove a line of"
            }
            3 => {
                lines.push(sentence(random));
                "append to"
            }
            4 => {
                lines.truncate(at);
                "truncate"
            }
            _ => {
                if let Some(line) = lines.get_mut(at) {
                    let from = random.pick(WORDS).copied().unwrap_or("tide");
                    let to = random.pick(WORDS).copied().unwrap_or("fog");
                    *line = line.replace(from, to);
                }
                "replace a word in"
            }
        };
        write(self.root(), &path, lines.join("\n"));
        (word, vec![path])
    }

    /// An edit that leaves the size and puts the time of the last write back.
    fn edit_hidden(&self, random: &mut Random, path: String) -> (&'static str, Vec<String>) {
        let at = self.at(&path);
        let modified = fs::metadata(&at).and_then(|metadata| metadata.modified());
        let mut bytes = fs::read(&at).unwrap_or_default();
        let from = random.below(bytes.len());
        if let Some(byte) = bytes
            .iter_mut()
            .skip(from)
            .find(|byte| byte.is_ascii_lowercase())
        {
            *byte = if *byte == b'z' { b'a' } else { *byte + 1 };
        }
        fs::write(&at, bytes).expect("a file");
        if let Ok(modified) = modified {
            fs::File::options()
                .write(true)
                .open(&at)
                .and_then(|file| file.set_modified(modified))
                .expect("a time");
        }
        ("edit behind the stamp of", vec![path])
    }

    fn elsewhere(&self, random: &mut Random, path: &str) -> String {
        let name = path.rsplit('/').next().unwrap_or(path);
        let folder = if path.starts_with("cards/") {
            ["cards", "cards/sub", "cards/other"]
        } else {
            ["sources", "sources/sub", "sources/other"]
        }[random.below(3)];
        if random.one_in(2) {
            format!("{folder}/{name}")
        } else {
            format!("{folder}/n{}-{name}", random.below(3))
        }
    }

    fn rename(&self, random: &mut Random, path: String) -> (&'static str, Vec<String>) {
        let to = self.elsewhere(random, &path);
        fs::create_dir_all(self.at(&to).parent().unwrap_or(self.root())).expect("a folder");
        fs::rename(self.at(&path), self.at(&to)).expect("a rename");
        ("rename", vec![path, to])
    }

    fn copy(&self, random: &mut Random, path: String) -> (&'static str, Vec<String>) {
        let to = self.elsewhere(random, &path);
        let bytes = fs::read(self.at(&path)).expect("a file");
        write(self.root(), &to, bytes);
        ("copy", vec![path, to])
    }

    fn move_and_copy_back(&self, random: &mut Random, path: String) -> (&'static str, Vec<String>) {
        let to = self.elsewhere(random, &path);
        if to != path {
            fs::create_dir_all(self.at(&to).parent().unwrap_or(self.root())).expect("a folder");
            fs::rename(self.at(&path), self.at(&to)).expect("a rename");
            fs::copy(self.at(&to), self.at(&path)).expect("a copy");
        }
        ("move and copy back", vec![path, to])
    }

    fn rename_folder(&self, random: &mut Random) -> (&'static str, Vec<String>) {
        let kind = if random.one_in(3) { "cards" } else { "sources" };
        let (from, to) = if self.at(&format!("{kind}/sub")).is_dir() {
            (format!("{kind}/sub"), format!("{kind}/moved"))
        } else {
            (format!("{kind}/moved"), format!("{kind}/sub"))
        };
        if self.at(&from).is_dir() && !self.at(&to).exists() {
            fs::rename(self.at(&from), self.at(&to)).expect("a rename");
        }
        // A coarse watch names the folders and not what is in them, or only the one that is gone.
        if random.one_in(3) {
            ("rename a folder, seen from one side", vec![from])
        } else {
            ("rename a folder", vec![from, to])
        }
    }

    fn swap(&self, random: &mut Random, path: String) -> (&'static str, Vec<String>) {
        let kind = path.split('/').next().unwrap_or("sources").to_owned();
        let others = files_below(self.root(), &kind);
        let Some(other) = random.pick(&others).cloned() else {
            return ("swap", vec![path]);
        };
        if other != path {
            let aside = self.at("aside.tmp");
            fs::rename(self.at(&path), &aside).expect("a rename");
            fs::rename(self.at(&other), self.at(&path)).expect("a rename");
            fs::rename(&aside, self.at(&other)).expect("a rename");
        }
        ("swap", vec![path, other])
    }

    /// Withdraws a source, a chunk or a card in the published manifests, or takes that back.
    fn retract(&self, random: &mut Random) -> (&'static str, Vec<String>) {
        let (name, list, choices): (_, _, &[&str]) = match random.below(3) {
            0 => (
                "chunks_manifest.json",
                "retracted_source_ids",
                &["a", "b", "c", "f"],
            ),
            1 => (
                "chunks_manifest.json",
                "retracted_chunk_ids",
                &["a:p001:0000", "a:p001:0001", "b:p001:0000", "c:p001:0001"],
            ),
            _ => (
                "cards_manifest.json",
                "retracted_cards",
                &["card-0", "card-1", "card-2", "card-3"],
            ),
        };
        let path = format!("out/{name}");
        let text = fs::read(self.at(&path)).unwrap_or_default();
        if let Ok(mut value) = serde_json::from_slice::<serde_json::Value>(&text)
            && let Some(entries) = value.get_mut(list).and_then(|list| list.as_array_mut())
            && let Some(id) = random.pick(choices)
        {
            let before = entries.len();
            entries.retain(|entry| entry.as_str() != Some(id));
            if entries.len() == before {
                entries.push((*id).into());
                entries.sort_by(|a, b| a.as_str().cmp(&b.as_str()));
            }
            write(self.root(), &path, value.to_string());
        }
        ("retract in", vec![path])
    }
}
