//! The admission of calls: their pacers, and the end of all waiting when the client is closed.

use bankrail_client_assertion::CustomerCode;
use bankrail_rate_limit::{CallType, Pacer, PacerOptions, Permit, Policy};
use bankrail_values::Clock;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::watch;

/// The mark that a client was closed. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct Closing(Arc<watch::Sender<bool>>);

impl Default for Closing {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(false)))
    }
}

impl Closing {
    pub(crate) fn close(&self) {
        self.0.send_replace(true);
    }

    pub(crate) fn is_closed(&self) -> bool {
        *self.0.borrow()
    }

    /// Awaits `work`; `None` as soon as the client is closed, at once if it already was.
    pub(crate) async fn unless_closed<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        let mut watched = self.0.subscribe();
        let closed = async {
            let _ = watched.wait_for(|closed| *closed).await;
        };
        tokio::select! {
            biased;
            () = closed => None,
            done = work => Some(done),
        }
    }
}

/// A call that may be sent. If it is dropped instead, it does not count.
#[must_use]
pub(crate) struct Admitted {
    pub(crate) pacer: Arc<Pacer>,
    pub(crate) call: Option<Permit>,
    /// True if the call had to wait.
    pub(crate) waited: bool,
}

impl Drop for Admitted {
    fn drop(&mut self) {
        if let Some(call) = self.call.take() {
            self.pacer.not_sent(call);
        }
    }
}

/// The calls of each account, where the service counts them apart.
#[derive(Debug)]
pub(crate) struct PacedApart {
    pub(crate) policy: Policy,
    pub(crate) options: PacerOptions,
    pub(crate) customer: CustomerCode,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) pacers: Mutex<HashMap<String, Arc<Pacer>>>,
}

impl PacedApart {
    /// Returns the pacer of an account.
    pub(crate) fn of(&self, account: &str) -> Arc<Pacer> {
        // The map only grows, so a panic elsewhere leaves it consistent.
        let mut pacers = self.pacers.lock().unwrap_or_else(PoisonError::into_inner);
        let pacer = pacers.entry(account.to_owned()).or_insert_with(|| {
            // A code has no space, so no two names of counters are alike.
            let name = format!("{} {account}", self.customer);
            Arc::new(Pacer::new(
                CallType::Statement,
                self.policy,
                self.clock.clone(),
                self.options.clone().customer(&name),
            ))
        });
        pacer.clone()
    }
}
