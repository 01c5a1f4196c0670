//! Where a payment or a mandate stands, from messages in any order.
//!
//! Messages are delivered at least once and out of sequence, and carry no version number; `creation_date_time` is the
//! sender's processing time. So the transition rules decide first and time second (Default: "Transitions"). Both
//! histories hold what they were told as a set and derive the state from it: the order of arrival and repetitions
//! cannot matter.

mod mandate;
mod payment;

pub use mandate::{MandateHistory, MandateState};
pub use payment::{PaymentHistory, PaymentState};

/// What a message meant for a history when it was applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Observation {
    /// The state moved.
    Advanced,
    /// The state moved, to one that the rules do not reach from what is known: something before it is missing, or was
    /// processed later than it.
    OutOfSequence,
    /// News that leave the state as it was.
    Unchanged,
    /// An earlier state than the one already known: it arrived late.
    Stale,
    /// A message already applied.
    Repeated,
    /// It cannot be true together with what is known: a person must look. The state says so until the end.
    Contradictory,
    /// A message about something else, or with a status that this version does not know.
    NotApplicable,
}
