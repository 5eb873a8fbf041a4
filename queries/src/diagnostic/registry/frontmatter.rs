//! Codes about a card's frontmatter: its fences, its YAML, its fields (`FM`), its summary and tags (`SUM`).

codes! {
    FM_001 = "CACG-FM-001", Error, Verdict, Active => {
        title: "required field missing",
        explanation: "A field that every card must have is missing, for instance `summary` in a card or `quote` in a \
            citation. A card without it cannot be resolved, so nothing in it is verified. Add the field; `kb \
            new` writes a card with all of them.",
        language: "yaml",
        failing: r#"citations:
  - source_id: "spec"
    chunk_id: "spec:p003:0007""#,
        corrected: r#"citations:
  - source_id: "spec"
    chunk_id: "spec:p003:0007"
    chunk_hash: "4a911a87…"
    page_range: [3, 3]
    quote: "each leaf is hashed with a 0x00 prefix""#,
    }
    FM_002 = "CACG-FM-002", Error, Verdict, Active => {
        title: "schema_version is unknown",
        explanation: "`schema_version` names the rules a card is written to: `cacg.v0`, or `kb.v1`, which is the same with \
            the fields `prefix` and `suffix` in citations. A card of another version could mean something else \
            by the same words, so it is not read at all. Set it to one of the two if the card follows those \
            rules, or use a `kb` that knows the other version.",
        language: "yaml",
        failing: r#"schema_version: "cacg.v1""#,
        corrected: r#"schema_version: "cacg.v0""#,
    }
    FM_003 = "CACG-FM-003", Error, Verdict, Active => {
        title: "unknown field",
        explanation: "The frontmatter, a citation or an edge has a field that the format does not know. The set of \
            fields is closed so that a misspelt name cannot silently switch something off. Correct the \
            spelling, or move notes of your own into the body.",
        language: "yaml",
        failing: r#"tag: ["hashing"]"#,
        corrected: r#"tags: ["hashing"]"#,
    }
    FM_004 = "CACG-FM-004", Error, Verdict, Active => {
        title: "no frontmatter fences",
        explanation: "A card begins with a line `---`, its frontmatter, and a second line `---` that has a line break \
            behind it. Without these fences nobody can tell fields from text, so the file is no card. Add \
            the fences, remove whatever stands before the first one (a byte order mark too), or exclude the \
            file from `[cards]` if it was never meant to be a card.",
        language: "markdown",
        failing: r#"id: "tree-hashing"
Leaves are hashed."#,
        corrected: r#"---
id: "tree-hashing"
---
Leaves are hashed."#,
    }
    FM_005 = "CACG-FM-005", Error, Verdict, Active => {
        title: "YAML anchor, alias or custom tag",
        explanation: "The frontmatter uses a YAML anchor (`&name`), an alias (`*name`) or a tag of its own (`!name`). \
            Their meaning depends on the loader, and aliases can grow a small file without bound, so the \
            format forbids them. Write the value out where it is used. A text that begins with one of these \
            characters has to stand in quotes.",
        language: "yaml",
        failing: r#"title: &t "Tree hashing"
summary: *t"#,
        corrected: r#"title: "Tree hashing"
summary: "How the leaves and nodes of a hash tree are told apart, and why that matters.""#,
    }
    FM_006 = "CACG-FM-006", Error, Verdict, Active => {
        title: "YAML syntax error or duplicate key",
        explanation: "The frontmatter is not well-formed YAML, or one mapping has the same key twice. With a duplicate \
            key one of the two values would be lost without a word. Correct the line that is marked; the \
            usual causes are a missing quote, a tab as indentation and a colon in an unquoted text.",
        language: "yaml",
        failing: r#"title: Hashing: an overview
id: "a"
id: "b""#,
        corrected: r#"title: "Hashing: an overview"
id: "a""#,
    }
    FM_007 = "CACG-FM-007", Error, Verdict, Active => {
        title: "frontmatter is not a mapping",
        explanation: "What stands between the fences is valid YAML but not a list of `key: value` lines: a single \
            text, a list, or nothing. So the card has no fields. Write the fields as a mapping.",
        language: "yaml",
        failing: "- id
- title",
        corrected: r#"id: "tree-hashing"
title: "Tree hashing""#,
    }
    FM_008 = "CACG-FM-008", Error, Verdict, Active => {
        title: "field has a wrong type or value",
        explanation: "A field has a value of the wrong type, or one that is not allowed: a number where text is asked \
            for, an empty id, an unknown `edge_type`, a hash that is not 64 lower-case hexadecimal digits. \
            Unquoted YAML is the usual cause, since `1.10` or `2024-05-01` without quotes is no text. Put \
            the value in quotes or choose one of the allowed values that the message names.",
        language: "yaml",
        failing: r#"id: 2024
edge_type: "proves""#,
        corrected: r#"id: "2024"
edge_type: "supports""#,
    }
    SUM_001 = "CACG-SUM-001", Error, Verdict, Active => {
        title: "summary too short",
        explanation: "`summary` has fewer than 80 characters. It is what search and other readers of the index see of \
            a card, and a few words do not tell it from its neighbours. Say in one or two sentences what the \
            card claims.",
        language: "yaml",
        failing: r#"summary: "About hashing.""#,
        corrected: r#"summary: "Why leaves and inner nodes of a hash tree get different prefixes, and what goes wrong without them.""#,
    }
    SUM_002 = "CACG-SUM-002", Error, Verdict, Active => {
        title: "summary too long",
        explanation: "`summary` has more than 400 characters. It is copied into indexes and shown in lists, so it has \
            to stay short. Keep the claim and move the rest into the body.",
        language: "yaml",
        failing: r#"summary: "Hash trees were first described in … (600 characters)""#,
        corrected: r#"summary: "Why leaves and inner nodes of a hash tree get different prefixes, and what goes wrong without them.""#,
    }
    SUM_003 = "CACG-SUM-003", Error, Verdict, Active => {
        title: "invalid or duplicate tag",
        explanation: "A tag is not a lower-case slug of 2 to 40 characters, or it stands in the list twice, or `tags` \
            is not a list of texts. Tags are matched as they are, so `Hashing` and `hashing` would be two. \
            Use letters, digits, `-` and `_`, beginning with a letter or digit.",
        language: "yaml",
        failing: r#"tags: ["Hash Trees", "proofs", "proofs"]"#,
        corrected: r#"tags: ["hash-trees", "proofs"]"#,
    }
    SUM_004 = "CACG-SUM-004", Error, Verdict, Active => {
        title: "too many tags",
        explanation: "A card has more than ten tags. Tags that fit everything find nothing. Keep those by which \
            somebody would look for this card.",
        language: "yaml",
        failing: r#"tags: ["a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8", "a9", "b1", "b2"]"#,
        corrected: r#"tags: ["hash-trees", "proofs"]"#,
    }
    SUM_005 = "CACG-SUM-005", Error, Finding, Active => {
        title: "source ids differ between summaries and cards manifest",
        explanation: "`summaries.json` and `cards_manifest.json` name different sources for one card. They are written \
            together, so one of them was edited or is left over from another run. Search would filter by the \
            wrong sources. Publish both again with `kb build`.",
        language: "json",
        failing: r#"{"id":"tree-hashing","source_ids":["old_spec"]}"#,
        corrected: r#"{"id":"tree-hashing","source_ids":["spec"]}"#,
    }
    SUM_006 = "CACG-SUM-006", Error, Finding, Active => {
        title: "retracted card in the summaries",
        explanation: "A card that was retracted still stands in `summaries.json`, or an active one is missing there. \
            Search would offer what was withdrawn. Publish again with `kb build`.",
        language: "json",
        failing: r#"{"retracted_cards":["a"],"summaries":[{"id":"a"}]}"#,
        corrected: r#"{"retracted_cards":["a"],"summaries":[]}"#,
    }
    SUM_007 = "CACG-SUM-007", Error, Finding, Active => {
        title: "summaries entry without source_ids",
        explanation: "An entry of `summaries.json` has no `source_ids`; older versions did not write them. Without \
            them nobody can tell whether a reading may see the card. Publish again with `kb build`.",
        language: "json",
        failing: r#"{"id":"tree-hashing","title":"Tree hashing"}"#,
        corrected: r#"{"id":"tree-hashing","source_ids":["spec"],"title":"Tree hashing"}"#,
    }
    SUM_008 = "CACG-SUM-008", Error, Finding, Active => {
        title: "source_ids could not be filled in",
        explanation: "`migrate-summaries` could not find out which sources a card cites: the card is missing, cannot \
            be read, or, with `--strict`, was edited since the summaries were written. Nothing is written \
            then, rather than guessed. Put the card right and migrate again.",
        language: "sh",
        failing: "kb migrate-summaries --strict   # cards/a.md is gone",
        corrected: "git restore cards/a.md && kb migrate-summaries --strict",
    }
}
