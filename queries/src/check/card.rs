//! The rules about one card by itself: its frontmatter and its stored hash.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::Db;
use crate::check::advice;
use crate::check::finding::{Finding, RelativeEdit, RelativeFix};
use crate::derive;
use crate::diagnostic::{Applicability, registry};
use crate::input::{CardFile, Profile, profile};
use crate::parse::card::ParsedCard;
use crate::parse::problem::Problem;
use crate::system::ReadFailure;

/// What the whole-corpus rules and the manifests need of a card.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CardSummary {
    /// The card's id.
    pub id: Arc<str>,
    /// Its title.
    pub title: Arc<str>,
    /// The reading it counts under.
    pub reading_id: Arc<str>,
    /// Its summary.
    pub summary: Arc<str>,
    /// Its tags, in order.
    pub tags: Vec<Arc<str>>,
    /// Its hash, recomputed; hex.
    pub card_hash: Arc<str>,
    /// How many citations it has.
    pub citation_count: u32,
    /// The sources it cites, sorted, without repetition.
    pub source_ids: Vec<Arc<str>>,
}

/// An edge to another card, with its place in the file (bytes).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct EdgeSummary {
    /// The other card's id.
    pub target: Arc<str>,
    /// First byte of the target's value in the card.
    pub start: usize,
    /// One past its last byte.
    pub end: usize,
}

/// The id of a card, with its place in the file.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct IdSummary {
    /// The id.
    pub id: Arc<str>,
    /// First byte of the value.
    pub start: usize,
    /// One past its last byte.
    pub end: usize,
}

/// What was established about a card by itself. Ranges are those of the card's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardReport {
    /// What is wrong with it.
    pub findings: Vec<Finding>,
    /// Its id, if it has one, even if other things are wrong.
    pub id: Option<IdSummary>,
    /// The reading it counts under.
    pub reading: Option<Arc<str>>,
    /// Its edges.
    pub edges: Vec<EdgeSummary>,
    /// Number of citations.
    pub citations: u32,
    /// The hash that it says it has.
    pub stored_hash: Option<Arc<str>>,
    /// Only of a card with nothing wrong in its frontmatter.
    pub summary: Option<CardSummary>,
}

/// Checks a card by itself.
#[salsa::tracked(returns(ref))]
pub fn card_report(db: &dyn Db, file: CardFile) -> CardReport {
    match derive::card(db, file) {
        Err(failure) => unreadable(failure),
        Ok(card) => {
            let parsed = &card.parsed;
            let mut findings: Vec<Finding> = match profile(db) {
                // The contract knows no citation that is still to be pinned.
                Profile::Cacg => parsed.problems.iter().map(from_problem).collect(),
                Profile::Strict => parsed.problems_besides_pins().map(from_problem).collect(),
            };
            findings.extend(stale_hash(parsed, card.hash.as_deref()));
            findings.extend(card.bidi_control.map(bidi_control));
            let reading = derive::reading(db, file).clone();
            CardReport {
                findings,
                id: parsed.id.as_ref().map(|id| IdSummary {
                    id: (*id.value).into(),
                    start: id.span.start,
                    end: id.span.end,
                }),
                edges: parsed
                    .edges
                    .iter()
                    .map(|edge| EdgeSummary {
                        target: (*edge.target.value).into(),
                        start: edge.target.span.start,
                        end: edge.target.span.end,
                    })
                    .collect(),
                citations: u32::try_from(parsed.citations.len()).unwrap_or(u32::MAX),
                stored_hash: parsed.card_hash.as_ref().map(|hash| (*hash.value).into()),
                summary: summarize(parsed, card.hash.as_deref(), reading.as_deref()),
                reading,
            }
        }
    }
}

fn bidi_control(at: usize) -> Finding {
    // Each of these characters has three bytes.
    Finding::new(
        registry::SRC_011,
        at..at + 3,
        "the card holds a character that changes the direction of writing",
    )
    .label("what is seen may not be what is there")
    .help("take it out unless the text needs it")
}

fn unreadable(failure: &ReadFailure) -> CardReport {
    CardReport {
        findings: vec![
            Finding::new(
                registry::CLI_001,
                0..0,
                format!("the card cannot be read: {failure}"),
            )
            .help("a card is a UTF-8 Markdown file with YAML frontmatter"),
        ],
        id: None,
        reading: None,
        edges: Vec::new(),
        citations: 0,
        stored_hash: None,
        summary: None,
    }
}

/// A parser's problem as a finding.
pub fn from_problem(problem: &Problem) -> Finding {
    let mut finding = Finding::new(problem.code, problem.span.clone(), problem.message.clone())
        .contract(problem.contract_message.clone());
    // A long label that repeats the message says nothing that does not stand right above it.
    let repeats = problem.label.len() > 20 && problem.message.contains(&problem.label);
    if !problem.label.is_empty() && !repeats {
        finding.label = Some(problem.label.clone());
    }
    finding.help = problem
        .help
        .clone()
        .or_else(|| advice::usual(problem.code).map(str::to_owned));
    if let Some(fix) = &problem.fix {
        finding.fixes.push(RelativeFix {
            title: fix.title.clone(),
            applicability: fix.applicability,
            edits: vec![RelativeEdit {
                range: fix.range.clone(),
                text: fix.text.clone(),
            }],
        });
    }
    finding
}

fn stale_hash(parsed: &ParsedCard, hash: Option<&str>) -> Option<Finding> {
    let stored = parsed.card_hash.as_ref()?;
    let recomputed = hash?;
    if *stored.value == *recomputed {
        return None;
    }
    let short = |hash: &str| hash.chars().take(12).collect::<String>();
    Some(
        Finding::new(
            registry::HASH_002,
            stored.span.clone(),
            format!(
                "card_hash is stale: the card was edited after {}… was recorded; it is now {}…",
                short(&stored.value),
                short(recomputed)
            ),
        )
        .contract(format!(
            "card_hash is stale: stored={}..., recomputed={}...; run `kb index` after editing the card",
            short(&stored.value),
            short(recomputed)
        ))
        .label("not the hash of this card")
        .data("stored", &*stored.value)
        .data("recomputed", recomputed)
        .fix(Some(RelativeFix {
            title: "record the hash of the card as it is".to_owned(),
            applicability: Applicability::Review,
            edits: vec![RelativeEdit {
                range: stored.span.clone(),
                text: format!("\"{recomputed}\""),
            }],
        }))
        .help("look at what changed, then record the new hash"),
    )
}

/// What is published of a card, if nothing is wrong with it. `reading` is the reading it counts under;
/// `None`: the one it names itself.
pub fn summarize(
    parsed: &ParsedCard,
    hash: Option<&str>,
    reading: Option<&str>,
) -> Option<CardSummary> {
    let card = parsed.complete()?;
    let mut source_ids: Vec<Arc<str>> = card
        .citations
        .iter()
        .map(|citation| (*citation.source_id).into())
        .collect();
    source_ids.sort();
    source_ids.dedup();
    Some(CardSummary {
        id: (*card.id).into(),
        title: (*card.title).into(),
        reading_id: reading.unwrap_or(&card.reading_id).into(),
        summary: (*card.summary).into(),
        tags: card.tags.iter().map(|tag| (**tag).into()).collect(),
        card_hash: hash?.into(),
        citation_count: u32::try_from(card.citations.len()).unwrap_or(u32::MAX),
        source_ids,
    })
}
