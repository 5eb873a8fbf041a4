//! `kb check --baseline`: it hides what is known and verifies nothing.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use support::{Run, kb, write};

const SOURCE: &str =
    "The river rose by 5% in the first week.\n\nIt fell after that, and nobody knew why.\n";

fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    write(&root.join("kb.toml"), "profile = \"strict\"\n");
    write(
        &root.join("source_matrix.json"),
        r#"{"allowed":{"r":["river"]},"schema_version":"cacg.v0"}"#,
    );
    write(&root.join("sources/river.md"), SOURCE);
    folder
}

/// A card with these quotes, each cited from the only chunk.
fn card(root: &Path, name: &str, quotes: &[&str], body: &str) {
    let cited = kb(
        root,
        &[
            "cite",
            "river",
            "It fell after that, and nobody knew why.",
            "--json",
        ],
    );
    let cited: Value = serde_json::from_str(&cited.stdout).unwrap();
    let citations: String = quotes
        .iter()
        .map(|quote| {
            format!(
                "  - source_id: \"river\"\n    chunk_id: {}\n    chunk_hash: {}\n    page_range: [1, 1]\n    quote: {}\n",
                cited["chunk_id"], cited["chunk_hash"], json!(quote)
            )
        })
        .collect();
    write(
        &root.join(format!("cards/r/{name}.md")),
        format!(
            "---\nschema_version: \"cacg.v0\"\nid: \"{name}\"\ntitle: \"The {name}\"\nreading_id: \"r\"\nsummary: \"A summary of the card that says what it says in some words, and then goes on for a while.\"\ntags: [\"tag\"]\ncitations:\n{citations}---\n{body}\n"
        ),
    );
}

fn ledger(run: &Run) -> Value {
    let last = run.stdout.lines().last().unwrap();
    serde_json::from_str::<Value>(last).unwrap_or_else(|_| panic!("{run:?}"))["ledger"].clone()
}

fn against_baseline(root: &Path) -> Run {
    kb(root, &["check", "--baseline", "known.json", "--json"])
}

const WRONG: &str = "The river rose by 6% in the first week.";
const OTHER: &str = "The river rose by 7% in the first week.";
const RIGHT: &str = "The river rose by 5% in the first week.";

#[test]
fn a_known_finding_is_hidden_and_verifies_nothing() {
    let folder = project();
    let root = folder.path();
    card(root, "a", &[WRONG, RIGHT], "Body.");
    let plain = kb(root, &["check", "--json"]);
    assert_eq!(plain.status, 1);
    let before = ledger(&plain);
    assert_eq!(before["errors"], 1);
    assert!(before.get("hidden").is_none());

    let written = kb(root, &["check", "--write-baseline", "known.json", "--json"]);
    assert_eq!(written.status, 0, "{written:?}");
    assert_eq!(written.stdout, plain.stdout, "writing hides nothing");
    assert!(
        written.stderr.contains("known.json lists 1 finding"),
        "{written:?}"
    );
    let bytes = fs::read_to_string(root.join("known.json")).unwrap();
    let value: Value = serde_json::from_str(&bytes).unwrap();
    assert_eq!(value["schema_version"], "kb.baseline.v1");
    assert_eq!(value["findings"][0]["code"], "CACG-VERIFY-001");
    assert_eq!(value["findings"][0]["file"], "cards/r/a.md");
    assert!(!bytes.contains("\"line\""), "{bytes}");

    let run = against_baseline(root);
    assert_eq!(run.status, 0, "{run:?}");
    assert_eq!(run.stderr, "");
    assert_eq!(run.stdout.lines().count(), 1, "{run:?}");
    let after = ledger(&run);
    for class in ["citations", "exact", "failed", "unverifiable", "skipped"] {
        assert_eq!(after[class], before[class], "{class}");
    }
    assert_eq!(after["failed"], 1);
    assert_eq!(after["errors"], 0);
    assert_eq!(after["hidden"], 1);
    let full = kb(root, &["check", "--baseline", "known.json"]);
    assert!(
        full.stdout.trim_end().ends_with(
            "1 failed, 0 unverifiable, 0 skipped; 0 errors, 0 warnings, 1 hidden by the baseline"
        ),
        "{full:?}"
    );
    // Written again, it is the same file.
    let stamp = fs::metadata(root.join("known.json"))
        .unwrap()
        .modified()
        .unwrap();
    kb(root, &["check", "--write-baseline", "known.json"]);
    assert_eq!(fs::read_to_string(root.join("known.json")).unwrap(), bytes);
    assert_eq!(
        fs::metadata(root.join("known.json"))
            .unwrap()
            .modified()
            .unwrap(),
        stamp
    );
}

#[test]
fn lines_that_move_change_nothing_and_new_findings_fail() {
    let folder = project();
    let root = folder.path();
    card(root, "a", &[WRONG], "Body.");
    card(root, "b", &[OTHER], "Body.");
    assert_eq!(
        kb(root, &["check", "--write-baseline", "known.json"]).status,
        0
    );

    // Other citations before it, another body, another title: the finding is the same.
    card(
        root,
        "a",
        &[RIGHT, "It fell after that, and nobody knew why.", WRONG],
        "Another body.\n\nAnd more.",
    );
    let run = against_baseline(root);
    assert_eq!(run.status, 0, "{run:?}");
    assert_eq!(ledger(&run)["hidden"], 2);

    // An edited quote is another finding, and the old one is gone.
    card(
        root,
        "b",
        &["The river rose by 8% in the first week."],
        "Body.",
    );
    let run = against_baseline(root);
    assert_eq!(run.status, 1, "{run:?}");
    assert!(
        run.stderr
            .contains("1 finding of the baseline no longer occurs"),
        "{run:?}"
    );
    let counts = ledger(&run);
    assert_eq!(
        (&counts["errors"], &counts["hidden"]),
        (&json!(1), &json!(1))
    );
    // A check of one card does not miss the findings of the others.
    let run = kb(
        root,
        &[
            "check",
            "cards/r/a.md",
            "--baseline",
            "known.json",
            "--json",
        ],
    );
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{run:?}");

    // A finding elsewhere is new.
    card(root, "c", &[WRONG], "Body.");
    let run = against_baseline(root);
    assert_eq!(ledger(&run)["errors"], 2, "{run:?}");
}

#[test]
fn findings_that_are_alike_are_counted() {
    let folder = project();
    let root = folder.path();
    card(root, "a", &[WRONG, WRONG], "Body.");
    let before = ledger(&kb(root, &["check", "--json"]));
    kb(root, &["check", "--write-baseline", "known.json"]);
    let run = against_baseline(root);
    assert_eq!(run.status, 0, "{run:?}");
    let hidden = ledger(&run)["hidden"].as_u64().unwrap();
    assert_eq!(
        Some(hidden),
        before["errors"]
            .as_u64()
            .map(|errors| errors + before["warnings"].as_u64().unwrap())
    );
    // One more of the same is one too many.
    card(root, "a", &[WRONG, WRONG, WRONG], "Body.");
    let run = against_baseline(root);
    assert_eq!(run.status, 1, "{run:?}");
    // One less is said.
    card(root, "a", &[WRONG], "Body.");
    let run = against_baseline(root);
    assert_eq!(run.status, 0, "{run:?}");
    assert!(run.stderr.contains("no longer occur"), "{run:?}");
}

#[test]
fn warnings_can_be_known_too() {
    let folder = project();
    let root = folder.path();
    card(root, "a", &["nobody knew"], "Body.");
    let denied = kb(root, &["check", "--deny", "warnings"]);
    assert_eq!(denied.status, 1, "{denied:?}");
    kb(root, &["check", "--write-baseline", "known.json"]);
    let run = kb(
        root,
        &[
            "check",
            "--deny",
            "warnings",
            "--baseline",
            "known.json",
            "--json",
        ],
    );
    assert_eq!(run.status, 0, "{run:?}");
    assert_eq!(ledger(&run)["warnings"], 0);
}

#[test]
fn what_is_no_baseline_is_usage() {
    let folder = project();
    let root = folder.path();
    card(root, "a", &[RIGHT], "Body.");
    let table = [
        ("", "is no baseline"),
        ("[]", "is no baseline"),
        ("{\"findings\":[]}", "has no `schema_version`"),
        (
            "{\"findings\":[],\"schema_version\":\"kb.baseline.v2\"}",
            "has version `kb.baseline.v2`",
        ),
        (
            "{\"findings\":[],\"schema_version\":\"cacg.v0\"}",
            "has version `cacg.v0`",
        ),
        (
            "{\"findings\":[],\"more\":1,\"schema_version\":\"kb.baseline.v1\"}",
            "unknown field `more`",
        ),
        (
            "{\"findings\":[{\"code\":\"X\"}],\"schema_version\":\"kb.baseline.v1\"}",
            "is no baseline",
        ),
    ];
    for (text, words) in table {
        write(&root.join("known.json"), text);
        let run = against_baseline(root);
        assert_eq!(run.status, 2, "{text} {run:?}");
        assert!(run.stderr.contains(words), "{text} {run:?}");
        assert_eq!(run.stdout, "");
    }
    fs::remove_file(root.join("known.json")).unwrap();
    let run = against_baseline(root);
    assert_eq!(run.status, 2, "{run:?}");
    assert!(run.stderr.contains("cannot be read"), "{run:?}");
    for arguments in [
        &["check", "--write-baseline", "x.json", "cards/r/a.md"][..],
        &[
            "check",
            "--write-baseline",
            "x.json",
            "--baseline",
            "y.json",
        ],
        &["check", "--write-baseline", "no/such/folder/x.json"],
    ] {
        assert_eq!(kb(root, arguments).status, 2, "{arguments:?}");
    }
    assert!(!root.join("x.json").exists());
    write(
        &root.join("known.json"),
        "{\"findings\":[],\"schema_version\":\"kb.baseline.v1\"}",
    );
    let run = against_baseline(root);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{run:?}");
}
