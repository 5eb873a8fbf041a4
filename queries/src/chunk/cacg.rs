//! The chunker of the card-graph contract (§2.3), byte for byte.
//!
//! Each page is brought to normal form and split into paragraphs at sentence ends; whole
//! paragraphs are gathered into chunks, the last few of a chunk are carried into the next, and
//! the gathered text is brought to normal form once more. That second pass may change it, because
//! the normal form is not idempotent; the offsets of pages are those before it. All of this is
//! what existing hashes were made of, so none of it is improved here.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use super::{CacgParams, Chunk, Chunks, DocumentView, PageSpan, TextRef};
use crate::commit::hash::chunk_hash;
use crate::text::normalize::{is_space, normalize};

/// Fewest tokens after which a sentence end closes a paragraph.
const MIN_PARAGRAPH_TOKENS: u32 = 6;

/// A run of tokens of one page.
struct Paragraph {
    /// Index of the page, from 0.
    page: usize,
    tokens: u32,
    /// In the page's text in normal form.
    normal: Range<usize>,
    /// In the document's text.
    source: Range<usize>,
}

pub(super) fn chunk(document: &DocumentView<'_>, params: &CacgParams) -> Chunks {
    chunk_pages(document, params, normalize)
}

/// The same, but the pages are not brought to normal form before they are split (contract §2.7).
pub(super) fn chunk_as_given(document: &DocumentView<'_>, params: &CacgParams) -> Chunks {
    chunk_pages(document, params, |text| {
        let tokens: Vec<&str> = text.split(is_space).filter(|t| !t.is_empty()).collect();
        Cow::Owned(tokens.join(" "))
    })
}

fn chunk_pages(
    document: &DocumentView<'_>,
    params: &CacgParams,
    prepare: impl Fn(&str) -> Cow<'_, str>,
) -> Chunks {
    let pages: Vec<(usize, &str, Cow<'_, str>)> = (0..document.page_count())
        .map(|index| {
            let (start, text) = document.page_text(index);
            (start, text, prepare(text))
        })
        .collect();
    let mut paragraphs = Vec::new();
    for (index, (start, raw, normal)) in pages.iter().enumerate() {
        split_page(index, *start, raw, normal, &mut paragraphs);
    }

    let mut output = Output {
        pages: &pages,
        list: Vec::new(),
        normalized: String::new(),
        source_type: Arc::from("cacg"),
        heading_path: Arc::from([]),
    };
    // The current chunk is always a run of neighbours, because the carry is a suffix of it.
    let mut from = 0;
    let mut tokens = 0u32;
    for (next, paragraph) in paragraphs.iter().enumerate() {
        let current = paragraphs.get(from..next).unwrap_or(&[]);
        let too_long = tokens.saturating_add(paragraph.tokens) > params.target_tokens;
        let pages_after = distinct_pages(current, Some(paragraph.page));
        if !current.is_empty() && (too_long || pages_after > params.max_pages_per_chunk) {
            output.emit(current);
            tokens = 0;
            from = next;
            for carried in current.iter().rev() {
                if tokens.saturating_add(carried.tokens) > params.overlap_tokens {
                    break;
                }
                tokens += carried.tokens;
                from -= 1;
            }
            while let Some(dropped) = paragraphs.get(from..next).and_then(<[Paragraph]>::first)
                && distinct_pages(
                    paragraphs.get(from..next).unwrap_or(&[]),
                    Some(paragraph.page),
                ) > params.max_pages_per_chunk
            {
                tokens -= dropped.tokens;
                from += 1;
            }
        }
        tokens = tokens.saturating_add(paragraph.tokens);
    }
    if let Some(rest) = paragraphs.get(from..)
        && !rest.is_empty()
    {
        output.emit(rest);
    }
    Chunks {
        list: output.list.into(),
        normalized: output.normalized.into(),
    }
}

/// Number of pages of a run of paragraphs and one more; a run is in page order, and pages without
/// paragraphs do not count.
fn distinct_pages(run: &[Paragraph], then: Option<usize>) -> u32 {
    let mut last = None;
    let mut count = 0;
    for page in run.iter().map(|paragraph| paragraph.page).chain(then) {
        if last != Some(page) {
            count += 1;
            last = Some(page);
        }
    }
    count
}

/// Splits a page in normal form, whose tokens stand one space apart, into paragraphs.
fn split_page(
    page: usize,
    page_start: usize,
    raw: &str,
    normal: &str,
    paragraphs: &mut Vec<Paragraph>,
) {
    let mut sources = RawTokens { text: raw, at: 0 };
    // Should the two ever disagree on the number of tokens, the rest of the page is the cover.
    let mut last_source = 0..raw.len();
    let mut open: Option<Paragraph> = None;
    let mut tokens = tokens_of(normal).peekable();
    while let Some(token) = tokens.next() {
        last_source = sources
            .next()
            .unwrap_or(last_source.start.min(raw.len())..raw.len());
        let source = page_start + last_source.start..page_start + last_source.end;
        let paragraph = open.get_or_insert_with(|| Paragraph {
            page,
            tokens: 0,
            normal: token.clone(),
            source: source.clone(),
        });
        paragraph.tokens += 1;
        paragraph.normal.end = token.end;
        paragraph.source.end = source.end;
        let ends = normal
            .get(token)
            .is_some_and(|text| text.ends_with(['.', '?', '!']));
        let next_is_upper = tokens
            .peek()
            .and_then(|next| normal.get(next.clone()))
            .and_then(|next| next.chars().next())
            .is_some_and(char::is_uppercase);
        if ends && next_is_upper && paragraph.tokens >= MIN_PARAGRAPH_TOKENS {
            paragraphs.extend(open.take());
        }
    }
    paragraphs.extend(open);
}

/// Tokens of a text in normal form.
fn tokens_of(normal: &str) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    normal.split(' ').filter_map(move |token| {
        let range = at..at + token.len();
        at = range.end + 1;
        (!token.is_empty()).then_some(range)
    })
}

/// The stretches of a raw page that its tokens in normal form come from, in order.
///
/// The normal form moves no token: it drops a hyphen with the white space after it when that holds
/// a line feed, and parts tokens at the rest of the white space. Composition and ligatures stay
/// within a token.
struct RawTokens<'a> {
    text: &'a str,
    at: usize,
}

impl Iterator for RawTokens<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let mut token: Option<Range<usize>> = None;
        loop {
            // Most of a token is plain: no white space, no hyphen, one byte a character.
            let plain = self
                .text
                .as_bytes()
                .get(self.at..)
                .unwrap_or(&[])
                .iter()
                .take_while(|byte| matches!(byte, b'!'..=b'~') && **byte != b'-')
                .count();
            if plain > 0 {
                let end = self.at + plain;
                token = Some(token.map_or(self.at, |token| token.start)..end);
                self.at = end;
            }
            let Some(rest) = self.text.get(self.at..) else {
                break;
            };
            let Some(c) = rest.chars().next() else {
                break;
            };
            let after = rest.get(c.len_utf8()..).unwrap_or("");
            if is_space(c) {
                if token.is_some() {
                    break;
                }
                self.at += c.len_utf8();
                continue;
            }
            if c == '-' {
                let beyond = after.trim_start_matches(is_space);
                let gap = after.get(..after.len() - beyond.len()).unwrap_or("");
                if gap.contains('\n') {
                    self.at += 1 + gap.len();
                    continue;
                }
            }
            let end = self.at + c.len_utf8();
            token = Some(token.map_or(self.at, |token| token.start)..end);
            self.at = end;
        }
        token
    }
}

struct Output<'p> {
    pages: &'p [(usize, &'p str, Cow<'p, str>)],
    list: Vec<Chunk>,
    normalized: String,
    source_type: Arc<str>,
    heading_path: Arc<[Box<str>]>,
}

impl Output<'_> {
    fn emit(&mut self, run: &[Paragraph]) {
        let (Some(first), Some(last)) = (run.first(), run.last()) else {
            return;
        };
        let mut joined = String::new();
        let mut page_spans: Vec<PageSpan> = Vec::new();
        let mut chars = 0usize;
        let mut token_count = 0u32;
        let mut last_page = None;
        for (index, paragraph) in run.iter().enumerate() {
            if index > 0 {
                joined.push(' ');
                chars += 1;
            }
            if last_page != Some(paragraph.page) {
                page_spans.push(PageSpan {
                    page: page_number(paragraph.page),
                    offset: u32::try_from(chars).unwrap_or(u32::MAX),
                });
                last_page = Some(paragraph.page);
            }
            let text = self
                .pages
                .get(paragraph.page)
                .and_then(|(_, _, normal)| normal.get(paragraph.normal.clone()))
                .unwrap_or("");
            joined.push_str(text);
            chars += text.chars().count();
            token_count = token_count.saturating_add(paragraph.tokens);
        }
        let text = normalize(&joined);
        let start_page = page_number(first.page);
        let end_page = page_number(last.page);
        let start = self.normalized.len();
        self.normalized.push_str(&text);
        self.list.push(Chunk {
            ordinal: u32::try_from(self.list.len()).unwrap_or(u32::MAX),
            start_page,
            end_page,
            hash: chunk_hash(&text, start_page, end_page, &page_spans),
            page_spans: page_spans.into(),
            token_count,
            range: first.source.start..last.source.end,
            source_type: Arc::clone(&self.source_type),
            unit_id: None,
            heading_path: Arc::clone(&self.heading_path),
            text: TextRef::Normalized(start..self.normalized.len()),
        });
    }
}

fn page_number(index: usize) -> u32 {
    u32::try_from(index + 1).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::super::{ChunkError, Chunker, chunk_document, chunk_id};
    use super::*;
    use crate::commit::canonical;

    const GOLDEN: &str =
        include_str!("../../../fixtures/cacg/tests/parity_corpus/out_python/chunks_manifest.json");

    /// A text of the given pages, one line apart, and their ranges.
    fn paged(pages: &[&str]) -> (String, Vec<Range<usize>>) {
        let mut text = String::new();
        let mut ranges = Vec::new();
        for page in pages {
            let start = text.len();
            text.push_str(page);
            ranges.push(start..text.len());
            text.push('\n');
        }
        (text, ranges)
    }

    fn run(pages: &[&str], params: CacgParams) -> (String, Chunks) {
        let (text, ranges) = paged(pages);
        let view = DocumentView {
            text: &text,
            pages: &ranges,
            blocks: &[],
            paged: true,
        };
        let chunks = chunk_document(view, &Chunker::Cacg(params)).unwrap();
        (text, chunks)
    }

    fn manifest(source_id: &str, text: &str, chunks: &Chunks) -> Value {
        let records: Vec<Value> = chunks
            .list
            .iter()
            .map(|chunk| {
                let body = chunks.text_of(text, chunk);
                json!({
                    "schema_version": "cacg.v0",
                    "source_id": source_id,
                    "chunk_id": chunk_id(source_id, chunk.start_page, chunk.ordinal),
                    "chunk_hash": chunk.hash,
                    "ordinal": chunk.ordinal,
                    "start_page": chunk.start_page,
                    "end_page": chunk.end_page,
                    "page_spans": chunk.page_spans.iter().map(|span| json!({
                        "page": span.page, "byte_offset_in_chunk": span.offset,
                    })).collect::<Vec<_>>(),
                    "token_count": chunk.token_count,
                    "text": body,
                    "text_preview": body.chars().take(120).collect::<String>(),
                })
            })
            .collect();
        json!({
            "schema_version": "cacg.v0",
            "chunks": records,
            "retracted_source_ids": [],
            "retracted_chunk_ids": [],
        })
    }

    #[test]
    fn the_golden_manifest_byte_for_byte() {
        let golden: Value = serde_json::from_str(GOLDEN).unwrap();
        let first = golden["chunks"][0]["text"].as_str().unwrap();
        let second = golden["chunks"][1]["text"].as_str().unwrap();
        // The text is ASCII, so the offsets of pages are byte offsets.
        let pages = [&first[..705], &first[706..], &second[258..]];
        let (text, chunks) = run(&pages, CacgParams::default());
        assert_eq!(
            canonical::to_string(&manifest("sample", &text, &chunks)),
            GOLDEN
        );
        // The cover in the document is the text itself here, but for the line feed between pages.
        for chunk in &chunks.list {
            assert_eq!(
                text[chunk.range.clone()].replace('\n', " "),
                chunks.text_of(&text, chunk)
            );
        }
    }

    #[test]
    fn lines_and_ligatures_of_a_page_give_the_same_chunks() {
        let plain = "The efficient office is affected by one well known draft today. Then more.";
        let set =
            "The eﬃcient  oﬃce is aﬀected by one well kno-\n  wn draft\ntoday. Then\u{a0}more.";
        let (_, expected) = run(&[plain], CacgParams::default());
        let (text, chunks) = run(&[set], CacgParams::default());
        assert_eq!(chunks.list[0].hash, expected.list[0].hash);
        assert_eq!(&text[chunks.list[0].range.clone()], set);
    }

    #[test]
    fn paragraphs_close_at_a_sentence_end_before_an_upper_case_letter() {
        let params = CacgParams {
            target_tokens: 7,
            overlap_tokens: 0,
            max_pages_per_chunk: 2,
        };
        let texts = |page: &str| -> Vec<String> {
            let (text, chunks) = run(&[page], params);
            (0..chunks.list.len())
                .map(|index| chunks.text(&text, index).to_owned())
                .collect()
        };
        assert_eq!(
            texts("a b c d e f. Élan b c d e f"),
            ["a b c d e f.", "Élan b c d e f"]
        );
        // Five tokens, a lower-case letter, a digit and a quotation mark do not close one.
        for whole in [
            "a b c d e. F b c d e f",
            "a b c d e f. g b c d e f",
            "a b c d e f. 1 b c d e f",
            "a b c d e f. “G b c d e f",
            "a b c d e f.” G b c d e f",
        ] {
            assert_eq!(texts(whole), [whole]);
        }
    }

    #[test]
    fn whole_paragraphs_are_carried_within_the_overlap_and_the_page_cap() {
        let params = CacgParams {
            target_tokens: 14,
            overlap_tokens: 7,
            max_pages_per_chunk: 2,
        };
        let sentence = |word: &str| format!("{word} b c d e f.");
        let pages = [
            [sentence("A"), sentence("B")].join(" "),
            sentence("C"),
            sentence("D"),
        ];
        let pages: Vec<&str> = pages.iter().map(String::as_str).collect();
        let (text, chunks) = run(&pages, params);
        let texts: Vec<&str> = (0..chunks.list.len())
            .map(|index| chunks.text(&text, index))
            .collect();
        assert_eq!(
            texts,
            [
                "A b c d e f. B b c d e f.",
                "B b c d e f. C b c d e f.",
                "C b c d e f. D b c d e f.",
            ]
        );
        let pages: Vec<(u32, u32)> = chunks
            .list
            .iter()
            .map(|chunk| (chunk.start_page, chunk.end_page))
            .collect();
        assert_eq!(pages, [(1, 1), (1, 2), (2, 3)]);

        let one_page = CacgParams {
            max_pages_per_chunk: 1,
            ..params
        };
        let (text, chunks) = run(&["A b. ", "", "C d."], one_page);
        assert_eq!(chunks.list.len(), 2);
        assert_eq!(chunks.text(&text, 1), "C d.");
        assert_eq!(chunks.list[1].start_page, 3);
    }

    #[test]
    fn offsets_are_code_points_before_the_last_normal_form() {
        let (_, chunks) = run(&["Ünïcödé 😀", "second"], CacgParams::default());
        let spans: Vec<(u32, u32)> = chunks.list[0]
            .page_spans
            .iter()
            .map(|span| (span.page, span.offset))
            .collect();
        assert_eq!(spans, [(1, 0), (2, 10)]);
    }

    #[test]
    fn bad_parameters_are_named() {
        let try_params = |target_tokens, overlap_tokens, max_pages_per_chunk| {
            Chunker::Cacg(CacgParams {
                target_tokens,
                overlap_tokens,
                max_pages_per_chunk,
            })
            .validate()
        };
        assert_eq!(try_params(0, 0, 1), Err(ChunkError::NoTarget));
        assert_eq!(
            try_params(5, 5, 1),
            Err(ChunkError::OverlapTooLarge {
                overlap: 5,
                target: 5
            })
        );
        assert_eq!(try_params(5, 4, 0), Err(ChunkError::NoPages));
        assert_eq!(try_params(5, 4, 1), Ok(()));
    }

    proptest! {
        #[test]
        fn the_cover_gives_the_text(
            pages in prop::collection::vec("[A-Ca.?é\u{301}ﬁ\u{a0}\u{1c} \n-]{0,60}", 0..4),
            target in 1u32..12,
            overlap in 0u32..6,
            max_pages in 1u32..4,
        ) {
            let overlap = overlap.min(target - 1);
            let params = CacgParams {
                target_tokens: target,
                overlap_tokens: overlap,
                max_pages_per_chunk: max_pages,
            };
            let pages: Vec<&str> = pages.iter().map(String::as_str).collect();
            let (text, chunks) = run(&pages, params);
            let (_, ranges) = paged(&pages);
            for chunk in &chunks.list {
                prop_assert!(chunk.token_count >= 1);
                prop_assert!(chunk.end_page - chunk.start_page < max_pages.max(1) + 4);
                prop_assert!(chunk.page_spans.len() as u32 <= max_pages);
                // Page by page, the normal form of the covered stretch is the text of the chunk.
                let cover: Vec<String> = ranges
                    .iter()
                    .map(|page| {
                        let from = page.start.max(chunk.range.start);
                        let to = page.end.min(chunk.range.end);
                        text.get(from..to).unwrap_or("").to_owned()
                    })
                    .map(|part| normalize(&part).into_owned())
                    .filter(|part| !part.is_empty())
                    .collect();
                let cover = cover.join(" ");
                prop_assert_eq!(normalize(&cover), chunks.text_of(&text, chunk));
            }
        }
    }
}
