//! A source file's bytes to its committed text, with structure and a map back to the bytes.

use std::ops::Range;

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
