//! Lines of a growing file, from the front and from the back, with what was read counted.

use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};

use kbc_queries::record::chain::LINE_LIMIT;

/// What is read at a time when a line is looked for from the back, at first.
const BLOCK: u64 = 4096;

/// A reader that counts.
#[derive(Debug)]
pub struct Counting<R> {
    inner: R,
    bytes: u64,
}

impl<R> Counting<R> {
    /// Counts from 0.
    pub fn new(inner: R) -> Self {
        Counting { inner, bytes: 0 }
    }

    /// Bytes read so far.
    pub fn bytes_read(&self) -> u64 {
        self.bytes
    }
}

impl<R: Read> Read for Counting<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.bytes += count as u64;
        Ok(count)
    }
}

impl<R: Seek> Seek for Counting<R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.inner.seek(to)
    }
}

/// How a stretch of lines ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With a line end, or with bytes after the last one.
    Rest {
        /// Bytes of the lines that were handed on, line ends included.
        whole: u64,
        /// What follows the last line end.
        rest: Vec<u8>,
    },
    /// A line longer than the limit.
    TooLong,
}

/// Hands every line from `from` on to `each`, without its line end.
///
/// # Errors
/// Of reading; or, inside, the first one of `each`.
pub fn forward<R: Read + Seek, E>(
    reader: &mut R,
    from: u64,
    mut each: impl FnMut(&[u8]) -> Result<(), E>,
) -> io::Result<Result<Ending, E>> {
    reader.seek(SeekFrom::Start(from))?;
    let mut reader = BufReader::with_capacity(1 << 16, reader);
    let mut line = Vec::new();
    let mut whole = 0;
    loop {
        line.clear();
        let count = (&mut reader)
            .take(LINE_LIMIT + 1)
            .read_until(b'\n', &mut line)?;
        match line.strip_suffix(b"\n") {
            Some(line) => {
                if let Err(error) = each(line) {
                    return Ok(Err(error));
                }
                whole += count as u64;
            }
            None if count as u64 > LINE_LIMIT => return Ok(Ok(Ending::TooLong)),
            None => return Ok(Ok(Ending::Rest { whole, rest: line })),
        }
    }
}

/// The last line before `end` that is not blank, and where it begins. `end` has to be behind a line
/// end; where it is not, or there is no such line, or it is longer than the limit: `None`.
///
/// Reads at most a few blocks and six times the line.
///
/// # Errors
/// Of reading.
pub fn last<R: Read + Seek>(reader: &mut R, end: u64) -> io::Result<Option<(u64, Vec<u8>)>> {
    let mut size = BLOCK;
    loop {
        let start = end.saturating_sub(size);
        let mut bytes = Vec::new();
        reader.seek(SeekFrom::Start(start))?;
        reader.take(end - start).read_to_end(&mut bytes)?;
        let Some(lines) = bytes.strip_suffix(b"\n") else {
            return Ok(None);
        };
        let text = lines
            .iter()
            .rposition(|byte| !byte.is_ascii_whitespace())
            .map_or(0, |at| at + 1);
        let line_end = lines
            .iter()
            .skip(text)
            .position(|byte| *byte == b'\n')
            .map_or(lines.len(), |at| text + at);
        let before = lines
            .get(..text)
            .and_then(|lines| lines.iter().rposition(|byte| *byte == b'\n'));
        let found = match before {
            Some(before) => Some(before + 1),
            None if start == 0 && text > 0 => Some(0),
            None => None,
        };
        if let Some(found) = found {
            let line = lines.get(found..line_end).unwrap_or_default().to_vec();
            return Ok(Some((start + found as u64, line)));
        }
        if start == 0 || size > LINE_LIMIT {
            return Ok(None);
        }
        size *= 4;
    }
}

/// Offset behind the last line end before `end`; 0 where there is none.
///
/// # Errors
/// Of reading.
pub fn whole<R: Read + Seek>(reader: &mut R, end: u64) -> io::Result<u64> {
    let mut end = end;
    let mut block = Vec::new();
    while end > 0 {
        let start = end.saturating_sub(BLOCK);
        block.clear();
        reader.seek(SeekFrom::Start(start))?;
        reader.take(end - start).read_to_end(&mut block)?;
        if let Some(at) = block.iter().rposition(|byte| *byte == b'\n') {
            return Ok(start + at as u64 + 1);
        }
        end = start;
    }
    Ok(0)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use std::io::Cursor;

    use proptest::prelude::*;

    use super::*;

    fn last_of(text: &[u8]) -> Option<(u64, Vec<u8>)> {
        last(&mut Cursor::new(text), text.len() as u64).unwrap()
    }

    #[test]
    fn the_last_line_is_found_behind_anything() {
        let long = "x".repeat(100_000);
        let cases: &[(&str, Option<(u64, &str)>)] = &[
            ("", None),
            ("\n", None),
            (" \n\n", None),
            ("a", None),
            ("a\n", Some((0, "a"))),
            ("a\nbc\n", Some((2, "bc"))),
            ("a\nbc\n\n \n", Some((2, "bc"))),
            ("a\nbc \n", Some((2, "bc "))),
            ("a\nbc\nd", None),
        ];
        for (text, expected) in cases {
            let expected = expected.map(|(at, line)| (at, line.as_bytes().to_vec()));
            assert_eq!(last_of(text.as_bytes()), expected, "{text:?}");
        }
        let text = format!("a\n{long}\n");
        assert_eq!(last_of(text.as_bytes()), Some((2, long.into_bytes())));
    }

    proptest! {
        #[test]
        fn the_back_agrees_with_the_front(
            lines in prop::collection::vec("[a-z ]{0,9}|[a-z]{4000,4200}", 0..6),
        ) {
            let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
            let mut at = 0;
            let mut expected = None;
            let ending = forward(&mut Cursor::new(text.as_bytes()), 0, |line| {
                if !line.iter().all(u8::is_ascii_whitespace) {
                    expected = Some((at, line.to_vec()));
                }
                at += line.len() as u64 + 1;
                Ok::<(), ()>(())
            }).unwrap().unwrap();
            let whole = text.len() as u64;
            prop_assert_eq!(ending, Ending::Rest { whole, rest: Vec::new() });
            prop_assert_eq!(last_of(text.as_bytes()), expected);
            let torn = format!("{text}torn");
            let found = super::whole(&mut Cursor::new(torn.as_bytes()), torn.len() as u64);
            prop_assert_eq!(found.unwrap(), whole);
        }

        #[test]
        fn little_is_read_of_much(before in 0usize..200_000, length in 1usize..20_000) {
            let text = format!("{}\n{}\n", "x".repeat(before), "y".repeat(length));
            let mut reader = Counting::new(Cursor::new(text.as_bytes()));
            last(&mut reader, text.len() as u64).unwrap().unwrap();
            prop_assert!(reader.bytes_read() <= 2 * BLOCK + 6 * length as u64, "{}", reader.bytes_read());
        }
    }
}
