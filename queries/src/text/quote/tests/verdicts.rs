//! What is made of what was found.

use super::super::*;
use super::{lenient, strict};

fn decides(source: &str, quote: &str) -> String {
    let verdict = strict(source, quote);
    assert!(!verdict.verified(), "{source:?} | {quote:?}: {verdict:?}");
    verdict
        .nearest()
        .map(|nearest| nearest.decides.clone())
        .unwrap_or_default()
}

#[test]
fn too_little_evidence_is_said_and_an_empty_quote_never_stands() {
    for quote in ["", "   ", "...", "…", "\"'\"", "[...]", "—", "\u{200b}"] {
        let verdict = lenient("Some text, here… — for \"'\" the record [...].", quote);
        assert!(!verdict.verified(), "{quote:?}");
        assert_eq!(verdict.flags(), [Flag::TooShort], "{quote:?}");
    }
    let verdict = strict("The valve failed at noon.", "valve failed");
    assert!(verdict.verified(), "it stands there exactly once");
    assert_eq!(verdict.flags(), [Flag::TooShort]);
    let verdict = strict("The valve failed and a valve failed.", "valve failed");
    assert!(!verdict.verified());
    assert_eq!(
        verdict.flags(),
        [Flag::TooShort, Flag::Ambiguous { count: 2 }]
    );
    assert!(
        strict("中文文本测试包含标点", "文本测试包含")
            .flags()
            .is_empty(),
        "six characters are enough"
    );
    assert_eq!(
        strict("中文文本测试包含标点", "文本测试").flags(),
        [Flag::TooShort]
    );
    assert!(
        strict("the electroencephalography lab", "electroencephalography")
            .flags()
            .is_empty()
    );
}

#[test]
fn an_ambiguous_quote_needs_its_context() {
    let source = "Team Alpha won the cup. Team Beta won the cup twice.";
    let verdict = strict(source, "won the cup");
    assert_eq!(verdict.flags(), [Flag::Ambiguous { count: 2 }]);
    assert!(!verdict.verified());
    assert!(lenient(source, "won the cup").verified());
    let ask = |prefix, suffix| {
        let quote = Quote {
            text: "won the cup",
            prefix,
            suffix,
        };
        check_quote(&Passage::whole(source), &quote, Options::default())
    };
    assert_eq!(ask(Some("Team Beta "), None).spans(), [34..45]);
    assert_eq!(ask(None, Some(" twice")).spans(), [34..45]);
    assert_eq!(ask(None, Some(". Team")).spans(), [11..22]);
    assert!(ask(None, Some(". Team")).verified());
    // Equal prefix, different suffix: the suffix counts.
    assert_eq!(
        ask(Some("won"), Some("twice")).flags(),
        [Flag::ContextDiffers, Flag::Ambiguous { count: 2 }]
    );
    // A wrong hint does not lose a unique hit.
    let quote = Quote {
        text: "Team Beta won",
        prefix: Some("nonsense"),
        suffix: None,
    };
    let verdict = check_quote(&Passage::whole(source), &quote, Options::default());
    assert!(verdict.verified());
    assert_eq!(verdict.flags(), [Flag::ContextDiffers]);
}

#[test]
fn quotes_of_one_citation_are_assigned_in_order() {
    let source = "It rose by two percent. Then it fell. It rose by two percent.";
    let twice = [
        Quote::new("rose by two percent"),
        Quote::new("rose by two percent"),
    ];
    let verdicts = Matcher::new(Passage::whole(source)).check_all(&twice, Options::default());
    assert!(verdicts.iter().all(Verdict::verified), "{verdicts:?}");
    assert_eq!(verdicts[0].spans(), [3..22]);
    assert_eq!(verdicts[1].spans(), [41..60]);
    let after = [
        Quote::new("Then it fell"),
        Quote::new("rose by two percent"),
    ];
    let verdicts = Matcher::new(Passage::whole(source)).check_all(&after, Options::default());
    assert_eq!(verdicts[1].spans(), [41..60]);
    assert!(verdicts[1].verified());
    let alone = [Quote::new("rose by two percent")];
    assert!(
        !Matcher::new(Passage::whole(source)).check_all(&alone, Options::default())[0].verified()
    );
}

#[test]
fn a_match_lies_on_the_cited_pages_and_may_run_into_the_next_chunk() {
    let text = "The first page ends in the middle of a sentence that goes on here.";
    let passage = |cited, window| Passage {
        text,
        cited,
        window,
        page_starts: None,
        veiled: &[],
        title: None,
    };
    let check =
        |passage: &Passage<'_>, quote| check_quote(passage, &Quote::new(quote), Options::default());
    let quote = "middle of a sentence that goes on";
    let verdict = check(&passage(0..38, 0..text.len()), quote);
    assert!(verdict.verified() && verdict.crosses());
    let verdict = check(&passage(0..38, 0..38), quote);
    assert_eq!(
        (verdict.class(), verdict.verified()),
        (MatchClass::OutsidePages, false)
    );
    assert_eq!(&text[verdict.spans()[0].clone()], quote);
    let verdict = check(&passage(38..text.len(), 0..text.len()), quote);
    assert_eq!(
        verdict.class(),
        MatchClass::Absent,
        "it begins in another chunk"
    );
    let verdict = check(
        &passage(0..text.len(), 20..text.len()),
        "first page ends in",
    );
    assert_eq!(verdict.class(), MatchClass::OutsidePages);
    let verdict = check(
        &passage(0..text.len(), 30..text.len()),
        "The first page ... goes on here",
    );
    assert_eq!(verdict.class(), MatchClass::OutsidePages);
}

#[test]
fn elisions_show_what_they_are() {
    let source = "Alpha beta gamma delta epsilon zeta eta theta iota kappa.";
    for mark in [
        "...", "…", "[...]", "[…]", "(...)", "(…)", "[ ... ]", ". . .", "[..]",
    ] {
        let verdict = strict(source, &format!("Alpha beta gamma {mark} eta theta iota"));
        assert_eq!(verdict.class(), MatchClass::Elided, "{mark}");
        assert!(verdict.verified(), "{mark}");
        let found: Vec<&str> = verdict
            .spans()
            .iter()
            .map(|span| &source[span.clone()])
            .collect();
        assert_eq!(found, ["Alpha beta gamma", "eta theta iota"], "{mark}");
    }
    assert!(strict(source, "... delta epsilon zeta ...").verified());
    assert!(
        !strict(source, "Alpha beta gamma .. eta theta iota").verified(),
        "two dots are no mark"
    );
    assert!(
        !strict(source, "Alpha beta ... eta theta iota").verified(),
        "two words prove nothing"
    );
    assert!(
        !strict(source, "Alpha beta gamma ... gamma delta epsilon").verified(),
        "segments overlap"
    );
    assert!(decides(source, "eta theta iota ... Alpha beta gamma").contains("not in this order"));
    assert!(
        decides(source, "Alpha beta gamma ... eta theta omega")
            .contains("the segment \"eta theta omega\"")
    );

    let long = format!(
        "the pump was stopped at noon. {}it was restarted without approval.",
        "filler text. ".repeat(40)
    );
    assert!(
        decides(&long, "the pump was stopped ... restarted without approval")
            .contains("more than 400")
    );
    let sections =
        "the pump was stopped at noon.\n\n## Later\n\nit was restarted without approval.";
    assert!(
        decides(sections, "the pump was stopped ... was restarted without")
            .contains("another section")
    );
}

#[test]
fn an_omitted_negation_is_shown_and_refused_under_strict() {
    for (omitted, words) in [
        ("does not", vec!["not"]),
        ("doesn’t", vec!["doesn’t"]),
        ("except in mice never", vec!["except", "never"]),
        ("UNLESS heated", vec!["UNLESS"]),
    ] {
        let source = format!("in the trial the drug {omitted} reduce mortality at all");
        let quote = "in the trial the drug [...] reduce mortality at all";
        let verdict = strict(&source, quote);
        let words: Vec<String> = words.into_iter().map(str::to_owned).collect();
        assert!(
            verdict.flags().contains(&Flag::OmittedNegation { words }),
            "{verdict:?}"
        );
        assert_eq!(
            (verdict.class(), verdict.verified()),
            (MatchClass::Elided, false)
        );
        assert!(lenient(&source, quote).verified(), "{omitted}");
    }
    let tight =
        "we saw no effect at all. It is not so. we saw no effect at all, and in mice it was large";
    let verdict = strict(tight, "we saw no effect ... in mice it was");
    assert!(
        verdict.verified(),
        "the tightest reading leaves out least: {verdict:?}"
    );
}

#[test]
fn brackets_are_literal_first_and_editorial_second() {
    for quote in [
        "with [95% CI 1-2] and [2Fe-2S] and",
        "the [30S] subunit of it",
    ] {
        let source = format!("seen {quote} more");
        assert_eq!(strict(&source, quote).class(), MatchClass::Exact);
    }
    let verdict = strict(
        "It blocks nuclear targeting of it",
        "It [the protein] blocks nuclear targeting",
    );
    assert_eq!(
        verdict.flags(),
        [Flag::Editorial {
            inserted: vec!["the protein".into()]
        }]
    );
    let verdict = strict(
        "It blocks\n[APTT] nuclear targeting",
        "It [the protein] blocks [APTT] nuclear",
    );
    assert_eq!(
        verdict.flags(),
        [Flag::Editorial {
            inserted: vec!["the protein".into()]
        }]
    );
    let verdict = strict(
        "blocks nuclear targeting of it",
        "[The protein] blocks nuclear targeting",
    );
    assert!(verdict.verified());
    assert_eq!(
        verdict.flags(),
        [Flag::Editorial {
            inserted: vec!["The protein".into()]
        }]
    );
    for quote in [
        "the sensor was [not] faulty during",
        "the sensor was [never once] faulty during",
        "the sensor was [5] faulty during",
        "the sensor was [possibly, it may be,] faulty during",
        "the sensor was [a whole clause the source has no word of] faulty during",
        "the sensor was[x] faulty during",
    ] {
        assert!(
            !strict("the sensor was faulty during the run", quote).verified(),
            "{quote}"
        );
    }
    assert!(
        !strict("the sensor [APTT] was faulty", "the sensor was faulty").verified(),
        "content is no marker"
    );
}

#[test]
fn words_that_govern_the_quote_are_shown() {
    for (source, quote, cue) in [
        (
            "Fine. It is false that the valve failed early. Good.",
            "the valve failed early",
            "false",
        ),
        (
            "The driver allegedly ran the red light.",
            "ran the red light",
            "allegedly",
        ),
        (
            "The drug did not reduce mortality in trials.",
            "reduce mortality in trials",
            "not",
        ),
        (
            "That the valve failed early was later refuted.",
            "the valve failed early",
            "refuted",
        ),
        (
            "MARK[hyp] the regulator is the cause of it",
            "the regulator is the cause",
            "hyp",
        ),
        (
            "It didn’t reduce mortality in trials.",
            "reduce mortality in trials",
            "didn’t",
        ),
    ] {
        let verdict = strict(source, quote);
        assert!(verdict.verified(), "a cue only warns");
        let [
            Flag::Cue {
                sentence,
                cue: found,
            },
        ] = verdict.flags()
        else {
            panic!("{source}: {verdict:?}");
        };
        assert_eq!(found, cue);
        assert!(
            source[sentence.clone()].contains(quote) && !source[sentence.clone()].contains("Fine")
        );
    }
    for (source, quote) in [
        (
            "It was false. The valve failed early on.",
            "The valve failed early",
        ),
        (
            "It did not rain, and the valve failed early.",
            "the valve failed early",
        ),
        (
            "The drug did not reduce mortality.",
            "The drug did not reduce mortality",
        ),
    ] {
        assert!(strict(source, quote).flags().is_empty(), "{source}");
    }
}

#[test]
fn a_quote_of_the_title_is_flagged() {
    let passage = Passage {
        title: Some("On the Nature of Things"),
        ..Passage::whole("On the nature of things\n\nBodies fall.")
    };
    let verdict = check_quote(
        &passage,
        &Quote::new("On the nature of things"),
        Options::default(),
    );
    assert_eq!(verdict.flags(), [Flag::OnlyTitle]);
    let verdict = check_quote(
        &passage,
        &Quote::new("nature of things"),
        Options::default(),
    );
    assert!(verdict.flags().is_empty());
}

#[test]
fn fuzzy_is_asked_for_and_touches_nothing_protected() {
    let source = "The committee recommended that all samples should be stored below freezing, with 12 of them as controls.";
    let fuzzy = |quote: &str| {
        let options = Options {
            profile: Profile::Strict,
            fuzzy: true,
        };
        check_quote(&Passage::whole(source), &Quote::new(quote), options)
    };
    let typo = "The comittee recommended that all samples should be stored below freezing";
    let verdict = fuzzy(typo);
    assert_eq!(
        (verdict.class(), verdict.verified()),
        (MatchClass::Fuzzy, true),
        "{verdict:?}"
    );
    assert_eq!(
        verdict.flags(),
        [Flag::Fuzzy {
            edits: vec![("comittee".into(), "committee".into())]
        }]
    );
    assert_eq!(
        &source[verdict.spans()[0].clone()],
        "The committee recommended that all samples should be stored below freezing"
    );
    assert!(!strict(source, typo).verified());
    for quote in [
        "The committee recommended that all samples should be stored below freezing, with 13 of them",
        "The committee recommended that ill samples should be stored below freezing",
        "The committee recommended that all samples could be stored below freezing",
        "The committee recommended that all samples should be stored below freezing. with 12",
        "The committee recommended that all sample should be stored below freexing",
        "The committee recommended that all samples should be stored below",
        "The committee recommended all samples should be stored below freezing",
        "the comittee recommended",
        "The committee Recommended that all samples should be stored below freezing",
        "The committee recommended that all samples should be stored below reezing and so on",
    ] {
        let verdict = fuzzy(quote);
        assert_ne!(verdict.class(), MatchClass::Fuzzy, "{quote}");
    }
}

#[test]
fn fuzzy_leaves_names_alone() {
    let options = Options {
        profile: Profile::Strict,
        fuzzy: true,
    };
    for (source, quote, accepted) in [
        // A name within the sentence, at its beginning, in a list, in a hyphenated whole.
        (
            "the play was written by Johnson while he was in the prison of the county",
            "the play was written by Jonson while he was in the prison of the county",
            false,
        ),
        (
            "Johnson wrote the play while he was in the prison of the county",
            "Jonson wrote the play while he was in the prison of the county",
            false,
        ),
        (
            "the samples came from Norwich, Ipswich and Harwich by the night boat",
            "the samples came from Norwich, Ipswish and Harwich by the night boat",
            false,
        ),
        (
            "the house of Müller-Brandt bought all of the barley of that summer",
            "the house of Müller-Brand bought all of the barley of that summer",
            false,
        ),
        // Capitals throughout may be an abbreviation.
        (
            "the rules of the UNESCO committee were applied to all the gardens",
            "the rules of the UNESCA committee were applied to all the gardens",
            false,
        ),
        // The risk that is documented: other words of one letter's difference.
        (
            "the vessel held a solution of copper sulfate that was stirred for an hour",
            "the vessel held a solution of copper sulfite that was stirred for an hour",
            true,
        ),
        (
            "the vessel held a solution of copper sulfate that was stirred for an hour",
            "the vessel held a soluton of copper sulfate that was stirred for an hour",
            true,
        ),
    ] {
        let verdict = check_quote(&Passage::whole(source), &Quote::new(quote), options);
        assert_eq!(
            verdict.class() == MatchClass::Fuzzy,
            accepted,
            "{quote}: {verdict:?}"
        );
        assert_eq!(verdict.verified(), accepted, "{quote}");
    }
}

#[test]
fn the_nearest_passage_names_what_decides() {
    for (source, quote, expected) in [
        (
            "the opcode 0x01 is reserved here",
            "the opcode 0x00 is reserved here",
            "differs in a protected number: 0x00 ≠ 0x01",
        ),
        (
            "holds 1,000 frames per slot",
            "holds 1.000 frames per slot",
            "differs in a protected number: 1.000 ≠ 1,000",
        ),
        (
            "The drug did not reduce mortality.",
            "The drug did reduce mortality.",
            "leaves out the negation \"not\"",
        ),
        (
            "The drug did reduce mortality.",
            "The drug did not reduce mortality.",
            "brings in the negation \"not\"",
        ),
        (
            "patients aged ≥12 years were",
            "patients aged 12 years were",
            "differs in a protected number: 12 ≠ ≥12",
        ),
        (
            "The Treaty Of Paris ended it",
            "the treaty of paris ended it",
            "differs in case: \"treaty\" ≠ \"Treaty\"",
        ),
        (
            "Team Beta won the cup",
            "Team Alpha won the cup",
            "differs in words: \"Alpha\" ≠ \"Beta\"",
        ),
        (
            "the big red cup was won",
            "the red cup was won",
            "leaves out \"big\"",
        ),
        (
            "the cup was won",
            "the red cup was won",
            "has \"red\", which the source does not have here",
        ),
        (
            "he went. She came home",
            "he went, She came home",
            "differs in punctuation: \",\" ≠ \".\"",
        ),
        (
            "call open () in a loop",
            "call open() in a loop",
            "differs in white space or markup",
        ),
        (
            "it cost € 5 per unit sold",
            "it cost $ 5 per unit sold",
            "differs in a sign: $ ≠ €",
        ),
    ] {
        let padded = format!("Some words come first. {source} And others follow.");
        assert_eq!(decides(&padded, quote), expected, "{source:?} | {quote:?}");
    }
    let verdict = strict(
        "Bodies fall to the ground with equal speed.",
        "whales sing in the deep ocean",
    );
    assert!(
        verdict.nearest().is_none(),
        "nothing resembles it, so nothing is explained"
    );
}

#[test]
fn the_contract_accepts_what_it_always_did() {
    for (source, quote) in [
        ("unable to see", "able to see"),
        ("one two one two", "one two"),
        ("the 1020 cells", "the 10-\n20 cells"),
        ("a wellknown result", "a well-\nknown result"),
        ("the raft of it", "the ra\u{fb05} of it"),
    ] {
        assert!(lenient(source, quote).verified(), "{source:?} | {quote:?}");
    }
}

#[test]
fn verdicts_survive_the_trace_store() {
    for (source, quote) in [
        (
            "Alpha beta gamma delta epsilon zeta eta",
            "Alpha beta gamma ... epsilon zeta eta",
        ),
        ("unable to see", "able to see"),
        ("the o\u{fb03}ce was  wet", "the office was wet"),
        ("the opcode 0x01 is reserved", "the opcode 0x00 is reserved"),
    ] {
        let verdict = strict(source, quote);
        let text = serde_json::to_string(&verdict).unwrap();
        assert_eq!(serde_json::from_str::<Verdict>(&text).unwrap(), verdict);
    }
    let forged = r#"{"class":"exact","verified":true,"foldings":[],"spans":[],"crosses":false,"flags":[],"nearest":null}"#;
    assert!(
        serde_json::from_str::<Verdict>(forged).is_err(),
        "verified without a place"
    );
}

#[test]
fn all_places_of_a_quote_are_found_and_twins_are_not() {
    let text = "Team Beta won.  Later Team\nBeta won. Team Alpha won.";
    let find =
        |quote: &str| find_all_exact_or_normalized(&Passage::whole(text), &Quote::new(quote));
    assert_eq!(
        find("Team Beta won"),
        [0..13],
        "the exact one, not the wrapped one"
    );
    assert_eq!(find("Team  Beta won").len(), 2);
    assert!(find("Team Gamma won").is_empty());
    assert_eq!(find("Team Alpha won"), [37..51]);
}

#[test]
fn hostile_texts_cost_linear_time() {
    let begin = std::time::Instant::now();
    let cases: Vec<(String, String)> = vec![
        ("a ".repeat(100_000), format!("{}b", "a ".repeat(20_000))),
        ("a".repeat(200_000), "a".repeat(50_000) + "b"),
        ("[1] ".repeat(50_000), "x [1] [1] y z".into()),
        ("**a** ".repeat(50_000), "a a **a a** b b".into()),
        ("[".repeat(100_000), "x [ [ y".into()),
        ("<b ".repeat(50_000), "x y z".into()),
        ("\u{301}".repeat(100_000), "e\u{301}\u{301} x y".into()),
        ("-\n".repeat(100_000), "a - b c".into()),
        ("A\n\nb\n\n".repeat(30_000), "b b b b c".into()),
        (
            "one two three four ".repeat(10_000),
            "one two three ... two three four ... four five six".into(),
        ),
        (
            "\u{1f1e6}".repeat(50_000),
            "\u{1f1e6}\u{1f1e6} a b c".into(),
        ),
        ("he said ' ".repeat(20_000), "he said x".into()),
    ];
    for (source, quote) in &cases {
        let verdict = strict(source, quote);
        assert!(!verdict.verified());
    }
    assert!(begin.elapsed().as_secs() < 20, "{:?}", begin.elapsed());
}

#[test]
fn a_comparison_cut_off_at_an_end_is_no_mark_of_a_quoted_line() {
    let source = "It holds while the rate a < b stays under the bound.";
    for quote in ["It holds while the rate a >", "> b stays under the bound."] {
        let verdict = check_quote(
            &Passage::whole(source),
            &Quote::new(quote),
            Options::default(),
        );
        assert!(!verdict.verified(), "{quote}: {verdict:?}");
    }
}
