//! The four webhook receivers, as an axum [`Router`] and as plain tower services, and
//! the worker that handles the stored messages (Specification: "Webhook receivers").
//!
//! A delivery passes, in this order: the API key, the size limit, the headers, the envelope,
//! decryption and verification, the message of the receiver's own kind, the inbox. Then the
//! receiver answers 200 with the acknowledgement. After that, a [`Worker`] takes the message from
//! the inbox and handles it.
//!
//! | what | answer |
//! |---|---|
//! | the message is stored, by this delivery or an earlier one | 200, the stored acknowledgement |
//! | the same duplicate key with other content | 200, a new acknowledgement; the message goes to [`Handlers::on_conflict`] |
//! | the API key is wrong or absent | 401, empty |
//! | malformed, unauthentic, another kind of message, a required header absent | 400, always the same body |
//! | not `POST` | 405, empty |
//! | the body did not arrive in time | 408, empty |
//! | the body is larger than allowed | 413, empty |
//! | not `application/json` | 415, empty |
//! | the inbox or a remote decryption key failed | 500 |
//!
//! ```
//! # #[cfg(any(feature = "aws-lc", feature = "josekit"))]
//! # fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use bankrail_client::receivers::{
//!     Conflict, Delivery, HandlerError, Handlers, Receivers, ReceiversOptions, WorkerOptions,
//! };
//! use bankrail_jose::{RsaSize, SigningKey, DecryptionKey};
//! use bankrail_secured_payload::{OpenOptions, Opener};
//! use bankrail_stores::sqlite::{SqliteOptions, SqliteStore};
//! use bankrail_webhook::PaymentOutcome;
//! use std::sync::Arc;
//!
//! async fn paid(outcome: Delivery<PaymentOutcome>) -> Result<(), HandlerError> {
//!     println!("{}: {}", outcome.headers.message_id, outcome.message.transaction_status);
//!     Ok(())
//! }
//!
//! async fn contradicted(received: Delivery<Conflict>) -> Result<(), HandlerError> {
//!     eprintln!("message {} contradicts message {}", received.id, received.message.with);
//!     Ok(())
//! }
//!
//! let (mine, theirs) = (DecryptionKey::generate(RsaSize::Rsa2048)?, SigningKey::generate(RsaSize::Rsa2048)?);
//! let inbox = Arc::new(SqliteStore::open_in_memory(SqliteOptions::new())?.inbox());
//! let opener = Opener::new(mine, theirs.verifying_key(), OpenOptions::new())?;
//! let receivers = Receivers::new(opener, "our-api-key", inbox, ReceiversOptions::new())?;
//! let router: axum::Router = receivers.router();
//! // Without `on_conflict` a message that contradicts an earlier one becomes a dead letter.
//! let handlers = Handlers::new().on(paid).on_conflict(contradicted);
//! let worker = receivers.worker(handlers, WorkerOptions::new());
//! // `serve::Server` of `bankrail-http` serves the router, and beside it `worker.run(stop)` handles the messages.
//! # let _ = (router, worker);
//! # Ok(())
//! # }
//! # #[cfg(any(feature = "aws-lc", feature = "josekit"))]
//! # example().unwrap();
//! ```
//!
//! The history of a mandate or payment can be in the inbox's store, and change in the transaction
//! that marks the message as handled. A message in conflict does not change it, because another
//! handler gets it:
//!
//! ```
//! use bankrail_client::receivers::{Delivery, Handlers};
//! use bankrail_stores::sqlite::{SqliteInbox, SqliteWork};
//! use bankrail_webhook::MandateNotification;
//!
//! # fn example() -> Handlers<SqliteInbox> {
//! Handlers::new().on_transactional(|received: Delivery<MandateNotification>| async move {
//!     let message = received.message.into();
//!     Ok(SqliteWork::new(move |transaction| transaction.apply_history("", &message, received.received_at).map(|_| ())))
//! })
//! # }
//! ```
//!
//! `SqliteStore::histories` then finds them by id, lists them by state, and reports changes. An
//! [`OutcomeWatch`] over them warns of announced outcomes that do not arrive.
//!
//! The answer shows the sender no reason of a refusal. The log has the reason for the operator.
//! [`ReceiversOptions::observe`] notifies a program of the outcome of each delivery, with the stage
//! that it did not pass.
//!
//! Handled messages stay stored, so that duplicates are recognised. They stay without end, unless
//! [`ReceiversOptions::retention`] or a retention of the inbox is set, or the caller runs
//! [`Inbox::forget`]. Keep them longer than a sender delivers a
//! message: published schedules take some three days, and a sender may resend dead letters later.
//! Messages that are older than the retention are refused, because the inbox would treat a
//! forgotten one as new. Dead letters of the inbox stay until they are resent.

mod delivery;
mod handler;
pub mod keys;
mod observe;
mod options;
mod outcomes;
mod refusal;
mod service;
mod worker;

/// The crate of the router, with the requests of `http` that a [`Receiver`] takes.
pub use axum;

pub use handler::{Conflict, Delivery, Handler, HandlerError, Handlers, TransactionalHandler};
pub use observe::{DeliveryStage, ObservedDelivery, ObservedOutcome};
pub use options::ReceiversOptionsError;
pub use outcomes::{OutcomeWatch, OutcomeWatchOptions};
pub use service::Receiver;
pub use worker::{Worker, WorkerCheckError, WorkerCounts, WorkerOptions};

use crate::Archive;
use axum::Router;
use bankrail_http::names::API_KEY;
use bankrail_http::{__private::LineBound, CpuPool, HeadBounds, HeadBoundsLayer, HeadError};
use bankrail_jose::remote::RemoteDecrypter;
use bankrail_mailbox::Inbox;
use bankrail_secured_payload::{Opener, SecuredPayload};
use bankrail_values::{Clock, SecretString, SystemClock};
use bankrail_webhook::{DeliveryHeaders, EachKind, MessageKind, MessageReadOptions};
use delivery::OpeningKey;
use http::request::Parts;
use http::{HeaderName, StatusCode};
use keys::SenderKeys;
use observe::Observer;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;

bankrail_values::options! {
    /// Options of [`Receivers`].
    #[derive(Clone, Debug)]
    pub struct ReceiversOptions {
        /// The header that carries the API key. Default: `apikey` (Default: "Webhooks").
        api_key_header(into): String = API_KEY.as_str().to_owned(),
        /// The clock of arrival times, ages and leases. Default: the system's.
        clock: Arc<dyn Clock> = Arc::new(SystemClock),
        /// A name that distinguishes customers who share an inbox. It is part of every duplicate
        /// key. Default: empty.
        scope(into): String = String::new(),
        /// The most bytes of a request body. Default: [`SecuredPayload::DEFAULT_MAX_JSON_BYTES`],
        /// enough for the longest message that a sender seals by default.
        max_body_bytes: usize = SecuredPayload::DEFAULT_MAX_JSON_BYTES,
        /// The maximum time in which a body has to arrive. Default: 15 s, the time that a sender
        /// waits for the answer.
        body_timeout: Duration = Duration::from_secs(15),
        /// The bounds on the address and the headers of a request to the router; longer ones are
        /// answered 414 and 431 without a body. The server must allow more, so that it does not
        /// answer by itself. Default: [`HeadBounds::default`].
        head_bounds: HeadBounds = HeadBounds::default(),
        /// The maximum number of payloads that are decrypted at once. Default: the number of cores.
        /// It has no effect on remote keys.
        concurrency(NonZeroUsize => Some): Option<NonZeroUsize> = None,
        /// The retention of messages after they were handled. Default: without end, unless the
        /// inbox has a retention ([`Inbox::retention`]).
        ///
        /// Once an hour, a worker forgets those that were handled longer ago than this and
        /// [`EXPIRY_GRACE`](bankrail_values::EXPIRY_GRACE) ([`Inbox::forget`]). A forgotten message
        /// that is delivered again counts as new, unless it is too old
        /// ([`ReceiversOptions::max_age`]).
        retention(Duration => Some): Option<Duration> = None,
        /// The options for reading messages. Default: tolerant.
        read_options: MessageReadOptions = MessageReadOptions::default(),
        /// The source of the sender's verifying keys. When a message with any `kid` is
        /// rejected, the source reads new keys; if there are some, the message is opened once more.
        /// Default: none; such a message is refused.
        ///
        /// Give the opener the keys of the same source: it may be a
        /// [`KeyFolder`](keys::KeyFolder) or, with the feature `jwks-url`, a `JwksUrl`.
        sender_keys(Arc<dyn SenderKeys> => Some): Option<Arc<dyn SenderKeys>> = None,
        /// The archive for the bodies of deliveries that have the API key and are refused with a
        /// status from 400 to 499, each with the reason. Default: nowhere.
        archive(Archive => Some): Option<Archive> = None,
        /// The maximum age of a message: one whose `creation_date_time` is longer ago is refused
        /// with 400. At most the retention, so that a forgotten message cannot be handled again.
        /// `None`: messages of any age are accepted.
        ///
        /// Default: the shorter of [`ReceiversOptions::retention`] and [`Inbox::retention`];
        /// without either, any age. A sender that resends a message later regenerates it, with a
        /// new `creation_date_time`.
        max_age(Option<Duration> => |age| age.map_or(MaxAge::Any, MaxAge::Of)): MaxAge = MaxAge::AsRetention,
        ;
        other_api_keys: Vec<SecretString> = Vec::new(),
        paths: EachKind<String> = EachKind::from_fn(|kind| kind.default_path().to_owned()),
        observer: Option<Observer> = None,
    }
}

#[derive(Clone, Copy, Debug)]
enum MaxAge {
    AsRetention,
    Any,
    Of(Duration),
}

/// The receivers of one customer, over an inbox of the type `I`. Cheap to clone.
///
/// An inbox that is chosen when the program runs is a `dyn Inbox`, which is the default of `I`.
#[derive(Debug)]
pub struct Receivers<I: ?Sized = dyn Inbox>(Arc<ReceiverState<I>>);

/// The state that all receivers share.
#[derive(Debug)]
struct ReceiverState<I: ?Sized> {
    /// The threads on which payloads are opened and read.
    pool: CpuPool,
    key: OpeningKey,
    key_header: HeaderName,
    api_key: SecretString,
    inbox: Arc<I>,
    options: ReceiversOptions,
    /// The maximum age of a message.
    max_age: Option<Duration>,
    /// Wakes the workers when a new message is stored.
    arrived: Arc<Notify>,
    /// Bounds the lines about deliveries without the API key.
    strangers: LineBound,
}

impl<I: ?Sized> ReceiverState<I> {
    /// Notifies the operator's observer of a delivery.
    fn observed(
        &self,
        kind: MessageKind,
        headers: Option<DeliveryHeaders>,
        outcome: ObservedOutcome,
        status: StatusCode,
    ) {
        if let Some(observer) = &self.options.observer {
            observer.notify(&ObservedDelivery {
                kind,
                headers,
                outcome,
                status: status.as_u16(),
            });
        }
    }
}

impl<I: ?Sized> Clone for Receivers<I> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<I: Inbox + ?Sized + 'static> Receivers<I> {
    /// Receivers that open payloads with keys in memory, expect this API key and store messages in
    /// this inbox.
    ///
    /// # Errors
    /// [`ReceiversOptionsError`] if the API key or the options are unusable.
    pub fn new(
        opener: Opener,
        api_key: impl Into<SecretString>,
        inbox: Arc<I>,
        options: ReceiversOptions,
    ) -> Result<Self, ReceiversOptionsError> {
        // The JSON is read as a message anyway.
        Self::with(
            OpeningKey::Here(Arc::new(opener.without_json_check())),
            api_key.into(),
            inbox,
            options,
        )
    }

    /// Receivers whose decryption keys are remote, such as in a key service. If a key does not
    /// answer within 15 s, the delivery is answered 500, so that the sender makes it again.
    ///
    /// # Errors
    /// [`ReceiversOptionsError`] if the API key or the options are unusable.
    pub fn remote<U: RemoteDecrypter + Clone + 'static>(
        opener: Opener<U>,
        api_key: impl Into<SecretString>,
        inbox: Arc<I>,
        options: ReceiversOptions,
    ) -> Result<Self, ReceiversOptionsError> {
        Self::with(
            OpeningKey::Remote(Arc::new(opener.without_json_check())),
            api_key.into(),
            inbox,
            options,
        )
    }

    fn with(
        key: OpeningKey,
        api_key: SecretString,
        inbox: Arc<I>,
        options: ReceiversOptions,
    ) -> Result<Self, ReceiversOptionsError> {
        let key_header = options.checked(&api_key)?;
        let max_age = options.checked_max_age(inbox.retention())?;
        let pool = options
            .concurrency
            .map_or_else(CpuPool::default, CpuPool::new);
        Ok(Self(Arc::new(ReceiverState {
            pool,
            key,
            key_header,
            api_key,
            inbox,
            options,
            max_age,
            arrived: Arc::default(),
            strangers: LineBound::default(),
        })))
    }

    /// A receiver for each kind of message, on its path, with the bounds on the head of a request
    /// ([`ReceiversOptions::head_bounds`]). Other methods than `POST` are the receiver's to refuse.
    pub fn router(&self) -> Router {
        let paths = self.0.options.paths.iter();
        let routes = paths.fold(Router::new(), |router, (kind, path)| {
            router.route_service(path, self.receiver(kind))
        });
        let shared = self.0.clone();
        let too_long =
            move |fault: HeadError, head: &Parts| service::head_refused(&shared, fault, head);
        routes.layer(HeadBoundsLayer::new(self.0.options.head_bounds, too_long))
    }

    /// One receiver as a tower service. It accepts any path, and does not bound the head of a
    /// request.
    #[must_use]
    pub fn receiver(&self, kind: MessageKind) -> Receiver<I> {
        Receiver::new(kind, self.0.clone())
    }

    /// A worker that handles what these receivers store. Several workers may share an inbox.
    #[must_use = "a worker handles messages while its `run` is awaited"]
    pub fn worker(&self, handlers: Handlers<I>, options: WorkerOptions) -> Worker<I> {
        let own = &self.0.options;
        Worker::new(
            self.0.inbox.clone(),
            handlers,
            own.clock.clone(),
            self.0.arrived.clone(),
            own.retention,
            options,
        )
    }
}
