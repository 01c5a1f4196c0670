//! The types of values in messages: reading, writing and checking.

use super::schema::{pattern, text};
use super::{Bound, Context, Output, Schemas};
use crate::TimeOfDay;
use crate::error::MessageError;
use crate::finding::Rule;
use bankrail_values::json::JsonValue;
use bankrail_values::{
    BoundedText, Currency, Date, Decimal, HyphenatedUuid, Timestamp, UnknownCode, ValueError,
    excerpt, parse_decimal,
};
use serde_json::{Value, json};
use std::fmt::Display;
use std::str::FromStr;

/// A value of a message.
pub(crate) trait Wire: Sized {
    /// Reads the value. A value that breaks a rule of the specification is an error.
    fn read(value: &JsonValue<'_>, at: &mut Context) -> Result<Self, MessageError>;
    /// Writes the value.
    fn write(&self, out: &mut Output);
    /// Reports findings: contents that the type can hold but a message should not have.
    fn check(&self, _bound: Option<&Bound>, _at: &mut Context) {}
    /// Returns the JSON Schema of what is written. The schemas of objects are added to `schemas`,
    /// and the result refers to them.
    fn schema(bound: Option<&Bound>, schemas: &mut Schemas) -> Value;
}

/// Returns the text of a value that must be a string.
pub(crate) fn string<'v>(value: &'v JsonValue<'_>, at: &Context) -> Result<&'v str, MessageError> {
    value
        .as_str()
        .ok_or_else(|| at.wrong_type("a string", value))
}

impl Wire for String {
    fn read(value: &JsonValue<'_>, at: &mut Context) -> Result<Self, MessageError> {
        string(value, at).map(Into::into)
    }
    fn write(&self, out: &mut Output) {
        out.string(self);
    }
    fn check(&self, bound: Option<&Bound>, at: &mut Context) {
        if let Some(bound) = bound {
            bound.check(self, at);
        }
    }
    fn schema(bound: Option<&Bound>, _: &mut Schemas) -> Value {
        text(bound)
    }
}

impl Wire for bool {
    fn read(value: &JsonValue<'_>, at: &mut Context) -> Result<Self, MessageError> {
        match value {
            JsonValue::Bool(value) => Ok(*value),
            other => Err(at.wrong_type("a boolean", other)),
        }
    }
    fn write(&self, out: &mut Output) {
        out.raw(if *self { "true" } else { "false" });
    }
    fn schema(_: Option<&Bound>, _: &mut Schemas) -> Value {
        json!({ "type": "boolean" })
    }
}

impl<const MIN: usize, const MAX: usize> Wire for BoundedText<MIN, MAX> {
    fn read(value: &JsonValue<'_>, at: &mut Context) -> Result<Self, MessageError> {
        let text = string(value, at)?;
        text.parse()
            .map_err(|_| at.bad_value(format!("{MIN} to {MAX} characters"), text))
    }
    fn write(&self, out: &mut Output) {
        out.string(self.as_str());
    }
    fn schema(_: Option<&Bound>, _: &mut Schemas) -> Value {
        json!({ "type": "string", "minLength": MIN, "maxLength": MAX })
    }
}

/// Reads a text that `parse` checks.
fn parsed<T>(
    value: &JsonValue<'_>,
    at: &Context,
    parse: impl Fn(&str) -> Result<T, ValueError>,
) -> Result<T, MessageError> {
    let text = string(value, at)?;
    parse(text).map_err(|error| at.bad_value(error.expected, text))
}

/// Reads a time with `parse`, which also returns the number of fractional digits; fewer than three
/// are a finding.
fn time<T>(
    value: &JsonValue<'_>,
    at: &mut Context,
    parse: impl Fn(&str) -> Result<(T, u8), ValueError>,
) -> Result<T, MessageError> {
    let (time, digits) = parsed(value, at, parse)?;
    if digits != 3 {
        at.find(
            Rule::FractionDigits,
            "3 fractional digits",
            digits.to_string(),
        );
    }
    Ok(time)
}

/// Reports a code that is not on its list.
pub(crate) fn unknown_code(
    code: &UnknownCode,
    rule: Rule,
    expected: &'static str,
    at: &mut Context,
) {
    at.find(rule, expected, excerpt(code.as_str()));
}

/// A value that is written as it is displayed and read as it is parsed.
pub(crate) trait Spelled: FromStr<Err = ValueError> + Display {
    /// The JSON Schema of the text.
    fn schema() -> Value;
}

impl<T: Spelled> Wire for T {
    fn read(value: &JsonValue<'_>, at: &mut Context) -> Result<Self, MessageError> {
        parsed(value, at, Self::from_str)
    }
    fn write(&self, out: &mut Output) {
        out.displayed(self);
    }
    fn schema(_: Option<&Bound>, _: &mut Schemas) -> Value {
        <T as Spelled>::schema()
    }
}

impl Spelled for HyphenatedUuid {
    fn schema() -> Value {
        // Any version.
        pattern("^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$")
    }
}

impl Spelled for Date {
    fn schema() -> Value {
        json!({ "type": "string", "format": "date" })
    }
}

impl Wire for Timestamp {
    fn read(value: &JsonValue<'_>, at: &mut Context) -> Result<Self, MessageError> {
        time(value, at, Self::parse_with_precision)
    }
    fn write(&self, out: &mut Output) {
        out.displayed(self);
    }
    fn schema(_: Option<&Bound>, _: &mut Schemas) -> Value {
        pattern(r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$")
    }
}

impl Wire for TimeOfDay {
    fn read(value: &JsonValue<'_>, at: &mut Context) -> Result<Self, MessageError> {
        time(value, at, Self::parse_with_precision)
    }
    fn write(&self, out: &mut Output) {
        out.displayed(self);
    }
    fn schema(_: Option<&Bound>, _: &mut Schemas) -> Value {
        pattern(r"^[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$")
    }
}

impl Wire for Currency {
    fn read(value: &JsonValue<'_>, at: &mut Context) -> Result<Self, MessageError> {
        parsed(value, at, Self::parse)
    }
    fn write(&self, out: &mut Output) {
        out.string(self.as_str());
    }
    fn check(&self, _bound: Option<&Bound>, at: &mut Context) {
        if !self.is_listed() {
            at.find(
                Rule::UnknownCurrency,
                "a currency of ISO 4217",
                excerpt(self.as_str()),
            );
        }
    }
    fn schema(_: Option<&Bound>, _: &mut Schemas) -> Value {
        pattern("^[A-Z]{3}$")
    }
}

impl Wire for Decimal {
    fn read(value: &JsonValue<'_>, at: &mut Context) -> Result<Self, MessageError> {
        let text = string(value, at)?;
        let amount = parse_decimal(text)
            .map_err(|_| at.bad_value("a plain decimal of at most 28 digits", text))?;
        if amount.to_string() != text {
            // A number keeps its spelling except for leading zeros.
            at.find(Rule::DefaultBound, "no leading zeros", excerpt(text));
        }
        Ok(amount)
    }
    fn write(&self, out: &mut Output) {
        out.displayed(self);
    }
    fn check(&self, _bound: Option<&Bound>, at: &mut Context) {
        let text = self.to_string();
        if self.scale() != 2 || self.is_sign_negative() || text.len() > 19 {
            at.find(
                Rule::DefaultBound,
                "up to 16 digits, a point and 2 digits",
                excerpt(&text),
            );
        }
    }
    fn schema(_: Option<&Bound>, _: &mut Schemas) -> Value {
        // The number of decimals depends on the currency: none for VND, at most four.
        pattern(r"^(0|[1-9][0-9]{0,15})(\.[0-9]{1,4})?$")
    }
}

/// The elements need no check, because their type has the bound.
impl<const MIN: usize, const MAX: usize> Wire for Vec<BoundedText<MIN, MAX>> {
    fn read(value: &JsonValue<'_>, at: &mut Context) -> Result<Self, MessageError> {
        let JsonValue::Array(elements) = value else {
            return Err(at.wrong_type("an array", value));
        };
        let mut all = Vec::with_capacity(elements.len());
        for (index, value) in elements.iter().enumerate() {
            let read = at.within_index(index, |at| BoundedText::read(value, at));
            all.extend(at.go_on(read)?);
        }
        if all.len() == elements.len() {
            Ok(all)
        } else {
            Err(at.last_refusal())
        }
    }
    fn write(&self, out: &mut Output) {
        out.array(self, BoundedText::write);
    }
    fn schema(bound: Option<&Bound>, schemas: &mut Schemas) -> Value {
        json!({ "type": "array", "items": BoundedText::<MIN, MAX>::schema(bound, schemas) })
    }
}
