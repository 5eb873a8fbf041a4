//! Which queries run for which edit: `minimality/cases.txt` holds a small corpus and, case by
//! case, edits and every query that they are to execute, in a session that goes on (`live`) and in
//! a new process with the cache of the one before (`warm`), with what changes in the findings.
//!
//! `KB_BLESS=1` writes what is found into the file; read the difference before committing it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use kbc::session::{Options, Session};
use kbc::workspace::Project;

#[path = "support/scripts.rs"]
mod scripts;

use scripts::{Death, Given, citable, citation, open, publish, write};

const CASES: &str = include_str!("minimality/cases.txt");

/// Names of executed queries, counted.
type Counts = Arc<Mutex<BTreeMap<String, usize>>>;

fn observed(counts: &Counts) -> Options {
    let counts = counts.clone();
    Options {
        observer: Some(Arc::new(move |name: &str| {
            let name = name.rsplit("::").next().unwrap_or(name);
            *counts.lock().unwrap().entry(name.to_owned()).or_default() += 1;
        })),
        sha256: true,
        ..Options::default()
    }
}

fn shown(counts: &Counts) -> String {
    let counts = std::mem::take(&mut *counts.lock().unwrap());
    if counts.is_empty() {
        return "nothing".to_owned();
    }
    let words: Vec<String> = counts
        .iter()
        .map(|(name, count)| match count {
            1 => name.clone(),
            count => format!("{name} ×{count}"),
        })
        .collect();
    words.join(", ")
}

/// A finding and where it points, in one line.
fn findings(session: &Session) -> BTreeSet<String> {
    let report = session.report();
    let mut lines: BTreeSet<String> = report
        .diagnostics
        .iter()
        .map(|diagnostic| {
            let file = diagnostic.file.as_deref().unwrap_or("-");
            let line = diagnostic.span.map_or(0, |span| span.line);
            let related: Vec<String> = diagnostic
                .related
                .iter()
                .map(|related| {
                    let line = related.span.map_or(0, |span| span.line);
                    format!(" -> {}:{line}", related.file)
                })
                .collect();
            format!("{file}:{line} {}{}", diagnostic.code, related.concat())
        })
        .collect();
    let ledger = report.ledger;
    lines.insert(format!(
        "exact {}, failed {}, unverifiable {}",
        ledger.exact, ledger.failed, ledger.unverifiable
    ));
    lines
}

fn unescape(text: &str) -> String {
    text.replace("\\n", "\n")
}

/// Writes the corpus; `{{id n | quote}}` becomes a citation of that chunk.
fn lay_out(root: &Path, text: &str) {
    let mut cards = Vec::new();
    for file in text.split(">>> ").skip(1) {
        let (path, content) = file.split_once('\n').unwrap();
        if path.starts_with("cards/") {
            cards.push((path, content));
        } else {
            write(root, path, content);
        }
    }
    let chunks = citable(root);
    for (path, content) in cards {
        let lines: Vec<String> = content
            .lines()
            .map(|line| {
                let Some(inner) = line.strip_prefix("{{").and_then(|l| l.strip_suffix("}}")) else {
                    return line.to_owned();
                };
                let (which, quote) = inner.split_once(" | ").unwrap();
                let words: Vec<&str> = which.split(' ').collect();
                let chunk = match words.as_slice() {
                    ["=", id, hash] => scripts::Citable {
                        source_id: id.split(':').next().unwrap().to_owned(),
                        chunk_id: (*id).to_owned(),
                        hash: (*hash).to_owned(),
                        page: 1,
                        text: String::new(),
                    },
                    [source, number] => chunks
                        .iter()
                        .filter(|chunk| chunk.source_id == *source)
                        .nth(number.parse().unwrap())
                        .unwrap_or_else(|| panic!("no chunk {number} of {source}"))
                        .clone(),
                    _ => panic!("{line}"),
                };
                citation(&chunk, quote).trim_end().to_owned()
            })
            .collect();
        write(root, path, lines.join("\n") + "\n");
    }
}

/// Does one edit; returns the paths that changed.
fn edit(root: &Path, command: &str) -> Vec<String> {
    let (verb, rest) = command.split_once(' ').unwrap();
    let parts: Vec<String> = rest.split(" | ").map(unescape).collect();
    let path = parts[0].clone();
    let at = root.join(&path);
    match (verb, parts.as_slice()) {
        ("touch", [_]) => fs::write(&at, fs::read(&at).unwrap()).unwrap(),
        ("replace", [_, from, to]) => {
            let text = fs::read_to_string(&at).unwrap();
            assert!(text.contains(from.as_str()), "{path} does not hold {from}");
            fs::write(&at, text.replacen(from.as_str(), to, 1)).unwrap();
        }
        ("append", [_, more]) => {
            let text = fs::read_to_string(&at).unwrap();
            fs::write(&at, text + more).unwrap();
        }
        ("write", [_, text]) => write(root, &path, text),
        ("delete", [_]) => fs::remove_file(&at).unwrap(),
        ("rename" | "copy", [_, to]) => {
            fs::create_dir_all(root.join(to).parent().unwrap()).unwrap();
            if verb == "copy" {
                fs::copy(&at, root.join(to)).unwrap();
            } else {
                fs::rename(&at, root.join(to)).unwrap();
            }
            return vec![path, to.clone()];
        }
        ("retract", [id]) => {
            let path = "out/chunks_manifest.json";
            let bytes = fs::read(root.join(path)).unwrap();
            let mut value: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
            value["retracted_chunk_ids"] = serde_json::json!([id]);
            write(root, path, value.to_string());
            return vec![path.to_owned()];
        }
        _ => panic!("no such edit: {command}"),
    }
    vec![path]
}

fn run(corpus: &str, commands: &[&str]) -> Vec<String> {
    let folder = scripts::folder();
    let root = folder.path();
    lay_out(root, corpus);
    publish(&mut open(root, true), Death::None);
    let counts = Counts::default();
    let project = || Project::open(root.to_path_buf()).unwrap();
    // The cache that a process leaves, and a session that goes on without one.
    open(root, false).record();
    let mut options = observed(&counts);
    options.no_cache = true;
    let mut live = Session::open(project(), options);
    let before = findings(&live);
    counts.lock().unwrap().clear();

    let changed: Vec<String> = commands
        .iter()
        .flat_map(|command| edit(root, command))
        .collect();
    live.update(&changed);
    let mut lines = vec![format!("live: {}", shown(&counts))];
    let mut warm = Session::open(project(), observed(&counts));
    lines.push(format!("warm: {}", shown(&counts)));
    warm.record();
    let mut again = Session::open(project(), observed(&counts));
    assert_eq!(shown(&counts), "nothing", "a second start derives again");
    let after = findings(&live);
    lines.extend(
        before
            .difference(&after)
            .map(|line| format!("gone: {line}")),
    );
    lines.extend(after.difference(&before).map(|line| format!("new: {line}")));

    let expected = Given::by(&mut open(root, true));
    for (what, session) in [
        ("live", &mut live),
        ("warm", &mut warm),
        ("again", &mut again),
    ] {
        assert_eq!(Given::by(session).difference(&expected), None, "{what}");
    }
    lines
}

#[test]
fn every_edit_executes_what_depends_on_it_and_nothing_else() {
    let mut blocks = CASES.split("# case ");
    let head = blocks.next().unwrap();
    let mut found = head.to_owned();
    for block in blocks {
        let mut lines = block.lines();
        let name = lines.next().unwrap();
        let is_result = |line: &&str| {
            ["live: ", "warm: ", "gone: ", "new: "]
                .iter()
                .any(|start| line.starts_with(start))
        };
        let commands: Vec<&str> = lines
            .filter(|line| !line.trim().is_empty() && !is_result(line))
            .collect();
        let result = std::panic::catch_unwind(|| run(head, &commands))
            .unwrap_or_else(|_| panic!("in the case: {name}"));
        found.push_str(&format!("# case {name}\n"));
        for line in commands.iter().map(|line| (*line).to_owned()).chain(result) {
            found.push_str(&line);
            found.push('\n');
        }
        found.push('\n');
    }
    let found = found.trim_end().to_owned() + "\n";
    if std::env::var_os("KB_BLESS").is_some() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/minimality/cases.txt");
        fs::write(path, found).unwrap();
        return;
    }
    for (expected, found) in CASES.split("# case ").zip(found.split("# case ")) {
        assert_eq!(found, expected);
    }
    assert_eq!(found, CASES);
}
