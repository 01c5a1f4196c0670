//! Public keys that encrypt content keys.

#[cfg(any(feature = "aws-lc", feature = "josekit"))]
use super::KeyOptions;
use super::public_constructors;
use crate::backend::Wrap;
#[cfg(any(feature = "aws-lc", feature = "josekit"))]
use crate::key::{Jwk, KeyError};
use crate::key::{PublicMaterial, Role};
use std::sync::Arc;

/// A public key that encrypts content keys by RSA-OAEP (RFC 7518 section 4.3). Cheap to clone.
#[derive(Clone)]
pub struct WrappingKey {
    kid: Option<Arc<str>>,
    inner: Arc<Inner>,
}

struct Inner {
    public: PublicMaterial,
    operation: Box<dyn Wrap>,
}

/// A content key could not be encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the RSA back end could not encrypt")]
#[non_exhaustive]
pub struct WrapError;

public_constructors!(WrappingKey, Role::Wrap);

impl WrappingKey {
    /// Binds checked numbers to wrapping.
    ///
    /// # Errors
    /// [`KeyError`] if the size is not allowed or the back end refuses the key.
    #[cfg(any(feature = "aws-lc", feature = "josekit"))]
    pub fn from_material(public: PublicMaterial, options: &KeyOptions) -> Result<Self, KeyError> {
        options.sizes.check(public.bits(), Role::Wrap)?;
        let operation = options.backend.wrapper(&public)?;
        Ok(Self { kid: None, inner: Arc::new(Inner { public, operation }) })
    }

    /// Encrypts a content key. The result is as long as the modulus and different each time.
    ///
    /// # Errors
    /// [`WrapError`] if `content_key` is too long for the modulus or the back end failed.
    pub fn wrap(&self, content_key: &[u8]) -> Result<Vec<u8>, WrapError> {
        self.inner.operation.wrap(content_key).map_err(|_| WrapError)
    }
}
