//! Checks of one citation that need no other file but belong to the contract's layer 1, not to
//! parsing: they run in their own place of the order, and say `citations[0]` instead of
//! `citations.0`.

use super::Citation;
use crate::diagnostic::registry::{CITE_001, CITE_002};
use crate::parse::problem::{Problem, shown};

/// The first of: a `chunk_id` of the wrong shape (CITE-001), an all-zero `chunk_hash` (CITE-002).
pub fn citation_shape_problem(citation: &Citation) -> Option<Problem> {
    let index = citation.index;
    if let Some(id) = &citation.chunk_id
        && !is_chunk_id(&id.value)
    {
        let shape = "<source_id>:p<page>:<ordinal>";
        return Some(
            Problem::new(
                CITE_001,
                id.span.clone(),
                format!(
                    "`{}` is not a chunk id of the form {shape}",
                    shown(&id.value)
                ),
            )
            .contract(format!(
                "citations[{index}]: chunk_id {:?} is malformed",
                &*id.value
            ))
            .label(format!("expected {shape}"))
            .help("copy the id from the chunks manifest, or let `kb cite` write the citation"),
        );
    }
    if let Some(hash) = &citation.chunk_hash
        && hash.value.bytes().all(|byte| byte == b'0')
    {
        return Some(
            Problem::new(
                CITE_002,
                hash.span.clone(),
                "this chunk hash is the template's placeholder",
            )
            .contract(format!(
                "citations[{index}]: chunk_hash is the all-zero placeholder"
            ))
            .label("placeholder")
            .help("copy the hash from the chunks manifest, or let `kb cite` write the citation"),
        );
    }
    None
}

/// `^[a-z0-9_]+:p\d+:\d+$`, digits being ASCII.
fn is_chunk_id(text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let mut parts = text.split(':');
    let (Some(source), Some(page), Some(ordinal), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return false;
    };
    !source.is_empty()
        && source
            .bytes()
            .all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'))
        && page.strip_prefix('p').is_some_and(digits)
        && digits(ordinal)
}
