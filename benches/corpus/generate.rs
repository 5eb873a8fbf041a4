//! A corpus on disk: sources, cards whose citations all verify, a source matrix, settings.
//!
//! Chunk ids, hashes and the verdict that each quote is to get come from the same library that the
//! program uses, so a corpus stays valid when a chunker changes; it is made again then.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;

use kbc::workspace::Project;
use kbc::workspace::discover::{Matcher, Role, discover};
use kbc::workspace::ids::{Candidate, assign};
use kbc_queries::chunk::{Chunks, chunk_document, chunk_id};
use kbc_queries::derive::view;
use kbc_queries::parse::document::{Document, Format, extract};
use kbc_queries::text::quote::{MatchClass, Options, Passage, Quote, check_quote};

use crate::document::markdown;
use crate::vocabulary::{Random, Vocabulary};

/// Files in one folder, about.
const PER_FOLDER: usize = 50;
/// Citations of a card.
const CITATIONS: usize = 5;
/// Readings of the matrix.
const READINGS: usize = 20;
/// Of so many sources, a reading may cite one.
const SHARE: usize = 5;
/// Bytes of a made-up source.
const SOURCE_BYTES: usize = 27_000;
/// The seed of everything.
const SEED: u64 = 20_240_229;

const SETTINGS: &str = "profile = \"strict\"\n\n[[collection]]\nname = \"sources\"\ninclude = [\"sources/**\"]\n\n\
    [cards]\ninclude = [\"cards/**/*.md\"]\n";

/// What a corpus is made of.
#[derive(Clone, Debug)]
pub enum Kind {
    /// So many made-up Markdown sources.
    MadeUp(usize),
    /// A copy of the documents below a directory.
    Real(PathBuf),
}

/// Makes the corpus at `root`, which must not be there yet.
pub fn generate(root: &Path, kind: &Kind) -> Result<String, Box<dyn Error>> {
    let vocabulary = Vocabulary::new();
    match kind {
        Kind::MadeUp(count) => (0..*count).into_par_iter().try_for_each(|index| {
            let mut random = Random::new(SEED, index as u64);
            let text = markdown(&vocabulary, &mut random, SOURCE_BYTES);
            let path = format!(
                "sources/part_{:03}/record_{index:05}.md",
                index / PER_FOLDER
            );
            write(&root.join(path), text.as_bytes())
        })?,
        Kind::Real(directory) => copy_documents(directory, &root.join("sources"))?,
    }
    write(&root.join("kb.toml"), SETTINGS.as_bytes())?;
    write(&root.join(".gitignore"), b".kb/\n")?;

    let sources = read_sources(root)?;
    if sources.is_empty() {
        return Err("there is no document to cite".into());
    }
    let cards = match kind {
        Kind::MadeUp(count) => count * 4,
        Kind::Real(_) => (sources.len() * 4).max(READINGS),
    };
    let allowed: Vec<Vec<usize>> = (0..READINGS)
        .map(|reading| {
            let share = SHARE.min(sources.len());
            (0..sources.len())
                .filter(|index| index % share == reading % share)
                .collect()
        })
        .collect();
    let counts: Vec<(usize, usize)> = (0..cards)
        .into_par_iter()
        .map(|index| -> std::io::Result<(usize, usize)> {
            let reading = index % READINGS;
            let mut random = Random::new(SEED ^ 0xca4d, index as u64);
            let from = allowed.get(reading).map_or(&[][..], Vec::as_slice);
            let card = Card::draw(&vocabulary, &mut random, &sources, from, index);
            let folder = index / READINGS / PER_FOLDER;
            let path = format!("cards/reading_{reading:02}/set_{folder:03}/card_{index:06}.md");
            write(&root.join(path), card.text.as_bytes())?;
            Ok((card.citations, card.normalized))
        })
        .collect::<Result<_, _>>()?;
    write(
        &root.join("source_matrix.json"),
        matrix(&sources, &allowed)?.as_bytes(),
    )?;

    let bytes: u64 = sources.iter().map(|source| source.bytes).sum();
    let chunks: usize = sources.iter().map(|source| source.chunks.list.len()).sum();
    let (citations, normalized) = counts
        .iter()
        .fold((0, 0), |sum, count| (sum.0 + count.0, sum.1 + count.1));
    Ok(format!(
        "{} sources, {:.1} MB, {chunks} chunks; {cards} cards, {citations} citations, of them {normalized} normalized; \
         {READINGS} readings",
        sources.len(),
        bytes as f64 / 1e6
    ))
}

fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, bytes)
}

fn matrix(sources: &[Source], allowed: &[Vec<usize>]) -> serde_json::Result<String> {
    let rows: BTreeMap<String, Vec<&str>> = (0..READINGS)
        .zip(allowed)
        .map(|(reading, indices)| {
            let mut ids: Vec<&str> = indices
                .iter()
                .filter_map(|index| sources.get(*index))
                .map(|source| &*source.id)
                .collect();
            ids.sort_unstable();
            (format!("reading_{reading:02}"), ids)
        })
        .collect();
    let mut text =
        serde_json::to_string(&serde_json::json!({"allowed": rows, "schema_version": "cacg.v0"}))?;
    text.push('\n');
    Ok(text)
}

/// Copies the files below `from` that can be sources. Links are not followed.
fn copy_documents(from: &Path, to: &Path) -> Result<(), Box<dyn Error>> {
    for entry in walkdir::WalkDir::new(from).sort_by_file_name() {
        let entry = entry?;
        let relative = entry.path().strip_prefix(from)?;
        let hidden = relative
            .components()
            .any(|part| part.as_os_str().to_string_lossy().starts_with('.'));
        let known = relative
            .to_str()
            .is_some_and(|path| Format::from_path(path, &[]).is_some());
        if entry.file_type().is_file() && known && !hidden {
            write(&to.join(relative), &fs::read(entry.path())?)?;
        }
    }
    Ok(())
}

/// A source that can be cited.
struct Source {
    id: Arc<str>,
    document: Document,
    chunks: Chunks,
    bytes: u64,
}

fn read_sources(root: &Path) -> Result<Vec<Source>, Box<dyn Error>> {
    let project = Project::open(root.to_path_buf()).map_err(|error| error.to_string())?;
    let matcher = Matcher::new(&project.settings);
    let found: Vec<(Arc<str>, usize)> = discover(root, &project.settings, &matcher)
        .files
        .into_iter()
        .filter_map(|file| match file.role {
            Role::Source(collection) => Some((file.path, collection)),
            Role::Card => None,
        })
        .collect();
    let candidates: Vec<Candidate<'_>> = found
        .iter()
        .map(|(path, _)| Candidate {
            path,
            explicit: None,
        })
        .collect();
    let (ids, _) = assign(&candidates, &[], |_| None);
    let sources = found
        .par_iter()
        .zip(&ids)
        .filter_map(|((path, collection), id)| {
            let bytes = fs::read(root.join(&**path)).ok()?;
            let recipe = project.recipe(project.settings.collections.get(*collection)?, path)?;
            // A real tree may hold files that are no documents; they are sources nobody cites.
            let document = extract(&bytes, &recipe.extract).ok()?;
            let chunks = chunk_document(view(&document), &recipe.chunker).ok()?;
            Some(Source {
                id: id.clone(),
                document,
                chunks,
                bytes: bytes.len() as u64,
            })
        })
        .collect();
    Ok(sources)
}

struct Card {
    text: String,
    citations: usize,
    normalized: usize,
}

impl Card {
    fn draw(
        vocabulary: &Vocabulary,
        random: &mut Random,
        sources: &[Source],
        allowed: &[usize],
        index: usize,
    ) -> Self {
        let mut title = String::new();
        vocabulary.phrase(random, 5, &mut title);
        let mut summary = String::new();
        for place in 0..2 {
            if place > 0 {
                summary.push(' ');
            }
            vocabulary.sentence(random, false, &mut summary);
        }
        let reading = index % READINGS;
        let mut text = format!(
            "---\nschema_version: \"cacg.v0\"\nid: \"card-{index:06}\"\ntitle: \"{title}\"\n\
             reading_id: \"reading_{reading:02}\"\nsummary: \"{summary}\"\ntags: [\"about-{}\", \"on-{}\"]\n",
            vocabulary.word(random),
            vocabulary.word(random)
        );
        // Edges lead to earlier cards, so that there is no cycle.
        if index > 0 && random.chance(30) {
            text.push_str(&format!(
                "card_edges:\n  - target: \"card-{:06}\"\n    edge_type: \"extends\"\n",
                random.below(index)
            ));
        }
        text.push_str("citations:\n");
        let mut citations = 0;
        let mut normalized = 0;
        // A source without a usable sentence is passed over, in a real tree.
        for _ in 0..CITATIONS * 8 {
            if citations == CITATIONS {
                break;
            }
            let Some(source) = allowed
                .get(random.below(allowed.len()))
                .and_then(|index| sources.get(*index))
            else {
                break;
            };
            let want = if random.chance(5) {
                MatchClass::Normalized
            } else {
                MatchClass::Exact
            };
            if let Some(citation) = source.cite(random, want) {
                text.push_str(&citation);
                citations += 1;
                normalized += usize::from(want == MatchClass::Normalized);
            }
        }
        text.push_str("---\n\n# ");
        text.push_str(&title);
        text.push('\n');
        for _ in 0..2 {
            text.push('\n');
            for place in 0..4 {
                if place > 0 {
                    text.push('\n');
                }
                vocabulary.sentence(random, false, &mut text);
            }
            text.push('\n');
        }
        Card {
            text,
            citations,
            normalized,
        }
    }
}

impl Source {
    /// A citation of this source, in a card's words, whose quote is of this class.
    fn cite(&self, random: &mut Random, want: MatchClass) -> Option<String> {
        let index = random.below(self.chunks.list.len());
        let chunk = self.chunks.list.get(index)?;
        let text = self.chunks.text_of(&self.document.text, chunk);
        let words = words(text);
        for _ in 0..200 {
            let first = random.below(words.len());
            let last = first + random.between(8, 25) - 1;
            let (Some(start), Some(end)) = (words.get(first), words.get(last)) else {
                continue;
            };
            let Some(quote) = text
                .get(start.0..end.1)
                .and_then(|slice| spell(slice, want))
            else {
                continue;
            };
            let verdict = check_quote(
                &Passage::whole(text),
                &Quote::new(&quote),
                Options::default(),
            );
            if !verdict.verified() || verdict.class() != want || !verdict.flags().is_empty() {
                continue;
            }
            return Some(format!(
                "  - source_id: \"{}\"\n    chunk_id: \"{}\"\n    chunk_hash: \"{}\"\n    page_range: [{}, {}]\n    \
                 quote: {}\n    edge_type: \"supports\"\n",
                self.id,
                chunk_id(&self.id, chunk.start_page, chunk.ordinal),
                chunk.hash,
                chunk.start_page,
                chunk.end_page,
                // A JSON string is a double-quoted YAML scalar.
                serde_json::to_string(&quote).ok()?
            ));
        }
        None
    }
}

/// Byte ranges of the words between white space.
fn words(text: &str) -> Vec<(usize, usize)> {
    text.split_whitespace()
        .map(|word| {
            let start = word.as_ptr() as usize - text.as_ptr() as usize;
            (start, start + word.len())
        })
        .collect()
}

/// The slice as a quote of the wanted class would spell it, or `None` when it does not suit.
fn spell(slice: &str, want: MatchClass) -> Option<String> {
    // Words of two blocks do not make a sentence, and what holds markup is a matter of its own.
    if slice.contains("\n\n") || slice.contains(['|', '`', '#', '\\', '<', '[', '*']) {
        return None;
    }
    let foldable = |c: char| matches!(c, '\n' | '“' | '”' | '’' | '—');
    let is_plain = !slice.contains(foldable);
    match want {
        MatchClass::Exact => is_plain.then(|| slice.to_owned()),
        _ if is_plain || slice.contains("\n- ") => None,
        _ => Some(
            slice
                .chars()
                .map(|c| match c {
                    '\n' => ' ',
                    '“' | '”' => '"',
                    '’' => '\'',
                    '—' => '-',
                    other => other,
                })
                .collect(),
        ),
    }
}
