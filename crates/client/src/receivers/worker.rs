//! Working off the inbox.

use super::handler::{Handled, HandlerError, Handlers};
use bankrail_values::{Clock, StoreError};
use bankrail_webhook::{EntryId, Inbox, InboxEntry, Lease, Owner};
use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::task::JoinSet;

/// How a [`Worker`] works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerOptions {
    /// How many messages are handled at once. 8 at first.
    pub concurrency: u32,
    /// How long a handler may take; then it is dropped and the message is tried again. 30 s at first. A message is
    /// leased for twice as long.
    pub handler_timeout: Duration,
    /// After how many failed attempts a message is set aside. 12 at first.
    pub max_attempts: u32,
    /// The pause after the first failed attempt; it doubles with each further one. 1 s at first.
    pub first_pause: Duration,
    /// The longest pause between two attempts. 15 min at first.
    pub longest_pause: Duration,
    /// How often the inbox is looked at when nothing arrives. 1 s at first.
    pub poll: Duration,
    /// How long handlers under way may go on when the worker is told to stop. 30 s at first.
    pub grace: Duration,
}

impl Default for WorkerOptions {
    fn default() -> Self {
        Self {
            concurrency: 8,
            handler_timeout: Duration::from_secs(30),
            max_attempts: 12,
            first_pause: Duration::from_secs(1),
            longest_pause: Duration::from_secs(15 * 60),
            poll: Duration::from_secs(1),
            grace: Duration::from_secs(30),
        }
    }
}

impl WorkerOptions {
    /// The pause after this many failed attempts.
    fn pause(&self, attempts: u32) -> Duration {
        let doubled = 1_u32.checked_shl(attempts.saturating_sub(1)).unwrap_or(u32::MAX);
        self.first_pause.saturating_mul(doubled).min(self.longest_pause)
    }
}

/// Hands messages from the inbox to handlers.
///
/// - A message is leased, handled, and marked handled; if the process dies in between, the lease runs out and another
///   worker, or this one after a restart, takes it.
/// - A handler that fails, panics or takes too long sees the message again, later each time; after
///   [`WorkerOptions::max_attempts`] the message is set aside ([`Inbox::list_set_aside`]), where it is visible and does not
///   stand in the way. [`Inbox::retry`] brings it back.
#[derive(Clone)]
pub struct Worker {
    inbox: Arc<dyn Inbox>,
    handlers: Handlers,
    clock: Arc<dyn Clock>,
    arrived: Arc<Notify>,
    options: WorkerOptions,
    owner: Owner,
}

impl Worker {
    pub(super) fn new(inbox: Arc<dyn Inbox>, handlers: Handlers, clock: Arc<dyn Clock>, arrived: Arc<Notify>) -> Self {
        let owner = Owner::from_random_bytes(uuid::Uuid::new_v4().into_bytes());
        Self { inbox, handlers, clock, arrived, options: WorkerOptions::default(), owner }
    }

    /// With these options.
    #[must_use]
    pub fn with_options(mut self, options: WorkerOptions) -> Self {
        self.options = options;
        self
    }

    /// Works until `stop` is ready: then takes nothing more, lets the handlers under way finish within
    /// [`WorkerOptions::grace`], and drops the rest, whose messages come again when their leases run out.
    ///
    /// When the inbox fails, it is asked again after [`WorkerOptions::poll`].
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let worker = Arc::new(self);
        let mut stop = std::pin::pin!(stop);
        let mut running = JoinSet::new();
        loop {
            // Armed before the inbox is looked at, so that nothing that arrives meanwhile is missed.
            let arrived = worker.arrived.notified();
            let mut full = false;
            match worker.lease(running.len()).await {
                Ok(entries) => {
                    for entry in entries {
                        let worker = worker.clone();
                        running.spawn(async move { worker.work(entry).await });
                    }
                    full = running.len() >= usize::try_from(worker.options.concurrency).unwrap_or(usize::MAX);
                }
                Err(error) => tracing::error!(%error, "the inbox failed"),
            }
            tokio::select! {
                () = &mut stop => break,
                Some(_) = running.join_next() => {}
                () = arrived, if !full => {}
                () = tokio::time::sleep(worker.options.poll), if !full => {}
            }
        }
        let finish = async { while running.join_next().await.is_some() {} };
        if tokio::time::timeout(worker.options.grace, finish).await.is_err() {
            tracing::warn!(handlers = running.len(), "handlers were dropped on the way out");
        }
    }

    /// Handles what is due now, and says how many messages that was. For tests, and for those who have a loop of
    /// their own.
    ///
    /// # Errors
    /// [`StoreError`] if the inbox cannot hand out messages.
    pub async fn run_due(&self) -> Result<usize, StoreError> {
        let worker = Arc::new(self.clone());
        let mut handled = 0;
        loop {
            let entries = self.lease(0).await?;
            if entries.is_empty() {
                return Ok(handled);
            }
            handled += entries.len();
            let mut running = JoinSet::new();
            for entry in entries {
                let worker = worker.clone();
                running.spawn(async move { worker.work(entry).await });
            }
            while running.join_next().await.is_some() {}
        }
    }

    async fn lease(&self, running: usize) -> Result<Vec<InboxEntry>, StoreError> {
        let free = self.options.concurrency.max(1).saturating_sub(u32::try_from(running).unwrap_or(u32::MAX));
        let kinds = self.handlers.kinds();
        if free == 0 || kinds.is_empty() {
            return Ok(Vec::new());
        }
        let now = self.clock.now();
        let until = now.saturating_add(self.options.handler_timeout.saturating_mul(2));
        self.inbox.lease(&kinds, free, Lease { owner: self.owner, until }, now).await
    }

    async fn work(&self, entry: InboxEntry) {
        let (id, kind, attempts) = (entry.id, entry.kind, entry.attempts);
        let message_id = entry.headers.message_id;
        // A message that killed the process again and again never got as far as failing.
        let outcome = if attempts > self.options.max_attempts {
            Err(HandlerError::poison("handling was begun too often and never ended"))
        } else {
            self.handle(entry).await
        };
        let noted = match &outcome {
            Ok(Handled::Done) => self.inbox.complete(id, self.owner, self.clock.now()).await,
            Ok(Handled::Committed) => Ok(true),
            Err(error) => self.put_back(id, attempts, error).await,
        };
        match (&outcome, &noted) {
            (_, Err(error)) => tracing::error!(%kind, %message_id, entry = %id, %error, "the inbox failed"),
            (_, Ok(false)) => tracing::warn!(%kind, %message_id, entry = %id, "the lease ran out while it was handled"),
            (Ok(_), Ok(true)) => tracing::debug!(%kind, %message_id, entry = %id, "handled"),
            (Err(_), Ok(true)) => tracing::warn!(%kind, %message_id, entry = %id, attempts, "not handled"),
        }
    }

    /// In a task of its own, so that a panic ends nothing else.
    async fn handle(&self, entry: InboxEntry) -> Result<Handled, HandlerError> {
        let Some(work) = self.handlers.handle(entry, self.owner) else {
            return Err(HandlerError::retry("there is no handler for it"));
        };
        let mut task = JoinSet::new();
        task.spawn(tokio::time::timeout(self.options.handler_timeout, work));
        match task.join_next().await {
            Some(Ok(Ok(outcome))) => outcome,
            Some(Ok(Err(_))) => Err(HandlerError::retry("the handler took too long")),
            Some(Err(_)) | None => Err(HandlerError::retry("the handler panicked")),
        }
    }

    async fn put_back(&self, id: EntryId, attempts: u32, error: &HandlerError) -> Result<bool, StoreError> {
        const KEPT: usize = 500;
        let text: String = error.error.to_string().chars().take(KEPT).collect();
        let now = self.clock.now();
        if error.poison || attempts >= self.options.max_attempts {
            tracing::error!(entry = %id, attempts, "a message was set aside");
            return self.inbox.set_aside(id, self.owner, &text, now).await;
        }
        let due = now.saturating_add(self.options.pause(attempts));
        self.inbox.release(id, self.owner, due, &text).await
    }
}

impl fmt::Debug for Worker {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Worker")
            .field("handlers", &self.handlers)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
