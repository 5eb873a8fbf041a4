//! The contract's normal form: its own where nothing is joined, and its map leads back into the text.
#![no_main]

use kbc_queries::text::normalize::{normalize, normalize_mapped};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let normal = normalize(text);
    // What is joined (a word over a line end, the letters of a ligature) may bring combining marks
    // together that composition, which came before, had kept apart: the contract's form is not always
    // its own, and hashes depend on it as it is.
    if !text.contains(|c| c == '-' || ('\u{FB00}'..='\u{FB06}').contains(&c)) {
        assert_eq!(normalize(&normal), normal, "a normal form is its own");
    }
    let (mapped, map) = normalize_mapped(text);
    assert_eq!(mapped, *normal);
    let mut end = 0;
    for (at, c) in mapped.char_indices() {
        let origin = map.to_source(at..at + c.len_utf8());
        assert!(text.get(origin.clone()).is_some(), "a place is whole characters");
        assert!(origin.end >= end, "places never go back");
        end = origin.end;
    }
});
