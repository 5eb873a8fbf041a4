//! Codes about the words of a quote: whether they stand where they are cited (`VERIFY`), and whether they are good evidence (`QUOTE`).

codes! {
    QUOTE_001 = "CACG-QUOTE-001", Warning, Verdict, Active => {
        title: "quote too short to be evidence",
        explanation: "A quote needs at least three words or twelve letters (six characters in Chinese, Japanese or \
            Korean). Shorter ones occur almost anywhere and prove nothing. If it stands exactly once in the \
            chunk it is verified with this warning, otherwise it is not. Quote the whole sentence.",
        language: "yaml",
        failing: r#"quote: "the root""#,
        corrected: r#"quote: "the root commits to every leaf""#,
    }
    QUOTE_002 = "CACG-QUOTE-002", Error, Verdict, Active => {
        title: "quote begins or ends inside a word",
        explanation: "The quote was found, but only if a word of the source is cut: `able` in `unable`, `214` in \
            `2140`. A cut word or number can mean the opposite, so this is not verified under the strict \
            profile. Extend the quote to whole words.",
        language: "yaml",
        failing: r#"quote: "able to verify the proof"   # source: unable to verify the proof"#,
        corrected: r#"quote: "unable to verify the proof""#,
    }
    QUOTE_003 = "CACG-QUOTE-003", Error, Verdict, Active => {
        title: "quote occurs more than once",
        explanation: "The quote occurs more than once in the place that is cited, and nothing says which occurrence is \
            meant. A claim may be true of one and false of the other. Quote more of the sentence; in a batch \
            for `kb quote`, a `prefix` or `suffix` does it too.",
        language: "yaml",
        failing: r#"quote: "must be rejected""#,
        corrected: r#"quote: "a proof of the wrong length must be rejected""#,
    }
    QUOTE_004 = "CACG-QUOTE-004", Error, Verdict, Active => {
        title: "omitted words hold a negation or exception",
        explanation: "The quote leaves words out, and among them is a negation or an exception such as not, never, \
            unless or except. Leaving it out can turn the meaning round, so this is not verified under the \
            strict profile. The message shows what was left out. Quote these words too, or end the quote \
            before them.",
        language: "yaml",
        failing: r#"quote: "the key may be … shared with others"   # source: may be stored, but never shared"#,
        corrected: r#"quote: "the key may be stored, but never shared with others""#,
    }
    QUOTE_005 = "CACG-QUOTE-005", Warning, Finding, Active => {
        title: "quote is governed by words outside it",
        explanation: "The words stand in the source, but the sentence around them is governed by a negation or by \
            somebody else's opinion: it is false that, allegedly, critics say. The quote alone sounds like a \
            statement of the source. Quote the governing words too, or make the card say whose view it is.",
        language: "yaml",
        failing: r#"quote: "the scheme is broken"   # source: it is not true that the scheme is broken"#,
        corrected: r#"quote: "it is not true that the scheme is broken""#,
    }
    QUOTE_006 = "CACG-QUOTE-006", Warning, Finding, Active => {
        title: "quote is only a title",
        explanation: "The quote is only the title of the source or a heading. That shows that the source is about \
            something, not that it says something. Quote a sentence that makes the claim.",
        language: "yaml",
        failing: r#"quote: "Merkle Tree Hashes""#,
        corrected: r#"quote: "each leaf is hashed with a 0x00 prefix""#,
    }
    QUOTE_007 = "CACG-QUOTE-007", Warning, Finding, Active => {
        title: "quote accepted as fuzzy",
        explanation: "The quote is not in the source word for word; with `--fuzzy` it was accepted because it differs \
            by a small edit that touches no number, negation, name or short word. One letter may still make \
            another word of a word: `sulfite` of `sulfate`. It is counted as fuzzy, never as \
            exact. Copy the exact words, which `kb fix --rewrite-quote` can do.",
        language: "yaml",
        failing: r#"quote: "each leave is hashed with a 0x00 prefix""#,
        corrected: r#"quote: "each leaf is hashed with a 0x00 prefix""#,
    }
    QUOTE_008 = "CACG-QUOTE-008", Error, Verdict, Active => {
        title: "quote of what the source does not say",
        explanation: "The words stand in the source, but it does not say them to its readers: they are struck out \
            (`~~ ~~`, `<del>`, `<s>`), so the author has taken them back, or they are in a comment, a hidden \
            element or the target of a link, where nobody sees them. Under the strict profile struck-out words \
            are not verified, and hidden ones are reported as absent; under the profile `cacg` both count, \
            with this warning. Quote what the source says now.",
        language: "yaml",
        failing: r#"quote: "the dose is ten milligrams"   # source: ~~the dose is ten milligrams~~"#,
        corrected: r#"quote: "the dose is five milligrams""#,
    }
    VERIFY_001 = "CACG-VERIFY-001", Error, Verdict, Active => {
        title: "quote not found in the cited chunk",
        explanation: "The quote does not stand in the cited chunk, neither as it is nor after the foldings that leave \
            the meaning alone (white space, hyphenation, typographic quotes and the like). If something \
            close was found it is shown, with what differs; a differing number, negation or word is never \
            passed over. Quote the source's exact words, or cite the chunk that says this; `kb cite` finds \
            it.",
        language: "yaml",
        failing: r#"quote: "each leaf is hashed with a 0x01 prefix"   # source: 0x00"#,
        corrected: r#"quote: "each leaf is hashed with a 0x00 prefix""#,
    }
    VERIFY_002 = "CACG-VERIFY-002", Warning, Verdict, Active => {
        title: "semantic verdict",
        explanation: "An evaluator of meaning was asked about a quote that was not found, and this is its opinion, or \
            the reason why it gave none: a warning where it thinks that the passage says so, an error where it \
            thinks that it does not, an info where it cannot tell. Somebody asked for it with `--semantic` or \
            `--semantic-judge`. It verifies nothing: the citation has failed, because its words are not in the \
            source. Only under `--semantic-policy rescue`, a citation that it passes is no error any more; it \
            is counted as *semantic*, apart from the verified ones. Quote the source's own words.",
        language: "yaml",
        failing: r#"quote: "leaves and nodes use different prefixes"   # a paraphrase"#,
        corrected: r#"quote: "each leaf is hashed with a 0x00 prefix, each interior node with 0x03""#,
    }
    VERIFY_003 = "CACG-VERIFY-003", Error, Verdict, Active => {
        title: "quote stands outside the cited pages",
        explanation: "The quote stands in the cited chunk, but not on the cited pages. A reader who follows the \
            citation would not find it. `kb fix` writes the pages on which it stands.",
        language: "yaml",
        failing: "page_range: [3, 3]   # the quote is on page 4",
        corrected: "page_range: [4, 4]",
    }
    VERIFY_004 = "CACG-VERIFY-004", Error, Verdict, Active => {
        title: "quote stands in another chunk of the source",
        explanation: "The quote is not in the cited chunk, whose hash still holds, but stands exactly once elsewhere \
            in the same source. The citation points at the wrong place, most often after copying one from a \
            neighbour. `kb fix` writes the id, hash and pages of the right chunk.",
        language: "yaml",
        failing: r#"chunk_id: "spec:p003:0007"   # the quote is in spec:p004:0009"#,
        corrected: r#"chunk_id: "spec:p004:0009""#,
    }
    VERIFY_005 = "CACG-VERIFY-005", Error, Verdict, Active => {
        title: "quote cannot be verified",
        explanation: "Nobody can say whether the quote stands there: the source is missing, damaged, encrypted, only \
            an abstract, or of a kind that cannot be read. That is neither verified nor false, and it is \
            counted apart. The diagnostic about the source says what is wrong with it; put that right and \
            check again.",
        language: "text",
        failing: "sources/spec.pdf   (0 bytes)",
        corrected: "sources/spec.pdf   (the document)",
    }
}
