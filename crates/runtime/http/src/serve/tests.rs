//! Tests of connections under a paused clock, which advances only when all tasks wait.

use super::connection;
use super::places::Places;
use super::{RequestBody, ServerOptions};
use crate::{RequestKey, RequestKeyLayer};
use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper_util::rt::{TokioExecutor, TokioIo};
use std::convert::Infallible;
use std::future::{Future, pending};
use std::net::Ipv4Addr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};
use tower_layer::Layer as _;

const REQUEST: &[u8] = b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\n\r\n";

/// The service under the connection, which behaves by the request's path. The callers of POST are
/// known.
#[derive(Clone)]
struct Paths;

type Answering = Pin<Box<dyn Future<Output = Result<Response<Full<Bytes>>, Infallible>> + Send>>;

impl tower_service::Service<Request<RequestBody>> for Paths {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = Answering;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<RequestBody>) -> Answering {
        Box::pin(async move {
            let (head, body) = request.into_parts();
            if head.method == Method::POST {
                head.extensions.get::<crate::KnownCaller>().unwrap().tell();
            }
            let text = match head.uri.path() {
                "/hang" => pending().await,
                "/endpoint" => {
                    tokio::time::sleep_until(head.extensions.get::<crate::AnswerBy>().unwrap().0)
                        .await;
                    b"late".to_vec()
                }
                "/large" => vec![b'x'; 4 << 20],
                "/refuse" => {
                    let mut refused = Response::new(Full::default());
                    *refused.status_mut() = StatusCode::PAYLOAD_TOO_LARGE;
                    return Ok(refused);
                }
                _ => match body.collect().await {
                    Ok(body) => body.to_bytes().to_vec(),
                    Err(error) => error.to_string().into_bytes(),
                },
            };
            Ok(Response::new(Full::from(text)))
        })
    }
}

/// Serves one connection that no other one evicts.
async fn serve_connection<S>(
    io: DuplexStream,
    is_http2: bool,
    service: S,
    options: ServerOptions,
    stopped: watch::Receiver<bool>,
) where
    S: super::HttpService<Full<Bytes>>,
{
    let place = Places::new(options.clone())
        .admit(Ipv4Addr::LOCALHOST.into())
        .unwrap();
    connection::serve_connection(io, is_http2, service, options, place, stopped).await;
}

fn connect(is_http2: bool) -> (DuplexStream, JoinHandle<()>, watch::Sender<bool>) {
    let (ours, theirs) = duplex(4096);
    let (stop, stopped) = watch::channel(false);
    let served = tokio::spawn(serve_connection(
        theirs,
        is_http2,
        Paths,
        ServerOptions::default(),
        stopped,
    ));
    (ours, served, stop)
}

/// Reads until the server closes the connection, and returns the text and the whole seconds until
/// then.
async fn until_closed(stream: &mut DuplexStream) -> (String, u64) {
    let begun = Instant::now();
    let mut text = Vec::new();
    stream.read_to_end(&mut text).await.unwrap();
    (
        String::from_utf8_lossy(&text).into_owned(),
        begun.elapsed().as_secs(),
    )
}

/// Reads one answer whose body is this text.
async fn read_answer(stream: &mut DuplexStream, body: &str) {
    let mut text = String::new();
    let mut piece = [0; 1024];
    while !text.ends_with(&format!("\r\n\r\n{body}")) {
        let read = stream.read(&mut piece).await.unwrap();
        assert!(read > 0, "closed after {text:?}");
        text.push_str(std::str::from_utf8(&piece[..read]).unwrap());
    }
}

#[tokio::test(start_paused = true)]
async fn half_a_header_is_dropped_in_time() {
    for (half, is_http2) in [
        (&b""[..], false),
        (b"POST / HTT", false),
        (b"POST / HTTP/1.1\r\nhost: x\r\n", false),
        (b"", true),
        (b"PRI * HTTP/2.0\r\n", true),
    ] {
        let (mut stream, served, _stop) = connect(is_http2);
        stream.write_all(half).await.unwrap();
        let (_, seconds) = until_closed(&mut stream).await;
        assert!((10..=12).contains(&seconds), "{half:?}: {seconds}");
        served.await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_header_that_trickles_gets_no_more_time() {
    let (mut stream, served, _stop) = connect(false);
    let begun = Instant::now();
    for byte in REQUEST {
        sleep(Duration::from_secs(3)).await;
        if stream.write_all(&[*byte]).await.is_err() {
            break;
        }
    }
    assert!(
        (10..=15).contains(&begun.elapsed().as_secs()),
        "{:?}",
        begun.elapsed()
    );
    served.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_idle_connection_is_kept_for_a_minute_and_then_closed() {
    let (mut stream, served, _stop) = connect(false);
    for _ in 0..3 {
        stream.write_all(REQUEST).await.unwrap();
        stream.write_all(b"text").await.unwrap();
        read_answer(&mut stream, "text").await;
        sleep(Duration::from_secs(59)).await;
    }
    // The header of the next request may take another ten seconds.
    stream.write_all(b"POST").await.unwrap();
    let (_, seconds) = until_closed(&mut stream).await;
    assert!((10..=12).contains(&seconds), "{seconds}");
    served.await.unwrap();

    let (mut stream, served, _stop) = connect(false);
    stream.write_all(REQUEST).await.unwrap();
    stream.write_all(b"text").await.unwrap();
    read_answer(&mut stream, "text").await;
    let (_, seconds) = until_closed(&mut stream).await;
    assert!((59..=62).contains(&seconds), "{seconds}");
    served.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn requests_without_a_known_caller_do_not_keep_a_connection_open() {
    let (mut stream, served, _stop) = connect(false);
    let begun = Instant::now();
    for pause in [15, 15, 15, 14] {
        stream
            .write_all(b"GET / HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\n\r\ntext")
            .await
            .unwrap();
        read_answer(&mut stream, "text").await;
        sleep(Duration::from_secs(pause)).await;
    }
    until_closed(&mut stream).await;
    assert!(
        (59..=62).contains(&begun.elapsed().as_secs()),
        "{:?}",
        begun.elapsed()
    );
    served.await.unwrap();

    let (stream, served, _stop) = connect(true);
    let mut sender = http2(stream).await;
    let begun = Instant::now();
    let served = tokio::spawn(async move {
        served.await.unwrap();
        begun.elapsed().as_secs()
    });
    // Requests follow each other without a pause, so one is always in progress.
    let mut hanging = Vec::new();
    for _ in 0..8 {
        let mut sender = sender.clone();
        hanging.push(tokio::spawn(async move {
            sender
                .send_request(Request::get("http://x/hang").body(Full::default()).unwrap())
                .await
                .map(drop)
        }));
        sleep(Duration::from_secs(20)).await;
    }
    let seconds = served.await.unwrap();
    assert!((120..=130).contains(&seconds), "{seconds}");
    assert!(sender.send_request(request("/", Vec::new())).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn half_a_body_is_given_up() {
    let (mut stream, served, _stop) = connect(false);
    stream.write_all(REQUEST).await.unwrap();
    stream.write_all(b"te").await.unwrap();
    let (text, seconds) = until_closed(&mut stream).await;
    assert!(
        text.ends_with("the body did not arrive within 30s"),
        "{text}"
    );
    // The rest of the body is due, and the connection cannot be used for anything else.
    assert!((30..=95).contains(&seconds), "{seconds}");
    served.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_service_that_does_not_answer_is_answered_for() {
    let (mut stream, served, _stop) = connect(false);
    stream
        .write_all(b"GET /hang HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
        .await
        .unwrap();
    let (text, seconds) = until_closed(&mut stream).await;
    assert!(text.starts_with("HTTP/1.1 503 "), "{text}");
    let key = text
        .lines()
        .find_map(|line| line.strip_prefix("x-requestkey: "))
        .unwrap();
    assert!(key.parse::<bankrail_values::HyphenatedUuid>().is_ok());
    assert!((60..=62).contains(&seconds), "{seconds}");
    served.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_endpoint_that_answers_when_it_is_told_to_is_in_time() {
    let (mut stream, served, _stop) = connect(false);
    stream
        .write_all(b"GET /endpoint HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
        .await
        .unwrap();
    let (text, seconds) = until_closed(&mut stream).await;
    assert!(
        text.starts_with("HTTP/1.1 200 ") && text.ends_with("late"),
        "{text}"
    );
    assert_eq!(seconds, 59);
    served.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_answer_for_a_silent_service_has_the_key_that_the_request_was_given() {
    let (mut stream, theirs) = duplex(4096);
    let (_stop, stopped) = watch::channel(false);
    let keyed = RequestKeyLayer::new().accept_incoming().layer(Paths);
    let served = tokio::spawn(serve_connection(
        theirs,
        false,
        keyed,
        ServerOptions::new(),
        stopped,
    ));
    let key = RequestKey::random();
    let request = format!(
        "GET /hang HTTP/1.1\r\nhost: x\r\nx-requestkey: {key}\r\nconnection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let (text, _) = until_closed(&mut stream).await;
    assert!(
        text.starts_with("HTTP/1.1 503 ") && text.contains(&format!("x-requestkey: {key}\r\n")),
        "{text}"
    );
    served.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_does_not_read_its_answer_is_cut_off() {
    let (mut stream, served, _stop) = connect(false);
    stream
        .write_all(b"GET /large HTTP/1.1\r\nhost: x\r\n\r\n")
        .await
        .unwrap();
    let begun = Instant::now();
    served.await.unwrap();
    assert!(
        (60..=70).contains(&begun.elapsed().as_secs()),
        "{:?}",
        begun.elapsed()
    );
}

#[tokio::test(start_paused = true)]
async fn a_stop_lets_the_request_in_progress_finish_and_takes_no_other() {
    let (mut stream, served, stop) = connect(false);
    stream.write_all(REQUEST).await.unwrap();
    sleep(Duration::from_secs(1)).await;
    stop.send_replace(true);
    sleep(Duration::from_secs(1)).await;
    stream.write_all(b"text").await.unwrap();
    let (text, seconds) = until_closed(&mut stream).await;
    assert!(text.ends_with("\r\n\r\ntext"), "{text}");
    assert_eq!(seconds, 0);
    served.await.unwrap();
}

async fn http2(stream: DuplexStream) -> hyper::client::conn::http2::SendRequest<Full<Bytes>> {
    let (sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream))
            .await
            .unwrap();
    tokio::spawn(connection);
    sender
}

fn request(path: &str, body: Vec<u8>) -> Request<Full<Bytes>> {
    Request::post(format!("http://x{path}"))
        .body(Full::from(body))
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn twenty_megabytes_that_nobody_reads_do_not_hang_a_client_over_http2() {
    let (stream, served, _stop) = connect(true);
    let mut sender = http2(stream).await;
    let answer = sender
        .send_request(request("/refuse", vec![b'x'; 20 << 20]))
        .await
        .unwrap();
    assert_eq!(answer.status(), StatusCode::PAYLOAD_TOO_LARGE);
    // The connection can be used afterwards.
    let answer = sender
        .send_request(request("/", b"text".to_vec()))
        .await
        .unwrap();
    assert_eq!(
        answer.into_body().collect().await.unwrap().to_bytes(),
        "text"
    );
    drop(sender);
    served.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn times_hold_over_http2_too() {
    let (stream, served, _stop) = connect(true);
    let mut sender = http2(stream).await;
    let begun = Instant::now();
    let answer = sender
        .send_request(request("/hang", Vec::new()))
        .await
        .unwrap();
    assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert!(RequestKey::from_headers(answer.headers()).is_some());
    assert_eq!(begun.elapsed().as_secs(), 60);
    drop(answer);
    // The idle time passes.
    served.await.unwrap();
    assert!(
        (120..=125).contains(&begun.elapsed().as_secs()),
        "{:?}",
        begun.elapsed()
    );
    assert!(sender.send_request(request("/", Vec::new())).await.is_err());

    // The client does not read this answer.
    let (stream, served, _stop) = connect(true);
    let mut sender = http2(stream).await;
    let begun = Instant::now();
    let answer = sender
        .send_request(request("/large", Vec::new()))
        .await
        .unwrap();
    served.await.unwrap();
    assert!(
        (60..=70).contains(&begun.elapsed().as_secs()),
        "{:?}",
        begun.elapsed()
    );
    assert!(answer.into_body().collect().await.is_err());
}

#[tokio::test(start_paused = true)]
async fn a_stop_over_http2_finishes_what_was_taken_and_refuses_the_rest() {
    let (stream, served, stop) = connect(true);
    let mut sender = http2(stream).await;
    let mut other = sender.clone();
    // The request's answer has begun and is not read yet.
    let taken = sender
        .send_request(request("/large", Vec::new()))
        .await
        .unwrap();
    stop.send_replace(true);
    sleep(Duration::from_secs(1)).await;
    // The GOAWAY has arrived (RFC 9113 section 6.8).
    assert!(
        other.ready().await.is_err() || other.send_request(request("/", Vec::new())).await.is_err()
    );
    assert_eq!(
        taken.into_body().collect().await.unwrap().to_bytes().len(),
        4 << 20
    );
    served.await.unwrap();
}

/// The layer answers heads above its own bounds, and heads above those of the stack.
#[tokio::test(start_paused = true)]
async fn long_heads_are_answered_by_the_layer_below_and_above_the_bounds_of_the_stack() {
    let bounds = crate::HeadBoundsLayer::new(
        crate::HeadBounds::new(),
        |fault: crate::HeadError, _: &_| {
            let mut refused = Response::new(Full::from(fault.to_string()));
            *refused.status_mut() = fault.status();
            refused
        },
    );
    let service = RequestKeyLayer::new().layer(bounds.layer(Paths));
    for (path, header, status) in [
        (8_000, 0, "200"),
        (9_000, 0, "414"),
        (24_000, 0, "414"),
        (1, 15_000, "200"),
        (1, 17_000, "431"),
        (1, 31_000, "431"),
        (1, 40_000, "431"),
    ] {
        let (mut stream, theirs) = duplex(1 << 16);
        let (_stop, stopped) = watch::channel(false);
        let served = tokio::spawn(serve_connection(
            theirs,
            false,
            service.clone(),
            ServerOptions::new(),
            stopped,
        ));
        let (path, header) = ("p".repeat(path), "h".repeat(header));
        let head =
            format!("GET /{path} HTTP/1.1\r\nhost: x\r\nx: {header}\r\nconnection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        let (text, _) = until_closed(&mut stream).await;
        let expected = format!("HTTP/1.1 {status} ");
        assert!(
            text.starts_with(&expected),
            "{} and {}: {text}",
            path.len(),
            header.len()
        );
        assert!(text.contains("x-requestkey: "), "{text}");
        assert_eq!(text.contains("expected "), status != "200", "{text}");
        served.await.unwrap();
    }
}
