//! The source matrix: which reading may cite which source (contract §8).

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

use super::card::SCHEMA_VERSION;
use super::json::{self, Member, Node, Value};
use super::problem::{Problem, nearest, shown};
use crate::diagnostic::registry::AUTH_000;

/// A valid matrix.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Matrix {
    allowed: BTreeMap<String, Vec<String>>,
    /// Readings that are listed twice. The last list counts, as the contract has it, but whoever
    /// wrote the first one should know.
    pub duplicates: Vec<Problem>,
}

impl Matrix {
    /// The sources that a reading may cite, in file order; `None` if the matrix does not know it.
    pub fn allowed(&self, reading: &str) -> Option<&[String]> {
        self.allowed.get(reading).map(Vec::as_slice)
    }

    /// All readings with their sources, sorted by reading.
    pub fn readings(&self) -> impl Iterator<Item = (&str, &[String])> {
        self.allowed
            .iter()
            .map(|(reading, sources)| (reading.as_str(), sources.as_slice()))
    }

    /// A matrix made of lists, for the scaffold and for tests. Nothing is checked.
    pub fn from_lists(lists: impl IntoIterator<Item = (String, Vec<String>)>) -> Self {
        Matrix {
            allowed: lists.into_iter().collect(),
            duplicates: Vec::new(),
        }
    }

    /// The file's value: `{"allowed": …, "schema_version": …}`.
    pub fn to_value(&self) -> serde_json::Value {
        serde_json::json!({ "schema_version": SCHEMA_VERSION, "allowed": self.allowed })
    }
}

/// Reads a matrix.
///
/// # Errors
/// Everything that makes it invalid, in file order, as AUTH-000.
pub fn parse(bytes: &[u8]) -> Result<Matrix, Vec<Problem>> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let at = error.valid_up_to();
            let end = at + error.error_len().unwrap_or(bytes.len() - at);
            return Err(vec![Problem::new(
                AUTH_000,
                at..end,
                "the source matrix is not UTF-8",
            )]);
        }
    };
    let root = json::parse(text).map_err(|error| {
        let message = format!("the source matrix is not valid JSON: {}", error.message);
        vec![Problem::new(AUTH_000, error.span, message).label("not valid JSON")]
    })?;
    let mut reader = Reader {
        problems: Vec::new(),
        matrix: Matrix::default(),
    };
    reader.root(&root);
    if reader.problems.is_empty() {
        Ok(reader.matrix)
    } else {
        Err(reader.problems)
    }
}

/// Where a matrix says something of a reading.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The reading's name, as a key.
    pub reading: Option<Range<usize>>,
    /// The source in its list.
    pub source: Option<Range<usize>>,
}

/// Finds a reading and one of its sources in the text of a matrix. Of a reading that is listed twice
/// the last list counts, as it does in [`parse`].
pub fn locate(text: &str, reading: &str, source: &str) -> Place {
    let mut place = Place::default();
    let Ok(root) = json::parse(text) else {
        return place;
    };
    let allowed = members(&root)
        .iter()
        .find(|member| member.key == "allowed")
        .map_or(&[][..], |member| members(&member.value));
    if let Some(member) = allowed.iter().rfind(|member| member.key == reading) {
        place.reading = Some(member.key_span.clone());
        if let Value::Array(items) = &member.value.value {
            place.source = items
                .iter()
                .find(|item| matches!(&item.value, Value::String(id) if id == source))
                .map(|item| item.span.clone());
        }
    }
    place
}

fn members(node: &Node) -> &[Member] {
    match &node.value {
        Value::Object(members) => members,
        _ => &[],
    }
}

struct Reader {
    problems: Vec<Problem>,
    matrix: Matrix,
}

impl Reader {
    fn problem(&mut self, node: &Node, message: String) {
        self.problems
            .push(Problem::new(AUTH_000, node.span.clone(), message));
    }

    fn root(&mut self, root: &Node) {
        let Value::Object(members) = &root.value else {
            return self.problem(root, "the source matrix must be a JSON object".to_owned());
        };
        let mut version = false;
        let mut seen: HashSet<&str> = HashSet::new();
        for member in members {
            if !seen.insert(&member.key) {
                let message = format!("`{}` is given twice", shown(&member.key));
                self.problems
                    .push(Problem::new(AUTH_000, member.key_span.clone(), message));
                continue;
            }
            match member.key.as_str() {
                "schema_version" => {
                    version = true;
                    if !matches!(&member.value.value, Value::String(text) if text == SCHEMA_VERSION)
                    {
                        let message = format!("`schema_version` must be \"{SCHEMA_VERSION}\"");
                        self.problem(&member.value, message);
                    }
                }
                "allowed" => self.allowed(&member.value),
                other => {
                    let message = format!("the source matrix has no key `{}`", shown(other));
                    let mut problem = Problem::new(AUTH_000, member.key_span.clone(), message)
                        .label("unknown key");
                    if let Some(near) = nearest(other, ["schema_version", "allowed"]) {
                        problem = problem.help(format!("did you mean `{near}`?"));
                    }
                    self.problems.push(problem);
                }
            }
        }
        if !version {
            self.problem(root, "the source matrix has no `schema_version`".to_owned());
        }
    }

    fn allowed(&mut self, node: &Node) {
        let Value::Object(members) = &node.value else {
            let message = "`allowed` must be an object: reading to list of sources";
            return self.problem(node, message.to_owned());
        };
        for Member {
            key,
            key_span,
            value,
        } in members
        {
            if key.is_empty() {
                let message = "the name of a reading must not be empty";
                self.problems
                    .push(Problem::new(AUTH_000, key_span.clone(), message));
            }
            let sources = self.sources(key, value);
            if self.matrix.allowed.insert(key.clone(), sources).is_some() {
                let message = format!(
                    "the reading `{}` is listed twice; only this list counts",
                    shown(key)
                );
                self.matrix.duplicates.push(
                    Problem::new(AUTH_000, key_span.clone(), message)
                        .label("listed before")
                        .help("merge the two lists"),
                );
            }
        }
    }

    fn sources(&mut self, reading: &str, node: &Node) -> Vec<String> {
        let reading = shown(reading);
        let Value::Array(items) = &node.value else {
            self.problem(node, format!("the sources of `{reading}` must be a list"));
            return Vec::new();
        };
        let mut seen: HashSet<&str> = HashSet::new();
        let mut sources = Vec::with_capacity(items.len());
        for item in items {
            match &item.value {
                Value::String(id) if id.is_empty() => {
                    self.problem(item, format!("a source id of `{reading}` is empty"));
                }
                Value::String(id) if !seen.insert(id) => {
                    let id = shown(id);
                    self.problem(item, format!("`{id}` is listed twice for `{reading}`"));
                }
                Value::String(id) => sources.push(id.clone()),
                _ => self.problem(item, format!("the sources of `{reading}` must be strings")),
            }
        }
        sources
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;
    use proptest::prelude::*;

    const MATRIX: &str =
        include_str!("../../../fixtures/cacg/tests/parity_corpus/out_python/source_matrix.json");

    #[test]
    fn the_fixture_is_read_and_written_alike() {
        let matrix = parse(MATRIX.as_bytes()).unwrap();
        assert_eq!(
            matrix.allowed("reading_01"),
            Some(&["sample".to_owned()][..])
        );
        assert_eq!(matrix.allowed("reading_02"), None);
        assert_eq!(parse(matrix.to_value().to_string().as_bytes()), Ok(matrix));
    }

    #[test]
    fn each_fault_is_found_where_it_stands() {
        let cases: &[(&str, &[&str])] = &[
            (r#"{"schema_version":"cacg.v0"}"#, &[]),
            (r#"{"schema_version":"cacg.v0","allowed":{"a":[]}}"#, &[]),
            (r#"{"schema_version":"cacg.v1"}"#, &["\"cacg.v1\""]),
            (r#"{"allowed":{}}"#, &[r#"{"allowed":{}}"#]),
            (
                r#"{"schema_version":"cacg.v0","alowed":{}}"#,
                &["\"alowed\""],
            ),
            (r#"{"schema_version":"cacg.v0","allowed":[]}"#, &["[]"]),
            (
                r#"{"schema_version":"cacg.v0","allowed":{"":["é",""],"b":["x","y","x",3], "c":"d"}}"#,
                &["\"\"", "\"\"", "\"x\"", "3", "\"d\""],
            ),
            (
                r#"{"schema_version":"cacg.v0","allowed":{},"allowed":{}}"#,
                &["\"allowed\""],
            ),
            ("{\"schema_version\":\n  \"cacg.v0\",}", &["}"]),
            ("[]", &["[]"]),
            ("", &[""]),
        ];
        for (text, expected) in cases {
            let seen: Vec<&str> = match parse(text.as_bytes()) {
                Ok(_) => Vec::new(),
                Err(problems) => problems
                    .iter()
                    .map(|problem| &text[problem.span.clone()])
                    .collect(),
            };
            assert_eq!(seen, *expected, "{text}");
        }
        assert_eq!(parse(b"{\"a\xFF").unwrap_err()[0].span, 3..4);
    }

    #[test]
    fn the_last_of_two_lists_counts_and_is_reported() {
        let text = r#"{"schema_version":"cacg.v0","allowed":{"a":["x"],"a":["y"]}}"#;
        let matrix = parse(text.as_bytes()).unwrap();
        assert_eq!(matrix.allowed("a"), Some(&["y".to_owned()][..]));
        assert_eq!(matrix.duplicates[0].span, 49..52);
    }

    #[test]
    fn a_source_is_found_where_its_reading_lists_it() {
        let text = r#"{"allowed":{"a":["x","y"],"b":["y"],"a":["y"]},"schema_version":"cacg.v0"}"#;
        let found = |reading, source| {
            let place = locate(text, reading, source);
            (
                place.reading.map(|r| r.start),
                place.source.map(|r| r.start),
            )
        };
        assert_eq!(found("b", "y"), (Some(26), Some(31)));
        assert_eq!(found("a", "y"), (Some(36), Some(41)));
        assert_eq!(found("a", "x"), (Some(36), None));
        assert_eq!(found("c", "x"), (None, None));
        assert_eq!(locate("[", "a", "x"), Place::default());
    }

    proptest! {
        #[test]
        fn mutated_matrices_never_panic(at in 0usize..70, length in 0usize..9, insert in "[\\[\\]{},:\"\\\\a0é\n]{0,3}") {
            let mut text = MATRIX.to_owned();
            let at = at.min(text.len());
            text.replace_range(at..(at + length).min(text.len()), &insert);
            if let Err(problems) = parse(text.as_bytes()) {
                for problem in problems {
                    prop_assert!(text.get(problem.span).is_some());
                }
            }
        }
    }
}
