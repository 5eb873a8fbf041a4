//! What was measured, for people: one table, and the goals.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::measure::{Sample, median};

/// The rows, in the order of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Row {
    /// A round summary of 1,000 cards in a project, without `.kb/`.
    ProjectCold,
    /// The same after it.
    Project,
    /// A round summary of 1,000 cards beside explicit manifests, without the user's cache.
    GivenCold,
    /// The same after it.
    Given,
    /// `kb index` of 10,000 cards without what is remembered of them.
    IndexCold,
    /// `kb index` of 10,000 cards of which none changed.
    Index,
    /// `kb search` over 10,000 cards.
    Search,
}

impl Row {
    fn name(self) -> &'static str {
        match self {
            Row::ProjectCold => "round summary, project, cold",
            Row::Project => "round summary, project",
            Row::GivenCold => "round summary, manifests, cold",
            Row::Given => "round summary, manifests",
            Row::IndexCold => "index, nothing remembered",
            Row::Index => "index, nothing changed",
            Row::Search => "search",
        }
    }

    /// How many cards it is about.
    fn cards(self) -> &'static str {
        match self {
            Row::IndexCold | Row::Index | Row::Search => "10,000",
            _ => "1,000",
        }
    }

    /// Milliseconds that its median is not to exceed.
    fn goal(self) -> Option<f64> {
        match self {
            Row::Project | Row::Given => Some(80.0),
            Row::Index => Some(150.0),
            _ => None,
        }
    }

    /// Milliseconds that the authors of the card-graph contract published for their own tool, on a
    /// machine of theirs.
    fn published(self) -> Option<f64> {
        match self {
            Row::Project | Row::Given => Some(555.0),
            Row::Index => Some(725.0),
            _ => None,
        }
    }
}

/// Microseconds of single appends.
#[derive(Clone, Debug, Default)]
pub struct Appends {
    /// To a journal of 100 events.
    pub small: Vec<u64>,
    /// To a journal of 100,000 events.
    pub large: Vec<u64>,
}

/// Appends to a large journal may take so many times what they take to a small one.
const APPEND_RATIO: f64 = 1.2;

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn verdict(met: bool) -> &'static str {
    if met { "MET" } else { "MISSED" }
}

/// Prints the table, in Markdown.
pub fn print(rows: &BTreeMap<Row, Vec<Sample>>, appends: &Appends) {
    println!(
        "| {:<30} | {:>6} | {:>8} | {:>8} | {:>8} | {:>7} | {:>5} | {:<6} | {:>9} |",
        "", "cards", "wall ms", "least ms", "CPU ms", "peak MB", "goal", "", "published"
    );
    println!(
        "|{:-<32}|{:->8}|{:->10}|{:->10}|{:->10}|{:->9}|{:->7}|{:-<8}|{:->11}|",
        "", ":", ":", ":", ":", ":", ":", "", ":"
    );
    let number = |value: Option<f64>| value.map(|value| format!("{value:.0}")).unwrap_or_default();
    for (row, samples) in rows {
        let wall = milliseconds(median(samples.iter().map(|sample| sample.wall)));
        let least = samples.iter().map(|sample| sample.wall).min();
        let peak = samples.iter().map(|sample| sample.peak).max();
        println!(
            "| {:<30} | {:>6} | {:>8.1} | {:>8.1} | {:>8.1} | {:>7.1} | {:>5} | {:<6} | {:>9} |",
            row.name(),
            row.cards(),
            wall,
            milliseconds(least.unwrap_or_default()),
            milliseconds(median(samples.iter().map(|sample| sample.cpu))),
            peak.unwrap_or(0) as f64 / 1e6,
            number(row.goal()),
            row.goal().map_or("", |goal| verdict(wall <= goal)),
            number(row.published()),
        );
    }
    let small = median(appends.small.iter().copied()) as f64 / 1e3;
    let large = median(appends.large.iter().copied()) as f64 / 1e3;
    let ratio = large / small.max(1e-3);
    println!(
        "\n{:<6} an append to a journal: {small:.2} ms after 100 events, {large:.2} ms after 100,000 \
         (medians of {}); ratio {ratio:.2}, at most {APPEND_RATIO:.2}",
        verdict(ratio <= APPEND_RATIO && !appends.small.is_empty()),
        appends.small.len()
    );
}
