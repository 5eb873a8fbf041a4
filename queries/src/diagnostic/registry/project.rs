//! Codes about the project as a whole: settings (`CFG`), publishing (`BUILD`), derived state (`CACHE`), freshness (`FRESH`) and proofs (`PROOF`).

codes! {
    BUILD_001 = "CACG-BUILD-001", Error, Verdict, Active => {
        title: "out/ is not what this build gives",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    BUILD_002 = "CACG-BUILD-002", Error, Finding, Active => {
        title: "build could not publish",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    BUILD_003 = "CACG-BUILD-003", Info, Finding, Active => {
        title: "interrupted publish repaired",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    CACHE_001 = "CACG-CACHE-001", Info, Finding, Active => {
        title: "derived state was damaged and rebuilt",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    CFG_001 = "CACG-CFG-001", Error, Finding, Active => {
        title: "unknown key in kb.toml",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    CFG_002 = "CACG-CFG-002", Error, Verdict, Active => {
        title: "wrong type or value in kb.toml",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    CFG_003 = "CACG-CFG-003", Error, Verdict, Active => {
        title: "bad glob or regular expression",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    CFG_004 = "CACG-CFG-004", Error, Verdict, Active => {
        title: "kb.toml is not TOML",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    CFG_005 = "CACG-CFG-005", Error, Verdict, Active => {
        title: "settings contradict each other",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    CFG_006 = "CACG-CFG-006", Error, Verdict, Active => {
        title: "severity override not allowed",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    CFG_007 = "CACG-CFG-007", Warning, Finding, Active => {
        title: "collection matches no file",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    CFG_008 = "CACG-CFG-008", Error, Verdict, Active => {
        title: "two sources with one id",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    FRESH_001 = "CACG-FRESH-001", Error, Verdict, Active => {
        title: "index is stale",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    FRESH_002 = "CACG-FRESH-002", Error, Verdict, Active => {
        title: "no index manifest",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    FRESH_003 = "CACG-FRESH-003", Error, Verdict, Active => {
        title: "files in out/ do not match their manifest",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    PROOF_001 = "CACG-PROOF-001", Error, Verdict, Active => {
        title: "proof is invalid",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
}
