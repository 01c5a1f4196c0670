//! The reason why an operation was not carried out.

use bankrail_values::StoreError;
use http::StatusCode;

/// The reason why an operation was not carried out. Nothing was changed, unless the bank itself
/// failed during the operation ([`ControlError::Failed`]), which is then not undone.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ControlError {
    /// An argument is wrong. The text contains the expected and the found value.
    #[error("{0}")]
    Wrong(String),
    /// The subject of the operation does not exist. The text contains the expected and the found
    /// value.
    #[error("{0}")]
    Unknown(String),
    /// The assertion does not hold. The text contains the expected and the found value.
    #[error("{0}")]
    NotSo(String),
    /// The bank failed to carry out the operation. The text names what failed.
    #[error("{0}")]
    Failed(String),
}

impl ControlError {
    /// Returns the HTTP status for the error: 400, 404, 409 or 500.
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
