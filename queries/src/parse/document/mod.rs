//! A source file's bytes to its committed text, with structure and a map back to the bytes.
//!
//! [`extract`] is a pure function of the bytes and the options: the same pair gives the same
//! [`Document`] on every machine. It never panics; a file that cannot be read is a
//! [`DocumentError`], which the caller turns into a diagnostic about that file. One file per format;
//! what they share is decoding (`encoding`) and the way back to the file (`map`).
//!
//! Chunk boundaries, normal forms for matching and source ids are not decided here.

use std::borrow::Cow;
use std::ops::Range;

pub mod apart;
mod csv;
mod encoding;
mod findings;
mod html;
mod map;
mod markdown;
#[cfg(feature = "pdf")]
mod pdf;
mod text;

use crate::text::veil::{self, Veiled};

pub use findings::{DocumentError, Notice};
pub use map::FileMap;

/// How a source's bytes are to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// CommonMark text; the committed text keeps the markup.
    Markdown,
    /// Text without markup.
    Text,
    /// HTML; the committed text is the text of the document in reading order.
    Html,
    /// Comma-separated records; the committed text is the row serialisation.
    Csv,
    /// PDF; the committed text is the text of its pages.
    Pdf,
}

/// What a registry (CSV) needs to be serialised.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct RegistryOptions {
    /// Name of the registry; default: the file's stem.
    pub name: String,
    /// Column that holds the primary key; default: the first column.
    pub primary_key: Option<String>,
    /// What separates the cells (ASCII); default: a comma.
    pub delimiter: Option<char>,
    /// Whether the settings say that the file is a registry. Only then its keys have to be there
    /// and to name one row each; the first column of any other table is nobody's key.
    pub declared: bool,
}

impl RegistryOptions {
    /// The defaults for a file: its stem is the name, and `.tsv` is separated by tabs.
    pub fn for_path(path: &str) -> Self {
        let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
        let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
        let tabs = ["tsv", "tab"]
            .iter()
            .any(|e| extension.eq_ignore_ascii_case(e));
        Self {
            name: stem.to_owned(),
            primary_key: None,
            delimiter: tabs.then_some('\t'),
            declared: false,
        }
    }
}

/// Bounds on counted work, so that a hostile file cannot stop a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Limits {
    /// Largest file, in bytes.
    pub bytes: u64,
    /// Most pages of a PDF.
    pub pages: u32,
    /// Deepest nesting of HTML elements.
    pub depth: u32,
    /// Largest committed text, in bytes.
    pub text_bytes: u64,
}

impl Default for Limits {
    /// 256 MiB of file, 20,000 pages, 4,096 open elements, 256 MiB of text.
    fn default() -> Self {
        Self {
            bytes: 256 << 20,
            pages: 20_000,
            depth: 4_096,
            text_bytes: 256 << 20,
        }
    }
}

/// Everything besides the bytes that decides a document.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ExtractOptions {
    /// How to read the bytes.
    pub format: Format,
    /// Encoding label from the settings (WHATWG), or detect.
    pub encoding: Option<String>,
    /// Only for CSV.
    pub registry: RegistryOptions,
    /// Bounds.
    pub limits: Limits,
}

impl ExtractOptions {
    /// Detected encoding, default bounds and an unnamed registry.
    pub fn new(format: Format) -> Self {
        Self {
            format,
            encoding: None,
            registry: RegistryOptions::default(),
            limits: Limits::default(),
        }
    }
}

/// Name and version of the code that made the text; part of every derivation's key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Extractor {
    /// For instance `kbc-markdown`, `kbc-pdf-hayro`.
    pub name: &'static str,
    /// A number kept by hand: changes whenever the text of any document could change.
    pub version: &'static str,
}

/// Kind of a block of the committed text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum BlockKind {
    /// A heading of level 1 to 6 with its plain text (markup removed).
    Heading {
        /// 1 to 6.
        level: u8,
        /// Plain text.
        title: Box<str>,
    },
    /// A paragraph, list item, table or other block that reads as running text.
    Paragraph,
    /// Verbatim code; never split unless oversize.
    Code,
    /// One CSV row.
    Row {
        /// Value of the primary key column.
        key: Box<str>,
    },
}

/// A block: a range of the committed text. Blocks are in order and do not overlap; text between
/// them is white space or markup that belongs to no block.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Block {
    /// Byte range in [`Document::text`].
    pub range: Range<usize>,
    /// What it is.
    pub kind: BlockKind,
}

/// A place in a source file, in the terms that the file has.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum FilePosition {
    /// Byte range of the file as stored on disk.
    Bytes(Range<usize>),
    /// A range of code points in the text of a page.
    Page {
        /// 1-based, counted physically.
        page: u32,
        /// Code points from the start of the page's text; ends with the page.
        chars: Range<usize>,
    },
}

/// A source as the rest of the program sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// How the bytes were read.
    pub format: Format,
    /// Committed text: UTF-8, NFC, LF line ends, no byte order mark.
    pub text: Box<str>,
    /// Byte range of `text` for each page, in order; one range of the whole text when unpaged.
    pub pages: Box<[Range<usize>]>,
    /// In order, not overlapping.
    pub blocks: Box<[Block]>,
    /// What stands in the text and is not said by it, in order, not overlapping.
    pub veiled: Box<[Veiled]>,
    /// Back to the bytes of the file; meaningless when paged.
    pub map: FileMap,
    /// WHATWG name of the file's encoding (`UTF-8` for PDF).
    pub encoding: &'static str,
    /// Whether `encoding` is a guess.
    pub encoding_guessed: bool,
    /// What the file says its title is (HTML only so far).
    pub title: Option<Box<str>>,
    /// What a reader of the file should know.
    pub notices: Box<[Notice]>,
}

impl Document {
    /// An unpaged UTF-8 document of the given text and blocks, as if the file were the text.
    /// For tests of what comes after extraction.
    pub fn from_text(format: Format, text: &str, blocks: Vec<Block>) -> Self {
        Self {
            format,
            pages: one_page(text.len()),
            text: text.into(),
            blocks: blocks.into_boxed_slice(),
            veiled: Box::default(),
            map: FileMap::identity(),
            encoding: "UTF-8",
            encoding_guessed: false,
            title: None,
            notices: Box::default(),
        }
    }

    /// Whether page numbers mean something in this document.
    pub fn is_paged(&self) -> bool {
        self.format == Format::Pdf
    }

    /// 1-based page that holds a byte offset of the text. What separates two pages belongs to the
    /// earlier one; an offset past the end is on the last page.
    pub fn page_of(&self, offset: usize) -> u32 {
        let index = self.pages.partition_point(|page| page.start <= offset);
        u32::try_from(index.max(1)).unwrap_or(u32::MAX)
    }

    /// Where a byte range of the text stands in the file.
    pub fn file_position(&self, range: Range<usize>) -> FilePosition {
        if !self.is_paged() {
            return FilePosition::Bytes(self.map.to_file(range));
        }
        let page = self.page_of(range.start);
        let bounds = (page as usize)
            .checked_sub(1)
            .and_then(|index| self.pages.get(index))
            .cloned()
            .unwrap_or(0..self.text.len());
        let chars_to = |end: usize| {
            let end = end.clamp(bounds.start, bounds.end);
            self.text
                .get(bounds.start..self.text.floor_char_boundary(end))
                .map_or(0, |text| text.chars().count())
        };
        let start = chars_to(range.start);
        FilePosition::Page {
            page,
            chars: start..chars_to(range.end).max(start),
        }
    }
}

impl Format {
    /// The format of a file by its name and, where the name says nothing, by its first bytes.
    /// A PDF is known by its header whatever its name.
    pub fn from_path(path: &str, head: &[u8]) -> Option<Self> {
        let start = head.get(..head.len().min(1024)).unwrap_or_default();
        if memchr::memmem::find(start, b"%PDF-").is_some_and(|at| at == 0 || !start.is_ascii()) {
            return Some(Self::Pdf);
        }
        let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
        let extension = name
            .rsplit_once('.')
            .map(|(_, extension)| extension.to_ascii_lowercase())
            .unwrap_or_default();
        match extension.as_str() {
            "md" | "markdown" | "mdown" | "mkd" => return Some(Self::Markdown),
            "txt" | "text" | "rst" | "adoc" | "asciidoc" | "org" => return Some(Self::Text),
            "html" | "htm" | "xhtml" => return Some(Self::Html),
            "csv" | "tsv" | "tab" => return Some(Self::Csv),
            "pdf" => return Some(Self::Pdf),
            _ => {}
        }
        let lowered = start.trim_ascii_start().to_ascii_lowercase();
        let is_html = [&b"<!doctype html"[..], b"<html"]
            .iter()
            .any(|opening| lowered.starts_with(opening));
        is_html.then_some(Self::Html)
    }
}

/// The code that reads a format. Its version is part of the key of everything derived from the text.
pub fn extractor(format: Format) -> Extractor {
    match format {
        Format::Markdown => Extractor {
            name: "kbc-markdown",
            version: "1",
        },
        Format::Text => Extractor {
            name: "kbc-text",
            version: "1",
        },
        Format::Html => Extractor {
            name: "kbc-html",
            version: "3",
        },
        Format::Csv => Extractor {
            name: "kbc-csv",
            version: "1",
        },
        Format::Pdf => Extractor {
            name: "kbc-pdf-hayro",
            version: "1",
        },
    }
}

thread_local! {
    /// Whether this thread is inside a parser whose panics are caught.
    static GUARDED: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Whether this thread is inside a parser whose panics are caught, so that a panic hook may keep
/// silent: the panic becomes a diagnostic about the file.
pub fn is_guarded() -> bool {
    GUARDED.with(std::cell::Cell::get)
}

/// Runs a parser with its panics caught.
pub(crate) fn guarded<T>(run: impl FnOnce() -> T) -> std::thread::Result<T> {
    let before = GUARDED.with(|guarded| guarded.replace(true));
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
    GUARDED.with(|guarded| guarded.set(before));
    result
}

/// Reads a file. Never panics: a panic of a parser is [`DocumentError::Damaged`].
pub fn extract(bytes: &[u8], options: &ExtractOptions) -> Result<Document, DocumentError> {
    let limit = options.limits.bytes.min(u64::from(u32::MAX));
    let size = bytes.len() as u64;
    if size > limit {
        return Err(DocumentError::TooLarge { bytes: size, limit });
    }
    if bytes.is_empty() {
        return Err(DocumentError::Empty);
    }
    let read = || match options.format {
        Format::Markdown => markdown::read(bytes, options),
        Format::Text => text::read(bytes, options),
        Format::Html => html::read(bytes, options),
        Format::Csv => csv::read(bytes, options),
        #[cfg(feature = "pdf")]
        Format::Pdf => pdf::read(bytes, options),
        #[cfg(not(feature = "pdf"))]
        Format::Pdf => Err(DocumentError::UnknownKind),
    };
    let mut document = guarded(read)
        .unwrap_or_else(|_| Err(DocumentError::Damaged("the reader panicked".to_owned())))?;
    let limit = options.limits.text_bytes.min(u64::from(u32::MAX));
    let length = document.text.len() as u64;
    if length > limit {
        return Err(DocumentError::TooLarge {
            bytes: length,
            limit,
        });
    }
    if let Some(notice) = bidi_notice(&document.text) {
        document.notices = document.notices.iter().cloned().chain([notice]).collect();
    }
    Ok(document)
}

fn bidi_notice(text: &str) -> Option<Notice> {
    let mut places = bidi_controls(text);
    let first = places.next()?;
    let line = memchr::memchr_iter(b'\n', text.as_bytes().get(..first)?).count() + 1;
    Some(Notice::BidiControls {
        line: u32::try_from(line).unwrap_or(u32::MAX),
        count: u32::try_from(places.count() + 1).unwrap_or(u32::MAX),
    })
}

/// Offsets of the characters that embed, override or isolate a direction of writing (U+202A to
/// U+202E, U+2066 to U+2069). The plain marks U+200E and U+200F reorder nothing around them.
pub fn bidi_controls(text: &str) -> impl Iterator<Item = usize> {
    let bytes = text.as_bytes();
    memchr::memchr_iter(0xE2, bytes).filter(move |&at| {
        matches!(
            bytes.get(at + 1..at + 3),
            Some([0x80, 0xAA..=0xAE] | [0x81, 0xA6..=0xA9])
        )
    })
}

/// Text that a format made from decoded text, on its way to a document.
struct Made<'a> {
    decoded: encoding::Decoded<'a>,
    text: String,
    layer: map::Layer,
    blocks: Vec<Block>,
    veiled: Vec<Veiled>,
    title: Option<Box<str>>,
    notices: Vec<Notice>,
}

impl Made<'_> {
    /// Composes the text (NFC), moves the blocks along and builds the document.
    fn into_document(self, format: Format) -> Result<Document, DocumentError> {
        let Self {
            decoded,
            text,
            layer,
            mut blocks,
            mut veiled,
            title,
            mut notices,
        } = self;
        if text.trim().is_empty() {
            return Err(DocumentError::Empty);
        }
        notices.extend(decoded.notice());
        let mut map = decoded.map;
        map.push(layer);
        let text = match encoding::compose(Cow::Owned(text)) {
            (text, Some(layer)) => {
                for block in &mut blocks {
                    block.range = layer.to_text(block.range.clone());
                }
                for stretch in &mut veiled {
                    stretch.range = layer.to_text(stretch.range.clone());
                }
                map.push(layer);
                text
            }
            (text, None) => text,
        };
        Ok(Document {
            format,
            pages: one_page(text.len()),
            text: text.into(),
            blocks: blocks.into_boxed_slice(),
            veiled: veil::settle(veiled),
            map,
            encoding: decoded.encoding,
            encoding_guessed: decoded.guessed,
            title,
            notices: notices.into_boxed_slice(),
        })
    }
}

/// A document whose committed text is the decoded, composed file itself.
fn verbatim(
    bytes: &[u8],
    options: &ExtractOptions,
    blocks: fn(&str) -> Vec<Block>,
) -> Result<Document, DocumentError> {
    let decoded = encoding::decode(bytes, options.encoding.as_deref(), None)?;
    let notices = decoded.notice().into_iter().collect();
    let mut map = decoded.map;
    let (text, layer) = encoding::compose(decoded.text);
    if let Some(layer) = layer {
        map.push(layer);
    }
    Ok(Document {
        format: options.format,
        pages: one_page(text.len()),
        blocks: blocks(&text).into_boxed_slice(),
        veiled: match options.format {
            Format::Markdown => markdown_veils(&text),
            _ => Box::default(),
        },
        text: text.into(),
        map,
        encoding: decoded.encoding,
        encoding_guessed: decoded.guessed,
        title: None,
        notices,
    })
}

/// What a Markdown text does not say: see [`Document::veiled`].
pub fn markdown_veils(text: &str) -> Box<[Veiled]> {
    veil::settle(markdown::veils::veils(text))
}

/// The pages of a document that has none.
fn one_page(length: usize) -> Box<[Range<usize>]> {
    std::iter::once(0..length).collect()
}

/// Narrows a range to exclude white space at its end.
fn trim_end(text: &str, range: Range<usize>) -> Range<usize> {
    let kept = text
        .get(range.clone())
        .map_or(0, |slice| slice.trim_end().len());
    range.start..range.start + kept
}

#[cfg(test)]
mod tests;
