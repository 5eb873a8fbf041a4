//! Codes about what is kept on disk: manifests (`MAN`), journals (`JNL`, `LCK`), histories (`HIST`), indexes (`IDX`, `IDX-CACHE`, `FTS`) and retraction's second step (`RET`).

codes! {
    FTS_001 = "CACG-FTS-001", Info, Finding, Active => {
        title: "search sidecar stale or corrupt",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    FTS_002 = "CACG-FTS-002", Info, Finding, Active => {
        title: "search sidecar not built",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    FTS_003 = "CACG-FTS-003", Error, Finding, Reserved("reserved by the contract") => {
        title: "no search back-end",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    HIST_001 = "CACG-HIST-001", Error, Finding, Reserved("not emitted yet: only the retired Python tool of the contract reported it") => {
        title: "card history malformed or rewritten",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    IDX_004 = "CACG-IDX-004", Error, Finding, Active => {
        title: "publishing the index failed",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    IDX_005 = "CACG-IDX-005", Error, Finding, Reserved("not emitted yet: only the retired Python tool of the contract reported it") => {
        title: "index output inside the cards folder",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    IDX_006 = "CACG-IDX-006", Error, Finding, Reserved("not emitted yet: only the retired Python tool of the contract reported it; IDX-007 is used") => {
        title: "foreign sidecar beside a card",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    IDX_007 = "CACG-IDX-007", Error, Finding, Active => {
        title: "foreign index sidecar",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    IDX_008 = "CACG-IDX-008", Error, Finding, Active => {
        title: "index target is not a regular file",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    IDX_CACHE_001 = "CACG-IDX-CACHE-001", Error, Finding, Reserved("reserved by the contract") => {
        title: "index cache drifted",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    JNL_001 = "CACG-JNL-001", Error, Finding, Active => {
        title: "journal invalid or not appendable",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    LCK_001 = "CACG-LCK-001", Info, Finding, Reserved("not emitted yet: only the retired Python tool of the contract reported it") => {
        title: "no file locking",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    MAN_001 = "CACG-MAN-001", Error, Verdict, Active => {
        title: "manifest missing or invalid",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    MAN_002 = "CACG-MAN-002", Error, Finding, Active => {
        title: "foreign manifest sidecar",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    MAN_003 = "CACG-MAN-003", Error, Finding, Active => {
        title: "manifest target is not a regular file",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    RET_003 = "CACG-RET-003", Error, Finding, Active => {
        title: "retraction stopped after its first step",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
}
