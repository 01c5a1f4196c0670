//! Both sides log one call and one message with the same names and the same spellings.

use crate::both::{API_KEY, Keys, endpoint, endpoints};
use axum::body::Body;
use bankrail_client::receivers::{Delivery, Handlers, Receivers, ReceiversOptions, WorkerOptions};
use bankrail_client::{Client, ClientOptions, Credentials};
use bankrail_client_assertion::token::names;
use bankrail_client_assertion::{Audience, Verifier, VerifierOptions};
use bankrail_jose::{KeySet, RsaSize, SigningKey};
use bankrail_service::delivery::{
    Dispatcher, DispatcherOptions, Transport, TransportFuture, TransportRequest, TransportResponse,
};
use bankrail_service::{
    ApiKeyHash, Customer, Directory, Ledger, LedgerAnswer, LedgerPage, Provider, ProviderOptions,
    RegisteredAccount, StatementQuery,
};
use bankrail_statement::AccountId;
use bankrail_stores::memory::MemoryStore;
use bankrail_values::{Currency, StoreFuture};
use bankrail_webhook::{Message, MessageKind, PaymentOutcome, TransactionStatus, samples};
use http_body_util::BodyExt;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use tower::ServiceExt;
use tracing::field::{Field, Visit};
use tracing::span;

/// A log event: its target, its message, and its fields as text.
#[derive(Clone, Debug, Default)]
struct Event {
    target: String,
    message: String,
    fields: Vec<(String, String)>,
}

impl Event {
    fn field(&self, name: &str) -> Option<&str> {
        self.fields
            .iter()
            .find(|(own, _)| own == name)
            .map(|(_, value)| value.as_str())
    }
}

impl Visit for Event {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        match field.name() {
            "message" => self.message = format!("{value:?}"),
            name => self.fields.push((name.to_owned(), format!("{value:?}"))),
        }
    }
}

/// A subscriber that collects the events of this workspace's crates.
#[derive(Clone, Debug, Default)]
struct Events {
    all: Arc<Mutex<Vec<Event>>>,
    spans: Arc<AtomicU64>,
}

impl Events {
    /// Returns the only event of this side with this message.
    fn one(&self, target: &str, message: &str) -> Event {
        let all = self.all.lock().unwrap();
        let found: Vec<_> = all
            .iter()
            .filter(|event| event.target.starts_with(target) && event.message == message)
            .collect();
        assert_eq!(found.len(), 1, "{target}: {message} in {all:?}");
        found[0].clone()
    }
}

impl tracing::Subscriber for Events {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        metadata.target().starts_with("bankrail_")
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(self.spans.fetch_add(1, Ordering::SeqCst) + 1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        let mut read = Event {
            target: event.metadata().target().to_owned(),
            ..Event::default()
        };
        event.record(&mut read);
        self.all.lock().unwrap().push(read);
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

/// A bank of one customer, whose account 1 is empty and whose others do not exist.
#[derive(Debug)]
struct Bank(Arc<Customer>);

impl Directory for Bank {
    fn customer_by_api_key(&self, key: ApiKeyHash) -> StoreFuture<'_, Option<Arc<Customer>>> {
        let known = key == ApiKeyHash::of(API_KEY.as_bytes());
        Box::pin(async move { Ok(known.then(|| self.0.clone())) })
    }
}

impl Ledger for Bank {
    fn statement<'a>(&'a self, query: &'a StatementQuery) -> StoreFuture<'a, LedgerAnswer> {
        Box::pin(async move {
            if query.account.as_str() != "1" {
                return Ok(LedgerAnswer::UnknownAccount);
            }
            let account = RegisteredAccount::new(Currency::parse("AUD").unwrap());
            Ok(LedgerPage::new(account, Default::default(), query.day).into())
        })
    }
}

/// A transport that carries deliveries to the receivers.
#[derive(Debug)]
struct Line(axum::Router);

impl Transport for Line {
    fn post(&self, request: TransportRequest) -> TransportFuture<'_> {
        Box::pin(async move {
            let mut arriving = axum::http::Request::post(request.url.path())
                .body(Body::from(request.body))
                .unwrap();
            *arriving.headers_mut() = request.headers;
            let (head, body) = self.0.clone().oneshot(arriving).await.unwrap().into_parts();
            Ok(TransportResponse::new(
                head.status,
                head.headers,
                body.collect().await.unwrap().to_bytes(),
            ))
        })
    }
}

/// Requests a token, a statement, and a statement of an unknown account.
async fn calls() {
    const AUDIENCE: &str = "https://auth.example.com/";
    let key = SigningKey::generate(RsaSize::Rsa2048).unwrap();
    let keys = KeySet::new([key.verifying_key()]).unwrap();
    let customer = Customer::new(
        "BILLER".parse().unwrap(),
        keys,
        names::STATEMENT_READ.parse().unwrap(),
    );
    let (bank, store) = (
        Arc::new(Bank(Arc::new(customer))),
        Arc::new(MemoryStore::new()),
    );
    let verifier = Verifier::new(Audience::parse(AUDIENCE).unwrap(), VerifierOptions::new());
    let provider =
        Provider::new(bank.clone(), bank, store, verifier, ProviderOptions::new()).unwrap();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, provider.router()).await.unwrap() });
    let options = ClientOptions::new()
        .danger_allow_http_on_loopback(true)
        .audience(AUDIENCE);
    let client = Client::new(
        Credentials::new("BILLER".parse().unwrap(), key, API_KEY),
        &url,
        options,
    )
    .unwrap();
    client
        .statements()
        .statement(&AccountId::parse("1").unwrap())
        .await
        .unwrap();
    client
        .statements()
        .statement(&AccountId::parse("2").unwrap())
        .await
        .unwrap_err();
}

/// Delivers one outcome, and handles it.
async fn delivery() {
    let (keys, store) = (Keys::generate(), MemoryStore::new());
    let options = ReceiversOptions::new().retention(std::time::Duration::from_secs(4_000_000_000));
    let receivers =
        Receivers::new(keys.opener(), API_KEY, Arc::new(store.inbox()), options).unwrap();
    let line = Arc::new(Line(receivers.router()));
    let endpoints = endpoints("https://biller.example/", &keys);
    let options = DispatcherOptions::new();
    let sender = Dispatcher::new(Arc::new(store.outbox()), endpoints, line, options).unwrap();
    let outcome: Message = samples::payment_outcome(&TransactionStatus::SettlementCompleted).into();
    sender
        .enqueue(
            &endpoint(),
            &outcome,
            samples::headers(MessageKind::PaymentOutcome),
        )
        .await
        .unwrap();
    assert_eq!(sender.run_once().await.unwrap(), 1);
    let handlers = Handlers::new().on(|_: Delivery<PaymentOutcome>| std::future::ready(Ok(())));
    assert_eq!(
        receivers
            .worker(handlers, WorkerOptions::new())
            .run_due()
            .await
            .unwrap(),
        1
    );
}

/// Returns the names in the list of `docs/logging.md`.
fn documented() -> BTreeSet<String> {
    let page = std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/logging.md"
    ))
    .unwrap();
    let names = page
        .lines()
        .filter_map(|line| line.strip_prefix("- `")?.split_once('`'));
    names.map(|(name, _)| name.to_owned()).collect()
}

#[tokio::test(flavor = "current_thread")]
async fn both_sides_name_and_spell_alike_what_they_log() {
    let events = Events::default();
    // With one subscriber only, a call site that another test's thread reaches first would stay
    // disabled.
    let _second = tracing::Dispatch::new(events.clone());
    let _default = tracing::subscriber::set_default(events.clone());
    calls().await;
    delivery().await;

    let documented = documented();
    let all = events.all.lock().unwrap().clone();
    assert!(all.len() >= 9 && documented.len() >= 20, "{all:?}");
    for event in &all {
        for (name, value) in &event.fields {
            assert!(
                documented.contains(name),
                "docs/logging.md does not have the field {name} of {event:?}"
            );
            assert!(
                !value.contains("Some(") && !value.contains('"') && value != "None",
                "{event:?}"
            );
        }
    }

    // A call is identified by its request key. The provider answered three calls.
    let answered: Vec<_> = all
        .iter()
        .filter(|event| event.message == "answered")
        .collect();
    let (token, found) = (
        events.one("bankrail_client", "token obtained"),
        events.one("bankrail_client", "statement received"),
    );
    let missing = events.one("bankrail_client", "no statement");
    assert_eq!(answered.len(), 3);
    for (here, there) in [&token, &found, &missing].into_iter().zip(&answered) {
        assert_eq!(
            here.field("request_key"),
            there.field("request_key"),
            "{here:?} {there:?}"
        );
        assert!(here.field("request_key").is_some_and(|key| key.len() == 36));
    }
    assert_eq!(
        (missing.field("status"), answered[2].field("status")),
        (Some("404"), Some("404"))
    );
    assert_eq!(
        (missing.field("error"), missing.field("code")),
        (Some("service"), Some("EC20001"))
    );

    // A message is identified by its id.
    let sent = events.one("bankrail_service", "delivery made");
    let (stored, handled) = (
        events.one("bankrail_client", "delivery stored"),
        events.one("bankrail_client", "handled"),
    );
    for event in [&sent, &stored, &handled] {
        assert_eq!(event.field("kind"), Some("payment_outcome"), "{event:?}");
        assert_eq!(
            event.field("message_id"),
            Some("9f0c6f2a-3c1b-4a56-9d5e-0c1f7d8b2a11"),
            "{event:?}"
        );
        assert_eq!(event.field("entry"), Some("1"), "{event:?}");
    }
    for name in ["request_key", "correlation_id"] {
        assert!(sent.field(name).is_some_and(|id| id.len() == 36), "{name}");
        assert_eq!(sent.field(name), stored.field(name), "{name}");
    }
    assert_eq!(
        stored.field("request_key"),
        Some("2d1e8c34-7f60-4b1f-8a3d-5b9c0e6f7a21")
    );
    assert_ne!(stored.field("correlation_id"), stored.field("request_key"));
}
