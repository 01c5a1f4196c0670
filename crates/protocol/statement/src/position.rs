//! The position in the ledger that a server's cursor stands for.

/// The position at which a page ended: 1 to 1024 bytes from which the ledger finds the entry after
/// the page's last one.
///
/// A position should name an entry, by its key in the ledger, and not count entries. Then no entry
/// is skipped or repeated if entries are posted between two calls.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PagePosition(Box<[u8]>);

impl PagePosition {
    /// The maximum number of bytes of a position.
    pub const MAX_LENGTH: usize = 1024;

    /// Makes a position from these bytes; `None` if there are none or more than
    /// [`PagePosition::MAX_LENGTH`].
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        (1..=Self::MAX_LENGTH)
            .contains(&bytes.len())
            .then(|| Self(bytes.into()))
    }

    /// Makes a position from a number, such as an entry's row number in the ledger.
    #[must_use]
    pub fn from_number(number: u64) -> Self {
        Self(number.to_be_bytes().into())
    }

    /// Returns the bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the number of a position made by [`PagePosition::from_number`]; `None` unless it has
    /// eight bytes.
    #[must_use]
    pub fn as_number(&self) -> Option<u64> {
        Some(u64::from_be_bytes((*self.0).try_into().ok()?))
    }
}
