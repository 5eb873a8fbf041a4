//! Running headers, footers and page numbers: left out where a page begins, and nowhere else.

use super::*;

/// Whether `quote` is verified in `text`, given what is known of its pages.
fn stands(text: &str, page_starts: Option<&[usize]>, quote: &str) -> bool {
    let passage = Passage {
        page_starts,
        ..Passage::whole(text)
    };
    check_quote(&passage, &Quote::new(quote), Options::default()).verified()
}

#[test]
fn nothing_is_furniture_in_a_source_without_pages() {
    let quote = "The dose for adults is milligrams once a day.";
    for between in [
        "10",
        "- 10 -",
        "Page 10",
        "Handbook of Drugs 10",
        "XII",
        "10\n\nHandbook of Drugs",
    ] {
        let text = format!("The dose for adults is\n\n{between}\n\nmilligrams once a day.");
        assert!(!stands(&text, Some(&[]), quote), "{between:?}");
        let words = between.replace("\n\n", " ");
        let whole = format!("The dose for adults is {words} milligrams once a day.");
        assert!(stands(&text, Some(&[]), &whole), "{between:?}");
    }
    // At the very start and the very end as well, and where a line is all there is.
    for (text, quote) in [
        ("The dose is\n\n10\n\nmg", "The dose is mg"),
        ("10\n\nmg is the daily dose", "mg is the daily dose is"),
        (
            "The dose is\n10\nmg a day for all",
            "The dose is mg a day for all",
        ),
        ("1.\n\n10\n\nmg a day for all", "1. mg a day for all"),
    ] {
        assert!(!stands(text, Some(&[]), quote), "{text:?}");
        assert!(!stands(text, None, quote), "{text:?}");
    }
}

#[test]
fn a_bare_number_is_furniture_only_where_a_page_begins() {
    let quote = "The dose for adults is milligrams once a day.";
    let text = "The dose for adults is\n\n10\n\nmilligrams once a day.";
    let number = text.find("10").unwrap();
    let rest = text.find("milligrams").unwrap();
    // A footer, and a header.
    for start in [number, rest] {
        assert!(stands(text, Some(&[start]), quote), "{start}");
    }
    // Nobody knows; or the pages are known to begin elsewhere.
    for starts in [None, Some(&[][..]), Some(&[4][..]), Some(&[rest + 11][..])] {
        assert!(!stands(text, starts, quote), "{starts:?}");
    }
    // A form feed is a page's end in any text.
    for text in [
        "The dose for adults is\n\n10\n\u{c}\nmilligrams once a day.",
        "The dose for adults is\n\u{c}10\n\nmilligrams once a day.",
    ] {
        assert!(
            stands(text, None, quote) && stands(text, Some(&[]), quote),
            "{text:?}"
        );
    }
}

#[test]
fn a_chunk_that_begins_or_ends_within_a_page_keeps_its_first_and_last_line() {
    // The same stretch of a paged source, cut before and after the number: no page begins here.
    let text = "adults take, as a rule,\n\n10\n\nmilligrams once a day, or";
    assert!(!stands(
        text,
        Some(&[]),
        "adults take, as a rule, milligrams once a day, or"
    ));
    let cut = "10\n\nmilligrams once a day, or";
    assert!(!stands(
        cut,
        Some(&[]),
        "take, as a rule, milligrams once a day"
    ));
    assert!(stands(cut, Some(&[]), "10 milligrams once a day"));
    let cut = "adults take, as a rule,\n\n10";
    assert!(stands(cut, Some(&[]), "adults take, as a rule, 10"));
}

#[test]
fn a_text_of_unknown_origin_may_show_its_pages_itself() {
    let quote = "the results were consistent with earlier findings in mice";
    for (between, left_out) in [
        ("Journal of X, vol 3  117", true),
        ("Page 4", true),
        ("- 12 -", true),
        ("117", false),
        ("1.5", false),
    ] {
        let text =
            format!("the results were consistent with\n\n{between}\n\nearlier findings in mice.");
        assert_eq!(stands(&text, None, quote), left_out, "{between:?}");
    }
}
