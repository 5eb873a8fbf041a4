//! What promises to change no file changes none: the tree without `.kb/`, with bytes and times,
//! before and after every such command.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::SystemTime;

#[path = "support/scripts.rs"]
mod scripts;

use scripts::{Corpus, Random, files_below, write};

fn kb(root: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_kb"))
        .args(arguments)
        .current_dir(root)
        .env("CI", "1")
        .stdin(Stdio::null())
        .output()
        .expect("kb runs")
}

/// Path, bytes and time of the last write of every file, and time of every folder.
fn tree(root: &Path) -> BTreeMap<String, (Vec<u8>, SystemTime)> {
    let mut tree = BTreeMap::new();
    let mut open = vec![root.to_path_buf()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).unwrap().flatten() {
            let path = entry.path();
            let relative = path
                .strip_prefix(root)
                .unwrap()
                .to_string_lossy()
                .into_owned();
            if relative == ".kb" {
                continue;
            }
            let modified = entry.metadata().unwrap().modified().unwrap();
            if path.is_dir() {
                tree.insert(format!("{relative}/"), (Vec::new(), modified));
                open.push(path);
            } else {
                tree.insert(relative, (fs::read(&path).unwrap(), modified));
            }
        }
    }
    tree
}

fn differences(
    before: &BTreeMap<String, (Vec<u8>, SystemTime)>,
    after: &BTreeMap<String, (Vec<u8>, SystemTime)>,
) -> Vec<String> {
    before
        .keys()
        .chain(after.keys())
        .filter(|path| before.get(*path) != after.get(*path))
        .cloned()
        .collect()
}

const READERS: &[&[&str]] = &[
    &["check"],
    &["check", "--format", "json"],
    &["check", "--format", "sarif"],
    &["check", "--stats", "--paranoid", "--check-orphans"],
    &["check", "--no-cache", "--fuzzy", "--deny", "warnings"],
    &["check", "cards"],
    &["check", "--why", "cards/one.md"],
    &["check", "--chunks-manifest", "out/chunks_manifest.json"],
    &["freshness"],
    &["freshness", "--no-cache", "--json"],
    &["search", "one", "--source-matrix", "source_matrix.json"],
    &["show", "one", "--source-matrix", "source_matrix.json"],
    &["explain", "CACG-HASH-001"],
    &["explain", "--all"],
    &["config"],
    &["config", "--json"],
    &["root"],
    &["root", "a"],
    &["root", "--json"],
    &["prove", "a", "a:p001:0000"],
    &["verify-proof", "proof.json"],
    &["completions", "bash"],
    &["man"],
    &["build", "--locked"],
    &["build", "--locked", "--no-cache"],
    &["--help"],
    &["--version"],
    &["no-such-command"],
];

fn corpus() -> Corpus {
    let corpus = Corpus::random(&mut Random::new(40));
    write(
        corpus.root(),
        "cards/one.md",
        scripts::card("one", "north", "One", &[], "Words."),
    );
    corpus
}

#[test]
fn commands_that_read_write_nothing() {
    // Before the first build, after it, with an edit since, and with a build that died.
    for state in ["fresh", "built", "edited", "killed"] {
        let corpus = corpus();
        let root = corpus.root();
        if state != "fresh" {
            kb(root, &["build"]);
            let proof = kb(root, &["prove", "a", "a:p001:0000"]);
            assert!(proof.status.success());
            write(root, "proof.json", proof.stdout);
        }
        if state == "edited" || state == "killed" {
            write(
                root,
                "sources/a.md",
                "# Other\n\nWords that nobody wrote before.\n",
            );
        }
        if state == "killed" {
            let mut session = scripts::open(root, true);
            scripts::publish(&mut session, scripts::Death::Moved(2));
        }
        let before = tree(root);
        for arguments in READERS {
            let output = kb(root, arguments);
            let changed = differences(&before, &tree(root));
            assert!(
                changed.is_empty(),
                "{state}: `kb {}` changed {changed:?}",
                arguments.join(" ")
            );
            assert!(
                output.status.code().is_some_and(|code| code <= 2),
                "{state}: `kb {}`: {}",
                arguments.join(" "),
                String::from_utf8_lossy(&output.stderr)
            );
        }
    }
}

#[test]
fn a_second_build_touches_no_published_file() {
    let corpus = corpus();
    let root = corpus.root();
    kb(root, &["build"]);
    let before = tree(root);
    assert!(before.contains_key("out/index_manifest.json"));
    for arguments in [
        &["build"][..],
        &["build", "--no-cache"],
        &["build", "--paranoid"],
        &["build", "--threads", "1"],
    ] {
        kb(root, arguments);
        let files = |tree: BTreeMap<String, (Vec<u8>, SystemTime)>| -> BTreeMap<_, _> {
            // A folder's time moves when something is staged in it; the files' do not.
            tree.into_iter()
                .filter(|(path, _)| !path.ends_with('/'))
                .collect()
        };
        let changed = differences(&files(before.clone()), &files(tree(root)));
        assert!(changed.is_empty(), "{arguments:?} touched {changed:?}");
    }
    fs::remove_dir_all(root.join(".kb")).unwrap();
    kb(root, &["build"]);
    for (path, (bytes, modified)) in &before {
        if !path.ends_with('/') {
            assert_eq!(fs::read(root.join(path)).unwrap(), *bytes, "{path}");
            let now = fs::metadata(root.join(path)).unwrap().modified().unwrap();
            assert_eq!(now, *modified, "{path}");
        }
    }
}

/// Only what an edit changes is written: `make` rebuilds no more than it must.
#[test]
fn a_build_after_an_edit_touches_only_files_whose_bytes_differ() {
    let corpus = corpus();
    let root = corpus.root();
    kb(root, &["build"]);
    let before = tree(root);
    let text = fs::read_to_string(root.join("cards/one.md")).unwrap();
    write(root, "cards/one.md", text + "\nOne more line.\n");
    kb(root, &["build"]);
    let after = tree(root);
    for path in files_below(root, "out") {
        let (old, new) = (&before[&path], &after[&path]);
        assert_eq!(old.0 == new.0, old.1 == new.1, "{path}");
    }
    assert_eq!(
        before["out/chunks_manifest.json"],
        after["out/chunks_manifest.json"]
    );
    assert_ne!(
        before["out/index_manifest.json"].0,
        after["out/index_manifest.json"].0
    );
}

#[test]
fn a_project_that_cannot_hold_a_cache_is_checked_all_the_same() {
    let corpus = corpus();
    let root = corpus.root();
    let expected = kb(root, &["check", "--format", "json", "--no-cache"]);
    let _ = fs::remove_dir_all(root.join(".kb"));
    fs::write(root.join(".kb"), "in the way").unwrap();
    let before = tree(root);
    let found = kb(root, &["check", "--format", "json"]);
    assert_eq!(found.stdout, expected.stdout);
    assert_eq!(found.status, expected.status);
    assert!(differences(&before, &tree(root)).is_empty());
}
