//! The contract's cases, and what the stricter rules make of them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use proptest::prelude::*;
use serde::Deserialize;

use super::*;

#[derive(Deserialize)]
struct Case {
    id: String,
    source: String,
    quote: String,
    expected_class: Class,
    expected_detail: String,
    recommended_strict_outcome: Option<String>,
}

#[test]
fn the_recorded_cases() {
    let cases: Vec<Case> =
        serde_json::from_str(include_str!("../../../../fixtures/khms/quote_cases.json")).unwrap();
    assert!(cases.len() >= 27);
    let mut refused = 0;
    for case in cases {
        let answer = check(&case.source, &case.quote);
        assert_eq!(answer.class, case.expected_class, "{}", case.id);
        assert_eq!(answer.detail, case.expected_detail, "{}", case.id);
        let vouches = case.expected_class != Class::Absent;
        let stricter = case.recommended_strict_outcome.is_some();
        refused += usize::from(stricter);
        assert_eq!(
            answer.verified(),
            vouches && !stricter,
            "{}: {answer:?}",
            case.id
        );
        assert_eq!(
            answer.refusals.is_empty(),
            !stricter,
            "{}: {answer:?}",
            case.id
        );
    }
    assert!(refused >= 6, "{refused}");
}

/// Source, quote, class, the beginning of what speaks against it.
#[test]
fn what_speaks_against_a_quote() {
    let table: &[(&str, &str, Class, Option<&str>)] = &[
        (
            "10² units were left there",
            "102 units were left",
            Class::Wrapped,
            Some("it differs in a number: 102 ≠ 10²"),
        ),
        (
            "１２ units were left there",
            "12 units were left",
            Class::Wrapped,
            None,
        ),
        (
            "there were 2140 frames in all",
            "214",
            Class::Exact,
            Some("it ends inside"),
        ),
        (
            "a gain of 3.14 was seen there",
            "a gain of 3",
            Class::Exact,
            Some("it ends inside"),
        ),
        (
            "a gain of 3. It was seen",
            "a gain of 3",
            Class::Exact,
            None,
        ),
        // A place that nothing speaks against is preferred to an earlier one.
        (
            "unable to run it. He was able to run it",
            "able to run it",
            Class::Exact,
            None,
        ),
        (
            "the valve did not fail at all during the test run",
            "the valve did ... fail at all during the test run",
            Class::Elided,
            Some("the omitted words hold \"not\""),
        ),
        (
            "the valve of the main pump failed during the run",
            "the valve [3] failed during the run",
            Class::Elided,
            Some("the words in brackets"),
        ),
        (
            "MARK[obs] the first reading was lost\nMARK[obs] and the second was kept",
            "the first reading was ... the second was kept",
            Class::Elided,
            Some("its segments stand in different records"),
        ),
        (
            "He said: we never lost a frame",
            "WE NEVER LOST A FRAME",
            Class::Wrapped,
            None,
        ),
        (
            "one -- two and three -- four",
            "one - two and three — four",
            Class::Wrapped,
            None,
        ),
        (
            "a single * star stays there",
            "a single star stays",
            Class::Absent,
            None,
        ),
    ];
    for (source, quote, class, against) in table {
        let answer = check(source, quote);
        assert_eq!(answer.class, *class, "{quote}");
        match against {
            None => assert!(answer.refusals.is_empty(), "{quote}: {answer:?}"),
            Some(start) => assert!(
                answer
                    .refusals
                    .iter()
                    .chain(&answer.notes)
                    .any(|refusal| refusal.starts_with(start)),
                "{quote}: {answer:?}"
            ),
        }
    }
}

#[test]
fn the_spans_lead_back_to_the_source() {
    let source = "The o\u{fb03}ce — as **they** said —\n was  “wet” ΟΔΟΣ.";
    let answer = check(source, "the office - as they said - was \"wet\" οδος");
    assert_eq!(answer.class, Class::Wrapped);
    assert_eq!(
        &source[answer.spans[0].clone()],
        &source[..source.len() - 1]
    );
}

/// The normal form by the contract's words, without the map.
fn plainly(text: &str) -> String {
    let text: String = text.nfkc().map(mark).collect();
    let text = regex::Regex::new(r"(\d),(\d)").map(|comma| {
        // Twice, since two commas may share a digit.
        let once = comma.replace_all(&text, "$1.$2").into_owned();
        comma.replace_all(&once, "$1.$2").into_owned()
    });
    let text = text.unwrap().replace("**", "").replace('`', "");
    let text = regex::Regex::new("-{2,}")
        .unwrap()
        .replace_all(&text, "-")
        .into_owned();
    text.split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .to_lowercase()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn the_mapped_form_is_the_plain_one(
        text in "[a-cΣσA1,.\\-–—*` \n\u{a0}’“…\u{301}\u{fb01}²１éΑ가\u{1161}\u{ff76}\u{ff9e}]{0,40}"
    ) {
        let normal = Normal::of(&text);
        prop_assert_eq!(&normal.text, &plainly(&text));
        prop_assert_eq!(normal.origins.len(), normal.text.len());
    }

    #[test]
    fn nothing_breaks_it(source in "\\PC{0,60}", quote in "[a-c .\\[\\]…*\"'é²]{0,30}", cut in (0usize..60, 0usize..60)) {
        let from = source.floor_char_boundary(cut.0.min(source.len()));
        let to = source.floor_char_boundary(cut.1.min(source.len())).max(from);
        for quote in [&source[from..to], quote.as_str()] {
            let answer = check(&source, quote);
            for span in &answer.spans {
                prop_assert!(source.get(span.clone()).is_some());
            }
            prop_assert_eq!(answer.class == Class::Absent, answer.spans.is_empty());
        }
        let own = source[from..to].trim_matches(is_space);
        prop_assert_eq!(check(&source, own).class == Class::Exact, !own.is_empty());
    }
}
