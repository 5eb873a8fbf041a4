//! What people decided, as it stands in `out/` and in the histories of cards.

use std::collections::BTreeSet;
use std::fs;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use kbc_queries::diagnostic::{Diagnostic, registry};
use kbc_queries::parse::manifest;

use crate::publish;
use crate::record::history::{History, card_path};
use crate::record::paths::recorded;
use crate::workspace::door;
use crate::workspace::stamp::Stamp;

use super::place::{CARDS, CHUNKS};
use super::{Place, Refusal};

/// What a chunks manifest says was retracted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decisions {
    /// Ids of sources.
    pub sources: BTreeSet<String>,
    /// Ids of chunks.
    pub chunks: BTreeSet<String>,
}

/// The stamp of a published file.
pub fn stamp(place: &Place, name: &str) -> Option<Stamp> {
    let path = publish::current(&place.out, name);
    fs::symlink_metadata(path).ok().as_ref().map(Stamp::of)
}

/// What the chunks manifest says was retracted, by way of what is remembered of the one with that
/// stamp. `None`: there is no chunks manifest, so nobody knows.
pub fn decisions(
    place: &Place,
    remembered: Option<&(Stamp, Decisions)>,
) -> Result<Option<(Stamp, Decisions)>, Refusal> {
    let Some(stamp) = stamp(place, CHUNKS) else {
        return Ok(None);
    };
    if let Some((known, decisions)) = remembered
        && *known == stamp
    {
        return Ok(Some((stamp, decisions.clone())));
    }
    // The manifest may be larger than memory should be asked for.
    let file = door::open(&publish::current(&place.out, CHUNKS), door::STREAM_LIMIT);
    let scanned = file
        .ok()
        .and_then(|file| manifest::scan_retractions(BufReader::with_capacity(1 << 20, file)));
    let found = match scanned {
        Some(found) => found,
        None => {
            let bytes = place.read(CHUNKS)?.unwrap_or_default();
            manifest::read_retractions(&bytes)
                .map_err(|problem| Refusal::of_manifest(&place.shown(CHUNKS), &problem))?
        }
    };
    let decisions = Decisions {
        sources: found.source_ids.into_iter().collect(),
        chunks: found.chunk_ids.into_iter().collect(),
    };
    Ok(Some((stamp, decisions)))
}

/// The histories directly in a folder, sorted.
pub fn histories_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| {
            let name = path.file_name().and_then(|name| name.to_str());
            name.is_some_and(|name| name.ends_with(".history.jsonl"))
        })
        .collect();
    found.sort();
    found
}

/// What is to be said when the cards manifest is gone while histories say that cards were
/// retracted: without it they would count as active. `None`: the manifest is there, or no history
/// says so. A history whose end cannot be read is what is to be said: nobody knows.
pub fn tombstones_without_manifest(
    place: &Place,
    histories: impl IntoIterator<Item = PathBuf>,
) -> Option<Diagnostic> {
    if publish::current(&place.out, CARDS).exists() {
        return None;
    }
    let mut tombstoned: Vec<String> = Vec::new();
    for path in histories {
        let card = card_path(&path);
        let card = recorded(&card, &place.base, &place.current);
        match History::of_card(&path, &card).is_tombstoned() {
            Ok(false) => {}
            Ok(true) => tombstoned.push(card),
            Err(error) => return Some(error.diagnostic()),
        }
    }
    let first = tombstoned.first()?;
    let others = match tombstoned.len() - 1 {
        0 => String::new(),
        1 => " and of 1 other card".to_owned(),
        more => format!(" and of {more} other cards"),
    };
    let message = format!(
        "the cards manifest is missing, and the history of {first}{others} says that it was retracted"
    );
    Some(
        Diagnostic::new(registry::MAN_001, message)
            .in_file(place.shown(CARDS))
            .help(
                "restore the manifest from version control, or make it anew from the histories \
                 with `kb index --restore-retractions`",
            ),
    )
}
