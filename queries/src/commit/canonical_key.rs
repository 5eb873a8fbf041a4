//! Map keys of canonical JSON: strings and nothing else.
//!
//! A serializer that yields the key's text and refuses every other shape, so that a number never
//! becomes a key by being spelled out.

use serde::ser::{Impossible, Serialize, Serializer};

use super::canonical::CanonicalError;

/// Serializes a key to its text.
pub(super) struct KeyText;

const REFUSED: CanonicalError = CanonicalError::KeyNotString;

impl Serializer for KeyText {
    type Ok = String;
    type Error = CanonicalError;
    type SerializeSeq = Impossible<String, CanonicalError>;
    type SerializeTuple = Impossible<String, CanonicalError>;
    type SerializeTupleStruct = Impossible<String, CanonicalError>;
    type SerializeTupleVariant = Impossible<String, CanonicalError>;
    type SerializeMap = Impossible<String, CanonicalError>;
    type SerializeStruct = Impossible<String, CanonicalError>;
    type SerializeStructVariant = Impossible<String, CanonicalError>;

    fn serialize_str(self, value: &str) -> Result<String, CanonicalError> {
        Ok(value.to_owned())
    }
    fn serialize_char(self, value: char) -> Result<String, CanonicalError> {
        Ok(value.to_string())
    }
    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<String, CanonicalError> {
        Ok(variant.to_owned())
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<String, CanonicalError> {
        value.serialize(self)
    }
    fn serialize_bool(self, _: bool) -> Result<String, CanonicalError> {
        Err(REFUSED)
    }
    fn serialize_i8(self, _: i8) -> Result<String, CanonicalError> {
        Err(REFUSED)
    }
    fn serialize_i16(self, _: i16) -> Result<String, CanonicalError> {
        Err(REFUSED)
    }
    fn serialize_i32(self, _: i32) -> Result<String, CanonicalError> {
        Err(REFUSED)
    }
    fn serialize_i64(self, _: i64) -> Result<String, CanonicalError> {
        Err(REFUSED)
    }
    fn serialize_u8(self, _: u8) -> Result<String, CanonicalError> {
        Err(REFUSED)
    }
    fn serialize_u16(self, _: u16) -> Result<String, CanonicalError> {
        Err(REFUSED)
    }
    fn serialize_u32(self, _: u32) -> Result<String, CanonicalError> {
        Err(REFUSED)
    }
    fn serialize_u64(self, _: u64) -> Result<String, CanonicalError> {
        Err(REFUSED)
    }
    fn serialize_f32(self, _: f32) -> Result<String, CanonicalError> {
        Err(REFUSED)
    }
    fn serialize_f64(self, _: f64) -> Result<String, CanonicalError> {
        Err(REFUSED)
    }
    fn serialize_bytes(self, _: &[u8]) -> Result<String, CanonicalError> {
        Err(REFUSED)
    }
    fn serialize_none(self) -> Result<String, CanonicalError> {
        Err(REFUSED)
    }
    fn serialize_some<T: Serialize + ?Sized>(self, _: &T) -> Result<String, CanonicalError> {
        Err(REFUSED)
    }
    fn serialize_unit(self) -> Result<String, CanonicalError> {
        Err(REFUSED)
    }
    fn serialize_unit_struct(self, _: &'static str) -> Result<String, CanonicalError> {
        Err(REFUSED)
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<String, CanonicalError> {
        Err(REFUSED)
    }
    fn serialize_seq(self, _: Option<usize>) -> Result<Self::SerializeSeq, CanonicalError> {
        Err(REFUSED)
    }
    fn serialize_tuple(self, _: usize) -> Result<Self::SerializeTuple, CanonicalError> {
        Err(REFUSED)
    }
    fn serialize_tuple_struct(
        self,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleStruct, CanonicalError> {
        Err(REFUSED)
    }
    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, CanonicalError> {
        Err(REFUSED)
    }
    fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap, CanonicalError> {
        Err(REFUSED)
    }
    fn serialize_struct(
        self,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStruct, CanonicalError> {
        Err(REFUSED)
    }
    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, CanonicalError> {
        Err(REFUSED)
    }
}
