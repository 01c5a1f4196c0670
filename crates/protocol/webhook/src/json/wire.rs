//! The types of values in messages: reading, writing and checking.

use super::schema::{pattern, text};
use super::{Bound, Context, Output, Schemas};
use crate::error::MessageError;
use crate::finding::Rule;
use bankrail_values::json::JsonValue;
use bankrail_values::{
    BoundedText, Currency, Date, Decimal, HyphenatedUuid, Timestamp, excerpt, parse_decimal,
};
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

/// Implements [`Wire`] by `FromStr` and `Display`, whose text has no character that JSON escapes.
macro_rules! text_wire {
    ($name:ty, $schema:expr) => {
        impl Wire for $name {
            fn read(value: &JsonValue<'_>, at: &mut Context) -> Result<Self, MessageError> {
                let text = string(value, at)?;
                Self::parse(text).map_err(|error| at.bad_value(error.expected, text))
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

text_wire!(HyphenatedUuid, pattern(UUID));
text_wire!(Date, json!({ "type": "string", "format": "date" }));
text_wire!(crate::MandateId, pattern(Self::PATTERN));
text_wire!(crate::ActionId, pattern(Self::PATTERN));
text_wire!(crate::Uetr, pattern(Self::PATTERN));

/// Implements [`Wire`] for a time with three fractional digits; fewer are a finding.
macro_rules! time_wire {
    ($name:ty, $pattern:literal) => {
        impl Wire for $name {
            fn read(value: &JsonValue<'_>, at: &mut Context) -> Result<Self, MessageError> {
                let text = string(value, at)?;
                let read = Self::parse_with_precision(text);
                let (time, digits) = read.map_err(|error| at.bad_value(error.expected, text))?;
                if digits != 3 {
                    at.find(
                        Rule::FractionDigits,
                        "3 fractional digits",
                        digits.to_string(),
                    );
                }
                Ok(time)
            }
            fn write(&self, out: &mut Output) {
                out.displayed(self);
            }
            fn schema(_: Option<&Bound>, _: &mut Schemas) -> Value {
                pattern($pattern)
            }
        }
    };
}

time_wire!(
    Timestamp,
    r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$"
);
time_wire!(crate::TimeOfDay, r"^[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$");

impl Wire for Currency {
    fn read(value: &JsonValue<'_>, at: &mut Context) -> Result<Self, MessageError> {
        let text = string(value, at)?;
        Self::parse(text).map_err(|error| at.bad_value(error.expected, text))
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
            at.find(
                Rule::DefaultBound,
                "up to 16 digits, a point and 2 digits",
                excerpt(&text),
            );
        }
    }
    fn schema(_: Option<&Bound>, _: &mut Schemas) -> Value {
        // The currency decides how many decimals follow: none for VND, at most four.
        pattern(r"^(0|[1-9][0-9]{0,15})(\.[0-9]{1,4})?$")
    }
}

/// Their elements have nothing to check.
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

/// Declares an object's members, in the order in which they are written: a kind, Rust name, type,
/// wire name and, after `=>`, a default bound. The kinds:
///
/// - `required`; `fixed` if there is only one value, the type's default, which `new` sets;
/// - `optional`; `expected` if it is required by default, so that `new` takes it and its absence is
///   a finding;
/// - `amended`: optional, with a mark for "cleared".
macro_rules! wire_object {
    (
        $(#[doc = $doc:literal])*
        $(#[derive($derive:ident)])?
        pub struct $name:ident {
            $(
                $(#[doc = $member_doc:literal])*
                $kind:ident $member:ident: $type:ty = $wire:literal $(=> $bound:ident)?,
            )*
        }
    ) => {
        $(#[doc = $doc])*
        #[derive(Clone, Debug, PartialEq, Eq $(, $derive)?)]
        #[non_exhaustive]
        pub struct $name {
            $( $(#[doc = $member_doc])* pub $member: $crate::json::wire_object!(@type $kind $type), )*
            /// Members that this version does not know, in their order.
            pub extra: $crate::json::ExtraMembers,
        }

        impl $name {
            $crate::json::wire_object!(@new [] [] $($kind $member $type;)*);
            $( $crate::json::wire_object!(@setter $kind $member: $type = $wire); )*
        }

        impl $crate::json::Wire for $name {
            fn read(
                value: &bankrail_values::json::JsonValue<'_>,
                at: &mut $crate::json::Context,
            ) -> Result<Self, $crate::error::MessageError> {
                let object = $crate::json::object(value, at)?;
                $(
                    let read = $crate::json::read::$kind(object, $wire, at);
                    let $member = at.go_on(read)?;
                )*
                let extra = $crate::json::ExtraMembers::keep(object, &[$($wire),*]);
                if !(true $(&& $member.is_some())*) {
                    // The members that were read are checked all the same, as there is no object to
                    // check.
                    $( if let Some(member) = &$member {
                        let bound = $crate::json::wire_object!(@bound $($bound)?);
                        $crate::json::check::$kind(member, $wire, bound, at);
                    } )*
                    extra.check(at);
                }
                Ok(Self { $( $member: $member.ok_or_else(|| at.last_refusal())?, )* extra })
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
    (@new [$($parameter:tt)*] [$($value:tt)*]) => {
        /// A value with the members that are required, and those that are required by default.
        #[must_use]
        pub fn new($($parameter)*) -> Self {
            Self { $($value)* extra: $crate::json::ExtraMembers::default() }
        }
    };
    (@new [$($parameter:tt)*] [$($value:tt)*] required $member:ident $type:ty; $($rest:tt)*) => {
        $crate::json::wire_object!(@new [$($parameter)* $member: $type,] [$($value)* $member,] $($rest)*);
    };
    (@new [$($parameter:tt)*] [$($value:tt)*] expected $member:ident $type:ty; $($rest:tt)*) => {
        $crate::json::wire_object!(
            @new [$($parameter)* $member: impl Into<$type>,] [$($value)* $member: Some($member.into()),] $($rest)*
        );
    };
    (@new [$($parameter:tt)*] [$($value:tt)*] $kind:ident $member:ident $type:ty; $($rest:tt)*) => {
        $crate::json::wire_object!(@new [$($parameter)*] [$($value)* $member: Default::default(),] $($rest)*);
    };
    (@required required) => { true };
    (@required fixed) => { true };
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
    (@type fixed $type:ty) => { $type };
    (@type amended $type:ty) => { $crate::Amended<$type> };
    (@type $kind:ident $type:ty) => { Option<$type> };
    (@setter required $member:ident: $type:ty = $wire:literal) => {};
    (@setter fixed $member:ident: $type:ty = $wire:literal) => {};
    (@setter amended $member:ident: $type:ty = $wire:literal) => {
        #[doc = concat!("Sets `", $wire, "` to a new value or [`Amended::Cleared`](crate::Amended::Cleared).")]
        #[must_use]
        pub fn $member(mut self, value: impl Into<$crate::Amended<$type>>) -> Self {
            self.$member = value.into();
            self
        }
    };
    (@setter $kind:ident $member:ident: $type:ty = $wire:literal) => {
        #[doc = concat!("Sets `", $wire, "`.")]
        #[must_use]
        pub fn $member(mut self, value: impl Into<$type>) -> Self {
            self.$member = Some(value.into());
            self
        }
    };
    (@bound) => { None };
    (@bound $bound:ident) => { Some(&$crate::json::Bound::$bound) };
}
pub(crate) use wire_object;
