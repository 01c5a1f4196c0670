//! The metrics of the endpoints.
#![cfg_attr(
    not(feature = "metrics"),
    allow(unused_variables, reason = "counted with the feature `metrics` only")
)]

use http::StatusCode;
use std::time::Duration;

/// Counts an answer.
pub(crate) fn answered(endpoint: &'static str, status: StatusCode, took: Duration) {
    #[cfg(feature = "metrics")]
    {
        let status = status.as_str().to_owned();
        metrics::counter!("bankrail_requests_total", "endpoint" => endpoint, "status" => status)
            .increment(1);
        metrics::histogram!("bankrail_request_duration_seconds", "endpoint" => endpoint)
            .record(took);
    }
}

/// Counts a request that was refused or failed.
pub(crate) fn refused(endpoint: &'static str, reason: &'static str) {
    #[cfg(feature = "metrics")]
    metrics::counter!("bankrail_refusals_total", "endpoint" => endpoint, "reason" => reason)
        .increment(1);
}

/// Describes the metrics to the recorder, if it is there already.
pub(crate) fn describe() {
    #[cfg(feature = "metrics")]
    {
        use metrics::{Unit, describe_counter, describe_histogram};
        describe_counter!(
            "bankrail_requests_total",
            "answers by endpoint and HTTP status"
        );
        describe_histogram!(
            "bankrail_request_duration_seconds",
            Unit::Seconds,
            "durations of requests by endpoint"
        );
        describe_counter!(
            "bankrail_refusals_total",
            "refused and failed requests by endpoint and reason"
        );
    }
}
