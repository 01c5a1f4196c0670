//! Sealing of the records that this side stores, with AES-256-GCM (NIST SP 800-38D). The key is the
//! caller's secret, the nonce is 96 random bits, and the library is that of the RSA back end.

#[cfg(feature = "aws-lc")]
use self::aws_lc as cipher;
#[cfg(not(feature = "aws-lc"))]
use self::openssl as cipher;
use bankrail_http::{
    __private::{open_or_create_secret, secret_from_base64},
    SecretError, SecretFileError,
};
use std::path::Path;
use zeroize::Zeroizing;

/// The length of a nonce, in bytes.
const NONCE_BYTES: usize = 12;

/// The version of the sealed form, its first byte. A text of another version is not opened.
pub(crate) const VERSION: u8 = 1;

/// Seals a text, bound to the associated bytes. Returns `None` if the system gives no random bytes.
/// The text's buffer needs room for the tag, so that no copy is left in memory.
pub(crate) fn seal(
    secret: &SealingSecret,
    associated: &[u8],
    text: Zeroizing<Vec<u8>>,
) -> Option<Vec<u8>> {
    // Random, because processes that share the secret share no counter. SP 800-38D allows 2^32
    // texts for one secret then, far more than there are tokens or records.
    let nonce: [u8; NONCE_BYTES] = bankrail_values::random_bytes().ok()?;
    let encrypted = cipher::seal(&secret.0, nonce, associated, text)?;
    Some([&[VERSION], nonce.as_slice(), &encrypted].concat())
}

/// Opens a text that was sealed with this secret and bound to these bytes.
pub(crate) fn open(
    secret: &SealingSecret,
    associated: &[u8],
    sealed: &[u8],
) -> Option<Zeroizing<Vec<u8>>> {
    let (version, rest) = sealed.split_first()?;
    let (nonce, encrypted) = rest.split_first_chunk()?;
    if *version == VERSION {
        cipher::open(&secret.0, *nonce, associated, encrypted)
    } else {
        None
    }
}

/// The secret that seals stored records: a customer's tokens in a
/// [`TokenCache`](bankrail_client_assertion::token::TokenCache), or the records of an
/// [`Archive`](crate::Archive). The secret is 32 random bytes, the same after a restart and in all
/// processes that share the store.
///
/// - Keep it apart from the store, as the signing key is: anybody who has both can read the
///   records.
/// - Use it for one store only: a cache of tokens and an archive each have their own secret.
/// - Records sealed with another secret cannot be opened any more. For tokens that costs one
///   token call; an archive is lost.
/// - `Debug` shows no part of the secret, and its memory is overwritten on drop.
///
/// ```
/// use bankrail_client::SealingSecret;
/// // As `openssl rand -base64 32` writes it.
/// let secret = SealingSecret::from_base64("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n")?;
/// assert_eq!(format!("{secret:?}"), "SealingSecret(…)");
/// # Ok::<(), bankrail_client::SecretError>(())
/// ```
#[derive(Clone)]
pub struct SealingSecret(Zeroizing<[u8; SealingSecret::LEN]>);

impl SealingSecret {
    /// The length of a secret, in bytes.
    pub const LEN: usize = 32;

    /// Makes a secret from 32 random bytes.
    #[must_use]
    pub fn from_bytes(secret: [u8; Self::LEN]) -> Self {
        Self(Zeroizing::new(secret))
    }

    /// Reads 32 bytes in standard base64 with padding (RFC 4648 section 4). White space around the
    /// text is ignored.
    ///
    /// # Errors
    /// [`SecretError`] for any other text. The error does not have the text.
    pub fn from_base64(text: &str) -> Result<Self, SecretError> {
        secret_from_base64(text).map(Self)
    }

    /// Reads the secret from a file, in base64. If there is no such file, it is made with a new
    /// secret. The file is whole from the moment that it has its name, and only its owner can read
    /// it. If several processes make it at the same moment, all get the secret of the first.
    ///
    /// # Errors
    /// [`SecretFileError`] if the file cannot be read or made, or has other content. If the file
    /// was removed, a file with another secret is made, and records that were sealed with the old
    /// secret cannot be opened any more.
    pub fn open_or_create(path: impl AsRef<Path>) -> Result<Self, SecretFileError> {
        open_or_create_secret(path.as_ref()).map(Self)
    }
}

bankrail_values::impl_debug!(SealingSecret);

#[cfg(feature = "aws-lc")]
mod aws_lc {
    use super::{NONCE_BYTES, Zeroizing};
    use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};

    fn key(key: &[u8; 32]) -> Option<LessSafeKey> {
        UnboundKey::new(&AES_256_GCM, key)
            .ok()
            .map(LessSafeKey::new)
    }

    /// Encrypts and appends the tag.
    pub(super) fn seal(
        secret: &[u8; 32],
        nonce: [u8; NONCE_BYTES],
        associated: &[u8],
        mut text: Zeroizing<Vec<u8>>,
    ) -> Option<Vec<u8>> {
        let nonce = Nonce::assume_unique_for_key(nonce);
        key(secret)?
            .seal_in_place_append_tag(nonce, Aad::from(associated), &mut *text)
            .ok()?;
        Some(std::mem::take(&mut *text))
    }

    /// Checks the tag and decrypts.
    pub(super) fn open(
        secret: &[u8; 32],
        nonce: [u8; NONCE_BYTES],
        associated: &[u8],
        encrypted: &[u8],
    ) -> Option<Zeroizing<Vec<u8>>> {
        let mut text = Zeroizing::new(encrypted.to_vec());
        let nonce = Nonce::assume_unique_for_key(nonce);
        let length = key(secret)?
            .open_in_place(nonce, Aad::from(associated), &mut text)
            .ok()?
            .len();
        text.truncate(length);
        Some(text)
    }
}

#[cfg(all(feature = "josekit", any(test, not(feature = "aws-lc"))))]
mod openssl {
    use super::{NONCE_BYTES, Zeroizing};
    use openssl::symm::{Cipher, decrypt_aead, encrypt_aead};

    const TAG_BYTES: usize = 16;

    /// Encrypts and appends the tag.
    pub(super) fn seal(
        secret: &[u8; 32],
        nonce: [u8; NONCE_BYTES],
        associated: &[u8],
        text: Zeroizing<Vec<u8>>,
    ) -> Option<Vec<u8>> {
        let mut tag = [0; TAG_BYTES];
        let mut sealed = encrypt_aead(
            Cipher::aes_256_gcm(),
            secret,
            Some(&nonce),
            associated,
            &text,
            &mut tag,
        )
        .ok()?;
        sealed.extend_from_slice(&tag);
        Some(sealed)
    }

    /// Checks the tag and decrypts.
    pub(super) fn open(
        secret: &[u8; 32],
        nonce: [u8; NONCE_BYTES],
        associated: &[u8],
        encrypted: &[u8],
    ) -> Option<Zeroizing<Vec<u8>>> {
        let (text, tag) = encrypted.split_last_chunk::<TAG_BYTES>()?;
        decrypt_aead(
            Cipher::aes_256_gcm(),
            secret,
            Some(&nonce),
            associated,
            text,
            tag,
        )
        .ok()
        .map(Zeroizing::new)
    }
}

#[cfg(test)]
mod tests;
