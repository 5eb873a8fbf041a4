//! Atoms: the pieces of a text that chunks are put together from.
//!
//! First the document's blocks, with whatever stands between them, page by page; then, where a
//! block is too large for a chunk, its paragraphs, sentences, lines, stretches between white space,
//! and at last words. Every character that is not white space is in exactly one atom.

use std::ops::Range;
use std::sync::Arc;

use super::DocumentView;
use super::words;
use crate::parse::document::BlockKind;

/// Most bytes that stand for one token, so that text without words is bounded too.
pub(super) const BYTES_PER_TOKEN: usize = 32;

/// How good a place for a boundary the start of an atom is. A higher strength is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Strength {
    /// Straight after a heading, which belongs to what follows it.
    AfterHeading,
    /// Between two words without white space.
    Word,
    /// White space.
    Space,
    /// A line.
    Line,
    /// A sentence.
    Sentence,
    /// A paragraph or another block.
    Block,
    /// A heading.
    Heading,
}

/// What an atom is, as far as chunkers care.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Heading { level: u8 },
    Text,
    Code,
    Row { key: Box<str> },
}

/// A block, or text between blocks, of one page.
pub(super) struct Part {
    /// Trimmed; never empty.
    pub(super) range: Range<usize>,
    pub(super) kind: Kind,
    /// Titles of the headings it stands under, its own included.
    pub(super) path: Arc<[Box<str>]>,
    pub(super) tokens: u32,
}

/// Titles of the open headings.
pub(super) struct Outline {
    open: Vec<(u8, Box<str>)>,
    path: Arc<[Box<str>]>,
}

impl Outline {
    pub(super) fn new() -> Self {
        Self {
            open: Vec::new(),
            path: Arc::from([]),
        }
    }

    fn enter(&mut self, level: u8, title: &str) {
        self.open.retain(|(other, _)| *other < level);
        self.open.push((level, title.into()));
        self.path = self.open.iter().map(|(_, title)| title.clone()).collect();
    }
}

/// The parts of one page. `next_block` and `outline` go on from page to page; a block that crosses
/// a page's end is cut there.
pub(super) fn parts_of_page(
    document: &DocumentView<'_>,
    page: &Range<usize>,
    next_block: &mut usize,
    outline: &mut Outline,
) -> Vec<Part> {
    let text = document.text;
    let mut parts = Vec::new();
    let mut at = page.start;
    while let Some(block) = document.blocks.get(*next_block)
        && block.range.start < page.end
    {
        let begins_here = block.range.start >= page.start;
        let mut start = block.range.start.max(page.start).max(at);
        let end = block.range.end.min(page.end).max(start);
        // Markup on the block's own first line belongs to the block.
        let gap = text.get(at..start).unwrap_or("");
        let own = gap.rfind('\n').map_or(0, |feed| feed + 1);
        start = at + own;
        push_between(text, at..start, outline, &mut parts);
        let kind = match &block.kind {
            BlockKind::Heading { level, title } => {
                if begins_here {
                    outline.enter(*level, title);
                }
                Kind::Heading { level: *level }
            }
            BlockKind::Paragraph => Kind::Text,
            BlockKind::Code => Kind::Code,
            BlockKind::Row { key } => Kind::Row { key: key.clone() },
        };
        push(text, start..end, kind, outline, &mut parts);
        at = end;
        if block.range.end > page.end {
            break;
        }
        *next_block += 1;
    }
    push_between(text, at..page.end, outline, &mut parts);
    parts
}

fn push(text: &str, range: Range<usize>, kind: Kind, outline: &Outline, parts: &mut Vec<Part>) {
    let range = words::trim(text, range);
    if let Some(part) = text.get(range.clone())
        && !part.is_empty()
    {
        parts.push(Part {
            tokens: words::count(part),
            range,
            kind,
            path: Arc::clone(&outline.path),
        });
    }
}

/// Text that no block covers is read as paragraphs.
fn push_between(text: &str, range: Range<usize>, outline: &Outline, parts: &mut Vec<Part>) {
    let blank = text
        .get(range.clone())
        .is_none_or(|between| between.trim_start().is_empty());
    if blank {
        return;
    }
    for paragraph in pieces(range.clone(), &blank_line_ends(text, &range)) {
        push(text, paragraph, Kind::Text, outline, parts);
    }
}

/// A piece of text that is never cut.
#[derive(Clone, Debug)]
pub(super) struct Atom {
    /// Trimmed; never empty.
    pub(super) range: Range<usize>,
    pub(super) tokens: u32,
    /// Strength of the boundary before it.
    pub(super) before: Strength,
    /// Index of the part that it is of.
    pub(super) part: usize,
}

/// Most tokens and bytes of something.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bound {
    pub(super) tokens: u32,
    pub(super) bytes: usize,
}

impl Bound {
    pub(super) fn of_tokens(tokens: u32) -> Self {
        Self {
            tokens,
            bytes: (tokens as usize).saturating_mul(BYTES_PER_TOKEN),
        }
    }

    pub(super) fn holds(&self, tokens: u32, bytes: usize) -> bool {
        tokens <= self.tokens && bytes <= self.bytes
    }
}

/// Ways to split a text, from the best place to cut to the worst.
#[derive(Clone, Copy)]
enum Level {
    Paragraphs,
    Sentences,
    Lines,
    Spaces,
    Words,
}

impl Level {
    const fn below(self, code: bool) -> Option<Self> {
        match self {
            Self::Paragraphs if code => Some(Self::Lines),
            Self::Paragraphs => Some(Self::Sentences),
            Self::Sentences => Some(Self::Lines),
            Self::Lines => Some(Self::Spaces),
            Self::Spaces => Some(Self::Words),
            Self::Words => None,
        }
    }

    const fn strength(self) -> Strength {
        match self {
            Self::Paragraphs => Strength::Block,
            Self::Sentences => Strength::Sentence,
            Self::Lines => Strength::Line,
            Self::Spaces => Strength::Space,
            Self::Words => Strength::Word,
        }
    }

    fn split(self, text: &str, range: &Range<usize>) -> Vec<usize> {
        match self {
            Self::Paragraphs => blank_line_ends(text, range),
            Self::Sentences => sentence_starts(text, range),
            Self::Lines => line_starts(text, range),
            Self::Spaces => space_ends(text, range),
            Self::Words => text.get(range.clone()).map_or_else(Vec::new, |part| {
                words::cuts(part)
                    .into_iter()
                    .map(|cut| range.start + cut)
                    .collect()
            }),
        }
    }
}

/// Splits a part into atoms that the bound holds, as far as it can be split.
pub(super) fn refine(
    text: &str,
    part_index: usize,
    part: &Part,
    before: Strength,
    bound: Bound,
    atoms: &mut Vec<Atom>,
) {
    let whole = Atom {
        range: part.range.clone(),
        tokens: part.tokens,
        before,
        part: part_index,
    };
    split_atom(
        text,
        whole,
        Some(Level::Paragraphs),
        part.kind == Kind::Code,
        bound,
        atoms,
    );
}

fn split_atom(
    text: &str,
    atom: Atom,
    level: Option<Level>,
    code: bool,
    bound: Bound,
    atoms: &mut Vec<Atom>,
) {
    let Some(level) = level.filter(|_| !bound.holds(atom.tokens, atom.range.len())) else {
        atoms.push(atom);
        return;
    };
    let mut before = atom.before;
    for piece in pieces(atom.range.clone(), &level.split(text, &atom.range)) {
        let range = words::trim(text, piece);
        if range.is_empty() {
            continue;
        }
        let smaller = Atom {
            tokens: text.get(range.clone()).map_or(0, words::count),
            range,
            before,
            part: atom.part,
        };
        split_atom(text, smaller, level.below(code), code, bound, atoms);
        before = level.strength();
    }
}

/// The longest tail of whole sentences that the bound holds; failing that of lines, of stretches
/// between white space, of words. Returns where it begins, or nothing when nothing fits.
pub(super) fn tail_start(
    text: &str,
    range: &Range<usize>,
    code: bool,
    bound: Bound,
) -> Option<(usize, u32)> {
    let mut level = Some(if code { Level::Lines } else { Level::Sentences });
    let mut range = range.clone();
    while let Some(this) = level {
        let mut tokens = 0u32;
        let mut start = None;
        let mut end = range.end;
        let mut starts = this.split(text, &range);
        starts.insert(0, range.start);
        for at in starts.into_iter().rev() {
            let piece = words::trim(text, at..end);
            let more = text.get(piece.clone()).map_or(0, words::count);
            if !bound.holds(tokens.saturating_add(more), range.end - piece.start) {
                break;
            }
            tokens = tokens.saturating_add(more);
            if !piece.is_empty() {
                start = Some((piece.start, tokens));
            }
            end = at;
        }
        if start.is_some() {
            return start;
        }
        // The last piece is too long by itself: look inside it, and no further back than it can
        // matter.
        range.start = this
            .split(text, &range)
            .last()
            .copied()
            .unwrap_or(range.start);
        level = this.below(code);
    }
    None
}

/// Cuts a range at the given offsets, which lie inside it in order.
fn pieces(range: Range<usize>, cuts: &[usize]) -> impl Iterator<Item = Range<usize>> {
    let starts = std::iter::once(range.start).chain(cuts.iter().copied());
    let ends = cuts.iter().copied().chain(std::iter::once(range.end));
    starts.zip(ends).map(|(start, end)| start..end)
}

/// Starts of the lines that follow a blank one.
fn blank_line_ends(text: &str, range: &Range<usize>) -> Vec<usize> {
    let part = text.get(range.clone()).unwrap_or("");
    let mut cuts = Vec::new();
    let mut blank = false;
    for feed in memchr::memchr_iter(b'\n', part.as_bytes()) {
        let line = part.get(feed + 1..).unwrap_or("");
        let line = line.split('\n').next().unwrap_or("");
        if line.trim().is_empty() {
            blank = true;
        } else if std::mem::take(&mut blank) {
            cuts.push(range.start + feed + 1);
        }
    }
    cuts
}

/// Starts of all lines but the first.
fn line_starts(text: &str, range: &Range<usize>) -> Vec<usize> {
    let bytes = text.as_bytes().get(range.clone()).unwrap_or(&[]);
    memchr::memchr_iter(b'\n', bytes)
        .map(|feed| range.start + feed + 1)
        .filter(|&start| start < range.end)
        .collect()
}

/// Ends of the runs of white space; a no-break space is none.
fn space_ends(text: &str, range: &Range<usize>) -> Vec<usize> {
    let part = text.get(range.clone()).unwrap_or("");
    let mut cuts = Vec::new();
    let mut last_space = None;
    for (at, c) in part.char_indices() {
        if c.is_whitespace() && !matches!(c, '\u{a0}' | '\u{202f}' | '\u{2007}') {
            last_space = Some(at);
        } else if let Some(space) = last_space.take() {
            // A space that carries a mark goes with the mark.
            let cut = [at, space]
                .map(|at| range.start + at)
                .into_iter()
                .find(|&cut| words::is_grapheme_boundary(text, cut));
            cuts.extend(cut.filter(|&cut| cut > range.start));
        }
    }
    cuts
}

/// Starts of sentences: after closing punctuation and white space where no lower-case letter
/// follows, after the full stops of scripts without spaces, and at lines that begin a list item
/// or a table row.
fn sentence_starts(text: &str, range: &Range<usize>) -> Vec<usize> {
    let part = text.get(range.clone()).unwrap_or("");
    let mut cuts = Vec::new();
    let mut chars = part.char_indices().peekable();
    // Letters since the last character that was none.
    let mut letters = 0u32;
    while let Some((at, c)) = chars.next() {
        if c == '\n' {
            letters = 0;
            let rest = part.get(at + 1..).unwrap_or("");
            if begins_item(rest) {
                cuts.push(range.start + at + 1);
            }
            continue;
        }
        let wide = matches!(c, '。' | '！' | '？' | '．' | '।' | '॥' | '။' | '។');
        if !wide && !matches!(c, '.' | '!' | '?' | '…' | '؟' | '۔') {
            letters = if c.is_alphabetic() { letters + 1 } else { 0 };
            continue;
        }
        let short = c == '.' && letters > 0 && letters <= 4;
        letters = 0;
        while chars.next_if(|(_, c)| ends_with_sentence(*c)).is_some() {}
        let mut spaced = false;
        while chars
            .next_if(|(_, c)| c.is_whitespace() && *c != '\n')
            .is_some()
        {
            spaced = true;
        }
        if let Some(&(_, '\n')) = chars.peek() {
            // The line feed itself decides about items; otherwise it is white space.
            let after = chars.clone().nth(1).map_or(part.len(), |(at, _)| at);
            let rest = part.get(after..).unwrap_or("");
            if !begins_item(rest) {
                spaced = true;
                chars.next();
                while chars.next_if(|(_, c)| c.is_whitespace()).is_some() {}
            }
        }
        if let Some(&(next_at, next)) = chars.peek()
            && (spaced || wide)
            && next != '\n'
            && !next.is_lowercase()
            && !(short && next.is_numeric())
        {
            let cut = range.start + next_at;
            if words::is_grapheme_boundary(text, cut) {
                cuts.push(cut);
            }
        }
    }
    cuts
}

fn ends_with_sentence(c: char) -> bool {
    ".!?…。！？)]}\"'”’»›」』）】》〉*_".contains(c)
}

/// Whether a line begins a list item or a table row.
fn begins_item(rest: &str) -> bool {
    let line = rest.trim_start_matches([' ', '\t']);
    if line.starts_with('|')
        || ["- ", "* ", "+ ", "• "]
            .iter()
            .any(|mark| line.starts_with(mark))
    {
        return true;
    }
    let digits = line.bytes().take(9).take_while(u8::is_ascii_digit).count();
    digits > 0
        && line
            .get(digits..)
            .is_some_and(|rest| rest.starts_with(". ") || rest.starts_with(") "))
}
