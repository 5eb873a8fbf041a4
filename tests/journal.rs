//! The journal on disk and `kb journal`: what is appended is there, in order, once; and what was
//! changed, cut off, deleted or written anew is named.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[allow(dead_code, reason = "a part of it is enough")]
mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use kbc::record::Trouble;
use kbc::record::check::Question;
use kbc::record::clock::{Clock, Visit};
use kbc::record::journal::{Journal, Repair};
use kbc_queries::record::chain::{Link, verify};
use kbc_queries::record::head::{Head, HeadFile};
use kbc_queries::record::journal::{JournalEvent, Verb, Verification};
use support::{Run, kb};

/// A journal in a folder of its own.
struct Place {
    folder: tempfile::TempDir,
}

fn event(path: &str) -> JournalEvent {
    Clock::frozen().event(Visit {
        command: Verb::Lint,
        card_path: path.to_owned(),
        card_hash: None,
        diagnostics: Vec::new(),
        verification: Verification::default(),
        latency: Duration::from_micros(1),
    })
}

fn events(count: usize) -> Vec<JournalEvent> {
    (0..count)
        .map(|n| event(&format!("cards/{n}.md")))
        .collect()
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("out")).unwrap();
        Place { folder }
    }

    /// With so many events.
    fn with(count: usize) -> Self {
        let place = Place::new();
        place.journal().append(&events(count)).unwrap();
        place
    }

    fn root(&self) -> &Path {
        self.folder.path()
    }

    fn at(&self, name: &str) -> PathBuf {
        self.root().join("out").join(name)
    }

    fn path(&self) -> PathBuf {
        self.at("lint_journal.jsonl")
    }

    fn head_path(&self) -> PathBuf {
        self.at("lint_journal.jsonl.head")
    }

    fn journal(&self) -> Journal {
        Journal::open(self.path(), "out/lint_journal.jsonl")
    }

    fn append(&self, name: &str) -> Result<Vec<Repair>, String> {
        match self.journal().append(&[event(name)]) {
            Ok(appended) => Ok(appended.repairs),
            Err(error) => Err(error.to_string()),
        }
    }

    fn text(&self) -> String {
        fs::read_to_string(self.path()).unwrap()
    }

    fn lines(&self) -> Vec<String> {
        self.text()
            .split_inclusive('\n')
            .map(str::to_owned)
            .collect()
    }

    fn head(&self) -> String {
        let run = self.kb(&["journal", "head"]);
        assert_eq!(run.status, 0, "{run:?}");
        run.stdout.trim_end().to_owned()
    }

    fn kb(&self, arguments: &[&str]) -> Run {
        kb(self.root(), arguments)
    }

    /// What `kb journal verify` finds wrong.
    fn wrong(&self, arguments: &[&str]) -> String {
        let run = self.kb(&[&["journal", "verify"], arguments].concat());
        assert_eq!(run.status, 1, "{run:?}");
        assert!(run.stdout.contains("CACG-JNL-001"), "{run:?}");
        run.stdout
    }

    fn sound(&self, arguments: &[&str]) -> String {
        let run = self.kb(&[&["journal", "verify"], arguments].concat());
        assert_eq!(run.status, 0, "{run:?}");
        run.stdout
    }

    /// Cards named in the journal, which is a sound chain.
    fn cards(&self) -> Vec<String> {
        let mut cards = Vec::new();
        verify::<JournalEvent>(&fs::read(self.path()).unwrap(), |event| {
            cards.push(event.event.card_path);
        })
        .unwrap();
        cards
    }
}

#[test]
fn what_is_appended_stands_there_once_and_in_order() {
    let place = Place::with(2);
    assert_eq!(place.append("cards/c.md").unwrap(), []);
    assert_eq!(place.cards(), ["cards/0.md", "cards/1.md", "cards/c.md"]);
    let head = place.head();
    assert!(head.starts_with("kb-journal-head-v1:3:"), "{head}");
    let said = place.sound(&[]);
    assert!(
        said.contains("ok: 3 events in out/lint_journal.jsonl"),
        "{said}"
    );
    assert!(said.contains(&head), "{said}");
    // The head file says the same, and nothing else is left but the lock.
    let file = HeadFile::parse(&fs::read(place.head_path()).unwrap()).unwrap();
    assert_eq!(file.head().to_string(), head);
    assert_eq!(file.bytes, place.text().len() as u64);
    assert_eq!(fs::read_dir(place.root().join("out")).unwrap().count(), 3);
    // A journal that has grown still proves the head from before.
    place.append("cards/d.md").unwrap();
    let said = place.sound(&["--head", &head]);
    assert!(said.contains("first 3 events; 1 event later"), "{said}");
}

#[test]
fn an_append_reads_the_end_of_the_journal_only() {
    let mut read = Vec::new();
    for count in [100, 100_000] {
        let place = Place::with(count);
        let appended = place.journal().append(&events(1)).unwrap();
        assert_eq!(appended.repairs, []);
        read.push(appended.bytes_read);
        let head = place.head();
        assert!(head.contains(&format!(":{}:", count + 1)), "{head}");
    }
    assert!(read.iter().all(|bytes| *bytes <= 16 << 10), "{read:?}");
}

#[test]
fn a_changed_line_is_named_and_the_rest_is_not_read_as_sound() {
    for line in [1, 3, 5] {
        let place = Place::with(5);
        let mut lines = place.lines();
        lines[line - 1] = lines[line - 1].replace("\"lint\"", "\"verify\"");
        fs::write(place.path(), lines.concat()).unwrap();
        let said = place.wrong(&[]);
        assert!(
            said.contains(&format!("at line {line}: the event was changed")),
            "{said}"
        );
        let json = place.wrong(&["--json"]);
        assert!(json.contains(&format!("\"line\":{line}")), "{json}");
        // What an append looks at it refuses.
        if line == 5 {
            let before = place.text();
            let error = place.append("cards/x.md").unwrap_err();
            assert!(error.contains("line 5"), "{error}");
            assert_eq!(place.text(), before);
        }
    }
}

#[test]
fn truncation_is_noticed_at_every_byte() {
    let place = Place::with(3);
    let text = place.text();
    let elsewhere = place.head();
    let head_file = fs::read(place.head_path()).unwrap();
    for length in (0..text.len()).step_by(7).chain([text.len() - 1]) {
        fs::write(place.path(), &text[..length]).unwrap();
        let whole = text[..length].matches('\n').count();
        let expected = format!("truncated: the head says 3 events, the file has {whole}");
        for question in [
            Question::default(),
            Question {
                head: Some(elsewhere.parse().unwrap()),
                ..Question::default()
            },
        ] {
            let error = place.journal().verify(&question).unwrap_err();
            assert!(error.to_string().contains(&expected), "{length}: {error}");
        }
        let error = place.append("cards/x.md").unwrap_err();
        assert!(error.contains(&expected), "{length}: {error}");
        assert_eq!(place.text(), text[..length], "nothing is put right unasked");
    }
    // Without its head file only a head from elsewhere tells.
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    fs::write(place.path(), lines[..2].concat()).unwrap();
    fs::remove_file(place.head_path()).unwrap();
    let said = place.sound(&[]);
    assert!(said.contains("it has no head file"), "{said}");
    let said = place.wrong(&["--head", &elsewhere]);
    assert!(
        said.contains("the head says 3 events, the file has 2"),
        "{said}"
    );
    // And the file put back is whole again.
    fs::write(place.path(), &text).unwrap();
    fs::write(place.head_path(), head_file).unwrap();
    assert!(place.sound(&["--head", &elsewhere]).contains("is its head"));
}

#[test]
fn deletion_is_noticed_and_starting_anew_is_a_decision() {
    let place = Place::with(3);
    let elsewhere = place.head();
    fs::remove_file(place.path()).unwrap();
    let said = place.wrong(&[]);
    assert!(said.contains("is gone: the head says 3 events"), "{said}");
    assert!(said.contains("kb journal rotate --abandon"), "{said}");
    assert!(place.append("cards/x.md").unwrap_err().contains("is gone"));
    let run = place.kb(&["journal", "head"]);
    assert_eq!(run.status, 1, "{run:?}");
    let run = place.kb(&["journal", "rotate"]);
    assert_eq!(run.status, 1, "{run:?}");
    let run = place.kb(&["journal", "rotate", "--abandon"]);
    assert_eq!(run.status, 0, "{run:?}");
    assert!(
        run.stdout.contains("lint_journal.abandoned-1.jsonl.head"),
        "{run:?}"
    );
    assert_eq!(place.append("cards/x.md").unwrap(), []);
    place.sound(&[]);
    let said = place.wrong(&["--head", &elsewhere]);
    assert!(
        said.contains("truncated: the head says 3 events, the file has 1"),
        "{said}"
    );
    // With both files deleted nothing here can tell; the head elsewhere can.
    fs::remove_file(place.path()).unwrap();
    fs::remove_file(place.head_path()).unwrap();
    let run = place.kb(&["journal", "verify"]);
    assert_eq!(run.status, 2, "a check of nothing is no success: {run:?}");
    let said = place.wrong(&["--head", &elsewhere]);
    assert!(said.contains("is gone: the head says 3 events"), "{said}");
}

#[test]
fn a_journal_written_anew_is_noticed() {
    let place = Place::with(4);
    let elsewhere = place.head();
    let old_head = fs::read(place.head_path()).unwrap();
    // Another journal, sound in itself, of as many events and then of more.
    for count in [4, 6] {
        let other = Place::new();
        let mut forged = events(count);
        forged[1] = event("cards/other.md");
        other.journal().append(&forged).unwrap();
        fs::copy(other.path(), place.path()).unwrap();
        fs::write(place.head_path(), &old_head).unwrap();
        let said = place.wrong(&[]);
        assert!(said.contains("was written anew"), "{said}");
        assert!(
            place
                .append("cards/x.md")
                .unwrap_err()
                .contains("written anew")
        );
        // Whoever writes the head file too is found out only from outside.
        fs::copy(other.head_path(), place.head_path()).unwrap();
        place.sound(&[]);
        let said = place.wrong(&["--head", &elsewhere]);
        assert!(said.contains("was written anew"), "{said}");
    }
    for damage in ["", "{}", "{\"bytes\":1}", "not json"] {
        fs::write(place.head_path(), damage).unwrap();
        let said = place.wrong(&[]);
        assert!(said.contains("head file"), "{said}");
        assert!(
            place
                .append("cards/x.md")
                .unwrap_err()
                .contains("head file")
        );
    }
}

#[test]
fn an_append_killed_at_any_byte_is_repaired_by_the_next() {
    let place = Place::with(2);
    let (text, head) = (place.text(), fs::read(place.head_path()).unwrap());
    place.journal().append(&events(2)).unwrap();
    let longer = place.text();
    let batch = &longer[text.len()..];
    let first = batch.find('\n').unwrap() + 1;
    for length in 0..=batch.len() {
        fs::write(place.path(), &longer[..text.len() + length]).unwrap();
        fs::write(place.head_path(), &head).unwrap();
        let repairs = place.append("cards/next.md").unwrap();
        // A whole event counts, its line end or not; half of one was never acknowledged.
        let whole = [first - 1, batch.len() - 1]
            .iter()
            .filter(|end| length >= **end)
            .count();
        let rest = match length {
            _ if length < first - 1 => length,
            _ if length == first - 1 || length >= batch.len() - 1 => 0,
            _ => length - first,
        };
        let mut expected = Vec::new();
        if whole > 0 {
            let events = whole as u64;
            expected.push(Repair::Advanced { events });
        }
        if rest > 0 {
            let bytes = rest as u64;
            expected.push(Repair::CutOff { bytes });
        }
        assert_eq!(repairs, expected, "killed after {length} bytes");
        let cards = ["cards/0.md", "cards/1.md"];
        let mut cards: Vec<&str> = [&cards[..], &cards[..whole]].concat();
        cards.push("cards/next.md");
        assert_eq!(place.cards(), cards, "killed after {length} bytes");
        place.journal().verify(&Question::default()).unwrap();
    }
}

#[test]
fn what_is_no_interrupted_append_is_never_cut_off() {
    let place = Place::new();
    for text in [
        "a line of somebody's notes",
        "{\"card_hash_after\":null}",
        "[1",
        "{\"other\":",
        "notes\nmore",
    ] {
        fs::write(place.path(), text).unwrap();
        let error = place.append("cards/x.md").unwrap_err();
        assert!(error.contains("damaged at line 1"), "{text}: {error}");
        assert_eq!(place.text(), text);
    }
    // A file system that kept the length and lost the bytes.
    let place = Place::with(1);
    let text = place.text();
    fs::write(place.path(), format!("{text}\0\0\0")).unwrap();
    assert_eq!(
        place.append("cards/x.md").unwrap(),
        [Repair::CutOff { bytes: 3 }]
    );
    assert_eq!(place.cards(), ["cards/0.md", "cards/x.md"]);
}

#[test]
fn a_journal_without_head_file_is_adopted_after_a_full_check() {
    let place = Place::with(3);
    fs::remove_file(place.head_path()).unwrap();
    let run = place.kb(&["journal", "head"]);
    assert!(run.stdout.contains(":3:"), "{run:?}");
    fs::remove_file(place.at("lint_journal.jsonl.lock")).unwrap();
    place.sound(&[]);
    let files = fs::read_dir(place.root().join("out")).unwrap().count();
    assert_eq!(files, 1, "looking writes nothing");
    assert_eq!(
        place.append("cards/x.md").unwrap(),
        [Repair::Adopted { events: 3 }]
    );
    assert_eq!(place.append("cards/y.md").unwrap(), []);
    // Another program that knows no heads went on with it.
    let head = fs::read(place.head_path()).unwrap();
    place.append("cards/z.md").unwrap();
    fs::write(place.head_path(), head).unwrap();
    let said = place.sound(&[]);
    assert!(said.contains("not yet in its head file: 1 event"), "{said}");
    assert_eq!(
        place.append("cards/w.md").unwrap(),
        [Repair::Advanced { events: 1 }]
    );
    // The full check of one that is damaged in the middle refuses.
    let mut lines = place.lines();
    lines.remove(1);
    fs::write(place.path(), lines.concat()).unwrap();
    fs::remove_file(place.head_path()).unwrap();
    let error = place.append("cards/x.md").unwrap_err();
    assert!(
        error.contains("line 2: event 1 was expected and event 2 found"),
        "{error}"
    );
}

#[test]
fn blank_lines_are_ignored_and_counted() {
    let place = Place::with(2);
    let lines = place.lines();
    fs::write(place.path(), format!("\n{}\n  \n{}\n", lines[0], lines[1])).unwrap();
    place.sound(&[]);
    assert_eq!(place.append("cards/x.md").unwrap(), []);
    let changed = place.text().replace("cards/1.md", "cards/7.md");
    fs::write(place.path(), changed).unwrap();
    assert!(place.wrong(&[]).contains("at line 5:"));
}

#[test]
fn rotation_carries_the_head_and_verify_follows_it_back() {
    let place = Place::with(3);
    let first = place.head();
    let run = place.kb(&["journal", "rotate"]);
    assert_eq!(run.status, 0, "{run:?}");
    assert!(run.stdout.contains("lint_journal.3.jsonl"), "{run:?}");
    assert!(!place.path().exists());
    assert_eq!(place.head(), first, "rotation changes no head");
    assert!(
        place
            .kb(&["journal", "rotate"])
            .stdout
            .contains("nothing to rotate")
    );
    place.journal().append(&events(2)).unwrap();
    // Each file is a journal by itself, as the contract has it.
    let link = verify::<JournalEvent>(&fs::read(place.path()).unwrap(), |_| {}).unwrap();
    assert_eq!(Link::count(link), 2);
    let second = place.head();
    assert!(second.contains(":5:"), "{second}");
    assert_eq!(place.kb(&["journal", "rotate"]).status, 0);
    place.journal().append(&events(4)).unwrap();
    let third = place.head();
    let said = place.sound(&[]);
    assert!(said.contains("ok: 9 events in 3 files"), "{said}");
    for head in [&first, &second, &third] {
        place.sound(&["--head", head]);
        place.sound(&["--head", head, "--since-rotation"]);
    }
    // A head in the middle of a file that was rotated away.
    let inner = Place::with(2).head();
    place.sound(&["--head", &inner]);
    let forged = first.replace(":3:", ":4:");
    assert!(place.wrong(&["--head", &forged]).contains("written anew"));
    // A file that was rotated away is part of the journal: damaged, or gone, it is missed.
    let rotated = place.at("lint_journal.5.jsonl");
    let text = fs::read_to_string(&rotated).unwrap();
    fs::write(&rotated, text.replacen("cards/1.md", "cards/2.md", 1)).unwrap();
    let said = place.wrong(&[]);
    assert!(said.starts_with("out/lint_journal.5.jsonl: "), "{said}");
    assert!(said.contains("at line 2"), "{said}");
    place.sound(&["--since-rotation"]);
    place.sound(&["--since-rotation", "--head", &third]);
    fs::remove_file(&rotated).unwrap();
    let said = place.wrong(&[]);
    assert!(
        said.contains("goes on from out/lint_journal.5.jsonl"),
        "{said}"
    );
    fs::write(&rotated, &text).unwrap();
    place.sound(&[]);
    // Its end can be cut off together with its head file; the one after it knows better.
    let other = Place::with(3);
    other.kb(&["journal", "rotate"]);
    other.journal().append(&events(1)).unwrap();
    other.kb(&["journal", "rotate"]);
    fs::copy(other.at("lint_journal.4.jsonl"), &rotated).unwrap();
    fs::copy(
        other.at("lint_journal.4.jsonl.head"),
        place.at("lint_journal.5.jsonl.head"),
    )
    .unwrap();
    let said = place.wrong(&[]);
    assert!(said.contains("does not end with the head"), "{said}");
}

#[test]
fn rotation_writes_over_nothing_and_a_dead_one_is_finished() {
    let place = Place::with(2);
    fs::write(place.at("lint_journal.2.jsonl"), "mine").unwrap();
    let run = place.kb(&["journal", "rotate"]);
    assert_eq!(run.status, 1, "{run:?}");
    assert!(run.stdout.contains("is there already"), "{run:?}");
    fs::remove_file(place.at("lint_journal.2.jsonl")).unwrap();
    // Died after the old head was copied.
    fs::copy(place.head_path(), place.at("lint_journal.2.jsonl.head")).unwrap();
    place.sound(&[]);
    place.append("cards/x.md").unwrap();
    assert_eq!(place.kb(&["journal", "rotate"]).status, 0);
    place.append("cards/y.md").unwrap();
    // Died after the file was moved.
    let head = place.head();
    fs::copy(place.head_path(), place.at("lint_journal.4.jsonl.head")).unwrap();
    fs::rename(place.path(), place.at("lint_journal.4.jsonl")).unwrap();
    assert_eq!(
        place.append("cards/z.md").unwrap(),
        [Repair::RotationFinished]
    );
    assert!(
        place
            .sound(&["--head", &head])
            .contains("5 events in 3 files")
    );
    // Without its head file a journal that goes on from others does not pass for a first one.
    fs::remove_file(place.path()).unwrap();
    fs::remove_file(place.head_path()).unwrap();
    let error = place.append("cards/x.md").unwrap_err();
    assert!(
        error.contains("head file") && error.contains("is gone"),
        "{error}"
    );
}

#[cfg(unix)]
#[test]
fn links_folders_and_pipes_are_not_written_through() {
    let place = Place::new();
    let outside = place.root().join("outside");
    fs::write(&outside, "").unwrap();
    for name in [
        "lint_journal.jsonl",
        "lint_journal.jsonl.head",
        "lint_journal.jsonl.lock",
    ] {
        let _ = fs::remove_file(place.at("lint_journal.jsonl.lock"));
        std::os::unix::fs::symlink(&outside, place.at(name)).unwrap();
        let error = place.append("cards/x.md").unwrap_err();
        assert!(error.contains("not a regular file"), "{name}: {error}");
        fs::remove_file(place.at(name)).unwrap();
    }
    assert_eq!(fs::read(&outside).unwrap(), b"");
    fs::create_dir(place.path()).unwrap();
    assert!(
        place
            .append("cards/x.md")
            .unwrap_err()
            .contains("not a regular file")
    );
    let run = place.kb(&["journal", "verify"]);
    assert_eq!(run.status, 1, "{run:?}");
}

#[test]
fn heads_on_the_command_line_are_read_strictly() {
    let place = Place::with(1);
    let history = place.head().replace("journal", "history");
    for bad in ["", "abc", "kb-journal-head-v1:1:xyz", &history] {
        let run = place.kb(&["journal", "verify", "--head", bad]);
        assert_eq!(run.status, 2, "{bad}: {run:?}");
    }
}

#[test]
fn writers_at_the_same_time_lose_nothing() {
    let place = Place::new();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let place = &place;
            scope.spawn(move || {
                for n in 0..25 {
                    let journal = place.journal();
                    let name = format!("cards/{writer}-{n}.md");
                    journal.append(&[event(&name), event(&name)]).unwrap();
                }
            });
        }
    });
    let cards = place.cards();
    assert_eq!(cards.len(), 200);
    assert!(
        cards.chunks(2).all(|pair| pair[0] == pair[1]),
        "a batch stays together"
    );
    for writer in 0..4 {
        let of_writer: Vec<&String> = cards
            .iter()
            .filter(|card| card.starts_with(&format!("cards/{writer}-")))
            .step_by(2)
            .collect();
        let expected: Vec<String> = (0..25).map(|n| format!("cards/{writer}-{n}.md")).collect();
        assert!(of_writer.into_iter().eq(&expected), "in the writer's order");
    }
    place.sound(&[]);
}

/// Appends until it is killed, and says on stdout what was acknowledged. Run by the test below.
#[test]
#[ignore = "a part of another test"]
fn a_process_that_appends() {
    use std::io::Write as _;
    let Some(path) = std::env::var_os("KB_TEST_JOURNAL") else {
        return;
    };
    let journal = Journal::open(path, "journal");
    let mut out = std::io::stdout().lock();
    for n in 0.. {
        let name = format!("cards/{}-{n}.md", std::process::id());
        journal.append(&[event(&name), event(&name)]).unwrap();
        writeln!(out, "acknowledged {name}").unwrap();
    }
}

#[test]
fn processes_that_are_killed_lose_nothing_that_was_acknowledged() {
    let place = Place::new();
    let until = Instant::now() + Duration::from_secs(3);
    let mut acknowledged = Vec::new();
    let mut rounds = 0u64;
    while Instant::now() < until {
        rounds += 1;
        let mut children: Vec<_> = (0..2)
            .map(|_| {
                Command::new(std::env::current_exe().unwrap())
                    .args([
                        "--exact",
                        "a_process_that_appends",
                        "--ignored",
                        "--nocapture",
                    ])
                    .env("KB_TEST_JOURNAL", place.path())
                    .stdout(Stdio::piped())
                    .stderr(Stdio::null())
                    .spawn()
                    .unwrap()
            })
            .collect();
        std::thread::sleep(Duration::from_millis(60 + rounds * 37 % 100));
        for child in &mut children {
            child.kill().unwrap();
        }
        for child in children {
            let output = child.wait_with_output().unwrap();
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            acknowledged.extend(text.lines().filter_map(|line| {
                let name = line.split("acknowledged ").nth(1)?;
                name.ends_with(".md").then(|| name.to_owned())
            }));
        }
    }
    assert!(
        rounds > 2 && acknowledged.len() > 10,
        "{rounds} {}",
        acknowledged.len()
    );
    place.append("cards/last.md").unwrap();
    let cards = place.cards();
    for name in &acknowledged {
        assert_eq!(
            cards.iter().filter(|card| *card == name).count(),
            2,
            "{name}"
        );
    }
    place.sound(&[]);
}

#[test]
fn an_event_that_could_not_be_read_is_not_written() {
    let place = Place::with(1);
    let mut bad = event("cards/x.md");
    bad.latency_ms = f64::NAN;
    let error = place
        .journal()
        .append(&[event("cards/y.md"), bad])
        .unwrap_err();
    assert!(matches!(error.trouble, Trouble::Event(_)), "{error}");
    assert_eq!(place.cards(), ["cards/0.md"]);
    assert!(
        error
            .contract_line()
            .starts_with("CACG-JNL-001: out/lint_journal.jsonl: ")
    );
    let none = Head::of(kbc_queries::record::Kind::Journal, None, None);
    let question = Question {
        head: Some(none),
        ..Question::default()
    };
    place.journal().verify(&question).unwrap();
}
