//! The classes of reviewed memory: no panic, places in the text. Input: quote, NUL, text.
#![no_main]

use kbc_queries::text::khms::{Class, check};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &str| {
    let Some((quote, text)) = input.split_once('\0') else {
        return;
    };
    let answer = check(text, quote);
    assert_eq!(answer.class == Class::Absent, answer.spans.is_empty());
    for span in &answer.spans {
        assert!(text.get(span.clone()).is_some());
    }
});
