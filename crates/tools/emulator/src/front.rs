//! The layer around the provider that records each call and applies its fault.

use crate::body;
use crate::call::{Call, Endpoint};
use crate::calls::Calls;
use crate::fault::Fault;
use crate::ids::Ids;
use crate::journal;
use crate::narrative::{AHEAD, WRONG_PAGE, WrongPage};
use crate::plan::Plan;
use axum::Router;
use axum::body::{Body, HttpBody as _, to_bytes};
use axum::extract::State;
use axum::middleware::{Next, from_fn_with_state, map_request_with_state};
use bankrail_client_assertion::token::{
    AccessToken, TokenErrorBody, TokenErrorCode, TokenResponse, TokenStore,
};
use bankrail_http::names::{API_KEY, REQUEST_KEY};
use bankrail_http::serve::RequestBodyError;
use bankrail_http::{RequestKey, RequestKeyLayer};
use bankrail_service::{ApiKeyHash, CallOutcome, Directory};
use bankrail_statement::{Cursor, ErrorCode, StatementErrorBody};
use bankrail_values::{Clock, HyphenatedUuid};
use bytes::{Bytes, BytesMut};
use futures_util::{TryStreamExt as _, stream};
use http::header::{AUTHORIZATION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::error::Error;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The maximum number of bytes of a request's body that are recorded. The provider's own bounds are
/// lower.
pub(crate) const MAX_REQUEST: usize = 64 * 1024;
/// The maximum number of bytes of a statement that is held in memory while it is spoiled: 1000
/// entries of the longest kind.
const MAX_ANSWER: usize = 64 * 1024 * 1024;
/// The maximum number of characters of a method or a path that are kept.
const MAX_TEXT: usize = 200;

/// The parts of requests and answers that calls keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeptParts {
    Nothing,
    /// Keeps the request as received.
    Requests,
    /// Keeps the request and the answer, with secrets masked.
    Masked,
}

#[derive(Debug)]
pub(crate) struct Front {
    pub(crate) plan: Plan,
    pub(crate) calls: Calls,
    pub(crate) keeps: KeptParts,
    pub(crate) directory: Arc<dyn Directory>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) tokens: Arc<dyn TokenStore>,
    /// The source of request keys; without one, they are random.
    pub(crate) ids: Option<Arc<Ids>>,
    /// The repeating cursor of each account, which returns to its page until the first page is
    /// requested.
    pub(crate) repeating: Mutex<HashMap<String, Repeating>>,
}

#[derive(Debug)]
pub(crate) struct Repeating {
    cursor: String,
    /// True for a cursor that was invented for the first page, which the provider does not know.
    is_invented: bool,
}

/// A call that is recorded when it ends, with its answer, or without one if the client disconnected
/// before.
pub(crate) struct Recording<'a> {
    calls: &'a Calls,
    started: Instant,
    pub(crate) call: Call,
    /// The part of a body that the provider has read.
    read: Arc<Mutex<BytesMut>>,
}

impl<'a> Recording<'a> {
    pub(crate) fn new(calls: &'a Calls, call: Call) -> Self {
        Self {
            calls,
            started: Instant::now(),
            call,
            read: Arc::default(),
        }
    }

    /// Returns the body, and records it as far as it is read.
    fn keep(&self, body: Body) -> Body {
        let read = Arc::clone(&self.read);
        Body::from_stream(body.into_data_stream().inspect_ok(move |piece| {
            let mut read = read.lock().unwrap_or_else(PoisonError::into_inner);
            let room = MAX_REQUEST.saturating_sub(read.len());
            read.extend_from_slice(piece.get(..room).unwrap_or(piece));
        }))
    }

    /// Records the part of the body that was read.
    fn take_body(&mut self) {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if !read.is_empty() {
            self.call.body = std::mem::take(&mut *read).freeze();
        }
    }
}

impl Drop for Recording<'_> {
    fn drop(&mut self) {
        self.take_body();
        self.call.took = self.started.elapsed();
        self.calls.record(self.call.clone());
    }
}

/// A request, and the provider that answers it.
struct ReceivedRequest {
    parts: Parts,
    body: Bytes,
    next: Next,
}

impl ReceivedRequest {
    async fn provide(self) -> Response<Body> {
        self.next
            .run(Request::from_parts(self.parts, Body::from(self.body)))
            .await
    }

    async fn provide_page(self, wrong: WrongPage) -> Response<Body> {
        WRONG_PAGE.scope(wrong, self.provide()).await
    }
}

impl Front {
    /// Ends the repetition of all cursors.
    pub(crate) fn end_repetitions(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Repeating>> {
        // The guard is never held across an await.
        self.repeating
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the provider's router with the front around it.
    pub(crate) fn around(self: &Arc<Self>, provider: Router) -> Router {
        let front = from_fn_with_state(Arc::clone(self), answer);
        provider
            .layer(front)
            .layer(RequestKeyLayer::new())
            .layer(map_request_with_state(Arc::clone(self), give_key))
    }

    async fn serve(
        &self,
        mut received: ReceivedRequest,
        endpoint: Endpoint,
        fault: Option<Fault>,
    ) -> Response<Body> {
        let key = RequestKey::of(&received.parts.extensions)
            .unwrap_or_else(RequestKey::random)
            .uuid();
        let (repeating, body) = self.repeating(endpoint, received.body);
        received.body = body;
        match fault {
            None => {
                let answer = received.provide().await;
                match repeating {
                    Some(cursor) => under_cursor(answer, &cursor).await,
                    None => answer,
                }
            }
            Some(Fault::TooManyCalls { retry_after }) => {
                let mut answer = refusal(endpoint, StatusCode::TOO_MANY_REQUESTS, key);
                if let Some(seconds) = retry_after {
                    answer
                        .headers_mut()
                        .insert(RETRY_AFTER, seconds.as_secs().into());
                }
                answer
            }
            Some(Fault::Status(status)) => {
                let status = StatusCode::from_u16(status).expect(CHECKED);
                refusal(endpoint, status, key)
            }
            Some(Fault::Answer {
                status,
                content_type,
                body,
            }) => {
                let status = StatusCode::from_u16(status).expect(CHECKED);
                made(status, &content_type, Body::from(body))
            }
            Some(Fault::Reset) => Response::new(body::reset()),
            Some(Fault::Late(by)) => {
                tokio::time::sleep(by).await;
                received.provide().await
            }
            Some(Fault::Endless { bytes }) => made(StatusCode::OK, JSON, body::endless(bytes)),
            Some(Fault::StaleToken) => self.with_stale_token(endpoint, received).await,
            Some(Fault::RepeatingCursor) => self.begin_to_repeat(received).await,
            Some(Fault::WrongNarrative) => {
                let includes = member(&received.body, "includeNarrative");
                let includes =
                    includes.is_none_or(|includes| includes != false && includes != "false");
                let wrong = if includes {
                    WrongPage::NarrativeHidden
                } else {
                    WrongPage::NarrativeShown
                };
                received.provide_page(wrong).await
            }
            Some(Fault::MissingEntry) => received.provide_page(WrongPage::MissingEntry).await,
            Some(Fault::PendingEntries) => received.provide_page(WrongPage::Pending).await,
            Some(Fault::NextDay) => received.provide_page(WrongPage::NextDay).await,
            Some(Fault::ClockAhead) => {
                AHEAD
                    .scope(Duration::from_secs(3600), received.provide())
                    .await
            }
            Some(Fault::CirclingCursor) => circling(received).await,
            Some(Fault::AnotherAccount) => {
                let account = text(&received.body, "accountId").unwrap_or_default();
                let other: String = account.chars().rev().collect();
                changed(received.provide().await, |body| {
                    body.replace(&account, &other)
                })
                .await
            }
            Some(Fault::CutAnswer) => {
                let half = |body: String| body.chars().take(body.chars().count() / 2).collect();
                changed(received.provide().await, half).await
            }
            Some(Fault::WrongType) => changed(received.provide().await, with_texts).await,
            Some(Fault::HalfBody) => {
                spoiled(received.provide().await, |headers, body| {
                    headers.insert(CONTENT_LENGTH, body.len().into());
                    body::half(body)
                })
                .await
            }
            Some(Fault::SlowDrip { bytes, pause }) => {
                spoiled(received.provide().await, |_, body| {
                    body::drip(body, bytes, pause)
                })
                .await
            }
            Some(Fault::ContentType(found)) => {
                let value = HeaderValue::try_from(found).expect(CHECKED);
                let mut answer = received.provide().await;
                answer.headers_mut().insert(CONTENT_TYPE, value);
                answer
            }
            Some(Fault::Gzip) => {
                spoiled(received.provide().await, |headers, body| {
                    headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
                    headers.remove(CONTENT_LENGTH);
                    Body::from(body::gzip(&body))
                })
                .await
            }
            // The others are of deliveries.
            Some(_) => received.provide().await,
        }
    }

    /// Returns the customer whose API key a request has.
    async fn customer(&self, headers: &HeaderMap) -> Option<String> {
        let key = headers.get(API_KEY)?;
        // If the directory fails, the provider reports it itself.
        let customer = self
            .directory
            .customer_by_api_key(ApiKeyHash::of(key.as_bytes()))
            .await
            .ok()??;
        Some(customer.code.to_string())
    }

    async fn with_stale_token(
        &self,
        endpoint: Endpoint,
        received: ReceivedRequest,
    ) -> Response<Body> {
        if endpoint == Endpoint::Statement {
            let bearer = received
                .parts
                .headers
                .get(AUTHORIZATION)
                .and_then(|value| value.to_str().ok());
            if let Some(token) =
                bearer.and_then(|bearer| AccessToken::from_authorization(bearer).ok())
            {
                self.revoke(&token).await;
            }
            return received.provide().await;
        }
        let (head, body) = received.provide().await.into_parts();
        let body = to_bytes(body, MAX_ANSWER).await.unwrap_or_default();
        if let Ok(response) = TokenResponse::from_json(&body) {
            self.revoke(&response.access_token).await;
        }
        Response::from_parts(head, Body::from(body))
    }

    async fn revoke(&self, token: &AccessToken) {
        // If the store fails, the token stays valid, and the provider itself reports failures of
        // the store.
        let _ = self.tokens.revoke(token.hash()).await;
    }

    /// Serves a page under a cursor that returns to the same page: the cursor of the request, or an
    /// invented one.
    async fn begin_to_repeat(&self, received: ReceivedRequest) -> Response<Body> {
        let (account, cursor) = (
            text(&received.body, "accountId"),
            text(&received.body, "cursor"),
        );
        let is_invented = cursor.is_none();
        let invented = || {
            Cursor::from_bytes(b"again and again")
                .expect("a few bytes fit a cursor")
                .as_str()
                .to_owned()
        };
        let cursor = cursor.unwrap_or_else(invented);
        // Before the cursor is stored: a page that is refused does not repeat.
        let answer = received.provide().await;
        if let Some(account) = account.filter(|_| answer.status().is_success()) {
            self.lock().insert(
                account,
                Repeating {
                    cursor: cursor.clone(),
                    is_invented,
                },
            );
        }
        under_cursor(answer, &cursor).await
    }

    /// Returns the cursor that the answer must repeat, if the request has a repeating cursor, and
    /// the request. An invented cursor is removed from the request, which then requests the first
    /// page. A new walk ends the repetition.
    fn repeating(&self, endpoint: Endpoint, body: Bytes) -> (Option<String>, Bytes) {
        let mut by_account = self.lock();
        if endpoint != Endpoint::Statement || by_account.is_empty() {
            return (None, body);
        }
        let (Some(account), cursor) = (text(&body, "accountId"), text(&body, "cursor")) else {
            return (None, body);
        };
        let Some(cursor) = cursor else {
            by_account.remove(&account);
            return (None, body);
        };
        let Some(repeating) = by_account
            .get(&account)
            .filter(|repeating| repeating.cursor == cursor)
        else {
            return (None, body);
        };
        match serde_json::from_slice(&body) {
            Ok(Value::Object(mut request)) if repeating.is_invented => {
                request.remove("cursor");
                (Some(cursor), Value::Object(request).to_string().into())
            }
            _ => (Some(cursor), body),
        }
    }
}

const JSON: &str = "application/json";
/// The reason why parts of a fault's answer are usable.
const CHECKED: &str = "faults were checked when they were ordered";

/// Gives a request its key, if the keys come from a seed.
async fn give_key(State(front): State<Arc<Front>>, mut request: Request<Body>) -> Request<Body> {
    if let Some(key) = front.ids.as_ref().and_then(|ids| request_key(ids.uuid())) {
        request.extensions_mut().insert(key);
    }
    request
}

/// Answers every request.
async fn answer(
    State(front): State<Arc<Front>>,
    request: Request<Body>,
    next: Next,
) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let mut call = Call::new(Endpoint::of(parts.uri.path()), front.clock.now());
    call.request_key = RequestKey::of(&parts.extensions).map(RequestKey::uuid);
    call.method = cut(parts.method.as_str());
    call.path = cut(parts.uri.path());
    let mut recording = Recording::new(&front.calls, call);
    let call = &mut recording.call;
    call.customer = front.customer(&parts.headers).await;
    let mut body = body;
    if front.keeps != KeptParts::Nothing {
        call.headers = parts.headers.clone();
        body = recording.keep(body);
    }
    let call = &mut recording.call;
    let (fault, ordered) = front
        .plan
        .take(call.endpoint, call.customer.as_deref())
        .unzip();
    // Otherwise the body is not read here, because the provider itself checks the head, and reads
    // and bounds the body.
    let repeats = call.customer.is_some() && !front.lock().is_empty();
    let whole = if fault.is_some() || repeats {
        whole(body).await
    } else {
        Err(body)
    };
    let mut answer = match whole {
        Ok(body) => {
            call.fault.clone_from(&fault);
            front
                .serve(ReceivedRequest { parts, body, next }, call.endpoint, fault)
                .await
        }
        Err(body) => next.run(Request::from_parts(parts, body)).await,
    };
    recording.take_body();
    let call = &mut recording.call;
    if front.keeps == KeptParts::Masked {
        call.answer_headers = answer.headers().clone();
        (answer, call.answer) = with_copy(answer).await;
        journal::mask(call);
    }
    let outcome = CallOutcome::of(answer.extensions());
    call.customer = outcome
        .and_then(|outcome| outcome.customer.as_ref())
        .map(ToString::to_string)
        .or(call.customer.take());
    call.reason = outcome
        .and_then(|outcome| outcome.refusal.as_ref())
        .map(ToString::to_string)
        .or(ordered.flatten());
    call.status = (call.fault != Some(Fault::Reset)).then(|| answer.status().as_u16());
    answer
}

/// Reads the whole body, or so much that it is too long for the provider. If the body does not
/// arrive completely, the error is a body that fails for the provider as well.
async fn whole(body: Body) -> Result<Bytes, Body> {
    match to_bytes(body, MAX_REQUEST).await {
        Ok(body) => Ok(body),
        Err(error) if causes(&error).any(|cause| cause.is::<RequestBodyError>()) => {
            Err(Body::from_stream(stream::iter([Err::<Bytes, _>(error)])))
        }
        Err(_) => Ok(vec![b' '; MAX_REQUEST + 1].into()),
    }
}

/// Returns an error and its causes.
fn causes(error: &axum::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    std::iter::successors(Some(error as &(dyn Error + 'static)), |error| {
        (*error).source()
    })
}

/// Returns the answer, and a copy of the beginning of its body. A body that is sent in pieces is
/// not copied.
async fn with_copy(answer: Response<Body>) -> (Response<Body>, Bytes) {
    if answer.body().size_hint().exact().is_none() {
        return (answer, Bytes::new());
    }
    let (head, body) = answer.into_parts();
    let body = to_bytes(body, MAX_ANSWER).await.unwrap_or_default();
    let copy = Bytes::copy_from_slice(body.get(..MAX_REQUEST).unwrap_or(&body));
    (Response::from_parts(head, Body::from(body)), copy)
}

/// Cuts a text of a request to the length that is kept.
pub(crate) fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_TEXT) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// Returns the key in the form that the provider's layer expects.
fn request_key(key: HyphenatedUuid) -> Option<RequestKey> {
    let value = HeaderValue::try_from(key.to_string()).ok()?;
    RequestKey::from_headers(&HeaderMap::from_iter([(REQUEST_KEY, value)]))
}

/// Returns the text of a member of a JSON object.
fn text(body: &[u8], name: &str) -> Option<String> {
    member(body, name)?.as_str().map(str::to_owned)
}

fn member(body: &[u8], name: &str) -> Option<Value> {
    serde_json::from_slice::<Value>(body)
        .ok()?
        .get(name)
        .cloned()
}

fn made(status: StatusCode, content_type: &str, body: Body) -> Response<Body> {
    let mut answer = Response::new(body);
    *answer.status_mut() = status;
    answer.headers_mut().insert(
        CONTENT_TYPE,
        HeaderValue::try_from(content_type).expect(CHECKED),
    );
    answer
}

/// Returns the endpoint's own error body.
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
    made(status, JSON, Body::from(body))
}

/// Returns the answer with its body replaced.
async fn spoiled(
    answer: Response<Body>,
    spoil: impl FnOnce(&mut HeaderMap, Bytes) -> Body,
) -> Response<Body> {
    let (mut head, body) = answer.into_parts();
    let body = to_bytes(body, MAX_ANSWER).await.unwrap_or_default();
    let body = spoil(&mut head.headers, body);
    Response::from_parts(head, body)
}

/// Returns the answer with another text as its body.
async fn changed(answer: Response<Body>, change: impl FnOnce(String) -> String) -> Response<Body> {
    spoiled(answer, |headers, body| {
        headers.remove(CONTENT_LENGTH);
        Body::from(change(String::from_utf8_lossy(&body).into_owned()))
    })
    .await
}

/// Replaces numbers, true and false in a JSON object by texts.
fn with_texts(body: String) -> String {
    let Ok(Value::Object(mut members)) = serde_json::from_str(&body) else {
        return body;
    };
    for value in members
        .values_mut()
        .filter(|value| value.is_number() || value.is_boolean())
    {
        *value = Value::from(value.to_string());
    }
    Value::Object(members).to_string()
}

/// Serves a page that leads back to the first, unless it is the first.
async fn circling(mut received: ReceivedRequest) -> Response<Body> {
    const FIRST_PAGE_CURSOR: &str = "YmFjaw==";
    let cursor = text(&received.body, "cursor");
    if cursor.as_deref() == Some(FIRST_PAGE_CURSOR)
        && let Ok(Value::Object(mut request)) = serde_json::from_slice(&received.body)
    {
        request.remove("cursor");
        received.body = Value::Object(request).to_string().into();
        return received.provide().await;
    }
    let answer = received.provide().await;
    if cursor.is_some() {
        under_cursor(answer, FIRST_PAGE_CURSOR).await
    } else {
        answer
    }
}

/// Changes a statement to have this cursor and promise more entries. Any other answer stays
/// unchanged.
async fn under_cursor(answer: Response<Body>, cursor: &str) -> Response<Body> {
    spoiled(answer, |headers, body| {
        let Ok(Value::Object(mut members)) = serde_json::from_slice(&body) else {
            return Body::from(body);
        };
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

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_body_that_breaks_is_not_taken_for_one_that_is_too_long() {
        assert_eq!(whole(Body::from("short")).await.unwrap(), "short");
        assert_eq!(
            whole(Body::from(vec![b'x'; MAX_REQUEST + 9]))
                .await
                .unwrap()
                .len(),
            MAX_REQUEST + 1
        );
        let broken = RequestBodyError::TimedOut {
            after: Duration::from_secs(1),
        };
        let pieces = [Ok(Bytes::from_static(b"half")), Err(broken)];
        let left = whole(Body::from_stream(stream::iter(pieces)))
            .await
            .unwrap_err();
        let error = to_bytes(left, MAX_REQUEST).await.unwrap_err();
        assert!(causes(&error).any(|cause| cause.is::<RequestBodyError>()));
    }
}
