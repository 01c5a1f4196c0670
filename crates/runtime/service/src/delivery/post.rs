//! One delivery: seal, send, judge the answer.

use super::breaker::Health;
use super::endpoint::Endpoint;
use super::transport::{Transport, TransportErrorKind, TransportRequest, TransportResponse};
use bankrail_http::{CpuPool, RetryAfter};
use bankrail_mailbox::DeliveryNote;
use bankrail_secured_payload::{SealError, SecuredPayload};
use bankrail_values::Timestamp;
use bankrail_webhook::{Acknowledgement, DeliveryHeaders, MessageKind};
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use std::time::Duration;

/// Bounds of a delivery.
#[derive(Clone, Copy, Debug)]
pub(super) struct Terms {
    pub(super) timeout: Duration,
    pub(super) max_response: usize,
    pub(super) retry_unacknowledged: bool,
}

/// A message as the outbox kept it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stored<'a> {
    pub(super) kind: MessageKind,
    pub(super) headers: DeliveryHeaders,
    pub(super) body: &'a [u8],
}

/// The outcome of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Outcome {
    pub(super) status: Option<u16>,
    pub(super) note: Option<DeliveryNote>,
    pub(super) delivered: bool,
    pub(super) gone: bool,
    pub(super) retry_after: Option<Duration>,
    pub(super) health: Health,
}

impl Outcome {
    pub(super) fn without_answer(note: DeliveryNote, health: Health) -> Self {
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
    pub(super) fn rest(&self) -> Option<Duration> {
        self.retry_after
            .filter(|_| matches!(self.status, Some(429 | 503)))
    }
}

/// Makes a delivery. Sealing and sending are each cut off after the time-out of the terms.
pub(super) async fn post(
    endpoint: &Endpoint,
    message: &Stored<'_>,
    transport: &dyn Transport,
    pool: &CpuPool,
    terms: &Terms,
    now: Timestamp,
) -> Outcome {
    let request = match request(endpoint, message, pool, terms).await {
        Ok(request) => request,
        Err(health) => return Outcome::without_answer(DeliveryNote::NotSealed, health),
    };
    let sent = tokio::time::timeout(terms.timeout, transport.post(request)).await;
    match sent.unwrap_or_else(|_| Err(TransportErrorKind::Timeout.into())) {
        Ok(answer) => judge(&answer, terms, now),
        Err(error) => {
            tracing::debug!(endpoint = %endpoint.id(), error = %error.kind(), "no answer");
            Outcome::without_answer(note_of(error.kind()), Health::Bad)
        }
    }
}

/// The request, with the headers of the specification's table, the receiver's API key, the media
/// types, and no others. If the message cannot be sealed, returns what this shows about the
/// receiver: a sealer that hangs counts as a failure of the receiver.
async fn request(
    endpoint: &Endpoint,
    message: &Stored<'_>,
    pool: &CpuPool,
    terms: &Terms,
) -> Result<TransportRequest, Health> {
    let sealed =
        match tokio::time::timeout(terms.timeout, endpoint.sealer().seal(message.body, pool)).await
        {
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
    for (name, value) in message.headers.pairs() {
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| Health::Unknown)?;
        headers.insert(
            name,
            HeaderValue::try_from(value).map_err(|_| Health::Unknown)?,
        );
    }
    if let Some((name, value)) = endpoint.api_key() {
        headers.insert(name.clone(), value.clone());
    }
    Ok(TransportRequest {
        url: endpoint.url(message.kind),
        headers,
        body: SecuredPayload::new(sealed).to_json().into(),
        timeout: terms.timeout,
        max_response: terms.max_response,
    })
}

fn judge(answer: &TransportResponse, terms: &Terms, now: Timestamp) -> Outcome {
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
            outcome.delivered = !terms.retry_unacknowledged;
            // The page of a proxy, for example. An acknowledgement with another status is the
            // receiver's own answer.
            if terms.retry_unacknowledged && acknowledgement.is_err() {
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
