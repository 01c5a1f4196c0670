//! The failures of the statement endpoint, with their codes and statuses.

use crate::{ProviderOptions, ProviderOptionsError};
use bankrail_statement::ErrorCode;
use http::StatusCode;

/// States the failures: for each its documentation, its variant and its default code.
macro_rules! failures {
    ($($(#[$doc:meta])+ $variant:ident = $code:expr;)+) => {
        /// A failure of the statement endpoint. [`ProviderOptions::error_code`] and [`ProviderOptions::error_status`]
        /// set its code and status.
        ///
        /// The specification names one code, `EC20001`, and one status, 429 for an exceeded rate limit. Everything else
        /// is a default: the codes of public documentation, otherwise `EC` and the status.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum StatementFailure {
            $($(#[$doc])+ $variant,)+
        }

        impl StatementFailure {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The default of its error code.
            #[must_use]
            pub fn default_code(self) -> ErrorCode {
                match self {
                    $(Self::$variant => $code,)+
                }
            }
        }
    };
}

failures! {
    /// The account does not exist or is not registered for the customer: `EC20001` (Specification: "Errors"), 404.
    AccountNotFound = ErrorCode::ACCOUNT_NOT_FOUND;
    /// The ledger failed, or its page could not be sent: `EC20003`, 500.
    RetrievalFailed = ErrorCode::RETRIEVAL_FAILED;
    /// Something else failed: `EC20005`, 500.
    Internal = ErrorCode::INTERNAL;
    /// A store or the counters of a limit did not answer: `EC20005`, 503.
    Unavailable = ErrorCode::INTERNAL;
    /// The body is not a statement request, is incomplete, or has a foreign cursor: `EC42001`, 400.
    Validation = ErrorCode::VALIDATION;
    /// The API key is absent or unknown: `EC401`, 401.
    ApiKey = ErrorCode::for_status(401);
    /// There is no valid access token of the customer: `EC401`, 401.
    AccessToken = ErrorCode::for_status(401);
    /// The token or the customer does not have the scope: `EC403`, 403.
    Scope = ErrorCode::for_status(403);
    /// The path is unknown: `EC404`, 404.
    UnknownPath = ErrorCode::for_status(404);
    /// The method is not that of the path: `EC405`, 405.
    Method = ErrorCode::for_status(405);
    /// The body did not arrive in time: `EC408`, 408.
    BodyTimeout = ErrorCode::for_status(408);
    /// The body is too large: `EC413`, 413.
    BodyTooLarge = ErrorCode::for_status(413);
    /// The address is too long: `EC414`, 414.
    UriTooLong = ErrorCode::for_status(414);
    /// The body is not `application/json`, or is compressed: `EC415`, 415.
    MediaType = ErrorCode::for_status(415);
    /// The rate limit is exceeded: `EC429`, 429 (Specification: "Errors").
    RateLimit = ErrorCode::for_status(429);
    /// The headers are too long or too many: `EC431`, 431.
    HeadersTooLarge = ErrorCode::for_status(431);
}

impl StatementFailure {
    /// The default of its HTTP status.
    #[must_use]
    pub fn default_status(self) -> StatusCode {
        match self {
            Self::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::from_u16(self.default_code().default_status()).expect("each code has a valid status"),
        }
    }

    /// Its code and status under these options.
    pub(crate) fn answer(self, options: &ProviderOptions) -> (ErrorCode, StatusCode) {
        let code = options.error_codes.get(&self).cloned().unwrap_or_else(|| self.default_code());
        (code, options.error_statuses.get(&self).copied().unwrap_or_else(|| self.default_status()))
    }

    /// Refuses a code that cannot be sent, and what contradicts the specification.
    pub(crate) fn check(options: &ProviderOptions) -> Result<(), ProviderOptionsError> {
        for (failure, code) in &options.error_codes {
            if !code.is_well_formed() || (*failure == Self::AccountNotFound && *code != ErrorCode::ACCOUNT_NOT_FOUND) {
                return Err(ProviderOptionsError::ErrorCode { failure: *failure, found: code.clone() });
            }
        }
        for (failure, status) in &options.error_statuses {
            let without_body = status.is_informational() || matches!(status.as_u16(), 204 | 205 | 304);
            if without_body || (*failure == Self::RateLimit && *status != StatusCode::TOO_MANY_REQUESTS) {
                return Err(ProviderOptionsError::ErrorStatus { failure: *failure, found: *status });
            }
        }
        Ok(())
    }
}
