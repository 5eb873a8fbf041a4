//! Records of evidence, as other tools keep them in YAML, to cards.
//!
//! A record of evidence is a mapping with `reference` (`PMID:16888623`, `DOI:10.1038/nature12373`,
//! `file:notes.md`, an address) and `supporting_text` (the quote, or a list of quotes), at any depth:
//! the convention of linkml-reference-validator
//! (<https://linkml.io/linkml-reference-validator/>). `...` in a quote marks an omission and
//! `[…]` an editorial insertion; the matcher knows both, so quotes are taken as they are. That tool
//! ignores case and punctuation and this one does not: a quote that it accepts may be refused here.
//!
//! What belongs to one named thing becomes one card. Where a quote stands is found elsewhere; nothing
//! here reads a file or a source.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::diagnostic::registry;
use crate::parse::card::{Card, CardCitation, Schema, canonical_text};
use crate::parse::problem::Problem;
use crate::parse::yaml::{self, Entry, Node, Value};
use crate::text::lines::LineIndex;

/// Shortest summary of a card, in characters.
const SHORTEST: usize = 80;
/// Longest summary of a card, in characters.
const LONGEST: usize = 400;
/// Longest title made of a text, in characters.
const LONGEST_TITLE: usize = 80;
/// Longest slug, in bytes.
const LONGEST_SLUG: usize = 80;

/// Fields that name a record, the best first.
const NAMES: &[&str] = &["title", "name", "label", "id"];

/// Fields that say what a record says, the best first.
const TEXTS: &[&str] = &[
    "summary",
    "statement",
    "claim",
    "description",
    "definition",
    "function",
    "text",
    "explanation",
    "comment",
    "comments",
    "notes",
];

/// One quote of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// What is cited, as it is written.
    pub reference: String,
    /// The quote, as it is written.
    pub quote: String,
    /// What the record says about it.
    pub explanation: Option<String>,
    /// The line on which the quote is written, from 1.
    pub line: u32,
}

/// What becomes one card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Its name, if it has one.
    pub name: Option<String>,
    /// What it says, if it says anything.
    pub text: Option<String>,
    /// The line on which it begins, from 1.
    pub line: u32,
    /// Its quotes, in file order. At least one.
    pub evidence: Vec<Evidence>,
}

/// What was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Records {
    /// The records, in file order.
    pub list: Vec<Record>,
    /// Mappings that look like evidence and are not: the line, and what is missing.
    pub incomplete: Vec<(u32, String)>,
}

/// Reads records from YAML.
///
/// # Errors
/// What is wrong with the YAML, all of it.
pub fn records(text: &str) -> Result<Records, Vec<Problem>> {
    let tree = yaml::parse(text, 0..text.len());
    let mut problems = tree.problems;
    problems.extend(tree.duplicates);
    if !problems.is_empty() {
        problems.sort_by_key(|problem| problem.span.start);
        return Err(problems);
    }
    let Some(root) = tree.root else {
        let message = "there is nothing in the file";
        return Err(vec![Problem::new(registry::FM_006, 0..0, message)]);
    };
    let mut reader = Reader {
        text,
        lines: LineIndex::new(text),
        found: Records::default(),
        by_owner: BTreeMap::new(),
    };
    reader.node(&root, None);
    Ok(reader.found)
}

struct Reader<'t> {
    text: &'t str,
    lines: LineIndex,
    found: Records,
    /// Place in the list by where the owner begins.
    by_owner: BTreeMap<usize, usize>,
}

/// A mapping that has a name, to which the evidence below it belongs.
#[derive(Clone, Copy)]
struct Owner<'n, 't> {
    entries: &'n [Entry<'t>],
    at: usize,
}

impl Reader<'_> {
    fn line(&self, at: usize) -> u32 {
        self.lines.span(self.text, at..at).line
    }

    fn node<'n, 't>(&mut self, node: &'n Node<'t>, owner: Option<Owner<'n, 't>>) {
        match &node.value {
            Value::Sequence(items) => {
                for item in items {
                    self.node(item, owner);
                }
            }
            Value::Mapping { entries, .. } => {
                let own = Owner {
                    entries,
                    at: node.span.start,
                };
                let named = NAMES.iter().any(|name| scalar(entries, name).is_some());
                let owner = if named { Some(own) } else { owner };
                let quotes = entry(entries, "supporting_text");
                let reference = find(entries, "reference");
                if let (Some(quotes), Some(reference)) = (quotes, reference) {
                    self.evidence(entries, quotes, reference, owner.unwrap_or(own));
                } else if let Some(quotes) = quotes.filter(|quotes| !quotes.value.is_null()) {
                    let line = self.line(quotes.key.span.start);
                    let missing = "a `supporting_text` without a `reference`".to_owned();
                    self.found.incomplete.push((line, missing));
                }
                for entry in entries {
                    self.node(&entry.value, owner);
                }
            }
            Value::Scalar(_) | Value::Opaque => {}
        }
    }

    fn evidence(
        &mut self,
        entries: &[Entry<'_>],
        quotes: &Entry<'_>,
        reference: &Node<'_>,
        owner: Owner<'_, '_>,
    ) {
        let line = self.line(reference.span.start);
        let Some(reference) = text_of(reference) else {
            let missing = format!("the `reference` is {}, not a text", reference.kind_name());
            self.found.incomplete.push((line, missing));
            return;
        };
        // A block scalar begins on the line after the one that a person looks for.
        let quotes: Vec<(usize, &Node<'_>)> = match &quotes.value.value {
            Value::Sequence(items) => items.iter().map(|item| (item.span.start, item)).collect(),
            _ => vec![(quotes.key.span.start, &quotes.value)],
        };
        for (at, quote) in quotes {
            let line = self.line(at);
            let Some(words) = text_of(quote) else {
                let missing = format!("the `supporting_text` is {}, not a text", quote.kind_name());
                self.found.incomplete.push((line, missing));
                continue;
            };
            let own = owner.at;
            let evidence = Evidence {
                reference: reference.clone(),
                quote: words,
                explanation: scalar(entries, "explanation"),
                line,
            };
            let place = match self.by_owner.get(&own) {
                Some(place) => *place,
                None => {
                    let place = self.found.list.len();
                    self.by_owner.insert(own, place);
                    self.found.list.push(Record {
                        name: NAMES.iter().find_map(|name| scalar(owner.entries, name)),
                        text: TEXTS.iter().find_map(|name| scalar(owner.entries, name)),
                        line: self.line(own),
                        evidence: Vec::new(),
                    });
                    place
                }
            };
            if let Some(record) = self.found.list.get_mut(place) {
                record.evidence.push(evidence);
            }
        }
    }
}

fn entry<'n, 't>(entries: &'n [Entry<'t>], name: &str) -> Option<&'n Entry<'t>> {
    entries
        .iter()
        .find(|entry| entry.key.as_str() == Some(name))
}

fn find<'n, 't>(entries: &'n [Entry<'t>], name: &str) -> Option<&'n Node<'t>> {
    entry(entries, name).map(|entry| &entry.value)
}

fn scalar(entries: &[Entry<'_>], name: &str) -> Option<String> {
    text_of(find(entries, name)?)
}

/// The text of a scalar that is not null, without what frames it; numbers as they are written.
fn text_of(node: &Node<'_>) -> Option<String> {
    match &node.value {
        Value::Scalar(scalar) if !node.is_null() => {
            let text = scalar.text.trim();
            (!text.is_empty()).then(|| text.to_owned())
        }
        _ => None,
    }
}

/// A reference in the form in which two of them are compared: prefix and DOI in lower case, the
/// addresses of well-known resolvers as what they resolve.
pub fn normalize_reference(reference: &str) -> String {
    const RESOLVERS: &[(&str, &str)] = &[
        ("doi.org/", "doi:"),
        ("dx.doi.org/", "doi:"),
        ("pubmed.ncbi.nlm.nih.gov/", "pmid:"),
        ("www.ncbi.nlm.nih.gov/pubmed/", "pmid:"),
    ];
    let trimmed = reference.trim();
    let bare = trimmed
        .strip_prefix("https://")
        .or_else(|| trimmed.strip_prefix("http://"));
    if let Some(bare) = bare {
        for (host, prefix) in RESOLVERS {
            if let Some(rest) = bare.strip_prefix(host) {
                return format!("{prefix}{}", rest.trim_end_matches('/').to_lowercase());
            }
        }
        return trimmed.to_owned();
    }
    match trimmed.split_once(':') {
        Some((prefix, rest)) => {
            let prefix = prefix.trim().to_lowercase();
            let rest = rest.trim();
            match prefix.as_str() {
                "doi" => format!("doi:{}", rest.to_lowercase()),
                // The contents of a file name keep their case.
                _ => format!("{prefix}:{rest}"),
            }
        }
        None => trimmed.to_owned(),
    }
}

/// What a text becomes in an id: letters and digits of ASCII in lower case, `joint` for all between.
pub fn slug(text: &str, joint: char) -> String {
    let mut out = String::new();
    for c in text.nfkd().filter(|c| !is_combining_mark(*c)) {
        if c.is_ascii_alphanumeric() {
            out.push(c.to_ascii_lowercase());
        } else if !out.is_empty() && !out.ends_with(joint) {
            out.push(joint);
        }
        if out.len() >= LONGEST_SLUG {
            break;
        }
    }
    out.trim_end_matches(joint).to_owned()
}

/// Gives out slugs that differ.
#[derive(Clone, Debug, Default)]
pub struct Slugs(BTreeMap<String, u32>);

impl Slugs {
    /// The slug of a record; a number behind it where it was given out before.
    pub fn of(&mut self, record: &Record) -> String {
        let mut base = slug(&title(record), '-');
        if base.is_empty() {
            base = format!("record-{}", record.line);
        }
        loop {
            let count = self.0.entry(base.clone()).or_default();
            *count += 1;
            if *count == 1 {
                return base;
            }
            let next = format!("{base}-{count}");
            if !self.0.contains_key(&next) {
                self.0.insert(next.clone(), 1);
                return next;
            }
        }
    }
}

/// The title of a record: its name, or the beginning of what it says or quotes.
pub fn title(record: &Record) -> String {
    let quote = record.evidence.first().map(|evidence| &evidence.quote);
    let text = record
        .name
        .as_ref()
        .or(record.text.as_ref())
        .or(quote)
        .map(|text| one_line(text))
        .unwrap_or_default();
    shorten(&text, LONGEST_TITLE)
}

/// The card of a record: its text. `file` is the name of the file that holds the record.
pub fn card(
    record: &Record,
    id: &str,
    reading: &str,
    file: &str,
    citations: Vec<CardCitation>,
) -> String {
    let card = Card {
        schema: Schema::Cacg,
        id: id.into(),
        title: title(record).into(),
        reading_id: reading.into(),
        summary: summary(record, file).into(),
        tags: vec!["imported".into()],
        edges: Vec::new(),
        citations,
        card_hash: None,
    };
    canonical_text(&card, &body(record, file))
}

/// From 80 to 400 characters: what the record says, and, where that is little, what it quotes and
/// where it comes from.
fn summary(record: &Record, file: &str) -> String {
    let mut summary = one_line(record.text.as_deref().unwrap_or_default());
    let mut add = |text: &str| {
        if summary.chars().count() < SHORTEST {
            if !summary.is_empty() {
                let closed = summary.ends_with(['.', '!', '?', ':']);
                summary.push_str(if closed { " " } else { ". " });
            }
            summary.push_str(text);
        }
    };
    for evidence in &record.evidence {
        add(&format!(
            "{} says: {}",
            one_line(&evidence.reference),
            shorten(&one_line(&evidence.quote), 240)
        ));
    }
    add(&format!(
        "A record of evidence about {}, imported from line {} of {file}.",
        title(record),
        record.line
    ));
    add("It says no more about itself than its quotes do.");
    shorten(&summary, LONGEST)
}

fn body(record: &Record, file: &str) -> String {
    let mut body = String::new();
    if let Some(text) = &record.text {
        // A line of dashes would end the frontmatter of a card that is pasted into another.
        body.push_str(text);
        body.push_str("\n\n");
    }
    for evidence in &record.evidence {
        if let Some(explanation) = &evidence.explanation
            && record.text.as_ref() != Some(explanation)
        {
            let reference = one_line(&evidence.reference);
            // Writing to a string cannot fail.
            let _ = writeln!(body, "- {reference}: {}", one_line(explanation));
        }
    }
    if !body.is_empty() && !body.ends_with("\n\n") {
        body.push('\n');
    }
    let _ = writeln!(body, "Imported from {file}, line {}.", record.line);
    body
}

fn one_line(text: &str) -> String {
    text.split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty())
        .collect::<Vec<&str>>()
        .join(" ")
}

/// At most this many characters, cut after a whole word where that is possible.
fn shorten(text: &str, most: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(most) else {
        return text.to_owned();
    };
    let start: String = text
        .get(..end)
        .unwrap_or_default()
        .chars()
        .take(most.saturating_sub(1))
        .collect();
    let whole = start.rfind(' ').filter(|at| *at > start.len() / 2);
    let kept = whole.and_then(|at| start.get(..at)).unwrap_or(&start);
    format!("{}…", kept.trim_end_matches([',', ';', ':', ' ']))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;
    use crate::parse::card as parser;
    use crate::parse::card::{CitationEdge, PageRange};
    use proptest::prelude::*;

    fn shown(text: &str) -> String {
        let found = records(text).unwrap();
        let mut out = String::new();
        for record in &found.list {
            let name = record.name.as_deref().unwrap_or("-");
            out.push_str(&format!("{} {name}:", record.line));
            for evidence in &record.evidence {
                out.push_str(&format!(
                    " [{} {} {}]",
                    evidence.line, evidence.reference, evidence.quote
                ));
            }
            out.push('\n');
        }
        for (line, missing) in &found.incomplete {
            out.push_str(&format!("{line} incomplete: {missing}\n"));
        }
        out
    }

    fn citation(quote: &str) -> CardCitation {
        CardCitation {
            source_id: "s".into(),
            chunk_id: "s:p001:0000".into(),
            chunk_hash: "a".repeat(64).into(),
            page_range: PageRange { start: 1, end: 1 },
            quote: quote.into(),
            prefix: None,
            suffix: None,
            edge_type: CitationEdge::default(),
        }
    }

    #[test]
    fn records_at_any_depth() {
        let table = [
            (
                "- id: stmt1\n  supporting_text: some words\n  reference: PMID:1\n- id: stmt2\n  supporting_text: |\n    more\n    words\n  reference: DOI:10.1/x\n",
                "1 stmt1: [2 PMID:1 some words]\n4 stmt2: [5 DOI:10.1/x more\nwords]\n",
            ),
            (
                "name: A disease\npathophysiology:\n  - name: A cause\n    evidence:\n      - reference: PMID:1\n        supporting_text: one\n      - reference: PMID:2\n        supporting_text: [two, three]\n  - evidence:\n      - {reference: PMID:3, supporting_text: four}\n",
                "3 A cause: [6 PMID:1 one] [8 PMID:2 two] [8 PMID:2 three]\n1 A disease: [10 PMID:3 four]\n",
            ),
            (
                "reference: PMID:1\nsupporting_text: one\n",
                "1 -: [2 PMID:1 one]\n",
            ),
            (
                "reference: 12\nsupporting_text: 1.50\n",
                "1 -: [2 12 1.50]\n",
            ),
            (
                "- supporting_text: one\n- reference: PMID:1\n- reference: [a]\n  supporting_text: x\n- reference: PMID:1\n  supporting_text:\n- reference: PMID:1\n  supporting_text: {a: b}\n- supporting_text: null\n",
                "1 incomplete: a `supporting_text` without a `reference`\n3 incomplete: the `reference` is a list, not a text\n6 incomplete: the `supporting_text` is null, not a text\n8 incomplete: the `supporting_text` is a mapping, not a text\n",
            ),
            ("nothing: here\n", ""),
        ];
        for (text, expected) in table {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn yaml_that_is_none_is_refused() {
        for text in ["", "a: [", "a: 1\na: 2\n", "a: &x 1\nb: *x\n"] {
            assert!(records(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn references_compare_in_one_form() {
        for (reference, expected) in [
            ("PMID:123", "pmid:123"),
            (" pmid: 123 ", "pmid:123"),
            ("https://pubmed.ncbi.nlm.nih.gov/123/", "pmid:123"),
            ("DOI:10.1038/NATURE12373", "doi:10.1038/nature12373"),
            (
                "https://doi.org/10.1038/Nature12373",
                "doi:10.1038/nature12373",
            ),
            ("file:./Notes.md", "file:./Notes.md"),
            ("https://example.org/A", "https://example.org/A"),
            ("handbook", "handbook"),
        ] {
            assert_eq!(normalize_reference(reference), expected);
            assert_eq!(normalize_reference(expected), expected);
        }
        assert_eq!(
            slug("doi:10.1038/nature12373", '_'),
            "doi_10_1038_nature12373"
        );
        assert_eq!(slug("Étude: naïve!", '-'), "etude-naive");
        assert_eq!(slug("雪", '-'), "");
    }

    #[test]
    fn slugs_differ() {
        let record = |name: &str| Record {
            name: Some(name.to_owned()),
            text: None,
            line: 3,
            evidence: Vec::new(),
        };
        let mut slugs = Slugs::default();
        let given: Vec<String> = ["a", "a-2", "A", "a", "雪", "雪"]
            .iter()
            .map(|name| slugs.of(&record(name)))
            .collect();
        assert_eq!(given, ["a", "a-2", "a-3", "a-4", "record-3", "record-3-2"]);
    }

    #[test]
    fn the_card_of_a_record() {
        let text = "- name: \"Tree hashing\"\n  description: Leaves and nodes are told apart.\n  evidence:\n    - reference: PMID:1\n      supporting_text: each leaf ... a zero byte\n      explanation: It says how.\n";
        let record = records(text).unwrap().list.remove(0);
        let card = card(
            &record,
            "tree-hashing",
            "r",
            "evidence.yaml",
            vec![citation("each leaf ... a zero byte")],
        );
        let expected = "---\nschema_version: \"cacg.v0\"\nid: \"tree-hashing\"\ntitle: \"Tree hashing\"\nreading_id: \"r\"\nsummary: \"Leaves and nodes are told apart. PMID:1 says: each leaf ... a zero byte. A record of evidence about Tree hashing, imported from line 1 of evidence.yaml.\"\ntags: [\"imported\"]\n";
        assert!(card.starts_with(expected), "{card}");
        assert!(card.ends_with("---\nLeaves and nodes are told apart.\n\n- PMID:1: It says how.\n\nImported from evidence.yaml, line 1.\n"), "{card}");
        assert_eq!(parser::parse(&card).problems, []);
    }

    proptest! {
        #[test]
        fn every_card_is_sound(name in prop::option::of("\\PC{0,120}"), text in prop::option::of(".{0,600}"), quote in "\\PC{1,300}") {
            let record = Record {
                name,
                text,
                line: 1,
                evidence: vec![Evidence { reference: "PMID:1".to_owned(), quote: quote.clone(), explanation: Some(quote.clone()), line: 1 }],
            };
            prop_assume!(!one_line(&title(&record)).is_empty() && !quote.trim().is_empty());
            let id = Slugs::default().of(&record);
            let card = card(&record, &id, "r", "e.yaml", vec![citation(&quote)]);
            let parsed = parser::parse(&card);
            prop_assert_eq!(&parsed.problems, &Vec::new(), "{}", card);
            let length = summary(&record, "e.yaml").chars().count();
            prop_assert!((SHORTEST..=LONGEST).contains(&length), "{}", length);
        }

        #[test]
        fn any_yaml_is_read_or_refused(text in "[a-z:\\-\\[\\]{} \n\"'|>&*]{0,120}|.{0,80}") {
            let _ = records(&text);
        }
    }
}
