//! The clock that decides about shared counters.

/// The clock that decides on the charges of rate-limit counters which several machines share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "one side's or the other's")]
pub enum CounterClock {
    /// The server's clock, so that the callers' clocks do not matter.
    #[default]
    Server,
    /// The callers' clocks ([`Charge::now`](bankrail_rate_limit::Charge::now)), which must show the
    /// same time.
    Callers,
}
