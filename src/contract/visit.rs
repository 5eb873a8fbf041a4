//! A visit of a card as the journal records it.

use std::time::Duration;

use serde_json::Value;

use kbc_queries::commit::hash::Digest;
use kbc_queries::record::journal::{JournalEvent, RecordedDiagnostic, Verb, Verification};

use crate::record::clock::{Clock, Visit};

use super::view::{self, CardView, Line};

/// The event of a visit. `path` is the card as events call it.
pub fn event(
    clock: Clock,
    verb: view::Verb,
    path: &str,
    view: &CardView,
    latency: Duration,
) -> JournalEvent {
    let lines = view.lines.iter().chain(&view.asides);
    clock.event(Visit {
        command: match verb {
            view::Verb::Lint => Verb::Lint,
            view::Verb::Verify => Verb::Verify,
        },
        card_path: path.to_owned(),
        card_hash: view
            .stored_hash
            .as_deref()
            .and_then(|hash| hash.parse::<Digest>().ok()),
        diagnostics: lines.map(|line| recorded(line, path)).collect(),
        verification: Verification {
            fuzzy: view.fuzzy,
            layer1: view.layer1,
            // What an opinion excuses is not verified.
            layer2: view.layer2 && view.rescued() == 0,
        },
        latency,
    })
}

fn recorded(line: &Line, path: &str) -> RecordedDiagnostic {
    let objects = line.hints.iter().filter_map(Value::as_object);
    RecordedDiagnostic {
        code: line.code.as_str().to_owned(),
        file: Some(path.to_owned()),
        hints: objects.cloned().collect(),
        line: None,
        message: line.message.clone(),
        severity: line.severity,
    }
}
