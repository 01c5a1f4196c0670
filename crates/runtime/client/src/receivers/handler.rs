//! Handlers of received messages.

use crate::handling::Returns;
use bankrail_mailbox::{Completion, EntryId, Inbox, InboxEntry, LeaseOwner, TransactionalInbox};
use bankrail_values::{Clock, StoreError, StoreErrorKind, Timestamp};
use bankrail_webhook::{
    Acknowledgement, DeliveryHeaders, Message, MessageError, MessageFinding, MessageKind,
    MessageReadOptions, ParsedMessage, WebhookMessage,
};
use std::convert::identity;
use std::error::Error;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

/// A delivered message, as a handler gets it from the inbox.
///
/// - A handler gets each message at least once, and again after a crash between its effect and the
///   inbox's record of it. [`Delivery::id`] is the same each time.
/// - An effect that is part of the inbox's transaction ([`Handlers::on_transactional`]) happens
///   exactly once.
#[derive(Clone)]
#[non_exhaustive]
pub struct Delivery<M> {
    /// The inbox's number of the message.
    pub id: EntryId,
    /// The message.
    pub message: M,
    /// The findings about the first delivery's headers, whose pointer is the header's name, and
    /// about the message.
    pub findings: Vec<MessageFinding>,
    /// The headers of the first delivery.
    pub headers: DeliveryHeaders,
    /// The time at which the first delivery was stored.
    pub received_at: Timestamp,
    /// The earlier message that announced this result: a mandate outcome with the same `request_id`
    /// and the action status `PEND`. The earlier message was handled before, or became a dead
    /// letter. `None` also if the announcement arrives only after this message was handled.
    pub follows: Option<EntryId>,
    /// The acknowledgement that was sent.
    pub acknowledgement: Acknowledgement,
    /// The number of times that the message has been handed to a handler, including this time.
    pub attempt: u32,
}

impl<M> fmt::Debug for Delivery<M> {
    /// Prints neither the message nor the findings, which quote it.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Delivery")
            .field("id", &self.id)
            .field("findings", &self.findings.len())
            .field("headers", &self.headers)
            .field("received_at", &self.received_at)
            .field("follows", &self.follows)
            .field("acknowledgement", &self.acknowledgement)
            .field("attempt", &self.attempt)
            .finish_non_exhaustive()
    }
}

/// A message that contradicts an earlier one, with the same duplicate key and other content. A
/// person must decide which one is valid.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Conflict {
    /// The message that arrived later.
    pub message: Message,
    /// The inbox's number of the earlier message ([`Inbox::find`]), which was handled like any
    /// other.
    pub with: EntryId,
}

// Without the message.
bankrail_values::impl_debug!(Conflict, self; kind: self.message.kind(), with: self.with);

/// A handler of one kind of message, of any message, or of conflicts. Functions from a [`Delivery`]
/// to a future implement it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not handle `{M}`",
    label = "not a `Handler`",
    note = "pass `async fn handle(received: Delivery<{M}>) -> Result<(), HandlerError>`, or a closure"
)]
pub trait Handler<M>: Send + Sync + 'static {
    /// Handles a message. The future is dropped when it takes longer than
    /// [`WorkerOptions::handler_timeout`](super::WorkerOptions::handler_timeout).
    ///
    /// # Errors
    /// [`HandlerError`]: the message is handled again later, or becomes a dead letter.
    fn handle(
        &self,
        received: Delivery<M>,
    ) -> impl Future<Output = Result<(), HandlerError>> + Send;
}

impl<M, F, O> Handler<M> for F
where
    F: Fn(Delivery<M>) -> O + Send + Sync + 'static,
    O: Future<Output = Result<(), HandlerError>> + Send,
    O::Output: Returns<Result<(), HandlerError>>,
    M: Send,
{
    fn handle(
        &self,
        received: Delivery<M>,
    ) -> impl Future<Output = Result<(), HandlerError>> + Send {
        self(received)
    }
}

/// A handler whose effect is part of the inbox's own transaction, with an inbox of the type `I`.
/// Functions from a [`Delivery`] to a future of [`TransactionalInbox::Work`] implement it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not prepare work of `{I}` for `{M}`",
    label = "not a `TransactionalHandler`",
    note = "pass `async fn handle(received: Delivery<{M}>) -> Result<SqliteWork, HandlerError>`, or a closure",
    note = "the work is that of the inbox: `SqliteWork` for `SqliteInbox`, `PostgresWork` for `PostgresInbox`"
)]
pub trait TransactionalHandler<M, I: TransactionalInbox + ?Sized>: Send + Sync + 'static {
    /// Prepares the work for a message. The work is given the open transaction; its effect and the
    /// record that the message was handled are committed together.
    ///
    /// # Errors
    /// [`HandlerError`]: the message is handled again later, or becomes a dead letter.
    fn prepare(
        &self,
        received: Delivery<M>,
    ) -> impl Future<Output = Result<I::Work, HandlerError>> + Send;
}

impl<M, I, F, O> TransactionalHandler<M, I> for F
where
    I: TransactionalInbox + ?Sized,
    F: Fn(Delivery<M>) -> O + Send + Sync + 'static,
    O: Future<Output = Result<I::Work, HandlerError>> + Send,
    O::Output: Returns<Result<I::Work, HandlerError>>,
    M: Send,
{
    fn prepare(
        &self,
        received: Delivery<M>,
    ) -> impl Future<Output = Result<I::Work, HandlerError>> + Send {
        self(received)
    }
}

/// The reason why a message was not handled.
///
/// - `?` converts any error, as [`HandlerError::retryable`] does; [`StoreError::permanent`] stays
///   permanent.
/// - The inbox keeps the error's text, so the text must have nothing of the message.
/// - The causes of an error are not stored, except that of a [`StoreError`].
#[derive(Debug)]
pub struct HandlerError {
    pub(super) permanent: bool,
    pub(super) error: Box<dyn Error + Send + Sync>,
}

impl HandlerError {
    /// Makes the error of a failure after which handling the message again can succeed.
    pub fn retryable(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            permanent: false,
            error: error.into(),
        }
    }

    /// Makes the error of a message that can never be handled and becomes a dead letter.
    pub fn permanent(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            permanent: true,
            error: error.into(),
        }
    }

    /// Returns the text for the inbox, with the cause of a store's error, which quotes no payload.
    pub(super) fn text(&self) -> String {
        match self
            .error
            .downcast_ref::<StoreError>()
            .and_then(Error::source)
        {
            Some(cause) => format!("{}: {cause}", self.error),
            None => self.error.to_string(),
        }
    }
}

impl<E: Error + Send + Sync + 'static> From<E> for HandlerError {
    fn from(error: E) -> Self {
        let mut error = Self::retryable(error);
        let of_store = error.error.downcast_ref::<StoreError>();
        error.permanent = of_store.is_some_and(|one| one.kind() == StoreErrorKind::Refused);
        error
    }
}

/// The worker that handles an entry, with its inbox and clock.
pub(super) struct Holder<I: ?Sized> {
    pub(super) inbox: Arc<I>,
    pub(super) owner: LeaseOwner,
    pub(super) clock: Arc<dyn Clock>,
    /// The headers of the entry, unless they are unreadable.
    pub(super) headers: Option<Attributes>,
}

/// The headers of a delivery, and the findings about them.
pub(super) type Attributes = (DeliveryHeaders, Vec<MessageFinding>);

/// The outcome of handling a message.
pub(super) enum Handled {
    /// The message is handled, and not yet marked as handled.
    Done,
    /// The message is handled and marked as handled.
    Committed,
    /// Another worker has the lease.
    LeaseLost,
}

/// The reason why there is no handler for a message.
pub(super) enum Unhandled {
    /// No handler is registered for the kind of the message.
    Kind,
    /// No handler is registered for conflicts; the message conflicts with this one.
    Conflict(EntryId),
}

type Erased<I> = Arc<dyn Fn(InboxEntry, Holder<I>) -> HandlerFuture + Send + Sync>;
pub(super) type HandlerFuture = Pin<Box<dyn Future<Output = Result<Handled, HandlerError>> + Send>>;

/// The handlers of a worker over an inbox of the type `I`.
///
/// - A message of a kind without a handler stays in the inbox.
/// - A message in conflict with an earlier one goes to [`Handlers::on_conflict`] and never to the
///   handler of its kind. Without a handler of conflicts it becomes a dead letter at once
///   ([`Worker::counts`](super::Worker::counts)).
/// - The outcome of a mandate action that was reported as pending is no conflict. The outcome is
///   handled after that report and marked ([`Delivery::follows`]).
pub struct Handlers<I: ?Sized = dyn Inbox> {
    kinds: Vec<(MessageKind, Erased<I>)>,
    any: Option<Erased<I>>,
    conflict: Option<Erased<I>>,
}

impl<I: ?Sized> Clone for Handlers<I> {
    fn clone(&self) -> Self {
        Self {
            kinds: self.kinds.clone(),
            any: self.any.clone(),
            conflict: self.conflict.clone(),
        }
    }
}

impl<I: ?Sized> Default for Handlers<I> {
    fn default() -> Self {
        Self {
            kinds: Vec::new(),
            any: None,
            conflict: None,
        }
    }
}

impl<I: Inbox + ?Sized + 'static> Handlers<I> {
    /// Creates an empty set of handlers.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the handler of one kind of messages, which is that of its [`Delivery`]. An earlier
    /// handler of the kind is replaced.
    ///
    /// ```
    /// use bankrail_client::receivers::{Delivery, HandlerError, Handlers};
    /// use bankrail_webhook::{PaymentOutcome, QueryNotification};
    ///
    /// async fn paid(received: Delivery<PaymentOutcome>) -> Result<(), HandlerError> {
    ///     println!("{}", received.message.transaction_status);
    ///     Ok(())
    /// }
    /// # fn example() -> Handlers {
    /// Handlers::new().on(paid).on(|received: Delivery<QueryNotification>| async move {
    ///     println!("{}", received.message.case_id);
    ///     Ok(())
    /// })
    /// # }
    /// ```
    #[must_use]
    pub fn on<M: WebhookMessage>(self, handler: impl Handler<M>) -> Self {
        self.put(M::KIND, plain(handler, received))
    }

    /// Sets the handler of all kinds of messages that have no other handler.
    #[must_use]
    pub fn on_any(mut self, handler: impl Handler<Message>) -> Self {
        self.any = Some(plain(handler, any));
        self
    }

    /// Sets the handler of messages that contradict an earlier one.
    ///
    /// ```
    /// use bankrail_client::receivers::{Conflict, Delivery, HandlerError, Handlers};
    ///
    /// async fn contradicted(received: Delivery<Conflict>) -> Result<(), HandlerError> {
    ///     eprintln!("message {} contradicts message {}", received.id, received.message.with);
    ///     Ok(())
    /// }
    /// # fn example() -> Handlers {
    /// Handlers::new().on_conflict(contradicted)
    /// # }
    /// ```
    #[must_use]
    pub fn on_conflict(mut self, handler: impl Handler<Conflict>) -> Self {
        self.conflict = Some(plain(handler, conflict));
        self
    }

    /// Returns the kinds of messages that have a handler.
    #[must_use]
    pub fn kinds(&self) -> Vec<MessageKind> {
        match &self.any {
            Some(_) => MessageKind::ALL.into(),
            None => self.kinds.iter().map(|(kind, _)| *kind).collect(),
        }
    }

    pub(super) fn handle(
        &self,
        entry: InboxEntry,
        holder: Holder<I>,
    ) -> Result<HandlerFuture, Unhandled> {
        if let Some(with) = entry.conflicts_with {
            return Ok(self.conflict.as_ref().ok_or(Unhandled::Conflict(with))?(
                entry, holder,
            ));
        }
        let own = self
            .kinds
            .iter()
            .find(|(kind, _)| kind.as_str() == entry.kind.as_str());
        let handle = own
            .map(|(_, handle)| handle)
            .or(self.any.as_ref())
            .ok_or(Unhandled::Kind)?;
        Ok(handle(entry, holder))
    }

    fn put(mut self, kind: MessageKind, handle: Erased<I>) -> Self {
        self.kinds.retain(|(own, _)| *own != kind);
        self.kinds.push((kind, handle));
        self
    }
}

impl<I: TransactionalInbox + ?Sized + 'static> Handlers<I> {
    /// Like [`Handlers::on`], with an effect in the inbox's own transaction, which therefore
    /// happens exactly once.
    ///
    /// ```
    /// use bankrail_client::receivers::{Handlers, Delivery};
    /// use bankrail_stores::sqlite::{SqliteInbox, SqliteWork, rusqlite};
    /// use bankrail_webhook::PaymentOutcome;
    ///
    /// # fn example() -> Handlers<SqliteInbox> {
    /// Handlers::new().on_transactional(|received: Delivery<PaymentOutcome>| async move {
    ///     let status = received.message.transaction_status.to_string();
    ///     Ok(SqliteWork::new(move |transaction| {
    ///         transaction.connection().execute("INSERT INTO paid (status) VALUES (?1)", [status])?;
    ///         Ok::<_, rusqlite::Error>(())
    ///     }))
    /// })
    /// # }
    /// ```
    ///
    /// Work of an engine other than that of the receivers' inbox does not compile, nor does any
    /// work if the inbox has no transactions:
    ///
    /// ```compile_fail
    /// use bankrail_client::receivers::{Delivery, Handlers};
    /// use bankrail_stores::{postgres, sqlite};
    /// use bankrail_webhook::PaymentOutcome;
    ///
    /// fn example() -> Handlers<postgres::PostgresInbox> {
    ///     Handlers::new().on_transactional(|_: Delivery<PaymentOutcome>| async {
    ///         Ok(sqlite::SqliteWork::new(|_| Ok::<_, sqlite::rusqlite::Error>(())))
    ///     })
    /// }
    /// ```
    ///
    /// ```compile_fail
    /// use bankrail_client::receivers::{Delivery, Handlers};
    /// use bankrail_stores::memory::MemoryInbox;
    /// use bankrail_webhook::PaymentOutcome;
    ///
    /// fn example(handlers: Handlers<MemoryInbox>) -> Handlers<MemoryInbox> {
    ///     handlers.on_transactional(|_: Delivery<PaymentOutcome>| async { Ok(()) })
    /// }
    /// ```
    #[must_use]
    pub fn on_transactional<M: WebhookMessage>(
        self,
        handler: impl TransactionalHandler<M, I>,
    ) -> Self {
        self.put(M::KIND, transactional(handler, received))
    }

    /// Sets a handler like [`Handlers::on_any`], whose effect is part of the inbox's own
    /// transaction.
    #[must_use]
    pub fn on_any_transactional(mut self, handler: impl TransactionalHandler<Message, I>) -> Self {
        self.any = Some(transactional(handler, any));
        self
    }

    /// Sets a handler like [`Handlers::on_conflict`], whose effect is part of the inbox's own
    /// transaction.
    #[must_use]
    pub fn on_conflict_transactional(
        mut self,
        handler: impl TransactionalHandler<Conflict, I>,
    ) -> Self {
        self.conflict = Some(transactional(handler, conflict));
        self
    }
}

type Received<M> = fn(InboxEntry, Option<Attributes>) -> Result<Delivery<M>, HandlerError>;

fn plain<M: Send + 'static, I: ?Sized>(
    handler: impl Handler<M>,
    received: Received<M>,
) -> Erased<I> {
    let handler = Arc::new(handler);
    Arc::new(move |entry, holder: Holder<I>| {
        let (handler, headers) = (handler.clone(), holder.headers);
        Box::pin(async move {
            handler
                .handle(received(entry, headers)?)
                .await
                .map(|()| Handled::Done)
        })
    })
}

fn transactional<M, I>(handler: impl TransactionalHandler<M, I>, received: Received<M>) -> Erased<I>
where
    M: Send + 'static,
    I: TransactionalInbox + ?Sized + 'static,
{
    let handler = Arc::new(handler);
    Arc::new(move |entry, holder: Holder<I>| {
        let handler = handler.clone();
        Box::pin(async move {
            let id = entry.id;
            let work = handler.prepare(received(entry, holder.headers)?).await?;
            match holder
                .inbox
                // After an error of the inbox the work may be committed. The message is completed
                // then, so that it is not leased again.
                .complete_with(id, holder.owner, work, holder.clock.now())
                .await?
            {
                Completion::Committed => Ok(Handled::Committed),
                Completion::LeaseLost => Ok(Handled::LeaseLost),
                Completion::Undone(error) => Err(HandlerError::retryable(error)),
            }
        })
    })
}

fn received<M: WebhookMessage>(
    entry: InboxEntry,
    headers: Option<Attributes>,
) -> Result<Delivery<M>, HandlerError> {
    read(entry, headers, M::from_json_with, identity)
}

fn any(entry: InboxEntry, headers: Option<Attributes>) -> Result<Delivery<Message>, HandlerError> {
    let kind = kind_of(&entry)?;
    read(
        entry,
        headers,
        |body, options| Message::from_json_with(kind, body, options),
        identity,
    )
}

fn conflict(
    entry: InboxEntry,
    headers: Option<Attributes>,
) -> Result<Delivery<Conflict>, HandlerError> {
    let (with, kind) = (
        entry.conflicts_with.ok_or_else(unreadable)?,
        kind_of(&entry)?,
    );
    let message =
        |body: &[u8], options: &MessageReadOptions| Message::from_json_with(kind, body, options);
    read(entry, headers, message, |message| Conflict {
        message,
        with,
    })
}

fn kind_of(entry: &InboxEntry) -> Result<MessageKind, HandlerError> {
    entry.kind.as_str().parse().map_err(|_| unreadable())
}

fn unreadable() -> HandlerError {
    HandlerError::permanent("the stored message is unreadable")
}

/// Makes a delivery of an entry.
fn read<T, M>(
    entry: InboxEntry,
    headers: Option<Attributes>,
    message: impl FnOnce(&[u8], &MessageReadOptions) -> Result<ParsedMessage<T>, MessageError>,
    into: impl FnOnce(T) -> M,
) -> Result<Delivery<M>, HandlerError> {
    // Its length was bounded when it was received. Another version of this crate may have stored
    // it.
    let options = MessageReadOptions::default().max_message_bytes(entry.body.len());
    let ParsedMessage {
        message, findings, ..
    } = message(&entry.body, &options).map_err(|_| unreadable())?;
    let (headers, header_findings) = headers.ok_or_else(unreadable)?;
    Ok(Delivery {
        id: entry.id,
        message: into(message),
        findings: header_findings.into_iter().chain(findings).collect(),
        headers,
        received_at: entry.received_at,
        follows: entry.follows,
        acknowledgement: Acknowledgement::from_json(&entry.acknowledgement)
            .map_err(|_| unreadable())?,
        attempt: entry.attempts,
    })
}

impl<I: ?Sized> fmt::Debug for Handlers<I> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kinds: Vec<_> = self.kinds.iter().map(|(kind, _)| *kind).collect();
        out.debug_struct("Handlers")
            .field("kinds", &kinds)
            .field("on_any", &self.any.is_some())
            .field("on_conflict", &self.conflict.is_some())
            .finish()
    }
}
