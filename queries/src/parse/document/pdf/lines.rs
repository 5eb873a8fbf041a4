//! Placed glyphs to lines of text.
//!
//! Glyphs arrive in drawing order and are never sorted by place: whether one continues the line is
//! decided against the glyph before it, in that glyph's own direction, so that rotated and vertical
//! text works the same way. All distances are in parts of the font size.

use hayro_interpret::kurbo::{Point, Vec2};

/// A gap along the line from which words are apart. Spaces of justified text shrink to 0.2; kerning
/// stays under 0.1.
const WORD_GAP: f64 = 0.15;
/// Distance across the line up to which a glyph still belongs to it: covers superscripts.
const SAME_LINE: f64 = 0.5;
/// How far back along the line a glyph may start: overstruck accents and negative kerning.
const BACKWARD: f64 = 1.0;
/// A step between lines that is this much larger than the page's usual one starts a paragraph.
const PARAGRAPH_STEP: f64 = 1.3;

/// A glyph with its text, in upright page coordinates with y growing downwards.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    pub(super) origin: Point,
    /// Where the next glyph of the line is expected.
    pub(super) end: Point,
    /// Font size on the page.
    pub(super) em: f64,
    /// Empty for a glyph whose text was written with another one.
    pub(super) text: Box<str>,
}

#[derive(Debug)]
struct Line {
    /// Glyph texts and single spaces, in drawing order.
    pieces: Vec<Box<str>>,
    /// Where the line's largest glyph stands.
    base: Point,
    em: f64,
    direction: Vec2,
    /// Whether letters of right-to-left scripts were drawn from left to right, and the other way.
    rightwards: u32,
    leftwards: u32,
}

/// The lines of a page.
#[derive(Debug, Default)]
pub(super) struct Lines {
    lines: Vec<Line>,
    last: Option<Placed>,
}

/// Where a glyph goes.
#[derive(Clone, Copy)]
enum Joint {
    Glued,
    Spaced,
    NewLine,
}

impl Lines {
    /// Adds the next glyph in drawing order.
    pub(super) fn push(&mut self, glyph: Placed) {
        let numbers = [
            glyph.origin.x,
            glyph.origin.y,
            glyph.end.x,
            glyph.end.y,
            glyph.em,
        ];
        if !numbers.iter().all(|number| number.is_finite()) {
            return;
        }
        let joint = self.joint(&glyph);
        let is_space = !glyph.text.is_empty() && glyph.text.chars().all(char::is_whitespace);
        let text: Box<str> = if is_space {
            " ".into()
        } else {
            glyph.text.clone()
        };
        let step = glyph.end - glyph.origin;
        match (self.lines.last_mut(), joint) {
            (Some(line), Joint::Glued | Joint::Spaced) => {
                let ends_in_space = line.pieces.last().is_none_or(|piece| &**piece == " ");
                if is_space {
                    if !ends_in_space {
                        line.pieces.push(text);
                    }
                } else if !text.is_empty() {
                    if matches!(joint, Joint::Spaced) && !ends_in_space {
                        line.pieces.push(" ".into());
                    }
                    if text.chars().any(is_right_to_left)
                        && let Some(last) = &self.last
                    {
                        let forward = (glyph.origin - last.origin).dot(line.direction) > 0.0;
                        line.rightwards += u32::from(forward);
                        line.leftwards += u32::from(!forward);
                    }
                    line.pieces.push(text);
                }
                if glyph.em > line.em {
                    line.em = glyph.em;
                    line.base = glyph.origin;
                }
            }
            _ => {
                if is_space {
                    // A space alone starts no line, and the next glyph is measured against the
                    // last one that did.
                    return;
                }
                self.lines.push(Line {
                    pieces: vec![text],
                    base: glyph.origin,
                    em: glyph.em,
                    direction: unit(step),
                    rightwards: 0,
                    leftwards: 0,
                });
            }
        }
        self.last = Some(glyph);
    }

    fn joint(&self, glyph: &Placed) -> Joint {
        let (Some(line), Some(last)) = (self.lines.last(), &self.last) else {
            return Joint::NewLine;
        };
        let em = glyph.em.max(last.em).max(f64::MIN_POSITIVE);
        let step = glyph.end - glyph.origin;
        // A glyph without width has no direction of its own.
        if step.hypot() > em * 0.05 && unit(step).dot(line.direction) < 0.9 {
            return Joint::NewLine;
        }
        let across =
            |from: Point| (glyph.origin - from).cross(line.direction).abs() / line.em.max(em);
        if across(line.base).min(across(last.origin)) > SAME_LINE {
            return Joint::NewLine;
        }
        let gap = (glyph.origin - last.end).dot(line.direction) / em;
        if gap >= -BACKWARD {
            return if gap > WORD_GAP {
                Joint::Spaced
            } else {
                Joint::Glued
            };
        }
        // Right-to-left text drawn in reading order: the glyph ends where the last one starts.
        let reads_left = |text: &str| text.chars().any(is_right_to_left);
        let gap = (last.origin - glyph.end).dot(line.direction) / em;
        if (reads_left(&glyph.text) || reads_left(&last.text) || line.leftwards > 0)
            && (-BACKWARD..3.0).contains(&gap)
        {
            return if gap > WORD_GAP {
                Joint::Spaced
            } else {
                Joint::Glued
            };
        }
        Joint::NewLine
    }

    /// The text of the page: lines separated by a line feed, and by a blank line where the step to
    /// the next one is clearly larger than usual or leads back up.
    pub(super) fn into_text(self) -> String {
        let steps: Vec<f64> = self
            .lines
            .iter()
            .zip(self.lines.iter().skip(1))
            .map(|(line, next)| {
                let em = line.em.max(next.em).max(f64::MIN_POSITIVE);
                // Across the line, growing in the direction of reading.
                line.direction.cross(next.base - line.base) / em
            })
            .collect();
        let mut usual: Vec<f64> = steps.iter().copied().filter(|step| *step > 0.5).collect();
        usual.sort_by(f64::total_cmp);
        let usual = usual.get(usual.len().saturating_sub(1) / 2).copied();
        let limit = usual.unwrap_or(1.0).clamp(1.0, 2.4) * PARAGRAPH_STEP;
        let mut text = String::new();
        let mut steps = steps.into_iter();
        for line in self.lines {
            if !text.is_empty() {
                let step = steps.next().unwrap_or(0.0);
                let apart = step > limit || step < -SAME_LINE;
                text.push_str(if apart { "\n\n" } else { "\n" });
            }
            line.write(&mut text);
        }
        text
    }
}

impl Line {
    fn write(mut self, text: &mut String) {
        while self
            .pieces
            .last()
            .is_some_and(|piece| piece.trim().is_empty())
        {
            self.pieces.pop();
        }
        if self.rightwards > self.leftwards {
            self.reverse();
        }
        for piece in &self.pieces {
            text.push_str(piece);
        }
    }

    /// A right-to-left line that was drawn from left to right, back into reading order: the whole
    /// line turns around, then words and numbers of the other direction turn back.
    fn reverse(&mut self) {
        self.pieces.reverse();
        let is_forward = |piece: &str| {
            piece
                .chars()
                .any(|character| character.is_alphanumeric() && !is_right_to_left(character))
        };
        let mut start = 0;
        while start < self.pieces.len() {
            let rest = self.pieces.get_mut(start..).unwrap_or_default();
            if !rest.first().is_some_and(|piece| is_forward(piece)) {
                if let Some(piece) = rest.first_mut() {
                    *piece = mirrored(piece);
                }
                start += 1;
                continue;
            }
            // The stretch ends with the last forward piece before a right-to-left letter.
            let until = rest
                .iter()
                .position(|piece| piece.chars().any(is_right_to_left))
                .unwrap_or(rest.len());
            let length = rest
                .iter()
                .take(until)
                .rposition(|piece| is_forward(piece))
                .map_or(1, |at| at + 1);
            if let Some(stretch) = rest.get_mut(..length) {
                stretch.reverse();
            }
            start += length;
        }
    }
}

fn mirrored(piece: &str) -> Box<str> {
    match piece {
        "(" => ")",
        ")" => "(",
        "[" => "]",
        "]" => "[",
        "{" => "}",
        "}" => "{",
        "<" => ">",
        ">" => "<",
        "«" => "»",
        "»" => "«",
        other => other,
    }
    .into()
}

/// Letters of Hebrew, Arabic and their neighbours, with the presentation forms.
fn is_right_to_left(character: char) -> bool {
    matches!(character,
        '\u{590}'..='\u{65f}' | '\u{66a}'..='\u{6ef}' | '\u{6fa}'..='\u{8ff}'
        | '\u{fb1d}'..='\u{fdcf}' | '\u{fdf0}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}')
}

fn unit(vector: Vec2) -> Vec2 {
    let length = vector.hypot();
    if length > 0.0 {
        vector / length
    } else {
        Vec2::new(1.0, 0.0)
    }
}
