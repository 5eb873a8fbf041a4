//! Codes about a card's frontmatter: its fences, its YAML, its fields (`FM`), its summary and tags (`SUM`).

codes! {
    FM_001 = "CACG-FM-001", Error, Verdict, Active => {
        title: "required field missing",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    FM_002 = "CACG-FM-002", Error, Verdict, Active => {
        title: "schema_version is not cacg.v0",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    FM_003 = "CACG-FM-003", Error, Verdict, Active => {
        title: "unknown field",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    FM_004 = "CACG-FM-004", Error, Verdict, Active => {
        title: "no frontmatter fences",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    FM_005 = "CACG-FM-005", Error, Verdict, Active => {
        title: "YAML anchor, alias or custom tag",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    FM_006 = "CACG-FM-006", Error, Verdict, Active => {
        title: "YAML syntax error or duplicate key",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    FM_007 = "CACG-FM-007", Error, Verdict, Active => {
        title: "frontmatter is not a mapping",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    FM_008 = "CACG-FM-008", Error, Verdict, Active => {
        title: "field has a wrong type or value",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    SUM_001 = "CACG-SUM-001", Error, Verdict, Active => {
        title: "summary too short",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    SUM_002 = "CACG-SUM-002", Error, Verdict, Active => {
        title: "summary too long",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    SUM_003 = "CACG-SUM-003", Error, Verdict, Active => {
        title: "invalid or duplicate tag",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    SUM_004 = "CACG-SUM-004", Error, Verdict, Active => {
        title: "too many tags",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    SUM_005 = "CACG-SUM-005", Error, Finding, Reserved("not emitted yet: only the retired Python tool of the contract reported it") => {
        title: "source ids differ between summaries and cards manifest",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    SUM_006 = "CACG-SUM-006", Error, Finding, Reserved("not emitted yet: only the retired Python tool of the contract reported it") => {
        title: "retracted card in the summaries",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    SUM_007 = "CACG-SUM-007", Error, Finding, Active => {
        title: "summaries entry without source_ids",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    SUM_008 = "CACG-SUM-008", Error, Finding, Reserved("not emitted yet: only the retired Python tool of the contract reported it") => {
        title: "source_ids could not be filled in",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
}
