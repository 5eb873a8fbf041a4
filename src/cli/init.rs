//! `kb init`: a knowledge base with a first card and a first source that verify.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;

use kbc_queries::chunk::chunk_id;

use crate::session::{Options, Session};
use crate::workspace::Project;

use super::{CommandResult, Failure, Outcome, World};

/// Start a knowledge base: settings, a first source and a first card that verify
///
/// Overwrites nothing.
#[derive(Args)]
#[command(after_help = "Example:\n  kb init my-kb\n  cd my-kb\n  kb check")]
pub struct Arguments {
    /// The folder; made if it is not there
    #[arg(default_value = ".")]
    folder: PathBuf,
}

const SETTINGS: &str = r#"# What is a source, what is a card, and how strict to be.
# `kb config` prints every setting in force; `kb config --schema` prints a schema for your editor.

profile = "strict"

[[collection]]
name = "sources"
include = ["sources/**"]

[cards]
include = ["cards/**/*.md"]
"#;

const SOURCE: &str = r"# How a citation is checked

A card quotes its sources word for word.
The quote has to stand in the cited chunk, on the cited pages, and the chunk has to be the one that was cited.

## When a source changes

Every chunk is pinned by a hash.
An edited chunk makes the citations of that chunk suspect until somebody looks at them again.
";

const QUOTE: &str = "A card quotes its sources word for word.";

const MATRIX: &str = r#"{"allowed":{"handbook":["how_a_citation_is_checked"]},"schema_version":"cacg.v0"}
"#;

const FILES: [&str; 4] = [
    "kb.toml",
    "source_matrix.json",
    "sources/how-a-citation-is-checked.md",
    "cards/handbook/quotes-are-literal.md",
];

/// Runs the command.
pub fn run(world: &World, arguments: &Arguments) -> CommandResult {
    let root = crate::workspace::plain(&world.current.join(&arguments.folder));
    for file in FILES {
        if root.join(file).exists() {
            return Err(Failure(format!(
                "{} is already there; `kb init` overwrites nothing",
                root.join(file).display()
            )));
        }
    }
    let [settings, matrix, source, card] = FILES;
    write(&root, settings, SETTINGS)?;
    write(&root, matrix, MATRIX)?;
    write(&root, source, SOURCE)?;
    // The card's ids and hashes come from compiling the source, as they would for any other card.
    let text = first_card(&root)?;
    write(&root, card, &text)?;
    let ignore = root.join(".gitignore");
    if !ignore.exists() {
        write(&root, ".gitignore", ".kb/\n")?;
    }
    let shown = arguments.folder.display();
    super::say(&format!(
        "made {shown}: {}\n\nnext:\n  {}kb check",
        FILES.join(", "),
        if arguments.folder.as_os_str() == "." {
            String::new()
        } else {
            format!("cd {shown}\n  ")
        }
    ))?;
    Ok(Outcome::Fine)
}

fn write(root: &Path, name: &str, text: &str) -> Result<(), Failure> {
    let path = root.join(name);
    let wrong =
        |error: std::io::Error| Failure(format!("cannot write {}: {error}", path.display()));
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(wrong)?;
    }
    // A file that appeared in the meantime is not overwritten either.
    let mut file = fs::File::create_new(&path).map_err(wrong)?;
    file.write_all(text.as_bytes()).map_err(wrong)
}

fn first_card(root: &Path) -> Result<String, Failure> {
    let project = Project::open(root.to_path_buf())?;
    let mut session = Session::look_only(
        project,
        Options {
            no_cache: true,
            ..Options::default()
        },
    );
    let id = session
        .source_named("how_a_citation_is_checked")
        .map_err(Failure)?;
    let (texts, hashes) = session.chunk_texts(&id).map_err(Failure)?;
    let found = texts
        .iter()
        .zip(&hashes)
        .find(|((_, _, text), _)| text.contains(QUOTE));
    let Some(((page, ordinal, _), hash)) = found else {
        return Err(Failure(
            "the first source does not hold the first quote".to_owned(),
        ));
    };
    Ok(format!(
        r#"---
schema_version: "cacg.v0"
id: "quotes-are-literal"
title: "Quotes are literal"
reading_id: "handbook"
summary: "A citation quotes its source word for word; kb finds the words in the cited chunk or says what differs."
tags: ["citations"]
citations:
  - source_id: "{id}"
    chunk_id: "{}"
    chunk_hash: "{hash}"
    page_range: [1, 1]
    quote: "{QUOTE}"
---
What a card claims rests on words that stand in a source. Change one word of the quote above, run
`kb check` again, and see what it says.
"#,
        chunk_id(&id, *page, *ordinal)
    ))
}
