//! `kb fix`: apply the fixes that a machine may apply.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use similar::TextDiff;

use kbc_queries::CARD_LIMIT;
use kbc_queries::derive::derive_card;
use kbc_queries::diagnostic::{Applicability, Diagnostic, Edit, registry};
use kbc_queries::input::{FileStatus, Profile};
use kbc_queries::system::Fingerprint;

use crate::render::visible;
use crate::session::{Options, Session};
use crate::workspace::discover::Matcher;
use crate::workspace::door;

use super::{CommandResult, Failure, Outcome, World};

/// Apply the fixes that need no judgement: pin a citation, new hash after an intact change,
/// relocated chunk, pages
///
/// Only the bytes of an edit change; comments, key order and formatting of the card stay. A
/// `card_hash` that was right before is right afterwards; one that was stale stays as it is. Quotes
/// are never rewritten unless --rewrite-quote asks for it. Ends with what is left to be done by hand.
///
/// Exit status 0: no error is left. 1: errors are left or, with --dry-run, there is something to
/// fix. 2: a file could not be changed, or changed while it was being fixed.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  kb fix --dry-run\n  kb fix\n  kb fix cards/tls\n  kb fix --rewrite-quote cards/tls/protocol-versions.md"
)]
pub struct Arguments {
    /// Cards, or folders of cards, relative to the current folder; everything when none is given
    paths: Vec<PathBuf>,
    /// Show what would change, as a unified diff, and write nothing
    ///
    /// Shows the first pass; now and then a second one follows it, which `kb fix` makes too.
    #[arg(long)]
    dry_run: bool,
    /// Also replace quotes that are nearly right by the exact words of the source
    ///
    /// Only where the nearest passage is clearly the same sentence: no number, sign, negation or
    /// name differs. Read the result: what was meant is yours to know.
    #[arg(long)]
    rewrite_quote: bool,
}

/// One fix may make room for the next (a chunk id, then its pages), and of overlapping fixes one
/// is made at a time; more rounds than this would be fixes undoing each other.
const ROUNDS: usize = 8;

/// What was done so far.
#[derive(Default)]
struct Done {
    edits: usize,
    files: usize,
}

/// Runs the command.
pub fn run(world: &World, arguments: &Arguments) -> CommandResult {
    let options = options(world, arguments)?;
    let mut done = Done::default();
    for _ in 0..ROUNDS {
        let mut session = Session::open(world.project()?, options.clone());
        let report = session.report();
        session.record();
        super::note_repairs(&session);
        let cacg = session.project.profile() == Profile::Cacg;
        if Session::is_vacuous(&report) && !cacg && !report.fails(false) {
            return Err(Failure(
                "nothing was fixed: the project has no cards; look at `cards.include` in kb.toml"
                    .to_owned(),
            ));
        }
        let plan = plan(&report.diagnostics, arguments.rewrite_quote);
        let before = done.edits;
        for (file, fixes) in &plan {
            let words = fix_file(&session, file, fixes, arguments.dry_run, &mut done).map_err(
                |reason| {
                    Failure(format!(
                        "{file} was not changed: {reason}{}",
                        match done.edits {
                            0 => String::new(),
                            _ => format!(" (in others: {})", super::counted(done.edits, "edit")),
                        }
                    ))
                },
            )?;
            match words {
                Some(diff) if arguments.dry_run => show(&diff)?,
                Some(words) => super::say(&words)?,
                None => {}
            }
        }
        if arguments.dry_run {
            if done.edits == 0 {
                break;
            }
            super::tell(&format!(
                "{} in {} would be made",
                super::counted(done.edits, "edit"),
                super::counted(done.files, "file")
            ));
            return Ok(Outcome::Findings);
        }
        if done.edits == before {
            break;
        }
    }
    let mut session = Session::open(world.project()?, options);
    let report = session.report();
    session.record();
    super::say(&format!(
        "{} made; {} and {} are left{}",
        super::counted(done.edits, "edit"),
        super::counted(report.ledger.errors, "error"),
        super::counted(report.ledger.warnings, "warning"),
        if report.ledger.errors > 0 {
            "; `kb check` shows them"
        } else {
            ""
        }
    ))?;
    Ok(if report.fails(false) {
        Outcome::Findings
    } else {
        Outcome::Fine
    })
}

fn options(world: &World, arguments: &Arguments) -> Result<Options, Failure> {
    let mut options = world.options();
    if arguments.paths.is_empty() {
        return Ok(options);
    }
    let project = world.project()?;
    let mut paths = Vec::new();
    for path in &arguments.paths {
        let relative = world.in_project(&project, path)?;
        if !project.root.join(&relative).exists() {
            return Err(world.no_file(path));
        }
        paths.push(relative);
    }
    let matcher = Matcher::new(&project.settings);
    options.only = Some(super::check::select(
        &project.root,
        &matcher,
        &paths,
        false,
    )?);
    Ok(options)
}

/// The edits to be made, by file: of each diagnostic its first safe fix or, if quotes are to be
/// rewritten, the fix that does it.
fn plan(diagnostics: &[Diagnostic], rewrite_quote: bool) -> BTreeMap<&str, Vec<&[Edit]>> {
    let mut plan: BTreeMap<&str, Vec<&[Edit]>> = BTreeMap::new();
    for diagnostic in diagnostics {
        let rewrites =
            rewrite_quote && [registry::VERIFY_001, registry::HASH_001].contains(&diagnostic.code);
        let fix = diagnostic.fixes.iter().find(|fix| {
            !fix.edits.is_empty() && (fix.applicability == Applicability::Safe || rewrites)
        });
        let Some(fix) = fix else { continue };
        // A fix is made whole or not at all, and files are replaced one by one.
        if let Some(first) = fix.edits.first()
            && fix.edits.iter().all(|edit| edit.file == first.file)
        {
            plan.entry(&first.file).or_default().push(&fix.edits);
        }
    }
    plan
}

/// Fixes one file and says so, or gives the diff that would. `None`: there is nothing to fix.
fn fix_file(
    session: &Session,
    file: &str,
    fixes: &[&[Edit]],
    dry_run: bool,
    done: &mut Done,
) -> Result<Option<String>, String> {
    let text = checked_text(session, file)?;
    let Some((fixed, edits)) = fix_card(&text, fixes) else {
        return Ok(None);
    };
    let words = if dry_run {
        diff(file, &text, &fixed)
    } else {
        replace(&session.project.root, file, &text, &fixed)?;
        format!("fixed {file}")
    };
    done.files += 1;
    done.edits += edits;
    Ok(Some(words))
}

const CHANGED: &str = "it changed in the meantime; run `kb fix` again";

/// The text of a card, if it is the one that was checked: edits are places in that one.
fn checked_text(session: &Session, file: &str) -> Result<String, String> {
    let at = session.project.root.join(file);
    let bytes = door::read(&at, CARD_LIMIT).map_err(|failure| failure.to_string())?;
    let status = session.cards.get(file).map(|state| &state.file.status);
    if status != Some(&FileStatus::Present(Fingerprint::of(&bytes))) {
        return Err(CHANGED.to_owned());
    }
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_owned())
}

/// The card with the fixes made, and the number of their edits. `None`: none could be made.
fn fix_card(text: &str, fixes: &[&[Edit]]) -> Option<(String, usize)> {
    let before = derive_card(text);
    let sound = |fixed: &str| {
        let after = derive_card(fixed);
        (after.parsed.problems.len() <= before.parsed.problems.len()).then_some(after)
    };
    let (mut fixed, mut edits) = apply(text, fixes);
    let mut after = sound(&fixed);
    if after.is_none() {
        // One of them does not fit how the card is written; the others still do.
        let fitting: Vec<&[Edit]> = fixes
            .iter()
            .copied()
            .filter(|fix| sound(&apply(text, &[fix]).0).is_some())
            .collect();
        (fixed, edits) = apply(text, &fitting);
        after = sound(&fixed);
    }
    let after = after?;
    if fixed == text {
        return None;
    }
    // A hash that was right is kept right; one that was stale is not this command's to bless.
    let stored = before.parsed.card_hash.as_ref().map(|hash| &*hash.value);
    if let (Some(stored), Some(hash), Some(place)) = (stored, &after.hash, &after.parsed.card_hash)
        && before.hash.as_deref() == Some(stored)
        && let Some(at) = fixed
            .get(place.span.clone())
            .and_then(|written| written.find(stored))
    {
        let start = place.span.start + at;
        fixed.replace_range(start..start + stored.len(), hash);
    }
    Some((fixed, edits))
}

/// Applies the fixes that do not overlap an earlier one. Returns the text and the number of edits.
fn apply(text: &str, fixes: &[&[Edit]]) -> (String, usize) {
    let mut chosen: BTreeMap<(usize, usize), &Edit> = BTreeMap::new();
    for fix in fixes {
        let fits = fix.iter().all(|edit| {
            let place = (edit.start, edit.end);
            let clear_before = chosen
                .range(..=place)
                .next_back()
                .is_none_or(|(other, _)| other.1 <= edit.start && *other != place);
            let clear_after = chosen
                .range(place..)
                .next()
                .is_none_or(|(other, _)| edit.end <= other.0);
            text.get(edit.start..edit.end).is_some() && clear_before && clear_after
        });
        if fits {
            chosen.extend(fix.iter().map(|edit| ((edit.start, edit.end), edit)));
        }
    }
    let mut fixed = String::with_capacity(text.len());
    let mut at = 0;
    for edit in chosen.values() {
        fixed.push_str(text.get(at..edit.start).unwrap_or_default());
        fixed.push_str(&edit.text);
        at = edit.end;
    }
    fixed.push_str(text.get(at..).unwrap_or_default());
    (fixed, chosen.len())
}

fn diff(file: &str, text: &str, fixed: &str) -> String {
    let file = visible::line(file);
    TextDiff::from_lines(text, fixed)
        .unified_diff()
        .header(&format!("a/{file}"), &format!("b/{file}"))
        .to_string()
}

/// Prints a diff: its last lines may be empty ones of the card. A program that applies it needs
/// the card's own characters; a terminal would obey some of them.
fn show(diff: &str) -> Result<(), Failure> {
    let diff = diff.strip_suffix('\n').unwrap_or(diff);
    if io::stdout().is_terminal() {
        super::say(diff)
    } else {
        super::write_out(diff)
    }
}

fn wrong(error: io::Error) -> String {
    crate::workspace::disk::failure(&error).to_string()
}

/// Replaces a file at once, unless somebody changed it since it was read.
fn replace(root: &Path, file: &str, before: &str, after: &str) -> Result<(), String> {
    // A link stays a link, and leads nowhere outside.
    let path = root.join(file).canonicalize().map_err(wrong)?;
    if !path.starts_with(root.canonicalize().map_err(wrong)?) {
        return Err("it is a link to a file outside the project".to_owned());
    }
    let folder = path.parent().ok_or("it has no folder")?;
    let permissions = fs::metadata(&path).map_err(wrong)?.permissions();
    if permissions.readonly() {
        return Err("it is read-only".to_owned());
    }
    let mut temporary = tempfile::NamedTempFile::new_in(folder).map_err(wrong)?;
    temporary.write_all(after.as_bytes()).map_err(wrong)?;
    temporary
        .as_file()
        .set_permissions(permissions)
        .map_err(wrong)?;
    temporary.as_file().sync_all().map_err(wrong)?;
    // As late as possible: what is written between this and the renaming would be lost.
    let now = door::read(&path, CARD_LIMIT).map_err(|failure| failure.to_string())?;
    if now != before.as_bytes() {
        return Err(CHANGED.to_owned());
    }
    temporary
        .persist(&path)
        .map_err(|error| wrong(error.error))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::disallowed_methods)]

    use std::fs;

    use kbc_queries::diagnostic::Edit;

    use super::{CHANGED, apply, diff, replace};

    fn edit(start: usize, end: usize, text: &str) -> Edit {
        Edit {
            file: "a.md".into(),
            start,
            end,
            text: text.to_owned(),
        }
    }

    #[test]
    fn of_overlapping_fixes_the_first_is_made() {
        let first = [edit(0, 3, "one")];
        let overlapping = [edit(4, 7, "zwei"), edit(2, 4, "x")];
        let beside = [edit(3, 3, ","), edit(8, 11, "three")];
        let twice = [edit(3, 3, ",")];
        let outside = [edit(8, 40, "x")];
        let fixes: [&[Edit]; 5] = [&first, &overlapping, &beside, &twice, &outside];
        let (text, count) = apply("eins zwo drei", &fixes);
        assert_eq!((text.as_str(), count), ("one,s zwothreeei", 3));
    }

    #[test]
    fn a_diff_says_where_no_line_ends() {
        let text = diff("a.md", "a\r\nb\n\n", "a\r\nc\n\n");
        assert!(text.ends_with(" a\r\n-b\n+c\n \n"), "{text:?}");
        let text = diff("a.md", "a\nb", "c\nb");
        assert!(
            text.ends_with("-a\n+c\n b\n\\ No newline at end of file\n"),
            "{text:?}"
        );
    }

    #[test]
    fn a_file_that_changed_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.md");
        fs::write(&path, "somebody else's").unwrap();
        let result = replace(folder.path(), "a.md", "as it was", "as it should be");
        assert_eq!(result, Err(CHANGED.to_owned()));
        assert_eq!(fs::read_to_string(&path).unwrap(), "somebody else's");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        replace(folder.path(), "a.md", "somebody else's", "as it should be").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "as it should be");
    }
}
