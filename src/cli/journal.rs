//! `kb journal`: what the record of checks is worth: its head, all of it hashed anew, rotation.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use kbc_queries::record::Kind;
use kbc_queries::record::head::Head;

use crate::record::RecordError;
use crate::record::check::Question;
use crate::record::journal::{Journal, NAME};
use crate::record::paths::recorded;
use crate::render::visible;

use super::{CommandResult, Failure, Outcome, World, counted};

/// Check the journal of `lint` and `verify`, print its head, rotate it
///
/// The head is one line that stands for every event so far. Kept where the journal is not (a commit
/// message, a ticket, a signed tag), it shows later that no event was cut off, changed or written
/// anew, also when the journal has grown since. The head file beside the journal only notices
/// accidents: somebody who can write both files can make both fit.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  kb journal verify\n  kb journal head > head.txt\n  kb journal verify --head \"$(cat head.txt)\"\n  kb journal rotate"
)]
pub struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Print the head: what to keep elsewhere
    ///
    /// Its form is `kb-journal-head-v1:EVENTS:SHA256`. Events of files that were rotated away count.
    #[command(after_help = "Example:\n  git tag -s -m \"$(kb journal head)\" checked-today")]
    Head(Which),
    /// Hash every event anew and name the first bad line
    #[command(
        after_help = "Examples:\n  kb journal verify\n  kb journal verify --head kb-journal-head-v1:12:3f0c…"
    )]
    Verify(VerifyArguments),
    /// Move the journal to NAME.EVENTS.jsonl and begin a new one that carries its head
    #[command(after_help = "Examples:\n  kb journal rotate\n  kb journal rotate --abandon")]
    Rotate(RotateArguments),
}

#[derive(Args)]
struct Which {
    /// The journal [default: lint_journal.jsonl in the output folder]
    #[arg(long, value_name = "PATH")]
    journal: Option<PathBuf>,
    /// One JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct VerifyArguments {
    #[command(flatten)]
    which: Which,
    /// A head that was kept elsewhere: the journal has to be its events, or those and later ones
    #[arg(long, value_name = "HEAD", value_parser = journal_head)]
    head: Option<Head>,
    /// Do not look for files that were rotated away, unless the head given is older
    #[arg(long)]
    since_rotation: bool,
}

#[derive(Args)]
struct RotateArguments {
    #[command(flatten)]
    which: Which,
    /// Set a journal aside that cannot be trusted; heads kept elsewhere hold no more
    #[arg(long)]
    abandon: bool,
}

fn journal_head(text: &str) -> Result<Head, String> {
    head_of(text, Kind::Journal)
}

/// A head given on the command line.
pub(super) fn head_of(text: &str, kind: Kind) -> Result<Head, String> {
    let head: Head = text
        .trim()
        .parse()
        .map_err(|error: kbc_queries::record::head::HeadShape| error.to_string())?;
    if head.kind == kind {
        Ok(head)
    } else {
        Err(format!("it is the head of a {}", head.kind.noun()))
    }
}

/// Runs the command.
pub fn run(world: &World, arguments: &Arguments) -> CommandResult {
    match &arguments.action {
        Action::Head(which) => {
            let journal = which.find(world)?;
            match journal.head() {
                Ok(head) if which.json => {
                    say(&json!({ "events": head.events, "head": head }).to_string())
                }
                Ok(head) => say(&head.to_string()),
                Err(error) => report(&error, which.json),
            }
        }
        Action::Verify(arguments) => verify(world, arguments),
        Action::Rotate(arguments) => rotate(world, arguments),
    }
}

impl Which {
    fn open(&self, world: &World) -> Result<Journal, Failure> {
        let project = world.project()?;
        let given = match &self.journal {
            Some(path) => world.current.join(path),
            None => project.out().join(NAME),
        };
        let shown = match &self.journal {
            Some(path) => path.to_string_lossy().into_owned(),
            None => recorded(&given, &project.root, &world.current),
        };
        Ok(Journal::open(given, shown))
    }

    /// The journal, which has to be there, or to have been.
    fn find(&self, world: &World) -> Result<Journal, Failure> {
        let journal = self.open(world)?;
        // Something else of its name is a finding, and said later.
        if matches!(journal.exists(), Ok(false)) {
            return Err(Failure(format!(
                "there is no journal {}; `kb lint` and `kb verify` write one",
                journal.path().display()
            )));
        }
        Ok(journal)
    }
}

fn say(text: &str) -> CommandResult {
    super::write_out(text)?;
    Ok(Outcome::Fine)
}

fn verify(world: &World, arguments: &VerifyArguments) -> CommandResult {
    // With a head from elsewhere, a journal that is not there at all is a finding.
    let journal = if arguments.head.is_some() {
        arguments.which.open(world)?
    } else {
        arguments.which.find(world)?
    };
    let question = Question {
        head: arguments.head,
        since_rotation: arguments.since_rotation,
    };
    let sound = match journal.verify(&question) {
        Ok(sound) => sound,
        Err(error) => return report(&error, arguments.which.json),
    };
    if arguments.which.json {
        let files: Vec<Value> = sound
            .files
            .iter()
            .map(|(file, events)| json!({ "events": events, "file": &**file }))
            .collect();
        let answer = json!({
            "ok": true,
            "events": sound.head.events,
            "files": files,
            "head": sound.head,
            "head_checked": arguments.head,
            "head_file": !sound.without_head_file,
            "not_in_head_file": sound.unnamed,
        });
        return say(&answer.to_string());
    }
    let files = match sound.files.as_slice() {
        [(file, _)] => file.to_string(),
        files => counted(files.len(), "file"),
    };
    let mut text = format!(
        "ok: {} in {}\nhead: {}",
        counted(sound.head.events, "event"),
        visible::line(&files),
        sound.head
    );
    if let Some(head) = arguments.head {
        text.push_str(&match sound.head.events - head.events {
            0 => "\nthe head given is its head".to_owned(),
            later => format!(
                "\nthe head given is that of its first {}; {} later",
                counted(head.events, "event"),
                counted(later, "event")
            ),
        });
    } else {
        text.push_str(
            "\nno head was given: that its end is whole says only the head file beside it",
        );
    }
    if sound.without_head_file {
        text.push_str("\nit has no head file; the next append checks all of it and writes one");
    } else if sound.unnamed > 0 {
        text.push_str(&format!(
            "\nnot yet in its head file: {}; the next append takes them in",
            counted(sound.unnamed, "event")
        ));
    }
    say(&text)
}

fn rotate(world: &World, arguments: &RotateArguments) -> CommandResult {
    let journal = arguments.which.find(world)?;
    let shown = |path: &Path| recorded(path, &world.current, &world.current);
    if arguments.abandon {
        return match journal.abandon() {
            Err(error) => report(&error, arguments.which.json),
            Ok(moved) if arguments.which.json => {
                let moved: Vec<String> = moved.iter().map(|path| shown(path)).collect();
                say(&json!({ "abandoned": moved }).to_string())
            }
            Ok(moved) => {
                let mut text =
                    String::from("a new journal begins; heads kept elsewhere hold no more");
                for path in moved {
                    text.push_str(&format!("\nset aside: {}", shown(&path)));
                }
                say(&text)
            }
        };
    }
    match journal.rotate() {
        Err(error) => report(&error, arguments.which.json),
        Ok(rotated) if arguments.which.json => say(&match rotated {
            Some(rotated) => {
                json!({ "head": rotated.head, "rotated": shown(&rotated.to) }).to_string()
            }
            None => json!({ "rotated": null }).to_string(),
        }),
        Ok(None) => say("nothing to rotate: the journal has no event"),
        Ok(Some(rotated)) => say(&format!(
            "rotated: {}\nhead: {}",
            shown(&rotated.to),
            rotated.head
        )),
    }
}

/// Prints what is wrong with a record to stdout.
pub(super) fn report(error: &RecordError, as_json: bool) -> CommandResult {
    let diagnostic = error.diagnostic();
    if as_json {
        let finding = json!({
            "code": diagnostic.code,
            "severity": diagnostic.severity,
            "message": diagnostic.message,
            "file": diagnostic.file,
            "line": error.line(),
            "help": diagnostic.help,
        });
        super::write_out(&json!({ "ok": false, "diagnostics": [finding] }).to_string())?;
        return Ok(Outcome::Findings);
    }
    let mut text = format!(
        "{}: {} {}",
        visible::line(&error.file),
        diagnostic.code,
        visible::line(&diagnostic.message)
    );
    if let Some(help) = &diagnostic.help {
        text.push_str("\n  help: ");
        text.push_str(&visible::line(help));
    }
    super::write_out(&text)?;
    Ok(Outcome::Findings)
}
