//! Measures what an outage of PostgreSQL costs deliveries: `outages ROUNDS SOCKET RESTART`.
//!
//! 26 receivers that answer after half a second get 200 messages a second together, nearly as many
//! as four places each allow. In each round and for each kind of outage the database is away for a
//! while: stopped and started again (`RESTART fast` and `RESTART immediate`, a program that returns
//! when it is back), all sessions ended, or reached by no packet for longer than an operation may
//! take. Measured are the time from its return until every receiver has got four messages more, and
//! the messages that were lost or delivered twice. `SOCKET` is the folder of the server's UNIX
//! socket; the user is bankrail.

use axum::http::{HeaderMap, StatusCode};
use bankrail_jose::{DecryptionKey, RsaSize, SigningKey};
use bankrail_mailbox::EndpointId;
use bankrail_secured_payload::{SealOptions, Sealer};
use bankrail_service::delivery::{
    Dispatcher, DispatcherOptions, Endpoint, EndpointUrl, Endpoints, Transport, TransportFuture,
    TransportRequest, TransportResponse,
};
use bankrail_stores::postgres::tokio_postgres::NoTls;
use bankrail_stores::postgres::{PostgresOptions, PostgresStore};
use bankrail_values::HyphenatedUuid;
use bankrail_webhook::sender::OriginalRequest;
use bankrail_webhook::{Acknowledgement, DeliveryHeaders, Message, TransactionStatus, samples};
use std::collections::HashMap;
use std::error::Error;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::watch;

const RECEIVERS: usize = 26;
/// One for each place of a receiver. If an old lease holds a place, the last of them is late.
const MESSAGES_MORE: usize = 4;
const ANSWERS_AFTER: Duration = Duration::from_millis(500);
/// Between two messages to one receiver: 200 a second to all.
const EVERY: Duration = Duration::from_millis(130);
const BEFORE: Duration = Duration::from_secs(3);
const AWAY: Duration = Duration::from_secs(7);
const LONGEST_MEDIAN: Duration = Duration::from_secs(3);
const LONGEST: Duration = Duration::from_secs(10);

type Failure = Box<dyn Error + Send + Sync>;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [rounds, socket, restart] = arguments.as_slice() else {
        return Err("expected ROUNDS SOCKET RESTART".into());
    };
    let (rounds, socket) = (rounds.parse()?, format!("{socket}/.s.PGSQL.5432"));
    let mut held = true;
    for outage in [
        Outage::Restart("fast"),
        Outage::Restart("immediate"),
        Outage::SessionsEnded,
        Outage::Swallowed,
    ] {
        let (mut resumed, mut doubled, mut under_way) = (Vec::new(), 0, 0);
        for _ in 0..rounds {
            let round = round(outage, &socket, restart).await?;
            resumed.push(round.resumed);
            doubled += round.doubled;
            under_way += round.under_way;
            held &= round.doubled <= round.under_way;
        }
        resumed.sort_unstable();
        let at = |place: usize| resumed.get(place).copied().unwrap_or_default();
        let (median, worst) = (at(resumed.len() / 2), at(resumed.len().saturating_sub(1)));
        println!(
            "{outage:?}: resumed after {median:.1?}, {worst:.1?} at most; {doubled} doubled of {under_way} under way"
        );
        held &= median <= LONGEST_MEDIAN && worst <= LONGEST;
    }
    if held {
        Ok(())
    } else {
        Err("expected 3 s at the median, 10 s at most, and no more doubled than under way".into())
    }
}

#[derive(Clone, Copy, Debug)]
enum Outage {
    Restart(&'static str),
    SessionsEnded,
    Swallowed,
}

struct Round {
    /// From the return of the database to the next message of the last receiver.
    resumed: Duration,
    doubled: usize,
    /// The time at which the outage began.
    under_way: usize,
}

async fn round(outage: Outage, socket: &str, restart: &str) -> Result<Round, Failure> {
    let (swallow, swallows) = watch::channel(false);
    let port = proxy(socket.to_owned(), swallows).await?;
    let config = format!("host=127.0.0.1 port={port} user=bankrail dbname=postgres");
    let store = PostgresStore::connect(&config, NoTls, PostgresOptions::new()).await?;
    let (endpoints, receivers) = (Endpoints::new(), Arc::new(Receivers::default()));
    let key = DecryptionKey::generate(RsaSize::Rsa2048)?.encryption_key();
    let sealer = Arc::new(Sealer::new(
        SigningKey::generate(RsaSize::Rsa2048)?,
        key,
        SealOptions::new(),
    ));
    let mut ids = Vec::new();
    for number in 0..RECEIVERS {
        // New names for each round: what an earlier one left is not delivered.
        let id = EndpointId::parse(&format!("{number} {}", uuid::Uuid::new_v4()))?;
        let base = EndpointUrl::parse(&format!("https://{number}.example/"))?;
        endpoints.insert(Endpoint::new(id.clone(), base, sealer.clone()));
        ids.push(id);
    }
    let transport = Arc::clone(&receivers) as Arc<dyn Transport>;
    let options = DispatcherOptions::new().slow_concurrency(256);
    let dispatcher = Dispatcher::new(Arc::new(store.outbox()), endpoints, transport, options)?;
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let delivering = dispatcher.clone();
    let delivering =
        tokio::spawn(async move { delivering.run(async { drop(stopped.await) }).await });
    let (end, ended) = watch::channel(false);
    let enqueuing: Vec<_> = ids
        .into_iter()
        .map(|id| tokio::spawn(enqueue_until(dispatcher.clone(), id, ended.clone())))
        .collect();

    tokio::time::sleep(BEFORE).await;
    let under_way = receivers.lock().under_way;
    match outage {
        Outage::Restart(how) => {
            let done = tokio::process::Command::new(restart)
                .arg(how)
                .status()
                .await?;
            if !done.success() {
                return Err(format!("{restart} {how}: {done}").into());
            }
        }
        Outage::SessionsEnded => {
            let stream = UnixStream::connect(socket).await?;
            let config: bankrail_stores::postgres::tokio_postgres::Config =
                "user=bankrail dbname=postgres".parse()?;
            let (client, connection) = config.connect_raw(stream, NoTls).await?;
            tokio::spawn(connection);
            let others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()";
            client.batch_execute(others).await?;
        }
        Outage::Swallowed => {
            swallow.send_replace(true);
            tokio::time::sleep(AWAY).await;
            swallow.send_replace(false);
        }
    }
    let back = Instant::now();
    receivers.lock().since.clear();
    while receivers.lock().lagging() && back.elapsed() < Duration::from_secs(90) {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let resumed = back.elapsed();
    end.send_replace(true);
    let mut enqueued = Vec::new();
    for one in enqueuing {
        enqueued.extend(one.await?);
    }
    while enqueued
        .iter()
        .any(|id| !receivers.lock().posts.contains_key(id))
    {
        if back.elapsed() > Duration::from_secs(120) {
            let snapshot = dispatcher.snapshot().await?;
            return Err(
                format!("{outage:?}: not all messages were delivered: {snapshot:?}").into(),
            );
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    drop(stop);
    delivering.await?;
    let doubled = receivers.lock().posts.values().map(|posts| posts - 1).sum();
    Ok(Round {
        resumed,
        doubled,
        under_way,
    })
}

/// Enqueues messages, each again until it is stored. Returns their ids.
async fn enqueue_until(
    bank: Dispatcher,
    to: EndpointId,
    ended: watch::Receiver<bool>,
) -> Vec<String> {
    let mut ids = Vec::new();
    let mut next = tokio::time::interval(EVERY);
    next.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    while !*ended.borrow() {
        next.tick().await;
        let fresh = || HyphenatedUuid::from(uuid::Uuid::new_v4());
        let headers = DeliveryHeaders::answering(&OriginalRequest::new(fresh()), fresh());
        let message = Message::from(samples::payment_outcome(
            &TransactionStatus::SettlementCompleted,
        ));
        while bank.enqueue(&to, &message, headers).await.is_err() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        ids.push(headers.message_id.to_string());
    }
    ids
}

/// Answer after a while, and count.
#[derive(Debug, Default)]
struct Receivers(Mutex<Counts>);

#[derive(Debug, Default)]
struct Counts {
    /// The number of times that each message was posted.
    posts: HashMap<String, usize>,
    /// The number of messages that each has got since this was cleared.
    since: HashMap<String, usize>,
    under_way: usize,
}

impl Receivers {
    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Counts {
    fn lagging(&self) -> bool {
        self.since.len() < RECEIVERS
            || self
                .since
                .values()
                .any(|messages| *messages < MESSAGES_MORE)
    }
}

impl Transport for Receivers {
    fn post(&self, request: TransportRequest) -> TransportFuture<'_> {
        Box::pin(async move {
            let id = request
                .headers
                .get("x-message-id")
                .and_then(|id| id.to_str().ok())
                .unwrap_or_default();
            {
                let mut counts = self.lock();
                *counts.posts.entry(id.to_owned()).or_default() += 1;
                *counts
                    .since
                    .entry(request.url.host_str().unwrap_or_default().to_owned())
                    .or_default() += 1;
                counts.under_way += 1;
            }
            tokio::time::sleep(ANSWERS_AFTER).await;
            self.lock().under_way -= 1;
            let acknowledged = Acknowledgement::received(uuid::Uuid::new_v4().into()).to_json();
            Ok(TransportResponse::new(
                StatusCode::OK,
                HeaderMap::new(),
                acknowledged,
            ))
        })
    }
}

/// A way to the database that holds every byte, and every new connection, while it is told to.
/// Returns its port.
async fn proxy(socket: String, swallows: watch::Receiver<bool>) -> Result<u16, Failure> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let port = listener.local_addr()?.port();
    tokio::spawn(async move {
        loop {
            if let Ok((client, _)) = listener.accept().await {
                tokio::spawn(pass(client, socket.clone(), swallows.clone()));
            }
        }
    });
    Ok(port)
}

async fn pass(
    client: TcpStream,
    socket: String,
    mut swallows: watch::Receiver<bool>,
) -> Result<(), Failure> {
    swallows.wait_for(|swallows| !swallows).await?;
    let server = UnixStream::connect(socket).await?;
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let back = tokio::spawn(copy(from_server, to_client, swallows.clone()));
    copy(from_client, to_server, swallows).await?;
    back.await?
}

async fn copy(
    mut from: impl tokio::io::AsyncRead + Unpin,
    mut to: impl tokio::io::AsyncWrite + Unpin,
    mut swallows: watch::Receiver<bool>,
) -> Result<(), Failure> {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let mut piece = vec![0; 1 << 16];
    loop {
        let read = from.read(&mut piece).await?;
        swallows.wait_for(|swallows| !swallows).await?;
        if read == 0 {
            return Ok(to.shutdown().await?);
        }
        to.write_all(piece.get(..read).unwrap_or_default()).await?;
    }
}
