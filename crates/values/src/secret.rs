//! Secrets that do not print.

use std::fmt;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

/// A secret text: an API key or an access token.
///
/// - `Debug` prints no part of it, and there is no `Display` and no serde.
/// - `==` takes the same time wherever two secrets of one length differ.
/// - The memory is overwritten when it is dropped.
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
    /// The secret itself. Hand it to the wire, never to a log.
    #[must_use]
    pub fn expose_secret(&self) -> &str {
        &self.0
    }

    /// Compares with text that came from the wire, in constant time for one length.
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

impl fmt::Debug for SecretString {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("SecretString(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printing_shows_nothing() {
        let secret = SecretString::from("hunter2");
        assert!(!format!("{secret:?} {secret:#?}").contains("hunter"));
        assert!(secret.matches(b"hunter2") && !secret.matches(b"hunter") && !secret.matches(b""));
    }
}
