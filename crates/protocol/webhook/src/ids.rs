//! Identifiers. A value exists only if it is well formed.

use bankrail_values::{HyphenatedUuid, SimpleUuid, ValueError};
use std::fmt;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident($inner:ident), version $version:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name($inner);

        impl $name {
            /// The form, as a regular expression.
            pub(crate) const PATTERN: &'static str = id!(@pattern $inner $version);

            /// Checks spelling, version and variant.
            ///
            /// # Errors
            /// [`ValueError`] for anything else.
            pub fn parse(text: &str) -> Result<Self, ValueError> {
                let id = $inner::parse(text).ok().and_then(Self::from_uuid);
                id.ok_or_else(|| ValueError::new(id!(@expected $inner $version), text))
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

        bankrail_values::impl_parsed_value!($name, ValueError, Debug);
    };
    (@expected SimpleUuid $version:literal) => {
        concat!("a UUID of version ", $version, " as 32 lower-case hexadecimal digits")
    };
    (@expected HyphenatedUuid $version:literal) => { concat!("a UUID of version ", $version, " with hyphens") };
    (@pattern SimpleUuid $version:literal) => { concat!("^[0-9a-f]{12}", $version, "[0-9a-f]{3}[89ab][0-9a-f]{15}$") };
    (@pattern HyphenatedUuid $version:literal) => {
        concat!("^[0-9a-f]{8}-[0-9a-f]{4}-", $version, "[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$")
    };
}

id! {
    /// A mandate's identifier, assigned by the mandate system: a UUID of version 1 as 32 lower-case
    /// hexadecimal digits (Specification: "Common formats in webhook messages").
    ///
    /// ```
    /// use bankrail_webhook::MandateId;
    /// assert!(MandateId::parse("0b7c2f6e8a1d11eb8dcd0242ac130003").is_ok());
    /// assert!(MandateId::parse("0B7C2F6E8A1D11EB8DCD0242AC130003").is_err()); // upper case
    /// assert!(MandateId::parse("0b7c2f6e8a1d41eb8dcd0242ac130003").is_err()); // version 4
    /// ```
    MandateId(SimpleUuid), version 1
}

id! {
    /// An action's identifier: spelled like a [`MandateId`].
    ActionId(SimpleUuid), version 1
}

id! {
    /// A payment's unique end-to-end reference, echoed from the instruction: a UUID of version 4
    /// with hyphens. Read in either case, written in lower case.
    Uetr(HyphenatedUuid), version 4
}
