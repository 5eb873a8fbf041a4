//! What a plain scalar is.

use super::ScalarKind;

/// What YAML's core schema (1.2, §10.3.2) makes of a plain scalar, and dates besides.
pub(super) fn classify(text: &str) -> ScalarKind {
    let bytes = text.as_bytes();
    let Some(&first) = bytes.first() else {
        return ScalarKind::Null;
    };
    // Most plain scalars are words: only these first bytes can begin anything else.
    if !matches!(
        first,
        b'0'..=b'9' | b'+' | b'-' | b'.' | b'~' | b'n' | b'N' | b't' | b'T' | b'f' | b'F'
    ) {
        return ScalarKind::String;
    }
    match text {
        "~" | "null" | "Null" | "NULL" => return ScalarKind::Null,
        "true" | "True" | "TRUE" | "false" | "False" | "FALSE" => return ScalarKind::Bool,
        ".nan" | ".NaN" | ".NAN" => return ScalarKind::Float,
        _ => {}
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") {
        return ScalarKind::Float;
    }
    if !unsigned.is_empty() && unsigned.bytes().all(|byte| byte.is_ascii_digit()) {
        return text
            .parse()
            .map_or(ScalarKind::HugeInteger, ScalarKind::Integer);
    }
    for (prefix, radix) in [("0x", 16), ("0o", 8)] {
        if let Some(digits) = text.strip_prefix(prefix)
            && !digits.is_empty()
            && digits.chars().all(|digit| digit.is_digit(radix))
        {
            return i64::from_str_radix(digits, radix)
                .map_or(ScalarKind::HugeInteger, ScalarKind::Integer);
        }
    }
    if is_float(unsigned) {
        return ScalarKind::Float;
    }
    if is_date(bytes) {
        ScalarKind::Date
    } else {
        ScalarKind::String
    }
}

/// `( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?`
fn is_float(unsigned: &str) -> bool {
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mantissa_holds =
        digits(whole) && digits(fraction) && !(whole.is_empty() && fraction.is_empty());
    let exponent_holds = exponent.is_none_or(|exponent| {
        let unsigned = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        !unsigned.is_empty() && digits(unsigned)
    });
    mantissa_holds && exponent_holds
}

/// `YYYY-MM-DD`, alone or followed by a time (YAML 1.1 `timestamp`).
fn is_date(bytes: &[u8]) -> bool {
    let Some((date, rest)) = bytes.split_at_checked(10) else {
        return false;
    };
    let shape = date.iter().enumerate().all(|(index, byte)| match index {
        4 | 7 => *byte == b'-',
        _ => byte.is_ascii_digit(),
    });
    shape && matches!(rest.first(), None | Some(b'T' | b't' | b' '))
}
