//! One JSON object per line: the diagnostics, then `{"ledger": …}`. Schema: `docs/diagnostic.schema.json`.

use std::collections::BTreeMap;
use std::io::{self, Write};

use kbc_queries::diagnostic::{Code, Fix, Ledger, Related, Severity, Span};
use serde::Serialize;

use super::Findings;
use super::visible::is_hazard;

/// A diagnostic as a line.
#[derive(Serialize)]
struct Line<'a> {
    code: Code,
    severity: Severity,
    message: &'a str,
    file: Option<&'a str>,
    span: Option<Span>,
    related: &'a [Related],
    help: Option<&'a str>,
    fixes: &'a [Fix],
    data: BTreeMap<&'a str, &'a serde_json::Value>,
    fingerprint: &'a str,
}

/// The last line.
#[derive(Serialize)]
struct Last {
    ledger: Ledger,
}

pub(super) fn write(findings: &Findings<'_>, out: &mut dyn Write) -> io::Result<()> {
    for ((diagnostic, _), fingerprint) in findings.all().zip(&findings.fingerprints()) {
        write_line(
            out,
            &Line {
                code: diagnostic.code,
                severity: diagnostic.severity,
                message: &diagnostic.message,
                file: diagnostic.file.as_deref(),
                span: diagnostic.span,
                related: &diagnostic.related,
                help: diagnostic.help.as_deref(),
                fixes: &diagnostic.fixes,
                data: diagnostic
                    .data
                    .iter()
                    .map(|(key, value)| (key.as_str(), value))
                    .collect(),
                fingerprint,
            },
        )?;
    }
    write_line(
        out,
        &Last {
            ledger: findings.ledger,
        },
    )
}

/// One value as one line without its end. What a terminal would obey is escaped.
pub(super) fn line(value: &impl Serialize) -> String {
    let mut bytes = Vec::new();
    // Values of ours have no maps with keys that are no texts, and memory takes every write.
    let _ = write_line(&mut bytes, value);
    bytes.pop();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// One value on one line. What a terminal would obey is escaped, which JSON allows in its strings.
pub(super) fn write_line(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    let json = serde_json::to_string(value)?;
    let mut rest = json.as_str();
    while let Some(at) = rest.find(is_hazard) {
        let (clean, tail) = rest.split_at(at);
        out.write_all(clean.as_bytes())?;
        let mut characters = tail.chars();
        if let Some(hazard) = characters.next() {
            for unit in hazard.encode_utf16(&mut [0; 2]) {
                write!(out, "\\u{unit:04x}")?;
            }
        }
        rest = characters.as_str();
    }
    out.write_all(rest.as_bytes())?;
    out.write_all(b"\n")
}
