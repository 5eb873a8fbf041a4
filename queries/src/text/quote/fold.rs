//! A text as the sequence of what it says, each element with the bytes it came from.
//!
//! Folding removes differences in *writing* (see [`Folding`]) and never in value: an element that two
//! texts must share is a [`Kind::Char`] or [`Kind::Space`]; what may be read in two ways (a hyphen at
//! a line end, the start of an exponent) is an element of its own, which the comparison in
//! [`super::walk`] resolves by looking at the other side's next element. Nothing is searched again in
//! a rendered text.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization;

use super::chars;
use super::item::Trait;
pub(super) use super::item::{Group, Item, Kind};
use super::markup::{self, Mark, Stand};
use super::script::{Script, declared_case, script_char};
use super::verdict::{Folding, Foldings};
use crate::text::canonical;
use crate::text::veil::Veiled;

/// A folded text.
#[derive(Clone, Debug)]
pub(super) struct Folded<'a> {
    pub text: &'a str,
    pub items: Vec<Item>,
    /// Optional groups, in order, not overlapping.
    pub groups: Vec<Group>,
    /// In a quote: bracketed words at its beginning that were taken away.
    pub dropped: Option<String>,
}

impl<'a> Folded<'a> {
    /// Folds `text`. In a quote, `[T]he` is read as a change of case that the quote declares.
    ///
    /// A text of more than 4 GiB is not folded.
    pub fn new(text: &'a str, is_quote: bool) -> Self {
        Self::with_marks(text, is_quote, markup::marks(text))
    }

    /// Folds a source, without what it does not say.
    pub fn source(text: &'a str, veiled: &[Veiled]) -> Self {
        Self::with_marks(text, false, markup::marks_around(text, veiled))
    }

    /// Folds a quote that may have kept bars and marks of quoted lines, but not the lines.
    pub fn off_lines_quote(text: &'a str) -> Self {
        Self::with_marks(text, true, markup::marks_off_lines(text))
    }

    /// Folds a quote in which asterisks, brackets, backslashes and the like are meant as such.
    pub fn literal_quote(text: &'a str) -> Self {
        Self::with_marks(text, false, Vec::new())
    }

    /// Folds the bytes `part` of a text that has no markup and is cut between two of its words.
    pub fn part(text: &'a str, part: Range<usize>) -> Self {
        let text = text.get(..part.end).unwrap_or(text);
        Self::from(text, part.start, false, Vec::new())
    }

    fn with_marks(text: &'a str, is_quote: bool, marks: Vec<Mark>) -> Self {
        Self::from(text, 0, is_quote, marks)
    }

    fn from(text: &'a str, start: usize, is_quote: bool, marks: Vec<Mark>) -> Self {
        let mut builder = Builder {
            text,
            items: Vec::with_capacity(text.len() - start.min(text.len())),
            gap: None,
            gap_folds: Foldings::NONE,
            gap_bar: false,
            before: Foldings::NONE,
            script: None,
        };
        if u32::try_from(text.len()).is_ok() {
            builder.run(start, is_quote, marks);
        }
        Folded {
            text,
            items: builder.items,
            groups: Vec::new(),
            dropped: None,
        }
    }

    /// Sets the optional groups.
    pub fn set_groups(&mut self, groups: Vec<Group>) {
        for group in &groups {
            if let Some(item) = self.items.get_mut(group.items.start) {
                *item = item.having(Trait::BeginsGroup, true);
            }
        }
        self.groups = groups;
    }

    /// The group that begins with element `index`.
    pub fn group_at(&self, index: usize) -> Option<&Group> {
        if !self.items.get(index)?.has(Trait::BeginsGroup) {
            return None;
        }
        let found = self
            .groups
            .binary_search_by_key(&index, |group| group.items.start)
            .ok()?;
        self.groups.get(found)
    }

    /// The character of element `index`, if both sides must have it.
    pub fn char(&self, index: usize) -> Option<char> {
        self.items.get(index).and_then(Item::char)
    }

    /// The index of the first element that begins at or after byte `offset`.
    pub fn index_of(&self, offset: usize) -> usize {
        self.items
            .partition_point(|item| (item.start as usize) < offset)
    }
}

struct Builder<'a> {
    text: &'a str,
    items: Vec<Item>,
    /// White space seen since the last element.
    gap: Option<Range<usize>>,
    gap_folds: Foldings,
    /// Whether a bar was among it.
    gap_bar: bool,
    /// What was dropped since the last element.
    before: Foldings,
    script: Option<Script>,
}

impl Builder<'_> {
    fn run(&mut self, start: usize, is_quote: bool, marks: Vec<Mark>) {
        let text = self.text;
        let mut marks = marks.into_iter().peekable();
        // A script opened by a tag lasts until its closing tag.
        let mut tagged = None;
        let mut at = start;
        while let Some(rest) = text.get(at..)
            && let Some(first) = rest.chars().next()
        {
            if let Some((range, stand)) = marks.next_if(|(range, _)| range.start <= at) {
                at = range.end.max(at);
                match stand {
                    Stand::Nothing => self.before = self.before.with(Folding::Markup),
                    Stand::Gap => self.gap(range, Folding::Markup),
                    Stand::Bar => {
                        self.gap(range, Folding::Markup);
                        self.gap_bar = true;
                    }
                    Stand::SuperscriptStart | Stand::SubscriptStart | Stand::ScriptEnd => {
                        self.before = self.before.with(Folding::Markup);
                        tagged = match stand {
                            Stand::SuperscriptStart => Some(Script::Super),
                            Stand::SubscriptStart => Some(Script::Sub),
                            _ => None,
                        };
                    }
                    Stand::Char(c) => {
                        let folds = Foldings::of(Folding::Markup);
                        self.character(c, range, folds, tagged);
                    }
                }
                continue;
            }
            // Nothing but these can follow a plain word character and change it.
            let next_mark = marks.peek().map_or(text.len(), |(range, _)| range.start);
            if tagged.is_none() {
                let plain = self.plain_run(at, next_mark);
                if plain > 0 {
                    at += plain;
                    continue;
                }
            }
            if chars::is_space(first) {
                self.gap(at..at + first.len_utf8(), Folding::Space);
                at += first.len_utf8();
                continue;
            }
            if chars::is_invisible(first) {
                self.before = self.before.with(Folding::Invisible);
                at += first.len_utf8();
                continue;
            }
            if let Some(len) = self.hyphen_at_line_end(at, first) {
                at += len;
                continue;
            }
            if first == '-'
                && let Some(len) = self.ascii_dash(at)
            {
                at += len;
                continue;
            }
            if is_quote
                && first == '['
                && let Some((letter, len)) = declared_case(rest)
                && self
                    .items
                    .last()
                    .is_none_or(|item| item.kind() == Kind::Space || self.gap.is_some())
            {
                self.character(letter, at..at + len, Foldings::of(Folding::Initial), None);
                if let Some(item) = self.items.last_mut() {
                    *item = item.having(Trait::AnyCase, true);
                }
                at += len;
                continue;
            }
            let (len, unsettled) = canonical::piece(rest);
            let source = at..at + len;
            at = source.end;
            let piece = rest.get(..len).unwrap_or(rest);
            if !unsettled {
                self.character(first, source, Foldings::NONE, tagged);
                continue;
            }
            let mut composed = piece.nfc();
            let same = composed.clone().eq(piece.chars());
            let folds = if same {
                Foldings::NONE
            } else {
                Foldings::of(Folding::Canonical)
            };
            let mut offset = source.start;
            for c in composed.by_ref() {
                if chars::is_invisible(c) {
                    self.before = self.before.with(Folding::Invisible);
                    offset += if same { c.len_utf8() } else { 0 };
                    continue;
                }
                let range = if same {
                    offset..offset + c.len_utf8()
                } else {
                    source.clone()
                };
                offset += if same { c.len_utf8() } else { 0 };
                self.character(c, range, folds, tagged);
            }
        }
    }

    /// Writes the ASCII letters, digits and single spaces from `at` on; how many bytes.
    ///
    /// A byte is only taken when another ASCII byte follows, so that no combining mark is missed.
    fn plain_run(&mut self, at: usize, end: usize) -> usize {
        if self.script.is_some() {
            return 0;
        }
        let bytes = self.text.as_bytes().get(at..end).unwrap_or(&[]);
        let mut taken = 0;
        while let [byte, next, ..] = bytes.get(taken..).unwrap_or(&[]) {
            if !next.is_ascii() {
                break;
            }
            let start = at + taken;
            if byte.is_ascii_alphanumeric() {
                if self.gap.is_some() {
                    self.flush_gap(char::from(*byte));
                }
                self.push(Item::new(
                    char::from(*byte),
                    Kind::Char,
                    start..start + 1,
                    Foldings::NONE,
                ));
            } else if *byte == b' ' {
                self.gap(start..start + 1, Folding::Space);
            } else {
                break;
            }
            taken += 1;
        }
        taken
    }

    fn gap(&mut self, range: Range<usize>, folding: Folding) {
        let start = self.gap.as_ref().map_or(range.start, |gap| gap.start);
        self.gap = Some(start..range.end);
        self.gap_folds = self.gap_folds.with(folding);
    }

    /// Writes the white space seen so far, now that `next` follows it.
    fn flush_gap(&mut self, next: char) {
        let Some(gap) = self.gap.take() else {
            return;
        };
        let folds = std::mem::take(&mut self.gap_folds);
        let bar = std::mem::take(&mut self.gap_bar);
        let Some(last) = self.items.last() else {
            return;
        };
        let soft = |c: char| chars::is_spaceless(c) || chars::is_wide_punctuation(c);
        let breaks = self
            .text
            .get(gap.clone())
            .is_some_and(|gap| gap.contains('\n'));
        let raw_last = self
            .text
            .get(last.range())
            .and_then(|raw| raw.chars().next_back());
        let kind = if breaks && raw_last.is_some_and(soft) && soft(next) {
            Kind::SoftSpace
        } else {
            Kind::Space
        };
        self.script = None;
        let before = std::mem::take(&mut self.before);
        let item = Item::new(' ', kind, gap, folds)
            .having(Trait::MayVanish, kind == Kind::SoftSpace)
            .having(Trait::Bar, bar);
        self.items.push(item.behind(before));
    }

    fn push(&mut self, item: Item) {
        let before = std::mem::take(&mut self.before);
        self.items.push(item.behind(before));
    }

    /// A hyphen followed by a line break, or a soft hyphen: its length with the white space after it.
    fn hyphen_at_line_end(&mut self, at: usize, first: char) -> Option<usize> {
        if !matches!(first, '-' | '\u{2010}' | '\u{ad}') {
            return None;
        }
        let rest = self.text.get(at + first.len_utf8()..)?;
        let gap_len = rest.find(|c| !chars::is_space(c)).unwrap_or(rest.len());
        let breaks = rest.get(..gap_len).is_some_and(|gap| gap.contains('\n'));
        let soft = first == '\u{ad}';
        if !soft && !breaks {
            return None;
        }
        let gap_len = if breaks { gap_len } else { 0 };
        let next = rest
            .get(gap_len..)?
            .chars()
            .find(|&c| !chars::is_invisible(c));
        let last = self.items.last().and_then(Item::char);
        let wordish = |c: Option<char>| c.is_some_and(chars::is_wordish);
        if !wordish(last) || !wordish(next) {
            if soft {
                self.before = self.before.with(Folding::Hyphenation);
                return Some(first.len_utf8());
            }
            return None;
        }
        let number = last.is_some_and(chars::is_digit) || next.is_some_and(chars::is_digit);
        let range = at..at + first.len_utf8() + gap_len;
        // A soft hyphen in a number shows nothing; a hyphen at a line end may be a minus or a range.
        if number && self.gap.is_some() {
            // A spaced dash beside a number breaks no word: `- 12 -` is a page number.
            return None;
        }
        let space_before = self.gap.take().is_some();
        self.gap_folds = Foldings::NONE;
        self.gap_bar = false;
        self.script = None;
        if soft && number {
            self.before = self.before.with(Folding::Hyphenation);
            if space_before || breaks {
                return None;
            }
            return Some(first.len_utf8());
        }
        let folds = Foldings::of(Folding::Hyphenation);
        self.push(
            Item::new('-', Kind::SoftHyphen, range.clone(), folds)
                .having(Trait::MayVanish, !number)
                .having(Trait::SpaceBefore, space_before)
                .having(Trait::SpaceAfter, breaks),
        );
        Some(range.len())
    }

    /// `--` and `---` between words or spaces are typed dashes.
    fn ascii_dash(&mut self, at: usize) -> Option<usize> {
        let rest = self.text.get(at..)?;
        let run = rest
            .bytes()
            .take(4)
            .take_while(|&byte| byte == b'-')
            .count();
        if !(2..=3).contains(&run) {
            return None;
        }
        let next = rest.get(run..)?.chars().next();
        let last = self.items.last().and_then(Item::char)?;
        let spaced = self.gap.is_some() && next.is_none_or(chars::is_space);
        let tight =
            self.gap.is_none() && last.is_alphabetic() && next.is_some_and(char::is_alphabetic);
        if !spaced && !tight {
            return None;
        }
        self.flush_gap('-');
        self.push(Item::new(
            '-',
            Kind::Char,
            at..at + run,
            Foldings::of(Folding::Dash),
        ));
        Some(run)
    }

    /// One composed character with everything that can be said about it alone.
    fn character(&mut self, c: char, range: Range<usize>, folds: Foldings, tagged: Option<Script>) {
        self.flush_gap(c);
        let (script, c) = match script_char(c) {
            Some((script, plain)) => (Some(script), plain),
            None => (tagged, c),
        };
        let folds = if script.is_some() {
            folds.with(Folding::Script)
        } else {
            folds
        };
        if script != self.script {
            self.change_script(script, c, range.start);
        }
        let dot = c == '·' && self.is_decimal_dot(&range);
        let mut one =
            |c: char, folds: Foldings| self.push(Item::new(c, Kind::Char, range.clone(), folds));
        match c {
            ' '..='~' => one(c, folds),
            '‘' | '’' | '‚' | '‛' | '′' | '´' | 'ʼ' | '‹' | '›' | '\u{5f3}' => {
                one('\'', folds.with(Folding::Quotes))
            }
            '“' | '”' | '„' | '‟' | '″' | '«' | '»' | '\u{5f4}' => {
                one('"', folds.with(Folding::Quotes))
            }
            '\u{2010}'..='\u{2015}' | '\u{2212}' => one('-', folds.with(Folding::Dash)),
            '…' => {
                for _ in 0..3 {
                    one('.', folds.with(Folding::Ellipsis));
                }
            }
            '\u{fb00}'..='\u{fb06}' => {
                let folds = folds.with(Folding::Ligature);
                let letters = match c {
                    '\u{fb00}' => "ff",
                    '\u{fb01}' => "fi",
                    '\u{fb02}' => "fl",
                    '\u{fb03}' => "ffi",
                    '\u{fb04}' => "ffl",
                    _ => "st",
                };
                for letter in letters.chars() {
                    one(letter, folds);
                }
                if c == '\u{fb05}' {
                    let first = self.items.len().wrapping_sub(2);
                    if let Some(item) = self.items.get_mut(first) {
                        item.set(item.ch(), Kind::LongS);
                    }
                }
            }
            '·' if dot => one('.', folds.with(Folding::DecimalDot)),
            '\u{ff00}'..='\u{ffef}' => {
                for narrow in std::iter::once(c).nfkc() {
                    // A half-width voicing mark joins the Kana before it.
                    if matches!(narrow, '\u{3099}' | '\u{309a}')
                        && let Some(last) = self.items.last_mut()
                        && let Some(voiced) =
                            unicode_normalization::char::compose(last.ch(), narrow)
                    {
                        last.set(voiced, last.kind());
                        last.end = u32::try_from(range.end).unwrap_or(u32::MAX);
                        last.folds = last.folds.with(Folding::Width);
                        continue;
                    }
                    // Full-width quotes and dashes go on to be folded as such.
                    let (c, folds) = match narrow {
                        '\u{2010}'..='\u{2015}' => ('-', folds.with(Folding::Dash)),
                        _ => (narrow, folds),
                    };
                    let folds = folds.with(Folding::Width);
                    self.push(Item::new(c, Kind::Char, range.clone(), folds));
                }
            }
            _ => one(c, folds),
        }
    }

    /// A superscript or subscript begins or ends before `c`.
    fn change_script(&mut self, script: Option<Script>, c: char, at: usize) {
        let was = std::mem::replace(&mut self.script, script);
        let number = |c: char| chars::is_digit(c);
        if was.is_some() && script.is_none() {
            if number(c) {
                self.push(Item::new(
                    '^',
                    Kind::ScriptEnd,
                    at..at,
                    Foldings::of(Folding::Script),
                ));
            }
            return;
        }
        let Some(script) = script else {
            return;
        };
        // After a digit, or the `e` of a power of ten, a plain digit or plus would be another number.
        let mut last = self.items.iter().rev().filter_map(Item::char);
        let behind_number = match self.items.last().map(|item| item.kind()) {
            Some(Kind::Char) => match last.next() {
                Some('e' | 'E') => last.next().is_some_and(number),
                Some('.' | ',') => true,
                Some(last) => number(last),
                None => false,
            },
            _ => false,
        };
        let may_vanish = !(behind_number && c != '-' && c != '−');
        let kind = if script == Script::Super {
            Kind::Superscript
        } else {
            Kind::Subscript
        };
        self.push(
            Item::new('^', kind, at..at, Foldings::of(Folding::Script))
                .having(Trait::MayVanish, may_vanish),
        );
    }

    /// Whether the middle dot at `range` stands between the digits of one decimal number.
    fn is_decimal_dot(&self, range: &Range<usize>) -> bool {
        let mut back = self.items.iter().rev();
        let adjacent = back.next().is_some_and(|item| {
            item.kind() == Kind::Char
                && item.ch().is_ascii_digit()
                && item.end as usize == range.start
        });
        let chained = back
            .find(|item| !(item.kind() == Kind::Char && item.ch().is_ascii_digit()))
            .is_some_and(|item| item.kind() == Kind::Char && matches!(item.ch(), '.' | '·'));
        let Some(rest) = self.text.get(range.end..) else {
            return false;
        };
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let mut after = rest.get(digits..).unwrap_or("").chars();
        let (next, second) = (after.next(), after.next());
        // `2·10³` is a product, `1·2·3` a chain.
        let power = rest.get(..digits) == Some("10")
            && next.is_some_and(|c| c == '^' || c == '<' || script_char(c).is_some());
        let goes_on = matches!(next, Some('·' | '.')) && second.is_some_and(|c| c.is_ascii_digit());
        adjacent && !chained && digits > 0 && !power && !goes_on
    }
}
