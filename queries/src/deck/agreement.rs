//! Whether the summaries and the cards manifest say the same. They are written together; where
//! they differ, one of them was edited or is left over.

use std::collections::BTreeMap;

use crate::diagnostic::{Diagnostic, registry};
use crate::parse::manifest::{CardsManifest, Summaries, Summary};

/// Where the two differ (SUM-005, SUM-006), in the order of card ids. `file` is the summaries' path.
pub fn differences(manifest: &CardsManifest, summaries: &Summaries, file: &str) -> Vec<Diagnostic> {
    let mut by_id: BTreeMap<&str, &Summary> = summaries
        .summaries
        .iter()
        .map(|summary| (&*summary.id, summary))
        .collect();
    let mut found: BTreeMap<&str, (crate::diagnostic::Code, String)> = BTreeMap::new();
    for card in &manifest.cards {
        match by_id.remove(&*card.id) {
            None => {
                let message = format!(
                    "the active card `{}` has no entry in the summaries",
                    card.id
                );
                found.insert(&card.id, (registry::SUM_006, message));
            }
            Some(summary) if summary.source_ids.as_ref() != Some(&card.source_ids) => {
                let ids = |ids: &[String]| ids.join(", ");
                let message = format!(
                    "`{}` cites {} in the cards manifest and {} in the summaries",
                    card.id,
                    ids(&card.source_ids),
                    ids(summary.source_ids.as_deref().unwrap_or_default()),
                );
                found.insert(&card.id, (registry::SUM_005, message));
            }
            Some(_) => {}
        }
    }
    for id in by_id.into_keys() {
        let message = match manifest.retracted_cards.iter().any(|card| card == id) {
            true => format!("the retracted card `{id}` still stands in the summaries"),
            false => format!("`{id}` stands in the summaries and is no card of the cards manifest"),
        };
        found.insert(id, (registry::SUM_006, message));
    }
    found
        .into_values()
        .map(|(code, message)| {
            Diagnostic::new(code, message)
                .in_file(file)
                .help("publish both again with `kb index` or `kb build`")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::parse::manifest::{read_cards, read_summaries};

    fn said(cards: &[(&str, &str)], retracted: &str, summaries: &[(&str, &str)]) -> Vec<String> {
        let hash = "a".repeat(64);
        let own = |id: &str, source: &str| {
            format!(
                r#""card_hash":"{hash}","id":"{id}","path":"{id}.md","reading_id":"r","schema_version":"cacg.v0","source_ids":["{source}"],"summary":"s","title":"t""#
            )
        };
        let list = |entries: &[(&str, &str)], more: &str| {
            let entries = entries
                .iter()
                .map(|(id, source)| format!("{{{}{more}}}", own(id, source)));
            entries.collect::<Vec<_>>().join(",")
        };
        let manifest = format!(
            r#"{{"cards":[{}],"dependency_retracted_cards":[],"retracted_cards":[{retracted}],"schema_version":"cacg.v0"}}"#,
            list(cards, r#","citation_count":1"#)
        );
        let text = format!(
            r#"{{"schema_version":"cacg.v0","summaries":[{}]}}"#,
            list(summaries, r#","tags":[]"#)
        );
        let manifest = read_cards(manifest.as_bytes()).unwrap();
        let summaries = read_summaries(text.as_bytes()).unwrap();
        differences(&manifest, &summaries, "summaries.json")
            .iter()
            .map(|found| format!("{} {}", found.code, found.message))
            .collect()
    }

    #[test]
    fn both_say_the_same_or_each_difference_is_named() {
        assert!(said(&[("a", "s"), ("b", "s")], "", &[("a", "s"), ("b", "s")]).is_empty());
        assert_eq!(
            said(
                &[("a", "s"), ("b", "s"), ("c", "s")],
                r#""d""#,
                &[("a", "other"), ("c", "s"), ("d", "s"), ("e", "s")]
            ),
            [
                "CACG-SUM-005 `a` cites s in the cards manifest and other in the summaries",
                "CACG-SUM-006 the active card `b` has no entry in the summaries",
                "CACG-SUM-006 the retracted card `d` still stands in the summaries",
                "CACG-SUM-006 `e` stands in the summaries and is no card of the cards manifest",
            ]
        );
    }
}
