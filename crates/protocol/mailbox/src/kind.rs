//! The kind of an entry's message.

use std::borrow::Cow;
use std::fmt;

/// The name of a kind of message: 1 to 64 of `a` to `z`, `0` to `9`, `_`, `-` and `.`.
///
/// The mailbox does not interpret a kind: workers lease by it, and engines store its text.
///
/// ```
/// use bankrail_mailbox::Kind;
///
/// const QUERY: Kind = Kind::from_static("query");
/// assert_eq!(Kind::parse("query"), Ok(QUERY));
/// assert!(Kind::parse("Query").is_err()); // upper case
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Kind(Cow<'static, str>);

impl Kind {
    /// Makes a kind with a constant name.
    ///
    /// # Panics
    /// For an invalid name; at compile time in a constant.
    #[must_use]
    pub const fn from_static(name: &'static str) -> Self {
        assert!(is_name(name.as_bytes()), "expected the name of a kind");
        Self(Cow::Borrowed(name))
    }

    /// Checks a name.
    ///
    /// # Errors
    /// [`KindError`] for a text that is not the name of a kind.
    pub fn parse(name: &str) -> Result<Self, KindError> {
        if is_name(name.as_bytes()) {
            Ok(Self(Cow::Owned(name.to_owned())))
        } else {
            Err(KindError)
        }
    }

    /// Returns the name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

const fn is_name(mut name: &[u8]) -> bool {
    if name.is_empty() || name.len() > 64 {
        return false;
    }
    while let [first, rest @ ..] = name {
        if !matches!(first, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' | b'.') {
            return false;
        }
        name = rest;
    }
    true
}

impl fmt::Display for Kind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// The error of a text that is not the name of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected 1 to 64 lower-case letters, digits, '_', '-' and '.'")]
#[non_exhaustive]
pub struct KindError;
