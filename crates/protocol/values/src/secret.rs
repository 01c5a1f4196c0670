//! Secrets that are not printed.

use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

/// A secret text: an API key or an access token.
///
/// - `Debug` prints no part of the secret. The type implements neither `Display` nor serde's
///   traits.
/// - `==` takes the same time wherever two secrets of the same length differ.
/// - The memory is overwritten when the secret is dropped.
///
/// ```
/// use bankrail_values::SecretString;
/// let key = SecretString::from("k-123".to_owned());
/// assert_eq!(format!("{key:?}"), "SecretString(…)");
/// assert!(key == SecretString::from("k-123".to_owned()));
/// ```
#[derive(Clone)]
pub struct SecretString(Zeroizing<String>);

impl SecretString {
    /// Returns the secret itself. Send it to the peer, and never write it to a log.
    #[must_use]
    pub fn expose_secret(&self) -> &str {
        &self.0
    }

    /// Compares the secret with received bytes, in constant time if the lengths are equal.
    #[must_use]
    pub fn matches(&self, presented: &[u8]) -> bool {
        self.0.as_bytes().ct_eq(presented).into()
    }
}

impl From<String> for SecretString {
    fn from(secret: String) -> Self {
        Self(Zeroizing::new(secret))
    }
}

impl From<&str> for SecretString {
    fn from(secret: &str) -> Self {
        Self(Zeroizing::new(secret.to_owned()))
    }
}

impl PartialEq for SecretString {
    fn eq(&self, other: &Self) -> bool {
        self.matches(other.0.as_bytes())
    }
}

impl Eq for SecretString {}

crate::impl_debug!(SecretString);
