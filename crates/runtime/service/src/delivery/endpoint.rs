//! The customers' receivers.

use super::MissingAcknowledgement;
use super::breaker::Breaker;
use super::snapshot::{CircuitState, EndpointSnapshot};
use bankrail_http::names::{API_KEY, is_reserved};
use bankrail_http::tls::ClientCertificate;
use bankrail_http::{CpuPool, EndpointUrl};
use bankrail_jose::SignError;
use bankrail_jose::remote::RemoteError;
use bankrail_mailbox::{EndpointCircuit, EndpointId};
use bankrail_secured_payload::{SealError, Sealer};
use bankrail_values::{SecretString, Timestamp};
use bankrail_webhook::MessageKind;
use http::{HeaderName, HeaderValue};
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

/// The return type of [`SealPayload::seal`].
pub type SealFuture<'a> = Pin<Box<dyn Future<Output = Result<String, SealError>> + Send + 'a>>;

/// Seals a message for one receiver: [`Sealer`], or an adapter around a signing key in a key
/// service.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not seal messages",
    label = "not a `SealPayload`",
    note = "pass `Arc::new(Sealer::new(signing_key, encryption_key, options))` of `bankrail_secured_payload`"
)]
pub trait SealPayload: fmt::Debug + Send + Sync {
    /// Seals one JSON text and returns the compact JWE. The future is dropped if it takes longer
    /// than [`DispatcherOptions::timeout`](super::DispatcherOptions::timeout); the message is then
    /// delivered later, and the circuit counts a failure.
    ///
    /// `pool` is the dispatcher's threads for computations.
    fn seal<'a>(&'a self, json: &'a [u8], pool: &'a CpuPool) -> SealFuture<'a>;
}

/// Seals in the pool, because the RSA operations take most of a millisecond of one core.
impl SealPayload for Sealer {
    fn seal<'a>(&'a self, json: &'a [u8], pool: &'a CpuPool) -> SealFuture<'a> {
        let (sealer, json) = (self.clone(), json.to_vec());
        Box::pin(async move {
            let sealed = pool.run(move || Sealer::seal(&sealer, &json)).await;
            let ended = || {
                SignError::Remote(RemoteError::retryable(
                    "sealing panicked or the runtime shut down",
                ))
            };
            sealed.unwrap_or_else(|| Err(ended().into()))
        })
    }
}

/// A receiver of a customer: its address, the API key for it, and the sealer of its messages.
#[derive(Clone, Debug)]
pub struct Endpoint {
    id: EndpointId,
    base: EndpointUrl,
    pub(super) api_key: Option<(HeaderName, HeaderValue)>,
    pub(super) sealer: Arc<dyn SealPayload>,
    paths: HashMap<MessageKind, String>,
    pub(super) missing_acknowledgement: Option<MissingAcknowledgement>,
    pub(super) client_certificate: Option<ClientCertificate>,
}

impl Endpoint {
    /// Creates a receiver without an API key, at the default paths below its base.
    #[must_use]
    pub fn new(id: EndpointId, base: EndpointUrl, sealer: Arc<dyn SealPayload>) -> Self {
        Self {
            id,
            base,
            api_key: None,
            sealer,
            paths: HashMap::new(),
            missing_acknowledgement: None,
            client_certificate: None,
        }
    }

    /// Returns the same receiver with an API key in the header `apikey` (Default: "Webhooks").
    ///
    /// # Errors
    /// [`EndpointError`] if the key cannot be a header value.
    pub fn with_api_key(self, value: &SecretString) -> Result<Self, EndpointError> {
        self.with_api_key_in(API_KEY.as_str(), value)
    }

    /// Returns the same receiver with an API key in the header of this name.
    ///
    /// # Errors
    /// [`EndpointError`] if the name or the key cannot be in a header, or if the header has another
    /// purpose in deliveries.
    pub fn with_api_key_in(
        mut self,
        name: &str,
        value: &SecretString,
    ) -> Result<Self, EndpointError> {
        self.api_key = Some(Self::api_key_header(name, value)?);
        Ok(self)
    }

    /// Returns the header of an API key.
    ///
    /// # Errors
    /// [`EndpointError`] if the name or the key cannot be in a header, or if the header has another
    /// purpose in deliveries.
    pub fn api_key_header(
        name: &str,
        value: &SecretString,
    ) -> Result<(HeaderName, HeaderValue), EndpointError> {
        let header = HeaderName::try_from(name).map_err(|_| EndpointError::HeaderName {
            found: name.to_owned(),
        })?;
        if is_reserved(&header) {
            return Err(EndpointError::Reserved {
                name: header.to_string(),
            });
        }
        let mut value =
            HeaderValue::try_from(value.expose_secret()).map_err(|_| EndpointError::HeaderValue)?;
        // So that no log of an HTTP library shows the key.
        value.set_sensitive(true);
        Ok((header, value))
    }

    /// Returns the same receiver with another path for one kind of message.
    #[must_use]
    pub fn with_path(mut self, kind: MessageKind, path: impl Into<String>) -> Self {
        self.paths.insert(kind, path.into());
        self
    }

    /// Returns the same receiver with its own treatment of a 2xx answer without the acknowledgement,
    /// in place of
    /// [`DispatcherOptions::missing_acknowledgement`](super::DispatcherOptions::missing_acknowledgement).
    #[must_use]
    pub fn with_missing_acknowledgement(mut self, treatment: MissingAcknowledgement) -> Self {
        self.missing_acknowledgement = Some(treatment);
        self
    }

    /// Returns the same receiver with its own client certificate, in place of
    /// [`HttpsTransportOptions::client_certificate`](super::HttpsTransportOptions::client_certificate).
    #[must_use]
    pub fn with_client_certificate(mut self, certificate: ClientCertificate) -> Self {
        self.client_certificate = Some(certificate);
        self
    }

    /// Returns the name of the receiver.
    #[must_use]
    pub fn id(&self) -> &EndpointId {
        &self.id
    }

    /// Returns the address for messages of a kind.
    #[must_use]
    pub fn url(&self, kind: MessageKind) -> url::Url {
        self.base.with_path(
            self.paths
                .get(&kind)
                .map_or(kind.default_path(), String::as_str),
        )
    }
}

/// The reason why an API key cannot be sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EndpointError {
    /// The text is not the name of a header.
    #[error("expected the name of a header, found {found:?}")]
    HeaderName {
        /// The name.
        found: String,
    },
    /// The header has another purpose in deliveries.
    #[error("expected a header that deliveries do not use, found {name}")]
    Reserved {
        /// The name.
        name: String,
    },
    /// The key has characters that a header cannot have. The error does not show the key.
    #[error("expected an API key that fits a header")]
    HeaderValue,
}

/// The receivers that a [`Dispatcher`](super::Dispatcher) knows. Cheap to clone; clones share the
/// receivers, which may change while deliveries run.
#[derive(Clone, Debug, Default)]
pub struct Endpoints {
    // Read by each delivery and written when an operator changes receivers; values are shared, so
    // that the lock is not held while a delivery runs.
    known: Arc<RwLock<BTreeMap<EndpointId, Arc<KnownEndpoint>>>>,
}

/// A receiver with its failures in a row and its slow and down flags.
#[derive(Debug)]
pub(super) struct KnownEndpoint {
    pub(super) endpoint: Endpoint,
    pub(super) breaker: Breaker,
    // Relaxed loads and stores suffice: nothing else is read by the flag's value.
    slow: AtomicBool,
    down: AtomicBool,
}

impl Endpoints {
    /// Creates an empty set of receivers.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a receiver, or replaces the one with the same name, for example with new keys or a new
    /// address. The next delivery uses it. An open circuit stays open until
    /// [`Dispatcher::resume`](super::Dispatcher::resume) or an answer closes it.
    pub fn insert(&self, endpoint: Endpoint) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        let id = endpoint.id.clone();
        let down = known.get(&id).is_some_and(|replaced| replaced.is_down());
        let new = KnownEndpoint {
            endpoint,
            breaker: Breaker::default(),
            slow: AtomicBool::new(false),
            down: AtomicBool::new(down),
        };
        known.insert(id, Arc::new(new));
    }

    /// Removes a receiver. Its messages stay in the outbox. Returns false if the receiver was not
    /// known.
    pub fn remove(&self, id: &EndpointId) -> bool {
        self.known
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(id)
            .is_some()
    }

    /// Returns true if a receiver with this name is known.
    #[must_use]
    pub fn contains(&self, id: &EndpointId) -> bool {
        self.get(id).is_some()
    }

    /// Returns the slow receivers. A receiver is slow after a delivery that takes
    /// [`DispatcherOptions::slow_after`](super::DispatcherOptions::slow_after) or longer, until one
    /// takes less.
    pub(super) fn slow(&self) -> Vec<EndpointId> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known
            .values()
            .filter(|known| known.is_slow())
            .map(|known| known.endpoint.id.clone())
            .collect()
    }

    /// Returns the receivers that are looked at until they are up again.
    pub(super) fn down(&self) -> Vec<Arc<KnownEndpoint>> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known
            .values()
            .filter(|known| known.is_down())
            .cloned()
            .collect()
    }

    /// Returns all receivers by name, as an operator sees them, with the circuits that the outbox
    /// keeps.
    pub(super) fn snapshot(
        &self,
        now: Timestamp,
        circuits: Vec<EndpointCircuit>,
    ) -> Vec<EndpointSnapshot> {
        let circuits: HashMap<_, _> = circuits
            .into_iter()
            .map(|kept| (kept.endpoint, kept.circuit))
            .collect();
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known
            .values()
            .map(|known| EndpointSnapshot {
                endpoint: known.endpoint.id.clone(),
                circuit: CircuitState::of(
                    circuits.get(&known.endpoint.id),
                    known.breaker.failures(),
                    now,
                ),
                is_slow: known.is_slow(),
            })
            .collect()
    }

    pub(super) fn get(&self, id: &EndpointId) -> Option<Arc<KnownEndpoint>> {
        self.known
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(id)
            .cloned()
    }
}

impl KnownEndpoint {
    fn is_slow(&self) -> bool {
        self.slow.load(Ordering::Relaxed)
    }

    /// Returns true if the receiver failed and is looked at until it is up again.
    pub(super) fn is_down(&self) -> bool {
        self.down.load(Ordering::Relaxed)
    }

    pub(super) fn set_down(&self, down: bool) {
        self.down.store(down, Ordering::Relaxed);
    }

    pub(super) fn set_slow(&self, slow: bool) {
        self.slow.store(slow, Ordering::Relaxed);
    }
}
