//! One connection: its protocol, its requests, its end.

use super::activity::{Activity, LINGER};
use super::body::{AnswerBody, RequestBody};
use super::options::ServerOptions;
use super::places::Place;
use crate::AnswerBy;
use crate::names::REQUEST_KEY;
use crate::request_key::GivenKey;
use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body::Body;
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use std::convert::Infallible;
use std::error::Error;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout_at};
use tokio_util::io::InspectReader;

/// How long before the end of its time a request is to be answered, at most: see [`AnswerBy`].
const EARLY: Duration = Duration::from_millis(250);

/// A tower service that a [`Server`](super::Server) serves.
pub trait HttpService<B>:
    tower_service::Service<Request<RequestBody>, Response = Response<B>, Error = Infallible> + Clone + Send + 'static
{
}

impl<S, B> HttpService<B> for S where
    S: tower_service::Service<Request<RequestBody>, Response = Response<B>, Error = Infallible>
        + Clone
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
    S::Future: Send,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let activity = Arc::clone(place.activity());
    activity.expect_header(is_http2);
    let arriving = Arc::clone(&activity);
    let arrived = move |bytes: &[u8]| {
        if !bytes.is_empty() {
            arriving.bytes_arrived();
        }
    };
    let io = TokioIo::new(InspectReader::new(io, arrived));
    let (begins, knows, times) = (Arc::clone(&activity), place.knows(), options.clone());
    let service = service_fn(move |request: Request<Incoming>| {
        let in_progress = begins.begin();
        let (service, known) = (service.clone(), in_progress.known_caller(Arc::clone(&knows)));
        let ServerOptions { body_timeout, request_timeout, .. } = times;
        async move {
            let given = GivenKey::default();
            let mut request = request.map(|body| RequestBody::new(body, body_timeout));
            request.extensions_mut().insert(given.clone());
            request.extensions_mut().insert(known);
            // An endpoint answers first, with a body of its own.
            let (begun, early) = (Instant::now(), (request_timeout / 10).min(EARLY));
            request.extensions_mut().insert(AnswerBy(begun + request_timeout - early));
            let body = match timeout_at(begun + request_timeout, call(service, request)).await {
                Ok(answer) => {
                    return Ok::<_, Infallible>(answer.map(|body| AnswerBody { body: Some(body), in_progress }));
                }
                Err(_) => AnswerBody { body: None, in_progress },
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
            .max_concurrent_streams(options.max_requests)
            .max_header_list_size(options.max_header_bytes)
            .serve_connection(io, service);
        drive(connection, |connection| connection.graceful_shutdown(), &activity, &options, stopped).await;
    } else {
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            // `Activity` has the time of headers: this one would count while the connection is idle.
            .header_read_timeout(None)
            .max_header_size(usize::try_from(options.max_header_bytes).unwrap_or(usize::MAX))
            .serve_connection(io, service);
        drive(connection, |connection| connection.graceful_shutdown(), &activity, &options, stopped).await;
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

/// Polls a connection until it ends or its time is over. A connection whose time is over may finish what it is writing.
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
                if activity.deadline(options) <= Instant::now() {
                    finish(connection.as_mut());
                    finishing = true;
                    cut_off = Some(Instant::now() + LINGER);
                }
            }
        }
    }
}
