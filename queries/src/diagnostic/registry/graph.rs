//! Codes about cards as a set: ids (`CARDS`), edges between cards (`DEP`), routers (`SKILL`) and role maps (`ROLE`).

codes! {
    CARDS_001 = "CACG-CARDS-001", Error, Verdict, Active => {
        title: "two cards with one id",
        explanation: "Two cards have the same `id`. Edges, indexes and retractions name cards by id, so each would hit \
            one of them at random. Give one of them another id; the related place shows the other card.",
        language: "yaml",
        failing: r#"id: "tree-hashing"   # also in cards/reading_01/b.md"#,
        corrected: r#"id: "tree-hashing-proofs""#,
    }
    CARDS_DEP_001 = "CACG-CARDS-DEP-001", Error, Finding, Reserved("reserved by the contract") => {
        title: "retraction lists and cascade out of step",
        explanation: "Kept by the contract for retraction lists and dependent cards that no longer fit each other. \
            Here the lists are derived anew on every build, so nothing reports it.",
        language: "json",
        failing: r#"{"dependency_retracted_cards":["b"],"retracted_cards":[]}"#,
        corrected: r#"{"dependency_retracted_cards":[],"retracted_cards":[]}"#,
    }
    CARDS_DEP_002 = "CACG-CARDS-DEP-002", Error, Finding, Reserved("only the retired Python tool of the contract reported it; a manifest like that is MAN-001") => {
        title: "retraction lists contradict each other",
        explanation: "The lists of retracted cards contradict each other: one card is both active and retracted, or \
            retracted both by itself and through another. The manifest is then invalid as a whole.",
        language: "json",
        failing: r#"{"cards":[{"id":"a"}],"retracted_cards":["a"]}"#,
        corrected: r#"{"cards":[],"retracted_cards":["a"]}"#,
    }
    DEP_001 = "CACG-DEP-001", Error, Finding, Active => {
        title: "edge to an unknown card",
        explanation: "An edge of a card leads to an id that no card has. What the card builds on is not there, or its \
            name changed. Correct `target`, write the missing card, or remove the edge.",
        language: "yaml",
        failing: r#"card_edges:
  - target: "tree-hashin""#,
        corrected: r#"card_edges:
  - target: "tree-hashing""#,
    }
    DEP_002 = "CACG-DEP-002", Error, Finding, Active => {
        title: "cards depend on each other in a circle",
        explanation: "Cards depend on each other in a circle, so none of them can be read first and each would rest on \
            itself. It is reported on every card of the circle. Remove the edge that is least true.",
        language: "yaml",
        failing: r#"# in a.md: target "b"; in b.md:
card_edges:
  - target: "a""#,
        corrected: r#"# in a.md: target "b"; in b.md:
card_edges: []"#,
    }
    DEP_003 = "CACG-DEP-003", Error, Finding, Active => {
        title: "card that nothing refers to",
        explanation: "No other card refers to this one. Only `--check-orphans` asks for that, since a card may well \
            stand alone. Link it from a card that builds on it, or leave it.",
        language: "yaml",
        failing: "# overview.md
card_edges: []",
        corrected: r#"# overview.md
card_edges:
  - target: "tree-hashing""#,
    }
    DEP_004 = "CACG-DEP-004", Error, Finding, Active => {
        title: "edge to a retracted card",
        explanation: "An edge leads to a card that was retracted, so this card builds on something that was withdrawn. \
            Check whether it still holds without it, then remove or replace the edge.",
        language: "yaml",
        failing: r#"card_edges:
  - target: "old-hashing"   # retracted"#,
        corrected: r#"card_edges:
  - target: "tree-hashing""#,
    }
    ROLE_001 = "CACG-ROLE-001", Error, Finding, Active => {
        title: "role map names a retracted card",
        explanation: "A role map has an entry for a card that was retracted, that does not exist, or that belongs to \
            another reading. Readers who follow the map would be sent to it. Remove the entry, or correct \
            its `card_id`.",
        language: "json",
        failing: r#"{"entries":[{"card_id":"old-hashing"}]}"#,
        corrected: r#"{"entries":[{"card_id":"tree-hashing"}]}"#,
    }
    ROLE_002 = "CACG-ROLE-002", Error, Finding, Active => {
        title: "active card missing from the role map",
        explanation: "A reading has a role map, and one of its active cards is not in it. The map promises to place \
            every card. Add the entry, or write the map anew with `kb scaffold-role-map`. A reading without a \
            map is fine.",
        language: "json",
        failing: r#"{"entries":[]}"#,
        corrected: r#"{"entries":[{"card_id":"tree-hashing","relevance":"core","stance":"primary"}]}"#,
    }
    ROLE_003 = "CACG-ROLE-003", Error, Finding, Active => {
        title: "role map uses an unknown word",
        explanation: "A role map uses a word outside its vocabulary: `stance` is primary, supporting or deferred, and \
            `relevance` is core, adjacent or extension. A map of another shape, or in a file that is not \
            called as its reading is, cannot be used either and is reported here. `kb scaffold-role-map` \
            writes one to start from.",
        language: "json",
        failing: r#"{"card_id":"tree-hashing","stance":"main"}"#,
        corrected: r#"{"card_id":"tree-hashing","stance":"primary"}"#,
    }
    SKILL_001 = "CACG-SKILL-001", Error, Finding, Active => {
        title: "router name used twice",
        explanation: "Two routers, files named `SKILL.md`, have the same `name`, so nobody can say which one is meant. \
            Rename one of them.",
        language: "yaml",
        failing: r#"name: "hashing"   # also in reading_02"#,
        corrected: r#"name: "hashing-proofs""#,
    }
    SKILL_002 = "CACG-SKILL-002", Error, Finding, Active => {
        title: "router leads to a card it may not",
        explanation: "A router leads to a card that does not exist, was retracted, or belongs to another reading than \
            the folder the router is in. Correct the id in `routes_to`, or remove it.",
        language: "yaml",
        failing: r#"routes_to: ["no-such-card"]"#,
        corrected: r#"routes_to: ["tree-hashing"]"#,
    }
    SKILL_003 = "CACG-SKILL-003", Error, Finding, Active => {
        title: "router has a wrong field",
        explanation: "The frontmatter of a router is missing, lacks a field, or has an unknown one or one of the wrong \
            type. It has a `name` (a slug) and a `description` (at most 1024 characters), and may have the \
            lists `routes_to` and `trigger_keywords`.",
        language: "yaml",
        failing: r#"routes: ["tree-hashing"]"#,
        corrected: r#"routes_to: ["tree-hashing"]"#,
    }
}
