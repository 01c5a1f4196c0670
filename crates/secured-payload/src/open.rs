//! Opening a secured payload: decrypt, then verify.

mod error;
mod options;
mod received;

pub use error::{Malformed, OpenError, OpenErrorKind};
pub use options::{OpenOptions, Recipient};
pub use received::Received;

use bankrail_jose::header::Header;
use bankrail_jose::remote::RemoteUnwrapper;
use bankrail_jose::{KeySet, UnwrappingKey, VerifyingKey, WrappingKey};
use std::fmt;
use zeroize::Zeroizing;

/// Opens secured payloads: decrypts them with our keys and verifies them with the sender's.
///
/// Either kind is one key or a [`KeySet`] that can be replaced while the opener is in use.
#[derive(Clone, Debug)]
pub struct Opener<U = UnwrappingKey> {
    unwrapping: KeySet<U>,
    verifying: KeySet<VerifyingKey>,
    options: OpenOptions,
}

impl Opener {
    /// Opens with the default [`OpenOptions`].
    #[must_use]
    pub fn new(unwrapping: impl Into<KeySet<UnwrappingKey>>, verifying: impl Into<KeySet<VerifyingKey>>) -> Self {
        Self { unwrapping: unwrapping.into(), verifying: verifying.into(), options: OpenOptions::default() }
    }

    /// Opens one compact JWE.
    ///
    /// # Errors
    /// [`OpenError`]. Everything that an outsider could bring about in decryption or verification is one value,
    /// [`OpenError::Rejected`], that says nothing more.
    pub fn open(&self, compact: &str) -> Result<Opened, OpenError> {
        let received = Received::parse(compact, &self.options)?;
        let selected = self.unwrapping.select(received.header().kid())?;
        received.open_with(selected.as_slice(), &self.verifying)
    }
}

impl<U: RemoteUnwrapper + Clone> Opener<U> {
    /// Opens with a decryption key behind I/O, or a set of them, and the default [`OpenOptions`].
    #[must_use]
    pub fn remote(unwrapping: impl Into<KeySet<U>>, verifying: impl Into<KeySet<VerifyingKey>>) -> Self {
        Self { unwrapping: unwrapping.into(), verifying: verifying.into(), options: OpenOptions::default() }
    }

    /// Opens one compact JWE. Keys are asked one after the other: the one that its `kid` names, or each in turn.
    ///
    /// # Errors
    /// As [`Opener::open`]; [`OpenError::Unavailable`] if a remote key could not be asked. That it could not decrypt
    /// is no different from a wrong tag.
    pub async fn open_remote(&self, compact: &str) -> Result<Opened, OpenError> {
        let received = Received::parse(compact, &self.options)?;
        let selected = self.unwrapping.select(received.header().kid())?;
        received.open_remote(selected.as_slice(), &self.verifying).await
    }
}

impl<U> Opener<U> {
    /// The same opener with these options.
    #[must_use]
    pub fn with_options(mut self, options: OpenOptions) -> Self {
        self.options = options;
        self
    }
}

/// A message that was decrypted and whose signature was verified: the only way to its text.
///
/// `Debug` prints no part of the text; its buffer is overwritten when this is dropped.
#[derive(Clone)]
pub struct Opened {
    json: Zeroizing<Vec<u8>>,
    header: Header,
    signed_header: Header,
    signing_key: VerifyingKey,
    encryption_key: WrappingKey,
}

impl Opened {
    /// The message: JSON in UTF-8.
    #[must_use]
    pub fn json(&self) -> &[u8] {
        &self.json
    }

    /// The sender's key that the signature is valid for.
    #[must_use]
    pub fn signing_key(&self) -> &VerifyingKey {
        &self.signing_key
    }

    /// The public half of our key that the message was encrypted to.
    #[must_use]
    pub fn encryption_key(&self) -> &WrappingKey {
        &self.encryption_key
    }

    /// The `kid` of the sender's key, if it has a name here.
    #[must_use]
    pub fn signing_kid(&self) -> Option<&str> {
        self.signing_key.kid()
    }

    /// The `kid` of our key, if it has a name here.
    #[must_use]
    pub fn encryption_kid(&self) -> Option<&str> {
        self.encryption_key.kid()
    }

    /// The header of the encryption. It is not signed: anyone who has our public key could have written it.
    #[must_use]
    pub fn outer_header(&self) -> &Header {
        &self.header
    }

    /// The header of the signature.
    #[must_use]
    pub fn signed_header(&self) -> &Header {
        &self.signed_header
    }
}

impl fmt::Debug for Opened {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Opened")
            .field("len", &self.json.len())
            .field("signing_kid", &self.signing_kid())
            .field("encryption_kid", &self.encryption_kid())
            .finish_non_exhaustive()
    }
}
