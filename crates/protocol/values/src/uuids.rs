//! The two spellings of a UUID as two types.

use crate::ValueError;
use std::fmt;
use uuid::Uuid;

macro_rules! spelling {
    ($(#[$doc:meta])* $name:ident, $length:literal, $inner:ident, $expected:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Uuid);

        impl $name {
            /// Reads this spelling.
            ///
            /// # Errors
            /// [`ValueError`] for any other spelling.
            pub fn parse(text: &str) -> Result<Self, ValueError> {
                let wrong = || ValueError::new($expected, text);
                if text.len() != $length || !allowed(text) {
                    return Err(wrong());
                }
                Uuid::try_parse(text).map(Self).map_err(|_| wrong())
            }

            /// A random (version 4) UUID made from 16 random bytes.
            #[must_use]
            pub fn from_random_bytes(random: [u8; 16]) -> Self {
                Self(uuid::Builder::from_random_bytes(random).into_uuid())
            }

            /// The version: 1 for time-based, 4 for random. Zero and those above 8 are not defined
            /// by RFC 9562.
            #[must_use]
            pub fn version(&self) -> usize {
                self.0.get_version_num()
            }

            /// True if the variant bits are those of RFC 9562 (the digit after the third hyphen is
            /// 8, 9, a or b).
            #[must_use]
            pub fn is_rfc_variant(&self) -> bool {
                self.0.get_variant() == uuid::Variant::RFC4122
            }

            /// The UUID as a `uuid::Uuid`.
            #[must_use]
            pub fn to_uuid(self) -> Uuid {
                self.0
            }
        }

        impl From<Uuid> for $name {
            fn from(uuid: Uuid) -> Self {
                Self(uuid)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::LowerHex::fmt(&self.0.$inner(), out)
            }
        }

        crate::impl_parsed_value!($name, ValueError, Debug);
    };
}

spelling! {
    /// A UUID with hyphens, `8-4-4-4-12`: request keys, request ids, message ids, tokens.
    ///
    /// It is read in either case and written in lower case. Any version is accepted.
    HyphenatedUuid, 36, hyphenated, "a UUID with hyphens"
}

spelling! {
    /// A UUID as 32 hexadecimal digits without hyphens: mandate and action identifiers, message ids
    /// of reports.
    ///
    /// Upper case is refused. Any version is accepted.
    SimpleUuid, 32, simple, "a UUID of 32 lower-case hexadecimal digits"
}

impl HyphenatedUuid {
    /// A random (version 4) UUID.
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

    /// The same UUID without hyphens.
    #[must_use]
    pub fn to_simple(self) -> SimpleUuid {
        SimpleUuid(self.0)
    }
}

impl SimpleUuid {
    /// The same UUID with hyphens.
    #[must_use]
    pub fn to_hyphenated(self) -> HyphenatedUuid {
        HyphenatedUuid(self.0)
    }
}

// They have the compiler propose `into` where the other spelling is expected.
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

/// Refuses upper case in the simple spelling, which is recognised by its length.
fn allowed(text: &str) -> bool {
    text.len() != 32 || !text.bytes().any(|b| b.is_ascii_uppercase())
}
