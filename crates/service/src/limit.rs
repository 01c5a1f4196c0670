//! Rate limits over HTTP: a [`tower::Layer`] for services of the caller's own, with the same limits, headers and order
//! of steps as the two endpoints of this crate (Specification: "Limits" and "Errors").
//!
//! ```
//! use bankrail_rate_limit::{CallType, Limiter, Limits, StoreLimiter};
//! use bankrail_service::limit::{LimitKey, LimitLayer};
//! use bankrail_values::SystemClock;
//! use std::sync::Arc;
//!
//! let limits = Arc::new(StoreLimiter::new(Limits::default(), Arc::new(Limiter::default())));
//! let layer = LimitLayer::new(limits, Arc::new(SystemClock), |request| {
//!     // Whatever proved who calls, further out, left the customer's code in the extensions.
//!     let customer = request.extensions.get::<String>()?;
//!     Some(LimitKey::new(customer, CallType::PaymentEnquiry))
//! })
//! .with_problem_json()
//! .with_rate_limit_headers();
//! # let _ = layer;
//! ```

mod headers;
mod layer;

pub use self::layer::{LimitKey, LimitLayer, LimitService, RefusalBody};

use bankrail_rate_limit::{CallType, Decision, StoreCheckError, StoreLimiter};
use bankrail_values::{StoreError, Timestamp};
use http::{HeaderMap, StatusCode};

/// Why a request is not served.
#[derive(Debug)]
#[non_exhaustive]
pub enum LimitRefusal {
    /// The limit is used up: 429, with `Retry-After`.
    Exceeded(Decision),
    /// The limit is lower than one request, so none is ever served: 429.
    Blocked,
    /// The counters could not be reached and the limits say to refuse then: 503.
    Unreachable(StoreError),
}

impl LimitRefusal {
    /// The status of the answer.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        match self {
            Self::Exceeded(_) | Self::Blocked => StatusCode::TOO_MANY_REQUESTS,
            Self::Unreachable(_) => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    /// `Retry-After`, and the others where they are wanted.
    pub(crate) fn write_headers(&self, all: bool, out: &mut HeaderMap) {
        if let Self::Exceeded(decision) = self {
            headers::write_retry_after(decision, out);
            if all {
                write_rate_limit(decision, out);
            }
        }
    }
}

/// Charges one request. `Ok(None)` if nobody counted it, as the limits say to do while the counters cannot be reached.
pub(crate) async fn charge(
    limits: &StoreLimiter,
    customer: &str,
    call_type: CallType,
    now: Timestamp,
) -> Result<Option<Decision>, LimitRefusal> {
    let answer = match limits.check(customer, call_type, now, 1).await {
        Ok(answer) => answer,
        Err(StoreCheckError::Store(error)) => return Err(LimitRefusal::Unreachable(error)),
        Err(_) => return Err(LimitRefusal::Blocked),
    };
    if let Some(error) = answer.store_error() {
        tracing::warn!(error = %error, call_type = %call_type, "the shared counters did not answer");
    }
    match answer.decision() {
        Some(decision) if !decision.is_allowed() => Err(LimitRefusal::Exceeded(*decision)),
        decision => Ok(decision.copied()),
    }
}

pub(crate) use headers::write_rate_limit;
