//! The elements of a folded text, packed: a source of 10 MB has ten million of them.

use std::ops::Range;

use super::verdict::{Folding, Foldings};

/// What an element is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Kind {
    /// The character `ch`.
    Char = 0,
    /// `s` or `f`: the first letter of U+FB05, whose `ſ` was read both ways.
    LongS,
    /// White space between words.
    Space,
    /// A line break in a script without spaces: white space or nothing.
    SoftSpace,
    /// A hyphen at a line end, or a soft hyphen: a hyphen, or nothing when `may_vanish`.
    SoftHyphen,
    /// A superscript begins: `^`, or nothing when `may_vanish`.
    Superscript,
    /// A subscript begins: nothing, when `may_vanish`.
    Subscript,
    /// A superscript or subscript ends and a digit follows on the line.
    ScriptEnd,
}

/// One element. A large source has many millions of them, so it is packed into 16 bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    /// The character in the low 21 bits, the kind in the next three, then one bit for each [`Trait`].
    head: u32,
    /// Bytes of the text.
    pub start: u32,
    pub end: u32,
    /// What was folded to make it.
    pub folds: Foldings,
    /// What was folded away between the element before and this one.
    pub before: Foldings,
}

/// What an element is besides its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Trait {
    MayVanish = 1 << 24,
    SpaceBefore = 1 << 25,
    SpaceAfter = 1 << 26,
    Bar = 1 << 27,
    AnyCase = 1 << 28,
    BeginsGroup = 1 << 29,
}

const CHAR_BITS: u32 = (1 << 21) - 1;
const KIND_SHIFT: u32 = 21;

impl Item {
    /// An element that is nothing but its character. Texts beyond 4 GiB are not folded.
    pub fn new(ch: char, kind: Kind, range: Range<usize>, folds: Foldings) -> Self {
        Item {
            head: ch as u32 | (kind as u32) << KIND_SHIFT,
            start: u32::try_from(range.start).unwrap_or(u32::MAX),
            end: u32::try_from(range.end).unwrap_or(u32::MAX),
            folds,
            before: Foldings::NONE,
        }
    }

    /// The same behind what was folded away.
    pub fn behind(self, before: Foldings) -> Self {
        Item { before, ..self }
    }

    /// Makes it another character and kind; all else stays.
    pub fn set(&mut self, ch: char, kind: Kind) {
        let all = CHAR_BITS | 7 << KIND_SHIFT;
        self.head = self.head & !all | ch as u32 | (kind as u32) << KIND_SHIFT;
    }

    pub fn having(mut self, quality: Trait, yes: bool) -> Self {
        if yes {
            self.head |= quality as u32;
        }
        self
    }

    pub fn has(&self, quality: Trait) -> bool {
        self.head & quality as u32 != 0
    }

    /// The character, for [`Kind::Char`]; otherwise a stand-in for messages.
    pub fn ch(&self) -> char {
        char::from_u32(self.head & CHAR_BITS).unwrap_or(char::REPLACEMENT_CHARACTER)
    }

    pub fn kind(&self) -> Kind {
        match self.head >> KIND_SHIFT & 7 {
            0 => Kind::Char,
            1 => Kind::LongS,
            2 => Kind::Space,
            3 => Kind::SoftSpace,
            4 => Kind::SoftHyphen,
            5 => Kind::Superscript,
            6 => Kind::Subscript,
            _ => Kind::ScriptEnd,
        }
    }

    /// The character, if it is one of ASCII of which nothing else is to be said.
    pub fn ascii(&self) -> Option<u8> {
        u8::try_from(self.head & !(Trait::BeginsGroup as u32))
            .ok()
            .filter(u8::is_ascii)
    }

    /// Whether it may also be read as nothing.
    pub fn may_vanish(&self) -> bool {
        self.has(Trait::MayVanish)
    }

    /// For a soft hyphen: whether white space stands before it in the text.
    pub fn space_before(&self) -> bool {
        self.has(Trait::SpaceBefore)
    }

    /// For a soft hyphen: whether white space stands after it in the text.
    pub fn space_after(&self) -> bool {
        self.has(Trait::SpaceAfter)
    }

    /// For white space: whether a bar between cells, or the mark of a quoted line, was in it.
    pub fn bar(&self) -> bool {
        self.has(Trait::Bar)
    }

    /// For a character: whether any case will do.
    pub fn any_case(&self) -> bool {
        self.has(Trait::AnyCase)
    }

    pub fn range(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// The character of an element that both sides must have.
    pub fn char(&self) -> Option<char> {
        matches!(self.kind(), Kind::Char | Kind::LongS).then(|| self.ch())
    }
}

/// Elements that a quote may leave out, or that a quote has in addition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Group {
    /// Indices of elements.
    pub items: Range<usize>,
    /// Why it may be left out; `None` for an editorial insertion.
    pub folding: Option<Folding>,
    /// For an editorial insertion: its words.
    pub words: String,
}
