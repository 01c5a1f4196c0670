//! Errors of a token call.

use crate::ExchangeError;
use crate::transport::{
    AnswerForm, CallFacts, SERVICE_FAILED, after_comma, call_error, show_the_service, wait_until,
};
use bankrail_client_assertion::token::{TokenErrorCode, TokenResponseError};
use bankrail_values::{HyphenatedUuid, Timestamp};
use std::borrow::Cow;
use std::error::Error;
use std::sync::Arc;

/// Why there is no token. All callers that waited for the same call get a clone.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// The assertion could not be made.
    #[error("the client assertion could not be signed")]
    Assertion(#[source] Arc<dyn Error + Send + Sync>),
    /// The key service that holds the assertions' key did not sign.
    #[error("the key of the client assertion could not be used")]
    #[non_exhaustive]
    Signer {
        /// Whether another call can succeed.
        retryable: bool,
        /// What went wrong.
        source: Arc<dyn Error + Send + Sync>,
    },
    /// Not sent: the limit of token calls, or an earlier `Retry-After`, does not allow a call
    /// before this.
    #[error("held back by the rate limit of token calls until {retry_at}")]
    #[non_exhaustive]
    HeldBack {
        /// When it would be allowed.
        retry_at: Timestamp,
    },
    /// Not sent: the store of the rate limit's counters failed.
    #[error("the store of the rate limit failed")]
    Counters(#[source] Arc<dyn Error + Send + Sync>),
    /// No complete answer.
    #[error("no answer from the token endpoint")]
    Transport(#[source] ExchangeError),
    /// The service refused: 401 for the assertion, 400 for the request (Specification: "Obtain
    /// access token"). A body with an error code is a refusal under 200 too.
    #[error("the token endpoint refused with status {status}{}", after_comma(code))]
    #[non_exhaustive]
    Refused {
        /// The HTTP status.
        status: u16,
        /// The error code of the body, if it had one.
        code: Option<TokenErrorCode>,
        /// The error text of the body, cut and escaped.
        description: Option<String>,
        /// By how many seconds this side's clock is ahead of the answer's `Date`, if it had one;
        /// negative if it is behind.
        clock_ahead: Option<i64>,
        /// The key of the call.
        request_key: Option<HyphenatedUuid>,
    },
    /// The service counted too many calls: 429.
    #[error(
        "the token endpoint answered that there were too many calls{}; held back until {retry_at}",
        after_comma(code)
    )]
    #[non_exhaustive]
    TooManyCalls {
        /// Until when calls of this client are held back: the time of the service's `Retry-After`,
        /// cut to [`ClientOptions::longest_hold`](crate::ClientOptions::longest_hold). Default:
        /// without one, as long as the slowest limit takes for one call, which is 6 minutes under
        /// the specification's.
        retry_at: Timestamp,
        /// The error code of the body, if it had one.
        code: Option<TokenErrorCode>,
        /// The key of the call.
        request_key: Option<HyphenatedUuid>,
    },
    /// The service or a gateway in front of it failed: 5xx, or the gateway's own code under any
    /// status.
    #[error("the token endpoint failed with status {status}{}", after_comma(code))]
    #[non_exhaustive]
    Unavailable {
        /// The HTTP status.
        status: u16,
        /// The error code of the body, if it had one.
        code: Option<TokenErrorCode>,
        /// The time of the service's `Retry-After`, cut to
        /// [`ClientOptions::longest_hold`](crate::ClientOptions::longest_hold).
        retry_at: Option<Timestamp>,
        /// The key of the call.
        request_key: Option<HyphenatedUuid>,
    },
    /// An answer that does not come from the token endpoint, such as a redirect, an HTML page, or
    /// 404 without an error of the service.
    #[error("expected a token, found an answer of status {status} ({form})")]
    #[non_exhaustive]
    Unexpected {
        /// The HTTP status.
        status: u16,
        /// What it looks like.
        form: AnswerForm,
        /// The key of the call.
        request_key: Option<HyphenatedUuid>,
    },
    /// An answer with status 200 whose body is not a token response.
    #[error("the token response is unusable")]
    #[non_exhaustive]
    Response {
        /// The key of the call.
        request_key: Option<HyphenatedUuid>,
        /// What is wrong with it.
        source: TokenResponseError,
    },
    /// The client was closed ([`Client::close`](crate::Client::close)). No call was sent.
    #[error("the client was closed")]
    Closed,
    /// The task that fetched the token ended without a result: the runtime is shutting down, or it
    /// panicked.
    #[error("the token call was abandoned")]
    Abandoned,
}

call_error!(TokenError);

impl TokenError {
    pub(crate) fn facts(&self) -> CallFacts {
        match self {
            Self::Assertion(_) => CallFacts::of("assertion"),
            Self::Signer { retryable, .. } => CallFacts::of("signer").retryable(*retryable),
            Self::HeldBack { retry_at } => CallFacts::of("held back")
                .retryable(true)
                .retry_at(*retry_at),
            Self::Counters(_) => CallFacts::of("counters").retryable(true),
            Self::Transport(error) => CallFacts::exchange(error),
            Self::Refused {
                status,
                request_key,
                ..
            } => CallFacts::of("refused").answered(*status, *request_key),
            Self::TooManyCalls {
                retry_at,
                request_key,
                ..
            } => CallFacts::of("too many calls")
                .answered(429, *request_key)
                .retryable(true)
                .retry_at(*retry_at),
            Self::Unavailable {
                status,
                retry_at,
                request_key,
                ..
            } => CallFacts::of("unavailable")
                .answered(*status, *request_key)
                .retryable(true)
                .retry_at(*retry_at),
            Self::Unexpected {
                status,
                request_key,
                ..
            } => CallFacts::of("unexpected").answered(*status, *request_key),
            Self::Response { request_key, .. } => {
                CallFacts::of("response").answered(200, *request_key)
            }
            Self::Closed => CallFacts::of("closed"),
            Self::Abandoned => CallFacts::of("abandoned").retryable(true),
        }
    }

    /// Why there was no answer, or what is wrong with it, in words of this crate.
    pub(crate) fn cause(&self) -> Option<Cow<'static, str>> {
        Some(match self {
            Self::Transport(error) => error.cause().into(),
            Self::Unexpected { form, .. } => form.cause().into(),
            Self::Response { source, .. } => match source {
                TokenResponseError::Json(_) => "the answer is no acceptable JSON".into(),
                TokenResponseError::TokenType { .. } => "the token type is not Bearer".into(),
                TokenResponseError::Member { .. } => source.to_string().into(),
                _ => "a member of the token response is malformed".into(),
            },
            _ => return None,
        })
    }

    /// Whether another audience may be accepted.
    pub(crate) fn is_audience_suspect(&self) -> bool {
        let Self::Refused {
            status,
            code,
            description,
            clock_ahead,
            ..
        } = self
        else {
            return false;
        };
        let description = description.as_deref().unwrap_or_default();
        let suspect = Suspect::of(*status, code.as_ref(), description, *clock_ahead);
        matches!(suspect, Suspect::Audience | Suspect::Assertion)
    }

    /// What to check, for whoever runs this side: in words of this crate. A text of the service
    /// chooses among them.
    #[must_use]
    pub fn advice(&self) -> Cow<'static, str> {
        match self {
            Self::Assertion(_) => "check the signing key",
            Self::Signer { .. } => "check the key service that holds the signing key",
            Self::HeldBack { retry_at } | Self::TooManyCalls { retry_at, .. } => {
                return wait_until(*retry_at);
            }
            Self::Counters(_) => "check the store of the rate limit",
            Self::Transport(error) => error.advice(),
            Self::Refused {
                status,
                code,
                description,
                clock_ahead,
                ..
            } => {
                let description = description.as_deref().unwrap_or_default();
                return Suspect::of(*status, code.as_ref(), description, *clock_ahead).advice();
            }
            Self::Unavailable { .. } => SERVICE_FAILED,
            Self::Unexpected { .. } => {
                "check the address of the token endpoint, and what stands between here and there"
            }
            Self::Response { request_key, .. } => show_the_service(*request_key),
            Self::Closed => "nothing: this client was closed",
            Self::Abandoned => "nothing: this program is ending",
        }
        .into()
    }
}

/// What a refusal makes suspect. The code names the kind of fault; some services also describe it.
/// One that keeps to the rules does not say why it refuses an assertion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Suspect {
    Scope,
    /// By so many seconds it is ahead.
    Clock(i64),
    ApiKey,
    Audience,
    SigningKey,
    /// Something of the assertion.
    Assertion,
    Address,
    Request,
}

impl Suspect {
    fn of(
        status: u16,
        code: Option<&TokenErrorCode>,
        description: &str,
        clock_ahead: Option<i64>,
    ) -> Self {
        /// Words of a description, in small letters, and what they accuse.
        const WORDS: [(&[&str], Suspect); 3] = [
            (&["api key", "apikey", "api-key"], Suspect::ApiKey),
            (&["audience", "\"aud\"", "'aud'"], Suspect::Audience),
            (&["signature", "unknown key", "kid"], Suspect::SigningKey),
        ];
        if code == Some(&TokenErrorCode::InvalidScope) {
            return Self::Scope;
        }
        if let Some(ahead) = clock_ahead.filter(|ahead| about_clock(*ahead).is_some()) {
            return Self::Clock(ahead);
        }
        let description = description.to_ascii_lowercase();
        let found = WORDS
            .iter()
            .find(|(words, _)| words.iter().any(|word| description.contains(word)));
        match (found, status) {
            (Some((_, suspect)), _) => *suspect,
            (None, 401) if code.is_none() => Self::ApiKey,
            (None, 401) => Self::Assertion,
            (None, 404 | 405) => Self::Address,
            (None, _) => Self::Request,
        }
    }

    fn advice(self) -> Cow<'static, str> {
        match self {
            Self::Scope => "ask for a scope that the customer has",
            Self::Clock(ahead) => return about_clock(ahead).unwrap_or_default().into(),
            Self::ApiKey => "check the API key and the name of its header",
            Self::Audience => "check the audience: it is what the service has arranged, which need not be an address",
            Self::SigningKey => {
                "check that the service has the public half of the signing key, and that its id is the arranged one"
            }
            Self::Assertion => "check customer code, audience, signing key and its id, and the clock of this machine",
            Self::Address => "check the address of the token endpoint: the service has none there",
            Self::Request => "compare the request with what the service expects",
        }
        .into()
    }
}

/// How far a clock may be off before it is suspected.
const SUSPECT_CLOCK: u64 = 60;

/// What to do about a clock that is ahead by so many seconds, if it is suspect.
pub(crate) fn about_clock(ahead: i64) -> Option<String> {
    let side = if ahead > 0 { "ahead of" } else { "behind" };
    let by = ahead.unsigned_abs();
    (by >= SUSPECT_CLOCK)
        .then(|| format!("set the clock of this machine: it is {by} s {side} the service's"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_what_fits() {
        let client = Some(TokenErrorCode::InvalidClient);
        for (status, code, description, clock_ahead, expected) in [
            (
                401,
                client.as_ref(),
                "",
                Some(59),
                "customer code, audience, signing key",
            ),
            (
                401,
                client.as_ref(),
                "",
                Some(60),
                "it is 60 s ahead of the service's",
            ),
            (
                401,
                client.as_ref(),
                "bad API key",
                Some(-61),
                "it is 61 s behind the service's",
            ),
            (
                401,
                client.as_ref(),
                "Invalid API Key",
                None,
                "check the API key",
            ),
            (
                401,
                client.as_ref(),
                "claim \"aud\" is wrong",
                None,
                "check the audience",
            ),
            (
                401,
                client.as_ref(),
                "no key with this kid",
                None,
                "public half",
            ),
            (401, None, "", None, "check the API key"),
            (
                400,
                Some(&TokenErrorCode::InvalidScope),
                "",
                Some(3600),
                "a scope that the customer has",
            ),
            (
                400,
                Some(&TokenErrorCode::InvalidRequest),
                "",
                None,
                "compare the request",
            ),
            (404, None, "", None, "the address of the token endpoint"),
        ] {
            let advice = Suspect::of(status, code, description, clock_ahead).advice();
            assert!(advice.contains(expected), "{description}: {advice}");
        }
    }
}
