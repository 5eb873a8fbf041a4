//! What to do next, where the parser that found a problem does not say so itself.
//!
//! A parser says what is wrong in the case at hand; this is the next step that the code as such
//! allows. Not here: explanations and examples, which are the registry's.

use crate::diagnostic::{Code, registry};

/// The usual next step for a code.
pub fn usual(code: Code) -> Option<&'static str> {
    Some(match code {
        registry::FM_004 => {
            "a card begins with a line `---`, its fields, and another line `---` with a line break"
        }
        registry::FM_006 => "keep one of the two",
        registry::FM_007 => "write the fields as lines of the form `name: value`",
        registry::FM_008 => "fill it in as the card format asks",
        registry::SUM_001 => "say in one or two sentences what the card claims",
        registry::SUM_002 => "keep the claim, and move the rest into the body",
        registry::SUM_003 => "write tags like `[\"hash-trees\", \"proofs\"]`",
        registry::SUM_004 => "keep the tags by which somebody would look for this card",
        registry::AUTH_000 => {
            "a matrix reads {\"allowed\": {\"reading\": [\"source_id\"]}, \"schema_version\": \"cacg.v0\"}"
        }
        registry::MAN_001 => {
            "restore the file from version control: it records ids and retractions"
        }
        registry::CFG_001 | registry::CFG_002 => {
            "`kb config` prints every setting in force, `kb config --schema` what each may be"
        }
        registry::CFG_003 => "correct the pattern; in TOML, single quotes keep backslashes",
        registry::CFG_004 => "texts stand in quotes, lists in square brackets",
        registry::CFG_005 => "change one of the two settings",
        _ => return None,
    })
}
