//! Bytes that the mailbox stores and does not read.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// Bytes of the caller: a body, attributes, an acknowledgement. Clones share the bytes, so that an
/// engine can hand a message to another thread without a copy. `Debug` shows the number of bytes
/// and not their content, which may be payload.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct OpaqueBytes(Arc<Vec<u8>>);

impl OpaqueBytes {
    /// Returns the bytes, and copies them only if a clone still shares them.
    #[must_use]
    pub fn into_vec(self) -> Vec<u8> {
        Arc::unwrap_or_clone(self.0)
    }
}

impl From<Vec<u8>> for OpaqueBytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self(Arc::new(bytes))
    }
}

impl Deref for OpaqueBytes {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for OpaqueBytes {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} bytes", self.0.len())
    }
}
