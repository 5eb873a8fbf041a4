//! Tests of the `window` and `unit` chunkers, kind by kind.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::properties::check;
use super::*;
use crate::parse::document::{Block, BlockKind};

/// A document as an extractor would give it, from a small Markdown: headings, fenced code and
/// paragraphs, parted by blank lines. A form feed begins a page; `key> ` begins a row.
pub(super) struct Sample {
    pub(super) text: String,
    pages: Vec<Range<usize>>,
    blocks: Vec<Block>,
    paged: bool,
}

impl Sample {
    pub(super) fn new(source: &str) -> Self {
        let mut sample = Self {
            text: source.to_owned(),
            pages: Vec::new(),
            blocks: Vec::new(),
            paged: source.contains('\u{c}'),
        };
        let mut at = 0;
        for page in source.split('\u{c}') {
            sample.pages.push(at..at + page.len());
            let mut open: Option<Range<usize>> = None;
            let mut fence: Option<usize> = None;
            let mut line_at = at;
            for line in page.split_inclusive('\n') {
                let range = line_at..line_at + line.trim_end_matches('\n').len();
                line_at += line.len();
                let text = line.trim();
                if let Some(start) = fence {
                    if text == "```" {
                        sample.block(start..range.end, BlockKind::Code);
                        fence = None;
                    }
                    continue;
                }
                let level = text.bytes().take_while(|byte| *byte == b'#').count();
                let special = text.is_empty()
                    || text == "```"
                    || (1..=6).contains(&level)
                    || text.contains("> ");
                if special && let Some(paragraph) = open.take() {
                    sample.block(paragraph, BlockKind::Paragraph);
                }
                if text == "```" {
                    fence = Some(range.start);
                } else if (1..=6).contains(&level) {
                    let title = text[level..].trim().into();
                    let level = u8::try_from(level).unwrap();
                    sample.block(range, BlockKind::Heading { level, title });
                } else if let Some((key, _)) = text.split_once("> ") {
                    sample.block(range, BlockKind::Row { key: key.into() });
                } else if !text.is_empty() {
                    open = Some(open.map_or(range.start, |open| open.start)..range.end);
                }
            }
            if let Some(paragraph) = open.take() {
                sample.block(paragraph, BlockKind::Paragraph);
            }
            at += page.len() + 1;
        }
        sample
    }

    /// The same text as one paragraph block, or without any block.
    pub(super) fn bare(source: &str, block: bool) -> Self {
        let mut sample = Self {
            text: source.to_owned(),
            pages: std::iter::once(0..source.len()).collect(),
            blocks: Vec::new(),
            paged: false,
        };
        if block {
            sample.block(0..source.len(), BlockKind::Paragraph);
        }
        sample
    }

    fn block(&mut self, range: Range<usize>, kind: BlockKind) {
        self.blocks.push(Block { range, kind });
    }

    pub(super) fn chunks(&self, chunker: &Chunker) -> Chunks {
        let view = DocumentView {
            text: &self.text,
            pages: &self.pages,
            blocks: &self.blocks,
            paged: self.paged,
        };
        chunk_document(view, chunker).unwrap()
    }

    fn texts(&self, chunker: &Chunker) -> Vec<String> {
        let chunks = self.chunks(chunker);
        (0..chunks.list.len())
            .map(|index| chunks.text(&self.text, index).to_owned())
            .collect()
    }
}

pub(super) fn window(tokens: u32, overlap: u32) -> Chunker {
    Chunker::Window(WindowParams { tokens, overlap })
}

pub(super) fn unit(max_tokens: u32, patterns: &[(&str, &str)]) -> Chunker {
    Chunker::Unit(UnitParams {
        max_tokens,
        patterns: patterns
            .iter()
            .map(|(kind, pattern)| UnitPattern {
                kind: (*kind).to_owned(),
                pattern: (*pattern).to_owned(),
            })
            .collect(),
    })
}

#[test]
fn a_section_that_fits_is_one_chunk() {
    let sample = Sample::new(
        "# Title\n\nIntro one two three four five six seven.\n\n## A\n\nText of A with some more words in it.\n\n## B\n\nText of B with some more words in it.\n",
    );
    let chunker = window(40, 5);
    assert_eq!(
        sample.texts(&chunker),
        [
            "# Title\n\nIntro one two three four five six seven.",
            "## A\n\nText of A with some more words in it.",
            "## B\n\nText of B with some more words in it.",
        ]
    );
    let chunks = sample.chunks(&chunker);
    let paths: Vec<String> = chunks
        .list
        .iter()
        .map(|c| c.heading_path.join(" › "))
        .collect();
    assert_eq!(paths, ["Title", "Title › A", "Title › B"]);
}

#[test]
fn crumbs_stay_together_and_a_higher_heading_parts_them() {
    let sample = Sample::new("# T\n\n## A\n\na b\n\n## B\n\nc d\n\n# U\n\ne f\n");
    assert_eq!(
        sample.texts(&window(400, 5)),
        ["# T\n\n## A\n\na b\n\n## B\n\nc d\n\n# U\n\ne f"]
    );
    let sample = Sample::new("## A\n\na b\n\n## B\n\nc d\n\n# U\n\ne f\n");
    assert_eq!(
        sample.texts(&window(400, 5)),
        ["## A\n\na b\n\n## B\n\nc d", "# U\n\ne f"]
    );
}

#[test]
fn long_paragraphs_are_cut_at_sentences_and_overlap_by_sentences() {
    let sentence = |n: u32| format!("Sentence number {n} has exactly eight short words.");
    let text: Vec<String> = (1..=6).map(sentence).collect();
    let sample = Sample::new(&text.join(" "));
    let texts = sample.texts(&window(24, 8));
    assert!(texts.len() > 2);
    for (index, body) in texts.iter().enumerate() {
        assert!(body.starts_with("Sentence number"), "{body}");
        assert!(body.ends_with("words."), "{body}");
        if index > 0 {
            let last = texts[index - 1].rsplit_once("Sentence").unwrap().1;
            assert!(body.starts_with(&format!("Sentence{last}")), "{body}");
        }
    }
}

#[test]
fn abbreviations_before_numbers_and_decimals_do_not_end_sentences() {
    let text = "see Fig. 5 and No. 7 at 3.14 m e.g. this. Next one here follows now.";
    let sample = Sample::bare(text, true);
    assert_eq!(
        sample.texts(&window(14, 0)),
        [
            "see Fig. 5 and No. 7 at 3.14 m e.g. this.",
            "Next one here follows now."
        ]
    );
}

#[test]
fn code_is_whole_unless_it_is_too_long() {
    let code = "```\nlet a = 1. B;\n\nlet c = 2;\n```";
    let sample = Sample::new(&format!(
        "Before it some words.\n\n{code}\n\nAfter it some words.\n"
    ));
    assert!(sample.texts(&window(10, 0)).contains(&code.to_owned()));
    let texts = sample.texts(&window(4, 0));
    assert!(
        texts.iter().any(|text| text == "let c = 2;\n```"),
        "{texts:?}"
    );
}

#[test]
fn scripts_without_spaces_are_cut_between_words() {
    for unit in [
        "今日は天気がいいから散歩しましょう。",
        "ทุกสองสัปดาห์",
        "ភាសាខ្មែរ",
        "မြန်မာဘာသာ",
    ] {
        let text = unit.repeat(40);
        let sample = Sample::bare(&text, true);
        let chunker = window(20, 4);
        let chunks = sample.chunks(&chunker);
        assert!(chunks.list.len() > 2, "{unit}");
        assert!(chunks.list.iter().all(|chunk| chunk.token_count <= 20));
        check(&sample, &chunker, 20).unwrap();
    }
}

#[test]
fn numbers_keep_their_signs_where_there_is_no_space() {
    let text = "漢字-5漢字".repeat(30);
    let sample = Sample::bare(&text, true);
    for body in sample.texts(&window(6, 0)) {
        assert!(!body.starts_with('5') && !body.ends_with('-'), "{body}");
    }
}

#[test]
fn pages_are_never_crossed() {
    let sample = Sample::new("one two\nthree\u{c}four five\u{c}\u{c}six");
    let chunks = sample.chunks(&window(100, 10));
    let pages: Vec<(u32, u32)> = chunks
        .list
        .iter()
        .map(|c| (c.start_page, c.end_page))
        .collect();
    assert_eq!(pages, [(1, 1), (2, 2), (4, 4)]);
    assert_eq!(
        sample.texts(&unit(100, &[])),
        ["one two\nthree", "four five", "six"]
    );
    assert_eq!(&*sample.chunks(&unit(100, &[])).list[0].source_type, "page");
}

/// A text of several sections with paragraphs of several sentences.
fn book(sections: usize, paragraphs: usize, seed: u64) -> String {
    let mut text = String::from("# Book\n\n");
    let mut state = seed;
    let mut next = |bound: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % bound
    };
    for section in 0..sections {
        writeln!(text, "## Section {section}\n").unwrap();
        for _ in 0..paragraphs {
            for _ in 0..next(6) + 2 {
                write!(text, "The").unwrap();
                for _ in 0..next(12) + 4 {
                    write!(text, " w{}", next(5000)).unwrap();
                }
                text.push_str(". ");
            }
            text.push_str("\n\n");
        }
    }
    text
}

fn hashes(text: &str, chunker: &Chunker) -> Vec<Digest> {
    Sample::new(text)
        .chunks(chunker)
        .list
        .iter()
        .map(|chunk| chunk.hash)
        .collect()
}

#[test]
fn an_edit_in_one_section_leaves_the_others_alone() {
    let before = book(20, 30, 1);
    let at = before.find("## Section 7\n").unwrap() + 14;
    let after = format!(
        "{}{}{}",
        &before[..at],
        "New words stand here now. ".repeat(9),
        &before[at..]
    );
    let chunker = window(512, 75);
    let untouched = |text: &str| -> Vec<Digest> {
        let sample = Sample::new(text);
        sample
            .chunks(&chunker)
            .list
            .iter()
            .filter(|chunk| {
                chunk
                    .heading_path
                    .last()
                    .is_none_or(|title| **title != *"Section 7")
            })
            .map(|chunk| chunk.hash)
            .collect()
    };
    assert_eq!(untouched(&before), untouched(&after));
    assert_ne!(hashes(&before, &chunker), hashes(&after, &chunker));
}

#[test]
fn an_edit_in_text_without_headings_soon_stops_mattering() {
    let chunker = window(512, 75);
    let mut changed = 0;
    let mut total = 0;
    for seed in 0..20 {
        let before = book(1, 200, seed);
        let at = before.len() / 4 + before[before.len() / 4..].find("\n\n").unwrap() + 2;
        let after = format!(
            "{}{} \n\n{}",
            &before[..at],
            "A new paragraph of words. ".repeat(12),
            &before[at..]
        );
        let old: BTreeSet<Digest> = hashes(&before, &chunker).into_iter().collect();
        let new = hashes(&after, &chunker);
        total += new.len();
        changed += new.iter().filter(|hash| !old.contains(hash)).count();
    }
    // Counting alone would change three quarters of them.
    assert!(changed * 5 < total, "{changed} of {total} chunks changed");
}

const RULES: &str = "# Canon\n\nPreface.\n\n## Hard lines\n\nWhat follows is absolute.\n\n**HL-1** Never A.\nExcept B.\n\nMore of the first.\n\n**HL-2** Never C.\n\n### Exceptions\n\nD.\n\n## After\n\nPlain.\n";

#[test]
fn units_of_a_pattern_are_atomic() {
    let sample = Sample::new(RULES);
    let chunker = unit(800, &[("hard_line", r"\*\*(HL-\d+)\*\*")]);
    let chunks = sample.chunks(&chunker);
    let seen: Vec<(&str, Option<&str>, &str)> = chunks
        .list
        .iter()
        .map(|chunk| {
            (
                &*chunk.source_type,
                chunk.unit_id.as_deref(),
                chunks.text_of(&sample.text, chunk),
            )
        })
        .collect();
    assert_eq!(
        seen,
        [
            ("section", None, "# Canon\n\nPreface."),
            (
                "section",
                None,
                "## Hard lines\n\nWhat follows is absolute."
            ),
            (
                "hard_line",
                Some("HL-1"),
                "**HL-1** Never A.\nExcept B.\n\nMore of the first."
            ),
            (
                "hard_line",
                Some("HL-2"),
                "**HL-2** Never C.\n\n### Exceptions\n\nD."
            ),
            ("section", None, "## After\n\nPlain."),
        ]
    );
    assert_eq!(
        &*chunks.list[2].heading_path,
        ["Canon".into(), "Hard lines".into()]
    );
}

#[test]
fn a_unit_begins_at_lines_inside_a_block_and_not_inside_lines() {
    let sample = Sample::new("R-1 one\nsee R-9 there\nR-2 two\n  R-3 indented\n");
    assert_eq!(
        sample.texts(&unit(800, &[("rule", r"(R-\d+)")])),
        ["R-1 one\nsee R-9 there", "R-2 two\n  R-3 indented"]
    );
    // The first of two patterns that match a line counts.
    let chunks = sample.chunks(&unit(800, &[("a", "R-1"), ("b", r"(R-\d+)")]));
    let kinds: Vec<&str> = chunks
        .list
        .iter()
        .map(|chunk| &*chunk.source_type)
        .collect();
    assert_eq!(kinds, ["a", "b"]);
}

#[test]
fn a_pattern_that_is_a_heading_ends_at_its_own_level() {
    let sample = Sample::new(
        "## X\n\nx\n\n### Rule 1\n\na\n\n#### Note\n\nb\n\n### Other\n\nc\n\n### Rule 2\n\nd\n\n## Y\n\ny\n",
    );
    let chunks = sample.chunks(&unit(800, &[("rule", r"### (Rule \d)")]));
    let seen: Vec<(&str, &str)> = chunks
        .list
        .iter()
        .map(|chunk| (&*chunk.source_type, chunks.text_of(&sample.text, chunk)))
        .collect();
    assert_eq!(
        seen,
        [
            ("section", "## X\n\nx"),
            ("rule", "### Rule 1\n\na\n\n#### Note\n\nb"),
            ("section", "### Other\n\nc"),
            ("rule", "### Rule 2\n\nd"),
            ("section", "## Y\n\ny"),
        ]
    );
}

#[test]
fn a_rule_is_split_only_when_it_is_very_long() {
    let paragraph = "word ".repeat(9);
    let rule = |count: usize| format!("R-1 rule\n\n{}", format!("{paragraph}\n\n").repeat(count));
    let chunker = unit(10, &[("rule", r"(R-\d+)")]);
    assert_eq!(Sample::new(&rule(4)).texts(&chunker).len(), 1);
    let sample = Sample::new(&rule(9));
    let chunks = sample.chunks(&chunker);
    assert!(chunks.list.len() > 1);
    for chunk in &chunks.list {
        assert_eq!(chunk.unit_id.as_deref(), Some("R-1"));
        assert!(chunk.token_count <= 40);
    }
}

#[test]
fn long_sections_are_split_at_paragraphs_under_one_path() {
    let sample = Sample::new(&book(2, 40, 3));
    let chunks = sample.chunks(&unit(200, &[]));
    assert!(chunks.list.len() > 10);
    for chunk in &chunks.list {
        let body = chunks.text_of(&sample.text, chunk);
        assert!(body.starts_with("The ") || body.starts_with('#'), "{body}");
        assert_eq!(chunk.heading_path.len(), 2);
        assert_eq!(&*chunk.source_type, "section");
    }
}

#[test]
fn rows_files_and_titles() {
    let sample = Sample::new("k1> one — registry: a=b\nk2> two\n");
    let chunks = sample.chunks(&unit(800, &[]));
    let rows: Vec<_> = chunks
        .list
        .iter()
        .map(|chunk| (&*chunk.source_type, chunk.unit_id.as_deref()))
        .collect();
    assert_eq!(
        rows,
        [("registry_row", Some("k1")), ("registry_row", Some("k2"))]
    );

    let chunks = Sample::new("# Note\n\nOne.\n\nTwo.\n").chunks(&unit(800, &[]));
    assert_eq!(chunks.list.len(), 1);
    assert_eq!(&*chunks.list[0].source_type, "file");

    let sample = Sample::new("front\n\n# T\n\n## A\n\n### B\n\nb\n\n##### deep\n\nc\n\n# U\n\nu\n");
    assert_eq!(
        sample.texts(&unit(800, &[])),
        [
            "front\n\n# T",
            "## A\n\n### B\n\nb\n\n##### deep\n\nc",
            "# U\n\nu"
        ]
    );
}

#[test]
fn patterns_that_cannot_be_used_are_refused() {
    for bad in ["(", ")", "a)|(b", "", "x*", r"\w{5000}{50}"] {
        assert!(
            matches!(
                unit(800, &[("k", bad)]).validate(),
                Err(ChunkError::Pattern { .. })
            ),
            "{bad:?}"
        );
    }
    assert_eq!(unit(800, &[("k", "^#+ x")]).validate(), Ok(()));
    assert_eq!(unit(0, &[]).validate(), Err(ChunkError::NoTarget));
    assert!(window(75, 75).validate().is_err());
}

#[test]
fn views_that_do_not_fit_are_refused() {
    let text = "aé";
    let block = |range: Range<usize>| Block {
        range,
        kind: BlockKind::Paragraph,
    };
    let cases: Vec<(Vec<Range<usize>>, Vec<Block>)> = vec![
        (vec![0..2; 1], vec![]),
        (vec![0..9; 1], vec![]),
        (vec![1..3, 0..1], vec![]),
        (vec![0..3; 1], vec![block(0..1), block(0..3)]),
        (vec![0..3; 1], vec![block(2..3)]),
    ];
    for (pages, blocks) in &cases {
        let view = DocumentView {
            text,
            pages,
            blocks,
            paged: true,
        };
        for chunker in [
            window(5, 1),
            unit(5, &[]),
            Chunker::Cacg(CacgParams::default()),
        ] {
            assert!(matches!(
                chunk_document(view, &chunker),
                Err(ChunkError::Inconsistent(_))
            ));
        }
    }
}

#[test]
fn nothing_gives_no_chunks() {
    for text in ["", "\n\n \n", "\u{a0}\u{3000}"] {
        for chunker in [
            window(5, 1),
            unit(5, &[]),
            Chunker::Cacg(CacgParams::default()),
        ] {
            assert_eq!(Sample::new(text).chunks(&chunker), Chunks::default());
        }
    }
}
