//! Whose clock decides about shared counters.

/// Whose clock decides on the charges of rate-limit counters that several machines share on a
/// server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "one side's or the other's")]
pub enum CounterClock {
    /// The server's, so that the callers' clocks do not matter.
    #[default]
    Server,
    /// The callers' ([`Charge::now`](bankrail_rate_limit::Charge::now)), which must agree.
    Callers,
}
