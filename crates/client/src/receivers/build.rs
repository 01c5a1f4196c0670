//! Settings of the receivers, checked once.

use super::crew::Crew;
use super::handler::Handlers;
use super::open::Opening;
use super::service::Receiver;
use super::worker::Worker;
use axum::Router;
use axum::routing::post_service;
use bankrail_http::names::API_KEY;
use bankrail_jose::remote::RemoteUnwrapper;
use bankrail_mailbox::Inbox;
use bankrail_secured_payload::Opener;
use bankrail_values::{Clock, SecretString, SystemClock};
use bankrail_webhook::{MessageKind, ReadOptions};
use http::HeaderName;
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;

/// The receivers of one customer. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Receivers(pub(super) Arc<Shared>);

/// What all receivers share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) opening: Opening,
    pub(super) key_header: HeaderName,
    pub(super) api_keys: Vec<SecretString>,
    pub(super) inbox: Arc<dyn Inbox>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) scope: String,
    pub(super) paths: [String; MessageKind::ALL.len()],
    pub(super) max_bytes: usize,
    pub(super) body_timeout: Duration,
    pub(super) read: ReadOptions,
    /// Wakes the workers when there is something new.
    pub(super) arrived: Arc<Notify>,
}

impl Receivers {
    /// Starts receivers that open payloads with keys in memory, expect this API key and store in this inbox.
    pub fn builder(opener: Opener, api_key: impl Into<SecretString>, inbox: Arc<dyn Inbox>) -> ReceiversBuilder {
        let cores = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        let opening = Opening::Here { opener: Arc::new(opener), crew: Arc::new(Crew::new(cores)) };
        ReceiversBuilder::new(opening, api_key.into(), inbox)
    }

    /// Starts receivers whose decryption keys live elsewhere. A delivery for which a key does not answer within 15 s, while
    /// its sender waits, is answered 500, so that it comes again.
    pub fn builder_remote<U: RemoteUnwrapper + Clone + 'static>(
        opener: Opener<U>,
        api_key: impl Into<SecretString>,
        inbox: Arc<dyn Inbox>,
    ) -> ReceiversBuilder {
        ReceiversBuilder::new(Opening::Elsewhere(Arc::new(opener)), api_key.into(), inbox)
    }

    /// The four receivers on their paths.
    pub fn router(&self) -> Router {
        let kinds = MessageKind::ALL.into_iter().zip(&self.0.paths);
        kinds.fold(Router::new(), |router, (kind, path)| router.route(path, post_service(self.receiver(kind))))
    }

    /// One receiver as a tower service, whatever the path.
    #[must_use]
    pub fn receiver(&self, kind: MessageKind) -> Receiver {
        Receiver::new(kind, self.0.clone())
    }

    /// A worker that handles what these receivers store. Several workers may share an inbox.
    #[must_use]
    pub fn worker(&self, handlers: Handlers) -> Worker {
        Worker::new(self.0.inbox.clone(), handlers, self.0.clock.clone(), self.0.arrived.clone())
    }
}

/// Settings of [`Receivers`].
pub struct ReceiversBuilder {
    opening: Opening,
    key_header: String,
    api_keys: Vec<SecretString>,
    inbox: Arc<dyn Inbox>,
    clock: Arc<dyn Clock>,
    scope: String,
    paths: [String; MessageKind::ALL.len()],
    max_bytes: usize,
    body_timeout: Duration,
    read: ReadOptions,
}

impl ReceiversBuilder {
    fn new(opening: Opening, api_key: SecretString, inbox: Arc<dyn Inbox>) -> Self {
        Self {
            opening,
            key_header: API_KEY.as_str().to_owned(),
            api_keys: vec![api_key],
            inbox,
            clock: Arc::new(SystemClock),
            scope: String::new(),
            paths: MessageKind::ALL.map(|kind| kind.default_path().to_owned()),
            max_bytes: 256 * 1024,
            body_timeout: Duration::from_secs(15),
            read: ReadOptions::default(),
        }
    }

    /// The header that carries the API key. Default: `apikey` (Default: "Webhooks").
    #[must_use]
    pub fn api_key_header(mut self, name: impl Into<String>) -> Self {
        self.key_header = name.into();
        self
    }

    /// Accepts another API key too, while the sender changes from one to the other.
    #[must_use]
    pub fn also_api_key(mut self, api_key: impl Into<SecretString>) -> Self {
        self.api_keys.push(api_key.into());
        self
    }

    /// The path of a receiver. Defaults: [`MessageKind::default_path`].
    #[must_use]
    pub fn path(mut self, kind: MessageKind, path: impl Into<String>) -> Self {
        if let Some((_, own)) = MessageKind::ALL.into_iter().zip(&mut self.paths).find(|(own, _)| *own == kind) {
            *own = path.into();
        }
        self
    }

    /// Tells customers apart that share an inbox: part of every duplicate key. Default: empty.
    #[must_use]
    pub fn scope(mut self, scope: impl Into<String>) -> Self {
        self.scope = scope.into();
        self
    }

    /// The most bytes of a request body. Default: 256 KiB.
    #[must_use]
    pub fn max_bytes(mut self, bytes: usize) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// How long a body may take to arrive. Default: 15 s, the time that a sender waits for the answer.
    #[must_use]
    pub fn body_timeout(mut self, longest: Duration) -> Self {
        self.body_timeout = longest;
        self
    }

    /// How messages are read. Default: tolerant.
    #[must_use]
    pub fn read_options(mut self, options: ReadOptions) -> Self {
        self.read = options;
        self
    }

    /// How many payloads are decrypted at once, each on one core. Default: as many as there are cores. No effect for a
    /// key that lives elsewhere.
    #[must_use]
    pub fn concurrency(mut self, payloads: NonZeroUsize) -> Self {
        if let Opening::Here { crew, .. } = &mut self.opening {
            *crew = Arc::new(Crew::new(payloads));
        }
        self
    }

    /// The clock that dates arrivals and leases. Default: the system's.
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// Checks the settings.
    ///
    /// # Errors
    /// [`ReceiversError`].
    pub fn build(self) -> Result<Receivers, ReceiversError> {
        let key_header = HeaderName::try_from(self.key_header.as_str())
            .map_err(|_| ReceiversError::HeaderName { found: bankrail_values::excerpt(&self.key_header) })?;
        if self.api_keys.iter().any(|key| key.expose_secret().is_empty()) {
            return Err(ReceiversError::EmptyApiKey);
        }
        for (at, path) in self.paths.iter().enumerate() {
            let plain = path.starts_with('/') && !path.contains(['{', '}', '*', ':', '?', '#']);
            if !plain || self.paths.iter().take(at).any(|earlier| earlier == path) {
                return Err(ReceiversError::Path { found: bankrail_values::excerpt(path) });
            }
        }
        Ok(Receivers(Arc::new(Shared {
            opening: self.opening,
            key_header,
            api_keys: self.api_keys,
            inbox: self.inbox,
            clock: self.clock,
            scope: self.scope,
            paths: self.paths,
            max_bytes: self.max_bytes,
            body_timeout: self.body_timeout,
            read: self.read,
            arrived: Arc::new(Notify::new()),
        })))
    }
}

impl fmt::Debug for ReceiversBuilder {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("ReceiversBuilder")
            .field("key_header", &self.key_header)
            .field("paths", &self.paths)
            .field("max_bytes", &self.max_bytes)
            .finish_non_exhaustive()
    }
}

/// Settings that make no receivers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReceiversError {
    /// Not the name of a header.
    #[error("expected the name of a header, found {found}")]
    HeaderName {
        /// The text, cut and escaped.
        found: String,
    },
    /// An empty API key would be matched by an empty header.
    #[error("expected an API key, found an empty text")]
    EmptyApiKey,
    /// A path that does not begin with a slash, has a pattern in it, or is another receiver's.
    #[error("expected a plain path of its own for each receiver, found {found}")]
    Path {
        /// The text, cut and escaped.
        found: String,
    },
}
