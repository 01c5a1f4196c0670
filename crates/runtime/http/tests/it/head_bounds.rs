//! Bounds on the head of a request.

use bankrail_http::{HeadBounds, HeadBoundsLayer, HeadError, RequestKey, RequestKeyLayer};
use bytes::Bytes;
use http::header::HOST;
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response, Uri};
use http_body_util::Full;
use std::convert::Infallible;
use std::future::{Ready, ready};
use std::task::{Context, Poll};
use tower_layer::Layer as _;
use tower_service::Service;

#[derive(Clone)]
struct Inner;

impl Service<Request<Full<Bytes>>> for Inner {
    type Response = Response<String>;
    type Error = Infallible;
    type Future = Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Request<Full<Bytes>>) -> Self::Future {
        ready(Ok(Response::new("served".to_owned())))
    }
}

fn refusal(fault: HeadError, _: &Parts) -> Response<String> {
    let mut answer = Response::new(fault.to_string());
    *answer.status_mut() = fault.status();
    answer
}

#[test]
fn each_bound_holds_to_the_byte() {
    let bounds = HeadBounds::new()
        .max_uri_bytes(10)
        .max_header_bytes(20)
        .max_header_fields(2);
    let judge = |uri: &str, headers: &[(&'static str, &'static str)]| {
        let headers: HeaderMap = headers
            .iter()
            .map(|(name, value)| {
                (
                    HeaderName::from_static(name),
                    HeaderValue::from_static(value),
                )
            })
            .collect();
        bounds
            .judge(&uri.parse::<Uri>().unwrap(), &headers)
            .map_err(HeadError::status)
    };
    assert_eq!(judge("/123456789", &[]), Ok(()));
    assert_eq!(judge("/1234567890", &[]).unwrap_err(), 414);
    assert_eq!(judge("http://x.yz/123?6", &[]), Ok(()));
    assert_eq!(judge("http://x.yz/123?67", &[]).unwrap_err(), 414);
    assert_eq!(judge("/", &[("a", "1"), ("b", "890123456")]), Ok(()));
    assert_eq!(
        judge("/", &[("a", "1"), ("b", "8901234567")]).unwrap_err(),
        431
    );
    assert_eq!(
        judge("/", &[("a", ""), ("b", ""), ("c", "")]).unwrap_err(),
        431
    );
}

#[test]
fn there_is_at_most_one_host_and_it_is_one() {
    let judge = |hosts: &[&'static [u8]]| {
        let hosts = hosts
            .iter()
            .map(|host| (HOST, HeaderValue::from_bytes(host).unwrap()))
            .collect();
        HeadBounds::new().judge(&Uri::from_static("/"), &hosts)
    };
    for good in [
        &b"bank.example"[..],
        b"bank.example:8443",
        b"127.0.0.1",
        b"[::1]:80",
        b"bank.example:",
        b"bank.example:65535",
    ] {
        assert_eq!(judge(&[good]), Ok(()), "{good:?}");
    }
    assert_eq!(judge(&[]), Ok(()));
    for bad in [
        &b"bank example"[..],
        b"a@bank.example",
        b"bank.example/x",
        b"bank.example, other",
        b"",
        b":80",
        b"bank.example:99999",
        b"bank.example:+1",
        b"bank.example:8x",
        b"\xe9",
    ] {
        assert_eq!(judge(&[bad]), Err(HeadError::Host), "{bad:?}");
    }
    assert_eq!(
        judge(&[b"bank.example", b"bank.example"]),
        Err(HeadError::Host)
    );
}

#[tokio::test(flavor = "current_thread")]
async fn what_is_too_long_is_answered_by_the_service_with_a_request_key() {
    let mut service =
        RequestKeyLayer::new().layer(HeadBoundsLayer::new(HeadBounds::new(), refusal).layer(Inner));
    let request = |uri: String| Request::post(uri).body(Full::from("unread")).unwrap();
    let served = service.call(request("/short".to_owned())).await.unwrap();
    assert_eq!(
        (served.status().as_u16(), served.body().as_str()),
        (200, "served")
    );
    let refused = service
        .call(request(format!("/{}", "x".repeat(9000))))
        .await
        .unwrap();
    assert_eq!(refused.status(), 414);
    assert_eq!(
        refused.body(),
        "expected an address of at most 8192 bytes, found more"
    );
    assert!(RequestKey::from_headers(refused.headers()).is_some());
}
