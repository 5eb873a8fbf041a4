//! The goldens, and that no tampering goes unseen.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use proptest::prelude::*;
use serde_json::{Value, json};

use super::Kind;
use super::chain::{self, Chained, Event, Fault, LINE_LIMIT, Link, read_line, seal, verify};
use super::head::{Head, HeadFile};
use super::history::{Change, HistoryEvent};
use super::journal::{JournalEvent, RecordedDiagnostic, Verb, Verification};
use crate::commit::hash::{Digest, sha256};
use crate::diagnostic::{Diagnostic, Severity, registry};
use crate::parse::card;

const CARD: &str = include_str!(
    "../../../fixtures/cacg/tests/parity_corpus/cards/reading_01/01-content-addressable-identity.md"
);
const HISTORY: &str = include_str!(
    "../../../fixtures/cacg/tests/parity_corpus/out_python/parity_rows/kb_index_parity_corpus_stale_hash_reading_01/py-corpus/cards_stale_hash/reading_01/01-content-addressable-identity.history.jsonl"
);
const JOURNALS: [&str; 3] = [
    include_str!(
        "../../../fixtures/cacg/tests/parity_corpus/out_python/parity_rows/kb_lint_parity_adversarial/py-out/01-malformed-hash.lint_journal.jsonl"
    ),
    include_str!(
        "../../../fixtures/cacg/tests/parity_corpus/out_python/parity_rows/kb_verify_round_summary_parity_golden/py-out/08_missing_card.lint_journal.jsonl"
    ),
    include_str!(
        "../../../fixtures/cacg/tests/parity_corpus/out_python/parity_rows/kb_verify_semantic_miss_parity_golden/py-out/card.lint_journal.jsonl"
    ),
];
const FROZEN: &str = "1970-01-01T00:00:00Z";
const NO_ID: &str = "00000000-0000-0000-0000-000000000000";

fn visit(path: &str, verb: Verb, diagnostics: Vec<RecordedDiagnostic>) -> JournalEvent {
    JournalEvent {
        card_hash_after: None,
        card_hash_before: None,
        card_path: path.to_owned(),
        command: verb,
        diagnostics,
        event_id: NO_ID.to_owned(),
        latency_ms: 0.0,
        timestamp: FROZEN.to_owned(),
        verification: Verification::default(),
    }
}

fn sealed<E: Event>(events: &[E]) -> (Vec<u8>, Option<Link>) {
    let mut bytes = Vec::new();
    let mut last = None;
    for event in events {
        last = Some(seal(&mut bytes, event, last).unwrap());
    }
    (bytes, last)
}

#[test]
fn the_golden_journals_are_written_byte_for_byte() {
    let malformed = Diagnostic {
        contract_message: Some("citations.0.chunk_hash: chunk_hash must be 64-hex SHA256 (Value error, chunk_hash must be 64-hex SHA256)".to_owned()),
        ..Diagnostic::new(registry::CITE_002, "ours")
            .in_file("tests/parity_corpus/adversarial/01-malformed-hash.md")
    };
    let lint = visit(
        "tests/parity_corpus/adversarial/01-malformed-hash.md",
        Verb::Lint,
        vec![RecordedDiagnostic::of(&malformed)],
    );
    let absent = "/repo/cards/reading_99/does_not_exist.md";
    let missing =
        Diagnostic::new(registry::CLI_001, format!("file not found: {absent}")).in_file(absent);
    let summary = visit(absent, Verb::Verify, vec![RecordedDiagnostic::of(&missing)]);
    let path = "/repo/tests/parity_corpus/semantic/card.md";
    let hints = json!([
        {"chunk_id": "sample:p002:0001", "hint_only": true, "score": -0.728_392,
         "text_preview": "Tens of thousands of tokens compress to one focused result. Round contracts pin the unit of work. One mainline objective"},
        {"chunk_id": "sample:p001:0000", "hint_only": true, "score": -0.788_734,
         "text_preview": "Content-addressable identity is the verification primitive at the core of the framework. Every chunk hashes to a stable "},
    ]);
    let quote = Diagnostic::new(
        registry::VERIFY_001,
        "citations[0]: quote not found in pinned chunk sample:p001:0000 (fuzzy=False)",
    )
    .in_file(path)
    .data("hints", hints);
    let mut semantic = Diagnostic::new(
        registry::VERIFY_002,
        "semantic verdict=abstain score=0.000000 mode=embedding-cache",
    )
    .in_file(path)
    .data(
        "hints",
        json!([{"semantic_mode": "embedding-cache", "semantic_score": 0.0, "semantic_verdict": "abstain"}]),
    );
    semantic.severity = Severity::Info;
    let mut verified = visit(
        path,
        Verb::Verify,
        [&quote, &semantic].map(RecordedDiagnostic::of).to_vec(),
    );
    verified.verification.layer1 = true;
    for (event, golden) in [lint, summary, verified].iter().zip(JOURNALS) {
        let (bytes, last) = sealed(std::slice::from_ref(event));
        assert_eq!(String::from_utf8(bytes).unwrap(), golden);
        let mut read = Vec::new();
        let found = verify::<JournalEvent>(golden.as_bytes(), |e| read.push(e.event)).unwrap();
        assert_eq!((found, read), (last, vec![event.clone()]));
    }
}

fn golden_card() -> (card::Card, Digest) {
    let parsed = card::parse(CARD);
    (parsed.complete().unwrap(), parsed.card_hash(CARD).unwrap())
}

#[test]
fn the_golden_history_is_written_byte_for_byte() {
    let (card, hash) = golden_card();
    let event = HistoryEvent::next(
        None,
        &card,
        hash,
        Some(Digest::ZERO),
        Change::Content,
        FROZEN.to_owned(),
    );
    let (bytes, _) = sealed(&[event]);
    assert_eq!(String::from_utf8(bytes).unwrap(), HISTORY);
}

#[test]
fn a_history_tells_what_changed_and_remembers_a_retraction() {
    let (first, hash) = golden_card();
    let next = |last: &HistoryEvent, card: &card::Card, change| {
        let carried = Some(last.new_card_hash);
        HistoryEvent::next(Some(last), card, hash, carried, change, FROZEN.to_owned())
    };
    let one = HistoryEvent::next(None, &first, hash, None, Change::Content, FROZEN.to_owned());
    let mut second = first.clone();
    second.tags.push("new".into());
    second.title = "Another".into();
    let mut citation = second.citations[0].clone();
    citation.chunk_id = "sample:p002:0001".into();
    second.citations.push(citation.clone());
    second.citations.push(citation);
    let two = next(&one, &second, Change::Content);
    assert_eq!(
        two.frontmatter_field_changes,
        ["citations", "tags", "title"]
    );
    assert_eq!(two.cited_chunk_set_delta.added, ["sample:p002:0001"]);
    assert_eq!(two.cited_chunk_ids_snapshot.len(), 2);
    let three = next(&two, &second, Change::Retract);
    assert!(three.is_retracted);
    assert_eq!(three.frontmatter_field_changes, ["__cacg_retracted__"]);
    assert_eq!(
        three.cited_chunk_set_delta,
        super::history::Delta::default()
    );
    let four = next(&three, &first, Change::Content);
    assert!(four.is_retracted, "an edit takes no retraction back");
    assert_eq!(
        four.frontmatter_field_changes,
        ["citations", "tags", "title"]
    );
    assert_eq!(four.cited_chunk_set_delta.removed, ["sample:p002:0001"]);
    let five = next(&four, &first, Change::Unretract);
    assert!(!five.is_retracted);
    let (bytes, last) = sealed(&[one, two, three, four, five]);
    assert_eq!(verify::<HistoryEvent>(&bytes, |_| {}).unwrap(), last);
    // The two kinds are not taken for one another.
    let bad = verify::<JournalEvent>(&bytes, |_| {}).unwrap_err();
    assert!(matches!(bad.fault, Fault::UnknownKey(_)), "{bad}");
    assert_ne!(
        Head::of(Kind::Journal, None, last).digest,
        Head::of(Kind::History, None, last).digest
    );
}

/// An event's line with its members changed and its checksum made to fit.
fn forged(change: impl FnOnce(&mut serde_json::Map<String, Value>)) -> Vec<u8> {
    let (bytes, _) = sealed(&[visit("cards/a.md", Verb::Lint, Vec::new())]);
    let mut value: Value = serde_json::from_slice(&bytes).unwrap();
    let map = value.as_object_mut().unwrap();
    map.remove("event_checksum");
    change(map);
    if !map.contains_key("event_checksum") {
        let checksum = sha256(crate::commit::canonical::to_string(&value).as_bytes());
        value["event_checksum"] = json!(checksum);
    }
    crate::commit::canonical::to_string(&value).into_bytes()
}

#[test]
fn every_kind_of_fault_is_named() {
    type Change = fn(&mut serde_json::Map<String, Value>);
    let cases: &[(&str, Change)] = &[
        ("unknown member \"extra\"", |m| {
            m.insert("extra".into(), json!(1));
        }),
        ("lacks its member `latency_ms`", |m| {
            m.remove("latency_ms");
        }),
        ("lacks its member `prev_checksum`", |m| {
            m.remove("prev_checksum");
        }),
        ("`event_checksum` is null", |m| {
            m.insert("event_checksum".into(), Value::Null);
        }),
        ("`event_checksum` is not 64", |m| {
            m.insert("event_checksum".into(), json!("A".repeat(64)));
        }),
        ("was changed", |m| {
            m.insert("event_checksum".into(), json!("a".repeat(64)));
        }),
        ("`schema_version` is not", |m| {
            m.insert("schema_version".into(), json!("cacg.v1"));
        }),
        ("`seq` is not a number", |m| {
            m.insert("seq".into(), json!(-1));
        }),
        ("event 0 was expected and event 7 found", |m| {
            m.insert("seq".into(), json!(7));
        }),
        ("does not follow", |m| {
            m.insert("prev_checksum".into(), json!("b".repeat(64)));
        }),
        ("`latency_ms` is not a finite", |m| {
            m.insert("latency_ms".into(), json!(-0.5));
        }),
        ("unknown variant `check`", |m| {
            m.insert("command".into(), json!("check"));
        }),
        ("unknown field `layer3`", |m| {
            m["verification"]["layer3"] = json!(false);
        }),
        ("no second layer", |m| {
            m["verification"]["layer2"] = json!(true);
        }),
        ("differ", |m| {
            m.insert("card_hash_after".into(), json!("c".repeat(64)));
        }),
        ("`card_path` is empty", |m| {
            m.insert("card_path".into(), json!(""));
        }),
    ];
    for (expected, change) in cases {
        let mut line = forged(*change);
        line.push(b'\n');
        let bad = verify::<JournalEvent>(&line, |_| {}).unwrap_err();
        assert!(bad.to_string().contains(expected), "{expected}: {bad}");
        assert_eq!(bad.line, 1);
    }
    let sound = forged(|_| {});
    assert!(read_line::<JournalEvent>(&sound).is_ok());
    let text = String::from_utf8(sound).unwrap();
    let cases = [
        (text.replacen('{', "{\"seq\":0,", 1), "occurs twice"),
        (text.replacen(":0.0", ":0e0", 1), "not canonical JSON"),
        (text.replacen(',', ", ", 1), "not canonical JSON"),
        (format!("{text}\r"), "not canonical JSON"),
        ("[]".to_owned(), "not a JSON object"),
        ("{".to_owned(), "not valid JSON"),
    ];
    for (line, expected) in cases {
        let bad = verify::<JournalEvent>(format!("\n{line}\n").as_bytes(), |_| {}).unwrap_err();
        assert!(bad.to_string().contains(expected), "{expected}: {bad}");
        assert_eq!(bad.line, 2, "blank lines count");
    }
    let bad = verify::<JournalEvent>(text.as_bytes(), |_| {}).unwrap_err();
    assert_eq!(bad.fault, Fault::Unterminated);
    assert!(matches!(
        read_line::<JournalEvent>(b"\xff"),
        Err(Fault::NotUtf8(0))
    ));
    assert!(Fault::TooLong.to_string().contains(&LINE_LIMIT.to_string()));
}

#[test]
fn a_head_is_one_text_and_binds_all_it_names() {
    let link = |seq, byte| Link {
        seq,
        checksum: Digest([byte; 32]),
    };
    let none = Head::of(Kind::Journal, None, None);
    let one = Head::of(Kind::Journal, None, Some(link(0, 1)));
    let carried = Head::of(Kind::Journal, Some(&one), Some(link(0, 1)));
    assert_eq!((none.events, one.events, carried.events), (0, 1, 2));
    assert_eq!(Head::of(Kind::Journal, Some(&one), None), one);
    let others = [
        none,
        one,
        carried,
        Head::of(Kind::Journal, None, Some(link(0, 2))),
        Head::of(Kind::Journal, None, Some(link(1, 1))),
        Head::of(Kind::Journal, Some(&none), Some(link(1, 1))),
    ];
    let texts: std::collections::BTreeSet<String> = others.iter().map(Head::to_string).collect();
    assert_eq!(texts.len(), others.len());
    for head in others {
        assert_eq!(head.to_string().parse::<Head>().unwrap(), head);
    }
    let text = one.to_string();
    for bad in [
        text.replace(":1:", ":01:"),
        text.replace(":1:", ":+1:"),
        text.replace("-v1", "-v2"),
        text.to_uppercase(),
        format!("{text}0"),
        format!("{text}\n"),
        String::new(),
        "kb-journal-head-v1:1".to_owned(),
    ] {
        assert!(bad.parse::<Head>().is_err(), "{bad}");
    }
    let file = HeadFile {
        bytes: 9,
        carried: Some(one),
        last: Some(link(3, 4)),
    };
    let bytes = file.to_bytes();
    assert_eq!(HeadFile::parse(&bytes).unwrap(), file);
    let text = String::from_utf8(bytes).unwrap();
    for (from, to) in [
        ("\"events\":4", "\"events\":3"),
        ("\"events\":4", "\"events\":0"),
        ("kb.journal-head.v1", "kb.journal-head.v2"),
        ("\"bytes\":9", "\"bytes\":-9"),
        ("0404", "0504"),
        ("0101", "0102"),
        ("}", ",\"more\":1}"),
    ] {
        let changed = text.replacen(from, to, 1);
        if text.contains(from) {
            assert!(HeadFile::parse(changed.as_bytes()).is_err(), "{changed}");
        }
    }
}

fn paths() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec("[a-zäβ \"\\\\]{1,12}", 1..6)
}

fn journal_of(paths: &[String]) -> (Vec<u8>, Option<Link>) {
    let events: Vec<JournalEvent> = paths
        .iter()
        .map(|path| visit(path, Verb::Verify, Vec::new()))
        .collect();
    sealed(&events)
}

/// What a file says to somebody who knows the head: sound and of this head, or not.
fn holds(bytes: &[u8], head: &Head) -> bool {
    verify::<JournalEvent>(bytes, |_| {})
        .is_ok_and(|last| Head::of(Kind::Journal, None, last) == *head)
}

proptest! {
    #[test]
    fn no_changed_byte_goes_unseen(
        paths in paths(),
        at in any::<prop::sample::Index>(),
        to in any::<u8>(),
    ) {
        let (bytes, last) = journal_of(&paths);
        let head = Head::of(Kind::Journal, None, last);
        prop_assert!(holds(&bytes, &head));
        let mut changed = bytes.clone();
        let at = at.index(bytes.len());
        changed[at] = to;
        prop_assert_eq!(holds(&changed, &head), changed == bytes);
    }

    #[test]
    fn no_cut_deletion_swap_or_doubling_goes_unseen(
        paths in paths(),
        a in any::<prop::sample::Index>(),
        b in any::<prop::sample::Index>(),
        cut in any::<prop::sample::Index>(),
    ) {
        let (bytes, last) = journal_of(&paths);
        let head = Head::of(Kind::Journal, None, last);
        let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
        let (a, b) = (a.index(lines.len()), b.index(lines.len()));
        prop_assert!(!holds(&bytes[..cut.index(bytes.len())], &head));
        let mut deleted = lines.clone();
        deleted.remove(a);
        prop_assert!(!holds(&deleted.concat(), &head));
        // Without the head only a deletion at the end goes unseen.
        let sound = verify::<JournalEvent>(&deleted.concat(), |_| {}).is_ok();
        prop_assert_eq!(sound, a + 1 == lines.len());
        let mut doubled = lines.clone();
        doubled.insert(a, lines[b]);
        prop_assert!(!holds(&doubled.concat(), &head));
        if a != b {
            let mut swapped = lines.clone();
            swapped.swap(a, b);
            let bad = verify::<JournalEvent>(&swapped.concat(), |_| {}).unwrap_err();
            prop_assert_eq!(bad.line as usize, a.min(b) + 1);
        }
    }

    #[test]
    fn what_is_sealed_is_read(paths in paths(), latency in 0.0..1e12f64) {
        let mut events: Vec<JournalEvent> =
            paths.iter().map(|path| visit(path, Verb::Lint, Vec::new())).collect();
        events[0].latency_ms = latency;
        let (bytes, last) = sealed(&events);
        let mut read: Vec<Chained<JournalEvent>> = Vec::new();
        prop_assert_eq!(verify(&bytes, |event| read.push(event)).unwrap(), last);
        prop_assert_eq!(
            read.into_iter().map(|event| event.event).collect::<Vec<_>>(),
            events
        );
    }

    #[test]
    fn any_bytes_are_read_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let _ = verify::<HistoryEvent>(&bytes, |_| {});
        let _ = chain::read_line::<JournalEvent>(&bytes);
        let _ = HeadFile::parse(&bytes);
    }
}
