//! Private keys that live elsewhere: an HSM, a cloud key service.
//!
//! Two forms. Without I/O: [`jws::prepare`](crate::jws::prepare) hands out what is to be signed and takes the signature
//! back. Over I/O: [`RemoteSigner`] and [`RemoteDecrypter`], object-safe traits whose methods return boxed futures, so
//! that any runtime and any key service fits.

use crate::{EncryptionKey, Keyed, VerifyingKey};
use sha2::{Digest as _, Sha256};
use std::future::Future;
use std::pin::Pin;
use zeroize::Zeroizing;

type Source = Box<dyn std::error::Error + Send + Sync>;

/// What a remote key's method returns.
pub type RemoteFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, RemoteError>> + Send + 'a>>;

/// The remote key could not be asked. A local fault, never the counterparty's: answer 503 and try again if
/// [`RemoteError::is_retryable`] says so.
#[derive(Debug, thiserror::Error)]
#[error("the key service could not be used")]
pub struct RemoteError {
    retryable: bool,
    source: Source,
}

impl RemoteError {
    /// A fault that may pass: no connection, no answer in time, throttled.
    pub fn retryable(source: impl Into<Source>) -> Self {
        Self { retryable: true, source: source.into() }
    }

    /// A fault that stays: no such key, not permitted.
    pub fn permanent(source: impl Into<Source>) -> Self {
        Self { retryable: false, source: source.into() }
    }

    /// Whether trying again can help.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        self.retryable
    }

    /// What went wrong.
    #[must_use]
    pub fn cause(&self) -> &(dyn std::error::Error + Send + Sync + 'static) {
        &*self.source
    }
}

/// What is to be signed.
#[derive(Clone, Copy, Debug)]
pub struct SignRequest<'a> {
    message: &'a [u8],
}

impl<'a> SignRequest<'a> {
    /// A request to sign these bytes.
    #[must_use]
    pub fn new(message: &'a [u8]) -> Self {
        Self { message }
    }

    /// The bytes: for services that digest by themselves.
    #[must_use]
    pub fn message(&self) -> &'a [u8] {
        self.message
    }

    /// The SHA-256 digest of the bytes: for services that sign digests (PKCS#1 v1.5).
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        Sha256::digest(self.message).into()
    }
}

/// A private signing key behind I/O.
pub trait RemoteSigner: Send + Sync + std::fmt::Debug {
    /// The public half, under the name that headers carry. Each signature is checked against it before it is used.
    fn verifying_key(&self) -> &VerifyingKey;

    /// Makes an RS256 signature (RSASSA-PKCS1-v1_5 with SHA-256).
    fn sign<'a>(&'a self, request: SignRequest<'a>) -> RemoteFuture<'a, Vec<u8>>;
}

/// A private decryption key behind I/O. Several make a [`KeySet`](crate::KeySet), for rotation; those of different types
/// as `Arc<dyn RemoteDecrypter>`.
pub trait RemoteDecrypter: Send + Sync + std::fmt::Debug {
    /// The public half, under the name that headers carry.
    fn encryption_key(&self) -> &EncryptionKey;

    /// Decrypts by RSA-OAEP with SHA-1 and an empty label. [`DecryptionOutcome::CannotDecrypt`] is what the service says about
    /// the bytes; an error is about the service.
    fn decrypt<'a>(&'a self, encrypted: &'a [u8]) -> RemoteFuture<'a, DecryptionOutcome>;
}

/// A remote key's answer.
#[derive(Clone)]
#[non_exhaustive]
pub enum DecryptionOutcome {
    /// The content key.
    Key(Zeroizing<Vec<u8>>),
    /// The bytes are not an encryption for this key.
    CannotDecrypt,
}

impl DecryptionOutcome {
    /// The content key, or nothing.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::Key(bytes) => bytes,
            Self::CannotDecrypt => &[],
        }
    }
}

/// Prints neither the key nor whether there is one.
impl std::fmt::Debug for DecryptionOutcome {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("DecryptionOutcome(…)")
    }
}

impl<T: RemoteSigner + ?Sized> RemoteSigner for std::sync::Arc<T> {
    fn verifying_key(&self) -> &VerifyingKey {
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

/// Named as its public half is.
impl<T: RemoteDecrypter> Keyed for T {
    fn kid(&self) -> Option<&str> {
        self.encryption_key().kid()
    }
}
