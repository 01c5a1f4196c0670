//! JSON in and out: a message's members are stated once, and read, written and checked by that statement.

mod bound;
mod context;
mod extra;
mod output;
mod slot;
mod wire;

pub(crate) use bound::Bound;
pub(crate) use context::Context;
pub use extra::ExtraMembers;
pub(crate) use output::{ObjectOut, Output};
pub(crate) use slot::{check, read, write};
pub(crate) use wire::{Wire, wire_object};

use crate::error::MessageError;
use bankrail_values::json::{JsonLimits, JsonObject, JsonValue};

/// Deeper and larger than any message.
pub(crate) const LIMITS: JsonLimits = JsonLimits::new().max_depth(32).max_values(4096);

/// The members of a value that must be an object.
pub(crate) fn object<'v, 'a>(value: &'v JsonValue<'a>, at: &Context) -> Result<&'v JsonObject<'a>, MessageError> {
    match value {
        JsonValue::Object(object) => Ok(object),
        other => Err(at.wrong_type("an object", other)),
    }
}
