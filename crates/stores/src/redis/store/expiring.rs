//! What the server drops by itself.

use super::RedisStore;
use bankrail_values::Timestamp;
use std::fmt;
use std::time::Duration;

/// How much longer than needed a record is kept, so that clocks which step, or differ from the server's, by less than
/// that set nothing free.
const GRACE: Duration = Duration::from_secs(3_600);

impl<C> RedisStore<C> {
    /// The key of a record that goes by a hash.
    pub(super) fn key(&self, kind: &str, hash: &[u8; 32]) -> String {
        format!("{}{kind}:{}", self.prefix, Hex(hash))
    }
}

/// For how many milliseconds from `now` on the server keeps what is of use until `expires`.
pub(super) fn kept_for(now: Timestamp, expires: Timestamp) -> i64 {
    let useful = expires.unix_millis().saturating_sub(now.unix_millis()).max(0);
    useful.saturating_add(i64::try_from(GRACE.as_millis()).unwrap_or(i64::MAX))
}

/// Lower-case hexadecimal digits.
pub(super) struct Hex<'a>(pub(super) &'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(out, "{byte:02x}"))
    }
}
