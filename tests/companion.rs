//! What `examples/companion/README.md` shows is what happens.
//!
//! A `console` block holds commands for `sh` behind `$ ` and what they print, stdout before stderr.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs;
use std::path::Path;
use std::process::Command;

/// Commands with what the page says they print.
fn sessions(page: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let mut inside = false;
    for line in page.lines() {
        if line.starts_with("```") {
            inside = line == "```console";
        } else if inside && let Some(command) = line.strip_prefix("$ ") {
            found.push((command.to_owned(), String::new()));
        } else if inside {
            let (_, output) = found.last_mut().unwrap();
            output.push_str(line);
            output.push('\n');
        }
    }
    found
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[test]
fn the_walk_through_of_companion_cards() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/companion");
    let folder = tempfile::tempdir().unwrap();
    copy(&example, folder.path());
    let program = Path::new(env!("CARGO_BIN_EXE_kb")).parent().unwrap();
    let path = std::env::var("PATH").unwrap();
    let commands = sessions(&fs::read_to_string(example.join("README.md")).unwrap());
    assert!(commands.len() >= 4, "{commands:?}");
    for (command, expected) in commands {
        let output = Command::new("sh")
            .args(["-c", &command])
            .current_dir(folder.path())
            .env_clear()
            .env("PATH", format!("{}:{path}", program.display()))
            .env("LANG", "C.UTF-8")
            .output()
            .unwrap();
        let mut text = String::from_utf8(output.stdout).unwrap();
        text.push_str(&String::from_utf8(output.stderr).unwrap());
        assert_eq!(text, expected, "{command}");
    }
}
