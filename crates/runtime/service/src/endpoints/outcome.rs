//! The outcome of a call, for the program that the routers run in.

use bankrail_client_assertion::CustomerCode;
use http::Extensions;
use std::fmt;

/// The outcome of a call: an extension of each answer of the provider's routers, for layers around
/// them that log or show calls. The outcome does not leave the process.
///
/// ```
/// use axum::middleware::{Next, from_fn};
/// use bankrail_service::{CallOutcome, Provider};
///
/// fn with_log(provider: &Provider) -> axum::Router {
///     provider.router().layer(from_fn(async |request: axum::extract::Request, next: Next| {
///         let answer = next.run(request).await;
///         if let Some(refusal) = CallOutcome::of(answer.extensions()).and_then(|outcome| outcome.refusal.as_ref()) {
///             eprintln!("refused: {refusal}");
///         }
///         answer
///     }))
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallOutcome {
    /// The endpoint that was called: `token`, `statement`, `document`, `authorization` or `none`,
    /// as in logs and metrics.
    pub endpoint: &'static str,
    /// The customer whose API key the request had, if it was looked up and known.
    pub customer: Option<CustomerCode>,
    /// The reason why the call was refused or failed; `None` if it was served.
    pub refusal: Option<CallRefusal>,
}

impl CallOutcome {
    /// Returns the outcome among the extensions of an answer; `None` if the answer is not one of
    /// the provider's routers.
    #[must_use]
    pub fn of(answer: &Extensions) -> Option<&Self> {
        answer.get()
    }
}

/// The reason why a call was refused or failed. Show it to the provider's own staff only: the
/// detail of a refused assertion would help an attacker to improve a forged one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallRefusal {
    /// The reason in one word, as in metrics: `assertion`, `limit`, `account` and so on.
    pub reason: &'static str,
    /// The expectation and the value found, if the reason needs them. Claims and parameters of the
    /// request are quoted cut and escaped; no API key, assertion, token, account, name or amount
    /// is.
    pub detail: Option<String>,
}

/// Writes `REASON: DETAIL`, or the reason alone.
impl fmt::Display for CallRefusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.detail {
            Some(detail) => write!(out, "{}: {detail}", self.reason),
            None => out.write_str(self.reason),
        }
    }
}
