//! The semantic layer: what an evaluator of meaning says about a quote that was not found.
//!
//! Opinions come from a cache of earlier ones ([`cache`]), made of vectors ([`scoring`]), or from a
//! language model ([`judge`]). Here they are values: who asks them, and over which wire, is not this
//! crate's business. An opinion never verifies a citation. Under the policy of the card-graph
//! contract it only stands beside the failure; under [`Policy::Rescue`] the citation is counted
//! apart, as *semantic* ([`apply`]).

use std::fmt;

use serde::Serialize;
use serde_json::{Value, json};

use crate::commit::hash::Digest;
use crate::diagnostic::{Code, Diagnostic, Severity, registry};

pub mod cache;
pub mod guard;
pub mod judge;
#[cfg(all(test, feature = "embed"))]
mod measured;
pub mod scoring;

/// What an evaluator thinks of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The passage says so.
    Pass,
    /// It does not.
    Fail,
    /// It cannot tell.
    Abstain,
}

impl Verdict {
    /// The name used in files and messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Pass => "pass",
            Verdict::Fail => "fail",
            Verdict::Abstain => "abstain",
        }
    }

    /// From the name; nothing else is read.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "pass" => Some(Verdict::Pass),
            "fail" => Some(Verdict::Fail),
            "abstain" => Some(Verdict::Abstain),
            _ => None,
        }
    }

    /// What the contract makes of it.
    pub fn severity(self) -> Severity {
        match self {
            Verdict::Pass => Severity::Warning,
            Verdict::Fail => Severity::Error,
            Verdict::Abstain => Severity::Info,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A score from 0 to 1, in millionths: the contract rounds scores to six decimals, and a whole
/// number compares and hashes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Score(u32);

impl Score {
    /// Above every score.
    pub(crate) const ABOVE: Score = Score(u32::MAX);

    /// From millionths; `None` beyond one.
    pub const fn from_millionths(millionths: u32) -> Option<Self> {
        if millionths <= 1_000_000 {
            Some(Score(millionths))
        } else {
            None
        }
    }

    /// From a number between 0 and 1, rounded to six decimals.
    pub fn from_number(value: f64) -> Option<Self> {
        if !(0.0..=1.0).contains(&value) {
            return None;
        }
        // The product is between 0 and a million, and whole.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        Some(Score((value * 1e6).round() as u32))
    }

    /// The contract's score of a cosine: `(cosine + 1) / 2`.
    pub fn from_cosine(cosine: f64) -> Self {
        Score::from_number(((cosine + 1.0) / 2.0).clamp(0.0, 1.0)).unwrap_or_default()
    }

    /// As a number.
    pub fn value(self) -> f64 {
        f64::from(self.0) / 1e6
    }
}

impl fmt::Display for Score {
    /// With six decimals.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:06}", self.0 / 1_000_000, self.0 % 1_000_000)
    }
}

/// Where an opinion comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// A cache of scores.
    EmbeddingCache,
    /// A language model, asked in this run.
    Judge,
}

impl Mode {
    /// The name used in messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Mode::EmbeddingCache => "embedding-cache",
            Mode::Judge => "llm-judge",
        }
    }
}

/// What is asked about: a claim and the chunk it cites.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Request {
    /// The cited chunk.
    pub chunk_hash: Digest,
    /// The quote, by the contract's [`claim_window_hash`](crate::commit::hash::claim_window_hash).
    pub claim_window_hash: Digest,
    /// The text of the chunk.
    pub chunk_text: String,
    /// The quote as it stands in the card.
    pub quote: String,
}

/// An evaluator's opinion.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Opinion {
    /// What it thinks.
    pub verdict: Verdict,
    /// How much; what a number means is the evaluator's own.
    pub score: Score,
    /// Where it comes from.
    pub mode: Mode,
    /// Why, in its own words, which are somebody else's text.
    pub reasoning: Option<String>,
}

/// An opinion, or why there is none.
pub type Answer = Result<Opinion, String>;

/// Whether a finding with this code is one that the contract prints as `VERIFY-001`, about which
/// an evaluator is asked.
pub fn is_asked(code: Code) -> bool {
    [
        registry::VERIFY_001,
        registry::VERIFY_003,
        registry::VERIFY_004,
    ]
    .contains(&code)
}

/// `VERIFY-002`: the answer, beside the finding it is about.
pub fn diagnostic(answer: &Answer, beside: &Diagnostic) -> Diagnostic {
    let mut found = match answer {
        Ok(opinion) => of_opinion(opinion),
        Err(reason) => {
            let mut found = Diagnostic::new(
                registry::VERIFY_002,
                format!("the semantic evaluator gave no answer: {reason}"),
            )
            .help("the citation has failed without it; quote the source's own words");
            found.severity = Severity::Error;
            found
        }
    };
    found.file = beside.file.clone();
    found.span = beside.span;
    found
}

fn of_opinion(opinion: &Opinion) -> Diagnostic {
    let mut message = format!(
        "semantic verdict={} score={} mode={}",
        opinion.verdict,
        opinion.score,
        opinion.mode.as_str()
    );
    if let Some(reasoning) = &opinion.reasoning {
        message.push_str(" reasoning=");
        message.push_str(reasoning);
    }
    let mut found = Diagnostic::new(registry::VERIFY_002, message)
        .label(format!("an evaluator of meaning says: {}", opinion.verdict))
        .help("an opinion verifies nothing; quote the source's own words")
        .data("semantic_verdict", opinion.verdict.as_str())
        .data("semantic_score", opinion.score.value())
        .data("semantic_mode", opinion.mode.as_str());
    found.severity = opinion.verdict.severity();
    found
}

/// The contract's hint of a `VERIFY-002` with an opinion: `{semantic_mode, semantic_score,
/// semantic_verdict}`.
pub fn hint(diagnostic: &Diagnostic) -> Option<Value> {
    if diagnostic.code != registry::VERIFY_002 {
        return None;
    }
    let find = |key: &str| {
        diagnostic
            .data
            .iter()
            .find(|(name, _)| name == key)
            .map(|(_, value)| value)
    };
    Some(json!({
        "semantic_mode": find("semantic_mode")?,
        "semantic_score": find("semantic_score")?,
        "semantic_verdict": find("semantic_verdict")?,
    }))
}

/// The line the contract prints for such a hint, without indentation.
pub fn hint_line(diagnostic: &Diagnostic) -> Option<String> {
    let hint = hint(diagnostic)?;
    let score = Score::from_number(hint.get("semantic_score")?.as_f64()?)?;
    Some(format!(
        "hint semantic_verdict={} score={score} mode={}",
        hint.get("semantic_verdict")?.as_str()?,
        hint.get("semantic_mode")?.as_str()?,
    ))
}

/// What an opinion may do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Policy {
    /// Stand beside the failure, which stays one. The contract's.
    #[default]
    Advisory,
    /// With `pass`, make the failure a warning; the citation is counted as *semantic*.
    Rescue,
}

impl From<crate::parse::settings::SemanticPolicy> for Policy {
    fn from(policy: crate::parse::settings::SemanticPolicy) -> Self {
        match policy {
            crate::parse::settings::SemanticPolicy::Advisory => Policy::Advisory,
            crate::parse::settings::SemanticPolicy::Rescue => Policy::Rescue,
        }
    }
}

impl Policy {
    /// As it is written on the command line and in `kb.toml`.
    pub fn as_str(self) -> &'static str {
        match self {
            Policy::Advisory => "advisory",
            Policy::Rescue => "rescue",
        }
    }
}

/// Puts the answer about one citation among its findings; says whether the citation is now one
/// that only an opinion supports.
///
/// `findings` are those of one citation that failed. It is rescued only if its one error is a
/// `VERIFY-001`: an opinion about meaning excuses no wrong page, no retracted source and no missing
/// authorisation. The answer is put right behind the finding it is about.
pub fn apply(findings: &mut Vec<Diagnostic>, answer: &Answer, policy: Policy) -> bool {
    let Some(at) = findings.iter().position(|found| is_asked(found.code)) else {
        return false;
    };
    let errors = findings
        .iter()
        .filter(|found| found.severity == Severity::Error)
        .count();
    let passed = matches!(answer, Ok(opinion) if opinion.verdict == Verdict::Pass);
    let mut rescued = false;
    if let Some(found) = findings.get_mut(at) {
        rescued = policy == Policy::Rescue
            && passed
            && errors == 1
            && found.code == registry::VERIFY_001
            && found.severity == Severity::Error;
        if rescued {
            found.severity = Severity::Warning;
        }
        let second = diagnostic(answer, found);
        findings.insert(at + 1, second);
    }
    rescued
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;
    use proptest::prelude::*;

    fn opinion(verdict: Verdict, score: f64) -> Opinion {
        Opinion {
            verdict,
            score: Score::from_number(score).unwrap(),
            mode: Mode::EmbeddingCache,
            reasoning: None,
        }
    }

    fn failure() -> Diagnostic {
        Diagnostic::new(registry::VERIFY_001, "quote not found").in_file("cards/a.md")
    }

    #[test]
    fn the_contract_s_words() {
        let found = diagnostic(&Ok(opinion(Verdict::Fail, 0.123456)), &failure());
        assert_eq!(
            found.message,
            "semantic verdict=fail score=0.123456 mode=embedding-cache"
        );
        assert_eq!(
            hint_line(&found).unwrap(),
            "hint semantic_verdict=fail score=0.123456 mode=embedding-cache"
        );
        assert_eq!(
            crate::commit::canonical::to_string(
                &hint(&diagnostic(&Ok(opinion(Verdict::Abstain, 0.0)), &failure())).unwrap()
            ),
            r#"{"semantic_mode":"embedding-cache","semantic_score":0.0,"semantic_verdict":"abstain"}"#
        );
        assert_eq!(found.file.as_deref(), Some("cards/a.md"));
        assert_eq!(hint(&failure()), None);
    }

    #[test]
    fn severities_by_verdict() {
        for (answer, severity) in [
            (Ok(opinion(Verdict::Pass, 0.9)), Severity::Warning),
            (Ok(opinion(Verdict::Fail, 0.1)), Severity::Error),
            (Ok(opinion(Verdict::Abstain, 0.5)), Severity::Info),
            (Err("no key".to_owned()), Severity::Error),
        ] {
            assert_eq!(diagnostic(&answer, &failure()).severity, severity);
        }
    }

    #[test]
    fn scores_have_six_decimals() {
        for (value, shown) in [
            (0.0, "0.000000"),
            (1.0, "1.000000"),
            (0.123_456_4, "0.123456"),
            (0.123_456_6, "0.123457"),
            (0.5, "0.500000"),
        ] {
            assert_eq!(Score::from_number(value).unwrap().to_string(), shown);
        }
        for value in [-0.000_001, 1.000_001, f64::NAN, f64::INFINITY] {
            assert_eq!(Score::from_number(value), None);
        }
        assert_eq!(Score::from_cosine(0.0).to_string(), "0.500000");
        assert_eq!(Score::from_cosine(-3.0).to_string(), "0.000000");
    }

    #[test]
    fn only_a_passed_failure_alone_is_rescued() {
        let pass = || Ok(opinion(Verdict::Pass, 0.9));
        let other = Diagnostic::new(registry::AUTH_002, "not allowed");
        let warning = Diagnostic::new(registry::QUOTE_005, "governed");
        let pages = Diagnostic::new(registry::VERIFY_003, "elsewhere");
        let table: Vec<(Vec<Diagnostic>, Answer, Policy, bool)> = vec![
            (vec![failure()], pass(), Policy::Rescue, true),
            (
                vec![failure(), warning.clone()],
                pass(),
                Policy::Rescue,
                true,
            ),
            (vec![failure()], pass(), Policy::Advisory, false),
            (
                vec![failure()],
                Ok(opinion(Verdict::Abstain, 0.9)),
                Policy::Rescue,
                false,
            ),
            (
                vec![failure()],
                Ok(opinion(Verdict::Fail, 0.9)),
                Policy::Rescue,
                false,
            ),
            (
                vec![failure()],
                Err("down".to_owned()),
                Policy::Rescue,
                false,
            ),
            (vec![other, failure()], pass(), Policy::Rescue, false),
            (vec![pages], pass(), Policy::Rescue, false),
            (vec![warning], pass(), Policy::Rescue, false),
            (Vec::new(), pass(), Policy::Rescue, false),
        ];
        for (before, answer, policy, expected) in table {
            let mut findings = before.clone();
            assert_eq!(
                apply(&mut findings, &answer, policy),
                expected,
                "{before:?} {answer:?} {policy:?}"
            );
            let asked = before.iter().any(|found| is_asked(found.code));
            assert_eq!(findings.len(), before.len() + usize::from(asked));
        }
    }

    proptest! {
        #[test]
        fn advice_changes_no_finding(passes: bool, errors in 0usize..4) {
            let mut findings = vec![failure()];
            findings.extend((0..errors).map(|_| Diagnostic::new(registry::AUTH_002, "x")));
            let before = findings.clone();
            let verdict = if passes { Verdict::Pass } else { Verdict::Fail };
            prop_assert!(!apply(&mut findings, &Ok(opinion(verdict, 1.0)), Policy::Advisory));
            findings.retain(|found| found.code != registry::VERIFY_002);
            prop_assert_eq!(findings, before);
        }
    }
}
