//! One payment instruction and its outcomes, on the sender's side.

use super::{OriginalRequest, RequestMismatchError};
use crate::codes::TransactionStatus;
use crate::ids::Uetr;
use crate::message::Text35;
use crate::message::payment_outcome::PaymentOutcome;
use bankrail_values::{BoundedText, Date, Timestamp};

/// An event in the life of a payment instruction (Specification: "Payment instruction (MPIR)
/// outcome rules", condition).
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(
    clippy::exhaustive_enums,
    reason = "the specification's table has four rows"
)]
pub enum PaymentCondition {
    /// The payment was processed and settled: `ACSC`.
    Settled,
    /// The payment is to be executed on a later day: `PDNG`.
    FutureDated {
        /// The day on which the payment is to be executed.
        requested_execution_date: Date,
    },
    /// The settlement is delayed: `ACSP`.
    Delayed,
    /// The payment is invalid or could not be settled: `RJCT`.
    Failed {
        /// The reason, a code from an external list.
        reason_code: BoundedText<1, 4>,
    },
}

/// The record of a payment instruction that the sender of its outcomes keeps: the request, the
/// payment's names and the reported stages (Specification: "Payment instruction (MPIR) outcome
/// rules").
///
/// | reported | next outcome |
/// |---|---|
/// | nothing | `ACSC`, `PDNG`, `ACSP`, `RJCT` |
/// | `PDNG` | from the execution date on `ACSC` and `ACSP`; `RJCT` on any day (Default) |
/// | `ACSP` | `ACSC`, `RJCT` |
/// | `ACSC`, `RJCT` | nothing: they are final |
///
/// ```
/// use bankrail_webhook::TransactionStatus;
/// use bankrail_webhook::sender::{OriginalRequest, PaymentCondition, PaymentInstruction};
/// let request = OriginalRequest::new("2d1e8c34-7f60-4b1f-8a3d-5b9c0e6f7a21".parse()?);
/// let mut instruction = PaymentInstruction::new(request, "I-42".parse()?);
/// let (now, today) = ("2021-07-29T01:00:00.000Z".parse()?, "2021-07-29".parse()?);
/// let outcome = instruction.report(&PaymentCondition::Delayed, now, today)?;
/// assert_eq!(outcome.transaction_status, TransactionStatus::SettlementPending);
/// assert!(instruction.expects_outcome());
/// instruction.report(&PaymentCondition::Settled, now, today)?;
/// assert!(!instruction.expects_outcome());
/// assert!(instruction.report(&PaymentCondition::Settled, now, today).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct PaymentInstruction {
    request: OriginalRequest,
    instruction_identification: Text35,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    uetr: Option<Uetr>,
    /// The stages that were reported, in order.
    reported: Vec<Stage>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
enum Stage {
    #[serde(rename = "PDNG")]
    Warehoused { until: Date },
    #[serde(rename = "ACSP")]
    Pending,
    #[serde(rename = "ACSC")]
    Settled,
    #[serde(rename = "RJCT")]
    Rejected,
}

impl Stage {
    fn status(self) -> TransactionStatus {
        match self {
            Self::Warehoused { .. } => TransactionStatus::Warehoused,
            Self::Pending => TransactionStatus::SettlementPending,
            Self::Settled => TransactionStatus::SettlementCompleted,
            Self::Rejected => TransactionStatus::Rejected,
        }
    }
}

impl PaymentInstruction {
    /// Returns the record of a received instruction with the identification that the provider
    /// assigned.
    #[must_use]
    pub fn new(request: OriginalRequest, instruction_identification: Text35) -> Self {
        Self {
            request,
            instruction_identification,
            uetr: None,
            reported: Vec::new(),
        }
    }

    /// Adds the instruction's end-to-end reference, which its outcomes echo.
    #[must_use]
    pub fn with_uetr(mut self, uetr: Uetr) -> Self {
        self.uetr = Some(uetr);
        self
    }

    /// Returns the values that the outcomes echo in their headers.
    #[must_use]
    pub fn request(&self) -> &OriginalRequest {
        &self.request
    }

    /// Returns the identification that the provider assigned.
    #[must_use]
    pub fn instruction_identification(&self) -> &Text35 {
        &self.instruction_identification
    }

    /// Returns the end-to-end reference, if it is known.
    #[must_use]
    pub fn uetr(&self) -> Option<Uetr> {
        self.uetr
    }

    /// Returns the status that was reported last.
    #[must_use]
    pub fn status(&self) -> Option<TransactionStatus> {
        self.reported.last().map(|stage| stage.status())
    }

    /// Returns true while an outcome is still to be sent: until `ACSC` or `RJCT` was reported.
    #[must_use]
    pub fn expects_outcome(&self) -> bool {
        !matches!(self.reported.last(), Some(Stage::Settled | Stage::Rejected))
    }

    /// Returns the first day on which the settlement outcome of a warehoused instruction is due.
    /// `None` if it is not warehoused.
    #[must_use]
    pub fn due(&self) -> Option<Date> {
        match self.reported.last() {
            Some(Stage::Warehoused { until }) => Some(*until),
            _ => None,
        }
    }

    /// Reports an event: makes the outcome with the status of the condition, the instruction's
    /// names and, with `RJCT`, the reason, and records that the status was reported.
    ///
    /// `now` is the time at which the outcome is processed; `today` is the day at the place whose
    /// calendar execution dates follow. Store the instruction in the transaction that stores the
    /// outcome: an outcome must not be sent if its record is lost.
    ///
    /// # Errors
    /// [`ReportError`] if the status must not be reported; the instruction is then unchanged.
    pub fn report(
        &mut self,
        condition: &PaymentCondition,
        now: Timestamp,
        today: Date,
    ) -> Result<PaymentOutcome, ReportError> {
        // Decided before anything is recorded, so that a refused report changes nothing.
        let next = self.next(condition, today)?;
        self.reported.push(next);
        let outcome = PaymentOutcome::new(now, next.status())
            .instruction_identification(self.instruction_identification.clone());
        let outcome = match self.uetr {
            Some(uetr) => outcome.uetr(uetr),
            None => outcome,
        };
        Ok(match condition {
            PaymentCondition::Failed { reason_code } => {
                outcome.transaction_status_reason_code(reason_code.clone())
            }
            _ => outcome,
        })
    }

    fn next(&self, condition: &PaymentCondition, today: Date) -> Result<Stage, ReportError> {
        let last = self.reported.last().copied();
        let reported = |last: Stage| ReportError::Reported {
            status: last.status(),
        };
        match (last, condition) {
            (Some(last @ (Stage::Settled | Stage::Rejected)), _) => Err(ReportError::Final {
                status: last.status(),
            }),
            // Stands before the rules about days, because a payment can fail on any day.
            (_, PaymentCondition::Failed { .. }) => Ok(Stage::Rejected),
            (Some(last), PaymentCondition::FutureDated { .. }) => Err(reported(last)),
            (
                None,
                PaymentCondition::FutureDated {
                    requested_execution_date,
                },
            ) => {
                if *requested_execution_date > today {
                    Ok(Stage::Warehoused {
                        until: *requested_execution_date,
                    })
                } else {
                    Err(ReportError::NotFutureDated {
                        requested_execution_date: *requested_execution_date,
                    })
                }
            }
            (Some(Stage::Warehoused { until }), _) if today < until => {
                Err(ReportError::NotDue { until })
            }
            (Some(last @ Stage::Pending), PaymentCondition::Delayed) => Err(reported(last)),
            (_, PaymentCondition::Delayed) => Ok(Stage::Pending),
            (_, PaymentCondition::Settled) => Ok(Stage::Settled),
        }
    }

    /// Checks that an outcome is about this instruction and was reported.
    pub(super) fn check(&self, outcome: &PaymentOutcome) -> Result<(), RequestMismatchError> {
        if outcome
            .instruction_identification
            .as_ref()
            .is_some_and(|id| *id != self.instruction_identification)
        {
            return Err(RequestMismatchError::Instruction {
                pointer: "/instruction_identification",
            });
        }
        if outcome.uetr.is_some() && outcome.uetr != self.uetr {
            return Err(RequestMismatchError::Instruction { pointer: "/uetr" });
        }
        let reported = self
            .reported
            .iter()
            .any(|stage| stage.status() == outcome.transaction_status);
        if reported {
            Ok(())
        } else {
            Err(RequestMismatchError::Status)
        }
    }
}

/// The reason why an event of a payment instruction must not be reported.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// A final status was reported, after which no outcome follows.
    #[error("expected an instruction without a final status, found {status}")]
    Final {
        /// The status.
        status: TransactionStatus,
    },
    /// The status, or a later one, was already reported.
    #[error("expected a status that follows {status}, found an earlier one or the same")]
    Reported {
        /// The status that was reported last.
        status: TransactionStatus,
    },
    /// The execution date is not in the future.
    #[error("expected an execution date in the future, found {requested_execution_date}")]
    NotFutureDated {
        /// The requested execution date.
        requested_execution_date: Date,
    },
    /// The instruction is warehoused and its execution date has not been reached.
    #[error("expected a day from {until} on, found an earlier one")]
    NotDue {
        /// The execution date.
        until: Date,
    },
}
