//! The error answer of the token endpoint (RFC 6749 section 5.2).

use bankrail_values::json::{self, JsonLimits, JsonObjectWriter, JsonValue};

/// An error code of the token endpoint (RFC 6749 section 5.2).
///
/// `server_error` and `temporarily_unavailable` are from section 4.1.2.1, for faults of the server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TokenErrorCode {
    /// `invalid_request`, 400: a parameter is missing, repeated or malformed.
    InvalidRequest,
    /// `invalid_client`, 401: the assertion is invalid or cannot be verified.
    InvalidClient,
    /// `invalid_grant`, 400: the grant is invalid.
    InvalidGrant,
    /// `unauthorized_client`, 400: the client may not use this grant type.
    UnauthorizedClient,
    /// `unsupported_grant_type`, 400: the server does not support the grant type.
    UnsupportedGrantType,
    /// `invalid_scope`, 400: the scope is malformed, or none of it is permitted.
    InvalidScope,
    /// `server_error`, 500: the server failed.
    ServerError,
    /// `temporarily_unavailable`, 503: the server is overloaded or has a temporary fault; also the
    /// body of a 429.
    TemporarilyUnavailable,
    /// Another code, with its text unchanged.
    Other(Box<str>),
}

impl TokenErrorCode {
    /// Returns the code's text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::InvalidRequest => "invalid_request",
            Self::InvalidClient => "invalid_client",
            Self::InvalidGrant => "invalid_grant",
            Self::UnauthorizedClient => "unauthorized_client",
            Self::UnsupportedGrantType => "unsupported_grant_type",
            Self::InvalidScope => "invalid_scope",
            Self::ServerError => "server_error",
            Self::TemporarilyUnavailable => "temporarily_unavailable",
            Self::Other(text) => text,
        }
    }

    /// Returns the HTTP status for the code; 400 for [`TokenErrorCode::Other`].
    #[must_use]
    pub fn status(&self) -> u16 {
        match self {
            Self::InvalidClient => 401,
            Self::ServerError => 500,
            Self::TemporarilyUnavailable => 503,
            Self::InvalidRequest
            | Self::InvalidGrant
            | Self::UnauthorizedClient
            | Self::UnsupportedGrantType
            | Self::InvalidScope
            | Self::Other(_) => 400,
        }
    }

    fn from_text(text: &str) -> Self {
        match text {
            "invalid_request" => Self::InvalidRequest,
            "invalid_client" => Self::InvalidClient,
            "invalid_grant" => Self::InvalidGrant,
            "unauthorized_client" => Self::UnauthorizedClient,
            "unsupported_grant_type" => Self::UnsupportedGrantType,
            "invalid_scope" => Self::InvalidScope,
            "server_error" => Self::ServerError,
            "temporarily_unavailable" => Self::TemporarilyUnavailable,
            other => Self::Other(other.into()),
        }
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for TokenErrorCode {
    fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(self.as_str())
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for TokenErrorCode {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from).map(|text| Self::from_text(&text))
    }
}

bankrail_values::impl_display!(TokenErrorCode);

/// The JSON body of a refused token request.
///
/// ```
/// use bankrail_client_assertion::token::{TokenErrorBody, TokenErrorCode};
/// let body = TokenErrorBody::new(TokenErrorCode::InvalidClient);
/// assert_eq!(body.to_json(), r#"{"error":"invalid_client"}"#);
/// assert_eq!(TokenErrorBody::from_json(body.to_json().as_bytes())?, body);
/// # Ok::<(), bankrail_client_assertion::token::ErrorBodyError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TokenErrorBody {
    /// The code.
    pub error: TokenErrorCode,
    /// A text for the developer of the other side, absent by default. The text must not reveal why
    /// an assertion was refused.
    pub error_description: Option<String>,
}

impl TokenErrorBody {
    /// The maximum length of a body, in bytes.
    pub const MAX_BYTES: usize = 64 * 1024;

    /// Returns a body with the code only.
    #[must_use]
    pub fn new(error: TokenErrorCode) -> Self {
        Self {
            error,
            error_description: None,
        }
    }

    /// Adds a description. Quotation marks become `'`, and other characters that RFC 6749 section
    /// 5.2 does not allow become `?`.
    #[must_use]
    pub fn with_description(mut self, text: impl Into<String>) -> Self {
        self.error_description = Some(text.into());
        self
    }

    /// Writes the body.
    #[must_use]
    pub fn to_json(&self) -> String {
        let clean = |text: &str| text.chars().map(description_character).collect::<String>();
        JsonObjectWriter::new()
            .string("error", &clean(self.error.as_str()))
            .optional_string(
                "error_description",
                self.error_description.as_deref().map(clean).as_deref(),
            )
            .finish()
    }

    /// Reads the body. Unknown members are ignored; unknown codes become [`TokenErrorCode::Other`].
    ///
    /// Default: the error of the statement exchange,
    /// `{"error":{"statusCode":…,"title":…},"requestKey":…}`, is also accepted: `statusCode`
    /// becomes the code, `title` the description.
    ///
    /// # Errors
    /// [`ErrorBodyError`] if the body is not such an object. Only the HTTP status is then known.
    pub fn from_json(body: &[u8]) -> Result<Self, ErrorBodyError> {
        let limits = JsonLimits::new().max_document_bytes(Self::MAX_BYTES);
        let members = json::read_object(body, &limits).map_err(|_| ErrorBodyError)?;
        let (code, description) = match members.get("error") {
            Some(JsonValue::Object(error)) => (error.get("statusCode"), error.get("title")),
            code => (code, members.get("error_description")),
        };
        let code = code.and_then(JsonValue::as_str).ok_or(ErrorBodyError)?;
        let error_description = match description {
            None | Some(JsonValue::Null) => None,
            Some(description) => Some(description.as_str().ok_or(ErrorBodyError)?.to_owned()),
        };
        Ok(Self {
            error: TokenErrorCode::from_text(code),
            error_description,
        })
    }
}

/// Serializes the members of [`TokenErrorBody::to_json`].
#[cfg(feature = "serde")]
impl serde::Serialize for TokenErrorBody {
    fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        super::by_serde::serialize(self.to_json(), out)
    }
}

/// Reads the body like [`TokenErrorBody::from_json`].
#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for TokenErrorBody {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        super::by_serde::deserialize(from, Self::from_json)
    }
}

/// Returns the character, or its replacement (RFC 6749 section 5.2).
fn description_character(c: char) -> char {
    match c {
        ' '..='!' | '#'..='[' | ']'..='~' => c,
        '"' => '\'',
        _ => '?',
    }
}

/// The body is not an error response of RFC 6749 or of the statement exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a JSON object with an error code")]
#[non_exhaustive]
pub struct ErrorBodyError;
