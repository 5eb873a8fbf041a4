//! `kb import` from outside: what it writes verifies, and what it leaves out is named.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "support/base.rs"]
mod base;
mod support;

use base::Base;

const RECORDS: &str = r#"- name: Tree hashing
  description: Leaves and nodes are told apart by the byte in front.
  evidence:
    - reference: PMID:1
      supporting_text: "Each leaf is hashed with a zero byte in front of its text."
      explanation: It says so of leaves.
    - reference: file:sources/spec.md
      supporting_text: "Each inner node [of the tree] is hashed with a one byte"
- id: elided
  reference: DOI:10.1000/XYZ
  supporting_text: "Each leaf is hashed ... in front of its text."
- id: absent
  reference: PMID:1
  supporting_text: "Each leaf is hashed with a one byte in front of its text."
- id: unknown
  reference: PMID:404
  supporting_text: "Each leaf is hashed with a zero byte"
"#;

fn project() -> Base {
    let base = Base::new(
        "[source.\"sources/spec.md\"]\ntitle = \"https://doi.org/10.1000/xyz\"\n",
        &["spec", "pmid_1"],
    );
    let text = "# Tree hashing\n\nEach leaf is hashed with a zero byte in front of its text.\nEach inner node is hashed with a one byte in front of its children.\n";
    base.write("sources/spec.md", text);
    base.write("sources/PMID_1.md", &format!("{text}\nAnd so on.\n"));
    base.write("records.yaml", RECORDS);
    base
}

const IMPORT: [&str; 4] = ["import", "records.yaml", "--reading", "r"];

#[test]
fn what_is_imported_verifies_and_what_is_not_is_named() {
    let base = project();
    let run = base.run(&IMPORT, 1);
    assert_eq!(
        run.stdout,
        "wrote cards/r/tree-hashing.md (2 citations)\n\
         wrote cards/r/elided.md (1 citation)\n\
         left out: line 14: PMID:1: the words do not stand in `pmid_1`; nearest: \"Each leaf is hashed with a zero byte in front of its text.\"; differs in words: \"one\" ≠ \"zero\"\n\
         left out: line 17: PMID:404: no source has this id, title or path; name one with --map or --source\n\
         2 cards, 3 citations from 4 records; 2 left out\n"
    );
    let check = base.run(&["check"], 0);
    assert!(
        check
            .stdout
            .contains("checked 2 cards, 3 citations: 3 verified"),
        "{check:?}"
    );
    assert!(!base.path("cards/r/absent.md").exists());
    let card = base.read("cards/r/tree-hashing.md");
    assert!(
        card.contains("source_id: \"pmid_1\"") && card.contains("source_id: \"spec\""),
        "{card}"
    );
}

#[test]
fn a_map_and_a_source_to_look_in() {
    for more in [["--map", "pmid:404=spec"], ["--source", "sources/spec.md"]] {
        let base = project();
        let run = base.run(&[&IMPORT[..], &more[..]].concat(), 1);
        assert!(
            run.stdout.contains("wrote cards/r/unknown.md (1 citation)"),
            "{run:?}"
        );
        assert!(
            run.stdout
                .ends_with("3 cards, 4 citations from 4 records; 1 left out\n"),
            "{run:?}"
        );
        base.run(&["check"], 0);
    }
    let base = project();
    let both = [&IMPORT[..], &["--source", "spec", "--source", "pmid_1"]].concat();
    let run = base.run(&both, 1);
    assert!(
        run.stdout
            .contains("the words stand in 2 of the sources given"),
        "{run:?}"
    );
}

#[test]
fn nothing_is_overwritten_unasked_and_a_dry_run_writes_nothing() {
    let base = project();
    let run = base.run(&[&IMPORT[..], &["--dry-run"]].concat(), 1);
    assert!(
        run.stdout.contains("would write cards/r/elided.md"),
        "{run:?}"
    );
    assert!(!base.path("cards").exists());
    base.write("cards/r/elided.md", "mine\n");
    let run = base.run(&IMPORT, 1);
    assert!(
        run.stdout.contains("line 9: cards/r/elided.md is there"),
        "{run:?}"
    );
    assert_eq!(base.read("cards/r/elided.md"), "mine\n");
    base.run(&[&IMPORT[..], &["--force"]].concat(), 1);
    assert!(base.read("cards/r/elided.md").contains("id: \"elided\""));
    let first = base.read("cards/r/tree-hashing.md");
    base.run(&[&IMPORT[..], &["--force"]].concat(), 1);
    assert_eq!(base.read("cards/r/tree-hashing.md"), first);
}

#[test]
fn usage_and_files_that_are_no_records() {
    let base = project();
    base.write("broken.yaml", "a: 1\nb: [\n");
    base.write("other.yaml", "a: 1\n");
    for (arguments, words) in [
        (
            vec!["import", "absent.yaml", "--reading", "r"],
            "cannot be read",
        ),
        (
            vec!["import", "broken.yaml", "--reading", "r"],
            "broken.yaml:",
        ),
        (
            vec!["import", "other.yaml", "--reading", "r"],
            "no mapping with `reference`",
        ),
        (
            vec!["import", "records.yaml", "--reading", "../x"],
            "a reading is made of",
        ),
        (
            vec![
                "import",
                "records.yaml",
                "--reading",
                "r",
                "--map",
                "PMID:1",
            ],
            "REFERENCE=SOURCE",
        ),
        (
            vec![
                "import",
                "records.yaml",
                "--reading",
                "r",
                "--map",
                "PMID:1=none",
            ],
            "no source is called `none`",
        ),
        (
            vec![
                "import",
                "records.yaml",
                "--reading",
                "r",
                "--source",
                "none",
            ],
            "no source is called `none`",
        ),
    ] {
        let run = base.kb(&arguments);
        assert_eq!(run.status, 2, "{run:?}");
        assert!(run.stderr.contains(words), "{run:?}");
    }
    assert!(!base.path("cards").exists());
}
