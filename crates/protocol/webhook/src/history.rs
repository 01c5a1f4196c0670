//! The state of a payment or a mandate, derived from messages in any order.
//!
//! Messages are delivered at least once and in any order, and carry no version number;
//! `creation_date_time` is the sender's processing time. The transition rules therefore decide
//! first, and times only where the rules do not (Default: "Transitions"). Both histories keep the
//! applied messages as a set and derive the state from it: neither the order of arrival nor
//! repeated deliveries change the state.
//!
//! [`Histories`] is a store of histories; its engines are in `bankrail-stores`.

mod kept;
mod mandate;
mod open;
mod payment;

pub use kept::{Fold, Histories, History, HistoryId, HistoryState, KeptHistory, follow_changes};
pub use mandate::{MandateHistory, MandateState};
pub use open::{OpenOutcome, OpenOutcomes, OpenState};
pub use payment::{PaymentHistory, PaymentState};

/// The effect of a message on the history that it was applied to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Observation {
    /// The state changed.
    Advanced,
    /// The state changed to one that the rules do not reach from the known messages: an earlier
    /// message is missing, or was processed later.
    OutOfSequence,
    /// A new message that does not change the state.
    Unchanged,
    /// A message about an earlier state than the known one, because it arrived late.
    Stale,
    /// A message that was applied before.
    Repeated,
    /// A message that contradicts earlier ones. The state stays contradictory; a person must
    /// decide.
    Contradictory,
    /// A message about another mandate or payment, or with a status that this version does not
    /// know.
    NotApplicable,
}
