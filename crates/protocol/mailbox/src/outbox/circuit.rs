//! The health of an endpoint, shared by all workers over one outbox.

use super::EndpointId;
use bankrail_values::Timestamp;

/// The circuit of an endpoint, shared by all workers over one outbox and stored over a restart. An
/// endpoint without a circuit is healthy. Workers decide on the time and the length of an opening;
/// an outbox stores the circuit and leases accordingly. The first delivery that the endpoint
/// answers closes the circuit ([`Outbox::record`](super::Outbox::record)), whichever worker makes
/// the delivery and whenever it began.
///
/// - While the circuit is open or rests, the endpoint's entries are not leased
///   ([`Circuit::is_held`]).
/// - From its opening until it is closed, all workers together lease at most one entry of the
///   endpoint at once ([`Circuit::bound`]), which is the trial. If a worker crashes with the trial,
///   the next one waits for the end of its lease.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "workers and engines make them")]
pub struct Circuit {
    /// The number of openings since the endpoint last answered; 0 if the circuit is closed.
    pub openings: u32,
    /// The end of the last opening.
    pub open_until: Option<Timestamp>,
    /// The end of the pause that the endpoint demanded.
    pub rests_until: Option<Timestamp>,
}

impl Circuit {
    /// Returns the first instant at which an entry may be leased, if the circuit holds entries
    /// back.
    #[must_use]
    pub fn held_until(&self) -> Option<Timestamp> {
        self.open_until.max(self.rests_until)
    }

    /// Returns true if no entry may be leased now.
    #[must_use]
    pub fn is_held(&self, now: Timestamp) -> bool {
        self.held_until().is_some_and(|until| now < until)
    }

    /// Returns the maximum number of entries under lease at once, which is `per_endpoint` without a
    /// circuit.
    #[must_use]
    pub fn bound(&self, per_endpoint: u32) -> u32 {
        if self.openings > 0 {
            per_endpoint.min(1)
        } else {
            per_endpoint
        }
    }

    /// Returns the circuit after `news` of a worker, for engines. If both opened equally often, the
    /// stored opening stays, so that deliveries from before the opening do not lengthen it. The
    /// later of two rests stays.
    #[must_use]
    pub fn joined(self, news: Self) -> Self {
        let opening = if news.openings > self.openings {
            news
        } else {
            self
        };
        Self {
            rests_until: self.rests_until.max(news.rests_until),
            ..opening
        }
    }

    /// Returns the circuit after the endpoint answered a delivery, for engines. Only a rest that
    /// lasts beyond now remains; `None` if there is no such rest.
    #[must_use]
    pub fn closed(self, now: Timestamp) -> Option<Self> {
        let rests_until = self.rests_until.filter(|until| now < *until)?;
        Some(Self {
            rests_until: Some(rests_until),
            ..Self::default()
        })
    }
}

/// An endpoint with its circuit.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EndpointCircuit {
    /// The endpoint.
    pub endpoint: EndpointId,
    /// The circuit of the endpoint.
    pub circuit: Circuit,
}

impl EndpointCircuit {
    /// Returns an endpoint with its circuit.
    #[must_use]
    pub fn new(endpoint: EndpointId, circuit: Circuit) -> Self {
        Self { endpoint, circuit }
    }
}
