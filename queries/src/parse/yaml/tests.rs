//! YAML in, trees and places out.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::scalar::classify;
use super::*;
use proptest::prelude::*;

fn seen(text: &str) -> Vec<String> {
    let tree = parse(text, 0..text.len());
    tree.problems
        .iter()
        .chain(&tree.duplicates)
        .map(|problem| format!("{} @ {}", problem.code, &text[problem.span.clone()]))
        .collect()
}

#[test]
fn plain_scalars_have_the_core_schemas_types() {
    let cases = [
        ("", ScalarKind::Null),
        ("~", ScalarKind::Null),
        ("NULL", ScalarKind::Null),
        ("nULL", ScalarKind::String),
        ("True", ScalarKind::Bool),
        ("yes", ScalarKind::String),
        ("-12", ScalarKind::Integer(-12)),
        ("+012", ScalarKind::Integer(12)),
        ("0x1F", ScalarKind::Integer(31)),
        ("0o17", ScalarKind::Integer(15)),
        ("0x", ScalarKind::String),
        ("9223372036854775808", ScalarKind::HugeInteger),
        ("1.", ScalarKind::Float),
        (".5", ScalarKind::Float),
        (".", ScalarKind::String),
        ("-", ScalarKind::String),
        ("1e5", ScalarKind::Float),
        ("1e", ScalarKind::String),
        ("-.INF", ScalarKind::Float),
        (".nan", ScalarKind::Float),
        ("1.2.3", ScalarKind::String),
        ("12:30", ScalarKind::String),
        ("2024-01-31", ScalarKind::Date),
        ("2024-01-31T10:00:00Z", ScalarKind::Date),
        ("2024-01-31x", ScalarKind::String),
        ("2024-1-31", ScalarKind::String),
        ("1694a259", ScalarKind::String),
        ("16943e259", ScalarKind::Float),
    ];
    for (text, kind) in cases {
        assert_eq!(classify(text), kind, "{text}");
    }
}

#[test]
fn bombs_are_bounded() {
    let lines: String = (0..40)
        .map(|depth| format!("{}- \n", " ".repeat(depth)))
        .collect();
    let braces = "[".repeat(5000);
    let laughs = "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n";
    assert_eq!(seen(laughs).len(), 6);
    let many = format!("[{}]", "a,".repeat(MAX_NODES + 1));
    for (text, what) in [(lines, "block"), (braces, "flow"), (many, "values")] {
        let tree = parse(&text, 0..text.len());
        assert!(tree.root.is_none(), "{what}");
        assert_eq!(tree.problems.last().unwrap().code, FM_006, "{what}");
    }
}

#[test]
fn spans_cover_what_is_written() {
    let text = "a: 'x y' # c\nb: plain words  \nc: |\n  two\n  lines\nd: [1, {e: 2}]\nf:\n- g\n- h: i\n  j: k\n";
    let tree = parse(text, 0..text.len());
    let Value::Mapping { entries, .. } = tree.root.unwrap().value else {
        panic!()
    };
    let spans: Vec<_> = entries
        .iter()
        .map(|entry| &text[entry.value.span.clone()])
        .collect();
    assert_eq!(
        spans,
        [
            "'x y'",
            "plain words",
            "two\n  lines",
            "[1, {e: 2}]",
            "g\n- h: i\n  j: k"
        ]
    );
}

#[test]
fn duplicates_are_found_in_small_and_large_mappings() {
    assert_eq!(
        seen("a: 1\nb: {c: 1, 'c': 2}\na: 2\n"),
        ["CACG-FM-006 @ 'c'", "CACG-FM-006 @ a"]
    );
    let keys: String = (0..40).map(|key| format!("k{key}: 1\n")).collect();
    assert_eq!(seen(&format!("{keys}k7: 2\n")), ["CACG-FM-006 @ k7"]);
}

#[test]
fn long_values_are_no_keys() {
    let text = format!("- \"{}\"\n- {}\n", "word ".repeat(900), "word ".repeat(900));
    assert_eq!(seen(&text), [""; 0]);
}

proptest! {
    #[test]
    fn anything_ends_in_a_state(text in "[-a:\\[\\]{},\"'&*!|>#%?\n\t \u{85}\u{2028}\u{FEFF}é0.~]{0,60}") {
        let tree = parse(&text, 0..text.len());
        for problem in tree.problems.iter().chain(&tree.duplicates) {
            prop_assert!(text.get(problem.span.clone()).is_some());
        }
    }
}

/// A document's shape, to be written out with random indentation.
#[derive(Clone, Debug)]
enum Shape {
    Inline(&'static str),
    Mapping(Vec<(&'static str, Shape)>, usize),
    List(Vec<Shape>, usize, usize),
}

fn inline() -> impl Strategy<Value = &'static str> {
    let everyday = prop::sample::select(vec![
        "\"text\"",
        "\"a \\\" \\\\ \\n b\"",
        "\"é\" ",
        "[1, 2]",
        "[]",
        "[a, \"b, c\" ]",
        "[a,b]",
        "[ 1 ]",
        "plain words",
        "2024",
        "2024-01-01",
        "a:b",
        "é à",
        "1.5",
        "true",
        "null",
        "a-b",
        "0x1F",
        "\"\"",
        "x (y); z",
        "12:30",
    ]);
    let odd = prop::sample::select(vec![
        "",
        "\"\\x41\"",
        "[a, ]",
        "[, a]",
        "[a:b]",
        "[a b, c]",
        "[[1]]",
        "[a",
        "a: b",
        "a #c",
        "a#b",
        "x\u{A0}",
        "-",
        "- a",
        "~",
        "'q'",
        "|",
        "&a x",
        "*a",
        "!t x",
        "{a: 1}",
        "\"open",
        "a\"b\"",
        "(x)",
        "a, b",
        "\"a\" b",
        "---",
        "? a",
        "\tx",
        "a:",
        "\"a\": b",
        "\"a\" # c",
        "\"a\u{2028}b\"",
        "\"a\u{85}b\"",
        "\u{FEFF}a",
        "\"\u{7F}\"",
        "a\\n",
        "\"[\"]",
        "[\"a\" b]",
    ]);
    prop_oneof![30 => everyday, 1 => odd]
}

fn key() -> impl Strategy<Value = &'static str> {
    let everyday = prop::sample::select(vec![
        "a:", "b_c:", "d-e:", "f:", "g: ", "true:", "a1:", "null:", "_:",
    ]);
    let odd = prop::sample::select(vec![
        "1:", "x y:", "\"k\":", "a", "? a:", "é:", "- a:", "<<:", "a.b:", "a :",
    ]);
    prop_oneof![40 => everyday, 1 => odd]
}

fn shape() -> impl Strategy<Value = Shape> {
    let mapping = |inner: BoxedStrategy<Shape>| {
        (
            prop::collection::vec((key(), inner), 1..4),
            prop::sample::select(vec![2usize, 2, 2, 1, 4]),
        )
            .prop_map(|(entries, indent)| Shape::Mapping(entries, indent))
    };
    let leaf = inline().prop_map(Shape::Inline).boxed();
    let value = leaf.prop_recursive(3, 16, 4, move |inner| {
        let list = (
            prop::collection::vec(inner.clone(), 1..4),
            prop::sample::select(vec![0usize, 2, 3]),
            1usize..3,
        )
            .prop_map(|(items, indent, gap)| Shape::List(items, indent, gap));
        prop_oneof![2 => inner.clone(), 2 => mapping(inner.boxed()), 2 => list]
    });
    mapping(value.boxed())
}

/// Writes a shape behind `lead`, the text that is already on its first line.
fn write(shape: &Shape, indent: usize, lead: &str, end: &str, out: &mut String) {
    match shape {
        Shape::Inline(text) => out.push_str(&format!("{lead} {text}{end}")),
        Shape::Mapping(entries, by) => {
            let inside_list = lead.trim_start().starts_with('-');
            let column = if inside_list {
                lead.len() + 1
            } else {
                indent + by
            };
            for (index, (key, value)) in entries.iter().enumerate() {
                let lead = match (index, inside_list) {
                    (0, true) => format!("{lead} {key}"),
                    _ => format!("{}{key}", " ".repeat(column)),
                };
                if index == 0 && !inside_list && !lead.trim().is_empty() && !out.is_empty() {
                    out.push_str(end);
                }
                write(value, column, &lead, end, out);
            }
        }
        Shape::List(items, by, gap) => {
            out.push_str(lead);
            out.push_str(end);
            for item in items {
                let lead = format!("{}-{}", " ".repeat(indent + by), " ".repeat(gap - 1));
                write(item, indent + by, &lead, end, out);
            }
        }
    }
}

fn document() -> impl Strategy<Value = String> {
    let end = prop::sample::select(vec!["\n", "\n", "\n", "\r\n", " \n", "\n\n"]);
    let mutation = prop::option::weighted(
        0.3,
        (
            0usize..200,
            0usize..4,
            prop::sample::select(vec![
                "", " ", "  ", "\n", "- ", ": ", "\"", "#", "[", "]", ",", "'", "\\", "-", "\r",
            ]),
        ),
    );
    (shape(), end, mutation).prop_map(|(shape, end, mutation)| {
        let mut text = String::new();
        if let Shape::Mapping(entries, _) = &shape {
            for (key, value) in entries {
                match value {
                    // A nested mapping begins on the next line.
                    Shape::Mapping(..) => {
                        text.push_str(&format!("{key}{end}"));
                        let mut inner = String::new();
                        write(value, 0, "", end, &mut inner);
                        text.push_str(&inner);
                    }
                    _ => write(value, 0, key, end, &mut text),
                }
            }
        }
        if let Some((at, length, insert)) = mutation {
            let mut characters: Vec<char> = text.chars().collect();
            let at = at.min(characters.len());
            let end = (at + length).min(characters.len());
            characters.splice(at..end, insert.chars());
            text = characters.into_iter().collect();
        }
        text
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn the_everyday_reader_agrees_with_the_parser(text in document()) {
        for text in [text.as_str(), text.trim_end()] {
            if let Some(tree) = everyday::parse(text, 10) {
                prop_assert_eq!(tree, events::parse(text, 10), "{:?}", text);
            }
        }
    }
}

#[test]
fn the_everyday_reader_is_tried_in_earnest() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let taken = (0..400)
        .filter(|_| {
            let text = document().new_tree(&mut runner).unwrap().current();
            everyday::parse(&text, 0).is_some() && text.lines().count() > 3
        })
        .count();
    assert!(
        taken > 100,
        "only {taken} of 400 generated documents take the short way"
    );
}

#[test]
fn everyday_cards_take_the_short_way() {
    let taken = [
        "a: \"b\"\nc: [1, 2]\nlist:\n  - x: \"1\"\n    y: two words\n  - x: \"2\"\nd: 5",
        "a: \"b\"\r\nlist:\r\n- x: \"1\"\r\n- \"y\"\r",
    ];
    for text in taken {
        assert_eq!(
            everyday::parse(text, 0),
            Some(events::parse(text, 0)),
            "{text}"
        );
    }
    for text in [
        "",
        "a:",
        "a: 'b'",
        "a: b # c",
        "- a",
        "a: b\n  c",
        "a: \"b\n c\"",
        "\ta: b",
        "a: &x b",
    ] {
        assert_eq!(everyday::parse(text, 0), None, "{text}");
    }
}
