//! `MandateActionOutcome`: the outcome of a mandate action that the biller started
//! (Specification: "MandateActionOutcome message").

use super::{MessageKind, MpsUserId, WebhookMessage};
use crate::codes::{ActionStatus, ActionType, ErrorSeverity, MandateStatus, OutcomeStatus};
use crate::duplicate::KeyParts;
use crate::ids::{ActionId, MandateId};
use crate::json::{ExtraMembers, Wire};
use bankrail_mailbox::DuplicateKey;
use bankrail_values::{HyphenatedUuid, Timestamp};

/// The outcome of a mandate action that the biller started.
#[derive(Clone, Debug, PartialEq, Eq, Wire)]
#[wire(message)]
#[non_exhaustive]
pub struct MandateActionOutcome {
    /// The time at which the service processed this outcome, not that of the mandate system.
    pub creation_date_time: Timestamp,
    /// Rejected or succeeded.
    pub status: OutcomeStatus,
    /// The user tied to the mandate request.
    pub mps_user_id: Option<MpsUserId>,
    /// Echo of the biller's original request identifier; the duplicate check key.
    pub request_id: Option<HyphenatedUuid>,
    /// The mandate, for all later operations on it.
    pub mandate_identification: Option<MandateId>,
    /// The time at which the mandate was first registered.
    pub mandate_registration_date_time: Option<Timestamp>,
    /// The mandate's status.
    pub mandate_status: Option<MandateStatus>,
    /// The action.
    pub action_identification: Option<ActionId>,
    /// The kind of the action.
    pub action_type: Option<ActionType>,
    /// The action's status.
    pub action_status: Option<ActionStatus>,
    /// True if the action was created bilateral, false if unilateral; only for creation and
    /// amendment actions.
    pub bilateral: Option<bool>,
    /// Only where a debtor alias was given in the creation or amendment request. Default: 1 to
    /// 140 printable ASCII.
    #[wire(bound = NAME)]
    pub debtor_alias_name: Option<String>,
    /// By when the counterparty is asked to resolve a bilateral action. Informational: it
    /// changes no state and no expiry.
    pub resolution_requested_by: Option<Timestamp>,
    /// The error of a failed action.
    pub error: Option<OutcomeErrorDetails>,
    /// Members that this version does not know, in their order.
    #[wire(extra)]
    pub extra: ExtraMembers,
}

/// The error of a failed mandate action.
#[derive(Clone, Debug, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct OutcomeErrorDetails {
    /// Default: required, 1 to 35 characters.
    #[wire(expected, bound = ERROR_CODE)]
    pub code: Option<String>,
    /// Default: required.
    #[wire(expected)]
    pub severity: Option<ErrorSeverity>,
    /// Default: 1 to 1000 characters.
    #[wire(bound = ERROR_TEXT)]
    pub text: Option<String>,
    /// The text for the user. Default: 1 to 1000 characters.
    #[wire(bound = ERROR_TEXT)]
    pub user_message: Option<String>,
    /// Default: 1 to 1000 characters.
    #[wire(bound = ERROR_TEXT)]
    pub more_info: Option<String>,
    /// Members that this version does not know, in their order.
    #[wire(extra)]
    pub extra: ExtraMembers,
}

impl WebhookMessage for MandateActionOutcome {
    const KIND: MessageKind = MessageKind::MandateOutcome;

    fn creation_date_time(&self) -> Timestamp {
        self.creation_date_time
    }

    fn duplicate_key(&self, scope: &str, message_id: HyphenatedUuid) -> DuplicateKey {
        let Some(id) = self.request_id else {
            return KeyParts::fallback(scope, Self::KIND, message_id).into();
        };
        KeyParts::new(scope, Self::KIND, "request_id")
            .text(&id.to_string())
            .finish()
            .into()
    }

    /// Returns true for the outcome of an action that is pending. The outcome that follows when the
    /// action moves on from `PEND` answers the same request (Default: "Webhooks").
    fn is_interim(&self) -> bool {
        self.action_status == Some(ActionStatus::Pending)
    }
}
