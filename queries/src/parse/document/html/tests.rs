#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use proptest::prelude::*;

use super::super::{Notice, extract};
use super::*;

fn read_text(html: &str) -> Document {
    extract(html.as_bytes(), &ExtractOptions::new(Format::Html)).expect(html)
}

#[test]
fn text_in_reading_order() {
    let table: &[(&str, &str)] = &[
        ("<p>one<p>two", "one\n\ntwo"),
        (
            "<p>in<b>line</b> <i>tags</i>, glue<em>d</em>.</p>",
            "inline tags, glued.",
        ),
        ("a<!-- comment -->b<wbr>c", "abc"),
        ("a</>b", "ab"),
        ("<p>a  b\n\n c</p>\n\n<p> d </p>", "a b c\n\nd"),
        ("<b>x </b> y<b> z</b>", "x y z"),
        ("one<br>two<br/>three", "one\ntwo\nthree"),
        ("<ul><li>a<li>b<ul><li>c</ul><li>d</ul>e", "a\nb\nc\nd\n\ne"),
        (
            "<ul>\n<li><p>a</p></li>\n<li><p>b</p></li>\n</ul><p>c",
            "a\nb\n\nc",
        ),
        ("<li><p>a</p><p>b</p></li><li>c</li>", "a\n\nb\nc"),
        ("<dl><dt>t<dd>d<dt>u</dl>", "t\nd\nu"),
        (
            "<p>x<table><tr><th>a</th><th>b</th></tr>\n<tr><td><p>1</p></td> <td><p>2</p></td></tr></table>y",
            "x\n\na\tb\n1\t2\n\ny",
        ),
        ("<tr><td>1<td>2<tr><td>3", "1\t2\n3"),
        ("<tr><td></td><td>2</td></tr>", "2"),
        ("<td>1<p>2</td><td>3</td>", "1\n2\t3"),
        ("<pre>\n a\n  b\n</pre>c", " a\n  b\n\n\nc"),
        (
            "x<script>if (a<b) '<p>'</script>y<style>p{}</style>z",
            "xyz",
        ),
        (
            "<template>t<template>u</template>v</template>w<noscript>n</noscript>",
            "w",
        ),
        (
            "<head><title>T</title><meta charset=utf-8><p>still</head>",
            "still",
        ),
        ("<html><head><title>T</title></head><body>b", "b"),
        (
            "&lt;p&gt; &amp;amp; &eacute;&#x20AC;&#8364; a&nbsp;b &unknown; &copy 1",
            "<p> &amp; é€€ a\u{a0}b &unknown; © 1",
        ),
        ("&notin; &notit; &#0; &#xd800;", "∉ ¬it; \u{fffd} \u{fffd}"),
        ("a &lt;&#32;&#10; b", "a < b"),
        ("1 < 2 & 3 > 2 <3", "1 < 2 & 3 > 2 <3"),
        ("e\u{301}<b>e</b>\u{301}", "éé"),
        ("<a title='x>y'>z</a>", "z"),
        ("<img alt='x'>a<hr>b", "a\n\nb"),
        ("<textarea>\n x</textarea>", " x"),
    ];
    for (html, expected) in table {
        assert_eq!(&*read_text(html).text, *expected, "{html:?}");
    }
}

#[test]
fn headings_code_and_title() {
    let document = read_text(
        "<title> My\n page &amp; co </title><h1>One <em>two</em><a href=#x>¶</a></h1><p>text\
         <h2>Sub</h2><pre>code\n\nmore</pre><div><div>a</div>b</div>",
    );
    assert_eq!(document.title.as_deref(), Some("My page & co"));
    let blocks: Vec<(String, &str)> = document
        .blocks
        .iter()
        .map(|block| {
            (
                format!("{:?}", block.kind),
                &document.text[block.range.clone()],
            )
        })
        .collect();
    let expected = [
        (r#"Heading { level: 1, title: "One two" }"#, "One two¶"),
        ("Paragraph", "text"),
        (r#"Heading { level: 2, title: "Sub" }"#, "Sub"),
        ("Code", "code\n\nmore"),
        ("Paragraph", "a"),
        ("Paragraph", "b"),
    ];
    let expected: Vec<(String, &str)> = expected.map(|(a, b)| (a.to_owned(), b)).into();
    assert_eq!(blocks, expected);
}

#[test]
fn words_map_to_the_bytes_they_came_from() {
    let html = "\u{feff}<h1 class=\"a\">Tit&eacute;</h1>\r\n<p>some <b>bo</b>ld\r\n words &amp; e\u{301}nd</p><script>x</script><pre>\r\n k\r\n l</pre>";
    let document = read_text(html);
    assert_eq!(&*document.text, "Tité\n\nsome bold words & énd\n\n k\n l");
    let at = |words: &str| {
        let start = document.text.find(words).unwrap();
        &html[document.map.to_file(start..start + words.len())]
    };
    assert_eq!(at("Tité"), "Tit&eacute;");
    assert_eq!(at("some bold"), "some <b>bo</b>ld");
    assert_eq!(at("bold words"), "bo</b>ld\r\n words");
    assert_eq!(at("words & én"), "words &amp; e\u{301}n");
    assert_eq!(at(" k\n l"), " k\r\n l");
    assert_eq!(
        at("énd\n\n k"),
        "e\u{301}nd</p><script>x</script><pre>\r\n k"
    );
}

#[test]
fn encodings_that_the_file_declares() {
    let table: &[(&[u8], &str, &str)] = &[
        (b"<meta charset=\"iso-8859-2\">\xb1", "ISO-8859-2", "ą"),
        (
            b"<meta http-equiv=Content-Type content='text/html; charset=windows-1251'>\xcf",
            "windows-1251",
            "П",
        ),
        (
            b"<?xml version='1.0' encoding='koi8-r'?><p>\xf0",
            "KOI8-R",
            "П",
        ),
        (b"<meta charset=shift_jis>\x82\xa0", "Shift_JIS", "あ"),
        (
            b"<meta charset=iso-2022-jp>\x1b$B$\"\x1b(B",
            "ISO-2022-JP",
            "あ",
        ),
        ("<meta charset=latin1>é".as_bytes(), "UTF-8", "é"),
        (b"<meta charset=utf-16>a", "UTF-8", "a"),
    ];
    for (bytes, encoding, text) in table {
        let document = extract(bytes, &ExtractOptions::new(Format::Html)).unwrap();
        assert_eq!((document.encoding, &*document.text), (*encoding, *text));
        assert!(!document.encoding_guessed);
    }
    let guessed = extract(b"<p>caf\xe9 cr\xe8me", &ExtractOptions::new(Format::Html)).unwrap();
    assert_eq!(
        *guessed.notices,
        [Notice::EncodingGuessed {
            label: "windows-1252"
        }]
    );
}

#[test]
fn nesting_is_bounded_by_counting() {
    let bomb = |count: usize| format!("{}x", "<div>".repeat(count));
    assert_eq!(&*read_text(&bomb(4096)).text, "x");
    assert!(matches!(
        extract(bomb(4097).as_bytes(), &ExtractOptions::new(Format::Html)),
        Err(DocumentError::Damaged(_))
    ));
    assert_eq!(
        &*read_text(&format!("{}x", "<p><b>".repeat(100_000))).text,
        "x"
    );
}

proptest! {
    /// A random soup of tags, references and words: the visible characters are those of the words,
    /// in order, and each word maps to its own bytes.
    #[test]
    fn every_word_maps_back(parts in proptest::collection::vec(
        (prop_oneof![
            Just("<p>"), Just("</p>"), Just("<b>"), Just("</b>"), Just("<td>"), Just("<li>"),
            Just("</ul>"), Just("<ul>"), Just("<br>"), Just(" "), Just("\r\n"), Just("<!-- c -->"),
            Just("&amp;"), Just("&eacute;"), Just("<script>s</script>"), Just("<h2 a='>'>"), Just("</h2>"),
            Just("<pre>"), Just("</pre>"), Just("</>"), Just("& "), Just("< "), Just(""),
        ], 0u16..1000), 1..40)) {
        let mut html = String::new();
        let mut words = Vec::new();
        for (tag, number) in parts {
            html.push_str(tag);
            let word = format!("é{number:04}");
            words.push((html.len(), word.clone()));
            html.push_str(&word);
        }
        let document = read_text(&html);
        let mut from = 0;
        for (place, word) in words {
            let Some(found) = document.text[from..].find(&word) else {
                prop_assert!(false, "{word} is missing in {:?} of {html:?}", document.text);
                return Ok(());
            };
            let range = from + found..from + found + word.len();
            prop_assert_eq!(document.map.to_file(range.clone()), place..place + word.len(), "{} in {:?}", word, html);
            from = range.end;
        }
        let mut end = 0;
        for block in &document.blocks {
            prop_assert!(block.range.start >= end);
            end = block.range.end;
        }
    }
}

#[test]
fn raised_and_lowered_digits_are_no_plain_digits() {
    for (html, text) in [
        ("<p>10<sup>2</sup> and 10<sup>-3</sup></p>", "10² and 10⁻³"),
        ("<p>CO<sub>2</sub> rose</p>", "CO₂ rose"),
        ("<p>the 1<sup>st</sup> of May</p>", "the 1st of May"),
        ("<p>said so<sup>[1]</sup>.</p>", "said so[1]."),
        (
            "<p>said so<sup>[<a href='#n'>1</a>]</sup>.</p>",
            "said so[1].",
        ),
    ] {
        let document =
            super::super::extract(html.as_bytes(), &ExtractOptions::new(Format::Html)).unwrap();
        assert_eq!(&*document.text, text, "{html}");
    }
}

#[test]
fn every_kind_of_element_joins_breaks_or_drops() {
    // What stands between "a" and "c" when `<x>b</x>` does, without white space anywhere.
    let kinds: &[(&str, &[&str])] = &[
        (
            "abc",
            &[
                "a", "abbr", "b", "bdi", "bdo", "cite", "code", "data", "dfn", "em", "font", "i",
                "ins", "kbd", "label", "mark", "output", "q", "samp", "slot", "small", "span",
                "strong", "sub", "sup", "time", "tt", "u", "var", "del", "s", "strike", "ruby",
                "rb", "my-word", "x-1", "unknown", "blink", "nobr",
            ],
        ),
        (
            "a b c",
            &[
                "button", "meter", "progress", "audio", "video", "canvas", "object",
            ],
        ),
        (
            "a\n\nb\n\nc",
            &[
                "p",
                "div",
                "section",
                "article",
                "aside",
                "main",
                "nav",
                "header",
                "footer",
                "h1",
                "h6",
                "blockquote",
                "address",
                "figure",
                "figcaption",
                "fieldset",
                "legend",
                "details",
                "summary",
                "form",
                "center",
                "pre",
                "ul",
                "ol",
                "dl",
                "menu",
                "search",
                "hgroup",
                "select",
                "optgroup",
                "caption",
                "dialog",
            ],
        ),
        ("a\nb\nc", &["li", "dt", "dd", "option", "tr"]),
        ("a\nb\tc", &["td", "th"]),
        (
            "ac",
            &[
                "script", "style", "template", "noscript", "iframe", "noembed", "noframes",
                "datalist", "rt", "rp",
            ],
        ),
    ];
    for (expected, names) in kinds {
        for name in *names {
            let html = format!("<body>a<{name}>b</{name}>c");
            assert_eq!(&*read_text(&html).text, *expected, "{html}");
        }
    }
    for (expected, names) in [
        ("a\nc", &["br"][..]),
        ("a\n\nc", &["hr"]),
        ("a c", &["input", "embed"]),
        ("ac", &["wbr", "img", "area", "source", "track", "col"]),
    ] {
        for name in names {
            for html in [format!("a<{name}>c"), format!("a<{name} />c")] {
                assert_eq!(&*read_text(&html).text, expected, "{html}");
            }
        }
    }
}

#[test]
fn buttons_and_ruby_leave_words_whole() {
    for (html, text) in [
        ("<p>Save<button>Copy</button>the file", "Save Copy the file"),
        ("<p>Save <button> Copy </button> it", "Save Copy it"),
        ("<label>Name<input value='x'></label>given", "Name given"),
        (
            "<p><ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp>字<rt>ji</rt></ruby>を",
            "漢字を",
        ),
        ("<p><ruby>base<rt>note</ruby>ment", "basement"),
        ("<p><ruby><rb>a<rb>b<rt>1<rt>2<rtc>x</ruby>c", "abc"),
        ("<p>a<my-icon>b</my-icon>c<foo>d", "abcd"),
        (
            "<body>x<svg><title>Arrow</title><text>y</text></svg>z",
            "xyz",
        ),
    ] {
        assert_eq!(&*read_text(html).text, text, "{html}");
    }
}

#[test]
fn what_is_not_shown_is_no_text() {
    for (html, text) in [
        ("a<span hidden>b</span> c", "a c"),
        ("a<SPAN HIDDEN=''>b</SPAN> c", "a c"),
        ("a <div hidden=until-found><div>b</div>c</div>d", "a d"),
        ("a <p style='display:none'>b</p>c", "a c"),
        (
            "a <b style=\"color:red; Display: None ! important\">b</b>c",
            "a c",
        ),
        ("a <i style=visibility:hidden>b</i>c", "a c"),
        (
            "a <i style='visibility:visible;display:nonesuch'>b</i>",
            "a b",
        ),
        (
            "a <i class=hidden data-hidden aria-hidden=true title=hidden>b</i>",
            "a b",
        ),
        // An end tag that may be left out ends where a browser ends it.
        (
            "<ul><li>a<li hidden>b<ul><li>c</ul><li>d</ul>e",
            "a\nd\n\ne",
        ),
        ("<ul><li hidden>a</ul>b", "b"),
        ("<div><p hidden>a<p>b</div>c", "b\n\nc"),
        ("<div><p hidden>a</div>c", "c"),
        (
            "<table><tr><td hidden>a<td>b<tr hidden><td>c<tr><td>d</table>e",
            "b\nd\n\ne",
        ),
        ("<select><option hidden>a<option>b</select>c", "b\n\nc"),
        // One that may not is missed by everything after it.
        ("a <div hidden>b <p>c", "a"),
        // What has no content hides nothing else.
        ("a <input hidden> b <br hidden>c", "a b\nc"),
        ("a</span hidden>b", "ab"),
        ("<body hidden>a", ""),
    ] {
        match extract(html.as_bytes(), &ExtractOptions::new(Format::Html)) {
            Ok(document) => assert_eq!(&*document.text, text, "{html}"),
            Err(error) => assert_eq!((error, text), (DocumentError::Empty, ""), "{html}"),
        }
    }
}

#[test]
fn what_is_struck_out_is_marked() {
    for (html, struck) in [
        ("<p>a <del>b c</del> d", &["b c"][..]),
        ("<p>a <s>b <i>c</i></s><strike>d</strike> e", &["b cd"]),
        ("<p>a <s>b</s> c <s>d</s>", &["b", "d"]),
        ("<del><p>a<p>b</del><p>c", &["a\n\nb"]),
        ("<p>a <s>b <s>c</s> d</s> e", &["b c d"]),
        // A paragraph ends what began in it.
        ("<p>a <del>b</p><p>c", &["b"]),
        ("<ul><li><del>b</li><li>c</ul>", &["b"]),
        ("<del><div>a</div>b</del>c", &["a\n\nb"]),
        ("<p><del>e\u{301}&amp;</del> e\u{301}", &["é&"]),
        (
            "<p>a <ins>b</ins> <span style='text-decoration:line-through'>c</span>",
            &[],
        ),
    ] {
        let document = read_text(html);
        let found: Vec<&str> = document
            .veiled
            .iter()
            .map(|stretch| &document.text[stretch.range.clone()])
            .collect();
        assert_eq!(found, struck, "{html}");
    }
}
