//! Routers and role maps in `kb check`: optional, never stale, never about cards that were not
//! looked at.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "support/base.rs"]
mod base;
mod support;

use std::fs;

use base::Base;
use kbc::session::{Options, Session};
use kbc::workspace::Project;

/// A knowledge base with two cards of the reading `r`.
fn deck() -> Base {
    let base = Base::new("", &["spec"]);
    base.write(
        "sources/spec.md",
        "# Spec\n\nEach leaf is hashed with a zero byte in front of its text.\n\nEach node is hashed with a one byte in front of its children.\n",
    );
    base.cite("r/leaf", "spec", "Each leaf is hashed with a zero byte");
    base.cite("r/node", "spec", "Each node is hashed with a one byte");
    // The folder is part of the path only.
    for id in ["leaf", "node"] {
        base.edit(
            &format!("cards/r/{id}.md"),
            &format!("id: r/{id}"),
            &format!("id: {id}"),
        );
    }
    base.run(&["check"], 0);
    base
}

fn router(routes: &str) -> String {
    format!(
        "---\nname: hashing\ndescription: \"Where hashing is explained.\"\nroutes_to: [{routes}]\n---\n"
    )
}

fn codes(base: &Base) -> Vec<String> {
    base.said().into_iter().map(|said| said.code).collect()
}

#[test]
fn a_router_is_no_card_and_is_checked_on_every_run() {
    let base = deck();
    assert_eq!(codes(&base), [""; 0]);
    base.write("cards/r/SKILL.md", &router("leaf, node"));
    assert_eq!(codes(&base), [""; 0]);
    let lines = base.check();
    assert_eq!(lines.last().unwrap()["ledger"]["cards"], 2);
    // The card changes, the router does not.
    base.edit("cards/r/node.md", "id: node", "id: nodes");
    assert_eq!(codes(&base), ["SKILL-002"]);
    let cached = base.check();
    assert_eq!(cached, {
        base.run(&["clean"], 0);
        base.check()
    });
    // The router changes, the card does not.
    base.write("cards/r/SKILL.md", &router("leaf, nodes"));
    assert_eq!(codes(&base), [""; 0]);
    base.write("cards/r/SKILL.md", "no router");
    assert_eq!(codes(&base), ["SKILL-003"]);
    fs::write(base.path("cards/r/SKILL.md"), b"\xFF").unwrap();
    assert_eq!(codes(&base), ["SKILL-003"]);
    fs::remove_file(base.path("cards/r/SKILL.md")).unwrap();
    assert_eq!(codes(&base), [""; 0]);
}

#[test]
fn a_long_lived_session_sees_what_a_new_one_sees() {
    let base = deck();
    let project = || Project::open(base.root().to_path_buf()).unwrap();
    let mut session = Session::open(project(), Options::default());
    assert_eq!(session.report().diagnostics, []);
    let steps: [(&str, String); 5] = [
        ("cards/r/SKILL.md", router("leaf, nobody")),
        ("cards/r/SKILL.md", router("leaf")),
        ("cards/other/SKILL.md", router("leaf")),
        (
            "out/role_maps/r.json",
            r#"{"entries":[],"reading_id":"r","schema_version":"cacg.v0"}"#.to_owned(),
        ),
        ("out/role_maps/r.json", "{".to_owned()),
    ];
    for (path, text) in steps {
        base.write(path, &text);
        session.update(&[path.to_owned()]);
        let fresh = Session::open(project(), Options::default());
        let found = session.report().diagnostics;
        assert_eq!(found, fresh.report().diagnostics, "{path}");
        assert_eq!(
            found.is_empty(),
            text == router("leaf") && !path.contains("other"),
            "{path}: {found:?}"
        );
    }
}

#[test]
fn readings_of_folders_decide_for_routers_too() {
    let base = deck();
    base.write("kb.toml", "[readings]\n\"cards/r/**\" = \"hashing\"\n");
    base.write(
        "source_matrix.json",
        r#"{"allowed":{"hashing":["spec"]},"schema_version":"cacg.v0"}"#,
    );
    base.write("cards/r/SKILL.md", &router("leaf"));
    assert_eq!(codes(&base), [""; 0]);
}

#[test]
fn a_role_map_keeps_a_card_from_being_an_orphan() {
    let base = deck();
    let orphans = |base: &Base| {
        let run = base.kb(&["check", "--check-orphans", "--format", "short"]);
        run.stdout.matches("DEP-003").count()
    };
    assert_eq!(orphans(&base), 2);
    base.run(&["build"], 0);
    base.run(&["scaffold-role-map", "--reading", "r"], 0);
    assert_eq!(orphans(&base), 0);
    assert_eq!(codes(&base), [""; 0]);
    // A new card is missing from the map until it is written anew.
    let quote = "  - source_id: spec\n    quote: \"Each node is hashed with a one byte\"";
    base.write("cards/third.md", &Base::card_text("third", quote));
    base.run(&["fix"], 1);
    base.run(&["build"], 1);
    assert_eq!(codes(&base), ["ROLE-002"]);
    base.run(&["scaffold-role-map", "--reading", "r", "--force"], 0);
    assert_eq!(codes(&base), [""; 0]);
}

#[test]
fn what_guides_does_not_speak_of_cards_that_were_not_looked_at() {
    let base = deck();
    base.write("cards/r/SKILL.md", &router("leaf, nobody"));
    let run = base.run(&["check", "cards/r/leaf.md", "--format", "short"], 0);
    assert!(!run.stdout.contains("SKILL"), "{}", run.stdout);
    base.run(&["check"], 1);
}

#[test]
fn cards_that_are_named_are_guided_from_beside_them() {
    let base = deck();
    base.write("cards/r/SKILL.md", &router("leaf, nobody"));
    base.write(
        "elsewhere/role_maps/r.json",
        r#"{"entries":[],"reading_id":"r","schema_version":"cacg.v0"}"#,
    );
    base.write(
        "elsewhere/chunks_manifest.json",
        &base.read("out/chunks_manifest.json"),
    );
    fs::remove_file(base.path("kb.toml")).unwrap();
    let options = Options {
        chunks_manifest: Some(base.path("elsewhere/chunks_manifest.json")),
        only: Some(["leaf", "node"].map(|id| format!("cards/r/{id}.md")).into()),
        ..Options::default()
    };
    let project = Project::open(base.root().to_path_buf()).unwrap();
    let session = Session::open(project, options);
    let codes = |whole| -> Vec<&str> {
        let guides = session.guides_of(whole);
        guides.diagnostics.iter().map(|d| d.code.as_str()).collect()
    };
    let missing = ["CACG-ROLE-002"; 2];
    assert_eq!(codes(true), [&["CACG-SKILL-002"], &missing[..]].concat());
    assert_eq!(codes(false), missing);
}
