//! Using an assertion once.

use bankrail_values::{StoreFuture, Timestamp};
use std::fmt;

/// What counts as the same assertion presented again.
///
/// The specification's assertion has no `jti`, and RS256 is deterministic: two honest assertions that expire in the
/// same second are byte-identical. That is why [`ReplayPolicy::WholeAssertion`] is not the default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ReplayPolicy {
    /// An assertion without `jti` is refused; customer and `jti` together are accepted once.
    RequireJti,
    /// Customer and `jti` together are accepted once; an assertion without `jti` as often as it comes until it expires.
    #[default]
    JtiIfPresent,
    /// Each assertion is accepted once, `jti` or not. A customer must not ask for two tokens with assertions that
    /// expire in the same second and have no `jti`.
    WholeAssertion,
    /// Nothing is remembered.
    Off,
}

/// Remembers which assertions were used, until they expire.
pub trait ReplayStore: fmt::Debug + Send + Sync {
    /// Claims `key` until `expires`: true for the first caller, false for every other one while `expires` of the first
    /// has not passed. One atomic step, also among several processes.
    ///
    /// Claim before the token is issued. If the store fails, issue nothing: a timeout may have claimed the key. A customer
    /// that tries again after a failure signs anew, because what it sent before may be used up.
    fn claim(&self, key: [u8; 32], now: Timestamp, expires: Timestamp) -> StoreFuture<'_, bool>;
}
