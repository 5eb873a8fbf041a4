//! Role maps: per reading, which source each of its cards mainly rests on, and what the card is to
//! the reading (contract §1.7).
//!
//! [`parse`] collects every problem of one map, each with the bytes it is about. Whether the cards
//! exist is a question about the deck: [`crate::check::role`].

use std::collections::HashSet;
use std::ops::Range;

use serde::Serialize;

use super::card::SCHEMA_VERSION;
use super::json::{self, Member, Node, Value};
use super::manifest::Version;
use super::problem::{Problem, Spanned, nearest, shown};
use crate::diagnostic::registry::ROLE_003;

macro_rules! vocabulary {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $text:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$variant_doc])* $variant),* }

        impl $name {
            /// Every value as it is written.
            pub const NAMES: &'static [&'static str] = &[$($text),*];

            /// As it is written.
            pub fn as_str(self) -> &'static str {
                match self { $($name::$variant => $text),* }
            }

            /// From what is written.
            pub fn parse(text: &str) -> Option<Self> {
                match text { $($text => Some($name::$variant),)* _ => None }
            }
        }

        impl Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }
    };
}

vocabulary! {
    /// What a card's claim is to its reading.
    Stance {
        /// The reading rests on it.
        Primary = "primary",
        /// It backs up another card.
        Supporting = "supporting",
        /// It is put off.
        Deferred = "deferred",
    }
}

vocabulary! {
    /// How near a card is to what the reading is about.
    Relevance {
        /// It is what the reading is about.
        Core = "core",
        /// It lies beside it.
        Adjacent = "adjacent",
        /// It goes beyond it.
        Extension = "extension",
    }
}

/// A source and the pages of it that matter to a card.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Anchor {
    /// First and last page.
    pub page_span: (u64, u64),
    /// The source.
    pub source_id: Box<str>,
}

/// A card in a role map.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Role {
    /// The card's id.
    pub card_id: Box<str>,
    /// The source that it mainly rests on.
    pub primary: Anchor,
    /// See [`Relevance`].
    pub relevance: Relevance,
    /// See [`Stance`].
    pub stance: Stance,
    /// Other sources.
    pub supporting: Vec<Anchor>,
}

/// A whole role map as a value, for writing one.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct RoleMap {
    /// The cards.
    pub entries: Vec<Role>,
    /// The reading.
    pub reading_id: Box<str>,
    /// Schema version.
    pub schema_version: Version,
}

/// What could be read of a role map. A field is `Some` only if its value obeys its rules.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct ParsedRoleMap {
    /// `reading_id`.
    pub reading_id: Option<Spanned<Box<str>>>,
    /// The key `entries`: where to say that one is missing. `None`: there is no list of entries.
    pub entries_key: Option<Range<usize>>,
    /// The card ids of the entries, in file order, also of entries with other faults.
    pub card_ids: Vec<Spanned<Box<str>>>,
    /// Everything that is wrong with its form, in file order.
    pub problems: Vec<Problem>,
}

/// Reads a role map. Never fails: what is wrong is in [`ParsedRoleMap::problems`].
pub fn parse(text: &str) -> ParsedRoleMap {
    let mut map = ParsedRoleMap::default();
    match json::parse(text) {
        Err(error) => map.problems.push(
            Problem::new(
                ROLE_003,
                error.span,
                format!("the role map is not valid JSON: {}", error.message),
            )
            .label("not valid JSON")
            .help("mend it, or write a new one with `kb scaffold-role-map`"),
        ),
        Ok(root) => Reader {
            text,
            map: &mut map,
        }
        .root(&root),
    }
    map.problems
        .sort_by_key(|problem| (problem.span.start, problem.span.end));
    map
}

struct Reader<'t, 'm> {
    text: &'t str,
    map: &'m mut ParsedRoleMap,
}

impl Reader<'_, '_> {
    fn problem(&mut self, span: Range<usize>, message: String, help: String) {
        self.map
            .problems
            .push(Problem::new(ROLE_003, span, message).help(help));
    }

    /// The members of an object with exactly these keys; `optional` ones may be missing.
    fn members<'n>(
        &mut self,
        node: &'n Node,
        what: &str,
        keys: &[&str],
        optional: &[&str],
    ) -> Option<Vec<&'n Member>> {
        let list = || format!("it has `{}`", keys.join("`, `"));
        let Value::Object(members) = &node.value else {
            self.problem(node.span.clone(), format!("{what} is an object"), list());
            return None;
        };
        let mut seen: HashSet<&str> = HashSet::new();
        let mut known = Vec::new();
        for member in members {
            let name = shown(&member.key);
            if !seen.insert(&member.key) {
                self.problem(
                    member.key_span.clone(),
                    format!("`{name}` is given twice"),
                    "keep one of the two".to_owned(),
                );
            } else if keys.contains(&&*member.key) {
                known.push(member);
            } else {
                let help = match nearest(&member.key, keys.iter().copied()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => list(),
                };
                self.problem(
                    member.key_span.clone(),
                    format!("{what} has no key `{name}`"),
                    help,
                );
            }
        }
        for key in keys.iter().filter(|key| !optional.contains(key)) {
            if !seen.contains(key) {
                self.problem(opening(node), format!("{what} has no `{key}`"), list());
            }
        }
        Some(known)
    }

    fn id(&mut self, node: &Node, what: &str) -> Option<Spanned<Box<str>>> {
        match &node.value {
            Value::String(text) if !text.trim().is_empty() => {
                Some(Spanned::new(text.as_str().into(), node.span.clone()))
            }
            _ => {
                self.problem(
                    node.span.clone(),
                    format!("`{what}` is an id, a string that is not empty"),
                    "write the id in quotes".to_owned(),
                );
                None
            }
        }
    }

    fn root(&mut self, root: &Node) {
        let keys = ["schema_version", "reading_id", "entries"];
        for member in self
            .members(root, "a role map", &keys, &[])
            .unwrap_or_default()
        {
            let value = &member.value;
            match member.key.as_str() {
                "schema_version" => {
                    if !matches!(&value.value, Value::String(text) if text == SCHEMA_VERSION) {
                        self.problem(
                            value.span.clone(),
                            format!("`schema_version` is not \"{SCHEMA_VERSION}\""),
                            format!("write \"{SCHEMA_VERSION}\""),
                        );
                    }
                }
                "reading_id" => self.map.reading_id = self.id(value, "reading_id"),
                _ => self.entries(member),
            }
        }
    }

    fn entries(&mut self, member: &Member) {
        let Value::Array(items) = &member.value.value else {
            return self.problem(
                member.value.span.clone(),
                "`entries` is a list".to_owned(),
                "give one entry per card".to_owned(),
            );
        };
        self.map.entries_key = Some(member.key_span.clone());
        let mut seen: HashSet<Box<str>> = HashSet::new();
        for item in items {
            let keys = ["card_id", "primary", "supporting", "stance", "relevance"];
            let members = self.members(item, "an entry", &keys, &["supporting"]);
            for member in members.unwrap_or_default() {
                self.field(member, &mut seen);
            }
        }
    }

    fn field(&mut self, member: &Member, seen: &mut HashSet<Box<str>>) {
        let value = &member.value;
        match member.key.as_str() {
            "card_id" => {
                let Some(id) = self.id(value, "card_id") else {
                    return;
                };
                if seen.insert(id.value.clone()) {
                    self.map.card_ids.push(id);
                } else {
                    self.problem(
                        id.span,
                        format!("the card `{}` has two entries", shown(&id.value)),
                        "keep one of the two".to_owned(),
                    );
                }
            }
            "primary" => self.anchor(value),
            "supporting" => match &value.value {
                Value::Array(items) => {
                    for item in items {
                        self.anchor(item);
                    }
                }
                _ => self.problem(
                    value.span.clone(),
                    "`supporting` is a list".to_owned(),
                    "write `[]` where there is no other source".to_owned(),
                ),
            },
            "stance" => self.word(value, "stance", Stance::NAMES),
            _ => self.word(value, "relevance", Relevance::NAMES),
        }
    }

    fn word(&mut self, node: &Node, what: &str, names: &[&str]) {
        let all = || format!("`{what}` is one of {}", names.join(", "));
        match &node.value {
            Value::String(text) if names.contains(&text.as_str()) => {}
            Value::String(text) => {
                let help = match nearest(text, names.iter().copied()) {
                    Some(near) => format!("did you mean `{near}`? {}", all()),
                    None => all(),
                };
                self.map.problems.push(
                    Problem::new(
                        ROLE_003,
                        node.span.clone(),
                        format!("`{}` is no {what} of a role map", shown(text)),
                    )
                    .label("not in the vocabulary")
                    .help(help),
                );
            }
            _ => self.problem(node.span.clone(), format!("`{what}` is a word"), all()),
        }
    }

    fn anchor(&mut self, node: &Node) {
        let members = self.members(
            node,
            "a source of an entry",
            &["source_id", "page_span"],
            &[],
        );
        for member in members.unwrap_or_default() {
            if member.key == "source_id" {
                let _ = self.id(&member.value, "source_id");
            } else if !self.is_page_span(&member.value) {
                self.problem(
                    member.value.span.clone(),
                    "`page_span` is no pair of pages, the first one not after the last".to_owned(),
                    "write for instance [3, 5]".to_owned(),
                );
            }
        }
    }

    fn is_page_span(&self, node: &Node) -> bool {
        let Value::Array(items) = &node.value else {
            return false;
        };
        let page = |node: &Node| -> Option<u64> {
            let text = match node.value {
                Value::Other => self.text.get(node.span.clone())?,
                _ => return None,
            };
            text.parse().ok().filter(|page| *page >= 1)
        };
        match items.as_slice() {
            [first, last] => matches!((page(first), page(last)), (Some(a), Some(b)) if a <= b),
            _ => false,
        }
    }
}

/// The opening bracket of a node, where a missing member is reported.
fn opening(node: &Node) -> Range<usize> {
    node.span.start..(node.span.start + 1).min(node.span.end)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;
    use crate::commit::canonical;
    use proptest::prelude::*;

    const GOOD: &str = r#"{"schema_version":"cacg.v0","reading_id":"r","entries":[{"card_id":"a","primary":{"source_id":"s","page_span":[1,2]},"supporting":[{"source_id":"t","page_span":[3,3]}],"stance":"supporting","relevance":"core"}]}"#;

    fn faults(text: &str) -> Vec<String> {
        parse(text)
            .problems
            .iter()
            .map(|problem| {
                assert_eq!(problem.code, ROLE_003);
                text[problem.span.clone()].to_owned()
            })
            .collect()
    }

    #[test]
    fn what_is_written_is_read_again() {
        let anchor = |id: &str, pages| Anchor {
            page_span: pages,
            source_id: id.into(),
        };
        let map = RoleMap {
            entries: vec![Role {
                card_id: "a".into(),
                primary: anchor("s", (1, 2)),
                relevance: Relevance::Core,
                stance: Stance::Supporting,
                supporting: vec![anchor("t", (3, 3))],
            }],
            reading_id: "r".into(),
            schema_version: Version,
        };
        let text = String::from_utf8(canonical::to_vec(&map).unwrap()).unwrap();
        let parsed = parse(&text);
        assert_eq!(parsed.problems, []);
        assert_eq!(&*parsed.reading_id.unwrap().value, "r");
        assert_eq!(&text[parsed.entries_key.unwrap()], "\"entries\"");
        assert_eq!(&text[parsed.card_ids[0].span.clone()], "\"a\"");
        assert_eq!(parse(GOOD).problems, []);
    }

    #[test]
    fn each_fault_is_marked_where_it_stands() {
        let cases: &[(&str, &str, &[&str])] = &[
            ("cacg.v0", "cacg.v1", &["\"cacg.v1\""]),
            ("\"core\"", "\"cor\"", &["\"cor\""]),
            ("\"core\"", "null", &["null"]),
            ("\"supporting\",\"rel", "\"main\",\"rel", &["\"main\""]),
            ("[1,2]", "[2,1]", &["[2,1]"]),
            ("[1,2]", "[0,1]", &["[0,1]"]),
            ("[1,2]", "[1.0,2]", &["[1.0,2]"]),
            ("[1,2]", "[1]", &["[1]"]),
            ("[1,2]", "[true,2]", &["[true,2]"]),
            ("\"r\"", "\"\"", &["\"\""]),
            ("\"card_id\":\"a\",", "", &["{"]),
            (",\"relevance\":\"core\"", "", &["{"]),
            ("\"stance\"", "\"stence\"", &["{", "\"stence\""]),
            ("\"s\",", "\"s\",\"source_id\":\"x\",", &["\"source_id\""]),
            ("[{\"card_id\"", "[3,{\"card_id\"", &["3"]),
            ("{\"schema_version\"", "[{\"schema_version\"", &["}"]),
        ];
        for (from, to, expected) in cases {
            assert!(GOOD.contains(from), "{from}");
            let text = GOOD.replacen(from, to, 1);
            if from.starts_with("{\"schema") {
                assert_eq!(faults(&text).len(), 1);
                continue;
            }
            assert_eq!(faults(&text), *expected, "{text}");
        }
        // The other sources may be left out.
        let text = GOOD.replacen(
            ",\"supporting\":[{\"source_id\":\"t\",\"page_span\":[3,3]}]",
            "",
            1,
        );
        assert_eq!(faults(&text), [""; 0]);
        let twice = GOOD.replacen(
            "[{\"card_id\"",
            "[{\"card_id\":\"a\",\"primary\":{\"source_id\":\"s\",\"page_span\":[1,1]},\"stance\":\"primary\",\"relevance\":\"core\"},{\"card_id\"",
            1,
        );
        assert_eq!(faults(&twice), ["\"a\""]);
    }

    proptest! {
        #[test]
        fn mutated_maps_never_panic(at in 0usize..230, length in 0usize..9, insert in "[\\[\\]{},:\"\\\\a0é\n]{0,3}") {
            let mut text = GOOD.to_owned();
            let at = at.min(text.len());
            text.replace_range(at..(at + length).min(text.len()), &insert);
            for problem in parse(&text).problems {
                prop_assert!(text.get(problem.span).is_some());
            }
        }
    }
}
