//! What all answers share: JSON and a log line. The layer around the routers sets their `X-RequestKey`.

use crate::{CallOutcome, CallRefusal, measure};
use axum::body::Body;
use axum::response::Response;
use bankrail_client_assertion::CustomerCode;
use bankrail_http::{BodyError, BodyReader, HeadFault, RequestKey, Sender};
use bankrail_values::HyphenatedUuid;
use bytes::Bytes;
use futures_util::FutureExt as _;
use http::header::{ALLOW, CONTENT_TYPE};
use http::{Extensions, HeaderValue, StatusCode};
use std::fmt;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// How long the unread body of a refused request may take to be drained.
const DRAINING: Duration = Duration::from_secs(5);

/// A JSON answer.
pub(crate) fn json(status: StatusCode, body: impl Into<Bytes>) -> Response {
    let mut response = Response::new(Body::from(body.into()));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// The status and the text for a body that was not read.
pub(crate) fn body_answer(error: &BodyError) -> (StatusCode, &'static str) {
    match error {
        BodyError::TooLarge { .. } => (StatusCode::PAYLOAD_TOO_LARGE, "Request body too large"),
        BodyError::TimedOut { .. } => (StatusCode::REQUEST_TIMEOUT, "Request body incomplete after the time allowed"),
        _ => (StatusCode::BAD_REQUEST, "Request body incomplete"),
    }
}

/// The text for a too long address or too long headers.
pub(crate) fn head_title(fault: HeadFault) -> &'static str {
    match fault {
        HeadFault::UriTooLong { .. } => "Address too long",
        _ => "Headers too large",
    }
}

/// Sets `Allow`, which every 405 has.
pub(crate) fn allow(response: &mut Response, methods: &'static str) {
    response.headers_mut().insert(ALLOW, HeaderValue::from_static(methods));
}

/// A request that is being served by an endpoint.
#[derive(Debug)]
pub(crate) struct Exchange {
    endpoint: &'static str,
    pub(crate) key: HyphenatedUuid,
    pub(crate) customer: Option<CustomerCode>,
    refusal: OnceLock<CallRefusal>,
    started: Instant,
}

impl Exchange {
    pub(crate) fn new(endpoint: &'static str, request: &Extensions) -> Self {
        let key = RequestKey::of(request)
            .expect("every router of the provider is inside the layer that sets the request key");
        Self { endpoint, key: key.uuid(), customer: None, refusal: OnceLock::new(), started: Instant::now() }
    }

    /// Drains the unread body of a refused request, so that its sender gets the answer.
    pub(crate) async fn drain(&self, body: BodyReader<Body>) {
        let sender = if self.customer.is_some() { Sender::Known } else { Sender::Unknown };
        body.drain(sender, DRAINING).await;
    }

    /// Logs a failure of the provider's side: what failed, and the kind of its error. Never its causes, because the
    /// error of a ledger or a store can quote names, accounts and amounts.
    pub(crate) fn log_failure(&self, what: &'static str, kind: impl fmt::Display) {
        tracing::error!(request_key = %self.key, endpoint = %self.endpoint, error = %kind, "{what} failed");
    }

    /// Logs the kind of the error of a refused assertion, for support staff.
    pub(crate) fn log_refused_assertion(&self, kind: &'static str) {
        let customer = self.customer.as_ref().map(tracing::field::display);
        tracing::info!(
            request_key = %self.key,
            endpoint = %self.endpoint,
            customer,
            error = %kind,
            "assertion refused"
        );
    }

    /// Counts a refusal or failure.
    pub(crate) fn refused(&self, reason: &'static str) {
        self.refused_for(reason, None);
    }

    /// Counts a refusal or failure, and keeps its detail for [`CallOutcome`].
    pub(crate) fn refused_for(&self, reason: &'static str, detail: Option<String>) {
        measure::endpoints::refused(self.endpoint, reason);
        // The first one is why the answer is what it is.
        let _ = self.refusal.set(CallRefusal { reason, detail });
    }

    /// Logs and counts the status and the duration, and logs the customer, without secrets or contents. Adds the
    /// [`CallOutcome`].
    pub(crate) fn finish(self, mut response: Response) -> Response {
        let took = self.started.elapsed();
        measure::endpoints::answered(self.endpoint, response.status(), took);
        tracing::info!(
            request_key = %self.key,
            endpoint = %self.endpoint,
            customer = self.customer.as_ref().map(tracing::field::display),
            status = response.status().as_u16(),
            duration_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            "answered"
        );
        let Self { endpoint, customer, refusal, .. } = self;
        response.extensions_mut().insert(CallOutcome { endpoint, customer, refusal: refusal.into_inner() });
        response
    }
}

/// Awaits a future; `None` if it panics. The panic hook has reported the panic.
pub(crate) async fn unless_it_panics<T>(key: HyphenatedUuid, serving: impl Future<Output = T>) -> Option<T> {
    let served = AssertUnwindSafe(serving).catch_unwind().await;
    if served.is_err() {
        tracing::error!(request_key = %key, "serving panicked");
    }
    served.ok()
}
