//! What is folded and what never is, by name.
use serde::Deserialize;

use super::super::*;
use super::strict;

#[derive(Deserialize)]
struct Case {
    name: String,
    source: String,
    quote: String,
    should_verify: bool,
}

#[test]
fn every_case_of_the_torture_list_is_right() {
    let cases: Vec<Case> =
        serde_json::from_str(include_str!("../../../../../fixtures/quotes/torture.json")).unwrap();
    assert!(cases.len() >= 30);
    let mut wrong = Vec::new();
    for case in &cases {
        let verdict = strict(&case.source, &case.quote);
        if verdict.verified() != case.should_verify {
            wrong.push(format!("{}: {verdict:?}", case.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Source, quote, and the foldings that make them equal; none: the quote does not stand there.
type Row = (&'static str, &'static str, &'static [Folding]);

fn check_rows(rows: &[Row]) {
    let mut wrong = Vec::new();
    for (source, quote, expected) in rows {
        let verdict = strict(source, quote);
        let foldings: Vec<Folding> = verdict.foldings().iter().collect();
        let fine = if expected.is_empty() {
            !verdict.verified()
        } else {
            verdict.verified() && foldings == *expected && verdict.class() == MatchClass::Normalized
        };
        if !fine {
            wrong.push(format!("{source:?} | {quote:?}: {verdict:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn differences_in_writing_are_folded_and_named() {
    use Folding::*;
    check_rows(&[
        (
            "une e\u{301}tude claire et nette",
            "une étude claire et nette",
            &[Canonical],
        ),
        (
            "une étude claire et nette",
            "une e\u{301}tude claire et nette",
            &[Canonical],
        ),
        (
            "measured 5 \u{212b} across here",
            "measured 5 \u{c5} across here",
            &[Canonical],
        ),
        (
            "one  two\tthree\u{2028}four",
            "one two three four",
            &[Space],
        ),
        (
            "第一行的文字\n继续在这里写",
            "第一行的文字继续在这里写",
            &[Space],
        ),
        (
            "a well-\nknown result here",
            "a well-known result here",
            &[Hyphenation],
        ),
        (
            "a well-\nknown result here",
            "a wellknown result here",
            &[Hyphenation],
        ),
        (
            "a struc- \r\n tural change here",
            "a structural change here",
            &[Hyphenation],
        ),
        (
            "an inter\u{ad}\nnational panel met",
            "an international panel met",
            &[Hyphenation],
        ),
        (
            "an international panel met",
            "an inter-\nnational panel met",
            &[Hyphenation],
        ),
        (
            "he left -\nand she came back",
            "he left - and she came back",
            &[Hyphenation],
        ),
        (
            "the o\u{fb03}ce \u{fb02}oor was wet",
            "the office floor was wet",
            &[Ligature],
        ),
        (
            "the be\u{fb05} of a\u{fb05}er all days",
            "the best of after all days",
            &[Ligature],
        ),
        (
            "\u{fb05}and by the \u{fb05}one wall",
            "stand by the stone wall",
            &[Ligature],
        ),
        (
            "he said “no” to ‘us’ all",
            "he said \"no\" to 'us' all",
            &[Quotes],
        ),
        (
            "at 5′ north of the line",
            "at 5' north of the line",
            &[Quotes],
        ),
        (
            "humidity gaps were log rotation",
            "\"humidity gaps were log rotation\"",
            &[Quotes],
        ),
        (
            "a non\u{2011}linear — odd — case",
            "a non-linear - odd - case",
            &[Dash],
        ),
        (
            "fix lands -- see the log",
            "fix lands — see the log",
            &[Dash],
        ),
        (
            "the data\u{200b}base \u{202a}was\u{202c} rebuilt",
            "the database was rebuilt",
            &[Invisible],
        ),
        ("ｃｏｄｅ １２ was issued", "code 12 was issued", &[Width]),
        ("ﾊﾝｶｸのカタカナです", "ハンカクのカタカナです", &[Width]),
        ("wait… then go on", "wait... then go on", &[Ellipsis]),
        (
            "the **bold** and *slanted* words",
            "the bold and slanted words",
            &[Markup],
        ),
        (
            "see [the docs](https://x.org/a_b) for more",
            "see the docs for more",
            &[Markup],
        ),
        (
            "a <b>bold</b> claim &amp; more words",
            "a bold claim & more words",
            &[Markup],
        ),
        (
            "first line<br>second line of it",
            "first line second line of it",
            &[Space, Markup],
        ),
        (
            "a \\*literal\\* star is here",
            "a *literal* star is here",
            &[Markup],
        ),
        (
            "| dose | effect |\n|---|---|\n| low | none seen |",
            "low none seen",
            &[Space, Markup],
        ),
        (
            "> quoted text goes\n> on in line two",
            "quoted text goes on in line two",
            &[Space, Markup],
        ),
        (
            "The 10<sup>2</sup> items were kept",
            "The 10^2 items were kept",
            &[Markup, Script],
        ),
        (
            "Prior work [13, 15–17] revealed it",
            "Prior work revealed it",
            &[Marker],
        ),
        (
            "Prior work [Smith et al., 2020; Wu 1999a] revealed it",
            "Prior work revealed it",
            &[Marker],
        ),
        (
            "hair cells were affected.¹² Later it",
            "hair cells were affected. Later it",
            &[Marker],
        ),
        (
            "hair cells were affected¹² by noise",
            "hair cells were affected by noise",
            &[Marker],
        ),
        (
            "hair cells were affected12 by noise",
            "hair cells were affected by noise",
            &[Marker],
        ),
        (
            "many mice[4][5] were seen here",
            "many mice were seen here",
            &[Marker],
        ),
        (
            "the results agreed with\n\n117\n\u{c}\nearlier findings in mice",
            "the results agreed with earlier findings in mice",
            &[Space, Furniture],
        ),
        (
            "the results agreed with\n\nJ. Cell Biol. 12\n\nPage 4\n\nearlier findings in mice",
            "the results agreed with earlier findings in mice",
            &[Space, Furniture],
        ),
        (
            "the results agreed with\nJournal of Cells 117\u{c}\nearlier findings in mice",
            "the results agreed with earlier findings in mice",
            &[Space, Furniture],
        ),
        (
            "however, the results agreed",
            "However, the results agreed",
            &[Initial],
        ),
        (
            "The treatment worked well",
            "[t]he treatment worked well",
            &[Initial],
        ),
        (
            "survival was 61·4% at five",
            "survival was 61.4% at five",
            &[DecimalDot],
        ),
        (
            "about 10² items were kept",
            "about 10^2 items were kept",
            &[Script],
        ),
        (
            "x² and CO₂ and H₂O rise",
            "x2 and CO2 and H2O rise",
            &[Script],
        ),
        (
            "rose by 10⁻³ units then",
            "rose by 10^-3 units then",
            &[Script],
        ),
        (
            "rose by 10−3 units then",
            "rose by 10⁻³ units then",
            &[Dash, Script],
        ),
    ]);
}

#[test]
fn differences_in_what_is_said_are_never_folded() {
    check_rows(&[
        // digits, separators, exponents, fractions
        (
            "holds 1,000 frames per slot",
            "holds 1.000 frames per slot",
            &[],
        ),
        (
            "holds 1,000 frames per slot",
            "holds 1000 frames per slot",
            &[],
        ),
        (
            "holds 1 000 frames per slot",
            "holds 1000 frames per slot",
            &[],
        ),
        (
            "about 10² items were kept",
            "about 102 items were kept",
            &[],
        ),
        (
            "about 102 items were kept",
            "about 10² items were kept",
            &[],
        ),
        (
            "about 10<sup>2</sup> items were kept",
            "about 102 items were kept",
            &[],
        ),
        (
            "about 10^2 items were kept",
            "about 102 items were kept",
            &[],
        ),
        ("x² is the value here", "x₂ is the value here", &[]),
        ("about 1e² was the value", "about 1e2 was the value", &[]),
        ("value x²3 is used here", "value x23 is used here", &[]),
        ("about 1/2 of them died", "about 12 of them died", &[]),
        ("about ½ of them died", "about 12 of them died", &[]),
        ("about 2·10³ were found", "about 2.10³ were found", &[]),
        (
            "from 10-\n20 cells were seen",
            "from 1020 cells were seen",
            &[],
        ),
        ("a 5\u{ad}3 score was seen", "a 5-3 score was seen", &[]),
        ("the rate was 247 in all", "the rate was 248 in all", &[]),
        ("０x01 is the opcode", "0x00 is the opcode", &[]),
        // signs, comparisons, units, currency
        (
            "a shift of −4.2 degrees was",
            "a shift of 4.2 degrees was",
            &[],
        ),
        (
            "patients aged ≥12 years were",
            "patients aged >12 years were",
            &[],
        ),
        (
            "patients aged &ge;12 years were",
            "patients aged 12 years were",
            &[],
        ),
        ("it cost $5 per unit sold", "it cost 5 per unit sold", &[]),
        ("it cost €5 per unit sold", "it cost $5 per unit sold", &[]),
        ("mW of power was drawn", "MW of power was drawn", &[]),
        ("at 5″ north of the line", "at 5' north of the line", &[]),
        (
            "first line\n> 5 mg was given",
            "first line 5 mg was given",
            &[],
        ),
        // negations, letters, diacritics, case
        (
            "is not permitted in the zone",
            "is permitted in the zone",
            &[],
        ),
        (
            "the résumé of it was read",
            "the resume of it was read",
            &[],
        ),
        (
            "the œuvre of a man of letters",
            "the oeuvre of a man of letters",
            &[],
        ),
        ("the US team of five won", "the us team of five won", &[]),
        ("Team Beta won the cup", "Team Alpha won the cup", &[]),
        (
            "the able man was well-known",
            "the able man was wellknown",
            &[],
        ),
        (
            "data base systems are used",
            "database systems are used",
            &[],
        ),
        (
            "the be\u{fb05} of all worlds",
            "the best oft all worlds",
            &[],
        ),
        // what looks like a mark and is not
        ("the power 2**3 is eight", "the power 23 is eight", &[]),
        ("the term a*b*c is used", "the term abc is used", &[]),
        ("code x**y + z**w is used", "code xy + zw is used", &[]),
        ("where a <b and c> d holds", "where a d holds", &[]),
        (
            "the value snake_case_name is",
            "the value snakecasename is",
            &[],
        ),
        ("P(A | B) is the value", "P(A B) is the value", &[]),
        ("a[0] is set to one", "a is set to one", &[]),
        (
            "the interval [1, 5] of values",
            "the interval of values",
            &[],
        ),
        (
            "the [not] permitted zone was",
            "the permitted zone was",
            &[],
        ),
        ("uses log10 scale in it", "uses log scale in it", &[]),
        ("sha256 of the file is", "sha of the file is", &[]),
        ("area of 5 m² was used", "area of 5 m was used", &[]),
        (
            "area of ten metres² was used",
            "area of ten metres was used",
            &[],
        ),
        // text that looks like furniture
        (
            "the daily dose is\n\n10\n\nmg in all adults",
            "the daily dose is mg in all adults",
            &[],
        ),
        (
            "he bought sugar\n\nSalt\n\nflour and more",
            "he bought sugar flour and more",
            &[],
        ),
        (
            "the drug is safe for\n\nNot for children\n\nadults in all cases",
            "the drug is safe for adults in all cases",
            &[],
        ),
        (
            "the drug is safe.\n\nIt was tested\n\nin all cases",
            "the drug is safe. in all cases",
            &[],
        ),
        (
            "the drug is safe\nonly in these 12\u{c}adults in all cases",
            "the drug is safe adults in all cases",
            &[],
        ),
        // full stops and other punctuation
        ("he went. She came home", "he went, She came home", &[]),
        ("call open() in every case", "call open in every case", &[]),
        ("the flag --force is used", "the flag -force is used", &[]),
        (
            "\u{202e}321 units were sold",
            "321 units were sold today",
            &[],
        ),
    ]);
}

#[test]
fn a_match_cuts_no_word_number_or_compound() {
    for (source, quote) in [
        ("unable to reproduce the leak", "able to reproduce the leak"),
        (
            "un**able** to reproduce the leak",
            "able to reproduce the leak",
        ),
        (
            "un\u{ad}able to reproduce the leak",
            "able to reproduce the leak",
        ),
        ("exactly 2140 frames were lost", "exactly 214"),
        ("a total of 1,214 frames were lost", "214 frames were lost"),
        ("a shift of -4.2 degrees was seen", "4.2 degrees was seen"),
        (
            "patients aged ≥12 years were enrolled",
            "12 years were enrolled",
        ),
        (
            "patients aged ≥ 12 years were enrolled",
            "12 years were enrolled",
        ),
        ("p < 0.05 was the threshold", "0.05 was the threshold"),
        ("p &lt; 0.05 was the threshold", "0.05 was the threshold"),
        ("it was 61.4% at five years", "it was 61.4"),
        ("it was 61.4 % at five years", "it was 61.4"),
        ("it was 61.4 at five years", "it was 61"),
        ("it cost $500 in all", "500 in all shops it"),
        ("a value of 10² was found", "a value of 10"),
        ("a value of 10^2 was found", "a value of 10"),
        ("a dose of 5 mg/kg was given", "a dose of 5 mg"),
        ("about 1/2 of them died", "2 of them died"),
        ("pages 10–20 of the report", "20 of the report"),
        ("he can’t see the light", "he can"),
        (
            "patients’ T cells were seen",
            "a large percentage of patients",
        ),
        (
            "a large percentage of patients’ T cells",
            "a large percentage of patients",
        ),
        ("non-compliant with the rules", "compliant with the rules"),
        ("a bread that is gluten-free", "a bread that is gluten"),
        ("ภาษาไทยที่เขียนไม่มีวรรค", "ภาษาไทยท"),
        ("the o\u{fb03}ce was wet", "ice was wet"),
    ] {
        let verdict = strict(source, quote);
        assert!(!verdict.verified(), "{source:?} | {quote:?}: {verdict:?}");
    }
    let verdict = strict("unable to reproduce the leak", "able to reproduce the leak");
    assert_eq!(
        verdict.flags(),
        [Flag::InsideWord {
            word: "unable".into()
        }]
    );
    let lenient = Options {
        profile: Profile::Cacg,
        fuzzy: false,
    };
    let passage = Passage::whole("unable to reproduce the leak");
    assert!(check_quote(&passage, &Quote::new("able to reproduce the leak"), lenient).verified());
}

#[test]
fn a_match_at_a_boundary_stands() {
    for (source, quote) in [
        ("the well-known result was seen", "known result was seen"),
        ("a dose of 5 mg was given", "a dose of 5"),
        ("the results—12 mice were seen", "12 mice were seen"),
        ("the ‘key players’ were there", "the ‘key players"),
        ("in 2012, the year it began", "the year it began"),
        ("it was 61.4. The next one", "it was 61.4"),
        ("他们在中文文本里写了很多字", "中文文本里写"),
        ("ภาษาไทยที่เขียนไม่มีวรรค", "ไทยที่เขียน"),
        ("यह एक हिंदी वाक्य है", "एक हिंदी वाक्य"),
        ("هذه جملة عربية طويلة هنا", "جملة عربية طويلة"),
        ("זה משפט בעברית לבדיקה", "משפט בעברית לבדיקה"),
        ("this (see there) is it", "see there) is it"),
    ] {
        let verdict = strict(source, quote);
        assert!(verdict.verified(), "{source:?} | {quote:?}: {verdict:?}");
        assert_eq!(
            verdict.class(),
            MatchClass::Exact,
            "{source:?} | {quote:?}: {verdict:?}"
        );
    }
}
