//! From text to [`Settings`]: the values of the keys that [`check`](super::check) found sound, and
//! what only several keys together can get wrong.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::check::{
    Checker, glob_problem, in_order, integer, override_problem, path_problem, pattern_problem,
    text_problem, tier,
};
use super::entries::Origins;
use super::table::{self, Kind};
use super::{
    AuthorityFor, ChunkSettings, ChunkerKind, Collection, Embedder, JudgeKind, Level, PdfFallback,
    Profile, RegistrySettings, Scope, SemanticPolicy, SemanticSettings, Settings, SourceSettings,
    UnitSettings,
};
use crate::diagnostic::registry::{CFG_002, CFG_004, CFG_005};
use crate::parse::problem::{Problem, shown};

/// What a `kb.toml` says.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Parsed {
    /// The settings in force; what was wrong keeps its default.
    pub settings: Settings,
    /// Everything that is wrong, in file order.
    pub problems: Vec<Problem>,
    /// Where each key stands.
    pub origins: Origins,
}

/// Reads a `kb.toml`. Never fails. After a syntax error the settings are the defaults.
pub fn parse(text: &str) -> Parsed {
    let Some((root, mut checker)) = checked(text, table::ROOT) else {
        return Parsed {
            problems: syntax_problems(text),
            ..Parsed::default()
        };
    };
    let mut settings = Settings::default();
    read_root(&root, &mut settings, &mut checker.problems);
    checker
        .problems
        .sort_by_key(|problem| (problem.span.start, problem.span.end, problem.code));
    Parsed {
        settings,
        problems: checker.problems,
        origins: Origins::new(text, checker.places),
    }
}

/// Reads a sidecar (`handbook.pdf.toml`): the keys of a `[source."…"]` table at the top.
pub fn parse_sidecar(text: &str) -> (SourceSettings, Vec<Problem>) {
    let Some((root, mut checker)) = checked(text, table::SOURCE) else {
        return (SourceSettings::default(), syntax_problems(text));
    };
    let source = read_source(&root, &mut checker.problems);
    checker
        .problems
        .sort_by_key(|problem| (problem.span.start, problem.span.end, problem.code));
    (source, checker.problems)
}

/// The table if the text is TOML, checked against its keys.
fn checked<'t>(text: &'t str, keys: &'static [table::Key]) -> Option<(DeTable<'t>, Checker)> {
    let root = DeTable::parse(text).ok()?.into_inner();
    let mut checker = Checker {
        problems: Vec::new(),
        places: Vec::new(),
    };
    checker.table(&root, keys, "", &(0..text.len().min(1)));
    Some((root, checker))
}

fn syntax_problems(text: &str) -> Vec<Problem> {
    let (_, errors) = DeTable::parse_recoverable(text);
    let mut problems: Vec<Problem> = errors
        .iter()
        .map(|error| {
            let mut span = error.span().unwrap_or(0..0);
            let under = text.get(span.clone()).unwrap_or_default();
            if under.trim().is_empty() {
                span = visible_near(text, span.start);
            }
            let message = error.message().trim().replace('\n', ", ");
            Problem::new(CFG_004, span, format!("this is not valid TOML: {message}")).label(message)
        })
        .collect();
    // The recovering parser goes on in places where it finds only consequences.
    problems.sort_by_key(|problem| problem.span.start);
    problems.dedup_by_key(|problem| problem.span.start);
    problems
}

/// The last character before an offset that can be seen, or the first one after it.
fn visible_near(text: &str, offset: usize) -> Range<usize> {
    let before = text.get(..offset).unwrap_or(text).trim_end();
    if let Some(last) = before.chars().next_back() {
        return before.len() - last.len_utf8()..before.len();
    }
    let after = text.trim_start();
    let start = text.len() - after.len();
    start..start + after.chars().next().map_or(0, char::len_utf8)
}

type Value<'a> = &'a Spanned<DeValue<'a>>;

fn find<'a, 'i>(table: &'a DeTable<'i>, key: &str) -> Option<&'a Spanned<DeValue<'i>>> {
    table.get(key)
}

/// A string that obeys its kind.
fn text<'a>(table: &'a DeTable<'_>, key: &str, kind: &Kind) -> Option<&'a str> {
    let text = find(table, key)?.get_ref().as_str()?;
    let sound = match kind {
        Kind::Glob => glob_problem(text).is_none(),
        Kind::Pattern => !text.is_empty() && pattern_problem(text).is_none(),
        kind => text_problem(text, kind).is_none(),
    };
    sound.then_some(text)
}

fn boxed(table: &DeTable<'_>, key: &str, kind: &Kind) -> Option<Box<str>> {
    text(table, key, kind).map(Into::into)
}

/// The sound ones of a list of globs.
fn globs(table: &DeTable<'_>, key: &str) -> Option<Vec<Box<str>>> {
    let items = find(table, key)?.get_ref().as_array()?;
    let globs = items.iter().filter_map(|item| item.get_ref().as_str());
    Some(
        globs
            .filter(|glob| glob_problem(glob).is_none())
            .map(Into::into)
            .collect(),
    )
}

fn count(table: &DeTable<'_>, key: &str, least: u32) -> Option<u32> {
    let value = u32::try_from(integer(find(table, key)?.get_ref())?).ok()?;
    (least..=1_000_000).contains(&value).then_some(value)
}

fn map(table: &DeTable<'_>, key: &str) -> BTreeMap<Box<str>, Box<str>> {
    let Some(map) = find(table, key).and_then(|value| value.get_ref().as_table()) else {
        return BTreeMap::new();
    };
    in_order(map)
        .into_iter()
        .filter_map(|(name, _, value)| {
            let value = value.get_ref().as_str().filter(|value| !value.is_empty())?;
            (!name.is_empty()).then(|| (name.into(), value.into()))
        })
        .collect()
}

/// The tables of a `[[list]]`, each with its place.
fn tables<'a, 'i>(
    table: &'a DeTable<'i>,
    key: &str,
) -> Option<Vec<(&'a DeTable<'i>, Range<usize>)>> {
    let items = find(table, key)?.get_ref().as_array()?;
    let tables = items.iter();
    Some(
        tables
            .filter_map(|item| Some((item.get_ref().as_table()?, item.span())))
            .collect(),
    )
}

fn table_of<'a, 'i>(table: &'a DeTable<'i>, key: &str) -> Option<&'a DeTable<'i>> {
    find(table, key)?.get_ref().as_table()
}

fn read_root(root: &DeTable<'_>, settings: &mut Settings, problems: &mut Vec<Problem>) {
    if let Some(profile) = text(root, "profile", &Kind::Text).and_then(Profile::parse) {
        settings.profile = profile;
    }
    if let Some(matrix) = boxed(root, "matrix", &Kind::Path) {
        settings.matrix = matrix;
    }
    if let Some(out) = boxed(root, "out", &Kind::Path) {
        settings.out = out;
    }
    if let Some(collections) = tables(root, "collection") {
        settings.collections = collections
            .iter()
            .filter_map(|(table, _)| read_collection(table, problems))
            .collect();
        duplicates(&collections, "name", "collection", problems);
    }
    if let Some(sources) = table_of(root, "source") {
        for (path, _, value) in in_order(sources) {
            if let Some(table) = value.get_ref().as_table()
                && path_problem(path).is_none()
            {
                settings
                    .sources
                    .insert(path.into(), read_source(table, problems));
            }
        }
    }
    if let Some(cards) = table_of(root, "cards") {
        if let Some(include) = globs(cards, "include") {
            settings.cards.include = include;
        }
        if let Some(exclude) = globs(cards, "exclude") {
            settings.cards.exclude = exclude;
        }
        both_ways(cards, problems);
    }
    if let Some(readings) = table_of(root, "readings") {
        for (glob, _, value) in in_order(readings) {
            if let Some(reading) = value.get_ref().as_str()
                && !reading.is_empty()
                && glob_problem(glob).is_none()
            {
                settings.readings.push((glob.into(), reading.into()));
            }
        }
    }
    if let Some(embedder) = table_of(root, "index")
        .and_then(|index| text(index, "embedder", &Kind::Embedder))
        .and_then(Embedder::parse)
    {
        settings.embedder = embedder;
    }
    if let Some(semantic) = table_of(root, "semantic") {
        settings.semantic = read_semantic(semantic, problems);
    }
    if let Some(fallback) = table_of(root, "pdf")
        .and_then(|pdf| text(pdf, "fallback", &Kind::Text))
        .and_then(PdfFallback::parse)
    {
        settings.pdf_fallback = fallback;
    }
    if let Some(codes) = table_of(root, "diagnostics") {
        for (code, _, value) in in_order(codes) {
            if let Some(level) = value.get_ref().as_str()
                && override_problem(code, level).is_none()
                && let Some(level) = Level::parse(level)
            {
                settings.diagnostics.insert(code.into(), level);
            }
        }
    }
    if let Some(limits) = table_of(root, "limits") {
        let limit = |key: &str, most: u64| {
            let value = u64::try_from(integer(find(limits, key)?.get_ref())?).ok()?;
            (1..=most).contains(&value).then_some(value)
        };
        let found = &mut settings.limits;
        found.bytes = limit("bytes", u64::MAX).unwrap_or(found.bytes);
        let pages = limit("pages", u64::from(u32::MAX)).and_then(|pages| u32::try_from(pages).ok());
        found.pages = pages.unwrap_or(found.pages);
        found.text_bytes = limit("text_bytes", u64::from(u32::MAX)).unwrap_or(found.text_bytes);
    }
}

fn read_semantic(table: &DeTable<'_>, problems: &mut Vec<Problem>) -> SemanticSettings {
    let default = SemanticSettings::default();
    let found = SemanticSettings {
        judge: text(table, "judge", &Kind::Text).and_then(JudgeKind::parse),
        endpoint: boxed(table, "endpoint", &Kind::Endpoint),
        model: boxed(table, "model", &Kind::Text),
        key_env: boxed(table, "key_env", &Kind::KeyEnv),
        timeout: count(table, "timeout", 1)
            .filter(|seconds| *seconds <= 600)
            .unwrap_or(default.timeout),
        policy: text(table, "policy", &Kind::Text)
            .and_then(SemanticPolicy::parse)
            .unwrap_or(default.policy),
    };
    if found.judge == Some(JudgeKind::OpenAi)
        && found.model.is_none()
        && let Some(judge) = find(table, "judge")
    {
        let message = "a judge of the kind \"openai\" needs a `model`".to_owned();
        contradiction(problems, judge.span(), message, "no model");
    }
    // A key of one service is not for another, whatever the settings of a foreign project say.
    if let (Some(endpoint), None) = (find(table, "endpoint"), &found.key_env)
        && found.endpoint.is_some()
    {
        let message = "another `endpoint` needs a `key_env` of its own".to_owned();
        contradiction(problems, endpoint.span(), message, "no key");
    }
    found
}

fn read_source(table: &DeTable<'_>, problems: &mut Vec<Problem>) -> SourceSettings {
    let mut id = boxed(table, "id", &Kind::Text);
    // Every chunk id begins with the source id, and its shape is fixed by the contract.
    let slug = |id: &str| {
        id.bytes()
            .all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'))
            && !id.starts_with('_')
    };
    if let Some(found) = &id
        && !slug(found)
        && let Some(value) = find(table, "id")
    {
        let message = format!(
            "the source id `{}` must be made of a-z, 0-9 and `_`",
            shown(found)
        );
        problems.push(Problem::new(CFG_002, value.span(), message).label("not a source id"));
        id = None;
    }
    SourceSettings {
        id,
        title: boxed(table, "title", &Kind::Text),
        encoding: boxed(table, "encoding", &Kind::Encoding),
        format: boxed(table, "format", &Kind::Choice(table::FORMATS)),
        fields: map(table, "fields"),
    }
}

fn read_collection(table: &DeTable<'_>, problems: &mut Vec<Problem>) -> Option<Collection> {
    both_ways(table, problems);
    let name = text(table, "name", &Kind::Text)?;
    let mut collection = Collection::named(name, globs(table, "include")?);
    collection.exclude = globs(table, "exclude").unwrap_or_default();
    if let Some(scope) = text(table, "scope", &Kind::Text).and_then(Scope::parse) {
        collection.scope = scope;
    }
    if let Some(chunker) = text(table, "chunker", &Kind::Text).and_then(ChunkerKind::parse) {
        collection.chunker = chunker;
    }
    if let Some(chunk) = table_of(table, "chunk") {
        collection.chunk = ChunkSettings {
            tokens: count(chunk, "tokens", 1),
            overlap: count(chunk, "overlap", 0),
            max_pages: count(chunk, "max_pages", 1),
        };
    }
    if let Some(authority) = find(table, "authority").and_then(|value| tier(value.get_ref())) {
        collection.authority = authority;
    }
    if let Some(advisory) = find(table, "advisory").and_then(|value| value.get_ref().as_bool()) {
        collection.advisory = advisory;
    }
    for (item, _) in tables(table, "authority_for").unwrap_or_default() {
        let tier = find(item, "tier").and_then(|value| tier(value.get_ref()));
        if let (Some(glob), Some(tier)) = (boxed(item, "glob", &Kind::Glob), tier) {
            collection.authority_for.push(AuthorityFor { glob, tier });
        }
    }
    for (item, _) in tables(table, "unit").unwrap_or_default() {
        let kind = boxed(item, "kind", &Kind::Text);
        if let (Some(kind), Some(pattern)) = (kind, boxed(item, "pattern", &Kind::Pattern)) {
            collection.units.push(UnitSettings { kind, pattern });
        }
    }
    let registries = tables(table, "registry").unwrap_or_default();
    for (item, _) in &registries {
        if let Some(file) = boxed(item, "file", &Kind::Path) {
            collection.registries.push(RegistrySettings {
                file,
                name: boxed(item, "name", &Kind::Text),
                primary_key: boxed(item, "primary_key", &Kind::Text),
                foreign_keys: map(item, "foreign_keys"),
                fields: map(item, "fields"),
            });
        }
    }
    duplicates(&registries, "file", "registry file", problems);
    duplicates(&registries, "name", "registry", problems);
    contradictions(table, &collection, problems);
    Some(collection)
}

/// Keys that mean nothing together.
fn contradictions(table: &DeTable<'_>, collection: &Collection, problems: &mut Vec<Problem>) {
    let chunker = collection.chunker;
    let name = chunker.as_str();
    if !collection.units.is_empty()
        && chunker != ChunkerKind::Unit
        && let Some(value) = find(table, "unit")
    {
        let message =
            format!("unit patterns need `chunker = \"unit\"`, and the chunker is \"{name}\"");
        contradiction(problems, first_item(value), message, "never used");
    }
    if !collection.registries.is_empty()
        && !matches!(chunker, ChunkerKind::Unit | ChunkerKind::Auto)
        && let Some(value) = find(table, "registry")
    {
        let message = format!(
            "a registry is cut into rows by the unit chunker, and the chunker is \"{name}\""
        );
        contradiction(problems, first_item(value), message, "never used");
    }
    let Some(chunk) = table_of(table, "chunk") else {
        return;
    };
    if let Some(value) = find(chunk, "max_pages")
        && chunker != ChunkerKind::Cacg
    {
        let message = format!(
            "`max_pages` means something to the cacg chunker only, and the chunker is \"{name}\""
        );
        contradiction(problems, value.span(), message, "never used");
    }
    if let Some(value) = find(chunk, "overlap") {
        let sizes = collection.sizes(chunker);
        if chunker == ChunkerKind::Unit {
            let message = "`overlap` means nothing to the unit chunker".to_owned();
            contradiction(problems, value.span(), message, "never used");
        } else if sizes.overlap >= sizes.tokens {
            let message = format!(
                "an overlap of {} tokens needs chunks of more, and they have {}",
                sizes.overlap, sizes.tokens
            );
            contradiction(problems, value.span(), message, "too large");
        }
    }
}

fn contradiction(problems: &mut Vec<Problem>, span: Range<usize>, message: String, label: &str) {
    problems.push(Problem::new(CFG_005, span, message).label(label));
}

/// Where to point for a list of tables: at its first one.
fn first_item(value: Value<'_>) -> Range<usize> {
    let items = value.get_ref().as_array();
    items
        .and_then(|items| items.first())
        .map_or_else(|| value.span(), Spanned::span)
}

/// A glob that is both included and excluded.
fn both_ways(table: &DeTable<'_>, problems: &mut Vec<Problem>) {
    let list = |key: &str| find(table, key).and_then(|value| value.get_ref().as_array());
    let (Some(include), Some(exclude)) = (list("include"), list("exclude")) else {
        return;
    };
    let included: std::collections::HashSet<&str> = include
        .iter()
        .filter_map(|item| item.get_ref().as_str())
        .collect();
    for item in exclude.iter() {
        if let Some(glob) = item.get_ref().as_str()
            && included.contains(glob)
        {
            let message = format!("`{}` is both included and excluded", shown(glob));
            contradiction(problems, item.span(), message, "included too");
        }
    }
}

/// A value that must differ from table to table.
fn duplicates(
    tables: &[(&DeTable<'_>, Range<usize>)],
    key: &str,
    what: &str,
    problems: &mut Vec<Problem>,
) {
    let mut seen: HashMap<&str, usize> = HashMap::new();
    for (index, (table, _)) in tables.iter().enumerate() {
        let Some(value) = find(table, key) else {
            continue;
        };
        let Some(text) = value.get_ref().as_str() else {
            continue;
        };
        if let Some(first) = seen.insert(text, index) {
            let message = format!(
                "there are two of the {what} `{}`: number {} and {}",
                shown(text),
                first + 1,
                index + 1
            );
            contradiction(problems, value.span(), message, "given before");
        }
    }
}
