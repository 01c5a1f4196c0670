//! `MandateNotification`: the payer took an action on a mandate (Specification:
//! "MandateNotification message").

use super::details::Details;
use super::{MessageKind, MpsUserId, WebhookMessage, rules};
use crate::codes::{ActionStatus, ActionType, MandateStatus, Trigger};
use crate::duplicate::KeyParts;
use crate::ids::{ActionId, MandateId};
use crate::json::wire_object;
use bankrail_mailbox::DuplicateKey;
use bankrail_values::{HyphenatedUuid, Timestamp};

wire_object! {
    /// A payer's action on a mandate.
    pub struct MandateNotification {
        /// When the service processed the notification.
        required creation_date_time: Timestamp = "creation_date_time",
        /// Why it was sent.
        required trigger: Trigger = "trigger",
        /// The user of the service.
        required mps_user_id: MpsUserId = "mps_user_id",
        /// The mandate.
        required mandate_identification: MandateId = "mandate_identification",
        /// The mandate's status.
        optional mandate_status: MandateStatus = "mandate_status",
        /// The action; the duplicate check key.
        required action_identification: ActionId = "action_identification",
        /// What the action does.
        required action_type: ActionType = "action_type",
        /// The action's status.
        required action_status: ActionStatus = "action_status",
        /// Why the action was resolved as it was.
        optional resolution_event: ResolutionEvent = "resolution_event",
        /// What the action changed.
        optional details: Details = "details",
    }
}

wire_object! {
    /// Why an action was resolved as it was.
    pub struct ResolutionEvent {
        /// Default: required, 4 letters or digits.
        expected reason_code: String = "reason_code" => REASON_CODE,
        /// Default: 1 to 256 characters.
        optional reason_description: String = "reason_description" => REASON_DESCRIPTION,
    }
}

impl MandateNotification {
    /// A notification of a known trigger, with the action type and status that go with it, and the
    /// mandate status if only one goes with it (Default: "Consistency that real messages show").
    /// `None` for an unknown trigger.
    #[must_use]
    pub fn of_trigger(
        creation_date_time: Timestamp,
        trigger: Trigger,
        mps_user_id: MpsUserId,
        mandate: MandateId,
        action: ActionId,
    ) -> Option<Self> {
        let rules::Expected {
            action_type,
            action_status,
            mandate_status,
            ..
        } = rules::expected(&trigger)?;
        let new = Self::new(
            creation_date_time,
            trigger,
            mps_user_id,
            mandate,
            action,
            action_type,
            action_status,
        );
        Some(Self {
            mandate_status: if let [one] = mandate_status {
                Some(one.clone())
            } else {
                None
            },
            ..new
        })
    }
}

impl WebhookMessage for MandateNotification {
    const KIND: MessageKind = MessageKind::MandateNotification;

    fn creation_date_time(&self) -> Timestamp {
        self.creation_date_time
    }

    fn duplicate_key(&self, scope: &str, _message_id: HyphenatedUuid) -> DuplicateKey {
        let key = KeyParts::new(scope, Self::KIND, "action_identification");
        key.text(&self.action_identification.to_string())
            .finish()
            .into()
    }
}
