//! What was measured, for people: a table per corpus, and the targets.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::measure::{Sample, median, percentile};

/// The rows, in the order of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Row {
    /// coreutils `sha256sum` over all sources and cards.
    Sha256sum,
    /// `git status --porcelain` with a warm index.
    GitStatus,
    /// `kb check` without `.kb/`.
    Cold,
    /// `kb check` after it.
    Nothing,
    /// `kb check` after an edit to one card.
    Card,
    /// `kb check` after an edit to one source.
    Source,
    /// `kb build` without `.kb/` and `out/`.
    BuildCold,
    /// `kb build` after it.
    BuildNothing,
}

impl Row {
    fn name(self) -> &'static str {
        match self {
            Row::Sha256sum => "sha256sum of all files",
            Row::GitStatus => "git status",
            Row::Cold => "check, cold",
            Row::Nothing => "check, nothing changed",
            Row::Card => "check, one card edited",
            Row::Source => "check, one source edited",
            Row::BuildCold => "build, cold",
            Row::BuildNothing => "build, nothing changed",
        }
    }

    /// Whether it is a run of `kb`.
    fn is_ours(self) -> bool {
        !matches!(self, Row::Sha256sum | Row::GitStatus)
    }
}

/// Times of edits in a session that stays open.
#[derive(Clone, Debug, Default)]
pub struct Edits {
    /// Edits to sources, each in microseconds.
    pub sources: Vec<u64>,
    /// Edits to cards.
    pub cards: Vec<u64>,
    /// Cards whose findings were told again, over all edits to sources.
    pub told: u64,
}

/// All samples of one corpus.
pub struct Results {
    /// `S`, `M` or the name of a tree.
    pub name: String,
    /// What the corpus holds.
    pub description: String,
    /// Samples by row.
    pub rows: BTreeMap<Row, Vec<Sample>>,
    /// In-process edits.
    pub edits: Edits,
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

impl Results {
    fn samples(&self, row: Row) -> &[Sample] {
        self.rows.get(&row).map_or(&[], Vec::as_slice)
    }

    /// Median wall time of a row in milliseconds.
    pub fn wall(&self, row: Row) -> f64 {
        milliseconds(median(self.samples(row).iter().map(|sample| sample.wall)))
    }

    /// The median of the ratios of two rows, each taken within one round: what slows the machine
    /// down for a while slows both.
    fn ratio(&self, row: Row, of: Row) -> f64 {
        let ratios = self
            .samples(row)
            .iter()
            .zip(self.samples(of))
            .map(|(a, b)| (a.wall.as_secs_f64() / b.wall.as_secs_f64() * 1e4) as u64);
        median(ratios) as f64 / 1e4
    }

    fn peak_of(&self, row: Row) -> f64 {
        let peak = self.samples(row).iter().map(|sample| sample.peak).max();
        peak.unwrap_or(0) as f64 / 1e6
    }

    /// The largest resident set of any run of `kb`, in megabytes.
    fn peak(&self) -> f64 {
        let rows = self.rows.keys().filter(|row| row.is_ours());
        rows.map(|row| self.peak_of(*row)).fold(0.0, f64::max)
    }

    /// Microseconds that 99 of 100 edits to a source do not exceed.
    fn p99(&self) -> u64 {
        percentile(self.edits.sources.iter().copied(), 99)
    }

    /// Prints the table, in Markdown.
    pub fn print(&self) {
        println!("\n## {}: {}\n", self.name, self.description);
        println!(
            "| {:<24} | {:>9} | {:>9} | {:>9} | {:>8} | {:>11} | {:>7} | {:>11} |",
            "", "wall ms", "least ms", "CPU ms", "peak MB", "bytes read", "opened", "derivations"
        );
        println!(
            "|{:-<26}|{:->11}|{:->11}|{:->11}|{:->10}|{:->13}|{:->9}|{:->13}|",
            "", ":", ":", ":", ":", ":", ":", ":"
        );
        for (row, samples) in &self.rows {
            let least = samples.iter().map(|sample| sample.wall).min();
            let stats = |part: fn(&crate::measure::Stats) -> u64| {
                let known = samples.iter().filter_map(|sample| sample.stats);
                if samples.iter().any(|sample| sample.stats.is_some()) {
                    median(known.map(|stats| part(&stats))).to_string()
                } else {
                    String::new()
                }
            };
            println!(
                "| {:<24} | {:>9.1} | {:>9.1} | {:>9.1} | {:>8.1} | {:>11} | {:>7} | {:>11} |",
                row.name(),
                self.wall(*row),
                milliseconds(least.unwrap_or_default()),
                milliseconds(median(samples.iter().map(|sample| sample.cpu))),
                self.peak_of(*row),
                stats(|stats| stats.bytes),
                stats(|stats| stats.opened),
                stats(|stats| stats.derivations),
            );
        }
        for (what, times) in [("source", &self.edits.sources), ("card", &self.edits.cards)] {
            if times.is_empty() {
                continue;
            }
            println!(
                "\nin one process, an edit to a {what}: p50 {:.2} ms, p99 {:.2} ms, most {:.2} ms ({} edits)",
                median(times.iter().copied()) as f64 / 1e3,
                percentile(times.iter().copied(), 99) as f64 / 1e3,
                times.iter().copied().max().unwrap_or(0) as f64 / 1e3,
                times.len()
            );
        }
        if let Some(edits) = self.edits.sources.len().checked_sub(1) {
            println!(
                "cards told again per edit to a source: {:.1}",
                self.edits.told as f64 / (edits + 1) as f64
            );
        }
    }
}

fn target(text: &str, met: bool) {
    println!("{:<6} {text}", if met { "MET" } else { "MISSED" });
}

fn at_most(what: &str, value: f64, limit: f64, unit: &str) {
    target(
        &format!("{what}: {value:.2}{unit}, at most {limit:.2}{unit}"),
        value <= limit,
    );
}

/// Prints the targets and whether each is met.
pub fn targets(all: &[Results]) {
    println!("\n## Targets\n");
    let named = |name: &str| all.iter().find(|results| results.name == name);
    if let Some(small) = named("S") {
        let hashing = small.wall(Row::Sha256sum);
        let cold = small.wall(Row::Cold);
        at_most(
            "S cold against 4 × sha256sum + 250 ms",
            cold,
            4.0 * hashing + 250.0,
            " ms",
        );
        at_most("S cold", cold, 600.0, " ms");
        at_most(
            "S nothing changed / git status",
            small.ratio(Row::Nothing, Row::GitStatus),
            2.0,
            "",
        );
        at_most(
            "S peak of nothing changed",
            small.peak_of(Row::Nothing),
            60.0,
            " MB",
        );
        let stats = small.samples(Row::Nothing).iter().filter_map(|s| s.stats);
        let opened = stats.clone().map(|stats| stats.opened).max();
        let derived = stats.map(|stats| stats.hashed + stats.derivations).max();
        // The one file that is opened is the source matrix.
        target(
            &format!(
                "S nothing changed: {} files opened besides the matrix, {} hashed or derived",
                opened.map_or(-1, |n| n as i64 - 1),
                derived.map_or(-1, |n| n as i64)
            ),
            opened.is_some_and(|n| n <= 1) && derived == Some(0),
        );
        for (row, what) in [(Row::Card, "card"), (Row::Source, "source")] {
            at_most(
                &format!("S one {what} edited / nothing changed"),
                small.ratio(row, Row::Nothing),
                1.5,
                "",
            );
        }
    }
    if let Some(medium) = named("M") {
        at_most("M peak", medium.peak(), 400.0, " MB");
        if let Some(small) = named("S") {
            for row in small.rows.keys().filter(|row| row.is_ours()) {
                at_most(
                    &format!("M / S, {}", row.name()),
                    medium.wall(*row) / small.wall(*row),
                    11.0,
                    "",
                );
            }
        }
    }
    for results in all {
        at_most(
            &format!("{} in-process edit to a source, p99", results.name),
            results.p99() as f64 / 1e3,
            10.0,
            " ms",
        );
    }
    if let (Some(small), Some(medium)) = (named("S"), named("M")) {
        at_most(
            "M / S, in-process edit to a source, p99",
            medium.p99() as f64 / small.p99().max(1) as f64,
            1.5,
            "",
        );
    }
}
