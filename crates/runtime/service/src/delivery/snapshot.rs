//! The state of a dispatcher and of its outbox as plain values.

use bankrail_mailbox::{Circuit, EndpointId, EntryId, OutboxCounts, StoppedEndpoint};
use bankrail_values::Timestamp;

/// The state of a [`Dispatcher`](super::Dispatcher) and of its outbox at one instant, for a page or
/// a command of an operator. The snapshot has no payload.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DispatcherSnapshot {
    /// The instant, by the dispatcher's clock.
    pub at: Timestamp,
    /// The deliveries under way in this process, the longest first.
    pub running: Vec<RunningDelivery>,
    /// The known endpoints by name, each with its circuit, which all dispatchers over the outbox
    /// share.
    pub endpoints: Vec<EndpointSnapshot>,
    /// The number of messages in each state of the outbox.
    pub outbox: OutboxCounts,
    /// The time at which the oldest pending message was enqueued. Messages to stopped endpoints do
    /// not count.
    pub oldest_pending: Option<Timestamp>,
    /// The stopped endpoints by name.
    pub stopped: Vec<StoppedEndpoint>,
}

/// A delivery under way.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunningDelivery {
    /// The message in the outbox.
    pub entry: EntryId,
    /// The endpoint.
    pub endpoint: EndpointId,
    /// The time at which the delivery began, by the dispatcher's clock.
    pub since: Timestamp,
}

/// An endpoint as a dispatcher sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EndpointSnapshot {
    /// The endpoint.
    pub endpoint: EndpointId,
    /// The state of the endpoint's circuit, which decides if deliveries may start.
    pub circuit: CircuitState,
    /// True if deliveries to the endpoint take the places of slow ones.
    pub is_slow: bool,
}

/// States of a circuit, which decide if deliveries to its endpoint may start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CircuitState {
    /// The circuit is closed: deliveries start.
    Closed {
        /// The number of failures in a row of this process's deliveries.
        failures: u32,
    },
    /// No delivery starts before this time, because the endpoint kept failing.
    Open {
        /// The time before which no delivery starts.
        until: Timestamp,
    },
    /// The endpoint kept failing, and its pause is over: one delivery starts as a trial, or is
    /// under way.
    Trial,
    /// No delivery starts before this time, because the endpoint demanded a pause with
    /// `Retry-After`.
    Resting {
        /// The time before which no delivery starts.
        until: Timestamp,
    },
}

impl CircuitState {
    pub(super) fn of(circuit: Option<&Circuit>, failures: u32, now: Timestamp) -> Self {
        let lasts = |until: Option<Timestamp>| until.filter(|until| now < *until);
        let Some(circuit) = circuit else {
            return Self::Closed { failures };
        };
        match (lasts(circuit.open_until), lasts(circuit.rests_until)) {
            (Some(until), _) => Self::Open { until },
            (None, Some(until)) => Self::Resting { until },
            (None, None) if circuit.openings > 0 => Self::Trial,
            (None, None) => Self::Closed { failures },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_circuit_is_closed_open_resting_or_on_trial() {
        let now = Timestamp::parse("2026-11-21T12:00:00.000Z").unwrap();
        let later = now.saturating_add(Duration::from_secs(1));
        let of = |openings, open_until, rests_until| {
            let mut circuit = Circuit::default();
            (circuit.openings, circuit.open_until, circuit.rests_until) =
                (openings, open_until, rests_until);
            CircuitState::of(Some(&circuit), 2, now)
        };
        assert_eq!(
            CircuitState::of(None, 2, now),
            CircuitState::Closed { failures: 2 }
        );
        assert_eq!(of(0, None, None), CircuitState::Closed { failures: 2 });
        assert_eq!(of(0, None, Some(now)), CircuitState::Closed { failures: 2 });
        assert_eq!(
            of(1, Some(later), Some(later)),
            CircuitState::Open { until: later }
        );
        assert_eq!(
            of(0, None, Some(later)),
            CircuitState::Resting { until: later }
        );
        assert_eq!(of(1, Some(now), None), CircuitState::Trial);
    }
}
