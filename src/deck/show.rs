//! `kb show`: one card as the manifest knows it (contract §4).

use std::path::{Component, Path};

use kbc_queries::deck::cascade::{Withdrawn, cascade};
use kbc_queries::deck::view::{Status, repr, view};
use kbc_queries::derive::derive_card;
use kbc_queries::diagnostic::registry;
use kbc_queries::parse::card::Card;
use kbc_queries::parse::manifest::CardsManifest;
use kbc_queries::parse::matrix::Matrix;

use crate::record::history::History;
use crate::render::visible;

use super::index::has;
use super::{Place, Refusal, gather, retract, state};

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The card's id.
    pub id: &'a str,
    /// Show a retracted card too.
    pub allow_retracted: bool,
    /// The file to show instead of the one the manifest names.
    pub path: Option<&'a str>,
}

/// A card's view, and what is to be said besides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// The view.
    pub view: String,
    /// Notes, one per line.
    pub notes: Vec<String>,
}

/// Refuses a path that is absolute or leads upward.
pub fn check_path(path: &str) -> Result<(), Refusal> {
    let inside = Path::new(path)
        .components()
        .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    match inside && !path.is_empty() {
        true => Ok(()),
        false => Err(Refusal::new(
            registry::SHOW_003,
            format!(
                "the path {} is absolute or leads upward; give one below the current folder",
                repr(path)
            ),
        )),
    }
}

/// Shows a card; `manifest` is the manifest's name for people. The order of the checks is the
/// contract's.
pub fn show(
    place: &Place,
    manifest: &CardsManifest,
    matrix: &Matrix,
    request: &Request<'_>,
    shown: &str,
) -> Result<Shown, Refusal> {
    let id = request.id;
    let record = manifest.cards.iter().find(|card| card.id == id);
    let listed = has(&manifest.retracted_cards, id);
    let mut notes = Vec::new();
    let path = match (request.path, record) {
        (Some(path), _) if record.is_some() || listed => path,
        (None, Some(record)) => &record.path,
        (None, None) if listed => return Err(retracted_without_path(request, shown)),
        _ => {
            return Err(Refusal::new(
                registry::CLI_001,
                format!(
                    "card {} not found in {shown}; run `kb index` if it is new",
                    repr(id)
                ),
            ));
        }
    };
    if request.path.is_none() && !place.may_read(path) {
        return Err(Refusal::new(
            registry::SHOW_003,
            format!(
                "{shown} says that the card is at {}, which is outside the project; move it, and run `kb index`",
                repr(path)
            ),
        ));
    }
    let at = match request.path {
        Some(path) => place.current.join(path),
        None => place.locate(path),
    };
    let text = gather::read_text(&at, path)?;
    let derived = derive_card(&text);
    let (Some(card), Some(hash)) = (derived.parsed.complete(), derived.hash.as_deref()) else {
        return Err(match derived.parsed.problems.first() {
            Some(problem) => Refusal::of_card(path, problem),
            None => Refusal::new(registry::FM_008, format!("{path} is incomplete")),
        });
    };
    let recorded = match record {
        Some(record) => record.card_hash.clone(),
        None => last_hash(&at, path)?,
    };
    if *card.id != *id || (request.path.is_some() && hash != recorded) {
        return Err(Refusal::new(
            registry::SHOW_002,
            format!(
                "{path} is not the card {} that {shown} records (id {}, card_hash {}); run `kb index` if it was moved or edited",
                repr(id),
                repr(&card.id),
                hash
            ),
        ));
    }
    if hash != recorded {
        notes.push(format!(
            "{path}: {} the card was edited since it was indexed; its hash is now {hash}",
            registry::HASH_002
        ));
    }
    let recorded_path =
        crate::record::paths::recorded(Path::new(path), &place.base, &place.current);
    let reading = place.reading(&recorded_path).map(|reading| &**reading);
    authorise(matrix, &card, reading, path)?;
    let status = match (listed, has(&manifest.dependency_retracted_cards, id)) {
        (true, _) => Some(Status::Retracted),
        (false, true) => Some(Status::DependencyRetracted),
        (false, false) => None,
    };
    if let Some(status) = status
        && !request.allow_retracted
    {
        return Err(refused(place, manifest, id, status));
    }
    Ok(Shown {
        view: view(&card, &recorded, status, |text| {
            visible::line(text).into_owned()
        }),
        notes,
    })
}

/// A retracted card's record is gone from the manifest, and with it the place of its file.
fn retracted_without_path(request: &Request<'_>, shown: &str) -> Refusal {
    match request.allow_retracted {
        false => not_allowed(request.id, Status::Retracted),
        true => Refusal::new(
            registry::CLI_001,
            format!(
                "card {} is retracted, so {shown} no longer says where its file is; name it with --path",
                repr(request.id)
            ),
        ),
    }
}

fn not_allowed(id: &str, status: Status) -> Refusal {
    Refusal::new(
        registry::SHOW_001,
        format!(
            "card {} is {} and `--allow-retracted` was not supplied",
            repr(id),
            status.as_str()
        ),
    )
}

/// The contract's sentence; in a strict project also the reasons.
fn refused(place: &Place, manifest: &CardsManifest, id: &str, status: Status) -> Refusal {
    let mut refusal = not_allowed(id, status);
    if !place.contract && status == Status::DependencyRetracted {
        for reason in reasons(place, manifest, id) {
            refusal.message.push_str(&format!("; {reason}"));
        }
    }
    refusal
}

/// Why a card is withdrawn, derived anew from the cards and the manifests.
pub fn reasons(place: &Place, manifest: &CardsManifest, id: &str) -> Vec<String> {
    let decisions = state::decisions(place, None).ok().flatten();
    let decisions = decisions
        .map(|(_, decisions)| decisions)
        .unwrap_or_default();
    let withdrawn = Withdrawn {
        sources: decisions.sources,
        chunks: decisions.chunks,
        cards: manifest.retracted_cards.iter().cloned().collect(),
    };
    let members = retract::members(place, None, &manifest.cards, &mut Vec::new());
    let members = members.unwrap_or_default();
    cascade(
        members.iter().map(|(id, supports)| (id.as_str(), supports)),
        &withdrawn,
    )
    .remove(id)
    .into_iter()
    .flatten()
    .map(|reason| reason.to_string())
    .collect()
}

fn last_hash(at: &Path, shown: &str) -> Result<String, Refusal> {
    let last = History::of_card(at, shown)
        .last()
        .map_err(|error| Refusal::from(error.diagnostic()))?;
    Ok(last.map_or_else(String::new, |last| last.event.new_card_hash.to_string()))
}

/// Whether the card's reading may cite its sources.
fn authorise(
    matrix: &Matrix,
    card: &Card,
    reading: Option<&str>,
    path: &str,
) -> Result<(), Refusal> {
    let reading = reading.unwrap_or(&card.reading_id);
    let Some(allowed) = matrix.allowed(reading) else {
        return Err(Refusal::new(
            registry::AUTH_001,
            format!(
                "{path}: reading {} is not in the source matrix; add it there",
                repr(reading)
            ),
        ));
    };
    let foreign = card
        .citations
        .iter()
        .find(|citation| !allowed.iter().any(|id| *id == *citation.source_id));
    match foreign {
        None => Ok(()),
        Some(citation) => Err(Refusal::new(
            registry::AUTH_002,
            format!(
                "{path}: reading {} may not cite source {}; add it to the reading's list in the source matrix",
                repr(reading),
                repr(&citation.source_id)
            ),
        )),
    }
}
