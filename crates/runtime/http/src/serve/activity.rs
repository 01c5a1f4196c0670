//! The activity of a connection, and its deadline.

use super::ServerOptions;
use crate::KnownCaller;
use crate::endpoint::Knows;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use tokio::sync::Notify;
use tokio::time::Instant;

/// The time of a request from the end of its headers to the last byte of its answer. A service that
/// has not answered by then is dropped and the answer is 503; a peer that does not read its answer
/// loses the connection.
pub(super) const REQUEST_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(60);

/// The time for writing an answer, or the end of a connection, after its own time is over.
pub(super) const LINGER: std::time::Duration = std::time::Duration::from_secs(2);

/// The state of one connection, shared by its driver, its transport and its requests.
#[derive(Debug)]
pub(super) struct Activity {
    /// The number of the connection among those of its server.
    number: u64,
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Debug)]
struct State {
    /// The state of a connection without a request in progress.
    waiting: Waiting,
    requests: Vec<InProgressRequest>,
    next: u64,
    /// The number of requests whose answers have left.
    answered: u64,
    evicted: bool,
    /// True if any request had a known caller.
    has_known_caller: bool,
    /// The caller that was last named, as [`Places`](super::places::Places) counts it, and the
    /// count of its requests.
    caller: Option<(u64, Weak<()>)>,
    /// The time at which the connection began, or a request with a known caller was last in
    /// progress.
    useful: Instant,
    /// True if bytes between two requests are headers. Over HTTP/2 they may be control frames.
    bytes_are_headers: bool,
}

#[derive(Debug)]
struct InProgressRequest {
    number: u64,
    begun: Instant,
    has_known_caller: bool,
    /// The count of requests of the request's caller.
    counted: Option<Arc<()>>,
}

#[derive(Clone, Copy, Debug)]
enum Waiting {
    /// Headers are due, or being read, since this instant.
    Header(Instant),
    /// Neither headers nor an answer are due.
    Idle,
}

impl Activity {
    pub(super) fn new(number: u64) -> Self {
        let now = Instant::now();
        let waiting = Waiting::Header(now);
        let state = State {
            waiting,
            requests: Vec::new(),
            next: 0,
            answered: 0,
            evicted: false,
            has_known_caller: false,
            caller: None,
            useful: now,
            bytes_are_headers: true,
        };
        Self {
            number,
            state: Mutex::new(state),
            changed: Notify::new(),
        }
    }

    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Starts the time for the first header.
    pub(super) fn expect_header(&self, is_http2: bool) {
        let mut state = self.lock();
        (state.waiting, state.bytes_are_headers) = (Waiting::Header(Instant::now()), !is_http2);
    }

    /// Has the connection end at once.
    pub(super) fn evict(&self) {
        let mut state = self.lock();
        state.evicted = true;
        // The requests are uncounted now, and not when the connection's task notices the end.
        state
            .requests
            .iter_mut()
            .for_each(|request| request.counted = None);
        drop(state);
        // `notify_one` keeps the notice until the connection's task waits for it.
        self.changed.notify_one();
    }

    pub(super) fn is_evicted(&self) -> bool {
        self.lock().evicted
    }

    /// Completes when the connection is to end at once.
    pub(super) async fn evicted(&self) {
        while !self.is_evicted() {
            self.changed.notified().await;
        }
    }

    /// Returns true once a request had a known caller.
    pub(super) fn has_known_caller(&self) -> bool {
        self.lock().has_known_caller
    }

    /// Returns true while no request with a known caller is in progress.
    pub(super) fn is_expendable(&self) -> bool {
        let state = self.lock();
        !state
            .requests
            .iter()
            .any(|request| request.has_known_caller)
    }

    /// Returns the caller that was last named.
    pub(super) fn caller(&self) -> Option<u64> {
        self.lock().caller.as_ref().map(|(caller, _)| *caller)
    }

    /// Sets the caller, and the count of its requests.
    pub(super) fn set_caller(&self, caller: u64, requests: &Arc<()>) {
        self.lock().caller = Some((caller, Arc::downgrade(requests)));
    }

    /// Returns the number of requests under way of the caller that was last named, over all of its
    /// connections.
    pub(super) fn requests_of_caller(&self) -> usize {
        let state = self.lock();
        let count = state.caller.as_ref().map(|(_, count)| count.strong_count());
        // One of the references is that of the count itself.
        count.unwrap_or_default().saturating_sub(1)
    }

    /// Records that the written bytes have left.
    pub(super) fn flushed(&self) {
        let mut state = self.lock();
        if state.requests.is_empty() {
            state.answered = state.next;
        }
    }

    /// Returns true if the answers to all requests that the service got have left.
    pub(super) fn owes_no_answer(&self) -> bool {
        let state = self.lock();
        state.requests.is_empty() && state.answered == state.next
    }

    /// Returns the time at which the connection began, or a request with a known caller was last in
    /// progress.
    pub(super) fn useful_at(&self) -> Instant {
        self.lock().useful
    }

    /// Returns the time at which the connection is closed, unless its activity changes.
    pub(super) fn deadline(&self, options: &ServerOptions) -> Instant {
        let state = self.lock();
        // The idle time counts from the last known caller: requests of others do not keep a
        // connection open.
        let idle = state.useful + options.idle_timeout;
        match (
            state.requests.iter().map(|request| request.begun).min(),
            state.waiting,
        ) {
            // Over HTTP/2 one request may follow the other without a pause.
            (Some(begun), _) => begun.min(idle) + REQUEST_TIMEOUT + LINGER,
            (None, Waiting::Header(since)) => since + options.header_timeout,
            (None, Waiting::Idle) => idle,
        }
    }

    /// Completes when the deadline may have changed.
    pub(super) async fn changed(&self) {
        self.changed.notified().await;
    }

    /// Records that a request begins. It is in progress until the returned guard is dropped.
    pub(super) fn begin(self: &Arc<Self>) -> InProgress {
        let mut state = self.lock();
        let number = state.next;
        state.next += 1;
        state.requests.push(InProgressRequest {
            number,
            begun: Instant::now(),
            has_known_caller: false,
            counted: None,
        });
        // Released first, so that the woken task does not wait for the lock.
        drop(state);
        self.changed.notify_one();
        InProgress {
            number,
            activity: Arc::clone(self),
        }
    }

    /// Counts a request for the connection's caller, which the request has named or proved.
    fn has_caller(&self, number: u64, is_known: bool) {
        let state = &mut *self.lock();
        if is_known {
            (state.useful, state.has_known_caller) = (Instant::now(), true);
        }
        let mut requests = state.requests.iter_mut();
        if let Some(request) = requests.find(|request| request.number == number) {
            request.has_known_caller |= is_known;
            if !state.evicted {
                let caller = state.caller.as_ref();
                request.counted = caller.and_then(|(_, count)| count.upgrade());
            }
        }
    }

    /// Records that bytes of the peer arrived.
    pub(super) fn bytes_arrived(&self) {
        let mut state = self.lock();
        if state.bytes_are_headers
            && state.requests.is_empty()
            && matches!(state.waiting, Waiting::Idle)
        {
            state.waiting = Waiting::Header(Instant::now());
            drop(state);
            self.changed.notify_one();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code panics while the state is locked, so a panic elsewhere leaves it consistent.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request in progress.
#[derive(Debug)]
pub(super) struct InProgress {
    number: u64,
    activity: Arc<Activity>,
}

impl InProgress {
    /// Returns the notification about the caller of the request; `knows` is called too.
    pub(super) fn known_caller(&self, knows: Arc<Knows>) -> KnownCaller {
        let (number, activity) = (self.number, Arc::clone(&self.activity));
        KnownCaller::new(move |name| {
            // The connection becomes known before its address, so that no other one takes its place
            // in between.
            if name.is_none() {
                activity.has_caller(number, true);
            }
            knows(name);
            if name.is_some() {
                activity.has_caller(number, false);
            }
        })
    }
}

impl Drop for InProgress {
    fn drop(&mut self) {
        let mut state = self.activity.lock();
        if let Some(at) = state
            .requests
            .iter()
            .position(|request| request.number == self.number)
            && state.requests.swap_remove(at).has_known_caller
        {
            state.useful = Instant::now();
        }
        if state.requests.is_empty() {
            state.waiting = Waiting::Idle;
        }
        drop(state);
        self.activity.changed.notify_one();
    }
}
