//! The hash of an API key.

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

    /// The hash of the request's only `apikey`. `None` if there is none, more than one, or one that is empty or longer
    /// than 512 bytes.
    pub(crate) fn of_request(headers: &HeaderMap) -> Option<Self> {
        let mut values = headers.get_all(API_KEY).iter();
        let key = values.next().filter(|_| values.next().is_none())?.as_bytes();
        (!key.is_empty() && key.len() <= MAX_BYTES).then(|| Self::of(key))
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
