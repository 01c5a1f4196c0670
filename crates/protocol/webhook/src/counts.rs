//! Counts that are text in messages and are kept as written.

use crate::error::MessageError;
use crate::finding::Rule;
use crate::json::{Bound, Context, Output, Schemas, Wire};
use bankrail_values::excerpt;
use bankrail_values::json::JsonValue;
use serde_json::{Value, json};
use std::fmt;

macro_rules! count {
    ($(#[$doc:meta])* $name:ident, $expected:literal, $holds:expr, $schema:expr) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash)]
        pub struct $name(Box<str>);

        impl $name {
            /// Keeps any text; `validate` reports text outside the documented default.
            pub fn new(text: impl Into<Box<str>>) -> Self {
                Self(text.into())
            }

            /// The text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.into())
            }
        }

        bankrail_values::impl_display!($name);

        impl fmt::Debug for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, out)
            }
        }

        impl Wire for $name {
            fn read(value: &JsonValue<'_>, at: &mut Context) -> Result<Self, MessageError> {
                String::read(value, at).map(Self::new)
            }
            fn write(&self, out: &mut Output) {
                out.string(&self.0);
            }
            fn check(&self, _bound: Option<&Bound>, at: &mut Context) {
                let holds: fn(&str) -> bool = $holds;
                if !holds(&self.0) {
                    at.find(Rule::DefaultBound, $expected, excerpt(&self.0));
                }
            }
            fn schema(_: Option<&Bound>, _: &mut Schemas) -> Value {
                $schema
            }
        }
    };
}

count! {
    /// The number of payments in a period, as decimal text. Default: up to 19 characters.
    CountPerPeriod, "a decimal of at most 19 characters",
    |text| text.len() <= 19 && bankrail_values::parse_decimal(text).is_ok(),
    json!({ "type": "string", "minLength": 1, "maxLength": 19, "pattern": r"^-?[0-9]+(\.[0-9]+)?$" })
}

count! {
    /// The day or week within the period on which payments fall due. Default: 2 digits (`7` also
    /// occurs).
    PointInTime, "2 digits",
    |text| text.len() == 2 && text.bytes().all(|b| b.is_ascii_digit()),
    json!({ "type": "string", "minLength": 2, "maxLength": 2, "pattern": "^[0-9]*$" })
}
