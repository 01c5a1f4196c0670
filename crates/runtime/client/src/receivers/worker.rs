//! The worker that hands messages from the inbox to handlers.

mod options;

pub use options::{WorkerCheckError, WorkerCounts, WorkerOptions};

use super::handler::{Attributes, Handled, HandlerError, Handlers, Holder, Unhandled};
use crate::measure;
use bankrail_http::__private::{FORGET_EVERY, Recurring};
use bankrail_mailbox::{
    Disposition, EntryId, Inbox, InboxEntry, InboxState, InboxUpdate, Kind, Lease, LeaseOwner,
    LeaseOwners,
};
use bankrail_values::{
    Clock, EXPIRY_GRACE, HyphenatedUuid, StoreError, StoreErrorKind, Timestamp, causes, jitter,
};
use bankrail_webhook::DeliveryHeaders;
use std::fmt;
use std::future::Future;
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use tokio::sync::{Mutex, Notify};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

const HANDLED: &str = "bankrail_handled_total";

/// The pauses before the outcome of a message is stored again after a failure of the inbox: the
/// first and the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// Hands messages from the inbox to handlers.
///
/// - A message is leased, handled, and marked as handled. If the process dies in between, the lease
///   runs out and another worker, or this one after a restart, handles the message.
/// - When a handler fails, panics or takes too long, the message is handled again on
///   [`WorkerOptions::schedule`]. At the end of the schedule it becomes a dead letter
///   ([`Inbox::dead_letters`]), until [`Inbox::resend`].
/// - While the inbox fails, messages may be leased although no answer reaches the worker. They are
///   given back before the next lease, and when the worker is stopped. Unless the lease is over by
///   then, this start is not counted ([`Inbox::release_all`]).
/// - That a message was handled, or was not, is noted again while the inbox fails, for as long as a
///   lease lasts.
/// - A message in conflict with an earlier one, without a handler of conflicts, becomes a dead
///   letter at once.
pub struct Worker<I: ?Sized = dyn Inbox> {
    inbox: Arc<I>,
    handlers: Handlers<I>,
    clock: Arc<dyn Clock>,
    arrived: Arc<Notify>,
    options: WorkerOptions,
    retention: Option<Duration>,
    /// Locked while messages are leased: one lease is made after the other.
    owners: Arc<Mutex<LeaseOwners>>,
    counts: Arc<std::sync::Mutex<WorkerCounts>>,
}

/// A message that is leased, to be handled.
struct Leased {
    entry: InboxEntry,
    owner: LeaseOwner,
}

/// The same worker again: it counts together with the other.
impl<I: ?Sized> Clone for Worker<I> {
    fn clone(&self) -> Self {
        Self {
            inbox: self.inbox.clone(),
            handlers: self.handlers.clone(),
            clock: self.clock.clone(),
            arrived: self.arrived.clone(),
            options: self.options.clone(),
            retention: self.retention,
            owners: self.owners.clone(),
            counts: self.counts.clone(),
        }
    }
}

impl<I: Inbox + ?Sized + 'static> Worker<I> {
    pub(super) fn new(
        inbox: Arc<I>,
        handlers: Handlers<I>,
        clock: Arc<dyn Clock>,
        arrived: Arc<Notify>,
        retention: Option<Duration>,
        options: WorkerOptions,
    ) -> Self {
        measure::describe();
        let owners = Arc::new(Mutex::new(LeaseOwners::from_random_bytes(
            HyphenatedUuid::random().to_uuid().into_bytes(),
        )));
        Self {
            inbox,
            handlers,
            clock,
            arrived,
            options,
            retention,
            owners,
            counts: Arc::default(),
        }
    }

    /// Returns the counts of this worker and its clones since it was made. The inbox counts the
    /// messages that it holds ([`Inbox::counts`]).
    #[must_use]
    pub fn counts(&self) -> WorkerCounts {
        *self.lock_counts()
    }

    fn lock_counts(&self) -> std::sync::MutexGuard<'_, WorkerCounts> {
        // Each count is written at once, so a panic elsewhere leaves them consistent.
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Checks that messages are handled as they should be, for `/readyz`.
    ///
    /// # Errors
    /// [`WorkerCheckError`] if the inbox fails, or if a message waits for longer than
    /// [`WorkerOptions::stale_after`].
    pub async fn check(&self) -> Result<(), WorkerCheckError> {
        let oldest = self.inbox.oldest_pending().await?;
        let waits = oldest
            .map(|oldest| self.clock.now().saturating_since(oldest))
            .unwrap_or_default();
        if waits > self.options.stale_after {
            Err(WorkerCheckError::Behind { waits })
        } else {
            Ok(())
        }
    }

    /// Handles messages until `stop` is ready. Then it takes no more, lets the running handlers
    /// finish within [`WorkerOptions::grace`], and drops the rest, whose messages are handled again
    /// when their leases run out.
    ///
    /// If the inbox fails, the worker asks it again after [`WorkerOptions::poll`].
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let worker = Arc::new(self);
        let mut stop = std::pin::pin!(stop);
        let mut running = JoinSet::new();
        // Forgetting and measuring run beside the handlers and end with this function.
        let _forgetting = worker.retention.map(|retention| {
            Recurring::start(FORGET_EVERY, worker.clone(), move |worker| async move {
                worker.forget(retention).await
            })
        });
        #[cfg(feature = "metrics")]
        let _measuring = worker.options.gauge_interval.map(|interval| {
            let interval = interval.max(Duration::from_secs(1));
            Recurring::start(interval, worker.clone(), |worker| async move {
                worker.measure().await
            })
        });
        loop {
            // Created before the inbox is asked, so that no arrival in between is missed.
            let arrived = worker.arrived.notified();
            let mut full = false;
            match worker.lease(running.len()).await {
                Ok(leased) => {
                    for leased in leased {
                        let worker = worker.clone();
                        running.spawn(async move { worker.work(leased).await });
                    }
                    full = running.len()
                        >= usize::try_from(worker.options.concurrency.max(1)).unwrap_or(usize::MAX);
                }
                Err(error) => tracing::error!(%error, "the inbox failed"),
            }
            tokio::select! {
                // A shutdown comes first, so that nothing is leased after it.
                biased;
                () = &mut stop => break,
                Some(_) = running.join_next() => {}
                () = arrived, if !full => {}
                // Messages of other processes' receivers arrive without a notification.
                () = tokio::time::sleep(worker.options.poll), if !full => {}
            }
        }
        let finish = async { while running.join_next().await.is_some() {} };
        let (finished, ()) = tokio::join!(
            // Handlers that take longer are dropped; their messages are handled again after the
            // lease.
            timeout(worker.options.grace, finish),
            worker.give_back_last()
        );
        if finished.is_err() {
            tracing::warn!(
                handlers = running.len(),
                "handlers, or notes of what came of a message, were dropped at shutdown"
            );
        }
    }

    /// Handles the messages that are due now, and returns their number. For tests, and for callers
    /// with their own loop.
    ///
    /// # Errors
    /// [`StoreError`] if the inbox cannot lease messages.
    pub async fn run_due(&self) -> Result<usize, StoreError> {
        let worker = Arc::new(self.clone());
        let mut handled = 0;
        loop {
            let leased = self.lease(0).await?;
            if leased.is_empty() {
                return Ok(handled);
            }
            handled += leased.len();
            let mut running = JoinSet::new();
            for leased in leased {
                let worker = worker.clone();
                running.spawn(async move { worker.work(leased).await });
            }
            while running.join_next().await.is_some() {}
        }
    }

    async fn lease(&self, running: usize) -> Result<Vec<Leased>, StoreError> {
        let free = self
            .options
            .concurrency
            .max(1)
            .saturating_sub(u32::try_from(running).unwrap_or(u32::MAX));
        let kinds: Vec<Kind> = self.handlers.kinds().into_iter().map(Kind::from).collect();
        if free == 0 || kinds.is_empty() {
            return Ok(Vec::new());
        }
        // One lease is made after the other, so that a failed one is given back before the next.
        let owners = &mut *self.owners.lock().await;
        self.give_back(owners).await?;
        let now = self.clock.now();
        if owners.is_recall_due(now) {
            let longest = self
                .options
                .schedule
                .longest_delay()
                .max(self.options.lease);
            match self.inbox.recall(now.saturating_add(longest), now).await? {
                0 => {}
                messages => {
                    tracing::warn!(messages, "messages of a clock that was ahead are due now")
                }
            }
        }
        // Noted before the inbox is asked: without an answer, messages may be leased to this owner.
        let owner = owners.ask(Instant::now().into_std(), self.options.lease);
        let entries = self
            .inbox
            .lease(&kinds, free, self.lease_from(owner, now), now)
            .await?;
        owners.answered(owner);
        Ok(entries
            .into_iter()
            .map(|entry| Leased { entry, owner })
            .collect())
    }

    /// Gives back what may be leased without an answer.
    async fn give_back(&self, owners: &mut LeaseOwners) -> Result<(), StoreError> {
        let began = Instant::now().into_std();
        let unanswered = owners.unanswered(began);
        if !unanswered.is_empty() {
            self.inbox.release_all(&unanswered).await?;
            owners.given_back(began);
        }
        Ok(())
    }

    /// Like [`Worker::give_back`], at shutdown: it is tried once, within the grace.
    async fn give_back_last(&self) {
        let given_back = async { self.give_back(&mut *self.owners.lock().await).await };
        // An inbox that is down must not hold up the shutdown; the leases then run out.
        match timeout(self.options.grace, given_back).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::error!(%error, "the inbox failed"),
            Err(_) => tracing::warn!("leases without an answer were not given back at shutdown"),
        }
    }

    fn lease_from(&self, owner: LeaseOwner, now: Timestamp) -> Lease {
        Lease {
            owner,
            until: now.saturating_add(self.options.lease),
        }
    }

    async fn work(&self, Leased { entry, owner }: Leased) {
        let (id, kind, attempts) = (entry.id, entry.kind.clone(), entry.attempts);
        let headers = DeliveryHeaders::from_attributes(&entry.attributes);
        let message_id = headers
            .as_ref()
            .map(|(headers, _)| tracing::field::display(headers.message_id));
        // Counts the starts too, because a message that crashes the process never records a
        // failure.
        let outcome = if usize::try_from(attempts)
            .is_ok_and(|attempts| attempts > self.options.schedule.attempts())
        {
            Err(HandlerError::permanent(
                "handling was started too often and never finished",
            ))
        } else {
            self.handle(entry, owner, headers).await
        };
        let noted = self.note(id, owner, attempts, &outcome).await;
        match (&outcome, &noted) {
            (_, Err(error)) => {
                tracing::error!(%kind, message_id, entry = %id, %error, "the inbox failed")
            }
            (_, Ok(false)) => {
                measure::count(HANDLED, &[("outcome", "lease_lost")], 1);
                tracing::warn!(%kind, message_id, entry = %id, "the lease ran out during handling");
            }
            (Ok(_), Ok(true)) => {
                self.lock_counts().handled += 1;
                measure::count(HANDLED, &[("outcome", "handled")], 1);
                tracing::debug!(%kind, message_id, entry = %id, "handled");
            }
            (Err(error), Ok(true)) => {
                let reason =
                    (self.options.log_handler_errors).then(|| kept(&causes(&*error.error)));
                tracing::warn!(%kind, message_id, entry = %id, attempts, reason, "not handled")
            }
        }
    }

    /// Spawns the handler as a task, so that a panic ends nothing else.
    async fn handle(
        &self,
        entry: InboxEntry,
        owner: LeaseOwner,
        headers: Option<Attributes>,
    ) -> Result<Handled, HandlerError> {
        let id = entry.id;
        let holder = Holder {
            inbox: self.inbox.clone(),
            owner,
            clock: self.clock.clone(),
            headers,
        };
        let work = match self.handlers.handle(entry, holder) {
            Ok(work) => work,
            Err(Unhandled::Kind) => {
                return Err(HandlerError::retryable("there is no handler for it"));
            }
            Err(Unhandled::Conflict(with)) => {
                self.lock_counts().unhandled_conflicts += 1;
                tracing::error!(entry = %id, %with, "there is no handler for a message in conflict");
                let text = format!(
                    "it conflicts with message {with}, and there is no handler for conflicts"
                );
                return Err(HandlerError::permanent(text));
            }
        };
        let mut task = JoinSet::new();
        task.spawn(timeout(self.options.handler_timeout, work));
        let ended = tokio::select! {
            biased;
            ended = task.join_next() => ended,
            () = self.keep(id, owner) => task.join_next().await,
        };
        match ended {
            Some(Ok(Ok(outcome))) => outcome,
            Some(Ok(Err(_))) => Err(HandlerError::retryable("the handler took too long")),
            Some(Err(_)) | None => Err(HandlerError::retryable("the handler panicked")),
        }
    }

    /// Extends the lease regularly, and returns once the worker has lost it. The running handler is
    /// not stopped then, because it may have committed already.
    async fn keep(&self, id: EntryId, owner: LeaseOwner) {
        loop {
            // At a third of the lease, two extensions may fail before it runs out.
            tokio::time::sleep((self.options.lease / 3).max(Duration::from_millis(1))).await;
            let now = self.clock.now();
            match self
                .inbox
                .extend(id, self.lease_from(owner, now), now)
                .await
            {
                Ok(true) => {}
                Ok(false) => return,
                Err(error) => tracing::warn!(entry = %id, %error, "a lease was not extended"),
            }
        }
    }

    #[cfg(feature = "metrics")]
    async fn measure(&self) {
        match self.state_of_inbox().await {
            Ok((counts, oldest)) => {
                for (state, count) in [
                    ("pending", counts.pending),
                    ("completed", counts.completed),
                    ("dead_letter", counts.dead_letters),
                ] {
                    // Exact up to 2^53.
                    measure::gauge("bankrail_inbox_entries", &[("state", state)], count as f64);
                }
                measure::gauge("bankrail_inbox_oldest_seconds", &[], oldest.as_secs_f64());
            }
            Err(error) => tracing::error!(%error, "the inbox failed"),
        }
    }

    #[cfg(feature = "metrics")]
    async fn state_of_inbox(
        &self,
    ) -> Result<(bankrail_mailbox::InboxCounts, Duration), StoreError> {
        let (counts, oldest) = (
            self.inbox.counts().await?,
            self.inbox.oldest_pending().await?,
        );
        Ok((
            counts,
            oldest.map_or(Duration::ZERO, |received| {
                self.clock.now().saturating_since(received)
            }),
        ))
    }

    async fn forget(&self, retention: Duration) {
        match self
            .inbox
            .forget(
                self.clock
                    .now()
                    .saturating_sub(retention)
                    .saturating_sub(EXPIRY_GRACE),
            )
            .await
        {
            Ok(0) => {}
            Ok(forgotten) => tracing::info!(forgotten, "old handled messages were forgotten"),
            Err(error) => tracing::error!(%error, "the inbox failed"),
        }
    }

    /// Notes what came of a message. If the inbox fails it is asked again, for as long as a lease
    /// lasts: a short outage starts no handler again.
    async fn note(
        &self,
        id: EntryId,
        owner: LeaseOwner,
        attempts: u32,
        outcome: &Result<Handled, HandlerError>,
    ) -> Result<bool, StoreError> {
        let text = outcome
            .as_ref()
            .err()
            .map(HandlerError::text)
            .unwrap_or_default();
        let text = kept(&text);
        let update = match outcome {
            Ok(Handled::Committed) => return Ok(true),
            Ok(Handled::LeaseLost) => return Ok(false),
            Ok(Handled::Done) => InboxUpdate::to(InboxState::Completed),
            Err(error) => match self.options.schedule.after_failure(
                attempts,
                self.clock.now(),
                None,
                jitter(),
            ) {
                Disposition::RetryAt(due) if !error.permanent => InboxUpdate {
                    due: Some(due),
                    error: Some(&text),
                    ..InboxUpdate::to(InboxState::Pending)
                },
                _ => InboxUpdate {
                    error: Some(&text),
                    ..InboxUpdate::to(InboxState::DeadLetter)
                },
            },
        };
        let (begun, mut pause) = (Instant::now(), FIRST_PAUSE);
        let mut noted = self.inbox.update(id, owner, update, self.clock.now()).await;
        while let Err(error) = &noted
            // Neither passes by waiting.
            && !matches!(
                error.kind(),
                StoreErrorKind::Corrupt | StoreErrorKind::Conflict
            )
            // After the lease another worker may have the message, so that its outcome is no longer
            // ours to store.
            && begun.elapsed() + pause < self.options.lease
        {
            tracing::warn!(entry = %id, %error, "the inbox failed, and is tried again");
            tokio::time::sleep(pause).await;
            // Doubled, so that an inbox that is down is not loaded by all workers.
            pause = (pause * 2).min(LONGEST_PAUSE);
            noted = self.inbox.update(id, owner, update, self.clock.now()).await;
            // An attempt before may have taken effect.
            if matches!(noted, Ok(false)) {
                noted = self
                    .inbox
                    .find(id)
                    .await
                    .map(|entry| entry.is_some_and(|entry| holds(&entry, &update)));
            }
        }
        if matches!(noted, Ok(true)) {
            self.count(id, attempts, update.state);
        }
        noted
    }

    fn count(&self, id: EntryId, attempts: u32, state: InboxState) {
        match state {
            InboxState::Completed => {}
            InboxState::Pending => {
                self.lock_counts().failed += 1;
                measure::count(HANDLED, &[("outcome", "failed")], 1);
            }
            InboxState::DeadLetter => {
                self.lock_counts().dead_letters += 1;
                measure::count(HANDLED, &[("outcome", "dead_letter")], 1);
                tracing::error!(entry = %id, attempts, "a message became a dead letter");
            }
        }
    }
}

/// Cuts the text of a handler's error, which may have any length.
fn kept(text: &str) -> String {
    text.chars().take(500).collect()
}

/// Returns true if an entry is as this update leaves it.
fn holds(entry: &InboxEntry, update: &InboxUpdate<'_>) -> bool {
    entry.state == update.state
        && (update.error.is_none() || entry.last_error.as_deref() == update.error)
}

impl<I: ?Sized> fmt::Debug for Worker<I> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Worker")
            .field("handlers", &self.handlers)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
