//! Every command that the README shows is run, and prints what the README shows.
//!
//! A `console` block is a session: lines that begin with `$ ` are commands for `sh`, what follows
//! is their output, stdout before stderr. It runs in a copy of `examples/`, and files stay from
//! block to block while the folder is the copy's root again. A line `…` stands for any lines.
//! `sh` blocks build and test this repository itself; they are not run here, but each of their
//! lines has to be known to this test. `KB_BLESS=1 cargo test --test readme` writes the output anew.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Lines of `sh` blocks, and where each is run.
const ELSEWHERE: &[(&str, &str)] = &[
    ("sh examples/tour.sh", "the test of the tour"),
    ("cargo test --workspace", ".ci/run"),
    ("cargo install --locked --path .", "nowhere: takes minutes"),
];

/// A clean place with a copy of the examples, and the program on the PATH.
struct Place {
    root: PathBuf,
    _kept: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let kept = tempfile::tempdir().unwrap();
        let root = kept.path().canonicalize().unwrap().join("kbc");
        copy(&repository().join("examples"), &root.join("examples"));
        fs::create_dir(kept.path().join("home")).unwrap();
        Place { root, _kept: kept }
    }

    /// Runs a script; its status and what it printed.
    fn run(&self, folder: &Path, last: i32, script: &str) -> (i32, String) {
        let program = Path::new(env!("CARGO_BIN_EXE_kb"));
        let mut path = program.parent().unwrap().as_os_str().to_owned();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        let output = Command::new("sh")
            .arg("-c")
            .arg(format!("(exit {last})\n{script}"))
            .current_dir(folder)
            .env_clear()
            .env("PATH", path)
            .env("HOME", self.root.with_file_name("home"))
            .env("KB", program)
            .output()
            .unwrap();
        let mut text = String::from_utf8(output.stdout).unwrap();
        text.push_str(&String::from_utf8(output.stderr).unwrap());
        (output.status.code().unwrap(), text)
    }
}

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if !entry.file_type().unwrap().is_dir() {
            fs::copy(entry.path(), target).unwrap();
        } else if entry.file_name() != ".kb" {
            copy(&entry.path(), &target);
        }
    }
}

/// A piece of the README.
enum Piece<'a> {
    Line(&'a str),
    /// A fenced block: its language and lines.
    Block(&'a str, Vec<&'a str>),
}

fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        match line.strip_prefix("```") {
            None => pieces.push(Piece::Line(line)),
            Some(language) => {
                let inside = lines.by_ref().take_while(|line| *line != "```").collect();
                pieces.push(Piece::Block(language, inside));
            }
        }
    }
    pieces
}

/// Whether `wanted`, where `…` stands for any lines, fits `found`.
fn fits(wanted: &[&str], found: &[&str]) -> bool {
    match wanted.split_first() {
        None => found.is_empty(),
        Some((&"…", rest)) => (0..=found.len()).any(|skip| fits(rest, &found[skip..])),
        Some((line, rest)) => found.first() == Some(line) && fits(rest, &found[1..]),
    }
}

/// Runs a `console` block; its lines with the output of today.
fn played(place: &Place, block: &[&str], commands: &mut usize) -> Vec<String> {
    let mut folder = place.root.clone();
    let mut last = 0;
    let mut today = Vec::new();
    let mut rest = block;
    while let Some((line, after)) = rest.split_first() {
        let command = line.strip_prefix("$ ").expect("a session begins with `$ `");
        let end = after.iter().position(|line| line.starts_with("$ "));
        let (wanted, later) = after.split_at(end.unwrap_or(after.len()));
        rest = later;
        today.push((*line).to_owned());
        *commands += 1;
        if let Some(target) = command.strip_prefix("cd ") {
            folder = folder.join(target);
            assert!(folder.is_dir(), "{command}: there is no such folder");
            continue;
        }
        let (status, text) = place.run(&folder, last, command);
        last = status;
        let found: Vec<&str> = text.trim_end().lines().collect();
        let shown = if fits(wanted, &found) { wanted } else { &found };
        today.extend(shown.iter().map(|line| (*line).to_owned()));
    }
    today
}

#[test]
fn every_command_prints_what_is_shown() {
    let path = repository().join("README.md");
    let text = fs::read_to_string(&path).unwrap();
    let place = Place::new();
    let mut today = Vec::new();
    let mut commands = 0;
    for piece in pieces(&text) {
        match piece {
            Piece::Line(line) => today.push(line.to_owned()),
            Piece::Block(language, lines) => {
                today.push(format!("```{language}"));
                match language {
                    "console" => today.extend(played(&place, &lines, &mut commands)),
                    "sh" => {
                        for line in lines {
                            let command = line.split(" #").next().unwrap().trim();
                            let known = ELSEWHERE.iter().any(|(known, _)| *known == command);
                            assert!(known, "nothing runs `{command}`");
                            today.push(line.to_owned());
                        }
                    }
                    _ => today.extend(lines.into_iter().map(str::to_owned)),
                }
                today.push("```".to_owned());
            }
        }
    }
    let today = today.join("\n") + "\n";
    assert!(commands > 10, "only {commands} commands were found");
    if std::env::var_os("KB_BLESS").is_some_and(|value| value == "1") {
        fs::write(&path, &today).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap();
    for (number, (written, today)) in written.lines().zip(today.lines()).enumerate() {
        assert_eq!(written, today, "README.md, line {}", number + 1);
    }
    assert_eq!(written, today);
}

#[test]
fn the_tour_ends_well_and_leaves_nothing() {
    let place = Place::new();
    let (status, text) = place.run(&place.root, 0, "sh examples/tour.sh");
    assert_eq!(status, 0, "{text}");
    assert!(text.contains("64 ≠ 48"), "{text}");
    assert!(text.contains(" 0 derivations"), "{text}");
    // What is not ignored is as it was.
    for entry in walkdir::WalkDir::new(place.root.join("examples")) {
        let entry = entry.unwrap();
        let path = entry.path().strip_prefix(&place.root).unwrap();
        let ignored = path.components().any(|part| part.as_os_str() == ".kb");
        if entry.file_type().is_file() && !ignored {
            let here = fs::read(entry.path()).unwrap();
            assert!(
                fs::read(repository().join(path)).unwrap() == here,
                "{path:?} changed"
            );
        }
    }
}

#[test]
fn what_the_examples_publish_is_up_to_date() {
    let place = Place::new();
    for example in ["examples/minimal", "examples/httpd"] {
        let folder = place.root.join(example);
        let (_, text) = place.run(&folder, 0, "kb build --locked --json");
        assert!(text.contains("\"ledger\""), "{text}");
        assert!(
            !text.contains("CACG-BUILD"),
            "run `kb build` in {example}: {text}"
        );
    }
}

#[test]
fn the_test_command_is_what_continuous_integration_runs() {
    let script = fs::read_to_string(repository().join(".ci/run")).unwrap();
    assert!(script.contains("cargo test --workspace"));
}

#[test]
fn an_ellipsis_stands_for_any_lines() {
    assert!(fits(&["a", "…", "d"], &["a", "b", "c", "d"]));
    assert!(fits(&["…"], &[]));
    assert!(!fits(&["a", "…", "d"], &["a", "b"]));
    assert!(!fits(&["a"], &["a", "b"]));
}
