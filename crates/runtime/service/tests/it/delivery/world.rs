//! A dispatcher with two endpoints, a manual clock, and a receiver that answers by script.

use bankrail_jose::{DecryptionKey, RsaSize, SigningKey};
use bankrail_mailbox::{
    DeliveryRecord, EndpointId, EntryId, OutboxCounts, OutboxEntry, OutboxOperator, OutboxStore,
};
use bankrail_secured_payload::{OpenOptions, Opener, SealOptions, Sealer};
use bankrail_service::delivery::{
    Dispatcher, DispatcherOptions, Endpoint, EndpointUrl, Endpoints, SealPayload, Transport,
    TransportErrorKind, TransportFuture, TransportRequest, TransportResponse, UpFuture,
};
use bankrail_stores::memory::{MemoryOutbox, MemoryStore};
use bankrail_values::{Clock, HyphenatedUuid, ManualClock, SecretString, Timestamp};
use bankrail_webhook::sender::OriginalRequest;
use bankrail_webhook::{Acknowledgement, DeliveryHeaders, MessageKind, samples};
use http::{HeaderMap, StatusCode};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use tokio::sync::Semaphore;
use tokio::time::Instant;

/// The clock of tokio, which a test can pause.
#[derive(Debug)]
pub(crate) struct VirtualClock(Instant);

impl VirtualClock {
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }
}

impl Clock for VirtualClock {
    fn now(&self) -> Timestamp {
        let start: Timestamp = "2021-07-29T01:00:00.000Z".parse().unwrap();
        start.saturating_add(self.0.elapsed())
    }
}

/// Returns the provider's signing key and the decryption keys of two customers, made once.
fn keys() -> &'static (SigningKey, [DecryptionKey; 2]) {
    static KEYS: OnceLock<(SigningKey, [DecryptionKey; 2])> = OnceLock::new();
    KEYS.get_or_init(|| {
        let decryption = || DecryptionKey::generate(RsaSize::Rsa2048).unwrap();
        (
            SigningKey::generate(RsaSize::Rsa2048).unwrap(),
            [decryption(), decryption()],
        )
    })
}

pub(crate) fn sealer(customer: usize) -> Arc<Sealer> {
    let (signing, customers) = keys();
    Arc::new(Sealer::new(
        signing.clone(),
        customers[customer].encryption_key(),
        SealOptions::new(),
    ))
}

fn opener(customer: usize) -> Opener {
    let (signing, customers) = keys();
    Opener::new(
        customers[customer].clone(),
        signing.verifying_key(),
        OpenOptions::new(),
    )
    .unwrap()
}

/// The receiver's treatment of the next request.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    Good,
    Status(u16),
    Asking(u16, String),
    Body(u16, String),
    Fails(TransportErrorKind),
    Never,
    Panics,
}

/// A receiver that answers by script, then as `always`. Each request waits for a permit.
#[derive(Debug)]
pub(crate) struct Receiver {
    script: Mutex<VecDeque<Reply>>,
    /// The beginning of the addresses that the script is for; `None` for all.
    scripted: Mutex<Option<String>>,
    always: Mutex<Reply>,
    requests: Mutex<Vec<TransportRequest>>,
    pub(crate) up: AtomicBool,
    looks: AtomicUsize,
    pub(crate) gate: Semaphore,
}

impl Receiver {
    pub(crate) fn script(&self, replies: impl IntoIterator<Item = Reply>) {
        self.script.lock().unwrap().extend(replies);
    }

    /// Sets the replies for one endpoint's requests, which arrive in any order with those of
    /// others.
    pub(crate) fn script_for(
        &self,
        endpoint: &EndpointId,
        replies: impl IntoIterator<Item = Reply>,
    ) {
        *self.scripted.lock().unwrap() = Some(format!("https://{endpoint}.example/"));
        self.script(replies);
    }

    pub(crate) fn always(&self, reply: Reply) {
        *self.always.lock().unwrap() = reply;
    }

    pub(crate) fn all(&self) -> Vec<TransportRequest> {
        self.requests.lock().unwrap().clone()
    }

    pub(crate) fn last(&self) -> TransportRequest {
        self.all().pop().unwrap()
    }

    /// Returns the number of times that a dispatcher looked if the receiver is up.
    pub(crate) fn looks(&self) -> usize {
        self.looks.load(Ordering::SeqCst)
    }

    pub(crate) fn count(&self) -> usize {
        self.requests.lock().unwrap().len()
    }
}

impl Transport for Receiver {
    fn post(&self, request: TransportRequest) -> TransportFuture<'_> {
        Box::pin(async move {
            let url = request.url.to_string();
            let scripted = self
                .scripted
                .lock()
                .unwrap()
                .as_ref()
                .is_none_or(|base| url.starts_with(base));
            self.requests.lock().unwrap().push(request);
            self.gate.acquire().await.unwrap().forget();
            let next = if scripted {
                self.script.lock().unwrap().pop_front()
            } else {
                None
            };
            let reply = next.unwrap_or_else(|| self.always.lock().unwrap().clone());
            let mut headers = HeaderMap::new();
            let (status, body) = match reply {
                Reply::Good => (
                    200,
                    Acknowledgement::from_random_bytes([7; 16])
                        .to_json()
                        .into_bytes(),
                ),
                Reply::Status(status) => (status, Vec::new()),
                Reply::Asking(status, wait) => {
                    headers.insert("retry-after", wait.parse().unwrap());
                    (status, Vec::new())
                }
                Reply::Body(status, body) => (status, body.into_bytes()),
                Reply::Fails(kind) => return Err(kind.into()),
                Reply::Never => std::future::pending().await,
                Reply::Panics => panic!("told to"),
            };
            Ok(TransportResponse::new(
                StatusCode::from_u16(status).unwrap(),
                headers,
                body,
            ))
        })
    }

    fn is_up<'a>(&'a self, _: &'a Endpoint) -> UpFuture<'a> {
        self.looks.fetch_add(1, Ordering::SeqCst);
        Box::pin(std::future::ready(self.up.load(Ordering::SeqCst)))
    }
}

pub(crate) struct World {
    pub(crate) dispatcher: Dispatcher,
    pub(crate) outbox: Arc<MemoryOutbox>,
    pub(crate) endpoints: Endpoints,
    pub(crate) receiver: Arc<Receiver>,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) opener: Opener,
    pub(crate) acme: EndpointId,
    pub(crate) beta: EndpointId,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with(|options| options)
    }

    pub(crate) fn with(change: impl FnOnce(DispatcherOptions) -> DispatcherOptions) -> Self {
        let options = change(DispatcherOptions::new());
        let clock = Arc::new(ManualClock::new(
            "2021-07-29T01:00:00.000Z".parse().unwrap(),
        ));
        let receiver = Arc::new(Receiver {
            script: Mutex::default(),
            scripted: Mutex::default(),
            always: Mutex::new(Reply::Good),
            requests: Mutex::default(),
            up: AtomicBool::new(true),
            looks: AtomicUsize::new(0),
            gate: Semaphore::new(Semaphore::MAX_PERMITS / 2),
        });
        let (outbox, endpoints) = (Arc::new(MemoryStore::new().outbox()), Endpoints::new());
        let (acme, beta): (EndpointId, EndpointId) =
            ("acme".parse().unwrap(), "beta".parse().unwrap());
        endpoints.insert(endpoint(&acme, 0));
        endpoints.insert(endpoint(&beta, 1));
        let dispatcher = Dispatcher::new(
            Arc::clone(&outbox) as Arc<dyn OutboxStore>,
            endpoints.clone(),
            Arc::clone(&receiver) as Arc<dyn Transport>,
            options.clock(Arc::clone(&clock) as Arc<dyn Clock>),
        )
        .unwrap();
        Self {
            dispatcher,
            outbox,
            endpoints,
            receiver,
            clock,
            opener: opener(0),
            acme,
            beta,
        }
    }

    /// Makes a dispatcher over another outbox, with its own endpoints, the same receiver and the
    /// same clock.
    pub(super) fn dispatcher_over(
        &self,
        outbox: Arc<dyn OutboxStore>,
        options: DispatcherOptions,
    ) -> Dispatcher {
        let endpoints = Endpoints::new();
        endpoints.insert(endpoint(&self.acme, 0));
        endpoints.insert(endpoint(&self.beta, 1));
        let receiver = Arc::clone(&self.receiver) as Arc<dyn Transport>;
        Dispatcher::new(
            outbox,
            endpoints,
            receiver,
            options.clock(Arc::clone(&self.clock) as Arc<dyn Clock>),
        )
        .unwrap()
    }

    /// Gives ACME's receiver another decryption key.
    pub(crate) fn change_keys(&self) -> Opener {
        self.endpoints.insert(endpoint(&self.acme, 1));
        opener(1)
    }

    pub(crate) async fn enqueue_one(&self) -> EntryId {
        let acme = self.acme.clone();
        self.enqueue_to(&acme).await
    }

    pub(crate) async fn enqueue_to(&self, endpoint: &EndpointId) -> EntryId {
        let message = samples::all().remove(0);
        self.dispatcher
            .enqueue(endpoint, &message, fresh_headers(message.kind()))
            .await
            .unwrap()
            .id()
    }

    pub(crate) async fn entry(&self, id: EntryId) -> OutboxEntry {
        self.outbox.find(id).await.unwrap().unwrap()
    }

    pub(crate) async fn deliveries(&self, id: EntryId) -> Vec<DeliveryRecord> {
        self.outbox.deliveries(id).await.unwrap()
    }

    pub(crate) async fn pending(&self) -> u64 {
        self.counts().await.pending
    }

    pub(super) async fn paused(&self) -> Vec<EndpointId> {
        paused(&*self.outbox, self.clock.now()).await
    }

    pub(super) async fn counts(&self) -> OutboxCounts {
        self.outbox.counts(None).await.unwrap()
    }
}

/// Returns the endpoints to which deliveries are paused, or that have not answered since a pause.
pub(super) async fn paused(outbox: &dyn OutboxStore, now: Timestamp) -> Vec<EndpointId> {
    let circuits = outbox.circuits().await.unwrap();
    let paused = circuits
        .into_iter()
        .filter(|one| one.circuit.is_held(now) || one.circuit.openings > 0);
    paused.map(|one| one.endpoint).collect()
}

pub(crate) fn endpoint(id: &EndpointId, customer: usize) -> Endpoint {
    sealed_by(id, sealer(customer))
}

pub(crate) fn sealed_by(id: &EndpointId, sealer: Arc<dyn SealPayload>) -> Endpoint {
    let base = EndpointUrl::parse(&format!("https://{id}.example/hooks/")).unwrap();
    Endpoint::new(id.clone(), base, sealer)
        .with_api_key_in("X-Api-Key", &SecretString::from("hunter2"))
        .unwrap()
}

/// Makes headers with new keys.
pub(crate) fn fresh_headers(kind: MessageKind) -> DeliveryHeaders {
    let fresh = HyphenatedUuid::random;
    if kind.answers_a_request() {
        let request = OriginalRequest::new(fresh()).with_correlation_id(fresh());
        DeliveryHeaders::answering(&request, fresh())
    } else {
        DeliveryHeaders::new(fresh())
    }
}
