//! SARIF 2.1.0 for code scanning: rules from the registry, stable fingerprints, related places, fixes.

use std::collections::BTreeMap;
use std::io::{self, Write};

use kbc_queries::diagnostic::registry::{self, Entry};
use kbc_queries::diagnostic::{Code, Diagnostic, Edit, Excerpt, Fix, Related, Severity, Span};
use serde_sarif::sarif::{
    self, ArtifactChange, ArtifactContent, ArtifactLocation, Location, Message,
    MultiformatMessageString, PhysicalLocation, PropertyBag, Region, Replacement,
    ReportingConfiguration, ReportingDescriptor, ResultLevel, Run, Sarif, Tool, ToolComponent,
};

use super::lines::Lines;
use super::{FileFindings, Findings, explain, json};

/// Name of our entry in `partialFingerprints`; the number is that of the algorithm.
const FINGERPRINT: &str = "kbcFingerprint/v1";
/// What paths are relative to: the project's folder.
const BASE: &str = "%SRCROOT%";

pub(super) fn write(findings: &Findings<'_>, out: &mut dyn Write) -> io::Result<()> {
    // The rules are those that were met, in the order of their codes.
    let mut rules: BTreeMap<Code, i64> = findings
        .all()
        .map(|(diagnostic, _)| (diagnostic.code, 0))
        .collect();
    for (place, index) in rules.values_mut().zip(0..) {
        *place = index;
    }
    let fingerprints = findings.fingerprints();
    let mut fingerprints = fingerprints.iter();
    let mut results = Vec::new();
    for group in &findings.files {
        let lines = group.text.as_deref().map(Lines::new);
        for diagnostic in &group.diagnostics {
            let fingerprint = fingerprints.next().map_or("", String::as_str);
            let rule = rules.get(&diagnostic.code).copied().unwrap_or(-1);
            results.push(result(diagnostic, rule, fingerprint, group, lines.as_ref()));
        }
    }
    let driver = ToolComponent::builder()
        .name("kb")
        .version(env!("CARGO_PKG_VERSION").to_owned())
        .semantic_version(env!("CARGO_PKG_VERSION").to_owned())
        .rules(
            rules
                .keys()
                .map(|code| rule(registry::entry(*code)))
                .collect::<Vec<_>>(),
        )
        .build();
    let run = Run::builder()
        .tool(Tool::builder().driver(driver).build())
        .column_kind(serde_json::json!("unicodeCodePoints"))
        .results(results)
        .properties(bag([("ledger", serde_json::to_value(findings.ledger)?)]))
        .build();
    let log = Sarif::builder()
        .schema("https://json.schemastore.org/sarif-2.1.0.json".to_owned())
        .version(serde_json::json!("2.1.0"))
        .runs(vec![run])
        .build();
    json::write_line(out, &log)
}

/// What the registry says of a code.
fn rule(entry: &Entry) -> ReportingDescriptor {
    ReportingDescriptor::builder()
        .id(entry.code.as_str())
        .short_description(
            MultiformatMessageString::builder()
                .text(entry.title)
                .build(),
        )
        .full_description(
            MultiformatMessageString::builder()
                .text(entry.explanation)
                .markdown(entry.explanation.to_owned())
                .build(),
        )
        .help(
            MultiformatMessageString::builder()
                .text(explain::text(entry))
                .markdown(explain::markdown(entry))
                .build(),
        )
        .default_configuration(
            ReportingConfiguration::builder()
                .level(serde_json::json!(level(entry.severity)))
                .build(),
        )
        .build()
}

fn result(
    diagnostic: &Diagnostic,
    rule: i64,
    fingerprint: &str,
    group: &FileFindings<'_>,
    lines: Option<&Lines<'_>>,
) -> sarif::Result {
    let locations = diagnostic
        .file
        .as_deref()
        .map(|file| {
            let region = diagnostic.span.as_ref().map(region);
            Location::builder()
                .physical_location(physical(file, region))
                .build()
        })
        .into_iter()
        .collect::<Vec<_>>();
    let mut data: BTreeMap<String, serde_json::Value> = diagnostic.data.iter().cloned().collect();
    if let Some(help) = &diagnostic.help {
        data.insert("help".to_owned(), help.as_str().into());
    }
    let fixes = diagnostic
        .fixes
        .iter()
        .map(|fix| self::fix(fix, group, lines))
        .collect::<Vec<_>>();
    sarif::Result::builder()
        .rule_id(diagnostic.code.as_str().to_owned())
        .rule_index(rule)
        .level(match diagnostic.severity {
            Severity::Error => ResultLevel::Error,
            Severity::Warning => ResultLevel::Warning,
            Severity::Info => ResultLevel::Note,
        })
        .message(message(&diagnostic.message))
        .locations(locations)
        .related_locations(
            (0..)
                .zip(&diagnostic.related)
                .map(|(id, place)| related(id, place))
                .collect::<Vec<_>>(),
        )
        .partial_fingerprints(BTreeMap::from([(
            FINGERPRINT.to_owned(),
            fingerprint.to_owned(),
        )]))
        .fixes(fixes)
        .properties(PropertyBag::builder().additional_properties(data).build())
        .build()
}

fn related(id: i64, place: &Related) -> Location {
    let mut region = place.span.as_ref().map(region);
    if let (Some(region), Some(excerpt)) = (&mut region, &place.excerpt) {
        region.snippet = Some(content(marked(excerpt)));
    }
    let text = match (place.page, &place.excerpt) {
        // A page is no region; what stands there goes into the message.
        (Some(page), Some(excerpt)) => format!("page {page}: {}\n{}", place.label, marked(excerpt)),
        (Some(page), None) => format!("page {page}: {}", place.label),
        (None, _) => place.label.clone(),
    };
    Location::builder()
        .id(id)
        .physical_location(physical(&place.file, region))
        .message(message(&text))
        .build()
}

fn fix(fix: &Fix, group: &FileFindings<'_>, lines: Option<&Lines<'_>>) -> sarif::Fix {
    let mut changes: BTreeMap<&str, Vec<Replacement>> = BTreeMap::new();
    for edit in &fix.edits {
        let known = lines.filter(|_| group.file == Some(&edit.file));
        let replacement = Replacement::builder()
            .deleted_region(deleted(edit, known))
            .inserted_content(content(&edit.text))
            .build();
        changes.entry(&edit.file).or_default().push(replacement);
    }
    let changes = changes.into_iter().map(|(file, replacements)| {
        ArtifactChange::builder()
            .artifact_location(artifact(file))
            .replacements(replacements)
            .build()
    });
    sarif::Fix::builder()
        .description(message(&fix.title))
        .artifact_changes(changes.collect::<Vec<_>>())
        .properties(bag([(
            "applicability",
            serde_json::json!(fix.applicability),
        )]))
        .build()
}

/// What an edit replaces: by lines where the text is at hand, otherwise by bytes.
fn deleted(edit: &Edit, lines: Option<&Lines<'_>>) -> Region {
    let positions =
        lines.and_then(|lines| Some((lines.position(edit.start)?, lines.position(edit.end)?)));
    match positions {
        Some(((line, column), (end_line, end_column))) => Region::builder()
            .start_line(number(line))
            .start_column(number(column))
            .end_line(number(end_line))
            .end_column(number(end_column))
            .build(),
        None => Region::builder()
            .byte_offset(number(edit.start))
            .byte_length(number(edit.end.saturating_sub(edit.start)))
            .build(),
    }
}

fn region(span: &Span) -> Region {
    Region::builder()
        .start_line(i64::from(span.line))
        .start_column(i64::from(span.column))
        .end_line(i64::from(span.end_line))
        .end_column(i64::from(span.end_column))
        .byte_offset(number(span.start))
        .byte_length(number(span.end.saturating_sub(span.start)))
        .build()
}

fn physical(file: &str, region: Option<Region>) -> PhysicalLocation {
    let mut location = PhysicalLocation::builder()
        .artifact_location(artifact(file))
        .build();
    location.region = region;
    location
}

fn artifact(file: &str) -> ArtifactLocation {
    ArtifactLocation::builder()
        .uri(uri(file))
        .uri_base_id(BASE.to_owned())
        .build()
}

/// A path as a relative URI: all but the unreserved characters of RFC 3986 and `/` in percent form.
fn uri(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri
}

fn message(text: &str) -> Message {
    Message::builder().text(text.to_owned()).build()
}

fn content(text: &str) -> ArtifactContent {
    ArtifactContent::builder().text(text.to_owned()).build()
}

/// The marked part of an excerpt.
fn marked(excerpt: &Excerpt) -> &str {
    excerpt
        .text
        .get(excerpt.start..excerpt.end)
        .unwrap_or(&excerpt.text)
}

fn bag<const N: usize>(entries: [(&str, serde_json::Value); N]) -> PropertyBag {
    let entries = entries
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value));
    PropertyBag::builder()
        .additional_properties(entries.collect::<BTreeMap<_, _>>())
        .build()
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}

fn number(value: usize) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;

    #[test]
    fn uris() {
        assert_eq!(uri("cards/a-b_1.md"), "cards/a-b_1.md");
        assert_eq!(uri("cards/a b#c?%.md"), "cards/a%20b%23c%3F%25.md");
        assert_eq!(uri("c:é"), "c%3A%C3%A9");
    }
}
