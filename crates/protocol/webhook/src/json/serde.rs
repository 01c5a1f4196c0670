//! serde's traits for messages, implemented with the writer and the strict reader.
//!
//! They pass the JSON text itself, as `serde_json`'s `RawValue`, because unknown members keep their
//! spelling.

use super::{Context, LIMITS, Output, Wire};
use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

/// The default of `MessageReadOptions::max_message_bytes`.
const MAX_BYTES: usize = 1024 * 1024;

pub(crate) fn serialize<S: Serializer>(value: &impl Wire, out: S) -> Result<S::Ok, S::Error> {
    let mut json = Output::plain();
    value.write(&mut json);
    let json = RawValue::from_string(json.finish()).map_err(S::Error::custom)?;
    json.serialize(out)
}

pub(crate) fn deserialize<'de, T: Wire, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    let json = Box::<RawValue>::deserialize(from)?;
    let limits = LIMITS.max_document_bytes(MAX_BYTES);
    let value = bankrail_values::json::read(json.get().as_bytes(), &limits);
    let value = value.map_err(D::Error::custom)?;
    T::read(&value, &mut Context::default()).map_err(D::Error::custom)
}
