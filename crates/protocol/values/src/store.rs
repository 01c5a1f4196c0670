//! The return types of stores. The store traits are in the crates that use them.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

/// The time for which each engine keeps a used assertion, a token or a shared counter after its
/// expiry. Default: one hour.
///
/// The caller's `now` decides what has expired. A caller whose clock steps back, or lags behind
/// another caller's, by less than this time still finds the record.
pub const EXPIRY_GRACE: Duration = Duration::from_secs(3_600);

/// The return type of a store's methods: a boxed future, so that a store can be a trait object.
pub type StoreFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// The failure of an operation of a store. After [`StoreErrorKind::Timeout`] the operation may have
/// taken effect.
#[derive(Debug, thiserror::Error)]
#[error("{kind}")]
pub struct StoreError {
    kind: StoreErrorKind,
    #[source]
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl StoreError {
    /// Returns an error of this kind with a cause.
    pub fn new(
        kind: StoreErrorKind,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self {
            kind,
            source: Some(source.into()),
        }
    }

    /// Returns a temporary fault of the caller's own store or ledger. Nothing was changed, and the
    /// same operation can succeed later.
    pub fn retryable(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::new(StoreErrorKind::Unavailable, source)
    }

    /// Returns a permanent fault of the caller's own store or ledger. Nothing was changed, and the
    /// same operation cannot succeed.
    pub fn permanent(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::new(StoreErrorKind::Refused, source)
    }

    /// Returns true if the same operation can succeed later.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        use StoreErrorKind::{Full, Timeout, Unavailable};
        matches!(self.kind, Unavailable | Timeout | Full)
    }

    /// Returns the kind, which decides what the caller can do.
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

/// The kind of a [`StoreError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoreErrorKind {
    /// The store could not be reached, and nothing was changed. Repeating the operation is safe.
    Unavailable,
    /// The store did not answer in time. The operation may have taken effect.
    Timeout,
    /// The store holds a record that this version cannot read.
    Corrupt,
    /// The store has reached one of its bounds, and nothing was changed.
    Full,
    /// The store holds something else under this name, and nothing was changed. Repeating the
    /// operation cannot succeed.
    Conflict,
    /// The store refused the operation, and nothing was changed. Repeating it cannot succeed
    /// ([`StoreError::permanent`]).
    Refused,
}

impl fmt::Display for StoreErrorKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Unavailable => "the store is unavailable",
            Self::Timeout => "the store did not answer in time",
            Self::Corrupt => "the store holds an unreadable record",
            Self::Full => "the store is full",
            Self::Conflict => "the store holds something else under this name",
            Self::Refused => "the store refused the operation",
        })
    }
}
