//! Runs of `index`, `retract`, `unretract` and `verify` that are killed: at random moments, and
//! between any two of the steps that put a set in place. The next run repairs by itself.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "support/deck.rs"]
#[allow(dead_code, reason = "a part of it is enough")]
mod deck;
mod support;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use deck::{Deck, MATRIX, card};
use kbc_queries::commit::hash::sha256;

const VERIFY: [&str; 5] = [
    "verify",
    "cards/d.md",
    "--allow-retracted",
    "--source-matrix",
    MATRIX,
];
const RETRACT: [&str; 2] = ["retract", "d"];
const UNRETRACT: [&str; 4] = ["unretract", "d", "--reason", "mistake"];

/// Runs the program and kills it after a time. Returns whether it succeeded before that.
fn killed_after(folder: &Path, arguments: &[&str], time: Duration) -> bool {
    let mut child = Command::new(env!("CARGO_BIN_EXE_kb"))
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(time);
    // SIGKILL on Unix.
    let _ = child.kill();
    child.wait().unwrap().success()
}

/// Numbers that look random and are the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit.max(1)
    }
}

/// Whether the last whole event of the card's history says that it is retracted.
fn is_tombstoned(deck: &Deck) -> bool {
    let history = String::from_utf8(deck.read("cards/d.history.jsonl")).unwrap();
    let last: serde_json::Value = serde_json::from_str(history.lines().last().unwrap()).unwrap();
    last["is_retracted"].as_bool().unwrap()
}

fn events(deck: &Deck) -> u64 {
    let run = deck.kb(&["journal", "verify", "--json"], 0);
    let verdict: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    verdict["events"].as_u64().unwrap()
}

#[test]
fn runs_killed_at_random_moments_are_repaired_by_the_next() {
    let deck = Deck::of_four();
    deck.index();
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    // How long each of them takes when nobody kills it.
    let runs: [&[&str]; 4] = [&VERIFY, &RETRACT, &UNRETRACT, &["index"]];
    let times = runs.map(|arguments| {
        let started = Instant::now();
        deck.kb(arguments, 0);
        u64::try_from(started.elapsed().as_micros()).unwrap()
    });
    let (mut acknowledged, mut unknown, mut kills) = (events(&deck), 0, 0);
    let mut retracted = false;
    for round in 0..100 {
        let which = match round % 4 {
            0 => 0,
            1 if retracted => 2,
            1 => 1,
            2 => {
                let text = card("d", 1, &[]).replace("The body", &format!("{round}: the body"));
                // At once, as an editor does: half a card would be the test's own doing.
                deck.write("new.md", text);
                fs::rename(deck.path("new.md"), deck.path("cards/d.md")).unwrap();
                3
            }
            _ => 3,
        };
        let time = Duration::from_micros(random.below(times[which] * 11 / 10));
        let succeeded = killed_after(deck.root(), runs[which], time);
        kills += u64::from(!succeeded);
        if which == 0 {
            acknowledged += u64::from(succeeded);
            unknown += u64::from(!succeeded);
        }
        if succeeded && which == 1 {
            retracted = true;
        }
        if succeeded && which == 2 {
            retracted = false;
        }
        // The next run, whatever was left; only the last of four is looked at in between.
        if which == 1 || which == 2 || round % 4 == 3 {
            deck.index();
            let lists = deck.lists();
            let listed = lists[1] == ["d"];
            assert_eq!(listed, is_tombstoned(&deck), "round {round}");
            assert_eq!(lists[0].len(), if listed { 3 } else { 4 }, "round {round}");
            if succeeded || which == 3 {
                assert_eq!(listed, retracted, "round {round}");
            }
            retracted = listed;
            deck.kb(&["history", "cards/d.md", "--validate"], 0);
            deck.kb(&VERIFY, 0);
            acknowledged += 1;
            let found = events(&deck);
            assert!(
                (acknowledged..=acknowledged + unknown).contains(&found),
                "round {round}: {found} events, {acknowledged} acknowledged, {unknown} unknown"
            );
            assert_eq!(deck.search("lanterns").len(), lists[0].len());
            assert!(!deck.path("out/.kb-publish").exists(), "round {round}");
            assert!(!deck.path("cards/.d.md.kb-new").exists(), "round {round}");
        }
    }
    assert!(kills > 30, "only {kills} runs were killed");
}

/// Leaves `out/` as a death between the renames of a run does, for every number of renames, and
/// lets `next` come.
fn killed_between_renames(prepare: impl Fn(&Deck), arguments: &[&str], next: &[&str]) -> usize {
    let mut moved = 0;
    loop {
        let deck = Deck::of_four();
        deck.index();
        prepare(&deck);
        let before = deck.files();
        deck.kb(arguments, 0);
        let after = deck.files();
        let changed: Vec<&str> = after
            .iter()
            .filter(|(path, bytes)| before.get(*path) != Some(bytes))
            .filter_map(|(path, _)| path.strip_prefix("out/"))
            .collect();
        assert!(changed.len() > 2, "{changed:?}");
        let mut intent = serde_json::Map::new();
        for (index, name) in changed.iter().enumerate() {
            let path = format!("out/{name}");
            let bytes = &after[&path];
            intent.insert((*name).to_owned(), sha256(bytes).to_string().into());
            if index >= moved {
                deck.write(&format!("out/.kb-publish/{name}"), bytes);
                match before.get(&path) {
                    Some(bytes) => deck.write(&path, bytes),
                    None => fs::remove_file(deck.path(&path)).unwrap(),
                }
            }
        }
        let intent = serde_json::json!({ "files": intent });
        deck.write("out/.kb-publish/intent.json", intent.to_string());
        let run = deck.kb(next, 0);
        assert!(
            run.stderr.contains("interrupted") || run.stdout.contains("interrupted"),
            "{moved}: {run:?}"
        );
        let repaired = deck.files();
        let paths: Vec<&String> = after
            .keys()
            .filter(|path| after.get(*path) != repaired.get(*path))
            .collect();
        assert!(
            paths.is_empty() && repaired.len() == after.len(),
            "{moved}: {paths:?}"
        );
        if moved == changed.len() {
            return moved;
        }
        moved += 1;
    }
}

#[test]
fn sets_killed_between_any_two_renames_are_finished_by_the_next_run() {
    let edit = |deck: &Deck| {
        let text = card("d", 1, &[]).replace("Card d", "The fourth card");
        deck.write("cards/d.md", text);
    };
    for (arguments, next) in [
        (&["retract", "d"][..], &["index"][..]),
        (&["retract", "d"], &["retract", "d"]),
        (
            &["retract-source", "sample", "--cards-dir", "cards"],
            &["retract-source", "sample", "--cards-dir", "cards"],
        ),
    ] {
        assert!(killed_between_renames(|_| {}, arguments, next) > 2);
    }
    assert!(killed_between_renames(edit, &["index"], &["index"]) > 2);
}

#[test]
fn a_visit_killed_between_the_event_and_the_head_is_taken_in_by_the_next() {
    let deck = Deck::of_four();
    deck.index();
    deck.kb(&VERIFY, 0);
    let head = deck.read("out/lint_journal.jsonl.head");
    deck.kb(&VERIFY, 0);
    // The event is there, the head file still is the old one, the new one is half written.
    deck.write("out/lint_journal.jsonl.head", head);
    deck.write("out/lint_journal.jsonl.head.tmp", "{\"byt");
    let run = deck.kb(&VERIFY, 0);
    assert!(run.stderr.contains("taken into it: 1"), "{run:?}");
    assert_eq!(events(&deck), 3);
    assert!(!deck.path("out/lint_journal.jsonl.head.tmp").exists());
}
