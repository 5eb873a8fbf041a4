//! What `lint` and `verify` share: their inputs, one session, the contract's lines on stderr.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;

use kbc_queries::deck::agreement::differences;
use kbc_queries::diagnostic::{Diagnostic, Severity, registry};
use kbc_queries::parse::manifest::{read_cards, read_summaries};
use kbc_queries::parse::settings::Profile;
use kbc_queries::semantic::Policy;

use crate::contract::view::{self, CardView, Line, Look, Verb};
use crate::contract::{hints, opinion, visit};
use crate::publish;
use crate::record::clock::Clock;
use crate::record::journal::Journal;
use crate::semantic::Oracle;
use crate::session::{Options, Session};
use crate::workspace::Project;
use crate::workspace::discover::{Matcher, Role, discover, relative};
use crate::workspace::door;

use super::output::{self, ModernArguments};
use super::semantic::{Asked, SemanticArguments};
use super::{CommandResult, Failure, Outcome, World};

/// The files that a verb works on.
#[derive(Args)]
pub struct Inputs {
    /// The chunks that citations resolve to [default: the project's sources, or
    /// `out/chunks_manifest.json`]
    #[arg(long, value_name = "FILE")]
    chunks_manifest: Option<PathBuf>,
    /// Which reading may cite which source; needed outside a project
    #[arg(long, value_name = "FILE")]
    source_matrix: Option<PathBuf>,
    /// Where every visit of a card is recorded [default: `lint_journal.jsonl` beside the chunks
    /// manifest]
    #[arg(long, value_name = "FILE")]
    journal: Option<PathBuf>,
    #[command(flatten)]
    format: ModernArguments,
}

/// Who is asked about quotes that do not stand.
pub enum Opinions {
    /// Nobody.
    Unasked,
    /// This one.
    Of(Oracle, Policy),
}

/// How cards are looked at.
pub struct Run {
    /// By which layers.
    pub look: Look,
    /// Report cards that nothing points at.
    pub orphans: bool,
    /// A retracted card is a warning.
    pub allow_retracted: bool,
    /// No cards are a success.
    pub allow_empty: bool,
}

/// Which cards are looked at.
#[derive(Clone, Copy)]
pub enum Deck<'a> {
    /// One.
    Card(&'a Path),
    /// All below a folder, or below the default one.
    All(Option<&'a Path>),
}

/// A project, or what stands for one, ready for a session.
pub struct Ground {
    /// The project.
    pub project: Project,
    /// The session's options, without the cards to look at.
    pub options: Options,
    /// Where visits are recorded.
    pub journal: PathBuf,
    /// The folder of the manifests.
    published: PathBuf,
}

/// A card to be looked at.
#[derive(Clone, Debug)]
pub struct Visit {
    /// Its path in the session.
    pub key: String,
    /// Its path as it was given.
    pub shown: String,
    /// Its path as events have it.
    pub recorded: String,
}

impl Inputs {
    /// Where a verb works: on the explicit files, in the project around it, or on the contract's
    /// default layout.
    pub fn ground(&self, world: &World, run: &Run) -> Result<Ground, Failure> {
        let mut project = world.project_as_it_is()?;
        if project.is_misconfigured() {
            let format = self.format.chosen().unwrap_or(crate::render::Format::Short);
            return Err(output::refuse(world, &project, format));
        }
        let inside = project.settings_text.is_some();
        if self.source_matrix.is_none() && !inside {
            return Err(Failure(
                "--source-matrix FILE is needed: there is no kb.toml here or above that says which matrix holds"
                    .to_owned(),
            ));
        }
        let manifest = match &self.chunks_manifest {
            Some(path) => Some(world.current.join(path)),
            None if inside => None,
            None => Some(world.current.join("out/chunks_manifest.json")),
        };
        if !inside {
            project.settings.profile = Profile::Cacg;
        }
        let published = match &manifest {
            Some(manifest) => manifest.parent().unwrap_or(&world.current).to_path_buf(),
            None => project.out(),
        };
        let journal = match (&self.journal, &manifest) {
            (Some(path), _) => world.current.join(path),
            (None, Some(manifest)) => manifest.with_file_name("lint_journal.jsonl"),
            (None, None) => project.out().join("lint_journal.jsonl"),
        };
        let options = Options {
            fuzzy: run.look.fuzzy,
            orphans: run.orphans,
            allow_retracted: run.allow_retracted,
            chunks_manifest: manifest,
            source_matrix: self
                .source_matrix
                .as_ref()
                .map(|path| world.current.join(path)),
            ..world.options()
        };
        Ok(Ground {
            project,
            options,
            journal,
            published,
        })
    }

    /// The renderer that was asked for, if it is not the contract's own lines.
    pub fn format(&self) -> Option<crate::render::Format> {
        self.format.chosen()
    }
}

impl Ground {
    /// A card as the session names it.
    pub fn visit(&self, world: &World, given: &Path) -> Visit {
        let key = world
            .in_project(&self.project, given)
            .unwrap_or_else(|_| world.current.join(given).display().to_string());
        Visit {
            key,
            shown: given.display().to_string(),
            recorded: self.recorded(world, given),
        }
    }

    /// All cards below a folder. Links are not followed, `SKILL.md` is a router and no card.
    fn deck(&self, world: &World, folder: Option<&Path>) -> Result<Vec<Visit>, Line> {
        let inside = self.project.settings_text.is_some();
        let given = match folder {
            Some(folder) => folder.to_path_buf(),
            None if inside => {
                let matcher = Matcher::new(&self.project.settings);
                return Ok(self.project_cards(&matcher));
            }
            None => PathBuf::from("cards"),
        };
        let at = world.current.join(&given);
        if !at.is_dir() {
            return Err(Line::error(
                registry::CLI_001,
                format!("cards directory not found: {}", given.display()),
            ));
        }
        let mut visits: Vec<Visit> = walkdir::WalkDir::new(&at)
            .into_iter()
            .flatten()
            .filter(|entry| entry.file_type().is_file())
            .filter(|entry| {
                entry.path().extension().is_some_and(|kind| kind == "md")
                    && entry.file_name() != "SKILL.md"
            })
            .map(|entry| {
                let below = entry.path().strip_prefix(&at).unwrap_or(entry.path());
                self.visit(world, &given.join(below))
            })
            .collect();
        visits.sort_by(|a, b| a.shown.cmp(&b.shown));
        Ok(visits)
    }

    fn project_cards(&self, matcher: &Matcher) -> Vec<Visit> {
        let root = &self.project.root;
        let mut visits: Vec<Visit> = discover(root, &self.project.settings, matcher)
            .files
            .into_iter()
            .filter(|found| found.role == Role::Card)
            .map(|found| Visit {
                key: found.path.to_string(),
                shown: found.path.to_string(),
                recorded: found.path.to_string(),
            })
            .collect();
        visits.sort_by(|a, b| a.key.cmp(&b.key));
        visits
    }

    /// A card's path as events have it.
    pub fn recorded(&self, world: &World, path: &Path) -> String {
        crate::record::paths::recorded(path, &self.project.root, &world.current)
    }

    /// Looks at these cards, with one session. `whole_deck`: there are no others.
    pub fn look(self, visits: &[Visit], run: &Run, whole_deck: bool, opinions: &Opinions) -> Seen {
        let keys: BTreeSet<String> = visits.iter().map(|visit| visit.key.clone()).collect();
        let started = Instant::now();
        let mut options = self.options;
        options.only = Some(keys.clone());
        options.whole_deck = whole_deck;
        let mut session = Session::open(self.project, options);
        let mut views = view::cards(&session, &keys, run.look);
        hints::add(&mut session, &mut views);
        if let Opinions::Of(oracle, policy) = opinions {
            opinion::consult(&mut session, &mut views, oracle, *policy);
        }
        session.record();
        Seen {
            session,
            views,
            journal: self.journal,
            published: self.published,
            latency: started.elapsed(),
        }
    }
}

/// Cards that were looked at.
pub struct Seen {
    /// What was looked at.
    pub session: Session,
    /// The cards, by their path in the session.
    pub views: BTreeMap<Arc<str>, CardView>,
    /// Where visits are recorded.
    pub journal: PathBuf,
    /// The folder of the manifests.
    published: PathBuf,
    /// How long it took.
    pub latency: Duration,
}

impl Seen {
    /// Where the summaries beside the journal's manifests differ from the cards manifest. A file
    /// that is missing or broken has a finding of its own elsewhere.
    fn disagreements(&self) -> Vec<Diagnostic> {
        let read = |name: &str| door::read(&self.published.join(name), publish::LIMIT).ok();
        let manifest = read("cards_manifest.json").and_then(|bytes| read_cards(&bytes).ok());
        let summaries = read("summaries.json").and_then(|bytes| read_summaries(&bytes).ok());
        let path = self.published.join("summaries.json");
        let shown = relative(&self.session.project.root, &path)
            .unwrap_or_else(|| path.display().to_string());
        match (manifest, summaries) {
            (Some(manifest), Some(summaries)) => differences(&manifest, &summaries, &shown),
            _ => Vec::new(),
        }
    }

    /// Records visits, all at once. What is wrong with the journal is said, and fails the run.
    pub fn record(&self, verb: Verb, visits: &[(&str, &CardView)]) -> Result<bool, Failure> {
        if visits.is_empty() {
            return Ok(true);
        }
        let clock = Clock::from_environment();
        // One look serves all cards; each is given its share.
        let share = u32::try_from(visits.len().max(1)).unwrap_or(u32::MAX);
        let latency = self.latency / share;
        let events: Vec<_> = visits
            .iter()
            .map(|(path, view)| visit::event(clock, verb, path, view, latency))
            .collect();
        if let Some(folder) = self.journal.parent().filter(|at| **at == self.published) {
            // The folder of a journal that was named is not made up; and one that cannot be made is
            // said by the append.
            let _ = std::fs::create_dir_all(folder);
        }
        let shown = relative(&self.session.project.root, &self.journal)
            .unwrap_or_else(|| self.journal.display().to_string());
        let journal = Journal::open(&*self.journal, &*shown);
        match journal.append(&events) {
            Ok(appended) => {
                for repair in &appended.repairs {
                    super::note(&format!("{shown}: {repair}"));
                }
                Ok(true)
            }
            Err(error) => {
                writeln!(io::stderr(), "{}", error.contract_line())?;
                Ok(false)
            }
        }
    }

    /// A card's view. One that the session does not know was not verified.
    pub fn view(&self, visit: &Visit) -> CardView {
        self.views.get(&*visit.key).cloned().unwrap_or_else(|| {
            CardView::failed(Line::error(
                registry::CLI_001,
                format!(
                    "file not found: {} is no regular file, or no glob in `cards.include` of \
                     kb.toml matches it",
                    visit.shown
                ),
            ))
        })
    }
}

/// Looks at cards and says what is wrong with them, as the contract does.
pub fn run(
    world: &World,
    inputs: &Inputs,
    deck: Deck<'_>,
    run: &Run,
    asked: Option<&SemanticArguments>,
) -> CommandResult {
    let ground = inputs.ground(world, run)?;
    let opinions = match opinions(world, &ground, asked)? {
        Ok(opinions) => opinions,
        Err(line) => return at_the_door(&line),
    };
    let visits = match deck {
        Deck::Card(card) if !world.current.join(card).exists() => {
            return at_the_door(&Line::error(
                registry::CLI_001,
                format!("file not found: {}", card.display()),
            ));
        }
        Deck::Card(card) => vec![ground.visit(world, card)],
        Deck::All(folder) => match ground.deck(world, folder) {
            Ok(visits) => visits,
            Err(line) => return at_the_door(&line),
        },
    };
    if visits.is_empty() {
        if run.allow_empty {
            return Ok(Outcome::Fine);
        }
        return at_the_door(&Line::error(
            registry::CLI_001,
            "nothing was checked: there are no cards; give the folder with --cards-dir, or pass \
             --allow-empty",
        ));
    }
    let seen = ground.look(&visits, run, matches!(deck, Deck::All(_)), &opinions);
    let mut text = String::new();
    let mut failed = false;
    if let Some(line) = view::broken_cards_manifest(&seen.session) {
        // It is about no card, so every format has it here.
        at_the_door(&line)?;
        failed = true;
    }
    let looked: Vec<(&Visit, CardView)> = visits
        .iter()
        .map(|visit| (visit, seen.view(visit)))
        .collect();
    for (visit, view) in &looked {
        let passes = view.passes(run.look.verb);
        failed |= !passes;
        // What rests on an opinion is not passed over in silence.
        if !passes || view.rescued() > 0 {
            for line in &view.lines {
                line.print(&visit.shown, &mut text);
            }
        }
    }
    if run.look.verb == Verb::Lint && matches!(deck, Deck::All(_)) {
        let guides = seen.session.guides_of(true).diagnostics;
        for found in guides.into_iter().chain(seen.disagreements()) {
            let line = Line::of(&found);
            failed |= line.severity == Severity::Error;
            line.print(found.file.as_deref().unwrap_or("?"), &mut text);
        }
    }
    match inputs.format() {
        None => io::stderr().write_all(text.as_bytes())?,
        Some(format) => {
            let report = seen.session.report();
            failed |= report.fails(false);
            output::print(world, &seen.session, &report, format)?;
        }
    }
    let events: Vec<(&str, &CardView)> = looked
        .iter()
        .map(|(visit, view)| (&*visit.recorded, view))
        .collect();
    failed |= !seen.record(run.look.verb, &events)?;
    seen.session.leave();
    Ok(match failed {
        true => Outcome::Findings,
        false => Outcome::Fine,
    })
}

/// Whom to ask, if anybody; or what is wrong with the cache that was named.
pub fn opinions(
    world: &World,
    ground: &Ground,
    asked: Option<&SemanticArguments>,
) -> Result<Result<Opinions, Line>, Failure> {
    let Some(arguments) = asked else {
        return Ok(Ok(Opinions::Unasked));
    };
    Ok(match arguments.oracle(world, &ground.project)? {
        Asked::Nobody => Ok(Opinions::Unasked),
        Asked::Oracle(oracle, policy) => Ok(Opinions::Of(oracle, policy)),
        Asked::Invalid(diagnostic) => Err(Line::of(&diagnostic)),
    })
}

/// Says what is wrong before any card was looked at.
pub fn at_the_door(line: &Line) -> CommandResult {
    let text = format!(
        "{}: {}\n",
        line.code,
        crate::render::visible::line(&line.message)
    );
    io::stderr().write_all(text.as_bytes())?;
    Ok(Outcome::Findings)
}
