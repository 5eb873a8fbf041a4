//! What holds for every row of the registry.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

#[test]
fn the_table_is_sorted_and_without_duplicates() {
    for pair in all().windows(2) {
        assert!(
            pair[0].code < pair[1].code,
            "{} and {}",
            pair[0].code,
            pair[1].code
        );
    }
}

#[test]
fn each_file_is_sorted_so_that_a_code_is_found_by_eye() {
    for rows in FILES {
        for pair in rows.windows(2) {
            assert!(
                pair[0].code < pair[1].code,
                "{} before {}",
                pair[0].code,
                pair[1].code
            );
        }
    }
}

#[test]
fn each_family_lives_in_one_file() {
    let mut seen = BTreeSet::new();
    for rows in FILES {
        let families: BTreeSet<_> = rows.iter().map(Entry::family).collect();
        for family in families {
            assert!(seen.insert(family), "{family} is in two files");
        }
    }
}

#[test]
fn each_code_has_the_shape_of_a_code() {
    for entry in all() {
        assert!(is_code_shape(entry.code.as_str()), "{}", entry.code);
    }
}

#[test]
fn code_shapes() {
    for good in ["CACG-FM-001", "CACG-IDX-CACHE-001", "CACG-A-B-C-999"] {
        assert!(is_code_shape(good), "{good}");
    }
    for bad in [
        "",
        "CACG-",
        "FM-001",
        "CACG-FM-01",
        "CACG-FM-0001",
        "CACG-FM-00a",
        "CACG-FM001",
        "cacg-FM-001",
        "CACG-fm-001",
        "CACG--001",
        "CACG-FM--001",
        "CACG-FM-001 ",
        " CACG-FM-001",
        "CACG-F1-001",
        "CACG-001",
        "CACG-FM-٠٠١",
    ] {
        assert!(!is_code_shape(bad), "{bad}");
    }
}

#[test]
fn codes_are_found_in_full_and_short_in_any_case() {
    for entry in all() {
        for text in [
            entry.code.as_str().to_owned(),
            entry.code.as_str().to_ascii_lowercase(),
            entry.short().to_owned(),
            entry.short().to_ascii_lowercase(),
            format!(" {} ", entry.short()),
        ] {
            assert_eq!(
                find(&text).map(|found| found.code),
                Some(entry.code),
                "{text}"
            );
        }
        assert_eq!(super::entry(entry.code), entry);
    }
    for text in [
        "",
        "CACG",
        "CACG-",
        "HASH",
        "HASH-1",
        "HASH-999",
        "CACG-CACG-HASH-001",
        "é",
        "CACGé",
    ] {
        assert_eq!(find(text), None, "{text}");
    }
}

#[test]
fn the_registry_has_every_code_of_the_contract_and_ours() {
    let families: &[(&str, u32, u32)] = &[
        ("FM", 1, 8),
        ("CITE", 1, 8),
        ("HASH", 1, 3),
        ("IDX", 4, 8),
        ("IDX-CACHE", 1, 1),
        ("CLI", 1, 5),
        ("INGEST", 1, 3),
        ("MAN", 1, 3),
        ("JNL", 1, 1),
        ("VERIFY", 1, 5),
        ("HIST", 1, 1),
        ("RS", 1, 5),
        ("PERF", 1, 1),
        ("AUTH", 0, 2),
        ("RETR", 1, 3),
        ("SUM", 1, 8),
        ("RET", 3, 3),
        ("CARDS-DEP", 1, 2),
        ("LCK", 1, 1),
        ("FTS", 1, 3),
        ("SKILL", 1, 3),
        ("DEP", 1, 4),
        ("ROLE", 1, 3),
        ("SHOW", 1, 3),
        ("QUOTE", 1, 8),
        ("SRC", 1, 13),
        ("CFG", 1, 8),
        ("CARDS", 1, 1),
        ("FRESH", 1, 3),
        ("CACHE", 1, 1),
        ("BUILD", 1, 3),
        ("PROOF", 1, 1),
    ];
    let wanted: BTreeSet<String> = families
        .iter()
        .flat_map(|(family, first, last)| {
            (*first..=*last).map(move |number| format!("CACG-{family}-{number:03}"))
        })
        .collect();
    let have: BTreeSet<String> = all().iter().map(|entry| entry.code.to_string()).collect();
    assert_eq!(have, wanted);
}

#[test]
fn titles_are_short_and_unique() {
    let mut seen = BTreeSet::new();
    for entry in all() {
        assert!(
            !entry.title.is_empty() && entry.title.chars().count() <= 60,
            "{}",
            entry.code
        );
        assert!(!entry.title.ends_with('.'), "{}", entry.code);
        assert!(seen.insert(entry.title), "{} repeats a title", entry.code);
    }
}

#[test]
fn misspelt_codes_have_suggestions() {
    let first = |text: &str| nearest(text, 3).first().map(|entry| entry.short());
    assert_eq!(first("HAHS-001"), Some("HASH-001"));
    assert_eq!(first("cacg-verfy-001"), Some("VERIFY-001"));
    assert_eq!(first("nothing like it"), None);
    assert_eq!(first(&"x".repeat(100_000)), None);
}

#[test]
fn codes_survive_serialization_and_unknown_ones_do_not() {
    for entry in all() {
        let json = serde_json::to_string(&entry.code).unwrap();
        assert_eq!(serde_json::from_str::<Code>(&json).unwrap(), entry.code);
    }
    assert!(serde_json::from_str::<Code>("\"CACG-NOPE-001\"").is_err());
}

proptest! {
    #[test]
    fn lookup_takes_any_text(text in "\\PC{0,40}") {
        if let Some(found) = find(&text) {
            prop_assert_eq!(short(text.trim()).to_ascii_uppercase(), found.short());
        }
        let _ = is_code_shape(&text);
        prop_assert!(nearest(&text, 3).len() <= 3);
    }
}

#[test]
fn every_code_is_explained_with_an_example_and_its_correction() {
    for entry in all() {
        let code = entry.code;
        let text = entry.explanation;
        assert!(
            (80..=700).contains(&text.chars().count()),
            "{code}: {} characters",
            text.chars().count()
        );
        assert!(text.ends_with('.') && !text.contains("  "), "{code}");
        assert_eq!(
            text.matches('`').count() % 2,
            0,
            "{code} has an open code span"
        );
        assert!(
            !entry.language.is_empty() && !entry.failing.is_empty() && !entry.corrected.is_empty(),
            "{code}"
        );
        assert_ne!(entry.failing, entry.corrected, "{code}");
        for line in entry.failing.lines().chain(entry.corrected.lines()) {
            assert_eq!(line, line.trim_end(), "{code}");
            assert!(!line.starts_with("```"), "{code} would end its own fence");
        }
    }
}

#[test]
fn explanations_name_only_codes_that_exist() {
    for entry in all() {
        let words = entry
            .explanation
            .split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
        for word in words.filter(|word| is_code_shape(&format!("CACG-{word}"))) {
            assert!(find(word).is_some(), "{} names {word}", entry.code);
        }
    }
}

#[test]
fn toml_examples_of_corrected_settings_are_toml_and_json_ones_json() {
    for entry in all() {
        // A remark after the text is not part of it.
        match entry.language {
            "toml" => assert!(
                toml::from_str::<toml::Table>(entry.corrected).is_ok(),
                "{}",
                entry.code
            ),
            "json" => {
                assert!(
                    serde_json::from_str::<serde_json::Value>(entry.corrected).is_ok(),
                    "{}",
                    entry.code
                );
            }
            _ => {}
        }
    }
}

#[test]
fn what_says_not_verified_is_no_info_and_what_is_info_says_nothing_of_the_kind() {
    for entry in all() {
        assert!(
            !(entry.verdict() && entry.severity == Severity::Info),
            "{}",
            entry.code
        );
    }
    // The codes that turn a citation's verdict keep their weight whoever edits the table.
    for code in [
        VERIFY_001, VERIFY_003, VERIFY_004, VERIFY_005, QUOTE_002, QUOTE_003, QUOTE_004, HASH_001,
        HASH_003, CITE_004, CITE_005, CITE_006, AUTH_000, AUTH_001, AUTH_002, RETR_001, RETR_002,
        RETR_003, MAN_001, PROOF_001, FRESH_001,
    ] {
        assert!(
            entry(code).verdict() && entry(code).severity == Severity::Error,
            "{code}"
        );
    }
}

#[test]
fn a_verdict_is_never_lowered() {
    use Severity::{Error, Info, Warning};
    let table = [
        (VERIFY_001, Error, true),
        (VERIFY_001, Warning, false),
        (VERIFY_001, Info, false),
        (QUOTE_001, Error, true),
        (QUOTE_001, Warning, true),
        (QUOTE_001, Info, false),
        (QUOTE_006, Info, true),
        (HASH_002, Info, true),
    ];
    for (code, severity, allowed) in table {
        assert_eq!(
            entry(code).allows(severity),
            allowed,
            "{code} as {severity}"
        );
    }
}
