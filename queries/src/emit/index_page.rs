//! `INDEX.md`: the deck for people (contract §6.4).

use std::fmt::Write;

use crate::parse::manifest::CardRecord;

/// The page over cards sorted by reading and id.
pub fn index_page(cards: &[CardRecord]) -> String {
    let mut page = String::from("# Card Index\n\nschema_version: cacg.v0\n");
    let mut reading: Option<&str> = None;
    for card in cards {
        if reading != Some(&card.reading_id) {
            reading = Some(&card.reading_id);
            // Writing to a string cannot fail.
            let _ = write!(
                page,
                "\n## {}\n\n| id | title | citations | card_hash |\n| --- | --- | --- | --- |\n",
                line(&card.reading_id)
            );
        }
        let short: String = card.card_hash.chars().take(12).collect();
        let _ = writeln!(
            page,
            "| {} | {} | {} | {short}… |",
            cell(&card.id),
            cell(&card.title),
            card.citation_count
        );
    }
    page
}

fn line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn cell(text: &str) -> String {
    line(text).replace('|', "\\|")
}
