//! The JSON of messages: members are declared once, and read, written and checked from that
//! declaration.

mod bound;
mod context;
mod extra;
mod output;
pub(crate) mod schema;
#[cfg(feature = "serde")]
pub(crate) mod serde;
mod slot;
mod wire;

pub(crate) use bankrail_derive::Wire;
pub(crate) use bound::Bound;
pub(crate) use context::Context;
pub use extra::ExtraMembers;
pub(crate) use output::{ObjectOut, Output};
pub(crate) use schema::Schemas;
pub(crate) use slot::{check, read, write};
pub(crate) use wire::{Spelled, Wire, string, unknown_code};

use crate::error::MessageError;
use bankrail_values::json::{JsonLimits, JsonObject, JsonValue};

/// The maximum number of values of a message, those in lists and objects included.
pub(crate) const MAX_VALUES: usize = 4096;

/// Limits above the levels and values of any message.
pub(crate) const LIMITS: JsonLimits = JsonLimits::new().max_depth(32).max_values(MAX_VALUES);

/// Returns the members of a value that must be an object.
pub(crate) fn object<'v, 'a>(
    value: &'v JsonValue<'a>,
    at: &Context,
) -> Result<&'v JsonObject<'a>, MessageError> {
    match value {
        JsonValue::Object(object) => Ok(object),
        other => Err(at.wrong_type("an object", other)),
    }
}
