//! The shape of a store's answers. The store traits live in the crates whose rules they serve.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

/// What a store's method returns: a boxed future, so that a store can be a trait object.
pub type StoreFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// A store could not answer. What the caller asked for may or may not have happened only where
/// [`StoreErrorKind::Timeout`] says so.
#[derive(Debug, thiserror::Error)]
#[error("{kind}")]
pub struct StoreError {
    kind: StoreErrorKind,
    #[source]
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl StoreError {
    /// An error of this kind with its cause.
    pub fn new(kind: StoreErrorKind, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self { kind, source: Some(source.into()) }
    }

    /// What the caller can do about it.
    #[must_use]
    pub fn kind(&self) -> StoreErrorKind {
        self.kind
    }
}

impl From<StoreErrorKind> for StoreError {
    fn from(kind: StoreErrorKind) -> Self {
        Self { kind, source: None }
    }
}

/// Kinds of [`StoreError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoreErrorKind {
    /// The store was not reached; nothing happened. Trying again is safe.
    Unavailable,
    /// No answer in time: it may have happened.
    Timeout,
    /// The store holds something that this version cannot read.
    Corrupt,
    /// A bound of the store was met; nothing happened.
    Full,
    /// The store holds something else under this name; nothing happened, and trying again cannot help.
    Conflict,
}

impl fmt::Display for StoreErrorKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Unavailable => "the store is unavailable",
            Self::Timeout => "the store did not answer in time",
            Self::Corrupt => "the store holds an unreadable record",
            Self::Full => "the store is full",
            Self::Conflict => "the store holds something else under this name",
        })
    }
}
