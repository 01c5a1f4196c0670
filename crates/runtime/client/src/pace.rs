//! The admission of calls: their pacers, and the end of all waiting when the client is closed.

use crate::pacer::{Pacer, PacerOptions};
use bankrail_client_assertion::CustomerCode;
use bankrail_rate_limit::{CallType, Policy};
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
        // Not `send`, which changes nothing while nobody is subscribed.
        self.0.send_replace(true);
    }

    pub(crate) fn is_closed(&self) -> bool {
        *self.0.borrow()
    }

    /// Awaits `work`, and returns `None` as soon as the client is closed, at once if it was closed
    /// before.
    pub(crate) async fn unless_closed<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        // Subscribed before the wait, so that no closing in between is missed.
        let mut watched = self.0.subscribe();
        let closed = async {
            // No error: the sender is in `self`.
            let _ = watched.wait_for(|closed| *closed).await;
        };
        tokio::select! {
            // The end of the client comes first where both are ready.
            biased;
            () = closed => None,
            done = work => Some(done),
        }
    }
}

/// The pacers of single accounts, where the service counts an account's calls apart or holds them
/// back.
#[derive(Debug)]
pub(crate) struct AccountPacers {
    policy: Policy,
    options: PacerOptions,
    customer: CustomerCode,
    pacers: Mutex<HashMap<String, Arc<Pacer>>>,
}

impl AccountPacers {
    pub(crate) fn new(policy: Policy, options: PacerOptions, customer: CustomerCode) -> Self {
        Self {
            policy,
            options,
            customer,
            pacers: Mutex::default(),
        }
    }

    /// Returns the pacer of an account, if it has one.
    pub(crate) fn known(&self, account: &str) -> Option<Arc<Pacer>> {
        let pacers = self.pacers.lock().unwrap_or_else(PoisonError::into_inner);
        pacers.get(account).cloned()
    }

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
                self.options.clone().customer(&name),
            ))
        });
        pacer.clone()
    }
}
