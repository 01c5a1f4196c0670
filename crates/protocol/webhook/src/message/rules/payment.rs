//! Rules for payment outcomes, queries and the amounts of a mandate.

use super::parties::debtor;
use super::{absent, present};
use crate::codes::{AmountType, CaseType, TransactionStatus};
use crate::finding::Rule;
use crate::json::Context;
use crate::message::payment_information::{AmendedPaymentInformation, PaymentInformation};
use crate::message::payment_outcome::PaymentOutcome;
use crate::message::query_notification::QueryNotification;
use crate::message::read::Agreement;
use bankrail_values::excerpt;

impl Agreement for PaymentOutcome {
    fn check_agreement(&self, at: &mut Context) {
        let rejected = self.transaction_status == TransactionStatus::Rejected;
        if rejected && self.transaction_status_reason_code.is_none() {
            absent(
                at,
                "transaction_status_reason_code",
                Rule::RejectionReason,
                "a reason with RJCT",
            );
        }
        if self.instruction_identification.is_none() && self.uetr.is_none() {
            let expected = "an instruction_identification or a uetr";
            absent(
                at,
                "instruction_identification",
                Rule::PaymentReference,
                expected,
            );
        }
    }
}

impl Agreement for QueryNotification {
    fn check_agreement(&self, at: &mut Context) {
        if let Some(count) = &self.reminder_count
            && !count.as_str().bytes().all(|b| b.is_ascii_digit())
        {
            at.within("reminder_count", |at| {
                at.find(Rule::ReminderCount, "digits", excerpt(count.as_str()))
            });
        }
        if self.case_type == CaseType::Payments && self.payment_details.is_none() {
            absent(
                at,
                "payment_details",
                Rule::PaymentDetails,
                "payment details with a case about payments",
            );
        }
        let details = &self.mandate_details;
        if let Some(party) = &details.debtor_information {
            at.within("mandate_details/debtor_information", |at| debtor(party, at));
        }
        if let Some(information) = &details.payment_information {
            at.within("mandate_details/payment_information", |at| {
                payment_information(information, at)
            });
        }
    }
}

/// - `FIXE` needs `amount` and has no `maximum_amount`.
/// - The other types have no `amount`; `maximum_amount` may bound them.
/// - Each type but `BALN` needs at least one amount.
fn payment_information(information: &PaymentInformation, at: &mut Context) {
    let any = information.amount.is_some()
        || information.maximum_amount.is_some()
        || information.first_payment_amount.is_some()
        || information.last_payment_amount.is_some();
    match &information.payment_amount_type {
        Some(AmountType::Fixed) => {
            if !any {
                absent(at, "amount", Rule::AmountMissing, "an amount with FIXE");
            } else if information.amount.is_none() {
                absent(at, "amount", Rule::AmountType, "an amount with FIXE");
            }
            if information.maximum_amount.is_some() {
                present(
                    at,
                    "maximum_amount",
                    Rule::AmountType,
                    "no maximum with FIXE",
                );
            }
        }
        Some(AmountType::Variable | AmountType::Usage) => {
            if !any {
                absent(
                    at,
                    "maximum_amount",
                    Rule::AmountMissing,
                    "an amount with VARI or USGB",
                );
            } else if information.amount.is_some() {
                present(at, "amount", Rule::AmountType, "no amount unless with FIXE");
            }
        }
        Some(AmountType::Balance) if information.amount.is_some() => {
            present(at, "amount", Rule::AmountType, "no amount unless with FIXE");
        }
        _ => {}
    }
}

/// Checks the amounts of an amendment. An amendment has only changed members, so a changed amount
/// type needs its amount in the same amendment.
pub(super) fn amended_payment_information(
    information: &AmendedPaymentInformation,
    at: &mut Context,
) {
    match information.payment_amount_type.changed() {
        Some(AmountType::Fixed) if information.amount.changed().is_none() => {
            absent(
                at,
                "amount",
                Rule::AmountType,
                "an amount with a change to FIXE",
            );
        }
        Some(AmountType::Variable | AmountType::Usage | AmountType::Balance)
            if information.amount.changed().is_some() =>
        {
            present(at, "amount", Rule::AmountType, "no amount unless with FIXE");
        }
        _ => {}
    }
    if let (Some(first), Some(last)) = (
        information.first_payment_date.changed(),
        information.last_payment_date.changed(),
    ) && last < first
    {
        let expected = format!("a date from {first} on");
        at.within("last_payment_date", |at| {
            at.find(Rule::DateOrder, expected, last.to_string())
        });
    }
}
