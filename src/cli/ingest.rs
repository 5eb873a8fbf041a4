//! `kb ingest`: read one source into the manifests of an output folder (contract §4).

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use kbc_queries::chunk::CacgParams;
use kbc_queries::diagnostic::registry::{CLI_001, CLI_003, CLI_004, INGEST_001};
use kbc_queries::parse::manifest::read_sources;
use kbc_queries::system::{ReadFailure, System};

use crate::ingest::publish::Folder;
use crate::ingest::{self, Kind, Refusal, config, source};
use crate::workspace::Project;
use crate::workspace::disk::Disk;

use super::{CommandResult, Failure, Outcome, World};

/// Read one source, cut it into chunks, and put them into the manifests of an output folder
///
/// A source beside others is added to them; the same source again changes nothing; a known id with
/// other bytes is refused, since cards cite its chunks. A project with a kb.toml compiles all of its
/// sources with `kb build` instead.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  kb ingest sources/spec.pdf\n  kb ingest talk.jsonl --format utterances --config one-per-chunk.yaml\n  kb ingest talk.jsonl --format utterances --config one-per-chunk.yaml --append"
)]
pub struct Arguments {
    /// The source: a PDF, or Markdown, HTML, text or CSV by its ending
    source: PathBuf,
    /// YAML with `chunking`: `target_tokens`, `overlap_tokens`, `max_pages_per_chunk`
    #[arg(long, value_name = "PATH")]
    config: Option<PathBuf>,
    /// Where the manifests are [default: the project's out/]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// The source's id [default: what is recorded for the file, else made of its name]
    #[arg(long, value_name = "ID")]
    source_id: Option<String>,
    /// Read it as this, whatever it is called [default: by its kind]
    #[arg(long, value_name = "FORMAT")]
    format: Option<FormatName>,
    /// It is a longer version of a stream of utterances that is there
    #[arg(long)]
    append: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FormatName {
    /// PDF
    Pdf,
    /// Utterances: JSON lines, a header first
    Utterances,
}

/// Largest configuration that is read, in bytes.
const CONFIG_LIMIT: u64 = 1 << 20;

/// Largest sources manifest that is looked into for a recorded id, in bytes.
const SOURCES_LIMIT: u64 = 1 << 30;

/// Runs the command.
pub fn run(world: &World, arguments: &Arguments) -> CommandResult {
    match ingest(world, arguments)? {
        Ok(text) => {
            super::write_out(text.trim_end())?;
            Ok(Outcome::Fine)
        }
        Err(refusal) => refuse(&refusal),
    }
}

/// Says why a verb of the contract did nothing; the exit status follows from the code.
pub(super) fn refuse(refusal: &Refusal) -> CommandResult {
    let message = crate::render::visible::line(&refusal.message);
    let mut err = io::stderr().lock();
    let _ = writeln!(err, "{}: {message}", refusal.code);
    Ok(match refusal.is_misuse() {
        true => Outcome::Refused,
        false => Outcome::Findings,
    })
}

/// A remark on stderr.
pub(super) fn remark(text: &str) {
    let _ = writeln!(io::stderr(), "kb: {}", crate::render::visible::line(text));
}

/// A file or folder: where it is, and how it is called.
pub(super) type Named = (PathBuf, PathBuf);

/// What was given, below the current folder; else `default`, below the project's.
pub(super) fn named(
    world: &World,
    project: &Project,
    given: Option<&Path>,
    default: &str,
) -> Named {
    match given {
        Some(given) => (
            crate::workspace::plain(&world.current.join(given)),
            given.to_path_buf(),
        ),
        None => {
            let at = project.root.join(default);
            let shown = match project.root == world.current {
                true => PathBuf::from(default),
                false => at.clone(),
            };
            (at, shown)
        }
    }
}

/// The output folder.
pub(super) fn out_folder(world: &World, project: &Project, given: Option<&Path>) -> Named {
    named(world, project, given, &project.settings.out)
}

fn ingest(world: &World, arguments: &Arguments) -> Result<Result<String, Refusal>, Failure> {
    let project = world.project()?;
    let given = &arguments.source;
    let shown = given.display().to_string();
    // The order of these looks is the contract's.
    if !world.current.join(given).is_file() {
        return Ok(Err(Refusal::new(
            CLI_001,
            format!("{shown} is not there, or is not a regular file; give the path of a source"),
        )));
    }
    if arguments.append && arguments.format != Some(FormatName::Utterances) {
        return Ok(Err(Refusal::new(
            CLI_003,
            "--append takes a stream of utterances only; give --format utterances",
        )));
    }
    let (out, shown_out) = out_folder(world, &project, arguments.out.as_deref());
    if out.exists() && !out.is_dir() {
        return Ok(Err(Refusal::new(
            CLI_001,
            format!(
                "{} is not a folder; give a folder with --out",
                shown_out.display()
            ),
        )));
    }
    let Some(recorded_path) = recorded_path(world, &project, given) else {
        return Ok(Err(Refusal::new(
            CLI_001,
            format!("the name {shown} is not UTF-8 and cannot be recorded; rename the file"),
        )));
    };
    let source_id = match &arguments.source_id {
        Some(id) => id.clone(),
        None => known_id(&project, &out, &recorded_path)
            .unwrap_or_else(|| ingest::default_source_id(given)),
    };
    if !ingest::is_source_id(&source_id) {
        return Ok(Err(Refusal::new(
            CLI_003,
            format!(
                "the source id `{source_id}` does not match ^[a-z0-9][a-z0-9_]*$; give another with --source-id"
            ),
        )));
    }
    let params = match chunking(world, arguments.config.as_deref()) {
        Ok(params) => params,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let limits = project.settings.limits.document_limits();
    let bytes = match read(world, given, project.settings.limits.bytes) {
        Ok(bytes) => bytes,
        Err(failure) => {
            return Ok(Err(Refusal::new(
                INGEST_001,
                format!("{shown} cannot be read: {failure}"),
            )));
        }
    };
    let reader = std::env::current_exe().ok();
    let request = source::Request {
        source_id: &source_id,
        source_path: &recorded_path,
        shown: &shown,
        kind: match arguments.format {
            None => Kind::Any,
            Some(FormatName::Pdf) => Kind::Pdf,
            Some(FormatName::Utterances) => Kind::Utterances,
        },
        params,
        limits,
        reader: reader.as_deref(),
    };
    let ingest = match source::read(&bytes, &request) {
        Ok(ingest) => ingest,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let name = shown_out.display().to_string();
    let published = Folder::take(&out, &name, || remark("waiting for another kb"))
        .and_then(|folder| folder.publish(&ingest, arguments.append));
    let published = match published {
        Ok(published) => published,
        Err(refusal) => return Ok(Err(refusal)),
    };
    for notice in &ingest.notices {
        remark(&format!("{shown}: {notice}"));
    }
    if published.repaired {
        remark(&format!(
            "an earlier run was interrupted while it replaced {name}/; its work was finished first"
        ));
    }
    if published.unchanged {
        remark(&format!(
            "the source `{source_id}` is there already with these bytes; nothing was written"
        ));
    }
    let mut text = String::new();
    let mut line = |label: &str, value: &dyn std::fmt::Display| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{label:<18}{value}");
    };
    if arguments.append {
        line("appended chunks:", &published.added);
    }
    let at = |file: &str| shown_out.join(file).display().to_string();
    line("sources_manifest:", &at("sources_manifest.json"));
    line("chunks_manifest:", &at("chunks_manifest.json"));
    line("chunks_count:", &published.chunks);
    line("source_id:", &source_id);
    line("source_sha256:", &ingest.sha256);
    Ok(Ok(text))
}

/// The path that is recorded: below the project's folder relative to it, else as given.
fn recorded_path(world: &World, project: &Project, given: &Path) -> Option<String> {
    let text = given.to_str()?;
    Some(
        world
            .in_project(project, given)
            .unwrap_or_else(|_| text.to_owned()),
    )
}

/// The id that the settings give the file, or that is recorded for it.
fn known_id(project: &Project, out: &Path, path: &str) -> Option<String> {
    if let Some(id) = project
        .settings
        .sources
        .get(path)
        .and_then(|own| own.id.as_deref())
    {
        return Some(id.to_owned());
    }
    let file = crate::publish::current(out, "sources_manifest.json");
    let bytes = Disk::new(file.parent()?, None)
        .read(file.file_name()?.to_str()?, SOURCES_LIMIT)
        .ok()?;
    // One that cannot be read is refused when it is to be merged with.
    let manifest = read_sources(&bytes).ok()?;
    let record = manifest
        .sources
        .into_iter()
        .find(|source| source.source_path == path)?;
    Some(record.source_id)
}

fn chunking(world: &World, given: Option<&Path>) -> Result<CacgParams, Refusal> {
    let Some(given) = given else {
        return Ok(ingest::default_chunking());
    };
    let shown = given.display().to_string();
    let bytes = read(world, given, CONFIG_LIMIT)
        .map_err(|failure| Refusal::new(CLI_004, format!("{shown} cannot be read: {failure}")))?;
    let text = std::str::from_utf8(&bytes)
        .map_err(|_| Refusal::new(CLI_004, format!("{shown} is not UTF-8 text")))?;
    config::parse(text, &shown)
}

/// The bytes of a file given on the command line.
pub(super) fn read(world: &World, given: &Path, limit: u64) -> Result<Vec<u8>, ReadFailure> {
    let path = given
        .to_str()
        .ok_or_else(|| ReadFailure::Other("its name is not UTF-8".to_owned()))?;
    Disk::new(&world.current, None)
        .read(path, limit)
        .map(|bytes| bytes.to_vec())
}
