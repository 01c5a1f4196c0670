//! A transport that records deliveries and can lose their answers.

use crate::webhook::Delivered;
use bankrail_service::delivery::{
    Endpoint, HttpsTransport, Transport, TransportErrorKind, TransportFuture, TransportRequest,
    TransportResponse, UpFuture,
};
use bankrail_values::HyphenatedUuid;
use bankrail_webhook::headers::MESSAGE_ID;
use bankrail_webhook::{Acknowledgement, MessageKind};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The deliveries that are kept; the oldest are forgotten.
const MAX_DELIVERIES: usize = 10_000;

#[derive(Debug)]
pub(crate) struct Recording {
    inner: HttpsTransport,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    made: Vec<Delivered>,
    /// The number of oldest deliveries that were dropped.
    forgotten: usize,
    to_lose: usize,
}

impl Recording {
    pub(crate) fn new(inner: HttpsTransport) -> Self {
        Self {
            inner,
            state: Mutex::default(),
        }
    }

    /// Returns the number of deliveries so far.
    pub(crate) fn count(&self) -> usize {
        let state = self.lock();
        state.forgotten + state.made.len()
    }

    /// The deliveries after the first `count`.
    pub(crate) fn since(&self, count: usize) -> Vec<Delivered> {
        let state = self.lock();
        state
            .made
            .iter()
            .skip(count.saturating_sub(state.forgotten))
            .cloned()
            .collect()
    }

    pub(crate) fn lose(&self, answers: usize) {
        self.lock().to_lose += answers;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn record(
        &self,
        (kind, message_id): (MessageKind, HyphenatedUuid),
        answer: Option<&TransportResponse>,
    ) {
        let acknowledgement =
            answer.and_then(|answer| Acknowledgement::from_json(&answer.body).ok());
        let status = answer.map(|answer| answer.status.as_u16());
        let mut state = self.lock();
        if state.made.len() >= MAX_DELIVERIES {
            // Tests make few deliveries, so moving the others is cheap enough.
            state.made.remove(0);
            state.forgotten += 1;
        }
        state.made.push(Delivered {
            kind,
            message_id,
            status,
            acknowledgement,
        });
    }

    /// True if the next answer is to be lost; counts it.
    fn loses(&self) -> bool {
        let mut state = self.lock();
        // Decided and counted under one lock, so that two deliveries do not lose one answer.
        let loses = state.to_lose > 0;
        state.to_lose = state.to_lose.saturating_sub(1);
        loses
    }
}

/// The kind and the id of the message in a request.
fn message_of(request: &TransportRequest) -> Option<(MessageKind, HyphenatedUuid)> {
    let kind = MessageKind::ALL
        .into_iter()
        .find(|kind| request.url.path().ends_with(kind.default_path()))?;
    let id = request.headers.get(MESSAGE_ID)?.to_str().ok()?;
    Some((kind, HyphenatedUuid::parse(id).ok()?))
}

impl Transport for Recording {
    fn post(&self, request: TransportRequest) -> TransportFuture<'_> {
        let message = message_of(&request)
            .expect("the dispatcher sends a message with its id to the kind's path");
        Box::pin(async move {
            let answer = self.inner.post(request).await;
            if answer.is_ok() && self.loses() {
                self.record(message, None);
                return Err(TransportErrorKind::Broken.into());
            }
            self.record(message, answer.as_ref().ok());
            answer
        })
    }

    fn is_up<'a>(&'a self, endpoint: &'a Endpoint) -> UpFuture<'a> {
        self.inner.is_up(endpoint)
    }
}
