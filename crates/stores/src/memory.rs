//! Every store in the memory of one process, for tests and for what may be lost with the process.
//!
//! Each kind of record is bounded by [`MemoryStore::with_capacity`]. When it is full of records that are still needed,
//! the next one is refused with [`StoreErrorKind::Full`](bankrail_values::StoreErrorKind::Full): to forget a used
//! assertion or a message that waits would be worse than to refuse a new one. Expired records are dropped with later writes.

use std::fmt;
use std::sync::Arc;
#[cfg(any(feature = "client-assertion", feature = "mailbox", feature = "statement"))]
use std::sync::{Mutex, MutexGuard, PoisonError};

#[cfg(feature = "client-assertion")]
mod expiring;
#[cfg(feature = "mailbox")]
mod inbox;
#[cfg(feature = "mailbox")]
mod outbox;
#[cfg(feature = "client-assertion")]
mod replay;
#[cfg(feature = "statement")]
mod seen;
#[cfg(feature = "client-assertion")]
mod tokens;

#[cfg(feature = "mailbox")]
pub use {inbox::MemoryInbox, outbox::MemoryOutbox};

/// Every store of the features that are on, in memory. A cheap handle: clones share the records.
///
/// ```
/// # async fn example() -> Result<(), bankrail_values::StoreError> {
/// use bankrail_client_assertion::ReplayStore;
/// use bankrail_stores::memory::MemoryStore;
/// use bankrail_values::Timestamp;
///
/// let store = MemoryStore::new();
/// assert!(store.claim([7; 32], Timestamp::UNIX_EPOCH, Timestamp::MAX).await?);
/// assert!(!store.claim([7; 32], Timestamp::UNIX_EPOCH, Timestamp::MAX).await?);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct MemoryStore {
    #[cfg_attr(
        not(any(feature = "client-assertion", feature = "mailbox", feature = "statement")),
        allow(dead_code, reason = "not used without the feature of any trait")
    )]
    parts: Arc<Parts>,
}

#[derive(Default)]
struct Parts {
    capacity: usize,
    #[cfg(feature = "mailbox")]
    inbox: Mutex<inbox::Messages>,
    #[cfg(feature = "mailbox")]
    outbox: Mutex<outbox::Messages>,
    #[cfg(feature = "client-assertion")]
    replay: Mutex<replay::Claims>,
    #[cfg(feature = "statement")]
    seen: Mutex<seen::Accounts>,
    #[cfg(feature = "client-assertion")]
    tokens: Mutex<tokens::Grants>,
}

impl MemoryStore {
    /// The capacity of [`MemoryStore::new`]: 100,000 records of each kind.
    pub const DEFAULT_CAPACITY: usize = 100_000;

    /// A store for [`MemoryStore::DEFAULT_CAPACITY`] records of each kind.
    #[must_use]
    pub fn new() -> Self {
        Self::with_capacity(Self::DEFAULT_CAPACITY)
    }

    /// A store for at most `records` of each kind. Memory is taken as they come.
    #[must_use]
    pub fn with_capacity(records: usize) -> Self {
        Self { parts: Arc::new(Parts { capacity: records, ..Parts::default() }) }
    }

    /// Its inbox.
    #[cfg(feature = "mailbox")]
    #[must_use]
    pub fn inbox(&self) -> MemoryInbox {
        MemoryInbox { parts: Arc::clone(&self.parts) }
    }

    /// Its outbox.
    #[cfg(feature = "mailbox")]
    #[must_use]
    pub fn outbox(&self) -> MemoryOutbox {
        MemoryOutbox { parts: Arc::clone(&self.parts) }
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Parts {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Parts").field("capacity", &self.capacity).finish_non_exhaustive()
    }
}

/// No operation of this module can panic half way, so what a poisoned lock guards is whole.
#[cfg(any(feature = "client-assertion", feature = "mailbox", feature = "statement"))]
fn lock<T>(part: &Mutex<T>) -> MutexGuard<'_, T> {
    part.lock().unwrap_or_else(PoisonError::into_inner)
}
