//! The three RSA keys of the exchange, each for one use.

use bankrail::jose::{DecryptionKey, RsaSize, SigningKey};
use std::error::Error;

/// All private keys of the sandbox, which is both the customer and the provider.
#[derive(Clone, Debug)]
pub(crate) struct Keys {
    /// The customer's key that signs its assertions.
    pub(crate) assertion: SigningKey,
    /// The customer's key that decrypts webhook bodies.
    pub(crate) decryption: DecryptionKey,
    /// The provider's key that signs webhook bodies.
    pub(crate) signing: SigningKey,
}

impl Keys {
    pub(crate) fn generate() -> Result<Self, Box<dyn Error>> {
        Ok(Self {
            assertion: SigningKey::generate(RsaSize::Rsa2048)?,
            decryption: DecryptionKey::generate(RsaSize::Rsa2048)?,
            signing: SigningKey::generate(RsaSize::Rsa2048)?.with_kid("sandbox-1"),
        })
    }
}
