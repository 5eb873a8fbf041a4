//! All cards below a folder: found, and read where the last run's memory does not have them.
//!
//! Every `*.md` is a card, except routers (`SKILL.md`) and pages about the folder (`README.md`).
//! Links are not followed and not read. A folder that cannot be read is an error: what is missing
//! may not be gone.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use rayon::prelude::*;

use kbc_queries::CARD_LIMIT;
use kbc_queries::deck::plan::DeckCard;
use kbc_queries::derive::derive_card;
use kbc_queries::diagnostic::registry;
use kbc_queries::system::Fingerprint;

use crate::record::history::{History, history_path};
use crate::record::paths::recorded;
use crate::workspace::door;
use crate::workspace::stamp::Stamp;

use super::cache::{Memory, Seen};
use super::{Place, Refusal};

/// Files of this name are no cards.
const NO_CARDS: [&str; 2] = ["SKILL.md", "README.md"];

/// A card's file.
#[derive(Clone, Debug)]
pub struct CardFile {
    /// Where it is.
    pub at: PathBuf,
    /// How manifests call it.
    pub path: Arc<str>,
    /// Its stamp.
    pub stamp: Stamp,
    /// The stamp of its history, if it has one.
    pub history: Option<Stamp>,
}

/// A look at a folder of cards.
pub struct Look {
    /// The cards, by recorded path.
    pub files: Vec<CardFile>,
    /// Histories, of these cards and of cards that are gone.
    pub histories: Vec<PathBuf>,
    /// What an interrupted run left beside cards.
    pub leftovers: Vec<PathBuf>,
    /// When the look began.
    pub at: SystemTime,
}

/// Looks at the folder `cards`; messages call it `shown`.
pub fn look(place: &Place, cards: &Path, shown: &Path) -> Result<Look, Refusal> {
    let at = SystemTime::now();
    let mut found = Vec::new();
    let mut histories = Vec::new();
    let mut leftovers = Vec::new();
    let mut open = vec![(cards.to_path_buf(), shown.to_path_buf())];
    while let Some((folder, shown)) = open.pop() {
        let wrong = |error: io::Error| {
            let doing = format!("the folder {} cannot be read", shown.display());
            Refusal::io(registry::CLI_001, &doing, &error)
        };
        for entry in fs::read_dir(&folder).map_err(wrong)? {
            let entry = entry.map_err(wrong)?;
            let kind = entry.file_type().map_err(wrong)?;
            let name = entry.file_name();
            let Some(name) = name.to_str() else {
                continue;
            };
            if kind.is_dir() {
                let inner = folder.join(name);
                if inner != place.out && name != ".kb" {
                    open.push((inner, shown.join(name)));
                }
            } else if kind.is_file() && name.ends_with(".history.jsonl") {
                histories.push(folder.join(name));
            } else if kind.is_file() && super::rewrite::is_leftover(name) {
                leftovers.push(folder.join(name));
            } else if kind.is_file() && name.ends_with(".md") && !NO_CARDS.contains(&name) {
                found.push((folder.join(name), shown.join(name)));
            }
        }
    }
    histories.sort();
    let files: Result<Vec<CardFile>, Refusal> = found
        .into_par_iter()
        .map(|(at, shown)| {
            let metadata = fs::symlink_metadata(&at).map_err(|error| {
                let doing = format!("{} cannot be read", shown.display());
                Refusal::io(registry::CLI_001, &doing, &error)
            })?;
            let history = history_path(&at);
            let history = match histories.binary_search(&history) {
                Ok(_) => fs::symlink_metadata(&history).ok(),
                Err(_) => None,
            };
            Ok(CardFile {
                path: recorded(&shown, &place.base, &place.current).into(),
                stamp: Stamp::of(&metadata),
                history: history.as_ref().map(Stamp::of),
                at,
            })
        })
        .collect();
    let mut files = files?;
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(Look {
        files,
        histories,
        leftovers,
        at,
    })
}

impl Look {
    /// The fingerprint of everything seen, with the stamps of `others`. `None`: a stamp is too
    /// young to prove anything.
    pub fn fingerprint(&self, place: &Place, others: &[Option<Stamp>]) -> Option<Fingerprint> {
        let stamps = self.files.iter().flat_map(|file| {
            let history = file.history.iter();
            std::iter::once(&file.stamp).chain(history)
        });
        let now = SystemTime::now();
        if stamps
            .chain(others.iter().flatten())
            .any(|stamp| stamp.is_racy(now))
        {
            return None;
        }
        let seen: Vec<_> = self
            .files
            .iter()
            .map(|file| {
                (
                    &*file.path,
                    file.stamp,
                    file.history,
                    place.reading(&file.path),
                )
            })
            .collect();
        let all = (env!("CARGO_PKG_VERSION"), seen, others);
        let bytes = crate::cache::encode(&all)?;
        Some(Fingerprint::combine("kbc deck look", [bytes.as_slice()]))
    }
}

/// A card that was read.
#[derive(Clone, Debug)]
pub struct Gathered {
    /// Its file.
    pub file: CardFile,
    /// What it gives.
    pub card: DeckCard,
    /// The last event of its history says that it is retracted.
    pub tombstone: bool,
}

/// Reads the cards of a look, or takes them from memory.
///
/// # Errors
/// What is wrong with each card that is no card, and with each history whose end cannot be read.
pub fn read(place: &Place, look: &Look, memory: Memory) -> Result<Vec<Gathered>, Vec<Refusal>> {
    let mut known: HashMap<Arc<str>, Seen> = memory
        .cards
        .into_iter()
        .map(|seen| (seen.path.clone(), seen))
        .collect();
    let work: Vec<(&CardFile, Option<Seen>)> = look
        .files
        .iter()
        .map(|file| (file, known.remove(&file.path)))
        .collect();
    let read: Vec<Result<Gathered, Refusal>> = work
        .into_par_iter()
        .map(|(file, known)| {
            let reading = place.reading(&file.path);
            let history = known.as_ref().and_then(|known| known.history);
            let tombstone = match (file.history, history) {
                (None, _) => false,
                (Some(stamp), Some((known, tombstone)))
                    if stamp == known && !stamp.is_racy(look.at) =>
                {
                    tombstone
                }
                _ => is_tombstoned(&file.at, &file.path)?,
            };
            let fresh = known.filter(|known| {
                known.stamp == file.stamp
                    && !file.stamp.is_racy(look.at)
                    && known.reading.as_ref() == reading
            });
            let card = match fresh {
                Some(known) => known.card,
                None => read_card(&file.at, &file.path, reading.map(|reading| &**reading))?.1,
            };
            Ok(Gathered {
                file: file.clone(),
                card,
                tombstone,
            })
        })
        .collect();
    let mut cards = Vec::with_capacity(read.len());
    let mut refusals = Vec::new();
    for card in read {
        match card {
            Ok(card) => cards.push(card),
            Err(refusal) => refusals.push(refusal),
        }
    }
    match refusals.is_empty() {
        true => Ok(cards),
        false => Err(refusals),
    }
}

/// Whether a card's history ends with a retraction.
pub fn is_tombstoned(card: &Path, shown: &str) -> Result<bool, Refusal> {
    let history = History::of_card(card, shown);
    history
        .is_tombstoned()
        .map_err(|error| Refusal::from(error.diagnostic()))
}

/// The text of a card's file.
pub fn read_text(at: &Path, shown: &str) -> Result<String, Refusal> {
    let refuse = |reason: String| Refusal {
        code: registry::CLI_001,
        file: Some(shown.to_owned()),
        message: format!("the card cannot be read: {reason}"),
    };
    let bytes = door::read(at, CARD_LIMIT).map_err(|failure| refuse(failure.to_string()))?;
    String::from_utf8(bytes).map_err(|_| refuse("it is not UTF-8 text".to_owned()))
}

/// A card's file: its text and what it gives.
///
/// # Errors
/// The first thing that is wrong with it.
pub fn read_card(
    at: &Path,
    shown: &str,
    reading: Option<&str>,
) -> Result<(String, DeckCard), Refusal> {
    let text = read_text(at, shown)?;
    let derived = derive_card(&text);
    match (
        DeckCard::of(&derived, reading),
        derived.parsed.problems.first(),
    ) {
        (Some(card), _) => Ok((text, card)),
        (None, Some(problem)) => Err(Refusal::of_card(shown, problem)),
        (None, None) => Err(Refusal {
            code: registry::FM_008,
            file: Some(shown.to_owned()),
            message: "the card is incomplete".to_owned(),
        }),
    }
}
