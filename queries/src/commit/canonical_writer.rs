//! The serializer behind canonical JSON: it sorts the members of each object as it closes it.
//!
//! Not here: the form of strings and numbers, which is [`super::canonical`]'s.

use std::fmt;
use std::io;
use std::ops::Range;

use serde::ser::{self, Serialize};

use super::canonical::{CanonicalError, escape, float_repr};
use super::canonical_key::KeyText;

/// One written entry of an object that is still open.
struct Entry {
    /// Where its key stands in [`Writer::keys`].
    key: Range<usize>,
    /// Where its first byte stands in the output.
    start: usize,
}

/// The serializer. Its three stacks are shared by all open objects, so that an object costs no
/// allocation of its own.
pub(super) struct Writer<'a> {
    out: &'a mut Vec<u8>,
    entries: Vec<Entry>,
    keys: String,
    scratch: Vec<u8>,
}

impl<'a> Writer<'a> {
    pub(super) fn new(out: &'a mut Vec<u8>) -> Self {
        Self {
            out,
            entries: Vec::new(),
            keys: String::new(),
            scratch: Vec::new(),
        }
    }

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
pub(super) struct Open<'w, 'a> {
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
        let key = key.serialize(KeyText)?;
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
