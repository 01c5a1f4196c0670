//! `MandateActionOutcome`: the outcome of a mandate action that the biller started
//! (Specification: "MandateActionOutcome message").

use super::{MessageKind, MpsUserId, WebhookMessage};
use crate::codes::{ActionStatus, ActionType, ErrorSeverity, MandateStatus, OutcomeStatus};
use crate::duplicate::KeyParts;
use crate::ids::{ActionId, MandateId};
use crate::json::wire_object;
use bankrail_mailbox::DuplicateKey;
use bankrail_values::{HyphenatedUuid, Timestamp};

wire_object! {
    /// The outcome of a mandate action that the biller started.
    pub struct MandateActionOutcome {
        /// When the service processed this outcome, not when the mandate system did.
        required creation_date_time: Timestamp = "creation_date_time",
        /// Rejected or succeeded.
        required status: OutcomeStatus = "status",
        /// The user tied to the mandate request.
        optional mps_user_id: MpsUserId = "mps_user_id",
        /// Echo of the biller's original request identifier; the duplicate check key.
        optional request_id: HyphenatedUuid = "request_id",
        /// The mandate, for all later operations on it.
        optional mandate_identification: MandateId = "mandate_identification",
        /// When the mandate was first registered.
        optional mandate_registration_date_time: Timestamp = "mandate_registration_date_time",
        /// The mandate's status.
        optional mandate_status: MandateStatus = "mandate_status",
        /// The action.
        optional action_identification: ActionId = "action_identification",
        /// What the action does.
        optional action_type: ActionType = "action_type",
        /// The action's status.
        optional action_status: ActionStatus = "action_status",
        /// Whether the action was created bilateral or unilateral; only for creation and amendment
        /// actions.
        optional bilateral: bool = "bilateral",
        /// Only where a debtor alias was given in the creation or amendment request. Default: 1 to
        /// 140 printable ASCII.
        optional debtor_alias_name: String = "debtor_alias_name" => NAME,
        /// By when the counterparty is asked to resolve a bilateral action. Informational: it
        /// changes no state and no expiry.
        optional resolution_requested_by: Timestamp = "resolution_requested_by",
        /// What went wrong.
        optional error: OutcomeError = "error",
    }
}

wire_object! {
    /// What went wrong with a mandate action.
    pub struct OutcomeError {
        /// Default: required, 1 to 35 characters.
        expected code: String = "code" => ERROR_CODE,
        /// Default: required.
        expected severity: ErrorSeverity = "severity",
        /// Default: 1 to 1000 characters.
        optional text: String = "text" => ERROR_TEXT,
        /// For the user. Default: 1 to 1000 characters.
        optional user_message: String = "user_message" => ERROR_TEXT,
        /// Default: 1 to 1000 characters.
        optional more_info: String = "more_info" => ERROR_TEXT,
    }
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

    /// True for the outcome of an action that is pending. The outcome that follows when the action
    /// moves on from `PEND` answers the same request (Default: "Webhooks").
    fn is_interim(&self) -> bool {
        self.action_status == Some(ActionStatus::Pending)
    }
}
