//! Entry numbers and leases.

use bankrail_values::Timestamp;
use std::fmt;

mod owners;

pub use owners::LeaseOwners;

/// The number that a store assigns to an entry, and never to another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntryId(u64);

impl EntryId {
    /// The entry with this number.
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

/// The owner of a lease: 16 bytes, different for each lease. A worker uses a new owner for each
/// lease, so that a late call for an earlier lease cannot change a later one.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct LeaseOwner([u8; 16]);

impl LeaseOwner {
    /// An owner of 16 bytes from a random generator.
    #[must_use]
    pub const fn from_random_bytes(random: [u8; 16]) -> Self {
        Self(random)
    }

    /// The bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

impl fmt::Debug for LeaseOwner {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(out, "{byte:02x}"))
    }
}

/// A lease: until its end the entry belongs to its owner, from then on another owner may take it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "an owner and an end")]
pub struct Lease {
    /// The owner.
    pub owner: LeaseOwner,
    /// The first instant at which another may take the entry.
    pub until: Timestamp,
}

impl Lease {
    /// True from [`Lease::until`] on.
    #[must_use]
    pub fn is_over(&self, now: Timestamp) -> bool {
        self.until <= now
    }
}
