//! PDF to text, page by page, with `hayro` as the interpreter.
//!
//! Page numbers are physical and start at 1; a page without text is an empty page. The order of the
//! text is the order in which the file draws it, which is the order of reading in nearly all files
//! that programs make, columns included. Nothing is guessed for glyphs that have no character: they
//! become U+FFFD and are counted.
//!
//! Work is bounded by pages and by counted drawing operations. What `hayro` unpacks before it draws
//! is not bounded here.

use std::borrow::Cow;
use std::ops::Range;

use hayro_interpret::font::{Glyph, GlyphRun};
use hayro_interpret::hayro_cmap::{BfString, WritingMode};
use hayro_interpret::kurbo::{Affine, BezPath, Point, Rect};
use hayro_interpret::{
    BlendMode, ClipPath, Context, Device, DrawMode, DrawProps, Image, ImageDrawProps,
    InterpreterCache, InterpreterSettings, RenderContent, SoftMask, TransformExt, interpret_page,
};
use hayro_syntax::object::{Dict, String as PdfString};
use hayro_syntax::page::Page;
use hayro_syntax::{LoadPdfError, Pdf};

use super::encoding::compose;
use super::map::FileMap;
use super::{Document, DocumentError, ExtractOptions, Format, Notice, text};

mod lines;
use lines::{Lines, Placed};

/// Stack of the thread that reads a file: the interpreter recurses into nested forms and objects.
const STACK_BYTES: usize = 64 << 20;

/// Most drawing operations (a glyph is one) of one page and of a whole file. Nested forms can ask
/// for exponentially many; the largest real manuals stay under a hundredth of these.
const PAGE_BUDGET: u64 = 2_000_000;
const FILE_BUDGET: u64 = 50_000_000;

/// Share of unmapped glyphs, in percent, above which a page is reported.
const UNMAPPED_PERCENT: u64 = 2;

/// Reads a PDF file.
pub(super) fn read(bytes: &[u8], options: &ExtractOptions) -> Result<Document, DocumentError> {
    std::thread::scope(|scope| {
        let reader = std::thread::Builder::new()
            .name("kbc-pdf".to_owned())
            .stack_size(STACK_BYTES)
            .spawn_scoped(scope, || super::guarded(|| read_here(bytes, options)));
        match reader.map(|reader| reader.join().and_then(|result| result)) {
            Ok(Ok(result)) => result,
            Ok(Err(payload)) if payload.is::<OverBudget>() => Err(DocumentError::Damaged(
                "more drawing operations than any page needs".to_owned(),
            )),
            Ok(Err(_)) => Err(DocumentError::Damaged("the reader panicked".to_owned())),
            // Without a thread the file is not read: on a small stack it could end the process.
            Err(error) => Err(DocumentError::Damaged(format!("no thread for it: {error}"))),
        }
    })
}

/// What a device throws to stop an interpreter that has no other brake.
struct OverBudget;

fn read_here(bytes: &[u8], options: &ExtractOptions) -> Result<Document, DocumentError> {
    let pdf = Pdf::new(bytes.to_vec()).map_err(|error| match error {
        LoadPdfError::Decryption(_) => DocumentError::Encrypted,
        LoadPdfError::Invalid => DocumentError::Damaged("no PDF can be read in it".to_owned()),
    })?;
    let pages = pdf.pages();
    let count = pages.len();
    let limit = options.limits.pages;
    if count > limit as usize {
        return Err(DocumentError::TooManyPages {
            pages: count as u64,
            limit,
        });
    }
    if count == 0 {
        return Err(DocumentError::Damaged("it has no pages".to_owned()));
    }
    let mut notices = Vec::new();
    let found = u32::try_from(count).unwrap_or(u32::MAX);
    let announced = announced_pages(&pdf);
    if announced != Some(found) {
        notices.push(Notice::PageTree { announced, found });
    }
    let settings = InterpreterSettings {
        // Notes and form fields that viewers lay over the page are not its text.
        render_content: RenderContent::PAGE,
        ..InterpreterSettings::default()
    };
    let cache = InterpreterCache::new();
    let mut document = Pages::default();
    let mut spent = 0;
    for (page, number) in pages.iter().zip(1u32..) {
        let mut device = TextDevice {
            budget: PAGE_BUDGET.min(FILE_BUDGET.saturating_sub(spent)),
            ..TextDevice::default()
        };
        let mut context = Context::new(
            upright(page),
            Rect::new(0.0, 0.0, 1.0, 1.0),
            &cache,
            pdf.xref(),
            settings.clone(),
        );
        interpret_page(page, &mut context, &mut device);
        spent += device.spent;
        let percent = percentage(device.unmapped, device.glyphs);
        if u64::from(percent) > UNMAPPED_PERCENT {
            notices.push(Notice::UnmappedGlyphs {
                page: number,
                percent,
            });
        }
        document.push(&device.lines.into_text());
        let (bytes, limit) = (document.text.len() as u64, options.limits.text_bytes);
        if bytes > limit {
            return Err(DocumentError::TooLarge { bytes, limit });
        }
    }
    document.finish(notices)
}

/// Number of pages in the root of the page tree.
fn announced_pages(pdf: &Pdf) -> Option<u32> {
    let root = pdf.xref().get::<Dict<'_>>(pdf.xref().root_id())?;
    root.get::<Dict<'_>>("Pages")?.get::<u32>("Count")
}

/// A share in percent, rounded up.
fn percentage(part: u64, whole: u64) -> u8 {
    let percent = part.saturating_mul(100).div_ceil(whole.max(1));
    u8::try_from(percent).unwrap_or(100)
}

/// From the page's coordinates to upright ones with y growing downwards.
fn upright(page: &Page<'_>) -> Affine {
    page.initial_transform(true).to_kurbo()
}

/// The growing text of a document.
#[derive(Default)]
struct Pages {
    text: String,
    ranges: Vec<Range<usize>>,
    blocks: Vec<super::Block>,
}

impl Pages {
    fn push(&mut self, page: &str) {
        if !self.ranges.is_empty() {
            self.text.push_str("\n\n");
        }
        let start = self.text.len();
        let (page, _) = compose(Cow::Borrowed(page));
        self.text.push_str(&page);
        self.ranges.push(start..self.text.len());
        self.blocks
            .extend(text::paragraphs(&page).into_iter().map(|mut block| {
                block.range = block.range.start + start..block.range.end + start;
                block
            }));
    }

    fn finish(self, notices: Vec<Notice>) -> Result<Document, DocumentError> {
        if self.text.trim().is_empty() {
            return Err(DocumentError::Empty);
        }
        Ok(Document {
            format: Format::Pdf,
            text: self.text.into(),
            pages: self.ranges.into_boxed_slice(),
            blocks: self.blocks.into_boxed_slice(),
            veiled: Box::default(),
            map: FileMap::identity(),
            encoding: "UTF-8",
            encoding_guessed: false,
            title: None,
            notices: notices.into_boxed_slice(),
        })
    }
}

/// Collects the glyphs of one page.
#[derive(Default)]
struct TextDevice {
    lines: Lines,
    glyphs: u64,
    unmapped: u64,
    spent: u64,
    budget: u64,
    /// Glyphs and first place of the run before this one, to drop a run that is drawn again on top:
    /// text that is filled and then stroked, or made bold by drawing it twice.
    last_run: Option<(Vec<u32>, Point)>,
    /// For each open marked sequence, the text that stands for all its glyphs.
    replacements: Vec<Option<Replacement>>,
}

struct Replacement {
    text: Box<str>,
    written: bool,
}

impl TextDevice {
    fn spend(&mut self, operations: u64) {
        self.spent = self.spent.saturating_add(operations);
        if self.spent > self.budget {
            // The interpreter has no way to be told to stop. Unwinding calls no panic hook.
            std::panic::resume_unwind(Box::new(OverBudget));
        }
    }

    fn glyph(&mut self, glyph: &Glyph<'_>, transform: Affine, vertical: bool) {
        let advance = match glyph {
            Glyph::Outline(outline) => outline.advance_width(),
            Glyph::Type3(type3) => type3.advance_width(),
        };
        // Glyph space has 1000 units to the em.
        let advance = if vertical {
            Point::new(0.0, -1000.0)
        } else {
            Point::new(f64::from(advance.unwrap_or(500.0)), 0.0)
        };
        let origin = transform * Point::ZERO;
        let end = transform * advance;
        let em = (transform * Point::new(0.0, 1000.0) - origin).hypot();
        let mut placed = Placed {
            origin,
            end,
            em,
            text: Box::default(),
        };
        if let Some(replacement) = self.replacements.iter_mut().rev().flatten().next() {
            self.glyphs += 1;
            if !std::mem::replace(&mut replacement.written, true) {
                placed.text = replacement.text.clone();
            }
            self.lines.push(placed);
            return;
        }
        let text = match glyph.as_unicode() {
            Some(BfString::Char(character)) => Some(String::from(character)),
            Some(BfString::String(text)) => Some(text),
            None => None,
        };
        self.glyphs += 1;
        placed.text = match text {
            Some(text) if !text.is_empty() && !text.chars().any(is_no_character) => {
                self.unmapped += u64::from(text.chars().any(is_private));
                text.into()
            }
            _ => {
                self.unmapped += 1;
                "\u{fffd}".into()
            }
        };
        self.lines.push(placed);
    }

    /// Whether the run lies on top of the one before it.
    fn is_repeated(&mut self, run: &GlyphRun<'_, '_>, transform: Affine) -> bool {
        let codes: Vec<u32> = run.glyphs().iter().map(|glyph| glyph.char_code()).collect();
        let Some(first) = run.glyphs().first() else {
            return true;
        };
        let transform = transform * first.transform();
        let origin = transform * Point::ZERO;
        let em = (transform * Point::new(0.0, 1000.0) - origin).hypot();
        let repeated = self
            .last_run
            .as_ref()
            .is_some_and(|(last, place)| *last == codes && (*place - origin).hypot() < em * 0.1);
        self.last_run = Some((codes, origin));
        repeated
    }
}

/// Controls and noncharacters that broken tables of characters contain.
fn is_no_character(character: char) -> bool {
    let code = character as u32;
    (character.is_control() && !character.is_whitespace())
        || character == '\u{fffd}'
        || code & 0xfffe == 0xfffe
        || (0xfdd0..=0xfdef).contains(&code)
}

/// Private use: kept, since the same character is always the same glyph, but no character that a
/// quote could hold.
fn is_private(character: char) -> bool {
    matches!(character, '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..='\u{10ffff}')
}

impl<'a> Device<'a> for TextDevice {
    fn draw_glyph_run(&mut self, run: &GlyphRun<'_, 'a>, props: DrawProps<'a>, _: &DrawMode) {
        self.spend(run.glyphs().len() as u64 + 1);
        if self.is_repeated(run, props.transform) {
            return;
        }
        let vertical = run.writing_mode() == WritingMode::Vertical;
        for glyph in run.glyphs() {
            self.glyph(glyph, props.transform * glyph.transform(), vertical);
        }
    }

    fn begin_marked_content(&mut self, _: &[u8], properties: Option<&Dict<'_>>) {
        self.spend(1);
        let text = properties
            .and_then(|properties| properties.get::<PdfString<'_>>("ActualText"))
            .and_then(|text| text_string(text.as_bytes()));
        self.replacements.push(text.map(|text| Replacement {
            text: text.into(),
            written: false,
        }));
    }

    fn end_marked_content(&mut self) {
        self.replacements.pop();
    }

    fn draw_path(&mut self, _: &BezPath, _: DrawProps<'a>, _: &DrawMode) {
        self.spend(1);
    }

    fn push_clip_path(&mut self, _: &ClipPath) {
        self.spend(1);
    }

    fn push_clip_rect(&mut self, _: &Rect) {
        self.spend(1);
    }

    fn draw_rect(&mut self, _: &Rect, _: DrawProps<'a>, _: &DrawMode) {
        self.spend(1);
    }

    fn push_transparency_group(&mut self, _: f32, _: Option<SoftMask<'a>>, _: BlendMode) {
        self.spend(1);
    }

    fn draw_image(&mut self, _: Image<'a, '_>, _: ImageDrawProps<'a>) {
        self.spend(1);
    }

    fn pop_clip(&mut self) {}

    fn pop_transparency_group(&mut self) {}
}

/// A text string of the PDF specification (7.9.2.2): UTF-16 or UTF-8 with a byte order mark.
/// Without a mark only ASCII is taken; the rest of PDFDocEncoding is left to the glyphs.
fn text_string(bytes: &[u8]) -> Option<String> {
    let text = if let Some(units) = bytes.strip_prefix(b"\xfe\xff") {
        let units = units.as_chunks::<2>().0;
        String::from_utf16(
            &units
                .iter()
                .map(|unit| u16::from_be_bytes(*unit))
                .collect::<Vec<_>>(),
        )
        .ok()?
    } else {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let text = std::str::from_utf8(bytes).ok()?;
        text.is_ascii().then(|| text.to_owned())?
    };
    (!text.chars().any(is_no_character)).then_some(text)
}

#[cfg(test)]
mod tests;
