//! `kb.toml`: what a project says about its sources, cards and checks.
//!
//! [`parse`] never fails: what is wrong is reported with its place, and the key keeps its default.
//! An absent file is [`Settings::default`]. Nothing here looks for files: that a glob matches
//! something, or that two sources have one id, is for others to say.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Serialize, Serializer};

pub use self::entries::{Entry, Origin, Origins};
pub use self::read::{Parsed, parse, parse_sidecar};
pub use self::semantic::{JudgeKind, SemanticPolicy, SemanticSettings};
pub use self::table::json_schema;
use super::document::{Format, Limits};
use crate::diagnostic::Severity;

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $text:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$variant_doc])* $variant),* }

        impl $name {
            /// As it is written in `kb.toml`.
            pub fn as_str(self) -> &'static str {
                match self { $($name::$variant => $text),* }
            }

            pub(crate) fn parse(text: &str) -> Option<Self> {
                match text { $($text => Some($name::$variant),)* _ => None }
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }
    };
}

mod check;
mod entries;
mod read;
mod semantic;
mod table;

/// Everything a project may set, defaults filled in.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Settings {
    /// How strict checks are.
    pub profile: Profile,
    /// Path of the source matrix, relative to the project root.
    pub matrix: Box<str>,
    /// Folder of the published artifacts, relative to the project root.
    pub out: Box<str>,
    /// Collections of sources, in file order.
    pub collections: Vec<Collection>,
    /// What is known about single sources, by path.
    pub sources: BTreeMap<Box<str>, SourceSettings>,
    /// Which files are cards.
    pub cards: Cards,
    /// Glob of card paths and the reading they belong to, in file order. Empty: the card says it.
    pub readings: Vec<(Box<str>, Box<str>)>,
    /// Where vectors come from.
    pub embedder: Embedder,
    /// Who is asked about quotes that were not found.
    pub semantic: SemanticSettings,
    /// What reads a PDF that the built-in reader cannot.
    pub pdf_fallback: PdfFallback,
    /// Overridden severities, by full code.
    pub diagnostics: BTreeMap<Box<str>, Level>,
    /// Bounds on what is read.
    pub limits: LimitSettings,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            profile: Profile::Strict,
            matrix: "source_matrix.json".into(),
            out: "out".into(),
            collections: vec![Collection::named("sources", vec!["sources/**".into()])],
            sources: BTreeMap::new(),
            cards: Cards {
                include: vec!["cards/**/*.md".into()],
                exclude: Vec::new(),
            },
            readings: Vec::new(),
            embedder: Embedder::Builtin,
            semantic: SemanticSettings::default(),
            pdf_fallback: PdfFallback::None,
            diagnostics: BTreeMap::new(),
            limits: LimitSettings::default(),
        }
    }
}

words! {
    /// How strict checks are.
    Profile {
        /// Findings about the quality of a quote are errors.
        Strict = "strict",
        /// As the card-graph contract has it.
        Cacg = "cacg",
    }
}

words! {
    /// Which of the two kinds of result a collection yields.
    Scope {
        /// Settled text.
        Canon = "canon",
        /// Material.
        Substrate = "substrate",
    }
}

words! {
    /// How sources are cut into chunks.
    ChunkerKind {
        /// `unit` for CSV, `window` for all else.
        Auto = "auto",
        /// By sections, rows and patterns.
        Unit = "unit",
        /// By counted tokens.
        Window = "window",
        /// As the card-graph contract has it.
        Cacg = "cacg",
    }
}

words! {
    /// What reads a PDF that the built-in reader cannot.
    PdfFallback {
        /// Nothing.
        None = "none",
        /// The program `pdftotext`.
        Pdftotext = "pdftotext",
    }
}

words! {
    /// An overridden severity.
    Level {
        /// An error.
        Error = "error",
        /// A warning.
        Warning = "warning",
        /// An info.
        Info = "info",
        /// Not shown.
        Off = "off",
    }
}

impl Level {
    /// The severity, or `None` for `off`.
    pub fn severity(self) -> Option<Severity> {
        match self {
            Level::Error => Some(Severity::Error),
            Level::Warning => Some(Severity::Warning),
            Level::Info => Some(Severity::Info),
            Level::Off => None,
        }
    }
}

/// An authority, kept in thousandths so that it compares and hashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Tier(i32);

impl Tier {
    /// From thousandths.
    pub const fn from_thousandths(value: i32) -> Self {
        Tier(value)
    }

    /// In thousandths.
    pub const fn thousandths(self) -> i32 {
        self.0
    }

    /// As a number.
    pub fn value(self) -> f64 {
        f64::from(self.0) / 1000.0
    }

    /// From a number between -1000 and 1000 with at most three decimals.
    pub fn from_number(value: f64) -> Option<Self> {
        let scaled = value * 1000.0;
        let rounded = scaled.round();
        let fits = scaled.is_finite() && scaled.abs() <= 1e6 && (scaled - rounded).abs() < 1e-6;
        // Truncation cannot happen: the number is whole and at most a million.
        #[allow(clippy::cast_possible_truncation)]
        fits.then_some(Tier(rounded as i32))
    }
}

impl fmt::Display for Tier {
    /// As a TOML float: `2.0`, `-0.25`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.value())
    }
}

impl Serialize for Tier {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.value())
    }
}

/// A collection of sources.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Collection {
    /// Its name.
    pub name: Box<str>,
    /// Which kind of result its chunks are.
    pub scope: Scope,
    /// Globs of its sources.
    pub include: Vec<Box<str>>,
    /// Globs of files that are none.
    pub exclude: Vec<Box<str>>,
    /// How its sources are cut.
    pub chunker: ChunkerKind,
    /// Sizes as they were set; [`Collection::sizes`] fills the defaults in.
    pub chunk: ChunkSettings,
    /// Authority of its sources.
    pub authority: Tier,
    /// Whether a change in it never makes the index stale.
    pub advisory: bool,
    /// Authorities of some of its files; the last glob that matches wins.
    pub authority_for: Vec<AuthorityFor>,
    /// Finer units.
    pub units: Vec<UnitSettings>,
    /// CSV files that are registries.
    pub registries: Vec<RegistrySettings>,
}

impl Collection {
    /// A collection with nothing but a name and its globs.
    pub fn named(name: &str, include: Vec<Box<str>>) -> Self {
        Collection {
            name: name.into(),
            scope: Scope::Substrate,
            include,
            exclude: Vec::new(),
            chunker: ChunkerKind::Auto,
            chunk: ChunkSettings::default(),
            authority: Tier::default(),
            advisory: false,
            authority_for: Vec::new(),
            units: Vec::new(),
            registries: Vec::new(),
        }
    }

    /// The sizes in force for a chunker of this collection (not `Auto`, which is `Unit` or
    /// `Window`; it gets those of `Window`).
    pub fn sizes(&self, chunker: ChunkerKind) -> Sizes {
        let default = match chunker {
            ChunkerKind::Cacg => Sizes {
                tokens: 350,
                overlap: 50,
                max_pages: 2,
            },
            ChunkerKind::Unit => Sizes {
                tokens: 800,
                overlap: 0,
                max_pages: 1,
            },
            ChunkerKind::Auto | ChunkerKind::Window => Sizes {
                tokens: 512,
                overlap: 75,
                max_pages: 1,
            },
        };
        let tokens = self.chunk.tokens.unwrap_or(default.tokens);
        Sizes {
            tokens,
            // A small chunk with the default overlap must not become one that never advances.
            overlap: self
                .chunk
                .overlap
                .unwrap_or(default.overlap.min(tokens / 4)),
            max_pages: self.chunk.max_pages.unwrap_or(default.max_pages),
        }
    }
}

/// Sizes of chunks as they were set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize)]
pub struct ChunkSettings {
    /// Tokens aimed at.
    pub tokens: Option<u32>,
    /// Tokens shared by neighbours.
    pub overlap: Option<u32>,
    /// Most pages; only for `cacg`.
    pub max_pages: Option<u32>,
}

/// Sizes of chunks in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Sizes {
    /// Tokens aimed at (`cacg`, `window`) or allowed (`unit`).
    pub tokens: u32,
    /// Tokens shared by neighbours; means nothing to `unit`.
    pub overlap: u32,
    /// Most pages; means something to `cacg` only.
    pub max_pages: u32,
}

/// The authority of some files.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct AuthorityFor {
    /// Which files.
    pub glob: Box<str>,
    /// Their authority.
    pub tier: Tier,
}

/// A kind of unit inside a document.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct UnitSettings {
    /// The type its chunks get.
    pub kind: Box<str>,
    /// A line that matches starts a unit; group 1 is its id.
    pub pattern: Box<str>,
}

/// A CSV file that is a registry.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct RegistrySettings {
    /// Path relative to the project root.
    pub file: Box<str>,
    /// Name; default: the file's stem.
    pub name: Option<Box<str>>,
    /// Column of the key; default: the first.
    pub primary_key: Option<Box<str>>,
    /// Column to `registry.column`.
    pub foreign_keys: BTreeMap<Box<str>, Box<str>>,
    /// Query filter to column.
    pub fields: BTreeMap<Box<str>, Box<str>>,
}

/// What is known about one source.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default, Serialize)]
pub struct SourceSettings {
    /// Source id.
    pub id: Option<Box<str>>,
    /// Title.
    pub title: Option<Box<str>>,
    /// Encoding label.
    pub encoding: Option<Box<str>>,
    /// `markdown`, `text`, `html`, `csv` or `pdf`.
    pub format: Option<Box<str>>,
    /// Query filter to value.
    pub fields: BTreeMap<Box<str>, Box<str>>,
}

impl SourceSettings {
    /// The format, where it is given.
    pub fn format(&self) -> Option<Format> {
        match self.format.as_deref()? {
            "markdown" => Some(Format::Markdown),
            "text" => Some(Format::Text),
            "html" => Some(Format::Html),
            "csv" => Some(Format::Csv),
            "pdf" => Some(Format::Pdf),
            _ => None,
        }
    }
}

/// Which files are cards.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Cards {
    /// Globs of cards.
    pub include: Vec<Box<str>>,
    /// Globs of files that are none.
    pub exclude: Vec<Box<str>>,
}

/// Where vectors come from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Embedder {
    /// The table that comes with the program.
    Builtin,
    /// A model in a folder.
    Dir(Box<str>),
    /// A model that Ollama serves.
    Ollama(Box<str>),
    /// A model behind an HTTP interface like OpenAI's.
    OpenAi {
        /// Name of the model.
        model: Box<str>,
        /// Base address, `http://` or `https://`.
        url: Box<str>,
    },
}

impl Embedder {
    /// From what is written in `kb.toml`.
    pub fn parse(text: &str) -> Option<Self> {
        if text == "builtin" {
            return Some(Embedder::Builtin);
        }
        let (kind, rest) = text.split_once(':')?;
        if rest.is_empty() {
            return None;
        }
        match kind {
            "dir" => Some(Embedder::Dir(rest.into())),
            "ollama" => Some(Embedder::Ollama(rest.into())),
            "openai" => {
                let (model, url) = rest.split_once('@')?;
                let host = url
                    .strip_prefix("https://")
                    .or_else(|| url.strip_prefix("http://"))?;
                (!model.is_empty() && !host.is_empty()).then(|| Embedder::OpenAi {
                    model: model.into(),
                    url: url.into(),
                })
            }
            _ => None,
        }
    }
}

impl fmt::Display for Embedder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Embedder::Builtin => f.write_str("builtin"),
            Embedder::Dir(path) => write!(f, "dir:{path}"),
            Embedder::Ollama(model) => write!(f, "ollama:{model}"),
            Embedder::OpenAi { model, url } => write!(f, "openai:{model}@{url}"),
        }
    }
}

impl Serialize for Embedder {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Bounds on what is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct LimitSettings {
    /// Largest source file, in bytes.
    pub bytes: u64,
    /// Most pages of a PDF.
    pub pages: u32,
    /// Largest text of a source, in bytes.
    pub text_bytes: u64,
}

impl Default for LimitSettings {
    /// Far beyond any book, and within the memory of a small machine.
    fn default() -> Self {
        LimitSettings {
            bytes: 256 << 20,
            pages: 20_000,
            text_bytes: 64 << 20,
        }
    }
}

impl LimitSettings {
    /// As the extractors take them. The depth of HTML is no setting.
    pub fn document_limits(self) -> Limits {
        Limits {
            bytes: self.bytes,
            pages: self.pages,
            depth: 256,
            text_bytes: self.text_bytes,
        }
    }
}

#[cfg(test)]
mod tests;
