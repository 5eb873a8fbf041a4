//! Codes about how a command was called (`CLI`), showing a card (`SHOW`) and round summaries (`RS`).

codes! {
    CLI_001 = "CACG-CLI-001", Error, Finding, Active => {
        title: "file or folder not found, or of the wrong kind",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    CLI_002 = "CACG-CLI-002", Error, Finding, Reserved("not emitted yet: only the retired Python tool of the contract reported it") => {
        title: "command not implemented",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    CLI_003 = "CACG-CLI-003", Error, Finding, Active => {
        title: "bad argument value",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    CLI_004 = "CACG-CLI-004", Error, Finding, Active => {
        title: "chunking configuration invalid",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    CLI_005 = "CACG-CLI-005", Error, Finding, Active => {
        title: "output exists",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    RS_001 = "CACG-RS-001", Error, Verdict, Active => {
        title: "round summary lacks its section",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    RS_002 = "CACG-RS-002", Error, Verdict, Active => {
        title: "round summary both cites and declines",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    RS_003 = "CACG-RS-003", Error, Verdict, Active => {
        title: "relevant work declined to cite",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    RS_004 = "CACG-RS-004", Error, Verdict, Active => {
        title: "relevant work cites nothing",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    SHOW_001 = "CACG-SHOW-001", Error, Finding, Active => {
        title: "card is retracted and not shown",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    SHOW_002 = "CACG-SHOW-002", Error, Finding, Active => {
        title: "file disagrees with the manifest",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    SHOW_003 = "CACG-SHOW-003", Error, Finding, Active => {
        title: "unsafe path",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
}
