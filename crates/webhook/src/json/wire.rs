//! The types of values in messages: reading, writing and checking.

use super::schema::{pattern, text};
use super::{Bound, Context, Output, Schemas};
use crate::error::MessageError;
use crate::finding::Rule;
use bankrail_values::json::JsonValue;
use bankrail_values::{BoundedText, Currency, Date, Decimal, HyphenatedUuid, Timestamp, excerpt, parse_decimal};
use serde_json::{Value, json};

/// A value of a message.
pub(crate) trait Wire: Sized {
    /// Reads the value. A value that breaks a rule of the specification is an error.
    fn read(value: &JsonValue<'_>, at: &mut Context) -> Result<Self, MessageError>;
    /// Writes the value.
    fn write(&self, out: &mut Output);
    /// Reports findings: what the value can hold but should not.
    fn check(&self, _bound: Option<&Bound>, _at: &mut Context) {}
    /// The JSON Schema of what is written. Objects are added to `schemas` and referred to.
    fn schema(bound: Option<&Bound>, schemas: &mut Schemas) -> Value;
}

fn string<'v>(value: &'v JsonValue<'_>, at: &Context) -> Result<&'v str, MessageError> {
    value.as_str().ok_or_else(|| at.wrong_type("a string", value))
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
        text.parse().map_err(|_| at.bad_value(format!("{MIN} to {MAX} characters"), text))
    }
    fn write(&self, out: &mut Output) {
        out.string(self.as_str());
    }
    fn schema(_: Option<&Bound>, _: &mut Schemas) -> Value {
        json!({ "type": "string", "minLength": MIN, "maxLength": MAX })
    }
}

/// Implements [`Wire`] by `FromStr` and `Display`, whose text has no character that JSON escapes.
macro_rules! text_wire {
    ($name:ty, $expected:expr, $schema:expr) => {
        impl Wire for $name {
            fn read(value: &JsonValue<'_>, at: &mut Context) -> Result<Self, MessageError> {
                let text = string(value, at)?;
                text.parse().map_err(|_| at.bad_value($expected, text))
            }
            fn write(&self, out: &mut Output) {
                out.displayed(self);
            }
            fn schema(_: Option<&Bound>, _: &mut Schemas) -> Value {
                $schema
            }
        }
    };
}

/// A UUID of any version with hyphens.
const UUID: &str = "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$";
/// A UUID of version 1 without hyphens.
const SIMPLE_UUID: &str = "^[0-9a-f]{12}1[0-9a-f]{3}[89ab][0-9a-f]{15}$";
/// A UUID of version 4 with hyphens.
const RANDOM_UUID: &str = "^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$";

text_wire!(HyphenatedUuid, "a UUID with hyphens", pattern(UUID));
text_wire!(Date, "a date as YYYY-MM-DD", json!({ "type": "string", "format": "date" }));
text_wire!(crate::MandateId, "a UUID of version 1 as 32 lower-case hexadecimal digits", pattern(SIMPLE_UUID));
text_wire!(crate::ActionId, "a UUID of version 1 as 32 lower-case hexadecimal digits", pattern(SIMPLE_UUID));
text_wire!(crate::Uetr, "a UUID of version 4 with hyphens", pattern(RANDOM_UUID));

impl Wire for Timestamp {
    fn read(value: &JsonValue<'_>, at: &mut Context) -> Result<Self, MessageError> {
        let text = string(value, at)?;
        match Self::parse_with_precision(text) {
            Ok((instant, 3)) => Ok(instant),
            Ok((instant, digits)) => {
                at.find(Rule::FractionDigits, "3 fractional digits", digits.to_string());
                Ok(instant)
            }
            Err(_) => Err(at.bad_value("a UTC timestamp as YYYY-MM-DDThh:mm:ss.sssZ", text)),
        }
    }
    fn write(&self, out: &mut Output) {
        out.displayed(self);
    }
    fn schema(_: Option<&Bound>, _: &mut Schemas) -> Value {
        pattern(r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$")
    }
}

impl Wire for crate::TimeOfDay {
    fn read(value: &JsonValue<'_>, at: &mut Context) -> Result<Self, MessageError> {
        let text = string(value, at)?;
        match Self::parse_with_precision(text) {
            Ok((time, 3)) => Ok(time),
            Ok((time, digits)) => {
                at.find(Rule::FractionDigits, "3 fractional digits", digits.to_string());
                Ok(time)
            }
            Err(_) => Err(at.bad_value("a UTC time of day as hh:mm:ss.sssZ", text)),
        }
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
        let text = string(value, at)?;
        Self::parse(text).map_err(|_| at.bad_value("a currency code of three upper-case letters", text))
    }
    fn write(&self, out: &mut Output) {
        out.string(self.as_str());
    }
    fn check(&self, _bound: Option<&Bound>, at: &mut Context) {
        if !self.is_listed() {
            at.find(Rule::UnknownCurrency, "a currency of ISO 4217", excerpt(self.as_str()));
        }
    }
    fn schema(_: Option<&Bound>, _: &mut Schemas) -> Value {
        pattern("^[A-Z]{3}$")
    }
}

impl Wire for Decimal {
    fn read(value: &JsonValue<'_>, at: &mut Context) -> Result<Self, MessageError> {
        let text = string(value, at)?;
        let amount = parse_decimal(text).map_err(|_| at.bad_value("a plain decimal of at most 28 digits", text))?;
        if amount.to_string() != text {
            // Leading zeros are the only spelling that is not kept.
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
            at.find(Rule::DefaultBound, "up to 16 digits, a point and 2 digits", excerpt(&text));
        }
    }
    fn schema(_: Option<&Bound>, _: &mut Schemas) -> Value {
        pattern(r"^(0|[1-9][0-9]{0,15})\.[0-9]{2}$")
    }
}

impl<T: Wire> Wire for Vec<T> {
    fn read(value: &JsonValue<'_>, at: &mut Context) -> Result<Self, MessageError> {
        let JsonValue::Array(elements) = value else { return Err(at.wrong_type("an array", value)) };
        elements.iter().enumerate().map(|(index, value)| at.within_index(index, |at| T::read(value, at))).collect()
    }
    fn write(&self, out: &mut Output) {
        out.array(self, T::write);
    }
    fn check(&self, bound: Option<&Bound>, at: &mut Context) {
        for (index, element) in self.iter().enumerate() {
            at.within_index(index, |at| element.check(bound, at));
        }
    }
    fn schema(bound: Option<&Bound>, schemas: &mut Schemas) -> Value {
        json!({ "type": "array", "items": T::schema(bound, schemas) })
    }
}

impl<T: Wire> Wire for Box<T> {
    fn read(value: &JsonValue<'_>, at: &mut Context) -> Result<Self, MessageError> {
        T::read(value, at).map(Box::new)
    }
    fn write(&self, out: &mut Output) {
        T::write(self, out);
    }
    fn check(&self, bound: Option<&Bound>, at: &mut Context) {
        T::check(self, bound, at);
    }
    fn schema(bound: Option<&Bound>, schemas: &mut Schemas) -> Value {
        T::schema(bound, schemas)
    }
}

/// Declares an object's members, in the order in which they are written: `required`, `optional` or `amended`, Rust
/// name, type, wire name and, after `=>`, a default bound.
macro_rules! wire_object {
    (
        $(#[doc = $doc:literal])*
        pub struct $name:ident {
            $(
                $(#[doc = $member_doc:literal])*
                $kind:ident $member:ident: $type:ty = $wire:literal $(=> $bound:ident)?,
            )*
        }
    ) => {
        $(#[doc = $doc])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct $name {
            $( $(#[doc = $member_doc])* pub $member: $crate::json::wire_object!(@type $kind $type), )*
            /// Members that this version does not know, in their order.
            pub extra: $crate::json::ExtraMembers,
        }

        impl $name {
            $( $crate::json::wire_object!(@setter $kind $member: $type = $wire); )*
        }

        impl $crate::json::Wire for $name {
            fn read(
                value: &bankrail_values::json::JsonValue<'_>,
                at: &mut $crate::json::Context,
            ) -> Result<Self, $crate::error::MessageError> {
                let object = $crate::json::object(value, at)?;
                Ok(Self {
                    $( $member: $crate::json::read::$kind(object, $wire, at)?, )*
                    extra: $crate::json::ExtraMembers::keep(object, &[$($wire),*]),
                })
            }

            fn write(&self, out: &mut $crate::json::Output) {
                out.object(|object| {
                    $( $crate::json::write::$kind(&self.$member, $wire, object); )*
                    self.extra.write(object);
                });
            }

            fn check(&self, _bound: Option<&$crate::json::Bound>, at: &mut $crate::json::Context) {
                $( $crate::json::check::$kind(
                    &self.$member,
                    $wire,
                    $crate::json::wire_object!(@bound $($bound)?),
                    at,
                ); )*
                self.extra.check(at);
            }

            fn schema(_: Option<&$crate::json::Bound>, schemas: &mut $crate::json::Schemas) -> serde_json::Value {
                schemas.object(stringify!($name), concat!($($doc),*), |schemas| vec![$(
                    $crate::json::schema::Member {
                        name: $wire,
                        required: $crate::json::wire_object!(@required $kind),
                        description: concat!($($member_doc),*),
                        schema: $crate::json::wire_object!(
                            @schema $kind $type,
                            $crate::json::wire_object!(@bound $($bound)?),
                            schemas
                        ),
                    },
                )*])
            }
        }
    };
    (@required required) => { true };
    (@required $kind:ident) => { false };
    (@schema amended $type:ty, $bound:expr, $schemas:expr) => {
        $crate::json::schema::amended(
            <$type as $crate::json::Wire>::schema($bound, $schemas),
            <$type as $crate::amended::Clearable>::MARKS,
        )
    };
    (@schema $kind:ident $type:ty, $bound:expr, $schemas:expr) => {
        <$type as $crate::json::Wire>::schema($bound, $schemas)
    };
    (@type required $type:ty) => { $type };
    (@type optional $type:ty) => { Option<$type> };
    (@type amended $type:ty) => { $crate::Amended<$type> };
    (@setter required $member:ident: $type:ty = $wire:literal) => {};
    (@setter optional $member:ident: $type:ty = $wire:literal) => {
        #[doc = concat!("Sets `", $wire, "`.")]
        #[must_use]
        pub fn $member(mut self, value: impl Into<$type>) -> Self {
            self.$member = Some(value.into());
            self
        }
    };
    (@setter amended $member:ident: $type:ty = $wire:literal) => {
        #[doc = concat!("Sets `", $wire, "` to a new value or [`Amended::Cleared`](crate::Amended::Cleared).")]
        #[must_use]
        pub fn $member(mut self, value: impl Into<$crate::Amended<$type>>) -> Self {
            self.$member = value.into();
            self
        }
    };
    (@bound) => { None };
    (@bound $bound:ident) => { Some(&$crate::json::Bound::$bound) };
}
pub(crate) use wire_object;
