#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use proptest::prelude::*;

use super::{Judgement, parse};

/// A report whose section holds these lines.
fn report(section: &str) -> String {
    format!("# Round\n\n## Knowledge Consulted\n\n{section}\n")
}

fn cited(text: &str) -> Vec<String> {
    parse(text)
        .section
        .map(|section| section.cited.into_iter().map(|cited| cited.path).collect())
        .unwrap_or_default()
}

#[test]
fn a_list_item_names_its_path_in_many_ways() {
    for (item, path) in [
        ("- cards/a.md", "cards/a.md"),
        ("* cards/a.md", "cards/a.md"),
        ("   - cards/a.md", "cards/a.md"),
        ("-\tcards/a.md", "cards/a.md"),
        ("- cards/a.md -- the rule", "cards/a.md"),
        ("- cards/a.md — the rule", "cards/a.md"),
        ("- cards/a.md - the rule", "cards/a.md"),
        ("- cards/a.md (the rule)", "cards/a.md"),
        ("- cards/a.md the rule", "cards/a.md"),
        ("- `cards/with space.md` -- the rule", "cards/with space.md"),
        ("- cards/with space.md -- the rule", "cards/with space.md"),
        ("- [The rule](cards/a.md) — why", "cards/a.md"),
        ("- [The rule](<cards/with space.md>)", "cards/with space.md"),
        ("- [The rule](cards/a.md#part)", "cards/a.md#part"),
        ("- <!-- seen --> cards/a.md", "cards/a.md"),
        (r"- cards\a.md -- the rule", r"cards\a.md"),
        ("- N/A", "N/A"),
    ] {
        assert_eq!(cited(&report(item)), [path], "{item}");
    }
}

#[test]
fn several_cards_in_one_item_are_all_cited() {
    for (item, paths) in [
        (
            "- [one](cards/a.md) and [two](cards/b.md) -- see [three](cards/c.md)",
            &["cards/a.md", "cards/b.md"][..],
        ),
        (
            "- `cards/a.md`, `cards/b.md` (and `cards/c.md`)",
            &["cards/a.md", "cards/b.md"],
        ),
        ("- `cards/a.md` for `sha256`", &["cards/a.md"]),
        (
            "- [one](cards/a.md), see [docs](https://example.org/cards/x)",
            &["cards/a.md"],
        ),
        ("- [x] cards/a.md", &["cards/a.md"]),
        ("- [ ] [one](cards/a.md)", &["cards/a.md"]),
    ] {
        assert_eq!(cited(&report(item)), paths, "{item}");
    }
}

#[test]
fn other_readings_of_a_path_are_at_hand() {
    let readings = |item: &str| {
        let summary = parse(&report(item));
        summary.section.unwrap().cited.remove(0).readings
    };
    assert_eq!(readings("- [x](cards/a.md#part)"), ["cards/a.md"]);
    assert_eq!(readings("- [x](cards/a%20b.md)"), ["cards/a b.md"]);
    assert_eq!(readings(r"- cards\sub\a.md"), ["cards/sub/a.md"]);
    assert_eq!(readings("- cards/a.md"), Vec::<String>::new());
}

#[test]
fn a_link_by_reference_leads_where_its_definition_says() {
    let text = report("- [The rule][a]\n\n[a]: cards/a.md");
    assert_eq!(cited(&text), ["cards/a.md"]);
}

#[test]
fn what_the_reader_does_not_see_as_an_item_cites_nothing() {
    for section in [
        "```\n- cards/a.md\n```",
        "~~~text\n- cards/a.md\n~~~",
        "- list\n  ```\n  - cards/b.md\n  ```",
        "<!--\n- cards/a.md\n-->",
        "<!-- - cards/a.md -->",
        "- <!-- cards/a.md -->",
        "> - cards/a.md",
        "> quoted\n> - cards/a.md",
        "+ cards/a.md",
        "1. cards/a.md",
        "cards/a.md",
        "-cards/a.md",
        "```\n- cards/a.md",
    ] {
        let found = cited(&report(section));
        assert!(
            found.iter().all(|path| path == "list"),
            "{section:?}: {found:?}"
        );
    }
}

#[test]
fn a_code_span_that_holds_a_comments_start_opens_none() {
    assert_eq!(
        cited(&report("write `<!--` before it\n\n- cards/a.md")),
        ["cards/a.md"]
    );
}

#[test]
fn the_section_ends_at_the_next_heading_of_its_level() {
    let text = report("- cards/a.md\n### Sub\n- cards/b.md\n## Next\n- cards/c.md");
    assert_eq!(cited(&text), ["cards/a.md", "cards/b.md"]);
    // A heading inside a fence is none.
    let text = report("```\n## Next\n```\n- cards/a.md");
    assert_eq!(cited(&text), ["cards/a.md"]);
}

#[test]
fn only_the_first_section_counts_and_only_in_its_spelling() {
    let text = "## Knowledge Consulted\n- a.md\n## Knowledge Consulted\n- b.md\n";
    assert_eq!(cited(text), ["a.md"]);
    for heading in [
        "### Knowledge Consulted",
        "## knowledge consulted",
        " ## Knowledge Consulted",
        "##Knowledge Consulted",
        "## Knowledge Consulted now",
        "> ## Knowledge Consulted",
        "```\n## Knowledge Consulted\n```",
        "<!--\n## Knowledge Consulted\n-->",
    ] {
        let text = format!("intro\n\n{heading}\n- a.md\n");
        assert!(parse(&text).section.is_none(), "{heading}");
    }
    for heading in [
        "## Knowledge Consulted  ",
        "##\tKnowledge Consulted",
        "##\n\nKnowledge Consulted",
        "\u{FEFF}## Knowledge Consulted",
    ] {
        let text = format!("{heading}\n- a.md\n");
        assert_eq!(cited(&text), ["a.md"], "{heading:?}");
    }
}

#[test]
fn every_line_end_of_unicode_ends_a_line() {
    for end in [
        "\n", "\r\n", "\r", "\u{B}", "\u{C}", "\u{1C}", "\u{85}", "\u{2028}", "\u{2029}",
    ] {
        let text = [
            "## Knowledge Consulted",
            "- a.md",
            "- b.md",
            "## Next",
            "- c.md",
        ]
        .join(end);
        assert_eq!(cited(&text), ["a.md", "b.md"], "{end:?}");
    }
}

#[test]
fn a_web_address_does_not_make_a_report_relevant() {
    for (text, relevant) in [
        ("edited cards/a.md", true),
        ("ran `cat cards/a.md`", true),
        ("```\ncat cards/a.md\n```", true),
        (".claude/knowledge/a.md", true),
        (r"edited cards\a.md", true),
        ("see file:///repo/cards/a.md", true),
        ("see https://example.org/cards/a", false),
        ("see <https://example.org/cards/a>", false),
        ("see www.example.org/cards/a", false),
        ("[x](https://example.org/cards/a) and cards/b.md", true),
        ("https://example.org/cards/a cards/b.md", true),
        ("nothing of the kind", false),
        ("cards without a path", false),
    ] {
        assert_eq!(parse(text).relevant, relevant, "{text}");
    }
}

#[test]
fn every_row_of_the_decision_table() {
    let sentinel = super::SENTINEL;
    for (section, remark, judgement) in [
        (None, "cards/x", Judgement::SectionMissing),
        (None, "", Judgement::NotRelevant),
        (Some(sentinel.to_owned()), "", Judgement::Acknowledged),
        (
            Some(sentinel.to_owned()),
            "cards/x",
            Judgement::SentinelOnRelevant,
        ),
        (Some(String::new()), "cards/x", Judgement::EmptyOnRelevant),
        (Some(String::new()), "", Judgement::Nothing),
        (Some("- a.md".into()), "", Judgement::Cards),
        (
            Some(format!("- a.md\n{sentinel}")),
            "",
            Judgement::CardsAndSentinel,
        ),
        // Neither a sentinel nor a card when it is only shown.
        (
            Some(format!("```\n{sentinel}\n```")),
            "",
            Judgement::Nothing,
        ),
        (
            Some("```\n- cards/a.md\n```".into()),
            "",
            Judgement::EmptyOnRelevant,
        ),
        (
            Some("N/A -- Task not KB-relevant this round".into()),
            "",
            Judgement::Nothing,
        ),
    ] {
        let mut text = format!("# Round\n\n{remark}\n\n");
        if let Some(section) = &section {
            text.push_str(&format!("## Knowledge Consulted\n\n{section}\n"));
        }
        assert_eq!(parse(&text).judgement(), judgement, "{text}");
    }
}

proptest! {
    #[test]
    fn any_text_is_read(text in "(\\PC|[-*#`<>!\\[\\]()\n\r\u{2028} ]){0,200}") {
        let summary = parse(&text);
        for cited in summary.section.into_iter().flat_map(|section| section.cited) {
            prop_assert!(text.get(cited.range.clone()).is_some());
            prop_assert!(!cited.path.is_empty());
        }
    }

    #[test]
    fn a_path_in_code_ticks_is_read_as_it_stands(path in "[a-z \\\\/._-]{1,40}[a-z]") {
        prop_assume!(!path.starts_with(' '));
        prop_assert_eq!(cited(&report(&format!("- `{path}` -- why"))), [path]);
    }
}
