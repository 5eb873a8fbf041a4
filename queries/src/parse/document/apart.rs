//! A document as bytes, for a reader that runs in a process of its own.
//!
//! A PDF reader has no bound on what it decompresses before it draws, so a program runs it apart,
//! with limits on memory and processor time; this is what the two processes say to each other.
//! It is no stored format: both ends are the same program.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{
    Block, BlockKind, Document, DocumentError, ExtractOptions, FileMap, Format, Limits, Notice,
};

/// What the reader is asked. The file's bytes follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// Most bytes of text.
    pub text_bytes: u64,
    /// Largest file.
    pub bytes: u64,
    /// Most pages.
    pub pages: u32,
    /// Deepest nesting.
    pub depth: u32,
}

impl Request {
    /// The request for a PDF under these options.
    pub fn new(options: &ExtractOptions) -> Self {
        let limits = options.limits;
        Request {
            text_bytes: limits.text_bytes,
            bytes: limits.bytes,
            pages: limits.pages,
            depth: limits.depth,
        }
    }

    /// Reads a PDF as asked.
    pub fn read(&self, bytes: &[u8]) -> Answer {
        let mut options = ExtractOptions::new(Format::Pdf);
        options.limits = Limits {
            bytes: self.bytes,
            pages: self.pages,
            depth: self.depth,
            text_bytes: self.text_bytes,
        };
        match super::extract(bytes, &options) {
            Ok(document) => Answer::Text(document.into()),
            Err(error) => Answer::Failed(error.into()),
        }
    }
}

/// What the reader answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answer {
    /// The document.
    Text(Parts),
    /// Why there is none.
    Failed(Failure),
}

impl Answer {
    /// As [`super::extract`] would have said it.
    pub fn into_result(self) -> Result<Document, DocumentError> {
        match self {
            Answer::Text(parts) => parts.into_document().ok_or_else(|| {
                DocumentError::Damaged("the reader's answer makes no sense".to_owned())
            }),
            Answer::Failed(failure) => Err(failure.into()),
        }
    }
}

/// The parts of a paged document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parts {
    text: Box<str>,
    pages: Vec<Range<usize>>,
    blocks: Vec<Range<usize>>,
    notices: Vec<PartsNotice>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum PartsNotice {
    Unmapped { page: u32, percent: u8 },
    PageTree { announced: Option<u32>, found: u32 },
    Bidi { line: u32, count: u32 },
}

impl From<Document> for Parts {
    fn from(document: Document) -> Self {
        Parts {
            pages: document.pages.to_vec(),
            blocks: document
                .blocks
                .iter()
                .map(|block| block.range.clone())
                .collect(),
            notices: document
                .notices
                .iter()
                .filter_map(|notice| match *notice {
                    Notice::UnmappedGlyphs { page, percent } => {
                        Some(PartsNotice::Unmapped { page, percent })
                    }
                    Notice::PageTree { announced, found } => {
                        Some(PartsNotice::PageTree { announced, found })
                    }
                    Notice::BidiControls { line, count } => Some(PartsNotice::Bidi { line, count }),
                    // The others are said of text files only.
                    _ => None,
                })
                .collect(),
            text: document.text,
        }
    }
}

impl Parts {
    fn into_document(self) -> Option<Document> {
        let fits = |ranges: &[Range<usize>]| {
            ranges
                .iter()
                .all(|range| self.text.get(range.clone()).is_some())
        };
        if !fits(&self.pages) || !fits(&self.blocks) {
            return None;
        }
        Some(Document {
            format: Format::Pdf,
            pages: self.pages.into_boxed_slice(),
            blocks: self
                .blocks
                .into_iter()
                .map(|range| Block {
                    range,
                    kind: BlockKind::Paragraph,
                })
                .collect(),
            veiled: Box::default(),
            map: FileMap::identity(),
            encoding: "UTF-8",
            encoding_guessed: false,
            title: None,
            notices: self
                .notices
                .into_iter()
                .map(|notice| match notice {
                    PartsNotice::Unmapped { page, percent } => {
                        Notice::UnmappedGlyphs { page, percent }
                    }
                    PartsNotice::PageTree { announced, found } => {
                        Notice::PageTree { announced, found }
                    }
                    PartsNotice::Bidi { line, count } => Notice::BidiControls { line, count },
                })
                .collect(),
            text: self.text,
        })
    }
}

/// Why a PDF gives no document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Failure {
    /// No text.
    Empty,
    /// Over a limit on bytes.
    TooLarge {
        /// Size.
        bytes: u64,
        /// Limit.
        limit: u64,
    },
    /// Over the limit on pages.
    TooManyPages {
        /// Pages.
        pages: u64,
        /// Limit.
        limit: u32,
    },
    /// Needs a password.
    Encrypted,
    /// This build reads no PDF.
    UnknownKind,
    /// Anything else, in words.
    Damaged(String),
}

impl From<DocumentError> for Failure {
    fn from(error: DocumentError) -> Self {
        match error {
            DocumentError::Empty => Failure::Empty,
            DocumentError::TooLarge { bytes, limit } => Failure::TooLarge { bytes, limit },
            DocumentError::TooManyPages { pages, limit } => Failure::TooManyPages { pages, limit },
            DocumentError::Encrypted => Failure::Encrypted,
            DocumentError::UnknownKind => Failure::UnknownKind,
            DocumentError::Damaged(why) => Failure::Damaged(why),
            // Said of text files only.
            other => Failure::Damaged(other.to_string()),
        }
    }
}

impl From<Failure> for DocumentError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Empty => DocumentError::Empty,
            Failure::TooLarge { bytes, limit } => DocumentError::TooLarge { bytes, limit },
            Failure::TooManyPages { pages, limit } => DocumentError::TooManyPages { pages, limit },
            Failure::Encrypted => DocumentError::Encrypted,
            Failure::UnknownKind => DocumentError::UnknownKind,
            Failure::Damaged(why) => DocumentError::Damaged(why),
        }
    }
}
