//! The metrics of the dispatcher.
#![cfg_attr(
    not(feature = "metrics"),
    allow(unused_variables, reason = "counted with the feature `metrics` only")
)]

#[cfg(feature = "metrics")]
use crate::delivery::DispatcherSnapshot;
use bankrail_mailbox::{DeliveryNote, Kind};
use std::time::Duration;

/// Counts a delivery.
pub(crate) fn delivered(kind: &Kind, delivered: bool, note: Option<DeliveryNote>, took: Duration) {
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
pub(crate) fn dead_letter(kind: &Kind) {
    #[cfg(feature = "metrics")]
    metrics::counter!("bankrail_outbox_dead_letters_total", "kind" => label(kind)).increment(1);
}

/// Returns a kind of the specification, or `other`, so that the label's values are bounded.
#[cfg(feature = "metrics")]
fn label(kind: &Kind) -> &'static str {
    let known = kind.as_str().parse();
    known.map_or("other", bankrail_webhook::MessageKind::as_str)
}

/// Sets the gauges.
#[cfg(feature = "metrics")]
pub(crate) fn snapshot(snapshot: &DispatcherSnapshot) {
    use metrics::gauge;
    let counts = &snapshot.outbox;
    for (state, count) in [
        ("pending", counts.pending),
        ("delivered", counts.delivered),
        ("dead_letter", counts.dead_letters),
        ("dropped", counts.dropped),
    ] {
        gauge!("bankrail_outbox_entries", "state" => state).set(float(count));
    }
    gauge!("bankrail_outbox_oldest_seconds").set(snapshot.oldest_age().as_secs_f64());
    gauge!("bankrail_outbox_stopped_endpoints").set(length(&snapshot.stopped));
    gauge!("bankrail_delivery_open_circuits").set(float(snapshot.open_circuits()));
    gauge!("bankrail_delivery_slow_endpoints").set(float(snapshot.slow_endpoints()));
    gauge!("bankrail_delivery_running").set(length(&snapshot.running));
}

#[cfg(feature = "metrics")]
fn length<T>(all: &[T]) -> f64 {
    float(u64::try_from(all.len()).unwrap_or(u64::MAX))
}

/// Converts a count, which is exact up to 2^53.
#[cfg(feature = "metrics")]
#[allow(clippy::cast_precision_loss, reason = "a gauge is a float")]
fn float(count: u64) -> f64 {
    count as f64
}

/// Describes the metrics to the recorder, if it is there already.
pub(crate) fn describe() {
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
