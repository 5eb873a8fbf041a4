//! Folding what is known into one answer: diagnostics in order, and the ledger.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kbc_queries::check::Outcome;
use kbc_queries::check::graph::{self, GraphOptions, Node};
use kbc_queries::diagnostic::{Diagnostic, Ledger, Severity, registry};
use kbc_queries::parse::settings::Settings;
use kbc_queries::text::lines::LineIndex;
use kbc_queries::text::quote::MatchClass;

use crate::cache::entries::CardEntry;
use crate::workspace::{Project, apply_severity};

use super::Session;

/// The answer to a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// All findings. A session gives them by path and position.
    pub diagnostics: Vec<Diagnostic>,
    /// What was counted.
    pub ledger: Ledger,
}

impl Report {
    /// What is wrong with a project's settings, and nothing else.
    pub fn of_settings(project: &Project) -> Self {
        finish(
            &project.settings,
            project.diagnostics.clone(),
            Ledger::default(),
        )
    }

    /// Whether the check is to fail: an error, or a warning where those are denied.
    pub fn fails(&self, deny_warnings: bool) -> bool {
        self.ledger.errors > 0 || (deny_warnings && self.ledger.warnings > 0)
    }
}

/// What was found about one card, apart by what it is about and in the order of the rules.
#[derive(Clone, Debug, Default)]
pub struct CardFindings {
    /// About the card by itself.
    pub card: Vec<Diagnostic>,
    /// About each citation.
    pub citations: Vec<Vec<Diagnostic>>,
    /// How each citation's quote stands; `None`: it is not verified.
    pub classes: Vec<Option<MatchClass>>,
    /// About its place among the cards.
    pub graph: Vec<Diagnostic>,
    /// The hash that the card says it has.
    pub stored_hash: Option<Arc<str>>,
}

/// Severities as the project wants them, order, and the counts that follow from both.
fn finish(settings: &Settings, mut diagnostics: Vec<Diagnostic>, mut ledger: Ledger) -> Report {
    diagnostics.retain_mut(|diagnostic| apply_severity(settings, diagnostic));
    diagnostics.sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
    diagnostics.dedup();
    for diagnostic in &diagnostics {
        ledger.count(diagnostic.severity);
    }
    Report {
        diagnostics,
        ledger,
    }
}

/// The ledger and the diagnostics of one card.
fn fold_card(
    path: &Arc<str>,
    entry: &CardEntry,
    ledger: &mut Ledger,
    diagnostics: &mut Vec<Diagnostic>,
) {
    entry.counts.count(ledger);
    if !entry.speaks {
        return;
    }
    let Some(details) = entry.details.unpack() else {
        // Whatever this card's findings are, they must not go unsaid.
        let mut lost = Diagnostic::new(
            registry::CACHE_001,
            "what the cache holds of this card's findings cannot be read",
        )
        .in_file(path.clone())
        .help("run `kb clean` and check again");
        lost.severity = Severity::Error;
        diagnostics.push(lost);
        return;
    };
    diagnostics.extend(details.diagnostics);
    for citation in details.citations {
        diagnostics.extend(citation.diagnostics);
    }
}

fn nodes<'a>(cards: &[(&'a Arc<str>, &'a CardEntry)]) -> Vec<Node<'a>> {
    cards
        .iter()
        .map(|(path, entry)| Node {
            path,
            id: entry.id.as_ref(),
            edges: &entry.edges,
        })
        .collect()
}

impl Session {
    /// Everything that is to be said, as of the last look.
    pub fn report(&self) -> Report {
        // With settings other than those that were meant, every verdict would be about another
        // project.
        if self.project.is_misconfigured() {
            return Report::of_settings(&self.project);
        }
        let mut ledger = Ledger::default();
        let mut diagnostics = Vec::new();
        match &self.options.only {
            None => {
                diagnostics.extend(self.project.diagnostics.iter().cloned());
                diagnostics.extend(self.discovered.iter().cloned());
                diagnostics.extend(self.context.diagnostics.iter().cloned());
                for state in self.sources.values() {
                    if let Some(report) = &state.report {
                        diagnostics.extend(report.diagnostics.iter().cloned());
                    }
                }
                for (path, state) in &self.cards {
                    if let Some(entry) = &state.entry {
                        fold_card(path, entry, &mut ledger, &mut diagnostics);
                    }
                }
                let guides = self.guides();
                diagnostics.extend(self.graph_diagnostics(None, &guides.referenced));
                diagnostics.extend(guides.diagnostics);
                diagnostics.extend(self.migrations());
            }
            Some(only) => {
                diagnostics.extend(self.project.diagnostics.iter().cloned());
                diagnostics.extend(self.context.diagnostics.iter().cloned());
                for (path, state) in &self.cards {
                    if only.contains(&**path)
                        && let Some(entry) = &state.entry
                    {
                        fold_card(path, entry, &mut ledger, &mut diagnostics);
                    }
                }
                diagnostics.extend(self.graph_diagnostics(Some(only), &BTreeSet::new()));
            }
        }
        finish(&self.project.settings, diagnostics, ledger)
    }

    /// The diagnostics of one card, as of the last look.
    pub fn card_diagnostics(&self, path: &str) -> Vec<Diagnostic> {
        let known = self.cards.get_key_value(path);
        let Some((path, entry)) =
            known.and_then(|(path, state)| Some((path, state.entry.as_ref()?)))
        else {
            return Vec::new();
        };
        let mut diagnostics = Vec::new();
        fold_card(path, entry, &mut Ledger::default(), &mut diagnostics);
        finish(&self.project.settings, diagnostics, Ledger::default()).diagnostics
    }

    /// What was found about these cards, by path, as of the last look. A card that is not known
    /// is not in the map.
    pub fn findings(&self, only: &BTreeSet<String>) -> BTreeMap<Arc<str>, CardFindings> {
        let settings = &self.project.settings;
        let weighed = |mut diagnostics: Vec<Diagnostic>| {
            diagnostics.retain_mut(|diagnostic| apply_severity(settings, diagnostic));
            diagnostics
        };
        let mut all: BTreeMap<Arc<str>, CardFindings> = BTreeMap::new();
        for path in only {
            let Some((path, state)) = self.cards.get_key_value(&**path) else {
                continue;
            };
            // What cannot be unpacked is not known, and what is not known is not verified.
            let Some(details) = state
                .entry
                .as_ref()
                .and_then(|entry| entry.details.unpack())
            else {
                continue;
            };
            let mut findings = CardFindings {
                card: weighed(details.diagnostics),
                stored_hash: details.stored_hash,
                ..CardFindings::default()
            };
            for citation in details.citations {
                findings.classes.push(match citation.outcome {
                    Outcome::Verified(MatchClass::OutsidePages | MatchClass::Absent) => None,
                    Outcome::Verified(class) => Some(class),
                    _ => None,
                });
                findings.citations.push(weighed(citation.diagnostics));
            }
            all.insert(path.clone(), findings);
        }
        let referenced = self.guides_of(self.options.whole_deck).referenced;
        for diagnostic in weighed(self.graph_diagnostics(Some(only), &referenced)) {
            if let Some(card) = diagnostic.file.as_ref().and_then(|file| all.get_mut(file)) {
                card.graph.push(diagnostic);
            }
        }
        all
    }

    /// What is wrong with the matrix and the manifests.
    pub fn context_diagnostics(&self) -> &[Diagnostic] {
        &self.context.diagnostics
    }

    /// The rules over all cards. With `only`, of those cards; the others are known from the last
    /// full look, as far as there was one, and a target that is not known is not reported.
    /// `referenced` are cards that a role map names.
    fn graph_diagnostics(
        &self,
        only: Option<&BTreeSet<String>>,
        referenced: &BTreeSet<String>,
    ) -> Vec<Diagnostic> {
        let with_entry: Vec<(&Arc<str>, &CardEntry)> = self
            .cards
            .iter()
            .filter_map(|(path, state)| Some((path, &**state.entry.as_ref()?)))
            .collect();
        // Cards that were only listed are no corpus: what they build on may well be elsewhere.
        let complete = with_entry.len() == self.cards.len()
            && (self.options.whole_deck
                || !super::given::has_listed_cards(&self.project, &self.options));
        let nodes = nodes(&with_entry);
        let mut withdrawn = self.resting_on_retracted(&with_entry);
        if !complete {
            // What cannot be found out is as it was published.
            let published = &self.context.published.dependency_retracted_cards;
            withdrawn.extend(published.iter().cloned());
        }
        let options = GraphOptions {
            retracted: self.context.published.retracted_cards.clone(),
            withdrawn,
            orphans: self.options.orphans,
            referenced: referenced.clone(),
            allow_retracted: self.options.allow_retracted,
            incomplete: !complete,
        };
        let mut diagnostics = Vec::new();
        let mut text: Option<(usize, Arc<str>, LineIndex)> = None;
        for (index, finding) in graph::check(&nodes, &options) {
            let path = nodes[index].path;
            if only.is_some_and(|only| !only.contains(&**path)) {
                continue;
            }
            if text.as_ref().is_none_or(|(known, _, _)| *known != index) {
                let read = self.card_text(path).unwrap_or_else(|| "".into());
                let lines = LineIndex::new(&read);
                text = Some((index, read, lines));
            }
            if let Some((_, text, lines)) = &text {
                diagnostics.push(finding.place(path, 0, lines, text));
            }
        }
        diagnostics
    }

    /// The cards that are withdrawn with what was retracted, by id: those that cite it, and those
    /// that build on such cards.
    pub fn withdrawn(&self) -> BTreeSet<String> {
        let with_entry: Vec<(&Arc<str>, &CardEntry)> = self
            .cards
            .iter()
            .filter_map(|(path, state)| Some((path, &**state.entry.as_ref()?)))
            .collect();
        let direct = self.resting_on_retracted(&with_entry);
        graph::withdrawn(
            &nodes(&with_entry),
            &self.context.published.retracted_cards,
            &direct,
        )
    }

    /// The cards that cite something retracted.
    fn resting_on_retracted(&self, cards: &[(&Arc<str>, &CardEntry)]) -> BTreeSet<String> {
        let published = &self.context.published;
        if published.retracted_sources.is_empty() && published.retracted_chunks.is_empty() {
            return BTreeSet::new();
        }
        let cites_retracted = |entry: &CardEntry| {
            let Some(details) = entry.details.unpack() else {
                return false;
            };
            let mut findings = details
                .citations
                .iter()
                .flat_map(|citation| &citation.diagnostics);
            findings.any(|found| [registry::RETR_002, registry::RETR_003].contains(&found.code))
        };
        cards
            .iter()
            .filter(|(_, entry)| entry.speaks)
            .filter_map(|(_, entry)| Some((entry.id.as_ref()?, entry)))
            .filter(|(id, entry)| {
                !published.retracted_cards.contains(&*id.id) && cites_retracted(entry)
            })
            .map(|(id, _)| id.id.to_string())
            .collect()
    }

    /// The text of a card, for line numbers and pictures. Not a verdict's input.
    pub fn card_text(&self, path: &str) -> Option<Arc<str>> {
        use kbc_queries::system::System;
        let bytes = self.disk.read(path, kbc_queries::CARD_LIMIT).ok()?;
        Some(String::from_utf8_lossy(&bytes).into())
    }

    /// Whether nothing was checked.
    pub fn is_vacuous(report: &Report) -> bool {
        report.ledger.cards == 0
    }

    /// The worst severity in a list.
    pub fn worst(diagnostics: &[Diagnostic]) -> Option<Severity> {
        diagnostics
            .iter()
            .map(|diagnostic| diagnostic.severity)
            .min()
    }
}
