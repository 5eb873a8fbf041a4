//! `kb show`: the contract's view and the order of its checks.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "support/deck.rs"]
#[allow(dead_code, reason = "a part of it is enough")]
mod deck;
mod support;

use std::fs;

use deck::{Deck, MATRIX, corpus};

fn golden(name: &str) -> serde_json::Value {
    let path = corpus()
        .join("out_python/dependency_retracted/scenario-01")
        .join(name);
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// The golden scenario's card, with a body of our own: the fixtures do not hold it.
fn scenario() -> Deck {
    let deck = Deck::new();
    let text = deck::card("cascade-child", 0, &[])
        .replace("Card cascade-child", "Cascade Child")
        .replace(
            "A summary of the card cascade-child that is long enough to be one, with a word about lanterns too.",
            "Child card that depends_on the parent. When the parent is retracted, this card lands in cards_manifest.dependency_retracted_cards via the cascade.",
        )
        .replace(
            "Content-addressable identity is the verification primitive at the core of the framework.",
            "Content-addressable identity is the verification primitive a",
        );
    deck.write("cards/cascade-child.md", text);
    deck.write(
        "cards/cascade-parent-retracted.md",
        deck::card("cascade-parent-retracted", 0, &[]),
    );
    deck.index();
    deck
}

#[test]
fn the_golden_scenario() {
    let deck = scenario();
    deck.kb(&["retract-source", "sample", "--cards-dir", "cards"], 0);
    let expected = golden("expected.json");
    let list =
        |key: &str| -> Vec<String> { serde_json::from_value(expected[key].clone()).unwrap() };
    let [_, retracted, dependent] = deck.lists();
    assert_eq!(dependent, list("cards_manifest_dependency_retracted_cards"));
    assert_eq!(retracted, list("cards_manifest_retracted_cards"));
    assert_eq!(
        deck.chunks().retracted_source_ids,
        list("chunks_manifest_retracted_source_ids")
    );
    let run = deck.show("cascade-child", 1);
    let expected = golden("show_default.json");
    assert_eq!(run.stdout, expected["stdout"].as_str().unwrap());
    assert_eq!(run.stderr, expected["stderr"].as_str().unwrap());
    let run = deck.kb(
        &[
            "show",
            "cascade-child",
            "--allow-retracted",
            "--source-matrix",
            MATRIX,
        ],
        0,
    );
    let expected = golden("show_allow_retracted.json");
    let line = |text: &str| -> String {
        let line = text.lines().find(|line| line.starts_with("card_hash: "));
        line.unwrap().to_owned()
    };
    let expected = expected["stdout"].as_str().unwrap();
    // The body is another one, and with it the hash.
    assert_eq!(
        run.stdout,
        expected.replace(&line(expected), &line(&run.stdout))
    );
    assert_eq!(run.stderr, "");
    assert_eq!(
        line(&run.stdout),
        format!("card_hash: {}", deck.cards().cards[0].card_hash)
    );
}

fn says(deck: &Deck, arguments: &[&str], code: &str) -> String {
    let mut all = vec!["show"];
    all.extend(arguments);
    if !arguments.contains(&"--source-matrix") {
        all.extend(["--source-matrix", MATRIX]);
    }
    let run = deck.kb(&all, 1);
    assert_eq!(run.stdout, "", "{arguments:?}");
    assert!(
        run.stderr.starts_with(&format!("CACG-{code}: ")),
        "{arguments:?}: {}",
        run.stderr
    );
    run.stderr
}

#[test]
fn checks_come_in_the_contract_s_order() {
    let deck = Deck::of_four();
    let bad_path = ["a", "--path", "../a.md"];
    // Each line is wrong in one way less than the one before.
    says(&deck, &bad_path, "SHOW-003");
    says(&deck, &["a", "--path", "/a.md"], "SHOW-003");
    says(&deck, &["a", "--path", ""], "SHOW-003");
    says(&deck, &["a", "--source-matrix", "none.json"], "MAN-001");
    deck.index();
    deck.kb(&["retract", "b"], 0);
    says(&deck, &["x", "--source-matrix", "none.json"], "AUTH-000");
    says(&deck, &["x"], "CLI-001");
    says(&deck, &["a", "--path", "cards/d.md"], "SHOW-002");
    let none = r#"{"allowed":{},"schema_version":"cacg.v0"}"#;
    deck.write("none.json", none);
    says(&deck, &["c", "--source-matrix", "none.json"], "AUTH-001");
    deck.write("none.json", none.replace("{}", r#"{"reading_01":[]}"#));
    says(&deck, &["c", "--source-matrix", "none.json"], "AUTH-002");
    assert!(says(&deck, &["c"], "SHOW-001").contains("'c' is DEPENDENCY-RETRACTED"));
    assert!(says(&deck, &["b"], "SHOW-001").contains("'b' is RETRACTED"));
    deck.show("a", 0);
    // Bad cards are reported as cards are.
    deck.write("cards/a.md", "no card");
    let run = deck.show("a", 1);
    assert!(
        run.stderr.starts_with("cards/a.md: CACG-FM-004 "),
        "{}",
        run.stderr
    );
    fs::remove_file(deck.path("cards/a.md")).unwrap();
    let run = deck.show("a", 1);
    assert!(
        run.stderr.starts_with("cards/a.md: CACG-CLI-001 "),
        "{}",
        run.stderr
    );
}

#[test]
fn a_retracted_card_is_shown_from_its_file() {
    let deck = Deck::of_four();
    deck.index();
    deck.kb(&["retract", "b"], 0);
    says(&deck, &["b", "--allow-retracted"], "CLI-001");
    let shown = |path: &str| {
        support::kb(
            deck.root(),
            &[
                "show",
                "b",
                "--allow-retracted",
                "--path",
                path,
                "--source-matrix",
                MATRIX,
            ],
        )
    };
    let run = shown("cards/b.md");
    assert_eq!(run.status, 0, "{run:?}");
    assert!(run.stdout.starts_with("STATUS: RETRACTED\n# Card b\n"));
    assert_eq!(shown("cards/a.md").status, 1);
    // Its last version is in its history.
    let text = String::from_utf8(deck.read("cards/b.md")).unwrap();
    deck.write("cards/b.md", text.replace("The body", "Another body"));
    assert!(shown("cards/b.md").stderr.starts_with("CACG-SHOW-002: "));
}

#[test]
fn an_edited_card_is_shown_with_a_word_about_it() {
    let deck = Deck::of_four();
    deck.index();
    let text = String::from_utf8(deck.read("cards/a.md")).unwrap();
    deck.write("cards/a.md", text.replace("Card a", "Card A"));
    let run = deck.show("a", 0);
    assert!(run.stdout.starts_with("# Card A\n"));
    assert!(
        run.stderr.starts_with("cards/a.md: CACG-HASH-002 "),
        "{}",
        run.stderr
    );
    says(&deck, &["a", "--path", "cards/a.md"], "SHOW-002");
}

#[test]
fn a_strict_project_names_the_reasons() {
    let deck = Deck::of_four();
    deck.write("kb.toml", "matrix = \"source_matrix.json\"\n");
    deck.index();
    deck.kb(&["retract-chunk", "sample:p001:0000"], 0);
    let run = deck.kb(&["show", "b"], 1);
    assert!(
        run.stderr.contains("'b' is DEPENDENCY-RETRACTED")
            && run
                .stderr
                .contains("it depends on the card a, which is withdrawn itself"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_manifest_does_not_lead_out_of_a_project() {
    let deck = Deck::of_four();
    deck.write("inner/kb.toml", "");
    deck.write("inner/cards/a.md", deck::card("a", 0, &[]));
    deck.write("inner/source_matrix.json", deck.read(MATRIX));
    let kb = |arguments: &[&str]| support::kb(&deck.path("inner"), arguments);
    assert_eq!(kb(&["index"]).status, 0);
    assert_eq!(kb(&["show", "a", "--source-matrix", MATRIX]).status, 0);
    let manifest = "inner/out/cards_manifest.json";
    let text = String::from_utf8(deck.read(manifest)).unwrap();
    deck.write(manifest, text.replace("cards/a.md", "../cards/a.md"));
    let run = kb(&["show", "a", "--source-matrix", MATRIX]);
    assert_eq!(run.status, 1);
    assert!(run.stderr.starts_with("CACG-SHOW-003: "), "{}", run.stderr);
}
