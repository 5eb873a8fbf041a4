//! Printing reports and statistics.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use clap::{Args, ValueEnum};

use crate::render::{self, Format, RenderOptions, SourceProvider};
use crate::session::{Report, Session, Stats};
use crate::workspace::{Project, SETTINGS_FILE};

use super::{Failure, World};

/// Formats of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FormatName {
    /// For people: the source's words beside the card's
    Full,
    /// One line per finding
    Short,
    /// One JSON object per line
    Json,
    /// SARIF 2.1.0
    Sarif,
    /// GitHub workflow annotations
    Github,
    /// JUnit XML
    Junit,
}

/// How a report is to be printed.
#[derive(Args)]
pub struct FormatArguments {
    /// How to print findings
    #[arg(long, value_name = "FORMAT", default_value = "full")]
    format: FormatName,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

impl FormatArguments {
    /// The format asked for.
    pub fn format(&self) -> Format {
        if self.json {
            return Format::Json;
        }
        self.format.format()
    }

    /// Whether a person reads it.
    pub fn is_for_people(&self) -> bool {
        matches!(self.format(), Format::Full | Format::Short)
    }
}

/// How a report is to be printed, where no format is asked for the card-graph contract's lines.
#[derive(Args)]
pub struct ModernArguments {
    /// Print findings as `kb check` does, instead of the contract's lines on stderr
    #[arg(long, value_name = "FORMAT")]
    format: Option<FormatName>,
}

impl ModernArguments {
    /// The format asked for.
    pub fn chosen(&self) -> Option<Format> {
        self.format.map(FormatName::format)
    }
}

impl FormatName {
    fn format(self) -> Format {
        match self {
            FormatName::Full => Format::Full,
            FormatName::Short => Format::Short,
            FormatName::Json => Format::Json,
            FormatName::Sarif => Format::Sarif,
            FormatName::Github => Format::Github,
            FormatName::Junit => Format::Junit,
        }
    }
}

/// Texts of files with findings, read when a picture of them is drawn.
pub struct Texts<'a> {
    session: &'a Session,
    known: Mutex<HashMap<String, Option<Arc<str>>>>,
}

impl<'a> Texts<'a> {
    /// Texts of a session's project.
    pub fn new(session: &'a Session) -> Self {
        Texts {
            session,
            known: Mutex::default(),
        }
    }
}

impl SourceProvider for Texts<'_> {
    fn text(&self, file: &str) -> Option<Arc<str>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known
            .entry(file.to_owned())
            .or_insert_with(|| self.session.text_of(file))
            .clone()
    }
}

/// Prints what is wrong with a project's settings to stdout. The command ends with that: what
/// followed from other settings than were meant would be blamed on cards and sources.
pub fn refuse(world: &World, project: &Project, format: Format) -> Failure {
    let mut texts: BTreeMap<String, Arc<str>> = BTreeMap::new();
    if let Some(text) = &project.settings_text {
        texts.insert(SETTINGS_FILE.to_owned(), text.clone());
    }
    let report = Report::of_settings(project);
    match print_with(world, &report, format, &texts) {
        Ok(()) => Failure(super::MISCONFIGURED.to_owned()),
        Err(failure) => failure,
    }
}

/// Prints a report to stdout.
pub fn print(
    world: &World,
    session: &Session,
    report: &Report,
    format: Format,
) -> Result<(), Failure> {
    print_with(world, report, format, &Texts::new(session))
}

fn print_with(
    world: &World,
    report: &Report,
    format: Format,
    texts: &dyn SourceProvider,
) -> Result<(), Failure> {
    let stdout = io::stdout();
    let rendered = render::render(report, format, &options(world), texts, &mut stdout.lock());
    super::streams::written(rendered)
}

fn options(world: &World) -> RenderOptions {
    RenderOptions {
        color: world.use_color(),
        unicode: speaks_unicode(),
        width: terminal_width(),
    }
}

/// Prints a report's findings without the ledger, for commands that check no citation.
pub fn print_findings(
    world: &World,
    session: &Session,
    report: &Report,
    format: Format,
) -> Result<(), Failure> {
    let mut bytes = Vec::new();
    let texts = Texts::new(session);
    render::render(report, format, &options(world), &texts, &mut bytes)
        .map_err(|error| Failure(format!("cannot write the report: {error}")))?;
    let text = String::from_utf8_lossy(&bytes);
    // The ledger is the last line.
    let findings = text
        .trim_end()
        .rsplit_once('\n')
        .map_or("", |(findings, _)| findings);
    if findings.trim().is_empty() {
        return Ok(());
    }
    super::write_out(findings)
}

fn speaks_unicode() -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
    // Without a locale (CI, containers) UTF-8 is the better guess.
    locale.is_none_or(|locale| {
        let locale = locale.to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8") || locale.starts_with("c.")
    })
}

fn terminal_width() -> usize {
    std::env::var("COLUMNS")
        .ok()
        .and_then(|columns| columns.parse().ok())
        .filter(|columns| (40..=400).contains(columns))
        .unwrap_or(100)
}

/// Prints what a run did to stderr.
pub fn print_stats(session: &Session, stats: &Stats) {
    let (bytes, opened) = session.reads();
    let mut text = format!(
        "project   {} sources, {} cards\n\
         read      {} files hashed, {opened} opened, {bytes} bytes\n\
         derived   {} sources, {} cards, {} citations: {} derivations\n\
         reused    {} citations, {} entries found by content\n",
        stats.sources,
        stats.cards,
        stats.hashed,
        stats.sources_derived,
        stats.cards_derived,
        stats.citations_checked,
        stats.derived(),
        stats.citations_reused,
        stats.trace_hits,
    );
    for (phase, time) in &stats.phases {
        text.push_str(&format!(
            "time      {phase:<10} {:>9.2} ms\n",
            time.as_secs_f64() * 1000.0
        ));
    }
    let _ = io::stderr().write_all(text.as_bytes());
}
