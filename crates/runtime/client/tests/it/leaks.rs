//! No failure of a receiver or its worker logs a message's content or a secret.

use crate::faulty::Faulty;
use crate::log::Log;
use crate::provider::start;
use crate::receivers::{DECRYPTION, SIGNING, UUID, delivery, options, receivers_with, seal};
use axum::body::Body;
use axum::http::{Request, StatusCode};
use bankrail_client::receivers::{Delivery, HandlerError, Handlers, Receivers, WorkerOptions};
use bankrail_jose::jws::{self, JwsHeader};
use bankrail_jose::remote::{DecryptionOutcome, RemoteDecrypter, RemoteError, RemoteFuture};
use bankrail_jose::{EncryptionKey, RsaSize, SigningKey, base64url};
use bankrail_mailbox::{Inbox, Schedule};
use bankrail_secured_payload::{OpenOptions, Opener, SealOptions, Sealer, SecuredPayload};
use bankrail_values::ManualClock;
use bankrail_webhook::{MessageKind, MessageReadOptions, PaymentOutcome};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tower::ServiceExt;

/// A mark in every text; account and amount are marked by their digits. `our-key` is the receivers'
/// API key.
const MARKS: [&str; 5] = ["MARKED", "990077123", "880077123", "our-key", "eyJ"];
const KIND: MessageKind = MessageKind::PaymentOutcome;

/// Makes a message with a mark in each text, an account and an amount.
fn marked() -> String {
    r#"{"creation_date_time":"2026-11-21T05:59:00.000Z","transaction_status":"RJCT",
        "transaction_status_additional_information":["JANE MARKED"],"mps_user_id":"MARKED",
        "instruction_identification":"I-MARKED","original_transaction_reference":{
        "instructed_amount":{"currency":"AUD","amount":"880077123.45"},"creditor_name":"JANE MARKED",
        "creditor_account_identification":"990077123"}}"#
        .to_owned()
}

#[derive(Clone, Debug)]
struct Key {
    hangs: bool,
    encryption: EncryptionKey,
}

impl RemoteDecrypter for Key {
    fn encryption_key(&self) -> &EncryptionKey {
        &self.encryption
    }

    fn decrypt<'a>(&'a self, _: &'a [u8]) -> RemoteFuture<'a, DecryptionOutcome> {
        Box::pin(async move {
            if self.hangs {
                std::future::pending().await
            } else {
                Err(RemoteError::permanent("MARKED"))
            }
        })
    }
}

/// Returns deliveries that are refused, and some that would be refused only on request.
fn bad_deliveries() -> Vec<Request<Body>> {
    let with = |name: &'static str, value: &'static str| {
        let mut request = delivery(KIND, seal(&marked()));
        request.headers_mut().insert(name, value.parse().unwrap());
        request
    };
    let envelope = |compact: &str| delivery(KIND, SecuredPayload::new(compact).to_json());
    let good = SecuredPayload::from_json(seal(&marked()).as_bytes())
        .unwrap()
        .secured_payload;
    let (_, rest) = good.split_once('.').unwrap();
    let headed =
        |header: &str| envelope(&format!("{}.{rest}", base64url::encode(header.as_bytes())));
    let message = |json: &str| delivery(KIND, seal(json));
    let by = |signing: SigningKey| {
        envelope(
            &Sealer::new(signing, DECRYPTION.encryption_key(), SealOptions::new())
                .seal(marked().as_bytes())
                .unwrap(),
        )
    };
    let bare = jws::sign(&SIGNING, &JwsHeader::new(), marked().as_bytes()).unwrap();
    vec![
        with("apikey", "MARKED"),
        with("content-type", "text/MARKED"),
        with("x-message-id", "JANE MARKED"),
        with("x-requestkey", "JANE MARKED"),
        with("x-correlation-id", "JANE MARKED"),
        with("priority", "JANE MARKED"),
        delivery(KIND, "MARKED"),
        delivery(KIND, r#"{"MARKED":{"MARKED":1,"MARKED":1}}"#),
        delivery(KIND, r#"{"secured_payload":["MARKED"]}"#),
        envelope("MARKED"),
        envelope(&bare),
        envelope(&format!("{good}x")),
        envelope(&good.replacen('.', ".AAAA", 3)),
        headed(r#"{"alg":"JANE MARKED","enc":"A256CBC-HS512"}"#),
        headed(r#"{"alg":"RSA-OAEP","enc":"A256CBC-HS512","MARKED":{"a":1,"a":1}}"#),
        headed(r#"{"alg":"RSA-OAEP","enc":"A256CBC-HS512","cty":"JANE MARKED"}"#),
        headed(r#"{"alg":"RSA-OAEP","enc":"A256CBC-HS512"}"#),
        by(SigningKey::generate(RsaSize::Rsa2048).unwrap()),
        by(SigningKey::generate(RsaSize::Rsa2048)
            .unwrap()
            .with_kid("another")),
        message(r#"["MARKED"]"#),
        message(r#""MARKED""#),
        // Deeper than any message, at a place that the sender named.
        message(&format!(
            r#"{{"JANE MARKED":{}{}}}"#,
            "[".repeat(40),
            "]".repeat(40)
        )),
        message(&marked().replace("2026-11-21T05:59:00.000Z", "JANE MARKED")),
        message(&marked().replace("\"AUD\"", "\"MARKED\"")),
        message(&marked().replace("\"880077123.45\"", "880077123.45")),
        message(&marked().replace("\"transaction_status\":\"RJCT\",", "")),
        message(&marked().replace("\"RJCT\"", "\"MARKED\"")),
        message(&marked().replace("990077123", "9900771239900771239900771239900771239900")),
        message(&crate::receivers::message(MessageKind::Query).replace("why?", "MARKED")),
        delivery(KIND, "MARKED".repeat(100_000)),
    ]
}

async fn send<I>(receivers: &Receivers<I>, request: Request<Body>) -> StatusCode
where
    I: Inbox + ?Sized + 'static,
{
    receivers.router().oneshot(request).await.unwrap().status()
}

#[tokio::test(flavor = "current_thread", start_paused = true)]
async fn no_failure_of_a_receiver_tells_what_a_message_holds() {
    let log = Log::start();
    for strict in [false, true] {
        let options = options().read_options(MessageReadOptions::new().deny_findings(strict));
        let receivers = receivers_with(Arc::new(Faulty::new()), options);
        for request in bad_deliveries() {
            send(&receivers, request).await;
        }
    }
    // The key service fails, the inbox fails.
    for hangs in [false, true] {
        let opener = Opener::remote(
            Key {
                hangs,
                encryption: DECRYPTION.encryption_key(),
            },
            SIGNING.verifying_key(),
            OpenOptions::new(),
        )
        .unwrap();
        let receivers =
            Receivers::remote(opener, "our-key", Arc::new(Faulty::new()), options()).unwrap();
        assert_eq!(
            send(&receivers, delivery(KIND, seal(&marked()))).await,
            StatusCode::INTERNAL_SERVER_ERROR
        );
    }
    let broken = Arc::new(Faulty::new());
    broken.fails.store(true, Ordering::SeqCst);
    let receivers = receivers_with(broken.clone(), options());
    assert_eq!(
        send(&receivers, delivery(KIND, seal(&marked()))).await,
        StatusCode::INTERNAL_SERVER_ERROR
    );

    // Every way in which handling ends, in turn: the second delivery contradicts the first.
    let inbox = Arc::new(Faulty::new());
    let clock = Arc::new(ManualClock::new(start()));
    let receivers = receivers_with(
        inbox.clone(),
        options()
            .clock(clock.clone())
            .retention(Duration::from_secs(30 * 86_400)),
    );
    for json in [marked(), marked().replace("JANE MARKED", "JOHN MARKED")] {
        assert_eq!(
            send(&receivers, delivery(KIND, seal(&json))).await,
            StatusCode::OK
        );
    }
    let turns = Arc::new(Mutex::new(0));
    let handlers = Handlers::new().on(move |received: Delivery<PaymentOutcome>| {
        let turn = {
            let mut turns = turns.lock().unwrap();
            *turns += 1;
            *turns
        };
        let name = format!("{:?}", received.message.original_transaction_reference);
        async move {
            match turn {
                1 | 2 => Err(HandlerError::retryable(std::io::Error::other(name))),
                3 => panic!("told to"),
                4 => std::future::pending().await,
                5 => Err(HandlerError::permanent(name)),
                _ => Ok(()),
            }
        }
    });
    let pauses = [0, 1, 1, 1].map(Duration::from_secs);
    let options = WorkerOptions::new()
        .concurrency(1)
        .schedule(Schedule::new(pauses, 0));
    let worker = receivers.worker(handlers, options.poll(Duration::from_millis(50)));
    for _ in 0..6 {
        worker.run_due().await.unwrap();
        clock.advance(Duration::from_secs(2));
    }
    // What another version stored, and an inbox that fails under a running worker.
    let incoming = bankrail_webhook::Message::from_json(KIND, marked().as_bytes())
        .unwrap()
        .message
        .incoming(
            "other",
            &bankrail_webhook::DeliveryHeaders::new(UUID.parse().unwrap()),
            &[],
            b"JANE MARKED".to_vec(),
            &bankrail_webhook::Acknowledgement::from_random_bytes([7; 16]),
        );
    inbox.receive(&incoming, start()).await.unwrap();
    worker.run_due().await.unwrap();
    let stop = async {
        inbox.fails.store(true, Ordering::SeqCst);
        tokio::time::sleep(Duration::from_secs(60)).await;
    };
    worker.run(stop).await;
    let text = log.text();
    for line in [
        "without the API key",
        "another content type",
        "wrong headers",
        "findings in its headers",
        "without an envelope",
        "not opened",
        "of a refused message",
        "found query",
        "key is not available",
        "did not answer in time",
        "the inbox failed",
        "in conflict with another",
        "not handled",
        "dead letter",
    ] {
        assert!(text.contains(line), "{line} in {text}");
    }
    for mark in MARKS {
        assert_eq!(
            text.lines().find(|line| line.contains(mark)),
            None,
            "{mark}"
        );
    }
}
