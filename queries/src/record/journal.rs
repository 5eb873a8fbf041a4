//! The event of the journal (contract §6.1): one visit of one card by `lint` or `verify`.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Kind;
use super::chain::Event;
use crate::commit::hash::Digest;
use crate::diagnostic::{Diagnostic, Severity};

/// The verb that visited a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verb {
    /// The first layer.
    Lint,
    /// The first two layers.
    Verify,
}

/// Which layers a card passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Verification {
    /// Whether some quote was accepted as fuzzy.
    pub fuzzy: bool,
    /// Whether the first layer found no error.
    pub layer1: bool,
    /// Whether the second layer ran and found no error. Never under `lint`.
    pub layer2: bool,
}

/// A diagnostic as journals keep it (contract §0): absent and empty members are left out.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedDiagnostic {
    /// The code, `CACG-…`. A text: journals outlive registries.
    pub code: String,
    /// The file it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Objects that say where else to look.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<Map<String, Value>>,
    /// Its line in the file, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The contract's message.
    pub message: String,
    /// How bad.
    pub severity: Severity,
}

impl RecordedDiagnostic {
    /// A diagnostic with the words of the contract. Hints are taken from its data `hints`, where
    /// that is a list of objects; the line is left out, as the contract's checks know none.
    #[must_use]
    pub fn of(diagnostic: &Diagnostic) -> Self {
        let hints = diagnostic
            .data
            .iter()
            .find(|(key, _)| key == "hints")
            .and_then(|(_, value)| value.as_array())
            .into_iter()
            .flatten()
            .filter_map(|hint| hint.as_object().cloned())
            .collect();
        RecordedDiagnostic {
            code: diagnostic.code.as_str().to_owned(),
            file: diagnostic.file.as_deref().map(str::to_owned),
            hints,
            line: None,
            message: diagnostic
                .contract_message
                .as_ref()
                .unwrap_or(&diagnostic.message)
                .clone(),
            severity: diagnostic.severity,
        }
    }
}

/// One visit, without its place in the chain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JournalEvent {
    /// The card's hash after the visit, which is the one before it: a visit changes no card.
    pub card_hash_after: Option<Digest>,
    /// The card's hash; none where it has none, or the card could not be read.
    pub card_hash_before: Option<Digest>,
    /// The card, relative to the project's root where it lies below it.
    pub card_path: String,
    /// Which verb.
    pub command: Verb,
    /// What was found, in the order of the checks.
    pub diagnostics: Vec<RecordedDiagnostic>,
    /// UUID of version 4, lower case with hyphens.
    pub event_id: String,
    /// How long the visit took, in milliseconds.
    pub latency_ms: f64,
    /// When, UTC, `YYYY-MM-DDTHH:MM:SSZ`.
    pub timestamp: String,
    /// Which layers passed.
    pub verification: Verification,
}

impl Event for JournalEvent {
    const KIND: Kind = Kind::Journal;
    const KEYS: &'static [&'static str] = &[
        "card_hash_after",
        "card_hash_before",
        "card_path",
        "command",
        "diagnostics",
        "event_id",
        "latency_ms",
        "timestamp",
        "verification",
    ];

    fn check(&self) -> Result<(), String> {
        if !self.latency_ms.is_finite() || self.latency_ms < 0.0 {
            return Err("`latency_ms` is not a finite number from 0".to_owned());
        }
        if self.card_hash_before != self.card_hash_after {
            return Err("`card_hash_before` and `card_hash_after` differ".to_owned());
        }
        if self.verification.layer2 && self.command == Verb::Lint {
            return Err("`lint` has no second layer to pass".to_owned());
        }
        if self.card_path.is_empty() {
            return Err("`card_path` is empty".to_owned());
        }
        Ok(())
    }
}
