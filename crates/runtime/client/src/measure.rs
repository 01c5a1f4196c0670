//! Counts through the `metrics` facade. `docs/metrics.md` lists the names and labels, which are
//! stable. A label has one of a fixed set of values, never a text of a peer.
//!
//! Without the feature `metrics`, each function is empty.
#![cfg_attr(
    not(feature = "metrics"),
    allow(unused_variables, reason = "counted with the feature `metrics` only")
)]

/// Adds to a counter.
pub(crate) fn count(name: &'static str, labels: &[(&'static str, &str)], by: u64) {
    #[cfg(feature = "metrics")]
    metrics::counter!(name, owned(labels)).increment(by);
}

/// Sets a gauge.
pub(crate) fn gauge(name: &'static str, labels: &[(&'static str, &str)], value: f64) {
    #[cfg(feature = "metrics")]
    metrics::gauge!(name, owned(labels)).set(value);
}

/// Changes the gauge of the accounts that are no longer polled.
#[cfg(feature = "statement")]
pub(crate) fn poll_stopped(by: f64) {
    #[cfg(feature = "metrics")]
    metrics::gauge!("bankrail_poll_stopped_accounts").increment(by);
}

/// Records the duration of a call.
#[cfg(feature = "statement")]
pub(crate) fn called(endpoint: &'static str, took: std::time::Duration) {
    #[cfg(feature = "metrics")]
    metrics::histogram!("bankrail_client_call_duration_seconds", "endpoint" => endpoint)
        .record(took);
}

#[cfg(feature = "metrics")]
fn owned(labels: &[(&'static str, &str)]) -> Vec<metrics::Label> {
    let owned =
        |(name, value): &(&'static str, &str)| metrics::Label::new(*name, (*value).to_owned());
    labels.iter().map(owned).collect()
}

/// Describes the metrics to the recorder, if one is installed already.
pub(crate) fn describe() {
    #[cfg(feature = "metrics")]
    {
        use metrics::{Unit, describe_counter, describe_gauge, describe_histogram};
        for (name, what) in [
            (
                "bankrail_archived_total",
                "records of the archive by kind and outcome",
            ),
            (
                "bankrail_client_calls_total",
                "calls to the provider by endpoint and outcome",
            ),
            ("bankrail_polls_total", "polls of accounts by outcome"),
            (
                "bankrail_polled_entries_total",
                "new entries that were handed over and recorded",
            ),
            (
                "bankrail_poll_notices_total",
                "what pages said about entries of before, by kind",
            ),
            (
                "bankrail_key_fetches_total",
                "requests for the sender's keys by outcome",
            ),
            (
                "bankrail_received_total",
                "deliveries of webhook messages by kind and outcome",
            ),
            (
                "bankrail_handled_total",
                "messages out of the inbox by outcome",
            ),
        ] {
            describe_counter!(name, what);
        }
        for (name, unit, what) in [
            (
                "bankrail_poll_stopped_accounts",
                Unit::Count,
                "accounts that are no longer polled",
            ),
            (
                "bankrail_poll_oldest_page_seconds",
                Unit::Seconds,
                "longest time without a page of an account",
            ),
            (
                "bankrail_poll_oldest_full_walk_seconds",
                Unit::Seconds,
                "longest time without a full walk through an account",
            ),
            (
                "bankrail_inbox_entries",
                Unit::Count,
                "messages in the inbox by state",
            ),
            (
                "bankrail_inbox_oldest_seconds",
                Unit::Seconds,
                "age of the oldest pending message",
            ),
            (
                "bankrail_outcomes_oldest_seconds",
                Unit::Seconds,
                "time since the oldest announcement of an outcome that has not come",
            ),
            (
                "bankrail_outcomes_overdue",
                Unit::Count,
                "announced outcomes that have not come in time",
            ),
        ] {
            describe_gauge!(name, unit, what);
        }
        describe_histogram!(
            "bankrail_client_call_duration_seconds",
            Unit::Seconds,
            "durations of calls"
        );
    }
}
