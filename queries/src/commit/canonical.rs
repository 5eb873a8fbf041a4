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
use std::ops::Range;

use serde::ser::{self, Serialize};

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
    let mut writer = Writer {
        out,
        entries: Vec::new(),
        keys: String::new(),
        scratch: Vec::new(),
    };
    let result = value.serialize(&mut writer);
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

/// One written entry of an object that is still open.
struct Entry {
    /// Where its key stands in [`Writer::keys`].
    key: Range<usize>,
    /// Where its first byte stands in the output.
    start: usize,
}

/// The serializer. Its three stacks are shared by all open objects, so that an object costs no
/// allocation of its own.
struct Writer<'a> {
    out: &'a mut Vec<u8>,
    entries: Vec<Entry>,
    keys: String,
    scratch: Vec<u8>,
}

impl Writer<'_> {
    fn string(&mut self, text: &str) {
        self.out.push(b'"');
        escape(text, |piece| self.out.extend_from_slice(piece.as_bytes()));
        self.out.push(b'"');
    }

    fn float(&mut self, value: f64) -> Result<(), CanonicalError> {
        if !value.is_finite() {
            return Err(CanonicalError::NotFinite);
        }
        self.out.extend_from_slice(float_repr(value).as_bytes());
        Ok(())
    }

    fn integer(&mut self, value: impl fmt::Display) -> Result<(), CanonicalError> {
        use io::Write as _;
        // Writing to a vector cannot fail.
        write!(self.out, "{value}").map_err(|error| CanonicalError::Custom(error.to_string()))
    }

    fn entry(&mut self, first_entry: usize, key: &str) {
        if self.entries.len() > first_entry {
            self.out.push(b',');
        }
        let from = self.keys.len();
        self.keys.push_str(key);
        self.entries.push(Entry {
            key: from..self.keys.len(),
            start: self.out.len(),
        });
        self.string(key);
        self.out.push(b':');
    }

    /// Sorts the entries written since `first_entry` and closes the object.
    fn close(&mut self, first_entry: usize) -> Result<(), CanonicalError> {
        let keys = self.keys.as_str();
        let key_of = |entry: &Entry| keys.get(entry.key.clone()).unwrap_or("");
        let open = self.entries.get(first_entry..).unwrap_or(&[]);
        let in_order = open
            .windows(2)
            .all(|pair| matches!(pair, [a, b] if key_of(a) < key_of(b)));
        if !in_order {
            let begin = open.first().map_or(self.out.len(), |entry| entry.start);
            let end = self.out.len();
            // Each entry reaches to the comma before the next one.
            let mut order: Vec<(&str, Range<usize>)> = Vec::with_capacity(open.len());
            for (index, entry) in open.iter().enumerate() {
                let stop = open.get(index + 1).map_or(end, |next| next.start - 1);
                order.push((key_of(entry), entry.start - begin..stop - begin));
            }
            order.sort_by(|a, b| a.0.cmp(b.0));
            for pair in order.windows(2) {
                if let [a, b] = pair
                    && a.0 == b.0
                {
                    return Err(CanonicalError::DuplicateKey(a.0.to_owned()));
                }
            }
            self.scratch.clear();
            self.scratch
                .extend_from_slice(self.out.get(begin..).unwrap_or(&[]));
            self.out.truncate(begin);
            for (index, (_, range)) in order.into_iter().enumerate() {
                if index > 0 {
                    self.out.push(b',');
                }
                self.out
                    .extend_from_slice(self.scratch.get(range).unwrap_or(&[]));
            }
        }
        if let Some(first) = self.entries.get(first_entry) {
            let keep = first.key.start;
            self.keys.truncate(keep);
        }
        self.entries.truncate(first_entry);
        self.out.push(b'}');
        Ok(())
    }
}

/// An open array or object.
struct Open<'w, 'a> {
    writer: &'w mut Writer<'a>,
    /// Number of entries that were open before this object; unused for arrays.
    first_entry: usize,
    /// Whether an array element was written.
    any: bool,
    /// Whether this is the content of an enum variant, which closes one more object.
    variant: bool,
}

impl<'w, 'a> Open<'w, 'a> {
    fn array(writer: &'w mut Writer<'a>, variant: bool) -> Self {
        writer.out.push(b'[');
        Self {
            writer,
            first_entry: 0,
            any: false,
            variant,
        }
    }

    fn object(writer: &'w mut Writer<'a>, variant: bool) -> Self {
        writer.out.push(b'{');
        let first_entry = writer.entries.len();
        Self {
            writer,
            first_entry,
            any: false,
            variant,
        }
    }

    fn element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), CanonicalError> {
        if self.any {
            self.writer.out.push(b',');
        }
        self.any = true;
        value.serialize(&mut *self.writer)
    }

    fn member<T: Serialize + ?Sized>(
        &mut self,
        key: &str,
        value: &T,
    ) -> Result<(), CanonicalError> {
        self.writer.entry(self.first_entry, key);
        value.serialize(&mut *self.writer)
    }

    fn close_array(self) -> Result<(), CanonicalError> {
        self.writer.out.push(b']');
        if self.variant {
            self.writer.out.push(b'}');
        }
        Ok(())
    }

    fn close_object(self) -> Result<(), CanonicalError> {
        self.writer.close(self.first_entry)?;
        if self.variant {
            self.writer.out.push(b'}');
        }
        Ok(())
    }
}

impl<'w, 'a> ser::Serializer for &'w mut Writer<'a> {
    type Ok = ();
    type Error = CanonicalError;
    type SerializeSeq = Open<'w, 'a>;
    type SerializeTuple = Open<'w, 'a>;
    type SerializeTupleStruct = Open<'w, 'a>;
    type SerializeTupleVariant = Open<'w, 'a>;
    type SerializeMap = Open<'w, 'a>;
    type SerializeStruct = Open<'w, 'a>;
    type SerializeStructVariant = Open<'w, 'a>;

    fn serialize_bool(self, value: bool) -> Result<(), CanonicalError> {
        let word: &[u8] = if value { b"true" } else { b"false" };
        self.out.extend_from_slice(word);
        Ok(())
    }
    fn serialize_i8(self, value: i8) -> Result<(), CanonicalError> {
        self.integer(value)
    }
    fn serialize_i16(self, value: i16) -> Result<(), CanonicalError> {
        self.integer(value)
    }
    fn serialize_i32(self, value: i32) -> Result<(), CanonicalError> {
        self.integer(value)
    }
    fn serialize_i64(self, value: i64) -> Result<(), CanonicalError> {
        self.integer(value)
    }
    fn serialize_i128(self, value: i128) -> Result<(), CanonicalError> {
        self.integer(value)
    }
    fn serialize_u8(self, value: u8) -> Result<(), CanonicalError> {
        self.integer(value)
    }
    fn serialize_u16(self, value: u16) -> Result<(), CanonicalError> {
        self.integer(value)
    }
    fn serialize_u32(self, value: u32) -> Result<(), CanonicalError> {
        self.integer(value)
    }
    fn serialize_u64(self, value: u64) -> Result<(), CanonicalError> {
        self.integer(value)
    }
    fn serialize_u128(self, value: u128) -> Result<(), CanonicalError> {
        self.integer(value)
    }
    fn serialize_f32(self, value: f32) -> Result<(), CanonicalError> {
        self.float(f64::from(value))
    }
    fn serialize_f64(self, value: f64) -> Result<(), CanonicalError> {
        self.float(value)
    }
    fn serialize_char(self, value: char) -> Result<(), CanonicalError> {
        self.string(value.encode_utf8(&mut [0; 4]));
        Ok(())
    }
    fn serialize_str(self, value: &str) -> Result<(), CanonicalError> {
        self.string(value);
        Ok(())
    }
    fn serialize_bytes(self, value: &[u8]) -> Result<(), CanonicalError> {
        let mut open = Open::array(self, false);
        for byte in value {
            open.element(byte)?;
        }
        open.close_array()
    }
    fn serialize_none(self) -> Result<(), CanonicalError> {
        self.serialize_unit()
    }
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), CanonicalError> {
        value.serialize(self)
    }
    fn serialize_unit(self) -> Result<(), CanonicalError> {
        self.out.extend_from_slice(b"null");
        Ok(())
    }
    fn serialize_unit_struct(self, _: &'static str) -> Result<(), CanonicalError> {
        self.serialize_unit()
    }
    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<(), CanonicalError> {
        self.string(variant);
        Ok(())
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), CanonicalError> {
        value.serialize(self)
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), CanonicalError> {
        self.begin_variant(variant);
        value.serialize(&mut *self)?;
        self.out.push(b'}');
        Ok(())
    }
    fn serialize_seq(self, _: Option<usize>) -> Result<Open<'w, 'a>, CanonicalError> {
        Ok(Open::array(self, false))
    }
    fn serialize_tuple(self, _: usize) -> Result<Open<'w, 'a>, CanonicalError> {
        Ok(Open::array(self, false))
    }
    fn serialize_tuple_struct(
        self,
        _: &'static str,
        _: usize,
    ) -> Result<Open<'w, 'a>, CanonicalError> {
        Ok(Open::array(self, false))
    }
    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Open<'w, 'a>, CanonicalError> {
        self.begin_variant(variant);
        Ok(Open::array(self, true))
    }
    fn serialize_map(self, _: Option<usize>) -> Result<Open<'w, 'a>, CanonicalError> {
        Ok(Open::object(self, false))
    }
    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Open<'w, 'a>, CanonicalError> {
        Ok(Open::object(self, false))
    }
    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Open<'w, 'a>, CanonicalError> {
        self.begin_variant(variant);
        Ok(Open::object(self, true))
    }
}

impl Writer<'_> {
    /// Opens `{"variant":`; the one key needs no sorting.
    fn begin_variant(&mut self, variant: &str) {
        self.out.push(b'{');
        self.string(variant);
        self.out.push(b':');
    }
}

impl ser::SerializeSeq for Open<'_, '_> {
    type Ok = ();
    type Error = CanonicalError;
    fn serialize_element<T: Serialize + ?Sized>(
        &mut self,
        value: &T,
    ) -> Result<(), CanonicalError> {
        self.element(value)
    }
    fn end(self) -> Result<(), CanonicalError> {
        self.close_array()
    }
}

impl ser::SerializeTuple for Open<'_, '_> {
    type Ok = ();
    type Error = CanonicalError;
    fn serialize_element<T: Serialize + ?Sized>(
        &mut self,
        value: &T,
    ) -> Result<(), CanonicalError> {
        self.element(value)
    }
    fn end(self) -> Result<(), CanonicalError> {
        self.close_array()
    }
}

impl ser::SerializeTupleStruct for Open<'_, '_> {
    type Ok = ();
    type Error = CanonicalError;
    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), CanonicalError> {
        self.element(value)
    }
    fn end(self) -> Result<(), CanonicalError> {
        self.close_array()
    }
}

impl ser::SerializeTupleVariant for Open<'_, '_> {
    type Ok = ();
    type Error = CanonicalError;
    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), CanonicalError> {
        self.element(value)
    }
    fn end(self) -> Result<(), CanonicalError> {
        self.close_array()
    }
}

impl ser::SerializeMap for Open<'_, '_> {
    type Ok = ();
    type Error = CanonicalError;
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), CanonicalError> {
        let key = key.serialize(super::canonical_key::KeyText)?;
        self.writer.entry(self.first_entry, &key);
        Ok(())
    }
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), CanonicalError> {
        value.serialize(&mut *self.writer)
    }
    fn end(self) -> Result<(), CanonicalError> {
        self.close_object()
    }
}

impl ser::SerializeStruct for Open<'_, '_> {
    type Ok = ();
    type Error = CanonicalError;
    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), CanonicalError> {
        self.member(key, value)
    }
    fn end(self) -> Result<(), CanonicalError> {
        self.close_object()
    }
}

impl ser::SerializeStructVariant for Open<'_, '_> {
    type Ok = ();
    type Error = CanonicalError;
    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), CanonicalError> {
        self.member(key, value)
    }
    fn end(self) -> Result<(), CanonicalError> {
        self.close_object()
    }
}
