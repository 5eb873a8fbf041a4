//! A PDF that unpacks to gigabytes costs its own citations and nothing else.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs;
use std::path::Path;
use std::process::Command;

/// `bomb.pdf` is 11 KB; its one page unpacks to 6 GB of spaces, through two Flate filters.
#[test]
fn a_decompression_bomb_is_a_damaged_source_and_the_run_goes_on() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/sources");
    let folder = tempfile::tempdir().unwrap();
    let sources = folder.path().join("sources");
    fs::create_dir(&sources).unwrap();
    fs::copy(fixtures.join("bomb.pdf"), sources.join("bomb.pdf")).unwrap();
    fs::copy(fixtures.join("handbook.pdf"), sources.join("handbook.pdf")).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_kb"))
        .args(["check", "--allow-empty", "--format", "short", "--project"])
        .arg(folder.path())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{text}");
    let findings: Vec<&str> = text
        .lines()
        .filter(|line| line.contains(" CACG-"))
        .collect();
    let [finding] = findings.as_slice() else {
        panic!("one finding, about the bomb alone:\n{text}");
    };
    assert!(
        finding.starts_with("sources/bomb.pdf: error CACG-SRC-003"),
        "{finding}"
    );
}
