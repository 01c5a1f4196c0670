//! The request key.

use bankrail_http::names::REQUEST_KEY;
use bankrail_http::{RequestKey, RequestKeyLayer};
use http::{HeaderValue, Request, Response};
use std::convert::Infallible;
use std::future::{Ready, ready};
use std::task::{Context, Poll};
use tower_layer::Layer as _;
use tower_service::Service;

/// A service that answers with its request's key, and sets the header itself to another value.
#[derive(Clone)]
struct Inner;

impl Service<Request<()>> for Inner {
    type Response = Response<Option<RequestKey>>;
    type Error = Infallible;
    type Future = Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<()>) -> Self::Future {
        let mut answer = Response::new(RequestKey::of(request.extensions()));
        answer
            .headers_mut()
            .append(REQUEST_KEY, HeaderValue::from_static("mine"));
        ready(Ok(answer))
    }
}

const GIVEN: &str = "b1e0a5c2-0000-4000-8000-000000000001";

async fn ask(
    layer: RequestKeyLayer,
    header: Option<&'static str>,
    known: Option<RequestKey>,
) -> RequestKey {
    let mut request = Request::new(());
    if let Some(header) = header {
        request
            .headers_mut()
            .insert(REQUEST_KEY, HeaderValue::from_static(header));
    }
    if let Some(known) = known {
        request.extensions_mut().insert(known);
    }
    let answer = layer.layer(Inner).call(request).await.unwrap();
    let key = RequestKey::from_headers(answer.headers()).expect("one key on every answer");
    assert_eq!(*answer.body(), Some(key));
    key
}

#[tokio::test(flavor = "current_thread")]
async fn every_answer_has_the_key_that_the_request_was_given() {
    let fresh = ask(RequestKeyLayer::new(), None, None).await;
    assert_eq!(fresh.uuid().version(), 4);
    assert_ne!(fresh, ask(RequestKeyLayer::new(), None, None).await);
    assert_eq!(
        ask(RequestKeyLayer::new(), Some(GIVEN), Some(fresh)).await,
        fresh
    );
}

#[tokio::test(flavor = "current_thread")]
async fn a_key_of_the_requests_own_counts_only_where_it_was_asked_for() {
    assert_ne!(
        ask(RequestKeyLayer::new(), Some(GIVEN), None)
            .await
            .to_string(),
        GIVEN
    );
    let accepting = RequestKeyLayer::new().accept_incoming();
    assert_eq!(
        ask(accepting.clone(), Some(GIVEN), None).await.to_string(),
        GIVEN
    );
    assert_eq!(
        ask(accepting, Some("<script>"), None)
            .await
            .uuid()
            .version(),
        4
    );
}
