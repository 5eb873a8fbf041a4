//! The format for people: code and message, the offending line, the source's line, the next step.

use std::fmt;
use std::io::{self, Write};
use std::sync::Arc;

use kbc_queries::diagnostic::{Applicability, Diagnostic, Related, Severity};

use super::snippet::{Snippet, theme};
use super::visible::line;
use super::{Findings, RenderOptions};

pub(super) fn write(
    findings: &Findings<'_>,
    options: &RenderOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    for (diagnostic, text) in findings.all() {
        let block = block(diagnostic, text, options)
            .map_err(|_| io::Error::other("a diagnostic could not be drawn"))?;
        out.write_all(block.as_bytes())?;
        out.write_all(b"\n")?;
    }
    writeln!(out, "{}", findings.ledger)
}

/// Everything about one diagnostic.
fn block(
    diagnostic: &Diagnostic,
    text: Option<&Arc<str>>,
    options: &RenderOptions,
) -> Result<String, fmt::Error> {
    let paint = Paint {
        color: options.color,
    };
    let characters = theme(options).characters;
    let icon = match diagnostic.severity {
        Severity::Error => characters.error,
        Severity::Warning => characters.warning,
        Severity::Info => characters.advice,
    };
    let head = format!("{} {}", diagnostic.code, icon.trim());
    let mut block = format!(
        "{} {}\n",
        paint.severity(diagnostic.severity, &head),
        line(&diagnostic.message)
    );
    if let Some(file) = &diagnostic.file {
        block.push_str(&primary(diagnostic, file, text, options)?);
    }
    for related in &diagnostic.related {
        block.push_str(&place(related, options)?);
    }
    for fix in &diagnostic.fixes {
        let who = match fix.applicability {
            Applicability::Safe => "kb fix applies it",
            Applicability::Review => "look at it first",
        };
        block.push_str(&format!(
            "  {} {} ({who})\n",
            paint.help("fix:"),
            line(&fix.title)
        ));
    }
    block.push_str(&format!("  {} ", paint.help("help:")));
    if let Some(help) = &diagnostic.help {
        block.push_str(&format!("{}   ", line(help)));
    }
    block.push_str(&format!("kb explain {}\n", diagnostic.code));
    Ok(block)
}

/// The box of the diagnostic's own place.
fn primary(
    diagnostic: &Diagnostic,
    file: &str,
    text: Option<&Arc<str>>,
    options: &RenderOptions,
) -> Result<String, fmt::Error> {
    let label = diagnostic.label.as_deref();
    let Some(span) = diagnostic.span else {
        return Ok(empty_box(&line(file), label, options));
    };
    let heading = format!("{}:{}:{}", line(file), span.line, span.column);
    match text {
        Some(text) => Snippet::new(
            text,
            span.start..span.end,
            usize::try_from(span.line).ok(),
            options,
        )
        .draw(&heading, label, options),
        None => Ok(empty_box(&heading, label, options)),
    }
}

/// The box of a related place.
fn place(related: &Related, options: &RenderOptions) -> Result<String, fmt::Error> {
    let file = line(&related.file);
    let heading = match (related.page, related.span) {
        (Some(page), _) => format!("{file}, page {page}"),
        (None, Some(span)) => format!("{file}:{}:{}", span.line, span.column),
        (None, None) => file.into_owned(),
    };
    let label = Some(related.label.as_str()).filter(|label| !label.is_empty());
    let Some(excerpt) = &related.excerpt else {
        return Ok(empty_box(&heading, label, options));
    };
    let first_line = (excerpt.first_line > 0).then(|| {
        // The excerpt may begin before the mark; the drawing begins with the mark's line.
        let before = excerpt
            .text
            .get(..excerpt.text.floor_char_boundary(excerpt.start))
            .unwrap_or("");
        usize::try_from(excerpt.first_line)
            .unwrap_or(usize::MAX)
            .saturating_add(before.matches('\n').count())
    });
    Snippet::new(
        &excerpt.text,
        excerpt.start..excerpt.end,
        first_line,
        options,
    )
    .draw(&heading, label, options)
}

/// A box for a place whose text is not to be had.
fn empty_box(heading: &str, label: Option<&str>, options: &RenderOptions) -> String {
    let characters = theme(options).characters;
    let (top, bottom, bar, side) = (
        characters.ltop,
        characters.lbot,
        characters.hbar,
        characters.vbar_break,
    );
    match label {
        Some(label) => {
            let label = line(label);
            format!(
                "   {top}{bar}[{heading}]\n   {side} {label}\n   {bottom}{bar}{bar}{bar}{bar}\n"
            )
        }
        // Nothing is in the box, so it needs no walls.
        None => format!("   {bar}{bar}[{heading}]\n"),
    }
}

/// ANSI colours, where they are wanted.
struct Paint {
    color: bool,
}

impl Paint {
    fn severity(&self, severity: Severity, text: &str) -> String {
        let code = match severity {
            Severity::Error => "1;31",
            Severity::Warning => "1;33",
            Severity::Info => "1;36",
        };
        self.paint(code, text)
    }

    fn help(&self, text: &str) -> String {
        self.paint("36", text)
    }

    fn paint(&self, code: &str, text: &str) -> String {
        if self.color {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }
}
