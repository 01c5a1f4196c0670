//! The two spellings of a UUID as two types.

use crate::ValueError;
use std::fmt;
use uuid::Uuid;

/// A UUID with hyphens, `8-4-4-4-12`: request keys, request ids, message ids, tokens.
///
/// The UUID is read in either case and written in lower case. Any version is accepted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HyphenatedUuid(Uuid);

impl HyphenatedUuid {
    /// Reads this spelling.
    ///
    /// # Errors
    /// [`ValueError`] for any other spelling.
    pub fn parse(text: &str) -> Result<Self, ValueError> {
        let is_spelled_so = text.len() == 36;
        match Uuid::try_parse(text) {
            Ok(uuid) if is_spelled_so => Ok(Self(uuid)),
            _ => Err(ValueError::new("a UUID with hyphens", text)),
        }
    }

    /// Makes a random (version 4) UUID from 16 random bytes.
    #[must_use]
    pub fn from_random_bytes(random: [u8; 16]) -> Self {
        Self(uuid::Builder::from_random_bytes(random).into_uuid())
    }

    /// Returns the version: 1 for time-based, 4 for random. RFC 9562 does not define 0 and versions
    /// above 8.
    #[must_use]
    pub fn version(&self) -> usize {
        self.0.get_version_num()
    }

    /// Returns true if the variant bits are those of RFC 9562 (the digit after the third hyphen is
    /// 8, 9, a or b).
    #[must_use]
    #[doc(hidden)]
    pub fn is_rfc_variant(&self) -> bool {
        self.0.get_variant() == uuid::Variant::RFC4122
    }

    /// Returns the UUID as a `uuid::Uuid`.
    #[must_use]
    pub fn to_uuid(self) -> Uuid {
        self.0
    }

    /// Makes a random (version 4) UUID.
    ///
    /// # Panics
    /// If the operating system's random generator fails.
    #[cfg(feature = "random")]
    #[must_use]
    pub fn random() -> Self {
        Self::from_random_bytes(
            crate::random_bytes().expect("the operating system's random generator works"),
        )
    }

    /// Returns the same UUID without hyphens.
    #[must_use]
    pub fn to_simple(self) -> SimpleUuid {
        SimpleUuid(self.0)
    }
}

impl From<Uuid> for HyphenatedUuid {
    fn from(uuid: Uuid) -> Self {
        Self(uuid)
    }
}

impl fmt::Display for HyphenatedUuid {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::LowerHex::fmt(&self.0.hyphenated(), out)
    }
}

crate::impl_parsed_value!(HyphenatedUuid, ValueError, Debug);

/// A UUID as 32 hexadecimal digits without hyphens: mandate and action identifiers, message ids of
/// reports.
///
/// Upper case is refused. Any version is accepted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SimpleUuid(Uuid);

impl SimpleUuid {
    /// Reads this spelling.
    ///
    /// # Errors
    /// [`ValueError`] for any other spelling.
    pub fn parse(text: &str) -> Result<Self, ValueError> {
        let is_spelled_so = text.len() == 32 && !text.bytes().any(|b| b.is_ascii_uppercase());
        match Uuid::try_parse(text) {
            Ok(uuid) if is_spelled_so => Ok(Self(uuid)),
            _ => Err(ValueError::new(
                "a UUID of 32 lower-case hexadecimal digits",
                text,
            )),
        }
    }

    /// Makes a random (version 4) UUID from 16 random bytes.
    #[must_use]
    pub fn from_random_bytes(random: [u8; 16]) -> Self {
        Self(uuid::Builder::from_random_bytes(random).into_uuid())
    }

    /// Returns the version: 1 for time-based, 4 for random. RFC 9562 does not define 0 and versions
    /// above 8.
    #[must_use]
    pub fn version(&self) -> usize {
        self.0.get_version_num()
    }

    /// Returns true if the variant bits are those of RFC 9562 (the digit after the third hyphen is
    /// 8, 9, a or b).
    #[must_use]
    #[doc(hidden)]
    pub fn is_rfc_variant(&self) -> bool {
        self.0.get_variant() == uuid::Variant::RFC4122
    }

    /// Returns the UUID as a `uuid::Uuid`.
    #[must_use]
    pub fn to_uuid(self) -> Uuid {
        self.0
    }

    /// Returns the same UUID with hyphens.
    #[must_use]
    pub fn to_hyphenated(self) -> HyphenatedUuid {
        HyphenatedUuid(self.0)
    }
}

impl From<Uuid> for SimpleUuid {
    fn from(uuid: Uuid) -> Self {
        Self(uuid)
    }
}

impl fmt::Display for SimpleUuid {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::LowerHex::fmt(&self.0.simple(), out)
    }
}

crate::impl_parsed_value!(SimpleUuid, ValueError, Debug);

// These conversions make the compiler suggest `into` where the other spelling is expected.
impl From<HyphenatedUuid> for SimpleUuid {
    fn from(uuid: HyphenatedUuid) -> Self {
        uuid.to_simple()
    }
}

impl From<SimpleUuid> for HyphenatedUuid {
    fn from(uuid: SimpleUuid) -> Self {
        uuid.to_hyphenated()
    }
}
