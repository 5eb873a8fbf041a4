//! `kb ingest` from outside: the contract's golden, the order of its refusals, sources beside each
//! other, streams that grow, and runs that die.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use kbc_queries::commit::hash::sha256;
use kbc_queries::parse::manifest::{ChunksManifest, SourcesManifest, read_chunks, read_sources};
use kbc_queries::parse::utterances::locator;
use serde_json::Value;
use support::{Run, kb, write};

/// Runs `kb` at a time that stands still.
fn frozen(folder: &Path, arguments: &[&str]) -> Run {
    let output = command(folder, arguments).output().unwrap();
    Run {
        status: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kb"));
    command
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .env("LANG", "C.UTF-8")
        .env("KB_FROZEN_CLOCK", "1")
        .stdin(Stdio::null());
    command
}

fn ok(folder: &Path, arguments: &[&str]) -> Run {
    let run = frozen(folder, arguments);
    assert_eq!(
        run.status, 0,
        "kb {arguments:?}\n{}{}",
        run.stdout, run.stderr
    );
    run
}

fn refused(folder: &Path, arguments: &[&str], status: i32, code: &str) -> String {
    let before = files(folder);
    let run = frozen(folder, arguments);
    assert_eq!(
        run.status, status,
        "kb {arguments:?}\n{}{}",
        run.stdout, run.stderr
    );
    assert_eq!(run.stdout, "", "kb {arguments:?}");
    assert!(
        run.stderr.starts_with(&format!("CACG-{code}: ")) && run.stderr.lines().count() == 1,
        "kb {arguments:?}\n{}",
        run.stderr
    );
    assert_eq!(before, files(folder), "kb {arguments:?} changed something");
    run.stderr
}

/// All files below a folder but those of `.kb/` and the locks.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    walkdir::WalkDir::new(folder)
        .into_iter()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.file_type().is_file())
        .map(|entry| {
            let path = entry.path().strip_prefix(folder).unwrap();
            (path.to_str().unwrap().to_owned(), entry.path().to_owned())
        })
        .filter(|(path, _)| !path.starts_with(".kb/") && !path.ends_with(".kb-lock"))
        .map(|(path, at)| (path, fs::read(at).unwrap()))
        .collect()
}

fn chunks(folder: &Path) -> ChunksManifest {
    read_chunks(&fs::read(folder.join("out/chunks_manifest.json")).unwrap()).unwrap()
}

fn sources(folder: &Path) -> SourcesManifest {
    read_sources(&fs::read(folder.join("out/sources_manifest.json")).unwrap()).unwrap()
}

/// A PDF whose pages hold these words, in lines that no hyphen ends.
fn pdf(pages: &[&str]) -> Vec<u8> {
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        String::new(),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
            .to_owned(),
    ];
    let mut kids = String::new();
    for text in pages {
        let mut lines = vec![String::new()];
        for word in text.split(' ') {
            let line = lines.last_mut().unwrap();
            if line.len() > 70 && !line.ends_with('-') {
                lines.push(word.to_owned());
            } else {
                line.push_str(if line.is_empty() { "" } else { " " });
                line.push_str(word);
            }
        }
        let mut content = "BT /F1 10 Tf ".to_owned();
        for (line, row) in lines.iter().zip(0..) {
            write!(content, "1 0 0 1 50 {} Tm ({line}) Tj ", 740 - 14 * row).unwrap();
        }
        content.push_str("ET");
        let page = objects.len() + 1;
        write!(kids, "{page} 0 R ").unwrap();
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /Contents {} 0 R /Resources << /Font << /F1 3 0 R >> >> >>",
            page + 1
        ));
        objects.push(format!(
            "<< /Length {} >>\nstream\n{content}\nendstream",
            content.len()
        ));
    }
    objects[1] = format!(
        "<< /Type /Pages /Kids [ {kids}] /Count {} /MediaBox [0 0 612 792] >>",
        pages.len()
    );
    let mut file = "%PDF-1.7\n".to_owned();
    let mut offsets = Vec::new();
    for (object, number) in objects.iter().zip(1..) {
        offsets.push(file.len());
        writeln!(file, "{number} 0 obj\n{object}\nendobj").unwrap();
    }
    let (table, size) = (file.len(), offsets.len() + 1);
    writeln!(file, "xref\n0 {size}\n0000000000 65535 f ").unwrap();
    for offset in &offsets {
        writeln!(file, "{offset:010} 00000 n ").unwrap();
    }
    writeln!(
        file,
        "trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{table}\n%%EOF"
    )
    .unwrap();
    file.into_bytes()
}

const SPEC: &str = "# Hashing\n\nEach leaf is hashed with a zero byte in front of its text. Nothing else is put there by anyone.\n";
const GUIDE: &str = "Nodes of a tree are hashed with a one byte in front of their children.\n";

fn place() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    write(&folder.path().join("spec.md"), SPEC);
    write(&folder.path().join("guide.txt"), GUIDE);
    folder
}

const HEADER: &str = r#"{"schema_version":"cacg.utterances.v1","source_kind":"conversation"}"#;
/// One utterance per chunk, so that a stream can grow.
const CUT: &str = "chunking:\n  max_pages_per_chunk: 1\n  overlap_tokens: 0\n";

fn stream(texts: &[&str]) -> String {
    let mut out = format!("{HEADER}\n");
    for (text, ordinal) in texts.iter().zip(1..) {
        let value = serde_json::json!({
            "ordinal": ordinal, "utterance_id": format!("u{ordinal}"), "speaker": "Ada",
            "is_author": true, "text": text, "refs": {"post": "7"},
        });
        writeln!(out, "{value}").unwrap();
    }
    out
}

#[test]
fn the_contracts_chunks_manifest_comes_out_byte_for_byte() {
    let golden =
        support::fixtures().join("cacg/tests/parity_corpus/out_python/chunks_manifest.json");
    let golden = fs::read(golden).unwrap();
    let known = read_chunks(&golden).unwrap();
    let texts: Vec<&str> = known.chunks.iter().map(|c| c.text.as_str()).collect();
    // The pages are what the chunks say they hold; the text is ASCII.
    let pages = [&texts[0][..705], &texts[0][706..], &texts[1][258..]];
    let folder = tempfile::tempdir().unwrap();
    write(&folder.path().join("sources/sample.pdf"), pdf(&pages));
    let run = ok(folder.path(), &["ingest", "sources/sample.pdf"]);
    assert_eq!(
        String::from_utf8(fs::read(folder.path().join("out/chunks_manifest.json")).unwrap()),
        String::from_utf8(golden)
    );
    let sha = sha256(&fs::read(folder.path().join("sources/sample.pdf")).unwrap());
    assert_eq!(
        run.stdout,
        format!(
            "sources_manifest: out/sources_manifest.json\n\
             chunks_manifest:  out/chunks_manifest.json\n\
             chunks_count:     2\n\
             source_id:        sample\n\
             source_sha256:    {sha}\n"
        )
    );
    assert_eq!(run.stderr, "");
    assert_eq!(
        fs::read_to_string(folder.path().join("out/sources_manifest.json")).unwrap(),
        format!(
            r#"{{"schema_version":"cacg.v0","sources":[{{"extracted_at":"1970-01-01T00:00:00Z","page_count":3,"parser_name":"kbc-pdf-hayro","parser_version":"1","schema_version":"cacg.v0","source_id":"sample","source_path":"sources/sample.pdf","source_sha256":"{sha}"}}]}}"#
        )
    );
    assert_eq!(files(folder.path()).len(), 3);
}

#[test]
fn the_clock_runs_unless_it_is_frozen() {
    let folder = place();
    assert_eq!(kb(folder.path(), &["ingest", "spec.md"]).status, 0);
    let record = &sources(folder.path()).sources[0];
    assert!(record.extracted_at.as_str() > "2024-01-01T00:00:00Z");
    assert_eq!(record.extracted_at.len(), 20);
    assert_eq!(record.parser_name, "kbc-markdown");
    assert_eq!(record.page_count, 1);
}

#[test]
fn refusals_come_in_the_contracts_order_and_change_nothing() {
    let folder = place();
    let root = folder.path();
    write(&root.join("bad.yaml"), "chunking: 3\n");
    write(&root.join("file"), "");
    write(&root.join("blank.txt"), " \n");
    write(&root.join("damaged.pdf"), "%PDF-1.7\nnothing");
    write(&root.join("empty.pdf"), "");
    write(&root.join("talk.jsonl"), stream(&["Hello."]));
    write(&root.join("unknown.bin"), [0, 1, 2]);
    write(&root.join("taken/chunks_manifest.json.tmp"), "");
    write(&root.join("half/chunks_manifest.json"), "{}");
    write(&root.join("bad/sources_manifest.json"), "{");
    write(&root.join("bad/chunks_manifest.json"), "{}");
    fs::create_dir_all(root.join("odd/sources_manifest.json")).unwrap();
    write(&root.join("built/index_manifest.json"), "{}");
    let cases: &[(&[&str], i32, &str)] = &[
        // Each line has the faults of the lines below it, too.
        (
            &[
                "nowhere.md",
                "--append",
                "--out",
                "file",
                "--source-id",
                "A",
                "--config",
                "bad.yaml",
            ],
            1,
            "CLI-001",
        ),
        (
            &[
                "damaged.pdf",
                "--append",
                "--out",
                "file",
                "--source-id",
                "A",
                "--config",
                "bad.yaml",
            ],
            2,
            "CLI-003",
        ),
        (
            &[
                "damaged.pdf",
                "--out",
                "file",
                "--source-id",
                "A",
                "--config",
                "bad.yaml",
            ],
            1,
            "CLI-001",
        ),
        (
            &[
                "damaged.pdf",
                "--out",
                "taken",
                "--source-id",
                "A",
                "--config",
                "bad.yaml",
            ],
            2,
            "CLI-003",
        ),
        (
            &["damaged.pdf", "--out", "taken", "--config", "bad.yaml"],
            2,
            "CLI-004",
        ),
        (&["damaged.pdf", "--out", "taken"], 1, "INGEST-001"),
        (&["blank.txt", "--out", "taken"], 1, "INGEST-002"),
        (&["spec.md", "--out", "taken"], 1, "MAN-002"),
        // And what comes alone.
        (&["."], 1, "CLI-001"),
        (&["empty.pdf"], 1, "INGEST-001"),
        (&["unknown.bin"], 1, "INGEST-001"),
        (&["talk.jsonl"], 1, "INGEST-001"),
        (&["spec.md", "--format", "pdf"], 1, "INGEST-001"),
        (&["spec.md", "--format", "utterances"], 1, "INGEST-001"),
        (&["spec.md", "--append", "--format", "pdf"], 2, "CLI-003"),
        (&["spec.md", "--config", "nowhere.yaml"], 2, "CLI-004"),
        (&["spec.md", "--out", "odd"], 1, "MAN-003"),
        (&["spec.md", "--out", "half"], 1, "INGEST-003"),
        (&["spec.md", "--out", "bad"], 1, "MAN-001"),
        (&["spec.md", "--out", "built"], 1, "INGEST-003"),
        (
            &["talk.jsonl", "--format", "utterances", "--append"],
            1,
            "INGEST-003",
        ),
    ];
    for (arguments, status, code) in cases {
        let arguments = [&["ingest"], *arguments].concat();
        refused(root, &arguments, *status, code);
    }
    assert_eq!(kb(root, &["ingest"]).status, 2);
    assert_eq!(
        kb(root, &["ingest", "spec.md", "--format", "word"]).status,
        2
    );
}

#[test]
fn sources_stand_beside_each_other_in_any_order() {
    let (one, other) = (place(), place());
    for (folder, order) in [
        (&one, ["spec.md", "guide.txt"]),
        (&other, ["guide.txt", "spec.md"]),
    ] {
        for source in order {
            ok(folder.path(), &["ingest", source]);
        }
    }
    assert_eq!(files(one.path()), files(other.path()));
    let ids: Vec<String> = sources(one.path())
        .sources
        .into_iter()
        .map(|source| source.source_id)
        .collect();
    assert_eq!(ids, ["guide", "spec"]);
    assert_eq!(chunks(one.path()).chunks.len(), 2);
}

#[test]
fn the_same_source_again_is_no_change_and_another_one_is_refused() {
    let folder = place();
    let root = folder.path();
    ok(root, &["ingest", "spec.md", "--source-id", "rules"]);
    let before = files(root);
    let stamp = |name: &str| fs::metadata(root.join(name)).unwrap().modified().unwrap();
    let time = stamp("out/chunks_manifest.json");
    // Its id is found again by its path.
    let run = ok(root, &["ingest", "spec.md"]);
    assert!(
        run.stdout.contains("source_id:        rules\n"),
        "{}",
        run.stdout
    );
    assert!(run.stderr.contains("nothing was written"), "{}", run.stderr);
    assert_eq!(
        (files(root), stamp("out/chunks_manifest.json")),
        (before, time)
    );

    write(
        &root.join("fine.yaml"),
        "chunking: {target_tokens: 8, overlap_tokens: 0}\n",
    );
    let said = refused(
        root,
        &["ingest", "spec.md", "--config", "fine.yaml"],
        1,
        "INGEST-003",
    );
    assert!(said.contains("other chunks"), "{said}");
    write(&root.join("spec.md"), format!("{SPEC}More.\n"));
    let said = refused(root, &["ingest", "spec.md"], 1, "INGEST-003");
    assert!(said.contains("other bytes"), "{said}");
    ok(root, &["ingest", "spec.md", "--source-id", "rules_2"]);
    assert_eq!(sources(root).sources.len(), 2);
}

#[test]
fn what_was_retracted_stays_retracted() {
    let folder = place();
    let root = folder.path();
    ok(root, &["ingest", "spec.md"]);
    let path = root.join("out/chunks_manifest.json");
    let mut manifest = chunks(root);
    manifest.retracted_source_ids = vec!["guide".to_owned()];
    manifest.retracted_chunk_ids = vec!["spec:p001:0000".to_owned()];
    manifest.chunks.clear();
    write(
        &path,
        kbc_queries::commit::canonical::to_vec(&manifest).unwrap(),
    );
    let said = refused(root, &["ingest", "guide.txt"], 1, "INGEST-003");
    assert!(said.contains("retracted"), "{said}");
    // A chunk that was withdrawn is not missed, and does not come back.
    let run = ok(root, &["ingest", "spec.md"]);
    assert!(
        run.stdout.contains("chunks_count:     0\n"),
        "{}",
        run.stdout
    );
    ok(root, &["ingest", "guide.txt", "--source-id", "guide_2"]);
    let now = chunks(root);
    assert_eq!(now.retractions(), manifest.retractions());
    assert_eq!(now.chunks.len(), 1);
    assert_eq!(now.chunks[0].chunk_id, "guide_2:p001:0000");
}

#[test]
fn what_was_given_back_comes_back_and_a_lost_manifest_gives_nothing_back() {
    let folder = place();
    let root = folder.path();
    ok(root, &["ingest", "spec.md"]);
    let before = chunks(root);
    let id = before.chunks[0].chunk_id.clone();
    for (verb, id) in [("retract-source", "spec"), ("retract-chunk", &*id)] {
        ok(root, &[verb, id]);
        for name in ["chunks_manifest.json", "sources_manifest.json"] {
            fs::remove_file(root.join("out").join(name)).unwrap();
        }
        match verb {
            "retract-source" => {
                let said = refused(root, &["ingest", "spec.md"], 1, "INGEST-003");
                assert!(said.contains("retracted"), "{said}");
                // Something else makes the manifest anew, with what is retracted.
                ok(root, &["ingest", "guide.txt"]);
            }
            _ => {
                ok(root, &["ingest", "spec.md"]);
                let now = chunks(root);
                assert!(now.chunks.iter().all(|chunk| chunk.chunk_id != id));
            }
        }
        ok(root, &["unretract", id, "--reason", "a mistake"]);
        ok(root, &["ingest", "spec.md"]);
        let now = chunks(root);
        let mut now = now.chunks.iter().filter(|chunk| chunk.source_id == "spec");
        assert!(now.by_ref().eq(before.chunks.iter()), "{verb}");
    }
}

#[test]
fn a_stream_grows_and_never_changes() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    write(&root.join("cut.yaml"), CUT);
    let talk = |texts: &[&str]| write(&root.join("talk.jsonl"), stream(texts));
    let ingest = [
        "ingest",
        "talk.jsonl",
        "--format",
        "utterances",
        "--config",
        "cut.yaml",
    ];
    let append = [&ingest[..], &["--append"]].concat();
    talk(&["One is said.", "Two is said."]);
    ok(root, &ingest);
    let first = chunks(root);
    assert_eq!(first.chunks.len(), 2);
    let map = |root: &Path| locator::read(&fs::read(root.join("out/locator_map.json")).unwrap());
    assert_eq!(
        map(root).unwrap().locators["talk:p002:0001"][0].utterance_id,
        "u2"
    );
    let said = refused(root, &append, 1, "INGEST-003");
    assert!(said.contains("no new chunk"), "{said}");

    talk(&["One is said.", "Two is not said.", "Three."]);
    let said = refused(root, &append, 1, "INGEST-003");
    assert!(said.contains("talk:p002:0001"), "{said}");
    talk(&["One is said."]);
    refused(root, &append, 1, "INGEST-003");
    // Who said it is as little to be changed as what was said.
    let more = stream(&["One is said.", "Two is said.", "Three."]);
    let (_, speaker) = more.split_once("\"speaker\":\"").unwrap();
    let (speaker, _) = speaker.split_once('"').unwrap();
    let other = more.replacen(
        &format!("\"speaker\":\"{speaker}\""),
        "\"speaker\":\"x\"",
        1,
    );
    write(&root.join("talk.jsonl"), other);
    let said = refused(root, &append, 1, "INGEST-003");
    assert!(said.contains("utterance 1"), "{said}");

    talk(&["One is said.", "Two is said.", "Three.", "Four."]);
    let said = refused(root, &ingest, 1, "INGEST-003");
    assert!(said.contains("--append"), "{said}");
    let run = ok(root, &append);
    assert!(
        run.stdout
            .starts_with("appended chunks:  2\nsources_manifest: out/"),
        "{}",
        run.stdout
    );
    let now = chunks(root);
    assert_eq!(now.chunks[..2], first.chunks[..]);
    assert_eq!(now.chunks.len(), 4);
    let sealed = map(root).unwrap();
    assert_eq!(sealed.locators.len(), 4);
    assert_eq!(
        sealed.utterances_sha256,
        sources(root).sources[0].source_sha256
    );
    assert_eq!(sources(root).sources[0].page_count, 4);

    // Another stream has no room in the map, a document has.
    write(&root.join("other.jsonl"), stream(&["Else."]));
    refused(
        root,
        &["ingest", "other.jsonl", "--format", "utterances"],
        1,
        "INGEST-003",
    );
    write(&root.join("spec.md"), SPEC);
    ok(root, &["ingest", "spec.md"]);

    // A retraction is carried over.
    let mut manifest = chunks(root);
    manifest
        .chunks
        .retain(|chunk| chunk.chunk_id != "talk:p001:0000");
    manifest
        .retracted_chunk_ids
        .push("talk:p001:0000".to_owned());
    write(
        &root.join("out/chunks_manifest.json"),
        kbc_queries::commit::canonical::to_vec(&manifest).unwrap(),
    );
    talk(&["One is said.", "Two is said.", "Three.", "Four.", "Five."]);
    ok(root, &append);
    let now = chunks(root);
    assert_eq!(now.retracted_chunk_ids, ["talk:p001:0000"]);
    assert_eq!(now.chunks.len(), 5);
    assert!(!map(root).unwrap().locators.contains_key("talk:p001:0000"));

    // A map that was edited is not built upon; one that went missing comes back.
    let path = root.join("out/locator_map.json");
    let whole = fs::read_to_string(&path).unwrap();
    write(&path, whole.replacen("Ada", "Eva", 1));
    talk(&[
        "One is said.",
        "Two is said.",
        "Three.",
        "Four.",
        "Five.",
        "Six.",
    ]);
    refused(root, &append, 1, "HASH-003");
    fs::remove_file(&path).unwrap();
    refused(root, &append, 1, "INGEST-003");
    talk(&["One is said.", "Two is said.", "Three.", "Four.", "Five."]);
    ok(root, &ingest);
    assert_eq!(fs::read_to_string(&path).unwrap(), whole);
}

#[test]
fn all_manifests_are_canonical_json() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    write(
        &root.join("talk.jsonl"),
        stream(&["Größe — 三国。", "e\u{301}t\u{e9}"]),
    );
    ok(root, &["ingest", "talk.jsonl", "--format", "utterances"]);
    for (name, bytes) in files(&root.join("out")) {
        let value: Value = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(
            String::from_utf8(bytes).unwrap(),
            kbc_queries::commit::canonical::to_string(&value),
            "{name}"
        );
    }
}

/// Lays out what a run leaves that dies after `moved` of its files are in place; with `None`, before
/// it named the set.
fn leave(out: &Path, new: &BTreeMap<String, Vec<u8>>, moved: Option<usize>) {
    let staging = out.join(".kb-publish");
    fs::create_dir(&staging).unwrap();
    let hashes: BTreeMap<&String, String> = new
        .iter()
        .map(|(name, bytes)| (name, sha256(bytes).to_string()))
        .collect();
    for (name, bytes) in new {
        fs::write(staging.join(name), bytes).unwrap();
    }
    let Some(moved) = moved else { return };
    let intent = serde_json::json!({ "files": hashes });
    fs::write(staging.join("intent.json"), intent.to_string()).unwrap();
    for name in new.keys().take(moved) {
        fs::rename(staging.join(name), out.join(name)).unwrap();
    }
}

#[test]
fn a_run_that_died_is_finished_or_cleared_by_the_next() {
    let whole = place();
    ok(whole.path(), &["ingest", "guide.txt"]);
    ok(whole.path(), &["ingest", "spec.md"]);
    let after = files(&whole.path().join("out"));
    for moved in [None, Some(0), Some(1), Some(2)] {
        let folder = place();
        let root = folder.path();
        ok(root, &["ingest", "guide.txt"]);
        let out = root.join("out");
        leave(&out, &after, moved);
        // A reader in between sees the whole new set, once it is named, and the old one before.
        let current = |name: &str| {
            read_chunks(&fs::read(kbc::publish::current(&out, name)).unwrap())
                .unwrap()
                .chunks
                .len()
        };
        let seen = if moved.is_none() { 1 } else { 2 };
        assert_eq!(current("chunks_manifest.json"), seen, "{moved:?}");
        let run = ok(root, &["ingest", "spec.md"]);
        assert_eq!(files(&out), after, "{moved:?}");
        assert_eq!(
            run.stderr.contains("interrupted"),
            moved.is_some(),
            "{}",
            run.stderr
        );
        assert!(!out.join(".kb-publish").exists());
    }
}

#[test]
fn a_killed_run_leaves_one_set_or_the_other() {
    let whole = place();
    ok(whole.path(), &["ingest", "guide.txt"]);
    let old = files(&whole.path().join("out"));
    ok(whole.path(), &["ingest", "spec.md"]);
    let new = files(&whole.path().join("out"));
    let folder = place();
    let root = folder.path();
    let out = root.join("out");
    for step in 0..24 {
        let _ = fs::remove_dir_all(&out);
        ok(root, &["ingest", "guide.txt"]);
        let mut child = command(root, &["ingest", "spec.md"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_micros(step * 900));
        let _ = child.kill();
        child.wait().unwrap();
        let seen: BTreeMap<String, Vec<u8>> = new
            .keys()
            .map(|name| {
                (
                    name.clone(),
                    fs::read(kbc::publish::current(&out, name)).unwrap(),
                )
            })
            .collect();
        assert!(seen == old || seen == new, "step {step}: a mixed set");
        ok(root, &["ingest", "spec.md"]);
        assert_eq!(files(&out), new, "step {step}");
    }
}

#[test]
fn two_runs_at_once_take_turns() {
    let folder = place();
    let root = folder.path();
    for round in 0..6 {
        let out = format!("out{round}");
        let children: Vec<_> = ["spec.md", "guide.txt"]
            .iter()
            .map(|source| {
                command(root, &["ingest", source, "--out", &out])
                    .stdout(Stdio::null())
                    .stderr(Stdio::null())
                    .spawn()
                    .unwrap()
            })
            .collect();
        for mut child in children {
            assert!(child.wait().unwrap().success());
        }
        let bytes = fs::read(root.join(&out).join("sources_manifest.json")).unwrap();
        assert_eq!(
            read_sources(&bytes).unwrap().sources.len(),
            2,
            "round {round}"
        );
    }
}

#[test]
fn other_kinds_are_read_by_their_names() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    write(
        &root.join("page.html"),
        "<html><body><p>Leaves come <b>first</b>.</p><p>Nodes last.</p></body></html>",
    );
    write(&root.join("rows.csv"), "id,name\n1,leaf\n2,node\n");
    write(&root.join("plain"), "Nobody knows what this is.");
    write(
        &root.join("latin.txt"),
        b"Gr\xf6\xdfe und Stra\xdfe, und noch viel mehr davon.",
    );
    for source in ["page.html", "rows.csv", "latin.txt"] {
        ok(root, &["ingest", source]);
    }
    refused(root, &["ingest", "plain"], 1, "INGEST-001");
    let texts: Vec<String> = chunks(root)
        .chunks
        .into_iter()
        .map(|chunk| chunk.text)
        .collect();
    assert_eq!(texts.len(), 3);
    assert!(texts[0].starts_with("Gr\u{f6}\u{df}e und"), "{texts:?}");
    assert_eq!(texts[1], "Leaves come first. Nodes last.");
    assert!(texts[2].contains("leaf"), "{texts:?}");
    // A PDF is one whatever it is called.
    write(&root.join("book.md"), pdf(&["Words of a page."]));
    ok(root, &["ingest", "book.md"]);
    let parsers: Vec<String> = sources(root)
        .sources
        .into_iter()
        .map(|s| s.parser_name)
        .collect();
    assert_eq!(
        parsers,
        ["kbc-pdf-hayro", "kbc-text", "kbc-html", "kbc-csv"]
    );
}

#[test]
fn a_hostile_pdf_is_refused_and_takes_nothing_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let bomb = support::fixtures().join("sources/bomb.pdf");
    write(&root.join("bomb.pdf"), fs::read(bomb).unwrap());
    refused(root, &["ingest", "bomb.pdf"], 1, "INGEST-001");
}

#[test]
fn a_project_gives_the_place_the_id_and_relative_paths() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    write(
        &root.join("kb.toml"),
        "out = \"published\"\n[source.\"texts/spec.md\"]\nid = \"rules\"\n",
    );
    write(&root.join("texts/spec.md"), SPEC);
    let run = ok(&root.join("texts"), &["ingest", "spec.md"]);
    assert!(
        run.stdout.contains("source_id:        rules\n"),
        "{}",
        run.stdout
    );
    let bytes = fs::read(root.join("published/sources_manifest.json")).unwrap();
    assert_eq!(
        read_sources(&bytes).unwrap().sources[0].source_path,
        "texts/spec.md"
    );
}
