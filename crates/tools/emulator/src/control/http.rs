//! The control over HTTP.

use super::{Arguments, Control, ControlError, Operation};
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use bankrail_values::{SecretString, excerpt};
use http::header::{ALLOW, AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{HeaderName, HeaderValue, Method, Response, StatusCode};
use serde_json::{Value, json};

/// The maximum number of bytes of a request's body: enough for a file of bookings.
const MAX_BODY: usize = 8 * 1024 * 1024;

#[derive(Clone, Debug)]
struct Guarded {
    control: Control,
    token: SecretString,
}

/// A refusal: the status, the error text, and an additional header.
type Refusal = (StatusCode, String, Option<(HeaderName, HeaderValue)>);

impl Control {
    /// Serves each [`Operation`] as `POST /_bank/NAME` with its arguments as a JSON object. Clients
    /// send `token` as `Authorization: Bearer …`. Every answer is a JSON object; a refusal has the
    /// text member `error`.
    ///
    /// | status | why |
    /// |---|---|
    /// | 400 | the operation was given something wrong |
    /// | 401 | there is no token, or another one |
    /// | 404 | there is no such path, or nothing of that name |
    /// | 405 | the method is not POST |
    /// | 409 | the assertion does not hold |
    /// | 413 | the body is longer than 8 MiB |
    /// | 500 | the bank cannot do it |
    ///
    /// The token's owner controls the bank: serve it on loopback, and keep the token in a file for
    /// its owner alone.
    pub fn router(&self, token: SecretString) -> Router {
        Router::new().fallback(answer).with_state(Guarded {
            control: self.clone(),
            token,
        })
    }
}

async fn answer(State(guarded): State<Guarded>, request: Request) -> Response<Body> {
    let (status, body, header) = match guarded.serve(request).await {
        Ok(said) => (StatusCode::OK, said, None),
        Err((status, error, header)) => (status, json!({ "error": error }), header),
    };
    let mut answer = Response::new(Body::from(body.to_string()));
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.extend(header);
    answer
}

impl Guarded {
    async fn serve(&self, request: Request) -> Result<Value, Refusal> {
        let (head, body) = request.into_parts();
        let sent = head
            .headers
            .get(AUTHORIZATION)
            .and_then(|value| value.as_bytes().strip_prefix(b"Bearer "));
        if !sent.is_some_and(|sent| self.token.matches(sent)) {
            let challenge = (WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            let error =
                "expected the token of this bank as Authorization: Bearer, found none or another";
            return Err((StatusCode::UNAUTHORIZED, error.to_owned(), Some(challenge)));
        }
        let name = head.uri.path().strip_prefix("/_bank/");
        let operation = name.and_then(|name| name.parse::<Operation>().ok());
        let Some(operation) = operation else {
            let error = format!(
                "expected an operation such as /_bank/clock, found {}",
                excerpt(head.uri.path())
            );
            return Err((StatusCode::NOT_FOUND, error, None));
        };
        if head.method != Method::POST {
            let error = format!("expected POST, found {}", excerpt(head.method.as_str()));
            return Err((
                StatusCode::METHOD_NOT_ALLOWED,
                error,
                Some((ALLOW, HeaderValue::from_static("POST"))),
            ));
        }
        let Ok(body) = to_bytes(body, MAX_BODY).await else {
            let error = format!("expected a body of at most {MAX_BODY} bytes, found a longer one");
            return Err((StatusCode::PAYLOAD_TOO_LARGE, error, None));
        };
        let arguments = Arguments::from_json(operation, &body);
        let refused = |error: ControlError| (error.status(), error.to_string(), None);
        self.control
            .carry_out(&arguments.map_err(refused)?)
            .await
            .map_err(refused)
    }
}
