//! Tests of the canonical form, against values that Python wrote and against itself.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde::Serialize;
use serde_json::{Value, json};

use super::canonical::{CanonicalError, append, float_repr, to_string, to_vec, write};
use super::strict;

#[test]
fn floats_as_python_writes_them() {
    let cases: &[(f64, &str)] = &[
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (1.0, "1.0"),
        (-1.5, "-1.5"),
        (100.0, "100.0"),
        (0.1, "0.1"),
        (0.1 + 0.2, "0.30000000000000004"),
        (123_456.789, "123456.789"),
        (1e-4, "0.0001"),
        (0.000_123_4, "0.0001234"),
        (9.999e-5, "9.999e-05"),
        (1e-5, "1e-05"),
        (1.5e-6, "1.5e-06"),
        (1e-100, "1e-100"),
        (1e15, "1000000000000000.0"),
        (9_999_999_999_999_998.0, "9999999999999998.0"),
        (1e16, "1e+16"),
        (12_345_678_901_234_567_890.0, "1.2345678901234567e+19"),
        (1e22, "1e+22"),
        (f64::MAX, "1.7976931348623157e+308"),
        (f64::MIN_POSITIVE, "2.2250738585072014e-308"),
        (5e-324, "5e-324"),
        (-2.5e-7, "-2.5e-07"),
    ];
    for (value, expected) in cases {
        assert_eq!(float_repr(*value), *expected);
        assert_eq!(to_vec(value).unwrap(), expected.as_bytes());
    }
}

#[test]
fn escapes_are_the_shortest() {
    let all: String = (0..0x20u8).map(char::from).collect();
    assert_eq!(
        to_string(&Value::String(all)),
        "\"\\u0000\\u0001\\u0002\\u0003\\u0004\\u0005\\u0006\\u0007\\b\\t\\n\\u000b\\f\\r\\u000e\\u000f\
         \\u0010\\u0011\\u0012\\u0013\\u0014\\u0015\\u0016\\u0017\\u0018\\u0019\\u001a\\u001b\\u001c\\u001d\\u001e\\u001f\""
    );
    let literal = "/\u{7f}\u{80}\u{2028}\u{2029}é\u{fffd}😀";
    assert_eq!(
        to_string(&Value::String(literal.into())),
        format!("\"{literal}\"")
    );
    assert_eq!(to_string(&json!("\"\\")), r#""\"\\""#);
}

#[test]
fn keys_are_sorted_by_code_point() {
    // UTF-16 order would put the emoji before U+FF5E.
    let value = json!({"😀": 1, "\u{ff5e}": 2, "a": 3, "B": 4, "": 5, "a\u{0}": 6});
    assert_eq!(
        to_string(&value),
        "{\"\":5,\"B\":4,\"a\":3,\"a\\u0000\":6,\"\u{ff5e}\":2,\"😀\":1}"
    );
    assert_eq!(to_vec(&value).unwrap(), to_string(&value).as_bytes());
}

#[derive(Serialize)]
struct Outer<'a> {
    zebra: u8,
    inner: Inner<'a>,
    apple: Option<&'a str>,
    list: Vec<Inner<'a>>,
    shape: Vec<Shape>,
    map: BTreeMap<char, i64>,
}

#[derive(Serialize)]
struct Inner<'a> {
    b: &'a str,
    a: f64,
}

#[derive(Serialize)]
enum Shape {
    Unit,
    New(u8),
    Tuple(u8, u8),
    Struct { y: u8, x: u8 },
}

#[test]
fn structs_need_not_be_declared_in_order() {
    let value = Outer {
        zebra: 1,
        inner: Inner { b: "{,}", a: 0.5 },
        apple: None,
        list: vec![Inner { b: "1", a: 1.0 }, Inner { b: "2", a: 2.0 }],
        shape: vec![
            Shape::Unit,
            Shape::New(1),
            Shape::Tuple(1, 2),
            Shape::Struct { y: 1, x: 2 },
        ],
        map: BTreeMap::from([('b', -1), ('a', 1)]),
    };
    let expected = r#"{"apple":null,"inner":{"a":0.5,"b":"{,}"},"list":[{"a":1.0,"b":"1"},{"a":2.0,"b":"2"}],"map":{"a":1,"b":-1},"shape":["Unit",{"New":1},{"Tuple":[1,2]},{"Struct":{"x":2,"y":1}}],"zebra":1}"#;
    let mut written = Vec::new();
    write(&mut written, &value).unwrap();
    assert_eq!(String::from_utf8(written).unwrap(), expected);
}

/// A map that serializes its entries in the order given, repeated keys included.
struct Entries<K, V>(Vec<(K, V)>);

impl<K: Serialize, V: Serialize> Serialize for Entries<K, V> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

#[test]
fn what_has_no_canonical_form_is_refused() {
    assert_eq!(to_vec(&f64::NAN), Err(CanonicalError::NotFinite));
    assert_eq!(to_vec(&[f64::INFINITY]), Err(CanonicalError::NotFinite));
    assert_eq!(
        to_vec(&Entries(vec![(1, 1)])),
        Err(CanonicalError::KeyNotString)
    );
    assert_eq!(
        to_vec(&Entries(vec![(Some("a"), 1)])),
        Err(CanonicalError::KeyNotString)
    );
    for keys in [vec!["a", "a"], vec!["b", "a", "b"], vec!["a", "b", "b"]] {
        let entries = Entries(keys.into_iter().map(|key| (key, 1)).collect());
        assert!(matches!(
            to_vec(&entries),
            Err(CanonicalError::DuplicateKey(_))
        ));
    }
    let mut kept = b"before".to_vec();
    assert!(append(&mut kept, &json!(["x"])).is_ok());
    assert!(append(&mut kept, &[1.0, f64::NAN]).is_err());
    assert_eq!(kept, b"before[\"x\"]");
}

#[test]
fn golden_files_are_canonical_already() {
    for file in [
        include_str!("../../../fixtures/cacg/tests/parity_corpus/out_python/chunks_manifest.json"),
        include_str!("../../../fixtures/cacg/tests/parity_corpus/out_python/cards_manifest.json"),
        include_str!("../../../fixtures/cacg/tests/parity_corpus/out_python/summaries.json"),
        include_str!("../../../fixtures/cacg/tests/parity_corpus/out_python/source_matrix.json"),
    ] {
        let value = strict::parse(file).unwrap();
        assert_eq!(to_string(&value), file.trim_end_matches('\n'));
        assert_eq!(to_vec(&value).unwrap(), to_string(&value).as_bytes());
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>()
            .prop_filter("finite", |value| value.is_finite())
            .prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        "[\\x00-\\x7f]{0,9}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::hash_map(any::<String>(), inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn reading_and_writing_are_inverse(value in any_json()) {
        let text = to_string(&value);
        let read = strict::parse(&text).unwrap();
        prop_assert_eq!(&read, &value);
        prop_assert_eq!(to_string(&read), text.as_str());
        prop_assert_eq!(to_vec(&value).unwrap(), text.as_bytes());
    }

    #[test]
    fn order_of_writing_does_not_matter(
        map in prop::collection::hash_map(any::<String>(), any_json(), 0..12),
    ) {
        // A hash map yields its entries in an order of its own.
        let sorted: BTreeMap<_, _> = map.iter().collect();
        prop_assert_eq!(to_vec(&map).unwrap(), to_vec(&sorted).unwrap());
    }

    #[test]
    fn a_float_reads_back_as_itself(bits in any::<u64>()) {
        let value = f64::from_bits(bits);
        prop_assume!(value.is_finite());
        let text = float_repr(value);
        prop_assert_eq!(text.parse::<f64>().unwrap().to_bits(), bits);
        prop_assert!(text.contains(['.', 'e']));
    }

    #[test]
    fn the_reader_survives_anything(text in any::<String>(), json in "[\\[\\]{}\",:0-9a-fntu\\\\eE.+ -]{0,40}") {
        let _ = strict::parse(&text);
        if let Ok(value) = strict::parse(&json) {
            prop_assert_eq!(strict::parse(&to_string(&value)).unwrap(), value);
        }
    }

    #[test]
    fn the_reader_agrees_with_another_one(json in "[\\[\\]{}\",:0-9a-cntu\\\\eE.+ -]{0,24}") {
        // The other reader keeps the last of two equal keys and reads `-0` as a float.
        let ours = strict::parse(&json);
        let theirs = serde_json::from_str::<Value>(&json);
        if let (Ok(ours), Ok(_)) = (&ours, &theirs) {
            prop_assert!(strict::parse(&to_string(ours)).is_ok());
        }
        if ours.is_ok() {
            prop_assert!(theirs.is_ok(), "{} {:?}", json, theirs);
        }
    }
}
