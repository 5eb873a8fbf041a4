//! `kb search`: the contract's lines, who is left out, and when the sidecar is believed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "support/deck.rs"]
#[allow(dead_code, reason = "a part of it is enough")]
mod deck;
mod support;

use std::fs;

use deck::{Deck, MATRIX, corpus};

const SIDECAR: &str = "out/summaries.sqlite";

#[test]
fn the_oracle() {
    let oracle = fs::read(corpus().join("kb_search/oracle.json")).unwrap();
    let oracle: serde_json::Value = serde_json::from_slice(&oracle).unwrap();
    let deck = Deck::new();
    let summaries = fs::read(corpus().join("out_python/summaries.json")).unwrap();
    deck.write("out/summaries.json", summaries);
    let mut cases = 0;
    for case in oracle["cases"].as_array().unwrap() {
        let top_k = case["top_k"].as_i64().map(|number| number.to_string());
        let mut arguments = vec![
            "search",
            case["query"].as_str().unwrap(),
            "--source-matrix",
            MATRIX,
        ];
        if let Some(top_k) = &top_k {
            arguments.extend(["--top-k", top_k]);
        }
        let run = deck.kb(&arguments, 0);
        assert_eq!(run.stdout, case["expected_stdout"].as_str().unwrap());
        assert_eq!(run.stderr, "");
        cases += 1;
    }
    assert_eq!(cases, 4);
    let run = deck.kb(&["search", "zzz", "--json", "--source-matrix", MATRIX], 0);
    assert_eq!(run.stdout, "[]\n");
    let run = deck.kb(
        &[
            "search",
            "determinism",
            "--json",
            "--top-k",
            "1",
            "--source-matrix",
            MATRIX,
        ],
        0,
    );
    let hits: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(
        kbc_queries::commit::canonical::to_string(&hits) + "\n",
        run.stdout
    );
    let keys: Vec<&String> = hits[0].as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        [
            "card_hash",
            "card_id",
            "path",
            "reading_id",
            "score",
            "summary",
            "tags",
            "title"
        ]
    );
}

#[test]
fn the_retracted_and_the_unauthorised_are_left_out_by_both_back_ends() {
    for sidecar in [true, false] {
        let deck = Deck::of_four();
        deck.index();
        let prepare = || {
            if !sidecar {
                let _ = fs::remove_file(deck.path(SIDECAR));
            }
        };
        prepare();
        assert_eq!(deck.search("lanterns"), ["a", "b", "c", "d"]);
        assert_eq!(deck.search("LANTERNS nothing"), ["a", "b", "c", "d"]);
        deck.kb(&["retract", "b"], 0);
        prepare();
        assert_eq!(deck.search("lanterns"), ["a", "d"]);
        let run = deck.kb(
            &[
                "search",
                "lanterns",
                "--source-matrix",
                MATRIX,
                "--top-k",
                "1",
            ],
            0,
        );
        assert!(run.stdout.contains("  a  "), "{}", run.stdout);
        for allowed in [
            "{}",
            r#"{"reading_01":["other"]}"#,
            r#"{"other":["sample"]}"#,
        ] {
            let matrix = format!(r#"{{"allowed":{allowed},"schema_version":"cacg.v0"}}"#);
            deck.write(MATRIX, matrix);
            assert!(deck.search("lanterns").is_empty(), "{allowed}");
        }
    }
}

fn sql(deck: &Deck, sql: &str) {
    let connection = rusqlite::Connection::open(deck.path(SIDECAR)).unwrap();
    connection.execute_batch(sql).unwrap();
}

#[test]
fn a_sidecar_is_believed_row_by_row_or_not_at_all() {
    type Damage = Box<dyn Fn(&Deck)>;
    let changes: Vec<(&str, Damage)> = vec![
        (
            "a forged reading",
            Box::new(|deck| {
                sql(
                    deck,
                    "UPDATE cards_fts SET reading_id = 'x', source_ids = 'y' WHERE card_id = 'd'",
                );
            }),
        ),
        (
            "a forged row and its seal",
            Box::new(|deck| {
                sql(
                    deck,
                    "UPDATE cards_fts SET title = 'zebra' WHERE card_id = 'd'",
                );
                sql(deck, "UPDATE meta SET value = 'x' WHERE key = 'rows_seal'");
            }),
        ),
        (
            "word lists without words",
            Box::new(|deck| sql(deck, "UPDATE cards_fts_data SET block = x'00' WHERE id > 1")),
        ),
        (
            "a row more",
            Box::new(|deck| {
                sql(
                    deck,
                    "INSERT INTO cards_fts SELECT * FROM cards_fts LIMIT 1",
                )
            }),
        ),
        (
            "a row less",
            Box::new(|deck| sql(deck, "DELETE FROM cards_fts WHERE card_id = 'a'")),
        ),
        (
            "no seal",
            Box::new(|deck| sql(deck, "DELETE FROM meta WHERE key = 'rows_seal'")),
        ),
        (
            "another version",
            Box::new(|deck| {
                sql(
                    deck,
                    "UPDATE meta SET value = 'v2' WHERE key = 'schema_version'",
                )
            }),
        ),
        (
            "another table",
            Box::new(|deck| sql(deck, "DROP TABLE cards_fts")),
        ),
        (
            "a number for a text",
            Box::new(|deck| sql(deck, "UPDATE cards_fts SET path = 7 WHERE card_id = 'a'")),
        ),
        (
            "garbage",
            Box::new(|deck| deck.write(SIDECAR, vec![0x5a; 9000])),
        ),
        ("nothing in it", Box::new(|deck| deck.write(SIDECAR, ""))),
        (
            "a folder",
            Box::new(|deck| {
                fs::remove_file(deck.path(SIDECAR)).unwrap();
                fs::create_dir(deck.path(SIDECAR)).unwrap();
            }),
        ),
        (
            "of other summaries",
            Box::new(|deck| {
                let before = deck.read(SIDECAR);
                deck.card("e", 0, &[]);
                deck.index();
                fs::remove_file(deck.path("cards/e.md")).unwrap();
                deck.write(SIDECAR, before);
            }),
        ),
    ];
    for (word, change) in changes {
        let deck = Deck::of_four();
        deck.index();
        change(&deck);
        let run = deck.kb(&["search", "zebra lanterns", "--source-matrix", MATRIX], 0);
        assert!(
            run.stderr.starts_with("CACG-FTS-001: ") && run.stderr.contains(SIDECAR),
            "{word}: {}",
            run.stderr
        );
        fs::remove_file(deck.path(SIDECAR))
            .or_else(|_| fs::remove_dir(deck.path(SIDECAR)))
            .unwrap();
        let without = deck.kb(&["search", "zebra lanterns", "--source-matrix", MATRIX], 0);
        assert_eq!(without.stderr, "", "{word}");
        assert_eq!(run.stdout, without.stdout, "{word}");
    }
}

#[test]
fn a_sidecar_that_cannot_be_built_stops_nothing() {
    let deck = Deck::of_four();
    fs::create_dir(deck.path(SIDECAR)).unwrap();
    let run = deck.kb(&["index"], 0);
    assert!(run.stderr.contains("CACG-FTS-002: "), "{}", run.stderr);
    assert_eq!(deck.cards().cards.len(), 4);
    // Once it can be built it is, though no card changed.
    fs::remove_dir(deck.path(SIDECAR)).unwrap();
    assert!(!deck.index().stderr.contains("FTS"));
    assert!(deck.path(SIDECAR).is_file());
}

#[test]
fn words_that_mean_something_to_the_index_are_words() {
    let deck = Deck::of_four();
    deck.index();
    for query in [
        "\"", "a OR b", "title:x", "NEAR(", "*", "", "^a", "a\"b", "-a", "ﬁ",
    ] {
        let run = support::kb(
            deck.root(),
            &["search", "--source-matrix", MATRIX, "--", query],
        );
        assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{query}");
    }
}

#[test]
fn inputs_that_cannot_be_used() {
    let deck = Deck::of_four();
    let search = |status: i32| {
        deck.kb(&["search", "lanterns", "--source-matrix", MATRIX], status)
            .stderr
    };
    assert!(search(1).starts_with("CACG-CLI-001: "));
    assert_eq!(support::kb(deck.root(), &["search", "x"]).status, 2);
    deck.index();
    let run = deck.kb(&["search", "x", "--source-matrix", "none.json"], 1);
    assert!(run.stderr.starts_with("CACG-AUTH-000: ") && run.stderr.contains("none.json"));
    let good = deck.read("out/cards_manifest.json");
    deck.write("out/cards_manifest.json", "{}");
    assert!(search(1).starts_with("CACG-MAN-001: "));
    deck.write("out/cards_manifest.json", good);
    let summaries = String::from_utf8(deck.read("out/summaries.json")).unwrap();
    deck.write(
        "out/summaries.json",
        summaries.replacen("\"source_ids\":[\"sample\"],", "", 1),
    );
    assert!(search(1).starts_with("CACG-SUM-007: "), "{}", search(1));
    deck.write("out/summaries.json", "{}");
    assert!(search(1).starts_with("CACG-MAN-001: "));
}

#[test]
fn in_a_strict_project_scores_of_common_words_are_positive() {
    let deck = Deck::of_four();
    deck.write("kb.toml", "matrix = \"source_matrix.json\"\n");
    deck.index();
    let scores = |query: &str| -> Vec<f64> {
        let run = deck.kb(&["search", query, "--json"], 0);
        let hits: Vec<serde_json::Value> = serde_json::from_str(&run.stdout).unwrap();
        hits.iter()
            .map(|hit| hit["score"].as_f64().unwrap())
            .collect()
    };
    let one = scores("lanterns");
    let two = scores("lanterns summary");
    assert_eq!(one.len(), 4);
    assert!(
        one.iter()
            .zip(&two)
            .all(|(one, two)| *one > 0.0 && two > one),
        "{one:?} {two:?}"
    );
}
