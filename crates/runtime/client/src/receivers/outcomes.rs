//! Warnings about announced outcomes that do not arrive.

use crate::measure;
use bankrail_values::{Clock, StoreError, SystemClock, Timestamp};
use bankrail_webhook::history::{
    Histories, HistoryId, KeptHistory, OpenOutcome, OpenOutcomes, OpenState,
};
use std::collections::BTreeSet;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;

const DAY: Duration = Duration::from_secs(86_400);
const LOOK_EVERY: Duration = Duration::from_secs(10);

bankrail_values::options! {
    /// Options of an [`OutcomeWatch`].
    #[derive(Clone, Debug)]
    pub struct OutcomeWatchOptions {
        /// The time after which the end of a pending action on a mandate (`PEND`) is overdue,
        /// counted from `resolution_requested_by` if its message has that, and from the message
        /// otherwise. Default: 5 days.
        pending: Duration = DAY * 5,
        /// The time after which the next outcome of a warehoused payment (`PDNG`) is overdue,
        /// counted from the message, which does not state the execution date. The time should
        /// exceed that by which payments are ordered in advance. Default: 35 days.
        warehoused: Duration = DAY * 35,
        /// The time after which the settlement of a payment (`ACSP`) is overdue, counted from the
        /// message. Default: 3 days.
        settlement_pending: Duration = DAY * 3,
        /// The clock. Default: the system's.
        clock: Arc<dyn Clock> = Arc::new(SystemClock),
    }
}

impl OutcomeWatchOptions {
    fn is_overdue(&self, outcome: &OpenOutcome, now: Timestamp) -> bool {
        let allowed = match outcome.state {
            OpenState::Pending => self.pending,
            OpenState::Warehoused => self.warehoused,
            OpenState::SettlementPending => self.settlement_pending,
        };
        now > outcome.due.saturating_add(allowed)
    }
}

/// Warns of outcomes that the bank has announced and that do not arrive: a message is still `PEND`,
/// `PDNG` or `ACSP`, and no later one has ended that ([`OpenOutcomes`]).
///
/// Each overdue outcome is logged once as a warning. The gauges, which docs/metrics.md lists, are
/// those of all scopes of the store. Handlers add the messages to the histories.
///
/// ```
/// use bankrail_client::receivers::{OutcomeWatch, OutcomeWatchOptions};
/// use bankrail_stores::memory::MemoryStore;
/// use std::sync::Arc;
/// use std::time::Duration;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), bankrail_values::StoreError> {
/// let options = OutcomeWatchOptions::new().settlement_pending(Duration::from_secs(86_400));
/// let watch = OutcomeWatch::new(Arc::new(MemoryStore::new().histories()), options);
/// for (kept, outcome) in watch.look().await? {
///     println!("{:?}: {} since {}", kept.ids, outcome.state.as_str(), outcome.since);
/// }
/// // In a program: `watch.run(stop)` beside the worker.
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct OutcomeWatch {
    histories: Arc<dyn Histories>,
    options: OutcomeWatchOptions,
    /// The open outcomes, and those that were overdue at the last look.
    seen: Mutex<(OpenOutcomes, BTreeSet<(u64, OpenOutcome)>)>,
}

impl OutcomeWatch {
    /// Creates a watch over these histories.
    #[must_use = "outcomes are watched while `run` is awaited"]
    pub fn new(histories: Arc<dyn Histories>, options: OutcomeWatchOptions) -> Self {
        measure::describe();
        Self {
            histories,
            options,
            seen: Mutex::default(),
        }
    }

    /// Checks the histories every ten seconds until `stop` is ready.
    pub async fn run(&self, stop: impl Future<Output = ()>) {
        let looking = async {
            loop {
                if let Err(error) = self.look().await {
                    tracing::error!(%error, "the histories failed");
                }
                tokio::time::sleep(LOOK_EVERY).await;
            }
        };
        tokio::select! { () = stop => {}, () = looking => {} }
    }

    /// Sets the gauges, logs the outcomes that have become overdue since the last look, and returns
    /// all overdue ones.
    ///
    /// # Errors
    /// [`StoreError`] if the histories cannot be read. The gauges then stay as they are.
    pub async fn look(&self) -> Result<Vec<(KeptHistory, OpenOutcome)>, StoreError> {
        let (open, known) = &mut *self.seen.lock().await;
        open.refresh(&*self.histories).await?;
        let now = self.options.clock.now();
        let overdue: Vec<_> = open
            .iter()
            .filter(|(_, outcome)| self.options.is_overdue(outcome, now))
            .map(|(kept, outcome)| (kept.clone(), outcome))
            .collect();
        for state in OpenState::ALL {
            let oldest = open.oldest(state).map(|since| now.saturating_since(since));
            let of_state = overdue.iter().filter(|(_, one)| one.state == state);
            let labels = [("kind", state.kind().as_str()), ("state", state.as_str())];
            let oldest = oldest.unwrap_or_default().as_secs_f64();
            measure::gauge("bankrail_outcomes_oldest_seconds", &labels, oldest);
            // Exact up to 2^53.
            let overdue = of_state.count() as f64;
            measure::gauge("bankrail_outcomes_overdue", &labels, overdue);
        }
        let before = std::mem::take(known);
        for (kept, outcome) in &overdue {
            known.insert((kept.number, *outcome));
            if !before.contains(&(kept.number, *outcome)) {
                warn(kept, outcome);
            }
        }
        Ok(overdue)
    }
}

fn warn(kept: &KeptHistory, outcome: &OpenOutcome) {
    // An instruction's identification is a text of the bank's, which is not logged.
    let text = |id: &&HistoryId| !matches!(id, HistoryId::Instruction(_));
    let about = kept.ids.iter().find(text).map(tracing::field::display);
    let (kind, state) = (outcome.state.kind(), outcome.state.as_str());
    let (since, due) = (outcome.since, outcome.due);
    tracing::warn!(%kind, state, about, history = kept.number, %since, %due, "an announced outcome has not come: ask the bank");
}
