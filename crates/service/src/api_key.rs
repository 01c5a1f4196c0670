//! The hash of an API key.

use bankrail_http::content;
use bankrail_http::names::API_KEY;
use bankrail_values::SecretString;
use http::HeaderMap;
use sha2::{Digest, Sha256};
use std::fmt;

/// The length of the longest key that is looked up, in bytes.
const MAX_BYTES: usize = 512;

/// The SHA-256 of an API key. A [`Directory`](crate::Directory) finds customers by it, so that the keys themselves are
/// not stored.
///
/// A hash without salt is enough only for keys of 128 or more random bits: do not use keys that a person made up.
///
/// ```
/// use bankrail_service::ApiKeyHash;
/// let hash = ApiKeyHash::of("b1e0a5c2".as_bytes());
/// assert_eq!(hash, ApiKeyHash::of(b"b1e0a5c2"));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ApiKeyHash([u8; 32]);

impl ApiKeyHash {
    /// The hash of a key.
    #[must_use]
    pub fn of(key: &[u8]) -> Self {
        Self(Sha256::digest(key).into())
    }

    /// A hash that was stored.
    #[must_use]
    pub const fn from_bytes(hash: [u8; 32]) -> Self {
        Self(hash)
    }

    /// The hash, to be stored.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The hash from 64 hexadecimal digits, as `printf %s "$KEY" | sha256sum` prints them. `None` for any other text.
    #[must_use]
    pub fn from_hex(hex: &str) -> Option<Self> {
        let mut hash = [0; 32];
        let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        let (pairs, rest) = hex.as_bytes().as_chunks::<2>();
        if pairs.len() != hash.len() || !rest.is_empty() {
            return None;
        }
        for (byte, [high, low]) in hash.iter_mut().zip(pairs) {
            *byte = digit(*high)? << 4 | digit(*low)?;
        }
        Some(Self(hash))
    }

    /// The hash as 64 lower-case hexadecimal digits.
    #[must_use]
    pub fn to_hex(&self) -> String {
        hex(&self.0)
    }

    /// The hash of the request's only `apikey`. `None` if there is none, more than one, or one that is empty or longer
    /// than 512 bytes.
    pub(crate) fn of_request(headers: &HeaderMap) -> Option<Self> {
        let key = content::only(headers, &API_KEY)?.as_bytes();
        (!key.is_empty() && key.len() <= MAX_BYTES).then(|| Self::of(key))
    }
}

/// The bytes as lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What is wrong with a request's API key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ApiKeyFault {
    Absent,
    /// Repeated, empty, too long or not known.
    Invalid,
}

impl ApiKeyFault {
    /// The text of the answer.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Absent => "API key required",
            Self::Invalid => "Invalid API key",
        }
    }
}

impl From<&SecretString> for ApiKeyHash {
    fn from(key: &SecretString) -> Self {
        Self::of(key.expose_secret().as_bytes())
    }
}

impl fmt::Debug for ApiKeyHash {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("ApiKeyHash(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    #[test]
    fn hexadecimal_digits() {
        let hex = "2c70e12b7a0646f92279f427c7b38e7334d8e5389cff167a1dc30e73f826b683";
        assert_eq!(ApiKeyHash::of(b"key").to_hex(), hex);
        assert_eq!(ApiKeyHash::from_hex(hex), Some(ApiKeyHash::of(b"key")));
        assert_eq!(ApiKeyHash::from_hex(&hex.to_uppercase()), Some(ApiKeyHash::of(b"key")));
        for other in ["", "2c", &hex[1..], &format!("{hex}0"), &hex.replace('7', "+"), &"é".repeat(32)] {
            assert_eq!(ApiKeyHash::from_hex(other), None, "{other}");
        }
    }

    #[test]
    fn one_key_of_a_sensible_length() {
        let mut headers = HeaderMap::new();
        assert_eq!(ApiKeyHash::of_request(&headers), None);
        headers.append("apikey", HeaderValue::from_static("abc"));
        assert_eq!(ApiKeyHash::of_request(&headers), Some(ApiKeyHash::of(b"abc")));
        headers.append("apikey", HeaderValue::from_static("abc"));
        assert_eq!(ApiKeyHash::of_request(&headers), None);
        for (key, taken) in [("", false), (&*"k".repeat(512), true), (&*"k".repeat(513), false)] {
            headers.insert("apikey", HeaderValue::from_str(key).unwrap());
            assert_eq!(ApiKeyHash::of_request(&headers).is_some(), taken, "{}", key.len());
        }
    }
}
