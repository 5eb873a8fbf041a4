//! `kb fix` changes the bytes it says it changes, and no others.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "support/base.rs"]
mod base;
mod support;

use std::fs;

use base::{Base, said};
use kbc_queries::derive::derive_card;

const SETTINGS: &str = "";
const LEAF: &str = "Each leaf is hashed with a zero byte in front of its text.";
const NODE: &str = "Each inner node is hashed with a one byte in front of its children.";

fn base() -> Base {
    let base = Base::new(SETTINGS, &["spec"]);
    base.write("sources/spec.md", &format!("# Trees\n\n{LEAF}\n{NODE}\n"));
    base
}

/// A card of every style, with comments, odd spacing and another order of keys.
const ODD: &str = "---\n# A card.\nschema_version:   'kb.v1'\nid: \"odd\"   # its id\nreading_id: r\ntitle: >-\n  Odd,\n  but sound\nsummary: \"What this card says, in a sentence that is as long as the format asks for: eighty characters.\"\n\ncitations:\n# The first.\n- quote: 'Each leaf is hashed'\n  source_id: spec    # where it stands\n  edge_type: defines\n\n-   source_id: \"spec\"\n    quote: >-\n      Each inner node\n      is hashed\n- {quote: \"with a one byte in front\", source_id: 'spec'}\n---\n\nThe body, with trailing space. \n\n";

/// Lines of a text that are not lines of another one, in order.
fn added(before: &str, after: &str) -> Vec<String> {
    let known: Vec<&str> = before.split('\n').collect();
    after
        .split('\n')
        .filter(|line| !known.contains(line))
        .map(str::to_owned)
        .collect()
}

#[test]
fn everything_outside_an_edit_stays() {
    for newline in ["\n", "\r\n"] {
        let base = base();
        let before = ODD.replace('\n', newline);
        base.write("cards/odd.md", &before);
        assert_eq!(base.said().len(), 3, "{:?}", base.said());
        base.run(&["fix"], 0);
        let after = base.read("cards/odd.md");
        assert_eq!(base.verified(), 3, "{after}");
        let added = added(&before, &after);
        assert_eq!(added.len(), 7, "{added:?}");
        let end = if newline == "\n" { "" } else { "\r" };
        assert_eq!(added[0], format!("  chunk_id: \"spec:p001:0000\"{end}"));
        assert_eq!(added[2], format!("  page_range: [1, 1]{end}"));
        assert_eq!(added[3], format!("    chunk_id: \"spec:p001:0000\"{end}"));
        assert!(
            added[6].starts_with(
                "- {quote: \"with a one byte in front\", source_id: 'spec', chunk_id: "
            )
        );
        // What was not added is what was there, in its order.
        let kept: Vec<&str> = after
            .split('\n')
            .filter(|line| !added.contains(&(*line).to_owned()))
            .collect();
        let was: Vec<&str> = before
            .split('\n')
            .filter(|line| !line.starts_with("- {"))
            .collect();
        assert_eq!(kept, was);
        // And there is nothing to do a second time.
        let again = base.run(&["fix"], 0);
        assert!(again.stdout.starts_with("0 edits made"), "{}", again.stdout);
        assert_eq!(base.read("cards/odd.md"), after);
    }
}

fn with_hash(text: &str, hash: &str) -> String {
    text.replacen(
        "---\nWhat",
        &format!("card_hash: '{hash}' # recorded\n---\nWhat"),
        1,
    )
}

#[test]
fn a_card_hash_that_was_right_stays_right_and_a_stale_one_stale() {
    let base = base();
    base.cite("a", "spec", "Each leaf is hashed with a zero byte");
    let card = base.read("cards/a.md");
    let hash = derive_card(&card).hash.unwrap().to_string();
    let stale = "ab".repeat(32);
    base.write("cards/right.md", &with_hash(&card, &hash));
    base.write(
        "cards/stale.md",
        &with_hash(&card.replace("id: a\n", "id: b\n"), &stale),
    );
    fs::remove_file(base.path("cards/a.md")).unwrap();
    assert_eq!(base.said(), [said("HASH-002", "", false)]);
    base.edit("sources/spec.md", "its text.", "its text, always.");
    base.run(&["fix"], 1);
    assert_eq!(base.said(), [said("HASH-002", "", false)]);
    assert_eq!(base.verified(), 2);
    let right = base.read("cards/right.md");
    assert!(!right.contains(&hash));
    let derived = derive_card(&right);
    assert_eq!(
        derived.hash.as_deref(),
        derived.parsed.card_hash.as_ref().map(|hash| &*hash.value)
    );
    assert!(right.contains("' # recorded\n"));
    assert!(
        base.read("cards/stale.md")
            .contains(&format!("card_hash: '{stale}' # recorded\n"))
    );
}

#[test]
fn only_the_cards_that_are_named_change() {
    let base = base();
    let card =
        |id: &str| Base::card_text(id, &format!("  - source_id: spec\n    quote: \"{LEAF}\""));
    for path in ["cards/a.md", "cards/in/b.md", "cards/in/c.md"] {
        base.write(path, &card(&path.replace(['/', '.'], "-")));
    }
    let before = base.read("cards/a.md");
    base.run(&["fix", "cards/in"], 0);
    assert_eq!(base.read("cards/a.md"), before);
    assert_eq!(base.verified(), 2);
    base.run(&["fix", "cards/nowhere.md"], 2);
    base.run(&["fix", "sources/spec.md"], 2);
    base.run(&["fix", "cards/a.md"], 0);
    assert_eq!(base.verified(), 3);
}

#[test]
fn a_dry_run_shows_a_diff_and_writes_nothing() {
    let base = base();
    let text = Base::card_text("a", &format!("  - source_id: spec\n    quote: \"{LEAF}\""));
    base.write("cards/a.md", text.trim_end());
    let run = base.run(&["fix", "--dry-run"], 1);
    assert_eq!(base.read("cards/a.md"), text.trim_end());
    assert!(
        run.stdout
            .starts_with("--- a/cards/a.md\n+++ b/cards/a.md\n@@ "),
        "{}",
        run.stdout
    );
    assert!(run.stdout.contains("\n+    chunk_id: \"spec:p001:0000\"\n"));
    assert!(
        run.stdout.ends_with("\n\\ No newline at end of file\n"),
        "{}",
        run.stdout
    );
    assert_eq!(run.stderr, "1 edit in 1 file would be made\n");
    base.run(&["fix"], 0);
    assert!(!base.read("cards/a.md").ends_with('\n'));
    base.run(&["fix", "--dry-run"], 0);
    // Errors that no fix mends are findings too.
    base.edit(
        "cards/a.md",
        LEAF,
        "Something else altogether, which stands nowhere.",
    );
    base.run(&["fix", "--dry-run"], 1);
}

#[test]
fn quotes_are_rewritten_only_when_asked_for_and_in_their_style() {
    let styles = [
        (
            "Each leaf was hashed with a zero byte in front of its text.",
            LEAF.to_owned(),
        ),
        (
            "'Each leaf was hashed with a zero byte in front of its text.'",
            format!("'{LEAF}'"),
        ),
        (
            "\"Each leaf was hashed with a zero byte in front of its text.\"",
            format!("\"{LEAF}\""),
        ),
        (
            ">-\n      Each leaf was hashed with a zero byte\n      in front of its text.",
            format!(">-\n      {LEAF}"),
        ),
        (
            "|-\n      Each leaf was hashed with a zero byte\n      in front of its text.",
            format!("|-\n      {LEAF}"),
        ),
    ];
    for (written, wanted) in styles {
        let base = base();
        base.cite("a", "spec", LEAF);
        let card = base.read("cards/a.md");
        let quote = format!("quote: \"{LEAF}\"");
        let wrong = card.replace(&quote, &format!("quote: {written}"));
        assert_ne!(card, wrong);
        base.write("cards/a.md", &wrong);
        assert_eq!(base.said(), [said("VERIFY-001", "", false)], "{written}");
        base.run(&["fix"], 1);
        assert_eq!(base.read("cards/a.md"), wrong);
        base.run(&["fix", "--rewrite-quote"], 0);
        assert_eq!(
            base.read("cards/a.md"),
            card.replace(&quote, &format!("quote: {wanted}"))
        );
        assert_eq!(base.verified(), 1);
    }
}

#[test]
fn a_quote_of_a_changed_chunk_is_rewritten_with_its_hash() {
    let base = base();
    base.cite("a", "spec", LEAF);
    base.edit(
        "sources/spec.md",
        "Each leaf is hashed with",
        "Each leaf gets hashed with",
    );
    assert_eq!(base.said(), [said("HASH-001", "differs", false)]);
    base.run(&["fix", "--rewrite-quote"], 0);
    assert!(
        base.read("cards/a.md")
            .contains("quote: \"Each leaf gets hashed with a zero byte in front of its text.\"")
    );
    assert_eq!(base.verified(), 1);
}

#[test]
fn what_means_something_else_is_never_written() {
    for quote in [
        "Each leaf is not hashed with a zero byte in front of its text.",
        "Each leaf is hashed with 2 zero bytes in front of its text.",
        "Each Leaf of Merkle is hashed with a zero byte in front of its text.",
        "Every list was signed by a notary in front of its text.",
    ] {
        let base = base();
        base.cite("a", "spec", LEAF);
        base.edit("cards/a.md", LEAF, quote);
        let card = base.read("cards/a.md");
        base.run(&["fix", "--rewrite-quote"], 1);
        assert_eq!(base.read("cards/a.md"), card, "{quote}");
    }
}

#[test]
fn nothing_with_a_safe_fix_is_left() {
    let base = base();
    let zeros = "AB".repeat(32);
    // A wrong chunk, wrong pages and a hash in capitals, whose fixes touch the same bytes.
    let citations = format!(
        "  - source_id: spec\n    chunk_id: spec:p001:0009\n    chunk_hash: {zeros}\n    page_range: [4, 9]\n    quote: \"{LEAF}\"\n  - source_id: spec\n    chunk_id: spec:p001:0000\n    chunk_hash: {zeros}\n    page_range: [4, 9]\n    quote: \"{NODE}\"\n  - source_id: spec\n    quote: \"{NODE}\""
    );
    let text = format!("\u{feff}{}", Base::card_text("a", &citations));
    base.write("cards/a.md", &text);
    base.run(&["fix"], 0);
    assert_eq!(base.said(), []);
    assert_eq!(base.verified(), 3);
}

#[cfg(unix)]
#[test]
fn a_card_that_may_not_be_written_is_left_alone() {
    use std::os::unix::fs::PermissionsExt;
    let base = base();
    let text = Base::card_text("a", &format!("  - source_id: spec\n    quote: \"{LEAF}\""));
    base.write("cards/a.md", &text);
    fs::set_permissions(base.path("cards/a.md"), fs::Permissions::from_mode(0o444)).unwrap();
    let run = base.run(&["fix"], 2);
    assert!(
        run.stderr
            .contains("cards/a.md was not changed: it is read-only"),
        "{}",
        run.stderr
    );
    assert_eq!(base.read("cards/a.md"), text);
    fs::set_permissions(base.path("cards/a.md"), fs::Permissions::from_mode(0o640)).unwrap();
    base.run(&["fix"], 0);
    let mode = fs::metadata(base.path("cards/a.md"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o640);
    assert_eq!(fs::read_dir(base.path("cards")).unwrap().count(), 1);
}
