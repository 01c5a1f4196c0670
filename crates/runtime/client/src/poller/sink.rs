//! Sinks of new entries: a handler, and the store that records them.

use super::handler::{BoxError, NewEntries, NewEntriesHandler, TransactionalNewEntriesHandler};
use bankrail_statement::{
    AccountId, PageRecord, PollCommit, Recorded, SeenEntries, TransactionalSeenEntries,
};
use bankrail_values::StoreFuture;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinSet;

/// The time that a running handler may continue when the poller is stopped.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(10);

/// The time that a handler may take.
#[derive(Clone)]
pub(super) struct Patience {
    pub(super) timeout: Duration,
    /// The notification that the poller is being stopped.
    pub(super) stopping: watch::Receiver<bool>,
}

/// A handler and its store.
pub(super) trait Sink: Send + Sync {
    fn store(&self) -> &dyn SeenEntries;

    /// Hands the new entries over and records the page. Only the handler is bounded in time; its
    /// failure is [`Recorded::Undone`]. After an error of the store the page may be recorded or
    /// not.
    fn hand_over<'a>(
        &'a self,
        account: &'a AccountId,
        new: NewEntries,
        commit: &'a PollCommit,
        patience: Patience,
    ) -> StoreFuture<'a, Recorded>;

    /// Records a page without new entries.
    fn record<'a>(
        &'a self,
        account: &'a AccountId,
        commit: &'a PollCommit,
    ) -> StoreFuture<'a, Recorded> {
        self.store()
            .record(account, commit.entries(), Some(commit.position()))
    }
}

/// A sink whose handler's effects happen at least once.
pub(super) struct Plain<H> {
    pub(super) store: Arc<dyn SeenEntries>,
    pub(super) handler: Arc<H>,
}

impl<H: NewEntriesHandler> Sink for Plain<H> {
    fn store(&self) -> &dyn SeenEntries {
        &*self.store
    }

    fn hand_over<'a>(
        &'a self,
        account: &'a AccountId,
        new: NewEntries,
        commit: &'a PollCommit,
        patience: Patience,
    ) -> StoreFuture<'a, Recorded> {
        Box::pin(async move {
            let handler = self.handler.clone();
            match patience.run(async move { handler.handle(new).await }).await {
                Err(error) => Ok(Recorded::Undone(error)),
                // After the effect: a crash in between repeats the effect instead of losing it.
                Ok(()) => self.record(account, commit).await,
            }
        })
    }
}

/// A sink whose handler's effects happen exactly once.
pub(super) struct Transactional<S, H> {
    pub(super) store: Arc<S>,
    pub(super) handler: Arc<H>,
}

impl<S: TransactionalSeenEntries + 'static, H: TransactionalNewEntriesHandler<S>> Sink
    for Transactional<S, H>
{
    fn store(&self) -> &dyn SeenEntries {
        &*self.store
    }

    fn hand_over<'a>(
        &'a self,
        account: &'a AccountId,
        new: NewEntries,
        commit: &'a PollCommit,
        patience: Patience,
    ) -> StoreFuture<'a, Recorded> {
        Box::pin(async move {
            let handler = self.handler.clone();
            let work = match patience
                .run(async move { handler.prepare(new).await })
                .await
            {
                Ok(work) => work,
                Err(error) => return Ok(Recorded::Undone(error)),
            };
            let page =
                PageRecord::new(commit.entries(), commit.new_flags()).position(commit.position());
            self.store.record_with(account, page, work).await
        })
    }
}

impl Patience {
    /// Spawns the handler as a task, so that a panic ends nothing else.
    async fn run<T: Send + 'static>(
        mut self,
        work: impl Future<Output = Result<T, BoxError>> + Send + 'static,
    ) -> Result<T, BoxError> {
        let mut task = JoinSet::new();
        // The time-out ends a handler that hangs, so that its account is polled again.
        task.spawn(tokio::time::timeout(self.timeout, work));
        let stopped = async {
            if self.stopping.wait_for(|stopping| *stopping).await.is_err() {
                // The sender is gone, so the poller cannot be stopped any more.
                std::future::pending::<()>().await;
            }
            // A handler that has nearly finished is not done twice.
            tokio::time::sleep(SHUTDOWN_GRACE).await;
        };
        tokio::select! {
            biased;
            ended = task.join_next() => match ended {
                Some(Ok(Ok(outcome))) => outcome,
                Some(Ok(Err(_))) => Err("the handler took too long".into()),
                Some(Err(_)) | None => Err("the handler panicked".into()),
            },
            () = stopped => Err("the handler was dropped at shutdown".into()),
        }
    }
}
