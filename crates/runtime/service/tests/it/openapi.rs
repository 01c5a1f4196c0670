//! The OpenAPI document against the code: every answer of the provider fits the document, and every
//! part of the document's answers occurs in one.

use crate::validator::Validator;
use crate::world::{API_KEY, Answer, Fault, SCOPES, World, send, statement_request, token_request};
use axum::body::Body;
use bankrail_client_assertion::token::{
    FORM_CONTENT_TYPE, Scope, ScopeSet, TokenErrorCode, TokenRequest, TokenResponse, names,
};
use bankrail_client_assertion::{CustomerCode, Verifier};
use bankrail_service::{ProviderOptions, StatementFailure, TokenErrorStyle};
use bankrail_statement::{AccountId, Cursor, ErrorCode, MaxEntries, SortOrder, StatementRequest};
use bankrail_webhook::{Message, MessageKind, MessageReadOptions, Priority};
use http::{Method, Request, StatusCode};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;

const ISSUER: &str = "https://bank.example";
const TOKEN: &str = "/v1.0/auth";
const STATEMENT: &str = "/accounts/v2.0/statement";

fn named(options: ProviderOptions) -> ProviderOptions {
    options.issuer(ISSUER)
}

fn openapi(change: fn(ProviderOptions) -> ProviderOptions) -> Value {
    serde_json::from_str(&World::with(change).provider.openapi()).unwrap()
}

/// Run with `BANKRAIL_UPDATE=1` to rewrite the document.
#[test]
fn the_published_document_is_that_of_the_defaults() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/openapi.json");
    let mut made = openapi(named);
    // In which order an object has its members, other crates decide by a feature of serde_json.
    made.sort_all_objects();
    if std::env::var_os("BANKRAIL_UPDATE").is_some() {
        std::fs::write(path, format!("{made:#}\n")).unwrap();
    }
    let published: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert!(
        published == made,
        "docs/openapi.json differs: run this test with BANKRAIL_UPDATE=1"
    );
}

/// The template names the default of each member that the options decide, so that the file can be
/// read as that document, and the failures in it are those of the code.
#[test]
fn the_template_is_the_document_of_the_defaults() {
    let template: Value =
        serde_json::from_str(include_str!("../../src/endpoints/openapi.json")).unwrap();
    let mut made = openapi(named);
    let messages: Value = serde_json::from_str(&bankrail_webhook::schema::components()).unwrap();
    let schemas = made["components"]["schemas"].as_object_mut().unwrap();
    schemas.retain(|name, _| messages.get(name).is_none());
    made["info"]["version"] = template["info"]["version"].clone();
    for member in ["info", "servers", "paths", "webhooks", "components"] {
        assert_eq!(template[member], made[member], "{member}");
    }
    assert_eq!(template, made);
}

/// The constants that the template repeats.
#[test]
fn the_template_has_the_constants_of_the_code() {
    let document = openapi(named);
    let scope = format!("[!#-\\[\\]-~]{{1,{}}}", Scope::MAX_LENGTH);
    let more = ScopeSet::MAX_SCOPES - 1;
    let orders = [SortOrder::Forward, SortOrder::Backward].map(SortOrder::as_str);
    let token_errors = [
        TokenErrorCode::InvalidRequest,
        TokenErrorCode::InvalidClient,
        TokenErrorCode::UnsupportedGrantType,
        TokenErrorCode::InvalidScope,
        TokenErrorCode::ServerError,
        TokenErrorCode::TemporarilyUnavailable,
    ];
    let most = MaxEntries::MAX.get();
    let schemas = [
        (
            "TokenRequest/maxProperties",
            json!(TokenRequest::MAX_PARAMETERS),
        ),
        (
            "TokenRequest/properties/grant_type/const",
            json!(TokenRequest::GRANT_TYPE),
        ),
        (
            "TokenRequest/properties/client_assertion_type/const",
            json!(TokenRequest::ASSERTION_TYPE),
        ),
        (
            "TokenRequest/properties/client_assertion/maxLength",
            json!(Verifier::MAX_BYTES),
        ),
        (
            "TokenRequest/properties/client_id/maxLength",
            json!(CustomerCode::MAX_LENGTH),
        ),
        (
            "TokenRequest/properties/scope/pattern",
            json!(format!("^{scope}( {scope}){{0,{more}}}$")),
        ),
        (
            "TokenResponse/properties/token_type/const",
            json!(TokenResponse::TOKEN_TYPE),
        ),
        (
            "TokenError/properties/error/enum",
            json!(token_errors.each_ref().map(TokenErrorCode::as_str)),
        ),
        (
            "StatementRequest/properties/cursor/maxLength",
            json!(Cursor::MAX_LENGTH),
        ),
        (
            "StatementRequest/properties/sortOrder/enum",
            json!([orders[0], orders[1], null]),
        ),
        (
            "StatementRequest/properties/maxEntries/anyOf/0/maximum",
            json!(most),
        ),
        (
            "StatementRequest/properties/maxEntries/description",
            json!(format!("Default: {most}.")),
        ),
        (
            "StatementResponse/properties/accountId/maxLength",
            json!(AccountId::MAX_LENGTH),
        ),
        (
            "StatementResponse/properties/cursor/maxLength",
            json!(Cursor::MAX_LENGTH),
        ),
        ("StatementResponse/properties/sortOrder/enum", json!(orders)),
    ];
    for (path, expected) in schemas {
        let found = document["components"]["schemas"].pointer(&format!("/{path}"));
        assert_eq!(found, Some(&expected), "{path}");
    }
    let key_headers = ["apiKey", "receiverKey"];
    for name in key_headers {
        let found = &document["components"]["securitySchemes"][name]["name"];
        assert_eq!(*found, bankrail_http::names::API_KEY.as_str(), "{name}");
    }
    let form = &document["paths"][TOKEN]["post"]["requestBody"]["content"];
    assert!(form.get(FORM_CONTENT_TYPE).is_some());
    for kind in MessageKind::ALL {
        let found = &document["webhooks"][kind.as_str()]["post"]["x-limits"]["max_message_bytes"];
        assert_eq!(*found, bankrail_values::MAX_MESSAGE_BYTES);
    }
}

#[tokio::test]
async fn every_router_serves_it_unless_told_not_to() {
    let world = World::with(|options| named(options).base_path("/bank"));
    let request = || {
        Request::get("/bank/openapi.json")
            .body(Body::empty())
            .unwrap()
    };
    for router in [
        world.provider.router(),
        world.provider.token_router(),
        world.provider.statement_router(),
    ] {
        let answer = send(router, request()).await;
        assert_eq!(
            (answer.status, answer.header("content-type")),
            (StatusCode::OK, "application/json")
        );
        assert_eq!(answer.text, world.provider.openapi());
    }
    let paths: Vec<_> = serde_json::from_str::<Value>(&world.provider.openapi()).unwrap()["paths"]
        .as_object()
        .unwrap()
        .keys()
        .cloned()
        .collect();
    assert!(
        paths.contains(&"/bank/v1.0/auth".to_owned())
            && paths.contains(&"/bank/openapi.json".to_owned())
    );
    let silent = World::with(|options| options.serve_openapi(false));
    let request = Request::get("/openapi.json").body(Body::empty()).unwrap();
    assert_eq!(silent.send(request).await.status, StatusCode::NOT_FOUND);
    assert!(!silent.provider.openapi().contains("openapi.json"));
}

/// Sends requests and compares each answer with the document.
struct Recorder {
    validator: Validator,
}

impl Recorder {
    fn new(change: fn(ProviderOptions) -> ProviderOptions) -> Self {
        Self {
            validator: Validator::new(openapi(change)),
        }
    }

    fn record(&mut self, method: &Method, path: &str, answer: &Answer) {
        let headers = answer
            .headers
            .iter()
            .map(|(name, value)| (name.as_str(), value.to_str().unwrap()));
        let headers: Vec<_> = headers.collect();
        self.validator.answer(
            path,
            &method.as_str().to_lowercase(),
            answer.status.as_u16(),
            &headers,
            &answer.json,
        );
    }

    async fn send(&mut self, world: &World, request: Request<Body>) -> Answer {
        let (method, path) = (request.method().clone(), request.uri().path().to_owned());
        let answer = world.send(request).await;
        self.record(&method, &path, &answer);
        answer
    }

    async fn statement(&mut self, world: &World, scope: &str, body: &str) -> Answer {
        let token = world.token("ACME", scope).await;
        self.send(world, statement_request(API_KEY, &token, body.to_owned()))
            .await
    }
}

/// Returns the same request with a long address, with a long header, and with a malformed one.
fn refused_heads(request: impl Fn() -> Request<Body>) -> [Request<Body>; 3] {
    let (mut address, mut header, mut host) = (request(), request(), request());
    *address.uri_mut() = format!("{}?{}", address.uri().path(), "x".repeat(8 << 10))
        .parse()
        .unwrap();
    header
        .headers_mut()
        .insert("x-long", "x".repeat(16 << 10).parse().unwrap());
    host.headers_mut()
        .insert("host", "no host".parse().unwrap());
    [address, header, host]
}

async fn tokens(recorder: &mut Recorder, change: fn(ProviderOptions) -> ProviderOptions) {
    let world = World::with(change);
    let wrong = |name: &str, value: &str| {
        let form = world.form(SCOPES);
        let mut pairs: Vec<_> = form
            .split('&')
            .map(|pair| pair.split_once('=').unwrap())
            .collect();
        for pair in &mut pairs {
            if pair.0 == name {
                pair.1 = value;
            }
        }
        pairs
            .into_iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect::<Vec<_>>()
            .join("&")
    };
    let all = format!("{SCOPES} {}", names::MANDATE_WRITE);
    recorder
        .send(&world, token_request(API_KEY, world.form(&all)))
        .await;
    for form in [
        wrong("grant_type", "password"),
        wrong("scope", names::MANDATE_WRITE),
        wrong("client_assertion", "a.b.c"),
        String::new(),
    ] {
        recorder.send(&world, token_request(API_KEY, form)).await;
        world.clock.advance(Duration::from_secs(3));
    }
    recorder
        .send(&world, token_request("nobody", world.form(SCOPES)))
        .await;
    recorder
        .send(&world, token_request(API_KEY, "x".repeat(40_000)))
        .await;
    for request in refused_heads(|| token_request(API_KEY, "")) {
        recorder.send(&world, request).await;
    }
    for _ in 0..3 {
        recorder
            .send(&world, token_request(API_KEY, world.form(SCOPES)))
            .await;
    }
    let world = World::with(change);
    world.stores.tokens.set(Fault::Fails);
    recorder
        .send(&world, token_request(API_KEY, world.form(SCOPES)))
        .await;
    world.book.fault.set(Fault::Panics);
    recorder.send(&world, token_request(API_KEY, "")).await;
}

/// Each answer fits the document, and every path, status, header, member and code of the document
/// occurs.
#[tokio::test]
async fn answers_and_document_have_the_same_parts() {
    let change = |options| named(options).rate_limit_headers(true);
    let mut recorder = Recorder::new(change);
    tokens(&mut recorder, change).await;
    let patient = |options| {
        named(options)
            .rate_limit_headers(true)
            .body_timeout(Duration::ZERO)
    };
    let never = || {
        Body::from_stream(futures_util::stream::pending::<
            Result<Vec<u8>, std::io::Error>,
        >())
    };
    let world = World::with(patient);
    recorder.send(&world, token_request(API_KEY, never())).await;
    let token = world.token("ACME", names::STATEMENT_READ).await;
    recorder
        .send(&world, statement_request(API_KEY, &token, never()))
        .await;

    let world = World::with(change);
    let read = names::STATEMENT_READ;
    let with_cursor = recorder
        .statement(&world, read, r#"{"accountId":"1","maxEntries":1}"#)
        .await;
    assert!(with_cursor.json["cursor"].is_string());
    let ordered = recorder
        .statement(&world, read, r#"{"accountId":"3"}"#)
        .await;
    assert!(ordered.json["sortOrder"].is_string());
    for body in [
        r#"{"accountId":"000000000000000"}"#,
        "{}",
        &"x".repeat(17_000),
    ] {
        recorder.statement(&world, read, body).await;
    }
    recorder.statement(&world, names::MANDATE_READ, "{}").await;
    recorder
        .send(&world, statement_request("nobody", "", "{}"))
        .await;
    recorder
        .send(&world, statement_request(API_KEY, "nothing", "{}"))
        .await;
    let token = world.token("ACME", read).await;
    let mut plain = statement_request(API_KEY, &token, r#"{"accountId":"1"}"#);
    plain
        .headers_mut()
        .insert("content-type", "text/plain".parse().unwrap());
    recorder.send(&world, plain).await;
    for request in refused_heads(|| statement_request(API_KEY, &token, "{}")) {
        recorder.send(&world, request).await;
    }
    for _ in 0..25 {
        recorder
            .statement(&world, read, r#"{"accountId":"2"}"#)
            .await;
    }
    let world = World::with(change);
    world.ledger.fault.set(Fault::Fails);
    recorder
        .statement(&world, read, r#"{"accountId":"1"}"#)
        .await;
    world.ledger.fault.set(Fault::Panics);
    recorder
        .statement(&world, read, r#"{"accountId":"1"}"#)
        .await;
    let token = world.token("ACME", read).await;
    world.stores.tokens.set(Fault::Fails);
    recorder
        .send(&world, statement_request(API_KEY, &token, "{}"))
        .await;

    let world = World::with(change);
    let paths: Vec<String> = recorder.validator.document["paths"]
        .as_object()
        .unwrap()
        .keys()
        .cloned()
        .collect();
    for path in paths
        .iter()
        .filter(|path| ![TOKEN, STATEMENT].contains(&path.as_str()))
    {
        let methods: Vec<_> = match path.as_str() {
            "/authorize" => vec![Method::GET, Method::HEAD, Method::POST],
            _ => vec![Method::GET, Method::HEAD],
        };
        for method in methods {
            let request = Request::builder()
                .method(method)
                .uri(path)
                .body(Body::empty())
                .unwrap();
            recorder.send(&world, request).await;
        }
    }
    for path in &paths {
        let other = Request::patch(path).body(Body::empty()).unwrap();
        let answer = world.send(other).await;
        assert_eq!(answer.status, StatusCode::METHOD_NOT_ALLOWED);
        for method in [Method::GET, Method::POST] {
            if recorder.validator.document["paths"][path]
                .get(method.as_str().to_lowercase())
                .is_some()
            {
                recorder.record(&method, path, &answer);
            }
        }
    }
    recorder.validator.everything_was_met();
}

/// The methods of the document are those that are not answered 405.
#[tokio::test]
async fn other_methods_are_405() {
    let world = World::with(named);
    let document = openapi(named);
    for (path, item) in document["paths"].as_object().unwrap() {
        for method in [
            "get", "head", "post", "put", "patch", "delete", "options", "trace",
        ] {
            let request = Request::builder()
                .method(&*method.to_uppercase())
                .uri(path)
                .body(Body::empty())
                .unwrap();
            let status = world.send(request).await.status;
            assert_eq!(
                status != StatusCode::METHOD_NOT_ALLOWED,
                item.get(method).is_some(),
                "{method} {path}"
            );
        }
    }
}

/// Options that change answers also change the document.
#[tokio::test]
async fn the_document_follows_the_options() {
    let statement_style =
        |options: ProviderOptions| options.token_error_body(TokenErrorStyle::Statement);
    let mut recorder = Recorder::new(statement_style);
    tokens(&mut recorder, statement_style).await;
    let moved = |options: ProviderOptions| {
        options
            .error_code(StatementFailure::Scope, ErrorCode::new("EC777").unwrap())
            .error_status(StatementFailure::AccountNotFound, StatusCode::OK)
            .error_status(StatementFailure::Scope, StatusCode::IM_A_TEAPOT)
            .token_lifetime(Duration::from_secs(60))
            .always_say_sort_order(true)
    };
    let mut recorder = Recorder::new(moved);
    tokens(&mut recorder, moved).await;
    let world = World::with(moved);
    for account in ["1", "000000000000000"] {
        let body = format!(r#"{{"accountId":"{account}"}}"#);
        assert_eq!(
            recorder
                .statement(&world, names::STATEMENT_READ, &body)
                .await
                .status,
            StatusCode::OK
        );
    }
    let refused = recorder.statement(&world, names::MANDATE_READ, "{}").await;
    assert_eq!(
        (refused.status, refused.error_code()),
        (StatusCode::IM_A_TEAPOT, "EC777")
    );
}

/// Requests that the document allows are read, and those that it forbids are refused.
#[test]
fn requests_are_read_as_the_document_says() {
    let validator = Validator::new(openapi(named));
    let cursor = "x".repeat(Cursor::MAX_LENGTH);
    let account = "9".repeat(AccountId::MAX_LENGTH);
    let most = MaxEntries::MAX.get();
    let members = [
        (
            "includeNarrative",
            json!([true, false, "true", "false", null]),
            json!(["yes", 1, {}, "True", ""]),
        ),
        (
            "cursor",
            json!(["x", cursor, null]),
            json!(["", format!("{cursor}x"), 7]),
        ),
        (
            "sortOrder",
            json!(["forward", "backward", null]),
            json!(["", "Forward", true]),
        ),
        (
            "maxEntries",
            json!([1, 48.0, most, "1", "0001", most.to_string(), null]),
            json!([0, most + 1, -1, 1.5, "0", "", "x", "1001", true]),
        ),
        (
            "extract",
            json!(["intraday", null]),
            json!(["priorday", "", 1]),
        ),
        ("unknown", json!([null, 1, "x"]), json!([])),
    ];
    let request = &validator.document["components"]["schemas"]["StatementRequest"];
    let known: BTreeSet<_> = request["properties"]
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    let tested: BTreeSet<_> = members
        .iter()
        .map(|(name, ..)| *name)
        .filter(|name| *name != "unknown")
        .collect();
    assert_eq!(known, tested.into_iter().chain(["accountId"]).collect());
    let agree = |body: Value, allowed: bool| {
        let read = StatementRequest::from_json(body.to_string().as_bytes());
        assert_eq!(read.is_ok(), allowed, "the code: {body}");
        assert_eq!(
            validator.fits("StatementRequest", &body),
            allowed,
            "the document: {body}"
        );
    };
    for (name, allowed, refused) in &members {
        for (values, good) in [(allowed, true), (refused, false)] {
            for value in values.as_array().unwrap() {
                agree(json!({ "accountId": "1", *name: value }), good);
            }
        }
    }
    // What is no account is answered 404, as an unknown one.
    for good in ["1", "a.Z", &account, "", &format!("{account}9"), "1-2", "é"] {
        agree(json!({ "accountId": good }), true);
    }
    for bad in [json!(7), json!(null), json!(["1"])] {
        agree(json!({ "accountId": bad }), false);
    }
    agree(json!({}), false);
}

#[test]
fn token_requests_are_read_as_the_document_says() {
    let validator = Validator::new(openapi(named));
    let scope = "s".repeat(128);
    let good = json!({
        "grant_type": "client_credentials",
        "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
        "scope": format!("A {scope}"),
        "client_assertion": "a.b.c",
        "client_id": "ACME",
    });
    let agree = |form: &Value, allowed: bool| {
        let pairs = form.as_object().unwrap().iter().map(|(name, value)| {
            let value = value.as_str().unwrap();
            form_urlencoded::byte_serialize(name.as_bytes()).collect::<String>()
                + "="
                + &form_urlencoded::byte_serialize(value.as_bytes()).collect::<String>()
        });
        let text = pairs.collect::<Vec<_>>().join("&");
        let read = TokenRequest::from_form(Some(crate::world::FORM), text.as_bytes());
        assert_eq!(read.is_ok(), allowed, "the code: {form}: {read:?}");
        assert_eq!(
            validator.fits("TokenRequest", form),
            allowed,
            "the document: {form}"
        );
    };
    agree(&good, true);
    let request = &validator.document["components"]["schemas"]["TokenRequest"];
    let known: BTreeSet<_> = request["properties"].as_object().unwrap().keys().collect();
    assert_eq!(known, good.as_object().unwrap().keys().collect());
    for name in known {
        let mut without = good.clone();
        without.as_object_mut().unwrap().remove(name);
        agree(&without, name == "client_id");
    }
    let changed = |name: &str, value: &str| {
        let mut changed = good.clone();
        changed[name] = json!(value);
        changed
    };
    agree(&changed("grant_type", "password"), false);
    agree(&changed("client_assertion_type", "x"), false);
    for bad in ["a\"b", "a\\b", &format!("{scope}s"), "é", ""] {
        agree(&changed("scope", bad), false);
    }
    let mut many = good.clone();
    for number in 0..TokenRequest::MAX_PARAMETERS - 5 {
        many[format!("p{number}")] = json!("x");
    }
    agree(&many, true);
    many["more"] = json!("x");
    agree(&many, false);
}

/// The limits of the document are those of the provider.
#[test]
fn limits_are_named() {
    let document = openapi(|options| {
        named(options)
            .max_statement_body_bytes(1000)
            .body_timeout(Duration::from_secs(3))
    });
    let limits = |path: &str| document["paths"][path]["post"]["x-limits"].clone();
    let per = |calls: u32, seconds: u32| json!({ "calls": calls, "seconds": seconds });
    assert_eq!(
        limits(TOKEN),
        json!({ "calls": [per(10, 3600), per(2, 1)], "max_body_bytes": 32768, "body_timeout_seconds": 3 })
    );
    assert_eq!(
        limits(STATEMENT),
        json!({ "calls": [per(25, 3600)], "max_body_bytes": 1000, "body_timeout_seconds": 3 })
    );
    let head = json!({ "max_uri_bytes": 8192, "max_header_bytes": 16384, "max_header_fields": 64 });
    assert_eq!(document["info"]["x-limits"], head);
    assert_eq!(
        document["webhooks"]["query"]["post"]["x-limits"],
        json!({ "max_message_bytes": 250_000 })
    );
}

/// For each condition of the specification, the document allows a message exactly if the message
/// may be sent.
#[test]
fn conditions_are_those_of_the_code() {
    let validator = Validator::new(openapi(named));
    let strict = MessageReadOptions::new().deny_findings(true);
    let agree = |kind: MessageKind, message: &Value, allowed: bool| {
        let read = Message::from_json_with(kind, message.to_string().as_bytes(), &strict);
        assert_eq!(read.is_ok(), allowed, "the code: {message}: {read:?}");
        let name = bankrail_webhook::schema::name(kind);
        assert_eq!(
            validator.fits(name, message),
            allowed,
            "the document: {message}"
        );
    };
    let sample = |kind: MessageKind| -> Value {
        serde_json::from_str(&bankrail_webhook::samples::of(kind).remove(0).to_json()).unwrap()
    };
    let mut payment = sample(MessageKind::PaymentOutcome);
    payment["transaction_status_reason_code"] = json!("AC02");
    payment["transaction_status"] = json!("RJCT");
    agree(MessageKind::PaymentOutcome, &payment, true);
    payment
        .as_object_mut()
        .unwrap()
        .remove("transaction_status_reason_code");
    agree(MessageKind::PaymentOutcome, &payment, false);
    payment["transaction_status"] = json!("ACSC");
    agree(MessageKind::PaymentOutcome, &payment, true);

    for (action, may) in [
        ("CREA", true),
        ("AMND", true),
        ("PORT", false),
        ("STCH", false),
    ] {
        let mut outcome = sample(MessageKind::MandateOutcome);
        let members = outcome.as_object_mut().unwrap();
        members.insert("action_type".to_owned(), json!(action));
        for name in ["bilateral", "debtor_alias_name", "mandate_status"] {
            members.remove(name);
        }
        agree(MessageKind::MandateOutcome, &outcome, true);
        for (name, value) in [
            ("bilateral", json!(false)),
            ("debtor_alias_name", json!("A")),
        ] {
            let mut with = outcome.clone();
            with[name] = value;
            agree(MessageKind::MandateOutcome, &with, may);
        }
    }

    let query = sample(MessageKind::Query);
    agree(MessageKind::Query, &query, true);
    let mut other = query.clone();
    other["investigation_type_code"] = json!("INV15");
    agree(MessageKind::Query, &other, false);
    let (longest, too_long) = (
        format!("a {}", "b".repeat(254)),
        format!("a {}", "b".repeat(255)),
    );
    let (email, too_long_email) = (
        format!("{}@b", "a".repeat(254)),
        format!("{}@b", "a".repeat(255)),
    );
    for (alias_type, good, bad) in [
        (
            "TELI",
            &["+61-400000000", "+1-12", "XXXX"][..],
            &["+6100-40", "61-400000000", "+61-0400", "-", ""][..],
        ),
        (
            "EMAL",
            &["a@b", "é@b", "a@b@c", &email],
            &["A@b", "a b@c", "@b", "a@", &too_long_email, "-"],
        ),
        (
            "AUBN",
            &["004085616", "51824753556"],
            &["5182475355", "00408561a", "-"],
        ),
        (
            "ORGN",
            &["name of it", "x y", &longest],
            &["Name of it", " name", "name ", &too_long, "é a"],
        ),
        ("SOON", &["Whatever it is"], &[]),
    ] {
        for (texts, allowed) in [(good, true), (bad, false)] {
            for text in texts {
                let mut with = query.clone();
                let debtor = json!({ "account_alias_type_code": alias_type, "account_alias_identification": text });
                with["mandate_details"]["debtor_information"] = debtor;
                if alias_type == "SOON" {
                    assert!(validator.fits("QueryNotification", &with), "an open list");
                } else {
                    agree(MessageKind::Query, &with, allowed);
                }
            }
        }
    }
    let amended = |alias: &str| {
        let debtor =
            json!({ "account_alias_type_code": "TELI", "account_alias_identification": alias });
        validator.fits("AmendedDebtor", &debtor)
    };
    assert!(amended("+61-400000000") && amended("-") && !amended("x@y"));
    // The currency decides on the decimals.
    for amount in ["1500", "12.50", "1.234", "0"] {
        assert!(
            validator.fits(
                "MessageAmount",
                &json!({ "currency": "VND", "amount": amount })
            ),
            "{amount}"
        );
    }
    for amount in ["1.", ".5", "-1", "01", "1,5"] {
        assert!(
            !validator.fits(
                "MessageAmount",
                &json!({ "currency": "VND", "amount": amount })
            ),
            "{amount}"
        );
    }
}

/// Headers, names and paths of the four webhooks (Specification: "Webhook receivers").
#[test]
fn webhooks_are_those_of_the_code() {
    let document = openapi(named);
    let webhooks = document["webhooks"].as_object().unwrap();
    let kinds: BTreeSet<_> = MessageKind::ALL.iter().map(|kind| kind.as_str()).collect();
    assert_eq!(
        webhooks.keys().map(String::as_str).collect::<BTreeSet<_>>(),
        kinds
    );
    for (kind, required, optional, message) in [
        (
            "mandate_outcome",
            &["X-RequestKey", "X-Message-Id"][..],
            &["X-Correlation-Id", "priority"][..],
            "MandateActionOutcome",
        ),
        (
            "mandate_notification",
            &["X-Message-Id"],
            &["priority"],
            "MandateNotification",
        ),
        (
            "payment_outcome",
            &["X-RequestKey", "X-Message-Id"],
            &["X-Correlation-Id", "priority"],
            "PaymentOutcome",
        ),
        (
            "query",
            &["X-Message-Id"],
            &["priority"],
            "QueryNotification",
        ),
    ] {
        let operation = &webhooks[kind]["post"];
        let mut found = (Vec::new(), Vec::new());
        for parameter in operation["parameters"].as_array().unwrap() {
            let names = if parameter["required"] == true {
                &mut found.0
            } else {
                &mut found.1
            };
            names.push(parameter["name"].as_str().unwrap());
            // A UUID is read in any case of letters.
            if let Some(pattern) = parameter["schema"]["pattern"].as_str() {
                for text in [
                    "0b7c2f6e-8a1d-41eb-8dcd-0242ac130003",
                    "0B7C2F6E-8a1d-41EB-8DCD-0242AC130003",
                ] {
                    assert!(regex::Regex::new(pattern).unwrap().is_match(text), "{kind}");
                }
            }
            if parameter["name"] == "priority" {
                let all = [Priority::Attended, Priority::Unattended].map(Priority::as_str);
                let allowed = if kind == "query" { &all[1..] } else { &all };
                assert_eq!(parameter["schema"]["enum"], json!(allowed), "{kind}");
            }
        }
        assert_eq!((&found.0[..], &found.1[..]), (required, optional), "{kind}");
        let body = &operation["requestBody"]["content"]["application/json"]["schema"];
        assert_eq!(body["required"], json!(["secured_payload"]));
        let schema = &body["properties"]["secured_payload"]["contentSchema"]["$ref"];
        assert_eq!(*schema, format!("#/components/schemas/{message}"));
        let path = kind.parse::<MessageKind>().unwrap().default_path();
        assert!(operation["description"].as_str().unwrap().ends_with(path));
        let statuses: BTreeSet<_> = operation["responses"]
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        assert_eq!(
            statuses,
            BTreeSet::from([
                "200", "400", "401", "405", "408", "413", "414", "415", "431", "500"
            ]),
            "{kind}"
        );
    }
    assert_eq!(
        document["components"]["schemas"]["Acknowledgement"]["required"],
        json!(["id", "status"])
    );
    // Every sample is as its schema says.
    let validator = Validator::new(document);
    for message in bankrail_webhook::samples::all() {
        let value = serde_json::from_str(&message.to_json()).unwrap();
        assert!(
            validator.fits(bankrail_webhook::schema::name(message.kind()), &value),
            "{value}"
        );
    }
}
