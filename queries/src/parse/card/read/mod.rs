//! From text to [`ParsedCard`]: one walk over the YAML tree, problems ranked by where the contract
//! (§1.3) would have noticed them.
//!
//! The contract stops at its first problem after going through a card in phases: types, then the
//! typed load in file order, then the rules of each value. Here everything is looked at once, and
//! each problem carries the rank of the phase it belongs to; sorting by rank gives the contract's
//! order.

use std::ops::Range;

use crate::diagnostic::registry::{
    FM_001, FM_002, FM_003, FM_004, FM_007, FM_008, SUM_001, SUM_002,
};
use crate::diagnostic::{Applicability, Code};
use crate::parse::card::fence::{self, Missing, Parts};
use crate::parse::card::{
    ParsedCard, SCHEMA_VERSION, SUMMARY_MAX, SUMMARY_MIN, Schema, is_hex64, is_space,
};
use crate::parse::problem::{Problem, Replacement, Spanned, nearest, shown};
use crate::parse::yaml::{self, Entry, Node, Scalar, Value};

mod citations;
mod lists;

/// Fields of the frontmatter; those before `tags`, and `citations`, are required.
const FIELDS: [&str; 9] = [
    "schema_version",
    "id",
    "title",
    "reading_id",
    "summary",
    "tags",
    "card_edges",
    "citations",
    "card_hash",
];
const REQUIRED: [&str; 6] = [
    "schema_version",
    "id",
    "title",
    "reading_id",
    "summary",
    "citations",
];
const CITATION_FIELDS: [&str; 6] = [
    "source_id",
    "chunk_id",
    "chunk_hash",
    "page_range",
    "quote",
    "edge_type",
];
/// Those of a citation under [`Schema::Kb`].
const KB_CITATION_FIELDS: [&str; 8] = [
    "source_id",
    "chunk_id",
    "chunk_hash",
    "page_range",
    "quote",
    "edge_type",
    "prefix",
    "suffix",
];
const CITATION_REQUIRED: [&str; 5] = ["source_id", "chunk_id", "chunk_hash", "page_range", "quote"];
const EDGE_FIELDS: [&str; 2] = ["target", "edge_type"];
const EDGE_REQUIRED: [&str; 1] = ["target"];

/// When the contract would notice: phase, step, item, detail.
type Rank = (u8, usize, usize, usize);

/// Is there frontmatter?
const FENCES: u8 = 1;
/// Is it acceptable YAML?
const EVENTS: u8 = 2;
/// Has every value the right type?
const TYPES: u8 = 3;
/// Are the fields the known ones? In file order.
const LOAD: u8 = 4;
/// Does every value obey its rule?
const RULES: u8 = 5;

/// Steps within [`RULES`]. Types have the order of their fields in [`type_step`].
mod rule {
    pub(super) const SUMMARY: usize = 0;
    pub(super) const CARD_HASH: usize = 1;
    pub(super) const CITATIONS: usize = 2;
    pub(super) const EMPTY: usize = 3;
    pub(super) const TAGS_COUNT: usize = 4;
    pub(super) const TAGS: usize = 5;
    pub(super) const EDGES: usize = 6;
}

/// Place of a field in the type scan.
fn type_step(field: &str) -> usize {
    match field {
        "schema_version" => 0,
        "id" => 1,
        "title" => 2,
        "reading_id" => 3,
        "summary" => 4,
        "card_hash" => 5,
        "tags" => 6,
        "card_edges" => 7,
        _ => 8,
    }
}

/// Reads a card. Never fails: what is wrong is in [`ParsedCard::problems`].
pub fn parse(text: &str) -> ParsedCard {
    let mut reader = Reader {
        text,
        schema: Schema::default(),
        problems: Vec::new(),
        card: ParsedCard::default(),
    };
    reader.read();
    let Reader {
        mut problems,
        mut card,
        ..
    } = reader;
    problems.sort_by_key(|(rank, _)| *rank);
    card.problems = problems.into_iter().map(|(_, problem)| problem).collect();
    card
}

struct Reader<'t> {
    text: &'t str,
    /// Known before anything else is read: it decides which fields there are.
    schema: Schema,
    problems: Vec<(Rank, Problem)>,
    card: ParsedCard,
}

/// What a value is part of.
#[derive(Clone, Copy)]
enum Owner {
    Card,
    Citation(usize),
    Edge(usize),
}

impl Owner {
    /// The contract's location of one of its fields.
    fn path(self, field: &str) -> String {
        match self {
            Owner::Card => field.to_owned(),
            Owner::Citation(index) => format!("citations.{index}.{field}"),
            Owner::Edge(index) => format!("card_edges.{index}.{field}"),
        }
    }

    /// How a message calls it.
    fn name(self) -> String {
        match self {
            Owner::Card => "the card".to_owned(),
            Owner::Citation(index) => format!("citation {}", index + 1),
            Owner::Edge(index) => format!("card edge {}", index + 1),
        }
    }

    /// How a message calls one of its fields.
    fn field(self, field: &str) -> String {
        match self {
            Owner::Card => format!("`{field}`"),
            _ => format!("`{field}` of {}", self.name()),
        }
    }
}

impl<'t> Reader<'t> {
    fn read(&mut self) {
        let text = self.text;
        self.card.body = 0..text.len();
        let Some(parts) = self.split() else { return };
        self.card.fence = parts.fence;
        self.card.body = parts.body;
        self.card.frontmatter = Some(parts.frontmatter.clone());
        let tree = yaml::parse(text, parts.frontmatter);
        let broken = !tree.problems.is_empty();
        for problem in tree.problems {
            let start = problem.span.start;
            self.problems.push(((EVENTS, start, 0, 0), problem));
        }
        for problem in tree.duplicates {
            let start = problem.span.start;
            self.problems.push(((LOAD, start, 0, 0), problem));
        }
        match tree.root {
            Some(Node {
                value: Value::Mapping { entries, .. },
                ..
            }) => self.fields(&entries),
            Some(Node {
                value: Value::Opaque,
                ..
            }) => {}
            None if broken => {}
            root => {
                let (span, what) = match &root {
                    // A list's own span begins behind its first dash.
                    Some(node) if !node.span.is_empty() => {
                        let before = text.get(..node.span.start).unwrap_or_default();
                        let line = before.rfind('\n').map_or(0, |at| at + 1);
                        (line..node.span.end, node.kind_name())
                    }
                    _ => (self.card.fence.clone(), "empty"),
                };
                let message = format!("the frontmatter must be a mapping of fields, and is {what}");
                self.problem(
                    (LOAD, 0, 0, 0),
                    Problem::new(FM_007, span, message)
                        .contract("frontmatter root is not a mapping")
                        .label("not a mapping"),
                );
            }
        }
    }

    fn problem(&mut self, rank: Rank, problem: Problem) {
        self.problems.push((rank, problem));
    }

    /// Splits the text, forgiving what still leaves no doubt about where the frontmatter is.
    fn split(&mut self) -> Option<Parts> {
        const CONTRACT: &str = "card is missing YAML frontmatter delimited by '---'";
        let text = self.text;
        let lead = text.len()
            - text
                .trim_start_matches(|c| c == '\u{FEFF}' || is_space(c))
                .len();
        if lead > 0 {
            let (message, label, title) = if text.starts_with('\u{FEFF}') {
                (
                    "the file begins with a byte order mark, so its first line is not `---`",
                    "invisible U+FEFF",
                    "remove the byte order mark",
                )
            } else {
                (
                    "something stands before the `---` line that must come first",
                    "white space",
                    "remove the white space",
                )
            };
            let mut problem = Problem::new(FM_004, 0..lead, message)
                .contract(CONTRACT)
                .label(label);
            if text.get(lead..).is_some_and(|rest| rest.starts_with("---")) {
                problem = problem
                    .help("save the file as UTF-8 without a mark")
                    .fix(Replacement {
                        title: title.to_owned(),
                        applicability: Applicability::Safe,
                        range: 0..lead,
                        text: String::new(),
                    });
                if !text.starts_with('\u{FEFF}') {
                    problem.help = Some("begin the file with the line `---`".to_owned());
                }
                self.problem((FENCES, 0, 0, 0), problem);
            }
        }
        match fence::split(text, lead) {
            Ok(parts) => Some(parts),
            Err(Missing::LineBreak { parts, closing }) => {
                let end = text.len();
                self.problem(
                    (FENCES, 1, 0, 0),
                    Problem::new(
                        FM_004,
                        closing,
                        "the closing `---` must be followed by a line break",
                    )
                    .contract(CONTRACT)
                    .label("the file ends here")
                    .fix(Replacement {
                        title: "end the line".to_owned(),
                        applicability: Applicability::Safe,
                        range: end..end,
                        text: "\n".to_owned(),
                    }),
                );
                Some(parts)
            }
            Err(Missing::Closing { fence }) => {
                self.card.fence = fence.clone();
                let behind = text.get(fence.end..).unwrap_or_default();
                let next = behind.trim_start_matches(is_space).lines().next();
                // The contract's rule wants a line between the fences, if only an empty one.
                let empty = next.is_some_and(|line| line.trim_end() == "---");
                let problem = if empty {
                    Problem::new(FM_004, fence, "there are no fields between the `---` lines")
                        .label("nothing follows")
                        .help("`kb new` writes a card to start from")
                } else {
                    let message =
                        "the frontmatter that begins here is never closed by a `---` line";
                    Problem::new(FM_004, fence, message)
                        .label("opened here")
                        .help("put `---` on a line of its own behind the last field")
                };
                self.problem((FENCES, 1, 0, 0), problem.contract(CONTRACT));
                None
            }
            Err(Missing::Opening) => {
                let first = text.trim_start_matches(|c| c == '\u{FEFF}' || is_space(c));
                let line = first.lines().next().unwrap_or_default().trim_end();
                let start = text.len() - first.len();
                self.problem(
                    (FENCES, 1, 0, 0),
                    Problem::new(FM_004, start..start + line.len(), "a card begins with the line `---`, its frontmatter, and another line `---`")
                        .contract(CONTRACT)
                        .label("not `---`")
                        .help("`kb new` writes a card to start from"),
                );
                None
            }
        }
    }

    /// The fields of the frontmatter.
    fn fields(&mut self, entries: &[Entry<'t>]) {
        let mut seen = [false; FIELDS.len()];
        // Of a field given twice, the first counts.
        self.schema = entries
            .iter()
            .find(|entry| entry.key.as_str() == Some("schema_version"))
            .and_then(|entry| Schema::parse(entry.value.as_str()?))
            .unwrap_or_default();
        for entry in entries {
            let Some(field) = self.known(entry, &FIELDS, &mut seen, Owner::Card) else {
                continue;
            };
            match field {
                "schema_version" => self.schema_version(entry),
                "id" | "title" | "reading_id" => {
                    let value = self.plain_text(entry, field);
                    match field {
                        "id" => self.card.id = value,
                        "title" => self.card.title = value,
                        _ => self.card.reading_id = value,
                    }
                }
                "summary" => self.summary(entry),
                "tags" => self.tags(entry),
                "card_edges" => self.edges(entry),
                "citations" => self.citations(entry),
                _ => self.card_hash(entry),
            }
        }
        let fence = self.card.fence.clone();
        self.missing(&FIELDS, &REQUIRED, &seen, Owner::Card, fence, usize::MAX);
    }

    /// Which field an entry is; reports an unknown one. A field given twice counts once.
    fn known(
        &mut self,
        entry: &Entry<'_>,
        fields: &[&'static str],
        seen: &mut [bool],
        owner: Owner,
    ) -> Option<&'static str> {
        let key = match &entry.key.value {
            Value::Scalar(Scalar { text, .. }) => text.as_ref(),
            Value::Opaque => return None,
            _ => "",
        };
        let found = fields.iter().position(|field| *field == key);
        if let Some((field, seen)) =
            found.and_then(|index| Some((*fields.get(index)?, seen.get_mut(index)?)))
        {
            return if std::mem::replace(seen, true) {
                None
            } else {
                Some(field)
            };
        }
        let mut span = entry.key.span.clone();
        if span.is_empty() {
            // An explicit key (`? `) with nothing after it: the question mark is what can be seen.
            let before = self.text.get(..span.start).unwrap_or_default().trim_end();
            span =
                before.len() - before.chars().next_back().map_or(0, char::len_utf8)..before.len();
        }
        let name = shown(key);
        let near = nearest(key, fields.iter().copied());
        let kb_only = self.schema == Schema::Cacg
            && matches!(owner, Owner::Citation(_))
            && KB_CITATION_FIELDS.contains(&key);
        let help = match near {
            _ if kb_only => format!(
                "`{name}` is a field of schema_version \"{}\"",
                Schema::Kb.as_str()
            ),
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("{} can have: {}", owner.name(), fields.join(", ")),
        };
        self.problem(
            (LOAD, entry.key.span.start, 1, 0),
            Problem::new(
                FM_003,
                span,
                format!("{} has no field `{name}`", owner.name()),
            )
            .contract(format!("unknown field: {}", owner.path(&name)))
            .label("unknown field")
            .help(help),
        );
        None
    }

    /// Reports the required fields that were not seen.
    fn missing(
        &mut self,
        fields: &[&str],
        required: &[&str],
        seen: &[bool],
        owner: Owner,
        span: Range<usize>,
        position: usize,
    ) {
        for (index, (field, seen)) in fields.iter().zip(seen).enumerate() {
            if !*seen && required.contains(field) {
                self.problem(
                    (LOAD, position, 2, index),
                    Problem::new(
                        FM_001,
                        span.clone(),
                        format!("{} has no `{field}`", owner.name()),
                    )
                    .contract(format!("missing required field: {}", owner.path(field)))
                    .label(format!("no `{field}`"))
                    .help(match owner {
                        Owner::Citation(_) => {
                            format!("add `{field}: …`; `kb cite` writes whole citations")
                        }
                        _ => format!("add a line `{field}: …`"),
                    }),
                );
            }
        }
    }

    /// The string in an entry, or a problem of `code` at the rank of the type scan.
    fn string<'n>(
        &mut self,
        entry: &'n Entry<'t>,
        field: &str,
        owner: Owner,
        rank: Rank,
    ) -> Option<(&'n str, Range<usize>)> {
        if let Some(text) = entry.value.as_str() {
            return Some((text, entry.value_span()));
        }
        if entry.value.value != Value::Opaque {
            let problem = self.not_a_string(
                FM_008,
                &entry.value,
                entry.value_span(),
                &owner.field(field),
                &owner.path(field),
            );
            self.problem(rank, problem);
        }
        None
    }

    fn not_a_string(
        &self,
        code: Code,
        node: &Node<'t>,
        span: Range<usize>,
        name: &str,
        path: &str,
    ) -> Problem {
        let what = if node.span.is_empty() {
            "empty"
        } else {
            node.kind_name()
        };
        let mut problem = Problem::new(
            code,
            span,
            format!("{name} must be a string, and is {what}"),
        )
        .contract(format!("{path}: must be a string"))
        .label(what);
        if let Value::Scalar(scalar) = &node.value
            && !node.span.is_empty()
        {
            problem = problem.help("put it into double quotes").fix(Replacement {
                title: "quote the value".to_owned(),
                applicability: Applicability::Review,
                range: node.span.clone(),
                text: format!(
                    "\"{}\"",
                    scalar.text.replace('\\', "\\\\").replace('"', "\\\"")
                ),
            });
        }
        problem
    }

    fn schema_version(&mut self, entry: &Entry<'t>) {
        let rank = (TYPES, type_step("schema_version"), 0, 0);
        let Some((text, span)) = self.string(entry, "schema_version", Owner::Card, rank) else {
            return;
        };
        if Schema::parse(text).is_some() {
            self.card.schema_version = Some(Spanned::new(text.into(), span));
            return;
        }
        self.problem(
            (LOAD, entry.value.span.start, 1, 0),
            Problem::new(
                FM_002,
                span,
                format!("the schema version `{}` is unknown", shown(text)),
            )
            .contract(format!("schema_version: must be '{SCHEMA_VERSION}'"))
            .label("unknown version")
            .help(format!(
                "the versions are: {}",
                Schema::NAMES
                    .iter()
                    .map(|name| format!("\"{name}\""))
                    .collect::<Vec<_>>()
                    .join(", ")
            )),
        );
    }

    /// `id`, `title`, `reading_id`: any text that is not empty.
    fn plain_text(&mut self, entry: &Entry<'t>, field: &'static str) -> Option<Spanned<Box<str>>> {
        let step = type_step(field);
        let (text, span) = self.string(entry, field, Owner::Card, (TYPES, step, 0, 0))?;
        if text.is_empty() {
            self.empty((RULES, rule::EMPTY, step, 0), span, Owner::Card, field);
            return None;
        }
        Some(Spanned::new(text.into(), span))
    }

    fn empty(&mut self, rank: Rank, span: Range<usize>, owner: Owner, field: &str) {
        self.problem(
            rank,
            Problem::new(
                FM_008,
                span,
                format!("{} must not be empty", owner.field(field)),
            )
            .contract(format!("{}: must not be empty", owner.path(field)))
            .label("empty"),
        );
    }

    fn summary(&mut self, entry: &Entry<'t>) {
        let rank = (TYPES, type_step("summary"), 0, 0);
        let Some((text, span)) = self.string(entry, "summary", Owner::Card, rank) else {
            return;
        };
        let length = text.chars().count();
        let (code, bound) = if length < SUMMARY_MIN {
            (SUM_001, format!("at least {SUMMARY_MIN}"))
        } else if length > SUMMARY_MAX {
            (SUM_002, format!("at most {SUMMARY_MAX}"))
        } else {
            self.card.summary = Some(Spanned::new(text.into(), span));
            return;
        };
        self.problem(
            (RULES, rule::SUMMARY, 0, 0),
            Problem::new(
                code,
                span,
                format!("the summary has {length} characters and must have {bound}"),
            )
            .contract(format!("summary: must have {bound} characters"))
            .label(format!("{length} characters")),
        );
    }

    fn card_hash(&mut self, entry: &Entry<'t>) {
        if entry.value.is_null() {
            return;
        }
        let rank = (TYPES, type_step("card_hash"), 0, 0);
        let Some((text, span)) = self.string(entry, "card_hash", Owner::Card, rank) else {
            return;
        };
        if is_hex64(text) {
            self.card.card_hash = Some(Spanned::new(text.into(), span));
            return;
        }
        self.problem(
            (RULES, rule::CARD_HASH, 0, 0),
            Problem::new(
                FM_008,
                span,
                "`card_hash` must be 64 lower-case hexadecimal digits, or absent",
            )
            .contract("card_hash: must be 64-hex SHA256 or absent")
            .label(hash_label(text))
            .help("`kb index` writes it; delete the line to start over"),
        );
    }
}

/// Why a text is no hash.
fn hash_label(text: &str) -> String {
    let length = text.chars().count();
    if length != 64 {
        format!("{length} characters, not 64")
    } else if text.bytes().any(|byte| byte.is_ascii_uppercase()) {
        "upper-case letters".to_owned()
    } else {
        "not hexadecimal".to_owned()
    }
}
