//! Workflow commands of GitHub Actions, which it shows beside the changed lines.
//!
//! Format and escapes: GitHub's documentation of workflow commands and the `toolkit` that writes them.
//! In a message `%`, CR and LF are escaped; in a property also `:` and `,`.

use std::io::{self, Write};

use kbc_queries::diagnostic::Severity;

use super::Findings;

pub(super) fn write(findings: &Findings<'_>, out: &mut dyn Write) -> io::Result<()> {
    for (diagnostic, _) in findings.all() {
        let command = match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "notice",
        };
        write!(out, "::{command} ")?;
        if let Some(file) = &diagnostic.file {
            write!(out, "file={},", property(file))?;
            if let Some(span) = diagnostic.span {
                write!(out, "line={},", span.line)?;
                if span.end_line == span.line {
                    write!(out, "col={},endColumn={},", span.column, span.end_column)?;
                } else {
                    // Columns mean nothing to GitHub when a range has several lines.
                    write!(out, "endLine={},", span.end_line)?;
                }
            }
        }
        write!(
            out,
            "title={}::{}",
            property(diagnostic.code.as_str()),
            message(&diagnostic.message)
        )?;
        if let Some(help) = &diagnostic.help {
            write!(out, "%0Ahelp: {}", message(help))?;
        }
        writeln!(out)?;
    }
    writeln!(out, "{}", findings.ledger)
}

/// Escapes the text after `::`.
fn message(text: &str) -> String {
    escaped(text, false)
}

/// Escapes a property's value.
fn property(text: &str) -> String {
    escaped(text, true)
}

fn escaped(text: &str, property: bool) -> String {
    let mut result = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '%' => result.push_str("%25"),
            '\r' => result.push_str("%0D"),
            '\n' => result.push_str("%0A"),
            ':' if property => result.push_str("%3A"),
            ',' if property => result.push_str("%2C"),
            _ => super::visible::push(&mut result, character),
        }
    }
    result
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;

    #[test]
    fn escapes() {
        assert_eq!(message("50% a:b,c\r\nd"), "50%25 a:b,c%0D%0Ad");
        assert_eq!(property("a:b,c%d\ne"), "a%3Ab%2Cc%25d%0Ae");
        assert_eq!(
            message("x\n::set-output name=a::b"),
            "x%0A::set-output name=a::b"
        );
    }
}
