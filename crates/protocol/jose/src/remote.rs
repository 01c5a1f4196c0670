//! Private keys in an HSM or a key service.
//!
//! There are two ways to use such a key:
//! - Without I/O: [`jws::prepare`](crate::jws::prepare) returns the bytes to sign and then takes
//!   the signature.
//! - With I/O: [`RemoteSigner`] and [`RemoteDecrypter`] are object-safe traits whose methods return
//!   boxed futures, for any runtime and any key service.

use crate::algorithm::SignatureHash;
use crate::{EncryptionKey, Keyed, VerifyingKey};
use sha2::Digest as _;
use std::future::Future;
use std::pin::Pin;
use zeroize::Zeroizing;

type Source = Box<dyn std::error::Error + Send + Sync>;

/// The future that a method of a remote key returns.
pub type RemoteFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, RemoteError>> + Send + 'a>>;

/// The remote key could not be used.
///
/// This is a local fault, never the counterparty's: answer with a 5xx status, and retry if
/// [`RemoteError::is_retryable`] is true.
#[derive(Debug, thiserror::Error)]
#[error("the key service could not be used")]
pub struct RemoteError {
    retryable: bool,
    source: Source,
}

impl RemoteError {
    /// Returns a temporary fault, such as a missing connection, a timeout or throttling.
    pub fn retryable(source: impl Into<Source>) -> Self {
        Self {
            retryable: true,
            source: source.into(),
        }
    }

    /// Returns a permanent fault, such as a missing key or permission.
    pub fn permanent(source: impl Into<Source>) -> Self {
        Self {
            retryable: false,
            source: source.into(),
        }
    }

    /// Returns true if a retry can succeed.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        self.retryable
    }

    /// Returns the cause.
    #[must_use]
    pub fn cause(&self) -> &(dyn std::error::Error + Send + Sync + 'static) {
        &*self.source
    }
}

/// A request to sign bytes.
#[derive(Clone, Copy, Debug)]
pub struct SignRequest<'a> {
    message: &'a [u8],
}

impl<'a> SignRequest<'a> {
    /// Returns a request to sign these bytes.
    #[must_use]
    pub fn new(message: &'a [u8]) -> Self {
        Self { message }
    }

    /// Returns the bytes, for services that compute the digest themselves.
    #[must_use]
    pub fn message(&self) -> &'a [u8] {
        self.message
    }

    /// Returns the SHA-256 digest of the bytes, for services that sign digests (PKCS#1 v1.5).
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        SignatureHash::digest(self.message).into()
    }
}

/// A private signing key that is reached by I/O.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not sign by I/O",
    label = "not a `RemoteSigner`",
    note = "implement `RemoteSigner` over the key service",
    note = "a `SigningKey` is in memory: pass it to the constructor `new`, not to `remote`"
)]
pub trait RemoteSigner: Send + Sync + std::fmt::Debug {
    /// Returns the public half, with the `kid` for headers. Each signature is checked with it
    /// before it is used.
    ///
    /// The key may be replaced between this call and [`RemoteSigner::sign`]. The signature is then
    /// discarded and requested once more under the new `kid`.
    fn verifying_key(&self) -> VerifyingKey;

    /// Makes an RS256 signature (RSASSA-PKCS1-v1_5 with SHA-256).
    fn sign<'a>(&'a self, request: SignRequest<'a>) -> RemoteFuture<'a, Vec<u8>>;
}

/// A private decryption key that is reached by I/O.
///
/// Several decrypters make a [`KeySet`](crate::KeySet), for rotation. Use `Arc<dyn
/// RemoteDecrypter>` for keys of different types.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not decrypt by I/O",
    label = "not a `RemoteDecrypter`",
    note = "implement `RemoteDecrypter` over the key service",
    note = "a `DecryptionKey` is in memory: pass it to the constructor `new`, not to `remote`"
)]
pub trait RemoteDecrypter: Send + Sync + std::fmt::Debug {
    /// Returns the public half, with the `kid` that headers carry.
    fn encryption_key(&self) -> &EncryptionKey;

    /// Decrypts by RSA-OAEP with SHA-1 and an empty label.
    ///
    /// The outcome is [`DecryptionOutcome::CannotDecrypt`] if the service refuses the bytes, and an
    /// error if the service fails.
    fn decrypt<'a>(&'a self, encrypted: &'a [u8]) -> RemoteFuture<'a, DecryptionOutcome>;
}

/// The outcome of a decryption by a remote key.
#[derive(Clone)]
#[non_exhaustive]
pub enum DecryptionOutcome {
    /// The content key.
    Key(Zeroizing<Vec<u8>>),
    /// The service cannot decrypt the bytes with this key.
    CannotDecrypt,
}

impl DecryptionOutcome {
    /// Returns the bytes of the content key, or an empty slice for
    /// [`DecryptionOutcome::CannotDecrypt`].
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::Key(bytes) => bytes,
            Self::CannotDecrypt => &[],
        }
    }
}

// Prints neither the content key nor whether there is one.
bankrail_values::impl_debug!(DecryptionOutcome);

impl<T: RemoteSigner + ?Sized> RemoteSigner for std::sync::Arc<T> {
    fn verifying_key(&self) -> VerifyingKey {
        (**self).verifying_key()
    }

    fn sign<'a>(&'a self, request: SignRequest<'a>) -> RemoteFuture<'a, Vec<u8>> {
        (**self).sign(request)
    }
}

impl<T: RemoteDecrypter + ?Sized> RemoteDecrypter for std::sync::Arc<T> {
    fn encryption_key(&self) -> &EncryptionKey {
        (**self).encryption_key()
    }

    fn decrypt<'a>(&'a self, encrypted: &'a [u8]) -> RemoteFuture<'a, DecryptionOutcome> {
        (**self).decrypt(encrypted)
    }
}

/// The `kid` of a remote key is that of its public half.
#[diagnostic::do_not_recommend]
impl<T: RemoteDecrypter> Keyed for T {
    fn kid(&self) -> Option<&str> {
        self.encryption_key().kid()
    }
}
