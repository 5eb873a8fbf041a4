//! Manifests in, reasons out.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use proptest::prelude::*;

use super::*;

macro_rules! fixture {
    ($name:literal) => {
        include_str!(concat!(
            "../../../../fixtures/cacg/tests/parity_corpus/out_python/",
            $name
        ))
    };
}

const CHUNKS: &str = fixture!("chunks_manifest.json");
const CARDS: &str = fixture!("cards_manifest.json");
const SUMMARIES: &str = fixture!("summaries.json");
const SOURCES: &str = r#"{"schema_version":"cacg.v0","sources":[{"extracted_at":"1970-01-01T00:00:00Z","page_count":3,"parser_name":"p","parser_version":"1","schema_version":"cacg.v0","source_id":"sample","source_path":"sources/sample.pdf","source_sha256":"1694a2598d8402ee06f8c0be6a1defd8a3f85b2d7f896c25fa67b8c671a37895"}]}"#;

fn reason<T>(result: Result<T, Box<Problem>>) -> String {
    match result {
        Ok(_) => "fine".to_owned(),
        Err(problem) => format!("{} {}", &problem.code.as_str()[5..], problem.message),
    }
}

#[test]
fn fixtures_are_read_and_written_byte_for_byte() {
    assert_eq!(
        serde_json::to_string(&read_chunks(CHUNKS.as_bytes()).unwrap()).unwrap(),
        CHUNKS
    );
    assert_eq!(
        serde_json::to_string(&read_cards(CARDS.as_bytes()).unwrap()).unwrap(),
        CARDS
    );
    let summaries = read_summaries(SUMMARIES.as_bytes()).unwrap();
    assert_eq!(serde_json::to_string(&summaries).unwrap(), SUMMARIES);
    assert_eq!(
        serde_json::to_string(&read_sources(SOURCES.as_bytes()).unwrap()).unwrap(),
        SOURCES
    );
}

#[test]
fn the_light_reader_sees_what_the_full_one_sees() {
    let text = CHUNKS
        .replace(
            r#""retracted_chunk_ids":[]"#,
            r#""retracted_chunk_ids":["a:p1:0","b:p1:0"]"#,
        )
        .replace(
            r#""retracted_source_ids":[]"#,
            r#""retracted_source_ids":["old"]"#,
        );
    let light = read_retractions(text.as_bytes()).unwrap();
    assert_eq!(light, read_chunks(text.as_bytes()).unwrap().retractions());
    assert!(light.has_chunk("b:p1:0") && !light.has_chunk("c:p1:0") && light.has_source("old"));
    assert!(reason(read_retractions(br#"{"schema_version":"cacg.v0"}"#)).starts_with("MAN-001"));
}

#[test]
fn broken_chunks_are_named() {
    let cases = [
        ("", "", "fine"),
        (
            "\"token_count\":149",
            "\"token_count\":0",
            "chunk `sample:p002:0001`: `token_count` is 0",
        ),
        (
            "\"chunk_hash\":\"1694a",
            "\"chunk_hash\":\"1694A",
            "chunk `sample:p001:0000`: `chunk_hash` is not 64 lower-case",
        ),
        (
            "\"end_page\":2",
            "\"end_page\":0",
            "pages 1 to 0 are no page range",
        ),
        (
            "\"start_page\":1",
            "\"start_page\":0",
            "pages 0 to 2 are no page range",
        ),
        (
            "706,\"page\":2",
            "0,\"page\":2",
            "the offset 0 of page 2 does not increase",
        ),
        ("706,\"page\":2", "706,\"page\":1", "page 1 begins twice"),
        (
            "706,\"page\":2",
            "706,\"page\":3",
            "page 3 is outside its pages 1 to 2",
        ),
        (
            "706,\"page\":2",
            "9999,\"page\":2",
            "page 2 begins at 9999, beyond",
        ),
        (
            "\"sample:p002:0001\"",
            "\"sample:p001:0000\"",
            "the chunk `sample:p001:0000` is listed twice",
        ),
        (
            "\"retracted_chunk_ids\":[]",
            "\"retracted_chunk_ids\":[\"sample:p001:0000\"]",
            "is both active and retracted",
        ),
        (
            "\"retracted_source_ids\":[]",
            "\"retracted_source_ids\":[\"sample\"]",
            "its source `sample` retracted",
        ),
        (
            "\"retracted_source_ids\":[]",
            "\"retracted_source_ids\":[\"b\",\"a\"]",
            "is not sorted: `a` comes after `b`",
        ),
        (
            "\"retracted_source_ids\":[]",
            "\"retracted_source_ids\":[\"b\",\"b\"]",
            "holds `b` twice",
        ),
        (
            "\"retracted_source_ids\":[]",
            "\"retracted_source_ids\":[\"\"]",
            "holds an empty id",
        ),
        (
            "\"retracted_source_ids\":[]",
            "\"extra\":[]",
            "unknown field `extra`",
        ),
        (
            "\"ordinal\":0",
            "\"ordinal\":-1",
            "invalid value: integer `-1`",
        ),
        (
            "\"ordinal\":0",
            "\"ordinal\":true",
            "invalid type: boolean `true`",
        ),
        (
            "\"schema_version\":\"cacg.v0\"",
            "\"schema_version\":\"cacg.v1\"",
            "expected schema_version \"cacg.v0\"",
        ),
    ];
    for (from, to, expected) in cases {
        assert!(CHUNKS.contains(from), "{from}");
        let found = reason(read_chunks(CHUNKS.replacen(from, to, 1).as_bytes()));
        assert!(
            found.contains(expected),
            "{found:?} should hold {expected:?}"
        );
    }
}

#[test]
fn broken_lists_are_named() {
    let id = "content-addressable-identity";
    let cases = [
        (
            CARDS.replace(
                "\"retracted_cards\":[]",
                &format!("\"retracted_cards\":[\"{id}\"]"),
            ),
            "both active and retracted",
        ),
        (
            CARDS.replace(
                "\"dependency_retracted_cards\":[]",
                "\"dependency_retracted_cards\":[\"x\"]",
            ),
            "`x` is dependency-retracted but not active",
        ),
        (
            CARDS.replace(
                "\"dependency_retracted_cards\":[]",
                &format!("\"dependency_retracted_cards\":[\"{id}\"]"),
            ),
            "fine",
        ),
        (
            CARDS.replace(
                "\"source_ids\":[\"sample\"]",
                "\"source_ids\":[\"b\",\"a\"]",
            ),
            "is not sorted",
        ),
        (
            CARDS.replace("\"determinism-is-a-kept-promise\"", &format!("\"{id}\"")),
            "is listed twice",
        ),
        (
            CARDS.replace("\"citation_count\":1", "\"citation_count\":1.5"),
            "invalid type",
        ),
    ];
    for (text, expected) in cases {
        assert_ne!(text, CARDS);
        let found = reason(read_cards(text.as_bytes()));
        assert!(
            found.contains(expected),
            "{found:?} should hold {expected:?}"
        );
    }
    let without = SUMMARIES.replacen("\"source_ids\":[\"sample\"],", "", 1);
    assert!(reason(read_summaries(without.as_bytes())).starts_with("SUM-007"));
    let none = SOURCES.replace("\"page_count\":3", "\"page_count\":0");
    assert!(reason(read_sources(none.as_bytes())).contains("source `sample`: `page_count` is 0"));
}

#[test]
fn json_errors_point_at_their_place() {
    let text = "{\"schema_version\":\"cacg.v0\",\n \"sources\": [}";
    let problem = read_sources(text.as_bytes()).unwrap_err();
    assert_eq!(&text[problem.span], "}");
    assert!(
        problem.message.ends_with("(line 2, column 14)"),
        "{}",
        problem.message
    );
}

proptest! {
    #[test]
    fn mutated_manifests_never_panic(at in 0usize..5000, length in 0usize..40, insert in "[\\[\\]{},:\"\\\\a0é\n-]{0,3}") {
        for text in [CHUNKS, CARDS, SUMMARIES, SOURCES] {
            let mut bytes = text.as_bytes().to_vec();
            let at = at % bytes.len();
            let end = (at + length).min(bytes.len());
            bytes.splice(at..end, insert.bytes());
            let outcomes = [read_chunks(&bytes).err(), read_cards(&bytes).err(), read_summaries(&bytes).err(), read_sources(&bytes).err(), read_retractions(&bytes).err()];
            for problem in outcomes.into_iter().flatten() {
                prop_assert!(problem.span.end <= bytes.len());
            }
        }
    }
}
