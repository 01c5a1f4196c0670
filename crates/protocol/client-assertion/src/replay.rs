//! Detection of assertions that are used more than once.

use bankrail_values::{StoreFuture, Timestamp};
use std::fmt;

/// The rule for which assertions are accepted only once.
///
/// [`ReplayPolicy::WholeAssertion`] is not the default because the specification's assertion has no
/// `jti` and RS256 is deterministic: two assertions of an honest customer that expire in the same
/// second are byte-identical.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ReplayPolicy {
    /// Each pair of customer and `jti` is accepted once. An assertion without `jti` is refused.
    RequireJti,
    /// Each pair of customer and `jti` is accepted once. An assertion without `jti` is accepted
    /// until it expires.
    #[default]
    JtiIfPresent,
    /// Each assertion is accepted once, with or without `jti`. A customer must not request two
    /// tokens with assertions that expire in the same second and have no `jti`.
    WholeAssertion,
    /// Every assertion is accepted until it expires. Nothing is stored.
    Off,
}

/// The record of a used assertion in a [`ReplayStore`]: its key and its expiry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct ReplayKey {
    /// The key, which identifies the used assertion.
    pub key: [u8; 32],
    /// The time from which the store may forget the key, because the assertion has expired by then.
    pub expires_at: Timestamp,
}

impl ReplayKey {
    /// Returns a record of a key that is claimed until `expires_at`.
    #[must_use]
    pub fn new(key: [u8; 32], expires_at: Timestamp) -> Self {
        Self { key, expires_at }
    }

    /// Returns true if the key, once claimed, may be claimed again at `now`: which is the case only
    /// after `expires_at`, not at that instant. Every engine of [`ReplayStore`] decides like this
    /// function.
    #[must_use]
    pub fn is_free_at(&self, now: Timestamp) -> bool {
        self.expires_at < now
    }
}

/// The number of claims that a [`ReplayStore`] keeps even if they have expired by its callers'
/// clocks.
pub const KEPT_CLAIMS: usize = 1024;

/// A store of the assertions that were used, until they expire ([`ReplayKey::is_free_at`]).
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not store used assertions",
    label = "not a `ReplayStore`",
    note = "pass an `Arc` of a `SqliteStore`, `MemoryStore` or `RedisStore` of `bankrail_stores`",
    note = "`bankrail-stores` implements it with the feature `client-assertion`, which `bankrail` switches on by itself"
)]
pub trait ReplayStore: fmt::Debug + Send + Sync {
    /// Claims a key. Returns true for the first caller, and false for every later one until the
    /// first one's `expires_at` has passed. The step is atomic, also among several processes.
    ///
    /// - An engine keeps the claim for [`EXPIRY_GRACE`](bankrail_values::EXPIRY_GRACE) beyond
    ///   `expires_at`, so that a caller whose `now` lags behind another's by less than that cannot
    ///   claim it again.
    /// - An engine that drops claims by its callers' clocks keeps the last [`KEPT_CLAIMS`] longer,
    ///   so that a clock that was ahead does not free an assertion that is valid again afterwards.
    /// - Claim before the token is issued.
    /// - If the store fails, issue no token: after a timeout the key may be claimed.
    /// - A customer that retries after a failure must sign a new assertion, because the earlier one
    ///   may be used up.
    fn claim(&self, key: ReplayKey, now: Timestamp) -> StoreFuture<'_, bool>;
}
