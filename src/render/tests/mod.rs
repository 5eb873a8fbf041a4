//! The renderers on one report of everything that can go into one, and on hard texts.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::cell::RefCell;
use std::ops::Range;

use kbc_queries::diagnostic::registry::*;
use kbc_queries::diagnostic::{Applicability, Edit, Excerpt, Fix, Related, Severity, Span};
use serde_json::Value;

mod hard_texts;
mod schema;

use super::lines::Lines;
use super::*;

const CARD: &str = r#"---
schema_version: "cacg.v0"
id: "tree-hashing"
title: "Tree hashing"
reading_id: "reading_01"
citations:
  - source_id: "spec"
    chunk_id: "spec:p003:0007"
    quote: "each leaf is hashed with a 0x01 prefix"
    edge_type: "supports"
---
Body.
"#;

type Texts = BTreeMap<String, Arc<str>>;

fn texts(files: &[(&str, &str)]) -> Texts {
    files
        .iter()
        .map(|(name, text)| ((*name).to_owned(), Arc::from(*text)))
        .collect()
}

fn span(text: &str, range: Range<usize>) -> Span {
    let lines = Lines::new(text);
    let (line, column) = lines.position(range.start).unwrap();
    let (end_line, end_column) = lines.position(range.end).unwrap();
    let number = |value: usize| u32::try_from(value).unwrap();
    Span {
        start: range.start,
        end: range.end,
        line: number(line),
        column: number(column),
        end_line: number(end_line),
        end_column: number(end_column),
    }
}

fn span_of(text: &str, part: &str) -> Span {
    let start = text.find(part).unwrap();
    span(text, start..start + part.len())
}

fn excerpt(text: &str, part: &str, first_line: u32) -> Option<Excerpt> {
    let start = text.find(part).unwrap();
    Some(Excerpt {
        text: text.to_owned(),
        first_line,
        start,
        end: start + part.len(),
    })
}

/// One finding of each kind.
fn report() -> (Report, Texts) {
    let card = "cards/reading_01/tree-hashing.md";
    let quote = span_of(CARD, "\"each leaf is hashed with a 0x01 prefix\"");
    let mut absent = Diagnostic::new(VERIFY_001, "quote not found in the cited chunk")
        .in_file(card)
        .at(quote)
        .label("these words are not in spec:p003:0007")
        .help("quote the source's exact words, or cite the chunk that says this.")
        .data("citation", 0)
        .data("chunk_id", "spec:p003:0007");
    absent.related.push(Related {
        file: "sources/spec.pdf".into(),
        page: Some(3),
        span: None,
        excerpt: excerpt(
            "each leaf is hashed with a 0x00 prefix, each interior node with",
            "each leaf is hashed with a 0x00 prefix",
            0,
        ),
        label: "nearest passage; differs in a protected number: 0x01 ≠ 0x00".into(),
    });
    let id = span_of(CARD, "spec:p003:0007");
    let mut moved = Diagnostic::new(
        HASH_001,
        "the cited chunk changed; the quote stands in spec:p004:0009",
    )
    .in_file(card)
    .at(id)
    .label("this chunk")
    .data("state", "relocated");
    moved.related.push(Related {
        file: "sources/a note, 50%.md".into(),
        page: None,
        span: Some(Span {
            start: 310,
            end: 325,
            line: 12,
            column: 4,
            end_line: 12,
            end_column: 19,
        }),
        excerpt: excerpt("before\nis hashed with it\nafter", "hashed with it", 11),
        label: "here now".into(),
    });
    moved.fixes.push(Fix {
        title: "cite spec:p004:0009".into(),
        applicability: Applicability::Safe,
        edits: vec![Edit {
            file: card.into(),
            start: id.start,
            end: id.end,
            text: "spec:p004:0009".into(),
        }],
    });
    let project =
        Diagnostic::new(CFG_007, "collection `canon` matches no file").data("collection", "canon");
    let file = Diagnostic::new(SRC_008, "read as windows-1252, which was guessed")
        .in_file("sources/old text.txt");
    let mut ledger = Ledger {
        cards: 1,
        citations: 2,
        failed: 2,
        ..Ledger::default()
    };
    let diagnostics = vec![file, absent, moved, project];
    for diagnostic in &diagnostics {
        ledger.count(diagnostic.severity);
    }
    (
        Report {
            diagnostics,
            ledger,
        },
        texts(&[(card, CARD)]),
    )
}

fn rendered(report: &Report, format: Format, options: &RenderOptions, texts: &Texts) -> String {
    let mut out = Vec::new();
    render(report, format, options, texts, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn shown(format: Format) -> String {
    let (report, texts) = report();
    rendered(&report, format, &RenderOptions::default(), &texts)
}

#[test]
fn full_report() {
    insta::assert_snapshot!(shown(Format::Full));
}

#[test]
fn full_report_in_ascii() {
    let (report, texts) = report();
    let options = RenderOptions {
        unicode: false,
        ..RenderOptions::default()
    };
    let shown = rendered(&report, Format::Full, &options, &texts);
    insta::assert_snapshot!(shown);
}

#[test]
fn full_report_in_colour() {
    let (report, texts) = report();
    let options = RenderOptions {
        color: true,
        ..RenderOptions::default()
    };
    let coloured = rendered(&report, Format::Full, &options, &texts);
    assert!(!coloured.contains("\u{1b}]8"), "no links");
    assert_eq!(without_colours(&coloured), shown(Format::Full));
    let short = rendered(&report, Format::Short, &options, &texts);
    assert_ne!(short, shown(Format::Short));
    assert_eq!(without_colours(&short), shown(Format::Short));
}

fn without_colours(text: &str) -> String {
    let mut result = String::new();
    let mut rest = text;
    while let Some((before, sequence)) = rest.split_once("\u{1b}[") {
        result.push_str(before);
        rest = sequence.split_once('m').unwrap().1;
    }
    result + rest
}

#[test]
fn short_report() {
    insta::assert_snapshot!(shown(Format::Short));
}

#[test]
fn github_report() {
    insta::assert_snapshot!(shown(Format::Github));
}

#[test]
fn junit_report() {
    insta::assert_snapshot!(shown(Format::Junit));
}

#[test]
fn json_report() {
    insta::assert_snapshot!(shown(Format::Json));
}

#[test]
fn sarif_report() {
    let mut log: Value = serde_json::from_str(&shown(Format::Sarif)).unwrap();
    // The rules' texts are the registry's; they are looked at there.
    for rule in log["runs"][0]["tool"]["driver"]["rules"]
        .as_array_mut()
        .unwrap()
    {
        assert!(
            rule["help"]["markdown"]
                .as_str()
                .unwrap()
                .contains(rule["id"].as_str().unwrap())
        );
        rule.as_object_mut().unwrap().retain(|key, _| {
            ["id", "shortDescription", "defaultConfiguration"].contains(&key.as_str())
        });
    }
    insta::assert_snapshot!(serde_json::to_string_pretty(&log).unwrap());
}

#[test]
fn sarif_rule_indexes_point_at_their_rules() {
    let log: Value = serde_json::from_str(&shown(Format::Sarif)).unwrap();
    let run = &log["runs"][0];
    for result in run["results"].as_array().unwrap() {
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(
            run["tool"]["driver"]["rules"][index]["id"],
            result["ruleId"]
        );
    }
    assert_eq!(run["results"].as_array().unwrap().len(), 4);
}

#[test]
fn json_follows_its_schema() {
    let schema: Value =
        serde_json::from_str(include_str!("../../../docs/diagnostic.schema.json")).unwrap();
    let errors = |line: &Value| schema::errors(&schema, &schema, line);
    let output = shown(Format::Json);
    let lines: Vec<Value> = output
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 5);
    for line in &lines {
        assert_eq!(errors(line), Vec::<String>::new(), "in {line}");
    }
    assert!(lines.last().unwrap().get("ledger").is_some());
    // The schema says something: each key is required and no other is allowed.
    for key in lines[0].as_object().unwrap().keys() {
        let mut line = lines[0].clone();
        line.as_object_mut().unwrap().remove(key);
        assert!(!errors(&line).is_empty(), "{key} may be missing");
    }
    let mut line = lines[0].clone();
    line.as_object_mut()
        .unwrap()
        .insert("more".into(), Value::Null);
    assert!(!errors(&line).is_empty());
}

#[test]
fn an_empty_report_ends_with_its_ledger() {
    let report = Report::default();
    let show = |format| rendered(&report, format, &RenderOptions::default(), &Texts::new());
    let line = "checked 0 cards, 0 citations: 0 verified, 0 failed, 0 unverifiable, 0 skipped; 0 errors, 0 warnings\n";
    assert_eq!(show(Format::Full), line);
    assert_eq!(show(Format::Short), line);
    assert_eq!(show(Format::Github), line);
    assert_eq!(show(Format::Json).lines().count(), 1);
    assert!(show(Format::Junit).contains("(ledger)"));
    assert!(show(Format::Sarif).contains("\"results\":[]"));
}

#[test]
fn order_does_not_depend_on_the_order_of_finding() {
    let (report, texts) = report();
    let mut turned = report.clone();
    turned.diagnostics.reverse();
    for format in [
        Format::Full,
        Format::Short,
        Format::Json,
        Format::Sarif,
        Format::Github,
        Format::Junit,
    ] {
        let show = |report| rendered(report, format, &RenderOptions::default(), &texts);
        assert_eq!(show(&report), show(&turned), "{format:?}");
    }
}

#[test]
fn texts_are_fetched_once_and_only_where_needed() {
    struct Counting(RefCell<Vec<String>>);
    impl SourceProvider for Counting {
        fn text(&self, file: &str) -> Option<Arc<str>> {
            self.0.borrow_mut().push(file.to_owned());
            Some(CARD.into())
        }
    }
    let sources = Counting(RefCell::default());
    render(
        &report().0,
        Format::Full,
        &RenderOptions::default(),
        &sources,
        &mut Vec::new(),
    )
    .unwrap();
    assert_eq!(*sources.0.borrow(), ["cards/reading_01/tree-hashing.md"]);
}

#[test]
fn a_reader_that_leaves_is_no_error_and_a_full_disk_is() {
    struct Failing(io::ErrorKind, usize);
    impl Write for Failing {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.1 == 0 {
                return Err(self.0.into());
            }
            let written = bytes.len().min(self.1);
            self.1 -= written;
            Ok(written)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let (report, texts) = report();
    for format in [
        Format::Full,
        Format::Short,
        Format::Json,
        Format::Sarif,
        Format::Github,
        Format::Junit,
    ] {
        for room in [0, 10, 100] {
            let to = |kind| {
                render(
                    &report,
                    format,
                    &RenderOptions::default(),
                    &texts,
                    &mut Failing(kind, room),
                )
            };
            assert!(to(io::ErrorKind::BrokenPipe).is_ok(), "{format:?}");
            assert_eq!(
                to(io::ErrorKind::StorageFull).unwrap_err().kind(),
                io::ErrorKind::StorageFull,
                "{format:?}"
            );
        }
    }
}

#[test]
fn a_text_that_is_gone_still_has_its_place() {
    let (report, _) = report();
    insta::assert_snapshot!(rendered(
        &report,
        Format::Full,
        &RenderOptions::default(),
        &Texts::new()
    ));
}

#[test]
fn overridden_severities_show() {
    let mut diagnostic = Diagnostic::new(QUOTE_003, "occurs twice");
    diagnostic.severity = Severity::Warning;
    let report = Report {
        diagnostics: vec![diagnostic],
        ledger: Ledger::default(),
    };
    assert!(
        rendered(
            &report,
            Format::Short,
            &RenderOptions::default(),
            &Texts::new()
        )
        .starts_with("warning CACG-QUOTE-003 occurs twice\n")
    );
}

#[test]
fn explanations_for_people_and_programs() {
    let entry = find("verify-001").unwrap();
    insta::assert_snapshot!("explain_text", explain::text(entry));
    insta::assert_snapshot!("explain_markdown", explain::markdown(entry));
    insta::assert_snapshot!(
        "explain_json",
        serde_json::to_string_pretty(&explain::json(entry)).unwrap()
    );
    insta::assert_snapshot!("explain_reserved", explain::text(find("PERF-001").unwrap()));
}

#[test]
fn every_code_is_listed_and_explained() {
    let list = explain::list();
    assert_eq!(list.lines().count(), all().len());
    for (entry, line) in all().iter().zip(list.lines()) {
        assert!(
            line.starts_with(entry.code.as_str()) && line.contains(entry.title),
            "{line}"
        );
        let text = explain::text(entry);
        assert!(text.starts_with(entry.code.as_str()) && text.ends_with('\n'));
        // Every fence that is opened is closed.
        assert_eq!(
            explain::markdown(entry).matches("\n```").count(),
            4,
            "{}",
            entry.code
        );
    }
}

#[test]
fn misspelt_codes_are_answered_with_a_suggestion() {
    let table = [
        (
            "VERFY-001",
            "there is no code `VERFY-001`; did you mean CACG-VERIFY-001",
        ),
        (
            "nonsense",
            "there is no code `nonsense`; `kb explain` lists them all",
        ),
        ("\u{1b}[2J", "there is no code `\\u{1b}[2J`"),
    ];
    for (text, answer) in table {
        assert!(
            explain::unknown(text).starts_with(answer),
            "{}",
            explain::unknown(text)
        );
    }
}
