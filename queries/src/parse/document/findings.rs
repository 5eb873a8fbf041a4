//! What there is to say about a file besides its text: why it has none, and what its reader should know.

/// Something about a readable file that its reader should know.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Notice {
    /// Nothing in the file or the settings says its encoding; a short file may be guessed wrong.
    EncodingGuessed {
        /// WHATWG name of the guess.
        label: &'static str,
    },
    /// Glyphs of a PDF page have no character: the text of the page is incomplete.
    UnmappedGlyphs {
        /// 1-based.
        page: u32,
        /// Share of the page's glyphs, 3 to 100 (rounded up).
        percent: u8,
    },
    /// A PDF's page tree does not hold the pages it announces: page numbers may be off, and pages
    /// may be missing.
    PageTree {
        /// Pages that the file announces, if it does.
        announced: Option<u32>,
        /// Pages found.
        found: u32,
    },
    /// The text holds characters that change the direction of writing, so that what is seen may not
    /// be what is there.
    BidiControls {
        /// 1-based line of the text with the first of them.
        line: u32,
        /// How many there are.
        count: u32,
    },
    /// A registry row has more or fewer cells than the header.
    RaggedRow {
        /// 1-based line of the file's text where the row starts.
        line: u32,
        /// Cells in the header.
        expected: u32,
        /// Cells in the row.
        found: u32,
    },
    /// A registry row has the primary key of an earlier row.
    DuplicateKey {
        /// 1-based line where the later row starts.
        line: u32,
        /// The key.
        key: Box<str>,
    },
    /// A registry row has no primary key.
    MissingKey {
        /// 1-based line where the row starts.
        line: u32,
    },
    /// A quoted cell is still open at the end of the file: it has swallowed what follows it.
    UnclosedQuote {
        /// 1-based line where the row starts.
        line: u32,
    },
}

/// Why a file has no document. Its citations are unverifiable.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum DocumentError {
    /// No bytes, or only white space, or no text on any page.
    Empty,
    /// Over [`Limits::bytes`](super::Limits::bytes) or [`Limits::text_bytes`](super::Limits::text_bytes).
    TooLarge {
        /// Size of the file, or of the text where that was the one over its limit.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// Over [`Limits::pages`](super::Limits::pages).
    TooManyPages {
        /// Pages in the file.
        pages: u64,
        /// The limit.
        limit: u32,
    },
    /// Needs a password.
    Encrypted,
    /// The bytes are not what the format says, or the reader gave up on them.
    Damaged(String),
    /// No reader for this kind of file in this build.
    UnknownKind,
    /// A byte sequence that the encoding does not have.
    UndecodableText {
        /// WHATWG name.
        encoding: &'static str,
        /// Byte offset in the file.
        offset: usize,
    },
    /// The settings name an encoding that does not exist.
    UnknownEncoding {
        /// As written.
        label: String,
    },
    /// The registry's primary key is no column of the file.
    NoSuchColumn {
        /// As written in the settings.
        column: String,
        /// The columns there are.
        header: Vec<String>,
    },
}

impl DocumentError {
    pub(super) fn binary() -> Self {
        Self::Damaged("looks binary".to_owned())
    }
}

impl std::fmt::Display for DocumentError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Empty => f.write_str("the file holds no text"),
            Self::TooLarge { bytes, limit } => {
                write!(f, "{bytes} bytes are more than the limit of {limit}")
            }
            Self::TooManyPages { pages, limit } => {
                write!(f, "{pages} pages are more than the limit of {limit}")
            }
            Self::Encrypted => f.write_str("the file is encrypted and needs a password"),
            Self::Damaged(why) => write!(f, "the file is damaged: {why}"),
            Self::UnknownKind => f.write_str("no reader for this kind of file"),
            Self::UndecodableText { encoding, offset } => {
                write!(f, "the bytes at offset {offset} are not {encoding}")
            }
            Self::UnknownEncoding { label } => write!(f, "there is no encoding `{label}`"),
            Self::NoSuchColumn { column, header } => write!(
                f,
                "the primary key `{column}` is no column; the columns are {}",
                header.join(", ")
            ),
        }
    }
}

impl std::error::Error for DocumentError {}
