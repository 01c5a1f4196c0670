//! AES-256-GCM (NIST SP 800-38D) with a nonce of 96 random bits, by the library of the RSA back
//! end.

use zeroize::Zeroizing;

/// The length of a nonce, in bytes.
pub(crate) const NONCE: usize = 12;

#[cfg(feature = "aws-lc")]
pub(crate) use aws_lc::{open, seal};
#[cfg(not(feature = "aws-lc"))]
pub(crate) use openssl::{open, seal};

#[cfg(feature = "aws-lc")]
pub(crate) mod aws_lc {
    use super::{NONCE, Zeroizing};
    use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};

    fn key(key: &[u8; 32]) -> Option<LessSafeKey> {
        UnboundKey::new(&AES_256_GCM, key)
            .ok()
            .map(LessSafeKey::new)
    }

    /// Encrypts and appends the tag.
    pub(crate) fn seal(
        secret: &[u8; 32],
        nonce: [u8; NONCE],
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
    pub(crate) fn open(
        secret: &[u8; 32],
        nonce: [u8; NONCE],
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
pub(crate) mod openssl {
    use super::{NONCE, Zeroizing};
    use openssl::symm::{Cipher, decrypt_aead, encrypt_aead};

    const TAG: usize = 16;

    /// Encrypts and appends the tag.
    pub(crate) fn seal(
        secret: &[u8; 32],
        nonce: [u8; NONCE],
        associated: &[u8],
        text: Zeroizing<Vec<u8>>,
    ) -> Option<Vec<u8>> {
        let mut tag = [0; TAG];
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
    pub(crate) fn open(
        secret: &[u8; 32],
        nonce: [u8; NONCE],
        associated: &[u8],
        encrypted: &[u8],
    ) -> Option<Zeroizing<Vec<u8>>> {
        let (text, tag) = encrypted.split_last_chunk::<TAG>()?;
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
