//! A build that dies at any moment loses nothing: readers see one set or the other, and the next
//! build ends in the bytes of a build from nothing. The same for a cache in any state.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use kbc::session::{Options, Session};
use kbc::workspace::Project;

#[path = "support/scripts.rs"]
mod scripts;

use scripts::{Corpus, Death, Given, Random, json, open, publish, published, write};

fn kb(root: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_kb"))
        .args(arguments)
        .current_dir(root)
        .env("CI", "1")
        .output()
        .expect("kb runs")
}

fn status(output: &Output) -> i32 {
    output.status.code().unwrap_or(-1)
}

fn text(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

/// Published files by name.
type Files = BTreeMap<String, Vec<u8>>;

/// A corpus with sources, cards and a published set, and what its next set will be.
fn two_sets(seed: u64) -> (Corpus, Files, Files) {
    let mut random = Random::new(seed);
    let corpus = Corpus::random(&mut random);
    let root = corpus.root();
    publish(&mut open(root, true), Death::None);
    let before = published(&root.join("out"));
    assert_eq!(before.len(), kbc::publish::set::NAMES.len());
    let a = fs::read_to_string(root.join("sources/a.md")).unwrap();
    write(
        root,
        "sources/a.md",
        format!("{a}\nThe buoy was moved to the north.\n"),
    );
    write(
        root,
        "sources/new.md",
        "# New\n\nA pilot never leaves the harbour at night.\n",
    );
    write(
        root,
        "cards/new.md",
        scripts::card("new", "north", "New", &[], "Nothing."),
    );
    let after = Given::by(&mut open(root, true)).files;
    assert_ne!(before, after);
    (corpus, before, after)
}

const DEATHS: [Death; 10] = [
    Death::Staged,
    Death::BeforeIntent,
    Death::Moved(0),
    Death::Moved(1),
    Death::Moved(2),
    Death::Moved(3),
    Death::Moved(4),
    Death::Moved(5),
    Death::Moved(6),
    Death::BeforeClearing,
];

#[test]
fn a_build_killed_at_any_stage_is_finished_or_cleared_by_the_next() {
    for death in DEATHS {
        let (corpus, _, after) = two_sets(3);
        let root = corpus.root();
        publish(&mut open(root, true), death);
        assert!(root.join("out/.kb-publish").is_dir(), "{death:?}");
        let output = kb(root, &["build", "--format", "short"]);
        assert!(
            [0, 1].contains(&status(&output)),
            "{death:?}: {}",
            text(&output)
        );
        assert!(
            !text(&output).contains("BUILD-002"),
            "{death:?}: {}",
            text(&output)
        );
        let finished = !matches!(death, Death::Staged | Death::BeforeIntent);
        assert_eq!(text(&output).contains("BUILD-003"), finished, "{death:?}");
        assert!(published(&root.join("out")) == after, "{death:?}");
        assert!(!root.join("out/.kb-publish").exists(), "{death:?}");
        let output = kb(root, &["freshness"]);
        assert_eq!(status(&output), 0, "{death:?}: {}", text(&output));
    }
}

#[test]
fn readers_see_one_set_whatever_a_killed_build_left() {
    for death in DEATHS {
        let (corpus, before, _) = two_sets(4);
        let root = corpus.root();
        let session = open(root, true);
        let expected = json(&session, &session.report());
        publish(&mut open(root, true), death);
        let named = !matches!(death, Death::Staged | Death::BeforeIntent);
        let tree = snapshot(root);
        // The intent names the new set: then it counts, and it is the one these inputs give.
        let output = kb(root, &["freshness"]);
        assert_eq!(
            status(&output),
            i32::from(!named),
            "{death:?}: {}",
            text(&output)
        );
        assert!(
            !text(&output).contains("FRESH-003"),
            "{death:?}: {}",
            text(&output)
        );
        let session = open(root, true);
        let found = json(&session, &session.report());
        assert_eq!(found, expected, "{death:?}");
        let output = kb(root, &["check", "--format", "json"]);
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            expected,
            "{death:?}"
        );
        assert!(
            snapshot(root) == tree,
            "{death:?}: a reader wrote into the project"
        );
        if !named {
            assert!(published(&root.join("out")) == before, "{death:?}");
        }
    }
}

/// Everything below the root but `.kb/`.
fn snapshot(root: &Path) -> BTreeMap<String, Vec<u8>> {
    scripts::files_below(root, "")
        .into_iter()
        .filter(|path| !path.starts_with(".kb/"))
        .map(|path| {
            let bytes = fs::read(root.join(&path)).unwrap_or_default();
            (path, bytes)
        })
        .collect()
}

#[test]
fn an_intent_that_does_not_fit_its_files_is_not_followed() {
    let (corpus, before, after) = two_sets(5);
    let root = corpus.root();
    publish(&mut open(root, true), Death::Moved(0));
    let staged = root.join("out/.kb-publish/chunks_manifest.json");
    let bytes = fs::read(&staged).unwrap();
    fs::write(&staged, &bytes[..bytes.len() / 2]).unwrap();
    assert!(!kbc::publish::recover(&root.join("out")).unwrap());
    assert!(published(&root.join("out")) == before);
    kb(root, &["build"]);
    assert!(published(&root.join("out")) == after);
}

#[test]
fn an_intent_names_files_of_its_folder_and_no_others() {
    for name in ["../../victim.txt", "/etc/hostname", "..", "a/b", ""] {
        let (corpus, _, after) = two_sets(6);
        let root = corpus.root();
        write(root, "victim.txt", "mine");
        let hash = kbc_queries::commit::hash::sha256(b"mine").to_string();
        let intent = serde_json::json!({ "files": { name: hash } });
        write(root, "out/.kb-publish/intent.json", intent.to_string());
        let output = kb(root, &["build"]);
        assert!(
            [0, 1].contains(&status(&output)),
            "{name}: {}",
            text(&output)
        );
        assert_eq!(
            fs::read(root.join("victim.txt")).unwrap(),
            b"mine",
            "{name}"
        );
        assert!(published(&root.join("out")) == after, "{name}");
    }
}

/// Something that happens to the cache of a project.
type Damage = Box<dyn Fn(&Path)>;

/// What can be wrong with a cache file, by a word.
fn damages() -> Vec<(&'static str, Damage)> {
    fn cache(root: &Path) -> std::path::PathBuf {
        kbc::cache::file(root)
    }
    fn change(root: &Path, change: impl Fn(&mut Vec<u8>)) {
        let mut bytes = fs::read(cache(root)).unwrap();
        change(&mut bytes);
        fs::write(cache(root), bytes).unwrap();
    }
    fn sql(root: &Path, sql: &str) {
        let connection = rusqlite::Connection::open(cache(root)).unwrap();
        connection.execute_batch(sql).unwrap();
    }
    vec![
        (
            "gone",
            Box::new(|root| fs::remove_dir_all(root.join(".kb")).unwrap()),
        ),
        (
            "empty",
            Box::new(|root| fs::write(cache(root), "").unwrap()),
        ),
        (
            "garbage",
            Box::new(|root| fs::write(cache(root), vec![0x5a; 40_000]).unwrap()),
        ),
        (
            "short",
            Box::new(|root| change(root, |bytes| bytes.truncate(bytes.len() / 2))),
        ),
        (
            "one page",
            Box::new(|root| change(root, |bytes| bytes.truncate(4096))),
        ),
        (
            "a few bytes",
            Box::new(|root| change(root, |bytes| bytes.truncate(17))),
        ),
        (
            "noise in the pages",
            Box::new(|root| {
                change(root, |bytes| {
                    for at in (4096..bytes.len()).step_by(97) {
                        bytes[at] ^= 0x11;
                    }
                })
            }),
        ),
        (
            "another version",
            Box::new(|root| sql(root, "PRAGMA user_version=77")),
        ),
        (
            "no tables",
            Box::new(|root| sql(root, "DROP TABLE state; DROP TABLE trace")),
        ),
        (
            "values of another kind",
            Box::new(|root| {
                sql(
                    root,
                    "UPDATE state SET entries = x'00'; UPDATE trace SET value = x'0102'; UPDATE value SET value = 7",
                )
            }),
        ),
        (
            "values in each other's place",
            Box::new(|root| {
                sql(
                    root,
                    "UPDATE trace SET value = (SELECT value FROM trace ORDER BY key DESC LIMIT 1)",
                )
            }),
        ),
        (
            "a folder",
            Box::new(|root| {
                fs::remove_file(cache(root)).unwrap();
                fs::create_dir(cache(root)).unwrap();
            }),
        ),
        (
            "a log of nothing",
            Box::new(|root| {
                fs::write(root.join(".kb/cache.sqlite-wal"), vec![7; 9000]).unwrap();
            }),
        ),
        (
            "the directory is a file",
            Box::new(|root| {
                fs::remove_dir_all(root.join(".kb")).unwrap();
                fs::write(root.join(".kb"), "").unwrap();
            }),
        ),
    ]
}

#[test]
fn a_cache_in_any_state_changes_no_result() {
    for (word, damage) in damages() {
        let (corpus, _, _) = two_sets(7);
        let root = corpus.root();
        open(root, false).record();
        let mut built = open(root, false);
        Given::by(&mut built);
        built.record();
        drop(built);
        damage(root);
        let expected = Given::by(&mut open(root, true));
        let mut session = open(root, false);
        let found = Given::by(&mut session);
        assert_eq!(found.difference(&expected), None, "{word}");
        session.record();
        drop(session);
        // It is repaired once, and then of use again.
        let mut again = open(root, false);
        assert!(again.notice().is_none(), "{word}: still complains");
        let found = Given::by(&mut again);
        assert_eq!(found.difference(&expected), None, "{word}, again");
        let output = kb(root, &["check", "--format", "json"]);
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            expected.report,
            "{word}"
        );
    }
}

/// Every byte that is stored of a verdict counts: none can be flipped without being noticed.
#[test]
fn a_flipped_bit_in_the_cache_makes_no_verdict() {
    let (corpus, _, _) = two_sets(8);
    let root = corpus.root();
    open(root, false).record();
    let expected = Given::by(&mut open(root, true));
    let mut random = Random::new(8);
    for _ in 0..60 {
        let connection = rusqlite::Connection::open(kbc::cache::file(root)).unwrap();
        let table = if random.one_in(2) {
            ("state", "entries")
        } else {
            ("trace", "value")
        };
        let row: i64 = connection
            .query_row(&format!("SELECT count(*) FROM {}", table.0), [], |row| {
                row.get(0)
            })
            .unwrap();
        let skip = random.below(usize::try_from(row).unwrap());
        let query = format!("SELECT {} FROM {} LIMIT 1 OFFSET {skip}", table.1, table.0);
        let before: Vec<u8> = connection.query_row(&query, [], |row| row.get(0)).unwrap();
        let mut after = before.clone();
        let at = random.below(after.len());
        after[at] ^= 1 << random.below(8);
        let update = format!("UPDATE {0} SET {1} = ?1 WHERE {1} = ?2", table.0, table.1);
        connection
            .execute(&update, rusqlite::params![after, before])
            .unwrap();
        drop(connection);
        let found = Given::by(&mut open(root, false));
        assert_eq!(
            found.difference(&expected),
            None,
            "byte {at} of row {skip} of {}",
            table.0
        );
    }
}

#[test]
fn builds_killed_at_random_moments_end_in_the_same_bytes() {
    let mut random = Random::new(9);
    let (corpus, _, _) = two_sets(9);
    let root = corpus.root();
    let mut kills = 0;
    for round in 0..40 {
        write(
            root,
            "sources/a.md",
            format!(
                "# A\n\nThe tide of round {round} was {}.\n",
                random.below(9)
            ),
        );
        let mut child = Command::new(env!("CARGO_BIN_EXE_kb"))
            .arg("build")
            .current_dir(root)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_micros(random.next() % 60_000));
        kills += usize::from(child.try_wait().unwrap().is_none());
        // SIGKILL on Unix.
        let _ = child.kill();
        child.wait().unwrap();
        if round % 5 == 4 {
            // The clean build must see what was recorded, so the interrupted one is finished first.
            kbc::publish::recover(&root.join("out")).unwrap();
            let expected = Given::by(&mut open(root, true));
            let output = kb(root, &["build", "--format", "json"]);
            assert!([0, 1].contains(&status(&output)), "{}", text(&output));
            assert!(
                published(&root.join("out")) == expected.files,
                "round {round}"
            );
            let output = kb(root, &["check", "--format", "json"]);
            let clean = open(root, true);
            assert_eq!(
                String::from_utf8_lossy(&output.stdout),
                json(&clean, &clean.report())
            );
        }
    }
    assert!(kills > 5, "only {kills} builds were still running");
}

#[test]
fn two_builds_at_once_end_in_the_same_bytes() {
    for seed in 0..4 {
        let (corpus, _, after) = two_sets(20 + seed);
        let root = corpus.root();
        let children: Vec<_> = (0..3)
            .map(|_| {
                Command::new(env!("CARGO_BIN_EXE_kb"))
                    .args(["build", "--format", "short"])
                    .current_dir(root)
                    .stdout(Stdio::piped())
                    .stderr(Stdio::piped())
                    .spawn()
                    .unwrap()
            })
            .collect();
        let outputs: Vec<Output> = children
            .into_iter()
            .map(|child| child.wait_with_output().unwrap())
            .collect();
        // The corpus has findings, which are the same for all.
        for output in &outputs {
            assert_eq!(output.stdout, outputs[0].stdout);
            assert_eq!(output.status, outputs[0].status);
            assert!([0, 1].contains(&status(output)), "{}", text(output));
        }
        assert!(published(&root.join("out")) == after, "seed {seed}");
    }
}

#[test]
fn a_check_while_a_build_runs_sees_a_consistent_set() {
    let (corpus, _, _) = two_sets(30);
    let root = corpus.root().to_path_buf();
    kb(&root, &["build"]);
    let done = Arc::new(AtomicBool::new(false));
    let writer = {
        let (root, done) = (root.clone(), done.clone());
        std::thread::spawn(move || {
            for _ in 0..15 {
                // The same inputs, published anew.
                fs::remove_file(root.join("out/INDEX.md")).unwrap();
                fs::write(root.join("out/summaries.json"), "{}").unwrap();
                kb(&root, &["build"]);
            }
            done.store(true, Ordering::SeqCst);
        })
    };
    let clean = open(&root, true);
    let expected = json(&clean, &clean.report());
    let mut looks = 0;
    while !done.load(Ordering::SeqCst) {
        let output = kb(&root, &["check", "--format", "json"]);
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
        looks += 1;
    }
    writer.join().unwrap();
    assert!(looks > 3);
}

/// A file that changes between the look at it and its use.
#[test]
fn a_file_that_changes_under_the_run_is_looked_at_again() {
    for victim in ["sources/a.md", "cards/card-0.md", "cards/sub/card-0.md"] {
        for at in ["source", "card", "citation_report", "card_report"] {
            let (corpus, _, _) = two_sets(31);
            let root = corpus.root().to_path_buf();
            let Ok(before) = fs::read(root.join(victim)) else {
                continue;
            };
            let mut changed = before.clone();
            changed.extend_from_slice(b"\nAnd one more line.\n");
            let fired = Arc::new(AtomicBool::new(false));
            let observer = {
                let (root, fired, changed) = (root.clone(), fired.clone(), changed.clone());
                Arc::new(move |name: &str| {
                    let name = name.rsplit("::").next().unwrap_or(name);
                    if name.starts_with(at) && !fired.swap(true, Ordering::SeqCst) {
                        fs::write(root.join(victim), &changed).unwrap();
                    }
                })
            };
            let options = Options {
                sha256: true,
                observer: Some(observer),
                ..Options::default()
            };
            let project = Project::open(root.clone()).unwrap();
            let mut session = Session::open(project, options);
            assert!(fired.load(Ordering::SeqCst), "{at} never ran");
            session.record();
            // It may have been read before it changed; then the next look must see it.
            session.rescan();
            let found = Given::by(&mut session);
            let expected = Given::by(&mut open(&root, true));
            assert_eq!(found.difference(&expected), None, "{victim} at {at}");
            let found = Given::by(&mut open(&root, false));
            assert_eq!(found.difference(&expected), None, "{victim} at {at}, warm");
            // The bytes that were looked at come back: nothing wrong was kept under their name.
            fs::write(root.join(victim), &before).unwrap();
            let expected = Given::by(&mut open(&root, true));
            let found = Given::by(&mut open(&root, false));
            assert_eq!(
                found.difference(&expected),
                None,
                "{victim} at {at}, reverted"
            );
            session.update(&[victim.to_owned()]);
            let found = Given::by(&mut session);
            assert_eq!(
                found.difference(&expected),
                None,
                "{victim} at {at}, in the session"
            );
        }
    }
}
