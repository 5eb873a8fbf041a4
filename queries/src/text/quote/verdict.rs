//! What the matcher says about a quote.

use std::fmt;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::text::veil::Veil;

/// How a quote stands in a passage, strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MatchClass {
    /// Its characters stand there.
    Exact,
    /// They stand there after foldings from the closed list.
    Normalized,
    /// It marks omissions; its segments stand there in order.
    Elided,
    /// All but a small edit stands there, and the caller asked for such matches.
    Fuzzy,
    /// It stands in the passage, but not on the cited pages.
    OutsidePages,
    /// None of these.
    Absent,
}

impl MatchClass {
    /// The name used in output.
    pub fn as_str(self) -> &'static str {
        match self {
            MatchClass::Exact => "exact",
            MatchClass::Normalized => "normalized",
            MatchClass::Elided => "elided",
            MatchClass::Fuzzy => "fuzzy",
            MatchClass::OutsidePages => "outside-pages",
            MatchClass::Absent => "absent",
        }
    }
}

impl fmt::Display for MatchClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

macro_rules! foldings {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// A difference in writing that is known not to change what is said. The list is closed.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum Folding { $($(#[$doc])* $name,)* }

        impl Folding {
            /// All of them, in the order in which they are reported.
            pub const ALL: &'static [Folding] = &[$(Folding::$name,)*];

            /// The name used in output.
            pub fn as_str(self) -> &'static str {
                match self { $(Folding::$name => $text,)* }
            }
        }
    };
}

foldings! {
    /// Canonical equivalence (NFC).
    Canonical = "canonical",
    /// Any run of white space equals any other.
    Space = "space",
    /// A word broken at a line end, or at a soft hyphen.
    Hyphenation = "hyphenation",
    /// U+FB00 to U+FB06 equal the letters they show.
    Ligature = "ligature",
    /// Quotation marks, apostrophes, primes.
    Quotes = "quotes",
    /// Hyphens, dashes and the minus sign.
    Dash = "dash",
    /// Zero-width characters and bidi marks.
    Invisible = "invisible",
    /// Full-width and half-width forms.
    Width = "width",
    /// `…` equals `...`.
    Ellipsis = "ellipsis",
    /// Markdown and HTML.
    Markup = "markup",
    /// A citation marker that stands in the source only.
    Marker = "marker",
    /// A running header, footer or page number that stands in the source only.
    Furniture = "furniture",
    /// The case of the first letter.
    Initial = "initial",
    /// A middle dot as decimal sign.
    DecimalDot = "decimal-dot",
    /// Superscript and subscript runs.
    Script = "script",
}

impl fmt::Display for Folding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A set of [`Folding`]s.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "Vec<Folding>", into = "Vec<Folding>")]
pub struct Foldings(u16);

impl Foldings {
    /// The empty set.
    pub const NONE: Foldings = Foldings(0);

    /// The set of one folding.
    pub const fn of(folding: Folding) -> Self {
        Foldings(1 << folding as u16)
    }

    /// Both sets together.
    #[must_use]
    pub const fn and(self, other: Foldings) -> Self {
        Foldings(self.0 | other.0)
    }

    /// This set with one more.
    #[must_use]
    pub const fn with(self, folding: Folding) -> Self {
        self.and(Foldings::of(folding))
    }

    /// Whether the set holds `folding`.
    pub const fn contains(self, folding: Folding) -> bool {
        self.0 & Foldings::of(folding).0 != 0
    }

    /// Whether there are none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The members in the order of [`Folding::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Folding> {
        Folding::ALL
            .iter()
            .copied()
            .filter(move |&folding| self.contains(folding))
    }
}

impl fmt::Debug for Foldings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set()
            .entries(self.iter().map(Folding::as_str))
            .finish()
    }
}

impl FromIterator<Folding> for Foldings {
    fn from_iter<I: IntoIterator<Item = Folding>>(items: I) -> Self {
        items.into_iter().fold(Foldings::NONE, Foldings::with)
    }
}

impl From<Vec<Folding>> for Foldings {
    fn from(list: Vec<Folding>) -> Self {
        list.into_iter().collect()
    }
}

impl From<Foldings> for Vec<Folding> {
    fn from(set: Foldings) -> Self {
        set.iter().collect()
    }
}

/// Something about a match that a reader should know; some of them forbid calling it verified.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Flag {
    /// Too few words to be evidence (`QUOTE-001`).
    TooShort,
    /// It begins or ends inside a word of the source (`QUOTE-002`).
    InsideWord {
        /// The whole word, number or compound that the match cuts.
        word: String,
    },
    /// It stands there more than once and nothing decides (`QUOTE-003`).
    Ambiguous {
        /// How often.
        count: usize,
    },
    /// What the quote leaves out holds a negation or exception (`QUOTE-004`).
    OmittedNegation {
        /// Those words, in order.
        words: Vec<String>,
    },
    /// Words of the same sentence outside the quote negate it or attribute it (`QUOTE-005`).
    Cue {
        /// The whole sentence, bytes of the passage.
        sentence: Range<usize>,
        /// The governing words.
        cue: String,
    },
    /// It is only the source's title (`QUOTE-006`).
    OnlyTitle,
    /// It is accepted only because such matches were asked for (`QUOTE-007`).
    Fuzzy {
        /// What differs, as (quote, source) pairs of words.
        edits: Vec<(String, String)>,
    },
    /// The quote holds words in brackets that the source does not have.
    Editorial {
        /// Those words, without brackets.
        inserted: Vec<String>,
    },
    /// It stands, in part at least, in what the source does not say (`QUOTE-008`).
    Veiled {
        /// Why it is not said.
        veil: Veil,
    },
    /// The quote stands there, but its `prefix` or `suffix` does not stand beside it.
    ContextDiffers,
}

/// The place that resembles a quote most, and why it is not the quote.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Nearest {
    /// Bytes of the passage.
    pub span: Range<usize>,
    /// What decides, as the end of a sentence: "differs in a protected number: 248 ≠ 247".
    pub decides: String,
    /// Whether it is clearly the same sentence, miswritten: no number, sign, negation or name
    /// differs, and few words do. Only then is the passage worth offering in the quote's place.
    pub close: bool,
}

/// How a quote stands in a passage.
///
/// Made only by the matcher, which keeps the promise that a verified verdict has spans.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "Raw", into = "Raw")]
pub struct Verdict(Raw);

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Raw {
    class: MatchClass,
    verified: bool,
    foldings: Foldings,
    spans: Vec<Range<usize>>,
    crosses: bool,
    flags: Vec<Flag>,
    nearest: Option<Nearest>,
}

impl TryFrom<Raw> for Verdict {
    type Error = &'static str;

    fn try_from(raw: Raw) -> Result<Self, Self::Error> {
        let found = !matches!(raw.class, MatchClass::Absent | MatchClass::OutsidePages);
        if raw.verified && (raw.spans.is_empty() || !found) {
            return Err("a verified verdict names the place where the quote stands");
        }
        Ok(Verdict(raw))
    }
}

impl From<Verdict> for Raw {
    fn from(verdict: Verdict) -> Self {
        verdict.0
    }
}

impl Verdict {
    /// The quote stands at `spans`; it is verified unless there are none or `refused` is set.
    pub(super) fn found(
        class: MatchClass,
        foldings: Foldings,
        spans: Vec<Range<usize>>,
        crosses: bool,
        flags: Vec<Flag>,
        refused: bool,
    ) -> Self {
        let verified = !refused
            && !spans.is_empty()
            && !matches!(class, MatchClass::Absent | MatchClass::OutsidePages);
        Verdict(Raw {
            class,
            verified,
            foldings,
            spans,
            crosses,
            flags,
            nearest: None,
        })
    }

    /// The quote does not stand in the passage.
    pub(super) fn absent(flags: Vec<Flag>, nearest: Option<Nearest>) -> Self {
        Verdict(Raw {
            class: MatchClass::Absent,
            verified: false,
            foldings: Foldings::NONE,
            spans: Vec::new(),
            crosses: false,
            flags,
            nearest,
        })
    }

    /// Which class of match it is. A match that a flag refused keeps its class and is not verified.
    pub fn class(&self) -> MatchClass {
        self.0.class
    }

    /// Whether the quote counts as verified under the profile that was asked for.
    pub fn verified(&self) -> bool {
        self.0.verified
    }

    /// The foldings that were needed.
    pub fn foldings(&self) -> Foldings {
        self.0.foldings
    }

    /// Where it stands: byte ranges of the passage's text, one per segment. Never empty when verified.
    pub fn spans(&self) -> &[Range<usize>] {
        &self.0.spans
    }

    /// The range from the first byte of the first span to the last byte of the last one.
    pub fn cover(&self) -> Option<Range<usize>> {
        Some(self.0.spans.first()?.start..self.0.spans.last()?.end)
    }

    /// Whether it runs on beyond the cited chunk.
    pub fn crosses(&self) -> bool {
        self.0.crosses
    }

    /// What else is to be known about it.
    pub fn flags(&self) -> &[Flag] {
        &self.0.flags
    }

    /// For a quote that is absent: what resembles it most.
    pub fn nearest(&self) -> Option<&Nearest> {
        self.0.nearest.as_ref()
    }

    /// Settles an ambiguous match at one of its places.
    pub(super) fn settle_at(&mut self, span: Range<usize>) {
        self.0
            .flags
            .retain(|flag| !matches!(flag, Flag::Ambiguous { .. }));
        self.0.spans = vec![span];
        self.0.verified = !matches!(self.0.class, MatchClass::Absent | MatchClass::OutsidePages);
    }

    /// The same, with a flag that may refuse it.
    pub(super) fn flagged(mut self, flag: Flag, refused: bool) -> Self {
        self.0.verified &= !refused;
        self.add_flag(flag);
        self
    }

    pub(super) fn add_flag(&mut self, flag: Flag) {
        if !self.0.flags.contains(&flag) {
            self.0.flags.push(flag);
        }
    }
}
