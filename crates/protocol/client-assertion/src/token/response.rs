//! The successful answer of the token endpoint (RFC 6749 section 5.1).

use super::{AccessToken, AccessTokenError, GrantedScopes, ScopeError, ScopeSet};
use bankrail_values::excerpt;
use bankrail_values::json::{self, JsonError, JsonLimits, JsonObject, JsonObjectWriter, JsonValue};
use std::time::Duration;
use zeroize::Zeroize as _;

/// The JSON body of a granted token request (Specification: "Access token response"). `token_type`
/// is always `Bearer`.
///
/// Send the body with `Content-Type: application/json`, `Cache-Control: no-store` and `Pragma:
/// no-cache`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TokenResponse {
    /// The token.
    pub access_token: AccessToken,
    /// The remaining lifetime of the token, in seconds.
    pub expires_in: u64,
    /// The scopes granted, if they differ from the scopes requested.
    pub scope: Option<ScopeSet>,
}

impl TokenResponse {
    /// The only token type.
    pub const TOKEN_TYPE: &'static str = "Bearer";
    /// The maximum length of a body, in bytes.
    pub const MAX_BYTES: usize = 64 * 1024;
    /// The default lifetime of a token, in seconds (Default: "Token endpoint").
    pub const DEFAULT_LIFETIME: u64 = 3600;

    /// Returns the response for a new token. `scope` is present only if it differs from the scopes
    /// requested.
    #[must_use]
    pub fn new(access_token: AccessToken, expires_in: u64, granted: &GrantedScopes) -> Self {
        Self {
            access_token,
            expires_in,
            scope: granted.scope_to_return().cloned(),
        }
    }

    /// Returns [`TokenResponse::expires_in`] as a duration.
    #[must_use]
    pub fn lifetime(&self) -> Duration {
        Duration::from_secs(self.expires_in)
    }

    /// Writes the body.
    #[must_use]
    pub fn to_json(&self) -> String {
        JsonObjectWriter::new()
            .raw("expires_in", self.expires_in)
            .string("token_type", Self::TOKEN_TYPE)
            .string("access_token", self.access_token.expose_secret())
            .optional_string(
                "scope",
                self.scope.as_ref().map(ToString::to_string).as_deref(),
            )
            .finish()
    }

    /// Reads the body. Unknown members are ignored; `token_type` may be in any case (RFC 6749
    /// section 5.1).
    ///
    /// # Errors
    /// [`TokenResponseError`]. The error never contains the token.
    pub fn from_json(body: &[u8]) -> Result<Self, TokenResponseError> {
        let mut members =
            json::read_object(body, &JsonLimits::new().max_document_bytes(Self::MAX_BYTES))
                .map_err(TokenResponseError::Json)?;
        let read = Self::from_members(&members);
        members.zeroize();
        read
    }

    fn from_members(members: &JsonObject<'_>) -> Result<Self, TokenResponseError> {
        let wrong = |member, expected| TokenResponseError::Member { member, expected };
        let string = |member| {
            members
                .get(member)
                .and_then(JsonValue::as_str)
                .ok_or(wrong(member, "a string"))
        };
        let expires_in = match members.get("expires_in") {
            Some(JsonValue::Number(seconds)) => seconds.as_u64(),
            _ => None,
        };
        // Refuses a lifetime of 0 s, with which a client would request one token after the other
        // until its limit is used up.
        let expires_in = expires_in
            .filter(|seconds| *seconds > 0)
            .ok_or(wrong("expires_in", "a whole number of seconds from 1"))?;
        let token_type = string("token_type")?;
        let access_token = string("access_token")?;
        // An empty scope means the same as none: the scopes requested were granted.
        let scope = match members.get("scope") {
            None | Some(JsonValue::Null) => "",
            Some(_) => string("scope")?,
        };
        if !token_type.eq_ignore_ascii_case(Self::TOKEN_TYPE) {
            return Err(TokenResponseError::TokenType {
                found: excerpt(token_type),
            });
        }
        Ok(Self {
            access_token: AccessToken::parse(access_token)
                .map_err(TokenResponseError::AccessToken)?,
            expires_in,
            scope: match scope {
                "" => None,
                text => Some(ScopeSet::parse(text).map_err(TokenResponseError::Scope)?),
            },
        })
    }
}

/// Serializes the members of [`TokenResponse::to_json`], with the token in the clear.
#[cfg(feature = "serde")]
impl serde::Serialize for TokenResponse {
    fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        super::by_serde::serialize(self.to_json(), out)
    }
}

/// Reads the body like [`TokenResponse::from_json`].
#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for TokenResponse {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        super::by_serde::deserialize(from, Self::from_json)
    }
}

/// The reason why a body is not a token response.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TokenResponseError {
    /// The body is not one JSON object of at most [`TokenResponse::MAX_BYTES`].
    #[error("the token response is not acceptable JSON: {0}")]
    Json(JsonError),
    /// A required member is absent, or a member has another JSON type.
    #[error("expected {expected} as the token response's member {member}")]
    Member {
        /// The name of the member.
        member: &'static str,
        /// The type expected.
        expected: &'static str,
    },
    /// The token type is not `Bearer`.
    #[error("expected the token type Bearer, found {found}")]
    TokenType {
        /// The text, cut and escaped.
        found: String,
    },
    /// The token is not a hyphenated GUID.
    #[error("the access token is malformed: {0}")]
    AccessToken(AccessTokenError),
    /// The scope is malformed.
    #[error("the scope is malformed: {0}")]
    Scope(ScopeError),
}
