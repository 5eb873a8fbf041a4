//! The benchmark of the card graph's verbs: what they cost on decks of 1,000 and 10,000 cards, beside
//! the figures that the authors of the contract published for their own tool.
//!
//! ```text
//! cargo bench --bench deck -- run
//!     --rounds N      rounds instead of 9; what is cold is taken once per three rounds
//!     --kb PATH       another program than the one of this build
//! ```
//!
//! Every sample of a verb is a process of its own. Times are medians; the page cache is warm. The
//! decks are made by the generator of the corpus benchmark and kept. It never fails: it says MET
//! or MISSED.

#[path = "../corpus/document.rs"]
mod document;
#[path = "../corpus/generate.rs"]
#[allow(dead_code, reason = "the decks are made up")]
mod generate;
#[path = "../corpus/measure.rs"]
#[allow(dead_code, reason = "the verbs have no `--stats`")]
mod measure;
mod table;
#[path = "../corpus/vocabulary.rs"]
mod vocabulary;

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use kbc::record::clock::{Clock, Visit};
use kbc::record::journal::Journal;
use kbc_queries::record::journal::{JournalEvent, Verb, Verification};

use generate::Kind;
use measure::{Sample, run};
use table::{Appends, Row};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Changes whenever the decks are made otherwise.
const VERSION: u32 = 1;

/// Longer than the time in which the program distrusts a stamp.
const SETTLED: Duration = Duration::from_millis(60);

/// Cards that the round summary cites.
const CITED: usize = 1_000;

/// Single appends that are measured, to each journal.
const APPENDS: usize = 101;

/// Of so many rounds one is cold.
const COLD: usize = 3;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match words.as_slice() {
        // The process that measures stays small; see `measure::run`.
        ["--generate", root, count] => generate_here(root, count),
        ["--append", folder] => append_here(Path::new(folder)),
        // `cargo test --all-targets` runs benchmarks without arguments; that is no wish to wait.
        [] => Ok(()),
        _ => Plan::parse(&words).and_then(|plan| plan.run()),
    };
    if let Err(error) = result {
        println!("deck: {error}");
    }
}

fn generate_here(root: &str, count: &str) -> Outcome<()> {
    let kind = Kind::MadeUp(count.parse()?);
    println!("{}", generate::generate(Path::new(root), &kind)?);
    Ok(())
}

/// What was asked for.
struct Plan {
    rounds: usize,
    kb: PathBuf,
}

impl Plan {
    fn parse(words: &[&str]) -> Outcome<Self> {
        let mut plan = Plan {
            rounds: 9,
            kb: PathBuf::from(env!("CARGO_BIN_EXE_kb")),
        };
        let mut rest = words.iter();
        while let Some(word) = rest.next() {
            let mut value = || {
                let missing = || format!("{word} needs a value");
                rest.next().copied().ok_or_else(missing)
            };
            match *word {
                // The first is what `cargo bench` adds.
                "--bench" | "run" => {}
                "--rounds" => plan.rounds = value()?.parse()?,
                "--kb" => plan.kb = PathBuf::from(value()?),
                other => return Err(format!("{other} is none of run, --rounds, --kb").into()),
            }
        }
        Ok(plan)
    }

    fn run(&self) -> Outcome<()> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        println!("kb {}, {threads} threads", env!("CARGO_PKG_VERSION"));
        let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("deck");
        let rounds = Rounds::make(&home, &self.kb)?;
        let index = Index::make(&home, &self.kb)?;
        println!("{}\n{}\n", rounds.description, index.description);
        let mut rows: BTreeMap<Row, Vec<Sample>> = BTreeMap::new();
        for round in 0..self.rounds {
            eprintln!("round {} of {}", round + 1, self.rounds);
            let is_cold = round.is_multiple_of(COLD);
            rounds.measure(&self.kb, is_cold, &mut rows)?;
            index.measure(&self.kb, is_cold, &mut rows)?;
        }
        table::print(&rows, &appends(&home)?);
        Ok(())
    }
}

/// Takes a sample. A run that does not end well would measure the printing of findings.
fn note(rows: &mut BTreeMap<Row, Vec<Sample>>, row: Row, command: &mut Command) -> Outcome<()> {
    let sample = run(command)?;
    if sample.status != 0 {
        println!("{row:?}: ended with status {}", sample.status);
    }
    rows.entry(row).or_default().push(sample);
    Ok(())
}

fn program(kb: &Path, folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(kb);
    command
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .args(arguments);
    command
}

/// Takes away what may not be there.
fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Makes a corpus of so many sources and four times as many cards, unless it is there; what
/// `finish` does to it is done once.
fn made(root: &Path, sources: usize, finish: impl FnOnce(&Path) -> Outcome<()>) -> Outcome<String> {
    let stamp = root.with_extension("made");
    let head = format!("{VERSION} {sources}\n");
    if let Ok(text) = fs::read_to_string(&stamp)
        && let Some(description) = text.strip_prefix(&head)
    {
        return Ok(description.trim().to_owned());
    }
    eprintln!("making {}", root.display());
    remove(root)?;
    fs::create_dir_all(root)?;
    let output = Command::new(std::env::current_exe()?)
        .arg("--generate")
        .arg(root)
        .arg(sources.to_string())
        .output()?;
    let description = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if !root.join("source_matrix.json").is_file() {
        return Err(format!("no deck was made: {description}").into());
    }
    finish(root)?;
    fs::write(&stamp, format!("{head}{description}\n"))?;
    Ok(description)
}

fn succeed(command: &mut Command) -> Outcome<()> {
    let output = command.output()?;
    if output.status.success() {
        return Ok(());
    }
    let messages = String::from_utf8_lossy(&output.stderr);
    Err(format!("{command:?} ended with {}: {messages}", output.status).into())
}

fn copy(from: &Path, to: &Path) -> Outcome<()> {
    for entry in walkdir::WalkDir::new(from) {
        let entry = entry?;
        let target = to.join(entry.path().strip_prefix(from)?);
        if entry.file_type().is_dir() {
            fs::create_dir_all(target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

/// A round summary that cites 1,000 cards, in a project and beside manifests without a project.
struct Rounds {
    project: PathBuf,
    bare: PathBuf,
    user_cache: PathBuf,
    description: String,
}

impl Rounds {
    fn make(home: &Path, kb: &Path) -> Outcome<Self> {
        let project = home.join("project");
        let bare = home.join("bare");
        let description = made(&project, 500, |root| {
            succeed(&mut program(kb, root, &["build"]))?;
            let mut cards: Vec<String> = walkdir::WalkDir::new(root.join("cards"))
                .into_iter()
                .flatten()
                .filter(|entry| entry.file_type().is_file())
                .filter_map(|entry| {
                    entry
                        .path()
                        .strip_prefix(root)
                        .ok()?
                        .to_str()
                        .map(str::to_owned)
                })
                .collect();
            cards.sort();
            let bullets: Vec<String> = cards
                .iter()
                .take(CITED)
                .map(|path| format!("- `{path}`\n"))
                .collect();
            let text = format!("# Round\n\n## Knowledge Consulted\n\n{}", bullets.concat());
            fs::write(root.join("round.md"), text)?;
            remove(&bare)?;
            copy(&root.join("cards"), &bare.join("cards"))?;
            copy(&root.join("out"), &bare.join("out"))?;
            for name in ["source_matrix.json", "round.md"] {
                fs::copy(root.join(name), bare.join(name))?;
            }
            Ok(())
        })?;
        let manifest = fs::metadata(bare.join("out/chunks_manifest.json"))?.len();
        Ok(Rounds {
            project,
            bare,
            user_cache: home.join("cache"),
            description: format!(
                "round summaries: {CITED} cards of {description}; chunks manifest {:.1} MB",
                manifest as f64 / 1e6
            ),
        })
    }

    fn in_project(&self, kb: &Path) -> Command {
        program(
            kb,
            &self.project,
            &["verify", "--round-summary", "round.md"],
        )
    }

    fn beside_manifests(&self, kb: &Path) -> Command {
        let manifests = [
            "--chunks-manifest",
            "out/chunks_manifest.json",
            "--source-matrix",
            "source_matrix.json",
        ];
        let mut command = program(kb, &self.bare, &["verify", "--round-summary", "round.md"]);
        command
            .args(manifests)
            .env("XDG_CACHE_HOME", &self.user_cache);
        command
    }

    fn measure(
        &self,
        kb: &Path,
        is_cold: bool,
        rows: &mut BTreeMap<Row, Vec<Sample>>,
    ) -> Outcome<()> {
        if is_cold {
            remove(&self.project.join(".kb"))?;
            remove(&self.user_cache)?;
            note(rows, Row::ProjectCold, &mut self.in_project(kb))?;
            note(rows, Row::GivenCold, &mut self.beside_manifests(kb))?;
            // The first run after files were written does not trust their stamps yet.
            sleep(SETTLED);
            run(&mut self.in_project(kb))?;
            run(&mut self.beside_manifests(kb))?;
        }
        note(rows, Row::Project, &mut self.in_project(kb))?;
        note(rows, Row::Given, &mut self.beside_manifests(kb))
    }
}

/// A deck of 10,000 cards that was indexed.
struct Index {
    root: PathBuf,
    query: String,
    description: String,
}

impl Index {
    fn make(home: &Path, kb: &Path) -> Outcome<Self> {
        let root = home.join("index");
        let description = made(&root, 2_500, |root| {
            // Hashes and histories are written once; that is no part of a run without changes.
            succeed(&mut program(kb, root, &["index"]))
        })?;
        let summaries: serde_json::Value =
            serde_json::from_slice(&fs::read(root.join("out/summaries.json"))?)?;
        let title = summaries.pointer("/summaries/0/title");
        let query = title.and_then(|title| title.as_str()).unwrap_or("words");
        Ok(Index {
            query: query.to_owned(),
            description: format!("index and search: {description}; query \"{query}\""),
            root,
        })
    }

    fn measure(
        &self,
        kb: &Path,
        is_cold: bool,
        rows: &mut BTreeMap<Row, Vec<Sample>>,
    ) -> Outcome<()> {
        let index = || program(kb, &self.root, &["index"]);
        if is_cold {
            remove(&self.root.join(".kb"))?;
            note(rows, Row::IndexCold, &mut index())?;
            sleep(SETTLED);
            run(&mut index())?;
        }
        note(rows, Row::Index, &mut index())?;
        let mut search = program(kb, &self.root, &["search", &self.query]);
        note(rows, Row::Search, &mut search)
    }
}

/// Appends in a process of its own, which knows nothing but the two journals.
fn appends(home: &Path) -> Outcome<Appends> {
    eprintln!("appends");
    let folder = home.join("journals");
    remove(&folder)?;
    fs::create_dir_all(&folder)?;
    let output = Command::new(std::env::current_exe()?)
        .arg("--append")
        .arg(&folder)
        .output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let mut appends = Appends::default();
    for line in text.lines() {
        let time = |rest: &str| rest.parse::<u64>().ok();
        if let Some(time) = line.strip_prefix("small ").and_then(time) {
            appends.small.push(time);
        } else if let Some(time) = line.strip_prefix("large ").and_then(time) {
            appends.large.push(time);
        } else {
            println!("{line}");
        }
    }
    Ok(appends)
}

fn append_here(folder: &Path) -> Outcome<()> {
    let small = filled(folder, "small", 100)?;
    let large = filled(folder, "large", 100_000)?;
    // Alternately, so that what slows the machine down for a while slows both.
    for place in 0..APPENDS {
        for (name, journal) in [("small", &small), ("large", &large)] {
            let event = [event(place)];
            let started = Instant::now();
            journal.append(&event).map_err(|error| error.to_string())?;
            println!("{name} {}", started.elapsed().as_micros());
        }
    }
    Ok(())
}

fn filled(folder: &Path, name: &str, events: usize) -> Outcome<Journal> {
    let journal = Journal::open(folder.join(format!("{name}.jsonl")), name);
    let events: Vec<JournalEvent> = (0..events).map(event).collect();
    for some in events.chunks(10_000) {
        journal.append(some).map_err(|error| error.to_string())?;
    }
    Ok(journal)
}

fn event(place: usize) -> JournalEvent {
    Clock::frozen().event(Visit {
        command: Verb::Verify,
        card_path: format!("cards/reading_{:02}/card_{place:06}.md", place % 20),
        card_hash: None,
        diagnostics: Vec::new(),
        verification: Verification::default(),
        latency: Duration::from_micros(1),
    })
}
