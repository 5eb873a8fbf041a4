//! Whether a card may cite what it cites: retractions, and the source matrix. Needs no text.

use crate::Db;
use crate::check::citation::Fields;
use crate::check::finding::Finding;
use crate::derive;
use crate::diagnostic::registry;
use crate::input::{CardFile, matrix_usable};

/// What says that the source or the chunk was withdrawn.
pub(super) fn retraction(db: &dyn Db, fields: &Fields<'_>) -> Vec<Finding> {
    let name = db.names().source(db, fields.source_id);
    let mut findings = Vec::new();
    if name.retracted(db) {
        findings.push(
            Finding::new(
                registry::RETR_002,
                fields.at.source_id.clone(),
                format!("the cited source `{}` is retracted", fields.source_id),
            )
            .contract(format!(
                "citations[{}]: source {} is retracted",
                fields.index, fields.source_id
            ))
            .label("this source was withdrawn")
            .help("cite a source that still stands, or withdraw the card"),
        );
    }
    let chunks = name.retracted_chunks(db);
    if chunks
        .binary_search_by(|id| id.as_ref().cmp(fields.chunk_id))
        .is_ok()
    {
        findings.push(
            Finding::new(
                registry::RETR_003,
                fields.at.chunk_id.clone(),
                format!("the cited chunk `{}` is retracted", fields.chunk_id),
            )
            .contract(format!(
                "citations[{}]: chunk {} is retracted",
                fields.index, fields.chunk_id
            ))
            .label("this chunk was withdrawn")
            .help("cite a passage that still stands, or withdraw the card"),
        );
    }
    findings
}

/// What says that the card may not cite the source.
pub(super) fn authorisation(db: &dyn Db, file: CardFile, fields: &Fields<'_>) -> Option<Finding> {
    if !matrix_usable(db) {
        // Said once, of the matrix; the citation's own outcome fails closed in the session.
        return None;
    }
    let Some(reading) = derive::reading(db, file) else {
        return Some(
            Finding::new(
                registry::AUTH_001,
                fields.at.source_id.clone(),
                "the card has no reading, so nothing says which sources it may use",
            )
            .contract(format!(
                "citations[{}]: the card has no reading",
                fields.index
            ))
            .label("may this card cite it?")
            .help("give the card a `reading_id` that the source matrix names"),
        );
    };
    let row = db.names().reading(db, reading);
    match row.allowed(db) {
        None => Some(
            Finding::new(
                registry::AUTH_001,
                fields.at.source_id.clone(),
                format!("the reading `{reading}` is not in the source matrix"),
            )
            .contract(format!(
                "citations[{}]: reading {reading} is not in the source matrix",
                fields.index
            ))
            .label("nothing says which sources this reading may use")
            .help(format!(
                "add `{reading}` with `{}` to `allowed` in the source matrix",
                fields.source_id
            )),
        ),
        Some(allowed)
            if allowed.binary_search_by(|id| id.as_ref().cmp(fields.source_id)).is_err() =>
        {
            Some(
                Finding::new(
                    registry::AUTH_002,
                    fields.at.source_id.clone(),
                    format!("the reading `{reading}` may not cite the source `{}`", fields.source_id),
                )
                .contract(format!(
                    "citations[{}]: source {} is not allowed for reading {reading}",
                    fields.index, fields.source_id
                ))
                .label("the source matrix does not allow it")
                .help(format!(
                    "add `{}` to `allowed.{reading}` in the source matrix, or cite a source it lists",
                    fields.source_id
                )),
            )
        }
        Some(_) => None,
    }
}
