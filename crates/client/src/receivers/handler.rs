//! What a customer does with a message.

use bankrail_values::Timestamp;
use bankrail_webhook::{
    Acknowledgement, DeliveryHeaders, EntryId, Finding, InboxEntry, MandateActionOutcome, MandateNotification,
    MessageKind, Owner, Parsed, PaymentOutcome, QueryNotification, WebhookMessage,
};
use std::error::Error;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

/// A message from the inbox, on its way to a handler.
///
/// It comes at least once: after a crash between a handler's effect and the inbox's note of it, it comes again.
/// [`Received::id`] stays the same then.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Received<M> {
    /// The inbox's number of the message.
    pub id: EntryId,
    /// The message.
    pub message: M,
    /// What is odd about the message.
    pub findings: Vec<Finding>,
    /// The headers of the first delivery.
    pub headers: DeliveryHeaders,
    /// When the first delivery was stored.
    pub received_at: Timestamp,
    /// The earliest message with the same duplicate key and other content. Such a message is not to be processed like
    /// any other: somebody must find out which of the two holds.
    pub conflicts_with: Option<EntryId>,
    /// What was answered.
    pub acknowledgement: Acknowledgement,
    /// The how-many-th attempt to handle it this is, from 1.
    pub attempt: u32,
    /// Who holds the message: for a handler that marks it handled within a transaction of its own; see
    /// [`Handled::Committed`].
    pub owner: Owner,
}

/// What a handler made of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Handled {
    /// It is done with; the worker marks it handled. `()` means the same.
    Done,
    /// The handler has marked it handled itself, in one transaction with its effect, which is thereby exactly once.
    Committed,
}

impl From<()> for Handled {
    fn from((): ()) -> Self {
        Self::Done
    }
}

/// A handler of one kind of message. Any function of a [`Received`] message that returns a future will do.
pub trait Handler<M>: Send + Sync + 'static {
    /// Handles a message. The future is dropped when it takes longer than
    /// [`WorkerOptions::handler_timeout`](super::WorkerOptions::handler_timeout).
    ///
    /// # Errors
    /// [`HandlerError`]: whether the message comes again or is set aside.
    fn handle(&self, received: Received<M>) -> impl Future<Output = Result<Handled, HandlerError>> + Send;
}

impl<M, F, O, T> Handler<M> for F
where
    F: Fn(Received<M>) -> O + Send + Sync + 'static,
    O: Future<Output = Result<T, HandlerError>> + Send,
    T: Into<Handled>,
    M: Send,
{
    fn handle(&self, received: Received<M>) -> impl Future<Output = Result<Handled, HandlerError>> + Send {
        let work = self(received);
        async move { work.await.map(Into::into) }
    }
}

/// Why a message was not handled.
///
/// `?` makes one out of any error, to be tried again. Its text is kept in the inbox: it must hold nothing of the message.
#[derive(Debug)]
pub struct HandlerError {
    pub(super) poison: bool,
    pub(super) error: Box<dyn Error + Send + Sync>,
}

impl HandlerError {
    /// Trying again can help.
    pub fn retry(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { poison: false, error: error.into() }
    }

    /// Trying again cannot help: the message is set aside, visible, until somebody looks into it.
    pub fn poison(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { poison: true, error: error.into() }
    }
}

impl<E: Error + Send + Sync + 'static> From<E> for HandlerError {
    fn from(error: E) -> Self {
        Self::retry(error)
    }
}

type Erased = Arc<dyn Fn(InboxEntry, Owner) -> HandlerFuture + Send + Sync>;
pub(super) type HandlerFuture = Pin<Box<dyn Future<Output = Result<Handled, HandlerError>> + Send>>;

/// The handlers of a worker. Messages of a kind without a handler stay in the inbox.
#[derive(Clone, Default)]
pub struct Handlers(Vec<(MessageKind, Erased)>);

impl Handlers {
    /// No handler yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Handles the outcomes of mandate actions.
    #[must_use]
    pub fn mandate_outcome(self, handler: impl Handler<MandateActionOutcome>) -> Self {
        self.with(handler)
    }

    /// Handles payers' actions on mandates.
    #[must_use]
    pub fn mandate_notification(self, handler: impl Handler<MandateNotification>) -> Self {
        self.with(handler)
    }

    /// Handles the outcomes of payment instructions.
    #[must_use]
    pub fn payment_outcome(self, handler: impl Handler<PaymentOutcome>) -> Self {
        self.with(handler)
    }

    /// Handles payers' queries.
    #[must_use]
    pub fn query(self, handler: impl Handler<QueryNotification>) -> Self {
        self.with(handler)
    }

    /// The kinds that have a handler.
    #[must_use]
    pub fn kinds(&self) -> Vec<MessageKind> {
        self.0.iter().map(|(kind, _)| *kind).collect()
    }

    pub(super) fn handle(&self, entry: InboxEntry, owner: Owner) -> Option<HandlerFuture> {
        self.0.iter().find(|(kind, _)| *kind == entry.kind).map(|(_, handle)| handle(entry, owner))
    }

    fn with<M: WebhookMessage>(mut self, handler: impl Handler<M>) -> Self {
        let handler = Arc::new(handler);
        let erased: Erased = Arc::new(move |entry, owner| {
            let handler = handler.clone();
            Box::pin(async move { handler.handle(received(entry, owner)?).await })
        });
        self.0.retain(|(kind, _)| *kind != M::KIND);
        self.0.push((M::KIND, erased));
        self
    }
}

fn received<M: WebhookMessage>(entry: InboxEntry, owner: Owner) -> Result<Received<M>, HandlerError> {
    // It was read before it was stored. Another version of this crate may have stored it.
    let Parsed { message, findings, .. } =
        M::from_json(&entry.body).map_err(|_| HandlerError::poison("the stored message is unreadable"))?;
    Ok(Received {
        id: entry.id,
        message,
        findings,
        headers: entry.headers,
        received_at: entry.received_at,
        conflicts_with: entry.conflicts_with,
        acknowledgement: entry.acknowledgement,
        attempt: entry.attempts,
        owner,
    })
}

impl fmt::Debug for Handlers {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_tuple("Handlers").field(&self.kinds()).finish()
    }
}
