//! Giving back what was retracted, deliberately and with a reason.
//!
//! A card comes back with its file. A source's or chunk's record was deleted from the manifest when
//! it was retracted: its id is given back here, and whatever makes the manifest brings the record.

use std::path::Path;

use kbc_queries::chunk::parse_chunk_id;
use kbc_queries::diagnostic::registry;
use kbc_queries::parse::manifest::CardsManifest;

use crate::record::clock::Clock;

use super::index::{self, Refusals, has};
use super::log::{Action, Kind};
use super::place::{CARDS, CHUNKS};
use super::retract::{self, Done};
use super::{Place, Refusal, Watch, gather};

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The id.
    pub id: &'a str,
    /// Of which kind the thing is, where it was said.
    pub kind: Option<Kind>,
    /// Why.
    pub reason: &'a str,
    /// The folder of cards, as given.
    pub cards: &'a Path,
}

/// What was found under the id.
enum Found {
    Retracted(Kind),
    /// It is there and not retracted.
    Active(Kind),
}

/// Gives something back. Returns of which kind it was and what was done.
pub fn unretract(
    place: &Place,
    request: &Request<'_>,
    clock: Clock,
    watch: Watch<'_>,
) -> Result<(Kind, Done), Refusals> {
    let kind = match find(place, request)? {
        Found::Active(kind) => {
            let done = Done {
                id: request.id.to_owned(),
                known: true,
                ..Done::default()
            };
            return Ok((kind, done));
        }
        Found::Retracted(kind) => kind,
    };
    match kind {
        Kind::Card => {
            let asked = index::Request {
                cards: request.cards,
                allow_empty: false,
                restore: true,
                give_back: Some((request.id, request.reason)),
            };
            let indexed = index::index(place, &asked, clock, watch)?;
            Ok((
                kind,
                Done {
                    id: request.id.to_owned(),
                    known: false,
                    chunks: None,
                    cards: Some(indexed.active),
                    withdrawn: Some(indexed.withdrawn),
                    changed: indexed.changed,
                    notes: indexed.notes,
                    sidecar: indexed.sidecar,
                },
            ))
        }
        Kind::Source | Kind::Chunk => Ok((kind, give(place, request, kind, clock, watch)?)),
    }
}

fn find(place: &Place, request: &Request<'_>) -> Result<Found, Refusal> {
    let id = request.id;
    let cards = place.cards()?;
    let chunks = match place.read(CHUNKS)? {
        Some(_) => Some(retract::chunks_manifest(place)?),
        None => None,
    };
    let is = |list: Option<&Vec<String>>| list.is_some_and(|list| has(list, id));
    let mut retracted = Vec::new();
    let listed = is(cards.as_ref().map(|cards| &cards.retracted_cards));
    if listed || is_tombstoned(place, request, cards.as_ref())? {
        retracted.push(Kind::Card);
    }
    if is(chunks.as_ref().map(|chunks| &chunks.retracted_source_ids)) {
        retracted.push(Kind::Source);
    }
    if is(chunks.as_ref().map(|chunks| &chunks.retracted_chunk_ids)) {
        retracted.push(Kind::Chunk);
    }
    if let Some(kind) = request.kind {
        retracted.retain(|found| *found == kind);
    }
    match retracted.as_slice() {
        [kind] => return Ok(Found::Retracted(*kind)),
        [_, _, ..] => {
            return Err(Refusal::new(
                registry::CLI_001,
                format!("more than one thing with the id {id} is retracted; say which with --kind"),
            ));
        }
        [] => {}
    }
    let chunk_list = chunks.iter().flat_map(|chunks| &chunks.chunks);
    let record = cards
        .iter()
        .flat_map(|cards| &cards.cards)
        .find(|card| card.id == id);
    if let (Some(cards), Some(_)) = (&cards, record)
        && has(&cards.dependency_retracted_cards, id)
    {
        return Err(Refusal::new(
            registry::CLI_001,
            format!(
                "nobody retracted the card {id}: it is withdrawn because of what it rests on; \
                 `kb index` names the reasons, give those back"
            ),
        ));
    }
    let active = match () {
        () if record.is_some() => Some(Kind::Card),
        () if chunk_list.clone().any(|chunk| chunk.chunk_id == id) => Some(Kind::Chunk),
        () if chunk_list.clone().any(|chunk| chunk.source_id == id) => Some(Kind::Source),
        () => None,
    };
    match active {
        Some(kind) if request.kind.is_none_or(|asked| asked == kind) => Ok(Found::Active(kind)),
        _ => Err(Refusal::new(
            registry::CLI_001,
            format!(
                "nothing with the id {id} is retracted in {}/{}",
                place.shown,
                match parse_chunk_id(id) {
                    Some(parts) if is_source(&chunks, parts.source_id) =>
                        format!("; its source {} is, give that back", parts.source_id),
                    _ => format!("; {} and {CHUNKS} list what is", CARDS),
                }
            ),
        )),
    }
}

fn is_source(chunks: &Option<kbc_queries::parse::manifest::ChunksManifest>, source: &str) -> bool {
    chunks
        .as_ref()
        .is_some_and(|chunks| has(&chunks.retracted_source_ids, source))
}

/// Whether the history of a card says that it is retracted although the list does not.
fn is_tombstoned(
    place: &Place,
    request: &Request<'_>,
    cards: Option<&CardsManifest>,
) -> Result<bool, Refusal> {
    let record = cards
        .iter()
        .flat_map(|cards| &cards.cards)
        .find(|card| card.id == request.id);
    match record {
        Some(record) => gather::is_tombstoned(&place.locate(&record.path), &record.path),
        None => Ok(false),
    }
}

/// Takes a source or chunk off the list.
fn give(
    place: &Place,
    request: &Request<'_>,
    kind: Kind,
    clock: Clock,
    watch: Watch<'_>,
) -> Result<Done, Refusal> {
    let mut done = Done {
        id: request.id.to_owned(),
        ..Done::default()
    };
    let _hold = place.hold(&mut |note| done.notes.push(note))?;
    let mut manifest = retract::chunks_manifest(place)?;
    let list = match kind {
        Kind::Source => &mut manifest.retracted_source_ids,
        _ => &mut manifest.retracted_chunk_ids,
    };
    list.retain(|id| id != request.id);
    let has_folder = place.current.join(request.cards).is_dir();
    let asked = retract::Request {
        kind,
        id: request.id,
        reason: Some(request.reason),
        cards: has_folder.then_some(request.cards),
    };
    retract::chunks(
        place,
        &asked,
        manifest,
        Action::Unretract,
        clock,
        watch,
        done,
    )
}
