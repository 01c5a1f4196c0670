//! A sealed delivery: the state that all receivers share, and the opening and reading of a message
//! off the asynchronous threads.

use super::observe::{ObservedDelivery, ObservedOutcome};
use super::options::ReceiversOptions;
use super::refusal::{Refusal, Unopened};
use axum::body::Bytes;
use bankrail_http::{__private::LineBound, CpuPool};
use bankrail_jose::remote::RemoteDecrypter;
use bankrail_mailbox::{DEFAULT_TIME_OUT, Inbox, Incoming};
use bankrail_secured_payload::{OpenError, Opened, Opener, SecuredPayload, unverified_kid};
use bankrail_values::{HyphenatedUuid, SecretString, Timestamp};
use bankrail_webhook::{Acknowledgement, DeliveryHeaders, Message, MessageFinding, MessageKind};
use http::{HeaderName, StatusCode};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;

/// The state that all receivers share.
#[derive(Debug)]
pub(super) struct ReceiverState<I: ?Sized> {
    pub(super) opening: Opening,
    pub(super) key_header: HeaderName,
    pub(super) api_key: SecretString,
    pub(super) inbox: Arc<I>,
    pub(super) options: ReceiversOptions,
    /// The maximum age of a message.
    pub(super) max_age: Option<Duration>,
    /// Wakes the workers when a new message is stored.
    pub(super) arrived: Arc<Notify>,
    /// Bounds the lines about deliveries without the API key.
    pub(super) strangers: LineBound,
}

impl<I: ?Sized> ReceiverState<I> {
    /// Notifies the operator's observer of a delivery.
    pub(super) fn observed(
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

/// A delivery whose headers were read and whose message is sealed. The headers are checked before
/// the RSA operations, which take most of a millisecond.
pub(super) struct Sealed<I: ?Sized> {
    pub(super) kind: MessageKind,
    pub(super) shared: Arc<ReceiverState<I>>,
    pub(super) headers: DeliveryHeaders,
    pub(super) findings: Vec<MessageFinding>,
    pub(super) body: Bytes,
    pub(super) now: Timestamp,
}

/// A message to store, and the number of its findings.
pub(super) type Read = (Incoming, usize);

impl<I: Inbox + ?Sized> Sealed<I> {
    /// Opens the message with keys in memory, and reads it.
    fn open(&self, opener: &Opener) -> Result<Read, Refusal> {
        // The envelope is judged first: it costs no private-key operation.
        let compact = self.compact()?;
        let opened = opener.open(&compact);
        let not_opened = |error| {
            Refusal::NotOpened(Unopened {
                error,
                kid: unverified_kid(&compact),
            })
        };
        self.read(opened.map_err(not_opened)?)
    }

    /// Returns the compact message in the envelope.
    fn compact(&self) -> Result<String, Refusal> {
        SecuredPayload::from_json(&self.body)
            .map(|envelope| envelope.secured_payload)
            .map_err(|_| Refusal::Envelope)
    }

    /// Reads an opened message.
    fn read(&self, opened: Opened) -> Result<Read, Refusal> {
        let options = &self.shared.options;
        let parsed = Message::from_json_with(self.kind, opened.json(), &options.read)
            .map_err(Refusal::Message)?;
        let age = self
            .now
            .saturating_since(parsed.message.creation_date_time());
        // A message that the inbox may have forgotten would be handled twice.
        if self.shared.max_age.is_some_and(|most| age > most) {
            return Err(Refusal::TooOld);
        }
        let acknowledgement = Acknowledgement::received(HyphenatedUuid::random());
        let (headers, body) = (&self.headers, opened.into_json());
        let incoming = parsed.message.incoming(
            &options.scope,
            headers,
            &self.findings,
            body,
            &acknowledgement,
        );
        Ok((incoming, self.findings.len() + parsed.findings.len()))
    }
}

/// The keys that open payloads, and the threads on which they are opened and read.
#[derive(Clone)]
pub(super) struct Opening {
    pub(super) pool: CpuPool,
    pub(super) key: OpeningKey,
}

/// The keys that open payloads.
#[derive(Clone)]
pub(super) enum OpeningKey {
    /// Keys in memory. The private-key operation takes most of a millisecond of one core.
    Here(Arc<Opener>),
    Remote(Arc<dyn OpenRemote>),
}

type OpenFuture<'a> = Pin<Box<dyn Future<Output = Result<Opened, OpenError>> + Send + 'a>>;

pub(super) trait OpenRemote: Send + Sync {
    fn open<'a>(&'a self, compact: &'a str) -> OpenFuture<'a>;
}

impl<U: RemoteDecrypter + Clone> OpenRemote for Opener<U> {
    fn open<'a>(&'a self, compact: &'a str) -> OpenFuture<'a> {
        Box::pin(self.open_remote(compact))
    }
}

impl Opening {
    /// Opens and reads a delivery. [`Refusal::NoAnswer`] if the runtime is shutting down, opening
    /// panicked, or a remote key did not answer while the sender waits (Default: "Webhooks", a
    /// time-out of 15 s).
    pub(super) async fn open<I: Inbox + ?Sized + 'static>(
        &self,
        sealed: &Arc<Sealed<I>>,
    ) -> Result<Read, Refusal> {
        let own = Arc::clone(sealed);
        let opener = match &self.key {
            OpeningKey::Here(opener) => {
                let opener = Arc::clone(opener);
                return self
                    .pool
                    .run(move || own.open(&opener))
                    .await
                    .unwrap_or(Err(Refusal::NoAnswer));
            }
            OpeningKey::Remote(opener) => opener,
        };
        let compact = self
            .pool
            .run(move || own.compact())
            .await
            .ok_or(Refusal::NoAnswer)??;
        // A sender waits no longer than this for its answer, and delivers again.
        let opened = tokio::time::timeout(DEFAULT_TIME_OUT, opener.open(&compact)).await;
        let opened = opened.map_err(|_| Refusal::NoAnswer)?;
        let opened = opened.map_err(|error| {
            Refusal::NotOpened(Unopened {
                error,
                kid: unverified_kid(&compact),
            })
        })?;
        let own = Arc::clone(sealed);
        self.pool
            .run(move || own.read(opened))
            .await
            .unwrap_or(Err(Refusal::NoAnswer))
    }
}

impl fmt::Debug for Opening {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self.key {
            OpeningKey::Here(_) => "Here",
            OpeningKey::Remote(_) => "Remote",
        })
    }
}
