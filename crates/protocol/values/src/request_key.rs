//! The request key, a header of every answer.

use crate::HyphenatedUuid;
use http::{Extensions, HeaderMap, HeaderName, HeaderValue};
use std::fmt;

/// The key that a service gives to a request (Specification: "What the service does"): a UUID, sent
/// in the header `X-RequestKey` of the answer. Support staff use it to find the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RequestKey(HyphenatedUuid);

impl RequestKey {
    /// The header's name, `X-RequestKey`.
    pub const HEADER: HeaderName = HeaderName::from_static("x-requestkey");

    /// Returns a new random (version 4) key.
    #[must_use]
    pub fn random() -> Self {
        Self(HyphenatedUuid::random())
    }

    /// Returns the key that `bankrail-http`'s `RequestKeyLayer` put into a request's extensions.
    #[must_use]
    pub fn of(extensions: &Extensions) -> Option<Self> {
        extensions.get().copied()
    }

    /// Returns the key of the only `X-RequestKey` header. `None` if there is none, more than one,
    /// or if it is not a hyphenated UUID.
    #[must_use]
    pub fn from_headers(headers: &HeaderMap) -> Option<Self> {
        let mut values = headers.get_all(Self::HEADER).iter();
        let text = values.next()?.to_str().ok()?;
        if values.next().is_some() {
            return None;
        }
        HyphenatedUuid::parse(text.trim_matches([' ', '\t']))
            .ok()
            .map(Self)
    }

    /// Returns the UUID.
    #[must_use]
    pub const fn uuid(self) -> HyphenatedUuid {
        self.0
    }
}

impl fmt::Display for RequestKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, out)
    }
}

impl From<RequestKey> for HeaderValue {
    fn from(key: RequestKey) -> Self {
        let mut text = uuid::Uuid::encode_buffer();
        let text = key.0.to_uuid().hyphenated().encode_lower(&mut text);
        Self::from_str(text).expect("digits and hyphens are a header value")
    }
}
