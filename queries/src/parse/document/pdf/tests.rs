#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fmt::Write as _;

use proptest::prelude::*;

use super::super::{Block, BlockKind, FilePosition, extract};
use super::*;

/// A PDF with Helvetica as `/F1` and one content stream per page; extra objects follow the pages.
/// The cross-reference table is exact. `{font}` may replace the font's dictionary.
fn pdf_with(pages: &[&str], font: &str, extra: &[&str], trailer: &str) -> Vec<u8> {
    let first_page = 4;
    let kids: String = (0..pages.len())
        .map(|index| format!("{} 0 R ", first_page + 2 * index))
        .collect();
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        format!(
            "<< /Type /Pages /Kids [ {kids}] /Count {} /MediaBox [0 0 612 792] >>",
            pages.len()
        ),
        font.to_owned(),
    ];
    let first_extra = first_page + 2 * pages.len();
    for (index, content) in pages.iter().enumerate() {
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /Contents {} 0 R /Resources << /Font << /F1 3 0 R >> /XObject << /X0 {first_extra} 0 R >> >> >>",
            first_page + 2 * index + 1
        ));
        objects.push(format!(
            "<< /Length {} >>\nstream\n{content}\nendstream",
            content.len()
        ));
    }
    objects.extend(extra.iter().map(|object| (*object).to_owned()));
    let mut file = "%PDF-1.7\n".to_owned();
    let mut offsets = Vec::new();
    for (object, number) in objects.iter().zip(1..) {
        offsets.push(file.len());
        writeln!(file, "{number} 0 obj\n{object}\nendobj").unwrap();
    }
    let table = file.len();
    writeln!(file, "xref\n0 {}\n0000000000 65535 f ", offsets.len() + 1).unwrap();
    for offset in &offsets {
        writeln!(file, "{offset:010} 00000 n ").unwrap();
    }
    writeln!(
        file,
        "trailer\n<< /Size {} /Root 1 0 R {trailer} >>\nstartxref\n{table}\n%%EOF",
        offsets.len() + 1
    )
    .unwrap();
    file.into_bytes()
}

const HELVETICA: &str =
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>";

fn pdf(pages: &[&str]) -> Vec<u8> {
    pdf_with(pages, HELVETICA, &[], "")
}

fn document(bytes: &[u8]) -> Document {
    extract(bytes, &ExtractOptions::new(Format::Pdf)).unwrap()
}

/// A content stream with each text at a place, 12 points high.
fn placed(texts: &[(i32, i32, &str)]) -> String {
    let mut content = "BT /F1 12 Tf ".to_owned();
    for (x, y, text) in texts {
        write!(content, "1 0 0 1 {x} {y} Tm ({text}) Tj ").unwrap();
    }
    content + "ET"
}

#[test]
fn lines_words_and_paragraphs() {
    let table: &[(&str, &str)] = &[
        (
            &placed(&[(72, 700, "One line"), (72, 686, "and another.")]),
            "One line\nand another.",
        ),
        (
            &placed(&[
                (72, 700, "a"),
                (72, 686, "b"),
                (72, 672, "c"),
                (72, 640, "d"),
                (72, 626, "e"),
            ]),
            "a\nb\nc\n\nd\ne",
        ),
        // Two columns, drawn one after the other.
        (
            &placed(&[
                (72, 700, "left one"),
                (72, 686, "left two"),
                (320, 700, "right one"),
                (320, 686, "right two"),
            ]),
            "left one\nleft two\n\nright one\nright two",
        ),
        // Words placed one by one: a gap is a space, a kern is none.
        (
            "BT /F1 12 Tf 72 700 Td [(Wo) 40 (rd) -330 (apart) -20 (ed) 1200 (x)] TJ ET",
            "Word aparted\nx",
        ),
        ("BT /F1 12 Tf 72 700 Td (a ) Tj ( b ) Tj ET", "a b"),
        // A superscript stays in its line, and the line goes on.
        (
            "BT /F1 12 Tf 72 700 Td (m) Tj /F1 7 Tf 5 Ts (2) Tj 0 Ts /F1 12 Tf ( x) Tj ET",
            "m2 x",
        ),
        // Filled and stroked, then drawn twice to look bold.
        (
            "BT /F1 12 Tf 2 Tr 72 700 Td (Once) Tj 0 Tr 0 -14 Td (bold) Tj 1 0 0 1 72.3 686 Tm (bold) Tj ET",
            "Once\nbold",
        ),
        // Invisible text over a scanned page is its text.
        ("BT /F1 12 Tf 3 Tr 72 700 Td (scanned) Tj ET", "scanned"),
        // Turned text reads along its own direction.
        (
            "BT /F1 12 Tf 0 1 -1 0 300 300 Tm (up ) Tj (wards) Tj ET",
            "up wards",
        ),
        (
            "/Span << /ActualText (ffi) >> BDC BT /F1 12 Tf 72 700 Td (xyz) Tj ET EMC",
            "ffi",
        ),
        (
            "/Span << /ActualText <FEFF00E9> >> BDC BT /F1 12 Tf 72 700 Td (e) Tj (') Tj ET EMC",
            "é",
        ),
        (
            "BT /F1 12 Tf 72 700 Td (caf\\351 \\223q\\224) Tj ET",
            "café “q”",
        ),
    ];
    for (content, expected) in table {
        assert_eq!(&*document(&pdf(&[content])).text, *expected, "{content}");
    }
}

#[test]
fn page_numbers_are_physical() {
    let pages = [
        placed(&[(72, 700, "First page.")]),
        String::new(),
        placed(&[(72, 700, "Third"), (72, 686, "page.")]),
    ];
    let pages: Vec<&str> = pages.iter().map(String::as_str).collect();
    let document = document(&pdf(&pages));
    assert_eq!(&*document.text, "First page.\n\n\n\nThird\npage.");
    assert_eq!(*document.pages, [0..11, 13..13, 15..26]);
    assert!(document.is_paged() && document.notices.is_empty());
    let paragraph = |range| Block {
        range,
        kind: BlockKind::Paragraph,
    };
    assert_eq!(*document.blocks, [paragraph(0..11), paragraph(15..26)]);
    assert_eq!(
        document.file_position(21..25),
        FilePosition::Page {
            page: 3,
            chars: 6..10
        }
    );
}

#[test]
fn glyphs_without_a_character_are_counted() {
    let font = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding << /Type /Encoding \
                /Differences [ 65 /nosuchglyph ] >> >>";
    let content = placed(&[(72, 700, "xAx bcdefgh")]);
    let document = document(&pdf_with(&[&content], font, &[], ""));
    assert_eq!(&*document.text, "x\u{fffd}x bcdefgh");
    assert_eq!(
        *document.notices,
        [Notice::UnmappedGlyphs {
            page: 1,
            percent: 10
        }]
    );
}

#[test]
fn right_to_left_lines_read_in_order() {
    let place = |x: f64, text: &str| Placed {
        origin: Point::new(x, 0.0),
        end: Point::new(x + 5.0, 0.0),
        em: 10.0,
        text: text.into(),
    };
    let lines = |letters: &[(f64, &str)]| {
        let mut lines = Lines::default();
        for (x, letter) in letters {
            lines.push(place(*x, letter));
        }
        lines.into_text()
    };
    // Drawn from left to right, as seen: the last letter first.
    let seen = [
        (0.0, "3"),
        (5.0, "7"),
        (12.0, "ג"),
        (17.0, "ב"),
        (24.0, "("),
        (29.0, "א"),
    ];
    assert_eq!(lines(&seen), "א) בג 37");
    // Drawn in reading order, leftwards.
    let read = [(29.0, "א"), (22.0, "ב"), (17.0, "ג")];
    assert_eq!(lines(&read), "א בג");
}

#[test]
fn a_short_file_says_that_pages_are_missing() {
    let page = placed(&[(72, 700, "word")]);
    let whole = pdf(&[&page, &page]);
    let text = String::from_utf8(whole)
        .unwrap()
        .replace("/Count 2", "/Count 3");
    assert_eq!(
        *document(text.as_bytes()).notices,
        [Notice::PageTree {
            announced: Some(3),
            found: 2
        }]
    );
}

#[test]
fn damage_has_a_name() {
    let read = |bytes: &[u8]| extract(bytes, &ExtractOptions::new(Format::Pdf));
    assert!(matches!(
        read(b"%PDF-1.4\nnothing"),
        Err(DocumentError::Damaged(_))
    ));
    assert!(matches!(
        read(b"plain words"),
        Err(DocumentError::Damaged(_))
    ));
    assert_eq!(read(b""), Err(DocumentError::Empty));
    assert_eq!(
        read(&pdf(&["", "0 0 10 10 re f"])),
        Err(DocumentError::Empty)
    );
    let encrypted = pdf_with(
        &[&placed(&[(72, 700, "secret")])],
        HELVETICA,
        &[],
        "/ID [<00> <00>] /Encrypt << /Filter /Standard /V 1 /R 2 /P -4 \
         /O <0123456789012345678901234567890123456789012345678901234567890123> \
         /U <0123456789012345678901234567890123456789012345678901234567890123> >>",
    );
    assert_eq!(read(&encrypted), Err(DocumentError::Encrypted));
    let mut options = ExtractOptions::new(Format::Pdf);
    options.limits.pages = 1;
    assert_eq!(
        extract(&pdf(&["", ""]), &options),
        Err(DocumentError::TooManyPages { pages: 2, limit: 1 })
    );
}

#[test]
fn forms_that_draw_each_other_again_and_again_are_stopped() {
    // Each form draws the next one eight times: 8^20 drawings.
    let levels = 20;
    let first = 6;
    let forms: Vec<String> = (0..levels)
        .map(|level| {
            let content = "/X0 Do ".repeat(8);
            format!(
                "<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X0 {} 0 R >> >> /Length {} >>\nstream\n{content}\nendstream",
                first + level + 1,
                content.len()
            )
        })
        .collect();
    let forms: Vec<&str> = forms.iter().map(String::as_str).collect();
    let bomb = pdf_with(&["/X0 Do"], HELVETICA, &forms, "");
    assert!(matches!(
        extract(&bomb, &ExtractOptions::new(Format::Pdf)),
        Err(DocumentError::Damaged(why)) if why.contains("drawing")
    ));
}

/// The file that `fixtures/sources/handbook.pdf` is a copy of.
fn handbook() -> Vec<u8> {
    let pages = [
        placed(&[
            (72, 720, "A Short Handbook"),
            (72, 680, "The river spirit guards the ford."),
            (72, 666, "It may be bribed with cucumbers, but not on"),
            (72, 652, "the night of the festival."),
        ]),
        String::new(),
        placed(&[
            (72, 720, "Exceptions"),
            (72, 680, "No offering is accepted twice in 30 days."),
        ]),
    ];
    let pages: Vec<&str> = pages.iter().map(String::as_str).collect();
    pdf(&pages)
}

#[test]
fn the_fixture_reads_as_written() {
    let fixture = include_bytes!("../../../../../fixtures/sources/handbook.pdf");
    assert_eq!(fixture.as_slice(), handbook());
    assert_eq!(
        &*document(fixture).text,
        "A Short Handbook\n\nThe river spirit guards the ford.\nIt may be bribed with cucumbers, but \
         not on\nthe night of the festival.\n\n\n\nExceptions\n\nNo offering is accepted twice in 30 days."
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn mutated_files_give_an_answer(
        cut in 0usize..3000,
        edits in proptest::collection::vec((0usize..4000, any::<u8>()), 0..24),
    ) {
        let mut bytes = handbook();
        for (at, byte) in edits {
            let at = at % bytes.len();
            bytes[at] = byte;
        }
        bytes.truncate(bytes.len().saturating_sub(cut.saturating_sub(1500)));
        let options = ExtractOptions::new(Format::Pdf);
        let Ok(document) = extract(&bytes, &options) else { return Ok(()) };
        let mut end = 0;
        for page in &document.pages {
            prop_assert!(page.start >= end && document.text.get(page.clone()).is_some());
            end = page.end;
        }
        prop_assert_eq!(end, document.text.len());
        prop_assert!(unicode_normalization::is_nfc(&document.text));
        prop_assert_eq!(Ok(document), extract(&bytes, &options));
    }
}
