//! Store traits whose engines live elsewhere: the receiver's inbox and the sender's outbox.

pub mod inbox;
pub mod outbox;

use bankrail_values::Timestamp;
use std::fmt;

/// The number that a store gives an entry. Never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntryId(u64);

impl EntryId {
    /// The entry of this number.
    #[must_use]
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// The number.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for EntryId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, out)
    }
}

/// Who holds a lease: sixteen random octets, one set for each run of a worker.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Owner([u8; 16]);

impl Owner {
    /// The owner of sixteen octets from a random generator.
    #[must_use]
    pub const fn from_random_bytes(random: [u8; 16]) -> Self {
        Self(random)
    }

    /// The octets.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

impl fmt::Debug for Owner {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(out, "{byte:02x}"))
    }
}

/// A lease: the entry is its owner's until then, and anybody's after that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "an owner and an end")]
pub struct Lease {
    /// Who holds it.
    pub owner: Owner,
    /// The first instant at which another may take it.
    pub until: Timestamp,
}
