//! `kb index`: the deck's manifests anew, its histories continued, its hashes recorded.
//!
//! Nothing is verified here: a card's hash says which text it is of, not that it is right.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use rayon::prelude::*;

use kbc_queries::deck::cascade::Withdrawn;
use kbc_queries::deck::plan::{Plan, duplicates, plan};
use kbc_queries::diagnostic::registry;
use kbc_queries::parse::card;
use kbc_queries::parse::manifest::CardsManifest;
use kbc_queries::record::history::Change;

use crate::record::clock::Clock;
use crate::record::history::{History, Version, Written};
use crate::workspace::plain;
use crate::workspace::stamp::Stamp;

use super::cache::{self, Memory, Seen, Stored};
use super::gather::{self, Gathered, Look};
use super::group::Group;
use super::place::{CARDS, CHUNKS, PAGE, SIDECAR, SUMMARIES};
use super::state::{self, Decisions};
use super::{Place, Refusal, Watch, log, rewrite};

/// What is asked for.
pub struct Request<'a> {
    /// The folder of cards, as given.
    pub cards: &'a Path,
    /// Publish no card although cards were published before.
    pub allow_empty: bool,
    /// Take retractions from the histories when the manifest that listed them is gone.
    pub restore: bool,
    /// The card whose retraction is taken back, and why.
    pub give_back: Option<(&'a str, &'a str)>,
}

/// What was done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// Names of the published files that changed.
    pub changed: Vec<String>,
    /// Cards whose hash was recorded.
    pub stamped: usize,
    /// What else there is to say, line by line.
    pub notes: Vec<String>,
    /// What went wrong with the search sidecar.
    pub sidecar: Option<Refusal>,
    /// Cards withdrawn though nobody retracted them: id and reasons.
    pub withdrawn: Vec<(String, Vec<String>)>,
    /// Cards that are published as active.
    pub active: usize,
}

/// Why nothing was done; at least one.
pub type Refusals = Vec<Refusal>;

/// Runs it. The place is held meanwhile.
pub fn index(
    place: &Place,
    request: &Request<'_>,
    clock: Clock,
    watch: Watch<'_>,
) -> Result<Done, Refusals> {
    let folder = plain(&place.current.join(request.cards));
    check_folders(place, &folder, request.cards)?;
    let mut done = Done::default();
    let _hold = place.hold(&mut |note| done.notes.push(note))?;
    let look = gather::look(place, &folder, request.cards)?;
    let stored = Stored::read(place);
    let quiet = request.give_back.is_none();
    if quiet
        && let Some(stored) = &stored
        && let Some(now) = look.fingerprint(place, &outputs(place))
        && stored.is(now)
    {
        return Ok(done);
    }
    let memory = stored
        .and_then(|stored| stored.memory())
        .unwrap_or_default();
    let run = Run {
        place,
        request,
        clock,
        watch,
    };
    run.all(look, memory, done)
}

/// The stamps of what is published, and of what it depends on besides the cards.
fn outputs(place: &Place) -> Vec<Option<Stamp>> {
    [
        CARDS,
        SUMMARIES,
        PAGE,
        SIDECAR,
        CHUNKS,
        crate::publish::LAST,
    ]
    .iter()
    .map(|name| state::stamp(place, name))
    .collect()
}

fn check_folders(place: &Place, folder: &Path, shown: &Path) -> Result<(), Refusal> {
    if !folder.is_dir() {
        return Err(Refusal::new(
            registry::CLI_001,
            format!(
                "the cards folder {} is not there or is no folder; name the folder of the cards",
                shown.display()
            ),
        ));
    }
    // A folder may have two names, by a link.
    let real = |path: &Path| {
        let there = path.ancestors().find(|ancestor| ancestor.exists());
        let rest = there.and_then(|there| path.strip_prefix(there).ok());
        match (there.and_then(|there| there.canonicalize().ok()), rest) {
            (Some(there), Some(rest)) => there.join(rest),
            _ => path.to_path_buf(),
        }
    };
    if place.out.starts_with(folder) || real(&place.out).starts_with(real(folder)) {
        return Err(Refusal::new(
            registry::IDX_005,
            format!(
                "the output folder {} is the cards folder {} or lies inside it; choose a folder beside it",
                place.shown,
                shown.display()
            ),
        ));
    }
    Ok(())
}

struct Run<'a> {
    place: &'a Place,
    request: &'a Request<'a>,
    clock: Clock,
    watch: Watch<'a>,
}

/// A card whose hash is to be recorded.
struct Pending<'a> {
    card: &'a Gathered,
    before: String,
    after: String,
    model: card::Card,
}

/// What was done to a card and can be taken back.
enum Undo<'a> {
    Event(History, Written),
    Text(&'a Pending<'a>),
}

impl Run<'_> {
    fn all(&self, look: Look, memory: Memory, mut done: Done) -> Result<Done, Refusals> {
        let place = self.place;
        let manifest = place.cards()?;
        if manifest.is_none()
            && !self.request.restore
            && let Some(missing) =
                state::tombstones_without_manifest(place, look.histories.iter().cloned())
        {
            return Err(vec![missing.into()]);
        }
        let decisions = state::decisions(place, memory.decisions.as_ref())?;
        let cards = gather::read(place, &look, memory)?;
        self.check_empty(&cards, manifest.as_ref())?;
        let ids = cards.iter().map(|card| (&*card.file.path, &card.card));
        let twice: Refusals = duplicates(ids)
            .iter()
            .map(|twice| {
                Refusal::new(
                    registry::CARDS_001,
                    format!(
                        "two cards have the id {}: {} and {}; give one of them another",
                        twice.id, twice.first, twice.second
                    ),
                )
            })
            .collect();
        if !twice.is_empty() {
            return Err(twice);
        }
        let given_back = self.request.give_back.map(|(id, _)| id);
        let withdrawn = withdrawn(manifest.as_ref(), decisions.as_ref(), &cards, given_back);
        if let Some(manifest) = &manifest {
            let lost = cards.iter().filter(|card| {
                let id = &*card.card.summary.id;
                card.tombstone && given_back != Some(id) && !has(&manifest.retracted_cards, id)
            });
            done.notes.extend(lost.map(|card| {
                format!(
                    "the history of {} says that the card is retracted, and {} did not: it is retracted",
                    card.file.path,
                    place.shown(CARDS)
                )
            }));
        }
        if let Some(id) = given_back
            && !cards.iter().any(|card| &*card.card.summary.id == id)
        {
            return Err(vec![Refusal::new(
                registry::CLI_001,
                format!(
                    "no card below {} has the id {id}; name the folder where its file is with --cards-dir",
                    self.request.cards.display()
                ),
            )]);
        }
        let kept = match (&decisions, &manifest) {
            (None, Some(manifest)) => manifest
                .dependency_retracted_cards
                .iter()
                .cloned()
                .collect(),
            _ => BTreeSet::new(),
        };
        let plan = plan(
            cards.iter().map(|card| (&*card.file.path, &card.card)),
            &withdrawn,
            &kept,
        );
        done.active = plan.manifest.cards.len();
        done.withdrawn = plan
            .reasons
            .iter()
            .map(|(id, reasons)| {
                (
                    id.clone(),
                    reasons.iter().map(ToString::to_string).collect(),
                )
            })
            .collect();
        let changes = self.changes(&cards, &withdrawn)?;
        done.stamped = changes.len();
        self.write(&plan, &withdrawn, &cards, &changes, &mut done)?;
        rewrite::clear(&look.leftovers);
        self.remember(&look, &cards, decisions, &changes, &done);
        Ok(done)
    }

    fn check_empty(
        &self,
        cards: &[Gathered],
        manifest: Option<&CardsManifest>,
    ) -> Result<(), Refusal> {
        let before = manifest.map_or(0, |manifest| manifest.cards.len());
        if !cards.is_empty() || before == 0 || self.request.allow_empty {
            return Ok(());
        }
        Err(Refusal::new(
            registry::CLI_001,
            format!(
                "there is no card below {}, and {} are published; name another folder, or pass \
                 --allow-empty if they are all gone",
                self.request.cards.display(),
                match before {
                    1 => "1 card".to_owned(),
                    more => format!("{more} cards"),
                }
            ),
        ))
    }

    /// The cards that do not hold their hash, with the texts that do; their histories are sound.
    fn changes<'c>(
        &self,
        cards: &'c [Gathered],
        withdrawn: &Withdrawn,
    ) -> Result<Vec<Pending<'c>>, Refusals> {
        let prepared: Vec<Result<Pending<'c>, Refusal>> = cards
            .par_iter()
            .filter(|card| {
                !card.card.is_stamped() && !withdrawn.cards.contains(&*card.card.summary.id)
            })
            .map(|card| self.change(card))
            .collect();
        let mut changes = Vec::with_capacity(prepared.len());
        let mut refusals = Vec::new();
        for change in prepared {
            match change {
                Ok(change) => changes.push(change),
                Err(refusal) => refusals.push(refusal),
            }
        }
        match refusals.is_empty() {
            true => Ok(changes),
            false => Err(refusals),
        }
    }

    fn change<'c>(&self, card: &'c Gathered) -> Result<Pending<'c>, Refusal> {
        let (at, shown) = (&card.file.at, &*card.file.path);
        let hash = &*card.card.summary.card_hash;
        rewrite::no_sidecars(at, shown)?;
        let before = gather::read_text(at, shown)?;
        let cannot = |reason: &str| {
            Refusal::new(
                registry::IDX_004,
                format!("the hash of {shown} cannot be recorded: {reason}"),
            )
        };
        let after = rewrite::stamped(&before, hash)
            .ok_or_else(|| cannot("it changed in the meantime, or its frontmatter has no room for a line; run the command again"))?;
        let model = card::parse(&before).complete();
        let model = model.ok_or_else(|| cannot("it changed in the meantime"))?;
        History::of_card(at, shown)
            .validate()
            .map_err(|error| Refusal::from(error.diagnostic()))?;
        Ok(Pending {
            card,
            before,
            after,
            model,
        })
    }

    /// Histories and hashes first, then the group; on any failure everything is taken back.
    fn write(
        &self,
        plan: &Plan,
        withdrawn: &Withdrawn,
        cards: &[Gathered],
        changes: &[Pending<'_>],
        done: &mut Done,
    ) -> Result<(), Refusal> {
        let mut group = Group::begin(self.place, &[CARDS, SUMMARIES, PAGE])?;
        group.put_json(CARDS, &plan.manifest)?;
        done.sidecar = group.put_summaries(&plan.summaries)?;
        group.put(PAGE, plan.page.as_bytes())?;
        if let Some((id, reason)) = self.request.give_back {
            let path = cards
                .iter()
                .find(|card| &*card.card.summary.id == id)
                .map(|card| &*card.file.path);
            let entry = log::Entry::new(log::Action::Unretract, log::Kind::Card, id)
                .reason(Some(reason))
                .path(path);
            log::put(&mut group, self.place, &[entry], self.clock)?;
        }
        let undo: Mutex<Vec<Undo<'_>>> = Mutex::new(Vec::new());
        let written: Result<(), Refusal> = changes
            .par_iter()
            .try_for_each(|change| self.write_card(change, &undo))
            .and_then(|()| self.complete_histories(cards, withdrawn, &undo, done));
        let committed = match written {
            Ok(()) => group.commit(self.watch),
            Err(refusal) => {
                drop(group);
                Err(refusal)
            }
        };
        match committed {
            Ok(changed) => {
                done.changed = changed;
                Ok(())
            }
            Err(refusal) => {
                let undo = undo
                    .into_inner()
                    .unwrap_or_else(|poisoned| poisoned.into_inner());
                Err(take_back(undo, refusal))
            }
        }
    }

    fn write_card<'c>(
        &self,
        change: &'c Pending<'c>,
        undo: &Mutex<Vec<Undo<'c>>>,
    ) -> Result<(), Refusal> {
        let remember = |step: Undo<'c>| {
            let mut steps = undo.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            steps.push(step);
        };
        let (at, shown) = (&change.card.file.at, &*change.card.file.path);
        let summary = &change.card.card;
        let history = History::of_card(at, shown);
        let digest = |hex: &str| hex.parse().ok();
        let version = Version {
            card: &change.model,
            hash: digest(&summary.summary.card_hash).unwrap_or_default(),
            carried: summary.stored_hash.as_deref().and_then(digest),
            change: Change::Content,
        };
        (self.watch)(&format!("history {shown}"));
        let appended = history
            .append(&version, self.clock)
            .map_err(|error| Refusal::from(error.diagnostic()))?;
        if let Some(written) = appended {
            remember(Undo::Event(history, written));
        }
        (self.watch)(&format!("card {shown}"));
        rewrite::replace(at, &change.before, &change.after).map_err(|error| {
            Refusal::new(
                registry::IDX_004,
                format!("the hash of {shown} was not recorded: {error}"),
            )
        })?;
        remember(Undo::Text(change));
        Ok(())
    }

    /// Retractions that only the list says get their event, and the one that is taken back its own.
    fn complete_histories(
        &self,
        cards: &[Gathered],
        withdrawn: &Withdrawn,
        undo: &Mutex<Vec<Undo<'_>>>,
        done: &mut Done,
    ) -> Result<(), Refusal> {
        let given_back = self.request.give_back.map(|(id, _)| id);
        for card in cards {
            let id = &*card.card.summary.id;
            let retracted = withdrawn.cards.contains(id);
            let change = match (retracted, card.tombstone) {
                (true, false) => Change::Retract,
                (false, true) if given_back == Some(id) => Change::Unretract,
                _ => continue,
            };
            (self.watch)(&format!("history {}", card.file.path));
            let appended = append(&card.file.at, &card.file.path, change, self.clock)?;
            if let Some((history, written)) = appended {
                let mut steps = undo.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                steps.push(Undo::Event(history, written));
            }
            if change == Change::Retract {
                done.notes.push(format!(
                    "the history of {} now says that the card is retracted",
                    card.file.path
                ));
            }
        }
        Ok(())
    }

    fn remember(
        &self,
        look: &Look,
        cards: &[Gathered],
        decisions: Option<(Stamp, Decisions)>,
        changes: &[Pending<'_>],
        done: &Done,
    ) {
        let touched: BTreeSet<&str> = changes
            .iter()
            .map(|change| &*change.card.file.path)
            .collect();
        // What was just written has another stamp now, and one too young to be trusted.
        let seen = cards
            .iter()
            .filter(|card| !touched.contains(&*card.file.path))
            .map(|card| Seen {
                path: card.file.path.clone(),
                stamp: card.file.stamp,
                reading: self.place.reading(&card.file.path).cloned(),
                card: card.card.clone(),
                history: card.file.history.map(|stamp| (stamp, card.tombstone)),
            })
            .filter(|seen| !seen.stamp.is_racy(look.at))
            .collect();
        let memory = Memory {
            cards: seen,
            decisions: decisions.filter(|(stamp, _)| !stamp.is_racy(look.at)),
        };
        let settled = done.changed.is_empty()
            && changes.is_empty()
            && done.sidecar.is_none()
            && self.request.give_back.is_none();
        let look = settled
            .then(|| look.fingerprint(self.place, &outputs(self.place)))
            .flatten();
        cache::write(self.place, look, &memory);
    }
}

/// Appends an event that is about retraction to the history of the card at a path. `None`: the
/// history says so already.
pub fn append(
    at: &Path,
    shown: &str,
    change: Change,
    clock: Clock,
) -> Result<Option<(History, Written)>, Refusal> {
    let text = gather::read_text(at, shown)?;
    let parsed = card::parse(&text);
    let (Some(model), Some(hash)) = (parsed.complete(), parsed.card_hash(&text)) else {
        let (_, card) = gather::read_card(at, shown, None)?;
        return Err(Refusal::new(
            registry::FM_008,
            format!("the card {} in {shown} is incomplete", card.summary.id),
        ));
    };
    let carried = model.card_hash.as_deref().and_then(|hex| hex.parse().ok());
    let version = Version {
        card: &model,
        hash,
        carried,
        change,
    };
    let history = History::of_card(at, shown);
    match history.append(&version, clock) {
        Ok(written) => Ok(written.map(|written| (history, written))),
        Err(error) => Err(Refusal::from(error.diagnostic())),
    }
}

/// Undoes the steps, the last first. A step that cannot be undone is named.
fn take_back(undo: Vec<Undo<'_>>, mut refusal: Refusal) -> Refusal {
    let mut left: Vec<PathBuf> = Vec::new();
    for step in undo.into_iter().rev() {
        match step {
            Undo::Event(history, written) => {
                if history.rollback(&written).is_err() {
                    left.push(history.path().to_path_buf());
                }
            }
            Undo::Text(change) => {
                let at = &change.card.file.at;
                if rewrite::replace(at, &change.after, &change.before).is_err() {
                    left.push(at.clone());
                }
            }
        }
    }
    if let Some(first) = left.first() {
        refusal.message.push_str(&format!(
            "; {} of the files already written could not be taken back, {} among them; the next `kb index` completes them",
            left.len(),
            first.display()
        ));
    }
    refusal
}

/// All that counts as retracted: a card's retraction is what either the manifest or the last event
/// of its history says.
fn withdrawn(
    manifest: Option<&CardsManifest>,
    decisions: Option<&(Stamp, Decisions)>,
    cards: &[Gathered],
    given_back: Option<&str>,
) -> Withdrawn {
    let listed = manifest.map_or(&[][..], |manifest| &manifest.retracted_cards);
    let tombstoned = cards
        .iter()
        .filter(|card| card.tombstone)
        .map(|card| card.card.summary.id.to_string());
    let mut ids: BTreeSet<String> = listed.iter().cloned().chain(tombstoned).collect();
    if let Some(id) = given_back {
        ids.remove(id);
    }
    let decisions = decisions.map(|(_, decisions)| decisions.clone());
    let decisions = decisions.unwrap_or_default();
    Withdrawn {
        sources: decisions.sources,
        chunks: decisions.chunks,
        cards: ids,
    }
}

/// Whether a sorted list has an id.
pub fn has(list: &[String], id: &str) -> bool {
    list.binary_search_by(|other| other.as_str().cmp(id))
        .is_ok()
}

impl From<Refusal> for Refusals {
    fn from(refusal: Refusal) -> Self {
        vec![refusal]
    }
}
