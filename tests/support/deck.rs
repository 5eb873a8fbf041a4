//! A deck outside any project, as the card-graph contract has it: cards that cite the two chunks of
//! the fixtures' source, a matrix, and a program that dies where it is told to.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use kbc::deck::Place;
use kbc::workspace::Project;
use kbc_queries::parse::manifest::{CardsManifest, ChunksManifest, read_cards, read_chunks};

use crate::support::{Run, fixtures, kb, write};

/// Path of the source matrix in a deck.
pub const MATRIX: &str = "source_matrix.json";
/// Says to a test process, run again as its own child, at which writing step it is to die.
const DIE_AT: &str = "KBC_TEST_DIE_AT";

/// A deck in a folder of its own.
pub struct Deck {
    folder: tempfile::TempDir,
}

/// The corpus of the contract's fixtures.
pub fn corpus() -> PathBuf {
    fixtures().join("cacg/tests/parity_corpus")
}

impl Deck {
    /// A chunks manifest and a matrix, and no cards.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let published = corpus().join("out_python");
        for (from, to) in [
            ("chunks_manifest.json", "out/chunks_manifest.json"),
            ("source_matrix.json", MATRIX),
        ] {
            let bytes = fs::read(published.join(from)).unwrap();
            write(&folder.path().join(to), bytes);
        }
        Deck { folder }
    }

    /// Cards `a` (cites chunk 0), `b` (depends on `a`), `c` (extends `b`) and `d` (alone); all but
    /// `a` cite chunk 1.
    pub fn of_four() -> Self {
        let deck = Deck::new();
        deck.card("a", 0, &[]);
        deck.card("b", 1, &[("a", "depends_on")]);
        deck.card("c", 1, &[("b", "extends")]);
        deck.card("d", 1, &[]);
        deck
    }

    pub fn root(&self) -> &Path {
        self.folder.path()
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.root().join(path)
    }

    pub fn read(&self, path: &str) -> Vec<u8> {
        fs::read(self.path(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    pub fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        write(&self.path(path), bytes);
    }

    /// Writes the card `id`.
    pub fn card(&self, id: &str, chunk: usize, edges: &[(&str, &str)]) {
        self.write(&format!("cards/{id}.md"), card(id, chunk, edges));
    }

    /// Runs the program; it has to end with this status.
    pub fn kb(&self, arguments: &[&str], status: i32) -> Run {
        let run = kb(self.root(), arguments);
        assert_eq!(run.status, status, "kb {arguments:?}: {run:?}");
        run
    }

    pub fn index(&self) -> Run {
        self.kb(&["index"], 0)
    }

    pub fn show(&self, id: &str, status: i32) -> Run {
        self.kb(&["show", id, "--source-matrix", MATRIX], status)
    }

    /// The ids that a search for `word` finds, sorted.
    pub fn search(&self, word: &str) -> Vec<String> {
        let run = self.kb(&["search", word, "--json", "--source-matrix", MATRIX], 0);
        let hits: Vec<serde_json::Value> = serde_json::from_str(&run.stdout).unwrap();
        let id = |hit: &serde_json::Value| hit["card_id"].as_str().unwrap().to_owned();
        let mut ids: Vec<String> = hits.iter().map(id).collect();
        ids.sort();
        ids
    }

    pub fn cards(&self) -> CardsManifest {
        read_cards(&self.read("out/cards_manifest.json")).unwrap()
    }

    pub fn chunks(&self) -> ChunksManifest {
        read_chunks(&self.read("out/chunks_manifest.json")).unwrap()
    }

    /// The active cards, the retracted ones, and those withdrawn with what they rest on.
    pub fn lists(&self) -> [Vec<String>; 3] {
        let cards = self.cards();
        let mut active: Vec<String> = cards.cards.iter().map(|card| card.id.clone()).collect();
        active.sort();
        [
            active,
            cards.retracted_cards,
            cards.dependency_retracted_cards,
        ]
    }

    /// Every file but locks and what is remembered between runs.
    pub fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::new();
        let mut open = vec![self.root().to_path_buf()];
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(&folder).unwrap().flatten() {
                let path = entry.path();
                let name = entry.file_name().to_string_lossy().into_owned();
                if path.is_dir() {
                    open.push(path);
                } else if !name.ends_with("lock") && name != ".kb_index_cache" {
                    let relative = path.strip_prefix(self.root()).unwrap();
                    files.insert(
                        relative.to_string_lossy().into_owned(),
                        fs::read(&path).unwrap(),
                    );
                }
            }
        }
        files
    }

    /// The place for calls of the library.
    pub fn place(root: &Path) -> Place {
        Place::new(&Project::open(root.to_path_buf()).unwrap(), root, None)
    }
}

/// The text of a card without a recorded hash.
pub fn card(id: &str, chunk: usize, edges: &[(&str, &str)]) -> String {
    let chunks = fs::read(corpus().join("out_python/chunks_manifest.json")).unwrap();
    let chunk = &read_chunks(&chunks).unwrap().chunks[chunk];
    let quote: String = chunk.text.split_inclusive('.').next().unwrap().to_owned();
    let edges: String = edges
        .iter()
        .map(|(target, kind)| format!("  - target: \"{target}\"\n    edge_type: \"{kind}\"\n"))
        .collect();
    let edges = match edges.is_empty() {
        true => String::new(),
        false => format!("card_edges:\n{edges}"),
    };
    format!(
        "---\nschema_version: \"cacg.v0\"\nid: \"{id}\"\ntitle: \"Card {id}\"\n\
         reading_id: \"reading_01\"\nsummary: \"A summary of the card {id} that is long enough to be \
         one, with a word about lanterns too.\"\n{edges}citations:\n  - source_id: \"sample\"\n    \
         chunk_id: \"{}\"\n    chunk_hash: \"{}\"\n    page_range: [{}, {}]\n    quote: \"{quote}\"\n    \
         edge_type: \"supports\"\n---\nThe body of {id}.\n",
        chunk.chunk_id, chunk.chunk_hash, chunk.start_page, chunk.end_page,
    )
}

/// Runs a test of this file again in a process of its own, in `folder`, which dies before its
/// writing step `step`, counted from 0. Returns whether it died: past the last step it ends.
pub fn dies_at(test: &str, folder: &Path, step: usize) -> bool {
    let output = Command::new(std::env::current_exe().unwrap())
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env(DIE_AT, step.to_string())
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned()
        + &String::from_utf8_lossy(&output.stdout);
    let died = text.contains("dies before");
    assert!(died || output.status.success(), "{text}");
    died
}

/// The step at which this process is to die; `None`: it is no such child.
pub fn is_to_die_at() -> Option<usize> {
    std::env::var(DIE_AT).ok()?.parse().ok()
}

/// A watch that ends the process, with nothing cleaned up, before the step of this number.
pub fn die_before(step: usize) -> impl Fn(&str) + Sync {
    let count = AtomicUsize::new(0);
    move |word: &str| {
        if count.fetch_add(1, Ordering::SeqCst) == step {
            eprintln!("dies before: {word}");
            std::process::abort();
        }
    }
}
