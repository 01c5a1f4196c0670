//! Errors with their causes.

use std::error::Error;

/// An error with all its causes in one line. A layer that quotes its cause is not followed by the cause again.
///
/// ```
/// use bankrail_values::{StoreError, StoreErrorKind, causes};
///
/// let error = StoreError::new(StoreErrorKind::Unavailable, "connection refused");
/// assert_eq!(causes(&error), "the store is unavailable: connection refused");
/// ```
#[must_use]
pub fn causes(error: &dyn Error) -> String {
    std::iter::successors(error.source(), |&cause| cause.source())
        .map(ToString::to_string)
        .fold(error.to_string(), |line, cause| if line.contains(&cause) { line } else { format!("{line}: {cause}") })
}
