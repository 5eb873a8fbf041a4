//! What holds for the chunks of every document.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use unicode_segmentation::UnicodeSegmentation as _;

use super::tests::{Sample, unit, window};
use super::*;

/// What holds for every document: slices in order and in bounds, nothing lost, no grapheme or
/// word cut, bounded size, pages kept apart.
pub(super) fn check(sample: &Sample, chunker: &Chunker, target: u32) -> Result<(), TestCaseError> {
    let chunks = sample.chunks(chunker);
    let text = sample.text.as_str();
    let graphemes: BTreeSet<usize> = text
        .grapheme_indices(true)
        .map(|(at, _)| at)
        .chain([text.len()])
        .collect();
    let mut inside_word = vec![false; text.len() + 1];
    words::for_each(text, |word| {
        // A narrow no-break space may be part of a word, and is white space all the same.
        let body = text[word.clone()].trim();
        let start = word.start + text[word].find(body).unwrap();
        inside_word[start + 1..start + body.len()].fill(true);
    });
    let mut covered = 0;
    let mut last_start = None;
    for (index, chunk) in chunks.list.iter().enumerate() {
        let body = chunks.text_of(text, chunk);
        prop_assert_eq!(chunk.ordinal as usize, index);
        prop_assert_eq!(body, &text[chunk.range.clone()]);
        prop_assert!(!body.trim().is_empty());
        // Only a space that carries a mark may begin or end a chunk.
        let trimmed = words::trim(text, chunk.range.clone());
        prop_assert_eq!(&trimmed, &chunk.range);
        prop_assert!(graphemes.contains(&chunk.range.start), "{:?}", body);
        prop_assert!(graphemes.contains(&chunk.range.end), "{:?}", body);
        prop_assert!(!inside_word[chunk.range.start], "{:?}", body);
        prop_assert!(!inside_word[chunk.range.end], "{:?}", body);
        prop_assert_eq!(chunk.token_count, words::count(body), "{:?}", body);
        if chunk.token_count > target {
            // Only what has no white space but such as forbids a break or carries a mark.
            let gap = |grapheme: &str| {
                grapheme.trim().is_empty() && !grapheme.contains(['\u{a0}', '\u{202f}', '\u{2007}'])
            };
            prop_assert!(!body.graphemes(true).any(gap), "{:?}", body);
        }
        prop_assert!(last_start.is_none_or(|last| last < chunk.range.start));
        last_start = Some(chunk.range.start);
        if covered < chunk.range.start {
            prop_assert!(text[covered..chunk.range.start].trim().is_empty());
        }
        prop_assert!(covered < chunk.range.end);
        covered = chunk.range.end;
        prop_assert_eq!(chunk.start_page, chunk.end_page);
        prop_assert_eq!(chunk.page_spans.len(), 1);
        prop_assert_eq!(
            chunk.hash,
            chunk_hash(body, chunk.start_page, chunk.end_page, &chunk.page_spans)
        );
    }
    prop_assert!(text[covered..].trim().is_empty());
    prop_assert_eq!(&chunks, &sample.chunks(chunker));
    Ok(())
}

#[test]
fn hostile_texts_take_linear_time() {
    let texts = [
        ("one word", "a".repeat(200_000)),
        ("one line of words", "ab ".repeat(70_000)),
        ("marks", "\u{301}".repeat(100_000)),
        ("line feeds", "\n".repeat(200_000)),
        ("spaces and marks", " \u{301}".repeat(50_000)),
        ("family", "👩‍👩‍👧‍👦".repeat(8_000)),
        ("flags", "🇨".repeat(50_000)),
        ("joiners", "\u{200d}".repeat(50_000)),
        ("ideographs", "漢字".repeat(30_000)),
        ("unknown Thai", "ก".repeat(30_000)),
        ("Thai", "ทุกสองสัปดาห์".repeat(3_000)),
        ("full stops", ".".repeat(200_000)),
        ("stops and spaces", ". ".repeat(100_000)),
        ("middle marks", "a.".repeat(100_000)),
        ("foreign middle marks", "é’\u{301}".repeat(30_000)),
        ("numbers", "1-".repeat(100_000)),
        ("headings", "# a\n".repeat(30_000)),
        ("open brackets", "(".repeat(200_000)),
        ("blank items", "- \n".repeat(40_000)),
    ];
    for (name, text) in &texts {
        for sample in [
            Sample::bare(text, true),
            Sample::bare(text, false),
            Sample::new(text),
        ] {
            for chunker in [
                window(512, 75),
                unit(800, &[("k", r"([#a]+) "), ("l", "(?s)a.*")]),
                unit(800, &[]),
                Chunker::Cacg(CacgParams::default()),
            ] {
                let start = Instant::now();
                let chunks = sample.chunks(&chunker);
                assert!(chunks.list.len() <= text.len());
                // Quadratic would take minutes; the bound leaves room for a slow machine.
                let took = start.elapsed();
                assert!(took < Duration::from_secs(20), "{name}: {took:?}");
            }
        }
    }
}

fn any_source() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[A-Ca-c]{1,6}[.,:!?]? ".prop_map(String::from),
        2 => "[a-c0-9.,'-]{1,8} ".prop_map(String::from),
        1 => Just("\n\n".to_owned()),
        1 => Just("\n".to_owned()),
        1 => "\n\n#{1,5} [A-C]{1,3}\n\n".prop_map(String::from),
        1 => Just("\n\n```\n".to_owned()),
        1 => Just("\n- ".to_owned()),
        1 => Just("\u{c}".to_owned()),
        1 => "\n[a-c]{1,2}> [a-c ]{1,9}\n".prop_map(String::from),
        1 => "[漢字日本語。「」ひらがなカタカナ]{1,12}".prop_map(String::from),
        1 => "[ทุกสองสัปดาห์ำ]{1,12}".prop_map(String::from),
        1 => "[é\u{301}\u{200d}\u{600}😀👩🇨🇭\u{a0}\u{202f} ’“”]{1,6}".prop_map(String::from),
        1 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn window_keeps_its_promises(source in any_source(), target in 1u32..40, overlap in 0u32..20) {
        let overlap = overlap.min(target - 1);
        check(&Sample::new(&source), &window(target, overlap), target)?;
        check(&Sample::bare(&source, true), &window(target, overlap), target)?;
        check(&Sample::bare(&source, false), &window(target, overlap), target)?;
    }

    #[test]
    fn unit_keeps_its_promises(source in any_source(), target in 1u32..40) {
        check(&Sample::new(&source), &unit(target, &[]), u32::MAX)?;
        check(&Sample::new(&source), &unit(target, &[("k", "(a)"), ("l", "##? ?B")]), u32::MAX)?;
        check(&Sample::bare(&source, true), &unit(target, &[]), target)?;
        check(&Sample::bare(&source, false), &unit(target, &[]), target)?;
    }

    #[test]
    fn chunks_survive_json(source in any_source()) {
        for chunker in [window(9, 2), unit(9, &[("k", "(a)")]), Chunker::Cacg(CacgParams::default())] {
            let chunks = Sample::new(&source).chunks(&chunker);
            let json = serde_json::to_string(&chunks).unwrap();
            prop_assert_eq!(serde_json::from_str::<Chunks>(&json).unwrap(), chunks);
        }
    }
}
