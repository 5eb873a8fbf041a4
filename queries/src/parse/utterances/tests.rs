//! Streams that are taken and streams that are not.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::*;
use crate::chunk::{CacgParams, Chunks, DocumentView, chunk_id, chunk_utterances};
use crate::emit::records::chunk_record;
use crate::parse::manifest::ChunkRecord;
use proptest::prelude::*;

const HEADER: &str = r#"{"schema_version":"cacg.utterances.v1","source_kind":"conversation"}"#;

fn said(ordinal: u32, text: &str) -> String {
    serde_json::json!({
        "ordinal": ordinal, "utterance_id": format!("u{ordinal}"), "speaker": "Ada",
        "is_author": ordinal % 2 == 1, "text": text,
    })
    .to_string()
}

fn stream(lines: &[&str]) -> String {
    format!("{HEADER}\n{}\n", lines.join("\n"))
}

fn faults(text: &str) -> Vec<String> {
    match parse(text.as_bytes()) {
        Ok(_) => Vec::new(),
        Err(problems) => problems
            .iter()
            .map(|problem| {
                assert_eq!(problem.code, INGEST_001);
                text[problem.span.clone()].to_owned()
            })
            .collect(),
    }
}

fn cut(stream: &Stream, params: CacgParams) -> Chunks {
    let pages = stream.pages();
    let view = DocumentView {
        text: &stream.text,
        pages: &pages,
        blocks: &[],
        paged: true,
    };
    chunk_utterances(view, &params).unwrap()
}

fn records(stream: &Stream, chunks: &Chunks) -> Vec<ChunkRecord> {
    chunks
        .list
        .iter()
        .map(|chunk| {
            let id = chunk_id("s", chunk.start_page, chunk.ordinal);
            chunk_record("s", id, chunk, chunks.text_of(&stream.text, chunk))
        })
        .collect()
}

#[test]
fn a_stream_is_read_and_each_utterance_is_a_page() {
    let second = r#"{"ordinal":2,"utterance_id":"b","speaker":"Bo","is_author":false,"text":"Zwei\n三。","authored_at":"2024-01-02","refs":{"post":"7"}}"#;
    let text = format!(
        "{HEADER}\r\n\n{}\r\n{second}",
        said(1, "One.\tAnd \u{a0}more.")
    );
    let stream = parse(text.as_bytes()).unwrap();
    assert_eq!(&*stream.source_kind, "conversation");
    assert_eq!(stream.text, "One.\tAnd \u{a0}more.\nZwei\n三。");
    assert_eq!(stream.pages(), [0..16, 17..28]);
    let second = &stream.utterances[1];
    assert_eq!((second.ordinal, &*second.utterance_id), (2, "b"));
    assert_eq!(second.authored_at.as_deref(), Some("2024-01-02"));
    assert_eq!(second.refs["post"], "7");
    assert!(!second.is_author && stream.utterances[0].is_author);
}

#[test]
fn each_fault_is_marked_where_it_stands() {
    let good = said(1, "One.");
    let with = |from: &str, to: &str| {
        assert!(good.contains(from), "{good}");
        good.replacen(from, to, 1)
    };
    let cases: &[(String, &[&str])] = &[
        (with("\"ordinal\":1", "\"ordinal\":2"), &["2"]),
        (with("\"ordinal\":1", "\"ordinal\":0"), &["0"]),
        (with("\"ordinal\":1", "\"ordinal\":1.0"), &["1.0"]),
        (with("\"ordinal\":1", "\"ordinal\":true"), &["true"]),
        (with("\"ordinal\":1", "\"ordinal\":\"1\""), &["\"1\""]),
        (with("\"ordinal\":1,", ""), &["{"]),
        (with("\"Ada\"", "\" \""), &["\" \""]),
        (with("\"Ada\"", "null"), &["null"]),
        (with("\"u1\"", "\"\""), &["\"\""]),
        (with("true", "1"), &["1"]),
        (with("One.", " \\n "), &["\" \\n \""]),
        (with("One.", "a\\u0007b"), &["\"a\\u0007b\""]),
        (with("One.", "a\\u0085b"), &["\"a\\u0085b\""]),
        (with("One.", "a\\u007fb"), &["\"a\\u007fb\""]),
        (with("One.", "a\u{FFFD}b"), &["\"a\u{FFFD}b\""]),
        (with("One.", "a\\ufffeb"), &["\"a\\ufffeb\""]),
        (with("One.", "a\\rb"), &["\"a\\rb\""]),
        (with("\"text\"", "\"txt\""), &["{", "\"txt\""]),
        (
            with("\"text\"", "\"speaker\":\"B\",\"text\""),
            &["\"speaker\""],
        ),
        (with("\"text\"", "\"refs\":[],\"text\""), &["[]"]),
        (with("\"text\"", "\"refs\":{\"a\":1},\"text\""), &["1"]),
        (
            with("\"text\"", "\"refs\":{\"a\":\"b\",\"a\":\"c\"},\"text\""),
            &["\"a\""],
        ),
        ("[]".to_owned(), &["[]"]),
    ];
    for (line, expected) in cases {
        assert_eq!(faults(&stream(&[line])), *expected, "{line}");
    }
    assert_eq!(faults(&stream(&["{nonsense"])).len(), 1);
    assert_eq!(faults(&stream(&[&good, &good])), ["1", "\"u1\""]);
    // A line that was left out is one problem.
    let lines = [said(1, "a"), said(3, "b"), said(4, "c")];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    assert_eq!(faults(&stream(&lines)), ["3"]);
    // A line that cannot be read uses up its ordinal.
    let lines = [said(1, "a"), "{".to_owned(), said(3, "c")];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    assert_eq!(faults(&stream(&lines)).len(), 1);
}

#[test]
fn each_fault_of_a_header_is_marked_where_it_stands() {
    let cases: &[(&str, &[&str])] = &[
        ("", &[""]),
        ("\n \n", &[""]),
        (HEADER, &[""]),
        ("[]\n", &["[]"]),
        (
            "{\"schema_version\":\"cacg.utterances.v2\",\"source_kind\":\"x\"}\n",
            &["\"cacg.utterances.v2\""],
        ),
        ("{\"schema_version\":\"cacg.utterances.v1\"}\n", &["{"]),
        (
            "{\"schema_version\":\"cacg.utterances.v1\",\"source_kind\":\"\"}\n",
            &["\"\""],
        ),
        (
            "{\"schema_version\":\"cacg.utterances.v1\",\"source_kind\":\"x\",\"metadata\":3}\n",
            &["3"],
        ),
        (
            "{\"schema_version\":\"cacg.utterances.v1\",\"source_kind\":\"x\",\"meta\":{}}\n",
            &["\"meta\""],
        ),
        ("\u{FEFF}{}\n", &["\u{FEFF}"]),
    ];
    for (text, expected) in cases {
        assert_eq!(faults(text), *expected, "{text}");
    }
    let problems = parse(b"{\"a\":\"\xFF\"}").unwrap_err();
    assert_eq!(problems[0].span, 6..7);
    let endless = "x\n".repeat(1000);
    assert_eq!(
        parse(stream(&[&endless]).as_bytes()).unwrap_err().len(),
        MOST_PROBLEMS
    );
}

#[test]
fn utterances_are_not_brought_to_normal_form_before_they_are_cut() {
    // As a page, `well-\nknown` would be joined before tokens are told apart.
    let text = said(1, "A well-\nknown e\u{301}tude of offers.");
    let parsed = parse(stream(&[&text, &said(2, "More.")]).as_bytes()).unwrap();
    let chunks = cut(&parsed, CacgParams::default());
    assert_eq!(chunks.list.len(), 1);
    assert_eq!(
        chunks.text(&parsed.text, 0),
        "A well- known \u{e9}tude of offers. More."
    );
    let chunk = &chunks.list[0];
    assert_eq!(chunk.token_count, 7);
    // Offsets are those of the text before the normal form: one more for the accent.
    let spans: Vec<(u32, u32)> = chunk
        .page_spans
        .iter()
        .map(|s| (s.page, s.offset))
        .collect();
    assert_eq!(spans, [(1, 0), (2, 32)]);
}

#[test]
fn a_locator_map_is_sealed_and_names_who_spoke() {
    let lines: Vec<String> = (1..=5).map(|n| said(n, "Some words of theirs.")).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let parsed = parse(stream(&lines).as_bytes()).unwrap();
    let records = records(&parsed, &cut(&parsed, CacgParams::default()));
    let sha = "0".repeat(64);
    let bytes = locator::sealed("s", &sha, &parsed.utterances, &records).unwrap();
    let map = locator::read(&bytes).unwrap();
    let ordinals: Vec<Vec<u32>> = map
        .locators
        .values()
        .map(|list| list.iter().map(|locator| locator.ordinal).collect())
        .collect();
    // The words of one utterance are carried into the next chunk.
    assert_eq!(ordinals, [[1, 2], [2, 3], [3, 4], [4, 5]]);
    for (record, list) in records.iter().zip(&ordinals) {
        let pages: Vec<u32> = (record.start_page..=record.end_page).collect();
        assert_eq!(*list, pages, "{}", record.chunk_id);
    }
    // Laid out in another way it is the same map; with another word it is another.
    let text = String::from_utf8(bytes).unwrap();
    assert_eq!(
        locator::read(text.replace(",\"", ", \"").as_bytes()),
        Ok(map)
    );
    let forged = text.replacen("Ada", "Eva", 1);
    assert_eq!(
        locator::read(forged.as_bytes()),
        Err(locator::LocatorError::SealBroken)
    );
    for broken in ["", "{}", "[]", "{\"seal\":3}", "{\"a\":1,\"a\":1}"] {
        assert!(locator::read(broken.as_bytes()).is_err(), "{broken}");
    }
}

proptest! {
    #[test]
    fn mutated_streams_never_panic(at in 0usize..300, length in 0usize..9, insert in "[\\[\\]{},:\"\\\\a0é\n]{0,3}") {
        let mut text = stream(&[&said(1, "One."), &said(2, "Zwei, drei.")]);
        let at = at.min(text.len());
        text.replace_range(at..(at + length).min(text.len()), &insert);
        if let Err(problems) = parse(text.as_bytes()) {
            for problem in problems {
                prop_assert!(text.get(problem.span).is_some());
            }
        }
    }
}
