//! Codes that a closed list does not have.

use std::fmt;

/// A code that the schema's list does not have, kept as read. One that it has is a variant of its own, so each code has
/// one value; `from_code` of the list makes either.
///
/// ```
/// use bankrail_camt052::EntryStatus;
/// assert_eq!(EntryStatus::from_code("BOOK"), EntryStatus::Booked);
/// let EntryStatus::Other(code) = EntryStatus::from_code("FUTR") else { panic!("the list has no FUTR") };
/// assert_eq!(code.as_str(), "FUTR");
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnknownCode(Box<str>);

impl UnknownCode {
    /// For a list that has looked for the code.
    pub(crate) fn new(code: &str) -> Self {
        Self(code.into())
    }

    /// The code.
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

impl fmt::Display for UnknownCode {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

impl fmt::Debug for UnknownCode {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), out)
    }
}
