//! The rules over role maps: a map has an entry for every active card of its reading, and for no
//! other (contract §1.7). A reading without a map is fine.
//!
//! Pure functions over what was parsed, outside the graph, as [`super::graph`] is.

use std::collections::HashSet;
use std::sync::Arc;

use crate::check::card::from_problem;
use crate::check::finding::Finding;
use crate::check::skill::{Deck, Standing};
use crate::diagnostic::registry;
use crate::parse::problem::{Spanned, shown};
use crate::parse::role_map::ParsedRoleMap;

/// A role map in its place.
#[derive(Clone, Copy, Debug)]
pub struct RoleMapFile<'a> {
    /// Path relative to the project root; maps are given in the order of their paths.
    pub path: &'a Arc<str>,
    /// What it says.
    pub map: &'a ParsedRoleMap,
}

/// Checks role maps. Findings come with the index of the map they are about, in order: of each its
/// form first, then its entries, then the cards that have none.
pub fn check(maps: &[RoleMapFile<'_>], deck: &Deck<'_>) -> Vec<(usize, Finding)> {
    let mut findings = Vec::new();
    for (index, file) in maps.iter().enumerate() {
        let mut say = |finding| findings.push((index, finding));
        let map = file.map;
        map.problems.iter().map(from_problem).for_each(&mut say);
        let Some(reading) = &map.reading_id else {
            continue;
        };
        misnamed(file.path, reading).into_iter().for_each(&mut say);
        map.card_ids
            .iter()
            .filter_map(|id| bad_entry(id, &reading.value, deck))
            .for_each(&mut say);
        let Some(key) = &map.entries_key else {
            continue;
        };
        let listed: HashSet<&str> = map.card_ids.iter().map(|id| &*id.value).collect();
        for id in deck.of_reading(&reading.value) {
            if !listed.contains(id) {
                say(Finding::new(
                    registry::ROLE_002,
                    key.clone(),
                    format!(
                        "the card `{}` of the reading `{}` has no entry in its role map",
                        shown(id),
                        shown(&reading.value)
                    ),
                )
                .label("not complete")
                .help("add an entry; `kb scaffold-role-map --force` writes the map anew")
                .data("card_id", id));
            }
        }
    }
    findings
}

/// A map is found by its file's name.
fn misnamed(path: &str, reading: &Spanned<Box<str>>) -> Option<Finding> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.strip_suffix(".json").unwrap_or(name);
    if stem == &*reading.value {
        return None;
    }
    Some(
        Finding::new(
            registry::ROLE_003,
            reading.span.clone(),
            format!(
                "the role map of the reading `{}` is in the file {name}",
                shown(&reading.value)
            ),
        )
        .label("not the file's name")
        .help("a map is called as its reading is: rename the file, or correct `reading_id`"),
    )
}

fn bad_entry(id: &Spanned<Box<str>>, reading: &str, deck: &Deck<'_>) -> Option<Finding> {
    let name = shown(&id.value);
    let map = format!(
        "the role map of `{}` has an entry for the card `{name}`",
        shown(reading)
    );
    let (message, label) = match deck.standing(&id.value) {
        Standing::Active(Some(own)) if own == reading => return None,
        Standing::Unclear => return None,
        Standing::Retracted => (format!("{map}, which is retracted"), "withdrawn"),
        Standing::Unknown => (format!("{map}, which does not exist"), "unknown card"),
        Standing::Active(Some(own)) => (
            format!("{map}, which belongs to the reading `{own}`"),
            "of another reading",
        ),
        Standing::Active(None) => (
            format!("{map}, which belongs to no reading"),
            "of another reading",
        ),
    };
    Some(
        Finding::new(registry::ROLE_001, id.span.clone(), message)
            .label(label)
            .help("take the entry out, or correct the id")
            .data("card_id", &*id.value),
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;
    use crate::parse::role_map::parse;

    fn map(reading: &str, ids: &[&str]) -> String {
        let entries: Vec<String> = ids
            .iter()
            .map(|id| format!(r#"{{"card_id":"{id}","primary":{{"source_id":"s","page_span":[1,1]}},"supporting":[],"stance":"primary","relevance":"core"}}"#))
            .collect();
        format!(
            r#"{{"entries":[{}],"reading_id":"{reading}","schema_version":"cacg.v0"}}"#,
            entries.join(",")
        )
    }

    fn said(path: &str, text: &str, complete: bool) -> Vec<String> {
        let deck = Deck::new(
            [("a", Some("r")), ("b", Some("r")), ("c", Some("other"))],
            ["gone"],
            complete,
        );
        let path: Arc<str> = path.into();
        let parsed = parse(text);
        let files = [RoleMapFile {
            path: &path,
            map: &parsed,
        }];
        check(&files, &deck)
            .into_iter()
            .map(|(_, finding)| format!("{} {}", finding.code, &text[finding.range]))
            .collect()
    }

    #[test]
    fn a_map_has_the_cards_of_its_reading_and_no_others() {
        let path = "out/role_maps/r.json";
        assert_eq!(said(path, &map("r", &["b", "a"]), true), [""; 0]);
        assert_eq!(
            said(path, &map("r", &["a", "gone", "c", "nobody"]), true),
            [
                "CACG-ROLE-001 \"gone\"",
                "CACG-ROLE-001 \"c\"",
                "CACG-ROLE-001 \"nobody\"",
                "CACG-ROLE-002 \"entries\"",
            ]
        );
        assert_eq!(said(path, &map("r", &["a", "b", "nobody"]), false), [""; 0]);
    }

    #[test]
    fn a_map_is_called_as_its_reading_is_and_form_comes_first() {
        assert_eq!(
            said("out/role_maps/x.json", &map("r", &["a", "b"]), true),
            ["CACG-ROLE-003 \"r\""]
        );
        let text = map("r", &["a"]).replace("primary\",\"rel", "prime\",\"rel");
        assert_eq!(
            said("out/role_maps/r.json", &text, true),
            ["CACG-ROLE-003 \"prime\"", "CACG-ROLE-002 \"entries\""]
        );
        // A map that cannot be read says nothing of cards.
        assert_eq!(said("out/role_maps/r.json", "{", true).len(), 1);
    }
}
