//! `kb coverage`: what is cited by whom, and what is not.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::path::Path;

use serde_json::{Value, json};
use support::{fixtures, kb, write};

const RIVER: &str = "# River\r\n\r\nThe river rose by 5% in the first week.\r\n\r\n## Later\r\n\r\nIt fell after that,\r\nand nobody knew why.\r\n";

fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    write(
        &root.join("kb.toml"),
        "[[collection]]\nname = \"sources\"\ninclude = [\"sources/**\"]\nchunker = \"unit\"\n",
    );
    write(
        &root.join("source_matrix.json"),
        r#"{"allowed":{"r":["river","birds","handbook","page"]},"schema_version":"cacg.v0"}"#,
    );
    write(&root.join("sources/river.md"), RIVER);
    write(
        &root.join("sources/birds.csv"),
        "id,name,note\n1,heron,a tall grey bird\n2,owl,hunts at night\n",
    );
    write(
        &root.join("sources/page.html"),
        "<html><body>\n<p>The water was\nvery cold that day.</p>\n</body></html>\n",
    );
    write(
        &root.join("sources/handbook.pdf"),
        std::fs::read(fixtures().join("sources/handbook.pdf")).unwrap(),
    );
    write(&root.join("sources/broken.pdf"), "%PDF-1.7\nnothing");
    folder
}

fn card(root: &Path, name: &str, quotes: &[(&str, &str)], body: &str) {
    let mut citations = String::new();
    for (source, quote) in quotes {
        // A quote that does not stand there is cited from where another one does.
        let mut run = kb(root, &["cite", source, quote]);
        if run.status != 0 {
            run = kb(
                root,
                &["cite", source, "The river rose by 5% in the first week."],
            );
            run.stdout = run
                .stdout
                .replace("The river rose by 5% in the first week.", quote);
        }
        assert_eq!(run.status, 0, "{run:?}");
        citations.push_str(&run.stdout);
    }
    write(
        &root.join(format!("cards/r/{name}.md")),
        format!(
            "---\nschema_version: \"cacg.v0\"\nid: \"{name}\"\ntitle: \"The {name}\"\nreading_id: \"r\"\nsummary: \"A summary of the card that says what it says in some words, and then goes on for a while.\"\ntags: [\"tag\"]\ncitations:\n{citations}---\n{body}\n"
        ),
    );
}

fn lines(root: &Path, arguments: &[&str]) -> Vec<Value> {
    let mut all = vec!["coverage", "--format", "json"];
    all.extend(arguments);
    let run = kb(root, &all);
    assert_eq!(run.status, 0, "{run:?}");
    run.stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn source<'a>(lines: &'a [Value], id: &str) -> &'a Value {
    lines.iter().find(|line| line["source_id"] == id).unwrap()
}

/// For each chunk: its lines or pages, and the cards that cite it.
fn cited(source: &Value) -> Vec<(Value, Vec<String>)> {
    source["chunks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|chunk| {
            let place = chunk.get("lines").or(chunk.get("pages")).unwrap().clone();
            let cards: Vec<String> = chunk["cited_by"]
                .as_array()
                .unwrap()
                .iter()
                .map(|cite| format!("{}#{}", cite["card"].as_str().unwrap(), cite["citation"]))
                .collect();
            assert_eq!(chunk["cited"], !cards.is_empty());
            (place, cards)
        })
        .collect()
}

#[test]
fn sources_say_who_cites_what() {
    let folder = project();
    let root = folder.path();
    card(
        root,
        "a",
        &[
            ("river", "and nobody knew why"),
            ("birds", "hunts at night"),
        ],
        "Nobody knew why it fell.\n\nUnrelated sentence here. The owl hunts.",
    );
    card(
        root,
        "b",
        &[
            ("river", "and nobody knew why"),
            ("river", "The river rose by 6% in the first week."),
            ("handbook", "No offering is accepted twice in 30 days."),
        ],
        "Body.",
    );
    let all = lines(root, &[]);

    let river = source(&all, "river");
    let chunks = cited(river);
    let hit: Vec<&(Value, Vec<String>)> = chunks
        .iter()
        .filter(|(_, cards)| !cards.is_empty())
        .collect();
    // The quote that fails covers nothing.
    assert_eq!(hit.len(), 1, "{river}");
    assert_eq!(hit[0].1, ["cards/r/a.md#0", "cards/r/b.md#0"]);
    let spans = &river["chunks"]
        .as_array()
        .unwrap()
        .iter()
        .find(|chunk| chunk["cited"] == true)
        .unwrap()["cited_by"][0]["spans"];
    assert_eq!(spans[0]["lines"], json!([8, 8]), "{river}");
    assert_eq!(river["quoted_bytes"], "and nobody knew why".len());
    assert!(river["bytes"].as_u64().unwrap() > 60);

    let birds = cited(source(&all, "birds"));
    assert!(
        birds.contains(&(json!([3, 3]), vec!["cards/r/a.md#1".to_owned()])),
        "{birds:?}"
    );
    assert!(birds.contains(&(json!([2, 2]), vec![])), "{birds:?}");

    let handbook = cited(source(&all, "handbook"));
    assert!(
        handbook.contains(&(json!([3, 3]), vec!["cards/r/b.md#2".to_owned()])),
        "{handbook:?}"
    );
    assert!(
        handbook
            .iter()
            .any(|(pages, cards)| *pages == json!([1, 1]) && cards.is_empty())
    );

    let broken = source(&all, "broken");
    assert!(broken["reason"].is_string(), "{broken}");
    assert_eq!(broken["chunk_count"], 0);

    let a = all
        .iter()
        .find(|line| line["card"] == "cards/r/a.md")
        .unwrap();
    assert_eq!(a["sentences"], 3);
    let bare = a["without_citation"].as_array().unwrap();
    assert_eq!(bare.len(), 1, "{a}");
    assert_eq!(bare[0]["text"], "Unrelated sentence here.");
    let text = std::fs::read_to_string(root.join("cards/r/a.md")).unwrap();
    let line = text
        .lines()
        .position(|line| line.starts_with("Unrelated"))
        .unwrap()
        + 1;
    assert_eq!(bare[0]["line"], line);

    let last = &all.last().unwrap()["coverage"];
    assert_eq!(last["sources"], 5);
    assert_eq!(last["cited_chunks"], 3);
    assert_eq!(last["cards"], 2);
    // Again, from the cache, and in another number of threads: the same.
    assert_eq!(lines(root, &[]), all);
    assert_eq!(lines(root, &["--threads", "1"]), all);
}

#[test]
fn one_source_can_be_asked_about() {
    let folder = project();
    let root = folder.path();
    card(root, "a", &[("river", "and nobody knew why")], "Body.");
    card(root, "b", &[("birds", "hunts at night")], "Body.");
    let some = lines(root, &["sources/birds.csv"]);
    assert_eq!(some.len(), 3, "{some:?}");
    assert_eq!(some[0]["source_id"], "birds");
    assert_eq!(some[1]["card"], "cards/r/b.md");
    let run = kb(root, &["coverage", "bird"]);
    assert_eq!(run.status, 2);
    assert!(run.stderr.contains("did you mean `birds`"), "{run:?}");
}

#[test]
fn lcov_counts_lines_of_the_file() {
    let folder = project();
    let root = folder.path();
    card(
        root,
        "a",
        &[
            ("river", "It fell after that, and nobody knew why."),
            ("page", "The water was very cold"),
        ],
        "Body.",
    );
    card(
        root,
        "b",
        &[
            ("river", "nobody knew why"),
            ("handbook", "No offering is accepted twice"),
        ],
        "Body.",
    );
    let run = kb(root, &["coverage", "--format", "lcov"]);
    assert_eq!(run.status, 0, "{run:?}");
    let record = |path: &str| -> Vec<String> {
        let text = run
            .stdout
            .replace("end_of_record\n", "end_of_record\n\u{0}");
        text.split('\u{0}')
            .find(|record| record.contains(&format!("SF:{path}\n")))
            .unwrap_or_else(|| panic!("{path}: {}", run.stdout))
            .lines()
            .map(str::to_owned)
            .collect()
    };
    assert_eq!(
        record("sources/river.md"),
        [
            "TN:",
            "SF:sources/river.md",
            "DA:1,0",
            "DA:3,0",
            "DA:5,0",
            "DA:7,1",
            "DA:8,2",
            "LF:5",
            "LH:2",
            "end_of_record"
        ]
    );
    let page = record("sources/page.html");
    assert!(
        page.contains(&"DA:2,1".to_owned()) && page.contains(&"DA:3,1".to_owned()),
        "{page:?}"
    );
    assert!(!run.stdout.contains("handbook.pdf"), "{}", run.stdout);
    assert!(!run.stdout.contains("broken.pdf"));
}

#[test]
fn people_are_told_what_is_not_cited() {
    let folder = project();
    let root = folder.path();
    card(
        root,
        "a",
        &[("river", "and nobody knew why")],
        "Something else entirely.",
    );
    let run = kb(root, &["coverage", "river"]);
    assert_eq!(run.status, 0, "{run:?}");
    for words in [
        "sources/river.md (river): 1 of ",
        "cards/r/a.md  citations[0]  line 8",
        "not cited: ",
        "cards/r/a.md: 0 of 1 sentence near a quote",
        ": Something else entirely.",
        "1 source: 1 of ",
    ] {
        assert!(run.stdout.contains(words), "{words}: {}", run.stdout);
    }
}

#[test]
fn nothing_is_changed_and_an_empty_project_is_fine() {
    let folder = tempfile::tempdir().unwrap();
    write(&folder.path().join("kb.toml"), "");
    for format in ["full", "json", "lcov"] {
        let run = kb(folder.path(), &["coverage", "--format", format]);
        assert_eq!(
            (run.status, run.stderr.as_str()),
            (0, ""),
            "{format} {run:?}"
        );
    }
    let mut names: Vec<_> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    names.sort();
    assert!(
        names.iter().all(|name| name == "kb.toml" || name == ".kb"),
        "{names:?}"
    );
}

#[test]
fn a_quote_with_context_covers_the_place_that_it_means() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    write(
        &root.join("source_matrix.json"),
        r#"{"allowed":{"r":["twice"]},"schema_version":"cacg.v0"}"#,
    );
    write(
        &root.join("sources/twice.md"),
        "In winter the valve stays closed at night.\n\nIn summer the valve stays closed at noon.\n",
    );
    card(
        root,
        "c",
        &[("twice", "In winter the valve stays closed")],
        "Body.",
    );
    let path = root.join("cards/r/c.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let text = text.replace("cacg.v0", "kb.v1").replace(
        "    quote: \"In winter the valve stays closed\"\n",
        "    quote: \"the valve stays closed\"\n    suffix: \" at noon\"\n",
    );
    assert!(text.contains("suffix"), "{text}");
    write(&path, text);
    let all = lines(root, &[]);
    let chunk = &source(&all, "twice")["chunks"][0];
    assert_eq!(
        chunk["cited_by"][0]["spans"][0]["lines"],
        json!([3, 3]),
        "{chunk}"
    );
}
