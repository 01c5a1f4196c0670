//! Rules for mandate outcomes and mandate notifications.

use super::parties::amended_debtor;
use super::payment::amended_payment_information;
use super::{absent, present};
use crate::codes::{
    ActionStatus, ActionType, MandateStatus, OutcomeStatus, StatusChangeCode, Trigger,
};
use crate::finding::Rule;
use crate::json::Context;
use crate::message::details::{self, Change};
use crate::message::mandate_notification::MandateNotification;
use crate::message::mandate_outcome::MandateActionOutcome;
use crate::message::read::Agreement;

impl Agreement for MandateActionOutcome {
    fn check_agreement(&self, at: &mut Context) {
        match (&self.status, &self.error) {
            (OutcomeStatus::Rejected, None) => {
                absent(at, "error", Rule::OutcomeError, "an error with RJCT")
            }
            (OutcomeStatus::Succeeded, Some(_)) => {
                present(at, "error", Rule::OutcomeError, "no error with SUCC")
            }
            _ => {}
        }
        if self.status == OutcomeStatus::Succeeded && self.mandate_identification.is_none() {
            absent(
                at,
                "mandate_identification",
                Rule::OutcomeMandate,
                "a mandate with SUCC",
            );
        }
        // Without an action type the rules about actions do not apply.
        let amendable = match &self.action_type {
            Some(action) => matches!(
                action,
                ActionType::Create | ActionType::Amend | ActionType::Unknown(_)
            ),
            None => true,
        };
        if !amendable && self.bilateral.is_some() {
            present(
                at,
                "bilateral",
                Rule::Bilateral,
                "no value unless with CREA or AMND",
            );
        }
        if !amendable && self.debtor_alias_name.is_some() {
            present(
                at,
                "debtor_alias_name",
                Rule::DebtorAliasName,
                "no value unless with CREA or AMND",
            );
        }
        if self.status == OutcomeStatus::Succeeded
            && let (Some(action), Some(status)) = (&self.action_type, &self.action_status)
        {
            action_and_mandate(action, status, self.mandate_status.as_ref(), at);
        }
    }
}

/// Compares the mandate status with the action (Default: "Transitions").
fn action_and_mandate(
    action: &ActionType,
    status: &ActionStatus,
    mandate: Option<&MandateStatus>,
    at: &mut Context,
) {
    use ActionStatus::{Completed, Declined, Pending, Recalled, TimedOut};
    use MandateStatus::{Active, Cancelled, Created, Suspended};
    let Some(mandate) = mandate else { return };
    let allowed: &[MandateStatus] = match (action, status) {
        (ActionType::Create, Pending) => &[Created],
        (ActionType::Create, Completed) => &[Active],
        (ActionType::Create, Declined | Recalled | TimedOut) => &[Cancelled],
        (ActionType::Amend | ActionType::Port, _) => &[Active, Suspended],
        (ActionType::StatusChange, Completed) => &[Active, Suspended, Cancelled],
        _ => return,
    };
    allowed_status(allowed, mandate, Rule::ActionMandateStatus, at);
}

/// Checks that a known status is one of those allowed.
fn allowed_status(allowed: &[MandateStatus], found: &MandateStatus, rule: Rule, at: &mut Context) {
    // A code outside the list has a finding already, and may have any meaning.
    if !found.is_known() || allowed.contains(found) {
        return;
    }
    let codes: Vec<&str> = allowed.iter().map(MandateStatus::as_str).collect();
    let expected = match codes.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    };
    at.within("mandate_status", |at| {
        at.find(rule, expected, found.as_str())
    });
}

/// The values that go with a trigger (Default: "Consistency that real messages show").
pub(crate) struct Expected {
    pub(crate) action_type: ActionType,
    pub(crate) action_status: ActionStatus,
    pub(crate) mandate_status: &'static [MandateStatus],
    /// The expected variant of `details`.
    details: &'static str,
}

/// The value of `Expected::details` for absent `details`.
const NONE: &str = "none";

pub(crate) fn expected(trigger: &Trigger) -> Option<Expected> {
    use ActionStatus::{Completed, Declined, TimedOut};
    use ActionType::{Amend, Create};
    use MandateStatus::{Active, Cancelled, Suspended};
    const KEPT: &[MandateStatus] = &[Active, Suspended];
    let row: (_, _, &[MandateStatus], _) = match trigger {
        Trigger::CreationConfirmed => (Create, Completed, &[Active], NONE),
        Trigger::CreationDeclined => (Create, Declined, &[Cancelled], NONE),
        Trigger::CreationExpired => (Create, TimedOut, &[Cancelled], NONE),
        Trigger::AmendmentConfirmed => (Amend, Completed, KEPT, details::BILATERAL),
        Trigger::AmendmentDeclined => (Amend, Declined, KEPT, details::BILATERAL),
        Trigger::AmendmentExpired => (Amend, TimedOut, KEPT, details::BILATERAL),
        Trigger::AmendedUnilaterally => (Amend, Completed, KEPT, details::AMENDMENT),
        Trigger::StatusChanged => (
            ActionType::StatusChange,
            Completed,
            &[Active, Suspended, Cancelled],
            details::STATUS,
        ),
        Trigger::Unknown(_) => return None,
    };
    let (action_type, action_status, mandate_status, details) = row;
    Some(Expected {
        action_type,
        action_status,
        mandate_status,
        details,
    })
}

impl Agreement for MandateNotification {
    fn check_agreement(&self, at: &mut Context) {
        let change = self.details.as_ref().map(|details| &details.change);
        match change {
            Some(Change::Amendment(amendment)) => {
                if let Some(debtor) = &amendment.debtor_information {
                    at.within("details/amendment/debtor_information", |at| {
                        amended_debtor(debtor, at)
                    });
                }
            }
            Some(Change::BilateralAmendment(amendment)) => {
                if let Some(payment) = &amendment.payment_information {
                    let place = "details/bilateral_amendment/payment_information";
                    at.within(place, |at| amended_payment_information(payment, at));
                }
            }
            Some(Change::StatusChange(change)) => {
                at.within("details/status_change", |at| {
                    status_change(change.change.as_ref(), self, at)
                });
            }
            Some(Change::Unknown) | None => {}
        }
        let Some(expected) = expected(&self.trigger) else {
            return;
        };
        agree(
            at,
            "action_type",
            Rule::TriggerActionType,
            &self.action_type,
            &expected.action_type,
            ActionType::as_str,
        );
        agree(
            at,
            "action_status",
            Rule::TriggerActionStatus,
            &self.action_status,
            &expected.action_status,
            ActionStatus::as_str,
        );
        if let Some(status) = &self.mandate_status {
            allowed_status(
                expected.mandate_status,
                status,
                Rule::TriggerMandateStatus,
                at,
            );
        }
        let found = change.map_or(Some(NONE), Change::name);
        if let Some(found) = found.filter(|found| *found != expected.details) {
            at.within("details", |at| {
                at.find(Rule::TriggerDetails, expected.details, found)
            });
        }
        if self.trigger == Trigger::CreationDeclined && self.resolution_event.is_none() {
            absent(
                at,
                "resolution_event",
                Rule::ResolutionEvent,
                "a reason with MCRD",
            );
        }
    }
}

fn agree<T: PartialEq>(
    at: &mut Context,
    member: &str,
    rule: Rule,
    found: &T,
    wanted: &T,
    text: fn(&T) -> &str,
) {
    if found != wanted {
        at.within(member, |at| {
            at.find(
                rule,
                text(wanted).to_owned(),
                bankrail_values::excerpt(text(found)),
            )
        });
    }
}

/// Compares the change with the mandate status: cancel leads to `CNCD`, release to `ACTV`, suspend
/// to `SUSD`.
fn status_change(
    change: Option<&StatusChangeCode>,
    message: &MandateNotification,
    at: &mut Context,
) {
    let (Some(change), Some(status)) = (change, &message.mandate_status) else {
        return;
    };
    let wanted = match change {
        StatusChangeCode::Cancel => MandateStatus::Cancelled,
        StatusChangeCode::Release => MandateStatus::Active,
        StatusChangeCode::Suspend => MandateStatus::Suspended,
        StatusChangeCode::Unknown(_) => return,
    };
    if status.is_known() && *status != wanted {
        at.within("change", |at| {
            let expected = format!("a change that leads to {status}");
            at.find(Rule::StatusChange, expected, change.as_str());
        });
    }
}
