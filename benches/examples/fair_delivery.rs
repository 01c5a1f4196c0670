//! Measures what receivers that hang cost those that do not: `fair_delivery [SECONDS]`, 20 by
//! default.
//!
//! Healthy receivers answer after 50 ms and get ten messages a second each. Those that hang take a
//! request and never answer; 200 older messages wait for each of them. There are two cases: 16 of
//! 17 receivers hang, and one of ten. The time from enqueueing to the answer is measured with and
//! without them, in three rounds of SECONDS each, alternating. The median of the rounds' 99th
//! percentiles must not be more than 1.1 times the undisturbed one.

use axum::Router;
use axum::http::HeaderMap;
use bankrail_jose::{DecryptionKey, RsaSize, SigningKey};
use bankrail_mailbox::EndpointId;
use bankrail_secured_payload::{SealOptions, Sealer};
use bankrail_service::delivery::{
    Dispatcher, DispatcherOptions, Endpoint, EndpointUrl, Endpoints, HttpsTransport,
    HttpsTransportOptions,
};
use bankrail_stores::sqlite::SqliteStore;
use bankrail_values::HyphenatedUuid;
use bankrail_webhook::sender::OriginalRequest;
use bankrail_webhook::{Acknowledgement, DeliveryHeaders, Message, TransactionStatus, samples};
use std::collections::HashMap;
use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

const ANSWERS_AFTER: Duration = Duration::from_millis(50);
const EVERY: Duration = Duration::from_millis(100);
const BACKLOG: usize = 200;
const ROUNDS: usize = 3;
const MOST: f64 = 1.1;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let seconds = std::env::args()
        .nth(1)
        .map_or(Ok(20), |text| text.parse())?;
    let bank = Bank {
        sealer: Sealer::new(
            SigningKey::generate(RsaSize::Rsa2048)?,
            DecryptionKey::generate(RsaSize::Rsa2048)?.encryption_key(),
            SealOptions::new(),
        ),
        transport: HttpsTransport::new(HttpsTransportOptions::new())?,
        seconds,
    };
    let mut fair = true;
    for (healthy, hanging) in [(1, 16), (9, 1)] {
        let (mut alone, mut beside) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            alone.push(bank.round(healthy, 0).await?);
            beside.push(bank.round(healthy, hanging).await?);
        }
        let (alone, beside) = (median(alone), median(beside));
        let ratio = beside.as_secs_f64() / alone.as_secs_f64();
        println!(
            "{healthy} healthy, {hanging} hanging: p99 {alone:.1?} alone, {beside:.1?} beside them: {ratio:.3}"
        );
        fair &= ratio <= MOST;
    }
    if fair {
        Ok(())
    } else {
        Err("expected a ratio of at most 1.1".into())
    }
}

struct Bank {
    sealer: Sealer,
    transport: HttpsTransport,
    seconds: u32,
}

/// When each message was enqueued, and how long those took that were answered.
#[derive(Debug, Default)]
struct Times {
    enqueued: HashMap<String, Instant>,
    took: Vec<Duration>,
}

type Shared = Arc<Mutex<Times>>;

impl Bank {
    /// The 99th percentile of the healthy receivers' times.
    async fn round(&self, healthy: usize, hanging: usize) -> Result<Duration, Box<dyn Error>> {
        let times = Shared::default();
        let endpoints = Endpoints::new();
        let outbox = Arc::new(SqliteStore::open_in_memory(Default::default())?.outbox());
        let transport = Arc::new(self.transport.clone());
        let options = DispatcherOptions::new();
        let dispatcher = Dispatcher::new(outbox, endpoints.clone(), transport, options)?;
        let (well, ill) = (serve(answers(times.clone())).await?, serve(hangs()).await?);
        for number in 0..hanging {
            let id = EndpointId::parse(&format!("hanging {number}"))?;
            endpoints.insert(self.endpoint(&id, &ill, number)?);
            for _ in 0..BACKLOG {
                enqueue(&dispatcher, &id, None).await?;
            }
        }
        let mut ids = Vec::new();
        for number in 0..healthy {
            let id = EndpointId::parse(&format!("healthy {number}"))?;
            endpoints.insert(self.endpoint(&id, &well, number)?);
            ids.push(id);
        }
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let delivering = dispatcher.clone();
        let delivering =
            tokio::spawn(async move { delivering.run(async { drop(stopped.await) }).await });
        let mut next = tokio::time::interval(EVERY / u32::try_from(ids.len())?);
        let end = Instant::now() + Duration::from_secs(self.seconds.into());
        for id in ids.iter().cycle() {
            next.tick().await;
            if Instant::now() > end {
                break;
            }
            enqueue(&dispatcher, id, Some(&times)).await?;
        }
        let enqueued = lock(&times).enqueued.len();
        for _ in 0..600 {
            if lock(&times).took.len() == enqueued {
                break;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        // What hangs would keep a run from stopping in time.
        drop(stop);
        delivering.abort();
        let mut took = std::mem::take(&mut lock(&times).took);
        if took.len() < enqueued {
            return Err(format!(
                "{} of {enqueued} messages were not delivered",
                enqueued - took.len()
            )
            .into());
        }
        took.sort_unstable();
        took.get(took.len() * 99 / 100)
            .copied()
            .ok_or_else(|| "expected at least one message".into())
    }

    fn endpoint(
        &self,
        id: &EndpointId,
        server: &str,
        number: usize,
    ) -> Result<Endpoint, Box<dyn Error>> {
        let base = EndpointUrl::danger_allow_http_on_loopback(&format!("{server}/{number}"))?;
        Ok(Endpoint::new(
            id.clone(),
            base,
            Arc::new(self.sealer.clone()),
        ))
    }
}

async fn enqueue(
    bank: &Dispatcher,
    to: &EndpointId,
    times: Option<&Shared>,
) -> Result<(), Box<dyn Error>> {
    let fresh = || HyphenatedUuid::from(uuid::Uuid::new_v4());
    let headers = DeliveryHeaders::answering(&OriginalRequest::new(fresh()), fresh());
    if let Some(times) = times {
        lock(times)
            .enqueued
            .insert(headers.message_id.to_string(), Instant::now());
    }
    let message = Message::from(samples::payment_outcome(
        &TransactionStatus::SettlementCompleted,
    ));
    bank.enqueue(to, &message, headers).await?;
    Ok(())
}

fn answers(times: Shared) -> Router {
    Router::new().fallback(move |headers: HeaderMap| {
        let times = times.clone();
        async move {
            tokio::time::sleep(ANSWERS_AFTER).await;
            let id = headers
                .get("x-message-id")
                .and_then(|id| id.to_str().ok())
                .unwrap_or_default();
            let mut times = lock(&times);
            if let Some(took) = times.enqueued.get(id).map(Instant::elapsed) {
                times.took.push(took);
            }
            Acknowledgement::received(uuid::Uuid::new_v4().into()).to_json()
        }
    })
}

fn hangs() -> Router {
    Router::new().fallback(std::future::pending::<&'static str>)
}

async fn serve(router: Router) -> Result<String, Box<dyn Error>> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move { axum::serve(listener, router).await });
    Ok(format!("http://{address}"))
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn lock(times: &Shared) -> std::sync::MutexGuard<'_, Times> {
    times.lock().unwrap_or_else(PoisonError::into_inner)
}
