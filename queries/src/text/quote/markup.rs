//! Finding the marks of Markdown and HTML in a text, so that the fold can look through them.
//!
//! This is not a Markdown parser: a passage begins and ends anywhere, and the same text may be plain.
//! A mark is only recognised where taking it away cannot join two numbers or drop an operator, which
//! is stricter than CommonMark: `2**3`, `a*b*c` and `Vec < b` keep every character.

use std::ops::Range;

use super::chars;
use super::tags::{entity_char, link_target, read_tag, reference};
use crate::text::veil::{self, Veil, Veiled};

/// What stands in place of a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stand {
    /// Nothing.
    Nothing,
    /// A gap between two blocks or cells.
    Gap,
    /// The same, written as a bar or as the mark of a quoted line, which a quote may have kept.
    Bar,
    /// The character that an entity names.
    Char(char),
    /// A superscript begins.
    SuperscriptStart,
    /// A subscript begins.
    SubscriptStart,
    /// A superscript or subscript ends.
    ScriptEnd,
}

/// The bytes of a mark, and what it stands for.
pub(super) type Mark = (Range<usize>, Stand);

/// The marks of `text` in order, not overlapping.
pub(super) fn marks(text: &str) -> Vec<Mark> {
    if memchr::memchr3(b'*', b'_', b'`', text.as_bytes()).is_none()
        && memchr::memchr3(b'<', b'&', b'[', text.as_bytes()).is_none()
        && memchr::memchr3(b'\\', b'|', b'\n', text.as_bytes())
            .is_none_or(|_| !text.contains(['\\', '|', '>']))
    {
        return Vec::new();
    }
    let mut scan = Scan {
        text,
        marks: Vec::new(),
        open: Open::default(),
    };
    scan.run();
    in_order(scan.marks)
}

/// The marks of `text`, in which what is hidden or struck out is a mark that stands for nothing.
pub(super) fn marks_around(text: &str, veiled: &[Veiled]) -> Vec<Mark> {
    let mut marks = marks(text);
    let unsaid = || veiled.iter().filter(|veiled| veiled.veil != Veil::Target);
    if unsaid().next().is_none() {
        return marks;
    }
    marks.retain(|(range, _)| {
        veil::within(veiled, range)
            .iter()
            .all(|veiled| veiled.veil == Veil::Target)
    });
    marks.extend(unsaid().map(|veiled| (veiled.range.clone(), Stand::Nothing)));
    in_order(marks)
}

/// Sorts marks; where two read the same bytes, the first wins.
fn in_order(mut marks: Vec<Mark>) -> Vec<Mark> {
    marks.sort_by_key(|(range, _)| (range.start, range.end));
    let mut end = 0;
    marks.retain(|(range, _)| {
        let keep = range.start >= end;
        if keep {
            end = range.end;
        }
        keep
    });
    marks
}

/// The marks of a quote in which bars and marks of quoted lines have lost the lines they stood on.
pub(super) fn marks_off_lines(text: &str) -> Vec<Mark> {
    let mut marks = marks(text);
    // At an end of the quote nothing tells the mark of a line from a comparison that was cut off.
    let mut words = text.split_whitespace().peekable();
    let mut first = true;
    while let Some(word) = words.next() {
        let is_row = word.contains('|') && word.bytes().all(|byte| b"|-:".contains(&byte));
        let at_an_end = std::mem::take(&mut first) || words.peek().is_none();
        if is_row || word == ">" && !at_an_end {
            let start = word.as_ptr() as usize - text.as_ptr() as usize;
            marks.push((start..start + word.len(), Stand::Bar));
        }
    }
    in_order(marks)
}

/// Openers that wait for their closers within one paragraph.
#[derive(Default)]
struct Open {
    star: Option<Range<usize>>,
    low_line: Option<Range<usize>>,
    inner_stars: Option<Stars>,
    brackets: Vec<usize>,
}

/// A run of two or three asterisks that may open bold text.
#[derive(Clone)]
struct Stars {
    range: Range<usize>,
    /// Whether it stands before a word and is a mark in any case.
    outer: bool,
}

struct Scan<'a> {
    text: &'a str,
    marks: Vec<Mark>,
    open: Open,
}

impl Scan<'_> {
    fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    fn before(&self, at: usize) -> Option<char> {
        self.text.get(..at)?.chars().next_back()
    }

    fn after(&self, at: usize) -> Option<char> {
        self.text.get(at..)?.chars().next()
    }

    fn push(&mut self, range: Range<usize>, stand: Stand) {
        self.marks.push((range, stand));
    }

    fn run(&mut self) {
        let mut at = 0;
        let mut line_start = true;
        let mut quoted = false;
        while let Some(byte) = self.byte(at) {
            if line_start {
                line_start = false;
                let (skip, now_quoted) = self.line(at, quoted);
                quoted = now_quoted;
                if skip > 0 {
                    at += skip;
                    continue;
                }
            }
            at += match byte {
                b'\n' => {
                    line_start = true;
                    if matches!(self.byte(at + 1), None | Some(b'\n' | b'\r')) {
                        self.open = Open::default();
                    }
                    1
                }
                b'\\'
                    if self
                        .byte(at + 1)
                        .is_some_and(|next| next.is_ascii_punctuation()) =>
                {
                    self.push(at..at + 1, Stand::Nothing);
                    2
                }
                // A line break that is meant.
                b'\\' if self.byte(at + 1) == Some(b'\n') => {
                    self.push(at..at + 1, Stand::Nothing);
                    1
                }
                b'`' => {
                    self.push(at..at + 1, Stand::Nothing);
                    1
                }
                b'*' | b'_' => self.emphasis(at, byte),
                b'[' => self.open_bracket(at),
                b']' => self.close_bracket(at),
                b'<' => self.tag(at),
                b'&' => self.entity(at),
                _ => 1,
            };
        }
    }

    /// Looks at a line as a whole: table rows and the marks of a block quote.
    fn line(&mut self, at: usize, quoted_before: bool) -> (usize, bool) {
        let Some(rest) = self.text.get(at..) else {
            return (0, false);
        };
        let indent = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        match self.byte(at + indent) {
            Some(b'|') => {
                let len = memchr::memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len());
                let row = rest.get(..len).unwrap_or(rest).trim();
                if row.len() < 3
                    || !row.ends_with('|')
                    || !row.starts_with("| ") && !row.starts_with("|-") && !row.starts_with("|:")
                {
                    return (0, false);
                }
                if row
                    .bytes()
                    .all(|byte| matches!(byte, b'|' | b'-' | b':' | b' ' | b'\t'))
                {
                    self.push(at..at + len, Stand::Bar);
                    return (len.max(1), false);
                }
                let bars: Vec<usize> = memchr::memchr_iter(b'|', row.as_bytes()).collect();
                for bar in bars {
                    let bar = at + indent + bar;
                    if self.byte(bar.wrapping_sub(1)) != Some(b'\\') {
                        self.push(bar..bar + 1, Stand::Bar);
                    }
                }
                (0, false)
            }
            Some(b'>') => {
                let mark = at + indent;
                let inner = rest
                    .get(indent + 1..)
                    .unwrap_or("")
                    .trim_start_matches([' ', '>']);
                // `> 5 mg` at the start of a line is a comparison as well.
                let number =
                    inner.starts_with(|c: char| chars::is_digit(c) || c == '.' || c == '-');
                if quoted_before
                    && !number
                    && matches!(self.byte(mark + 1), Some(b' ' | b'>' | b'\n' | b'\r'))
                {
                    self.push(mark..mark + 1, Stand::Bar);
                    return (indent + 1, true);
                }
                (0, true)
            }
            _ => (0, false),
        }
    }

    fn emphasis(&mut self, at: usize, byte: u8) -> usize {
        let run = self.text.as_bytes().get(at..).map_or(1, |rest| {
            rest.iter().take_while(|&&next| next == byte).count()
        });
        let range = at..at + run;
        let before = self.before(at);
        let after = self.after(at + run);
        let word_before = before.is_some_and(chars::is_wordish);
        // A superscript marker may follow the mark at once.
        let word_after =
            after.is_some_and(|c| chars::is_wordish(c) && !chars::is_superscript_digit(c));
        let opens = !word_before && after.is_some_and(|c| !chars::is_space(c));
        let closes = !word_after && before.is_some_and(|c| !chars::is_space(c));
        match (byte, run) {
            (b'*', 2 | 3) => {
                if opens || closes {
                    self.push(range.clone(), Stand::Nothing);
                    if closes
                        && let Some(opener) = self.open.inner_stars.take_if(|open| !open.outer)
                    {
                        self.inner_pair(opener, None);
                    }
                    self.open.inner_stars = opens.then_some(Stars { range, outer: true });
                } else if word_before && word_after {
                    self.inner_stars(range);
                }
            }
            (b'*', 1) => {
                if opens && !(closes && self.open.star.is_some()) {
                    self.open.star = Some(range);
                } else if closes && let Some(opener) = self.open.star.take() {
                    self.push(opener, Stand::Nothing);
                    self.push(range, Stand::Nothing);
                }
            }
            (b'_', 1..=3) => {
                let pending = self
                    .open
                    .low_line
                    .as_ref()
                    .is_some_and(|open| open.len() == run);
                if closes && pending {
                    if let Some(opener) = self.open.low_line.take() {
                        self.push(opener, Stand::Nothing);
                        self.push(range, Stand::Nothing);
                    }
                } else if opens {
                    self.open.low_line = Some(range);
                }
            }
            _ => {}
        }
        run
    }

    /// Bold that begins or ends inside a word.
    fn inner_stars(&mut self, range: Range<usize>) {
        match self.open.inner_stars.take() {
            Some(opener) if self.inner_pair(opener.clone(), Some(range.clone())) => {}
            _ => {
                self.open.inner_stars = Some(Stars {
                    range,
                    outer: false,
                })
            }
        }
    }

    /// `un**believ**able`, `un**able** to`, `**un**able`: only around letters, never an exponent.
    fn inner_pair(&mut self, opener: Stars, closer: Option<Range<usize>>) -> bool {
        let end = match (&closer, self.marks.last()) {
            (Some(closer), _) => closer.start,
            (None, Some((outer, _))) => outer.start,
            (None, None) => return false,
        };
        // `a**b**c` is a power.
        let least = if opener.outer || closer.is_none() {
            1
        } else {
            3
        };
        let letters = self
            .text
            .get(opener.range.end..end)
            .is_some_and(|inner| inner.len() >= least && inner.chars().all(char::is_alphabetic));
        let before = opener.outer
            || self
                .before(opener.range.start)
                .is_some_and(char::is_alphabetic);
        let after = closer
            .as_ref()
            .is_none_or(|closer| self.after(closer.end).is_some_and(char::is_alphabetic));
        if !letters || !before || !after {
            return false;
        }
        if !opener.outer {
            self.push(opener.range, Stand::Nothing);
        }
        if let Some(closer) = closer {
            self.push(closer, Stand::Nothing);
        }
        true
    }

    fn open_bracket(&mut self, at: usize) -> usize {
        // `[[target|text]]` and `[[target]]`.
        if self.byte(at + 1) == Some(b'[')
            && let Some(rest) = self.text.get(at + 2..)
            && rest.starts_with(char::is_alphabetic)
            && let Some(len) = rest
                .bytes()
                .take(200)
                .position(|byte| matches!(byte, b']' | b'[' | b'\n'))
            && rest.get(len..len + 2) == Some("]]")
        {
            let shown = rest
                .get(..len)
                .and_then(|inner| inner.find('|'))
                .map_or(0, |bar| bar + 1);
            self.push(at..at + 2 + shown, Stand::Nothing);
            self.push(at + 2 + len..at + 4 + len, Stand::Nothing);
            return len + 4;
        }
        if self.open.brackets.len() < 64 {
            self.open.brackets.push(at);
        }
        1
    }

    fn close_bracket(&mut self, at: usize) -> usize {
        let Some(opener) = self.open.brackets.pop() else {
            return 1;
        };
        let Some(inner) = self.text.get(opener + 1..at) else {
            return 1;
        };
        let Some(rest) = self.text.get(at + 1..) else {
            return 1;
        };
        let target = match self.byte(at + 1) {
            Some(b'(') => link_target(rest),
            Some(b'[') if !self.before(opener).is_some_and(chars::is_wordish) => {
                reference(inner, rest)
            }
            _ => None,
        };
        let Some(len) = target else {
            return 1;
        };
        let image = self.byte(opener.wrapping_sub(1)) == Some(b'!');
        self.push(opener - usize::from(image)..opener + 1, Stand::Nothing);
        self.push(at..at + 1 + len, Stand::Nothing);
        1 + len
    }

    fn tag(&mut self, at: usize) -> usize {
        let Some(rest) = self.text.get(at + 1..) else {
            return 1;
        };
        let Some((len, stand)) = read_tag(rest) else {
            return 1;
        };
        match stand {
            None => {
                // An automatic link: its angle brackets go, its address stays.
                self.push(at..at + 1, Stand::Nothing);
                self.push(at + len..at + len + 1, Stand::Nothing);
                1
            }
            Some(stand) => {
                self.push(at..at + 1 + len, stand);
                1 + len
            }
        }
    }

    fn entity(&mut self, at: usize) -> usize {
        let Some(rest) = self.text.get(at + 1..) else {
            return 1;
        };
        let Some(len) = rest.bytes().take(12).position(|byte| byte == b';') else {
            return 1;
        };
        let Some(c) = rest.get(..len).and_then(entity_char) else {
            return 1;
        };
        let stand = if chars::is_space(c) {
            Stand::Gap
        } else {
            Stand::Char(c)
        };
        self.push(at..at + len + 2, stand);
        len + 2
    }
}
