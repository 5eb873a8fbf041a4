//! TOML in, settings and `code @ text under the span` out.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use proptest::prelude::*;

use super::*;

/// Every key there is, once.
const FULL: &str = r#"profile = "cacg"
matrix = "m.json"
out = "built"

[[collection]]
name = "canon"
scope = "canon"
include = ["canon/**"]
exclude = ["canon/old/**"]
chunker = "unit"
chunk = { tokens = 512 }
authority = 2.0
advisory = true

[[collection.authority_for]]
glob = "canon/rulings/**"
tier = 1.5

[[collection.unit]]
kind = "hard_line"
pattern = '^\*\*(HL-\d+)\*\*'

[[collection.registry]]
file = "canon/creatures.csv"
name = "creatures"
primary_key = "creature_id"
foreign_keys = { region_id = "regions.region_id" }
fields = { region = "region_id" }

[[collection]]
name = "books"
include = ["books/*.pdf"]
chunker = "cacg"
chunk = { tokens = 300, overlap = 40, max_pages = 3 }
authority = -1

[source."sources/handbook.pdf"]
id = "handbook"
title = "The Handbook"
encoding = "windows-1252"
format = "pdf"
fields = { region = "flores", category = "folklore" }

[cards]
include = ["notes/**/*.md"]
exclude = ["notes/drafts/**"]

[readings]
"notes/b/**" = "reading_b"
"notes/a/**" = "reading_a"

[index]
embedder = "openai:small@https://example.org/v1"

[semantic]
judge = "openai"
endpoint = "http://127.0.0.1:9/v1/chat/completions"
model = "small"
key_env = "LOCAL_API_KEY"
timeout = 5
policy = "rescue"

[pdf]
fallback = "pdftotext"

[diagnostics]
CACG-HASH-002 = "off"
"CACG-QUOTE-003" = "error"

[limits]
bytes = 1_000
pages = 0x10
text_bytes = 5000
"#;

fn seen(text: &str) -> Vec<String> {
    parse(text)
        .problems
        .iter()
        .map(|problem| {
            format!(
                "{} @ {}",
                &problem.code.as_str()[5..],
                &text[problem.span.clone()]
            )
        })
        .collect()
}

#[test]
fn nothing_said_is_the_default() {
    for text in ["", "# nothing\n", "[cards]\n", "[limits]\n[pdf]"] {
        assert_eq!(parse(text).settings, Settings::default(), "{text}");
        assert_eq!(seen(text), [""; 0], "{text}");
    }
    let collection = &Settings::default().collections[0];
    assert_eq!(
        (&*collection.name, collection.scope),
        ("sources", Scope::Substrate)
    );
    let sizes = collection.sizes(ChunkerKind::Window);
    assert_eq!(
        sizes,
        Sizes {
            tokens: 512,
            overlap: 75,
            max_pages: 1
        }
    );
    assert_eq!(
        collection.sizes(ChunkerKind::Cacg),
        Sizes {
            tokens: 350,
            overlap: 50,
            max_pages: 2
        }
    );
}

#[test]
fn every_key_is_read() {
    let parsed = parse(FULL);
    assert_eq!(seen(FULL), [""; 0]);
    let settings = parsed.settings;
    assert_eq!(settings.profile, Profile::Cacg);
    assert_eq!((&*settings.matrix, &*settings.out), ("m.json", "built"));
    assert_eq!(
        settings.collections.len(),
        2,
        "a list replaces the default one"
    );
    let canon = &settings.collections[0];
    assert_eq!(canon.authority, Tier::from_thousandths(2000));
    assert_eq!(canon.authority_for[0].tier, Tier::from_thousandths(1500));
    assert_eq!(&*canon.units[0].pattern, r"^\*\*(HL-\d+)\*\*");
    assert_eq!(
        &*canon.registries[0].foreign_keys["region_id"],
        "regions.region_id"
    );
    let books = &settings.collections[1];
    assert_eq!(
        books.sizes(books.chunker),
        Sizes {
            tokens: 300,
            overlap: 40,
            max_pages: 3
        }
    );
    let source = &settings.sources["sources/handbook.pdf"];
    assert_eq!(source.id.as_deref(), Some("handbook"));
    assert_eq!(source.format(), Some(Format::Pdf));
    let readings: Vec<&str> = settings.readings.iter().map(|(glob, _)| &**glob).collect();
    assert_eq!(readings, ["notes/b/**", "notes/a/**"], "in file order");
    assert_eq!(
        settings.embedder.to_string(),
        "openai:small@https://example.org/v1"
    );
    assert_eq!(
        settings.semantic,
        SemanticSettings {
            judge: Some(JudgeKind::OpenAi),
            endpoint: Some("http://127.0.0.1:9/v1/chat/completions".into()),
            model: Some("small".into()),
            key_env: Some("LOCAL_API_KEY".into()),
            timeout: 5,
            policy: SemanticPolicy::Rescue,
        }
    );
    assert_eq!(settings.pdf_fallback, PdfFallback::Pdftotext);
    assert_eq!(settings.diagnostics["CACG-HASH-002"], Level::Off);
    assert_eq!(
        settings.limits,
        LimitSettings {
            bytes: 1000,
            pages: 16,
            text_bytes: 5000
        }
    );
}

#[test]
fn entries_say_where_each_value_comes_from() {
    let parsed = parse(FULL);
    let entries = parsed.settings.entries(&parsed.origins);
    let lines: Vec<&str> = FULL.lines().collect();
    for entry in &entries {
        if let Origin::Line(line) = entry.origin {
            let line = lines[line as usize - 1];
            let last = entry.key.rsplit('.').next().unwrap().trim_end_matches('"');
            assert!(
                line.contains(last),
                "{} is not on the line {line}",
                entry.key
            );
        }
    }
    let show = |key: &str| {
        let entry = entries.iter().find(|entry| entry.key == key).unwrap();
        format!("{} {:?}", entry.value, entry.origin)
    };
    assert_eq!(show("profile"), "\"cacg\" Line(1)");
    assert_eq!(show("collection[0].chunk.tokens"), "512 Line(11)");
    assert_eq!(
        show("collection[0].unit[0].pattern"),
        "'^\\*\\*(HL-\\d+)\\*\\*' Line(21)"
    );
    assert_eq!(show("collection[1].authority"), "-1.0 Line(35)");
    assert_eq!(show("collection[1].scope"), "\"substrate\" Default");
    assert_eq!(
        show("source.\"sources/handbook.pdf\".fields.region"),
        "\"flores\" Line(42)"
    );
    assert_eq!(show("readings.\"notes/b/**\""), "\"reading_b\" Line(49)");
    // Every key that is set shows up, and nothing else claims a line.
    let set = entries
        .iter()
        .filter(|entry| entry.origin != Origin::Default)
        .count();
    let root = toml::de::DeTable::parse(FULL).unwrap().into_inner();
    let mut checker = super::check::Checker {
        problems: Vec::new(),
        places: Vec::new(),
    };
    checker.table(&root, super::table::ROOT, "", &(0..0));
    assert_eq!(set, checker.places.len());
    assert!(
        Settings::default()
            .entries(&Origins::default())
            .iter()
            .all(|entry| entry.origin == Origin::Default)
    );
}

/// Names of all keys in a schema, with the path to them.
fn schema_keys(schema: &serde_json::Value, path: &str, keys: &mut Vec<String>) {
    if let Some(properties) = schema.get("properties").and_then(|value| value.as_object()) {
        for (name, schema) in properties {
            assert!(
                schema["description"].is_string(),
                "{path}{name} is not described"
            );
            keys.push(format!("{path}{name}"));
            schema_keys(schema, &format!("{path}{name}."), keys);
        }
    }
    for inner in ["items", "additionalProperties"] {
        if let Some(inner) = schema.get(inner) {
            schema_keys(inner, path, keys);
        }
    }
}

#[test]
fn the_schema_has_the_keys_that_are_read() {
    let mut keys = Vec::new();
    schema_keys(&json_schema(), "", &mut keys);
    for key in &keys {
        let last = key.rsplit('.').next().unwrap();
        assert!(FULL.contains(last), "the sample does not set {key}");
    }
}

#[test]
fn each_fault_is_found_where_it_stands() {
    let cases: &[(&str, &[&str])] = &[
        // Unknown keys, at every level.
        ("profil = \"cacg\"", &["CFG-001 @ profil"]),
        ("[crads]\ninclude = []", &["CFG-001 @ crads"]),
        ("[cards]\ninclud = []", &["CFG-001 @ includ"]),
        (
            "[[collection]]\nname = \"a\"\ninclude = []\nchunk = { token = 3 }",
            &["CFG-001 @ token"],
        ),
        ("[source.\"a.md\"]\nname = \"x\"", &["CFG-001 @ name"]),
        // Wrong types and values.
        ("profile = 3", &["CFG-002 @ 3"]),
        ("profile = \"lenient\"", &["CFG-002 @ \"lenient\""]),
        ("out = \"\"", &["CFG-002 @ \"\""]),
        ("out = \"../out\"", &["CFG-002 @ \"../out\""]),
        (
            "matrix = \"/etc/matrix.json\"",
            &["CFG-002 @ \"/etc/matrix.json\""],
        ),
        ("matrix = 'C:/m.json'", &["CFG-002 @ 'C:/m.json'"]),
        ("cards = \"cards/**\"", &["CFG-002 @ \"cards/**\""]),
        (
            "[cards]\ninclude = \"cards/**\"",
            &["CFG-002 @ \"cards/**\""],
        ),
        ("[cards]\ninclude = [\"cards/**\", 3]", &["CFG-002 @ 3"]),
        ("collection = 3", &["CFG-002 @ 3"]),
        (
            "[[collection]]\ninclude = []",
            &["CFG-002 @ [[collection]]"],
        ),
        (
            "[[collection]]\nname = \"a\"",
            &["CFG-002 @ [[collection]]"],
        ),
        (
            "[[collection]]\nname = \"a\"\ninclude = []\nauthority = \"high\"",
            &["CFG-002 @ \"high\""],
        ),
        (
            "[[collection]]\nname = \"a\"\ninclude = []\nauthority = 1.23456",
            &["CFG-002 @ 1.23456"],
        ),
        (
            "[[collection]]\nname = \"a\"\ninclude = []\nauthority = inf",
            &["CFG-002 @ inf"],
        ),
        (
            "[[collection]]\nname = \"a\"\ninclude = []\nadvisory = 1",
            &["CFG-002 @ 1"],
        ),
        (
            "[[collection]]\nname = \"a\"\ninclude = []\nchunk = { tokens = 0 }",
            &["CFG-002 @ 0"],
        ),
        (
            "[[collection]]\nname = \"a\"\ninclude = []\nchunk = { overlap = -1 }",
            &["CFG-002 @ -1"],
        ),
        (
            "[source.\"../a.md\"]\nid = \"x\"",
            &["CFG-002 @ \"../a.md\""],
        ),
        ("[source.\"a.md\"]\nid = \"A b\"", &["CFG-002 @ \"A b\""]),
        (
            "[source.\"a.md\"]\nencoding = \"utf-9\"",
            &["CFG-002 @ \"utf-9\""],
        ),
        (
            "[source.\"a.md\"]\nformat = \"docx\"",
            &["CFG-002 @ \"docx\""],
        ),
        ("[index]\nembedder = \"gpt\"", &["CFG-002 @ \"gpt\""]),
        ("[semantic]\njudge = \"gpt\"", &["CFG-002 @ \"gpt\""]),
        ("[semantic]\ntimeout = 0", &["CFG-002 @ 0"]),
        ("[semantic]\nkey_env = \"HOME\"", &["CFG-002 @ \"HOME\""]),
        (
            "[semantic]\nendpoint = \"http://example.org\"\nkey_env = \"X_API_KEY\"",
            &["CFG-002 @ \"http://example.org\""],
        ),
        (
            "[semantic]\nendpoint = \"https://example.org/v1\"",
            &["CFG-005 @ \"https://example.org/v1\""],
        ),
        ("[semantic]\njudge = \"openai\"", &["CFG-005 @ \"openai\""]),
        (
            "[index]\nembedder = \"openai:x@ftp://h\"",
            &["CFG-002 @ \"openai:x@ftp://h\""],
        ),
        ("[pdf]\nfallback = true", &["CFG-002 @ true"]),
        ("[readings]\n\"a/**\" = 3", &["CFG-002 @ 3"]),
        ("[limits]\nbytes = 0", &["CFG-002 @ 0"]),
        ("[limits]\npages = 99999999999", &["CFG-002 @ 99999999999"]),
        (
            "[diagnostics]\n\"CACG-HASH-002\" = \"fatal\"",
            &["CFG-002 @ \"fatal\""],
        ),
        // Globs and patterns.
        (
            "[cards]\ninclude = [\"a[\", \"b/**\"]",
            &["CFG-003 @ \"a[\""],
        ),
        (
            "[cards]\ninclude = [\"../x/**\", \"/x\", \"\"]",
            &[
                "CFG-003 @ \"../x/**\"",
                "CFG-003 @ \"/x\"",
                "CFG-003 @ \"\"",
            ],
        ),
        ("[readings]\n\"a{\" = \"r\"", &["CFG-003 @ \"a{\""]),
        (
            "[[collection]]\nname = \"a\"\ninclude = []\nchunker = \"unit\"\nunit = [{ kind = \"k\", pattern = '(' }, { kind = \"k\", pattern = 'x*' }]",
            &["CFG-003 @ '('", "CFG-003 @ 'x*'"],
        ),
        (
            "[[collection]]\nname = \"a\"\ninclude = []\nchunker = \"unit\"\nunit = [{ kind = \"k\", pattern = 'a{1000}{1000}' }]",
            &["CFG-003 @ 'a{1000}{1000}'"],
        ),
        // Syntax.
        ("profile = ", &["CFG-004 @ ="]),
        ("profile = \"cacg", &["CFG-004 @ g"]),
        ("out = \"a\"\nout = \"b\"", &["CFG-004 @ out"]),
        ("[cards\ninclude = []", &["CFG-004 @ s"]),
        // Contradictions.
        (
            "[[collection]]\nname = \"a\"\ninclude = []\n[[collection]]\nname = \"a\"\ninclude = []",
            &["CFG-005 @ \"a\""],
        ),
        (
            "[[collection]]\nname = \"a\"\ninclude = []\n[[collection.unit]]\nkind = \"k\"\npattern = 'x'",
            &["CFG-005 @ [[collection.unit]]"],
        ),
        (
            "[[collection]]\nname = \"a\"\ninclude = []\nchunker = \"window\"\n[[collection.registry]]\nfile = \"x.csv\"",
            &["CFG-005 @ [[collection.registry]]"],
        ),
        (
            "[[collection]]\nname = \"a\"\ninclude = []\nchunk = { max_pages = 2 }",
            &["CFG-005 @ 2"],
        ),
        (
            "[[collection]]\nname = \"a\"\ninclude = []\nchunk = { tokens = 50, overlap = 50 }",
            &["CFG-005 @ 50"],
        ),
        (
            "[[collection]]\nname = \"a\"\ninclude = []\nchunk = { tokens = 5 }",
            &[],
        ),
        (
            "[[collection]]\nname = \"a\"\ninclude = [\"x\"]\nexclude = [\"x\"]",
            &["CFG-005 @ \"x\""],
        ),
        // Severities.
        (
            "[diagnostics]\n\"CACG-VERIFY-001\" = \"warning\"",
            &["CFG-006 @ \"CACG-VERIFY-001\""],
        ),
        (
            "[diagnostics]\nCACG-QUOTE-002 = \"off\"",
            &["CFG-006 @ CACG-QUOTE-002"],
        ),
        ("[diagnostics]\nCACG-QUOTE-001 = \"error\"", &[]),
        (
            "[diagnostics]\nCACG-NOPE-001 = \"error\"\ncacg-hash-002 = \"off\"",
            &["CFG-006 @ CACG-NOPE-001", "CFG-006 @ cacg-hash-002"],
        ),
        // Several at once, in file order.
        (
            "out = 3\nprofil = 1\n[cards]\nx = 1",
            &["CFG-002 @ 3", "CFG-001 @ profil", "CFG-001 @ x"],
        ),
    ];
    let wrong: Vec<String> = cases
        .iter()
        .filter_map(|(text, expected)| {
            let found = seen(text);
            (found != *expected).then(|| format!("{text:?}: {found:?}, not {expected:?}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_wrong_keeps_its_default() {
    let settings = parse("profile = 3\nout = \"../x\"\nmatrix = \"m.json\"\n[cards]\ninclude = [\"a[\", \"b\"]\n[limits]\nbytes = 0").settings;
    let expected = Settings {
        matrix: "m.json".into(),
        cards: Cards {
            include: vec!["b".into()],
            exclude: Vec::new(),
        },
        ..Settings::default()
    };
    assert_eq!(settings, expected);
}

#[test]
fn help_names_the_nearest() {
    let help = |text| parse(text).problems[0].help.clone().unwrap_or_default();
    assert_eq!(help("profil = 1"), "did you mean `profile`?");
    assert_eq!(help("profile = \"strct\""), "did you mean \"strict\"?");
    assert_eq!(help("[cards]\nzzz = 1"), "known here: include, exclude");
    assert_eq!(
        help("[diagnostics]\nCACG-HSAH-002 = \"off\""),
        "did you mean \"CACG-HASH-002\"?"
    );
}

#[test]
fn a_sidecar_has_the_keys_of_a_source() {
    let (source, problems) = parse_sidecar("id = \"book\"\nfields = { region = \"x\" }\n");
    assert_eq!(problems, []);
    assert_eq!(source.id.as_deref(), Some("book"));
    assert_eq!(&*source.fields["region"], "x");
    let (_, problems) = parse_sidecar("ids = \"book\"\n");
    assert_eq!(problems[0].span, 0..3);
}

#[test]
fn tiers_compare_as_numbers_do() {
    for (number, text) in [
        (2.0, "2.0"),
        (-0.25, "-0.25"),
        (0.001, "0.001"),
        (1000.0, "1000.0"),
    ] {
        let tier = Tier::from_number(number).unwrap();
        assert_eq!(tier.to_string(), text);
        assert_eq!(tier.value(), number);
    }
    for number in [0.0001, 1000.001, f64::NAN, f64::INFINITY] {
        assert_eq!(Tier::from_number(number), None, "{number}");
    }
    assert!(Tier::from_number(1.5) < Tier::from_number(2.0));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn mutated_settings_never_panic(
        cuts in prop::collection::vec((0usize..1400, 0usize..20, prop::sample::select(vec![
            "", "[", "]", "[[", "{", "}", "=", "\"", "'", "\n", ",", ".", "3", "true", "é", "#", "collection", "1979-05-27",
        ])), 1..5))
    {
        let mut text: Vec<char> = FULL.chars().collect();
        for (at, length, insert) in cuts {
            let at = at.min(text.len());
            let end = (at + length).min(text.len());
            text.splice(at..end, insert.chars());
        }
        let text: String = text.into_iter().collect();
        let parsed = parse(&text);
        for problem in &parsed.problems {
            prop_assert!(text.get(problem.span.clone()).is_some(), "{:?}", problem);
            prop_assert!(!problem.span.is_empty(), "{:?}\n{}", problem, text);
        }
        let _ = parsed.settings.entries(&parsed.origins);
        let _ = parse_sidecar(&text);
    }
}
