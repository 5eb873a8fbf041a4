//! What becomes of citations when their source changes: nothing that is not certain is called
//! verified or mended, and nothing that merely moved is lost.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "support/base.rs"]
mod base;
mod support;

use base::{Base, Said, said};

/// Small chunks, so that a page holds several.
const SMALL: &str = "[[collection]]\nname = \"sources\"\nscope = \"substrate\"\ninclude = [\"sources/**\"]\nchunker = \"window\"\nchunk = { tokens = 30, overlap = 0 }\n";

const TREES: &str = "Each leaf of the tree is hashed with a zero byte in front of its text.";
const PROOFS: &str = "A proof names the siblings on the way from the leaf to the root.";
const FILLING: &str = "Nothing in this paragraph matters to any card, and it is here to fill the room between two others that do.";

fn base() -> Base {
    Base::new(SMALL, &["spec"])
}

/// A source of paragraphs.
fn paragraphs(list: &[&str]) -> String {
    list.join("\n\n") + "\n"
}

fn other(number: usize) -> String {
    format!("Paragraph number {number} of the other matters. {FILLING}")
}

#[test]
fn an_edit_beside_the_quote_leaves_it_intact() {
    let base = base();
    base.write("sources/spec.md", &paragraphs(&[TREES, FILLING]));
    base.cite("a", "spec", TREES.trim_end_matches('.'));
    assert_eq!(base.said(), []);
    base.edit(
        "sources/spec.md",
        "in front of its text.",
        "in front of its text. So be it.",
    );
    assert_eq!(base.said(), [said("HASH-001", "intact", true)]);
    base.run(&["fix"], 0);
    assert_eq!(base.said(), []);
    assert_eq!(base.verified(), 1);
}

#[test]
fn an_edit_of_the_quote_is_left_to_people() {
    let base = base();
    base.write("sources/spec.md", &paragraphs(&[TREES, FILLING]));
    base.cite("a", "spec", TREES);
    let card = base.read("cards/a.md");
    for (from, to) in [
        ("a zero byte", "a one byte"),
        ("is hashed", "is not hashed"),
    ] {
        base.edit("sources/spec.md", from, to);
        assert_eq!(base.said(), [said("HASH-001", "differs", false)]);
        base.run(&["fix"], 1);
        assert_eq!(base.read("cards/a.md"), card);
        base.edit("sources/spec.md", to, from);
        assert_eq!(base.said(), []);
    }
}

#[test]
fn a_paragraph_that_moved_is_found_again() {
    let base = base();
    let (one, two) = (other(1), other(2));
    base.write("sources/spec.md", &paragraphs(&[TREES, &one, &two, PROOFS]));
    base.cite("a", "spec", TREES);
    base.cite("b", "spec", PROOFS);
    base.write("sources/spec.md", &paragraphs(&[&one, PROOFS, &two, TREES]));
    let found = base.said();
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(
        found
            .iter()
            .all(|said| said.state == "relocated" && said.fixable),
        "{found:?}"
    );
    base.run(&["fix"], 0);
    assert_eq!(base.verified(), 2);
    assert!(base.read("cards/a.md").contains(TREES));
}

#[test]
fn another_cut_into_chunks_loses_no_quote() {
    let base = base();
    let others: Vec<String> = (0..12).map(other).collect();
    let mut list: Vec<&str> = others.iter().map(String::as_str).collect();
    list.insert(9, PROOFS);
    list.insert(3, TREES);
    base.write("sources/spec.md", &paragraphs(&list));
    base.cite("a", "spec", TREES);
    base.cite("b", "spec", PROOFS);
    for (tokens, overlap) in [(70, 0), (200, 30), (25, 5)] {
        base.write(
            "kb.toml",
            &SMALL.replace(
                "tokens = 30, overlap = 0",
                &format!("tokens = {tokens}, overlap = {overlap}"),
            ),
        );
        let found = base.said();
        let (anew, found): (Vec<Said>, Vec<Said>) =
            found.into_iter().partition(|said| said.code == "SRC-009");
        assert_eq!(anew.len(), 1, "{tokens}");
        assert!(!found.is_empty(), "{tokens}");
        assert!(found.iter().all(|said| said.fixable), "{tokens}: {found:?}");
        let [kept, relocated, changed, lost] = base.migration("sources/spec.md");
        assert_eq!((kept + relocated, changed, lost), (2, 0, 0), "{tokens}");
        base.run(&["fix"], 0);
        assert_eq!(base.migration("sources/spec.md"), [2, 0, 0, 0], "{tokens}");
        assert_eq!(base.verified(), 2, "{tokens}");
        base.run(&["build"], 0);
        assert_eq!(base.said(), [], "{tokens}");
    }
}

#[test]
fn a_renamed_file_keeps_its_id_and_its_citations() {
    let base = base();
    base.write("sources/spec.md", &paragraphs(&[TREES, FILLING]));
    base.write("sources/part/other.md", &paragraphs(&[FILLING]));
    base.cite("a", "spec", TREES);
    base.rename("sources/spec.md", "sources/a new name.md");
    assert_eq!(base.said(), []);
    assert_eq!(base.verified(), 1);
    base.run(&["build"], 0);
    base.rename("sources/a new name.md", "sources/deep/er/other.md");
    assert_eq!(base.said(), []);
    assert_eq!(base.verified(), 1);
    assert!(
        base.read("out/sources_manifest.json")
            .contains("\"source_id\":\"spec\"")
    );
}

#[test]
fn a_moved_folder_keeps_ids_and_citations() {
    let base = Base::new(SMALL, &["spec", "proofs"]);
    base.write("sources/old/spec.md", &paragraphs(&[TREES, FILLING]));
    base.write("sources/old/proofs.md", &paragraphs(&[FILLING, PROOFS]));
    base.cite("a", "spec", TREES);
    base.cite("b", "proofs", PROOFS);
    base.rename("sources/old", "sources/new");
    assert_eq!(base.said(), []);
    assert_eq!(base.verified(), 2);
}

#[test]
fn a_near_twin_is_no_place_to_move_to() {
    let twin = |team: &str, points: &str| {
        format!("In the last round Team {team} won the cup with {points} points and great calm.")
    };
    let pairs = [
        (twin("Alpha", "247"), twin("Beta", "247")),
        (twin("Alpha", "247"), twin("Alpha", "248")),
        (
            twin("Alpha", "247"),
            twin("Alpha", "247").replace("won", "never won"),
        ),
    ];
    for (cited, other_one) in pairs {
        let base = base();
        let between = other(1);
        base.write(
            "sources/spec.md",
            &paragraphs(&[&cited, &between, &other_one]),
        );
        base.cite("a", "spec", &cited);
        let card = base.read("cards/a.md");
        base.write("sources/spec.md", &paragraphs(&[&between, &other_one]));
        let found = base.said();
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(!found[0].fixable, "{found:?}");
        assert!(
            matches!(found[0].state.as_str(), "orphaned" | "differs"),
            "{found:?}"
        );
        // Nor does a wish to have quotes rewritten lead to the twin.
        base.run(&["fix", "--rewrite-quote"], 1);
        assert_eq!(base.read("cards/a.md"), card);
        assert_eq!(base.verified(), 0);
    }
}

#[test]
fn of_two_copies_none_is_chosen() {
    let base = base();
    let (one, two) = (other(1), other(2));
    base.write("sources/spec.md", &paragraphs(&[TREES, &one, &two]));
    base.cite("a", "spec", TREES);
    let card = base.read("cards/a.md");
    base.write("sources/spec.md", &paragraphs(&[&one, TREES, &two, TREES]));
    let found = base.said();
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(!found[0].fixable, "{found:?}");
    base.run(&["fix"], 1);
    assert_eq!(base.read("cards/a.md"), card);
}

#[test]
fn context_tells_two_copies_apart() {
    let base = base();
    let quote = "the byte in front of the text is a zero byte";
    let leaf = format!("Of a leaf, {quote}, and of nothing else.");
    let root = format!("Of the root, {quote}, whatever its children are.");
    let between = other(1);
    base.write("sources/spec.md", &paragraphs(&[&leaf, &between, &root]));
    let card = |context: &str| {
        Base::card_text(
            "a",
            &format!("  - source_id: spec\n    quote: \"{quote}\"\n{context}"),
        )
    };
    base.write("cards/a.md", &card(""));
    assert_eq!(base.said(), [said("CITE-008", "", false)]);
    base.write("cards/a.md", &card("    prefix: \"of the moon, \""));
    assert_eq!(base.said(), [said("CITE-008", "", false)]);
    for (context, ordinal) in [
        ("    prefix: \"Of a leaf,\"", "0000"),
        ("    prefix: \"Of the root,\"", "0002"),
        ("    suffix: \", whatever\"", "0002"),
    ] {
        base.write("cards/a.md", &card(context));
        base.run(&["fix"], 0);
        let text = base.read("cards/a.md");
        assert!(
            text.contains(&format!("chunk_id: \"spec:p001:{ordinal}\"")),
            "{context}\n{text}"
        );
        assert_eq!(base.verified(), 1);
    }
    // The one that is meant goes, and its twin does not take its place.
    base.run(&["build"], 0);
    base.write("sources/spec.md", &paragraphs(&[&leaf, &between]));
    let found = base.said();
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(!found[0].fixable, "{found:?}");
    assert_eq!(base.verified(), 0);
    base.write("sources/spec.md", &paragraphs(&[&between, &root, &leaf]));
    assert!(
        base.said().iter().all(|said| said.fixable),
        "{:?}",
        base.said()
    );
    base.run(&["fix"], 0);
    assert_eq!(base.verified(), 1);
}

#[test]
fn a_source_that_is_gone_makes_nothing_right_or_wrong() {
    let base = base();
    base.write("sources/spec.md", &paragraphs(&[TREES, FILLING]));
    base.write("sources/other.md", &paragraphs(&[FILLING]));
    base.cite("a", "spec", TREES);
    let card = base.read("cards/a.md");
    let text = base.read("sources/spec.md");
    std::fs::remove_file(base.path("sources/spec.md")).unwrap();
    assert_eq!(base.said(), [said("VERIFY-005", "", false)]);
    assert_eq!(base.verified(), 0);
    base.run(&["fix"], 1);
    assert_eq!(base.read("cards/a.md"), card);
    base.write("sources/spec.md", &text);
    assert_eq!(base.said(), []);
    assert_eq!(base.verified(), 1);
}

#[test]
fn a_source_that_is_read_anew_lists_what_became_of_its_citations() {
    let base = base();
    let (one, two) = (other(1), other(2));
    let third = "The root commits to the number of leaves as well as to their texts.";
    let fourth = "Nobody can prove what the tree does not hold.";
    base.write(
        "sources/spec.md",
        &paragraphs(&[TREES, &one, PROOFS, &two, third, &one, fourth]),
    );
    base.write("sources/other.md", &paragraphs(&[FILLING]));
    for (id, quote) in [("a", TREES), ("b", PROOFS), ("c", third), ("d", fourth)] {
        base.cite(id, "spec", quote);
    }
    // Another version of the extractor read the file, and the text is another now.
    let manifest = base.read("out/sources_manifest.json");
    let older = manifest.replace("\"parser_version\":\"", "\"parser_version\":\"0");
    base.write("out/sources_manifest.json", &older);
    assert_eq!(base.migration("sources/spec.md"), [4, 0, 0, 0]);
    assert_eq!(base.migration("sources/other.md"), [0, 0, 0, 0]);
    base.write(
        "sources/spec.md",
        &paragraphs(&[
            TREES,
            &one,
            &third.replace("number", "count"),
            &two,
            PROOFS,
            &one,
        ]),
    );
    assert_eq!(base.migration("sources/spec.md"), [1, 1, 0, 2]);
    let full = base.kb(&["check"]).stdout;
    assert!(
        full.contains("of its 4 citations, 1 kept, 1 relocated, 0 changed, 2 lost"),
        "{full}"
    );
    // The second time it comes from the cache, and is the same.
    assert_eq!(base.kb(&["check"]).stdout, full);
    assert_eq!(base.kb(&["check", "--no-cache"]).stdout, full);
    let counted = base.said();
    assert!(counted.len() > 3, "{counted:?}");
}
