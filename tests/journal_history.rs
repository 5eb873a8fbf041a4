//! Histories of cards on disk, and `kb history`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[allow(dead_code, reason = "a part of it is enough")]
mod support;

use std::fs;
use std::path::{Path, PathBuf};

use kbc::record::Trouble;
use kbc::record::clock::Clock;
use kbc::record::history::{History, Version, Written, card_path, history_path};
use kbc_queries::commit::hash::Digest;
use kbc_queries::parse::card::{self, Card};
use kbc_queries::record::history::Change;
use support::{Run, kb, write};

const NAME: &str = "01-content-addressable-identity";

struct Place {
    folder: tempfile::TempDir,
    text: String,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let corpus = support::fixtures().join("cacg/tests/parity_corpus");
        let text = fs::read_to_string(corpus.join(format!("cards/reading_01/{NAME}.md"))).unwrap();
        write(&folder.path().join(format!("cards/{NAME}.md")), &text);
        Place { folder, text }
    }

    fn card_file(&self) -> PathBuf {
        self.folder.path().join(format!("cards/{NAME}.md"))
    }

    fn path(&self) -> PathBuf {
        history_path(&self.card_file())
    }

    fn history(&self) -> History {
        History::of_card(&self.card_file(), &format!("cards/{NAME}.md"))
    }

    fn card(&self) -> (Card, Digest) {
        let parsed = card::parse(&self.text);
        (
            parsed.complete().unwrap(),
            parsed.card_hash(&self.text).unwrap(),
        )
    }

    /// The card gets another title.
    fn retitle(&mut self, title: &str) {
        let line = self
            .text
            .lines()
            .find(|l| l.starts_with("title:"))
            .unwrap()
            .to_owned();
        self.text = self.text.replace(&line, &format!("title: \"{title}\""));
        write(&self.card_file(), &self.text);
    }

    fn append(&self, change: Change) -> Option<Written> {
        let (card, hash) = self.card();
        let version = Version {
            card: &card,
            hash,
            carried: Some(Digest::ZERO),
            change,
        };
        self.history().append(&version, Clock::frozen()).unwrap()
    }

    fn kb(&self, arguments: &[&str]) -> Run {
        let card = format!("cards/{NAME}.md");
        kb(
            self.folder.path(),
            &[&["history", &card], arguments].concat(),
        )
    }
}

#[test]
fn the_golden_history_is_written_and_printed_byte_for_byte() {
    let place = Place::new();
    place.append(Change::Content).unwrap();
    let golden = support::fixtures().join(format!(
        "cacg/tests/parity_corpus/out_python/parity_rows/kb_index_parity_corpus_stale_hash_reading_01/py-corpus/cards_stale_hash/reading_01/{NAME}.history.jsonl"
    ));
    let golden = fs::read_to_string(golden).unwrap();
    assert_eq!(fs::read_to_string(place.path()).unwrap(), golden);
    let run = place.kb(&["--format", "json"]);
    assert_eq!((run.status, run.stdout), (0, golden));
    assert!(
        place.append(Change::Content).is_none(),
        "it says so already"
    );
}

#[test]
fn versions_retractions_and_their_words() {
    let mut place = Place::new();
    place.append(Change::Content).unwrap();
    assert!(!place.history().is_tombstoned().unwrap());
    assert!(place.append(Change::Unretract).is_none());
    place.append(Change::Retract).unwrap();
    assert!(place.append(Change::Retract).is_none());
    assert!(place.history().is_tombstoned().unwrap());
    place.retitle("Another title");
    place.append(Change::Content).unwrap();
    assert!(
        place.history().is_tombstoned().unwrap(),
        "an edit takes nothing back"
    );
    place.append(Change::Unretract).unwrap();
    assert!(!place.history().is_tombstoned().unwrap());
    let run = place.kb(&[]);
    assert_eq!(run.status, 0, "{run:?}");
    let words: Vec<&str> = run
        .stdout
        .lines()
        .map(|line| line.split_once("…  ").unwrap().1)
        .collect();
    assert_eq!(
        words,
        [
            "first event; cites +sample:p001:0000",
            "retracted",
            "changed title, still retracted",
            "retraction taken back"
        ]
    );
    let run = place.kb(&["--validate"]);
    assert!(
        run.stdout
            .contains("ok: 4 events\nhead: kb-history-head-v1:4:"),
        "{run:?}"
    );
    assert!(
        run.stdout.contains("the card is that of the last event"),
        "{run:?}"
    );
    place.retitle("A third title");
    let run = place.kb(&["--validate"]);
    assert_eq!(run.status, 0, "{run:?}");
    assert!(run.stdout.contains("the card is another"), "{run:?}");
}

#[test]
fn a_tampered_history_is_named_and_not_appended_to() {
    let mut place = Place::new();
    for title in ["One", "Two", "Three"] {
        place.retitle(title);
        place.append(Change::Content).unwrap();
    }
    let text = fs::read_to_string(place.path()).unwrap();
    let head = place.kb(&["--validate"]).stdout;
    let head = head
        .lines()
        .find_map(|line| line.strip_prefix("head: "))
        .unwrap()
        .to_owned();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let cases = [
        (
            text.replacen("\"title\":\"Two\"", "\"title\":\"Twa\"", 1),
            "line 2: the event was changed",
        ),
        (
            [lines[0], lines[2]].concat(),
            "line 2: event 1 was expected",
        ),
        (
            [lines[1], lines[2]].concat(),
            "line 1: event 0 was expected",
        ),
        (
            format!("{text}{}", lines[2]),
            "line 4: event 3 was expected",
        ),
        (
            format!("{text}{{\"a\":1}}\n"),
            "line 4: the event has an unknown member",
        ),
        (format!("{text}more"), "line 4: the last line is incomplete"),
        (
            text.replacen(',', ",\"cited_chunk_ids_snapshot\":[],", 1),
            "line 1: the line is not valid JSON: the key",
        ),
    ];
    for (changed, expected) in cases {
        fs::write(place.path(), &changed).unwrap();
        for arguments in [&[][..], &["--validate"], &["--json"]] {
            let run = place.kb(arguments);
            assert_eq!(run.status, 1, "{expected}: {run:?}");
            assert!(run.stdout.contains("CACG-HIST-001"), "{run:?}");
            let said = run.stdout.replace("\\\"", "\"");
            assert!(said.contains(expected), "{expected}: {said}");
        }
        let error = place.history().validate().unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
        assert_eq!(fs::read_to_string(place.path()).unwrap(), changed);
    }
    // A bad last line is seen by whoever looks at the end only.
    fs::write(place.path(), text.replace("Three", "Free")).unwrap();
    let (card, hash) = place.card();
    let version = Version {
        card: &card,
        hash,
        carried: None,
        change: Change::Retract,
    };
    assert!(place.history().append(&version, Clock::frozen()).is_err());
    assert!(place.history().is_tombstoned().is_err(), "nobody knows");
    // A shortened one is seen by whoever knows a head.
    fs::write(place.path(), lines[..2].concat()).unwrap();
    assert_eq!(place.kb(&["--validate"]).status, 0);
    let run = place.kb(&["--head", &head]);
    assert_eq!(run.status, 1, "{run:?}");
    assert!(
        run.stdout
            .contains("the head says 3 events, the file has 2"),
        "{run:?}"
    );
    fs::remove_file(place.path()).unwrap();
    let run = place.kb(&["--head", &head]);
    assert!(run.stdout.contains("the history is gone"), "{run:?}");
    fs::write(place.path(), &text).unwrap();
    assert_eq!(place.kb(&["--head", &head]).status, 0);
}

#[test]
fn an_event_is_taken_back_only_while_it_is_the_last() {
    let mut place = Place::new();
    let first = place.append(Change::Content).unwrap();
    let text = fs::read(place.path()).unwrap();
    let second = place.append(Change::Retract).unwrap();
    let longer = fs::read(place.path()).unwrap();
    assert!(matches!(
        place.history().rollback(&first).unwrap_err().trouble,
        Trouble::NotOurs
    ));
    assert_eq!(fs::read(place.path()).unwrap(), longer);
    place.history().rollback(&second).unwrap();
    assert_eq!(fs::read(place.path()).unwrap(), text);
    // As long, and another.
    place.retitle("Aaaa");
    let third = place.append(Change::Content).unwrap();
    place.history().rollback(&third).unwrap();
    place.retitle("Bbbb");
    let other = place.append(Change::Content).unwrap();
    assert!(place.history().rollback(&third).is_err());
    place.history().rollback(&other).unwrap();
    place.history().rollback(&first).unwrap();
    assert!(!place.path().exists(), "the file began with this event");
    assert!(place.history().rollback(&first).is_err());
}

#[test]
fn half_an_event_is_cut_off_and_a_whole_one_counts() {
    let mut place = Place::new();
    place.append(Change::Content).unwrap();
    let text = fs::read_to_string(place.path()).unwrap();
    place.append(Change::Retract).unwrap();
    let longer = fs::read_to_string(place.path()).unwrap();
    place.retitle("Next");
    for length in (0..=longer.len())
        .step_by(13)
        .chain([text.len() - 1, longer.len() - 1])
    {
        fs::write(place.path(), &longer[..length]).unwrap();
        let retracted = length + 1 >= longer.len();
        assert_eq!(
            place.history().is_tombstoned().unwrap(),
            retracted,
            "{length}"
        );
        let written = place.append(Change::Content).unwrap();
        let events = usize::from(length + 1 >= text.len()) + usize::from(retracted);
        assert_eq!(written.link.seq as usize, events, "{length}");
        assert_eq!(
            place.history().validate().unwrap(),
            Some(written.link),
            "{length}"
        );
        assert_eq!(
            place.history().is_tombstoned().unwrap(),
            retracted,
            "{length}"
        );
    }
}

#[test]
fn what_is_not_there_is_said() {
    let place = Place::new();
    let run = place.kb(&[]);
    assert_eq!(run.status, 0, "{run:?}");
    assert!(run.stdout.contains("has no history"), "{run:?}");
    assert_eq!(place.kb(&["--json"]).stdout, "");
    let run = kb(place.folder.path(), &["history", "cards/absent.md"]);
    assert_eq!(run.status, 1, "{run:?}");
    assert!(
        run.stdout
            .contains("CACG-CLI-001: file not found: cards/absent.md"),
        "{run:?}"
    );
    // The history outlives its card.
    place.append(Change::Content).unwrap();
    fs::remove_file(place.card_file()).unwrap();
    assert_eq!(place.kb(&["--validate"]).status, 0);
}

#[test]
fn names() {
    for (card, history) in [
        ("cards/a.md", "cards/a.history.jsonl"),
        ("a.b.md", "a.b.history.jsonl"),
        ("x/a.history.jsonl", "x/a.history.jsonl"),
    ] {
        assert_eq!(history_path(Path::new(card)), Path::new(history));
    }
    assert_eq!(
        card_path(Path::new("x/a.history.jsonl")),
        Path::new("x/a.md")
    );
    assert_eq!(card_path(Path::new("x/a.md")), Path::new("x/a.md"));
}
