//! The lock of a shard: loom's in its models, otherwise the standard library's.

#[cfg(loom)]
use loom::sync::{Mutex, MutexGuard};
use std::sync::PoisonError;
#[cfg(not(loom))]
use std::sync::{Mutex, MutexGuard};

/// A lock alone on a pair of cache lines, so that two shards' locks never share one.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct Lock<T>(Mutex<T>);

impl<T> Lock<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(Mutex::new(value))
    }

    /// Takes the lock. No code panics between two related changes of the counters, so a poisoned
    /// lock is used like any other.
    #[inline]
    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
