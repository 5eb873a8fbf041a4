//! Round summaries: what an agent says it consulted, and whether it had to say anything.
//!
//! A round summary is a Markdown report of one piece of work. It is *relevant* when it speaks of
//! cards; a relevant one has a section `## Knowledge Consulted` that lists the cards it rests on,
//! and an irrelevant one may say so with the sentinel line. This module reads the report and
//! decides; it opens no file, and it verifies no card.
//!
//! Format: the card-graph contract, section 7 (schema `cacg.v0`). Where the contract's own program
//! and its published text differ, the published text is followed; and what a reader of the
//! rendered report never sees as a list item (a line inside a code fence or a comment) cites
//! nothing.

mod lines;
mod mask;
mod path;
#[cfg(test)]
mod tests;

use std::ops::Range;

use pulldown_cmark::{Options, Parser};

use self::lines::{Line, lines};
use self::mask::Mask;

/// The line that says that a round did not concern the knowledge base.
pub const SENTINEL: &str = "N/A -- task not KB-relevant this round";

const HEADING: &str = "Knowledge Consulted";

/// A round summary, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoundSummary {
    /// Whether the report speaks of cards.
    pub relevant: bool,
    /// The section about what was consulted; `None`: there is none.
    pub section: Option<Section>,
}

/// The section about what was consulted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Section {
    /// The sentinel's place in the report (bytes), if it is there.
    pub sentinel: Option<Range<usize>>,
    /// The cards that are cited, in order, with repetitions.
    pub cited: Vec<Cited>,
}

/// A card as a report names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cited {
    /// The path as it is written.
    pub path: String,
    /// Other readings of the same words as a path, best first: without a link's fragment and
    /// escapes, with `/` for `\`.
    pub readings: Vec<String>,
    /// The list item's place in the report (bytes).
    pub range: Range<usize>,
}

/// What a report's form alone decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// No section, and nothing in the report asks for one.
    NotRelevant,
    /// No section, though the report speaks of cards (RS-001).
    SectionMissing,
    /// The sentinel, and nothing against it.
    Acknowledged,
    /// The sentinel, though the report speaks of cards (RS-003).
    SentinelOnRelevant,
    /// An empty section, though the report speaks of cards (RS-004).
    EmptyOnRelevant,
    /// An empty section in a report that speaks of no cards.
    Nothing,
    /// Cards are cited; they decide.
    Cards,
    /// Cards are cited beside the sentinel (RS-002): the cards are verified, the report fails.
    CardsAndSentinel,
}

impl RoundSummary {
    /// What the form decides.
    pub fn judgement(&self) -> Judgement {
        let Some(section) = &self.section else {
            return match self.relevant {
                true => Judgement::SectionMissing,
                false => Judgement::NotRelevant,
            };
        };
        match (
            section.cited.is_empty(),
            section.sentinel.is_some(),
            self.relevant,
        ) {
            (false, false, _) => Judgement::Cards,
            (false, true, _) => Judgement::CardsAndSentinel,
            (true, true, false) => Judgement::Acknowledged,
            (true, true, true) => Judgement::SentinelOnRelevant,
            (true, false, true) => Judgement::EmptyOnRelevant,
            (true, false, false) => Judgement::Nothing,
        }
    }
}

/// Reads a round summary. Linear in its length.
pub fn parse(text: &str) -> RoundSummary {
    // A byte order mark is no part of the first line.
    let start = text.len() - text.trim_start_matches('\u{FEFF}').len();
    let events: Vec<_> = Parser::new_ext(&text[start..], Options::empty())
        .into_offset_iter()
        .map(|(event, range)| (event, range.start + start..range.end + start))
        .collect();
    let mask = Mask::new(text, &events);
    let all: Vec<Line<'_>> = lines(text, start).collect();
    RoundSummary {
        relevant: path::speaks_of_cards(text),
        section: section(&all, &mask),
    }
}

fn section(all: &[Line<'_>], mask: &Mask) -> Option<Section> {
    let seen = |line: &Line<'_>| !mask.hides_line(line.range.start);
    let first = (0..all.len()).find_map(|index| {
        let line = all.get(index)?;
        seen(line).then(|| heading_end(all, index)).flatten()
    })?;
    let mut section = Section::default();
    for line in all.get(first..).unwrap_or_default() {
        if !seen(line) {
            continue;
        }
        if ends_section(line.text) {
            break;
        }
        if line.text.trim() == SENTINEL {
            section.sentinel.get_or_insert(line.range.clone());
        } else {
            section.cited.extend(path::bullet(line, mask));
        }
    }
    Some(section)
}

/// The index after the heading that starts in this line. The white space inside the heading may
/// hold line ends, as in the contract's pattern.
fn heading_end(all: &[Line<'_>], index: usize) -> Option<usize> {
    let after = all.get(index)?.text.strip_prefix("##")?;
    if !after.is_empty() && !after.starts_with(char::is_whitespace) {
        return None;
    }
    if !after.trim().is_empty() {
        return (after.trim() == HEADING).then_some(index + 1);
    }
    let next = (index + 1..all.len()).find(|next| {
        all.get(*next)
            .is_some_and(|line| !line.text.trim().is_empty())
    })?;
    let line = all.get(next)?;
    (line.text.trim() == HEADING).then_some(next + 1)
}

fn ends_section(line: &str) -> bool {
    line.strip_prefix("##")
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace))
}
