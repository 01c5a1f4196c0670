//! The metrics of the dispatcher, through the `metrics` facade. `docs/metrics.md` lists the names
//! and labels, which are stable. A label has one of a fixed set of values: no text of a customer's,
//! and no name of one.
//!
//! Without the feature `metrics`, each function is empty.
#![cfg_attr(
    not(feature = "metrics"),
    allow(unused_variables, reason = "counted with the feature `metrics` only")
)]

#[cfg(feature = "metrics")]
use crate::delivery::{CircuitState, DispatcherSnapshot, EndpointSnapshot};
use bankrail_mailbox::{DeliveryNote, Kind};
use std::time::Duration;

/// Counts a delivery.
pub(super) fn delivered(kind: &Kind, delivered: bool, note: Option<DeliveryNote>, took: Duration) {
    #[cfg(feature = "metrics")]
    {
        let outcome = if delivered {
            "delivered"
        } else {
            note.map_or("other", DeliveryNote::as_str)
        };
        metrics::counter!("bankrail_deliveries_total", "kind" => label(kind), "outcome" => outcome)
            .increment(1);
        metrics::histogram!("bankrail_delivery_duration_seconds").record(took);
    }
}

/// Counts a message that became a dead letter.
pub(super) fn dead_letter(kind: &Kind) {
    #[cfg(feature = "metrics")]
    metrics::counter!("bankrail_outbox_dead_letters_total", "kind" => label(kind)).increment(1);
}

/// Returns a kind of the specification, or `other`, so that the label's values are bounded.
#[cfg(feature = "metrics")]
fn label(kind: &Kind) -> &'static str {
    let known = kind.as_str().parse();
    known.map_or("other", bankrail_webhook::MessageKind::as_str)
}

/// Sets the gauges, which are floats: counts are exact up to 2^53.
#[cfg(feature = "metrics")]
#[allow(clippy::cast_precision_loss, reason = "a gauge is a float")]
pub(super) fn snapshot(snapshot: &DispatcherSnapshot) {
    use metrics::gauge;
    let counts = &snapshot.outbox;
    for (state, count) in [
        ("pending", counts.pending),
        ("delivered", counts.delivered),
        ("dead_letter", counts.dead_letters),
        ("dropped", counts.dropped),
    ] {
        gauge!("bankrail_outbox_entries", "state" => state).set(count as f64);
    }
    let oldest = snapshot.oldest_pending.unwrap_or(snapshot.at);
    let age = snapshot.at.saturating_since(oldest);
    gauge!("bankrail_outbox_oldest_seconds").set(age.as_secs_f64());
    gauge!("bankrail_outbox_stopped_endpoints").set(snapshot.stopped.len() as f64);
    let is_paused = |endpoint: &&EndpointSnapshot| {
        matches!(
            endpoint.circuit,
            CircuitState::Open { .. } | CircuitState::Resting { .. }
        )
    };
    let endpoints = snapshot.endpoints.iter();
    let paused = endpoints.clone().filter(is_paused).count();
    gauge!("bankrail_delivery_open_circuits").set(paused as f64);
    let slow = endpoints.filter(|endpoint| endpoint.is_slow).count();
    gauge!("bankrail_delivery_slow_endpoints").set(slow as f64);
    gauge!("bankrail_delivery_running").set(snapshot.running.len() as f64);
}

/// Describes the metrics to the recorder, if it is there already.
pub(super) fn describe() {
    #[cfg(feature = "metrics")]
    {
        use metrics::{Unit, describe_counter, describe_gauge, describe_histogram};
        describe_counter!(
            "bankrail_deliveries_total",
            "deliveries by kind of message and outcome"
        );
        describe_histogram!(
            "bankrail_delivery_duration_seconds",
            Unit::Seconds,
            "durations of deliveries"
        );
        describe_counter!(
            "bankrail_outbox_dead_letters_total",
            "messages that became dead letters, by kind"
        );
        describe_gauge!("bankrail_outbox_entries", "messages in the outbox by state");
        describe_gauge!(
            "bankrail_outbox_oldest_seconds",
            Unit::Seconds,
            "age of the oldest pending message"
        );
        describe_gauge!("bankrail_outbox_stopped_endpoints", "stopped endpoints");
        describe_gauge!(
            "bankrail_delivery_open_circuits",
            "endpoints to which deliveries are paused"
        );
        describe_gauge!(
            "bankrail_delivery_slow_endpoints",
            "endpoints whose deliveries take slow places"
        );
        describe_gauge!("bankrail_delivery_running", "deliveries under way");
    }
}
