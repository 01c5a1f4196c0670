//! Tests with an endpoint that fails, times out, answers late or twice, at random, and with a
//! sender that dies. No enqueued message is lost, and each effect within the inbox's transaction
//! happens once. The test moves the clock.

use crate::both::{API_KEY, Keys, endpoint, endpoints, query};
use axum::body::Body;
use axum::http::HeaderMap;
use bankrail_client::receivers::{
    Delivery, HandlerError, Handlers, Receivers, ReceiversOptions, WorkerOptions,
};
use bankrail_mailbox::{EntryId, Inbox, OutboxQuery, OutboxState, OutboxStore, Schedule};
use bankrail_service::delivery::{
    Dispatcher, DispatcherOptions, Transport, TransportErrorKind, TransportFuture,
    TransportRequest, TransportResponse,
};
use bankrail_stores::memory::MemoryStore;
use bankrail_stores::{postgres, sqlite};
use bankrail_values::{Clock, ManualClock};
use bankrail_webhook::QueryNotification;
use http_body_util::BodyExt;
use proptest::prelude::*;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;
use tokio::sync::Notify;
use tower::ServiceExt;

static KEYS: LazyLock<Keys> = LazyLock::new(Keys::generate);

/// The fate of one request.
#[derive(Clone, Copy, Debug)]
enum Fault {
    None,
    /// The request never arrives.
    Lost,
    /// The request arrives, and the answer does not.
    AnswerLost,
    /// The request arrives after the sender's time-out.
    Late,
    /// The request arrives twice.
    Twice,
    /// A proxy answers with this status in place of the receiver.
    Status(u16),
    /// The request arrives, and the answer is 200 with a body that is no acknowledgement.
    WrongBody,
    /// The request arrives, and the sender dies before it records the answer.
    SenderDies,
}

/// A transport that carries requests to the receivers, each with the next fault, and without faults
/// when they are used up.
#[derive(Debug)]
struct Line {
    router: axum::Router,
    faults: Mutex<VecDeque<Fault>>,
    late: Mutex<Vec<TransportRequest>>,
    death: Notify,
}

impl Line {
    async fn arrive(&self, request: &TransportRequest) -> TransportResponse {
        let mut arriving = axum::http::Request::post(request.url.path())
            .body(Body::from(request.body.clone()))
            .unwrap();
        *arriving.headers_mut() = request.headers.clone();
        let answer = self.router.clone().oneshot(arriving).await.unwrap();
        let (head, body) = answer.into_parts();
        TransportResponse::new(
            head.status,
            head.headers,
            body.collect().await.unwrap().to_bytes(),
        )
    }

    async fn late_ones_arrive(&self) {
        let late = std::mem::take(&mut *self.late.lock().unwrap());
        for request in late {
            self.arrive(&request).await;
        }
    }
}

impl Transport for Line {
    fn post(&self, request: TransportRequest) -> TransportFuture<'_> {
        Box::pin(async move {
            let fault = self
                .faults
                .lock()
                .unwrap()
                .pop_front()
                .unwrap_or(Fault::None);
            match fault {
                Fault::None => Ok(self.arrive(&request).await),
                Fault::Lost => Err(TransportErrorKind::Connect.into()),
                Fault::AnswerLost => {
                    self.arrive(&request).await;
                    Err(TransportErrorKind::Broken.into())
                }
                Fault::Late => {
                    self.late.lock().unwrap().push(request);
                    Err(TransportErrorKind::Timeout.into())
                }
                Fault::Twice => {
                    let (first, second) =
                        tokio::join!(self.arrive(&request), self.arrive(&request));
                    assert_eq!(first.body, second.body, "one acknowledgement");
                    Ok(second)
                }
                Fault::Status(status) => Ok(TransportResponse::new(
                    status.try_into().unwrap(),
                    HeaderMap::new(),
                    "",
                )),
                Fault::WrongBody => {
                    let answer = self.arrive(&request).await;
                    Ok(TransportResponse::new(
                        answer.status,
                        answer.headers,
                        "thank you",
                    ))
                }
                Fault::SenderDies => {
                    self.arrive(&request).await;
                    self.death.notify_one();
                    std::future::pending().await
                }
            }
        })
    }
}

fn fault() -> impl Strategy<Value = Fault> {
    prop_oneof![
        2 => Just(Fault::None),
        1 => Just(Fault::Lost),
        2 => Just(Fault::AnswerLost),
        2 => Just(Fault::Late),
        2 => Just(Fault::Twice),
        1 => prop::sample::select(vec![301_u16, 400, 429, 500, 503]).prop_map(Fault::Status),
        1 => Just(Fault::WrongBody),
        1 => Just(Fault::SenderDies),
    ]
}

/// The number of messages, and the fates of the first requests. A handler fails in each attempt
/// that `failing` names.
#[derive(Clone, Debug)]
struct Plan {
    messages: u32,
    faults: Vec<Fault>,
    failing: Vec<bool>,
}

fn plan() -> impl Strategy<Value = Plan> {
    let failing = prop::collection::vec(prop::bool::weighted(0.4), 0..8);
    (1_u32..6, prop::collection::vec(fault(), 0..16), failing).prop_map(
        |(messages, faults, failing)| Plan {
            messages,
            faults,
            failing,
        },
    )
}

impl Plan {
    /// Delivers and handles all messages, with resends of dead letters, and returns the number of
    /// these. `handlers` gets the function that decides if the next attempt fails.
    async fn run<I: Inbox + ?Sized + 'static>(
        self,
        (inbox, outbox): (Arc<I>, Arc<dyn OutboxStore>),
        handlers: impl FnOnce(Arc<dyn Fn() -> bool + Send + Sync>) -> Handlers<I>,
    ) -> usize {
        let clock = Arc::new(ManualClock::new(
            "2021-07-29T01:00:00.000Z".parse().unwrap(),
        ));
        let options = ReceiversOptions::new().clock(clock.clone());
        let receivers = Receivers::new(KEYS.opener(), API_KEY, inbox.clone(), options).unwrap();
        let failing = Mutex::new(VecDeque::from(self.failing));
        let options = WorkerOptions::new().schedule(Schedule::new([Duration::ZERO; 100], 0));
        let handlers = handlers(Arc::new(move || {
            failing.lock().unwrap().pop_front().unwrap_or(false)
        }));
        let worker = receivers.worker(handlers, options);
        let line = Arc::new(Line {
            router: receivers.router(),
            faults: Mutex::new(self.faults.into()),
            late: Mutex::default(),
            death: Notify::new(),
        });
        let dispatcher = || {
            let clock: Arc<dyn Clock> = clock.clone();
            let endpoints = endpoints("https://biller.example/", &KEYS);
            Dispatcher::new(
                outbox.clone(),
                endpoints,
                line.clone(),
                options_of_the_sender().clock(clock),
            )
            .unwrap()
        };
        let mut sender = dispatcher();
        let (mut enqueued, mut resent) = (Vec::new(), 0);
        for number in 0..self.messages {
            let (message, headers) = query(number);
            enqueued.push(
                sender
                    .enqueue(&endpoint(), &message, headers)
                    .await
                    .unwrap()
                    .id(),
            );
        }
        while outbox.counts(None).await.unwrap().pending > 0 {
            let died = tokio::select! {
                biased;
                () = line.death.notified() => true,
                sent = sender.run_once() => { sent.unwrap(); false }
            };
            if died {
                sender = dispatcher();
            }
            line.late_ones_arrive().await;
            worker.run_due().await.unwrap();
            for dead in outbox
                .list(&OutboxQuery::new().state(OutboxState::DeadLetter))
                .await
                .unwrap()
            {
                assert!(sender.resend(dead.id).await.unwrap());
                resent += 1;
            }
            // The clock passes every retry, pause and lease.
            clock.advance(Duration::from_secs(3600));
        }
        worker.run_due().await.unwrap();
        for id in enqueued {
            let entry = outbox.find(id).await.unwrap().unwrap();
            assert_eq!(entry.state, OutboxState::Delivered);
        }
        let counts = inbox.counts().await.unwrap();
        let all = u64::from(self.messages);
        assert_eq!(
            (counts.pending, counts.completed, counts.dead_letters),
            (0, all, 0)
        );
        // An engine may skip ids when a message arrives again.
        let mut found = 0;
        for number in 1..=200 {
            if let Some(entry) = inbox.find(EntryId::new(number)).await.unwrap() {
                assert_eq!(entry.conflicts_with, None);
                found += 1;
            }
        }
        assert_eq!(found, all);
        resent
    }
}

fn options_of_the_sender() -> DispatcherOptions {
    DispatcherOptions::new().schedule(Schedule::new([Duration::from_secs(1); 3], 20))
}

fn in_memory() -> (Arc<dyn Inbox>, Arc<dyn OutboxStore>) {
    let store = MemoryStore::new();
    (Arc::new(store.inbox()), Arc::new(store.outbox()))
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
}

fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

fn each_once(messages: u32, effects: BTreeMap<String, i64>) {
    let expected: BTreeMap<_, _> = (0..messages)
        .map(|number| (format!("C{number}"), 1))
        .collect();
    assert_eq!(effects, expected);
}

/// A dead letter whose attempts arrived without answers is still the same message when it is
/// resent.
#[tokio::test]
async fn a_dead_letter_that_had_arrived_is_one_message_when_it_is_sent_again() {
    let plan = Plan {
        messages: 1,
        faults: vec![Fault::AnswerLost; 3],
        failing: Vec::new(),
    };
    let handled = Arc::new(Mutex::new(0));
    let counted = handled.clone();
    let handlers = Handlers::new().on(move |_: Delivery<QueryNotification>| {
        *counted.lock().unwrap() += 1;
        std::future::ready(Ok(()))
    });
    assert_eq!(plan.run(in_memory(), |_| handlers).await, 1);
    assert_eq!(*handled.lock().unwrap(), 1);
}

proptest! {
    #![proptest_config(cases(48))]

    /// A handler outside the transaction gets each message at least once.
    #[test]
    fn nothing_is_lost_in_memory(plan in plan()) {
        let messages = plan.messages;
        let effects: Arc<Mutex<BTreeMap<String, i64>>> = Arc::default();
        let noted = effects.clone();
        runtime().block_on(plan.run(in_memory(), |fails| {
            Handlers::new().on(move |received: Delivery<QueryNotification>| {
                *noted.lock().unwrap().entry(received.message.case_id.to_string()).or_default() += 1;
                let result = if fails() { Err(HandlerError::retryable("after its effect")) } else { Ok(()) };
                std::future::ready(result)
            })
        }));
        let effects = effects.lock().unwrap();
        assert_eq!(effects.len(), usize::try_from(messages).unwrap());
    }
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn effects_happen_once_on_sqlite(plan in plan()) {
        use sqlite::{SqliteStore, SqliteWork, rusqlite};
        let messages = plan.messages;
        let effects = runtime().block_on(async {
            let store = SqliteStore::open_in_memory(Default::default()).unwrap();
            let table = "CREATE TABLE effect (case_id TEXT NOT NULL) STRICT";
            store.transaction(move |transaction| transaction.connection().execute_batch(table)).await.unwrap();
            let inbox = Arc::new(store.inbox());
            plan.run((inbox, Arc::new(store.outbox())), |fails| {
                Handlers::new().on_transactional(move |received: Delivery<QueryNotification>| {
                    let (case, fails) = (received.message.case_id.to_string(), fails());
                    std::future::ready(Ok(SqliteWork::new(move |transaction| {
                        transaction.connection().execute("INSERT INTO effect VALUES (?1)", [case])?;
                        if fails { Err(rusqlite::Error::QueryReturnedNoRows) } else { Ok(()) }
                    })))
                })
            })
            .await;
            let read = |transaction: &sqlite::Transaction<'_>| {
                let mut rows = transaction.connection().prepare("SELECT case_id, count(*) FROM effect GROUP BY 1")?;
                rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<rusqlite::Result<_>>()
            };
            store.transaction(read).await.unwrap()
        });
        each_once(messages, effects);
    }
}

proptest! {
    #![proptest_config(cases(8))]

    #[test]
    #[ignore = "needs postgresql"]
    fn effects_happen_once_on_postgres(plan in plan()) {
        use postgres::tokio_postgres::{NoTls, connect};
        use postgres::{PostgresStore, PostgresWork};
        use std::sync::atomic::{AtomicU32, Ordering};
        static SCHEMA: AtomicU32 = AtomicU32::new(0);
        let messages = plan.messages;
        let effects = runtime().block_on(async {
            let config = std::env::var("BANKRAIL_POSTGRES").expect("BANKRAIL_POSTGRES names a database to write to");
            let schema = format!("faults_{}_{}", std::process::id(), SCHEMA.fetch_add(1, Ordering::Relaxed));
            let config = format!("{config} options='-c search_path={schema}'");
            let (client, connection) = connect(&config, NoTls).await.unwrap();
            tokio::spawn(connection);
            let table = "CREATE TABLE effect (case_id TEXT NOT NULL)";
            client.batch_execute(&format!("CREATE SCHEMA {schema}; {table}")).await.unwrap();
            let store = PostgresStore::connect(&config, NoTls, Default::default()).await.unwrap();
            let inbox = Arc::new(store.inbox());
            plan.run((inbox, Arc::new(store.outbox())), |fails| {
                Handlers::new().on_transactional(move |received: Delivery<QueryNotification>| {
                    let (case, fails) = (received.message.case_id.to_string(), fails());
                    std::future::ready(Ok(PostgresWork::new(move |transaction| Box::pin(async move {
                        transaction.execute("INSERT INTO effect VALUES ($1)", &[&case]).await?;
                        if fails { Err("after its effect".into()) } else { Ok(()) }
                    }))))
                })
            })
            .await;
            let rows = client.query("SELECT case_id, count(*) FROM effect GROUP BY 1", &[]).await.unwrap();
            rows.iter().map(|row| (row.get(0), row.get(1))).collect()
        });
        each_once(messages, effects);
    }
}
