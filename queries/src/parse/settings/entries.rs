//! Every effective setting with its value and where it comes from: what `kb config` prints.

use std::collections::BTreeMap;

use serde::Serialize;

use super::check::quoted_key;
use super::{ChunkerKind, Collection, RegistrySettings, Settings, SourceSettings};

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// Nobody set it.
    Default,
    /// A line of `kb.toml`, 1-based.
    Line(u32),
}

/// The line of every key that is set.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Origins(BTreeMap<String, u32>);

impl Origins {
    /// From keys and the offsets where they stand.
    pub(super) fn new(text: &str, mut places: Vec<(String, usize)>) -> Self {
        places.sort_by_key(|(_, offset)| *offset);
        let mut lines = BTreeMap::new();
        let (mut line, mut at) = (1, 0);
        for (key, offset) in places {
            let between = text.as_bytes().get(at..offset).unwrap_or_default();
            line += u32::try_from(memchr::memchr_iter(b'\n', between).count()).unwrap_or(u32::MAX);
            at = offset;
            lines.insert(key, line);
        }
        Origins(lines)
    }

    /// Where a key's value comes from.
    pub fn of(&self, key: &str) -> Origin {
        self.0
            .get(key)
            .map_or(Origin::Default, |line| Origin::Line(*line))
    }
}

/// One effective setting.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Entry {
    /// The key as a path: `collection[0].chunk.tokens`.
    pub key: String,
    /// The value as TOML.
    pub value: String,
    /// Where it comes from.
    pub origin: Origin,
}

impl Settings {
    /// All settings in force, in the order of the documentation. A key that is not set and has no
    /// default is left out.
    pub fn entries(&self, origins: &Origins) -> Vec<Entry> {
        let mut list = List {
            entries: Vec::new(),
            origins,
        };
        list.add("profile".to_owned(), quoted(self.profile.as_str()));
        list.add("matrix".to_owned(), quoted(&self.matrix));
        list.add("out".to_owned(), quoted(&self.out));
        for (index, collection) in self.collections.iter().enumerate() {
            list.collection(&format!("collection[{index}]"), collection);
        }
        for (path, source) in &self.sources {
            list.source(&format!("source.{}", quoted_key(path)), source);
        }
        list.add("cards.include".to_owned(), quoted_list(&self.cards.include));
        list.add("cards.exclude".to_owned(), quoted_list(&self.cards.exclude));
        for (glob, reading) in &self.readings {
            list.add(format!("readings.{}", quoted_key(glob)), quoted(reading));
        }
        list.add(
            "index.embedder".to_owned(),
            quoted(&self.embedder.to_string()),
        );
        self.semantic.list(&mut list);
        list.add(
            "pdf.fallback".to_owned(),
            quoted(self.pdf_fallback.as_str()),
        );
        for (code, level) in &self.diagnostics {
            list.add(
                format!("diagnostics.{}", quoted_key(code)),
                quoted(level.as_str()),
            );
        }
        list.add("limits.bytes".to_owned(), self.limits.bytes.to_string());
        list.add("limits.pages".to_owned(), self.limits.pages.to_string());
        list.add(
            "limits.text_bytes".to_owned(),
            self.limits.text_bytes.to_string(),
        );
        list.entries
    }
}

pub(super) struct List<'o> {
    entries: Vec<Entry>,
    origins: &'o Origins,
}

impl List<'_> {
    pub(super) fn add(&mut self, key: String, value: String) {
        let origin = self.origins.of(&key);
        self.entries.push(Entry { key, value, origin });
    }

    pub(super) fn optional(&mut self, key: String, value: Option<&str>) {
        if let Some(value) = value {
            self.add(key, quoted(value));
        }
    }

    fn map(&mut self, path: &str, map: &BTreeMap<Box<str>, Box<str>>) {
        for (name, value) in map {
            self.add(format!("{path}.{}", quoted_key(name)), quoted(value));
        }
    }

    fn collection(&mut self, path: &str, collection: &Collection) {
        self.add(format!("{path}.name"), quoted(&collection.name));
        self.add(format!("{path}.scope"), quoted(collection.scope.as_str()));
        self.add(format!("{path}.include"), quoted_list(&collection.include));
        self.add(format!("{path}.exclude"), quoted_list(&collection.exclude));
        self.add(
            format!("{path}.chunker"),
            quoted(collection.chunker.as_str()),
        );
        let sizes = collection.sizes(collection.chunker);
        self.add(format!("{path}.chunk.tokens"), sizes.tokens.to_string());
        if collection.chunker != ChunkerKind::Unit {
            self.add(format!("{path}.chunk.overlap"), sizes.overlap.to_string());
        }
        if collection.chunker == ChunkerKind::Cacg {
            self.add(
                format!("{path}.chunk.max_pages"),
                sizes.max_pages.to_string(),
            );
        }
        self.add(
            format!("{path}.authority"),
            collection.authority.to_string(),
        );
        self.add(format!("{path}.advisory"), collection.advisory.to_string());
        for (index, item) in collection.authority_for.iter().enumerate() {
            self.add(
                format!("{path}.authority_for[{index}].glob"),
                quoted(&item.glob),
            );
            self.add(
                format!("{path}.authority_for[{index}].tier"),
                item.tier.to_string(),
            );
        }
        for (index, unit) in collection.units.iter().enumerate() {
            self.add(format!("{path}.unit[{index}].kind"), quoted(&unit.kind));
            self.add(
                format!("{path}.unit[{index}].pattern"),
                quoted(&unit.pattern),
            );
        }
        for (index, registry) in collection.registries.iter().enumerate() {
            self.registry(&format!("{path}.registry[{index}]"), registry);
        }
    }

    fn registry(&mut self, path: &str, registry: &RegistrySettings) {
        self.add(format!("{path}.file"), quoted(&registry.file));
        self.optional(format!("{path}.name"), registry.name.as_deref());
        self.optional(
            format!("{path}.primary_key"),
            registry.primary_key.as_deref(),
        );
        self.map(&format!("{path}.foreign_keys"), &registry.foreign_keys);
        self.map(&format!("{path}.fields"), &registry.fields);
    }

    fn source(&mut self, path: &str, source: &SourceSettings) {
        self.optional(format!("{path}.id"), source.id.as_deref());
        self.optional(format!("{path}.title"), source.title.as_deref());
        self.optional(format!("{path}.encoding"), source.encoding.as_deref());
        self.optional(format!("{path}.format"), source.format.as_deref());
        self.map(&format!("{path}.fields"), &source.fields);
    }
}

/// A string as TOML writes it.
pub(super) fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

fn quoted_list(items: &[Box<str>]) -> String {
    let items: Vec<String> = items.iter().map(|item| quoted(item)).collect();
    format!("[{}]", items.join(", "))
}
