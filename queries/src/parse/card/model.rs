//! The card as a value without places: what is hashed, compared and written.

use std::fmt;

use serde_json::{Map, Value, json};

use super::SCHEMA_VERSION;

/// Which fields a card may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Schema {
    /// Those of the card-graph contract.
    #[default]
    Cacg,
    /// The same, and `prefix` and `suffix` in citations.
    Kb,
}

impl Schema {
    /// Every value as it is written, the contract's first.
    pub const NAMES: &'static [&'static str] = &[SCHEMA_VERSION, "kb.v1"];

    /// As it is written in a card.
    pub fn as_str(self) -> &'static str {
        match self {
            Schema::Cacg => SCHEMA_VERSION,
            Schema::Kb => "kb.v1",
        }
    }

    /// From what is written in a card.
    pub fn parse(text: &str) -> Option<Self> {
        [Schema::Cacg, Schema::Kb]
            .into_iter()
            .find(|schema| schema.as_str() == text)
    }
}

/// A card with its defaults filled in.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Card {
    /// Which fields it may have.
    pub schema: Schema,
    /// Identifier, unique among the cards.
    pub id: Box<str>,
    /// Title.
    pub title: Box<str>,
    /// The namespace that decides which sources may be cited.
    pub reading_id: Box<str>,
    /// Summary.
    pub summary: Box<str>,
    /// Tags, in file order.
    pub tags: Vec<Box<str>>,
    /// Edges to other cards, in file order.
    pub edges: Vec<CardEdge>,
    /// Citations, in file order.
    pub citations: Vec<CardCitation>,
    /// The recorded hash; not part of what is hashed.
    pub card_hash: Option<Box<str>>,
}

/// An edge to another card.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CardEdge {
    /// The other card's id.
    pub target: Box<str>,
    /// What it means.
    pub edge_type: EdgeType,
}

/// A citation of a chunk.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CardCitation {
    /// Cited source.
    pub source_id: Box<str>,
    /// Cited chunk.
    pub chunk_id: Box<str>,
    /// The chunk's hash when it was cited.
    pub chunk_hash: Box<str>,
    /// Cited pages.
    pub page_range: PageRange,
    /// The words that are claimed to stand there.
    pub quote: Box<str>,
    /// What stands directly before them. Only under [`Schema::Kb`].
    pub prefix: Option<Box<str>>,
    /// What stands directly after them. Only under [`Schema::Kb`].
    pub suffix: Option<Box<str>>,
    /// What the citation is for.
    pub edge_type: CitationEdge,
}

/// Pages from `start` to `end`, both included, both at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PageRange {
    /// First page.
    pub start: u64,
    /// Last page, not before the first.
    pub end: u64,
}

impl fmt::Display for PageRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}, {}]", self.start, self.end)
    }
}

macro_rules! edge_types {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $text:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub enum $name { $($(#[$variant_doc])* $variant),* }

        impl $name {
            /// Every value as it is written, the default first.
            pub const NAMES: &'static [&'static str] = &[$($text),*];

            /// As it is written in a card.
            pub fn as_str(self) -> &'static str {
                match self { $($name::$variant => $text),* }
            }

            /// From what is written in a card.
            pub fn parse(text: &str) -> Option<Self> {
                match text { $($text => Some($name::$variant),)* _ => None }
            }
        }
    };
}

edge_types! {
    /// What an edge to another card means.
    EdgeType {
        /// This card needs the other.
        #[default]
        DependsOn = "depends_on",
        /// This card continues the other.
        Extends = "extends",
    }
}

edge_types! {
    /// What a citation is for.
    CitationEdge {
        /// The passage supports what the card says.
        #[default]
        Supports = "supports",
        /// The passage defines a term.
        Defines = "defines",
        /// The card goes further than the passage.
        Extends = "extends",
        /// The card says something else than the passage.
        ContrastsWith = "contrasts_with",
        /// What the card says needs the passage.
        DependsOn = "depends_on",
        /// The card uses the passage elsewhere.
        AppliesTo = "applies_to",
    }
}

impl Card {
    /// The frontmatter as JSON, defaults filled in and without `card_hash`: what the card hash is
    /// taken over (contract §2.4) and what histories keep as snapshot.
    pub fn frontmatter_value(&self) -> Value {
        let citations: Vec<Value> = self.citations.iter().map(CardCitation::value).collect();
        let edges: Vec<Value> = self.edges.iter().map(CardEdge::value).collect();
        let tags: Vec<&str> = self.tags.iter().map(AsRef::as_ref).collect();
        json!({
            "schema_version": self.schema.as_str(),
            "id": &*self.id,
            "title": &*self.title,
            "reading_id": &*self.reading_id,
            "summary": &*self.summary,
            "tags": tags,
            "card_edges": edges,
            "citations": citations,
        })
    }
}

impl CardEdge {
    fn value(&self) -> Value {
        json!({ "target": &*self.target, "edge_type": self.edge_type.as_str() })
    }
}

impl CardCitation {
    fn value(&self) -> Value {
        let mut object = Map::new();
        object.insert("source_id".to_owned(), Value::from(&*self.source_id));
        object.insert("chunk_id".to_owned(), Value::from(&*self.chunk_id));
        object.insert("chunk_hash".to_owned(), Value::from(&*self.chunk_hash));
        object.insert(
            "page_range".to_owned(),
            json!([self.page_range.start, self.page_range.end]),
        );
        object.insert("quote".to_owned(), Value::from(&*self.quote));
        // Absent, not null: the hash of a card of the contract's schema is the contract's.
        for (name, text) in [("prefix", &self.prefix), ("suffix", &self.suffix)] {
            if let Some(text) = text {
                object.insert(name.to_owned(), Value::from(&**text));
            }
        }
        object.insert("edge_type".to_owned(), Value::from(self.edge_type.as_str()));
        Value::Object(object)
    }
}
