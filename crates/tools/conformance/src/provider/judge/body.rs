//! JSON bodies, read strictly: no member twice, nothing after the object.

use bankrail_values::json::{JsonLimits, JsonValue, read_object};

pub(super) use bankrail_values::json::JsonObject as Members;
use bankrail_values::{HyphenatedUuid, excerpt};

/// The length of a body is bounded where it is received.
const LIMITS: JsonLimits = JsonLimits::new().max_document_bytes(usize::MAX);

/// The members of a body.
///
/// # Errors
/// What is wrong with it.
pub(super) fn object(body: &[u8]) -> Result<Members<'_>, String> {
    read_object(body, &LIMITS)
        .map_err(|error| format!("expected a JSON object with each member once, found: {error}"))
}

/// A member that is text.
pub(super) fn text_member(body: &[u8], name: &str) -> Option<String> {
    object(body).ok()?.get(name)?.as_str().map(str::to_owned)
}

/// A member that must be there as text.
///
/// # Errors
/// What is there instead.
pub(super) fn text<'a>(members: &'a Members<'_>, name: &str) -> Result<&'a str, String> {
    match members.get(name) {
        Some(JsonValue::String(text)) => Ok(text),
        found => Err(kind(name, "a string", found)),
    }
}

/// `expected a string as NAME, found a number`.
pub(super) fn kind(name: &str, expected: &str, found: Option<&JsonValue<'_>>) -> String {
    format!(
        "expected {expected} as {name}, found {}",
        found.map_or("none", JsonValue::kind)
    )
}

/// A GUID with hyphens.
///
/// # Errors
/// What was found instead.
pub(super) fn guid(name: &str, found: &str) -> Result<HyphenatedUuid, String> {
    HyphenatedUuid::parse(found).map_err(|_| {
        format!(
            "expected a hyphenated GUID as {name}, found {}",
            excerpt(found)
        )
    })
}
