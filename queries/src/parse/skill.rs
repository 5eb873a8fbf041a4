//! Routers: files `SKILL.md` beside the cards of a reading that say which card helps with what
//! (contract §1.5).
//!
//! [`parse`] collects every problem of one router, each with the bytes it is about. Whether its
//! routes lead anywhere is a question about the deck: [`crate::check::skill`].

use std::ops::Range;

use super::card;
use super::problem::{Problem, Spanned, nearest, shown};
use super::yaml::{self, Entry, Node, Value};
use crate::diagnostic::registry::SKILL_003;

/// The file name of a router.
pub const FILE_NAME: &str = "SKILL.md";
/// Greatest length of a description, in code points. The contract says that there is a bound, not
/// which; this is the one of the skill format that routers are modelled on.
pub const DESCRIPTION_MAX: usize = 1024;

const KEYS: [&str; 4] = ["name", "description", "routes_to", "trigger_keywords"];

/// What could be read of a router. A field is `Some` only if its value obeys its rules.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Router {
    /// `name`, a slug.
    pub name: Option<Spanned<Box<str>>>,
    /// `description`.
    pub description: Option<Spanned<Box<str>>>,
    /// `routes_to`: ids of cards.
    pub routes_to: Vec<Spanned<Box<str>>>,
    /// `trigger_keywords`.
    pub trigger_keywords: Vec<Spanned<Box<str>>>,
    /// Everything that is wrong with its form, in file order.
    pub problems: Vec<Problem>,
}

/// Whether a text is a slug: `^[a-z0-9][a-z0-9_-]*$`.
pub fn is_slug(text: &str) -> bool {
    let mut bytes = text.bytes();
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    bytes.next().is_some_and(plain) && bytes.all(|byte| plain(byte) || matches!(byte, b'_' | b'-'))
}

/// Reads a router. Never fails: what is wrong is in [`Router::problems`].
pub fn parse(text: &str) -> Router {
    let mut router = Router::default();
    let Some(frontmatter) = card::frontmatter(text) else {
        let first = text.lines().next().unwrap_or_default().trim_end().len();
        router.problems.push(
            Problem::new(
                SKILL_003,
                0..first,
                "a router begins with the line `---`, its frontmatter, and another line `---`",
            )
            .label("no frontmatter")
            .help("give it a frontmatter with `name` and `description`"),
        );
        return router;
    };
    // The fence stands in for what is missing: there is no better place.
    let fence = 0..3;
    let tree = yaml::parse(text, frontmatter);
    for problem in tree.problems.into_iter().chain(tree.duplicates) {
        router.problems.push(Problem {
            code: SKILL_003,
            ..problem
        });
    }
    match tree.root {
        None if router.problems.is_empty() => router.missing(&fence, &["name", "description"]),
        None => {}
        Some(Node {
            value: Value::Mapping { entries, .. },
            ..
        }) => router.fields(&entries, &fence),
        Some(root) => router.problem(
            root.span.clone(),
            format!(
                "the frontmatter of a router is a mapping, not {}",
                root.kind_name()
            ),
        ),
    }
    router
        .problems
        .sort_by_key(|problem| (problem.span.start, problem.span.end));
    router
}

impl Router {
    fn problem(&mut self, span: Range<usize>, message: String) {
        self.problems
            .push(Problem::new(SKILL_003, span, message).help(format!(
                "a router has `{}`, and nothing else",
                KEYS.join("`, `")
            )));
    }

    fn missing(&mut self, fence: &Range<usize>, names: &[&str]) {
        for name in names {
            self.problem(fence.clone(), format!("the router has no `{name}`"));
        }
    }

    fn fields(&mut self, entries: &[Entry<'_>], fence: &Range<usize>) {
        let mut seen: Vec<&str> = Vec::new();
        for entry in entries {
            let Some(key) = entry.key.as_str() else {
                self.problem(
                    entry.key.span.clone(),
                    "a key of a router is a word".to_owned(),
                );
                continue;
            };
            let Some(known) = KEYS.into_iter().find(|known| *known == key) else {
                let mut problem = Problem::new(
                    SKILL_003,
                    entry.key.span.clone(),
                    format!("a router has no field `{}`", shown(key)),
                )
                .label("unknown field");
                problem.help = Some(match nearest(key, KEYS) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("a router has `{}`", KEYS.join("`, `")),
                });
                self.problems.push(problem);
                continue;
            };
            // A key given twice is reported already; the first one counts here.
            if seen.contains(&known) {
                continue;
            }
            seen.push(known);
            match known {
                "name" => self.name(entry),
                "description" => self.description(entry),
                "routes_to" => self.routes_to = self.list(entry, "routes_to"),
                _ => self.trigger_keywords = self.list(entry, "trigger_keywords"),
            }
        }
        for name in ["name", "description"] {
            if !seen.contains(&name) {
                self.missing(fence, &[name]);
            }
        }
    }

    fn string(&mut self, node: &Node<'_>, at: Range<usize>, what: &str) -> Option<Box<str>> {
        match node.as_str() {
            Some(text) => Some(text.into()),
            // Reported already: an alias or an application's tag.
            None if node.value == Value::Opaque => None,
            None => {
                self.problem(at, format!("{what} is a string, not {}", node.kind_name()));
                None
            }
        }
    }

    fn name(&mut self, entry: &Entry<'_>) {
        let at = entry.value_span();
        let Some(name) = self.string(&entry.value, at.clone(), "`name`") else {
            return;
        };
        if is_slug(&name) {
            self.name = Some(Spanned::new(name, at));
        } else {
            self.problem(
                at,
                format!(
                    "the name `{}` is no slug: lower-case letters and digits, then also `-` and `_`",
                    shown(&name)
                ),
            );
        }
    }

    fn description(&mut self, entry: &Entry<'_>) {
        let at = entry.value_span();
        let Some(text) = self.string(&entry.value, at.clone(), "`description`") else {
            return;
        };
        let length = text.chars().count();
        if text.trim().is_empty() {
            self.problem(at, "the description says nothing".to_owned());
        } else if length > DESCRIPTION_MAX {
            self.problem(
                at,
                format!("the description has {length} characters, more than {DESCRIPTION_MAX}"),
            );
        } else {
            self.description = Some(Spanned::new(text, at));
        }
    }

    fn list(&mut self, entry: &Entry<'_>, name: &str) -> Vec<Spanned<Box<str>>> {
        if entry.value.value == Value::Opaque {
            return Vec::new();
        }
        let Value::Sequence(items) = &entry.value.value else {
            self.problem(
                entry.value_span(),
                format!(
                    "`{name}` is a list of strings, not {}",
                    entry.value.kind_name()
                ),
            );
            return Vec::new();
        };
        let mut list = Vec::with_capacity(items.len());
        for item in items {
            // An item that is not written has no bytes of its own.
            let at = match item.span.is_empty() {
                true => entry.key.span.clone(),
                false => item.span.clone(),
            };
            let what = format!("each item of `{name}`");
            if let Some(text) = self.string(item, at.clone(), &what) {
                if text.trim().is_empty() {
                    self.problem(at, format!("an item of `{name}` is empty"));
                } else {
                    list.push(Spanned::new(text, at));
                }
            }
        }
        list
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;
    use proptest::prelude::*;

    const GOOD: &str = "---\nname: hashing\ndescription: \"Which card says how leaves are hashed.\"\nroutes_to:\n  - leaf-hashing\n  - \"node-hashing\"\ntrigger_keywords: [leaf, node]\n---\nBody.\n";

    fn faults(text: &str) -> Vec<String> {
        parse(text)
            .problems
            .iter()
            .map(|problem| {
                assert_eq!(problem.code, SKILL_003);
                text[problem.span.clone()].to_owned()
            })
            .collect()
    }

    #[test]
    fn a_router_is_read_with_its_places() {
        let router = parse(GOOD);
        assert_eq!(router.problems, []);
        assert_eq!(&*router.name.as_ref().unwrap().value, "hashing");
        assert_eq!(&GOOD[router.name.unwrap().span], "hashing");
        let routes: Vec<&str> = router.routes_to.iter().map(|route| &*route.value).collect();
        assert_eq!(routes, ["leaf-hashing", "node-hashing"]);
        assert_eq!(&GOOD[router.routes_to[1].span.clone()], "\"node-hashing\"");
        assert_eq!(router.trigger_keywords.len(), 2);
        // The lists may be absent, and the file may end with the fence.
        assert_eq!(faults("---\nname: a\ndescription: b\n---"), [""; 0]);
    }

    #[test]
    fn each_fault_is_marked_where_it_stands() {
        let cases: &[(&str, &[&str])] = &[
            ("no fence at all\n", &["no fence at all"]),
            ("", &[""]),
            ("---\nname: a\ndescription: b\n", &["---"]),
            ("---\n---\n---\n", &["---"]),
            ("---\n\n---\n", &["---", "---"]),
            ("---\n- name\n---\n", &["name"]),
            ("---\nname: a\n---\n", &["---"]),
            ("---\nname: A b\ndescription: c\n---\n", &["A b"]),
            ("---\nname: 12\ndescription: c\n---\n", &["12"]),
            ("---\nname: a\ndescription: \"  \"\n---\n", &["\"  \""]),
            ("---\nname: a\ndescription:\n---\n", &["description"]),
            (
                "---\nname: a\ndescription: b\nroutes: [x]\n---\n",
                &["routes"],
            ),
            ("---\nname: a\ndescription: b\nroutes_to: x\n---\n", &["x"]),
            (
                "---\nname: a\ndescription: b\nroutes_to: [x, 3, \"\"]\n---\n",
                &["3", "\"\""],
            ),
            ("---\nname: a\nname: b\ndescription: c\n---\n", &["name"]),
            ("---\nname: &x a\ndescription: *x\n---\n", &["&x", "*x"]),
            ("---\nname: [\n---\n", &["["]),
        ];
        for (text, expected) in cases {
            let found = faults(text);
            if text.contains("[\n") || text.contains("---\n---\n---") {
                assert_eq!(found.len(), expected.len(), "{text:?}: {found:?}");
                continue;
            }
            assert_eq!(found, *expected, "{text:?}");
        }
        let long = format!("---\nname: a\ndescription: {}\n---\n", "é".repeat(1025));
        assert_eq!(faults(&long).len(), 1);
        let longest = format!("---\nname: a\ndescription: {}\n---\n", "é".repeat(1024));
        assert_eq!(faults(&longest).len(), 0);
    }

    proptest! {
        #[test]
        fn mutated_routers_never_panic(at in 0usize..200, length in 0usize..9, insert in "[\\[\\]{},:\"\\\\a0é\n&*-]{0,4}") {
            let mut text = GOOD.to_owned();
            let at = at.min(text.len());
            text.replace_range(at..(at + length).min(text.len()), &insert);
            for problem in parse(&text).problems {
                prop_assert!(text.get(problem.span).is_some());
            }
        }
    }
}
