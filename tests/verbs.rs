//! `lint` and `verify` as the card-graph contract has them: their lines, their statuses, and round
//! summaries.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use support::{Run, kb, write};

const CORPUS: &str = "tests/parity_corpus";
const VALID: &str = "tests/parity_corpus/cards/reading_01/01-content-addressable-identity.md";

fn root() -> PathBuf {
    support::fixtures().join("cacg")
}

/// Runs a verb in the folder of the contract's fixtures, with its explicit manifests.
fn run(arguments: &[&str]) -> Run {
    run_with(
        &format!("{CORPUS}/out_python/chunks_manifest.json"),
        arguments,
    )
}

fn run_with(manifest: &str, arguments: &[&str]) -> Run {
    let journal = tempfile::tempdir().unwrap();
    let journal = journal.path().join("j.jsonl");
    let matrix = format!("{CORPUS}/out_python/source_matrix.json");
    let mut all = arguments.to_vec();
    let inputs = [
        "--chunks-manifest",
        manifest,
        "--source-matrix",
        &matrix,
        "--journal",
        journal.to_str().unwrap(),
    ];
    all.extend(inputs);
    kb(&root(), &all)
}

/// Status, stdout and stderr.
fn said(run: &Run) -> (i32, &str, &str) {
    (run.status, &run.stdout, &run.stderr)
}

fn golden(row: &str, file: &str) -> String {
    fs::read_to_string(root().join(format!(
        "{CORPUS}/out_python/parity_rows/{row}/py-out/{file}"
    )))
    .unwrap()
}

#[test]
fn lint_is_silent_or_has_the_words_of_the_goldens() {
    assert_eq!(said(&run(&["lint", VALID])), (0, "", ""));
    for card in ["07-fake-quote", "12-retracted-chunk-cited"] {
        let card = format!("{CORPUS}/adversarial/{card}.md");
        assert_eq!(said(&run(&["lint", &card])), (0, "", ""), "{card}");
    }
    for card in [
        "02-reversed-page-range",
        "04-stale-card-hash",
        "06-page-disjoint",
    ] {
        let path = format!("{CORPUS}/adversarial/{card}.md");
        let wanted = golden("kb_lint_parity_adversarial", &format!("{card}.stderr"));
        assert_eq!(said(&run(&["lint", &path])), (1, "", &*wanted), "{card}");
    }
}

#[test]
fn verify_shows_the_quote_that_does_not_stand_and_where_it_might() {
    assert_eq!(said(&run(&["verify", VALID])), (0, "", ""));
    let path = format!("{CORPUS}/semantic/card.md");
    let wanted = golden("kb_verify_semantic_parity_golden", "card.stderr");
    let wanted = wanted.replace("/repo/", "");
    let cache = format!("{CORPUS}/semantic/semantic_cache.json");
    let asked = run(&["verify", &path, "--semantic", &cache]);
    assert_eq!(said(&asked), (1, "", &*wanted));
    // Nobody asked: the two lines of the semantic layer, which come last, are not there.
    let lines = wanted.lines().take(3).map(|line| format!("{line}\n"));
    let wanted: String = lines.collect();
    assert_eq!(said(&run(&["verify", &path])), (1, "", &*wanted));
    // Layer 2 is not reached where layer 1 fails.
    let stale = format!("{CORPUS}/adversarial/04-stale-card-hash.md");
    let found = run(&["verify", &stale]);
    assert_eq!(found.status, 1);
    assert_eq!(found.stderr.lines().count(), 1, "{}", found.stderr);
    // Without layer 1 only the quotes decide.
    assert_eq!(run(&["verify", &stale, "--unsafe-skip-lint"]).status, 0);
    assert_eq!(run(&["verify", &stale, "--skip-lint"]).status, 0);
}

#[test]
fn a_missing_card_is_said_at_the_door() {
    for verb in ["lint", "verify"] {
        assert_eq!(
            said(&run(&[verb, "cards/none.md"])),
            (1, "", "CACG-CLI-001: file not found: cards/none.md\n")
        );
        let folder = run(&[verb, "tests"]);
        assert_eq!(folder.status, 1, "{}", folder.stderr);
        assert!(folder.stderr.contains("CACG-CLI-001"), "{}", folder.stderr);
    }
}

#[test]
fn arguments_that_exclude_each_other_are_usage() {
    for arguments in [
        &["lint"][..],
        &["lint", VALID, "--all-readings"],
        &["verify"],
        &["verify", VALID, "--round-summary", "x.md"],
        &["verify", VALID, "--all"],
    ] {
        assert_eq!(run(arguments).status, 2, "{arguments:?}");
    }
    let found = kb(&root(), &["lint", VALID]);
    assert_eq!(found.status, 2);
    assert!(found.stderr.contains("--source-matrix"), "{}", found.stderr);
}

#[test]
fn round_summaries_end_as_the_goldens_say() {
    let mut seen = 0;
    for entry in fs::read_dir(root().join("tests/round_summary_fixtures")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        let Some(name) = name.strip_suffix(".expected.json") else {
            continue;
        };
        let wanted: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        let summary = format!("tests/round_summary_fixtures/{name}.md");
        let found = run(&["verify", "--round-summary", &summary]);
        let field = |name: &str| wanted[name].as_str().unwrap();
        assert_eq!(
            said(&found),
            (
                i32::try_from(wanted["exit_code"].as_i64().unwrap()).unwrap(),
                field("stdout"),
                field("stderr")
            ),
            "{name}"
        );
        seen += 1;
    }
    assert_eq!(seen, 6);
}

/// A folder with the valid card, a stale one, manifests, and a round summary with this section.
struct Round {
    folder: tempfile::TempDir,
}

impl Round {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        for name in ["chunks_manifest.json", "source_matrix.json"] {
            let from = root().join(format!("{CORPUS}/out_python/{name}"));
            write(&at.join("out").join(name), fs::read(from).unwrap());
        }
        let copy = |from: &str, to: &str| write(&at.join(to), fs::read(root().join(from)).unwrap());
        copy(VALID, "cards/reading_01/good.md");
        copy(
            &format!("{CORPUS}/adversarial/07-fake-quote.md"),
            "cards/reading_01/fake.md",
        );
        Round { folder }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn verify(&self, arguments: &[&str]) -> Run {
        let mut all = vec!["verify", "--source-matrix", "out/source_matrix.json"];
        all.extend(arguments);
        kb(self.path(), &all)
    }

    fn summary(&self, text: &str, arguments: &[&str]) -> Run {
        write(&self.path().join("rounds/r.md"), text);
        let mut all = vec!["--round-summary", "rounds/r.md"];
        all.extend(arguments);
        self.verify(&all)
    }

    fn section(&self, section: &str) -> Run {
        self.summary(&format!("## Knowledge Consulted\n\n{section}\n"), &[])
    }
}

const GOOD: &str = "cards/reading_01/good.md";
const FAKE: &str = "cards/reading_01/fake.md";

#[test]
fn every_cited_card_has_its_line_in_order() {
    let round = Round::new();
    let found = round.section(&format!(
        "- {GOOD} -- why\n- {FAKE}\n- cards/none.md\n- [again]({GOOD})\n- `{GOOD}`"
    ));
    let good = format!("{GOOD}: VERIFIED\n");
    assert_eq!(
        said(&found),
        (
            1,
            &*good.repeat(3),
            &*format!(
                "{FAKE}: STALE (verify failed: CACG-VERIFY-001)\n\
                 cards/none.md: MISSING (file not found)\n"
            )
        )
    );
    let found = round.section("- cards/reading_01");
    assert_eq!(
        said(&found),
        (
            1,
            "",
            "cards/reading_01: STALE (verify failed: CACG-CLI-001)\n"
        )
    );
}

#[test]
fn a_sentinel_beside_cards_fails_and_the_cards_are_verified_all_the_same() {
    let round = Round::new();
    let found = round.section(&format!(
        "- {GOOD}\n\nN/A -- task not KB-relevant this round"
    ));
    assert_eq!(
        said(&found),
        (
            1,
            &*format!("{GOOD}: VERIFIED\n"),
            "(section): STALE (CACG-RS-002: N/A sentinel together with cited cards)\n"
        )
    );
    let found = round.section("N/A -- task not KB-relevant this round\n\ncards/");
    assert_eq!(
        said(&found),
        (
            1,
            "",
            "(section): STALE (CACG-RS-003: N/A sentinel on KB-relevant work)\n"
        )
    );
}

#[test]
fn the_summarys_own_folder_comes_first() {
    let round = Round::new();
    let fake = fs::read(round.path().join(FAKE)).unwrap();
    write(&round.path().join("rounds").join(GOOD), fake);
    let found = round.section(&format!("- {GOOD}"));
    assert_eq!(found.status, 1, "{}", found.stdout);
    assert!(found.stderr.contains("VERIFY-001"), "{}", found.stderr);
}

#[test]
fn a_summary_does_not_reach_out_of_the_project() {
    let round = Round::new();
    let far = tempfile::tempdir().unwrap();
    let card = far.path().join("cards/far.md");
    write(&card, fs::read(root().join(VALID)).unwrap());
    let text = format!("## Knowledge Consulted\n- {}\n", card.display());
    let found = round.summary(&text, &[]);
    assert_eq!(found.status, 1);
    assert!(found.stderr.contains("CACG-RS-005"), "{}", found.stderr);
    let found = round.summary(&text, &["--allow-outside"]);
    assert_eq!(found.status, 0, "{}", found.stderr);
    assert!(
        found.stdout.ends_with("cards/far.md: VERIFIED\n"),
        "{}",
        found.stdout
    );
}

#[test]
fn what_is_no_summary_is_said() {
    let round = Round::new();
    write(&round.path().join("binary.md"), b"\xFF\xFE\x00");
    for file in ["none.md", "cards", "binary.md"] {
        let found = round.verify(&["--round-summary", file]);
        assert_eq!(found.status, 1, "{file}");
        assert!(
            found.stderr.starts_with("CACG-CLI-001: "),
            "{}",
            found.stderr
        );
    }
}

#[test]
fn a_whole_deck_is_verified_at_once() {
    let round = Round::new();
    let found = round.verify(&["--all"]);
    assert_eq!(found.status, 1);
    assert!(
        found
            .stderr
            .starts_with(&format!("{FAKE}: CACG-VERIFY-001 ")),
        "{}",
        found.stderr
    );
    fs::remove_file(round.path().join(FAKE)).unwrap();
    assert_eq!(said(&round.verify(&["--all"])), (0, "", ""));
    fs::remove_file(round.path().join(GOOD)).unwrap();
    // Nothing was verified, so nothing is said to be.
    let found = round.verify(&["--all"]);
    assert_eq!((found.status, &*found.stdout), (1, ""));
    assert!(
        found.stderr.contains("there are no cards"),
        "{}",
        found.stderr
    );
    assert_eq!(round.verify(&["--all", "--allow-empty"]).status, 0);
    let found = round.verify(&["--all", "--cards-dir", "crads"]);
    assert_eq!(
        said(&found),
        (1, "", "CACG-CLI-001: cards directory not found: crads\n")
    );
}

#[test]
fn a_retracted_card_fails_unless_that_is_allowed() {
    let round = Round::new();
    let text = fs::read_to_string(round.path().join(GOOD)).unwrap();
    let id = text
        .lines()
        .find_map(|line| line.strip_prefix("id: "))
        .unwrap()
        .trim_matches('"')
        .to_owned();
    write(
        &round.path().join("out/cards_manifest.json"),
        format!(
            r#"{{"cards":[],"dependency_retracted_cards":[],"retracted_cards":["{id}"],"schema_version":"cacg.v0"}}"#
        ),
    );
    let found = round.verify(&[GOOD]);
    assert_eq!(
        said(&found),
        (
            1,
            "",
            &*format!("{GOOD}: CACG-RETR-001 card {id} is retracted\n")
        )
    );
    assert_eq!(
        said(&round.verify(&[GOOD, "--allow-retracted"])),
        (0, "", "")
    );
    // A manifest that cannot be read may hide retractions.
    write(&round.path().join("out/cards_manifest.json"), "{");
    let found = round.verify(&[GOOD]);
    assert_eq!(found.status, 1);
    assert!(
        found.stderr.starts_with("CACG-MAN-001: "),
        "{}",
        found.stderr
    );
    let found = round.section(&format!("- {GOOD}"));
    assert_eq!((found.status, &*found.stdout), (1, ""), "{}", found.stderr);
}

#[test]
fn a_lost_cards_manifest_is_said_where_histories_know_of_retractions() {
    let round = Round::new();
    fs::remove_file(round.path().join(FAKE)).unwrap();
    kb(round.path(), &["index"]);
    let manifest = round.path().join("out/cards_manifest.json");
    let bytes = fs::read(&manifest).unwrap();
    fs::remove_file(&manifest).unwrap();
    // The histories say nothing, so nothing was lost.
    assert_eq!(said(&round.verify(&[GOOD])), (0, "", ""));
    write(&manifest, bytes);
    let run = kb(round.path(), &["retract", GOOD]);
    assert_eq!(run.status, 0, "{run:?}");
    // The manifest is there: it decides, and histories are not asked.
    let found = round.verify(&[GOOD]);
    assert!(!found.stderr.contains("MAN-001"), "{found:?}");
    fs::remove_file(&manifest).unwrap();
    // The record of retractions says it of any card; without it, the histories do.
    let found = round.verify(&[FAKE]);
    assert!(!found.stdout.contains("VERIFIED"), "{found:?}");
    let found = round.section(&format!("- {GOOD}"));
    assert!(
        found
            .stderr
            .starts_with("CACG-MAN-001: out/cards_manifest.json: "),
        "{found:?}"
    );
    fs::remove_file(round.path().join("out/retractions.jsonl")).unwrap();
    let matrix = ["--source-matrix", "out/source_matrix.json"];
    let lint = |more: &[&str]| kb(round.path(), &[&["lint"], more, &matrix[..]].concat());
    let section = format!("- {GOOD}");
    // A sound card in the same folder was perhaps withdrawn with the other one.
    let other = round.path().join("cards/reading_01/other.md");
    let text = fs::read_to_string(round.path().join(GOOD)).unwrap();
    let other_text: String = text
        .lines()
        .filter(|line| !line.starts_with("card_hash"))
        .map(|line| match line.starts_with("id: ") {
            true => "id: \"other\"\n".to_owned(),
            false => format!("{line}\n"),
        })
        .collect();
    write(&other, other_text);
    for found in [
        round.verify(&[GOOD]),
        round.verify(&["cards/reading_01/other.md"]),
        round.verify(&["--all"]),
        round.verify(&["--all", "--format", "json"]),
        round.section(&section),
        lint(&[GOOD]),
        lint(&["--all-readings"]),
    ] {
        assert_eq!(found.status, 1, "{found:?}");
        let line = found.stderr.lines().next().unwrap();
        assert!(
            line.starts_with("CACG-MAN-001: out/cards_manifest.json: ") && line.contains(GOOD),
            "{found:?}"
        );
        assert!(!found.stdout.contains("VERIFIED"), "{found:?}");
    }
    // The histories of another folder are not those of this card.
    write(
        &round.path().join("cards/reading_02/other.md"),
        fs::read(&other).unwrap(),
    );
    let found = round.verify(&["cards/reading_02/other.md"]);
    assert!(!found.stderr.contains("MAN-001"), "{found:?}");
    fs::remove_dir_all(round.path().join("cards/reading_02")).unwrap();
    let run = kb(round.path(), &["index", "--restore-retractions"]);
    assert_eq!(run.status, 0, "{run:?}");
    let found = round.verify(&[GOOD]);
    assert!(!found.stderr.contains("MAN-001"), "{found:?}");
}

#[test]
fn a_manifest_or_matrix_that_cannot_be_used_fails_every_card() {
    let round = Round::new();
    write(&round.path().join("out/chunks_manifest.json"), "{");
    let found = round.verify(&["--all"]);
    assert_eq!(found.status, 1);
    assert_eq!(
        found.stderr.matches("CACG-MAN-001").count(),
        2,
        "{}",
        found.stderr
    );

    let round = Round::new();
    write(&round.path().join("out/source_matrix.json"), "{");
    let found = round.verify(&[GOOD]);
    assert_eq!(found.status, 1);
    assert!(
        found.stderr.starts_with(&format!("{GOOD}: CACG-AUTH-000 ")),
        "{}",
        found.stderr
    );
}

#[test]
fn a_batch_knows_the_edges_between_its_cards() {
    let round = Round::new();
    let edge = |text: &str, to: &str| {
        let edges =
            format!("card_edges:\n  - target: \"{to}\"\n    edge_type: \"depends_on\"\ncitations:");
        let text = text.replacen("citations:", &edges, 1);
        let lines = text.lines().filter(|line| !line.starts_with("card_hash"));
        lines.map(|line| format!("{line}\n")).collect::<String>()
    };
    let text = fs::read_to_string(round.path().join(GOOD)).unwrap();
    write(&round.path().join(GOOD), edge(&text, "nowhere"));
    let lint = |more: &[&str]| {
        let mut all = vec![
            "lint",
            "--all-readings",
            "--source-matrix",
            "out/source_matrix.json",
        ];
        all.extend(more);
        kb(round.path(), &all)
    };
    let found = lint(&[]);
    assert_eq!(found.status, 1);
    assert!(found.stderr.contains("CACG-DEP-001"), "{}", found.stderr);
    write(&round.path().join(GOOD), text);
    assert_eq!(said(&lint(&[])), (0, "", ""));
    let found = lint(&["--check-orphans", "--format", "short"]);
    assert!(found.stdout.contains("DEP-003"), "{}", found.stdout);
}

#[test]
fn a_manifest_altered_behind_its_stamp_is_not_taken_for_the_one_that_was_verified() {
    let round = Round::new();
    let cache = tempfile::tempdir().unwrap();
    let verify = || {
        let arguments = ["verify", GOOD, "--source-matrix", "out/source_matrix.json"];
        let cache = cache.path().to_str().unwrap();
        support::kb_with(round.path(), &arguments, &[("XDG_CACHE_HOME", cache)]).status
    };
    let path = round.path().join("out/chunks_manifest.json");
    let whole = fs::read_to_string(&path).unwrap();
    let altered = whole.replace("Content-addressable", "Malcontent-adressed");
    assert_eq!(whole.len(), altered.len());
    assert_ne!(whole, altered);
    // Old enough to be believed: the second run keeps the stamp, the third one uses it.
    std::thread::sleep(std::time::Duration::from_millis(100));
    assert_eq!([verify(), verify(), verify()], [0, 0, 0]);
    assert!(cache.path().read_dir().unwrap().next().is_some());
    let modified = fs::metadata(&path).unwrap().modified().unwrap();
    for (text, status) in [(&altered, 1), (&whole, 0), (&altered, 1)] {
        write(&path, text);
        let file = fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(modified).unwrap();
        drop(file);
        assert_eq!([verify(), verify()], [status, status]);
        std::thread::sleep(std::time::Duration::from_millis(100));
        assert_eq!([verify(), verify()], [status, status]);
    }
}

/// Runs a verb under the frozen clock and gives the journal it leaves.
fn journal_of(arguments: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let journal = folder.path().join("j.jsonl");
    let manifest = format!("{CORPUS}/out_python/chunks_manifest.json");
    let matrix = format!("{CORPUS}/out_python/source_matrix.json");
    let mut all = arguments.to_vec();
    let inputs = [
        "--chunks-manifest",
        &manifest,
        "--source-matrix",
        &matrix,
        "--journal",
        journal.to_str().unwrap(),
    ];
    all.extend(inputs);
    support::kb_with(&root(), &all, &[("KB_FROZEN_CLOCK", "1")]);
    fs::read_to_string(journal).unwrap()
}

/// A recorded journal with paths of this tree: the prefix of another checkout taken off, and the
/// checksums of its single event computed anew.
fn golden_journal(row: &str, file: &str) -> String {
    let text = golden(row, file).replace("/repo/", "");
    let mut event: serde_json::Value = serde_json::from_str(&text).unwrap();
    event.as_object_mut().unwrap().remove("event_checksum");
    let bytes = kbc_queries::commit::canonical::to_vec(&event).unwrap();
    let checksum = kbc_queries::commit::hash::sha256(&bytes).to_string();
    event["event_checksum"] = checksum.into();
    kbc_queries::commit::canonical::to_string(&event) + "\n"
}

#[test]
fn visits_are_journaled_as_the_goldens_have_them() {
    let card = format!("{CORPUS}/adversarial/01-malformed-hash.md");
    assert_eq!(
        journal_of(&["lint", &card]),
        golden_journal(
            "kb_lint_parity_adversarial",
            "01-malformed-hash.lint_journal.jsonl"
        )
    );
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("cache.json");
    write(&cache, r#"{"entries":[],"schema_version":"cacg.v0"}"#);
    let card = format!("{CORPUS}/semantic/card.md");
    assert_eq!(
        journal_of(&["verify", &card, "--semantic", cache.to_str().unwrap()]),
        golden_journal(
            "kb_verify_semantic_miss_parity_golden",
            "card.lint_journal.jsonl"
        )
    );
    let summary = "tests/round_summary_fixtures/08_missing_card.md";
    assert_eq!(
        journal_of(&["verify", "--round-summary", summary]),
        golden_journal(
            "kb_verify_round_summary_parity_golden",
            "08_missing_card.lint_journal.jsonl"
        )
    );
}

#[test]
fn every_visit_is_one_event_and_a_broken_journal_takes_none() {
    let round = Round::new();
    round.section(&format!("- {GOOD}\n- {FAKE}\n- {GOOD}\n- cards/none.md"));
    round.verify(&[GOOD]);
    round.verify(&["cards/none.md"]);
    let journal = round.path().join("out/lint_journal.jsonl");
    let text = fs::read_to_string(&journal).unwrap();
    assert_eq!(text.lines().count(), 5, "{text}");
    assert!(!text.contains(round.path().to_str().unwrap()), "{text}");
    write(&journal, text.replacen("\"seq\":1", "\"seq\":7", 1));
    // Only the end is looked at by an append; a look at all of it finds the line.
    let found = kb(
        round.path(),
        &["journal", "verify", "--journal", "out/lint_journal.jsonl"],
    );
    assert_eq!(found.status, 1, "{}{}", found.stdout, found.stderr);
    write(&journal, "{}\n");
    let found = round.verify(&[GOOD]);
    assert_eq!(found.status, 1);
    assert!(found.stderr.contains("CACG-JNL-001"), "{}", found.stderr);
    assert_eq!(fs::read_to_string(&journal).unwrap(), "{}\n");
}

#[test]
fn an_opinion_excuses_only_under_the_policy_that_lets_it_and_verifies_nothing() {
    let path = format!("{CORPUS}/semantic/card.md");
    let golden = fs::read_to_string(root().join(format!("{CORPUS}/semantic/semantic_cache.json")));
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("cache.json");
    write(&cache, golden.unwrap().replace("\"fail\"", "\"pass\""));
    let cache = cache.to_str().unwrap();
    let advised = run(&["verify", &path, "--semantic", cache]);
    assert_eq!(advised.status, 1, "{}", advised.stderr);
    assert!(
        advised.stderr.contains("VERIFY-002 semantic verdict=pass"),
        "{}",
        advised.stderr
    );
    let rescue = ["--semantic", cache, "--semantic-policy", "rescue"];
    let mut all = vec!["verify", &*path];
    all.extend(rescue);
    let rescued = run(&all);
    assert_eq!(rescued.status, 0, "{}", rescued.stderr);
    assert!(rescued.stderr.contains("VERIFY-001"), "{}", rescued.stderr);
    // A round summary does not call it verified.
    let summary = folder.path().join("round.md");
    write(&summary, format!("## Knowledge Consulted\n- {path}\n"));
    let mut all = vec!["verify", "--round-summary", summary.to_str().unwrap()];
    all.extend(rescue);
    let rescued = run(&all);
    assert_eq!(
        said(&rescued),
        (
            0,
            &*format!("{path}: SEMANTIC (1 citation by opinion)\n"),
            ""
        )
    );
    write(Path::new(cache), "{");
    let broken = run(&["verify", &path, "--semantic", cache]);
    assert_eq!(broken.status, 1);
    assert!(
        broken.stderr.starts_with("CACG-MAN-001: "),
        "{}",
        broken.stderr
    );
}

#[test]
fn lint_sees_a_stored_hash_that_is_not_the_cards() {
    let round = Round::new();
    let manifest = round.path().join("out/chunks_manifest.json");
    let text = fs::read_to_string(&manifest).unwrap();
    let stored = "1694a2598d8402ee06f8c0be6a1defd8a3f85b2d7f896c25fa67b8c671a37895";
    assert!(text.contains(stored));
    write(&manifest, text.replace(stored, &"1".repeat(64)));
    let matrix = ["--source-matrix", "out/source_matrix.json"];
    for verb in ["lint", "verify"] {
        let found = kb(round.path(), &[&[verb, GOOD], &matrix[..]].concat());
        assert_eq!(
            said(&found),
            (
                1,
                "",
                &*format!(
                    "{GOOD}: CACG-HASH-001 citations[0]: chunk_hash does not match manifest for sample:p001:0000\n"
                )
            ),
            "{verb}"
        );
    }
}

#[test]
fn a_lost_list_gives_nothing_back() {
    let round = Round::new();
    kb(round.path(), &["index"]);
    let run = kb(round.path(), &["retract-chunk", "sample:p001:0000"]);
    assert_eq!(run.status, 0, "{run:?}");
    // The manifest of before, as somebody might restore it.
    let from = root().join(format!("{CORPUS}/out_python/chunks_manifest.json"));
    write(
        &round.path().join("out/chunks_manifest.json"),
        fs::read(from).unwrap(),
    );
    let found = round.verify(&[GOOD]);
    assert_eq!(found.status, 1, "{found:?}");
    assert!(found.stderr.contains("CACG-RETR-003"), "{found:?}");
    let record = round.path().join("out/retractions.jsonl");
    let text = fs::read_to_string(&record).unwrap();
    write(&record, text.replacen("retract", "tcarter", 1));
    let found = round.verify(&[GOOD]);
    assert_eq!(found.status, 1, "{found:?}");
    assert!(found.stderr.contains("CACG-HIST-001"), "{found:?}");
}
