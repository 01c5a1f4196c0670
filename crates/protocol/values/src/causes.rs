//! Errors with their causes.

use std::error::Error;
use std::fmt;

/// Returns an error with all its causes in one line. If an error quotes its cause, the cause is not
/// repeated.
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
        .fold(error.to_string(), |line, cause| {
            if line.contains(&cause) {
                line
            } else {
                format!("{line}: {cause}")
            }
        })
}

/// An error for a program's `main`, which prints the error with its causes as one sentence
/// ([`causes`]).
///
/// `?` converts any error or text into it. Rust prints `Error: ` and the `Debug` form of the error
/// that `main` returns, which for most errors names types and fields.
///
/// ```
/// use bankrail_values::{MainError, StoreError, StoreErrorKind};
///
/// fn main_of_a_program() -> Result<(), MainError> {
///     Err(StoreError::new(StoreErrorKind::Unavailable, "connection refused"))?
/// }
/// let error = main_of_a_program().unwrap_err();
/// assert_eq!(format!("{error:?}"), "the store is unavailable: connection refused");
/// assert_eq!(format!("{:?}", MainError::from("usage: biller FOLDER")), "usage: biller FOLDER");
/// ```
pub struct MainError(Box<dyn Error>);

impl<E: Into<Box<dyn Error>>> From<E> for MainError {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}

impl fmt::Debug for MainError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&causes(&*self.0))
    }
}
