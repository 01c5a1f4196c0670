//! The receivers of one customer.

use super::delivery::{Opening, OpeningKey, ReceiverState};
use super::handler::Handlers;
use super::options::{ReceiversOptions, ReceiversOptionsError};
use super::service::{self, Receiver};
use super::worker::{Worker, WorkerOptions};
use axum::Router;
use bankrail_http::{__private::LineBound, CpuPool, HeadBoundsLayer, HeadError};
use bankrail_jose::remote::RemoteDecrypter;
use bankrail_mailbox::Inbox;
use bankrail_secured_payload::Opener;
use bankrail_values::SecretString;
use bankrail_webhook::MessageKind;
use http::request::Parts;
use std::sync::Arc;

/// The receivers of one customer, over an inbox of the type `I`. Cheap to clone.
///
/// An inbox that is chosen when the program runs is a `dyn Inbox`, which is the default of `I`.
#[derive(Debug)]
pub struct Receivers<I: ?Sized = dyn Inbox>(Arc<ReceiverState<I>>);

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
        let opening = Opening {
            pool: options
                .concurrency
                .map_or_else(CpuPool::default, CpuPool::new),
            key,
        };
        Ok(Self(Arc::new(ReceiverState {
            opening,
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
