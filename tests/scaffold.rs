//! `kb new`, the scaffolds, the migration of summaries and `kb matrix explain`, from outside.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "support/base.rs"]
mod base;
mod support;

use std::fs;
use std::path::Path;

use base::Base;
use kbc_queries::parse::manifest::read_summaries;
use kbc_queries::parse::{card, matrix, role_map};
use serde_json::Value;
use support::{Run, kb, write};

fn run(folder: &Path, arguments: &[&str], status: i32) -> Run {
    let run = kb(folder, arguments);
    assert_eq!(
        run.status, status,
        "kb {arguments:?}\n{}{}",
        run.stdout, run.stderr
    );
    run
}

/// A knowledge base with two sources, two readings and three cards, published.
fn published() -> Base {
    let base = Base::new("", &["spec", "guide"]);
    base.write(
        "sources/spec.md",
        "# Spec\n\nEach leaf is hashed with a zero byte in front of its text.\n\nEach node is hashed with a one byte in front of its children.\n",
    );
    base.write(
        "sources/guide.md",
        "# Guide\n\nHash the leaves first and the nodes of the tree last.\n",
    );
    base.cite("leaf", "spec", "Each leaf is hashed with a zero byte");
    base.cite("order", "guide", "Hash the leaves first");
    base
}

#[test]
fn a_new_card_is_the_contracts_template() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let said = run(root, &["new", "reading_01", "tree-hashing_2b"], 0);
    assert_eq!(
        said.stdout,
        "card: cards/reading_01/tree-hashing_2b.md\nreading_id: reading_01\nslug: tree-hashing_2b\n\
         status: scaffold (lint will fail until citations are filled in)\n"
    );
    let text = fs::read_to_string(root.join("cards/reading_01/tree-hashing_2b.md")).unwrap();
    let zeros = "0".repeat(64);
    assert!(
        text.starts_with(&format!(
            "---\nschema_version: \"cacg.v0\"\nid: \"tree-hashing_2b\"\ntitle: \"Tree Hashing 2B\"\n\
             reading_id: \"reading_01\"\nsummary: \"\"\ncitations:\n  - source_id: \"REPLACE_WITH_SOURCE_ID\"\n    \
             chunk_id: \"REPLACE_WITH_SOURCE_ID:p001:0000\"\n    chunk_hash: \"{zeros}\"\n    page_range: [1, 1]\n    quote: \""
        )),
        "{text}"
    );
    assert!(
        text.contains("    edge_type: \"supports\"\n---\n"),
        "{text}"
    );
    let codes: Vec<&str> = card::parse(&text)
        .problems
        .iter()
        .map(|p| p.code.as_str())
        .collect();
    assert_eq!(codes, ["CACG-SUM-001"]);

    let again = run(root, &["new", "reading_01", "tree-hashing_2b"], 1);
    assert!(
        again.stderr.starts_with("CACG-CLI-005: "),
        "{}",
        again.stderr
    );
    let forced = [
        "new",
        "reading_01",
        "tree-hashing_2b",
        "--force",
        "--title",
        "A \"b\" \\ c",
    ];
    run(root, &forced, 0);
    let text = fs::read_to_string(root.join("cards/reading_01/tree-hashing_2b.md")).unwrap();
    assert!(text.contains("title: \"A \\\"b\\\" \\\\ c\"\n"), "{text}");
}

#[test]
fn what_cannot_be_a_card_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    write(&root.join("file"), "");
    for (arguments, status, code) in [
        (&["new", "Reading", "a"][..], 2, "CLI-003"),
        (&["new", "../r", "a"], 2, "CLI-003"),
        (&["new", "r", "-a"], 2, "CLI-003"),
        (&["new", "r", "a/b"], 2, "CLI-003"),
        (&["new", "r", ""], 2, "CLI-003"),
        (&["new", "r", "é"], 2, "CLI-003"),
        (&["new", "r", "a", "--cards-dir", "file"], 1, "CLI-001"),
    ] {
        let arguments: Vec<&str> = match arguments.get(2) {
            // A slug that looks like an option.
            Some(&"-a") => vec!["new", "--", "r", "-a"],
            _ => arguments.to_vec(),
        };
        let said = run(root, &arguments, status);
        assert!(
            said.stderr.starts_with(&format!("CACG-{code}: ")),
            "{arguments:?}: {}",
            said.stderr
        );
    }
    assert!(!root.join("cards").exists());
}

#[test]
fn a_matrix_allows_what_the_cards_cite() {
    let base = published();
    fs::remove_file(base.path("source_matrix.json")).unwrap();
    let said = base.run(&["scaffold-matrix"], 0);
    assert_eq!(
        said.stdout,
        "source_matrix:    source_matrix.json\nreadings:         1\nallowed:          2\n"
    );
    assert_eq!(said.stderr, "");
    assert_eq!(
        base.read("source_matrix.json"),
        r#"{"allowed":{"r":["guide","spec"]},"schema_version":"cacg.v0"}"#
    );
    base.run(&["check"], 0);
    // What people may have edited is not overwritten.
    let said = base.run(&["scaffold-matrix"], 1);
    assert!(said.stderr.starts_with("CACG-CLI-005: "), "{}", said.stderr);
    base.write("source_matrix.json", "{}");
    base.run(&["scaffold-matrix", "--force"], 0);
    base.run(&["check"], 0);
    base.run(&["scaffold-matrix", "--out", "other/m.json"], 0);
    assert_eq!(base.read("other/m.json"), base.read("source_matrix.json"));
}

#[test]
fn without_a_project_the_contracts_layout_holds() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let fixtures = support::fixtures().join("cacg/tests/parity_corpus");
    let card = "cards/reading_01/01-content-addressable-identity.md";
    write(&root.join(card), fs::read(fixtures.join(card)).unwrap());
    write(&root.join("cards/reading_01/SKILL.md"), "no card");
    let said = run(root, &["scaffold-matrix"], 0);
    assert!(
        said.stdout
            .starts_with("source_matrix:    out/source_matrix.json\n"),
        "{}",
        said.stdout
    );
    // The contract's own matrix of this deck.
    assert_eq!(
        fs::read(root.join("out/source_matrix.json")).unwrap(),
        fs::read(fixtures.join("out_python/source_matrix.json")).unwrap()
    );
    let said = run(root, &["matrix", "explain", "reading_01", "sample"], 0);
    assert!(
        said.stdout.contains("  at out/source_matrix.json:1:"),
        "{}",
        said.stdout
    );
    // A manifest that is named must be there; one that lists cards elsewhere is refused.
    let said = run(
        root,
        &["scaffold-matrix", "--cards-manifest", "no.json", "--force"],
        1,
    );
    assert!(said.stderr.starts_with("CACG-MAN-001: "), "{}", said.stderr);
    let said = run(
        root,
        &["scaffold-matrix", "--cards-dir", "nowhere", "--force"],
        1,
    );
    assert!(said.stderr.starts_with("CACG-CLI-001: "), "{}", said.stderr);
}

#[test]
fn a_role_map_places_every_card_of_its_reading() {
    let base = published();
    let quote =
        |source: &str, quote: &str| format!("  - source_id: {source}\n    quote: \"{quote}\"");
    let cites = [
        quote("guide", "Hash the leaves first"),
        quote("spec", "Each leaf is hashed with a zero byte"),
        quote("spec", "Each node is hashed with a one byte"),
    ];
    base.write("cards/both.md", &Base::card_text("both", &cites.join("\n")));
    base.run(&["fix"], 0);
    base.run(&["build"], 0);
    let said = base.run(&["scaffold-role-map", "--reading", "r"], 0);
    assert_eq!(
        said.stdout,
        "role_map:         out/role_maps/r.json\nreading_id:       r\nentries:          3 cards\n"
    );
    let text = base.read("out/role_maps/r.json");
    assert_eq!(role_map::parse(&text).problems, []);
    let map: Value = serde_json::from_str(&text).unwrap();
    let entry = &map["entries"][0];
    assert_eq!(entry["card_id"], "both");
    assert_eq!(
        entry["primary"],
        serde_json::json!({"page_span": [1, 1], "source_id": "spec"})
    );
    assert_eq!(entry["supporting"][0]["source_id"], "guide");
    assert_eq!(
        (&entry["stance"], &entry["relevance"]),
        (&"supporting".into(), &"core".into())
    );
    base.run(&["check"], 0);
    let said = base.run(&["scaffold-role-map", "--reading", "r"], 1);
    assert!(said.stderr.starts_with("CACG-CLI-005: "), "{}", said.stderr);
    base.run(&["scaffold-role-map", "--reading", "r", "--force"], 0);
    assert_eq!(base.read("out/role_maps/r.json"), text);
    for reading in ["rr", "../r", ""] {
        let said = base.run(&["scaffold-role-map", "--reading", reading], 2);
        assert!(said.stderr.starts_with("CACG-CLI-003: "), "{}", said.stderr);
    }
}

/// Takes the `source_ids` out of entries of a summaries file.
fn age(base: &Base) -> String {
    let whole = base.read("out/summaries.json");
    let mut value: Value = serde_json::from_str(&whole).unwrap();
    for entry in value["summaries"].as_array_mut().unwrap() {
        entry.as_object_mut().unwrap().remove("source_ids");
    }
    base.write("out/summaries.json", &value.to_string());
    whole
}

#[test]
fn old_summaries_get_their_sources_back() {
    for how in ["--strict", "--auto-heuristic"] {
        let base = published();
        let whole = age(&base);
        assert!(read_summaries(base.read("out/summaries.json").as_bytes()).is_err());
        let said = base.run(&["migrate-summaries", how], 0);
        assert_eq!(
            said.stdout,
            "summaries:        out/summaries.json\nentries:          2\nfilled in:        2\n"
        );
        assert_eq!(base.read("out/summaries.json"), whole, "{how}");
        let said = base.run(&["migrate-summaries", how], 0);
        assert!(
            said.stderr.contains("nothing was written"),
            "{}",
            said.stderr
        );
    }
}

#[test]
fn an_entry_that_cannot_be_filled_in_leaves_all_as_they_were() {
    let base = published();
    age(&base);
    let before = base.read("out/summaries.json");
    base.edit("cards/leaf.md", "What it says.", "What it said.");
    let said = base.run(&["migrate-summaries", "--strict"], 1);
    assert!(
        said.stderr.starts_with("out/summaries.json: CACG-SUM-008 "),
        "{}",
        said.stderr
    );
    assert_eq!(said.stderr.lines().count(), 1);
    assert_eq!(base.read("out/summaries.json"), before);
    fs::remove_file(base.path("out/cards_manifest.json")).unwrap();
    base.run(&["migrate-summaries", "--auto-heuristic"], 0);

    age(&base);
    base.write("cards/copy.md", &base.read("cards/leaf.md"));
    let said = base.run(&["migrate-summaries", "--auto-heuristic"], 1);
    assert!(
        said.stderr.contains("two cards have this id"),
        "{}",
        said.stderr
    );
    // One of the two ways has to be chosen.
    assert_eq!(base.kb(&["migrate-summaries"]).status, 2);
    assert_eq!(
        base.kb(&["migrate-summaries", "--strict", "--auto-heuristic"])
            .status,
        2
    );
    let said = base.run(&["migrate-summaries", "--strict", "--out", "nowhere"], 1);
    assert!(said.stderr.starts_with("CACG-CLI-001: "), "{}", said.stderr);
}

#[test]
fn the_matrix_is_explained_by_its_lines() {
    let base = published();
    base.write(
        "source_matrix.json",
        "{\"schema_version\": \"cacg.v0\",\n \"allowed\": {\n  \"r\": [\"guide\",\n        \"spec\"]}}\n",
    );
    let said = base.run(&["matrix", "explain", "r", "spec"], 0);
    assert_eq!(
        said.stdout,
        "allowed: the matrix lists `spec` for the reading `r`\n  at source_matrix.json:4:9\n  \
         the matrix is the default one; `matrix` in kb.toml names another\n\
         1 card of `r` cites `spec`:\n  cards/leaf.md  (1 citation)\n"
    );
    let said = base.run(&["matrix", "explain", "r", "spek"], 1);
    assert_eq!(
        said.stdout,
        "not allowed: `spek` is not among the 2 sources of the reading `r`; did you mean `spec`?\n  \
         at source_matrix.json:3:3\n  the matrix is the default one; `matrix` in kb.toml names another\n\
         no card of `r` cites `spek`\n"
    );
    let said = base.run(&["matrix", "explain", "s", "spec", "--json"], 1);
    let value: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(
        (&value["allowed"], &value["line"]),
        (&Value::Bool(false), &Value::Null)
    );
    base.write("kb.toml", "\nmatrix = \"m.json\"\n");
    let said = base.run(&["matrix", "explain", "r", "spec"], 1);
    assert!(
        said.stderr.starts_with("CACG-AUTH-000: "),
        "{}",
        said.stderr
    );
    base.write(
        "m.json",
        r#"{"allowed":{"r":["spec"]},"schema_version":"cacg.v0"}"#,
    );
    let said = base.run(&["matrix", "explain", "r", "spec"], 0);
    assert!(
        said.stdout.contains("named by `matrix` in kb.toml:2\n"),
        "{}",
        said.stdout
    );
    // Of two lists of one reading nobody knows which was meant.
    let twice = r#"{"allowed":{"r":["spec"],"r":["spec"]},"schema_version":"cacg.v0"}"#;
    assert!(matrix::parse(twice.as_bytes()).is_ok());
    base.write("m.json", twice);
    base.run(&["matrix", "explain", "r", "spec"], 1);
}
