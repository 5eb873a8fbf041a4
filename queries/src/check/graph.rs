//! The rules over all cards: ids, edges, cycles, orphans, retracted cards.
//!
//! Pure functions over per-card summaries, outside the graph: these are the only rules that look
//! at everything, and no per-card query reads what they say.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use crate::check::card::{EdgeSummary, IdSummary};
use crate::check::finding::Finding;
use crate::diagnostic::registry;

/// A card as these rules see it.
#[derive(Clone, Copy, Debug)]
pub struct Node<'a> {
    /// Path relative to the project root; nodes are given in the order of their paths.
    pub path: &'a Arc<str>,
    /// Its id, if it has one.
    pub id: Option<&'a IdSummary>,
    /// Its edges.
    pub edges: &'a [EdgeSummary],
}

/// Which cards are withdrawn, and which rules are asked for.
#[derive(Clone, Debug, Default)]
pub struct GraphOptions {
    /// Ids of retracted cards.
    pub retracted: BTreeSet<String>,
    /// Ids of cards that rest on something retracted, as far as that is known; what builds on them
    /// is found out.
    pub withdrawn: BTreeSet<String>,
    /// Report cards that no other card points at.
    pub orphans: bool,
    /// Cards that a role map names: they are no orphans.
    pub referenced: BTreeSet<String>,
    /// A retracted card is a warning, not an error.
    pub allow_retracted: bool,
    /// There are other cards than these, so that an unknown target says nothing.
    pub incomplete: bool,
}

/// Checks the graph. Findings come with the index of the node they are about, in order.
pub fn check(nodes: &[Node<'_>], options: &GraphOptions) -> Vec<(usize, Finding)> {
    let mut findings = Vec::new();
    let mut by_id: HashMap<&str, usize> = HashMap::with_capacity(nodes.len());
    for (index, node) in nodes.iter().enumerate() {
        let Some(id) = node.id else { continue };
        if let Some(first) = by_id.get(&*id.id) {
            findings.push((index, duplicate(id, nodes[*first].path)));
        } else {
            by_id.insert(&id.id, index);
        }
        if options.retracted.contains(&*id.id) {
            findings.push((index, retracted_card(id, options.allow_retracted)));
        }
    }
    let withdrawn = withdrawn(nodes, &options.retracted, &options.withdrawn);
    for (index, node) in nodes.iter().enumerate() {
        for edge in node.edges {
            if options.retracted.contains(&*edge.target) {
                findings.push((index, retracted_target(edge)));
                continue;
            }
            if withdrawn.contains(&*edge.target) {
                findings.push((index, withdrawn_target(edge)));
            }
            if !options.incomplete && !by_id.contains_key(&*edge.target) {
                findings.push((index, unknown_target(edge, &by_id)));
            }
        }
    }
    findings.extend(confusable(nodes));
    findings.extend(cycles(nodes, &by_id));
    if options.orphans {
        findings.extend(orphans(nodes, &by_id, &options.referenced));
    }
    findings.sort_by_key(|(node, finding)| (*node, finding.range.start, finding.code));
    findings
}

/// The cards that are withdrawn with what was retracted: those in `direct`, and whatever builds on
/// them or on a retracted card, over any number of edges. Linear in cards and edges.
pub fn withdrawn(
    nodes: &[Node<'_>],
    retracted: &BTreeSet<String>,
    direct: &BTreeSet<String>,
) -> BTreeSet<String> {
    let mut withdrawn = direct.clone();
    let mut open: Vec<&str> = retracted.iter().chain(direct).map(|id| &**id).collect();
    if open.is_empty() {
        return withdrawn;
    }
    let mut dependents: HashMap<&str, Vec<&str>> = HashMap::new();
    for node in nodes {
        let Some(id) = node.id else { continue };
        for edge in node.edges {
            dependents.entry(&edge.target).or_default().push(&id.id);
        }
    }
    while let Some(id) = open.pop() {
        for dependent in dependents.remove(id).into_iter().flatten() {
            if !retracted.contains(dependent) && withdrawn.insert(dependent.to_owned()) {
                open.push(dependent);
            }
        }
    }
    withdrawn
}

fn withdrawn_target(edge: &EdgeSummary) -> Finding {
    Finding::new(
        registry::DEP_004,
        edge.start..edge.end,
        format!(
            "the card builds on `{}`, which rests on something retracted",
            edge.target
        ),
    )
    .label("withdrawn with it")
    .help("put the other card right first, point the edge at a card that still stands, or take it out")
}

fn duplicate(id: &IdSummary, first: &str) -> Finding {
    Finding::new(
        registry::CARDS_001,
        id.start..id.end,
        format!("the card id `{}` is already taken by {first}", id.id),
    )
    .label("not unique")
    .help("give one of the two cards another id")
    .data("card_id", &*id.id)
}

fn retracted_card(id: &IdSummary, allowed: bool) -> Finding {
    let finding = Finding::new(
        registry::RETR_001,
        id.start..id.end,
        format!("the card `{}` is retracted", id.id),
    )
    .contract(format!("card {} is retracted", id.id))
    .label("withdrawn")
    .help("delete the card, or take its id off `retracted_cards` deliberately")
    .data("card_id", &*id.id);
    if allowed {
        finding.severity(crate::diagnostic::Severity::Warning)
    } else {
        finding
    }
}

fn retracted_target(edge: &EdgeSummary) -> Finding {
    Finding::new(
        registry::DEP_004,
        edge.start..edge.end,
        format!("the card builds on `{}`, which is retracted", edge.target),
    )
    .label("withdrawn")
    .help("point the edge at a card that still stands, or take it out")
}

fn unknown_target(edge: &EdgeSummary, by_id: &HashMap<&str, usize>) -> Finding {
    let near = if edge.target.len() <= 64 && by_id.len() <= 5_000 {
        let mut known: Vec<&str> = by_id.keys().copied().collect();
        known.sort_unstable();
        crate::parse::problem::nearest(&edge.target, known)
    } else {
        // The distance to every id of a large deck costs more than the hint is worth.
        None
    };
    Finding::new(
        registry::DEP_001,
        edge.start..edge.end,
        format!("no card has the id `{}`", edge.target),
    )
    .label("unknown card")
    .help(match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => "an edge's target is another card's `id`".to_owned(),
    })
}

/// Ids that look alike though they are spelt differently (Unicode TR 39, confusable skeletons).
/// Two plain ASCII ids are never reported: telling `1` from `l` is the reader's font's business.
fn confusable(nodes: &[Node<'_>]) -> Vec<(usize, Finding)> {
    let ids = || {
        nodes
            .iter()
            .enumerate()
            .filter_map(|(index, node)| Some((index, node.id?)))
    };
    if ids().all(|(_, id)| id.id.is_ascii()) {
        return Vec::new();
    }
    let skeleton = |id: &str| unicode_security::skeleton(id).collect::<String>();
    let mut first: HashMap<String, usize> = HashMap::new();
    let mut findings = Vec::new();
    for (index, id) in ids() {
        let earlier = *first.entry(skeleton(&id.id)).or_insert(index);
        let Some(other) = nodes.get(earlier).and_then(|node| node.id) else {
            continue;
        };
        if other.id != id.id && !(other.id.is_ascii() && id.id.is_ascii()) {
            findings.push((
                index,
                Finding::new(
                    registry::SRC_011,
                    id.start..id.end,
                    format!(
                        "the id `{}` looks like `{}` of another card, but is spelt with other letters",
                        id.id.escape_unicode_letters(),
                        other.id.escape_unicode_letters()
                    ),
                )
                .label("looks like another id")
                .help("spell one of the two differently"),
            ));
        }
    }
    findings
}

/// Shows what is not ASCII as escapes, so that two ids that look alike can be told apart.
trait EscapeLetters {
    fn escape_unicode_letters(&self) -> String;
}

impl EscapeLetters for str {
    fn escape_unicode_letters(&self) -> String {
        self.chars()
            .map(|letter| {
                if letter.is_ascii() {
                    letter.to_string()
                } else {
                    letter.escape_unicode().to_string()
                }
            })
            .collect()
    }
}

/// Every card on a cycle gets a finding at the edge that stays within its cycle.
///
/// Strongly connected components by Tarjan's algorithm (R. Tarjan, "Depth-first search and linear
/// graph algorithms", 1972), with an explicit stack so that a long chain cannot overflow ours.
fn cycles(nodes: &[Node<'_>], by_id: &HashMap<&str, usize>) -> Vec<(usize, Finding)> {
    let targets: Vec<Vec<usize>> = nodes
        .iter()
        .map(|node| {
            node.edges
                .iter()
                .filter_map(|edge| by_id.get(&*edge.target).copied())
                .collect()
        })
        .collect();
    let component = components(&targets);
    let mut size: BTreeMap<usize, usize> = BTreeMap::new();
    for number in &component {
        *size.entry(*number).or_default() += 1;
    }
    let mut findings = Vec::new();
    for (index, node) in nodes.iter().enumerate() {
        let on_cycle = size.get(&component[index]).copied().unwrap_or(0) > 1
            || targets[index].contains(&index);
        if !on_cycle {
            continue;
        }
        let inside = node.edges.iter().find(|edge| {
            by_id
                .get(&*edge.target)
                .is_some_and(|to| component[*to] == component[index])
        });
        if let Some(edge) = inside {
            findings.push((
                index,
                Finding::new(
                    registry::DEP_002,
                    edge.start..edge.end,
                    format!(
                        "this edge closes a cycle: `{}` builds, in the end, on this card",
                        edge.target
                    ),
                )
                .label("part of a cycle")
                .help("take one edge of the cycle out"),
            ));
        }
    }
    findings
}

fn components(targets: &[Vec<usize>]) -> Vec<usize> {
    const UNSEEN: usize = usize::MAX;
    let count = targets.len();
    let mut order = vec![UNSEEN; count];
    let mut low = vec![0; count];
    let mut component = vec![UNSEEN; count];
    let mut stack = Vec::new();
    let mut next_order = 0;
    let mut next_component = 0;
    for root in 0..count {
        if order[root] != UNSEEN {
            continue;
        }
        let mut work = vec![(root, 0)];
        while let Some((node, edge)) = work.pop() {
            if edge == 0 {
                order[node] = next_order;
                low[node] = next_order;
                next_order += 1;
                stack.push(node);
            }
            match targets[node].get(edge) {
                Some(&to) => {
                    work.push((node, edge + 1));
                    if order[to] == UNSEEN {
                        work.push((to, 0));
                    } else if component[to] == UNSEEN {
                        low[node] = low[node].min(order[to]);
                    }
                }
                None => {
                    if low[node] == order[node] {
                        while let Some(member) = stack.pop() {
                            component[member] = next_component;
                            if member == node {
                                break;
                            }
                        }
                        next_component += 1;
                    }
                    if let Some((parent, _)) = work.last() {
                        low[*parent] = low[*parent].min(low[node]);
                    }
                }
            }
        }
    }
    component
}

fn orphans(
    nodes: &[Node<'_>],
    by_id: &HashMap<&str, usize>,
    referenced: &BTreeSet<String>,
) -> Vec<(usize, Finding)> {
    let mut reached = vec![false; nodes.len()];
    for (index, node) in nodes.iter().enumerate() {
        for edge in node.edges {
            if let Some(to) = by_id.get(&*edge.target)
                && *to != index
            {
                reached[*to] = true;
            }
        }
    }
    let mut findings = Vec::new();
    for (index, node) in nodes.iter().enumerate() {
        if let (false, Some(id)) = (reached[index], node.id)
            && !referenced.contains(&*id.id)
        {
            findings.push((
                index,
                Finding::new(
                    registry::DEP_003,
                    id.start..id.end,
                    format!("no other card points at `{}`", id.id),
                )
                .label("orphan")
                .help("link it from a card that builds on it"),
            ));
        }
    }
    findings
}
