//! JUnit XML: one suite, one case per file with findings, one for the project, one for the ledger.

use std::io::{self, Write};

use kbc_queries::diagnostic::{Diagnostic, Severity};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::Findings;
use super::visible::{Layout, line, text};

pub(super) fn write(findings: &Findings<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut suite = TestSuite::new("kb");
    for group in &findings.files {
        suite.add_test_case(case(group.file.unwrap_or("(project)"), &group.diagnostics));
    }
    let mut ledger = TestCase::new("(ledger)", TestCaseStatus::success());
    ledger.set_classname("kb");
    ledger.set_system_out(findings.ledger.to_string());
    suite.add_test_case(ledger);
    let mut report = Report::new("kb");
    report.add_test_suite(suite);
    report.serialize(out).map_err(unwrapped)
}

/// The case of one file: it fails if one of its findings is an error.
fn case(name: &str, diagnostics: &[&Diagnostic]) -> TestCase {
    let mut listing = String::new();
    for diagnostic in diagnostics {
        if let Some(span) = diagnostic.span {
            listing.push_str(&format!("{}:{}: ", span.line, span.column));
        }
        listing.push_str(&format!(
            "{} {} {}\n",
            diagnostic.severity,
            diagnostic.code,
            line(&diagnostic.message)
        ));
        if let Some(help) = &diagnostic.help {
            listing.push_str(&format!("  help: {}\n", line(help)));
        }
    }
    let first = diagnostics
        .iter()
        .find(|diagnostic| diagnostic.severity == Severity::Error);
    let status = match first {
        Some(first) => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            status.set_type(first.code.as_str());
            status.set_message(line(&first.message));
            status.set_description(&listing);
            status
        }
        None => TestCaseStatus::success(),
    };
    let mut case = TestCase::new(text(name, Layout::OneLine), status);
    case.set_classname("kb");
    if first.is_none() {
        case.set_system_out(listing);
    }
    case
}

/// The I/O error inside an error of the XML writer, so that a broken pipe is known as one.
fn unwrapped(error: quick_junit::SerializeError) -> io::Error {
    let mut source: Option<&(dyn std::error::Error + 'static)> = Some(&error);
    while let Some(inner) = source {
        if let Some(io) = inner.downcast_ref::<io::Error>() {
            return io::Error::new(io.kind(), io.to_string());
        }
        if let Some(shared) = inner.downcast_ref::<std::sync::Arc<io::Error>>() {
            return io::Error::new(shared.kind(), shared.to_string());
        }
        source = inner.source();
    }
    io::Error::other(error)
}
