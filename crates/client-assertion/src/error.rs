//! Why an assertion is refused: all of it for the log, little of it for the counterparty.

use crate::token::{TokenErrorBody, TokenErrorCode};
use crate::{CustomerCode, CustomerCodeError};
use bankrail_jose::SelectError;
use bankrail_jose::jws::ParseError;
use bankrail_values::json::JsonError;
use bankrail_values::{StoreError, Timestamp};

/// Why an assertion is refused.
///
/// This is local detail: it tells a prober which guess came closer. The counterparty learns
/// [`AssertionError::to_body`] under [`AssertionError::status`], which are the same for every assertion that is not good.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AssertionError {
    /// Not a compact RS256 signature with a header of the profile.
    #[error("the assertion is malformed: {0}")]
    Malformed(ParseError),
    /// Another `typ` than `jwt`, or none.
    #[error("expected the typ jwt, found {}", found.as_deref().unwrap_or("none"))]
    Typ {
        /// The text, cut and escaped.
        found: Option<String>,
    },
    /// The claims are not one JSON object within bounds.
    #[error("the claims are not acceptable JSON: {0}")]
    Claims(JsonError),
    /// A required claim is absent.
    #[error("expected the claim {claim}, found none")]
    ClaimMissing {
        /// The claim.
        claim: &'static str,
    },
    /// A claim of another JSON type.
    #[error("expected {expected} as the claim {claim}")]
    ClaimType {
        /// The claim.
        claim: &'static str,
        /// What it must be.
        expected: &'static str,
    },
    /// A claim whose text is empty, too long or no number.
    #[error("expected another claim {claim}, found {found}")]
    ClaimValue {
        /// The claim.
        claim: &'static str,
        /// The text, cut and escaped.
        found: String,
    },
    /// `sub` is no customer code.
    #[error("the claim sub is not acceptable: {0}")]
    Subject(CustomerCodeError),
    /// There is no such customer.
    #[error("expected a known customer, found {customer}")]
    UnknownCustomer {
        /// What `sub` says.
        customer: CustomerCode,
    },
    /// The customer has no key that the header's `kid` selects.
    #[error("the customer has no key for the assertion: {0}")]
    NoKey(SelectError),
    /// No key of the customer made the signature.
    #[error("the signature is not the customer's")]
    BadSignature,
    /// `aud` is another.
    #[error("expected our audience, found {found}")]
    Audience {
        /// The text, cut and escaped.
        found: String,
    },
    /// `iss` is not `sub`.
    #[error("expected the subject as issuer, found {found}")]
    Issuer {
        /// The text, cut and escaped.
        found: String,
    },
    /// `exp` is not in the future.
    #[error("expected an assertion that lives at {now}, found one that expired at {expires_at}")]
    Expired {
        /// `exp`.
        expires_at: Timestamp,
        /// The time of checking.
        now: Timestamp,
    },
    /// `exp` is more than 3600 s ahead.
    #[error("expected an assertion that expires within an hour of {now}, found one that expires at {expires_at}")]
    TooFarAhead {
        /// `exp`.
        expires_at: Timestamp,
        /// The time of checking.
        now: Timestamp,
    },
    /// `nbf` or `iat` is in the future.
    #[error("expected {claim} not to be after {now}, found {found}")]
    NotYetValid {
        /// The claim.
        claim: &'static str,
        /// Its value.
        found: Timestamp,
        /// The time of checking.
        now: Timestamp,
    },
    /// The form's `client_id` is not the customer.
    #[error("expected the customer as client_id, found {found}")]
    ClientId {
        /// The text, cut and escaped.
        found: String,
    },
    /// The policy requires a `jti`.
    #[error("expected the claim jti, found none")]
    JwtIdRequired,
    /// It was used before.
    #[error("the assertion was used before")]
    Replayed,
    /// It is not known whether it was used before. This is our own failure: no token, and no blame.
    #[error("the replay store failed")]
    ReplayStore(#[source] StoreError),
}

impl AssertionError {
    /// What the counterparty is told: `invalid_client`, or `temporarily_unavailable` where we failed ourselves.
    #[must_use]
    pub fn code(&self) -> TokenErrorCode {
        match self {
            Self::ReplayStore(_) => TokenErrorCode::TemporarilyUnavailable,
            _ => TokenErrorCode::InvalidClient,
        }
    }

    /// The HTTP status of the answer: 401, or 503 where we failed ourselves.
    #[must_use]
    pub fn status(&self) -> u16 {
        self.code().status()
    }

    /// The body of the answer. It says no more than the code.
    #[must_use]
    pub fn to_body(&self) -> TokenErrorBody {
        TokenErrorBody::new(self.code())
    }

    /// The kind of the error in a word, for logs and counters: nothing of the assertion is in it, except the name of a
    /// claim.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Malformed(_) => "malformed",
            Self::Typ { .. } => "typ",
            Self::Claims(_) => "claims",
            Self::ClaimMissing { claim } | Self::ClaimType { claim, .. } | Self::ClaimValue { claim, .. } => claim,
            Self::Subject(_) => "sub",
            Self::UnknownCustomer { .. } => "customer",
            Self::NoKey(_) => "key",
            Self::BadSignature => "signature",
            Self::Audience { .. } => "aud",
            Self::Issuer { .. } => "iss",
            Self::Expired { .. } => "expired",
            Self::TooFarAhead { .. } => "exp",
            Self::NotYetValid { claim, .. } => claim,
            Self::ClientId { .. } => "client_id",
            Self::JwtIdRequired => "jti",
            Self::Replayed => "replayed",
            Self::ReplayStore(_) => "store",
        }
    }

    /// True where the fault is ours and the same assertion may be good in a moment.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::ReplayStore(_))
    }
}
