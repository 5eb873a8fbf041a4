//! How the scale does on claims whose meaning is known: what the documentation says was measured.
//!
//! Thirteen pages of real documentation; per page faithful paraphrases of what it says and claims
//! that alter it. Every faithful claim is also put to every other page, where it stands for nothing.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeMap;

use super::scoring::{Passages, Scale};
use super::{Score, Verdict};
use crate::embed::{Embedder, builtin};

/// Claims of one kind, with what the scale thinks of each.
#[derive(Debug, Default)]
struct Tally {
    verdicts: BTreeMap<Verdict, usize>,
    scores: Vec<Score>,
    passed: Vec<String>,
    stopped: Vec<String>,
}

impl Tally {
    fn add(&mut self, claim: &str, (verdict, score): (Verdict, Score)) {
        *self.verdicts.entry(verdict).or_default() += 1;
        self.scores.push(score);
        match verdict {
            Verdict::Pass => self.passed.push(format!("{score} {claim}")),
            _ => self.stopped.push(format!("{score} {claim}")),
        }
    }

    fn count(&self, verdict: Verdict) -> usize {
        self.verdicts.get(&verdict).copied().unwrap_or_default()
    }

    fn quantile(&self, share: f64) -> Score {
        let mut sorted = self.scores.clone();
        sorted.sort();
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss
        )]
        sorted[((sorted.len() - 1) as f64 * share) as usize]
    }
}

fn measure(embedder: &dyn Embedder, scale: &Scale) -> BTreeMap<String, Tally> {
    let set: serde_json::Value =
        serde_json::from_str(include_str!("../../../fixtures/semantic/claims.json")).unwrap();
    let pages = set["passages"].as_array().unwrap();
    let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
    for page in pages {
        let passages = Passages::new(embedder, page["text"].as_str().unwrap()).unwrap();
        let mut ask = |kind: &str, claim: &str| {
            let opinion = passages.assess(embedder, scale, claim).unwrap();
            tallies
                .entry(kind.to_owned())
                .or_default()
                .add(claim, opinion);
        };
        for other in pages {
            let kind = if other["page"] == page["page"] {
                "faithful"
            } else {
                "foreign"
            };
            for claim in other["faithful"].as_array().unwrap() {
                ask(kind, claim.as_str().unwrap());
            }
        }
        for altered in page["altered"].as_array().unwrap() {
            let claim = altered["claim"].as_str().unwrap();
            ask("altered", claim);
            ask(
                &format!("altered: {}", altered["kind"].as_str().unwrap()),
                claim,
            );
        }
    }
    tallies
}

fn print(title: &str, tallies: &BTreeMap<String, Tally>) {
    println!("{title}");
    for (kind, tally) in tallies {
        println!(
            "  {kind:<20} {:>4}  pass {:>4} abstain {:>4} fail {:>4}   score {} {} {} {} {}",
            tally.scores.len(),
            tally.count(Verdict::Pass),
            tally.count(Verdict::Abstain),
            tally.count(Verdict::Fail),
            tally.quantile(0.0),
            tally.quantile(0.1),
            tally.quantile(0.5),
            tally.quantile(0.9),
            tally.quantile(1.0),
        );
    }
}

/// `cargo test -p kbc-queries semantic::measured -- --nocapture` prints the tables.
#[test]
fn the_scales_on_claims_of_known_meaning() {
    let embedder = builtin().unwrap();
    let bare = Scale {
        guarded: false,
        ..Scale::contract()
    };
    print("contract, without guard", &measure(&embedder, &bare));
    print("contract", &measure(&embedder, &Scale::contract()));
    let bare = Scale {
        guarded: false,
        verbatim: Score::ABOVE,
        ..Scale::sentences()
    };
    print("sentences, without guard", &measure(&embedder, &bare));
    let tallies = measure(&embedder, &Scale::sentences());
    print("sentences", &tallies);
    println!("altered, passed: {:#?}", tallies["altered"].passed);
    println!("foreign, passed: {:#?}", tallies["foreign"].passed);
    println!("faithful, stopped: {:#?}", tallies["faithful"].stopped);
    let share = |kind: &str, verdict: Verdict| {
        #[allow(clippy::cast_precision_loss)]
        let share = tallies[kind].count(verdict) as f64 / tallies[kind].scores.len() as f64;
        share
    };
    // What docs/semantic.md says. A better table or guard may do better; worse is a fault.
    assert!(share("faithful", Verdict::Pass) >= 0.5);
    assert!(share("faithful", Verdict::Fail) == 0.0);
    assert!(share("altered", Verdict::Pass) <= 0.08);
    assert!(share("foreign", Verdict::Pass) <= 0.01);
    assert!(share("foreign", Verdict::Fail) >= 0.6);
    assert_eq!(tallies["altered: number"].count(Verdict::Pass), 0);
}
