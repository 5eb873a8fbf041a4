//! The command line: arguments to commands, outcomes to exit statuses.
//!
//! Exit statuses: 0 fine, 1 findings, 2 usage or configuration. Native commands print diagnostics
//! and ledger to stdout, progress and log to stderr.

use std::io::{self, IsTerminal, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};

use crate::session::{Options, Report, Session};
use crate::workspace::{Project, SETTINGS_FILE, door};

use streams::{note, say, tell, write_bytes, write_out};

mod baseline;
mod build;
mod check;
mod cite;
mod clean;
mod completions;
mod config;
mod contract;
mod coverage;
mod explain;
mod fix;
mod freshness;
mod history;
mod import;
mod index;
mod ingest;
mod init;
mod journal;
mod lint;
mod matrix;
mod migrate;
mod new;
mod output;
mod progress;
mod prove;
mod quote;
mod retract;
mod root;
mod round;
mod scaffold;
mod search;
mod semantic;
mod show;
mod streams;
mod unretract;
mod verify;

/// A compiler for knowledge bases: it checks that every quote in every card stands in the source
/// it cites, and publishes verified, reproducible manifests.
#[derive(Parser)]
#[command(
    name = "kb",
    version,
    max_term_width = 100,
    propagate_version = true,
    after_help = "Start with `kb init my-kb`, then `cd my-kb` and `kb check`.\n\
                  `kb help COMMAND` shows a command with an example."
)]
pub struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

#[derive(Args)]
struct Global {
    /// The project's folder [default: the nearest folder upward with a kb.toml]
    ///
    /// Paths that other arguments name stay relative to the current folder.
    #[arg(
        long,
        global = true,
        value_name = "DIR",
        help_heading = "Global options"
    )]
    project: Option<PathBuf>,
    /// When to use colour
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        help_heading = "Global options"
    )]
    color: Color,
    /// Worker threads [default: one per core]
    #[arg(long, global = true, value_name = "N", help_heading = "Global options")]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Subcommand)]
enum Command {
    Init(init::Arguments),
    Ingest(ingest::Arguments),
    New(new::Arguments),
    Build(build::Arguments),
    Check(check::Arguments),
    Lint(lint::Arguments),
    Verify(verify::Arguments),
    Fix(fix::Arguments),
    Cite(cite::Arguments),
    Import(import::Arguments),
    Coverage(coverage::Arguments),
    Freshness(freshness::Arguments),
    Quote(quote::Arguments),
    History(history::Arguments),
    Journal(journal::Arguments),
    Index(index::Arguments),
    Search(search::Arguments),
    Show(show::Arguments),
    Retract(retract::CardArguments),
    RetractSource(retract::SourceArguments),
    RetractChunk(retract::ChunkArguments),
    Unretract(unretract::Arguments),
    Semantic(semantic::Arguments),
    Root(root::Arguments),
    Prove(prove::Arguments),
    VerifyProof(prove::VerifyArguments),
    ScaffoldMatrix(scaffold::MatrixArguments),
    ScaffoldRoleMap(scaffold::RoleMapArguments),
    MigrateSummaries(migrate::Arguments),
    Matrix(matrix::Arguments),
    Explain(explain::Arguments),
    Config(config::Arguments),
    Clean(clean::Arguments),
    Completions(completions::Arguments),
    #[command(hide = true)]
    Man(completions::ManArguments),
    /// Read one PDF from stdin, apart from the run that asks
    #[command(hide = true)]
    ReadApart,
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing is wrong.
    Fine,
    /// There are findings.
    Findings,
    /// The request itself is wrong, and that was said.
    Refused,
}

/// Why a command could not do its work: usage, configuration or the world. Exit status 2.
#[derive(Debug)]
pub struct Failure(pub String);

impl From<crate::workspace::NoProject> for Failure {
    fn from(error: crate::workspace::NoProject) -> Self {
        Failure(error.to_string())
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Failure(error.to_string())
    }
}

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Failure(message)
    }
}

/// Largest text that the command line names, in bytes.
const INPUT_LIMIT: u64 = 1 << 30;

type CommandResult = Result<Outcome, Failure>;

/// What is said of a project whose settings are wrong: whatever followed from the defaults in
/// their place would be blamed on cards and sources.
const MISCONFIGURED: &str =
    "kb.toml has errors, so nothing was done; mend them first (`kb config` shows what is in force)";

/// What every command is given.
struct World {
    project: Option<PathBuf>,
    current: PathBuf,
    color: Color,
}

impl World {
    /// The project, if its settings say what was meant.
    fn project(&self) -> Result<Project, Failure> {
        let project = self.project_as_it_is()?;
        if project.is_misconfigured() {
            for diagnostic in Report::of_settings(&project).diagnostics {
                let place = diagnostic.span.map_or_else(String::new, |span| {
                    format!(":{}:{}", span.line, span.column)
                });
                note(&format!(
                    "{}{place}: {} {}",
                    diagnostic.file.as_deref().unwrap_or(SETTINGS_FILE),
                    diagnostic.code,
                    diagnostic.message
                ));
            }
            return Err(Failure(MISCONFIGURED.to_owned()));
        }
        Ok(project)
    }

    /// The project, for commands that say themselves what is wrong with its settings.
    fn project_as_it_is(&self) -> Result<Project, Failure> {
        Ok(Project::find(self.project.as_deref(), &self.current)?)
    }

    /// A path given on the command line, relative to the project's root, with `/`.
    fn in_project(&self, project: &Project, path: &Path) -> Result<String, Failure> {
        let absolute = crate::workspace::plain(&self.current.join(path));
        let found = crate::workspace::discover::relative(&project.root, &absolute).or_else(|| {
            // The same folder may have two names, by a link.
            let root = project.root.canonicalize().ok()?;
            let absolute = absolute.canonicalize().ok()?;
            crate::workspace::discover::relative(&root, &absolute)
        });
        found
            .filter(|path| !path.is_empty())
            .ok_or_else(|| Failure(self.not_in_project(project, path, &absolute)))
    }

    /// Why a path of the command line names nothing in the project.
    fn not_in_project(&self, project: &Project, path: &Path, absolute: &Path) -> String {
        let (shown, root) = (path.display(), project.root.display());
        if path.to_str().is_none() {
            return format!(
                "the name {shown} is not UTF-8, so nothing can name it; rename the file"
            );
        }
        let mut words = format!("{shown} is not in the project {root}");
        if path.is_relative() {
            words.push_str(&format!(
                ": paths are relative to the current folder, so this is {}",
                absolute.display()
            ));
        }
        let meant = project.root.join(path);
        if path.is_relative() && meant.exists() {
            words.push_str(&format!(
                "; for the project's own file, give {}",
                meant.display()
            ));
        } else {
            words.push_str("; give a path below the project's folder");
        }
        words
    }

    /// Why a path that was given names no file.
    fn no_file(&self, path: &Path) -> Failure {
        let at = crate::workspace::plain(&self.current.join(path));
        Failure(match path.is_relative() {
            true => format!(
                "there is no file {}: paths are relative to the current folder, so this is {}",
                path.display(),
                at.display()
            ),
            false => format!("there is no file {}", path.display()),
        })
    }

    /// The text of a file that the command line names; `-` is stdin.
    fn text_of(&self, path: &Path) -> Result<String, Failure> {
        let unreadable = |reason: &dyn std::fmt::Display| {
            Failure(format!("{} cannot be read: {reason}", path.display()))
        };
        let read = match path.as_os_str() == "-" {
            true => door::read_stdin(INPUT_LIMIT),
            false => door::read_named(&self.current.join(path), INPUT_LIMIT),
        };
        String::from_utf8(read.map_err(|failure| unreadable(&failure))?)
            .map_err(|_| unreadable(&"it is not UTF-8 text"))
    }

    /// Options of a session that a command opens.
    fn options(&self) -> Options {
        Options {
            reader: std::env::current_exe().ok(),
            progress: progress::bar(),
            user_cache: user_cache(),
            ..Options::default()
        }
    }

    fn use_color(&self) -> bool {
        match self.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => {
                std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
                    && io::stdout().is_terminal()
            }
        }
    }
}

/// The user's folder for derived state: the XDG base directory specification's, below it our own.
fn user_cache() -> Option<PathBuf> {
    let absolute = |name: &str| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let base = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
    Some(base.join("kbc"))
}

/// Runs the program.
pub fn main() -> ExitCode {
    quiet_parser_panics();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let printed = error.print();
            if error.use_stderr() {
                return ExitCode::from(2);
            }
            // Help and version are no errors; they go to stdout and end with 0.
            let printed = printed.and_then(|()| io::stdout().flush());
            return match streams::written(printed) {
                Ok(()) => ExitCode::SUCCESS,
                Err(failure) => fail(&failure),
            };
        }
    };
    let current = match std::env::current_dir() {
        Ok(current) => current,
        Err(error) => {
            return fail(&Failure(format!(
                "the current folder cannot be used: {error}"
            )));
        }
    };
    if let Some(threads) = cli.global.threads
        && let Err(error) = rayon::ThreadPoolBuilder::new()
            .num_threads(usize::from(threads))
            .build_global()
    {
        return fail(&Failure(format!("cannot start {threads} threads: {error}")));
    }
    let world = World {
        project: cli.global.project,
        current,
        color: cli.global.color,
    };
    let result = match cli.command {
        Command::Init(arguments) => init::run(&world, &arguments),
        Command::Ingest(arguments) => ingest::run(&world, &arguments),
        Command::New(arguments) => new::run(&world, &arguments),
        Command::Build(arguments) => build::run(&world, &arguments),
        Command::Check(arguments) => check::run(&world, &arguments),
        Command::Lint(arguments) => lint::run(&world, &arguments),
        Command::Verify(arguments) => verify::run(&world, &arguments),
        Command::Fix(arguments) => fix::run(&world, &arguments),
        Command::Freshness(arguments) => freshness::run(&world, &arguments),
        Command::Quote(arguments) => quote::run(&world, &arguments),
        Command::Import(arguments) => import::run(&world, &arguments),
        Command::History(arguments) => history::run(&world, &arguments),
        Command::Journal(arguments) => journal::run(&world, &arguments),
        Command::Index(arguments) => index::run(&world, &arguments),
        Command::Search(arguments) => search::run(&world, &arguments),
        Command::Show(arguments) => show::run(&world, &arguments),
        Command::Retract(arguments) => retract::card(&world, &arguments),
        Command::RetractSource(arguments) => retract::source(&world, &arguments),
        Command::RetractChunk(arguments) => retract::chunk(&world, &arguments),
        Command::Unretract(arguments) => unretract::run(&world, &arguments),
        Command::Semantic(arguments) => semantic::run(&world, &arguments),
        Command::Root(arguments) => root::run(&world, &arguments),
        Command::Prove(arguments) => prove::run(&world, &arguments),
        Command::VerifyProof(arguments) => prove::verify(&world, &arguments),
        Command::ScaffoldMatrix(arguments) => scaffold::matrix(&world, &arguments),
        Command::ScaffoldRoleMap(arguments) => scaffold::role_map(&world, &arguments),
        Command::MigrateSummaries(arguments) => migrate::run(&world, &arguments),
        Command::Matrix(arguments) => matrix::run(&world, &arguments),
        Command::Explain(arguments) => explain::run(&arguments),
        Command::Config(arguments) => config::run(&world, &arguments),
        Command::Coverage(arguments) => coverage::run(&world, &arguments),
        Command::Cite(arguments) => cite::run(&world, &arguments),
        Command::Clean(arguments) => clean::run(&world, &arguments),
        Command::Completions(arguments) => completions::run(&arguments),
        Command::Man(arguments) => completions::man(&arguments),
        Command::ReadApart => crate::workspace::apart::serve()
            .map(|()| Outcome::Fine)
            .map_err(Failure::from),
    };
    match result {
        Ok(Outcome::Fine) => ExitCode::SUCCESS,
        Ok(Outcome::Findings) => ExitCode::from(1),
        Ok(Outcome::Refused) => ExitCode::from(2),
        Err(failure) => fail(&failure),
    }
}

fn fail(failure: &Failure) -> ExitCode {
    note(&failure.0);
    ExitCode::from(2)
}

/// A number and its noun.
fn counted(count: impl TryInto<u64>, noun: &str) -> String {
    match count.try_into() {
        Ok(1) => format!("1 {noun}"),
        Ok(count) => format!("{count} {noun}s"),
        Err(_) => format!("many {noun}s"),
    }
}

/// Says what had to be mended in the derived state before the command could begin. It is no part
/// of any result: a run that repairs gives what a clean one gives.
fn note_repairs(session: &Session) {
    if let Some(repair) = session.notice() {
        let help = repair.help.as_deref().unwrap_or_default();
        note(&format!("{}: {}; {help}", repair.code, repair.message));
    }
}

/// Writes a line to stderr. There is nobody to tell when that fails.
fn to_stderr(line: &str) {
    let _ = writeln!(io::stderr(), "{}", crate::render::visible::line(line));
}

/// A parser's panic is caught and becomes a diagnostic about its file; it needs no second message.
fn quiet_parser_panics() {
    let default = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if !kbc_queries::parse::document::is_guarded() {
            default(info);
        }
    }));
}

/// The command line's definition, for completions and man pages.
pub fn definition() -> clap::Command {
    Cli::command()
}
