//! The story of a payment.

use super::{NamedSteps, STEP_INTERVAL, Teller, user};
use crate::webhook::Webhook;
use bankrail_values::{Clock, Date, Money, Timestamp};
use bankrail_webhook::history::PaymentState;
use bankrail_webhook::message::Text35;
use bankrail_webhook::sender::{PaymentCondition, PaymentInstruction};
use bankrail_webhook::{MandateId, MessageAmount, OriginalTransaction, TransactionStatus, Uetr};
use std::sync::Arc;

/// The life of a payment instruction of a biller, as its outcomes (Specification: "Payment
/// instruction (MPIR) outcome rules").
///
/// - All outcomes name one instruction, by both of its identifiers, and answer one request.
/// - Each is later than the one before: the clock's time, and if the clock stands still, a
///   millisecond later.
/// - An outcome that the rules do not allow, such as a settlement before the execution date, panics
///   at the caller's line.
///
/// ```
/// use bankrail_emulator::PaymentStory;
/// use bankrail_values::{ManualClock, Timestamp};
/// use bankrail_webhook::history::PaymentState;
///
/// let clock = std::sync::Arc::new(ManualClock::new(Timestamp::UNIX_EPOCH));
/// let mut payment = PaymentStory::new(7, clock).amount("12.50 AUD");
/// let (delayed, settled) = (payment.delayed(), payment.settled());
/// assert_eq!(payment.state(), PaymentState::Settled);
/// assert!(delayed.message.creation_date_time() < settled.message.creation_date_time());
/// ```
#[derive(Debug)]
pub struct PaymentStory {
    teller: Teller,
    instruction: PaymentInstruction,
    accepted: Timestamp,
    amount: MessageAmount,
    mandate: Option<MandateId>,
    original: String,
}

/// The stories of payments that [`story`](super::story) tells.
pub(super) const STORIES: [NamedSteps<PaymentStory>; 4] = [
    (
        "payment",
        &[
            PaymentStory::warehoused_for_tomorrow,
            PaymentStory::delayed,
            PaymentStory::settled,
        ],
    ),
    ("payment-same-day", &[PaymentStory::settled]),
    (
        "payment-delayed",
        &[PaymentStory::delayed, PaymentStory::settled],
    ),
    (
        "payment-rejected",
        &[
            PaymentStory::warehoused_for_tomorrow,
            PaymentStory::delayed,
            |payment| payment.rejected("AM04"),
        ],
    ),
];

impl PaymentStory {
    /// Returns a received instruction of 10.00 AUD, with identifiers from a seed.
    #[must_use]
    pub fn new(seed: u64, clock: Arc<dyn Clock>) -> Self {
        let teller = Teller::new(seed, clock);
        let accepted = teller.now();
        let day = accepted.date().to_string().replace('-', "");
        let id = format!(
            "FAKEBANKXXXN{day}{:015}",
            teller.ids.number() % 1_000_000_000_000_000
        );
        let uetr = Uetr::from_uuid(teller.ids.uuid()).expect("a UUID of version 4");
        let instruction =
            PaymentInstruction::new(teller.request(), id.parse().expect("35 characters"))
                .with_uetr(uetr);
        let original = format!("INV-{:06}", teller.ids.number() % 1_000_000);
        Self {
            teller,
            instruction,
            accepted,
            amount: amount("10.00 AUD"),
            mandate: None,
            original,
        }
    }

    /// Sets the amount instructed, such as `12.50 AUD`.
    ///
    /// # Panics
    /// If the text is no amount of money.
    #[must_use]
    #[track_caller]
    pub fn amount(mut self, amount: &str) -> Self {
        let money: Result<Money, _> = amount.parse();
        self.amount = money
            .unwrap_or_else(|error| panic!("a payment of {amount:?}: {error}"))
            .into();
        self
    }

    /// Sets the mandate under which the payment is made.
    #[must_use]
    pub fn of_mandate(mut self, mandate: MandateId) -> Self {
        self.mandate = Some(mandate);
        self
    }

    /// The identifier that the bank assigned (`instruction_identification`).
    #[must_use]
    pub fn id(&self) -> &Text35 {
        self.instruction.instruction_identification()
    }

    /// Returns the state after the last outcome.
    #[must_use]
    pub fn state(&self) -> PaymentState {
        match self.instruction.status() {
            Some(TransactionStatus::Warehoused) => PaymentState::Warehoused,
            Some(TransactionStatus::SettlementPending) => PaymentState::SettlementPending,
            Some(TransactionStatus::SettlementCompleted) => PaymentState::Settled,
            Some(TransactionStatus::Rejected) => PaymentState::Rejected,
            _ => PaymentState::Unknown,
        }
    }

    /// Schedules the payment for a later date: an outcome `PDNG`.
    ///
    /// # Panics
    /// If the date is not in the future, or the story has an outcome already.
    #[track_caller]
    pub fn warehoused(&mut self, requested_execution_date: Date) -> Webhook {
        self.tell(&PaymentCondition::FutureDated {
            requested_execution_date,
        })
    }

    fn warehoused_for_tomorrow(&mut self) -> Webhook {
        self.warehoused(self.accepted.saturating_add(STEP_INTERVAL).date())
    }

    /// The settlement is delayed: `ACSP`.
    ///
    /// # Panics
    /// If the rules do not allow it after the last outcome.
    #[track_caller]
    pub fn delayed(&mut self) -> Webhook {
        self.tell(&PaymentCondition::Delayed)
    }

    /// The payment is settled: `ACSC`.
    ///
    /// # Panics
    /// If the rules do not allow it after the last outcome.
    #[track_caller]
    pub fn settled(&mut self) -> Webhook {
        self.tell(&PaymentCondition::Settled)
    }

    /// The payment is rejected for a reason of 1 to 4 characters from an external list, such as
    /// `AM04`: `RJCT`.
    ///
    /// # Panics
    /// If the rules do not allow it after the last outcome, or if the reason is too long.
    #[track_caller]
    pub fn rejected(&mut self, reason_code: &str) -> Webhook {
        let reason_code = reason_code
            .parse()
            .unwrap_or_else(|error| panic!("the reason of a rejection: {error}"));
        self.tell(&PaymentCondition::Failed { reason_code })
    }

    #[track_caller]
    fn tell(&mut self, condition: &PaymentCondition) -> Webhook {
        let now = self.teller.now();
        let outcome = self.instruction.report(condition, now, now.date());
        let outcome =
            outcome.unwrap_or_else(|error| panic!("no such outcome of this payment: {error}"));
        let original = OriginalTransaction::new()
            .original_instruction_identification(self.original.clone())
            .instructed_amount(self.amount.clone());
        let original = match self.mandate {
            Some(mandate) => original.mandate_identification(mandate),
            None => original,
        };
        let outcome = outcome
            .mps_user_id(user())
            .acceptance_date_time(self.accepted)
            .original_transaction_reference(original);
        Webhook::new(outcome, self.teller.answering(self.instruction.request()))
    }
}

fn amount(text: &str) -> MessageAmount {
    text.parse::<Money>()
        .expect("a constant that is an amount")
        .into()
}
