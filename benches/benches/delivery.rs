//! Deliveries and receipts per second with durable stores, compared with the RSA operations alone.
//!
//! - A delivery is enqueued, leased, sealed, sent by a transport that answers at once, and
//!   recorded. Its RSA floor is one signature and one key encryption.
//! - A receipt is opened, read, stored with its acknowledgement and answered. Its RSA floor is one
//!   key decryption and one verification.
//! - Both stores are SQLite files whose commits reach the disk. The floors use the same key
//!   handles, on one thread and on two.
//!
//! The output is medians over the rounds: of the rates, of their ratios within a round, and of the
//! time of two cores beyond that of the RSA operations.

// A benchmark that fails panics.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use axum::body::Body;
use axum::http::Request;
use bankrail_client::receivers::{Receivers, ReceiversOptions};
use bankrail_jose::{DecryptionKey, RsaSize, SigningKey};
use bankrail_mailbox::{Inbox, OutboxCounts, OutboxOperator as _};
use bankrail_secured_payload::{OpenOptions, Opener, SealOptions, Sealer, SecuredPayload};
use bankrail_service::delivery::{
    Dispatcher, DispatcherOptions, Endpoint, EndpointUrl, Endpoints, Transport, TransportFuture,
    TransportRequest, TransportResponse,
};
use bankrail_stores::sqlite::SqliteStore;
use bankrail_values::HyphenatedUuid;
use bankrail_webhook::{Acknowledgement, CaseType, DeliveryHeaders, Message, MessageKind, samples};
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;
use tower::ServiceExt;

/// Deliveries and receipts at once: many, so that they can share a commit.
const AT_ONCE: usize = 128;

struct Keys {
    signing: SigningKey,
    decryption: DecryptionKey,
}

fn main() {
    let measure = bankrail_benches::measuring();
    // The first and last milliseconds of a round wait for a commit.
    let (rounds, messages) = if measure { (9, 4000) } else { (1, 8) };
    let keys = Arc::new(Keys {
        signing: SigningKey::generate(RsaSize::Rsa2048).unwrap(),
        decryption: DecryptionKey::generate(RsaSize::Rsa2048).unwrap(),
    });
    let (verifying, encryption) = (
        keys.signing.verifying_key(),
        keys.decryption.encryption_key(),
    );
    let (encrypted, signature) = (
        encryption.encrypt(&[7; 64]).unwrap(),
        keys.signing.sign(b"x").unwrap(),
    );
    let seal = || {
        drop((
            keys.signing.sign(black_box(b"x")).unwrap(),
            encryption.encrypt(&[7; 64]).unwrap(),
        ))
    };
    let open = || {
        verifying.verify(black_box(b"x"), &signature).unwrap();
        drop(keys.decryption.decrypt(black_box(&encrypted)).unwrap());
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let mut rates = Vec::new();
    for _ in 0..rounds {
        let [seal_one, seal_two] =
            [1, 2].map(|threads| per_second(messages, on_threads(messages, threads, &seal)));
        let delivered = runtime
            .block_on(runtime.spawn(deliver(messages, keys.clone())))
            .unwrap();
        let [open_one, open_two] =
            [1, 2].map(|threads| per_second(messages, on_threads(messages, threads, &open)));
        let received = runtime
            .block_on(runtime.spawn(receive(messages, keys.clone())))
            .unwrap();
        let [delivered, received] = [delivered, received].map(|took| per_second(messages, took));
        rates.push([
            [seal_one, seal_two, delivered],
            [open_one, open_two, received],
        ]);
    }
    println!("delivery on {}", bankrail_benches::processor());
    for (at, name) in ["delivery", "receipt"].into_iter().enumerate() {
        // Of each round, because the processor's speed may change from round to round.
        let median = |of: fn([f64; 3]) -> f64| {
            let mut found: Vec<f64> = rates.iter().map(|round| of(round[at])).collect();
            found.sort_by(f64::total_cmp);
            found[found.len() / 2]
        };
        println!(
            "{:<32} {:>8.0} /s",
            format!("{name}/rsa_floor/one_core"),
            median(|[one, _, _]| one)
        );
        println!(
            "{:<32} {:>8.0} /s",
            format!("{name}/rsa_floor/two_cores"),
            median(|[_, two, _]| two)
        );
        println!(
            "{:<32} {:>8.0} /s  {:.2} of one core, {:.2} of two, {:.0} µs beyond RSA",
            format!("{name}/sqlite"),
            median(|[_, _, ours]| ours),
            median(|[one, _, ours]| ours / one),
            median(|[_, two, ours]| ours / two),
            median(|[_, two, ours]| 2e6 / ours - 2e6 / two),
        );
    }
}

fn per_second(messages: u32, took: Duration) -> f64 {
    f64::from(messages) / took.as_secs_f64()
}

fn on_threads(times: u32, threads: u32, work: &(impl Fn() + Sync)) -> Duration {
    let begun = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| (0..times / threads).for_each(|_| work()));
        }
    });
    begun.elapsed()
}

fn message(number: u32) -> (Message, DeliveryHeaders) {
    let mut query = samples::query(&CaseType::Payments);
    query.case_id = format!("C{number}").parse().unwrap();
    let id = HyphenatedUuid::from_random_bytes((u128::from(number) << 96).to_be_bytes());
    (query.into(), DeliveryHeaders::new(id))
}

/// A transport that answers at once, like a receiver.
#[derive(Debug)]
struct Answering(Arc<Semaphore>);

impl Transport for Answering {
    fn post(&self, request: TransportRequest) -> TransportFuture<'_> {
        assert!(request.body.len() > 1000);
        self.0.add_permits(1);
        let body = Acknowledgement::from_random_bytes([1; 16]).to_json();
        Box::pin(std::future::ready(Ok(TransportResponse::new(
            axum::http::StatusCode::OK,
            Default::default(),
            body,
        ))))
    }
}

async fn deliver(messages: u32, keys: Arc<Keys>) -> Duration {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(
        SqliteStore::open(folder.path().join("outbox.db"), Default::default())
            .unwrap()
            .outbox(),
    );
    let sealer = Sealer::new(
        keys.signing.clone(),
        keys.decryption.encryption_key(),
        SealOptions::new(),
    );
    let url = EndpointUrl::parse("https://biller.example/").unwrap();
    let endpoints = Endpoints::new();
    endpoints.insert(Endpoint::new(
        "biller".parse().unwrap(),
        url,
        Arc::new(sealer),
    ));
    let sent = Arc::new(Semaphore::new(0));
    let options = DispatcherOptions::new()
        .concurrency(AT_ONCE)
        .per_endpoint(u32::try_from(AT_ONCE).unwrap());
    let transport = Arc::new(Answering(sent.clone()));
    let dispatcher = Dispatcher::new(store.clone(), endpoints, transport, options).unwrap();
    let written: Vec<_> = (0..messages).map(message).collect();
    let begun = Instant::now();
    let running = dispatcher.clone();
    let all = async move { sent.acquire_many(messages).await.unwrap().forget() };
    let running = tokio::spawn(async move { running.run(all).await });
    let room = Arc::new(Semaphore::new(AT_ONCE));
    for (message, headers) in written {
        let place = room.clone().acquire_owned().await.unwrap();
        let dispatcher = dispatcher.clone();
        tokio::spawn(async move {
            dispatcher
                .enqueue(&"biller".parse().unwrap(), &message, headers)
                .await
                .unwrap();
            drop(place);
        });
    }
    running.await.unwrap();
    let took = begun.elapsed();
    let counts = store.counts(None).await.unwrap();
    assert_eq!(
        counts,
        OutboxCounts {
            delivered: messages.into(),
            ..OutboxCounts::default()
        }
    );
    took
}

async fn receive(messages: u32, keys: Arc<Keys>) -> Duration {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(
        SqliteStore::open(folder.path().join("inbox.db"), Default::default())
            .unwrap()
            .inbox(),
    );
    let opener = Opener::new(
        keys.decryption.clone(),
        keys.signing.verifying_key(),
        OpenOptions::new(),
    )
    .unwrap();
    let sealer = &Sealer::new(
        keys.signing.clone(),
        keys.decryption.encryption_key(),
        SealOptions::new(),
    );
    let receivers =
        Receivers::new(opener, "our-key", store.clone(), ReceiversOptions::new()).unwrap();
    let seal = |number| {
        let (message, headers) = message(number);
        let body =
            SecuredPayload::new(sealer.seal(message.to_json().as_bytes()).unwrap()).to_json();
        Request::post(MessageKind::Query.default_path())
            .header("apikey", "our-key")
            .header("content-type", "application/json")
            .header("x-message-id", headers.message_id.to_string())
            .body(Body::from(body))
            .unwrap()
    };
    let sealed = std::thread::scope(|scope| {
        let halves = [0, 1].map(|first| {
            scope.spawn(move || (first..messages).step_by(2).map(seal).collect::<Vec<_>>())
        });
        halves
            .map(|half| half.join().unwrap())
            .into_iter()
            .flatten()
    });
    let router = receivers.router();
    let room = Arc::new(Semaphore::new(AT_ONCE));
    let begun = Instant::now();
    for request in sealed {
        let place = room.clone().acquire_owned().await.unwrap();
        let router = router.clone();
        tokio::spawn(async move {
            assert_eq!(router.oneshot(request).await.unwrap().status(), 200);
            drop(place);
        });
    }
    room.acquire_many(u32::try_from(AT_ONCE).unwrap())
        .await
        .unwrap()
        .forget();
    let took = begun.elapsed();
    assert_eq!(store.counts().await.unwrap().pending, u64::from(messages));
    took
}
