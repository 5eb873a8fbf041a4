//! Files that are none, names that a terminal would obey, streams that take nothing: no command
//! waits, obeys or ends as if all were well.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

#[path = "support/base.rs"]
mod base;
#[path = "support/deck.rs"]
#[allow(dead_code, reason = "a part of it is enough")]
mod deck;

use base::Base;
use deck::{Deck, MATRIX};
use support::{Run, kb};

/// Longest that a command may take on a project of one card; a pipe would make it wait for ever.
const PATIENCE: Duration = Duration::from_secs(30);

const QUOTE: &str = "The bell is rung twelve times before fog is declared";

/// A sound project, published.
fn base() -> Base {
    let base = Base::new("", &["harbour"]);
    base.write(
        "sources/harbour.md",
        "# Harbour\n\nThe bell is rung twelve times before fog is declared by the master.\n",
    );
    base.cite("fog", "harbour", QUOTE);
    base
}

/// Runs `kb` and kills it when it waits for something.
fn patient(folder: &Path, arguments: &[&str], stdout: Stdio) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_kb"))
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .stdin(Stdio::null())
        .stdout(stdout)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let started = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if started.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("kb {arguments:?} waits");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.wait_with_output().unwrap()
}

fn said(output: &Output) -> String {
    let streams = [&output.stdout, &output.stderr];
    streams.map(|bytes| String::from_utf8_lossy(bytes)).concat()
}

/// Puts something that is no regular file in a place.
fn put(kind: &str, at: &Path) {
    let _ = fs::remove_file(at);
    match kind {
        "pipe" => assert!(Command::new("mkfifo").arg(at).status().unwrap().success()),
        "socket" => drop(UnixListener::bind(at).unwrap()),
        "device" => std::os::unix::fs::symlink("/dev/zero", at).unwrap(),
        "folder" => fs::create_dir(at).unwrap(),
        _ => panic!("{kind}"),
    }
}

const COMMANDS: [&[&str]; 8] = [
    &["check", "--format", "short"],
    &["build", "--format", "short"],
    &["build", "--locked", "--format", "short"],
    &["freshness", "--format", "short"],
    &["fix"],
    &["root"],
    &["coverage"],
    &["cite", "harbour", QUOTE],
];

#[test]
fn no_command_waits_at_a_file_that_is_none() {
    let places = [
        ".gitignore",
        "cards/.gitignore",
        "sources/harbour.md",
        "sources/harbour.md.toml",
        "cards/fog.md",
        "source_matrix.json",
        "out/sources_manifest.json",
        "out/chunks_manifest.json",
        "out/cards_manifest.json",
        "out/summaries.json",
        "out/INDEX.md",
        "out/index_manifest.json",
        "out/.kb-publish/intent.json",
        ".kb/lock",
        ".kb/cache.sqlite",
    ];
    for place in places {
        for kind in ["pipe", "socket", "device", "folder"] {
            let base = base();
            let at = base.path(place);
            fs::create_dir_all(at.parent().unwrap()).unwrap();
            put(kind, &at);
            for arguments in COMMANDS {
                let output = patient(base.root(), arguments, Stdio::piped());
                assert!(
                    output.status.code().is_some_and(|code| code <= 2),
                    "{kind} {place}, kb {arguments:?}: {}",
                    said(&output)
                );
                assert!(!said(&output).contains("panicked"), "{}", said(&output));
            }
        }
    }
}

/// A deck with everything that its verbs read: indexed, with a retraction and a journal.
fn indexed() -> Deck {
    let deck = Deck::of_four();
    deck.write("source.md", "# Tides\n\nThe tide turns every six hours.\n");
    deck.index();
    deck.kb(&["retract", "b"], 0);
    deck.kb(&["verify", "cards/a.md", "--source-matrix", MATRIX], 0);
    deck
}

#[test]
fn no_verb_of_the_deck_waits_at_a_file_that_is_none() {
    const PLACES: [&str; 21] = [
        "cards/a.md",
        "cards/a.history.jsonl",
        "cards/a.history.jsonl.lock",
        "cards/.a.md.kb-new",
        "out/cards_manifest.json",
        "out/chunks_manifest.json",
        "out/sources_manifest.json",
        "out/summaries.json",
        "out/summaries.sqlite",
        "out/summaries.sqlite.tmp",
        "out/INDEX.md",
        "out/index_manifest.json",
        "out/retractions.jsonl",
        "out/lint_journal.jsonl",
        "out/lint_journal.jsonl.head",
        "out/lint_journal.jsonl.head.tmp",
        "out/lint_journal.jsonl.lock",
        "out/.kb-lock",
        "out/.kb_index_cache",
        "out/.kb_index_cache.new",
        "out/.kb-publish/intent.json",
    ];
    let with_matrix: [&[&str]; 8] = [
        &["search", "lanterns"],
        &["search", "lanterns", "--summaries", "out/summaries.json"],
        &["show", "a"],
        &["show", "b", "--allow-retracted"],
        &["lint", "cards/a.md"],
        &["lint", "--all-readings"],
        &["verify", "cards/a.md"],
        &["verify", "--all"],
    ];
    let without: [&[&str]; 11] = [
        &["journal", "verify"],
        &["journal", "head"],
        &["journal", "rotate"],
        &["history", "cards/a.md"],
        &["history", "cards/a.md", "--validate"],
        &["ingest", "source.md"],
        &["index"],
        &["retract", "cards/a.md"],
        &["retract", "d"],
        &["retract-source", "sample", "--cards-dir", "cards"],
        &["unretract", "b", "--reason", "mistake"],
    ];
    let commands: Vec<Vec<&str>> = with_matrix
        .iter()
        .map(|arguments| [arguments, &["--source-matrix", MATRIX][..]].concat())
        .chain(without.iter().map(|arguments| arguments.to_vec()))
        .collect();
    for place in PLACES {
        for kind in ["pipe", "device"] {
            let deck = indexed();
            let at = deck.path(place);
            fs::create_dir_all(at.parent().unwrap()).unwrap();
            for arguments in &commands {
                // A verb may have put a file of its own there.
                if !fs::symlink_metadata(&at).is_ok_and(|found| !found.is_file()) {
                    fs::create_dir_all(at.parent().unwrap()).unwrap();
                    put(kind, &at);
                }
                let output = patient(deck.root(), arguments, Stdio::piped());
                assert!(
                    output.status.code().is_some_and(|code| code <= 2),
                    "{kind} {place}, kb {arguments:?}: {}",
                    said(&output)
                );
                assert!(!said(&output).contains("panicked"), "{}", said(&output));
            }
        }
    }
}

#[test]
fn rules_that_cannot_be_read_are_said_and_nothing_is_taken_for_gone() {
    for (kind, reason) in [
        ("pipe", "it is not a regular file"),
        ("folder", "it is not a regular file"),
        ("device", "symbolic links are not followed"),
        ("long", "more than the limit"),
    ] {
        for place in [".gitignore", "sources/.gitignore"] {
            let base = base();
            let before = base.read("out/sources_manifest.json");
            if kind == "long" {
                let file = File::create(base.path(place)).unwrap();
                file.set_len(1 << 40).unwrap();
            } else {
                put(kind, &base.path(place));
            }
            let run = base.run(&["check", "--format", "short"], 1);
            let line = format!(
                "{place}: error CACG-SRC-013 what this folder ignores cannot be read: {reason}"
            );
            assert!(
                run.stdout.contains("SRC-013") && run.stdout.contains(place),
                "{}",
                run.stdout
            );
            if kind != "long" {
                assert!(run.stdout.contains(&line), "{}", run.stdout);
            }
            base.run(&["build"], 1);
            assert_eq!(
                base.read("out/sources_manifest.json"),
                before,
                "{kind} {place}"
            );
        }
    }
}

#[test]
fn what_a_person_names_may_be_a_pipe() {
    let base = base();
    let script = r#""$0" verify-proof <("$0" prove harbour harbour:p001:0000) && "$0" quote <(cat sources/harbour.md) "The bell is rung twelve times""#;
    let output = Command::new("bash")
        .args(["-c", script, env!("CARGO_BIN_EXE_kb")])
        .current_dir(base.root())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", said(&output));
    assert!(
        said(&output).contains("verified: exact"),
        "{}",
        said(&output)
    );
    // What a batch names is somebody else's.
    put("pipe", &base.path("pipe.md"));
    base.write(
        "b.jsonl",
        "{\"source_path\": \"pipe.md\", \"quote\": \"some words\"}\n",
    );
    let output = patient(
        base.root(),
        &["quote", "--batch", "b.jsonl"],
        Stdio::piped(),
    );
    assert_eq!(output.status.code(), Some(1));
    assert!(
        said(&output).contains("not a regular file"),
        "{}",
        said(&output)
    );
}

#[test]
fn names_are_shown_and_never_obeyed() {
    let name = "sources/\u{1b}[31mred\u{202e}\u{7}.md";
    let card = "cards/\u{1b}]0;title\u{7}.md";
    let base = base();
    base.write(
        name,
        "# Red\n\nThe red lamp is lit on the port side of every vessel.\n",
    );
    base.write(card, "---\nid: x\n---\nWords.\n");
    fs::write(
        base.path("cards")
            .join(OsStr::from_bytes(b"\xff\x1b[1m.md")),
        "x",
    )
    .unwrap();
    let list = |output: &Output| {
        for stream in [&output.stdout, &output.stderr] {
            let text = String::from_utf8_lossy(stream);
            let bad = text.chars().find(|c| {
                (c.is_control() && !matches!(c, '\n' | '\t'))
                    || ('\u{202a}'..='\u{202e}').contains(c)
            });
            assert_eq!(bad, None, "{text:?}");
        }
    };
    let commands: [&[&str]; 16] = [
        &["check"],
        &["check", "--format", "short"],
        &["check", "--json"],
        &["check", "--format", "github"],
        &["check", "--format", "junit"],
        &["check", "--format", "sarif"],
        &["check", card],
        &["check", "--why", card],
        &["check", "cards/\u{1b}[2J.md"],
        &["check", "--baseline", "\u{1b}[2J"],
        &["root"],
        &["root", "--json"],
        &["coverage"],
        &["fix", "--dry-run"],
        &["build"],
        &["freshness"],
    ];
    for arguments in commands {
        list(&patient(base.root(), arguments, Stdio::piped()));
    }
    let run = base.run(&["root"], 0);
    assert!(
        run.stdout.contains(r"\u{1b}[31mred\u{202e}\u{7}.md"),
        "{}",
        run.stdout
    );
    base.write("kb.toml", "out = \"\u{1b}\"\n");
    list(&patient(base.root(), &["config"], Stdio::piped()));
    list(&patient(base.root(), &["check"], Stdio::piped()));
}

#[test]
fn a_card_whose_name_is_no_text_is_said() {
    let base = base();
    let name = OsStr::from_bytes(b"cards/\xff.md");
    fs::copy(base.path("cards/fog.md"), base.root().join(name)).unwrap();
    let run = base.run(&["check", "--format", "short"], 1);
    assert!(
        run.stdout
            .contains("the card's name is not UTF-8, so nothing can name it; it was not checked"),
        "{}",
        run.stdout
    );
    let output = Command::new(env!("CARGO_BIN_EXE_kb"))
        .arg("check")
        .arg(name)
        .current_dir(base.root())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("is not UTF-8"), "{}", said(&output));
}

#[test]
fn an_answer_that_cannot_be_written_is_no_success() {
    let base = base();
    base.run(&["check", "--write-baseline", "known.json"], 0);
    base.run(&["prove", "harbour", "harbour:p001:0000"], 0);
    let proof = base.run(&["prove", "harbour", "harbour:p001:0000"], 0);
    base.write("p.json", &proof.stdout);
    base.write(
        "b.jsonl",
        "{\"source\": \"some words stand here\", \"quote\": \"some words stand\"}\n",
    );
    base.write(
        "c.jsonl",
        &format!("{{\"source\": \"harbour\", \"quote\": \"{QUOTE}\"}}\n"),
    );
    let commands: &[&[&str]] = &[
        &["check"],
        &["check", "--format", "short"],
        &["check", "--format", "json"],
        &["check", "--format", "sarif"],
        &["check", "--format", "github"],
        &["check", "--format", "junit"],
        &["check", "--why", "cards/fog.md"],
        &["build"],
        &["build", "--locked"],
        &["build", "--json"],
        &["freshness"],
        &["freshness", "--json"],
        &["fix"],
        &["root"],
        &["root", "--json"],
        &["prove", "harbour", "harbour:p001:0000"],
        &["verify-proof", "p.json"],
        &["quote", "sources/harbour.md", QUOTE],
        &["quote", "sources/harbour.md", QUOTE, "--json"],
        &["quote", "--batch", "b.jsonl"],
        &["cite", "harbour", QUOTE],
        &["cite", "harbour", QUOTE, "--json"],
        &["cite", "--batch", "c.jsonl"],
        &["coverage"],
        &["coverage", "--json"],
        &["config"],
        &["config", "--json"],
        &["config", "--schema"],
        &["explain"],
        &["explain", "HASH-001"],
        &["completions", "bash"],
        &["init", "other"],
        &["clean"],
        &["--help"],
        &["check", "--help"],
        &["--version"],
    ];
    for arguments in commands {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let output = patient(base.root(), arguments, full.into());
        assert_eq!(
            output.status.code(),
            Some(2),
            "kb {arguments:?}: {}",
            said(&output)
        );
        assert!(
            said(&output).contains("cannot write to stdout"),
            "kb {arguments:?}: {}",
            said(&output)
        );
    }
}

/// Runs `kb` whose reader is gone before it says anything.
fn unheard(folder: &Path, arguments: &[&str]) -> Output {
    let script = "exec 3>&1; { \"$0\" \"$@\" 2>&3; echo \"status $?\" >&3; } | true";
    Command::new("bash")
        .args(["-c", script, env!("CARGO_BIN_EXE_kb")])
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap()
}

#[test]
fn a_reader_that_went_away_changes_no_verdict() {
    let base = base();
    for (bad, status) in [(false, 0), (true, 1)] {
        if bad {
            base.edit("cards/fog.md", "twelve", "eleven");
        }
        for format in ["full", "short", "json", "sarif", "github", "junit"] {
            let output = unheard(base.root(), &["check", "--format", format]);
            assert_eq!(said(&output), format!("status {status}\n"), "{format}");
        }
        let closed = Command::new("sh")
            .args(["-c", "exec \"$0\" check >&-", env!("CARGO_BIN_EXE_kb")])
            .current_dir(base.root())
            .output()
            .unwrap();
        assert_eq!(closed.status.code(), Some(status), "{}", said(&closed));
    }
}

#[test]
fn a_repairing_run_says_what_a_clean_one_says() {
    let base = base();
    base.edit("cards/fog.md", "twelve", "eleven");
    let clean = base.run(&["check", "--json", "--no-cache"], 1);
    base.run(&["check", "--json"], 1);
    base.write(".kb/cache.sqlite", "This is no database.");
    let repairing = base.run(&["check", "--json"], 1);
    assert_eq!(repairing.stdout, clean.stdout);
    assert!(
        repairing.stderr.contains("CACG-CACHE-001"),
        "{}",
        repairing.stderr
    );
    let after = base.run(&["check", "--json"], 1);
    assert_eq!((after.stdout, after.stderr.as_str()), (clean.stdout, ""));
}

#[test]
fn settings_that_lost_their_collections_blame_no_card() {
    let base = base();
    base.write("kb.toml", "[[collection]]\ninclude = [\"sources/**\"]\n");
    let run = base.run(&["check", "--format", "short"], 2);
    assert!(run.stdout.contains("kb.toml:1:"), "{}", run.stdout);
    assert!(run.stdout.contains("name"), "{}", run.stdout);
    assert!(!run.stdout.contains("cards/"), "{}", run.stdout);
    assert!(run.stdout.contains("checked 0 cards"), "{}", run.stdout);
    assert!(run.stderr.contains("kb.toml has errors"), "{}", run.stderr);
    // A baseline cannot hide it.
    base.write(
        "b.json",
        r#"{"findings":[],"schema_version":"kb.baseline.v1"}"#,
    );
    base.run(&["check", "--baseline", "b.json"], 2);
    // What the project itself takes for a warning is one.
    base.write(
        "kb.toml",
        "surprise = 1\n[diagnostics]\n\"CACG-CFG-001\" = \"warning\"\n",
    );
    base.run(&["check"], 0);
    base.run(&["build"], 0);
}

#[test]
fn only_a_declared_registry_has_keys_to_keep() {
    let base = base();
    base.write(
        "sources/log.csv",
        "day,what\nmonday,fog\nmonday,rain\n,calm\n",
    );
    let run = base.run(&["check", "--format", "short"], 0);
    assert!(!run.stdout.contains("SRC-010"), "{}", run.stdout);
    base.write(
        "kb.toml",
        "[[collection]]\nname = \"s\"\ninclude = [\"sources/**\"]\n[[collection.registry]]\nfile = \"sources/log.csv\"\n",
    );
    let run = base.run(&["check", "--format", "short"], 1);
    for words in [
        "line 3: the primary key `monday`",
        "line 4: the row has no primary key",
    ] {
        assert!(run.stdout.contains(words), "{}", run.stdout);
    }
}

#[test]
fn settings_that_are_no_file_are_not_passed_over() {
    for kind in ["pipe", "socket", "device", "folder"] {
        let base = base();
        put(kind, &base.path("kb.toml"));
        for folder in [base.root().to_path_buf(), base.path("cards")] {
            let output = patient(&folder, &["check"], Stdio::piped());
            assert_eq!(output.status.code(), Some(2), "{kind}: {}", said(&output));
            let words = "kb.toml cannot be read: it is not a regular file";
            assert!(said(&output).contains(words), "{kind}: {}", said(&output));
        }
    }
}

#[test]
fn fixing_nothing_is_no_success() {
    let folder = tempfile::tempdir().unwrap();
    let run: Run = kb(folder.path(), &["fix"]);
    assert_eq!(run.status, 2, "{run:?}");
    assert!(run.stderr.contains("no cards"), "{run:?}");
    let run = kb(folder.path(), &["fix", "--dry-run"]);
    assert_eq!(run.status, 2, "{run:?}");
}

#[test]
fn a_message_about_a_path_says_what_it_is_relative_to() {
    let base = base();
    let elsewhere = tempfile::tempdir().unwrap();
    let root = base.root().to_str().unwrap();
    for verb in ["check", "fix"] {
        let run = kb(elsewhere.path(), &[verb, "--project", root, "cards/fog.md"]);
        assert_eq!(run.status, 2, "{run:?}");
        for words in [
            "cards/fog.md is not in the project",
            "paths are relative to the current folder",
            &format!("give {root}/cards/fog.md"),
        ] {
            assert!(run.stderr.contains(words), "{words}: {run:?}");
        }
        let run = base.run(&[verb, "cards/fig.md"], 2);
        assert!(
            run.stderr.contains("there is no file cards/fig.md"),
            "{run:?}"
        );
        assert!(
            run.stderr.contains("relative to the current folder"),
            "{run:?}"
        );
        let help = base.run(&[verb, "--help"], 0);
        assert!(help.stdout.contains("current folder"), "{}", help.stdout);
    }
}
