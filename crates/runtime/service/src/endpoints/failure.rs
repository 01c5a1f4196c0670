//! The failures of the provider's endpoints, with their codes and statuses.

use bankrail_client_assertion::token::TokenErrorCode;
use bankrail_statement::ErrorCode;
use http::StatusCode;

/// A failure of the statement endpoint.
/// [`ProviderOptions::error_code`](crate::ProviderOptions::error_code) and
/// [`ProviderOptions::error_status`](crate::ProviderOptions::error_status) set its code and status.
///
/// The specification names one code, `EC20001`, and one status, 429 for an exceeded rate limit. All
/// other codes and statuses are defaults: the codes of public documentation, otherwise `EC` and the
/// status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, strum::VariantArray)]
#[non_exhaustive]
pub enum StatementFailure {
    /// The account does not exist or is not registered for the customer: `EC20001` (Specification:
    /// "Errors"), 404.
    AccountNotFound,
    /// The ledger failed, or its page could not be sent: `EC20003`, 500.
    RetrievalFailed,
    /// Another failure of the provider: `EC20005`, 500.
    Internal,
    /// A store or the counters of a limit did not answer, or the server's time for a request was
    /// over: `EC20005`, 503.
    Unavailable,
    /// The body is not a statement request, is incomplete, or has a foreign cursor: `EC42001`, 400.
    Validation,
    /// `Host` is missing over HTTP/1.1, malformed or there more than once, or the request line or a
    /// header cannot be read: `EC400`, 400.
    MalformedHead,
    /// The API key is absent or unknown: `EC401`, 401.
    ApiKey,
    /// The request has no valid access token of the customer: `EC401`, 401.
    AccessToken,
    /// The token or the customer does not have the scope: `EC403`, 403.
    Scope,
    /// The path is unknown: `EC404`, 404.
    UnknownPath,
    /// The method is not that of the path: `EC405`, 405.
    Method,
    /// The body did not arrive in time: `EC408`, 408.
    BodyTimeout,
    /// The body is too large: `EC413`, 413.
    BodyTooLarge,
    /// The address is too long: `EC414`, 414.
    UriTooLong,
    /// The body is not `application/json`, or is compressed: `EC415`, 415.
    MediaType,
    /// The rate limit is exceeded: `EC429`, 429 (Specification: "Errors").
    RateLimit,
    /// The headers are too long or too many: `EC431`, 431.
    HeadersTooLarge,
}

impl StatementFailure {
    /// All failures.
    pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

    /// Returns the default error code of the failure.
    #[must_use]
    pub fn default_code(self) -> ErrorCode {
        match self {
            Self::AccountNotFound => ErrorCode::ACCOUNT_NOT_FOUND,
            Self::RetrievalFailed => ErrorCode::RETRIEVAL_FAILED,
            Self::Internal | Self::Unavailable => ErrorCode::INTERNAL,
            Self::Validation => ErrorCode::VALIDATION,
            Self::MalformedHead => ErrorCode::for_status(400),
            Self::ApiKey | Self::AccessToken => ErrorCode::for_status(401),
            Self::Scope => ErrorCode::for_status(403),
            Self::UnknownPath => ErrorCode::for_status(404),
            Self::Method => ErrorCode::for_status(405),
            Self::BodyTimeout => ErrorCode::for_status(408),
            Self::BodyTooLarge => ErrorCode::for_status(413),
            Self::UriTooLong => ErrorCode::for_status(414),
            Self::MediaType => ErrorCode::for_status(415),
            Self::RateLimit => ErrorCode::for_status(429),
            Self::HeadersTooLarge => ErrorCode::for_status(431),
        }
    }

    /// Returns the default HTTP status of the failure.
    #[must_use]
    pub fn default_status(self) -> StatusCode {
        match self {
            // Its code is shared with `Internal`, but clients may try again.
            Self::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::from_u16(self.default_code().default_status())
                .expect("each code has a valid status"),
        }
    }

    /// Returns the header that each answer of the statement endpoint has for this failure.
    pub(crate) fn header(self) -> Option<&'static str> {
        match self {
            Self::ApiKey | Self::AccessToken | Self::Scope => Some("WWW-Authenticate"),
            Self::Method => Some("Allow"),
            Self::RateLimit => Some("Retry-After"),
            _ => None,
        }
    }

    /// Returns the failure's code at the token endpoint (RFC 6749 section 5.2).
    pub(crate) fn token_code(self) -> TokenErrorCode {
        match self {
            Self::Internal => TokenErrorCode::ServerError,
            Self::Unavailable | Self::RateLimit => TokenErrorCode::TemporarilyUnavailable,
            Self::ApiKey => TokenErrorCode::InvalidClient,
            _ => TokenErrorCode::InvalidRequest,
        }
    }

    /// Returns true if the code can be sent and does not contradict the specification.
    pub(crate) fn may_have_code(self, code: &ErrorCode) -> bool {
        code.is_well_formed()
            && (self != Self::AccountNotFound || *code == ErrorCode::ACCOUNT_NOT_FOUND)
    }

    /// Returns true if answers of the status have a body and the status does not contradict the
    /// specification.
    pub(crate) fn may_have_status(self, status: StatusCode) -> bool {
        let without_body = status.is_informational() || matches!(status.as_u16(), 204 | 205 | 304);
        !without_body && (self != Self::RateLimit || status == StatusCode::TOO_MANY_REQUESTS)
    }
}
