//! What became of messages, in words.

use crate::clock::instant;
use crate::text::{counted, shown};
use bankrail::mailbox::{
    DeliveryNote, DeliveryRecord, Intervention, OutboxState, OutboxSummary, StoppedEndpoint,
};

/// What came back from a delivery.
pub(in crate::provider) fn delivery(record: &DeliveryRecord) -> String {
    let status = record.status.map(|status| format!("status {status}"));
    let what = match (record.note, record.status) {
        (None, _) => "delivered",
        (Some(DeliveryNote::TimedOut), _) => "no answer in time",
        (Some(DeliveryNote::NoConnection), _) => {
            "no connection: nobody listens there, or the name is unknown"
        }
        (Some(DeliveryNote::Tls), _) => {
            "the TLS handshake failed: the receiver's certificate is of no authority that the provider trusts, or of \
             another host"
        }
        (Some(DeliveryNote::Broken), _) => {
            "the connection broke before the answer was complete: a receiver sends Content-Length, or ends TLS properly"
        }
        (Some(DeliveryNote::Redirected), _) => "redirected, which is not followed",
        (Some(DeliveryNote::Refused), Some(401 | 403)) => {
            "refused: the receiver expects another API key"
        }
        (Some(DeliveryNote::Refused), _) => "refused",
        (Some(DeliveryNote::Unacknowledged), _) => {
            "not acknowledged: expected a body with the status RCVD"
        }
        (Some(DeliveryNote::Gone), _) => "gone: the endpoint is stopped until it is resumed",
        (Some(DeliveryNote::NotSealed), _) => "it could not be sealed",
        (Some(_), _) => "it failed",
    };
    let status = status
        .map(|status| format!("{status}, "))
        .unwrap_or_default();
    format!("{status}{what}, after {} ms", record.duration.as_millis())
}

/// How many deliveries of a message there were, and when the next one is due.
pub(super) fn when(summary: &OutboxSummary) -> String {
    let deliveries = counted(summary.deliveries, "delivery", "deliveries");
    match (summary.state, summary.finished_at) {
        (OutboxState::Pending, _) => format!("{deliveries}, due {}", instant(summary.due)),
        (_, Some(at)) => format!("{deliveries}, since {}", instant(at)),
        (_, None) => deliveries,
    }
}

/// That an endpoint is stopped, by whom and why.
pub(in crate::provider) fn stopped(stopped: &StoppedEndpoint) -> String {
    let (endpoint, by) = (
        shown(stopped.endpoint.as_ref()),
        intervention(&stopped.intervention),
    );
    format!(
        "endpoint {endpoint} is stopped since {} by {by}",
        instant(stopped.since)
    )
}

/// Who, and why.
pub(in crate::provider) fn intervention(intervention: &Intervention) -> String {
    let (by, why) = (
        shown(intervention.by.as_ref()),
        shown(intervention.reason.as_ref()),
    );
    if why.is_empty() {
        by.into_owned()
    } else {
        format!("{by}: {why}")
    }
}
