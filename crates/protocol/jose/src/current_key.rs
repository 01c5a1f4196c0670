//! One key in use, for rotation.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

/// A key that can be replaced while it is in use.
///
/// It is for the side of an exchange that uses one key at a time: the key that signs, and the key
/// that messages are encrypted to. The other side, which accepts an old and a new key during a
/// rotation, has a [`KeySet`](crate::KeySet).
///
/// Clones share the key: [`CurrentKey::replace`] on one changes all. Reading holds a lock while a
/// pointer is copied.
///
/// ```
/// use bankrail_jose::CurrentKey;
/// let current = CurrentKey::new("old");
/// let in_use = current.clone();
/// current.replace("new");
/// assert_eq!(*in_use.get(), "new");
/// ```
pub struct CurrentKey<K>(Arc<RwLock<Arc<K>>>);

impl<K> CurrentKey<K> {
    /// Starts with this key.
    #[must_use]
    pub fn new(key: K) -> Self {
        Self(Arc::new(RwLock::new(Arc::new(key))))
    }

    /// Returns the key in use now. An operation that has got the key finishes with it, even if the
    /// key is replaced meanwhile.
    #[must_use]
    pub fn get(&self) -> Arc<K> {
        // A writer only replaces the pointer, so a poisoned lock still guards a whole key.
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Replaces the key of this value and its clones.
    pub fn replace(&self, key: K) {
        // Operations that already have the old key finish with it: only the pointer is replaced.
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(key);
    }
}

impl<K> Clone for CurrentKey<K> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

/// Prints the inner key with its own `Debug`.
impl<K: fmt::Debug> fmt::Debug for CurrentKey<K> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_tuple("CurrentKey").field(&*self.get()).finish()
    }
}
