//! Identifiers. A value exists only if it is well formed.

use bankrail_values::{HyphenatedUuid, SimpleUuid, excerpt};
use std::fmt;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident($inner:ident), version $version:literal, $expected:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name($inner);

        impl $name {
            /// Checks spelling, version and variant.
            ///
            /// # Errors
            /// [`IdError`] for anything else.
            pub fn parse(text: &str) -> Result<Self, IdError> {
                let wrong = || IdError { expected: $expected, found: excerpt(text) };
                let uuid = $inner::parse(text).map_err(|_| wrong())?;
                Self::from_uuid(uuid).ok_or_else(wrong)
            }

            /// The identifier of a UUID of the right version and variant.
            #[must_use]
            pub fn from_uuid(uuid: $inner) -> Option<Self> {
                (uuid.version() == $version && uuid.is_rfc_variant()).then_some(Self(uuid))
            }

            /// The UUID.
            #[must_use]
            pub fn to_uuid(self) -> $inner {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, out)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, out)
            }
        }

        impl std::str::FromStr for $name {
            type Err = IdError;
            fn from_str(text: &str) -> Result<Self, IdError> {
                Self::parse(text)
            }
        }

        impl TryFrom<&str> for $name {
            type Error = IdError;
            fn try_from(text: &str) -> Result<Self, IdError> {
                Self::parse(text)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
                out.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(from)?;
                Self::parse(&text).map_err(serde::de::Error::custom)
            }
        }
    };
}

id! {
    /// A mandate's identifier, assigned by the mandate system: a UUID of version 1 as 32 lower-case hexadecimal digits
    /// (Specification: "Common formats in webhook messages").
    ///
    /// ```
    /// use bankrail_webhook::MandateId;
    /// assert!(MandateId::parse("0b7c2f6e8a1d11eb8dcd0242ac130003").is_ok());
    /// assert!(MandateId::parse("0B7C2F6E8A1D11EB8DCD0242AC130003").is_err()); // upper case
    /// assert!(MandateId::parse("0b7c2f6e8a1d41eb8dcd0242ac130003").is_err()); // version 4
    /// ```
    MandateId(SimpleUuid), version 1, "a UUID of version 1 as 32 lower-case hexadecimal digits"
}

id! {
    /// An action's identifier: spelled like a [`MandateId`].
    ActionId(SimpleUuid), version 1, "a UUID of version 1 as 32 lower-case hexadecimal digits"
}

id! {
    /// A payment's unique end-to-end reference, echoed from the instruction: a UUID of version 4 with hyphens.
    /// Read in either case, written in lower case.
    Uetr(HyphenatedUuid), version 4, "a UUID of version 4 with hyphens"
}

/// A text that is not an identifier of the expected form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected}, found {found}")]
#[non_exhaustive]
pub struct IdError {
    /// What was expected.
    pub expected: &'static str,
    /// The text, cut and escaped.
    pub found: String,
}
