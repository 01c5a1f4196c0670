//! What a connection is doing, and until when it may.

use super::ServerOptions;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;
use tokio::time::Instant;

/// How long an answer, or the end of a connection, may take to be written after its time is over.
pub(super) const LINGER: std::time::Duration = std::time::Duration::from_secs(2);

/// The state of one connection, shared by its driver, its transport and its requests.
#[derive(Debug)]
pub(super) struct Activity {
    state: Mutex<State>,
    changed: Notify,
    /// Over HTTP/2, bytes between two requests need not belong to headers.
    bytes_are_headers: bool,
}

#[derive(Debug)]
struct State {
    /// What goes on while no request is in progress.
    waiting: Waiting,
    /// When each request in progress began.
    requests: Vec<(u64, Instant)>,
    next: u64,
}

#[derive(Clone, Copy, Debug)]
enum Waiting {
    /// Headers are due or have begun, since then.
    Header(Instant),
    /// Nothing is due, since then.
    Idle(Instant),
}

impl Activity {
    pub(super) fn new(http2: bool) -> Self {
        let state = State { waiting: Waiting::Header(Instant::now()), requests: Vec::new(), next: 0 };
        Self { state: Mutex::new(state), changed: Notify::new(), bytes_are_headers: !http2 }
    }

    /// When the connection is to be closed, unless something changes.
    pub(super) fn deadline(&self, options: &ServerOptions) -> Instant {
        let state = self.lock();
        match (state.requests.iter().map(|(_, begun)| *begun).min(), state.waiting) {
            (Some(begun), _) => begun + options.request_timeout + LINGER,
            (None, Waiting::Header(since)) => since + options.header_timeout,
            (None, Waiting::Idle(since)) => since + options.idle_timeout,
        }
    }

    /// Completes when the deadline may have changed.
    pub(super) async fn changed(&self) {
        self.changed.notified().await;
    }

    /// A request begins. It is in progress until the guard is dropped.
    pub(super) fn begin(self: &Arc<Self>) -> InProgress {
        let mut state = self.lock();
        let number = state.next;
        state.next += 1;
        state.requests.push((number, Instant::now()));
        drop(state);
        self.changed.notify_one();
        InProgress { number, activity: Arc::clone(self) }
    }

    /// Bytes of a peer arrived.
    pub(super) fn bytes_arrived(&self) {
        let mut state = self.lock();
        if self.bytes_are_headers && state.requests.is_empty() && matches!(state.waiting, Waiting::Idle(_)) {
            state.waiting = Waiting::Header(Instant::now());
            drop(state);
            self.changed.notify_one();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request in progress.
#[derive(Debug)]
pub(super) struct InProgress {
    number: u64,
    activity: Arc<Activity>,
}

impl Drop for InProgress {
    fn drop(&mut self) {
        let mut state = self.activity.lock();
        state.requests.retain(|(number, _)| *number != self.number);
        if state.requests.is_empty() {
            state.waiting = Waiting::Idle(Instant::now());
        }
        drop(state);
        self.activity.changed.notify_one();
    }
}
