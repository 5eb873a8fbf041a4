//! Codes about cards as a set: ids (`CARDS`), edges between cards (`DEP`), routers (`SKILL`) and role maps (`ROLE`).

codes! {
    CARDS_001 = "CACG-CARDS-001", Error, Verdict, Active => {
        title: "two cards with one id",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    CARDS_DEP_001 = "CACG-CARDS-DEP-001", Error, Finding, Reserved("reserved by the contract") => {
        title: "retraction lists and cascade out of step",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    CARDS_DEP_002 = "CACG-CARDS-DEP-002", Error, Finding, Reserved("not emitted yet: only the retired Python tool of the contract reported it; a manifest like that is MAN-001") => {
        title: "retraction lists contradict each other",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    DEP_001 = "CACG-DEP-001", Error, Finding, Active => {
        title: "edge to an unknown card",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    DEP_002 = "CACG-DEP-002", Error, Finding, Active => {
        title: "cards depend on each other in a circle",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    DEP_003 = "CACG-DEP-003", Error, Finding, Active => {
        title: "card that nothing refers to",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    DEP_004 = "CACG-DEP-004", Error, Finding, Active => {
        title: "edge to a retracted card",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    ROLE_001 = "CACG-ROLE-001", Error, Finding, Reserved("not emitted yet: only the retired Python tool of the contract reported it") => {
        title: "role map names a retracted card",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    ROLE_002 = "CACG-ROLE-002", Error, Finding, Reserved("not emitted yet: only the retired Python tool of the contract reported it") => {
        title: "active card missing from the role map",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    ROLE_003 = "CACG-ROLE-003", Error, Finding, Reserved("not emitted yet: only the retired Python tool of the contract reported it") => {
        title: "role map uses an unknown word",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    SKILL_001 = "CACG-SKILL-001", Error, Finding, Reserved("not emitted yet: only the retired Python tool of the contract reported it") => {
        title: "router name used twice",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    SKILL_002 = "CACG-SKILL-002", Error, Finding, Reserved("not emitted yet: only the retired Python tool of the contract reported it") => {
        title: "router leads to a card it may not",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
    SKILL_003 = "CACG-SKILL-003", Error, Finding, Reserved("not emitted yet: only the retired Python tool of the contract reported it") => {
        title: "router has a wrong field",
        explanation: "",
        language: "text",
        failing: "",
        corrected: "",
    }
}
