//! Registries: comma-separated records, serialised one row per line as
//! `<key> — <registry>: field=value; field=value`.
//!
//! The records are split here and not by the `csv` crate, because that one does not say where a
//! cell stands in the file; the tests hold the two against each other.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use super::encoding::{compose, decode};
use super::map::Layer;
use super::{Block, BlockKind, Document, DocumentError, ExtractOptions, Format, Made, Notice};

/// Reads a registry.
pub(super) fn read(bytes: &[u8], options: &ExtractOptions) -> Result<Document, DocumentError> {
    let decoded = decode(bytes, options.encoding.as_deref(), None)?;
    let registry = match options.registry.name.as_str() {
        "" => "registry",
        name => name,
    };
    let delimiter = options
        .registry
        .delimiter
        .and_then(|delimiter| u8::try_from(delimiter).ok())
        .filter(u8::is_ascii)
        .unwrap_or(b',');
    let source = &*decoded.text;
    let mut records = Records::new(source, delimiter);
    let Some(header) = records.next_record() else {
        return Err(DocumentError::Empty);
    };
    let names: Vec<String> = (0..header.cells.len())
        .map(|index| match header.value(source, index).trim() {
            "" => column_name(index),
            name => name.to_owned(),
        })
        .collect();
    let key_column = match &options.registry.primary_key {
        None => 0,
        Some(wanted) => names
            .iter()
            .position(|name| name == wanted)
            .ok_or_else(|| DocumentError::NoSuchColumn {
                column: wanted.clone(),
                header: names.clone(),
            })?,
    };
    let mut writer = Writer {
        source,
        registry,
        names: &names,
        key_column,
        text: String::with_capacity(source.len() * 2),
        layer: Layer::new(),
        blocks: Vec::new(),
        notices: Vec::new(),
        keys: HashSet::new(),
        declared: options.registry.declared,
    };
    while let Some(record) = records.next_record() {
        writer.row(&record);
        // The names of the columns are repeated in every row, so the text may be far longer than
        // the file; stop as soon as it is over the limit.
        let (bytes, limit) = (writer.text.len() as u64, options.limits.text_bytes);
        if bytes > limit {
            return Err(DocumentError::TooLarge { bytes, limit });
        }
    }
    let Writer {
        text,
        layer,
        blocks,
        notices,
        ..
    } = writer;
    Made {
        text,
        layer,
        blocks,
        veiled: Vec::new(),
        title: None,
        notices,
        decoded,
    }
    .into_document(Format::Csv)
}

/// Name of a column without one.
fn column_name(index: usize) -> String {
    format!("column_{}", index + 1)
}

struct Writer<'a> {
    source: &'a str,
    registry: &'a str,
    names: &'a [String],
    key_column: usize,
    text: String,
    layer: Layer,
    blocks: Vec<Block>,
    notices: Vec<Notice>,
    keys: HashSet<Box<str>>,
    declared: bool,
}

impl Writer<'_> {
    fn row(&mut self, record: &Record) {
        let count = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
        let line = record.line;
        if record.cells.len() != self.names.len() {
            self.notices.push(Notice::RaggedRow {
                line,
                expected: count(self.names.len()),
                found: count(record.cells.len()),
            });
        }
        if record.unclosed {
            self.notices.push(Notice::UnclosedQuote { line });
        }
        let key: Box<str> = compose(Cow::Owned(
            record
                .value(self.source, self.key_column)
                .trim()
                .replace('\n', " "),
        ))
        .0
        .into();
        if !self.declared {
            // Whatever stands in the first column is no promise of anybody's.
        } else if key.is_empty() {
            self.notices.push(Notice::MissingKey { line });
        } else if !self.keys.insert(key.clone()) {
            self.notices.push(Notice::DuplicateKey {
                line,
                key: key.clone(),
            });
        }
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        let start = self.text.len();
        if !key.is_empty() {
            if self.key_column == 0 {
                self.cell(record, 0);
            } else {
                // The key stands before cells that precede it in the file; the map only goes
                // forward, so the copy in front points to the start of the row.
                self.layer.push(start, record.start, 1, key.len(), 0);
                self.text.push_str(&key);
            }
            self.text.push_str(" — ");
        }
        self.text.push_str(self.registry);
        self.text.push(':');
        let mut separator = " ";
        for index in 0..record.cells.len() {
            if index == self.key_column || record.is_blank(self.source, index) {
                continue;
            }
            self.text.push_str(separator);
            match self.names.get(index) {
                Some(name) => self.text.push_str(name),
                None => self.text.push_str(&column_name(index)),
            }
            self.text.push('=');
            self.cell(record, index);
            separator = "; ";
        }
        self.blocks.push(Block {
            range: start..self.text.len(),
            kind: BlockKind::Row { key },
        });
    }

    /// Appends a cell without the white space around it; a line break in it becomes a space, so
    /// that a row stays a line.
    fn cell(&mut self, record: &Record, index: usize) {
        let pieces = record.pieces(index);
        let is_blank = |piece: &Range<usize>| {
            let words = self.source.get(piece.clone());
            words.is_none_or(|words| words.trim().is_empty())
        };
        let first = pieces.iter().position(|piece| !is_blank(piece));
        let last = pieces.iter().rposition(|piece| !is_blank(piece));
        let (Some(first), Some(last)) = (first, last) else {
            return;
        };
        for (at, piece) in pieces.iter().enumerate().take(last + 1).skip(first) {
            let mut words = self.source.get(piece.clone()).unwrap_or_default();
            let mut start = piece.start;
            if at == first {
                let trimmed = words.trim_start();
                start += words.len() - trimmed.len();
                words = trimmed;
            }
            if at == last {
                words = words.trim_end();
            }
            self.layer.push_same(self.text.len(), start, words.len());
            if words.contains('\n') {
                self.text.push_str(&words.replace('\n', " "));
            } else {
                self.text.push_str(words);
            }
        }
    }
}

/// One record: cells as ranges of pieces, pieces as byte ranges of the source. A cell has more
/// than one piece where quotes were doubled.
#[derive(Debug, Default)]
struct Record {
    start: usize,
    line: u32,
    cells: Vec<Range<usize>>,
    pieces: Vec<Range<usize>>,
    unclosed: bool,
}

impl Record {
    fn pieces(&self, index: usize) -> &[Range<usize>] {
        self.cells
            .get(index)
            .and_then(|cell| self.pieces.get(cell.clone()))
            .unwrap_or_default()
    }

    fn value<'s>(&self, source: &'s str, index: usize) -> Cow<'s, str> {
        let slice = |piece: &Range<usize>| source.get(piece.clone()).unwrap_or_default();
        match self.pieces(index) {
            [] => Cow::Borrowed(""),
            [piece] => Cow::Borrowed(slice(piece)),
            pieces => Cow::Owned(pieces.iter().map(slice).collect()),
        }
    }

    fn is_blank(&self, source: &str, index: usize) -> bool {
        self.pieces(index).iter().all(|piece| {
            source
                .get(piece.clone())
                .is_none_or(|piece| piece.trim().is_empty())
        })
    }
}

/// Splits LF-terminated text into records, as RFC 4180 says and as leniently as the `csv` crate:
/// a quote inside an unquoted cell is a character, words after a closing quote are kept, blank
/// lines are skipped.
struct Records<'s> {
    source: &'s str,
    delimiter: u8,
    at: usize,
    line: u32,
    counted_to: usize,
}

impl<'s> Records<'s> {
    fn new(source: &'s str, delimiter: u8) -> Self {
        Self {
            source,
            delimiter,
            at: 0,
            line: 1,
            counted_to: 0,
        }
    }

    fn next_record(&mut self) -> Option<Record> {
        let bytes = self.source.as_bytes();
        while bytes.get(self.at) == Some(&b'\n') {
            self.at += 1;
        }
        if self.at >= bytes.len() {
            return None;
        }
        let skipped = bytes.get(self.counted_to..self.at).unwrap_or_default();
        let lines = memchr::memchr_iter(b'\n', skipped).count();
        self.line = self
            .line
            .saturating_add(u32::try_from(lines).unwrap_or(u32::MAX));
        self.counted_to = self.at;
        let mut record = Record {
            start: self.at,
            line: self.line,
            ..Record::default()
        };
        while self.cell(&mut record) {}
        Some(record)
    }

    /// Reads one cell; false when it was the last of its record.
    fn cell(&mut self, record: &mut Record) -> bool {
        let bytes = self.source.as_bytes();
        let first = record.pieces.len();
        if bytes.get(self.at) == Some(&b'"') {
            self.at += 1;
            loop {
                let rest = bytes.get(self.at..).unwrap_or_default();
                let Some(length) = memchr::memchr(b'"', rest) else {
                    record.pieces.push(self.at..bytes.len());
                    record.unclosed = true;
                    self.at = bytes.len();
                    break;
                };
                let quote = self.at + length;
                if bytes.get(quote + 1) == Some(&b'"') {
                    // Of two quotes the first is kept.
                    record.pieces.push(self.at..quote + 1);
                    self.at = quote + 2;
                } else {
                    record.pieces.push(self.at..quote);
                    self.at = quote + 1;
                    break;
                }
            }
        }
        let rest = bytes.get(self.at..).unwrap_or_default();
        let length = memchr::memchr2(self.delimiter, b'\n', rest).unwrap_or(rest.len());
        if length > 0 {
            record.pieces.push(self.at..self.at + length);
        }
        self.at += length;
        record.cells.push(first..record.pieces.len());
        let more = bytes.get(self.at) == Some(&self.delimiter);
        self.at += usize::from(self.at < bytes.len());
        more
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::super::{RegistryOptions, extract};
    use super::*;
    use proptest::prelude::*;

    fn options(primary_key: Option<&str>) -> ExtractOptions {
        ExtractOptions {
            registry: RegistryOptions {
                name: "creatures".to_owned(),
                primary_key: primary_key.map(str::to_owned),
                delimiter: None,
                declared: true,
            },
            ..ExtractOptions::new(Format::Csv)
        }
    }

    #[test]
    fn rows_as_lines() {
        let table: &[(&str, Option<&str>, &str)] = &[
            ("id,name\nc1,Kappa\n", None, "c1 — creatures: name=Kappa"),
            (
                "id,name,place\nc1,,river\nc2, Tengu ,\n",
                None,
                "c1 — creatures: place=river\nc2 — creatures: name=Tengu",
            ),
            (
                "name,id\nKappa,c1\n",
                Some("id"),
                "c1 — creatures: name=Kappa",
            ),
            (
                "id,says\nc1,\"a \"\"b\"\", c\nd\"\n",
                None,
                "c1 — creatures: says=a \"b\", c d",
            ),
            (
                "id,a\n,x\n\nc2,y,z",
                None,
                "creatures: a=x\nc2 — creatures: a=y; column_3=z",
            ),
            ("\u{feff}id,a\r\nc1,x\r\n", None, "c1 — creatures: a=x"),
        ];
        for (file, key, expected) in table {
            let document = extract(file.as_bytes(), &options(*key)).unwrap();
            assert_eq!(&*document.text, *expected, "{file:?}");
        }
    }

    #[test]
    fn faults_are_noticed_with_their_line() {
        let file = "id,a\nc1,\"x\ny\"\nc1,z\n\n,w\nc4\nc5,\"open\n";
        let document = extract(file.as_bytes(), &options(None)).unwrap();
        assert_eq!(
            *document.notices,
            [
                Notice::DuplicateKey {
                    line: 4,
                    key: "c1".into()
                },
                Notice::MissingKey { line: 6 },
                Notice::RaggedRow {
                    line: 7,
                    expected: 2,
                    found: 1
                },
                Notice::UnclosedQuote { line: 8 },
            ]
        );
        assert_eq!(
            extract(b"id,a\nc1,x\n", &options(Some("key"))),
            Err(DocumentError::NoSuchColumn {
                column: "key".to_owned(),
                header: vec!["id".to_owned(), "a".to_owned()],
            })
        );
        assert_eq!(
            extract(b"id,a\n", &options(None)),
            Err(DocumentError::Empty)
        );
    }

    #[test]
    fn cells_map_to_the_file() {
        let file = "id,says\r\nc1,\"a \"\"b\"\" c\"\r\nc2,né\r\n";
        let document = extract(file.as_bytes(), &options(None)).unwrap();
        let at = |words: &str| {
            let start = document.text.find(words).unwrap();
            &file[document.map.to_file(start..start + words.len())]
        };
        assert_eq!(at("c1"), "c1");
        assert_eq!(at("a \"b\" c"), "a \"\"b\"\" c");
        assert_eq!(at("né"), "né");
        assert_eq!(at("c2 — creatures: says=né"), "c2,né");
        let other = extract("a,id\nx,k\n".as_bytes(), &options(Some("id"))).unwrap();
        assert_eq!(other.map.to_file(0..other.text.len()), 5..6);
    }

    proptest! {
        /// The same cells as the `csv` crate for any input.
        #[test]
        fn splits_like_the_csv_crate(source in r#"([a-c",\n é]|""|",|\n"){0,60}"#) {
            let mut reader = ::csv::ReaderBuilder::new()
                .has_headers(false)
                .flexible(true)
                .from_reader(source.as_bytes());
            let expected: Vec<Vec<String>> = reader
                .records()
                .map(|record| record.unwrap().iter().map(str::to_owned).collect())
                .collect();
            let mut records = Records::new(&source, b',');
            let mut found = Vec::new();
            while let Some(record) = records.next_record() {
                found.push(
                    (0..record.cells.len())
                        .map(|index| record.value(&source, index).into_owned())
                        .collect::<Vec<_>>(),
                );
            }
            prop_assert_eq!(found, expected);
        }
    }
}
