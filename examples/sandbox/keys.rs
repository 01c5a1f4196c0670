//! The three RSA keys of the exchange, each for one use.

use bankrail::jose::{DecryptionKey, RsaSize, SigningKey};
use std::error::Error;
use std::fs;
use std::path::Path;

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

/// The `kid` of the key that signs webhook bodies.
pub(crate) const BANK_KID: &str = "sandbox-1";

const FILES: [&str; 3] = ["customer-assertion.pem", "customer-decryption.pem", "provider-signing.pem"];

impl Keys {
    pub(crate) fn generate() -> Result<Self, Box<dyn Error>> {
        Ok(Self {
            assertion: SigningKey::generate(RsaSize::Rsa2048)?,
            decryption: DecryptionKey::generate(RsaSize::Rsa2048)?,
            signing: SigningKey::generate(RsaSize::Rsa2048)?.with_kid(BANK_KID),
        })
    }

    /// Reads the three files from `folder`, or makes the keys and writes them there.
    pub(crate) fn in_folder(folder: &Path) -> Result<Self, Box<dyn Error>> {
        let [assertion, decryption, signing] = FILES.map(|name| folder.join(name));
        if assertion.exists() && decryption.exists() && signing.exists() {
            return Ok(Self {
                assertion: SigningKey::from_pem(&fs::read_to_string(assertion)?)?,
                decryption: DecryptionKey::from_pem(&fs::read_to_string(decryption)?)?,
                signing: SigningKey::from_pem(&fs::read_to_string(signing)?)?.with_kid(BANK_KID),
            });
        }
        let made = Self::generate()?;
        crate::files::write_private(&assertion, &made.assertion.to_pkcs8_pem())?;
        crate::files::write_private(&decryption, &made.decryption.to_pkcs8_pem())?;
        crate::files::write_private(&signing, &made.signing.to_pkcs8_pem())?;
        Ok(made)
    }
}
