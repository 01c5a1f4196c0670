//! The bound of a sealed token.

use bankrail_client_assertion::token::CachedToken;
use bankrail_values::{StoreError, StoreErrorKind};

/// Refuses a token of more than [`CachedToken::MAX_SEALED_BYTES`].
pub(crate) fn check_sealed(token: &CachedToken) -> Result<(), StoreError> {
    let most = CachedToken::MAX_SEALED_BYTES;
    let found = token.sealed.len();
    if found <= most {
        return Ok(());
    }
    Err(StoreError::new(
        StoreErrorKind::Full,
        format!("sealed token: expected at most {most} bytes, found {found}"),
    ))
}
