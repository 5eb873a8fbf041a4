//! Codes about what a citation points at (`CITE`), the hashes that pin it (`HASH`), who may cite it (`AUTH`) and what was withdrawn (`RETR`).

codes! {
    AUTH_000 = "CACG-AUTH-000", Error, Verdict, Active => {
        title: "source matrix unreadable or invalid",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    AUTH_001 = "CACG-AUTH-001", Error, Verdict, Active => {
        title: "reading not in the source matrix",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    AUTH_002 = "CACG-AUTH-002", Error, Verdict, Active => {
        title: "reading may not use this source",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    CITE_001 = "CACG-CITE-001", Error, Verdict, Active => {
        title: "chunk_id has the wrong shape",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    CITE_002 = "CACG-CITE-002", Error, Verdict, Active => {
        title: "chunk_hash is not a hash",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    CITE_003 = "CACG-CITE-003", Error, Verdict, Active => {
        title: "page_range is not a page range",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    CITE_004 = "CACG-CITE-004", Error, Verdict, Active => {
        title: "cited chunk does not exist",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    CITE_005 = "CACG-CITE-005", Error, Verdict, Active => {
        title: "page_range shares no page with the chunk",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    CITE_006 = "CACG-CITE-006", Error, Verdict, Active => {
        title: "chunk belongs to another source",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    CITE_007 = "CACG-CITE-007", Error, Verdict, Reserved("reserved by the contract for a later schema") => {
        title: "speaker policy violated",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    HASH_001 = "CACG-HASH-001", Error, Verdict, Active => {
        title: "cited chunk is not the one that was cited",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    HASH_002 = "CACG-HASH-002", Error, Finding, Active => {
        title: "stored card_hash is stale",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    HASH_003 = "CACG-HASH-003", Error, Verdict, Active => {
        title: "chunk does not hash to its stored value",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    RETR_001 = "CACG-RETR-001", Error, Verdict, Active => {
        title: "card is retracted",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    RETR_002 = "CACG-RETR-002", Error, Verdict, Active => {
        title: "cited source is retracted",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    RETR_003 = "CACG-RETR-003", Error, Verdict, Active => {
        title: "cited chunk is retracted",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
}
