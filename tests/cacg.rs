//! The goldens of the card-graph contract that concern hashes, manifests and the first two layers.
//!
//! The verbs `lint` and `verify` are not here: what they print first is asked of the library, as
//! the contract's words of the first diagnostic.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use kbc::session::{Options, Report, Session};
use kbc::workspace::Project;
use kbc_queries::check::card::card_report;
use kbc_queries::commit::canonical;
use kbc_queries::commit::hash::{self, Digest, PageSpan};
use kbc_queries::derive::{derive_card, given_source};
use kbc_queries::diagnostic::Diagnostic;
use kbc_queries::emit::records;
use kbc_queries::parse::manifest::{self, ChunkRecord, ChunksManifest};
use kbc_queries::parse::settings::{Profile, Settings};
use support::{kb, write};

const CORPUS: &str = "tests/parity_corpus";
const VALID: &str = "tests/parity_corpus/cards/reading_01/01-content-addressable-identity.md";

fn root() -> PathBuf {
    support::fixtures().join("cacg")
}

fn read(path: &str) -> Vec<u8> {
    fs::read(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn text(path: &str) -> String {
    String::from_utf8(read(path)).unwrap()
}

fn chunks() -> ChunksManifest {
    manifest::read_chunks(&read(&format!("{CORPUS}/out_python/chunks_manifest.json"))).unwrap()
}

/// Checks one card against a manifest, the way the verbs do.
fn check_with(card: &str, manifest: &Path) -> Report {
    let settings = Settings {
        profile: Profile::Cacg,
        ..Settings::default()
    };
    let options = Options {
        only: Some(BTreeSet::from([card.to_owned()])),
        chunks_manifest: Some(manifest.to_path_buf()),
        source_matrix: Some(root().join(format!("{CORPUS}/out_python/source_matrix.json"))),
        ..Options::default()
    };
    Session::open(Project::with_settings(root(), settings), options).report()
}

fn check(card: &str) -> Report {
    check_with(
        card,
        &root().join(format!("{CORPUS}/out_python/chunks_manifest.json")),
    )
}

/// A copy of the manifest with something changed.
fn altered(change: impl FnOnce(&mut ChunksManifest)) -> tempfile::TempDir {
    let mut manifest = chunks();
    change(&mut manifest);
    let folder = tempfile::tempdir().unwrap();
    write(
        &folder.path().join("chunks_manifest.json"),
        canonical::to_vec(&manifest).unwrap(),
    );
    folder
}

fn check_altered(card: &str, change: impl FnOnce(&mut ChunksManifest)) -> Report {
    let folder = altered(change);
    check_with(card, &folder.path().join("chunks_manifest.json"))
}

/// What the contract's tool prints of a diagnostic, without the card's path.
fn contract_words(diagnostic: &Diagnostic) -> String {
    let message = diagnostic.contract_message.as_ref();
    format!(
        "{} {}",
        diagnostic.code,
        message.unwrap_or(&diagnostic.message)
    )
}

fn first(report: &Report) -> String {
    report
        .diagnostics
        .first()
        .map(contract_words)
        .unwrap_or_default()
}

fn codes(report: &Report) -> Vec<&str> {
    report
        .diagnostics
        .iter()
        .map(|diagnostic| diagnostic.code.as_str())
        .collect()
}

/// The first line of a recorded stderr, without the card's path.
fn golden(path: &str) -> String {
    let all = text(path);
    let line = all.lines().next().unwrap();
    line.split_once(": ").unwrap().1.to_owned()
}

#[test]
fn the_valid_card_verifies_with_nothing_to_say() {
    let report = check(VALID);
    assert_eq!(report.diagnostics, []);
    assert_eq!((report.ledger.citations, report.ledger.exact), (1, 1));
}

#[test]
fn the_first_problem_has_the_words_of_the_golden() {
    let rows = format!("{CORPUS}/out_python/parity_rows");
    for (card, stderr) in [
        (
            "adversarial/02-reversed-page-range.md",
            "kb_lint_parity_adversarial/py-out/02-reversed-page-range.stderr",
        ),
        (
            "adversarial/04-stale-card-hash.md",
            "kb_lint_parity_adversarial/py-out/04-stale-card-hash.stderr",
        ),
        (
            "adversarial/06-page-disjoint.md",
            "kb_lint_parity_adversarial/py-out/06-page-disjoint.stderr",
        ),
        (
            "semantic/card.md",
            "kb_verify_semantic_parity_golden/py-out/card.stderr",
        ),
    ] {
        let report = check(&format!("{CORPUS}/{card}"));
        assert_eq!(
            first(&report),
            golden(&format!("{rows}/{stderr}")),
            "{card}"
        );
        assert!(report.fails(false), "{card}");
    }
}

#[test]
fn the_first_problem_is_the_one_that_the_journals_recorded() {
    let rows = format!("{CORPUS}/out_python/parity_rows");
    for (card, journal) in [
        (
            "adversarial/01-malformed-hash.md",
            "kb_lint_parity_adversarial/py-out/01-malformed-hash.lint_journal.jsonl",
        ),
        (
            "semantic/card.md",
            "kb_verify_semantic_miss_parity_golden/py-out/card.lint_journal.jsonl",
        ),
    ] {
        let event: serde_json::Value =
            serde_json::from_str(&text(&format!("{rows}/{journal}"))).unwrap();
        let recorded = &event["diagnostics"][0];
        let wanted = format!(
            "{} {}",
            recorded["code"].as_str().unwrap(),
            recorded["message"].as_str().unwrap()
        );
        assert_eq!(first(&check(&format!("{CORPUS}/{card}"))), wanted, "{card}");
    }
}

#[test]
fn each_adversarial_card_has_its_code_and_no_other() {
    for (card, wanted) in [
        ("01-malformed-hash", "CACG-CITE-002"),
        ("02-reversed-page-range", "CACG-CITE-003"),
        ("04-stale-card-hash", "CACG-HASH-002"),
        ("06-page-disjoint", "CACG-CITE-005"),
        ("07-fake-quote", "CACG-VERIFY-001"),
    ] {
        let report = check(&format!("{CORPUS}/adversarial/{card}.md"));
        assert_eq!(codes(&report), [wanted], "{card}");
    }
    let report = check(&format!("{CORPUS}/adversarial/12-retracted-chunk-cited.md"));
    assert_eq!(codes(&report), [""; 0], "nothing is retracted yet");
}

#[test]
fn a_retracted_chunk_or_source_stops_the_cards_that_cite_it() {
    let card = format!("{CORPUS}/adversarial/12-retracted-chunk-cited.md");
    let retract_chunk = |manifest: &mut ChunksManifest| {
        manifest
            .chunks
            .retain(|chunk| chunk.chunk_id != "sample:p001:0000");
        manifest
            .retracted_chunk_ids
            .push("sample:p001:0000".to_owned());
    };
    let report = check_altered(&card, retract_chunk);
    assert_eq!(
        first(&report),
        "CACG-RETR-003 citations[0]: chunk sample:p001:0000 is retracted"
    );
    assert_eq!((report.ledger.exact, report.ledger.failed), (0, 1));

    let retract_source = |manifest: &mut ChunksManifest| {
        manifest.chunks.clear();
        manifest.retracted_source_ids.push("sample".to_owned());
    };
    assert_eq!(
        codes(&check_altered(&card, retract_source)),
        ["CACG-RETR-002"]
    );
}

#[test]
fn the_chunk_after_a_retracted_one_is_still_found() {
    let second = chunks().chunks[1].clone();
    let card = text(VALID)
        .replace("sample:p001:0000", &second.chunk_id)
        .replace(&chunks().chunks[0].chunk_hash, &second.chunk_hash)
        .replace("page_range: [1, 2]", "page_range: [2, 3]")
        .replace("Content-addressable identity is the verification primitive at the core of the framework.", "Determinism is a kept promise.");
    let card: String = card
        .lines()
        .filter(|line| !line.starts_with("card_hash"))
        .map(|line| format!("{line}\n"))
        .collect();
    let folder = altered(|manifest| {
        manifest.chunks.remove(0);
        manifest
            .retracted_chunk_ids
            .push("sample:p001:0000".to_owned());
    });
    let at = folder.path().join("card.md");
    write(&at, card);
    let report = check_with(
        at.to_str().unwrap(),
        &folder.path().join("chunks_manifest.json"),
    );
    assert_eq!(report.diagnostics, []);
    assert_eq!(report.ledger.exact, 1);
}

#[test]
fn another_spelling_of_a_chunk_id_is_no_way_around_a_retraction() {
    let folder = altered(|_| {});
    let at = folder.path().join("card.md");
    write(&at, text(VALID).replace("sample:p001:0000", "sample:p1:0"));
    let report = check_with(
        at.to_str().unwrap(),
        &folder.path().join("chunks_manifest.json"),
    );
    assert!(
        codes(&report).contains(&"CACG-CITE-004"),
        "{:?}",
        codes(&report)
    );
    assert_eq!((report.ledger.exact, report.ledger.failed), (0, 1));
}

#[test]
fn an_altered_manifest_is_not_believed() {
    // Who alters a text without its hash is told so of every chunk that is cited, and no other.
    let report = check_altered(VALID, |manifest| manifest.chunks[0].text.push('!'));
    assert_eq!(codes(&report), ["CACG-HASH-003"]);
    assert_eq!(
        first(&report),
        "CACG-HASH-003 citations[0]: manifest chunk sample:p001:0000 does not hash to its stored chunk_hash"
    );
    let report = check_altered(VALID, |manifest| manifest.chunks[1].text.push('!'));
    assert_eq!(report.diagnostics, []);
    // Who alters the hash too meets the card, which pinned the old one.
    let report = check_altered(VALID, |manifest| {
        let chunk = &mut manifest.chunks[0];
        chunk.text.push('!');
        chunk.chunk_hash = hash_of(chunk).to_string();
    });
    assert_eq!(
        first(&report),
        "CACG-HASH-001 citations[0]: chunk_hash does not match manifest for sample:p001:0000"
    );
    // A page span is bound by the hash as well.
    let report = check_altered(VALID, |manifest| {
        manifest.chunks[0].page_spans[1].byte_offset_in_chunk += 1
    });
    assert_eq!(codes(&report), ["CACG-HASH-003"]);
}

#[test]
fn a_manifest_that_cannot_be_used_is_the_only_thing_that_is_said() {
    let whole = text(&format!("{CORPUS}/out_python/chunks_manifest.json"));
    for (what, bytes) in [
        ("not JSON", "{".to_owned()),
        (
            "an unknown field",
            whole.replacen("\"ordinal\"", "\"ordinel\"", 1),
        ),
        (
            "a hash of the wrong shape",
            whole.replacen("1694a2", "1694A2", 1),
        ),
        ("a duplicate", {
            let value: serde_json::Value = serde_json::from_str(&whole).unwrap();
            let mut value = value;
            let again = value["chunks"][0].clone();
            value["chunks"].as_array_mut().unwrap().push(again);
            value.to_string()
        }),
        (
            "an id that is not the chunk's",
            whole.replacen("sample:p001:0000", "sample:p003:0000", 1),
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().join("m.json");
        write(&at, bytes);
        let report = check_with(VALID, &at);
        assert_eq!(codes(&report), ["CACG-MAN-001"], "{what}");
        assert_eq!(report.ledger.cards, 0, "{what}");
    }
    let report = check_with(VALID, &root().join("no-such-manifest.json"));
    assert_eq!(codes(&report), ["CACG-MAN-001"]);
}

#[test]
fn the_order_of_the_manifest_changes_nothing() {
    for card in [
        VALID.to_owned(),
        format!("{CORPUS}/adversarial/07-fake-quote.md"),
    ] {
        let turned = check_altered(&card, |manifest| manifest.chunks.reverse());
        assert_eq!(turned, check(&card));
    }
}

#[test]
fn cards_outside_any_project_are_checked_by_the_program_under_the_contracts_profile() {
    // A copy: nothing is written next to the fixtures, and no kb.toml lies above it.
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    for name in ["chunks_manifest.json", "source_matrix.json"] {
        write(&at.join(name), read(&format!("{CORPUS}/out_python/{name}")));
    }
    for (name, status, code) in [
        ("cards/reading_01/01-content-addressable-identity", 0, ""),
        ("adversarial/01-malformed-hash", 1, "CACG-CITE-002"),
        ("adversarial/02-reversed-page-range", 1, "CACG-CITE-003"),
        ("adversarial/04-stale-card-hash", 1, "CACG-HASH-002"),
        ("adversarial/06-page-disjoint", 1, "CACG-CITE-005"),
        ("adversarial/07-fake-quote", 1, "CACG-VERIFY-001"),
        ("adversarial/12-retracted-chunk-cited", 0, ""),
    ] {
        write(
            &at.join("deck/card.md"),
            read(&format!("{CORPUS}/{name}.md")),
        );
        let arguments = [
            "check",
            "deck/card.md",
            "--chunks-manifest",
            "chunks_manifest.json",
            "--source-matrix",
            "source_matrix.json",
            "--format",
            "short",
        ];
        let run = kb(at, &arguments);
        assert_eq!(run.status, status, "{name}: {}{}", run.stdout, run.stderr);
        assert!(run.stdout.contains(code), "{name}: {}", run.stdout);
        assert!(
            !at.join(".kb").exists(),
            "a run without a project leaves nothing behind"
        );
    }
}

#[test]
fn a_short_quote_tells_the_contracts_profile_from_ours() {
    // The word stands in the chunk many times: the contract accepts that, `strict` does not.
    let folder = altered(|_| {});
    let at = folder.path();
    write(
        &at.join("source_matrix.json"),
        read(&format!("{CORPUS}/out_python/source_matrix.json")),
    );
    let card: String = text(VALID)
        .lines()
        .filter(|line| !line.starts_with("card_hash"))
        .map(|line| match line.split_once("quote: ") {
            Some((indent, _)) => format!("{indent}quote: \"the\"\n"),
            None => format!("{line}\n"),
        })
        .collect();
    write(&at.join("cards/card.md"), card);
    let arguments = [
        "check",
        "cards/card.md",
        "--chunks-manifest",
        "chunks_manifest.json",
        "--format",
        "short",
    ];
    let contract = kb(at, &arguments);
    write(&at.join("kb.toml"), "");
    let strict = kb(at, &arguments);
    assert_eq!(
        (contract.status, strict.status),
        (0, 1),
        "{}\n{}",
        contract.stdout,
        strict.stdout
    );
    assert!(
        contract.stdout.contains("warning CACG-QUOTE-"),
        "{}",
        contract.stdout
    );
}

fn hash_of(chunk: &ChunkRecord) -> Digest {
    let spans: Vec<PageSpan> = chunk
        .page_spans
        .iter()
        .map(|span| PageSpan {
            page: span.page,
            offset: u32::try_from(span.byte_offset_in_chunk).unwrap(),
        })
        .collect();
    hash::chunk_hash(&chunk.text, chunk.start_page, chunk.end_page, &spans)
}

#[test]
fn chunk_hashes_are_the_recorded_ones() {
    for chunk in chunks().chunks {
        assert_eq!(
            hash_of(&chunk).to_string(),
            chunk.chunk_hash,
            "{}",
            chunk.chunk_id
        );
    }
}

#[test]
fn card_hashes_are_those_of_the_oracles() {
    let oracles: serde_json::Value = serde_json::from_str(&text(&format!(
        "{CORPUS}/out_python/hash_oracles.subset.json"
    )))
    .unwrap();
    let oracles = oracles["card_hash"].as_array().unwrap();
    assert_eq!(oracles.len(), 9);
    for oracle in oracles {
        let found = hash::card_hash(&oracle["frontmatter"], oracle["raw_body"].as_str().unwrap());
        assert_eq!(
            found.to_string(),
            oracle["expected"].as_str().unwrap(),
            "{}",
            oracle["card_path"]
        );
    }
    // The same from the card's own text.
    let derived = derive_card(&text(VALID));
    assert_eq!(derived.hash.as_deref(), oracles[0]["expected"].as_str());
}

#[test]
fn manifests_are_written_as_they_were_read() {
    let out = format!("{CORPUS}/out_python");
    let name = |name: &str| format!("{out}/{name}");
    let chunks_bytes = read(&name("chunks_manifest.json"));
    assert_eq!(
        canonical::to_vec(&manifest::read_chunks(&chunks_bytes).unwrap()).unwrap(),
        chunks_bytes
    );
    let cards = read(&name("cards_manifest.json"));
    assert_eq!(
        canonical::to_vec(&manifest::read_cards(&cards).unwrap()).unwrap(),
        cards
    );
    let summaries = read(&name("summaries.json"));
    assert_eq!(
        canonical::to_vec(&manifest::read_summaries(&summaries).unwrap()).unwrap(),
        summaries
    );
    let matrix = read(&name("source_matrix.json"));
    let value = kbc_queries::parse::matrix::parse(&matrix)
        .unwrap()
        .to_value();
    assert_eq!(canonical::to_string(&value).as_bytes(), matrix);
}

#[test]
fn chunk_records_come_out_byte_for_byte() {
    let manifest = chunks();
    let records: Vec<&ChunkRecord> = manifest.chunks.iter().collect();
    let derivation = given_source(&records).unwrap();
    let bytes = records::chunk_records("sample", &derivation, "", &BTreeSet::new()).unwrap();
    let whole = format!(
        "{{\"chunks\":[{}],\"retracted_chunk_ids\":[],\"retracted_source_ids\":[],\"schema_version\":\"cacg.v0\"}}",
        String::from_utf8(bytes).unwrap()
    );
    assert_eq!(
        whole,
        text(&format!("{CORPUS}/out_python/chunks_manifest.json"))
    );
}

#[test]
fn the_cards_records_come_out_byte_for_byte() {
    let mut session = SummaryOf::open();
    let summary = session.summary(VALID);
    let cards = text(&format!("{CORPUS}/out_python/cards_manifest.json"));
    let record =
        String::from_utf8(canonical::to_vec(&records::card_record(VALID, &summary)).unwrap())
            .unwrap();
    assert!(
        cards.starts_with(&format!("{{\"cards\":[{record},")),
        "{record}"
    );
    let summaries = text(&format!("{CORPUS}/out_python/summaries.json"));
    let record =
        String::from_utf8(canonical::to_vec(&records::summary(VALID, &summary)).unwrap()).unwrap();
    let start = format!("{{\"schema_version\":\"cacg.v0\",\"summaries\":[{record},");
    assert!(summaries.starts_with(&start), "{record}");
}

/// The graph by itself, for what a session does not show.
struct SummaryOf {
    db: kbc::session::Database,
}

impl SummaryOf {
    fn open() -> Self {
        let disk = std::sync::Arc::new(kbc::workspace::disk::Disk::new(root(), None));
        SummaryOf {
            db: kbc::session::Database::new(disk, None),
        }
    }

    fn summary(&mut self, path: &str) -> kbc_queries::check::card::CardSummary {
        use kbc_queries::input::{CardFile, FileStatus};
        let fingerprint = kbc_queries::system::Fingerprint::of(&read(path));
        let file = CardFile::new(
            &self.db,
            path.into(),
            FileStatus::Present(fingerprint),
            None,
        );
        card_report(&self.db, file).summary.clone().unwrap()
    }
}

#[test]
fn every_fixture_file_is_used_or_waits_for_its_verb() {
    // A fixture that nobody reads protects nothing; this list shrinks as verbs arrive.
    let waiting: BTreeMap<&str, &str> = BTreeMap::from([
        ("round_summary", "round summaries"),
        ("kb_search", "search"),
        ("dependency_retracted", "retract and show"),
        ("history.jsonl", "index"),
        ("semantic_cache.json", "the semantic layer"),
        (
            "tests/adversarial/",
            "copies of the cards in parity_corpus, under the paths that goldens record",
        ),
    ]);
    let this = include_str!("cacg.rs");
    for entry in walkdir::WalkDir::new(root().join("tests"))
        .into_iter()
        .map(Result::unwrap)
    {
        if !entry.file_type().is_file() {
            continue;
        }
        let path = entry
            .path()
            .strip_prefix(root())
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned();
        let name = entry.path().file_stem().unwrap().to_str().unwrap();
        let named = this.contains(name);
        assert!(
            named || waiting.keys().any(|part| path.contains(part)),
            "{path} is not used"
        );
    }
}
