//! Nothing is no success: an empty project is more likely one that is not where it was looked for.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::process::{Command, Output};

fn kb(folder: &std::path::Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_kb"))
        .args(arguments)
        .arg("--project")
        .arg(folder)
        .output()
        .unwrap()
}

#[test]
fn an_empty_folder_is_neither_checked_nor_built() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, word) in [
        (["check"].as_slice(), "nothing was checked"),
        (["build"].as_slice(), "nothing to compile"),
    ] {
        let output = kb(folder.path(), arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(word), "{said}");
    }
    assert!(!folder.path().join("out").exists());
    for arguments in [["check", "--allow-empty"], ["build", "--allow-empty"]] {
        assert_eq!(kb(folder.path(), &arguments).status.code(), Some(0));
    }
    assert!(folder.path().join("out/index_manifest.json").exists());
}
