//! The matcher: it never panics, its places are in the text, what it found it finds again, and an
//! empty quote never stands. Input: quote, NUL, text.
#![no_main]

use kbc_queries::text::quote::{MatchClass, Options, Passage, Profile, Quote, check_quote};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &str| {
    let Some((quote, text)) = input.split_once('\0') else {
        return;
    };
    for profile in [Profile::Strict, Profile::Cacg] {
        for fuzzy in [false, true] {
            let options = Options { profile, fuzzy };
            let verdict = check_quote(&Passage::whole(text), &Quote::new(quote), options);
            for span in verdict.spans() {
                assert!(text.get(span.clone()).is_some());
            }
            assert!(!verdict.verified() || !verdict.spans().is_empty());
            assert!(!verdict.verified() || quote.chars().any(|c| !c.is_whitespace()));
            if verdict.verified() && verdict.class() == MatchClass::Exact {
                let found = &text[verdict.spans()[0].clone()];
                assert!(quote.contains(found), "exact is character for character");
            }
        }
    }
});
