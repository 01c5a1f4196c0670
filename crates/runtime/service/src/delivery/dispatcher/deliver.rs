//! One delivery: seal, send, judge the answer, and record it.

use super::super::breaker::Health;
use super::super::endpoint::{Endpoint, KnownEndpoint};
use super::super::transport::{
    TransportErrorKind, TransportRequest, TransportResponse, is_of_gateway,
};
use super::{DispatcherState, Leased, MissingAcknowledgement, measure};
use bankrail_http::__private::RetryAfter;
use bankrail_http::tls::TlsFault;
use bankrail_mailbox::{
    Circuit, DeliveryNote, DeliveryRecord, Disposition, EndpointId, EntryId, Intervention,
    OutboxEntry,
};
use bankrail_secured_payload::{SealError, SecuredPayload};
use bankrail_values::{StoreError, StoreFuture, Timestamp, jitter};
use bankrail_webhook::{Acknowledgement, DeliveryHeaders, MessageKind};
use futures_util::FutureExt as _;
use http::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use std::panic::AssertUnwindSafe;
use std::time::Duration;
use tokio::time::{Instant, timeout};

/// The first and the longest pause before a lease is ended again after a failure of the outbox.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// The most bytes of an answer that are read: an acknowledgement is far shorter.
const MAX_RESPONSE_BYTES: usize = 64 * 1024;

impl DispatcherState {
    /// Makes one delivery of a leased entry and records it. `leave` is called when only the record
    /// is left to wait for.
    pub(super) async fn deliver(
        &self,
        Leased {
            entry, owner, ends, ..
        }: Leased,
        leave: impl FnOnce(),
    ) {
        let now = self.options.clock.now();
        let Some(known) = self.endpoints.get(&entry.message.endpoint) else {
            tracing::warn!(entry = %entry.id, endpoint = %entry.message.endpoint, "no such endpoint");
            let due = now.saturating_add(self.options.unknown_endpoint_pause);
            let released = end_lease(
                entry.id,
                ends,
                || (),
                || self.outbox.release(entry.id, owner, due),
            )
            .await;
            if let Err(error) = released {
                tracing::error!(entry = %entry.id, error = %error, "the lease of an entry could \
                    not be given back");
            }
            return;
        };
        let under_way = self.running.begin(&entry, now);
        let started = Instant::now();
        let headers =
            DeliveryHeaders::from_attributes(&entry.message.attributes).map(|(headers, _)| headers);
        let outcome = self.post(&known, &entry, headers, now).await;
        let (took, ended) = (started.elapsed(), self.options.clock.now());
        // No longer shown as running while it is recorded, which may wait for the outbox.
        drop(under_way);
        known.set_slow(took >= self.options.slow_after);
        let health = outcome.health.after(took);
        let rest = outcome
            .rest()
            .map(|asked| self.options.schedule.granted(asked));
        let news = known
            .breaker
            .after(entry.circuit, health, rest, ended, &self.options.breaker);
        // Before the lease ends with the record, so that no other entry is leased meanwhile.
        if let Some(news) = news {
            self.hold(&entry.message.endpoint, news).await;
        }
        let record = DeliveryRecord {
            started_at: now,
            duration: took,
            status: outcome.status,
            note: outcome.note,
        };
        let next = self.next(&entry, &outcome, ended).await;
        measure::delivered(
            &entry.message.kind,
            next == Disposition::Delivered,
            outcome.note,
            took,
        );
        tracing::info!(
            entry = %entry.id,
            endpoint = %entry.message.endpoint,
            kind = %entry.message.kind,
            message_id = %entry.message.message_id,
            request_key = headers.and_then(|headers| headers.request_key).map(tracing::field::display),
            correlation_id = headers.and_then(|headers| headers.correlation_id).map(tracing::field::display),
            deliveries = entry.deliveries.saturating_add(1),
            status = outcome.status,
            note = outcome.note.map(DeliveryNote::as_str),
            delivered = next == Disposition::Delivered,
            duration_ms = u64::try_from(record.duration.as_millis()).unwrap_or(u64::MAX),
            "delivery made"
        );
        // An endpoint that refuses a message works all the same.
        let answered = (health == Health::Good).then_some(&entry.message.endpoint);
        let record = || {
            self.outbox
                .record(entry.id, owner, &record, next, answered, ended)
        };
        match end_lease(entry.id, ends, leave, record).await {
            Ok(true) => {}
            // The delivery took longer than the lease, and another worker has the entry: two
            // deliveries are allowed. Or an earlier attempt was recorded, and its answer was lost.
            Ok(false) => tracing::warn!(entry = %entry.id, "the lease was lost"),
            Err(error) => {
                tracing::error!(entry = %entry.id, error = %error, "a delivery could not be recorded")
            }
        }
        let unanswered = outcome.status.is_none_or(is_of_gateway) && rest.is_none();
        match (health, known.is_down()) {
            // At once, so that a receiver that is down for a moment is seen to be. One that failed
            // and is up waits for its circuit and the schedule.
            (Health::Bad, false) if unanswered && !self.is_up(&known).await => known.set_down(true),
            // A receiver may answer deliveries and no looks, and is looked at no longer.
            (Health::Good, true) if !self.is_up(&known).await => known.set_down(false),
            (Health::Good, true) => self.retry(&known).await,
            _ => {}
        }
    }

    async fn post(
        &self,
        known: &KnownEndpoint,
        entry: &OutboxEntry,
        headers: Option<DeliveryHeaders>,
        now: Timestamp,
    ) -> Outcome {
        let kind = entry.message.kind.as_str().parse::<MessageKind>();
        let (Ok(kind), Some(headers)) = (kind, headers) else {
            // Another version of this crate may have enqueued it.
            tracing::error!(entry = %entry.id, "the stored message is unreadable");
            return Outcome::without_answer(DeliveryNote::Other, Health::Unknown);
        };
        let stored = Stored {
            kind,
            headers,
            body: &entry.message.body,
        };
        let made = self.send(&known.endpoint, &stored, now);
        // A panic of the caller's transport or sealer is a failure like others, and must not keep
        // the entry leased.
        AssertUnwindSafe(made)
            .catch_unwind()
            .await
            .unwrap_or_else(|_| {
                tracing::error!(entry = %entry.id, "a delivery panicked");
                Outcome::without_answer(DeliveryNote::Other, Health::Bad)
            })
    }

    /// Makes a delivery. Sealing and sending are each cut off after the time-out.
    async fn send(&self, endpoint: &Endpoint, message: &Stored<'_>, now: Timestamp) -> Outcome {
        let request = match self.request(endpoint, message).await {
            Ok(request) => request,
            Err(health) => return Outcome::without_answer(DeliveryNote::NotSealed, health),
        };
        // The transport has the time-out too, but a transport of the caller's may ignore it.
        let sent = timeout(self.options.timeout, self.transport.post(request)).await;
        match sent.unwrap_or_else(|_| Err(TransportErrorKind::Timeout.into())) {
            Ok(answer) => {
                let missing = endpoint
                    .missing_acknowledgement
                    .unwrap_or(self.options.missing_acknowledgement);
                judge(&answer, missing, now)
            }
            Err(error) => {
                tracing::debug!(endpoint = %endpoint.id(), error = %error.kind(), "no answer");
                if error.kind() == TransportErrorKind::Tls {
                    // An alert after the handshake, of which the kind alone is known.
                    let fault = TlsFault::within(&error).unwrap_or(TlsFault::Refused);
                    let (cause, advice) = (fault.cause(), fault.advice());
                    tracing::warn!(endpoint = %endpoint.id(), cause, advice, "no secure connection to a receiver");
                }
                Outcome::without_answer(note_of(error.kind()), Health::Bad)
            }
        }
    }

    /// Returns the request, with the headers of the specification's table, the receiver's API key,
    /// the media types, a wish for an uncompressed answer, and no others. If the message cannot be
    /// sealed, returns what this shows about the receiver: a sealer that hangs counts as a failure
    /// of the receiver.
    async fn request(
        &self,
        endpoint: &Endpoint,
        message: &Stored<'_>,
    ) -> Result<TransportRequest, Health> {
        // A burst to one endpoint is not sealed ahead of the messages to others.
        let pool = self.pool.lane(endpoint.id());
        let sealing = endpoint.sealer.seal(message.body, &pool);
        let sealed = match timeout(self.options.timeout, sealing).await {
            Ok(Ok(sealed)) => sealed,
            Err(_) => {
                tracing::error!(endpoint = %endpoint.id(), "a message was not sealed in time");
                return Err(Health::Bad);
            }
            Ok(Err(error)) => {
                // The error would name members of the message, which are not logged.
                let reason = match &error {
                    SealError::NotJson(_) => "the message is not acceptable JSON".to_owned(),
                    other => other.to_string(),
                };
                tracing::error!(endpoint = %endpoint.id(), reason, "a message could not be sealed");
                return Err(Health::Unknown);
            }
        };
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        for (name, value) in message.headers.pairs() {
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| Health::Unknown)?;
            let value = HeaderValue::try_from(value).map_err(|_| Health::Unknown)?;
            headers.insert(name, value);
        }
        headers.extend(endpoint.api_key.clone());
        Ok(TransportRequest {
            url: endpoint.url(message.kind),
            headers,
            body: SecuredPayload::new(sealed).to_json().into(),
            client_certificate: endpoint.client_certificate.clone(),
            timeout: self.options.timeout,
            max_response_bytes: MAX_RESPONSE_BYTES,
        })
    }

    /// Pauses deliveries to an endpoint, for all dispatchers over the outbox.
    async fn hold(&self, endpoint: &EndpointId, circuit: Circuit) {
        if let Some(until) = circuit.open_until {
            tracing::warn!(%endpoint, %until, "deliveries to an endpoint that keeps failing are paused");
        }
        if let Err(error) = self.outbox.hold_endpoint(endpoint, circuit).await {
            tracing::error!(%endpoint, %error, "the circuit of an endpoint could not be kept");
        }
    }

    async fn next(&self, entry: &OutboxEntry, outcome: &Outcome, now: Timestamp) -> Disposition {
        if outcome.delivered {
            return Disposition::Delivered;
        }
        let endpoint = &entry.message.endpoint;
        if outcome.gone {
            match self.outbox.stop_endpoint(endpoint, &gone(), now).await {
                // The entry is due again when the endpoint is resumed.
                Ok(()) => return Disposition::RetryAt(now),
                Err(error) => {
                    tracing::error!(endpoint = %endpoint, error = %error, "an endpoint could not be stopped")
                }
            }
        }
        // The entry's count is the one before this delivery.
        let made = entry.deliveries.saturating_add(1);
        let next = self
            .options
            .schedule
            .after_failure(made, now, outcome.retry_after, jitter());
        if next == Disposition::DeadLetter {
            measure::dead_letter(&entry.message.kind);
            tracing::error!(entry = %entry.id, %endpoint, deliveries = made, "a message became a dead letter");
        }
        next
    }
}

/// Ends a lease: tries until the outbox answers, as long as the lease lasts. `waits` is called if
/// it does not at once.
///
/// The next lease follows an answer at once, so that a store can make both durable together.
async fn end_lease<'a>(
    entry: EntryId,
    lease_ends: Instant,
    waits: impl FnOnce(),
    mut attempt: impl FnMut() -> StoreFuture<'a, bool>,
) -> Result<bool, StoreError> {
    let mut first = attempt();
    let mut answer = match first.as_mut().now_or_never() {
        Some(answer) => answer,
        None => {
            waits();
            first.await
        }
    };
    let mut pause = FIRST_PAUSE;
    while let Err(error) = &answer
        // After the end of the lease another worker may have the entry, and this record would be
        // refused.
        && Instant::now() + pause < lease_ends
    {
        tracing::warn!(%entry, %error, "the outbox failed, and is tried again");
        tokio::time::sleep(pause).await;
        answer = attempt().await;
        // Doubled, so that an outbox that comes back is not met by all deliveries at once; bounded,
        // so that a record is not late by more than a second.
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
    answer
}

/// Returns the intervention that stops an endpoint which answers 410.
fn gone() -> Intervention {
    let reason = "the endpoint answered 410 Gone"
        .parse()
        .expect("a short reason");
    Intervention {
        by: "dispatcher".parse().expect("a short name"),
        reason,
    }
}

/// A message as the outbox kept it.
#[derive(Clone, Copy, Debug)]
struct Stored<'a> {
    kind: MessageKind,
    headers: DeliveryHeaders,
    body: &'a [u8],
}

/// The outcome of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Outcome {
    status: Option<u16>,
    note: Option<DeliveryNote>,
    delivered: bool,
    gone: bool,
    retry_after: Option<Duration>,
    health: Health,
}

impl Outcome {
    fn without_answer(note: DeliveryNote, health: Health) -> Self {
        Self {
            status: None,
            note: Some(note),
            delivered: false,
            gone: false,
            retry_after: None,
            health,
        }
    }

    /// Returns the time for which no message may be delivered to the endpoint: the `Retry-After` of
    /// 429 (RFC 6585 section 4) and 503 (RFC 9110 section 15.6.4). With another status, it applies
    /// to the message alone.
    fn rest(&self) -> Option<Duration> {
        self.retry_after
            .filter(|_| matches!(self.status, Some(429 | 503)))
    }
}

fn judge(
    answer: &TransportResponse,
    missing_acknowledgement: MissingAcknowledgement,
    now: Timestamp,
) -> Outcome {
    let mut outcome = Outcome {
        status: Some(answer.status.as_u16()),
        note: None,
        delivered: answer.status.is_success(),
        gone: answer.status == StatusCode::GONE,
        retry_after: None,
        health: Health::Good,
    };
    if answer.status.is_success() {
        let acknowledgement = Acknowledgement::from_json(&answer.body);
        if !acknowledgement
            .as_ref()
            .is_ok_and(Acknowledgement::is_received)
        {
            outcome.note = Some(DeliveryNote::Unacknowledged);
            outcome.delivered = missing_acknowledgement == MissingAcknowledgement::Delivered;
            // The page of a proxy, for example. An acknowledgement with another status is the
            // receiver's own answer.
            if !outcome.delivered && acknowledgement.is_err() {
                outcome.health = Health::Bad;
            }
        }
        return outcome;
    }
    outcome.note = Some(match answer.status {
        StatusCode::GONE => DeliveryNote::Gone,
        status if status.is_redirection() => DeliveryNote::Redirected,
        _ => DeliveryNote::Refused,
    });
    // A duration, which the schedule counts from the end of the delivery.
    outcome.retry_after = RetryAfter::from_headers(&answer.headers).map(|asked| asked.wait(now));
    outcome.health = match answer.status {
        // An endpoint that refuses the message with one of these works.
        StatusCode::BAD_REQUEST
        | StatusCode::CONFLICT
        | StatusCode::PAYLOAD_TOO_LARGE
        | StatusCode::UNSUPPORTED_MEDIA_TYPE
        | StatusCode::UNPROCESSABLE_ENTITY => Health::Good,
        StatusCode::GONE => Health::Unknown,
        _ => Health::Bad,
    };
    outcome
}

fn note_of(kind: TransportErrorKind) -> DeliveryNote {
    match kind {
        TransportErrorKind::Connect => DeliveryNote::NoConnection,
        TransportErrorKind::Tls => DeliveryNote::Tls,
        TransportErrorKind::Timeout => DeliveryNote::TimedOut,
        TransportErrorKind::Broken => DeliveryNote::Broken,
    }
}
