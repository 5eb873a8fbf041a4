//! The claims of a project that an evaluator is asked about, and its answers in the report.

use std::collections::HashMap;
use std::sync::Arc;

use kbc_queries::check::Outcome;
use kbc_queries::check::passage::SourceText;
use kbc_queries::chunk::chunk_id;
use kbc_queries::commit::hash::claim_window_hash;
use kbc_queries::derive;
use kbc_queries::diagnostic::{Code, Diagnostic, Severity, Span};
use kbc_queries::parse::card;
use kbc_queries::semantic::{self, Answer, Policy, Request};

use crate::session::{Report, Session};
use crate::workspace::apply_severity;

use super::Oracle;

/// Which citations are asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// Those whose quote was not found.
    Failed,
    /// All whose chunk is there.
    All,
}

/// A citation and what is asked about it.
#[derive(Clone, Debug)]
pub struct Claim {
    /// The card.
    pub card: Arc<str>,
    /// The citation's place in it.
    pub index: usize,
    /// What is asked.
    pub request: Request,
    /// What the check has to say about the citation, before the project's severities.
    findings: Vec<Diagnostic>,
}

/// The claims of the cards that a session looks at, in the order of cards and citations.
pub fn claims(session: &mut Session, which: Which) -> Vec<Claim> {
    session.bind_all();
    let mut found = Vec::new();
    let mut texts = Texts::default();
    for (path, state) in &session.cards {
        let only = &session.options().only;
        if only.as_ref().is_some_and(|only| !only.contains(&**path)) {
            continue;
        }
        let Some(entry) = &state.entry else { continue };
        if which == Which::Failed && !entry.speaks {
            continue;
        }
        let (Some(details), Some(text)) = (entry.details.unpack(), session.card_text(path)) else {
            continue;
        };
        let parsed = card::parse(&text);
        for (index, (citation, checked)) in
            parsed.citations.iter().zip(details.citations).enumerate()
        {
            let failed = checked.outcome == Outcome::Failed
                && checked
                    .diagnostics
                    .iter()
                    .any(|finding| semantic::is_asked(finding.code));
            if which == Which::Failed && !failed {
                continue;
            }
            let (Some(source), Some(chunk), Some(quote)) =
                (&citation.source_id, &citation.chunk_id, &citation.quote)
            else {
                continue;
            };
            if let Some(request) = texts.request(session, &source.value, &chunk.value, &quote.value)
            {
                found.push(Claim {
                    card: path.clone(),
                    index,
                    request,
                    findings: checked.diagnostics,
                });
            }
        }
    }
    found
}

/// Places of a source's chunks by their ids.
type Places = HashMap<String, usize>;

/// Texts of sources; `None` for one that gives no text.
#[derive(Default)]
struct Texts(HashMap<String, Option<(SourceText, Places)>>);

impl Texts {
    fn request(
        &mut self,
        session: &Session,
        source: &str,
        chunk: &str,
        quote: &str,
    ) -> Option<Request> {
        let known = self
            .0
            .entry(source.to_owned())
            .or_insert_with(|| load(session, source));
        let (text, places) = known.as_ref()?;
        let index = *places.get(chunk)?;
        Some(Request {
            chunk_hash: text.chunk(index)?.hash,
            claim_window_hash: claim_window_hash(quote),
            chunk_text: text.chunk_text(index).to_owned(),
            quote: quote.to_owned(),
        })
    }
}

fn load(session: &Session, source: &str) -> Option<(SourceText, Places)> {
    let path = session.by_id.get(source)?;
    let input = session.sources.get(path)?.input?;
    derive::source(&session.db, input).as_ref().ok()?;
    let text = SourceText::load(&session.db, input).ok()?;
    let places = text
        .chunks()
        .iter()
        .enumerate()
        .map(|(index, chunk)| (chunk_id(source, chunk.start_page, chunk.ordinal), index))
        .collect();
    Some((text, places))
}

/// What tells one finding from another.
type Key = (Option<Arc<str>>, Code, Option<Span>, String);

fn key(finding: &Diagnostic) -> Key {
    (
        finding.file.clone(),
        finding.code,
        finding.span,
        finding.message.clone(),
    )
}

/// Asks about every citation whose quote was not found, and puts the answers into the report. Call it
/// before a baseline hides findings.
pub fn consult(session: &mut Session, report: &mut Report, oracle: &Oracle, policy: Policy) {
    let claims = claims(session, Which::Failed);
    if claims.is_empty() {
        return;
    }
    let requests: Vec<Request> = claims.iter().map(|claim| claim.request.clone()).collect();
    let answers = oracle.consult(&requests);
    settle(session, report, &claims, &answers, policy);
}

/// Puts one answer per claim into the report.
fn settle(
    session: &Session,
    report: &mut Report,
    claims: &[Claim],
    answers: &[Answer],
    policy: Policy,
) {
    let mut owner: HashMap<Key, usize> = HashMap::new();
    for (at, claim) in claims.iter().enumerate() {
        owner.extend(claim.findings.iter().map(|finding| (key(finding), at)));
    }
    let mut own: Vec<Vec<Diagnostic>> = vec![Vec::new(); claims.len()];
    let mut others = Vec::new();
    for finding in std::mem::take(&mut report.diagnostics) {
        let group = owner.get(&key(&finding)).and_then(|at| own.get_mut(*at));
        group.unwrap_or(&mut others).push(finding);
    }
    for (findings, answer) in own.iter_mut().zip(answers) {
        if semantic::apply(findings, answer, policy) {
            report.ledger.failed = report.ledger.failed.saturating_sub(1);
            report.ledger.semantic += 1;
        }
    }
    let settings = &session.project.settings;
    report.diagnostics = others;
    for mut finding in own.into_iter().flatten() {
        let answer = finding.code == kbc_queries::diagnostic::registry::VERIFY_002;
        if !answer || apply_severity(settings, &mut finding) {
            report.diagnostics.push(finding);
        }
    }
    report
        .diagnostics
        .sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
    let count = |severity: Severity| {
        let of = report.diagnostics.iter();
        of.filter(|finding| finding.severity == severity).count() as u64
    };
    report.ledger.errors = count(Severity::Error);
    report.ledger.warnings = count(Severity::Warning);
}
