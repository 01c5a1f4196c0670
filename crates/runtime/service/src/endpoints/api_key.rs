//! The hash of an API key, and the customer whose key a request has.

use super::directory::{Customer, Directory};
use super::refusal::Refusal;
use bankrail_http::content;
use bankrail_http::names::API_KEY;
use bankrail_values::SecretString;
use http::HeaderMap;
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// The length of the longest key that is looked up, in bytes.
const MAX_BYTES: usize = 512;

bankrail_values::hash_value! {
    @type
    /// The SHA-256 of an API key. A [`Directory`](crate::Directory) finds customers by it, so that
    /// the keys themselves are not stored. Its text is what `printf %s "$KEY" | sha256sum` prints.
    ///
    /// A hash without salt is enough only for keys of 128 or more random bits: do not use keys that
    /// a person made up.
    ///
    /// ```
    /// use bankrail_service::ApiKeyHash;
    /// let hash = ApiKeyHash::of("b1e0a5c2".as_bytes());
    /// assert_eq!(hash, ApiKeyHash::of(b"b1e0a5c2"));
    /// ```
    pub struct ApiKeyHash;
}

bankrail_values::impl_debug!(ApiKeyHash);

impl ApiKeyHash {
    /// Returns the hash of a key.
    #[must_use]
    pub fn of(key: &[u8]) -> Self {
        Self(Sha256::digest(key).into())
    }

    /// Returns the hash of the request's only `apikey`; `None` if there is none, more than one, or
    /// one that is empty or longer than 512 bytes.
    fn of_request(headers: &HeaderMap) -> Option<Self> {
        let key = content::only(headers, &API_KEY)?.as_bytes();
        // Bounded, so that a stranger's header costs one short hash.
        (!key.is_empty() && key.len() <= MAX_BYTES).then(|| Self::of(key))
    }
}

/// Returns the customer whose API key the request has.
pub(super) async fn customer_of(
    headers: &HeaderMap,
    directory: &dyn Directory,
) -> Result<Arc<Customer>, Refusal> {
    let customer = match ApiKeyHash::of_request(headers) {
        Some(key) => directory
            .customer_by_api_key(key)
            .await
            .map_err(Refusal::Store)?,
        None => None,
    };
    customer.ok_or_else(|| match headers.contains_key(API_KEY) {
        // Repeated, empty, too long or not known.
        true => Refusal::ApiKey("Invalid API key"),
        false => Refusal::ApiKey("API key required"),
    })
}

impl From<&SecretString> for ApiKeyHash {
    fn from(key: &SecretString) -> Self {
        Self::of(key.expose_secret().as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    #[test]
    fn the_text_is_what_sha256sum_prints() {
        let hex = "2c70e12b7a0646f92279f427c7b38e7334d8e5389cff167a1dc30e73f826b683";
        assert_eq!(ApiKeyHash::of(b"key").to_string(), hex);
        assert_eq!(hex.parse(), Ok(ApiKeyHash::of(b"key")));
        assert_eq!(format!("{:?}", ApiKeyHash::of(b"key")), "ApiKeyHash(…)");
    }

    #[test]
    fn one_key_of_a_sensible_length() {
        let mut headers = HeaderMap::new();
        assert_eq!(ApiKeyHash::of_request(&headers), None);
        headers.append("apikey", HeaderValue::from_static("abc"));
        assert_eq!(
            ApiKeyHash::of_request(&headers),
            Some(ApiKeyHash::of(b"abc"))
        );
        headers.append("apikey", HeaderValue::from_static("abc"));
        assert_eq!(ApiKeyHash::of_request(&headers), None);
        for (key, taken) in [
            ("", false),
            (&*"k".repeat(512), true),
            (&*"k".repeat(513), false),
        ] {
            headers.insert("apikey", HeaderValue::from_str(key).unwrap());
            assert_eq!(
                ApiKeyHash::of_request(&headers).is_some(),
                taken,
                "{}",
                key.len()
            );
        }
    }
}
