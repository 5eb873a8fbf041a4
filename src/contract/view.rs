//! A card's findings as the contract's two layers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use kbc_queries::diagnostic::{Code, Diagnostic, Severity, registry};
use kbc_queries::text::quote::MatchClass;

use crate::session::{CardFindings, Session};

/// What is visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Layer 1 alone.
    Lint,
    /// Both layers.
    Verify,
}

/// How a card is looked at.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// By which verb.
    pub verb: Verb,
    /// A stored card hash that is stale is not held against the card (`--unsafe-skip-lint`).
    pub skip_lint: bool,
    /// Small edits were allowed (`--fuzzy`).
    pub fuzzy: bool,
}

/// A finding as the contract shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Its code.
    pub code: Code,
    /// Its severity.
    pub severity: Severity,
    /// Its words.
    pub message: String,
    /// What follows it: objects of the contract's two kinds of hints.
    pub hints: Vec<Value>,
}

/// A card as the contract sees it. Whether it passes cannot be set from outside: it follows from
/// the session's verdicts.
#[derive(Clone, Debug)]
pub struct CardView {
    /// The findings to be shown if the card fails, in the contract's order.
    pub lines: Vec<Line>,
    /// What was noticed besides; it is journaled and not printed.
    pub asides: Vec<Line>,
    /// Layer 1 found nothing wrong.
    pub layer1: bool,
    /// Layer 2 ran and found nothing wrong.
    pub layer2: bool,
    /// A quote was accepted only as fuzzy.
    pub fuzzy: bool,
    /// The hash that the card says it has.
    pub stored_hash: Option<Arc<str>>,
    /// Which quotes do not stand, for hints and the semantic layer.
    pub absent: Vec<Absent>,
    /// Citations that failed and that an opinion excuses.
    rescued: usize,
    /// Citations whose quote is not verified.
    unverified: usize,
}

/// A quote that does not stand where it is said to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Absent {
    /// The index of its line in [`CardView::lines`].
    pub line: usize,
    /// The index of its citation in the card.
    pub citation: usize,
}

impl CardView {
    /// A card that could not be looked at.
    pub fn failed(line: Line) -> Self {
        CardView {
            lines: vec![line],
            asides: Vec::new(),
            layer1: false,
            layer2: false,
            fuzzy: false,
            stored_hash: None,
            absent: Vec::new(),
            rescued: 0,
            unverified: usize::MAX,
        }
    }

    /// Whether the card passed what it was looked at for.
    pub fn passes(&self, verb: Verb) -> bool {
        let errors = self
            .lines
            .iter()
            .any(|line| line.severity == Severity::Error);
        match verb {
            Verb::Lint => self.layer1 && !errors,
            // No verdict without evidence, whatever the findings say.
            Verb::Verify => {
                self.layer1 && self.layer2 && !errors && self.unverified == self.rescued
            }
        }
    }

    /// How many of the card's citations rest on an opinion alone. Such a card is not verified.
    pub fn rescued(&self) -> usize {
        self.rescued
    }

    /// Lets an opinion excuse the quote that this line is about.
    pub(super) fn rescue(&mut self, line: usize) {
        if let Some(line) = self.lines.get_mut(line) {
            line.severity = Severity::Warning;
        }
        self.rescued += 1;
        let fails = |line: &Line| line.severity == Severity::Error && is_layer_two(line.code);
        self.layer2 = !self.lines.iter().any(fails);
    }
}

impl Line {
    /// A finding in the contract's words.
    pub fn of(diagnostic: &Diagnostic) -> Self {
        let words = diagnostic.contract_message.as_ref();
        Line {
            code: diagnostic.code,
            severity: diagnostic.severity,
            message: words.unwrap_or(&diagnostic.message).clone(),
            hints: Vec::new(),
        }
    }

    /// An error with this code.
    pub fn error(code: Code, message: impl Into<String>) -> Self {
        Line {
            code,
            severity: Severity::Error,
            message: message.into(),
            hints: Vec::new(),
        }
    }

    /// The lines on stderr.
    pub fn print(&self, file: &str, out: &mut String) {
        use crate::render::visible;
        out.push_str(&format!(
            "{}: {} {}\n",
            visible::line(file),
            self.code,
            visible::line(&self.message)
        ));
        for hint in &self.hints {
            let field = |name: &str| hint.get(name);
            let text = |name: &str| field(name).and_then(Value::as_str).unwrap_or_default();
            let number = |name: &str| field(name).and_then(Value::as_f64).unwrap_or_default();
            if field("chunk_id").is_some() {
                out.push_str(&format!(
                    "  hint chunk_id={} score={}\n",
                    text("chunk_id"),
                    kbc_queries::commit::canonical::float_repr(number("score"))
                ));
            } else {
                out.push_str(&format!(
                    "  hint semantic_verdict={} score={} mode={}\n",
                    text("semantic_verdict"),
                    kbc_queries::commit::canonical::float_repr(number("semantic_score")),
                    text("semantic_mode")
                ));
            }
        }
    }
}

/// Looks at cards of a session, by path. A path that is no card of the session is not in the map.
pub fn cards(
    session: &Session,
    paths: &BTreeSet<String>,
    look: Look,
) -> BTreeMap<Arc<str>, CardView> {
    if let Some(line) = unusable(session) {
        return paths
            .iter()
            .map(|path| (path.as_str().into(), CardView::failed(line.clone())))
            .collect();
    }
    let context = context(session);
    session
        .findings(paths)
        .into_iter()
        .map(|(path, found)| (path, view(&found, &context, look)))
        .collect()
}

/// What stands between every card and a verdict.
fn unusable(session: &Session) -> Option<Line> {
    broken_manifests(session)
        .find(|found| !is_cards_manifest(found))
        .map(Line::of)
}

/// What is wrong with the cards manifest: retractions of cards are not known, which is said once.
pub fn broken_cards_manifest(session: &Session) -> Option<Line> {
    broken_manifests(session)
        .find(|found| is_cards_manifest(found))
        .map(|found| {
            let mut line = Line::of(found);
            if let Some(file) = &found.file {
                line.message = format!("{file}: {}", line.message);
            }
            if let Some(help) = &found.help {
                line.message = format!("{}; {help}", line.message);
            }
            line
        })
}

fn broken_manifests(session: &Session) -> impl Iterator<Item = &Diagnostic> {
    session
        .context_diagnostics()
        .iter()
        .filter(|found| [registry::MAN_001, registry::HIST_001].contains(&found.code))
        .filter(|found| found.severity == Severity::Error)
}

fn is_cards_manifest(found: &Diagnostic) -> bool {
    if found.code == registry::HIST_001 {
        // What was retracted is not known from the record either.
        return true;
    }
    found
        .file
        .as_ref()
        .is_some_and(|file| file.rsplit('/').next() == Some("cards_manifest.json"))
}

/// What is said once of every card that is visited.
fn context(session: &Session) -> Vec<Line> {
    session
        .context_diagnostics()
        .iter()
        .filter(|found| found.code == registry::AUTH_000)
        .map(Line::of)
        .take(1)
        .collect()
}

fn view(found: &CardFindings, context: &[Line], look: Look) -> CardView {
    let is_error = |found: &&Diagnostic| found.severity == Severity::Error;
    let stale = |found: &&Diagnostic| found.code == registry::HASH_002;
    let mut view = CardView {
        lines: Vec::new(),
        asides: Vec::new(),
        layer1: false,
        layer2: false,
        fuzzy: found.classes.contains(&Some(MatchClass::Fuzzy)),
        stored_hash: found.stored_hash.clone(),
        absent: Vec::new(),
        rescued: 0,
        unverified: usize::MAX,
    };
    let everything = || {
        found
            .card
            .iter()
            .chain(found.citations.iter().flatten())
            .chain(&found.graph)
    };
    view.asides = everything()
        .filter(|found| found.severity != Severity::Error)
        .map(Line::of)
        .collect();

    // A card that cannot be loaded has one finding: the first in the contract's order.
    if let Some(first) = found
        .card
        .iter()
        .filter(is_error)
        .find(|found| !stale(found) && found.code != registry::SRC_011)
    {
        view.lines.push(Line::of(first));
        return view;
    }

    let mut first_layer: Vec<Line> = context.to_vec();
    let mut second_layer = Vec::new();
    for (index, citation) in found.citations.iter().enumerate() {
        let errors = || citation.iter().filter(is_error);
        if let Some(first) = errors().find(|found| !is_layer_two(found.code)) {
            first_layer.push(Line::of(first));
        } else if let Some(first) = errors().next() {
            second_layer.push((index, content(first, look.fuzzy)));
        }
    }
    if !look.skip_lint {
        first_layer.extend(found.card.iter().filter(stale).map(Line::of));
    }
    let (retracted, edges): (Vec<&Diagnostic>, Vec<&Diagnostic>) = found
        .graph
        .iter()
        .filter(|found| found.severity == Severity::Error || found.code == registry::RETR_001)
        .partition(|found| found.code == registry::RETR_001);
    first_layer.extend(edges.into_iter().map(Line::of));

    view.layer1 = !first_layer
        .iter()
        .any(|line| line.severity == Severity::Error);
    view.lines = first_layer;
    if look.verb == Verb::Lint {
        return view;
    }
    if view.layer1 {
        view.layer2 = second_layer.is_empty();
        for (citation, line) in second_layer {
            if line.code == registry::VERIFY_001 {
                let line = view.lines.len();
                view.absent.push(Absent { line, citation });
            }
            view.lines.push(line);
        }
    }
    view.lines.extend(retracted.into_iter().map(Line::of));
    let without = found.classes.iter().filter(|class| class.is_none()).count();
    view.unverified = match found.classes.is_empty() {
        true => usize::MAX,
        false => without,
    };
    if view.layer1 && view.layer2 && view.unverified > 0 {
        view.layer2 = false;
        view.lines.push(Line::error(
            registry::VERIFY_005,
            "a citation could not be verified",
        ));
    }
    view
}

/// What is wrong with a citation's content. The contract has one code for a quote that does not
/// stand in the cited window, wherever else it may stand.
fn content(found: &Diagnostic, fuzzy: bool) -> Line {
    let mut line = Line::of(found);
    if found.contract_message.is_some()
        && [registry::VERIFY_003, registry::VERIFY_004].contains(&line.code)
    {
        line.code = registry::VERIFY_001;
    }
    if fuzzy && let Some(words) = line.message.strip_suffix("(fuzzy=False)") {
        line.message = format!("{words}(fuzzy=True)");
    }
    line
}

/// Which findings of a citation are about its content.
fn is_layer_two(code: Code) -> bool {
    let code = code.as_str();
    code.starts_with("CACG-VERIFY-")
        || code.starts_with("CACG-QUOTE-")
        || code.starts_with("CACG-SRC-")
        || code == registry::HASH_003.as_str()
}
