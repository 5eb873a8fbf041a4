//! Codes about the words of a quote: whether they stand where they are cited (`VERIFY`), and whether they are good evidence (`QUOTE`).

codes! {
    QUOTE_001 = "CACG-QUOTE-001", Warning, Verdict, Active => {
        title: "quote too short to be evidence",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    QUOTE_002 = "CACG-QUOTE-002", Error, Verdict, Active => {
        title: "quote begins or ends inside a word",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    QUOTE_003 = "CACG-QUOTE-003", Error, Verdict, Active => {
        title: "quote occurs more than once",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    QUOTE_004 = "CACG-QUOTE-004", Error, Verdict, Active => {
        title: "omitted words hold a negation or exception",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    QUOTE_005 = "CACG-QUOTE-005", Warning, Finding, Active => {
        title: "quote is governed by words outside it",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    QUOTE_006 = "CACG-QUOTE-006", Warning, Finding, Active => {
        title: "quote is only a title",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    QUOTE_007 = "CACG-QUOTE-007", Warning, Finding, Active => {
        title: "quote accepted as fuzzy",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    VERIFY_001 = "CACG-VERIFY-001", Error, Verdict, Active => {
        title: "quote not found in the cited chunk",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    VERIFY_002 = "CACG-VERIFY-002", Warning, Verdict, Active => {
        title: "semantic verdict",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    VERIFY_003 = "CACG-VERIFY-003", Error, Verdict, Active => {
        title: "quote stands outside the cited pages",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    VERIFY_004 = "CACG-VERIFY-004", Error, Verdict, Active => {
        title: "quote stands in another chunk of the source",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    VERIFY_005 = "CACG-VERIFY-005", Error, Verdict, Active => {
        title: "quote cannot be verified",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
}
