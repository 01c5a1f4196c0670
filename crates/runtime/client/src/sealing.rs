//! Sealing of what this side keeps in a store: AES-256-GCM with a secret of the caller's.

mod aead;
#[cfg(feature = "connection")]
mod file;
mod secret;

#[cfg(feature = "connection")]
pub use file::SealingSecretFileError;
pub use secret::{SealingSecret, SealingSecretError};

use zeroize::Zeroizing;

/// The version of the sealed form, its first byte. What has another one is not opened.
pub(crate) const VERSION: u8 = 1;

/// Seals a text, bound to the associated bytes. `None` without random bytes from the system. The
/// text needs room for the tag, so that no copy of it is left behind.
pub(crate) fn seal(
    secret: &SealingSecret,
    associated: &[u8],
    text: Zeroizing<Vec<u8>>,
) -> Option<Vec<u8>> {
    let nonce: [u8; aead::NONCE] = bankrail_values::random_bytes().ok()?;
    let encrypted = aead::seal(secret.as_bytes(), nonce, associated, text)?;
    Some([&[VERSION], nonce.as_slice(), &encrypted].concat())
}

/// Opens what was sealed with this secret and bound to these bytes.
pub(crate) fn open(
    secret: &SealingSecret,
    associated: &[u8],
    sealed: &[u8],
) -> Option<Zeroizing<Vec<u8>>> {
    let (version, rest) = sealed.split_first()?;
    let (nonce, encrypted) = rest.split_first_chunk()?;
    if *version == VERSION {
        aead::open(secret.as_bytes(), *nonce, associated, encrypted)
    } else {
        None
    }
}

#[cfg(test)]
mod tests;
