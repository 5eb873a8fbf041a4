//! Two processes that append to one journal and publish into one `out/` at the same time: no event
//! is lost, no chain breaks, and what is published can be read.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "support/deck.rs"]
#[allow(dead_code, reason = "a part of it is enough")]
mod deck;
mod support;

use std::fs;
use std::time::{Duration, Instant};

use deck::{Deck, MATRIX};
use kbc_queries::parse::manifest::{read_chunks, read_summaries};
use support::{kb, write};

/// What one of the two did.
struct Work {
    visits: usize,
    decisions: usize,
}

/// Verifies, retracts, publishes and gives back a card of its own until the time is over. Every
/// run has to succeed: whoever comes second waits.
fn work(deck: &Deck, id: &str, until: Instant) -> Work {
    let card = format!("cards/{id}.md");
    let verify = [
        "verify",
        &card,
        "--allow-retracted",
        "--source-matrix",
        MATRIX,
    ];
    let round: [&[&str]; 6] = [
        &verify,
        &["retract", id],
        &verify,
        &["index"],
        &["unretract", id, "--reason", "mistake"],
        &["index"],
    ];
    let mut work = Work {
        visits: 0,
        decisions: 0,
    };
    while Instant::now() < until {
        for arguments in round {
            let run = kb(deck.root(), arguments);
            assert_eq!(run.status, 0, "kb {arguments:?}: {}", run.stderr);
            work.visits += usize::from(arguments[0] == "verify");
            work.decisions += usize::from(arguments[0].ends_with("retract"));
        }
    }
    work
}

fn lines(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte == b'\n').count()
}

fn two_for(time: Duration) {
    let deck = Deck::of_four();
    deck.index();
    let until = Instant::now() + time;
    let (c, d) = std::thread::scope(|scope| {
        let c = scope.spawn(|| work(&deck, "c", until));
        let d = scope.spawn(|| work(&deck, "d", until));
        (c.join().unwrap(), d.join().unwrap())
    });
    eprintln!(
        "visits: {} and {}, decisions: {} and {}",
        c.visits, d.visits, c.decisions, d.decisions
    );
    let visits = c.visits + d.visits;
    let run = deck.kb(&["journal", "verify", "--json"], 0);
    let verdict: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(verdict["events"], visits, "{run:?}");
    let journal = deck.read("out/lint_journal.jsonl");
    assert_eq!(lines(&journal), visits);
    for (id, work) in [("c", &c), ("d", &d)] {
        let of_card = String::from_utf8_lossy(&journal)
            .matches(&format!("\"card_path\":\"cards/{id}.md\""))
            .count();
        assert_eq!(of_card, work.visits, "{id}");
        deck.kb(&["history", &format!("cards/{id}.md"), "--validate"], 0);
        // The first version, and one event per decision.
        let history = deck.read(&format!("cards/{id}.history.jsonl"));
        assert_eq!(lines(&history), 1 + work.decisions, "{id}");
    }
    let decisions = deck.read("out/retractions.jsonl");
    assert_eq!(lines(&decisions), c.decisions + d.decisions);
    let none: Vec<String> = Vec::new();
    assert_eq!(
        deck.lists(),
        [
            ["a", "b", "c", "d"].map(str::to_owned).to_vec(),
            none.clone(),
            none
        ]
    );
    read_summaries(&deck.read("out/summaries.json")).unwrap();
    assert_eq!(deck.chunks().chunks.len(), 2);
    assert_eq!(deck.search("lanterns"), ["a", "b", "c", "d"]);
    assert!(!deck.path("out/.kb-publish").exists());
}

#[test]
fn two_processes_for_a_moment() {
    two_for(Duration::from_millis(2500));
}

#[test]
#[ignore = "takes half a minute"]
fn two_processes_for_half_a_minute() {
    two_for(Duration::from_secs(30));
}

#[test]
fn ingesting_beside_retracting_loses_neither() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    for name in ["alpha", "beta"] {
        let text = format!("The source {name} says what it says, and nothing else at all.\n");
        write(&at.join(format!("src/{name}.md")), text);
        let run = kb(at, &["ingest", &format!("src/{name}.md")]);
        assert_eq!(run.status, 0, "{run:?}");
    }
    for round in 0..12 {
        let more = format!("src/more_{round}.md");
        let text = format!("More of it, number {round}, in a file of its own.\n");
        write(&at.join(&more), text);
        let (ingested, retracted) = std::thread::scope(|scope| {
            let ingesting = scope.spawn(|| kb(at, &["ingest", &more]));
            let retracting =
                scope.spawn(|| kb(at, &["retract-source", &format!("more_{}", round - 1)]));
            (ingesting.join().unwrap(), retracting.join().unwrap())
        });
        assert_eq!(ingested.status, 0, "{ingested:?}");
        if round > 0 {
            assert_eq!(retracted.status, 0, "{retracted:?}");
        }
        let bytes = fs::read(at.join("out/chunks_manifest.json")).unwrap();
        let manifest = read_chunks(&bytes).unwrap();
        let there = |id: &str| manifest.chunks.iter().any(|chunk| chunk.source_id == id);
        assert!(there("alpha") && there("beta") && there(&format!("more_{round}")));
        if round > 0 {
            let before = format!("more_{}", round - 1);
            assert!(!there(&before) && manifest.retracted_source_ids.contains(&before));
        }
    }
}
