//! Rules for mandate outcomes and mandate notifications.

use super::parties::amended_debtor;
use super::payment::amended_payment_information;
use super::{absent, present};
use crate::codes::{ActionStatus, ActionType, MandateStatus, OutcomeStatus, StatusChangeCode, Trigger};
use crate::finding::Rule;
use crate::json::Context;
use crate::message::details::Change;
use crate::message::mandate_notification::MandateNotification;
use crate::message::mandate_outcome::MandateActionOutcome;

pub(crate) fn mandate_outcome(message: &MandateActionOutcome, at: &mut Context) {
    match (&message.status, &message.error) {
        (OutcomeStatus::Rejected, None) => absent(at, "error", Rule::OutcomeError, "an error with RJCT"),
        (OutcomeStatus::Succeeded, Some(_)) => present(at, "error", Rule::OutcomeError, "no error with SUCC"),
        _ => {}
    }
    if message.status == OutcomeStatus::Succeeded && message.mandate_identification.is_none() {
        absent(at, "mandate_identification", Rule::OutcomeMandate, "a mandate with SUCC");
    }
    // Without an action type there is nothing to compare with.
    let amendable = match &message.action_type {
        Some(action) => matches!(action, ActionType::Create | ActionType::Amend | ActionType::Unknown(_)),
        None => true,
    };
    if !amendable && message.bilateral.is_some() {
        present(at, "bilateral", Rule::Bilateral, "no value unless with CREA or AMND");
    }
    if !amendable && message.debtor_alias_name.is_some() {
        present(at, "debtor_alias_name", Rule::DebtorAliasName, "no value unless with CREA or AMND");
    }
    if message.status == OutcomeStatus::Succeeded
        && let (Some(action), Some(status)) = (&message.action_type, &message.action_status)
    {
        action_and_mandate(action, status, message.mandate_status.as_ref(), at);
    }
}

/// Compares the mandate status with the action (Default: "Transitions").
fn action_and_mandate(action: &ActionType, status: &ActionStatus, mandate: Option<&MandateStatus>, at: &mut Context) {
    use ActionStatus::{Completed, Declined, Pending, Recalled, TimedOut};
    use MandateStatus::{Active, Cancelled, Created, Suspended};
    let Some(mandate) = mandate else { return };
    let (allowed, expected): (&[MandateStatus], _) = match (action, status) {
        (ActionType::Create, Pending) => (&[Created], "CRTD"),
        (ActionType::Create, Completed) => (&[Active], "ACTV"),
        (ActionType::Create, Declined | Recalled | TimedOut) => (&[Cancelled], "CNCD"),
        (ActionType::Amend | ActionType::Port, _) => (&[Active, Suspended], "ACTV or SUSD"),
        (ActionType::StatusChange, Completed) => (&[Active, Suspended, Cancelled], "ACTV, SUSD or CNCD"),
        _ => return,
    };
    if !matches!(mandate, MandateStatus::Unknown(_)) && !allowed.contains(mandate) {
        at.within("mandate_status", |at| at.find(Rule::ActionMandateStatus, expected, mandate.as_str()));
    }
}

/// The variant of `details` that goes with a trigger.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Variant {
    None,
    Unilateral,
    Bilateral,
    Status,
}

/// The values that go with a trigger (Default: "Consistency that real messages show").
pub(crate) struct Expected {
    pub(crate) action_type: ActionType,
    pub(crate) action_status: ActionStatus,
    pub(crate) mandate_status: &'static [MandateStatus],
    mandate_text: &'static str,
    details: Variant,
}

pub(crate) fn expected(trigger: &Trigger) -> Option<Expected> {
    use ActionStatus::{Completed, Declined, TimedOut};
    use MandateStatus::{Active, Cancelled, Suspended};
    const KEPT: &[MandateStatus] = &[Active, Suspended];
    let (action_type, action_status, mandate_status, mandate_text, details): (_, _, &[MandateStatus], _, _) =
        match trigger {
            Trigger::CreationConfirmed => (ActionType::Create, Completed, &[Active], "ACTV", Variant::None),
            Trigger::CreationDeclined => (ActionType::Create, Declined, &[Cancelled], "CNCD", Variant::None),
            Trigger::CreationExpired => (ActionType::Create, TimedOut, &[Cancelled], "CNCD", Variant::None),
            Trigger::AmendmentConfirmed => (ActionType::Amend, Completed, KEPT, "ACTV or SUSD", Variant::Bilateral),
            Trigger::AmendmentDeclined => (ActionType::Amend, Declined, KEPT, "ACTV or SUSD", Variant::Bilateral),
            Trigger::AmendmentExpired => (ActionType::Amend, TimedOut, KEPT, "ACTV or SUSD", Variant::Bilateral),
            Trigger::AmendedUnilaterally => (ActionType::Amend, Completed, KEPT, "ACTV or SUSD", Variant::Unilateral),
            Trigger::StatusChanged => (
                ActionType::StatusChange,
                Completed,
                &[Active, Suspended, Cancelled],
                "ACTV, SUSD or CNCD",
                Variant::Status,
            ),
            Trigger::Unknown(_) => return None,
        };
    Some(Expected { action_type, action_status, mandate_status, mandate_text, details })
}

pub(crate) fn mandate_notification(message: &MandateNotification, at: &mut Context) {
    if let Some(details) = &message.details {
        at.within("details", |at| match &details.change {
            Change::Amendment(amendment) => {
                if let Some(debtor) = &amendment.debtor_information {
                    at.within("amendment", |at| at.within("debtor_information", |at| amended_debtor(debtor, at)));
                }
            }
            Change::BilateralAmendment(amendment) => {
                if let Some(payment) = &amendment.payment_information {
                    at.within("bilateral_amendment", |at| {
                        at.within("payment_information", |at| amended_payment_information(payment, at));
                    });
                }
            }
            Change::StatusChange(change) => {
                at.within("status_change", |at| status_change(change.change.as_ref(), message, at));
            }
            Change::Unknown => {}
        });
    }
    let Some(expected) = expected(&message.trigger) else { return };
    agree(at, "action_type", Rule::TriggerActionType, &message.action_type, &expected.action_type, ActionType::as_str);
    agree(
        at,
        "action_status",
        Rule::TriggerActionStatus,
        &message.action_status,
        &expected.action_status,
        ActionStatus::as_str,
    );
    if let Some(status) = &message.mandate_status
        && status.is_known()
        && !expected.mandate_status.contains(status)
    {
        at.within("mandate_status", |at| {
            at.find(Rule::TriggerMandateStatus, expected.mandate_text, status.as_str());
        });
    }
    let details = match message.details.as_ref().map(|details| &details.change) {
        None => Some(Variant::None),
        Some(Change::Amendment(_)) => Some(Variant::Unilateral),
        Some(Change::BilateralAmendment(_)) => Some(Variant::Bilateral),
        Some(Change::StatusChange(_)) => Some(Variant::Status),
        Some(Change::Unknown) => None,
    };
    if details.is_some_and(|details| details != expected.details) {
        let (wanted, found) = (expected.details.text(), details.map_or("", Variant::text));
        at.within("details", |at| at.find(Rule::TriggerDetails, wanted, found));
    }
    if message.trigger == Trigger::CreationDeclined && message.resolution_event.is_none() {
        absent(at, "resolution_event", Rule::ResolutionEvent, "a reason with MCRD");
    }
}

impl Variant {
    fn text(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Unilateral => "amendment",
            Self::Bilateral => "bilateral_amendment",
            Self::Status => "status_change",
        }
    }
}

fn agree<T: PartialEq>(at: &mut Context, member: &str, rule: Rule, found: &T, wanted: &T, text: fn(&T) -> &str) {
    if found != wanted {
        at.within(member, |at| at.find(rule, text(wanted).to_owned(), bankrail_values::excerpt(text(found))));
    }
}

/// Compares the change with the mandate status: cancel leads to `CNCD`, release to `ACTV`, suspend to `SUSD`.
fn status_change(change: Option<&StatusChangeCode>, message: &MandateNotification, at: &mut Context) {
    let (Some(change), Some(status)) = (change, &message.mandate_status) else { return };
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
