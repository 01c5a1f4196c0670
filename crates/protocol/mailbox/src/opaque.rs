//! Bytes that the mailbox keeps and does not read.

use std::fmt;
use std::ops::Deref;

/// Bytes of the caller: a body, attributes, an acknowledgement. `Debug` shows their number and not
/// their content, which may be payload.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct OpaqueBytes(Vec<u8>);

impl OpaqueBytes {
    /// The bytes, without a copy.
    #[must_use]
    pub fn into_vec(self) -> Vec<u8> {
        self.0
    }
}

impl From<Vec<u8>> for OpaqueBytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes)
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
