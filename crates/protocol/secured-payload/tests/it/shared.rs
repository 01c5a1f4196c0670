//! Keys, and messages that no honest sender writes.

use bankrail_jose::{
    Backend, DecryptionKey, EncryptionKey, KeyOptions, PrivateKey, RsaSize, SigningKey,
    VerifyingKey, base64url,
};
use bankrail_secured_payload::{OpenOptions, Opener, SealOptions, Sealer};
use serde_json::Value;
use std::sync::LazyLock;

/// The signing key of all tests, because generating keys is slow.
pub(crate) static SIGNING: LazyLock<SigningKey> =
    LazyLock::new(|| SigningKey::generate(RsaSize::Rsa2048).unwrap());
pub(crate) static DECRYPTION: LazyLock<DecryptionKey> =
    LazyLock::new(|| DecryptionKey::generate(RsaSize::Rsa2048).unwrap());

/// Returns the same two key pairs on each back end.
pub(crate) fn backends() -> impl Iterator<Item = Keys> {
    Backend::ALL.iter().map(|backend| {
        let options = KeyOptions::new().backend(*backend);
        let signing = PrivateKey::from_pem(&SIGNING.to_pkcs8_pem()).unwrap();
        let decryption = PrivateKey::from_pem(&DECRYPTION.to_pkcs8_pem()).unwrap();
        Keys::new(&signing, &decryption, &options)
    })
}

pub(crate) struct Keys {
    pub(crate) signing: SigningKey,
    pub(crate) decryption: DecryptionKey,
}

impl Keys {
    pub(crate) fn new(signing: &PrivateKey, decryption: &PrivateKey, options: &KeyOptions) -> Self {
        Self {
            signing: SigningKey::from_private_key(signing, options).unwrap(),
            decryption: DecryptionKey::from_private_key(decryption, options).unwrap(),
        }
    }

    pub(crate) fn verifying(&self) -> VerifyingKey {
        self.signing.verifying_key()
    }

    pub(crate) fn encryption(&self) -> EncryptionKey {
        self.decryption.encryption_key()
    }

    pub(crate) fn sealer(&self) -> Sealer {
        Sealer::new(self.signing.clone(), self.encryption(), SealOptions::new())
    }

    /// Makes an opener that refuses compressed messages.
    pub(crate) fn opener(&self) -> Opener {
        self.opener_with(OpenOptions::new().max_inflated_bytes(None))
    }

    pub(crate) fn customer(&self) -> Opener {
        self.opener_with(OpenOptions::new())
    }

    pub(crate) fn opener_with(&self, options: OpenOptions) -> Opener {
        Opener::new(self.decryption.clone(), self.verifying(), options).unwrap()
    }
}

/// Returns the five decoded parts of a compact message.
pub(crate) fn parts(compact: &str) -> [Vec<u8>; 5] {
    let parts: Vec<_> = compact
        .split('.')
        .map(|part| base64url::decode(part).unwrap())
        .collect();
    parts.try_into().unwrap()
}

pub(crate) fn compact(parts: &[Vec<u8>; 5]) -> String {
    parts
        .iter()
        .map(|part| base64url::encode(part))
        .collect::<Vec<_>>()
        .join(".")
}

/// Reads a file of the shared vectors; `None` where they are not available.
pub(crate) fn vectors(file: &str) -> Option<Value> {
    let Some(shared) = std::env::var_os("BANKRAIL_SHARED") else {
        eprintln!("BANKRAIL_SHARED not set: skipped");
        return None;
    };
    let path = std::path::PathBuf::from(shared)
        .join("vectors/jose")
        .join(file);
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    Some(serde_json::from_str(&text).unwrap())
}

/// Encrypts any bytes to our key under any header, as an outsider who has the encryption key can.
pub(crate) mod outsider {
    use super::DECRYPTION;
    use aes::Aes256;
    use bankrail_jose::base64url;
    use cbc::cipher::block_padding::Pkcs7;
    use cbc::cipher::{BlockModeEncrypt as _, KeyIvInit as _};
    use hmac::{Hmac, KeyInit as _, Mac as _};
    use sha2::Sha512;

    pub(crate) const HEADER: &str = r#"{"alg":"RSA-OAEP","enc":"A256CBC-HS512"}"#;

    /// A content key whose halves differ: the MAC key, then the encryption key.
    pub(crate) const KEY: [u8; 64] = {
        let mut key = [7; 64];
        let (_, encryption) = key.split_at_mut(32);
        encryption.copy_from_slice(&[8; 32]);
        key
    };

    pub(crate) fn encrypt(header: &str, plain: &[u8]) -> String {
        let text = cbc::Encryptor::<Aes256>::new_from_slices(&KEY[32..], &[9; 16]).unwrap();
        let mut padded = plain.to_vec();
        padded.resize((plain.len() / 16 + 1) * 16, 0);
        text.encrypt_padded::<Pkcs7>(&mut padded, plain.len())
            .unwrap();
        assemble(header, &KEY, &padded)
    }

    /// Makes a message with these blocks as ciphertext and a right tag.
    pub(crate) fn assemble(header: &str, key: &[u8], text: &[u8]) -> String {
        let header = base64url::encode(header.as_bytes());
        let mut mac = Hmac::<Sha512>::new_from_slice(&key[..key.len().min(32)]).unwrap();
        mac.update(header.as_bytes());
        mac.update(&[9; 16]);
        mac.update(text);
        mac.update(&(header.len() as u64 * 8).to_be_bytes());
        let tag = &mac.finalize().into_bytes()[..32];
        let encrypted_key = DECRYPTION.encryption_key().encrypt(key).unwrap();
        let rest = [&encrypted_key[..], &[9; 16], text, tag].map(base64url::encode);
        format!("{header}.{}", rest.join("."))
    }
}
