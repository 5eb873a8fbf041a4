//! Answers for people.

use std::ops::Range;

use kbc_queries::parse::document::{Document, FilePosition};
use kbc_queries::text::khms;
use kbc_queries::text::lines::LineIndex;
use kbc_queries::text::quote::{Flag, MatchClass, Verdict};

use crate::render::visible;

use super::{Answer, Question, answer, diff};

/// The answer, one thing per line.
pub(super) fn of(
    document: &Document,
    question: &Question<'_>,
    answer: &Answer,
    explain: bool,
) -> String {
    let mut words = head(question, answer);
    let warnings = answer::warnings(answer);
    for warning in &warnings {
        words.push_str(&format!("\n  note: {}", visible::line(warning)));
    }
    if explain {
        for span in answer.spans() {
            words.push_str(&place(document, span));
        }
    }
    let Answer::Own(verdict) = answer else {
        return words;
    };
    if let Some(help) = help(verdict) {
        words.push_str(&format!("\n  help: {help}"));
    }
    if let Some(nearest) = verdict.nearest() {
        words.push_str(&format!("\n  nearest: {}", visible::line(&nearest.decides)));
        if explain {
            words.push_str(&place(document, &nearest.span));
            let there = document.text.get(nearest.span.clone()).unwrap_or_default();
            let runs = diff::of(question.quote.text, there);
            words.push_str(&format!(
                "\n  [-quote-] {{+source+}}: {}",
                visible::line(&diff::marked(&runs))
            ));
        }
    }
    words
}

fn head(question: &Question<'_>, answer: &Answer) -> String {
    let verdict = match answer {
        Answer::Own(verdict) => verdict,
        Answer::Khms(answer) => return khms_head(answer),
    };
    let mut words = match verdict.class() {
        class if verdict.verified() => format!("verified: {class}"),
        MatchClass::OutsidePages => match question.page {
            Some(page) => {
                format!(
                    "not verified: outside-pages: it stands in the text, but not on page {page}"
                )
            }
            None => "not verified: outside-pages".to_owned(),
        },
        MatchClass::Absent => "not verified: absent".to_owned(),
        class => format!("not verified: {}", refused(verdict, class)),
    };
    let foldings: Vec<&str> = verdict
        .foldings()
        .iter()
        .map(|folding| folding.as_str())
        .collect();
    if !foldings.is_empty() {
        words.push_str(&format!(" (folded: {})", foldings.join(", ")));
    }
    words
}

/// Why words that stand in the text are no evidence.
fn refused(verdict: &Verdict, class: MatchClass) -> String {
    let flags = verdict.flags();
    let has = |test: fn(&Flag) -> bool| flags.iter().any(test);
    if has(|flag| matches!(flag, Flag::InsideWord { .. })) {
        format!("its characters stand there ({class}) only as a part of longer words")
    } else if has(|flag| matches!(flag, Flag::Ambiguous { .. })) {
        format!("it stands there ({class}) more than once, and nothing says which place is meant")
    } else if has(|flag| matches!(flag, Flag::OmittedNegation { .. })) {
        format!("its parts stand there ({class}), but what lies between them turns the meaning")
    } else if has(|flag| matches!(flag, Flag::ContextDiffers)) {
        format!("it stands there ({class}), but not beside the words given")
    } else if has(|flag| matches!(flag, Flag::Veiled { .. })) {
        format!("it stands there ({class}), but struck out")
    } else if has(|flag| matches!(flag, Flag::TooShort)) {
        format!("it stands there ({class}), but is too short to be evidence")
    } else {
        format!("it stands there ({class}), but the profile does not count it")
    }
}

fn help(verdict: &Verdict) -> Option<&'static str> {
    let ambiguous = verdict
        .flags()
        .iter()
        .any(|flag| matches!(flag, Flag::Ambiguous { .. }));
    (ambiguous && !verdict.verified())
        .then_some("quote a few more words, or say what stands beside it with --prefix or --suffix")
}

fn khms_head(answer: &khms::Answer) -> String {
    let detail = if answer.detail.is_empty() {
        String::new()
    } else {
        format!(" ({})", answer.detail)
    };
    if answer.verified() {
        format!("verified: {}{detail}", answer.class)
    } else if answer.class == khms::Class::Absent {
        format!("not verified: {}{detail}", answer.class)
    } else {
        format!(
            "not verified: it is {} by the contract{detail}, but something speaks against it",
            answer.class
        )
    }
}

fn place(document: &Document, range: &Range<usize>) -> String {
    let text = document.text.get(range.clone()).unwrap_or_default();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let at = match document.file_position(range.clone()) {
        FilePosition::Page { page, .. } => format!("page {page}"),
        FilePosition::Bytes(bytes) => {
            let span = LineIndex::new(&document.text).span(&document.text, range.clone());
            let lines = if span.line == span.end_line {
                format!("line {}", span.line)
            } else {
                format!("lines {} to {}", span.line, span.end_line)
            };
            // Only a text that is read as it stands has the file's own lines.
            let own = document.format != kbc_queries::parse::document::Format::Html
                && document.format != kbc_queries::parse::document::Format::Csv;
            if own {
                format!("{lines}, bytes {} to {}", bytes.start, bytes.end)
            } else {
                format!("bytes {} to {}", bytes.start, bytes.end)
            }
        }
    };
    format!("\n  {at}: {}", visible::line(&text))
}
