//! What every answer has: a request key, JSON, a line in the log.

use axum::body::Body;
use axum::response::Response;
use bankrail_client_assertion::CustomerCode;
use bankrail_values::HyphenatedUuid;
use bytes::Bytes;
use futures_util::FutureExt as _;
use http::header::{ALLOW, CONTENT_TYPE};
use http::{HeaderName, HeaderValue, StatusCode};
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::time::Instant;
use uuid::Uuid;

/// The header that carries the request key (Specification: "What the service does").
pub(crate) const REQUEST_KEY: HeaderName = HeaderName::from_static("x-requestkey");

/// A new random (version 4) request key.
pub(crate) fn fresh_request_key() -> HyphenatedUuid {
    Uuid::new_v4().into()
}

pub(crate) fn header_value(key: HyphenatedUuid) -> HeaderValue {
    HeaderValue::try_from(key.to_string()).expect("digits and hyphens are a header value")
}

/// A JSON answer.
pub(crate) fn json(status: StatusCode, body: impl Into<Bytes>) -> Response {
    let mut response = Response::new(Body::from(body.into()));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// `Allow: POST`, which goes with every 405.
pub(crate) fn allow_post(response: &mut Response) {
    response.headers_mut().insert(ALLOW, HeaderValue::from_static("POST"));
}

/// One request on its way through an endpoint.
#[derive(Debug)]
pub(crate) struct Exchange {
    endpoint: &'static str,
    pub(crate) key: HyphenatedUuid,
    pub(crate) customer: Option<CustomerCode>,
    started: Instant,
}

impl Exchange {
    pub(crate) fn new(endpoint: &'static str) -> Self {
        Self { endpoint, key: fresh_request_key(), customer: None, started: Instant::now() }
    }

    /// Logs a failure of ours with its causes.
    pub(crate) fn log_failure(&self, what: &'static str, error: &dyn std::error::Error) {
        let causes = std::iter::successors(error.source(), |cause| cause.source());
        let causes = causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"));
        tracing::error!(request_key = %self.key, endpoint = self.endpoint, error = causes, "{what} failed");
    }

    /// Logs why an assertion got no token: the kind of the error, by which support can help.
    pub(crate) fn log_refused_assertion(&self, kind: &'static str) {
        let customer = self.customer.as_ref().map(CustomerCode::as_str);
        tracing::info!(request_key = %self.key, endpoint = self.endpoint, customer, kind, "assertion refused");
    }

    /// Adds the request key and logs who, what came of it and how long it took; no secret and no content.
    pub(crate) fn finish(self, mut response: Response) -> Response {
        response.headers_mut().insert(REQUEST_KEY, header_value(self.key));
        tracing::info!(
            request_key = %self.key,
            endpoint = self.endpoint,
            customer = self.customer.as_ref().map(CustomerCode::as_str),
            status = response.status().as_u16(),
            duration_ms = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX),
            "answered"
        );
        response
    }
}

/// What a future comes to; `None` if it panics. The panic's own message went to the panic hook.
pub(crate) async fn unless_it_panics<T>(key: HyphenatedUuid, serving: impl Future<Output = T>) -> Option<T> {
    let served = AssertUnwindSafe(serving).catch_unwind().await;
    if served.is_err() {
        tracing::error!(request_key = %key, "serving panicked");
    }
    served.ok()
}
