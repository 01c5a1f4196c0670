//! A sealed delivery: the opening and reading of its message off the asynchronous threads.

use super::ReceiverState;
use super::refusal::{Refusal, Unopened};
use axum::body::Bytes;
use bankrail_jose::remote::RemoteDecrypter;
use bankrail_mailbox::{DEFAULT_TIME_OUT, Inbox, Incoming};
use bankrail_secured_payload::{OpenError, Opened, Opener, SecuredPayload};
use bankrail_values::{HyphenatedUuid, Timestamp};
use bankrail_webhook::{Acknowledgement, DeliveryHeaders, Message, MessageFinding, MessageKind};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

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
pub(super) type OpenedMessage = (Incoming, usize);

impl<I: Inbox + ?Sized + 'static> Sealed<I> {
    /// Opens and reads the delivery. [`Refusal::NoAnswer`] if the runtime is shutting down, opening
    /// panicked, or a remote key did not answer while the sender waits (Default: "Webhooks", a
    /// time-out of 15 s).
    pub(super) async fn open(self: &Arc<Self>) -> Result<OpenedMessage, Refusal> {
        let (pool, own) = (&self.shared.pool, Arc::clone(self));
        let opener = match &self.shared.key {
            OpeningKey::Here(opener) => {
                let opener = Arc::clone(opener);
                let opened = pool.run(move || own.open_here(&opener)).await;
                return opened.unwrap_or(Err(Refusal::NoAnswer));
            }
            OpeningKey::Remote(opener) => opener,
        };
        let compact = pool.run(move || own.compact()).await;
        let compact = compact.ok_or(Refusal::NoAnswer)??;
        // A sender waits no longer than this for its answer, and delivers again.
        let opened = tokio::time::timeout(DEFAULT_TIME_OUT, opener.open(&compact)).await;
        let opened = opened.map_err(|_| Refusal::NoAnswer)?;
        let opened = opened.map_err(|error| Unopened::refusal(error, &compact))?;
        let own = Arc::clone(self);
        let read = pool.run(move || own.read(opened)).await;
        read.unwrap_or(Err(Refusal::NoAnswer))
    }

    /// Opens the message with keys in memory, and reads it.
    fn open_here(&self, opener: &Opener) -> Result<OpenedMessage, Refusal> {
        // The envelope is judged first: it costs no private-key operation.
        let compact = self.compact()?;
        let opened = opener.open(&compact);
        self.read(opened.map_err(|error| Unopened::refusal(error, &compact))?)
    }

    /// Returns the compact message in the envelope.
    fn compact(&self) -> Result<String, Refusal> {
        SecuredPayload::from_json(&self.body)
            .map(|envelope| envelope.secured_payload)
            .map_err(|_| Refusal::Envelope)
    }

    /// Reads an opened message.
    fn read(&self, opened: Opened) -> Result<OpenedMessage, Refusal> {
        let options = &self.shared.options;
        let parsed = Message::from_json_with(self.kind, opened.json(), &options.read_options)
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

/// The keys that open payloads.
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

impl fmt::Debug for OpeningKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            OpeningKey::Here(_) => "Here",
            OpeningKey::Remote(_) => "Remote",
        })
    }
}
