//! Answers for programs.

use std::ops::Range;

use serde_json::{Value, json};

use kbc_queries::parse::document::{Document, FilePosition};
use kbc_queries::text::quote::{Flag, Verdict};
use kbc_queries::text::veil::Veil;

use super::{Answer, Question, diff};

/// An answer as a JSON object.
pub(super) fn to_json(
    id: &Value,
    document: &Document,
    question: &Question<'_>,
    answer: &Answer,
) -> Value {
    let found: Vec<&str> = answer
        .spans()
        .iter()
        .filter_map(|span| document.text.get(span.clone()))
        .collect();
    let mut value = json!({
        "id": id,
        "class": class(answer),
        "verified": answer.verified(),
        "foldings": [],
        "spans": answer.spans().iter().map(|span| place(document, span)).collect::<Vec<_>>(),
        "found": found,
        "warnings": warnings(answer),
    });
    match answer {
        Answer::Own(verdict) => {
            value["foldings"] = json!(verdict.foldings());
            add_nearest(&mut value, document, question, verdict);
        }
        Answer::Khms(answer) => value["detail"] = json!(answer.detail),
    }
    value
}

/// The class by its name.
pub(super) fn class(answer: &Answer) -> String {
    match answer {
        Answer::Own(verdict) => verdict.class().to_string(),
        Answer::Khms(answer) => answer.class.to_string(),
    }
}

/// What a reader should know, in words.
pub(super) fn warnings(answer: &Answer) -> Vec<String> {
    match answer {
        Answer::Own(verdict) => verdict.flags().iter().map(warning).collect(),
        Answer::Khms(answer) => {
            let mut warnings = answer.refusals.clone();
            warnings.extend(answer.notes.iter().cloned());
            if answer.short {
                warnings.push("it is too short to vouch for anything".to_owned());
            }
            warnings
        }
    }
}

fn add_nearest(value: &mut Value, document: &Document, question: &Question<'_>, verdict: &Verdict) {
    let Some(nearest) = verdict.nearest() else {
        return;
    };
    let text = document.text.get(nearest.span.clone()).unwrap_or_default();
    value["nearest"] = json!({
        "text": text,
        "span": place(document, &nearest.span),
        "decides": nearest.decides,
        "diff": diff::of(question.quote.text, text),
    });
}

fn place(document: &Document, range: &Range<usize>) -> Value {
    let mut value = json!({ "start": range.start, "end": range.end });
    match document.file_position(range.clone()) {
        FilePosition::Bytes(bytes) => {
            value["file"] = json!({ "start": bytes.start, "end": bytes.end });
        }
        FilePosition::Page { page, chars } => {
            value["page"] = json!(page);
            value["page_chars"] = json!({ "start": chars.start, "end": chars.end });
        }
    }
    value
}

/// A flag in words.
pub(super) fn warning(flag: &Flag) -> String {
    match flag {
        Flag::TooShort => "too short to be evidence".to_owned(),
        Flag::InsideWord { word } => format!("begins or ends inside a word: {word}"),
        Flag::Ambiguous { count } => format!("stands there {count} times"),
        Flag::OmittedNegation { words } => {
            format!("leaves out a negation or exception: {}", words.join(", "))
        }
        Flag::Cue { cue, .. } => format!("`{cue}` outside the quote governs what it says"),
        Flag::OnlyTitle => "only the title of the source".to_owned(),
        Flag::Fuzzy { edits } => {
            let edits: Vec<String> = edits
                .iter()
                .map(|(quote, source)| format!("{quote} for {source}"))
                .collect();
            format!("accepted as fuzzy: {}", edits.join(", "))
        }
        Flag::Editorial { inserted } => {
            format!(
                "words in brackets that the source does not have: {}",
                inserted.join(", ")
            )
        }
        Flag::Veiled { veil: Veil::Struck } => "the text has struck these words out".to_owned(),
        Flag::Veiled { .. } => "no reader of the text sees these words".to_owned(),
        Flag::ContextDiffers => "prefix or suffix does not stand beside it".to_owned(),
    }
}
