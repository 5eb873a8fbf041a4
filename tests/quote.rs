//! `kb quote` from outside: statuses, formats, batches, odd input.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use support::{Run, fixtures, kb, write};

/// Runs `kb` with bytes on its stdin.
fn kb_fed(folder: &Path, arguments: &[&str], input: &[u8]) -> Run {
    let mut child = Command::new(env!("CARGO_BIN_EXE_kb"))
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .env("LANG", "C.UTF-8")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let feeder = std::thread::spawn(move || {
        // A program that has heard enough may stop reading.
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().unwrap();
    feeder.join().unwrap();
    Run {
        status: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// The answers to a batch on stdin, and the whole run.
fn batch(folder: &Path, options: &[&str], input: &[u8]) -> (Vec<Value>, Run) {
    let mut arguments = vec!["quote", "--batch", "-"];
    arguments.extend(options);
    let run = kb_fed(folder, &arguments, input);
    let answers = run
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}")))
        .collect();
    (answers, run)
}

fn corpus() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    write(
        &at("notes.md"),
        "# Notes\n\nThe **river** rose by 5% in the\nfirst week. It fell after that.\n\nThe bridge is open. The bridge is open.\n",
    );
    write(
        &at("page.html"),
        "<html><head><title>Page</title></head><body><p>The water was <em>very</em> cold that day &amp; night.</p></body></html>",
    );
    write(
        &at("registry.csv"),
        "id,name,note\n1,heron,a tall grey bird\n2,\"owl, barn\",hunts at night\n",
    );
    folder
}

#[test]
fn statuses_and_words() {
    let folder = corpus();
    let pdf = fixtures().join("sources/handbook.pdf");
    let pdf = pdf.to_str().unwrap();
    // Arguments, status, what the first line begins with.
    let table: &[(&[&str], i32, &str)] = &[
        (&["notes.md", "It fell after that."], 0, "verified: exact"),
        (
            &["notes.md", "The river rose by 5% in the first week"],
            0,
            "verified: normalized (folded: space, markup)",
        ),
        (
            &["notes.md", "The river rose by 6% in the first week"],
            1,
            "not verified: absent",
        ),
        (
            &["notes.md", "The bridge is open."],
            1,
            "not verified: it stands there (exact) more than once",
        ),
        (
            &["notes.md", "The bridge is open.", "--prefix", "after that."],
            0,
            "verified: exact",
        ),
        (
            &["notes.md", "The bridge is open.", "--profile", "cacg"],
            0,
            "verified: exact",
        ),
        (
            &["notes.md", "he river rose by 5% in the fi"],
            1,
            "not verified: its characters stand there",
        ),
        (&["notes.md", ""], 1, "not verified: absent"),
        (&["notes.md", "..."], 1, "not verified: absent"),
        (
            &["notes.md", "It fell after that", "--page", "1"],
            0,
            "verified: exact",
        ),
        (
            &["page.html", "The water was very cold that day & night."],
            0,
            "verified: exact",
        ),
        (&["registry.csv", "a tall grey bird"], 0, "verified: exact"),
        (
            &["notes.md", "The river rose by 5%", "--profile", "khms"],
            0,
            "verified: WRAPPED",
        ),
        (
            &["notes.md", "ridge is open", "--profile", "khms"],
            1,
            "not verified: it is EXACT by the contract",
        ),
        (
            &["notes.md", "no such thing at all", "--profile", "khms"],
            1,
            "not verified: ABSENT",
        ),
        (
            &[pdf, "no such sentence stands in the handbook"],
            1,
            "not verified: absent",
        ),
    ];
    for (arguments, status, start) in table {
        let mut all = vec!["quote"];
        all.extend(*arguments);
        let run = kb(folder.path(), &all);
        assert_eq!(run.status, *status, "{arguments:?} {run:?}");
        assert!(run.stdout.starts_with(start), "{arguments:?} {run:?}");
        assert_eq!(run.stderr, "", "{arguments:?}");
    }
}

#[test]
fn a_pdf_has_pages() {
    let folder = corpus();
    let pdf = fixtures().join("sources/handbook.pdf");
    let pdf = pdf.to_str().unwrap();
    let first = "It may be bribed with cucumbers, but not on the night of the festival.";
    let second = "No offering is accepted twice in 30 days.";
    let table: &[(&str, &str, i32, &str)] = &[
        (first, "1", 0, "normalized"),
        (first, "2", 1, "outside-pages"),
        (second, "3", 0, "exact"),
        (second, "1", 1, "outside-pages"),
        (
            "No offering is accepted twice in 31 days.",
            "2",
            1,
            "absent",
        ),
    ];
    for (quote, page, status, class) in table {
        let run = kb(
            folder.path(),
            &["quote", pdf, quote, "--page", page, "--json"],
        );
        assert_eq!(run.status, *status, "{run:?}");
        let value: Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!(value["class"], *class, "{value}");
        if *status == 0 {
            assert_eq!(value["spans"][0]["page"], page.parse::<u32>().unwrap());
        }
    }
    let run = kb(folder.path(), &["quote", pdf, second, "--page", "1"]);
    assert!(run.stdout.contains("but not on page 1"), "{run:?}");
    let run = kb(folder.path(), &["quote", pdf, second, "--page", "9"]);
    assert_eq!(run.status, 2, "{run:?}");
    assert!(
        run.stderr
            .contains("there is no page 9: the text has 3 pages"),
        "{run:?}"
    );
    let bytes = std::fs::read(pdf).unwrap();
    let run = kb_fed(folder.path(), &["quote", "-", second], &bytes);
    assert_eq!(run.status, 0, "{run:?}");
}

#[test]
fn what_is_no_question_is_usage() {
    let folder = corpus();
    write(&folder.path().join("empty.md"), "");
    write(&folder.path().join("broken.pdf"), "%PDF-1.7\nnothing");
    let table: &[(&[&str], &str)] = &[
        (
            &["missing.md", "some words here"],
            "missing.md cannot be read",
        ),
        (&["notes.md"], "required"),
        (
            &["notes.md", "x", "--page", "2"],
            "there is no page 2: the text has 1 page",
        ),
        (&["notes.md", "x", "--page", "0"], "there is no page 0"),
        (&["broken.pdf", "some words here"], "cannot be used"),
        (
            &["notes.md", "x", "--batch", "b.jsonl"],
            "cannot be used with",
        ),
        (
            &["--batch", "missing.jsonl"],
            "missing.jsonl cannot be read",
        ),
        (
            &["notes.md", "x", "--profile", "khms", "--fuzzy"],
            "knows no --fuzzy",
        ),
        (
            &["notes.md", "x", "--profile", "khms", "--prefix", "y"],
            "knows no prefix",
        ),
    ];
    for (arguments, words) in table {
        let mut all = vec!["quote"];
        all.extend(*arguments);
        let run = kb(folder.path(), &all);
        assert_eq!(run.status, 2, "{arguments:?} {run:?}");
        assert!(run.stderr.contains(words), "{arguments:?} {run:?}");
        assert_eq!(run.stdout, "", "{arguments:?}");
    }
}

#[test]
fn json_has_the_documented_shape() {
    let folder = corpus();
    let run = kb(
        folder.path(),
        &["quote", "notes.md", "The river rose by 5%", "--json"],
    );
    let value: Value = serde_json::from_str(&run.stdout).unwrap();
    let text = std::fs::read_to_string(folder.path().join("notes.md")).unwrap();
    let start = text.find("The **river").unwrap();
    let end = text.find("5%").unwrap() + 2;
    assert_eq!(
        value,
        json!({
            "id": null, "class": "normalized", "verified": true, "foldings": ["markup"],
            "spans": [{"start": start, "end": end, "file": {"start": start, "end": end}}],
            "found": ["The **river** rose by 5%"], "warnings": [],
        })
    );
    let run = kb(
        folder.path(),
        &[
            "quote",
            "notes.md",
            "The river rose by 6% in the first week",
            "--json",
        ],
    );
    assert_eq!(run.status, 1);
    let value: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(value["class"], "absent");
    assert_eq!(
        value["nearest"]["decides"],
        "differs in a protected number: 6% ≠ 5%"
    );
    assert_eq!(
        value["nearest"]["text"],
        "The **river** rose by 5% in the\nfirst week"
    );
    let diff = value["nearest"]["diff"].as_array().unwrap();
    assert!(diff.contains(&json!({"source": "5%"})), "{value}");
}

#[test]
fn an_explanation_marks_the_words_that_differ() {
    let folder = corpus();
    let run = kb(
        folder.path(),
        &["quote", "notes.md", "It rose after that.", "--explain"],
    );
    assert_eq!(run.status, 1);
    assert!(
        run.stdout
            .contains("[-quote-] {+source+}: It [-rose-] {+fell+} after that."),
        "{}",
        run.stdout
    );
    let run = kb(
        folder.path(),
        &["quote", "notes.md", "It fell after that.", "--explain"],
    );
    assert!(run.stdout.contains("line 4, bytes "), "{}", run.stdout);
}

#[test]
fn stdin_is_a_text() {
    let folder = corpus();
    for text in [
        "We left at dawn, all of us.",
        "\u{feff}We left\r\nat dawn, all of us.\r\n",
    ] {
        let run = kb_fed(
            folder.path(),
            &["quote", "-", "We left at dawn"],
            text.as_bytes(),
        );
        assert_eq!(run.status, 0, "{text:?} {run:?}");
    }
    let run = kb_fed(folder.path(), &["quote", "-", "We left at dawn"], b"");
    assert_ne!(run.status, 0, "{run:?}");
}

#[test]
fn a_batch_keeps_the_order_and_gives_one_line_for_each() {
    let folder = corpus();
    let mut input = String::new();
    for index in 0..5_000 {
        let quote = if index % 3 == 0 {
            "rose by 5% then"
        } else {
            "fell by 7% then"
        };
        let source = format!("Case {index}: it rose by 5% then.");
        input.push_str(&format!(
            "{}\n",
            json!({"id": index, "source": source, "quote": quote})
        ));
    }
    let (answers, run) = batch(folder.path(), &[], input.as_bytes());
    assert_eq!(run.status, 1);
    assert_eq!(answers.len(), 5_000);
    for (index, answer) in answers.iter().enumerate() {
        assert_eq!(answer["id"], index);
        assert_eq!(answer["verified"], index % 3 == 0, "{answer}");
    }
    // One thread or many: the same bytes.
    let (_, alone) = batch(folder.path(), &["--threads", "1"], input.as_bytes());
    assert_eq!(alone.stdout, run.stdout);
    let (_, fine) = batch(folder.path(), &[], input.lines().next().unwrap().as_bytes());
    assert_eq!(fine.status, 0, "{fine:?}");
    let (answers, empty) = batch(folder.path(), &[], b"\n\r\n");
    assert!(answers.is_empty());
    assert_eq!(empty.status, 0);
}

#[test]
fn a_batch_reads_files_pages_and_context() {
    let folder = corpus();
    let cases = [
        (
            json!({"id": "a", "source_path": "notes.md", "quote": "It fell after that."}),
            "exact",
            true,
        ),
        (
            json!({"id": "b", "source_path": "registry.csv", "quote": "hunts at night", "page": 1}),
            "exact",
            true,
        ),
        (
            json!({"id": "c", "source_path": "missing.md", "quote": "It fell after that."}),
            "unverifiable",
            false,
        ),
        (
            json!({"id": "d", "source_path": "notes.md", "quote": "It fell after that.", "page": 7}),
            "unverifiable",
            false,
        ),
        (
            json!({"id": "e", "source_path": "notes.md", "quote": "The bridge is open.", "suffix": "The bridge"}),
            "exact",
            true,
        ),
        (
            json!({"id": {"any": ["value"]}, "source": "", "quote": "anything at all"}),
            "absent",
            false,
        ),
        (
            json!({"id": null, "source_path": "-", "quote": "x"}),
            "unverifiable",
            false,
        ),
    ];
    let input: String = cases
        .iter()
        .map(|(case, _, _)| format!("{case}\r\n"))
        .collect();
    let (answers, run) = batch(folder.path(), &[], format!("\u{feff}{input}").as_bytes());
    assert_eq!(run.status, 1, "{run:?}");
    assert_eq!(answers.len(), cases.len());
    for ((case, class, verified), answer) in cases.iter().zip(&answers) {
        assert_eq!(answer["id"], case["id"]);
        assert_eq!(answer["class"], *class, "{answer}");
        assert_eq!(answer["verified"], *verified, "{answer}");
        for key in ["foldings", "spans", "found", "warnings"] {
            assert!(answer[key].is_array(), "{answer}");
        }
    }
}

#[test]
fn several_quotes_of_one_source_stand_there_in_order() {
    let folder = corpus();
    let text = "The bridge is open to carts. The ferry leaves at noon every day. The bridge is open to carts.";
    let cases = [
        // Alone it stands there twice; after the ferry there is one place for it.
        (
            json!({"id": 7, "source": text, "quotes": ["The ferry leaves at noon", "The bridge is open to carts."]}),
            true,
            vec!["exact", "exact"],
        ),
        (
            json!({"source": text, "quotes": ["The bridge is open to carts."]}),
            false,
            vec!["exact"],
        ),
        (
            json!({"source": text, "quotes": ["The ferry leaves at noon", "The ferry leaves at six"]}),
            false,
            vec!["exact", "absent"],
        ),
        (
            json!({"source_path": "missing.md", "quotes": ["one", "two"]}),
            false,
            vec!["unverifiable", "unverifiable"],
        ),
    ];
    let input: String = cases
        .iter()
        .map(|(case, _, _)| format!("{case}\n"))
        .collect();
    let (answers, run) = batch(folder.path(), &[], input.as_bytes());
    assert_eq!(run.status, 1, "{run:?}");
    for ((case, verified, classes), answer) in cases.iter().zip(&answers) {
        assert_eq!(answer["id"], case["id"]);
        assert_eq!(answer["verified"], *verified, "{answer}");
        let quotes = answer["quotes"].as_array().unwrap();
        let found: Vec<&str> = quotes
            .iter()
            .map(|q| q["class"].as_str().unwrap())
            .collect();
        assert_eq!(found, *classes, "{answer}");
        for quote in quotes {
            for key in ["foldings", "spans", "found", "warnings"] {
                assert!(quote[key].is_array(), "{quote}");
            }
            assert!(
                quote["verified"].is_boolean() && quote.get("id").is_none(),
                "{quote}"
            );
        }
    }
    let settled = &answers[0]["quotes"][1]["spans"][0]["start"];
    assert_eq!(settled, text.rfind("The bridge").unwrap());
    assert_eq!(
        answers[2]["quotes"][1]["nearest"]["text"],
        "The ferry leaves at noon"
    );
    // One line that is fine is a batch that is fine, under every profile.
    let line = json!({"source": text, "quotes": ["The ferry leaves", "at noon every day"]});
    for profile in ["strict", "cacg", "khms"] {
        let (answers, run) = batch(
            folder.path(),
            &["--profile", profile],
            line.to_string().as_bytes(),
        );
        assert_eq!((run.status, answers.len()), (0, 1), "{profile}: {run:?}");
    }
}

#[test]
fn a_bad_line_is_named_and_the_others_are_answered() {
    let folder = corpus();
    let good = r#"{"source": "we left at dawn", "quote": "we left at dawn"}"#;
    let table: &[(&[u8], &str)] = &[
        (b"{", "line 2: EOF"),
        (
            br#"{"source": "a", "quote": "\ud800"}"#,
            "line 2: a \\u escape names half a character",
        ),
        (br#"{"source": "a"}"#, "line 2: missing field `quote`"),
        (
            br#"{"quote": "a"}"#,
            "line 2: give either `source` or `source_path`",
        ),
        (
            br#"{"source": "a", "source_path": "b", "quote": "a"}"#,
            "line 2: give either",
        ),
        (
            br#"{"source": "a", "quote": "a", "quotes": ["a"]}"#,
            "line 2: give either `quote` or `quotes`",
        ),
        (
            br#"{"source": "a", "quotes": []}"#,
            "line 2: `quotes` is empty",
        ),
        (
            br#"{"source": "a", "quotes": ["a"], "prefix": "b"}"#,
            "line 2: `prefix` and `suffix` stand beside one `quote`",
        ),
        (
            br#"{"source": "a", "quote": "a", "surprise": 1}"#,
            "line 2: unknown field `surprise`",
        ),
        (
            br#"{"source": "a", "quote": "a", "page": -1}"#,
            "line 2: invalid value",
        ),
        (
            b"{\"source\": \"\xff\", \"quote\": \"a\"}",
            "line 2: it is not UTF-8 from byte 13",
        ),
        (b"[]", "line 2: invalid"),
        (br#"{"source": "a", "quote": "a"} {}"#, "line 2: trailing"),
    ];
    for (bad, words) in table {
        let input = [good.as_bytes(), bad, good.as_bytes(), b""].join(&b'\n');
        let (answers, run) = batch(folder.path(), &[], &input);
        assert_eq!(run.status, 2, "{run:?}");
        assert!(run.stderr.contains(words), "{words} {run:?}");
        let verified: Vec<&Value> = answers.iter().map(|answer| &answer["verified"]).collect();
        assert_eq!(
            verified,
            [&json!(true), &json!(false), &json!(true)],
            "{run:?}"
        );
        assert_eq!(answers[1]["line"], 2);
    }
}

#[test]
fn odd_quotes() {
    let folder = corpus();
    let long = "so it went on and on ".repeat(100_000);
    let nested = "[(".repeat(50_000);
    let cases = [
        json!({"source": "a\u{0}b we left at dawn", "quote": "a\u{0}b we left"}),
        json!({"source": "we left at dawn", "quote": "\u{0}\u{0}"}),
        json!({"source": "we left at dawn", "quote": ""}),
        json!({"source": "we left at dawn", "quote": " \u{feff}\u{200b}\n"}),
        json!({"source": "we left at dawn", "quote": long}),
        json!({"source": long, "quote": "so it went off"}),
        json!({"source": nested, "quote": nested}),
        json!({"source": "we\r\nleft\r\nat dawn", "quote": "we left at dawn"}),
        json!({"source": "\u{feff}we left at dawn", "quote": "we left at dawn"}),
        json!({"source": "\u{1f469}\u{200d}\u{1f680} we left \u{1f469}\u{200d}\u{1f680}", "quote": "\u{1f469}\u{200d}\u{1f680} we left"}),
    ];
    let expected = [
        true, false, false, false, false, false, false, true, true, true,
    ];
    let input: String = cases.iter().map(|case| format!("{case}\n")).collect();
    for profile in ["strict", "cacg", "khms"] {
        let (answers, run) = batch(folder.path(), &["--profile", profile], input.as_bytes());
        assert_eq!(run.status, 1, "{profile}: {}", run.stderr);
        assert_eq!(answers.len(), cases.len());
        if profile == "strict" {
            let verified: Vec<bool> = answers
                .iter()
                .map(|answer| answer["verified"].as_bool().unwrap())
                .collect();
            assert_eq!(verified, expected);
        }
        // What a terminal would obey never reaches one.
        assert!(
            !run.stdout.contains(['\u{0}', '\u{200b}', '\u{feff}']),
            "{profile}"
        );
    }
}

#[test]
fn fuzzy_has_to_be_asked_for() {
    let folder = corpus();
    let case = json!({
        "source": "The committee accepted the recommendation of the harbour authority without debate.",
        "quote": "The committee accepted the recommendation of the harbor authority without debate.",
    });
    let input = case.to_string();
    let (answers, _) = batch(folder.path(), &[], input.as_bytes());
    assert_eq!(answers[0]["class"], "absent");
    let (answers, run) = batch(folder.path(), &["--fuzzy"], input.as_bytes());
    assert_eq!(answers[0]["class"], "fuzzy", "{run:?}");
    assert_eq!(answers[0]["verified"], true);
    assert!(
        answers[0]["warnings"][0]
            .as_str()
            .unwrap()
            .contains("harbor for harbour")
    );
}

#[test]
fn the_recorded_classes_of_reviewed_memory() {
    let folder = corpus();
    let text = std::fs::read_to_string(fixtures().join("khms/quote_cases.json")).unwrap();
    let cases: Vec<Value> = serde_json::from_str(&text).unwrap();
    let input: String = cases
        .iter()
        .map(|case| {
            format!(
                "{}\n",
                json!({"id": case["id"], "source": case["source"], "quote": case["quote"]})
            )
        })
        .collect();
    let (answers, _) = batch(folder.path(), &["--profile", "khms"], input.as_bytes());
    assert_eq!(answers.len(), cases.len());
    for (case, answer) in cases.iter().zip(&answers) {
        assert_eq!(answer["class"], case["expected_class"], "{answer}");
        assert_eq!(answer["detail"], case["expected_detail"], "{answer}");
        let stricter = case.get("recommended_strict_outcome").is_some();
        let vouches = case["expected_class"] != "ABSENT";
        assert_eq!(answer["verified"], vouches && !stricter, "{answer}");
    }
    // The project's own rules refuse or flag what the file wants refused.
    let (answers, _) = batch(folder.path(), &[], input.as_bytes());
    for (case, answer) in cases.iter().zip(&answers) {
        if case.get("recommended_strict_outcome").is_some() {
            let flagged = !answer["warnings"].as_array().unwrap().is_empty();
            assert!(answer["verified"] == false || flagged, "{answer}");
        }
    }
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let folder = corpus();
    let line = json!({"source": "we left at dawn", "quote": "we left at dawn"}).to_string() + "\n";
    let mut child = Command::new(env!("CARGO_BIN_EXE_kb"))
        .args(["quote", "--batch", "-"])
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().unwrap();
    for _ in 0..20_000 {
        if stdin.write_all(line.as_bytes()).is_err() {
            break;
        }
    }
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert!(
        output.status.code().is_some_and(|code| code <= 1),
        "{output:?}"
    );
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}
