//! Refusals by a limit, and their answers.

use super::headers::{name_of, write_rate_limit};
use crate::{CallType, CheckError, CheckOutcome, Decision, Limiter};
use bankrail_values::RequestKey;
use bankrail_values::{StoreError, Timestamp};
use bytes::Bytes;
use http::header::RETRY_AFTER;
use http::{HeaderMap, HeaderValue, StatusCode};
use std::fmt::Write as _;

/// The reason why a request is not served.
#[derive(Debug)]
#[non_exhaustive]
pub enum LimitRefusal {
    /// The limit is used up: 429, with `Retry-After`.
    Exceeded(Decision),
    /// The counters could not be reached, and the limits refuse requests in that case: 503.
    Unreachable(StoreError),
    /// The request names no customer to charge, and the caller of the layer refuses such requests
    /// with this status.
    Unidentified(StatusCode),
}

impl Limiter {
    /// Charges one request. Returns `Ok(None)` if the counters did not answer and the limits allow
    /// requests in that case.
    ///
    /// # Errors
    /// [`LimitRefusal`]: the request must not be served.
    pub async fn admit(
        &self,
        customer: &str,
        call_type: CallType,
        now: Timestamp,
    ) -> Result<Option<Decision>, LimitRefusal> {
        match self.check(customer, call_type, now, 1).await {
            Ok(CheckOutcome::Decided(decision)) if decision.is_allowed() => Ok(Some(decision)),
            Ok(CheckOutcome::Decided(decision)) => Err(LimitRefusal::Exceeded(decision)),
            Ok(CheckOutcome::Unchecked { error }) => {
                tracing::warn!(error = %error, call_type = %call_type, "the counters did not answer; allowed");
                Ok(None)
            }
            Err(CheckError::Cost(error)) => unreachable!("{error}, but a limit is at least 1"),
            Err(CheckError::Store(error)) => Err(LimitRefusal::Unreachable(error)),
        }
    }
}

impl LimitRefusal {
    /// Returns the status of the answer.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        match self {
            Self::Exceeded(_) => StatusCode::TOO_MANY_REQUESTS,
            Self::Unreachable(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::Unidentified(status) => *status,
        }
    }

    /// Writes `Retry-After` in whole seconds, rounded up, so that a request at that time is served,
    /// and `RateLimit` and `RateLimit-Policy` if `rate_limit` is true. Nothing is written unless a
    /// limit is used up.
    pub fn write_headers(&self, rate_limit: bool, out: &mut HeaderMap) {
        let Self::Exceeded(decision) = self else {
            return;
        };
        if let Some(seconds) = decision.retry_after_seconds() {
            out.insert(RETRY_AFTER, seconds.into());
        }
        if rate_limit {
            write_rate_limit(decision, out);
        }
    }
}

/// The body of a refusal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RefusalBody {
    /// The media type; `None` without a body.
    pub content_type: Option<HeaderValue>,
    /// The bytes of the body.
    pub bytes: Bytes,
}

impl RefusalBody {
    /// Makes a JSON body.
    #[must_use]
    pub fn json(text: impl Into<Bytes>) -> Self {
        Self {
            content_type: Some(HeaderValue::from_static("application/json")),
            bytes: text.into(),
        }
    }

    /// Makes a problem (RFC 9457). An exceeded limit has the type `quota-exceeded` and names the
    /// windows that refused; the request's key is the `instance`.
    #[must_use]
    pub fn problem(refusal: &LimitRefusal, key: Option<RequestKey>) -> Self {
        let status = refusal.status();
        let mut text = String::from(r#"{"type":""#);
        let mut violated = String::new();
        if let LimitRefusal::Exceeded(decision) = refusal {
            text.push_str("https://iana.org/assignments/http-problem-types#quota-exceeded");
            for window in decision.windows().filter(|window| window.refused) {
                let comma = if violated.is_empty() { "" } else { "," };
                write!(violated, "{comma}\"{}\"", name_of(window.window))
                    .expect("a String takes everything");
            }
        } else {
            text.push_str("about:blank");
        }
        let title = status.canonical_reason().unwrap_or_default();
        write!(text, r#"","title":"{title}","status":{}"#, status.as_u16())
            .expect("a String takes everything");
        if let Some(key) = key {
            write!(text, r#","instance":"urn:uuid:{key}""#).expect("a String takes everything");
        }
        if !violated.is_empty() {
            write!(text, r#","violated-policies":[{violated}]"#)
                .expect("a String takes everything");
        }
        text.push('}');
        Self {
            content_type: Some(HeaderValue::from_static("application/problem+json")),
            bytes: text.into(),
        }
    }
}
