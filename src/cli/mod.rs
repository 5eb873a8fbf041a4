//! The command line: arguments to commands, outcomes to exit statuses.
//!
//! Exit statuses: 0 fine, 1 findings, 2 usage or configuration. Native commands print diagnostics
//! and ledger to stdout, progress and log to stderr.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};

use crate::session::Options;
use crate::workspace::Project;

mod baseline;
mod build;
mod check;
mod cite;
mod clean;
mod completions;
mod config;
mod coverage;
mod explain;
mod fix;
mod freshness;
mod import;
mod init;
mod output;
mod progress;
mod prove;
mod quote;
mod root;
mod semantic;

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
    Build(build::Arguments),
    Check(check::Arguments),
    Fix(fix::Arguments),
    Cite(cite::Arguments),
    Import(import::Arguments),
    Coverage(coverage::Arguments),
    Freshness(freshness::Arguments),
    Quote(quote::Arguments),
    Semantic(semantic::Arguments),
    Root(root::Arguments),
    Prove(prove::Arguments),
    VerifyProof(prove::VerifyArguments),
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

type CommandResult = Result<Outcome, Failure>;

/// What every command is given.
struct World {
    project: Option<PathBuf>,
    current: PathBuf,
    color: Color,
}

impl World {
    fn project(&self) -> Result<Project, Failure> {
        Ok(Project::find(self.project.as_deref(), &self.current)?)
    }

    /// A path given on the command line, relative to the project's root, with `/`.
    fn in_project(&self, project: &Project, path: &Path) -> Result<String, Failure> {
        let absolute = if path.is_absolute() {
            path.to_path_buf()
        } else {
            self.current.join(path)
        };
        let absolute = crate::workspace::plain(&absolute);
        let found = crate::workspace::discover::relative(&project.root, &absolute).or_else(|| {
            // The same folder may have two names, by a link.
            let root = project.root.canonicalize().ok()?;
            let absolute = absolute.canonicalize().ok()?;
            crate::workspace::discover::relative(&root, &absolute)
        });
        found.filter(|path| !path.is_empty()).ok_or_else(|| {
            Failure(format!(
                "{} is not in the project {}; give a path below it",
                path.display(),
                project.root.display()
            ))
        })
    }

    /// Options of a session that a command opens.
    fn options(&self) -> Options {
        Options {
            reader: std::env::current_exe().ok(),
            progress: progress::bar(),
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

/// Runs the program.
pub fn main() -> ExitCode {
    quiet_parser_panics();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are no errors; they go to stdout and end with 0.
            let status = if error.use_stderr() { 2 } else { 0 };
            let _ = error.print();
            return ExitCode::from(status);
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
        Command::Build(arguments) => build::run(&world, &arguments),
        Command::Check(arguments) => check::run(&world, &arguments),
        Command::Fix(arguments) => fix::run(&world, &arguments),
        Command::Freshness(arguments) => freshness::run(&world, &arguments),
        Command::Quote(arguments) => quote::run(&world, &arguments),
        Command::Import(arguments) => import::run(&world, &arguments),
        Command::Semantic(arguments) => semantic::run(&world, &arguments),
        Command::Root(arguments) => root::run(&world, &arguments),
        Command::Prove(arguments) => prove::run(&world, &arguments),
        Command::VerifyProof(arguments) => prove::verify(&world, &arguments),
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
        Err(failure) => fail(&failure),
    }
}

fn fail(failure: &Failure) -> ExitCode {
    let _ = writeln!(
        io::stderr(),
        "kb: {}",
        crate::render::visible::line(&failure.0)
    );
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

/// Writes a text and a line end to stdout. A reader that went away is no failure.
fn write_out(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match writeln!(out, "{text}").and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
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
