//! No failure of a delivery logs a message's content or a secret.

use super::faulty::Faulty;
use super::world::{fresh_headers, sealed_by, sealer};
use crate::capture::Capture;
use bankrail_jose::SignError;
use bankrail_jose::remote::RemoteError;
use bankrail_mailbox::{EndpointId, Outbox, OutboxStore, Outgoing, Schedule};
use bankrail_secured_payload::{SealError, Sealer};
use bankrail_service::delivery::{
    CpuPool, Dispatcher, DispatcherOptions, Endpoints, SealFuture, SealPayload, Transport,
    TransportError, TransportErrorKind, TransportFuture, TransportRequest, TransportResponse,
};
use bankrail_values::{Clock, ManualClock, Money, Timestamp};
use bankrail_webhook::{CaseType, Message, MessageKind, samples};
use http::{HeaderMap, StatusCode};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// A mark in every text; account and amount are marked by their digits. The API key is that of
/// `world`.
const MARKS: [&str; 5] = ["MARKED", "990077123", "880077123", "hunter2", "eyJ"];

/// Makes a message with a mark in each text, an account and an amount.
fn marked() -> Message {
    let mut query = samples::query(&CaseType::Payments);
    query.case_id = "CASE-MARKED".parse().unwrap();
    query.narrative = "MARKED: why?".parse().unwrap();
    query
        .payment_details
        .as_mut()
        .unwrap()
        .original_transaction_amount = Some("880077123.45 AUD".parse::<Money>().unwrap().into());
    let debtor = query.mandate_details.debtor_information.as_mut().unwrap();
    debtor.party_name = Some("JANE MARKED".to_owned());
    debtor.account_identification = Some("990077123".to_owned());
    query.into()
}

#[derive(Clone, Copy, Debug)]
enum Answer {
    Status(u16),
    Body(&'static str),
    Fails(TransportErrorKind),
    Never,
    Panics,
}

#[derive(Debug)]
struct Receiver(Answer);

impl Transport for Receiver {
    fn post(&self, _: TransportRequest) -> TransportFuture<'_> {
        Box::pin(async move {
            let mut headers = HeaderMap::new();
            headers.insert("retry-after", "MARKED".parse().unwrap());
            let (status, body) = match self.0 {
                Answer::Status(status) => (status, "MARKED"),
                Answer::Body(body) => (200, body),
                Answer::Fails(kind) => return Err(TransportError::new(kind, "MARKED")),
                Answer::Never => std::future::pending().await,
                Answer::Panics => panic!("told to"),
            };
            Ok(TransportResponse::new(
                StatusCode::from_u16(status).unwrap(),
                headers,
                body,
            ))
        })
    }
}

#[derive(Clone, Copy, Debug)]
enum Sealing {
    Works,
    Remote,
    NotJson,
    Never,
    Panics,
}

impl SealPayload for Sealing {
    fn seal<'a>(&'a self, json: &'a [u8], _: &'a CpuPool) -> SealFuture<'a> {
        Box::pin(async move {
            match self {
                Self::Works => Sealer::seal(&sealer(0), json),
                Self::Remote => Err(SealError::from(SignError::Remote(RemoteError::permanent(
                    "MARKED",
                )))),
                // Its error names a place in the message by the names of members.
                Self::NotJson => Sealer::seal(&sealer(0), br#"{"MARKED":{"a":1,"a":"MARKED"}}"#),
                Self::Never => std::future::pending().await,
                Self::Panics => panic!("told to"),
            }
        })
    }
}

struct Provider {
    dispatcher: Dispatcher,
    outbox: Arc<Faulty>,
    endpoints: Endpoints,
    acme: EndpointId,
}

fn provider(sealing: Sealing, answer: Answer, loses_leases: bool) -> Provider {
    let clock = Arc::new(ManualClock::new(
        "2021-07-29T01:00:00.000Z".parse().unwrap(),
    ));
    let outbox = Arc::new(Faulty {
        loses_leases,
        ..Faulty::new()
    });
    let (endpoints, acme) = (Endpoints::new(), "acme".parse::<EndpointId>().unwrap());
    endpoints.insert(sealed_by(&acme, Arc::new(sealing)));
    // One delivery each, and then a dead letter.
    let options = DispatcherOptions::new()
        .schedule(Schedule::new([Duration::ZERO], 0))
        .retention(Duration::from_secs(1))
        .longest_idle(Duration::from_millis(50));
    let dispatcher = Dispatcher::new(
        Arc::clone(&outbox) as Arc<dyn OutboxStore>,
        endpoints.clone(),
        Arc::new(Receiver(answer)),
        options.clock(clock as Arc<dyn Clock>),
    );
    Provider {
        dispatcher: dispatcher.unwrap(),
        outbox,
        endpoints,
        acme,
    }
}

impl Provider {
    async fn enqueue(&self) {
        let headers = fresh_headers(MessageKind::Query);
        self.dispatcher
            .enqueue(&self.acme, &marked(), headers)
            .await
            .unwrap();
    }
}

#[tokio::test(flavor = "current_thread", start_paused = true)]
async fn no_failure_of_a_delivery_tells_what_a_message_holds() {
    let log = Capture::start();
    let statuses = [100, 302, 400, 401, 404, 410, 413, 429, 500, 503].map(Answer::Status);
    let bodies = [
        "MARKED",
        r#"{"id":"MARKED","status":"RCVD"}"#,
        r#"{"id":"0b7c2f6e-8a1d-41eb-8dcd-0242ac130003","status":"MARKED"}"#,
    ]
    .map(Answer::Body);
    let failures = [
        TransportErrorKind::Connect,
        TransportErrorKind::Tls,
        TransportErrorKind::Timeout,
        TransportErrorKind::Broken,
    ]
    .map(Answer::Fails);
    let answers = statuses
        .into_iter()
        .chain(bodies)
        .chain(failures)
        .chain([Answer::Never, Answer::Panics]);
    for answer in answers {
        let provider = provider(Sealing::Works, answer, false);
        provider.enqueue().await;
        assert_eq!(
            provider.dispatcher.run_once().await.unwrap(),
            1,
            "{answer:?}"
        );
    }
    for sealing in [
        Sealing::Remote,
        Sealing::NotJson,
        Sealing::Never,
        Sealing::Panics,
    ] {
        let provider = provider(sealing, Answer::Status(200), false);
        provider.enqueue().await;
        assert_eq!(
            provider.dispatcher.run_once().await.unwrap(),
            1,
            "{sealing:?}"
        );
    }
    // The endpoint has gone, the lease was lost, the stored message is another version's.
    let gone = provider(Sealing::Works, Answer::Status(500), false);
    gone.enqueue().await;
    gone.endpoints.remove(&gone.acme);
    gone.dispatcher.run_once().await.unwrap();
    let lost = provider(Sealing::Works, Answer::Status(500), true);
    lost.enqueue().await;
    lost.dispatcher.run_once().await.unwrap();
    let other = provider(Sealing::Works, Answer::Status(500), false);
    let message = marked()
        .outgoing(other.acme.clone(), &fresh_headers(MessageKind::Query))
        .unwrap();
    let message = Outgoing {
        attributes: b"JANE MARKED".to_vec().into(),
        ..message
    };
    other
        .outbox
        .enqueue(&message, Timestamp::MIN)
        .await
        .unwrap();
    other.dispatcher.run_once().await.unwrap();
    // The outbox fails: before a delivery, while it is made, and beside it.
    for before in [true, false] {
        let broken = provider(Sealing::Works, Answer::Never, false);
        broken.enqueue().await;
        broken.outbox.fails.store(before, Ordering::SeqCst);
        let stop = async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            broken.outbox.fails.store(true, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_secs(60)).await;
        };
        broken.dispatcher.run(stop).await;
        let error = broken
            .dispatcher
            .enqueue(&broken.acme, &marked(), fresh_headers(MessageKind::Query))
            .await;
        assert!(!error.unwrap_err().to_string().contains("MARKED"));
    }

    let text = log.text();
    for line in [
        "delivery made",
        "no answer",
        "could not be sealed",
        "not sealed in time",
        "panicked",
        "no such endpoint",
    ] {
        assert!(text.contains(line), "{line} in {text}");
    }
    for line in [
        "lease was lost",
        "unreadable",
        "the outbox failed",
        "could not be recorded",
        "became a dead letter",
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
