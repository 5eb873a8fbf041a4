//! `kb semantic`: opinions about quotes that were not found, and the arguments by which others ask.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use kbc_queries::diagnostic::Diagnostic;
use kbc_queries::input::Profile;
use kbc_queries::parse::settings::Embedder;
use kbc_queries::semantic::scoring::Scale;
use kbc_queries::semantic::{Policy, Score, Verdict};

use crate::semantic::judge::Judge;
use crate::semantic::project::{Which, claims};
use crate::semantic::{Oracle, build, embedder, read_cache};
use crate::session::Session;
use crate::workspace::Project;

use super::{CommandResult, Failure, Outcome, World, counted};

/// Make a cache of opinions about what quotes mean
///
/// An opinion verifies nothing. See docs/semantic.md for what the scores are worth.
#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Build(BuildArguments),
}

/// Write a semantic cache for the citations whose quote is not found
///
/// Exit status 0: it is written. 2: it could not be.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  kb semantic build\n  kb check --semantic out/semantic_cache.json\n  kb semantic build --all --out all.json"
)]
struct BuildArguments {
    /// Where to write it [default: semantic_cache.json in the project's folder for artifacts]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// All citations, also those whose quote was found
    #[arg(long)]
    all: bool,
    /// From which score on a claim passes, 0 to 1 [default: what was measured with the built-in model]
    #[arg(long, value_name = "SCORE", value_parser = score)]
    pass: Option<Score>,
    /// Below which score a claim fails
    #[arg(long, value_name = "SCORE", value_parser = score)]
    fail: Option<Score>,
}

fn score(text: &str) -> Result<Score, String> {
    text.parse()
        .ok()
        .and_then(Score::from_number)
        .ok_or_else(|| "a score is a number from 0 to 1".to_owned())
}

/// Runs the command.
pub fn run(world: &World, arguments: &Arguments) -> CommandResult {
    match &arguments.command {
        Command::Build(arguments) => run_build(world, arguments),
    }
}

fn run_build(world: &World, arguments: &BuildArguments) -> CommandResult {
    let project = world.project()?;
    let setting = project.settings.embedder.clone();
    let model = embedder::open(&setting, &project.root).map_err(Failure)?;
    let mut scale = match project.profile() {
        Profile::Cacg => Scale::contract(),
        Profile::Strict => Scale::sentences(),
    };
    let measured = arguments.pass.is_some() || project.profile() == Profile::Cacg;
    if setting != Embedder::Builtin && !measured {
        let _ = writeln!(
            io::stderr(),
            "kb: the scores that decide were measured with the built-in model; give others with --pass and --fail"
        );
    }
    scale.pass = arguments.pass.unwrap_or(scale.pass);
    scale.fail = arguments.fail.unwrap_or(scale.fail.min(scale.pass));
    if scale.fail > scale.pass {
        return Err(Failure("--fail is above --pass".to_owned()));
    }
    let out = match &arguments.out {
        Some(out) => world.current.join(out),
        None => project.out().join("semantic_cache.json"),
    };
    let mut session = Session::open(project, world.options());
    let which = if arguments.all {
        Which::All
    } else {
        Which::Failed
    };
    let claims = claims(&mut session, which);
    session.record();
    let cache =
        build::build(&*model, &scale, &claims).map_err(|error| Failure(error.to_string()))?;
    let text = cache.to_json();
    let failed =
        |error: io::Error| Failure(format!("{} cannot be written: {error}", out.display()));
    build::write(&out, &text).map_err(failed)?;
    let sidecar = build::sidecar(&*model, &scale, &text);
    build::write(&build::sidecar_path(&out), &sidecar).map_err(failed)?;
    super::write_out(&format!(
        "{}: {} ({} pass, {} abstain, {} fail), by {}",
        out.display(),
        counted(cache.len(), "claim"),
        cache.count(Verdict::Pass),
        cache.count(Verdict::Abstain),
        cache.count(Verdict::Fail),
        model.model_version(),
    ))?;
    session.leave();
    Ok(Outcome::Fine)
}

/// Who is asked about quotes that are not found.
#[derive(Args)]
pub struct SemanticArguments {
    /// Show what this semantic cache says about quotes that are not found
    #[arg(long, value_name = "CACHE", conflicts_with = "semantic_judge")]
    semantic: Option<PathBuf>,
    /// Ask the judge of kb.toml about quotes that are not found: sends quote and chunk over the network
    #[arg(long)]
    semantic_judge: bool,
    /// What an opinion may do [default: that of kb.toml, or advisory]
    #[arg(long, value_name = "POLICY")]
    semantic_policy: Option<PolicyName>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PolicyName {
    /// Stand beside the failure
    Advisory,
    /// With `pass`, make it a warning and count the citation as semantic
    Rescue,
}

/// What the arguments ask for.
pub enum Asked {
    /// Nobody is asked.
    Nobody,
    /// This one.
    Oracle(Oracle, Policy),
    /// The cache that was given is no cache: `MAN-001`.
    Invalid(Box<Diagnostic>),
}

impl SemanticArguments {
    /// Whom to ask.
    ///
    /// # Errors
    /// What is missing in the settings.
    pub fn oracle(&self, world: &World, project: &Project) -> Result<Asked, Failure> {
        let settings = &project.settings.semantic;
        let policy = match self.semantic_policy {
            Some(PolicyName::Advisory) => Policy::Advisory,
            Some(PolicyName::Rescue) => Policy::Rescue,
            None => settings.policy.into(),
        };
        if let Some(path) = &self.semantic {
            let shown = path.display().to_string();
            return Ok(match read_cache(&world.current.join(path), &shown) {
                Ok(cache) => Asked::Oracle(Oracle::Cache(cache), policy),
                Err(diagnostic) => Asked::Invalid(diagnostic),
            });
        }
        if !self.semantic_judge {
            return Ok(Asked::Nobody);
        }
        let judge = Judge::new(settings, |name| std::env::var(name).ok()).map_err(Failure)?;
        let _ = writeln!(
            io::stderr(),
            "kb: asking {}",
            crate::render::visible::line(&judge.describe())
        );
        Ok(Asked::Oracle(Oracle::Judge(judge), policy))
    }
}
