//! The rules over routers: each has a name of its own, and leads only to active cards of its
//! reading (contract §1.5).
//!
//! Pure functions over what was parsed, outside the graph, as [`super::graph`] is: they look at
//! all cards, and no per-card query reads what they say.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::check::card::from_problem;
use crate::check::finding::Finding;
use crate::diagnostic::registry;
use crate::parse::problem::{Spanned, nearest, shown};
use crate::parse::skill::Router;

/// A router in its place.
#[derive(Clone, Copy, Debug)]
pub struct RouterFile<'a> {
    /// Path relative to the project root; routers are given in the order of their paths.
    pub path: &'a Arc<str>,
    /// The reading whose folder it stands in.
    pub reading: &'a str,
    /// What it says.
    pub router: &'a Router,
}

/// The cards as these rules see them.
#[derive(Clone, Debug, Default)]
pub struct Deck<'a> {
    /// Active cards: id to reading. `None`: the card names no reading.
    active: HashMap<&'a str, Option<&'a str>>,
    /// Ids of retracted cards.
    retracted: BTreeSet<&'a str>,
    /// Whether these are all cards there are, so that an id that is not among them is nobody's.
    complete: bool,
}

/// What an id leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing<'a> {
    /// An active card of this reading.
    Active(Option<&'a str>),
    /// A retracted card.
    Retracted,
    /// Nothing.
    Unknown,
    /// Nothing that is known; but not all cards are.
    Unclear,
}

impl<'a> Deck<'a> {
    /// A deck of these cards, id and reading; the ones that are retracted do not count as active.
    pub fn new(
        cards: impl IntoIterator<Item = (&'a str, Option<&'a str>)>,
        retracted: impl IntoIterator<Item = &'a str>,
        complete: bool,
    ) -> Self {
        let retracted: BTreeSet<&str> = retracted.into_iter().collect();
        let mut active = HashMap::new();
        for (id, reading) in cards {
            if !retracted.contains(id) {
                // Of two cards with one id the first counts; the other is reported elsewhere.
                active.entry(id).or_insert(reading);
            }
        }
        Deck {
            active,
            retracted,
            complete,
        }
    }

    /// What an id leads to.
    pub fn standing(&self, id: &str) -> Standing<'a> {
        match self.active.get(id) {
            Some(reading) => Standing::Active(*reading),
            None if self.retracted.contains(id) => Standing::Retracted,
            None if self.complete => Standing::Unknown,
            None => Standing::Unclear,
        }
    }

    /// The active cards of a reading, sorted.
    pub fn of_reading(&self, reading: &str) -> Vec<&'a str> {
        let mut ids: Vec<&str> = self
            .active
            .iter()
            .filter(|(_, own)| **own == Some(reading))
            .map(|(id, _)| *id)
            .collect();
        ids.sort_unstable();
        ids
    }

    /// Whether these are all cards there are.
    pub fn is_complete(&self) -> bool {
        self.complete
    }
}

/// Checks routers. Findings come with the index of the router they are about, in order: of each
/// its form first, then its name, then its routes.
pub fn check(routers: &[RouterFile<'_>], deck: &Deck<'_>) -> Vec<(usize, Finding)> {
    let mut findings = Vec::new();
    let mut names: HashMap<&str, &Arc<str>> = HashMap::new();
    for (index, file) in routers.iter().enumerate() {
        let router = file.router;
        findings.extend(router.problems.iter().map(|p| (index, from_problem(p))));
        if let Some(name) = &router.name {
            match names.get(&*name.value) {
                Some(first) => findings.push((index, collision(name, first))),
                None => {
                    names.insert(&name.value, file.path);
                }
            }
        }
        let readings = router.routes_to.iter();
        findings.extend(readings.filter_map(|route| Some((index, bad_route(route, file, deck)?))));
    }
    findings
}

fn collision(name: &Spanned<Box<str>>, first: &str) -> Finding {
    Finding::new(
        registry::SKILL_001,
        name.span.clone(),
        format!(
            "the router name `{}` is already taken by {first}",
            name.value
        ),
    )
    .label("not unique")
    .help("give one of the two routers another name")
    .data("name", &*name.value)
}

fn bad_route(route: &Spanned<Box<str>>, file: &RouterFile<'_>, deck: &Deck<'_>) -> Option<Finding> {
    let id = shown(&route.value);
    let reading = file.reading;
    let (message, label, help) = match deck.standing(&route.value) {
        Standing::Active(Some(own)) if own == reading => return None,
        Standing::Unclear => return None,
        Standing::Active(own) => {
            let of = own.map_or("no reading".to_owned(), |own| {
                format!("the reading `{own}`")
            });
            (
                format!("the card `{id}` belongs to {of}, and this is a router of `{reading}`"),
                "of another reading",
                format!(
                    "route to cards of `{reading}` only; a router stands in the folder of its reading, <cards>/<reading>/SKILL.md"
                ),
            )
        }
        Standing::Retracted => (
            format!("the router leads to the card `{id}`, which is retracted"),
            "withdrawn",
            "route to a card that still stands, or take the route out".to_owned(),
        ),
        Standing::Unknown => {
            // The distance to every id of a large deck costs more than the hint is worth.
            let ids = match deck.active.len() {
                ..=5_000 => deck.of_reading(reading),
                _ => Vec::new(),
            };
            let help = match nearest(&route.value, ids) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "a route is the `id` of a card of the same reading".to_owned(),
            };
            (format!("no card has the id `{id}`"), "unknown card", help)
        }
    };
    Some(
        Finding::new(registry::SKILL_002, route.span.clone(), message)
            .label(label)
            .help(help)
            .data("card_id", &*route.value),
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;
    use crate::parse::skill::parse;

    fn deck(complete: bool) -> Deck<'static> {
        Deck::new(
            [
                ("a", Some("one")),
                ("b", Some("one")),
                ("c", Some("two")),
                ("gone", Some("one")),
                ("lost", None),
            ],
            ["gone", "long-gone"],
            complete,
        )
    }

    fn said(files: &[(&str, &str, &str)], deck: &Deck<'_>) -> Vec<String> {
        let parsed: Vec<(Arc<str>, Router)> = files
            .iter()
            .map(|(path, _, text)| (Arc::from(*path), parse(text)))
            .collect();
        let routers: Vec<RouterFile<'_>> = parsed
            .iter()
            .zip(files)
            .map(|((path, router), (_, reading, _))| RouterFile {
                path,
                reading,
                router,
            })
            .collect();
        check(&routers, deck)
            .into_iter()
            .map(|(index, finding)| {
                let text = files[index].2;
                format!("{index} {} {}", finding.code, &text[finding.range])
            })
            .collect()
    }

    fn router(name: &str, routes: &str) -> String {
        format!("---\nname: {name}\ndescription: d\nroutes_to: [{routes}]\n---\n")
    }

    #[test]
    fn routes_lead_to_active_cards_of_the_reading() {
        let text = router("n", "a, b, c, gone, long-gone, nobody, lost");
        let files = [("cards/one/SKILL.md", "one", text.as_str())];
        assert_eq!(
            said(&files, &deck(true)),
            ["c", "gone", "long-gone", "nobody", "lost"].map(|id| format!("0 CACG-SKILL-002 {id}"))
        );
        // Of a part of the deck only what is known is said.
        assert_eq!(
            said(&files, &deck(false)),
            ["c", "gone", "long-gone", "lost"].map(|id| format!("0 CACG-SKILL-002 {id}"))
        );
    }

    #[test]
    fn a_name_is_taken_once_and_form_comes_first() {
        let (first, second) = (router("n", "a"), router("n", "c"));
        let broken = "---\nname: n\nother: x\n---\n";
        let files = [
            ("cards/one/SKILL.md", "one", first.as_str()),
            ("cards/three/SKILL.md", "three", broken),
            ("cards/two/SKILL.md", "two", second.as_str()),
        ];
        assert_eq!(
            said(&files, &deck(true)),
            [
                "1 CACG-SKILL-003 ---",
                "1 CACG-SKILL-003 other",
                "1 CACG-SKILL-001 n",
                "2 CACG-SKILL-001 n",
            ]
        );
    }
}
