//! `MandateNotification`: the payer took an action on a mandate (Specification:
//! "MandateNotification message").

use super::details::Details;
use super::{MessageKind, MpsUserId, WebhookMessage, rules};
use crate::codes::{ActionStatus, ActionType, MandateStatus, Trigger};
use crate::duplicate::KeyParts;
use crate::ids::{ActionId, MandateId};
use crate::json::{ExtraMembers, Wire};
use bankrail_mailbox::DuplicateKey;
use bankrail_values::{HyphenatedUuid, Timestamp};

/// A payer's action on a mandate.
#[derive(Clone, Debug, PartialEq, Eq, Wire)]
#[wire(message)]
#[non_exhaustive]
pub struct MandateNotification {
    /// The time at which the service processed the notification.
    pub creation_date_time: Timestamp,
    /// The reason why it was sent.
    pub trigger: Trigger,
    /// The user of the service.
    pub mps_user_id: MpsUserId,
    /// The mandate.
    pub mandate_identification: MandateId,
    /// The mandate's status.
    pub mandate_status: Option<MandateStatus>,
    /// The action; the duplicate check key.
    pub action_identification: ActionId,
    /// The kind of the action.
    pub action_type: ActionType,
    /// The action's status.
    pub action_status: ActionStatus,
    /// The reason for the action's resolution.
    pub resolution_event: Option<ResolutionEvent>,
    /// The changes that the action made.
    pub details: Option<Details>,
    /// Members that this version does not know, in their order.
    #[wire(extra)]
    pub extra: ExtraMembers,
}

/// The reason for an action's resolution.
#[derive(Clone, Debug, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct ResolutionEvent {
    /// Default: required, 4 letters or digits.
    #[wire(expected, bound = REASON_CODE)]
    pub reason_code: Option<String>,
    /// Default: 1 to 256 characters.
    #[wire(bound = REASON_DESCRIPTION)]
    pub reason_description: Option<String>,
    /// Members that this version does not know, in their order.
    #[wire(extra)]
    pub extra: ExtraMembers,
}

impl MandateNotification {
    /// Returns a notification of a known trigger, with the action type and status that go with it,
    /// and the mandate status if only one goes with it (Default: "Consistency that real messages
    /// show"). `None` for an unknown trigger.
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
