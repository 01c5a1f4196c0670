//! The metrics of this crate, through the `metrics` facade. `docs/metrics.md` lists the names and
//! labels, which are stable. A label has one of a fixed set of values: no text of a peer's.
//!
//! Without the feature `metrics`, each function is empty.
#![cfg_attr(
    not(feature = "metrics"),
    allow(unused_variables, reason = "counted with the feature `metrics` only")
)]

#[cfg(all(feature = "receivers", feature = "metrics"))]
pub(crate) use self::receiving::inbox;
#[cfg(feature = "receivers")]
pub(crate) use self::receiving::{handled, outcomes, received};

/// A record was kept in the archive, or not.
pub(crate) fn archived(kind: &bankrail_mailbox::Kind, kept: bool) {
    #[cfg(feature = "metrics")]
    {
        let outcome = if kept { "kept" } else { "failed" };
        metrics::counter!("bankrail_archived_total", "kind" => kind.to_string(), "outcome" => outcome).increment(1);
    }
}

/// A call of the provider ended. `status`: that of its answer, if there was one.
#[cfg(feature = "statement")]
pub(crate) fn called(
    endpoint: &'static str,
    status: Option<http::StatusCode>,
    took: std::time::Duration,
) {
    #[cfg(feature = "metrics")]
    {
        let outcome =
            status.map_or_else(|| "failed".to_owned(), |status| status.as_str().to_owned());
        metrics::counter!("bankrail_client_calls_total", "endpoint" => endpoint, "outcome" => outcome).increment(1);
        metrics::histogram!("bankrail_client_call_duration_seconds", "endpoint" => endpoint)
            .record(took);
    }
}

/// The outcome of the poll of an account.
#[cfg(feature = "statement")]
#[derive(Clone, Copy, Debug)]
pub(crate) enum Polled {
    /// The statement was read to its end.
    Completed,
    /// Something failed, and it is tried again later.
    Retried,
    /// Something failed for good: the account is no longer polled.
    Stopped,
}

/// A poll of an account ended, or was delayed by a failure.
#[cfg(feature = "statement")]
pub(crate) fn polled(outcome: Polled) {
    #[cfg(feature = "metrics")]
    {
        let name = match outcome {
            Polled::Completed => "completed",
            Polled::Retried => "retried",
            Polled::Stopped => "stopped",
        };
        metrics::counter!("bankrail_polls_total", "outcome" => name).increment(1);
    }
}

/// An account that was polled is stopped.
#[cfg(feature = "statement")]
pub(crate) fn poll_stopped() {
    #[cfg(feature = "metrics")]
    metrics::gauge!("bankrail_poll_stopped_accounts").increment(1.0);
}

/// The longest that an account has been without a page, and without a full walk.
#[cfg(feature = "statement")]
pub(crate) fn poll_ages(page: std::time::Duration, full_walk: std::time::Duration) {
    #[cfg(feature = "metrics")]
    {
        metrics::gauge!("bankrail_poll_oldest_page_seconds").set(page.as_secs_f64());
        metrics::gauge!("bankrail_poll_oldest_full_walk_seconds").set(full_walk.as_secs_f64());
    }
}

/// An account that was stopped is polled again.
#[cfg(feature = "statement")]
pub(crate) fn poll_resumed() {
    #[cfg(feature = "metrics")]
    metrics::gauge!("bankrail_poll_stopped_accounts").decrement(1.0);
}

/// New entries were handed over and recorded.
#[cfg(feature = "statement")]
pub(crate) fn new_entries(count: usize) {
    #[cfg(feature = "metrics")]
    // Lossless: a count in memory is at most 64 bits.
    metrics::counter!("bankrail_polled_entries_total").increment(count as u64);
}

/// Something about entries of before, or about the account, was handed over and recorded.
#[cfg(feature = "statement")]
pub(crate) fn poll_notices(notice: &'static str, count: u64) {
    #[cfg(feature = "metrics")]
    metrics::counter!("bankrail_poll_notices_total", "notice" => notice).increment(count);
}

/// The sender's keys were asked for at their address.
#[cfg(feature = "jwks-url")]
pub(crate) fn keys_fetched(outcome: &'static str) {
    #[cfg(feature = "metrics")]
    metrics::counter!("bankrail_key_fetches_total", "outcome" => outcome).increment(1);
}

/// Describes the metrics to the recorder, if it is there already.
pub(crate) fn describe() {
    #[cfg(feature = "metrics")]
    {
        use metrics::{Unit, describe_counter, describe_gauge, describe_histogram};
        describe_counter!(
            "bankrail_archived_total",
            "records of the archive by kind and outcome"
        );
        describe_counter!(
            "bankrail_client_calls_total",
            "calls of the provider by endpoint and outcome"
        );
        describe_histogram!(
            "bankrail_client_call_duration_seconds",
            Unit::Seconds,
            "durations of calls"
        );
        describe_counter!("bankrail_polls_total", "polls of accounts by outcome");
        describe_counter!(
            "bankrail_polled_entries_total",
            "new entries that were handed over and recorded"
        );
        describe_counter!(
            "bankrail_poll_notices_total",
            "what pages said about entries of before, by kind"
        );
        describe_gauge!(
            "bankrail_poll_stopped_accounts",
            "accounts that are no longer polled"
        );
        describe_gauge!(
            "bankrail_poll_oldest_page_seconds",
            Unit::Seconds,
            "longest time without a page of an account"
        );
        describe_gauge!(
            "bankrail_poll_oldest_full_walk_seconds",
            Unit::Seconds,
            "longest time without a full walk through an account"
        );
        describe_counter!(
            "bankrail_key_fetches_total",
            "requests for the sender's keys by outcome"
        );
        describe_counter!(
            "bankrail_received_total",
            "deliveries of webhook messages by kind and outcome"
        );
        describe_counter!(
            "bankrail_handled_total",
            "messages out of the inbox by outcome"
        );
        describe_gauge!("bankrail_inbox_entries", "messages in the inbox by state");
        describe_gauge!(
            "bankrail_inbox_oldest_seconds",
            Unit::Seconds,
            "age of the oldest pending message"
        );
        describe_gauge!(
            "bankrail_outcomes_oldest_seconds",
            Unit::Seconds,
            "time since the oldest announcement of an outcome that has not come"
        );
        describe_gauge!(
            "bankrail_outcomes_overdue",
            "announced outcomes that have not come in time"
        );
    }
}

#[cfg(feature = "receivers")]
mod receiving {
    use bankrail_mailbox::ReceiveOutcome;
    use bankrail_webhook::MessageKind;
    use bankrail_webhook::history::OpenState;
    use http::StatusCode;

    /// A delivery was answered; `stored` if the inbox has it.
    pub(crate) fn received(kind: MessageKind, stored: Option<&ReceiveOutcome>, status: StatusCode) {
        #[cfg(feature = "metrics")]
        {
            let outcome = match stored {
                Some(ReceiveOutcome::New { .. }) => "new".to_owned(),
                Some(ReceiveOutcome::Duplicate { .. }) => "duplicate".to_owned(),
                Some(ReceiveOutcome::InProgress { .. }) => "in_progress".to_owned(),
                Some(ReceiveOutcome::Conflict { .. }) => "conflict".to_owned(),
                None => status.as_str().to_owned(),
            };
            metrics::counter!("bankrail_received_total", "kind" => kind.as_str(), "outcome" => outcome).increment(1);
        }
    }

    /// A message out of the inbox was handled or not.
    pub(crate) fn handled(outcome: &'static str) {
        #[cfg(feature = "metrics")]
        metrics::counter!("bankrail_handled_total", "outcome" => outcome).increment(1);
    }

    /// Sets the gauges of the outcomes in this state that have not come.
    #[allow(
        clippy::cast_precision_loss,
        reason = "a gauge is a float, exact up to 2^53"
    )]
    pub(crate) fn outcomes(state: OpenState, oldest: std::time::Duration, overdue: usize) {
        #[cfg(feature = "metrics")]
        {
            let labels = [("kind", state.kind().as_str()), ("state", state.as_str())];
            metrics::gauge!("bankrail_outcomes_oldest_seconds", &labels).set(oldest.as_secs_f64());
            metrics::gauge!("bankrail_outcomes_overdue", &labels).set(overdue as f64);
        }
    }

    /// Sets the gauges.
    #[cfg(feature = "metrics")]
    #[allow(
        clippy::cast_precision_loss,
        reason = "a gauge is a float, exact up to 2^53"
    )]
    pub(crate) fn inbox(counts: bankrail_mailbox::InboxCounts, oldest: std::time::Duration) {
        use metrics::gauge;
        for (state, count) in [
            ("pending", counts.pending),
            ("completed", counts.completed),
            ("dead_letter", counts.dead_letters),
        ] {
            gauge!("bankrail_inbox_entries", "state" => state).set(count as f64);
        }
        gauge!("bankrail_inbox_oldest_seconds").set(oldest.as_secs_f64());
    }
}
