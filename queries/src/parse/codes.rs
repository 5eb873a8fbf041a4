//! The diagnostic codes that parsing emits, in one place.

use crate::diagnostic::Code;

macro_rules! codes {
    ($($name:ident = $text:literal;)*) => {
        $(pub(crate) const $name: Code = Code($text);)*
    };
}

codes! {
    FM_001 = "CACG-FM-001";
    FM_002 = "CACG-FM-002";
    FM_003 = "CACG-FM-003";
    FM_004 = "CACG-FM-004";
    FM_005 = "CACG-FM-005";
    FM_006 = "CACG-FM-006";
    FM_007 = "CACG-FM-007";
    FM_008 = "CACG-FM-008";
    CITE_001 = "CACG-CITE-001";
    CITE_002 = "CACG-CITE-002";
    CITE_003 = "CACG-CITE-003";
    SUM_001 = "CACG-SUM-001";
    SUM_002 = "CACG-SUM-002";
    SUM_003 = "CACG-SUM-003";
    SUM_004 = "CACG-SUM-004";
    SUM_007 = "CACG-SUM-007";
    AUTH_000 = "CACG-AUTH-000";
    MAN_001 = "CACG-MAN-001";
    CFG_001 = "CACG-CFG-001";
    CFG_002 = "CACG-CFG-002";
    CFG_003 = "CACG-CFG-003";
    CFG_004 = "CACG-CFG-004";
    CFG_005 = "CACG-CFG-005";
    CFG_006 = "CACG-CFG-006";
}

/// Whether a text is the code of a diagnostic.
pub(crate) fn is_known_code(code: &str) -> bool {
    crate::diagnostic::registry::find(code).is_some()
}
