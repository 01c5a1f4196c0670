//! The answers of a server to heads that it cannot take: requests as bytes, over TCP.

use crate::serve::{Counter, Running, start};
use bankrail_http::serve::ServerOptions;
use bankrail_http::{HeadBounds, HeadBoundsLayer, HeadError, RequestKey, RequestKeyLayer};
use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Response};
use http_body_util::Full;
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tower_layer::Layer as _;

fn refuse(fault: HeadError, _: &Parts) -> Response<Full<Bytes>> {
    let mut answer = Response::new(Full::from(fault.to_string()));
    *answer.status_mut() = fault.status();
    answer
}

async fn judging() -> Running {
    let service = HeadBoundsLayer::new(HeadBounds::new(), refuse).layer(Counter::default());
    start(
        None,
        ServerOptions::new(),
        RequestKeyLayer::new().layer(service),
    )
    .await
}

/// Sends bytes and returns the last answer: status, headers and body.
async fn answer(address: SocketAddr, request: &str) -> (u16, HeaderMap, String) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut text = Vec::new();
    // Bytes that the server did not read can end the connection with an error.
    let _ = stream.read_to_end(&mut text).await;
    let text = String::from_utf8(text).unwrap();
    let last = text
        .rfind("HTTP/1.")
        .unwrap_or_else(|| panic!("{request:?}: {text:?}"));
    let (head, body) = text[last..].split_once("\r\n\r\n").unwrap();
    let mut lines = head.lines();
    let status = lines.next().unwrap()[9..12].parse().unwrap();
    let headers = lines.map(|line| line.split_once(": ").unwrap());
    let headers =
        headers.map(|(name, value)| (name.parse().unwrap(), HeaderValue::from_str(value).unwrap()));
    (status, headers.collect(), body.to_owned())
}

#[tokio::test]
async fn over_http_1_1_there_is_one_host() {
    let server = judging().await;
    for (request, status) in [
        ("GET / HTTP/1.1\r\nhost: localhost\r\n", 200),
        ("GET / HTTP/1.0\r\n", 200),
        ("GET / HTTP/1.1\r\nhost:\r\n", 400),
        ("GET / HTTP/1.1\r\nhost: localhost:99999\r\n", 400),
        (
            "GET http://localhost:99999/ HTTP/1.1\r\nhost: localhost\r\n",
            400,
        ),
        ("GET / HTTP/1.1\r\nhost: localhost:65535\r\n", 200),
        ("GET / HTTP/1.1\r\n", 400),
        ("GET http://localhost/ HTTP/1.1\r\n", 400),
        ("POST / HTTP/1.1\r\nContent-Length: 0\r\n", 400),
        (
            "GET / HTTP/1.1\r\nhost: localhost\r\nHost: localhost\r\n",
            400,
        ),
        ("GET / HTTP/1.0\r\nhost: localhost\r\nhost: other\r\n", 400),
        ("GET / HTTP/1.1\r\nhost: local host\r\n", 400),
    ] {
        let (found, headers, body) = answer(
            server.address,
            &format!("{request}connection: close\r\n\r\n"),
        )
        .await;
        assert_eq!(found, status, "{request}");
        assert!(RequestKey::from_headers(&headers).is_some(), "{request}");
        assert_eq!(
            body.starts_with("expected one Host"),
            status == 400,
            "{request}: {body}"
        );
    }
}

#[tokio::test]
async fn what_the_http_stack_refuses_has_the_answer_of_the_service() {
    let server = judging().await;
    let headers = |count| "a: b\r\n".repeat(count);
    for (request, status) in [
        ("garbage\r\n\r\n".to_owned(), 400),
        ("GET / HTTP/9.9\r\nhost: x\r\n\r\n".to_owned(), 400),
        (
            "GET / HTTP/1.1\r\nhost: x\r\nno colon\r\n\r\n".to_owned(),
            400,
        ),
        ("GET / HTTP/1.1\r\nhost: x\r\na: \0\r\n\r\n".to_owned(), 400),
        ("G\u{7f}T / HTTP/1.1\r\nhost: x\r\n\r\n".to_owned(), 400),
        (
            "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: x\r\n\r\n".to_owned(),
            400,
        ),
        (
            "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n"
                .to_owned(),
            400,
        ),
        (
            "POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: gzip\r\n\r\n".to_owned(),
            400,
        ),
        (
            format!("GET / HTTP/1.1\r\nhost: x\r\n{}\r\n", headers(200)),
            431,
        ),
        (
            format!(
                "GET / HTTP/1.1\r\nhost: x\r\na: {}\r\n\r\n",
                "b".repeat(32 << 10)
            ),
            431,
        ),
    ] {
        for before in ["", "GET / HTTP/1.1\r\nhost: x\r\n\r\n"] {
            let (found, headers, body) =
                answer(server.address, &format!("{before}{request}")).await;
            assert_eq!(found, status, "{request}");
            assert!(
                RequestKey::from_headers(&headers).is_some(),
                "{before}{request}"
            );
            assert_eq!(headers["connection"], "close");
            assert_eq!(headers["content-length"], body.len().to_string());
            assert!(headers.contains_key("date"));
            assert!(
                body.ends_with(&format!(
                    "answered {}",
                    http::StatusCode::from_u16(status).unwrap()
                )),
                "{body}"
            );
        }
    }
}

/// The server answers faults of heads itself if the service does not judge them.
#[tokio::test]
async fn without_a_judge_of_heads_there_is_a_request_key_and_no_body() {
    let server = start(None, ServerOptions::new(), Counter::default()).await;
    let (status, headers, body) = answer(server.address, "garbage\r\n\r\n").await;
    assert_eq!((status, body.as_str()), (400, ""));
    assert!(RequestKey::from_headers(&headers).is_some());
}
