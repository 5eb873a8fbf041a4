//! Sentences that one PDF extractor reads, looked for in what another one reads: ours and `pdftotext`.
//!
//! A citation must not be lost because somebody extracts the same file with another program. What is
//! counted is the share of the sentences that stand in their own text and also in the other one.

use std::path::{Path, PathBuf};
use std::process::Command;

use kbc_queries::parse::document::{ExtractOptions, Format, extract};
use kbc_queries::text::quote::{Matcher, Options, Passage, Quote};

use crate::target;

/// Per cent of the verdicts that are kept, at least.
const GOAL: f64 = 99.0;

/// A text with the places where its pages begin.
struct Read {
    text: String,
    page_starts: Vec<usize>,
}

fn ours(bytes: &[u8]) -> Option<Read> {
    let document = extract(bytes, &ExtractOptions::new(Format::Pdf)).ok()?;
    Some(Read {
        page_starts: document
            .pages
            .iter()
            .skip(1)
            .map(|page| page.start)
            .collect(),
        text: document.text.into(),
    })
}

/// What `pdftotext` reads; its pages are separated by form feeds.
fn theirs(path: &Path) -> Option<Read> {
    let output = Command::new("pdftotext")
        .args(["-enc", "UTF-8", "-q"])
        .arg(path)
        .arg("-")
        .output()
        .ok()?;
    Some(Read {
        text: String::from_utf8(output.stdout).ok()?,
        page_starts: Vec::new(),
    })
}

/// Sentences of running text: within one paragraph, between two full stops, with enough words to say something.
fn sentences(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for paragraph in text.split("\n\n").flat_map(|part| part.split('\u{c}')) {
        // What stands before the first full stop may be a heading or the end of a sentence.
        let mut ends = paragraph
            .match_indices(['.', '!', '?'])
            .filter(|(at, _)| paragraph[at + 1..].starts_with([' ', '\n']))
            .map(|(at, _)| at + 1);
        let Some(mut start) = ends.next() else {
            continue;
        };
        for end in ends {
            let sentence = paragraph[start..end].trim();
            let words = sentence.split_whitespace().count();
            let letters = sentence.chars().filter(|c| c.is_alphabetic()).count();
            if (6..60).contains(&words) && letters * 10 > sentence.len() * 7 {
                found.push(sentence);
            }
            start = end;
        }
    }
    found
}

/// How many sentences of `from` stand there, how many of these in `to`, and some that do not.
fn kept<'a>(from: &'a Read, to: &Read) -> (usize, usize, Vec<(&'a str, String)>) {
    let matcher = |read: &'a Read| {
        Matcher::new(Passage {
            page_starts: Some(&read.page_starts),
            ..Passage::whole(&read.text)
        })
    };
    let own = matcher(from);
    let other = Matcher::new(Passage {
        page_starts: Some(&to.page_starts),
        ..Passage::whole(&to.text)
    });
    let (mut all, mut stand, mut lost) = (0, 0, Vec::new());
    for sentence in sentences(&from.text) {
        let quote = Quote::new(sentence);
        if !own.check(&quote, Options::default()).verified() {
            continue;
        }
        all += 1;
        let verdict = other.check(&quote, Options::default());
        if verdict.verified() {
            stand += 1;
        } else {
            let why = match verdict.nearest() {
                Some(nearest) => nearest.decides.clone(),
                None => format!("{:?} {:?}", verdict.class(), verdict.flags()),
            };
            lost.push((sentence, why));
        }
    }
    (all, stand, lost)
}

/// The PDFs of this repository, and those of the folder that `KBC_PDFS` names.
fn files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![
        root.join("examples/httpd/sources"),
        root.join("fixtures/sources"),
    ];
    folders.extend(std::env::var_os("KBC_PDFS").map(PathBuf::from));
    let mut files: Vec<PathBuf> = folders
        .iter()
        .filter_map(|folder| std::fs::read_dir(folder).ok())
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "pdf"))
        // It is there to be refused.
        .filter(|path| path.file_name().is_some_and(|name| name != "bomb.pdf"))
        .collect();
    files.sort();
    files
}

pub fn run() {
    if Command::new("pdftotext").arg("-v").output().is_err() {
        println!("SKIPPED: `pdftotext` is not installed, so there is no second extractor.");
        return;
    }
    let show = std::env::var_os("KBC_SHOW").is_some();
    println!(
        "| {:<28} | {:>9} | {:>7} | {:>9} | {:>7} |",
        "", "ours", "kept %", "theirs", "kept %"
    );
    println!(
        "|{:-<30}|{:->11}|{:->9}|{:->11}|{:->9}|",
        "", ":", ":", ":", ":"
    );
    let share = |kept: usize, all: usize| kept as f64 * 100.0 / (all as f64).max(1.0);
    let (mut all, mut stand) = (0, 0);
    for path in files() {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let bytes = std::fs::read(&path).unwrap_or_default();
        let (Some(ours), Some(theirs)) = (ours(&bytes), theirs(&path)) else {
            println!("| {name:<28} | not read");
            continue;
        };
        let (there, here) = (kept(&ours, &theirs), kept(&theirs, &ours));
        println!(
            "| {name:<28} | {:>9} | {:>7.2} | {:>9} | {:>7.2} |",
            there.0,
            share(there.1, there.0),
            here.0,
            share(here.1, here.0)
        );
        all += there.0 + here.0;
        stand += there.1 + here.1;
        if show {
            for (side, lost) in [("ours", there.2), ("theirs", here.2)] {
                for (sentence, why) in lost {
                    println!("  {side}: {sentence:?}\n      {why}");
                }
            }
        }
    }
    println!();
    let text = format!(
        "{stand} of {all} verdicts kept ({:.2} %), at least {GOAL:.0} %",
        share(stand, all)
    );
    target(&text, share(stand, all) >= GOAL);
}
