//! The worker that hands messages from the inbox to handlers.

mod outcome;

use super::handler::{Attributes, Handled, HandlerError, Handlers, Holder, Unhandled};
use crate::handling::RETRY_SECONDS;
use crate::measure;
use bankrail_http::__private::{FORGET_EVERY, Recurring};
use bankrail_mailbox::{
    EntryId, Inbox, InboxEntry, Kind, Lease, LeaseOwner, LeaseOwners, Schedule,
};
use bankrail_values::{Clock, EXPIRY_GRACE, HyphenatedUuid, StoreError, Timestamp, causes};
use bankrail_webhook::DeliveryHeaders;
use outcome::cut;
use std::fmt;
use std::future::Future;
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use tokio::sync::{Mutex, Notify};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

const HANDLED: &str = "bankrail_handled_total";

/// Hands messages from the inbox to handlers.
///
/// - A message is leased, handled, and marked as handled. If the process dies in between, the lease
///   runs out and another worker, or this one after a restart, handles the message.
/// - When a handler fails, panics or takes too long, the message is handled again on
///   [`WorkerOptions::schedule`]. At the end of the schedule it becomes a dead letter
///   ([`Inbox::dead_letters`]), until [`Inbox::resend`].
/// - While the inbox fails, messages may be leased without an answer to the worker. Such leases
///   are given back before the next lease, and when the worker is stopped. Unless a lease is over
///   by then, its start is not counted ([`Inbox::release_all`]).
/// - While the inbox fails, the worker tries again to record the outcome of a message, as long as
///   the lease lasts.
/// - A message in conflict with an earlier one, without a handler of conflicts, becomes a dead
///   letter at once.
///
/// A clone is the same worker: it counts together with the other.
pub struct Worker<I: ?Sized = dyn Inbox>(Arc<WorkerState<I>>);

struct WorkerState<I: ?Sized> {
    inbox: Arc<I>,
    handlers: Handlers<I>,
    clock: Arc<dyn Clock>,
    /// Wakes the worker when a receiver of this process has stored a message.
    arrived: Arc<Notify>,
    options: WorkerOptions,
    retention: Option<Duration>,
    /// Locked while messages are leased: one lease is made after the other.
    owners: Mutex<LeaseOwners>,
    counts: std::sync::Mutex<WorkerCounts>,
}

bankrail_values::options! {
    /// Options of a [`Worker`].
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct WorkerOptions {
        /// The maximum number of messages that are handled at once, at least one. Default: 8.
        concurrency: u32 = 8,
        /// The maximum time of a handler. One that takes longer is dropped, and the message is
        /// handled again later. Default: 30 s.
        handler_timeout: Duration = Duration::from_secs(30),
        /// The duration of a lease, after which another worker takes the message of one that has
        /// crashed. While a handler runs, the worker extends the lease after each third of this
        /// time. Default: 60 s.
        lease: Duration = Duration::from_secs(60),
        /// The pauses before a message is handled again after a failure. It becomes a dead letter
        /// when they are used up. Default: it is handled 12 times, again after 1 s, then after
        /// twice as long each time up to 15 min, with 20 % jitter.
        schedule: Schedule = Schedule::new(RETRY_SECONDS.map(Duration::from_secs), 20),
        /// The time between two looks into the inbox while nothing arrives. Default: 1 s.
        poll: Duration = Duration::from_secs(1),
        /// The time after which [`Worker::run`] sets the gauges of metrics from
        /// the inbox again, at least a second; `None`: never, for all but one of several workers
        /// over one inbox. Default: every 60 s.
        #[cfg(feature = "metrics")]
        gauge_interval: Option<Duration> = Some(Duration::from_secs(60)),
        /// The age of the oldest message that is not handled from which [`Worker::check`] fails.
        /// Default: 30 min, more than the default schedule's pauses but the last.
        stale_after: Duration = Duration::from_secs(1800),
        /// True to log the error of a handler with its causes, at most 500 characters. Off by
        /// default, because an error of a database, for example, may quote the message. The inbox
        /// has the error's text in either case.
        log_handler_errors: bool = false,
        /// The time that running handlers may continue when the worker is stopped. Default: 30 s.
        grace: Duration = Duration::from_secs(30),
    }
}

/// The numbers of messages that a worker has handled, or not, since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerCounts {
    /// Messages that were handled.
    pub handled: u64,
    /// Failures after which a message is handled again.
    pub failed: u64,
    /// Messages that became dead letters.
    pub dead_letters: u64,
    /// Messages in conflict with an earlier one that found no handler.
    pub unhandled_conflicts: u64,
}

/// The reason for which [`Worker::check`] fails.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkerCheckError {
    /// The inbox does not answer.
    #[error("the inbox failed")]
    Inbox(#[from] StoreError),
    /// A message has not been handled for too long.
    #[error("a message waits to be handled for {} s", waits.as_secs())]
    #[non_exhaustive]
    Behind {
        /// The time since the oldest message that is not handled was received.
        waits: Duration,
    },
}

/// A leased message that is to be handled.
struct Leased {
    entry: InboxEntry,
    owner: LeaseOwner,
}

impl<I: ?Sized> Clone for Worker<I> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
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
        let random = HyphenatedUuid::random().to_uuid().into_bytes();
        Self(Arc::new(WorkerState {
            inbox,
            handlers,
            clock,
            arrived,
            options,
            retention,
            owners: Mutex::new(LeaseOwners::from_random_bytes(random)),
            counts: std::sync::Mutex::default(),
        }))
    }

    /// Returns the counts of this worker and its clones since it was made. For the messages in the
    /// inbox see [`Inbox::counts`].
    #[must_use]
    pub fn counts(&self) -> WorkerCounts {
        *self.0.lock_counts()
    }

    /// Checks that messages are handled in time, for `/readyz`.
    ///
    /// # Errors
    /// [`WorkerCheckError`] if the inbox fails, or if a message waits for longer than
    /// [`WorkerOptions::stale_after`].
    pub async fn check(&self) -> Result<(), WorkerCheckError> {
        let waits = self.0.oldest_age().await?;
        if waits > self.0.options.stale_after {
            Err(WorkerCheckError::Behind { waits })
        } else {
            Ok(())
        }
    }

    /// Handles messages until `stop` is ready, then takes no more, lets the running handlers finish
    /// within [`WorkerOptions::grace`], and drops the rest. The messages of dropped handlers are
    /// handled again when their leases expire.
    ///
    /// If the inbox fails, the worker queries it again after [`WorkerOptions::poll`].
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let worker = self.0;
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
        let mut handled = 0;
        loop {
            let leased = self.0.lease(0).await?;
            if leased.is_empty() {
                return Ok(handled);
            }
            handled += leased.len();
            let mut running = JoinSet::new();
            for leased in leased {
                let worker = self.0.clone();
                running.spawn(async move { worker.work(leased).await });
            }
            while running.join_next().await.is_some() {}
        }
    }
}

impl<I: Inbox + ?Sized + 'static> WorkerState<I> {
    fn lock_counts(&self) -> std::sync::MutexGuard<'_, WorkerCounts> {
        // Each count is written at once, so a panic elsewhere leaves them consistent.
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
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

    /// Gives back messages that may be leased without an answer.
    async fn give_back(&self, owners: &mut LeaseOwners) -> Result<(), StoreError> {
        let began = Instant::now().into_std();
        let unanswered = owners.unanswered(began);
        if !unanswered.is_empty() {
            self.inbox.release_all(&unanswered).await?;
            owners.given_back(began);
        }
        Ok(())
    }

    /// Like [`WorkerState::give_back`], at shutdown: it is tried once, within the grace.
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
                let reason = (self.options.log_handler_errors).then(|| cut(&causes(&*error.error)));
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

    /// Extends the lease regularly, and returns once the worker has lost it. The running handler
    /// continues, because it may have committed already.
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

    /// Returns the time since the oldest message that is not handled was received.
    async fn oldest_age(&self) -> Result<Duration, StoreError> {
        let oldest = self.inbox.oldest_pending().await?;
        Ok(oldest.map_or(Duration::ZERO, |received| {
            self.clock.now().saturating_since(received)
        }))
    }

    #[cfg(feature = "metrics")]
    async fn measure(&self) {
        let state = async { Ok((self.inbox.counts().await?, self.oldest_age().await?)) };
        let state: Result<_, StoreError> = state.await;
        match state {
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
}

impl<I: ?Sized> fmt::Debug for Worker<I> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Worker")
            .field("handlers", &self.0.handlers)
            .field("options", &self.0.options)
            .finish_non_exhaustive()
    }
}
