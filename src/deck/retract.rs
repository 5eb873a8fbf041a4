//! Retracting a card, a source or a chunk, and what that takes with it.
//!
//! One group changes the lists and everything that follows from them. What is retracted already is
//! left as it is; the cascade is derived anew all the same.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use kbc_queries::chunk::parse_chunk_id;
use kbc_queries::deck::cascade::{Supports, Withdrawn, cascade};
use kbc_queries::deck::plan::supports;
use kbc_queries::diagnostic::registry;
use kbc_queries::emit::index_page::index_page;
use kbc_queries::parse::card;
use kbc_queries::parse::manifest::{
    CardRecord, CardsManifest, ChunksManifest, Summaries, read_chunks, read_sources, read_summaries,
};
use kbc_queries::record::history::Change;

use crate::record::clock::Clock;

use super::gather;
use super::group::Group;
use super::index::{append, has};
use super::log::{self, Action, Entry, Kind};
use super::place::{CARDS, CHUNKS, PAGE, SUMMARIES};
use super::{Place, Refusal, Watch, state};

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Of which kind the thing is.
    pub kind: Kind,
    /// Its id, or for a card the path of its file.
    pub id: &'a str,
    /// Why.
    pub reason: Option<&'a str>,
    /// The folder whose cards the cascade looks at, as given.
    pub cards: Option<&'a Path>,
}

/// What was done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// The id of the thing.
    pub id: String,
    /// It was retracted (or not retracted) before already.
    pub known: bool,
    /// Active chunks that are left; of a chunks manifest.
    pub chunks: Option<usize>,
    /// Active cards that are left; of a cards manifest that was looked at.
    pub cards: Option<usize>,
    /// Cards withdrawn with it and with what was retracted before: id and reasons. `None`: the
    /// cards were not looked at.
    pub withdrawn: Option<Vec<(String, Vec<String>)>>,
    /// Published files that changed.
    pub changed: Vec<String>,
    /// What else there is to say.
    pub notes: Vec<String>,
    /// What went wrong with the search sidecar.
    pub sidecar: Option<Refusal>,
}

/// Retracts something.
pub fn retract(
    place: &Place,
    request: &Request<'_>,
    clock: Clock,
    watch: Watch<'_>,
) -> Result<Done, Refusal> {
    let mut done = Done::default();
    let _hold = place.hold(&mut |note| done.notes.push(note))?;
    match request.kind {
        Kind::Card => card(place, request, clock, watch, done),
        Kind::Source | Kind::Chunk => {
            let manifest = chunks_manifest(place)?;
            let change = take(place, request, manifest, &mut done)?;
            chunks(place, request, change, Action::Retract, clock, watch, done)
        }
    }
}

/// The chunks manifest, which has to be there.
pub fn chunks_manifest(place: &Place) -> Result<ChunksManifest, Refusal> {
    let shown = place.shown(CHUNKS);
    let Some(bytes) = place.read(CHUNKS)? else {
        return Err(Refusal::new(
            registry::CLI_001,
            format!(
                "there is no chunks manifest {shown}; make it with `kb ingest` or `kb build`, or name its folder with --out"
            ),
        ));
    };
    read_chunks(&bytes).map_err(|problem| Refusal::of_manifest(&shown, &problem))
}

fn insert(list: &mut Vec<String>, id: &str) {
    if let Err(at) = list.binary_search_by(|other| other.as_str().cmp(id)) {
        list.insert(at, id.to_owned());
    }
}

/// The manifest without the source or chunk. `None`: it is retracted already.
fn take(
    place: &Place,
    request: &Request<'_>,
    mut manifest: ChunksManifest,
    done: &mut Done,
) -> Result<ChunksManifest, Refusal> {
    let id = request.id;
    done.id = id.to_owned();
    let unknown = |noun: &str| {
        Refusal::new(
            registry::CLI_001,
            format!(
                "{} has no {noun} with the id {id}, active or retracted; look for its id there",
                place.shown(CHUNKS)
            ),
        )
    };
    let before = manifest.chunks.len();
    if request.kind == Kind::Source {
        done.known = has(&manifest.retracted_source_ids, id);
        manifest.chunks.retain(|chunk| chunk.source_id != id);
        let is_source = manifest.chunks.len() < before || is_listed(place, id)?;
        if !done.known && !is_source {
            return Err(unknown("source"));
        }
        insert(&mut manifest.retracted_source_ids, id);
        return Ok(manifest);
    }
    let source = parse_chunk_id(id).map_or("", |parts| parts.source_id);
    if has(&manifest.retracted_source_ids, source) {
        done.known = true;
        done.notes.push(format!(
            "the source {source} of that chunk is retracted as a whole"
        ));
        return Ok(manifest);
    }
    done.known = has(&manifest.retracted_chunk_ids, id);
    manifest.chunks.retain(|chunk| chunk.chunk_id != id);
    if !done.known && manifest.chunks.len() == before {
        return Err(unknown("chunk"));
    }
    insert(&mut manifest.retracted_chunk_ids, id);
    Ok(manifest)
}

/// Whether the sources manifest has a source: all of its chunks may be retracted one by one.
fn is_listed(place: &Place, id: &str) -> Result<bool, Refusal> {
    const NAME: &str = "sources_manifest.json";
    let Some(bytes) = place.read(NAME)? else {
        return Ok(false);
    };
    let manifest = read_sources(&bytes)
        .map_err(|problem| Refusal::of_manifest(&place.shown(NAME), &problem))?;
    Ok(manifest.sources.iter().any(|source| source.source_id == id))
}

/// Publishes a changed chunks manifest with everything that follows from it.
pub(super) fn chunks(
    place: &Place,
    request: &Request<'_>,
    manifest: ChunksManifest,
    action: Action,
    clock: Clock,
    watch: Watch<'_>,
    mut done: Done,
) -> Result<Done, Refusal> {
    done.chunks = Some(manifest.chunks.len());
    let mut group = Group::begin(place, &[CHUNKS])?;
    group.put_json(CHUNKS, &manifest)?;
    // The contract looks at cards only where their folder is named.
    let asked = request.cards.is_some() || !place.contract;
    match place.cards()? {
        Some(cards) if asked => {
            let withdrawn = Withdrawn {
                sources: manifest.retracted_source_ids.into_iter().collect(),
                chunks: manifest.retracted_chunk_ids.into_iter().collect(),
                cards: cards.retracted_cards.iter().cloned().collect(),
            };
            follow(
                place,
                request.cards,
                cards,
                &withdrawn,
                &mut group,
                &mut done,
            )?;
        }
        Some(_) => done.notes.push(format!(
            "{} was not looked at; repeat with --cards-dir to withdraw the cards that depend on it",
            place.shown(CARDS)
        )),
        None => {
            let missing = tombstones(place, request.cards)?;
            if let Some(missing) = missing {
                return Err(missing);
            }
        }
    }
    if !done.known {
        let entry = Entry::new(action, request.kind, request.id).reason(request.reason);
        log::put(&mut group, place, &[entry], clock)?;
    }
    done.changed = group.commit(watch)?;
    Ok(done)
}

/// What is to be said of a missing cards manifest while histories say that cards were retracted.
fn tombstones(place: &Place, cards: Option<&Path>) -> Result<Option<Refusal>, Refusal> {
    let Some(cards) = cards else {
        return Ok(None);
    };
    let folder = crate::workspace::plain(&place.current.join(cards));
    let look = gather::look(place, &folder, cards)?;
    let missing = state::tombstones_without_manifest(place, look.histories);
    Ok(missing.map(Refusal::from))
}

/// Derives the cascade anew and adds what follows from it to the group.
fn follow(
    place: &Place,
    folder: Option<&Path>,
    mut cards: CardsManifest,
    withdrawn: &Withdrawn,
    group: &mut Group<'_>,
    done: &mut Done,
) -> Result<(), Refusal> {
    let members = members(place, folder, &cards.cards, &mut done.notes).map_err(|refusal| {
        Refusal::new(
            registry::RET_003,
            format!(
                "which cards depend on it could not be found out, so nothing was changed: {}",
                refusal.message
            ),
        )
    })?;
    let empty = Supports::default();
    let reasons = cascade(
        cards
            .cards
            .iter()
            .map(|card| (card.id.as_str(), members.get(&card.id).unwrap_or(&empty))),
        withdrawn,
    );
    cards.dependency_retracted_cards = reasons.keys().cloned().collect();
    done.withdrawn = Some(
        reasons
            .into_iter()
            .map(|(id, reasons)| (id, reasons.iter().map(ToString::to_string).collect()))
            .collect(),
    );
    done.cards = Some(cards.cards.len());
    group.put_json(CARDS, &cards)?;
    group.put(PAGE, index_page(&cards.cards).as_bytes())?;
    Ok(())
}

/// What the active cards rest on, by id: as their files say, and as the manifest does.
pub fn members(
    place: &Place,
    folder: Option<&Path>,
    records: &[CardRecord],
    notes: &mut Vec<String>,
) -> Result<HashMap<String, Supports>, Refusal> {
    let mut found: HashMap<String, Supports> = HashMap::new();
    if let Some(shown) = folder {
        let at = crate::workspace::plain(&place.current.join(shown));
        if !at.is_dir() {
            return Err(Refusal::new(
                registry::CLI_001,
                format!(
                    "the cards folder {} is not there or is no folder",
                    shown.display()
                ),
            ));
        }
        for file in gather::look(place, &at, shown)?.files {
            let parsed = card::parse(&gather::read_text(&file.at, &file.path)?);
            if let Some(id) = &parsed.id {
                found.insert(id.value.to_string(), supports(&parsed));
            }
        }
    }
    for record in records {
        if !found.contains_key(&record.id) {
            let text = match place.may_read(&record.path) {
                true => gather::read_text(&place.locate(&record.path), &record.path),
                false => Err(Refusal::new(registry::CLI_001, "it is outside the project")),
            };
            match text {
                Ok(text) => {
                    found.insert(record.id.clone(), supports(&card::parse(&text)));
                }
                Err(refusal) => notes.push(format!(
                    "{}: {}; only what the manifest says of it was looked at",
                    record.path, refusal.message
                )),
            }
        }
        // The manifest may be of another state of the card; both count.
        let supports = found.entry(record.id.clone()).or_default();
        let listed = record.source_ids.iter().map(|id| id.as_str().into());
        let sources: BTreeSet<_> = supports.sources.drain(..).chain(listed).collect();
        supports.sources = sources.into_iter().collect();
    }
    Ok(found)
}

/// Retracts a card: its history ends with a retraction, its id moves, summaries follow.
fn card(
    place: &Place,
    request: &Request<'_>,
    clock: Clock,
    watch: Watch<'_>,
    mut done: Done,
) -> Result<Done, Refusal> {
    let given = place.current.join(request.id);
    let as_file = match given.is_file() {
        true => Some(
            gather::read_card(&given, request.id, None)?
                .1
                .summary
                .id
                .to_string(),
        ),
        false => None,
    };
    let id = as_file.clone().unwrap_or_else(|| request.id.to_owned());
    done.id.clone_from(&id);
    let Some(mut cards) = place.cards()? else {
        let histories = given.parent().map(state::histories_in).unwrap_or_default();
        if let Some(missing) = state::tombstones_without_manifest(place, histories) {
            return Err(missing.into());
        }
        return Err(Refusal::new(
            registry::CLI_001,
            format!(
                "there is no cards manifest {}; make it with `kb index`",
                place.shown(CARDS)
            ),
        ));
    };
    done.known = has(&cards.retracted_cards, &id);
    let record = cards.cards.iter().find(|card| card.id == id).cloned();
    if !done.known && record.is_none() {
        return Err(Refusal::new(
            registry::CLI_001,
            format!(
                "{} has no card {id}; give the id or the path of a card that `kb index` has published",
                place.shown(CARDS)
            ),
        ));
    }
    let mut summaries = summaries(place)?;
    let decisions = state::decisions(place, None)?;
    cards.cards.retain(|card| card.id != id);
    summaries.summaries.retain(|entry| entry.id != id);
    insert(&mut cards.retracted_cards, &id);
    let decisions = decisions
        .map(|(_, decisions)| decisions)
        .unwrap_or_default();
    let withdrawn = Withdrawn {
        sources: decisions.sources,
        chunks: decisions.chunks,
        cards: cards.retracted_cards.iter().cloned().collect(),
    };
    let mut group = Group::begin(place, &[CARDS, SUMMARIES, PAGE])?;
    follow(
        place,
        request.cards,
        cards,
        &withdrawn,
        &mut group,
        &mut done,
    )?;
    done.sidecar = group.put_summaries(&summaries)?;
    let path = match (&record, as_file) {
        (_, Some(_)) => Some(crate::record::paths::recorded(
            Path::new(request.id),
            &place.base,
            &place.current,
        )),
        (Some(record), None) => Some(record.path.clone()),
        (None, None) => None,
    };
    if !done.known {
        let entry = Entry::new(Action::Retract, Kind::Card, &id)
            .reason(request.reason)
            .path(path.as_deref());
        log::put(&mut group, place, &[entry], clock)?;
    }
    let stopped = |refusal: Refusal, back: &str| {
        Refusal::new(
            registry::RET_003,
            format!(
                "the card {id} was not retracted, {back}: {}",
                refusal.message
            ),
        )
    };
    let mut written = None;
    if let Some(path) = &path {
        let at = place.locate(path);
        watch(&format!("history {path}"));
        match at.is_file() && place.may_read(path) {
            true => {
                written = append(&at, path, Change::Retract, clock)
                    .map_err(|refusal| stopped(refusal, "and nothing was changed"))?;
            }
            false => done.notes.push(format!(
                "{path} is gone or outside the project, so its history was not continued; the retraction stands in {}",
                place.shown(CARDS)
            )),
        }
    }
    match group.commit(watch) {
        Ok(changed) => {
            done.changed = changed;
            Ok(done)
        }
        Err(refusal) => {
            let back = match written.map(|(history, written)| history.rollback(&written)) {
                Some(Err(_)) => "though its history says so; repeat the command",
                _ => "and nothing was changed",
            };
            Err(stopped(refusal, back))
        }
    }
}

/// The summaries, which have to be there.
fn summaries(place: &Place) -> Result<Summaries, Refusal> {
    let shown = place.shown(SUMMARIES);
    let Some(bytes) = place.read(SUMMARIES)? else {
        return Err(Refusal::new(
            registry::MAN_001,
            format!("there is no summaries file {shown}; make it with `kb index`"),
        ));
    };
    read_summaries(&bytes).map_err(|problem| Refusal::of_manifest(&shown, &problem))
}
