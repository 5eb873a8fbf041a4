//! Codes about source documents (`SRC`), their ingestion under the contract (`INGEST`) and where it may be read (`PERF`).

codes! {
    INGEST_001 = "CACG-INGEST-001", Error, Finding, Active => {
        title: "source cannot be opened or extracted",
        explanation: "`kb ingest` could not open, extract or parse the source: no such file, not a PDF, a damaged \
            page, or an utterance that breaks the rules of its stream. Nothing was written. The message says \
            where it stopped; repair the file or fetch it again.",
        language: "sh",
        failing: "kb ingest notes.docx",
        corrected: "kb ingest notes.pdf",
    }
    INGEST_002 = "CACG-INGEST-002", Error, Finding, Active => {
        title: "source yields no chunks",
        explanation: "The source was read but has no text, so there is nothing to cite. A scanned book without \
            recognised text is the usual case. Run text recognition over it first.",
        language: "sh",
        failing: "kb ingest scan.pdf",
        corrected: "ocrmypdf scan.pdf text.pdf && kb ingest text.pdf",
    }
    INGEST_003 = "CACG-INGEST-003", Error, Finding, Active => {
        title: "ingest could not publish",
        explanation: "The source could not be put into the manifests: it is retracted, its id is there with other bytes \
            or in other chunks, the folder is what `kb build` publishes, writing failed, or an append was \
            refused because the published chunks are not a beginning of the new ones. What was there before \
            is unchanged. Choose another `--source-id` or `--out`.",
        language: "sh",
        failing: "kb ingest spec.pdf   # out/ has another spec.pdf",
        corrected: "kb ingest spec.pdf --source-id spec_2",
    }
    PERF_001 = "CACG-PERF-001", Error, Finding, Reserved("reserved by the contract as a sentinel of its tests; checking here may read sources, so it can never fire") => {
        title: "PDF parsed while checking",
        explanation: "Kept from the contract, where checking a card must not open a PDF. Here checking may read \
            sources, with their text cached, so nothing reports it.",
        language: "text",
        failing: "(nothing)",
        corrected: "(never reported)",
    }
    SRC_001 = "CACG-SRC-001", Error, Verdict, Active => {
        title: "source cannot be read",
        explanation: "The source exists but could not be read: no permission, an I/O error, a folder or device where a \
            file should be. All citations of it are unverifiable until it can be. Correct its permissions or \
            put the file back.",
        language: "sh",
        failing: "chmod 000 sources/spec.md",
        corrected: "chmod 644 sources/spec.md",
    }
    SRC_002 = "CACG-SRC-002", Error, Verdict, Active => {
        title: "source is empty",
        explanation: "The source has no text at all: no bytes, or only white space, or pages without letters. An empty \
            file is more often an accident than a text, so its citations are unverifiable and not absent. \
            Fetch it again, or run text recognition over a scan.",
        language: "text",
        failing: "sources/spec.md   (0 bytes)",
        corrected: "sources/spec.md   (the text)",
    }
    SRC_003 = "CACG-SRC-003", Error, Verdict, Active => {
        title: "source is damaged",
        explanation: "The source could not be parsed: it is truncated, or not what its name says. Nothing in it is \
            verified, because half a text would make quotes look absent that are there. Fetch the file again \
            and compare its size.",
        language: "text",
        failing: "sources/spec.pdf   (a web page that says 404)",
        corrected: "sources/spec.pdf   (begins with %PDF)",
    }
    SRC_004 = "CACG-SRC-004", Error, Verdict, Active => {
        title: "source is encrypted",
        explanation: "The source is encrypted or asks for a password, and `kb` never asks for one. Its citations are \
            unverifiable. Keep a decrypted copy if you may.",
        language: "sh",
        failing: "cp locked.pdf sources/spec.pdf",
        corrected: "qpdf --decrypt locked.pdf sources/spec.pdf",
    }
    SRC_005 = "CACG-SRC-005", Error, Verdict, Active => {
        title: "source is too large",
        explanation: "The source is larger than the limits on bytes, pages, nesting or extracted text. They keep one \
            file from stopping a run. Split the source, or exclude it if it is no text to cite.",
        language: "toml",
        failing: r#"include = ["sources/**"]   # with a 3 GB dump"#,
        corrected: r#"include = ["sources/**"]
exclude = ["sources/dump.csv"]"#,
    }
    SRC_006 = "CACG-SRC-006", Warning, Finding, Active => {
        title: "source is of unknown kind",
        explanation: "A file that the settings count among the sources is of no kind that can be read: neither \
            Markdown, text, HTML, CSV nor PDF. It is left out, and a citation of it is unverifiable. Convert \
            it, or exclude it if it is an image or the like.",
        language: "toml",
        failing: r#"include = ["sources/**"]   # with figure.png"#,
        corrected: r#"include = ["sources/**"]
exclude = ["**/*.png"]"#,
    }
    SRC_007 = "CACG-SRC-007", Warning, Finding, Active => {
        title: "source is damaged in part",
        explanation: "Parts of the source could not be turned into text, for instance glyphs of a PDF that its fonts \
            map to no character. Quotes from these parts will seem absent although a reader sees them. The \
            message says on which page and how much. Use a better copy, or ask for `pdf.fallback` in \
            kb.toml, which runs another program over it.",
        language: "toml",
        failing: r#"[pdf]
fallback = "none""#,
        corrected: r#"[pdf]
fallback = "pdftotext""#,
    }
    SRC_008 = "CACG-SRC-008", Info, Finding, Active => {
        title: "encoding was guessed",
        explanation: "The file does not say how its characters are encoded, and it is not UTF-8, so the encoding was \
            guessed from its bytes. A guess from few bytes is often wrong, and then accented letters do not \
            match. Name the encoding in kb.toml, or convert the file to UTF-8.",
        language: "toml",
        failing: "# sources/old.txt is in windows-1252, and nothing says so",
        corrected: r#"[source."sources/old.txt"]
encoding = "windows-1252""#,
    }
    SRC_009 = "CACG-SRC-009", Warning, Finding, Active => {
        title: "source is read or cut in another way",
        explanation: "The published manifests were made by another version of the extractor or the chunker, or with other \
            chunk sizes, so the text or the chunks of this source may differ although the file does not. The \
            message counts what became of its citations: kept (the quote stands in the cited chunk), relocated \
            (it stands in another one), changed (only something close to it stands there) and lost. Look at \
            the findings about those, run `kb fix`, and build once more.",
        language: "json",
        failing: r#"{"parser_version":"3","source_id":"spec"}   // this kb has 4"#,
        corrected: r#"{"parser_version":"4","source_id":"spec"}"#,
    }
    SRC_010 = "CACG-SRC-010", Error, Finding, Active => {
        title: "primary key duplicate or missing in a registry",
        explanation: "A row of a registry has no primary key, or one that another row has. The key is what cards cite, \
            so it has to name exactly one row. Give each row a key of its own, or name the right column in \
            `primary_key`. Only files that `[[collection.registry]]` lists are registries; the first column \
            of any other table may hold what it likes. Rows with cells that the header does not name, and \
            quotes that are never closed, are reported of every table.",
        language: "csv",
        failing: "creature_id,name
c1,heron
c1,ibis",
        corrected: "creature_id,name
c1,heron
c2,ibis",
    }
    SRC_011 = "CACG-SRC-011", Warning, Finding, Active => {
        title: "bidi control or confusable id",
        explanation: "A text holds characters that change the direction of writing, or an id looks like another one \
            that is spelt with other letters. Both can make a reader see something else than what is there. \
            The characters are shown as escapes; remove them unless the text needs them.",
        language: "text",
        failing: "source id: sрec   (the second letter is Cyrillic)",
        corrected: "source id: spec",
    }
    SRC_012 = "CACG-SRC-012", Error, Verdict, Active => {
        title: "source changed while it was read",
        explanation: "The file changed while it was being read, so what was read is neither the old text nor the new \
            one. Nothing was taken from it. Run again when whatever writes it has finished.",
        language: "sh",
        failing: "curl -o sources/spec.html https://… & kb build",
        corrected: "curl -o sources/spec.html https://… && kb build",
    }
    SRC_013 = "CACG-SRC-013", Error, Verdict, Active => {
        title: "root folder missing",
        explanation: "A folder that should hold sources or cards is missing or cannot be read. That never counts as \
            everything having been deleted: the run stops, and what is published stays. Mount or restore the \
            folder, or change the settings if it moved.",
        language: "toml",
        failing: r#"include = ["library/**"]   # no such folder"#,
        corrected: r#"include = ["sources/**"]"#,
    }
}
