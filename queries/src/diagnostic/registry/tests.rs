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
        ("CITE", 1, 7),
        ("HASH", 1, 3),
        ("IDX", 4, 8),
        ("IDX-CACHE", 1, 1),
        ("CLI", 1, 5),
        ("INGEST", 1, 3),
        ("MAN", 1, 3),
        ("JNL", 1, 1),
        ("VERIFY", 1, 5),
        ("HIST", 1, 1),
        ("RS", 1, 4),
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
        ("QUOTE", 1, 7),
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
