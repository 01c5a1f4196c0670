//! What is asked of no endpoint.

use crate::answer::{Exchange, json};
use crate::body::RequestBody;
use axum::extract::Request;
use axum::response::Response;
use bankrail_statement::{ErrorCode, StatementErrorBody};
use http::StatusCode;

/// 404 in the statement endpoint's error shape: the token endpoint is known to be elsewhere.
pub(crate) async fn handle(request: Request) -> Response {
    let (head, body) = request.into_parts();
    RequestBody::new(&head.headers, body).drain(false).await;
    let exchange = Exchange::new("none");
    let status = StatusCode::NOT_FOUND;
    let body = StatementErrorBody::new(exchange.key, ErrorCode::for_status(status.as_u16()), "Not found");
    exchange.finish(json(status, body.to_json()))
}
