//! All stores in the memory of one process, for tests and for records that may be lost with the
//! process.
//!
//! [`MemoryStore::with_capacity`] bounds each kind of record. When the store is full of records
//! that are still needed, a new one is refused with
//! [`StoreErrorKind::Full`](bankrail_values::StoreErrorKind::Full), because a forgotten used
//! assertion or pending message would be worse. Expired records are dropped with later writes,
//! [`EXPIRY_GRACE`](bankrail_values::EXPIRY_GRACE) after their expiry.

use bankrail_values::{StoreError, StoreFuture};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

#[cfg(feature = "client-assertion")]
mod cached;
#[cfg(feature = "client-assertion")]
mod expiring;
#[cfg(feature = "webhook")]
mod histories;
#[cfg(feature = "mailbox")]
mod inbox;
#[cfg(feature = "mailbox")]
mod outbox;
#[cfg(feature = "statement")]
mod seen;
#[cfg(feature = "client-assertion")]
mod tokens;

#[cfg(feature = "mailbox")]
pub use {inbox::MemoryInbox, outbox::MemoryOutbox};

#[cfg(feature = "webhook")]
pub use histories::MemoryHistories;

/// All stores of the enabled features, in memory. A cheap handle: clones share the records.
///
/// ```
/// # async fn example() -> Result<(), bankrail_values::StoreError> {
/// use bankrail_client_assertion::{ReplayKey, ReplayStore};
/// use bankrail_stores::memory::MemoryStore;
/// use bankrail_values::Timestamp;
///
/// let store = MemoryStore::new();
/// assert!(store.claim(ReplayKey::new([7; 32], Timestamp::MAX), Timestamp::UNIX_EPOCH).await?);
/// assert!(!store.claim(ReplayKey::new([7; 32], Timestamp::MAX), Timestamp::UNIX_EPOCH).await?);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct MemoryStore {
    parts: Arc<Parts>,
}

#[derive(Default)]
struct Parts {
    capacity: usize,
    #[cfg(feature = "client-assertion")]
    cached: Mutex<cached::CachedTokens>,
    #[cfg(feature = "mailbox")]
    inbox: Mutex<inbox::Messages>,
    #[cfg(feature = "mailbox")]
    outbox: Mutex<outbox::Messages>,
    #[cfg(feature = "webhook")]
    histories: Mutex<histories::Records>,
    #[cfg(feature = "webhook")]
    changed: tokio::sync::Notify,
    #[cfg(feature = "statement")]
    seen: Mutex<seen::Accounts>,
    #[cfg(feature = "client-assertion")]
    tokens: Mutex<tokens::Tokens>,
}

impl MemoryStore {
    /// The capacity of [`MemoryStore::new`]: 100,000 records of each kind.
    pub const DEFAULT_CAPACITY: usize = 100_000;

    /// Creates a store for [`MemoryStore::DEFAULT_CAPACITY`] records of each kind.
    #[must_use]
    pub fn new() -> Self {
        Self::with_capacity(Self::DEFAULT_CAPACITY)
    }

    /// Creates a store for at most `records` of each kind. Memory is allocated as records are
    /// added.
    #[must_use]
    pub fn with_capacity(records: usize) -> Self {
        Self {
            parts: Arc::new(Parts {
                capacity: records,
                ..Parts::default()
            }),
        }
    }

    /// Returns a separate store with a copy of the present records, like a backup.
    #[cfg(feature = "simulation")]
    #[must_use]
    pub fn copy(&self) -> Self {
        let parts = &*self.parts;
        Self {
            parts: Arc::new(Parts {
                capacity: parts.capacity,
                #[cfg(feature = "client-assertion")]
                cached: Mutex::new(lock(&parts.cached).clone()),
                #[cfg(feature = "mailbox")]
                inbox: Mutex::new(lock(&parts.inbox).clone()),
                #[cfg(feature = "mailbox")]
                outbox: Mutex::new(lock(&parts.outbox).clone()),
                #[cfg(feature = "webhook")]
                histories: Mutex::new(lock(&parts.histories).clone()),
                #[cfg(feature = "webhook")]
                changed: tokio::sync::Notify::new(),
                #[cfg(feature = "statement")]
                seen: Mutex::new(lock(&parts.seen).clone()),
                #[cfg(feature = "client-assertion")]
                tokens: Mutex::new(lock(&parts.tokens).clone()),
            }),
        }
    }

    /// Returns the inbox of this store.
    #[cfg(feature = "mailbox")]
    #[must_use]
    pub fn inbox(&self) -> MemoryInbox {
        MemoryInbox {
            parts: Arc::clone(&self.parts),
        }
    }

    /// Returns the outbox of this store.
    #[cfg(feature = "mailbox")]
    #[must_use]
    pub fn outbox(&self) -> MemoryOutbox {
        MemoryOutbox {
            parts: Arc::clone(&self.parts),
        }
    }

    /// Returns the histories of this store.
    #[cfg(feature = "webhook")]
    #[must_use]
    pub fn histories(&self) -> MemoryHistories {
        MemoryHistories {
            parts: Arc::clone(&self.parts),
        }
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

bankrail_values::impl_debug!(Parts, self; capacity: self.capacity);

/// Runs an operation on one kind of records, which are locked for its duration alone.
fn run<'a, R: Send, T: Send + 'a>(
    records: &'a Mutex<R>,
    operation: impl FnOnce(&mut R) -> Result<T, StoreError> + Send + 'a,
) -> StoreFuture<'a, T> {
    // When the future is polled, not before: a future that is dropped has done nothing.
    Box::pin(async move { operation(&mut lock(records)) })
}

/// Locks even a poisoned mutex: no operation of this module can panic half way, so its records are
/// consistent.
fn lock<T>(part: &Mutex<T>) -> MutexGuard<'_, T> {
    part.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The greatest number of records that a caller asks for.
fn most(limit: u32) -> usize {
    usize::try_from(limit).unwrap_or(usize::MAX)
}
