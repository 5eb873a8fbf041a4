//! `kb import`: records of evidence that another tool keeps, as cards of this one.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use clap::Args;

use kbc_queries::emit::import::{self, Evidence, Record, Slugs, normalize_reference};
use kbc_queries::parse::card::{CardCitation, CitationEdge, PageRange};
use kbc_queries::parse::problem::Problem;
use kbc_queries::text::lines::LineIndex;

use crate::semantic::build::write;
use crate::session::{Cited, Session};
use crate::workspace::door;

use super::{CommandResult, Failure, Outcome, World, counted, write_out};

/// Largest file of records that is read, in bytes.
const RECORDS_LIMIT: u64 = 64 << 20;

/// Write cards for records of evidence: YAML with `reference` and `supporting_text`
///
/// Reads the convention of linkml-reference-validator, at any depth. Each quote is looked for in the
/// source that its reference names, word for word; what belongs to one named thing becomes one card.
/// Exit status 0: every quote is in a card. 1: some are not, and each is named. 2: nothing could be
/// read.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  kb import evidence.yaml --reading genetics --dry-run\n  kb import evidence.yaml --reading genetics --map PMID:16888623=raina_2006\n  kb import evidence.yaml --reading genetics --source handbook"
)]
pub struct Arguments {
    /// The file of records
    records: PathBuf,
    /// The reading that the cards belong to
    #[arg(long, value_name = "READING", value_parser = reading)]
    reading: String,
    /// Which source a reference means; without it, the source whose id, title, path or field it is
    #[arg(long, value_name = "REFERENCE=SOURCE", value_parser = mapping)]
    map: Vec<(String, String)>,
    /// A source to look in for quotes whose reference names none
    #[arg(long, value_name = "SOURCE")]
    source: Vec<String>,
    /// The folder of cards; they go into its folder READING
    #[arg(long, value_name = "DIR", default_value = "cards")]
    cards_dir: PathBuf,
    /// Overwrite cards that are there
    #[arg(long)]
    force: bool,
    /// Write nothing; say what would be written
    #[arg(long)]
    dry_run: bool,
}

fn reading(text: &str) -> Result<String, String> {
    let inner = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-');
    let sound = text.bytes().all(inner) && !text.is_empty() && !text.starts_with(['_', '-']);
    if sound {
        Ok(text.to_owned())
    } else {
        Err(
            "a reading is made of a-z, 0-9, `_` and `-`, and begins with a letter or digit"
                .to_owned(),
        )
    }
}

fn mapping(text: &str) -> Result<(String, String), String> {
    match text.rsplit_once('=') {
        Some((reference, source)) if !reference.trim().is_empty() && !source.is_empty() => {
            Ok((normalize_reference(reference), source.to_owned()))
        }
        _ => Err("write REFERENCE=SOURCE, for instance PMID:16888623=raina_2006".to_owned()),
    }
}

/// Runs the command.
pub fn run(world: &World, arguments: &Arguments) -> CommandResult {
    let text = read(&world.current.join(&arguments.records), &arguments.records)?;
    let records = import::records(&text)
        .map_err(|problems| Failure(sentences(&arguments.records, &text, &problems)))?;
    let mut session = Session::look_only(world.project()?, world.options());
    if let Some(progress) = &session.options().progress {
        progress.finish();
    }
    let sources = Sources::new(&session, arguments)?;
    let file = arguments
        .records
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    let mut tally = Tally {
        unmapped: Vec::new(),
        written: 0,
        citations: 0,
    };
    for (line, missing) in &records.incomplete {
        tally.unmapped.push(format!("line {line}: {missing}"));
    }
    let mut slugs = Slugs::default();
    for record in &records.list {
        let slug = slugs.of(record);
        let citations = cite_all(&mut session, &sources, record, &mut tally);
        if citations.is_empty() {
            continue;
        }
        let count = citations.len();
        let card = import::card(record, &slug, &arguments.reading, &file, citations);
        let shown = arguments
            .cards_dir
            .join(&arguments.reading)
            .join(format!("{slug}.md"));
        let path = world.current.join(&shown);
        // A link that leads nowhere is something that is there, too.
        if path.symlink_metadata().is_ok() && !arguments.force {
            tally.unmapped.push(format!(
                "line {}: {} is there; --force overwrites it",
                record.line,
                shown.display()
            ));
            continue;
        }
        if !arguments.dry_run {
            write(&path, &card).map_err(|error| {
                Failure(format!("{} cannot be written: {error}", shown.display()))
            })?;
        }
        tally.written += 1;
        tally.citations += count;
        let verb = if arguments.dry_run {
            "would write"
        } else {
            "wrote"
        };
        say(&format!(
            "{verb} {} ({})",
            shown.display(),
            counted(count, "citation")
        ))?;
    }
    session.record();
    for line in &tally.unmapped {
        say(&format!("left out: {line}"))?;
    }
    say(&format!(
        "{}, {} from {}; {} left out",
        counted(tally.written, "card"),
        counted(tally.citations, "citation"),
        counted(records.list.len(), "record"),
        tally.unmapped.len()
    ))?;
    if tally.written == 0 && tally.unmapped.is_empty() {
        return Err(Failure(format!(
            "{} has no mapping with `reference` and `supporting_text`",
            arguments.records.display()
        )));
    }
    Ok(if tally.unmapped.is_empty() {
        Outcome::Fine
    } else {
        Outcome::Findings
    })
}

/// Prints a line in which nothing of a foreign file acts on the terminal.
fn say(line: &str) -> Result<(), Failure> {
    write_out(&crate::render::visible::line(line))
}

/// What was done and what was not.
struct Tally {
    unmapped: Vec<String>,
    written: usize,
    citations: usize,
}

/// The citations of a record's quotes that stand in a source; what does not is noted.
fn cite_all(
    session: &mut Session,
    sources: &Sources,
    record: &Record,
    tally: &mut Tally,
) -> Vec<CardCitation> {
    let mut citations: Vec<CardCitation> = Vec::new();
    for evidence in &record.evidence {
        match cite(session, sources, evidence) {
            Ok(cited) => {
                let citation = citation(cited);
                if !citations.contains(&citation) {
                    citations.push(citation);
                }
            }
            Err(reason) => tally.unmapped.push(format!(
                "line {}: {}: {reason}",
                evidence.line, evidence.reference
            )),
        }
    }
    citations
}

fn cite(session: &mut Session, sources: &Sources, evidence: &Evidence) -> Result<Cited, String> {
    if let Some(id) = sources.of(&evidence.reference)? {
        return session.cite(id, &evidence.quote);
    }
    if sources.fallback.is_empty() {
        return Err(
            "no source has this id, title or path; name one with --map or --source".to_owned(),
        );
    }
    let mut found: Vec<Cited> = Vec::new();
    let mut reason = String::new();
    for id in &sources.fallback {
        match session.cite(id, &evidence.quote) {
            Ok(cited) => found.push(cited),
            Err(error) => reason = error,
        }
    }
    match found.len() {
        0 => Err(reason),
        1 => found.pop().ok_or(reason),
        several => Err(format!("the words stand in {several} of the sources given")),
    }
}

fn citation(cited: Cited) -> CardCitation {
    CardCitation {
        source_id: (&*cited.source_id).into(),
        chunk_id: cited.chunk_id.into(),
        chunk_hash: cited.chunk_hash.into(),
        page_range: PageRange {
            start: u64::from(cited.pages.0),
            end: u64::from(cited.pages.1),
        },
        quote: cited.quote.into(),
        prefix: None,
        suffix: None,
        edge_type: CitationEdge::default(),
    }
}

/// Which source a reference means.
struct Sources {
    /// By the user's word.
    mapped: HashMap<String, String>,
    /// By id, title, path, file name or a field; several ids where several sources have it.
    known: BTreeMap<String, Vec<String>>,
    /// Where else to look.
    fallback: Vec<String>,
}

impl Sources {
    fn new(session: &Session, arguments: &Arguments) -> Result<Self, Failure> {
        let named = |name: &str| session.source_named(name).map(|id| id.to_string());
        let mut mapped = HashMap::new();
        for (reference, source) in &arguments.map {
            mapped.insert(reference.clone(), named(source).map_err(Failure)?);
        }
        let mut known: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let mut know = |name: &str, id: &str| {
            let ids = known.entry(normalize_reference(name)).or_default();
            if !ids.iter().any(|known| known == id) {
                ids.push(id.to_owned());
            }
        };
        for (path, state) in &session.sources {
            let id: &str = &state.id;
            know(id, id);
            know(path, id);
            know(&format!("file:{path}"), id);
            if let Some(title) = &state.title {
                know(title, id);
            }
            if let Some(settings) = session.project.settings.sources.get(&**path) {
                for value in settings.fields.values() {
                    know(value, id);
                }
            }
        }
        let fallback = arguments
            .source
            .iter()
            .map(|name| named(name))
            .collect::<Result<Vec<String>, String>>()
            .map_err(Failure)?;
        Ok(Sources {
            mapped,
            known,
            fallback,
        })
    }

    /// The id of the source that a reference means; `None`: nobody knows.
    fn of(&self, reference: &str) -> Result<Option<&str>, String> {
        let normal = normalize_reference(reference);
        if let Some(id) = self.mapped.get(&normal) {
            return Ok(Some(id));
        }
        let file = normal
            .strip_prefix("file:./")
            .map(|path| format!("file:{path}"));
        let as_id = import::slug(&normal, '_');
        let names = [Some(normal), file, Some(as_id)];
        for name in names.into_iter().flatten() {
            match self.known.get(&name).map(Vec::as_slice) {
                Some([id]) => return Ok(Some(id)),
                Some([]) | None => {}
                Some(several) => {
                    return Err(format!(
                        "it may mean any of the sources {}; say which with --map",
                        several.join(", ")
                    ));
                }
            }
        }
        Ok(None)
    }
}

fn read(path: &Path, shown: &Path) -> Result<String, Failure> {
    let bytes = door::read_named(path, RECORDS_LIMIT)
        .map_err(|failure| Failure(format!("{} cannot be read: {failure}", shown.display())))?;
    String::from_utf8(bytes).map_err(|_| Failure(format!("{} is not UTF-8 text", shown.display())))
}

/// The first of what is wrong with the file, with its line, and how much more there is.
fn sentences(shown: &Path, text: &str, problems: &[Problem]) -> String {
    let Some(first) = problems.first() else {
        return format!("{} cannot be read", shown.display());
    };
    let line = LineIndex::new(text).span(text, first.span.clone()).line;
    let more = match problems.len() {
        1 => String::new(),
        count => format!(" (and {} more)", count - 1),
    };
    format!("{}:{line}: {}{more}", shown.display(), first.message)
}
