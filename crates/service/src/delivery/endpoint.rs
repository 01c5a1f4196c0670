//! The customers' receivers.

use super::breaker::{Breaker, BreakerPolicy, Health, Passage};
use super::snapshot::EndpointSnapshot;
use super::url::EndpointUrl;
use bankrail_http::CpuPool;
use bankrail_http::names::API_KEY;
use bankrail_jose::SignError;
use bankrail_jose::remote::RemoteError;
use bankrail_mailbox::EndpointId;
use bankrail_secured_payload::{SealError, Sealer};
use bankrail_values::{SecretString, Timestamp};
use bankrail_webhook::MessageKind;
use http::{HeaderName, HeaderValue};
use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// The return type of [`SealPayload::seal`].
pub type SealFuture<'a> = Pin<Box<dyn Future<Output = Result<String, SealError>> + Send + 'a>>;

/// Seals a message for one receiver: [`Sealer`], or an adapter around a signing key in a key service.
pub trait SealPayload: fmt::Debug + Send + Sync {
    /// Seals one JSON text and returns the compact JWE. The future is dropped if it takes longer than
    /// [`DispatcherOptions::timeout`](super::DispatcherOptions::timeout); the message is then delivered later, and
    /// the circuit counts a failure.
    ///
    /// `pool` is the dispatcher's, for work that occupies a core.
    fn seal<'a>(&'a self, json: &'a [u8], pool: &'a CpuPool) -> SealFuture<'a>;
}

/// Runs in the pool, because the RSA operations take most of a millisecond of one core.
impl SealPayload for Sealer {
    fn seal<'a>(&'a self, json: &'a [u8], pool: &'a CpuPool) -> SealFuture<'a> {
        let (sealer, json) = (self.clone(), json.to_vec());
        Box::pin(async move {
            let sealed = pool.run(move || Sealer::seal(&sealer, &json)).await;
            let ended = || SignError::Remote(RemoteError::retryable("sealing panicked or the runtime shut down"));
            sealed.unwrap_or_else(|| Err(ended().into()))
        })
    }
}

/// A receiver of a customer: its address, the API key for it, and the sealer of its messages.
#[derive(Clone, Debug)]
pub struct Endpoint {
    id: EndpointId,
    base: EndpointUrl,
    api_key: Option<(HeaderName, HeaderValue)>,
    sealer: Arc<dyn SealPayload>,
    paths: HashMap<MessageKind, String>,
}

impl Endpoint {
    /// A receiver without an API key, at the default paths below its base.
    #[must_use]
    pub fn new(id: EndpointId, base: EndpointUrl, sealer: Arc<dyn SealPayload>) -> Self {
        Self { id, base, api_key: None, sealer, paths: HashMap::new() }
    }

    /// The same receiver with an API key in the header `apikey` (Default: "Webhooks").
    ///
    /// # Errors
    /// [`EndpointError`] if the key cannot be a header value.
    pub fn with_api_key(self, value: &SecretString) -> Result<Self, EndpointError> {
        self.with_api_key_in(API_KEY.as_str(), value)
    }

    /// The same receiver with an API key in the header of this name.
    ///
    /// # Errors
    /// [`EndpointError`] if the name or the key cannot be in a header, or if deliveries use the header themselves.
    pub fn with_api_key_in(mut self, name: &str, value: &SecretString) -> Result<Self, EndpointError> {
        self.api_key = Some(Self::api_key_header(name, value)?);
        Ok(self)
    }

    /// The header of an API key.
    pub(crate) fn api_key_header(name: &str, value: &SecretString) -> Result<(HeaderName, HeaderValue), EndpointError> {
        let header = HeaderName::try_from(name).map_err(|_| EndpointError::HeaderName { found: name.to_owned() })?;
        if RESERVED.contains(&header.as_str()) {
            return Err(EndpointError::Reserved { name: header.to_string() });
        }
        let mut value = HeaderValue::try_from(value.expose_secret()).map_err(|_| EndpointError::HeaderValue)?;
        value.set_sensitive(true);
        Ok((header, value))
    }

    /// The same receiver with another path for one kind of message.
    #[must_use]
    pub fn with_path(mut self, kind: MessageKind, path: impl Into<String>) -> Self {
        self.paths.insert(kind, path.into());
        self
    }

    /// The name of the receiver.
    #[must_use]
    pub fn id(&self) -> &EndpointId {
        &self.id
    }

    /// The address for messages of a kind.
    #[must_use]
    pub fn url(&self, kind: MessageKind) -> url::Url {
        self.base.with_path(self.paths.get(&kind).map_or(kind.default_path(), String::as_str))
    }

    pub(super) fn api_key(&self) -> Option<&(HeaderName, HeaderValue)> {
        self.api_key.as_ref()
    }

    pub(super) fn sealer(&self) -> &dyn SealPayload {
        &*self.sealer
    }
}

/// Headers that a delivery, or the connection under it, sets itself.
const RESERVED: [&str; 14] = [
    "accept",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "expect",
    "host",
    "priority",
    "te",
    "transfer-encoding",
    "upgrade",
    "x-correlation-id",
    "x-message-id",
    "x-requestkey",
];

/// Why an API key cannot be sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EndpointError {
    /// Not the name of a header.
    #[error("expected the name of a header, found {found:?}")]
    HeaderName {
        /// The name.
        found: String,
    },
    /// A header that deliveries use themselves.
    #[error("expected a header that deliveries do not use, found {name}")]
    Reserved {
        /// The name.
        name: String,
    },
    /// The key has characters that a header cannot have. The error does not show the key.
    #[error("expected an API key that fits a header")]
    HeaderValue,
}

/// The receivers that a [`Dispatcher`](super::Dispatcher) knows. Cheap to clone; clones share the receivers, which may
/// change while deliveries run.
#[derive(Clone, Debug, Default)]
pub struct Endpoints {
    known: Arc<RwLock<HashMap<EndpointId, Arc<Known>>>>,
}

/// A receiver with the state of its circuit, and whether it is slow.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) endpoint: Endpoint,
    circuit: Mutex<Breaker>,
    slow: AtomicBool,
}

impl Endpoints {
    /// An empty set of receivers.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a receiver, or replaces the one with the same name, for example with new keys or a new address. The next
    /// delivery uses it, and its circuit is closed.
    pub fn insert(&self, endpoint: Endpoint) {
        let id = endpoint.id.clone();
        let known = Arc::new(Known { endpoint, circuit: Mutex::default(), slow: AtomicBool::new(false) });
        self.known.write().unwrap_or_else(PoisonError::into_inner).insert(id, known);
    }

    /// Removes a receiver. Its messages stay in the outbox. False if it was not known.
    pub fn remove(&self, id: &EndpointId) -> bool {
        self.known.write().unwrap_or_else(PoisonError::into_inner).remove(id).is_some()
    }

    /// Whether a receiver with this name is known.
    #[must_use]
    pub fn contains(&self, id: &EndpointId) -> bool {
        self.get(id).is_some()
    }

    /// The receivers to which deliveries are paused at `now`, because they kept failing or asked for it with a
    /// `Retry-After`. Each of several workers over one outbox learns this separately.
    #[must_use]
    pub fn open_circuits(&self, now: Timestamp) -> Vec<EndpointId> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.values().filter(|known| known.lock().is_open(now)).map(|known| known.endpoint.id.clone()).collect()
    }

    /// The slow receivers: a delivery has taken [`DispatcherOptions::slow_after`](super::DispatcherOptions::slow_after)
    /// or longer, and since then none has ended that took less.
    pub(super) fn slow(&self) -> Vec<EndpointId> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.values().filter(|known| known.is_slow()).map(|known| known.endpoint.id.clone()).collect()
    }

    /// All receivers by name, as an operator sees them.
    pub(super) fn snapshot(&self, now: Timestamp) -> Vec<EndpointSnapshot> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let mut all: Vec<_> = known
            .values()
            .map(|known| EndpointSnapshot {
                endpoint: known.endpoint.id.clone(),
                circuit: known.lock().state(now),
                is_slow: known.is_slow(),
            })
            .collect();
        drop(known);
        all.sort_unstable_by(|one, other| one.endpoint.as_str().cmp(other.endpoint.as_str()));
        all
    }

    pub(super) fn get(&self, id: &EndpointId) -> Option<Arc<Known>> {
        self.known.read().unwrap_or_else(PoisonError::into_inner).get(id).cloned()
    }
}

impl Known {
    /// Starts a delivery, if one may start now.
    ///
    /// # Errors
    /// The time before which none may start.
    pub(super) fn begin(&self, now: Timestamp) -> Result<Begun<'_>, Timestamp> {
        match self.lock().ask(now) {
            Passage::Free => Ok(Begun { known: Some(self) }),
            Passage::NotBefore(due) => Err(due),
        }
    }

    pub(super) fn close(&self) {
        *self.lock() = Breaker::default();
    }

    pub(super) fn is_slow(&self) -> bool {
        self.slow.load(Ordering::Relaxed)
    }

    pub(super) fn set_slow(&self, slow: bool) {
        self.slow.store(slow, Ordering::Relaxed);
    }

    pub(super) fn rest(&self, until: Timestamp) {
        self.lock().rest(until);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Breaker> {
        self.circuit.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A running delivery. If it is dropped before its end, it counts neither for nor against the receiver.
#[derive(Debug)]
pub(super) struct Begun<'a> {
    known: Option<&'a Known>,
}

impl Begun<'_> {
    pub(super) fn end(mut self, health: Health, now: Timestamp, policy: &BreakerPolicy) {
        let Some(known) = self.known.take() else { return };
        let mut circuit = known.lock();
        match health {
            Health::Good => circuit.succeeded(),
            Health::Bad => circuit.failed(now, policy),
            Health::Unknown => circuit.abandoned(),
        }
    }
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        if let Some(known) = self.known {
            known.lock().abandoned();
        }
    }
}
