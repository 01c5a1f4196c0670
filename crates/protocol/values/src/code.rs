//! Codes that are not in a list of known codes.

use std::fmt;

/// A code outside a list of codes, with its text unchanged.
///
/// Such a value is made only by reading. Each known code has its own variant, so this is never the
/// text of a known code.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnknownCode(Box<str>);

impl UnknownCode {
    /// Returns the value for a code. It is for crates that define lists of codes; the caller has
    /// checked that its list does not have the code.
    #[doc(hidden)]
    #[must_use]
    pub fn unlisted(code: &str) -> Self {
        Self(code.into())
    }

    /// Returns the code.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for UnknownCode {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

crate::impl_display!(UnknownCode);

impl fmt::Debug for UnknownCode {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), out)
    }
}
