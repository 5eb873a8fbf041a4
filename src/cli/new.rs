//! `kb new`: a card to fill in (contract §4, §1.4).

use std::path::PathBuf;

use clap::Args;

use kbc_queries::diagnostic::registry::{CLI_001, CLI_003, CLI_005};
use kbc_queries::parse::card::{
    Card, CardCitation, CitationEdge, PageRange, Schema, canonical_text,
};
use kbc_queries::parse::skill::is_slug;

use crate::ingest::Refusal;
use crate::ingest::single::{self, NotWritten};

use super::ingest::{Named, named, refuse};
use super::{CommandResult, Failure, Outcome, World};

/// Write the scaffold of a card, `<cards>/<reading_id>/<slug>.md`, to be filled in
///
/// It does not pass a check as it is: its summary is empty and its citation is a placeholder.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  kb new reading_01 tree-hashing\n  kb new reading_01 tree-hashing --title \"Hashing trees\""
)]
pub struct Arguments {
    /// The reading; its folder is made if it is not there
    reading_id: String,
    /// The card's id and file name: lower-case letters, digits, `-` and `_`
    slug: String,
    /// The folder of the cards [default: cards]
    #[arg(long, value_name = "DIR")]
    cards_dir: Option<PathBuf>,
    /// Overwrite a card that is there
    #[arg(long)]
    force: bool,
    /// The card's title [default: made of the slug]
    #[arg(long, value_name = "TITLE")]
    title: Option<String>,
}

/// What stands in the place of a source id.
const SOURCE: &str = "REPLACE_WITH_SOURCE_ID";
/// What stands in the place of a quote.
const QUOTE: &str = "Put the exact words of the cited chunk here.";
/// What stands below the frontmatter.
const BODY: &str = "\nReplace with what the cited passages say, in your own words.\n";

/// Runs the command.
pub fn run(world: &World, arguments: &Arguments) -> CommandResult {
    match write(world, arguments)? {
        Ok(card) => {
            super::write_out(&format!(
                "card: {card}\nreading_id: {}\nslug: {}\nstatus: scaffold (lint will fail until citations are filled in)",
                arguments.reading_id, arguments.slug
            ))?;
            Ok(Outcome::Fine)
        }
        Err(refusal) => refuse(&refusal),
    }
}

fn write(world: &World, arguments: &Arguments) -> Result<Result<String, Refusal>, Failure> {
    let project = world.project()?;
    let given = arguments.cards_dir.as_deref();
    Ok(write_into(
        named(world, &project, given, "cards"),
        arguments,
    ))
}

fn write_into((cards, shown): Named, arguments: &Arguments) -> Result<String, Refusal> {
    for (name, value) in [
        ("reading_id", &arguments.reading_id),
        ("slug", &arguments.slug),
    ] {
        if !is_slug(value) {
            return Err(Refusal::new(
                CLI_003,
                format!(
                    "the {name} `{value}` does not match ^[a-z0-9][a-z0-9_-]*$; use lower-case letters, digits, `-` and `_`"
                ),
            ));
        }
    }
    if cards.exists() && !cards.is_dir() {
        return Err(Refusal::new(
            CLI_001,
            format!(
                "{} is not a folder; give the folder of the cards with --cards-dir",
                shown.display()
            ),
        ));
    }
    let below = PathBuf::from(&arguments.reading_id).join(format!("{}.md", arguments.slug));
    let shown = shown.join(&below).display().to_string();
    let title = match &arguments.title {
        Some(title) => title.clone(),
        None => title_of(&arguments.slug),
    };
    let text = scaffold(&arguments.slug, &title, &arguments.reading_id);
    match single::write(&cards.join(&below), text.as_bytes(), arguments.force) {
        Ok(()) => Ok(shown),
        Err(NotWritten::Exists) => Err(Refusal::new(
            CLI_005,
            format!("{shown} is there already; choose another slug, or overwrite it with --force"),
        )),
        Err(NotWritten::Failed(error)) => Err(Refusal::new(
            CLI_001,
            format!("{shown} cannot be written: {error}"),
        )),
    }
}

/// The text of a card that is still to be written. Its hash of zeros is what every check refuses.
fn scaffold(id: &str, title: &str, reading: &str) -> String {
    let card = Card {
        schema: Schema::Cacg,
        id: id.into(),
        title: title.into(),
        reading_id: reading.into(),
        summary: Box::default(),
        tags: Vec::new(),
        edges: Vec::new(),
        citations: vec![CardCitation {
            source_id: SOURCE.into(),
            chunk_id: format!("{SOURCE}:p001:0000").into(),
            chunk_hash: "0".repeat(64).into(),
            page_range: PageRange { start: 1, end: 1 },
            quote: QUOTE.into(),
            prefix: None,
            suffix: None,
            edge_type: CitationEdge::default(),
        }],
        card_hash: None,
    };
    canonical_text(&card, BODY)
}

/// A slug as a title: `-` and `_` are spaces, and each letter behind anything but a letter is a
/// capital, as Python's `str.title` has it.
fn title_of(slug: &str) -> String {
    let mut title = String::with_capacity(slug.len());
    let mut behind_letter = false;
    for character in slug.chars() {
        title.push(match character {
            '-' | '_' => ' ',
            letter if !behind_letter => letter.to_ascii_uppercase(),
            letter => letter,
        });
        behind_letter = character.is_ascii_alphabetic();
    }
    title
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;
    use kbc_queries::diagnostic::registry::SUM_001;
    use kbc_queries::parse::card;

    #[test]
    fn a_title_is_made_of_a_slug() {
        for (slug, title) in [
            ("tree-hashing", "Tree Hashing"),
            ("my_card-2b", "My Card 2B"),
            ("a1b2", "A1B2"),
            ("3d", "3D"),
        ] {
            assert_eq!(title_of(slug), title);
        }
    }

    #[test]
    fn the_first_thing_wrong_with_a_scaffold_is_its_summary() {
        let text = scaffold("a", "A \"title\"", "r");
        let parsed = card::parse(&text);
        let codes: Vec<_> = parsed.problems.iter().map(|p| p.code).collect();
        assert_eq!(codes, [SUM_001]);
        assert_eq!(&*parsed.title.unwrap().value, "A \"title\"");
    }
}
