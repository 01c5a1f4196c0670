//! The control of a running bank over HTTP, as programs in other languages use it.

use axum::Router;
use axum::body::{Body, to_bytes};
use bankrail_client_assertion::token::{ScopeSet, TokenRequest, names};
use bankrail_client_assertion::{
    AssertionBuilder, AssertionOptions, Audience, CustomerCode, JwtId, Verifier, VerifierOptions,
};
use bankrail_emulator::{
    BankClock, Control, ControlOptions, Emulator, EmulatorOptions, Engines, FakeDirectory,
    FakeLedger,
};
use bankrail_http::EndpointUrl;
use bankrail_http::serve::{Server, ServerOptions};
use bankrail_jose::{CurrentKey, DecryptionKey, EncryptionKey, KeySet, RsaSize, SigningKey};
use bankrail_rate_limit::{Limiter, Limits, MemoryCounters};
use bankrail_secured_payload::{OpenOptions, Opener, SecuredPayload};
use bankrail_service::delivery::{
    DispatcherOptions, Endpoint, HttpsTransport, HttpsTransportOptions,
};
use bankrail_service::{ApiKeyHash, Customer, ProviderOptions, RegisteredAccount};
use bankrail_stores::memory::MemoryStore;
use bankrail_values::{Clock as _, Currency, SystemClock};
use bankrail_webhook::samples;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{Method, Request, StatusCode};
use serde_json::{Value, json};
use std::sync::{Arc, LazyLock, Mutex};
use tower_service::Service as _;

pub(crate) const TOKEN: &str = "token-of-the-control";
const AUDIENCE: &str = "https://bank.example/v1.0/auth";
const ACCOUNT: &str = "999001400100101";

static KEY: LazyLock<SigningKey> =
    LazyLock::new(|| SigningKey::generate(RsaSize::Rsa2048).unwrap());

/// A bank with two customers, ACME and OTHER, whose API keys are their codes, and an account of
/// ACME.
struct World {
    bank: Router,
    control: Router,
    emulator: Arc<Emulator>,
}

async fn send(router: &Router, request: Request<Body>) -> (StatusCode, Vec<u8>) {
    let answer = router.clone().call(request).await.unwrap();
    let status = answer.status();
    (
        status,
        to_bytes(answer.into_body(), usize::MAX)
            .await
            .unwrap()
            .to_vec(),
    )
}

impl World {
    fn new() -> Self {
        Self::with_journal(true)
    }

    fn with_journal(kept: bool) -> Self {
        let (ledger, directory, store) =
            (FakeLedger::new(), FakeDirectory::new(), MemoryStore::new());
        let scopes: ScopeSet = names::STATEMENT_READ.parse().unwrap();
        for code in ["ACME", "OTHER"] {
            let keys = KeySet::new([KEY.verifying_key()]).unwrap();
            let customer = Customer::new(CustomerCode::parse(code).unwrap(), keys, scopes.clone());
            directory.insert(ApiKeyHash::of(code.as_bytes()), customer);
        }
        let account = ACCOUNT.parse().unwrap();
        ledger.open(
            &CustomerCode::parse("ACME").unwrap(),
            &account,
            RegisteredAccount::new(Currency::AUD),
        );
        let engines = Engines {
            directory: Arc::new(directory),
            ledger: Arc::new(ledger),
            tokens: Arc::new(store.clone()),
            outbox: Arc::new(store.outbox()),
            transport: Arc::new(HttpsTransport::new(HttpsTransportOptions::new()).unwrap()),
        };
        let clock = Arc::new(BankClock::new());
        let limiter = Arc::new(Limiter::new(
            Limits::default(),
            Arc::new(MemoryCounters::default()),
        ));
        let provider = ProviderOptions::new()
            .limiter(limiter.clone())
            .assertion_clock(clock.for_assertions());
        let options = EmulatorOptions::new()
            .clock(clock.clone())
            .provider(provider)
            .journal(kept);
        let options = options.dispatcher(DispatcherOptions::new().per_endpoint(1));
        let verifier = Verifier::new(Audience::parse(AUDIENCE).unwrap(), VerifierOptions::new());
        let emulator = Arc::new(Emulator::new(engines, verifier, options).unwrap());
        let control = Control::new(emulator.clone(), clock, limiter, ControlOptions::new());
        Self {
            bank: emulator.router(),
            control: control.router(TOKEN.into()),
            emulator,
        }
    }

    async fn tell(&self, name: &str, body: impl ToString) -> (u16, Value) {
        let request = Request::post(format!("/_bank/{name}"))
            .header(AUTHORIZATION, format!("Bearer {TOKEN}"));
        let (status, body) = send(
            &self.control,
            request.body(Body::from(body.to_string())).unwrap(),
        )
        .await;
        (status.as_u16(), serde_json::from_slice(&body).unwrap())
    }

    async fn fine(&self, name: &str, body: impl ToString) -> Value {
        let (status, said) = self.tell(name, body).await;
        assert_eq!(status, 200, "{said}");
        said
    }

    /// Returns the status of a token request of a customer, and the token.
    async fn token(&self, code: &str) -> (u16, Option<String>) {
        let options = AssertionOptions::new().jwt_id(JwtId::Random);
        let builder = AssertionBuilder::new(
            code.parse().unwrap(),
            Audience::parse(AUDIENCE).unwrap(),
            options,
        );
        let assertion = builder.sign(&KEY, SystemClock.now()).unwrap();
        let form = TokenRequest::new(assertion, names::STATEMENT_READ.parse().unwrap()).to_form();
        let request = Request::post("/v1.0/auth").header("apikey", code);
        let request = request.header(CONTENT_TYPE, "application/x-www-form-urlencoded");
        let (status, body) = send(&self.bank, request.body(Body::from(form)).unwrap()).await;
        let body: Value = serde_json::from_slice(&body).unwrap_or_default();
        (
            status.as_u16(),
            body["access_token"].as_str().map(str::to_owned),
        )
    }

    async fn statement(&self, token: &str) -> (u16, String) {
        let request = Request::post("/accounts/v2.0/statement").header("apikey", "ACME");
        let request = request
            .header(AUTHORIZATION, format!("Bearer {token}"))
            .header(CONTENT_TYPE, "application/json");
        let body = json!({ "accountId": ACCOUNT }).to_string();
        let (status, body) = send(&self.bank, request.body(Body::from(body)).unwrap()).await;
        (status.as_u16(), String::from_utf8_lossy(&body).into_owned())
    }
}

#[tokio::test]
async fn limits_tokens_and_days_follow_the_clock() {
    let world = World::new();
    let set = json!({ "now": "2030-01-31T23:59:00Z", "rate": 0 });
    let said = world.fine("set-clock", set).await;
    assert_eq!(
        said,
        json!({ "now": "2030-01-31T23:59:00.000Z", "rate": 0, "assertions": "real" })
    );
    let token = world.token("ACME").await.1.unwrap();
    assert_eq!(world.token("ACME").await.0, 200);
    assert_eq!(
        world.token("ACME").await.0,
        429,
        "two a second, and the clock stands still"
    );
    let (_, statement) = world.statement(&token).await;
    assert!(statement.contains("2030-01-31"), "{statement}");
    let said = world.fine("step-clock", json!({ "seconds": 61 })).await;
    assert_eq!(said["now"], "2030-02-01T00:00:01.000Z");
    assert_eq!(world.token("ACME").await.0, 200);
    let (_, statement) = world.statement(&token).await;
    assert!(statement.contains("2030-02-01"), "{statement}");
    world.fine("step-clock", json!({ "seconds": 3600 })).await;
    assert_eq!(world.statement(&token).await.0, 401, "an hour later");
    // The assertion of a program that uses the real time is refused only if the bank's clock judges
    // assertions.
    world
        .fine("set-clock", json!({ "assertions": "bank" }))
        .await;
    assert_eq!(world.token("ACME").await.0, 401);
    let said = world.fine("set-clock", json!({ "now": "real" })).await;
    assert_eq!(
        (said["rate"].clone(), said["assertions"].clone()),
        (json!(1), json!("real"))
    );
}

#[tokio::test]
async fn limits_are_set_for_one_customer_or_for_all() {
    let world = World::new();
    world.fine("set-clock", json!({ "rate": 0 })).await;
    let set = json!({ "customer": "ACME", "call_type": "token", "per_second": 1 });
    let said = world.fine("set-limit", set).await;
    assert!(
        said["limits"]["token"]
            .as_str()
            .unwrap()
            .contains("10 per 3600s, 1 per 1s"),
        "{said}"
    );
    assert_eq!(
        [world.token("ACME").await.0, world.token("ACME").await.0],
        [200, 429]
    );
    assert_eq!(
        [world.token("OTHER").await.0, world.token("OTHER").await.0],
        [200, 200]
    );
    world
        .fine(
            "set-limit",
            json!({ "call_type": "token", "unlimited": true }),
        )
        .await;
    assert_eq!(world.token("OTHER").await.0, 200);
    let said = world.fine("limits", json!({ "customer": "ACME" })).await;
    assert!(
        said["limits"]["token"]
            .as_str()
            .unwrap()
            .contains("1 per 1s"),
        "{said}"
    );
    for (wrong, expected) in [
        (
            json!({ "call_type": "tokens", "per_hour": 1 }),
            "call_type: expected one of graphql, token, ",
        ),
        (json!({ "call_type": "token" }), "expected a limit per hour"),
        (
            json!({ "call_type": "token", "per_hour": 0 }),
            "per_hour: expected a limit",
        ),
        (
            json!({ "call_type": "token", "per_hour": 5_000_000_000_u64 }),
            "per_hour: expected a smaller number",
        ),
        (
            json!({ "call_type": "token", "per_hour": 1, "unlimited": true }),
            "expected unlimited alone",
        ),
        (json!({ "per_hour": 1 }), "expected call_type, found none"),
    ] {
        let (status, said) = world.tell("set-limit", &wrong).await;
        assert!(
            status == 400 && said["error"].as_str().unwrap().contains(expected),
            "{wrong}: {said}"
        );
    }
}

#[tokio::test]
async fn faults_meet_the_customer_and_as_many_calls_as_ordered() {
    let world = World::new();
    let order = json!({ "fault": "token-503", "customer": "ACME", "count": 1 });
    let number = world.fine("add-fault", order).await["number"].clone();
    assert_eq!(
        world.fine("faults", "").await["faults"],
        json!([
            { "number": number, "fault": "token-503, of ACME, count 1" }
        ])
    );
    assert_eq!(
        [
            world.token("OTHER").await.0,
            world.token("ACME").await.0,
            world.token("ACME").await.0
        ],
        [200, 503, 200]
    );
    assert_eq!(world.fine("faults", "").await["faults"], json!([]));
    world
        .fine("add-fault", json!({ "fault": "500", "share": "0%" }))
        .await;
    assert_eq!(
        world.fine("remove-fault", "").await,
        json!({ "removed": 1 })
    );
    assert_eq!(
        world.tell("remove-fault", json!({ "number": 77 })).await.0,
        404
    );
    for (wrong, expected) in [
        (json!({ "fault": "xyz" }), "expected one of 429, "),
        (
            json!({ "fault": "token-repeating-cursor" }),
            "expected a fault of a token call",
        ),
        (
            json!({ "fault": "500", "share": "2" }),
            "share: expected a rate from 0 to 1",
        ),
        (
            json!({ "fault": "500", "count": 0 }),
            "count: expected 1 or more",
        ),
        (
            json!({ "fault": "500", "count": -1 }),
            "count: expected a whole number from 0 on",
        ),
        (json!({ "fault": 500 }), "fault: expected a text"),
        (
            json!({ "fault": "500", "counts": 1 }),
            "expected one of fault, customer, share, skip, count, found",
        ),
    ] {
        let (status, said) = world.tell("add-fault", &wrong).await;
        assert!(
            status == 400 && said["error"].as_str().unwrap().contains(expected),
            "{wrong}: {said}"
        );
    }
    assert_eq!(
        world.fine("faults", "").await["faults"],
        json!([]),
        "nothing half done"
    );
}

#[tokio::test]
async fn the_journal_has_the_calls_without_secrets_and_is_asserted_on() {
    let world = World::new();
    let (status, token) = world.token("ACME").await;
    let token = token.unwrap();
    world.statement(&token).await;
    let journal = world.fine("journal", "").await;
    let calls = journal["calls"].as_array().unwrap();
    assert_eq!(
        (status, calls.len(), calls[0]["endpoint"].as_str()),
        (200, 2, Some("token"))
    );
    assert_eq!(calls[0]["request"]["headers"]["apikey"], "(masked)");
    assert_eq!(calls[1]["request"]["headers"]["authorization"], "(masked)");
    assert_eq!(calls[1]["customer"], "ACME");
    assert!(
        calls[1]["request"]["body"]
            .as_str()
            .unwrap()
            .contains(ACCOUNT)
    );
    assert!(
        calls[1]["answer"]["body"]
            .as_str()
            .unwrap()
            .contains("payload")
    );
    let text = journal.to_string();
    assert!(
        !text.contains(&token) && text.contains(".(masked)\""),
        "{text}"
    );
    let assert = |body: Value| world.tell("assert-calls", body);
    assert_eq!(
        assert(json!({ "endpoint": "statement", "body": ACCOUNT, "times": 1 }))
            .await
            .0,
        200
    );
    assert_eq!(
        assert(json!({ "endpoint": "statement" })).await,
        (200, json!({ "found": 1 }))
    );
    let (status, said) = assert(json!({ "endpoint": "token", "status": 200, "at_least": 2 })).await;
    let expected = format!(
        "expected 2 or more of these calls, found 1; the newest of all calls: statement {ACCOUNT} 200; token 200"
    );
    assert_eq!((status, said["error"].as_str()), (409, Some(&*expected)));
    assert_eq!(
        assert(json!({ "at_least": 1, "at_most": 2 })).await,
        (200, json!({ "found": 2 }))
    );
    assert_eq!(assert(json!({ "at_least": 3, "at_most": 4 })).await.0, 409);
    assert_eq!(assert(json!({ "endpoint": "x" })).await.0, 400);
    let one = world
        .fine("journal", json!({ "most": 1, "after": 0 }))
        .await;
    assert_eq!(
        (one["calls"].as_array().unwrap().len(), one["found"].clone()),
        (1, json!(2))
    );
    world.fine("forget-calls", "").await;
    assert_eq!(assert(json!({ "at_most": 0 })).await.0, 200);
}

#[tokio::test]
async fn a_body_beyond_the_bound_is_the_provider_s_to_refuse() {
    let world = World::new();
    let request = Request::post("/v1.0/auth").header("apikey", "ACME");
    let (status, body) = send(
        &world.bank,
        request.body(Body::from(vec![b' '; 1 << 20])).unwrap(),
    )
    .await;
    let body: Value = serde_json::from_slice(&body).unwrap();
    assert!(
        status == StatusCode::PAYLOAD_TOO_LARGE && body["error"].is_string(),
        "{body}"
    );
    assert_eq!(
        world.fine("assert-calls", json!({ "status": 413 })).await["found"],
        1
    );
}

#[tokio::test]
async fn strangers_and_nonsense_are_refused_in_json() {
    let world = World::new();
    for authorization in [
        None,
        Some(""),
        Some("Bearer "),
        Some("Bearer x"),
        Some(TOKEN),
        Some("Basic dG9rZW4="),
    ] {
        for path in ["/_bank/clock", "/_bank/nowhere", "/"] {
            let mut request = Request::get(path);
            if let Some(value) = authorization {
                request = request.header(AUTHORIZATION, value);
            }
            let (status, body) = send(&world.control, request.body(Body::empty()).unwrap()).await;
            let body: Value = serde_json::from_slice(&body).unwrap();
            assert_eq!(status, StatusCode::UNAUTHORIZED, "{authorization:?} {path}");
            assert!(!body.to_string().contains(TOKEN));
        }
    }
    let long = " ".repeat(9 << 20);
    for (name, body, expected) in [
        (
            "nowhere",
            "",
            (404, "expected an operation such as /_bank/clock, found"),
        ),
        (
            "set-clock",
            "[]",
            (400, "expected a JSON object, found another value"),
        ),
        (
            "set-clock",
            "{\"now\":",
            (400, "expected a JSON object: EOF"),
        ),
        ("set-clock", "{\"now\":\"today\"}", (400, "now: expected")),
        (
            "set-clock",
            "{\"rate\":1000001}",
            (400, "rate: expected at most 1000000"),
        ),
        (
            "set-clock",
            "{\"rate\":5,\"assertions\":\"x\"}",
            (400, "assertions: expected one of real, bank, found"),
        ),
        ("step-clock", "", (400, "expected seconds, found none")),
        ("clock", "{\"x\":1}", (400, "expected no member, found")),
        ("set-clock", &long, (413, "expected a body of at most")),
    ] {
        let (status, said) = world.tell(name, body).await;
        let error = said["error"].as_str().unwrap();
        assert!(
            status == expected.0 && error.starts_with(expected.1),
            "{name}: {status} {error}"
        );
    }
    let get = Request::get("/_bank/clock")
        .header(AUTHORIZATION, format!("Bearer {TOKEN}"))
        .body(Body::empty());
    assert_eq!(
        send(&world.control, get.unwrap()).await.0,
        StatusCode::METHOD_NOT_ALLOWED
    );
    assert_eq!(
        world.fine("clock", "").await["rate"],
        1,
        "nothing half done"
    );
    world
        .fine("step-clock", json!({ "seconds": u64::MAX }))
        .await;
    world.token("ACME").await;
}

/// Receivers of ACME that acknowledge every message, and record the requests.
async fn receivers(world: &World) -> Arc<Mutex<Vec<String>>> {
    let kept = Arc::new(Mutex::new(Vec::new()));
    let keep = kept.clone();
    // The receiver echoes the request, including its API key.
    let router = Router::new().fallback(move |method: Method, headers: http::HeaderMap, body: String| {
        // A dispatcher sends `HEAD` to find out if a failed receiver is up again.
        if method != Method::HEAD {
            keep.lock().unwrap().push(body);
        }
        let key = headers
            .get("x-receiver-key")
            .and_then(|key| key.to_str().ok().map(str::to_owned));
        async move {
            json!({ "id": "0b7c2f6e-8a1d-41eb-8dcd-0242ac130003", "status": "RCVD", "key": key })
                .to_string()
        }
    });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = EndpointUrl::danger_allow_http_on_loopback(&format!(
        "http://{}",
        listener.local_addr().unwrap()
    ))
    .unwrap();
    tokio::spawn(
        Server::without_tls(listener, router, ServerOptions::new()).run(std::future::pending()),
    );
    let (signing, encryption) = keys();
    let sealer = world
        .emulator
        .sealer(Some("ACME".to_owned()), signing, encryption);
    let endpoint = Endpoint::new("acme".parse().unwrap(), url, sealer);
    let endpoint = endpoint
        .with_api_key_in("x-receiver-key", &"key-of-the-receivers".into())
        .unwrap();
    world.emulator.endpoints().insert(endpoint);
    kept
}

/// Returns the bank's signing key, and the key that it encrypts to.
fn keys() -> (CurrentKey<SigningKey>, EncryptionKey) {
    let encryption = EncryptionKey::from_pem(&KEY.verifying_key().to_spki_pem())
        .unwrap()
        .with_kid("customer");
    (CurrentKey::new(KEY.clone().with_kid("bank")), encryption)
}

/// Returns the messages that the customer reads in the bodies it received.
fn opened(bodies: &Mutex<Vec<String>>) -> Vec<Result<Value, ()>> {
    let decryption = DecryptionKey::from_pem(&KEY.to_pkcs8_pem())
        .unwrap()
        .with_kid("customer");
    let (decryption, verifying) = (
        KeySet::new([decryption]),
        KeySet::new([KEY.verifying_key().with_kid("bank")]),
    );
    let opener = Opener::new(decryption.unwrap(), verifying.unwrap(), OpenOptions::new()).unwrap();
    let open = |body: String| {
        let sealed = SecuredPayload::from_json(body.as_bytes())
            .unwrap()
            .secured_payload;
        opener
            .open(&sealed)
            .map(|opened| serde_json::from_slice(&opened.into_json()).unwrap())
            .map_err(drop)
    };
    bodies.lock().unwrap().drain(..).map(open).collect()
}

#[tokio::test]
async fn deliveries_meet_their_faults() {
    let world = World::new();
    let bodies = receivers(&world).await;
    world.fine("set-clock", json!({ "rate": 0 })).await;
    let mut seed = 0;
    let mut send = async |fault: &str, then: u64| {
        world
            .fine(
                "add-fault",
                json!({ "fault": fault, "customer": "ACME", "count": 1 }),
            )
            .await;
        seed += 1;
        world
            .fine(
                "send",
                json!({ "endpoint": "acme", "story": "payment-rejected", "seed": seed }),
            )
            .await;
        while world.emulator.dispatcher().run_once().await.unwrap() > 0 {}
        let first = opened(&bodies);
        world.fine("step-clock", json!({ "seconds": then })).await;
        world
            .emulator
            .dispatcher()
            .resume(&"acme".parse().unwrap())
            .await
            .unwrap();
        while world.emulator.dispatcher().run_once().await.unwrap() > 0 {}
        (first, opened(&bodies))
    };
    for fault in ["bad-signature", "unknown-kid", "wrong-key"] {
        let (sent, _) = send(fault, 0).await;
        assert_eq!(
            sent.iter().map(Result::is_ok).collect::<Vec<_>>(),
            [false, true, true],
            "{fault}"
        );
    }
    let (sent, _) = send("doubled", 0).await;
    assert!(
        sent.len() == 4 && sent[0] == sent[1] && sent[1] != sent[2],
        "{sent:?}"
    );
    assert_eq!(send("webhook-flood", 0).await.0.len(), 52);
    let (sent, _) = send("changed", 0).await;
    let [one, other] = [0, 1].map(|at| sent[at].clone().unwrap());
    assert_eq!((sent.len(), &one["uetr"]), (4, &other["uetr"]));
    assert_ne!(
        one["clearing_system_reference"],
        other["clearing_system_reference"]
    );
    for (fault, first, then) in [
        ("reordered", 2, 3),
        ("late-by-a-day", 2, 90_000),
        ("lost-acknowledgement", 3, 3600),
    ] {
        let (sent, late) = send(fault, then).await;
        assert_eq!((sent.len(), late.len()), (first, 1), "{fault}");
    }
}

#[tokio::test]
async fn the_journal_has_deliveries_as_they_were_meant_and_answered() {
    let world = World::new();
    receivers(&world).await;
    world.fine("set-clock", json!({ "rate": 0 })).await;
    world.token("ACME").await;
    for fault in ["doubled", "lost-acknowledgement", "reordered"] {
        world
            .fine(
                "add-fault",
                json!({ "fault": fault, "customer": "ACME", "count": 1 }),
            )
            .await;
    }
    world
        .fine(
            "send",
            json!({ "endpoint": "acme", "story": "payment", "seed": 7 }),
        )
        .await;
    while world.emulator.dispatcher().run_once().await.unwrap() > 0 {}
    let assert = async |body: Value| world.tell("assert-calls", body).await;
    assert_eq!(
        assert(json!({ "endpoint": "webhook", "times": 3 })).await.0,
        200,
        "one is held back"
    );
    assert_eq!(
        assert(json!({ "endpoint": "webhook", "customer": "ACME", "answer": "RCVD", "times": 3 }))
            .await
            .0,
        200
    );
    assert_eq!(
        assert(json!({ "endpoint": "webhook", "body": "\"ACSP\"", "times": 7 }))
            .await
            .0,
        409
    );
    assert_eq!(assert(json!({ "times": 4 })).await.0, 200, "the token too");
    let journal = world
        .fine("journal", json!({ "endpoint": "webhook" }))
        .await;
    let [first, _, lost] = &journal["calls"].as_array().unwrap()[..] else {
        panic!("{journal}")
    };
    let body: Value = serde_json::from_str(first["request"]["body"].as_str().unwrap()).unwrap();
    assert!(
        body["transaction_status"].is_string(),
        "the message, not its sealed form: {first}"
    );
    assert_eq!(
        (&first["request"]["path"], &first["fault"]),
        (&json!("/payto/mpirs/outcomes"), &json!("doubled"))
    );
    assert_eq!(
        first["request_key"],
        first["request"]["headers"]["x-requestkey"]
    );
    assert_eq!(first["request"]["headers"]["x-receiver-key"], "(masked)");
    assert!(
        first["answer"]["status"] == 200
            && first["answer"]["body"].as_str().unwrap().contains("RCVD")
    );
    assert_eq!(
        (&lost["fault"], &lost["answer"]["status"]),
        (&json!("lost-acknowledgement"), &json!(200))
    );
    let secret = "key-of-the-receivers";
    assert!(!journal.to_string().contains(secret), "{journal}");
    // No receiver listens there any more.
    let nowhere = EndpointUrl::danger_allow_http_on_loopback("http://127.0.0.1:1").unwrap();
    let (signing, encryption) = keys();
    let sealer = world.emulator.sealer(None, signing, encryption);
    world
        .emulator
        .endpoints()
        .insert(Endpoint::new("acme".parse().unwrap(), nowhere, sealer));
    world.fine("resend", json!({ "number": 1 })).await;
    assert_eq!(world.emulator.dispatcher().run_once().await.unwrap(), 1);
    let journal = world
        .fine("journal", json!({ "endpoint": "webhook", "most": 1 }))
        .await;
    let last = &journal["calls"][0];
    assert_eq!(
        (&last["answer"]["status"], &last["reason"]),
        (&Value::Null, &json!("no connection to the receiver"))
    );
}

#[tokio::test]
async fn a_shuffled_story_has_the_same_messages_in_another_order() {
    let kinds = async |shuffled: bool| {
        let world = World::new();
        receivers(&world).await;
        let story =
            json!({ "endpoint": "acme", "story": "bad-week", "seed": 7, "shuffled": shuffled });
        world.fine("send", story).await;
        let listed = world.fine("messages", json!({ "endpoint": "acme" })).await;
        let kinds = listed["messages"]
            .as_array()
            .unwrap()
            .iter()
            .map(|message| message["kind"].to_string());
        kinds.collect::<Vec<_>>()
    };
    let (mut told, mut shuffled) = (kinds(false).await, kinds(true).await);
    assert_eq!(told.len(), 21);
    assert_ne!(told, shuffled);
    told.sort_unstable();
    shuffled.sort_unstable();
    assert_eq!(told, shuffled);
}

#[tokio::test]
async fn messages_are_sent_listed_and_sent_again() {
    let world = World::new();
    let bodies = receivers(&world).await;
    let count = || bodies.lock().unwrap().len();
    let story = json!({ "endpoint": "acme", "story": "payment", "seed": 7 });
    let numbers = world.fine("send", &story).await["numbers"].clone();
    assert_eq!(numbers.as_array().unwrap().len(), 3);
    while world.emulator.dispatcher().run_once().await.unwrap() > 0 {}
    assert_eq!(count(), 3);
    let listed = world
        .fine(
            "messages",
            json!({ "endpoint": "acme", "state": "delivered" }),
        )
        .await;
    let last = listed["messages"][2].clone();
    assert_eq!(
        (&last["number"], &last["kind"], &last["deliveries"]),
        (&numbers[2], &json!("payment_outcome"), &json!(1))
    );
    let again = world.fine("resend", json!({ "number": numbers[2] })).await;
    assert_eq!((again, count()), (json!({ "resent": 1 }), 3));
    assert_eq!(world.emulator.dispatcher().run_once().await.unwrap(), 1);
    assert_eq!(count(), 4);
    let message: Value = serde_json::from_str(&samples::all()[0].to_json()).unwrap();
    world
        .fine("send", json!({ "endpoint": "acme", "message": message }))
        .await;
    // Without a seed, each story is a different one; with a seed, the same story at another time is
    // refused.
    let mut seeds = Vec::new();
    for _ in 0..2 {
        let story = json!({ "endpoint": "acme", "story": "payment" });
        seeds.push(world.fine("send", story).await["seed"].as_u64().unwrap());
    }
    assert_ne!(seeds[0], seeds[1]);
    world.fine("step-clock", json!({ "seconds": 60 })).await;
    let again = json!({ "endpoint": "acme", "story": "payment", "seed": seeds[1] });
    let (status, said) = world.tell("send", again).await;
    let expected = "seed: expected a seed that no story has used";
    assert!(
        status == 400 && said["error"].as_str().unwrap().contains(expected),
        "{said}"
    );
    for (name, wrong, expected) in [
        (
            "send",
            json!({ "endpoint": "nobody", "story": "payment" }),
            (404, ""),
        ),
        (
            "send",
            json!({ "endpoint": "acme" }),
            (400, "expected either a message or a story"),
        ),
        (
            "send",
            json!({ "endpoint": "acme", "story": "x" }),
            (400, "story: expected one of mandate, "),
        ),
        (
            "send",
            json!({ "endpoint": "acme", "message": {} }),
            (400, "message: expected one of the four"),
        ),
        (
            "resend",
            json!({ "number": 77 }),
            (404, "expected the number of a message"),
        ),
        (
            "book",
            json!({ "account": ACCOUNT, "amount": "1" }),
            (500, "this bank has no data of its own"),
        ),
    ] {
        let (status, said) = world.tell(name, &wrong).await;
        assert!(
            status == expected.0 && said["error"].as_str().unwrap().starts_with(expected.1),
            "{wrong}: {said}"
        );
    }
    assert_eq!(world.tell("messages", json!({ "state": "x" })).await.0, 400);
}

#[tokio::test]
async fn a_reset_puts_everything_back() {
    let world = World::new();
    world
        .fine(
            "set-clock",
            json!({ "rate": 0, "now": "2030-01-01T00:00:00.000Z" }),
        )
        .await;
    world
        .fine(
            "set-limit",
            json!({ "call_type": "token", "per_second": 1 }),
        )
        .await;
    world
        .fine("add-fault", json!({ "fault": "token-500" }))
        .await;
    world.token("ACME").await;
    world.token("OTHER").await;
    world.fine("reset", json!({ "customer": "ACME" })).await;
    let journal = world.fine("journal", "").await;
    assert_eq!(
        (&journal["found"], &journal["calls"][0]["customer"]),
        (&json!(1), &json!("OTHER")),
        "{journal}"
    );
    world.fine("reset", "").await;
    assert_eq!(world.fine("clock", "").await["rate"], 1);
    assert_eq!(world.fine("faults", "").await["faults"], json!([]));
    assert!(
        world.fine("limits", "").await["limits"]["token"]
            .as_str()
            .unwrap()
            .contains("2 per 1s")
    );
    assert_eq!(
        world
            .tell("reset", json!({ "customer": "not a code!\n" }))
            .await
            .0,
        400
    );
}

/// Returns a request whose body is short, longer than any endpoint takes, or does not end.
fn with_body(path: &str, api_key: &str, content_type: &str, body: &str) -> Request<Body> {
    let body = match body {
        "short" => Body::from("{"),
        "huge" => Body::from(vec![b' '; 5 << 20]),
        _ => Body::from_stream(futures_util::stream::pending::<
            Result<Vec<u8>, std::io::Error>,
        >()),
    };
    let request = Request::post(path).header("apikey", api_key);
    request
        .header(CONTENT_TYPE, content_type)
        .body(body)
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_bank_with_a_journal_refuses_in_the_same_order_as_one_without() {
    let (with, without) = (World::new(), World::with_journal(false));
    // An order for other calls changes nothing either.
    let order = json!({ "fault": "statement-500", "customer": "OTHER" });
    with.fine("add-fault", order).await;
    let form = "application/x-www-form-urlencoded";
    for (path, expected) in [
        ("/v1.0/auth", form),
        ("/accounts/v2.0/statement", "application/json"),
    ] {
        for api_key in ["nobody", "ACME"] {
            for content_type in [expected, "text/plain"] {
                for body in ["short", "huge", "endless"] {
                    let mut statuses = Vec::new();
                    for world in [&with, &without] {
                        let request = with_body(path, api_key, content_type, body);
                        let begun = tokio::time::Instant::now();
                        let answer = send(&world.bank, request);
                        let answer =
                            tokio::time::timeout(std::time::Duration::from_secs(3600), answer);
                        statuses.push((answer.await.unwrap().0, begun.elapsed().as_secs()));
                    }
                    let what = format!("{path} {api_key} {content_type} {body}: {statuses:?}");
                    assert_eq!(statuses[0], statuses[1], "{what}");
                    let refused = statuses[0].0 == StatusCode::UNAUTHORIZED;
                    assert!(refused || api_key == "ACME", "{what}");
                }
            }
        }
    }
    let calls = with.emulator.calls().newest();
    let strangers = calls.iter().filter(|call| call.customer.is_none());
    assert_eq!((calls.len(), strangers.count()), (24, 12));
}
