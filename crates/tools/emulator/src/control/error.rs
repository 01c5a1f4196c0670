//! Why an operation was not carried out.

use bankrail_values::StoreError;
use http::StatusCode;

/// Why an operation was not carried out. Nothing was changed, unless the bank itself failed in the
/// middle of it ([`ControlError::Failed`]): then what was done before stays.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ControlError {
    /// What the operation was given is wrong: what was expected, and what was found.
    #[error("{0}")]
    Wrong(String),
    /// What the operation is about does not exist: what was expected, and what was found.
    #[error("{0}")]
    Unknown(String),
    /// What was asserted is not so: what was expected, and what was found.
    #[error("{0}")]
    NotSo(String),
    /// The bank cannot do it: what failed.
    #[error("{0}")]
    Failed(String),
}

impl ControlError {
    /// The status of an answer that says so: 400, 404, 409 or 500.
    #[must_use]
    pub const fn status(&self) -> StatusCode {
        match self {
            Self::Wrong(_) => StatusCode::BAD_REQUEST,
            Self::Unknown(_) => StatusCode::NOT_FOUND,
            Self::NotSo(_) => StatusCode::CONFLICT,
            Self::Failed(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

impl From<StoreError> for ControlError {
    fn from(error: StoreError) -> Self {
        Self::Failed(bankrail_values::causes(&error))
    }
}
