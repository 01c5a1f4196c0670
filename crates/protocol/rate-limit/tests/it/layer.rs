//! The layer over a service.

use crate::{at, policy};
use bankrail_rate_limit::layer::{
    LimitKey, LimitLayer, LimitLayerOptions, LimitRefusal, RefusalBody, RequestLimit,
    write_rate_limit,
};
use bankrail_rate_limit::{
    Algorithm, CallType, Charge, CounterStore, Counting, Decision, Limiter, Limits, OnStoreFailure,
    State, decide,
};
use bankrail_values::{ManualClock, RequestKey, StoreErrorKind, StoreFuture};
use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, Request, Response, StatusCode};
use std::convert::Infallible;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tower_layer::Layer as _;
use tower_service::Service;

#[derive(Clone)]
struct Inner;

impl Service<Request<()>> for Inner {
    type Response = Response<Bytes>;
    type Error = Infallible;
    type Future = std::future::Ready<Result<Response<Bytes>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Request<()>) -> Self::Future {
        std::future::ready(Ok(Response::new(Bytes::from_static(b"served"))))
    }
}

struct World {
    layer: LimitLayer,
    clock: Arc<ManualClock>,
}

struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    text: String,
}

impl Answer {
    fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .unwrap_or_else(|| panic!("no {name}"))
            .to_str()
            .unwrap()
    }

    fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.text).unwrap()
    }
}

impl World {
    fn new(limiter: Limiter, options: LimitLayerOptions) -> Self {
        let clock = Arc::new(ManualClock::new(
            "2021-07-29T01:00:00.000Z".parse().unwrap(),
        ));
        let key = |request: &Parts| match request
            .headers
            .get("customer")
            .map(|customer| customer.to_str().unwrap())
        {
            Some("anybody") => RequestLimit::Unlimited,
            Some(customer) => {
                RequestLimit::Of(LimitKey::new(customer, CallType::PaymentInstruction))
            }
            None => RequestLimit::Refused(StatusCode::UNAUTHORIZED),
        };
        Self {
            layer: LimitLayer::new(
                Arc::new(limiter),
                key,
                options.clock(Arc::clone(&clock) as _),
            ),
            clock,
        }
    }

    async fn ask(&self, customer: Option<&str>) -> Answer {
        let key = RequestKey::random();
        let mut request = Request::get("/").extension(key);
        if let Some(customer) = customer {
            request = request.header("customer", customer);
        }
        let (mut head, body) = self
            .layer
            .layer(Inner)
            .call(request.body(()).unwrap())
            .await
            .unwrap()
            .into_parts();
        // An outer layer sets the key in the same way.
        head.headers.insert(RequestKey::HEADER, key.into());
        Answer {
            status: head.status,
            headers: head.headers,
            text: String::from_utf8(body.into()).unwrap(),
        }
    }

    /// Returns the answer to the first refused request.
    async fn refused(&self) -> Answer {
        for _ in 0..5 {
            assert_eq!(self.ask(Some("ACME")).await.text, "served");
        }
        self.ask(Some("ACME")).await
    }
}

/// A service that is never ready.
#[derive(Clone)]
struct Busy;

impl Service<Request<()>> for Busy {
    type Response = Response<Bytes>;
    type Error = Infallible;
    type Future = std::future::Pending<Result<Response<Bytes>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Pending
    }

    fn call(&mut self, _: Request<()>) -> Self::Future {
        std::future::pending()
    }
}

#[test]
fn the_layer_is_ready_when_its_service_is() {
    let world = World::new(Limiter::default(), LimitLayerOptions::new());
    let mut context = Context::from_waker(std::task::Waker::noop());
    assert!(world.layer.layer(Inner).poll_ready(&mut context).is_ready());
    assert!(
        world
            .layer
            .layer(Busy)
            .poll_ready(&mut context)
            .is_pending()
    );
}

#[tokio::test]
async fn the_layer_charges_refuses_or_lets_pass_as_its_caller_says() {
    let world = World::new(Limiter::default(), LimitLayerOptions::new());
    let refused = world.refused().await;
    assert_eq!(
        (refused.status, refused.text.as_str()),
        (StatusCode::TOO_MANY_REQUESTS, "")
    );
    assert_eq!(refused.header("retry-after"), "2");
    for _ in 0..9 {
        assert_eq!(world.ask(Some("anybody")).await.status, StatusCode::OK);
    }
    let refused = world.ask(None).await;
    assert_eq!(
        (refused.status, refused.text.as_str()),
        (StatusCode::UNAUTHORIZED, "")
    );
    assert!(!refused.headers.contains_key("retry-after"));
    assert_eq!(world.ask(Some("BETA")).await.status, StatusCode::OK);
    world.clock.advance(Duration::from_secs(2));
    assert_eq!(world.ask(Some("ACME")).await.status, StatusCode::OK);
}

#[tokio::test]
async fn headers_and_a_problem_where_they_are_wanted() {
    let options = LimitLayerOptions::new()
        .problem_json()
        .rate_limit_headers(true);
    let world = World::new(Limiter::default(), options);
    let served = world.ask(Some("ACME")).await;
    assert_eq!(served.header("ratelimit-policy"), "\"second\";q=5;w=1");
    assert_eq!(served.header("ratelimit"), "\"second\";r=4;t=1");
    for _ in 0..4 {
        world.ask(Some("ACME")).await;
    }
    let refused = world.ask(Some("ACME")).await;
    assert_eq!(refused.header("content-type"), "application/problem+json");
    assert_eq!(refused.header("ratelimit"), "\"second\";r=0;t=1");
    let expected = serde_json::json!({
        "type": "https://iana.org/assignments/http-problem-types#quota-exceeded",
        "title": "Too Many Requests",
        "status": 429,
        "instance": format!("urn:uuid:{}", refused.header("x-requestkey")),
        "violated-policies": ["second"],
    });
    assert_eq!(refused.json(), expected);
}

#[tokio::test]
async fn a_body_of_the_callers_own() {
    let options = LimitLayerOptions::new().body(|refusal, request| {
        let key = RequestKey::of(&request.extensions).unwrap();
        RefusalBody::json(format!(
            "{{\"status\":{},\"key\":\"{key}\"}}",
            refusal.status().as_u16()
        ))
    });
    let refused = World::new(Limiter::default(), options).refused().await;
    assert_eq!(refused.header("content-type"), "application/json");
    let json = refused.json();
    assert_eq!(
        (&json["status"], json["key"].as_str().unwrap()),
        (&429.into(), refused.header("x-requestkey"))
    );
}

#[derive(Debug)]
struct Down;

impl CounterStore for Down {
    fn charge<'a>(&'a self, _: Charge<'a>) -> StoreFuture<'a, Decision> {
        Box::pin(async { Err(StoreErrorKind::Unavailable.into()) })
    }
}

#[tokio::test]
async fn counters_that_cannot_be_reached() {
    let problem = || LimitLayerOptions::new().problem_json();
    let refused = World::new(Limiter::new(Limits::default(), Arc::new(Down)), problem())
        .ask(Some("ACME"))
        .await;
    assert_eq!(
        (refused.status, refused.json()["type"].as_str().unwrap()),
        (StatusCode::SERVICE_UNAVAILABLE, "about:blank")
    );
    assert!(refused.headers.get("retry-after").is_none());
    let mut limits = Limits::default();
    limits.set_on_store_failure(CallType::PaymentInstruction, OnStoreFailure::Allow);
    let allowed = World::new(Limiter::new(limits, Arc::new(Down)), problem())
        .ask(Some("ACME"))
        .await;
    assert_eq!(allowed.text, "served");
}

#[test]
fn each_window_has_its_name_in_the_headers() {
    let windows = |lengths: &[u64]| {
        let windows = lengths
            .iter()
            .map(|millis| (*millis, 9))
            .collect::<Vec<_>>();
        let policy = policy(Algorithm::Fixed, Counting::Attempts, &windows);
        let decision = decide(&mut State::new(), &policy, at(600), 2).unwrap();
        let mut headers = HeaderMap::new();
        write_rate_limit(&decision, &mut headers);
        ["ratelimit-policy", "ratelimit"].map(|name| {
            headers
                .get(name)
                .map(|value| value.to_str().unwrap().to_owned())
        })
    };
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(windows(&[]), [None, None]);
    assert_eq!(
        windows(&[1_000, 60_000, 3_600_000]),
        [
            some("\"hour\";q=9;w=3600, \"minute\";q=9;w=60, \"second\";q=9;w=1"),
            some("\"hour\";r=7;t=3600, \"minute\";r=7;t=60, \"second\";r=7;t=1")
        ]
    );
    assert_eq!(
        windows(&[86_400_000, 1_500]),
        [
            some("\"day\";q=9;w=86400, \"1500ms\";q=9;w=2"),
            some("\"day\";r=7;t=86400, \"1500ms\";r=7;t=1")
        ]
    );
}

#[test]
fn a_problem_names_each_window_that_refused() {
    let policy = policy(
        Algorithm::Fixed,
        Counting::Attempts,
        &[(60_000, 1), (1_000, 1), (3_600_000, 9)],
    );
    let mut state = State::new();
    let _ = decide(&mut state, &policy, at(0), 1).unwrap();
    let refusal = LimitRefusal::Exceeded(decide(&mut state, &policy, at(0), 1).unwrap());
    assert_eq!(
        String::from_utf8(RefusalBody::problem(&refusal, None).bytes.into()).unwrap(),
        concat!(
            r#"{"type":"https://iana.org/assignments/http-problem-types#quota-exceeded","title":"Too Many Requests","#,
            r#""status":429,"violated-policies":["minute","second"]}"#
        )
    );
    let down = LimitRefusal::Unreachable(StoreErrorKind::Unavailable.into());
    assert_eq!(
        String::from_utf8(RefusalBody::problem(&down, None).bytes.into()).unwrap(),
        r#"{"type":"about:blank","title":"Service Unavailable","status":503}"#
    );
    for (refusal, wanted, names) in [
        (
            &refusal,
            true,
            &["retry-after", "ratelimit-policy", "ratelimit"][..],
        ),
        (&refusal, false, &["retry-after"]),
        (&down, true, &[]),
    ] {
        let mut headers = HeaderMap::new();
        refusal.write_headers(wanted, &mut headers);
        assert_eq!(
            headers.keys().map(|name| name.as_str()).collect::<Vec<_>>(),
            names
        );
    }
    let shown = format!("{:?}", LimitLayerOptions::new().rate_limit_headers(true));
    assert_eq!(shown, "LimitLayerOptions { rate_limit_headers: true, .. }");
    let layer = World::new(Limiter::default(), LimitLayerOptions::new()).layer;
    assert!(format!("{layer:?}").starts_with("LimitLayer { limiter: "));
}
