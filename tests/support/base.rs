//! A small knowledge base that a test edits and checks.
#![allow(dead_code, reason = "each test file uses a part of it")]

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::{Run, kb, write};

/// A knowledge base in a folder of its own.
pub struct Base {
    folder: tempfile::TempDir,
}

/// What a check says of one thing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Said {
    /// The code without `CACG-`.
    pub code: String,
    /// `data.state`, or nothing.
    pub state: String,
    /// Whether a safe fix comes with it.
    pub fixable: bool,
}

impl Base {
    /// An empty one, whose reading `r` may cite these sources.
    pub fn new(settings: &str, sources: &[&str]) -> Self {
        let base = Base {
            folder: tempfile::tempdir().unwrap(),
        };
        base.write("kb.toml", settings);
        let matrix = serde_json::json!({"allowed": {"r": sources}, "schema_version": "cacg.v0"});
        base.write("source_matrix.json", &format!("{matrix}\n"));
        base
    }

    pub fn root(&self) -> &Path {
        self.folder.path()
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.root().join(path)
    }

    pub fn write(&self, path: &str, text: &str) {
        write(&self.path(path), text);
    }

    pub fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.path(path)).unwrap()
    }

    /// Replaces a text that is there by another.
    pub fn edit(&self, path: &str, from: &str, to: &str) {
        let text = self.read(path);
        assert!(text.contains(from), "{path} has no {from:?}");
        self.write(path, &text.replacen(from, to, 1));
    }

    pub fn rename(&self, from: &str, to: &str) {
        std::fs::create_dir_all(self.path(to).parent().unwrap()).unwrap();
        std::fs::rename(self.path(from), self.path(to)).unwrap();
    }

    pub fn kb(&self, arguments: &[&str]) -> Run {
        kb(self.root(), arguments)
    }

    /// Runs a command that must end with this status.
    pub fn run(&self, arguments: &[&str], status: i32) -> Run {
        let run = self.kb(arguments);
        assert_eq!(
            run.status, status,
            "kb {arguments:?}\n{}{}",
            run.stdout, run.stderr
        );
        run
    }

    /// The text of a card whose citations are these lines.
    pub fn card_text(id: &str, citations: &str) -> String {
        format!(
            "---\nschema_version: \"kb.v1\"\nid: {id}\ntitle: The card {id}\nreading_id: r\nsummary: \"{}\"\ncitations:\n{citations}\n---\nWhat it says.\n",
            "What this card says, in a sentence that is as long as the format asks for: eighty characters."
        )
    }

    /// Writes a card that cites these words, pins it, and publishes.
    pub fn cite(&self, id: &str, source: &str, quote: &str) {
        let quote = format!("  - source_id: {source}\n    quote: \"{quote}\"");
        self.write(&format!("cards/{id}.md"), &Self::card_text(id, &quote));
        self.run(&["fix"], 0);
        self.run(&["build"], 0);
    }

    /// The lines of a check in JSON; the last is the ledger.
    pub fn check(&self) -> Vec<Value> {
        self.kb(&["check", "--format", "json"])
            .stdout
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// What a check says, without infos.
    pub fn said(&self) -> Vec<Said> {
        let mut said: Vec<Said> = self
            .check()
            .iter()
            .filter(|line| line["severity"] == "error" || line["severity"] == "warning")
            .map(|line| Said {
                code: line["code"].as_str().unwrap().replace("CACG-", ""),
                state: line["data"]["state"]
                    .as_str()
                    .unwrap_or_default()
                    .to_owned(),
                fixable: line["fixes"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .any(|fix| fix["applicability"] == "safe"),
            })
            .collect();
        said.sort();
        said
    }

    /// What the finding about a source that is read or cut anew counts: kept, relocated, changed, lost.
    pub fn migration(&self, path: &str) -> [u64; 4] {
        let lines = self.check();
        let found: Vec<&Value> = lines
            .iter()
            .filter(|line| line["code"] == "CACG-SRC-009" && line["file"] == path)
            .collect();
        assert_eq!(found.len(), 1, "{lines:?}");
        ["kept", "relocated", "changed", "lost"].map(|key| found[0]["data"][key].as_u64().unwrap())
    }

    /// How many citations are verified.
    pub fn verified(&self) -> u64 {
        let lines = self.check();
        let ledger = &lines.last().unwrap()["ledger"];
        ["exact", "normalized", "elided"]
            .iter()
            .map(|class| ledger[class].as_u64().unwrap())
            .sum()
    }
}

/// One finding.
pub fn said(code: &str, state: &str, fixable: bool) -> Said {
    Said {
        code: code.to_owned(),
        state: state.to_owned(),
        fixable,
    }
}
