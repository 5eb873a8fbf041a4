//! A project: its root, its settings, its files. Everything that touches the tree is in this room
//! or in `publish/`.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use kbc_queries::chunk::{CacgParams, Chunker, UnitParams, UnitPattern, WindowParams};
use kbc_queries::diagnostic::{Diagnostic, Severity, registry};
use kbc_queries::input::{Profile, Recipe};
use kbc_queries::parse::document::{ExtractOptions, Format, RegistryOptions};
use kbc_queries::parse::problem::Problem;
use kbc_queries::parse::settings::{self, ChunkerKind, Collection, Origins, Settings};
use kbc_queries::system::{ReadFailure, System};
use kbc_queries::text::lines::LineIndex;

use self::disk::Disk;

pub mod apart;
pub mod context;
pub mod discover;
pub mod disk;
pub mod door;
pub mod ids;
pub mod stamp;

/// The name of the settings file.
pub const SETTINGS_FILE: &str = "kb.toml";

/// Largest settings file that is read, in bytes.
const SETTINGS_LIMIT: u64 = 4 << 20;

/// Largest source matrix that is read, in bytes: a million names.
pub const MATRIX_LIMIT: u64 = 64 << 20;

/// A project as its settings describe it.
pub struct Project {
    /// Its root, absolute.
    pub root: PathBuf,
    /// The settings in force.
    pub settings: Settings,
    /// What kb.toml says of single sources; `settings` also has what sidecars say.
    pub configured_sources: BTreeMap<Box<str>, settings::SourceSettings>,
    /// Where each comes from.
    pub origins: Origins,
    /// The text of kb.toml, if there is one.
    pub settings_text: Option<Arc<str>>,
    /// What is wrong with the settings.
    pub diagnostics: Vec<Diagnostic>,
    /// Whether the settings were given instead of read.
    given: bool,
}

/// Why there is no project.
#[derive(Debug)]
pub struct NoProject(pub String);

impl std::fmt::Display for NoProject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl Project {
    /// The project at `explicit`, or the one that `current` is in: the nearest folder upward with
    /// a kb.toml, else `current` itself.
    pub fn find(explicit: Option<&Path>, current: &Path) -> Result<Self, NoProject> {
        let start = match explicit {
            Some(path) if path.is_absolute() => path.to_path_buf(),
            Some(path) => current.join(path),
            None => current.to_path_buf(),
        };
        let start = plain(&start);
        if !start.is_dir() {
            return Err(NoProject(format!(
                "there is no folder {}; give the project's folder with --project",
                start.display()
            )));
        }
        if explicit.is_some() {
            return Self::open(start);
        }
        let root = start
            .ancestors()
            // Something else of that name is said when it is read, not passed over.
            .find(|folder| folder.join(SETTINGS_FILE).exists())
            .map_or(start.clone(), Path::to_path_buf);
        Self::open(root)
    }

    /// The project with this root.
    pub fn open(root: PathBuf) -> Result<Self, NoProject> {
        let read = Disk::new(&root, None).read(SETTINGS_FILE, SETTINGS_LIMIT);
        let text = match read.map(|bytes| String::from_utf8(bytes.to_vec())) {
            Ok(Ok(text)) => Some(text),
            Ok(Err(_)) => return Err(NoProject(format!("{SETTINGS_FILE} is not UTF-8 text"))),
            Err(ReadFailure::Absent) => None,
            Err(failure) => {
                return Err(NoProject(format!(
                    "{SETTINGS_FILE} cannot be read: {failure}"
                )));
            }
        };
        let mut project = Project {
            root,
            settings: Settings::default(),
            configured_sources: BTreeMap::new(),
            origins: Origins::default(),
            settings_text: None,
            diagnostics: Vec::new(),
            given: false,
        };
        if let Some(text) = text {
            let parsed = settings::parse(&text);
            project.diagnostics = place_problems(SETTINGS_FILE, &text, &parsed.problems);
            project.settings = parsed.settings;
            project.configured_sources = project.settings.sources.clone();
            project.origins = parsed.origins;
            project.settings_text = Some(text.into());
        }
        project.confine();
        project.keep_out_apart();
        project.unsupported();
        Ok(project)
    }

    /// The project with these settings instead of a file's.
    pub fn with_settings(root: PathBuf, settings: Settings) -> Self {
        Project {
            root,
            configured_sources: settings.sources.clone(),
            settings,
            origins: Origins::default(),
            settings_text: None,
            diagnostics: Vec::new(),
            given: true,
        }
    }

    /// Reads the settings again. Settings that cannot be read leave the project as it was until
    /// they can, and so do settings that were given.
    pub fn reread(&mut self) {
        if !self.given
            && let Ok(project) = Self::open(self.root.clone())
        {
            *self = project;
        }
    }

    /// Paths in settings stay below the root: a knowledge base is somebody else's input.
    fn confine(&mut self) {
        let defaults = Settings::default();
        for (key, value, default) in [
            ("out", &mut self.settings.out, defaults.out),
            ("matrix", &mut self.settings.matrix, defaults.matrix),
        ] {
            let inside = Path::new(&**value)
                .components()
                .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
            if !inside || value.is_empty() {
                self.diagnostics.push(
                    Diagnostic::new(
                        registry::CFG_002,
                        format!(
                            "`{key} = \"{value}\"` leads out of the project; `{default}` is used"
                        ),
                    )
                    .in_file(SETTINGS_FILE)
                    .help("give a path below the project's folder"),
                );
                *value = default;
            } else {
                let trimmed = value
                    .trim_start_matches("./")
                    .trim_end_matches('/')
                    .to_owned();
                if *trimmed != **value {
                    *value = trimmed.into();
                }
            }
        }
    }

    /// What is published must not lie where inputs or derived state are: the walk leaves `out`
    /// alone, and `kb clean` deletes `.kb/`.
    fn keep_out_apart(&mut self) {
        let out = self.settings.out.to_string();
        let first = out.split('/').next().unwrap_or_default();
        let inputs = self
            .settings
            .collections
            .iter()
            .flat_map(|collection| &collection.include)
            .chain(&self.settings.cards.include)
            .map(|glob| discover::literal_prefix(glob));
        let covers = |prefix: &str| {
            !prefix.is_empty() && (prefix == out || prefix.starts_with(&format!("{out}/")))
        };
        let taken = matches!(first, ".kb" | ".git" | SETTINGS_FILE)
            || *self.settings.matrix == *out
            || inputs.into_iter().any(|prefix| covers(&prefix));
        if taken {
            let default = Settings::default().out;
            self.diagnostics.push(
                Diagnostic::new(
                    registry::CFG_005,
                    format!(
                        "`out = \"{out}\"` is where sources, cards or derived state lie; `{default}` is used"
                    ),
                )
                .in_file(SETTINGS_FILE)
                .help("publish into a folder of its own"),
            );
            self.settings.out = default;
        }
    }

    /// What is understood, but not done by this version, is said instead of silently left out.
    fn unsupported(&mut self) {
        if self.settings.pdf_fallback == settings::PdfFallback::Pdftotext {
            let mut diagnostic = Diagnostic::new(
                registry::CFG_005,
                "`pdf.fallback = \"pdftotext\"` is not available in this version; PDFs are read by the built-in reader only",
            )
            .in_file(SETTINGS_FILE)
            .help("take the setting out, and use another copy of a PDF that the built-in reader cannot read");
            diagnostic.severity = Severity::Warning;
            self.diagnostics.push(diagnostic);
        }
    }

    /// Takes in what the sidecars of sources say; kb.toml has the last word, key by key.
    pub fn take_sidecars(&mut self, sidecars: Vec<(Box<str>, settings::SourceSettings)>) {
        self.settings.sources.clone_from(&self.configured_sources);
        for (path, sidecar) in sidecars {
            let own = self.settings.sources.entry(path).or_default();
            own.id = own.id.take().or(sidecar.id);
            own.title = own.title.take().or(sidecar.title);
            own.encoding = own.encoding.take().or(sidecar.encoding);
            own.format = own.format.take().or(sidecar.format);
            for (field, value) in sidecar.fields {
                own.fields.entry(field).or_insert(value);
            }
        }
    }

    /// Whether the settings have errors, so that what follows from them may not be what was meant.
    pub fn is_misconfigured(&self) -> bool {
        self.diagnostics.iter().any(|diagnostic| {
            let mut diagnostic = diagnostic.clone();
            apply_severity(&self.settings, &mut diagnostic)
                && diagnostic.severity == Severity::Error
        })
    }

    /// The folder of published files.
    pub fn out(&self) -> PathBuf {
        self.root.join(&*self.settings.out)
    }

    /// The profile as the rules know it.
    pub fn profile(&self) -> Profile {
        match self.settings.profile {
            settings::Profile::Strict => Profile::Strict,
            settings::Profile::Cacg => Profile::Cacg,
        }
    }

    /// How a source of a collection is read and cut. `None`: nobody knows what kind of file it is.
    pub fn recipe(&self, collection: &Collection, path: &str) -> Option<Recipe> {
        let own = self.settings.sources.get(path);
        let format = own
            .and_then(settings::SourceSettings::format)
            .or_else(|| Format::from_path(path, &[]))?;
        let mut extract = ExtractOptions::new(format);
        extract.limits = self.settings.limits.document_limits();
        extract.encoding = own
            .and_then(|own| own.encoding.as_deref())
            .map(str::to_owned);
        if format == Format::Csv {
            extract.registry = RegistryOptions::for_path(path);
            if let Some(registry) = collection.registries.iter().find(|r| &*r.file == path) {
                extract.registry.declared = true;
                if let Some(name) = &registry.name {
                    extract.registry.name = name.to_string();
                }
                extract.registry.primary_key = registry.primary_key.as_deref().map(str::to_owned);
            }
        }
        Some(Recipe {
            chunker: chunker(collection, format),
            extract,
            given: None,
        })
    }
}

fn chunker(collection: &Collection, format: Format) -> Chunker {
    let kind = match collection.chunker {
        ChunkerKind::Auto if format == Format::Csv => ChunkerKind::Unit,
        ChunkerKind::Auto => ChunkerKind::Window,
        kind => kind,
    };
    let sizes = collection.sizes(kind);
    match kind {
        ChunkerKind::Cacg => Chunker::Cacg(CacgParams {
            target_tokens: sizes.tokens,
            overlap_tokens: sizes.overlap,
            max_pages_per_chunk: sizes.max_pages,
        }),
        ChunkerKind::Unit => Chunker::Unit(UnitParams {
            max_tokens: sizes.tokens,
            patterns: collection
                .units
                .iter()
                .map(|unit| UnitPattern {
                    kind: unit.kind.to_string(),
                    pattern: unit.pattern.to_string(),
                })
                .collect(),
        }),
        ChunkerKind::Auto | ChunkerKind::Window => Chunker::Window(WindowParams {
            tokens: sizes.tokens,
            overlap: sizes.overlap,
        }),
    }
}

/// Removes `.` and resolves `..` by name, without asking the file system.
pub fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}

/// Problems of a file as diagnostics.
pub fn place_problems(file: &str, text: &str, problems: &[Problem]) -> Vec<Diagnostic> {
    let lines = LineIndex::new(text);
    let file: Arc<str> = file.into();
    problems
        .iter()
        .map(|problem| {
            let mut diagnostic =
                kbc_queries::check::card::from_problem(problem).place(&file, 0, &lines, text);
            // What is wrong with the file as a whole is not wrong at its first byte.
            diagnostic.span = diagnostic.span.filter(|_| problem.span != (0..0));
            diagnostic
        })
        .collect()
}

/// Applies the project's severity to a diagnostic. Returns whether it is still to be shown.
pub fn apply_severity(settings: &Settings, diagnostic: &mut Diagnostic) -> bool {
    let Some(level) = settings.diagnostics.get(diagnostic.code.as_str()) else {
        return true;
    };
    match level.severity() {
        Some(severity) if registry::entry(diagnostic.code).allows(severity) => {
            diagnostic.severity = severity;
            true
        }
        // A code that says "not verified" keeps its weight; the settings' parser has said so.
        Some(_) => true,
        None => registry::entry(diagnostic.code).verdict(),
    }
}
