//! Keeps calls within the service's limits, and ends their waiting when the client is closed.

use crate::exchange_error::{Cause, cause};
use crate::transport::{Caller, Reply};
use bankrail_client_assertion::CustomerCode;
use bankrail_rate_limit::{CallType, PaceError, Pacer, PacerOptions, Permit, Policy};
use bankrail_values::{Clock, Timestamp};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::watch;

/// The wait after a 429 without `Retry-After`, under a policy without limits.
const HOLD_WITHOUT_LIMITS: Duration = Duration::from_secs(60);

/// Whether a client was closed. Clones share it.
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

/// Why a call may not be sent.
#[derive(Debug)]
pub(crate) enum NotAdmitted {
    Closed,
    HeldBack { until: Timestamp },
    Counters(Cause),
}

/// A call that may be sent. If it is dropped instead, it does not count.
#[must_use]
pub(crate) struct Admitted {
    pub(crate) pacer: Arc<Pacer>,
    call: Option<Permit>,
    /// Whether it had to wait.
    pub(crate) waited: bool,
}

impl Admitted {
    /// From now on it counts, whatever becomes of it.
    pub(crate) fn send(&mut self) -> Option<Permit> {
        self.call.take()
    }
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
    pub(crate) fn of(&self, account: &str) -> Arc<Pacer> {
        let mut pacers = self.pacers.lock().unwrap_or_else(PoisonError::into_inner);
        let pacer = pacers.entry(account.to_owned()).or_insert_with(|| {
            // A code has no space.
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

impl Caller {
    /// Waits until the call may be sent, and counts it then.
    pub(crate) async fn admit(&self, pacer: &Arc<Pacer>) -> Result<Admitted, NotAdmitted> {
        let begun = self.now();
        match self.closing.unless_closed(pacer.acquire(1)).await {
            None => Err(NotAdmitted::Closed),
            Some(Ok(call)) => Ok(Admitted {
                pacer: pacer.clone(),
                call: Some(call),
                waited: self.now() > begun,
            }),
            Some(Err(PaceError::Held { until, .. })) => Err(NotAdmitted::HeldBack { until }),
            Some(Err(PaceError::Store(error))) => Err(NotAdmitted::Counters(cause(error))),
            // A limit is at least 1, so a cost of 1 fits every policy.
            Some(Err(other)) => Err(NotAdmitted::Counters(cause(other))),
        }
    }

    /// Holds back all calls of this pacer until the time of the answer's `Retry-After`, and returns
    /// that time.
    pub(crate) fn hold(&self, pacer: &Pacer, reply: &Reply) -> Option<Timestamp> {
        let wait = reply.retry_after?.wait(self.now());
        if wait > self.longest_hold {
            tracing::warn!(
                endpoint = self.name,
                duration_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX),
                "the service asks for a longer wait than is kept"
            );
        }
        Some(self.hold_for(pacer, wait))
    }

    /// The same for a 429. Without `Retry-After`, calls are held back for as long as the slowest
    /// limit takes for one call, because a service may count refused calls too.
    pub(crate) fn hold_refused(&self, pacer: &Pacer, reply: &Reply) -> Timestamp {
        self.hold(pacer, reply).unwrap_or_else(|| {
            let windows = pacer.policy().windows().iter();
            let slowest = windows
                .map(|window| window.length() / window.limit().max(1))
                .max();
            self.hold_for(pacer, slowest.unwrap_or(HOLD_WITHOUT_LIMITS))
        })
    }

    fn hold_for(&self, pacer: &Pacer, wait: Duration) -> Timestamp {
        let until = self.now().saturating_add(wait.min(self.longest_hold));
        pacer.hold_until(until);
        until
    }

    /// The time by the client's clock.
    pub(crate) fn now(&self) -> Timestamp {
        self.pacer.clock().now()
    }
}
