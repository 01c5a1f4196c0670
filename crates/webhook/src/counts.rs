//! Counts that are text in messages and are kept as written.

use crate::error::MessageError;
use crate::finding::Rule;
use crate::json::{Bound, Context, Output, Schemas, Wire, schema};
use bankrail_values::excerpt;
use bankrail_values::json::JsonValue;
use serde_json::{Value, json};
use std::fmt;

macro_rules! count {
    ($(#[$doc:meta])* $name:ident) => {
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

        impl fmt::Display for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, out)
            }
        }
    };
}

count! {
    /// The number of payments in a period, as decimal text. Default: up to 19 characters.
    CountPerPeriod
}

count! {
    /// The day or week within the period on which payments fall due. Default: 2 digits (`7` also occurs).
    PointInTime
}

impl Wire for CountPerPeriod {
    fn read(value: &JsonValue<'_>, at: &mut Context) -> Result<Self, MessageError> {
        String::read(value, at).map(Self::new)
    }
    fn write(&self, out: &mut Output) {
        out.string(&self.0);
    }
    fn check(&self, _bound: Option<&Bound>, at: &mut Context) {
        if self.0.len() > 19 || bankrail_values::parse_decimal(&self.0).is_err() {
            at.find(Rule::DefaultBound, "a decimal of at most 19 characters", excerpt(&self.0));
        }
    }
    fn schema(_: Option<&Bound>, _: &mut Schemas) -> Value {
        json!({ "type": "string", "minLength": 1, "maxLength": 19, "pattern": r"^-?[0-9]+(\.[0-9]+)?$" })
    }
}

impl Wire for PointInTime {
    fn read(value: &JsonValue<'_>, at: &mut Context) -> Result<Self, MessageError> {
        String::read(value, at).map(Self::new)
    }
    fn write(&self, out: &mut Output) {
        out.string(&self.0);
    }
    fn check(&self, _bound: Option<&Bound>, at: &mut Context) {
        Bound::POINT_IN_TIME.check(&self.0, at);
    }
    fn schema(_: Option<&Bound>, _: &mut Schemas) -> Value {
        schema::text(Some(&Bound::POINT_IN_TIME))
    }
}
