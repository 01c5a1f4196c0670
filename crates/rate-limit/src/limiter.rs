//! Many keys in memory.

mod shard;
mod table;

use crate::sync::Lock;
use crate::{CallType, Charge, CostError, CounterStore, Decision, Limits, Policy};
use bankrail_values::{StoreError, StoreErrorKind, StoreFuture, Timestamp};
use shard::Shard;
use table::hash_of;

/// Limits for many customers, kept in memory: exact under threads, bounded, without a background task.
///
/// Every key (a customer's text and a call type) lives in one of up to 64 shards; one short lock covers all windows of a
/// key, so a decision is atomic over them. A key is forgotten when it is as good as new: calls look at a few others in
/// passing, [`Limiter::forget_spent`] at all. A key takes a cache line of 64 octets and a place in an index; a text of more
/// than 18 octets lies elsewhere.
///
/// It judges by the time that it is told. Reading `SystemClock` takes about as long as deciding; `CoarseClock` of
/// `bankrail-values` (feature `coarse-clock`) a tenth of that, and is some milliseconds late: so is then the start of each window.
///
/// ```
/// use bankrail_rate_limit::{CallType, Limiter};
/// use bankrail_values::{Clock, ManualClock};
/// let clock = ManualClock::new("2021-07-29T01:02:03.450Z".parse()?);
/// let limiter = Limiter::default();
/// for _ in 0..25 {
///     assert!(limiter.check("ACME", CallType::Statement, clock.now(), 1)?.is_allowed());
/// }
/// let refused = limiter.check("ACME", CallType::Statement, clock.now(), 1)?;
/// assert!(!refused.is_allowed());
/// // 26 attempts weigh 25 once 3600 ÷ 26 seconds of the next hour have passed, and one more must fit beside them.
/// assert_eq!(refused.retry_at().unwrap().to_string(), "2021-07-29T02:04:36.924Z");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Limiter {
    shards: Box<[Lock<Shard>]>,
    hasher: foldhash::fast::RandomState,
}

/// How many keys a [`Limiter`] holds, and what happens to one more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Capacity {
    /// The most keys held. They are spread over shards by a hash, so a shard can be full a little earlier.
    pub max_keys: usize,
    /// What happens to a new key when its shard is full of keys that still count.
    pub on_full: OnFull,
}

/// What happens to a new key when there is no room for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnFull {
    /// The call fails with [`CheckError::Full`]. Nobody who is limited gets away by making others up.
    RefuseNew,
    /// Of the next 64 keys in turn, the one that was charged longest ago makes room. Whoever is evicted starts
    /// afresh.
    EvictStalest,
}

impl Capacity {
    /// This many keys, and this when there is no room.
    #[must_use]
    pub const fn new(max_keys: usize, on_full: OnFull) -> Self {
        Self { max_keys, on_full }
    }
}

impl Default for Capacity {
    /// A million keys, then [`OnFull::RefuseNew`].
    fn default() -> Self {
        Self::new(1_000_000, OnFull::RefuseNew)
    }
}

impl Limiter {
    /// An empty limiter for these limits and at most this many keys.
    #[must_use]
    pub fn new(limits: Limits, capacity: Capacity) -> Self {
        // At least some 64 keys a shard, so that an uneven spread does not matter much.
        let shards = (capacity.max_keys / 64).clamp(1, 64);
        let shards = 1 << shards.ilog2();
        let shard = |_| Lock::new(Shard::new(limits.clone(), capacity.max_keys / shards, capacity.on_full));
        Self { shards: (0..shards).map(shard).collect(), hasher: foldhash::fast::RandomState::default() }
    }

    /// Decides on one request and charges it, under the policy that holds for this customer and call type at `now`;
    /// see [`decide`](crate::decide). A cost of 0 only looks.
    ///
    /// # Errors
    /// [`CheckError::Cost`] when `cost` is above the limit of a window; [`CheckError::Full`] when the key is new and there
    /// is no room for it. Nothing is charged in either case.
    pub fn check(
        &self,
        customer: &str,
        call_type: CallType,
        now: Timestamp,
        cost: u32,
    ) -> Result<Decision, CheckError> {
        let hash = self.hash(customer, call_type);
        self.shard(hash).lock().check(hash, customer, call_type, now, cost, &self.hasher)
    }

    /// Decides under the policy that comes with the request instead of this limiter's own.
    ///
    /// # Errors
    /// [`CheckError::Full`] when the key is new and there is no room for it.
    pub fn check_charge(&self, charge: &Charge<'_>) -> Result<Decision, CheckError> {
        let hash = self.hash(charge.customer(), charge.call_type());
        self.shard(hash).lock().charge(hash, charge, &self.hasher)
    }

    /// See [`Limits::set_default`]. Keys change over one shard at a time; each decision is under one policy.
    pub fn set_default(&self, call_type: CallType, policy: Policy) {
        for shard in &self.shards {
            shard.lock().limits_mut().set_default(call_type, policy);
        }
    }

    /// See [`Limits::set_override`].
    pub fn set_override(&self, customer: &str, call_type: CallType, policy: Policy) {
        self.change(customer, call_type, |limits| limits.set_override(customer, call_type, policy));
    }

    /// See [`Limits::set_temporary`].
    pub fn set_temporary(&self, customer: &str, call_type: CallType, policy: Policy, until: Timestamp) {
        self.change(customer, call_type, |limits| limits.set_temporary(customer, call_type, policy, until));
    }

    /// See [`Limits::clear`].
    pub fn clear_override(&self, customer: &str, call_type: CallType) {
        self.change(customer, call_type, |limits| limits.clear(customer, call_type));
    }

    /// Forgets what a customer has used of a call type.
    pub fn reset(&self, customer: &str, call_type: CallType) {
        let hash = self.hash(customer, call_type);
        self.shard(hash).lock().remove(hash, customer, call_type, &self.hasher);
    }

    /// Forgets every key that is as good as new at `now`, and temporary policies that have ended.
    pub fn forget_spent(&self, now: Timestamp) {
        for shard in &self.shards {
            shard.lock().forget_spent(now, &self.hasher);
        }
    }

    /// How many keys are held.
    #[must_use]
    pub fn len(&self) -> usize {
        self.shards.iter().map(|shard| shard.lock().len()).sum()
    }

    /// Whether no key is held.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn change(&self, customer: &str, call_type: CallType, change: impl FnOnce(&mut Limits)) {
        change(self.shard(self.hash(customer, call_type)).lock().limits_mut());
    }

    #[inline]
    fn hash(&self, customer: &str, call_type: CallType) -> u64 {
        hash_of(&self.hasher, customer.as_bytes(), call_type)
    }

    #[inline]
    fn shard(&self, hash: u64) -> &Lock<Shard> {
        // Bits that the table inside a shard does not use: it takes the lowest and the highest seven.
        let at = usize::try_from(hash >> 48 & 63).unwrap_or(0) & (self.shards.len() - 1);
        self.shards.get(at).expect("masked to the number of shards, a power of two")
    }
}

impl Default for Limiter {
    fn default() -> Self {
        Self::new(Limits::default(), Capacity::default())
    }
}

impl CounterStore for Limiter {
    fn charge<'a>(&'a self, charge: Charge<'a>) -> StoreFuture<'a, Decision> {
        Box::pin(async move { self.check_charge(&charge).map_err(|_| StoreError::from(StoreErrorKind::Full)) })
    }
}

/// A [`Limiter`] did not decide, and charged nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CheckError {
    /// The cost never fits.
    #[error("the request can never be allowed")]
    Cost(#[from] CostError),
    /// The key is new and there is no room for it; see [`OnFull::RefuseNew`].
    #[error("no room for another key")]
    Full,
}
