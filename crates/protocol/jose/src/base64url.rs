//! Canonical unpadded base64url (RFC 7515 section 2, RFC 4648 section 3.5).
//!
//! Each byte string has exactly one encoding: padding, white space, the `+/` alphabet and non-zero
//! trailing bits are refused. A token therefore cannot evade a replay check on its text by another
//! encoding of the same bytes.

use base64::Engine as _;
#[cfg(not(any(
    target_arch = "x86_64",
    all(target_arch = "aarch64", target_feature = "neon")
)))]
use base64::engine::general_purpose::URL_SAFE_NO_PAD as ENGINE;
#[cfg(any(
    target_arch = "x86_64",
    all(target_arch = "aarch64", target_feature = "neon")
))]
use base64::engine::{Simd, general_purpose::NO_PAD};

/// Uses the processor's vector instructions, if it has them.
#[cfg(any(
    target_arch = "x86_64",
    all(target_arch = "aarch64", target_feature = "neon")
))]
static ENGINE: std::sync::LazyLock<Simd> = std::sync::LazyLock::new(|| Simd::url_safe(NO_PAD));

/// The text is not canonical unpadded base64url.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected canonical base64url without padding")]
#[non_exhaustive]
pub struct Base64Error;

/// Decodes `text`.
///
/// # Errors
/// [`Base64Error`] unless `text` is the canonical encoding.
pub fn decode(text: &str) -> Result<Vec<u8>, Base64Error> {
    ENGINE.decode(text).map_err(|_| Base64Error)
}

/// Encodes `bytes`.
#[must_use]
pub fn encode(bytes: &[u8]) -> String {
    ENGINE.encode(bytes)
}

/// Encodes `bytes` and appends the text.
pub fn encode_into(bytes: &[u8], text: &mut String) {
    ENGINE.encode_string(bytes, text);
}

/// Returns the number of characters in the encoding of this many bytes.
#[must_use]
pub const fn encoded_len(bytes: usize) -> usize {
    bytes
        .div_ceil(3)
        .saturating_mul(4)
        .saturating_sub(match bytes % 3 {
            1 => 2,
            2 => 1,
            _ => 0,
        })
}
