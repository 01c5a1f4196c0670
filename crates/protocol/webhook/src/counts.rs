//! Counts that are text in messages and that keep their spelling.

use crate::error::MessageError;
use crate::finding::Rule;
use crate::json::{Bound, Context, Output, Schemas, Wire, string};
use bankrail_values::json::JsonValue;
use bankrail_values::{excerpt, parse_decimal};
use serde_json::{Value, json};

/// The number of payments in a period, as decimal text. Default: up to 19 characters.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(transparent)
)]
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

bankrail_values::impl_display!(CountPerPeriod);

impl Wire for CountPerPeriod {
    fn read(value: &JsonValue<'_>, at: &mut Context) -> Result<Self, MessageError> {
        string(value, at).map(Self::new)
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
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(transparent)
)]
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

bankrail_values::impl_display!(PointInTime);

impl Wire for PointInTime {
    fn read(value: &JsonValue<'_>, at: &mut Context) -> Result<Self, MessageError> {
        string(value, at).map(Self::new)
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
