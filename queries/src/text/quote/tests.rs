#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
use serde::Deserialize;

use super::*;

#[derive(Deserialize)]
struct Case {
    name: String,
    source: String,
    quote: String,
    should_verify: bool,
}

#[test]
fn every_case_of_the_torture_list_is_right() {
    let cases: Vec<Case> =
        serde_json::from_str(include_str!("../../../../fixtures/quotes/torture.json")).unwrap();
    assert!(cases.len() >= 30);
    let mut wrong = Vec::new();
    for case in &cases {
        let verdict = check_quote(
            &Passage::whole(&case.source),
            &Quote::new(&case.quote),
            Options::default(),
        );
        if verdict.verified() != case.should_verify {
            wrong.push(format!("{}: {verdict:?}", case.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
