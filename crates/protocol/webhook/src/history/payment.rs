//! The history of one payment instruction.

use super::{Observation, OpenOutcome, OpenState};
use crate::codes::TransactionStatus;
use crate::message::WebhookMessage;
use crate::message::payment_outcome::PaymentOutcome;
use bankrail_mailbox::Fingerprint;
use bankrail_values::Timestamp;
use std::collections::BTreeMap;

/// The state of a payment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PaymentState {
    /// No message has shown the state yet.
    Unknown,
    /// `PDNG`: warehoused, so that another outcome follows.
    Warehoused,
    /// `ACSP`: settlement pending, so that another outcome follows.
    SettlementPending,
    /// `ACSC`: settled, final.
    Settled,
    /// `RJCT`: rejected, final.
    Rejected,
    /// Both the settlement and the rejection of the payment were reported: a person must decide.
    Contradictory,
}

/// The outcomes of one payment instruction, applied in any order.
///
/// ```
/// use bankrail_webhook::history::{Observation, PaymentHistory, PaymentState};
/// use bankrail_webhook::{PaymentOutcome, TransactionStatus};
/// let at = |time: &str| time.parse().unwrap();
/// let settled = PaymentOutcome::new(at("2021-07-29T02:00:00.000Z"), TransactionStatus::SettlementCompleted);
/// let warehoused = PaymentOutcome::new(at("2021-07-29T01:00:00.000Z"), TransactionStatus::Warehoused);
/// let mut history = PaymentHistory::new();
/// assert_eq!(history.apply(&settled), Observation::Advanced);
/// assert_eq!(history.apply(&warehoused), Observation::Stale);
/// assert_eq!(history.state(), PaymentState::Settled);
/// ```
///
/// A history is serialized as the list of its outcomes, so that it can be stored.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(from = "Vec<StoredOutcome>", into = "Vec<StoredOutcome>")]
pub struct PaymentHistory {
    /// The earliest processing time of an outcome, by rank and fingerprint.
    outcomes: BTreeMap<(Rank, Fingerprint), Timestamp>,
}

/// The serialized form of an outcome.
#[derive(serde::Serialize, serde::Deserialize)]
struct StoredOutcome {
    status: Rank,
    fingerprint: Fingerprint,
    at: Timestamp,
}

impl From<Vec<StoredOutcome>> for PaymentHistory {
    fn from(stored: Vec<StoredOutcome>) -> Self {
        let mut history = Self::new();
        for StoredOutcome {
            status,
            fingerprint,
            at,
        } in stored
        {
            let earliest = history.outcomes.entry((status, fingerprint)).or_insert(at);
            *earliest = at.min(*earliest);
        }
        history
    }
}

impl From<PaymentHistory> for Vec<StoredOutcome> {
    fn from(history: PaymentHistory) -> Self {
        let stored = |((status, fingerprint), at)| StoredOutcome {
            status,
            fingerprint,
            at,
        };
        history.outcomes.into_iter().map(stored).collect()
    }
}

#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
enum Rank {
    #[serde(rename = "PDNG")]
    Warehoused,
    #[serde(rename = "ACSP")]
    Pending,
    #[serde(rename = "ACSC")]
    Settled,
    #[serde(rename = "RJCT")]
    Rejected,
}

impl Rank {
    fn of(status: &TransactionStatus) -> Option<Self> {
        match status {
            TransactionStatus::Warehoused => Some(Self::Warehoused),
            TransactionStatus::SettlementPending => Some(Self::Pending),
            TransactionStatus::SettlementCompleted => Some(Self::Settled),
            TransactionStatus::Rejected => Some(Self::Rejected),
            TransactionStatus::Unknown(_) => None,
        }
    }

    /// Returns the step of the sequence; settled and rejected are one step.
    fn step(self) -> u8 {
        match self {
            Self::Warehoused => 0,
            Self::Pending => 1,
            Self::Settled | Self::Rejected => 2,
        }
    }
}

impl PaymentHistory {
    /// Returns an empty history.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Applies an outcome of this payment. The caller selects them by `instruction_identification`
    /// or `uetr`.
    pub fn apply(&mut self, outcome: &PaymentOutcome) -> Observation {
        let Some(rank) = Rank::of(&outcome.transaction_status) else {
            return Observation::NotApplicable;
        };
        let before = self.state();
        let highest = self.outcomes.keys().map(|(rank, _)| rank.step()).max();
        let time = outcome.creation_date_time;
        let known = self.outcomes.contains_key(&(rank, outcome.fingerprint()));
        let earliest = self
            .outcomes
            .entry((rank, outcome.fingerprint()))
            .or_insert(time);
        // Keeps the earliest time, so that the order of arrival makes no difference.
        *earliest = time.min(*earliest);
        if known {
            return Observation::Repeated;
        }
        let after = self.state();
        if after == PaymentState::Contradictory {
            return Observation::Contradictory;
        }
        if after != before {
            // All other outcomes are earlier steps. This one is out of sequence if one of them was
            // processed later.
            let out_of_time = self.outcomes.values().any(|at| *at > time);
            return if out_of_time {
                Observation::OutOfSequence
            } else {
                Observation::Advanced
            };
        }
        if highest.is_some_and(|highest| rank.step() < highest) {
            Observation::Stale
        } else {
            Observation::Unchanged
        }
    }

    /// Adds the outcomes of another history of the same payment, which was known under another
    /// name.
    pub(super) fn merge(&mut self, other: Self) {
        for (outcome, at) in other.outcomes {
            let earliest = self.outcomes.entry(outcome).or_insert(at);
            *earliest = at.min(*earliest);
        }
    }

    /// Returns the state of the payment.
    #[must_use]
    pub fn state(&self) -> PaymentState {
        let has = |rank| self.outcomes.keys().any(|(known, _)| *known == rank);
        match (has(Rank::Settled), has(Rank::Rejected)) {
            (true, true) => PaymentState::Contradictory,
            (true, false) => PaymentState::Settled,
            (false, true) => PaymentState::Rejected,
            (false, false) if has(Rank::Pending) => PaymentState::SettlementPending,
            (false, false) if has(Rank::Warehoused) => PaymentState::Warehoused,
            (false, false) => PaymentState::Unknown,
        }
    }

    /// Returns true when no further outcome is expected.
    #[must_use]
    pub fn is_final(&self) -> bool {
        matches!(
            self.state(),
            PaymentState::Settled | PaymentState::Rejected | PaymentState::Contradictory
        )
    }

    /// Returns the announcement of another outcome, if that has not arrived.
    #[must_use]
    pub fn open(&self) -> Option<OpenOutcome> {
        let (rank, state) = match self.state() {
            PaymentState::Warehoused => (Rank::Warehoused, OpenState::Warehoused),
            PaymentState::SettlementPending => (Rank::Pending, OpenState::SettlementPending),
            _ => return None,
        };
        let outcomes = self.outcomes.iter();
        let since = outcomes.filter_map(|((known, _), at)| (*known == rank).then_some(*at));
        // The outcome has no deadline, because the message has no execution date.
        since.min().map(|since| OpenOutcome::new(state, since))
    }
}
