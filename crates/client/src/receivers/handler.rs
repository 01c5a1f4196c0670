//! Handlers of received messages.

use bankrail_mailbox::{Completion, EntryId, InboxEntry, LeaseOwner, TransactionalInbox};
use bankrail_values::{Clock, StoreError, Timestamp};
use bankrail_webhook::{
    Acknowledgement, DeliveryHeaders, MandateActionOutcome, MandateNotification, MessageFinding, MessageKind,
    MessageReadOptions, ParsedMessage, PaymentOutcome, QueryNotification, WebhookMessage,
};
use std::error::Error;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

/// A delivered message, as a handler gets it from the inbox.
///
/// - A handler gets each message at least once, and again after a crash between its effect and the inbox's record of
///   it. [`Delivery::id`] is the same each time.
/// - An effect that is part of the inbox's transaction ([`Handlers::transactional`]) happens exactly once.
#[derive(Clone)]
#[non_exhaustive]
pub struct Delivery<M> {
    /// The inbox's number of the message.
    pub id: EntryId,
    /// The message.
    pub message: M,
    /// The findings about the first delivery's headers, whose pointer is the header's name, and about the message.
    pub findings: Vec<MessageFinding>,
    /// The headers of the first delivery.
    pub headers: DeliveryHeaders,
    /// When the first delivery was stored.
    pub received_at: Timestamp,
    /// The earliest message with the same duplicate key and other content. Do not process a message that has one
    /// automatically: a person must decide which of the two is valid.
    pub conflicts_with: Option<EntryId>,
    /// The acknowledgement that was sent.
    pub acknowledgement: Acknowledgement,
    /// How often the message has been handed to a handler, including this time.
    pub attempt: u32,
}

impl<M: WebhookMessage> fmt::Debug for Delivery<M> {
    /// Without the message, and without the findings, which quote it.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Delivery")
            .field("id", &self.id)
            .field("kind", &M::KIND)
            .field("findings", &self.findings.len())
            .field("headers", &self.headers)
            .field("received_at", &self.received_at)
            .field("conflicts_with", &self.conflicts_with)
            .field("acknowledgement", &self.acknowledgement)
            .field("attempt", &self.attempt)
            .finish_non_exhaustive()
    }
}

/// A handler of one kind of message. Functions from a [`Delivery`] to a future implement it.
pub trait Handler<M>: Send + Sync + 'static {
    /// Handles a message. The future is dropped when it takes longer than
    /// [`WorkerOptions::handler_timeout`](super::WorkerOptions::handler_timeout).
    ///
    /// # Errors
    /// [`HandlerError`]: the message is handled again later, or becomes a dead letter.
    fn handle(&self, received: Delivery<M>) -> impl Future<Output = Result<(), HandlerError>> + Send;
}

impl<M, F, O> Handler<M> for F
where
    F: Fn(Delivery<M>) -> O + Send + Sync + 'static,
    O: Future<Output = Result<(), HandlerError>> + Send,
    M: Send,
{
    fn handle(&self, received: Delivery<M>) -> impl Future<Output = Result<(), HandlerError>> + Send {
        self(received)
    }
}

/// A handler whose effect is part of the inbox's own transaction, with an inbox of the type `I`. Functions from a
/// [`Delivery`] to a future of [`TransactionalInbox::Work`] implement it.
pub trait TransactionalHandler<M, I: TransactionalInbox>: Send + Sync + 'static {
    /// Prepares the work for a message. The work is given the open transaction; its effect and the record that the
    /// message was handled are committed together.
    ///
    /// # Errors
    /// [`HandlerError`]: the message is handled again later, or becomes a dead letter.
    fn prepare(&self, received: Delivery<M>) -> impl Future<Output = Result<I::Work, HandlerError>> + Send;
}

impl<M, I, F, O> TransactionalHandler<M, I> for F
where
    I: TransactionalInbox,
    F: Fn(Delivery<M>) -> O + Send + Sync + 'static,
    O: Future<Output = Result<I::Work, HandlerError>> + Send,
    M: Send,
{
    fn prepare(&self, received: Delivery<M>) -> impl Future<Output = Result<I::Work, HandlerError>> + Send {
        self(received)
    }
}

/// Why a message was not handled.
///
/// - `?` converts any error, as [`HandlerError::retry`] does.
/// - The inbox keeps the error's text, so the text must have nothing of the message.
/// - The causes of an error are not kept, except that of a [`StoreError`].
#[derive(Debug)]
pub struct HandlerError {
    pub(super) poison: bool,
    pub(super) error: Box<dyn Error + Send + Sync>,
}

impl HandlerError {
    /// Handling the message again can succeed.
    pub fn retry(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { poison: false, error: error.into() }
    }

    /// Handling the message again cannot succeed: it becomes a dead letter.
    pub fn poison(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { poison: true, error: error.into() }
    }

    /// The text that the inbox keeps. The cause of a store's error says what happened, without payload.
    pub(super) fn text(&self) -> String {
        match self.error.downcast_ref::<StoreError>().and_then(Error::source) {
            Some(cause) => format!("{}: {cause}", self.error),
            None => self.error.to_string(),
        }
    }
}

impl<E: Error + Send + Sync + 'static> From<E> for HandlerError {
    fn from(error: E) -> Self {
        Self::retry(error)
    }
}

/// The worker that handles an entry, and its clock.
pub(super) struct Holder {
    pub(super) owner: LeaseOwner,
    pub(super) clock: Arc<dyn Clock>,
}

/// The outcome of handling a message.
pub(super) enum Handled {
    /// The message is handled, and not yet marked as handled.
    Done,
    /// The message is handled and marked as handled.
    Committed,
    /// Another worker has the lease.
    LeaseLost,
}

type Erased = Arc<dyn Fn(InboxEntry, Holder) -> HandlerFuture + Send + Sync>;
pub(super) type HandlerFuture = Pin<Box<dyn Future<Output = Result<Handled, HandlerError>> + Send>>;

/// The handlers of a worker. Messages of a kind without a handler stay in the inbox.
#[derive(Clone, Default)]
pub struct Handlers(Vec<(MessageKind, Erased)>);

impl Handlers {
    /// An empty set of handlers.
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

    /// Handles messages of one kind with an effect in the inbox's own transaction, which therefore happens exactly
    /// once. `inbox` must be the inbox of the receivers: another store does not have their messages.
    ///
    /// ```
    /// use bankrail_client::receivers::{Handlers, Delivery};
    /// use bankrail_stores::sqlite::{SqliteInbox, Work, rusqlite};
    /// use bankrail_webhook::PaymentOutcome;
    /// use std::sync::Arc;
    ///
    /// # fn example(inbox: Arc<SqliteInbox>) -> Handlers {
    /// Handlers::new().transactional(inbox, |received: Delivery<PaymentOutcome>| async move {
    ///     let status = received.message.transaction_status.to_string();
    ///     Ok(Work::new(move |transaction| {
    ///         transaction.connection().execute("INSERT INTO paid (status) VALUES (?1)", [status])?;
    ///         Ok::<_, rusqlite::Error>(())
    ///     }))
    /// })
    /// # }
    /// ```
    #[must_use]
    pub fn transactional<M, I>(self, inbox: Arc<I>, handler: impl TransactionalHandler<M, I>) -> Self
    where
        M: WebhookMessage,
        I: TransactionalInbox + 'static,
    {
        let handler = Arc::new(handler);
        self.put::<M>(move |entry, holder| {
            let (handler, inbox) = (handler.clone(), inbox.clone());
            Box::pin(async move {
                let id = entry.id;
                let work = handler.prepare(received(entry)?).await?;
                match inbox.complete_with(id, holder.owner, work, holder.clock.now()).await? {
                    Completion::Committed => Ok(Handled::Committed),
                    Completion::LeaseLost => Ok(Handled::LeaseLost),
                    Completion::Undone(error) => Err(HandlerError::retry(error)),
                }
            })
        })
    }

    /// The kinds of messages that have a handler.
    #[must_use]
    pub fn kinds(&self) -> Vec<MessageKind> {
        self.0.iter().map(|(kind, _)| *kind).collect()
    }

    pub(super) fn handle(&self, entry: InboxEntry, holder: Holder) -> Option<HandlerFuture> {
        self.0.iter().find(|(kind, _)| kind.as_str() == entry.kind.as_str()).map(|(_, handle)| handle(entry, holder))
    }

    fn with<M: WebhookMessage>(self, handler: impl Handler<M>) -> Self {
        let handler = Arc::new(handler);
        self.put::<M>(move |entry, _| {
            let handler = handler.clone();
            Box::pin(async move { handler.handle(received(entry)?).await.map(|()| Handled::Done) })
        })
    }

    fn put<M: WebhookMessage>(
        mut self,
        handle: impl Fn(InboxEntry, Holder) -> HandlerFuture + Send + Sync + 'static,
    ) -> Self {
        self.0.retain(|(kind, _)| *kind != M::KIND);
        self.0.push((M::KIND, Arc::new(handle)));
        self
    }
}

fn received<M: WebhookMessage>(entry: InboxEntry) -> Result<Delivery<M>, HandlerError> {
    // Its length was bounded when it was received. Another version of this crate may have stored it.
    let options = MessageReadOptions::default().max_bytes(entry.body.len());
    let unreadable = || HandlerError::poison("the stored message is unreadable");
    let ParsedMessage { message, findings, .. } = M::from_json_with(&entry.body, &options).map_err(|_| unreadable())?;
    let (headers, header_findings) = DeliveryHeaders::from_attributes(&entry.attributes).ok_or_else(unreadable)?;
    Ok(Delivery {
        id: entry.id,
        message,
        findings: header_findings.into_iter().chain(findings).collect(),
        headers,
        received_at: entry.received_at,
        conflicts_with: entry.conflicts_with,
        acknowledgement: Acknowledgement::from_json(&entry.acknowledgement).map_err(|_| unreadable())?,
        attempt: entry.attempts,
    })
}

impl fmt::Debug for Handlers {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_tuple("Handlers").field(&self.kinds()).finish()
    }
}
