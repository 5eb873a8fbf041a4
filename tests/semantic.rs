//! The semantic layer from outside: caches, the judge against a server of this test, and the policy.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "support/base.rs"]
mod base;
mod support;

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;

use base::Base;
use serde_json::{Value, json};
use support::{Run, kb};

const CORPUS: &str = "fixtures/cacg/tests/parity_corpus";

/// Runs `kb` with a key in its environment.
fn kb_with_key(folder: &Path, key: &str, arguments: &[&str]) -> Run {
    let output = Command::new(env!("CARGO_BIN_EXE_kb"))
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .env("LANG", "C.UTF-8")
        .env("LOCAL_API_KEY", key)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    Run {
        status: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// The findings with this code, and the ledger, of a run with `--json`.
fn findings(run: &Run, code: &str) -> (Vec<Value>, Value) {
    let mut found = Vec::new();
    let mut ledger = Value::Null;
    for line in run.stdout.lines() {
        let value: Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("{run:?}"));
        if value["code"] == code {
            found.push(value);
        } else if !value["ledger"].is_null() {
            ledger = value["ledger"].clone();
        }
    }
    (found, ledger)
}

/// A project with one citation that verifies and one, a paraphrase, that does not.
fn project(settings: &str) -> Base {
    let base = Base::new(settings, &["spec"]);
    base.write(
        "sources/spec.md",
        "# Tree hashing\n\nEach leaf is hashed with a zero byte in front of its text.\nEach inner node is hashed with a one byte in front of its children.\n",
    );
    let cite = base.run(&["cite", "spec", "Each leaf is hashed with a zero byte"], 0);
    let false_one = cite.stdout.replace(
        "Each leaf is hashed with a zero byte",
        "Every leaf's hash has a zero byte before the text.",
    );
    base.write(
        "cards/a.md",
        &format!(
            "---\nschema_version: \"cacg.v0\"\nid: \"a\"\ntitle: \"A\"\nreading_id: \"r\"\nsummary: \"{}\"\ncitations:\n{}{false_one}---\nBody.\n",
            "A summary that is long enough to be one, and says nothing else. ".repeat(2),
            cite.stdout,
        ),
    );
    base
}

/// A server on this machine that answers each connection with the next of these bodies, and tells
/// what it was sent. `None`: it takes the request and never answers.
struct Server {
    address: String,
    requests: mpsc::Receiver<String>,
}

impl Server {
    fn start(responses: Vec<Option<(u16, String)>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (sender, requests) = mpsc::channel();
        thread::spawn(move || {
            let mut held = Vec::new();
            for response in responses {
                let Ok((mut stream, _)) = listener.accept() else {
                    return;
                };
                if sender.send(read_request(&mut stream)).is_err() {
                    return;
                }
                match response {
                    Some((status, body)) => {
                        let _ = write!(
                            stream,
                            "HTTP/1.1 {status} X\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                            body.len()
                        );
                    }
                    None => held.push(stream),
                }
            }
            // What is held ends with the test's process.
            thread::park();
        });
        Server { address, requests }
    }

    fn settings(&self, judge: &str, more: &str) -> String {
        format!(
            "[semantic]\njudge = \"{judge}\"\nendpoint = \"http://{}/v1\"\nmodel = \"m\"\nkey_env = \"LOCAL_API_KEY\"\n{more}\n",
            self.address
        )
    }
}

/// The head and the body of one request.
fn read_request(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let count = stream.read(&mut buffer).unwrap_or(0);
        bytes.extend_from_slice(&buffer[..count]);
        let text = String::from_utf8_lossy(&bytes).to_string();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .filter_map(|line| line.split_once(": "))
                .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
                .map_or(0, |(_, length)| length.parse().unwrap());
            if body.len() >= length {
                return text;
            }
        }
        if count == 0 {
            return text;
        }
    }
}

fn anthropic(answer: &str) -> Option<(u16, String)> {
    let body = json!({"content": [{"type": "text", "text": answer}], "stop_reason": "end_turn"});
    Some((200, body.to_string()))
}

fn openai(answer: &str) -> Option<(u16, String)> {
    let body = json!({"choices": [{"message": {"content": answer}, "finish_reason": "stop"}]});
    Some((200, body.to_string()))
}

const PASS: &str =
    r#"{"verdict":"pass","score":0.9,"reasoning":"Both say that a zero byte comes first."}"#;

#[test]
fn the_contract_s_cache_beside_the_contract_s_manifest() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().unwrap();
    let at = |path: &str| root.join(CORPUS).join(path).display().to_string();
    let card = at("semantic/card.md");
    let check = |cache: &str| {
        kb(
            folder.path(),
            &[
                "check",
                &card,
                "--semantic",
                cache,
                "--json",
                "--chunks-manifest",
                &at("out_python/chunks_manifest.json"),
                "--source-matrix",
                &at("out_python/source_matrix.json"),
            ],
        )
    };
    let golden = fs::read_to_string(
        root.join(CORPUS)
            .join("out_python/parity_rows/kb_verify_semantic_parity_golden/py-out/card.stderr"),
    )
    .unwrap();
    let run = check(&at("semantic/semantic_cache.json"));
    assert_eq!(run.status, 1, "{run:?}");
    let (found, _) = findings(&run, "CACG-VERIFY-002");
    assert_eq!(found.len(), 1, "{run:?}");
    let line = format!("CACG-VERIFY-002 {}", found[0]["message"].as_str().unwrap());
    assert!(golden.contains(&line), "{line}");
    assert_eq!(found[0]["severity"], "error");

    let empty = folder.path().join("empty.json");
    fs::write(&empty, r#"{"entries":[],"schema_version":"cacg.v0"}"#).unwrap();
    let (found, _) = findings(&check(empty.to_str().unwrap()), "CACG-VERIFY-002");
    let journal = fs::read_to_string(root.join(CORPUS).join(
        "out_python/parity_rows/kb_verify_semantic_miss_parity_golden/py-out/card.lint_journal.jsonl",
    ))
    .unwrap();
    let event: Value = serde_json::from_str(journal.trim()).unwrap();
    let golden = &event["diagnostics"][1];
    assert_eq!(found[0]["message"], golden["message"]);
    assert_eq!(found[0]["severity"], golden["severity"]);
    assert_eq!(found[0]["data"], golden["hints"][0]);
}

#[test]
fn a_cache_is_built_and_says_which_model_made_it() {
    let base = project("");
    let run = base.run(&["semantic", "build"], 0);
    assert!(
        run.stdout.contains("1 claim (1 pass, 0 abstain, 0 fail)"),
        "{run:?}"
    );
    let cache = base.read("out/semantic_cache.json");
    let sidecar: Value =
        serde_json::from_str(&base.read("out/semantic_cache.json.model.json")).unwrap();
    assert!(
        sidecar["embedding_model_version"]
            .as_str()
            .unwrap()
            .starts_with("static-minilm-256-i8@")
    );
    assert_eq!(sidecar["scored"], "passage");
    base.run(&["semantic", "build", "--out", "again/c.json"], 0);
    assert_eq!(
        base.read("again/c.json"),
        cache,
        "the same inputs give the same cache"
    );
    let all = base.run(&["semantic", "build", "--all", "--out", "all.json"], 0);
    assert!(all.stdout.contains("2 claims"), "{all:?}");

    // Under the contract's profile it is the contract's scale.
    base.write("kb.toml", "profile = \"cacg\"\n");
    base.run(&["semantic", "build"], 0);
    let sidecar: Value =
        serde_json::from_str(&base.read("out/semantic_cache.json.model.json")).unwrap();
    assert_eq!(
        (&sidecar["scored"], &sidecar["pass_from"]),
        (&json!("chunk"), &json!(0.5))
    );
}

#[test]
fn the_model_of_a_folder() {
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("queries/models/static-minilm-256-i8");
    let base = project("[index]\nembedder = \"dir:model\"\n");
    let run = base.kb(&["semantic", "build"]);
    assert_eq!(run.status, 2, "{run:?}");
    assert!(run.stderr.contains("cannot be read"), "{run:?}");
    for name in ["model.safetensors", "tokenizer.json", "config.json"] {
        fs::create_dir_all(base.path("model")).unwrap();
        fs::copy(model.join(name), base.path(&format!("model/{name}"))).unwrap();
    }
    let own = base.run(&["semantic", "build"], 0);
    assert!(
        own.stderr.contains("measured with the built-in model"),
        "{own:?}"
    );
    let cache = base.read("out/semantic_cache.json");
    base.write("kb.toml", "");
    base.run(&["semantic", "build"], 0);
    assert_eq!(base.read("out/semantic_cache.json"), cache);
}

#[test]
fn only_rescue_makes_a_failure_a_warning_and_never_a_verified_one() {
    let base = project("");
    base.run(&["semantic", "build"], 0);
    let cache = ["--semantic", "out/semantic_cache.json", "--json"];
    let check = |more: &[&str]| {
        let mut arguments = vec!["check"];
        arguments.extend(cache);
        arguments.extend(more);
        base.kb(&arguments)
    };
    let counts = |ledger: &Value| {
        ["exact", "semantic", "failed", "errors", "warnings"]
            .map(|key| ledger[key].as_u64().unwrap())
    };
    let advisory = check(&[]);
    assert_eq!(advisory.status, 1);
    assert_eq!(counts(&findings(&advisory, "").1), [1, 0, 1, 1, 1]);
    let rescue = check(&["--semantic-policy", "rescue"]);
    assert_eq!(rescue.status, 0, "{rescue:?}");
    let (found, ledger) = findings(&rescue, "CACG-VERIFY-001");
    assert_eq!(counts(&ledger), [1, 1, 0, 0, 2]);
    assert_eq!(found[0]["severity"], "warning");
    assert_eq!(
        check(&["--semantic-policy", "rescue", "--deny", "warnings"]).status,
        1
    );

    // By the settings too; the command line has the last word.
    base.write("kb.toml", "[semantic]\npolicy = \"rescue\"\n");
    assert_eq!(check(&[]).status, 0);
    assert_eq!(check(&["--semantic-policy", "advisory"]).status, 1);
    // Without an evaluator there is nothing to rescue.
    assert_eq!(base.kb(&["check", "--semantic-policy", "rescue"]).status, 1);

    // A claim that differs in a number is not rescued.
    base.edit(
        "cards/a.md",
        "a zero byte before the text",
        "2 zero bytes before the text",
    );
    base.run(&["semantic", "build"], 0);
    assert_eq!(check(&["--semantic-policy", "rescue"]).status, 1);
}

#[test]
fn both_interfaces_of_a_judge() {
    for (judge, response, header) in [
        ("anthropic", anthropic(PASS), "x-api-key: sesame"),
        ("openai", openai(PASS), "authorization: bearer sesame"),
    ] {
        let server = Server::start(vec![response]);
        let base = project(&server.settings(judge, ""));
        let run = kb_with_key(
            base.root(),
            "sesame",
            &["check", "--semantic-judge", "--json"],
        );
        assert_eq!(run.status, 1, "{run:?}");
        let (found, ledger) = findings(&run, "CACG-VERIFY-002");
        assert_eq!(
            found[0]["message"],
            "semantic verdict=pass score=0.900000 mode=llm-judge reasoning=Both say that a zero byte comes first."
        );
        assert_eq!((found.len(), &ledger["failed"]), (1, &json!(1)));
        let request = server.requests.recv().unwrap();
        let (head, body) = request.split_once("\r\n\r\n").unwrap();
        assert!(head.to_lowercase().contains(header), "{head}");
        assert!(head.starts_with("POST /v1 HTTP/1.1"), "{head}");
        let body: Value = serde_json::from_str(body).unwrap();
        let user = body["messages"].as_array().unwrap().last().unwrap();
        let data: Value = serde_json::from_str(user["content"].as_str().unwrap()).unwrap();
        assert_eq!(
            data["claim"],
            "Every leaf's hash has a zero byte before the text."
        );
        assert!(
            data["passage"]
                .as_str()
                .unwrap()
                .contains("Each leaf is hashed")
        );
        assert!(server.requests.try_recv().is_err(), "one request per claim");
        for text in [&run.stdout, &run.stderr] {
            assert!(!text.contains("sesame"), "{text}");
        }
        assert!(
            run.stderr
                .contains(&format!("asking m at http://{}/v1", server.address))
        );
    }
}

#[test]
fn a_judge_that_gives_no_answer_is_an_error_beside_the_failure() {
    let closed = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap().to_string()
    };
    let table = [
        (anthropic("It passes."), "malformed"),
        (
            anthropic(r#"{"verdict":"pass","score":9,"reasoning":""}"#),
            "`score`",
        ),
        (Some((429, "{}".to_owned())), "HTTP status 429"),
        (Some((302, String::new())), "HTTP status 302"),
        (Some((200, "<html>".to_owned())), "no JSON"),
        (Some((200, format!("\"{}\"", "x".repeat(2 << 20)))), ""),
        (None, "no answer within 1 s"),
    ];
    for (response, words) in table {
        let server = Server::start(vec![response]);
        let base = project(&server.settings("anthropic", "timeout = 1"));
        let arguments = [
            "check",
            "--semantic-judge",
            "--semantic-policy",
            "rescue",
            "--json",
        ];
        let run = kb_with_key(base.root(), "sesame", &arguments);
        assert_eq!(run.status, 1, "{words}: {run:?}");
        let (found, ledger) = findings(&run, "CACG-VERIFY-002");
        assert_eq!(found[0]["severity"], "error");
        let message = found[0]["message"].as_str().unwrap();
        assert!(
            message.contains("gave no answer") && message.contains(words),
            "{message}"
        );
        assert_eq!(
            (&ledger["semantic"], &ledger["failed"]),
            (&json!(0), &json!(1))
        );
    }
    let settings = format!(
        "[semantic]\njudge = \"anthropic\"\nendpoint = \"http://{closed}/\"\nkey_env = \"LOCAL_API_KEY\"\n"
    );
    let base = project(&settings);
    let run = kb_with_key(
        base.root(),
        "sesame",
        &["check", "--semantic-judge", "--json"],
    );
    assert_eq!(findings(&run, "CACG-VERIFY-002").0[0]["severity"], "error");
    // No key, no request.
    let run = base.kb(&["check", "--semantic-judge", "--json"]);
    let (found, _) = findings(&run, "CACG-VERIFY-002");
    assert!(
        found[0]["message"]
            .as_str()
            .unwrap()
            .contains("LOCAL_API_KEY holds no key")
    );
}

#[test]
fn a_dead_server_is_given_up_and_the_same_claim_asked_once() {
    let server = Server::start(vec![Some((500, String::new())); 3]);
    let base = project(&server.settings("anthropic", ""));
    // Six claims: the same one twice, and five others.
    let card = base.read("cards/a.md");
    let (head, citations) = card.split_once("citations:\n").unwrap();
    let (citations, _) = citations.split_once("---\n").unwrap();
    let failing = &citations[citations.rfind("  - source_id").unwrap()..];
    let mut all = failing.repeat(2);
    for at in 0..5 {
        all.push_str(&failing.replace("Every leaf's", &format!("Number {at}: every leaf's")));
    }
    base.write(
        "cards/a.md",
        &format!("{head}citations:\n{all}---\nBody.\n"),
    );
    let run = kb_with_key(
        base.root(),
        "sesame",
        &["check", "--semantic-judge", "--json"],
    );
    let (found, _) = findings(&run, "CACG-VERIFY-002");
    let count = |words: &str| {
        let said = found.iter();
        said.filter(|finding| finding["message"].as_str().unwrap().contains(words))
            .count()
    };
    assert_eq!(
        (found.len(), count("HTTP status 500"), count("not asked")),
        (7, 4, 3),
        "{run:?}"
    );
    assert_eq!(server.requests.try_iter().count(), 3);
}

#[test]
fn wrong_usage() {
    let base = project("");
    for (arguments, words) in [
        (vec!["check", "--semantic-judge"], "no judge is configured"),
        (
            vec!["check", "--semantic-judge", "--semantic", "c.json"],
            "cannot be used with",
        ),
        (
            vec!["semantic", "build", "--pass", "2"],
            "a number from 0 to 1",
        ),
        (
            vec!["semantic", "build", "--pass", "0.5", "--fail", "0.6"],
            "--fail is above --pass",
        ),
    ] {
        let run = base.kb(&arguments);
        assert_eq!(run.status, 2, "{run:?}");
        assert!(run.stderr.contains(words), "{run:?}");
    }
    let run = base.kb(&["check", "--semantic", "absent.json", "--json"]);
    assert_eq!(
        (run.status, findings(&run, "CACG-MAN-001").0.len()),
        (1, 1),
        "{run:?}"
    );
    base.write("kb.toml", "[index]\nembedder = \"ollama:x\"\n");
    let run = base.kb(&["semantic", "build"]);
    assert_eq!(run.status, 2);
    assert!(run.stderr.contains("asks a server"), "{run:?}");
}
