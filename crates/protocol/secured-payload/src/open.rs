//! Opening secured payloads: decrypt, then verify.

mod error;
mod options;
mod sealed_message;

pub use error::{MalformedMessageError, OpenError, OpenErrorKind};
pub use options::{OpenOptions, Recipient};
pub use sealed_message::{SealedMessage, unverified_kid};

use bankrail_jose::header::JoseHeader;
use bankrail_jose::remote::RemoteDecrypter;
use bankrail_jose::{DecryptionKey, EncryptionKey, KeyError, KeySet, KeySizes, Role, VerifyingKey};
use zeroize::Zeroizing;

/// Opens secured payloads: decrypts them with our decryption keys and verifies them with the
/// sender's verifying keys.
///
/// Each is one key or a [`KeySet`] that can be replaced while the opener is in use. Make new
/// verifying keys under [`KeySizes::SecuredPayload`]: messages that were signed with a key of
/// another size are [`OpenError::Rejected`].
#[derive(Clone, Debug)]
pub struct Opener<U = DecryptionKey> {
    decryption: KeySet<U>,
    verifying: KeySet<VerifyingKey>,
    options: OpenOptions,
}

impl Opener {
    /// Creates an opener with a decryption key in memory, or a set of them.
    ///
    /// # Errors
    /// [`KeyError::Size`] if a verifying key has a size other than 2048 or 4096 bits
    /// (Specification: "Secured payload envelope").
    pub fn new(
        decryption: impl Into<KeySet<DecryptionKey>>,
        verifying: impl Into<KeySet<VerifyingKey>>,
        options: OpenOptions,
    ) -> Result<Self, KeyError> {
        Self::with(decryption.into(), verifying.into(), options)
    }

    /// Opens one compact JWE.
    ///
    /// # Errors
    /// [`OpenError`]. All failures of decryption and verification that an outsider can cause have
    /// the same value, [`OpenError::Rejected`].
    pub fn open(&self, compact: &str) -> Result<Opened, OpenError> {
        let received = SealedMessage::parse(compact, &self.options)?;
        let selected = self.decryption.select(received.header().kid())?;
        received.open_with(selected.as_slice(), &self.verifying)
    }
}

impl<U: RemoteDecrypter + Clone> Opener<U> {
    /// Creates an opener with a remote decryption key, or a set of them.
    ///
    /// # Errors
    /// As [`Opener::new`].
    pub fn remote(
        decryption: impl Into<KeySet<U>>,
        verifying: impl Into<KeySet<VerifyingKey>>,
        options: OpenOptions,
    ) -> Result<Self, KeyError> {
        Self::with(decryption.into(), verifying.into(), options)
    }

    /// Opens one compact JWE with the key that its `kid` selects. Without a `kid`, the keys are
    /// tried one by one.
    ///
    /// # Errors
    /// As [`Opener::open`]; [`OpenError::Unavailable`] if a remote key could not be used. A key
    /// that cannot decrypt the message gives the same error as a wrong tag.
    pub async fn open_remote(&self, compact: &str) -> Result<Opened, OpenError> {
        let received = SealedMessage::parse(compact, &self.options)?;
        let selected = self.decryption.select(received.header().kid())?;
        received
            .open_remote(selected.as_slice(), &self.verifying)
            .await
    }
}

impl<U> Opener<U> {
    fn with(
        decryption: KeySet<U>,
        verifying: KeySet<VerifyingKey>,
        options: OpenOptions,
    ) -> Result<Self, KeyError> {
        for key in verifying.keys().iter() {
            KeySizes::SecuredPayload.check(key.public_key().bits(), Role::Verify)?;
        }
        Ok(Self {
            decryption,
            verifying,
            options,
        })
    }

    /// Returns the same opener with [`OpenOptions::check_json`] off.
    #[must_use]
    #[doc(hidden)]
    pub fn without_json_check(self) -> Self {
        Self {
            options: self.options.check_json(false),
            ..self
        }
    }
}

/// A message that was decrypted and whose signature was verified. This value is the only access to
/// the content of a message.
///
/// `Debug` prints no part of the message. The message is overwritten when this is dropped.
#[derive(Clone)]
pub struct Opened {
    json: Zeroizing<Vec<u8>>,
    header: JoseHeader,
    signed_header: JoseHeader,
    signing_key: VerifyingKey,
    encryption_key: EncryptionKey,
}

impl Opened {
    /// Returns the message without a copy. The returned text is not overwritten when it is dropped.
    #[must_use]
    pub fn into_json(mut self) -> Vec<u8> {
        std::mem::take(&mut *self.json)
    }

    /// Returns the message: JSON in UTF-8, unless [`OpenOptions::check_json`] is off.
    #[must_use]
    pub fn json(&self) -> &[u8] {
        &self.json
    }

    /// Returns the sender's key that the signature is valid for.
    #[must_use]
    pub fn signing_key(&self) -> &VerifyingKey {
        &self.signing_key
    }

    /// Returns the public half of our key that decrypted the message.
    #[must_use]
    pub fn encryption_key(&self) -> &EncryptionKey {
        &self.encryption_key
    }

    /// Returns the header of the JWE. This header is not signed: anybody who has our encryption key
    /// can write one.
    #[must_use]
    pub fn outer_header(&self) -> &JoseHeader {
        &self.header
    }

    /// Returns the header of the JWS.
    #[must_use]
    pub fn signed_header(&self) -> &JoseHeader {
        &self.signed_header
    }

    /// Returns the `kid` of [`Opened::signing_key`], if it has one.
    #[must_use]
    pub fn signing_kid(&self) -> Option<&str> {
        self.signing_key.kid()
    }

    /// Returns the `kid` of [`Opened::encryption_key`], if it has one.
    #[must_use]
    pub fn encryption_kid(&self) -> Option<&str> {
        self.encryption_key.kid()
    }
}

bankrail_values::impl_debug!(
    Opened, self;
    len: self.json.len(), signing_kid: self.signing_kid(), encryption_kid: self.encryption_kid()
);
