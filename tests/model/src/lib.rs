//! Outbox, inbox and limiter as state machines, which the tests explore to exhaustion with
//! `stateright`.
//!
//! The README describes what is modelled and what the properties mean.

#![allow(
    clippy::indexing_slicing,
    clippy::exhaustive_enums,
    clippy::exhaustive_structs,
    reason = "places of fixed arrays; only the tests of this package use it"
)]

pub mod inbox;
pub mod limiter;
pub mod outbox;

use bankrail_values::Timestamp;

/// The instant this many ticks after the present one. Times in the models are relative, so that
/// time has no end and the number of states has.
fn after(ticks: u8) -> Timestamp {
    Timestamp::saturating_from_unix_millis(i64::from(ticks) * 1_000)
}

/// The ticks from the present instant to this one.
fn ticks(at: Timestamp) -> u8 {
    u8::try_from(at.unix_millis() / 1_000).unwrap_or(u8::MAX)
}

/// An answer of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    /// The operation took effect, and its caller knows.
    Arrives,
    /// The operation took effect, and its caller sees an error.
    Lost,
    /// The operation did not take effect, and its caller sees an error.
    Refused,
}

/// The owner of a lease, a small number. The numbers of owners that nobody remembers are given
/// again.
pub type Owner = u8;

/// Gives an owner its place in `names` as its number.
fn renumber(names: &mut Vec<Owner>, owner: &mut Owner) {
    let at = names
        .iter()
        .position(|name| name == owner)
        .unwrap_or_else(|| {
            names.push(*owner);
            names.len() - 1
        });
    *owner = u8::try_from(at).expect("few are used");
}
