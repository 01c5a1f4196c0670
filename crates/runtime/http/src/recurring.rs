//! Work that a background task repeats.

use std::future::Future;
use std::time::Duration;
use tokio::task::JoinSet;

/// The time between two removals of old records from a store.
pub const FORGET_EVERY: Duration = Duration::from_secs(3600);

/// Work that a background task does at once and again after each interval. The task ends when this
/// value is dropped.
#[derive(Debug)]
#[must_use = "the work ends when this is dropped"]
pub struct Recurring {
    _task: JoinSet<()>,
}

impl Recurring {
    /// Starts the work, which gets a clone of `context` each time. The interval begins when the
    /// work is done.
    pub fn start<C, F>(
        interval: Duration,
        context: C,
        work: impl Fn(C) -> F + Send + 'static,
    ) -> Self
    where
        C: Clone + Send + Sync + 'static,
        F: Future<Output = ()> + Send + 'static,
    {
        let mut task = JoinSet::new();
        task.spawn(async move {
            loop {
                work(context.clone()).await;
                // The pause follows the work, so that slow work does not overlap with itself.
                tokio::time::sleep(interval).await;
            }
        });
        Self { _task: task }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[tokio::test(start_paused = true)]
    async fn work_is_done_at_once_and_after_each_interval_until_it_is_dropped() {
        let done = Arc::new(AtomicU32::new(0));
        let recurring = Recurring::start(FORGET_EVERY, done.clone(), |done| async move {
            done.fetch_add(1, Ordering::Relaxed);
        });
        for expected in 1..4 {
            tokio::time::sleep(Duration::from_secs(1)).await;
            assert_eq!(done.load(Ordering::Relaxed), expected);
            tokio::time::sleep(FORGET_EVERY - Duration::from_secs(1)).await;
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
        drop(recurring);
        tokio::time::sleep(FORGET_EVERY * 3).await;
        assert_eq!(done.load(Ordering::Relaxed), 4);
    }
}
