//! The failures of the provider's endpoints, with their codes and statuses.

use bankrail_client_assertion::token::TokenErrorCode;
use bankrail_statement::ErrorCode;
use http::StatusCode;

/// States the failures. For each: its documentation, its variant, its default code, the header that
/// each of its answers has, and its code and description at the token endpoint, where that can fail
/// so.
macro_rules! failures {
    ($($(#[$doc:meta])+ $variant:ident = $code:expr, $header:expr, $token:expr;)+) => {
        /// A failure of the statement endpoint.
        /// [`ProviderOptions::error_code`](crate::ProviderOptions::error_code) and
        /// [`ProviderOptions::error_status`](crate::ProviderOptions::error_status) set its code and
        /// status.
        ///
        /// The specification names one code, `EC20001`, and one status, 429 for an exceeded rate
        /// limit. Everything else is a default: the codes of public documentation, otherwise `EC`
        /// and the status.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum StatementFailure {
            $($(#[$doc])+ $variant,)+
        }

        impl StatementFailure {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            fn row(self) -> (ErrorCode, Option<&'static str>, Option<(TokenErrorCode, &'static str)>) {
                match self {
                    $(Self::$variant => ($code, $header, $token),)+
                }
            }
        }
    };
}

use TokenErrorCode::{InvalidClient, InvalidRequest, ServerError, TemporarilyUnavailable};

failures! {
    /// The account does not exist or is not registered for the customer: `EC20001` (Specification:
    /// "Errors"), 404.
    AccountNotFound = ErrorCode::ACCOUNT_NOT_FOUND, None, None;
    /// The ledger failed, or its page could not be sent: `EC20003`, 500.
    RetrievalFailed = ErrorCode::RETRIEVAL_FAILED, None, None;
    /// Something else failed: `EC20005`, 500.
    Internal = ErrorCode::INTERNAL, None, Some((ServerError, "Something failed"));
    /// A store or the counters of a limit did not answer, or the server's time for a request was
    /// over: `EC20005`, 503.
    Unavailable = ErrorCode::INTERNAL, None, Some((TemporarilyUnavailable, "A store did not answer"));
    /// The body is not a statement request, is incomplete, or has a foreign cursor: `EC42001`, 400.
    Validation = ErrorCode::VALIDATION, None,
        Some((InvalidRequest, "The request is invalid, or a required field is missing"));
    /// `Host` is missing over HTTP/1.1, or there are several, or it is malformed; or the request
    /// line or a header cannot be read: `EC400`, 400.
    MalformedHead = ErrorCode::for_status(400), None, None;
    /// The API key is absent or unknown: `EC401`, 401.
    ApiKey = ErrorCode::for_status(401), Some("WWW-Authenticate"),
        Some((InvalidClient, "The API key is not known, or the assertion is not valid"));
    /// There is no valid access token of the customer: `EC401`, 401.
    AccessToken = ErrorCode::for_status(401), Some("WWW-Authenticate"), None;
    /// The token or the customer does not have the scope: `EC403`, 403.
    Scope = ErrorCode::for_status(403), Some("WWW-Authenticate"), None;
    /// The path is unknown: `EC404`, 404.
    UnknownPath = ErrorCode::for_status(404), None, None;
    /// The method is not that of the path: `EC405`, 405.
    Method = ErrorCode::for_status(405), Some("Allow"), Some((InvalidRequest, "The method is not POST"));
    /// The body did not arrive in time: `EC408`, 408.
    BodyTimeout = ErrorCode::for_status(408), None, Some((InvalidRequest, "The body did not arrive in time"));
    /// The body is too large: `EC413`, 413.
    BodyTooLarge = ErrorCode::for_status(413), None, Some((InvalidRequest, "The body is too large"));
    /// The address is too long: `EC414`, 414.
    UriTooLong = ErrorCode::for_status(414), None, Some((InvalidRequest, "The address is too long"));
    /// The body is not `application/json`, or is compressed: `EC415`, 415.
    MediaType = ErrorCode::for_status(415), None, None;
    /// The rate limit is exceeded: `EC429`, 429 (Specification: "Errors").
    RateLimit = ErrorCode::for_status(429), Some("Retry-After"),
        Some((TemporarilyUnavailable, "The rate limit is exceeded"));
    /// The headers are too long or too many: `EC431`, 431.
    HeadersTooLarge = ErrorCode::for_status(431), None, Some((InvalidRequest, "The headers are too large"));
}

impl StatementFailure {
    /// The default of its error code.
    #[must_use]
    pub fn default_code(self) -> ErrorCode {
        self.row().0
    }

    /// The default of its HTTP status.
    #[must_use]
    pub fn default_status(self) -> StatusCode {
        match self {
            Self::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::from_u16(self.default_code().default_status())
                .expect("each code has a valid status"),
        }
    }

    /// The header that each of its answers at the statement endpoint has.
    pub(crate) fn header(self) -> Option<&'static str> {
        self.row().1
    }

    /// Its code at the token endpoint (RFC 6749 section 5.2).
    pub(crate) fn token_code(self) -> TokenErrorCode {
        self.row().2.map_or(InvalidRequest, |(code, _)| code)
    }

    /// Whether the code can be sent and does not contradict the specification.
    pub(crate) fn may_have_code(self, code: &ErrorCode) -> bool {
        code.is_well_formed()
            && (self != Self::AccountNotFound || *code == ErrorCode::ACCOUNT_NOT_FOUND)
    }

    /// Whether answers of the status have a body and the status does not contradict the
    /// specification.
    pub(crate) fn may_have_status(self, status: StatusCode) -> bool {
        let without_body = status.is_informational() || matches!(status.as_u16(), 204 | 205 | 304);
        !without_body && (self != Self::RateLimit || status == StatusCode::TOO_MANY_REQUESTS)
    }
}
