//! Identifiers. A value exists only if it is well formed.

use crate::json::Spelled;
use crate::json::schema::pattern;
use bankrail_values::{HyphenatedUuid, SimpleUuid, ValueError};
use serde_json::Value;
use std::fmt;

/// The form of the mandate system's identifiers.
const VERSION_1: &str = "a UUID of version 1 as 32 lower-case hexadecimal digits";
/// That form as a regular expression.
const VERSION_1_PATTERN: &str = "^[0-9a-f]{12}1[0-9a-f]{3}[89ab][0-9a-f]{15}$";

fn is_version_1(uuid: SimpleUuid) -> bool {
    uuid.version() == 1 && uuid.is_rfc_variant()
}

/// A mandate's identifier, assigned by the mandate system: a UUID of version 1 as 32 lower-case
/// hexadecimal digits (Specification: "Common formats in webhook messages").
///
/// ```
/// use bankrail_webhook::MandateId;
/// assert!(MandateId::parse("0b7c2f6e8a1d11eb8dcd0242ac130003").is_ok());
/// assert!(MandateId::parse("0B7C2F6E8A1D11EB8DCD0242AC130003").is_err()); // upper case
/// assert!(MandateId::parse("0b7c2f6e8a1d41eb8dcd0242ac130003").is_err()); // version 4
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MandateId(SimpleUuid);

impl MandateId {
    /// Checks spelling, version and variant.
    ///
    /// # Errors
    /// [`ValueError`] for any other text.
    pub fn parse(text: &str) -> Result<Self, ValueError> {
        let id = SimpleUuid::parse(text).ok().and_then(Self::from_uuid);
        id.ok_or_else(|| ValueError::new(VERSION_1, text))
    }

    /// Returns the identifier of a UUID of version 1 and the variant of RFC 9562.
    #[must_use]
    pub fn from_uuid(uuid: SimpleUuid) -> Option<Self> {
        is_version_1(uuid).then_some(Self(uuid))
    }

    /// Returns the UUID.
    #[must_use]
    pub fn to_uuid(self) -> SimpleUuid {
        self.0
    }
}

impl fmt::Display for MandateId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, out)
    }
}

bankrail_values::impl_parsed_value!(MandateId, ValueError, Debug);

impl Spelled for MandateId {
    fn schema() -> Value {
        pattern(VERSION_1_PATTERN)
    }
}

/// An action's identifier: spelled like a [`MandateId`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ActionId(SimpleUuid);

impl ActionId {
    /// Checks spelling, version and variant.
    ///
    /// # Errors
    /// [`ValueError`] for any other text.
    pub fn parse(text: &str) -> Result<Self, ValueError> {
        let id = SimpleUuid::parse(text).ok().and_then(Self::from_uuid);
        id.ok_or_else(|| ValueError::new(VERSION_1, text))
    }

    /// Returns the identifier of a UUID of version 1 and the variant of RFC 9562.
    #[must_use]
    pub fn from_uuid(uuid: SimpleUuid) -> Option<Self> {
        is_version_1(uuid).then_some(Self(uuid))
    }

    /// Returns the UUID.
    #[must_use]
    pub fn to_uuid(self) -> SimpleUuid {
        self.0
    }
}

impl fmt::Display for ActionId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, out)
    }
}

bankrail_values::impl_parsed_value!(ActionId, ValueError, Debug);

impl Spelled for ActionId {
    fn schema() -> Value {
        pattern(VERSION_1_PATTERN)
    }
}

/// A payment's unique end-to-end reference, echoed from the instruction: a UUID of version 4 with
/// hyphens. It is read in either case and written in lower case.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uetr(HyphenatedUuid);

impl Uetr {
    /// Checks spelling, version and variant.
    ///
    /// # Errors
    /// [`ValueError`] for any other text.
    pub fn parse(text: &str) -> Result<Self, ValueError> {
        let id = HyphenatedUuid::parse(text).ok().and_then(Self::from_uuid);
        id.ok_or_else(|| ValueError::new("a UUID of version 4 with hyphens", text))
    }

    /// Returns the identifier of a UUID of version 4 and the variant of RFC 9562.
    #[must_use]
    pub fn from_uuid(uuid: HyphenatedUuid) -> Option<Self> {
        (uuid.version() == 4 && uuid.is_rfc_variant()).then_some(Self(uuid))
    }

    /// Returns the UUID.
    #[must_use]
    pub fn to_uuid(self) -> HyphenatedUuid {
        self.0
    }
}

impl fmt::Display for Uetr {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, out)
    }
}

bankrail_values::impl_parsed_value!(Uetr, ValueError, Debug);

impl Spelled for Uetr {
    fn schema() -> Value {
        pattern("^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$")
    }
}
