//! Opinions about quotes that do not stand, beside the contract's lines about them.
//!
//! An opinion verifies nothing. Under the policy that lets it, a pass excuses a citation whose
//! quote was not found; the card then rests on an opinion, and is never called verified.

use std::collections::BTreeMap;
use std::sync::Arc;

use kbc_queries::diagnostic::{Diagnostic, Severity, registry};
use kbc_queries::semantic::{self, Policy, Request};

use crate::semantic::Oracle;
use crate::semantic::project::{Which, claims};
use crate::session::Session;

use super::view::{CardView, Line};

/// Asks about the quotes that do not stand, and puts the answers under their lines.
pub fn consult(
    session: &mut Session,
    views: &mut BTreeMap<Arc<str>, CardView>,
    oracle: &Oracle,
    policy: Policy,
) {
    if views.values().all(|view| view.absent.is_empty()) {
        return;
    }
    let mut asked: Vec<(Arc<str>, usize)> = Vec::new();
    let mut requests: Vec<Request> = Vec::new();
    for claim in claims(session, Which::Failed) {
        let view = views.get(&claim.card);
        let absent = view.and_then(|view| {
            let mut absent = view.absent.iter();
            absent.find(|absent| absent.citation == claim.index)
        });
        if absent.is_some() {
            asked.push((claim.card, claim.index));
            requests.push(claim.request);
        }
    }
    let answers = oracle.consult(&requests);
    // From the last to the first, so that lines put in do not move those still to be found.
    for ((card, citation), answer) in asked.iter().zip(&answers).rev() {
        let Some(view) = views.get_mut(card) else {
            continue;
        };
        let Some(at) = view
            .absent
            .iter()
            .find(|absent| absent.citation == *citation)
            .map(|absent| absent.line)
        else {
            continue;
        };
        let Some(line) = view.lines.get(at) else {
            continue;
        };
        let mut findings = vec![Diagnostic::new(line.code, line.message.clone())];
        let rescued = semantic::apply(&mut findings, answer, policy)
            && line.code == registry::VERIFY_001
            && line.severity == Severity::Error;
        let Some(opinion) = findings.get(1) else {
            continue;
        };
        let mut second = Line::of(opinion);
        second.hints.extend(semantic::hint(opinion));
        view.lines.insert(at + 1, second);
        if rescued {
            view.rescue(at);
        }
    }
}
