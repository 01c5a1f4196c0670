//! serde's traits for JSON bodies, implemented with their own writers and readers.
//!
//! The text of the JSON passes as `serde_json`'s `RawValue`, so that the reader sees repeated
//! members and refuses them.

use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use std::fmt::Display;
use zeroize::Zeroizing;

pub(super) fn serialize<S: Serializer>(json: String, out: S) -> Result<S::Ok, S::Error> {
    let raw = RawValue::from_string(json).map_err(S::Error::custom)?;
    let written = raw.serialize(out);
    // Overwrites the text when it is dropped, because it may contain a token.
    drop(Zeroizing::new(String::from(Box::<str>::from(raw))));
    written
}

pub(super) fn deserialize<'de, T, E: Display, D: Deserializer<'de>>(
    from: D,
    read: impl FnOnce(&[u8]) -> Result<T, E>,
) -> Result<T, D::Error> {
    let raw = Box::<RawValue>::deserialize(from)?;
    let text = Zeroizing::new(String::from(Box::<str>::from(raw)));
    read(text.as_bytes()).map_err(D::Error::custom)
}
