//! Codes that a closed list does not have.

use std::fmt;

/// A code that the schema's list does not have, kept as read. Made by `from_code` of the list, which returns a variant
/// of its own for each code that the list has.
///
/// ```
/// bankrail_iso20022::codes! {
///     /// Whether an amount is a credit or a debit.
///     Direction = "CreditDebitCode" { Credit = "CRDT", Debit = "DBIT" }
/// }
/// assert_eq!(Direction::from_code("CRDT"), Direction::Credit);
/// let Direction::Other(code) = Direction::from_code("BOTH") else { panic!("the list has no BOTH") };
/// assert_eq!(code.as_str(), "BOTH");
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnknownCode(Box<str>);

/// Makes an unknown code; the caller has checked that its list does not have it.
pub fn unknown_code(code: &str) -> UnknownCode {
    UnknownCode(code.into())
}

impl UnknownCode {
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
