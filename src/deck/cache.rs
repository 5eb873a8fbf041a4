//! What the last index run saw, so that the next one opens no file whose stamp did not move.
//!
//! A heuristic, as git's index is: a stamp as young as the look at it is not trusted. It only
//! spares `index` work; `verify`, `search` and `show` never read it, and deleting it costs nothing
//! but time.

use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use kbc_queries::deck::plan::DeckCard;
use kbc_queries::system::Fingerprint;

use crate::cache::{decode, directory, encode, prepare_directory};
use crate::publish;
use crate::workspace::door;
use crate::workspace::stamp::Stamp;

use super::Place;
use super::state::Decisions;

/// Version of the format and of everything that is derived from a card. It grows whenever a card
/// could give something else than before.
const VERSION: u32 = 1;

/// A card as it was seen.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Seen {
    /// Its recorded path.
    pub path: Arc<str>,
    /// Its stamp.
    pub stamp: Stamp,
    /// The reading that the project gave it.
    pub reading: Option<Arc<str>>,
    /// What it gave.
    pub card: DeckCard,
    /// Its history's stamp, and whether its last event says that the card is retracted.
    pub history: Option<(Stamp, bool)>,
}

/// All that is remembered.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Memory {
    /// The cards, by path.
    pub cards: Vec<Seen>,
    /// What the chunks manifest with this stamp says was retracted.
    pub decisions: Option<(Stamp, Decisions)>,
}

/// The file of a place.
fn file(place: &Place) -> PathBuf {
    match place.is_projects {
        true => directory(&place.base).join("deck"),
        false => place.out.join(".kb_index_cache"),
    }
}

/// What is remembered at a place, in two parts: the second is taken apart only if it is needed.
pub struct Stored {
    look: Fingerprint,
    bytes: Vec<u8>,
}

const LENGTH: usize = 32;

impl Stored {
    /// Reads it. `None`: there is none, or it is damaged.
    pub fn read(place: &Place) -> Option<Self> {
        let mut bytes = door::read(&file(place), publish::LIMIT).ok()?;
        let memory = bytes.split_off_checked(2 * LENGTH)?;
        let (look, sum) = bytes.split_at_checked(LENGTH)?;
        let stored = Stored {
            look: Fingerprint(look.try_into().ok()?),
            bytes: memory,
        };
        (stored.sum().0[..] == *sum).then_some(stored)
    }

    /// Whether this is what was seen last, with everything as it should be.
    pub fn is(&self, look: Fingerprint) -> bool {
        self.look == look
    }

    /// What was remembered.
    pub fn memory(&self) -> Option<Memory> {
        let (version, memory): (u32, Memory) = decode(&self.bytes)?;
        (version == VERSION).then_some(memory)
    }

    fn sum(&self) -> Fingerprint {
        Fingerprint::combine("kbc deck", [&self.look.0[..], &self.bytes])
    }
}

/// Remembers. `look` is the fingerprint of a look that found nothing to do; `None`: none did. What
/// cannot be written is not remembered.
pub fn write(place: &Place, look: Option<Fingerprint>, memory: &Memory) {
    let Some(bytes) = encode(&(VERSION, memory)) else {
        return;
    };
    let stored = Stored {
        look: look.unwrap_or(Fingerprint([0; LENGTH])),
        bytes,
    };
    let mut all = stored.look.0.to_vec();
    all.extend_from_slice(&stored.sum().0);
    all.extend_from_slice(&stored.bytes);
    if place.is_projects && prepare_directory(&place.base).is_err() {
        return;
    }
    let path = file(place);
    if door::read(&path, publish::LIMIT).is_ok_and(|before| before == all) {
        return;
    }
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(".new");
    let temporary = PathBuf::from(temporary);
    // Whatever has that name, a link or a pipe too, is not written through.
    let _ = fs::remove_file(&temporary);
    let written = File::create_new(&temporary).and_then(|mut file| file.write_all(&all));
    if written
        .and_then(|()| fs::rename(&temporary, &path))
        .is_err()
    {
        let _ = fs::remove_file(&temporary);
    }
}

trait SplitOff: Sized {
    fn split_off_checked(&mut self, at: usize) -> Option<Self>;
}

impl SplitOff for Vec<u8> {
    fn split_off_checked(&mut self, at: usize) -> Option<Self> {
        (self.len() >= at).then(|| self.split_off(at))
    }
}
