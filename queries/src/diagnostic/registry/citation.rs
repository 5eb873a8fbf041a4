//! Codes about what a citation points at (`CITE`), the hashes that pin it (`HASH`), who may cite it (`AUTH`) and what was withdrawn (`RETR`).

codes! {
    AUTH_000 = "CACG-AUTH-000", Error, Verdict, Active => {
        title: "source matrix unreadable or invalid",
        explanation: "`source_matrix.json` is missing, is not JSON, or breaks its rules. It says which reading may use \
            which source, so without it no citation is authorised. Correct the file, or let `kb \
            scaffold-matrix` write one from what the cards cite now and review that.",
        language: "json",
        failing: r#"{"allowed": {"reading_01": "spec"}}"#,
        corrected: r#"{"allowed": {"reading_01": ["spec"]}, "schema_version": "cacg.v0"}"#,
    }
    AUTH_001 = "CACG-AUTH-001", Error, Verdict, Active => {
        title: "reading not in the source matrix",
        explanation: "The card belongs to a reading that the source matrix does not list. A reading nobody has entered \
            may use no source, so its citations are not authorised. Add the reading to `source_matrix.json`, \
            or correct `reading_id`.",
        language: "json",
        failing: r#"{"allowed": {"reading_01": ["spec"]}}   // the card says reading_02"#,
        corrected: r#"{"allowed": {"reading_01": ["spec"], "reading_02": ["spec"]}}"#,
    }
    AUTH_002 = "CACG-AUTH-002", Error, Verdict, Active => {
        title: "reading may not use this source",
        explanation: "The reading is in the source matrix, but this source is not among those it may use. That keeps, \
            for instance, a draft out of a reading that has to rest on published texts. Cite a source the \
            reading may use, or have somebody who may decide it add the source to the matrix.",
        language: "json",
        failing: r#"{"allowed": {"reading_01": ["handbook"]}}   // the card cites spec"#,
        corrected: r#"{"allowed": {"reading_01": ["handbook", "spec"]}}"#,
    }
    CITE_001 = "CACG-CITE-001", Error, Verdict, Active => {
        title: "chunk_id has the wrong shape",
        explanation: "A chunk id is `source:pPAGE:ORDINAL`, with a source id in lower case, at least three digits of \
            page and four of ordinal. This one is not, so it can name no chunk. Copy the id from `kb cite` \
            or from the chunks manifest.",
        language: "yaml",
        failing: r#"chunk_id: "spec, page 3""#,
        corrected: r#"chunk_id: "spec:p003:0007""#,
    }
    CITE_002 = "CACG-CITE-002", Error, Verdict, Active => {
        title: "chunk_hash is not a hash",
        explanation: "`chunk_hash` is not 64 lower-case hexadecimal digits, or it is the row of zeros that a new card \
            starts with. The hash pins the text that was cited; without it a changed source would go \
            unnoticed. Let `kb cite` write the citation.",
        language: "yaml",
        failing: r#"chunk_hash: "0000000000000000000000000000000000000000000000000000000000000000""#,
        corrected: r#"chunk_hash: "4a911a87c6f0…"   # all 64 digits"#,
    }
    CITE_003 = "CACG-CITE-003", Error, Verdict, Active => {
        title: "page_range is not a page range",
        explanation: "`page_range` has to be a list of two whole numbers, first and last page, both at least 1 and in \
            this order. A source without pages has one, so it is `[1, 1]`.",
        language: "yaml",
        failing: "page_range: [4, 3]",
        corrected: "page_range: [3, 4]",
    }
    CITE_004 = "CACG-CITE-004", Error, Verdict, Active => {
        title: "cited chunk does not exist",
        explanation: "No chunk has this id. The source may have been cut into chunks anew, renamed or removed, or the \
            id was typed by hand. The quote was therefore looked up nowhere. Run `kb cite` with the quote to \
            find the chunk that holds it, or put the source back.",
        language: "yaml",
        failing: r#"chunk_id: "spec:p003:9999""#,
        corrected: r#"chunk_id: "spec:p003:0007""#,
    }
    CITE_005 = "CACG-CITE-005", Error, Verdict, Active => {
        title: "page_range shares no page with the chunk",
        explanation: "The cited pages and the pages of the chunk have none in common, so the quote cannot stand on the \
            pages where a reader is sent to look. Often the number printed on the page was taken instead of \
            its place in the file. A range that goes beyond the last page of the source is a warning \
            of this code: it would be true of any place. Use the pages of the chunk.",
        language: "yaml",
        failing: r#"chunk_id: "spec:p003:0007"
page_range: [17, 17]"#,
        corrected: r#"chunk_id: "spec:p003:0007"
page_range: [3, 3]"#,
    }
    CITE_006 = "CACG-CITE-006", Error, Verdict, Active => {
        title: "chunk belongs to another source",
        explanation: "`source_id` names one source and the chunk belongs to another. Which of the two is wrong cannot \
            be guessed, and the permission to cite depends on it. Make them agree.",
        language: "yaml",
        failing: r#"source_id: "handbook"
chunk_id: "spec:p003:0007""#,
        corrected: r#"source_id: "spec"
chunk_id: "spec:p003:0007""#,
    }
    CITE_007 = "CACG-CITE-007", Error, Verdict, Reserved("reserved by the contract for a later schema") => {
        title: "speaker policy violated",
        explanation: "Kept for a later schema, in which a source of utterances can say whose words may be cited. \
            Nothing reports it under `cacg.v0`.",
        language: "yaml",
        failing: r#"quote: "words of a guest""#,
        corrected: r#"quote: "words of the author""#,
    }
    CITE_008 = "CACG-CITE-008", Error, Verdict, Active => {
        title: "citation is not pinned yet",
        explanation: "The citation names a source and a quote, but no chunk, so nothing says which text was meant and a \
            later change of the source could not be noticed. It is not verified. If the quote stands in exactly \
            one place of the source, `kb fix` adds the chunk, its hash and the pages; otherwise quote more \
            words, or tell the places apart by `prefix` or `suffix`, two fields of the schema version `kb.v1`.",
        language: "yaml",
        failing: r#"- source_id: "spec"
  quote: "words of the source""#,
        corrected: r#"- source_id: "spec"
  chunk_id: "spec:p003:0007"
  chunk_hash: "1694a259…"
  page_range: [3, 3]
  quote: "words of the source""#,
    }
    HASH_001 = "CACG-HASH-001", Error, Verdict, Active => {
        title: "cited chunk is not the one that was cited",
        explanation: "The citation pins a text by its hash, and the chunk of that id now has another. The source \
            changed since it was cited, so the citation is suspect. `data.state` says what became of the \
            quote: `intact` (it still stands in this chunk), `relocated` (it stands once elsewhere in the \
            source), `differs` (something close to it stands there) or `orphaned` (it is gone). For the \
            first two `kb fix` writes the new hash and place; for the others somebody has to read the source \
            again.",
        language: "yaml",
        failing: r#"chunk_hash: "1694a259…"   # the source says something else now"#,
        corrected: r#"chunk_hash: "4a911a87…"   # read again, and still true"#,
    }
    HASH_002 = "CACG-HASH-002", Error, Finding, Active => {
        title: "stored card_hash is stale",
        explanation: "The card stores the hash of its own content, and the content was edited since. That says nothing \
            about its quotes; it says that the index does not know this version. Run `kb index` once the \
            edit is finished. A card without `card_hash` is fine.",
        language: "yaml",
        failing: r#"card_hash: "1694a259…"   # of the text before the edit"#,
        corrected: r#"card_hash: "4a911a87…"   # written by kb index"#,
    }
    HASH_003 = "CACG-HASH-003", Error, Verdict, Active => {
        title: "chunk does not hash to its stored value",
        explanation: "A stored chunk or locator does not hash to the value stored beside it, so one of the two was \
            altered by hand or damaged. What it says cannot be trusted, and no quote is checked against it. \
            Derive the manifests from the sources again with `kb build`, and find out who changed them.",
        language: "json",
        failing: r#"{"chunk_hash":"1694a259…","text":"text edited by hand"}"#,
        corrected: r#"{"chunk_hash":"4a911a87…","text":"the text of the source"}"#,
    }
    RETR_001 = "CACG-RETR-001", Error, Verdict, Active => {
        title: "card is retracted",
        explanation: "The card was retracted: somebody decided that it should not be relied on any more. Its words may \
            still be in the sources, but it is not verified. Use another card. `--allow-retracted` makes \
            this a warning, for looking at old work.",
        language: "json",
        failing: r#"{"retracted_cards": ["tree-hashing"]}"#,
        corrected: r#"{"retracted_cards": []}"#,
    }
    RETR_002 = "CACG-RETR-002", Error, Verdict, Active => {
        title: "cited source is retracted",
        explanation: "The cited source was retracted as a whole, for instance because it was superseded. A quote from \
            it supports nothing any more. Cite the source that took its place, or retract the card too.",
        language: "yaml",
        failing: r#"source_id: "spec_draft"   # retracted"#,
        corrected: r#"source_id: "spec""#,
    }
    RETR_003 = "CACG-RETR-003", Error, Verdict, Active => {
        title: "cited chunk is retracted",
        explanation: "The cited chunk was retracted, although its source was not: this passage should not be relied \
            on. Cite another passage, or retract the card too.",
        language: "yaml",
        failing: r#"chunk_id: "spec:p003:0007"   # retracted"#,
        corrected: r#"chunk_id: "spec:p005:0011""#,
    }
}
