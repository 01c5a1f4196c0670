//! Requests to unknown paths.

use crate::answer::{Exchange, json};
use axum::extract::Request;
use axum::response::Response;
use bankrail_http::BodyReader;
use bankrail_statement::{ErrorCode, StatementErrorBody};
use http::StatusCode;

/// Answers with this code and status in the statement endpoint's error shape.
pub(crate) async fn handle((code, status): (ErrorCode, StatusCode), request: Request) -> Response {
    let (head, body) = request.into_parts();
    let exchange = Exchange::new("none", &head.extensions);
    exchange.drain(BodyReader::new(&head.headers, body)).await;
    let body = StatementErrorBody::new(exchange.key, code, "Not found");
    exchange.finish(json(status, body.to_json()))
}
