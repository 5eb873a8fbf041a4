//! Retracting cards, sources and chunks, and giving them back.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "support/deck.rs"]
#[allow(dead_code, reason = "a part of it is enough")]
mod deck;
mod support;

use std::fs;
use std::path::Path;

use deck::{Deck, MATRIX, die_before, dies_at, is_to_die_at};
use kbc::deck::log::Kind;
use kbc::deck::retract::{Request, retract};
use kbc::deck::unretract;
use kbc::record::clock::Clock;

fn lists(lists: [&[&str]; 3]) -> [Vec<String>; 3] {
    lists.map(|list| list.iter().map(|id| (*id).to_owned()).collect())
}

fn indexed() -> Deck {
    let deck = Deck::of_four();
    deck.index();
    deck
}

fn events(deck: &Deck, id: &str) -> Vec<serde_json::Value> {
    let bytes = deck.read(&format!("cards/{id}.history.jsonl"));
    let text = String::from_utf8(bytes).unwrap();
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn a_card_and_what_depends_on_it() {
    let deck = indexed();
    let run = deck.kb(&["retract", "cards/b.md", "--reason", "superseded"], 0);
    assert_eq!(
        run.stdout,
        "card_id:         b\nstatus:          retracted\n\
         cards_manifest:  out/cards_manifest.json\ncards_count:     3\nwithdrawn_cards: 1\n  \
         c: it extends the card b, which is retracted\n"
    );
    assert_eq!(deck.lists(), lists([&["a", "c", "d"], &["b"], &["c"]]));
    let summaries = String::from_utf8(deck.read("out/summaries.json")).unwrap();
    assert!(!summaries.contains("\"id\":\"b\"") && summaries.contains("\"id\":\"c\""));
    assert!(
        !String::from_utf8(deck.read("out/INDEX.md"))
            .unwrap()
            .contains("| b |")
    );
    assert!(deck.path("cards/b.md").is_file());
    let events = events(&deck, "b");
    let last = events.last().unwrap();
    assert_eq!(events.len(), 2);
    assert_eq!(last["is_retracted"], true);
    assert_eq!(
        last["frontmatter_field_changes"],
        serde_json::json!(["__cacg_retracted__"])
    );
    let log = String::from_utf8(deck.read("out/retractions.jsonl")).unwrap();
    assert!(log.contains("\"reason\":\"superseded\"") && log.lines().count() == 1);
}

#[test]
fn three_granularities_compose() {
    let deck = indexed();
    deck.kb(&["retract", "d"], 0);
    assert_eq!(deck.lists(), lists([&["a", "b", "c"], &["d"], &[]]));
    let run = deck.kb(
        &["retract-chunk", "sample:p001:0000", "--cards-dir", "cards"],
        0,
    );
    assert_eq!(
        run.stdout,
        "chunk_id:        sample:p001:0000\nstatus:          retracted\n\
         chunks_manifest: out/chunks_manifest.json\nchunks_count:    1\n\
         cards_manifest:  out/cards_manifest.json\ncards_count:     3\nwithdrawn_cards: 3\n  \
         a: it cites the chunk sample:p001:0000, which is retracted\n  \
         b: it depends on the card a, which is withdrawn itself\n  \
         c: it extends the card b, which is withdrawn itself\n"
    );
    assert_eq!(
        deck.lists(),
        lists([&["a", "b", "c"], &["d"], &["a", "b", "c"]])
    );
    assert!(deck.search("lanterns").is_empty());
    let chunks = deck.chunks();
    assert_eq!(chunks.retracted_chunk_ids, ["sample:p001:0000"]);
    assert_eq!(chunks.chunks.len(), 1);
    let run = deck.kb(&["retract-source", "sample", "--cards-dir", "cards"], 0);
    assert!(
        run.stdout
            .contains("c: it cites the source sample, which is retracted; it extends")
    );
    assert_eq!(deck.chunks().chunks.len(), 0);
    assert_eq!(deck.chunks().retracted_chunk_ids, ["sample:p001:0000"]);
    // An index keeps all of it.
    deck.index();
    assert_eq!(
        deck.lists(),
        lists([&["a", "b", "c"], &["d"], &["a", "b", "c"]])
    );
}

#[test]
fn doing_it_again_changes_nothing_and_says_so() {
    for arguments in [
        &["retract", "b"][..],
        &["retract-chunk", "sample:p001:0000", "--cards-dir", "cards"],
        &["retract-source", "sample", "--cards-dir", "cards"],
    ] {
        let deck = indexed();
        let first = deck.kb(arguments, 0);
        let before = deck.files();
        let again = deck.kb(arguments, 0);
        assert_eq!(
            again.stdout,
            first.stdout.replace(
                "status:          retracted",
                "status:          already retracted"
            ),
            "{arguments:?}"
        );
        assert!(deck.files() == before, "{arguments:?}");
        // But what follows from it is found anew.
        let mut cards = deck.cards();
        cards.dependency_retracted_cards.clear();
        let bytes = kbc_queries::commit::canonical::to_vec(&cards).unwrap();
        deck.write("out/cards_manifest.json", bytes);
        deck.kb(arguments, 0);
        assert!(deck.files() == before, "{arguments:?}");
    }
}

#[test]
fn without_the_cards_folder_cards_are_not_looked_at_and_the_user_is_told() {
    let deck = indexed();
    let cards = deck.read("out/cards_manifest.json");
    let run = deck.kb(&["retract-chunk", "sample:p001:0000"], 0);
    assert_eq!(run.stdout.lines().count(), 4);
    assert!(run.stderr.contains("--cards-dir"), "{}", run.stderr);
    assert_eq!(deck.read("out/cards_manifest.json"), cards);
    // A project knows where its cards are.
    let deck = indexed();
    deck.write("kb.toml", "");
    deck.kb(&["retract-chunk", "sample:p001:0000"], 0);
    assert_eq!(deck.lists()[2], ["a", "b", "c"]);
}

#[test]
fn a_broken_card_counts_as_far_as_it_can_be_read() {
    let deck = indexed();
    let text = String::from_utf8(deck.read("cards/a.md")).unwrap();
    deck.write("cards/a.md", text.replace("title:", "titel:"));
    fs::remove_file(deck.path("cards/d.md")).unwrap();
    let run = deck.kb(&["retract-source", "sample", "--cards-dir", "cards"], 0);
    assert_eq!(deck.lists()[2], ["a", "b", "c", "d"]);
    assert!(run.stderr.contains("cards/d.md"), "{}", run.stderr);
}

#[test]
fn what_is_refused_changes_nothing() {
    type Prepare = Box<dyn Fn(&Deck)>;
    let cases: Vec<(&str, Prepare, &[&str], &str)> = vec![
        (
            "unknown card",
            Box::new(|_| {}),
            &["retract", "x"],
            "CLI-001: ",
        ),
        (
            "unknown source",
            Box::new(|_| {}),
            &["retract-source", "x"],
            "CLI-001: ",
        ),
        (
            "unknown chunk",
            Box::new(|_| {}),
            &["retract-chunk", "sample:p001:0009"],
            "CLI-001: ",
        ),
        (
            "nothing is retracted",
            Box::new(|_| {}),
            &["unretract", "x", "--reason", "y"],
            "CLI-001: ",
        ),
        (
            "no chunks manifest",
            Box::new(|deck| fs::remove_file(deck.path("out/chunks_manifest.json")).unwrap()),
            &["retract-source", "sample"],
            "CLI-001: ",
        ),
        (
            "a damaged chunks manifest",
            Box::new(|deck| deck.write("out/chunks_manifest.json", "{}")),
            &["retract-source", "sample"],
            "MAN-001: ",
        ),
        (
            "a sidecar of the chunks manifest",
            Box::new(|deck| deck.write("out/chunks_manifest.json.bak", "mine")),
            &["retract-source", "sample"],
            "MAN-002: ",
        ),
        #[cfg(unix)]
        (
            "a link for the chunks manifest",
            Box::new(|deck| {
                let at = deck.path("out/chunks_manifest.json");
                fs::rename(&at, deck.path("elsewhere.json")).unwrap();
                std::os::unix::fs::symlink("../elsewhere.json", at).unwrap();
            }),
            &["retract-chunk", "sample:p001:0000"],
            "MAN-003: ",
        ),
        (
            "no cards folder",
            Box::new(|_| {}),
            &["retract-source", "sample", "--cards-dir", "none"],
            "RET-003: ",
        ),
        (
            "a damaged history",
            Box::new(|deck| deck.write("cards/a.history.jsonl", "{}\n")),
            &["retract", "a"],
            "RET-003: ",
        ),
        (
            "a card that cannot be published",
            Box::new(|deck| deck.write("out/.kb-publish", "in the way")),
            &["retract-source", "sample"],
            "IDX-004: ",
        ),
        (
            "a damaged record of retractions",
            Box::new(|deck| deck.write("out/retractions.jsonl", "{}\n")),
            &["retract", "a"],
            "HIST-001: ",
        ),
        (
            "no summaries",
            Box::new(|deck| fs::remove_file(deck.path("out/summaries.json")).unwrap()),
            &["retract", "a"],
            "MAN-001: ",
        ),
    ];
    for (word, prepare, arguments, code) in cases {
        let deck = indexed();
        prepare(&deck);
        let before = deck.files();
        let run = deck.kb(arguments, 1);
        assert!(
            run.stderr.starts_with(&format!("CACG-{code}")),
            "{word}: {}",
            run.stderr
        );
        assert_eq!(run.stdout, "", "{word}");
        assert!(deck.files() == before, "{word}");
    }
    assert_eq!(support::kb(indexed().root(), &["unretract", "a"]).status, 2);
    assert_eq!(
        support::kb(indexed().root(), &["unretract", "a", "--reason", " "]).status,
        2
    );
}

#[test]
fn a_card_is_given_back_with_a_reason() {
    let deck = indexed();
    let before = deck.lists();
    let run = deck.kb(&["unretract", "b", "--reason", "mistake"], 0);
    assert!(run.stdout.contains("not retracted; nothing to do"));
    deck.kb(&["retract", "b"], 0);
    // The id is not free for another card of that name.
    deck.card("b", 0, &[]);
    deck.index();
    assert_eq!(deck.lists()[1], ["b"]);
    let run = deck.kb(&["unretract", "c", "--reason", "mistake"], 1);
    assert!(
        run.stderr.contains("withdrawn because of what it rests on"),
        "{}",
        run.stderr
    );
    deck.kb(&["unretract", "b", "--reason", "mistake"], 0);
    assert_eq!(deck.lists(), before);
    let events = events(&deck, "b");
    let last = events.last().unwrap();
    assert_eq!(last["is_retracted"], false);
    assert_eq!(
        last["frontmatter_field_changes"],
        serde_json::json!(["__cacg_unretracted__"])
    );
    let log = String::from_utf8(deck.read("out/retractions.jsonl")).unwrap();
    assert!(
        log.lines()
            .last()
            .unwrap()
            .contains("\"reason\":\"mistake\"")
    );
    deck.kb(&["history", "cards/b.md", "--validate"], 0);
    deck.index();
    assert_eq!(deck.lists(), before);
    assert_eq!(deck.search("lanterns"), ["a", "b", "c", "d"]);
    // It can be taken back again.
    deck.kb(&["retract", "b"], 0);
    assert_eq!(deck.lists()[1], ["b"]);
}

#[test]
fn a_source_or_chunk_is_given_back_and_its_text_comes_with_the_next_ingest() {
    for (verb, id) in [
        ("retract-source", "sample"),
        ("retract-chunk", "sample:p001:0000"),
    ] {
        let deck = indexed();
        deck.kb(&[verb, id, "--cards-dir", "cards"], 0);
        assert!(!deck.lists()[2].is_empty());
        let run = deck.kb(&["unretract", id, "--reason", "second edition"], 0);
        assert!(run.stderr.contains("kb ingest"), "{}", run.stderr);
        let chunks = deck.chunks();
        assert!(chunks.retracted_source_ids.is_empty() && chunks.retracted_chunk_ids.is_empty());
        assert!(deck.lists()[2].is_empty());
        // Nothing is active that has no text.
        assert!(
            chunks
                .chunks
                .iter()
                .all(|chunk| chunk.chunk_id != "sample:p001:0000")
        );
    }
}

#[test]
fn verify_shows_what_was_retracted() {
    let deck = indexed();
    deck.write("kb.toml", "profile = \"cacg\"\n");
    deck.kb(&["retract", "a"], 0);
    let check = |path: &str| {
        support::kb(
            deck.root(),
            &[
                "check",
                path,
                "--chunks-manifest",
                "out/chunks_manifest.json",
                "--source-matrix",
                MATRIX,
                "--format",
                "short",
            ],
        )
        .stdout
    };
    assert!(
        check("cards/a.md").contains("CACG-RETR-001"),
        "{}",
        check("cards/a.md")
    );
    assert!(
        check("cards/b.md").contains("CACG-DEP-004"),
        "{}",
        check("cards/b.md")
    );
    deck.kb(&["retract-source", "sample"], 0);
    assert!(
        check("cards/d.md").contains("CACG-RETR-002"),
        "{}",
        check("cards/d.md")
    );
}

/// The run that dies, when this process is the child.
fn dying_run(run: impl FnOnce(&Path, usize)) -> bool {
    match is_to_die_at() {
        Some(step) => {
            run(&std::env::current_dir().unwrap(), step);
            true
        }
        None => false,
    }
}

/// Kills a run before each of its steps, in a new deck each; `check` sees the deck afterwards.
fn kill_each(test: &str, prepare: impl Fn(&Deck), check: impl Fn(&Deck, usize), steps: usize) {
    let mut step = 0;
    loop {
        let deck = indexed();
        prepare(&deck);
        if !dies_at(test, deck.root(), step) {
            break;
        }
        check(&deck, step);
        step += 1;
    }
    assert_eq!(step, steps);
}

#[test]
fn a_killed_retraction_is_whole_or_completed_by_whoever_comes_next() {
    const NAME: &str = "a_killed_retraction_is_whole_or_completed_by_whoever_comes_next";
    if dying_run(|root, step| {
        let request = Request {
            kind: Kind::Card,
            id: "b",
            reason: None,
            cards: None,
        };
        retract(
            &Deck::place(root),
            &request,
            Clock::frozen(),
            &die_before(step),
        )
        .unwrap();
    }) {
        return;
    }
    for next in [&["index"][..], &["retract", "b"]] {
        kill_each(
            NAME,
            |_| {},
            |deck, step| {
                // What is published is the old set.
                assert_eq!(deck.lists()[1].len(), 0, "{step}");
                let begun = events(deck, "b").len() == 2;
                assert_eq!(begun, step == 1);
                deck.kb(next, 0);
                let retracted = begun || next == ["retract", "b"];
                let expected = match retracted {
                    true => lists([&["a", "c", "d"], &["b"], &["c"]]),
                    false => lists([&["a", "b", "c", "d"], &[], &[]]),
                };
                assert_eq!(deck.lists(), expected, "{step} {next:?}");
                assert_eq!(events(deck, "b").len(), 1 + usize::from(retracted));
                assert!(!deck.path("out/.kb-publish").exists());
            },
            2,
        );
    }
}

#[test]
fn a_killed_return_has_not_happened() {
    const NAME: &str = "a_killed_return_has_not_happened";
    if dying_run(|root, step| {
        let request = unretract::Request {
            id: "b",
            kind: None,
            reason: "mistake",
            cards: Path::new("cards"),
        };
        unretract::unretract(
            &Deck::place(root),
            &request,
            Clock::frozen(),
            &die_before(step),
        )
        .unwrap();
    }) {
        return;
    }
    kill_each(
        NAME,
        |deck| {
            deck.kb(&["retract", "b"], 0);
        },
        |deck, step| {
            deck.index();
            assert_eq!(
                deck.lists(),
                lists([&["a", "c", "d"], &["b"], &["c"]]),
                "{step}"
            );
            assert_eq!(
                events(deck, "b").last().unwrap()["is_retracted"],
                true,
                "{step}"
            );
            deck.kb(&["history", "cards/b.md", "--validate"], 0);
            deck.kb(&["unretract", "b", "--reason", "mistake"], 0);
            assert_eq!(
                deck.lists(),
                lists([&["a", "b", "c", "d"], &[], &[]]),
                "{step}"
            );
        },
        2,
    );
}

#[test]
fn a_set_that_was_named_is_finished_by_the_next_run() {
    // As a death between the renames leaves it: some files moved, the others staged, and an intent.
    let deck = indexed();
    let before = deck.files();
    deck.kb(&["retract-source", "sample", "--cards-dir", "cards"], 0);
    let after = deck.files();
    let staged = [
        "cards_manifest.json",
        "chunks_manifest.json",
        "retractions.jsonl",
    ];
    let mut intent = serde_json::Map::new();
    for name in staged {
        let bytes = &after[&format!("out/{name}")];
        let hash = kbc_queries::commit::hash::sha256(bytes).to_string();
        intent.insert(name.to_owned(), hash.into());
        if name != "cards_manifest.json" {
            deck.write(&format!("out/.kb-publish/{name}"), bytes);
            match before.get(&format!("out/{name}")) {
                Some(bytes) => deck.write(&format!("out/{name}"), bytes),
                None => fs::remove_file(deck.path(&format!("out/{name}"))).unwrap(),
            }
        }
    }
    let intent = serde_json::json!({ "files": intent });
    deck.write("out/.kb-publish/intent.json", intent.to_string());
    // Readers see the new set already.
    assert!(deck.search("lanterns").is_empty());
    let run = deck.index();
    assert!(run.stderr.contains("interrupted"), "{}", run.stderr);
    assert_eq!(deck.chunks().retracted_source_ids, ["sample"]);
    assert!(deck.files() == after);
}
