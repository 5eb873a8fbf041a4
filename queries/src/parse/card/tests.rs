//! Cards in, problems out: `code @ text under the span`, in the contract's order.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use proptest::prelude::*;
use serde_json::Value;

use super::*;

const VALID: &str = include_str!(
    "../../../../fixtures/cacg/tests/parity_corpus/cards/reading_01/01-content-addressable-identity.md"
);

const CARD: &str = r#"---
schema_version: "cacg.v0"
id: "tree-hashing"
title: "Tree Hashing"
reading_id: "reading_01"
summary: "A summary that is long enough for the rule, which wants eighty characters at the very least."
tags: ["hashing", "trees"]
card_edges:
  - target: "other-card"
    edge_type: "extends"
citations:
  - source_id: "sample"
    chunk_id: "sample:p001:0000"
    chunk_hash: "1694a2598d8402ee06f8c0be6a1defd8a3f85b2d7f896c25fa67b8c671a37895"
    page_range: [1, 2]
    quote: "The first words."
    edge_type: "supports"
  - source_id: "sample"
    chunk_id: "sample:p003:0001"
    chunk_hash: "4a911a87598d8402ee06f8c0be6a1defd8a3f85b2d7f896c25fa67b8c671a378"
    page_range: [3, 3]
    quote: "The second words."
---
The body.
"#;

const HASH: &str = r#""1694a2598d8402ee06f8c0be6a1defd8a3f85b2d7f896c25fa67b8c671a37895""#;

fn seen(text: &str) -> Vec<String> {
    parse(text)
        .problems
        .iter()
        .map(|problem| {
            format!(
                "{} @ {}",
                &problem.code.as_str()[5..],
                &text[problem.span.clone()]
            )
        })
        .collect()
}

/// Applies replacements to [`CARD`] one after the other; each must match.
fn edited(edits: &[(&str, &str)]) -> String {
    edits.iter().fold(CARD.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "{from:?} is not in the card");
        text.replacen(from, to, 1)
    })
}

#[test]
fn a_valid_card_has_no_problem_and_every_field() {
    for text in [CARD, VALID] {
        assert_eq!(seen(text), [""; 0]);
        let card = parse(text);
        assert!(card.complete().is_some());
        for (field, quoted) in [
            (&card.id, "id"),
            (&card.title, "title"),
            (&card.summary, "summary"),
        ] {
            let field = field.as_ref().unwrap();
            assert_eq!(
                text[field.span.clone()],
                format!("\"{}\"", field.value),
                "{quoted}"
            );
        }
        for citation in &card.citations {
            assert!(citation.sound);
            assert!(text[citation.span.clone()].starts_with("source_id:"));
            let quote = citation.quote.as_ref().unwrap();
            assert_eq!(text[quote.span.clone()], format!("\"{}\"", quote.value));
            let pages = citation.page_range.as_ref().unwrap();
            assert_eq!(text[pages.span.clone()], pages.value.to_string());
        }
    }
    let card = parse(CARD);
    assert_eq!(card.body_text(CARD), "The body.\n");
    assert_eq!(card.edges[0].edge_type, EdgeType::Extends);
    assert_eq!(card.citations[1].edge_type, CitationEdge::Supports);
    assert_eq!(
        card.citations[1].page_range.as_ref().unwrap().value,
        PageRange { start: 3, end: 3 }
    );
}

#[test]
fn each_fault_is_found_where_it_stands() {
    let long = "x".repeat(401);
    let long_summary = format!("summary: \"{long}\"");
    let long_expected = format!("SUM-002 @ \"{long}\"");
    let summary = "summary: \"A summary that is long enough for the rule, which wants eighty characters at the very least.\"";
    let (from, to) = (
        CARD.find("citations:").unwrap(),
        CARD.find("---\nThe body").unwrap(),
    );
    let citations = &CARD[from..to];
    /// Replacements in [`CARD`], and what is then found.
    type Case<'a> = (&'a [(&'a str, &'a str)], &'a [&'a str]);
    let cases: &[Case] = &[
        // Fences.
        (
            &[("---\nschema", "\u{FEFF}---\nschema")],
            &["FM-004 @ \u{FEFF}"],
        ),
        (&[("---\nschema", "\n ---\nschema")], &["FM-004 @ \n "]),
        (&[("---\nschema", "--- \nschema")], &[]),
        (&[("---\nschema", "---- \nschema")], &["FM-004 @ ----"]),
        (&[("---\nThe body.\n", "---\n")], &[]),
        (&[("---\nThe body.\n", "---")], &["FM-004 @ ---"]),
        (&[("---\nThe body.\n", "--")], &["FM-004 @ ---"]),
        // Forbidden YAML, all of it.
        (
            &[("\"Tree Hashing\"", "&a \"Tree Hashing\"")],
            &["FM-005 @ &a"],
        ),
        (
            &[
                ("id: \"tree", "id: &a \"tree"),
                ("\"reading_01\"", "*a"),
                ("\"sample\"", "!x \"sample\""),
            ],
            &["FM-005 @ &a", "FM-005 @ *a", "FM-005 @ !x"],
        ),
        (&[("\"tree-hashing\"", "*unknown")], &["FM-005 @ *unknown"]),
        (&[("\"Tree Hashing\"", "!!str 2024")], &[]),
        (&[("\"Tree Hashing\"", "!!int \"2024\"")], &[]),
        (
            &[("tags: [\"hashing\", \"trees\"]", "<<: {tags: []}")],
            &["FM-005 @ <<"],
        ),
        // Syntax.
        (
            &[("\"Tree Hashing\"", "\"Tree\" Hashing")],
            &["FM-006 @ Hashing"],
        ),
        (&[("title: ", "title ")], &["FM-006 @ title"]),
        (&[("title: ", "title: \"x\"\ntitle: ")], &["FM-006 @ title"]),
        (
            &[(
                "    quote: \"The first",
                "    quote: \"x\"\n    quote: \"The first",
            )],
            &["FM-006 @ quote"],
        ),
        // Roots.
        (
            &[("---\nschema", "---\n- a\n- b\n---\nschema")],
            &["FM-007 @ - a\n- b"],
        ),
        (&[("---\nschema", "---\n\n---\nschema")], &[]),
        (&[("---\nschema", "---\n~\n---\nschema")], &["FM-007 @ ~"]),
        (
            &[("---\nschema", "---\njust text\n---\nschema")],
            &["FM-007 @ just text"],
        ),
        // Types.
        (&[("\"Tree Hashing\"", "2024")], &["FM-008 @ 2024"]),
        (
            &[("\"Tree Hashing\"", "2024-01-31")],
            &["FM-008 @ 2024-01-31"],
        ),
        (&[("\"Tree Hashing\"", "1e3")], &["FM-008 @ 1e3"]),
        (&[("\"Tree Hashing\"", "true")], &["FM-008 @ true"]),
        (&[("\"Tree Hashing\"", "null")], &["FM-008 @ null"]),
        (&[(" \"Tree Hashing\"", "")], &["FM-008 @ title"]),
        (&[("\"Tree Hashing\"", "[a, b]")], &["FM-008 @ [a, b]"]),
        (&[("\"Tree Hashing\"", "plain words")], &[]),
        (&[("\"Tree Hashing\"", "yes")], &[]),
        (
            &[("[\"hashing\", \"trees\"]", "hashing")],
            &["SUM-003 @ hashing"],
        ),
        (
            &[("[\"hashing\", \"trees\"]", "[hashing, 12]")],
            &["SUM-003 @ 12"],
        ),
        (
            &[("citations:", "card_hash: 12\ncitations:")],
            &["FM-008 @ 12"],
        ),
        (&[("citations:", "card_hash: ~\ncitations:")], &[]),
        (&[("citations:", "card_hash:\ncitations:")], &[]),
        (&[(citations, "citations: none\n")], &["FM-008 @ none"]),
        (
            &[(citations, "citations:\n- none\n-\n")],
            &["FM-008 @ none", "FM-008 @ citations"],
        ),
        (&[(citations, "citations: []\n")], &["FM-008 @ []"]),
        (&[(citations, "")], &["FM-001 @ ---"]),
        // Fields.
        (&[("title: \"Tree Hashing\"\n", "")], &["FM-001 @ ---"]),
        (&[("title:", "titel:")], &["FM-003 @ titel", "FM-001 @ ---"]),
        (&[("cacg.v0", "cacg.v9")], &["FM-002 @ \"cacg.v9\""]),
        (
            &[(
                "    page_range: [3, 3]\n    quote: \"The second words.\"\n",
                "    pages: [3, 3]\n    quote: \"The second words.\"\n",
            )],
            &[
                "FM-003 @ pages",
                "FM-001 @ source_id: \"sample\"\n    chunk_id: \"sample:p003:0001\"\n    chunk_hash: \"4a911a87598d8402ee06f8c0be6a1defd8a3f85b2d7f896c25fa67b8c671a378\"\n    pages: [3, 3]\n    quote: \"The second words.\"",
            ],
        ),
        (
            &[("\"supports\"", "\"support\"")],
            &["FM-008 @ \"support\""],
        ),
        (
            &[("\"extends\"", "\"supports\"")],
            &["FM-008 @ \"supports\""],
        ),
        // Rules.
        (
            &[(summary, "summary: \"Short.\"")],
            &["SUM-001 @ \"Short.\""],
        ),
        (&[(summary, &long_summary)], &[&long_expected]),
        (
            &[("citations:", "card_hash: \"abc\"\ncitations:")],
            &["FM-008 @ \"abc\""],
        ),
        (&[(HASH, "\"abc\"")], &["CITE-002 @ \"abc\""]),
        (&[("[1, 2]", "[2, 1]")], &["CITE-003 @ [2, 1]"]),
        (&[("[1, 2]", "[0, 1]")], &["CITE-003 @ 0"]),
        (&[("[1, 2]", "[1]")], &["FM-001 @ [1]"]),
        (&[("[1, 2]", "[1, 2, 3]")], &["CITE-003 @ [1, 2, 3]"]),
        (&[("[1, 2]", "[]")], &["CITE-003 @ []"]),
        (&[("[1, 2]", "7")], &["CITE-003 @ 7"]),
        (
            &[("[1, 2]", "[1.0, true]")],
            &["CITE-003 @ 1.0", "CITE-003 @ true"],
        ),
        (&[("[1, 2]", "[\"1\", 2]")], &["CITE-003 @ \"1\""]),
        (
            &[("[1, 2]", "[1, 99999999999999999999]")],
            &["CITE-003 @ 99999999999999999999"],
        ),
        (&[("[1, 2]", "[010, 12]")], &["CITE-003 @ 010"]),
        (&[("[1, 2]", "[1, 9000000000000000000]")], &[]),
        (&[("\"The first words.\"", "\"\"")], &["FM-008 @ \"\""]),
        (
            &[("\"The first words.\"", "\" \\u00A0\\n\"")],
            &["FM-008 @ \" \\u00A0\\n\""],
        ),
        (
            &[("\"The first words.\"", "\"-\\n- \\n\"")],
            &["FM-008 @ \"-\\n- \\n\""],
        ),
        (&[("\"The first words.\"", "\"-- \\n\"")], &[]),
        (
            &[("\"The first words.\"", "|\n      Two\n      lines.\n")],
            &[],
        ),
        (
            &[("source_id: \"sample\"", "source_id: ''")],
            &["FM-008 @ ''"],
        ),
        (&[("\"reading_01\"", "\"\"")], &["FM-008 @ \"\""]),
        (
            &[("\"trees\"", "\"t\", \"Trees\", \"-x\", \"hashing\"")],
            &[
                "SUM-003 @ \"t\"",
                "SUM-003 @ \"Trees\"",
                "SUM-003 @ \"-x\"",
                "SUM-003 @ \"hashing\"",
            ],
        ),
        (
            &[(
                "\"hashing\", \"trees\"",
                "aa, bb, cc, dd, ee, ff, gg, hh, ii, jj, kk, ll",
            )],
            &["SUM-004 @ kk"],
        ),
        (
            &[(
                "citations:",
                "  - {target: other-card, edge_type: extends}\ncitations:",
            )],
            &["FM-008 @ {target: other-card, edge_type: extends}"],
        ),
        (&[("\"other-card\"", "\"\"")], &["FM-008 @ \"\""]),
        (&[("\"other-card\"", "3")], &["FM-008 @ 3"]),
    ];
    let wrong: Vec<String> = cases
        .iter()
        .filter_map(|(edits, expected)| {
            let found = seen(&edited(edits));
            (found != *expected).then(|| format!("{edits:?}: {found:?}, not {expected:?}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn frontmatter_without_fields_is_no_mapping() {
    assert_eq!(seen("---\n\n---\nbody\n"), ["FM-007 @ ---"]);
    assert_eq!(seen("---\n# only a comment\n---\nbody\n"), ["FM-007 @ ---"]);
    assert_eq!(seen(""), ["FM-004 @ "]);
}

#[test]
fn all_problems_come_in_the_contracts_order() {
    let text = edited(&[
        ("cacg.v0", "cacg.v9"),
        ("\"tree-hashing\"", "\"\""),
        ("\"Tree Hashing\"", "2024"),
        ("\"trees\"", "\"T\""),
        ("\"other-card\"", "3"),
        (HASH, "\"abc\""),
        ("[1, 2]", "[2, 1]"),
        ("quote: \"The first", "qoute: \"The first"),
        ("[3, 3]", "[1.5, 3]"),
    ]);
    let codes: Vec<String> = parse(&text)
        .problems
        .iter()
        .map(|problem| problem.contract_message.clone())
        .collect();
    let starts = [
        "title: must be a string",
        "card_edges.0.target: must be a string",
        "citations.1.page_range: must hold whole numbers",
        "schema_version: must be 'cacg.v0'",
        "unknown field: citations.0.qoute",
        "missing required field: citations.0.quote",
        "citations.0.chunk_hash: chunk_hash must be 64-hex SHA256 (Value error, chunk_hash must be 64-hex SHA256)",
        "citations.0.page_range: page_range must be ascending start<=end (Value error, page_range must be ascending (start <= end))",
        "id: must not be empty",
        "tags.1: ",
    ];
    assert_eq!(codes.len(), starts.len(), "{codes:#?}");
    for (code, start) in codes.iter().zip(starts) {
        assert!(code.starts_with(start), "{code} should start with {start}");
    }
}

#[test]
fn a_sound_citation_survives_a_broken_one() {
    let text = edited(&[(HASH, "\"abc\""), ("\"Tree Hashing\"", "")]);
    let card = parse(&text);
    assert!(card.complete().is_none());
    assert!(!card.citations[0].sound && card.citations[0].complete().is_none());
    assert!(card.citations[1].sound && card.citations[1].complete().is_some());
    assert_eq!(card.reading_id.unwrap().value.as_ref(), "reading_01");
}

#[test]
fn line_ends_of_windows_are_line_ends() {
    let text = CARD.replace('\n', "\r\n");
    assert_eq!(seen(&text), [""; 0]);
    let card = parse(&text);
    assert_eq!(card.complete(), parse(CARD).complete());
    assert_eq!(card.body_text(&text), "The body.\r\n");
}

#[test]
fn unknown_fields_name_the_nearest_known_one() {
    let help = |from, to| {
        parse(&edited(&[(from, to)])).problems[0]
            .help
            .clone()
            .unwrap()
    };
    assert_eq!(help("title:", "titel:"), "did you mean `title`?");
    assert_eq!(
        help("    chunk_id:", "    chunkid:"),
        "did you mean `chunk_id`?"
    );
    assert!(help("title:", "author:").starts_with("the card can have: schema_version, id"));
}

#[test]
fn fixes_make_the_problem_go_away() {
    let upper = HASH.to_uppercase();
    for edit in [
        ("---\nschema", "\u{FEFF}---\nschema"),
        ("---\nschema", "\n\n---\nschema"),
        ("---\nThe body.\n", "---"),
        (HASH, &upper),
        ("[1, 2]", "[2, 1]"),
        ("\"Tree Hashing\"", "2024"),
    ] {
        let mut text = edited(&[edit]);
        let fix = parse(&text).problems[0].fix.clone().unwrap();
        text.replace_range(fix.range, &fix.text);
        assert_eq!(seen(&text), [""; 0], "{}\n{text}", fix.title);
    }
}

#[test]
fn shapes_that_need_no_other_file() {
    let zero = format!("\"{}\"", "0".repeat(64));
    let cases: &[(&str, &str, Option<&str>)] = &[
        ("", "", None),
        (
            "\"sample:p001:0000\"",
            "\"Sample:p001:0000\"",
            Some("CITE-001 @ \"Sample:p001:0000\""),
        ),
        (
            "\"sample:p001:0000\"",
            "\"sample:001:0000\"",
            Some("CITE-001 @ \"sample:001:0000\""),
        ),
        (
            "\"sample:p001:0000\"",
            "\"sample:p:0\"",
            Some("CITE-001 @ \"sample:p:0\""),
        ),
        (
            "\"sample:p001:0000\"",
            "\"sample:p1:0:1\"",
            Some("CITE-001 @ \"sample:p1:0:1\""),
        ),
        ("\"sample:p001:0000\"", "\"sample:p1:0\"", None),
        (
            HASH,
            &zero,
            Some("CITE-002 @ \"0000000000000000000000000000000000000000000000000000000000000000\""),
        ),
    ];
    for (from, to, expected) in cases {
        let text = edited(&[(from, to)]);
        let problem = citation_shape_problem(&parse(&text).citations[0]);
        let seen = problem.map(|problem| {
            assert!(problem.contract_message.starts_with("citations[0]: "));
            format!("{} @ {}", &problem.code.as_str()[5..], &text[problem.span])
        });
        assert_eq!(seen.as_deref(), *expected);
    }
}

#[test]
fn the_frontmatter_value_hashes_to_what_the_contract_recorded() {
    let card = parse(VALID);
    let stored = card.card_hash.as_ref().unwrap().value.to_string();
    assert_eq!(card.card_hash(VALID).unwrap().to_string(), stored);
    assert_eq!(
        parse(&CARD.replace("cacg.v0", "cacg.v1")).card_hash(CARD),
        None
    );
    let oracles: Value = serde_json::from_str(include_str!(
        "../../../../fixtures/cacg/tests/parity_corpus/out_python/hash_oracles.subset.json"
    ))
    .unwrap();
    let oracles = oracles["card_hash"].as_array().unwrap();
    assert!(!oracles.is_empty());
    for oracle in oracles {
        // Written by the canonical writer and read again, the frontmatter must be the same value.
        let frontmatter = &oracle["frontmatter"];
        let card = card_of(frontmatter);
        let text = canonical_text(&card, oracle["raw_body"].as_str().unwrap());
        let read = parse(&text);
        assert_eq!(read.problems, []);
        assert_eq!(read.complete().unwrap().frontmatter_value(), *frontmatter);
        let expected = oracle["expected"].as_str().unwrap();
        assert_eq!(read.card_hash(&text).unwrap().to_string(), expected);
    }
}

fn card_of(value: &Value) -> Card {
    let text = |value: &Value| -> Box<str> { value.as_str().unwrap().into() };
    let list = |value: &Value| value.as_array().unwrap().clone();
    Card {
        schema: Schema::Cacg,
        id: text(&value["id"]),
        title: text(&value["title"]),
        reading_id: text(&value["reading_id"]),
        summary: text(&value["summary"]),
        tags: list(&value["tags"]).iter().map(text).collect(),
        edges: list(&value["card_edges"])
            .iter()
            .map(|edge| CardEdge {
                target: text(&edge["target"]),
                edge_type: EdgeType::parse(edge["edge_type"].as_str().unwrap()).unwrap(),
            })
            .collect(),
        citations: list(&value["citations"])
            .iter()
            .map(|citation| CardCitation {
                source_id: text(&citation["source_id"]),
                chunk_id: text(&citation["chunk_id"]),
                chunk_hash: text(&citation["chunk_hash"]),
                page_range: PageRange {
                    start: citation["page_range"][0].as_u64().unwrap(),
                    end: citation["page_range"][1].as_u64().unwrap(),
                },
                quote: text(&citation["quote"]),
                prefix: None,
                suffix: None,
                edge_type: CitationEdge::parse(citation["edge_type"].as_str().unwrap()).unwrap(),
            })
            .collect(),
        card_hash: None,
    }
}

#[test]
fn the_goldens_come_out() {
    macro_rules! fixture {
        ($name:literal) => {
            include_str!(concat!(
                "../../../../fixtures/cacg/tests/parity_corpus/adversarial/",
                $name
            ))
        };
    }
    let first = |text| {
        parse(text)
            .problems
            .first()
            .map(|problem| format!("{} {}", problem.code, problem.contract_message))
    };
    assert_eq!(
        first(fixture!("01-malformed-hash.md")).unwrap(),
        "CACG-CITE-002 citations.0.chunk_hash: chunk_hash must be 64-hex SHA256 (Value error, chunk_hash must be 64-hex SHA256)"
    );
    assert_eq!(
        first(fixture!("02-reversed-page-range.md")).unwrap(),
        "CACG-CITE-003 citations.0.page_range: page_range must be ascending start<=end (Value error, page_range must be ascending (start <= end))"
    );
    for text in [
        fixture!("06-page-disjoint.md"),
        fixture!("04-stale-card-hash.md"),
        fixture!("07-fake-quote.md"),
    ] {
        assert_eq!(first(text), None);
    }
}

#[test]
fn recording_a_hash_changes_one_line() {
    let new = "ab".repeat(32);
    let line = format!("card_hash: \"{new}\"");
    let record = |text: &str| {
        let (range, replacement) = card_hash_edit(text, &new).unwrap();
        let mut out = text.to_owned();
        out.replace_range(range, &replacement);
        out
    };
    let cases = [
        (
            CARD.to_owned(),
            CARD.replace("---\nThe body", &format!("{line}\n---\nThe body")),
        ),
        (
            CARD.replace('\n', "\r\n"),
            CARD.replace("---\nThe body", &format!("{line}\n---\nThe body"))
                .replace('\n', "\r\n"),
        ),
        (
            CARD.replace("citations:", "card_hash: \"old\" # note\ncitations:"),
            CARD.replace("citations:", &format!("{line} # note\ncitations:")),
        ),
        (
            CARD.replace("citations:", "card_hash:\ncitations:"),
            CARD.replace("citations:", &format!("{line}\ncitations:")),
        ),
        (
            "---\n{id: a}\n---\n".to_owned(),
            format!("---\n{{id: a, {line}}}\n---\n"),
        ),
        (
            "---\n  id: a\n---\n".to_owned(),
            format!("---\n  id: a\n  {line}\n---\n"),
        ),
    ];
    for (before, after) in cases {
        assert_eq!(record(&before), after);
        assert_eq!(record(&after), after, "recording it again changes nothing");
        assert_eq!(parse(&after).card_hash.unwrap().value.as_ref(), new);
    }
    assert_eq!(card_hash_edit("no card", &new), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    /// Cuts, swaps and insertions at any place: no panic, spans inside the text and on characters.
    #[test]
    fn mutated_cards_never_panic(
        cuts in prop::collection::vec((0usize..900, 0usize..30, prop::sample::select(vec![
            "", "---", "\n", ":", "- ", "[", "]", "{", "}", "\"", "'", "&a", "*a", "!x", "|", ">", "\t", "é", "\u{FEFF}", "#", "<<: ", "? ", "0", "\r", "%",
        ])), 1..5))
    {
        let mut text: Vec<char> = CARD.chars().collect();
        for (at, length, insert) in cuts {
            let at = at.min(text.len());
            let end = (at + length).min(text.len());
            text.splice(at..end, insert.chars());
        }
        let text: String = text.into_iter().collect();
        let card = parse(&text);
        for problem in &card.problems {
            prop_assert!(text.get(problem.span.clone()).is_some(), "{:?}", problem);
            prop_assert!(!problem.span.is_empty() || text.is_empty(), "{:?}\n{}", problem, text);
        }
        for citation in &card.citations {
            prop_assert!(text.get(citation.span.clone()).is_some());
        }
        let _ = card_hash_edit(&text, "00");
    }

    /// What the writer writes is read back as the same card.
    #[test]
    fn written_cards_are_read_back(title in "\\PC{1,20}|[\\x00-\\x7f]{1,20}", quote in ".{1,50}", body in "[a-z\n]{0,30}", tags in prop::collection::btree_set("[a-z0-9][a-z0-9_-]{1,8}", 0..4)) {
        let mut card = parse(CARD).complete().unwrap();
        card.title = title.as_str().into();
        card.citations[0].quote = format!("x{quote}").into();
        card.tags = tags.iter().map(|tag| tag.as_str().into()).collect();
        let text = canonical_text(&card, &body);
        let read = parse(&text);
        prop_assert_eq!(&read.problems, &vec![]);
        prop_assert_eq!(read.complete().unwrap(), card);
    }
}

/// Not a test of right or wrong: prints what 2,000 cards of 2 KB cost.
#[test]
#[ignore = "a measurement, to be run in release"]
fn two_thousand_cards() {
    let citation = &CARD[CARD.find("  - source_id").unwrap()..CARD.find("---\nThe body").unwrap()];
    let text = CARD.replace(citation, &citation.repeat(3));
    let start = std::time::Instant::now();
    let count: usize = (0..2000).map(|_| parse(&text).citations.len()).sum();
    eprintln!(
        "{count} citations, {} bytes a card: {:?}",
        text.len(),
        start.elapsed()
    );
}

/// [`CARD`] under the schema with context, with these lines behind its first quote.
fn with_context(lines: &str) -> String {
    edited(&[
        ("cacg.v0", "kb.v1"),
        (
            "quote: \"The first words.\"\n",
            &format!("quote: \"The first words.\"\n{lines}"),
        ),
    ])
}

#[test]
fn context_belongs_to_the_schema_of_our_own() {
    let lines = "    prefix: \"before\"\n    suffix: 'after'\n";
    let text = with_context(lines);
    let card = parse(&text);
    assert_eq!(card.problems, []);
    let citation = card.citations.first().unwrap();
    assert_eq!(
        citation.prefix.as_ref().map(|text| &*text.value),
        Some("before")
    );
    assert_eq!(
        citation.suffix.as_ref().map(|text| &*text.value),
        Some("after")
    );
    // The schema decides wherever it stands, and the contract's own has no such fields.
    let old = text.replace("kb.v1", "cacg.v0");
    assert_eq!(seen(&old), ["FM-003 @ prefix", "FM-003 @ suffix"]);
    let late = text.replace("schema_version: \"kb.v1\"\n", "");
    let late = late.replace("---\nThe body", "schema_version: kb.v1\n---\nThe body");
    assert_eq!(parse(&late).problems, []);
    assert!(parse(&old).problems.iter().all(|problem| {
        problem
            .help
            .as_deref()
            .is_some_and(|help| help.contains("kb.v1"))
    }));
    assert_eq!(seen(&with_context("    prefix: \"\"\n")), ["FM-008 @ \"\""]);
    assert_eq!(
        seen(&with_context("    suffix: \" \"\n")),
        ["FM-008 @ \" \""]
    );
    assert_eq!(seen(&with_context("    suffix: 7\n")), ["FM-008 @ 7"]);
    assert_eq!(
        seen(&edited(&[("cacg.v0", "kb.v2")])),
        ["FM-002 @ \"kb.v2\""]
    );
}

#[test]
fn a_hash_covers_the_context_and_the_schema() {
    let hash = |text: &str| parse(text).card_hash(text).unwrap().to_string();
    let plain = hash(CARD);
    let texts = [
        with_context(""),
        with_context("    prefix: \"a\"\n"),
        with_context("    prefix: \"b\"\n"),
        with_context("    suffix: \"a\"\n"),
    ];
    let mut hashes: Vec<String> = texts.iter().map(|text| hash(text)).collect();
    hashes.push(plain);
    hashes.sort();
    hashes.dedup();
    assert_eq!(hashes.len(), 5);
    // A card that is written out and read back is the same card.
    for text in &texts {
        let card = parse(text);
        let model = card.complete().unwrap();
        let written = canonical_text(&model, card.body_text(text));
        assert_eq!(parse(&written).complete(), Some(model));
        assert_eq!(hash(&written), hash(text));
    }
}
