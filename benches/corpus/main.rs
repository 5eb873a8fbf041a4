//! The corpus benchmark: the real program over a made-up corpus, beside what other programs need
//! for less (`sha256sum` reads the same bytes, `git status` looks at the same tree).
//!
//! ```text
//! cargo bench --bench corpus -- S                  500 sources,  2,000 cards, 10,000 quotes
//! cargo bench --bench corpus -- S M                and ten times as many
//! cargo bench --bench corpus -- --real DIR         the documents of any tree, with made-up cards
//!     --rounds N      rounds instead of 7 (S, trees) and 3 (M)
//!     --edits N       edits in one process instead of 200
//!     --kb PATH       another program than the one of this build
//!     --make-only     make the corpora, print where they are, measure nothing
//! ```
//!
//! Every round takes each row once, so that a ratio compares what ran side by side. Times are
//! medians over the rounds; the page cache is warm. It never fails: it says MET or MISSED.

mod document;
mod edits;
mod generate;
mod measure;
mod table;
mod vocabulary;

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use edits::Edited;
use generate::Kind;
use measure::{Sample, run};
use table::{Edits, Results, Row};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Changes whenever the generator makes another corpus of the same kind.
const CORPUS_VERSION: u32 = 2;

/// Longer than the time in which the program distrusts a stamp.
const SETTLED: Duration = Duration::from_millis(60);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match words.as_slice() {
        // The process that measures stays small; see `measure::run`.
        ["--generate", root, size] => generate_here(root, size),
        ["--in-process", root, count] => in_process_here(root, count),
        // `cargo test --all-targets` runs benchmarks without arguments; that is no wish to wait.
        [] => Ok(()),
        _ => Plan::parse(&words).and_then(|plan| plan.run()),
    };
    if let Err(error) = result {
        println!("corpus: {error}");
    }
}

fn generate_here(root: &str, size: &str) -> Outcome<()> {
    let kind = match size.strip_prefix("real:") {
        Some(directory) => Kind::Real(PathBuf::from(directory)),
        None => Kind::MadeUp(size.parse()?),
    };
    println!("{}", generate::generate(Path::new(root), &kind)?);
    Ok(())
}

fn in_process_here(root: &str, count: &str) -> Outcome<()> {
    edits::in_process(Path::new(root), count.parse()?)
}

/// What was asked for.
struct Plan {
    /// Name, kind, rounds.
    corpora: Vec<(String, Kind, usize)>,
    edits: usize,
    kb: PathBuf,
    make_only: bool,
}

impl Plan {
    fn parse(words: &[&str]) -> Outcome<Self> {
        let mut plan = Plan {
            corpora: Vec::new(),
            edits: 200,
            kb: PathBuf::from(env!("CARGO_BIN_EXE_kb")),
            make_only: false,
        };
        let mut rounds = None;
        let mut rest = words.iter();
        while let Some(word) = rest.next() {
            let mut value = || {
                let missing = || format!("{word} needs a value");
                rest.next().copied().ok_or_else(missing)
            };
            match *word {
                // What `cargo bench` adds.
                "--bench" => {}
                "--make-only" => plan.make_only = true,
                "--rounds" => rounds = Some(value()?.parse()?),
                "--edits" => plan.edits = value()?.parse()?,
                "--kb" => plan.kb = PathBuf::from(value()?),
                "--real" => {
                    let directory = fs::canonicalize(value()?)?;
                    let name = directory.file_name().unwrap_or_default();
                    let name = format!("tree-{}", name.to_string_lossy());
                    plan.corpora.push((name, Kind::Real(directory), 7));
                }
                "S" => plan.corpora.push(("S".to_owned(), Kind::MadeUp(500), 7)),
                "M" => plan.corpora.push(("M".to_owned(), Kind::MadeUp(5_000), 3)),
                other => return Err(format!("{other} is none of S, M, --real DIR").into()),
            }
        }
        if plan.corpora.is_empty() {
            plan.corpora.push(("S".to_owned(), Kind::MadeUp(500), 7));
        }
        for (_, _, count) in &mut plan.corpora {
            *count = rounds.unwrap_or(*count);
        }
        Ok(plan)
    }

    fn run(&self) -> Outcome<()> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        println!("kb {}, {threads} threads", env!("CARGO_PKG_VERSION"));
        let mut all = Vec::new();
        for (name, kind, rounds) in &self.corpora {
            let corpus = Corpus::make(name, kind)?;
            if self.make_only {
                println!("{}", corpus.root.display());
                continue;
            }
            let results = corpus.measure(&self.kb, *rounds, self.edits)?;
            results.print();
            all.push(results);
        }
        if !self.make_only {
            table::targets(&all);
        }
        Ok(())
    }
}

/// A corpus on disk, under version control.
struct Corpus {
    name: String,
    root: PathBuf,
    description: String,
}

impl Corpus {
    /// The corpus of this kind, made unless an earlier run left it.
    fn make(name: &str, kind: &Kind) -> Outcome<Self> {
        let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("corpus");
        let root = home.join(name);
        let size = match kind {
            Kind::MadeUp(count) => count.to_string(),
            Kind::Real(directory) => format!("real:{}", directory.display()),
        };
        let stamp = home.join(format!("{name}.made"));
        let made = format!("{CORPUS_VERSION} {size}\n");
        if let Ok(text) = fs::read_to_string(&stamp)
            && let Some(description) = text.strip_prefix(&made)
        {
            let description = description.trim().to_owned();
            // An interrupted run may have left an edit.
            git(&root, &["reset", "--quiet", "--hard"])?;
            clear(&root)?;
            return Ok(Corpus {
                name: name.to_owned(),
                root,
                description,
            });
        }
        let _ = fs::remove_file(&stamp);
        if root.exists() {
            fs::remove_dir_all(&root)?;
        }
        fs::create_dir_all(&root)?;
        let output = Command::new(std::env::current_exe()?)
            .arg("--generate")
            .arg(&root)
            .arg(&size)
            .output()?;
        let description = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        if !output.status.success() || !root.join("source_matrix.json").is_file() {
            let messages = String::from_utf8_lossy(&output.stderr);
            return Err(format!("no corpus was made: {description} {messages}").into());
        }
        git(&root, &["init", "--quiet"])?;
        git(&root, &["add", "--all"])?;
        git(&root, &["commit", "--quiet", "--message", "corpus"])?;
        fs::write(&stamp, format!("{made}{description}\n"))?;
        Ok(Corpus {
            name: name.to_owned(),
            root,
            description,
        })
    }

    fn measure(&self, kb: &Path, rounds: usize, edits: usize) -> Outcome<Results> {
        let root = &self.root;
        let sources = edits::files_below(root, "sources");
        let cards = edits::files_below(root, "cards");
        let list = root.with_extension("list");
        let names: Vec<&str> = sources.iter().chain(&cards).map(String::as_str).collect();
        fs::write(&list, names.join("\0"))?;
        self.expect_valid(kb)?;

        let mut rows: BTreeMap<Row, Vec<Sample>> = BTreeMap::new();
        let mut note = |row: Row, sample: Sample| {
            // An edit to a source makes findings, which is status 1.
            if !matches!(sample.status, 0 | 1) {
                println!("{row:?}: ended with status {}", sample.status);
            }
            rows.entry(row).or_default().push(sample);
        };
        let check = || run(program(kb, root).args(["check", "--stats"]));
        let build = || run(program(kb, root).args(["build", "--stats"]));
        let status = || run(git_command(root).args(["status", "--porcelain"]));
        for round in 0..rounds {
            eprintln!("{}: round {} of {rounds}", self.name, round + 1);
            let mut hashing = Command::new("xargs");
            hashing
                .args(["-0", "-a"])
                .arg(&list)
                .arg("sha256sum")
                .current_dir(root);
            note(Row::Sha256sum, run(&mut hashing)?);

            note(Row::Cold, {
                clear(root)?;
                check()?
            });
            sleep(SETTLED);
            status()?;
            note(Row::GitStatus, status()?);
            note(Row::Nothing, check()?);

            for (row, files) in [(Row::Card, &cards), (Row::Source, &sources)] {
                let Some(path) = edits::pick(files, round) else {
                    continue;
                };
                let edited = if row == Row::Card {
                    Edited::appended(root.join(path))?
                } else {
                    Edited::word(root.join(path))?
                };
                note(row, check()?);
                edited.undo()?;
                sleep(SETTLED);
                check()?;
            }

            clear(root)?;
            note(Row::BuildCold, build()?);
            sleep(SETTLED);
            // The first run after files were written does not trust their stamps yet.
            build()?;
            note(Row::BuildNothing, build()?);
            clear(root)?;
        }
        let edits = self.edits(edits)?;
        clear(root)?;
        Ok(Results {
            name: self.name.clone(),
            description: self.description.clone(),
            rows,
            edits,
        })
    }

    /// A corpus with findings would measure the printing of them.
    fn expect_valid(&self, kb: &Path) -> Outcome<()> {
        clear(&self.root)?;
        let output = program(kb, &self.root)
            .args(["check", "--format", "json", "--deny", "warnings"])
            .output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let ledger = text.lines().last().unwrap_or_default();
        if output.status.success() {
            eprintln!("{}: {ledger}", self.name);
        } else {
            println!(
                "{}: the corpus is not clean ({}): {ledger}\n{}",
                self.name,
                output.status,
                text.lines().next().unwrap_or_default()
            );
        }
        Ok(())
    }

    fn edits(&self, count: usize) -> Outcome<Edits> {
        eprintln!("{}: {count} edits in one process", self.name);
        let output = Command::new(std::env::current_exe()?)
            .arg("--in-process")
            .arg(&self.root)
            .arg(count.to_string())
            .output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let mut edits = Edits::default();
        for line in text.lines() {
            let mut words = line.split(' ');
            match (
                words.next(),
                words.next().and_then(|n| n.parse::<u64>().ok()),
                words.next().and_then(|n| n.parse::<u64>().ok()),
            ) {
                (Some("source"), Some(time), Some(told)) => {
                    edits.sources.push(time);
                    edits.told += told;
                }
                (Some("card"), Some(time), Some(_)) => edits.cards.push(time),
                _ => println!("{line}"),
            }
        }
        if !output.status.success() {
            println!("{}", String::from_utf8_lossy(&output.stderr));
        }
        Ok(edits)
    }
}

/// Takes away everything that was derived.
fn clear(root: &Path) -> Outcome<()> {
    for folder in [".kb", "out"] {
        match fs::remove_dir_all(root.join(folder)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
    }
    Ok(())
}

fn program(kb: &Path, root: &Path) -> Command {
    let mut command = Command::new(kb);
    command.current_dir(root).env("NO_COLOR", "1");
    command
}

/// Git as it is out of the box, whatever the user has set.
fn git_command(root: &Path) -> Command {
    let mut command = Command::new("git");
    command
        .current_dir(root)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .args([
            "-c",
            "user.name=corpus",
            "-c",
            "user.email=corpus@localhost",
        ])
        // Objects are only there to be compared with; packing them is time for nothing.
        .args(["-c", "core.compression=0", "-c", "gc.auto=0"]);
    command
}

fn git(root: &Path, arguments: &[&str]) -> Outcome<()> {
    let output = git_command(root).args(arguments).output()?;
    if output.status.success() {
        return Ok(());
    }
    let messages = String::from_utf8_lossy(&output.stderr);
    Err(format!("git {}: {messages}", arguments.join(" ")).into())
}
