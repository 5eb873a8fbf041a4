//! The part of JSON Schema that our own schemas use, so that tests need no validator with the
//! weight of the program itself. A keyword that is not known here fails the test, so that nothing
//! in a schema goes unchecked.

use regex::Regex;
use serde_json::Value;

/// Keywords that say nothing about a value.
const NOTES: &[&str] = &[
    "$schema",
    "$id",
    "$comment",
    "$defs",
    "title",
    "description",
];

/// Why `value` does not follow `schema`, a part of `root`; empty when it does.
pub fn errors(root: &Value, schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    for (keyword, wanted) in schema.as_object().unwrap() {
        match keyword.as_str() {
            note if NOTES.contains(&note) => {}
            "$ref" => {
                let pointer = wanted.as_str().unwrap().strip_prefix('#').unwrap();
                found.extend(errors(root, root.pointer(pointer).unwrap(), value));
            }
            "oneOf" => {
                let fitting = |option: &&Value| errors(root, option, value).is_empty();
                let count = wanted.as_array().unwrap().iter().filter(fitting).count();
                if count != 1 {
                    found.push(format!("{count} of its forms fit {value}"));
                }
            }
            "type" => {
                let alone = std::slice::from_ref(wanted);
                let names = wanted.as_array().map_or(alone, Vec::as_slice);
                if !names.iter().any(|name| is_a(value, name.as_str().unwrap())) {
                    found.push(format!("{value} is no {wanted}"));
                }
            }
            "enum" => {
                if !wanted.as_array().unwrap().contains(value) {
                    found.push(format!("{value} is not in {wanted}"));
                }
            }
            "pattern" => {
                let pattern = Regex::new(wanted.as_str().unwrap()).unwrap();
                if value.as_str().is_some_and(|text| !pattern.is_match(text)) {
                    found.push(format!("{value} does not match {wanted}"));
                }
            }
            "minimum" => {
                if value.as_f64() < wanted.as_f64() {
                    found.push(format!("{value} is below {wanted}"));
                }
            }
            "items" => {
                for item in value.as_array().into_iter().flatten() {
                    found.extend(errors(root, wanted, item));
                }
            }
            "required" => {
                let missing = |key: &&Value| value.get(key.as_str().unwrap()).is_none();
                let missing = wanted.as_array().unwrap().iter().filter(missing);
                found.extend(missing.map(|key| format!("{key} is missing in {value}")));
            }
            "maxProperties" => {
                let count = value.as_object().map_or(0, serde_json::Map::len) as u64;
                if count > wanted.as_u64().unwrap() {
                    found.push(format!("{count} keys in {value}"));
                }
            }
            "properties" => {
                for (key, wanted) in wanted.as_object().unwrap() {
                    if let Some(value) = value.get(key) {
                        found.extend(errors(root, wanted, value));
                    }
                }
            }
            "additionalProperties" => {
                let known = schema.get("properties").and_then(Value::as_object);
                for (key, value) in value.as_object().into_iter().flatten() {
                    if known.is_some_and(|known| known.contains_key(key)) {
                        continue;
                    }
                    match wanted {
                        Value::Bool(true) => {}
                        Value::Bool(false) => found.push(format!("the key `{key}` is unknown")),
                        wanted => found.extend(errors(root, wanted, value)),
                    }
                }
            }
            unknown => panic!("the keyword `{unknown}` is not known to this test"),
        }
    }
    found
}

fn is_a(value: &Value, name: &str) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "null" => value.is_null(),
        _ => panic!("the type `{name}` is not known to this test"),
    }
}
