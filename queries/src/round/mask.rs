//! What of a report is no list item to its reader: code fences and comments. And what its links
//! lead to.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Tag};

/// Places that are not read as lines of the report. Sorted, apart from each other.
#[derive(Debug, Default)]
pub(super) struct Mask {
    fences: Vec<Range<usize>>,
    comments: Vec<Range<usize>>,
    links: Vec<(Range<usize>, String)>,
    codes: Vec<(Range<usize>, String)>,
}

impl Mask {
    pub(super) fn new(text: &str, events: &[(Event<'_>, Range<usize>)]) -> Self {
        let mut mask = Mask::default();
        for (event, range) in events {
            match event {
                Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) => {
                    mask.fences.push(range.clone());
                }
                Event::Start(Tag::HtmlBlock) | Event::InlineHtml(_) => {
                    mask.take_comments(text, range.clone());
                }
                Event::Start(Tag::Link { dest_url, .. }) => {
                    mask.links.push((range.clone(), dest_url.to_string()));
                }
                Event::Code(code) => mask.codes.push((range.clone(), code.to_string())),
                _ => {}
            }
        }
        mask
    }

    /// The comments within a piece of HTML. One that is not closed runs to the piece's end.
    fn take_comments(&mut self, text: &str, html: Range<usize>) {
        let mut at = html.start;
        while let Some(found) = text.get(at..html.end).and_then(|html| html.find("<!--")) {
            let begin = at + found;
            let end = text
                .get(begin + 4..html.end)
                .and_then(|rest| rest.find("-->"))
                .map_or(html.end, |length| begin + 4 + length + 3);
            self.comments.push(begin..end);
            at = end;
        }
    }

    /// Whether a line that starts here is inside a fence or a comment.
    pub(super) fn hides_line(&self, start: usize) -> bool {
        holding(&self.fences, start).is_some()
            // A comment that starts the line hides what stands in it, not what follows it.
            || holding(&self.comments, start).is_some_and(|range| range.start < start)
    }

    /// The end of the comment that starts here.
    pub(super) fn comment_at(&self, start: usize) -> Option<usize> {
        holding(&self.comments, start)
            .filter(|range| range.start == start)
            .map(|range| range.end)
    }

    /// Where the links within a range lead to, with the places where they start.
    pub(super) fn links_in(&self, range: Range<usize>) -> impl Iterator<Item = (usize, &str)> {
        starting_in(&self.links, range)
    }

    /// The code spans within a range.
    pub(super) fn codes_in(&self, range: Range<usize>) -> impl Iterator<Item = (usize, &str)> {
        starting_in(&self.codes, range)
    }
}

fn starting_in(
    spans: &[(Range<usize>, String)],
    range: Range<usize>,
) -> impl Iterator<Item = (usize, &str)> {
    let from = spans.partition_point(|(span, _)| span.start < range.start);
    let spans = spans.get(from..).unwrap_or_default().iter();
    spans
        .take_while(move |(span, _)| span.start < range.end)
        .map(|(span, text)| (span.start, &**text))
}

/// The range that holds a place.
fn holding(ranges: &[Range<usize>], at: usize) -> Option<&Range<usize>> {
    let after = ranges.partition_point(|range| range.start <= at);
    ranges
        .get(after.checked_sub(1)?)
        .filter(|range| range.contains(&at))
}
