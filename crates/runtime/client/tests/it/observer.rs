//! The reports to the operator about each delivery.

use crate::provider::start;
use crate::receivers::{
    DECRYPTION, SIGNING, UUID, deliver, delivery, message, options, over, seal, send,
};
use axum::body::Body;
use axum::http::{Method, Request};
use bankrail_client::receivers::{
    Delivery, DeliveryStage, HandlerError, Handlers, ObservedDelivery, ObservedOutcome, Receivers,
    ReceiversOptions, WorkerOptions,
};
use bankrail_jose::{RsaSize, SigningKey};
use bankrail_secured_payload::{OpenOptions, Opener, SealOptions, Sealer, SecuredPayload};
use bankrail_stores::memory::MemoryStore;
use bankrail_values::ManualClock;
use bankrail_webhook::{MessageKind, PaymentOutcome};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const KIND: MessageKind = MessageKind::PaymentOutcome;

type Seen = Arc<Mutex<Vec<ObservedDelivery>>>;

fn observed(options: ReceiversOptions) -> (Seen, ReceiversOptions) {
    let seen = Seen::default();
    let told = seen.clone();
    let options = options.observe(move |delivery| told.lock().unwrap().push(delivery.clone()));
    (seen, options)
}

/// Returns stage, reason and status of the only delivery that was reported since the last call.
fn refusal(seen: &Seen) -> (DeliveryStage, String, u16) {
    let mut told = std::mem::take(&mut *seen.lock().unwrap());
    assert_eq!(told.len(), 1, "{told:?}");
    let ObservedDelivery {
        kind,
        outcome,
        status,
        ..
    } = told.remove(0);
    assert_eq!(kind, KIND);
    let ObservedOutcome::Refused { stage, reason, .. } = outcome else {
        panic!("{outcome:?}")
    };
    (stage, reason, status)
}

fn with_header(name: &'static str, value: &str) -> Request<Body> {
    let mut request = delivery(KIND, seal(&message(KIND)));
    request.headers_mut().insert(name, value.parse().unwrap());
    request
}

#[tokio::test]
async fn each_refusal_is_told_with_its_stage() {
    let (seen, options) = observed(
        options()
            .max_body_bytes(4_000)
            .max_age(Some(Duration::from_secs(3600))),
    );
    let opener = Opener::new(
        DECRYPTION.clone().with_kid("ours"),
        SIGNING.verifying_key().with_kid("theirs"),
        OpenOptions::new(),
    )
    .unwrap();
    let receivers = Receivers::new(
        opener,
        "our-key",
        Arc::new(MemoryStore::new().inbox()),
        options,
    )
    .unwrap();
    let sealed = |signing: &SigningKey, kids: (&str, &str), json: &str| {
        let encryption = DECRYPTION.encryption_key().with_kid(kids.1);
        let sealed = Sealer::new(
            signing.clone().with_kid(kids.0),
            encryption,
            SealOptions::new(),
        )
        .seal(json.as_bytes())
        .unwrap();
        delivery(KIND, SecuredPayload::new(sealed).to_json())
    };
    let stranger = SigningKey::generate(RsaSize::Rsa2048).unwrap();
    let mut get = delivery(KIND, "");
    *get.method_mut() = Method::GET;
    let mut headerless = delivery(KIND, "{}");
    headerless.headers_mut().remove("x-message-id");
    let mut long = delivery(KIND, "{}");
    *long.uri_mut() = format!("{}?{}", long.uri(), "a".repeat(9_000))
        .parse()
        .unwrap();
    let ours = |json: &str| sealed(&SIGNING, ("theirs", "ours"), json);
    let cases = [
        (get, DeliveryStage::Method, 405, "expected the method POST"),
        (
            with_header("apikey", "wrong"),
            DeliveryStage::ApiKey,
            401,
            "expected the receiver's API key",
        ),
        (
            with_header("content-type", "text/plain"),
            DeliveryStage::ContentType,
            415,
            "application/json",
        ),
        (
            with_header("content-encoding", "gzip"),
            DeliveryStage::ContentType,
            415,
            "expected an uncompressed body, found gzip",
        ),
        (
            delivery(KIND, "x".repeat(4_001)),
            DeliveryStage::Body,
            413,
            "4000 bytes",
        ),
        (
            long,
            DeliveryStage::Headers,
            414,
            "address of at most 8192 bytes",
        ),
        (
            headerless,
            DeliveryStage::Headers,
            400,
            "expected a header X-Message-Id, found none",
        ),
        (
            with_header("x-requestkey", "SECRET"),
            DeliveryStage::Headers,
            400,
            "header X-RequestKey: expected a UUID",
        ),
        (
            delivery(KIND, "{}"),
            DeliveryStage::Envelope,
            400,
            "secured_payload",
        ),
        (
            delivery(KIND, r#"{"secured_payload":"x"}"#),
            DeliveryStage::Format,
            400,
            "five parts",
        ),
        (
            sealed(&SIGNING, ("theirs", "lost"), &message(KIND)),
            DeliveryStage::DecryptionKey,
            400,
            "kid",
        ),
        (
            sealed(&stranger, ("theirs", "ours"), &message(KIND)),
            DeliveryStage::DecryptOrVerify,
            400,
            "rejected",
        ),
        (
            sealed(&stranger, ("new", "ours"), &message(KIND)),
            DeliveryStage::VerifyingKey,
            400,
            "kid \"new\"",
        ),
        (
            ours("[1]"),
            DeliveryStage::Message,
            400,
            "expected an object, found an array",
        ),
        (
            ours(&message(KIND).replace("2026", "SECRET")),
            DeliveryStage::Message,
            400,
            "/creation_date_time: expected",
        ),
        (
            ours(&message(MessageKind::Query)),
            DeliveryStage::Message,
            400,
            "kind payment_outcome, found query",
        ),
        (
            ours(&message(KIND).replace("2026-11-21", "2026-11-20")),
            DeliveryStage::Age,
            400,
            "older than",
        ),
    ];
    for (request, stage, status, reason) in cases {
        assert_eq!(
            send(&receivers, request).await.0.as_u16(),
            status,
            "{stage}"
        );
        let told = refusal(&seen);
        assert_eq!((told.0, told.2), (stage, status), "{}", told.1);
        assert!(
            told.1.contains(reason) && !told.1.contains("SECRET"),
            "{stage}: {}",
            told.1
        );
    }
}

#[tokio::test]
async fn a_delivery_that_could_not_be_stored_is_told_with_its_headers() {
    let (seen, options) = observed(options());
    let receivers = over(Arc::new(MemoryStore::with_capacity(1).inbox()), options);
    deliver(&receivers, KIND, &message(KIND)).await;
    assert!(matches!(
        seen.lock().unwrap()[0].outcome,
        ObservedOutcome::New { .. }
    ));
    let (status, _) = send(
        &receivers,
        delivery(KIND, seal(&message(KIND).replace("I-1", "I-2"))),
    )
    .await;
    let told = seen.lock().unwrap().pop().unwrap();
    assert_eq!((status.as_u16(), told.status), (500, 500));
    assert_eq!(told.headers.unwrap().message_id.to_string(), UUID);
    assert!(
        matches!(
            told.outcome,
            ObservedOutcome::Refused {
                stage: DeliveryStage::Inbox,
                ..
            }
        ),
        "{told:?}"
    );
}

#[tokio::test]
async fn news_duplicates_and_conflicts_are_told_apart() {
    async fn nothing(_: Delivery<PaymentOutcome>) -> Result<(), HandlerError> {
        Ok(())
    }
    let clock = Arc::new(ManualClock::new(start()));
    let (seen, options) = observed(options().clock(clock));
    let receivers = over(Arc::new(MemoryStore::new().inbox()), options);
    deliver(&receivers, KIND, &message(KIND)).await;
    deliver(&receivers, KIND, &message(KIND)).await;
    receivers
        .worker(Handlers::new().on(nothing), WorkerOptions::new())
        .run_due()
        .await
        .unwrap();
    deliver(&receivers, KIND, &message(KIND)).await;
    deliver(
        &receivers,
        KIND,
        &message(KIND).replace('}', r#","mps_user_id":"U9"}"#),
    )
    .await;
    let told = seen.lock().unwrap();
    let lines: Vec<String> = told
        .iter()
        .map(|delivery| format!("{:?}", delivery.outcome))
        .collect();
    assert_eq!(
        lines,
        [
            "New { id: EntryId(1) }",
            "Duplicate { id: EntryId(1), handled: false }",
            "Duplicate { id: EntryId(1), handled: true }",
            "Conflict { id: EntryId(2), with: EntryId(1) }",
        ]
    );
    assert!(
        told.iter()
            .all(|delivery| delivery.status == 200 && delivery.headers.is_some())
    );
}
