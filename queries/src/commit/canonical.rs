//! Canonical JSON: one byte string per value.
//!
//! The form is that of the card-graph contract (§3): one line of UTF-8 without spaces and without
//! a final newline, object keys sorted by code point, the shortest escapes, integers in plain
//! decimal, floats as Python's `repr` writes them. The serializer sorts while it writes, so that a
//! value of any size is written once into one buffer and no tree of it is built; structs whose
//! fields are declared in sorted order cost nothing extra.
//!
//! Not here: reading. [`super::strict`] reads JSON where duplicate keys must be refused.

use std::fmt;
use std::io;

use serde::ser::{self, Serialize};

use super::canonical_writer::Writer;

/// Why a value has no canonical form.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CanonicalError {
    /// A float that is not a number or is infinite.
    NotFinite,
    /// A map key that is not a string.
    KeyNotString,
    /// The same key twice in one object.
    DuplicateKey(String),
    /// The value's own `Serialize` refused.
    Custom(String),
}

impl fmt::Display for CanonicalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFinite => f.write_str("a number is not finite"),
            Self::KeyNotString => f.write_str("an object key is not a string"),
            Self::DuplicateKey(key) => write!(f, "the key {key:?} occurs twice in one object"),
            Self::Custom(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for CanonicalError {}

impl ser::Error for CanonicalError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::Custom(message.to_string())
    }
}

/// The canonical bytes of a value.
///
/// # Errors
/// [`CanonicalError`] for non-finite floats, keys that are not strings, and duplicate keys.
pub fn to_vec<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, CanonicalError> {
    let mut out = Vec::new();
    append(&mut out, value)?;
    Ok(out)
}

/// Appends the canonical bytes of a value to `out`; `out` is left as it was on error.
///
/// # Errors
/// As [`to_vec`].
pub fn append<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) -> Result<(), CanonicalError> {
    let start = out.len();
    let result = value.serialize(&mut Writer::new(out));
    if result.is_err() {
        out.truncate(start);
    }
    result
}

/// Writes the canonical bytes of a value.
///
/// Nothing is written when the value has no canonical form. The bytes are gathered first, because
/// an object's first key is known only after its last field.
///
/// # Errors
/// The writer's errors; a [`CanonicalError`] comes as [`io::ErrorKind::InvalidData`].
pub fn write<T: Serialize + ?Sized>(mut to: impl io::Write, value: &T) -> io::Result<()> {
    let bytes = to_vec(value).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
    to.write_all(&bytes)
}

/// The canonical text of a JSON value.
///
/// A [`serde_json::Value`] holds no non-finite number, and its objects hold each key once, so
/// there is nothing to refuse.
#[must_use]
pub fn to_string(value: &serde_json::Value) -> String {
    let mut out = String::new();
    push_value(&mut out, value);
    out
}

fn push_value(out: &mut String, value: &serde_json::Value) {
    use serde_json::Value;
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(number) => push_number(out, number),
        Value::String(text) => push_string(out, text),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                push_value(out, item);
            }
            out.push(']');
        }
        Value::Object(map) => {
            // The map may keep insertion order, depending on features elsewhere in the build.
            let mut entries: Vec<(&String, &Value)> = map.iter().collect();
            entries.sort_unstable_by(|a, b| a.0.cmp(b.0));
            out.push('{');
            for (index, (key, item)) in entries.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                push_string(out, key);
                out.push(':');
                push_value(out, item);
            }
            out.push('}');
        }
    }
}

fn push_number(out: &mut String, number: &serde_json::Number) {
    if number.is_u64() || number.is_i64() {
        out.push_str(&number.to_string());
    } else if let Some(value) = number.as_f64().filter(|value| value.is_finite()) {
        out.push_str(&float_repr(value));
    } else {
        out.push_str(&number.to_string());
    }
}

fn push_string(out: &mut String, text: &str) {
    out.push('"');
    escape(text, |piece| out.push_str(piece));
    out.push('"');
}

/// Hands the pieces of `text`, escaped as canonical JSON (without the quotation marks), to `sink`.
///
/// Stretches that need no escape are handed on as they stand, so a hasher can take a text of any
/// length without a copy of it.
pub fn escape<'a>(text: &'a str, mut sink: impl FnMut(&'a str)) {
    let mut start = 0;
    for (at, &byte) in text.as_bytes().iter().enumerate() {
        // The test is on ASCII bytes only, so every cut is on a character boundary.
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        if let Some(piece) = text.get(start..at)
            && !piece.is_empty()
        {
            sink(piece);
        }
        sink(escape_of(byte));
        start = at + 1;
    }
    if let Some(piece) = text.get(start..)
        && !piece.is_empty()
    {
        sink(piece);
    }
}

const fn escape_of(byte: u8) -> &'static str {
    match byte {
        b'"' => "\\\"",
        b'\\' => "\\\\",
        0x00 => "\\u0000",
        0x01 => "\\u0001",
        0x02 => "\\u0002",
        0x03 => "\\u0003",
        0x04 => "\\u0004",
        0x05 => "\\u0005",
        0x06 => "\\u0006",
        0x07 => "\\u0007",
        0x08 => "\\b",
        0x09 => "\\t",
        0x0a => "\\n",
        0x0b => "\\u000b",
        0x0c => "\\f",
        0x0d => "\\r",
        0x0e => "\\u000e",
        0x0f => "\\u000f",
        0x10 => "\\u0010",
        0x11 => "\\u0011",
        0x12 => "\\u0012",
        0x13 => "\\u0013",
        0x14 => "\\u0014",
        0x15 => "\\u0015",
        0x16 => "\\u0016",
        0x17 => "\\u0017",
        0x18 => "\\u0018",
        0x19 => "\\u0019",
        0x1a => "\\u001a",
        0x1b => "\\u001b",
        0x1c => "\\u001c",
        0x1d => "\\u001d",
        0x1e => "\\u001e",
        0x1f => "\\u001f",
        _ => "",
    }
}

/// A finite float as Python's `repr` writes it.
///
/// Shortest digits that read back as the same value; positional from 1e-4 up to but excluding
/// 1e16, otherwise with a signed exponent of at least two digits.
#[must_use]
pub fn float_repr(value: f64) -> String {
    if value == 0.0 {
        return if value.is_sign_negative() {
            "-0.0"
        } else {
            "0.0"
        }
        .to_owned();
    }
    // `{:e}` gives the same shortest digits as `repr`, as `d.ddde-x`.
    let scientific = format!("{:e}", value.abs());
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let mut out = String::with_capacity(24);
    if value < 0.0 {
        out.push('-');
    }
    if !(-4..16).contains(&exponent) {
        let (first, rest) = digits.split_at(digits.len().min(1));
        out.push_str(first);
        if !rest.is_empty() {
            out.push('.');
            out.push_str(rest);
        }
        let sign = if exponent < 0 { '-' } else { '+' };
        out.push_str(&format!("e{sign}{:02}", exponent.unsigned_abs()));
    } else if exponent < 0 {
        out.push_str("0.");
        for _ in 1..exponent.unsigned_abs() {
            out.push('0');
        }
        out.push_str(&digits);
    } else {
        let whole = exponent.unsigned_abs() as usize + 1;
        if digits.len() <= whole {
            out.push_str(&digits);
            for _ in digits.len()..whole {
                out.push('0');
            }
            out.push_str(".0");
        } else {
            let (before, after) = digits.split_at(whole);
            out.push_str(before);
            out.push('.');
            out.push_str(after);
        }
    }
    out
}
