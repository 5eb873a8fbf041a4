//! Texts that are hard to draw: wide, tabbed, long, empty, right to left, hostile.

use kbc_queries::diagnostic::registry::VERIFY_001;
use kbc_queries::diagnostic::{Excerpt, Related, Span};
use proptest::prelude::*;

use super::*;
use crate::render::snippet;

/// One finding over a part of a text, in full.
fn full(text: &str, range: Range<usize>, width: usize) -> String {
    let diagnostic = Diagnostic::new(VERIFY_001, "message")
        .in_file("a.md")
        .at(span(text, range))
        .label("label");
    let report = Report {
        diagnostics: vec![diagnostic],
        ledger: Ledger::default(),
    };
    let options = RenderOptions {
        width,
        ..RenderOptions::default()
    };
    rendered(&report, Format::Full, &options, &texts(&[("a.md", text)]))
}

fn full_of(text: &str, part: &str) -> String {
    let start = text.find(part).unwrap();
    full(text, start..start + part.len(), 80)
}

#[test]
fn wide_characters() {
    insta::assert_snapshot!(full_of("引用: \"葉は接頭辞で\" です\n", "葉は接頭辞で"));
}

#[test]
fn tabs() {
    insta::assert_snapshot!(full_of("\tquote:\t\"wrong\" \n", "wrong"));
}

#[test]
fn windows_line_ends() {
    insta::assert_snapshot!(full_of("one\r\ntwo three\r\nfour\r\n", "three\r\n"));
}

#[test]
fn emoji() {
    insta::assert_snapshot!(full_of("a 😀 b 🎉🎉 c\n", "🎉🎉"));
}

#[test]
fn right_to_left() {
    insta::assert_snapshot!(full_of("quote: \"שלום עולם\"\n", "עולם"));
}

#[test]
fn empty_span() {
    insta::assert_snapshot!(full("one two\n", 4..4, 80));
}

#[test]
fn end_of_file() {
    insta::assert_snapshot!(
        ["", "one", "one\n"]
            .map(|text| full(text, text.len()..text.len(), 80))
            .join("\n")
    );
}

#[test]
fn several_lines() {
    insta::assert_snapshot!(full_of(
        CARD,
        "- source_id: \"spec\"\n    chunk_id: \"spec:p003:0007\"\n    quote: \"each"
    ));
}

#[test]
fn very_many_lines() {
    let text: String = (1..=40).map(|line| format!("line {line}\n")).collect();
    insta::assert_snapshot!(full(&text, 12..text.len(), 80));
}

#[test]
fn very_long_lines() {
    let words: Vec<String> = (0..5000).map(|word| format!("word{word}")).collect();
    let text = words.join(" ");
    let shown = ["word0 ", "word2500", "word4999"]
        .map(|part| full_of(&text, part))
        .join("\n");
    let long = full(&text, 14..600, 80);
    for line in shown.lines().chain(long.lines()) {
        assert!(line.chars().count() <= 110, "{line}");
    }
    insta::assert_snapshot!(format!("{shown}\n{long}"));
}

#[test]
fn a_hostile_source_cannot_forge_output() {
    let text = "x \u{1b}[2J\u{1b}]8;;http://e\u{7}\u{202e}evil\u{2066} \rCACG y\n";
    let mut diagnostic = Diagnostic::new(VERIFY_001, "bad\u{1b}[0m\nchecked 9 cards")
        .in_file("a\u{202e}\n.md")
        .at(span_of(text, "evil"))
        .label("l\u{1b}[1m\n2")
        .help("h\u{9b}m\nx");
    diagnostic.related.push(Related {
        file: "s\u{7}.md".into(),
        page: None,
        span: None,
        excerpt: excerpt(text, "evil", 0),
        label: "\u{1b}c".into(),
    });
    let report = Report {
        diagnostics: vec![diagnostic],
        ledger: Ledger::default(),
    };
    let texts = texts(&[("a\u{202e}\n.md", text)]);
    for format in [
        Format::Full,
        Format::Short,
        Format::Json,
        Format::Github,
        Format::Sarif,
        Format::Junit,
    ] {
        let shown = rendered(&report, format, &RenderOptions::default(), &texts);
        assert!(
            !shown.chars().any(visible::is_hazard),
            "{format:?}: {shown}"
        );
        assert_eq!(
            shown
                .lines()
                .filter(|line| line.starts_with("checked 9"))
                .count(),
            0,
            "{format:?}: {shown}"
        );
    }
    insta::assert_snapshot!(rendered(
        &report,
        Format::Full,
        &RenderOptions::default(),
        &texts
    ));
    insta::assert_snapshot!(
        "hostile_short",
        rendered(&report, Format::Short, &RenderOptions::default(), &texts)
    );
    insta::assert_snapshot!(
        "hostile_json",
        rendered(&report, Format::Json, &RenderOptions::default(), &texts)
    );
}

/// A text of pieces that are hard to draw.
fn hard_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("\n"),
        Just("\r\n"),
        Just("\t"),
        Just("a"),
        Just("word "),
        Just("日"),
        Just("😀"),
        Just("e\u{301}"),
        Just("\u{202e}"),
        Just("\u{1b}"),
        Just("\r"),
        Just("\0"),
        Just("שלום"),
        Just("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"),
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    /// Any range over any text, also one that no longer fits it, is drawn, safely and in bounds.
    #[test]
    fn anything_can_be_drawn(text in hard_text(), start in 0usize..300, length in 0usize..300, width in 0usize..200, unicode: bool) {
        let mut diagnostic = Diagnostic::new(VERIFY_001, "message").in_file("a.md").label("label");
        diagnostic.span = Some(Span { start, end: start + length, line: 7, column: 1, end_line: 7, end_column: 1 });
        diagnostic.related.push(Related {
            file: "b.md".into(), page: None, span: None, label: String::new(),
            excerpt: Some(Excerpt { text: text.clone(), first_line: 0, start, end: start + length }),
        });
        let report = Report { diagnostics: vec![diagnostic], ledger: Ledger::default() };
        let options = RenderOptions { width, unicode, color: false };
        let shown = rendered(&report, Format::Full, &options, &texts(&[("a.md", text.as_str())]));
        prop_assert!(!shown.chars().any(visible::is_hazard));
        prop_assert!(shown.lines().count() < 40);
        prop_assert!(unicode || !shown.contains('─'));
        for format in [Format::Json, Format::Sarif, Format::Junit, Format::Github, Format::Short] {
            rendered(&report, format, &options, &texts(&[("a.md", text.as_str())]));
        }
    }

    /// The mark in the drawing covers the text that the span covers.
    #[test]
    fn the_mark_covers_the_span(text in "[a-z日é😀\t ]{0,30}", cut in 0usize..30, length in 0usize..30) {
        let start = text.floor_char_boundary(cut.min(text.len()));
        let end = text.floor_char_boundary((start + length).min(text.len()));
        let snippet = snippet::Snippet::new(&text, start..end, Some(1), &RenderOptions::default());
        prop_assert_eq!(snippet.marked(), &text[start..end]);
    }
}
