//! Requests that get to no endpoint: to unknown paths, and with too long addresses or headers.

use crate::answer::{Exchange, head_title, json};
use crate::{ProviderOptions, StatementFailure};
use axum::extract::Request;
use axum::response::Response;
use bankrail_http::{BodyReader, HeadFault};
use bankrail_statement::{ErrorCode, StatementErrorBody};
use http::header::CACHE_CONTROL;
use http::request::Parts;
use http::{HeaderValue, StatusCode};

/// Answers with this code and status in the statement endpoint's error shape.
pub(crate) async fn handle((code, status): (ErrorCode, StatusCode), request: Request) -> Response {
    let (head, body) = request.into_parts();
    let exchange = Exchange::new("none", &head.extensions);
    exchange.drain(BodyReader::new(&head.headers, body)).await;
    exchange.refused("path");
    let body = StatementErrorBody::new(exchange.key, code, "Not found");
    exchange.finish(json(status, body.to_json()))
}

/// Answers a request with a too long address or too long headers in the statement endpoint's error shape.
pub(crate) fn head_refused(options: &ProviderOptions, fault: HeadFault, head: &Parts) -> Response {
    let endpoint = if head.uri.path() == options.statement_path { "statement" } else { "none" };
    let exchange = Exchange::new(endpoint, &head.extensions);
    exchange.refused("head");
    let failure = match fault {
        HeadFault::UriTooLong { .. } => StatementFailure::UriTooLong,
        _ => StatementFailure::HeadersTooLarge,
    };
    let (code, status) = failure.answer(options);
    let body = StatementErrorBody::new(exchange.key, code, head_title(fault));
    let mut response = json(status, body.to_json());
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    exchange.finish(response)
}
