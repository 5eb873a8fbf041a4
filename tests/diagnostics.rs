//! Every diagnostic code through the program: what it prints, in every format, where it points, and
//! whether its fixes mend what it reports.
//!
//! A fixture is a folder of `fixtures/diagnostics`, named after its code and, where a code has
//! several, a word behind a dot. `KB_BLESS=1` writes the expected files anew; what it wrote is to be
//! read before it is committed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "support/fixture.rs"]
mod fixture;
mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use kbc::render::{Format, RenderOptions, render};
use kbc::session::{Options, Progress, Session};
use kbc::workspace::Project;
use kbc_queries::diagnostic::{Applicability, Fix, Related, Severity, Span, registry};
use rayon::prelude::*;
use serde::Deserialize;

use fixture::Input;
use support::{Run, kb};

/// Name of a format on the command line, and of its expected file.
const FORMATS: [(&str, &str, Format); 6] = [
    ("full", "full.txt", Format::Full),
    ("short", "short.txt", Format::Short),
    ("json", "json", Format::Json),
    ("sarif", "sarif.json", Format::Sarif),
    ("github", "github.txt", Format::Github),
    ("junit", "junit.xml", Format::Junit),
];

/// Commands that print no report: what they say of a code is a line on stderr, or prose.
const WITHOUT_FORMATS: [&str; 16] = [
    "history",
    "index",
    "ingest",
    "journal",
    "matrix",
    "migrate-summaries",
    "new",
    "retract",
    "retract-chunk",
    "retract-source",
    "scaffold-matrix",
    "scaffold-role-map",
    "search",
    "show",
    "unretract",
    "verify-proof",
];

/// Codes whose mark may be an empty range, and why. No one needs it today.
const MAY_BE_EMPTY: [(&str, &str); 0] = [];

/// Codes of what a run had to mend before it began. They are said on stderr: what it reports is what
/// a run reports that had nothing to mend.
const NOTES: [&str; 2] = ["CACG-CACHE-001", "CACG-BUILD-003"];

/// A line of `--format json`.
#[derive(Clone, Debug, Deserialize)]
struct Line {
    code: String,
    severity: Severity,
    message: String,
    file: Option<String>,
    span: Option<Span>,
    related: Vec<Related>,
    help: Option<String>,
    fixes: Vec<Fix>,
}

/// A folder of fixtures.
struct Fixture {
    name: String,
    folder: PathBuf,
    input: Input,
}

impl Fixture {
    fn all() -> Vec<Fixture> {
        let mut all: Vec<Fixture> = fs::read_dir(support::fixtures().join("diagnostics"))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.is_dir())
            .map(|folder| {
                let text = fs::read_to_string(folder.join("input.kb")).unwrap();
                Fixture {
                    name: folder.file_name().unwrap().to_str().unwrap().to_owned(),
                    input: Input::parse(&text),
                    folder,
                }
            })
            .collect();
        all.sort_by(|a, b| a.name.cmp(&b.name));
        all
    }

    /// The code that the fixture is about.
    fn code(&self) -> &'static str {
        let short = self.name.split('.').next().unwrap();
        registry::find(short)
            .unwrap_or_else(|| panic!("{} is named after no code", self.name))
            .code
            .as_str()
    }

    fn expected(&self, name: &str) -> PathBuf {
        self.folder.join(format!("expected.{name}"))
    }

    /// A command that prints no report has no formats.
    fn has_formats(&self) -> bool {
        self.input
            .command
            .arguments
            .first()
            .is_none_or(|verb| !WITHOUT_FORMATS.contains(&verb.as_str()))
    }

    /// Makes the project in a folder of its own.
    fn project(&self) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        self.input.build(folder.path());
        folder
    }

    fn run_in(&self, project: &Path, format: (&str, &str, Format)) -> Run {
        if let Some(path) = &self.input.changes {
            return run_while_changing(project, path, format.2);
        }
        let mut arguments: Vec<&str> = self
            .input
            .command
            .arguments
            .iter()
            .map(String::as_str)
            .collect();
        if self.has_formats() {
            arguments.extend(["--format", format.0]);
        }
        let mut run = kb(project, &arguments);
        if !self.has_formats() {
            run.stdout.push_str(&run.stderr);
        }
        run
    }

    fn lines(&self, project: &Path) -> Vec<Line> {
        if !self.has_formats() {
            return Vec::new();
        }
        lines(&self.run_in(project, FORMATS[2]).stdout)
    }
}

/// The diagnostics of a run in JSON.
fn lines(stdout: &str) -> Vec<Line> {
    stdout
        .lines()
        .filter(|line| !line.starts_with("{\"ledger\""))
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

/// Changes a file when every file has been hashed and none derived.
struct Meddler {
    path: PathBuf,
    left: AtomicU64,
}

impl Progress for Meddler {
    fn begin(&self, _stage: &'static str, total: u64) {
        self.left.store(total, Ordering::SeqCst);
    }

    fn advance(&self) {
        if self.left.fetch_sub(1, Ordering::SeqCst) == 1 {
            let text = fs::read_to_string(&self.path).unwrap();
            fs::write(&self.path, text + "And then it went on.\n").unwrap();
        }
    }

    fn finish(&self) {}
}

/// A check in this process, while something else writes a file.
fn run_while_changing(project: &Path, path: &str, format: Format) -> Run {
    let options = Options {
        progress: Some(Arc::new(Meddler {
            path: project.join(path),
            left: AtomicU64::new(0),
        })),
        ..Options::default()
    };
    let session = Session::open(Project::open(project.to_path_buf()).unwrap(), options);
    let report = session.report();
    let texts: BTreeMap<String, Arc<str>> = report
        .diagnostics
        .iter()
        .filter_map(|diagnostic| {
            let file = diagnostic.file.as_deref()?;
            Some((file.to_owned(), session.text_of(file)?))
        })
        .collect();
    let options = RenderOptions {
        width: 100,
        ..RenderOptions::default()
    };
    let mut out = Vec::new();
    render(&report, format, &options, &texts, &mut out).unwrap();
    Run {
        status: i32::from(report.fails(false)),
        stdout: String::from_utf8(out).unwrap(),
        stderr: String::new(),
    }
}

/// Runs a check over all fixtures at once and reports everything that is wrong.
fn for_all(check: impl Fn(&Fixture) -> Result<(), String> + Sync) {
    let fixtures = Fixture::all();
    let wrong: Vec<String> = fixtures
        .par_iter()
        .filter_map(|fixture| {
            let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| check(fixture)));
            let error = match result {
                Ok(Ok(())) => return None,
                Ok(Err(error)) => error,
                Err(panic) => match panic.downcast::<String>() {
                    Ok(text) => *text,
                    Err(panic) => panic
                        .downcast::<&str>()
                        .map_or_else(|_| "a panic".to_owned(), |text| (*text).to_owned()),
                },
            };
            Some(format!("== {}\n{error}", fixture.name))
        })
        .collect();
    assert!(
        wrong.is_empty(),
        "{} of {} fixtures:\n{}",
        wrong.len(),
        fixtures.len(),
        wrong.join("\n")
    );
}

fn compare(path: &Path, found: &str) -> Result<(), String> {
    if std::env::var_os("KB_BLESS").is_some_and(|value| value == "1") {
        fs::write(path, found).unwrap();
        return Ok(());
    }
    let expected = fs::read_to_string(path).unwrap_or_default();
    if expected == found {
        return Ok(());
    }
    let at = expected
        .lines()
        .zip(found.lines())
        .position(|(a, b)| a != b);
    let line = at.unwrap_or_else(|| expected.lines().count().min(found.lines().count()));
    Err(format!(
        "{} line {}:\n  expected: {}\n  found:    {}",
        path.file_name().unwrap().to_string_lossy(),
        line + 1,
        expected.lines().nth(line).unwrap_or("(nothing)"),
        found.lines().nth(line).unwrap_or("(nothing)")
    ))
}

#[test]
fn every_format_prints_what_is_expected() {
    for_all(|fixture| {
        let formats = if fixture.has_formats() {
            &FORMATS[..]
        } else {
            &FORMATS[..1]
        };
        for format in formats {
            // A project of its own for each: some commands mend what they report.
            let project = fixture.project();
            let run = fixture.run_in(project.path(), *format);
            if run.status != fixture.input.command.status {
                return Err(format!(
                    "exit {} instead of {} with --format {}\n{}{}",
                    run.status, fixture.input.command.status, format.0, run.stdout, run.stderr
                ));
            }
            if run.stdout.contains(project.path().to_str().unwrap()) {
                return Err(format!(
                    "the folder's own path is in the output:\n{}",
                    run.stdout
                ));
            }
            compare(&fixture.expected(format.1), &run.stdout)?;
            let noted = NOTES.contains(&fixture.code());
            if noted
                && (run.stdout.contains(fixture.code()) || !run.stderr.contains(fixture.code()))
            {
                return Err(format!("{}{}", run.stdout, run.stderr));
            }
        }
        Ok(())
    });
}

#[test]
fn a_second_run_says_the_same() {
    // The first run fills the cache, the second one lives on it.
    for_all(|fixture| {
        let verb = fixture.input.command.arguments.first().map(String::as_str);
        if verb != Some("check") || fixture.input.changes.is_some() {
            return Ok(());
        }
        let project = fixture.project();
        let first = fixture.run_in(project.path(), FORMATS[0]);
        let second = fixture.run_in(project.path(), FORMATS[0]);
        if (first.status, &first.stdout) == (second.status, &second.stdout) {
            Ok(())
        } else {
            Err(format!(
                "first:\n{}\nsecond:\n{}",
                first.stdout, second.stdout
            ))
        }
    });
}

/// The text under a diagnostic, for the file of marks.
fn mark(project: &Path, line: &Line, wrong: &mut String) -> String {
    let Some(file) = &line.file else {
        return String::from("(the project)");
    };
    let Some(span) = line.span else {
        return format!("{file} (the file)");
    };
    let bytes = fs::read(project.join(file)).unwrap_or_default();
    // What cannot be read as text is pointed at as a whole.
    let text = String::from_utf8_lossy(&bytes);
    let at = format!("{file}:{}:{}", span.line, span.column);
    let Some(marked) = text.get(span.start..span.end) else {
        let _ = writeln!(
            wrong,
            "{} {at}: {}..{} is no range of the file",
            line.code, span.start, span.end
        );
        return at;
    };
    if marked.trim().is_empty() && !MAY_BE_EMPTY.iter().any(|(code, _)| *code == line.code) {
        let _ = writeln!(wrong, "{} {at}: points at nothing ({marked:?})", line.code);
    }
    for (offset, found) in [
        (span.start, (span.line, span.column)),
        (span.end, (span.end_line, span.end_column)),
    ] {
        let wanted = position(&text, offset);
        if wanted != found {
            let _ = writeln!(
                wrong,
                "{} {at}: byte {offset} is {wanted:?}, not {found:?}",
                line.code
            );
        }
    }
    format!("{at} {marked:?}")
}

/// Line and column of an offset, counted the slow way. A carriage return alone ends a line too
/// only where a line feed follows it.
fn position(text: &str, offset: usize) -> (u32, u32) {
    let before = &text[..offset];
    let line = before.matches('\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let column = before[start..].chars().count() + 1;
    (line as u32, column as u32)
}

#[test]
fn every_mark_is_on_what_the_diagnostic_talks_about() {
    for_all(|fixture| {
        let project = fixture.project();
        let mut wrong = String::new();
        let mut marks = String::new();
        for line in fixture.lines(project.path()) {
            let _ = writeln!(
                marks,
                "{} {}",
                line.code,
                mark(project.path(), &line, &mut wrong)
            );
            for related in &line.related {
                let _ = writeln!(
                    marks,
                    "  related {}",
                    related_mark(project.path(), related, &mut wrong)
                );
            }
            if line.message.trim().is_empty()
                || line.message.ends_with('.')
                || line.message.contains('\n')
            {
                let _ = writeln!(
                    wrong,
                    "{}: a message is one sentence without a full stop: {}",
                    line.code, line.message
                );
            }
            if line.help.as_deref().is_none_or(str::is_empty) && line.severity != Severity::Info {
                let _ = writeln!(wrong, "{}: nothing says what to do next", line.code);
            }
        }
        if fixture.has_formats() {
            compare(&fixture.expected("marks.txt"), &marks)?;
        }
        if wrong.is_empty() { Ok(()) } else { Err(wrong) }
    });
}

fn related_mark(project: &Path, related: &Related, wrong: &mut String) -> String {
    let file = &related.file;
    if let Some(excerpt) = &related.excerpt {
        let marked = excerpt.text.get(excerpt.start..excerpt.end);
        if marked.is_none_or(str::is_empty) {
            let _ = writeln!(wrong, "the excerpt of {file} marks nothing");
        }
        if let Some(span) = related.span {
            let bytes = fs::read(project.join(&**file)).unwrap_or_default();
            let own = bytes.get(span.start..span.end);
            // A source in another encoding, or with markup, has other bytes than its text.
            let plain = file.ends_with(".md") || file.ends_with(".txt");
            if plain && own.map(String::from_utf8_lossy).as_deref() != marked {
                let _ = writeln!(wrong, "{file}: the excerpt is not what stands at its place");
            }
        }
        let place = match (related.page, related.span) {
            (Some(page), _) => format!("page {page}"),
            (None, Some(span)) => format!("{}:{}", span.line, span.column),
            (None, None) => "somewhere".to_owned(),
        };
        return format!("{file} {place} {:?}", marked.unwrap_or_default());
    }
    file.to_string()
}

/// Applies edits to the files of a project. Edits that touch one another are applied once.
fn apply(project: &Path, fixes: &[&Fix]) -> Result<(), String> {
    let mut by_file: BTreeMap<&str, BTreeSet<(usize, usize, &str)>> = BTreeMap::new();
    for edit in fixes.iter().flat_map(|fix| &fix.edits) {
        by_file
            .entry(&edit.file)
            .or_default()
            .insert((edit.start, edit.end, &edit.text));
    }
    for (file, edits) in by_file {
        let at = project.join(file);
        let mut text = fs::read_to_string(&at).map_err(|error| format!("{file}: {error}"))?;
        let mut before = text.len();
        for (start, end, replacement) in edits.into_iter().rev() {
            if end > before || text.get(start..end).is_none() {
                return Err(format!("{file}: an edit of {start}..{end} does not apply"));
            }
            text.replace_range(start..end, replacement);
            before = start;
        }
        fs::write(at, text).unwrap();
    }
    Ok(())
}

fn remains(lines: &[Line], fixed: &Line) -> bool {
    lines.iter().any(|line| {
        line.code == fixed.code && line.file == fixed.file && line.message == fixed.message
    })
}

#[test]
fn safe_fixes_applied_together_mend_what_they_are_for() {
    for_all(|fixture| {
        let project = fixture.project();
        let before = fixture.lines(project.path());
        let safe: Vec<(&Line, &Fix)> = before
            .iter()
            .filter_map(|line| {
                let fix = line
                    .fixes
                    .iter()
                    .find(|fix| fix.applicability == Applicability::Safe)?;
                Some((line, fix))
            })
            .collect();
        if safe.is_empty() {
            return Ok(());
        }
        apply(
            project.path(),
            &safe.iter().map(|(_, fix)| *fix).collect::<Vec<_>>(),
        )?;
        let after = fixture.lines(project.path());
        for (line, fix) in safe {
            if remains(&after, line) {
                return Err(format!("{} is still there after: {}", line.code, fix.title));
            }
        }
        // A fix that trades one error for another mends nothing.
        let count = |lines: &[Line]| {
            lines
                .iter()
                .filter(|line| line.severity == Severity::Error)
                .count()
        };
        if count(&after) >= count(&before) && count(&before) > 0 {
            return Err(format!("as many errors as before: {after:?}"));
        }
        Ok(())
    });
}

#[test]
fn each_fix_by_itself_mends_what_it_is_for() {
    for_all(|fixture| {
        let lines = fixture.lines(fixture.project().path());
        for line in &lines {
            for fix in &line.fixes {
                let project = fixture.project();
                apply(project.path(), &[fix])?;
                if remains(&fixture.lines(project.path()), line) {
                    return Err(format!("{} is still there after: {}", line.code, fix.title));
                }
            }
        }
        Ok(())
    });
}

#[test]
fn active_codes_have_fixtures_and_reserved_ones_are_never_emitted() {
    let fixtures = Fixture::all();
    let shown: BTreeSet<&str> = fixtures.iter().map(Fixture::code).collect();
    let mut wrong = String::new();
    for entry in registry::all() {
        let code = entry.code.as_str();
        match (entry.is_reserved(), shown.contains(code)) {
            (false, false) => {
                let _ = writeln!(wrong, "{code} is active and has no fixture");
            }
            (true, true) => {
                let _ = writeln!(wrong, "{code} is reserved and has a fixture");
            }
            _ => {}
        }
    }
    for fixture in &fixtures {
        let formats = if fixture.has_formats() {
            &FORMATS[..]
        } else {
            &FORMATS[..1]
        };
        for (_, file, _) in formats {
            let text = fs::read_to_string(fixture.expected(file)).unwrap_or_default();
            if !text.contains(fixture.code()) && !NOTES.contains(&fixture.code()) {
                let _ = writeln!(
                    wrong,
                    "{}: expected.{file} does not have its code",
                    fixture.name
                );
            }
        }
        let text = fs::read_to_string(fixture.expected("json")).unwrap_or_default();
        for line in lines(&text) {
            let entry = registry::find(&line.code).unwrap();
            if entry.is_reserved() {
                let _ = writeln!(
                    wrong,
                    "{}: emits {}, which is reserved",
                    fixture.name, line.code
                );
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn every_exception_is_needed() {
    let needed: BTreeSet<String> = Fixture::all()
        .iter()
        .filter(|fixture| fixture.has_formats())
        .flat_map(|fixture| {
            lines(&fs::read_to_string(fixture.expected("json")).unwrap_or_default())
        })
        .filter(|line| line.span.is_some_and(|span| span.start == span.end))
        .map(|line| line.code)
        .collect();
    for (code, reason) in MAY_BE_EMPTY {
        assert!(
            needed.contains(code),
            "{code} never points at nothing, though: {reason}"
        );
    }
}
