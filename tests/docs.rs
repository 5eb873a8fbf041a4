//! Pages under `docs/` that the program itself writes are what it writes today.
//!
//! `KB_BLESS=1 cargo test --test docs` writes them anew.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::Path;
use std::process::Command;

fn is_up_to_date(page: &str, arguments: &[&str]) {
    let output = Command::new(env!("CARGO_BIN_EXE_kb"))
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let today = String::from_utf8(output.stdout).unwrap();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(page);
    if std::env::var_os("KB_BLESS").is_some_and(|value| value == "1") {
        std::fs::write(&path, &today).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == today,
        "{page} is not what `kb {}` prints; KB_BLESS=1 writes it anew",
        arguments.join(" ")
    );
}

#[test]
fn the_page_of_diagnostics_is_up_to_date() {
    is_up_to_date("docs/diagnostics.md", &["explain", "--format", "markdown"]);
}

#[test]
fn the_schema_of_the_settings_is_up_to_date() {
    is_up_to_date("docs/kb.schema.json", &["config", "--schema"]);
}
