//! One connection: its protocol, its requests, its end.

use super::activity::{Activity, LINGER, REQUEST_TIMEOUT};
use super::body::{AnswerBody, RequestBody};
use super::options::ServerOptions;
use super::places::Place;
use super::transport::{Transport, Unreadable};
use crate::names::REQUEST_KEY;
use crate::request_key::GivenKey;
use crate::{AnswerBy, HeadError};
use bytes::Bytes;
use http::header::{
    CONNECTION, CONTENT_LENGTH, DATE, HOST, HeaderMap, HeaderValue, TRANSFER_ENCODING,
};
use http::{Method, Request, Response, StatusCode, Uri, Version};
use http_body::Body;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use std::convert::Infallible;
use std::error::Error;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout_at};

/// The time between [`AnswerBy`] and the end of a request's time.
const EARLY: Duration = Duration::from_millis(250);

/// The maximum number of requests at once of one HTTP/2 connection.
pub(super) const MAX_HTTP2_REQUESTS: u8 = 64;

/// A tower service that a [`Server`](super::Server) serves.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be served",
    label = "not a service of HTTP requests",
    note = "pass `router()` of a `Provider` or of `Receivers`, or an axum `Router<()>`",
    note = "a `Router` with a state becomes a `Router<()>` by `with_state`"
)]
pub trait HttpService<B>:
    tower_service::Service<
        Request<RequestBody>,
        Response = Response<B>,
        Error = Infallible,
        Future: Send,
    > + Clone
    + Send
    + 'static
{
}

#[diagnostic::do_not_recommend]
impl<S, B> HttpService<B> for S where
    S: tower_service::Service<
            Request<RequestBody>,
            Response = Response<B>,
            Error = Infallible,
            Future: Send,
        > + Clone
        + Send
        + 'static
{
}

/// Serves one connection to its end.
pub(super) async fn serve_connection<I, S, B>(
    io: I,
    is_http2: bool,
    service: S,
    options: ServerOptions,
    place: Place,
    stopped: watch::Receiver<bool>,
) where
    I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    S: HttpService<B>,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let activity = Arc::clone(place.activity());
    activity.expect_header(is_http2);
    // Over HTTP/2 the stack also writes frames that are no answers.
    let unread = (!is_http2).then(|| unreadable(service.clone(), options.body_timeout));
    let io = TokioIo::new(Transport::new(io, Arc::clone(&activity), unread));
    let (begins, knows, times) = (Arc::clone(&activity), place.knows(), options.clone());
    let service = service_fn(move |request: Request<Incoming>| {
        let in_progress = begins.begin();
        let (service, known) = (
            service.clone(),
            in_progress.known_caller(Arc::clone(&knows)),
        );
        let body_timeout = times.body_timeout;
        async move {
            let given = GivenKey::default();
            let mut request = request.map(|body| RequestBody::new(Some(body), body_timeout));
            if request.version() == Version::HTTP_11 && !request.headers().contains_key(HOST) {
                request.extensions_mut().insert(HeadError::Host);
            }
            request.extensions_mut().insert(given.clone());
            request.extensions_mut().insert(known);
            // The endpoint's deadline is earlier, so that the answer has the endpoint's body.
            let deadline = Instant::now() + REQUEST_TIMEOUT;
            request.extensions_mut().insert(AnswerBy(deadline - EARLY));
            let body = match timeout_at(deadline, call(service, request)).await {
                Ok(answer) => {
                    return Ok::<_, Infallible>(answer.map(|body| AnswerBody {
                        body: Some(body),
                        in_progress,
                    }));
                }
                Err(_) => AnswerBody {
                    body: None,
                    in_progress,
                },
            };
            let key = given.get();
            tracing::warn!(request_key = %key, "no answer within the time of a request");
            let mut late = Response::new(body);
            *late.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
            late.headers_mut().insert(REQUEST_KEY, key.into());
            Ok(late)
        }
    });
    if is_http2 {
        let connection = http2::Builder::new(TokioExecutor::new())
            .timer(TokioTimer::new())
            .max_concurrent_streams(u32::from(MAX_HTTP2_REQUESTS))
            .max_header_list_size(options.max_header_bytes)
            .serve_connection(io, service);
        drive(
            connection,
            |connection| connection.graceful_shutdown(),
            &activity,
            &options,
            stopped,
        )
        .await;
    } else {
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            // `Activity` judges the time of headers: this time-out would also run while the
            // connection is idle.
            .header_read_timeout(None)
            // On a machine of 16 bits the bound saturates.
            .max_header_size(usize::try_from(options.max_header_bytes).unwrap_or(usize::MAX))
            .serve_connection(io, service);
        drive(
            connection,
            |connection| connection.graceful_shutdown(),
            &activity,
            &options,
            stopped,
        )
        .await;
    }
}

async fn call<S: HttpService<B>, B>(mut service: S, request: Request<RequestBody>) -> Response<B> {
    let ready = poll_fn(|context| service.poll_ready(context)).await;
    let answer = match ready {
        Ok(()) => service.call(request).await,
        Err(never) => Err(never),
    };
    answer.unwrap_or_else(|never| match never {})
}

/// Returns a function that makes the answer in place of the HTTP stack's own with a status: the
/// service's answer to the fault, or one without a body if the service does not judge faults.
fn unreadable<S, B>(service: S, body_timeout: Duration) -> Unreadable
where
    S: HttpService<B>,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    Box::new(move |status| {
        let service = service.clone();
        Box::pin(async move {
            let given = GivenKey::default();
            let mut request = Request::new(RequestBody::new(None, body_timeout));
            (*request.method_mut(), *request.uri_mut()) = (Method::OPTIONS, Uri::from_static("*"));
            request.extensions_mut().insert(given.clone());
            request
                .extensions_mut()
                .insert(HeadError::Unreadable { status });
            let answer = call(service, request).await;
            let (mut headers, mut body) = (HeaderMap::new(), Bytes::new());
            if answer.status() == status {
                let (head, written) = answer.into_parts();
                headers = head.headers;
                body = written
                    .collect()
                    .await
                    .map(http_body_util::Collected::to_bytes)
                    .unwrap_or_default();
            }
            headers
                .entry(REQUEST_KEY)
                .or_insert_with(|| given.get().into());
            write_last_answer(status, headers, &body)
        })
    })
}

/// An answer of HTTP/1.1 after which the connection ends.
#[expect(
    clippy::disallowed_methods,
    reason = "hyper dates all other answers by the same clock"
)]
fn write_last_answer(status: StatusCode, mut headers: HeaderMap, body: &[u8]) -> Bytes {
    // The whole body is at hand, so `Content-Length` states its length instead.
    headers.remove(TRANSFER_ENCODING);
    headers.insert(CONNECTION, HeaderValue::from_static("close"));
    headers.insert(CONTENT_LENGTH, body.len().into());
    let date = HeaderValue::try_from(httpdate::fmt_http_date(SystemTime::now()));
    headers.extend(date.map(|date| (DATE, date)));
    let mut answer = format!("HTTP/1.1 {status}\r\n").into_bytes();
    for (name, value) in &headers {
        answer.extend([name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"].concat());
    }
    answer.extend([b"\r\n", body].concat());
    answer.into()
}

/// Polls a connection until it ends or its time is over. A connection whose time is over may finish
/// what it is writing.
async fn drive<C: Future>(
    connection: C,
    finish: impl Fn(Pin<&mut C>),
    activity: &Activity,
    options: &ServerOptions,
    mut stopped: watch::Receiver<bool>,
) {
    let mut connection = pin!(connection);
    let mut cut_off: Option<Instant> = None;
    let mut finishing = false;
    loop {
        let deadline = cut_off.unwrap_or_else(|| activity.deadline(options));
        tokio::select! {
            // The connection is polled first, so that its progress is known when the deadline is
            // judged.
            biased;
            _ = connection.as_mut() => return,
            // An error means that the server was dropped. Its connections then stop too.
            _ = stopped.wait_for(|stopped| *stopped), if !finishing => {
                finishing = true;
                finish(connection.as_mut());
            }
            () = activity.changed() => {
                if activity.is_evicted() {
                    return;
                }
            }
            () = sleep_until(deadline) => {
                if cut_off.is_some() {
                    tracing::debug!("a connection was cut off");
                    return;
                }
                // Judged again, because not every change that moves the deadline wakes this task.
                if activity.deadline(options) <= Instant::now() {
                    finish(connection.as_mut());
                    finishing = true;
                    cut_off = Some(Instant::now() + LINGER);
                }
            }
        }
    }
}
