//! What the parts cost, in bytes a second: `cargo bench --bench micro`.
//!
//! The corpus benchmark says whether the whole is fast enough; these say where to look when it
//! is not.

#[path = "corpus/document.rs"]
mod document;
#[path = "corpus/vocabulary.rs"]
mod vocabulary;

use divan::counter::BytesCount;
use divan::{Bencher, black_box};

use kbc_queries::chunk::{CacgParams, Chunker, UnitParams, WindowParams, chunk_document};
use kbc_queries::commit::{hash, merkle};
use kbc_queries::derive::{derive_card, view};
use kbc_queries::parse::document::{Document, ExtractOptions, Format, extract};
use kbc_queries::text::lines::LineIndex;
use kbc_queries::text::normalize::normalize;
use kbc_queries::text::quote::{Matcher, Options, Passage, Quote, check_quote};

use vocabulary::{Random, Vocabulary};

/// A source of the corpus, and a book.
const SIZES: [usize; 2] = [27_000, 1_000_000];

fn main() {
    divan::main();
}

fn text(bytes: usize) -> String {
    document::markdown(&Vocabulary::new(), &mut Random::new(7, 0), bytes)
}

/// The document of a text. A benchmark without its document measures nothing, so there it ends.
fn parsed(text: &str) -> Document {
    match extract(text.as_bytes(), &ExtractOptions::new(Format::Markdown)) {
        Ok(document) => document,
        Err(error) => {
            eprintln!("no document: {error:?}");
            std::process::exit(1);
        }
    }
}

#[divan::bench(args = SIZES)]
fn extract_markdown(bencher: Bencher<'_, '_>, bytes: usize) {
    let text = text(bytes);
    let options = ExtractOptions::new(Format::Markdown);
    bencher
        .counter(BytesCount::of_str(&text))
        .bench_local(|| extract(black_box(text.as_bytes()), &options));
}

mod chunking {
    use super::*;

    fn run(bencher: Bencher<'_, '_>, bytes: usize, chunker: &Chunker) {
        let text = text(bytes);
        let document = parsed(&text);
        bencher
            .counter(BytesCount::of_str(&text))
            .bench_local(|| chunk_document(view(black_box(&document)), chunker));
    }

    #[divan::bench(args = SIZES)]
    fn cacg(bencher: Bencher<'_, '_>, bytes: usize) {
        run(bencher, bytes, &Chunker::Cacg(CacgParams::default()));
    }

    #[divan::bench(args = SIZES)]
    fn window(bencher: Bencher<'_, '_>, bytes: usize) {
        run(bencher, bytes, &Chunker::Window(WindowParams::default()));
    }

    #[divan::bench(args = SIZES)]
    fn unit(bencher: Bencher<'_, '_>, bytes: usize) {
        run(bencher, bytes, &Chunker::Unit(UnitParams::default()));
    }
}

mod hashing {
    use super::*;

    #[divan::bench(args = SIZES)]
    fn blake3_fingerprint(bencher: Bencher<'_, '_>, bytes: usize) {
        let text = text(bytes);
        bencher
            .counter(BytesCount::of_str(&text))
            .bench_local(|| kbc_queries::system::Fingerprint::of(black_box(text.as_bytes())));
    }

    #[divan::bench(args = SIZES)]
    fn sha256(bencher: Bencher<'_, '_>, bytes: usize) {
        let text = text(bytes);
        bencher
            .counter(BytesCount::of_str(&text))
            .bench_local(|| hash::sha256(black_box(text.as_bytes())));
    }

    #[divan::bench]
    fn chunk_hash(bencher: Bencher<'_, '_>) {
        let text = text(3_000);
        bencher
            .counter(BytesCount::of_str(&text))
            .bench_local(|| hash::chunk_hash(black_box(&text), 1, 1, &[]));
    }

    #[divan::bench(args = [10, 10_000])]
    fn merkle_root(bencher: Bencher<'_, '_>, leaves: usize) {
        let leaves: Vec<_> = (0..leaves as u64)
            .map(|number| merkle::leaf(&number.to_le_bytes()))
            .collect();
        bencher
            .counter(BytesCount::new(leaves.len() * 32))
            .bench_local(|| merkle::root(black_box(&leaves)));
    }
}

#[divan::bench(args = SIZES)]
fn normalise(bencher: Bencher<'_, '_>, bytes: usize) {
    let text = text(bytes);
    bencher
        .counter(BytesCount::of_str(&text))
        .bench_local(|| normalize(black_box(&text)).len());
}

#[divan::bench(args = SIZES)]
fn line_index(bencher: Bencher<'_, '_>, bytes: usize) {
    let text = text(bytes);
    bencher
        .counter(BytesCount::of_str(&text))
        .bench_local(|| LineIndex::new(black_box(&text)));
}

/// A card with so many citations, in the layout that people write or in one that only a whole
/// YAML parser reads.
fn card(citations: usize, everyday: bool) -> String {
    let vocabulary = Vocabulary::new();
    let mut random = Random::new(3, 0);
    let mut text = String::from(
        "---\nschema_version: \"cacg.v0\"\nid: \"a-card\"\ntitle: \"A card\"\nreading_id: \"reading\"\n\
         summary: \"What it says.\"\n",
    );
    text.push_str(if everyday {
        "tags: [\"one\", \"two\"]\ncitations:\n"
    } else {
        "tags: &tags\n  - !!str one\n  - \"two\"\ncitations:\n"
    });
    for ordinal in 0..citations {
        let mut quote = String::new();
        vocabulary.sentence(&mut random, false, &mut quote);
        text.push_str(&format!(
            "  - source_id: \"source\"\n    chunk_id: \"source:p001:{ordinal:04}\"\n    \
             chunk_hash: \"{:064x}\"\n    page_range: [1, 1]\n    quote: \"{quote}\"\n    edge_type: \"supports\"\n",
            ordinal + 1
        ));
    }
    text.push_str("---\n\n# A card\n\nWhat it says.\n");
    text
}

mod frontmatter {
    use super::*;

    fn run(bencher: Bencher<'_, '_>, text: &str) {
        bencher
            .counter(BytesCount::of_str(text))
            .bench_local(|| derive_card(black_box(text)));
    }

    #[divan::bench(args = [5, 200])]
    fn everyday(bencher: Bencher<'_, '_>, citations: usize) {
        run(bencher, &card(citations, true));
    }

    #[divan::bench(args = [5, 200])]
    fn any_yaml(bencher: Bencher<'_, '_>, citations: usize) {
        run(bencher, &card(citations, false));
    }
}

/// Quotes against a chunk of the usual size; the bytes are those of the chunk.
mod quotes {
    use super::*;

    const CHUNK: usize = 3_000;

    /// A passage of plain sentences, one of which runs over a line end.
    fn passage() -> String {
        let vocabulary = Vocabulary::new();
        let mut random = Random::new(11, 0);
        let mut text = String::new();
        while text.len() < CHUNK / 2 {
            vocabulary.sentence(&mut random, false, &mut text);
            text.push(' ');
        }
        text.push_str(
            "The old mill stands\nbeside the river, and its wheel turns at the turn of the tide. ",
        );
        while text.len() < CHUNK {
            vocabulary.sentence(&mut random, false, &mut text);
            text.push(' ');
        }
        text
    }

    /// 10 MB that come near the quote again and again: at most 200 ms.
    #[divan::bench(sample_count = 10)]
    fn hostile(bencher: Bencher<'_, '_>) {
        let text = "the old mill stands beside the river and its wheel turned ".repeat(173_000);
        let quote = "the old mill stands beside the river and its wheel turns";
        bencher.counter(BytesCount::of_str(&text)).bench_local(|| {
            check_quote(
                &Passage::whole(black_box(&text)),
                &Quote::new(black_box(quote)),
                Options::default(),
            )
        });
    }

    /// A small edit in a chunk of 2 KB: at most 5 ms.
    #[divan::bench]
    fn fuzzy(bencher: Bencher<'_, '_>) {
        let mut text = passage();
        let at = text.find("The old mill").unwrap_or(0).min(1_000);
        let from = text.floor_char_boundary(at);
        text.drain(..from);
        text.truncate(text.floor_char_boundary(2_000));
        let options = Options {
            fuzzy: true,
            ..Options::default()
        };
        let quote =
            "The old mill stands besides the river, and its wheel turns at the turn of the tide.";
        bencher.counter(BytesCount::of_str(&text)).bench_local(|| {
            check_quote(
                &Passage::whole(black_box(&text)),
                &Quote::new(quote),
                options,
            )
        });
    }

    const NORMALIZED: &str = "The old mill stands beside the river, and its wheel turns";
    const EXACT: &str = "beside the river, and its wheel turns at the turn of the tide.";
    const ABSENT: &str = "beside the river, and its wheel turned at the turn of the tide.";

    fn run(bencher: Bencher<'_, '_>, quote: &str) {
        let text = passage();
        bencher.counter(BytesCount::of_str(&text)).bench_local(|| {
            check_quote(
                &Passage::whole(black_box(&text)),
                &Quote::new(black_box(quote)),
                Options::default(),
            )
        });
    }

    #[divan::bench]
    fn exact(bencher: Bencher<'_, '_>) {
        run(bencher, EXACT);
    }

    #[divan::bench]
    fn normalized(bencher: Bencher<'_, '_>) {
        run(bencher, NORMALIZED);
    }

    #[divan::bench]
    fn absent(bencher: Bencher<'_, '_>) {
        run(bencher, ABSENT);
    }

    /// One folding of the passage for many quotes.
    #[divan::bench]
    fn normalized_again(bencher: Bencher<'_, '_>) {
        let text = passage();
        let matcher = Matcher::new(Passage::whole(&text));
        bencher
            .counter(BytesCount::of_str(&text))
            .bench_local(|| matcher.check(&Quote::new(black_box(NORMALIZED)), Options::default()));
    }
}
