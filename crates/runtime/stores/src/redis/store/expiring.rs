//! Records that the server itself drops.

use super::RedisStore;
use bankrail_values::{EXPIRY_GRACE, Timestamp};
use std::fmt;

impl<C> RedisStore<C> {
    /// Returns the key of a record that is stored under a hash.
    pub(super) fn key(&self, kind: &str, hash: &[u8; 32]) -> String {
        format!("{}{kind}:{}", self.options.prefix, Hex(hash))
    }
}

/// The milliseconds from `now` for which the server keeps a record that is needed until `expires`.
pub(super) fn kept_for(now: Timestamp, expires: Timestamp) -> u64 {
    let kept = expires.saturating_since(now) + EXPIRY_GRACE;
    u64::try_from(kept.as_millis()).unwrap_or(u64::MAX)
}

/// The bytes as lower-case hexadecimal digits.
pub(super) struct Hex<'a>(pub(super) &'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(out, "{byte:02x}"))
    }
}
