//! JSON as a signed token may carry it: one object, no duplicate members, bounded depth (RFC 7515 section 4,
//! RFC 7519 section 4).
//!
//! Duplicates are found after unescaping, at every depth: `{"alg":1,"\u0061lg":2}` is refused.

use serde::Deserializer as _;
use serde::de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::fmt;
use zeroize::Zeroize as _;

/// Bounds on one JSON object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct JsonLimits {
    /// Octets at most.
    pub max_len: usize,
    /// Objects and arrays inside each other at most; the outermost object counts as one.
    pub max_depth: usize,
    /// Members of one object at most.
    pub max_members: usize,
}

impl JsonLimits {
    /// Bounds on octets, depth and members of one object.
    #[must_use]
    pub const fn new(max_len: usize, max_depth: usize, max_members: usize) -> Self {
        Self { max_len, max_depth, max_members }
    }
}

/// Text that is not one JSON object within its bounds.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JsonError {
    /// More octets than allowed.
    #[error("expected at most {max} octets of JSON, found {found}")]
    TooLong {
        /// The octets found.
        found: usize,
        /// The most allowed.
        max: usize,
    },
    /// Not UTF-8.
    #[error("expected UTF-8, found an invalid sequence at octet {at}")]
    NotUtf8 {
        /// Where the first invalid sequence starts.
        at: usize,
    },
    /// Something else than one JSON object without duplicate members, within depth and member bounds.
    #[error("expected one JSON object, found a fault at line {line} column {column}")]
    Malformed {
        /// The line, counted from one.
        line: usize,
        /// The column, counted from one.
        column: usize,
        /// What was wrong.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// Reads one JSON object and nothing after it.
///
/// # Errors
/// [`JsonError`] if the text is too long, not UTF-8, not one object, has a duplicate member at any depth, or is deeper
/// or wider than `limits`.
pub fn read_object(json: &[u8], limits: &JsonLimits) -> Result<Map<String, Value>, JsonError> {
    if json.len() > limits.max_len {
        return Err(JsonError::TooLong { found: json.len(), max: limits.max_len });
    }
    let text = std::str::from_utf8(json).map_err(|error| JsonError::NotUtf8 { at: error.valid_up_to() })?;
    let mut reader = serde_json::Deserializer::from_str(text);
    let members = reader.deserialize_map(Object(limits, limits.max_depth)).and_then(|members| {
        reader.end()?;
        Ok(members)
    });
    members.map_err(|error| JsonError::Malformed { line: error.line(), column: error.column(), source: error.into() })
}

/// Overwrites the texts in an object that holds secrets; names and numbers stay.
pub fn wipe(members: &mut Map<String, Value>) {
    fn wipe_value(value: &mut Value) {
        match value {
            Value::String(text) => text.zeroize(),
            Value::Array(list) => list.iter_mut().for_each(wipe_value),
            Value::Object(members) => wipe(members),
            _ => {}
        }
    }
    members.values_mut().for_each(wipe_value);
}

struct Object<'a>(&'a JsonLimits, usize);

impl<'de> Visitor<'de> for Object<'_> {
    type Value = Map<String, Value>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let Some(depth) = self.1.checked_sub(1) else { return Err(A::Error::custom("deeper than allowed")) };
        let mut object = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            if object.contains_key(&name) {
                return Err(A::Error::custom("a duplicate member"));
            }
            if object.len() >= self.0.max_members {
                return Err(A::Error::custom("more members than allowed"));
            }
            let value = members.next_value_seed(Any(self.0, depth))?;
            object.insert(name, value);
        }
        Ok(object)
    }
}

struct Any<'a>(&'a JsonLimits, usize);

impl<'de> DeserializeSeed<'de> for Any<'_> {
    type Value = Value;

    fn deserialize<D: serde::Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Any<'_> {
    type Value = Value;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let Some(depth) = self.1.checked_sub(1) else { return Err(A::Error::custom("deeper than allowed")) };
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(Any(self.0, depth))? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<Value, A::Error> {
        Object(self.0, self.1).visit_map(members).map(Value::Object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: JsonLimits = JsonLimits::new(200, 3, 4);

    #[test]
    fn one_object_within_bounds_is_read() {
        for json in [r#"{}"#, r#" {"a":[1,-2,0.5,null,true,"x"],"b":{"c":{}}} "#, r#"{"a":1,"b":1,"c":1,"d":1}"#] {
            let read = read_object(json.as_bytes(), &LIMITS).unwrap();
            assert_eq!(Value::Object(read), serde_json::from_str::<Value>(json).unwrap());
        }
    }

    #[test]
    fn wiping_leaves_no_text() {
        let mut members = read_object(br#"{"a":"x","b":["y",{"c":"z"}],"d":1}"#, &LIMITS).unwrap();
        wipe(&mut members);
        assert_eq!(Value::Object(members), serde_json::json!({"a": "", "b": ["", {"c": ""}], "d": 1}));
    }

    #[test]
    fn everything_else_is_refused() {
        let cases: &[&[u8]] = &[
            b"",
            b"1",
            b"[]",
            b"null",
            b"\"{}\"",
            b"{} {}",
            b"{}x",
            b"{",
            br#"{"a":1,"a":1}"#,
            br#"{"a":1,"\u0061":1}"#,
            br#"{"x":{"a":1,"a":1}}"#,
            br#"{"x":[{"a":1,"a":1}]}"#,
            br#"{"a":[[[]]]}"#,
            br#"{"a":1,"b":1,"c":1,"d":1,"e":1}"#,
            b"{\"a\":\"\xff\"}",
            br#"{"a":"\ud800"}"#,
            br#"{"a":01}"#,
            br#"{"a":1e999}"#,
            br#"{"a":NaN}"#,
            b"\xef\xbb\xbf{}",
            br#"{"a":1,}"#,
            br#"{a:1}"#,
        ];
        for json in cases {
            assert!(read_object(json, &LIMITS).is_err(), "{}", json.escape_ascii());
        }
        assert!(matches!(read_object(&[b' '; 201], &LIMITS), Err(JsonError::TooLong { found: 201, max: 200 })));
    }
}
