//! The front of the bank: it records each call and lets it meet its fault, and the provider answers it.

use crate::body;
use crate::call::{Call, Endpoint};
use crate::fault::{Fault, Plan};
use crate::ids::Ids;
use crate::ledger::{WRONG_NARRATIVE, WrongNarrative};
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::State;
use bankrail_client_assertion::token::{AccessToken, TokenErrorBody, TokenErrorCode, TokenResponse, TokenStore};
use bankrail_http::RequestKey;
use bankrail_http::names::REQUEST_KEY;
use bankrail_statement::{Cursor, ErrorCode, StatementErrorBody};
use bankrail_stores::memory::MemoryStore;
use bankrail_values::{Clock as _, HyphenatedUuid, ManualClock};
use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tower::ServiceExt as _;

/// The most bytes of a request that are recorded; the provider's own bounds are below.
const MAX_REQUEST: usize = 64 * 1024;
/// A statement in memory while it is spoiled: 1000 entries of the longest kind.
const MAX_ANSWER: usize = 64 * 1024 * 1024;
/// The calls that are kept; the oldest are forgotten.
const MAX_CALLS: usize = 10_000;

#[derive(Debug)]
pub(crate) struct Front {
    pub(crate) provider: Router,
    pub(crate) plan: Plan,
    pub(crate) store: MemoryStore,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) ids: Arc<Ids>,
    pub(crate) state: Mutex<FrontState>,
}

#[derive(Debug, Default)]
pub(crate) struct FrontState {
    calls: Vec<Call>,
    /// How many of the oldest calls were forgotten.
    forgotten: usize,
    /// By account: the cursor that returns to its page until the account is asked for its first page.
    repeating: HashMap<String, Repeating>,
}

#[derive(Debug)]
struct Repeating {
    cursor: String,
    /// Whether the provider does not know it, because it is that of the first page.
    is_invented: bool,
}

impl Front {
    pub(crate) fn router(self: &Arc<Self>) -> Router {
        Router::new().fallback(answer).with_state(Arc::clone(self))
    }

    pub(crate) fn calls(&self) -> Vec<Call> {
        self.lock().calls.clone()
    }

    pub(crate) fn forget_calls(&self) {
        let mut state = self.lock();
        state.forgotten += state.calls.len();
        state.calls.clear();
    }

    fn lock(&self) -> MutexGuard<'_, FrontState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a call and returns its number.
    fn begin(&self, call: Call) -> usize {
        let mut state = self.lock();
        if state.calls.len() >= MAX_CALLS {
            state.calls.remove(0);
            state.forgotten += 1;
        }
        state.calls.push(call);
        state.forgotten + state.calls.len() - 1
    }

    fn end(&self, number: usize, status: StatusCode) {
        let mut state = self.lock();
        let at = number.checked_sub(state.forgotten);
        if let Some(call) = at.and_then(|at| state.calls.get_mut(at)) {
            call.status = Some(status.as_u16());
        }
    }

    async fn serve(&self, mut parts: Parts, body: Bytes, endpoint: Endpoint, fault: Option<Fault>) -> Response<Body> {
        let key = self.ids.uuid();
        if let Some(key) = request_key(key) {
            parts.extensions.insert(key);
        }
        let (repeating, body) = self.repeating(endpoint, body);
        match fault {
            None => {
                let answer = self.provide(parts, body).await;
                match repeating {
                    Some(cursor) => under_cursor(answer, &cursor).await,
                    None => answer,
                }
            }
            Some(Fault::TooManyCalls { retry_after }) => {
                let mut answer = refusal(endpoint, StatusCode::TOO_MANY_REQUESTS, key);
                if let Some(seconds) = retry_after {
                    answer.headers_mut().insert(RETRY_AFTER, seconds.as_secs().into());
                }
                answer
            }
            Some(Fault::Status(status)) => {
                let status = StatusCode::from_u16(status).expect(CHECKED);
                refusal(endpoint, status, key)
            }
            Some(Fault::Answer { status, content_type, body }) => {
                let status = StatusCode::from_u16(status).expect(CHECKED);
                made(status, &content_type, key, Body::from(body))
            }
            Some(Fault::Reset) => Response::new(body::reset()),
            Some(Fault::Endless { bytes }) => made(StatusCode::OK, JSON, key, body::endless(bytes)),
            Some(Fault::StaleToken) => self.with_stale_token(endpoint, parts, body).await,
            Some(Fault::RepeatingCursor) => self.begin_to_repeat(parts, body).await,
            Some(Fault::WrongNarrative) => {
                let asked = member(&body, "includeNarrative").is_none_or(|asked| asked != false && asked != "false");
                let wrong = if asked { WrongNarrative::Hidden } else { WrongNarrative::Shown };
                WRONG_NARRATIVE.scope(wrong, self.provide(parts, body)).await
            }
            Some(Fault::HalfBody) => {
                spoiled(self.provide(parts, body).await, |headers, body| {
                    headers.insert(CONTENT_LENGTH, body.len().into());
                    body::half(body)
                })
                .await
            }
            Some(Fault::SlowDrip { bytes, pause }) => {
                spoiled(self.provide(parts, body).await, |_, body| body::drip(body, bytes, pause)).await
            }
            Some(Fault::ContentType(found)) => {
                let value = HeaderValue::try_from(found).expect(CHECKED);
                let mut answer = self.provide(parts, body).await;
                answer.headers_mut().insert(CONTENT_TYPE, value);
                answer
            }
            Some(Fault::Gzip) => {
                spoiled(self.provide(parts, body).await, |headers, body| {
                    headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
                    headers.remove(CONTENT_LENGTH);
                    Body::from(body::gzip(&body))
                })
                .await
            }
        }
    }

    async fn provide(&self, parts: Parts, body: Bytes) -> Response<Body> {
        let served = self.provider.clone().oneshot(Request::from_parts(parts, Body::from(body))).await;
        served.unwrap_or_else(|never| match never {})
    }

    async fn with_stale_token(&self, endpoint: Endpoint, parts: Parts, body: Bytes) -> Response<Body> {
        if endpoint == Endpoint::Statement {
            let bearer = parts.headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
            if let Some(token) = bearer.and_then(|bearer| AccessToken::from_authorization(bearer).ok()) {
                self.revoke(&token).await;
            }
            return self.provide(parts, body).await;
        }
        let (head, body) = self.provide(parts, body).await.into_parts();
        let body = to_bytes(body, MAX_ANSWER).await.unwrap_or_default();
        if let Ok(response) = TokenResponse::from_json(&body) {
            self.revoke(&response.access_token).await;
        }
        Response::from_parts(head, Body::from(body))
    }

    async fn revoke(&self, token: &AccessToken) {
        // The store in memory does not fail.
        let _ = self.store.revoke(token.hash()).await;
    }

    /// Serves a page under a cursor that returns to it: the one that it was asked for with, or an invented one.
    async fn begin_to_repeat(&self, parts: Parts, body: Bytes) -> Response<Body> {
        let asked = text(&body, "cursor");
        let is_invented = asked.is_none();
        let invented = || Cursor::from_bytes(b"again and again").expect("a few bytes fit a cursor").as_str().to_owned();
        let cursor = asked.unwrap_or_else(invented);
        if let Some(account) = text(&body, "accountId") {
            self.lock().repeating.insert(account, Repeating { cursor: cursor.clone(), is_invented });
        }
        under_cursor(self.provide(parts, body).await, &cursor).await
    }

    /// The cursor that the answer repeats, if it is one of those that repeat, and the request: without its cursor, and
    /// so of the first page, if the provider does not know the cursor. A walk that begins anew ends the repetition.
    fn repeating(&self, endpoint: Endpoint, body: Bytes) -> (Option<String>, Bytes) {
        let mut state = self.lock();
        if endpoint != Endpoint::Statement || state.repeating.is_empty() {
            return (None, body);
        }
        let (Some(account), asked) = (text(&body, "accountId"), text(&body, "cursor")) else { return (None, body) };
        let Some(asked) = asked else {
            state.repeating.remove(&account);
            return (None, body);
        };
        let Some(repeating) = state.repeating.get(&account).filter(|repeating| repeating.cursor == asked) else {
            return (None, body);
        };
        match serde_json::from_slice(&body) {
            Ok(Value::Object(mut request)) if repeating.is_invented => {
                request.remove("cursor");
                (Some(asked), Value::Object(request).to_string().into())
            }
            _ => (Some(asked), body),
        }
    }
}

const JSON: &str = "application/json";
/// Why parts of a fault's answer are usable.
const CHECKED: &str = "faults were checked when they were ordered";

/// Answers every request.
async fn answer(State(front): State<Arc<Front>>, request: Request<Body>) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let Ok(body) = to_bytes(body, MAX_REQUEST).await else {
        return made(StatusCode::PAYLOAD_TOO_LARGE, JSON, front.ids.uuid(), Body::empty());
    };
    let endpoint = Endpoint::of(parts.uri.path());
    let fault = front.plan.take(endpoint);
    let call = Call {
        endpoint,
        at: front.clock.now(),
        headers: parts.headers.clone(),
        body: body.clone(),
        status: None,
        fault: fault.clone(),
    };
    let number = front.begin(call);
    let is_answer = fault != Some(Fault::Reset);
    let response = front.serve(parts, body, endpoint, fault).await;
    if is_answer {
        front.end(number, response.status());
    }
    response
}

/// The key as the provider's layer expects it.
fn request_key(key: HyphenatedUuid) -> Option<RequestKey> {
    let value = HeaderValue::try_from(key.to_string()).ok()?;
    RequestKey::from_headers(&HeaderMap::from_iter([(REQUEST_KEY, value)]))
}

/// The text of a member of a JSON object.
fn text(body: &[u8], name: &str) -> Option<String> {
    member(body, name)?.as_str().map(str::to_owned)
}

fn member(body: &[u8], name: &str) -> Option<Value> {
    serde_json::from_slice::<Value>(body).ok()?.get(name).cloned()
}

fn made(status: StatusCode, content_type: &str, key: HyphenatedUuid, body: Body) -> Response<Body> {
    let mut answer = Response::new(body);
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::try_from(content_type).expect(CHECKED));
    if let Some(key) = request_key(key) {
        answer.headers_mut().insert(REQUEST_KEY, key.into());
    }
    answer
}

/// The endpoint's own error body.
fn refusal(endpoint: Endpoint, status: StatusCode, key: HyphenatedUuid) -> Response<Body> {
    let body = if endpoint == Endpoint::Token {
        let code = match status.as_u16() {
            400 => TokenErrorCode::InvalidRequest,
            401 => TokenErrorCode::InvalidClient,
            429 | 503 => TokenErrorCode::TemporarilyUnavailable,
            _ => TokenErrorCode::ServerError,
        };
        TokenErrorBody::new(code).to_json()
    } else if status.is_server_error() {
        StatementErrorBody::internal(key).to_json()
    } else {
        let title = status.canonical_reason().unwrap_or("Refused");
        StatementErrorBody::new(key, ErrorCode::for_status(status.as_u16()), title).to_json()
    };
    made(status, JSON, key, Body::from(body))
}

/// The answer with its body replaced.
async fn spoiled(answer: Response<Body>, spoil: impl FnOnce(&mut HeaderMap, Bytes) -> Body) -> Response<Body> {
    let (mut head, body) = answer.into_parts();
    let body = to_bytes(body, MAX_ANSWER).await.unwrap_or_default();
    let body = spoil(&mut head.headers, body);
    Response::from_parts(head, body)
}

/// A statement with this cursor, and with more to come. Any other answer stays as it is.
async fn under_cursor(answer: Response<Body>, cursor: &str) -> Response<Body> {
    spoiled(answer, |headers, body| {
        let Ok(Value::Object(mut members)) = serde_json::from_slice(&body) else { return Body::from(body) };
        if !members.contains_key("payload") {
            return Body::from(body);
        }
        members.insert("cursor".to_owned(), json!(cursor));
        members.insert("moreTransactionsAvailable".to_owned(), json!(true));
        headers.remove(CONTENT_LENGTH);
        Body::from(Value::Object(members).to_string())
    })
    .await
}
