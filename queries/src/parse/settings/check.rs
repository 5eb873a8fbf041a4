//! Is a table what the key table says? Unknown keys, wrong types, bad globs and patterns.
//!
//! Nothing is converted here; [`read`](super::read) takes the values afterwards and leaves out what
//! was reported.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::table::{Key, Kind, MapKeys};
use super::{Embedder, Level, Tier, semantic};
use crate::diagnostic::registry::{self, CFG_001, CFG_002, CFG_003, CFG_006};
use crate::parse::problem::{Problem, nearest, shown};

/// A table's entries in file order.
pub(super) fn in_order<'a, 'i>(
    table: &'a DeTable<'i>,
) -> Vec<(&'a str, Range<usize>, &'a Spanned<DeValue<'i>>)> {
    let mut entries: Vec<_> = table
        .iter()
        .map(|(key, value)| (key.get_ref().as_ref(), key.span(), value))
        .collect();
    entries.sort_by_key(|(_, span, _)| span.start);
    entries
}

/// Collects what is wrong, and where each key that has a value stands.
pub(super) struct Checker {
    pub(super) problems: Vec<Problem>,
    /// Key as `kb config` prints it, and the offset of its line.
    pub(super) places: Vec<(String, usize)>,
}

impl Checker {
    fn problem(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    /// Checks a table against its keys. `path` is empty or ends with a dot; `span` is where to say
    /// that a key is missing.
    pub(super) fn table(
        &mut self,
        table: &DeTable<'_>,
        keys: &'static [Key],
        path: &str,
        span: &Range<usize>,
    ) {
        for (name, key_span, value) in in_order(table) {
            let Some(key) = keys.iter().find(|key| key.name == name) else {
                self.unknown(name, key_span, keys, path);
                continue;
            };
            self.value(value, &key.kind, &format!("{path}{name}"), &key_span);
        }
        for key in keys.iter().filter(|key| key.required) {
            if !table.contains_key(key.name) {
                let what = if path.is_empty() {
                    "the file"
                } else {
                    path.trim_end_matches('.')
                };
                self.problem(
                    Problem::new(
                        CFG_002,
                        span.clone(),
                        format!("{what} needs `{}`", key.name),
                    )
                    .label(format!("no `{}`", key.name))
                    .help(key.doc),
                );
            }
        }
    }

    fn unknown(&mut self, name: &str, span: Range<usize>, keys: &'static [Key], path: &str) {
        let names = || keys.iter().map(|key| key.name);
        let help = match nearest(name, names()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("known here: {}", names().collect::<Vec<_>>().join(", ")),
        };
        let message = if path.is_empty() {
            format!("there is no setting `{}`", shown(name))
        } else {
            format!(
                "`{}` has no setting `{}`",
                path.trim_end_matches('.'),
                shown(name)
            )
        };
        self.problem(
            Problem::new(CFG_001, span, message)
                .label("unknown key")
                .help(help),
        );
    }

    fn value(
        &mut self,
        value: &Spanned<DeValue<'_>>,
        kind: &'static Kind,
        path: &str,
        key_span: &Range<usize>,
    ) {
        let span = value.span();
        match (kind, value.get_ref()) {
            (Kind::Table(keys), DeValue::Table(table)) => {
                return self.table(table, keys, &format!("{path}."), &span);
            }
            (Kind::Tables(keys), DeValue::Array(items)) => {
                for (index, item) in items.iter().enumerate() {
                    let path = format!("{path}[{index}]");
                    match item.get_ref() {
                        DeValue::Table(table) => {
                            self.table(table, keys, &format!("{path}."), &item.span());
                        }
                        other => self.wrong_type(&path, kind, other, item.span()),
                    }
                }
                return;
            }
            (Kind::Map { keys, values }, DeValue::Table(table)) => {
                for (name, span, value) in in_order(table) {
                    self.map_key(*keys, name, &span, value);
                    self.value(
                        value,
                        values,
                        &format!("{path}.{}", quoted_key(name)),
                        &span,
                    );
                }
                return;
            }
            _ => {}
        }
        self.places.push((path.to_owned(), key_span.start));
        match (kind, value.get_ref()) {
            (Kind::Globs, DeValue::Array(items)) => {
                for item in items.iter() {
                    match item.get_ref() {
                        DeValue::String(glob) => self.glob(glob, item.span()),
                        other => self.wrong_type(path, &Kind::Glob, other, item.span()),
                    }
                }
            }
            (Kind::Glob, DeValue::String(glob)) => self.glob(glob, span),
            (Kind::Pattern, DeValue::String(pattern)) => self.pattern(pattern, span),
            (Kind::Bool, DeValue::Boolean(_)) => {}
            (Kind::Integer { least, most }, DeValue::Integer(_)) => {
                if integer(value.get_ref()).is_none_or(|found| !(*least..=*most).contains(&found)) {
                    let bounds = if *most == i64::MAX {
                        format!("at least {least}")
                    } else {
                        format!("between {least} and {most}")
                    };
                    self.bad(path, &format!("must be {bounds}"), span);
                }
            }
            (Kind::Tier, DeValue::Integer(_) | DeValue::Float(_)) => {
                if tier(value.get_ref()).is_none() {
                    let what = "must be between -1000 and 1000, with at most three decimals";
                    self.bad(path, what, span);
                }
            }
            (
                Kind::Text
                | Kind::Path
                | Kind::Encoding
                | Kind::Embedder
                | Kind::Endpoint
                | Kind::KeyEnv
                | Kind::Choice(_),
                DeValue::String(text),
            ) => {
                if let Some((what, help)) = text_problem(text, kind) {
                    self.bad(path, &what, span);
                    if let (Some(help), Some(last)) = (help, self.problems.last_mut()) {
                        last.help = Some(help);
                    }
                }
            }
            (_, other) => self.wrong_type(path, kind, other, span),
        }
    }

    fn bad(&mut self, path: &str, what: &str, span: Range<usize>) {
        self.problem(Problem::new(CFG_002, span, format!("`{path}` {what}")).label(what));
    }

    fn wrong_type(&mut self, path: &str, kind: &Kind, found: &DeValue<'_>, span: Range<usize>) {
        let (expected, found) = (expected(kind), type_name(found));
        self.problem(
            Problem::new(
                CFG_002,
                span,
                format!("`{path}` must be {expected}, and is {found}"),
            )
            .label(format!("expected {expected}")),
        );
    }

    fn glob(&mut self, glob: &str, span: Range<usize>) {
        if let Some(reason) = glob_problem(glob) {
            self.problem(
                Problem::new(CFG_003, span, format!("`{}` is not a usable glob: {reason}", shown(glob)))
                    .label("bad glob")
                    .help("relative to the project root, with `/`; `*` stays within a folder, `**` does not"),
            );
        }
    }

    fn pattern(&mut self, pattern: &str, span: Range<usize>) {
        if let Some(reason) = pattern_problem(pattern) {
            self.problem(
                Problem::new(CFG_003, span, format!("the pattern is not usable: {reason}"))
                    .label("bad pattern")
                    .help("regular expressions as in Rust's `regex` crate; single quotes save doubling `\\`"),
            );
        }
    }

    fn map_key(
        &mut self,
        keys: MapKeys,
        name: &str,
        span: &Range<usize>,
        value: &Spanned<DeValue<'_>>,
    ) {
        match keys {
            MapKeys::Globs => self.glob(name, span.clone()),
            MapKeys::Paths => {
                if let Some(what) = path_problem(name) {
                    self.bad(&shown(name), &what, span.clone());
                }
            }
            MapKeys::Names if name.is_empty() => self.bad("", "must not be empty", span.clone()),
            MapKeys::Names => {}
            MapKeys::Codes => {
                let level = value.get_ref().as_str().unwrap_or_default();
                if let Some((message, help)) = override_problem(name, level) {
                    self.problem(
                        Problem::new(CFG_006, span.clone(), message)
                            .label("cannot be set")
                            .help(help),
                    );
                }
            }
        }
    }
}

/// A key as TOML wants it: bare where that is possible.
pub(super) fn quoted_key(name: &str) -> String {
    let bare = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if !name.is_empty() && name.bytes().all(bare) {
        name.to_owned()
    } else {
        super::entries::quoted(name)
    }
}

/// What is wrong with a string that must mean something, and what would help.
pub(super) fn text_problem(text: &str, kind: &Kind) -> Option<(String, Option<String>)> {
    if text.is_empty() {
        return Some(("must not be empty".to_owned(), None));
    }
    match kind {
        Kind::Path => path_problem(text).map(|what| (what, None)),
        Kind::Encoding if encoding_rs::Encoding::for_label(text.as_bytes()).is_none() => {
            let help = "for instance `utf-8`, `windows-1252`, `iso-8859-15`, `shift_jis`";
            Some((
                format!("is no known encoding: `{}`", shown(text)),
                Some(help.to_owned()),
            ))
        }
        Kind::Embedder if Embedder::parse(text).is_none() => Some((
            "must be `builtin`, `dir:PATH`, `ollama:MODEL` or `openai:MODEL@URL`".to_owned(),
            None,
        )),
        Kind::Endpoint => semantic::endpoint_problem(text).map(|what| (what.to_owned(), None)),
        Kind::KeyEnv => semantic::key_env_problem(text).map(|what| (what.to_owned(), None)),
        Kind::Choice(values) if !values.contains(&text) => {
            let list: Vec<String> = values.iter().map(|value| format!("\"{value}\"")).collect();
            let help = nearest(text, values.iter().copied())
                .map(|near| format!("did you mean \"{near}\"?"));
            Some((format!("must be one of {}", list.join(", ")), help))
        }
        _ => None,
    }
}

/// Why a path does not name something inside the project.
pub(super) fn path_problem(path: &str) -> Option<String> {
    let absolute = path.starts_with('/')
        || path.as_bytes().get(1) == Some(&b':')
            && path.starts_with(|c: char| c.is_ascii_alphabetic());
    let what = if path.is_empty() {
        "must not be empty"
    } else if path.contains('\\') {
        "must be written with `/`"
    } else if absolute || path.split('/').any(|part| part == "..") {
        "must stay inside the project"
    } else if path.split('/').any(|part| part == "." || part.is_empty()) {
        "must be written without `.` and empty parts"
    } else if path.contains('\0') {
        "must not hold a null character"
    } else {
        return None;
    };
    Some(what.to_owned())
}

/// Why a glob cannot be used. The same options as where it is compiled: `*` does not cross `/`.
pub(super) fn glob_problem(glob: &str) -> Option<String> {
    if glob.is_empty() {
        return Some("it is empty".to_owned());
    }
    if glob.starts_with('/') || glob.split('/').any(|part| part == "..") {
        return Some("it leaves the project".to_owned());
    }
    match globset::GlobBuilder::new(glob)
        .literal_separator(true)
        .build()
    {
        Ok(_) => None,
        Err(error) => Some(error.kind().to_string()),
    }
}

/// Why a regular expression cannot start units.
pub(super) fn pattern_problem(pattern: &str) -> Option<String> {
    // Somebody else's file: a pattern must not compile to more than this many bytes.
    match regex::RegexBuilder::new(pattern)
        .size_limit(1 << 20)
        .build()
    {
        Ok(regex) if regex.is_match("") => Some("it matches nothing at all".to_owned()),
        Ok(_) => None,
        Err(regex::Error::CompiledTooBig(_)) => Some("it is too large".to_owned()),
        Err(error) => {
            // The last line of a syntax error says what it is; those before draw it.
            let text = error.to_string();
            let last = text.lines().last().unwrap_or_default();
            Some(last.strip_prefix("error: ").unwrap_or(last).to_owned())
        }
    }
}

/// Why the severity of a code cannot be set to a level: message and help.
///
/// A code that says "not verified" may be raised, never lowered.
pub(super) fn override_problem(code: &str, level: &str) -> Option<(String, String)> {
    // Only the full name is a key: the registry itself also finds short ones in any case.
    let Some(entry) = registry::find(code).filter(|entry| entry.code.as_str() == code) else {
        let help = match registry::nearest(code, 1).first() {
            Some(near) => format!("did you mean \"{}\"?", near.code),
            None => "`kb explain` lists the codes".to_owned(),
        };
        return Some((format!("`{}` is not a diagnostic code", shown(code)), help));
    };
    let level = Level::parse(level)?;
    let allowed = level
        .severity()
        .map_or(!entry.verdict(), |severity| entry.allows(severity));
    (!allowed).then(|| {
        (
            format!("{code} says that something is not verified, so it cannot be lowered"),
            "delete the line; existing findings can be recorded in a baseline".to_owned(),
        )
    })
}

/// An integer of any radix.
pub(super) fn integer(value: &DeValue<'_>) -> Option<i64> {
    let integer = value.as_integer()?;
    i64::from_str_radix(integer.as_str(), integer.radix()).ok()
}

/// A number that is a tier.
pub(super) fn tier(value: &DeValue<'_>) -> Option<Tier> {
    match value {
        DeValue::Integer(_) => Tier::from_number(f64::from(i32::try_from(integer(value)?).ok()?)),
        DeValue::Float(float) => Tier::from_number(float.as_str().parse().ok()?),
        _ => None,
    }
}

fn expected(kind: &Kind) -> String {
    match kind {
        Kind::Text | Kind::Encoding | Kind::Embedder | Kind::Endpoint | Kind::KeyEnv => {
            "a string".to_owned()
        }
        Kind::Path => "a path in quotes".to_owned(),
        Kind::Glob => "a glob in quotes".to_owned(),
        Kind::Pattern => "a regular expression in quotes".to_owned(),
        Kind::Globs => "a list of globs, [\"…\"]".to_owned(),
        Kind::Bool => "true or false".to_owned(),
        Kind::Integer { .. } => "a whole number".to_owned(),
        Kind::Tier => "a number".to_owned(),
        Kind::Choice(values) => {
            let list: Vec<String> = values.iter().map(|value| format!("\"{value}\"")).collect();
            format!("one of {}", list.join(", "))
        }
        Kind::Table(_) | Kind::Map { .. } => "a table".to_owned(),
        Kind::Tables(_) => "a list of tables, [[…]]".to_owned(),
    }
}

fn type_name(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a fraction",
        DeValue::Boolean(_) => "a boolean",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
