//! A few lines of a text with a marked range, drawn in a box.
//!
//! The text is cut to the lines of the range, and long lines to the part around it, before anything
//! is drawn: the cost is that of those lines, not of the file. What would disturb a terminal is
//! written out (`visible`), so the drawn text is not the file's text and has offsets of its own.

use std::fmt;
use std::ops::Range;

use miette::{
    Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError,
    MietteSpanContents, SourceCode, SourceSpan, SpanContents,
};
use unicode_width::UnicodeWidthChar;

use super::RenderOptions;
use super::visible;

/// The most lines of a marked range that are shown.
const MOST_LINES: usize = 6;
/// Columns kept in front of the mark when a line is cut there.
const LEAD: usize = 24;
/// Stands for what was cut off a line.
const CUT: char = '…';
/// What [`CUT`] is where only ASCII can be shown.
const CUT_ASCII: char = '~';
/// Columns of a tab stop, as the drawing has it.
const TAB: usize = 4;

/// A drawable piece of a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Snippet {
    /// The lines, made visible, each with a line feed.
    text: String,
    /// The marked range in `text`.
    mark: Range<usize>,
    /// Number of the first line; `None` where lines have no numbers.
    first_line: Option<usize>,
    /// Lines of the range that are not shown.
    hidden: usize,
}

impl Snippet {
    /// Cuts the lines of `range` out of `text`. A range that does not fit the text is moved to the
    /// nearest that does: the file may have changed since.
    ///
    /// `first_line` is the number of the line on which the range begins.
    pub(super) fn new(
        text: &str,
        range: Range<usize>,
        first_line: Option<usize>,
        options: &RenderOptions,
    ) -> Self {
        let start = floor(text, range.start);
        let end = floor(text, range.end.max(range.start)).max(start);
        let (before, after) = (
            text.get(..start).unwrap_or(""),
            text.get(start..end).unwrap_or(""),
        );
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        // A range that takes its last line's break along ends on that line, not on the next.
        let inner = after
            .strip_suffix('\n')
            .map_or(after, |rest| rest.strip_suffix('\r').unwrap_or(rest));
        let mut snippet = Snippet {
            text: String::new(),
            mark: 0..0,
            first_line,
            hidden: 0,
        };
        let rest = text.get(line_start..).unwrap_or("");
        let (mark_start, mark_end) = (start - line_start, start - line_start + inner.len());
        let mut at = 0;
        for (number, line) in rest
            .split_inclusive('\n')
            .chain(rest.is_empty().then_some(""))
            .enumerate()
        {
            let next = at + line.len();
            if number == MOST_LINES {
                snippet.hidden = rest
                    .get(at..mark_end)
                    .map_or(0, |hidden| hidden.matches('\n').count() + 1);
                break;
            }
            let content = line
                .strip_suffix('\n')
                .map_or(line, |line| line.strip_suffix('\r').unwrap_or(line));
            let on_line = |offset: usize| floor(content, offset.saturating_sub(at));
            snippet.push_line(
                content,
                on_line(mark_start)..on_line(mark_end),
                number == 0,
                options,
            );
            if mark_end < next || next == rest.len() && !line.ends_with('\n') {
                break;
            }
            at = next;
            if at == rest.len() {
                // The range ends behind the last line break: an empty line of its own.
                snippet.push_line("", 0..0, false, options);
                break;
            }
        }
        snippet
    }

    /// Appends a line, of which `mark` is marked, cut to what can be shown.
    fn push_line(
        &mut self,
        content: &str,
        mark: Range<usize>,
        first: bool,
        options: &RenderOptions,
    ) {
        // The frame around the line takes some columns; under 40 nothing can be seen.
        let room = options.width.saturating_sub(10).max(40);
        let cut = if options.unicode { CUT } else { CUT_ASCII };
        let head = if first {
            clip_start(content, mark.clone(), room)
        } else {
            0
        };
        if head > 0 {
            self.text.push(cut);
        }
        if first {
            self.mark.start = self.text.len();
        }
        let mut used = usize::from(head > 0);
        for (at, character) in content.get(head..).unwrap_or("").char_indices() {
            let at = head + at;
            if first && at == mark.start {
                self.mark.start = self.text.len();
            }
            if at == mark.end {
                self.mark.end = self.text.len();
            }
            let width = shown_width(character, used);
            if used + width > room {
                self.text.push(cut);
                if mark.end > at {
                    self.mark.end = self.text.len();
                }
                if first && mark.start > at {
                    self.mark.start = self.text.len();
                }
                self.text.push('\n');
                return;
            }
            visible::push(&mut self.text, character);
            used += width;
        }
        if first && mark.start >= content.len() {
            self.mark.start = self.text.len();
        }
        if mark.end >= content.len() {
            self.mark.end = self.text.len();
        }
        self.text.push('\n');
    }

    /// The marked text, as it is shown.
    #[cfg(test)]
    pub(super) fn marked(&self) -> &str {
        self.text.get(self.mark.clone()).unwrap_or("")
    }

    /// Draws the box: `heading` in its first line, `label` under the mark.
    pub(super) fn draw(
        &self,
        heading: &str,
        label: Option<&str>,
        options: &RenderOptions,
    ) -> Result<String, fmt::Error> {
        let mut label = label.map(|label| visible::line(label).into_owned());
        if self.hidden > 0 {
            let more = format!(
                "({} more line{})",
                self.hidden,
                if self.hidden == 1 { "" } else { "s" }
            );
            label = Some(label.map_or_else(|| more.clone(), |label| format!("{label} {more}")));
        }
        let drawing = Drawing {
            snippet: self,
            heading,
            label,
        };
        let handler = GraphicalReportHandler::new_themed(theme(options))
            .with_links(false)
            .without_primary_span_start()
            .without_syntax_highlighting()
            .with_wrap_lines(false)
            .with_context_lines(0)
            .tab_width(TAB)
            .with_width(options.width);
        let mut drawn = String::new();
        handler.render_report(&mut drawn, &drawing)?;
        // The first line is the message, which is empty here.
        let mut result = String::with_capacity(drawn.len());
        for line in drawn.split_inclusive('\n').skip(1) {
            if self.first_line.is_none() {
                push_without_number(&mut result, line);
            } else {
                result.push_str(line);
            }
        }
        Ok(result)
    }
}

/// The theme that the options ask for.
pub(super) fn theme(options: &RenderOptions) -> GraphicalTheme {
    match (options.unicode, options.color) {
        (true, true) => GraphicalTheme::unicode(),
        (true, false) => GraphicalTheme::unicode_nocolor(),
        (false, true) => GraphicalTheme::ascii(),
        (false, false) => GraphicalTheme::none(),
    }
}

/// Where to begin a line so that `mark` and a little before it can be seen; 0 if that fits as it is.
///
/// Looks at no more than twice `room` columns on either side of the mark's start.
fn clip_start(content: &str, mark: Range<usize>, room: usize) -> usize {
    let before = content.get(..mark.start).unwrap_or("");
    let marked = content.get(mark).unwrap_or("");
    if columns(marked, columns(before, 0, room), room) < room {
        return 0;
    }
    let mut kept = 0;
    let mut start = before.len();
    for (at, character) in before.char_indices().rev() {
        kept += shown_width(character, 0);
        if kept > LEAD {
            break;
        }
        start = at;
    }
    start
}

/// The column behind `text` when it begins at column `used`; counts no further than `limit`.
fn columns(text: &str, used: usize, limit: usize) -> usize {
    let mut column = used;
    for character in text.chars() {
        if column >= limit {
            break;
        }
        column += shown_width(character, column);
    }
    column
}

/// Columns that a character takes at column `used`, as it is shown.
fn shown_width(character: char, used: usize) -> usize {
    if character == '\t' {
        TAB - used % TAB
    } else if visible::is_hazard(character) {
        character.escape_unicode().count()
    } else {
        character.width().unwrap_or(0)
    }
}

/// The nearest character boundary at or before `offset`, within the text.
fn floor(text: &str, offset: usize) -> usize {
    text.floor_char_boundary(offset)
}

/// Appends a drawn line with the digits of its line number, if it has one, made spaces.
fn push_without_number(result: &mut String, line: &str) {
    // The number is the first thing on the line but for spaces and an ANSI sequence.
    let mut number = true;
    let mut in_sequence = false;
    for character in line.chars() {
        match character {
            '\u{1b}' => in_sequence = true,
            'm' if in_sequence => {
                in_sequence = false;
                result.push(character);
                continue;
            }
            _ => {}
        }
        if number && !in_sequence && character.is_ascii_digit() {
            result.push(' ');
        } else {
            number &= in_sequence || character == ' ' || character == '\u{1b}';
            result.push(character);
        }
    }
}

/// A snippet in the shape that the drawing library asks for.
#[derive(Debug)]
struct Drawing<'a> {
    snippet: &'a Snippet,
    heading: &'a str,
    label: Option<String>,
}

impl fmt::Display for Drawing<'_> {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ok(())
    }
}

impl std::error::Error for Drawing<'_> {}

impl Diagnostic for Drawing<'_> {
    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(self)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let mark = &self.snippet.mark;
        let span = SourceSpan::new(mark.start.into(), mark.len());
        Some(Box::new(std::iter::once(
            LabeledSpan::new_primary_with_span(self.label.clone(), span),
        )))
    }
}

impl SourceCode for Drawing<'_> {
    /// The whole snippet, whatever part of it is asked for: it is cut already.
    fn read_span<'a>(
        &'a self,
        _: &SourceSpan,
        _: usize,
        _: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let text = &self.snippet.text;
        let line = self.snippet.first_line.unwrap_or(1).saturating_sub(1);
        Ok(Box::new(MietteSpanContents::new_named(
            self.heading.to_owned(),
            text.as_bytes(),
            SourceSpan::new(0.into(), text.len()),
            line,
            0,
            text.matches('\n').count(),
        )))
    }
}
