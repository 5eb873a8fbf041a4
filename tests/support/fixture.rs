//! The notation of `fixtures/diagnostics/*/input.kb`: a project, and the command to run in it, in
//! one text.
//!
//! ```text
//! //! kb check => 1            the command, and the exit status it must have
//! //- sources/spec.md          a file; its lines follow
//! //~ matrix r spec            source_matrix.json: the reading `r` may cite `spec`
//! //~ text a.md "a\r\nb"       a file as a JSON string, for line ends and the like
//! //~ bytes a.pdf 25 50 44     a file as hexadecimal bytes
//! //~ sparse a.pdf 300000000   a file of so many zero bytes that takes no room
//! //~ dir a                    a folder
//! //~ link b a                 a symbolic link `a` to `b`
//! //~ remove a                 deletes a file or folder
//! //~ replace a.md "x" "y"     edits a file that is there
//! //~ run kb build => 0        a command before the command
//! //~ changes a.md             the file changes between the look at it and the reading of it
//! ```
//!
//! Steps are taken in order. In the lines of a file stand these, made of what is there by then:
//!
//! ```text
//! {{head a}}                   the required fields of a card with the id `a`, reading `r`
//! {{cite spec "words"}}        the fields of a citation of `words`, from the chunk that holds them
//! {{cite spec "words" as "q"}} the same with another quote
//! {{id spec "words"}}          the id of the chunk of `spec` that holds the words
//! {{hash spec "words"}}        its hash
//! {{file-hash a.md}}           SHA-256 of a file
//! {{xref /Root 1 0 R}}         a PDF's table of the objects so far, and a trailer with these entries
//! ```

use std::fs::{self, File};
use std::path::Path;

use kbc::session::{Options, Session};
use kbc::workspace::Project;
use kbc_queries::chunk::chunk_id;
use kbc_queries::commit::hash::sha256;

use crate::support::{kb, write};

/// A command line and its exit status.
#[derive(Clone, Debug)]
pub struct CommandLine {
    /// Arguments of `kb`.
    pub arguments: Vec<String>,
    /// Exit status.
    pub status: i32,
}

/// One step towards the project.
#[derive(Clone, Debug)]
enum Step {
    File(String, String),
    Directive(String),
}

/// A fixture's input.
#[derive(Clone, Debug)]
pub struct Input {
    /// What is run and looked at.
    pub command: CommandLine,
    /// The file that changes while it is read, if one does.
    pub changes: Option<String>,
    steps: Vec<Step>,
}

impl Input {
    /// Reads the notation. Panics with what is wrong: it is a test's input.
    pub fn parse(text: &str) -> Self {
        let mut command = None;
        let mut changes = None;
        let mut steps = Vec::new();
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("//! ") {
                assert!(command.is_none(), "two commands");
                command = Some(CommandLine::parse(rest));
            } else if let Some(path) = line.strip_prefix("//~ changes ") {
                changes = Some(path.to_owned());
            } else if let Some(rest) = line.strip_prefix("//~ ") {
                steps.push(Step::Directive(rest.to_owned()));
            } else if let Some(path) = line.strip_prefix("//- ") {
                steps.push(Step::File(path.to_owned(), String::new()));
            } else {
                match steps.last_mut() {
                    Some(Step::File(_, text)) => {
                        text.push_str(line);
                        text.push('\n');
                    }
                    _ => assert!(line.is_empty(), "a line outside any file: {line}"),
                }
            }
        }
        Input {
            command: command.expect("a line `//! kb … => status`"),
            changes,
            steps,
        }
    }

    /// Makes the project in an empty folder.
    pub fn build(&self, folder: &Path) {
        for step in &self.steps {
            match step {
                // Blank lines between two files are the notation's.
                Step::File(path, text) => {
                    let text = format!("{}\n", text.trim_end_matches('\n'));
                    write(&folder.join(path), expand(folder, &text));
                }
                Step::Directive(directive) => direct(folder, directive),
            }
        }
    }
}

impl CommandLine {
    fn parse(text: &str) -> Self {
        let (line, status) = text.split_once(" => ").expect("`=> status`");
        let mut words = line.split(' ');
        assert_eq!(words.next(), Some("kb"));
        CommandLine {
            arguments: words.map(str::to_owned).collect(),
            status: status.trim().parse().expect("an exit status"),
        }
    }
}

fn direct(folder: &Path, directive: &str) {
    let (verb, rest) = directive
        .split_once(' ')
        .expect("a directive and its object");
    let (path, value) = rest.split_once(' ').unwrap_or((rest, ""));
    let at = folder.join(path);
    match verb {
        "matrix" => {
            let sources: Vec<&str> = value.split(' ').filter(|id| !id.is_empty()).collect();
            let matrix =
                serde_json::json!({"allowed": {path: sources}, "schema_version": "cacg.v0"});
            write(&folder.join("source_matrix.json"), format!("{matrix}\n"));
        }
        "text" => {
            let text: String = serde_json::from_str(value).expect("a JSON string");
            write(&at, expand(folder, &text));
        }
        "bytes" => {
            let bytes = value
                .split(' ')
                .map(|byte| u8::from_str_radix(byte, 16).expect("a hexadecimal byte"));
            write(&at, bytes.collect::<Vec<u8>>());
        }
        "sparse" => {
            write(&at, []);
            let file = File::options()
                .write(true)
                .open(&at)
                .expect("the file is there");
            file.set_len(value.parse().expect("a number of bytes"))
                .expect("a sparse file");
        }
        "dir" => fs::create_dir_all(&at).expect("a folder"),
        #[cfg(unix)]
        "link" => {
            let link = folder.join(value);
            fs::create_dir_all(link.parent().expect("a path in the folder")).expect("a folder");
            std::os::unix::fs::symlink(path, link).expect("a link");
        }
        "remove" if at.is_dir() => fs::remove_dir_all(&at).expect("the folder is there"),
        "remove" => fs::remove_file(&at).expect("the file is there"),
        "replace" => {
            let mut texts = serde_json::Deserializer::from_str(value).into_iter::<String>();
            let mut next = || {
                texts
                    .next()
                    .expect("two JSON strings")
                    .expect("a JSON string")
            };
            let (old, new) = (next(), next());
            let text = fs::read_to_string(&at).expect("the file is there");
            assert!(text.contains(&old), "{path} has no `{old}`");
            write(&at, text.replacen(&old, &new, 1));
        }
        "run" => {
            let command = CommandLine::parse(rest);
            let arguments: Vec<&str> = command.arguments.iter().map(String::as_str).collect();
            let run = kb(folder, &arguments);
            assert_eq!(
                run.status, command.status,
                "{rest}\n{}{}",
                run.stdout, run.stderr
            );
            if command
                .arguments
                .first()
                .is_some_and(|verb| verb == "prove")
            {
                write(&folder.join("proof.json"), run.stdout);
            }
        }
        other => panic!("no directive `{other}`"),
    }
}

/// Fills in what stands in double braces.
fn expand(folder: &Path, text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, tail)) = rest.split_once("{{") {
        let (inside, after) = tail.split_once("}}").expect("`}}`");
        out.push_str(before);
        let indent = before
            .rsplit('\n')
            .next()
            .unwrap_or_default()
            .chars()
            .count();
        let filled = match inside.strip_prefix("xref ") {
            Some(trailer) => xref(&out, trailer),
            None => fill(folder, inside, indent),
        };
        out.push_str(&filled);
        rest = after;
    }
    out.push_str(rest);
    out
}

/// The end of a PDF whose objects `before` holds, numbered from 1 in their order.
fn xref(before: &str, trailer: &str) -> String {
    let offsets: Vec<usize> = before
        .match_indices(" 0 obj")
        .map(|(at, _)| before[..at].rfind('\n').map_or(0, |line| line + 1))
        .collect();
    let size = offsets.len() + 1;
    let mut table = format!("xref\n0 {size}\n0000000000 65535 f \n");
    for offset in offsets {
        table.push_str(&format!("{offset:010} 00000 n \n"));
    }
    let start = before.len();
    format!("{table}trailer\n<< /Size {size} {trailer} >>\nstartxref\n{start}\n%%EOF")
}

fn fill(folder: &Path, inside: &str, indent: usize) -> String {
    let (verb, rest) = inside.split_once(' ').expect("a word and its object");
    match verb {
        "head" => format!(
            "schema_version: \"cacg.v0\"\nid: \"{rest}\"\ntitle: \"The card {rest}\"\nreading_id: \"r\"\n\
             summary: \"What this card says, in a sentence that is as long as the format asks for: eighty characters.\""
        ),
        "file-hash" => sha256(&fs::read(folder.join(rest)).expect("the file is there")).to_string(),
        "cite" | "id" | "hash" => {
            let (source, words) = rest.split_once(' ').expect("a source and words");
            let (words, quote) = match words.split_once(" as ") {
                Some((words, quote)) => (words, quote),
                None => (words, words),
            };
            let words: String = serde_json::from_str(words).expect("words in quotes");
            let (page, ordinal, hash) = chunk(folder, source, &words);
            let id = chunk_id(source, page, ordinal);
            match verb {
                "id" => id,
                "hash" => hash,
                _ => {
                    let lines = [
                        format!("source_id: \"{source}\""),
                        format!("chunk_id: \"{id}\""),
                        format!("chunk_hash: \"{hash}\""),
                        format!("page_range: [{page}, {page}]"),
                        format!("quote: {quote}"),
                    ];
                    lines.join(&format!("\n{}", " ".repeat(indent)))
                }
            }
        }
        other => panic!("nothing is called `{other}`"),
    }
}

/// First page, ordinal and hash of the first chunk of a source that holds the words.
fn chunk(folder: &Path, source: &str, words: &str) -> (u32, u32, String) {
    let project = Project::open(folder.to_path_buf()).expect("a project");
    let options = Options {
        no_cache: true,
        ..Options::default()
    };
    let mut session = Session::look_only(project, options);
    let id = session.source_named(source).expect("a source");
    let (texts, hashes) = session.chunk_texts(&id).expect("chunks");
    let found = texts
        .iter()
        .zip(&hashes)
        .find(|((_, _, text), _)| text.contains(words));
    let Some(((page, ordinal, _), hash)) = found else {
        panic!("no chunk of {source} holds {words:?}: {texts:?}");
    };
    (*page, *ordinal, hash.to_string())
}
