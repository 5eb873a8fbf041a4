//! What guides a reader through the cards: routers beside them, and role maps in `out/`.
//!
//! They are few and small, and are read anew for every report: nothing of them is kept, so nothing
//! of them can be stale. What is wrong with one is decided in `kbc_queries::check`.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use kbc_queries::CARD_LIMIT;
use kbc_queries::check::finding::Finding;
use kbc_queries::check::{role, skill};
use kbc_queries::diagnostic::{Code, Diagnostic, registry};
use kbc_queries::parse::role_map::{self, ParsedRoleMap};
use kbc_queries::parse::skill::Router;
use kbc_queries::system::System;
use kbc_queries::text::lines::LineIndex;

use crate::workspace::discover::glob;

use super::Session;

/// The folder of role maps, in `out/`.
const ROLE_MAPS: &str = "role_maps";

/// What routers and role maps say.
#[derive(Debug, Default)]
pub struct Guides {
    /// What is wrong with them: routers first, then role maps, each by path.
    pub diagnostics: Vec<Diagnostic>,
    /// Ids that some role map names.
    pub referenced: BTreeSet<String>,
}

/// A file that was read.
struct Text {
    path: Arc<str>,
    text: String,
}

impl Session {
    /// Checks routers and role maps against the cards as of the last look.
    pub fn guides(&self) -> Guides {
        let listed = super::given::has_listed_cards(&self.project, &self.options);
        self.guides_of(!listed && self.options.only.is_none())
    }

    /// The same, told whether the cards that were looked at are all there are. If they are not, an
    /// id that is none of theirs may well be another card's.
    pub fn guides_of(&self, whole_deck: bool) -> Guides {
        let mut guides = Guides::default();
        let routers = self.read_guides(&self.routers, registry::SKILL_003, &mut guides);
        let maps = self.read_guides(&self.role_map_paths(), registry::ROLE_003, &mut guides);
        if routers.is_empty() && maps.is_empty() {
            return guides;
        }
        let cards = self.cards.values().filter_map(|state| {
            let entry = state.entry.as_ref()?;
            Some((&*entry.id.as_ref()?.id, entry.reading.as_deref()))
        });
        let retracted = &self.context.published.retracted_cards;
        let complete = whole_deck && self.cards.values().all(|state| state.entry.is_some());
        let deck = skill::Deck::new(cards, retracted.iter().map(String::as_str), complete);

        let parsed: Vec<(Router, String)> = routers
            .iter()
            .map(|file| {
                let router = kbc_queries::parse::skill::parse(&file.text);
                (router, self.reading_of_folder(&file.path))
            })
            .collect();
        let files: Vec<skill::RouterFile<'_>> = routers
            .iter()
            .zip(&parsed)
            .map(|(file, (router, reading))| skill::RouterFile {
                path: &file.path,
                reading,
                router,
            })
            .collect();
        place(&routers, skill::check(&files, &deck), &mut guides);

        let parsed: Vec<ParsedRoleMap> = maps
            .iter()
            .map(|file| role_map::parse(&file.text))
            .collect();
        for map in &parsed {
            let ids = map.card_ids.iter().map(|id| id.value.to_string());
            guides.referenced.extend(ids);
        }
        let files: Vec<role::RoleMapFile<'_>> = maps
            .iter()
            .zip(&parsed)
            .map(|(file, map)| role::RoleMapFile {
                path: &file.path,
                map,
            })
            .collect();
        place(&maps, role::check(&files, &deck), &mut guides);
        guides
    }

    /// The reading whose folder a router stands in: what kb.toml gives the folder, else its name.
    fn reading_of_folder(&self, path: &str) -> String {
        let readings = &self.project.settings.readings;
        let given = readings.iter().rev().find(|(pattern, _)| {
            glob(pattern).is_ok_and(|glob| glob.compile_matcher().is_match(path))
        });
        match given {
            Some((_, reading)) => reading.to_string(),
            None => path.rsplit('/').nth(1).unwrap_or_default().to_owned(),
        }
    }

    /// The role maps there are, by path: in `out/`, or beside an explicit chunks manifest.
    fn role_map_paths(&self) -> Vec<Arc<str>> {
        let folder = match &self.options.chunks_manifest {
            Some(path) => self.shown(&path.with_file_name(ROLE_MAPS)),
            None => format!("{}/{ROLE_MAPS}", self.project.settings.out),
        };
        let Ok(entries) = std::fs::read_dir(self.disk.locate(&folder)) else {
            return Vec::new();
        };
        let mut paths: Vec<Arc<str>> = entries
            .flatten()
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter(|name| {
                Path::new(name)
                    .extension()
                    .is_some_and(|kind| kind == "json")
            })
            .map(|name| format!("{folder}/{name}").into())
            .collect();
        paths.sort();
        paths
    }

    /// Reads files; one that cannot be read has the finding `code`.
    fn read_guides(&self, paths: &[Arc<str>], code: Code, guides: &mut Guides) -> Vec<Text> {
        let mut texts = Vec::with_capacity(paths.len());
        for path in paths {
            let read = self.disk.read(path, CARD_LIMIT);
            let text = read
                .map_err(|failure| failure.to_string())
                .and_then(|bytes| {
                    String::from_utf8(bytes.to_vec()).map_err(|_| "it is not UTF-8 text".to_owned())
                });
            match text {
                Ok(text) => texts.push(Text {
                    path: path.clone(),
                    text,
                }),
                Err(why) => guides.diagnostics.push(
                    Diagnostic::new(code, format!("the file cannot be read: {why}"))
                        .in_file(path.clone())
                        .help("make it readable, or take it away"),
                ),
            }
        }
        texts
    }
}

/// Gives findings their places.
fn place(texts: &[Text], findings: Vec<(usize, Finding)>, guides: &mut Guides) {
    let mut lines: Option<(usize, LineIndex)> = None;
    for (index, finding) in findings {
        let Some(file) = texts.get(index) else {
            continue;
        };
        if lines.as_ref().is_none_or(|(known, _)| *known != index) {
            lines = Some((index, LineIndex::new(&file.text)));
        }
        if let Some((_, lines)) = &lines {
            let placed = finding.place(&file.path, 0, lines, &file.text);
            guides.diagnostics.push(placed);
        }
    }
}
