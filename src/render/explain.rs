//! What a code means: the text of `kb explain`, and the list of all codes.

use std::fmt::Write as _;

use kbc_queries::diagnostic::registry::{self, Entry, Status, Weight};
use serde_json::{Value, json};

/// Characters to a line of an explanation on a terminal.
const WIDTH: usize = 80;

/// The explanation of a code for a terminal: its text as it is, examples indented.
pub fn text(entry: &Entry) -> String {
    let mut text = format!("{}: {}\n\n", entry.code, entry.title);
    let _ = writeln!(
        text,
        "{}",
        filled(&format!("Severity: {}.", severity(entry)))
    );
    if let Status::Reserved(reason) = entry.status {
        let _ = writeln!(text, "{}", filled(&format!("Not reported: {reason}.")));
    }
    let _ = writeln!(text, "\n{}", filled(entry.explanation));
    for (heading, example) in examples(entry) {
        let _ = writeln!(text, "\n{heading}:\n");
        for line in example.lines() {
            let _ = writeln!(text, "{}", format!("    {line}").trim_end());
        }
    }
    text
}

/// The explanation of a code in Markdown, for documentation pages and editors.
pub fn markdown(entry: &Entry) -> String {
    let mut text = format!("# {}: {}\n\n", entry.code, entry.title);
    let _ = writeln!(text, "Severity: {}.", severity(entry));
    if let Status::Reserved(reason) = entry.status {
        let _ = writeln!(text, "\nNot reported: {reason}.");
    }
    let _ = writeln!(text, "\n{}", entry.explanation);
    for (heading, example) in examples(entry) {
        let _ = writeln!(
            text,
            "\n{heading}:\n\n```{}\n{}\n```",
            entry.language,
            example.trim_end()
        );
    }
    text
}

/// The explanation of a code for programs.
pub fn json(entry: &Entry) -> Value {
    json!({
        "code": entry.code,
        "title": entry.title,
        "severity": entry.severity,
        "may_be_lowered": !entry.verdict(),
        "reserved": match entry.status {
            Status::Active => None,
            Status::Reserved(reason) => Some(reason),
        },
        "explanation": entry.explanation,
        "language": entry.language,
        "failing": entry.failing,
        "corrected": entry.corrected,
    })
}

/// Every code with its severity and title, one on a line.
pub fn list() -> String {
    let mut text = String::new();
    for entry in registry::all() {
        let reserved = if entry.is_reserved() {
            " (reserved)"
        } else {
            ""
        };
        let _ = writeln!(
            text,
            "{:<18} {:<7} {}{reserved}",
            entry.code.as_str(),
            entry.severity.to_string(),
            entry.title
        );
    }
    text
}

/// What to say of a text that is no code, with the codes that may have been meant.
pub fn unknown(text: &str) -> String {
    let mut message = format!("there is no code `{}`", super::visible::line(text));
    let near: Vec<&str> = registry::nearest(text, 3)
        .into_iter()
        .map(|entry| entry.code.as_str())
        .collect();
    if near.is_empty() {
        message.push_str("; `kb explain` lists them all");
    } else {
        let _ = write!(message, "; did you mean {}?", near.join(" or "));
    }
    message
}

/// Breaks a paragraph at spaces into lines of at most [`WIDTH`] characters, where its words allow.
fn filled(paragraph: &str) -> String {
    let mut result = String::with_capacity(paragraph.len() + 8);
    let mut used = 0;
    for word in paragraph.split(' ') {
        let length = word.chars().count();
        if used > 0 && used + 1 + length > WIDTH {
            result.push('\n');
            used = 0;
        } else if used > 0 {
            result.push(' ');
            used += 1;
        }
        result.push_str(word);
        used += length;
    }
    result
}

fn severity(entry: &Entry) -> String {
    match entry.weight {
        Weight::Verdict => format!(
            "{}; while it stands something is not verified, so no setting lowers it",
            entry.severity
        ),
        Weight::Finding => format!(
            "{}; `[diagnostics]` in kb.toml may change it",
            entry.severity
        ),
    }
}

fn examples(entry: &Entry) -> impl Iterator<Item = (&'static str, &'static str)> {
    [("Fails", entry.failing), ("Corrected", entry.corrected)]
        .into_iter()
        .filter(|(_, example)| !example.is_empty())
}
