//! The exact words of the source in the place of a quote that nearly has them.
//!
//! Never applied unasked: what a card says with other words may have been meant.

use crate::Db;
use crate::check::citation::Fields;
use crate::check::finding::{RelativeEdit, RelativeFix};
use crate::check::passage::SourceText;
use crate::check::quote::{counts, look};
use crate::derive::CitedChunk;
use crate::diagnostic::Applicability;
use crate::input::SourceFile;
use crate::text::quote::{Quote, Verdict};

/// The fix that writes the nearest passage in the quote's place and, where the chunk changed, its
/// new hash. `None` unless the passage is clearly the same sentence and verifies as a quote.
pub(crate) fn fix(
    db: &dyn Db,
    file: SourceFile,
    fields: &Fields<'_>,
    text: &SourceText,
    chunk: &CitedChunk,
    verdict: &Verdict,
    new_hash: Option<&str>,
) -> Option<RelativeFix> {
    let nearest = verdict.nearest().filter(|nearest| nearest.close)?;
    let window = text.window(chunk.index, fields.pages)?;
    // A quote of one line: line breaks of the source are its layout.
    let words: Vec<&str> = window
        .text
        .get(nearest.span.clone())?
        .split_whitespace()
        .collect();
    let words = words.join(" ");
    let quote = Quote {
        text: &words,
        ..fields.quote
    };
    if !counts(&look(db, file, &quote, fields.pages, text, chunk.index)?) {
        return None;
    }
    let mut edits = vec![RelativeEdit {
        range: fields.at.quote.clone(),
        text: fields.style.write(&words)?,
    }];
    edits.extend(new_hash.map(|hash| RelativeEdit {
        range: fields.at.chunk_hash.clone(),
        text: format!("\"{hash}\""),
    }));
    Some(RelativeFix {
        title: "write the quote as the source has it".to_owned(),
        applicability: Applicability::Review,
        edits,
    })
}
