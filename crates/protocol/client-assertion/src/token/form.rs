//! The form that requests a token (Specification: "Obtain access token").

use super::{ScopeError, ScopeSet, TokenErrorCode};
use crate::CustomerCode;
use bankrail_values::{SecretString, excerpt};
use std::borrow::Cow;

/// The media type of the form.
pub const FORM_CONTENT_TYPE: &str = "application/x-www-form-urlencoded";

/// A request for an access token: the client credentials grant with a JWT assertion (RFC 7523
/// section 2.2).
///
/// A request has an assertion, which is not yet verified, and at least one scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenRequest {
    assertion: SecretString,
    scope: ScopeSet,
    client_id: Option<Box<str>>,
}

impl TokenRequest {
    /// The only `grant_type` accepted.
    pub const GRANT_TYPE: &'static str = "client_credentials";
    /// The only `client_assertion_type` accepted.
    pub const ASSERTION_TYPE: &'static str =
        "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
    /// The maximum length of a form, in bytes.
    pub const MAX_BYTES: usize = 32 * 1024;
    /// The maximum number of parameters of a form.
    pub const MAX_PARAMETERS: usize = 64;

    /// Returns a request with a signed assertion.
    #[must_use]
    pub fn new(assertion: impl Into<SecretString>, scope: ScopeSet) -> Self {
        Self {
            assertion: assertion.into(),
            scope,
            client_id: None,
        }
    }

    /// Adds `client_id`, which is optional.
    #[must_use]
    pub fn with_client_id(mut self, customer: &CustomerCode) -> Self {
        self.client_id = Some(customer.as_str().into());
        self
    }

    /// Returns the assertion, which is not verified. The assertion is a credential: pass it to a
    /// verifier, and never log it.
    #[must_use]
    pub fn assertion(&self) -> &SecretString {
        &self.assertion
    }

    /// Returns the scopes requested.
    #[must_use]
    pub fn scope(&self) -> &ScopeSet {
        &self.scope
    }

    /// Returns the form's `client_id`. The value must equal the verified assertion's `sub` (RFC
    /// 7521 section 4.2).
    #[must_use]
    pub fn client_id(&self) -> Option<&str> {
        self.client_id.as_deref()
    }

    /// Writes the form.
    #[must_use]
    pub fn to_form(&self) -> String {
        let mut form = form_urlencoded::Serializer::new(String::new());
        form.append_pair("grant_type", Self::GRANT_TYPE)
            .append_pair("client_assertion_type", Self::ASSERTION_TYPE)
            .append_pair("scope", &self.scope.to_string())
            .append_pair("client_assertion", self.assertion.expose_secret());
        if let Some(client_id) = &self.client_id {
            form.append_pair("client_id", client_id);
        }
        form.finish()
    }

    /// Reads a form.
    ///
    /// - `content_type` is the request's header. Parameters such as `;charset=UTF-8` are allowed in
    ///   it.
    /// - Unknown parameters are ignored. A parameter without a value counts as absent. A parameter
    ///   that is repeated is refused, even an unknown one (RFC 6749 section 3.2).
    ///
    /// # Errors
    /// [`TokenRequestError`]. Answer every such error with status 400 and
    /// [`TokenRequestError::code`].
    pub fn from_form(content_type: Option<&str>, body: &[u8]) -> Result<Self, TokenRequestError> {
        check_content_type(content_type)?;
        if body.len() > Self::MAX_BYTES {
            return Err(TokenRequestError::TooLarge {
                limit: Self::MAX_BYTES,
                found: body.len(),
            });
        }
        // Bytes that are not UTF-8 become U+FFFD, which the checks of all used values refuse.
        Self::of(&Form::collect(parameters(body))?)
    }

    fn of(form: &Form<'_>) -> Result<Self, TokenRequestError> {
        let grant_type = form.required("grant_type")?;
        if grant_type != Self::GRANT_TYPE {
            return Err(TokenRequestError::GrantType {
                found: excerpt(grant_type),
            });
        }
        let assertion_type = form.required("client_assertion_type")?;
        if assertion_type != Self::ASSERTION_TYPE {
            return Err(TokenRequestError::AssertionType {
                found: excerpt(assertion_type),
            });
        }
        let assertion = form.required("client_assertion")?;
        let scope = ScopeSet::parse(form.required("scope")?).map_err(TokenRequestError::Scope)?;
        Ok(Self {
            assertion: assertion.into(),
            scope,
            client_id: form.optional("client_id").map(Into::into),
        })
    }
}

/// Serializes the parameters of [`TokenRequest::to_form`] in their order, with the assertion in the
/// clear.
#[cfg(feature = "serde")]
impl serde::Serialize for TokenRequest {
    fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap as _;
        let mut form = out.serialize_map(None)?;
        form.serialize_entry("grant_type", Self::GRANT_TYPE)?;
        form.serialize_entry("client_assertion_type", Self::ASSERTION_TYPE)?;
        form.serialize_entry("scope", &self.scope)?;
        form.serialize_entry("client_assertion", self.assertion.expose_secret())?;
        if let Some(client_id) = &self.client_id {
            form.serialize_entry("client_id", client_id)?;
        }
        form.end()
    }
}

/// Reads parameters, each a text, under the rules of [`TokenRequest::from_form`].
#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for TokenRequest {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(Parameters)
    }
}

#[cfg(feature = "serde")]
struct Parameters;

#[cfg(feature = "serde")]
impl<'de> serde::de::Visitor<'de> for Parameters {
    type Value = TokenRequest;

    fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("the parameters of a token request")
    }

    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<TokenRequest, A::Error> {
        use serde::de::Error as _;
        let (mut form, mut bytes) = (Form(Vec::new()), 0);
        while let Some((name, value)) = map.next_entry::<String, String>()? {
            bytes += name.len() + value.len();
            if bytes > TokenRequest::MAX_BYTES {
                let limit = TokenRequest::MAX_BYTES;
                let error = TokenRequestError::TooLarge {
                    limit,
                    found: bytes,
                };
                return Err(A::Error::custom(error));
            }
            form.add(name.into(), value.into())
                .map_err(A::Error::custom)?;
        }
        TokenRequest::of(&form).map_err(A::Error::custom)
    }
}

/// The decoded parameters, with distinct names.
struct Form<'a>(Vec<(Cow<'a, str>, Cow<'a, str>)>);

impl<'a> Form<'a> {
    fn collect(
        parameters: impl IntoIterator<Item = (Cow<'a, str>, Cow<'a, str>)>,
    ) -> Result<Self, TokenRequestError> {
        let mut form = Self(Vec::new());
        for (name, value) in parameters {
            form.add(name, value)?;
        }
        Ok(form)
    }

    fn add(&mut self, name: Cow<'a, str>, value: Cow<'a, str>) -> Result<(), TokenRequestError> {
        let Self(form) = self;
        if form.len() == TokenRequest::MAX_PARAMETERS {
            return Err(TokenRequestError::TooManyParameters {
                limit: TokenRequest::MAX_PARAMETERS,
            });
        }
        if form.iter().any(|(known, _)| *known == name) {
            return Err(TokenRequestError::Repeated {
                parameter: excerpt(&name),
            });
        }
        form.push((name, value));
        Ok(())
    }

    fn optional(&self, name: &str) -> Option<&str> {
        self.0
            .iter()
            .find(|(known, value)| known == name && !value.is_empty())
            .map(|(_, value)| value.as_ref())
    }

    fn required(&self, parameter: &'static str) -> Result<&str, TokenRequestError> {
        self.optional(parameter)
            .ok_or(TokenRequestError::Missing { parameter })
    }
}

/// Returns the parameters, decoded. Parameters without escapes, such as the assertion, are not
/// decoded, because decoding them costs more than reading the assertion.
fn parameters(body: &[u8]) -> impl Iterator<Item = (Cow<'_, str>, Cow<'_, str>)> {
    let decoded = |part| without_escape(part).or_else(|| form_urlencoded::parse(part).next());
    body.split(|byte| *byte == b'&').filter_map(decoded)
}

fn without_escape(part: &[u8]) -> Option<(Cow<'_, str>, Cow<'_, str>)> {
    if part.is_empty() || part.iter().any(|byte| matches!(byte, b'%' | b'+')) {
        return None;
    }
    let part = std::str::from_utf8(part).ok()?;
    let (name, value) = part.split_once('=').unwrap_or((part, ""));
    Some((name.into(), value.into()))
}

/// Compares the media type without its parameters, in any case (RFC 9110 section 8.3.1).
fn check_content_type(content_type: Option<&str>) -> Result<(), TokenRequestError> {
    let essence = content_type
        .and_then(|value| value.split(';').next())
        .unwrap_or_default();
    if essence
        .trim_matches([' ', '\t'])
        .eq_ignore_ascii_case(FORM_CONTENT_TYPE)
    {
        return Ok(());
    }
    Err(TokenRequestError::ContentType {
        found: content_type.map(excerpt),
    })
}

/// The reason why a form is not a token request. Answer with HTTP status 400 and
/// [`TokenRequestError::code`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TokenRequestError {
    /// The form has another media type or none.
    #[error("expected the content type {FORM_CONTENT_TYPE}, found {}", found.as_deref().unwrap_or("none"))]
    ContentType {
        /// The header's value, cut and escaped.
        found: Option<String>,
    },
    /// The form is longer than [`TokenRequest::MAX_BYTES`].
    #[error("expected a form of at most {limit} bytes, found {found}")]
    TooLarge {
        /// The maximum, in bytes.
        limit: usize,
        /// The length found, in bytes.
        found: usize,
    },
    /// The form has more than [`TokenRequest::MAX_PARAMETERS`] parameters.
    #[error("expected at most {limit} parameters, found more")]
    TooManyParameters {
        /// The maximum number of parameters.
        limit: usize,
    },
    /// A parameter is repeated.
    #[error("expected each parameter once, found {parameter} again")]
    Repeated {
        /// The name of the parameter, cut and escaped.
        parameter: String,
    },
    /// A required parameter is absent or empty.
    #[error("expected the parameter {parameter}, found none")]
    Missing {
        /// The name of the parameter.
        parameter: &'static str,
    },
    /// The grant type is not `client_credentials`.
    #[error("expected the grant type {}, found {found}", TokenRequest::GRANT_TYPE)]
    GrantType {
        /// The value, cut and escaped.
        found: String,
    },
    /// The assertion type is not that of the JWT bearer.
    #[error(
        "expected the assertion type {}, found {found}",
        TokenRequest::ASSERTION_TYPE
    )]
    AssertionType {
        /// The value, cut and escaped.
        found: String,
    },
    /// The scope is malformed.
    #[error("the scope is malformed: {0}")]
    Scope(ScopeError),
}

impl TokenRequestError {
    /// Returns the error code for the counterparty. The status of the answer is always 400.
    #[must_use]
    pub fn code(&self) -> TokenErrorCode {
        match self {
            Self::GrantType { .. } => TokenErrorCode::UnsupportedGrantType,
            Self::Scope(_) => TokenErrorCode::InvalidScope,
            _ => TokenErrorCode::InvalidRequest,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    const BYTES: &[u8] = b"a&=%+2\x00\xC3\xA4\xFF";

    proptest! {
        #[test]
        fn parameters_are_what_the_standard_reader_finds(body in vec(select(BYTES), 0..24)) {
            let found: Vec<_> = parameters(&body).collect();
            prop_assert_eq!(found, form_urlencoded::parse(&body).collect::<Vec<_>>());
        }
    }
}
