//! `kb cite` from outside: what it prints can be put into a card and verifies.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value, json};
use support::{Run, kb, write};

/// A project whose source is cut into small chunks that overlap.
fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    write(
        &root.join("kb.toml"),
        "[[collection]]\nname = \"sources\"\ninclude = [\"sources/**\"]\nchunker = \"window\"\nchunk = { tokens = 40, overlap = 12 }\n",
    );
    write(
        &root.join("source_matrix.json"),
        r#"{"allowed":{"r":["long","odd","twins"]},"schema_version":"cacg.v0"}"#,
    );
    let words: Vec<String> = (0..400).map(|at| format!("word{at}")).collect();
    write(&root.join("sources/long.md"), words.join(" "));
    write(
        &root.join("sources/twins.md"),
        "Team Alpha won the final.\n\nTeam Beta lost the final.\n\nThe crowd went home early. The crowd went home early.\n",
    );
    write(
        &root.join("sources/odd.md"),
        "He said: \"C:\\temp\\new is 'gone'\", and left.\n\nA line that goes on\nin the next one: yes.\n\nThe \u{1f469}\u{200d}\u{1f680} flew # not a comment: true.\n\nkey: [a, b] & *anchor | > %tag @at `tick` end.\n\nTab\there, bell\u{7f}there, dash \u{2014} and e\u{301} done.\n",
    );
    folder
}

fn chunks_of(root: &Path, quote: &str, source: &str) -> (Value, Run) {
    let run = kb(root, &["cite", source, quote, "--json"]);
    let value = serde_json::from_str(&run.stdout).unwrap_or(Value::Null);
    (value, run)
}

/// Puts the YAML into a card and checks the card.
fn check_pasted(root: &Path, yaml: &str) -> Run {
    write(
        &root.join("cards/r/pasted.md"),
        format!(
            "---\nschema_version: \"cacg.v0\"\nid: \"pasted\"\ntitle: \"Pasted\"\nreading_id: \"r\"\nsummary: \"A summary of the card that says what it says in some words, and then goes on for a while.\"\ntags: [\"tag\"]\ncitations:\n{yaml}---\nThe body.\n"
        ),
    );
    kb(root, &["check", "cards/r/pasted.md", "--format", "json"])
}

fn ledger(run: &Run) -> Value {
    let last = run.stdout.lines().last().unwrap();
    serde_json::from_str::<Value>(last).unwrap()["ledger"].clone()
}

#[test]
fn what_it_prints_can_be_pasted_and_verifies() {
    let folder = project();
    let root = folder.path();
    let quotes = [
        ("odd", "He said: \"C:\\temp\\new is 'gone'\", and left."),
        ("odd", "A line that goes on\nin the next one: yes."),
        ("odd", "A line that goes on in the next one: yes."),
        (
            "odd",
            "The \u{1f469}\u{200d}\u{1f680} flew # not a comment: true.",
        ),
        ("odd", "key: [a, b] & *anchor | > %tag @at `tick` end."),
        (
            "odd",
            "Tab\there, bell\u{7f}there, dash \u{2014} and \u{e9} done.",
        ),
        ("sources/odd.md", "in the next one: yes."),
        ("twins", "Team Alpha won the final."),
        ("long", "word7 word8 word9"),
    ];
    for (source, quote) in quotes {
        let run = kb(root, &["cite", source, quote]);
        assert_eq!(run.status, 0, "{quote:?} {run:?}");
        assert_eq!(run.stderr, "");
        let checked = check_pasted(root, &run.stdout);
        assert_eq!(checked.status, 0, "{quote:?} {} {checked:?}", run.stdout);
        let ledger = ledger(&checked);
        assert_eq!(ledger["citations"], 1);
        assert_eq!(
            ledger["exact"].as_u64().unwrap() + ledger["normalized"].as_u64().unwrap(),
            1,
            "{quote:?} {ledger}"
        );
    }
}

#[test]
fn absent_and_ambiguous_words_give_no_citation() {
    let folder = project();
    let root = folder.path();
    let table = [
        ("twins", "Team Alpha lost the final.", "nearest: \"Team "),
        ("twins", "The crowd went home early.", "2 places"),
        (
            "twins",
            "Nothing of the kind was ever seen",
            "do not stand in `twins`",
        ),
        ("twins", "", "do not stand in `twins`"),
        ("twins", "eam Alpha won the fina", "do not stand"),
        ("long", "word7 word9 word8", "do not stand in `long`"),
    ];
    for (source, quote, words) in table {
        let run = kb(root, &["cite", source, quote]);
        assert_eq!(run.status, 1, "{quote:?} {run:?}");
        assert_eq!(run.stdout, "", "{quote:?}");
        assert!(run.stderr.contains(words), "{quote:?} {run:?}");
    }
    let unknown = kb(root, &["cite", "twin", "Team Alpha won the final."]);
    assert_eq!(unknown.status, 2, "{unknown:?}");
    assert!(
        unknown.stderr.contains("did you mean `twins`"),
        "{unknown:?}"
    );
}

#[test]
fn every_run_of_words_gets_a_chunk_that_verifies_it() {
    let folder = project();
    let root = folder.path();
    let mut batch = String::new();
    for start in 0..395 {
        let quote: Vec<String> = (start..start + 5).map(|at| format!("word{at}")).collect();
        batch.push_str(&format!(
            "{}\n",
            json!({"id": start, "source": "long", "quote": quote.join(" ")})
        ));
    }
    write(&root.join("wanted.jsonl"), &batch);
    let run = kb(root, &["cite", "--batch", "wanted.jsonl"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    let answers: Vec<Value> = run
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(answers.len(), 395);
    let chunks: BTreeSet<&str> = answers
        .iter()
        .map(|answer| answer["chunk_id"].as_str().unwrap())
        .collect();
    assert!(chunks.len() > 8, "{chunks:?}");
    // Many of these lie in the overlap of two chunks; each verifies where it is said to stand.
    let mut yaml = String::new();
    for (start, answer) in answers.iter().enumerate() {
        assert_eq!(answer["id"], start);
        yaml.push_str(&format!(
            "  - source_id: {}\n    chunk_id: {}\n    chunk_hash: {}\n    page_range: [1, 1]\n    quote: {}\n",
            answer["source_id"], answer["chunk_id"], answer["chunk_hash"], answer["quote"]
        ));
    }
    let checked = check_pasted(root, &yaml);
    assert_eq!(ledger(&checked)["exact"], 395, "{}", checked.stdout);
}

#[test]
fn words_that_run_over_a_chunk_edge_are_cited_from_where_they_start() {
    let folder = project();
    let root = folder.path();
    // Longer than the overlap, so that some of them fit into no chunk whole.
    let mut crossing = 0;
    let mut chunks = BTreeSet::new();
    for start in (0..330).step_by(7) {
        let quote: Vec<String> = (start..start + 30).map(|at| format!("word{at}")).collect();
        let (value, run) = chunks_of(root, &quote.join(" "), "long");
        assert_eq!(run.status, 0, "{start} {run:?}");
        chunks.insert(value["chunk_id"].as_str().unwrap().to_owned());
        let yaml = kb(root, &["cite", "long", &quote.join(" ")]).stdout;
        let checked = check_pasted(root, &yaml);
        assert_eq!(ledger(&checked)["exact"], 1, "{start} {}", checked.stdout);
        crossing += 1;
    }
    assert!(crossing > 20 && chunks.len() > 5);
}

#[test]
fn a_batch_answers_every_line() {
    let folder = project();
    let root = folder.path();
    write(
        &root.join("wanted.jsonl"),
        format!(
            "\u{feff}{}\r\n\r\n{}\n{}\n",
            json!({"id": "a", "source": "twins", "quote": "Team Beta lost the final."}),
            json!({"id": "b", "source": "twins", "quote": "Team Gamma lost the final."}),
            json!({"source": "nowhere", "quote": "Team Beta lost the final."}),
        ),
    );
    let run = kb(root, &["cite", "--batch", "wanted.jsonl"]);
    assert_eq!(run.status, 1, "{run:?}");
    let answers: Vec<Value> = run
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(answers.len(), 3, "{run:?}");
    assert_eq!(answers[0]["id"], "a");
    assert_eq!(answers[0]["source_id"], "twins");
    assert_eq!(answers[0]["page_range"], json!([1, 1]));
    assert_eq!(answers[1]["id"], "b");
    assert!(
        answers[1]["error"].as_str().unwrap().contains("nearest"),
        "{run:?}"
    );
    assert!(
        answers[2]["error"].as_str().unwrap().contains("no source"),
        "{run:?}"
    );

    write(&root.join("bad.jsonl"), "{\"source\": \"twins\"}\n");
    let run = kb(root, &["cite", "--batch", "bad.jsonl"]);
    assert_eq!(run.status, 2);
    assert!(
        run.stderr
            .contains("bad.jsonl, line 1: missing field `quote`"),
        "{run:?}"
    );
}
