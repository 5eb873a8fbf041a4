//! What holds for all formats: encodings, line ends, damage, the way back to the file.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use encoding_rs::Encoding;
use proptest::prelude::*;

use super::*;

const FORMATS: [Format; 4] = [Format::Markdown, Format::Text, Format::Html, Format::Csv];

fn text_options(encoding: Option<&str>) -> ExtractOptions {
    ExtractOptions {
        encoding: encoding.map(str::to_owned),
        ..ExtractOptions::new(Format::Text)
    }
}

fn utf16(text: &str, unit: fn(u16) -> [u8; 2]) -> Vec<u8> {
    std::iter::once(0xfeff)
        .chain(text.encode_utf16())
        .flat_map(unit)
        .collect()
}

#[test]
fn encodings_and_line_ends() {
    let utf16le = utf16("Größe\r\n𝄞", u16::to_le_bytes);
    let utf16be = utf16("Größe\r\n𝄞", u16::to_be_bytes);
    let table: &[(&[u8], Option<&str>, &str, &str)] = &[
        (b"a\r\nb\rc\n\r\n", None, "a\nb\nc\n\n", "UTF-8"),
        (b"\xef\xbb\xbfa", None, "a", "UTF-8"),
        (b"\xef\xbb\xbfa", Some("latin1"), "a", "UTF-8"),
        ("Ä e\u{301}".as_bytes(), None, "Ä é", "UTF-8"),
        (&utf16le, None, "Größe\n𝄞", "UTF-16LE"),
        (&utf16be, None, "Größe\n𝄞", "UTF-16BE"),
        (&utf16le[2..], Some("utf-16le"), "Größe\n𝄞", "UTF-16LE"),
        (
            b"\x93q\x94 \x80",
            Some("windows-1252"),
            "“q” €",
            "windows-1252",
        ),
        (b"\x82\xa0a\r\n", Some("sjis"), "あa\n", "Shift_JIS"),
        (
            b"\xc4\xe3\x81\x30\x81\x30",
            Some("gb18030"),
            "你\u{80}",
            "gb18030",
        ),
    ];
    for (bytes, label, text, encoding) in table {
        let document = extract(bytes, &text_options(*label)).unwrap();
        assert_eq!((&*document.text, document.encoding), (*text, *encoding));
        assert!(!document.encoding_guessed && document.notices.is_empty());
    }
}

#[test]
fn damage_has_a_name() {
    let truncated = DocumentError::UndecodableText {
        encoding: "UTF-8",
        offset: 4,
    };
    let binary = DocumentError::Damaged("looks binary".to_owned());
    let undecodable = |encoding, offset| DocumentError::UndecodableText { encoding, offset };
    let table: &[(&[u8], Option<&str>, DocumentError)] = &[
        (b"", None, DocumentError::Empty),
        (b" \r\n\t", None, DocumentError::Empty),
        (b"\xef\xbb\xbf", None, DocumentError::Empty),
        (
            "ääö".as_bytes().split_last().unwrap().1,
            Some("utf-8"),
            truncated,
        ),
        (b"a\0b", None, binary.clone()),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", None, binary.clone()),
        (b"\xff\xfe\0\0a\0\0\0", None, binary),
        (b"\xff\xfea\0b", None, undecodable("UTF-16LE", 4)),
        (b"\xff\xfe\0\xdc", None, undecodable("UTF-16LE", 2)),
        (b"ab\xff\xffcd", Some("sjis"), undecodable("Shift_JIS", 2)),
        (
            b"a",
            Some("utf-9"),
            DocumentError::UnknownEncoding {
                label: "utf-9".to_owned(),
            },
        ),
    ];
    for (bytes, label, error) in table {
        assert_eq!(
            extract(bytes, &text_options(*label)).as_ref(),
            Err(error),
            "{bytes:?}"
        );
    }
}

#[test]
fn one_bad_byte_in_utf8_is_damage_and_not_another_encoding() {
    let mut bytes = "äöüßéèêñ çÄÖÜ".as_bytes().to_vec();
    bytes.push(0xff);
    let offset = bytes.len() - 1;
    assert_eq!(
        extract(&bytes, &text_options(None)),
        Err(DocumentError::UndecodableText {
            encoding: "UTF-8",
            offset
        })
    );
    let latin = b"une \xe9t\xe9 \xe0 la mer, tr\xe8s ch\xe8re, \xe7a va";
    let document = extract(latin, &text_options(None)).unwrap();
    assert_eq!(&*document.text, "une été à la mer, très chère, ça va");
    assert_eq!(
        *document.notices,
        [Notice::EncodingGuessed {
            label: "windows-1252"
        }]
    );
}

#[test]
fn limits_are_checked() {
    let mut options = text_options(None);
    options.limits.bytes = 3;
    assert_eq!(
        extract(b"four", &options),
        Err(DocumentError::TooLarge { bytes: 4, limit: 3 })
    );
    let mut options = ExtractOptions::new(Format::Csv);
    options.limits.text_bytes = 10;
    assert!(matches!(
        extract(b"id,a\nx,yyyyyyyyyyyy\n", &options),
        Err(DocumentError::TooLarge { limit: 10, .. })
    ));
}

#[test]
fn formats_by_name_and_content() {
    let table: &[(&str, &[u8], Option<Format>)] = &[
        ("a/b.MD", b"", Some(Format::Markdown)),
        ("a.b/c.markdown", b"", Some(Format::Markdown)),
        ("x.txt", b"%PDF-1.4\n", Some(Format::Pdf)),
        ("x.md", b"The header is %PDF-1.4.", Some(Format::Markdown)),
        ("x.tsv", b"", Some(Format::Csv)),
        ("x", b"  <!DOCTYPE html>", Some(Format::Html)),
        ("x.png", b"\x89PNG", None),
        ("dir.md/x", b"words", None),
    ];
    for (path, head, format) in table {
        assert_eq!(Format::from_path(path, head), *format, "{path}");
    }
    assert_eq!(
        RegistryOptions::for_path("a/creatures.tsv"),
        RegistryOptions {
            name: "creatures".to_owned(),
            primary_key: None,
            delimiter: Some('\t'),
            declared: false,
        }
    );
}

#[test]
fn an_ordinary_file_needs_no_map() {
    let text = "# Größe\n\nWords.\n".repeat(100);
    let document = extract(text.as_bytes(), &ExtractOptions::new(Format::Markdown)).unwrap();
    assert!(document.map.is_identity());
    let utf16 = utf16(&"plain ascii words ".repeat(100), u16::to_le_bytes);
    let document = extract(&utf16, &text_options(None)).unwrap();
    assert_eq!(document.map.run_count(), 1);
}

#[test]
fn positions_in_pages() {
    let document = Document {
        pages: Box::new([0..3, 5..5, 7..11]),
        ..Document::from_text(Format::Pdf, "aé\n\n\n\nb ßd", vec![])
    };
    assert_eq!(document.text.len(), 12);
    let table = [(0, 1), (3, 1), (4, 1), (5, 2), (6, 2), (7, 3), (99, 3)];
    for (offset, page) in table {
        assert_eq!(document.page_of(offset), page, "{offset}");
    }
    assert_eq!(
        document.file_position(1..9),
        FilePosition::Page {
            page: 1,
            chars: 1..2
        }
    );
    assert_eq!(
        document.file_position(8..11),
        FilePosition::Page {
            page: 3,
            chars: 1..3
        }
    );
}

/// Decoding a slice of the file gives the slice of the text, for a text that has no letters to
/// compose and only LF, and for every pair of neighbouring character boundaries and some wider ones.
fn check_slices(document: &Document, bytes: &[u8], encoding: &'static Encoding) {
    let boundaries: Vec<usize> = document
        .text
        .char_indices()
        .map(|(at, _)| at)
        .chain([document.text.len()])
        .collect();
    for (index, start) in boundaries.iter().enumerate() {
        for end in boundaries.iter().skip(index + 1).step_by(1 + index % 7) {
            let range = document.map.to_file(*start..*end);
            let (decoded, bad) = encoding.decode_without_bom_handling(&bytes[range]);
            assert!(!bad);
            let back = decoded.replace("\r\n", "\n").replace('\r', "\n");
            let back: String = unicode_normalization::UnicodeNormalization::nfc(&*back).collect();
            assert_eq!(back, document.text[*start..*end]);
        }
    }
}

fn words() -> impl Strategy<Value = String> {
    proptest::collection::vec(
        prop_oneof![
            "[a-z ]{1,8}",
            Just("\r\n".to_owned()),
            Just("\n".to_owned()),
            Just("é".to_owned()),
            Just("ß".to_owned()),
            Just("x\r\ny".to_owned()),
        ],
        1..20,
    )
    .prop_map(|parts| format!("w{}", parts.concat()))
}

proptest! {
    #[test]
    fn utf8_maps_back(text in words(), decomposed in any::<bool>()) {
        let text = if decomposed {
            unicode_normalization::UnicodeNormalization::nfd(&*text).collect()
        } else {
            text
        };
        let document = extract(text.as_bytes(), &text_options(None)).unwrap();
        check_slices(&document, text.as_bytes(), encoding_rs::UTF_8);
        prop_assert_eq!(document.map.to_file(0..document.text.len()), 0..text.len());
    }

    #[test]
    fn utf16_maps_back(text in words(), extra in "[𝄞あ한]{0,3}") {
        let text = text + &extra;
        for (bytes, encoding) in [
            (utf16(&text, u16::to_le_bytes), encoding_rs::UTF_16LE),
            (utf16(&text, u16::to_be_bytes), encoding_rs::UTF_16BE),
        ] {
            let document = extract(&bytes, &text_options(None)).unwrap();
            check_slices(&document, &bytes, encoding);
            prop_assert_eq!(document.map.to_file(0..document.text.len()), 2..bytes.len());
        }
    }

    #[test]
    fn other_encodings_map_back(text in words(), japanese in "[あいう漢字ｱ]{0,9}") {
        let (bytes, encoding, _) = encoding_rs::WINDOWS_1252.encode(&text);
        let document = extract(&bytes, &text_options(Some("windows-1252"))).unwrap();
        check_slices(&document, &bytes, encoding);
        let text = text.replace(['é', 'ß'], "k") + &japanese;
        for label in ["shift_jis", "euc-jp", "gb18030"] {
            let encoding = Encoding::for_label(label.as_bytes()).unwrap();
            let (bytes, _, _) = encoding.encode(&text);
            let document = extract(&bytes, &text_options(Some(label))).unwrap();
            check_slices(&document, &bytes, encoding);
        }
    }

    /// NFC against the whole-string function, on letters, marks, jamo and singletons.
    #[test]
    fn composition_is_nfc(text in "w[a-e \u{301}\u{327}\u{323}éÅ\u{212b}\u{1100}\u{1161}\u{11a8}가\u{344}\u{f73}]{0,24}") {
        let expected: String = unicode_normalization::UnicodeNormalization::nfc(&*text).collect();
        let document = extract(text.as_bytes(), &text_options(None)).unwrap();
        prop_assert_eq!(&*document.text, &*expected);
        prop_assert_eq!(document.map.to_file(0..expected.len()), 0..text.len());
    }

    /// Any bytes at all: an answer, with blocks and pages inside the text.
    #[test]
    fn any_bytes_give_an_answer(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        for format in FORMATS {
            check_sound(&bytes, &ExtractOptions::new(format));
        }
    }

    #[test]
    fn mutated_files_give_an_answer(
        seed in 0usize..4,
        cut in 0usize..400,
        edits in proptest::collection::vec((0usize..400, any::<u8>()), 0..6),
    ) {
        let format = FORMATS[seed];
        let mut bytes = SEEDS[seed].as_bytes().to_vec();
        for (at, byte) in edits {
            let at = at % bytes.len();
            bytes[at] = byte;
        }
        bytes.truncate(bytes.len().saturating_sub(cut % 300));
        check_sound(&bytes, &ExtractOptions::new(format));
        let latin = ExtractOptions { encoding: Some("latin1".to_owned()), ..ExtractOptions::new(format) };
        check_sound(&bytes, &latin);
    }
}

const SEEDS: [&str; 4] = [
    "---\na: b\n---\n# T\u{301}itle\r\n\r\n- a\r\n  - b\n\n```rs\ncode\n```\n\n| a | b |\n|--|--|\n| 1 | 2 |\n\n> quote\n\n[x]: y\n",
    "Para\none\n\n\u{c}two é\r\nthree\r\r\nfour\n",
    "<!doctype html><head><title>T</title><style>p{}</style></head><body><h1>A&eacute;</h1><p>b<br>c<ul><li>d</ul><table><tr><td>e<td>f</table><pre> g\n h</pre><script>var x = '<p>';</script>&#x41;&amp e\u{301}",
    "id,name,says\r\nc1,\"a \"\"b\"\"\",x\r\nc2,,\"multi\nline\"\r\n,e\u{301},\n",
];

/// Whatever comes out is well formed.
fn check_sound(bytes: &[u8], options: &ExtractOptions) {
    let Ok(document) = extract(bytes, options) else {
        return;
    };
    let text = &document.text;
    assert!(!text.contains(['\r', '\u{feff}']) || bytes.len() > text.len());
    assert!(unicode_normalization::is_nfc(text));
    let mut end = 0;
    for block in &document.blocks {
        assert!(block.range.start >= end && block.range.end > block.range.start);
        assert!(text.get(block.range.clone()).is_some(), "{block:?}");
        end = block.range.end;
    }
    let mut last = 0;
    for (at, character) in text.char_indices() {
        let range = document.map.to_file(at..at + character.len_utf8());
        assert!(range.start <= range.end && range.end <= bytes.len());
        if options.format != Format::Csv {
            assert!(range.start >= last, "{at} {range:?} {last}");
            last = range.start;
        }
    }
    assert_eq!(Ok(&document), extract(bytes, options).as_ref());
}
