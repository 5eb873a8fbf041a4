//! `kb index`: what it publishes and records, what it refuses, and that it takes everything back.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "support/deck.rs"]
#[allow(dead_code, reason = "a part of it is enough")]
mod deck;
mod support;

use std::fs;
use std::process::Command;

use deck::{Deck, card, corpus, die_before, dies_at, is_to_die_at};
use kbc::deck::index::{Request, index};
use kbc::record::clock::Clock;
use kbc_queries::parse::manifest::{read_cards, read_summaries};

const IDENTITY: &str = "cards/reading_01/01-content-addressable-identity.md";

/// A deck of the contract's valid card, which carries a hash of zeros.
fn stale() -> Deck {
    let deck = Deck::new();
    let text = fs::read_to_string(corpus().join(IDENTITY)).unwrap();
    let hash = text
        .lines()
        .find(|line| line.starts_with("card_hash"))
        .unwrap();
    let zeros = format!("card_hash: \"{}\"", "0".repeat(64));
    deck.write(IDENTITY, text.replace(hash, &zeros));
    deck
}

#[test]
fn the_golden_card_history_and_records() {
    let deck = stale();
    let output = Command::new(env!("CARGO_BIN_EXE_kb"))
        .args(["index", "cards", "--out", "out"])
        .current_dir(deck.root())
        .env("KB_FROZEN_CLOCK", "1")
        .output()
        .unwrap();
    assert!(output.status.success());
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(
        stderr.starts_with("kb index: published out/cards_manifest.json and out/summaries.json\n"),
        "{stderr}"
    );
    assert_eq!(output.stdout, b"");
    assert_eq!(
        deck.read(IDENTITY),
        fs::read(corpus().join(IDENTITY)).unwrap()
    );
    let rows = "out_python/parity_rows/kb_index_parity_corpus_stale_hash_reading_01/py-corpus";
    let history = "reading_01/01-content-addressable-identity.history.jsonl";
    let golden = corpus().join(rows).join("cards_stale_hash").join(history);
    assert_eq!(
        deck.read(&format!("cards/{history}")),
        fs::read(golden).unwrap()
    );
    // Of the golden manifests the fixtures hold one card; its records are the same but for the path.
    let golden = |name: &str| fs::read(corpus().join("out_python").join(name)).unwrap();
    let mut expected = read_cards(&golden("cards_manifest.json")).unwrap();
    expected.cards.truncate(1);
    expected.cards[0].path = IDENTITY.to_owned();
    assert_eq!(
        deck.read("out/cards_manifest.json"),
        kbc_queries::commit::canonical::to_vec(&expected).unwrap()
    );
    let mut expected = read_summaries(&golden("summaries.json")).unwrap();
    expected.summaries.truncate(1);
    expected.summaries[0].path = IDENTITY.to_owned();
    assert_eq!(
        deck.read("out/summaries.json"),
        kbc_queries::commit::canonical::to_vec(&expected).unwrap()
    );
    assert_eq!(
        String::from_utf8(deck.read("out/INDEX.md")).unwrap(),
        "# Card Index\n\nschema_version: cacg.v0\n\n## reading_01\n\n\
         | id | title | citations | card_hash |\n| --- | --- | --- | --- |\n\
         | content-addressable-identity | Content-Addressable Identity | 1 | 714988273af6… |\n"
    );
}

#[test]
fn help_says_that_nothing_is_verified() {
    let deck = Deck::new();
    let help = deck.kb(&["index", "--help"], 0).stdout;
    let words: Vec<&str> = help.split_whitespace().collect();
    assert!(words.join(" ").contains("This verifies nothing"), "{help}");
    assert!(help.contains("Examples:"));
    let deck = Deck::of_four();
    let text = card("a", 0, &[]).replace("Content-addressable", "Path-addressable");
    deck.write("cards/a.md", text);
    deck.index();
    assert_eq!(deck.cards().cards.len(), 4);
}

#[test]
fn a_second_run_writes_nothing_with_and_without_what_is_remembered() {
    let deck = Deck::of_four();
    deck.index();
    let before = deck.files();
    let time = |path: &str| fs::metadata(deck.path(path)).unwrap().modified().unwrap();
    let times = [
        "out/cards_manifest.json",
        "out/summaries.sqlite",
        "cards/a.md",
    ]
    .map(time);
    for damage in [None, Some(&b"garbage"[..]), Some(b"")] {
        if let Some(damage) = damage {
            deck.write("out/.kb_index_cache", damage);
        }
        for _ in 0..2 {
            deck.index();
            assert!(deck.files() == before);
        }
        let now = [
            "out/cards_manifest.json",
            "out/summaries.sqlite",
            "cards/a.md",
        ]
        .map(time);
        assert_eq!(now, times);
    }
}

#[test]
fn an_edit_is_seen_and_continues_one_history() {
    let deck = Deck::of_four();
    deck.index();
    std::thread::sleep(std::time::Duration::from_millis(50));
    deck.index();
    let text = String::from_utf8(deck.read("cards/b.md")).unwrap();
    assert!(text.contains("\ncard_hash: \""));
    deck.write("cards/b.md", text.replace("Card b", "Card B"));
    deck.index();
    let events = |id: &str| {
        let bytes = deck.read(&format!("cards/{id}.history.jsonl"));
        bytes.iter().filter(|byte| **byte == b'\n').count()
    };
    assert_eq!(["a", "b", "c", "d"].map(events), [1, 2, 1, 1]);
    assert_eq!(deck.cards().cards[1].title, "Card B");
    let after = String::from_utf8(deck.read("cards/b.md")).unwrap();
    // Only the line of the hash is another one.
    let rest = |text: &str| -> Vec<String> {
        let lines = text.lines().filter(|line| !line.starts_with("card_hash"));
        lines.map(str::to_owned).collect()
    };
    assert_eq!(rest(&after), rest(&text.replace("Card b", "Card B")));
    assert_eq!(
        deck.kb(&["history", "cards/b.md", "--validate"], 0).status,
        0
    );
    // A card that is gone leaves the manifests.
    fs::remove_file(deck.path("cards/d.md")).unwrap();
    deck.index();
    assert_eq!(deck.lists()[0], ["a", "b", "c"]);
}

#[test]
fn routers_and_read_me_files_are_no_cards() {
    let deck = Deck::of_four();
    deck.write("cards/SKILL.md", "---\nname: router\n---\n");
    deck.write("cards/inner/README.md", "# About\n");
    deck.write("cards/inner/notes.txt", "no card");
    deck.index();
    assert_eq!(deck.lists()[0], ["a", "b", "c", "d"]);
}

/// What is to be refused: a word, how it comes about, the arguments, and what has to be said.
type Case<'a> = (&'a str, Box<dyn Fn(&Deck)>, &'a [&'a str], &'a [&'a str]);

#[test]
fn what_is_refused_leaves_everything_as_it_was() {
    let cases: Vec<Case<'_>> = vec![
        (
            "output is the cards folder",
            Box::new(|_| {}),
            &["index", "cards", "--out", "cards"],
            &["CACG-IDX-005: ", "cards"],
        ),
        (
            "output inside the cards folder",
            Box::new(|_| {}),
            &["index", "cards", "--out", "cards/deep/out"],
            &["CACG-IDX-005: ", "cards/deep/out"],
        ),
        #[cfg(unix)]
        (
            "output inside the cards folder by a link",
            Box::new(|deck| std::os::unix::fs::symlink("cards", deck.path("link")).unwrap()),
            &["index", "cards", "--out", "link/out"],
            &["CACG-IDX-005: ", "link/out"],
        ),
        (
            "no cards folder",
            Box::new(|_| {}),
            &["index", "no-such-folder"],
            &["CACG-CLI-001: ", "no-such-folder"],
        ),
        (
            "sidecar of a card",
            Box::new(|deck| deck.write("cards/b.md.bak", "mine")),
            &["index"],
            &["CACG-IDX-006: ", "cards/b.md.bak"],
        ),
        (
            "sidecar of a manifest",
            Box::new(|deck| deck.write("out/summaries.json.tmp", "mine")),
            &["index"],
            &["CACG-IDX-007: ", "out/summaries.json.tmp"],
        ),
        (
            "a folder in the place of a manifest",
            Box::new(|deck| fs::create_dir(deck.path("out/INDEX.md")).unwrap()),
            &["index"],
            &["CACG-IDX-008: ", "out/INDEX.md"],
        ),
        #[cfg(unix)]
        (
            "a link in the place of a manifest",
            Box::new(|deck| {
                deck.write("elsewhere.json", "mine");
                let link = deck.path("out/summaries.json");
                std::os::unix::fs::symlink("../elsewhere.json", link).unwrap();
            }),
            &["index"],
            &["CACG-IDX-008: ", "out/summaries.json"],
        ),
        (
            "two cards with one id",
            Box::new(|deck| deck.write("cards/deep/e.md", card("b", 0, &[]))),
            &["index"],
            &["CACG-CARDS-001: ", "cards/b.md", "cards/deep/e.md"],
        ),
        (
            "two cards that are none",
            Box::new(|deck| {
                deck.write("cards/x.md", "no frontmatter\n");
                deck.write(
                    "cards/y.md",
                    card("y", 0, &[]).replace("summary:", "sumary:"),
                );
            }),
            &["index"],
            &["cards/x.md: CACG-FM-004 ", "cards/y.md: CACG-FM-"],
        ),
        (
            "a damaged history",
            Box::new(|deck| deck.write("cards/c.history.jsonl", "{}\n")),
            &["index"],
            &["CACG-HIST-001: ", "cards/c.history.jsonl"],
        ),
        (
            "a damaged manifest",
            Box::new(|deck| deck.write("out/cards_manifest.json", "{\"cards\":[]")),
            &["index"],
            &["CACG-MAN-001: ", "out/cards_manifest.json"],
        ),
        (
            "damaged decisions",
            Box::new(|deck| deck.write("out/chunks_manifest.json", "[]")),
            &["index"],
            &["CACG-MAN-001: ", "out/chunks_manifest.json"],
        ),
    ];
    for (word, prepare, arguments, said) in cases {
        let deck = Deck::of_four();
        prepare(&deck);
        let before = deck.files();
        let run = deck.kb(arguments, 1);
        for piece in said {
            assert!(
                run.stderr.contains(piece),
                "{word}: {piece:?} in {}",
                run.stderr
            );
        }
        assert_eq!(run.stdout, "", "{word}");
        assert!(deck.files() == before, "{word}");
        assert!(!deck.path("cards/deep/out").exists(), "{word}");
    }
}

#[test]
fn a_rewritten_history_of_a_changed_card_is_not_continued() {
    let deck = Deck::of_four();
    deck.index();
    let history = String::from_utf8(deck.read("cards/a.history.jsonl")).unwrap();
    deck.write("cards/a.history.jsonl", history.replace("Card a", "Card z"));
    let text = String::from_utf8(deck.read("cards/a.md")).unwrap();
    deck.write("cards/a.md", text.replace("The body", "Another body"));
    let before = deck.files();
    let run = deck.kb(&["index"], 1);
    assert!(run.stderr.starts_with("CACG-HIST-001: "), "{}", run.stderr);
    assert!(deck.files() == before);
}

#[test]
fn a_step_that_fails_takes_the_others_back() {
    // The last card's history cannot be locked, when others are written already.
    let deck = Deck::of_four();
    deck.index();
    for id in ["a", "b", "c", "d"] {
        let path = format!("cards/{id}.md");
        let text = String::from_utf8(deck.read(&path)).unwrap();
        deck.write(&path, text.replace("The body", "Another body"));
    }
    fs::remove_file(deck.path("cards/d.history.jsonl.lock")).unwrap();
    fs::create_dir(deck.path("cards/d.history.jsonl.lock")).unwrap();
    let before = deck.files();
    let run = deck.kb(&["--threads", "1", "index"], 1);
    assert!(
        run.stderr.contains("cards/d.history.jsonl"),
        "{}",
        run.stderr
    );
    assert!(deck.files() == before);
    assert!(!deck.path("out/.kb-publish").exists());
    fs::remove_dir(deck.path("cards/d.history.jsonl.lock")).unwrap();
    deck.index();
    assert_eq!(deck.lists()[0].len(), 4);
}

#[test]
fn what_cannot_be_published_is_not_recorded_either() {
    let deck = Deck::of_four();
    deck.write("out/.kb-publish", "in the way");
    let before = deck.files();
    let run = deck.kb(&["index"], 1);
    assert!(run.stderr.contains("CACG-IDX-004: "), "{}", run.stderr);
    assert!(deck.files() == before);
}

#[test]
fn an_empty_folder_is_not_taken_for_an_empty_deck() {
    let deck = Deck::of_four();
    deck.index();
    fs::create_dir(deck.path("other")).unwrap();
    let before = deck.files();
    let run = deck.kb(&["index", "other"], 1);
    assert!(run.stderr.contains("--allow-empty"), "{}", run.stderr);
    assert!(deck.files() == before);
    deck.kb(&["index", "other", "--allow-empty"], 0);
    assert_eq!(deck.cards().cards, []);
}

#[test]
fn retractions_are_kept_and_the_cascade_is_found_anew() {
    let deck = Deck::of_four();
    deck.index();
    deck.kb(&["retract", "a"], 0);
    let text = |lists: [&[&str]; 3]| {
        lists.map(|list| list.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>())
    };
    assert_eq!(deck.lists(), text([&["b", "c", "d"], &["a"], &["b", "c"]]));
    deck.index();
    assert_eq!(deck.lists(), text([&["b", "c", "d"], &["a"], &["b", "c"]]));
    // `b` no longer depends on it.
    deck.card("b", 1, &[]);
    let run = deck.index();
    assert_eq!(deck.lists(), text([&["b", "c", "d"], &["a"], &[]]));
    assert!(!run.stderr.contains("withdrawn"));
    // Somebody takes the id off the list: the history knows better.
    let mut cards = deck.cards();
    cards.retracted_cards.clear();
    deck.write(
        "out/cards_manifest.json",
        kbc_queries::commit::canonical::to_vec(&cards).unwrap(),
    );
    let run = deck.index();
    assert!(run.stderr.contains("cards/a.md"), "{}", run.stderr);
    assert_eq!(deck.lists(), text([&["b", "c", "d"], &["a"], &[]]));
}

#[test]
fn without_a_chunks_manifest_withdrawn_cards_stay_withdrawn() {
    let deck = Deck::of_four();
    deck.index();
    deck.kb(&["retract-source", "sample", "--cards-dir", "cards"], 0);
    assert_eq!(deck.lists()[2].len(), 4);
    fs::remove_file(deck.path("out/chunks_manifest.json")).unwrap();
    deck.index();
    assert_eq!(deck.lists()[2].len(), 4);
}

#[test]
fn a_lost_manifest_does_not_give_cards_back() {
    let deck = Deck::of_four();
    deck.index();
    deck.kb(&["retract", "a"], 0);
    fs::remove_file(deck.path("out/cards_manifest.json")).unwrap();
    let before = deck.files();
    for arguments in [
        &["index"][..],
        &["search", "lanterns", "--source-matrix", deck::MATRIX],
        &["retract", "cards/b.md"],
        &["retract-source", "sample", "--cards-dir", "cards"],
    ] {
        let run = deck.kb(arguments, 1);
        assert!(
            run.stderr.starts_with("CACG-MAN-001: ") && run.stderr.contains("cards/a.md"),
            "{arguments:?}: {}",
            run.stderr
        );
        assert!(deck.files() == before, "{arguments:?}");
    }
    deck.kb(&["index", "--restore-retractions"], 0);
    assert_eq!(deck.lists()[1], ["a"]);
}

#[test]
fn several_runs_at_once_take_turns() {
    let deck = Deck::of_four();
    let children: Vec<_> = (0..4)
        .map(|_| {
            Command::new(env!("CARGO_BIN_EXE_kb"))
                .arg("index")
                .current_dir(deck.root())
                .spawn()
                .unwrap()
        })
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    for id in ["a", "b", "c", "d"] {
        let history = deck.read(&format!("cards/{id}.history.jsonl"));
        assert_eq!(
            history.iter().filter(|byte| **byte == b'\n').count(),
            1,
            "{id}"
        );
    }
    assert_eq!(deck.lists()[0], ["a", "b", "c", "d"]);
}

/// The run that dies, when this process is the child.
fn dying_run() -> bool {
    let Some(step) = is_to_die_at() else {
        return false;
    };
    let place = Deck::place(&std::env::current_dir().unwrap());
    let request = Request {
        cards: std::path::Path::new("cards"),
        allow_empty: false,
        restore: false,
        give_back: None,
    };
    index(&place, &request, Clock::frozen(), &die_before(step)).unwrap();
    true
}

#[test]
fn a_run_killed_before_any_step_is_completed_by_the_next() {
    if dying_run() {
        return;
    }
    let frozen = |deck: &Deck| {
        let output = Command::new(env!("CARGO_BIN_EXE_kb"))
            .arg("index")
            .current_dir(deck.root())
            .env("KB_FROZEN_CLOCK", "1")
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
    };
    let whole = Deck::of_four();
    frozen(&whole);
    let mut step = 0;
    loop {
        let deck = Deck::of_four();
        if !dies_at(
            "a_run_killed_before_any_step_is_completed_by_the_next",
            deck.root(),
            step,
        ) {
            break;
        }
        assert!(deck.files() != whole.files(), "step {step}");
        assert!(
            !deck.path("out/cards_manifest.json").exists(),
            "step {step}"
        );
        frozen(&deck);
        assert!(deck.files() == whole.files(), "step {step}");
        step += 1;
    }
    // Four histories, four cards, the group.
    assert_eq!(step, 9);
}

#[test]
fn what_a_death_within_a_step_left_is_cleared() {
    let deck = Deck::of_four();
    deck.write("cards/.a.md.kb-new", "half a ca");
    deck.write("cards/.gone.md.kb-new", "half a ca");
    deck.write("out/.kb-publish/summaries.json", "half a fi");
    deck.index();
    assert_eq!(deck.lists()[0], ["a", "b", "c", "d"]);
    for path in [
        "cards/.a.md.kb-new",
        "cards/.gone.md.kb-new",
        "out/.kb-publish",
    ] {
        assert!(!deck.path(path).exists(), "{path}");
    }
}
