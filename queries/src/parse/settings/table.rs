//! The one table of every key of `kb.toml`. It drives the check for unknown keys and wrong types,
//! the JSON Schema, and the list that `kb config` prints.

use serde_json::{Map, Value, json};

/// One key.
#[derive(Debug)]
pub(super) struct Key {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) required: bool,
    /// One sentence for the schema.
    pub(super) doc: &'static str,
}

/// What a key holds.
#[derive(Debug)]
pub(super) enum Kind {
    /// A string that is not empty.
    Text,
    /// A path inside the project, with `/`.
    Path,
    /// A glob; `*` does not cross `/`.
    Glob,
    /// A list of globs.
    Globs,
    /// A regular expression that does not match nothing.
    Pattern,
    /// An encoding label of the WHATWG.
    Encoding,
    /// Where vectors come from.
    Embedder,
    /// An address that a key may be sent to.
    Endpoint,
    /// An environment variable that holds a key.
    KeyEnv,
    Bool,
    Integer {
        least: i64,
        most: i64,
    },
    /// An authority: a number with at most three decimals.
    Tier,
    Choice(&'static [&'static str]),
    /// A table with these keys.
    Table(&'static [Key]),
    /// A list of such tables.
    Tables(&'static [Key]),
    /// A table whose keys are the user's.
    Map {
        keys: MapKeys,
        values: &'static Kind,
    },
}

/// What the keys of a map are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MapKeys {
    Names,
    Paths,
    Globs,
    Codes,
}

const fn key(name: &'static str, kind: Kind, doc: &'static str) -> Key {
    Key {
        name,
        kind,
        required: false,
        doc,
    }
}

const fn required(name: &'static str, kind: Kind, doc: &'static str) -> Key {
    Key {
        name,
        kind,
        required: true,
        doc,
    }
}

pub(super) const PROFILES: &[&str] = &["strict", "cacg"];
pub(super) const SCOPES: &[&str] = &["canon", "substrate"];
pub(super) const CHUNKERS: &[&str] = &["auto", "unit", "window", "cacg"];
pub(super) const FORMATS: &[&str] = &["markdown", "text", "html", "csv", "pdf"];
pub(super) const FALLBACKS: &[&str] = &["none", "pdftotext"];
pub(super) const JUDGES: &[&str] = &["anthropic", "openai"];
pub(super) const POLICIES: &[&str] = &["advisory", "rescue"];
pub(super) const LEVELS: &[&str] = &["error", "warning", "info", "off"];

const COUNT: Kind = Kind::Integer {
    least: 1,
    most: 1_000_000,
};

/// The keys of `kb.toml`.
pub(super) static ROOT: &[Key] = &[
    key(
        "profile",
        Kind::Choice(PROFILES),
        "How strict checks are: `strict`, or as the card-graph contract has it.",
    ),
    key(
        "matrix",
        Kind::Path,
        "The source matrix: which reading may cite which source.",
    ),
    key("out", Kind::Path, "The folder of the published artifacts."),
    key(
        "collection",
        Kind::Tables(COLLECTION),
        "Collections of sources. One replaces the default one.",
    ),
    key(
        "source",
        Kind::Map {
            keys: MapKeys::Paths,
            values: &Kind::Table(SOURCE),
        },
        "What is to be known about single sources, by path.",
    ),
    key("cards", Kind::Table(CARDS), "Which files are cards."),
    key(
        "readings",
        Kind::Map {
            keys: MapKeys::Globs,
            values: &Kind::Text,
        },
        "Glob of cards to reading: when given, the folder decides the reading, not the card.",
    ),
    key("index", Kind::Table(INDEX), "The retrieval index."),
    key(
        "semantic",
        Kind::Table(SEMANTIC),
        "Who is asked about quotes that were not found. Nobody is without `--semantic` or `--semantic-judge`.",
    ),
    key("pdf", Kind::Table(PDF), "How PDF files are read."),
    key(
        "diagnostics",
        Kind::Map {
            keys: MapKeys::Codes,
            values: &Kind::Choice(LEVELS),
        },
        "Severity of single codes.",
    ),
    key("limits", Kind::Table(LIMITS), "Bounds on what is read."),
];

static COLLECTION: &[Key] = &[
    required("name", Kind::Text, "Its name, unique."),
    key(
        "scope",
        Kind::Choice(SCOPES),
        "Which of the two kinds of result its chunks are.",
    ),
    required("include", Kind::Globs, "Which files are its sources."),
    key("exclude", Kind::Globs, "Which of those are not."),
    key(
        "chunker",
        Kind::Choice(CHUNKERS),
        "How sources are cut into chunks; `auto` is `unit` for CSV and `window` for all else.",
    ),
    key("chunk", Kind::Table(CHUNK), "Sizes of chunks."),
    key(
        "authority",
        Kind::Tier,
        "How much its sources weigh against others.",
    ),
    key(
        "advisory",
        Kind::Bool,
        "Indexed, but never a reason for the index to be stale.",
    ),
    key(
        "authority_for",
        Kind::Tables(AUTHORITY_FOR),
        "Authorities of some of its files; later entries win.",
    ),
    key("unit", Kind::Tables(UNIT), "Finer units inside a document."),
    key(
        "registry",
        Kind::Tables(REGISTRY),
        "CSV files that are registries.",
    ),
];

static CHUNK: &[Key] = &[
    key("tokens", COUNT, "Tokens a chunk aims at."),
    key(
        "overlap",
        Kind::Integer {
            least: 0,
            most: 1_000_000,
        },
        "Tokens that two neighbours share.",
    ),
    key(
        "max_pages",
        COUNT,
        "Most pages of a chunk; only for `cacg`.",
    ),
];

static AUTHORITY_FOR: &[Key] = &[
    required("glob", Kind::Glob, "Which files."),
    required("tier", Kind::Tier, "Their authority."),
];

static UNIT: &[Key] = &[
    required("kind", Kind::Text, "The type its chunks get."),
    required(
        "pattern",
        Kind::Pattern,
        "A line that matches starts a unit; group 1 is its id.",
    ),
];

static REGISTRY: &[Key] = &[
    required("file", Kind::Path, "The CSV file."),
    key(
        "name",
        Kind::Text,
        "Name of the registry; default: the file's stem.",
    ),
    key(
        "primary_key",
        Kind::Text,
        "Column of the key; default: the first.",
    ),
    key(
        "foreign_keys",
        Kind::Map {
            keys: MapKeys::Names,
            values: &Kind::Text,
        },
        "Column to `registry.column` it refers to.",
    ),
    key(
        "fields",
        Kind::Map {
            keys: MapKeys::Names,
            values: &Kind::Text,
        },
        "Query filter to the column behind it.",
    ),
];

/// The keys of a source, in `kb.toml` and in a sidecar file.
pub(super) static SOURCE: &[Key] = &[
    key("id", Kind::Text, "The source id: a-z, 0-9 and `_`."),
    key("title", Kind::Text, "Title."),
    key(
        "encoding",
        Kind::Encoding,
        "Encoding of the file, as the WHATWG names it; default: detected.",
    ),
    key(
        "format",
        Kind::Choice(FORMATS),
        "What the file is; default: told from its name and first bytes.",
    ),
    key(
        "fields",
        Kind::Map {
            keys: MapKeys::Names,
            values: &Kind::Text,
        },
        "Query filter to this source's value.",
    ),
];

static CARDS: &[Key] = &[
    key("include", Kind::Globs, "Which files are cards."),
    key("exclude", Kind::Globs, "Which of those are not."),
];

static INDEX: &[Key] = &[key(
    "embedder",
    Kind::Embedder,
    "Where vectors come from: `builtin`, `dir:PATH`, `ollama:MODEL` or `openai:MODEL@URL`.",
)];

static SEMANTIC: &[Key] = &[
    key(
        "judge",
        Kind::Choice(JUDGES),
        "The interface of the judge: Anthropic's Messages, or chat completions as OpenAI has them.",
    ),
    key(
        "endpoint",
        Kind::Endpoint,
        "The judge's full address, https unless on this machine; default: that of the service.",
    ),
    key("model", Kind::Text, "The judge's model."),
    key(
        "key_env",
        Kind::KeyEnv,
        "The environment variable with the judge's key; its name ends with `_API_KEY`.",
    ),
    key(
        "timeout",
        Kind::Integer {
            least: 1,
            most: 600,
        },
        "Seconds after which a request to the judge has failed.",
    ),
    key(
        "policy",
        Kind::Choice(POLICIES),
        "What an opinion may do: stand beside the failure, or with `pass` make it a warning.",
    ),
];

static PDF: &[Key] = &[key(
    "fallback",
    Kind::Choice(FALLBACKS),
    "What reads a PDF that the built-in reader cannot. `pdftotext` runs a program and changes text.",
)];

static LIMITS: &[Key] = &[
    key(
        "bytes",
        Kind::Integer {
            least: 1,
            most: i64::MAX,
        },
        "Largest source file, in bytes.",
    ),
    key(
        "pages",
        Kind::Integer {
            least: 1,
            most: u32::MAX as i64,
        },
        "Most pages of a PDF.",
    ),
    key(
        "text_bytes",
        Kind::Integer {
            least: 1,
            most: u32::MAX as i64,
        },
        "Largest text of a source, in bytes.",
    ),
];

/// The JSON Schema (2020-12) of `kb.toml`.
pub fn json_schema() -> Value {
    let mut schema = table_schema(ROOT);
    if let Value::Object(object) = &mut schema {
        object.insert(
            "$schema".to_owned(),
            json!("https://json-schema.org/draft/2020-12/schema"),
        );
        object.insert("title".to_owned(), json!("kb.toml"));
    }
    schema
}

fn table_schema(keys: &[Key]) -> Value {
    let mut properties = Map::new();
    for key in keys {
        let mut schema = kind_schema(&key.kind);
        if let Value::Object(object) = &mut schema {
            object.insert("description".to_owned(), json!(key.doc));
        }
        properties.insert(key.name.to_owned(), schema);
    }
    let required: Vec<&str> = keys
        .iter()
        .filter(|key| key.required)
        .map(|key| key.name)
        .collect();
    let mut schema = json!({
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    });
    if let Value::Object(object) = &mut schema
        && !required.is_empty()
    {
        object.insert("required".to_owned(), json!(required));
    }
    schema
}

fn kind_schema(kind: &Kind) -> Value {
    match kind {
        Kind::Text | Kind::Path | Kind::Glob | Kind::Encoding => {
            json!({ "type": "string", "minLength": 1 })
        }
        Kind::Pattern => json!({ "type": "string", "minLength": 1, "format": "regex" }),
        Kind::Embedder => json!({
            "type": "string",
            "pattern": "^(builtin|dir:.+|ollama:.+|openai:[^@]+@https?://.+)$",
        }),
        Kind::Endpoint => json!({ "type": "string", "pattern": "^https?://.+" }),
        Kind::KeyEnv => json!({ "type": "string", "pattern": "^[A-Z0-9_]*_API_KEY$" }),
        Kind::Globs => json!({ "type": "array", "items": { "type": "string", "minLength": 1 } }),
        Kind::Bool => json!({ "type": "boolean" }),
        Kind::Integer { least, most } => {
            json!({ "type": "integer", "minimum": least, "maximum": most })
        }
        Kind::Tier => json!({ "type": "number", "minimum": -1000, "maximum": 1000 }),
        Kind::Choice(values) => json!({ "enum": values }),
        Kind::Table(keys) => table_schema(keys),
        Kind::Tables(keys) => json!({ "type": "array", "items": table_schema(keys) }),
        Kind::Map { keys, values } => {
            let mut schema =
                json!({ "type": "object", "additionalProperties": kind_schema(values) });
            if *keys == MapKeys::Codes
                && let Value::Object(object) = &mut schema
            {
                let names = json!({ "pattern": r"^CACG-[A-Z]+(-[A-Z]+)*-[0-9]{3}$" });
                object.insert("propertyNames".to_owned(), names);
            }
            schema
        }
    }
}
