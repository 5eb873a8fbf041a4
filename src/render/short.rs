//! One line per diagnostic, in the shape that editors and `grep` know.

use std::io::{self, Write};

use kbc_queries::diagnostic::Severity;

use super::visible::line;
use super::{Findings, RenderOptions};

pub(super) fn write(
    findings: &Findings<'_>,
    options: &RenderOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    for (diagnostic, _) in findings.all() {
        match (&diagnostic.file, diagnostic.span) {
            (Some(file), Some(span)) => {
                write!(out, "{}:{}:{}: ", line(file), span.line, span.column)?
            }
            (Some(file), None) => write!(out, "{}: ", line(file))?,
            (None, _) => {}
        }
        let (on, off) = match (options.color, diagnostic.severity) {
            (false, _) => ("", ""),
            (true, Severity::Error) => ("\u{1b}[1;31m", "\u{1b}[0m"),
            (true, Severity::Warning) => ("\u{1b}[1;33m", "\u{1b}[0m"),
            (true, Severity::Info) => ("\u{1b}[1;36m", "\u{1b}[0m"),
        };
        writeln!(
            out,
            "{on}{}{off} {} {}",
            diagnostic.severity,
            diagnostic.code,
            line(&diagnostic.message)
        )?;
    }
    writeln!(out, "{}", findings.ledger)
}
