//! Counters in memory.

mod shard;
mod table;

use crate::sync::Lock;
use crate::{CallType, Charge, CounterStore, Decision};
use bankrail_values::{StoreError, StoreErrorKind, StoreFuture, Timestamp};
use shard::Shard;
use table::hash_of;

/// Counters in this process, which are exact under threads, bounded, and need no background task.
///
/// - A key is a customer's text and a call type. Each key is in one of up to 64 shards. One short
///   lock covers all windows of a key, so that a decision is atomic over them.
/// - A key takes 64 bytes and a place in an index; a text of more than 18 bytes is stored
///   separately.
/// - A key is forgotten once it has expired ([`State::expires_at`](crate::State::expires_at)):
///   each call examines a few other keys, [`MemoryCounters::forget_expired`] all keys.
/// - The counters read no clock: [`Charge::now`] decides. Reading `SystemClock` takes about as
///   long as a decision; `CoarseClock` of `bankrail-values` (feature `coarse-clock`) takes a tenth
///   of that and is some milliseconds late.
///
/// ```
/// use bankrail_rate_limit::{CallType, Limits, MemoryCounters};
/// use bankrail_values::Timestamp;
/// let (limits, counters) = (Limits::default(), MemoryCounters::default());
/// let now: Timestamp = "2021-07-29T01:02:03.450Z".parse()?;
/// for _ in 0..25 {
///     let decision = counters.charge(&limits.charge("ACME", CallType::Statement, now, 1)?)?;
///     assert!(decision.is_allowed());
/// }
/// let refused = counters.charge(&limits.charge("ACME", CallType::Statement, now, 1)?)?;
/// assert!(!refused.is_allowed());
/// // 26 requests weigh 25 once 3600 ÷ 26 seconds of the next hour have passed, and one more must fit beside them.
/// assert_eq!(refused.retry_at().unwrap().to_string(), "2021-07-29T02:04:36.924Z");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct MemoryCounters {
    shards: Box<[Lock<Shard>]>,
    #[expect(
        clippy::disallowed_types,
        reason = "a customer must not choose its shard, and shards have no order"
    )]
    hasher: foldhash::fast::RandomState,
}

/// The maximum number of keys of [`MemoryCounters`], and the reaction to one more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Capacity {
    /// The maximum number of keys. They are spread over shards by a hash, so a shard can be full a
    /// little earlier.
    pub max_keys: usize,
    /// The reaction to a new key when its shard is full of unexpired keys.
    pub on_full: OnFull,
}

/// The reaction to a new key when there is no room for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnFull {
    /// The call fails with [`FullError`], so that a customer cannot escape a limit by filling the
    /// room with other keys.
    RefuseNew,
    /// The key that was charged longest ago, among the next 64, is removed. A customer whose key is
    /// removed starts with empty counters.
    EvictStalest,
}

impl Capacity {
    /// Makes a capacity of this many keys, with the reaction to a new key when there is no room.
    #[must_use]
    pub const fn new(max_keys: usize, on_full: OnFull) -> Self {
        Self { max_keys, on_full }
    }
}

impl Default for Capacity {
    /// Returns a million keys, with [`OnFull::RefuseNew`].
    fn default() -> Self {
        Self::new(1_000_000, OnFull::RefuseNew)
    }
}

impl MemoryCounters {
    /// Creates empty counters for at most this many keys.
    #[expect(clippy::disallowed_types, reason = "as the field")]
    #[must_use]
    pub fn new(capacity: Capacity) -> Self {
        // A shard has at least 64 keys, so that an uneven spread does not matter much.
        let shards = (capacity.max_keys / 64).clamp(1, 64);
        let shards = 1 << shards.ilog2();
        let shard = |_| Lock::new(Shard::new(capacity.max_keys / shards, capacity.on_full));
        Self {
            shards: (0..shards).map(shard).collect(),
            hasher: foldhash::fast::RandomState::default(),
        }
    }

    /// Decides on one request and charges it, like [`decide`](crate::decide).
    ///
    /// # Errors
    /// [`FullError`] when the key is new and there is no room for it. Nothing is charged.
    pub fn charge(&self, charge: &Charge<'_>) -> Result<Decision, FullError> {
        let hash = self.hash(charge.customer(), charge.call_type());
        // One lock covers all windows of the key, so that they are one decision.
        self.shard(hash).lock().charge(hash, charge, &self.hasher)
    }

    /// Resets the counters of a customer's calls of one type.
    pub fn reset(&self, customer: &str, call_type: CallType) {
        let hash = self.hash(customer, call_type);
        self.shard(hash)
            .lock()
            .remove(hash, customer, call_type, &self.hasher);
    }

    /// Forgets every key that has expired at `now`.
    pub fn forget_expired(&self, now: Timestamp) {
        for shard in &self.shards {
            shard.lock().forget_expired(now, &self.hasher);
        }
    }

    /// Returns the number of stored keys.
    #[must_use]
    pub fn len(&self) -> usize {
        // The locks are taken one after the other, so the sum is of no single instant and delays no
        // charge.
        self.shards.iter().map(|shard| shard.lock().len()).sum()
    }

    /// Returns true if no key is stored.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[inline]
    fn hash(&self, customer: &str, call_type: CallType) -> u64 {
        hash_of(&self.hasher, customer.as_bytes(), call_type)
    }

    #[inline]
    fn shard(&self, hash: u64) -> &Lock<Shard> {
        // The shard's index uses other bits than the shard's table, which uses the lowest and the
        // highest seven.
        let at = usize::try_from(hash >> 48 & 63).unwrap_or(0) & (self.shards.len() - 1);
        self.shards
            .get(at)
            .expect("masked to the number of shards, a power of two")
    }
}

impl Default for MemoryCounters {
    fn default() -> Self {
        Self::new(Capacity::default())
    }
}

impl CounterStore for MemoryCounters {
    fn charge<'a>(&'a self, charge: Charge<'a>) -> StoreFuture<'a, Decision> {
        Box::pin(std::future::ready(
            self.charge(&charge).map_err(StoreError::from),
        ))
    }
}

/// The error of a new key for which there is no room ([`OnFull::RefuseNew`]). Nothing was charged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no room for another key")]
#[non_exhaustive]
pub struct FullError;

impl From<FullError> for StoreError {
    fn from(full: FullError) -> Self {
        Self::new(StoreErrorKind::Full, full)
    }
}
