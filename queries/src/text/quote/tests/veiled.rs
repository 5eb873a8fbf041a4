//! Quotes of what a text holds and does not say.

use super::*;
use crate::parse::document::markdown_veils;
use crate::text::veil::Veil;

fn verdict(text: &str, quote: &str, profile: Profile) -> Verdict {
    let veiled = markdown_veils(text);
    let passage = Passage {
        veiled: &veiled,
        ..Passage::whole(text)
    };
    let options = Options {
        profile,
        fuzzy: true,
    };
    check_quote(&passage, &Quote::new(quote), options)
}

#[test]
fn what_nobody_sees_is_not_there() {
    for (text, quote) in [
        (
            "The dose is low. <!-- The dose is ten milligrams. --> It is safe.",
            "The dose is ten milligrams.",
        ),
        (
            "The dose is low. <!-- The dose is\n*ten* milligrams. --> It is safe.",
            "The dose is ten milligrams.",
        ),
        (
            "The dose is <!-- never more than ten --> milligrams a day.",
            "is never more than ten",
        ),
        (
            "<!--\n\nThe dose is ten milligrams.\n\n-->\n\nIt is safe.",
            "The dose is ten milligrams.",
        ),
        (
            "<div hidden>\n\nThe dose is ten milligrams.\n\n</div>\n\nIt is safe.",
            "The dose is ten milligrams.",
        ),
        (
            "See [the leaflet](a.md \"The dose is ten milligrams.\") first.",
            "The dose is ten milligrams.",
        ),
        (
            "See [the leaflet](a \"The dose is ten milligrams.\") first.",
            "dose is ten milligrams",
        ),
        (
            "See [the leaflet] first.\n\n[the leaflet]: a.md \"The dose is ten milligrams.\"\n",
            "The dose is ten milligrams.",
        ),
        (
            "It is <!-- not --> safe for all of us.",
            "It is <!-- not --> safe for all of us.",
        ),
    ] {
        let strict = verdict(text, quote, Profile::Strict);
        assert_eq!(
            (strict.class(), strict.verified()),
            (MatchClass::Absent, false),
            "{text:?} {strict:?}"
        );
        let lenient = verdict(text, quote, Profile::Cacg);
        let said = !lenient.verified()
            || lenient
                .flags()
                .iter()
                .any(|flag| matches!(flag, Flag::Veiled { veil } if *veil != Veil::Struck));
        assert!(said, "{text:?} {lenient:?}");
    }
    let text = "The dose is low. <!-- The dose is ten milligrams. --> It is safe.";
    let strict = verdict(text, "The dose is ten milligrams.", Profile::Strict);
    let nearest = strict.nearest().unwrap();
    assert_eq!(&text[nearest.span.clone()], "The dose is ten milligrams.");
    assert!(nearest.decides.contains("no reader"), "{nearest:?}");
}

#[test]
fn what_is_struck_out_does_not_count() {
    for (text, quote) in [
        (
            "~~The dose is ten milligrams.~~ It is five.",
            "The dose is ten milligrams.",
        ),
        (
            "<del>The dose is ten milligrams.</del> It is five.",
            "The dose is ten milligrams.",
        ),
        (
            "The dose is ~~ten milligrams~~ five a day.",
            "The dose is ~~ten milligrams~~ five a day.",
        ),
        (
            "The dose of it is ~~ten milligrams a day~~ low.",
            "ten milligrams a day",
        ),
    ] {
        let strict = verdict(text, quote, Profile::Strict);
        let flag = Flag::Veiled { veil: Veil::Struck };
        assert!(
            !strict.verified() && strict.flags().contains(&flag),
            "{text:?} {strict:?}"
        );
        assert_eq!(&text[strict.spans()[0].clone()], quote);
        let lenient = verdict(text, quote, Profile::Cacg);
        assert!(
            lenient.verified() && lenient.flags().contains(&flag),
            "{text:?} {lenient:?}"
        );
    }
}

#[test]
fn what_is_not_said_is_passed_over() {
    for (text, quote) in [
        (
            "The dose <!-- sic --> is ten milligrams.",
            "The dose is ten milligrams.",
        ),
        (
            "The dose is ~~twelve~~ ten milligrams.",
            "The dose is ten milligrams.",
        ),
        (
            "The dose is <s>twelve</s> ten milligrams.",
            "The dose is ten milligrams.",
        ),
        (
            "The do<!-- -->se is ten milligrams.",
            "The dose is ten milligrams.",
        ),
        (
            "The dose\n\n<!-- sic -->\n\nis ten milligrams.",
            "The dose is ten milligrams.",
        ),
        (
            "See [the long leaflet](a.md \"Title\") of the drug.",
            "See the long leaflet of the drug.",
        ),
        // Copied with its marks.
        (
            "See [the long leaflet](a \"Title\") of the drug.",
            "[the long leaflet](a \"Title\") of the drug.",
        ),
        (
            "See [the long leaflet][1] of the drug.\n\n[1]: a.md\n",
            "See [the long leaflet][1] of the drug.",
        ),
        // Said beside, and shown as code.
        ("It is five mg. <!-- It is five mg. -->", "It is five mg."),
        ("Write `<!-- The dose is ten -->` there.", "The dose is ten"),
        (
            "The dose is ~5 mg or ~10 mg a day.",
            "The dose is ~5 mg or ~10 mg",
        ),
    ] {
        let strict = verdict(text, quote, Profile::Strict);
        assert!(strict.verified(), "{text:?} {strict:?}");
        assert!(
            !strict
                .flags()
                .iter()
                .any(|flag| matches!(flag, Flag::Veiled { .. }))
        );
    }
    // The same words, said once and struck out once, are not ambiguous.
    let twice = verdict(
        "~~It is five mg.~~ Now: it is five mg.",
        "it is five mg.",
        Profile::Strict,
    );
    assert!(twice.verified(), "{twice:?}");
    // What is left must not run together.
    let glued = verdict(
        "The dose is 1~~2~~0 mg a day.",
        "The dose is 120 mg a day.",
        Profile::Strict,
    );
    assert!(!glued.verified(), "{glued:?}");
}
