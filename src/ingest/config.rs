//! The file given with `--config`: how a source is cut (contract §4).
//!
//! A closed set: one table `chunking` of three whole numbers. Anything else is CLI-004.

use kbc_queries::chunk::{CacgParams, Chunker};
use kbc_queries::diagnostic::registry::CLI_004;
use kbc_queries::parse::problem::{Problem, nearest};
use kbc_queries::parse::yaml::{self, Entry, Node, Scalar, ScalarKind, Value};

use super::Refusal;

const KEYS: [&str; 3] = ["target_tokens", "overlap_tokens", "max_pages_per_chunk"];

/// Reads a configuration; `shown` names the file. An empty one, or null, is the defaults.
///
/// # Errors
/// CLI-004 with the first problem and its place.
pub fn parse(text: &str, shown: &str) -> Result<CacgParams, Refusal> {
    let mut reader = Reader {
        params: CacgParams::default(),
        problems: Vec::new(),
    };
    let tree = yaml::parse(text, 0..text.len());
    reader.problems.extend(tree.problems);
    reader.problems.extend(tree.duplicates);
    if let Some(root) = &tree.root
        && !root.is_null()
        && reader.problems.is_empty()
    {
        reader.root(root);
    }
    let mut problems = reader.problems;
    problems.sort_by_key(|problem| (problem.span.start, problem.span.end));
    if !problems.is_empty() {
        return Err(Refusal::of_problems(CLI_004, shown, text, &problems));
    }
    Chunker::Cacg(reader.params)
        .validate()
        .map_err(|error| Refusal::new(CLI_004, format!("{shown}: {error}")))?;
    Ok(reader.params)
}

struct Reader {
    params: CacgParams,
    problems: Vec<Problem>,
}

impl Reader {
    fn problem(&mut self, entry: &Entry<'_>, message: String) {
        self.problems
            .push(Problem::new(CLI_004, entry.value_span(), message));
    }

    fn unknown(&mut self, entry: &Entry<'_>, what: &str, keys: &[&str]) {
        let key = entry.key.as_str().unwrap_or_default();
        let help = match nearest(key, keys.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there is `{}`", keys.join("`, `")),
        };
        let message = format!("{what} has no key `{key}`");
        self.problems
            .push(Problem::new(CLI_004, entry.key.span.clone(), message).help(help));
    }

    fn root(&mut self, root: &Node<'_>) {
        let Value::Mapping { entries, .. } = &root.value else {
            let message = format!("the configuration is a mapping, not {}", root.kind_name());
            self.problems
                .push(Problem::new(CLI_004, root.span.clone(), message));
            return;
        };
        for entry in entries {
            if entry.key.as_str() != Some("chunking") {
                self.unknown(entry, "the configuration", &["chunking"]);
                continue;
            }
            match &entry.value.value {
                Value::Mapping { entries, .. } => {
                    for entry in entries {
                        self.number(entry);
                    }
                }
                _ if entry.value.is_null() => {}
                _ => {
                    let kind = entry.value.kind_name();
                    self.problem(entry, format!("`chunking` is a mapping, not {kind}"));
                }
            }
        }
    }

    fn number(&mut self, entry: &Entry<'_>) {
        let Some(key) = entry.key.as_str().filter(|key| KEYS.contains(key)) else {
            return self.unknown(entry, "`chunking`", &KEYS);
        };
        let value = match &entry.value.value {
            Value::Scalar(Scalar {
                kind: ScalarKind::Integer(value),
                ..
            }) => u32::try_from(*value).ok(),
            _ => {
                let kind = entry.value.kind_name();
                return self.problem(entry, format!("`{key}` is a whole number, not {kind}"));
            }
        };
        let Some(value) = value else {
            return self.problem(entry, format!("`{key}` is out of range"));
        };
        match key {
            "target_tokens" => self.params.target_tokens = value,
            "overlap_tokens" => self.params.overlap_tokens = value,
            _ => self.params.max_pages_per_chunk = value,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;

    #[test]
    fn only_three_whole_numbers_are_taken() {
        let of = |target, overlap, pages| CacgParams {
            target_tokens: target,
            overlap_tokens: overlap,
            max_pages_per_chunk: pages,
        };
        for (text, params) in [
            ("", of(350, 50, 2)),
            ("# nothing\n", of(350, 50, 2)),
            ("null\n", of(350, 50, 2)),
            ("chunking:\n", of(350, 50, 2)),
            ("chunking: {}\n", of(350, 50, 2)),
            ("chunking:\n  target_tokens: 60\n", of(60, 50, 2)),
            (
                "chunking:\n  max_pages_per_chunk: 1\n  overlap_tokens: 0\n",
                of(350, 0, 1),
            ),
        ] {
            assert_eq!(parse(text, "c.yaml"), Ok(params), "{text:?}");
        }
    }

    #[test]
    fn each_fault_is_refused_where_it_stands() {
        for (text, begins) in [
            ("- a\n", "c.yaml:1:"),
            ("chunking:\n  target_tokens: true\n", "c.yaml:2:18: "),
            ("chunking:\n  target_tokens: 1.5\n", "c.yaml:2:18: "),
            ("chunking:\n  target_tokens: \"60\"\n", "c.yaml:2:18: "),
            ("chunking:\n  target_tokens: -1\n", "c.yaml:2:18: "),
            ("chunking:\n  target_tokens:\n", "c.yaml:2:3: "),
            ("chunking:\n  target: 60\n", "c.yaml:2:3: "),
            ("chunkin:\n  target_tokens: 60\n", "c.yaml:1:1: "),
            ("chunking: 3\n", "c.yaml:1:11: "),
            (
                "chunking:\n  target_tokens: 60\n  target_tokens: 61\n",
                "c.yaml:3:3: ",
            ),
            ("chunking: {target_tokens: 50}\n", "c.yaml: the overlap"),
            ("chunking: {target_tokens: 0}\n", "c.yaml: the target"),
            ("chunking: {max_pages_per_chunk: 0}\n", "c.yaml: a chunk"),
            ("chunking: [\n", "c.yaml:"),
        ] {
            let refusal = parse(text, "c.yaml").unwrap_err();
            assert_eq!(refusal.code, CLI_004);
            assert!(refusal.is_misuse());
            assert!(
                refusal.message.starts_with(begins),
                "{text:?}: {}",
                refusal.message
            );
        }
    }
}
