//! The rules of consistency: values of one message that must agree. Reported, never a reason to refuse.

use super::mandate_notification::MandateNotification;
use super::mandate_outcome::MandateActionOutcome;
use super::payment_outcome::PaymentOutcome;
use super::query_notification::QueryNotification;
use crate::finding::Rule;
use crate::json::Context;

pub(super) fn mandate_outcome(message: &MandateActionOutcome, at: &mut Context) {
    if let Some(error) = &message.error {
        at.within("error", |at| {
            if error.code.is_none() {
                at.within("code", |at| at.find(Rule::DefaultRequired, "a value", "none"));
            }
            if error.severity.is_none() {
                at.within("severity", |at| at.find(Rule::DefaultRequired, "a value", "none"));
            }
        });
    }
}

pub(super) fn mandate_notification(_message: &MandateNotification, _at: &mut Context) {}

pub(super) fn payment_outcome(_message: &PaymentOutcome, _at: &mut Context) {}

pub(super) fn query(_message: &QueryNotification, _at: &mut Context) {}
