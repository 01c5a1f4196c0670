//! Counts that are text in messages and are kept as written.

use crate::error::MessageError;
use crate::finding::Rule;
use crate::json::{Bound, Context, Output, Schemas, Wire, string};
use bankrail_values::json::JsonValue;
use bankrail_values::{excerpt, parse_decimal};
use serde_json::{Value, json};
use std::fmt;

/// The number of payments in a period, as decimal text. Default: up to 19 characters.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct CountPerPeriod(Box<str>);

impl CountPerPeriod {
    /// Keeps any text; `validate` reports text outside the documented default.
    pub fn new(text: impl Into<Box<str>>) -> Self {
        Self(text.into())
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for CountPerPeriod {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

bankrail_values::impl_display!(CountPerPeriod);

impl fmt::Debug for CountPerPeriod {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, out)
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for CountPerPeriod {
    fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(&self.0)
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for CountPerPeriod {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Box::deserialize(from).map(Self)
    }
}

impl Wire for CountPerPeriod {
    fn read(value: &JsonValue<'_>, at: &mut Context) -> Result<Self, MessageError> {
        string(value, at).map(Self::from)
    }
    fn write(&self, out: &mut Output) {
        out.string(&self.0);
    }
    fn check(&self, _bound: Option<&Bound>, at: &mut Context) {
        let text = self.as_str();
        if !(text.len() <= 19 && parse_decimal(text).is_ok()) {
            at.find(
                Rule::DefaultBound,
                "a decimal of at most 19 characters",
                excerpt(text),
            );
        }
    }
    fn schema(_: Option<&Bound>, _: &mut Schemas) -> Value {
        json!({ "type": "string", "minLength": 1, "maxLength": 19, "pattern": r"^-?[0-9]+(\.[0-9]+)?$" })
    }
}

/// The day or week within the period on which payments fall due. Default: 2 digits (`7` also
/// occurs).
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct PointInTime(Box<str>);

impl PointInTime {
    /// Keeps any text; `validate` reports text outside the documented default.
    pub fn new(text: impl Into<Box<str>>) -> Self {
        Self(text.into())
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for PointInTime {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

bankrail_values::impl_display!(PointInTime);

impl fmt::Debug for PointInTime {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, out)
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for PointInTime {
    fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(&self.0)
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for PointInTime {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Box::deserialize(from).map(Self)
    }
}

impl Wire for PointInTime {
    fn read(value: &JsonValue<'_>, at: &mut Context) -> Result<Self, MessageError> {
        string(value, at).map(Self::from)
    }
    fn write(&self, out: &mut Output) {
        out.string(&self.0);
    }
    fn check(&self, _bound: Option<&Bound>, at: &mut Context) {
        let text = self.as_str();
        if !(text.len() == 2 && text.bytes().all(|b| b.is_ascii_digit())) {
            at.find(Rule::DefaultBound, "2 digits", excerpt(text));
        }
    }
    fn schema(_: Option<&Bound>, _: &mut Schemas) -> Value {
        json!({ "type": "string", "minLength": 2, "maxLength": 2, "pattern": "^[0-9]*$" })
    }
}
