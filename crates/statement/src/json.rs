//! JSON objects read member by member, so that a wrong one is named and no value gets into an error text.

use serde::Deserializer as _;
use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;

/// A value of a member that somebody looks at.
#[derive(Debug, PartialEq)]
pub(crate) enum Value<'a> {
    Null,
    Bool(bool),
    Integer(i64),
    /// A fraction, an exponent or an integer beyond `i64`.
    Number,
    Text(Cow<'a, str>),
    Array,
    Object(Vec<(Cow<'a, str>, Value<'a>)>),
}

impl Value<'_> {
    /// What an error text calls it.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Integer(_) | Self::Number => "a number",
            Self::Text(_) => "text",
            Self::Array => "an array",
            Self::Object(_) => "an object",
        }
    }
}

/// The members of an object whose names are asked for.
#[derive(Debug)]
pub(crate) struct Members<'a>(Vec<(Cow<'a, str>, Value<'a>)>);

impl<'a> Members<'a> {
    /// Takes a member out.
    pub(crate) fn take(&mut self, name: &str) -> Option<Value<'a>> {
        let at = self.0.iter().position(|(known, _)| known == name)?;
        Some(self.0.swap_remove(at).1)
    }
}

/// Where and how a text is no JSON object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JsonError {
    /// Not one JSON object.
    #[error("expected one JSON object, found something else at line {line}, column {column}")]
    Malformed {
        /// Where reading stopped, counted from 1.
        line: usize,
        /// Where reading stopped, counted from 1; 0 before the line's first character.
        column: usize,
    },
    /// A member that comes twice.
    #[error("expected the member {member:?} once, found it again")]
    Duplicate {
        /// The member.
        member: &'static str,
    },
}

/// Reads one object and nothing after it; members other than `names` are skipped.
pub(crate) fn read_object<'a>(json: &'a [u8], names: &'static [&'static str]) -> Result<Members<'a>, JsonError> {
    let mut duplicate = None;
    let mut reader = serde_json::Deserializer::from_slice(json);
    let members = reader.deserialize_map(Top { names, duplicate: &mut duplicate }).and_then(|members| {
        reader.end()?;
        Ok(members)
    });
    match (members, duplicate) {
        (_, Some(member)) => Err(JsonError::Duplicate { member }),
        (Ok(members), None) => Ok(Members(members)),
        // serde_json's own messages quote values, so only the place is kept.
        (Err(error), None) => Err(JsonError::Malformed { line: error.line(), column: error.column() }),
    }
}

/// The members of a value that is an object.
pub(crate) fn into_members(value: Value<'_>) -> Result<Members<'_>, Value<'_>> {
    match value {
        Value::Object(members) => Ok(Members(members)),
        other => Err(other),
    }
}

struct Top<'d> {
    names: &'static [&'static str],
    duplicate: &'d mut Option<&'static str>,
}

impl<'de> Visitor<'de> for Top<'_> {
    type Value = Vec<(Cow<'de, str>, Value<'de>)>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let mut found: Self::Value = Vec::new();
        while let Some(Text(name)) = members.next_key()? {
            let Some(known) = self.names.iter().find(|known| **known == name) else {
                members.next_value::<IgnoredAny>()?;
                continue;
            };
            if found.iter().any(|(other, _)| other == known) {
                *self.duplicate = Some(known);
                return Err(A::Error::custom("a duplicate member"));
            }
            found.push((name, members.next_value_seed(Any)?));
        }
        Ok(found)
    }
}

struct Any;

impl<'de> DeserializeSeed<'de> for Any {
    type Value = Value<'de>;

    fn deserialize<D: serde::Deserializer<'de>>(self, reader: D) -> Result<Value<'de>, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Any {
    type Value = Value<'de>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value<'de>, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value<'de>, E> {
        Ok(Value::Integer(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value<'de>, E> {
        Ok(i64::try_from(value).map_or(Value::Number, Value::Integer))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Value<'de>, E> {
        Ok(Value::Number)
    }

    fn visit_borrowed_str<E>(self, value: &'de str) -> Result<Value<'de>, E> {
        Ok(Value::Text(Cow::Borrowed(value)))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value<'de>, E> {
        Ok(Value::Text(Cow::Owned(value.to_owned())))
    }

    fn visit_string<E>(self, value: String) -> Result<Value<'de>, E> {
        Ok(Value::Text(Cow::Owned(value)))
    }

    fn visit_unit<E>(self) -> Result<Value<'de>, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value<'de>, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Value::Array)
    }

    /// The first of two equal members wins here: these are error objects, which are shown and not acted on.
    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value<'de>, A::Error> {
        let mut found = Vec::new();
        while let Some(Text(name)) = members.next_key()? {
            found.push((name, members.next_value_seed(Any)?));
        }
        Ok(Value::Object(found))
    }
}

/// A name, borrowed where it has no escapes.
struct Text<'a>(Cow<'a, str>);

impl<'de> serde::Deserialize<'de> for Text<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        struct Name;
        impl<'de> Visitor<'de> for Name {
            type Value = Text<'de>;
            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a name")
            }
            fn visit_borrowed_str<E>(self, name: &'de str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Borrowed(name)))
            }
            fn visit_str<E>(self, name: &str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(name.to_owned())))
            }
        }
        reader.deserialize_str(Name)
    }
}

/// Appends `text`, which may be long, as a JSON string.
pub(crate) fn append_string(text: &str, out: String) -> String {
    let mut out = out.into_bytes();
    serde_json::to_writer(&mut out, text).expect("a text is always written to memory");
    String::from_utf8(out).expect("JSON text made of UTF-8 parts")
}

/// Writes `text`, which is short, as a JSON string.
pub(crate) fn write_string(text: &str, out: &mut String) {
    out.push_str(&serde_json::to_string(text).expect("a text is always written"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_picked_and_others_skipped() {
        let json = br#"{"x":[{"a":1}],"\u0061":"t","b":{"c":-1,"d":[1]},"n":null,"f":1.5,"u":18446744073709551615}"#;
        let mut members = read_object(json, &["a", "b", "n", "f", "u", "z"]).unwrap();
        assert_eq!(members.take("a"), Some(Value::Text("t".into())));
        assert_eq!(
            members.take("b"),
            Some(Value::Object(vec![("c".into(), Value::Integer(-1)), ("d".into(), Value::Array)]))
        );
        assert_eq!((members.take("n"), members.take("z")), (Some(Value::Null), None));
        assert_eq!((members.take("f"), members.take("u")), (Some(Value::Number), Some(Value::Number)));
        assert_eq!(members.take("x"), None);
    }

    #[test]
    fn other_texts_are_refused() {
        assert_eq!(read_object(br#"{"a":1,"\u0061":1}"#, &["a"]).unwrap_err(), JsonError::Duplicate { member: "a" });
        let deep = r#"{"a":"#.repeat(100_000);
        let bad = ["", "[]", "1", "{} x", "{", r#"{"a":}"#, "\u{feff}{}", r#"{"a":"\ud800"}"#, "{\"a\":\"\n\"}", &deep];
        for json in bad {
            let found = read_object(json.as_bytes(), &["a"]);
            assert!(matches!(found, Err(JsonError::Malformed { .. })), "{}", bankrail_values::excerpt(json));
        }
        assert!(read_object(b"{\"a\":\"\xff\"}", &["a"]).is_err());
    }
}
