//! The version of a message's schema.

use std::fmt;

/// The version of a message's schema: the last two digits of its namespace, such as `06`. The
/// default is 06, the version that this workspace writes statements in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(transparent))]
pub struct Version(u8);

impl Version {
    /// Makes a version from its number.
    ///
    /// ```
    /// assert_eq!(bankrail_iso20022::Version::new(8).to_string(), "08");
    /// ```
    #[must_use]
    pub const fn new(number: u8) -> Self {
        Self(number)
    }

    /// Returns the number.
    #[must_use]
    pub const fn number(self) -> u8 {
        self.0
    }

    /// Returns true for the default version, which JSON leaves out.
    #[doc(hidden)]
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl Default for Version {
    fn default() -> Self {
        Self(6)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:02}", self.0)
    }
}
