//! A strict reader of JSON, for the places where "last one wins" would hide a lie.
//!
//! It refuses duplicate keys, lone surrogates, non-finite numbers, integers beyond 64 bits,
//! control characters in strings, bytes after the value, and nesting deeper than [`MAX_DEPTH`].
//! Floats are read to the nearest double, so that reading canonical JSON and writing it again
//! gives the same bytes. White space around tokens is allowed: the reader is strict about
//! meaning, not about layout.

use std::fmt;

use serde_json::{Map, Number, Value};

/// Deepest nesting of arrays and objects that is read.
pub const MAX_DEPTH: u32 = 128;

/// What is wrong with a JSON text, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StrictError {
    /// Byte offset of the fault.
    pub offset: usize,
    /// The fault.
    pub kind: StrictErrorKind,
}

/// Kinds of faults of a JSON text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StrictErrorKind {
    /// Something else was expected here.
    Syntax(&'static str),
    /// The same key twice in one object.
    DuplicateKey(String),
    /// Half of a surrogate pair, which is no character.
    LoneSurrogate,
    /// `NaN`, `Infinity`, or a number too large for a double.
    NotFinite,
    /// An integer that does not fit in 64 bits.
    IntegerTooLarge,
    /// A control character that a string must escape.
    ControlCharacter,
    /// Arrays and objects nested deeper than [`MAX_DEPTH`].
    TooDeep,
}

impl fmt::Display for StrictError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            StrictErrorKind::Syntax(expected) => write!(f, "expected {expected}")?,
            StrictErrorKind::DuplicateKey(key) => write!(f, "the key {key:?} occurs twice")?,
            StrictErrorKind::LoneSurrogate => f.write_str("half of a surrogate pair")?,
            StrictErrorKind::NotFinite => f.write_str("a number that is not finite")?,
            StrictErrorKind::IntegerTooLarge => f.write_str("an integer beyond 64 bits")?,
            StrictErrorKind::ControlCharacter => {
                f.write_str("a control character that is not escaped")?;
            }
            StrictErrorKind::TooDeep => write!(f, "nested deeper than {MAX_DEPTH}")?,
        }
        write!(f, " at byte {}", self.offset)
    }
}

impl std::error::Error for StrictError {}

/// Reads one JSON value that fills the whole text.
///
/// # Errors
/// The first [`StrictError`].
pub fn parse(text: &str) -> Result<Value, StrictError> {
    let mut reader = Reader { text, at: 0 };
    reader.skip_space();
    let value = reader.value(0)?;
    reader.skip_space();
    if reader.at < text.len() {
        return Err(reader.fault(StrictErrorKind::Syntax("the end of the text")));
    }
    Ok(value)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn fault(&self, kind: StrictErrorKind) -> StrictError {
        StrictError {
            offset: self.at,
            kind,
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        if found {
            self.at += 1;
        }
        found
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn word(&mut self, word: &'static str, value: Value) -> Result<Value, StrictError> {
        if self
            .text
            .get(self.at..)
            .is_some_and(|rest| rest.starts_with(word))
        {
            self.at += word.len();
            Ok(value)
        } else {
            Err(self.fault(StrictErrorKind::Syntax("a value")))
        }
    }

    fn value(&mut self, depth: u32) -> Result<Value, StrictError> {
        if depth > MAX_DEPTH {
            return Err(self.fault(StrictErrorKind::TooDeep));
        }
        match self.peek() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => self.string().map(Value::String),
            Some(b't') => self.word("true", Value::Bool(true)),
            Some(b'f') => self.word("false", Value::Bool(false)),
            Some(b'n') => self.word("null", Value::Null),
            Some(b'N' | b'I') => Err(self.fault(StrictErrorKind::NotFinite)),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => Err(self.fault(StrictErrorKind::Syntax("a value"))),
        }
    }

    fn array(&mut self, depth: u32) -> Result<Value, StrictError> {
        self.at += 1;
        let mut items = Vec::new();
        self.skip_space();
        if self.take(b']') {
            return Ok(Value::Array(items));
        }
        loop {
            self.skip_space();
            items.push(self.value(depth + 1)?);
            self.skip_space();
            if self.take(b']') {
                return Ok(Value::Array(items));
            }
            if !self.take(b',') {
                return Err(self.fault(StrictErrorKind::Syntax("`,` or `]`")));
            }
        }
    }

    fn object(&mut self, depth: u32) -> Result<Value, StrictError> {
        self.at += 1;
        let mut map = Map::new();
        self.skip_space();
        if self.take(b'}') {
            return Ok(Value::Object(map));
        }
        loop {
            self.skip_space();
            if self.peek() != Some(b'"') {
                return Err(self.fault(StrictErrorKind::Syntax("a key in quotation marks")));
            }
            let key_at = self.at;
            let key = self.string()?;
            if map.contains_key(&key) {
                return Err(StrictError {
                    offset: key_at,
                    kind: StrictErrorKind::DuplicateKey(key),
                });
            }
            self.skip_space();
            if !self.take(b':') {
                return Err(self.fault(StrictErrorKind::Syntax("`:`")));
            }
            self.skip_space();
            let value = self.value(depth + 1)?;
            map.insert(key, value);
            self.skip_space();
            if self.take(b'}') {
                return Ok(Value::Object(map));
            }
            if !self.take(b',') {
                return Err(self.fault(StrictErrorKind::Syntax("`,` or `}`")));
            }
        }
    }

    fn string(&mut self) -> Result<String, StrictError> {
        self.at += 1;
        let mut out = String::new();
        loop {
            let from = self.at;
            while matches!(self.peek(), Some(byte) if byte >= 0x20 && byte != b'"' && byte != b'\\')
            {
                self.at += 1;
            }
            // Only ASCII bytes end the stretch, so it is cut on character boundaries.
            out.push_str(self.text.get(from..self.at).unwrap_or(""));
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => out.push(self.escape()?),
                Some(_) => return Err(self.fault(StrictErrorKind::ControlCharacter)),
                None => return Err(self.fault(StrictErrorKind::Syntax("a closing `\"`"))),
            }
        }
    }

    fn escape(&mut self) -> Result<char, StrictError> {
        let from = self.at;
        self.at += 1;
        let letter = self.peek();
        self.at += 1;
        let simple = match letter {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode_escape(from),
            _ => {
                self.at = from;
                return Err(self.fault(StrictErrorKind::Syntax("an escape")));
            }
        };
        Ok(simple)
    }

    /// Reads the digits after `\u`, and the second half of a pair.
    fn unicode_escape(&mut self, from: usize) -> Result<char, StrictError> {
        let first = self.four_digits()?;
        let mut code = first;
        if (0xd800..0xdc00).contains(&first) && self.take(b'\\') && self.take(b'u') {
            let second = self.four_digits()?;
            if (0xdc00..0xe000).contains(&second) {
                code = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
            }
        }
        // The surrogates are the only values below 0x11_0000 that are no characters.
        char::from_u32(code).ok_or(StrictError {
            offset: from,
            kind: StrictErrorKind::LoneSurrogate,
        })
    }

    fn four_digits(&mut self) -> Result<u32, StrictError> {
        let mut code = 0;
        for _ in 0..4 {
            let digit = self
                .peek()
                .and_then(|byte| char::from(byte).to_digit(16))
                .ok_or_else(|| self.fault(StrictErrorKind::Syntax("four hexadecimal digits")))?;
            self.at += 1;
            code = code << 4 | digit;
        }
        Ok(code)
    }

    fn digits(&mut self) -> Result<(), StrictError> {
        let from = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == from {
            return Err(self.fault(StrictErrorKind::Syntax("a digit")));
        }
        Ok(())
    }

    fn number(&mut self) -> Result<Value, StrictError> {
        let from = self.at;
        if self.take(b'-') && self.peek() == Some(b'I') {
            return Err(StrictError {
                offset: from,
                kind: StrictErrorKind::NotFinite,
            });
        }
        if !self.take(b'0') {
            self.digits()?;
        }
        let mut integer = true;
        if self.take(b'.') {
            integer = false;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            integer = false;
            self.at += 1;
            if !self.take(b'+') {
                self.take(b'-');
            }
            self.digits()?;
        }
        let text = self.text.get(from..self.at).unwrap_or("");
        let fault = |kind| StrictError { offset: from, kind };
        if integer {
            if let Ok(value) = text.parse::<u64>() {
                return Ok(Value::Number(value.into()));
            }
            return text
                .parse::<i64>()
                .map(|value| Value::Number(value.into()))
                .map_err(|_| fault(StrictErrorKind::IntegerTooLarge));
        }
        text.parse::<f64>()
            .ok()
            .and_then(Number::from_f64)
            .map(Value::Number)
            .ok_or_else(|| fault(StrictErrorKind::NotFinite))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::*;
    use StrictErrorKind as Kind;

    #[test]
    fn faults_by_kind_and_place() {
        let cases: &[(&str, usize, Kind)] = &[
            (r#"{"a":1,"a":1}"#, 7, Kind::DuplicateKey("a".into())),
            (r#"{"a":1,"\u0061":2}"#, 7, Kind::DuplicateKey("a".into())),
            (
                r#"[{"x":{"k":1,"k":2}}]"#,
                13,
                Kind::DuplicateKey("k".into()),
            ),
            (r#""\ud800""#, 1, Kind::LoneSurrogate),
            (r#""\udc00""#, 1, Kind::LoneSurrogate),
            (r#""\ud800\u0041""#, 1, Kind::LoneSurrogate),
            (r#""\ud800\n""#, 1, Kind::LoneSurrogate),
            ("NaN", 0, Kind::NotFinite),
            ("[Infinity]", 1, Kind::NotFinite),
            ("-Infinity", 0, Kind::NotFinite),
            ("1e999", 0, Kind::NotFinite),
            ("18446744073709551616", 0, Kind::IntegerTooLarge),
            ("-9223372036854775809", 0, Kind::IntegerTooLarge),
            ("\"a\nb\"", 2, Kind::ControlCharacter),
            ("", 0, Kind::Syntax("a value")),
            ("1 2", 2, Kind::Syntax("the end of the text")),
            ("01", 1, Kind::Syntax("the end of the text")),
            ("1.", 2, Kind::Syntax("a digit")),
            ("[1,]", 3, Kind::Syntax("a value")),
            ("{a:1}", 1, Kind::Syntax("a key in quotation marks")),
            ("{1:1}", 1, Kind::Syntax("a key in quotation marks")),
            ("\"\\x\"", 1, Kind::Syntax("an escape")),
            ("\"open", 5, Kind::Syntax("a closing `\"`")),
            ("\u{feff}1", 0, Kind::Syntax("a value")),
            ("nul", 0, Kind::Syntax("a value")),
        ];
        for (text, offset, kind) in cases {
            let error = parse(text).expect_err(text);
            assert_eq!((error.offset, &error.kind), (*offset, kind), "{text:?}");
        }
    }

    #[test]
    fn depth_is_bounded() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(parse(&nested(128)).is_ok());
        assert_eq!(parse(&nested(130)).unwrap_err().kind, Kind::TooDeep);
        assert_eq!(
            parse(&"[".repeat(5_000_000)).unwrap_err().kind,
            Kind::TooDeep
        );
    }

    #[test]
    fn layout_is_free() {
        let value = parse(" {\n \"k\" : [ 1 , -0, \"\\ud83d\\ude00\\/\" ] }\r\n").unwrap();
        assert_eq!(value, serde_json::json!({"k": [1, 0, "😀/"]}));
    }
}
