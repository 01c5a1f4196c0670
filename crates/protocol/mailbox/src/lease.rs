//! Entry numbers and leases.

use bankrail_values::Timestamp;
use std::fmt;

mod owners;

pub use owners::LeaseOwners;

/// The number of an entry, which its store never assigns to another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntryId(u64);

impl EntryId {
    /// Makes the id of the entry with this number.
    #[must_use]
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// Returns the number.
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
    /// Makes an owner from 16 bytes of a random generator.
    #[must_use]
    pub const fn from_random_bytes(random: [u8; 16]) -> Self {
        Self(random)
    }

    /// Returns the bytes.
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

/// A lease of an entry: until its end the entry belongs to its owner, from then on another owner
/// may take the entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "an owner and an end")]
pub struct Lease {
    /// The owner.
    pub owner: LeaseOwner,
    /// The first instant at which another owner may take the entry.
    pub until: Timestamp,
}

impl Lease {
    /// Returns true from [`Lease::until`] on.
    #[must_use]
    pub fn is_over(&self, now: Timestamp) -> bool {
        self.until <= now
    }
}
