//! The answers to a delivery.

use axum::body::Body;
use bankrail_mailbox::OpaqueBytes;
use http::header::{ALLOW, CONNECTION, CONTENT_TYPE};
use http::{HeaderValue, Response, StatusCode};

/// The same text for every fault of a delivery, so that an attacker does not learn which one it is.
const REFUSED: &str = r#"{"status":"400","title":"Bad Request","detail":"The delivery was refused."}"#;
const FAILED: &str =
    r#"{"status":"500","title":"Internal Server Error","detail":"The delivery was not stored. Deliver it again."}"#;

pub(super) fn acknowledged(acknowledgement: OpaqueBytes) -> Response<Body> {
    json(StatusCode::OK, Body::from(acknowledgement.into_vec()))
}

pub(super) fn refused() -> Response<Body> {
    json(StatusCode::BAD_REQUEST, Body::from(REFUSED))
}

pub(super) fn failed() -> Response<Body> {
    json(StatusCode::INTERNAL_SERVER_ERROR, Body::from(FAILED))
}

/// A status without a body.
pub(super) fn empty(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    match status {
        StatusCode::METHOD_NOT_ALLOWED => {
            response.headers_mut().insert(ALLOW, HeaderValue::from_static("POST"));
        }
        // The rest of the body is not read, so the connection cannot be used again.
        StatusCode::PAYLOAD_TOO_LARGE | StatusCode::REQUEST_TIMEOUT => {
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        _ => {}
    }
    response
}

fn json(status: StatusCode, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
