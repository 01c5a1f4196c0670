//! The error of checking an assertion: the reason for the log, and the answer for the counterparty.

use crate::CustomerCode;
use crate::token::{TokenErrorBody, TokenErrorCode};
use bankrail_jose::SelectError;
use bankrail_jose::jws::ParseError;
use bankrail_values::json::JsonError;
use bankrail_values::{StoreError, Timestamp, ValueError};
use std::time::Duration;

/// The reason why an assertion is refused.
///
/// The reason is for the log only, because it would help an attacker to improve a forged assertion.
/// Answer the counterparty with [`AssertionError::to_body`] and [`AssertionError::status`], which
/// are the same for every invalid assertion.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AssertionError {
    /// The assertion is not a well-formed compact RS256 signature with a header of the profile.
    #[error("the assertion is malformed: {0}")]
    Malformed(ParseError),
    /// The header's `typ` is absent or not accepted.
    #[error(
        "expected the typ jwt, found {}; VerifierOptions::typ has rules for others",
        found.as_deref().unwrap_or("none")
    )]
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
        /// The name of the claim.
        claim: &'static str,
    },
    /// A claim has another JSON type.
    #[error("expected {expected} as the claim {claim}")]
    ClaimType {
        /// The name of the claim.
        claim: &'static str,
        /// The type expected.
        expected: &'static str,
    },
    /// The text of a claim is empty, too long or not a number.
    #[error("the claim {claim} is not acceptable: found {found}")]
    ClaimValue {
        /// The name of the claim.
        claim: &'static str,
        /// The text, cut and escaped.
        found: String,
    },
    /// `sub` is not a customer code.
    #[error("the claim sub is not acceptable: {0}")]
    Subject(ValueError),
    /// The directory has no such customer.
    #[error("expected a known customer, found {customer}")]
    UnknownCustomer {
        /// The value of `sub`.
        customer: CustomerCode,
    },
    /// The customer has no key that the header's `kid` selects.
    #[error("the customer has no key for the assertion: {0}")]
    NoKey(SelectError),
    /// The signature is not valid for any key of the customer.
    #[error("the signature is not valid for any key of the customer")]
    BadSignature,
    /// `aud` is not one of the verifier's audiences.
    #[error(
        "expected {expected} as the claim aud, found {found}, which VerifierOptions::{option} accepts"
    )]
    Audience {
        /// The verifier's audiences, cut and escaped, separated by commas.
        expected: String,
        /// The text, cut and escaped; in brackets the texts of an array.
        found: String,
        /// The setter of [`VerifierOptions`](crate::VerifierOptions) that accepts such an `aud`.
        option: &'static str,
    },
    /// `iss` is not equal to `sub`.
    #[error("expected the value of sub as the claim iss, found {found}")]
    Issuer {
        /// The text, cut and escaped.
        found: String,
    },
    /// `exp` is not in the future.
    #[error("expected an assertion that is valid at {now}, found one that expired at {expires_at}")]
    Expired {
        /// `exp`.
        expires_at: Timestamp,
        /// The time of checking.
        now: Timestamp,
    },
    /// `exp` is more than 3600 s plus the clock tolerance ahead.
    #[error(
        "expected an assertion that expires within an hour of {now}, found one that expires at {expires_at}{}",
        milliseconds(*expires_at, *now)
    )]
    TooFarAhead {
        /// `exp`.
        expires_at: Timestamp,
        /// The time of checking.
        now: Timestamp,
    },
    /// `nbf` or `iat` is further in the future than the leeway allows.
    #[error(
        "expected the claim {claim} to be at or before {now}, found {found}{}",
        milliseconds(*found, *now)
    )]
    NotYetValid {
        /// The name of the claim.
        claim: &'static str,
        /// The value of the claim.
        found: Timestamp,
        /// The time of checking.
        now: Timestamp,
    },
    /// The form's `client_id` is not the customer of the assertion.
    #[error("expected the customer as client_id, found {found}")]
    ClientId {
        /// The text, cut and escaped.
        found: String,
    },
    /// The policy requires a `jti`.
    #[error("expected the claim jti, found none")]
    JwtIdRequired,
    /// The assertion was used before.
    #[error("the assertion was used before")]
    Replayed,
    /// The store failed, so it is unknown if the assertion was used before. This is a local fault;
    /// issue no token.
    #[error("the replay store failed")]
    ReplayStore(#[source] StoreError),
}

/// Returns the likely cause of a time that is more than a thousand years ahead.
fn milliseconds(found: Timestamp, now: Timestamp) -> &'static str {
    const FAR: Duration = Duration::from_secs(1000 * 365 * 86_400);
    if found.saturating_since(now) > FAR {
        ", as if milliseconds were written where seconds are expected"
    } else {
        ""
    }
}

impl AssertionError {
    /// Returns the error code for the counterparty: `invalid_client`, or `temporarily_unavailable`
    /// for a local fault.
    #[must_use]
    pub fn code(&self) -> TokenErrorCode {
        match self {
            Self::ReplayStore(_) => TokenErrorCode::TemporarilyUnavailable,
            _ => TokenErrorCode::InvalidClient,
        }
    }

    /// Returns the HTTP status of the answer: 401, or 503 for a local fault.
    #[must_use]
    pub fn status(&self) -> u16 {
        self.code().status()
    }

    /// Returns the body of the answer. The body contains only the code.
    #[must_use]
    pub fn to_body(&self) -> TokenErrorBody {
        TokenErrorBody::new(self.code())
    }

    /// Returns the kind of the error as one word, for logs and counters. The word contains no value
    /// from the assertion.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Malformed(_) => "malformed",
            Self::Typ { .. } => "typ",
            Self::Claims(_) => "claims",
            Self::ClaimMissing { claim }
            | Self::ClaimType { claim, .. }
            | Self::ClaimValue { claim, .. } => claim,
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

    /// Returns true if the fault is local and the same assertion can be accepted later.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::ReplayStore(_))
    }
}
