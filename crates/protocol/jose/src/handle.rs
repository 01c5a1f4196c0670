//! Key handles, each bound to one use by its type: a signing key cannot decrypt, and a public key
//! has no private operation.

mod content_key;
mod encryption;
mod private;
mod public;
mod signature;

pub use content_key::ContentKey;
pub use encryption::{DecryptError, Decryption, DecryptionKey};
pub use encryption::{EncryptError, Encryption, EncryptionKey};
pub use private::{PrivateKeyFor, PrivateUse};
pub use public::{PublicKeyFor, PublicUse};
pub use signature::{SignError, Signing, SigningKey};
pub use signature::{SignatureError, Verifying, VerifyingKey};

#[cfg(any(feature = "aws-lc", feature = "josekit"))]
use crate::Backend;
use crate::key::KeySizes;

bankrail_values::options! {
    /// Options for making a handle of a key.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct KeyOptions {
        /// Sets the allowed modulus lengths. Default: the specification's.
        pub(crate) sizes: KeySizes = KeySizes::default(),
        /// Sets the back end. Default: the first of [`Backend::ALL`].
        #[cfg(any(feature = "aws-lc", feature = "josekit"))]
        pub(crate) backend: Backend = Backend::default(),
    }
}

/// A key that is bound to one use by its type: [`SigningKey`], [`VerifyingKey`], [`EncryptionKey`]
/// or [`DecryptionKey`], for code that reads keys for any of them. The methods do the same as those
/// of the types.
#[cfg(any(feature = "aws-lc", feature = "josekit"))]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no key for one use",
    label = "not a `KeyHandle`",
    note = "choose `SigningKey`, `VerifyingKey`, `EncryptionKey` or `DecryptionKey`"
)]
pub trait KeyHandle: crate::Keyed + Clone {
    /// The use that the key is bound to.
    const ROLE: crate::Role;

    /// Makes a handle of a JWK, with its `kid`.
    ///
    /// # Errors
    /// [`KeyError`](crate::KeyError) if the JWK does not allow the use.
    fn from_jwk(jwk: &crate::Jwk, options: &KeyOptions) -> Result<Self, crate::KeyError>;

    /// Returns the same key under a name.
    #[must_use]
    fn with_kid(self, kid: &str) -> Self;
}

/// The module is private, so that only this crate declares uses.
mod sealed {
    /// One use of keys, which holds the back end's operation for it.
    #[allow(unnameable_types, reason = "only this crate implements it")]
    pub trait Use: Clone + Send + Sync {
        /// The role of the key in this use.
        const ROLE: crate::Role;

        /// The name of the key's type, for `Debug`.
        const KEY: &'static str;
    }
}

use sealed::Use;
