//! Codes about source documents (`SRC`), their ingestion under the contract (`INGEST`) and where it may be read (`PERF`).

codes! {
    INGEST_001 = "CACG-INGEST-001", Error, Finding, Active => {
        title: "source cannot be opened or extracted",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    INGEST_002 = "CACG-INGEST-002", Error, Finding, Active => {
        title: "source yields no chunks",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    INGEST_003 = "CACG-INGEST-003", Error, Finding, Active => {
        title: "ingest could not publish",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    PERF_001 = "CACG-PERF-001", Error, Finding, Reserved("reserved by the contract as a sentinel of its tests; checking here may read sources, so it can never fire") => {
        title: "PDF parsed while checking",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    SRC_001 = "CACG-SRC-001", Error, Verdict, Active => {
        title: "source cannot be read",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    SRC_002 = "CACG-SRC-002", Error, Verdict, Active => {
        title: "source is empty",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    SRC_003 = "CACG-SRC-003", Error, Verdict, Active => {
        title: "source is damaged",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    SRC_004 = "CACG-SRC-004", Error, Verdict, Active => {
        title: "source is encrypted",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    SRC_005 = "CACG-SRC-005", Error, Verdict, Active => {
        title: "source is too large",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    SRC_006 = "CACG-SRC-006", Warning, Finding, Active => {
        title: "source is of unknown kind",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    SRC_007 = "CACG-SRC-007", Warning, Finding, Active => {
        title: "source is damaged in part",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    SRC_008 = "CACG-SRC-008", Info, Finding, Active => {
        title: "encoding was guessed",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    SRC_009 = "CACG-SRC-009", Warning, Finding, Active => {
        title: "extractor changed",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    SRC_010 = "CACG-SRC-010", Error, Finding, Active => {
        title: "primary key duplicate or missing in a registry",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    SRC_011 = "CACG-SRC-011", Warning, Finding, Active => {
        title: "bidi control or confusable id",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    SRC_012 = "CACG-SRC-012", Error, Verdict, Active => {
        title: "source changed while it was read",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    SRC_013 = "CACG-SRC-013", Error, Verdict, Active => {
        title: "root folder missing",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
}
