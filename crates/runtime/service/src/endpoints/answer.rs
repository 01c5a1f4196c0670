//! The answer to a request, with its log line, its metrics and its [`CallOutcome`].

use super::refusal::{Refusal, Row};
use crate::{CallOutcome, CallRefusal, ProviderOptions, TokenErrorStyle};
use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use bankrail_client_assertion::CustomerCode;
use bankrail_client_assertion::token::{TokenErrorBody, TokenErrorCode};
use bankrail_http::{
    __private::{BodyReader, DRAINING, Peer},
    RequestKey,
};
use bankrail_rate_limit::Decision;
use bankrail_rate_limit::layer::write_rate_limit;
use bankrail_statement::StatementErrorBody;
use bankrail_values::HyphenatedUuid;
use bytes::Bytes;
use http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, PRAGMA};
use http::request::Parts;
use http::{Extensions, HeaderValue, StatusCode};
use std::fmt;
use std::sync::OnceLock;
use tokio::time::Instant;

/// Returns a JSON answer.
pub(crate) fn json(status: StatusCode, body: impl Into<Bytes>) -> Response {
    let mut response = Response::new(Body::from(body.into()));
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// Answers a request that needs no API key, from its head alone.
pub(crate) async fn to_everybody(
    endpoint: &'static str,
    options: &ProviderOptions,
    request: Request,
    answer: impl FnOnce(&Parts) -> Result<Response, Refusal>,
) -> Response {
    let (head, body) = request.into_parts();
    let exchange = Exchange::new(endpoint, &head.extensions, options);
    // A client that still sends would otherwise see a broken connection in place of the answer.
    BodyReader::new(&head.headers, body)
        .drain(Peer::Unknown, DRAINING)
        .await;
    exchange.finish(None, answer(&head))
}

/// A request that is being served by an endpoint.
#[derive(Debug)]
pub(crate) struct Exchange<'a> {
    pub(crate) endpoint: &'static str,
    pub(crate) key: HyphenatedUuid,
    options: &'a ProviderOptions,
    /// The decision of the limit, once the request is admitted.
    pub(crate) admitted: OnceLock<Option<Decision>>,
    started: Instant,
}

impl<'a> Exchange<'a> {
    pub(crate) fn new(
        endpoint: &'static str,
        request: &Extensions,
        options: &'a ProviderOptions,
    ) -> Self {
        let key = RequestKey::of(request)
            .expect("every router of the provider is inside the layer that sets the request key");
        Self {
            endpoint,
            key: key.uuid(),
            options,
            admitted: OnceLock::new(),
            started: Instant::now(),
        }
    }

    /// Logs that a part of the provider failed, with the kind of the error.
    pub(crate) fn log_failure(&self, what: &'static str, kind: impl fmt::Display) {
        tracing::error!(request_key = %self.key, endpoint = %self.endpoint, error = %kind, "{what} failed");
    }

    /// Writes the answer. Logs and counts the status and the duration, and logs the customer,
    /// without secrets or contents. Adds the [`CallOutcome`]. The layer around the routers sets the
    /// answer's `X-RequestKey`.
    pub(crate) fn finish(
        self,
        customer: Option<CustomerCode>,
        served: Result<Response, Refusal>,
    ) -> Response {
        let (mut response, refusal) = match served {
            Ok(response) => (response, None),
            Err(refusal) => {
                let row = refusal.row(self.key, self.options);
                row.log(&self, customer.as_ref());
                count_refusal(self.endpoint, row.reason);
                let mut response = self.refuse(&row);
                if let Refusal::Limit(refusal, with_headers) = &refusal {
                    refusal.write_headers(*with_headers, response.headers_mut());
                }
                (
                    response,
                    Some(CallRefusal {
                        reason: row.reason,
                        detail: row.detail,
                    }),
                )
            }
        };
        let headers = response.headers_mut();
        if let Some(Some(decision)) = self
            .admitted
            .get()
            .filter(|_| self.options.rate_limit_headers)
        {
            write_rate_limit(decision, headers);
        }
        headers
            .entry(CACHE_CONTROL)
            .or_insert(HeaderValue::from_static("no-store"));
        if self.endpoint == "token" {
            // RFC 6749 section 5.1.
            headers.insert(PRAGMA, HeaderValue::from_static("no-cache"));
        }
        // The steady clock of the process: the provider's clock may be set by tests and operators.
        let took = self.started.elapsed();
        count_answer(self.endpoint, response.status(), took);
        let left_out = self.options.strangers.admit(customer.is_some());
        if let Some(calls @ 1..) = left_out {
            tracing::info!(calls, "further calls without a known API key were answered");
        }
        if left_out.is_some() {
            tracing::info!(
                request_key = %self.key,
                endpoint = %self.endpoint,
                customer = customer.as_ref().map(tracing::field::display),
                status = response.status().as_u16(),
                duration_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
                "answered"
            );
        }
        response.extensions_mut().insert(CallOutcome {
            endpoint: self.endpoint,
            customer,
            refusal,
        });
        response
    }

    fn refuse(&self, row: &Row) -> Response {
        let style = match (self.endpoint, &row.code) {
            ("token", _) => Some(self.options.token_error_body),
            ("authorization", Some(_)) => Some(TokenErrorStyle::Rfc6749),
            _ => None,
        };
        let statement =
            |code, title: &str| StatementErrorBody::new(self.key, code, title).to_json();
        let (status, body) = if let Some(style) = style {
            let code = row.code.clone().unwrap_or_else(|| row.failure.token_code());
            let body = match style {
                TokenErrorStyle::Rfc6749 => {
                    let mut body = TokenErrorBody::new(code);
                    body.error_description.clone_from(&row.title);
                    body.to_json()
                }
                TokenErrorStyle::Statement => statement(
                    row.failure.default_code(),
                    row.title.as_deref().unwrap_or_else(|| meaning(&code)),
                ),
            };
            (row.failure.default_status(), body)
        } else {
            let (code, status) = self.options.answer(row.failure);
            let internal = || StatementErrorBody::internal(self.key).title;
            (
                status,
                statement(code, &row.title.clone().unwrap_or_else(internal)),
            )
        };
        let mut response = json(status, body);
        // A request for a token has no bearer token, so that no answer to it demands one.
        if let Some((name, value)) = row
            .header
            .as_ref()
            .filter(|(name, _)| style.is_none() || *name == ALLOW)
            && let Ok(value) = HeaderValue::try_from(value)
        {
            response.headers_mut().insert(name, value);
        }
        response
    }
}

/// Returns the meaning of a code for people, which must not reveal why an assertion was refused.
fn meaning(code: &TokenErrorCode) -> &str {
    match code {
        TokenErrorCode::InvalidRequest => "Invalid request",
        TokenErrorCode::InvalidClient => "Invalid client",
        TokenErrorCode::UnsupportedGrantType => "Unsupported grant type",
        TokenErrorCode::InvalidScope => "Invalid scope",
        TokenErrorCode::ServerError => "Internal error",
        TokenErrorCode::TemporarilyUnavailable => "Temporarily unavailable",
        other => other.as_str(),
    }
}

/// Counts an answer.
#[cfg_attr(
    not(feature = "metrics"),
    expect(unused_variables, reason = "counted with the feature `metrics` only")
)]
fn count_answer(endpoint: &'static str, status: StatusCode, took: std::time::Duration) {
    #[cfg(feature = "metrics")]
    {
        let status = status.as_str().to_owned();
        metrics::counter!("bankrail_requests_total", "endpoint" => endpoint, "status" => status)
            .increment(1);
        metrics::histogram!("bankrail_request_duration_seconds", "endpoint" => endpoint)
            .record(took);
    }
}

/// Counts a request that was refused or failed.
#[cfg_attr(
    not(feature = "metrics"),
    expect(unused_variables, reason = "counted with the feature `metrics` only")
)]
fn count_refusal(endpoint: &'static str, reason: &'static str) {
    #[cfg(feature = "metrics")]
    metrics::counter!("bankrail_refusals_total", "endpoint" => endpoint, "reason" => reason)
        .increment(1);
}

/// Describes the metrics of the endpoints to the recorder, if it is there already.
pub(super) fn describe_metrics() {
    #[cfg(feature = "metrics")]
    {
        use metrics::{Unit, describe_counter, describe_histogram};
        describe_counter!(
            "bankrail_requests_total",
            "answers by endpoint and HTTP status"
        );
        describe_histogram!(
            "bankrail_request_duration_seconds",
            Unit::Seconds,
            "durations of requests by endpoint"
        );
        describe_counter!(
            "bankrail_refusals_total",
            "refused and failed requests by endpoint and reason"
        );
    }
}
